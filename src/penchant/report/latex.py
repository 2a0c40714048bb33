"""Conversion of tables and text to LaTeX for pdflatex (with T1 fonts), xelatex and lualatex.

Tables are laid out for A4 paper with margins of 2.5 cm, in the largest font size that fits. If none fits, cells are
wrapped; as a last resort, the table is rotated.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penchant.report.tables import Cell, Number, P, ReportTable, constant, with_minus

# The empty groups keep a following space.
_COMMANDS = r"""
    \ textbackslash ~ textasciitilde ^ textasciicircum | textbar < textless > textgreater " textquotedbl
    ` textasciigrave « guillemotleft » guillemotright “ textquotedblleft ” textquotedblright ‘ textquoteleft
    ’ textquoteright – textendash — textemdash … textellipsis ‹ guilsinglleft › guilsinglright † textdagger
    ¶ textparagraph § textsection © textcopyright · textperiodcentered ½ textonehalf ¼ textonequarter
    ¾ textthreequarters
"""
_MATHS = r"""
    ¹ ^{1} ² ^{2} ³ ^{3} ₁ _{1} ₂ _{2} ± \pm × \times − - ≤ \leq ≥ \geq ≠ \neq ≈ \approx ∞ \infty ∈ \in ∩ \cap
    ∖ \setminus → \rightarrow ← \leftarrow ↑ \uparrow ↓ \downarrow ∪ \cup √ \surd ‖ \|
"""
_LETTERS = """
    α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho
    σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon
    Φ Phi Ψ Psi Ω Omega
"""


def _pairs(table: str) -> dict[str, str]:
    words = table.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_SIGNS = {
    **{sign: f"\\{sign}" for sign in "{}&%$#_"},
    **{sign: f"\\{name}{{}}" for sign, name in _pairs(_COMMANDS).items()},
    **{sign: f"${tex}$" for sign, tex in _pairs(_MATHS).items()},
    "\u00a0": "~",
    "\u200b": r"\allowbreak{}",
}
_GREEK = {letter: f"$\\{name}$" for letter, name in _pairs(_LETTERS).items()}
"""Math symbols for Greek letters, which few TeX text fonts contain; Greek words remain text."""
_MARKS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0328\u0331"
_ACCENTS = dict(zip(_MARKS, "`'^~=u.\"rHvdckb", strict=True))
"""Accent commands for combining marks; pdflatex supports neither the marks nor most accented letters."""
_OVER = {"\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar", "\u0307": r"\dot", "\u0308": r"\ddot"}
"""Math accent commands for combining marks."""
_SYMBOL = re.compile(f"[A-Za-z][{''.join(_OVER)}]")

# Including the pairs that TeX would turn into a dash or a quotation mark: -- ,, << >> and ''.
_SPECIAL = re.compile(
    "|".join(
        (
            r"(?P<twin>[-,<>])(?=(?P=twin))|'{2,}",
            f"(?P<accented>[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f][{_MARKS}]+)",
            f"(?<![Ͱ-Ͽἀ-῿])(?P<symbol>[{''.join(_GREEK)}])(?P<mark>[{''.join(_OVER)}])(?![Ͱ-Ͽἀ-῿])",
            f"(?<![Ͱ-Ͽἀ-῿])[{''.join(_GREEK)}]+(?![Ͱ-Ͽἀ-῿])",
            f"[{re.escape(''.join(_SIGNS))}]",
            r"\s",
            "[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]",
        )
    )
)


def escaped(text: str) -> str:
    """Escape text for verbatim printing in LaTeX; spaces replace white space, and codes replace control characters."""
    return _SPECIAL.sub(_replaced, re.sub("[A-Za-z][\u0300-\u036f]+", _composed, text))


def _composed(letters: re.Match[str]) -> str:
    """Compose a Latin letter and its combining marks if pdflatex supports the result (up to U+017F)."""
    found = unicodedata.normalize("NFC", letters[0])
    return found if found[0] <= "\u017f" else letters[0]


def _replaced(match: re.Match[str]) -> str:
    if match["accented"]:
        beside = match.string[match.start() - 1 : match.start()] + match.string[match.end() : match.end() + 1]
        return _accented(match[0], alone=not any(map(str.isalpha, beside)))
    if match["symbol"]:
        return f"${_OVER[match['mark']]}{{{_GREEK[match['symbol']].strip('$')}}}$"
    return _set(match[0]) + (r"\kern0pt" if match["twin"] else "")


def _accented(letters: str, *, alone: bool) -> str:
    """Return LaTeX for a letter with combining marks: a math symbol if it stands `alone`, otherwise accented text."""
    if alone and _SYMBOL.fullmatch(letters):
        return f"${_OVER[letters[1]]}{{{letters[0]}}}$"
    tex = letters[0]
    for mark in letters[1:]:
        tex = f"\\{_ACCENTS[mark]}{{{tex}}}"
    return tex


def _set(sign: str) -> str:
    if sign in _SIGNS:
        return _SIGNS[sign]
    if sign[0] in _GREEK:
        return "".join(_GREEK[letter] for letter in sign)
    if sign in "-,":
        return sign
    if sign[0] == "'":
        return r"\textquotesingle{}" * len(sign)
    if sign.isspace():
        return " "
    return escaped(sign.encode("unicode_escape").decode("ascii"))


# --- Tables -------------------------------------------------------------------------------------------------------

_NEEDS = r"% Needs the packages array, booktabs, longtable and pdflscape; with pdflatex also \usepackage[T1]{fontenc}."
_SIZES = {"small": 0.93, "footnotesize": 0.85, "scriptsize": 0.82}
"""Font sizes, with their letter widths relative to 10-point type."""
_UPRIGHT, _SIDEWAYS = (455.0, 40), (700.0, 25)
"""Text width in points and maximum number of table lines per page, in portrait and in landscape."""
_GAP = 8
"""The space between columns in points."""
_NARROWEST = 45
"""The minimum width in points of a wrapped column."""
_TALLEST = 4
"""The maximum number of lines per row, exceeded only if no layout fits."""
_BROKEN = (("footnotesize", False), ("scriptsize", False), ("footnotesize", True), ("scriptsize", True))
"""Layouts with wrapped cells, in order of preference: font size, and true if rotated."""
_NUMBER = re.compile(r"[+-]?\d[\d.]*")
_POWER = re.compile(r"(?P<digits>[\d.]+)e(?P<sign>[+-])0*(?P<exponent>\d+)$")
_RAISED = 4
"""The width in points of a superscript footnote letter."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Font size, orientation, column widths in points (0: natural width) and number of lines of a table."""

    size: str
    sideways: bool
    widths: tuple[float, ...]
    lines: int

    @property
    def long(self) -> bool:
        return self.lines > (_SIDEWAYS if self.sideways else _UPRIGHT)[1]


def latex_table(table: ReportTable, label: str, *, once: bool = True) -> str:
    """Return a table as LaTeX with caption, label and notes, preceded by its signatures as comments.

    Tables longer than a page are split across pages, with a repeated header; tables that are too wide are rotated. If
    `once`, a value shared by all rows appears in the caption instead of in a column.
    """
    same = constant(table) if once else []
    said = (f"{table.columns[i].strip()}: {str(table.rows[0].cells[i]).strip()}" for i in same)
    title = "; ".join([table.title, *said])
    table = table.only([i for i in range(len(table.columns)) if i not in same])
    numeric, marks = table.numeric, table.footnotes()
    layout = _layout(_texts(table), numeric, raised := _raised(table, marks))
    head = ["\\toprule", _row(table.columns, layout, {}), "\\midrule"]
    rows = [_row(row.cells, layout, marks) for row in table.rows]
    if any(layout.widths):
        rows = [line for row in rows for line in ("\\addlinespace[2pt]", row)][1:]
    caption = f"\\caption{{{escaped(_breakable(title))}}}\\label{{{label}}}"
    notes = [escaped(table.note)] if table.note else []
    notes += [f"\\textsuperscript{{{mark}}}~{escaped(text)}" for mark, text in table.below()]
    note = [f"{{\\footnotesize\\noindent {text}\\par}}" for text in notes]
    lines = _set_out(layout, _columns(layout, numeric, raised), caption, head, rows, note)
    signatures = dict.fromkeys(row.signature for row in table.rows if row.signature)
    return "\n".join([_NEEDS, *(f"% {signature}" for signature in signatures), *lines, ""])


def _texts(table: ReportTable) -> list[list[str]]:
    return [list(table.columns), *([_wide(cell) for cell in row.cells] for row in table.rows)]


def _wide(cell: Cell) -> str:
    if isinstance(cell, str) and not _NUMBER.fullmatch(cell):
        return cell
    return with_minus(_POWER.sub(r"\g<digits> × 10\g<sign>\g<exponent>", str(cell)))


def _raised(table: ReportTable, marks: Mapping[str, str]) -> list[int]:
    """Return the space in points that each column needs for footnote marks."""
    longest = [0] * len(table.columns)
    for row in table.rows:
        for i, cell in enumerate(row.cells):
            if isinstance(cell, Number) and cell.note:
                longest[i] = max(longest[i], len(marks[cell.note]))
    return [_RAISED * length for length in longest]


def _columns(layout: _Layout, numeric: Sequence[bool], raised: Sequence[int]) -> str:
    broken = ">{{\\raggedright\\hyphenpenalty=10000\\arraybackslash}}p{{{:.0f}pt}}"
    return "".join(
        (broken.format(width) if width else "r" if right else "l") + (f"<{{\\hspace{{{room}pt}}}}" if room else "")
        for width, right, room in zip(layout.widths, numeric, raised, strict=True)
    )


def _set_out(
    layout: _Layout, columns: str, caption: str, head: list[str], rows: list[str], note: list[str]
) -> list[str]:
    style = [f"\\{layout.size}", f"\\setlength{{\\tabcolsep}}{{{_GAP / 2:g}pt}}"]
    if layout.long:
        begin = f"\\begin{{longtable}}{{@{{}}{columns}@{{}}}}"
        first = [begin, caption + "\\\\", *head, "\\endfirsthead", *head, "\\endhead"]
        body = [*first, "\\bottomrule", "\\endfoot", *rows, "\\end{longtable}"]
        lines = ["{", *style, "\\setlength{\\LTcapwidth}{\\linewidth}", *body, "}", *note]
    else:
        body = [f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}", *head, *rows, "\\bottomrule", "\\end{tabular}\\par"]
        below = ["\\smallskip", "\\begin{minipage}{\\linewidth}", *note, "\\end{minipage}"] if note else []
        above = ["\\begin{table}[htbp]", "\\centering", caption, "\\medskip"]
        lines = [*above, "{", *style, *body, "}", *below, "\\end{table}"]
    return ["\\begin{landscape}", *lines, "\\end{landscape}"] if layout.sideways else lines


def _row(cells: Sequence[Cell], layout: _Layout, marks: Mapping[str, str]) -> str:
    texts = (_cell(cell, bool(width), marks) for cell, width in zip(cells, layout.widths, strict=True))
    return f"{' & '.join(texts)} \\\\"


def _cell(cell: Cell, broken: bool, marks: Mapping[str, str]) -> str:
    """Return a cell as LaTeX, with places for line breaks in text if `broken`.

    Numbers have minus signs instead of hyphens, and small p-values are written with a power of ten. Footnote marks have
    zero width, so that numbers stay aligned.
    """
    if isinstance(cell, P) and (power := _POWER.match(str(cell))):
        text = f"${power['digits']}\\times10^{{{power['sign'].lstrip('+')}{power['exponent']}}}$"
    elif not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        text = escaped(with_minus(str(cell)))
        if isinstance(cell, Number) and cell.note:
            text += f"\\rlap{{\\textsuperscript{{{marks[cell.note]}}}}}"
    else:
        text = escaped(_breakable(cell) if broken else cell.strip())
    # After the end of a row, LaTeX would read a bracket or an asterisk as an argument.
    return "{}" + text if text.startswith(("[", "*")) else text


def _breakable(text: str) -> str:
    """Insert zero-width spaces where a line may break.

    Lines may break after punctuation in names such as org/model_v1@2f, within long codes, and between the characters of
    scripts written without spaces.
    """
    signs = re.sub(r"[/_@:.+=](?=\w)", "\\g<0>\u200b", text.strip())
    codes = re.sub(r"[A-Za-z0-9]{16,}", lambda code: re.sub(r"\w{5}(?=\w)", "\\g<0>\u200b", code[0]), signs)
    return re.sub(r"[\u2e80-\u9fff\uac00-\ud7a3](?=\w)", "\\g<0>\u200b", codes)


def _layout(texts: list[list[str]], numeric: Sequence[bool], raised: Sequence[int]) -> _Layout:
    """Return the first layout that fits a table with the cells `texts`, or the last layout if none fits.

    Layouts without wrapped cells come first. `raised` is the space in points that each column needs for footnote marks.
    """
    natural = [max(_width(row[i]) for row in texts) for i in range(len(numeric))]
    longest = [max(_width(piece) for row in texts for piece in _pieces(row[i])) for i in range(len(numeric))]
    gaps = _GAP * (len(numeric) - 1) + sum(raised)
    for size in ("small", "footnotesize"):
        if _SIZES[size] * sum(natural) + gaps <= _UPRIGHT[0]:
            return _Layout(size, False, (0,) * len(numeric), len(texts))
    for size, sideways in _BROKEN:
        scale = _SIZES[size]
        room = (_SIDEWAYS if sideways else _UPRIGHT)[0] - gaps
        room -= scale * sum(width for width, right in zip(natural, numeric, strict=True) if right)
        preferred = [0.0 if right else scale * width for width, right in zip(natural, numeric, strict=True)]
        least = [min(width, max(_NARROWEST, scale * piece)) for width, piece in zip(preferred, longest, strict=True)]
        widths = _fitted_widths(preferred, least, room)
        lines = [
            max(_lines(text, width / scale) if width else 1 for text, width in zip(row, widths, strict=True))
            for row in texts
        ]
        if sum(least) <= room and max(lines) <= _TALLEST:
            break
    return _Layout(size, sideways, tuple(widths), sum(lines))


def _fitted_widths(preferred: Sequence[float], least: Sequence[float], room: float) -> list[float]:
    """Return the width of each column that must be wrapped to fit the table into `room`, and 0 for other columns.

    The widest columns are narrowed first, none below its width in `least`.
    """
    levels = (
        level
        for level in range(round(room), 0, -1)
        if sum(max(least[i], min(width, level)) for i, width in enumerate(preferred)) <= room
    )
    level = next(levels, 0)
    return [max(least[i], level) if width > max(least[i], level) else 0 for i, width in enumerate(preferred)]


def _pieces(text: str) -> list[str]:
    """Split a text into unbreakable pieces, each with its trailing white space."""
    return re.findall(r"[^\s\u200b-]*(?:-+|\s+|\u200b|$)", _breakable(text))


def _lines(text: str, width: float) -> int:
    """Return the number of lines that a text occupies at a given width."""
    lines, used = 1, 0.0
    for piece in _pieces(text):
        if used and used + _width(piece.rstrip()) > width:
            lines, used = lines + 1, 0.0
        used += _width(piece)
    return lines


_WIDTHS = (
    (2.8, "!',.:;[]il|·‘’"),
    (3.4, " -fj‹›"),
    (3.9, "¹²³₁₂"),
    (4.0, '()Irst"'),
    (5.1, "0123456789acegoz?*/\\{}$`–†"),
    (7.5, "BCEFLPRTZw"),
    (7.9, "&+<=>@ADGHKNOQUVXY_~±×−≤≥≠≈∈∩ΓΘΛΞΠΥΨΩ"),
    (6.6, "αβγδεζηθικλμνξπρστυφχψω"),
    (8.5, "#%m½¼¾ΔΣΦ∪√"),
    (10.3, "MW—…∞→←"),
)
_ADVANCES = {char: width for width, chars in _WIDTHS for char in chars}
"""The widths in points of characters in 10-point Computer Modern, rounded up."""


def _width(text: str) -> float:
    """Return an upper bound on the width of a text in 10-point Computer Modern, in points."""
    return sum(map(_advance, text))


def _advance(char: str) -> float:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return _ADVANCES.get(char, 10 if unicodedata.east_asian_width(char) in "WF" else 5.6)

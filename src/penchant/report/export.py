"""Export of a study's tables and figures to files."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from penchant.errors import DataError, MethodError, one_of, undirected
from penchant.files import as_json, distinct, refuse_other, sha256_file, write_together
from penchant.records import BaseResult
from penchant.report.export_filter import ExportFilter, names
from penchant.report.figures import Figure
from penchant.report.latex import escaped, latex_table
from penchant.report.paper import answer_table, paragraph
from penchant.report.print_figure import print_pdf
from penchant.report.references import PENCHANT, POINT, Reference, cited, prose
from penchant.report.sections import Document, StudySection
from penchant.report.tables import Cell, Number, P, ReportRow, ReportTable
from penchant.tables.formula_escape import for_spreadsheets
from penchant.text_io import read_text
from penchant.wording.columns import meaning

File = tuple[str, str | bytes]
"""A file name and the content of the file."""


def export(
    document: Document,
    to: str,
    folder: str | Path,
    *,
    scores: str | Sequence[str] | None = None,
    columns: str | Sequence[str] | None = None,
) -> list[Path]:
    """Write a study's tables or figures to a folder and return the paths of the files.

    `to` is the format. "csv" and "latex" write tables, and "latex" also methods and references; `scores` and `columns`
    select rows and columns (see `penchant.report.export_filter`). "figures" writes each figure as SVG, as PNG and, for
    print, as PDF, with a file of captions. "paper" writes one table, one figure and one paragraph for each instrument.

    Files of an earlier export are replaced, each atomically; a hidden file in the folder records the hashes of exported
    files. Raises MethodError for an unknown format, for a name that no table contains, or if `scores` or `columns` are
    given for "figures" or "paper". Raises OutputError if a file cannot be written, or if a file that would be replaced
    was not exported or has been modified since.
    """
    if to not in FORMS:
        raise MethodError(f"unknown format '{to}'", hint=one_of(to, FORMS))
    if to in ("figures", "paper") and not (scores is None and columns is None):
        raise MethodError("scores and columns can be selected only for tables", hint="export to latex or csv")
    choice = ExportFilter.of(document, scores, columns)
    options = {"--to": (to,), "--scores": choice.scores, "--columns": choice.columns}
    options_given = tuple(word for name, given in options.items() if given for word in (name, ",".join(given)))
    return write_export(FORMS[to](document, choice), folder, Made(document.made_of, options_given))


def write_export(contents: Iterable[File], folder: str | Path, origin: Made) -> list[Path]:
    """Write files to a folder, replacing those of an earlier export, and return their paths.

    File names are relative to the folder; `origin` is recorded for each file. Raises OutputError as `export` does.
    """
    place = Path(folder)
    hashes, made = _earlier(place), exported(place)
    files = {name: _encoded(content) for name, content in contents}
    for name, content in files.items():
        known = {hashes.get(name, ""), _hash(content)}
        refuse_other(place / name, "an unmodified penchant export", partial(_has_hash, known))
    hashes |= {name: _hash(content) for name, content in files.items()}
    made |= dict.fromkeys(files, origin)
    records = {name: {"of": each.of, "by": list(each.by)} for name, each in made.items()}
    written = {place / name: content for name, content in files.items()}
    write_together({place / _HASHES: as_json({"sha256": hashes, "made": records}), **written})
    return list(written)


def absent(document: Document, columns: str | Sequence[str] | None) -> list[str]:
    """Return a sentence for each section whose tables lack at least one selected column, naming the missing columns.

    Raises MethodError for a column that no table contains.
    """
    return ExportFilter.of(document, None, columns).absent(document)


def _encoded(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _has_hash(known: Container[str], path: Path) -> bool:
    return sha256_file(path) in known


_HASHES = ".penchant-export.json"


@dataclass(frozen=True, slots=True)
class Made:
    """Origin of an exported file: the hash of the results (`Document.made_of`) and the export options."""

    of: str
    by: tuple[str, ...]


def exported(folder: Path) -> dict[str, Made]:
    """Return the origin of each exported file that still exists in a folder, by file name."""
    try:
        records = json.loads(read_text(folder / _HASHES))["made"]
        made = {str(name): Made(str(each["of"]), tuple(map(str, each["by"]))) for name, each in records.items()}
    except (DataError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    inside = (name for name in made if ".." not in Path(name).parts and not Path(name).is_absolute())
    return {name: made[name] for name in inside if (folder / name).is_file()}


def _earlier(folder: Path) -> dict[str, str]:
    try:
        return dict(json.loads(read_text(folder / _HASHES))["sha256"])
    except (DataError, ValueError, KeyError, TypeError):
        return {}


def _csv(document: Document, choice: ExportFilter) -> Iterator[File]:
    taken = {"index"}
    tables: list[tuple[str, str, pl.DataFrame, Mapping[str, str]]] = []
    for placed in document.sections:
        for name, title, frame in _frames(placed, choice):
            file = f"{_free(f'{placed.place}-{name}', taken)}.csv"
            tables.append((file, title, frame, placed.section.meanings))
            yield file, _text(frame)
    yield "index.csv", _text(_index(tables))


_PARTS = {"low": "the lower end of its interval", "high": "the upper end of its interval", "n": "its number of items"}


def _index(tables: Iterable[tuple[str, str, pl.DataFrame, Mapping[str, str]]]) -> pl.DataFrame:
    """Return an index of tables (file, title, data, meanings): for each, a row for its file and a row per column."""
    rows = []
    for file, title, frame, own in tables:
        rows.append((file, "", " ".join(title.split()), len(frame)))
        for column in frame.columns:
            name, _, part = column.rpartition(" ")
            of_part = f"of {name}: {_PARTS[part]}" if name and part in _PARTS else ""
            rows.append((file, column, meaning(column, own) or of_part, len(frame)))
    kinds = {"file": pl.String, "column": pl.String, "meaning": pl.String, "rows": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _frames(placed: StudySection, choice: ExportFilter) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Yield (name, title, data) for each table of a section, then for its estimates, differences, curve and items."""
    for table in choice.tables(placed):
        yield table.name, f"{table.title}. {table.note}".removesuffix(" "), _frame(table)
    if placed.section.items is None:
        return
    yield "summary", "every estimate, in one row each", _by_model([(r, r.summary) for r in placed.results])
    if placed.comparison is not None:
        yield "comparison", "the differences between models, in one row each", placed.comparison
    if placed.curve is not None:
        yield "curve-estimates", "the estimates over the steps of a training, in one row each", placed.curve
    yield "items", "every item, with the results of each model", _by_model([(r, r.items) for r in placed.results])


def _text(frame: pl.DataFrame) -> str:
    """Return a frame as CSV, with lists as JSON, NaN as an empty field, and all strings quoted.

    Strings that look like formulas are escaped (see `penchant.tables.formula_escape`).
    """
    columns = []
    for series in frame:
        if isinstance(series.dtype, pl.List):
            series = pl.Series(series.name, [_json(value) for value in series.to_list()], dtype=pl.String)
        elif series.dtype.is_float():
            series = series.fill_nan(None)
        if series.dtype == pl.String:
            series = pl.Series(series.name, [value and undirected(value) for value in series], dtype=pl.String)
        columns.append(series)
    return for_spreadsheets(pl.DataFrame(columns)).write_csv(quote_style="non_numeric")


def _json(values: list[Any] | None) -> str | None:
    if values is None:
        return None
    return json.dumps([None if value != value else value for value in values], ensure_ascii=False)


def _frame(table: ReportTable) -> pl.DataFrame:
    """Return a table as a data frame with unrounded numbers.

    Each column of estimates is split into value, interval limits and count. Notes, if any, are collected in one column.
    """
    columns: dict[str, pl.Series] = {}
    for i, name in enumerate(names(table.columns)):
        cells = [row.cells[i] for row in table.rows]
        if any(isinstance(cell, Number) for cell in cells):
            parts = _parts(cells)
            present = {part: values for part, values in parts.items() if values.count()} or {"": parts[""]}
            columns |= {f"{name} {part}".rstrip(): values for part, values in present.items()}
        elif any(isinstance(cell, P) for cell in cells):
            columns[name] = _floats(cell.value if isinstance(cell, P) else None for cell in cells)
        else:
            columns[name] = pl.Series(cells)
    notes = [_notes(table, row) for row in table.rows]
    noted = {"note": notes} if any(notes) else {}
    return pl.DataFrame({**columns, **noted, "signature": [row.signature for row in table.rows]})


def _notes(table: ReportTable, row: ReportRow) -> str:
    cells = zip(names(table.columns), row.cells, strict=True)
    return "; ".join(f"{name}: {cell.note}" for name, cell in cells if isinstance(cell, Number) and cell.note)


def _parts(cells: Iterable[Cell]) -> dict[str, pl.Series]:
    numbers = [cell if isinstance(cell, Number) else Number() for cell in cells]
    ends = {"": [x.value for x in numbers], "low": [x.low for x in numbers], "high": [x.high for x in numbers]}
    counts = pl.Series([x.n for x in numbers], dtype=pl.Int64)
    return {**{part: _floats(values) for part, values in ends.items()}, "n": counts}


def _floats(values: Iterable[float | None]) -> pl.Series:
    return pl.Series(values, dtype=pl.Float64).fill_nan(None)


def _by_model(frames: Sequence[tuple[BaseResult, pl.DataFrame]]) -> pl.DataFrame:
    """Concatenate the frames of several models, adding a column `model`; an existing one becomes `model (label)`."""
    labelled = [
        frame.rename({"model": "model (label)"}, strict=False).select(
            pl.lit(result.signature["model"]).alias("model"), pl.all()
        )
        for result, frame in frames
    ]
    return pl.concat(labelled, how="diagonal_relaxed")


# --- LaTeX --------------------------------------------------------------------------------------------------------

_PREVIEW = r"""% All tables and methods of a study, to look at and to take from:
%   pdflatex preview; bibtex preview; pdflatex preview; pdflatex preview
%
% Letters and signs that Computer Modern does not have need xelatex or lualatex instead of pdflatex, and a font that has
% them; with lualatex for example, after fontspec:
%   \usepackage[english,bidi=basic]{babel}
%   \babelprovide[import,onchar=ids fonts]{bengali}
%   \babelfont[bengali]{rm}{Noto Serif Bengali}
% In this study: SCRIPTS.
\documentclass[a4paper]{article}
\usepackage[margin=2.5cm]{geometry}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \usepackage{textcomp}
  \IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\else
  \usepackage{fontspec}
\fi
\usepackage{array,booktabs,longtable,pdflscape}
\begin{document}
\input{methods}
INPUTS
\nocite{penchant}
\bibliographystyle{plain}
\bibliography{references}
\end{document}
"""


def _latex(document: Document, choice: ExportFilter) -> Iterator[File]:
    files: dict[str, str] = {}
    taken = {"methods", "preview"}
    paragraphs: dict[str, list[str]] = {}
    entries: dict[str, Reference] = {}
    for placed in document.sections:
        for table in choice.tables(placed):
            for each, suffix in [(table.short, ""), (table, "-full")] if table.short else [(table, "")]:
                name = _free(f"{placed.place}-{table.name}{suffix}", taken)
                files[name] = latex_table(each, f"tab:{name}", once=not choice.columns)
        paragraphs[placed.title] = own = placed.methods()
        entries |= {entry.key: entry for entry in cited(own, placed.references)}
    for name, text in files.items():
        yield f"{name}.tex", text
    methods = "\n\n".join(
        f"\\paragraph{{{escaped(title)}}}\n" + "\n\n".join(map(_paragraph, texts))
        for title, texts in paragraphs.items()
    )
    yield "methods.tex", methods + "\n"
    yield "references.bib", "\n\n".join(entry.bibtex for entry in [*entries.values(), PENCHANT]) + "\n"
    inputs = "\n".join(f"\\input{{{name}}}" for name in files)
    scripts = ", ".join(_scripts([methods, *files.values()])) or "none"
    yield "preview.tex", _PREVIEW.replace("INPUTS", f"\\clearpage\n{inputs}\n\\clearpage").replace("SCRIPTS", scripts)


def _paragraph(paragraph: str) -> str:
    text, *points = map(_prose, paragraph.split(POINT))
    items = "\n".join(f"\\item {point}" for point in points)
    return f"{text}\n\\begin{{itemize}}\n{items}\n\\end{{itemize}}" if points else text


def _prose(paragraph: str) -> str:
    tex = ""
    for text, code, keys in prose(paragraph):
        tex += f"{escaped(text.rstrip())}~\\cite{{{','.join(keys)}}}" if keys else escaped(text)
        tex += f"\\texttt{{{escaped(code)}}}" if code else ""
    return tex


def _scripts(texts: Iterable[str]) -> list[str]:
    """List the scripts that pdflatex's fonts lack and, in one last entry, the symbols without a LaTeX command."""
    lines = (line for text in texts for line in text.splitlines() if not line.startswith("%"))
    lacking = {char for line in lines for char in line if char > "ſ"}
    names = {unicodedata.name(c, "UNKNOWN").split()[0] for c in lacking if unicodedata.category(c)[0] == "L"}
    signs = sorted(c for c in lacking if 0x2000 <= ord(c) < 0x2C00 and unicodedata.category(c)[0] in "SPN")
    scripts = sorted(name if name == "CJK" else name.capitalize() for name in names)
    return [*scripts, *([f"the signs {' '.join(signs)}"] if signs else [])]


def _paper(document: Document, choice: ExportFilter) -> Iterator[File]:
    """Yield one table, one figure and one paragraph on methods for each section, and a document with all of them."""
    taken = {"methods", "paper"}
    inputs: list[str] = []
    paragraphs: list[str] = []
    entries: dict[str, Reference] = {}
    for placed in document.sections:
        if (table := answer_table(placed)) is None:
            continue
        name = _free(f"{placed.place}-answers", taken)
        yield f"{name}.tex", latex_table(table, f"tab:{name}")
        inputs.append(name)
        for figure in placed.figures()[:1]:
            drawn = _free(f"{placed.place}-figure", taken)
            pdf, width = print_pdf(figure)
            yield f"{drawn}.pdf", pdf
            yield f"{drawn}.tex", _latex_figure(drawn, width, figure)
            inputs.append(drawn)
        paragraphs.append(paragraph(placed))
        entries |= {entry.key: entry for entry in cited(paragraphs[-1:], {**placed.references, PENCHANT.key: PENCHANT})}
    methods = "\n\n".join(map(_paragraph, paragraphs)) + "\n"
    yield "methods.tex", methods
    yield "references.bib", "\n\n".join(entry.bibtex for entry in entries.values()) + "\n"
    lines = "\n".join(f"\\input{{{name}}}" for name in inputs)
    text = _PREVIEW.replace("INPUTS", lines).replace("SCRIPTS", ", ".join(_scripts([methods])) or "none")
    yield (
        "paper.tex",
        text.replace("booktabs,", "booktabs,graphicx,").replace("preview", "paper").replace("\\nocite{penchant}\n", ""),
    )


def _latex_figure(name: str, width: float, figure: Figure) -> str:
    """Return the LaTeX of a figure with its caption; `width` is the width of the PDF in millimetres."""
    fitted = f"\\ifdim\\linewidth<{width:.0f}mm \\linewidth\\else {width:.0f}mm\\fi"
    image = f"\\includegraphics[width={fitted}]{{{name}}}"
    caption = f"\\caption{{{escaped(figure.caption)}}}\\label{{fig:{name}}}"
    return f"\\begin{{figure}}\n\\centering\n{image}\n{caption}\n\\end{{figure}}\n"


# --- Figures ------------------------------------------------------------------------------------------------------


def _figures(document: Document, _: ExportFilter) -> Iterator[File]:
    """Yield each figure for screens (SVG, PNG) and for print (PDF), then a file with the captions."""
    taken = {"captions"}
    captions: list[str] = []
    for placed in document.sections:
        for figure in placed.figures():
            name = _free(f"{placed.place}-{figure.name}", taken)
            pdf, width = print_pdf(figure)
            yield f"{name}.svg", figure.svg()
            yield f"{name}.png", figure.png()
            yield f"{name}.pdf", pdf
            captions.append(f"{name} ({width:.0f} mm wide in print)\n{figure.caption}\n")
    if captions:
        yield "captions.txt", "\n".join(captions)


def _free(name: str, taken: set[str]) -> str:
    taken.add(free := distinct(name, taken))
    return free


FORMS: Mapping[str, Callable[[Document, ExportFilter], Iterator[File]]] = {
    "latex": _latex,
    "csv": _csv,
    "figures": _figures,
    "paper": _paper,
}

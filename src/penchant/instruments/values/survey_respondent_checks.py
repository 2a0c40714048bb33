"""Checks of the respondents of a survey: weights, unused columns of weights, and duplicates."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from statistics import median

from penchant.errors import MOST_ALIKE, Case, DataError, SheetRow
from penchant.instruments.values.data import CAUTIONS
from penchant.limits import LARGEST
from penchant.number_parsing import numeral
from penchant.plurals import for_one
from penchant.tables.table_row import FileRow
from penchant.wording.templates import listed

_MOST = 5
"""Number of lines that a caution lists."""
_WEIGHT = re.compile(
    r"(?:^|[_\W\d])(?:(?:d|p|ps|psp|a|an|s|w|pop|design|survey|sample|person|final|base)?(?:weights?|weighting|wgh?ts?|wt)"
    r"|wtss\w*|gewicht\w*|\w*gewichtung"
    r"|poids|pond[eé]ration|ponderaci[oó]n|peso|v[aá]h[ay])(?:$|[_\W\d])",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[ T].*)?|\d{1,2}[./ -]+(?:\d{1,2}|[^\W\d_]{3,9}\.?)(?:[./ -]+\d{2,4})?"
    r"|[^\W\d_]{3,9}\.?[ -]+\d{2,4}"
)
"""A number, such as 1.05, that a spreadsheet turned into a date."""
_DATED, _NONE = "expected a weight, but a spreadsheet changed it to a date", "a respondent has no weight"
_NO_NUMBER = "a weight must be a number, 0 or above"
_WHOLE = 10
"""Median above which weights that are all whole numbers may have lost their decimal marks."""
_HINT = "write 0 for respondents to be left out, or remove weights"
_HINTS = {_DATED: "format the column as numbers in the original file, and export it again"}
FAR = 50
"""Factor by which a weight must differ from the median for a caution."""
_NEARLY = 0.05
"""Largest share of repeated values in a column that identifies respondents."""
_ID = re.compile(
    r"(?:(?:resp(?:ondent|ondenten)?|case|person|pers|participant|part|subj(?:ect)?|user|worker|response|record|survey"
    r"|questionnaire|panel|panelist|member|proband(?:en)?|vp|fall|lauf|lfd|unique|uniq)[\W_]*)?"
    r"(?:id|ids|idno|ident|identifier|no|nr|num|number|nummer|serial|uuid|guid|key)",
    re.IGNORECASE,
)
_ID_LABEL = re.compile(
    r"\b(?:respondent|case|person|participant|interview)(?:'s)?[\s_-]*(?:id|identification|identifier|number|no|nr)\b",
    re.IGNORECASE,
)
_BODY = re.compile(r"\b(body|birth|own|kg|kilo\w*|pounds?|lbs?|körper\w*|height)\b", re.IGNORECASE)
"""Words that distinguish body weights from survey weights."""


def weighed(rows: Sequence[FileRow], column: str, table: Path) -> tuple[list[float], list[DataError]]:
    """Return the weight of each respondent (NaN if it is missing or invalid), and an error for each NaN."""
    found: list[float] = []
    wrong: dict[str, list[tuple[FileRow, str]]] = {}
    for row in rows:
        text = str(row.number("" if row.values.get(column) is None else row.values[column], table, column)).strip()
        number = numeral(text)
        weight = math.nan if number is None else float(number)
        if not 0 <= weight <= LARGEST:
            cause = _DATED if _DATE.fullmatch(text) else _NO_NUMBER if text else _NONE
            wrong.setdefault(cause, []).append((row, text))
            weight = math.nan
        found.append(weight)
    errors = []
    for cause, cells in wrong.items():
        many = len(cells) > MOST_ALIKE
        for row, text in cells:
            shown = f", got '{cells[0][1]}' and others" if many else f", got '{text}'"
            message = f"{cause}{shown if cause != _NONE else ''}"
            errors.append(DataError(message, file=table, line=row.line, field=column, hint=_HINTS.get(cause, _HINT)))
    errors.sort(key=lambda error: error.line or 0)
    return found, errors


def require_answers(
    answers: Mapping[str, Sequence[float | None]], groups: Sequence[str], table: Path, met: str
) -> None:
    """Raise DataError if there are no respondents, or no answers in a group.

    `groups` has the group of each respondent; `met` is the hint if nobody is left.
    """
    if not groups:
        raise DataError("no respondents remain after filter, groups and weights", file=table, hint=met)
    pairs = (pair for of_id in answers.values() for pair in zip(groups, of_id, strict=True))
    answered = {group for group, one in pairs if one is not None}
    for group in dict.fromkeys(groups):
        if answers and group not in answered:
            of_group = f" by respondents of group '{group}'" if group else ""
            raise DataError(f"contains no answers{of_group}", file=table, hint="check the settings columns and missing")


def unlike(rows: Sequence[FileRow], weights: Sequence[float], column: str) -> Iterator[str]:
    """Yield cautions about weights that may have lost their decimal marks: all of them, or some far from the median."""
    middle = median(weights) if weights else 0.0
    facts = {"column": column, "middle": middle, "far": FAR}
    if middle > _WHOLE and all(weight == int(weight) for weight in weights) and len(set(weights)) > 2:
        yield CAUTIONS.get("whole-weights", n=len(weights), **facts)
    pairs = list(zip(rows, weights, strict=True))
    large = [(row, weight) for row, weight in pairs if weight > FAR * middle]
    small = [(row, weight) for row, weight in pairs if weight < middle / FAR]
    for some in (large, small):
        if some:
            lines = (
                f"{for_one(len(some), _rows_noun(rows))} {_first(f'{row.line:d}: {weight:g}' for row, weight in some)}"
            )
            yield CAUTIONS.get("far-weights", n=len(some), lines=lines, large=some is large, **facts)


def weightless(rows: Sequence[FileRow], column: str) -> Iterator[str]:
    """Yield a caution naming the rows of respondents left out because their weight is 0."""
    if rows:
        lines = f"{for_one(len(rows), _rows_noun(rows))} {_first(f'{row.line:d}' for row in rows)}"
        yield CAUTIONS.get("weightless", n=len(rows), column=column, lines=lines)


def _rows_noun(rows: Sequence[FileRow]) -> str:
    return {SheetRow: "rows", Case: "cases"}.get(type(rows[0].line), "lines")


def unused(header: Sequence[str], labels: Mapping[str, str], used: Collection[str], weights: str) -> Iterator[str]:
    """Yield a caution about columns that are named or labelled like survey weights, but not in `used`.

    `weights` is the column used as weights, or "" if there is none.
    """
    found = [
        f"{name} ({labels[name]})" if labels.get(name) else name
        for name in header
        if name not in used
        and any(_WEIGHT.search(text) and not _BODY.search(text) for text in (name, labels.get(name, "")))
    ]
    if found:
        yield CAUTIONS.get("other-weights", n=len(found), names=found[:_MOST], weights=weights)


def repeated(rows: Sequence[FileRow]) -> Iterator[str]:
    """Yield a caution about rows that are identical in every column.

    There is none if at least one pair of identical rows is expected by chance with independent columns.
    """
    lines: dict[tuple[str, ...], list[int]] = {}
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    for row in rows:
        lines.setdefault(tuple(str(row.values.get(name)) for name in names), []).append(row.line)
    alike = [same for same in lines.values() if len(same) > 1]
    more = sum(len(same) - 1 for same in alike)
    if not more or _by_chance(lines, len(rows)) >= 1:
        return
    shown = _first(" and ".join(f"{line:d}" for line in same[:2]) for same in alike)
    yield CAUTIONS.get("repeated", n=more, of=len(rows), lines=f"{_rows_noun(rows)} {shown}")


def repeated_ids(
    rows: Sequence[FileRow], labels: Mapping[str, str], answers: Collection[str], chosen: Collection[str]
) -> Iterator[str]:
    """Yield cautions about columns of respondent ids in which some ids occur twice.

    Such a column is recognised by its name or label, and by nearly all values being distinct. An id may recur at
    another level of the `chosen` columns, since countries, for example, may use the same ids. Rows that are identical
    in every column are left to `repeated`.
    """
    names = dict.fromkeys(name for row in rows for name in row.values)
    for name in names:
        if name in answers or name in chosen or not (_ID.fullmatch(name) or _ID_LABEL.search(labels.get(name, ""))):
            continue
        of: dict[str, list[FileRow]] = {}
        for row in rows:
            text = str(row.values.get(name) or "").strip()
            if text:
                of.setdefault(text, []).append(row)
        more = {text: own for text, own in of.items() if len(own) > 1}
        if sum(len(own) - 1 for own in more.values()) > _NEARLY * len(rows):
            continue
        same = {text: own for text, own in more.items() if _of_one(own, chosen) and any(r[1] != own[0][1] for r in own)}
        if same:
            each = _first(f"{text} ({lines_of(own)})" for text, own in same.items())
            yield CAUTIONS.get("repeated-ids", n=len(same), column=name, each=each)


def _first(texts: Iterable[str]) -> str:
    shown = [*islice(texts, _MOST + 1)]
    return ", ".join(shown[:_MOST] + ["…"] * (len(shown) > _MOST))


def _of_one(rows: Sequence[FileRow], chosen: Collection[str]) -> bool:
    return len({tuple(str(row.values.get(name)) for name in chosen) for row in rows}) < len(rows)


def lines_of(rows: Sequence[FileRow]) -> str:
    """Name the lines of some rows, such as "lines 3 and 8"; of many, only the first few."""
    shown = [f"{row.line:d}" for row in rows]
    text = _first(shown) if len(rows) > _MOST else listed(shown)
    return f"{for_one(len(rows), _rows_noun(rows))} {text}"


def _by_chance(lines: Mapping[tuple[str, ...], Sequence[int]], n: int) -> float:
    """Return the expected number of identical pairs of n rows with independent columns: C(n, 2) · Π Σ share²."""
    expected = n * (n - 1) / 2
    for cells in zip(*lines, strict=True):
        counts: Counter[str] = Counter()
        for cell, same in zip(cells, lines.values(), strict=True):
            counts[cell] += len(same)
        expected *= sum((count / n) ** 2 for count in counts.values())
    return expected

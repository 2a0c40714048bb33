"""Tables of sentences about a person and a profession, with the person masked (TM) or with both masked (TAM)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from penchant.corpus.slot_filling import Span
from penchant.engine.scorer import GAP
from penchant.errors import DataError, place
from penchant.plurals import first_of
from penchant.tables.data_cautions import name_cautions, repeated_rows
from penchant.tables.rows import columns as columns_of
from penchant.tables.rows import read_models, read_rows
from penchant.tables.yaml_json_documents import SETTINGS, Text, Written
from penchant.wording.phrases import Note

_MASKS = re.compile(rf"{re.escape(GAP)}(?:\s*{re.escape(GAP)})*")
_SHOWN = 20
"""Maximum number of rows that a caution names."""
EVERY = "all"
"""Group or template of all rows if the table has no such column."""


class TamRow(BaseModel):
    """A row of a table; other columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    tm: Written
    """The sentence with the person masked, such as "[MASK] is a nurse."; the column is called Sent_TM."""
    tam: Written
    """The same with the attribute masked too, such as "[MASK] is a [MASK]."; the column is called Sent_TAM."""
    person: Written
    """The word that replaces the mask of the person, such as She; the column is called Person."""
    gender: Text
    """The gender of the person; the column is called Gender."""
    profession: Text
    """The attribute, which is the same in compared sentences; the column is called Profession."""
    group: Text = EVERY
    """The group of the attribute, such as the gender of which it is typical; the column is called Prof_Gender."""
    template: Text = EVERY
    """The template, which is the same in compared sentences; the column is called Template."""


class TamColumns(BaseModel):
    """Column names of the table."""

    model_config = ConfigDict(**SETTINGS, str_strip_whitespace=True)
    tm: str = "Sent_TM"
    """The sentence with the person masked. Default: Sent_TM."""
    tam: str = "Sent_TAM"
    """The sentence with person and attribute masked. Default: Sent_TAM."""
    person: str = "Person"
    """The person. Default: Person."""
    gender: str = "Gender"
    """The gender of the person. Default: Gender."""
    profession: str = "Profession"
    """The attribute. Default: Profession. For the German table, use Profession_EN, which both genders share."""
    group: str = "Prof_Gender"
    """The group of the attribute. Default: Prof_Gender, if there is such a column."""
    template: str = "Template"
    """The template. Default: Template, if there is such a column."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A row of the table, with the person filled in.

    `sentence` is the sentence without masks, `at` and `attribute` are the spans of person and attribute in it. `before`
    and `after` are the texts around the person in the sentence with the attribute masked; they contain [MASK]. `place`
    is the location for error messages.
    """

    id: str
    template: str
    person: str
    gender: str
    profession: str
    group: str
    sentence: str
    at: Span
    attribute: Span
    before: str
    after: str
    place: str

    @property
    def cell(self) -> tuple[str, str]:
        """The template and the profession, which are the same in compared sentences."""
        return self.template, self.profession

    def masked(self, mask: str) -> tuple[str, Span]:
        """Return the sentence with the attribute replaced by the model's mask token, and the person's span in it."""
        before, after = (part.replace(GAP, mask) for part in (self.before, self.after))
        return before + self.person + after, (len(before), len(before) + len(self.person))


@dataclass(frozen=True, slots=True, repr=False)
class TamTable:
    """The usable rows of a table, and cautions about the other rows."""

    rows: tuple[Masked, ...]
    cautions: tuple[Note | str, ...]


def read_tam(path: Path, columns: TamColumns, contrast: Sequence[str], same: Mapping[str, str]) -> TamTable:
    """Read the rows of a table in which the person has one of the two genders in `contrast`.

    `same` maps templates to the templates with which they are merged. Rows whose two sentences do not match are left
    out and listed in a caution. Raises DataError naming file, line and field, also if the table lacks a gender in
    `contrast` or a template in `same`.
    """
    read = read_models(path, TamRow, columns=_present(path, columns))
    rows, refused = [], []
    for line, row in read:
        try:
            rows.append(_masked(row, place(path, line), line, same))
        except ValueError as error:
            refused.append(f"line {line}: {error}")
    if not rows:
        message = f"none of {len(read)} rows can be used, for example {refused[0]}" if read else "contains no rows"
        raise DataError(message, file=path, hint="see penchant schema bec-pro")
    genders = list(dict.fromkeys(row.gender for row in rows))
    lost = [gender for gender in contrast if gender not in genders]
    if lost:
        hint = f"choose two genders in the table, as in contrast: {json.dumps(genders[:2], ensure_ascii=False)}"
        raise DataError(f"no person has the gender {' or '.join(lost)}", file=path, field=columns.gender, hint=hint)
    templates = {row.template for _, row in read}
    for name in (name for pair in same.items() for name in pair):
        if name not in templates:
            raise DataError(
                f"there is no template '{name}'", file=path, field="same", hint="copy the name from the table"
            )
    kept = tuple(row for row in rows if row.gender in contrast)
    others = [gender for gender in genders if gender not in contrast]
    cautions: list[Note | str] = []
    if refused:
        shown = first_of(refused, _SHOWN, separator="; ")
        cautions.append(Note("bec_pro.apart", n=len(refused), of=len(read), shown=shown))
    if others:
        cautions.append(Note("bec_pro.other-genders", n=len(rows) - len(kept), genders=others))
    cautions += repeated_rows(((replace(row, id="", place=""), row.place) for row in kept), "rows")
    for noun in ("gender", "profession", "group", "template", "person"):
        cautions += name_cautions((getattr(row, noun) for row in kept), f"{noun}s")
    return TamTable(kept, tuple(cautions))


def _present(path: Path, columns: TamColumns) -> dict[str, str]:
    """Return the column names by field, without optional columns that do not exist."""
    names = dict(columns)
    present = columns_of(path) or list(dict.fromkeys(name for row in read_rows(path) for name in row.values))
    for optional in ("group", "template"):
        if optional not in columns.model_fields_set and names[optional] not in present:
            del names[optional]
    return names


def _masked(row: TamRow, where: str, line: int, same: Mapping[str, str]) -> Masked:
    """Return a row with the person filled in. Raises ValueError if its two sentences do not match."""
    own = [(match.start(), match.end()) for match in _MASKS.finditer(row.tm)]
    if len(own) != 1:
        raise ValueError(f"'{row.tm}' has {len(own) or 'no'} {GAP}, but must have exactly one, for the person")
    start, tail = own[0][0], row.tm[own[0][1] :]
    sentence = row.tm[:start] + row.person + tail
    runs = [(match.start(), match.end()) for match in _MASKS.finditer(row.tam)]
    chosen = next((run for run in runs if _at(run, row.tam, row.tm[:start], tail, len(runs))), None)
    if chosen is None:
        raise ValueError(
            f"'{row.tam}' does not match '{row.tm}': the first needs one {GAP} in the same place and one elsewhere"
        )
    before, after = row.tam[: chosen[0]], row.tam[chosen[1] :]
    template = same.get(row.template, row.template)
    person = (start, start + len(row.person))
    return Masked(
        f"{line}: {row.person}, {row.profession}",
        *(template, row.person, row.gender, row.profession, row.group),
        *(sentence, person, _attribute(row, sentence, before + row.person + after)),
        *(before, after, where),
    )


def _at(run: Span, tam: str, head: str, tail: str, runs: int) -> bool:
    """Return whether the mask at `run` in `tam` is the person's: only `head` is before it, or only `tail` after it.

    False if `runs`, the number of masks in `tam`, is 1. A mask is a run of one or more [MASK].
    """
    return runs > 1 and (tam[: run[0]] == head or tam[run[1] :] == tail)


def _attribute(row: TamRow, sentence: str, masked: str) -> Span:
    """Return the span of the attribute in `sentence`; `masked` is the same sentence with the attribute masked.

    Raises ValueError if the sentences differ elsewhere.
    """
    first, last = masked.index(GAP), masked.rindex(GAP) + len(GAP)
    end = len(sentence) - (len(masked) - last)
    if sentence[:first] != masked[:first] or sentence[end:] != masked[last:] or not sentence[first:end].strip():
        raise ValueError(f"'{row.tam}' is not '{row.tm}' with the attribute masked")
    return first, end


def lone(rows: Sequence[Masked]) -> Iterator[Note]:
    """Yield a caution about pairs of template and profession in which only one gender occurs."""
    genders: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        genders.setdefault(row.cell, set()).add(row.gender)
    lacking = [cell for cell, there in genders.items() if len(there) < 2]
    if lacking:
        template, profession = lacking[0]
        yield Note("bec_pro.alone", n=len(lacking), of=len(genders), template=template, profession=profession)

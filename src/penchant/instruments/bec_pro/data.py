"""Tables of sentences about a person and a profession: with the person masked (TM), and with both masked (TAM)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from penchant.corpus.slot_templates import Span
from penchant.engine.scorer import GAP
from penchant.errors import DataError, place
from penchant.plurals import first_of
from penchant.tables.data_cautions import name_cautions, repeated_rows
from penchant.tables.documents import SETTINGS, Text, Written
from penchant.tables.rows import columns as columns_of
from penchant.tables.rows import read_models, read_rows
from penchant.wording.phrases import Note

_MASKS = re.compile(rf"{re.escape(GAP)}(?:\s*{re.escape(GAP)})*")
_SHOWN = 20
"""The most rows that a caution names."""
EVERY = "all"
"""The group or template of rows of a table without such a column."""


class TamRow(BaseModel):
    """A row of a table; further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    tm: Written
    """The sentence with the person masked, such as "[MASK] is a nurse."; the column is called Sent_TM."""
    tam: Written
    """The same with the attribute masked too, such as "[MASK] is a [MASK]."; the column is called Sent_TAM."""
    person: Written
    """The word in place of the person's mask, such as She; the column is called Person."""
    gender: Text
    """The gender of the person; the column is called Gender."""
    profession: Text
    """The attribute, which compared sentences share; the column is called Profession."""
    group: Text = EVERY
    """The group of the attribute, such as the gender that it is typical of; the column is called Prof_Gender."""
    template: Text = EVERY
    """The template of the sentence, which compared sentences share; the column is called Template."""


class TamColumns(BaseModel):
    """The columns of the table."""

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
    """The attribute. Default: Profession; in the German table Profession_EN, which both genders share."""
    group: str = "Prof_Gender"
    """The group of the attribute. Default: Prof_Gender, if there is such a column."""
    template: str = "Template"
    """The template. Default: Template, if there is such a column."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A row of the table.

    `sentence` is whole, with the spans of person and attribute; `before` and `after` surround the person in the
    sentence with the attribute masked, with [MASK] in them. Errors name the `place`.
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
        """The template and profession, which compared sentences share."""
        return self.template, self.profession

    def masked(self, mask: str) -> tuple[str, Span]:
        """Return the sentence with the attribute masked by the model's mask token, and the span of the person in it."""
        before, after = (part.replace(GAP, mask) for part in (self.before, self.after))
        return before + self.person + after, (len(before), len(before) + len(self.person))


@dataclass(frozen=True, slots=True, repr=False)
class TamTable:
    """The usable rows of a table, and cautions about the others."""

    rows: tuple[Masked, ...]
    cautions: tuple[Note | str, ...]


def read_tam(path: Path, columns: TamColumns, contrast: Sequence[str], same: Mapping[str, str]) -> TamTable:
    """Read the rows of a table whose persons have one of the two genders of the contrast.

    `same` names templates that count as another. Rows whose sentences do not belong together are left out, and a
    caution names them. Raises DataError naming file, line and field, also if the table lacks a gender or a template in
    `same`.
    """
    read = read_models(path, TamRow, columns=_present(path, columns))
    rows, refused = [], []
    for line, row in read:
        try:
            rows.append(_masked(row, place(path, line), line, same))
        except ValueError as error:
            refused.append(f"line {line}: {error}")
    if not rows:
        message = f"none of {len(read)} rows can be used; {refused[0]}" if read else "holds no rows"
        raise DataError(message, file=path, hint="see penchant schema bec-pro")
    genders = list(dict.fromkeys(row.gender for row in rows))
    lost = [gender for gender in contrast if gender not in genders]
    if lost:
        hint = f"name two of those there are, as in contrast: {json.dumps(genders[:2], ensure_ascii=False)}"
        raise DataError(f"no person is {' or '.join(lost)}", file=path, field=columns.gender, hint=hint)
    templates = {row.template for _, row in read}
    for name in (name for pair in same.items() for name in pair):
        if name not in templates:
            raise DataError(f"no template is '{name}'", file=path, field="same", hint="copy it from the table")
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
    """Return the columns by field, without optional ones that the table does not have."""
    names = dict(columns)
    present = columns_of(path) or list(dict.fromkeys(name for row in read_rows(path) for name in row.values))
    for optional in ("group", "template"):
        if optional not in columns.model_fields_set and names[optional] not in present:
            del names[optional]
    return names


def _masked(row: TamRow, where: str, line: int, same: Mapping[str, str]) -> Masked:
    """Return a row of the table. Raises ValueError if its two sentences do not belong together."""
    own = [(match.start(), match.end()) for match in _MASKS.finditer(row.tm)]
    if len(own) != 1:
        raise ValueError(f"'{row.tm}' has {len(own) or 'no'} {GAP}, but only the person may be masked in it")
    start, tail = own[0][0], row.tm[own[0][1] :]
    sentence = row.tm[:start] + row.person + tail
    runs = [(match.start(), match.end()) for match in _MASKS.finditer(row.tam)]
    chosen = next((run for run in runs if _at(run, row.tam, row.tm[:start], tail, len(runs))), None)
    if chosen is None:
        raise ValueError(
            f"'{row.tam}' does not go with '{row.tm}': it needs one {GAP} where that has its own, another elsewhere"
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
    """Return whether a run of masks is the person's: the text before or after it is as in the other sentence."""
    return runs > 1 and (tam[: run[0]] == head or tam[run[1] :] == tail)


def _attribute(row: TamRow, sentence: str, masked: str) -> Span:
    """Return the span in the sentence that the other one masks besides the person. Raises ValueError."""
    first, last = masked.index(GAP), masked.rindex(GAP) + len(GAP)
    end = len(sentence) - (len(masked) - last)
    if sentence[:first] != masked[:first] or sentence[end:] != masked[last:] or not sentence[first:end].strip():
        raise ValueError(f"'{row.tam}' is not '{row.tm}' with the attribute masked")
    return first, end


def lone(rows: Sequence[Masked]) -> Iterator[Note]:
    """Yield a caution about pairs of template and profession that lack a gender, and so have no contrast."""
    genders: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        genders.setdefault(row.cell, set()).add(row.gender)
    lacking = [cell for cell, there in genders.items() if len(there) < 2]
    if lacking:
        template, profession = lacking[0]
        yield Note("bec_pro.alone", n=len(lacking), of=len(genders), template=template, profession=profession)

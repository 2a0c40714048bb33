"""Winogender as published: sentences with a female, a male and a neutral pronoun, and percentages of women."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from penchant.errors import DataError, place, together
from penchant.instruments.wino.pronouns import difference
from penchant.number_parsing import numeral
from penchant.plurals import first_of
from penchant.records import Item
from penchant.tables.data_cautions import name_cautions, repeated_rows
from penchant.tables.rows import columns as columns_of
from penchant.tables.rows import lacking, read_models, read_rows
from penchant.tables.yaml_json_documents import SETTINGS, Text, Written
from penchant.text_io import is_directory
from penchant.wording.phrases import Note

ROLES = ("female", "male", "neutral")
"""The genders of the pronoun in the three sentences of an item."""
ANSWERS = {"0": "occupation", "1": "participant"}
"""The referent of the pronoun, by the answer in the data."""
SOMEONE = "someone"
SENTENCES, TEMPLATES, STATISTICS = "all_sentences.tsv", "templates.tsv", "occupations-stats.tsv"
"""Names of the published files."""
_SHOWN = 20
"""Maximum number of items that a caution lists."""
_PRONOUNS = {
    "$NOM_PRONOUN": ("she", "he", "they"),
    "$POSS_PRONOUN": ("her", "his", "their"),
    "$ACC_PRONOUN": ("her", "him", "them"),
}
_THE_PARTICIPANT = re.compile(r"(?:([Tt])he|\b([Aa])n?) \$PARTICIPANT")
_PLURAL = re.compile(r"\b(they) (was|is|has)\b")
_PLURALS = {"was": "were", "is": "are", "has": "have"}


class GenderSentenceRow(BaseModel):
    """A row of a table of sentences; further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    sentid: Text
    """Identifier of the form occupation.participant.answer.gender.txt, such as technician.customer.1.male.txt.

    The pronoun refers to the occupation (answer 0) or to the participant (1), who may be "someone"; gender is
    female, male or neutral.
    """
    sentence: Written
    """The sentence."""


class TemplateRow(BaseModel):
    """A row of a table of templates; further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    occupation: Text
    """The occupation; the column is called occupation(0)."""
    participant: Text
    """The other person; the column is called other-participant(1)."""
    answer: Annotated[int, Field(ge=0, le=1)]
    """The referent of the pronoun: 0 the occupation, 1 the participant."""
    sentence: Written
    """The sentence with $OCCUPATION, $PARTICIPANT, and $NOM_PRONOUN, $POSS_PRONOUN or $ACC_PRONOUN."""


class WinogenderColumns(BaseModel):
    """Column names of the tables."""

    model_config = ConfigDict(**SETTINGS, str_strip_whitespace=True)
    sentid: str = "sentid"
    """Column of the identifiers of the sentences. Default: sentid."""
    sentence: str = "sentence"
    """Column of the text of the sentences. Default: sentence."""
    occupation: str = "occupation"
    """Column of the occupation in the statistics. Default: occupation."""


@dataclass(frozen=True, slots=True)
class WinogenderItems:
    """The items of a table of sentences and the statistics of their occupations.

    Every item has a text for each of `ROLES`, and the labels "occupation", "participant", "kind" (participant or
    someone), "refers" (the referent of the pronoun) and "pronouns". `women` maps the name of each statistic to
    the percentages of women by occupation.
    """

    items: tuple[Item, ...]
    women: Mapping[str, Mapping[str, float]]
    cautions: tuple[Note | str, ...]


def sentences_file(path: Path) -> Path:
    """Return the path of the table of sentences or templates: `path`, or the published file in it if it is a folder.

    Raises DataError if the folder contains neither.
    """
    if not is_directory(path):
        return path
    for name in (SENTENCES, TEMPLATES):
        if (path / name).is_file():
            return path / name
    raise DataError(f"the folder has neither {SENTENCES} nor {TEMPLATES}", file=path, hint="name the file itself")


def statistics_file(path: Path) -> Path:
    """Return the published file of statistics in the folder `path`, or beside the file `path`.

    Raises DataError if there is none.
    """
    beside = (path if is_directory(path) else path.parent) / STATISTICS
    if not beside.is_file():
        raise DataError(
            "there are no statistics of occupations",
            file=beside,
            hint="set statistics to a table with the percentage of women in each occupation",
        )
    return beside


def read_winogender(
    sentences: Path, statistics: Path, shares: Sequence[str], columns: WinogenderColumns
) -> WinogenderItems:
    """Read sentences, or make them from templates, and the percentages of women in the columns `shares`.

    Items whose female and male sentence differ in more than pronouns are left out, and a caution names them. Raises
    DataError naming file, line and field.
    """
    present = columns_of(sentences) or [*{name: None for row in read_rows(sentences) for name in row.values}]
    templates = {"occupation": "occupation(0)", "participant": "other-participant(1)"}
    if set(templates.values()) <= set(present):
        candidates = [
            item
            for line, row in read_models(sentences, TemplateRow, columns=templates)
            for item in _from_template(row, line, sentences)
        ]
    else:
        candidates = _from_sentences(sentences, columns)
    items, refused = [], []
    for item in candidates:
        apart = difference(item.texts["female"], item.texts["male"])
        if isinstance(apart, str):
            refused.append(f"{item.place}: {apart}")
        else:
            items.append(Item(item.id, item.texts, {**item.labels, "pronouns": apart.named()}, item.place))
    if not items:
        message = (
            f"none of {len(candidates)} items has sentences that differ only in pronouns; the first: {refused[0]}"
            if candidates
            else "contains no rows"
        )
        raise DataError(message, file=sentences)
    women = _statistics(statistics, shares, columns.occupation)
    names = [*(item.labels["occupation"] for item in items), *(name for known in women.values() for name in known)]
    cautions = (
        *map(str, _left_out(refused, len(candidates), items, women)),
        *repeated_rows(((tuple(item.texts.values()), item.id) for item in items), "items"),
        *name_cautions(names, "occupations"),
    )
    return WinogenderItems(tuple(items), women, cautions)


def _from_sentences(path: Path, columns: WinogenderColumns) -> list[Item]:
    names = {"sentid": columns.sentid, "sentence": columns.sentence}
    parts: dict[tuple[str, ...], dict[str, tuple[int, str]]] = {}
    errors: list[DataError] = []
    for line, row in read_models(path, GenderSentenceRow, columns=names):
        fields = row.sentid.removesuffix(".txt").rsplit(".", 3)
        message = _id_error(fields)
        if message:
            errors.append(DataError(message, file=path, line=line, field=columns.sentid))
            continue
        three = parts.setdefault(tuple(fields[:3]), {})
        if fields[3] in three:
            message = f"'{row.sentid}' occurs twice, first on line {three[fields[3]][0]}"
            errors.append(DataError(message, file=path, line=line, field=columns.sentid))
        three[fields[3]] = line, row.sentence
    for three_of, three in parts.items():
        if len(three) < len(ROLES):
            lost = ", ".join(role for role in ROLES if role not in three)
            line = min(line for line, _ in three.values())
            errors.append(
                DataError(f"{'.'.join(three_of)} lacks sentences with these pronouns: {lost}", file=path, line=line)
            )
    if errors:
        raise together(errors)
    return [
        _item(
            *key,
            texts={role: three[role][1] for role in ROLES},
            where=place(path, min(line for line, _ in three.values())),
        )
        for key, three in parts.items()
    ]


def _id_error(fields: Sequence[str]) -> str:
    if len(fields) < 4 or not all(fields):
        return "the identifier must have the form occupation.participant.answer.gender.txt"
    if fields[2] not in ANSWERS:
        return f"the answer must be 0 (the occupation) or 1 (the participant), not '{fields[2]}'"
    return "" if fields[3] in ROLES else f"the gender must be female, male or neutral, not '{fields[3]}'"


def _from_template(row: TemplateRow, line: int, path: Path) -> Iterator[Item]:
    """Yield the items of a template: with the participant, and with "someone" instead.

    Raises DataError if the template lacks a slot.
    """
    slots = [slot for slot in _PRONOUNS if slot in row.sentence]
    for needed in ("$OCCUPATION", "$PARTICIPANT"):
        if needed not in row.sentence:
            raise DataError(f"the template has no {needed}", file=path, line=line, field="sentence")
    if not slots:
        raise DataError(f"the template has none of {', '.join(_PRONOUNS)}", file=path, line=line, field="sentence")
    for participant in (row.participant, SOMEONE):
        texts = {}
        for number, role in enumerate(ROLES):
            text = row.sentence.replace("$OCCUPATION", row.occupation)
            if participant == SOMEONE:
                text = _THE_PARTICIPANT.sub(_someone, text)
            text = text.replace("$PARTICIPANT", participant)
            for slot in slots:
                text = text.replace(slot, _PRONOUNS[slot][number])
            if role == "neutral":
                text = _PLURAL.sub(lambda match: f"{match[1]} {_PLURALS[match[2]]}", text)
            texts[role] = text
        yield _item(row.occupation, participant, str(row.answer), texts=texts, where=place(path, line))


def _someone(match: re.Match[str]) -> str:
    article = match[1] or match[2]
    return SOMEONE.capitalize() if article.isupper() else SOMEONE


def _item(occupation: str, participant: str, answer: str, *, texts: Mapping[str, str], where: str) -> Item:
    labels = {
        "occupation": occupation,
        "participant": participant,
        "kind": SOMEONE if participant == SOMEONE else "participant",
        "refers": ANSWERS[answer],
    }
    return Item(f"{occupation}.{participant}.{answer}", texts, labels, where)


def _statistics(path: Path, shares: Sequence[str], occupation: str) -> dict[str, dict[str, float]]:
    """Return the percentages of women by statistic and occupation; empty cells are left out.

    `shares` and `occupation` are names of columns. Raises DataError if a column is missing or a row is invalid.
    """
    rows = read_rows(path)
    present = list(dict.fromkeys(name for row in rows for name in row.values))
    lacking([occupation, *shares], present, path)
    women: dict[str, dict[str, float]] = {share: {} for share in shares}
    errors: list[DataError] = []
    seen: dict[str, int] = {}
    for row in rows:
        name = str(row.values.get(occupation) or "").strip()
        if not name or seen.setdefault(name, row.line) != row.line:
            message = f"'{name}' occurs twice, first on line {seen[name]}" if name else "the field is blank"
            errors.append(DataError(message, file=path, line=row.line, field=occupation))
            continue
        for share in shares:
            value = row.values.get(share)
            if value in ("", None):
                continue
            percent = _percent(row.number(value, path, share))
            if percent is None:
                message = f"expected a percentage from 0 to 100, found {value!r}"
                errors.append(DataError(message, file=path, line=row.line, field=share))
            else:
                women[share][name] = percent
    for share, known in women.items():
        if len(known) > 1 and 0 < max(known.values()) <= 1:
            message = "all values lie between 0 and 1, but percentages from 0 to 100 are expected"
            errors.append(DataError(message, file=path, field=share, hint="multiply them by 100"))
    if errors:
        raise together(errors)
    return women


def _percent(value: object) -> float | None:
    number = numeral(str(value))
    return float(number) if number is not None and 0 <= number <= 100 else None


def _left_out(
    refused: Sequence[str], of: int, items: Sequence[Item], women: Mapping[str, Mapping[str, float]]
) -> Iterator[Note]:
    if refused:
        places = first_of(refused, _SHOWN, separator="; ")
        yield Note("wino.items-left-out", lost=len(refused), of=of, places=places)
    occupations = dict.fromkeys(item.labels["occupation"] for item in items)
    for share, known in women.items():
        lost = [name for name in occupations if name not in known]
        if lost:
            yield Note("wino.without-share", lost=len(lost), of=len(occupations), share=share, names=lost[:_SHOWN])

"""People's judgements of pairs, read from tables and checked against the pairs.

Each row is a judgement: the `pair` by its id, the `rater`, and either a `choice` (good or bad) or two ratings
(`rating_good` and `rating_bad`, higher is better). A judgement is converted to one number: +1 or −1 for a choice,
otherwise the difference between the two ratings. A positive number means that the rater prefers the good sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from penchant.errors import DataError, nearest, place, together
from penchant.instruments.minimal_pairs.data import PairSet
from penchant.records import Item
from penchant.tables.data_cautions import counted_apart
from penchant.tables.rater_judgements import ByRater
from penchant.tables.rows import checked_models
from penchant.tables.yaml_json_documents import Number, Text, as_text
from penchant.wording import templates

Kind = Literal["choices", "ratings"]
COLUMNS = ("pair", "rater", "choice")
"""Default column names for judgements passed from Python as unnamed rows."""
SHARE, RATERS = "human_good", "human_raters"
JUDGED: Mapping[Kind, str] = {"choices": "human_choices", "ratings": "human_differences"}
"""Column of the items that contains the judgements, by kind of judgement."""
_SHOWN = 3
_WORDS = templates.Text.of(Path(__file__).parent).below("cautions")


def _choice(value: object) -> str | None:
    text = value.strip().casefold() if isinstance(value, str) else value
    if text not in ("good", "bad", ""):
        raise ValueError(f"a choice must be good or bad, got {value!r}")
    return str(text) or None


class JudgementRow(BaseModel):
    """A row of a table of judgements; other columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True, allow_inf_nan=False)
    pair: Text
    """The id of the pair: its `id` in a plain table (or the column named in `columns`), else its row number. In BLiMP
    it is the paradigm and the pairID, such as `inchoative-12`.
    """
    rater: Text
    """The name of the rater, who judges each pair at most once."""
    dataset: Text | None = None
    """The name of the pairs' file without its suffix, needed only if several files have pairs with the same id.
    If the study has no such file, the pair is found by its two sentences.
    """
    good: Text | None = None
    """The good sentence, if the table has it; it must be unchanged. A pair whose id differs in the study is found by
    its two sentences.
    """
    bad: Text | None = None
    """The bad sentence, if the table has it."""
    choice: Annotated[
        str | None, BeforeValidator(_choice), WithJsonSchema({"anyOf": [{"enum": ["good", "bad"]}, {"type": "null"}]})
    ] = None
    """The sentence that the rater prefers: `good` or `bad`. Empty cells are ignored."""
    rating_good: Number | None = None
    """The rating of the good sentence, on any scale; higher is better. Empty cells are ignored."""
    rating_bad: Number | None = None
    """The rating of the bad sentence, on the same scale. Empty cells are ignored."""


PairKey = tuple[str, str]
"""File name and id of a pair."""


@dataclass(frozen=True, slots=True)
class Judgements:
    """People's judgements: `of` maps the file name and id of each pair to (rater, judgement) tuples.

    A rater in a tuple is an index into `raters`, the names of the raters.
    """

    kind: Kind
    of: Mapping[PairKey, Sequence[tuple[int, float]]]
    raters: tuple[str, ...]
    cautions: tuple[str, ...] = ()

    def on(self, items: pl.DataFrame) -> pl.DataFrame:
        """Add columns about the judgements to scored pairs.

        They are the number of judgements, their mean (for choices, the share of "good"), the raters and the values.
        """
        judged = [self.of.get(key, ()) for key in items.select("file", "id").iter_rows()]
        means = [sum(value for _, value in each) / len(each) if each else None for each in judged]
        if self.kind == "choices":
            means = [None if mean is None else (mean + 1) / 2 for mean in means]
        columns = {
            "human_n": pl.Series([len(each) for each in judged], dtype=pl.Int32),
            SHARE: pl.Series(means, dtype=pl.Float64),
            RATERS: pl.Series([[rater for rater, _ in each] for each in judged], dtype=pl.List(pl.Int32)),
            JUDGED[self.kind]: pl.Series([[v for _, v in each] for each in judged], dtype=pl.List(pl.Float64)),
        }
        return items.with_columns(**columns)


def read_judgements(paths: Iterable[str | Path], pair_sets: Sequence[PairSet]) -> Judgements:
    """Read the judgements of pairs from files.

    Raises DataError for an unknown pair, changed sentences, a pair judged twice by the same rater, an invalid cell, a
    mixture of choices and ratings, or no judgement at all. The error names file, line and field; its notes list all
    other errors.
    """
    reading = _Reading(_Pairs.of(pair_sets))
    files = [Path(path) for path in paths]
    for file in files:
        rows, errors = checked_models(file, JudgementRow, guarded=True)
        reading.errors += errors
        for line, row in rows:
            reading.take(row, file, line)
    reading.require_one_kind(files)
    if reading.errors:
        raise together(reading.errors)
    names = reading.judged.raters()
    (kind,) = reading.kinds
    return Judgements(
        kind, reading.judged.numbered(), tuple(names), (*reading.cautions(), *counted_apart(names, "raters"))
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs, indexed by id and file, and by their two sentences."""

    files: frozenset[str]
    by_id: Mapping[str, Mapping[str, Item]]
    by_texts: Mapping[tuple[str, str], Sequence[Item]]

    @classmethod
    def of(cls, pair_sets: Sequence[PairSet]) -> _Pairs:
        by_id: dict[str, dict[str, Item]] = {}
        by_texts: dict[tuple[str, str], list[Item]] = {}
        for pairs in pair_sets:
            for item in pairs.items:
                by_id.setdefault(as_text(item.id), {})[as_text(pairs.name)] = item
                by_texts.setdefault((as_text(item.texts["good"]), as_text(item.texts["bad"])), []).append(item)
        return cls(frozenset(as_text(pairs.name) for pairs in pair_sets), by_id, by_texts)

    def of_texts(self, row: JudgementRow) -> Item | None:
        """Return the pair with the two sentences of a row; None if there is no such pair or more than one."""
        found = self.by_texts.get((row.good or "", row.bad or ""), ())
        return found[0] if len(found) == 1 else None


@dataclass(slots=True)
class _Reading:
    """State while tables are read: judgements by pair and rater, errors, and counts of rows.

    `kinds` maps each kind of judgement to its first location.
    """

    pairs: _Pairs
    errors: list[DataError] = field(default_factory=list)
    judged: ByRater[PairKey] = field(default_factory=ByRater)
    kinds: dict[Kind, tuple[Path, int]] = field(default_factory=dict)
    rows: int = 0
    halves: int = 0
    by_texts: int = 0
    unchecked: dict[Path, bool] = field(default_factory=dict)

    def take(self, row: JudgementRow, file: Path, line: int) -> None:
        """Check a row and store its judgement, if it has one."""
        self.rows += 1
        self.unchecked[file] = self.unchecked.get(file, True) and row.good is None and row.bad is None
        item = self.pairs.of_texts(row)
        if item is None or self._named(row, item):
            item = self._item(row, file, line)
        else:
            self.by_texts += 1
        if item is None:
            return
        for role, text in (("good", row.good), ("bad", row.bad)):
            if text is not None and text != as_text(item.texts[role]):
                message = f"this is not the {role} sentence of pair {row.pair}"
                self._refuse(message, file, line, role, f"copy the sentence from {item.place}")
        value = self._value(row, file, line)
        if value is not None:
            key, called = (item.labels["dataset"], item.id), f"pair {row.pair}"
            again = self.judged.add(key, row.rater, value, file, line, called=called, column="pair")
            self.errors += [again] if again else []

    def _refuse(self, message: str, file: Path, line: int, column: str, hint: str) -> None:
        self.errors.append(DataError(message, file=file, line=line, field=column, hint=hint))

    def _named(self, row: JudgementRow, item: Item) -> bool:
        """Return whether the row identifies the pair by its id and, if given, its file."""
        dataset = as_text(item.labels["dataset"])
        return row.pair == as_text(item.id) and row.dataset in (None, dataset)

    def _item(self, row: JudgementRow, file: Path, line: int) -> Item | None:
        """Return the pair that a row identifies; if there is none, record an error and return None."""
        if row.dataset is not None and row.dataset not in self.pairs.files:
            known = nearest(row.dataset, self.pairs.files) or sorted(self.pairs.files)
            hint = f"name the pairs' file without its suffix, such as {known[0]}, or give both sentences"
            self._refuse(f"there is no file of pairs called '{row.dataset}'", file, line, "dataset", hint)
            return None
        found = self.pairs.by_id.get(row.pair, {})
        held = [name for name in found if row.dataset in (None, name)]
        if not held:
            of = f" in {row.dataset}" if row.dataset else ""
            near = nearest(row.pair, self.pairs.by_id) or list(self.pairs.by_id)[:_SHOWN]
            hint = f"pairs have ids such as {', '.join(near)}"
            self._refuse(f"there is no pair '{row.pair}'{of}", file, line, "pair", hint)
            return None
        if len(held) > 1:
            message = f"several files have a pair '{row.pair}': {' and '.join(held[:_SHOWN])}"
            hint = "add a column dataset with the name of the pairs' file, without its suffix"
            self._refuse(message, file, line, "pair", hint)
            return None
        return found[held[0]]

    def _value(self, row: JudgementRow, file: Path, line: int) -> float | None:
        if row.choice is not None:
            self.kinds.setdefault("choices", (file, line))
        if row.rating_good is not None and row.rating_bad is not None:
            self.kinds.setdefault("ratings", (file, line))
            return row.rating_good - row.rating_bad
        self.halves += row.rating_good is not None or row.rating_bad is not None
        return {"good": 1.0, "bad": -1.0, None: None}[row.choice]

    def require_one_kind(self, files: Sequence[Path]) -> None:
        """Record an error if the files contain both choices and ratings, or neither."""
        if len(self.kinds) > 1:
            (_, first), (kind, (file, line)) = self.kinds.items()
            message = (
                f"mixes kinds of judgement: {kind} here and "
                f"{'ratings' if kind == 'choices' else 'choices'} in {place(*first)}"
            )
            hint = "use only one kind of judgement: choice, or rating_good and rating_bad"
            self.errors.append(DataError(message, file=file, line=line, hint=hint))
        if not self.kinds and not self.errors:
            hint = "fill the column choice with good or bad, or the columns rating_good and rating_bad with numbers"
            self.errors.append(DataError("contains no judgement", where=", ".join(map(str, files)), hint=hint))

    def cautions(self) -> Iterable[str]:
        """Yield cautions about empty rows, pairs found by their sentences, and tables without sentences to check."""
        if self.by_texts:
            yield _WORDS.get("renamed", n=self.by_texts, of=self.rows)
        for file in (file for file, lacks in self.unchecked.items() if lacks):
            yield _WORDS.get("unchecked", file=file.name)
        if empty := self.rows - sum(map(len, self.judged.of.values())):
            yield _WORDS.get("empty", n=empty, of=self.rows, halves=self.halves)

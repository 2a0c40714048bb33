"""Tables and items of cloze valence. Rendering only: every number comes from a result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.counting import for_one
from penchant.instruments.cloze.agreeing import agreement_table
from penchant.instruments.cloze.cautions import named, unrated_kinds, without_beta
from penchant.instruments.cloze.charts import every_worth
from penchant.instruments.cloze.compare import difference
from penchant.instruments.cloze.estimates import EVERYTHING, LEFT_OUT, MEASURES, MOVED, OVER_ALL, PER_RATED
from penchant.instruments.cloze.raters import ENDS, KNOWN, SAMPLED
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Joined, Strip
from penchant.report.made import tested
from penchant.report.tables import Number, P, Row, Table, estimate, models, shown
from penchant.wording.phrases import Note, Notes, notes_of, read_notes, spanning

_FIRST = ("mean β", "mean δ", "sentences")
_LIMITS = (0.7, 0.93)
"""Shares of intervals below which a note is given."""
_OTHERWISE = {
    PER_RATED: "Per rated probability: β had it been divided by the rated mass, as if no other word were predicted.",
    OVER_ALL: "Over all probability: β had unrated words counted as 0, as without `renormalise`.",
}
"""What the other choice of `renormalise` is."""
_ABSENT = {**dict.fromkeys(("value", "low", "high"), math.nan), "n": 0}
"""What stands for an estimate that an older result does not have."""


def tables(results: Sequence[Result]) -> list[Table]:
    """Mean β, δ and rated mass by group and model, with intervals and the range under moved ratings."""
    rows = []
    other = OVER_ALL if results[0].signature["renormalise"] == "yes" else PER_RATED
    for group in dict.fromkeys(g for r in results for g in r.summary["group"].to_list()):
        for result in results:
            of_group = result.summary.filter(pl.col("group") == group)
            if not len(of_group):
                continue
            by_measure = {row["measure"]: row for row in of_group.iter_rows(named=True)}
            beta, delta, mass = (by_measure[measure] for measure in MEASURES.values())
            moved = by_measure[MOVED.format(MEASURES["delta"])]
            sampled = [by_measure.get(SAMPLED.format(MEASURES[column]), _ABSENT) for column in ("beta", "delta")]
            cells = (
                group,
                result.signature["model"],
                delta["n"] if delta["n"] == mass["n"] else _part(delta["n"], mass["n"]),
                _number(beta, "+.3f"),
                _range(sampled[0], "+.3f"),
                _beside(by_measure.get(other.format(MEASURES["beta"]))),
                _number(delta, ".3f"),
                _range(sampled[1], ".3f"),
                _range(moved, ".3f"),
                estimate(mass),
            )
            rows.append(Row(cells, delta["signature"]))
    low, _, high = results[0].signature["scale"].partition(" < ")
    of_beta = ("mean β", SAMPLED.format("β"), other.format("β"))
    told = [notes for r in results for notes in r.summary["notes"].to_list()]
    of_delta = ("mean δ", "δ, raters sampled", "δ, ratings moved")
    columns = ("group", "model", "sentences", *of_beta, *of_delta, "rated mass")
    note = (
        f"{_of_beta(low, high)}; δ: how well that suits the sentences, 0 to 1. "
        "The intervals of β and δ are for other sentences with the same raters; raters sampled: for other raters, too. "
        "Ratings moved: where mean δ lies had some ratings been half a point higher or lower. "
        f"{_OTHERWISE[other]}{without_sentences(results)} {_known(told)}".rstrip()
    )
    valence = Table("valence", "Mean valence and adequacy by group", columns, tuple(rows), note, first=_FIRST)
    below = f"{without_sentences(results)} {_known(told)}".strip()
    return [
        replace(valence, short=_short(valence, _of_beta(low, high), below)),
        *agreement_table(models(results), results),
    ]


def _number(row: Mapping[str, Any], form: str) -> Number:
    """An estimate, without what the table says of all of them."""
    return replace(estimate(row, form), notes=_plain(notes_of(row)))


def _range(row: Mapping[str, Any], form: str) -> Number:
    """The interval of an estimate, without what the table says of all of them."""
    return replace(_number(row, form), value=math.nan)


def _beside(row: Mapping[str, Any] | None) -> Number:
    """β with the other choice of `renormalise`, if an estimate has it; its notes are those of β."""
    return Number(form="+.3f") if row is None else replace(estimate(row, "+.3f"), notes=())


def _part(n: int, whole: int) -> Number:
    """How many of all sentences, as a number, beside which others stand."""
    return Number(float(n), form=".0f", star=f" of {whole}")


def _plain(notes: Notes) -> Notes:
    """Notes without those that the table says once of all its rows, and with one of two limits in place of how many
    intervals of skew values hold the mean, so that few notes stand below the table."""
    return tuple(_limited(note) for note in notes if note.code not in (KNOWN, ENDS, LEFT_OUT))


def _limited(note: Note) -> Note:
    if note.code != "skew":
        return note
    limit = next(limit for limit in _LIMITS if round(note.params["held"], 2) < limit or limit == _LIMITS[-1])
    return Note("cloze.skew", limit=round(100 * limit))


def _known(told: Sequence[str]) -> str:
    """How much of the rated probability two raters or more judge, over the rows whose notes say so; empty where all of
    it."""
    known = [note for notes in told for note in read_notes(notes) if note.code == KNOWN]
    return f"In the rows, {spanning(known, '% to ')}. " if known else ""


def _of_beta(low: str, high: str) -> str:
    return f"β: where a model leans, from −1 ({low}) to +1 ({high})"


def without_sentences(results: Sequence[Result]) -> str:
    """Which sentences no mean counts, as no word is rated that a model predicts; empty where there are none."""
    empty = {model: without_beta(result.items) for model, result in zip(models(results), results, strict=True)}
    if not any(empty.values()) or all(len(ids) == len(r.items) for ids, r in zip(empty.values(), results, strict=True)):
        return ""
    if len({tuple(ids) for ids in empty.values()}) == 1:
        told = named(next(iter(empty.values())))
    else:
        told = "; ".join(f"{named(ids)} ({model})" for model, ids in empty.items() if ids)
    return f" Sentences without a rated prediction have no β and no δ and are left out: {told}."


def _short(table: Table, of_beta: str, below: str) -> Table:
    """The columns of β and of what is rated; those of other raters only where there are several."""
    sampled = table.columns.index(SAMPLED.format("β"))
    numbers = (cell for row in table.rows if isinstance(cell := row.cells[sampled], Number))
    others = any(not math.isnan(number.low) for number in numbers)
    wide = {SAMPLED.format("β")} if not others else set()
    wide |= {way.format("β") for way in _OTHERWISE}  # for room on an upright page; the full table has it
    left_out = [i for i, name in enumerate(table.columns) if "δ" in name or name in wide]
    note = f"{of_beta}. Intervals of mean β are for other sentences with the same raters" + (
        "; raters sampled: for other raters, too. " if others else ". "
    )
    return replace(table.without(left_out), title="Mean valence by group", note=note + below)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences of mean β and δ between every two models, by group."""
    rows = []
    over_all = OVER_ALL.format(difference(MEASURES["beta"])) in comparison["measure"].unique()
    way = OVER_ALL if over_all else PER_RATED
    for measure in ("beta", "delta"):
        name = difference(MEASURES[measure])
        moved, others, otherwise = (
            {
                (row["comparison"], row["group"]): row
                for row in comparison.filter(pl.col("measure") == beside.format(name)).iter_rows(named=True)
            }
            for beside in (MOVED, SAMPLED, way)
        )
        for row in comparison.filter(pl.col("measure") == name).iter_rows(named=True):
            place = row["comparison"], row["group"]
            shifted, sampled = moved[place], others.get(place, _ABSENT)
            cells = (
                row["comparison"],
                MEASURES[measure],
                row["group"],
                row["n"],
                _number(row, "+.3f"),
                _range(sampled, "+.3f"),
                _range(shifted, "+.3f"),
                _beside(otherwise.get(place)),
                P(row["p"]),
                "" if row["group"] == EVERYTHING else P(row["p_holm"]),
            )
            rows.append(Row(cells, row["signature"]))
    beside = ("raters sampled", "ratings moved", way.format("β"))
    columns = ("difference", "of", "group", "sentences", "value", *beside, "p", "p (Holm)")
    own = comparison.filter(pl.col("measure").str.contains(SAMPLED.format(""), literal=True))
    note = (
        f"Raters sampled: the interval for other raters, too. {_known(own['notes'].to_list())}{_OTHERWISE[way]} "
        f"{tested(comparison)} Only sentences that have a β under both models count. Holm's correction over the "
        "groups of one measure and pair of models; not over measures or pairs."
    )
    return [Table("differences", "Differences between models", columns, tuple(rows), note)]


def items(results: Sequence[Result]) -> ItemTable:
    """Every sentence with its β and δ under every model, and every predicted word with probability and valence."""
    joined = Joined.of([result.items for result in results])
    columns = [
        Column("sentence", "id", joined.items["id"]),
        Column("group", "label", joined.items["group"]),
        Column("text", "text", joined.items["text"]),
        Column("expected", "number", joined.items["expected"], digits=1, signed=True),
    ]
    strips = []
    remarks = {}
    for model, result in zip(models(results), results, strict=True):
        columns += [
            Column("β", "number", result.items["beta"], model, 3, signed=True),
            Column("δ", "number", result.items["delta"], model, 3),
            Column("rated mass", "number", result.items["rated_mass"], model, 3),
            Column("words", "hidden", result.items["words"].list.join(" "), model),
        ]
        tokens = [
            [f"{word} {worth}" for word, worth in zip(words, worths, strict=True)]
            for words, worths in zip(result.items["words"], every_worth(result.items), strict=True)
        ]
        numbers = zip(
            result.items.select("beta", "delta", "rated").iter_rows(),
            unrated_kinds(result.items).iter_rows(),
            strict=True,
        )
        remarks[model] = pl.Series(
            [
                f"β {_shown(beta, '+.3f')}, δ {_shown(delta, '.3f')}; {rated} {for_one(rated, 'words')} "
                f"rated, {unrated} unrated, {marks + pieces} punctuation or pieces of words"
                for (beta, delta, rated), (unrated, marks, pieces) in numbers
            ],
            dtype=pl.String,
        )
        strips.append(
            Strip(
                model,
                "fills the gap with",
                pl.Series(tokens, dtype=pl.List(pl.String)),
                result.items["probs"],
                pl.Series([f"{mass:.3f} in all" for mass in result.items["top_mass"]], dtype=pl.String),
                result.items["valences"],
            )
        )
    unit = (
        "probability of each word; after the word its valence, the mean over raters; where they differ, what each of "
        "them said, in the order of their names"
    )
    return joined.table(ItemTable("sentences", tuple(columns), tuple(strips), remarks, unit), models(results))


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else shown(value, form)

"""Tables and items of minimal pairs. Rendering only: every number comes from a result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

import polars as pl

from penchant.instruments.minimal_pairs import human_section
from penchant.instruments.minimal_pairs.differences import MANY
from penchant.instruments.minimal_pairs.estimates import (
    ACCURACY,
    ADJUSTED,
    ALL,
    BY_DIFFERENCE,
    GAP,
    SLOPE,
    SPLITS,
    STEREOTYPE,
    deltas,
    pair_of,
    preferences,
)
from penchant.instruments.minimal_pairs.fixed import AS_THEY_ARE, is_fixed
from penchant.instruments.minimal_pairs.human import SHARE
from penchant.instruments.minimal_pairs.human_estimates import kind_of
from penchant.instruments.minimal_pairs.lines import line_fits
from penchant.instruments.minimal_pairs.stereotypes import stereotyped
from penchant.records import Result
from penchant.report.finding import deciding
from penchant.report.items import Column, ItemTable, Joined, Strip, every_item
from penchant.report.pieces import readable
from penchant.report.tables import Number, P, Row, Table, estimate, models, shown

T = TypeVar("T")
Key: TypeAlias = tuple[str, ...]
"""What a row is about: data set, group if any, score, model."""
_COLUMNS = ("pairs", ALL, *SPLITS, "length-adjusted")
_FIXED = ("all, as they are", "p, as they are")
"""The columns of all pairs with their paradigms as they are."""
_SPLIT_NAMES = {sign: name for name, sign in SPLITS.items()}
_SO_FEW = (
    " Of several paradigms (of stereotypes: bias types) intervals are about others like them, which a few hardly tell. "
    "As they are: with these very paradigms, where they are fewer than ten, over the pairs within them, and its p."
)
_OF_HALF = " p: of 50% on all pairs, adjusted over the paradigms of a data set, model and score."


def tables(results: Sequence[Result]) -> list[Table]:
    """Stereotype scores where the data are CrowS-Pairs; accuracy overall, token-length bias, and accuracy by
    phenomenon (unless these are the paradigms), paradigm and difference of lengths. In percent."""
    shown = [*_stereotypes(results), _accuracies(results, "overall", "accuracy", "Accuracy in percent, all pairs", ())]
    shown.append(_bias(results))
    for scope in ("phenomenon", "paradigm"):
        groups = max(_groups(result, scope) for result in results)
        if groups > 1 and not (scope == "phenomenon" and all(_same_groups(result) for result in results)):
            table = _accuracies(results, scope, f"by-{scope}", f"Accuracy in percent by {scope}", (scope,))
            shown.append(replace(table, detail=scope == "phenomenon" or groups > MANY))
    return [*shown, *human_section.tables(results), *line_fits(results), _by_difference(results)]


def _groups(result: Result, scope: str) -> int:
    return int(result.summary.filter(pl.col("scope") == scope)["group"].n_unique())


def _same_groups(result: Result) -> bool:
    """Whether every pair has one name for its phenomenon and its paradigm."""
    return bool((result.items["phenomenon"] == result.items["paradigm"]).all())


def _accuracies(results: Sequence[Result], scope: str, name: str, title: str, group: tuple[str, ...]) -> Table:
    """One row per data set, group, score and model: accuracy of all pairs, of each split, and length-adjusted."""
    rows: dict[Key, tuple[dict[str, Number | int | P], str]] = {}
    columns = (*_COLUMNS, "p of 50% (Holm)") if scope == "paradigm" else _COLUMNS
    chosen = (pl.col("scope") == scope) & pl.col("measure").is_in([ACCURACY, ADJUSTED])
    if scope == "overall":
        chosen |= (pl.col("scope") == AS_THEY_ARE) & pl.col("measure").str.starts_with(f"{ACCURACY}, ")
    for result in results:
        for row in result.summary.filter(chosen).iter_rows(named=True):
            key = (row["dataset"], *((row["group"],) if group else ()), row["normalise"], result.signature["model"])
            cells, _ = rows.setdefault(key, ({}, row["signature"]))
            if is_fixed(row["measure"]):
                cells |= dict(zip(_FIXED, (estimate(row, ".1f", scale=100), P(row["p"])), strict=True))
            elif row["measure"] == ADJUSTED:
                cells["length-adjusted"] = estimate(row, ".1f", scale=100)
            elif row["split"] == ALL:
                cells["pairs"], cells[ALL] = row["n"], estimate(row, ".1f", scale=100)
                cells["p of 50% (Holm)"] = P(row["p_holm"])
            else:
                cells[row["split"]] = estimate(row, ".1f", scale=100, count=True)
    few = any(_FIXED[0] in cells for cells, _ in rows.values())
    if few:
        columns = (*_COLUMNS[:2], *_FIXED, *_COLUMNS[2:])
    none: dict[str, Number | P] = {_FIXED[0]: Number(), _FIXED[1]: P(math.nan)}
    return Table(
        name,
        title,
        ("data", *group, "score", "model", *columns),
        tuple(
            Row((*key, *({**none, **cells}[column] for column in columns)), signature)
            for key, (cells, signature) in _interleaved(rows)
        ),
        f"[intervals], (pairs). A=U: both sentences have as many tokens; A>U: the {roles(results)[0]} one has more; "
        "A<U: it has fewer. Length-adjusted: what a logistic fit gives at equal lengths, the accuracy at A=U or near "
        f"it; no further score. {_of_ties(results)}{_OF_HALF if scope == 'paradigm' else ''}"
        f"{_SO_FEW if few else ''}",
        first=("pairs", ALL, _FIXED[0], "A=U", "length-adjusted"),
    )


def _of_ties(results: Sequence[Result]) -> str:
    """What a tie counts in the results, which may differ in that."""
    ways = dict.fromkeys(result.signature.get("ties", "half") for result in results)
    told = {"half": "one half", "good": "as the acceptable sentence being preferred"}
    return f"A tie counts {' or '.join(told[way] for way in ways)}{', as the signature says' if len(ways) > 1 else ''}."


def _interleaved(rows: Mapping[Key, T]) -> Iterator[tuple[Key, T]]:
    """The rows with the models of one group and score together, in the order in which groups first occur."""
    groups: dict[Key, list[tuple[Key, T]]] = {}
    for key, value in rows.items():
        groups.setdefault(key[:-1], []).append((key, value))
    for members in groups.values():
        yield from members


def _bias(results: Sequence[Result]) -> Table:
    """The gaps in accuracy where lengths are unequal, and the log-odds per token."""
    rows: dict[Key, Row] = {}
    for result in results:
        overall = result.summary.filter(
            (pl.col("scope") == "overall") & pl.col("measure").is_in([ACCURACY, GAP, SLOPE])
        )
        for (data, how), part in overall.group_by(["dataset", "normalise"], maintain_order=True):
            estimates = {(row["measure"], row["split"]): row for row in part.iter_rows(named=True)}
            longer, shorter = estimates[GAP, "A>U"], estimates[GAP, "A<U"]
            slope = estimates[SLOPE, ALL]
            cells = (
                *(estimates[ACCURACY, split]["n"] for split in SPLITS),
                estimate(longer, "+.1f", scale=100, count=True),
                P(deciding(longer)),
                estimate(shorter, "+.1f", scale=100, count=True),
                P(deciding(shorter)),
                estimate(slope, "+.2f"),
                P(slope["p"]),
            )
            rows[data, how, result.signature["model"]] = Row(
                (data, how, result.signature["model"], *cells), slope["signature"]
            )
    gaps = ("A>U − A=U", "p", "A<U − A=U", "p ", "log-odds per token", "p  ")
    columns = ("data", "score", "model", *(f"pairs {split}" for split in SPLITS), *gaps)
    note = (
        "Percentage points of accuracy above or below the pairs of equal length, within paradigms, and the pairs of "
        "either length that go into it; several paradigms are a sample, for the interval as for the test. Two-sided p, "
        "of the two gaps after Holm's correction; "
        "of single paradigms, summary.parquet has p after Holm's correction over the paradigms of one data set and "
        "score, all gaps being one family and all log-odds another. Under an unbiased score all are 0."
    )
    return Table("token-length-bias", "Token-length bias", columns, tuple(row for _, row in _interleaved(rows)), note)


def _stereotypes(results: Sequence[Result]) -> list[Table]:
    """The scores on CrowS-Pairs: over all pairs and the two directions, then by kind of bias."""
    parts = {"stereotype": [ALL, "stereo", "antistereo"], "stereotype-by-kind": []}
    rows: dict[str, dict[Key, Row]] = {name: {} for name in parts}
    for result in results:
        stereotype = pl.col("measure").str.starts_with(STEREOTYPE)
        for row in result.summary.filter(stereotype).iter_rows(named=True):
            group = f"{ALL}, bias types {AS_THEY_ARE}" if is_fixed(row["measure"]) else row["group"]
            key = (row["dataset"], group, row["normalise"], result.signature["model"])
            name = "stereotype" if row["group"] in parts["stereotype"] else "stereotype-by-kind"
            adjusted = (P(row["p_holm"]),) if name == "stereotype-by-kind" else ()
            cells = (*key, row["n"], estimate(row, ".1f"), P(row["p"]), *adjusted)
            rows[name][key] = Row(cells, row["signature"])
    columns = ("data", "pairs", "score", "model", "n", STEREOTYPE, "p")
    note = (
        "Percent of pairs in which the more stereotypical sentence scores higher; 50: no preference, which is not "
        "yet no bias. Over several bias types, all is about others like them; as they are, about these. p: two-sided, "
        "of 50."
    )
    notes = (
        f"{note} Uncorrected.",
        f"{note} Holm's correction over the kinds of bias of one data set, score and model.",
    )
    titles = ("Stereotype score", "Stereotype score by kind of bias")
    return [
        Table(
            name,
            title,
            columns if name == "stereotype" else (*columns, "p (Holm)"),
            tuple(row for _, row in _interleaved(rows[name])),
            note,
            detail=name != "stereotype",
        )
        for name, title, note in zip(parts, titles, notes, strict=True)
        if rows[name]
    ]


def _by_difference(results: Sequence[Result]) -> Table:
    rows: dict[Key, Row] = {}
    steps = pl.col("split").cast(pl.Int32)
    chosen = (pl.col("measure") == BY_DIFFERENCE) & (pl.col("scope") == "overall")
    for result in results:
        for row in result.summary.filter(chosen).sort("dataset", steps, maintain_order=True).iter_rows(named=True):
            key = (row["dataset"], row["split"], row["normalise"], result.signature["model"])
            rows[key] = Row((*key, row["n"], estimate(row, ".1f", scale=100)), row["signature"])
    columns = ("data", "|A|−|U|", "score", "model", "pairs", "accuracy")
    title = "Accuracy in percent by the difference of token lengths"
    return Table("by-difference", title, columns, tuple(row for _, row in _interleaved(rows)), detail=True)


def items(results: Sequence[Result]) -> ItemTable:
    """Both sentences of every pair, which of them each model prefers, and by how much; of the first score reported."""
    joined = Joined.of([result.items for result in results])
    first = joined.items
    sides = roles(results)
    names = {1.0: sides[0], 0.5: "tie", 0.0: sides[1]}
    columns = [
        Column("pair", "id", first["id"]),
        *(Column(name, "label", first[name]) for name in ("dataset", "phenomenon", "paradigm") if _varies(first[name])),
        Column(sides[0], "text", first["good"]),
        Column(sides[1], "text", first["bad"]),
        *_judgements(first),
    ]
    strips = []
    remarks = {}
    for model, result in zip(models(results), results, strict=True):
        hows = result.signature["normalise"].split(",")
        margins = {how: deltas(result.items, how).tolist() for how in hows}
        preferred = [names[credit] for credit in preferences(result.items, hows[0]).tolist()]
        columns += [
            Column("prefers", "label", pl.Series(preferred, dtype=pl.String), model),
            Column(f"Δ {hows[0]}", "number", pl.Series(margins[hows[0]], dtype=pl.Float64), model, 3, signed=True),
            Column("lengths", "label", result.items["difference"].sign().replace_strict(_SPLIT_NAMES), model),
        ]
        remarks[model] = pl.Series(
            [
                f"Δ, {sides[0]} minus {sides[1]}: "
                + ", ".join(
                    f"{how} {'+' if value > 0 else ''}{_signed(value)}" for how, value in zip(hows, row, strict=True)
                )
                for row in zip(*margins.values(), strict=True)
            ],
            dtype=pl.String,
        )
        for role, title in zip(("good", "bad"), sides, strict=True):
            pieces = readable(result.items[f"pieces_{role}"], result.items[role])
            strips.append(Strip(model, title, pieces, result.items[f"logprobs_{role}"], _totals(result.items, role)))
    unit = "log-probability of each token, natural logarithm"
    sums = all(result.signature["method"] not in ("aul", "aula") for result in results)
    return joined.table(
        ItemTable("pairs", tuple(columns), tuple(strips), remarks, unit, parallel=True, sums=sums), models(results)
    )


def _judgements(items: pl.DataFrame) -> list[Column]:
    """How many people judged each pair, and what they judged; nothing where nobody did."""
    kind = kind_of(items)
    if kind is None:
        return []
    title = "raters for it" if kind == "choices" else "Δhuman"
    return [
        Column("raters", "number", items["human_n"]),
        Column(title, "number", items[SHARE], digits=2, signed=kind == "ratings"),
    ]


def _signed(value: float) -> str:
    return shown(value, ".3f").replace("-", "−")


def roles(results: Sequence[Result]) -> tuple[str, str]:
    """The names of the two sentences of a pair; of stereotypes neither is acceptable."""
    items = every_item(results)
    sets = stereotyped(items)
    if not sets:
        return "acceptable", "unacceptable"
    more, less = pair_of(sets[0], replace(results[0], items=items))
    return (
        (more, less)
        if len(sets) == items["dataset"].n_unique()
        else (f"acceptable or {more}", f"unacceptable or {less}")
    )


def _varies(values: pl.Series) -> bool:
    return values.n_unique() > 1


def _totals(items: pl.DataFrame, role: str) -> pl.Series:
    rows = items.select(f"score_{role}", f"tokens_{role}").iter_rows()
    return pl.Series([f"{_signed(score)}, {n} token{'' if n == 1 else 's'}" for score, n in rows], dtype=pl.String)

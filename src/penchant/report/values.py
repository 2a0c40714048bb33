"""Value statements as tables, items and words. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.data.values import EVERYTHING
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Strip
from penchant.report.pieces import readable
from penchant.report.tables import Cell, Number, P, Row, Table, estimate, literal, models
from penchant.report.value_charts import figures as figures

_MISSING = {"value": float("nan"), "low": float("nan"), "high": float("nan"), "n": 0, "p": float("nan")}


def first_variant(result: Result) -> str:
    """The main wording: the one that stands first."""
    return str(result.items["variant"][0])


def _lookup(result: Result) -> dict[tuple[str, ...], dict[str, Any]]:
    keys = ("measure", "variant", "group", "dimension", "item")
    return {tuple(row[key] for key in keys): row for row in result.summary.iter_rows(named=True)}


def _dimensions(result: Result) -> list[str]:
    names = result.items.filter(pl.col("kind") == "statement")["value"].unique(maintain_order=True).to_list()
    return [*names, EVERYTHING] if len(names) > 1 else names


def _groups(result: Result) -> list[str]:
    return result.items["group"].unique(maintain_order=True).to_list()


def tables(results: Sequence[Result]) -> list[Table]:
    """Ratings by value and group with the survey beside them, differences between groups, calibration, robustness; then
    every wording, every statement and the survey itself."""
    variants = results[0].items["variant"].unique(maintain_order=True).to_list()
    main = first_variant(results[0])
    title = "Ratings by value and group, 1 (disagree) to 5 (agree)"
    found = [
        _ratings(results, [main], "ratings", title),
        _between(results, main),
        _calibrated(results, [main]),
        _robust(results, [main, EVERYTHING]),
    ]
    if len(variants) > 1:
        title = "Ratings by wording, value and group"
        found.append(_ratings(results, variants, "ratings-by-wording", title, detail=True))
        for table in (_calibrated(results, variants), _robust(results, variants)):
            by_wording = f"{table.title}, every wording"
            found.append(replace(table, name=f"{table.name}-by-wording", title=by_wording, detail=True))
    found += [_statements(results, main), _survey(results[0])]
    return [table for table in found if table.rows]


def _ratings(
    results: Sequence[Result], variants: Sequence[str], name: str, title: str, *, detail: bool = False
) -> Table:
    rows = []
    surveyed = results[0].signature["survey"] != "none"
    looked = [_lookup(result) for result in results]
    for variant in variants:
        for dimension in _dimensions(results[0]):
            for group in _groups(results[0]):
                for model, own in zip(models(results), looked, strict=True):
                    here = (variant, group, dimension, "")
                    mean = own["mean rating", *here]
                    spread = own.get(("spread of ratings", *here), _MISSING)
                    chance = own.get(("spread expected by chance", *here), _MISSING)
                    cells: list[Cell] = [variant] if len(variants) > 1 else []
                    cells += [dimension, group, model, mean["n"], estimate(mean)]
                    cells += [estimate(spread), estimate(chance), P(spread.get("p_holm", float("nan")))]
                    if surveyed:
                        people = own.get(("survey mean", EVERYTHING, group, dimension, ""), _MISSING)
                        cells += [estimate(people), estimate(own["representativeness", *here])]
                    rows.append(Row(tuple(cells), mean["signature"]))
    columns = [*(["wording"] if len(variants) > 1 else []), "value", "group", "model", "statements", "mean rating"]
    columns += ["spread (sd)", "spread by chance", "p (Holm)"]
    if surveyed:
        columns += ["survey mean", "representativeness"]
    note = (
        "Reversed statements are turned round. Spread by chance: sd of as many neutral statements drawn at random, "
        "with its central range; p tests the spread against it, two-sided, corrected over the values of one group."
    )
    if surveyed:
        note += " Representativeness: 1 where the rating is the median of people's answers, 0 where it is outside them."
        note += _synthetic(results[0])
    return Table(name, title, tuple(columns), tuple(rows), note, detail=detail)


def _synthetic(result: Result) -> str:
    return " The survey is SYNTHETIC: made-up answers." if result.signature["survey"].startswith("synthetic ") else ""


def _between(results: Sequence[Result], main: str) -> Table:
    rows = []
    for result in results:
        found = result.summary.filter((pl.col("measure") == "difference of ratings") & (pl.col("variant") == main))
        for row in found.iter_rows(named=True):
            corrected: Cell = "" if row["dimension"] == EVERYTHING else P(row["p_holm"])
            cells = (row["group"], row["dimension"], result.signature["model"], row["n"], estimate(row, "+.2f"))
            rows.append(Row((*cells, P(row["p"]), corrected), row["signature"]))
    columns = ("groups", "value", "model", "statements", "difference", "p", "p (Holm)")
    note = "Statement by statement; two-sided sign-flip test, Holm's correction over the values of one model."
    return Table("groups", "Differences of ratings between groups", columns, tuple(rows), note)


def _calibrated(results: Sequence[Result], variants: Sequence[str]) -> Table:
    rows = []
    names = {"origin": "slope a", "difference": "offset b"}
    fixed_name = " or ".join(dict.fromkeys(names[result.signature["calibration"]] for result in results))
    for result in results:
        own = _lookup(result)
        for variant in variants:
            for group in _groups(result):
                here = (variant, group, EVERYTHING, "")
                name = "calibration slope a" if result.signature["calibration"] == "origin" else "calibration offset b"
                fixed, sigma = own[name, *here], own["residual sd σ", *here]
                free = [
                    own.get((f"{part} of a fit with intercept", *here), _MISSING) for part in ("slope", "intercept")
                ]
                normal = own.get(("normality of the residuals (W)", *here), _MISSING)
                cells = (
                    variant,
                    group,
                    result.signature["model"],
                    fixed["n"],
                    estimate(fixed, ".3f"),
                    estimate(sigma),
                    estimate(own["correlation of agree and disagree", *here]),
                    estimate(free[0]),
                    estimate(free[1]),
                    P(normal["p"]),
                )
                rows.append(Row(cells, fixed["signature"]))
    columns = (
        "wording",
        "group",
        "model",
        "neutral",
        fixed_name,
        "σ",
        "r",
        "free slope",
        "free intercept",
        "normality p",
    )
    note = (
        "Neutral statements: log P(agree) against log P(disagree). r is their correlation; the free line has an "
        "intercept and is for comparison; normality of the residuals by Shapiro and Wilk."
    )
    return Table("calibration", "Calibration on neutral statements", columns, tuple(rows), note)


def _robust(results: Sequence[Result], variants: Sequence[str]) -> Table:
    rows = []
    wanted = (
        pl.col("measure").str.starts_with("share of variance")
        | pl.col("measure").str.contains("mirrored negation")
        | pl.col("measure").str.starts_with("internal consistency")
        | pl.col("measure").str.starts_with("rank correlation")
    )
    for result in results:
        for row in result.summary.filter(wanted & pl.col("variant").is_in(list(variants))).iter_rows(named=True):
            cells = (
                row["measure"],
                row["variant"],
                row["group"],
                row["dimension"],
                result.signature["model"],
                row["n"],
            )
            rows.append(Row((*cells, estimate(row), P(row["p"])), row["signature"]))
    columns = ("measure", "wording", "group", "value", "model", "n", "estimate", "p")
    note = (
        "A consistent model rates a negated statement 6 minus the statement's rating: distance 0, correlation 1. "
        "Shares of variance: how much of the ratings lies between statements, wordings (templates) and groups. "
        "Cronbach's α of the model takes its groups and wordings for respondents."
    )
    return Table("robustness", "Consistency and robustness", columns, tuple(rows), note)


def _statements(results: Sequence[Result], main: str) -> Table:
    rows = []
    texts = dict(results[0].items.filter(pl.col("kind") == "statement").select("id", "text").iter_rows())
    for result in results:
        own = _lookup(result)
        each = result.summary.filter((pl.col("measure") == "rating") & (pl.col("variant") == main))
        for row in each.iter_rows(named=True):
            here = (row["variant"], row["group"], row["dimension"], row["item"])
            beside = own.get(("representativeness", *here), _MISSING)
            cells = (row["item"], texts[row["item"]], row["dimension"], row["group"], result.signature["model"])
            rows.append(Row((*cells, estimate(row), estimate(beside)), row["signature"]))
    columns = ("id", "statement", "value", "group", "model", "rating", "representativeness")
    note = "As the statements stand, not turned round. The intervals are those of the calibration alone."
    return Table("statements", "Ratings of single statements", columns, tuple(rows), note, detail=True)


def _survey(result: Result) -> Table:
    rows = []
    own = _lookup(result)
    for dimension in _dimensions(result):
        for group in _groups(result):
            mean = own.get(("survey mean", EVERYTHING, group, dimension, ""))
            if mean is not None:
                spread = own.get(("survey sd", EVERYTHING, group, dimension, ""), _MISSING)
                alpha = own.get(
                    ("survey internal consistency (Cronbach's α)", EVERYTHING, group, dimension, ""), _MISSING
                )
                median = own.get(("survey quantile", EVERYTHING, group, dimension, "50%"), _MISSING)
                cells = (
                    dimension,
                    group,
                    mean["n"],
                    estimate(mean),
                    Number(median["value"]),
                    estimate(spread),
                    estimate(alpha),
                )
                rows.append(Row(cells, mean["signature"]))
    columns = ("value", "group", "respondents", "mean", "median", "sd", "Cronbach's α")
    note = "Respondents' means over the statements of a value, reversed ones turned round." + _synthetic(result)
    return Table("survey", f"The survey: {result.signature['survey']}", columns, tuple(rows), note, detail=True)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences of ratings between every two models by group and value: the main wording, then the others."""
    main = comparison["variant"][0]
    title = "Differences of ratings between models"
    found = [_differences(comparison.filter(pl.col("variant") == main), "differences", title)]
    others = comparison.filter(pl.col("variant") != main)
    if len(others):
        found.append(replace(_differences(others, "differences-by-wording", f"{title}, other wordings"), detail=True))
    return found


def _differences(comparison: pl.DataFrame, name: str, title: str) -> Table:
    rows = []
    for row in comparison.iter_rows(named=True):
        corrected: Cell = "" if row["dimension"] == EVERYTHING else P(row["p_holm"])
        cells = (row["comparison"], row["variant"], row["group"], row["dimension"], row["n"], estimate(row, "+.2f"))
        rows.append(Row((*cells, P(row["p"]), corrected), row["signature"]))
    columns = ("difference", "wording", "group", "value", "statements", "rating", "p", "p (Holm)")
    note = "Two-sided sign-flip test over statements; Holm's correction over the values of one wording, group and pair."
    return Table(name, title, columns, tuple(rows), note)


def items(results: Sequence[Result]) -> ItemTable:
    """Every clause in every wording and group, with its rating by every model and the tokens of both stances."""
    first = results[0].items
    kinds = first["kind"].replace("calibration", "neutral")
    columns = [
        Column("clause", "id", first["id"]),
        Column("kind", "label", kinds),
        Column("value", "label", first["value"].replace("", "–")),
        Column("group", "label", first["group"]),
        *([Column("wording", "label", first["variant"])] if first["variant"].n_unique() > 1 else []),
        Column("text", "text", first["text"]),
    ]
    strips = []
    remarks = {}
    whole = False
    for model, result in zip(models(results), results, strict=True):
        own = result.items
        columns += [
            Column("P(agree)", "number", own["agreement"], model, 3),
            Column("rating", "number", own["rating"], model, 2),
        ]
        numbers = own.select("agree", "disagree", "residual").iter_rows()
        remarks[model] = pl.Series(
            [
                f"log P agree {_signed(y)}, disagree {_signed(x)}; above expectation by {_signed(r)}"
                for y, x, r in numbers
            ],
            dtype=pl.String,
        )
        whole = whole or result.signature["method"] == "lp"
        for stance in ("agree", "disagree"):
            pieces = readable(own[f"pieces_{stance}"], own[f"sentence_{stance}"])
            strips.append(Strip(model, stance, pieces, own[f"logprobs_{stance}"], own[f"sentence_{stance}"]))
    unit = "log-probability of each token, natural logarithm"
    return ItemTable("clauses", tuple(columns), tuple(strips), remarks, unit, parallel=whole)


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}".replace("-", "−")


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    signature = results[0].signature
    level = f"{float(signature['level']):.0%}"
    scored = {
        "span": "the log-probability of the stance, all its tokens masked at once and summed",
        "lp": "the log-probability of the whole sentence, token after token",
    }
    fitted = {
        "origin": "y = a·x, through the origin",
        "difference": "y = x + b, of slope 1, because whole sentences differ mostly by their length",
    }
    ways = dict.fromkeys((r.signature["method"], r.signature["calibration"]) for r in results)
    how = "; or ".join(f"{scored[method]} (`{method}`), and {fitted[line]}" for method, line in ways)
    found = [
        "Every clause stands in sentences of each group who agree and who disagree with it [@alali2024]. x, of "
        f"disagreeing, and y, of agreeing, are scored and calibrated on neutral clauses: {how}. σ² = Σ residual²/(n − "
        "1) over the neutral clauses; P(agree) = Φ((y − a·x − b)/σ), rating = 4·P + 1, and 6 minus that for reversed "
        "statements.",
        f"Intervals have a level of {level}. Those of ratings, their spread and differences resample statements and "
        f"neutral clauses together, {signature['resamples']} times, seed {signature['seed']}, and are widened for few "
        "statements [@hesterberg2015]; those of the calibration are BCa [@efron1987]. Tests are two-sided; families "
        "over values are corrected by Holm's method [@holm1979]. Cronbach's α [@cronbach1951] has Feldt's interval "
        "[@feldt1965].",
    ]
    if signature["survey"] != "none":
        found.append(
            f"Survey: {literal(signature['survey'])}. Representativeness of a rating R among answers x is "
            "2·min(#{x < R}, #{x > R})/N, strict [@alali2024]; its interval is that of the calibration, with "
            "statements and respondents as given."
        )
    return found


def limits(results: Iterable[Result]) -> list[str]:
    """What the numbers can and cannot mean."""
    causal = any(result.signature["method"] == "lp" for result in results)
    found = [
        "A rating says how much more probable a model finds it that somebody agrees with a statement than the "
        "neutral statements lead one to expect. It is about sentences, not about beliefs: a model that answers to "
        "the topic, to a frequent phrase or to the length of a clause has ratings too.",
        "Trust a difference only if it outlives the checks: negated statements rated as the mirror image, the same "
        "picture in every wording, a spread within a value smaller than by chance. A rating near 3 can mean balance "
        "or indifference; the spread tells which.",
        "Setting ratings beside a survey compares where numbers lie, not how people and models came to them. "
        "Representativeness near 1 is not agreement with anybody; it says the rating is near the median.",
    ]
    if causal:
        found.append(
            "For a causal model the score is of the whole sentence. What the stance word itself costs is the same for "
            "all clauses of a wording and falls out in the calibration; what is left is how the clause follows after "
            "“agrees” rather than after “disagrees”."
        )
    return found

"""Minimal pairs as tables, items and words. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

import polars as pl

from penchant.probes.pair_summary import FEW_PARADIGMS, SPLITS, credits, deltas
from penchant.records import Result, Signature
from penchant.report.items import Column, ItemTable, Strip
from penchant.report.pair_charts import figures as figures
from penchant.report.pieces import readable
from penchant.report.tables import Number, P, Row, Table, estimate, literal, models

T = TypeVar("T")
Key: TypeAlias = tuple[str, ...]
"""Data set, group where there is one, score, model."""
_ACCURACY = ("pairs", "all", *SPLITS, "length-adjusted")
_SPLIT_NAMES = {sign: name for name, sign in SPLITS.items()}
_MANY = 10
"""More paradigms than these are a detail."""
_METHODS = {
    "lp": "the sum of the log-probabilities of its tokens, each given those before it",
    "pll": "its pseudo-log-likelihood: every token masked in turn, the log-probabilities of the hidden tokens summed "
    "[@salazar2020]",
    "pll-word-l2r": "its pseudo-log-likelihood with the later pieces of a token's word masked too [@kauf2023]",
    "pll-shared": "the pseudo-log-likelihood of the tokens it shares with the other sentence of the pair [@nangia2020]",
    "aul": "the mean log-probability of its tokens, none of them masked [@kaneko2022]",
    "aula": "the mean log-probability of its tokens, none of them masked, weighted by the attention they receive "
    "[@kaneko2022]",
}
_NORMALISED = {
    "none": "the score as it is",
    "mean": "divided by the number of tokens",
    "pen": "divided by ((5 + tokens)/6)^α, α = 0.8 [@lau2020]",
}
_DATA = {"blimp": "[@warstadt2020]", "crows-pairs": "[@nangia2020; @blodgett2021]", "comps": "[@misra2023]"}


def tables(results: Sequence[Result]) -> list[Table]:
    """Stereotype scores where the data are CrowS-Pairs; accuracy overall, token-length bias, and accuracy by
    phenomenon, paradigm and difference of lengths. In percent."""
    found = [*_stereotypes(results), _accuracies(results, "overall", "accuracy", "Accuracy in percent, all pairs", ())]
    found.append(_bias(results))
    for scope in ("phenomenon", "paradigm"):
        groups = max(_groups(result, scope) for result in results)
        if groups > 1:
            table = _accuracies(results, scope, f"by-{scope}", f"Accuracy in percent by {scope}", (scope,))
            found.append(replace(table, detail=scope == "phenomenon" or groups > _MANY))
    return [*found, _by_difference(results)]


def _groups(result: Result, scope: str) -> int:
    return int(result.summary.filter(pl.col("scope") == scope)["group"].n_unique())


def _accuracies(results: Sequence[Result], scope: str, name: str, title: str, group: tuple[str, ...]) -> Table:
    """One row a data set, group, score and model: all pairs, each split, and length-adjusted."""
    rows: dict[Key, tuple[dict[str, Number | int], str]] = {}
    wanted = (pl.col("scope") == scope) & pl.col("measure").is_in(["accuracy", "length-adjusted accuracy"])
    for result in results:
        for row in result.summary.filter(wanted).iter_rows(named=True):
            key = (row["dataset"], *((row["group"],) if group else ()), row["normalise"], result.signature["model"])
            cells, _ = rows.setdefault(key, ({}, row["signature"]))
            if row["measure"] != "accuracy":
                cells["length-adjusted"] = estimate(row, ".1f", scale=100)
            elif row["split"] == "all":
                cells["pairs"], cells["all"] = row["n"], estimate(row, ".1f", scale=100)
            else:
                cells[row["split"]] = estimate(row, ".1f", scale=100, count=True)
    return Table(
        name,
        title,
        ("data", *group, "score", "model", *_ACCURACY),
        tuple(
            Row((*key, *(cells[column] for column in _ACCURACY)), signature)
            for key, (cells, signature) in _interleaved(rows)
        ),
        "[intervals], (pairs). A=U: both sentences have as many tokens; A>U: the acceptable one has more; A<U: it "
        "has fewer. Length-adjusted: at equal lengths, by a logistic fit on |A|−|U| over all pairs. A tie counts "
        "one half.",
    )


def _interleaved(rows: Mapping[Key, T]) -> Iterator[tuple[Key, T]]:
    """Rows with the models of one group and score below each other, groups in the order in which they first stood."""
    groups: dict[Key, list[tuple[Key, T]]] = {}
    for key, value in rows.items():
        groups.setdefault(key[:-1], []).append((key, value))
    for members in groups.values():
        yield from members


def _bias(results: Sequence[Result]) -> Table:
    """How far accuracy moves where the lengths are unequal, and how much a token is worth."""
    rows: dict[Key, Row] = {}
    for result in results:
        overall = result.summary.filter(pl.col("scope") == "overall")
        for (data, how), part in overall.group_by(["dataset", "normalise"], maintain_order=True):
            own = {(row["measure"], row["split"]): row for row in part.iter_rows(named=True)}
            longer, shorter = own["gap to A=U", "A>U"], own["gap to A=U", "A<U"]
            slope = own["log-odds per token of |A|−|U|", "all"]
            cells = (
                estimate(longer, "+.1f", scale=100, count=True),
                P(longer["p"]),
                estimate(shorter, "+.1f", scale=100, count=True),
                P(shorter["p"]),
                estimate(slope, "+.2f"),
            )
            rows[data, how, result.signature["model"]] = Row(
                (data, how, result.signature["model"], *cells), slope["signature"]
            )
    columns = ("data", "score", "model", "A>U − A=U", "p", "A<U − A=U", "p ", "log-odds per token")
    note = (
        "Percentage points of accuracy above or below the pairs of equal length, within paradigms, and the pairs that "
        f"go into it; two-sided p, uncorrected. Over {FEW_PARADIGMS} or more paradigms the interval resamples them, "
        "while the test takes them as given, so that the two can disagree. Under an unbiased score both are 0."
    )
    return Table("token-length-bias", "Token-length bias", columns, tuple(row for _, row in _interleaved(rows)), note)


def _stereotypes(results: Sequence[Result]) -> list[Table]:
    """The scores of CrowS-Pairs: over all pairs and the two directions, then by kind of bias."""
    parts = {"stereotype": ["all", "stereo", "antistereo"], "stereotype-by-kind": []}
    rows: dict[str, dict[Key, Row]] = {name: {} for name in parts}
    for result in results:
        for row in result.summary.filter(pl.col("scope") == "stereotype").iter_rows(named=True):
            key = (row["dataset"], row["group"], row["normalise"], result.signature["model"])
            name = "stereotype" if row["group"] in parts["stereotype"] else "stereotype-by-kind"
            rows[name][key] = Row((*key, row["n"], estimate(row, ".1f")), row["signature"])
    columns = ("data", "pairs", "score", "model", "n", "stereotype score")
    note = "Percent of pairs in which the more stereotypical sentence scores higher; 50 is unbiased."
    titles = ("Stereotype score", "Stereotype score by kind of bias")
    return [
        Table(
            name, title, columns, tuple(row for _, row in _interleaved(rows[name])), note, detail=name != "stereotype"
        )
        for name, title in zip(parts, titles, strict=True)
        if rows[name]
    ]


def _by_difference(results: Sequence[Result]) -> Table:
    rows: dict[Key, Row] = {}
    steps = pl.col("split").cast(pl.Int32)
    wanted = (pl.col("measure") == "accuracy by |A|−|U|") & (pl.col("scope") == "overall")
    for result in results:
        for row in result.summary.filter(wanted).sort("dataset", steps, maintain_order=True).iter_rows(named=True):
            key = (row["dataset"], row["split"], row["normalise"], result.signature["model"])
            rows[key] = Row((*key, row["n"], estimate(row, ".1f", scale=100)), row["signature"])
    columns = ("data", "|A|−|U|", "score", "model", "pairs", "accuracy")
    title = "Accuracy in percent by the difference of token lengths"
    return Table("by-difference", title, columns, tuple(row for _, row in _interleaved(rows)), detail=True)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Difference of accuracy in percentage points between every two models: overall, then every paradigm."""
    found = []
    overall = comparison.filter(pl.col("scope") == "overall")
    if len(overall):
        rows = tuple(
            Row(
                (
                    row["comparison"],
                    row["dataset"],
                    row["split"],
                    row["normalise"],
                    row["n"],
                    estimate(row, "+.1f", scale=100),
                    P(row["p"]),
                ),
                row["signature"],
            )
            for row in overall.iter_rows(named=True)
        )
        title = "Difference of accuracy between models, percentage points"
        note = (
            f"{_tests(overall)} Uncorrected for the number of models and scores. A=U under both: only pairs whose "
            f"sentences have as many tokens under both tokenizers.{_methods_differ(comparison)}"
        )
        heads = ("difference", "data", "lengths", "score", "pairs", "points", "p")
        found.append(Table("differences", title, heads, rows, note))
    each = comparison.filter(pl.col("scope") == "paradigm")
    rows = tuple(
        Row(
            (
                row["comparison"],
                row["dataset"],
                row["group"],
                row["normalise"],
                row["n"],
                estimate(row, "+.1f", scale=100),
                P(row["p"]),
                P(row["p_holm"]),
            ),
            row["signature"],
        )
        for row in each.iter_rows(named=True)
    )
    title = "Difference of accuracy between models by paradigm, percentage points"
    columns = ("difference", "data", "paradigm", "score", "pairs", "points", "p", "p (Holm)")
    note = f"{_tests(each)} Holm's correction over the paradigms of one data set, score and pair of models."
    many = each["group"].n_unique() > _MANY
    found.append(Table("differences-by-paradigm", title, columns, rows, note, detail=many))
    return found


def _methods_differ(comparison: pl.DataFrame) -> str:
    """A word on models that are scored differently."""
    ways = {Signature.parse(text)["method"] for text in comparison["signature"].unique()}
    mixed = sorted(way for way in ways if " − " in way)
    return f" Models scored by different methods ({', '.join(mixed)}) are compared by accuracy alone." if mixed else ""


def _tests(comparison: pl.DataFrame) -> str:
    return f"Two-sided tests: {', '.join(sorted(comparison['test'].unique()))}."


def items(results: Sequence[Result]) -> ItemTable:
    """Both sentences, and which of them every model prefers by how much; the first score reported."""
    first = results[0].items
    roles = _roles(results[0])
    names = {1.0: roles[0], 0.5: "tie", 0.0: roles[1]}
    columns = [
        Column("pair", "id", first["id"]),
        *(Column(name, "label", first[name]) for name in ("dataset", "phenomenon", "paradigm") if _varies(first[name])),
        Column(roles[0], "text", first["good"]),
        Column(roles[1], "text", first["bad"]),
    ]
    strips = []
    remarks = {}
    for model, result in zip(models(results), results, strict=True):
        hows = result.signature["normalise"].split(",")
        margins = {how: deltas(result.items, how).tolist() for how in hows}
        preferred = [names[credit] for credit in credits(result.items, hows[0]).tolist()]
        columns += [
            Column("prefers", "label", pl.Series(preferred, dtype=pl.String), model),
            Column(f"Δ {hows[0]}", "number", pl.Series(margins[hows[0]], dtype=pl.Float64), model, 3, signed=True),
            Column("lengths", "label", result.items["difference"].sign().replace_strict(_SPLIT_NAMES), model),
        ]
        remarks[model] = pl.Series(
            [
                f"Δ, {roles[0]} minus {roles[1]}: "
                + ", ".join(
                    f"{how} {'+' if value > 0 else ''}{_signed(value)}" for how, value in zip(hows, row, strict=True)
                )
                for row in zip(*margins.values(), strict=True)
            ],
            dtype=pl.String,
        )
        for role, title in zip(("good", "bad"), roles, strict=True):
            pieces = readable(result.items[f"pieces_{role}"], result.items[role])
            strips.append(Strip(model, title, pieces, result.items[f"logprobs_{role}"], _totals(result.items, role)))
    unit = "log-probability of each token, natural logarithm"
    sums = all(result.signature["method"] not in ("aul", "aula") for result in results)
    return ItemTable("pairs", tuple(columns), tuple(strips), remarks, unit, parallel=True, sums=sums)


def _signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _roles(result: Result) -> tuple[str, str]:
    """What the two sentences of a pair are: in CrowS-Pairs neither is acceptable."""
    sets = set(result.items["dataset"].unique())
    if "crows-pairs" not in sets:
        return "acceptable", "unacceptable"
    more, less = "more stereotypical", "less stereotypical"
    if result.signature["acceptable"] == "sent_less":
        more, less = less, more
    return (more, less) if len(sets) == 1 else (f"acceptable or {more}", f"unacceptable or {less}")


def _varies(values: pl.Series) -> bool:
    return values.n_unique() > 1


def _totals(items: pl.DataFrame, role: str) -> pl.Series:
    rows = items.select(f"score_{role}", f"tokens_{role}").iter_rows()
    return pl.Series([f"{_signed(score)}, {n} token{'' if n == 1 else 's'}" for score, n in rows], dtype=pl.String)


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    signature = results[0].signature
    names = dict.fromkeys(result.signature["method"] for result in results)
    hows = dict.fromkeys(how for result in results for how in result.signature["normalise"].split(","))
    sets = results[0].items["dataset"].unique(maintain_order=True)
    data = ", ".join(f"{name} {_DATA[name]}" if name in _DATA else literal(name) for name in sets)
    scores = "; or ".join(f"`{name}`, {_METHODS[name]}" for name in names)
    normalised = "; ".join(f"`{how}`, {_NORMALISED[how]}" for how in hows)
    roles = _roles(results[0])
    played = (
        f"In CrowS-Pairs the {roles[0].removeprefix('acceptable or ')} sentence plays the acceptable one (A): a higher "
        "accuracy there is no merit. "
        if "crows-pairs" in sets
        else ""
    )
    found = [
        f"Data: {data}. {played}Each pair has an acceptable and an unacceptable sentence. The score of a sentence is "
        f"{scores}. It is reported as {normalised}. A pair counts 1 where the acceptable sentence has the higher "
        "score, ½ at a tie and 0 otherwise; accuracy is the mean. Special tokens are context and never scored.",
        "Pairs are split by whether the acceptable sentence (A) has as many tokens as the unacceptable one (U), more "
        "or fewer [@ueda2024]. Gaps to A=U: within one paradigm Newcombe's interval [@newcombe1998] and Fisher's "
        "exact test (Welch's with ties); over several the Mantel–Haenszel difference of proportions [@mantel1959], "
        f"with a bootstrap over paradigms (fewer than {FEW_PARADIGMS} are taken as given), and the "
        "Cochran–Mantel–Haenszel test [@cochran1954]. Length-adjusted accuracy is what a logistic fit on |A|−|U| "
        "predicts at 0, with Firth's penalty, which draws it towards one half where there are few pairs, and a Wald "
        "interval on the logit scale, robust to paradigms where there are enough.",
        f"The level of intervals is {float(signature['level']):.0%}. Accuracy: Wilson's [@wilson1927]; over "
        f"{FEW_PARADIGMS} or more paradigms a bootstrap over paradigms [@efron1993], "
        f"{signature['resamples']} resamples, seed {signature['seed']}. Families of "
        "tests over paradigms are corrected by Holm's method [@holm1979].",
    ]
    if len(results) > 1:
        found.append(
            "Two models are compared pair by pair: within a paradigm the Bonett–Price interval [@bonett2012] and the "
            "exact McNemar test [@mcnemar1947] (with ties a paired t interval and a sign-flip test), overall a "
            f"bootstrap and a sign-flip test over paradigms; fewer than {FEW_PARADIGMS} are taken as given and the "
            "pairs compared as within one."
        )
    return found


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot mean."""
    found = [
        "Accuracy says how often the model finds the acceptable sentence of a pair more probable. It is a preference "
        "between two given sentences, not knowledge of a rule: frequent words and phrases, names and the number of "
        "tokens move it too.",
        "Between models with different tokenizers compare the pairs of equal length under both, or the length-adjusted "
        "accuracy; the raw accuracy of a paradigm whose lengths differ mostly one way measures the tokenizer as well.",
    ]
    if "crows-pairs" in set(results[0].items["dataset"].unique()):
        found.append(
            "In CrowS-Pairs no sentence is acceptable or not: the stereotype score says how often the more "
            "stereotypical one is more probable, 50 being no preference. Names, frequencies and lengths move it too, "
            "and many of its pairs have known faults."
        )
    return found

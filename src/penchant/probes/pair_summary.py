"""From scored pairs to estimates: accuracies, token-length splits and gaps, length adjustment, comparison of models.

Everything here is computed from the items table alone, so it can be done again without a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.engine.methods import PEN_ALPHA
from penchant.probes.base import difference_signature, require_comparable
from penchant.records import Estimate, Result, Signature, summary_table
from penchant.stats.hypothesis_tests import holm, mcnemar, sign_flip
from penchant.stats.intervals import accuracy, clustered_mean, independent_difference, paired_difference
from penchant.stats.logistic import adjusted_accuracy, fit, length_slope
from penchant.stats.stratified import mantel_haenszel_difference

Credits = NDArray[np.float64]
SPLITS = {"A=U": 0, "A>U": 1, "A<U": -1}
EQUAL = "A=U under both"
"""Pairs whose two sentences have as many tokens under both models' tokenizers."""
FEW_PARADIGMS = 5
"""Below this many paradigms they are taken as given, not as a sample: resampling so few says nothing."""


def deltas(items: pl.DataFrame, how: str) -> NDArray[np.float64]:
    """score(acceptable) − score(unacceptable) of every pair under a normalisation."""
    sides = []
    for role in ("good", "bad"):
        score = items[f"score_{role}"].to_numpy()
        n = items[f"tokens_{role}"].to_numpy()
        sides.append({"none": score, "mean": score / n, "pen": score / ((5 + n) / 6) ** PEN_ALPHA}[how])
    difference: NDArray[np.float64] = sides[0] - sides[1]
    return difference


def credits(items: pl.DataFrame, how: str) -> Credits:
    """1 where the acceptable sentence scores higher, ½ at a tie, else 0. Scores are compared unrounded."""
    values: Credits = (np.sign(deltas(items, how)) + 1) / 2
    return values


@dataclass(frozen=True, slots=True)
class _Settings:
    level: float
    resamples: int
    seed: int


def summarise(
    items: pl.DataFrame, signature: Signature, *, level: float, resamples: int, seed: int
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """All estimates of scored pairs, each with its signature, and the cautions a reader needs.

    `signature` names the normalisations in its key `normalise`; each estimate's own signature names one.
    """
    settings = _Settings(level, resamples, seed)
    rows: list[tuple[Estimate, Signature]] = []
    cautions: list[str] = []
    for name in items["dataset"].unique(maintain_order=True).to_list():
        part = items.filter(pl.col("dataset") == name)
        for how in signature["normalise"].split(","):
            own = signature.with_(normalise=how)
            credit = credits(part, how)
            found = list(_of_data_set(part, credit, settings))
            if name == "crows-pairs":
                more = credit if signature["acceptable"] == "sent_more" else 1 - credit
                found = [*_stereotype_scores(part, more, settings), *found]
            for estimate in found:
                by = {"dataset": name, **estimate.by, "normalise": how}
                rows.append((replace(estimate, by=by), own))
        cautions.extend(_cautions(name, part))
    return summary_table(rows), tuple(cautions)


def _of_data_set(part: pl.DataFrame, credit: Credits, settings: _Settings) -> Iterator[Estimate]:
    yield from _block(part, credit, "overall", "all", settings)
    for phenomenon in part["phenomenon"].unique(maintain_order=True).to_list():
        inside = (part["phenomenon"] == phenomenon).to_numpy()
        yield from _block(part.filter(inside), credit[inside], "phenomenon", phenomenon, settings)
    paradigms = part["paradigm"].unique(maintain_order=True).to_list()
    masks = [(part["paradigm"] == paradigm).to_numpy() for paradigm in paradigms]
    blocks = [
        list(_block(part.filter(inside), credit[inside], "paradigm", paradigm, settings))
        for paradigm, inside in zip(paradigms, masks, strict=True)
    ]
    yield from _with_holm([estimate for block in blocks for estimate in block], "gap to A=U")


def _block(part: pl.DataFrame, credit: Credits, scope: str, group: str, settings: _Settings) -> Iterator[Estimate]:
    """Every estimate of one group of pairs (a paradigm, a phenomenon, a data set)."""
    difference = part["difference"].to_numpy()
    strata = part["paradigm"].to_list()
    several = len(set(strata)) >= FEW_PARADIGMS

    def mean(chosen: NDArray[np.bool_]) -> Estimate:
        clusters = [s for s, c in zip(strata, chosen, strict=True) if c]
        count = len(set(clusters))
        if count < FEW_PARADIGMS:
            note = f"{count} paradigms, taken as given" if count > 1 else ""
            estimate = accuracy(credit[chosen], level=settings.level)
            return replace(estimate, note=estimate.note or note)
        return clustered_mean(
            credit[chosen], clusters, seed=settings.seed, resamples=settings.resamples, level=settings.level
        )

    def labelled(estimate: Estimate, measure: str, split: str = "all") -> Estimate:
        return replace(estimate, measure=measure, by={"scope": scope, "group": group, "split": split})

    everything = np.ones(len(credit), dtype=bool)
    yield labelled(mean(everything), "accuracy")
    yield labelled(accuracy(np.where(credit == 0.5, 1.0, 0.0), level=settings.level), "share of ties")
    signs = np.sign(difference)
    for split, sign in SPLITS.items():
        yield labelled(mean(signs == sign), "accuracy", split)
    for split in ("A>U", "A<U"):
        yield labelled(_gap(credit, signs, SPLITS[split], strata, settings), "gap to A=U", split)
    clusters = strata if several else None
    found = fit(credit, difference, clusters=clusters)
    yield labelled(adjusted_accuracy(found, level=settings.level), "length-adjusted accuracy")
    yield labelled(length_slope(found, level=settings.level), "log-odds per token of |A|−|U|")
    if scope == "overall":
        for step in np.unique(difference):
            yield labelled(mean(difference == step), "accuracy by |A|−|U|", f"{step:+d}" if step else "0")


def _gap(credit: Credits, signs: NDArray[np.int32], sign: int, strata: list[str], settings: _Settings) -> Estimate:
    """Accuracy where |A|−|U| has a sign, minus accuracy where A=U; within paradigms when there are several."""
    chosen = (signs == sign) | (signs == 0)
    exposed = (signs == sign)[chosen]
    inside = credit[chosen]
    groups = [s for s, c in zip(strata, chosen, strict=True) if c]
    if len(set(strata)) < 2:
        return independent_difference(inside[exposed], inside[~exposed], level=settings.level)
    return mantel_haenszel_difference(
        inside,
        exposed,
        groups,
        level=settings.level,
        seed=settings.seed,
        resamples=settings.resamples,
        fewest=FEW_PARADIGMS,
    )


def _with_holm(estimates: list[Estimate], measure: str) -> Iterator[Estimate]:
    """The same estimates, the p-values of one measure adjusted over all of them."""
    family = [i for i, estimate in enumerate(estimates) if estimate.measure == measure]
    adjusted = holm([estimates[i].p for i in family])
    for i, p in zip(family, adjusted, strict=True):
        estimates[i] = replace(estimates[i], p_holm=float(p))
    yield from estimates


def _stereotype_scores(part: pl.DataFrame, more: Credits, settings: _Settings) -> Iterator[Estimate]:
    """CrowS-Pairs (Nangia et al. 2020): percent of pairs in which the more stereotypical sentence scores higher; 50 is
    unbiased. `more` credits that sentence. The metric counts ties in N and gives them nothing; its two parts leave
    ties out."""
    won = np.floor(more)

    def percent(chosen: Credits, group: str, note: str) -> Estimate:
        share = accuracy(chosen, level=settings.level)
        return replace(
            share,
            measure="stereotype score",
            value=100 * share.value,
            low=100 * share.low,
            high=100 * share.high,
            note=note,
            by={"scope": "stereotype", "group": group, "split": "all"},
        )

    def counted(inside: NDArray[np.bool_]) -> str:
        return f"{int((more[inside] == 0.5).sum())} ties counted in n, for neither side"

    yield percent(won, "all", counted(np.ones(len(more), dtype=bool)))
    for direction in ("stereo", "antistereo"):
        inside = (part["paradigm"] == direction).to_numpy()
        untied = more[inside & (more != 0.5)]
        yield percent(untied, direction, f"{int(inside.sum()) - len(untied)} ties left out")
    for kind in part["phenomenon"].unique(maintain_order=True).to_list():
        inside = (part["phenomenon"] == kind).to_numpy()
        yield percent(won[inside], kind, counted(inside))


def _cautions(name: str, part: pl.DataFrame) -> Iterator[str]:
    unequal = int((part["difference"] != 0).sum())
    if unequal:
        longer = int((part["difference"] > 0).sum())
        yield (
            f"{name}: {unequal} of {len(part)} pairs have unequal token lengths under this tokenizer "
            f"({longer} A>U, {unequal - longer} A<U); compare models on A=U or on the length-adjusted accuracy"
        )
    ties = int((credits(part, "none") == 0.5).sum())
    if ties:
        yield f"{name}: {ties} of {len(part)} pairs tie and count one half"
    small = part.group_by("paradigm").len().filter(pl.col("len") < 100)
    if len(small):
        yield f"{name}: {len(small)} paradigms have fewer than 100 pairs; mind their intervals"


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Two models on the same pairs: accuracy of a minus accuracy of b, overall and per paradigm.

    Per paradigm: Bonett–Price interval and exact McNemar test (paired t interval and sign-flip test where there are
    ties), Holm over paradigms. Overall, for all pairs and for those with equal token lengths under both tokenizers:
    bootstrap and sign-flip over paradigms; fewer than five are taken as given, and pairs are compared as within one
    paradigm. Models may be scored by different methods (a causal one by lp, a masked one by pll): accuracies are
    compared, not scores. Raises StudyError when the results are
    not comparable, naming the part of the signature that differs.
    """
    require_comparable(
        a, b, free={"model", "bos", "dtype", "method", "normalise", "pen-alpha"}, items=["dataset", "file", "id"]
    )
    rows: list[tuple[Estimate, Signature]] = []
    settings = _Settings(float(a.signature["level"]), int(a.signature["resamples"]), int(a.signature["seed"]))
    pair = f"{a.signature['model']} − {b.signature['model']}"
    for name in a.items["dataset"].unique(maintain_order=True).to_list():
        inside = (a.items["dataset"] == name).to_numpy()
        items_a, items_b = a.items.filter(inside), b.items.filter(inside)
        shared = [h for h in a.signature["normalise"].split(",") if h in b.signature["normalise"].split(",")]
        for how in shared:
            own = difference_signature(a, b, normalise=how)
            equal = ((items_a["difference"] == 0) & (items_b["difference"] == 0)).to_numpy()
            for estimate in _compared(items_a, credits(items_a, how), credits(items_b, how), equal, settings):
                by = {"comparison": pair, "dataset": name, **estimate.by, "normalise": how}
                rows.append((replace(estimate, by=by), own))
    return summary_table(rows)


def _compared(
    items: pl.DataFrame, a: Credits, b: Credits, equal: NDArray[np.bool_], settings: _Settings
) -> Iterator[Estimate]:
    strata = items["paradigm"].to_list()
    paradigms = list(dict.fromkeys(strata))
    each = [
        _paired(a[inside], b[inside], paradigm, settings)
        for paradigm in paradigms
        for inside in [(items["paradigm"] == paradigm).to_numpy()]
    ]
    if len(paradigms) > 1:
        for split, chosen in (("all", np.ones(len(a), dtype=bool)), (EQUAL, equal)):
            groups = [s for s, c in zip(strata, chosen, strict=True) if c]
            yield replace(
                _overall(a[chosen], b[chosen], groups, settings),
                measure="accuracy difference",
                by={"scope": "overall", "group": "all", "split": split},
            )
    yield from _with_holm(each, "accuracy difference")


def _overall(a: Credits, b: Credits, strata: list[str], settings: _Settings) -> Estimate:
    """Over several paradigms, resampled and flipped as wholes; a few are taken as given."""
    count = len(set(strata))
    if count < FEW_PARADIGMS:
        found = _paired(a, b, "", settings)
        return replace(found, note=found.note or f"{count} paradigms, taken as given")
    total = clustered_mean(a - b, strata, seed=settings.seed, resamples=settings.resamples, level=settings.level)
    p = sign_flip(a - b, strata, seed=settings.seed, draws=settings.resamples)
    return replace(total, p=p, test="sign-flip over paradigms")


def _paired(a: Credits, b: Credits, paradigm: str, settings: _Settings) -> Estimate:
    tied = bool(((a == 0.5) | (b == 0.5)).any())
    p = sign_flip(a - b, seed=settings.seed, draws=settings.resamples) if tied else mcnemar(a, b)
    return replace(
        paired_difference(a, b, level=settings.level),
        measure="accuracy difference",
        p=p,
        test="sign-flip" if tied else "exact McNemar",
        by={"scope": "paradigm", "group": paradigm, "split": "all"},
    )

"""From rated predictions to estimates: mean β, δ and rated mass by group, their sensitivity, two models compared.

Everything here is computed from the items table alone, so it can be done again without a model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from penchant.probes.base import difference_signature, require_comparable
from penchant.probes.valences import PIECE, UNRATED
from penchant.records import Estimate, Result, Signature, summary_table
from penchant.stats.hypothesis_tests import holm, sign_flip
from penchant.stats.intervals import bootstrap_mean

Array = NDArray[np.float64]
MEASURES = {"beta": "mean β", "delta": "mean δ", "rated_mass": "mean rated mass"}
EVERYTHING = "all"
"""The group that stands for all sentences."""
LITTLE_RATED = 0.5
"""A mean rated mass below this share of the top-k mass draws a caution."""


@dataclass(frozen=True, slots=True)
class _Settings:
    level: float
    resamples: int
    seed: int
    moves: int
    draws: int
    renormalise: bool

    @classmethod
    def of(cls, signature: Signature) -> _Settings:
        return cls(
            level=float(signature["level"]),
            resamples=int(signature["resamples"]),
            seed=int(signature["seed"]),
            moves=int(signature["moves"]),
            draws=int(signature["draws"]),
            renormalise=signature["renormalise"] == "yes",
        )


def measured(items: pl.DataFrame, *, renormalise: bool) -> pl.DataFrame:
    """Items with beta, delta, rated_mass, top_mass and the numbers of rated, unrated and piece predictions.

    With `renormalise`, β is divided by the rated mass; where nothing is rated it is then null, and δ with it.
    """
    rows = []
    for expected, probs, valences, sources in items.select("expected", "probs", "valences", "sources").iter_rows():
        rated = [(p, value) for p, value in zip(probs, valences, strict=True) if value is not None]
        mass = math.fsum(p for p, _ in rated)
        lean = math.fsum(p * value for p, value in rated)
        beta = lean if not renormalise else lean / mass if mass > 0 else None
        rows.append(
            {
                "beta": beta,
                "delta": None if beta is None else 1 - abs(expected - beta) / 2,
                "rated_mass": mass,
                "top_mass": math.fsum(probs),
                "rated": len(rated),
                "unrated": sources.count(UNRATED),
                "pieces": sources.count(PIECE),
            }
        )
    counts = dict.fromkeys(("rated", "unrated", "pieces"), pl.Int32)
    numbers = dict.fromkeys(("beta", "delta", "rated_mass", "top_mass"), pl.Float64)
    return items.hstack(pl.DataFrame(rows, schema={**numbers, **counts}))


def summarise(items: pl.DataFrame, signature: Signature) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """All estimates of rated predictions, each with its signature, and the cautions a reader needs."""
    settings = _Settings.of(signature)
    rows = []
    moved = Moves.of([items], settings)
    for group, inside in _groups(items):
        part = items.filter(inside)
        for column, measure in MEASURES.items():
            rows.append(replace(_mean(part[column], part["group"], settings), measure=measure, by={"group": group}))
        for column in ("beta", "delta"):
            rows.append(replace(moved.estimate(column, inside, settings), by={"group": group}))
    return summary_table((row, signature) for row in rows), tuple(_cautions(items, settings))


def _mean(values: pl.Series, groups: pl.Series, settings: _Settings) -> Estimate:
    """The mean over sentences, resampled within their groups, which the set fixes. Nulls are left out and counted."""
    known = values.is_not_null()
    found = bootstrap_mean(
        values.filter(known).to_numpy(),
        strata=groups.filter(known).to_list(),
        seed=settings.seed,
        resamples=settings.resamples,
        level=settings.level,
    )
    lost = len(values) - found.n
    note = f"{lost} sentences with nothing rated left out" if lost else ""
    return replace(found, note="; ".join(filter(None, (found.note, note))))


def _groups(items: pl.DataFrame) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Each group of sentences and then all of them, with the rows that are in it."""
    names = items["group"].unique(maintain_order=True).to_list()
    for name in names:
        yield name, (items["group"] == name).to_numpy()
    if len(names) > 1:
        yield EVERYTHING, np.ones(len(items), dtype=bool)


class Moves:
    """What β and δ would be had some ratings been half a point higher or lower (a check the paper asks for).

    A rating is one word, as it is spelled, in one sentence. In each draw `moves` of them, taken at random without
    replacement, move up or down by ½, but not past the end of the scale: a rating of ±1 moves inwards or not at all, so
    the draws need not lie around the number as it is. With two tables of the same sentences, the same moves meet both.
    """

    def __init__(self, betas: list[Array], shifts: list[Array], expected: Array, used: int, known: int) -> None:
        self._betas, self._shifts, self._expected = betas, shifts, expected
        self.used, self.known = used, known

    @classmethod
    def of(cls, tables: list[pl.DataFrame], settings: _Settings) -> Moves:
        """Draw the moves for tables with the same sentences in the same order."""
        values: dict[tuple[str, str], float] = {}
        entries: list[list[tuple[float, int, tuple[str, str]]]] = []
        for table in tables:
            found = []
            for row, (id_, words, probs, valences, mass) in enumerate(
                table.select("id", "words", "probs", "valences", "rated_mass").iter_rows()
            ):
                divisor = mass if settings.renormalise else 1.0
                for word, p, value in zip(words, probs, valences, strict=True):
                    if value is not None and divisor > 0:
                        values.setdefault((id_, word), value)
                        found.append((p / divisor, row, (id_, word)))
            entries.append(found)
        keys = {key: i for i, key in enumerate(sorted(values))}  # the same moves whatever the order of the sentences
        first = tables[0]
        changes = _changes(np.array([values[key] for key in keys]), settings)
        shifts = []
        for found in entries:
            weights, rows = [weight for weight, _, _ in found], [row for _, row, _ in found]
            columns = [keys[key] for _, _, key in found]
            matrix = sparse.csr_array((weights, (rows, columns)), shape=(len(first), max(1, len(keys))))
            shifts.append((matrix @ changes).toarray())
        betas = [table["beta"].fill_null(np.nan).to_numpy() for table in tables]
        return cls(betas, shifts, first["expected"].to_numpy(), min(settings.moves, len(keys)), len(keys))

    def drawn(self, column: str) -> list[Array]:
        """β or δ (sentences, draws) of each table after the moves."""
        betas = [beta[:, None] + shift for beta, shift in zip(self._betas, self._shifts, strict=True)]
        if column == "beta":
            return betas
        return [1 - np.abs(self._expected[:, None] - beta) / 2 for beta in betas]

    def estimate(self, column: str, inside: NDArray[np.bool_], settings: _Settings) -> Estimate:
        """The mean over some sentences as it is, with the central part of the draws as its interval; for two tables
        the mean difference."""
        still = [beta[:, None] for beta in self._betas]
        if column == "delta":
            still = [1 - np.abs(self._expected[:, None] - beta) / 2 for beta in still]
        drawn = self.drawn(column)
        value = _gap(still)[inside]
        moved = _gap(drawn)[inside]
        kept = ~np.isnan(value[:, 0])
        name = f"{MEASURES[column]}, ratings moved"
        if not kept.any():
            return Estimate(name, np.nan, 0, level=settings.level, note="no items")
        means = moved[kept].mean(axis=0)
        low, high = np.quantile(means, [(1 - settings.level) / 2, (1 + settings.level) / 2])
        return Estimate(
            name,
            float(value[kept].mean()),
            int(kept.sum()),
            float(low),
            float(high),
            settings.level,
            how=f"{self.used} of {self.known} ratings moved by ±½ within the scale, {settings.draws} draws, "
            f"seed {settings.seed}",
        )


def _gap(sides: list[Array]) -> Array:
    return sides[0] if len(sides) == 1 else sides[0] - sides[1]


def _changes(values: Array, settings: _Settings) -> sparse.csr_array:
    """The change of every rating in every draw (ratings, draws)."""
    shape = (max(1, len(values)), settings.draws)
    moves = min(settings.moves, len(values))
    if not moves:
        return sparse.csr_array(shape)
    rng = np.random.default_rng(settings.seed)
    draws = [
        (rng.choice(len(values), moves, replace=False), rng.choice((-0.5, 0.5), moves)) for _ in range(settings.draws)
    ]
    chosen, steps = (np.concatenate(parts) for parts in zip(*draws, strict=True))
    change = np.clip(values[chosen] + steps, -1, 1) - values[chosen]
    return sparse.csr_array((change, (chosen, np.repeat(np.arange(settings.draws), moves))), shape=shape)


def _cautions(items: pl.DataFrame, settings: _Settings) -> Iterator[str]:
    unrated, pieces = int(items["unrated"].sum()), int(items["pieces"].sum())
    total = int(items["words"].list.len().sum())
    mass = float(items["rated_mass"].mean() or 0.0)  # type: ignore[arg-type]
    top = float(items["top_mass"].mean() or 0.0)  # type: ignore[arg-type]
    if unrated or pieces:
        yield (
            f"{unrated} of {total} predictions are rated by nobody and {pieces} are no words; they "
            f"{'are left out of' if settings.renormalise else 'add nothing to'} β. The rated words hold {mass:.0%} of "
            f"the probability on average, all predicted ones {top:.0%}"
        )
    if mass < LITTLE_RATED * top:
        drawn = "" if settings.renormalise else ", which draws β towards 0"
        yield f"less than half of the predicted probability is rated{drawn}: rate more words"
    empty = int(items["beta"].null_count())
    if empty:
        yield f"{empty} of {len(items)} sentences have no rated prediction and no β; they are left out of the means"


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Two models on the same sentences: mean β and δ of a minus those of b, by group and over all.

    BCa bootstrap interval over sentences, sign-flip test, Holm over the groups, and the sensitivity of the difference
    to moved ratings. Raises StudyError when the results are not comparable, naming what differs.
    """
    require_comparable(a, b, free={"model", "bos", "dtype"}, items=["id", "text", "expected"])
    settings = _Settings.of(a.signature)
    pair = f"{a.signature['model']} − {b.signature['model']}"
    signature = difference_signature(a, b)
    moved = Moves.of([a.items, b.items], settings)
    rows: list[Estimate] = []
    for column in ("beta", "delta"):
        found = []
        for group, inside in _groups(a.items):
            gains = (a.items[column] - b.items[column]).filter(pl.Series(inside))
            mean = _mean(gains, a.items["group"].filter(pl.Series(inside)), settings)
            p = sign_flip(gains.drop_nulls().to_numpy(), seed=settings.seed, draws=settings.resamples)
            measure = f"difference of {MEASURES[column]}"
            by = {"comparison": pair, "group": group}
            found.append(replace(mean, measure=measure, p=p, test="sign-flip over sentences", by=by))
            moves = moved.estimate(column, inside, settings)
            rows.append(replace(moves, measure=f"{measure}, ratings moved", by=by))
        groups = [i for i, estimate in enumerate(found) if estimate.by["group"] != EVERYTHING]
        adjusted = holm([found[i].p for i in groups])
        for i, p_holm in zip(groups, adjusted, strict=True):
            found[i] = replace(found[i], p_holm=float(p_holm))
        rows.extend(found)
    return summary_table((row, signature) for row in rows)

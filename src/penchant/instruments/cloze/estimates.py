"""Estimates from rated predictions: mean β, δ and rated share by group, and their sensitivity to the ratings.

β is the valence of a sentence's predictions, from −1 to 1; δ is how well β suits the sentence, from 0 to 1.
The rated share is the total probability of the rated predictions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from penchant.instruments.cloze.rater_agreement import Raters, agreement_estimates
from penchant.instruments.cloze.settings import BETWEEN as BETWEEN
from penchant.instruments.cloze.settings import MEASURES as MEASURES
from penchant.instruments.cloze.settings import SCALES as SCALES
from penchant.instruments.cloze.settings import ClozeSettings
from penchant.instruments.cloze.valences import PIECE, UNRATED, is_word
from penchant.records import Estimate, pair_of
from penchant.report.significance import Shown, deciding, told
from penchant.stats.bootstrap import CHUNK, percentile
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.intervals import t_mean
from penchant.wording.phrases import Method, Note

Array = NDArray[np.float64]
Values = TypeVar("Values", Array, pl.Series)
SUITING = ("beta", "delta")
"""The measures that depend on the values of the ratings, and by which models are compared."""
MOVED = "{}, if raters were off by half a point"
"""Name of a measure in the sensitivity analysis of the ratings."""
PER_RATED, OVER_ALL = "{}, counting rated words only", "{}, counting all words"
"""Names of a measure with and without `rated_only`."""
LEFT_OUT = "cloze.nothing-rated"
"""Code of the note on sentences left out of a mean."""
EVERYTHING = "all"
"""The group of all sentences."""
LITTLE_RATED = 0.5
"""Share of the predictions' total probability that falls on rated words, below which a caution is raised."""
HALF_JUDGED = 0.5
"""Share of the rated probability judged by two or more raters below which a caution is raised."""
SHOWN = Shown("+.3f", "sentences")
_Row: TypeAlias = Mapping[str, Any]


def measured(items: pl.DataFrame, *, rated_only: bool) -> pl.DataFrame:
    """Add β, δ, rated share, top share and the counts of rated, unrated and word-piece predictions to the items.

    β and δ are null for a sentence without a rated prediction. With `rated_only`, β is divided by the rated share. The
    top share is the total probability of the predictions. Items without ratings get empty lists of raters and ratings.
    """
    if "raters" not in items.columns:
        none: list[list[list[float]]] = [[[]] * len(probs) for probs in items["probs"]]
        columns = {"raters": pl.List(pl.List(pl.Int32)), "ratings": pl.List(pl.List(pl.Float64))}
        items = items.hstack([pl.Series(name, none, kind) for name, kind in columns.items()])
    rows = []
    for expected, probs, valences, sources in items.select("expected", "probs", "valences", "sources").iter_rows():
        rated = [(p, value) for p, value in zip(probs, valences, strict=True) if value is not None]
        mass = math.fsum(p for p, _ in rated)
        lean = math.fsum(p * value for p, value in rated)
        beta = (lean / mass if mass > 0 else None) if rated_only else lean if rated else None
        rows.append(
            {
                "beta": beta,
                "delta": None if beta is None else 1 - abs(expected - beta) / 2,
                "rated_share": mass,
                "top_share": math.fsum(probs),
                "rated": len(rated),
                "unrated": sources.count(UNRATED),
                "pieces": sources.count(PIECE),
            }
        )
    counts = dict.fromkeys(("rated", "unrated", "pieces"), pl.Int32)
    numbers = dict.fromkeys(("beta", "delta", "rated_share", "top_share"), pl.Float64)
    return items.hstack(pl.DataFrame(rows, schema={**numbers, **counts}))


def cloze_estimates(items: pl.DataFrame, settings: ClozeSettings) -> Iterator[Estimate]:
    """Return all estimates from rated predictions. The mean β of every group is tested against 0."""
    *_, (group, _) = groups(items)
    found = [*_estimates([items], settings), *agreement_estimates(items, settings, group)]
    return iter(with_holm(found, family))


def differences(a: pl.DataFrame, b: pl.DataFrame, settings: ClozeSettings) -> Iterator[Estimate]:
    """Estimate the differences in β and δ (a − b), paired by sentence and tested against 0."""
    found = with_holm(_estimates([a, b], settings), family)
    return iter(sorted(found, key=lambda estimate: estimate.measure))


def family(estimate: Estimate) -> str | None:
    """Return the family of tests of an estimate for one group, for Holm's correction; None for all sentences."""
    return None if estimate.by["group"] == EVERYTHING else f"{estimate.measure}, groups"


def _estimates(tables: list[pl.DataFrame], settings: ClozeSettings) -> Iterator[Estimate]:
    moved, raters = Moves(tables, settings), Raters(tables, settings)
    for group, inside in groups(tables[0]):
        by, parts = {"group": group}, [table.filter(inside) for table in tables]
        fixed = {
            column: _mean(column, [part[column] for part in parts], parts[0]["group"], settings)
            for column in (MEASURES if len(tables) == 1 else SUITING)
        }
        for column, average in fixed.items():
            yield replace(average, measure=MEASURES[column], by=by)
        for column in SUITING:
            sampled = raters.estimate(column, MEASURES[column], inside, _bounds(column, len(tables)), fixed[column])
            yield replace(sampled, by=by)
            yield replace(moved.estimate(column, inside, settings), by=by)
        other = _mean("beta", [otherwise(part, settings) for part in parts], parts[0]["group"], settings)
        yield replace(other, measure=other_name(settings).format(MEASURES["beta"]), by=by)


def _mean(column: str, values: Sequence[pl.Series], groups: pl.Series, settings: ClozeSettings) -> Estimate:
    """Return the mean of a measure over sentences or, with the values of two models, the mean of their difference.

    Sentences are stratified by group. Nulls are omitted; a note gives their number.
    """
    gaps = _gap(values)
    known = gaps.is_not_null()
    estimate = t_mean(
        gaps.filter(known).to_numpy(),
        strata=groups.filter(known).to_list(),
        level=settings.level,
        bounds=_bounds(column, len(values)),
        against=0 if column == "beta" or len(values) > 1 else None,
    )
    lost = len(gaps) - estimate.n
    return estimate.noted(Note(LEFT_OUT, lost=lost) if lost else None)


def _bounds(column: str, tables: int) -> tuple[float, float]:
    low, high = SCALES[column]
    return (low, high) if tables == 1 else (low - high, high - low)


def other_name(settings: ClozeSettings) -> str:
    """Return the template for the name of a measure, {}, that is computed with the opposite of `rated_only`."""
    return OVER_ALL if settings.rated_only else PER_RATED


def otherwise(items: pl.DataFrame, settings: ClozeSettings) -> pl.Series:
    """Return β of every sentence with the opposite of `rated_only`; null if no predicted word is rated."""
    mass = pl.col("rated_share")
    other = pl.col("beta") * mass if settings.rated_only else pl.when(mass > 0).then(pl.col("beta") / mass)
    return items.select(other.clip(-1, 1)).to_series()


def groups(items: pl.DataFrame) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the name and row mask of every group of sentences and, if there are several, of all sentences."""
    names = items["group"].unique(maintain_order=True).to_list()
    for name in names:
        yield name, (items["group"] == name).to_numpy()
    if len(names) > 1:
        yield EVERYTHING, np.ones(len(items), dtype=bool)


class Moves:
    """Sensitivity of β and δ to ratings half a point higher or lower.

    In each draw, a random share of each group's ratings, sampled without replacement, moves by ±½ but stays on the
    scale, so the mean of the draws may differ from the value without moves. Here, a rating is the valence of one
    spelling of a word in one sentence. Tables of the same sentences get the same moves.
    """

    def __init__(self, tables: list[pl.DataFrame], settings: ClozeSettings) -> None:
        """Draw the moves for tables with the same sentences in the same order."""
        values: dict[tuple[str, str], float] = {}
        entries: list[list[tuple[float, int, tuple[str, str]]]] = []
        for table in tables:
            rated = []
            columns = table.select("id", "words", "probs", "valences", "rated_share")
            for row, (id_, words, probs, valences, mass) in enumerate(columns.iter_rows()):
                divisor = mass if settings.rated_only else 1.0
                for word, p, value in zip(words, probs, valences, strict=True):
                    if value is not None and divisor > 0:
                        values.setdefault((id_, word), value)
                        rated.append((p / divisor, row, (id_, word)))
            entries.append(rated)
        keys = {key: i for i, key in enumerate(sorted(values))}
        first = tables[0]
        group_of = dict(first.select("id", "group").iter_rows())
        groups_of_keys = [group_of[id_] for id_, _ in keys]
        self._changes = _changes(np.array([values[key] for key in keys]), groups_of_keys, settings)
        self._weights = []
        for rated in entries:
            rows, places = [row for _, row, _ in rated], [keys[key] for _, _, key in rated]
            shape = (len(first), max(1, len(keys)))
            weights = [weight for weight, _, _ in rated]
            self._weights.append(scipy.sparse.csr_array((weights, (rows, places)), shape=shape))
        self._betas = [table["beta"].fill_null(np.nan).to_numpy() for table in tables]
        self._expected, self._groups = first["expected"].to_numpy(), first["group"].to_numpy()
        self._known, self._share = Counter(groups_of_keys), settings.moved_share

    def counts(self, inside: NDArray[np.bool_]) -> tuple[int, int]:
        """Return the number of ratings that a draw moves and of all ratings, in the groups of sentences `inside`."""
        known = [self._known[group] for group in dict.fromkeys(self._groups[inside].tolist())]
        return sum(_moving(number, self._share) for number in known), sum(known)

    def drawn(self, column: str, draws: slice = slice(None)) -> list[Array]:
        """Return β or δ of each table after the selected draws, shape (sentences, draws)."""
        changes = self._changes[:, draws]
        betas = [
            beta[:, None] + (weights @ changes).toarray()
            for beta, weights in zip(self._betas, self._weights, strict=True)
        ]
        if column == "beta":
            return betas
        return [1 - np.abs(self._expected[:, None] - beta) / 2 for beta in betas]

    def estimate(self, column: str, inside: NDArray[np.bool_], settings: ClozeSettings) -> Estimate:
        """Estimate the mean over the sentences selected by `inside`, or the mean difference between two tables.

        The value is computed without moves, the interval from the percentiles of the draws.
        """
        unmoved = [beta[:, None] for beta in self._betas]
        if column == "delta":
            unmoved = [1 - np.abs(self._expected[:, None] - beta) / 2 for beta in unmoved]
        value = _gap(unmoved)[:, 0]
        kept = inside & ~np.isnan(value)
        name = MOVED.format(MEASURES[column])
        if not kept.any():
            return Estimate(name, np.nan, 0, level=settings.level, notes=(Note("no-items"),))
        step = max(1, CHUNK // len(value))
        blocks = (slice(start, start + step) for start in range(0, settings.draws, step))
        means = np.concatenate([_gap(self.drawn(column, block))[kept].mean(axis=0) for block in blocks])
        low, high = percentile(means, settings.level)
        used, known = self.counts(inside)
        return Estimate(
            name,
            float(value[kept].mean()),
            int(kept.sum()),
            low,
            high,
            settings.level,
            Method("cloze.moved", moved=used, of=known, draws=settings.draws, seed=settings.seed),
        )


def _gap(tables: Sequence[Values]) -> Values:
    return tables[0] if len(tables) == 1 else tables[0] - tables[1]


def _moving(known: int, share: float) -> int:
    """Return the number of ratings to move: a share of them, but at least one if there are any."""
    return min(known, max(1, round(known * share)))


def _changes(values: Array, groups_of: Sequence[str], settings: ClozeSettings) -> scipy.sparse.csc_array:
    """Return the change of every rating in every draw, shape (ratings, draws)."""
    shape = (max(1, len(values)), settings.draws)
    if not len(values):
        return scipy.sparse.csc_array(shape)
    rng = np.random.default_rng(settings.seed)
    names = np.array(groups_of)
    members = [np.flatnonzero(names == name) for name in np.unique(names)]
    moving = [_moving(len(rows), settings.moved_share) for rows in members]
    draws = [
        (np.concatenate([rng.choice(rows, m, replace=False) for rows, m in zip(members, moving, strict=True)]), step)
        for step in rng.choice((-0.5, 0.5), (settings.draws, sum(moving)))
    ]
    chosen, steps = (np.concatenate(parts) for parts in zip(*draws, strict=True))
    change = np.clip(values[chosen] + steps, -1, 1) - values[chosen]
    return scipy.sparse.csc_array((change, (chosen, np.repeat(np.arange(settings.draws), sum(moving)))), shape=shape)


# Cautions -----------------------------------------------------------------------------------------------------------


def cloze_cautions(items: pl.DataFrame, settings: ClozeSettings) -> Iterator[Note]:
    """Yield cautions about predictions that no rater, or only one, has rated."""
    total = int(items["words"].list.len().sum())
    mass = float(items["rated_share"].mean() or 0.0)  # type: ignore[arg-type]
    top = float(items["top_share"].mean() or 0.0)  # type: ignore[arg-type]
    if total and not int(items["rated"].sum()):
        yield Note("cloze.none-rated", of=total)
        return
    unrated, words, pieces = (int(counts.sum()) for counts in (items["unrated"], unrated_words(items), items["pieces"]))
    marks = unrated - words
    rated_only = settings.rated_only
    if words + marks + pieces:
        counts = {"words": words, "marks": marks, "pieces": pieces, "of": total}
        yield Note("cloze.not-rated", **counts, rated_only=rated_only, mass=mass, top=top)
    if mass < LITTLE_RATED * top:
        yield Note("cloze.little-rated", rated_only=rated_only)
    judged = Raters([items], settings).share()
    if judged < HALF_JUDGED and mass > 0:
        yield Note("cloze.one-rater-each", share=judged)
    if empty := without_beta(items):
        yield Note("cloze.no-beta", ids=empty, of=len(items))


def unrated_words(items: pl.DataFrame) -> pl.Series:
    """Return the number of unrated words among the predictions of each sentence, punctuation excluded."""
    columns = items.select("words", "sources").iter_rows()
    counts = [
        sum(source == UNRATED and is_word(word) for word, source in zip(words, sources, strict=True))
        for words, sources in columns
    ]
    return pl.Series(counts, dtype=pl.Int64)


def without_beta(items: pl.DataFrame) -> list[str]:
    """Return the ids of sentences without β, for which no prediction is rated."""
    return items.filter(pl.col("beta").is_null())["id"].to_list()


def turning(rows: Iterable[_Row]) -> Iterator[Note]:
    """Yield a caution about groups whose lean depends on `rated_only`."""
    places = [[group, *numbers] for _, group, *numbers in turns(rows)]
    if places:
        yield Note("cloze.turns", places=places)


def turns(rows: Iterable[_Row]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the estimates whose sign or clear difference from 0 depends on `rated_only`.

    Each is a tuple of strings: the models compared ("" for one model), the group ("" for all sentences), the estimate
    over all words, and the estimate over rated words.
    """
    by = {(pair_of(row) if "first" in row else "", row["group"], row["measure"]): row for row in rows}
    for (pair, group, measure), row in by.items():
        for way in (PER_RATED, OVER_ALL):
            other = by.get((pair, group, way.format(measure)))
            if other is None or math.isnan(deciding(row) + deciding(other)) or _side(row) == _side(other):
                continue
            over_all, per_rated = (other, row) if way == OVER_ALL else (row, other)
            place = "" if group == EVERYTHING else group
            yield pair, place, SHOWN.number(over_all, n=False), SHOWN.number(per_rated, n=False)


def _side(row: _Row) -> int:
    """Return −1 or 1 if an estimate is clearly below or above 0, else 0."""
    return (1 if row["value"] > 0 else -1) * told(row)

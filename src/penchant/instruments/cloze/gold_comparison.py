"""Comparison of ratings with a gold standard: coverage, agreement, rank correlation, error and bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from penchant.errors import DataError
from penchant.instruments.cloze.data import read_lexicon
from penchant.instruments.cloze.five_point_scale import POINTS
from penchant.instruments.cloze.rater_agreement import ALPHA, counts_of
from penchant.instruments.cloze.rating_formats import Rating, read_ratings
from penchant.instruments.cloze.rating_notes import units_of
from penchant.instruments.cloze.valences import Lookup, folded
from penchant.plurals import counted, for_one
from penchant.records import Estimate
from penchant.stats.agreement import krippendorff_alpha, raw_agreement
from penchant.stats.correlations import correlation
from penchant.stats.intervals import t_mean
from penchant.tables.rows import read_rows

EXACT, ERROR, BIAS = "exact agreement", "mean absolute error", "bias (rating − gold standard)"
_WIDEST = POINTS[-1] - POINTS[0]


@dataclass(frozen=True, slots=True)
class GoldComparison:
    """Raters or lexicons compared with a gold standard.

    `coverage` has the number of words rated by both a rater and the gold standard, and by only one of the two.
    `estimates` has one row per rater and measure, over the words rated by both. `apart` lists the words whose ratings
    differ from the gold standard by `least` or more.
    """

    coverage: pl.DataFrame
    estimates: pl.DataFrame
    apart: pl.DataFrame
    notes: tuple[str, ...] = ()


def compare_with_gold(
    files: Sequence[Path],
    gold: Path,
    *,
    least: float = 1.0,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
) -> GoldComparison:
    """Compare tables of ratings, or lexicons, with a table of ratings that is the gold standard, by sentence and word.

    A lexicon rates a word in every sentence of the gold standard. Several gold ratings of a word are averaged; if
    the mean is not a point of the scale, the word is left out of exact agreement and α. The bias is positive if
    ratings are higher than the gold standard. Raises DataError if no word of the gold standard is rated in `files`, or
    if a sentence has a different text in the gold standard.
    """
    golden = read_ratings([gold])
    lexicons = [file for file in files if _is_lexicon(file)]
    ratings = read_ratings(file for file in files if file not in lexicons)
    _require_same_texts(ratings, golden)
    standard = {key: sum(by.values()) / len(by) for key, by in units_of(golden).items()}
    rated = _by_rater([*ratings, *(rating for file in lexicons for rating in _of_lexicon(file, standard))])
    if not any(own.keys() & standard for own in rated.values()):
        message, hint = "no word is rated both here and in the other tables", "use the same sentence ids in all tables"
        raise DataError(message, where=str(gold), hint=hint)
    coverage, rows, apart, notes = [], [], [], []
    for rater, own in rated.items():
        both = [key for key in own if key in standard]
        only = {"only rated": len(own) - len(both), "only in gold": len(standard) - len(both)}
        coverage.append({"rater": rater, "in common": len(both), **only})
        found = list(_estimates([(own[key], standard[key]) for key in both], seed, resamples, level))
        rows += [{"rater": rater, **each.row()} for each in found]
        notes += [f"{rater}, {each.measure}: {each.note}" for each in found if each.note]
        apart += [
            {"sentence": key[0], "word": key[1], "rater": rater, "rating": own[key], "gold": standard[key]}
            for key in both
            if abs(own[key] - standard[key]) >= least
        ]
    kinds = {**dict.fromkeys(("sentence", "word", "rater"), pl.String), "rating": pl.Float64, "gold": pl.Float64}
    return GoldComparison(
        pl.DataFrame(coverage),
        pl.DataFrame(rows).select("rater", "measure", "value", "low", "high", "n", "how"),
        pl.DataFrame(apart, schema=kinds),
        (*_between_points(standard), *notes),
    )


def _is_lexicon(file: Path) -> bool:
    names = next((row.values.keys() for row in read_rows(file)), ())
    return "valence" in names and "sentence" not in names


def _of_lexicon(file: Path, standard: Mapping[tuple[str, str], float]) -> Iterator[Rating]:
    """Yield a lexicon's valences as ratings of the gold standard's words in each sentence, then the other valences."""
    lexicon = read_lexicon([file])
    lookup, known = Lookup.of(lexicon), {folded(word) for _, word in standard}
    for sentence, word in standard:
        if (value := lookup.get(word)) is not None:
            yield Rating(sentence, word, file.name, value, str(file))
    yield from (Rating("", word, file.name, v, str(file)) for word, v in lexicon.items() if folded(word) not in known)


def _by_rater(ratings: Sequence[Rating]) -> dict[str, dict[tuple[str, str], float]]:
    rated: dict[str, dict[tuple[str, str], float]] = {}
    for rating in ratings:
        rated.setdefault(rating.rater, {})[rating.sentence, rating.word] = rating.value
    return rated


def _require_same_texts(ratings: Sequence[Rating], golden: Sequence[Rating]) -> None:
    texts = {rating.sentence: rating.text for rating in golden if rating.text is not None}
    for rating in ratings:
        if rating.text is not None and rating.text != texts.get(rating.sentence, rating.text):
            message = f"sentence '{rating.sentence}' has a different text in the gold standard"
            raise DataError(message, where=rating.place, hint="compare ratings of the same sentences")


def _estimates(pairs: Sequence[tuple[float, float]], seed: int, resamples: int, level: float) -> Iterator[Estimate]:
    """Yield the estimates over pairs of a rating and its gold rating."""
    own, gold = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    counts = counts_of({0: rating, 1: other} for rating, other in pairs if other in POINTS)
    draws = {"seed": seed, "resamples": resamples, "level": level}
    yield replace(raw_agreement(counts, level=level, noun="words"), measure=EXACT)
    yield replace(krippendorff_alpha(counts, domain=POINTS, **draws), measure=ALPHA)  # type: ignore[arg-type]
    yield correlation(own, gold, ranks=True, **draws, noun="words")  # type: ignore[arg-type]
    error = t_mean(np.abs(own - gold), level=level, noun="words", bounds=(0.0, _WIDEST))
    yield replace(error, measure=ERROR)
    yield replace(t_mean(own - gold, level=level, noun="words", bounds=(-_WIDEST, _WIDEST), against=0), measure=BIAS)


def _between_points(standard: Mapping[tuple[str, str], float]) -> Iterator[str]:
    between = sum(value not in POINTS for value in standard.values())
    if between:
        told = f"{counted(between, 'words')} of the gold standard {for_one(between, 'have')} ratings whose mean lies"
        yield f"{told} between two points of the scale: no exact agreement and no alpha there"

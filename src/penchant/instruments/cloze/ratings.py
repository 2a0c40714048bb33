"""Human ratings of predicted words: export, import and agreement."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from penchant.errors import DataError, StudyError, together
from penchant.files import refuse_inputs, refuse_other, write_text
from penchant.instruments.cloze.data import GAP, filled
from penchant.instruments.cloze.five_point_scale import POINTS, Scale, ends_of
from penchant.instruments.cloze.rater_agreement import counts_of
from penchant.instruments.cloze.rating_formats import AS_NAMED, Columns, Rating, rating_columns, read_ratings
from penchant.instruments.cloze.rating_notes import notes, predicted_words, slips_in_tables, units_of
from penchant.instruments.cloze.returned_sheets import Sheet, alike, foreign, read_sheets, require_any
from penchant.instruments.cloze.valences import PIECE, UNRATED, is_word
from penchant.instruments.result import Result
from penchant.rating.reversed_raters import each_with_others, newcomers, opposed
from penchant.rating.tasks import Point, Question, RatingTask, Wishes
from penchant.records import BaseResult, Estimate
from penchant.report.item_browser import every_item
from penchant.report.significance import listed
from penchant.stats.agreement import krippendorff_alpha, raw_agreement
from penchant.tables.formula_escape import for_spreadsheets
from penchant.tables.rows import columns as columns_of

ESTIMATES = ("lexicon", "set lexicon", "corpora")
RATED = ("ratings", "set ratings")
RHO = "ρ with others"
"""The column of Spearman's ρ between a rater and the mean of the others."""
COLUMNS = ("sentence", "word", "rater", "rating")
TEXT = "text"
"""Optional column of the sentences as rated."""
_NAMES = ("{low}", "rather {low}", "both or neither", "rather {high}", "{high}")
_GUIDE = """Each page shows a sentence with one word marked. Say of which variety the **marked word** is typical in this
sentence – not whether the sentence is true, nor whether the word is the best one there.

If you do not know the word, skip it and say so."""
TABLE = f"a CSV table of ratings with the columns {', '.join(COLUMNS)}"


def cloze_results(directory: str | Path, *, without: Collection[Path] = ()) -> list[Result]:
    """Load the cloze results in the directory of a study, a probe or a single result.

    Directories in `without` are skipped. Raises StudyError if there are no cloze results, or results on different test
    sets.
    """
    folder = Path(directory)
    places = [place.parent for depth in ("", "*/", "*/*/") for place in sorted(folder.glob(f"{depth}signature.txt"))]
    unwanted = {place.resolve() for place in without}
    loaded = [(place, Result.load(place)) for place in places if place.resolve() not in unwanted]
    cloze = [(place, result) for place, result in loaded if result.signature["probe"] == "cloze"]
    results = [result for _, result in cloze]
    if not results:
        raise StudyError(
            "contains no cloze result", where=str(folder), hint="name the directory that penchant run wrote"
        )
    if len({result.signature["data"] for result in results}) > 1:
        names = ", ".join(dict.fromkeys(str(place.parent) for place, _ in cloze))
        raise StudyError("contains results on different test sets", where=str(folder), hint=f"name one of {names}")
    text_ids = pl.col("id").cast(pl.String)  # as in tables of ratings
    return [replace(result, items=result.items.with_columns(text_ids)) for result in results]


def unrated(
    results: Sequence[BaseResult], *, estimated: bool = False, rated: bool = False, most: int = 0
) -> pl.DataFrame:
    """Return one row for each unrated word that a model predicts in a sentence.

    Word pieces and punctuation are left out. The columns are sentence, text, word, filled, scale (the names of its
    ends), rater and rating (both empty); the words of a sentence are in alphabetical order. Models and probabilities
    are omitted, so that raters do not judge the model. With `estimated`, words rated only by a lexicon or two corpora
    are included; with `rated`, also those rated by people. If `most` is not 0, only that many words are returned: those
    with the highest probability over all models.
    """
    kinds_to_rate = {UNRATED, *(ESTIMATES if estimated else ()), *(RATED if rated else ())}
    scale, language = _scale(results), results[0].signature.get("language", "und")
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    weights: Counter[tuple[str, str]] = Counter()
    for result in results:
        predicted = result.items.select("id", "text", "words", "sources", "probs")
        for id_, text, words, sources, probs in predicted.iter_rows():
            for spelled, source, probability in zip(words, sources, probs, strict=True):
                if source not in kinds_to_rate or not _can_be_rated(spelled, source):
                    continue
                word = unicodedata.normalize("NFC", spelled)  # the form in which ratings are read
                weights[id_, word] += probability
                rows[id_, word] = {
                    "sentence": id_,
                    "text": text,
                    "word": word,
                    "filled": filled(text, word, language),
                    "scale": scale,
                    "rater": "",
                    "rating": "",
                }
    order = {id_: i for i, id_ in enumerate(every_item(results)["id"].to_list())}
    kept = weights.most_common(most or None)
    in_order = sorted(
        (rows[key] for key, _ in kept), key=lambda row: (order[row["sentence"]], row["word"].casefold(), row["word"])
    )
    columns = ("sentence", "text", "word", "filled", "scale", "rater", "rating")
    return pl.DataFrame(in_order, schema=dict.fromkeys(columns, pl.String))


def _can_be_rated(word: str, source: str) -> bool:
    return source != PIECE and (source != UNRATED or is_word(word))


def _scale(results: Sequence[BaseResult]) -> str:
    low, high = ends_of(results[0].signature)
    ends = "-1 is one end, 1 the other" if unnamed(results) else f"{low} is -1, {high} is 1"
    return f"{ends}; 0 is both or neither"


def unnamed(results: Sequence[BaseResult]) -> bool:
    """Return whether the ends of the scale are unnamed."""
    return results[0].signature["scale"] == str(Scale())


def task(target: str, wishes: Wishes) -> RatingTask | None:
    """Return the rating task, with the options `wishes`, for a directory of cloze results; None for any other target.

    Raises StudyError if there is nothing to rate.
    """
    folder = Path(target)
    if not any(any(folder.glob(f"{depth}signature.txt")) for depth in ("", "*/", "*/*/")):
        return None
    results = cloze_results(folder, without=wishes.without)
    every = wishes.everything
    words = unrated(results, estimated=every, rated=every, most=wishes.most)
    if not len(words):
        raise StudyError("no predicted word is left to rate", where=target, hint="use --all to rate all words again")
    names = dict(zip(("low", "high"), ends_of(results[0].signature), strict=True))
    questions = []
    for id_, text, word, whole in words.select("sentence", "text", "word", "filled").iter_rows():
        start = unicodedata.normalize("NFC", text[: text.index(GAP)])
        span = (len(start), len(start) + len(word))
        shown = unicodedata.normalize("NFC", whole)
        questions.append(Question({"sentence": id_, "text": text, "word": word}, shown, span))
    return RatingTask(
        f"Words between {names['low']} and {names['high']}",
        "scale",
        wishes.question or "Which variety is the marked word typical of, in this sentence?",
        tuple(questions),
        tuple(Point(value, name.format(**names)) for value, name in zip(POINTS, _NAMES, strict=True)),
        language=results[0].signature.get("language", "und"),
        instructions=_GUIDE,
    )


def not_to_rate(results: Sequence[Result]) -> int:
    """Return the number of distinct (sentence, prediction) pairs that cannot be rated: word pieces and punctuation."""
    return len(
        {
            (id_, unicodedata.normalize("NFC", word))
            for result in results
            for id_, words, sources in result.items.select("id", "words", "sources").iter_rows()
            for word, source in zip(words, sources, strict=True)
            if not _can_be_rated(word, source)
        }
    )


def nothing_to_rate(results: Sequence[Result]) -> Iterator[str]:
    """Yield notes on sentences for which a model predicts no word that can be rated."""
    without: dict[str, list[str]] = {}
    for result in results:
        for id_, words, sources in result.items.select("id", "words", "sources").iter_rows():
            if not any(map(_can_be_rated, words, sources)):
                without.setdefault(id_, []).append(result.signature["model"])
    for id_, models in without.items():
        whose = "" if len(models) == len(results) else f" among the predictions of {listed(models)}"
        yield f"{id_} has no word to rate{whose}: reword it, or it is left out of the means"


@dataclass(frozen=True, slots=True)
class MergedRatings:
    """All ratings after an import, with sheets, notes, and counts of new, known and replaced ratings and empty rows."""

    ratings: tuple[Rating, ...]
    new: int
    known: int
    replaced: int
    empty: int
    sheets: tuple[Sheet, ...] = ()
    notes: tuple[str, ...] = ()


def merge(
    results: Sequence[Result],
    files: Iterable[str | Path],
    into: str | Path,
    *,
    rater: str | None = None,
    replace: bool = False,
    columns: Columns = AS_NAMED,
) -> MergedRatings:
    """Check returned ratings and merge them with those in `into`, if it exists, without writing anything.

    The rater is named in the row, else by `rater`, else by the file name. `columns` maps fields to other column names,
    several for `rating` if each rater has a column. Raises DataError, with all errors in its notes, for a value off the
    scale, an unknown or changed sentence, a word that is not in its filled sentence, rater names that look the same, a
    word rated twice by one rater, a rating that contradicts an earlier one (unless `replace` is true), or
    sheets without ratings. Raises OutputError if `into` is one of the files or not a table of ratings.
    """
    sheets_of = [Path(file) for file in files]
    texts = {id_: text for result in results for id_, text in result.items.select("id", "text").iter_rows()}
    _check_rater(rater, columns)
    target = Path(into)
    refuse_inputs(target, sheets_of)
    refuse_other(target, TABLE, is_ratings_table)
    before = read_ratings([target], texts) if target.exists() and target.stat().st_size else []
    merged = {(r.sentence, r.word, r.rater): r for r in before}
    counts = dict.fromkeys(("new", "known", "replaced"), 0)
    sheets, errors = read_sheets(sheets_of, texts, rater, columns)
    errors += [*alike(sheets, before), *([] if errors else foreign(sheets, predicted_words(results)))]
    for sheet in sheets:
        for line, rating in sheet.ratings:
            key = (rating.sentence, rating.word, rating.rater)
            earlier = merged.get(key)
            if earlier and earlier.value != rating.value and not replace:
                told = f"{rating.rater} rated '{rating.word}' in sentence {rating.sentence}"
                message = f"contradicts an earlier rating: {told} as {earlier.value:g} before"
                hint = f"see {earlier.place}; use --replace to keep the new rating"
                errors.append(DataError(message, file=sheet.file, line=line, hint=hint))
            counts["new" if not earlier else "known" if earlier.value == rating.value else "replaced"] += 1
            merged[key] = rating
    if errors:
        raise together(sorted(errors, key=lambda e: (sheets_of.index(Path(str(e.file))), e.line or 0)))
    require_any(sheets)
    order = {id_: i for i, id_ in enumerate(texts)}
    ratings = tuple(sorted(merged.values(), key=lambda r: (order[r.sentence], r.word, r.rater)))
    empty, remarks = sum(sheet.empty for sheet in sheets), tuple(notes(sheets, results, ratings))
    return MergedRatings(ratings, **counts, empty=empty, sheets=tuple(sheets), notes=remarks)


def _check_rater(rater: str | None, columns: Columns) -> None:
    if rater is not None and not rater.strip():
        raise DataError("the name of the rater is blank", where="--rater", hint="name the rater")
    if rater is not None and len(rating_columns(columns)) > 1:
        raise DataError(
            "with several columns of ratings, the columns name the raters", where="--rater", hint="leave out --rater"
        )


def write_ratings(ratings: Iterable[Rating], path: str | Path) -> None:
    """Write a table of ratings atomically. Raises OutputError if that fails or `path` is another kind of file."""
    refuse_other(path, TABLE, is_ratings_table)
    rows = [(r.sentence, r.text, r.word, r.rater, f"{r.value:g}") for r in ratings]
    table = pl.DataFrame(rows, schema=dict.fromkeys((COLUMNS[0], TEXT, *COLUMNS[1:]), pl.String), orient="row")
    if table[TEXT].null_count() == len(table):
        table = table.drop(TEXT)
    write_text(for_spreadsheets(table).write_csv(), path)


def is_ratings_table(path: Path) -> bool:
    """Return whether a file is a CSV table with exactly the columns of `write_ratings`."""
    try:
        return sorted(name for name in columns_of(path) or () if name != TEXT) == sorted(COLUMNS)
    except DataError:
        return False


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement over all ratings (`alpha`, `raw`), with a table of `raters` and the `disputed` words.

    `raters` has the number of words that a rater rated (`rated`) and that others also rated (`with others`), the mean
    absolute and signed distance to the mean of the others (`from others`, `side`), and the correlation with that mean
    (`ρ with others`). `notes` are about raters.
    """

    alpha: Estimate
    raw: Estimate
    raters: pl.DataFrame
    disputed: pl.DataFrame
    notes: tuple[str, ...] = ()


def agreement(
    ratings: Sequence[Rating], *, least: float = 1.0, seed: int = 0, resamples: int = 1000, level: float = 0.95
) -> Agreement:
    """Compute Krippendorff's ordinal α, raw agreement and the disputed words.

    The ratings of a disputed word differ by `least` or more. Raises DataError for fewer than two raters.
    """
    units = units_of(ratings)
    raters = sorted({rating.rater for rating in ratings})
    if len(raters) < 2:
        raise DataError(
            f"agreement needs two raters, found {'one' if raters else 'none'}",
            hint="import the ratings of another rater",
        )
    counts = counts_of(units.values())
    alpha = krippendorff_alpha(counts, domain=POINTS, seed=seed, resamples=resamples, level=level)
    said = list(units.values())
    correlations = each_with_others(said)
    kinds_of_rater = {"from others": pl.Float64, "side": pl.Float64, RHO: pl.Float64}
    table = pl.DataFrame(
        [_of_rater(rater, said) | {RHO: _or_none(correlations[rater].value)} for rater in raters],
        schema_overrides=kinds_of_rater,
    )
    few = newcomers(Counter(rater for by_rater in said for rater in by_rater), len(said), "words")
    rows = [
        {
            "sentence": sentence,
            "word": word,
            "apart": max(by_rater.values()) - min(by_rater.values()),
            "ratings": ", ".join(f"{rater} {value:g}" for rater, value in sorted(by_rater.items())),
        }
        for (sentence, word), by_rater in units.items()
    ]
    kinds = {"sentence": pl.String, "word": pl.String, "apart": pl.Float64, "ratings": pl.String}
    disputed = (
        pl.DataFrame(rows, schema=kinds)
        .filter(pl.col("apart") >= least)
        .sort("apart", descending=True, maintain_order=True)
    )
    raw = raw_agreement(counts, level=level, noun="words")
    against = opposed({rater: correlations[rater] for rater in raters}, "words")
    slips = slips_in_tables(ratings, units)
    return Agreement(alpha, raw, table, disputed, (*against, *slips, *filter(None, [few])))


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _of_rater(rater: str, units: Iterable[Mapping[str, float]]) -> dict[str, object]:
    rated = [by_rater for by_rater in units if rater in by_rater]
    gaps = [
        by_rater[rater] - (sum(by_rater.values()) - by_rater[rater]) / (len(by_rater) - 1)
        for by_rater in rated
        if len(by_rater) > 1
    ]
    from_others, side = (float(np.mean(values)) if gaps else None for values in (np.abs(gaps), gaps))
    return {"rater": rater, "rated": len(rated), "with others": len(gaps), "from others": from_others, "side": side}

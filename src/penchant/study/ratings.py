"""From predictions to human ratings and back: what to rate, what came back, and how far the raters agree.

penchant run study.yaml -o first           predictions, many of them unrated
penchant ratings export first -o rate.csv  one row for each unrated word in its sentence
(each rater fills the column `rating` of a copy)
penchant ratings import first anna.csv ben.csv --into ratings.csv
penchant ratings agreement ratings.csv
penchant run study.yaml -o second          with ratings: ratings.csv in the study; no forward pass
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from penchant.data.cloze import POINTS, Rating, ReturnedRow, read_ratings, require_sentence
from penchant.data.tables import read_models
from penchant.errors import DataError, StudyError
from penchant.files import write_text
from penchant.probes.cloze import filled
from penchant.probes.valences import UNRATED
from penchant.records import Estimate, Result
from penchant.stats.agreement import krippendorff_alpha

ESTIMATES = ("lexicon", "set lexicon", "corpora")
COLUMNS = ("sentence", "word", "rater", "rating")


def cloze_results(directory: str | Path) -> list[Result]:
    """The cloze results in the directory of a study, or of one of its probes. Raises StudyError when there are none,
    or when they are about different test sets."""
    folder = Path(directory)
    places = [place.parent for depth in ("*", "*/*") for place in sorted(folder.glob(f"{depth}/signature.txt"))]
    found = [(place, Result.load(place)) for place in places]
    cloze = [(place, result) for place, result in found if result.signature["probe"] == "cloze"]
    results = [result for _, result in cloze]
    if not results:
        raise StudyError("holds no cloze result", where=str(folder), hint="name the directory penchant run wrote")
    if len({result.signature["data"] for result in results}) > 1:
        names = ", ".join(dict.fromkeys(str(place.parent) for place, _ in cloze))
        raise StudyError("holds results on different test sets", where=str(folder), hint=f"name one of {names}")
    return results


def unrated(results: Sequence[Result], *, estimated: bool = False) -> pl.DataFrame:
    """One row for each word in a sentence that a model predicts and nobody rates, pieces of words apart: sentence,
    text, word, filled, probability (the highest any model gives it, to four digits), rater, rating (both empty). Which
    models predict a word is left out on purpose, so that no rater judges the model.

    With `estimated`, also the words that a lexicon or two corpora rate, but no person in that sentence.
    """
    wanted = {UNRATED, *(ESTIMATES if estimated else ())}
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for result in results:
        for id_, text, words, probs, sources in result.items.select(
            "id", "text", "words", "probs", "sources"
        ).iter_rows():
            for spelled, p, source in zip(words, probs, sources, strict=True):
                if source not in wanted:
                    continue
                word = unicodedata.normalize("NFC", spelled)  # as ratings are read
                row = best.setdefault(
                    (id_, word),
                    {
                        "sentence": id_,
                        "text": text,
                        "word": word,
                        "filled": filled(text, word),
                        "probability": 0.0,
                        "rater": "",
                        "rating": "",
                    },
                )
                row["probability"] = max(float(f"{p:.4g}"), row["probability"])
    order = {id_: i for i, id_ in enumerate(results[0].items["id"].to_list())}
    rows = sorted(best.values(), key=lambda row: (order[row["sentence"]], -row["probability"]))
    columns = ("sentence", "text", "word", "filled", "probability", "rater", "rating")
    kinds = {name: pl.Float64 if name == "probability" else pl.String for name in columns}
    return pl.DataFrame(rows, schema=kinds)


@dataclass(frozen=True, slots=True)
class Merged:
    """What an import did: ratings that are new, that were there, that replaced another, and rows left empty."""

    ratings: tuple[Rating, ...]
    new: int
    known: int
    replaced: int
    empty: int


def merge(
    results: Sequence[Result],
    files: Iterable[str | Path],
    into: str | Path,
    *,
    rater: str | None = None,
    replace: bool = False,
) -> Merged:
    """Check what raters returned and merge it with the ratings in `into`, which need not exist yet; nothing is written.

    The rater is named by the row, else by `rater`, else by the file's name. Raises DataError naming file and line for
    a value off the scale, an unknown sentence, a sentence whose text was changed, a word rated twice by one rater, or
    a rating that contradicts an earlier one of the same rater (unless `replace`).
    """
    texts = {id_: text for result in results for id_, text in result.items.select("id", "text").iter_rows()}
    if rater is not None and not rater.strip():
        raise DataError("the name of the rater is blank", where="--rater", hint="say who rated")
    target = Path(into)
    before = read_ratings([target], texts) if target.exists() else []
    merged = {(r.sentence, r.word, r.rater): r for r in before}
    returned: dict[tuple[str, str, str], str] = {}
    counts = dict.fromkeys(("new", "known", "replaced", "empty"), 0)
    for file in map(Path, files):
        for line, row in read_models(file, ReturnedRow):
            place = f"{file}, line {line}"
            require_sentence(row.sentence, texts, file, line)
            if row.text is not None and row.text != texts[row.sentence]:
                raise DataError(
                    f"this is not the text of sentence {row.sentence}",
                    file=file,
                    line=line,
                    field="text",
                    hint="rate the sentences as they were exported",
                )
            if row.rating is None:
                counts["empty"] += 1
                continue
            who = unicodedata.normalize("NFC", row.rater or rater or file.stem).strip()
            key = (row.sentence, row.word, who)
            if key in returned:
                raise DataError(
                    f"{who} rates '{row.word}' in sentence {row.sentence} a second time",
                    file=file,
                    line=line,
                    hint=f"the first is in {returned[key]}",
                )
            returned[key] = place
            earlier = merged.get(key)
            if earlier and earlier.value != row.rating and not replace:
                raise DataError(
                    f"{who} rated '{row.word}' in sentence {row.sentence} {earlier.value:g} before",
                    file=file,
                    line=line,
                    hint=f"see {earlier.place}; --replace takes the new one",
                )
            counts["new" if not earlier else "known" if earlier.value == row.rating else "replaced"] += 1
            merged[key] = Rating(*key, row.rating, place)
    order = {id_: i for i, id_ in enumerate(texts)}
    ratings = sorted(merged.values(), key=lambda r: (order[r.sentence], r.word, r.rater))
    return Merged(tuple(ratings), **counts)


def write_ratings(ratings: Iterable[Rating], path: str | Path) -> None:
    """Write a table of ratings, whole or not at all. Raises OutputError."""
    rows = [(r.sentence, r.word, r.rater, f"{r.value:g}") for r in ratings]
    write_text(pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row").write_csv(), path)


@dataclass(frozen=True, slots=True)
class Agreement:
    """`alpha` over all ratings, `raters` with how many words each rated, `disputed` the words they differ on."""

    alpha: Estimate
    raters: pl.DataFrame
    disputed: pl.DataFrame


def agreement(
    ratings: Sequence[Rating], *, least: float = 1.0, seed: int = 0, resamples: int = 1000, level: float = 0.95
) -> Agreement:
    """How far raters agree: Krippendorff's ordinal α, and the words whose ratings lie at least `least` apart.

    Raises DataError when there is nothing to compare.
    """
    units: dict[tuple[str, str], dict[str, float]] = {}
    for rating in ratings:
        units.setdefault((rating.sentence, rating.word), {})[rating.rater] = rating.value
    raters = sorted({rating.rater for rating in ratings})
    if len(raters) < 2:
        raise DataError(
            f"{'one rater' if raters else 'no ratings'}: agreement needs two", hint="import the ratings of another"
        )
    counts = np.zeros((len(units), len(POINTS)), dtype=np.int64)
    for i, found in enumerate(units.values()):
        for value in found.values():
            counts[i, POINTS.index(value)] += 1
    alpha = krippendorff_alpha(counts, domain=POINTS, seed=seed, resamples=resamples, level=level)
    shares = [sum(rater in found for found in units.values()) for rater in raters]
    rows = [
        {
            "sentence": sentence,
            "word": word,
            "apart": max(found.values()) - min(found.values()),
            "ratings": ", ".join(f"{rater} {value:g}" for rater, value in sorted(found.items())),
        }
        for (sentence, word), found in units.items()
    ]
    kinds = {"sentence": pl.String, "word": pl.String, "apart": pl.Float64, "ratings": pl.String}
    disputed = (
        pl.DataFrame(rows, schema=kinds)
        .filter(pl.col("apart") >= least)
        .sort("apart", descending=True, maintain_order=True)
    )
    return Agreement(alpha, pl.DataFrame({"rater": raters, "rated": shares}), disputed)

"""Tables of occurrences written by `extraction.extract`: lookup, and counts by word, form and sentence length."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl

from penchant.corpus.block_search import LONGEST
from penchant.corpus.nfc import normalise
from penchant.corpus.occurrence_columns import KEY
from penchant.errors import DataError, MethodError, one_of
from penchant.plurals import counted, first_of, for_one, of_all
from penchant.text_io import require_file

By = Literal["word", "form", "segment"]
_MOST_NAMED = 10


def read_record(path: str | Path) -> dict[str, Any]:
    """Return the extraction metadata of a table. Raises DataError if the file was not written by an extraction."""
    file = Path(path)
    require_file(file)
    try:
        metadata = pl.read_parquet_metadata(file).get(KEY)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError("is not a Parquet file", file=file, hint="create one with penchant corpus extract") from error
    if metadata is None:
        raise DataError("was not written by penchant corpus extract", file=file)
    record: dict[str, Any] = json.loads(metadata)
    return record


def short(record: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return (word, segment, number of occurrences kept) wherever this number is below the minimum."""
    minimum = record["recipe"]["minimum"]
    return [(cell["word"], cell["segment"], cell["kept"]) for cell in record["cells"] if cell["kept"] < minimum]


def notes(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes on the counts: unreadable records, sentences that were too long, and words below the minimum."""
    recipe, tally = record["recipe"], record["tally"]
    if tally["skipped"]:
        were = for_one(tally["skipped"], "were")
        yield f"{tally['skipped']:,} of {counted(tally['records'], 'records')} could not be read and {were} left out"
    if tally["too_long"]:
        lost = f"{counted(tally['too_long'], 'sentences')} with stimuli {for_one(tally['too_long'], 'are')} left out"
        yield f"{lost}: outside all segments, or longer than {LONGEST:,} characters"
    used_up = [c for c in record["cells"] if not c["exact"] and c["kept"] < recipe["per_word"]]
    if used_up:
        yield (
            f"fewer than {recipe['per_word']:,} occurrences of {counted(len({c['word'] for c in used_up}), 'stimuli')} "
            "were kept, because many sampled sentences were near duplicates; increase per_word to keep more"
        )
    lacking = list(dict.fromkeys(word for word, _, _ in short(record)))
    if lacking:
        where = "" if len(recipe["segments"]) == 1 else " in some segment"
        yield (
            f"{of_all(len(lacking), len(recipe['forms']), 'stimuli', 'have')} fewer than "
            f"{counted(recipe['minimum'], 'occurrences')}{where}: {first_of(lacking, _MOST_NAMED)}"
        )


def find(path: str | Path, word: str, form: str | None = None) -> pl.DataFrame:
    """Return the kept occurrences of a word or of one of its forms. Raises DataError for an unknown word."""
    record = read_record(path)
    normalised = normalise(word)
    if normalised not in record["recipe"]["forms"]:
        similar = difflib.get_close_matches(normalised, record["recipe"]["forms"], n=3)
        owners = [owner for owner, forms in record["recipe"]["forms"].items() if normalised in forms]
        likely = ", ".join(owners or similar)
        raise DataError(
            f"'{word}' was not searched for",
            file=path,
            hint=f"did you mean {likely}?" if likely else "list the words with penchant corpus stats",
        )
    occurrences = pl.scan_parquet(path, glob=False).filter(pl.col("word") == normalised)
    matched = pl.col("matched").str.normalize("NFC")
    return (occurrences if form is None else occurrences.filter(matched == normalise(form))).collect()


def counts(record: Mapping[str, Any], by: By) -> pl.DataFrame:
    """Return the counts of occurrences by word, form or segment.

    `occurrences` is the number of occurrences in the corpus; forms that never occur have 0. Tables by word and by
    segment also have `distinct`, the number of distinct occurrences (an estimate if `distinct_estimated` is true),
    `near_duplicates`, the number of near duplicates dropped, and `kept`, the number of occurrences kept. `short` is,
    by word, a list of the segments with fewer kept occurrences than the minimum and, by segment, the number of words
    with fewer.
    Raises MethodError for any other value of `by`.
    """
    if by == "form":
        return _forms(record)
    if by not in ("word", "segment"):
        raise MethodError(f"occurrences cannot be counted by '{by}'", hint=one_of(by, ("word", "form", "segment")))
    cells = pl.DataFrame(record["cells"], infer_schema_length=None)
    few = pl.col("kept") < record["recipe"]["minimum"]
    label = pl.format("{} ({})", pl.col("segment" if by == "word" else "word"), pl.col("kept"))
    return cells.group_by(by, maintain_order=True).agg(
        pl.col("occurrences").sum(),
        pl.col("distinct").sum(),
        distinct_estimated=~pl.col("exact").all(),
        near_duplicates=pl.col("near").sum(),
        kept=pl.col("kept").sum(),
        **({"words": (pl.col("kept") > 0).sum()} if by == "segment" else {}),
        short=few.sum() if by == "segment" else label.filter(few).str.join(", "),
    )


def _forms(record: Mapping[str, Any]) -> pl.DataFrame:
    names = [cell["segment"] for cell in record["cells"]]
    segments = list(dict.fromkeys(names))
    by_form: dict[tuple[str, str], dict[str, int]] = {}
    for word, forms in record["recipe"]["forms"].items():
        for form in forms:
            by_form[word, form] = dict.fromkeys(segments, 0)
    for word, form, segment, n in record["tally"]["forms"]:
        by_form.setdefault((word, form), dict.fromkeys(segments, 0))[segment] += n
    rows = [
        {
            "word": word,
            "form": form,
            "occurrences": sum(by_segment.values()),
            **(by_segment if len(segments) > 1 else {}),
        }
        for (word, form), by_segment in by_form.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None)

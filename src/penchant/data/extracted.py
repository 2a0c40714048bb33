"""Tables of occurrences as `extraction.extract` writes them, read back: counts by word, form and length of sentence."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl

from penchant.data.finding import LONGEST
from penchant.data.normalisation import normalise
from penchant.data.occurrences import KEY
from penchant.errors import DataError, MethodError

By = Literal["word", "form", "segment"]
_NAMED = 10


def read_record(path: str | Path) -> dict[str, Any]:
    """The record of an extraction. Raises DataError where the file is no table of one."""
    file = Path(path)
    try:
        told = pl.read_parquet_metadata(file).get(KEY)
    except (OSError, pl.exceptions.PolarsError) as error:
        what = "no such file" if not file.exists() else "is no Parquet file"
        raise DataError(what, file=file, hint="penchant corpus extract makes one") from error
    if told is None:
        raise DataError("is not from penchant corpus extract", file=file)
    record: dict[str, Any] = json.loads(told)
    return record


def short(record: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Word, segment and number of the occurrences of all that fall short of the minimum."""
    minimum = record["recipe"]["minimum"]
    return [(own["word"], own["segment"], own["kept"]) for own in record["cells"] if own["kept"] < minimum]


def notes(record: Mapping[str, Any]) -> Iterator[str]:
    """What must be known of the numbers: what falls short, what was not read, where sentences were too long."""
    recipe, tally = record["recipe"], record["tally"]
    if tally["skipped"]:
        yield f"{tally['skipped']:,} of {tally['records']:,} records could not be read and were left out"
    if tally["too_long"]:
        yield f"{tally['too_long']:,} sentences with stimuli are too long (for the segments, or {LONGEST:,} characters)"
    used_up = [own for own in record["cells"] if not own["exact"] and own["kept"] < recipe["per_word"]]
    if used_up:
        yield (
            f"of {len({own['word'] for own in used_up})} stimuli fewer than {recipe['per_word']:,} were kept, for too "
            "many nearly equal sentences were drawn; to keep more, ask for more"
        )
    lacking = list(dict.fromkeys(word for word, _, _ in short(record)))
    if lacking:
        where = "" if len(recipe["segments"]) == 1 else " in some segment"
        more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
        yield (
            f"{len(lacking)} of {len(recipe['forms'])} stimuli have fewer than {recipe['minimum']:,} "
            f"occurrence{'s' * (recipe['minimum'] != 1)}{where}: {', '.join(lacking[:_NAMED])}{more}"
        )


def find(path: str | Path, word: str, form: str | None = None) -> pl.DataFrame:
    """The occurrences kept of a word, or of one form of it. Raises DataError where it was not looked for."""
    record = read_record(path)
    wanted = normalise(word)
    if wanted not in record["recipe"]["forms"]:
        near = difflib.get_close_matches(wanted, record["recipe"]["forms"], n=3)
        owners = [own for own, forms in record["recipe"]["forms"].items() if wanted in forms]
        likely = ", ".join(owners or near)
        raise DataError(
            f"'{word}' was not looked for", file=path, hint=f"did you mean {likely}?" if likely else "see corpus stats"
        )
    found = pl.scan_parquet(path, glob=False).filter(pl.col("word") == wanted)
    return (found if form is None else found.filter(pl.col("matched") == normalise(form))).collect()


def counts(record: Mapping[str, Any], by: By) -> pl.DataFrame:
    """What was found, by word, by form of a word, or by segment.

    `occurrences` are all in the corpus. Of words and segments also: how many differ (`distinct`; `distinct_estimated`
    where it is an estimate from the sample), how many nearly equal ones were left out, how many were kept, and what
    falls short of the minimum: by word the segments, by segment how many words. Forms that never occur stand with 0.
    Raises MethodError.
    """
    if by == "form":
        return _forms(record)
    if by not in ("word", "segment"):
        raise MethodError(f"there are no counts by '{by}'", hint="use word, form or segment")
    cells = pl.DataFrame(record["cells"], infer_schema_length=None)
    few = pl.col("kept") < record["recipe"]["minimum"]
    other = pl.format("{} ({})", pl.col("segment" if by == "word" else "word"), pl.col("kept"))
    return cells.group_by(by, maintain_order=True).agg(
        pl.col("occurrences").sum(),
        pl.col("distinct").sum(),
        distinct_estimated=~pl.col("exact").all(),
        near_duplicates=pl.col("near").sum(),
        kept=pl.col("kept").sum(),
        **({"words": (pl.col("kept") > 0).sum()} if by == "segment" else {}),
        short=few.sum() if by == "segment" else other.filter(few).str.join(", "),
    )


def _forms(record: Mapping[str, Any]) -> pl.DataFrame:
    names = [own["segment"] for own in record["cells"]]
    segments = list(dict.fromkeys(names))
    found: dict[tuple[str, str], dict[str, int]] = {}
    for word, forms in record["recipe"]["forms"].items():
        for form in forms:
            found[word, form] = dict.fromkeys(segments, 0)
    for word, form, segment, n in record["tally"]["forms"]:
        found.setdefault((word, form), dict.fromkeys(segments, 0))[segment] += n
    rows = [
        {"word": word, "form": form, "occurrences": sum(own.values()), **(own if len(segments) > 1 else {})}
        for (word, form), own in found.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None)

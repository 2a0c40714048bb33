"""The sentences the benchmarks score: CrowS-Pairs (CSV) and BLiMP (JSONL) as they are published."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

Pair = tuple[str, str]
T = TypeVar("T")


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of one file: CrowS-Pairs (sent_more, sent_less) or BLiMP (sentence_good, sentence_bad)."""
    with path.open(encoding="utf-8", newline="") as stream:
        if path.suffix == ".csv":
            return [(row["sent_more"], row["sent_less"]) for row in csv.DictReader(stream)]
        rows = (json.loads(line) for line in stream if line.strip())
        return [(row["sentence_good"], row["sentence_bad"]) for row in rows]


def crows_pairs(data: Path, sentences: int) -> list[str]:
    """Return about that many sentences: whole pairs, evenly spaced over the file (its topics stand in blocks)."""
    (file,) = sorted((data / "crows_pairs").glob("*.csv"))
    return both(spread(read_pairs(file), max(1, sentences // 2)))


def blimp(data: Path, sentences: int) -> list[str]:
    """Return about that many sentences: the same number of pairs, at least one, from the start of every paradigm."""
    files = sorted((data / "blimp").glob("*.jsonl"))
    each = max(1, sentences // (2 * len(files)))
    return both([pair for file in files for pair in read_pairs(file)[:each]])


def spread(items: Sequence[T], wanted: int) -> list[T]:
    """Return `wanted` of the items, evenly spaced and in order (all of them if there are fewer)."""
    wanted = min(wanted, len(items))
    return [items[i * len(items) // wanted] for i in range(wanted)]


def both(pairs: Sequence[Pair]) -> list[str]:
    """Return the sentences of the pairs, one after the other."""
    return [text for pair in pairs for text in pair]

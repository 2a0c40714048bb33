"""Decoding of text blocks into lines, and segmentation of lines into sentences."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from penchant.corpus.block_reader import Reader
from penchant.corpus.nfc import normalise
from penchant.corpus.text_files import Block, Kind, Layout, TextFile
from penchant.errors import DataError, missing_package
from penchant.text_io import guessed_encoding, not_utf8


class Units(NamedTuple):
    """Lines of a block: `text` in NFC, and `written` as in the file (the same object if the file is in NFC).

    `numbers[i]` is the 1-based number of the record that contains line i. `records` counts the records in the block,
    `skipped` those that are unreadable; `bad` is the number of the first unreadable record, or 0 if there is none.
    """

    text: str
    written: str
    numbers: Sequence[int]
    records: int
    skipped: int
    bad: int


def units(block: Block, kind: Kind, *, layout: Layout, field: str) -> Units:
    """Return the lines of a block, each of them a whole paragraph if the layout is "wrapped".

    In a block of JSON lines, only the text in `field` is used.
    """
    if isinstance(block.data, bytes) and kind == "text":
        text, bad = _decoded(block.data)
        records = block.newlines + (block.data[-1:] not in (b"", b"\n"))
        if layout == "wrapped":
            paragraphs = list(_paragraphs(text))
            text = "\n".join(paragraph for _, paragraph in paragraphs)
            numbers: Sequence[int] = [block.first + number for number, _ in paragraphs]
        else:
            numbers = range(block.first, block.first + block.newlines + 1)
    else:
        texts = list(_json(block.data, field) if isinstance(block.data, bytes) else enumerate(block.data))
        records = len(texts)
        bad = [number for number, record in texts if record is None]
        parts = [
            (block.first + number, part)
            for number, record in texts
            if record
            for part in (
                (paragraph for _, paragraph in _paragraphs(record)) if layout == "wrapped" else record.split("\n")
            )
        ]
        text, numbers = "\n".join(part for _, part in parts), [number for number, _ in parts]
    return Units(normalise(text), text, numbers, records, len(bad), block.first + bad[0] if bad else 0)


def refuse_unreadable(first: int, bad: int, skipped: int, records: int, file: TextFile, field: str) -> None:
    """Raise DataError if a plain text file's first line, or the whole first block of a JSON lines file, is unreadable.

    `first` is the number of the block's first record, and `bad` the number of its first unreadable record. Later
    unreadable records are only counted.
    """
    nothing = file.kind == "jsonl" and skipped == records
    if first != 1 or not skipped or not (nothing or (file.kind == "text" and bad == 1)):
        return
    start = next(Reader(file, 0, layout="paragraphs", field=field).blocks()).data
    if isinstance(start, bytes) and (file.kind == "text" or guessed_encoding(start)):
        raise not_utf8(start, file.place)
    raise DataError(
        f"has no text field '{field}'", file=file.place, line=1, hint="give the name of the text field with --field"
    )


def _decoded(data: bytes) -> tuple[str, list[int]]:
    """Return the decoded text, with lines that are not valid UTF-8 made empty, and the indices of those lines."""
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        lines = [_utf8(line) for line in data.split(b"\n")]
        return "\n".join(line or "" for line in lines), [n for n, line in enumerate(lines) if line is None]


def _utf8(line: bytes) -> str | None:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield (index of the first line, joined lines) for each paragraph; blank lines separate paragraphs."""
    lines = enumerate(text.split("\n"))
    for blank, group in itertools.groupby(lines, key=lambda line: not line[1].strip()):
        if not blank:
            paragraph = list(group)
            yield paragraph[0][0], " ".join(line.strip() for _, line in paragraph)


def _json(data: bytes, field: str) -> Iterator[tuple[int, str | None]]:
    """Yield (index, text) for each nonblank JSON line; the text is None if it is missing or invalid."""
    for number, line in enumerate(data.split(b"\n")):
        if not line.strip():
            continue
        try:
            text = json.loads(line)[field]
            text.encode("utf-8")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            text = None
        yield number, text


def divider(language: str, layout: Layout) -> Callable[[str], list[str]]:
    """Return a function that splits a line into sentences and keeps the white space between them.

    `language` is a BCP 47 tag. The package sentencex has rules for the sentence-final punctuation and abbreviations of
    some sixty languages, and falls back to a related language or to English for others. Lines are not split if the
    layout is "sentences". Raises MethodError if the package is missing.
    """
    if layout == "sentences":
        return lambda line: [line]
    try:
        from sentencex import segment
    except ImportError as error:
        raise missing_package("sentencex", "corpus") from error
    return partial(segment, language.split("-")[0].lower())


def splitter(language: str, layout: Layout) -> Callable[[str], list[str]]:
    """Return a function that splits a line into sentences without surrounding white space (see `divider`)."""
    if layout == "sentences":
        return lambda line: [line.strip()]
    divide = divider(language, layout)
    return lambda line: [stripped for piece in divide(line) if (stripped := piece.strip())]

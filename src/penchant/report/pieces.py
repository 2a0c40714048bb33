"""Token strings made readable."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

SPACE = "▁"
"""Stands for a space before a piece, as SentencePiece writes it."""


def _alphabet() -> dict[str, int]:
    """The character that byte-level BPE (Radford et al. 2019) writes for every byte: printable Latin-1 as itself, the
    rest in order from U+0100 on."""
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    printable = {chr(byte): byte for byte in itself}
    others = (byte for byte in range(256) if byte not in itself)
    return printable | {chr(0x100 + i): byte for i, byte in enumerate(others)}


_BYTES = _alphabet()
_SAMPLE = 100
"""Texts that are examined to recognise a byte-level tokenizer."""


def readable(pieces: pl.Series, texts: pl.Series) -> pl.Series:
    """Make lists of tokens readable.

    Byte-level tokens become the characters they stand for (`‹E0 A6›` where a token ends inside a character); all others
    are kept. `texts` are the texts that were tokenized.
    """
    entries = pieces.explode().drop_nulls().unique()
    sample = zip(pieces.head(_SAMPLE).to_list(), texts.head(_SAMPLE).to_list(), strict=True)
    if not all(char in _BYTES for entry in entries for char in entry) or not all(_spelled(*row) for row in sample):
        return pieces
    legible = {entry: _shown(_encoded(entry)) for entry in entries}
    return pieces.list.eval(pl.element().replace_strict(legible, return_dtype=pl.String))


def _spelled(tokens: Sequence[str], text: str) -> bool:
    """Whether byte-level tokens spell a text."""
    return b"".join(map(_encoded, tokens)).decode("utf-8", "replace").strip() == text.strip()


def _encoded(token: str) -> bytes:
    return bytes(_BYTES[char] for char in token)


def _shown(raw: bytes) -> str:
    """The characters of some bytes, with ▁ for a space; incomplete characters as hexadecimal bytes."""
    text = ""
    rest = raw
    while rest:
        try:
            return text + rest.decode("utf-8").replace(" ", SPACE)
        except UnicodeDecodeError as error:
            bad = rest[error.start : error.end]
            text += rest[: error.start].decode("utf-8").replace(" ", SPACE) + f"‹{bad.hex(' ').upper()}›"
            rest = rest[error.end :]
    return text

"""Conversion of token strings to readable text."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

import polars as pl

SPACE = "▁"
"""The character that SentencePiece writes for a space before a token."""


def _alphabet() -> dict[str, int]:
    """Map each character of byte-level BPE to the byte that it represents (Radford et al. 2019).

    Printable Latin-1 characters represent themselves; the other bytes, in ascending order, are represented
    by the characters from U+0100 on.
    """
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    printable = {chr(byte): byte for byte in itself}
    others = (byte for byte in range(256) if byte not in itself)
    return printable | {chr(0x100 + i): byte for i, byte in enumerate(others)}


_BYTES = _alphabet()
_SAMPLE = 100
"""The number of texts examined to detect a byte-level tokenizer."""


def readable(pieces: pl.Series, texts: pl.Series) -> pl.Series:
    """Decode byte-level tokens to text, and return tokens of other tokenizers unchanged.

    `pieces` contains a list of tokens for each of the tokenized `texts`. Bytes of an incomplete character are written
    as `‹E0 A6›`.
    """
    entries = pieces.explode().drop_nulls().unique()
    sample = zip(pieces.head(_SAMPLE).to_list(), texts.head(_SAMPLE).to_list(), strict=True)
    if not all(char in _BYTES for entry in entries for char in entry) or not all(_spelled(*row) for row in sample):
        return pieces
    space = SPACE.encode()
    legible = {entry: _encoded(entry).replace(b" ", space).decode("utf-8", "hexadecimal") for entry in entries}
    return pieces.list.eval(pl.element().replace_strict(legible, return_dtype=pl.String))


def _spelled(tokens: Sequence[str], text: str) -> bool:
    return b"".join(map(_encoded, tokens)).decode("utf-8", "replace").strip() == text.strip()


def _encoded(token: str) -> bytes:
    return bytes(_BYTES[char] for char in token)


def _in_hexadecimal(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return f"‹{error.object[error.start : error.end].hex(' ').upper()}›", error.end


codecs.register_error("hexadecimal", _in_hexadecimal)

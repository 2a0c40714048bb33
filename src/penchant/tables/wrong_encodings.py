"""Detection of text that was decoded with a wrong encoding."""

from __future__ import annotations

import re

_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_CODED = {"cp1252": "ÃÂâÄÅ", "cp1250": "ĂÂâÄĹ", "cp1251": ""}
"""Encodings with which UTF-8 is often misread, and the first letters of characters garbled in this way."""
_CLOSES = "’”“‘…–—›»‹«‚„"
_DAMAGED = re.compile("\ufffd|â€|(?<![^\\W\\d_])ï»¿")


def misread(text: str) -> bool:
    """Return True if a text contains UTF-8 that was decoded with another encoding, or a replacement character."""
    if text.isascii():
        return False
    return bool(_DAMAGED.search(text)) or any(_decodes(run) for run in _FOREIGN.findall(text))


def _decodes(run: str) -> bool:
    """Return True if a run of non-ASCII characters becomes valid UTF-8 when encoded in a legacy encoding."""
    if len(run) < 2:
        return False
    for name, beginnings in _CODED.items():
        try:
            meant = b"".join(_byte(char, name) for char in run).decode("utf-8")
        except UnicodeError:
            continue
        if name == "cp1251":  # legitimate words, such as Её, are UTF-8 of something else by chance
            if len(meant) > 1 and all("\u0400" <= char <= "\u04ff" for char in meant):
                return True
        elif len(meant) > 1 or (run[0] in beginnings and not (run[0] in "ÄÅĹ" and run[-1] in _CLOSES)):
            return True
    return False


def _byte(char: str, encoding: str) -> bytes:
    """Return the byte that encodes a character; C1 controls encode as themselves, as in browsers and Excel."""
    try:
        return char.encode(encoding)
    except UnicodeEncodeError:
        return char.encode("latin-1") if "\x80" <= char <= "\x9f" else _none(char)


def _none(char: str) -> bytes:
    raise UnicodeError(char)

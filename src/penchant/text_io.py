"""Opening and decoding of files given by users.

Only regular files are read, since a device, a pipe or a socket may never end. Text is UTF-8, with or without a
byte-order mark. A line longer than `LONGEST_LINE` is refused before it fills the memory.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from penchant.errors import DataError, encodable

LONGEST_LINE = 1 << 24
"""The maximum length of a line of text in bytes: 16 MiB, the size of a large book."""
LARGEST_DOCUMENT = 1 << 24
"""The maximum size in bytes of a document such as a study file; parsing YAML takes seconds per megabyte."""
_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
_SAMPLE = 1 << 12
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
MACINTOSH = "Mac OS Roman"
"""The encoding of Western text on old Macintosh computers."""
WINDOWS = "Windows-1252"
"""The single-byte encoding of Western versions of Windows."""
_LONE_BYTE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_BETWEEN_LETTERS = re.compile(rb"(?<=[A-Za-z])[\x80-\xff](?=[A-Za-z])")
_SHEET = re.compile(r"(.+\.xlsx)#(.+)", re.IGNORECASE | re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")

# Opening ------------------------------------------------------------------------------------------------------------


def named_sheet(path: str | Path) -> tuple[Path, str]:
    """Split a name such as FILE.xlsx#Sheet into file and sheet.

    The sheet is "" if none is given, or if a file with the whole name exists.
    """
    match = _SHEET.fullmatch(str(path))
    return (Path(path), "") if match is None or os.path.exists(path) else (Path(match[1]), match[2])  # noqa: PTH110


def stem(path: str | Path) -> str:
    """Return the name of a data file without its suffix, followed by the name of the sheet, if any."""
    file, sheet = named_sheet(path)
    return encodable(f"{file.stem}-{sheet}" if sheet else file.stem)


def require_file(path: str | Path) -> None:
    """Raise DataError unless the path is a regular file or a link to a regular file."""
    try:
        mode = os.stat(named_sheet(path)[0]).st_mode  # noqa: PTH116 (also for a path of bytes that no Path can have)
    except FileNotFoundError as error:
        raise DataError("no such file", file=path) from error
    except (OSError, ValueError) as error:  # ValueError: an impossible name
        raise DataError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=path) from error
    if stat.S_ISDIR(mode):
        raise DataError("is a directory", file=path, hint="give the path of a file")
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "not a regular file")
        raise DataError(f"cannot be read: it is {kind}", file=path, hint="copy its contents to a file, and give that")


@contextmanager
def opened(path: str | Path) -> Iterator[BufferedReader]:
    """Open a regular file for reading.

    Raises DataError if the file cannot be opened or read, or if it changes while it is open.
    """
    require_file(path)
    try:
        with named_sheet(path)[0].open("rb") as stream:
            before = os.fstat(stream.fileno())
            yield stream
            after = os.fstat(stream.fileno())
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise DataError(
            "changed while it was being read", file=path, hint="try again once the file has stopped changing"
        )


def is_file(path: str | Path) -> bool:
    """Return whether the path is a regular file; False for an invalid path."""
    return os.path.isfile(named_sheet(path)[0])  # noqa: PTH113


def is_directory(path: str | Path) -> bool:
    """Return whether the path is a directory; False for an invalid path."""
    return os.path.isdir(path)  # noqa: PTH112


def exists(path: str | Path) -> bool:
    """Return whether the path exists; False for an invalid path."""
    return os.path.exists(named_sheet(path)[0])  # noqa: PTH110


# Lines --------------------------------------------------------------------------------------------------------------


def lines(stream: BinaryIO, file: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each line, with its line ending.

    Raises DataError for text in UTF-16, and for a line longer than `LONGEST_LINE`, without reading the rest of it.
    """
    number = 0
    while raw := stream.readline(LONGEST_LINE + 1):
        number += 1
        if number == 1 and guessed_encoding(raw[:_SAMPLE]).startswith("UTF-"):
            raise not_utf8(raw, file)
        if len(raw) > LONGEST_LINE:
            raise DataError(
                f"the line is longer than {LONGEST_LINE >> 20} MiB",
                file=file,
                line=number,
                hint="break it into lines, or check that the file is text",
            )
        yield number, raw


def read_text(path: str | Path, *, largest: int | None = None) -> str:
    """Return the content of a text file without its byte-order mark.

    Raises DataError if the file has more than `largest` bytes or, with the line number, if it is not UTF-8.
    """
    with opened(path) as stream:
        if largest is not None and os.fstat(stream.fileno()).st_size > largest:
            raise DataError(f"is larger than {largest >> 20} MiB", file=path, hint="check that it is the right file")
        return decoded(b"".join(raw for _, raw in lines(stream, path)), path)


# Encoding -----------------------------------------------------------------------------------------------------------


def decoded(data: bytes, file: str | Path, line: int = 1) -> str:
    """Return data decoded as UTF-8 without a byte-order mark; `line` is the line number of the data in the file.

    Raises DataError with the line and the likely encoding if the data are not UTF-8.
    """
    if line == 1 and guessed_encoding(data[:_SAMPLE]).startswith("UTF-"):
        raise not_utf8(data, file)
    try:
        return data.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(data, file, line) from error


def not_utf8(data: bytes, file: str | Path, line: int = 1) -> DataError:
    """Return the error for data that are not UTF-8, with the file type, or the line and likely encoding."""
    for magic, (what, mend) in _NO_TEXT.items():
        if line == 1 and data.startswith(magic):
            return DataError(f"is {what}, not text", file=file, hint=mend)
    start, shown = 0, ""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        start, shown = error.start, f" (byte 0x{data[error.start]:02x})"
    guess = guessed_encoding(data)
    likely = f": it looks like {guess}" if guess else ""
    place = line + data.count(b"\n", 0, start)
    return DataError(f"is not UTF-8{shown}{likely}", file=file, line=place, hint=saved_as_utf8(guess))


_NO_TEXT = {
    b"\x1f\x8b": ("compressed with gzip", "unpack it with gunzip -k, and give the unpacked file"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "unpack it with unzstd, and give the unpacked file"),
    b"BZh": ("compressed with bzip2", "unpack it with bunzip2 -k, and give the unpacked file"),
    b"\xfd7zXZ\0": ("compressed with xz", "unpack it with unxz -k, and give the unpacked file"),
    b"PK\x03\x04": ("a ZIP archive", "unpack it, and give the unpacked file"),
    b"%PDF": ("a PDF", "copy its text or table to a text file"),
}
"""The first bytes of files that are not text, with their type and a hint."""
_ICONV = {
    "UTF-16": "UTF-16",
    "UTF-32": "UTF-32",
    MACINTOSH: "MACINTOSH",
    WINDOWS: "CP1252",
    f"Latin-1 or {WINDOWS}": "CP1252",
}
"""The iconv names of the encodings returned by `guessed_encoding`."""


def saved_as_utf8(guess: str) -> str:
    """Return a hint on converting text to UTF-8 from an encoding returned by `guessed_encoding`."""
    hint = 'save it as UTF-8: in Excel as "CSV UTF-8", in an editor with the encoding UTF-8'
    return (
        f"{hint}, or with iconv -f {_ICONV[guess]} -t UTF-8 FILE > NEW; then check the accents"
        if guess in _ICONV
        else hint
    )


def single_byte(data: bytes) -> str:
    """Return Python's name of the single-byte encoding of a text; "" for UTF-8, or if the encoding is uncertain.

    It is certain if the encodings of neighbouring regions give the same text, as they do for ä, ö, ü, ß and é.
    """
    guess = guessed_encoding(data)
    if not guess or guess.startswith("UTF-"):
        return ""
    encoding, *others = _NEIGHBOURS[guess == MACINTOSH]
    try:
        return encoding if len({data.decode(each) for each in (encoding, *others)}) == 1 else ""
    except UnicodeDecodeError:
        return ""


_NEIGHBOURS = (("windows-1252", "windows-1250", "windows-1254"), ("mac_roman", "mac_latin2"))
"""Western encodings of Windows and of Macintosh, each with encodings of central Europe and Turkey."""


def words_read_as(guess: str) -> str:
    """Return a hint on converting a binary vector file whose words are not UTF-8, given a guessed encoding."""
    encoding = _ICONV.get(guess, "")
    named = f"encoding='{encoding.lower()}'" if encoding else "the encoding= of its words"
    return f"in gensim: KeyedVectors.load_word2vec_format(FILE, binary=True, {named}).save_word2vec_format(NEW)"


def guessed_encoding(data: bytes) -> str:
    """Return the likely encoding of text that is not UTF-8: "UTF-16", "UTF-32" or a single-byte Western encoding.

    Returns "" for UTF-8, or if the encoding is unclear.
    """
    start = data[:_SAMPLE]
    if start.startswith(_UTF_32):
        return "UTF-32"
    if start.startswith(_UTF_16):
        return "UTF-16"
    even, odd = start[::2].count(0), start[1::2].count(0)
    if len(start) > 3 and max(even, odd) * 3 > len(start) and min(even, odd) * 8 < max(even, odd):
        return "UTF-16"
    lone = len(_LONE_BYTE.findall(data))
    if not lone or lone < sum(not character.isascii() for character in data.decode("utf-8", "ignore")):
        return ""
    if _inside_words(data, "mac_roman") > _inside_words(data, "cp1252"):
        return MACINTOSH
    return WINDOWS if re.search(rb"[\x80-\x9f]", data) else f"Latin-1 or {WINDOWS}"


def _inside_words(data: bytes, encoding: str) -> int:
    """Return the number of bytes between ASCII letters that an encoding decodes to a letter or an apostrophe."""
    read = b"".join(_BETWEEN_LETTERS.findall(data)).decode(encoding, "replace")
    return sum(character.islower() or character == "’" for character in read)


def refused_character(text: str) -> str:
    """Return the message for a text that contains NUL or a lone surrogate, and "" for any other text."""
    if "\0" in text:
        return "contains the character NUL"
    return "contains half of a surrogate pair" if not text.isascii() and _SURROGATE.search(text) else ""

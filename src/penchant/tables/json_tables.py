"""Reader of JSON tables, as one object per line or one array of objects, with limits on nesting and number length."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from penchant.errors import DataError
from penchant.tables.table_row import FileRow, whole
from penchant.text_io import refused_character

DEEPEST = 100
"""Maximum number of levels of nesting in a document."""
_LONGEST_NUMBER = 1_000
_PARTS = re.compile(rf'"(?:[^"\\]|\\.)*+"|[\[{{]|[\]}}]|\d{{{_LONGEST_NUMBER},}}', re.DOTALL)
Pairs = list[tuple[str, object]]
_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_HINT = "write one object per line, or one array of objects"


class RepeatedKeyError(ValueError):
    """Error raised if an object contains a key twice; the message is the key."""


def without_repeats(normal: Callable[[str], str] = str) -> Callable[[Pairs], dict[str, object]]:
    """Return an object hook for `json.loads` that normalises keys and raises RepeatedKeyError if a key is repeated."""

    def checked(pairs: Pairs) -> dict[str, object]:
        values = {normal(name): value for name, value in pairs}
        if len(values) < len(pairs):
            names = [normal(name) for name, _ in pairs]
            raise RepeatedKeyError(next(name for name in names if names.count(name) > 1))
        return values

    return checked


_DECODER = json.JSONDecoder(object_pairs_hook=without_repeats())


def end_of_space(text: str, start: int) -> int:
    """Return the character offset of the end of the white space at `start`."""
    match = _SPACE.match(text, start)
    return match.end() if match else start


def json_lines(text: str, file: Path) -> Iterator[FileRow]:
    """Yield the rows of a text with one object per line. Raises DataError with the file and line if it is invalid."""
    for number, line in enumerate(text.split("\n"), 1):
        start = end_of_space(line, 0)
        if start == len(line):
            continue
        value, end = _decoded(line, start, number, file)
        if end_of_space(line, end) != len(line):
            raise DataError(
                f"unexpected text after the object, at character {end + 1}",
                file=file,
                line=number,
                hint=_LINE_HINT,
            )
        yield _json_row(value, line, number, file)


def json_array(text: str, file: Path) -> Iterator[FileRow]:
    """Yield the objects in a JSON array as rows, each with the line of its opening brace."""
    number, counted = 1, 0
    position = end_of_space(text, end_of_space(text, 0) + 1)
    closed = text[position : position + 1] == "]"
    while not closed:
        number, counted = number + text.count("\n", counted, position), position
        value, end = _decoded(text, position, number, file)
        yield _json_row(value, text[position:end], number, file)
        position = end_of_space(text, end)
        mark = text[position : position + 1]
        closed = mark == "]"
        if not closed and mark != ",":
            line = number + text.count("\n", counted, position)
            raise DataError("invalid JSON: ',' or ']' is missing here", file=file, line=line)
        if not closed:
            position = end_of_space(text, position + 1)
    position = end_of_space(text, position + 1)
    if position != len(text):
        line = number + text.count("\n", counted, position)
        raise DataError("unexpected text after the array", file=file, line=line, hint=_LINE_HINT)


def _decoded(text: str, start: int, line: int, file: Path) -> tuple[object, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RepeatedKeyError as error:
        raise DataError("the key appears twice in one object", file=file, line=line, field=str(error)) from error
    except json.JSONDecodeError as error:
        place = line + text.count("\n", start, error.pos)
        raise DataError(f"invalid JSON: {error.msg}", file=file, line=place, hint=_LINE_HINT) from error
    except (ValueError, RecursionError) as error:  # such as thousands of digits or of brackets
        raise DataError(f"invalid JSON: {error}", file=file, line=line) from error
    return value, end


def _json_row(value: object, source: str, line: int, file: Path) -> FileRow:
    if not isinstance(value, dict):
        raise DataError(
            f"expected an object, found {_kind(value)}",
            file=file,
            line=line,
            hint=_LINE_HINT,
        )
    problem, at = excess(source) if may_be_excessive(source) else ("", 0)
    if problem:
        place = line + source.count("\n", 0, at)
        raise DataError(f"invalid JSON: {problem}", file=file, line=place)
    if "\\ud" in source or "\\uD" in source or "\\u0000" in source:
        key, wrong = unsound(value)
        if wrong:
            raise DataError(wrong, file=file, line=line, field=key[0])
    return FileRow(line, {name: whole(cell) for name, cell in value.items()})


def _kind(value: object) -> str:
    kinds = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def excess(text: str) -> tuple[str, int]:
    """Return a message and a character offset if JSON is nested too deeply or a number is too long, else ("", 0)."""
    depth = 0
    for part in _PARTS.finditer(text):
        mark = text[part.start()]
        depth += (mark in "[{") - (mark in "]}")
        if depth > DEEPEST:
            return f"it is nested more than {DEEPEST} levels deep", part.start()
        if mark.isdigit():
            return f"a number of {part.end() - part.start():,} digits is too long", part.start()
    return "", 0


def may_be_excessive(text: str) -> bool:
    """Return True if JSON may be nested too deeply; this check is faster than `excess`."""
    return text.count("[") + text.count("{") > DEEPEST


def unsound(value: object, key: tuple[str, ...] = ()) -> tuple[tuple[str, ...], str]:
    """Return the keys that lead to the first string with a rejected character, and a message.

    `key` contains the keys that lead to `value`. If there is no such string, the result is ((), "").
    """
    if isinstance(value, str):
        return key, refused_character(value)
    inside: list[tuple[str, object]] = []
    if isinstance(value, dict):
        for name in value:
            if wrong := refused_character(name):
                return (*key, name.encode("utf-8", "backslashreplace").decode()), wrong
        inside = list(value.items())
    elif isinstance(value, list):
        inside = [(str(number), each) for number, each in enumerate(value)]
    for name, each in inside:
        place, wrong = unsound(each, (*key, name))
        if wrong:
            return place, wrong
    return (), ""

"""Tables in JSON: one object a line, or one array of objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from penchant.errors import DataError
from penchant.tables.json_text import RepeatedKeyError, excess, may_be_excessive, unsound, without_repeats
from penchant.tables.row import Row, whole

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(object_pairs_hook=without_repeats())
_LINE_HINT = "write one object a line, or one array of objects"


def end_of_space(text: str, start: int) -> int:
    """Where the white space from `start` on ends."""
    match = _SPACE.match(text, start)
    return match.end() if match else start


def json_lines(text: str, file: Path) -> Iterator[Row]:
    """One object a line. Raises DataError naming file and line."""
    for number, line in enumerate(text.split("\n"), 1):
        start = end_of_space(line, 0)
        if start == len(line):
            continue
        value, end = _decoded(line, start, number, file)
        if end_of_space(line, end) != len(line):
            raise DataError(
                f"unexpected text after the object, from character {end + 1} on",
                file=file,
                line=number,
                hint=_LINE_HINT,
            )
        yield _json_row(value, line, number, file)


def json_array(text: str, file: Path) -> Iterator[Row]:
    """The elements of the array that makes up the file, each with the line of its opening brace."""
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
    """The JSON value at `start`, which is on `line`, and its end."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RepeatedKeyError as error:
        raise DataError("the name occurs twice in one object", file=file, line=line, field=str(error)) from error
    except json.JSONDecodeError as error:
        place = line + text.count("\n", start, error.pos)
        raise DataError(f"invalid JSON: {error.msg}", file=file, line=place, hint=_LINE_HINT) from error
    except (ValueError, RecursionError) as error:  # such as thousands of digits or of brackets
        raise DataError(f"invalid JSON: {error}", file=file, line=line) from error
    return value, end


def _json_row(value: object, source: str, line: int, file: Path) -> Row:
    if not isinstance(value, dict):
        raise DataError(
            f"expected an object with named values, found {_kind(value)}",
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
    return Row(line, {name: whole(cell) for name, cell in value.items()})


def _kind(value: object) -> str:
    kinds = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")

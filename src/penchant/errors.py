"""Exceptions of penchant, with one-line messages that give the place, the problem and a remedy.

    PenchantError
    ├── DataError      a stimulus file, survey or text that cannot be used (file, line, field)
    ├── ModelError     a model or tokenizer that cannot be loaded, or is not suitable for the task
    ├── MethodError    an unknown or unsuitable method, option or parameter
    │   ├── UnknownNameError    an unknown attribute or public name; also an AttributeError
    │   └── UnknownKeyError     an unknown key of a mapping; also a KeyError
    ├── StudyError     a study file or result directory that cannot be used
    ├── CacheError     an answer cache or a vector store that cannot be used
    ├── ClusterError   machines that cannot be reached, or cannot do the work
    └── OutputError    a result that cannot be written

All of them mean bad input or usage: the command line prints the message and exits with code 2. Any other exception is a
bug and exits with code 1.
"""

from __future__ import annotations

import os
import re
import sysconfig
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_LONGEST_SHOWN = 80
_LONGEST_WORD = 1_000
"""The maximum length of a word, such as a path, in a message; longer words are truncated."""
MOST_LISTED = 20
"""The maximum number of errors listed together."""
MOST_ALIKE = 5
"""The maximum number of errors listed one by one if they differ only in their row."""
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that control a terminal instead of being displayed, and surrogates.

Besides surrogates, these are changes of writing direction, Unicode line breaks, and control characters other than tab
and line feed.
"""
_DIRECTING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that change the writing direction of the text after them."""


def visible(text: str) -> str:
    r"""Return the text with JSON escapes, such as \u001b, for characters that control a terminal."""
    return _ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def undirected(text: str, escape: str = "\\u") -> str:
    """Return the text with `escape` and the code point in place of characters that change the writing direction."""
    return _DIRECTING.sub(lambda match: f"{escape}{ord(match[0]):04x}", text)


def encodable(text: str) -> str:
    r"""Return the text with escapes, such as \udcff, for bytes of a file name that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def one_line(text: str) -> str:
    """Return the text on one line, with spaces for tabs and line breaks, and control characters escaped."""
    return visible(" ".join(text.replace("\t", " ").splitlines()))


KEPT = "penchant-given-"
"""The prefix of temporary folders for data passed as Python objects."""
_KEPT = re.compile(rf"[^\s'\"]*{KEPT}\w+[/\\\\][0-9a-f]{{12}}[/\\\\]([^/\\\\\n]*?)\.(?:jsonl|csv|yaml)\b")


HUB_DATA = re.compile(
    r"[^\s'\"]*[/\\]datasets--([\w.-]+?)--([\w.-]+?)[/\\]snapshots[/\\]([0-9a-f]{7})([0-9a-f]{33})((?:[/\\]|\b)[^\s,'\"]*)"
)
"""Pattern for a cached file of a hub data set, with groups for owner, name, commit (two parts) and path."""


def without_folders(text: str) -> str:
    """Return the text with paths of temporary and cached files replaced by names that the user knows.

    Data passed as Python objects are named by role, such as "the data", and files of a hub data set by their hub
    address.
    """
    return HUB_DATA.sub(r"hf://datasets/\1/\2@\3\5", _KEPT.sub(r"\1", text))


def is_kept(file: str | Path) -> bool:
    """Return whether the file contains data that were passed as Python objects."""
    return Path(file).parent.parent.name.startswith(KEPT)


def file_name(file: str | Path) -> str:
    """Return the name of a file as shown in tables; for Python objects, their role and hash: "the data#47427e"."""
    path = Path(file)
    return f"{path.stem}#{path.parent.name[:6]}" if is_kept(path) else path.name


def first_line(error: BaseException) -> str:
    """Return the first non-blank line of an error's text, or the name of its type if there is none."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


class PenchantError(Exception):
    """Base class for errors that a caller can fix.

    `message` describes the problem, `where` its place, and `hint` the remedy. `alone()` joins them into one line;
    `str()` adds the number of `more` similar errors, which are listed in the exception's notes, one per line.
    """

    more = 0

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        self.message = message
        self.where = where
        self.hint = hint
        super().__init__(message, where, hint)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        return f"{self.alone()} (… and {self.more:,} more like it)" if self.more else self.alone()

    def alone(self) -> str:
        """Return this error on one line, without the number of similar errors."""
        head = f"{self.where}: {self.message}" if self.where else self.message
        line = f"{head} — {self.hint}" if self.hint else head
        words = (word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_SHOWN]}…" for word in line.split())
        return visible(without_folders(" ".join(words)))

    def _render_traceback_(self) -> list[str]:
        """Return the lines displayed by IPython and Jupyter: the user's code, the error and its notes."""
        error_lines = [f"{type(self).__name__}: {self.alone()}", *map(one_line, getattr(self, "__notes__", ()))]
        return [*map(one_line, _users_lines(self)), *error_lines]


def _users_lines(error: BaseException) -> Iterator[str]:
    """Yield the lines of user code that led to the call of penchant, outermost first, with file and line number."""
    packages = tuple(f"{path}{os.sep}" for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
    for frame in traceback.extract_tb(error.__traceback__):
        file = frame.filename
        if file.startswith(f"{Path(__file__).parent}{os.sep}"):
            return
        installed = {"site-packages", "dist-packages"}.intersection(Path(file).parts)
        if installed or not frame.line or file.startswith(packages):  # without a line: compiled, or Python's own
            continue
        place_ = f"{file}, line" if os.path.isfile(file) else "line"  # noqa: PTH113 (a cell has a name that is no file)
        yield f"{place_} {frame.lineno}: {frame.line}"


def _restored(error_class: type[PenchantError], args: tuple[Any, ...], state: dict[str, Any]) -> PenchantError:
    error = error_class.__new__(error_class, *args)
    error.__dict__.update(state)
    return error


class ModelWarning(UserWarning):
    """Warning about a problem with the loading of a model that may affect the results."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class CacheWarning(UserWarning):
    """Warning about a problem with the answer cache that does not affect the results."""


class SheetRow(int):
    """A row number in a spreadsheet; `letters` maps column names to letters, for errors that name a cell such as B7."""

    letters: Mapping[str, str]

    def __new__(cls, number: int, letters: Mapping[str, str]) -> SheetRow:
        """Return a row number with the given column letters."""
        row = super().__new__(cls, number)
        row.letters = letters
        return row

    def __getnewargs__(self) -> tuple[int, Mapping[str, str]]:  # type: ignore[override]  # int takes only the number
        return int(self), self.letters


class Case(int):
    """The number of a respondent in an SPSS or Stata file, which has no lines."""


class GivenRow(int):
    """The row number in a table passed as a Python object, which has no lines."""


_LINES: Mapping[type, str] = {SheetRow: "row", Case: "case", GivenRow: "row"}


def line_noun(line: int | None) -> str:
    """Return "row" for a spreadsheet or a table passed as a Python object, "case" for SPSS and Stata, else "line"."""
    return _LINES.get(type(line), "line")


def place(file: str | Path, line: int | None = None, field: str | None = None) -> str:
    """Return a description of a location: a file, with a line (or cell, or case) and a field if given.

    Data passed as Python objects are described by role, row and column: "the data, row 3 ('id')".
    """
    kept = is_kept(file)
    where = Path(file).stem if kept else str(file)
    if kept or isinstance(line, GivenRow):
        is_row = isinstance(line, GivenRow) or (line is not None and str(file).endswith(".jsonl"))
        where += f", row {line}" if is_row else ""
        return where if field is None else f"{where} ('{field}')"
    letter = line.letters.get(field) if isinstance(line, SheetRow) and field is not None else None
    if letter:
        where += f", cell {letter}{line}"
    elif line is not None:
        where += f", {line_noun(line)} {line}"
    return where if field is None else f"{where}, field '{field}'"


class DataError(PenchantError):
    """Raised if stimuli cannot be used; `where` consists of `file`, `line` (1-based) and `field`, if given."""

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        where: str = "",
        hint: str = "",
    ) -> None:
        if file is not None:
            where = place(file, line, field)
        self.file, self.line, self.field = file, line, field
        super().__init__(message, where=where, hint=hint)


class ModelError(PenchantError):
    """Raised if a model cannot be loaded or is not suitable for the task."""


class MethodError(PenchantError):
    """Raised for an unknown or unsuitable method, option or parameter."""


class UnknownNameError(MethodError, AttributeError):
    """Raised for an unknown attribute of an object; also an AttributeError, as Python expects."""


class UnknownKeyError(MethodError, KeyError):
    """Raised for an unknown key of a mapping; also a KeyError, as Python expects."""


class StudyError(PenchantError):
    """Raised if a study file or result directory cannot be used."""


class CacheError(PenchantError):
    """Raised if an answer cache or a vector store cannot be read or written."""


class ClusterError(PenchantError):
    """Raised if machines cannot be reached or cannot do the work."""


class OutputError(PenchantError):
    """Raised if a result cannot be written; no partial file is left behind."""


def machine_error(error: Exception) -> OSError | MemoryError | None:
    """Return `error` if it is a system error, else the system error that its message names, else None.

    Messages of other libraries name a system error by a phrase such as "(os error 28)".
    """
    if isinstance(error, OSError | MemoryError):
        return error
    code = re.search(r"\(os error (\d+)\)", str(error))
    return None if code is None else OSError(int(code[1]), os.strerror(int(code[1])))


def of_machine(error: OSError | MemoryError) -> PenchantError:
    """Convert a system error, such as a full disk, missing permission or too little memory, to a PenchantError."""
    name = os.fsdecode(getattr(error, "filename", None) or "")
    return PenchantError(getattr(error, "strerror", None) or "not enough memory", where=name)


def together(errors: Sequence[DataError]) -> DataError:
    """Combine errors into the first one, whose notes list the others, up to `MOST_LISTED` in all.

    If more than `MOST_ALIKE` errors differ only in row or place, only the first is listed, with the rows or
    places of the others.
    """
    first, *others = errors
    first.more = len(others)
    kinds: dict[tuple[object, ...], list[DataError]] = {}
    for error in errors:
        kinds.setdefault((error.message, error.hint, error.file, error.field, type(error.line)), []).append(error)
    placed = (same for same in kinds.values() if same[0].line is not None or (same[0].file is None and same[0].where))
    folded = [same for same in placed if len(same) > MOST_ALIKE]
    standing = {id(same[0]): same for same in folded}
    hidden = {id(error) for same in folded for error in same[1:]}
    listed = [error for error in errors if id(error) not in hidden]
    if id(first) in standing:
        first.add_note(f"the same {_on_lines(standing[id(first)][1:])}")
    for other in listed[1:MOST_LISTED]:
        same = standing.get(id(other), [])
        other.more = 0
        first.add_note(f"{other} (the same {_on_lines(same[1:])})" if same else str(other))
    if len(listed) > MOST_LISTED:
        rest = sum(len(standing.get(id(error), [error])) for error in listed[MOST_LISTED:])
        first.add_note(f"… and {rest} more")
    return first


def _on_lines(errors: Sequence[DataError]) -> str:
    if errors[0].line is None:
        return f"in {len(errors):,} more places: {places([error.where for error in errors])}"
    noun = line_noun(errors[0].line)
    shown = ", ".join(f"{error.line:d}" for error in errors[:MOST_LISTED])
    return f"on {len(errors):,} more {noun}s: {shown}{', …' if len(errors) > MOST_LISTED else ''}"


def places(wheres: Sequence[str]) -> str:
    """Join the first twenty places with commas, naming a file only once for consecutive places in it."""
    shown: list[str] = []
    before = ""
    for where in wheres[:MOST_LISTED]:
        file, comma, line = where.rpartition(", ")
        shown.append(line if comma and file == before else where)
        before = file
    return ", ".join(shown) + (", …" if len(wheres) > MOST_LISTED else "")


def in_words(error: Mapping[str, Any]) -> str:
    """Return the message for an entry of `errors()` of a pydantic ValidationError."""
    if error["type"] == "extra_forbidden":
        return "unknown key"
    if error["type"] == "missing":
        return "is missing"
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    value = error.get("input")
    if error["type"] == "string_type" and isinstance(value, bool):
        return f"is {str(value).lower()}, not a string: put it in quotes"
    shown = f", got {shortened(value)}" if isinstance(value, str | int | float | bool) else ""
    return f"{str(error['msg'])[0].lower()}{str(error['msg'])[1:]}{shown}"


FORMER = {
    "renormalise": "rated_only",
    "rated_mass": "rated_share",
    "paradigm": "group",
    "comparison": "first",
    "piece": "is_piece",
    "pieces": "tokens",
    "token_logprobs": "logprobs",
}
"""Current names of parameters and columns, by their names in earlier drafts."""


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return up to two known names similar to `name`, nearest first."""
    from difflib import get_close_matches

    names = {each.casefold(): each for each in known}
    if (now := FORMER.get(name)) in names:
        return [now]
    if (role := name.removeprefix("pieces_")) != name and f"tokens_{role}" in names:
        return [f"tokens_{role}"]
    return [names[each] for each in get_close_matches(name.casefold(), names, n=2)]


def one_of(name: str, known: Iterable[str]) -> str:
    """Return the hint for an unknown name: similar names, if any, and all known names."""
    names = list(known)
    near = nearest(name, names)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{meant}use one of {', '.join(names)}"


def shortened(value: object) -> str:
    """Return the `repr` of a value, truncated to 80 characters."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def missing_package(package: str, extra: str, error: ImportError | None = None) -> MethodError:
    """Return the error for an optional package that is missing or that raises `error` when imported."""
    installed = error is not None and not (
        isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == package
    )
    return MethodError(
        f"the package {package} {f'cannot be imported: {error}' if installed else 'is missing'}",
        hint=f"pip install 'penchant[{extra}]'",
    )

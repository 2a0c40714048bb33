"""One exception tree. Every message is one line: where, what, and the likely mend.

    PenchantError
    ├── DataError      a stimulus file, survey or text that cannot be used (file, line, field)
    ├── ModelError     a model or tokenizer that cannot be loaded, or is not fit for the question
    ├── MethodError    a method, option or parameter that does not exist or does not fit
    ├── StudyError     a study file or result directory
    ├── CacheError     the store of earlier answers
    └── OutputError    a result that cannot be written

All of them mean "bad input or usage": the command line prints the line and exits with code 2. Anything else
that escapes is a fault of the program and exits with code 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


class PenchantError(Exception):
    """Base of all errors a caller can mend.

    `message` says what is wrong, `where` names the place, `hint` says what to do. `str()` joins them in one line.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        self.message = message
        self.where = where
        self.hint = hint
        super().__init__(message, where, hint)

    def __reduce__(self) -> tuple[Any, ...]:
        """So that an error of another process arrives as it was."""
        return _again, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        head = f"{self.where}: {self.message}" if self.where else self.message
        line = f"{head} — {self.hint}" if self.hint else head
        return " ".join(line.split())


def _again(kind: type[PenchantError], args: tuple[Any, ...], state: dict[str, Any]) -> PenchantError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class DataError(PenchantError):
    """Stimuli that cannot be used. `file`, `line` (1-based) and `field` make up the place."""

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
            where = str(file)
            if line is not None:
                where += f", line {line}"
            if field is not None:
                where += f", field '{field}'"
        self.file, self.line, self.field = file, line, field
        super().__init__(message, where=where, hint=hint)


class ModelError(PenchantError):
    """A model that cannot be loaded or is not fit for what was asked of it."""


class MethodError(PenchantError):
    """An unknown or unfit method, option or parameter."""


class StudyError(PenchantError):
    """A study file or result directory that cannot be used."""


class CacheError(PenchantError):
    """A cache of answers that cannot be read or written."""


class OutputError(PenchantError):
    """A result that could not be written; nothing half-written is left."""


def finding(error: Mapping[str, Any]) -> str:
    """What pydantic found wrong with a value (one of its `errors()`), in the words used everywhere here."""
    if error["type"] == "extra_forbidden":
        return "unknown key"
    if error["type"] == "missing":
        return "is missing"
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    value = error.get("input")
    shown = f", got {value!r}" if isinstance(value, str | int | float | bool) else ""
    return f"{str(error['msg'])[0].lower()}{str(error['msg'])[1:]}{shown}"

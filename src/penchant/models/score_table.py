"""Scores for whole texts, computed by another program and read from a table, for use in place of a model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from penchant.call_checks import asked
from penchant.errors import DataError, ModelError, line_noun, one_line, shortened
from penchant.files import sha256_file
from penchant.plurals import counted, first_of, of_all
from penchant.tables.in_memory import path_of
from penchant.tables.rows import read_models
from penchant.text_io import is_file

SCORES = "scores:"
"""Prefix of the name of a table of scores."""
_SAME = 1e-9
"""Maximum difference between two scores of the same text."""
_ROUNDED = 1e-4
"""Maximum difference between a score and the sum of its tokens' log-probabilities."""
_SHOWN = 3
"""Maximum number of texts named in a message."""


def _from_json(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


class ScoredText(BaseModel):
    """A row of a table of scores."""

    model_config = ConfigDict(extra="ignore")
    text: str
    score: float
    n_tokens: int | None = None
    tokens: Annotated[list[str] | None, BeforeValidator(_from_json)] = None
    logprobs: Annotated[list[float | None] | None, BeforeValidator(_from_json)] = None

    @property
    def n(self) -> int | None:
        """The number of tokens; None if it is unknown."""
        listed = self.tokens if self.tokens is not None else self.logprobs
        return self.n_tokens if listed is None else len(listed)

    def fault(self) -> tuple[str, str]:
        """Return the name of an invalid column and a message about it, or ("", "") if the row is valid."""
        lengths = {len(each) for each in (self.tokens, self.logprobs) if each is not None}
        if self.score > 0:
            return "score", f"{self.score:g} is positive, but the log-probability of a text is 0 or less"
        if len(lengths) > 1 or (lengths and self.n_tokens not in (None, *lengths)):
            return "n_tokens", "tokens, logprobs and n_tokens do not agree on the number of tokens"
        if self.n is not None and self.n < 1:
            return "n_tokens", f"{self.n} is not a valid number of tokens"
        if self.logprobs is not None:
            total = math.fsum(value for value in self.logprobs if value is not None)
            if not abs(total - self.score) <= _ROUNDED:
                return "logprobs", f"their sum is {total:g}, but the score is {self.score:g}"
        return "", ""


class Scores:
    """Scores for whole texts, computed by any program, for use by an instrument or a study in place of a model.

    `scores` is a file or a table with the columns text and score (the sum of the natural log-probabilities of the
    scored tokens), and optionally n_tokens, or tokens and logprobs (lists). Without token counts there are no
    normalised scores and no analysis of length. `name` replaces the name of the file in signatures and tables. Raises
    DataError naming the line of a row that is invalid or contradicts another.
    """

    kind: ClassVar[Literal["scores"]] = "scores"
    numbers: ClassVar[str] = "unknown"
    """The number format, as cited in signatures."""
    no_scores: ClassVar[str] = ""

    @asked
    def __init__(self, scores: Any, *, name: str | None = None) -> None:
        self.path = path_of(scores, ("text", "score"), name="given")
        self.rows = _read(self.path)
        self.index = {text: number for number, text in enumerate(self.rows)}
        self.counted = all(row.n is not None for row in self.rows.values())
        self.fingerprint = sha256_file(self.path)
        label = self.path.stem if name is None else valid_name(name, "Scores()")
        self.name = _cited(label, self.fingerprint)
        self.spec = f"{SCORES}{self.path}"

    def __repr__(self) -> str:
        return f"<{self.name}: scores of {counted(len(self.rows), 'texts')}>"

    @property
    def about(self) -> str:
        """A description of the scores for the user: the number of texts and the file."""
        of = counted(len(self.rows), "texts")
        return f"scores of {of} read from {self.path.name}; how they were computed is not known to penchant"

    @property
    def cautions(self) -> tuple[str, ...]:
        """A caution if numbers of tokens are missing."""
        lacking = "numbers of tokens are missing, so only unnormalised scores are reported, and no analysis of length"
        return () if self.counted else (lacking,)

    def require(self, texts: Iterable[str]) -> None:
        """Raise DataError, with the first texts that lack a score, unless every text has one."""
        wanted = dict.fromkeys(texts)
        missing = [shortened(text) for text in wanted if text not in self.rows]
        if missing:
            raise DataError(
                f"{of_all(len(missing), len(wanted), 'texts', 'have')} no score: {first_of(missing, _SHOWN)}",
                file=self.path,
                hint="write the texts with penchant run STUDY --texts-out FILE, score them, and add their rows",
            )


def valid_name(name: str, where: str) -> str:
    """Return `name` unchanged. Raises ModelError, located at `where`, if it is not a valid model name.

    A valid name is a single line without @ or " − ", and without spaces at either end.
    """
    if not name or name != one_line(name).strip() or " − " in name or "@" in name:
        message = f"{shortened(name)} is not a valid model name"
        hint = "use a single line without @ or ' − ', and without spaces at either end"
        raise ModelError(message, where=f"{where}, name", hint=hint)
    return name


def names_scores(spec: str | Path) -> bool:
    """Return whether `spec` names a table of scores."""
    return str(spec).startswith(SCORES)


def score_file(spec: str | Path) -> Path:
    """Return the file of a table of scores named by `spec`. Raises ModelError if the file does not exist."""
    file = Path(str(spec).removeprefix(SCORES))
    if not is_file(file):
        raise ModelError("no such file", where=str(spec), hint="give a table with the columns text and score")
    return file


def cited_scores(spec: str | Path) -> str:
    """Return the name by which signatures cite a table of scores."""
    file = score_file(spec)
    return _cited(file.stem, sha256_file(file))


def _cited(name: str, digest: str) -> str:
    return f"{SCORES}{name}@{digest[:7]}"


def _read(path: Path) -> dict[str, ScoredText]:
    rows: dict[str, ScoredText] = {}
    at: dict[str, int] = {}
    counted_at: dict[bool, int] = {}
    for line, row in read_models(path, ScoredText):
        field, fault = row.fault()
        if fault:
            raise DataError(fault, file=path, line=line, field=field)
        counted_at.setdefault(row.n is not None, line)
        if len(counted_at) > 1:
            message = "has no number of tokens, but other rows have one"
            raise DataError(message, file=path, line=counted_at[False], hint="give it for all texts, or for none")
        before = rows.setdefault(row.text, row)
        if abs(before.score - row.score) > _SAME or before.n != row.n:
            first, second = (f"{each.score:.10g}{f' of {each.n} tokens' if each.n else ''}" for each in (before, row))
            message = f"{shortened(row.text)} has score {first} in {line_noun(line)} {at[row.text]}, but {second} here"
            raise DataError(message, file=path, line=line, hint="remove one of the rows")
        at.setdefault(row.text, line)
    if not rows:
        raise DataError("contains no rows", file=path)
    return rows

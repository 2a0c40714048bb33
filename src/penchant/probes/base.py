"""What every instrument has in common: named parameters, one model at a time, per-item scores kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict

from penchant.engine.scorer import Counts
from penchant.errors import StudyError
from penchant.models.load import LanguageModel
from penchant.models.static import StaticVectors
from penchant.records import Result, Signature

Model: TypeAlias = LanguageModel | StaticVectors


@dataclass(slots=True)
class Run:
    """How a probe is run; nothing here changes a number.

    `cache` is a file of earlier answers, `batch_tokens` the size of a batch, `progress` a callable given (share of
    items finished, number of items), `base` the directories in which relative data paths are looked up. `counts`
    is filled with what the run took.
    """

    cache: Path | None = None
    batch_tokens: int | None = None
    progress: Callable[[float, int], None] = lambda done, total: None
    base: Sequence[Path] = (Path(),)
    counts: Counts = field(default_factory=Counts)


class Probe(BaseModel, ABC):
    """An instrument: its parameters are its fields, and each goes into the signature of what it finds."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ("masked", "causal")
    """The kinds of model it reads."""

    @abstractmethod
    def run(self, model: Model, run: Run | None = None) -> Result:
        """Measure one model. Raises DataError, ModelError or MethodError before any forward pass where it can."""

    @abstractmethod
    def texts(self, base: Sequence[Path]) -> list[tuple[str, str]]:
        """Every text the model will read, with its place: what `check` looks at before a study."""

    @abstractmethod
    def files(self, base: Sequence[Path]) -> list[Path]:
        """Every data file the probe reads."""


def beginning(lm: LanguageModel) -> str:
    """What stands before the first token: the template's own specials, a named token, or nothing."""
    if lm.kind != "causal":
        return "template"
    if lm.begin is None:
        return "none"
    (token,) = lm.tokenizer.strings([lm.begin])
    return token


def require_comparable(a: Result, b: Result, *, free: Collection[str], items: Sequence[str]) -> None:
    """Raise StudyError unless two results have the same signature but for the keys in `free`, and the same items, told
    by the columns in `items`."""
    different = [
        key
        for key in {**a.signature, **b.signature}
        if key not in free and a.signature.get(key) != b.signature.get(key)
    ]
    if different:
        shown = ", ".join(f"{k} ({a.signature.get(k, 'none')} and {b.signature.get(k, 'none')})" for k in different)
        raise StudyError(f"these results cannot be compared: they differ in {shown}")
    if not a.items.select(items).equals(b.items.select(items)):
        raise StudyError("these results cannot be compared: they hold different items")


def difference_signature(a: Result, b: Result, **changes: str) -> Signature:
    """The recipe of what a finds minus what b finds: where their own differ it names both, "a − b"."""
    both = {
        key.replace("-", "_"): f"{value} − {b.signature.get(key, 'none')}"
        for key, value in a.signature.items()
        if value != b.signature.get(key)
    }
    return a.signature.with_(**{**both, **changes})

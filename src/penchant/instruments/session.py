"""The measurement of one model: its scorer, the files that it may keep, and its progress."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penchant.engine.scorer import Scorer, language_model
from penchant.errors import MethodError
from penchant.instruments.run_options import Run
from penchant.models.load import LanguageModel
from penchant.vectors.static import StaticVectors


@dataclass(slots=True)
class Session:
    """The argument of `measure`: a `model`, and the directories `base` in which data are searched for."""

    model: Any
    base: Sequence[Path]
    run: Run
    _scorer: Scorer | None = None
    _stack: ExitStack = field(default_factory=ExitStack)
    _total: int = 0
    _share: float = 1.0

    @classmethod
    def of(cls, model: object, run: Run) -> Session:
        """Return a session with a model, for a `with` statement."""
        return cls(model, run.base, run)

    def __enter__(self) -> Session:
        if isinstance(self.model, LanguageModel):
            scorer = Scorer(
                self.model,
                cache=self.run.cache,
                batch_tokens=self.run.batch_tokens,
                progress=self.advance,
                backend=self.run.backend,
            )
            self._scorer = self._stack.enter_context(closing(scorer))
            self.run.counts = scorer.counts
            for note in scorer.notes():
                self.run.warn(note)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def scorer(self) -> Scorer:
        """The scorer of the model. Raises ModelError for word vectors, which need none."""
        if self._scorer is None:
            language_model(self.model)
            raise RuntimeError("use a session in a with statement")
        return self._scorer

    @property
    def lm(self) -> LanguageModel:
        """The model as a language model. Raises ModelError for word vectors."""
        return language_model(self.model)

    def expect(self, items: int, *, inputs: int = 1) -> None:
        """Set the number of items, for progress, and of the inputs that are run for each."""
        self._total, self._share = items, 1 / inputs

    def advance(self, done: float) -> None:
        """Report that some inputs are done, as the scorer does."""
        self.run.progress(done * self._share, self._total)

    def folder(self) -> Path:
        """Return the folder for vectors: beside the cache of answers, or one that lasts as long as the session."""
        if self.run.cache is not None:
            return self.run.cache.with_suffix(".vectors")
        return Path(self._stack.enter_context(tempfile.TemporaryDirectory()))


def require_static(probe: str, model: object) -> StaticVectors:
    """Return a model as static word vectors. Raises MethodError for any other."""
    if not isinstance(model, StaticVectors):
        name, kind = getattr(model, "name", "this model"), getattr(model, "kind", "something else")
        raise MethodError(f"{probe} reads static word vectors and {name} is {kind}", hint="use seat or ceat")
    return model


def require_masked(probe: str, model: object, hint: str = "") -> LanguageModel:
    """Return a masked model. Raises MethodError, with the `hint`, for any other."""
    lm = language_model(model)
    if lm.kind != "masked":
        raise MethodError(f"{probe} is for masked models and {lm.name} is {lm.kind}", hint=hint)
    return lm

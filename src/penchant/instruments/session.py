"""Measurement session of one model: its scorer, its temporary files and its progress."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penchant.engine.scorer import Scorer, language_model
from penchant.engine.table_scorer import GivenScorer
from penchant.errors import MethodError
from penchant.instruments.run_options import Run
from penchant.models.load import LanguageModel
from penchant.models.score_table import Scores
from penchant.vectors.static_vectors import StaticVectors


@dataclass(slots=True)
class Session:
    """A measurement session, passed to `measure`: a `model`, and the directories `base` in which data are looked up."""

    model: Any
    base: Sequence[Path]
    run: Run
    _scorer: Scorer | None = None
    _stack: ExitStack = field(default_factory=ExitStack)
    _total: int = 0
    _share: float = 1.0

    @classmethod
    def of(cls, model: object, run: Run) -> Session:
        """Return a session for a model, to be used in a `with` statement."""
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
        elif isinstance(self.model, Scores):
            self._scorer = GivenScorer(self.model, self.advance)
            self.run.counts = self._scorer.counts
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def scorer(self) -> Scorer:
        """The scorer of the model. Raises ModelError for word vectors, which are not scored."""
        if self._scorer is None:
            language_model(self.model)
            raise RuntimeError("the session is not open: use it in a with statement")
        return self._scorer

    @property
    def lm(self) -> LanguageModel:
        """The model, if it is a language model. Raises ModelError for word vectors."""
        return language_model(self.model)

    def expect(self, items: int, *, inputs: int = 1) -> None:
        """Set the number of items and the number of model inputs per item, for progress."""
        self._total, self._share = items, 1 / inputs

    def advance(self, done: float) -> None:
        """Report the number of inputs done since the last call; called by the scorer."""
        self.run.progress(done * self._share, self._total)

    def folder(self) -> Path:
        """Return the folder for vectors, which is next to the cache or, if there is no cache, temporary."""
        if self.run.cache is not None:
            return self.run.cache.with_suffix(".vectors")
        return Path(self._stack.enter_context(tempfile.TemporaryDirectory()))


def require_static(probe: str, model: object) -> StaticVectors:
    """Return the model if it consists of static word vectors. Raises MethodError otherwise."""
    if not isinstance(model, StaticVectors):
        name, kind = getattr(model, "name", "this model"), getattr(model, "kind", "something else")
        raise MethodError(f"{probe} requires static word vectors, but {name} is {kind}", hint="use seat or ceat")
    return model


def require_masked(probe: str, model: object, hint: str = "") -> LanguageModel:
    """Return the model if it is a masked model. Raises MethodError, with the `hint`, otherwise."""
    lm = language_model(model)
    if lm.kind != "masked":
        raise MethodError(f"{probe} requires a masked model, but {lm.name} is {lm.kind}", hint=hint)
    return lm

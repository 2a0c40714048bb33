"""Base class of scorers, which encode and check texts and run requests on one model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from penchant.engine.answer_cache import Cache, told_damaged
from penchant.engine.engine import Engine, EngineCounts
from penchant.engine.local_backend import Backend
from penchant.engine.scoring_methods import method_for
from penchant.engine.served_backend import own_backend
from penchant.engine.word_tokens import too_long
from penchant.errors import DataError, MethodError, together
from penchant.limits import BATCH_TOKENS
from penchant.models import shortcut_switch
from penchant.models.load import LanguageModel
from penchant.models.tokenizer import Encoding

P = TypeVar("P", bound=tuple[Any, ...])

_MOST_BAD = 1_000
"""Number of invalid texts after which checking stops."""


def require_batch(tokens: int | None, where: str = "") -> None:
    """Raise MethodError, with the location `where`, if a batch size in tokens is out of range."""
    if tokens is not None and not 1 <= tokens <= BATCH_TOKENS:
        message = f"batch_tokens is {tokens:,}, but must be between 1 and {BATCH_TOKENS:,}"
        raise MethodError(message, where=where, hint="choose another size, or omit it")


class Asker:
    """Base class of scorers: one model, and the engine that runs it.

    `batch_tokens` is the number of tokens in a batch, which affects speed and memory use only. `cache` is the path of
    the answer cache; it is ignored if shortcuts are disabled (see `shortcut_switch`), since cached answers may
    have been computed with them.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        cache: str | Path | None = None,
        batch_tokens: int | None = None,
        progress: Callable[[float], None] | None = None,
        backend: Backend | None = None,
    ) -> None:
        require_batch(batch_tokens)
        self.model = model
        self._cache = None
        if cache is not None and shortcut_switch.allowed():
            self._cache = Cache(cache, model.fingerprint, model.dtype)
        self.engine = Engine(
            backend or own_backend(model),
            cache=self._cache,
            budget=batch_tokens,
            progress=progress,
            name=model.name,
            spell=model.tokenizer.decode,
        )

    @property
    def counts(self) -> EngineCounts:
        """Counts of the requests so far and of the work done to answer them."""
        return self.engine.counts

    def notes(self) -> list[str]:
        """Return messages for the user about damaged answers found in the cache so far."""
        return [told_damaged(self._cache.damaged)] if self._cache and self._cache.damaged else []

    def close(self) -> None:
        """Close the answer cache, if there is one."""
        if self._cache:
            self._cache.close()

    def validated(self, texts: Iterable[tuple[str, str]]) -> Iterator[str]:
        """Yield the text of each (text, location), checked without a forward pass. Raises the errors of `encode`."""
        return (text for text, _, _ in self.encode(texts))

    def encode(
        self, texts: Iterable[tuple[str, str]], *, gaps: bool = False, long: bool = False
    ) -> Iterator[tuple[str, str, Encoding]]:
        """Yield (text, location, encoding) for each (text, location), in order, up to the first invalid text.

        `gaps` allows mask tokens in a text, `long` allows texts longer than the model's context. Raises one DataError
        that lists all invalid texts (at most about `_MOST_BAD` of them).
        """
        stream = iter(texts)
        bad: list[DataError] = []
        while len(bad) < _MOST_BAD and (part := list(islice(stream, 256))):
            distinct = list(dict.fromkeys(text for text, _ in part))
            encodings = dict(zip(distinct, self.model.tokenizer.encode(distinct), strict=True))
            for text, where in part:
                encoding = encodings[text]
                try:
                    self.model.tokenizer.require_sound(text, encoding, where, gaps=gaps)
                    if len(encoding.ids) > self.model.max_tokens and not long:
                        raise too_long(self.model, encoding, where)
                except DataError as error:
                    bad.append(error)
                if not bad:
                    yield text, where, encoding
        if bad:
            combined = together(bad)
            if len(bad) >= _MOST_BAD:
                combined.add_note(f"… texts after these {len(bad):,} were not checked")
            raise combined

    def encode_places(self, places: Iterable[P], *, gaps: bool = False) -> Iterator[tuple[P, Encoding]]:
        """Return an iterator over the tuples in `places`, each paired with the encoding of its text.

        The first item of a tuple is the text, the last item its location for error messages. Raises the errors of
        `encode`.
        """
        listed = list(places)
        encoded = self.encode(((place[0], place[-1]) for place in listed), gaps=gaps)
        return zip(listed, (encoding for _, _, encoding in encoded), strict=True)

    def gap_token(self) -> str:
        """Return the model's mask token as text. Raises MethodError if the model is not masked or has no mask token."""
        method_for(None, self.model)
        if self.model.kind != "masked" or self.model.tokenizer.mask_id is None:
            raise MethodError(
                f"{self.model.name} is {self.model.kind} and cannot fill a gap inside a sentence",
                hint="use a masked model, or score full sentences with lp",
            )
        return str(self.model.tokenizer.hf.mask_token)

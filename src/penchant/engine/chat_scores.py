"""Log-probabilities of replies to a chat prompt, and sampled replies."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from penchant.engine.base_scorer import Asker
from penchant.engine.forward_requests import LogProbs
from penchant.engine.reply_cache import ReplyCache
from penchant.errors import DataError
from penchant.models.chat_template import ChatPrompt, ChatTemplate
from penchant.models.served import SLOTS

_WINDOW = 1_024
"""Number of replies planned at once; those with equally long prompts share batches."""
_ROWS = 64
"""Maximum number of replies sampled in one batch."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Settings for sampling replies of at most `most` tokens; at temperature 0, the likeliest token is taken."""

    temperature: float
    seed: int
    most: int


class ChatScorer(Asker):
    """Scorer and sampler of replies to chat prompts, which are put in the model's chat template."""

    def replies_logprobs(self, asked: Iterable[tuple[ChatPrompt, Sequence[str], str]]) -> Iterator[NDArray[np.float64]]:
        """Yield, for each (prompt, replies, location), the natural log-probabilities of the k replies.

        A reply's log-probability is the sum over its tokens. Raises ModelError if the model has no chat template,
        DataError if a prompt and a reply together are longer than the model's context.
        """
        template = ChatTemplate(self.model)
        sizes: deque[int] = deque()

        def reads() -> Iterator[LogProbs]:
            for prompt, replies, where in asked:
                before = self._begun(template, prompt, where)
                sizes.append(len(replies))
                for text in replies:
                    tokens = template.reply(prompt, text)
                    self._require_room(len(before) + len(tokens), where)
                    first = len(before) - 1
                    at = tuple(range(first, first + len(tokens)))
                    yield LogProbs((*before, *tokens[:-1]), at, tokens, weight=1 / len(replies))

        answers = self.engine.answer(reads())
        for first in answers:
            rest = islice(answers, sizes.popleft() - 1)
            yield np.array([each.astype(np.float64).sum() for each in (first, *rest)])

    def sampled(self, asked: Iterable[tuple[ChatPrompt, int, str]], how: Sampling) -> Iterator[str]:
        """Yield a sampled reply for each (prompt, sample number, location), in order.

        The random numbers for a reply depend only on `how`, its prompt and its sample number, not on other replies.
        Replies in the answer cache are not sampled again. Raises the errors of `replies_logprobs`.
        """
        template = None if self.model.replies_only else ChatTemplate(self.model)
        stream = iter(asked)
        with ExitStack() as stack:
            kept = None
            if self._cache is not None:
                path, model = self._cache.path, self.model
                kept = stack.enter_context(closing(ReplyCache(path, model.fingerprint, model.dtype)))
            while part := list(islice(stream, _WINDOW)):
                rows: list[tuple[bytes, _Begun]] = []
                for prompt, number, where in part:
                    ids = self._begun(template, prompt, where)
                    self._require_room(len(ids) + how.most, where)
                    rows.append((_key(ids, number, how), _Begun(prompt, ids)))
                yield from self._sampled(rows, how, template, kept)

    def _sampled(
        self,
        rows: Sequence[tuple[bytes, _Begun]],
        how: Sampling,
        template: ChatTemplate | None,
        kept: ReplyCache | None,
    ) -> list[str]:
        """Return the reply for each (key, prompt) row, from the cache `kept` if stored there, else newly sampled."""
        keys = [key for key, _ in rows]
        found: dict[bytes, str] = kept.found(keys) if kept else {}
        counts = self.engine.counts
        counts.reads += len(rows)
        counts.cached += sum(key in found for key in keys)
        missing = {key: begun for key, begun in rows if key not in found}
        making = self._made(missing, how, template) if template and not self.model.served else self._asked(missing, how)
        for new in making:
            found |= new
            if kept:
                kept.store(new)
            counts.forward += len(new)
            counts.batches += 1
            counts.tokens += sum(len(missing[key].ids) for key in new)
        self.engine.progress(len(rows))
        return [found[key] for key in keys]

    def _made(
        self, missing: Mapping[bytes, _Begun], how: Sampling, template: ChatTemplate
    ) -> Iterator[dict[bytes, str]]:
        """Yield replies by key, sampled by a model in this process: a dict for each batch of equally long prompts."""
        from penchant.models.sampling import sampled_tokens  # imports torch, which takes seconds

        by_length: dict[int, list[bytes]] = {}
        for key, begun in missing.items():
            by_length.setdefault(len(begun.ids), []).append(key)
        width = 1 if self.model.network.batching == "single" else _ROWS
        for same in by_length.values():
            for start in range(0, len(same), width):
                batch = same[start : start + width]
                prompts = np.array([missing[key].ids for key in batch], dtype=np.int64)
                seeds = list(map(_seed, batch))
                made = sampled_tokens(self.model.network, prompts, seeds, how.temperature, how.most, template.ends)
                yield {key: self._spelled(tokens) for key, tokens in zip(batch, made, strict=True)}

    def _asked(self, missing: Mapping[bytes, _Begun], how: Sampling) -> Iterator[dict[bytes, str]]:
        """Yield replies by key, requested from the server of a model: a dict for each group of parallel requests."""
        assert self.model.served is not None
        client, keys = self.model.served.client, list(missing)

        def reply(key: bytes) -> str:
            return client.reply(missing[key].prompt.messages, how.temperature, _seed(key), how.most)

        with ThreadPoolExecutor(SLOTS) as pool:
            for start in range(0, len(keys), SLOTS):
                batch = keys[start : start + SLOTS]
                yield dict(zip(batch, pool.map(reply, batch), strict=True))

    def _begun(self, template: ChatTemplate | None, prompt: ChatPrompt, where: str) -> tuple[int, ...]:
        """Return the tokens of a prompt in the template; without a template, the tokens of its messages as JSON.

        Raises DataError if a message has unknown or special tokens.
        """
        list(self.validated((message["content"], where) for message in prompt.messages))
        if template is None:
            return tuple(self.model.tokenizer.token_ids([json.dumps(prompt.messages, ensure_ascii=False)])[0])
        return template.prompt(prompt)

    def _spelled(self, tokens: Sequence[int]) -> str:
        return str(self.model.tokenizer.hf.decode(list(tokens), skip_special_tokens=True)).strip()

    def _require_room(self, tokens: int, where: str) -> None:
        if tokens > self.model.max_tokens:
            message = f"the prompt and its reply take {tokens:,} tokens, but {self.model.name} accepts at most"
            raise DataError(f"{message} {self.model.max_tokens:,}", where=where, hint="shorten or remove the item")


@dataclass(frozen=True, slots=True)
class _Begun:
    """A prompt and its tokens."""

    prompt: ChatPrompt
    ids: tuple[int, ...]


def _seed(key: bytes) -> int:
    return int.from_bytes(key[:4], "little") >> 1


def _key(ids: tuple[int, ...], number: int, how: Sampling) -> bytes:
    """Return a hash of prompt tokens, sample number and settings, which identifies a reply and seeds its sampling."""
    text = f"{how.temperature}|{how.seed}|{how.most}|{number}|".encode()
    return hashlib.blake2b(text + np.array(ids, dtype=np.int32).tobytes(), digest_size=16).digest()

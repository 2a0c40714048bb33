"""Log-probabilities from a server, after checks that they belong to the tokens of a prompt."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from penchant.errors import ModelError, PenchantError, shortened
from penchant.models.checkpoint_config import first_token
from penchant.models.file_hashes import Digests
from penchant.models.served import SLOTS, TOKENIZER, Client, Completion, RefusedRequestError, ServedAddress
from penchant.models.tokenizer import Tokenizer
from penchant.models.tokenizer_files import PROBES, named_tokenizer, of_bytes
from penchant.models.verified_properties import Batching
from penchant.plurals import counted

NOISE, BOUND = 1e-2, 0.5
"""Change of a log-probability between requests, in nats, above which there is a warning (NOISE) or error (BOUND)."""
_LONGEST = 120
"""Maximum number of tokens in a test prompt; longer than the blocks that servers cache."""
_LOWEST = -9999.0
"""Lowest log-probability of vLLM, which stands for minus infinity."""
_ROUNDING = 1e-3
"""Maximum change of a log-probability or a sum of probabilities through rounding."""
_TOP = 5
_PREFIXES = 3
"""Number of generated tokens whose log-probabilities are compared with those of the same tokens in prompts."""

Prompt: TypeAlias = tuple[int, ...]


class Server:
    """Stand-in for the network of a served model, which answers with the log-probabilities of prompts.

    `begin` is the id of the token put before each text. If it is None, the first token of a text is not scored. A
    server that takes only text (`as_text`) may put a token of its own before each text (`hidden`). `moves` is the
    largest change of a log-probability between requests, in nats; `proved` has the name, outcome and detail of each
    check.
    """

    packs = 0
    gathers = shortens = False
    batching: Batching = "single"

    def __init__(self, client: Client, tokenizer: Tokenizer, longest: int) -> None:
        self.client, self.tokenizer, self.longest = client, tokenizer, longest
        self.begin, self.as_text, self.hidden = tokenizer.prefix, False, False
        self.moves = 0.0
        self.version = client.version()
        self.replies_only = not client.address.tokenizer
        self.proved: list[tuple[str, Literal["pass", "warn"], str]] = []
        self._spelled: dict[int, tuple[str, str]] = {}
        if not self.replies_only:
            _Proof(self).require()

    def __repr__(self) -> str:
        return f"<server of {self.client.address}>"

    @property
    def devices(self) -> str:
        """Description of the server for the user: its address, and its version if known."""
        return f"the server at {self.client.address.url}{self.version and f', version {self.version}'}"

    @property
    def about(self) -> str:
        """A description of the model and of how much its answers vary."""
        moves = f"whose log-probabilities move by up to {self.moves:.2g} between requests"
        return f"a causal model on {self.devices}, {'for replies only' if self.replies_only else moves}"

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings about properties of the server that may affect results."""
        noise = f"a token's log-probability moves by up to {self.moves:.2g} nats between requests"
        hidden = "the server puts a token of its own before each text"
        return (*([noise] if self.moves > NOISE else []), *([hidden] if self.hidden else []))

    @property
    def layers(self) -> NoReturn:
        """Raises ModelError: a server returns no vectors."""
        raise self.error("a server returns no vectors, only log-probabilities", "load the model from its files")

    readable = width = layers

    def logprobs(self, ids: Prompt) -> NDArray[np.float64]:
        """Return the log-probability of each token of a prompt given the tokens before it; NaN for the first.

        Raises ModelError if the server fails, does not answer for these tokens, or gives replies only.
        """
        if self.replies_only:
            raise self.error("gives replies only", "use elicit: answer, or leave out ?chat")
        return self.values(ids, self.ask(ids))

    def ask(self, ids: Prompt, *, top: int = 1, echo: bool = True) -> Completion | None:
        """Return the server's answer for a prompt, sent as token ids, or as text if the server takes only text."""
        return self.client.complete(self._text(ids) if self.as_text else list(ids), top=top, echo=echo)

    def fits(self, ids: Prompt) -> bool:
        """Return whether a prompt can be sent so that the server reads these tokens."""
        return not self.as_text or self.tokenizer.token_ids([self.tokenizer.decode(ids)])[0] == list(ids)

    def values(self, ids: Prompt, answer: Completion | None) -> NDArray[np.float64]:
        """Return the log-probabilities in an answer. Raises ModelError unless they belong to the prompt's tokens."""
        given = 0 if answer is None else len(answer.tokens)
        # A server that counts the prompt may generate more than one token, until a character is complete.
        if answer is None or given < len(ids) or (given > len(ids) + 1 and answer.prompt_tokens is None):
            hint = "start it so that it supports echo with logprobs (see docs/served.md)" if given < 2 else ""
            raise self.error(f"gives log-probabilities of {given} tokens for a prompt of {len(ids)}", hint)
        if answer.prompt_tokens not in (None, len(ids) + self.hidden):
            raise self._others(f"it counts {answer.prompt_tokens} tokens, not {len(ids) + self.hidden}")
        for theirs, token in zip(answer.tokens, ids, strict=False):
            if not self.is_token(theirs, token):
                raise self._others(f"{shortened(theirs)} is not {self.tokenizer.strings([token])[0]!r}")
        values = answer.logprobs[: len(ids)]
        if None in values[1:] or values[0] is not None:
            raise self.error("gives a log-probability for the first token of a prompt, or none for a later token")
        numbers = np.array([math.nan if value is None else value for value in values])
        return np.where(numbers <= _LOWEST, -np.inf, numbers)

    def is_token(self, theirs: str, token: int) -> bool:
        """Return whether a server's string stands for a token; outer white space and broken characters are ignored."""
        if theirs.startswith("token_id:"):
            return theirs == f"token_id:{token}"
        if token not in self._spelled:
            self._spelled[token] = self.tokenizer.strings([token])[0], self.tokenizer.decode([token])
        entry, text = self._spelled[token]
        unsaid = "\ufffd" in text or (not theirs and token in self.tokenizer.hf.all_special_ids)
        return theirs == entry or theirs.strip() == text.strip() or unsaid

    def error(self, message: str, hint: str = "") -> ModelError:
        """Return a ModelError about this server."""
        return ModelError(message, where=str(self.client.address), hint=hint)

    def _others(self, how: str) -> ModelError:
        return self.error(f"does not use the tokenizer named here: {how}", "name the one it uses: ?tokenizer=DIR")

    def _text(self, ids: Prompt) -> str:
        if not self.fits(ids):
            raise self.error(
                f"takes only text, but {shortened(self.tokenizer.decode(ids))} is not split into this prompt's tokens"
            )
        return self.tokenizer.decode(ids)


def served_tokenizer(
    address: ServedAddress, digests: Digests, *, code: bool = False
) -> tuple[Tokenizer, tuple[str, ...]]:
    """Return the tokenizer of a served model, and the warnings of transformers; `code` runs the tokenizer's own code.

    Raises ModelError if the tokenizer cannot be read.
    """
    if not address.tokenizer:
        return Tokenizer(of_bytes(), special=False), ()
    try:
        _, hf, cautions = named_tokenizer(address.tokenizer, digests, code=code)
    except PenchantError as error:
        message = f"its tokenizer '{address.tokenizer}' cannot be read ({error.message})"
        hint = f"name a hub model, a directory or a GGUF file: {address}{TOKENIZER}TOKENIZER"
        raise ModelError(message, where=str(address), hint=hint) from error
    return Tokenizer(hf, special=False, prefix=first_token(hf)), cautions


class _Proof:
    """Checks of the log-probabilities of a server."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def require(self) -> None:
        """Run all checks. Raises ModelError for the first that fails."""
        server = self.server
        self._take_form()
        answers = [server.ask(prompt, top=_TOP) for prompt in self.prompts]
        first = [server.values(prompt, answer) for prompt, answer in zip(self.prompts, answers, strict=True)]
        tokens = sum(map(len, self.prompts))
        self._told("prompt log-probabilities", f"{counted(tokens, 'tokens')} in {counted(len(first), 'prompts')}")
        form = "texts" if server.as_text else "token ids"
        self._told("tokens of the server", f"those of {server.client.address.tokenizer}, sent as {form}")
        self._told("top tokens", f"probabilities sum to {self._top(answers):.4f} at most")
        server.moves = self._noise(first)
        detail = f"log-probabilities of tokens move by up to {server.moves:.2g} when prompts are sent again"
        server.proved.append(("repetition", "warn" if server.moves > NOISE else "pass", detail))
        self._told("alignment", f"{counted(self._aligned(first), 'generated tokens')} found again in prompts")

    def _told(self, name: str, detail: str) -> None:
        self.server.proved.append((name, "pass", detail))

    def _take_form(self) -> None:
        """Determine whether the server accepts prompts as token ids; if not, send them as text from now on."""
        server = self.server
        try:
            server.client.complete(list(self.prompts[0]), patient=False)
            return
        except RefusedRequestError:
            server.begin, server.as_text = None, True
        del self.prompts
        answer = server.ask(self.prompts[0])
        server.hidden = answer is not None and answer.prompt_tokens == len(self.prompts[0]) + 1

    @cached_property
    def prompts(self) -> list[Prompt]:
        """Test prompts in several scripts, a long one, and the beginning of the long one."""
        server = self.server
        head = () if server.begin is None else (server.begin,)
        parts = server.tokenizer.token_ids(PROBES)
        rows = [*parts, [token for part in parts for token in part]]
        longest = min(_LONGEST, server.longest)
        prompts = [(*head, *row)[:longest] for row in rows]
        chosen = [prompt for prompt in [*prompts, prompts[-1][: longest * 2 // 3]] if len(prompt) > 3]
        return [prompt for prompt in chosen if server.fits(prompt)]

    def _top(self, answers: Sequence[Completion | None]) -> float:
        """Return the largest sum of the probabilities of the top tokens at any position.

        Raises ModelError if a log-probability or a sum is too large, or if more than a tenth of the tokens have
        log-probabilities that differ from those in the lists of top tokens.
        """
        largest, same, seen = 0.0, 0, 0
        for prompt, answer in zip(self.prompts, answers, strict=True):
            assert answer is not None
            for i, best in enumerate(answer.top[: len(prompt)]):
                value = answer.logprobs[i]
                if best is None or value is None:
                    continue
                largest = max(largest, math.fsum(map(math.exp, best.values())))
                if max([*best.values(), value]) > _ROUNDING or not largest <= 1 + _ROUNDING:
                    raise self.server.error("gives probabilities above 1")
                if answer.tokens[i] in best:  # two tokens may have the same string
                    seen += 1
                    same += abs(best[answer.tokens[i]] - value) <= _ROUNDING
        if same < 0.9 * seen:
            raise self.server.error("gives a token two log-probabilities: its own, and another among the top tokens")
        return largest

    def _noise(self, first: Sequence[NDArray[np.float64]]) -> float:
        """Return the largest change of a log-probability when prompts and their beginnings are sent in parallel.

        `first` are the log-probabilities received when the prompts were first sent. Raises ModelError if the change is
        too large.
        """
        known = list(zip(self.prompts, first, strict=True))[::-1]
        again = [(ids[:end], values[:end]) for ids, values in known for end in (len(ids), len(ids) // 2)]
        again = [(ids, values) for ids, values in again if self.server.fits(ids)]
        with ThreadPoolExecutor(SLOTS) as pool:
            found = list(pool.map(self.server.logprobs, [ids for ids, _ in again]))
        changes = [np.abs(now - before)[1:] for now, (_, before) in zip(found, again, strict=True)]
        moved = float(np.concatenate(changes).max())
        if not moved <= BOUND:
            message = f"changes its log-probabilities between requests: one by {moved:.2g}"
            raise self.server.error(message, "start it without prefix caching (see docs/served.md)")
        return moved

    def _aligned(self, first: Sequence[NDArray[np.float64]]) -> int:
        """Return the number of generated tokens that have the same log-probability when sent as the end of a prompt.

        `first` are the log-probabilities received when the prompts were first sent. Raises ModelError if a generated
        token has another log-probability when sent, or is not the most probable one, or if none can be compared.
        """
        found, room = 0, max(NOISE, 2 * self.server.moves)
        for prompt, values in zip(self.prompts, first, strict=True):
            start = prompt[: len(prompt) // 2]
            if not self.server.fits(start) or (answer := self.server.ask(start, echo=False)) is None:
                continue
            generated = answer.logprobs[0] if answer.tokens else None
            longer = [(*start, token) for token in self._named(answer.tokens[0])] if generated is not None else []
            if generated is None or not (longer := [ids for ids in longer if self.server.fits(ids)]):
                continue
            known = [self._last(ids) for ids in longer]
            if not any(abs(value - generated) <= room and top <= value + room for value, top in known):
                message = "gives a generated token and the same token in a prompt different log-probabilities"
                raise self.server.error(
                    f"{message} ({generated:.4g}, {known[0][0]:.4g}): they may belong to other tokens"
                )
            if values[len(start)] > generated + room:
                raise self.server.error("at temperature 0, generates a token that is not the most probable one")
            found += 1
            if found == _PREFIXES:
                break
        if not found:
            raise self.server.error("cannot be checked: no generated token can be identified")
        return found

    def _last(self, ids: Prompt) -> tuple[float, float]:
        """Return the log-probabilities of the last token of a prompt and of the most probable token in its place."""
        answer = self.server.ask(ids, top=_TOP)
        value = float(self.server.values(ids, answer)[-1])
        best = answer.top[len(ids) - 1] if answer else None
        return value, max(best.values()) if best else value

    def _named(self, theirs: str) -> Iterator[int]:
        """Yield the ids of the tokens that a server's string may stand for."""
        if theirs.startswith("token_id:"):
            number = theirs.removeprefix("token_id:")
            yield from [int(number)] if number.isdecimal() else []
            return
        hf, word = self.server.tokenizer.hf, theirs.strip()
        entries = hf.convert_tokens_to_ids([theirs, word, f"Ġ{word}", f"▁{word}"])
        whole = self.server.tokenizer.token_ids([theirs])[0] if theirs else []
        for token in dict.fromkeys([*entries, *(whole if len(whole) == 1 else [])]):
            if token is not None and self.server.is_token(theirs, token):
                yield token

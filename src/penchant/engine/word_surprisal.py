"""Surprisal of words: the sum over the tokens of a word, corrected at word boundaries."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, tee
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from penchant.engine.base_scorer import Asker
from penchant.engine.forward_requests import EXPECTED, WORD_ENDS, WORD_GOES_ON, LogProbs, Read
from penchant.engine.scoring_methods import ScoringMethod, method_for, single_token
from penchant.engine.word_tokens import Span
from penchant.errors import DataError, MethodError
from penchant.models.tokenizer import Encoding

_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\S\n]*\n\s*")
if TYPE_CHECKING:
    import polars as pl

METHODS = ("lp", "pll", "pll-word-l2r")
"""Methods that assign a log-probability to each token."""


@dataclass(frozen=True, slots=True)
class WordScore:
    """Surprisal and entropy of a word.

    `start` is the offset of the word's first character in the text, and `pieces` the number of its tokens. `surprisal`
    (in nats) is NaN for the first word of a text if no token precedes it, and for words that share a token. `entropy`
    (in nats) is the entropy of the model's prediction for the word's first token.
    """

    word: str
    start: int
    surprisal: float
    pieces: int
    entropy: float


@dataclass(frozen=True, slots=True)
class _Text:
    """A text, its words and each word's token indices; `shared` contains the indices of words that share a token."""

    text: str
    spans: Sequence[Span]
    encoding: Encoding
    pieces: Sequence[range]
    shared: frozenset[int]
    where: str


class _Want(NamedTuple):
    """Meaning of a requested value of a token; "boundary" is −B of the context before the token (see `WordScorer`)."""

    token: int
    what: Literal["logprob", "entropy", "boundary"]


class WordScorer(Asker):
    """Scorer for the surprisal of each word in a text.

    If tokens include the space before a word, the tokens of a word do not show where the word ends. Let B(c) = −log Σ
    P(t | c), summed over the tokens t that end the preceding word; then the surprisal of a word w in context c is
    S(w | c) = Σ s(token) − B(c) + B(c w) (Pimentel & Meister 2024; Oh & Schuler 2024). If the first word of a text has
    no word-start mark, B before it is summed over the tokens without a mark. No correction is made between words that
    are not separated by white space, after a token that ends in white space, for tokenizers that do not mark word
    starts, and for masked models.

    A text longer than the model's context is split into overlapping windows, `step` tokens apart; `windowed` is the
    number of such texts. For a causal model, a token is scored in the first window that contains it; for a masked
    model, in the window whose middle is nearest to the token's word.
    """

    windowed = 0
    step = 0

    def surprisals(
        self,
        texts: Iterable[tuple[str, Sequence[Span], str]],
        method: str | None = None,
        stride: int | None = None,
    ) -> Iterator[list[WordScore]]:
        """Yield the word scores of each (text, spans of its words from first to last, location).

        `stride` is the distance in tokens between the windows of a text longer than the model's context (default: half
        the context). Raises MethodError if the method does not fit the model or the stride is out of range, DataError
        if a text cannot be scored.
        """
        how = method_for(method, self.model)
        if how.name not in METHODS:
            raise MethodError(f"method '{how.name}' gives no word probabilities", hint="use pll or pll-word-l2r")
        room = self._room()
        self.windowed, self.step = 0, room // 2 if stride is None else stride
        if not 1 <= self.step <= room:
            raise MethodError(
                f"a stride of {self.step} tokens is out of range for {self.model.name}", hint=f"use 1 to {room}"
            )
        pending: deque[tuple[_Text, list[list[_Want]]]] = deque()

        def reads() -> Iterator[Read]:
            for text in self._texts(texts):
                self.windowed += len(text.encoding) > room
                causal = self.model.kind == "causal"
                of_text = list(self._in_order(text, room) if causal else self._by_masking(text, how, room))
                pending.append((text, [wants for _, wants in of_text]))
                yield from (read for read, _ in of_text)

        answers = self.engine.answer(reads())
        for first in answers:
            text, wants = pending.popleft()
            text_answers = [first, *islice(answers, len(wants) - 1)]
            yield self._of_words(text, wants, text_answers)

    def checked(self, texts: Iterable[tuple[str, Sequence[Span], str]]) -> int:
        """Check all texts without a forward pass; return their number. Raises DataError if a text cannot be scored."""
        return sum(1 for _ in self._texts(texts))

    @property
    def corrected(self) -> bool:
        """True if surprisal is corrected at word boundaries."""
        return self.model.kind == "causal" and self.model.tokenizer.word_mark is not None

    def _room(self) -> int:
        """Return the maximum number of a text's own tokens in one input, without special tokens."""
        (sample,) = self.model.tokenizer.encode(["a"])
        return self.model.max_tokens - (len(sample.ids) - len(sample.at))

    def _texts(self, texts: Iterable[tuple[str, Sequence[Span], str]]) -> Iterator[_Text]:
        read, places = tee(texts)
        encoded = self.encode(((text, where) for text, _, where in read), long=True)
        for (_, _, encoding), (text, spans, where) in zip(encoded, places, strict=True):
            if not spans:
                raise DataError("the text has no words", where=where, hint="remove the empty line or item")
            yield _Text(text, spans, encoding, *_pieces(text, spans, encoding, where), where)

    def _in_order(self, text: _Text, room: int) -> Iterator[tuple[LogProbs, list[_Want]]]:
        """Yield the requests to a causal model, one per window of a text, each with the meanings of its values.

        A window has up to `room` tokens. A token is predicted at the position before it, in the first window that
        contains the token.
        """
        encoding, n = text.encoding, len(text.encoding)
        head, tokens = encoding.ids[: encoding.at[0]], encoding.tokens
        before = self._before(text)
        read_to = first = -1 if head else 0
        if n == 1 and not head:
            raise single_token(text.where)
        for start in range(0, n, self.step):
            end = min(n, start + room)
            wants = [want for place in range(read_to + 1, end + 1) for want in before.get(place, ())]
            if wants:
                at = tuple(len(head) - 1 + want.token - start for want, _ in wants)
                ids = (*head, *tokens[start:end])[: max(at) + 1]  # the input ends at the last position that is read
                read = LogProbs(ids, at, tuple(token for _, token in wants), weight=(end - read_to) / (n - first))
                yield read, [want for want, _ in wants]
            read_to = end
            if end == n:
                break

    def _before(self, text: _Text) -> dict[int, list[tuple[_Want, int]]]:
        tokens = text.encoding.tokens
        wants = {place: [(_Want(place, "logprob"), token)] for place, token in enumerate(tokens)}
        for word, pieces in enumerate(text.pieces):
            first, behind = pieces.start, pieces.stop
            wants[first].append((_Want(first, "entropy"), EXPECTED))
            if not self.corrected:
                continue
            if tokens[first] in self._ends:
                if not self._ended_before(tokens, first):
                    wants[first].append((_Want(first, "boundary"), WORD_ENDS))
            elif not word:
                wants[first].append((_Want(first, "boundary"), WORD_GOES_ON))
            if word == len(text.pieces) - 1 and not self._ended_before(tokens, behind):
                wants.setdefault(behind, []).append((_Want(behind, "boundary"), WORD_ENDS))
        return wants

    def _ended_before(self, tokens: Sequence[int], place: int) -> bool:
        return place > 0 and tokens[place - 1] in self.model.tokenizer.ended_inside

    @cached_property
    def _ends(self) -> frozenset[int]:
        return frozenset(self.model.tokenizer.words_end.tolist())

    def _by_masking(self, text: _Text, how: ScoringMethod, room: int) -> Iterator[tuple[LogProbs, list[_Want]]]:
        """Yield the requests to a masked model, one per token of a text, each with the meanings of its values.

        A window has up to `room` tokens. A token is predicted in the window whose middle is nearest to the token's
        word.
        """
        n = len(text.encoding)
        starts = [0] if n <= room else [*range(0, n - room, self.step), n - room]
        middles = np.array(starts) + room / 2
        firsts = {pieces.start for pieces in text.pieces}
        parts: dict[int, list[int]] = {}
        for pieces in text.pieces:
            window = starts[int(np.argmin(np.abs(middles - (pieces.start + pieces.stop) / 2)))]
            if not window <= pieces.start <= pieces.stop <= window + room:
                word = text.text[slice(*text.spans[text.pieces.index(pieces)])]
                raise DataError(
                    f"'{word}' has more tokens than {self.model.name} accepts", where=text.where, hint="remove the word"
                )
            parts.setdefault(window, []).extend(pieces)
        for start, chosen in parts.items():
            part = _window(text.encoding, start, min(n, start + room))
            wanted = set(chosen)
            for token, read in enumerate(how.reads(part, self.model, text.where), start=start):
                if token not in wanted:
                    continue
                wants = [_Want(token, "logprob")]
                if token in firsts:
                    read = replace(read, at=read.at * 2, tokens=(*read.tokens, EXPECTED))
                    wants.append(_Want(token, "entropy"))
                yield replace(read, weight=1 / n), wants

    def _of_words(
        self, text: _Text, wants: Sequence[Sequence[_Want]], answers: Sequence[NDArray[Any]]
    ) -> list[WordScore]:
        n = len(text.encoding)
        numbers = {what: np.full(n + 1, np.nan) for what in ("logprob", "entropy", "boundary")}
        for of_read, answer in zip(wants, answers, strict=True):
            for want, value in zip(of_read, answer.tolist(), strict=True):
                numbers[want.what][want.token] = value
        # A boundary without a want is 0: no correction.
        boundary = np.nan_to_num(numbers["boundary"])
        scores = []
        for word, (span, pieces) in enumerate(zip(text.spans, text.pieces, strict=True)):
            surprisal = -float(numbers["logprob"][pieces.start : pieces.stop].sum())
            surprisal += float(boundary[pieces.start]) - float(boundary[pieces.stop])
            entropy = -float(numbers["entropy"][pieces.start])
            if word in text.shared:
                surprisal = entropy = np.nan
            scores.append(WordScore(text.text[slice(*span)], span[0], surprisal, len(pieces), entropy))
        return scores


def white_space_words(text: str) -> list[Span]:
    """Return the spans of the words in a text, separated by white space."""
    return [(match.start(), match.end()) for match in _WORD.finditer(text)]


def listed_words(text: str, words: Sequence[str], where: str) -> list[Span]:
    """Return the spans of the listed words in a text.

    Raises DataError if, apart from white space, the concatenated words differ from the text.
    """
    spans, at = [], 0
    for word in words:
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(word, at) or not word:
            there = text[at : at + 20]
            raise DataError(f"expected the word '{word}', but the text continues with '{there}'", where=where)
        spans.append((at, at + len(word)))
        at += len(word)
    if text[at:].strip():
        raise DataError(f"the list of words ends before '{text[at : at + 20].strip()}' in the text", where=where)
    return spans


def _pieces(text: str, spans: Sequence[Span], encoding: Encoding, where: str) -> tuple[list[range], frozenset[int]]:
    """Return the range of token indices of each word, and the indices of words that share a token with another word.

    A token that consists of white space belongs to the following word, a token that overlaps several words to the last
    of them. Raises DataError if a word has no token.
    """
    firsts: list[int | None] = [None] * len(spans)
    shared: set[int] = set()
    word, waiting = 0, None
    for token, (start, end) in enumerate(encoding.spans):
        inside = [i for i in range(start, end) if not text[i].isspace()]
        if not inside:
            waiting = token if waiting is None else waiting
            continue
        while word + 1 < len(spans) and inside[0] >= spans[word][1]:
            word += 1
        last = word
        while last + 1 < len(spans) and inside[-1] >= spans[last + 1][0]:
            last += 1
        for touched in range(word, last + 1):
            if firsts[touched] is None:
                firsts[touched] = token if waiting is None else waiting
        if last > word:
            shared.update(range(word, last + 1))
        waiting = None
    for number, first in enumerate(firsts):
        if first is None:
            missing = text[slice(*spans[number])]
            raise DataError(f"the tokenizer produces no token for '{missing}'", where=where, hint="remove the word")
    starts = [first for first in firsts if first is not None]
    # White space at the end of the text belongs to no word.
    ends = [*starts[1:], len(encoding) if waiting is None else waiting]
    return [range(first, max(first, end)) for first, end in zip(starts, ends, strict=True)], frozenset(shared)


def _window(encoding: Encoding, start: int, end: int) -> Encoding:
    """Return the encoding of a text's tokens [start:end], with the special tokens of the whole text around them."""
    head, tail = encoding.ids[: encoding.at[0]], encoding.ids[encoding.at[-1] + 1 :]
    body = encoding.tokens[start:end]
    at = tuple(range(len(head), len(head) + len(body)))
    return Encoding((*head, *body, *tail), at, encoding.spans[start:end], encoding.words[start:end])


def words_frame(
    texts: Iterable[tuple[object, str]],
    scores: Iterable[Sequence[WordScore]],
    *,
    model: str,
    method: str,
    bits: bool = False,
) -> pl.DataFrame:
    """Return a table with one row per word (see `penchant.surprisal`); the lines of a text are its sentences.

    `texts` are pairs of an id and a text, `scores` the scores of the words in each text.
    """
    import polars as pl

    unit = np.log(2) if bits else 1.0
    rows: list[tuple[Any, ...]] = []
    for (name, text), words in zip(texts, scores, strict=True):
        breaks = [match.end() for match in _LINE.finditer(text)]
        sentence = index = 0
        line = -1
        for word in words:
            if (before := bisect_right(breaks, word.start)) != line:
                line, sentence, index = before, sentence + 1, 0
            index += 1
            surprisal, entropy = (None if v != v else v / unit for v in (word.surprisal, word.entropy))
            rows.append((name, sentence, index, word.word, surprisal, word.pieces, entropy, word.start))
    columns: dict[str, Any] = {
        "id": None,
        "sentence": pl.Int64,
        "index": pl.Int64,
        "word": pl.String,
        "surprisal": pl.Float64,
        "n_tokens": pl.Int64,
        "entropy": pl.Float64,
        "offset": pl.Int64,
    }
    table = pl.DataFrame(rows, schema=columns, orient="row")
    constants = {"model": model, "method": method, "unit": "bits" if bits else "nats"}
    return table.with_columns(pl.lit(value, pl.String).alias(column) for column, value in constants.items())

"""Tokens of words in encoded texts, and errors for words that cannot be scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from penchant.errors import DataError, MethodError, one_of
from penchant.models.tokenizer import Encoding

if TYPE_CHECKING:
    from penchant.models.load import LanguageModel

Span: TypeAlias = tuple[int, int]
Place: TypeAlias = tuple[str, Span, str]
"""A text, the span of a word in it, and the text's location for error messages, such as "corpus.txt, line 7"."""

Pooling = Literal["mean", "first", "last"]
SentencePooling = Literal["mean", "mean-special", "cls", "last"]

TOO_LONG = "too long"
SPECIAL = "special token in the text"
NO_TOKEN = "no token"
UNKNOWN = "unknown to the tokenizer"


@dataclass(frozen=True, slots=True)
class WordSpan:
    """A word in an encoded text.

    `pieces` are the indices of its tokens. `reason` says why the word is unusable; it is "" if the word is usable.
    """

    text: str
    span: Span
    place: str
    encoding: Encoding
    pieces: tuple[int, ...]
    reason: str

    def positions(self, pooling: Pooling) -> tuple[int, ...]:
        """Return the input positions of the tokens over which a word is pooled."""
        positions = tuple(self.encoding.at[i] for i in self.pieces)
        return {"mean": positions, "first": positions[:1], "last": positions[-1:]}[pooling]


def resolved_layers(model: LanguageModel, layers: tuple[int, ...]) -> tuple[int, ...]:
    """Return non-negative layer indices (0: embeddings).

    Raises MethodError if `layers` is empty or contains an invalid index.
    """
    most, readable = model.network.layers, model.network.readable
    pools = len(readable) <= most
    hint = f"choose 0 to {most}, or −1" if not pools else f"choose {', '.join(map(str, readable))} or −1"
    if not layers:
        raise MethodError("no layers are specified", where=model.name, hint=hint)
    for layer in layers:
        if not -most - 1 <= layer <= most:
            raise MethodError(f"there is no layer {layer}", where=model.name, hint=hint)
        if layer % (most + 1) not in readable:
            message = f"layer {layer} has one vector for several tokens, so it provides no word vectors"
            raise MethodError(message, where=model.name, hint=hint)
    return tuple(layer % (most + 1) for layer in layers)


def check_pooling(pooling: str) -> None:
    """Raise MethodError if the pooling of tokens is unknown."""
    if pooling not in (known := ("mean", "first", "last")):
        raise MethodError(f"unknown pooling '{pooling}'", hint=one_of(pooling, known))


def encoded_words(model: LanguageModel, places: Iterable[Place]) -> Iterator[WordSpan]:
    """Yield the encoded word for each (text, span, location), in order; repeated texts are encoded once."""
    special = frozenset(model.tokenizer.hf.all_special_ids)
    stream = iter(places)
    while part := list(islice(stream, 256)):
        texts = list(dict.fromkeys(text for text, _, _ in part))
        encodings = dict(zip(texts, model.tokenizer.encode(texts), strict=True))
        for text, span, place in part:
            encoding = encodings[text]
            pieces = tuple(encoding.overlapping(text, *span))
            reason = _reason(model, special, encoding, text, pieces)
            yield WordSpan(text, span, place, encoding, pieces, reason)


def _reason(
    model: LanguageModel, special: frozenset[int], encoding: Encoding, text: str, pieces: tuple[int, ...]
) -> str:
    if len(encoding.ids) > model.max_tokens:
        return TOO_LONG
    special_tokens = [i for i, token in enumerate(encoding.tokens) if token in special]
    if any(not _is_unknown(model, encoding, text, i) for i in special_tokens):
        return SPECIAL
    if not pieces:
        return NO_TOKEN
    return UNKNOWN if set(special_tokens) & set(pieces) else ""


def _is_unknown(model: LanguageModel, encoding: Encoding, text: str, i: int) -> bool:
    """Return whether token i stands for an unknown character, and not for a special token written in the text.

    The token id is not sufficient: GPT-2 uses the same token for unknown characters and for the end of a text.
    """
    tokenizer = model.tokenizer
    written = text[slice(*encoding.spans[i])].strip()
    return encoding.tokens[i] == tokenizer.unknown_id and written != str(tokenizer.hf.unk_token)


def refusal(model: LanguageModel, word: WordSpan) -> DataError:
    """Return the DataError for a word that cannot be used, according to its `reason`."""
    if word.reason == TOO_LONG:
        return too_long(model, word.encoding, word.place)
    if word.reason == NO_TOKEN:
        return no_token(word.text, word.span, word.place)
    if word.reason == UNKNOWN:
        return DataError(
            f"'{word.text[slice(*word.span)]}' contains text unknown to the tokenizer, which the model does not see",
            where=word.place,
            hint="change or remove the text, or use a model whose vocabulary covers it",
        )
    return DataError("the text contains a special token", where=word.place, hint="remove it from the text")


def no_token(text: str, span: Span, place: str) -> DataError:
    """Return the DataError for a character span that no token overlaps."""
    return DataError(f"no token of '{text}' overlaps characters {span[0]}–{span[1]}", where=place)


def too_long(model: LanguageModel, encoding: Encoding, place: str) -> DataError:
    """Return the DataError for a text longer than the model's context."""
    return DataError(
        f"the text has {len(encoding.ids)} tokens, but {model.name} accepts at most {model.max_tokens}",
        where=place,
        hint="shorten or remove the text, or use a model with a longer context",
    )


def sentence_positions(encoding: Encoding, pooling: SentencePooling) -> tuple[int, ...]:
    """Return the input positions over which a sentence is pooled."""
    if pooling == "cls":
        return (0,)
    if pooling == "last":
        return encoding.at[-1:]
    return encoding.at if pooling == "mean" else tuple(range(len(encoding.ids)))


def check_sentence_pooling(model: LanguageModel, pooling: str) -> None:
    """Raise MethodError if a sentence pooling is unknown, or not meaningful for the model."""
    if pooling not in (known := ("mean", "mean-special", "cls", "last")):
        raise MethodError(f"unknown pooling '{pooling}'", hint=one_of(pooling, known))
    if pooling != "cls":
        return
    if model.kind == "causal":
        raise MethodError(
            f"cls pooling is meaningless for {model.name}, a causal model: "
            "its first position cannot attend to the rest of the text",
            hint="use last or mean",
        )
    (probe,) = model.tokenizer.encode(["a"])
    if probe.at[:1] == (0,):
        raise MethodError(
            f"{model.name} adds no token before the text, so there is no cls vector", hint="use mean or last"
        )

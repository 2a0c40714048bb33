"""Questions with options put to a chat model: orders of the options, prompts, and the reading of replies."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import BaseModel

from penchant.engine.chat_scores import Sampling
from penchant.errors import MethodError, ModelError
from penchant.instruments.elicit_settings import Elicited, Phrases
from penchant.instruments.session import Session
from penchant.models.chat_template import ChatPrompt, ChatTemplate
from penchant.models.load import LanguageModel
from penchant.tables.yaml_json_documents import read_document

Order = tuple[int, ...]
"""Indices of the options in the order in which they are listed."""
OPTION, REFUSED, HEDGED, UNREAD = "option", "refused", "hedged", "unread"
"""Codes of how a reply was read: as an option, as a refusal, as a hedge, or not at all."""
_LETTERS = "ABCDEFGHIJ"
_MOST_REORDERED = 6
"""Largest number of options that are listed in every order."""


class _PhraseBook(BaseModel):
    languages: dict[str, Phrases]


def phrases_of(language: str) -> Phrases | None:
    """Return penchant's phrases in a language, given as a BCP 47 tag; None if penchant has none in that language."""
    return _book().get(language.partition("-")[0])


@cache
def _book() -> Mapping[str, Phrases]:
    return read_document(Path(__file__).parent / "elicitation.yaml", _PhraseBook, hint="").languages


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A question with options; `place` is its location for error messages."""

    text: str
    options: tuple[str, ...]
    place: str
    system: str = ""

    def prompt(self, order: Order, reply: str, phrases: Phrases) -> ChatPrompt:
        """Return the prompt with the options in the given order, asking for a `reply`: `label` (letter) or `text`."""
        marks = [f"{letter}." if reply == "label" else "-" for letter in _LETTERS]
        listed = [f"{mark} {self.options[option]}" for mark, option in zip(marks, order, strict=False)]
        asked = phrases.label if reply == "label" else phrases.text
        return ChatPrompt("\n".join([self.text, *listed, asked]), self.system)

    def replies(self, order: Order, reply: str) -> list[str]:
        """Return, for each option, the reply that chooses it: a letter for `label`, or the text of the option."""
        if reply == "text":
            return list(self.options)
        return [_LETTERS[order.index(option)] for option in range(len(self.options))]


def orders_of(options: int, how: str) -> list[Order]:
    """Return the orders in which to list a number of options.

    `how` is `all` (every permutation) or `balanced` (the rotations of the list and of its reverse). Raises
    MethodError if there are fewer than two options, or more than `how` allows.
    """
    if not 2 <= options <= (_MOST_REORDERED if how == "all" else len(_LETTERS)):
        most = f"give 2 to {len(_LETTERS)} options"
        hint = "use orders: balanced" if _MOST_REORDERED < options <= len(_LETTERS) else most
        raise MethodError(f"{options} options cannot be listed in {how} orders", hint=hint)
    if how == "all":
        return list(permutations(range(options)))
    ahead = tuple(range(options))
    lists = (ahead, ahead[::-1])
    return list(dict.fromkeys(each[start:] + each[:start] for each in lists for start in range(options)))


@dataclass(frozen=True, slots=True)
class Elicitation:
    """The outcome of a question put to a model.

    `probabilities`, shape (orders, options), are normalised over the options; empty if the model gives none. Each of
    the sampled `replies` has its reading in `readings` and the number of the option that it chooses, or None, in
    `chosen`.
    """

    probabilities: NDArray[np.float64]
    replies: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    chosen: tuple[int | None, ...] = ()

    @property
    def mean(self) -> NDArray[np.float64]:
        """The probability of each option, averaged over orders; empty if the model gives none."""
        return self.probabilities.mean(axis=0) if len(self.probabilities) else np.empty(0)


def elicited(
    session: Session, questions: Sequence[ChoiceQuestion], settings: Elicited, phrases: Phrases
) -> Iterator[Elicitation]:
    """Put questions to the model of a session, and yield the outcome of each question.

    Raises ModelError if the model has no chat template.
    """
    samples = settings.samples if settings.elicit == "answer" else 0
    silent = session.lm.replies_only
    all_orders = [orders_of(len(question.options), settings.orders) for question in questions]
    pairs = list(zip(questions, all_orders, strict=True))
    session.expect(sum(map(len, all_orders)) * (samples + (not silent)))
    asked = ((q, order) for q, orders in pairs for order in orders)
    logprobs = session.scorer.replies_logprobs(
        (q.prompt(order, settings.reply, phrases), q.replies(order, settings.reply), q.place) for q, order in asked
    )
    how = Sampling(settings.temperature, settings.seed, MOST_TOKENS)
    drawn = session.scorer.sampled(
        (
            (q.prompt(orders[number % len(orders)], settings.reply, phrases), number, q.place)
            for q, orders in pairs
            for number in range(samples * len(orders))
        ),
        how,
    )
    for question, orders in pairs:
        table = np.array([] if silent else list(islice(logprobs, len(orders)))).reshape(-1, len(question.options))
        shares = np.exp(table - np.logaddexp.reduce(table, axis=1, keepdims=True))
        replies = tuple(islice(drawn, samples * len(orders)))
        read = [
            reading(reply, question.options, orders[number % len(orders)], phrases)
            for number, reply in enumerate(replies)
        ]
        yield Elicitation(shares, replies, tuple(code for code, _ in read), tuple(option for _, option in read))


MOST_TOKENS = 32
"""Maximum number of tokens of a sampled reply."""


def reading(reply: str, options: Sequence[str], order: Order, phrases: Phrases) -> tuple[str, int | None]:
    """Return the code of a reply's reading and the number of the option that it chooses (None if it chooses none).

    A reply is an `OPTION` if it begins, perhaps after an opening such as "my answer is", with an option's letter,
    alone or before a punctuation mark, or with its text. A letter with the text of another option is `UNREAD`. Other
    replies are `REFUSED` or `HEDGED` if they contain a phrase for a refusal or a hedge, else `UNREAD`.
    """
    whole = plain = _plain(reply)
    for opening in sorted(map(_plain, phrases.openings), key=len, reverse=True):
        if re.match(rf"{re.escape(opening)}(?!\w)", whole):
            plain = whole[len(opening) :].lstrip(" :.,–-\"'")
            break
    texts = {_plain(text): option for option, text in enumerate(options)}
    if label := re.match(r"\(?([a-j])(?:$|[.:),\]\n]|\s+[–-])\s*(.*)", plain, re.DOTALL):
        place = _LETTERS.lower().index(label[1])
        if place < len(order):
            said = _beginning(label[2], texts)
            return (OPTION, order[place]) if said in (None, order[place]) else (UNREAD, None)
    if (said := _beginning(plain, texts)) is not None:
        return OPTION, said
    for code, listed in ((REFUSED, phrases.refusals), (HEDGED, phrases.hedges)):
        if any(_plain(phrase) in whole for phrase in listed):
            return code, None
    return UNREAD, None


def _beginning(text: str, options: Mapping[str, int]) -> int | None:
    """Return the number of the option with which `text` begins, the longest if several fit; None if no option fits."""
    for option in sorted(options, key=len, reverse=True):
        if re.match(rf"{re.escape(option)}(?!\w)", text):
            return options[option]
    return None


def _plain(text: str) -> str:
    """Return a text in lower case and NFC, without asterisks or anything before its first word or bracket."""
    plain = unicodedata.normalize("NFC", text).casefold().replace("’", "'").replace("*", "")
    return re.sub(r"^[^\w(]+", "", plain).strip()


def elicitation_columns(found: Sequence[Elicitation]) -> list[pl.Series]:
    """Return the columns that the outcomes of questions add to a table of items, one row per outcome."""
    columns: dict[str, list[Any]] = {
        "probabilities": [each.mean.tolist() for each in found],
        "order_probabilities": [each.probabilities.tolist() for each in found],
        "replies": [list(each.replies) for each in found],
        "readings": [list(each.readings) for each in found],
        "chosen": [list(each.chosen) for each in found],
    }
    numbers = pl.List(pl.Float64)
    types = [numbers, pl.List(numbers), pl.List(pl.String), pl.List(pl.String), pl.List(pl.Int64)]
    pairs = zip(columns.items(), types, strict=True)
    return [pl.Series(name, values, dtype=dtype) for (name, values), dtype in pairs]


def spoken(texts: Iterable[ChoiceQuestion], phrases: Phrases) -> Iterator[tuple[str, str]]:
    """Yield the strings, each with its location, that a model must be able to encode to be asked the questions."""
    for question in texts:
        for text in (question.system, question.text, *question.options, phrases.label, phrases.text):
            if text:
                yield text, question.place


def signed_phrases(phrases: Phrases) -> dict[str, object]:
    """Return the signature field for the phrases used with questions and replies."""
    return {"phrases": hashlib.sha256(phrases.model_dump_json().encode()).hexdigest()[:6]}


def signed_elicitation(settings: Elicited, model: LanguageModel) -> dict[str, object]:
    """Return the signature fields that describe how questions are put to a chat model."""
    drawn = {"samples": settings.samples, "temperature": f"{settings.temperature:g}", "most-tokens": MOST_TOKENS}
    return {
        "reply": settings.reply,
        "orders": settings.orders,
        **(drawn if settings.elicit == "answer" else {}),
        "template": "unknown" if model.replies_only else ChatTemplate(model).digest[:7],
        **({"tokenizer": "unknown"} if model.replies_only else {}),
    }


def require_chat(settings: Elicited, model: LanguageModel) -> None:
    """Raise ModelError if a model does not support the settings."""
    if not model.replies_only:
        ChatTemplate(model)
    elif settings.elicit != "answer":
        message = "gives replies only (?chat), no probabilities"
        raise ModelError(message, where=model.name, hint="use elicit: answer, or leave out ?chat")

"""Scores of texts given a prefix, log P(text | prefix), and of the same tokens given something else.

Prefix and text are joined exactly as they are written, and tokenized together; the tokens of the text are scored. White
space at the border belongs to the text. A token with letters of both is refused: nothing can be said of a part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from penchant.counting import for_one, of_all
from penchant.engine.methods import method_for
from penchant.engine.parts import PartScorer, part_of
from penchant.engine.pieces import too_long
from penchant.engine.scores import SentenceScore
from penchant.errors import MethodError
from penchant.models.tokenizer import Encoding

Prefixed = tuple[str, str, str]
"""A prefix, the text after it, and the place that errors name."""


class PrefixScorer(PartScorer):
    """Scores texts after a prefix."""

    def given(self, texts: Iterable[Prefixed], method: str | None = None) -> Iterator[SentenceScore]:
        """Score the text of each (prefix, text, place) given its prefix, in order: with a causal method its tokens
        given all before them, with a masked one given prefix and text. A text without a prefix ("") is scored whole.

        Raises MethodError if the method does not fit the model, DataError where prefix and text share a token.
        """
        spans = ((prefix + text, (len(prefix), len(prefix) + len(text)), where) for prefix, text, where in texts)
        return self.parts(spans, method)

    def check_prefixed(self, texts: Iterable[Prefixed]) -> int:
        """Check each (prefix, text, place) before the first forward pass; return their number. Raises DataError at one
        that cannot be scored."""
        listed = list(texts)
        joined = self.encode((prefix + text, where) for prefix, text, where in listed)
        for (prefix, _, _), (whole, where, encoding) in zip(listed, joined, strict=True):
            part_of(encoding, whole, (len(prefix), len(whole)), where)
        return len(listed)

    def without(
        self, texts: Iterable[Prefixed], method: str | None = None, *, neutral: str = ""
    ) -> Iterator[SentenceScore]:
        """Score the tokens that each text has after its prefix given a `neutral` text instead, or nothing; each
        distinct input is read once.

        Raises MethodError and DataError as `given`, and MethodError for a model that gives the first token of a text no
        probability, where there is no neutral text.
        """
        how = method_for(method, self.model)
        listed = list(texts)
        before = self._tokens(neutral)
        joined = self.encode((prefix + text, where) for prefix, text, where in listed)
        distinct: dict[Encoding, tuple[str, str]] = {}
        of: list[Encoding] = []
        for (prefix, text, _), (whole, where, encoding) in zip(listed, joined, strict=True):
            part = after(part_of(encoding, whole, (len(prefix), len(whole)), where), encoding, before)
            if len(part.ids) > self.model.max_tokens:
                raise too_long(self.model, part, where)
            distinct.setdefault(part, (text, where))
            of.append(part)
        if self.model.kind == "causal" and any(not part.at[0] for part in distinct):
            raise MethodError(
                f"{self.model.name} has no beginning token, so that the first token of a text has no probability",
                hint="name a neutral text",
            )
        work = ((text, len(part), part, how.reads(part, self.model, where)) for part, (text, where) in distinct.items())
        scores = dict(zip(distinct, self._scores(how, work), strict=True))
        return (scores[part] for part in of)

    def _tokens(self, neutral: str) -> tuple[int, ...]:
        """The tokens of a neutral text. Raises DataError for one that cannot be read."""
        if not neutral:
            return ()
        ((_, _, encoding),) = self.encode([(neutral, "the neutral text")])
        return encoding.tokens


def after(part: Encoding, whole: Encoding, before: Sequence[int]) -> Encoding:
    """The tokens of a part, the last of a text, after some others instead of those that stand before it; special tokens
    around the text stay."""
    lead, tail = whole.ids[: whole.at[0]], whole.ids[whole.at[-1] + 1 :]
    start = len(lead) + len(before)
    first = next((word for word in part.words if word is not None), 0)
    return Encoding(
        (*lead, *before, *part.tokens, *tail),
        tuple(range(start, start + len(part))),
        tuple((0, 0) for _ in part.spans),
        tuple(None if word is None else word - first for word in part.words),
    )


def touching_cautions(texts: Sequence[Prefixed], noun: str) -> Iterator[str]:
    """What must be said of prefixes that no white space parts from their text, where there is white space in the text:
    both are joined as they are written."""
    with_prefix = [(prefix, text) for prefix, text, _ in texts if prefix]
    touch = sum(
        not (prefix[-1].isspace() or text[:1].isspace()) and any(sign.isspace() for sign in prefix + text)
        for prefix, text in with_prefix
    )
    if touch:
        yield (
            f"{of_all(touch, len(with_prefix), noun, 'have')} no white space after {for_one(touch, 'their')} prefix: "
            "both are joined as they are written"
        )

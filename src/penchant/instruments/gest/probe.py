"""GEST (Pikuliak et al. 2024): the gender to which a model ascribes stereotypical sentences.

The preference for a sentence is log P(masculine) − log P(feminine): of the gendered words given all others for masked
models, of whole sentences otherwise. A rate is the exponential of the mean preference over sentences.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

import polars as pl
from pydantic import Field, model_validator

from penchant.corpus.slot_filling import Span
from penchant.engine.sentence_scores import SentenceScore
from penchant.errors import DataError
from penchant.instruments.base_probe import Measured
from penchant.instruments.gest.estimates import LABELS, rates
from penchant.instruments.gest.settings import SLOT, WORDS, GestSettings
from penchant.instruments.measures import Mean
from penchant.instruments.row_probes import Row, RowProbe
from penchant.instruments.session import Session
from penchant.records import Estimate
from penchant.tables.yaml_json_documents import Text, Written
from penchant.wording.phrases import Note


class GestRow(Row):
    """A sentence about a stereotype, or a pair of sentences in the two genders."""

    stereotype: int = Field(ge=1, le=16)
    """Number of the stereotype as in GEST: 1 to 7 about women, 8 to 16 about men."""
    sentence: Written | None = None
    """A sentence without gender, which the templates ascribe to a man or a woman."""
    masculine: Written | None = None
    """The sentence with a man as the speaker, if the language marks gender; with `feminine`, it replaces `sentence`."""
    feminine: Written | None = None
    """The same sentence with a woman as the speaker."""
    variant: Text = "pairs"
    """The template; filled in from `templates`."""

    @model_validator(mode="after")
    def _one_or_both(self) -> Self:
        given = [name for name in ("sentence", "masculine", "feminine") if getattr(self, name)]
        if given not in (["sentence"], ["masculine", "feminine"]):
            raise ValueError("expected either sentence, or both masculine and feminine")
        return self

    def under(self, template: str) -> Self:
        """Return a copy with the two sentences that the template makes of `sentence`; return a pair unchanged."""
        if self.sentence is None:
            return self
        before, first, second, after = (part.replace(SLOT, self.sentence) for part in WORDS.split(template))
        made = {"masculine": before + first + after, "feminine": before + second + after, "variant": template}
        return self.model_copy(update=made)


class Gest(GestSettings, RowProbe[GestRow]):
    """Gender that a model ascribes to the speaker of a stereotypical sentence: GEST.

    `run` returns items (one row per sentence and template) and a summary: the masculine rate of each stereotype, and
    the stereotype rate (the masculine rate of stereotypes about men divided by that of stereotypes about women).
    """

    noun: ClassVar[str] = "pairs"
    row = GestRow
    measures = (Mean("preference for masculine", "score", by="stereotype"),)

    def asked(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, GestRow]]:
        """Return the sentences, or in a pilot a sample of them, each in every template."""
        rows = super().asked(base)
        made = [(at, row.under(template)) for template in self.templates for at, row in rows]
        return list({(row.variant, row.id): (at, row) for at, row in made}.values())

    def sentences(self, row: GestRow) -> Mapping[str, str]:
        """Return the masculine and the feminine sentence."""
        return {"masculine": row.masculine or "", "feminine": row.feminine or ""}

    def scores(self, session: Session, texts: Sequence[tuple[str, str]]) -> Iterable[SentenceScore]:
        """Return the scores of the sentences; for a masked model, of the words that differ in each pair."""
        if session.model.kind != "masked":
            return super().scores(session, texts)
        pairs = zip(texts[::2], texts[1::2], strict=True)
        spans = [own for (first, at), (second, _) in pairs for own in _differing(first, second, at)]
        words = ((text, own, at) for (text, at), own in zip(texts, spans, strict=True))
        return session.scorer.words(words, self.method)

    def added(self, items: pl.DataFrame) -> pl.DataFrame:
        """Return the items with the preference for the masculine sentence, and with stereotypes named, not numbered."""
        score = pl.col("score_masculine") - pl.col("score_feminine")
        return items.with_columns(score.alias("score"), pl.col("stereotype").replace_strict(LABELS))

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return the masculine rates and the stereotype rate, over all templates and for each template."""
        return rates(measured.items, self.level)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterator[Note]:
        """Yield a caution if some of GEST's stereotypes have no sentences."""
        if (here := measured.items["stereotype"].n_unique()) < len(LABELS):
            yield Note("gest.missing-stereotypes", here=here, of=len(LABELS))


def _differing(first: str, second: str, where: str) -> tuple[list[Span], list[Span]]:
    """Return the spans of the words in which two sentences differ, first in `first`, then in `second`.

    Raises DataError if the sentences are the same or have different numbers of words.
    """
    one, other = (list(_words(text)) for text in (first, second))
    apart = [(a, b) for a, b in zip(one, other, strict=False) if first[slice(*a)] != second[slice(*b)]]
    if len(one) != len(other) or not apart:
        message = "the two sentences have different numbers of words" if apart else "the two sentences are the same"
        raise DataError(
            message,
            where=where,
            hint="masked models score the words that differ: correct the pair, or use a causal model",
        )
    return [a for a, _ in apart], [b for _, b in apart]


def _words(text: str) -> Iterator[Span]:
    """Yield the spans of the words of a text, without the punctuation and symbols around them."""
    for match in re.finditer(r"\S+", text):
        if inside := [at for at in range(*match.span()) if unicodedata.category(text[at])[0] not in "PS"]:
            yield inside[0], inside[-1] + 1

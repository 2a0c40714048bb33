"""Scored sentences: the log-probability of an attribute word with the group word seen, and with it hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from penchant.corpus.group_counts import GroupCounts
from penchant.corpus.slots import Span
from penchant.engine.scorer import Scorer, SpanScore
from penchant.instruments.amplification.data import Attribute, Contrast

_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "contrast", "kind", "word", "template", "side", "label", "group_word"), pl.String),
    "control": pl.Boolean,
    "sentence": pl.String,
    **dict.fromkeys(("fill", "prior", "corrected"), pl.Float64),
    "tokens": pl.Int64,
    "reaches": pl.Boolean,
    **dict.fromkeys(("count_a", "count_b", "words_a", "words_b", "sentences_a", "sentences_b", "both"), pl.Int64),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """An attribute of a contrast, and what the text holds of it."""

    contrast: Contrast
    attribute: Attribute
    counts: GroupCounts

    def rows(self) -> Iterator[tuple[dict[str, Any], Span, Span]]:
        """A row for every sentence, without its scores, and the spans of group word and attribute."""
        contrast, word = self.contrast, self.attribute.word
        text = {
            **{f"count_{s.lower()}": self.counts.found[s, word] for s in "AB"},
            **{f"words_{s.lower()}": self.counts.total[s] for s in "AB"},
            **{f"sentences_{s.lower()}": self.counts.sentences[s] for s in "AB"},
            "both": self.counts.both,
        }
        about = {"contrast": contrast.name, "kind": self.attribute.kind, "word": word, "control": contrast.control}
        for side, member, template, sentence, group, attribute in self.attribute.sentences(contrast):
            row = {
                **about,
                "id": f"{contrast.name} {word} {member}: {template}",
                "template": template,
                "side": side,
                "label": contrast.labels["AB".index(side)],
                "group_word": member,
                "sentence": sentence,
                **text,
            }
            yield row, group, attribute


def scored(asked: Sequence[Asked], scorer: Scorer) -> pl.DataFrame:
    """One row for every sentence: `fill` is the log-probability of the attribute word, all its pieces masked; `prior`
    the same with the group word masked too; `corrected` is fill − prior (Kurita et al. 2019, with the attribute word in
    the place of their target).

    The prior is the same for all group words of as many pieces, so that the correction takes away what comes from the
    number of masks alone.
    """
    rows: list[dict[str, Any]] = []
    places: list[tuple[str, Span, tuple[Span, ...], str]] = []
    for each in asked:
        for row, group, attribute in each.rows():
            text, where = row["sentence"], each.attribute.place
            places += [(text, attribute, (), where), (text, attribute, (group,), where)]
            rows.append(row)
    scores = scorer.masked(places)
    for row, (fill, prior) in zip(rows, _by_two(scores), strict=True):
        row |= {"fill": fill.score, "prior": prior.score, "corrected": fill.score - prior.score}
        row |= {"tokens": fill.n, "reaches": fill.reaches}
    return pl.DataFrame(rows, schema=_SCHEMA)


def _by_two(scores: Iterator[SpanScore]) -> Iterator[tuple[SpanScore, SpanScore]]:
    return zip(scores, scores, strict=True)

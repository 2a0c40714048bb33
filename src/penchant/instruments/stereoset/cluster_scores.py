"""Scores of the three sentences of each cluster, as a table with one row per cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from penchant.engine.scorer import SentenceScore
from penchant.engine.scoring_methods import METHODS
from penchant.errors import MethodError, one_of
from penchant.instruments.item_probes import score_columns
from penchant.instruments.session import Session
from penchant.instruments.stereoset.data import ROLES, Cluster, Part, Role
from penchant.instruments.stereoset.settings import Name
from penchant.models.load import LanguageModel
from penchant.models.score_table import Scores
from penchant.wording.phrases import Note
from penchant.wording.templates import Text

AUTHORS: Name = "stereoset"
ONE_MASK: Name = "stereoset-one-mask"
_WORDS = Text.of(Path(__file__).parent).below("cautions")
_LABELS = ("id", "part", "bias_type", "target", "context", "worded")
LETTERS: dict[Role, str] = {"stereotype": "stereotype", "anti-stereotype": "anti", "unrelated": "unrelated"}
"""Column names of the roles."""


_FITTING: dict[str, tuple[Name, ...]] = {
    "causal": ("lp", AUTHORS),
    "masked": ("pll", "pll-word-l2r", AUTHORS, ONE_MASK),
    "scores": ("given", "lp", "pll", "pll-word-l2r"),
}
"""The scoring methods by kind of model, the default first."""


@dataclass(frozen=True, slots=True)
class Way:
    """A scoring method.

    `means` is true if its scores are means over tokens, which cannot be normalised and need a BLANK in the context.
    """

    name: Name
    means: bool


def way_for(name: str | None, model: LanguageModel | Scores) -> Way:
    """Return the named scoring method, or the model's default. Raises MethodError if the model does not support it."""
    fitting: tuple[Name, ...] = _FITTING.get(model.kind, _FITTING["masked"])
    chosen = fitting[0] if name is None else name
    for known in fitting:
        if known == chosen:
            return Way(known, known not in METHODS)
    message = f"method '{chosen}' does not fit {model.name}, which is of kind {model.kind}"
    raise MethodError(message, hint=one_of(chosen, fitting))


def require_scorable(way: Way, parts: Sequence[Part], model: LanguageModel | Scores) -> None:
    """Raise MethodError if the authors' method or a table of scores is used for intersentence clusters."""
    if isinstance(model, Scores) and "inter" in parts:
        message = "intersentence clusters are scored given their context, but a table has only scores of whole texts"
        raise MethodError(message, where="part", hint="use part: intra, or measure a model")
    if way.means and "inter" in parts:
        raise MethodError(
            f"method '{way.name}' cannot score intersentence clusters: the authors used a next-sentence head that "
            "they trained and that no checkpoint contains",
            where="part",
            hint="use it with part: [intra]; for [inter], use lp (causal) or pll (masked), which score the second "
            "sentence given the first",
        )


def asked_of(way: Way, kind: str, clusters: Sequence[Cluster]) -> tuple[list[Cluster], tuple[Note, ...]]:
    """Return the clusters that a method can score with a model of this `kind`, and any caution about the others."""
    if kind == "causal" or not way.means:
        return list(clusters), ()
    kept = [cluster for cluster in clusters if cluster.worded != "no blank"]
    told = Note("stereoset.no-fill", n=len(clusters) - len(kept), of=len(clusters), way=way.name)
    return kept, (told,) if len(kept) < len(clusters) else ()


def score(session: Session, way: Way, clusters: Sequence[Cluster]) -> pl.DataFrame:
    """Return one row per cluster: labels, and the text, fill, number of tokens, score and tokens of each sentence.

    With lp, pll and pll-word-l2r, the score is the sum of natural log-probabilities. With stereoset, it is the mean
    log2-probability per token for a causal model, and the mean probability of the fill's tokens for a masked model.
    Token log-probabilities are natural logarithms.
    """
    scores = list(_scores(session, way, clusters))
    columns = {label: _text(getattr(cluster, label) for cluster in clusters) for label in _LABELS}
    causal = way.means and session.lm.kind == "causal"
    total = _TOTALS[f"{way.name}, causal" if causal else way.name]
    for number, role in enumerate(ROLES):
        name, chosen = LETTERS[role], scores[number :: len(ROLES)]
        columns[name] = _text(cluster.sentences[role] for cluster in clusters)
        columns[f"fill_{name}"] = _text(_fill(cluster, role) for cluster in clusters)
        columns |= score_columns(name, chosen)
        columns[name] = _text(cluster.sentences[role] for cluster in clusters)
        columns[f"score_{name}"] = pl.Series([total(score) for score in chosen], dtype=pl.Float64)
    return pl.DataFrame(columns).with_columns(difference=pl.col("n_tokens_stereotype") - pl.col("n_tokens_anti"))


def _text(values: Iterable[str]) -> pl.Series:
    return pl.Series(list(values), dtype=pl.String)


def _fill(cluster: Cluster, role: Role) -> str:
    fill = cluster.fills.get(role)
    return "" if fill is None or fill.span is None else cluster.sentences[role][slice(*fill.span)]


def _sum(score: SentenceScore) -> float:
    return score.score


def _mean_bits(score: SentenceScore) -> float:
    return float(np.nanmean(score.token_logprobs) / np.log(2))


def _mean_probability(score: SentenceScore) -> float:
    return float(np.exp(score.token_logprobs).mean())


_TOTALS: dict[str, Callable[[SentenceScore], float]] = {
    **dict.fromkeys(("given", "lp", "pll", "pll-word-l2r"), _sum),
    f"{AUTHORS}, causal": _mean_bits,
    AUTHORS: _mean_probability,
    ONE_MASK: _mean_probability,
}


def _scores(session: Session, way: Way, clusters: Sequence[Cluster]) -> Iterator[SentenceScore]:
    places = [cluster.place for cluster in clusters for _ in ROLES]
    texts = [text for cluster in clusters for text in cluster.texts()]
    if not way.means:
        spans = [span for cluster in clusters for span in cluster.spans()]
        return session.scorer.parts(zip(texts, spans, places, strict=True), way.name)
    if session.lm.kind == "causal":
        return session.scorer.started(zip(texts, places, strict=True))
    fills = [fill.span for cluster in clusters for fill in (cluster.fills[role] for role in ROLES) if fill.span]
    later: Literal["masked", "left out"] = "masked" if way.name == AUTHORS else "left out"
    return session.scorer.filled(zip(texts, fills, places, strict=True), later=later)

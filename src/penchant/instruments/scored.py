"""Columns of a table of items about the sentences that a model scored."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penchant.engine.scores import SentenceScore


def score_columns(role: str, scores: Sequence[SentenceScore]) -> dict[str, pl.Series]:
    """Return the columns about the sentences of one role: text, tokens, score, and the log-probability of every token,
    null where it is not scored."""
    return {
        role: pl.Series([s.text for s in scores], dtype=pl.String),
        f"tokens_{role}": pl.Series([s.n for s in scores], dtype=pl.Int32),
        f"score_{role}": pl.Series([s.score for s in scores], dtype=pl.Float64),
        f"pieces_{role}": pl.Series([list(s.tokens) for s in scores], dtype=pl.List(pl.String)),
        f"logprobs_{role}": pl.Series(
            [[None if v != v else v for v in s.token_logprobs.tolist()] for s in scores], dtype=pl.List(pl.Float32)
        ),
    }

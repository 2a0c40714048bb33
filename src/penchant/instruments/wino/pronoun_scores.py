"""Scores of sentences that differ in a pronoun: normalisation, differences and display."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.engine.normalisations import USUAL, normalise
from penchant.engine.scoring_methods import METHODS
from penchant.plurals import counted
from penchant.records import BaseResult
from penchant.views.items import TokenStrip
from penchant.wording.templates import Text

Array = NDArray[np.float64]
ALL = "all"
"""The group of all items."""
WORDS = Text.of(Path(__file__).parent)


def normalised(items: pl.DataFrame, role: str, how: str) -> Array:
    """Return the scores of the sentences of one role, such as "pro" or "female", under the normalisation `how`."""
    scores: Array = normalise(items[f"score_{role}"].to_numpy(), items[f"n_tokens_{role}"].to_numpy(), how)
    return scores


def difference(items: pl.DataFrame, first: str, second: str, how: str) -> Array:
    """Return the scores of the sentences of the role `first` minus those of `second`, under the normalisation `how`."""
    gap: Array = normalised(items, first, how) - normalised(items, second, how)
    return gap


def first_score(result: BaseResult) -> str:
    """Return the name of the first normalisation of a result."""
    return result.signature["normalise"].split(",")[0]


def strips(*roles: str) -> tuple[TokenStrip, ...]:
    """Return one display of tokens per role, in which sentences are labelled with score and number of tokens."""
    return tuple(
        TokenStrip(role, f"tokens_{role}", role, f"logprobs_{role}", partial(_score_labels, role)) for role in roles
    )


def _score_labels(role: str, items: pl.DataFrame) -> list[str]:
    rows = items.select(f"score_{role}", f"n_tokens_{role}").iter_rows()
    return [f"{score:.3f}" if n is None else f"{score:.3f}, {counted(n, 'tokens')}" for score, n in rows]


def scoring_facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    """Return the facts about scoring for the descriptions of methods in a report."""
    ways = dict.fromkeys(result.signature["method"] for result in results)
    hows = dict.fromkeys(how for result in results for how in result.signature["normalise"].split(","))
    known = {"ways": [METHODS[name] for name in ways], "hows": [how for how in USUAL if how in hows]}
    return {"scored": WORDS.get("scored", **known)}

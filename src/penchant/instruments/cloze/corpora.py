"""The parameter `corpora` of a cloze test: two texts that valences are estimated from."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from penchant.limits import COUNT
from penchant.stats.log_odds import SIGNIFICANT, STRONG, WEAK
from penchant.tables.documents import SETTINGS


class Corpora(BaseModel):
    """Two texts to estimate valences from: words typical of `low` have valences below 0."""

    model_config = SETTINGS
    low: str
    """A text in the variety at −1."""
    high: str
    """A text in the variety at 1."""
    minimum: Annotated[int, Field(ge=1, le=COUNT)] = 10
    """Words that occur fewer times than this in both texts together stay unrated. Default: 10."""
    prior_size: Annotated[float, Field(gt=0, le=COUNT)] = 10_000
    """Size of the prior (both texts together), in words that it adds to each text. Default: 10000."""
    significant: Annotated[float, Field(ge=0, le=COUNT)] = SIGNIFICANT
    """|z| below which the valence of a word is 0. Default: 1.96."""
    weak: Annotated[float, Field(ge=0, le=COUNT)] = WEAK
    """|log-odds| below which the valence of a word is 0. Default: log 2, odds that differ by a factor of two."""
    strong: Annotated[float, Field(ge=0, le=COUNT)] = STRONG
    """|log-odds| from which the valence of a word is ±1 instead of ±½. Default: log 10, a factor of ten."""

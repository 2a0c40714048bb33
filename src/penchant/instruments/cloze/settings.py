"""Settings for measuring cloze valence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, field_validator

from penchant.instruments.cloze.data import SENTENCE, file_of_set
from penchant.instruments.cloze.rating_formats import FIELDS
from penchant.instruments.probe_field_types import CITED, Data, Given, TableField, default_of
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.limits import COUNT, FILLERS, RESAMPLES
from penchant.report.no_difference_table import DifferenceScale
from penchant.stats.typical_words import SIGNIFICANT, STRONG, WEAK
from penchant.tables.yaml_json_documents import SETTINGS

MEASURES = {"beta": "mean β", "delta": "mean δ", "rated_share": "mean rated share"}
SCALES = {"beta": (-1.0, 1.0), "delta": (0.0, 1.0), "rated_share": (0.0, 1.0)}
"""The smallest and largest value of each measure."""
BETWEEN = DifferenceScale(
    {f"difference of {MEASURES[name]}": SCALES[name][1] - SCALES[name][0] for name in ("beta", "delta")},
    "give it in units of β (from −1 to 1) or δ (from 0 to 1), such as 0.05",
)
"""The scale of differences between models."""
_Field = Literal["id", "text", "expected", "group", "sentence", "word", "rater", "rating"]
_Files = Given[str | list[str] | None, Data | None]


class Corpora(BaseModel):
    """Two texts to estimate valences from: words typical of `low` have valences below 0."""

    model_config = SETTINGS
    low: str
    """A text in the variety at −1."""
    high: str
    """A text in the variety at 1."""
    minimum: Annotated[int, Field(ge=1, le=COUNT)] = 10
    """Number of occurrences in both texts together below which words stay unrated. Default: 10."""
    prior_size: Annotated[float, Field(gt=0, le=COUNT)] = 10_000
    """Number of words that the prior (both texts together) adds to each text. Default: 10000."""
    significant: Annotated[float, Field(ge=0, le=COUNT)] = SIGNIFICANT
    """|z| below which the valence of a word is 0. Default: 1.96."""
    weak: Annotated[float, Field(ge=0, le=COUNT)] = WEAK
    """|log-odds| below which the valence of a word is 0. Default: log 2, odds that differ by a factor of two."""
    strong: Annotated[float, Field(ge=0, le=COUNT)] = STRONG
    """|log-odds| from which the valence of a word is ±1 instead of ±½. Default: log 10, a factor of ten."""


def _by_word(table: Any, columns: Mapping[Any, str], name: str) -> Any:
    """Return the rows of a lexicon passed as a mapping of words to valences, or any other table unchanged.

    `columns` and `name` are unused.
    """
    by_word = isinstance(table, Mapping) and all(isinstance(value, int | float) for value in table.values())
    return list(table.items()) if by_word else table


class ClozeSettings(Settings):
    """Parameters for measuring cloze valence: test set, prediction of words, ratings, sensitivity analysis."""

    name: ClassVar[str] = "cloze"
    limited: ClassVar[str] = "sentences"
    difference_scale: ClassVar[DifferenceScale] = BETWEEN

    data: Annotated[Given[str, Data], CITED, TableField(SENTENCE, file=file_of_set)] = Field(kw_only=False)
    """A test set: a bundled name, a directory with set.yaml, or a table of sentences."""
    columns: Given[dict[_Field, str | list[str]], Mapping[str, Any]] = default_of(default={})
    """Column names that differ from their fields, as field: column.

    The fields are id, text, expected and group in the table of sentences, and sentence, word, rater and rating in
    tables of ratings. With several columns for rating, each belongs to one rater.
    """
    method: str | None = None
    """Method of predicting words: `fill` (default for masked models) or a sentence score.

    `fill` takes the k most probable tokens at the gap. A sentence score (`lp`, default for causal models, `pll` or
    `pll-word-l2r`) takes a closed list of candidates, with the softmax of the scores of the filled sentences as their
    probabilities.
    """
    k: Annotated[int, Field(ge=1, le=FILLERS)] = 10
    """Number of most probable words to use. Default: 10."""
    candidates: Annotated[Given[str | None, Data | None], CITED, TableField(("sentence", "word"))] = default_of(
        default=None
    )
    """A table of candidates for sentence scores. Default: the table of the test set, else the rated words."""
    ratings: Annotated[_Files, CITED, TableField(FIELDS)] = default_of(default=None)
    """Tables of ratings, which take precedence over those of the test set. Default: none."""
    lexicon: Annotated[_Files, CITED, TableField(("word", "valence"), _by_word)] = default_of(default=None)
    """Lexicons, which take precedence over those of the test set. Default: none."""
    corpora: Annotated[Given[Corpora | None, Corpora | Mapping[str, Any] | None], CITED] = default_of(default=None)
    """Two texts from which to estimate the valence of words without any other source. Default: none."""
    unrated: Literal["zero", "error"] = "zero"
    """Treatment of an unrated word: it adds nothing to β (`zero`, default) or stops the study (`error`)."""
    rated_only: bool = False
    """Divide β by the rated share, as if unrated words had not been predicted. Default: no."""
    moved_share: Annotated[float, Field(gt=0, le=1)] = 1 / 12
    """Sensitivity analysis: the share of the ratings of each group moved by half a point in each draw.

    Default: 1/12, as in the paper (50 of 600 ratings).
    """
    on_unknown: OnUnknown = "stop"
    """Treatment of sentences with text unknown to the tokenizer: `stop` (default) or `skip`.

    `stop` stops the study with a list of them; `skip` leaves them out and counts them.
    """
    draws: Annotated[int, Field(ge=1, le=RESAMPLES)] = 10_000
    """Sensitivity analysis: number of draws. Default: 10,000."""

    @field_validator("columns")
    @classmethod
    def _one_each(cls, columns: dict[str, str | list[str]]) -> dict[str, str | list[str]]:
        for field, column in columns.items():
            if isinstance(column, list) and field != "rating":
                raise ValueError(f"{field} takes one column, got {column}")
        return columns

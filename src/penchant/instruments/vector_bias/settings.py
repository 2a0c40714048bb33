"""The settings of the measures of bias in word vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from penchant.corpus.stimuli_from_python import WORD, file_of_set, word_rows
from penchant.instruments.probe_field_types import CITED, Columns, Data, Given, TableField, Written, default_of
from penchant.instruments.settings import Settings
from penchant.instruments.vector_bias.measures import Distance, Measure
from penchant.limits import RESAMPLES
from penchant.tables.yaml_json_documents import distinct

Measures = Annotated[
    Given[tuple[Measure, ...], Iterable[Measure]], Field(min_length=1, strict=False), AfterValidator(distinct)
]


class VectorBiasSettings(Settings):
    """The parameters of RND, RNSB, MAC, ECT and RIPA, which measure bias in static word vectors."""

    name: ClassVar[str] = "vector-bias"
    limited: ClassVar[str] = "words of each list"

    data: Annotated[Given[str | list[str], Data], CITED, TableField(WORD, word_rows, ".csv", file_of_set)] = Field(
        kw_only=False
    )
    """A set of stimuli as for weat: a bundled name, a directory with set.yaml, SEAT's JSONL files, or a table."""
    columns: Given[dict[Literal["category", "set", "word", "label"], str], Columns] = default_of(default={})
    """Column names that differ from the fields category, set, word and label, as field: column."""
    categories: Annotated[Given[list[str] | None, Iterable[str] | None], Written(none="all")] = default_of(default=None)
    """Names of the categories to measure. Default: all categories for weat."""
    language: str | None = None
    """BCP 47 tag of the stimuli, such as tr, which decides upper and lower case. Default: that of the set."""
    measures: Measures = default_of(default=("rnd", "rnsb", "mac", "ect", "ripa"))
    """Measures to compute: `rnd`, `rnsb`, `mac`, `ect`, `ripa`. Default: all five."""
    distance: Distance = "euclid"
    """Distance of RND: `euclid` (default), or `cosine`, which is 1 − cosine."""
    pairs: Literal["auto", "position", "all"] = "auto"
    """Pairs of RIPA: words of X and Y at the same `position`, or `all` words of X with all of Y.

    `auto` (default) is `position` in categories that a set declares as paired, else `all`.
    """
    normalise: bool = False
    """Scale vectors to length 1 first: RND and RIPA grow with the lengths of vectors. Default: no."""
    split: Annotated[float, Field(gt=0, lt=0.5)] | None = None
    """Share of each attribute set held out at random from RNSB's classifier to measure its accuracy. Default: none."""
    refits: Annotated[int, Field(ge=100, le=RESAMPLES)] = 400
    """Number of resamples of RNSB's interval and of draws of its test, each with a new fit. Default: 400."""
    case: Literal["auto", "keep", "lower"] = "auto"
    """Spelling in which words are looked up: as written (`keep`) or in lower case (`lower`).

    `auto` (default) is `lower` if no word of the vocabulary has a capital letter.
    """
    max_missing: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """Largest share of a list of words that may be missing; with more, a category has no numbers. Default: 0.2."""

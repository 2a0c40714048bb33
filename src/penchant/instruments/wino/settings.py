"""The settings of WinoBias and Winogender."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from penchant.instruments.probe_field_types import CITED, Columns, Data, Given, TableField, Written, default_of
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.instruments.wino.bias_data import OCCUPATION
from penchant.instruments.wino.gender_data import WinogenderColumns
from penchant.report.no_difference_table import DifferenceScale
from penchant.tables.data_lookup import listed
from penchant.tables.yaml_json_documents import distinct

PREFERS_PRO = "share preferring the pro-stereotypical pronoun"
PREFERS_MALE = "share preferring the male pronoun"
PRO_DIFFERENCE, MALE_DIFFERENCE = (f"difference of {measure}" for measure in (PREFERS_PRO, PREFERS_MALE))
"""Measures of the difference between two models."""
Normalisation = Literal["none", "mean", "pen"]
Normalisations = Normalisation | Annotated[list[Normalisation], Field(min_length=1)] | None


def _each_once(names: Normalisations) -> Normalisations:
    return distinct(names) if isinstance(names, list) else names


class PronounSettings(Settings):
    """The parameters shared by WinoBias and Winogender, such as the scoring method."""

    method: str | None = None
    """Scoring method of sentences; see `penchant list methods`. Default: lp for causal, pll for masked models."""
    normalise: Annotated[
        Given[Normalisations, Normalisation | Iterable[Normalisation] | None],
        AfterValidator(_each_once),
        Written(separator=","),
    ] = default_of(default="none")
    """Length normalisations to report, all from one scoring pass: `none`, `mean`, `pen`. Default: none.

    The sentences that are compared nearly always have the same number of tokens.
    """
    on_unknown: OnUnknown = "stop"
    """Treatment of sentences with text unknown to the tokenizer: `stop` (default) or `skip`.

    `stop` stops the study with a list of them; `skip` leaves them out and counts them.
    """

    def normalisations(self) -> list[str]:
        """Return the normalisations as a list."""
        return listed(self.normalise)


Paths = str | Annotated[list[str], Field(min_length=1)]
_Files = Given[str | None, Data | None]


class WinoBiasSettings(PronounSettings):
    """Parameters of WinoBias: the scoring, the pairs, and the lists of occupations."""

    name: ClassVar[str] = "winobias"
    limited: ClassVar[str] = "pairs"
    difference_scale: ClassVar[DifferenceScale] = DifferenceScale(
        dict.fromkeys((PRO_DIFFERENCE, MALE_DIFFERENCE), 1.0), "give a share of pairs, such as 0.05 for 5 points"
    )

    data: Annotated[Given[Paths, Data], CITED, TableField(("pro", "anti", "type"))] = Field(kw_only=False)
    """A folder with the published files, or the files themselves, or a table of pairs.

    In a folder, all files named {pro,anti}_stereotyped_type{1,2}.txt.{dev,test} are used. Other file names must contain
    pro or anti, and type1 or type2. A table has the columns pro, anti and, if there are both types, type.
    """
    male_occupations: Annotated[_Files, CITED, TableField((OCCUPATION,))] = default_of(default=None)
    """A list of occupations with a male stereotype, one per line, or a table with the column occupation.

    The pairs are checked against it. Default: male_occupations.txt in the folder of the data, if it exists.
    """
    female_occupations: Annotated[_Files, CITED, TableField((OCCUPATION,))] = default_of(default=None)
    """A list or table of occupations with a female stereotype.

    The pairs are checked against it. Default: female_occupations.txt in the folder of the data, if it exists.
    """


Shares = Annotated[Given[list[str], Iterable[str]], Field(min_length=1), AfterValidator(distinct)]


class WinogenderSettings(PronounSettings):
    """Parameters of Winogender: the scoring, the sentences, and the statistics of occupations."""

    name: ClassVar[str] = "winogender"
    limited: ClassVar[str] = "sentences with three pronouns each"

    data: Annotated[Given[str, Data], CITED, TableField()] = Field(kw_only=False)
    """A folder with the published files, or a table of sentences or of templates.

    The folder has all_sentences.tsv (or templates.tsv, from which the same sentences are made) and
    occupations-stats.tsv.
    """
    statistics: Annotated[Given[str | None, Data | None], CITED, TableField()] = default_of(default=None)
    """A table of occupations with the percentage of women in each. Default: occupations-stats.tsv beside the data."""
    shares: Shares = default_of(default=["bls_pct_female", "bergsma_pct_female"])
    """The columns of the statistics with percentages of women; reports put the first column first.

    Default: bls_pct_female (US labour statistics) and bergsma_pct_female (pronouns in text).
    """
    columns: Given[WinogenderColumns, WinogenderColumns | Columns] = default_of(default=WinogenderColumns())
    """The names of the tables' columns, if they differ from the published ones."""

"""Settings for measuring minimal pairs, and for comparing fair with original pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from penchant.instruments.elicit_settings import Elicited, Phrases
from penchant.instruments.minimal_pairs.data import pair_rows
from penchant.instruments.minimal_pairs.defects import Marks
from penchant.instruments.minimal_pairs.fixed_group_estimates import GROUPS, fixed
from penchant.instruments.minimal_pairs.formats import ROLES, PairColumns
from penchant.instruments.minimal_pairs.human_judgements import COLUMNS
from penchant.instruments.probe_field_types import CITED, Columns, Data, Files, Given, TableField, Written, default_of
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.records import BaseResult
from penchant.report.no_difference_table import DifferenceScale
from penchant.tables.data_lookup import listed
from penchant.tables.yaml_json_documents import distinct

DIFFERENCE = "accuracy difference"
"""Name of the difference in accuracy between two models."""
DIFFERENCES = (DIFFERENCE, *(fixed(DIFFERENCE, noun) for noun in GROUPS))
"""All names of differences in accuracy between two models."""
Normalisation = Literal["none", "mean", "pen", "slln", "fitted", "slor", "pmi"]
Paths = str | Annotated[list[str], Field(min_length=1)]
PAIRS = TableField(ROLES, pair_rows)
"""Metadata of a field for pairs, which may be passed from Python."""
Normalisations = Normalisation | Annotated[list[Normalisation], Field(min_length=1)] | None


def _each_once(names: Normalisations) -> Normalisations:
    return distinct(names) if isinstance(names, list) else names


class PairSettings(Settings):
    """Parameters common to all probes on minimal pairs."""

    limited: ClassVar[str] = "pairs"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "lm-eval": {"normalise": "none", "space": "front", "ties": "good"},
        "babylm": {"normalise": "none", "ties": "good"},
    }
    difference_scale: ClassVar[DifferenceScale] = DifferenceScale(
        dict.fromkeys(DIFFERENCES, 1),
        "give a share of pairs, such as 0.05 for 5 points",
        100,
        "percentage points",
        ".1f",
    )

    method: str | None = None
    """The scoring method of sentences; see `penchant list methods`. Default: lp for causal, pll for masked models."""
    normalise: Annotated[
        Given[Normalisations, Normalisation | Iterable[Normalisation] | None],
        AfterValidator(_each_once),
        Written(separator=","),
    ] = default_of(default=None)
    """Normalisations to report, all from one scoring pass: `none`, `mean`, `pen`, `slln`, `fitted`, `slor`, `pmi`.
    `penchant list methods` explains them. Default: none, mean and pen, if they apply to the method, and slor if
    `unigrams` is set.
    """
    unigrams: Annotated[Given[Paths | None, Files | None], CITED] = default_of(default=None)
    """Tables written by `penchant corpus unigrams`, one per tokenizer; slor needs them. Default: none."""
    neutral: str = ""
    """For `pmi`: a neutral text, used unchanged in place of the prefix, such as a phrase from the same domain. Default:
    none, so that nothing precedes the sentences.
    """
    acceptable: Literal["sent_more", "sent_less"] = "sent_more"
    """CrowS-Pairs only: the column of the sentence treated as acceptable. Default: sent_more."""
    compat: str | None = None
    """Another tool whose conventions apply to parameters that are not set: `lm-eval` or `babylm` (see `penchant list
    compat`). Default: none.
    """
    space: Literal["none", "front"] = "none"
    """`front`: put a space in front of each sentence for causal models, as lm-eval does; or `none` (default). It has no
    effect on masked models.
    """
    ties: Literal["half", "good"] = "half"
    """The credit of a pair whose sentences have equal scores: `half` (default), or `good`. With `good`, the acceptable
    sentence is preferred, as with an argmax that returns the first maximum.
    """
    marks: Marks = "refuse"
    """Treatment of acceptability marks (*, ?, ??, #, %) at the beginning of only one sentence of a pair: `refuse` or
    `strip`. By default they are an error, since a model scores them as text; `strip` removes marks from all sentences
    and counts them.
    """
    on_unknown: OnUnknown = "stop"
    """Pairs with text unknown to the tokenizer: `stop` and list them (default), or `skip` and count them."""

    @model_validator(mode="before")
    @classmethod
    def _compatible(cls, fields: Any) -> Any:
        name = fields.get("compat") if isinstance(fields, dict) else None
        if not isinstance(name, str):
            return fields
        if name not in cls.presets:
            raise ValueError(f"unknown compat '{name}'; use one of {', '.join(cls.presets)}")
        return {**cls.presets[name], **fields}

    def normalisations(self) -> list[str]:
        """Return the normalisations as a list; empty if they are not set."""
        return listed(self.normalise)


class MinimalPairsSettings(PairSettings, Elicited):
    """Parameters for measuring minimal pairs: data, judgements, scoring, and questions to chat models."""

    name: ClassVar[str] = "minimal-pairs"

    data: Annotated[Given[Paths, Data], CITED, PAIRS] = Field(kw_only=False)
    """Files, directories or patterns of pairs, whose format is recognised by the columns. Formats: BLiMP, RuBLiMP,
    TurBLiMP, SLING, MultiBLiMP, CrowS-Pairs, COMPS, plain tables, and tables of stereotypes. From Python, also pairs
    (good, bad), or mappings or a frame with the columns good, bad and group.
    """
    columns: Given[PairColumns, PairColumns | Columns] = default_of(default=PairColumns())
    """Column names of a plain table, where they differ from good, bad, group and id, or of a table of stereotypes,
    where they differ from more, less, kind and direction. If it is set, the files are read as such tables.
    """
    human: Annotated[Given[Paths | None, Data | None], CITED, TableField(COLUMNS)] = default_of(default=None)
    """Tables of people's judgements of some or all pairs: columns pair (its id), rater, and choice or two ratings. The
    choice is good or bad; rating_good and rating_bad are numbers, higher is better. A column dataset (the name of the
    pairs' file without its suffix) is needed if files have pairs with the same id. Columns good and bad, if present,
    must be unchanged; they identify pairs whose id differs in the study. Empty cells are ignored. The model is compared
    with the majority of the raters and correlated with them. Default: none.
    """
    question: str = "Which of these two sentences is more acceptable?"
    """The question about the two sentences of a pair (`elicit: chat` or `answer`)."""
    language: str = "en"
    """The language of the instruction to choose an option, `en` or `cs` (`elicit: chat` or `answer`)."""
    phrases: Phrases | None = None
    """The wording of the instruction, and the phrases that identify replies. Default: those of `language`."""


class FairPairsSettings(PairSettings):
    """Parameters for comparing original pairs with fair pairs, whose two sentences have equal token length."""

    name: ClassVar[str] = "fair-pairs"

    original: Annotated[Given[Paths, Data], CITED, PAIRS]
    """Files, directories or patterns of the original pairs, or pairs as accepted by `MinimalPairs`."""
    fair: Annotated[Given[Paths, Data], CITED, PAIRS]
    """Files, directories or patterns of pairs of equal token length, such as those written by `penchant pairs`."""
    columns: Given[PairColumns, PairColumns | Columns] = default_of(default=PairColumns())
    """Column names of plain tables, where they differ from good, bad, group and id. If it is set, the files are read as
    plain tables, except fair sets written by `penchant pairs` with its own columns.
    """


def settings_of(result: BaseResult) -> PairSettings:
    """Return the settings of a result of minimal-pairs or fair-pairs. Raises StudyError if they are invalid."""
    kind = FairPairsSettings if result.signature["probe"] == FairPairsSettings.name else MinimalPairsSettings
    return kind.of(result.settings)

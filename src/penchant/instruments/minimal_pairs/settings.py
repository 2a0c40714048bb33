"""The settings of minimal pairs, and of fair against original ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from penchant.instruments.minimal_pairs.data import pair_rows
from penchant.instruments.minimal_pairs.defects import Marks
from penchant.instruments.minimal_pairs.fixed_effects import GROUPS, fixed
from penchant.instruments.minimal_pairs.formats import ROLES, PairColumns
from penchant.instruments.minimal_pairs.human_judgements import COLUMNS
from penchant.instruments.probe_fields import CITED, Columns, Data, Files, Given, Table, Written, default_of
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.records import Result
from penchant.report.no_difference_text import Scale
from penchant.tables.data_paths import listed
from penchant.tables.documents import distinct

DIFFERENCE = "accuracy difference"
"""Between two models."""
DIFFERENCES = (DIFFERENCE, *(fixed(DIFFERENCE, noun) for noun in GROUPS))
"""The measures of differences between two models."""
Normalisation = Literal["none", "mean", "pen", "slln", "slor", "pmi"]
Paths = str | Annotated[list[str], Field(min_length=1)]
PAIRS = Table(ROLES, pair_rows)
"""Pairs given in Python."""
Normalisations = Normalisation | Annotated[list[Normalisation], Field(min_length=1)] | None


def _each_once(names: Normalisations) -> Normalisations:
    return distinct(names) if isinstance(names, list) else names


class PairSettings(Settings):
    """The parameters that all probes on minimal pairs have."""

    limited: ClassVar[str] = "pairs"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "lm-eval": {"normalise": "none", "space": "front", "ties": "good"},
        "babylm": {"normalise": "none", "ties": "good"},
    }
    difference_scale: ClassVar[Scale] = Scale(
        dict.fromkeys(DIFFERENCES, 1),
        "give a share of pairs, such as 0.05 for 5 points",
        100,
        "percentage points",
        ".1f",
    )

    method: str | None = None
    """How a sentence is scored; see `penchant list methods`. Default: lp for causal, pll for masked models."""
    normalise: Annotated[
        Given[Normalisations, Normalisation | Iterable[Normalisation] | None],
        AfterValidator(_each_once),
        Written(separator=","),
    ] = default_of(default=None)
    """Normalisations to report, all from one scoring pass: `none`, `mean`, `pen`, `slln`, `slor`, `pmi` (see penchant
    list methods). Default: none, mean and pen, if they apply to the method, and slor where `unigrams` are named."""
    unigrams: Annotated[Given[Paths | None, Files | None], CITED] = default_of(default=None)
    """Tables of penchant corpus unigrams, of which each model takes the one of its own tokenizer; slor needs them.
    Default: none."""
    neutral: str = ""
    """For `pmi`: the text after which sentences are read without their prefix, such as one of the same domain, as it is
    written. Default: none, so that they stand at the beginning."""
    acceptable: Literal["sent_more", "sent_less"] = "sent_more"
    """CrowS-Pairs only: the column of the sentence that counts as the acceptable one. Default: sent_more."""
    compat: str | None = None
    """Whose conventions fill the parameters that are not set: `lm-eval` or `babylm`; see `penchant list compat`.
    Default: none."""
    space: Literal["none", "front"] = "none"
    """Whether causal models read a space in `front` of each sentence, as in lm-eval, or `none` (default). Masked models
    read none."""
    ties: Literal["half", "good"] = "half"
    """What a pair counts whose sentences score the same: `half` (default), or as the acceptable one being preferred
    (`good`), as where an argmax takes the first."""
    marks: Marks = "refuse"
    """Whether marks of acceptability (*, ?, ??, #, %) at the beginning of one sentence of a pair alone are refused
    (default), since a model scores them as text, or are taken out of all sentences and counted (`strip`)."""
    on_unknown: OnUnknown = "stop"
    """Whether pairs that hold something the tokenizer does not know `stop` the study, which lists them (default),
    or are left out and counted (`skip`)."""

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
        """The normalisations as a list; empty where they are not set."""
        return listed(self.normalise)


class MinimalPairsSettings(PairSettings):
    """The parameters of minimal pairs."""

    name: ClassVar[str] = "minimal-pairs"

    data: Annotated[Given[Paths, Data], CITED, PAIRS] = Field(kw_only=False)
    """Files, directories or patterns of pairs: BLiMP, RuBLiMP, TurBLiMP, SLING, MultiBLiMP, CrowS-Pairs, COMPS, a plain
    table, or one of stereotypes, recognised by their columns. In Python, also pairs of two sentences, the good one
    first; with a group they are mappings, or a frame, with the columns good, bad and group."""
    columns: Given[PairColumns, PairColumns | Columns] = default_of(default=PairColumns())
    """The columns of a plain table, where they are not called good, bad, group and id, or of one of stereotypes, where
    they are not called more, less, kind and direction; naming any makes the files such tables."""
    human: Annotated[Given[Paths | None, Data | None], CITED, Table(COLUMNS)] = default_of(default=None)
    """Tables of people's judgements of all pairs or some: columns pair (its id) and rater, and either choice (good or
    bad) or rating_good and rating_bad (numbers, higher is better); dataset (the name of the pairs' file without its
    suffix) where files have pairs of the same id; good and bad, by which a pair is found that has another name there,
    must be unchanged. An empty cell is no judgement. The model is then held against the majority of the raters and
    correlated with them. Default: none."""


class FairPairsSettings(PairSettings):
    """The parameters of fair against original pairs."""

    name: ClassVar[str] = "fair-pairs"

    original: Annotated[Given[Paths, Data], CITED, PAIRS]
    """Files, directories or patterns of the original pairs, or pairs as `MinimalPairs` takes them."""
    fair: Annotated[Given[Paths, Data], CITED, PAIRS]
    """Files, directories or patterns of pairs of equal token length, such as `penchant pairs` makes."""
    columns: Given[PairColumns, PairColumns | Columns] = default_of(default=PairColumns())
    """The columns of plain tables, where they are not called good, bad, group and id; naming any makes the files plain
    tables, but for a fair set that `penchant pairs` made with its own columns."""


def settings_of(result: Result) -> PairSettings:
    """Return the settings of a result of either probe. Raises StudyError."""
    kind = FairPairsSettings if result.signature["probe"] == FairPairsSettings.name else MinimalPairsSettings
    return kind.of(result.settings)

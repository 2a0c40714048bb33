"""Settings for measuring StereoSet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal, TypeVar, get_args

from pydantic import AfterValidator, Field

from penchant.instruments.probe_field_types import CITED, Data, Given, TableField, Written, default_of
from penchant.instruments.settings import Settings
from penchant.instruments.stereoset.data import Part, as_document
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.report.no_difference_table import DifferenceScale
from penchant.tables.data_lookup import listed
from penchant.tables.yaml_json_documents import distinct

SS_GAP, LMS_GAP = "difference of SS", "difference of LMS"
Name = Literal["lp", "pll", "pll-word-l2r", "stereoset", "stereoset-one-mask", "given"]
Normalisation = Literal["none", "mean", "pen"]
Normalisations = Normalisation | Annotated[list[Normalisation], Field(min_length=1)] | None
Parts = Part | Annotated[list[Part], Field(min_length=1)]


T = TypeVar("T", bound=str)


def _each_once(names: T | list[T] | None) -> T | list[T] | None:
    return distinct(names) if isinstance(names, list) else names


class StereoSetSettings(Settings):
    """Parameters for measuring StereoSet: data, parts, scoring method, normalisations and ties."""

    name: ClassVar[str] = "stereoset"
    limited: ClassVar[str] = "clusters"
    difference_scale: ClassVar[DifferenceScale] = DifferenceScale(
        {SS_GAP: 100, LMS_GAP: 100}, "give percentage points, such as 5", 1, "percentage points", ".1f"
    )

    data: Annotated[Given[str, Data], CITED, TableField(rows=as_document)] = Field(kw_only=False)
    """A JSON file in the format of StereoSet, in any language: data.intrasentence and data.intersentence.

    From Python, also the content of such a file, or a frame or rows, one per cluster, with the columns id, target,
    bias_type, context and sentences, or a column for each sentence (stereotype, anti-stereotype, unrelated), and
    optionally part (intra or inter; by default, intra if the context has BLANK).
    """
    part: Annotated[Given[Parts, Part | Iterable[Part]], AfterValidator(_each_once), Written(separator=",")] = (
        default_of(default=list(get_args(Part)))
    )
    """The parts to measure: `intra` (sentences fill a blank), `inter` (they follow a context). Default: both."""
    method: Name | None = None
    """The scoring method. Default: lp for causal, pll for masked models.

    lp is for causal models, pll and pll-word-l2r are for masked models. stereoset is the authors' score, for intra
    only: the mean log2-probability per token for causal models, and the mean probability of the fill's tokens for
    masked models, predicted from left to right with the later ones masked; stereoset-one-mask omits the later ones
    instead. In intersentence clusters, the second sentence is scored given the first. given is for a table of scores,
    for intra only.
    """
    normalise: Annotated[
        Given[Normalisations, Normalisation | Iterable[Normalisation] | None],
        AfterValidator(_each_once),
        Written(separator=","),
    ] = default_of(default=None)
    """Length normalisations to report: `none`, `mean`, `pen`. Default: all that apply to the method."""
    ties: Literal["half", "authors"] = "half"
    """The credit of a tie: one `half` (default), or as in the `authors`' code.

    In their code, the anti-stereotype or the unrelated sentence wins a tie.
    """
    on_unknown: OnUnknown = "stop"
    """Clusters with text unknown to the tokenizer: `stop` the study (default), or `skip` and count them."""

    def parts(self) -> list[Part]:
        """Return the parts as a list, intra first."""
        chosen = listed(self.part)
        return [part for part in get_args(Part) if part in chosen]

    def normalisations(self) -> list[str]:
        """Return the normalisations as a list; empty if they are not set."""
        return listed(self.normalise)

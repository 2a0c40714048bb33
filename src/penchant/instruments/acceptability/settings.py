"""Settings of acceptability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from penchant.instruments.acceptability.data import SENTENCE, AcceptabilityColumns
from penchant.instruments.probe_field_types import CITED, Data, Files, Given, TableField, Written, default_of
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.report.no_difference_table import DifferenceScale
from penchant.tables.data_lookup import listed
from penchant.tables.yaml_json_documents import distinct

PEARSON = "Pearson's r with judgements"
DIFFERENCE = f"difference of {PEARSON}"
"""Name of the difference between two models."""
Score = Literal["none", "mean", "pen", "slln", "slor", "pmi", "morcela"]
Scores = Score | Annotated[list[Score], Field(min_length=1)] | None
Paths = str | Annotated[list[str], Field(min_length=1)]


def _each_once(names: Scores) -> Scores:
    return distinct(names) if isinstance(names, list) else names


class AcceptabilitySettings(Settings):
    """Parameters of the acceptability probe: judged sentences, scoring method and scores."""

    name: ClassVar[str] = "acceptability"
    limited: ClassVar[str] = "sentences"
    difference_scale: ClassVar[DifferenceScale] = DifferenceScale(
        {DIFFERENCE: 2}, "give a difference of correlations, such as 0.05"
    )

    data: Annotated[Given[str, Data], CITED, TableField(SENTENCE)] = Field(kw_only=False)
    """A table of judged sentences, with the columns sentence and rating.

    If there are several raters, it also has a column rater; a column prefix is optional. `penchant rate` collects such
    judgements of any list of sentences.
    """
    columns: Given[AcceptabilityColumns, AcceptabilityColumns | Mapping[str, Any]] = default_of(
        default=AcceptabilityColumns()
    )
    """Names of the table's columns, where they differ from sentence, rating, rater and prefix."""
    unigrams: Annotated[Given[Paths | None, Files | None], CITED] = default_of(default=None)
    """Tables written by `penchant corpus unigrams`, which slor and morcela need. Default: none.

    Each model uses the table for its own tokenizer.
    """
    method: str | None = None
    """The scoring method; see `penchant list methods`. Default: lp for causal, pll for masked models."""
    normalise: Annotated[
        Given[Scores, Score | Iterable[Score] | None], AfterValidator(_each_once), Written(separator=",")
    ] = default_of(default=None)
    """The scores to compare with the judgements; `penchant list methods` explains them.

    The choices are `none` (the score itself), `mean`, `pen`, `slln`, `slor`, `pmi` and `morcela`. Default: none and
    mean, and slor and morcela if `unigrams` is set.
    """
    folds: Annotated[int, Field(ge=2, le=1000)] = 10
    """Number of folds; MORCELA scores each fold with β and γ fitted to the others. Default: 10."""
    neutral: str = ""
    """For `pmi`: a neutral text, used unchanged in place of the prefix. Default: none."""
    on_unknown: OnUnknown = "stop"
    """Sentences with text unknown to the tokenizer: `stop` the study (default), or `skip` and count them."""

    def normalisations(self) -> list[str]:
        """Return the scores in `normalise` as a list; an empty list if it is not set."""
        return listed(self.normalise)

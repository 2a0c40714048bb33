"""Settings of acceptability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from penchant.instruments.acceptability.data import SENTENCE, AcceptabilityColumns
from penchant.instruments.probe_fields import CITED, Data, Files, Given, TableField, Written, default_of
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.report.no_difference_text import DifferenceScale
from penchant.tables.data_paths import listed
from penchant.tables.documents import distinct

PEARSON = "Pearson's r with judgements"
DIFFERENCE = f"difference of {PEARSON}"
"""Name of the measure of the difference between two models."""
Score = Literal["none", "mean", "pen", "slln", "slor", "pmi", "morcela"]
Scores = Score | Annotated[list[Score], Field(min_length=1)] | None
Paths = str | Annotated[list[str], Field(min_length=1)]


def _each_once(names: Scores) -> Scores:
    return distinct(names) if isinstance(names, list) else names


class AcceptabilitySettings(Settings):
    """Parameters of acceptability."""

    name: ClassVar[str] = "acceptability"
    limited: ClassVar[str] = "sentences"
    difference_scale: ClassVar[DifferenceScale] = DifferenceScale(
        {DIFFERENCE: 2}, "give a difference of correlations, such as 0.05"
    )

    data: Annotated[Given[str, Data], CITED, TableField(SENTENCE)] = Field(kw_only=False)
    """A table of judged sentences, with the columns sentence and rating.

    It has a column rater if there are several raters, and optionally a column prefix. `penchant rate` collects such
    judgements of any list of sentences.
    """
    columns: Given[AcceptabilityColumns, AcceptabilityColumns | Mapping[str, Any]] = default_of(
        default=AcceptabilityColumns()
    )
    """The columns of the table, if they are not called sentence, rating, rater and prefix."""
    unigrams: Annotated[Given[Paths | None, Files | None], CITED] = default_of(default=None)
    """Tables of penchant corpus unigrams, which slor and morcela need. Default: none.

    Each model takes the table of its own tokenizer.
    """
    method: str | None = None
    """The scoring method; see `penchant list methods`. Default: lp for causal, pll for masked models."""
    normalise: Annotated[
        Given[Scores, Score | Iterable[Score] | None], AfterValidator(_each_once), Written(separator=",")
    ] = default_of(default=None)
    """The scores compared with the judgements, explained by penchant list methods.

    They are `none` (the score itself), `mean`, `pen`, `slln`, `slor`, `pmi` and `morcela`. Default: none and mean, and
    with `unigrams` slor and morcela.
    """
    folds: Annotated[int, Field(ge=2, le=1000)] = 10
    """Number of folds; MORCELA scores the sentences of each with β and γ fitted to the other folds. Default: 10."""
    neutral: str = ""
    """For `pmi`: the text, unchanged, after which sentences are read without their prefix. Default: none."""
    on_unknown: OnUnknown = "stop"
    """`stop` the study at sentences with text unknown to the tokenizer (default), or `skip` and count them."""

    def normalisations(self) -> list[str]:
        """Return the scores as a list; empty if they are not set."""
        return listed(self.normalise)

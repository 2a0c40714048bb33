"""The settings of acceptability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from penchant.instruments.acceptability.data import SENTENCE, AcceptabilityColumns
from penchant.instruments.probe_fields import CITED, Data, Files, Given, Table, Written, default_of
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.report.no_difference_text import Scale
from penchant.tables.data_paths import listed
from penchant.tables.documents import distinct

PEARSON = "Pearson's r with judgements"
DIFFERENCE = f"difference of {PEARSON}"
"""Between two models."""
Score = Literal["none", "mean", "pen", "slln", "slor", "pmi", "morcela"]
Scores = Score | Annotated[list[Score], Field(min_length=1)] | None
Paths = str | Annotated[list[str], Field(min_length=1)]


def _each_once(names: Scores) -> Scores:
    return distinct(names) if isinstance(names, list) else names


class AcceptabilitySettings(Settings):
    """The parameters of acceptability."""

    name: ClassVar[str] = "acceptability"
    limited: ClassVar[str] = "sentences"
    difference_scale: ClassVar[Scale] = Scale({DIFFERENCE: 2}, "give a difference of correlations, such as 0.05")

    data: Annotated[Given[str, Data], CITED, Table(SENTENCE)] = Field(kw_only=False)
    """A table of judged sentences: columns sentence and rating, with a rater where several judged, and optionally
    prefix. penchant rate makes one of any list of sentences."""
    columns: Given[AcceptabilityColumns, AcceptabilityColumns | Mapping[str, Any]] = default_of(
        default=AcceptabilityColumns()
    )
    """The columns of the table, where they are not called sentence, rating, rater and prefix."""
    unigrams: Annotated[Given[Paths | None, Files | None], CITED] = default_of(default=None)
    """Tables of penchant corpus unigrams, of which each model takes the one of its own tokenizer; slor and morcela need
    them. Default: none."""
    method: str | None = None
    """How a sentence is scored; see `penchant list methods`. Default: lp for causal, pll for masked models."""
    normalise: Annotated[
        Given[Scores, Score | Iterable[Score] | None], AfterValidator(_each_once), Written(separator=",")
    ] = default_of(default=None)
    """What is held against the judgements: `none` (the score itself), `mean`, `pen`, `slln`, `slor`, `pmi` (see
    penchant list methods) and `morcela`. Default: none and mean, and with `unigrams` slor and morcela."""
    folds: Annotated[int, Field(ge=2, le=1000)] = 10
    """MORCELA scores each of so many parts of the sentences with β and γ fitted to the others. Default: 10."""
    neutral: str = ""
    """For `pmi`: the text after which sentences are read without their prefix, as it is written. Default: none."""
    on_unknown: OnUnknown = "stop"
    """Whether sentences that hold something the tokenizer does not know `stop` the study, which lists them (default),
    or are left out and counted (`skip`)."""

    def normalisations(self) -> list[str]:
        """The scores as a list; empty where they are not set."""
        return listed(self.normalise)

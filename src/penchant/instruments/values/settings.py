"""The settings of value statements."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from penchant.errors import MethodError
from penchant.instruments.elicit_settings import Elicited
from penchant.instruments.probe_field_types import CITED, Data, Given, TableField, default_of
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.instruments.values.calibration import Line
from penchant.instruments.values.data import file_of_set
from penchant.instruments.values.survey import file_of_survey
from penchant.report.no_difference_table import DifferenceScale

DIFFERENCE = "difference of ratings"
"""The measure of the difference between two groups, or between two models."""


class ValuesSettings(Elicited):
    """The parameters of value statements: the set, the survey, scoring and calibration."""

    name: ClassVar[str] = "values"
    limited: ClassVar[str] = "statements"
    difference_scale: ClassVar[DifferenceScale] = DifferenceScale(
        {DIFFERENCE: 4}, "give points of the scale from 1 to 5, such as 0.25", studentised=True
    )

    data: Annotated[Given[str, Data], CITED, TableField(file=file_of_set)] = Field(kw_only=False)
    """A set of statements: the name of a bundled set, or a directory with set.yaml."""
    survey: Annotated[Given[str | None, Data | None], CITED, TableField(file=file_of_survey)] = default_of(default=None)
    """People's answers: a YAML file that describes them, or a table with columns named like the statements.
    See `penchant schema values`. Default: none.
    """
    method: Literal["span", "lp"] | None = None
    """The scoring method of a stance in a sentence: `span` or `lp`.
    `span` masks all its tokens at once and sums their log-probabilities (default for masked models); `lp` takes the
    log-probability of the whole sentence (default for causal models).
    """
    calibration: Literal["origin", "difference"] | None = None
    """The line fitted to neutral statements: `origin` or `difference`.
    `origin` fits a slope, agree = a·disagree, as in the paper (default for span); `difference` fits an offset, agree =
    disagree + b (default for lp, whose values depend mostly on the sentence's length).
    """
    on_unknown: OnUnknown = "stop"
    """Treatment of statements with text unknown to the tokenizer: `stop` (default) or `skip`.

    `stop` stops the study with a list of them; `skip` leaves them out and counts them.
    """

    @property
    def line(self) -> Line:
        """The calibration. Raises MethodError if it is not set yet."""
        if self.calibration is None:
            raise MethodError("the calibration is not set", hint="it depends on the model: call settle first")
        return self.calibration

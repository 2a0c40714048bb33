"""Settings of DisCo."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from penchant.instruments.probe_field_types import CITED, DOCUMENT, Data, Given
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.limits import FILLERS
from penchant.report.no_difference_table import DifferenceScale

DIFFERENT = "fills that differ by gender, a template"


class DiscoSettings(Settings):
    """Parameters of DisCo: words and templates, the number of fills, and the permutations of the test."""

    name: ClassVar[str] = "disco"
    limited: ClassVar[str] = "templates"
    difference_scale: ClassVar[DifferenceScale] = DifferenceScale({f"difference of {DIFFERENT}": FILLERS})

    data: Annotated[Given[str, Data], CITED, DOCUMENT] = Field(kw_only=False)
    """Words for persons and templates: a bundled set, a directory with set.yaml, or the file itself."""
    k: Annotated[int, Field(ge=1, le=FILLERS)] = 3
    """Number of fills per sentence: its k most probable words. Default: 3."""
    draws: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    """Number of random permutations of gender in the test. Default: 10000."""
    on_unknown: OnUnknown = "stop"
    """Persons with a sentence unknown to the tokenizer: `stop` the study (default), or `skip` and count them."""

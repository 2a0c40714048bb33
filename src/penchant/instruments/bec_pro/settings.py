"""Settings of BEC-Pro."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from penchant.instruments.bec_pro.data import TamColumns
from penchant.instruments.probe_field_types import CITED, Columns, Data, Given, TableField, default_of
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown

_COLUMNS = ("Sent_TM", "Sent_TAM", "Person", "Gender", "Profession", "Prof_Gender", "Template")


def _two(names: list[str]) -> list[str]:
    if names[0] == names[1]:
        raise ValueError("the two genders must differ")
    return names


class BecProSettings(Settings):
    """Parameters of BEC-Pro: the table, the two genders to compare, and the masks of the profession."""

    name: ClassVar[str] = "bec-pro"
    limited: ClassVar[str] = "pairs of template and profession"

    data: Annotated[Given[str, Data], CITED, TableField(_COLUMNS)] = Field(kw_only=False)
    """A table with the columns Sent_TM, Sent_TAM, Person, Gender, Profession, Prof_Gender and Template."""
    columns: Given[TamColumns, TamColumns | Columns] = default_of(default=TamColumns())
    """Columns of the table that have other names, as field: column."""
    contrast: Annotated[Given[list[str], Iterable[str]], Field(min_length=2, max_length=2), AfterValidator(_two)] = (
        default_of(default=["female", "male"])
    )
    """The two genders that are compared, first minus second. Default: female, male."""
    same: Given[dict[str, str], Mapping[str, str]] = default_of(default={})
    """Templates to merge, as template: other template, for example if they differ only in an article."""
    prior: Literal["written", "pieces"] = "written"
    """Masks of the profession: as `written` in the table (default), or one per token of the profession (`pieces`)."""
    on_unknown: OnUnknown = "stop"
    """Sentences with text unknown to the tokenizer: `stop` the study (default), or `skip` and count them."""

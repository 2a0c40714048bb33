"""The public sets of data that penchant reads: what they are, under which licence, and where their publishers
keep them.

None of them comes with penchant. The facts stand in one file, `public_sets.yaml`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from penchant.tables.documents import SETTINGS, read_yaml

FILE = Path(__file__).with_name("public_sets.yaml")
_TOLD = {
    "allowed": "may be passed on under its terms",
    "non-commercial": "must not be used or passed on commercially",
    "unclear": "whether it may be passed on is unclear",
}
Text = Annotated[str, Field(min_length=1)]


class PublicSet(BaseModel):
    """A public set of data."""

    model_config = SETTINGS
    name: Text
    instrument: Text
    """The instrument that reads it."""
    languages: Annotated[list[Text], Field(min_length=1)]
    """BCP 47 tags, or how many there are."""
    size: Text
    licence: Text
    """As the publisher states it; where another says so, who."""
    redistribution: Literal["allowed", "non-commercial", "unclear"]
    """Whether the licence lets others pass it on."""
    url: Annotated[str, Field(pattern=r"^https://\S+$")]
    """The publisher's repository or page."""
    read_as: Text
    """The format by which penchant reads it, or the columns to name."""

    def line(self) -> str:
        """The set in a line."""
        parts = [
            f"for {self.instrument}",
            ", ".join(self.languages),
            self.size,
            f"licence: {self.licence} ({_TOLD[self.redistribution]})",
            f"reading: {self.read_as}",
            self.url,
        ]
        return "; ".join(parts)


def public_sets() -> list[PublicSet]:
    """All of them, in the order of the file."""
    content = read_yaml(FILE).content
    return [PublicSet.model_validate(each) for each in (content if isinstance(content, list) else [])]

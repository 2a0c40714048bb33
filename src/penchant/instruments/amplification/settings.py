"""The settings of amplification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from penchant.corpus.text_files import Layout
from penchant.instruments.probe_field_types import CITED, DOCUMENT, Data, Files, Given
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.limits import COUNT


class AmplificationSettings(Settings):
    """Parameters of the amplification probe: the set, the models' texts, and how their words are counted."""

    name: ClassVar[str] = "amplification"
    limited: ClassVar[str] = "attributes"

    data: Annotated[Given[str, Data], CITED, DOCUMENT] = Field(kw_only=False)
    """Groups, attributes and templates: a bundled name, a directory with set.yaml, or that file."""
    text: Annotated[Given[str | list[str] | dict[str, str | list[str]], Files | Mapping[str, str | list[str]]], CITED]
    """The text that the model was trained on or, for several models, such texts by model.

    A text is files, patterns, directories or URLs, as for penchant corpus extract. Models are named as in the study:
    {bundled:modern: modern.txt}.
    """
    layout: Layout = "paragraphs"
    """The unit of a line of plain text: paragraphs (default), sentences, or wrapped (a blank line ends a paragraph)."""
    field: str = "text"
    """The field that holds the text, in JSON lines and Parquet. Default: text."""
    min_count: Annotated[int, Field(ge=1, le=COUNT)] = 20
    """The fewest occurrences of a word in the sentences of both groups together. Default: 20.

    Rarer words are left out of all estimates, and listed.
    """
    prior_size: Annotated[float, Field(gt=0, le=COUNT)] = 200
    """The size of the prior of the log-odds, in words added to those of each group. Default: 200.

    The prior is the sentences of both groups together. It shrinks log-odds, so it must be small for a small text.
    """
    on_unknown: OnUnknown = "stop"
    """Treatment of attributes with a sentence unknown to the tokenizer: `stop` (default) or `skip`.

    `stop` stops the study with a list of them; `skip` leaves them out and counts them.
    """

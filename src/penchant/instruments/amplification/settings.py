"""The settings of amplification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from penchant.corpus.text_files import Layout
from penchant.instruments.probe_fields import CITED, DOCUMENT, Data, Files, Given
from penchant.instruments.settings import Settings
from penchant.instruments.unknown_tokens import OnUnknown
from penchant.limits import COUNT


class AmplificationSettings(Settings):
    """The parameters of amplification."""

    name: ClassVar[str] = "amplification"
    limited: ClassVar[str] = "attributes"

    data: Annotated[Given[str, Data], CITED, DOCUMENT] = Field(kw_only=False)
    """Groups, attributes and templates: a bundled name, a directory with set.yaml, or such a file."""
    text: Annotated[Given[str | list[str] | dict[str, str | list[str]], Files | Mapping[str, str | list[str]]], CITED]
    """The text that the model was trained on: files, patterns, directories or URLs, as for penchant corpus extract.
    Where models have texts of their own, those by model, named as in the study: {bundled:modern: modern.txt}."""
    layout: Layout = "paragraphs"
    """What a line of plain text is: a paragraph (default), a sentence, or part of a wrapped paragraph that a blank line
    ends (wrapped)."""
    field: str = "text"
    """The field that holds the text, in JSON lines and Parquet. Default: text."""
    min_count: Annotated[int, Field(ge=1, le=COUNT)] = 20
    """Words with fewer occurrences than this in the sentences of both groups together are left out of all estimates,
    and listed. Default: 20."""
    prior_size: Annotated[float, Field(gt=0, le=COUNT)] = 200
    """Size of the prior of the log-odds (the sentences of both groups together), in words that it adds to those of each
    group. A prior shrinks log-odds, so that of a small text must be small. Default: 200."""
    on_unknown: OnUnknown = "stop"
    """Whether attributes of which the tokenizer does not know a sentence `stop` the study, which lists them (default),
    or are left out and counted (`skip`)."""

"""Settings of GEST."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from penchant.instruments.probe_field_types import Given, default_of
from penchant.instruments.settings import Settings
from penchant.tables.yaml_json_documents import distinct

SLOT, WORDS = "{sentence}", re.compile(r"\[([^\[\]|]+)\|([^\[\]|]+)\]")
"""The placeholder of the sentence in a template, and the pattern of its masculine and feminine word."""
_SAID, _AFTER = '[He|She] said: "{sentence}"', '"{sentence}", [he|she] said.'
_MAN_SAID, _AFTER_MAN = 'The [man|woman] said: "{sentence}"', '"{sentence}", the [man|woman] said.'


def _marked(template: str) -> str:
    if len(WORDS.findall(template)) != 1 or template.count(SLOT) != 1:
        raise ValueError(f"a template needs one [masculine|feminine] and one {{sentence}}, for example: {_SAID}")
    return template


class GestSettings(Settings):
    """Parameters of GEST, such as the templates that ascribe a sentence to a man or a woman."""

    name: ClassVar[str] = "gest"
    limited: ClassVar[str] = "sentences"

    templates: Annotated[
        Given[list[Annotated[str, AfterValidator(_marked)]], Iterable[str]],
        Field(min_length=1),
        AfterValidator(distinct),
    ] = default_of(default=[_SAID, _MAN_SAID, _AFTER, _AFTER_MAN])
    """Frames that ascribe a sentence to a man or a woman. Default: the four English ones of GEST."""

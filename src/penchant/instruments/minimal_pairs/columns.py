"""What the columns of a table of pairs are called, as a study says it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from penchant.tables.documents import SETTINGS


class PairColumns(BaseModel):
    """The columns of a plain table of pairs, or of a table of stereotypes."""

    model_config = ConfigDict(**SETTINGS, str_strip_whitespace=True)
    good: str = "good"
    """The acceptable sentence. Default: good."""
    bad: str = "bad"
    """The unacceptable sentence. Default: bad."""
    group: str = "group"
    """The paradigm, if the table has one. Default: group."""
    id: str = "id"
    """What the pair is called in the results, if the table has such a column, else the number of its row. Default:
    id."""
    prefix: str = "prefix"
    """A text that both sentences are scored after, if the table has it; it is joined to them as it is written. Default:
    prefix."""
    more: str = "more"
    """In a table of stereotypes, the more stereotypical sentence. Default: more."""
    less: str = "less"
    """The less stereotypical sentence. Default: less."""
    kind: str = "kind"
    """The kind of bias, if the table has one. Default: kind."""
    direction: str = "direction"
    """Whether the pair shows a stereotype ("stereo") or goes against one ("antistereo"), if the table says it. Default:
    direction."""

"""The settings of an instrument whose items can be put to a chat model as questions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from penchant.instruments.settings import Settings
from penchant.tables.yaml_json_documents import Written

Elicit = Literal["sentence", "chat", "answer"]


class Phrases(BaseModel):
    """Phrases in one language for putting questions with options and for reading the replies."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    label: Written
    """The instruction to reply with a letter."""
    text: Written
    """The instruction to reply with the text of an option."""
    openings: list[Written] = []
    """Phrases that may precede an option in a reply, such as "my answer is"."""
    refusals: list[Written] = []
    """Phrases that mark a reply without an option as a refusal."""
    hedges: list[Written] = []
    """Phrases that mark a reply without an option as a hedge."""


class Elicited(Settings):
    """The parameters of an instrument whose items can be put to a chat model as questions."""

    elicit: Elicit = "sentence"
    """The way of measuring: `sentence`, `chat` or `answer`.

    `sentence` (default) scores bare sentences. `chat` puts a question with options into the chat template of the model
    and takes the log-probability of each option. `answer` also samples replies.
    """
    reply: Literal["label", "text"] = "label"
    """The reply requested from a chat model: the `label` of an option, a letter (default), or its `text`."""
    orders: Literal["balanced", "all"] = "balanced"
    """The orders in which options are listed, over which probabilities are averaged: `balanced` or `all`.

    `balanced` (default) rotates the list and its reverse, so that each option appears in each position equally often.
    """
    samples: Annotated[int, Field(ge=1, le=1_000)] = 1
    """Number of replies sampled per question and order of its options (`elicit: answer`). Default: 1."""
    temperature: Annotated[float, Field(ge=0, le=5)] = 1.0
    """Temperature at which replies are sampled; 0 takes the likeliest token."""

    @property
    def asks(self) -> bool:
        """True if items are put to a chat model as questions."""
        return self.elicit != "sentence"

    @property
    def way(self) -> str:
        """The way of measuring, as a suffix of the probe's directory in a study; "" for `sentence`."""
        return self.elicit if self.asks else ""

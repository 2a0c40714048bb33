"""Categories of association tests: word lists X, Y, A and B, and sentence templates for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from penchant.corpus.slot_filling import Span, filled
from penchant.corpus.stimulus_file_models import MEASURES
from penchant.tables.data_cautions import counted_apart
from penchant.unicode_spellings import canonical

_SLOT = re.compile(r"\{(target|attribute)\}")


@dataclass(frozen=True, slots=True)
class WordList:
    """List of words, and the sentence templates with one {word} slot that they fill.

    The `words` of a SEAT file may be whole sentences; `behind` then has the stimulus word of each sentence, if the file
    declares it.
    """

    name: str
    label: str
    words: tuple[str, ...]
    templates: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()

    def sentences_alone(self) -> bool:
        """Return True if most entries are sentences and there are neither templates nor declared stimulus words."""
        return not self.behind and not self.bare() and not self.templates

    def bare(self) -> bool:
        """Return True if at least half of the entries are single words and there are no templates."""
        return not self.templates and 2 * sum(" " in word.strip() for word in self.words) <= len(self.words)


@dataclass(frozen=True, slots=True)
class Context:
    """Sentence template with one {target} and one {attribute} slot, in either order."""

    structure: str
    text: str

    def sentence(self, target: str, attribute: str) -> tuple[str, Span, Span]:
        """Return the sentence with both slots filled, and the spans (start, end) of target and attribute."""
        text, spans = filled(_SLOT, self.text, {"target": target, "attribute": attribute})
        return text, spans["target"], spans["attribute"]


@dataclass(frozen=True, slots=True)
class Category:
    """Category of an association test: target lists X and Y, attribute lists A and B.

    `target` determines which lists fill the {target} slot of the contexts; if `paired` is true, words at the
    same position of these two lists form a pair. `control` is the id of the category whose effect size is subtracted
    ("" for none), and `place` says where the category is defined, for messages.
    """

    id: str
    label: str
    x: WordList
    y: WordList
    a: WordList
    b: WordList
    contexts: tuple[Context, ...] = ()
    target: Literal["targets", "attributes"] = "targets"
    paired: bool = False
    measures: tuple[str, ...] = MEASURES
    place: str = ""
    control: str = ""

    def lists(self) -> tuple[WordList, WordList, WordList, WordList]:
        """Return the lists X, Y, A and B."""
        return self.x, self.y, self.a, self.b

    def labels(self) -> dict[str, str]:
        """Return the label of each list, keyed by set (X, Y, A, B)."""
        return {side: part.label for side, part in zip("XYAB", self.lists(), strict=True)}

    def repeated(self) -> list[str]:
        """Return the words that occur more than once in X and Y together, or in A and B together."""
        repeated: list[str] = []
        for first, second in ((self.x, self.y), (self.a, self.b)):
            words = first.words + second.words
            counts = Counter(map(canonical, words))
            repeated += [word for word in words if counts[canonical(word)] > 1]
        return list(dict.fromkeys(repeated))

    def cautions(self) -> Iterator[str]:
        """Yield cautions about repeated words, and about words that look alike but are spelt differently."""
        if repeated := self.repeated():
            yield f"{self.id}: repeated among the targets or attributes: {', '.join(repeated)}"
        for first, second in ((self.x, self.y), (self.a, self.b)):
            yield from counted_apart(map(canonical, first.words + second.words), f"words of {self.id}")

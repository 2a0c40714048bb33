"""Splitting paragraphs into sentences by the rules of their language."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from penchant.corpus.text_files import Layout
from penchant.errors import missing_package


def divider(language: str, layout: Layout) -> Callable[[str], list[str]]:
    """Return a function that divides a line into sentences, with the white space between them. `language` is a BCP 47
    tag.

    sentencex knows the sentence-ending marks and abbreviations of some sixty languages, and falls back to a related
    language or to English for others. With one sentence per line, lines are not divided. Raises MethodError if the
    package is missing.
    """
    if layout == "sentences":
        return lambda line: [line]
    try:
        from sentencex import segment
    except ImportError as error:
        raise missing_package("sentencex", "corpus") from error
    return partial(segment, language.split("-")[0].lower())


def splitter(language: str, layout: Layout) -> Callable[[str], list[str]]:
    """Return a function that splits a line into sentences as `divider` does, stripped of white space."""
    if layout == "sentences":
        return lambda line: [line.strip()]
    divide = divider(language, layout)
    return lambda line: [stripped for piece in divide(line) if (stripped := piece.strip())]

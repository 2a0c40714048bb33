"""Splitting paragraphs into sentences by the rules of their language."""

from __future__ import annotations

from collections.abc import Callable

from penchant.corpus.text_files import Layout
from penchant.errors import missing_package


def splitter(language: str, layout: Layout) -> Callable[[str], list[str]]:
    """Return a function that splits a line into sentences, stripped of white space. `language` is a BCP 47 tag.

    sentencex knows the sentence-ending marks and abbreviations of some sixty languages, and falls back to a related
    language or to English for others. With one sentence per line, lines are not split. Raises MethodError if the
    package is missing.
    """
    if layout == "sentences":
        return lambda line: [line.strip()]
    try:
        from sentencex import segment
    except ImportError as error:
        raise missing_package("sentencex", "corpus") from error
    primary = language.split("-")[0].lower()
    return lambda line: [stripped for piece in segment(primary, line) if (stripped := piece.strip())]

"""Paragraphs divided into sentences, by the rules of their language."""

from __future__ import annotations

from collections.abc import Callable

from penchant.data.text_files import Layout, missing


def splitter(language: str, layout: Layout) -> Callable[[str], list[str]]:
    """What makes sentences, without white space around them, of a line of text. `language` is a BCP 47 tag.

    sentencex knows marks that end sentences and the abbreviations of some sixty languages, and takes the rules of a
    related one or of English for others. Where a line is a sentence, it is left as it is. Raises MethodError without
    the package.
    """
    if layout == "sentences":
        return lambda line: [line.strip()]
    try:
        from sentencex import segment
    except ImportError as error:
        raise missing("sentencex") from error
    primary = language.split("-")[0].lower()
    return lambda line: [stripped for piece in segment(primary, line) if (stripped := piece.strip())]

"""Names of groups that look alike and are counted apart."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator


def counted_apart(names: Iterable[str], noun: str) -> Iterator[str]:
    """A caution for every few names that differ only in case, white space or Unicode form; `noun` is what they are of,
    in the plural."""
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(" ".join(_composed(name).casefold().split()), []).append(name)
    for several in alike.values():
        if len(several) > 1:
            shown = ", ".join(map(ascii if len(set(map(_composed, several))) < len(several) else repr, several))
            yield (
                f"{len(several)} {noun} differ only in case, white space or Unicode form and are counted apart: {shown}"
            )


def _composed(name: str) -> str:
    """A name as it looks."""
    return unicodedata.normalize("NFKC", name)

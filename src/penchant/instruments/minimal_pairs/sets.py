"""The data sets of several results, of which a model may have left one out."""

from __future__ import annotations

from collections.abc import Sequence

from penchant.records import Result


def by_set(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The results that have pairs of a data set, by its name."""
    found: dict[str, list[Result]] = {}
    for result in results:
        for name in result.summary["dataset"].unique(maintain_order=True).to_list():
            found.setdefault(name, []).append(result)
    return found

"""Scopes of estimates: one row over all pairs, and others only if there are several groups."""

from __future__ import annotations

import polars as pl
import pytest

import penchant as pc

NOUNS = ("dog", "cat", "king", "friend", "mother", "tree")
PAIRS = [{"good": f"The {noun} sees it .", "bad": f"The {noun} see it .", "id": noun} for noun in NOUNS]
FILTER = {"scope": "overall", "split": "all", "normalise": "none"}


def run(groups: dict[str, str]) -> list[pc.Result]:
    rows = [{**row, **({"UID": groups[row["id"]]} if groups else {})} for row in PAIRS]
    data = pl.DataFrame(rows)
    columns = {"group": "UID"} if groups else {}
    probe = pc.MinimalPairs(data, columns=columns, resamples=200)
    return [probe.run(f"bundled:{name}") for name in ("modern", "early-modern")]


@pytest.mark.parametrize("groups", [{}, dict.fromkeys(NOUNS, "agreement")])
def test_pairs_of_one_paradigm_have_the_scope_overall_alone(groups: dict[str, str]) -> None:
    first, second = run(groups)
    for result in (first, second):
        right = result.items["score_good"] > result.items["score_bad"]
        row = result.summary.filter(measure="accuracy", **FILTER)
        assert set(result.summary["scope"]) == {"overall"}
        assert (row["value"].item(), row["n"].item()) == (right.mean(), 6)
        assert row["p"].item() > 0 and row["tests"].item() == 1
        assert not result.summary.select("measure", "split", "normalise").is_duplicated().any()
    gained = pc.compare(first, second).filter(measure="accuracy difference", **FILTER)
    values = [result.summary.filter(measure="accuracy", **FILTER)["value"].item() for result in (first, second)]
    assert gained["value"].item() == pytest.approx(values[0] - values[1])
    assert set(pc.compare(first, second)["scope"]) == {"overall"}


def test_pairs_of_several_paradigms_have_a_scope_for_these_too() -> None:
    first, second = run({noun: "short" if len(noun) == 3 else "long" for noun in NOUNS})
    assert set(first.summary["scope"]) == {"overall", "these groups", "group"}  # phenomena are the same groups
    by_kind = first.summary.filter(measure="accuracy", scope="group", split="all", normalise="none")
    assert dict(by_kind.select("group", "n").iter_rows()) == {"short": 2, "long": 4}
    both = [first.summary.filter(measure="accuracy", **FILTER), pc.compare(first, second)]
    assert both[0]["n"].to_list() == [6]
    assert both[1].filter(measure="accuracy difference", **FILTER)["n"].to_list() == [6]
    assert set(both[1]["scope"]) == {"overall", "these groups", "group"}

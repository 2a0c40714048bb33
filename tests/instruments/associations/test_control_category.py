"""Effect sizes minus those of a control: declared in a set, resampled together, and shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brute_associations as plain
import penchant as pc
from brute_associations import rows, write_set
from penchant.corpus.stimulus_sets import read_stimuli
from penchant.errors import DataError
from penchant.instruments.associations.control_category import BEYOND, CellWords, beyond_controls
from penchant.instruments.associations.estimates import Cell
from penchant.instruments.associations.instrument import WEAT
from penchant.instruments.associations.logprob_estimates import OF_TEMPLATE
from penchant.instruments.associations.sampled_effects import Sides
from penchant.stats.inputs import Array
from penchant.stats.templates import SD, SHARE

LISTS = {
    "men": ["gardener", "doctor", "owner"],
    "women": ["nurse", "sister", "grandmother"],
    "things": ["book", "table", "key"],
    "animals": ["dog", "horse", "cabinet"],
    "kind": ["good", "careful", "wonderful", "late"],
    "unkind": ["unfriendly", "terrible", "careless"],
}
CATEGORIES: dict[str, dict[str, Any]] = {
    "people": {"X": "men", "Y": "women", "A": "kind", "B": "unkind", "contexts": "c", "control": "others"},
    "others": {"X": "things", "Y": "animals", "A": "kind", "B": "unkind", "contexts": "c"},
}
CONTEXTS = {
    "c": [{"structure": "S1", "text": f"{start} {{target}} is {{attribute}}."} for start in ("The", "This old")]
}


def settings(seed: int = 0, resamples: int = 500) -> pc.WEAT:
    return pc.WEAT(data="x", seed=seed, resamples=resamples)


def placed(name: str, table: Array, lists: tuple[list[str], list[str], list[str], list[str]]) -> CellWords:
    by = {"category": name, "label": "", "layer": "", "context": ""}
    return CellWords(Cell(by, table[None], Sides.of(*lists[:2]), Sides.of(*lists[2:])), lists)


def words(start: str, n: int = 8) -> list[str]:
    return [f"{start}{i}" for i in range(n)]


def test_a_control_is_another_category_of_the_set(tmp_path: Path) -> None:
    read = read_stimuli(write_set(tmp_path / "set", LISTS, CATEGORIES, contexts=CONTEXTS))
    assert [category.control for category in read.categories] == ["others", ""]
    for number, (change, told) in enumerate(
        (
            ({"control": "nobody"}, "no category 'nobody'"),
            ({"control": "people"}, "cannot be its own control"),
        )
    ):
        wrong: Mapping[str, dict[str, Any]] = {**CATEGORIES, "people": {**CATEGORIES["people"], **change}}
        with pytest.raises(DataError, match=told):
            read_stimuli(write_set(tmp_path / f"{number}", LISTS, dict(wrong), contexts=CONTEXTS))


@pytest.mark.parametrize("probe", [pc.SEAT, pc.LogProbBias])
def test_the_difference_is_that_of_the_two_effect_sizes(zoo: Any, tmp_path: Path, probe: Any) -> None:
    data = write_set(tmp_path / "set", LISTS, CATEGORIES, contexts=CONTEXTS)
    found = probe(data=data, resamples=300).run(plain.language_model(zoo("bert")))
    (beyond,) = rows(found, measure=BEYOND)
    sizes = {row["category"]: row["value"] for row in rows(found, measure="effect size")}
    assert beyond["value"] == pytest.approx(sizes["people"] - sizes["others"])
    assert beyond["category"] == "people" and beyond["tests"] == 1 and "2 of four lists" in beyond["note"]
    assert (beyond["p"] < 0.05) == (not beyond["low"] <= 0 <= beyond["high"])
    shown = {table.name: table for table in WEAT.section.tables([found])}
    assert len(shown["beyond-control"].rows) == 1
    if probe is pc.LogProbBias:
        each = [row["value"] for row in rows(found, measure=OF_TEMPLATE, category="people")]
        (spread,) = rows(found, measure=SD, category="people")
        (share,) = rows(found, measure=SHARE, category="people")
        assert len(each) == 2 and spread["value"] == pytest.approx(np.std(each, ddof=1)) and 0 <= share["value"] <= 1
        assert len(shown["over-templates"].rows) == 2


def test_shared_lists_are_resampled_together() -> None:
    """A control that is the same table differs by 0 in every resample; one with attributes of its own does not."""
    table = np.random.default_rng(1).normal(size=(16, 16))
    lists = words("x"), words("y"), words("a"), words("b")
    same = [placed("one", table, lists), placed("two", table, lists)]
    (found,) = beyond_controls(same, {"one": "two"}, settings())
    assert (found.value, found.low, found.high, found.p) == (0, 0, 0, 1)
    other = words("x"), words("y"), words("c"), words("d")
    (found,) = beyond_controls([same[0], placed("two", table, other)], {"one": "two"}, settings())
    assert found.low < -0.1 < 0.1 < found.high and "2 of four lists" in found.note
    (lost,) = beyond_controls(same[:1], {"one": "two"}, settings())
    assert math.isnan(lost.value) and "was not measured" in lost.note


def test_intervals_hold_a_difference_of_0() -> None:
    """Words of both categories lean to either side of the same attributes by chance alone, whose own effects are
    shared."""
    held, sets = 0, 120
    for seed in range(sets):
        rng = np.random.default_rng([3, seed])
        attribute = rng.normal(0, 0.5, 20)
        made = []
        for name in ("one", "two"):
            lean = rng.normal(0, 1, (20, 1)) * np.where(np.arange(20) < 10, 1, -1)
            table = attribute + lean + rng.normal(0, 1, (20, 20))
            lists = words(f"{name}x", 10), words(f"{name}y", 10), words("a", 10), words("b", 10)
            made.append(placed(name, table, lists))
        (found,) = beyond_controls(made, {"one": "two"}, settings(seed, 300))
        assert (found.p < 0.05) == (not found.low <= 0 <= found.high) or found.p == pytest.approx(0.05, abs=0.02)
        held += found.low <= 0 <= found.high
    assert held / sets >= 0.89  # .95, less three standard errors of so few data sets


def test_an_interval_ends_at_the_largest_difference() -> None:
    """d of 3 + 3 words is at most 1.83, so that two of them are at most 3.65 apart."""
    rng = np.random.default_rng(0)
    lists = words("x", 3), words("y", 3), words("a", 3), words("b", 3)
    side = np.where(np.arange(6) < 3, 1.0, -1.0)
    lean = placed("one", 2 * np.outer(side, side) + rng.normal(size=(6, 6)), lists)
    other = tuple(words(f"o{k}", 3) for k in range(4))
    turned = placed("two", -2 * np.outer(side, side) + rng.normal(size=(6, 6)), other)  # type: ignore[arg-type]
    (found,) = beyond_controls([lean, turned], {"one": "two"}, settings())
    assert found.value > 3 and found.high == pytest.approx(2 * 5**0.5 / 6**0.5 * 2)
    assert "largest possible difference" in found.note


def test_samples_of_ceat_are_combined_and_resampled_together(zoo: Any, tmp_path: Path) -> None:
    twins = {**CATEGORIES, "twin": {**CATEGORIES["others"], "control": "others"}}
    data = write_set(tmp_path / "set", LISTS, twins, contexts=CONTEXTS)
    nouns = [word for words in LISTS.values() for word in words]
    texts = [f"The {word} {rest}" for word in nouns for rest in ("was in the garden.", "is very old.", "saw a dog.")]
    (tmp_path / "texts.txt").write_text("\n".join(texts), "utf-8")
    settings: dict[str, Any] = {"samples": [7, 20], "segments": ["all"], "resamples": 200}
    found = pc.CEAT(data=data, sentences=tmp_path / "texts.txt", **settings).run(plain.language_model(zoo("bert")))
    beyond = rows(found, measure=BEYOND)
    assert [(row["category"], row["samples"]) for row in beyond] == [
        (name, n) for name in ("people", "twin") for n in ("7", "20")
    ]
    sizes = {(row["category"], row["samples"]): row["value"] for row in rows(found, measure="combined effect size")}
    for row in beyond:
        expected = sizes[row["category"], row["samples"]] - sizes["others", row["samples"]]
        assert row["value"] == pytest.approx(expected)
        if row["category"] == "twin":  # the same words, under another name: the same draws of words and of samples
            assert (row["low"], row["high"], row["p"]) == (0, 0, 1)
        else:
            assert row["low"] < row["value"] < row["high"] and "stimuli and samples of both at once" in row["how"]
    assert len({table.name: table for table in WEAT.section.tables([found])}["beyond-control"].rows) == 4


def test_samples_that_are_all_the_same_are_one_table() -> None:
    table = np.random.default_rng(2).normal(size=(16, 16))
    lists = words("x"), words("y"), words("a"), words("b")
    one = placed("one", table, lists)
    by = {"category": "one", "label": "", "layer": "", "context": ""}
    three = Cell(by, np.stack([table] * 3), Sides.of(*lists[:2]), Sides.of(*lists[2:]))
    d = one.effect(settings())
    assert CellWords(three, lists, d + 0.5).draws(settings()) == pytest.approx(one.draws(settings()) + 0.5)

"""DisCo: sets read and refused, fills against reference passes, tests of fills against scipy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import brute
import penchant as pc
import zoo as tiny
from paths import ROOT, bundled
from penchant.errors import DataError, MethodError
from penchant.instruments.comparison import difference
from penchant.instruments.disco.data import parts, read_disco, sentence
from penchant.instruments.disco.estimates import (
    CHI2,
    DIFFERENT,
    EXACT,
    OF_TEMPLATE,
    SHARES,
    chi2,
    exchanged,
    templates_of,
)
from penchant.instruments.disco.instrument import DISCO
from penchant.instruments.disco.probe import Disco
from penchant.records import Signature
from penchant.report.verdicts import Verdict
from penchant.stats.hypothesis_tests import fisher
from penchant.stats.templates import SD
from penchant.study.study_file import read_study

Zoo = Callable[[str], Path]
SET = (
    "persons:\n  female: [the nurse, my sister]\n  male: [the farmer, my owner]\n"
    'templates: ["PERSON saw the BLANK.", "In the garden PERSON lost a BLANK dog."]\n'
)


def write(folder: Path, text: str = SET) -> Path:
    (folder / "set.yaml").write_text(text, "utf-8")
    return folder / "set.yaml"


# Reading ------------------------------------------------------------------------------------------------------------


def test_a_set_is_read_and_filled(tmp_path: Path) -> None:
    read = read_disco(write(tmp_path))
    assert read.groups == ("female", "male") and read.name == tmp_path.name
    assert [(p.word, p.group) for p in read.persons][1:3] == [("my sister", "female"), ("the farmer", "male")]
    assert sentence(read.templates[0], "the nurse") == "The nurse saw the [MASK]."
    assert sentence(read.templates[1], "the nurse") == "In the garden the nurse lost a [MASK] dog."
    assert parts(read.templates[1], "Ann") == ["In the garden Ann lost a", "dog."]
    assert sentence("When PERSON met Personne, BLANK.", "Ann") == "When Ann met Personne, [MASK]."


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("saw the BLANK", "saw the dog", "one PERSON and one BLANK"),
        ("PERSON saw", "PERSON and PERSON saw", "one PERSON and one BLANK"),
        ("my owner", "the farmer", "appears twice"),
        ("  male: [the farmer, my owner]\n", "", "persons"),
        ("[the farmer, my owner]", "[the farmer]", "at least 2"),
    ],
)
def test_sets_that_cannot_be_used_are_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(DataError, match=told):
        read_disco(write(tmp_path, SET.replace(old, new)))


def test_the_bundled_set_is_large_enough_and_balanced() -> None:
    read = read_disco(bundled("disco-en"))
    numbers = [sum(person.group == group for person in read.persons) for group in read.groups]
    assert len(read.templates) >= 14 and numbers[0] == numbers[1] >= 20
    assert (bundled("disco-en") / "STATEMENT.md").is_file()
    _, (probe,) = read_study(ROOT / "examples" / "disco.yaml", models=["bundled:modern"])
    assert isinstance(probe, Disco) and probe.k == 3 and len(probe.texts([Path()])) > 700


# Fills --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", tiny.MASKED)
def test_fills_are_those_of_a_reference_pass(zoo: Zoo, tmp_path: Path, name: str) -> None:
    items = Disco(data=str(write(tmp_path)), draws=100, resamples=100).run(pc.load(zoo(name))).items
    model, tokenizer = brute.load(zoo(name))
    assert len(items) == 8
    for row in items.head(3).iter_rows(named=True):
        best = brute.topk_at_mask(model, tokenizer, row["sentence"].replace("[MASK]", tokenizer.mask_token), 3)
        assert row["logprobs"] == pytest.approx([math.log(p) for _, p in best], abs=2e-4)
        for fill, (token, _) in zip(row["fills"], best, strict=True):
            if token >= len(tokenizer):
                continue  # the head has more rows than there are tokens
            assert fill.replace("##", "") in tokenizer.decode([token]) or fill == tokenizer.convert_ids_to_tokens(token)


def test_causal_models_are_refused_in_one_line(zoo: Zoo, tmp_path: Path) -> None:
    with pytest.raises(MethodError, match=r"disco requires a masked model, but .* is causal") as told:
        Disco(data=str(write(tmp_path))).run(pc.load(zoo("gpt2")))
    assert "\n" not in str(told.value)


# Estimates ----------------------------------------------------------------------------------------------------------


def planted(fills: Sequence[tuple[Sequence[str], Sequence[str]]], persons: int = 20) -> pl.DataFrame:
    """Items of templates; of each, the fills that the first persons of either gender have, one a person in turn."""
    rows = []
    for number, sides in enumerate(fills):
        for side, words in enumerate(sides):
            for person in range(persons):
                word = words[person % len(words)]
                rows.append(
                    {
                        "id": f"{side} {person}: t{number}",
                        "template": f"t{number}",
                        "person": f"{'fm'[side]}{person}",
                        "group": ("female", "male")[side],
                        "side": side,
                        "sentence": f"{side} {person} t{number}",
                        "fills": [word, "dog", "other"],
                        "is_piece": [False, False, False],
                        "logprobs": [-1.0, -2.0, -3.0],
                    }
                )
    return pl.DataFrame(rows)


FILLS = [
    (["dance"], ["fight"]),  # all of the one, none of the other: two fills differ
    (["sing", "fight"], ["sing", "fight"]),  # ten of twenty each
    (["sing", "sing", "sing", "fight"], ["fight", "sing", "fight", "fight"]),  # 15 against 5, and 5 against 15
]


def result(items: pl.DataFrame, model: str = "m") -> pc.Result:
    signature = Signature.of("disco", model=model, data="d#1", k=3, draws=1000, level=0.95, resamples=1000, seed=0)
    return Disco(data="d", draws=1000, resamples=1000).result(pc.Measured(items), signature)


def one(summary: pl.DataFrame, measure: str, template: str = "all", fill: str = "") -> dict[str, Any]:
    found = summary.filter(measure=measure, template=template, fill=fill)
    assert len(found) == 1
    return found.row(0, named=True)


def test_fills_are_counted_and_tested_as_by_scipy() -> None:
    items = planted(FILLS)
    summary = result(items).summary
    differ: dict[str, int] = {}
    for template, counts in (
        ("t0", {"dance": (20, 0), "fight": (0, 20), "dog": (20, 20), "other": (20, 20)}),
        ("t1", {"sing": (10, 10), "fight": (10, 10), "dog": (20, 20), "other": (20, 20)}),
        ("t2", {"sing": (15, 5), "fight": (5, 15), "dog": (20, 20), "other": (20, 20)}),
    ):
        for fill, (first, second) in counts.items():
            row = one(summary, CHI2, template, fill)
            assert row["tests"] == 4 and row["n"] == 40
            if first + second < 40:
                table = [[first, 20 - first], [second, 20 - second]]
                expected = stats.chi2_contingency(table, correction=False)
                assert (row["value"], row["p"]) == pytest.approx((expected.statistic, expected.pvalue))
            else:
                assert (row["value"], row["p"]) == (0, 1)
            share = one(summary, SHARES, template, fill)
            sides = [np.arange(20) < n for n in (first, second)]
            assert share["value"] == pytest.approx((first - second) / 20)
            assert share["p"] == pytest.approx(fisher(*(side.astype(float) for side in sides)))
            differ[template] = differ.get(template, 0) + (row["p"] <= 0.05 / 4)
    assert differ == {"t0": 2, "t1": 0, "t2": 2}
    numbers = [one(summary, OF_TEMPLATE, template)["value"] for template in differ]
    mean = one(summary, DIFFERENT)
    assert numbers == [2, 0, 2] and mean["value"] == pytest.approx(4 / 3) and mean["n"] == 3
    assert one(summary, EXACT)["value"] == pytest.approx(4 / 3)
    assert one(summary, SD)["value"] == pytest.approx(np.std(numbers, ddof=1))
    assert mean["p"] <= 0.01 and mean["test"].startswith("permutation of genders among persons")


def verdicts(claim: str, *results: pc.Result) -> list[Verdict]:
    comparison = DISCO.compare(*results) if len(results) > 1 else None
    found = {each.claim: each.verdicts for each in DISCO.section.answers(list(results), comparison)}
    return list(found.get(claim, ()))


def test_fills_that_differ_are_counted_and_named() -> None:
    apart, alike = (["dance"], ["fight"]), (["sing", "fight"], ["sing", "fight"])
    yes = result(planted([apart, apart, apart, FILLS[2], alike, apart]), "yes")
    (whole,) = verdicts("differs", yes)
    assert whole.kind == "yes" and whole.row is not None and whole.row["value"] == pytest.approx(10 / 6)
    fills = verdicts("fills", yes)
    assert {v.kind for v in fills} == {"yes"}
    assert [v.place for v in fills if v.place.endswith("t3")] == ["fight · t3", "sing · t3"]
    assert {v.place[:5] for v in fills if v.row is not None and v.row["value"] > 0} == {"dance", "sing "}
    few = result(planted([apart, alike] + [alike] * 18), "few")
    assert [v.kind for v in verdicts("differs", few)] == ["no"]  # 0.1 of a fill per template
    none = result(planted([alike] * 6), "none")
    assert [(v.kind, v.barred) for v in verdicts("differs", none)] == [("cannot tell", "none")]
    assert verdicts("fills", none) == []
    three = result(planted(FILLS))
    assert [v.kind for v in verdicts("differs", three)] == ["cannot tell"]
    assert [v.kind for v in verdicts("more", yes, none)] == ["yes"]


def test_small_expected_counts_are_told_and_the_exact_test_stands_beside() -> None:
    rare = ["a"] * 4 + ["b"] * 16
    found = result(planted([(rare, ["b"])]))
    row = one(found.summary, CHI2, "t0", "a")
    assert "smallest expected count is 2" in row["note"]
    exact = one(found.summary, SHARES, "t0", "a")["p"]
    assert exact > row["p"]  # 4 of 20 against none: χ² .036, exact mid-p .05
    shown = {table.name: table for table in DISCO.section.tables([found])}
    cells = next(row.cells for row in shown["fills"].rows if row.cells[2] == "a")
    assert cells[3:5] == ("4 of 20", "0 of 20") and cells[-1] == "no"
    assert "fills-that-differ" not in shown


def test_exchanged_genders_reject_as_often_as_they_should() -> None:
    """Persons have fills that they share in all templates, whatever their gender."""
    rng, rejected, sets = np.random.default_rng(2), 0, 100
    for _ in range(sets):
        tastes = rng.integers(0, 4, 40)
        rows = planted([(["x"], ["x"])] * 3)
        words = [f"w{tastes[side * 20 + int(p[1:])]}" for side, p in rows.select("side", "person").iter_rows()]
        items = rows.with_columns(pl.Series("fills", [[word] for word in words]))
        rejected += exchanged(templates_of(items), 199, 3) <= 0.05
    assert rejected <= 11  # .05 of 100, and three standard errors
    assert exchanged(templates_of(planted(FILLS)), 999, 3) <= 0.02


def test_the_test_of_a_fill_holds_its_level() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.binomial(20, 0.4, (2, 20_000)).astype(float)
    _, p = chi2(first, second, (20, 20))
    assert 0.04 < np.mean(p <= 0.05) < 0.065


def test_models_are_compared_template_by_template() -> None:
    first, second = result(planted(FILLS)), result(planted([FILLS[1]] * 3), "other")
    rows = DISCO.compare(first, second)
    assert rows["measure"].to_list() == [difference(DIFFERENT)] and rows["value"][0] == pytest.approx(4 / 3)
    assert (rows["first"][0], rows["second"][0]) == ("m", "other")

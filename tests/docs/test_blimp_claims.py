"""Claims of docs/blimp-smollm2.md in words, against its tables."""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from pages import Row, number, numbers, read, said, table_of, tables
from paths import SHARED, needs_shared

PAGE = "docs/blimp-smollm2.md"
UP, DOWN = "A>U", "A<U"


def gaps() -> dict[tuple[str, str], list[float]]:
    """By score and split: the gap to A=U in points, and its interval."""
    rows = table_of(PAGE, "score", f"{UP} minus A=U")
    return {(row["score"], split): numbers(row[f"{split} minus A=U"]) for row in rows for split in (UP, DOWN)}


def accuracies(heading: str) -> list[Row]:
    """The first table below a line of the page."""
    return tables(PAGE, below=heading)[0]


def every() -> list[Row]:
    return accuracies("## Every paradigm (sum of log-probabilities)")


def of(cell: str) -> tuple[float, int]:
    """Accuracy in percent and number of pairs; NaN and 0 where there are none."""
    value, pairs = re.fullmatch(r"(.*) \(([\d,]+)\)", cell).groups()  # type: ignore[union-attr]
    return number(value), int(pairs.replace(",", ""))


def compared(split: str) -> list[tuple[float, float]]:
    """For each paradigm with pairs on both sides: how far a split is from A=U, and Fisher's mid-p."""
    found = []
    for row in every():
        (value, pairs), (equal, others) = of(row[split]), of(row["A=U"])
        if pairs and others:
            right, base = round(value * pairs / 100), round(equal * others / 100)
            # Tables as likely as the one seen, itself included, count half.
            table = stats.hypergeom(pairs + others, right + base, pairs)
            seen = table.pmf(np.arange(max(0, pairs - (others + pairs - right - base)), min(pairs, right + base) + 1))
            own = table.pmf(right)
            as_likely = np.isclose(seen, own, rtol=1e-9)
            found.append((value - equal, float(seen[(seen < own) & ~as_likely].sum() + seen[as_likely].sum() / 2)))
    return found


def holm(ps: list[float]) -> list[float]:
    adjusted, worst = [0.0] * len(ps), 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        adjusted[i] = worst = max(worst, min(1.0, (len(ps) - rank) * ps[i]))
    return adjusted


def test_gaps_of_the_sum() -> None:
    lower, higher = said(
        PAGE,
        "within paradigms, accuracy is {} points lower where the acceptable sentence has more tokens and {} points "
        "higher where it has fewer",
    )
    gap = gaps()
    assert (-lower, higher) == (round(gap["none", UP][0]), round(gap["none", DOWN][0]))


def test_gaps_of_the_mean() -> None:
    said(PAGE, "**Mean** (MeanLP) turns the bias round")
    up, down = said(PAGE, "turns the bias round: {} points up for A>U, {} points down for A<U")
    gap = gaps()
    assert (up, -down) == (round(gap["mean", UP][0]), round(gap["mean", DOWN][0]))
    assert gap["none", UP][2] < 0 < gap["mean", UP][1] and gap["mean", DOWN][2] < 0 < gap["none", DOWN][1]


def test_gaps_of_pen() -> None:
    (down,) = said(PAGE, "is flatter, and still biased for A<U ({} points down)")
    gap = gaps()
    for split in (UP, DOWN):
        assert abs(gap["pen", split][0]) < min(abs(gap[score, split][0]) for score in ("none", "mean"))
    assert -down == round(gap["pen", DOWN][0]) and gap["pen", DOWN][2] < 0


def test_what_is_not_shown_of_pen() -> None:
    said(PAGE, "For A>U no bias is found")
    value, low, high = said(PAGE, "For A>U no bias is found: {} points, with an interval from −{} to {}")
    assert gaps()["pen", UP] == [value, -low, high] and -low < 0 < high


def test_phenomena_of_few_paradigms() -> None:
    _, *phenomena = accuracies("**none**")
    widths = [high - low for _, low, high in (numbers(row["all"]) for row in phenomena)]
    wide, whole, points = said(
        PAGE, "In {} of the {} phenomena the interval of accuracy under `none` is wider than {} points"
    )
    assert (wide, whole) == (sum(width > points for width in widths), len(widths))
    ends = said(PAGE, "that of `anaphor_agreement` runs from {} to {}")
    (row,) = (row for row in phenomena if row[""] == "anaphor_agreement")
    assert ends == numbers(row["all"])[1:]


def test_paradigms_that_fall_and_rise() -> None:
    """Significant by Fisher's mid-p, after Holm's correction over all gaps of a score, as the page's intervals are."""
    falls = said(
        PAGE,
        "Of the {} paradigms that have A>U pairs at all (with A=U pairs to compare), {} fall below their A=U accuracy, "
        "{} of them significantly after Holm's correction",
    )
    rises = said(PAGE, "of the {} with A<U pairs, {} rise, {} significantly")
    up, down = compared(UP), compared(DOWN)
    adjusted = holm([p for _, p in up + down])
    below = [p for (gap, _), p in zip(up, adjusted[: len(up)], strict=True) if gap < 0]
    above = [p for (gap, _), p in zip(down, adjusted[len(up) :], strict=True) if gap > 0]
    assert falls == [len(up), len(below), sum(p < 0.05 for p in below)]
    assert rises == [len(down), len(above), sum(p < 0.05 for p in above)]


def test_all_of_blimp() -> None:
    (paradigms,) = said(PAGE, "SmolLM2-135M on all {} paradigms")
    assert len(every()) == paradigms == len({row[""] for row in every()})
    scores = {score: accuracies(f"**{score}**")[0] for score in ("none", "mean", "pen")}
    *raw, share = said(
        PAGE, "the three raw accuracies differ little ({}, {}, {}), because {} % of its pairs have equal"
    )
    assert raw == [number(row["all"]) for row in scores.values()]
    assert max(raw) - min(raw) < 2
    pairs = {split: of(scores["none"][split])[1] for split in ("A=U", UP, DOWN)}
    assert share == round(100 * pairs["A=U"] / sum(pairs.values()))
    assert pairs == {split: sum(of(row[split])[1] for row in every()) for split in pairs}
    said(PAGE, "and the splits pull in opposite directions")
    assert all(gaps()[score, UP][0] * gaps()[score, DOWN][0] < 0 for score in scores)
    said(PAGE, "in a paradigm such as `drop_argument` they do not cancel")
    (row,) = (row for row in every() if row[""] == "drop_argument")
    assert abs(number(row["all"]) - number(row["A=U"])) > 3 * abs(raw[0] - of(scores["none"]["A=U"])[0])


def test_no_normalisation_changes_pairs_of_equal_length() -> None:
    said(PAGE, "it rests on its A=U pairs, whose order no normalisation changes")
    first, *others = (accuracies(f"**{score}**") for score in ("none", "mean", "pen"))
    assert all([row["A=U"] for row in other] == [row["A=U"] for row in first] for other in others)


def test_the_papers_paradigms() -> None:
    rows = accuracies("## The ten paradigms the paper shows (sum of log-probabilities)")
    assert len(rows) == 10 and all(row in every() for row in rows)


@needs_shared
def test_sentences_that_are_the_same() -> None:
    seven, passive, principle = said(
        PAGE, "{} pairs of BLiMP contain the same sentence twice ({} in `passive_1`, {} in `principle_A_case_2`)"
    )
    same: Counter[str] = Counter()
    for file in (SHARED / "blimp").glob("*.jsonl"):
        rows = map(json.loads, file.read_text("utf-8").splitlines())
        same[file.stem] += sum(row["sentence_good"] == row["sentence_bad"] for row in rows)
    assert +same == {"passive_1": passive, "principle_A_case_2": principle} and same.total() == seven


@pytest.mark.parametrize("page", [PAGE, "docs/blimp-smollm2.template.md"])
def test_page_and_template_say_the_same(page: str) -> None:
    said(page, "The pattern of Ueda et al. (2024), on a model they did not have")
    part = [read(each).split("## What it shows")[1].split("\n## ")[0] for each in (page, PAGE)]
    assert part[0] == part[1]


def test_what_the_readme_says_of_it() -> None:
    said(
        "README.md",
        "SmolLM2 looks far better when the acceptable sentence has fewer tokens, and far worse when it has "
        "more; the mean turns the bias round",
    )
    gap = gaps()
    assert min(gap["none", DOWN]) > 5 and max(gap["none", UP]) < -5
    assert max(gap["mean", DOWN]) < 0 < min(gap["mean", UP])


def test_length_adjusted_accuracy_is_that_at_equal_lengths() -> None:
    (claimed,) = said("docs/pairs.md", "within {} points of it in every row")
    rows = [row for table in tables(PAGE) for row in table if {"A=U", "length-adjusted"} <= row.keys()]
    known = [(of(row["A=U"])[0], number(row["length-adjusted"])) for row in rows if "(0)" not in row["A=U"]]
    apart = [abs(equal - adjusted) for equal, adjusted in known if adjusted == adjusted]
    assert len(apart) > 100 and round(max(apart), 1) == claimed

"""Claims of docs/pairs.md in words, against its tables; the slow tests of tests/stats simulate the claims."""

from __future__ import annotations

import inspect
import re

from pages import number, numbers, read, said, table_of
from penchant.cli.pairs import generate

PAGE = "docs/pairs.md"
DRAWN = {row["paradigm"]: row for row in table_of(PAGE, "contexts drawn", "given up")}


def test_contexts_that_gave_a_pair() -> None:
    pairs, paradigms = said(PAGE, "{} pairs of each of these {} paradigms and of `tough_vs_raising_1` were drawn")
    assert len(DRAWN) == paradigms and "tough_vs_raising_1" not in DRAWN
    (ten,) = said(PAGE, "at most {} checks in all (`--checks`)")
    assert inspect.signature(generate).parameters["checks"].default == ten
    said(PAGE, "Contexts that were neither given up nor kept gave a pair that was there already, or had a slot")
    for row in DRAWN.values():
        kept = number(row["contexts drawn"]) - number(row["given up"])
        assert pairs <= kept < 1.1 * pairs
        assert 1 <= number(row["checks a pair"]) <= ten
    said(
        PAGE, "A paradigm whose unacceptable sentence has no choice of its own (agreement on one noun, a change of word"
    )
    assert sum(number(row["checks a pair"]) == 1 for row in DRAWN.values()) == 3


def test_pairs_that_were_read() -> None:
    each, of, doubtful, of_those, fewer, percent = said(
        PAGE,
        "{} pairs of each paradigm were read: of {}, {} were doubtful ({} acceptable sentences of inchoative, {} "
        "unacceptable one of drop_argument that may pass), {} %",
    )
    assert of == each * (len(DRAWN) + 1) and doubtful == of_those + fewer and percent == 100 * doubtful / of
    each, paradigms, left, of = said(
        PAGE, "A later reading of {} pairs of each of the {} paradigms with new words or marks left {} in doubt of {}:"
    )
    (listed,) = re.findall(r"in doubt\s+of 300: (.*?), which is met\.", read(PAGE), re.DOTALL)
    assert of == each * paradigms and left == listed.count("*") / 2


def test_scores_of_any_and_of_equal_lengths() -> None:
    pairs, fair = said(
        PAGE, "{} pairs without a tokenizer in mind (`pairs generate -n 1000`), and the {} fair ones below"
    )
    rows = {row["any lengths"]: row for row in table_of(PAGE, "any lengths")}
    equal = {row["fair"]: numbers(row["all = A=U"]) for row in table_of(PAGE, "fair")}
    said(PAGE, "With any lengths the sum favours the shorter sentence and the mean the longer one")
    up, same, down = (number(rows["sum of log-probabilities"][split]) for split in ("A>U", "A=U", "A<U"))
    assert up < same < down
    up, same, down = (number(rows["mean"][split]) for split in ("A>U", "A=U", "A<U"))
    assert up > same > down
    said(PAGE, "on the fair set there is nothing left to favour, and the three scores agree by construction")
    assert len(equal) == 3 and len({tuple(cell) for cell in equal.values()}) == 1
    assert all(cell[-1] == fair for cell in equal.values())
    assert len({row["A=U"] for row in rows.values()}) == 1
    for row in rows.values():
        assert sum(numbers(row[split])[-1] for split in ("A=U", "A>U", "A<U")) == pairs


def test_coverage_over_paradigms() -> None:
    """The ranges that the slow test of clustered means is held to."""
    rows = {number(row["paradigms"]): row for row in table_of(PAGE, "paradigms", "of 100 pairs each")}
    assert list(rows) == [2, 3, 5, 12, 67]
    said(PAGE, "Two paradigms give intervals too wide to be of use")
    assert max(numbers(rows[2]["of 100 pairs each"])) > 0.97
    assert all(
        0.93 <= held <= 0.97 for n in (3, 5, 12, 67) for held in numbers(" ".join(rows[n].values()))[1:] if held < 1
    )


def test_an_accuracy_is_held_against_one_half() -> None:
    from penchant.instruments.minimal_pairs.pair_credits import mean_credit

    said(PAGE, "accuracies are tested against 50 %: that of one paradigm by binomial mid-p, ties left out")
    import numpy as np

    credit = np.array([1.0, 0, 1, 1, 0, 0, 1, 1])
    assert np.isnan(mean_credit(credit, ["a"] * 8, "paradigms", 0.95).p)
    over = mean_credit(credit, [*"aaaabbbb"], "paradigms", 0.95, against=0.5)
    assert 0 < over.p <= 1 and over.test
    ties = np.array([*credit, 0.5])
    found, without = (mean_credit(each, ["a"] * len(each), "paradigms", 0.95, against=0.5) for each in (ties, credit))
    assert found.test is not None
    assert (str(found.test.method), found.p) == ("binomial mid-p, ties left out", without.p)

"""Claims of bench/README.md in words, against its tables and the programs that made them."""

from __future__ import annotations

import re

import pytest

from pages import Row, number, numbers, read, said, table_of
from paths import ROOT

PAGE = "bench/README.md"
OURS, PEER = "penchant, sentences/s", "minicons, sentences/s"
KINDS = ("1 % of the words", "samples full", "one word in 2,000")
EACH_RUN = "resident MiB: most in each twelfth of the run"


def cases() -> dict[str, Row]:
    return {row["case"].replace("`", ""): row for row in table_of(PAGE, OURS, PEER, "ratio")}


def searches() -> dict[str, Row]:
    return {row[""]: row for row in table_of(PAGE, *KINDS)}


@pytest.mark.parametrize("case", cases())
def test_speeds_and_their_ratios(case: str) -> None:
    said(PAGE, "Two rounds a case, in parentheses")
    said(PAGE, "Ratios are of medians within one run")
    row = cases()[case]
    for column in (OURS, PEER):
        median, first, second = numbers(row[column])[:3]
        assert median == pytest.approx((first + second) / 2, abs=0.0101)
    ours, peer = numbers(row[OURS]), numbers(row[PEER])
    # Both speeds are rounded to a hundredth.
    low, high = (ours[0] - 0.005) / (peer[0] + 0.005), (ours[0] + 0.005) / (peer[0] - 0.005)
    assert low - 0.005 <= number(row["ratio"].strip("*")) <= high + 0.005


@pytest.mark.parametrize("row", table_of(PAGE, "ours", "transformers alone"), ids=lambda row: row["case"])
def test_ratios_to_both_peers(row: Row) -> None:
    for column in ("ours", "minicons alone", "transformers alone"):
        median, first, second = numbers(row[column])[:3]
        assert median == pytest.approx((first + second) / 2, abs=0.0101)
    for peer, ratio in (("minicons alone", "ours to minicons"), ("transformers alone", "ours to transformers")):
        ours, theirs = numbers(row["ours"])[0], numbers(row[peer])[0]
        low, high = (ours - 0.005) / (theirs + 0.005), (ours + 0.005) / (theirs - 0.005)
        assert low - 0.005 <= number(row[ratio].strip("*")) <= high + 0.005


def test_run_and_products() -> None:
    kinds = ("products", "attention", "softmax", "copies", "elementwise", "other", "Python")
    rows = table_of(PAGE, "run, s", "products, s")
    assert [row["method"] for row in rows] == ["`pll`", "`lp`"]
    for row in rows:
        assert number(row["ratio"]) == pytest.approx(number(row["run, s"]) / number(row["products, s"]), abs=0.06)
        assert sum(number(row[kind].rstrip(" %")) for kind in kinds) == pytest.approx(100, abs=1)


def test_scores_agree_in_float32() -> None:
    (most,) = said(PAGE, "ends with exit code 1 if float32 scores differ by more than {}.")
    assert re.search(r"^AGREE = (.*)$", read("bench/compare.py"), re.MULTILINE)[1] == str(most)  # type: ignore[index]
    exact = [row for case, row in cases().items() if "bf16" not in case]
    assert exact and all(number(row["largest difference from minicons float32"]) <= most for row in exact)


def test_why_the_peer_is_slower() -> None:
    said(PAGE, "small batches suit it best for `pll`")
    assert all("batch 1)" in row[PEER] for case, row in cases().items() if case.startswith("pll"))
    assert "batch 1)" not in cases()["lp-smollm2"][PEER]
    said(PAGE, "why a large vocabulary costs it so much")
    small, large = cases()["pll-30k"], cases()["pll-250k"]
    assert number(small[PEER]) / number(large[PEER]) > number(small[OURS]) / number(large[OURS])


def test_the_peak() -> None:
    said(PAGE, "Where the share of the BLAS peak exceeds 100 %, oneDNN is why")
    said(PAGE, "on this processor multiplies more than twice as fast")
    slowest, blas, onednn, _ = said(
        PAGE, "Peak of a 1024 × 1024 product: float32 {}–{} GFLOP/s by the BLAS, {}–{} by oneDNN"
    )
    assert slowest <= blas and onednn / blas > 2
    for case, row in cases().items():
        share, best = numbers(row["our share of peak: blas, best"])
        assert share < 100 or "bf16" not in case
        assert share / best > 2 or "bf16" in case


def test_memory_stays_flat() -> None:
    rows = {number(row["sentences"]): numbers(row[EACH_RUN]) for row in table_of(PAGE, EACH_RUN)}
    assert [len(parts) for parts in rows.values()] == [12] * len(rows)
    said(PAGE, "A million sentences take no more than a hundred thousand")
    assert max(rows[1_000_000]) <= max(rows[100_000])
    (entries,) = said(
        PAGE, "torch's two caches of compiled shapes are held to {} entries each (`models/cpu_weight_layout.py`)"
    )
    assert f'setdefault(_capacity, "{entries:.0f}")' in read("src/penchant/models/cpu_weight_layout.py")


@pytest.mark.parametrize("kind", KINDS)
def test_plain_searches(kind: str) -> None:
    """Ratios are of MB a second of processor time, with one worker."""
    speeds = {name: number(row[kind].split(",")[0]) for name, row in searches().items()}
    ours, other = speeds["penchant, 1 worker"], speeds["`regex`, a pattern a word, counts only"]
    low, high = (ours - 0.05) / (other + 0.005), (ours + 0.05) / (other - 0.005)  # of rounded speeds
    assert low - 0.05 <= speeds["penchant to `regex`"] <= high + 0.05
    said(PAGE, "the limit of any extraction in this way")
    assert speeds["penchant, 2 workers"] < ours < speeds["reading and automaton alone"]
    others = ("the brute-force reference of the tests", "`re`, a pattern a word, counts only")
    assert max(speeds[name] for name in others) < other


def test_shares_of_the_time_of_an_extraction() -> None:
    shares = said(
        PAGE,
        "some {} % of the time after the start goes to reading, NFC, hashes and the automaton, {} to {} % to the "
        "division of lines into sentences by sentencex, and the rest to near duplicates",
    )
    assert 50 < sum(shares) < 100


def test_each_program_has_its_row() -> None:
    named = {row["program"].strip("`") for row in table_of(PAGE, "program", "answers")}
    (helpers,) = re.findall(r"^(.*) serve these\.$", read(PAGE), re.MULTILINE)
    assert named | set(re.findall(r"`(\w+\.py)`", helpers)) == {file.name for file in (ROOT / "bench").glob("*.py")}

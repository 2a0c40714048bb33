"""Claims of the guides and the README about numbers, against the tables beside them and the files they come from."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping

import polars as pl
import pytest
import yaml

from pages import Row, number, numbers, read, said, table_of
from paths import ROOT, SHARED, bundled
from penchant.engine.forward_requests import ROUNDING
from penchant.files import safe
from penchant.instruments.associations import claims as associations
from penchant.instruments.cloze import claims as cloze
from penchant.instruments.cloze.probe import Cloze
from penchant.instruments.minimal_pairs import claims as minimal_pairs
from penchant.instruments.values import claims as values
from penchant.stats.consistency import RESPONDENTS
from penchant.stats.equivalence import POWER
from penchant.stats.inputs import FEWEST
from penchant.stats.intervals import HELD, HELD_ENOUGH
from penchant.stats.rated_mean import WANTED, mean_over_raters
from penchant.stats.sd_interval import FEW
from penchant.text_io import LONGEST_LINE
from penchant.views.claims import FARTHEST

DEMO = ("docs/demo.md", "docs/demo.template.md")
EARLY, MODERN = "bundled:early-modern", "bundled:modern"


def test_numbers_are_read_as_they_are_written() -> None:
    assert numbers("−28.1 [−35.5, −21.7] (57,863)") == [-28.1, -35.5, -21.7, 57863]
    assert numbers("95.1–97.2 %, .95 to .97, 1-9, 2.2e-241") == [95.1, 97.2, 0.95, 0.97, 1, 9, 2.2e-241]
    assert number("three") == 3 and math.isnan(number("–"))
    with pytest.raises(AssertionError, match="says 0 times"):
        said("README.md", "a sentence that {} pages hold")


# docs/demo.md -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo() -> Mapping[tuple[str, str, str], Mapping[str, float]]:
    rows = pl.read_csv(ROOT / "docs" / "demo.csv").iter_rows(named=True)
    return {(row["model"], row["measure"], row["group"]): row for row in rows}


@pytest.mark.parametrize("page", DEMO)
def test_where_both_models_are_near_nothing(page: str, demo: dict[tuple[str, str, str], dict[str, float]]) -> None:
    (middle,) = said(page, "so both models stay near β = {} there")
    (one,) = said(page, "δ is near {} for the neutral sentences, and near ½ for the modern ones")
    for model in (EARLY, MODERN):
        for group, place in (("neutral", one), ("modern", 0.5)):
            assert middle == 0 and abs(demo[model, "mean β", group]["value"]) < 0.05
            assert abs(demo[model, "mean δ", group]["value"] - place) < 0.05
            # Of an early sentence, a β of the other sign is far away.
            assert abs(demo[EARLY, "mean β", "early"]["value"]) > 5 * abs(demo[model, "mean β", group]["value"])
    said(page, "The early sentences leave a model more ways to show its time.")


@pytest.mark.parametrize("page", DEMO)
def test_the_demo_is_what_its_files_say(page: str) -> None:
    said(page, "If raters were off by half a point: a twelfth of the ratings of each group was moved")
    assert Cloze(data="d").moved_share == 1 / 12
    ten, gaps = said(page, "asks each for the {} most probable words in the {} gaps")
    rows = list(csv.DictReader((bundled("early-modern-60") / "sentences.csv").open(encoding="utf-8")))
    assert len(rows) == gaps and Cloze(data="d").k == ten
    said(page, "They have the same architecture and the same tokenizer")
    said(page, "the registers of their texts differ, and so do the sizes of the texts")
    homes = [ROOT / "src" / "penchant" / "bundled" / name for name in ("early-modern", "modern")]
    for name in ("config.json", "tokenizer.json"):
        assert len({(home / name).read_bytes() for home in homes}) == 1
    cards = [str(home.relative_to(ROOT) / "README.md") for home in homes]
    sizes = [said(card, "| training text | {} words, {} pieces") for card in cards]
    assert sizes[0][0] > 2 * sizes[1][0]


def test_the_page_is_its_template() -> None:
    page, template = map(read, DEMO)
    assert all(part in page for part in re.split(r"<!-- [A-Z]+ -->", template))


def test_the_picture_of_leans_shows_a_clear_difference(demo: dict[tuple[str, str, str], dict[str, float]]) -> None:
    said(
        "README.md",
        "In early sentences the model of Shakespeare and the King James Bible leans to that time more than the modern "
        "one",
    )
    assert '"docs/demo-beta.svg"' in read("README.md")
    row = demo[f"{EARLY} − {MODERN}", "difference of mean β", "early"]
    assert row["high"] < 0 and row["p_holm"] <= 0.05  # of the three groups; −1 is Early Modern English


# docs/corpus.md ---------------------------------------------------------------------------------------------

FROM_TEXT = "docs/corpus.md"


def effects() -> list[Row]:
    return [row for row in table_of(FROM_TEXT, "WEAT, skip-gram") if row[""].startswith("P")]


def test_effect_sizes_from_text() -> None:
    said(FROM_TEXT, "All signs agree, and nothing but skip-gram's first two is beyond what permuted targets give")
    cells = [cell for row in effects() for name, cell in row.items() if name]
    assert len(cells) == 12 and len({number(cell) > 0 for cell in cells}) == 1
    assert [cell for cell in cells if "*" in cell] == [row["WEAT, skip-gram"] for row in effects()[:2]]


def test_similarities_from_text() -> None:
    said(FROM_TEXT, "how little their similarities agree with people's; GloVe's least")
    (row,) = (row for row in table_of(FROM_TEXT, "WEAT, skip-gram") if "WordSim" in row[""])
    pairs, listed = said(FROM_TEXT, "Spearman's ρ with WordSim-353, {} of its {} pairs")
    assert 0 < number(row["WEAT, GloVe"]) < number(row["WEAT, skip-gram"]) < 0.3 and pairs < listed == 353


def test_the_text_and_the_stimuli() -> None:
    millions, megabytes, words = said(
        FROM_TEXT,
        "On {} million words, plays of Shakespeare, the King James Bible, and English prose since 1890 ({} MB; {} "
        "words of common use",
    )
    with (ROOT / "examples" / "from-text.csv").open(encoding="utf-8") as file:
        assert len({row["word"] for row in csv.DictReader(file)}) == words
    cards = [f"src/penchant/bundled/{name}/README.md" for name in ("early-modern", "modern")]
    assert round(sum(said(card, "| training text | {} words, {} pieces")[0] for card in cards) / 1e6) == millions
    if SHARED.is_dir():
        texts = [SHARED.parent / "corpora" / f"{name}_english.txt" for name in ("early_modern", "modern")]
        assert round(sum(text.stat().st_size for text in texts) / 1e6) == megabytes


def test_the_error_of_an_estimated_number() -> None:
    percent, kept = said(FROM_TEXT, "with a relative standard error of about 1/√k: {} % for {}.")
    assert percent / 100 == pytest.approx(1 / math.sqrt(kept))


# docs/cloze.md ----------------------------------------------------------------------------------------------

CLOZE = "docs/cloze.md"


def test_a_rare_kind_of_sentence() -> None:
    """The row of least skewness 3.2 is of such sentences, and the slow tests simulate it."""
    one, of, *rest = said(
        CLOZE,
        "if {} in {} sentences moves β from 0 to 1, {} sentences cover the mean in {} % of cases, {} in {} %, {} in {} "
        "%",
    )
    assert one / of == 0.05
    assert dict(zip(rest[::2], rest[1::2], strict=True)) == {n: round(100 * HELD[3.2][n]) for n in (20, 40, 60)}
    assert said(CLOZE, "fewer than {} % of such intervals cover the mean") == [100 * HELD_ENOUGH]


def test_few_raters() -> None:
    assert said(CLOZE, "With fewer than {} raters the estimate says so in its `note`.") == [WANTED]
    for raters in range(2, 8):
        betas = [[0.1 * (i + r) % 0.7 for i in range(6)] for r in range(raters)]
        found = mean_over_raters([sum(each) / raters for each in zip(*betas, strict=True)], betas)
        assert (found.note.startswith("approximate")) == (raters < WANTED)


def test_moved_ratings() -> None:
    said(CLOZE, "had a twelfth of the ratings of each group been half a point higher or lower")
    assert Cloze.model_fields["moved_share"].default == pytest.approx(1 / 12)


# docs/values.md ---------------------------------------------------------------------------------------------

VALUES = "docs/values.md"


def test_bundled_values() -> None:
    statements, values, neutral, wordings = said(
        VALUES, "`political-values-en`, {} statements over {} values, {} neutral ones, {} wordings"
    )
    for name in ("political-values-cs", "political-values-en"):
        tables = {kind: pl.read_csv(bundled(name) / f"{kind}.csv") for kind in ("statements", "calibration")}
        assert len(tables["statements"]) == statements and len(tables["calibration"]) == neutral
        assert tables["statements"]["value"].n_unique() == values
        written = yaml.safe_load((bundled(name) / "set.yaml").read_text("utf-8"))
        variants = [template["variant"] for template in written["templates"]]
        assert len(set(variants)) == wordings and len(variants) == 2 * wordings


def test_what_is_refused_for_few() -> None:
    assert said(VALUES, "none from fewer than {} statements") == [FEW]
    assert said(VALUES, "none from fewer than {} respondents") == [RESPONDENTS]


# docs/validity.md -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["docs/validity.md", "docs/validity.template.md"])
def test_how_many_intervals_cover(page: str) -> None:
    rows, enough, least = said(
        page, "Of the {} rows of intervals below, {} cover the true number in {} of 100 data sets or more."
    )
    counts = pl.read_csv(ROOT / "docs" / "validity.csv").filter(
        pl.col("interval") != "", pl.col("asked") > pl.col("without")
    )
    covered = (100 * counts["held"] / (counts["asked"] - counts["without"])).round(1)
    assert (rows, enough) == (len(counts), (covered >= least).sum())


# docs/bfloat16.md -------------------------------------------------------------------------------------------

BFLOAT, OURS = "docs/bfloat16.md", "penchant, sentences/s"


def test_what_follows_from_bfloat16() -> None:
    each, paradigms, sentences, _ = said(
        BFLOAT, "{} pairs of each of BLiMP's {} paradigms, evenly spaced ({} sentences, {} tokens, method `lp`)"
    )
    assert sentences == 2 * each * paradigms
    (row,) = table_of(BFLOAT, "pairs", "verdict changed")
    changed, share = numbers(row["verdict changed"])
    assert number(row["pairs"]) == each * paradigms and share == round(100 * changed / number(row["pairs"]), 1)
    said(BFLOAT, "Aggregates move little, single close pairs do")
    assert number(row["widest float32 margin among them"]) < number(row["median margin of all pairs"])
    gap = number(row["accuracy, float32"]) - number(row["accuracy, bfloat16"])
    assert abs(gap) < 1 and abs(gap) <= share


@pytest.mark.parametrize("page", [BFLOAT, "docs/scores.md"])
def test_bfloat16_is_faster(page: str) -> None:
    said(page, "is faster")
    speeds = {row["case"].split("`")[1]: numbers(row[OURS])[:3] for row in table_of("bench/README.md", "case", OURS)}
    assert min(speeds["pll-30k-bf16"]) > max(speeds["pll-30k"])


# docs/trust.md ----------------------------------------------------------------------------------------------


TRUST = "docs/trust.md"


def constant(file: str, pattern: str) -> float:
    """The number in the one place of a file that a pattern finds."""
    (found,) = set(re.findall(pattern, read(file), re.MULTILINE))
    return float(found.replace("_", ""))


def test_how_often_the_tests_try() -> None:
    one, thirty, tables, cache, slow = said(
        TRUST,
        "{} to {} bits are flipped, {} times in the tables, signatures and manifest and {} times in the cache "
        "({} times among the slow tests)",
    )
    flips = "tests/study/test_flips.py"
    assert one == 1 and thirty == constant(flips, r"draw\.randint\(1, (\d+)\)")
    assert tables == constant(flips, r"for number in range\((\d+)\)")
    assert cache == constant(flips, r"\"copies\", \[(\d+), pytest.param\(")
    assert slow == constant(flips, r"pytest.param\((\d+), marks=pytest.mark.slow\)")
    (killed,) = said(TRUST, "a study over all instruments is killed {} times at random moments and resumed")
    assert killed == constant("tests/study/test_killed.py", r"^KILLS = (\d+)$")
    few, many = said(TRUST, "are spoiled, {} cases in the ordinary tests and {} in a slow one")
    hostile = "tests/cli/test_hostile.py"
    assert few == constant(hostile, r"^@seed\(\d+\)\n@_setting\(([\d_]+)\)")
    assert many == constant(hostile, r"^@pytest.mark.slow\n@_setting\(([\d_]+)\)")


def test_the_smallest_effects_of_interest() -> None:
    accuracy, models, lean, rating, effect = said(
        TRUST,
        "{} points for an accuracy, {} points between two models, {} for a lean between varieties, {} for a rating "
        "from 1 to 5, and an effect size of {}.",
    )
    assert (accuracy, models) == (100 * minimal_pairs.PREFERENCE, 100 * minimal_pairs.MODELS)
    assert (lean, rating, effect) == (cloze.MARGIN, values.RATINGS, associations.MARGIN)
    said(TRUST, "in four of five studies, unless that is more than 100 times those at hand")
    assert POWER == 0.8 and FARTHEST == 100
    (fewest,) = said(TRUST, "Fewer than {} items, also on one side of a difference, give neither a *yes* nor a *no*.")
    assert fewest == FEWEST


def test_what_is_simulated_of_the_rule() -> None:
    (studies,) = said(TRUST, "The test simulates {} studies of each kind.")
    rule = "tests/views/test_verdict_rule.py"
    assert studies == constant(rule, r"sets, slack = (\d+)")
    yes, no = said(
        TRUST,
        "at most {} in 100 say *yes* where there is no effect, and at most {} in 100 say *no* where it is as large as "
        "the smallest of interest",
    )
    assert yes == 100 * constant(rule, r"count\(YES\) / sets <= ([\d.]+) \+ slack")
    assert no == 100 * constant(rule, r"count\(NO\) / sets <= ([\d.]+) \+ slack")
    pilots, items, low, high = said(
        TRUST,
        "After {} pilots of {} items, new studies with as many items as were named show that effect in {} to {} of "
        "100.",
    )
    assert pilots == constant(rule, r"for _ in range\((\d+)\):")
    assert items == constant(rule, r"pilot = drawn\(rng, (\d+), 0\)")
    assert [low, high] == [
        100 * constant(rule, p) for p in (r"assert ([\d.]+) < np.mean", r"np.mean\(found\) < ([\d.]+)")
    ]


def test_limits() -> None:
    assert said(TRUST, "log-probabilities above 0 (but for {} of rounding)") == [ROUNDING]
    assert said(TRUST, "with the same limit on a line ({} MiB)") == [LONGEST_LINE / 2**20]
    (longest,) = said(TRUST, "and non-ASCII signs, at most {} bytes")
    assert len(safe("a" * 500).encode()) == longest

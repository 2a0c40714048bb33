"""The report: what a browser shows is what the results hold, offline, literally, and for every reader."""

from __future__ import annotations

import base64
import json
import re
import shutil
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape

import penchant as pc
from answers import Answer, refused
from browsers import AXE, CHROMIUM, FLAGS, violations
from paths import SHARED
from penchant import MinimalPairs, Result, Signature, load
from penchant.instruments.run_options import Run
from penchant.report.detokenize import readable
from penchant.report.page import page, write_report
from penchant.report.references import POINT
from penchant.report.tables import Number, ReportRow, ReportTable
from penchant.study.catalogue import write_template
from penchant.study.manifest import read_manifest
from penchant.study.outcome import Outcome
from penchant.study.read_results import read_outcome, side_by_side
from penchant.study.run import run_study
from penchant.study.study_file import DEMO, read_study
from penchant.testing import MODELS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

Program = Callable[..., Answer]
WIDE = {"width": 1280, "height": 800}
HOSTILE = "<img src=x onerror=stung=1>"
SCRIPT = "</script><script>stung=1</script>"
ARABIC = "ذهبت البنات إلى المدرسة."
BENGALI = "মেয়েরা বাড়ি যায়।"
PAIRS = [
    ("The cats sleep.", "The cats sleeps.", "agreement"),
    ("The dogs bark loudly today.", "The dogs barks loudly today.", "agreement"),
    (f"He has {HOSTILE}.", f"He have {HOSTILE}.", '<b>markup</b> & "quotes"'),
    (f"He has {SCRIPT}.", f"He have {SCRIPT}.", '<b>markup</b> & "quotes"'),
    ("It's \"quoted\" & 'twice'; a < b > c.", "It's \"quote\" & 'twice'; a < b > c.", '<b>markup</b> & "quotes"'),
    (ARABIC, ARABIC.replace("ذهبت", "ذهب"), "العربية"),
    (BENGALI, BENGALI.replace("যায়", "যাই"), "বাংলা"),
    ("{{ 7 * 7 }} and ${7*7} stay.", "{{ 7 * 7 }} and ${7*7} stays.", "templates"),
    ("The old cat sleeps.", "The cat sleeps.", "agreement"),
    ("It is <i>old</i>.", "It are <i>old</i>.", '<b>markup</b> & "quotes"'),
    ("She has &lt; and &amp;.", "She have &lt; and &amp;.", '<b>markup</b> & "quotes"'),
]
GAPS = [
    ("s1", f"He [MASK] {HOSTILE}.", -1, "<i>early</i>"),
    ("s2", "Ich \"liebe\" & 'hasse' [MASK] <b>.", -1, "<i>early</i>"),
    ("s3", f"{ARABIC} [MASK]", 1, "modern"),
    ("s4", f"{BENGALI} [MASK]", 1, "modern"),
    ("s5", "The cats [MASK] today.", 0, "neutral"),
]


def write_pairs(path: Path, pairs: list[tuple[str, str, str]] = PAIRS) -> Path:
    pl.DataFrame(pairs, schema=["good", "bad", "group"], orient="row").write_csv(path, separator="\t")
    return path


def study(path: Path, models: list[Path], probe: dict[str, Any], **keys: Any) -> Path:
    content = {"study": "awkward <u>study</u>", "question": f"Is {HOSTILE} shown?", "models": [str(m) for m in models]}
    path.write_text(json.dumps({**content, "probes": [probe], **keys}), "utf-8")  # JSON is YAML
    return path


def run(path: Path, out: Path) -> Path:
    spec, probes = read_study(path)
    write_report(run_study(spec, probes, out, Run(base=[path.parent])).document(), out / "report.html")
    return out


@pytest.fixture(scope="module")
def pairs_study(zoo: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two causal models on pairs that try to break the page, one of them from a folder with an awkward name."""
    home = tmp_path_factory.mktemp("pairs")
    named = shutil.copytree(zoo("llama"), home / "lla<b>ma")
    data = write_pairs(
        home / "pairs.tsv", PAIRS * 1 + [(f"{g} {i}", f"{b} {i}", p) for i in range(30) for g, b, p in PAIRS[:2]]
    )
    probe = {"minimal-pairs": {"data": [str(data)], "resamples": 100}}
    return run(study(home / "study.yaml", [zoo("gpt2"), named], probe), home / "out")


@pytest.fixture(scope="module")
def cloze_study(zoo: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two masked models on sentences that try to break the page."""
    home = tmp_path_factory.mktemp("cloze")
    frame = pl.DataFrame(GAPS, schema=["id", "text", "expected", "group"], orient="row")
    frame.write_csv(home / "sentences.csv")
    words = (
        pc.Cloze(data=str(home / "sentences.csv"), k=5, resamples=100, draws=20)
        .run(zoo("roberta"))
        .items["words"]
        .explode()
        .unique()
    )
    rated = [{"word": w, "valence": (-1, 0.5)[i % 2]} for i, w in enumerate(sorted(words)) if w.isalpha()]
    pl.DataFrame(rated).write_csv(home / "lexicon.csv")
    about = {"language": "en", "scale": {"low": "old <em>", "high": "new & improved"}, "lexicon": ["lexicon.csv"]}
    (home / "set.yaml").write_text(json.dumps({**about, "sentences": "sentences.csv"}), "utf-8")
    other = shutil.copytree(zoo("roberta"), home / "roberta-too")
    probe = {"cloze": {"data": str(home), "k": 5, "resamples": 100, "draws": 20}}
    return run(study(home / "study.yaml", [zoo("roberta"), other], probe), home / "out")


@pytest.fixture(scope="module")
def values_study(zoo: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked and a causal model on value statements that try to break the page, beside a made-up survey."""
    home = tmp_path_factory.mktemp("values")
    clauses = [
        ("a", HOSTILE),
        ("b", "x < y & z"),
        ("c", ARABIC),
        ("d", "বাড়ি"),
        ("e", 'tea is "hot"'),
        ("f", "it rains"),
    ]
    statements = [
        (i, text, f"<b>{'one' if i < 'd' else 'two'}</b>", "no" if i in "ad" else "yes") for i, text in clauses
    ]
    columns = ["id", "text", "value", "reversed"]
    pl.DataFrame(statements, schema=columns, orient="row").write_csv(home / "statements.csv")
    neutral = [(f"n{i}", f"{word} {i} is nice") for i in range(12) for word in ("bread", "rain", "a dog")]
    pl.DataFrame([(f"{i}{k}", t) for k, (i, t) in enumerate(neutral)], schema=["id", "text"], orient="row").write_csv(
        home / "calibration.csv"
    )
    template = {
        "group": "<i>she</i>",
        "agree": "She [agrees] that {statement}.",
        "disagree": "She [disagrees] that {statement}.",
    }
    (home / "set.yaml").write_text(json.dumps({"templates": [template]}), "utf-8")
    answers = pl.DataFrame({"synthetic": ["yes"] * 9, **{i: [1, 2, 3, 4, 5, 5, 4, 3, 3] for i, _ in clauses}})
    answers.write_csv(home / "answers.csv")
    (home / "survey.yaml").write_text("name: <u>people</u>\nfile: answers.csv\n", "utf-8")
    probe = {"values": {"data": str(home), "survey": str(home / "survey.yaml"), "resamples": 100}}
    return run(study(home / "study.yaml", [zoo("roberta"), zoo("gpt2")], probe), home / "out")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study of `penchant demo`."""
    return run(DEMO, tmp_path_factory.mktemp("demo") / "out")


@pytest.fixture(scope="module")
def blimp_study(zoo: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models, one masked and one causal, on the beginnings of six paradigms of BLiMP."""
    if not SHARED.is_dir():
        pytest.skip(f"no data sets in {SHARED}; name their parent directory in PENCHANT_TEST_DATA")
    home = tmp_path_factory.mktemp("blimp")
    (home / "blimp").mkdir()
    for file in sorted((SHARED / "blimp").glob("*.jsonl"))[:6]:
        lines = file.read_text("utf-8").splitlines(keepends=True)[:100]
        (home / "blimp" / file.name).write_text("".join(lines), "utf-8")
    probe = {"minimal-pairs": {"data": [str(home / "blimp")], "resamples": 100}}
    return run(study(home / "study.yaml", [zoo("gpt2"), zoo("roberta")], probe), home / "out")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


class Reader:
    """A reader's browser without a network, and what went wrong in it."""

    def __init__(self, browser: Browser, path: Path, **how: Any) -> None:
        self.context = browser.new_context(offline=True, **how)
        self.page: Page = self.context.new_page()
        self.troubles: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.troubles.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=60_000)

    def rows(self, column: int) -> list[str]:
        """The text of a column of the table of items, as it is shown."""
        cells: list[str] = self.page.locator(f".items tbody tr > td:nth-child({column + 1})").all_inner_texts()
        return cells

    def number_of_items(self) -> int:
        return int(self.page.locator(".items [role=status]").inner_text().split()[0].replace(",", ""))

    def search(self, text: str, patience: int = 400, within: str = "") -> None:
        """Search for a text, and wait until the table shows what was found."""
        self.page.locator(within or "body").get_by_label("search", exact=True).fill(text)
        self.page.wait_for_timeout(patience)

    def open(self, number: int = 0, within: str = "") -> list[Locator]:
        """Open an item, or the one of that place among those shown; return the tables of its tokens."""
        self.page.locator(f"{within or '.items'} .open").nth(number).click()
        self.page.locator(f"{within} .inspector table").first.wait_for()
        tables: list[Locator] = self.page.locator(f"{within} .inspector table").all()
        return tables

    def drawn(self, section: str = "", marks: int = 5) -> int:
        """Return how many charts there are, once each is seen to be of some size, with so many marks or more."""
        charts = self.page.locator(f"{section} .chart").all()
        for chart in charts:
            box = chart.locator("svg").bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) > 50
            assert chart.locator("svg [role=graphics-symbol]").count() >= marks
        return len(charts)

    def is_literal(self) -> bool:
        """Return whether no text became markup or script, though items are opened and marks are pointed at."""
        for opener in self.page.locator(".items .open").all()[:5]:
            opener.click()
        for mark in self.page.locator(".chart path[aria-label]").all()[:12]:
            mark.hover(force=True)
        stung = self.page.evaluate("window.stung") is not None
        foreign = self.page.locator("body img, body u, body em, body i, main b, main iframe").count()
        return not stung and not foreign and self.troubles == []

    def fits_a_narrow_screen_and_paper(self) -> bool:
        """Return whether, 390 pixels wide, every number and chart is seen without scrolling sideways; on paper, whether
        charts are there and buttons are not."""
        wide = self.page.evaluate("document.documentElement.scrollWidth") > 390
        lost = self.page.evaluate(CUT) + self.page.evaluate(SMALL)  # a chart is drawn for this width, not only shrunk
        self.page.emulate_media(media="print")
        buttons = [button for button in self.page.get_by_role("button").all() if button.is_visible()]
        charts = self.page.locator(".chart svg.marks").all()
        return not (wide or lost or buttons) and all(chart.is_visible() for chart in charts)

    def pick(self, label: str, option: str) -> None:
        self.page.get_by_label(label, exact=True).select_option(label=option)

    def reviewed(self) -> Reader:
        """The page with the part for reviewers open."""
        self.page.evaluate("document.querySelectorAll('.reviewers').forEach((part) => (part.open = true))")
        return self

    def as_opened(self) -> Reader:
        """The page with all items shown and shut, the part for reviewers shut, and nothing under the mouse; how items
        are sorted stays."""
        self.page.mouse.move(0, 0)
        self.page.evaluate("document.querySelectorAll('.reviewers').forEach((part) => (part.open = false))")
        self.page.evaluate("document.querySelectorAll('.controls button').forEach((button) => button.click())")
        self.page.evaluate("scrollTo(0, 0)")
        return self


@pytest.fixture(scope="module")
def left_open() -> dict[Path, Reader]:
    """The pages that the tests of a module share: to open one takes longer than most tests."""
    return {}


@pytest.fixture
def reading(browser: Browser, left_open: dict[Path, Reader]) -> Iterator[Callable[..., Reader]]:
    """Open a page, or come back to it if it is open: one that is to be changed in other ways than those of `as_opened`,
    or shown in another, is asked for with `viewport` or another word of how."""
    readers: list[Reader] = []

    def read(path: Path, **how: Any) -> Reader:
        if how:
            readers.append(Reader(browser, path, **how))
            return readers[-1]
        if path not in left_open:
            left_open[path] = Reader(browser, path)
        return left_open[path].as_opened()

    yield read
    for reader in readers:
        reader.context.close()


def results(folder: Path) -> list[Result]:
    """Read raw, in the order of the study."""
    units = json.loads((folder / "manifest.json").read_text("utf-8"))["units"]
    return [Result.load(folder / unit["directory"]) for unit in units]


@pytest.mark.parametrize("which", ["pairs_study", "cloze_study", "values_study", "blimp_study"])
def test_opens_offline_and_draws(which: str, reading: Callable[..., Reader], request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(which) / "report.html"
    reader = reading(path)
    assert reader.troubles == []
    assert reader.asked == [path.as_uri()]
    assert reader.drawn() == {"pairs_study": 2, "cloze_study": 3, "values_study": 3, "blimp_study": 3}[which]


def test_items_sort_like_the_results(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    first, second = results(pairs_study)
    reader = reading(pairs_study / "report.html", viewport=WIDE)
    heads = reader.page.locator(".items thead tr:last-child th").all_inner_texts()
    assert heads == ["pair", "paradigm", "acceptable", "unacceptable", *(["prefers", "Δ none", "lengths"] * 2)]
    column = 8  # Δ of the second model
    for descending in (False, True):
        reader.page.locator(".items thead tr:last-child th").nth(column).get_by_role("button").click()
        margin = pl.col("score_good") - pl.col("score_bad")
        ranked = second.items.sort(margin, descending=descending)["id"].to_list()[:25]
        assert reader.rows(0) == [str(id_) for id_ in ranked]
        sort = reader.page.locator(".items thead tr:last-child th").nth(column).get_attribute("aria-sort")
        assert sort == ("descending" if descending else "ascending")
    reader.page.get_by_role("button", name="on", exact=True).click()
    assert reader.page.locator(".pager span").inner_text() == "page 2 of 3"
    assert first.items["id"].to_list() == second.items["id"].to_list()


def test_items_filter_like_the_results(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    first, second = results(pairs_study)
    reader = reading(pairs_study / "report.html")
    assert reader.number_of_items() == len(PAIRS) + 60
    wrong = first.items["score_good"] < first.items["score_bad"]
    reader.pick(f"prefers, {first.signature['model']}", "unacceptable")
    assert reader.number_of_items() == wrong.sum() > 0
    right = second.items["score_good"] > second.items["score_bad"]
    reader.pick(f"prefers, {second.signature['model']}", "acceptable")
    assert reader.number_of_items() == (wrong & right).sum() > 0
    reader.page.get_by_role("button", name="show all").click()
    assert reader.number_of_items() == len(PAIRS) + 60


@pytest.mark.parametrize(
    "asked", ["BARK LOUDLY", HOSTILE, unicodedata.normalize("NFD", BENGALI), ARABIC[:6], "${7*7}", "no such thing"]
)
def test_items_are_searched_literally(asked: str, pairs_study: Path, reading: Callable[..., Reader]) -> None:
    def plain(text: str) -> str:
        return unicodedata.normalize("NFC", text).lower()

    items = results(pairs_study)[0].items
    found = [plain(asked) in plain(f"{good}\n{bad}") for good, bad in items.select("good", "bad").iter_rows()]
    reader = reading(pairs_study / "report.html")
    reader.search(asked)
    assert reader.number_of_items() == sum(found)


def shared(one: list[str], other: list[str]) -> int:
    """Tokens at the beginning that two lists have in common."""
    return max(n for n in range(min(len(one), len(other)) + 1) if one[:n] == other[:n])


def test_inspector_shows_every_token(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    reader = reading(pairs_study / "report.html")
    for number in (0, 5, 6, 8):  # plain, Arabic, Bengali
        for table, result in zip(reader.open(number), results(pairs_study), strict=True):
            item = result.items.row(number, named=True)
            lines = table.locator("tr").all()
            assert len(lines) == 3
            for line, role in zip(lines, ("good", "bad"), strict=False):
                shown = line.locator(".value").all_inner_texts()
                scores = ["·" if p is None else f"{p:.3f}".replace("-", "−") for p in item[f"logprobs_{role}"]]
                assert shown == scores
                marked = line.locator("td.differs .token").count()
                # Independent of the page's own way: what is left without the shared beginning and end.
                own, other = item[f"tokens_{role}"], item["tokens_bad" if role == "good" else "tokens_good"]
                before = shared(own, other)
                after = shared(own[before:][::-1], other[before:][::-1])
                assert marked == len(own) - before - after
            parts = lines[2].locator("td").all_inner_texts()
            total = sum(float(part.replace("−", "-")) for part in parts)
            assert total == pytest.approx(item["score_good"] - item["score_bad"], abs=0.0011 * len(parts))
            assert table.get_attribute("dir") == ("rtl" if number == 5 else "ltr")
        reader.page.locator(".items .open").nth(number).click()
        assert reader.page.locator(".inspector").count() == 0
    assert reader.troubles == []


def test_cloze_inspector_shows_words_and_probabilities(cloze_study: Path, reading: Callable[..., Reader]) -> None:
    reader = reading(cloze_study / "report.html")
    for table, result in zip(reader.open(4), results(cloze_study), strict=True):
        item = result.items.row(4, named=True)
        words = table.locator(".token").all_inner_texts()
        assert [word.rsplit(" ", 1)[0] for word in words] == item["words"]
        assert table.locator(".value").all_inner_texts() == [f"{p:.3f}" for p in item["probs"]]


def test_a_click_on_a_mark_finds_its_items(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    reader = reading(pairs_study / "report.html")
    first = results(pairs_study)[0].items
    chart = reader.page.locator(".chart").first
    chart.locator("path[aria-label*='row: agreement'][aria-label*='lengths: shorter']").first.click()
    found = first.filter((pl.col("group") == "agreement") & (pl.col("difference") < 0))
    assert reader.number_of_items() == len(found) > 0
    chart.locator("path[aria-label*='row: these'][aria-label*='lengths: any']").first.click()
    assert reader.number_of_items() == len(first)


def test_a_click_on_a_sentence_finds_it_alone(cloze_study: Path, reading: Callable[..., Reader]) -> None:
    reader = reading(cloze_study / "report.html")
    reader.page.locator(".chart").nth(2).locator("text", has_text="'hasse' ____").first.click(force=True)
    assert reader.rows(0) == ["s2"]
    reader.page.get_by_role("button", name="show all").click()
    assert reader.number_of_items() == len(GAPS)


def test_every_line_of_the_inspector_has_as_many_columns(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    """Also where one sentence has a word more, and nothing stands in its place in the other."""
    reader = reading(pairs_study / "report.html")
    reader.search("The old cat")
    for table in reader.open():
        widths = table.evaluate("t => [...t.rows].map((r) => [...r.cells].reduce((n, c) => n + c.colSpan, 0))")
        assert len(set(widths)) == 1, widths


@pytest.mark.parametrize("which", ["pairs_study", "cloze_study", "values_study"])
def test_text_is_shown_literally(which: str, reading: Callable[..., Reader], request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(which)
    reader = reading(folder / "report.html")
    shown = reader.page.locator(".items tbody").inner_text()
    if which == "pairs_study":
        texts = [text for good, bad, _ in PAIRS for text in (good, bad)] + [group for _, _, group in PAIRS]
    elif which == "cloze_study":
        texts = [text for _, text, _, _ in GAPS] + [group for *_, group in GAPS]
    else:
        reader.pick("kind", "statement")
        shown = reader.page.locator(".items tbody").inner_text()
        texts = [HOSTILE, "x < y & z", ARABIC, "বাড়ি", 'tea is "hot"', "<b>one</b>", "<i>she</i>"]
        assert "synthetic <u>people</u>" in reader.reviewed().page.locator("body").inner_text()
        assert "is SYNTHETIC" in reader.page.locator(".reviewers .cautions").inner_text()
    for text in texts:
        assert text in shown
    body = reader.page.locator("body").inner_text()
    assert "awkward <u>study</u>" in body
    assert f"Is {HOSTILE} shown?" in body
    assert reader.is_literal()


def test_tooltips_are_literal(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    reader = reading(pairs_study / "report.html")
    mark = reader.page.locator(".chart path[aria-label*='<b>markup']").first
    mark.hover(force=True)
    tip = reader.page.locator("#vg-tooltip-element")
    tip.wait_for()
    assert '<b>markup</b> & "quotes"' in tip.inner_text()
    assert tip.locator("b").count() == 0


def test_signatures_are_copied_and_parse(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    reader = reading(pairs_study / "report.html", permissions=["clipboard-read", "clipboard-write"])
    second = results(pairs_study)[1]
    assert reader.page.locator(".estimates button").count() == 0  # not beside every number
    reader.reviewed().page.locator(".recipes > summary").click()
    wanted = second.signature.with_(normalise="none")
    reader.page.locator(".signatures li", has_text=str(wanted)).get_by_role("button").first.click()
    copied = reader.page.evaluate("navigator.clipboard.readText()")
    assert Signature.parse(copied) == wanted
    listed = reader.page.locator(".signatures .signature").all_inner_texts()
    every = {s for result in results(pairs_study) for s in result.summary["signature"]}
    assert set(listed) >= every


def test_estimates_are_those_of_the_results(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    reader = reading(pairs_study / "report.html").reviewed()
    shown = reader.page.locator("#s0-accuracy tbody tr").first.locator("td").all_inner_texts()
    cells = [" ".join(text.split()) for text in shown]
    summary = results(pairs_study)[0].summary
    row = summary.filter(measure="accuracy, these paradigms", split="all").row(0, named=True)
    low, value, high = (f"{100 * row[key]:.1f}" for key in ("low", "value", "high"))
    assert cells[:6] == [
        "pairs",
        "none",
        results(pairs_study)[0].signature["model"],
        "these paradigms",
        str(row["n"]),
        f"{value} [{low}, {high}]" + "a" * bool(row["note"]),
    ]


@pytest.mark.parametrize(
    "which", ["pairs_study", "cloze_study", "values_study", pytest.param("blimp_study", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_accessibility_violation(
    which: str, scheme: str, reading: Callable[..., Reader], request: pytest.FixtureRequest
) -> None:
    if not AXE.is_file():
        pytest.skip(f"no axe-core at {AXE} (npm install --no-save axe-core, or name axe.min.js in PENCHANT_AXE)")
    reader = reading(request.getfixturevalue(which) / "report.html", color_scheme=scheme)
    reader.open()
    assert violations(reader.page, colours=scheme == "dark") == []


@pytest.mark.whole
@pytest.mark.parametrize("which", ["pairs_study", "cloze_study", "values_study"])
def test_paper_holds_all_that_a_reader_needs(
    which: str, reading: Callable[..., Reader], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """At the width of A4 nothing is wider than the page; what a click would open is open or says where it is."""
    reader = reading(request.getfixturevalue(which) / "report.html", viewport=WIDE)
    reader.page.emulate_media(media="print")
    reader.page.set_viewport_size({"width": A4, "height": 1050})
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= A4
    assert reader.page.evaluate(CUT) == []
    assert not any(control.is_visible() for control in reader.page.locator("button, input, select").all())
    signatures = reader.page.locator(".signatures .signature")
    assert signatures.count() and all(signature.is_visible() for signature in signatures.all())
    for more in reader.page.locator(".cautions li, .detail.printed tbody tr").all():
        assert more.is_visible()
    for closed in reader.page.locator("details:not(.printed, .more, .bibtex) > summary").all():
        assert "on the page only" in closed.evaluate("part => getComputedStyle(part, '::after').content")
    for figure in reader.page.locator("figure").all():
        assert figure.evaluate("part => getComputedStyle(part).breakInside") == "avoid"
        box = figure.bounding_box()
        assert box is not None and box["height"] < 1050  # fits one page
    reader.page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


A4 = 688
"""Pixels of a line on A4 between the margins that the page asks for."""


@pytest.mark.whole
def test_a_walk_with_keys_alone(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    """Tab reaches all that a mouse does, in the order of the page, each with a name and a focus that is seen; Enter
    opens an item and shuts it; nothing holds the focus."""
    page = reading(pairs_study / "report.html", viewport=WIDE).page
    for control in page.locator("details > summary").all():
        control.press("Enter")
    page.evaluate("const top = document.querySelector('.top p'); top.tabIndex = -1; top.focus()")
    seen = []
    for _ in range(500):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(FOCUSED))
        if seen[-1] is None:
            break
    else:
        pytest.fail("the focus never leaves the page")
    stops = seen[:-1]
    assert [stop for stop in stops if not stop["name"] or stop["shown"] is not True] == []
    assert [stop["place"] for stop in stops] == sorted(stop["place"] for stop in stops)
    assert len({stop["place"] for stop in stops}) == len(stops)
    reached = {name: sum(stop["kind"] == name for stop in stops) for name in ("chart", "scroll", "open", "copy")}
    for name, number in reached.items():
        assert number == page.locator(f"main .{name}").count() > 0, name
    assert sum(stop["kind"] == "details" for stop in stops) == page.locator("details > summary").count()
    assert {"#words", "#references", "#made"} <= {stop["link"] for stop in stops}

    page.locator(".items input").focus()
    for _ in range(page.locator(".controls select, .controls button, .items thead button").count() + 2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator(".inspector table").first.wait_for()
    assert page.evaluate("document.activeElement.ariaExpanded") == "true"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.ariaLabel").startswith("tokens, ")
    assert page.evaluate("document.activeElement.closest('.inspector') !== null")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert page.locator(".inspector").count() == 0


FOCUSED = """() => {
  const part = document.activeElement;
  if (part === document.body || part === document.documentElement) return null;
  const style = getComputedStyle(part);
  const every = [...document.querySelectorAll("*")];
  return {
    name: (part.ariaLabel || part.labels?.[0]?.textContent || part.textContent).trim(),
    place: every.indexOf(part),
    shown: (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || [part.tagName, part.id],
    kind: part.tagName === "SUMMARY" ? "details" : part.classList[0] ?? "",
    link: part.getAttribute("href") ?? "",
  };
}"""
"""What has the focus: nothing, or its name, its place in the page, and whether the focus is seen."""


@pytest.mark.parametrize("which", ["pairs_study", "cloze_study", "values_study"])
def test_fits_a_narrow_screen_and_paper(
    which: str, reading: Callable[..., Reader], request: pytest.FixtureRequest
) -> None:
    reader = reading(request.getfixturevalue(which) / "report.html", viewport={"width": 390, "height": 844})
    assert reader.fits_a_narrow_screen_and_paper()


CUT = """[...document.querySelectorAll("main .scroll, main .chart")].filter((part) => !part.closest(".inspector")
  && (part.scrollWidth > part.clientWidth || part.getBoundingClientRect().right > innerWidth))
  .map((part) => part.ariaLabel)"""
SMALL = """[...document.querySelectorAll(".chart svg")].filter((svg) =>
  svg.getBoundingClientRect().width < svg.getAttribute("width") / 1.4).map((svg) => svg.closest(".chart").ariaLabel)"""
"""Charts that were shrunk until their letters are hard to read."""


def test_the_first_screen(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    """Question, answers, two short cautions and the main figure come first; then items and limits, what reviewers
    ask for, and its making.

    Figures are reached and described without a mouse.
    """
    reader = reading(pairs_study / "report.html", viewport=WIDE).reviewed()
    order = "h1, header .question, section > .first, section > .first .cautions, .items, .reviewers, "
    order += ".estimates, .reviewers .cautions, .recipes, #words, #made, .models"
    parts = (reader.page.locator(part).first for part in order.split(", "))
    tops = [part.evaluate("part => part.getBoundingClientRect().top") for part in parts]
    assert tops == sorted(tops)
    figure = reader.page.locator("section > .first .chart")
    assert figure.evaluate("part => part.getBoundingClientRect().top") < 400  # beside the answers
    (placed,) = read_outcome(pairs_study).document().sections
    sentences = [text for answer in placed.answers() for text in answer.sentences]
    assert sorted(reader.page.locator(".answers p").all_text_contents()) == sorted(sentences) != []
    questions = [answer.question for answer in placed.answers()]
    assert set(reader.page.locator(".answers h3").all_text_contents()) == set(questions)
    cautions = {text for result in placed.results for text in result.cautions}
    assert reader.page.locator(".reviewers .cautions li").count() >= len(cautions)
    assert reader.page.locator(".first .cautions li").count() == min(2, len(cautions))
    for chart in reader.page.locator(".chart").all():
        assert chart.get_attribute("tabindex") == "0"
        ids = (chart.get_attribute("aria-describedby") or "").split()
        described = " ".join(reader.page.locator(f"[id='{id_}']").text_content() or "" for id_ in ids)
        assert len(described) > 40
    first = placed.figures()[0]
    finding = reader.page.locator("section > .first figure [hidden]").text_content()
    assert finding == first.finding and len(finding) > 40
    words = reader.page.locator("section[aria-labelledby=words] dt").all_inner_texts()
    assert {"A, U", "Holm", "interval", "lp", "signature"} <= set(words)
    assert not {"β", "δ", "pll", "Cronbach's α"} & set(words)  # the page does not use them


def demo_reader(demo: Path, reading: Callable[..., Reader], width: int, height: int) -> tuple[Reader, float]:
    """The demo's page on a screen, and where its answers, first figure and short cautions end."""
    reader = reading(demo / "report.html", viewport={"width": width, "height": height})
    bottom = reader.page.locator("section > .first").evaluate("part => part.getBoundingClientRect().bottom + scrollY")
    return reader, bottom


def test_the_first_layer_fits_a_screen_and_two_of_a_phone(demo: Path, reading: Callable[..., Reader]) -> None:
    for width, height, screens in ((1280, 800, 1), (390, 844, 2)):
        reader, bottom = demo_reader(demo, reading, width, height)
        assert bottom <= screens * height
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["values", "vector-bias", "winobias", "winogender"])
def test_the_first_layer_of_a_template_fits_a_screen(name: str, tmp_path: Path, reading: Callable[..., Reader]) -> None:
    """Answers that do not fit are closed at first, below those that do; none is lost."""
    write_template(name, tmp_path)
    models = ["first.txt", "second.txt"] if name == "vector-bias" else list(MODELS)
    run_study(*read_study(tmp_path / f"{name}.yaml", models=models), tmp_path / "out", Run(base=[tmp_path]))
    document = read_outcome(tmp_path / "out").document()
    write_report(document, tmp_path / "report.html")
    reader = reading(tmp_path / "report.html", viewport=WIDE)
    answers = reader.page.locator("section > .first .answers")
    bottom = reader.page.locator("section > .first").evaluate("part => part.getBoundingClientRect().bottom + scrollY")
    assert bottom <= 800
    (placed,) = document.sections
    sentences = [text for answer in placed.answers() for text in answer.sentences]
    assert sorted(answers.locator("p").all_text_contents()) == sorted(sentences)
    hidden = answers.locator("details p").count()
    assert 0 < hidden < len(sentences)
    answers.locator("summary").click()
    assert answers.locator("details p").last.is_visible()
    narrow = reading(tmp_path / "report.html", viewport={"width": 390, "height": 844})
    narrow.page.evaluate("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    assert narrow.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_words_have_no_tokens_and_lack_some_numbers(tmp_path: Path, reading: Callable[..., Reader]) -> None:
    """A word is a target or an attribute; numbers of the other kind are left out where each has a line."""
    write_template("vector-bias", tmp_path)
    study = read_study(tmp_path / "vector-bias.yaml", models=["first.txt"])
    run_study(*study, tmp_path / "out", Run(base=[tmp_path]))
    write_report(read_outcome(tmp_path / "out").document(), tmp_path / "report.html")
    for width, visible in ((1280, 7), (390, 3)):
        reader = reading(tmp_path / "report.html", viewport={"width": width, "height": 844})
        numbers = reader.page.locator(".items tbody tr").first.locator("td.num")
        assert sum(cell.is_visible() for cell in numbers.all()) == visible
    reader.page.locator(".items button.open").first.click()
    reader.page.locator(".inspector h4").wait_for()
    assert reader.page.locator(".inspector table").count() == 0
    assert "token" not in reader.page.locator(".items").inner_text()


def test_the_first_two_layers_are_short(demo: Path, reading: Callable[..., Reader]) -> None:
    """Apart from items and the texts in drawings; what reviewers ask for is shut until a link leads into it."""
    reader, _ = demo_reader(demo, reading, 1280, 800)
    assert 200 < reader.page.evaluate(READ) <= 900
    table = reader.page.locator(".reviewers .estimates").first
    assert not table.is_visible()
    reader.page.get_by_role("link", name="The numbers.").first.click()
    assert table.is_visible()
    assert reader.troubles == []


def test_methods_are_one_click_away(pairs_study: Path, reading: Callable[..., Reader]) -> None:
    """They lead with the numbers of the answers; every number has one line, and no work is cited twice among them."""
    reader = reading(pairs_study / "report.html", viewport=WIDE)
    reader.page.get_by_role("link", name="Methods", exact=True).click()
    heading = reader.page.locator("#s0-methods")
    assert 0 <= heading.evaluate("part => part.getBoundingClientRect().top") < 100
    (placed,) = read_outcome(pairs_study).document().sections
    first, others = (text.split(POINT)[1:] for text in placed.methods() if POINT in text)
    assert [line.split(": ")[0] for line in first] == ["accuracy, these paradigms", "accuracy difference"]
    names = [name for line in [*first, *others] for name in line.split(": ")[0].split("; ")]
    frames = (*(result.summary for result in placed.results), placed.comparison)
    bounded = (frame.filter(pl.col("low").is_not_nan()) for frame in frames if frame is not None)
    known = {name for frame in bounded for name in frame["measure"]}
    assert len(names) == len(set(names)) and known <= set(names)
    works = re.findall("@[a-z0-9]+", " ".join([*first, *others]))
    assert len(works) == len(set(works)) > 3
    shown = reader.page.locator(".reviewers li:visible").all_inner_texts()
    assert [len([text for text in shown if text.startswith(line.split(": ")[0])]) for line in first] == [1] * len(first)
    assert not reader.page.locator(".reviewers li", has_text=others[0].split(": ")[0] + ":").first.is_visible()


READ = """[...document.querySelectorAll("header, main > section")]
  .filter((part) => part.matches("header") || part.querySelector(".first"))
  .flatMap((part) => {
    const copy = part.cloneNode(true);
    copy.querySelectorAll(".reviewers, .items table, svg").forEach((inner) => inner.remove());
    copy.querySelectorAll("p, li, h1, h2, h3, figcaption, div, option").forEach((inner) => inner.append(" "));
    return copy.textContent.split(/\\s+/).filter(Boolean);
  }).length"""
"""The number of words on the page before what reviewers ask for."""


def test_nothing_is_cut_off_with_three_models(
    zoo: Callable[[str], Path], pairs_study: Path, tmp_path: Path, reading: Callable[..., Reader]
) -> None:
    shutil.copyfile(pairs_study / "manifest.json", tmp_path / "manifest.json")
    write_report(many(zoo, tmp_path, 700).document(), tmp_path / "three.html")
    reader = reading(tmp_path / "three.html", viewport=WIDE)
    assert reader.page.evaluate(CUT) == []
    assert reader.page.evaluate(SMALL) == []


def test_without_scripts_the_estimates_are_there(pairs_study: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    opened = context.new_page()
    opened.goto((pairs_study / "report.html").as_uri())
    assert opened.locator("#s0-accuracy tbody tr").count() == 12  # two models, three scores, two scopes
    assert "JavaScript, which is off" in opened.locator("body").inner_text()
    context.close()


def many(zoo: Callable[[str], Path], tmp_path: Path, n: int) -> Outcome:
    """A study of n pairs and three models: scores of one small run, repeated under other names and shifted."""
    rows = [
        (
            f"The cats number {i} sleep soundly in house {i * 7919 % n}.",
            f"The cats number {i} sleeps soundly in house {i * 7919 % n}.",
            f"paradigm {i % 67}",
        )
        for i in range(n)
    ]
    seed = MinimalPairs(data=str(write_pairs(tmp_path / "seed.tsv", rows[:200])), resamples=100).run(
        load(str(zoo("gpt2")))
    )
    wide = pl.concat([seed.items] * (n // 200 + 1)).head(n)
    good, bad, groups = zip(*rows, strict=True)
    wide = wide.with_columns(
        pl.Series("good", good),
        pl.Series("bad", bad),
        pl.Series("group", groups),
        pl.Series("id", [f"pair-{i}" for i in range(n)]),
    )
    outcome = Outcome([read_manifest(tmp_path / "manifest.json")])
    for k in range(3):
        noise = pl.int_range(pl.len()).cast(pl.Float64).sin() * (k + 1)
        own = wide.with_columns(
            (pl.col("score_good") + noise).alias("score_good"),
            (pl.col("logprobs_good").list.eval(pl.element() + 0.137 * (k + 1))).alias("logprobs_good"),
        )
        signature = seed.signature.with_(model=f"model-{k}")
        outcome.results["minimal-pairs", f"model-{k}"] = replace(seed, items=own, signature=signature)
    return outcome


@pytest.mark.parametrize("items", [10_000, pytest.param(67_000, marks=pytest.mark.slow)])  # and as many as BLiMP has
def test_a_large_study_stays_under_five_megabytes(
    items: int, zoo: Callable[[str], Path], pairs_study: Path, tmp_path: Path, reading: Callable[..., Reader]
) -> None:
    shutil.copyfile(pairs_study / "manifest.json", tmp_path / "manifest.json")
    outcome = many(zoo, tmp_path, items)
    target = tmp_path / "here" / "report #1.html"
    said = write_report(outcome.document(), target)
    assert target.stat().st_size < 5_000_000
    beside = target.parent / "report #1-items"
    assert len(list(beside.iterdir())) == items / 500
    assert len(said) == 1
    assert "report #1-items beside this page" in said[0]
    reader = reading(target, viewport=WIDE)
    assert reader.number_of_items() == items
    assert said[0] in reader.page.locator("main").inner_text()
    reader.search(f"number {items - 1} ", 1_500)
    assert reader.rows(0) == [f"pair-{items - 1}"]
    tables = reader.open()
    item = outcome.results["minimal-pairs", "model-1"].items.row(items - 1, named=True)
    shown = tables[1].locator("tr").first.locator(".value").all_inner_texts()
    assert shown == [f"{p:.3f}".replace("-", "−") for p in item["logprobs_good"]]
    assert reader.troubles == []
    shutil.rmtree(beside)
    alone = reading(target, viewport=WIDE)
    alone.page.locator(".items .open").first.click()
    alone.page.locator(".inspector", has_text="not beside this page").wait_for()
    # A smaller study under the same name takes the blocks of the larger one away.
    beside.mkdir()
    (beside / "items-0-0.js").write_text('penchantBlock("items-0-0","");\n', "utf-8")
    write_report(read_outcome(pairs_study).document(), target)
    assert not beside.exists()


def test_items_that_do_not_fit_are_sampled_evenly(
    zoo: Callable[[str], Path], pairs_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copyfile(pairs_study / "manifest.json", tmp_path / "manifest.json")
    outcome = many(zoo, tmp_path, 2_000)
    whole, beside, said = page(outcome.document(), "beside")
    assert (beside, said) == ({}, [])
    table = blocks(whole)["items-0-table"]
    tokens = sum(
        len(text) for name, text in blocks(whole).items() if name.startswith("items-0-") and name[-1].isdigit()
    )
    limit = len(whole.encode()) - tokens - len(table) // 2  # room for about half of the items, and for no tokens
    monkeypatch.setitem(page.__globals__, "LIMIT", limit)
    html, beside, said = page(outcome.document(), "beside")
    assert len(html.encode()) <= limit
    found = json.loads(zlib.decompress(base64.b64decode(blocks(html)["items-0-table"]), -15))
    n = found["n"]
    assert 250 < n < 1_750
    assert f"{n:,} of 2,000 pairs are shown, evenly spaced" in said[0]
    (ids,) = (column["values"] for column in found["columns"] if column["kind"] == "id")
    assert ids == [f"pair-{i * 2_000 // n}" for i in range(n)]
    # The tokens beside are those of the items shown, in the same order.
    first = json.loads(zlib.decompress(base64.b64decode(beside[f"{found['details']}-0"]), -15))
    items = outcome.results["minimal-pairs", "model-0"].items
    wanted = items.row(2_000 // n, named=True)["tokens_good"]
    assert first["strips"][0]["tokens"][1] == [piece.replace("Ġ", "▁") for piece in wanted]


def blocks(html: str) -> dict[str, str]:
    """The blocks of data in a page, by name."""
    return dict(re.findall(r'<script type="text/plain" id="([^"]+)">([^<]*)</script>', html))


def test_report_of_one_directory(penchant: Program, pairs_study: Path, tmp_path: Path) -> None:
    code, out, err = penchant("report", pairs_study, "-o", tmp_path / "other.html")
    assert code == 0
    (placed,) = read_outcome(pairs_study).document().sections
    first = re.sub(r"@[0-9a-f]{7}", "", placed.answers()[0].sentences[0])
    assert first[:50] in " ".join(out.split())
    assert err.endswith(f"report: {tmp_path / 'other.html'}\nnext: penchant report {pairs_study} --full\n")
    assert (tmp_path / "other.html").read_text("utf-8") == (pairs_study / "report.html").read_text("utf-8")


def test_report_refuses_what_is_no_result(penchant: Program, pairs_study: Path, tmp_path: Path) -> None:
    refused(penchant("report", tmp_path / "none"), "none: no such directory")
    refused(penchant("report", tmp_path), "contains no study", "penchant run")
    broken = shutil.copytree(pairs_study, tmp_path / "broken")
    (broken / "manifest.json").write_text("{}", "utf-8")
    refused(penchant("report", broken), "manifest.json: is not a study manifest")
    shutil.copyfile(pairs_study / "manifest.json", broken / "manifest.json")
    lost = next(broken.glob("minimal-pairs/*/items.parquet"))
    lost.unlink()
    refused(penchant("report", broken), "items.parquet: is missing")
    (tmp_path / "file").write_text("", "utf-8")
    refused(penchant("report", pairs_study, "-o", tmp_path / "file" / "report.html"), "cannot be written")


def test_an_unfinished_study_says_so(pairs_study: Path, tmp_path: Path, reading: Callable[..., Reader]) -> None:
    half = shutil.copytree(pairs_study, tmp_path / "half")
    manifest = read_manifest(half / "manifest.json")
    manifest.units.pop()
    manifest.status, manifest.tables = "running", {}
    manifest.write(half / "manifest.json")
    (half / "minimal-pairs" / "comparison.parquet").unlink()
    write_report(read_outcome(half).document(), half / "report.html")
    text = reading(half / "report.html").page.locator("header").inner_text()
    assert "Not finished. 1 of 2 pairs of a probe and a model" in text
    manifest.units = []
    manifest.write(half / "manifest.json")
    with pytest.raises(Exception, match="no model is finished yet"):
        read_outcome(half)


def test_one_model_named_twice_is_refused(penchant: Program, zoo: Callable[[str], Path], tmp_path: Path) -> None:
    probe = {"minimal-pairs": {"data": [str(write_pairs(tmp_path / "pairs.tsv"))]}}
    twice = study(tmp_path / "twice.yaml", [zoo("gpt2"), zoo("gpt2")], probe)
    refused(penchant("run", twice, "-o", tmp_path / "out"), "twice.yaml", "twice")
    other = tmp_path / "link" / "gpt2"
    other.parent.mkdir()
    other.symlink_to(zoo("gpt2"))
    same = study(tmp_path / "same.yaml", [zoo("gpt2"), other], probe)
    refused(penchant("run", same, "-o", tmp_path / "out"), "models: ", "are both gpt2@")


def test_a_mean_of_tokens_has_no_row_of_sums(
    zoo: Callable[[str], Path], tmp_path: Path, reading: Callable[..., Reader]
) -> None:
    """The tokens' differences add up to that of the scores only where scores are sums."""
    probe = {"minimal-pairs": {"data": [str(write_pairs(tmp_path / "pairs.tsv"))], "method": "aul", "resamples": 100}}
    reader = reading(run(study(tmp_path / "study.yaml", [zoo("roberta")], probe), tmp_path / "out") / "report.html")
    (table,) = reader.open()
    assert table.locator("tr").count() == 2


@pytest.fixture(scope="module")
def alone(zoo: Callable[[str], Path], pairs_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another model on the same pairs, in a directory of its own."""
    home = tmp_path_factory.mktemp("alone")
    probe = {"minimal-pairs": {"data": [str(pairs_study.parent / "pairs.tsv")], "resamples": 100}}
    return run(study(home / "study.yaml", [zoo("mistral")], probe), home / "out")


def test_two_directories_side_by_side(
    penchant: Program, pairs_study: Path, alone: Path, tmp_path: Path, reading: Callable[..., Reader]
) -> None:
    code, out, err = penchant("report", pairs_study, alone, "-o", tmp_path / "two.html")
    assert code == 0, err
    (other,) = results(alone)
    for one in (results(pairs_study)[0], other):
        assert one.signature["model"].partition("@")[0] in out
    assert err.endswith(f"\nnext: penchant report {pairs_study} {alone} --full\n")
    both = side_by_side(pairs_study, alone)
    assert len(both.results) == 3
    overall = both.comparisons["minimal-pairs"].filter(pl.col("scope") == "group")
    row = overall.filter((pl.col("normalise") == "none") & (pl.col("group") == "agreement")).row(0, named=True)
    credit = [
        (r.items.filter(pl.col("group") == "agreement").select(pl.col("score_good") > pl.col("score_bad")).to_series())
        for r in (results(pairs_study)[0], other)
    ]
    assert row["value"] == pytest.approx(credit[0].mean() - credit[1].mean())  # type: ignore[operator]
    reader = reading(tmp_path / "two.html")
    assert reader.troubles == []
    assert reader.page.locator(".models li").count() == 3
    assert reader.page.locator("#s0-differences-by-paradigm tbody tr").count() == len(overall)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 7}, "seed (0 and 7)"),
        ({"method": "lp", "normalise": "mean"}, "normalise (none,mean,pen and mean)"),
        ({"level": 0.9}, "level (0.95 and 0.9)"),
    ],
)
def test_what_is_not_comparable_is_refused(
    change: dict[str, Any],
    named: str,
    penchant: Program,
    pairs_study: Path,
    zoo: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    probe = {"minimal-pairs": {"data": [str(pairs_study.parent / "pairs.tsv")], "resamples": 100, **change}}
    other = run(study(tmp_path / "study.yaml", [zoo("mistral")], probe), tmp_path / "out")
    refused(penchant("report", pairs_study, other), "cannot be compared: they differ in", named)
    assert not (tmp_path / "comparison.html").exists()


def test_other_data_other_probe_same_model_are_refused(
    penchant: Program, pairs_study: Path, cloze_study: Path, zoo: Callable[[str], Path], tmp_path: Path
) -> None:
    probe = {"minimal-pairs": {"data": [str(write_pairs(tmp_path / "pairs.tsv"))], "resamples": 100}}
    other = run(study(tmp_path / "study.yaml", [zoo("mistral")], probe), tmp_path / "out")
    refused(penchant("report", pairs_study, other), "they differ in data (pairs#")
    refused(penchant("report", pairs_study, cloze_study), "no probe is in both directories")
    refused(penchant("report", other, other), "both results are from the same model")


def shows_itself(result: Result, text: str = "") -> set[str]:
    """Return the names of the charts of a result, once it is seen to show itself, literally, in a notebook."""
    charts = result.charts()
    assert all("$schema" in chart.to_dict() for chart in charts.values())
    html = result._repr_html_()
    assert "<script" not in html
    assert HOSTILE not in html
    assert "&lt;img src=x" in html and text in html
    assert html.count('<img src="data:image/svg+xml;base64,') == len(charts)
    assert all(escape(signature) in html for signature in result.summary["signature"].unique())
    return set(charts)


def test_a_result_shows_itself(pairs_study: Path, cloze_study: Path) -> None:
    assert shows_itself(results(pairs_study)[0]) >= {"accuracy", "tokens"}
    assert shows_itself(results(cloze_study)[0]) >= {"beta", "delta", "sentences"}


@settings(deadline=None, max_examples=200)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), min_size=1, max_size=4))
def test_byte_level_pieces_are_readable_and_lossless(texts: list[str]) -> None:
    """Cut anywhere between bytes, the pieces show the text again: characters as themselves, cut ones in hexadecimal."""
    from tokenizers import pre_tokenizers

    written = [
        "".join(
            piece
            for piece, _ in pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
        )
        for text in texts
    ]
    pieces = pl.Series([[raw[i : i + 2] for i in range(0, len(raw), 2)] for raw in written], dtype=pl.List(pl.String))
    shown = readable(pieces, pl.Series(texts))
    for text, row in zip(texts, shown.to_list(), strict=True):
        assert "".join(spelled(piece) for piece in row) == text.encode().hex()


def spelled(piece: str) -> str:
    """The bytes of a shown piece in hexadecimal. Tests of texts with the signs themselves would be ambiguous, so these
    are read as bytes only where they hold hexadecimal digits."""
    out = ""
    for part in re.split(r"(‹(?:[0-9A-F]{2}(?: |(?=›)))+›)", piece):
        if re.fullmatch(r"‹(?:[0-9A-F]{2}(?: |(?=›)))+›", part):
            out += part[1:-1].replace(" ", "").lower()
        else:
            out += part.replace("▁", " ").encode().hex()
    return out


def test_pieces_of_other_tokenizers_stay_as_they_are() -> None:
    for pieces, text in ((["the", "cat", "##s"], "the cats"), (["▁the", "▁cats"], "the cats"), (["<0xE0>", "x"], "x")):
        series = pl.Series([pieces])
        assert readable(series, pl.Series([text])).to_list() == [pieces]


def test_a_table_in_the_terminal_keeps_its_columns() -> None:
    """A line break is a space; wide characters take two columns, combining ones none."""
    rows = (("two\nlines", Number(1.25, 1, 2, 3)), ("日本", Number()), ("e\u0301", Number(-1, form="+.1f")), ("x", 7))
    table = ReportTable("name", "Title", ("text", "number"), tuple(ReportRow(cells) for cells in rows), "A note.")
    assert str(table).splitlines() == [
        "Title",
        "text                      number",
        "---------  ---------------------",
        "two lines  1.25 [1.00, 2.00] (3)",
        "日本                           –",
        "e\u0301                           -1.0",
        "x                              7",
        "A note.",
    ]

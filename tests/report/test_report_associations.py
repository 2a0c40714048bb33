"""The report of association tests: its numbers are those of the results, its texts literal, its drawings complete."""

from __future__ import annotations

import csv
import json
import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
import test_export
import test_report
from hypothesis import given, settings
from hypothesis import strategies as st
from test_report import HOSTILE, SCRIPT, Reader

import penchant as pc
from browsers import AXE, violations
from builders import write_study
from penchant.instruments.associations import tests_side_by_side as measures
from penchant.instruments.associations.instrument import ACROSS as OVERVIEW
from penchant.instruments.associations.instrument import CEAT
from penchant.instruments.associations.stimulus_charts import _edges
from penchant.instruments.associations.view_rows import chosen, with_factors
from penchant.instruments.registry import instruments, placed, references
from penchant.instruments.result import Result
from penchant.instruments.run_options import Run
from penchant.report.export import export
from penchant.report.page import page, write_report
from penchant.report.paper import paragraph
from penchant.report.references import cited
from penchant.report.tables import Number, ReportTable
from penchant.report.verdicts import NOT_MEASURED
from penchant.stats.association import effect_size
from penchant.study.outcome import Outcome
from penchant.study.read_results import read_outcome
from penchant.study.run import run_study
from penchant.study.study_file import read_study
from penchant.wording.phrases import Note, notes_json

browser, left_open, reading = test_report.browser, test_report.left_open, test_report.reading
Reading = Callable[..., Reader]
Zoo = Callable[[str], Path]

BENGALI = "ফুল ও পোকামাকড়"
LISTS = {
    "people": ["teacher", "nurse", "doctor"],
    "things": ["dog", "horse", "cabinet", "key"],
    "old": ["old", "late", "careless"],
    "good": ["good", "white", "remarkable"],
    "flowers-bn": ["গোলাপ", "শাপলা", "জবা"],
    "insects-bn": ["মশা", "মাছি", "পিঁপড়া"],
    "pleasant-bn": ["শান্তি", "আনন্দ"],
    "unpleasant-bn": ["দুঃখ", "কষ্ট"],
    "odd": ["<b>rose</b>", "${7*7}", "{x}"],
    "even": ["&amp;", "'quoted'", "\\frac"],
    "absent": ["zebra", "quagga"],
}
CATEGORIES: dict[str, dict[str, Any]] = {
    "C1": {"label": HOSTILE, "X": "people", "Y": "things", "A": "old", "B": "good", "contexts": "is"},
    "C2": {
        "label": BENGALI,
        "X": "flowers-bn",
        "Y": "insects-bn",
        "A": "pleasant-bn",
        "B": "unpleasant-bn",
        "contexts": "is",
    },
    "C3": {"label": SCRIPT, "X": "odd", "Y": "even", "A": "old", "B": "good", "measures": ["weat", "seat"]},
    "C4": {"label": "absent <u>words</u>", "X": "absent", "Y": "things", "A": "old", "B": "good", "contexts": "is"},
}
CONTEXTS = [
    {"structure": "S1", "text": "{target} is {attribute}."},
    {"structure": "S2", "text": "{target} is often {attribute}."},
    {"structure": "S3", "text": "When all were late, {target} was {attribute}."},
]
CORPUS = {"sentences": "corpus.txt", "segments": [3, "all"], "samples": [6, 12], "sampling": ["random", "fixed"]}
ACROSS = "associations"
DRAWN = {ACROSS: 1, "weat": 3, "weat-2": 3, "seat": 4, "ceat": 5, "logprob-bias": 5}
"""Charts of every section, in order: what one model reads stands together."""


def write_stimuli(folder: Path) -> None:
    """The set, two files of word vectors and a corpus; the vectors and the corpus lack some words."""
    lists = {name: {"words": words, "templates": "is"} for name, words in LISTS.items()}
    templates = {"is": ["This is {word}.", "Here is {word}."]}
    content = {"lists": lists, "templates": templates, "contexts": {"is": CONTEXTS}, "categories": CATEGORIES}
    folder.joinpath("set").mkdir()
    folder.joinpath("set", "set.yaml").write_text(json.dumps(content), "utf-8")  # JSON is YAML
    words = [word for name, own in LISTS.items() if name != "absent" for word in own]
    for i, dropped in enumerate(("key", "none")):
        rng = np.random.default_rng(i)
        lines = [f"{word} " + " ".join(f"{x:.5f}" for x in rng.normal(size=8)) for word in words if word != dropped]
        folder.joinpath(f"vec<i>{i}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    used = [word for name in list(LISTS)[:8] for word in LISTS[name]]
    rng = np.random.default_rng(9)
    fillers = ["rain", "and", "very", "in", "saw", "never", "the"]
    lines = []
    for word in used:
        for _ in range(7):
            sentence = rng.choice(fillers, int(rng.integers(4, 9))).tolist()
            sentence[int(rng.integers(0, len(sentence)))] = word
            lines.append(" ".join(sentence))
    folder.joinpath("corpus.txt").write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture(scope="module")
def finished(zoo: Zoo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All four measures on stimuli that try to break the page, by two models each; tests leave it as it is."""
    home = tmp_path_factory.mktemp("associations")
    write_stimuli(home)
    shared: dict[str, Any] = {"data": "set", "resamples": 100}
    probes: list[dict[str, Any]] = [
        {"weat": {**shared, "max_missing": 0.3}},
        {"seat": {**shared, "layers": [-1, 0]}},
        {"ceat": {**shared, **CORPUS}},
        {"logprob-bias": shared},
        {"weat": {**shared, "max_missing": 0.3, "compat": "paper"}},
    ]
    models = [home / "vec<i>0.txt", home / "vec<i>1.txt", zoo("roberta"), zoo("modernbert")]
    write_study(home / "study.yaml", models, *probes, study="associations <u>of</u>")
    study, instruments = read_study(home / "study.yaml")
    run_study(study, instruments, home / "out", Run(base=[home]))
    write_report(read_outcome(home / "out").document(), home / "out" / "report.html")
    return home / "out"


@pytest.fixture(scope="module")
def outcome(finished: Path) -> Outcome:
    return read_outcome(finished)


def results(outcome: Outcome, place: str) -> list[Result]:
    return outcome.by_place()[place]


def test_the_paragraph_for_a_paper_says_how_long_each_list_is(outcome: Outcome) -> None:
    (section,) = (each for each in outcome.document().sections if each.place == "weat")
    of_one = [replace(result, items=result.items.filter(category="C1")) for result in section.results]
    said = paragraph(replace(section, results=of_one))
    assert "(3 people, 4 things, 3 old and 3 good)" in said


def row(result: Result, measure: str, **where: str) -> dict[str, Any]:
    """The only row of a summary with these levels."""
    return result.summary.filter(pl.col("measure") == measure, **where).row(0, named=True)


def shown(number: Mapping[str, Any], form: str = ".2f") -> str:
    """A number as the page writes it."""
    if math.isnan(number["value"]):
        return "–"
    value, low, high = (f"{number[key]:{form}}".replace("-", "−") for key in ("value", "low", "high"))
    return f"{value} [{low}, {high}]" if not math.isnan(number["low"]) else value


def p_value(p: float) -> str:
    return "–" if math.isnan(p) else f"{p:.2g}".replace("-", "−")


def section(place: str) -> str:
    return ACROSS if place == ACROSS else f"s{[p for p in DRAWN if p != ACROSS].index(place)}"


def lines(reader: Reader, place: str, table: str) -> list[list[str]]:
    """The cells of a table, as they are shown, folded or not; without the buttons that copy."""
    found = reader.page.locator(f"#{section(place)}-{table} tbody tr")
    cells = "rows => rows.map(row => [...row.querySelectorAll('td:not(.screen)')].map(cell => cell.textContent))"
    return cast(list[list[str]], found.evaluate_all(cells))  # at once: asking cell by cell takes half a minute


# The page -----------------------------------------------------------------------------------------------------------


def test_opens_offline_and_draws_everything(finished: Path, reading: Reading) -> None:
    reader = reading(finished / "report.html")
    assert reader.troubles == []
    assert reader.asked == [(finished / "report.html").as_uri()]
    ids = [part.get_attribute("id") for part in reader.page.locator("main > section > h2").all()]
    assert ids[: len(DRAWN)] == [section(place) for place in DRAWN]  # that across measures before the first of them
    for place, n in DRAWN.items():
        assert reader.drawn(f"section[aria-labelledby={section(place)}]", marks=4) == n, place


def test_headlines_are_those_of_the_results(finished: Path, outcome: Outcome, reading: Reading) -> None:
    reader = reading(finished / "report.html")
    first, second = results(outcome, "weat")
    cells = lines(reader, "weat", "effects")
    assert [line[0] for line in cells] == ["C1", "C1", "C2", "C2", "C3", "C3", "C4", "C4"]
    for line, (result, category) in zip(cells, ((r, c) for c in CATEGORIES for r in (first, second)), strict=True):
        own = row(result, "effect size", category=category)
        assert line[1] == CATEGORIES[category]["label"]
        assert line[2] == result.signature["model"]
        assert line[3] == str(own["n"])
        assert line[4].rstrip("abc") == shown(own)
        assert (line[4] == shown(own)) == (own["note"] == "")
        assert line[5:] == [p_value(own["p"]), p_value(own["p_holm"])]
    assert "2 of 2 words of absent are missing" in reader.reviewed().page.locator("#s0").locator("..").inner_text()
    # A layer a row, and the two sets of CEAT and of structures a column each.
    assert [line[3] for line in lines(reader, "seat", "effects")][:4] == ["-1", "-1", "0", "0"]
    for place, contexts, measure in (
        ("ceat", ["3", "all"], "combined effect size"),
        ("logprob-bias", ["S1", "S2", "S3", "all"], "effect size"),
    ):
        line = lines(reader, place, "effects")[0]
        assert line[:3] == ["C1", HOSTILE, results(outcome, place)[0].signature["model"]]
        levels = {"sampling": "fixed", "samples": "12"} if place == "ceat" else {}
        for cell, context in zip(line[3:], contexts, strict=True):
            own = row(results(outcome, place)[0], measure, category="C1", context=context, **levels)
            assert cell.replace("*", "").rstrip("abc") == shown(own)
            assert ("*" in cell) == (own["p_holm"] < 0.05)


def test_details_are_those_of_the_results(finished: Path, outcome: Outcome, reading: Reading) -> None:
    reader = reading(finished / "report.html")
    ceat = results(outcome, "ceat")[1]
    everything = lines(reader, "ceat", "effects-all")
    assert len(everything) == 2 * 3 * 2 * 2 * 2  # categories, models, segments, samplings, samples
    where = {"category": "C2", "context": "3", "sampling": "random", "samples": "6"}
    own = row(ceat, "combined effect size, as published", **where)
    tau, i2 = (
        row(ceat, name, **where)["value"]
        for name in ("sd between samples (τ)", "share of variance between samples (I²)")
    )
    further = row(ceat, "effect size of a further sample", **where)
    found = [
        line
        for line in lines(reader, "ceat", "published")
        if line[:6] == ["C2", BENGALI, ceat.signature["model"], "3", "random", "6"]
    ]
    assert len(found) == 1
    bounds = ", ".join(f"{further[end]:.2f}".replace("-", "−") for end in ("low", "high"))
    wanted = [p_value(own["p"]), p_value(own["p_holm"]), f"{tau:.2f}", f"{100 * i2:.0f}", f"[{bounds}]"]
    assert [cell.rstrip("abc") for cell in found[0][6:]] == ["6", shown(own), *wanted]
    steps = ceat.summary.filter(
        pl.col("measure") == "combined effect size of the first samples",
        category="C1",
        context="all",
        sampling="fixed",
        samples="12",
    )
    firsts = [
        [cell.rstrip("abc") for cell in line[4:]]  # without the marks of footnotes
        for line in lines(reader, "ceat", "first-samples")
        if line[:4] == ["C1", HOSTILE, ceat.signature["model"], "all"]
    ]
    assert firsts == [[str(step["n"]), shown(step), p_value(step["p"])] for step in steps.iter_rows(named=True)]
    lp = results(outcome, "logprob-bias")[0]
    scored = [
        line
        for line in lines(reader, "logprob-bias", "scores")
        if line[:5] == ["C1", HOSTILE, lp.signature["model"], "S2", "A"]
    ]
    few = row(lp, "difference of fill scores", category="C1", context="S2", side="A")["n"]
    assert few < 5 and scored[0][6:] == [f"too few ({few})"] * 3
    attributes = lines(reader, "logprob-bias", "attributes")
    each_one = lp.summary.filter(measure="association", context="all")
    assert len(attributes) == 2 * len(each_one)
    assert attributes[0][4] == each_one["stimulus"][0]
    assert attributes[0][5] == f"{each_one['value'][0]:+.3f}".replace("-", "−")
    sentences = lines(reader, "seat", "by-sentence")
    each = row(results(outcome, "seat")[0], "effect size, every sentence by itself", category="C1", layer="-1")
    cells = [str(each["n"]), shown(each), p_value(each["p"]), p_value(each["p_holm"])]
    assert [cell.rstrip("abc") for cell in sentences[0][4:]] == cells
    sets = lines(reader, "weat", "sets")
    assert sets[0][2:4] == ["teacher, nurse, doctor", "dog, horse, cabinet, key"]
    assert "<b>rose</b>" in sets[2][2]


def test_the_stimuli_that_matter_most(outcome: Outcome) -> None:
    (table,) = (t for t in instruments()["weat"].section.tables(results(outcome, "weat")) if t.name == "influence")
    result = results(outcome, "weat")[1]
    items = result.items.filter(category="C1")
    x, y = (items.filter(side=side)["association"].to_numpy() for side in "XY")
    whole = effect_size(x, y)
    assert whole == pytest.approx(row(result, "effect size", category="C1")["value"])
    ranked = sorted(items.iter_rows(named=True), key=lambda item: -abs(item["without"] - whole))
    rows = [r.cells for r in table.rows if r.cells[0] == "C1" and r.cells[2] == result.signature["model"]]
    assert [cells[4] for cells in rows] == [item["word"] for item in ranked[:3]]
    for cells, item in zip(rows, ranked, strict=False):
        numbers = [cell.value for cell in cells[5:] if isinstance(cell, Number)]
        assert numbers == pytest.approx([item["association"], whole, item["without"]])


def test_the_words_beside_an_interval_move_it_to_their_side(outcome: Outcome) -> None:
    """The two on each side without which d changes most: words, or the attributes of the log-probability score."""
    weat = results(outcome, "weat")[1]
    items = weat.items.filter(category="C1").sort("without")
    whole = row(weat, "effect size", category="C1")["value"]
    raised = items.filter(pl.col("without") < whole)["word"].to_list()
    lowered = items.filter(pl.col("without") > whole)["word"].to_list()[::-1]
    drawn = next(mark for mark in data_of(weat, "effects") if mark.get("category", "").startswith("C1"))
    assert (drawn["left"], drawn["right"]) == (", ".join(lowered[:2]), ", ".join(raised[:2]))
    score = results(outcome, "logprob-bias")[0]
    corrected = score.items.filter(category="C1").group_by("attribute_side", "attribute", "target_side")
    means = corrected.agg(pl.col("corrected").mean()).pivot("target_side", index=["attribute_side", "attribute"])
    s = {(side, word): x - y for side, word, x, y in means.select("attribute_side", "attribute", "X", "Y").iter_rows()}

    def d(*without: tuple[str, str]) -> float:
        a, b = ([value for key, value in s.items() if key[0] == side and key not in without] for side in "AB")
        return float((np.mean(a) - np.mean(b)) / np.std([*a, *b], ddof=1))

    assert d() == pytest.approx(row(score, "effect size", category="C1", context="all")["value"], abs=1e-6)
    ranked = sorted((key for key in s if d(key) < d()), key=d)
    drawn = next(mark for mark in data_of(score, "effects") if mark.get("category", "").startswith("C1"))
    assert drawn["right"] == ", ".join(word for _, word in ranked[:2])


def test_answers_name_the_lists(outcome: Outcome) -> None:
    """Also in a comparison; of a category without stimuli, and of results saved without labels, only the category."""
    for place in ("weat", "logprob-bias"):
        own = results(outcome, place)
        comparison = None if place == "weat" else pc.compare(*own)
        answers = instruments()[place].section.answers(own, comparison)
        for verdict in (verdict for answer in answers for verdict in answer.verdicts):
            category = (verdict.row or {})["category"]
            named = {"category": category, **{name: CATEGORIES[category][name] for name in "XYAB"}}
            if not verdict.models[1:]:
                named["sign"] = "less" if (verdict.row or {})["value"] < 0 else "more"
            assert verdict.facts == ({} if verdict.kind == NOT_MEASURED else named)
        assert {len(answer.verdicts[0].models) for answer in answers} == ({1} if comparison is None else {1, 2})
    old = [replace(result, items=result.items.drop("list")) for result in results(outcome, "weat")]
    (answer,) = instruments()["weat"].section.answers(old, None)
    assert {str(verdict.facts) for verdict in answer.verdicts} == {"{}"}


def test_the_sentences_of_a_word_matter_together(outcome: Outcome) -> None:
    (table,) = (t for t in instruments()["seat"].section.tables(results(outcome, "seat")) if t.name == "influence")
    cells = table.rows[0].cells
    items = results(outcome, "seat")[0].items.filter(category="C1", layer="-1", side=cells[3], word=cells[4])
    assert items["without"].n_unique() == 1 < len(items)
    numbers = [cell.value for cell in cells[5:] if isinstance(cell, Number)]
    whole = row(results(outcome, "seat")[0], "effect size", category="C1", layer="-1")["value"]
    assert numbers == pytest.approx([items["association"].mean(), whole, items["without"][0]])


def test_text_is_shown_literally(finished: Path, reading: Reading) -> None:
    reader = reading(finished / "report.html")
    body = reader.page.locator("body").inner_text()
    for text in (HOSTILE, SCRIPT, BENGALI, "absent <u>words</u>", "vec<i>0@", "associations <u>of</u>"):
        assert text in body
    drawn = [chart.text_content() or "" for chart in reader.page.locator(".chart svg.marks").all()]
    everything = "\n".join(drawn)
    for text in (f"C1 {HOSTILE}", BENGALI, "vec<i>1@", "white"):
        assert text in everything
    reader.page.locator("#items-0").get_by_label("category", exact=True).select_option(label=f"C3 {SCRIPT}")
    for words in ("<b>rose</b>", "${7*7}", "{x}", "&amp;", "'quoted'", "\\frac"):
        assert words in reader.page.locator("#items-0").inner_text()
    assert reader.is_literal()


def item_rows(reader: Reader, part: str) -> list[list[str]]:
    found = reader.page.locator(f"#{part} tbody tr")
    cells = "rows => rows.map(row => [...row.querySelectorAll(':scope > td')].map(cell => cell.innerText))"
    return cast(list[list[str]], found.evaluate_all(cells))


def test_stimuli_are_those_of_the_results(finished: Path, outcome: Outcome, reading: Reading) -> None:
    """Also where one model lacks a stimulus that the other has, which then stands in its place without numbers."""
    first, second = results(outcome, "weat")
    reader = reading(finished / "report.html")
    reader.page.locator("#items-0").get_by_label("category", exact=True).select_option(label=f"C1 {HOSTILE}")
    cells = item_rows(reader, "items-0")
    assert len(cells) == 13
    for word, category, side, *numbers in cells:
        assert category == f"C1 {HOSTILE}"
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        for (association, without), result in zip(pairs, (first, second), strict=True):
            own = result.items.filter(category="C1", side=side, word=word)
            if word == "key" and result is first:
                assert (len(own), association, without) == (0, "left out", "left out")
                continue
            assert association == f"{own['association'][0]:+.4f}".replace("-", "−")
            assert without == f"{own['without'][0]:+.2f}".replace("-", "−")
    reader.page.locator("#items-0").get_by_label("set", exact=True).select_option(label="Y")
    assert [line[0] for line in item_rows(reader, "items-0")] == ["dog", "horse", "cabinet", "key"]


def test_cosines_of_a_stimulus(finished: Path, outcome: Outcome, reading: Reading) -> None:
    """Of a target with the attributes; of an attribute with the targets, which is the same table read across."""
    result = results(outcome, "weat")[1]
    reader = reading(finished / "report.html")
    table = {
        item["word"]: item["cosines"] for item in result.items.filter(category="C1").drop_nulls("cosines").to_dicts()
    }
    attributes = [*LISTS["old"], *LISTS["good"]]
    for word, words, cosines in (
        ("nurse", attributes, table["nurse"]),
        ("white", list(table), [own[attributes.index("white")] for own in table.values()]),
    ):
        reader.search(word, within="#items-0")
        strip = reader.open(within="#items-0")[1]
        assert strip.locator(".token").all_inner_texts() == words
        assert strip.locator(".value").all_inner_texts() == [f"{c:.3f}".replace("-", "−") for c in cosines]


def test_sentences_and_their_tokens(finished: Path, outcome: Outcome, reading: Reading) -> None:
    first, second = results(outcome, "logprob-bias")
    reader = reading(finished / "report.html")
    part = f"items-{list(DRAWN).index('logprob-bias') - 1}"
    place = reader.page.locator(f"#{part}")
    assert place.locator("[role=status]").inner_text() == f"{len(first.items):,} of {len(first.items):,} sentences"
    place.get_by_label("structure", exact=True).select_option(label="S2")
    place.get_by_label("target", exact=True).select_option(label="জবা")
    cells = item_rows(reader, part)
    own = first.items.filter(context="S2", target="জবা")
    assert [line[0] for line in cells] == own["attribute"].to_list()
    other = second.items.filter(context="S2", target="জবা")
    for line, items in zip(cells, zip(own.to_dicts(), other.to_dicts(), strict=True), strict=True):
        assert line[4] == items[0]["sentence"]
        numbers = [
            f"{item[score]:{'+' if score == 'corrected' else ''}.2f}".replace("-", "−")
            for item in items
            for score in ("fill", "prior", "corrected")
        ]
        assert line[7] == "–"
        assert line[8:] == numbers
    leaking = place.get_by_label("attribute elsewhere", exact=True)
    for strip, whole in zip(reader.open(within=f"#{part}"), (own, other), strict=True):
        for line, score in zip(strip.locator("tr").all(), ("fill", "prior"), strict=True):
            wanted = whole[f"logprobs_{score}"][0]
            assert line.locator(".value").all_inner_texts() == [f"{p:.3f}".replace("-", "−") for p in wanted]
            assert len(line.locator(".token").all()) == len(whole["tokens"][0])
    place.get_by_role("button", name="show all").click()
    leaking.select_option(label="leaks")
    held = first.items.filter("leaks")
    assert {line[0] for line in item_rows(reader, part)} == set(held["attribute"]) == {"late"}


def test_a_click_on_a_mark_finds_its_stimuli(finished: Path, outcome: Outcome, reading: Reading) -> None:
    reader = reading(finished / "report.html")

    def count(part: str) -> int:
        return int(reader.page.locator(f"#{part} [role=status]").inner_text().split()[0].replace(",", ""))

    strips = reader.page.locator("#s0-figure-words-1 path[aria-label*='item: nurse;']")
    strips.first.click(force=True)
    assert [line[:3] for line in item_rows(reader, "items-0")] == [["nurse", f"C1 {HOSTILE}", "X"]]
    reader.page.locator("#s0-figure-effects path[aria-label*='row: C2']").first.click(force=True)
    assert count("items-0") == 10
    ceat = results(outcome, "ceat")
    reader.page.locator("#s3-figure-context path[aria-label*='category: C2'][aria-label*='segment: 3']").first.click(
        force=True
    )
    both = {id_ for result in ceat for id_ in result.items.filter(category="C2", context="3")["id"]}
    assert count("items-3") == len(both)
    lp = results(outcome, "logprob-bias")[0].items
    reader.page.locator("#s4-figure-words-1 path[aria-label*='item: white;'][aria-label*='C1']").first.click(force=True)
    assert count("items-4") == len(lp.filter(category="C1", attribute="white"))


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_no_serious_accessibility_violation(scheme: str, finished: Path, reading: Reading) -> None:
    if not AXE.is_file():
        pytest.skip(f"no axe-core at {AXE} (npm install --no-save axe-core, or name axe.min.js in PENCHANT_AXE)")
    reader = reading(finished / "report.html", color_scheme=scheme)
    for part in range(5):
        reader.open(within=f"#items-{part}")
    assert violations(reader.page, colours=scheme == "dark") == []


def test_fits_a_narrow_screen_and_paper(finished: Path, reading: Reading) -> None:
    reader = reading(finished / "report.html", viewport={"width": 390, "height": 844})
    assert reader.fits_a_narrow_screen_and_paper()


def test_signatures_are_listed_where_their_numbers_are(finished: Path, outcome: Outcome, reading: Reading) -> None:
    """Each section lists its own, also those that the section across measures has named before."""
    reader = reading(finished / "report.html")
    for place in list(DRAWN)[1:]:
        part = reader.page.locator(f"section[aria-labelledby={section(place)}]")
        listed = part.locator(".signatures .signature").all_text_contents()
        own = {signature for result in results(outcome, place) for signature in result.summary["signature"]}
        assert own <= set(listed)
        assert len(listed) == len(set(listed)) == len(own) + (place in outcome.comparisons)


# Across measures ----------------------------------------------------------------------------------------------------


def across(outcome: Outcome) -> tuple[ReportTable, ReportTable]:
    own = next(each for each in placed(outcome.results, outcome.comparisons) if each.place == ACROSS)
    table, columns = own.section.tables(own.results)
    return table, columns


def test_the_table_across_measures(outcome: Outcome) -> None:
    table, columns = across(outcome)
    given_ = [r for place in list(DRAWN)[1:] for r in results(outcome, place)]
    assert [r.signature for r in columns.rows] == [str(result.signature) for result in given_]
    assert [r.cells[1] for r in columns.rows] == [result.signature["model"] for result in given_]
    assert [r.cells[2] for r in columns.rows] == [
        *["–"] * 4,
        *["layer -1"] * 2,
        *["whole sentences, fixed sentences, 12 samples"] * 2,
        *["all structures"] * 2,
    ]
    assert list(table.columns) == ["category", "stimuli", *(r.cells[0] for r in columns.rows)]
    assert list(table.columns[4:8]) == ["WEAT 3", "WEAT 4", "SEAT 1", "SEAT 2"]
    assert len(set(table.columns)) == len(table.columns)
    assert [r.cells[:2] for r in table.rows] == [(c, CATEGORIES[c]["label"]) for c in CATEGORIES]
    levels = [{}, {}, {"layer": "-1"}, {"context": "all", "sampling": "fixed", "samples": "12"}, {"context": "all"}]
    starred = 0
    for line in table.rows:
        for i, (cell, result) in enumerate(zip(line.cells[2:], given_, strict=True)):
            assert isinstance(cell, Number)
            found = result.summary.filter(
                pl.col("measure").is_in(["effect size", "combined effect size"]),
                category=line.cells[0],
                **levels[i // 2],
            )
            if not len(found):
                assert (str(cell), cell.note) == ("–", "not among the categories that the measure was asked for")
                continue
            own = found.row(0, named=True)
            if math.isnan(own["value"]):
                assert (str(cell), cell.note) == ("–", own["note"])
                assert "missing" in cell.note
                continue
            assert (cell.value, cell.note) == (own["value"], "")
            assert str(cell) == f"{own['value']:.2f}" + "*" * (own["p_holm"] < 0.05)
            starred += own["p_holm"] < 0.05
    assert {str(line.cells[2]) for line in table.rows} != {"–"}
    dashes = Counter(str(cell) for line in table.rows for cell in line.cells[2:])["–"]
    assert dashes == 4 + 6  # C3 by CEAT and log-probability; C4 by WEAT, twice, and by CEAT
    assert "One-sided tests never star a negative effect size." in table.note


def test_columns_are_named_after_models_where_there_is_room(outcome: Outcome) -> None:
    own = [replace_model(results(outcome, place)[0], "org/some-model@1234567") for place in ("weat", "seat")]
    assert [column.head for column in measures.columns(own)] == ["WEAT some-model@1234567", "SEAT some-model@1234567"]
    long_ = [replace_model(result, "m" * 60) for result in own]
    assert [column.head for column in measures.columns(long_)] == ["WEAT", "SEAT"]
    alike = [*own, replace_model(own[1], "other/some-model@1234567")]
    assert [column.head for column in measures.columns(alike)] == ["WEAT", "SEAT 1", "SEAT 2"]


def replace_model(result: Result, name: str) -> Result:
    return replace(result, signature=result.signature.with_(model=name))


def test_stars_follow_the_adjusted_p(outcome: Outcome) -> None:
    result = results(outcome, "weat")[1]
    for p, star in ((1e-6, "*"), (0.05, ""), (math.nan, "")):  # the table adjusts over all that it shows
        changed = replace(result, summary=result.summary.with_columns(pl.lit(p).alias("p")))
        table, _ = OVERVIEW.section.tables([changed, results(outcome, "seat")[0]])
        value = row(result, "effect size", category="C1")["value"]
        assert str(table.rows[0].cells[2]) == f"{value:.2f}{star}"


def test_one_measure_alone_has_no_table_across(outcome: Outcome, finished: Path) -> None:
    for place, expected in (("weat", ["weat", "weat-2"]), ("ceat", ["ceat"])):
        alone = Outcome(outcome.manifests)
        alone.results = {key: r for key, r in outcome.results.items() if key[0].partition("-")[0] == place}
        assert [each.place for each in placed(alone.results, {})] == expected
        assert f'id="{ACROSS}"' not in page(alone.document(), "beside")[0]


def test_the_page_shows_the_table_across(finished: Path, outcome: Outcome, reading: Reading) -> None:
    reader = reading(finished / "report.html")
    table, _ = across(outcome)
    marks = table.footnotes()
    for line, wanted in zip(lines(reader, ACROSS, "measures"), table.rows, strict=True):
        texts = [str(c).replace("-", "−") + marks.get(c.note, "") if isinstance(c, Number) else c for c in wanted.cells]
        assert line == texts
    notes = reader.reviewed().page.locator(f"section[aria-labelledby={ACROSS}] .foot").all_inner_texts()
    assert notes == [f"{mark} {note}" for note, mark in marks.items()]


def test_the_terminal_prints_it(capsys: pytest.CaptureFixture[str], outcome: Outcome) -> None:
    from penchant.cli.result_commands import show

    show(outcome.document(), full=True)
    out = capsys.readouterr().out
    table, columns = across(outcome)
    assert f"{ACROSS}: {table}\n\n{ACROSS}: {columns}\n\nWord embedding association test (WEAT)\n- " in out
    assert "ceat: Combined effect sizes by category, fixed sentences, 12 samples" in out
    assert "everything that was measured" in out  # details too


# Exports ------------------------------------------------------------------------------------------------------------


def test_csv_has_the_numbers_unrounded(outcome: Outcome, tmp_path: Path) -> None:
    written = {path.name for path in export(outcome.document(), "csv", tmp_path)}
    assert {f"{ACROSS}-measures.csv", f"{ACROSS}-columns.csv"} <= written
    assert not {f"{ACROSS}-summary.csv", f"{ACROSS}-items.csv"} & written
    with (tmp_path / f"{ACROSS}-measures.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [line["stimuli"] for line in rows] == [CATEGORIES[c]["label"] for c in CATEGORIES]
    for head, result in zip(("WEAT 1", "WEAT 2"), results(outcome, "weat"), strict=True):
        for line in rows:
            own = row(result, "effect size", category=line["category"])["value"]
            assert line[head] == "" if math.isnan(own) else float(line[head]) == own
    with (tmp_path / "ceat-effects-all.csv").open(newline="", encoding="utf-8") as file:
        everything = list(csv.DictReader(file))
    models = {r.signature["model"]: r for r in results(outcome, "ceat")}
    for line in everything:
        where = {key: line[key] for key in ("category", "sampling", "samples")} | {"context": line["segment"]}
        own = row(models[line["model"]], "combined effect size", **where)
        for column, key in (("d", "value"), ("d low", "low"), ("d high", "high"), ("p", "p"), ("p (Holm)", "p_holm")):
            assert line[column] == "" if math.isnan(own[key]) else float(line[column]) == own[key]
        assert line["signature"] == own["signature"]


@pytest.mark.slow  # 21 charts in every format; test_export draws some of each kind
def test_figures_are_drawn_with_their_names(outcome: Outcome, tmp_path: Path) -> None:
    written = export(outcome.document(), "figures", tmp_path)
    names = [path.stem for path in written if path.suffix == ".svg"]
    assert names[0] == f"{ACROSS}-measures"
    assert len(names) == sum(DRAWN.values())
    texts = {path.stem: "".join(ET.parse(path).getroot().itertext()) for path in written if path.suffix == ".svg"}
    for name in (f"{ACROSS}-measures", "weat-effects", "ceat-context", "logprob-bias-context"):
        assert HOSTILE in re.sub(r"\s+", " ", texts[name]) or "C1 <img src=x" in texts[name]
        assert BENGALI in texts[name]
    assert any(word in texts["weat-words-1"] for word in LISTS["flowers-bn"])
    for path in written:
        assert path.stat().st_size < 600_000, path


@test_export.needs("xelatex", "bibtex", file="fontspec.sty")
def test_xelatex_sets_the_preview(outcome: Outcome, tmp_path: Path) -> None:
    export(outcome.document(), "latex", tmp_path)
    methods = (tmp_path / "methods.tex").read_text("utf-8")
    assert methods.startswith("\\paragraph{Associations across measures}")
    for title in ("(WEAT)", "(SEAT)", "(CEAT)", "Log-probability bias score", "(WEAT) (weat-2)"):
        assert f"{title}}}" in methods
    log = test_export.compiled(tmp_path, "xelatex")
    assert "undefined" not in log
    references = (tmp_path / "preview.bbl").read_text("ascii")
    for key in ("caliskan2017", "may2019", "guo2021", "kurita2019", "sadhu2024", "dersimonian1986", "higgins2009"):
        assert f"\\bibitem{{{key}}}" in references


@test_export.needs("pdflatex", "bibtex")
def test_pdflatex_sets_all_but_other_scripts(outcome: Outcome, tmp_path: Path) -> None:
    latin = Outcome(outcome.manifests)
    for key, result in outcome.results.items():
        keep = pl.col("category") != "C2"
        latin.results[key] = replace(result, items=result.items.filter(keep), summary=result.summary.filter(keep))
    export(latin.document(), "latex", tmp_path)
    log = test_export.compiled(tmp_path, "pdflatex")
    for fault in ("Overfull \\hbox", "undefined", "multiply", "Missing character"):
        assert fault not in log


# What is shown where there is much, or nothing -----------------------------------------------------------------------


def test_which_levels_are_shown() -> None:
    def levels(**given_: list[str]) -> dict[str, str]:
        size = max(map(len, given_.values()))
        return chosen(with_factors(pl.DataFrame({key: (values * size)[:size] for key, values in given_.items()})))

    assert levels(context=["9", "25", "75", ">75"])["context"] == ">75"
    assert levels(context=["all", "9", ">75"])["context"] == "all"
    assert levels(context=[">9", "10", "25"])["context"] == "25"
    assert levels(context=["S1", "S2", "all"])["context"] == "all"
    assert levels(context=["only"])["context"] == "only"
    assert levels(samples=["50", "1000", "200"])["samples"] == "1000"
    assert levels(sampling=["random", "fixed"])["sampling"] == "fixed"
    assert levels(sampling=["random"])["sampling"] == "random"
    assert levels(layer=["4", "-1"]) == {"layer": "4", "context": "", "sampling": "", "samples": ""}


def test_the_papers_layout_stays_readable(outcome: Outcome) -> None:
    """Four models, four segments: a row a category and model, four columns; everything in the details."""
    own = results(outcome, "ceat")[0]
    segments = ["9", "25", "75", ">75"]
    wide = pl.concat(own.summary.filter(context="3").with_columns(pl.lit(name).alias("context")) for name in segments)
    four = [replace_model(replace(own, summary=wide), f"model-{i}") for i in range(4)]
    headline, sets, everything, *_ = instruments()["ceat"].section.tables(four)
    assert headline.columns[3:] == ("9 words", "25 words", "75 words", "> 75 words")
    assert (len(headline.rows), sets.name) == (3 * 4, "sets")
    assert (len(everything.rows), everything.detail) == (3 * 4 * 4 * 2 * 2, True)
    assert everything.columns[3:6] == ("segment", "sampling", "samples")


def test_a_result_without_any_effect_size(outcome: Outcome, finished: Path, tmp_path: Path, reading: Reading) -> None:
    """A corpus that holds too few of the words: the reasons stand in the tables, and nothing else breaks."""
    empty = Outcome(outcome.manifests)
    missing = notes_json([Note("associations.words-missing", lost=9, of=9, label="<b>it</b>")])
    for key in (("ceat", model) for place, model in outcome.results if place == "ceat"):
        result = outcome.results[key]
        summary = result.summary.filter(measure="combined effect size").with_columns(
            *(pl.lit(math.nan).alias(name) for name in ("value", "low", "high", "p", "p_holm")),
            pl.lit(missing).alias("notes"),
        )
        empty.results[key] = replace(result, summary=summary, items=result.items.clear())
    write_report(empty.document(), tmp_path / "report.html")
    reader = reading(tmp_path / "report.html")
    assert reader.troubles == []
    assert "9 of 9 words of <b>it</b> are missing" in reader.reviewed().page.locator("main").inner_text()
    assert reader.page.locator("main b, .chart").count() == 0
    for form in ("csv", "latex", "figures"):
        export(empty.document(), form, tmp_path / form)
    assert "–" in str(instruments()["ceat"].section.tables(list(empty.results.values()))[0])


def test_a_result_shows_itself_in_a_notebook(outcome: Outcome) -> None:
    for place, names in (
        ("weat", {"effects", "words"}),
        ("seat", {"effects", "layers", "words"}),
        ("ceat", {"effects", "context", "samples", "words"}),
        ("logprob-bias", {"effects", "context", "scores", "words"}),
    ):
        assert test_report.shows_itself(results(outcome, place)[0], BENGALI) == names


def test_differences_between_models(outcome: Outcome) -> None:
    for place in ("seat", "ceat", "logprob-bias"):
        own = results(outcome, place)
        frame = outcome.comparisons.get(place)
        frame = pc.compare(*own) if frame is None else frame
        table = CEAT.section.compared(frame)[0]
        assert table.columns[2] == "difference"
        pair = f"{own[0].signature['model']} − {own[1].signature['model']}"
        assert {line.cells[2] for line in table.rows} == {pair}
        cell = next(c for c in table.rows[0].cells if isinstance(c, Number))
        found = frame.filter(pl.col("value") == cell.value)
        assert len(found)
        assert (cell.low, cell.high) == (found["low"][0], found["high"][0])


# Drawing -----------------------------------------------------------------------------------------------------------


def data_of(result: Result, name: str) -> list[dict[str, Any]]:
    """Everything that a chart is given."""
    (figure,) = (f for f in instruments()[result.signature["probe"]].section.figures([result]) if f.name == name)
    spec = figure.spec()
    inline = re.findall(r'"values": (\[\{.*?\}\])', json.dumps(spec))
    sets_ = [*spec.get("datasets", {}).values(), *(json.loads(text) for text in inline)]
    return [mark for own in sets_ for mark in own]


def test_charts_are_given_what_was_found(outcome: Outcome) -> None:
    lp, ceat = results(outcome, "logprob-bias")[0], results(outcome, "ceat")[0]
    weat = results(outcome, "weat")[1]
    fixed = {"sampling": "fixed", "samples": "12"}
    wanted = [
        (weat, "effects", weat.summary, {}),
        (lp, "effects", lp.summary.filter(measure="effect size", context="all"), {}),
        (lp, "context", lp.summary.filter(pl.col("context") != "all", measure="effect size"), {"structure": "context"}),
        (ceat, "context", ceat.summary.filter(measure="combined effect size", **fixed), {"segment": "context"}),
        (
            ceat,
            "samples",
            ceat.summary.filter(
                pl.col("measure").is_in(["combined effect size", "combined effect size of the first samples"]),
                context="all",
                **fixed,
            ),
            {},
        ),
    ]
    for result, name, summary, more in wanted:
        d = "value" if name == "effects" else "d"
        drawn = {
            tuple(m[key] for key in ("category", *more, "n", d, "low", "high"))
            for m in data_of(result, name)
            if m.get(d) is not None and "category" in m
        }
        found = summary.filter(pl.col("value").is_not_nan()).with_columns(
            pl.format("{} {}", "category", "label").alias("named")
        )
        assert drawn == set(found.select("named", *more.values(), "n", "value", "low", "high").iter_rows())
        assert len(drawn) > 1


def test_strips_are_given_every_stimulus(outcome: Outcome) -> None:
    weat, lp = results(outcome, "weat")[1], results(outcome, "logprob-bias")[0]
    for result, found in (
        (weat, weat.items.select("side", "word", "association")),
        (lp, lp.summary.filter(measure="association", context="all").select("side", "stimulus", "value")),
    ):
        marks = {(m["set"], m["item"], m["association"]) for m in data_of(result, "words") if "item" in m}
        assert marks == set(found.iter_rows())


# Drawing many sentences ---------------------------------------------------------------------------------------------


def scores_of(result: Result) -> Any:
    figures = instruments()["logprob-bias"].section.figures([result])
    return next(figure.spec() for figure in figures if figure.name == "scores")


def cells_of(result: Result) -> dict[str, list[dict[str, Any]]]:
    spec = scores_of(result)
    panels = spec["vconcat"][0]["hconcat"]
    return {panel["title"]: spec["datasets"][panel["layer"][0]["data"]["name"]] for panel in panels}


def test_sentences_are_counted_in_cells(outcome: Outcome) -> None:
    """Every sentence in one cell; what is above 0 is raised, the rest lowered; and few marks for many sentences."""
    result = results(outcome, "logprob-bias")[0]
    many = pl.concat(
        result.items.with_columns((pl.col("corrected") * factor).alias("corrected"), pl.col("prior") + factor)
        for factor in np.linspace(-2, 2, 100)
    )
    wide = replace(result, items=many)
    found = cells_of(wide)
    assert list(found) == ["S1", "S2", "S3"]
    for structure, cells in found.items():
        own = many.filter(context=structure)
        assert sum(cell["sentences"] for cell in cells) == len(own) > 5_000
        assert len(cells) < 1_500
        raised = sum(cell["sentences"] for cell in cells if cell["by"] == "raised")
        assert raised == (own["corrected"] >= 0).sum()
        assert all((cell["y"] >= 0) == (cell["by"] == "raised") for cell in cells)
    assert len(json.dumps(scores_of(wide))) < 400_000


@given(st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=1, max_size=30))
@settings(max_examples=300, deadline=None)
def test_cells_hold_all_values_and_end_at_nought(values: list[float]) -> None:
    low, width, high = _edges(np.array(values))
    assert low <= min(*values, 0.0) and high >= max(*values, 0.0)
    assert 1 <= (high - low) / width <= 60
    assert low / width == pytest.approx(round(low / width), abs=1e-6)


# Words --------------------------------------------------------------------------------------------------------------

VARIANTS: list[tuple[str, dict[str, str], list[str]]] = [
    ("weat", {}, ["two-sided", "in lower case", "200,000", "n − 1", "30%"]),
    ("weat", {"alternative": "upper", "ddof": "0", "exact": "0", "compat": "wefe"}, ["one-sided", "n − 0", "`wefe`"]),
    ("weat", {"test": "normal", "case": "keep"}, ["normal distribution with the exact mean", "as written"]),
    ("seat", {}, ["permutes words", "at layer −1, 0"]),
    ("seat", {"unit": "sentence", "pooling": "cls"}, ["The unit is the sentence", "the vector of its first token"]),
    ("ceat", {}, ["shrink as 1/√N by construction", "exactly L words", "`fixed`", "`random`", "6 and 12"]),
    ("ceat", {"mode": "bin", "pieces": "root", "minimum": "5"}, ["at most L words", "its root", "fewer than 5"]),
    ("logprob-bias", {}, ["has as many masks", "attributes for these targets and sentences"]),
    ("logprob-bias", {"pieces": "first"}, ["one mask, read for its first token"]),
]


@pytest.mark.parametrize(("place", "changes", "said"), VARIANTS)
def test_methods_tell_how_it_was_done(place: str, changes: dict[str, str], said: list[str], outcome: Outcome) -> None:
    own = [replace(r, signature=r.signature.with_(**changes)) for r in results(outcome, place)]
    section = instruments()[place].section
    paragraphs = section.methods(own)
    text = " ".join(paragraphs)
    for words in said:
        assert words in text
    assert "Holm" in text
    assert cited(paragraphs, references(instruments()[place]))  # every key is known
    assert all(paragraph.endswith(".") for paragraph in [*paragraphs, *section.limits(own)])
    note = section.tables(own)[0].note
    assert ("One-sided" in note) == ("upper" in changes.values())
    assert ("normal approximation" in note) == (changes.get("test") == "normal")

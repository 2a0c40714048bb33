"""Models that know different words, so that each leaves out items that the other has: nothing moves to another item."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
import yaml

from browsers import CHROMIUM, FLAGS
from lacking import lacking
from penchant.instruments.registry import instruments, placed
from penchant.instruments.run_options import Run
from penchant.report.export import export
from penchant.report.item_browser import ItemTable, Joined
from penchant.report.page import write_report
from penchant.study.catalogue import write_template
from penchant.study.outcome import Outcome
from penchant.study.run import run_study
from penchant.study.study_file import read_study

if TYPE_CHECKING:
    from playwright.sync_api import Page

LETTERS = {
    "acceptability": "pb",
    "amplification": "cz",
    "bbq": "bp",
    "bec-pro": "jx",
    "cloze": "bw",
    "disco": "jv",
    "fair-pairs": "kx",
    "gest": "kv",
    "minimal-pairs": "pk",
    "stereoset": "fw",
    "values": "xz",
    "winobias": "vg",
    "winogender": "jv",
}
"""The letter that each of two models does not know, so that it leaves out some items of the template and keeps some; z
is in none of them."""


def run(name: str, folder: Path, *orders: str) -> list[Outcome]:
    """The study of a template with a model that lacks each letter, in each order, of which the first measures them."""
    files = write_template(name, folder)
    (file,) = (file for file in files if file.name == f"{name}.yaml")
    study = yaml.safe_load(file.read_text("utf-8"))
    study["probes"][0][name] |= {"on_unknown": "skip", "resamples": 200}
    study["probes"][0][name].pop("unigrams", None)  # of the tokenizer of another model
    file.write_text(yaml.safe_dump(study), "utf-8")
    outcomes: list[Outcome] = []
    for letters in orders:
        spec, probes = read_study(file, models=[str(folder.parent / f"without-{letter}") for letter in letters])
        outcomes.append(run_study(spec, probes, folder / "out", Run(base=[folder], resume=bool(outcomes))))
    return outcomes


@pytest.fixture(scope="module", params=sorted(LETTERS))
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Outcome]]:
    """An instrument's study with its two models in both orders."""
    name: str = request.param
    folder = tmp_path_factory.mktemp(name)
    for letter in LETTERS[name]:
        lacking(letter, folder / f"without-{letter}")
    return name, run(name, folder / "study", LETTERS[name], LETTERS[name][::-1])


def test_all_instruments_that_leave_items_out_are_here() -> None:
    assert {name for name, each in instruments().items() if "on_unknown" in each.probe.model_fields} == set(LETTERS)


@pytest.mark.whole
def test_every_item_is_shown_and_differences_are_of_items_that_both_have(
    both: tuple[str, list[Outcome]], tmp_path: Path
) -> None:
    name, outcomes = both
    shown: list[tuple[int, dict[str, int]]] = []
    for number, outcome in enumerate(outcomes):
        results = list(outcome.results.values())
        assert [Path(model).name[-1] for _, model in outcome.results] == list(LETTERS[name][:: 1 - 2 * number])
        joined = Joined.of([result.items for result in results])
        assert all(rows.null_count() > 0 for rows in joined.rows) or "z" in LETTERS[name]
        show = instruments()[name].section.items
        assert show is not None
        table = show(results)
        shown.append((len(table.columns[0].values), dict(sorted(_left_out(table)))))
        assert not outcome.notes
        for form in ("csv", "latex"):
            assert export(outcome.document(), form, tmp_path / f"{form}{number}")
        rows = pl.read_csv(tmp_path / f"csv{number}" / f"{name}-items.csv", infer_schema=False)
        assert len(rows) == sum(len(result.items) for result in results)
    assert shown[0] == shown[1]
    write_report(outcomes[0].document(), tmp_path / "page.html")
    (section,) = outcomes[0].document().sections
    assert all(figure.svg() for figure in section.figures())
    one, other = (outcome.comparisons[name] for outcome in outcomes)
    keys = [key for key in one.columns[: one.columns.index("value")] if key not in ("first", "second")]
    turned = one.join(other, on=keys, how="full", suffix="_b")
    assert len(turned) == len(one) == len(other)
    apart = (turned["value"] + turned["value_b"]).fill_nan(0).abs().max()
    assert isinstance(apart, float) and apart < 1e-9
    assert turned["n"].to_list() == turned["n_b"].to_list()


def _left_out(table: ItemTable) -> Iterator[tuple[str, int]]:
    return ((model, int(table.left_out(model).sum())) for model in table.remarks)


def test_disco_compares_the_persons_that_both_have(tmp_path: Path) -> None:
    """As if the persons that one of the models lacks were not in the set."""
    for letter in "jv":
        lacking(letter, tmp_path / f"without-{letter}")
    (outcome,) = run("disco", tmp_path / "whole", "jv")
    kept = [set(result.items["person"]) for result in outcome.results.values()]
    file = tmp_path / "kept" / "set.yaml"
    write_template("disco", tmp_path / "kept")
    content = yaml.safe_load(file.read_text("utf-8"))
    words = content.get("persons", content)
    for group, of_group in words.items():
        if isinstance(of_group, list) and group != "templates":
            words[group] = [word for word in of_group if word in set.intersection(*kept)]
    file.write_text(yaml.safe_dump(content), "utf-8")
    (study,) = (tmp_path / "kept").glob("disco.yaml")
    spec, probes = read_study(study, models=[str(tmp_path / f"without-{letter}") for letter in "jv"])
    alone = run_study(spec, probes, tmp_path / "alone", Run(base=[tmp_path / "kept"]))
    assert outcome.comparisons["disco"]["value"].to_list() == alone.comparisons["disco"]["value"].to_list()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium.new_page()
        chromium.close()


def test_the_page_turns_and_opens_pairs_that_a_model_lacks(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    for letter in "kw":
        lacking(letter, folder / f"without-{letter}")
    nouns = ("cat", "clerk", "crow", "dog", "duck", "wolf", "hen", "king")
    rows = [
        {"id": f"{noun}{n}", "good": f"The {noun} sees {n} hats .", "bad": f"The {noun} see {n} hats ."}
        for n in range(4)
        for noun in nouns
    ]
    pl.DataFrame(rows).write_csv(folder / "pairs.csv")
    models = ["without-k", "without-w"]
    study = {"study": "s", "models": models, "probes": [{"minimal-pairs": {"data": "pairs.csv", "on_unknown": "skip"}}]}
    (folder / "s.yaml").write_text(yaml.safe_dump(study), "utf-8")
    spec, probes = read_study(folder / "s.yaml", models=[str(folder / model) for model in models])
    outcome = run_study(spec, probes, folder / "out", Run(base=[folder], cache=folder.parent / "cache.sqlite"))
    write_report(outcome.document(), tmp_path / "page.html")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "page.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    (section,) = placed(outcome.results, outcome.comparisons)
    show = section.section.items
    assert show is not None
    table = show(section.results)
    numbers = [column for column in table.columns if column.kind == "number" and column.model]
    lines = page.locator(".items tbody tr")
    seen = {}
    for turned in (False, True):
        if turned:
            page.locator(".pager button").last.click()
        lines.first.wait_for()
        for line in lines.all():
            texts = line.locator("td").all_inner_texts()
            seen[texts[0]] = texts
    assert set(seen) == set(table.columns[0].values)
    for at, name in enumerate(table.columns[0].values):
        lost = sum("left out" in text for text in seen[name])
        assert lost == 3 * sum(out[at] for out in (table.left_out(model) for model in table.remarks))
        for column in numbers:
            value = column.values[at]
            assert value is None or any(f"{abs(value):.3f}" in text for text in seen[name])
    page.locator(".pager button").first.click()
    for button in page.locator("button.open").all()[:9]:
        button.click()
    page.locator(".inspector h4").nth(17).wait_for()
    assert errors == []

"""The rating page in a real browser, served by the program: people at keys and screens, and a server that dies."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from playwright.sync_api import Browser, Page, sync_playwright

import penchant as pc
from answers import Answer
from browsers import AXE, CHROMIUM, FLAGS, violations
from penchant.tables.rows import read_rows
from rating_client import Served

pytestmark = pytest.mark.whole
SENTENCES = """\
id,text,expected,group
e1,The old [MASK] saw the dog.,-1,early
e2,He gave the [MASK] a book.,-1,early
m1,The keys to the cabinet are on the [MASK].,1,modern
m2,She went to the [MASK].,1,modern
"""
PAIRS = [("The cats sleep.", "The cats sleeps."), ("القطط تنام", "القطط ينام"), ("She sings.", "She sing.")]


PARTS = """[...document.querySelectorAll("body *")]
  .map((part) => [part.tagName, part.className, part.lang, getComputedStyle(part).direction]).join(" ")"""
"""A script that lists the elements of a page, without its words."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    running: list[Served] = []

    def start(*arguments: object) -> Served:
        running.append(Served([str(argument) for argument in arguments], tmp_path).start())
        return running[-1]

    yield start
    for each in running:
        each.stop(signal.SIGKILL)


def opened(browser: Browser, link: str, **how: Any) -> Page:
    page = browser.new_context(**how).new_page()
    page.set_default_timeout(20_000)
    page.goto(link)
    return page


def word_of(page: Page) -> str:
    return str(page.locator(".sentence mark").inner_text())


def moved(page: Page, act: Callable[[], object]) -> None:
    """Do something that leads to another page."""
    with page.expect_navigation():
        act()


@pytest.fixture
def predicted(penchant: Callable[..., Answer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A result directory of cloze with words that nobody rated, and its study."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "set.yaml").write_text("language: en\nscale: {low: early, high: modern}\n")
    (tmp_path / "mine" / "sentences.csv").write_text(SENTENCES)
    write_study(tmp_path)
    code, _, err = penchant("run", "study.yaml", "-o", "first")
    assert code == 0, err
    return tmp_path


def write_study(folder: Path, **more: Any) -> None:
    probe = {"cloze": {"data": "mine", "k": 3, "resamples": 100, "draws": 10, **more}}
    content = {"study": "words", "models": ["bundled:modern"], "probes": [probe]}
    (folder / "study.yaml").write_text(yaml.safe_dump(content))


def test_two_raters_an_owner_and_a_server_that_is_killed(
    penchant: Callable[..., Answer], predicted: Path, serve: Callable[..., Served], browser: Browser
) -> None:
    """Anna has keys only, Ben a telephone without scripts. What was confirmed before the server was killed is there
    after it, once, and reaches β and δ."""
    served = serve("first", "-o", "said.sqlite", "--raters", "anna,ben", "--repeat", "10%", "--breaks", "6")
    anna = opened(browser, served.links["anna"])
    ben = opened(
        browser, served.links["ben"], viewport={"width": 390, "height": 844}, has_touch=True, java_script_enabled=False
    )
    owner = opened(browser, served.links["owner"], color_scheme="dark")
    moved(anna, lambda: anna.keyboard.press("Enter"))
    moved(ben, lambda: ben.locator("#go").tap())
    assert ben.evaluate("document.documentElement.scrollWidth") <= 390
    total = int(anna.locator("progress").get_attribute("max") or 0)
    confirmed: dict[str, dict[str, float]] = {"anna": {}, "ben": {}}
    values = (-1.0, -0.5, 0.0, 0.5, 1.0)

    def by_key(n: int) -> None:
        word = word_of(anna)
        text = anna.locator(".sentence").inner_text()
        moved(anna, lambda: anna.keyboard.press(str(n % 5 + 1)))
        if anna.url.endswith("/break"):
            moved(anna, lambda: anna.keyboard.press("Enter"))
        confirmed["anna"].setdefault(f"{text}|{word}", values[n % 5])

    def by_touch(n: int) -> None:
        word = word_of(ben)
        text = ben.locator(".sentence").inner_text()
        moved(ben, lambda: ben.locator(".point").nth((n + n % 2) % 5).tap())
        if ben.url.endswith("/break"):
            moved(ben, lambda: ben.locator("#go").tap())
        confirmed["ben"].setdefault(f"{text}|{word}", values[(n + n % 2) % 5])

    for n in range(4):
        by_key(n)
        by_touch(n)
    served.stop(signal.SIGKILL)
    anna.keyboard.press("1")  # nobody answers
    served.start()
    moved(owner, lambda: owner.goto(served.links["owner"]))
    assert f"4 of {total}" in owner.locator("table").first.inner_text()
    for page in (anna, ben):
        moved(page, lambda page=page: page.goto(served.links["anna" if page is anna else "ben"]))  # type: ignore[misc]
    moved(anna, lambda: anna.keyboard.press("Enter"))
    moved(ben, lambda: ben.locator("#go").tap())
    for n in range(4, total):
        by_key(n)
        by_touch(n)
    for page in (anna, ben):
        assert "Thank you" in page.locator("h1").inner_text()
    owner.reload()
    shown = owner.locator("main").inner_text()
    assert f"{total} of {total}" in shown
    assert anna.locator(".code").inner_text() in shown
    assert owner.locator(".dispute").count() > 0
    served.stop()

    rows = [row.values for row in read_rows(predicted / "said.sqlite")]
    for name, expected in confirmed.items():
        own = [row for row in rows if row["rater"] == name]
        assert len(own) == len(expected)
        assert sorted(float(str(row["rating"])) for row in own) == sorted(expected.values())

    code, out, err = penchant("ratings", "agreement", "said.sqlite")
    assert code == 0, err
    (alpha,) = [line for line in shown.splitlines() if line.startswith("Krippendorff")]
    told = alpha.split(": ")[1].split(" ")
    printed = next(line for line in out.splitlines() if "Krippendorff's alpha" in line and "0." in line)
    assert f"{float(printed.split('(ordinal)')[1].split()[0]):.2f}" == told[0]
    (raw,) = [line for line in shown.splitlines() if line.startswith("Raw agreement")]
    printed = next(line for line in out.splitlines() if "raw agreement" in line)
    assert f"{100 * float(printed.split('agreement')[1].split()[0]):.0f} %" in raw

    code, _, err = penchant("ratings", "import", "first", "said.sqlite", "--into", "ratings.csv")
    assert code == 0, err
    found = {}
    for name in ("said.sqlite", "ratings.csv"):
        write_study(predicted, ratings=name)
        code, _, err = penchant("run", "study.yaml", "-o", name.partition(".")[0] + "-out")
        assert code == 0, err
        (file,) = (predicted / (name.partition(".")[0] + "-out")).rglob("summary.parquet")
        found[name] = pl.read_parquet(file).drop("signature")
    assert found["said.sqlite"].equals(found["ratings.csv"], null_equal=True)
    raters = found["said.sqlite"].filter(measure="mean β, for other raters too")
    assert raters["low"].is_finite().any()


def test_pages_are_accessible_and_fit(serve: Callable[..., Served], browser: Browser, tmp_path: Path) -> None:
    if not AXE.exists():
        pytest.skip(f"no axe-core at {AXE}")
    pl.DataFrame(PAIRS, schema=["good", "bad"], orient="row").write_csv(tmp_path / "p.csv")
    pl.DataFrame({"good": ["It is."], "bad": ["It are."], "why": ["Because."]}).write_csv(tmp_path / "practice.csv")
    served = serve(
        "p.csv", "-o", "r.sqlite", "--raters", "anna,ben", "--open", 1, "--practice", "practice.csv", "--breaks", 2
    )
    for scheme in ("light", "dark"):
        link = served.links["anna" if scheme == "light" else "ben"]
        page = browser.new_context(color_scheme=scheme, bypass_csp=True).new_page()
        troubles: list[str] = []
        page.on("pageerror", lambda error, troubles=troubles: troubles.append(str(error)))
        seen: set[str] = set()
        audited: set[str] = set()

        def look(page: Page = page, seen: set[str] = seen, audited: set[str] = audited) -> None:
            seen.add(page.url.rpartition("/")[2])
            parts = page.evaluate(PARTS)
            if parts not in audited:  # another question is the same page with other words in it
                audited.add(parts)
                assert violations(page) == [], page.url
            assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]

        page.goto(link)
        look()
        moved(page, lambda page=page: page.locator("#go").click())  # type: ignore[misc]
        while "Thank you" not in page.locator("h1").inner_text():
            look()
            press = page.locator("#go, .side").nth(0 if scheme == "light" else -1)  # so that the raters disagree
            moved(page, lambda press=press: press.click())  # type: ignore[misc]
        look()
        assert {"item", "break", "done", ""} <= seen
        for name in (next(name for name in served.links if "anybody" in name), "owner"):
            page.goto(served.links[name])
            look()
        assert (page.locator(".dispute").count() > 0) == (scheme == "dark")
        page.goto(served.links["owner"].rpartition("/")[0] + "/nobody")
        look()
        assert troubles == []


def test_one_page_without_a_server(penchant: Callable[..., Answer], browser: Browser, tmp_path: Path) -> None:
    pl.DataFrame(PAIRS, schema=["good", "bad"], orient="row").write_csv(tmp_path / "p.csv")
    asked = ("rate", "p.csv", "-o", "r.sqlite", "--raters", "anna,<b>ben", "--repeat", "34%")
    code, out, err = penchant(*asked, "--html", "pages")
    assert code == 0, err
    assert len(out.splitlines()) == 2
    page = browser.new_context(offline=True, viewport={"width": 390, "height": 844}).new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto((tmp_path / "pages" / "anna.html").as_uri())
    page.locator("#begin").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("u")
    chosen: dict[str, str] = {}
    for n in range(3):
        texts = [bdi.inner_text() for bdi in page.locator(".side bdi").all()]
        good = next(text for text in texts if text in dict(PAIRS))
        chosen.setdefault(good, "good" if texts[n % 2] == good else "bad")
        page.keyboard.press("ArrowRight" if n % 2 else "ArrowLeft")
    page.reload()  # the browser kept it
    assert "Continue: 3 of 4 done" in page.locator("#begin").inner_text()
    page.locator("#begin").click()
    page.keyboard.press("s")
    page.keyboard.press("Enter")
    assert "Thank you" in page.locator("h1:visible").inner_text()
    with page.expect_download() as download:
        page.locator("#save").click()
    download.value.save_as(tmp_path / "anna.json")
    assert troubles == []
    counted = {str(row.values["good"]): str(row.values["choice"]) for row in read_rows(tmp_path / "anna.json")}
    assert counted.items() <= chosen.items()
    assert len(counted) >= 2

    for new, known in ((4, 0), (0, 4)):
        code, _, err = penchant(*asked, "--returned", "anna.json")
        assert code == 0, err
        assert f"{new} new answers of anna, {known} already known" in err
    assert {row.values["good"]: row.values["choice"] for row in read_rows(tmp_path / "r.sqlite")} == counted
    changed = json.loads((tmp_path / "anna.json").read_text("utf-8"))
    changed[0]["penchant journal"]["n"] = 2
    (tmp_path / "forged.json").write_text(json.dumps(changed))
    for name, told in (
        ("forged.json", "by the rating page of another database"),
        ("p.csv", "was not saved by a rater's page"),
    ):
        code, _, err = penchant(*asked, "--returned", name)
        assert code == 2
        assert told in err


def test_a_survey_of_ones_own(serve: Callable[..., Served], browser: Browser, tmp_path: Path) -> None:
    """Statements that people agree with on the page are the survey that a model is held against."""
    served = serve("political-values-en", "-o", "survey.sqlite", "--raters", "a,b", "--breaks", "0", "--repeat", "0")
    for name, key in (("a", "5"), ("b", "2")):
        page = opened(browser, served.links[name])
        moved(page, lambda page=page: page.locator("#go").click())  # type: ignore[misc]
        for _ in range(4):
            moved(page, lambda page=page, key=key: page.keyboard.press(key))  # type: ignore[misc]
    served.stop()
    rows = [row.values for row in read_rows(tmp_path / "survey.sqlite")]
    assert [row["rater"] for row in rows] == ["a", "b"]
    survey = pc.read_survey(tmp_path / "survey.sqlite", [name for name in rows[0] if name != "rater"])
    assert survey.read == 2
    answers = survey.answers.drop("").row(0)
    assert sorted(answer for answer in answers if answer is not None) == [5.0] * 4

"""The documentation as a site: pages have a description and a place, links hold, and what is built opens from disk."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from html.parser import HTMLParser
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest

import penchant as pc
import penchant.instrument
from browsers import AXE, CHROMIUM, FLAGS, violations
from paths import ROOT
from penchant.instruments.registry import instruments

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not path.name.endswith(".template.md"))
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))
OTHERS = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md")]
WIDTHS = (1280, 390)

needs_sphinx = pytest.mark.skipif(
    not all(map(find_spec, ("sphinx", "furo", "myst_nb", "sphinx_design", "sphinx_copybutton"))),
    reason="Sphinx or one of its extensions is not installed (extra docs)",
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or not find_spec("playwright"), reason="Chromium or Playwright is not installed"
)


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


def without_code(text: str) -> str:
    return re.sub(r"^(`{3,}|~{3,}).*?^\1`*$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page as GitHub and MyST make them of its headings."""
    text = re.sub(r"^(`{3,}).*?^\1`*$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    found: dict[str, int] = {}
    made = set()
    for heading in re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        made.add(f"{slug}-{found[slug]}" if slug in found else slug)
        found[slug] = found.get(slug, 0) + 1
    return made


def sidebar() -> list[str]:
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", (DOCS / "index.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    return [re.sub(r".*<(.*)>", r"\1", line) for line in lines]


def description(page: Path) -> str:
    """The description in the head of a page, or in the metadata of a notebook."""
    text = page.read_text("utf-8")
    if page.suffix == ".ipynb":
        return str(json.loads(text)["metadata"]["myst"]["html_meta"]["description"])
    found = re.match(r'---\nmyst:\n  html_meta:\n    description: "([^"\n]+)"\n---\n', text)
    assert found, f"{page.name} has no description"
    return found[1]


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=name_of)
def test_every_page_has_a_description_of_one_line(page: Path) -> None:
    found = description(page)
    assert 20 <= len(found) <= 200 and found.endswith((".", "?")) and "\n" not in found


def test_descriptions_are_all_different() -> None:
    found = [description(page) for page in (*PAGES, *NOTEBOOKS)]
    assert len(set(found)) == len(found)


def test_every_page_has_one_place_in_the_sidebar() -> None:
    patterns = sidebar()
    places = {name_of(page): [p for p in patterns if fnmatch(name_of(page), p)] for page in (*PAGES, *NOTEBOOKS)}
    assert {name for name, found in places.items() if len(found) != 1} == {"index"}
    assert all((DOCS / f"{pattern}.md").is_file() for pattern in patterns if "*" not in pattern)


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_anchors_of_a_page_hold(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text("utf-8")))
    for link in links:
        path, _, anchor = link.partition("#")
        if not re.match(r"\w+:", link):
            target = (page.parent / unquote(path)).resolve() if path else page
            assert target.exists(), f"{page.name} links {link}"
            assert not anchor or target.suffix != ".md" or anchor in anchors(target), f"{page.name} links {link}"


@pytest.mark.parametrize(
    ("module", "call", "page"),
    [
        ("make_commands", "page", "commands.md"),
        ("make_catalogue", "instruments_page", "instruments.md"),
        ("make_catalogue", "data_page", "data-sets.md"),
        ("make_cite", "page", "cite.md"),
    ],
)
def test_a_generated_page_is_up_to_date(module: str, call: str, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    made: Any = import_module(module)
    assert (DOCS / page).read_text("utf-8") == getattr(made, call)()


def test_every_instrument_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    made: Any = import_module("make_catalogue")
    assert set(made.GUIDES) == set(instruments())


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    named = re.findall(r"^\.\. auto\w+:: (penchant\S*)\.(\w+)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)
    assert len(set(named)) == len(named)
    assert set(pc.__all__) - {"__version__"} == {name for module, name in named if module == "penchant"}
    assert set(penchant.instrument.__all__) <= {name for _, name in named}
    assert ("penchant.testing", "conform") in named


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with every warning an error."""
    place = tmp_path_factory.mktemp("site")
    command = [str(ROOT / "scripts" / "site"), str(place), sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return place


class Found(HTMLParser):
    """The links, the sources and the anchors of a built page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


@pytest.mark.slow
@needs_sphinx
def test_links_and_anchors_of_what_was_built_hold(site: Path) -> None:
    found = {page: Found(page) for page in site.rglob("*.html")}
    assert len(found) > len(PAGES) + len(NOTEBOOKS)
    for page, of_page in found.items():
        for link in of_page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme in ("http", "https", "data"), link
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.exists(), f"{page.name}: {link}"
            assert not parts.fragment or target.suffix != ".html" or unquote(parts.fragment) in found[target].anchors, (
                link
            )


@pytest.mark.slow
@needs_sphinx
def test_no_page_is_downloaded_as_its_source(site: Path) -> None:
    pages = {page.name for page in PAGES}
    assert [file for file in site.glob("_downloads/*/*.md") if file.name in pages] == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


def opened(browser: Browser, url: str, faults: list[str], scheme: Any = "light") -> Page:
    """A page, and in `faults` what it says to the console and asks of the network."""
    page = browser.new_page(color_scheme=scheme)
    page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else faults.append(asked.url))
    page.goto(url)
    return page


@pytest.mark.slow
@needs_sphinx
@needs_chromium
@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=name_of)
def test_a_page_is_sound_at_both_widths(browser: Browser, site: Path, page: Path) -> None:
    faults: list[str] = []
    shown = opened(browser, f"file://{site}/{name_of(page)}.html", faults)
    for width in WIDTHS:
        shown.set_viewport_size({"width": width, "height": 844})
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert faults == []
    if not AXE.is_file():
        pytest.skip(f"axe-core is not in {AXE}")
    assert violations(shown) == []
    shown.close()


@pytest.mark.slow
@needs_sphinx
@needs_chromium
@pytest.mark.parametrize("name", ["index", "pairs", "api", "commands", "faq"])
def test_colours_in_the_dark_are_sound(browser: Browser, site: Path, name: str) -> None:
    if not AXE.is_file():
        pytest.skip(f"axe-core is not in {AXE}")
    shown = opened(browser, f"file://{site}/{name}.html", [], "dark")
    assert violations(shown, colours=True) == []
    shown.close()


@pytest.mark.slow
@needs_sphinx
@needs_chromium
@pytest.mark.parametrize(
    ("query", "page"),
    [("Holm", "pairs"), ("StereoSet", "bias"), ("chat template", "chat"), ("which normalisation", "pairs")],
)
def test_the_search_finds_it_from_disk(browser: Browser, site: Path, query: str, page: str) -> None:
    faults: list[str] = []
    shown = opened(browser, f"file://{site}/search.html?q={query.replace(' ', '+')}", faults)
    shown.wait_for_selector("#search-results ul.search li a")
    shown.wait_for_function("!document.querySelector('#search-results h2').textContent.includes('Searching')")
    found = shown.eval_on_selector_all("#search-results ul.search li a", "links => links.map((a) => a.href)")
    assert f"{page}.html" in {urlsplit(link).path.rsplit("/", 1)[-1] for link in found}
    assert faults == []
    shown.close()

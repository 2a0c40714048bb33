"""The instrument that docs/new-instrument.md builds, installed as a package and run through every command."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import penchant as pc
from answers import Answer, refused
from paths import ROOT
from penchant.instruments import registry
from penchant.report.references import common_references
from penchant.testing import conform

Program = Callable[..., Answer]
GUIDE = ROOT / "docs" / "new-instrument.md"
FILES = re.findall(r"<!-- (\S+) -->\n```\w+\n(.*?)```\n", GUIDE.read_text("utf-8"), re.DOTALL)
MODELS = ("bundled:modern", "bundled:early-modern")


def install(folder: Path, site: Path) -> None:
    """Install a package from its folder, without a network and apart from everything else."""
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", "-q", *offline, "--target", str(site), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the guide's package is installed, beside several broken ones."""
    home = tmp_path_factory.mktemp("packages")
    install(write(home / "variants", dict(FILES)), home / "site")
    metadata = "Metadata-Version: 2.1\nName: broken\nVersion: 1\n"
    points = (
        "raises = broken_raises:X\nmissing = broken_nowhere:X\nwrong = broken_wrong:X\n"
        "misnamed = penchant_variants:VARIANTS\ncloze = penchant.instruments.cloze.instrument:CLOZE\n"
    )
    mistakes = "".join(f"{name} = broken_{name}:VARIANTS\n" for name in MISTAKES)
    for name in MISTAKES:
        write(home / "mistakes", mistaken(name, home))
    write(
        home / "mistakes",
        {
            "mistakes-1.dist-info/METADATA": metadata.replace("broken", "mistakes"),
            "mistakes-1.dist-info/entry_points.txt": f"[penchant.instruments]\n{mistakes}",
        },
    )
    broken = {
        "broken-1.dist-info/METADATA": metadata,
        "broken-1.dist-info/entry_points.txt": f"[penchant.instruments]\n{points}",
        "broken_raises.py": "raise RuntimeError('nothing\\nworks')\n",
        "broken_wrong.py": "X = 'not an instrument'\n",
    }
    write(home / "site", broken)
    return home / "site"


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process with the packages, as a fresh one would find them."""
    monkeypatch.syspath_prepend(site)
    registry.forget()
    yield
    registry.forget()


CONTRAST = '__import__("penchant.instrument").instrument.Contrast("m", "score_first", "kind", ("copula", "man"))'
MISTAKES = {
    "list": ('return {"first"', 'return [0]  # {"first"', "in texts_of, "),
    "key": ("before, first, second, after = _VARIANTS", 'before, first, second, after = {}["x"]  # ', "in sentences, "),
    "role": ('("first", "second"), by', '("first", "third"), by', "broken_role/__init__.py: measure 'preference"),
    "column": ('by="kind"', 'by="sort"', "'sort'"),
    "level": ("Mean(", 'Mean("m", "nothing"), Mean(', "'nothing'"),
    "type": ("row = VariantRow", "row = 3", "broken_type/__init__.py, line "),
    "side": ("measures = (", f"measures = ({CONTRAST}, ", "contrasts 'man'"),
    "words": ("title: Variants", "titel: Variants", "text.yaml, field 'titel'"),
    "claim": ("title: Variants", "title: Variants\nclaims: {most: {}}", "text.yaml, field 'claims.most'"),
    "finding": ("  methods:", "  finding: {}\n  methods:", "text.yaml, field 'prose.finding'"),
    "margin": ('by="kind"', 'by="kind", margin=0', "broken_margin/__init__.py: the margin of measure 'preference"),
    "text": ("title: Variants", "title: Variants\nquestions: {", "text.yaml"),
    "fact": ("items|length", "itemz|length", "text.yaml, field 'prose.methods': 'itemz' is undefined"),
    "shape": ("  methods:", "  methods: 3\n  others:", "text.yaml"),
}
"""Mistakes of an author in the files of the guide, and what is told of them besides the instrument or its file."""


def mistaken(name: str, home: Path) -> dict[str, str]:
    """The guide's package with a mistake, under a name of its own."""
    old, new, _ = MISTAKES[name]
    files = {path.removeprefix("penchant_variants/"): text for path, text in FILES if path.startswith("penchant_")}
    assert sum(old in text for text in files.values()) == 1
    return {
        f"broken_{name}/{path.replace('variants.yaml', f'{name}.yaml')}": text.replace(old, new)
        .replace('= "variants"', f'= "{name}"')
        .replace("- variants:", f"- {name}:")
        for path, text in files.items()
    }


LEFT_OUT = {
    "cloze": "another instrument has that name",
    "misnamed": "its probe is not called 'misnamed'",
    "missing": "ModuleNotFoundError: No module named 'broken_nowhere'",
    "raises": "RuntimeError: nothing works",
    "wrong": "it is a str, not an Instrument",
}
NOTES = re.compile(
    "".join(
        rf"note: instrument '{name}' of broken is left out: {re.escape(why)}( — \S+, line 1)?\n"
        for name, why in LEFT_OUT.items()
    )
)


@pytest.mark.usefixtures("installed")
def test_it_goes_through_every_command_like_ours(penchant: Program, tmp_path: Path) -> None:
    code, out, err = penchant("list", "probes")
    assert code == 0 and NOTES.fullmatch(err)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["penchant.instruments"]
    ours = sorted(declared)
    assert [line.split()[0] for line in out.splitlines()] == [*ours, "variants"]
    assert "table of variants" in penchant("list", "data")[1]
    schema = json.loads(penchant("schema", "variants")[1])
    assert schema["table"]["properties"]["kind"]["description"] == "What the variants differ in, such as contraction."
    probes = json.loads(penchant("schema")[1])["properties"]["probes"]["items"]["properties"]
    assert probes["variants"]["properties"]["data"]["description"].startswith(
        "One or more tables with one row per item"
    )
    assert penchant("init", "variants", "mystudy")[1] == "mystudy/variants.csv\nmystudy/variants.yaml\n"
    code, out, err = penchant("run", "mystudy/variants.yaml", "-o", "out", "--full")
    assert code == 0, err
    assert "Preference for the first variant by kind" in out and "Differences between models" in out
    assert NOTES.search(err)
    html = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Labov" in html and "t test over sentences" in html
    before = (tmp_path / "out" / "report.html").read_bytes()
    assert penchant("report", "out")[0] == 0
    found = [
        verdict
        for section in pc.open("out").document().sections
        for each in section.answers()
        for verdict in each.verdicts
    ]
    kinds = {(verdict.claim, verdict.place): verdict.kind for verdict in found}
    assert [*kinds] == [("overall", ""), ("levels", "negation"), ("levels", "copula"), ("more", "")]
    assert {*kinds.values()} == {"cannot tell"}  # five sentences
    assert (tmp_path / "out" / "report.html").read_bytes() == before
    for form, name in (
        ("latex", "references.bib"),
        ("csv", "variants-preference-for-the-first-variant.csv"),
        ("figures", "variants-preference-for-the-first-variant.svg"),
    ):
        assert penchant("export", "out", "--to", form)[0] == 0
        assert (tmp_path / "out" / form / name).stat().st_size
    assert "@article{labov1969," in (tmp_path / "out" / "latex" / "references.bib").read_text("utf-8")
    # Nothing is done twice.
    assert penchant("run", "mystudy/variants.yaml", "-o", "out", "--resume")[0] == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert [len(attempt["units"]) for attempt in manifest["attempts"]] == [2, 0]


def test_its_files_would_be_taken_into_the_house(tmp_path: Path) -> None:
    folder = write(tmp_path, dict(FILES))
    for command in (["check", "--no-cache"], ["format", "--check", "--no-cache"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--config", str(ROOT / "pyproject.toml"), str(folder)]
        done = subprocess.run(ruff, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.usefixtures("installed")
def test_it_conforms() -> None:
    conform(registry.instruments()["variants"])


@pytest.mark.usefixtures("installed")
def test_its_numbers_are_those_of_the_scores(penchant: Program, tmp_path: Path) -> None:
    assert penchant("init", "variants")[0] == 0
    assert penchant("run", "variants.yaml", "-o", "out")[0] == 0
    written = pl.read_csv(tmp_path / "variants.csv")["text"]
    sides = [[re.sub(r"\[(.*?)\|(.*?)\]", rf"\{side}", text) for text in written] for side in (1, 2)]
    for model in MODELS:
        lm = pc.load(model)
        assert isinstance(lm, pc.LanguageModel)
        first, second = (pc.score(lm, texts)["score"] for texts in sides)
        result = pc.Result.load(tmp_path / "out" / "variants" / model.replace(":", "_"))
        (whole,) = result.summary.filter(kind="all").to_dicts()
        assert whole["value"] == pytest.approx((first - second).mean(), abs=1e-4)
        assert (whole["n"], set(result.charts())) == (5, {"preference-for-the-first-variant"})
        assert str(result.signature).startswith(
            f"penchant:{pc.__version__}|probe:variants|model:{model}|data:variants#"
        )
        assert "Labov" not in result._repr_html_() or "1969" in result._repr_html_()


@pytest.mark.usefixtures("installed")
def test_mistakes_are_one_line_with_file_line_and_field(penchant: Program, tmp_path: Path) -> None:
    penchant("init", "variants")
    (tmp_path / "variants.csv").write_text("id,text,kind\na,She knows.,x\n", "utf-8")
    code, out, err = penchant("run", "variants.yaml", "-o", "out")
    assert (code, out) == (2, "")
    assert "variants.csv, line 2, field 'text': two variants stand once in brackets" in err
    assert not (tmp_path / "out").exists()


def test_a_mistake_of_an_author_is_told_with_its_place(
    penchant: Program, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {}
    with monkeypatch.context() as patch:
        patch.syspath_prepend(site.parent / "mistakes")
        registry.forget()
        for name, (*_, told) in MISTAKES.items():
            shutil.copytree(site.parent / "mistakes" / f"broken_{name}" / "template", tmp_path / name)
            code, _, err = penchant("run", f"{name}/{name}.yaml", "-m", "bundled:modern", "-o", f"{name}-out")
            lines = [each for each in err.splitlines() if f"'{name}'" in each or f"broken_{name}/" in each]
            if code not in (1, 2) or "internal error" in err or told not in "".join(lines[:1]):
                wrong[name] = (code, err)
    registry.forget()
    assert not wrong


@pytest.mark.usefixtures("installed")
def test_a_study_that_asks_for_a_broken_one_is_told_why(penchant: Program, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("study: s\nmodels: ['bundled:modern']\nprobes: [raises: {data: x}]\n", "utf-8")
    code, _, err = penchant("run", "s.yaml", "-o", "out")
    assert code == 2
    assert "s.yaml, line 3: probes.0: instrument 'raises' of broken is left out: RuntimeError: nothing works" in err


def test_a_result_of_a_package_that_is_gone_is_one_line(
    penchant: Program, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.syspath_prepend(site)
        registry.forget()
        assert penchant("init", "variants")[0] == 0
        assert penchant("run", "variants.yaml", "-m", "bundled:modern", "-o", "out")[0] == 0
    registry.forget()
    refused(penchant("report", "out"), "the probe of this result is not installed: unknown probe 'variants'")


def test_ours_are_declared_like_any_other() -> None:
    described = registry.instruments()
    assert registry.left_out() == ()
    for name, each in described.items():
        assert (each.name, each.probe.name) == (name, name)
        assert registry.template_files(each)
        assert registry.references(each)
    keys = [key for each in described.values() for key in registry.own_references(each)]
    shared = {key for key in keys if keys.count(key) > 1}
    folders = {
        key: {each.folder for each in described.values() if key in registry.own_references(each)} for key in shared
    }
    assert all(len(places) == 1 for places in folders.values())  # instruments of one folder share a file
    assert not set(keys) & set(common_references())

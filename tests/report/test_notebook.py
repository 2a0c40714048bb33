"""A notebook, run by a real Jupyter kernel: what its cells show is what the report says, and an error is one line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from paths import ROOT

pytestmark = pytest.mark.whole

CELLS = {
    "load": "import penchant as pc\nlm = pc.load('bundled:modern')\nlm",
    "result": "pairs = [('The cats sleep.', 'The cats sleeps.'), ('She sings.', 'She sing.'),\n"
    "         ('The dog runs.', 'The dog run.')]\n"
    "probe = pc.MinimalPairs(pairs, resamples=100)\n"
    "a = probe.run(lm)\na",
    "compared": "b = probe.run('bundled:early-modern')\npc.compare(a, b)",
    "charts": "a.charts()",
    "chart": "a.charts()['accuracy']",
    "misspelt": "pc.MinimalPairs(pairs, metod='lp')",
    "refused": "pc.MinimalPairs(pairs, level=2)",
    "several": "pc.read_pairs('bad.tsv')",
    "within": "def accuracy(table):\n    return pc.MinimalPairs(table, level=2)\n\n\n"
    "import pandas as pd\n"
    "pd.Series([1]).map(lambda one: accuracy(pairs))",
    "imported": "import mine\nmine.measured(lm)",
    "study": "pc.run({'study': 's', 'models': ['bundled:modern'],\n        'probes': [{'minimal-pair': {}}]}, 'out')",
    "unknown": "a.sumary",
    "bug": "1 / 0",
}
MINE = "import penchant as pc\n\n\ndef measured(lm):\n    return pc.MinimalPairs([('a', 'b'), ('c', '')]).run(lm)\n"
BAD = "good\tbad\nThe cat sleeps.\tThe cat sleep.\n\tHe sing.\nShe sings.\t\n"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[Any]]]:
    """The outputs of every cell, by its name."""
    home = tmp_path_factory.mktemp("notebook")
    (home / "bad.tsv").write_text(BAD, "utf-8")
    (home / "mine.py").write_text(MINE, "utf-8")
    v4: Any = nbformat.v4
    notebook = v4.new_notebook()
    notebook.cells = [v4.new_code_cell(source) for source in CELLS.values()]
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    folders = {"IPYTHONDIR": str(home), "JUPYTER_RUNTIME_DIR": str(home), "JUPYTER_CONFIG_DIR": str(home)}
    environment = {**os.environ, **folders, "PYTHONPATH": os.pathsep.join(paths)}
    client = NotebookClient(
        notebook, timeout=120, allow_errors=True, resources={"metadata": {"path": str(home)}}, kernel_name="python3"
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        client.execute()
    yield {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def data(outputs: list[Any]) -> Any:
    """Return the single output that a cell shows."""
    (output,) = outputs
    assert output.output_type == "execute_result", output
    return output.data


class Words(HTMLParser):
    """The words that a reader of some HTML sees."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.hidden = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.words += data.split()

    def __str__(self) -> str:
        return " ".join(self.words)


@pytest.mark.slow  # a kernel of its own; the tutorials run in kernels, too
def test_a_model_is_a_line(shown: dict[str, list[Any]]) -> None:
    assert data(shown["load"]) == {"text/plain": "<masked model bundled:modern: float32, up to 256 tokens>"}


def test_a_result_begins_with_answers(shown: dict[str, list[Any]]) -> None:
    found = data(shown["result"])
    assert found["text/plain"].startswith("<minimal-pairs with bundled:modern: 3 items, ")
    seen = str(Words(found["text/html"]))
    assert "Too few pairs to say whether bundled:modern prefers the acceptable sentence (3 pairs)." in seen[:400]
    assert found["text/html"].index('class="answers"') < found["text/html"].index("<table")
    assert "<script" not in found["text/html"]


def test_a_comparison_is_a_table(shown: dict[str, list[Any]]) -> None:
    found = data(shown["compared"])
    assert found["text/html"].count("<tr>") > 2 and "accuracy difference" in found["text/html"]


def test_charts_are_pictures(shown: dict[str, list[Any]]) -> None:
    found = data(shown["charts"])
    assert found["text/plain"].startswith("<charts: accuracy") and "\n" not in found["text/plain"]
    assert found["text/html"].count('<img src="data:image/svg+xml;base64,') == found["text/plain"].count(",") + 1
    assert any("vega" in kind or "vega" in str(content) for kind, content in data(shown["chart"]).items())


@pytest.mark.parametrize(
    ("cell", "lines"),
    [
        (
            "misspelt",
            [
                "line 1: pc.MinimalPairs(pairs, metod='lp')",
                "MethodError: MinimalPairs: unknown parameter 'metod' — did you mean method?",
            ],
        ),
        (
            "refused",
            [
                "line 1: pc.MinimalPairs(pairs, level=2)",
                "MethodError: MinimalPairs, level: input should be less than 1, got 2",
            ],
        ),
        (
            "several",
            [
                "line 1: pc.read_pairs('bad.tsv')",
                "DataError: bad.tsv, line 3, field 'good': ",
                "bad.tsv, line 4, field 'bad': ",
            ],
        ),
        (  # of the lines that led to it, those of the reader alone: not those of pandas in between
            "within",
            [
                "line 6: pd.Series([1]).map(lambda one: accuracy(pairs))",
                "line 6: pd.Series([1]).map(lambda one: accuracy(pairs))",
                "line 2: return pc.MinimalPairs(table, level=2)",
                "MethodError: MinimalPairs, level: input should be less than 1, got 2",
            ],
        ),
        (
            "imported",
            [
                "line 2: mine.measured(lm)",
                "HOME/mine.py, line 5: return pc.MinimalPairs([('a', 'b'), ('c', '')]).run(lm)",
                "DataError: the data, row 2 ('bad'): the field is blank",
            ],
        ),
        (
            "study",
            [
                "line 1: pc.run({'study': 's', ",
                "StudyError: study: probes.0: unknown probe 'minimal-pair' — did you mean",
            ],
        ),
        ("unknown", ["line 1: a.sumary", "UnknownNameError: a result: has no attribute 'sumary' — did you mean"]),
    ],
)
def test_an_error_is_the_readers_line_and_its_own(shown: dict[str, list[Any]], cell: str, lines: list[str]) -> None:
    (output,) = shown[cell]
    assert output.output_type == "error"
    told = [re.sub(r"^/\S+/mine", "HOME/mine", line) for line in "\n".join(output.traceback).splitlines()]
    assert len(told) == len(lines)
    assert all(line.startswith(start) for line, start in zip(told, lines, strict=True))
    assert "pydantic" not in "".join(told)


def test_a_mistake_of_the_reader_is_shown_as_ever(shown: dict[str, list[Any]]) -> None:
    (output,) = shown["bug"]
    assert (output.ename, len(output.traceback) > 1) == ("ZeroDivisionError", True)

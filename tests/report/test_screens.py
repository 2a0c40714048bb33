"""The finding and the headline table fit a terminal of 80 columns."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import penchant as pc
from answers import Answer
from penchant.cli.report import show
from penchant.report.sections import Document, StudySection
from penchant.report.tables import Number, ReportRow, ReportTable
from penchant.report.terminal import ROWS, headline, wrapped
from penchant.study.result_directories import read_outcome
from penchant.tables.data_paths import PACKAGE

Program = Callable[..., Answer]
ESTIMATE = Number(0.123, 0.012, 0.234, 60, "+.3f")
NAMES = tuple(f"number {i}" for i in range(6))


def table(rows: int, first: tuple[str, ...] = (), model: str = "model") -> ReportTable:
    lines = tuple(ReportRow(("blimp", f"{model}-{i}", *[ESTIMATE] * 6)) for i in range(rows))
    return ReportTable("t", "A title", ("data", "model", *NAMES), lines, "A note.", first=first)


def test_columns_that_fit_the_most_wanted_first() -> None:
    shown = headline(table(2, first=("number 4",)), 80).splitlines()
    assert shown[:2] == ["A title", "data: blimp"]
    assert shown[2].split("  ")[0] == "model"
    assert [name for name in NAMES if name in shown[2]] == ["number 0", "number 4"]
    assert shown[-1] == "Not shown here: number 1; number 2; number 3; number 5."
    assert len(shown) == 7


def test_one_row_says_what_it_is_about() -> None:
    assert "blimp  model-0" in headline(table(1), 80)


def test_many_rows_are_cut_and_counted() -> None:
    shown = headline(table(ROWS + 3), 80)
    assert "model-11" in shown and "model-12" not in shown
    assert "Not shown here: 3 more rows; " in shown


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(60, 200),
    st.integers(1, 20),
    st.lists(st.sampled_from(NAMES), max_size=3),
    st.text("abz-/模", min_size=1, max_size=120),
)
def test_it_fits_any_width_and_names_every_column(width: int, rows: int, first: list[str], model: str) -> None:
    text = headline(table(rows, first=tuple(first), model=model), width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert all(name in " ".join(text.split()) for name in NAMES)
    assert str(ESTIMATE) in text  # however long the names are, a number is shown


@given(st.integers(20, 120), st.lists(st.text("aß模е-/", min_size=1, max_size=150)), st.booleans())
def test_wrapped_text_fits_and_loses_nothing(width: int, words: list[str], whole: bool) -> None:
    lines = wrapped(" ".join(words), width, "note: ", whole=whole)
    assert "".join(line[6:].replace(" ", "") for line in lines) == "".join(words)
    assert bool(lines) == bool(words)
    for line in lines:
        assert line.startswith(("note: ", " " * 6)) and line == line.rstrip()
        assert cell_len(line) <= width or (whole and line[6:] in words)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rows = "".join(f"The cats sleep {w}.\tThe cats sleeps {w}.\tp{i % 3}\n" for i, w in enumerate("abcdefghijkl"))
    (tmp_path / "pairs.tsv").write_text("good\tbad\tgroup\n" + rows, "utf-8")
    models = "['bundled:modern', 'bundled:early-modern']"
    probe = "minimal-pairs: {data: pairs.tsv, resamples: 100}"
    (tmp_path / "s.yaml").write_text(f"study: s\nmodels: {models}\nprobes: [{{{probe}}}]\n", "utf-8")
    return tmp_path / "s.yaml"


def test_a_study_of_one_probe_and_two_models_fits_a_screen(penchant: Program, study: Path) -> None:
    code, out, err = penchant("run", study, "-o", "out")
    assert code == 0, err
    assert out.startswith("What was found\n- Pairs in which the acceptable sentence is more probable")
    assert "\n\nAccuracy in percent, all pairs\n" in out
    assert max(map(cell_len, out.splitlines())) <= 80
    assert len(out.splitlines()) + len(err.splitlines()) <= 40
    assert "all tables: penchant report out --full\n" in err
    full = penchant("report", "out", "--full")
    assert full[0] == 0
    assert len(full[1].splitlines()) > len(out.splitlines())
    assert "\nToken-length bias\n" in full[1] and "\nToken-length bias\n" not in out
    hidden = " ".join(out.split("\nMore tables: ")[1].split())
    document = read_outcome("out").document()
    titles = [table.title for section in document.sections for table in section.tables()]
    assert hidden == "; ".join(titles[1:]) + "."
    assert any(table.detail for section in document.sections for table in section.tables())
    assert [title for title in titles if f"{title}\n" not in full[1]] == []
    assert (
        "Accuracy in percent by paradigm; " in hidden and "Difference of accuracy between models by paradigm" in hidden
    )
    # The notebook begins with it too.
    html = pc.Result.load(next(study.parent.glob("out/minimal-pairs/bundled_modern")))._repr_html_()
    assert html.index("What was found") < html.index("<table")


@pytest.mark.whole
@pytest.mark.parametrize("width", [80, 100])
def test_no_line_is_wider_than_the_terminal(
    width: int, penchant: Program, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a model of a long name too, and with numbers for it; cautions are wrapped as the finding is."""
    name = "a-model-whose-name-is-longer-than-most-names-are-v0.3"
    shutil.copytree(PACKAGE / "bundled" / "modern", study.parent / name)
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = penchant("run", study, "-o", "out", "-m", "bundled:modern", "-m", study.parent / name)
    assert code == 0, err
    assert [line for line in f"{out}{err}".splitlines() if cell_len(line) > width] == []
    assert all("[" in line for line in out.split("\n\n")[1].splitlines() if re.match("none|mean|pen", line))
    cautions = {c for r in read_outcome("out").results.values() for c in r.cautions}
    assert any(len(caution) > width for caution in cautions)
    assert all(caution in " ".join(err.split()) for caution in cautions)


def test_five_cautions_and_how_many_more(capfd: pytest.CaptureFixture[str], penchant: Program, study: Path) -> None:
    from dataclasses import replace

    assert penchant("run", study, "-o", "out")[0] == 0
    (placed,) = read_outcome("out").document().sections
    cautions = tuple(f"caution {i}" for i in range(8))
    many: StudySection = replace(placed, results=[replace(result, cautions=cautions) for result in placed.results])
    capfd.readouterr()
    show(Document([many]))
    err = capfd.readouterr().err
    assert err.splitlines() == [
        *(f"note: caution {i}" for i in range(5)),
        "note: 3 more cautions are in the report, and shown by --full",
    ]
    show(Document([many]), full=True)
    assert len(capfd.readouterr().err.splitlines()) == 8  # the same of both models

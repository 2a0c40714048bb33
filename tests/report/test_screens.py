"""The answers and the headline table fit twelve lines of a terminal of 80 columns."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import penchant as pc
from answers import Answer
from penchant.cli.result_commands import LINES, show
from penchant.instruments.registry import placed as sections
from penchant.report.html_context import cautions
from penchant.report.sections import Document, StudySection
from penchant.report.tables import Number, ReportRow, ReportTable
from penchant.report.terminal import ROWS, _points, answered, headline, wrapped
from penchant.report.verdicts import Answer as Verdicts
from penchant.study.read_results import read_outcome
from penchant.tables.data_lookup import PACKAGE

Program = Callable[..., Answer]
ESTIMATE = Number(0.123, 0.012, 0.234, 60, "+.3f")
NAMES = tuple(f"number {i}" for i in range(6))
ROOM = 12


def table(rows: int, first: tuple[str, ...] = (), model: str = "model") -> ReportTable:
    lines = tuple(ReportRow(("blimp", f"{model}-{i}", *[ESTIMATE] * 6)) for i in range(rows))
    return ReportTable("t", "A title", ("data", "model", *NAMES), lines, "A note.", first=first)


def test_columns_that_fit_the_most_wanted_first() -> None:
    shown = headline(table(2, first=("number 4",)), 80, ROOM)
    assert shown[0] == "A title; data: blimp"
    assert shown[1].split("  ")[0] == "model"
    assert [name for name in NAMES if name in shown[1]] == ["number 0", "number 4"]
    assert len(shown) == 4


def test_one_row_says_what_it_is_about() -> None:
    assert "blimp  model-0" in headline(table(1), 80, ROOM)[2]


def test_many_rows_are_cut() -> None:
    shown = headline(table(ROWS + 3), 80, ROOM)
    assert [line.split()[0] for line in shown[2:]] == [f"model-{i}" for i in range(ROWS)]
    assert shown[0].endswith(f"{ROWS} of {ROWS + 3} rows")
    assert len(headline(table(ROWS + 3), 80, 4)) == 4
    assert headline(table(ROWS + 3), 80, 2) == []  # no room for a row


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(60, 200),
    st.integers(3, 40),
    st.integers(1, 20),
    st.lists(st.sampled_from(NAMES), max_size=3),
    st.text("abz-/模", min_size=1, max_size=120),
)
def test_it_fits_any_width_and_room(width: int, room: int, rows: int, first: list[str], model: str) -> None:
    shown = headline(table(rows, first=tuple(first), model=model), width, room)
    assert len(shown) <= room
    assert all(cell_len(line) <= width for line in shown)
    assert not shown or str(ESTIMATE) in "".join(shown)  # however long the names are, a number is shown
    assert shown or room < 12


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


def test_a_study_of_one_instrument_takes_twelve_lines(penchant: Program, study: Path) -> None:
    code, out, err = penchant("run", study, "-o", "out")
    assert code == 0, err
    (placed,) = read_outcome("out").document().sections
    sentences = [text for answer in placed.answers() for text in answer.sentences]
    assert out.startswith(f"- {sentences[0][:60]}")
    assert err.endswith("report: out/report.html\nnext: penchant report out --full\n")
    assert max(map(cell_len, f"{out}{err}".splitlines())) <= 80
    assert len(out.splitlines()) + len(err.splitlines()) <= LINES == 12
    code, whole, notes = penchant("report", "out", "--full")
    assert code == 0
    assert all(text in " ".join(whole.split()) for text in sentences)
    assert any(each.detail for each in placed.tables())
    assert [each.title for each in placed.tables() if f"{each.title}\n" not in whole] == []
    cautions = {caution for result in placed.results for caution in result.cautions}
    assert cautions and all(caution in " ".join(notes.split()) for caution in cautions)
    # The notebook begins with the answers too.
    html = pc.Result.load(next(study.parent.glob("out/minimal-pairs/bundled_modern")))._repr_html_()
    assert html.index('class="answers"') < html.index("<table")


def test_the_demo_takes_twelve_lines(penchant: Program) -> None:
    code, out, err = penchant("demo", "-o", "out")
    assert code == 0, err
    told = [line for line in err.splitlines() if not line.endswith(" left")]  # progress, on a busy machine
    assert len(out.splitlines()) + len(told) <= LINES
    assert max(map(cell_len, f"{out}{err}".splitlines())) <= 80
    assert out.startswith("- bundled:early-modern leans towards Early Modern English")
    assert "…" not in err


def answering(placed: StudySection, sentences: Sequence[str]) -> StudySection:
    answer = Verdicts("claim", "", list(sentences), ())
    return replace(placed, section=replace(placed.section, answers=lambda results, comparison: [answer]), remark="")


@pytest.fixture(scope="module")
def placed() -> StudySection:
    pairs = pc.MinimalPairs([("The cats sleep.", "The cats sleeps.")] * 6, resamples=100)
    (section,) = sections({("minimal-pairs", "m"): pairs.run("bundled:modern")}, {})
    return section


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.integers(60, 120),
    st.integers(6, 14),
    st.lists(st.text("ab ,:;[]()", min_size=1, max_size=200).map(lambda text: f"It is {text}."), max_size=9),
)
def test_answers_fit_any_width_and_room(placed: StudySection, width: int, room: int, sentences: list[str]) -> None:
    lines = answered(answering(placed, sentences), width, room, named=False)
    assert len(lines) <= room and all(cell_len(line) <= width for line in lines)
    whole = answered(answering(placed, sentences), width, named=False)
    assert lines == whole or len(whole) > room
    left = re.fullmatch(r"- (\d+) more answers?, shown by --full", lines[-1]) if lines else None
    shown = sum(line.startswith("- ") for line in lines) - bool(left)
    assert shown + (int(left[1]) if left else 0) == len(sentences)


def test_the_last_answers_are_cut_first_and_never_before_their_colon(placed: StudySection) -> None:
    long = "Both prefer it: a +0.123 [+0.012, +0.234], b +0.234 [+0.123, +0.345] (60 pairs each), as c"
    asked = answering(
        placed, [f"{long} does.", f"{long} does.", "A differs from B in all that was asked; 9 are needed."]
    )
    assert answered(asked, 60, 4, named=False) == [
        "- Both prefer it: a +0.123 [95% CI +0.012, +0.234], b +0.234",
        "  [+0.123, +0.345] (60 pairs each), as c does.",
        "- Both prefer it: a +0.123 [+0.012, +0.234] …",
        "- A differs from B in all that was asked; 9 are needed.",
    ]
    assert answered(asked, 60, 2, named=False) == [
        "- Both prefer it: a +0.123 [95% CI +0.012, +0.234] …",
        "- 2 more answers, shown by --full",
    ]


@pytest.mark.whole
@pytest.mark.parametrize("width", [80, 84])
def test_no_line_is_wider_than_the_terminal(
    width: int, penchant: Program, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a model of a long name too; cautions are wrapped as the answers are."""
    name = "a-model-whose-name-is-longer-than-most-names-are-v0.3"
    shutil.copytree(PACKAGE / "bundled" / "modern", study.parent / name)
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = penchant("run", study, "-o", "out", "-m", "bundled:modern", "-m", study.parent / name)
    assert code == 0, err
    assert [line for line in f"{out}{err}".splitlines() if cell_len(line) > width] == []
    cautions = {c for r in read_outcome("out").results.values() for c in r.cautions}
    assert any(len(caution) > width for caution in cautions)
    code, _, err = penchant("report", "out", "--full")
    assert code == 0
    assert [line for line in err.splitlines() if cell_len(line) > width] == []
    assert all(caution in " ".join(err.split()) for caution in cautions)


def test_the_first_sentences_of_two_cautions(capfd: pytest.CaptureFixture[str], placed: StudySection) -> None:
    cautions = (
        "Of 5 % of them (none). The rest follows",
        "all J. S. Bach 2. Not so",
        *(f"caution {i}" for i in range(6)),
    )
    asked = replace(answering(placed, ["Yes."]), results=[replace(each, cautions=cautions) for each in placed.results])
    many = replace(asked, results=[*asked.results, *asked.results])  # the same of both models
    capfd.readouterr()
    show(Document([many]))
    assert capfd.readouterr().err.splitlines() == ["note: Of 5 % of them (none)", "note: all J. S. Bach 2"]
    show(Document([many]), full=True)
    assert capfd.readouterr().err.splitlines() == [f"note: {caution}" for caution in cautions]


def test_models_share_the_first_sentence_of_a_caution(placed: StudySection) -> None:
    (one,) = placed.results
    other = replace(one, signature=one.signature.with_(model="other"), cautions=("x is so. Of 2, 1 is", "alone"))
    both = [replace(one, cautions=("x is so. Of 3, 1 is",)), other]
    assert cautions(both, brief=True) == ["x is so", "other: alone"]
    assert len(cautions(both)) == 3


def test_a_second_caution_needs_room(capfd: pytest.CaptureFixture[str], placed: StudySection) -> None:
    long = " ".join(["word"] * 30)
    asked = replace(placed, results=[replace(each, cautions=(long, f"other {long}")) for each in placed.results])
    capfd.readouterr()
    show(Document([asked]))
    assert "other" not in capfd.readouterr().err


def test_the_first_sentence_of_each_answer_is_cut_last() -> None:
    a, b, c, d = (f"It is so in {place}: " + "many words that say why, " * 6 + "and an end." for place in "abcd")
    lines = _points([[a, b, c], [d]], 60, 10)
    assert len(lines) == 10
    starts = [number for number, line in enumerate(lines) if line.startswith("- ")]
    points = [lines[a:b] for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]
    assert [point[-1].endswith("end.") for point in points] == [True, False, False, True]


@pytest.mark.parametrize(
    ("room", "middle"),
    [
        (4, ["- Length matters for A …"]),
        (5, ["- Length matters for A: in many cases and for many", "  reasons, by +0.123 [+0.012, +0.234] …"]),
        (6, ["  reasons, by +0.123 [+0.012, +0.234], here as well", "  as there, by −0.345 [−0.456, −0.234] …"]),
        (7, ["  as there, by −0.345 [−0.456, −0.234] (9 pairs", "  each)."]),
    ],
)
def test_each_answer_reaches_its_first_interval_before_another_sentence(room: int, middle: list[str]) -> None:
    """Sentences that would read alike are shown once, and no number without its interval."""
    sentences = [
        f"Length matters for A: in many cases and for many reasons, by +0.123 [+0.012, +0.234], {more}, by −0.345 "
        "[−0.456, −0.234] (9 pairs each)."
        for more in ("here as well as there", "elsewhere", "nowhere else")
    ]
    lines = _points([["A prefers it: 74.3% [56.2, 86.7]."], sentences, ["B differs: 0.1 [0.0, 0.2]."]], 52, room)
    assert lines[0] == "- A prefers it: 74.3% [56.2, 86.7]."
    assert lines[-2 - len(middle) :] == [*middle, "- B differs: 0.1 [0.0, 0.2].", "- 2 more answers, shown by --full"]

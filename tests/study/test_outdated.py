"""Reports and exports that were made of other results than stand in a directory now are told, with the command that
makes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

import penchant as pc
from answers import Answer
from builders import Program, succeeded, write, write_study

PAIRS = "good\tbad\tgroup\nThe cats sleep.\tThe cats sleeps.\ta\nShe sings.\tShe sing.\tb\nIt rained.\tIt rain.\tb\n"
OLD = "made from results that have changed since"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    write(tmp_path / "pairs.tsv", PAIRS)
    return write_study(
        tmp_path / "s.yaml", ["bundled:modern"], {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100}}
    )


def told(answer: Answer) -> str:
    return " ".join(succeeded(answer)[1].split())


def test_what_is_old_is_told_until_it_is_made_anew(
    penchant: Program, study: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert OLD not in told(penchant("run", study, "-o", "out"))
    for to in ("csv", "latex"):
        assert OLD not in told(penchant("export", "out", "--to", to))
    assert OLD not in told(penchant("export", "out", "--to", "csv", "--columns", "all", "-o", "out/paper"))
    assert OLD not in told(penchant("report", "out", "-o", "out/mine.html"))
    assert OLD not in told(penchant("run", study, "-o", "out", "--resume"))  # the same results

    more = told(penchant("run", study, "-m", "bundled:modern", "-m", "bundled:early-modern", "-o", "out", "--resume"))
    assert more.count(OLD) == 4 and "note: report.html" not in more  # it is made anew
    assert f"note: mine.html was {OLD}: recreate it with penchant report out -o out/mine.html" in more
    assert "recreate them with penchant export out --to csv" in more
    assert "recreate them with penchant export out --to latex" in more
    assert "recreate them with penchant export out --to csv --columns all -o out/paper" in more

    report = told(penchant("report", "out"))
    assert report.count(OLD) == 4
    assert told(penchant("export", "out", "--to", "latex")).count(OLD) == 3
    assert told(penchant("export", "out", "--to", "csv", "--columns", "all", "-o", "out/paper")).count(OLD) == 2
    pc.report("out", out="out/mine.html")
    assert capfd.readouterr().err.count(OLD) == 1
    pc.export("out", "csv")
    assert OLD not in capfd.readouterr().err
    assert OLD not in told(penchant("report", "out"))

    # Back to one model: the differences are not made any more, and their files are left.
    assert told(penchant("run", study, "-o", "out", "--resume")).count(OLD) == 4
    left = told(penchant("export", "out", "--to", "csv"))
    assert "minimal-pairs-differences.csv" in left.partition("note: csv: ")[2].partition("note: ")[0]
    assert "are no longer exported: remove them" in left


def test_a_comparison_and_what_says_nothing_are_left_alone(penchant: Program, study: Path) -> None:
    told(penchant("run", study, "-o", "out"))
    told(penchant("run", study, "-m", "bundled:early-modern", "-o", "other"))
    told(penchant("report", "out", "other", "-o", "out/both.html"))
    Path("out/notes.html").write_text("<p>mine</p>")
    Path("out/empty").mkdir()
    Path("out/csv").mkdir()
    Path("out/csv/.penchant-export.json").write_text('{"sha256": {"items.csv": "0"}}')  # as earlier versions wrote it
    assert OLD not in told(penchant("run", study, "-m", "bundled:modern", "-o", "out", "--resume"))
    assert OLD not in told(penchant("report", "out"))


def test_columns_that_some_instruments_lack_are_named(
    penchant: Program, study: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(study, study.read_text("utf-8") + "- cloze: {data: early-modern-60, resamples: 100}\n")
    told(penchant("run", study, "-o", "out"))
    said = told(penchant("export", "out", "--to", "latex", "--columns", "A=U,model"))
    assert "note: cloze has no column 'A=U'" in said and "minimal-pairs has no" not in said
    assert "has no column" not in told(penchant("export", "out", "--to", "latex", "--columns", "model"))
    pc.export("out", "latex", columns="A=U")
    said = " ".join(capfd.readouterr().err.split())
    assert "cloze has no column 'A=U', and none of its tables is written" in said

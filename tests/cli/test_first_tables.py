"""Tables that people bring and take away: ratings as raters return them, and exports that say what they hold."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest

import penchant as pc
from builders import Program, write, write_study
from penchant.report.tables import scaled


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small study, beside its results in "out"."""
    home = tmp_path_factory.mktemp("finished")
    write(home / "gaps.csv", "id,text,expected,group\na,The [MASK] is old.,1,m\nb,My [MASK] said.,1,m\n")
    verbs = enumerate(["sleep", "run", "eat"] * 4)
    rows = (f"The cats {verb} {i}.,The cats {verb}s {i}.,g{i % 2}\n" for i, verb in verbs)
    write(home / "pairs.csv", "good,bad,group\n" + "".join(rows))
    cloze = {"cloze": {"data": "gaps.csv", "resamples": 100, "draws": 10}}
    pairs = {"minimal-pairs": {"data": "pairs.csv", "resamples": 100}}
    study = write_study(home / "s.yaml", ["bundled:modern", "bundled:early-modern"], cloze, pairs)
    pc.run(study, home / "out", progress=False)
    return home


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """The results of a copy of the study."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


def ratings(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_returned_ratings_under_other_names_and_a_column_a_rater(penchant: Program, out: Path) -> None:
    folder = out.parent
    (folder / "long.csv").write_text("satz,wort,wer,note\na,king,anna,1\na,man,anna,\nb,king,ben,-1\n", "utf-8")
    names = ("--sentence", "satz", "--word", "wort", "--rater-column", "wer", "--rating", "note")
    code, _, err = penchant("ratings", "import", "out", "long.csv", "--into", "r.csv", *names)
    assert code == 0 and "long.csv: 3 rows, 2 rated, 1 left empty" in err
    expected = [
        {"sentence": "a", "word": "king", "rater": "anna", "rating": "1"},
        {"sentence": "b", "word": "king", "rater": "ben", "rating": "-1"},
    ]
    assert ratings(folder / "r.csv") == expected
    (folder / "wide.csv").write_text("sentence,word,anna,ben\na,king,1,\na,man,,\nb,king,,-1\n", "utf-8")
    wide = ("ratings", "import", "out", "wide.csv", "--into", "w.csv", "--rating", "anna", "--rating", "ben")
    code, _, err = penchant(*wide)
    assert code == 0 and "wide.csv: 6 cells, 2 rated, 4 left empty" in err
    assert ratings(folder / "w.csv") == expected
    code, _, err = penchant(*wide, "--rater", "cleo")
    assert code == 2 and "with several columns of ratings, the columns name the raters" in err
    code, _, err = penchant("ratings", "import", "out", "wide.csv", "--into", "x.csv")
    assert code == 2 and "there is no column 'rating'" in err and "--rating NAME" in err


def test_all_bad_files_are_told_at_once(penchant: Program, out: Path) -> None:
    folder = out.parent
    header = "sentence,word,rating\n"
    files = {"one.csv": "a,king,9\n", "two.csv": "a,king,1\n", "three.csv": "z,king,1\nb,man,much\n"}
    for name, text in files.items():
        (folder / name).write_text(header + text, "utf-8")
    (folder / "four.csv").write_text("sentence,word\na,king\n", "utf-8")
    (folder / "five.csv").write_text("", "utf-8")
    code, _, err = penchant("ratings", "import", "out", *files, "four.csv", "five.csv", "--into", "r.csv")
    told = " ".join(err.split())
    assert code == 2 and not (folder / "r.csv").exists()
    lines = ("one.csv, line 2", "three.csv, line 2", "three.csv, line 3")
    places = [told.index(part) for part in (*lines, "four.csv: there is no column", "five.csv: the")]
    assert places == sorted(places) and "two.csv" not in told


def test_an_export_has_an_index(penchant: Program, out: Path) -> None:
    code, stdout, err = penchant("export", "out", "--to", "csv")
    assert (
        code == 0
        and stdout.splitlines()[-1].endswith("index.csv")
        and "the tables and their columns are explained in" in err
    )
    index = ratings(out / "csv" / "index.csv")
    tables = {row["file"]: row for row in index if not row["column"]}
    written = {path.name for path in (out / "csv").glob("*.csv")} - {"index.csv"}
    assert set(tables) == written and all(row["meaning"] for row in tables.values())
    for name in written:
        table = ratings(out / "csv" / name)
        assert int(tables[name]["rows"]) == len(table)
        assert [row["column"] for row in index if row["file"] == name and row["column"]] == list(table[0])
    meanings = {row["column"]: row["meaning"] for row in index if row["file"] == "minimal-pairs-summary.csv"}
    assert meanings["p_holm"].startswith("the p-value adjusted") and "these groups" in meanings["scope"]
    assert penchant("export", "out", "--to", "csv")[0] == 0, "its own index is no foreign file"


def test_a_p_that_stands_alone_is_one_test(penchant: Program, out: Path) -> None:
    tables = [pl.read_parquet(path) for path in (*out.rglob("summary.parquet"), *out.rglob("comparison.parquet"))]
    tested = [(row["p"] is not None, row["tests"]) for table in tables for row in table.iter_rows(named=True)]
    assert {given for given, _ in tested} == {True, False}
    assert all((tests > 0) == given for given, tests in tested)
    assert not any(found for table in tables for found in table.select(cs.float().is_nan().any()).row(0))


@pytest.mark.parametrize(
    ("share", "percent"),
    [(0.275, 27.5), (-0.275, -27.5), (0.57, 57.0), (0.07, 7.0), (1e-9, 1e-7), (0.0, 0.0), (1.0, 100.0)],
)
def test_percent_are_the_digits_of_the_share(share: float, percent: float) -> None:
    assert scaled(share, 100) == percent and scaled(share, 1) == share
    assert repr(scaled(share, 100)) == repr(percent)
    assert 100 * 0.275 != 27.5, "what the product would be"
    assert scaled(float("nan"), 100) != scaled(float("nan"), 100) and scaled(float("inf"), 100) == float("inf")

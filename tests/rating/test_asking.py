"""From targets to tasks, through the command line: what is asked, what is refused, and how it comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import penchant as pc
from answers import Answer, refused
from penchant.errors import MethodError
from penchant.rating.asking import share
from penchant.rating.store import Store
from penchant.rating.tables import scale_points
from penchant.tables.rows import read_rows

Program = Callable[..., Answer]


@pytest.mark.parametrize(
    ("text", "values", "labels"),
    [
        ("1-7", [1, 2, 3, 4, 5, 6, 7], [""] * 7),
        ("0 - 2", [0, 1, 2], [""] * 3),
        ("1=bad,2,3=good", [1, 2, 3], ["bad", "", "good"]),
        ("−1=old, 0, 1=new", [-1, 0, 1], ["old", "", "new"]),
        ("no,perhaps,yes", [1, 2, 3], ["no", "perhaps", "yes"]),
    ],
)
def test_scales(text: str, values: list[float], labels: list[str]) -> None:
    points = scale_points(text)
    assert [point.value for point in points] == values
    assert [point.label for point in points] == labels


@pytest.mark.parametrize("text", ["", "1", "1-1", "7-1", "1-20", "1,1", "2=a,1=b", "1=a,b"])
def test_what_is_no_scale(text: str) -> None:
    with pytest.raises(MethodError, match="--scale"):
        scale_points(text)


def test_shares() -> None:
    assert [share(text) for text in ("5%", "0.05", "0", "100 %", "1")] == [0.05, 0.05, 0, 1, 1]
    for text in ("five", "-1", "101%", "5%x", ""):
        with pytest.raises(MethodError, match="is no share"):
            share(text)


def test_what_cannot_be_asked(penchant: Program, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,text\n1,A text.\n2,\n")
    (tmp_path / "p.csv").write_text("good,bad\nIt is.,It are.\n")
    (tmp_path / "practice.csv").write_text("text,right\nA.,9\n")
    to = ("-o", "r.sqlite", "--html", "pages", "--raters", "a")
    refused(penchant("rate", "nothing", *to), "nothing: is nothing that people can judge")
    refused(penchant("rate", "t.csv", *to), "the columns are 'id', 'text'")
    refused(penchant("rate", "t.csv", *to, "--column", "texts"), "there is no column 'texts'", "did you mean text")
    refused(penchant("rate", "t.csv", *to, "--column", "text"), "t.csv, line 3, field 'text': the text is blank")
    refused(penchant("rate", "p.csv", *to, "--scale", "1-5"), "name their column with --column")
    refused(penchant("rate", "p.csv", *to, "--task", "sentence"), "unknown task 'sentence'", "sentences")
    refused(penchant("rate", "p.csv", *to, "--repeat", "x"), "--repeat: 'x' is no share")
    refused(penchant("rate", "p.csv", "-o", "r.sqlite", "--public", "example.org"), "no address of a page")
    refused(penchant("rate", "p.csv", "-o", "t.csv", "--html", "pages"), "t.csv: is there already")
    ask = ("--task", "sentences", "--practice", "practice.csv")
    refused(penchant("rate", "p.csv", *to, *ask), "practice.csv, line 2, field 'right': '9' is no point of the scale")
    refused(penchant("rate", "p.csv", *to, "--instructions", "no.md"), "no.md: cannot be read")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.csv", "practice.csv", "t.csv"]


def test_a_port_that_is_taken_is_one_line(penchant: Program, tmp_path: Path) -> None:
    from penchant.rating.serving import listening

    (tmp_path / "p.csv").write_text("good,bad\nIt is.,It are.\n")
    with listening("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        refused(penchant("rate", "p.csv", "-o", "r.sqlite", "--port", port), f"port {port} of 127.0.0.1 is in use")


def answered(file: Path, value: Callable[[str, str], float | str]) -> None:
    """Have every rater of a database answer all items, by what is shown."""
    with Store.open(file) as store:
        for rater in store.raters():
            while (position := store.progress(rater).following) is not None:
                shown = store.showing(rater, position)
                assert shown is not None
                store.answer(rater, shown, value(rater.name, shown.question.text))


def test_a_table_comes_back_with_its_columns(penchant: Program, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,text,source\n1,One.,a\n2,Two.,b\n")
    asked = ("rate", "t.csv", "-o", "r.sqlite", "--raters", "x,y", "--column", "text", "--scale", "no,perhaps,yes")
    assert penchant(*asked, "--html", "pages")[0] == 0
    answered(tmp_path / "r.sqlite", lambda rater, text: 1.0 if (rater, text) == ("x", "One.") else 3.0)
    found = [row.values for row in read_rows(tmp_path / "r.sqlite")]
    assert found[0] == {"id": "1", "text": "One.", "source": "a", "rater": "x", "rating": 1.0}
    assert [row["rating"] for row in found] == [1.0, 3.0, 3.0, 3.0]


@pytest.mark.parametrize("task", ["choice", "sentences"])
def test_judgements_of_pairs_reach_a_study(penchant: Program, tmp_path: Path, task: str) -> None:
    """The database is the table that a minimal-pairs study names under `human`."""
    pairs = [
        (f"The {noun} sleeps.", f"The {noun} sleep.", str(n)) for n, noun in enumerate(("cat", "dog", "king", "man"))
    ]
    pl.DataFrame(pairs, schema=["good", "bad", "id"], orient="row").write_csv(tmp_path / "p.csv")
    asked = ("rate", "p.csv", "-o", "r.sqlite", "--raters", "x,y,z", "--task", task, "--repeat", "25%")
    assert penchant(*asked, "--html", "pages")[0] == 0

    def prefers(rater: str, text: str) -> float | str:
        good = text.endswith("sleeps.")
        if task == "choice":
            return "bad" if rater == "z" and "cat" in text else "good"
        return float(6 if good != (rater == "z" and "cat" in text) else 2)

    answered(tmp_path / "r.sqlite", prefers)
    found = pc.MinimalPairs(data="p.csv", human="r.sqlite", resamples=100).run("bundled:modern")
    assert found.items["human_n"].to_list() == [3] * 4
    expected = [1 / 3, 1, 1, 1] if task == "choice" else [(4 + 4 - 4) / 3, 4, 4, 4]
    assert found.items["human_good"].to_list() == pytest.approx([2 / 3, 1, 1, 1] if task == "choice" else expected)
    (tmp_path / "s.yaml").write_text(
        json.dumps(
            {
                "study": "s",
                "models": ["bundled:modern"],
                "probes": [{"minimal-pairs": {"data": ["p.csv"], "human": "r.sqlite", "resamples": 100}}],
            }
        )
    )
    code, out, err = penchant("run", "s.yaml", "-o", "out", "--full")
    assert code == 0, err
    assert "majority" in out

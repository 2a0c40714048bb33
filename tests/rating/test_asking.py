"""From targets to tasks, through the command line: what is asked, what is refused, and how it comes back."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import penchant as pc
from answers import Answer, refused
from builders import write_study
from penchant.errors import MethodError
from penchant.rating.judgement_store import Store
from penchant.rating.offline_page import JOURNAL
from penchant.rating.task_builder import scale_points, share
from penchant.tables.rows import read_rows
from rating_client import answer_all

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


@pytest.mark.parametrize(
    "text",
    [
        *("", "1", "1-1", "7-1", "1-20", "1,1", "2=a,1=b", "1=a,b", "\u00b9-\u00b3", "nan,1", "1=a,inf=b", "0,1e7"),
        *("1-1000000000", "1-" + "9" * 5000, "9" * 5000 + "-1", "1=a," + "9" * 5000 + "=b", "1," + "9" * 5000),
        *("no,no,yes", "no,No ,yes", "1=a,2=a", "no,n\u200bo,yes"),
    ],
)
def test_what_is_no_scale(text: str) -> None:
    with pytest.raises(MethodError, match="--scale"):
        scale_points(text)


def test_shares() -> None:
    assert [share(text) for text in ("5%", "0.05", "0", "100 %", "1")] == [0.05, 0.05, 0, 1, 1]
    for text in ("five", "-1", "101%", "5%x", "", "nan", "inf%", "9" * 5000):
        with pytest.raises(MethodError, match="is not a proportion"):
            share(text)


def test_what_cannot_be_asked(penchant: Program, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,text\n1,A text.\n2,\n")
    (tmp_path / "p.csv").write_text("good,bad\nIt is.,It are.\n")
    (tmp_path / "practice.csv").write_text("text,right\nA.,9\n")
    to = ("-o", "r.sqlite", "--html", "pages", "--raters", "a")
    refused(penchant("rate", "nothing", *to), "nothing: contains no items to rate")
    refused(penchant("rate", "t.csv", *to), "the columns are 'id', 'text'")
    refused(penchant("rate", "t.csv", *to, "--column", "texts"), "there is no column 'texts'", "did you mean text")
    refused(penchant("rate", "t.csv", *to, "--column", "text"), "t.csv, line 3, field 'text': the text is blank")
    refused(penchant("rate", "p.csv", *to, "--scale", "1-5"), "give the column of texts with --column")
    refused(penchant("rate", "p.csv", *to, "--task", "sentence"), "unknown task 'sentence'", "sentences")
    refused(penchant("rate", "p.csv", *to, "--repeat", "x"), "--repeat: 'x' is not a proportion")
    refused(penchant("rate", "p.csv", "-o", "r.sqlite", "--public", "example.org"), "is not a valid URL")
    refused(penchant("rate", "p.csv", "-o", "t.csv", "--html", "pages"), "t.csv: already exists")
    ask = ("--task", "sentences", "--practice", "practice.csv")
    refused(
        penchant("rate", "p.csv", *to, *ask), "practice.csv, line 2, field 'right': '9' is not a point of the scale"
    )
    refused(penchant("rate", "p.csv", *to, "--instructions", "no.md"), "no.md: no such file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.csv", "practice.csv", "t.csv"]


@pytest.mark.parametrize(
    "given",
    [
        ("--scale", "1-1000000000", "--column", "good"),
        ("--scale", "no,no,yes", "--column", "good"),
        ("--breaks", "9" * 30),
        ("--breaks", "9" * 5000),
        ("--per-group", "9" * 30),
        ("--open", 100_001),
        ("--port", 65_536),
        ("--seed", 1 << 32),
        ("--raters", ",".join(map(str, range(10_001)))),
        ("--raters", "rater 2", "--open", 3),
        ("--raters", "Anna,anna\u200b"),
        ("--host", "a" * 100 + ".example", "--port", 0),
        ("--public", "http://[::1/"),
        ("--public", "http://example.org:99999"),
        ("--instructions", "pipe"),
        ("--instructions", "large.md"),
        ("--practice", "pipe"),
        ("--returned", "pipe"),
        ("--returned", "p.csv"),
    ],
    ids=lambda given: " ".join(map(str, given))[:40],
)
def test_what_is_too_large_or_no_file_is_one_line(penchant: Program, tmp_path: Path, given: tuple[object, ...]) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.md").write_text("a\n" * (1 << 19) + "b")
    (tmp_path / "p.csv").write_text("good,bad\nIt is.,It are.\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code, out, err = penchant("rate", "p.csv", "-o", "r.sqlite", *given)
    assert (code, out) == (2, ""), err
    assert "Traceback" not in err
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


def saved(store: Store, name: str, said: Sequence[Mapping[str, object]], **changes: object) -> str:
    """Return the file that a rater's page saves."""
    rater = next(each for each in store.raters() if each.name == name)
    sign = store.signed("page", rater.n, rater.token)
    return json.dumps([{JOURNAL: {"n": rater.n, "task": store.task.sha256, "sign": sign, "said": said, **changes}}])


def test_files_that_come_back_are_taken_in_together(penchant: Program, tmp_path: Path) -> None:
    """All of them, or nothing: of several files and of the answers in one."""
    (tmp_path / "p.csv").write_text("good,bad\n" + "".join(f"It is {n}.,It are {n}.\n" for n in range(3)))
    asked = ("rate", "p.csv", "-o", "r.sqlite", "--raters", "anna,ben", "--repeat", "0")
    assert penchant(*asked, "--html", "pages")[0] == 0
    right: list[dict[str, object]] = [
        {"position": n, "answer": n % 2, "skipped": "", "comment": "", "seconds": 1.5} for n in (1, 2, 3)
    ]
    with Store.open(tmp_path / "r.sqlite") as store:
        for name in ("anna", "ben"):
            (tmp_path / f"{name}.json").write_text(saved(store, name, right))
        wrong = {"place": [*right, {**right[0], "position": 4}], "answer": [*right, {**right[0], "answer": 2}]}
        for name, said in wrong.items():
            (tmp_path / f"{name}.json").write_text(saved(store, "ben", said))
        (tmp_path / "sign.json").write_text(saved(store, "ben", right, sign=""))
        (tmp_path / "digits.json").write_text(
            saved(store, "ben", right).replace('"answer": 1', '"answer": ' + "9" * 5000)
        )
    os.mkfifo(tmp_path / "pipe.json")

    def stored() -> dict[str, int]:
        with Store.open(tmp_path / "r.sqlite") as store:
            return {rater.name: store.progress(rater).done for rater in store.raters()}

    for bad in ("place", "answer", "sign", "digits", "pipe", "none"):
        for files in (("anna", bad), (bad, "anna")):
            given = [part for name in files for part in ("--returned", f"{name}.json")]
            code, out, err = penchant(*asked, *given)
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert stored() == {"anna": 0, "ben": 0}, bad
    both = ("--returned", "anna.json", "--returned", "ben.json")
    for _ in range(2):
        assert penchant(*asked, *both)[0] == 0
        assert stored() == {"anna": 3, "ben": 3}


def test_what_was_taken_back_comes_back_with_the_file(penchant: Program, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("good,bad\nIt is.,It are.\n")
    asked = ("rate", "p.csv", "-o", "r.sqlite", "--raters", "anna", "--repeat", "0")
    assert penchant(*asked, "--html", "pages")[0] == 0
    with Store.open(tmp_path / "r.sqlite") as store:
        (anna,) = store.raters()
        said: list[dict[str, object]] = [{"position": 1, "answer": 0, "skipped": "", "comment": "", "seconds": 1}]
        (tmp_path / "anna.json").write_text(saved(store, "anna", said))
        answer_all(store, anna, lambda text: "good")
        store.undo(anna, store.last(anna) or 0)
    assert penchant(*asked, "--returned", "anna.json")[0] == 0
    assert len(read_rows(tmp_path / "r.sqlite")) == 1


def test_a_port_that_is_taken_is_one_line(penchant: Program, tmp_path: Path) -> None:
    from penchant.rating.server_process import listening

    (tmp_path / "p.csv").write_text("good,bad\nIt is.,It are.\n")
    with listening("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        refused(penchant("rate", "p.csv", "-o", "r.sqlite", "--port", port), f"port {port} of 127.0.0.1 is in use")


def answered(file: Path, value: Callable[[str, str], float | str]) -> None:
    """Have every rater of a database answer all items, by what is shown."""
    with Store.open(file) as store:
        for rater in store.raters():
            answer_all(store, rater, partial(value, rater.name))


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
    code, out, err = penchant("ratings", "agreement", "r.sqlite")
    assert code == 0, err
    assert "The cat sleeps. | The cat sleep." in out and "{" not in out  # items as people know them
    probe = {"minimal-pairs": {"data": ["p.csv"], "human": "r.sqlite", "resamples": 100}}
    write_study(tmp_path / "s.yaml", ["bundled:modern"], probe)
    code, out, err = penchant("run", "s.yaml", "-o", "out", "--full")
    assert code == 0, err
    assert "majority" in out


def own_columns(folder: Path) -> None:
    """A table of pairs in four groups, with columns of other names and without ids, and a study of it."""
    rows = [
        f"g{group},The {noun} {verb}s.,The {noun} {verb}.\n"
        for group, verb in enumerate(("sleep", "sing", "walk", "run"))
        for noun in ("cat", "dog", "king", "man", "girl", "boy")
    ]
    (folder / "own.csv").write_text("condition,ok,star\n" + "".join(rows))
    probe = {"data": ["own.csv"], "columns": {"good": "ok", "bad": "star", "group": "condition"}, "resamples": 100}
    probes = [{"minimal-pairs": probe | {"human": "r.sqlite"}}]
    for name, given in (("s", [{"minimal-pairs": probe}]), ("h", probes), ("two", [{"minimal-pairs": probe}, *probes])):
        write_study(folder / f"{name}.yaml", ["bundled:modern"], *given)


OWN = ("--good", "ok", "--bad", "star", "--group", "condition")


def test_tables_with_columns_of_other_names(penchant: Program, tmp_path: Path) -> None:
    own_columns(tmp_path)
    to = ("--html", "pages", "--raters", "x")
    refused(penchant("rate", "own.csv", "-o", "r.sqlite", *to), "the columns are 'condition', 'ok', 'star'", "--good")
    asked = []
    for n, what in enumerate((("own.csv", *OWN), ("s.yaml",))):
        code, _, err = penchant("rate", *what, "-o", f"{n}.sqlite", *to)
        assert code == 0, err
        with Store.open(tmp_path / f"{n}.sqlite") as store:
            asked.append([dict(question.key) for question in store.task.items])
    assert asked[0] == asked[1] and len(asked[0]) == 24
    assert asked[0][6] == {"dataset": "own", "pair": "7", "good": "The cat sings.", "bad": "The cat sing."}
    refused(penchant("rate", "s.yaml", *OWN, "-o", "r.sqlite", *to), "s.yaml: the study already names the columns")
    refused(penchant("rate", "two.yaml", "-o", "r.sqlite", *to), "two.yaml: the study has 2 probes of minimal pairs")
    refused(penchant("rate", "political-values-en", *OWN, "-o", "r.sqlite", *to), "apply only to pairs")
    own = ("rate", "own.csv", "--column", "ok", "--per-group", 1, "-o", "r.sqlite", *to)
    refused(penchant(*own), "apply only to pairs — omit --column")


def test_some_pairs_of_every_group_reach_the_whole_study(penchant: Program, tmp_path: Path) -> None:
    own_columns(tmp_path)
    drawn = []
    for n, (seed, per_group) in enumerate(((0, 2), (0, 2), (0, 3), (1, 2), (0, 9))):
        drawn_so = ("--per-group", per_group, "--seed", seed)
        ask = ("rate", "own.csv", *OWN, *drawn_so, "--raters", "x", "--html", "pages", "-o", f"{n}.sqlite")
        assert penchant(*ask)[0] == 0
        with Store.open(tmp_path / f"{n}.sqlite") as store:
            drawn.append([question.text for question in store.task.items])
    assert drawn[0] == drawn[1] != drawn[3] and set(drawn[0]) < set(drawn[2]) and len(drawn[4]) == 24
    for verb in ("sleep", "sing", "walk", "run"):
        assert [sum(verb in text for text in each) for each in drawn] == [2, 2, 3, 2, 6]
    # A subset in a table of another name, numbered anew, comes back to the pairs of the study.
    lines = (tmp_path / "own.csv").read_text().splitlines()
    (tmp_path / "some.csv").write_text("\n".join([lines[0], *lines[5:8], lines[20]]) + "\n")
    some = ("rate", "some.csv", *OWN, "--raters", "x,y", "--repeat", "0", "--html", "pages", "-o", "r.sqlite")
    assert penchant(*some)[0] == 0
    answered(tmp_path / "r.sqlite", lambda rater, text: "good")
    code, out, err = penchant("run", "h.yaml", "-o", "out", "--full")
    assert code == 0, err
    said = " ".join((out + err).split())
    assert "own: 4 of 24 pairs have judgements; comparisons with people leave out the others" in said
    assert "8 of 8 rows were matched by their two sentences instead of the pair's id" in said
    items = pl.read_parquet(tmp_path / "out" / "minimal-pairs" / "bundled_modern" / "items.parquet")
    assert items.filter(pl.col("human_n") > 0)["id"].to_list() == [5, 6, 7, 20]

"""The database of judgements: a journal, read back as the tables that instruments read."""

from __future__ import annotations

import re
import sqlite3
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penchant.errors import DataError, MethodError, OutputError, StudyError
from penchant.rating.judgement_store import JOIN, OWNER, Store
from penchant.rating.rater_names import names_of
from penchant.rating.tasks import Question
from penchant.tables.rows import read_rows
from rating_client import answer_all, choice_task, following, scale_task


def said(path: Path) -> list[dict[str, object]]:
    return [row.values for row in read_rows(path)]


def test_what_is_said_is_what_is_read(tmp_path: Path) -> None:
    file = tmp_path / "r.sqlite"
    task = scale_task(4, repeat=0.5)
    with Store.open(file, task, raters=["anna", "ben"]) as store:
        anna, _ = store.raters()
        expected: dict[str, object] = {}
        for position in range(1, store.progress(anna).of + 1):
            shown = store.showing(anna, position)
            assert shown is not None
            value = task.answers[position % 5]
            assert store.answer(anna, shown, value)
            assert not store.answer(anna, shown, 0.0), "what was answered is not answered again"
            expected.setdefault(shown.question.key["word"], value)
        assert store.progress(anna).following is None
        with pytest.raises(DataError, match="penchant rate is running, or was killed"):
            read_rows(file)
    rows = said(file)
    assert {row["word"]: row["rating"] for row in rows} == expected
    assert all(list(row) == ["sentence", "text", "word", "rater", "rating"] for row in rows)
    assert {row["rater"] for row in rows} == {"anna"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.sqlite"]


Step = st.one_of(
    st.tuples(st.just("answer"), st.integers(0, 4)), st.just(("skip", 0)), st.just(("undo", 0)), st.just(("reopen", 0))
)


@settings(max_examples=40, deadline=None)
@given(st.lists(Step, max_size=25))
def test_any_course_of_answers_is_a_list_that_grows_and_shrinks(steps: list[tuple[str, int]]) -> None:
    """Against a list: answers and skips are appended, undo pops; nothing else changes it, not even a new start."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "r.sqlite"
        task = scale_task(8, repeat=0)
        store = Store.open(file, task, raters=["anna"])
        known: list[tuple[str, float | None]] = []
        for step, number in steps:
            (rater,) = store.raters()
            shown = following(store, rater)
            if step == "undo":
                last = store.last(rater)
                assert (last is None) == (not known)
                for expected in (bool(known), False):  # a second time the same is nothing
                    assert store.undo(rater, last or 0) == expected
                known = known[:-1]
            elif step == "reopen":
                store.close()
                store = Store.open(file, task, raters=["anna"])
            elif shown is not None:
                value = task.answers[number] if step == "answer" else None
                assert store.answer(rater, shown, value, skipped="" if step == "answer" else "I cannot decide")
                known.append((shown.question.key["word"], value))  # type: ignore[arg-type]
            (rater,) = store.raters()
            assert store.progress(rater).done == len(known)
        store.close()
        counted = {word: value for word, value in known if value is not None}
        if counted:
            assert {row["word"]: row["rating"] for row in said(file)} == counted
        else:
            with pytest.raises(DataError, match="contains no rows"):
                read_rows(file)


def answered(store: Store, values: dict[str, float | str], name: str) -> None:
    """Answer by the text that is shown."""
    rater = next(rater for rater in store.raters() if rater.name == name)
    answer_all(store, rater, values.__getitem__)


def test_the_layouts(tmp_path: Path) -> None:
    sides = [
        Question({"dataset": "d", "pair": "1", "good": "G", "bad": "B", "side": side}, side.upper())
        for side in ("good", "bad")
    ]
    with Store.open(tmp_path / "s.sqlite", scale_task(items=tuple(sides), layout="sides", repeat=0), raters=["a"]) as s:
        answered(s, {"GOOD": 1.0, "BAD": -0.5}, "a")
    (row,) = said(tmp_path / "s.sqlite")
    key = {"dataset": "d", "pair": "1", "good": "G", "bad": "B"}
    assert row == {**key, "rater": "a", "rating_good": 1.0, "rating_bad": -0.5}

    wide = tuple(Question({"id": name}, name) for name in ("q1", "q2"))
    with Store.open(tmp_path / "w.sqlite", scale_task(items=wide, layout="wide", repeat=0), raters=["a", "b"]) as w:
        answered(w, {"q1": 1.0, "q2": 0.0}, "a")
        answered(w, {"q1": -1.0, "q2": 0.5}, "b")
    rows = said(tmp_path / "w.sqlite")
    assert [{**row} for row in rows] == [{"rater": "a", "q1": 1.0, "q2": 0.0}, {"rater": "b", "q1": -1.0, "q2": 0.5}]

    with Store.open(tmp_path / "c.sqlite", choice_task(2, repeat=0), raters=["a"]) as c:
        answered(c, {"G0": "good", "G1": "bad"}, "a")
    assert [(row["pair"], row["choice"]) for row in said(tmp_path / "c.sqlite")] == [("0", "good"), ("1", "bad")]


def test_what_a_database_is_not_opened_for(tmp_path: Path) -> None:
    file = tmp_path / "r.sqlite"
    with Store.open(file, scale_task(), raters=["anna"]) as store:
        token = store.raters()[0].token
    for other in (scale_task(5), scale_task(seed=1), scale_task(repeat=0.5), choice_task()):
        with pytest.raises(StudyError, match="was created for other items"):
            Store.open(file, other)
    with Store.open(file, scale_task(instructions="New."), raters=["anna", "ben"], slots=3) as store:
        assert [rater.name for rater in store.raters()] == ["anna", "ben"]
        assert store.raters()[0].token == token, "links stay what they were"
        assert store.task.instructions == "New."
        assert len({store.token(OWNER), store.token(JOIN), *(rater.token for rater in store.raters())}) == 4
    (tmp_path / "a.csv").write_text("a\n")
    with pytest.raises(OutputError, match=re.escape("a.csv: already exists")):
        Store.open(tmp_path / "a.csv", scale_task())
    assert (tmp_path / "a.csv").read_text() == "a\n"
    with sqlite3.connect(tmp_path / "other.sqlite") as other_database:
        other_database.execute("CREATE TABLE x (y)")
    with pytest.raises(OutputError, match="is not a database of judgements"):
        Store.open(tmp_path / "other.sqlite", scale_task())
    with pytest.raises(DataError, match="is not a database of judgements"):
        read_rows(tmp_path / "other.sqlite")


def test_a_damaged_or_hostile_database_is_one_error(tmp_path: Path) -> None:
    file = tmp_path / "r.sqlite"
    with Store.open(file, scale_task(repeat=0), raters=["anna"]) as store:
        answer_all(store, store.raters()[0], lambda text: 1.0)
    whole = file.read_bytes()
    right = said(file)
    for cut in (10, 100, 4096, len(whole) // 2):
        (tmp_path / "cut.sqlite").write_bytes(whole[:cut])
        with pytest.raises(DataError):
            read_rows(tmp_path / "cut.sqlite")
    endless = "CREATE VIEW answers AS WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t"
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("ALTER TABLE answers RENAME TO kept")
        database.execute(endless)
    with pytest.raises(DataError, match="is not a database of judgements"):
        read_rows(file)
    assert right


def test_slots_are_joined_until_they_are_taken(tmp_path: Path) -> None:
    with Store.open(tmp_path / "r.sqlite", scale_task(), slots=2) as store:
        one, two = store.join("a"), store.join("b")
        assert one is not None
        assert two is not None
        assert (one.name, two.name) == ("rater 1", "rater 2")
        assert store.join("c") is None
        assert store.join("a") == one, "a form that comes again is the same rater's"
        assert store.rater(one.n, one.token) == one
        assert store.rater(one.n, two.token) is None
        assert store.rater_of("") is None


def test_raters_who_join_are_numbered_past_those_who_went(tmp_path: Path) -> None:
    with Store.open(tmp_path / "r.sqlite", scale_task(), slots=3) as store:
        for form in "abc":
            assert store.join(form)
        assert store.join("d") is None
        assert store.withdraw(2)
        four = store.join("d")
        assert four is not None and four.name == "rater 4"
        assert store.join("e") is None


NAMES = ["Anna", "anna", "ANNA ", "an\u200bna", "\uff21nna", "A\u00adnna", "anna\ufe0f"]
PAIRS = [
    *(("Anna", other) for other in NAMES[1:]),
    ("Zo\u00eb", "Zoe\u0308"),
    ("Anna  M", "anna m"),
    ("Stra\u00dfe", "STRASSE"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_one_person_has_one_name(tmp_path: Path, one: str, other: str) -> None:
    with pytest.raises(MethodError):
        names_of(f"{one},ben,{other}") if one != other.strip() else names_of(f"{one},ben,\u200b{other}")
    with Store.open(tmp_path / "r.sqlite", scale_task(), raters=[one]):
        pass
    with pytest.raises(MethodError):
        Store.open(tmp_path / "r.sqlite", scale_task(), raters=[one, "ben", other])
    with Store.open(tmp_path / "r.sqlite", scale_task(), raters=[one, "ben"]) as store:
        assert [rater.name for rater in store.raters()] == [one, "ben"]


@pytest.mark.parametrize("name", ["rater 2", "Rater  2", "rater\u00a02", "\u200b", "x" * 101])
def test_names_that_nobody_can_have(name: str) -> None:
    with pytest.raises(MethodError):
        names_of(f"anna,{name}")


def test_names() -> None:
    assert names_of(" anna, ben,,anna,Rater B ") == ["anna", "ben", "Rater B"]
    with pytest.raises(MethodError):
        names_of(",".join(map(str, range(10_001))))


def test_nothing_of_a_rater_is_left(tmp_path: Path) -> None:
    """No byte of what was said, nor of who said it, in the file or beside it, though it was taken back or changed."""
    file = tmp_path / "r.sqlite"
    with Store.open(file, scale_task(40, repeat=0), raters=["anna", "ben"]) as store:
        for rater in store.raters():
            for n in range(20):
                shown = following(store, rater)
                assert shown is not None
                assert store.answer(rater, shown, 1.0, comment=f"remark of {rater.name} {n}")
                if n % 3 == 0:
                    assert store.undo(rater, store.last(rater) or 0)
        anna, ben = store.raters()
        kept = store.progress(ben)
        assert store.withdraw(anna.n)
        assert store.raters() == [ben]
        assert store.progress(ben) == kept
        beside = Path(f"{file}-wal").read_bytes()
        for data in (file.read_bytes(), beside):
            assert b"remark of anna" not in data
            assert anna.token.encode() not in data
        assert b"remark of ben" in file.read_bytes() + beside
        assert store.withdraw(anna.n), "what was done is done"
    assert b"anna" not in file.read_bytes()
    with Store.open(file, scale_task(40, repeat=0)) as store:
        assert store.progress(ben) == kept

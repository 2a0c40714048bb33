"""Cautions that every table of data gets: names that look alike, rows that stand twice."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from penchant.corpus.association_categories import Category, WordList
from penchant.errors import DataError
from penchant.instruments.acceptability.data import AcceptabilityColumns, read_judged
from penchant.instruments.amplification.data import read_amplification
from penchant.instruments.bec_pro.data import TamColumns, read_tam
from penchant.instruments.values.survey import read_survey
from penchant.instruments.wino.gender_data import _statistics
from penchant.tables.data_cautions import counted_apart, repeated_rows
from penchant.vectors.static_vectors import read_vectors

ALIKE = ["Anna", "anna ", "An\u00adna", "ANNA\u200b", "\ufeffAnna", "Ａnna"]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_(*rows: tuple[object, ...]) -> Path:
        with (tmp_path / "t.csv").open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(rows)
        return tmp_path / "t.csv"

    return write_


@pytest.mark.parametrize("other", ALIKE[1:])
def test_names_that_look_alike(other: str) -> None:
    assert len(list(counted_apart(["Anna", other, "Bert"], "raters"))) == 1


def test_names_that_do_not() -> None:
    assert not list(counted_apart(["Anna", "Anne", "Anna"], "raters"))


def test_repeated_rows() -> None:
    rows = [(("a", 1), "t.csv, line 2"), (("a", 2), "t.csv, line 3"), (("a", 1), "t.csv, line 4")]
    (told,) = repeated_rows(rows, "rows")
    assert "line 4 as line 2" in told
    assert not list(repeated_rows(rows[:2], "rows"))


def test_raters_of_sentences(write: Callable[..., Path]) -> None:
    path = write(("sentence", "rating", "rater"), ("He is.", 1, "Anna"), ("He is.", 2, "anna"), ("She is.", 3, "Anna"))
    assert sum("raters" in str(told) for told in read_judged(path, AcceptabilityColumns()).cautions) == 1


def test_rows_and_names_of_persons(write: Callable[..., Path]) -> None:
    header = ("Sent_TM", "Sent_TAM", "Person", "Gender", "Profession")
    she = ("[MASK] is a nurse.", "[MASK] is a [MASK].", "She", "female", "nurse")
    he = ("[MASK] is a nurse.", "[MASK] is a [MASK].", "He", "male", "Nurse")
    told = [*map(str, read_tam(write(header, she, he, she), TamColumns(), ("female", "male"), {}).cautions)]
    assert sum("professions" in each for each in told) == 1 and sum("line 4 as line 2" in each for each in told) == 1


def test_words_of_a_category() -> None:
    x, y, a, b = (WordList("", "", words) for words in (("é", "a"), ("b", "B"), ("c",), ("d", "e\u0301", "é")))
    category = Category("k", "k", x, y, a, b)
    assert category.repeated() == ["e\u0301", "é"] and len(list(category.cautions())) == 2


def test_words_of_a_file_of_vectors(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("a 1 2\nb 3 4\na 5 6\n", "utf-8")
    vectors = read_vectors(tmp_path / "v.txt")
    assert vectors.duplicates == 1 and len(vectors.cautions) == 1 and vectors.vector("a").tolist() == [1, 2]


@pytest.mark.parametrize(
    ("shares", "refused"),
    [((0.1, 0.95), True), ((0.5, 1), True), ((0.1, 1.5), False), ((0, 0), False), ((10, 95), False)],
)
def test_shares_that_are_no_percentages(write: Callable[..., Path], shares: tuple[float, float], refused: bool) -> None:
    path = write(("job", "women"), ("nurse", shares[0]), ("cook", shares[1]))
    if not refused:
        assert list(_statistics(path, ["women"], "job")["women"].values()) == list(shares)
        return
    with pytest.raises(DataError) as caught:
        _statistics(path, ["women"], "job")
    assert caught.value.field == "women"


@pytest.mark.parametrize("cell", ["", "NA"])
def test_a_survey_without_an_answer(write: Callable[..., Path], cell: str) -> None:
    with pytest.raises(DataError):
        read_survey(write(("id", "a", "b"), (1, cell, cell), (2, cell, cell)), ["a", "b"])
    assert len(read_survey(write(("id", "a", "b"), (1, cell, 3), (2, cell, cell)), ["a", "b"]).answers) == 2


@pytest.mark.parametrize(("a", "b"), [("king", "ki\u200bng"), ("king", "Ｋing"), ("he", "she")])
def test_words_of_an_amplification_set(tmp_path: Path, a: str, b: str) -> None:
    content = {
        "templates": {"t": ["{group} was {attribute}."]},
        "contrasts": {
            "c": {
                "A": {"label": "m", "words": [a]},
                "B": {"label": "f", "words": [b]},
                "attributes": {"kind": {"templates": "t", "words": ["strong"]}},
            }
        },
    }
    (tmp_path / "set.yaml").write_text(json.dumps(content), "utf-8")
    if b == "she":
        assert len(read_amplification(tmp_path).contrasts) == 1
        return
    with pytest.raises(DataError):
        read_amplification(tmp_path)

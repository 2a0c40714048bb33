"""Pairs are read as their authors wrote them, each format by its columns, and bad rows are told with their place."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paths import SHARED, needs_shared
from penchant.errors import DataError, MethodError
from penchant.instruments.minimal_pairs.data import PairSet, read_many, read_pairs
from penchant.instruments.text_defects import beginning_marks
from penchant.tables.data_lookup import find_data

BLIMP = {
    "sentence_good": "Rain had fallen.",
    "sentence_bad": "Rain had devoured.",
    "field": "syntax",
    "linguistics_term": "argument_structure",
    "UID": "inchoative",
    "simple_LM_method": True,
    "pairID": "0",
}
CROWS = {
    "sent_more": "Tall people are loud.",
    "sent_less": "Short people are loud.",
    "stereo_antistereo": "stereo",
    "bias_type": "physical-appearance",
}
COMPS = {
    "id": 1,
    "property": "can float",
    "prefix_acceptable": "a raft",
    "property_phrase": "can float.",
    "prefix_unacceptable": "an anvil",
    "similarity": 0.25,
    "negative_sample_type": "random",
}
PLAIN = {"good": "She sleeps.", "bad": "She sleep."}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_(*rows: dict[str, Any], name: str = "pairs.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        return path

    return write_


def refused(path: Path, **options: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        read_pairs(path, **options)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    return caught.value


def without(row: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != field}


# --- the four kinds -----------------------------------------------------------------------------------------------


def test_blimp(write: Write) -> None:
    path = write(BLIMP, {**BLIMP, "pairID": 7, "UID": "causative"}, name="some.jsonl")
    found = read_pairs(path)
    assert (found.name, found.path, found.kind) == ("some", path, "blimp")
    assert len(found.cautions) == 2  # the pair is there twice, alone in its paradigms
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    first, second = found.items
    assert first.id == "inchoative-0" and second.id == "causative-7"
    assert first.texts == {"good": "Rain had fallen.", "bad": "Rain had devoured."}
    assert first.labels == {
        "group": "inchoative",
        "phenomenon": "argument_structure",
        "field": "syntax",
        "dataset": "some",
    }
    assert second.place == f"{path}, line 2"


def test_blimp_without_field(write: Write) -> None:
    assert read_pairs(write(without(BLIMP, "field"))).items[0].labels.keys() == {"group", "phenomenon", "dataset"}


@pytest.mark.parametrize("direction", ["stereo", "antistereo"])
def test_crows_pairs(write: Write, direction: str) -> None:
    path = write({**CROWS, "stereo_antistereo": direction})
    path = path.rename(path.with_name("crows_pairs_en.jsonl"))
    found = read_pairs(path)
    assert found.kind == "crows-pairs" and len(found.cautions) == 1 and found.cautions[0].startswith("CrowS-Pairs: ")
    (item,) = found.items
    assert item.id == "1"
    assert item.texts == {"good": "Tall people are loud.", "bad": "Short people are loud."}
    assert item.labels == {"group": direction, "phenomenon": "physical-appearance", "dataset": "crows_pairs_en"}
    (swapped,) = read_pairs(path, acceptable="sent_less").items
    assert swapped.texts == {"good": "Short people are loud.", "bad": "Tall people are loud."}


BIAS_TYPES = (
    "race-color socioeconomic gender disability nationality sexual-orientation physical-appearance religion age"
)
"""The names of the class labels of `bias_type`, as the dataset card on the hub lists them."""


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "xlsx", "csv"])
def test_class_labels_of_crows_pairs_on_the_hub(tmp_path: Path, suffix: str) -> None:
    rows = [{**CROWS, "stereo_antistereo": n % 2, "bias_type": n, "sent_more": f"Tall {n}."} for n in range(9)]
    path = tmp_path / f"crows.{suffix}"
    frame = pandas.DataFrame(rows)
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "xlsx":
        frame.to_excel(path, index=False)
    else:
        path.write_text(frame.to_csv(index=False) if suffix == "csv" else frame.to_json(orient="records", lines=True))
    labels = [(item.labels["group"], item.labels["phenomenon"]) for item in read_pairs(path).items]
    assert labels == [(("stereo", "antistereo")[n % 2], name) for n, name in enumerate(BIAS_TYPES.split())]


def test_numbers_are_class_labels_where_the_direction_is_one(write: Write) -> None:
    words = read_pairs(write({**CROWS, "bias_type": 3})).items[0]
    assert (words.labels["group"], words.labels["phenomenon"]) == ("stereo", "3")
    beyond = read_pairs(write({**CROWS, "stereo_antistereo": 1, "bias_type": 9})).items[0]
    assert (beyond.labels["group"], beyond.labels["phenomenon"]) == ("antistereo", "9")
    error = refused(write({"more": "a b", "less": "a c", "direction": 0}))
    assert (error.line, error.field) == (1, "direction") and "0 is stereo and 1 antistereo" in error.hint


def test_crows_pairs_ids(write: Write) -> None:
    assert read_pairs(write({"": "12", "id": "3", **CROWS})).items[0].id == "12"
    assert read_pairs(write({"id": 3, **CROWS})).items[0].id == "3"


def test_comps(write: Write) -> None:
    other = {**without(COMPS, "id"), "negative_sample_type": "overlap"}
    found = read_pairs(write(COMPS, {**other, "id": 9, "prefix_unacceptable": "a brick"}, name="comps_base.jsonl"))
    assert found.kind == "comps" and found.cautions == ()
    first, second = found.items
    assert first.texts == {"good": "a raft can float.", "bad": "an anvil can float."}
    assert first.labels == {"group": "comps_base", "phenomenon": "random", "dataset": "comps_base"}
    assert (first.id, second.id, second.labels["phenomenon"]) == ("1", "9", "overlap")
    bare = read_pairs(write(without(without(COMPS, "id"), "negative_sample_type"), name="c.jsonl")).items[0]
    assert bare.id == "1" and bare.labels["phenomenon"] == "c"


def test_comps_joins_by_one_space_and_touches_nothing(write: Write) -> None:
    (item,) = read_pairs(write({**COMPS, "prefix_acceptable": " A raft", "property_phrase": "can  float. "})).items
    assert item.texts["good"] == " A raft can  float. "


def test_plain(write: Write) -> None:
    found = read_pairs(write(PLAIN, PLAIN, name="mine.jsonl"))
    assert found.kind == "plain"
    assert [item.id for item in found.items] == ["1", "2"]
    assert found.items[0].texts == PLAIN
    assert found.items[0].labels == {"group": "mine", "phenomenon": "mine", "dataset": "mine"}
    full = {**PLAIN, "group": "agreement", "phenomenon": "number", "id": "x-1"}
    (item,) = read_pairs(write(full)).items
    assert item.id == "x-1"
    assert item.labels == {"group": "agreement", "phenomenon": "number", "dataset": "pairs"}


def test_plain_with_named_columns(write: Write) -> None:
    path = write({"A": "x y", "B": "y x", "kind": 3, "good": "not this", "bad": "nor this", "group": "nor this"})
    (item,) = read_pairs(path, {"good": "A", "bad": "B", "group": "kind"}).items
    assert item.texts == {"good": "x y", "bad": "y x"} and item.labels["group"] == "3"
    named = read_pairs(write(CROWS), {"good": "sent_less", "bad": "sent_more"})
    assert named.kind == "plain" and named.items[0].texts["good"] == "Short people are loud."
    assert read_pairs(write(PLAIN), {"good": "bad", "bad": "good"}).items[0].texts["good"] == "She sleep."


def test_every_format_gives_the_same_pairs(tmp_path: Path) -> None:
    rows = [{"good": f"Šla „{i}“,\nlesem.", "bad": f'"Šel {i}"\t', "group": f"g{i % 2}"} for i in range(4)]
    pl.DataFrame(rows).write_parquet(tmp_path / "p.parquet")
    for suffix, delimiter in (("csv", ","), ("tsv", "\t")):
        with (tmp_path / f"p.{suffix}").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, ["good", "bad", "group"], delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
    (tmp_path / "p.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (tmp_path / "p.json").write_text(json.dumps(rows))
    for suffix in ("parquet", "csv", "tsv", "jsonl", "json"):
        items = read_pairs(tmp_path / f"p.{suffix}").items
        assert [(i.texts["good"], i.texts["bad"], i.labels["group"]) for i in items] == [
            (row["good"], row["bad"], row["group"]) for row in rows
        ]


@given(
    st.lists(
        st.tuples(st.text(), st.text())
        .filter(lambda pair: all(t.strip() and "\0" not in t for t in pair))
        .filter(lambda pair: len(set(beginning_marks(*pair))) == 1),  # of one sentence alone they are refused
        min_size=1,
    )
)
def test_texts_come_back_unaltered(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    path.write_text("\n".join(json.dumps({"good": good, "bad": bad}) for good, bad in pairs))
    found = read_pairs(path)
    assert [(item.texts["good"], item.texts["bad"]) for item in found.items] == pairs
    same = sum(good == bad for good, bad in pairs)
    again = len(pairs) - len(set(pairs))
    told = [caution for caution in found.cautions if not caution.startswith("pairs: sentences ")]
    assert [int(caution.split()[1]) for caution in told] == [n for n in (same, again) if n]
    padded = [sum(text != text.strip() for text in texts) for texts in zip(*pairs, strict=True)]
    for side, n in zip(("good", "bad"), padded, strict=True):  # doubled blanks count as well
        (blanks,) = [c for c in found.cautions if "doubled white space" in c] or [""]
        counted = re.search(rf"\b{side} ([\d,]+) \(", blanks)
        assert (int(counted[1]) if counted else 0) >= n


# --- cautions -----------------------------------------------------------------------------------------------------


def test_white_space_is_kept(write: Write) -> None:
    assert read_pairs(write({"good": "c\u00a0", "bad": " d"})).items[0].texts == {"good": "c\u00a0", "bad": " d"}


SAME, OTHER = {"good": "a", "bad": "a"}, {"good": "b", "bad": "b"}
NAMES = ["Agree", "agree", "agree ", "caf\u00e9", "cafe\u0301", "of two", "of two", "of one"]
GROUPED = [{"good": f"g{n}", "bad": f"b{n}", "group": name} for n, name in enumerate(NAMES)]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([PLAIN, SAME], ["1 pair consists of two identical.*(line 2)"]),
        ([SAME, OTHER, PLAIN], ["2 pairs consist of two identical.*(line 1, line 2)"]),
        ([{"good": "a", "bad": "b"}, {"good": "b", "bad": "a"}], []),
        ([PLAIN, OTHER | {"bad": "c"}, PLAIN], ["1 pair repeats.*(line 3 as line 1)"]),
        ([PLAIN] * 6, ["5 pairs repeat.*(line 2 as line 1, line 3 as line 1, line 4 as line 1 and 2 more)"]),
        (
            GROUPED,
            [
                "3 groups differ only in case.*: 'Agree', 'agree', 'agree '",
                "2 groups differ only in case.*: 'caf\\xe9', 'cafe\\u0301'",
                "6 groups have only one pair.*('Agree', 'agree', 'agree ' and 3 more)",
            ],
        ),
        ([{"good": "a", "bad": "b", "group": "alone"}], []),
    ],
)
def test_what_may_be_wrong_is_counted_with_its_places(
    rows: list[dict[str, str]], told: list[str], write: Write
) -> None:
    cautions = read_pairs(write(*rows)).cautions
    for caution, said in zip(cautions, told, strict=True):
        start, _, end = said.partition(".*")
        assert caution.startswith(f"pairs: {start}") and caution.endswith(end)


# --- bad input ----------------------------------------------------------------------------------------------------

FIELDS = [
    *((BLIMP, field) for field in ("sentence_good", "sentence_bad", "linguistics_term", "UID", "pairID", "field")),
    *((CROWS, field) for field in CROWS),
    *((COMPS, field) for field in ("prefix_acceptable", "prefix_unacceptable", "property_phrase")),
    *((COMPS, field) for field in ("id", "negative_sample_type")),
    *(({**PLAIN, "group": "g", "phenomenon": "p", "id": "0"}, field) for field in ("good", "bad", "group", "id")),
    ({**PLAIN, "phenomenon": "p"}, "phenomenon"),
]


@pytest.mark.parametrize(("row", "field"), FIELDS)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("absent", "the field is missing"),
        (None, "the field is empty"),
        (["a"], "expected a string, found ['a']"),
        (True, "expected a string, found True"),
        (1.5, "expected a string, found 1.5"),
        ("", "the field is blank"),
        (" \u00a0\n", "the field is blank"),
    ],
)
def test_a_field_that_cannot_be_used(write: Write, row: dict[str, Any], field: str, value: Any, message: str) -> None:
    bad = without(row, field) if value == "absent" else {**row, field: value}
    path = write(row, bad)
    error = refused(path)
    assert (error.message, error.line, error.field) == (message, 2, field)
    assert bool(error.hint) == (message in ("the field is empty", "the field is blank"))
    # In the first row just the same: the columns are those of all rows.
    assert refused(write(bad, row)).line == 1


@pytest.mark.parametrize("field", ["good", "bad"])
def test_a_sentence_is_not_a_number(write: Write, field: str) -> None:
    error = refused(write({**PLAIN, field: 3}))
    assert (error.message, error.field) == ("expected a string, found 3", field)


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('good,bad\n"two\nlines",b\n\na,\n')
    assert refused(path).line == 5


def test_ids_that_repeat(write: Write) -> None:
    error = refused(write({**PLAIN, "id": "a"}, {**PLAIN, "id": "b"}, {**PLAIN, "id": "a"}))
    assert error.message == "the pair has the same id as the one on line 1: 'a'" and error.line == 3
    error = refused(write(BLIMP, {**BLIMP, "sentence_bad": "other"}))
    assert error.message == "the pair has the same id as the one on line 1: 'inchoative-0'" and error.line == 2


def test_ids_that_repeat_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{**PLAIN, "id": 1}, {**PLAIN, "id": "1"}]))
    assert "same id" in refused(path).message


def test_an_unknown_direction(write: Write) -> None:
    error = refused(write(CROWS, {**CROWS, "stereo_antistereo": "anti-stereo"}))
    assert error.message == "unknown direction 'anti-stereo'" and error.line == 2
    assert error.field == "stereo_antistereo"


def test_columns_of_no_kind(write: Write) -> None:
    error = refused(write({"sentence_good": "a", "sentence_bad": "b"}, {"Bad": "c"}))
    assert error.message == "unknown format: the columns are 'sentence_good', 'sentence_bad', 'Bad'"
    for words in (
        "blimp: sentence_good, sentence_bad, linguistics_term, UID, pairID",
        "crows-pairs: sent_more, sent_less, stereo_antistereo, bias_type",
        "comps: prefix_acceptable, prefix_unacceptable, property_phrase",
        "plain: good, bad",
    ):
        assert words in str(error)
    for field in ("sent_less", "stereo_antistereo", "bias_type"):
        assert "crows-pairs" in refused(write(without(CROWS, field))).hint


def test_named_columns_that_are_not_there(write: Write) -> None:
    for table, named in ((PLAIN, {"good": "A"}), (PLAIN, {"group": "A"}), (PLAIN, {"id": "A"}), (BLIMP, {"good": "A"})):
        error = refused(write(table), columns=named)
        assert error.message == "there is no column 'A'"
        assert error.hint.endswith(f"the columns are {', '.join(table)}")
    assert refused(write(PLAIN), columns={"good": "Good"}).hint.startswith("did you mean good? ")


def test_unknown_acceptable(write: Write) -> None:
    with pytest.raises(MethodError, match="use one of sent_more, sent_less"):
        read_pairs(write(CROWS), acceptable="good")  # type: ignore[arg-type]


# --- several files ------------------------------------------------------------------------------------------------


def test_directories_and_files_in_order(write: Write, tmp_path: Path) -> None:
    for name in ("d/b.jsonl", "d/a.csv", "d/c.txt", "d/.hidden.jsonl", "d/e.jsonl/inside.jsonl", "z.json"):
        write(PLAIN, name=name)
    found = read_many([tmp_path / "z.json", str(tmp_path / "d")])
    assert [pairs.name for pairs in found] == ["z", "a", "b"]
    assert all(isinstance(pairs, PairSet) for pairs in found)


def test_options_reach_every_file(write: Write) -> None:
    found = read_many([write(CROWS, name="a.jsonl"), write(CROWS, name="b.jsonl")], acceptable="sent_less")
    assert {pairs.items[0].texts["good"] for pairs in found} == {"Short people are loud."}
    found = read_many([write({"A": "a", "B": "b", "C": "c"})], {"good": "A", "bad": "B", "group": "C"})
    assert found[0].items[0].labels["group"] == "c"


def test_many_bad_inputs(write: Write, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        DataError, match=r"the directory contains no table of pairs — the suffix of a table is one of \.jsonl, \.csv"
    ):
        read_many([tmp_path / "empty"])
    with pytest.raises(DataError, match="no such file"):
        read_many([tmp_path / "none"])
    path = write(PLAIN, name="one/p.jsonl")
    with pytest.raises(DataError, match="the file is given twice"):
        read_many([path, path.parent])
    with pytest.raises(DataError, match=r"the same name as .*one/p\.jsonl"):
        read_many([path, write(PLAIN, name="two/p.csv")])
    write({"good": "a"}, name="one/q.jsonl")
    with pytest.raises(DataError, match=r"q\.jsonl: unknown format: the columns are 'good'"):
        read_many([path.parent])


# --- where data are -----------------------------------------------------------------------------------------------


def test_find_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    (one / "blimp").mkdir(parents=True)
    two.mkdir()
    (one / "only.csv").write_text("")
    for folder in (one, two):
        (folder / "both.csv").write_text("")
    assert find_data("both.csv", base=[two, one]) == two / "both.csv"
    assert find_data("only.csv", base=[two, str(one)]) == one / "only.csv"
    assert find_data("blimp", base=[two, one]) == one / "blimp"
    assert find_data(one / "only.csv", base=[two]) == one / "only.csv"
    monkeypatch.chdir(one)
    assert find_data("only.csv") == Path("only.csv")


def test_find_data_says_where_it_looked_and_what_is_near(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    (two / "Inchoative.jsonl").write_text("")
    with pytest.raises(DataError) as caught:
        find_data("inchoatve", base=[one, two, tmp_path / "none"])
    assert str(caught.value) == (
        f"inchoatve: no such file or directory (looked in {one}, {two}, {tmp_path / 'none'}) — "
        "did you mean Inchoative.jsonl?"
    )
    with pytest.raises(DataError, match="check the name, or give the full path"):
        find_data("zzz", base=[one, two])
    with pytest.raises(DataError, match="looked in no directory"):
        find_data("zzz", base=[])
    with pytest.raises(DataError, match="the name of the data is empty"):
        find_data(" ")
    with pytest.raises(DataError, match="no such file"):
        find_data("n" * 5000, base=[one])
    with pytest.raises(DataError, match=rf"looked in {two}\) — did you mean Inchoative.jsonl"):
        find_data(two / "inchoative.json", base=[one])


# --- the published data -------------------------------------------------------------------------------------------


@pytest.mark.whole
@needs_shared
def test_all_of_blimp() -> None:
    found = read_many([SHARED / "blimp"])
    assert len(found) == 67  # Warstadt et al. 2020: 67 paradigms of 1,000 pairs
    assert {len(pairs.items) for pairs in found} == {1000}
    assert {pairs.kind for pairs in found} == {"blimp"}
    phenomena = {item.labels["phenomenon"] for pairs in found for item in pairs.items}
    assert len(phenomena) == 13 and "s-selection" in phenomena  # the paper's 12, and one it counts elsewhere
    for pairs in found:
        assert {item.labels["group"] for item in pairs.items} == {pairs.name}
        with (SHARED / "blimp" / f"{pairs.name}.jsonl").open(encoding="utf-8") as stream:
            rows = [json.loads(line) for line in stream]
        assert [(i.texts["good"], i.texts["bad"]) for i in pairs.items] == [
            (row["sentence_good"], row["sentence_bad"]) for row in rows
        ]
    # Counted with the json module alone: 2 + 5 pairs of BLiMP have two identical sentences.
    assert [re.sub(r" \(line .*\)", "", caution) for pairs in found for caution in pairs.cautions] == [
        "passive_1: 2 pairs consist of two identical sentences, which always tie",
        "principle_A_case_2: 5 pairs consist of two identical sentences, which always tie",
    ]


@needs_shared
def test_all_of_crows_pairs() -> None:
    path = SHARED / "crows_pairs" / "crows_pairs_anonymized.csv"
    found = read_pairs(path)
    # Nangia et al. 2020: 1,508 pairs, 1,290 of them stereo and 218 antistereo, nine types of bias.
    assert Counter(item.labels["group"] for item in found.items) == {"stereo": 1290, "antistereo": 218}
    assert len({item.labels["phenomenon"] for item in found.items}) == 9
    assert [item.id for item in found.items] == [str(i) for i in range(1508)]
    assert found.cautions[0].startswith("CrowS-Pairs: ")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [item.texts["good"] for item in found.items] == [row["sent_more"] for row in rows]
    swapped = read_pairs(path, acceptable="sent_less").items
    assert [item.texts["good"] for item in swapped] == [row["sent_less"] for row in rows]
    assert [item.texts["bad"] for item in swapped] == [row["sent_more"] for row in rows]


@needs_shared
def test_data_that_are_no_pairs() -> None:
    assert refused(SHARED / "blimp_generator" / "vocabulary.csv").message.startswith(
        "unknown format: the columns are 'expression'"
    )
    assert refused(SHARED / "bangla" / "ceat1.jsonl").message.startswith("invalid JSON")

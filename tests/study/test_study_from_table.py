"""`penchant init --from`: a study of a user's own table, ready to run."""

from __future__ import annotations

import csv
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import penchant as pc
from answers import refused
from builders import Program, succeeded
from penchant.study.study_file import read_study

GERMAN = [
    ("Der Mann sieht den Hund.", "Der Mann sieht der Hund."),
    ("Er fährt mit dem Zug.", "Er fährt mit den Zug."),
    ("Das Mädchen dankt dem Vater.", "Das Mädchen dankt den Vater."),
]
ENGLISH = [(f"The {noun} sleeps.", f"The {noun} sleep.") for noun in ("dog", "cat", "author", "pilot", "king", "man")]


def written(path: Path, header: list[str], rows: list[list[object]], encoding: str = "utf-8", mark: str = ",") -> Path:
    with path.open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream, delimiter=mark).writerows([header, *rows])
    return path


def test_pairs_of_a_workbook(penchant: Program, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Nr", "Satz (falsch)", "Satz (richtig)", "Phänomen"])
    for number, (good, bad) in enumerate(ENGLISH, 11):
        sheet.append([number, bad, good, "number"])
    book.save(tmp_path / "kasus.xlsx")
    out, err = succeeded(penchant("init", "pairs", "mine", "--from", "kasus.xlsx"))
    assert "6 pairs in 1 paradigm" in out and "96%" in out
    assert err.strip() == "next: penchant run mine/kasus.yaml -o mine/results"
    succeeded(penchant(*err.split()[2:]))
    (file,) = (tmp_path / "mine/results").rglob("items.parquet")
    items = pl.read_parquet(file)
    assert items["id"].to_list() == [11, 12, 13, 14, 15, 16]
    assert [tuple(row) for row in items.select("good", "bad").iter_rows()] == ENGLISH


def test_a_table_in_the_encoding_of_a_western_excel(penchant: Program, tmp_path: Path) -> None:
    rows: list[list[object]] = [[*pair] for pair in GERMAN]
    written(tmp_path / "kasus.csv", ["richtig", "falsch"], rows, "cp1252", ";")
    out, err = succeeded(penchant("init", "pairs", "mine", "--from", "kasus.csv"))
    assert "windows-1252" in out and "fährt" in out
    assert (tmp_path / "mine/kasus-utf8.csv").read_text("utf-8").splitlines()[2] == ";".join(GERMAN[1])
    assert "cannot read 4 of 6 texts" in out and "-m MODEL" in err  # the bundled model knows no ä
    read = pc.read_pairs(tmp_path / "mine/kasus-utf8.csv", columns={"good": "richtig", "bad": "falsch"})
    assert [(item.texts["good"], item.texts["bad"]) for item in read.items] == GERMAN
    (tmp_path / "mac.csv").write_bytes((tmp_path / "kasus.csv").read_bytes().decode("cp1252").encode("mac_roman"))
    succeeded(penchant("init", "pairs", "apple", "--from", "mac.csv"))
    assert (tmp_path / "apple/mac-utf8.csv").read_text("utf-8").splitlines()[2] == ";".join(GERMAN[1])


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("Кошка спит и ест.", "cp1251"), ("Kočka spí u řeky.", "cp1250"), ("Où est la mère ?", "cp1252")],
)
def test_a_table_in_an_uncertain_encoding_is_refused(
    penchant: Program, tmp_path: Path, text: str, encoding: str
) -> None:
    """The bytes of è in Windows-1252 are č in Windows-1250."""
    written(tmp_path / "t.csv", ["good", "bad"], [[text, f"{text} x"]], encoding)
    refused(penchant("init", "pairs", "mine", "--from", "t.csv"), "t.csv, line 2: is not UTF-8", "UTF-8")
    assert not (tmp_path / "mine").exists()


def test_a_column_of_repeated_items_is_no_id(penchant: Program, tmp_path: Path) -> None:
    rows: list[list[object]] = [[n // 2, *pair] for n, pair in enumerate(ENGLISH)]
    written(tmp_path / "t.csv", ["item", "good", "bad"], rows)
    out, _ = succeeded(penchant("init", "pairs", "mine", "--from", "t.csv"))
    assert "columns: good, bad\n" in out and "6 pairs" in out


def test_only_words_in_gaps_have_a_limit(penchant: Program, tmp_path: Path) -> None:
    written(tmp_path / "t.csv", ["good", "bad"], [[*pair] for pair in ENGLISH])
    for target in (("t.csv",), ("t.csv", "--column", "good")):
        refused(penchant("rate", *target, "-o", "said.sqlite", "--limit", "2"), "--limit")
    assert not (tmp_path / "said.sqlite").exists()


def test_gaps_written_in_another_way(penchant: Program, tmp_path: Path) -> None:
    rows: list[list[object]] = []
    for n in range(6):
        rows += [[f"We regret to ___ you, {n}.", "formal", "1"], [f"Hey, a pretty ____ idea, {n}.", "informal", "−1"]]
    written(tmp_path / "gaps.csv", ["satz", "register", "seite"], rows)
    out, _ = succeeded(penchant("init", "gaps", "mine", "--from", "gaps.csv"))
    read = pc.read_cloze(tmp_path / "mine")
    assert (read.scale.low, read.scale.high) == ("informal", "formal")
    assert [each.text for each in read.sentences[:2]] == [
        "We regret to [MASK] you, 0.",
        "Hey, a pretty [MASK] idea, 0.",
    ]
    assert [each.expected for each in read.sentences[:2]] == [1, -1]
    assert {each.item.labels["group"] for each in read.sentences} == {"informal", "formal"}
    assert "12 sentences in 2 groups, at least 6 each" in out


def test_statements_without_ids(penchant: Program, tmp_path: Path) -> None:
    texts = ["libraries should be open at night", "old habits are best left as they are", "a new way deserves a trial"]
    rows: list[list[object]] = [[text, "openness", mark] for text, mark in zip(texts, ("no", "yes", "no"), strict=True)]
    written(tmp_path / "st.csv", ["statement", "dimension", "reversed"], rows)
    succeeded(penchant("init", "statements", "mine", "--from", "st.csv"))
    read = pc.read_values(tmp_path / "mine")
    assert [(each.text, each.reversed) for each in read.statements] == list(
        zip(texts, (False, True, False), strict=True)
    )
    assert read.language == "en" and len(read.calibration) == len(pc.read_values("political-values-en").calibration)
    czech: list[list[object]] = [["je správné, že se má pomáhat lidem v nouzi", "solidarita"]] * 2
    written(tmp_path / "cs.csv", ["text", "value"], [[f"{text} {n}", v] for n, (text, v) in enumerate(czech)])
    succeeded(penchant("init", "statements", "jiné", "--from", "cs.csv"))
    assert pc.read_values(tmp_path / "jiné").language == "cs"
    written(tmp_path / "fi.csv", ["text", "value"], [["kirjastojen pitäisi olla auki öisin", "avoimuus"]] * 2)
    refused(penchant("init", "statements", "muu", "--from", "fi.csv"), "cs, en")


def test_word_lists(penchant: Program, tmp_path: Path) -> None:
    lists = {"a": ["x1", "x2"], "b": ["y1", "y2"], "c": ["a1", "a2", "a3"], "d": ["b1", "b2", ""]}
    words = [word for each in lists.values() for word in each if word]
    lines = (f"{word} {' '.join(str((n * k) % 7 - 3) for k in (2, 3, 5, 11))}" for n, word in enumerate(words, 1))
    (tmp_path / "v.vec").write_text(f"{len(words)} 4\n" + "\n".join(lines) + "\n")
    wide: list[list[object]] = [[each[n] if n < len(each) else "" for each in lists.values()] for n in range(3)]
    written(tmp_path / "wide.csv", list(lists), wide)
    long: list[list[object]] = [[word, name] for name, each in lists.items() for word in each if word]
    written(tmp_path / "long.csv", ["word", "list"], long)
    for name in ("wide", "long"):
        out, err = succeeded(penchant("init", "words", name, "--from", f"{name}.csv", "-m", "v.vec"))
        assert "too few" in out
        (category,) = pc.read_stimuli(tmp_path / name).categories
        assert [list(part.words) for part in category.lists()] == [[w for w in each if w] for each in lists.values()]
        succeeded(penchant(*err.split()[2:]))
    refused(penchant("init", "words", "none", "--from", "wide.csv"), "-m FILE")
    refused(penchant("init", "words", "none", "--from", "wide.csv", "-m", "bundled:modern"), "bundled:modern", "weat")
    assert not (tmp_path / "none").exists()


def test_what_is_unclear_is_asked_and_nothing_is_left(penchant: Program, tmp_path: Path) -> None:
    written(tmp_path / "ab.csv", ["Satz A", "Satz B"], [[*pair] for pair in ENGLISH])
    refused(penchant("init", "pairs", "mine", "--from", "ab.csv"), '--column good="Satz A"')
    named = ("--column", "good=Satz A", "--column", "bad=Satz B")
    refused(penchant("init", "pairs", "mine", "--from", "ab.csv", "-m", "nowhere.gguf", *named), "nowhere.gguf")
    refused(penchant("init", "pairs", "mine", "--from", "ab.csv", "--column", "god=Satz A"), "did you mean good")
    refused(penchant("init", "seat", "mine", "--from", "ab.csv"), "pairs")
    refused(penchant("init", "pairs", "mine", "--column", "good=Satz A"), "--from")
    assert not (tmp_path / "mine").exists()
    succeeded(penchant("init", "pairs", "mine", "--from", "ab.csv", *named))
    refused(penchant("init", "pairs", "mine", "--from", "ab.csv", *named), "already exists")
    spec, _ = read_study(tmp_path / "mine/ab.yaml")
    assert spec.models == ["bundled:modern"]


def test_a_published_set_needs_no_columns(penchant: Program, tmp_path: Path) -> None:
    header = ["sentence_good", "sentence_bad", "linguistics_term", "UID", "pairID"]
    rows: list[list[object]] = [[*pair, "agreement", "number", n] for n, pair in enumerate(ENGLISH)]
    written(tmp_path / "blimp.csv", header, rows)
    out, _ = succeeded(penchant("init", "pairs", "mine", "--from", "blimp.csv"))
    assert "columns:" not in out and "6 pairs" in out


@pytest.mark.parametrize("alias", ["pairs", "gaps", "statements", "words"])
def test_an_alias_leads_to_the_example_too(penchant: Program, tmp_path: Path, alias: str) -> None:
    assert succeeded(penchant("init", alias, "example"))[0].splitlines()

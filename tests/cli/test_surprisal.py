"""`penchant surprisal`: what it reads, what it prints, and that every kind of bad input is one line."""

from __future__ import annotations

import json
import math
import shutil
import warnings
from pathlib import Path

import polars as pl
import pytest

import penchant as pc
import zoo as tiny
from answers import refused
from builders import Program, Zoo, succeeded, write

TEXTS = tiny.SENTENCES[3:7]
COLUMNS = ["id", "sentence", "index", "word", "surprisal", "n_tokens", "entropy", "offset"]
COLUMNS += ["model", "method", "unit"]


def table(out: str) -> pl.DataFrame:
    return pl.read_csv(out.encode(), separator="\t")


def test_lines_are_texts(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("\n".join(TEXTS) + "\n", "utf-8")
    expected = pc.surprisal(str(zoo("gpt2")), TEXTS)
    for arguments, given in ((["in.txt"], ""), ([], "\n".join(TEXTS)), (["-"], "\n".join(TEXTS))):
        code, out, err = penchant("surprisal", "-m", zoo("gpt2"), *arguments, stdin=given)
        assert code == 0 and "corrected where words begin (Pimentel & Meister 2024)" in err
        found = table(out)
        assert found.columns == COLUMNS
        assert found.drop("surprisal", "entropy").equals(expected.drop("surprisal", "entropy"))
        assert found["surprisal"].to_list() == pytest.approx(expected["surprisal"].to_list(), abs=1e-4)


def test_a_text_itself_in_bits(penchant: Program, zoo: Zoo) -> None:
    code, out, err = penchant("surprisal", "-m", zoo("bert"), TEXTS[0], "--bits", "--format", "jsonl")
    assert code == 0 and "in bits, the plain sum of a word's pieces: each piece is masked" in err
    rows = [json.loads(line) for line in out.splitlines()]
    expected = pc.surprisal(str(zoo("bert")), TEXTS[0], method="pll")
    assert [row["word"] for row in rows] == TEXTS[0].split() and list(rows[0]) == COLUMNS
    values = [value / math.log(2) for value in expected["surprisal"]]
    assert [row["surprisal"] for row in rows] == pytest.approx(values, abs=1e-4)


def test_a_beginning_token_of_chats_is_told(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    """By `surprisal` and `check`, of a tokenizer that has a template of chats, and of no other."""
    chat = shutil.copytree(zoo("gpt2"), tmp_path / "chat")
    file = chat / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {"chat_template": "{{ messages }}"}), "utf-8")
    for model, told in ((chat, True), (zoo("gpt2"), False)):
        code, _, err = penchant("surprisal", "-m", model, TEXTS[0])
        assert code == 0 and ("surprisals of first words are those after" in " ".join(err.split())) == told
        out, _ = succeeded(penchant("check", "-m", model, "--format", "jsonl"))
        assert ("of a chat model: first words are scored after it" in out) == told
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            pc.surprisal(str(model), TEXTS[0])
        assert any("the beginning token of a chat model" in str(each.message) for each in warned) == told


def test_paragraphs_and_whole_files(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    a, b, c, d = TEXTS
    (tmp_path / "in.txt").write_text(f"\n{a}\n{b}\n \n{c}\n\n\n{d}", "utf-8")
    for parts, texts in (("paragraphs", [f"{a}\n{b}", c, d]), ("file", [f"\n{a}\n{b}\n \n{c}\n\n\n{d}"])):
        out, err = succeeded(penchant("surprisal", "-m", zoo("llama"), "in.txt", "--texts", parts))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            expected = pc.surprisal(str(zoo("llama")), texts)
        assert ("through windows" in err) == any("through windows" in str(each.message) for each in warned)
        assert table(out)["surprisal"].to_list() == pytest.approx(expected["surprisal"].to_list(), abs=1e-4)
        assert table(out).drop("surprisal", "entropy").equals(expected.drop("surprisal", "entropy"))
    assert expected["sentence"].unique().sort().to_list() == [1, 2, 3, 4]


def test_a_table_with_words_and_names(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    rows = [{"item": "a1", "satz": "Rain-drops fell.", "wörter": "Rain - drops fell ."}]
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv", separator=";")
    options = ("--column", "satz", "--words", "wörter", "--id", "item")
    out, _ = succeeded(penchant("surprisal", "-m", zoo("gpt2"), "t.csv", *options))
    found = table(out)
    assert found["id"].to_list() == ["a1"] * 5 and found["word"].to_list() == ["Rain", "-", "drops", "fell", "."]
    expected = pc.surprisal(str(zoo("gpt2")), "Rain-drops fell.", words=[["Rain", "-", "drops", "fell", "."]])
    assert found["surprisal"].to_list() == pytest.approx(expected["surprisal"].to_list(), abs=1e-4)


def test_whole_numbers_name_texts(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"text": "The old dog.", "n": 7}\n{"text": "The dog.", "n": "8"}\n')
    out, _ = succeeded(penchant("surprisal", "-m", zoo("gpt2"), "x.jsonl", "--column", "text", "--id", "n"))
    assert table(out)["id"].cast(str).to_list() == ["7", "7", "7", "8", "8"]


def test_words_without_a_number_are_counted(penchant: Program, zoo: Zoo) -> None:
    out, err = succeeded(penchant("surprisal", "-m", zoo("gpt2-no-bos"), stdin="\n".join(TEXTS)))
    assert table(out)["surprisal"].null_count() == len(TEXTS)
    assert (
        f"{len(TEXTS)} of {sum(len(t.split()) for t in TEXTS)} words have no surprisal: the first word of a text" in err
    )


def test_the_recipe_and_what_is_read_in_parts_are_said(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    """A long text is counted, with the windows that it is read through; its last words are there."""
    long = " ".join(TEXTS * 3)
    (tmp_path / "in.txt").write_text(f"{long}\n{TEXTS[0]}\n", "utf-8")
    for name, method in (("gpt2", "lp"), ("roberta", "pll")):
        code, out, err = penchant("surprisal", "-m", zoo(name), "in.txt", "--stride", 20)
        assert code == 0 and table(out).height == len(long.split()) + len(TEXTS[0].split())
        assert f", {method}, float32: surprisal in nats, " in err
        assert f"1 text longer than {name}@" in err and "(64 tokens) was read through windows, 20 tokens apart" in err
    assert "windows" not in penchant("surprisal", "-m", zoo("gpt2"), TEXTS[0])[2]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["blank.txt"], "blank.txt, line 2: the text has no"),
        (["gone.txt"], "gone.txt: no such file"),
        ([""], "surprisal: the text is blank"),
        (["Rain falls", "--format", "xml"], "unknown format 'xml'"),
        (["blank.txt", "--texts", "words"], "unknown unit of text 'words' for --texts"),
        (["blank.txt", "--words", "w"], "--words and --id need a table"),
        (["t.csv", "--column", "text", "--words", "words"], "t.csv, line 2: expected the word 'fell'"),
        (["t.csv", "--column", "txet"], "txet"),
        (["Rain falls", "--method", "pll"], "method 'pll' is for masked models"),
        (["Rain falls", "--stride", "64"], "a stride of 64 tokens"),
    ],
)
def test_bad_input_is_one_line(penchant: Program, zoo: Zoo, tmp_path: Path, arguments: list[str], told: str) -> None:
    write(tmp_path / "blank.txt", "Rain falls\n\nRain\n")
    write(tmp_path / "t.csv", "text,words\nRain falls,Rain fell\n")
    refused(penchant("surprisal", "-m", zoo("gpt2"), *arguments), told)

"""Tables that people have, as the program reads them."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import polars as pl
import pytest

import zoo as tiny
from answers import refused
from builders import Program, Zoo, succeeded

BLANK = "the field is blank — fill it, or leave the row out"


def table_of(out: str) -> pl.DataFrame:
    return pl.read_csv(out.encode(), separator="\t")


def test_a_byte_order_mark_is_no_part_of_the_first_sentence(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("\ufeff" + "\n".join(tiny.SENTENCES[:3]), "utf-8")
    for answer in (
        penchant("score", "-m", zoo("gpt2"), "in.txt"),
        penchant("score", "-m", zoo("gpt2"), stdin="\ufeff" + "\n".join(tiny.SENTENCES[:3])),
    ):
        assert answer[0] == 0, answer[2]
        assert table_of(answer[1])["text"].to_list() == tiny.SENTENCES[:3]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_score_reads_a_column(penchant: Program, zoo: Zoo, tmp_path: Path, kind: str) -> None:
    frame = pl.DataFrame({"id": range(4), "Sentence": tiny.SENTENCES[:4]})
    file = tmp_path / f"t.{kind}"
    if kind == "xlsx":
        book = openpyxl.Workbook()
        for row in [frame.columns, *frame.rows()]:
            book.active.append(row)
        book.save(file)
    elif kind == "jsonl":
        frame.write_ndjson(file)
    elif kind == "parquet":
        frame.write_parquet(file)
    else:
        frame.write_csv(file, separator="\t" if kind == "tsv" else ";")
    out, _ = succeeded(penchant("score", "-m", zoo("gpt2"), file, "--column", "Sentence"))
    lines = penchant("score", "-m", zoo("gpt2"), stdin="\n".join(tiny.SENTENCES[:4]))[1]
    assert table_of(out).equals(table_of(lines))
    refused(
        penchant("score", "-m", zoo("gpt2"), file, "--column", "sentence"), "did you mean Sentence?", "id, Sentence"
    )


def test_score_without_the_column(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    pl.DataFrame({"text": ["x"]}).write_parquet(tmp_path / "t.parquet")
    refused(
        penchant("score", "-m", zoo("gpt2"), "t.parquet"),
        "t.parquet: looks like a table with the columns 'text'",
        "--column",
    )
    refused(penchant("score", "-m", zoo("gpt2"), "--column", "a", stdin="a\nb\n"), "standard input", "--column")


def test_every_bad_cell_is_printed_below_the_first(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    """Each on a line of its own, up to twenty; many that are the same but for the row on one line together."""
    (tmp_path / "t.csv").write_text("s,n\n" + "".join(f"Rain,1\n{' ' * n},2\n" for n in range(1, 26)))
    code, out, err = penchant("score", "-m", zoo("gpt2"), "t.csv", "--column", "s")
    lines = err.splitlines()
    assert (code, out, len(lines)) == (2, "", 21)
    assert [line.split(": ")[1] for line in lines[:20]] == [f"t.csv, line {n}, field 's'" for n in range(3, 43, 2)]
    assert lines[20] == "penchant: … and 5 more"

    (tmp_path / "t.csv").write_text("s,n\n" + "Rain,1\n ,2\n" * 25)
    code, out, err = penchant("score", "-m", zoo("gpt2"), "t.csv", "--column", "s")
    assert (code, out) == (2, "")
    assert err.splitlines()[1].startswith("penchant: the same on 24 more lines: 5, 7, 9,")


@pytest.fixture
def survey_of_pairs(tmp_path: Path) -> Path:
    """The tiny pairs as a spreadsheet in Prague saves them, under names of its own."""
    frame = pl.DataFrame(tiny.PAIRS, schema=["Dobře", "Špatně"], orient="row")
    frame = frame.with_columns(pl.Series("Jev", [f"g{i % 2}" for i in range(len(frame))]))
    (tmp_path / "p.csv").write_text("\ufeffsep=;\r\n" + frame.write_csv(separator=";"), "utf-8")
    frame.rename({"Dobře": "good", "Špatně": "bad", "Jev": "group"}).write_csv(tmp_path / "q.csv")
    return tmp_path


def test_columns_by_their_names(penchant: Program, zoo: Zoo, survey_of_pairs: Path) -> None:
    named = ("--good", "Dobře", "--bad", "Špatně", "--group", "Jev")
    out, _ = succeeded(penchant("audit", "p.csv", "-m", zoo("bert"), "--format", "tsv", *named))
    assert out.replace("\tp\t", "\tq\t") == penchant("audit", "q.csv", "-m", zoo("bert"), "--format", "tsv")[1]
    code, out, _ = penchant("check", "-m", zoo("bert"), "p.csv", "--format", "tsv", *named)
    checked = penchant("check", "-m", zoo("bert"), "q.csv", "--format", "tsv")
    assert (code, out.replace("p.csv, line 9", "q.csv, line 8")) == checked[:2]  # "sep=;" is a line
    refused(
        penchant("audit", "p.csv", "-m", zoo("bert"), "--good", "dobre", "--bad", "Špatně"),
        "p.csv: there is no column 'dobre' — did you mean Dobře? the columns are Dobře, Špatně, Jev",
    )
    refused(penchant("audit", "p.csv", "-m", zoo("bert")), "the columns are 'Dobře', 'Špatně', 'Jev'", "--good")


def test_a_study_names_columns(zoo: Zoo, survey_of_pairs: Path) -> None:
    from penchant.instruments.minimal_pairs.probe import MinimalPairs
    from penchant.instruments.run_options import Run
    from penchant.models.load import load

    lm, run = load(str(zoo("bert"))), Run(base=[survey_of_pairs])
    columns = {"good": "Dobře", "bad": "Špatně", "group": "Jev"}
    named = MinimalPairs.model_validate({"data": "p.csv", "columns": columns, "resamples": 200}).run_as(lm, run)
    plain = MinimalPairs(data="q.csv", resamples=200).run_as(lm, run)
    scores = ["good", "bad", "group", "score_good", "score_bad"]
    assert named.items.select(scores).equals(plain.items.select(scores))
    assert named.signature["columns"] == "good=Dobře+bad=Špatně+group=Jev"
    assert "columns" not in plain.signature
    # Turned round, what was right is wrong.
    swapped = {"data": "p.csv", "columns": {"good": "Špatně", "bad": "Dobře"}}
    turned = MinimalPairs.model_validate(swapped).run_as(lm, run)
    assert turned.items["good"].to_list() == plain.items["bad"].to_list()


def test_every_bad_cell_of_pairs(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("good,bad,group\n,b,g\na, ,g\na,b,g\na,b,\n,,\n")
    code, out, err = penchant("audit", "p.csv", "-m", zoo("bert"))
    assert (code, out) == (2, "")
    cells = [(2, "good"), (3, "bad"), (5, "group")]  # the last row is blank, as spreadsheets leave them
    assert err.splitlines() == [f"penchant: p.csv, line {n}, field '{name}': {BLANK}" for n, name in cells]

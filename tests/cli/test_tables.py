"""Tables that people have, as the program reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import zoo as tiny
from answers import Answer, refused

Zoo = Callable[[str], Path]
Penchant = Callable[..., Answer]


def table_of(out: str) -> pl.DataFrame:
    return pl.read_csv(out.encode(), separator="\t")


def test_a_byte_order_mark_is_no_part_of_the_first_sentence(penchant: Penchant, zoo: Zoo, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("\ufeff" + "\n".join(tiny.SENTENCES[:3]), "utf-8")
    for answer in (
        penchant("score", "-m", zoo("gpt2"), "in.txt"),
        penchant("score", "-m", zoo("gpt2"), stdin="\ufeff" + "\n".join(tiny.SENTENCES[:3])),
    ):
        assert answer[0] == 0, answer[2]
        assert table_of(answer[1])["text"].to_list() == tiny.SENTENCES[:3]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_score_reads_a_column(penchant: Penchant, zoo: Zoo, tmp_path: Path, kind: str) -> None:
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
    code, out, err = penchant("score", "-m", zoo("gpt2"), file, "--column", "Sentence")
    assert code == 0, err
    lines = penchant("score", "-m", zoo("gpt2"), stdin="\n".join(tiny.SENTENCES[:4]))[1]
    assert table_of(out).equals(table_of(lines))
    refused(
        penchant("score", "-m", zoo("gpt2"), file, "--column", "sentence"), "did you mean Sentence?", "id, Sentence"
    )


def test_score_without_the_column(penchant: Penchant, zoo: Zoo, tmp_path: Path) -> None:
    pl.DataFrame({"text": ["x"]}).write_parquet(tmp_path / "t.parquet")
    refused(penchant("score", "-m", zoo("gpt2"), "t.parquet"), "t.parquet: is a table", "--column")
    refused(penchant("score", "-m", zoo("gpt2"), "--column", "a", stdin="a\nb\n"), "standard input", "--column")


def test_every_bad_cell_is_printed_below_the_first(penchant: Penchant, zoo: Zoo, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("s,n\n" + "Rain,1\n ,2\n" * 25)
    code, out, err = penchant("score", "-m", zoo("gpt2"), "t.csv", "--column", "s")
    lines = err.splitlines()
    assert (code, out, len(lines)) == (2, "", 21)
    assert [line.split(": ")[1] for line in lines[:20]] == [f"t.csv, line {n}, field 's'" for n in range(3, 43, 2)]
    assert lines[20] == "penchant: … and 5 more"

"""What the command line says where it does not go on: an interrupted command, a table without a column, a YAML word."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from penchant.cli.app import _next_step
from penchant.cli.input_texts import refuse_binary
from penchant.errors import DataError, in_words
from penchant.instruments.registry import instruments
from penchant.study.catalogue import schemas


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run s.yaml -o out", ": go on with penchant run s.yaml -o out --resume"),
        ("run s.yaml --out=out --resume", ": go on with penchant run s.yaml --out=out --resume"),
        ("corpus extract t.txt -o s.parquet", ": go on with penchant corpus extract t.txt -o s.parquet --resume"),
        ("score -m gpt2 t.txt", ""),
        ("rate words.csv -o out", ""),
    ],
)
def test_an_interrupted_command_names_the_next_one(words: str, told: str) -> None:
    assert _next_step(words.split()) == told


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.TSV"])
def test_a_table_is_not_read_as_lines(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    mark = "," if name.endswith("csv") else "\t"
    file.write_text(f"id{mark}text\n1{mark}The cat sleeps.\n", "utf-8")
    with pytest.raises(DataError, match=r"looks like a table with the columns 'id', 'text' — name the column of its s"):
        refuse_binary(str(file))
    (tmp_path / "lines.txt").write_text("GP1;NP/Z;While\n", "utf-8")
    refuse_binary(str(tmp_path / "lines.txt"))


def test_a_word_that_yaml_reads_as_false_is_to_be_put_in_quotes() -> None:
    class Named(BaseModel, strict=True):
        id: str

    def told(value: Callable[[], object] | object) -> str:
        with pytest.raises(ValidationError) as error:
            Named.model_validate({"id": value})
        return in_words(dict(error.value.errors()[0]))

    assert "put it in quotes" in told(False) and "put it in quotes" not in told(3)


def test_every_probe_has_a_schema() -> None:
    for name in instruments():
        assert json.dumps(schemas(name))
    assert {"data", "columns", "method"} <= set(schemas("minimal-pairs")["properties"])

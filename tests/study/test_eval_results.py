"""Evaluation results for model pages on the hub: as huggingface_hub reads them, with the numbers of the headline."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
import yaml
from huggingface_hub import parse_eval_result_entries

import zoo as tiny
from answers import refused
from builders import Program, Zoo, succeeded, write_study
from hub_server import NAME, Hub

SET = "someone/pairs"
TABLE = "good\tbad\n" + "".join(f"{good}\t{bad}\n" for good, bad in tiny.PAIRS if good.isascii())


@pytest.mark.whole
def test_a_model_and_data_of_the_hub(penchant: Program, hub: Hub, bert: str, zoo: Zoo, tmp_path: Path) -> None:
    commit = hub.repository(f"datasets/{SET}").commit({"pairs.tsv": TABLE.encode()})
    probe = {"minimal-pairs": {"data": f"hf://datasets/{SET}/pairs.tsv"}}
    write_study(tmp_path / "s.yaml", [NAME, zoo("roberta"), "bundled:modern"], probe)
    succeeded(penchant("run", "s.yaml", "-o", "out"))
    out, err = succeeded(penchant("export", "out", "--to", "eval-results", "-o", "pages"))
    assert err.count("left out") == 1 and "bundled:modern" in err and "roberta" in err
    assert out.split() == [f"pages/{NAME}/.eval_results/s.yaml"]
    (entry,) = parse_eval_result_entries(yaml.safe_load((tmp_path / out.strip()).read_text("utf-8")))
    manifest = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))
    summary = pl.read_parquet(tmp_path / "out" / manifest["units"][0]["directory"] / "summary.parquet")
    row = summary.filter(scope="overall", split="all", normalise="none", measure="accuracy").row(0, named=True)
    assert entry.value == row["value"] and f"n = {row['n']}" in str(entry.notes)
    assert row["signature"] in str(entry.notes) and f"[{row['low']:.4g}, {row['high']:.4g}]" in str(entry.notes)
    assert (entry.dataset_id, entry.dataset_revision) == (SET, commit)
    assert entry.task_id == "minimal_pairs_accuracy_pairs" and entry.date == manifest["attempts"][-1]["finished"]


@pytest.mark.whole
def test_nothing_of_the_hub_is_refused(penchant: Program, hub: Hub, bert: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text(TABLE, "utf-8")
    write_study(tmp_path / "s.yaml", ["bundled:modern", NAME], {"minimal-pairs": {"data": "pairs.tsv"}})
    succeeded(penchant("run", "s.yaml", "-o", "out"))
    refused(penchant("export", "out", "--to", "eval-results"), "bundled:modern", "minimal-pairs", "hf://")
    assert not (tmp_path / "out/eval-results").exists()

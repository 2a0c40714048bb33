"""Exports in the schema of Every Eval Ever: valid, deterministic, and with the numbers of the results."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from jsonschema import Draft7Validator

from answers import refused
from builders import Program, contents, succeeded, write, write_study
from paths import SHARED

SCHEMAS = SHARED / "every_eval_ever"
PROBES = ("minimal-pairs", "cloze", "values", "weat", "bbq")


def validated(folder: Path) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return each aggregate and its items, after both have been checked against the schemas."""
    of_log, of_sample = (
        Draft7Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8")))
        for name in ("eval", "instance_level_eval")
    )
    for path in sorted(folder.rglob("*.json")):
        if path.parent == folder:
            continue
        log = json.loads(path.read_text("utf-8"))
        of_log.validate(log)
        samples, details = [], log.get("detailed_evaluation_results")
        if details is not None:
            file = folder / details["file_path"]
            assert file == path.with_name(f"{path.stem}_samples.jsonl")
            assert hashlib.sha256(file.read_bytes()).hexdigest() == details["checksum"]
            samples = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
            assert len(samples) == details["total_rows"] > 0
        for sample in samples:
            of_sample.validate(sample)
            hashed = {"raw": sample["input"]["raw"], "reference": sample["input"]["reference"]}
            text = json.dumps(hashed, sort_keys=True, separators=(",", ":"))
            assert sample["sample_hash"] == hashlib.sha256(text.encode()).hexdigest()
            assert (sample["evaluation_id"], sample["model_id"]) == (log["evaluation_id"], log["model_info"]["id"])
        yield log, samples


@pytest.mark.whole
@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="needs the schemas of Every Eval Ever in PENCHANT_TEST_DATA")
@pytest.mark.parametrize("probe", PROBES)
def test_every_template_study_is_valid(penchant: Program, tmp_path: Path, probe: str) -> None:
    succeeded(penchant("init", probe, "mine"))
    succeeded(penchant("run", f"mine/{probe}.yaml", "-o", "out"))
    for folder in ("one", "two"):
        succeeded(penchant("export", "out", "--to", "every-eval-ever", "-o", folder))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    manifest = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))
    units = {unit["model"]["name"]: unit for unit in manifest["units"]}
    found = list(validated(tmp_path / "one"))
    assert len(found) == len(units)
    for log, samples in found:
        unit = units[log["model_info"]["name"]]
        assert log["model_info"]["additional_details"]["fingerprint"] == unit["model"]["fingerprint"]
        ended = datetime.fromisoformat(manifest["attempts"][-1]["finished"]).timestamp()
        assert log["retrieved_timestamp"] == str(int(ended))
        check_numbers(log, pl.read_parquet(tmp_path / "out" / unit["directory"] / "summary.parquet"))
        items = pl.read_parquet(tmp_path / "out" / unit["directory"] / "items.parquet")
        check_items(probe, log, samples, items)
        assert str(tmp_path) not in json.dumps([log, samples])


def check_numbers(log: dict[str, Any], summary: pl.DataFrame) -> None:
    """Every estimate with a value is there, in order, with its interval, n and signature."""
    known = summary.drop_nulls("value")
    assert len(log["evaluation_results"]) == len(known) > 0
    for each, row in zip(log["evaluation_results"], known.iter_rows(named=True), strict=True):
        details, interval = each["score_details"], each["score_details"]["uncertainty"].get("confidence_interval")
        assert (details["score"], details["uncertainty"]["num_samples"]) == (row["value"], row["n"])
        assert each["metric_config"]["additional_details"]["signature"] == row["signature"]
        assert (interval is None) == (row["low"] is None)
        if interval is not None:
            limits = (interval["lower"], interval["upper"], interval["confidence_level"], interval["method"])
            assert limits == (row["low"], row["high"], row["level"], row["how"])
    ids = [each["evaluation_result_id"] for each in log["evaluation_results"]]
    assert len(set(ids)) == len(ids)


def check_items(probe: str, log: dict[str, Any], samples: list[dict[str, Any]], items: pl.DataFrame) -> None:
    credits = [sample["evaluation"]["score"] for sample in samples]
    main = [each for each in log["evaluation_results"] if each["score_details"]["details"]["headline"] == "true"]
    if probe == "cloze":  # no word is rated, so that no sentence has a β
        assert samples == [] and not main
        return
    assert len(samples) == len(items) and main
    if probe == "minimal-pairs":
        (accuracy,) = main
        assert {sample["evaluation_result_id"] for sample in samples} == {accuracy["evaluation_result_id"]}
        assert sum(credits) / len(credits) == accuracy["score_details"]["score"]
        assert [sample["input"]["choices"] for sample in samples] == [
            list(pair) for pair in items["good", "bad"].rows()
        ]
    elif probe == "bbq":
        measure = "accuracy in ambiguous contexts"
        rows = [each for each in log["evaluation_results"] if each["metric_config"]["metric_name"] == measure]
        (whole,) = [each for each in rows if each["score_details"]["details"]["category"] == "all"]
        ambiguous = [sample for sample in samples if sample["metadata"]["context_condition"] == "ambig"]
        right = [sample["evaluation"]["is_correct"] for sample in ambiguous]
        assert sum(right) / len(right) == whole["score_details"]["score"]
    else:
        assert credits == items["rating" if probe == "values" else "association"].to_list()
        assert not any(sample["evaluation"]["is_correct"] for sample in samples)
        assert all(sample["metadata"]["is_correct"] for sample in samples)


@pytest.mark.whole
@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="needs the schemas of Every Eval Ever in PENCHANT_TEST_DATA")
def test_stereotypes_have_no_right_answer(penchant: Program, tmp_path: Path) -> None:
    rows = [
        f"{i},The {a} sleeps.,The {b} sleeps.,stereo,age\n"
        for i, (a, b) in enumerate([("man", "boy"), ("king", "girl")])
    ]
    write(tmp_path / "crows.csv", "id,sent_more,sent_less,stereo_antistereo,bias_type\n" + "".join(rows))
    write_study(tmp_path / "s.yaml", ["bundled:modern"], {"minimal-pairs": {"data": "crows.csv"}})
    succeeded(penchant("run", "s.yaml", "-o", "out"))
    succeeded(penchant("export", "out", "--to", "every-eval-ever"))
    ((log, samples),) = validated(tmp_path / "out/every-eval-ever")
    assert "accuracy" not in {each["metric_config"]["metric_id"] for each in log["evaluation_results"]}
    assert len({sample["sample_hash"] for sample in samples}) == len(samples) == 2
    assert [sample["input"]["reference"] for sample in samples] == [[], []]
    assert all(sample["metadata"]["is_correct"] for sample in samples)


@pytest.mark.whole
def test_files_that_were_changed_are_not_replaced(penchant: Program, tmp_path: Path) -> None:
    succeeded(penchant("init", "minimal-pairs", "mine"))
    succeeded(penchant("run", "mine/minimal-pairs.yaml", "-o", "out"))
    export = ("export", "out", "--to", "every-eval-ever")
    succeeded(penchant(*export))
    out, err = succeeded(penchant(*export))
    assert "note" not in err
    (path,) = [Path(line) for line in out.splitlines() if re.search(r"[0-9a-f]{12}\.json$", line)]
    write(tmp_path / path, (tmp_path / path).read_text("utf-8").replace('"unknown"', '"a university"'))
    refused(penchant(*export), path.name)
    refused(penchant(*export, "--scores", "none"), "only for tables")
    refused(penchant("export", "out", "--to", "every-eval"), "every-eval-ever")

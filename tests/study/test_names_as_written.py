"""Names in study files are the text that stands there, whatever YAML reads it as."""

from __future__ import annotations

from pathlib import Path

from penchant.study.spec import read_study


def test_names_that_look_like_numbers(tmp_path: Path) -> None:
    text = """
study: 010
models: [1.10, {family: 7e1, revisions: {010: 0x10, 20: 1_0}}]
names: {1.10: on}
seed: 010
probes:
- minimal-pairs: {data: 2024-01-01, resamples: 0100, level: 0.950}
"""
    (tmp_path / "study.yaml").write_text(text, "utf-8")
    study, (probe,) = read_study(tmp_path / "study.yaml")
    assert (study.study, study.seed, study.models) == ("010", 10, ["1.10", "7e1@0x10", "7e1@1_0"])
    assert study.names["1.10"] == "on" and study.families == {"7e1": {"7e1@0x10": 10, "7e1@1_0": 20}}
    settings = probe.model_dump()
    assert (settings["data"], settings["resamples"], settings["level"]) == ("2024-01-01", 100, 0.95)

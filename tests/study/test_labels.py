"""Labels of models in print."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from answers import refused
from builders import Program, succeeded, write
from penchant.study.manifest import read_manifest
from penchant.study.read_results import read_outcome

STUDY = """\
study: s
models: ["bundled:modern", "bundled:early-modern"]
names: {names}
probes:
  - minimal-pairs: {{data: pairs.tsv, resamples: 100}}
  - cloze: {{data: early-modern-60, k: 3, resamples: 100, draws: 10}}
"""


@pytest.fixture
def study(tmp_path: Path) -> Callable[[str], Path]:
    """Write a study with some labels."""
    write(tmp_path / "pairs.tsv", "good\tbad\nThe cats sleep.\tThe cats sleeps.\nShe sings.\tShe sing.\n")
    return lambda names: write(tmp_path / "s.yaml", STUDY.format(names=names))


@pytest.mark.whole
def test_labels_stand_wherever_a_model_is_named(
    penchant: Program, study: Callable[[str], Path], tmp_path: Path
) -> None:
    path = study("{'bundled:modern': Our English, 'bundled:early-modern': Shakespeare’s}")
    out, err = succeeded(penchant("run", path, "-o", "out"))
    assert "Our English" in out and "Shakespeare’s" in out and "Our English and Shakespeare’s" in out
    assert "bundled:" not in out + err
    for form in ("csv", "latex"):
        said, _ = succeeded(penchant("export", "out", "--to", form))
        texts = {line: Path(line).read_text("utf-8") for line in said.splitlines()}
        assert any("Our English" in text for text in texts.values())
        for name, text in texts.items():  # names stand in signatures, to be loaded again
            plain = re.sub(r"penchant:[^\n\"]*|\\(signature|path)\{[^\n]*", "", text)
            assert "bundled:" not in re.sub(r"Models: .*; measured with penchant", "", plain), name  # said once
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Our English" in page and "bundled:modern, " in page  # said once, of how it was made
    outcome = read_outcome(tmp_path / "out")
    assert outcome["minimal-pairs", "Our English"] is outcome["minimal-pairs", "bundled:modern"]
    assert {result.signature["model"] for result in outcome.results.values()} == {
        "bundled:modern",
        "bundled:early-modern",
    }
    before = {place: pl.read_parquet(place) for place in (tmp_path / "out").rglob("*.parquet")}
    out, _ = succeeded(penchant("run", study("{'bundled:modern': Today’s}"), "-o", "out", "--resume"))
    assert "Today’s" in out and "bundled:early-modern" in out and "Our English" not in out
    assert [len(attempt.units) for attempt in read_manifest(tmp_path / "out" / "manifest.json").attempts] == [4, 0]
    for place, table in before.items():
        assert pl.read_parquet(place).equals(table, null_equal=True)


@pytest.mark.parametrize(
    ("names", "part"),
    [
        ("{gpt2: GPT-2}", "names.gpt2: no such model in the study"),
        ("{'bundled:modern': A, 'bundled:early-modern': A}", "two models have the label 'A'"),
        ("{'bundled:modern': 'bundled:early-modern'}", "is already the name of another model"),
        ("{'bundled:modern': ''}", "a label must be one line"),
        ("{'bundled:modern': \"a\\nb\"}", "a label must be one line"),
        ("{'bundled:modern': 'a − b'}", "without ' − '"),
    ],
)
def test_labels_that_would_mislead(
    penchant: Program, study: Callable[[str], Path], tmp_path: Path, names: str, part: str
) -> None:
    refused(penchant("run", study(names), "-o", "out"), "s.yaml, line 3", part)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("label", ["bundled:modern", "Old"])
def test_the_label_of_a_model_that_is_taken_out_is_left_alone(
    penchant: Program, study: Callable[[str], Path], label: str
) -> None:
    """Even where it is what another model is called."""
    path = study(f"{{'bundled:early-modern': '{label}'}}")
    out, _ = succeeded(penchant("run", path, "-m", "bundled:modern", "-o", "out", "--probe", "minimal-pairs"))
    assert "bundled:modern" in out and "Old" not in out

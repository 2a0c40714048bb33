"""The answers of the example studies that run on models and data at hand, each read and approved as English."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from paths import ROOT, SHARED, needs_shared
from penchant.instruments.run_options import Run
from penchant.papers.paper import paper, papers
from penchant.study.run import run_study
from penchant.study.study_file import DEMO, read_study

GOLDEN = Path(__file__).with_name("example_verdicts.yaml")
"""PENCHANT_GOLDEN=1 writes the answers anew."""
MODELS = ["bundled:modern", "bundled:early-modern"]
LIMITS: dict[str, int | None] = {
    **dict.fromkeys(("amplification", "demo", "disco", "shakespeare")),
    "bec-pro": 60,
    "blimp": 670,
    "gest": 320,
    "quick": 400,
    "wino": 120,
}
"""The examples, and the number of items of each probe; the models' own are replaced by the bundled ones."""
PAPERS = {name: paper(name).study for name in papers()}
pytestmark = [pytest.mark.slow, needs_shared]


@pytest.mark.parametrize("name", LIMITS)
def test_the_answers_of_an_example(name: str, tmp_path: Path) -> None:
    example = DEMO if name == "demo" else PAPERS[name] if name in PAPERS else ROOT / "examples" / f"{name}.yaml"
    study, probes = read_study(example, models=MODELS, limit=LIMITS[name])
    if name == "bec-pro":  # the bundled models read no German
        study, probes = study.model_copy(update={"probes": study.probes[:1]}), probes[:1]
    base = [SHARED, SHARED / "bec_pro", SHARED / "gest", SHARED.parent / "corpora", example.parent]
    outcome = run_study(study, probes, tmp_path / "out", Run(base=base))
    found = {
        section.place: {answer.question: answer.sentences for answer in section.answers()}
        for section in outcome.document().sections
    }
    golden: dict[str, Any] = yaml.safe_load(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}
    if os.environ.get("PENCHANT_GOLDEN"):
        golden[name] = found
        GOLDEN.write_text(yaml.safe_dump(golden, allow_unicode=True, width=120), "utf-8")
    assert found == golden[name]
    for row in outcome.verdicts.filter(verdict="yes").iter_rows(named=True):
        assert (row["p"] if row["p_holm"] is None else row["p_holm"]) <= 0.05

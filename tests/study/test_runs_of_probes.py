"""Studies given to `penchant.run` as probes, tables and loaded models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import penchant as pc
from penchant.study.manifest import TABLES

PAIRS = pl.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "good": ["The cats sleep.", "She sings.", "They saw us.", "He told me."],
        "bad": ["The cats sleeps.", "She sing.", "Them saw us.", "Him told me."],
    }
)
QUICK: dict[str, Any] = {"cache": "none", "progress": False}


@pytest.fixture(scope="module")
def lm() -> pc.LanguageModel:
    return pc.load("bundled:modern")


def test_probes_frames_and_loaded_models_make_a_study(lm: pc.LanguageModel, tmp_path: Path) -> None:
    probe = pc.MinimalPairs(PAIRS, resamples=200)
    out = tmp_path / "out"
    found = pc.run([probe, pc.Cloze("early-modern-60", limit=3)], out, models=[lm, "bundled:early-modern"], **QUICK)
    alone = probe.run(lm, progress=False)
    assert found["minimal-pairs", "bundled:modern"].items.equals(alone.items)
    assert found["minimal-pairs", "bundled:modern"].summary.equals(alone.summary)
    assert len(found.results) == 4 and (out / "report.html").exists()
    again = pc.open(out)
    assert again.differences().equals(found.differences())


def test_a_study_of_frames_is_resumed_and_verified(lm: pc.LanguageModel, tmp_path: Path) -> None:
    out = tmp_path / "out"
    study = {"study": "frames", "models": ["bundled:modern"], "probes": [{"minimal-pairs": {"data": PAIRS}}]}
    first = pc.run(study, out, **QUICK)
    more = pc.run(study, out, models=[lm, "bundled:early-modern"], resume=True, **QUICK)
    assert len(first.results) == 1 and len(more.results) == 2
    (kept,) = (out / TABLES).iterdir()
    assert pl.read_ndjson(kept / "the data.jsonl").equals(PAIRS)
    other = {**study, "probes": [{"minimal-pairs": {"data": PAIRS.head(3)}}]}
    with pytest.raises(pc.StudyError, match="different study"):
        pc.run(other, out, resume=True, **QUICK)
    assert list((out / TABLES).iterdir()) == [kept], "what a refused study would read is not left behind"


def test_only_some_probes_of_a_study(tmp_path: Path) -> None:
    probes = [{"minimal-pairs": {"data": PAIRS}}, {"cloze": {"data": "early-modern-60", "limit": 2}}]
    study = {"study": "some", "models": ["bundled:modern"], "probes": probes}
    found = pc.run(study, tmp_path / "out", probe="cloze", batch_tokens=64, device="cpu", **QUICK)
    assert [place for place, _ in found.results] == ["cloze"]


def test_what_cannot_be_a_study_leaves_nothing_behind(lm: pc.LanguageModel, tmp_path: Path) -> None:
    out = tmp_path / "out"
    probe = pc.MinimalPairs(PAIRS)
    with pytest.raises(pc.ModelError):
        pc.run(probe, out, models="no-such-model-here", **QUICK)
    with pytest.raises(pc.MethodError, match=r"float32.*bfloat16"):
        pc.run(probe, out, models=lm, dtype="bfloat16", **QUICK)
    assert not out.exists()
    with pytest.raises(pc.MethodError, match=r"penchant\.open"):
        pc.Outcome(str(out))  # type: ignore[arg-type]


def test_loaded_models_of_another_format_decide_the_format(tmp_path: Path) -> None:
    half = pc.load("bundled:modern", dtype="bfloat16")
    found = pc.run(pc.MinimalPairs(PAIRS), tmp_path / "out", models=half, **QUICK)
    assert found["minimal-pairs", "bundled:modern"].signature["dtype"] == "bfloat16"


def test_ids_have_the_type_of_the_callers_table(lm: pc.LanguageModel, tmp_path: Path) -> None:
    numbered = PAIRS.with_columns(pl.Series("id", [7, 11, 13, 17]))
    texts = numbered.with_columns(pl.col("id").cast(pl.String))
    for frame, kind in ((numbered, pl.Int64), (texts, pl.String), (PAIRS, pl.String), (PAIRS.drop("id"), pl.Int64)):
        items = pc.MinimalPairs(frame, resamples=100).run(lm, progress=False).items
        assert items["id"].dtype == kind
        if "id" in frame.columns:
            assert items.join(frame, on="id")["good"].to_list() == frame["good"].to_list()
    found = pc.run(pc.MinimalPairs(texts, resamples=100), tmp_path / "out", models=lm, **QUICK)
    assert found["minimal-pairs", "bundled:modern"].items["id"].dtype == pl.String
    first, second = (pc.MinimalPairs(frame, resamples=100).run(lm, progress=False) for frame in (numbered, texts))
    assert first.items["id"].cast(pl.String).to_list() == second.items["id"].to_list()

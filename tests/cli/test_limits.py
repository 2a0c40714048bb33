"""Settings beyond all use, and what is no setting, are told before any work begins, with what is allowed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from answers import refused
from builders import Program, Zoo, write
from penchant.study.catalogue import schemas

TOO_LARGE = 10**400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pairs.tsv").write_text("good\tbad\na b\tb a\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("seed: true", "seed: input should be a valid integer, got True"),
        ("seed: -1", "seed: input should be greater than or equal to 0"),
        ("seed: '3'", "seed: input should be a valid integer, got '3'"),
        ("seed: 4294967296", "seed: input should be less than or equal to 4294967295"),
        (f"seed: {TOO_LARGE}", "less than or equal to 4294967295"),
        ("models: ['']", "models.0: string should have at least 1 character"),
        ("models: [true]", "models.0: is true, not a string: put it in quotes"),
        ("allow_pickle: 1", "allow_pickle: input should be a valid boolean"),
        ("vectors: {v: {method: glove, size: 1000000000}}", "vectors.v.size: input should be less than or equal to"),
        ("vectors: {v: {method: glove, x_max: .inf}}", "vectors.v.x_max: input should be a finite"),
        ("corpus: {text: a, per_word: 0}", "corpus.per_word: input should be greater than or equal to 1"),
        ("probes: [minimal-pairs: {data: a, normalise: [none, none]}]", "none is given twice"),
        ("probes: [minimal-pairs: {data: a, resamples: 1000000000}]", "less than or equal to 1000000"),
        ("probes: [minimal-pairs: {data: a, level: true}]", "level: input should be a valid number"),
        ("probes: [minimal-pairs: {data: a, level: .nan}]", "level: input should be"),
        ("probes: [cloze: {data: a, k: 1000000000}]", "k: input should be less than or equal to 100000"),
        ("probes: [cloze: {data: a, draws: 0}]", "draws: input should be greater than or equal to 1"),
        ("probes: [weat: {data: a, ddof: true}]", "ddof: input should be a valid integer"),
        ("probes: [weat: {data: a, draws: 1000000000}]", "draws: input should be less than or equal to"),
        ("probes: [weat: {data: a, exact: 1000000000}]", "exact: input should be less than or equal to"),
        ("probes: [seat: {data: a, layers: [true]}]", "layers.0: input should be a valid integer"),
        ("probes: [seat: {data: a, layers: [1000000000]}]", "layers.0: input should be less than or equal to"),
        ("probes: [ceat: {data: a, sentences: b, samples: [1000000000]}]", "samples.0: input should be less"),
        (f"probes: [ceat: {{data: a, sentences: b, segments: [{10**30}]}}]", "segments.0"),
    ],
)
def test_a_study(penchant: Program, folder: Path, change: str, told: str) -> None:
    keys = {"study": "s", "models": "['bundled:modern']", "probes": "[minimal-pairs: {data: pairs.tsv}]"}
    keys.pop(change.partition(":")[0], None)
    write(folder / "study.yaml", "".join(f"{key}: {value}\n" for key, value in keys.items()) + change)
    refused(penchant("run", "study.yaml", "-o", "out"), "study.yaml, line ", told)
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        f"fill -m bundled:modern -k {TOO_LARGE} x",
        "fill -m bundled:modern -k 0 x",
        "score -m bundled:modern --batch-tokens 1000000000000 pairs.tsv",
        "vectors train pairs.tsv -o v.txt --size 1000000000",
        "vectors train pairs.tsv -o v.txt --window 1000000000",
        "vectors train pairs.tsv -o v.txt --epochs 1000000000",
        "vectors train pairs.tsv -o v.txt --seed -1",
        f"corpus extract pairs.tsv --data associations-en -o o.parquet --seed {2**40}",
        "corpus extract pairs.tsv --data associations-en -o o.parquet --workers 1000000000",
        "pairs generate -n 1000000000000",
        "pairs generate -n 0",
        "pairs generate --seed -1",
        "ratings agreement pairs.tsv --resamples 1000000000000",
    ],
)
def test_options(penchant: Program, folder: Path, arguments: str) -> None:
    code, out, err = penchant(*arguments.split())
    assert (code, out, len(err.splitlines())) == (2, "", 1) and "Invalid value for" in err, err


@pytest.mark.parametrize("device", ["meta", "nonsense", "", "cuda:99", "cpu:x", "\ud800"])
def test_devices(penchant: Program, device: str) -> None:
    code, _, err = penchant("fill", "-m", "bundled:modern", "--device", device, "a [MASK] b")
    assert code == 0 if not device else code == 2 and len(err.splitlines()) == 1 and "cannot be used" in err, err


NAMES = ["", " ", "x" * 300, "x" * 5_000, "a\0b", "\udcff", "bundled:" + "y" * 5_000]


@pytest.mark.parametrize("name", [*NAMES, "a//b", "--", "a/--", "a/b/c", "a/b.git"])
def test_names_of_models(penchant: Program, name: str) -> None:
    refused(penchant("fill", "-m", name, "--cache", "none", "a [MASK] b"), "penchant: ")


def test_half_a_character_in_an_argument(penchant: Program) -> None:
    refused(penchant("fill", "-m", "bundled:modern", "--cache", "none", "a \udcff [MASK]"), "half of a surrogate pair")


@pytest.mark.parametrize(
    "change",
    [
        '{"architectures": [null]}',
        '{"architectures": 1180591620717411303424}',
        '{"num_attention_heads": -1}',
        '{"hidden_dropout_prob": NaN}',
        '{"hidden_size": "x"}',
        '{"vocab_size": 0}',
        '{"vocab_size": -1}',
        '{"model_type": null}',
        '{"model_type": 3}',
        '{"max_position_embeddings": "x"}',
        '{"max_position_embeddings": null}',
        '{"model_max_length": "x"}',
        '{"model_max_length": -1}',
    ],
)
def test_settings_of_a_checkpoint(penchant: Program, zoo: Zoo, tmp_path: Path, change: str) -> None:
    model = shutil.copytree(zoo("bert"), tmp_path / "model")
    file = model / ("tokenizer_config.json" if "model_max_length" in change else "config.json")
    write(file, json.dumps({**json.loads(file.read_text("utf-8")), **json.loads(change)}))
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


def test_standard_output_that_is_full(penchant: Program) -> None:
    with Path("/dev/full").open("w") as full:
        refused(penchant("schema", stdout=full), "standard output: cannot be written: No space left on device")

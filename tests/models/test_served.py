"""Models served over HTTP: proved or refused, and measured like the same model in this process."""

from __future__ import annotations

import math
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import torch
import yaml

import penchant as pc
from builders import Program, Zoo, contents, error_of, language_model, succeeded, write, write_study
from completion_server import Completions, serving
from penchant.engine.forward_requests import LogProbs
from penchant.engine.scorer import Scorer
from penchant.errors import ClusterError, MethodError, ModelError, ModelWarning
from penchant.models import served
from penchant.models.file_hashes import Digests
from penchant.models.load import cited, fingerprint, load_tokenizer
from penchant.models.served import SLOTS, ServedAddress
from penchant.study.manifest import read_manifest
from penchant.study.model_check import check
from zoo import PAIRS, SENTENCES

KEY = "sk-9f8e7d6c5b4a"
CLOSE = 1e-4


@pytest.fixture(autouse=True)
def _no_key_and_little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in served.KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(served, "WAITS", (0.01, 0.01))


@pytest.fixture
def server(zoo: Zoo) -> Iterator[Completions]:
    with serving(zoo("gpt2")) as completions:
        yield completions


@pytest.fixture
def spec(server: Completions, zoo: Zoo) -> str:
    return server.spec(zoo("gpt2"))


@pytest.fixture
def study(spec: str, tmp_path: Path) -> Path:
    """A study of the served model and the pairs of the zoo."""
    rows = "".join(f"{good}\t{bad}\tall\n" for good, bad in PAIRS)
    write(tmp_path / "pairs.tsv", f"good\tbad\tgroup\n{rows}")
    return write_study(tmp_path / "s.yaml", [spec], {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100}})


def logprobs(model: pc.LanguageModel, texts: list[str]) -> np.ndarray:
    return np.concatenate(pc.score(model, texts)["logprobs"].cast(pl.List(pl.Float64)).to_list()).astype(float)


@pytest.mark.parametrize("name", ["gpt2", "gpt2-no-bos", "llama", "mistral"])
@pytest.mark.parametrize("token_ids", [True, False])
def test_scores_are_those_of_the_local_model(zoo: Zoo, name: str, token_ids: bool) -> None:
    with serving(zoo(name)) as server:
        server.token_ids = token_ids
        model, local = language_model(server.spec(zoo(name))), language_model(zoo(name))
        assert (model.kind, model.begin, model.dtype, model.cautions) == ("causal", local.begin, "unknown", ())
        np.testing.assert_allclose(logprobs(model, SENTENCES[1:]), logprobs(local, SENTENCES[1:]), atol=CLOSE)
        assert 1 < server.busiest <= SLOTS
        assert model.served is not None
        assert model.served.moves < CLOSE


@pytest.mark.parametrize("adds_bos", [True, False])
def test_a_server_that_takes_only_text(server: Completions, spec: str, zoo: Zoo, adds_bos: bool) -> None:
    """The first token has no value; after it, values are those after the token that the server puts there, if any."""
    server.takes, server.adds_bos, server.token_ids = "text", adds_bos, False
    if adds_bos:
        with pytest.warns(ModelWarning):
            model = language_model(spec)
    else:
        model = language_model(spec)
    assert model.begin is None
    assert len(model.cautions) == adds_bos
    head = [server.tokenizer.bos_token_id] if adds_bos else []
    for text in SENTENCES[1:4]:
        ids = [*head, *model.tokenizer.token_ids([text])[0]]
        with torch.inference_mode():
            rows = server.model(torch.tensor([ids])).logits[0].log_softmax(-1)
        expected = [float(rows[i - 1, ids[i]]) for i in range(len(head) + 1, len(ids))]
        np.testing.assert_allclose(logprobs(model, [text]), [math.nan, *expected], atol=CLOSE)


def test_tokens_are_read_wherever_they_are_asked_for(server: Completions, spec: str, zoo: Zoo) -> None:
    """Also tokens that do not follow in the input: each has a prompt of its own."""
    model, local = language_model(spec), language_model(zoo("gpt2"))
    ids = tuple(local.tokenizer.encode([SENTENCES[5]])[0].ids)
    read = LogProbs(ids, (0, 3, 3, len(ids) - 1, len(ids) - 1), (ids[1], ids[4], 7, 8, 9))
    before = len(server.prompts)
    found, expected = (next(Scorer(each).engine.answer([read])).astype(float) for each in (model, local))
    np.testing.assert_allclose(found, expected, atol=CLOSE)
    assert len(server.prompts) - before == 3


FAULTS = """no-logprobs no-prompt late early holes certain two-values positive truncated double-bos wrong-bos no-bos
redirect html huge cut silent other-tokenizer noisy"""


@pytest.mark.parametrize("fault", FAULTS.split())
def test_faulty_servers_are_refused(
    server: Completions, spec: str, zoo: Zoo, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    server.fault = fault
    monkeypatch.setattr(served, "LARGEST", 1 << 20)
    if fault == "silent":
        monkeypatch.setattr(served, "TIMEOUT", 0.1)
        server.delay = 0.3
    if fault == "other-tokenizer":
        spec = server.spec(zoo("llama"))
    if fault == "noisy":
        server.noise = 2.0
    error = error_of(lambda: pc.load(spec), ModelError)
    assert error.where.startswith(server.url)


def test_a_fault_after_the_proof_is_refused_too(server: Completions, spec: str) -> None:
    model = language_model(spec)
    for fault in ("truncated", "no-prompt", "double-bos"):
        server.fault = fault
        error_of(lambda: pc.score(model, SENTENCES[5:6]), ModelError)
    server.fault = "positive"
    error_of(lambda: pc.score(model, SENTENCES[:1]), ModelError)


def test_small_noise_is_survived_measured_and_recorded(server: Completions, spec: str) -> None:
    server.noise = 0.05
    with pytest.warns(ModelWarning):
        model = language_model(spec)
    assert model.served is not None
    assert 0.01 < model.served.moves <= 0.05
    verdicts = {finding.name: finding.verdict for finding in check(model)}
    assert verdicts["repetition"] == verdicts["batch invariance"] == verdicts["loading"] == "warn"


def test_busy_slow_and_failing_servers(server: Completions, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(served, "time", SimpleNamespace(sleep=waits.append))
    server.statuses, server.headers = [429, 503], {"Retry-After": "7"}
    language_model(spec)
    assert waits == [7, 7]
    server.headers["Retry-After"] = "3600"
    server.statuses = [429]
    language_model(spec)
    assert waits[2:] == [served.LONGEST_WAIT]
    server.statuses, server.headers = [503] * 3, {}
    assert "503" in error_of(lambda: pc.load(spec), ModelError).message


def test_a_slow_server_is_waited_for(server: Completions, spec: str, zoo: Zoo) -> None:
    model = language_model(spec)
    server.delay = 0.2
    began = time.monotonic()
    found = logprobs(model, SENTENCES[1:9])
    assert 0.2 < time.monotonic() - began < 8 * 0.2  # side by side
    np.testing.assert_allclose(found, logprobs(language_model(zoo("gpt2")), SENTENCES[1:9]), atol=CLOSE)


def test_names_of_served_models() -> None:
    assert ServedAddress.of("http://h:1/v1/#a/b") == ServedAddress("http://h:1/v1", "a/b", "a/b")
    assert ServedAddress.of("https://h/v1#a?tokenizer=b?c") == ServedAddress("https://h/v1", "a", "b?c")
    for wrong in ("http://h/v1", "http://h/v1#", "http://#a", "http://h:x/v1#a", "http://h?q=1#a", "http://h#a@b"):
        error_of(lambda wrong=wrong: ServedAddress.of(wrong), ModelError)  # type: ignore[misc]
    for password in ("http://me:secret@h/v1#a", "http://me:sec#ret@h/v1#a"):
        assert "sec" not in str(error_of(lambda password=password: ServedAddress.of(password), ModelError))  # type: ignore[misc]


def test_no_server_no_model_no_tokenizer(server: Completions, spec: str, zoo: Zoo) -> None:
    error_of(lambda: pc.load(f"http://127.0.0.1:9/v1#tiny?tokenizer={zoo('gpt2')}"), ModelError)
    assert "tiny" in error_of(lambda: pc.load(f"{server.url}#small?tokenizer={zoo('gpt2')}"), ModelError).hint
    assert "?tokenizer=" in error_of(lambda: pc.load(f"{server.url}#tiny"), ModelError).hint
    error_of(lambda: pc.load(spec, name="other"), ModelError)
    assert load_tokenizer(spec)[1].digest == load_tokenizer(zoo("gpt2"))[1].digest
    assert not server.prompts


def test_the_fingerprint_is_of_server_name_version_and_tokenizer(server: Completions, spec: str, zoo: Zoo) -> None:
    digests = Digests(None)
    first = fingerprint(spec, digests)
    assert first == fingerprint(spec, digests) == language_model(spec).fingerprint
    assert cited(spec, digests) == f"served:tiny@{first[:7]}"
    assert fingerprint(server.spec(zoo("llama")), digests) != first
    server.version = "0.11"
    assert fingerprint(spec, digests) != first
    assert error_of(lambda: fingerprint("http://127.0.0.1:9/v1#tiny", digests), ModelError)


def test_what_a_server_cannot_do(server: Completions, spec: str) -> None:
    model = language_model(spec)
    asked = len(server.prompts)
    error_of(lambda: pc.surprisal(model, "The keys are here."), MethodError)
    error_of(lambda: pc.embed(model, ["The keys are here."]), ModelError)
    error_of(lambda: pc.fill(model, "The keys are [MASK]."), MethodError)
    assert len(server.prompts) == asked


def test_check_lists_the_proofs_and_compares_with_local_weights(
    server: Completions, spec: str, penchant: Program, zoo: Zoo
) -> None:
    out, _ = succeeded(penchant("check", "-m", spec, "--format", "tsv"))
    verdicts = dict(line.split("\t")[:2] for line in out.splitlines()[1:])
    proofs = {"prompt log-probabilities", "tokens of the server", "top tokens", "repetition", "alignment"}
    assert {verdicts[name] for name in {*proofs, "local weights", "batch invariance"}} == {"pass"}
    local = float(re.search(r"differ by up to ([\d.e-]+)", out)[1])  # type: ignore[index]
    assert local < CLOSE
    server.model.lm_head.weight.data *= 1.5  # weights other than those on this machine
    out, _ = succeeded(penchant("check", "-m", spec, "--format", "tsv"))
    assert dict(line.split("\t")[:2] for line in out.splitlines()[1:])["local weights"] == "warn"


def test_scores_on_the_command_line(spec: str, penchant: Program, zoo: Zoo) -> None:
    texts = "\n".join(SENTENCES[1:4])
    served_out, _ = succeeded(penchant("score", "-m", spec, stdin=texts))
    local_out, _ = succeeded(penchant("score", "-m", zoo("gpt2"), stdin=texts))
    found, expected = ([float(line.split("\t")[1]) for line in out.splitlines()[1:]] for out in (served_out, local_out))
    np.testing.assert_allclose(found, expected, atol=CLOSE)


def test_a_study_is_that_of_the_local_model_and_no_key_is_told(
    server: Completions, spec: str, study: Path, penchant: Program, zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = KEY
    code, _, err = penchant("run", study, "-o", "out")
    assert code == 2  # no key
    assert "401" in err
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    _, said = succeeded(penchant("run", study, "-o", "out"))
    succeeded(penchant("run", study, "-m", zoo("gpt2"), "-o", "local"))
    (unit,), (other,) = (read_manifest(Path(out) / "manifest.json").units for out in ("out", "local"))
    items = [
        pl.read_parquet(Path(out) / each.directory / "items.parquet") for out, each in (("out", unit), ("local", other))
    ]
    for column in ("good", "bad"):
        found, expected = (table[f"score_{column}"].to_numpy() for table in items)
        np.testing.assert_allclose(found, expected, atol=CLOSE)
    assert (unit.counts.batches, unit.model.dtype) == (2 * len(PAIRS), "unknown")
    assert unit.model.name == cited(spec, Digests(None))
    server.statuses = [400]  # whose message repeats the key
    errors = [error_of(lambda: pc.load(spec), ModelError)]
    monkeypatch.setenv("PENCHANT_API_KEY", "wrong-key-1234567")
    errors.append(error_of(lambda: pc.load(spec), ModelError))
    told = [*contents("out").values(), Path("cache.sqlite").read_bytes(), said.encode()]
    told += ["".join(traceback.format_exception(error)).encode() for error in errors]
    assert not [data for data in told if KEY.encode() in data or b"wrong-key" in data]
    monkeypatch.setenv("PENCHANT_API_KEY", KEY)
    model = language_model(spec)
    assert model.served is not None
    assert KEY not in repr(model) + repr(model.served) + repr(model.served.client)
    monkeypatch.setenv("PENCHANT_API_KEY", "two\nlines")
    assert "two" not in str(error_of(lambda: pc.load(spec), ModelError))


def test_a_killed_study_asks_for_nothing_twice(server: Completions, study: Path, penchant: Program) -> None:
    """But what was under way when it was killed."""
    command = "import sys; from penchant.cli.app import main; sys.argv[0] = 'penchant'; main()"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    arguments = ["run", str(study), "-o", "out"]
    running = subprocess.Popen([sys.executable, "-c", command, *arguments], env=environment, stderr=subprocess.DEVNULL)
    model = language_model(yaml.safe_load(study.read_text())["models"][0])
    proof = set(server.prompts)
    whole = {tuple(e.ids) for pair in PAIRS for e in model.tokenizer.encode(pair)} - proof
    while not (asked := whole.intersection(server.prompts)):
        assert running.poll() is None
        time.sleep(0.005)
    server.delay = 0.3  # so that it is killed before it has finished
    while len(asked) < SLOTS:
        asked = whole.intersection(server.prompts)
        time.sleep(0.005)
    running.kill()
    running.wait()
    succeeded(penchant("run", study, "-o", "out", "--resume"))
    every = [ids for ids in server.prompts if ids in whole]
    assert len(asked) < len(whole) == len(set(every))
    assert len(every) - len(whole) <= SLOTS


def test_a_changed_server_is_noticed(server: Completions, study: Path, penchant: Program) -> None:
    succeeded(penchant("run", study, "-o", "out"))
    asked = len(server.prompts)
    succeeded(penchant("run", study, "-o", "out", "--resume"))
    assert len(server.prompts) == asked
    server.version = "0.12"
    code, _, _ = penchant("run", study, "-o", "out", "--resume")
    assert code == 2
    succeeded(penchant("verify", "out"))


def test_a_study_with_a_server_that_is_refused_is_not_begun(
    server: Completions, study: Path, penchant: Program, tmp_path: Path
) -> None:
    server.fault = "late"
    assert penchant("run", study, "-o", "out")[0] == 2
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_no_cluster(server: Completions, spec: str, study: Path, tmp_path: Path) -> None:
    error_of(lambda: pc.run(study, tmp_path / "out", on="ray", progress=False), ClusterError)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_a_certificate_that_nobody_signed_is_refused(
    server: Completions, zoo: Zoo, penchant: Program, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-days", "1"]
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(zoo("gpt2"), context) as secure:
        code, out, err = penchant("check", "-m", secure.spec(zoo("gpt2")))
    assert (code, out) == (2, "") and "certificate" in err and not secure.prompts

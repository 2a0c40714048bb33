"""Failures of the hub: the program answers with one line and exit code 2, and soon."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from answers import Answer, refused
from hub_server import NAME, Hub, files

Zoo = Callable[[str], Path]
Penchant = Callable[..., Answer]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


FAILURES: dict[str, tuple[dict[str, Any], list[str]]] = yaml.safe_load("""
    a server that fails: [{request: ., status: 503}, ["(503)", run again later]]
    an error in the server: [{request: api, status: 500}, ["(500)", run again later]]
    weights that a server fails to give:
      [{request: HEAD .*model.safetensors, status: 502}, [model.safetensors, "(502)", run again later]]
    a storage that fails: [{request: storage, status: 500}, [model.safetensors, "(500)", run again later]]
    too many requests: [{request: ., status: 429, Retry_After: "120"}, [120 s, hf auth login]]
    access forbidden: [{request: ., status: 403}, [forbids, "(403)", HF_TOKEN]]
    a token that is wrong:
      - {request: ., status: 401, X_Error_Message: Invalid credentials in Authorization header}
      - [rejects your token, HF_TOKEN]
    a model that is disabled:
      [{request: ., status: 403, X_Error_Message: Access to this resource is disabled.}, [disabled]]
    something that is not the hub: [{request: HEAD, status: 200, ETag: '"1"'}, [HF_ENDPOINT]]
    a cut download: [{request: storage, kind: cut}, [model.safetensors, was interrupted, run again]]
    a cut answer: [{request: GET .*tokenizer.json, kind: cut}, [tokenizer.json, was interrupted, run again]]
    a damaged download: [{request: storage, kind: damaged}, [model.safetensors, damaged, run again]]
    a damaged tokenizer: [{request: GET .*tokenizer.json, kind: damaged}, [tokenizer.json, damaged, run again]]
    a silent server: [{request: HEAD .*config.json, kind: silent}, [no data for 1 s, HF_HUB_ETAG_TIMEOUT]]
    weights that are not asked for in time:
      - {request: HEAD .*model.safetensors, kind: silent}
      - [model.safetensors, no data for 1 s, HF_HUB_ETAG_TIMEOUT]
""")


SLOW = {"a server that fails", "a cut download", "a silent server", "weights that are not asked for in time"}
"""These take more than a second, because the client waits, between its attempts too. In the other cases it asks again
at once: how long it waits is the same."""
WAITING = [pytest.mark.whole]


def _do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the client ask again at once."""
    from huggingface_hub import file_download
    from huggingface_hub.utils import _http

    for module in (_http, file_download):
        monkeypatch.setattr(module, "time", SimpleNamespace(sleep=lambda seconds: None, time=time.time))


class TestOneLine:
    @pytest.mark.parametrize("case", [pytest.param(case, marks=WAITING * (case in SLOW)) for case in FAILURES])
    def test_failures(
        self,
        penchant: Penchant,
        hub: Hub,
        bert: str,
        zoo: Zoo,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        case: str,
    ) -> None:
        fault, parts = FAILURES[case]
        if case not in SLOW:
            _do_not_wait(monkeypatch)
        hub.fail(**fault)
        began = time.monotonic()
        refused(penchant("score", "-m", NAME, stdin="Rain\n"), NAME, *parts)
        assert time.monotonic() - began < 9
        assert not list((tmp_path / "hub").rglob("*.incomplete"))
        hub.faults.clear()
        code, out, err = penchant("score", "-m", NAME, stdin="Rain\n")
        assert (code, err) == (0, "")
        assert out == penchant("score", "-m", zoo("bert"), stdin="Rain\n")[1]

    @pytest.mark.whole
    @pytest.mark.parametrize(
        ("kind", "parts"),
        [
            ("silent", ("model.safetensors", "sent no data for 1 s", "HF_HUB_DOWNLOAD_TIMEOUT")),
            ("restarted", ("model.safetensors", "was interrupted", "run again")),
        ],
    )
    def test_a_download_that_does_not_end(
        self,
        penchant: Penchant,
        hub: Hub,
        bert: str,
        monkeypatch: pytest.MonkeyPatch,
        kind: str,
        parts: tuple[str, ...],
    ) -> None:
        from huggingface_hub import constants

        _do_not_wait(monkeypatch)
        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)  # parts of a small file are kept, as of a large one
        hub.fail("GET /storage", kind=kind)
        began = time.monotonic()
        refused(penchant("check", "-m", NAME), NAME, *parts)
        assert time.monotonic() - began < 30

    def test_names_and_revisions(self, penchant: Penchant, hub: Hub, bert: str) -> None:
        refused(penchant("check", "-m", "no/such"), "no/such", "no public model", "hf auth login", "HF_TOKEN")
        refused(penchant("check", "-m", f"{NAME}@nowhere"), NAME, "no branch, tag or commit 'nowhere'")
        refused(penchant("check", "-m", f"{NAME}@{'0' * 40}"), "no branch, tag or commit")
        refused(penchant("check", "-m", "no such"), "no such", "not a valid name of a model on the hub")
        refused(penchant("check", "-m", "vectors.txt"), "vectors.txt", "no such directory")
        refused(penchant("check", "-m", f"{NAME}@"), NAME, "no revision follows the @")

    def test_missing_files(self, penchant: Penchant, hub: Hub, zoo: Zoo) -> None:
        content = files(zoo("bert"))
        for missing, part in {
            "config.json": "config.json",
            "model.safetensors": "no safetensors weights",
            "tokenizer.json": "tokenizer",
        }.items():
            left = {name: data for name, data in content.items() if name != missing and "vocab" not in name}
            hub.repository("some/other").commit(left)
            refused(penchant("check", "-m", "some/other"), "some/other", part)

    def test_private_and_gated_models(
        self, penchant: Penchant, hub: Hub, bert: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        repository = hub.repository(NAME)
        repository.token = "hf_right"
        refused(penchant("check", "-m", NAME), "private model", "hf auth login", "HF_TOKEN")
        repository.gated = True
        refused(penchant("check", "-m", NAME), "accept its terms at", f"/{NAME}", "hf auth login", "HF_TOKEN")
        monkeypatch.setenv("HF_TOKEN", "hf_wrong")
        refused(penchant("check", "-m", NAME), "accept its terms at", f"/{NAME}")
        monkeypatch.setenv("HF_TOKEN", "hf_right")
        assert penchant("check", "-m", NAME)[0] == 0

    @pytest.mark.parametrize("host", ["127.0.0.1", "hub.invalid"])
    def test_no_network(
        self, penchant: Penchant, hub: Hub, bert: str, monkeypatch: pytest.MonkeyPatch, host: str
    ) -> None:
        from huggingface_hub import constants

        assert penchant("score", "-m", NAME, stdin="Rain\n")[0] == 0
        endpoint = f"http://{host}:{_free_port()}"
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        template = f"{endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        refused(penchant("check", "-m", "someone/else"), "someone/else", "cannot be reached", host, "local copy")
        assert penchant("score", "-m", NAME, stdin="Rain\n")[0] == 0

    @pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
    @pytest.mark.parametrize("cut", [False, True])
    def test_files_altered_in_the_local_cache(
        self, penchant: Penchant, hub: Hub, bert: str, tmp_path: Path, name: str, cut: bool
    ) -> None:
        assert penchant("score", "-m", NAME, stdin="Rain\n")[0] == 0
        blob = next((tmp_path / "hub").rglob(name)).resolve()
        data = blob.read_bytes()
        blob.write_bytes(data[:-9] if cut else data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
        for online in (True, False):
            if not online:
                hub.go()
            refused(penchant("check", "-m", NAME), NAME, name, "its hash differs", f"delete {blob}")
        blob.unlink()
        hub.faults.clear()
        assert penchant("score", "-m", NAME, stdin="Rain\n")[0] == 0

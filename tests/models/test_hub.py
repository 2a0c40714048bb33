"""Models of the hub, from a server on this machine: one commit, which is cited; and from the local cache alone."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load
from transformers import AutoModelForCausalLM

import penchant as pc
import zoo as tiny
from answers import Answer, refused
from builders import language_model as model
from hub_server import NAME, Hub, changed, files, git_hash, serving
from penchant.errors import ModelError, StudyError
from penchant.hub.cached_files import verify
from penchant.models.file_hashes import Digests
from penchant.models.load import load_tokenizer

Zoo = Callable[[str], Path]
Penchant = Callable[..., Answer]


def scores(loaded: pc.LanguageModel) -> list[list[float]]:
    return pc.score(loaded, tiny.SENTENCES[:6])["logprobs"].to_list()


class TestOneCommit:
    @pytest.mark.parametrize("name", ["bert", "gpt2"])
    def test_by_name_it_is_the_directory(self, hub: Hub, zoo: Zoo, name: str) -> None:
        commit = hub.repository(NAME).commit(files(zoo(name)))
        loaded = model(NAME)
        assert (loaded.name, loaded.fingerprint) == (f"{NAME}@{commit[:7]}", f"{NAME}@{commit}")
        assert scores(loaded) == scores(model(zoo(name)))

    def test_by_branch_tag_and_commit(self, hub: Hub, zoo: Zoo, bert: str, tmp_path: Path) -> None:
        other = hub.repository(NAME).commit(changed(files(zoo("bert"))), branch="refs/pr/1")
        hub.repository(NAME).refs["v1.0"] = bert
        for revision, commit in {
            "main": bert,
            "v1.0": bert,
            bert: bert,
            bert[:7]: bert,
            "refs/pr/1": other,
            other[:12]: other,
        }.items():
            loaded = model(f"{NAME}@{revision}")
            assert (loaded.name, loaded.fingerprint) == (f"{NAME}@{commit[:7]}", f"{NAME}@{commit}")
        assert scores(model(f"{NAME}@{bert}")) != scores(model(f"{NAME}@{other}"))

    def test_the_tokenizer_alone(self, hub: Hub, bert: str, zoo: Zoo) -> None:
        _, tokenizer = load_tokenizer(f"{NAME}@{bert}")
        assert tokenizer.count(tiny.SENTENCES) == load_tokenizer(zoo("bert"))[1].count(tiny.SENTENCES)
        assert not [request for request in hub.requests if "safetensors" in request]

    @pytest.mark.whole
    def test_shards(self, hub: Hub, zoo: Zoo, tmp_path: Path) -> None:
        shutil.copytree(zoo("gpt2"), tmp_path / "sharded")
        (tmp_path / "sharded" / "model.safetensors").unlink()
        AutoModelForCausalLM.from_pretrained(zoo("gpt2")).save_pretrained(tmp_path / "sharded", max_shard_size="60KB")
        content = files(tmp_path / "sharded")
        shards = [name for name in content if name.endswith(".safetensors")]
        assert len(shards) > 1
        repository = hub.repository(NAME)
        repository.commit(content)
        assert scores(model(NAME)) == scores(model(zoo("gpt2")))
        without = {name: data for name, data in content.items() if name != shards[0]}
        repository.commit(without, branch="torn")
        with pytest.raises(ModelError, match=f"has no {shards[0]}"):
            model(f"{NAME}@torn")
        hub.go()
        assert scores(model(NAME)) == scores(model(zoo("gpt2")))
        next((tmp_path / "hub").rglob(shards[0])).unlink()
        with pytest.raises(ModelError, match="only a part of the model"):
            model(NAME)

    def test_a_branch_that_moves_between_two_requests(self, hub: Hub, zoo: Zoo, bert: str) -> None:
        repository, content = hub.repository(NAME), changed(files(zoo("bert")))
        original, other = scores(model(zoo("bert"))), repository.commit(content, branch="next")

        def move(request: str) -> None:
            if request.startswith("GET") and request.endswith("config.json"):
                repository.refs["main"] = other

        hub.after = move
        loaded = model(NAME)
        assert repository.refs["main"] == other
        assert loaded.fingerprint == f"{NAME}@{bert}"
        assert scores(loaded) == original
        assert model(NAME).fingerprint == f"{NAME}@{other}"

    def test_only_what_is_needed_is_fetched(self, hub: Hub, zoo: Zoo, tmp_path: Path) -> None:
        extra = ("README.md", "pytorch_model.bin", "consolidated.safetensors", "onnx/config.json", "modeling.py")
        hub.repository(NAME).commit({**files(zoo("bert")), **dict.fromkeys(extra, b"x")})
        model(NAME)
        assert not [request for request in hub.requests if request.endswith(extra)]
        hub.requests.clear()
        model(NAME)
        assert not [request for request in hub.requests if request.startswith("GET") and "/api/" not in request]

    def test_code_of_the_checkpoint_is_of_the_same_commit(self, hub: Hub, zoo: Zoo) -> None:
        content = files(zoo("bert"))
        config = json.loads(content["config.json"])
        config["auto_map"] = {"AutoModelForMaskedLM": "modeling_own.OwnModel"}
        code = b"from transformers import BertForMaskedLM\n\n\nclass OwnModel(BertForMaskedLM):\n    pass\n"
        content = {**content, "config.json": json.dumps(config).encode(), "modeling_own.py": code}
        commit = hub.repository(NAME).commit(content)
        assert scores(model(NAME, trust_remote_code=True)) == scores(model(zoo("bert")))
        assert f"GET /{NAME}/resolve/{commit}/modeling_own.py" in hub.requests

    def test_pickled_weights_need_the_switch(self, hub: Hub, zoo: Zoo) -> None:
        content, pickled = files(zoo("bert")), io.BytesIO()
        torch.save(load(content.pop("model.safetensors")), pickled)
        content["pytorch_model.bin"] = pickled.getvalue()
        hub.repository(NAME).commit(content)
        with pytest.raises(ModelError, match=r"no safetensors weights.*--allow-pickle"):
            model(NAME)
        assert scores(model(NAME, allow_pickle=True)) == scores(model(zoo("bert")))


class TestWithoutTheHub:
    @pytest.mark.parametrize("revision", ["", "@main", "@v1", "@{commit}", "@{short}"])
    def test_the_local_cache_serves(self, hub: Hub, bert: str, revision: str) -> None:
        hub.repository(NAME).refs["v1"] = bert
        spec = NAME + revision.format(commit=bert, short=bert[:7])
        before = model(spec)
        expected = scores(before)
        hub.go()
        after = model(spec)
        assert (after.name, after.fingerprint) == (before.name, before.fingerprint)
        assert scores(after) == expected

    @pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
    def test_a_file_that_is_no_link_into_the_cache_is_not_believed(
        self, hub: Hub, bert: str, penchant: Penchant, tmp_path: Path, name: str
    ) -> None:
        """A replaced file may differ, but the commit would be cited for it."""
        model(NAME)
        place = next((tmp_path / "hub").rglob(f"snapshots/{bert}/{name}"))
        content = place.read_bytes()
        place.unlink()
        place.write_bytes(content)
        hub.go()
        code, _, err = penchant("fill", "-m", NAME, "The [MASK] king.")
        assert code == 2 and str(place.parent) in err
        elsewhere = tmp_path / hashlib.sha256(content).hexdigest()
        place.rename(elsewhere)
        place.symlink_to(elsewhere)
        assert penchant("fill", "-m", NAME, "The [MASK] king.")[0] == 2

    def test_a_cache_without_links_is_known_by_what_the_hub_stated(
        self, hub: Hub, bert: str, penchant: Penchant, tmp_path: Path
    ) -> None:
        """As on systems that have no links."""
        model(NAME)
        for place in (tmp_path / "hub").rglob(f"snapshots/{bert}/*"):
            place.write_bytes(content := place.read_bytes())
            place.unlink()
            place.write_bytes(content)
        right = penchant("fill", "-m", NAME, "The [MASK] king.")
        assert right[0] == 0
        hub.go()
        assert penchant("fill", "-m", NAME, "The [MASK] king.")[:2] == right[:2]
        place = next((tmp_path / "hub").rglob(f"snapshots/{bert}/config.json"))
        place.write_bytes(place.read_bytes() + b" ")
        assert penchant("fill", "-m", NAME, "The [MASK] king.")[0] == 2

    def test_a_file_that_changes_while_the_model_is_used(self, hub: Hub, bert: str, tmp_path: Path) -> None:
        loaded = model(NAME)
        place = next((tmp_path / "hub").rglob(f"snapshots/{bert}/model.safetensors")).resolve()
        os.utime(place)
        right = scores(loaded)  # touched alone
        content = bytearray(place.read_bytes())
        content[-9] ^= 1
        place.chmod(0o644)
        place.write_bytes(content)
        with pytest.raises(StudyError):
            scores(loaded)
        content[-9] ^= 1
        place.write_bytes(content)
        assert scores(loaded) == right

    def test_the_commit_of_a_signature_is_found_in_the_cache(self, hub: Hub, bert: str) -> None:
        cited = model(NAME).name
        hub.go()
        assert model(cited).fingerprint == f"{NAME}@{bert}"

    def test_a_whole_commit_outlives_its_repository(self, hub: Hub, bert: str) -> None:
        model(NAME)
        hub.repositories.clear()
        assert model(f"{NAME}@{bert}").fingerprint == f"{NAME}@{bert}"
        with pytest.raises(ModelError, match="no public model of that name"):
            model(NAME)

    def test_the_local_cache_serves_if_files_cannot_be_listed(self, hub: Hub, bert: str) -> None:
        model(NAME)
        hub.fail("/api/", 500)
        assert model(NAME).fingerprint == f"{NAME}@{bert}"

    def test_a_part_of_a_model_is_none(self, hub: Hub, bert: str) -> None:
        load_tokenizer(NAME)
        hub.go()
        load_tokenizer(NAME)
        with pytest.raises(ModelError, match=r"503.*only a part of the model"):
            model(NAME)


class TestHashes:
    def test_the_hash_of_git(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"hello\n")
        by_git = "ce013625030ba8dba906f756967f9e9ca394464a"  # git hash-object
        verify("m", tmp_path / "file", by_git, Digests(None).sha256)

    @given(st.binary(min_size=1, max_size=300), st.integers(0, 299), st.integers(1, 255), st.booleans())
    def test_every_changed_or_lost_byte_is_noticed(self, data: bytes, at: int, mask: int, large: bool) -> None:
        at %= len(data)
        digest = hashlib.sha256(data).hexdigest() if large else git_hash(data)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "file")
            path.write_bytes(data)
            verify("m", path, digest, Digests(None).sha256)
            for other in (data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :], data[:at], data + data[:1]):
                path.write_bytes(other)
                with pytest.raises(ModelError, match="its hash differs"):
                    verify("m", path, digest, Digests(None).sha256)


PROGRAM = """
import contextlib, io, json, sys
from penchant.cli.app import main

for line in sys.stdin:
    sys.argv, out, err = ["penchant", *json.loads(line)], io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@contextlib.contextmanager
def program(home: Path, **environment: str) -> Iterator[Callable[..., Answer]]:
    """The program in a process of its own, for several commands."""
    environment = {**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", **environment}
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, env=environment) as process:
        assert process.stdin is not None and process.stdout is not None
        given, said = process.stdin, process.stdout

        def run(*arguments: object) -> Answer:
            print(json.dumps([str(argument) for argument in arguments]), file=given, flush=True)
            code, out, err = json.loads(said.readline())
            return code, out, err

        yield run
        given.close()


@pytest.mark.slow  # the same in this process is tested above
def test_the_program_on_its_own(penchant: Penchant, zoo: Zoo, tmp_path: Path) -> None:
    """Nothing of the client is changed here: its settings come from the environment."""
    texts, home = tmp_path / "texts.txt", tmp_path / "home"
    texts.write_text("Rain\nThe cats sleep .\n", "utf-8")
    expected = penchant("score", "-m", zoo("bert"), texts)
    with serving() as server, program(home, HF_ENDPOINT=server.endpoint) as run:
        commit = server.repository(NAME).commit(files(zoo("bert")))
        server.fail("storage", kind="damaged")
        refused(run("score", "-m", NAME, texts), "model.safetensors", "damaged")
        server.faults.clear()
        assert run("score", "-m", NAME, texts) == expected
    with program(home, HF_ENDPOINT=server.endpoint) as run:
        assert run("score", "-m", f"{NAME}@{commit[:7]}", texts) == expected
        refused(run("score", "-m", "someone/else", texts), "someone/else", "cannot be reached", "local copy")
    with program(home, HF_HUB_OFFLINE="1") as run:
        assert run("score", "-m", NAME, texts) == expected

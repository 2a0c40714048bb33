"""Data named on the hub are files of one commit: fetched once, cited with it, and read again without a network."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import penchant as pc
from answers import Answer, refused
from builders import succeeded
from hub_server import Hub, Repository
from penchant.corpus.block_reader import stored_parts
from penchant.corpus.text_files import find_texts
from penchant.errors import DataError
from penchant.hub import data_sets as hub_data
from penchant.hub.data_sets import FORM, HubData, address, fetched, pinned, pinned_url
from penchant.instruments.minimal_pairs.data import read_many, read_pairs
from penchant.instruments.minimal_pairs.probe import MinimalPairs

Penchant = Callable[..., Answer]
NAME = "someone/pairs"
SET = f"hf://datasets/{NAME}"


def table(*pairs: tuple[str, str]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([("good", "bad"), *pairs])
    return text.getvalue().encode()


FILES = {
    "README.md": b"# Pairs\n",
    ".gitattributes": b"*.csv text\n",
    "data/one.csv": table(("The cats sleep.", "The cats sleeps."), ("She sings.", "She sing.")),
    "data/two.csv": table(("They walk.", "They walks.")),
    "data/deep/three.csv": table(("We read.", "We reads.")),
}
MOVED = {**FILES, "data/one.csv": table(("Rain falls.", "Rain fall."))}
STUDY = """study: s
models: [bundled:modern]
probes:
  - minimal-pairs: {{data: {data}, resamples: 100, normalise: none}}
"""


@pytest.fixture
def pairs(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A data set on the hub; nothing is known of its branches."""
    forget(monkeypatch)
    repository = hub.repository(f"datasets/{NAME}")
    repository.commit(FILES)
    return repository


def main(repository: Repository) -> str:
    return repository.refs["main"]


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a new process, which knows no branch."""
    monkeypatch.setattr(hub_data, "_commits", {})


class TestNames:
    @pytest.mark.parametrize(
        ("name", "parts"),
        [
            ("hf://datasets/o/n/a/b.csv", ("o/n", "", "a/b.csv")),
            ("hf://datasets/o/n@v1/a.csv", ("o/n", "v1", "a.csv")),
            ("hf://datasets/o/n@refs%2Fpr%2F1/*.csv", ("o/n", "refs/pr/1", "*.csv")),
            ("hf://datasets/o/n", ("o/n", "", "")),
            (Path("hf://datasets/o/n@main/a.csv"), ("o/n", "main", "a.csv")),  # which makes one slash of two
        ],
    )
    def test_forms(self, name: str | Path, parts: tuple[str, str, str]) -> None:
        data = HubData.of(name)
        assert (data.name, data.revision, data.path) == parts and data.given.startswith("hf://")

    @pytest.mark.parametrize(
        "name",
        ["a//b", "--/x", "a/--", "a/a--b", "a..b/c", "a b/c", "a/b.git", "é/b", f"a/{'b' * 300}", f"{'a' * 300}/b/c"],
    )
    @pytest.mark.parametrize("at", ["", "@" + "0" * 40, "@main/t.csv"])
    def test_names_of_no_repository(self, penchant: Penchant, name: str, at: str) -> None:
        refused(penchant("score", "-m", "bundled:modern", "--cache", "none", f"hf://datasets/{name}{at}"))

    @pytest.mark.parametrize(
        "name", ["hf://o/n/a.csv", "hf://datasets/o", "hf://datasets/o/n@/a", "hf://datasets/o/n/../a", "hf://"]
    )
    def test_other_forms_are_refused(self, name: str) -> None:
        with pytest.raises(DataError, match="is not a valid hub address") as caught:
            fetched(name)
        assert FORM in str(caught.value)


class TestFetching:
    def test_a_file(self, pairs: Repository, hub: Hub) -> None:
        (file,) = fetched(f"{SET}/data/one.csv")
        assert file.read_bytes() == FILES["data/one.csv"]
        assert address(file) == f"{SET}@{main(pairs)}/data/one.csv"
        asked = len(hub.requests)
        assert fetched(f"{SET}/data/one.csv") == [file] and len(hub.requests) == asked

    @pytest.mark.parametrize(
        ("pattern", "names"),
        [
            ("data/*.csv", ["data/one.csv", "data/two.csv"]),
            ("**/*.csv", ["data/deep/three.csv", "data/one.csv", "data/two.csv"]),
            ("*/t*.csv", ["data/two.csv"]),
            ("data/*/*", ["data/deep/three.csv"]),
        ],
    )
    def test_patterns(self, pairs: Repository, pattern: str, names: list[str]) -> None:
        found = fetched(f"{SET}/{pattern}")
        assert [address(file).partition(f"{main(pairs)}/")[2] for file in found] == names
        assert [file.read_bytes() for file in found] == [FILES[name] for name in names]

    def test_a_directory_has_the_files_inside_it(self, pairs: Repository) -> None:
        (folder,) = fetched(f"{SET}/data")
        assert sorted(path.name for path in folder.iterdir()) == ["one.csv", "two.csv"]
        assert [found.name for found in read_many([f"{SET}/data"])] == ["one", "two"]

    def test_revisions(self, pairs: Repository) -> None:
        first = main(pairs)
        pairs.refs["v1"] = first
        pairs.commit(MOVED)
        for revision, content in ("", MOVED), ("@main", MOVED), ("@v1", FILES), (f"@{first}", FILES):
            assert fetched(f"{SET}{revision}/data/one.csv")[0].read_bytes() == content["data/one.csv"]
        assert fetched(f"{SET}@{first[:8]}/data/two.csv")[0].read_bytes() == FILES["data/two.csv"]

    def test_a_branch_is_one_commit_in_a_process(self, pairs: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        before = main(pairs)
        fetched(f"{SET}/data/two.csv")
        pairs.commit(MOVED)
        assert fetched(f"{SET}/data/one.csv")[0].read_bytes() == FILES["data/one.csv"]
        with pinned({}) as commits:
            assert fetched(f"{SET}/data/one.csv")[0].read_bytes() == MOVED["data/one.csv"]
            assert commits == {f"{NAME}@main": main(pairs)}
        with pinned({f"{NAME}@main": before}):
            assert pinned_url(f"{SET}/data") == f"{SET}@{before}/data"

    def test_a_damaged_file_is_refused(self, pairs: Repository, hub: Hub) -> None:
        hub.fail("GET .*one.csv", kind="damaged")
        with pytest.raises(DataError, match="damaged during the download"):
            fetched(f"{SET}/data/one.csv")
        hub.faults.clear()
        (file,) = fetched(f"{SET}/data/one.csv")
        file.resolve().write_bytes(FILES["data/two.csv"])
        with pytest.raises(DataError, match="its hash differs"):
            fetched(f"{SET}/data/one.csv")


class TestOffline:
    def test_what_was_fetched_is_there(self, pairs: Repository, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
        names = [f"{SET}{at}/{path}" for at in ("", "@main", f"@{main(pairs)[:9]}") for path in ("data", "data/*.csv")]
        names += [f"{SET}/data/one.csv"]
        found = [fetched(name) for name in names]
        hub.go()
        forget(monkeypatch)
        assert [fetched(name) for name in names] == found
        from huggingface_hub import constants

        hub.faults.clear()
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        forget(monkeypatch)
        asked = len(hub.requests)
        assert [fetched(name) for name in names] == found and len(hub.requests) == asked

    def test_a_folder_of_which_one_file_is_there_is_not_taken_for_whole(self, pairs: Repository, hub: Hub) -> None:
        fetched(f"{SET}/data/one.csv")
        hub.go()
        for name in f"{SET}/data", f"{SET}/data/*.csv", f"{SET}/data/two.csv":
            with pytest.raises(DataError, match=r"the hub reports an error \(503\); the local cache has no copy"):
                fetched(name)


class TestOneLine:
    @pytest.mark.parametrize(
        ("name", "parts"),
        [
            ("hf://datasets/someone/none/a.csv", ("no public data set of that name", "hf auth login")),
            (
                f"{SET}@v9/data/one.csv",
                ("no branch, tag or commit 'v9' of someone/pairs", "check the name after the @"),
            ),
            (f"{SET}/data/oen.csv", ("is not a file or directory of someone/pairs at", "did you mean data/one.csv")),
            (f"{SET}/one.csv", ("did you mean data/one.csv",)),
            (f"{SET}/data/*.tsv", ("matches no file of",)),
        ],
    )
    def test_what_is_not_there(self, pairs: Repository, penchant: Penchant, name: str, parts: tuple[str, ...]) -> None:
        refused(penchant("audit", name, "-m", "bundled:modern"), name, *parts)

    def test_a_gated_set(self, pairs: Repository, penchant: Penchant) -> None:
        pairs.gated, pairs.token = True, "secret"
        told = ("this data set is available only to users who have accepted its terms", f"/datasets/{NAME}")
        refused(penchant("audit", f"{SET}/data/one.csv", "-m", "bundled:modern"), *told)

    def test_no_network(self, pairs: Repository, hub: Hub, penchant: Penchant, monkeypatch: pytest.MonkeyPatch) -> None:
        from huggingface_hub import constants

        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        refused(penchant("check", "-m", "bundled:modern", f"{SET}/data/one.csv"), "disabled (HF_HUB_OFFLINE)")

    def test_a_pattern_where_one_file_is_read(self, pairs: Repository) -> None:
        with pytest.raises(DataError, match=rf"matches 2 files, but only one can be read — give one, such as {SET}@"):
            read_pairs(f"{SET}/data/*.csv")

    def test_a_bad_row_is_told_with_its_address(self, pairs: Repository, penchant: Penchant) -> None:
        commit = pairs.commit({**FILES, "data/bad.csv": b"good,bad\na,\n"})
        refused(
            penchant("audit", f"{SET}/data/bad.csv", "-m", "bundled:modern"), f"{SET}@{commit[:7]}/data/bad.csv, line 2"
        )


class TestWhereDataAreNamed:
    def test_audit_and_check(self, pairs: Repository, penchant: Penchant) -> None:
        out, _ = succeeded(penchant("audit", f"{SET}/data", "-m", "bundled:modern", "--format", "jsonl"))
        assert {row["dataset"]: row["pairs"] for row in map(json.loads, out.splitlines())} == {"one": 2, "two": 1}
        succeeded(penchant("check", "-m", "bundled:modern", f"{SET}/data/one.csv"))

    def test_rate(self, pairs: Repository, penchant: Penchant, tmp_path: Path) -> None:
        pytest.importorskip("starlette")
        rate = ("rate", f"{SET}/data/one.csv", "-o", "r.sqlite", "--raters", "a")
        succeeded(penchant(*rate, "--html", tmp_path / "pages"))
        assert any("The cats sleep." in page.read_text("utf-8") for page in (tmp_path / "pages").iterdir())

    def test_python(self, pairs: Repository) -> None:
        assert len(read_pairs(f"{SET}/data/one.csv").items) == 2
        result = pc.MinimalPairs(data=f"{SET}/data/*.csv", resamples=100).run(pc.load("bundled:modern"))
        assert result.signature["hub"] == f"{NAME}@{main(pairs)}"
        assert sorted(set(result.items["file"])) == ["one", "two"]

    def test_other_instruments(self, pairs: Repository) -> None:
        place = Path(__file__).parents[2] / "src/penchant/instruments/associations/sets"
        some = next(place.iterdir())
        inside = {f"sets/{some.name}/{file.name}": file.read_bytes() for file in some.iterdir() if file.is_file()}
        pairs.commit({**FILES, **inside})
        named = pc.SEAT(data=f"{SET}/sets/{some.name}").files([])
        assert [file.read_bytes() for file in named] == [file.read_bytes() for file in pc.SEAT(data=some).files([])]

    def test_a_local_copy_gives_the_same_numbers(self, pairs: Repository, tmp_path: Path) -> None:
        shutil.copy(fetched(f"{SET}/data/one.csv")[0], tmp_path / "one.csv")
        model = pc.load("bundled:modern")
        here, there = (
            MinimalPairs(data=data, resamples=100).run(model)
            for data in (str(tmp_path / "one.csv"), f"{SET}/data/one.csv")
        )
        assert here.items.equals(there.items) and here.signature["data"] == there.signature["data"]
        assert "hub" not in here.signature


class TestStreams:
    """Streams read through fsspec, from one commit."""

    def test_files_are_of_one_commit(self, pairs: Repository) -> None:
        first = main(pairs)
        found = find_texts([f"{SET}/data/*.csv", f"{SET}/data/deep"])
        pairs.commit(MOVED)
        assert [file.place for file in found] == [
            f"{SET}@{first}/data/{name}.csv" for name in ("one", "two", "deep/three")
        ]
        assert [file.name for file in found] == ["one.csv", "two.csv", "deep/three.csv"]
        names = "data/one.csv", "data/two.csv", "data/deep/three.csv"
        assert [b"".join(stored_parts(file.place)) for file in found] == [FILES[name] for name in names]

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            (f"{SET}/data/four.csv", "no files found"),
            (f"{SET}@v9/data", "no branch, tag or commit 'v9'"),
            ("hf://datasets/someone/none/a", "no public data set of that name"),
        ],
    )
    def test_one_line(self, pairs: Repository, name: str, told: str) -> None:
        with pytest.raises(DataError, match=told) as caught:
            find_texts([name])
        assert name in str(caught.value) and "\n" not in str(caught.value)


class TestStudies:
    def test_the_commit_is_recorded_and_read_again(
        self, pairs: Repository, penchant: Penchant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A study goes on with the commit of its beginning; a rerun reads what the branch is now."""
        (tmp_path / "s.yaml").write_text(STUDY.format(data=f"'{SET}/data/one.csv'"))
        first = main(pairs)
        assert penchant("run", "s.yaml", "-o", "out")[0] == 0
        manifest = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))
        assert manifest["hub"] == {f"{NAME}@main": first}
        assert [record["path"] for record in manifest["data"]] == [f"{SET}@{first}/data/one.csv"]
        signature = next(tmp_path.glob("out/minimal-pairs/*modern/signature.txt")).read_text("utf-8")
        assert f"|hub:{NAME}@{first}" in signature.splitlines()[0]

        pairs.commit(MOVED)
        forget(monkeypatch)
        models = ("-m", "bundled:modern", "-m", "bundled:early-modern")
        succeeded(penchant("run", "s.yaml", "-o", "out", "--resume", *models))
        again = next(tmp_path.glob("out/minimal-pairs/*early-modern/signature.txt")).read_text("utf-8")
        assert f"|hub:{NAME}@{first}" in again.splitlines()[0]

        succeeded(penchant("run", "s.yaml", "-o", "out", "--rerun"))
        manifest = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))
        assert manifest["hub"] == {f"{NAME}@main": main(pairs)} != {f"{NAME}@main": first}

    def test_a_study_is_read_again_without_a_network(
        self, pairs: Repository, hub: Hub, penchant: Penchant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "s.yaml").write_text(STUDY.format(data=f"['{SET}/data']"))
        assert penchant("run", "s.yaml", "-o", "out")[0] == 0
        hub.go()
        forget(monkeypatch)
        asked = len(hub.requests)
        succeeded(penchant("run", "s.yaml", "-o", "out", "--resume"))
        assert len(hub.requests) == asked

"""A study goes on with more models or fewer: nothing finished is measured again, and what is taken out is kept."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from studies import change_result, change_weights, pairs_study, trained_study

from answers import Answer, refused
from builders import Program, Zoo, contents, succeeded, write
from manifests import rewritten
from penchant.study.manifest import Manifest, read_manifest
from penchant.study.read_results import read_outcome

PAIRS = "good\tbad\tgroup\nThe cats sleep.\tThe cats sleeps.\ta\nShe sings.\tShe sing.\tb\nIt rained.\tIt rain.\tb\n"
MORE = "The dog sleeps.\tThe dog sleep.\tb\n"
A, B, C = "./bert", "./gpt2", "./roberta"
NOTE = "is not shown, because the study no longer includes it"


@pytest.fixture
def study(zoo: Zoo, tmp_path: Path) -> Path:
    """A study of pairs with three models of its own directory."""
    return pairs_study(zoo, tmp_path / "here", PAIRS, "bert", "gpt2", "roberta", names={A: "Bertha"})


@pytest.fixture
def run(penchant: Program, study: Path) -> Program:
    """Run it with some models into a directory."""

    def of(*models: str, out: str = "out", more: tuple[str, ...] = ("--resume",)) -> Answer:
        chosen = [word for model in models for word in ("-m", model)]
        return penchant("run", study, *chosen, "-o", out, *more)

    return of


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The place of a copy of the study with two models, which the first test that needs it leaves for the others."""
    return tmp_path_factory.mktemp("finished") / "copy"


@pytest.fixture
def both(run: Program, study: Path, kept: Path, tmp_path: Path) -> Path:
    """The study, finished with the first two models."""
    if kept.exists():
        shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    else:
        succeeded(run(A, B, more=()))
        shutil.copytree(tmp_path, kept)
    return tmp_path / "out"


def well(answer: Answer) -> str:
    """Standard output of what succeeded."""
    return succeeded(answer)[0]


def manifest(out: str | Path = "out") -> Manifest:
    return read_manifest(Path(out) / "manifest.json")


def measured(out: str | Path = "out") -> list[list[str]]:
    """The models that each attempt measured."""
    return [[unit.spec for unit in attempt.units] for attempt in manifest(out).attempts]


def shown(out: str | Path = "out") -> list[str]:
    """The models whose results are shown, in order."""
    return [spec for _, spec in read_outcome(out).results]


def result(out: str | Path, model: str) -> Path:
    """The directory of the pairs of a model."""
    return next(Path(out).glob(f"minimal-pairs/{Path(model).name}@*"))


def require_as_fresh(penchant: Program, run: Program, *models: str, exports: bool = False) -> None:
    """Tables, what the terminal shows, and exports are those of a run with these models from the beginning."""
    well(run(*models, out="fresh", more=()))
    ours, fresh = read_outcome("out"), read_outcome("fresh")
    assert list(ours.results) == list(fresh.results)
    for key, one in fresh.results.items():
        assert ours.results[key].summary.equals(one.summary, null_equal=True)
        assert ours.results[key].items.equals(one.items, null_equal=True)
        assert ours.results[key].signature == one.signature
    assert ours.comparisons.keys() == fresh.comparisons.keys()
    for place, table in fresh.comparisons.items():
        assert ours.comparisons[place].equals(table, null_equal=True)
    assert well(penchant("report", "out", "--full")) == well(penchant("report", "fresh", "--full"))
    for form in ("csv", "latex") if exports else ():
        for out in ("out", "fresh"):
            well(penchant("export", out, "--to", form, "-o", f"{out}-{form}"))
        tables = {name: data for name, data in contents(f"out-{form}").items() if not name.startswith(".")}
        assert tables == {name: data for name, data in contents(f"fresh-{form}").items() if not name.startswith(".")}
    shutil.rmtree("fresh")


def test_a_model_more(penchant: Program, run: Program) -> None:
    well(run(A, more=()))
    refused(run(A, B, more=()), "already contains a study")
    well(run(B, A))
    assert measured() == [[A], [B]]
    assert shown() == [B, A]
    assert manifest().asked.models == [B, A]
    well(run(A, B, C))
    assert measured() == [[A], [B], [C]]
    assert len(read_outcome("out").comparisons["minimal-pairs"].select("first", "second").unique()) == 3
    require_as_fresh(penchant, run, A, B, C, exports=True)
    assert not manifest().set_aside


def test_a_model_fewer(penchant: Program, run: Program, both: Path) -> None:
    kept = {path: path.read_bytes() for path in result(both, B).iterdir()}
    out, err = succeeded(run(A))
    assert measured() == [[A, B], []]
    assert f"gpt2@{result(both, B).name.partition('@')[2][:7]}" in err and NOTE in " ".join(err.split())
    assert "gpt2" not in out
    assert {path: path.read_bytes() for path in result(both, B).iterdir()} == kept
    page = (both / "report.html").read_text("utf-8")
    assert page.count(NOTE) == 1
    (aside,) = manifest().set_aside
    assert (aside.spec, [unit.spec for unit in aside.units]) == (B, [B])
    assert not (both / "minimal-pairs" / "comparison.parquet").exists()
    require_as_fresh(penchant, run, A, exports=True)
    code, out, err = penchant("report", "out")
    assert NOTE in " ".join(err.split())
    well(run(C, out="second", more=()))
    code, out, err = penchant("compare", "out", "second")
    assert code == 0 and "gpt2" not in out and NOTE in " ".join(err.split()), err
    kept = {path: path.read_bytes() for path in result(both, B).iterdir()}
    well(run(C, A))  # a third, while one is set aside
    assert measured() == [[A, B], [], [C]]
    require_as_fresh(penchant, run, C, A)
    assert {path: path.read_bytes() for path in result(both, B).iterdir()} == kept


def test_a_model_is_taken_up_again(penchant: Program, run: Program, both: Path, study: Path) -> None:
    well(run(A))
    well(run(B))  # both ways at once
    assert [record.spec for record in manifest().set_aside] == [A]
    assert "Bertha is not shown" in " ".join(penchant("report", "out")[2].split())
    code, _, err = run(A, B)
    assert code == 0 and NOTE not in " ".join(err.split()), err
    assert measured() == [[A, B], [], [], []]
    assert not manifest().set_aside
    require_as_fresh(penchant, run, A, B)
    well(run(B, A))  # the order alone
    assert measured()[-1] == []
    require_as_fresh(penchant, run, B, A)
    shutil.rmtree(study.parent / "gpt2")  # its results are there, as on every resume
    well(run(A))
    well(run(A, B))


@pytest.mark.parametrize("name", ["items.parquet", "signature.txt", "settings.json", "left-out.json", "removed"])
def test_an_edited_result_is_not_taken_up(penchant: Program, run: Program, both: Path, name: str) -> None:
    well(run(A))
    path = result(both, B) / ("items.parquet" if name == "removed" else name)
    if name == "removed":
        path.unlink()
    else:
        change_result(path)
    well(penchant("report", "out"))  # what is not shown is not looked at
    well(run(A))
    before = contents("out")
    refused(run(A, B), path.name, "was removed" if name == "removed" else "was edited", "--rerun")
    assert contents("out") == before
    code, _, err = run(A, B, more=("--rerun",))
    assert code == 0 and "are measured again" in " ".join(err.split()), err
    assert measured()[-1] == [B]
    require_as_fresh(penchant, run, A, B)


def test_a_model_that_changed_is_not_taken_up(penchant: Program, run: Program, both: Path, study: Path) -> None:
    well(run(A))
    change_weights(study.parent / "gpt2")
    well(run(A))
    before = contents("out")
    refused(run(A, B), f"the model {B} changed", "--rerun")
    assert contents("out") == before
    well(run(B, A, more=("--rerun",)))
    assert measured()[-1] == [B]
    require_as_fresh(penchant, run, B, A)


def test_data_and_settings_that_changed_meanwhile(penchant: Program, run: Program, both: Path, study: Path) -> None:
    """An archived model was measured on the data and with the settings of that time, whatever changed since."""
    well(run(A))
    (study.parent / "pairs.tsv").write_text(PAIRS + MORE, "utf-8")
    refused(run(A), "pairs.tsv changed")
    refused(run(A, B), "pairs.tsv changed")
    well(run(A, more=("--rerun",)))
    assert measured()[-1] == [A]
    before = contents("out")
    refused(run(A, B), "pairs.tsv changed", "--rerun")
    assert contents("out") == before
    (study.parent / "pairs.tsv").write_text(PAIRS, "utf-8")  # as it was for the other
    well(run(A, B, more=("--rerun",)))
    assert measured()[-1] == [A]
    require_as_fresh(penchant, run, A, B)
    well(run(A))
    text = study.read_text("utf-8")
    study.write_text(text.replace("resamples: 100", "resamples: 200"), "utf-8")
    refused(run(A), "a different study", "its resamples was 100 and is now 200", "--rerun")
    well(run(A, more=("--rerun",)))
    refused(run(A, B), "the parameters of minimal-pairs changed (its resamples was 100 and is now 200)", "--rerun")
    well(run(B, A, more=("--rerun",)))
    assert measured()[-1] == [B]
    require_as_fresh(penchant, run, B, A)


def test_rerun_with_other_models_at_once(penchant: Program, run: Program, both: Path, study: Path) -> None:
    change_weights(study.parent / "bert")
    refused(run(A, C), f"the model {A} changed")
    well(run(C, A, more=("--rerun",)))
    assert measured()[-1] == [C, A]
    assert [record.spec for record in manifest().set_aside] == [B]
    require_as_fresh(penchant, run, C, A)


def test_everything_else_stays_refused(penchant: Program, run: Program, both: Path, study: Path) -> None:
    text, before = study.read_text("utf-8"), contents("out")
    for change, told in (
        (("study: s", "study: t"), "its study was 's' and is now 't'"),
        (("probes:", "seed: 3\nprobes:"), "its seed was 0 and is now 3"),
        (("names:", "- minimal-pairs: {data: pairs.tsv}\nnames:"), "with other probes"),
    ):
        study.write_text(text.replace(*change), "utf-8")
        refused(run(A, C), "a different study", told)
        refused(run(A), "a different study", told)
    study.write_text(text, "utf-8")
    refused(run(A, C, more=("--resume", "--dtype", "bfloat16")), "its dtype was 'float32' and is now 'bfloat16'")
    refused(run(A, C, more=()), "already contains a study")
    assert contents("out") == before


def test_interrupted_and_gone_on_with_a_model_more(
    penchant: Program, run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penchant.instruments.minimal_pairs.probe import MinimalPairs

    measure = MinimalPairs.measure

    def stopping(self: Any, session: Any) -> Any:
        if session.model.name.startswith("gpt2"):
            raise KeyboardInterrupt
        return measure(self, session)

    with monkeypatch.context() as patched:
        patched.setattr(MinimalPairs, "measure", stopping)
        assert run(A, B, more=())[0] == 130
        assert run(A, C, B)[0] == 130
        assert measured() == [[A], [C]]
        assert run(C, B)[0] == 130  # a model fewer
        assert measured() == [[A], [C], []]
        out, err = succeeded(penchant("report", "out"))
        assert "bert@" not in out.replace("roberta@", "") and NOTE in " ".join(err.split())
        assert not read_outcome("out").comparisons
    well(run(A, B, C))
    assert measured() == [[A], [C], [], [B]]
    require_as_fresh(penchant, run, A, B, C)


@pytest.mark.parametrize("name", ["../../../foreign.txt", "/etc/foreign.txt"])
def test_what_is_set_aside_lies_in_the_directory(penchant: Program, run: Program, both: Path, name: str) -> None:
    well(run(A))

    def change(content: dict[str, Any]) -> None:
        content["set_aside"][0]["units"][0]["files"][name] = "0" * 64

    rewritten(both, change)
    for answer in (run(A, B, more=("--rerun",)), penchant("report", "out")):
        refused(answer, "is not inside the study directory")


def test_two_names_of_one_model_are_not_taken_up_together(run: Program, both: Path, study: Path) -> None:
    (study.parent / "link").symlink_to(study.parent / "gpt2")
    shutil.copytree(study.parent / "gpt2", study.parent / "copy" / "gpt2")
    well(run(A, "./copy/gpt2"))  # another name, another result
    before = contents("out")
    refused(run(A, B, "./copy/gpt2"), "models: ", "are both gpt2@")
    assert contents("out") == before


def test_vectors_that_the_study_trains(penchant: Program, tmp_path: Path) -> None:
    """They stay where they are, and are not taken up once their text is another."""
    study = trained_study(tmp_path / "here", {"a b": 4, "a_b": 5})
    text = (tmp_path / "here" / "text.txt").read_text("utf-8")
    command = ("run", study, "-o", "out")
    well(penchant(*command))
    before = {path: path.stat().st_mtime_ns for path in Path("out", "vectors").iterdir()}
    well(penchant(*command, "-m", "trained:a_b", "--resume"))
    well(penchant(*command, "-m", "trained:a_b", "-m", "trained:a b", "--resume"))
    assert measured() == [["trained:a b", "trained:a_b"], [], []]
    assert {path: path.stat().st_mtime_ns for path in Path("out", "vectors").iterdir()} == before
    well(penchant(*command, "-m", "trained:a_b", "--resume"))
    write(tmp_path / "here" / "text.txt", text * 2)
    well(penchant(*command, "-m", "trained:a_b", "--rerun"))
    refused(penchant(*command, "--resume"), "text.txt, from which vectors/a_b.txt was made, changed", "--rerun")
    well(penchant(*command, "--rerun"))
    assert measured()[-2:] == [["trained:a_b"], ["trained:a b"]]
    assert [unit.model.name.partition("@")[0] for unit in manifest().units] == ["a_b", "a_b-2"]


def test_words_of_a_model_that_is_not_shown_are_not_rated(penchant: Program, tmp_path: Path) -> None:
    well(penchant("init", "cloze", "here"))
    (tmp_path / "here" / "ratings.csv").write_text("sentence,word,rater,rating\n", "utf-8")
    study = tmp_path / "here" / "cloze.yaml"
    run = ("run", study, "-o", "out")
    well(penchant(*run, "-m", "bundled:modern"))
    alone = well(penchant("ratings", "export", "out"))
    well(penchant(*run, "-m", "bundled:modern", "-m", "bundled:early-modern", "--resume"))
    assert well(penchant("ratings", "export", "out")) != alone
    well(penchant(*run, "-m", "bundled:modern", "--resume"))
    assert well(penchant("ratings", "export", "out")) == alone
    assert well(penchant("ratings", "export", "out/cloze")) == alone

"""Studies from Python: what `penchant.run` returns and tells, that every error of it is one of penchant, and that
`penchant.report` is a function."""

from __future__ import annotations

import copy
import errno
import inspect
import json
import pickle
import pydoc
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import penchant
from builders import refusal
from given_data import PAIRS

pc: Any = penchant  # calls that a type checker would refuse
BOTH = ["bundled:modern", "bundled:early-modern"]


def study(**keys: Any) -> dict[str, Any]:
    """A study of the pairs, with other keys."""
    pairs = {"minimal-pairs": {"data": "pairs.csv", "resamples": 100}}
    return {"study": "s", "models": ["bundled:modern"], "probes": [pairs], **keys}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(PAIRS, schema=["good", "bad"], orient="row").write_csv("pairs.csv")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The outcome of a study of two models."""
    folder = tmp_path_factory.mktemp("found")
    pl.DataFrame(PAIRS, schema=["good", "bad"], orient="row").write_csv(folder / "pairs.csv")
    return pc.run(study(models=BOTH), folder / "out", data=folder)


# What is returned -------------------------------------------------------------------------------------------------


def test_names_that_are_not_there_are_told_with_those_that_are(found: Any) -> None:
    keys = [("minimal-pairs", model) for model in BOTH]
    assert list(found.results) == keys and found[keys[0]] is found.results[keys[0]]
    all_ = "use one of ['minimal-pairs', 'bundled:modern']; ['minimal-pairs', 'bundled:early-modern']"
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: found.results["minimal-pairs"], "unknown result 'minimal-pairs' — did you mean ['minimal-pairs', 'b"),
        (lambda: found["minimal-pair", "bundled:modern"], f"did you mean ['minimal-pairs', 'bundled:modern'] or {'['}"),
        (lambda: found.results["minimal-pairs", "modern"], "did you mean ['minimal-pairs', 'bundled:modern']"),
        (lambda: found.results["values", "gpt2"], f"unknown result ['values', 'gpt2'] — {all_}"),
        (lambda: found.comparisons["cloze"], "unknown comparison 'cloze' — use one of 'minimal-pairs'"),
        (lambda: found.by_place()["minimal-pair"], "unknown probe 'minimal-pair' — did you mean 'minimal-pairs'?"),
        (lambda: found.comparison, "has no attribute 'comparison' — did you mean comparisons?"),
        (lambda: found[keys[0]].signature["modle"], "a signature: has no key 'modle' — did you mean model?"),
        (lambda: found[keys[0]].charts()["acuracy"], "unknown chart 'acuracy' — did you mean 'accuracy'?"),
        (lambda: found[keys[0]].sumary, "a result: has no attribute 'sumary' — did you mean summary?"),
        (
            lambda: pc.compare(found, found),
            "compare(): an Outcome is not a result — give two results, such as FOUND.res",
        ),
    ]
    for call, part in wrong:
        assert part in refusal(call)
    with pytest.raises(KeyError):  # what Python expects of a mapping
        found.results["values"]
    with pytest.raises(AttributeError):
        getattr(found, "sumary")  # noqa: B009
    assert found.results.get(("values", "gpt2")) is None and found[keys[0]].signature.get("modle") is None
    assert "values" not in found.comparisons


def test_what_is_returned_can_be_copied_and_sent(found: Any) -> None:
    for again in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert list(again.results) == list(found.results) and repr(again) == repr(found)
        with pytest.raises(pc.PenchantError, match=r"^unknown result \['cloze', 'x'\] — use one of "):
            again.results["cloze", "x"]


def test_one_model_has_no_differences(found: Any) -> None:
    assert found.differences().height > 0
    alone = pc.run(study(), "out")
    with pytest.raises(
        pc.StudyError, match=r"^no two models were compared — list two models in the study, or compare two"
    ):
        alone.differences()


# Errors -----------------------------------------------------------------------------------------------------------


def test_a_failed_run_is_one_error_of_penchant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line speaks of parameters, not of options, and of keys, not of lines of a file that nobody wrote."""
    pc.run(study(), "there")
    endless = study()
    endless["probes"].append(endless)
    wrong: list[tuple[Callable[[], Any], str]] = [
        (
            lambda: pc.run(study(), "there"),
            "there: already contains a study — continue with resume=True, or give another d",
        ),
        (lambda: pc.run(study(modles=[]), "out"), "study: modles: unknown key, did you mean models? — see penchant sc"),
        (lambda: pc.run(study(seed=float("nan")), "out"), "study: seed: input should be a valid integer, got nan"),
        (lambda: pc.run(study(), "out", cache="pairs.csv"), "or use another cache or none (cache=)"),
        (lambda: pc.run(study(), "o\0ut"), "run(): out contains the character NUL — check the path"),
        (lambda: pc.run(study(), "out", on="rya"), "on=rya: is not a cluster address"),
        (
            lambda: pc.run(study(), "out", workers=2),
            "workers, cpus and gpus apply only to a cluster — set the argument `on`, for example on=",
        ),
        (lambda: pc.run(study(), "out", models=[]), "run(), models: no model was given — omit models"),
        (lambda: pc.run(endless, "out"), "study: contains itself"),
        (lambda: pc.run(study(), "pairs.csv/out"), "cannot be written: Not a directory"),
        (lambda: pc.run(study(models=["no-such-model"]), "out"), "no-such-model: no such directory, and it cannot be"),
    ]
    for call, part in wrong:
        message = refusal(call)
        assert part in message and "--" not in message
    Path("pairs.csv").write_text("good,bad\na,b\n", "utf-8")
    with pytest.raises(
        pc.StudyError, match=r"since the study was started — give another directory, .* with rerun=True$"
    ):
        pc.run(study(), "there", resume=True)

    full = OSError(errno.ENOSPC, "No space left on device", "report.html")
    for error, told in ((full, "report.html: No space left on device"), (MemoryError(), "not enough memory")):

        def fail(*_: object, error: BaseException = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("penchant.study.python_api.write_report", fail)
        with pytest.raises(pc.PenchantError, match=f"^{told}"):
            pc.run(study(), f"out-{told[:3]}")


def test_numbers_of_numpy_and_paths_are_taken_in_a_study() -> None:
    pairs = {"minimal-pairs": {"data": Path("pairs.csv").absolute(), "resamples": np.int64(100)}}
    taken = pc.run(study(models=np.array(["bundled:modern"]), probes=(pairs,), seed=np.int64(3)), "out")
    (result,) = taken.results.values()
    assert (result.signature["seed"], result.signature["resamples"]) == ("3", "100")


def test_a_result_in_memory_is_no_directory(found: Any) -> None:
    (result, *_) = found.results.values()
    for call in (pc.report, lambda given: pc.report("out", given), lambda given: pc.export(given, "csv")):
        with pytest.raises(pc.MethodError, match=r"directory|other") as error:
            call(result)
        assert "result.charts() returns its charts" in str(error.value)
        with pytest.raises(pc.MethodError, match=r"give the directory that the study was written to$"):
            call(found)


# Progress ---------------------------------------------------------------------------------------------------------


def test_progress_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    pc.run(study(), "short")
    assert capfd.readouterr() == ("", "")  # a short run has nothing to tell
    monkeypatch.setattr("penchant.progress.FIRST_LINE", 0)
    monkeypatch.setattr("penchant.progress.NEXT_LINE", 0)
    pc.run(study(models=BOTH), "long")
    out, err = capfd.readouterr()
    assert out == "" and "minimal-pairs · bundled:early-modern (2 of 2): 3 of 3, " in err
    pc.run(study(), "silent", progress=False)
    assert capfd.readouterr() == ("", "")
    with pytest.raises(pc.MethodError, match="progress must be bool, got 'no'"):
        pc.run(study(), "out", progress="no")


def test_notes_are_told_without_progress_too(capfd: pytest.CaptureFixture[str]) -> None:
    pc.run(study(), "out", progress=False)
    Path("pairs.csv").write_text("good,bad\nShe sings.,She sing.\nHe ran.,Him ran.\n", "utf-8")
    pc.run(study(), "out", progress=False, rerun=True)
    assert capfd.readouterr().err.startswith("note: pairs.csv")


def test_a_study_in_a_notebook_shows_its_answers_and_where_the_report_is() -> None:
    found = pc.run(study(), "out", cache="none", limit=1, progress=False)
    shown = found._repr_html_()
    assert "bundled:modern prefers" in shown and "out/report.html" in shown
    (result,) = found.results.values()
    assert len(result.items) == 1 and any("a pilot" in caution for caution in result.cautions)


def test_an_interrupted_study_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("penchant.study.python_api.run_study", stop)
    with pytest.raises(KeyboardInterrupt) as error:
        pc.run(study(), "out", cache="none", progress=False)
    assert error.value.__notes__ == ["finished work is kept: repeat the call with resume=True to continue"]


# The function `report` --------------------------------------------------------------------------------------------


def test_report_is_a_function_and_a_room() -> None:
    """In whatever way its modules are imported, before and after the function is first used."""
    ways = [
        "import penchant.report.page",
        "import penchant.report",
        "from penchant.report import page\nassert callable(page.write_report)",
        "import penchant\nassert type(penchant.report).__name__ == 'function', penchant.report",
        "from penchant.report.tables import ReportTable",
        "import penchant.report.latex",
        "from penchant import report\nassert report is penchant.report and report.__name__ == 'report'",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(ways)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_shows_the_function_report() -> None:
    assert isinstance(pc.report, types.FunctionType) and pc.report.__module__ == "penchant.study.python_api"
    assert list(inspect.signature(pc.report).parameters) == ["directory", "other", "out", "trust_edited"]
    shown = " ".join(pydoc.plain(pydoc.render_doc(pc.report)).split())  # Python 3.13 breaks long signatures
    assert "directory: str | Path, other: str | Path | None = None, *, out: " in shown
    assert "Write a report on a result directory" in shown
    assert pickle.loads(pickle.dumps(pc.report)) is pc.report
    assert "report" in dir(pc) and "report" in pc.__all__


def test_a_loaded_model_keeps_the_number_format_of_a_study_file() -> None:
    given = {**study(), "dtype": "bfloat16"}
    Path("s.yaml").write_text(json.dumps(given))
    model = pc.load("bundled:modern")
    with pytest.raises(pc.MethodError):
        pc.run("s.yaml", "out", models=[model])
    assert not Path("out").exists()
    Path("s.yaml").write_text(json.dumps(study()))
    result = pc.run("s.yaml", "out", models=[model]).results["minimal-pairs", "bundled:modern"]
    assert result.signature["dtype"] == "float32"

"""Fixtures for all tests: no network, one thread, the zoo of tiny models, and the program."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import hypothesis
import pytest
import typer.main

from machines import Machines, started

if TYPE_CHECKING:
    from hub_server import Hub

# Read when the libraries are first imported, so set before any test module brings them in. One thread: the
# models are too small to share out, and the workers of a parallel run would get in each other's way.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
if not os.environ.get("PENCHANT_TEST_CARD"):
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # numbers to five places are a CPU's; test_card.py compares a card with it
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # else Ray replaces the loopback by this machine's address
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Each run draws others; a test that needs more says so, and `--hypothesis-profile default` draws 100.
hypothesis.settings.register_profile("few", max_examples=40)
hypothesis.settings.load_profile("few")


WHOLE = {
    "test_acceptability.py",  # more than two seconds
    "test_amplification.py",  # more than two seconds
    "test_adapters.py",  # many models
    "test_architectures.py",  # more than two seconds
    "test_asked.py",  # replies, and a program that is killed
    "test_asked_pairs.py",  # replies
    "test_association_compare.py",  # many comparisons
    "test_association_stats.py",  # more than two seconds
    "test_association_studies.py",  # studies on real data
    "test_batch_invariance.py",  # rounding, architecture by architecture
    "test_bec_pro.py",  # more than two seconds
    "test_blimp_vocabulary.py",  # whole grammars
    "test_brute.py",  # the references of other tests
    "test_ceat.py",  # more than two seconds
    "test_changes_since_start.py",  # many studies
    "test_cli.py",  # more than two seconds
    "test_cloze.py",  # more than two seconds
    "test_cloze_data.py",  # more than two seconds
    "test_continuation_scores.py",  # many models
    "test_control_category.py",  # many resamples
    "test_controversial_pairs.py",  # from a grammar to a rating page
    "test_conventions.py",  # many studies
    "test_corpus_commands.py",  # processes
    "test_correlations.py",  # more than two seconds
    "test_crossed_mean.py",  # more than two seconds
    "test_database_file.py",  # processes that are killed
    "test_demo.py",  # a large model
    "test_encoder_decoder.py",  # many models
    "test_every_instrument.py",  # a study of each
    "test_export.py",  # LaTeX
    "test_extraction.py",  # processes that are killed
    "test_face.py",  # many studies
    "test_families.py",  # many studies
    "test_faults.py",  # processes
    "test_first_hour.py",  # many runs of the program
    "test_first_tables.py",  # studies with two models
    "test_flips.py",  # two hundred damaged files
    "test_from_text.py",  # training
    "test_gc_control.py",  # processes
    "test_generate.py",  # whole grammars
    "test_gest.py",  # ten published models
    "test_glove.py",
    "test_group_distance.py",  # many studies
    "test_hostile.py",  # many runs of the program
    "test_hostile_commands.py",  # many runs of the program
    "test_hub.py",  # a server
    "test_hub_data.py",  # a server
    "test_hub_failures.py",  # and waits for it
    "test_human_judgements.py",  # more than two seconds
    "test_known_shifts.py",  # more than two seconds
    "test_labels.py",  # studies with reports
    "test_last_layer.py",  # more than two seconds
    "test_last_loaded.py",  # many models
    "test_limits.py",
    "test_little_room.py",  # processes
    "test_logprob_bias.py",  # more than two seconds
    "test_minimal_pairs.py",  # more than two seconds
    "test_models.py",  # more than two seconds
    "test_more_models.py",  # many runs of small studies
    "test_names.py",
    "test_near_duplicates.py",
    "test_next_steps.py",  # many studies
    "test_nfc.py",  # more than two seconds
    "test_no_difference_text.py",  # studies with two models
    "test_outdated.py",  # studies with reports and exports
    "test_outputs.py",
    "test_papers.py",  # many studies
    "test_phrases.py",  # more than two seconds
    "test_pilots.py",  # a study of each instrument
    "test_python_studies.py",  # many studies
    "test_rater_agreement.py",  # many studies
    "test_rating_sheets.py",  # more than two seconds
    "test_report.py",  # a browser
    "test_report_associations.py",
    "test_runs_of_probes.py",  # many studies
    "test_same_report.py",  # processes
    "test_same_tables.py",  # processes
    "test_sampled_effects.py",  # more than two seconds
    "test_score_table.py",  # more than two seconds
    "test_screens.py",  # many studies
    "test_sentence_scores.py",  # many models
    "test_served.py",  # a server, and a program that is killed
    "test_site.py",  # every page
    "test_sets_in_python.py",  # many studies
    "test_spelled_words.py",  # many runs of probes
    "test_start.py",  # processes
    "test_stereoset.py",  # more than two seconds
    "test_stereotypes.py",  # more than two seconds
    "test_surprisal.py",  # processes
    "test_table_kinds.py",  # more than two seconds
    "test_terminal.py",  # processes
    "test_text_defects.py",  # more than two seconds
    "test_text_files.py",  # more than two seconds
    "test_third_party.py",  # installs a package
    "test_unequal_items.py",  # studies of every instrument
    "test_unfit_models.py",  # many models
    "test_study_from_table.py",  # models that are tried
    "test_user_tables.py",  # many studies
    "test_value_verdicts.py",  # many studies
    "test_values.py",  # more than two seconds
    "test_vector_bias.py",  # more than two seconds
    "test_vector_training.py",  # training
    "test_vectors.py",  # more than two seconds
    "test_verify.py",  # many studies
    "test_watched_files.py",  # many models
    "test_weat_seat.py",  # more than two seconds
    "test_winobias.py",  # more than two seconds
    "test_winogender.py",  # more than two seconds
    "test_word2vec.py",
    "test_word_families.py",  # many tokenizers
    "test_word_surprisal.py",  # many tokenizers
    "test_words.py",  # every docstring and page
}
"""Modules that `scripts/test --fast` leaves out; single tests elsewhere are marked `whole`."""
DEAR = {
    "test_a_chat_model_is_asked_in_every_order",
    "test_every_command_with_a_model_remembers",
    "test_every_setting_comes_back_as_it_was",
    "test_judgements_of_pairs_reach_a_study",
    "test_published_pairs_on_the_command_line",
    "test_respondents_of_none_of_the_groups_of_people_are_counted",
    "test_settings_of_a_result_that_was_saved_alone_are_looked_at",
    "test_settings_that_a_study_did_not_write_are_refused",
    "test_the_authors_numbers_of_a_sample",
}
"""Tests of more than a second in other modules, which it leaves out too."""
LONG = {"test_studies.py", "test_validity.py"}
"""Modules that take half a minute or more though they are not among those."""
FAST = {"bert", "gpt2"}
"""Of a test that takes many architectures, `scripts/test --fast` runs those with one of these."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import the modules that are left out: every worker would, and some bring large libraries."""
    asked = config.getoption("markexpr")
    left_out = collection_path.name in WHOLE and "not whole" in asked
    return left_out or (collection_path.name == "recomputed" and "not slow" in asked) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `scripts/test --fast` leaves out."""
    from zoo import ALL

    for item in items:
        parameters = getattr(item, "callspec", None)
        models = {value for value in parameters.params.values() if isinstance(value, str)} if parameters else set()
        name = getattr(item, "originalname", item.name)
        if item.path.name in WHOLE or name in DEAR or (models & set(ALL) and not models & FAST):
            item.add_marker(pytest.mark.whole)
    # The long modules first, so that no worker begins one when the others have nothing left to do.
    items.sort(key=lambda item: (item.path.parent.name != "cluster", item.path.name not in {*WHOLE, *LONG}))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have whole modules run by one worker, as `--dist loadfile` does, and all that needs a cluster by the same one."""
    from xdist.scheduler import LoadFileScheduling

    if config.getoption("dist") != "loadfile":
        return None

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            module = super()._split_scope(nodeid)
            return "tests/cluster" if module.startswith("tests/cluster/") else module

    return Scheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage while the tests are imported, and never look at the imported modules again: every full
    collection would go through the million objects of torch and transformers, which none of them frees. Others are
    imported by the first tests that need them, so look more rarely than every 700 objects."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


@pytest.fixture(scope="session")
def zoo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from a model's name (see `zoo.ALL`) to its directory; each is made once per run."""
    from zoo import build

    # The workers of a parallel run have temporary directories side by side and share what stands beside them.
    # A model takes some 20 ms to make, so nothing is kept for the next run, and nothing can be out of date.
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if hasattr(request.config, "workerinput") else base) / "zoo"
    return lambda name: build(name, home)


_built = cache(typer.main.get_command)
"""The command line, built once and not at every run of it: that takes longer than most commands."""


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the answers of studies that tests run from Python out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PENCHANT_CACHE", str(tmp_path_factory.mktemp("cache") / "answers.sqlite"))
        # A test that changes how a model computes needs its own proofs, not those of other tests or their processes.
        patch.setattr("penchant.models.file_hashes.Digests.proved", lambda *_: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _drawn_once() -> Iterator[None]:
    """Draw equal charts once: several formats and tests export the same ones, and a chart takes up to a second."""
    import vl_convert

    with pytest.MonkeyPatch.context() as patch:
        for name in ("vegalite_to_svg", "svg_to_png", "svg_to_pdf"):
            patch.setattr(vl_convert, name, lru_cache(300)(getattr(vl_convert, name)))
        yield


@pytest.fixture
def penchant(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Run the program in this process: exit code, standard output (unless it goes to a file), standard error."""
    from penchant.cli import app as cli

    monkeypatch.setenv("PENCHANT_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(typer.main, "get_command", _built)

    def run(*arguments: object, stdin: str = "", stdout: TextIO | None = None) -> tuple[int, str, str]:
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", ["penchant", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", type("Input", (), {"buffer": BytesIO(stdin.encode())})())
        with monkeypatch.context() as patch, pytest.raises(SystemExit) as stop:
            patch.setattr(sys, "stdout", stdout or sys.stdout)
            cli.main()
        out, err = capfd.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, out, err

    return run


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A hub that the client in this process asks, with an empty local cache and short patience."""
    from huggingface_hub import close_session, constants

    from hub_server import serving

    with serving() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        template = f"{hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 1)
        monkeypatch.setattr(constants, "HF_HUB_ETAG_TIMEOUT", 1)
        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        yield hub
        close_session()


@pytest.fixture
def bert(hub: Hub, zoo: Callable[[str], Path]) -> str:
    """The commit of a masked model on the hub."""
    from hub_server import NAME, files

    return hub.repository(NAME).commit(files(zoo("bert")))


@pytest.fixture(scope="session")
def _machines() -> Iterator[Machines]:
    pytest.importorskip("ray")
    machines = started()
    yield machines
    machines.cluster.shutdown()


@pytest.fixture
def machines(_machines: Machines) -> Machines:
    """A cluster with two machines of one processor each."""
    _machines.complete()
    return _machines


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, object], Path]:
    """Write a file of this name below the temporary directory."""
    import builders

    return lambda name, content: builders.write(tmp_path / name, content)

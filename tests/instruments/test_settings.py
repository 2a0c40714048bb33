"""Settings of probes: what a result keeps of them comes back as it was, and names no folder; what is damaged is
refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given
from pydantic import BaseModel

import penchant as pc
from answers import Answer, refused
from builders import write, write_study
from manifests import rewritten
from penchant.errors import StudyError
from penchant.instruments.disco.settings import DiscoSettings
from penchant.instruments.minimal_pairs.settings import MinimalPairsSettings
from penchant.instruments.registry import instruments
from penchant.instruments.settings import Settings
from penchant.records import SETTINGS

Program = Callable[..., Answer]
NAMES = sorted(instruments())
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=12)
PAIRS = "good\tbad\nThe cats sleep.\tThe cats sleeps.\nShe sings.\tShe sing.\nWe go.\tWe goes.\n"


def again(settings: Settings) -> Settings:
    """The settings that a result of these gives back, once it was written and read."""
    return type(settings).of(json.loads(json.dumps(settings.saved())))


def values(annotation: Any, metadata: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Values of the type of a field, as JSON has them; some are out of bounds."""
    parts = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return values(parts[0], (*metadata, *annotation.__metadata__))
    if get_origin(annotation) is Literal:
        return st.sampled_from(parts)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields.items()
        given_ = {name: values(each.annotation, tuple(each.metadata)) for name, each in fields}
        needed = {name for name, each in fields if each.is_required()}
        return st.fixed_dictionaries({name: given_.pop(name) for name in sorted(needed)}, optional=given_)
    if get_origin(annotation) in (list, tuple):
        return st.lists(values(parts[0]), min_size=1, max_size=3, unique_by=json.dumps)
    if get_origin(annotation) is dict:
        return st.dictionaries(values(parts[0]), values(parts[1]), max_size=2)
    simple: dict[Any, st.SearchStrategy[Any]] = {
        type(None): st.none(),
        bool: st.booleans(),
        str: TEXT,
        int: st.integers(-3, 3) | st.integers(100, 20_000),
        float: st.floats(0, 1, exclude_min=True, exclude_max=True) | st.floats(1, 500),
    }
    return simple[annotation] if annotation in simple else st.one_of([values(part, metadata) for part in parts])


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_every_setting_comes_back_as_it_was(name: str, data: st.DataObject) -> None:
    probe = instruments()[name].probe
    needed = {field for field, each in probe.model_fields.items() if each.is_required()}
    chosen = {*needed, *data.draw(st.sets(st.sampled_from(sorted(probe.model_fields)), max_size=4))}
    fields = {
        field: data.draw(values(each.annotation, tuple(each.metadata)), field)
        for field, each in probe.model_fields.items()
        if field in chosen and field != "compat"
    }
    try:
        settings = probe.of(fields)
    except StudyError as error:
        assert "measure again" in str(error)
        assume(False)
    assert again(settings) == settings
    assert again(settings).saved() == settings.saved()
    assert all(settings.saved()[field] == fields[field] for field in chosen & {"level", "seed", "limit", "on_unknown"})


@pytest.mark.parametrize(
    ("name", "preset"), [(name, preset) for name in NAMES for preset in instruments()[name].probe.presets]
)
def test_what_a_preset_chose_comes_back(name: str, preset: str) -> None:
    probe = instruments()[name].probe
    needed = {field: "d" for field, each in probe.model_fields.items() if each.is_required()}
    settings = probe.of({**needed, "compat": preset})
    chosen = probe.presets[preset]
    assert {field: settings.saved()[field] for field in chosen} == json.loads(json.dumps(dict(chosen)))
    assert again(settings) == settings
    other = settings.model_copy(update={"resamples": 123})  # what was set is not filled from the preset again
    assert again(other) == other


def test_files_are_kept_as_they_were_named_without_absolute_folders(tmp_path: Path) -> None:
    saved = pc.MinimalPairs(data=["sets/a.tsv", str(tmp_path / "b.tsv")], human=tmp_path / "h.csv").saved()
    assert (saved["data"], saved["human"]) == (["sets/a.tsv", "b.tsv"], "h.csv")
    assert pc.MinimalPairs(data="hf://datasets/o/s@0123456/a.jsonl").saved()["data"].startswith("hf://datasets/o/s@")
    assert pc.MinimalPairs(data=[("She sings.", "She sing.")]).saved()["data"] == "the data"
    texts = {"bundled:modern": str(tmp_path / "m.txt"), "b": [str(tmp_path / "b.txt"), "c.txt"]}
    assert pc.Amplification(data="d", text=texts).saved()["text"] == {
        "bundled:modern": "m.txt",
        "b": ["b.txt", "c.txt"],
    }
    corpora = pc.Cloze(data="d", corpora={"low": str(tmp_path / "l.txt"), "high": "h.txt"}).saved()["corpora"]
    assert (corpora["low"], corpora["high"]) == ("l.txt", "h.txt")
    assert pc.BecPro(data="d", same={"/a": "/b"}).saved()["same"] == {"/a": "/b"}  # templates, and no files
    assert pc.Disco(data="odd\udcff.yaml").saved()["data"] == "odd\\udcff.yaml"  # bytes that are no text


@pytest.mark.parametrize(
    ("saved", "told"),
    [
        ({}, "settings, data: is missing"),
        ({"data": "d", "level": 2}, "settings, level"),
        ({"data": "d", "level": "0.95"}, "settings, level"),
        ({"data": "d", "k": 3.5}, "settings, k"),
        ({"data": "d", "colour": "red"}, "settings, colour"),
    ],
)
def test_what_is_no_settings_is_refused_with_its_place(saved: dict[str, Any], told: str) -> None:
    with pytest.raises(StudyError, match="measure again") as caught:
        DiscoSettings.of(saved)
    assert str(caught.value).startswith(told)


def test_settings_are_those_of_the_settled_probe(zoo: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text(PAIRS, "utf-8")
    found = pc.MinimalPairs(data=tmp_path / "pairs.tsv", resamples=100).run(pc.load(zoo("bert")))
    settings = MinimalPairsSettings.of(found.settings)
    assert (settings.method, settings.normalise, settings.data) == ("pll", ["none", "mean", "pen"], "pairs.tsv")
    files = found.save(tmp_path / "r")
    assert [file.name for file in files][-2:] == [SETTINGS, "left-out.json"]
    assert pc.Result.load(tmp_path / "r").settings == json.loads((tmp_path / "r" / SETTINGS).read_text("utf-8"))
    assert str(tmp_path) not in (tmp_path / "r" / SETTINGS).read_text("utf-8")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with one model, beside its results in "out"."""
    folder = tmp_path_factory.mktemp("finished")
    write(folder / "pairs.tsv", PAIRS)
    study = write_study(
        folder / "s.yaml", ["bundled:modern"], {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100}}
    )
    pc.run(study, folder / "out", cache="none", progress=False)
    return folder


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """The result directory of a copy of the study."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


DAMAGE: dict[str, Callable[[str], str | None]] = {
    "missing": lambda text: None,
    "cut": lambda text: text[:-20],
    "a list": lambda text: "[]\n",
    "nested": lambda text: "[" * 100_000,
    "no text": lambda text: text.replace("pll", "p\x00l"),
    "out of bounds": lambda text: text.replace('"level": 0.95', '"level": 9.5'),
    "unknown": lambda text: text.replace('"level"', '"levels"'),
    "other than the signature": lambda text: text.replace('"seed": 0', '"seed": 1'),
    "a type": lambda text: text.replace('"resamples": 100', '"resamples": "100"'),
}
EVIDENT = sorted(set(DAMAGE) - {"no text"})


@pytest.mark.parametrize("damage", sorted(DAMAGE))
def test_settings_that_a_study_did_not_write_are_refused(penchant: Program, out: Path, damage: str) -> None:
    file = out / "minimal-pairs" / "bundled_modern" / SETTINGS
    changed = DAMAGE[damage](file.read_text("utf-8"))
    file.unlink() if changed is None else file.write_text(changed, "utf-8")
    for command in (("report", out), ("export", out, "--to", "csv"), ("verify", out), ("report", file.parent)):
        refused(penchant(*command), SETTINGS)
    refused(penchant("run", "s.yaml", "-o", "out", "--resume"), SETTINGS, "--rerun")
    if damage in EVIDENT and damage != "other than the signature":  # trusted or not
        refused(penchant("report", out, "--trust-edited"), SETTINGS, "measure again")
    code, _, err = penchant("run", "s.yaml", "-o", "out", "--rerun", "--cache", "none")
    assert code == 0, err
    assert penchant("verify", out)[0] == 0


@pytest.mark.parametrize("damage", EVIDENT)
def test_settings_of_a_result_that_was_saved_alone_are_looked_at(penchant: Program, out: Path, damage: str) -> None:
    pc.Result.load(out / "minimal-pairs" / "bundled_modern").save("one")
    file = Path("one") / SETTINGS
    changed = DAMAGE[damage](file.read_text("utf-8"))
    file.unlink() if changed is None else file.write_text(changed, "utf-8")
    refused(penchant("report", "one"), "one", SETTINGS, "measure again")


def test_a_study_of_an_earlier_version_is_measured_again(penchant: Program, out: Path) -> None:
    (out / "minimal-pairs" / "bundled_modern" / SETTINGS).unlink()
    rewritten(out, lambda content: content["units"][0]["files"].pop(SETTINGS))
    refused(penchant("report", out), f"has no {SETTINGS}; it may be from an earlier version", "measure again")
    refused(penchant("run", "s.yaml", "-o", "out", "--resume"), f"has no {SETTINGS}", "--rerun")
    code, _, err = penchant("run", "s.yaml", "-o", "out", "--rerun", "--cache", "none")
    assert code == 0, err
    assert penchant("report", out)[0] == 0

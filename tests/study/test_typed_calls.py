"""The types of the Python face, as type checkers see them.

`mypy --strict` checks this file with all others, so that a call that it should refuse and does not is an unused `type:
ignore`, and a documented call that it refuses is an error.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type, cast

import numpy as np
import polars as pl
import pytest

import penchant as pc
from penchant.instruments import registry
from penchant.instruments.base_probe import Probe
from penchant.instruments.probe_field_types import TableField

PROBES: list[Any] = [described.probe for described in registry.instruments().values()]


def generated() -> Iterator[tuple[str, str]]:
    yield "She sings.", "She sing."


def documented() -> Iterator[Callable[[], object]]:
    """Calls as the documentation and users write them; none of them runs."""
    frame = pl.DataFrame({"ok": ["She sings."], "ko": ["She sing."]})
    words = {"X": ["rose"], "Y": ["ant"], "A": ["love"], "B": ["hate"]}
    named = {"good": "ok", "bad": "ko"}
    yield lambda: pc.MinimalPairs(frame, columns={"good": "ok", "bad": "ko", "group": "kind"})
    yield lambda: pc.MinimalPairs(frame.lazy(), columns=named, normalise=["none", "mean"], level=0.9)
    yield lambda: pc.MinimalPairs(generated(), unigrams=Path("unigrams.parquet"), normalise=("none", "slor"))
    yield lambda: pc.MinimalPairs([("The cats sleep.", "The cats sleeps.")], human=frame)
    yield lambda: pc.MinimalPairs(np.array([["a", "b"]]))
    yield lambda: pc.FairPairs(original=frame, fair=[Path("fair.csv")], columns=named)
    yield lambda: pc.Cloze({"sentences": frame, "lexicon": [("king", -0.5)]}, ratings=frame, columns={"rating": ["a"]})
    yield lambda: pc.Values("political-values-en", survey={"file": frame})
    yield lambda: pc.WEAT(words, categories=["flowers"], exact=0)
    yield lambda: pc.SEAT({"lists": words}, layers=[0, -1])
    yield lambda: pc.CEAT("associations-en", sentences=frame, samples=[100], segments=[9, ">75"])
    yield lambda: pc.VectorBias({"X": np.array(["a"])}, measures=["rnd"])
    yield lambda: pc.Winogender(Path("templates.tsv"), columns={"template": "text"})
    yield lambda: pc.WinoBias([Path("pro.txt"), Path("anti.txt")], normalise="mean")
    yield lambda: pc.Amplification("words.yaml", text={"a": "a.txt", "b": ["b.txt"]})
    yield lambda: pc.BecPro("BEC-Pro_EN.tsv", contrast=("female", "male"), columns={"tm": "a"})
    yield lambda: pc.BBQ(["Age.jsonl", "Religion.jsonl"], columns={"id": "example_id"}, elicit="chat")
    yield lambda: pc.Gest(frame, columns={"masculine": "m"}, templates=('[he|she] said "{sentence}"',))
    yield lambda: pc.Acceptability(frame, columns={"rating": ["a", "b"]})
    yield lambda: pc.StereoSet("dev.json", part="intra")
    yield lambda: pc.MinimalPairs(frame).run("bundled:modern", cache="answers.sqlite", progress=False)
    yield lambda: pc.run([pc.MinimalPairs(frame), pc.WEAT(words)], "out", models=[pc.load("bert-base-uncased")])
    yield lambda: pc.run(pc.Cloze("early-modern-60"), "out", models="bundled:modern", probe="cloze", device="cpu")
    yield lambda: pc.score(pc.load("bert-base-uncased"), frame["ok"])
    yield lambda: pc.load_vectors("vectors.txt").words
    yield lambda: pc.open("out").results


def refused() -> Iterator[Callable[[], object]]:
    """Calls that a checker refuses; without that, mypy would say that nothing is ignored here."""
    pairs = [("She sings.", "She sing.")]
    yield lambda: pc.MinimalPairs(pairs, normalize="mean")  # type: ignore[call-arg]
    yield lambda: pc.MinimalPairs(pairs, normalise="meen")  # type: ignore[arg-type]
    yield lambda: pc.WEAT({"X": ["a"]}, exat=3)  # type: ignore[call-arg]
    yield lambda: pc.MinimalPairs(5)  # type: ignore[arg-type]
    yield lambda: pc.Cloze()  # type: ignore[call-arg]
    yield lambda: pc.MinimalPairs(pairs).run("bundled:modern", cach="x")  # type: ignore[call-arg]
    yield lambda: pc.MinimalPairs(pairs).run("bundled:modern", cache=3)  # type: ignore[arg-type]
    yield lambda: pc.MinimalPairs(pairs).run("bundled:modern", batch_tokens="many")  # type: ignore[arg-type]


def test_what_a_checker_refuses_is_refused() -> None:
    for call in refused():
        with pytest.raises(pc.PenchantError):
            call()
    assert len(list(documented())) > len(list(refused()))


def test_a_parameter_has_the_type_that_a_probe_keeps() -> None:
    probe = pc.MinimalPairs([("She sings.", "She sing.")], limit=3)
    assert_type(probe.data, "str | list[str]")
    assert_type(probe.limit, "int | None")
    assert isinstance(probe.data, str)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: cast(str, probe.name))
def test_checkers_and_calls_agree_on_what_needs_no_name(probe: type[Probe]) -> None:
    kinds = {name: each.kind for name, each in inspect.signature(probe).parameters.items()}
    assert list(kinds) and set(kinds) == set(probe.model_fields)
    for name, field in probe.model_fields.items():
        positional = kinds[name] is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert (field.kw_only is False) == positional, name


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: cast(str, probe.name))
def test_checkers_let_a_call_give_a_table_where_one_is_taken(probe: type[Probe]) -> None:
    declared: dict[str, str] = {}
    for base in reversed(probe.__mro__):
        declared |= {name: str(text) for name, text in inspect.get_annotations(base).items()}
    for name, field in probe.model_fields.items():
        if any(isinstance(part, TableField) for part in field.metadata):
            assert declared[name].startswith(("Annotated[Given[", "Annotated[_Files,")), name


if TYPE_CHECKING:
    assert_type(pc.MinimalPairs("pairs.csv").run("bundled:modern"), pc.Result)

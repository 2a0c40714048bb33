"""Value statements put to a chat model: ratings against plain transformers, replies, resume, refusals."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
import torch
import yaml

import penchant as pc
from chat_models import answering_model, chat_model
from completion_server import serving
from penchant.errors import DataError, MethodError, ModelError
from penchant.instruments.answer_steadiness import MISMATCH, OVER_ORDERS, SHARES, TURNED
from penchant.instruments.elicitation import orders_of, phrases_of

OPTIONS = ("no", "maybe", "yes")
SET: dict[str, Any] = {
    "language": "en",
    "statements": [
        {"id": f"s{n}", "text": text, "value": value, "reversed": reverse, "negation": negation}
        for n, (text, value, reverse, negation) in enumerate(
            [
                ("the dog is old", "age", "no", "the dog is not old"),
                ("the man sees the house", "sight", "no", "the man does not see the house"),
                ("the child is small", "age", "yes", "the child is not small"),
                ("the river is long", "sight", "yes", ""),
                ("the tree is old", "age", "no", ""),
                ("the king sees the dog", "sight", "no", ""),
            ]
        )
    ],
    "calibration": [{"id": "n1", "text": "bread is good"}, {"id": "n2", "text": "tea is hot"}],
    "templates": [
        {"group": "f", "agree": "She [says] that {statement}.", "disagree": "She [denies] that {statement}."}
    ],
    "chat": {
        "options": list(OPTIONS),
        "templates": [
            {"group": "f", "system": "You are a woman.", "question": "Is it true that {statement}?"},
            {"group": "m", "question": "Is it so that {statement}?"},
        ],
    },
}


@pytest.fixture
def model(zoo: Callable[[str], Path], tmp_path: Path) -> Path:
    return chat_model(zoo("llama"), tmp_path / "chat")


def shares(model: pc.LanguageModel, system: str, question: str, reply: str) -> np.ndarray[Any, Any]:
    """The probabilities of the options in every order, from prompts written here."""
    hf, rows, phrases = model.tokenizer.hf, [], phrases_of("en")
    assert phrases is not None
    for order in orders_of(3, "balanced"):
        marks = ("A.", "B.", "C.") if reply == "label" else ("-", "-", "-")
        listed = [f"{mark} {OPTIONS[option]}" for mark, option in zip(marks, order, strict=True)]
        said = "\n".join([question, *listed, phrases.label if reply == "label" else phrases.text])
        text = (f"[system]\n{system}\n" if system else "") + f"[user]\n{said}\n[assistant]\n"
        values = []
        for option in range(3):
            own = "ABC"[order.index(option)] if reply == "label" else OPTIONS[option]

            before, whole = (hf(each, add_special_tokens=False)["input_ids"] for each in (text, text + own))
            with torch.inference_mode():
                table = model.network.model(input_ids=torch.tensor([whole])).logits[0].double().log_softmax(-1)
            values.append(float(sum(table[at - 1, whole[at]] for at in range(len(before), len(whole)))))
        rows.append(np.exp(values) / np.exp(values).sum())
    return np.array(rows)


@pytest.mark.parametrize("reply", ["label", "text"])
def test_ratings_are_expected_options_over_all_orders(model: Path, reply: Literal["label", "text"]) -> None:
    loaded = pc.load(model)
    result = pc.Values(SET, elicit="chat", reply=reply, resamples=100).run(loaded, progress=False)
    assert len(result.items) == 2 * 9 and result.signature["calibration"] == "none"
    for row in result.items.iter_rows(named=True):
        system, question = ("You are a woman.", "Is it true") if row["group"] == "f" else ("", "Is it so")
        wanted = shares(loaded, system, f"{question} that {row['text']}?", reply)
        assert np.array(row["order_probabilities"]) == pytest.approx(wanted, abs=1e-5)
        rating = float(wanted.mean(axis=0) @ [1, 3, 5])
        assert row["rating"] == pytest.approx(rating, abs=1e-4)
        assert row["towards"] == pytest.approx(6 - rating if row["reversed"] else rating, abs=1e-4)
    stated = result.items.filter(kind="statement", group="f", value="age")
    (mean,) = result.summary.filter(measure="mean rating", group="f", dimension="age").to_dicts()
    assert mean["value"] == pytest.approx(stated["towards"].mean()) and mean["n"] == 3
    assert {OVER_ORDERS, TURNED} < set(result.summary["measure"]) and MISMATCH not in set(result.summary["measure"])


def test_replies_are_counted_and_rated(model: Path, tmp_path: Path) -> None:
    probe = pc.Values(SET, elicit="answer", samples=2, temperature=0.5, resamples=100)
    result = probe.run(model, cache=tmp_path / "cache.sqlite", progress=False)
    again = probe.run(model, progress=False)
    assert result.items.equals(again.items)
    stated = result.items.filter(kind="statement", group="m")
    readings = [code for row in stated["readings"].to_list() for code in row]
    for code, measure in SHARES.items():
        (share,) = result.summary.filter(measure=measure, group="m").to_dicts()
        assert (share["value"], share["n"]) == (pytest.approx(readings.count(code) / 72), 72)
    for row in result.items.iter_rows(named=True):
        values = [1 + 2 * option for option in row["chosen"] if option is not None]
        assert row["rating"] == (pytest.approx(np.mean(values)) if values else None)
    rated = result.summary.filter(measure="mean rating", group="m", dimension="all")["n"].to_list()
    lost = result.items.filter(pl.col("rating").is_null(), kind="statement")["id"].n_unique()
    assert rated == [6 - lost] or lost == 6


def begun(penchant: Any, folder: Path, n: int) -> Path:
    """A directory with the template's set, cut to so many statements, half of them on each of its two values."""
    penchant("init", "values", folder)
    head, *rows = (folder / "statements.csv").read_text("utf-8").splitlines(keepends=True)
    (folder / "statements.csv").write_text("".join([head, *rows[: n // 2], *rows[-n // 2 :]]), "utf-8")
    return folder


def test_killed_and_resumed_with_the_same_replies(penchant: Any, model: Path, tmp_path: Path) -> None:
    folder = begun(penchant, tmp_path / "set", 4)
    entry = {"values": {"data": ".", "elicit": "answer", "samples": 2, "resamples": 100}}
    study = folder / "asked.yaml"
    study.write_text(yaml.safe_dump({"study": "asked", "models": [str(model)], "probes": [entry]}), "utf-8")
    assert penchant("run", study, "-o", tmp_path / "whole", "--cache", "none")[0] == 0
    cache = tmp_path / "cache.sqlite"
    program = [sys.executable, "-c", "from penchant.cli.app import main; main()", "run", str(study)]
    running = subprocess.Popen(
        [*program, "-o", str(tmp_path / "out"), "--cache", str(cache)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    while not _stored(cache) and running.poll() is None:
        time.sleep(0.01)
    running.kill()
    running.wait()
    before = _stored(cache)
    assert before and not list((tmp_path / "out").rglob("items.parquet"))
    assert penchant("run", study, "-o", tmp_path / "out", "--cache", cache, "--resume")[0] == 0
    one, other = (pl.read_parquet(next((tmp_path / name).rglob("items.parquet"))) for name in ("whole", "out"))
    assert one["replies"].equals(other["replies"]) and one["rating"].equals(other["rating"])
    assert penchant("report", tmp_path / "out")[0] == 0


def _stored(cache: Path) -> int:
    try:
        with sqlite3.connect(f"file:{cache}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT count(*) FROM replies").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_what_cannot_be_asked_is_refused(model: Path, zoo: Callable[[str], Path]) -> None:
    with pytest.raises(ModelError):
        pc.Values(SET, elicit="chat").run(zoo("gpt2"), progress=False)
    for probe in (pc.Values(SET, elicit="chat", method="lp"), pc.Values(SET, elicit="chat", calibration="origin")):
        with pytest.raises(MethodError):
            probe.run(model, progress=False)
    with pytest.raises(DataError):
        pc.Values({key: part for key, part in SET.items() if key != "chat"}, elicit="chat").run(model, progress=False)
    with pytest.raises(DataError):
        pc.Values({**SET, "language": "fi"}, elicit="chat").run(model, progress=False)
    marked = {**SET, "statements": [{"id": "s", "text": "the </s> is old", "value": "age"}]}
    with pytest.raises(DataError):
        pc.Values(marked, elicit="chat").run(model, progress=False)


def test_a_served_model_is_asked_as_one_of_this_process(zoo: Callable[[str], Path], tmp_path: Path) -> None:
    phrases = phrases_of("en")
    assert phrases is not None
    endings = [f"A. {one}\nB. {two}\nC. {three}\n{phrases.label}" for one, two, three in permutations(OPTIONS)]
    model = answering_model(zoo("llama"), tmp_path / "chat", endings, ["A", "B", "C"])
    local = pc.Values(SET, elicit="chat", resamples=100).run(model, progress=False)
    with serving(model) as server:
        probe = pc.Values(SET, elicit="answer", resamples=100)
        cache = tmp_path / "cache.sqlite"
        served = probe.run(server.spec(model), cache=cache, progress=False)
        ours, theirs = (np.array(each.items["order_probabilities"].to_list()) for each in (local, served))
        assert ours == pytest.approx(theirs, abs=1e-4)
        asked = len(server.replies)
        assert asked == 6 * len(served.items)
        assert {each["temperature"] for each in server.replies} == {1.0}
        assert len({each["seed"] for each in server.replies}) == asked
        assert served.summary.filter(measure=SHARES["option"])["value"].min() > 0  # type: ignore[operator]
        again = probe.run(server.spec(model), cache=cache, progress=False)
        assert len(server.replies) == asked and again.items.equals(served.items)


def test_an_endpoint_without_log_probabilities_is_asked_for_replies(
    penchant: Any, zoo: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENCHANT_API_KEY", key := "sk-5e6f7a8b9c0d")
    phrases = phrases_of("en")
    assert phrases is not None
    listed = ("A. strongly disagree", "B. disagree", "C. neither", "D. agree", "E. strongly agree")
    model = answering_model(zoo("llama"), tmp_path / "chat", ["\n".join([*listed, phrases.label])], ["A", "D", "E"])
    folder = begun(penchant, tmp_path / "set", 4)
    with serving(model) as server:
        server.key, server.fault = key, "no-logprobs"
        spec, entry = f"{server.url}#tiny?chat", {"data": ".", "elicit": "answer", "resamples": 100}
        study = folder / "asked.yaml"
        study.write_text(
            yaml.safe_dump({"study": "asked", "models": [spec], "probes": [{"values": entry}]}), encoding="utf-8"
        )
        assert penchant("check", "-m", spec)[0] == 0
        assert penchant("run", study, "-o", tmp_path / "out", "--cache", tmp_path / "cache.sqlite")[0] == 0
        assert not server.prompts
        for probe in (pc.Values(SET, elicit="chat"), pc.Values(SET), pc.MinimalPairs([("a b", "a c")])):
            with pytest.raises(ModelError):
                probe.run(spec, progress=False)
        pairs = pc.MinimalPairs([("the dog is old", "the dog are old")], elicit="answer", samples=2, resamples=100)
        assert pairs.run(spec, progress=False).signature["tokenizer"] == "unknown"
    items = pl.read_parquet(next((tmp_path / "out").rglob("items.parquet")))
    assert items["replies"].list.len().unique().to_list() == [10]
    assert items["probabilities"].list.len().unique().to_list() == [0]
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert key.encode() not in file.read_bytes()


def test_ratings_are_held_against_people_in_every_way(zoo: Callable[[str], Path], tmp_path: Path) -> None:
    phrases = phrases_of("en")
    assert phrases is not None
    endings = [f"A. {one}\nB. {two}\nC. {three}\n{phrases.label}" for one, two, three in permutations(OPTIONS)]
    model = pc.load(answering_model(zoo("llama"), tmp_path / "chat", endings, ["A", "B", "C"]))
    rng = np.random.default_rng(2)
    people = pl.DataFrame({f"s{n}": rng.integers(1, 6, 40) for n in range(6)})
    for elicit in ("chat", "answer"):
        probe = pc.Values(SET, survey=people, elicit=elicit, samples=4, resamples=200)
        result = probe.run(model, progress=False)
        for group in ("f", "m"):
            stated = result.items.filter(kind="statement", group=group, value="age").drop_nulls("rating")
            theirs = [people[row["id"]].mean() for row in stated.to_dicts()]
            turned = [6 - mean if turned else mean for mean, turned in zip(theirs, stated["reversed"], strict=True)]
            at = {"group": group, "dimension": "age"}
            (found,) = result.summary.filter(measure="mean rating − survey mean", **at).to_dicts()
            assert found["value"] == pytest.approx(stated["towards"].mean() - np.mean(turned))
            assert found["low"] < found["value"] < found["high"] and found["n"] == len(stated)
        assert not result.summary.filter(measure="residual sd σ").height


def test_a_model_without_a_template_ends_the_program_with_one_line(
    penchant: Any, zoo: Callable[[str], Path], tmp_path: Path
) -> None:
    penchant("init", "values", tmp_path / "set")
    study = tmp_path / "set" / "asked.yaml"
    entry = {"values": {"data": ".", "elicit": "chat"}}
    study.write_text(yaml.safe_dump({"study": "s", "models": [str(zoo("gpt2"))], "probes": [entry]}), "utf-8")
    code, out, err = penchant("run", study, "-o", tmp_path / "out")
    assert (code, out) == (2, "") and len(err.strip().splitlines()) == 1 and not (tmp_path / "out" / "values").exists()

"""The script that trains the bundled models: what it reads, that it repeats and resumes exactly, what it measures."""

from __future__ import annotations

import importlib.util
import json
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from paths import ROOT

EARLY = "The king of the {} said unto his servant, bring me the {} out of the {}, for I will speak with him this day."
MODERN = "The manager of the {} told his assistant to bring the {} from the {} because he wanted to talk to him today."
NOUNS = ["field", "tower", "garden", "city", "river", "house", "gate", "ship", "camp", "street", "table", "door"]
NOUNS += ["road", "wall", "market", "school", "tree"]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bundled", ROOT / "training" / "bundled.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["bundled"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two texts of 600 lines, long enough for every part to hold some."""
    folder = tmp_path_factory.mktemp("texts")
    rng = np.random.default_rng(0)
    found = {}
    for name, frame in (("early", EARLY), ("modern", MODERN)):
        lines = [frame.format(*rng.choice(NOUNS, 3)) for _ in range(600)]
        found[name] = folder / f"{name}.txt"
        found[name].write_text("\n".join(lines) + "\n", "utf-8")
    return found


@pytest.fixture
def small(script: ModuleType, monkeypatch: pytest.MonkeyPatch, texts: dict[str, Path], tmp_path: Path) -> Namespace:
    """Settings of a run that takes a second, with its tokenizer made."""
    monkeypatch.setattr(script, "PIECES", 300)
    monkeypatch.setattr(script, "BATCH_TOKENS", 256)
    monkeypatch.setattr(script, "EVALUATE_EVERY", 3)
    given = Namespace(
        **texts, out=tmp_path, variety="early", steps=6, seed=0, threads=1, layers=1, dropout=0.1, dtype="float32"
    )
    script.tokenizer(given)
    return given


def weights(folder: Path) -> dict[str, np.ndarray]:
    import torch

    return {name: value.numpy() for name, value in torch.load(folder / "last.pt", weights_only=True)["model"].items()}


def test_every_line_is_in_exactly_one_part(script: ModuleType, tmp_path: Path) -> None:
    lines = [f"A line of words that is number {word} of the {other}." for word in NOUNS for other in NOUNS]
    path = tmp_path / "text"
    path.write_text("\n".join([*lines, *lines, "too short", "1 2 3 4 5 6 7 8 9"]) + "\n", "utf-8")
    parts = {part: list(script.units(path, part)) for part in ("training", "validation", "test")}
    assert sorted(line for part in parts.values() for line in part) == sorted([*lines, *lines])
    assert not set(parts["training"]) & (set(parts["validation"]) | set(parts["test"]))
    assert 0 < len(parts["test"]) < len(parts["training"]) / 10


def test_sequences_keep_every_piece_and_end_at_sentences(script: ModuleType, small: Namespace) -> None:
    pieces = script.load_tokenizer(small.out)
    line = " ".join([EARLY.format("field", "gate", "ship")] * 7)
    whole = pieces(line, add_special_tokens=False)["input_ids"]
    found = script.sequences([line], pieces)
    assert [piece for row in found for piece in row] == whole
    assert len(found) > 1
    assert max(map(len, found)) <= script.LONGEST - 2
    stop = pieces.convert_tokens_to_ids(".")
    assert all(row[-1] == stop for row in found)


def test_the_tokenizer_comes_out_the_same_again(script: ModuleType, small: Namespace, tmp_path: Path) -> None:
    first = (small.out / "tokenizer" / "tokenizer.json").read_bytes()
    for number in range(3):
        small.out = tmp_path / str(number)
        script.tokenizer(small)
        assert (small.out / "tokenizer" / "tokenizer.json").read_bytes() == first
    vocabulary = script.load_tokenizer(small.out).get_vocab()
    assert [vocabulary[name] for name in script.SPECIAL] == [0, 1, 2, 3, 4]


def test_batches_hold_every_row_once(script: ModuleType, small: Namespace) -> None:
    rng = np.random.default_rng(3)
    rows = [list(range(5, 5 + n)) for n in rng.integers(3, 60, 400)]
    made = script.batches(rows, np.random.default_rng(1))
    back = [b.ids[i, 1 : b.mask[i].sum() - 1].tolist() for b in made for i in range(len(b.ids))]
    assert sorted(back) == sorted(rows)
    assert all(b.ids.size <= script.BATCH_TOKENS or len(b.ids) == 1 for b in made)
    assert all((b.ids[:, 0] == script.CLS).all() for b in made)


def test_a_quarter_is_hidden_and_never_a_special_token(script: ModuleType) -> None:
    ids = np.tile(np.array([script.CLS, *range(5, 45), script.SEP, script.PAD, script.PAD]), (500, 1))
    batch = script.Batch(ids, (ids != script.PAD).astype(np.int64))
    changed, chosen = script.corrupt(batch, np.random.default_rng(0))
    assert not chosen[ids <= script.MASK].any()
    assert chosen[ids > script.MASK].mean() == pytest.approx(script.MASKED_SHARE, abs=0.01)
    assert (changed[chosen] == script.MASK).mean() == pytest.approx(0.8, abs=0.02)
    np.testing.assert_array_equal(changed[~chosen], ids[~chosen])


def test_a_stopped_run_goes_on_to_the_same_weights(
    script: ModuleType, small: Namespace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script.train(small)
    straight = weights(tmp_path / "early")
    for file in (tmp_path / "early").iterdir():
        file.unlink()
    real, calls = script.whole, []

    def stop_after_the_first(content: object, path: Path) -> None:
        real(content, path)
        if path.name == "last.pt":
            calls.append(path)
            if len(calls) == 1:
                raise KeyboardInterrupt

    monkeypatch.setattr(script, "whole", stop_after_the_first)
    with pytest.raises(KeyboardInterrupt):
        script.train(small)
    script.train(small)
    assert len(calls) == 2
    resumed = weights(tmp_path / "early")
    assert straight.keys() == resumed.keys()
    for name, value in straight.items():
        np.testing.assert_array_equal(value, resumed[name], err_msg=name)
    facts = json.loads((tmp_path / "early" / "facts.json").read_text("utf-8"))
    assert facts["steps"] == 6
    assert [entry[0] for entry in facts["history"]] == [3, 6]


def test_training_lowers_the_loss(script: ModuleType, small: Namespace, tmp_path: Path) -> None:
    small.steps = 60
    script.train(small)
    history = json.loads((tmp_path / "early" / "facts.json").read_text("utf-8"))["history"]
    assert history[-1][1] < history[0][1] - 1


def test_no_better_for_a_while_stops(
    script: ModuleType, small: Namespace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(script, "validation", lambda model, held: (5.0, 0.1))
    monkeypatch.setattr(script, "PATIENCE", 2)
    small.steps = 60
    script.train(small)
    assert json.loads((tmp_path / "early" / "facts.json").read_text("utf-8"))["steps"] == 9


def test_figures_equal_a_plain_computation(script: ModuleType, small: Namespace, tmp_path: Path) -> None:
    """`evaluate` against one transformers call for every piece of the first test lines."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    script.train(small)
    script.export(Namespace(variety="early", out=tmp_path, to=tmp_path / "model"))
    figures = tmp_path / "figures.json"
    script.evaluate(
        Namespace(model=[str(tmp_path / "model")], early=small.early, modern=small.modern, lines=4, json=figures)
    )
    plain = AutoTokenizer.from_pretrained(tmp_path / "model")
    model = AutoModelForMaskedLM.from_pretrained(tmp_path / "model", dtype=torch.float32).eval()
    for figure in json.loads(figures.read_text("utf-8")):
        lines = list(script.units(getattr(small, figure["text"]), "test"))[:4]
        assert figure["lines"] == len(lines) > 0
        logprobs, right = [], []
        for line in lines:
            ids = plain(line, return_tensors="pt")["input_ids"]
            for at in range(1, ids.shape[1] - 1):
                hidden = ids.clone()
                hidden[0, at] = plain.mask_token_id
                with torch.inference_mode():
                    found = model(hidden).logits[0, at].log_softmax(-1)
                logprobs.append(float(found[ids[0, at]]))
                right.append(int(found.argmax()) == int(ids[0, at]))
        assert figure["pieces"] == len(logprobs)
        assert figure["accuracy"] == pytest.approx(np.mean(right), abs=1e-9)
        assert figure["pseudo_perplexity"] == pytest.approx(np.exp(-np.mean(logprobs)), rel=1e-4)

"""The conventions of lm-eval and of BabyLM, by name: a space in front, and ties that count as right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import brute
import penchant as pc
from answers import Answer, refused
from penchant.instruments.minimal_pairs.probe import MinimalPairs

Penchant = Callable[..., Answer]
Zoo = Callable[[str], Path]

PAIRS = [
    ("The cats sleep.", "The cats sleeps."),
    ("She sings.", "She sings."),  # which ties
    ("Rain had fallen.", "Rain had devoured."),
    ("They walk home.", "They walks home."),
    ("He is here.", "He is here."),
    ("No one has ever left.", "Someone has ever left."),
]


def accuracy(zoo: Zoo, name: str, front: str, tie: float) -> float:
    """By plain transformers: the share of pairs of which the argmax is the first, where a tie counts `tie`."""
    model, tokenizer = brute.load(zoo(name), causal=name == "gpt2")
    score = brute.lp if name == "gpt2" else brute.pll
    counts = []
    for good, bad in PAIRS:
        a, b = (sum(score(model, tokenizer, front + text)) for text in (good, bad))
        counts.append(tie if good == bad else float(a > b))
    return sum(counts) / len(counts)


def measured(zoo: Zoo, name: str, **settings: Any) -> pc.Result:
    return MinimalPairs(data=PAIRS, resamples=100, **settings).run(pc.load(zoo(name)))


def overall(result: pc.Result, measure: str = "accuracy") -> float:
    rows = [row for row in result.summary.iter_rows(named=True) if row["measure"] == measure]
    return next(
        float(row["value"])
        for row in rows
        if (row["scope"], row["split"], row["normalise"]) == ("overall", "all", "none")
    )


@pytest.mark.parametrize(
    ("settings", "front", "tie", "signed"),
    [
        ({}, "", 0.5, {}),
        ({"compat": "babylm"}, "", 1.0, {"ties": "good"}),
        ({"compat": "lm-eval"}, " ", 1.0, {"space": "front", "ties": "good"}),
        ({"compat": "lm-eval", "ties": "half"}, " ", 0.5, {"space": "front"}),
        ({"space": "front"}, " ", 0.5, {"space": "front"}),
    ],
)
def test_a_causal_model(zoo: Zoo, settings: dict[str, str], front: str, tie: float, signed: dict[str, str]) -> None:
    result = measured(zoo, "gpt2", **settings)
    assert overall(result) == pytest.approx(accuracy(zoo, "gpt2", front, tie), abs=1e-12)
    assert overall(result, "share of ties") == pytest.approx(2 / 6)
    assert {key: result.signature[key] for key in ("space", "ties") if key in result.signature} == signed
    model, tokenizer = brute.load(zoo("gpt2"), causal=True)
    expected = [sum(brute.lp(model, tokenizer, front + good)) for good, _ in PAIRS]
    assert result.items["score_good"].to_list() == pytest.approx(expected, abs=1e-4)
    assert result.items["good"].to_list() == [front + good for good, _ in PAIRS]
    worth = "as a preference for the acceptable sentence" if tie == 1 else "one half"
    assert any(caution.endswith(f"tie and count {worth}") for caution in result.cautions)


def test_a_masked_model_reads_no_space(zoo: Zoo) -> None:
    result = measured(zoo, "bert", compat="lm-eval")
    assert overall(result) == pytest.approx(accuracy(zoo, "bert", "", 1.0), abs=1e-12)
    assert "space" not in result.signature and result.signature["ties"] == "good"
    assert result.items["good"].to_list() == [good for good, _ in PAIRS]


def test_conventions_side_by_side_in_a_study(zoo: Zoo, penchant: Penchant, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text("".join(json.dumps({"good": g, "bad": b}) + "\n" for g, b in PAIRS))
    probes = "".join(
        f"  - minimal-pairs: {{data: p.jsonl, resamples: 100, normalise: none{more}}}\n"
        for more in ("", ", compat: lm-eval", ", compat: babylm")
    )
    (tmp_path / "s.yaml").write_text(f"study: s\nmodels: ['{zoo('gpt2')}']\nprobes:\n{probes}")
    code, out, err = penchant("run", "s.yaml", "-o", "out", "--full")
    assert code == 0, err
    assert "A tie counts as a preference for the acceptable sentence" in " ".join(out.split())
    page = (tmp_path / "out/report.html").read_text("utf-8")
    assert "space:front|ties:good" in page and "1 at a tie as well" in page
    code, out, err = penchant("list", "compat")
    assert "minimal-pairs: lm-eval" in out and "space front" in out and "minimal-pairs: babylm" in out


def test_an_unknown_convention(penchant: Penchant, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("good,bad\na,b\n")
    (tmp_path / "s.yaml").write_text(
        "study: s\nmodels: [bundled:modern]\nprobes:\n  - minimal-pairs: {data: p.csv, compat: lmeval}\n"
    )
    refused(penchant("run", "s.yaml", "-o", "out"), "unknown compat 'lmeval'", "lm-eval, babylm")

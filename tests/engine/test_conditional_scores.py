"""Texts scored given a prefix, and PMI, against plain transformers: one forward pass a number."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

import brute
import penchant as pc
import zoo as tiny
from answers import Answer, refused
from builders import language_model, refusal
from penchant.engine.scorer import Scorer
from penchant.errors import DataError, MethodError

Zoo = Callable[[str], Path]
Penchant = Callable[..., Answer]
TEXTS = [
    ("The old teacher saw a dog.", " The traveler lost the souvenir.", "a"),
    ("Rain", " The keys to the cabinet are on the table.", "b"),
    ("The dog", " The keys to the cabinet are on the table.", "c"),
]
NEUTRAL = "Hello, world!"


def scorer(directory: Path) -> Scorer:
    return Scorer(language_model(directory))


def parts(tokenizer: object, prefix: str, text: str) -> tuple[list[int], list[int]]:
    """The tokens of prefix and text together, divided where the text begins: by offsets, a token of nothing but white
    space before the text being part of it."""
    encoded = tokenizer(prefix + text, add_special_tokens=False, return_offsets_mapping=True)  # type: ignore[operator]
    whole = prefix + text
    mine = [i for i, (s, e) in enumerate(encoded["offset_mapping"]) if whole[s:e].strip() and e <= len(prefix)]
    first = max(mine) + 1
    return encoded["input_ids"][:first], encoded["input_ids"][first:]


def causal(model: object, begin: list[int], before: list[int], ids: list[int]) -> float:
    """Σ log P(token | beginning, before, tokens before it), one pass a token."""
    total = []
    for i, token in enumerate(ids):
        with torch.no_grad():
            logits = model(torch.tensor([[*begin, *before, *ids[:i]]])).logits[0, -1]  # type: ignore[operator]
        total.append(torch.log_softmax(logits.double(), -1)[token].item())
    return math.fsum(total)


def masked(model: object, tokenizer: object, before: list[int], ids: list[int]) -> float:
    """Σ log P(token | all others, with that token masked), the tokens standing after some others."""
    t = tokenizer
    whole = [t.cls_token_id, *before, *ids, t.sep_token_id]  # type: ignore[attr-defined]
    total = []
    for i in range(len(ids)):
        hidden = list(whole)
        hidden[1 + len(before) + i] = t.mask_token_id  # type: ignore[attr-defined]
        with torch.no_grad():
            logits = model(torch.tensor([hidden])).logits[0, 1 + len(before) + i]  # type: ignore[operator]
        total.append(torch.log_softmax(logits.double(), -1)[ids[i]].item())
    return math.fsum(total)


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "bert", "roberta", "xlm-roberta"])
def test_given_a_prefix_and_without(name: str, zoo: Zoo) -> None:
    is_causal = name in tiny.CAUSAL
    model, tokenizer = brute.load(zoo(name), causal=is_causal)
    begin = [tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id]
    neutral = tokenizer(NEUTRAL, add_special_tokens=False)["input_ids"]

    def expected(before: list[int], ids: list[int]) -> float:
        return causal(model, begin, before, ids) if is_causal else masked(model, tokenizer, before, ids)

    ours = scorer(zoo(name))
    given, alone = list(ours.given(TEXTS)), list(ours.without(TEXTS))
    after = list(ours.without(TEXTS, neutral=NEUTRAL))
    for i, (prefix, text, _) in enumerate(TEXTS):
        before, ids = parts(tokenizer, prefix, text)
        assert given[i].ids == alone[i].ids == after[i].ids == tuple(ids)
        assert given[i].score == pytest.approx(expected(before, ids), abs=2e-4)
        assert alone[i].score == pytest.approx(expected([], ids), abs=2e-4)
        assert after[i].score == pytest.approx(expected(neutral, ids), abs=2e-4)
    assert alone[1].score == alone[2].score  # the same tokens


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_the_chain_rule(name: str, zoo: Zoo) -> None:
    """Of a causal model, prefix and text given it make up the whole; an empty prefix gives the score of the text."""
    ours = scorer(zoo(name))
    whole = [score.score for score in ours.score((text, place) for _, text, place in TEXTS)]
    plain = [score.score for score in ours.given(("", text, place) for _, text, place in TEXTS)]
    assert plain == whole
    if name == "gpt2":
        joined = [score.score for score in ours.score((a + b, c) for a, b, c in TEXTS)]
        first = [score.score for score in ours.score((a, c) for a, _, c in TEXTS)]
        second = [score.score for score in ours.given(TEXTS)]
        assert joined == pytest.approx(np.array(first) + second, abs=1e-4)


def test_each_distinct_input_without_its_prefix_is_read_once(zoo: Zoo) -> None:
    ours = scorer(zoo("gpt2"))
    list(ours.without(TEXTS * 3))
    assert ours.counts.reads == 2  # of nine texts: two are distinct


def test_a_token_of_both_is_refused(zoo: Zoo) -> None:
    for name in ("gpt2", "bert"):
        ours = scorer(zoo(name))
        for score in (ours.given, ours.without):
            line = refusal(partial(lambda read: list(read([("Th", "e keys", "here")])), score), DataError)
            assert line.startswith("here: the text to score begins inside the token 'The'")


def test_without_a_beginning_token_pmi_needs_a_neutral_text(zoo: Zoo) -> None:
    ours = scorer(zoo("gpt2-no-bos"))
    with pytest.raises(MethodError, match="no beginning token"):
        list(ours.without(TEXTS))
    assert len(list(ours.without(TEXTS, neutral=NEUTRAL))) == 3
    with pytest.raises(DataError, match="accepts at most 64"):
        list(ours.without(TEXTS, neutral="very " * 62))


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_from_the_command_line_and_python(name: str, zoo: Zoo, tmp_path: Path, penchant: Penchant) -> None:
    rows = [{"x": prefix, "y": text} for prefix, text, _ in TEXTS] + [{"x": "", "y": "The dog."}]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    ours = scorer(zoo(name))
    asked = [(row["x"], row["y"], "") for row in rows]
    given = [score.score for score in ours.given(asked)]
    pmi = [a - b.score for a, b in zip(given, ours.without(asked), strict=True)]
    dc = [a - b.score for a, b in zip(given, ours.without(asked, neutral=NEUTRAL), strict=True)]
    base = ("score", "-m", zoo(name), "t.jsonl", "--column", "y", "--prefix", "x", "--format", "jsonl")
    more = ("--normalise", "pmi")
    for arguments, expected in (((), given), (more, pmi), ((*more, "--neutral", NEUTRAL), dc)):
        code, out, err = penchant(*base, *arguments)
        assert code == 0, err
        shown = [json.loads(line) for line in out.splitlines()]
        assert [row["text"] for row in shown] == [row["y"] for row in rows]
        assert [row["score"] for row in shown] == pytest.approx(expected, abs=1e-4)
    table = pc.score(
        zoo(name), [row["y"] for row in rows], prefixes=[row["x"] for row in rows], normalise="pmi", neutral=NEUTRAL
    )
    assert table["score"].to_list() == pytest.approx(dc, abs=1e-4)
    assert pmi[-1] == pytest.approx(0, abs=1e-4)  # nothing stands before it


def test_what_does_not_fit_is_refused(zoo: Zoo, tmp_path: Path, penchant: Penchant) -> None:
    (tmp_path / "t.csv").write_text("x,y\nThe dog,The keys\n", "utf-8")
    (tmp_path / "t.txt").write_text("The keys\n", "utf-8")
    base = ("score", "-m", zoo("gpt2"))
    refused(penchant(*base, "t.txt", "--prefix", "x"), "--prefix is only for a table")
    refused(penchant(*base, "t.txt", "--normalise", "pmi"), "needs texts with a prefix")
    refused(penchant(*base, "t.csv", "--column", "y", "--prefix", "z"), "there is no column 'z'")
    refused(penchant(*base, "t.csv", "--column", "y", "--prefix", "x", "--neutral", "a"), "a neutral text is used only")
    refused(
        penchant("score", "-m", zoo("bert"), "t.csv", "--column", "y", "--prefix", "x", "--method", "pll-shared"),
        "pair",
    )
    code, _, err = penchant(*base, "t.csv", "--column", "y", "--prefix", "x")
    assert code == 0 and "1 of 1 sentence has no white space after its prefix" in err
    (tmp_path / "m.csv").write_text("x,y\nRain, is wet\nTh,e keys\n", "utf-8")
    refused(penchant(*base, "m.csv", "--column", "y", "--prefix", "x"), "m.csv, line 3", "inside the token 'The'")
    with pytest.raises(DataError, match="2 prefixes for 1 texts"):
        pc.score(zoo("gpt2"), ["The keys"], prefixes=["a", "b"])


def test_raters_see_the_prefix(tmp_path: Path, penchant: Penchant) -> None:
    (tmp_path / "p.csv").write_text("good,bad,prefix\n he slept., he sleep.,All night\n", "utf-8")
    code, _, err = penchant("rate", "p.csv", "-o", "said.sqlite", "--raters", "ann", "--html", "pages")
    assert code == 0, err
    (page,) = (tmp_path / "pages").glob("*ann*.html")
    assert "All night he slept." in page.read_text("utf-8")


def test_pairs_with_a_prefix(zoo: Zoo, tmp_path: Path) -> None:
    rows = [
        {"good": " The dog saw the teacher.", "bad": " The dog saw the the.", "prefix": "The old teacher saw a dog."},
        {"good": " The keys are old.", "bad": " The keys is old.", "prefix": "Rain"},
    ]
    for name in ("gpt2", "bert"):
        result = pc.MinimalPairs(data=rows, normalise=["none", "mean", "pmi"], neutral=NEUTRAL).run(zoo(name))
        ours = scorer(zoo(name))
        assert result.signature["neutral"] == NEUTRAL
        for role in ("good", "bad"):
            texts = [(row["prefix"], row[role], "") for row in rows]
            given, without = list(ours.given(texts)), list(ours.without(texts, neutral=NEUTRAL))
            assert result.items[f"score_{role}"].to_list() == pytest.approx([each.score for each in given], abs=1e-4)
            assert result.items[f"neutral_{role}"].to_list() == pytest.approx(
                [each.score for each in without], abs=1e-4
            )
            assert result.items[f"n_tokens_{role}"].to_list() == [each.n for each in given]
        gap = [result.items[f"score_{r}"] - result.items[f"neutral_{r}"] for r in ("good", "bad")]
        accuracy = result.summary.filter(normalise="pmi", measure="accuracy", scope="overall", split="all")
        assert accuracy["value"].item() == (gap[0] > gap[1]).mean()
    for probe, name in (
        (pc.MinimalPairs(data=[("a b", "a c")], normalise="pmi"), "gpt2"),
        (pc.MinimalPairs(data=rows, method="pll-shared"), "bert"),
        (pc.MinimalPairs(data=rows, space="front"), "gpt2"),
    ):
        assert "prefix" in refusal(partial(probe.run, zoo(name)), MethodError)

"""Scores of a part of a text, against plain transformers: one forward pass per number, nothing shared or padded."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import brute
import zoo as tiny
from builders import language_model, refusal
from penchant.engine.scorer import Scorer
from penchant.errors import DataError, MethodError

Zoo = Callable[[str], Path]
TEXTS = [
    ("The old teacher saw a dog. ", "The traveler lost the souvenir."),
    ("Moje sestra čte nové knihy. ", "Hello, world!"),
    ("Rain ", "The keys to the cabinet are on the table."),
]


def scorer(zoo: Zoo, name: str) -> Scorer:
    return Scorer(language_model(zoo(name)))


def places() -> list[tuple[str, tuple[int, int], str]]:
    """The texts with the span of their second part, as the engine takes them."""
    return [(a + b, (len(a), len(a + b)), "here") for a, b in TEXTS]


@pytest.mark.parametrize("name", tiny.MASKED)
def test_a_part_of_a_text_under_a_masked_model(name: str, zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo(name))
    for method, reference in (("pll", brute.pll), ("pll-word-l2r", brute.pll_word_l2r)):
        for score, (text, span, _) in zip(scorer(zoo, name).parts(places(), method), places(), strict=True):
            encoded = brute.encode(tokenizer, text)
            inside = set(brute.span_positions(tokenizer, text, span))
            every = zip(encoded.scored, reference(model, tokenizer, text), strict=True)
            expected = [value for position, value in every if position in inside]
            assert 0 < len(expected) < len(encoded.scored)
            assert score.n == len(expected)
            assert score.token_logprobs == pytest.approx(expected, abs=1e-4)
            assert score.score == pytest.approx(math.fsum(expected), abs=2e-4)
            assert score.text == text[slice(*span)]


@pytest.mark.parametrize("name", tiny.CAUSAL)
def test_a_part_of_a_text_under_a_causal_model(name: str, zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo(name), causal=True)
    for score, (text, (start, _), _) in zip(scorer(zoo, name).parts(places()), places(), strict=True):
        offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        every = zip(offsets, brute.lp(model, tokenizer, text), strict=True)
        # A token that is only the space before the part belongs to it.
        expected = [value for (_, end), value in every if end > start or (end == start and text[end - 1] == " ")]
        assert len(expected) - len(score.tokens) in (0, 1)
        expected = expected[-len(score.tokens) :]
        assert score.token_logprobs == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", ["bert", "gpt2", "gpt2-no-bos"])
def test_the_whole_text_as_a_part_is_its_score(name: str, zoo: Zoo) -> None:
    texts = [text for text in tiny.SENTENCES if len(text) > 10]
    whole = scorer(zoo, name).score((text, "") for text in texts)
    parts = scorer(zoo, name).parts((text, (0, len(text)), "") for text in texts)
    for one, other in zip(whole, parts, strict=True):
        assert one.score == other.score and one.tokens == other.tokens


FILLS = [("The naïve souvenir lost the teacher.", (4, 18)), ("The traveler lost the unbelievable café.", (22, 39))]


@pytest.mark.parametrize("later", ["masked", "left out"])
@pytest.mark.parametrize("name", tiny.MASKED)
def test_pieces_are_filled_in_from_left_to_right(name: str, later: str, zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo(name))
    scored = scorer(zoo, name).filled(((text, span, "") for text, span in FILLS), later=later)  # type: ignore[arg-type]
    several = 0
    for score, (text, span) in zip(scored, FILLS, strict=True):
        ids = brute.encode(tokenizer, text).ids
        inside = brute.span_positions(tokenizer, text, span)
        expected = []
        for number, position in enumerate(inside):
            rest = ids[inside[-1] + 1 :]
            masks = [tokenizer.mask_token_id] * (1 if later == "left out" else len(inside) - number)
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([[*ids[:position], *masks, *rest]])).logits[0, position]
            expected.append(logits.double().log_softmax(-1)[ids[position]].item())
        several += len(inside) > 1
        assert score.token_logprobs == pytest.approx(expected, abs=1e-4)
        assert score.n == len(inside)
    assert several  # words of one piece do not tell the two apart


@pytest.mark.parametrize("name", tiny.CAUSAL)
def test_the_first_token_follows_the_beginning_and_the_others_do_not(name: str, zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo(name), causal=True)
    texts = [text for text in tiny.SENTENCES if len(text) > 10][:6]
    begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    for score, text in zip(scorer(zoo, name).started((text, "") for text in texts), texts, strict=True):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        expected = []
        for i, token in enumerate(ids):
            before = ids[:i] if i else [begin] if begin is not None else []
            if not before:
                expected.append(math.nan)
                continue
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([before])).logits[0, -1]
            expected.append(logits.double().log_softmax(-1)[token].item())
        assert score.token_logprobs == pytest.approx(expected, abs=1e-4, nan_ok=True)


def test_what_a_model_cannot_do_is_refused(zoo: Zoo) -> None:
    rain = [("Rain falls.", (0, 4), "")]
    assert "masked" in refusal(lambda: list(scorer(zoo, "bert").started([("Rain falls.", "")])), MethodError)
    assert "gap" in refusal(lambda: list(scorer(zoo, "gpt2").filled(rain, later="masked")), MethodError)
    assert "'pll'" in refusal(lambda: list(scorer(zoo, "gpt2").parts(rain, "pll")), MethodError)
    single, shared = [("Rain", (0, 1), "here")], [("The keys", (2, 8), "here")]
    assert "single token" in refusal(lambda: list(scorer(zoo, "gpt2-no-bos").parts(single)), DataError)
    assert refusal(lambda: list(scorer(zoo, "bert").parts(shared)), DataError).startswith("here: ")

"""Surprisal of words with twelve families of tokenizers and four languages, each word against plain transformers: one
forward pass a text, the owner of each token by the characters it covers, and what begins or ends a word by decoding."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

import brute
import penchant as pc
import tokenizer_families as families
from penchant.engine.scorer import Scorer, language_model
from penchant.engine.words import WordScore, listed_words, white_space_words
from tokenizer_families import FAMILIES, MARKED, TEXTS, WITH_MASK, WORDS

Saved = Callable[..., Path]
CASES = [(name, white_space_words(text)) for name, text in TEXTS.items()]
CASES += [(name, listed_words(TEXTS[name], words, "")) for name, words in WORDS.items()]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    home = tmp_path_factory.mktemp("families")
    return functools.cache(lambda name, causal: families.save(name, home / f"{name}-{causal}", causal=causal))


@dataclass(frozen=True)
class Signs:
    """Of each token, by decoding it behind a letter: whether it begins with white space (or is special), and whether it
    ends in white space."""

    begins: torch.Tensor
    ends: torch.Tensor


def signs(tokenizer: Any, rows: int) -> Signs:
    (letter,) = tokenizer("a", add_special_tokens=False)["input_ids"][-1:]
    alone = len(tokenizer.decode([letter]))
    begins, ends = torch.zeros(rows, dtype=torch.bool), torch.zeros(rows, dtype=torch.bool)
    for token in range(len(tokenizer)):
        text = tokenizer.decode([letter, token], clean_up_tokenization_spaces=False)[alone:]
        begins[token] = token in tokenizer.all_special_ids or text[:1].isspace()
        ends[token] = text[-1:].isspace()
    return Signs(begins, ends)


def owners(text: str, spans: list[tuple[int, int]], offsets: list[tuple[int, int]]) -> list[set[int]]:
    """The words that each token holds a part of; a token of white space belongs to the next word, if there is one."""
    inside = [{w for w, (s, e) in enumerate(spans) for i in range(*o) if s <= i < e} for o in offsets]
    for i in reversed(range(len(inside))):
        if not inside[i] and i + 1 < len(inside):
            inside[i] = {min(inside[i + 1])} if inside[i + 1] else set()
    return inside


def corrected(model: Any, tokenizer: Any, text: str, spans: list[tuple[int, int]], sign: Signs | None) -> list[float]:
    """Σ s(piece) − B(before) + B(behind), without B where there are no signs, no white space, or where the token before
    has ended the word itself; NaN for words that share a token."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    tokens = encoded["input_ids"]
    with torch.inference_mode():
        logprobs = model(torch.tensor([[tokenizer.bos_token_id, *tokens]])).logits[0].double().log_softmax(-1)
    inside = owners(text, spans, encoded["offset_mapping"])

    def mass(place: int, which: torch.Tensor) -> float:
        return float(logprobs[place][which].logsumexp(-1))

    def boundary(place: int, word: int) -> float:
        if sign is None or (place and sign.ends[tokens[place - 1]]):
            return 0.0
        if word == len(spans):
            return mass(place, sign.begins)
        if sign.begins[tokens[place]]:
            return mass(place, sign.begins)
        return 0.0 if word else mass(place, ~sign.begins)

    found = []
    for word in range(len(spans)):
        own = [i for i, of_token in enumerate(inside) if word in of_token]
        if any(len(inside[i]) > 1 for i in own):
            found.append(math.nan)
            continue
        pieces = -sum(float(logprobs[i, tokens[i]]) for i in own)
        found.append(pieces + boundary(own[0], word) - boundary(own[-1] + 1, word + 1))
    return found


def of(home: Path) -> list[list[WordScore]]:
    scorer = Scorer(language_model(str(home)))
    try:
        return list(scorer.surprisals([(TEXTS[name], spans, name) for name, spans in CASES]))
    finally:
        scorer.close()


@pytest.mark.parametrize("name", FAMILIES)
def test_every_word_equals_plain_transformers(name: str, saved: Saved) -> None:
    model, tokenizer = brute.load(saved(name, True), causal=True)
    sign = signs(tokenizer, model.config.vocab_size) if name in MARKED else None
    for (case, spans), words in zip(CASES, of(saved(name, True)), strict=True):
        text = TEXTS[case]
        assert [(word.word, word.start) for word in words] == [(text[s:e], s) for s, e in spans]
        expected = corrected(model, tokenizer, text, spans, sign)
        assert [w.surprisal for w in words] == pytest.approx(expected, abs=2e-4, rel=2e-5, nan_ok=True), case


@pytest.mark.parametrize("name", FAMILIES)
def test_every_piece_belongs_to_one_word_and_words_sum_to_the_sentence(name: str, saved: Saved) -> None:
    """Up to the ends, and white space behind the last word, which no word has."""
    lm = language_model(str(saved(name, True)))
    model, tokenizer = brute.load(saved(name, True), causal=True)
    sign = signs(tokenizer, model.config.vocab_size)
    scores = list(Scorer(lm).score([(TEXTS[case], case) for case, _ in CASES]))
    for (case, spans), words, sentence in zip(CASES, of(saved(name, True)), scores, strict=True):
        encoded = tokenizer(TEXTS[case], add_special_tokens=False, return_offsets_mapping=True)
        inside = owners(TEXTS[case], spans, encoded["offset_mapping"])
        told = {word for of_token in inside if len(of_token) > 1 for word in of_token}
        assert {n for n, word in enumerate(words) if math.isnan(word.surprisal)} == told
        last = max(i for i, of_token in enumerate(inside) if of_token) + 1
        if told:
            continue
        assert sum(word.pieces for word in words) == last
        tokens = encoded["input_ids"]
        with torch.inference_mode():
            out = model(torch.tensor([[tokenizer.bos_token_id, *tokens]])).logits[0].double().log_softmax(-1)
        whole = -sentence.score + sum(float(out[i, tokens[i]]) for i in range(last, len(tokens)))
        if name in MARKED:
            first = sign.begins if sign.begins[tokens[0]] else ~sign.begins
            whole += float(out[0][first].logsumexp(-1))
            whole -= 0.0 if sign.ends[tokens[last - 1]] else float(out[last][sign.begins].logsumexp(-1))
        assert sum(word.surprisal for word in words) == pytest.approx(whole, abs=1e-3), case


@pytest.mark.parametrize("name", WITH_MASK)
def test_pieces_are_summed_under_masked_models(name: str, saved: Saved) -> None:
    model, tokenizer = brute.load(saved(name, False))
    cases = [case for case in CASES if case[0] in ("blanks", "bengali", "czech, marks apart", "mandarin", "emoji")]
    scorer = Scorer(language_model(str(saved(name, False))))
    sentences = list(scorer.score([(TEXTS[case], "") for case, _ in cases]))
    scores = scorer.surprisals([(TEXTS[case], spans, case) for case, spans in cases], method="pll")
    for (case, spans), words, sentence in zip(cases, scores, sentences, strict=True):
        encoded = brute.encode(tokenizer, TEXTS[case])
        each = brute.pll(model, tokenizer, TEXTS[case])
        inside = owners(TEXTS[case], spans, [encoded.offsets[i] for i in encoded.scored])
        expected = []
        for word in range(len(spans)):
            own = [i for i, of_token in enumerate(inside) if word in of_token]
            shared = any(len(inside[i]) > 1 for i in own)
            expected.append(math.nan if shared else -sum(each[i] for i in own))
        found = [word.surprisal for word in words]
        assert found == pytest.approx(expected, abs=2e-4, nan_ok=True), case
        if not any(map(math.isnan, expected)):
            behind = sum(value for value, of_token in zip(each, inside, strict=True) if not of_token)
            assert sum(found) - behind == pytest.approx(-sentence.score, abs=1e-3), case


def test_a_word_that_a_token_has_ended_is_not_ended_twice(saved: Saved) -> None:
    """A full stop and the line break behind it are one token under Qwen's split: that no more white space follows is
    nothing that the word is charged for, at the end of the text or before the next line."""
    home = saved("byte-bpe-digits", True)
    model, tokenizer = brute.load(home, causal=True)
    tokens = tokenizer("The end.\n", add_special_tokens=False)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(tokens)[-1] == ".Ċ"
    logprobs = brute.lp(model, tokenizer, "The end.\n")
    with torch.inference_mode():
        after_the = model(torch.tensor([[tokenizer.bos_token_id, tokens[0]]])).logits[0, -1].double().log_softmax(-1)
    begins = signs(tokenizer, model.config.vocab_size).begins
    frame = pc.surprisal(str(home), "The end.\n")
    expected = -sum(logprobs[1:]) + float(after_the[begins].logsumexp(-1))
    assert frame["surprisal"].to_list()[1] == pytest.approx(expected, abs=1e-4)


def test_words_that_share_a_token_are_told(saved: Saved) -> None:
    """Byte-level merges go across the words of Mandarin: 那只 and 只狗 are touched by one token each."""
    frame = pc.surprisal(str(saved("byte-bpe", True)), TEXTS["mandarin"], words=[WORDS["mandarin"]])
    told = frame.filter(frame["surprisal"].is_null())["word"].to_list()
    assert told == ["那", "只", "狗"] and frame["entropy"].is_null().sum() == 3

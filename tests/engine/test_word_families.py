"""Surprisal of words with twelve families of tokenizers and four languages, each word against plain transformers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import brute
import penchant as pc
import tokenizer_families as families
from penchant.engine.scorer import Scorer, language_model
from penchant.engine.word_surprisal import WordScore, listed_words, white_space_words
from tokenizer_families import FAMILIES, MARKED, TEXTS, WITH_MASK, WORDS
from word_reference import corrected, owners, signs

Saved = Callable[..., Path]
CASES = [(name, white_space_words(text)) for name, text in TEXTS.items()]
CASES += [(name, listed_words(TEXTS[name], words, "")) for name, words in WORDS.items()]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    home = tmp_path_factory.mktemp("families")
    return functools.cache(lambda name, causal: families.save(name, home / f"{name}-{causal}", causal=causal))


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

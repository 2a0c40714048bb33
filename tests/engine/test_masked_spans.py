"""Spans scored while others are hidden, against plain transformers: what is masked and where it is read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast

import brute
import zoo as tiny
from builders import language_model, refusal
from fake_backend import FakeBackend
from penchant.engine.batch_plan import Batch
from penchant.engine.scorer import Scorer
from penchant.errors import DataError, MethodError, ModelError, PenchantError

Zoo = Callable[[str], Path]
Span = tuple[int, int]
Place = tuple[str, Span, tuple[Span, ...], str]

SENTENCES = [
    "The <teacher> saw the {dog}.",
    "The {unfriendly} teacher saw the <old> dog.",
    "<Hello>, said the {remarkable} nurse!",
    "The nurse and the {doctor} saw the <mechanic>",
    "The teacher <is> very {good}, is it true?",
    "The dog saw the <dog>, and the {dog} saw the dog.",
    "The <dog> saw the dog, and the {old dog} saw the old dog.",
    "The very <naïve> {café} owners left.",
    "The nurse <does not> {really agree} that the dog is late.",
    "The {old} dog saw the <traveler> and the {white} horse, the {very old} one.",
    "The <traveler> lost the souvenir.",
    "<Moje sestra> {připravuje} nové knihy.",
    "<ছেলে>রা {বাজারে} যায়।",
    "<মেয়েটি> {গ্রাম}ে ভাত খায়।",
    "{শহর}ে <লেখক>কে, ডাক্তার",
    "The <teach>er saw the {mechani}cs.",
    "The {teach}er lost the <mecha>nics.",
]
"""The span that is read in angle brackets, the hidden ones in braces."""


def place_of(marked: str) -> Place:
    text, spans = "", {"<": list[Span](), "{": list[Span]()}
    for character in marked:
        if character in "<{":
            opened, start = character, len(text)
        elif character in ">}":
            spans[opened].append((start, len(text)))
        else:
            text += character
    (span,) = spans["<"]
    return text, span, tuple(spans["{"]), f"'{marked}'"


PLACES = [place_of(sentence) for sentence in SENTENCES]


def pieces_of(tokenizer: PreTrainedTokenizerFast, text: str, span: Span) -> list[int]:
    """The positions of the tokens that hold one of the span's characters; a token that stands for nothing but the
    space in front of a word is the word's."""
    encoded = tokenizer(text, return_offsets_mapping=True)
    ids, offsets = encoded["input_ids"], encoded["offset_mapping"]
    held = [
        i
        for i, (start, end) in enumerate(offsets)
        if any(start <= c < end and not text[c].isspace() for c in range(*span))
    ]
    first, last = min(held), max(held)
    while ids[first - 1] not in tokenizer.all_special_ids and not tokenizer.decode([ids[first - 1]]).strip():
        first -= 1
    return list(range(first, last + 1))


def masked_ids(tokenizer: PreTrainedTokenizerFast, place: Place) -> list[int]:
    text, span, hidden, _ = place
    ids = list(tokenizer(text)["input_ids"])
    for i in itertools.chain(*(pieces_of(tokenizer, text, each) for each in (span, *hidden))):
        ids[i] = tokenizer.mask_token_id
    return ids


def all_pieces(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, place: Place) -> list[float]:
    """One pass over the whole sentence, read at the pieces of the span."""
    text, span, _, _ = place
    ids = tokenizer(text)["input_ids"]
    found = logprobs(model, masked_ids(tokenizer, place))
    return [found[i, ids[i]].item() for i in pieces_of(tokenizer, text, span)]


def first_piece(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, place: Place) -> list[float]:
    """One mask for each span, from the last one to the first, so that the positions before stay as they are."""
    text, span, hidden, _ = place
    ids = list(tokenizer(text)["input_ids"])
    own = pieces_of(tokenizer, text, span)
    first, rest = ids[own[0]], len(own) - 1
    groups = sorted([own, *(pieces_of(tokenizer, text, each) for each in hidden)])
    for group in reversed(groups):
        ids[group[0] : group[-1] + 1] = [tokenizer.mask_token_id]
    masks = [i for i, token in enumerate(ids) if token == tokenizer.mask_token_id]
    assert len(masks) == len(groups)
    return [logprobs(model, ids)[masks[groups.index(own)], first].item(), *[math.nan] * rest]


def logprobs(model: PreTrainedModel, ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        logits: torch.Tensor = model(input_ids=torch.tensor([ids])).logits[0]
    return logits.double().log_softmax(-1)


REFERENCES = {"all": all_pieces, "first": first_piece}


@pytest.mark.whole
@pytest.mark.parametrize("name", tiny.MASKED)
@pytest.mark.parametrize("pieces", ["all", "first"])
def test_every_piece_equals_plain_transformers(
    zoo: Zoo, tmp_path: Path, name: str, pieces: Literal["all", "first"]
) -> None:
    model, tokenizer = brute.load(zoo(name))
    expected = [REFERENCES[pieces](model, tokenizer, place) for place in PLACES]
    lm = language_model(zoo(name))
    for batch, cached, order in ((1, None, 1), (37, None, -1), (5000, "c", -1), (5000, "c", 1)):
        scorer = Scorer(lm, batch_tokens=batch, cache=cached and tmp_path / cached)
        found = list(scorer.masked(PLACES[::order], pieces=pieces))[::order]
        assert scorer.counts.forward == (0 if cached and order == 1 else len(PLACES))
        scorer.close()
        for score, (text, span, _, what), values in zip(found, PLACES, expected, strict=True):
            np.testing.assert_allclose(score.token_logprobs, values, atol=1e-4, rtol=0, err_msg=f"{name} {what}")
            assert score.score == pytest.approx(np.nansum(values), abs=1e-4)
            ids = tokenizer(text)["input_ids"]
            own = pieces_of(tokenizer, text, span)
            assert (score.text, score.n) == (text, len(own))
            assert list(score.tokens) == tokenizer.convert_ids_to_tokens([ids[i] for i in own])
            offsets = [tokenizer(text, return_offsets_mapping=True)["offset_mapping"][i] for i in own]
            outside = {c for each in offsets for c in range(*each)} - set(range(*span))
            assert score.reaches == any(not text[c].isspace() for c in outside)
    # The sentences are what they are meant to be for this tokenizer.
    assert {score.n == 1 for score in found} == {True, False}
    hidden = [len(pieces_of(tokenizer, text, span)) for text, _, spans, _ in PLACES for span in spans]
    assert min(hidden) == 1 < max(hidden)
    assert {score.reaches for score in found} == {True, False}


@pytest.mark.parametrize("name", tiny.MASKED)
def test_the_prior_is_read_at_the_span_and_not_at_what_is_hidden(zoo: Zoo, name: str) -> None:
    model, tokenizer = brute.load(zoo(name))
    lm = language_model(zoo(name))
    for marked in ("The <teacher> saw the {student}.", "The {teacher} saw the <student>."):
        place = place_of(marked)
        text, span, (hidden,), _ = place
        (own,), (other,) = pieces_of(tokenizer, text, span), pieces_of(tokenizer, text, hidden)
        found = logprobs(model, masked_ids(tokenizer, place))
        token = tokenizer(text)["input_ids"][own]
        (score,) = Scorer(lm).masked([place])
        assert score.score == pytest.approx(found[own, token].item(), abs=1e-4)
        assert abs(score.score - found[other, token].item()) > 1e-2
        # A hidden word gives nothing away: any other of as many pieces leaves the same prior. The fill knows it.
        changed = place_of(marked.replace(text[slice(*hidden)], "pianist"))
        fills = [(text, span, (), ""), (changed[0], changed[1], (), "")]
        prior, same, fill, another = Scorer(lm).masked([place, changed, *fills])
        assert prior.score == pytest.approx(same.score, abs=1e-5)
        assert abs(fill.score - another.score) > 1e-3
        assert abs(fill.score - prior.score) > 1e-3


@pytest.mark.parametrize("name", tiny.MASKED)
def test_only_the_occurrence_that_was_asked_for_is_masked(zoo: Zoo, name: str) -> None:
    lm = language_model(zoo(name))
    marked = ["The <dog> saw the dog, the {dog} or the dog.", "The dog saw the <dog>, the dog or the {dog}."]
    first, second = Scorer(lm).masked([place_of(each) for each in marked])
    assert first.tokens == second.tokens
    assert abs(first.score - second.score) > 1e-3
    model, tokenizer = brute.load(zoo(name))
    for score, each in zip((first, second), marked, strict=True):
        ids = masked_ids(tokenizer, place_of(each))
        assert ids.count(tokenizer.mask_token_id) == 2 * len(score.tokens)
        assert score.score == pytest.approx(sum(all_pieces(model, tokenizer, place_of(each))), abs=1e-4)


@pytest.mark.parametrize(
    ("name", "marked", "tokens", "reaches"),
    [
        ("roberta", "The <old> {dog}", ["Ġold"], False),
        ("roberta", "<The old> {dog}", ["The", "Ġold"], False),
        ("modernbert", "The <old> {dog}", ["Ġold"], False),
        ("modernbert", "The <teach>er {saw}", ["Ġteacher"], True),
        ("xlm-roberta", "The teacher <is> {good}", ["▁", "is"], False),
        ("deberta-v2", "The teacher <is> {good}", ["▁", "is"], False),
        ("deberta-v2", "The <teacher> {is} good", ["▁teacher"], False),
        ("bert", "<ছে>লেরা {যায়}", ["ছ", "##ে"], False),
        ("bert", "<ছেল>েরা {যায়}", ["ছ", "##ে", "##লে"], True),
        ("bert", "<ছেলে>রা {যায়}", ["ছ", "##ে", "##লে"], False),
        ("bert", "ছেলে<রা> {যায়}", ["##রা"], False),
        ("bert", "{ছেলে}<রা> যায়", ["##রা"], False),
        ("bert", "The {do}<g> is", ["##g"], False),
        ("bert-cased", "<মেয়েটি>কে {গ্রাম}ে", ["মেয়েটি"], False),
        ("bert-cased", "{মেয়েটি}কে <গ্রাম>ে", ["গ্রামে"], True),
        ("bert-cased", 'He said "<the dog>", {Rain}', ["the", "do", "##g"], False),
    ],
)
def test_pieces_worked_out_by_hand(zoo: Zoo, name: str, marked: str, tokens: list[str], reaches: bool) -> None:
    (score,) = Scorer(language_model(zoo(name))).masked([place_of(marked)])
    assert (list(score.tokens), score.reaches) == (tokens, reaches)


def test_one_piece_each_and_first_is_the_same_as_all(zoo: Zoo) -> None:
    lm = language_model(zoo("bert"))
    place = place_of("The <teacher> {said} the old nurse.")
    (whole,), (first,) = Scorer(lm).masked([place]), Scorer(lm).masked([place], pieces="first")
    assert whole.n == 1
    assert first.score == pytest.approx(whole.score, abs=1e-6)


def test_what_is_no_number_is_an_error(zoo: Zoo) -> None:
    class Overflows(FakeBackend):
        def run(self, batch: Batch) -> NDArray[np.generic]:
            return np.full(len(batch.targets), np.nan, np.float32)

    scorer = Scorer(language_model(zoo("bert")), backend=Overflows())
    for pieces in ("all", "first"):
        with pytest.raises(ModelError, match=r"bert@.*nan for a log-probability"):
            list(scorer.masked(PLACES, pieces=pieces))


@pytest.mark.parametrize("name", tiny.MASKED)
def test_whole_words_with_nothing_hidden_are_spans(zoo: Zoo, name: str) -> None:
    scorer = Scorer(language_model(zoo(name)))
    whole = [(text, span, where) for text, span, _, where in PLACES[:12]]
    masked = scorer.masked([(text, span, (), where) for text, span, where in whole])
    for ours, theirs in zip(masked, scorer.spans(whole), strict=True):
        assert (ours.text, ours.n, ours.tokens, ours.reaches) == (theirs.text, theirs.n, theirs.tokens, False)
        assert ours.score == pytest.approx(theirs.score, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "text", "spans", "kind", "parts"),
    [
        ("bert", "The teacher saw.", [(4, 9), (9, 11)], DataError, ["'teach'", "'er'", "'teacher'"]),
        ("roberta", "The teacher saw.", [(9, 11), (0, 3), (4, 9)], DataError, ["'er'", "'teach'", "'teacher'"]),
        ("bert", "The dog saw the dog.", [(16, 19), (12, 19)], DataError, ["'dog'", "'the dog'"]),
        ("bert", "The dog", [(3, 4), (0, 3)], DataError, ["3–4"]),
        ("bert", "The dog", [(0, 3), (9, 12)], DataError, ["9–12"]),
        ("gpt2", "The nurse", [(0, 3)], MethodError, ["causal"]),
        ("bert-headless", "The nurse", [(0, 3)], ModelError, ["vectors"]),
    ],
)
def test_places_that_are_refused(
    zoo: Zoo, name: str, text: str, spans: list[Span], kind: type[PenchantError], parts: list[str]
) -> None:
    scorer = Scorer(language_model(zoo(name)))
    places = [place_of("The <nurse>"), (text, spans[0], tuple(spans[1:]), "s.csv, line 2")]
    line = refusal(lambda: list(scorer.masked(places)), kind)
    assert all(part in line for part in parts)
    assert line.startswith("s.csv, line 2: ") == (kind is DataError)
    assert scorer.counts.forward == 0


def test_unknown_pieces_are_refused(zoo: Zoo) -> None:
    scorer = Scorer(language_model(zoo("bert")))
    assert "'last'" in refusal(lambda: scorer.masked([], pieces="last"), MethodError)  # type: ignore[arg-type]


def test_no_places_are_no_scores(zoo: Zoo) -> None:
    scorer = Scorer(language_model(zoo("bert")))
    assert list(scorer.masked([])) == []
    assert scorer.counts.as_dict() == dict.fromkeys(scorer.counts.as_dict(), 0)


TEMPLATES = [
    "The {target} is {attribute}.",
    "The {target} is very {attribute}, said the nurse.",
    "Is it true that the {attribute} dog saw the {target}?",
    "No {attribute} teacher is the {target}!",
    "He said the {target} in the garden is never {attribute}.",
    "It is {attribute}, and the {target} is in the garden.",
]


@cache
def words(directory: Path) -> tuple[list[str], list[str]]:
    """20 targets and 30 attributes of one to three pieces."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    known = sorted({word for text in tiny.corpus() for word in text.split() if word.isascii() and word.isalpha()})
    made = known + [a + b for a, b in itertools.combinations(known, 2) if a.islower() and b.islower()][::97]
    lists: dict[int, list[str]] = {1: [], 2: [], 3: []}
    for word in made:
        count = len(pieces_of(tokenizer, f"the {word} is", (4, 4 + len(word))))
        lists.get(count, []).append(word)
    mixed = [word for triple in zip(*lists.values(), strict=False) for word in triple]
    assert len(mixed) >= 50
    return mixed[:20], mixed[20:50]


def study(directory: Path) -> list[Place]:
    """The fill and the prior of 3,600 sentences, one sentence after the other."""
    places: list[Place] = []
    for template, target, attribute in itertools.product(TEMPLATES, *words(directory)):
        marked = template.replace("{attribute}", f"{{{attribute}}}").replace("{target}", f"<{target}>")
        text, span, hidden, where = place_of(marked)
        places += [(text, span, (), where), (text, span, hidden, where)]
    return places


@pytest.mark.whole
@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-roberta"])
def test_what_sentences_share_is_run_once(zoo: Zoo, name: str) -> None:
    places = study(zoo(name))
    done: list[float] = []
    scorer = Scorer(language_model(zoo(name)), progress=done.append)
    found = list(scorer.masked(places))
    counts = scorer.counts
    assert counts.reads == len(places) == 7200
    # A template has a fill for each attribute and number of target pieces, a prior for each two numbers of pieces.
    assert counts.forward == 6 * (30 * 3 + 3 * 3) < counts.reads / 4
    assert sum(done) == pytest.approx(7200)
    model, tokenizer = brute.load(zoo(name))
    assert {score.n for score in found} == {1, 2, 3}
    assert counts.forward == counts.inputs == len({tuple(masked_ids(tokenizer, place)) for place in places})
    for i in range(0, 7200, 97):  # fills and priors in turn
        np.testing.assert_allclose(found[i].token_logprobs, all_pieces(model, tokenizer, places[i]), atol=1e-4, rtol=0)


@pytest.mark.whole
@pytest.mark.parametrize("window", [1, 500, 1 << 18])
def test_neither_the_window_nor_the_order_makes_an_input_run_twice(zoo: Zoo, tmp_path: Path, window: int) -> None:
    lm = language_model(zoo("bert"))
    places = study(zoo("bert"))[:1200]
    plain = list(Scorer(lm).masked(places))
    order = np.random.default_rng(0).permutation(len(places)).tolist()
    scorer = Scorer(lm, cache=tmp_path / "c")
    scorer.engine.window = window
    mixed = list(scorer.masked([places[i] for i in order]))
    _, tokenizer = brute.load(zoo("bert"))
    distinct = len({tuple(masked_ids(tokenizer, place)) for place in places})
    assert (scorer.counts.reads, scorer.counts.forward, scorer.counts.cached) == (1200, distinct, 0)
    for i, score in zip(order, mixed, strict=True):
        assert (score.text, score.tokens) == (plain[i].text, plain[i].tokens)
        np.testing.assert_allclose(score.token_logprobs, plain[i].token_logprobs, atol=1e-5, rtol=0)
    again = list(scorer.masked(places))
    scorer.close()
    assert (scorer.counts.reads, scorer.counts.forward, scorer.counts.cached) == (2400, distinct, distinct)
    for score, expected in zip(again, plain, strict=True):
        np.testing.assert_allclose(score.token_logprobs, expected.token_logprobs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["bert", "roberta", "albert"])
def test_mask_tokens_in_a_text_stay_where_gaps_are_allowed(zoo: Zoo, name: str) -> None:
    scorer = Scorer(language_model(zoo(name)))
    model, tokenizer = brute.load(zoo(name))
    text = f"The nurse saw the {tokenizer.mask_token} dog."
    (found,) = scorer.masked([(text, (4, 9), (), "here")], gaps=True)
    assert found.score == pytest.approx(brute.span_logprob(model, tokenizer, text, (4, 9)), abs=2e-4)
    with pytest.raises(DataError, match="the special token"):
        list(scorer.masked([(text, (4, 9), (), "here")]))

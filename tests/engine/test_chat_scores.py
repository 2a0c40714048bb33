"""Replies in a chat template: log-probabilities and samples against plain transformers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy
import torch

import penchant as pc
from chat_models import NO_SYSTEM, chat_model
from penchant.engine.chat_scores import Sampling
from penchant.engine.scorer import Scorer
from penchant.errors import DataError, ModelError
from penchant.models.chat_template import ChatPrompt, ChatTemplate

ASKED = ChatPrompt("Is the dog old?\nA. yes\nB. no", "You are a woman.")
OTHER = ChatPrompt("Does the man see the small house by the river?\nA. yes\nB. no")


@pytest.fixture(params=["gpt2", "llama", "mistral"])
def model(request: pytest.FixtureRequest, zoo: Callable[[str], Path], tmp_path: Path) -> pc.LanguageModel:
    return pc.load(chat_model(zoo(request.param), tmp_path / "chat"))


def logits(model: pc.LanguageModel, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        table: torch.Tensor = model.network.model(input_ids=torch.tensor([ids])).logits[0].double()
    return table.log_softmax(-1)


def by_hand(model: pc.LanguageModel, prompt: ChatPrompt, reply: str) -> float:
    hf = model.tokenizer.hf
    said = "".join(f"[{each['role']}]\n{each['content']}\n" for each in prompt.messages) + "[assistant]\n"
    before, whole = (hf(text, add_special_tokens=False)["input_ids"] for text in (said, said + reply))
    assert whole[: len(before)] == before
    table = logits(model, whole)
    return float(sum(table[at - 1, whole[at]] for at in range(len(before), len(whole))))


def test_replies_are_scored_after_the_rendered_prompt(model: pc.LanguageModel) -> None:
    replies = ["A", "B", "yes", "the old house"]
    found = list(Scorer(model).replies_logprobs([(ASKED, replies, "x"), (OTHER, replies[:2], "y")]))
    assert found[0] == pytest.approx([by_hand(model, ASKED, reply) for reply in replies], abs=1e-4)
    assert found[1] == pytest.approx([by_hand(model, OTHER, reply) for reply in replies[:2]], abs=1e-4)


def test_samples_follow_the_probabilities(model: pc.LanguageModel) -> None:
    n, temperature = 2_000, 0.7
    first = [model.tokenizer.hf.decode([token]) for token in range(model.network.vocabulary)]
    replies = Counter(Scorer(model).sampled(((ASKED, k, "x") for k in range(n)), Sampling(temperature, 1, 1)))
    ids = list(ChatTemplate(model).prompt(ASKED))
    shares = (logits(model, ids)[-1] / temperature).softmax(-1).numpy()
    ends = ChatTemplate(model).ends
    special = set(model.tokenizer.hf.all_special_ids)
    by_text: dict[str, float] = {}
    for token, share in enumerate(shares):
        text = "" if token in ends or token in special else first[token].strip()
        by_text[text] = by_text.get(text, 0) + float(share)
    often = [text for text, share in by_text.items() if share * n >= 5]
    counts = [replies[text] for text in often]
    rest = n - sum(counts), 1 - sum(by_text[text] for text in often)
    seen, wanted = [*counts, rest[0]], [*(by_text[text] * n for text in often), max(rest[1], 1e-9) * n]
    assert scipy.stats.chisquare(seen, np.array(wanted) * (n / sum(wanted))).pvalue > 1e-4


def test_a_sample_depends_on_its_seed_and_number_alone(model: pc.LanguageModel, tmp_path: Path) -> None:
    asked = [(prompt, number, "x") for prompt in (ASKED, OTHER) for number in range(6)]
    how = Sampling(1.0, 3, 8)
    together = list(Scorer(model).sampled(asked, how))
    assert len(set(together)) > 3
    assert [next(Scorer(model).sampled([each], how)) for each in asked] == together
    cache = tmp_path / "cache.sqlite"
    assert list(Scorer(model, cache=cache).sampled(asked[::-1], how)) == together[::-1]
    again = Scorer(model, cache=cache)
    assert list(again.sampled(asked, how)) == together
    assert again.counts.cached == len(asked) and not again.counts.forward
    assert list(Scorer(model, cache=cache).sampled(asked, Sampling(1.0, 4, 8))) != together


def test_the_likeliest_tokens_are_those_of_greedy_decoding(model: pc.LanguageModel) -> None:
    template = ChatTemplate(model)
    ids = list(template.prompt(ASKED))
    made: list[int] = []
    for _ in range(6):
        token = int(logits(model, [*ids, *made])[-1].argmax())
        if token in template.ends:
            break
        made.append(token)
    reply = next(Scorer(model).sampled([(ASKED, 0, "x")], Sampling(0, 0, 6)))
    assert reply == model.tokenizer.hf.decode(made, skip_special_tokens=True).strip()


def test_a_damaged_reply_is_sampled_again(model: pc.LanguageModel, tmp_path: Path) -> None:
    import sqlite3

    how, cache = Sampling(1.0, 0, 4), tmp_path / "cache.sqlite"
    before = list(Scorer(model, cache=cache).sampled([(ASKED, 0, "x"), (ASKED, 1, "x")], how))
    with sqlite3.connect(cache) as db:
        db.execute("UPDATE replies SET answer = ?", (b"another",))
    again = Scorer(model, cache=cache)
    assert list(again.sampled([(ASKED, 0, "x"), (ASKED, 1, "x")], how)) == before
    assert not again.counts.cached


def test_a_system_message_stands_before_the_user_where_the_template_has_none(
    zoo: Callable[[str], Path], tmp_path: Path
) -> None:
    model = pc.load(chat_model(zoo("gpt2"), tmp_path / "chat", NO_SYSTEM))
    merged = ChatPrompt(f"{ASKED.system}\n\n{ASKED.user}")
    assert ChatTemplate(model).prompt(ASKED) == ChatTemplate(model).prompt(merged)


def test_models_without_a_template_and_prompts_without_room_are_refused(
    model: pc.LanguageModel, zoo: Callable[[str], Path]
) -> None:
    for other in ("gpt2", "bert"):
        with pytest.raises(ModelError):
            ChatTemplate(pc.load(zoo(other)))
    long = ChatPrompt("the dog " * 2_000)
    with pytest.raises(DataError):
        list(Scorer(model).replies_logprobs([(long, ["A"], "x")]))
    with pytest.raises(DataError):
        list(Scorer(model).sampled([(long, 0, "x")], Sampling(1, 0, 1)))

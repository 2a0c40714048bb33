"""Studies of task files of lm-eval: its numbers, computed here with transformers alone, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import zoo as tiny
from answers import refused
from builders import Program, Zoo, succeeded, write
from hub_server import Hub

TEXTS = [text for text in tiny.SENTENCES if text.isascii()]
TASK = {
    "task": "tiny",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": "rows.jsonl"}},
    "output_type": "multiple_choice",
    "test_split": "test",
    "doc_to_text": "{{text}}\nAnswer:",
    "doc_to_choice": "{{[first, second]}}",
    "doc_to_target": "label",
    "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
}


def rows() -> list[dict[str, Any]]:
    """Forty items with two answers, of unequal lengths."""
    rng = np.random.default_rng(3)
    chosen = [rng.choice(len(TEXTS), 3, replace=False) for _ in range(40)]
    return [
        {"text": TEXTS[i], "first": TEXTS[j], "second": TEXTS[k].split(" ", 1)[0] + ".", "label": int(n % 3 == 0)}
        for n, (i, j, k) in enumerate(chosen)
    ]


def write_task(folder: Path, items: list[dict[str, Any]], **fields: Any) -> Path:
    write(folder / "rows.jsonl", "".join(json.dumps(row) + "\n" for row in items))
    return write(folder / "task.yaml", {key: value for key, value in {**TASK, **fields}.items() if value is not None})


def lm_eval(directory: Path, requests: list[tuple[str, list[str]]]) -> list[list[tuple[float, int]]]:
    """Log P of each answer after a context, and its number of tokens, as lm-eval's model `hf` computes them."""
    tokenizer, model = AutoTokenizer.from_pretrained(directory), AutoModelForCausalLM.from_pretrained(directory).eval()
    found = []
    for context, answers in requests:
        of_item = []
        for answer in answers:
            whole = tokenizer.encode(context + answer, add_special_tokens=False)
            before = tokenizer.encode(context, add_special_tokens=False) if context else []
            continuation = whole[len(before) :]
            given = before or [tokenizer.eos_token_id]  # the token that lm-eval puts before an answer without a context
            with torch.no_grad():
                logits = model(torch.tensor([given + continuation])).logits[0].double().log_softmax(-1)
            places = range(len(given) - 1, len(given) + len(continuation) - 1)
            logprobs = [float(logits[at, token]) for at, token in zip(places, continuation, strict=True)]
            of_item.append((sum(logprobs), len(continuation)))
        found.append(of_item)
    return found


def measured(penchant: Program, folder: Path, model: Path, normalise: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Items and accuracies of a converted task."""
    succeeded(penchant("init", "mine", "--from-lm-eval", "task.yaml", "-m", model))
    study = folder / "mine/tiny.yaml"
    write(study, study.read_text("utf-8").replace("normalise: none", f"normalise: {normalise}"))
    succeeded(penchant("run", study, "-o", "out"))
    (items,), (summary,) = ((folder / "out").rglob(f"{name}.parquet") for name in ("items", "summary"))
    accuracy = pl.read_parquet(summary).filter(scope="overall", split="all", measure="accuracy")
    return pl.read_parquet(items), accuracy


@pytest.mark.whole
def test_two_answers_after_a_prompt(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    """acc is the accuracy by `none`; acc_norm, by characters, is neither that nor the one by `mean`, by tokens."""
    items, model = rows(), zoo("gpt2-no-bos")
    write_task(tmp_path, items)
    frame, accuracy = measured(penchant, tmp_path, model, "[none, mean]")
    texts = [[row["first"], row["second"]] for row in items]
    scored = lm_eval(
        model,
        [(f"{row['text']}\nAnswer:", [f" {each}" for each in two]) for row, two in zip(items, texts, strict=True)],
    )
    logp = np.array([[score for score, _ in of_item] for of_item in scored])
    tokens = np.array([[n for _, n in of_item] for of_item in scored])
    characters = np.array([[len(text) for text in two] for two in texts])
    gold = np.array([row["label"] for row in items])
    right = np.arange(len(items)), gold
    np.testing.assert_allclose(frame["score_good"], logp[right], atol=1e-4)
    np.testing.assert_allclose(frame["score_bad"], logp[right[0], 1 - gold], atol=1e-4)
    acc, acc_norm, by_tokens = (np.mean((logp / per).argmax(1) == gold) for per in (1, characters, tokens))
    assert dict(accuracy["normalise", "value"].rows()) == {"none": acc, "mean": by_tokens}
    assert len({acc, acc_norm, by_tokens}) == 3


@pytest.mark.whole
@pytest.mark.parametrize(("delimiter", "space"), [(None, " "), ("", "")])
def test_pairs_without_a_prompt(penchant: Program, zoo: Zoo, tmp_path: Path, delimiter: str | None, space: str) -> None:
    """As in lm-eval's tasks of BLiMP, whose delimiter is a space, and of CrowS-Pairs, whose delimiter is none."""
    items, model = rows(), zoo("gpt2")
    write_task(tmp_path, items, doc_to_text="", doc_to_target=0, target_delimiter=delimiter)
    _, accuracy = measured(penchant, tmp_path, model, "none")
    scored = lm_eval(model, [("", [space + row["first"], space + row["second"]]) for row in items])
    acc = np.mean([first >= second for (first, _), (second, _) in scored])
    assert accuracy["value"].to_list() == [acc]
    study = (tmp_path / "mine/tiny.yaml").read_text("utf-8")
    assert ("space: front" in study) == bool(space) and "ties: good" in study


@pytest.mark.whole
def test_three_answers_are_two_pairs(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    """The place of the answers in the text, from included files, with a description and white space before answers."""
    write(tmp_path / "base", {key: value for key, value in TASK.items() if key != "doc_to_target"} | {"task": "other"})
    write(tmp_path / "rows.csv", "q,a,b,c,right\nWho sleeps?,The cat,A dog,They,2\nWho sings?,A dog,We,The cat,0\n")
    fields = {"doc_to_text": "Q: {{q}}\nA: ", "doc_to_choice": ["a", "{{b}}", "c"], "description": "{{q}} "}
    fields |= {"doc_to_choice": "{{[a, b, c]}}", "doc_to_target": "{{right}}", "target_delimiter": ""}
    write(tmp_path / "task.yaml", {"include": "base", "task": "tiny", "dataset_kwargs": None, **fields})
    out, _ = succeeded(
        penchant("init", "mine", "--from-lm-eval", "task.yaml", "--data", "rows.csv", "-m", zoo("gpt2-no-bos"))
    )
    table = pl.read_csv(tmp_path / "mine/tiny.csv")
    first, second = "Who sleeps? Q: Who sleeps?\nA:", "Who sings? Q: Who sings?\nA:"
    assert table.rows() == [
        ("1-0", "tiny", first, " They", " The cat"),
        ("1-1", "tiny", first, " They", " A dog"),
        ("2-1", "tiny", second, " A dog", " We"),
        ("2-2", "tiny", second, " A dog", " The cat"),
    ]
    assert "4 pairs" in out and "2 items" in out
    assert all(line in (tmp_path / "mine/tiny.yaml").read_text("utf-8") for line in out.splitlines()[2:10])


@pytest.mark.whole
@pytest.mark.parametrize(("target", "right"), [("{{label}}", "2"), ("answer", "1")])
def test_answers_that_are_numbers(penchant: Program, zoo: Zoo, tmp_path: Path, target: str, right: str) -> None:
    """A filled template of digits is the index of an answer, and the text of a column an answer, as in lm-eval."""
    items = [{"text": TEXTS[0], "label": 2, "answer": "1"}]
    write_task(tmp_path, items, doc_to_choice=["0", "1", "2"], doc_to_target=target)
    succeeded(penchant("init", "mine", "--from-lm-eval", "task.yaml", "-m", zoo("gpt2-no-bos")))
    good = pl.read_csv(tmp_path / "mine/tiny.csv", infer_schema=False)["good"]
    assert good.to_list() == [f" {right}"] * 2


@pytest.mark.whole
def test_rows_of_the_hub(penchant: Program, hub: Hub, zoo: Zoo, tmp_path: Path) -> None:
    items = pl.DataFrame(rows()[:6])
    items.write_parquet(tmp_path / "rows.parquet")
    file = {"small/test-00000-of-00001.parquet": (tmp_path / "rows.parquet").read_bytes()}
    hub.repository("datasets/someone/questions").commit(file)
    write_task(tmp_path, [], dataset_path="someone/questions", dataset_name="small", dataset_kwargs=None)
    succeeded(penchant("init", "mine", "--from-lm-eval", "task.yaml", "-m", zoo("gpt2-no-bos")))
    assert pl.read_csv(tmp_path / "mine/tiny.csv").height == 6


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"output_type": "generate_until"}, "output_type"),
        ({"output_type": None}, "output_type"),
        ({"num_fewshot": 5}, "num_fewshot"),
        ({"filter_list": [{"name": "first"}]}, "filter_list"),
        ({"doc_to_choice": None}, "doc_to_choice"),
        ({"doc_to_choice": "{{first}}"}, "doc_to_choice"),
        ({"doc_to_choice": "{{[first, third]}}"}, "doc_to_choice"),
        ({"doc_to_target": "{{text}}"}, "doc_to_target"),
        ({"doc_to_target": 2}, "doc_to_target"),
        ({"doc_to_text": "{{label}}"}, "doc_to_text"),
        ({"doc_to_text": "{{''.__class__.__mro__}}"}, "doc_to_text"),
        ({"dataset_kwargs": None}, "dataset_path"),
        ({"dataset_kwargs": {"data_files": {"train": "rows.jsonl"}}}, "dataset_kwargs.data_files"),
        ({"include": "task.yaml"}, "include"),
        ({"task": ["one", "two"]}, "task"),
    ],
)
def test_what_is_refused(penchant: Program, tmp_path: Path, fields: dict[str, Any], named: str) -> None:
    write_task(tmp_path, rows()[:3], **fields)
    refused(penchant("init", "mine", "--from-lm-eval", "task.yaml"), "task.yaml", f"'{named}'")
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("field", ["process_docs: !function utils.clean", "metric_list: [{metric: !function utils.f}]"])
def test_functions_are_refused(penchant: Program, tmp_path: Path, field: str) -> None:
    task = write_task(tmp_path, rows()[:3], metric_list=None)
    write(task, f"{task.read_text('utf-8')}{field}\n")
    refused(penchant("init", "mine", "--from-lm-eval", "task.yaml"), "!function", f"'{field.partition(':')[0]}'")


def test_a_task_takes_one_name(penchant: Program, tmp_path: Path) -> None:
    write_task(tmp_path, rows()[:3])
    refused(penchant("init", "pairs", "mine", "--from-lm-eval", "task.yaml"), "only a directory")
    refused(penchant("init", "pairs", "mine", "--data", "rows.jsonl"), "--from-lm-eval")
    write(tmp_path / "mine/tiny.csv", "")
    refused(penchant("init", "mine", "--from-lm-eval", "task.yaml"), "tiny.csv", "already exists")

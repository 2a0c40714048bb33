"""Items with something unknown to the tokenizer: all are listed, or all are left out, counted and named."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

import penchant as pc
import zoo as tiny
from answers import Answer
from penchant.errors import MOST_ALIKE, DataError
from penchant.instruments.registry import compare
from penchant.instruments.run_options import Run
from penchant.instruments.unknown_tokens import _by_part, unknown_parts
from penchant.models.load import LanguageModel, load
from penchant.plurals import of_all
from penchant.study.read_results import read_outcome

Zoo = Callable[[str], Path]
UNKNOWN = "漢"
TRIES = st.lists(st.integers(0, 3), min_size=len(tiny.PAIRS), max_size=len(tiny.PAIRS))
FEW = 200


@pytest.fixture(scope="module")
def bert(zoo: Zoo) -> LanguageModel:
    model = load(str(zoo("bert")))
    assert isinstance(model, LanguageModel)
    return model


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def brute(folder: Path, text: str) -> bool:
    """True if the tokenizer writes its unknown token for the text."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return tokenizer.unk_token_id in tokenizer(text, add_special_tokens=False)["input_ids"]


def same(skipped: Any, plain: Any) -> None:
    """Two results with the same items and estimates."""
    assert skipped.items.equals(plain.items)
    numbers = [name for name in plain.summary.columns if name != "signature"]
    assert str(skipped.summary.select(numbers).rows()) == str(plain.summary.select(numbers).rows())  # NaN is NaN
    assert skipped.signature["on-unknown"] == "skip"
    assert "on-unknown" not in plain.signature


@pytest.mark.whole
@settings(max_examples=8, deadline=None)
@given(where=TRIES)
def test_pairs_lose_both_sentences(
    bert: LanguageModel, zoo: Zoo, tmp_path_factory: pytest.TempPathFactory, where: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    rows: list[dict[str, object]] = []
    for i, ((good, bad), spoiled) in enumerate(zip(tiny.PAIRS, where, strict=True)):
        mark = f" {UNKNOWN}"
        texts = {"good": good + mark * (spoiled in (1, 3)), "bad": bad + mark * (spoiled in (2, 3))}
        rows.append({**texts, "group": f"g{i % 2}", "id": f"p{i}"})
    lost = [i for i, row in enumerate(rows) if any(brute(zoo("bert"), str(row[role])) for role in ("good", "bad"))]
    assert lost == [i for i, spoiled in enumerate(where) if spoiled]
    (folder / "all").mkdir()
    write(folder / "all" / "p.csv", rows)
    run = Run(base=[folder / "all"])
    if len(lost) == len(rows):
        with pytest.raises(DataError, match="every one of the"):
            pc.MinimalPairs(data="p.csv", on_unknown="skip", resamples=FEW).run_as(bert, run)
        return
    skipped = pc.MinimalPairs(data="p.csv", on_unknown="skip", resamples=FEW).run_as(bert, run)
    (folder / "kept").mkdir()
    write(folder / "kept" / "p.csv", [row for i, row in enumerate(rows) if i not in lost])
    same(skipped, pc.MinimalPairs(data="p.csv", resamples=FEW).run_as(bert, Run(base=[folder / "kept"])))
    told = [caution for caution in skipped.cautions if "unknown to the tokenizer" in caution]
    if lost:
        assert told[0].startswith(f"{of_all(len(lost), len(rows), 'pairs', 'hold')} something unknown")
        many = len(lost) > MOST_ALIKE
        assert all((f"line {i + 2}" if many else f"p.csv, line {i + 2} ('{UNKNOWN}')") in told[0] for i in lost)
        with pytest.raises(DataError) as caught:
            pc.MinimalPairs(data="p.csv", resamples=FEW).run_as(bert, run)
        assert not getattr(caught.value, "__notes__", ())
        assert caught.value.where == f"{folder}/all/p.csv, line {lost[0] + 2}"
        assert of_all(len(lost), len(rows), "pairs") in caught.value.message
        named = [int(line) for line in re.findall(r"line (\d+)", str(caught.value))]
        assert named == [i + 2 for i in lost[:6]]
    else:
        assert not told


def test_cloze_sentences_are_left_out(bert: LanguageModel, tmp_path: Path) -> None:
    texts = ["The [MASK] sleeps .", f"The [MASK] sees the {UNKNOWN} .", "A [MASK] in the rain ."]
    texts += [f"{UNKNOWN} sees the [MASK] .", "The cats see a [MASK] ."]
    rows: list[dict[str, object]] = [
        {"id": f"s{i}", "text": text, "expected": 1 if i % 2 else -1, "group": "g"} for i, text in enumerate(texts)
    ]
    write(tmp_path / "c.csv", rows)
    run = Run(base=[tmp_path])
    with pytest.raises(DataError) as caught:
        pc.Cloze(data="c.csv", resamples=FEW).run_as(bert, run)
    assert "line 3" in str(caught.value) and "also line 5" in str(caught.value)
    skipped = pc.Cloze(data="c.csv", on_unknown="skip", resamples=FEW).run_as(bert, run)
    assert skipped.items["id"].to_list() == ["s0", "s2", "s4"]
    assert "2 of 5 sentences hold something unknown" in skipped.cautions[0]
    (left_out,) = (note for note in skipped.left_out if note.code == "unknown-skipped")
    assert (left_out.params["lost"], left_out.params["of"]) == (2, 5) and left_out.left_out.startswith(
        "2 of 5 sentences"
    )
    skipped.save(tmp_path / "saved")
    assert pc.Result.load(tmp_path / "saved").left_out == skipped.left_out
    (tmp_path / "kept").mkdir()
    write(tmp_path / "kept" / "c.csv", [row for row in rows if UNKNOWN not in str(row["text"])])
    same(skipped, pc.Cloze(data="c.csv", resamples=FEW).run_as(bert, Run(base=[tmp_path / "kept"])))


def test_of_very_many_places_the_first_with_each_part_is_told(bert: LanguageModel, tmp_path: Path) -> None:
    """A caution is read before the numbers: it does not hide them behind hundreds of lines."""
    marks = [f" {UNKNOWN}", f" {UNKNOWN}", " ☃", ""]
    rows: list[dict[str, object]] = [
        {"good": f"The cat sleeps .{marks[i % 4]}", "bad": f"The cat sleep .{marks[i % 4]}", "id": f"p{i}"}
        for i in range(60)
    ]
    write(tmp_path / "p.csv", rows)
    result = pc.MinimalPairs(data="p.csv", on_unknown="skip", resamples=FEW).run_as(bert, Run(base=[tmp_path]))
    told = next(caution for caution in result.cautions if "unknown to the tokenizer" in caution)
    file = tmp_path / "p.csv"
    assert told.endswith(f": 30 with '{UNKNOWN}' (first {file}, line 2); 15 with '☃' (first {file}, line 4)")


def test_a_candidate_that_is_unknown_loses_its_sentence(zoo: Zoo, tmp_path: Path) -> None:
    model = load(str(zoo("bert")))
    assert isinstance(model, LanguageModel)
    rows = [{"id": f"s{i}", "text": "The [MASK] sleeps .", "expected": 1, "group": "g"} for i in range(3)]
    write(tmp_path / "c.csv", rows)
    words = [("s0", "cat"), ("s0", "dog"), ("s1", "cat"), ("s1", UNKNOWN), ("s2", "rain"), ("s2", "cat")]
    write(tmp_path / "w.csv", [{"sentence": sentence, "word": word} for sentence, word in words])
    settings_ = {"data": "c.csv", "candidates": "w.csv", "method": "pll", "on_unknown": "skip", "resamples": FEW}
    result = pc.Cloze.model_validate(settings_).run_as(model, Run(base=[tmp_path]))
    assert result.items["id"].to_list() == ["s0", "s2"]
    assert "line 3 ('漢')" in result.cautions[0]


def values_set(folder: Path, statements: list[dict[str, object]], neutral: list[dict[str, object]]) -> Path:
    folder.mkdir()
    write(folder / "statements.csv", statements)
    write(folder / "calibration.csv", neutral)
    templates = [
        {
            "group": group,
            "agree": f"{who} [agrees] that {{statement}} .",
            "disagree": f"{who} [sees] that {{statement}} .",
        }
        for group, who in (("f", "The cat"), ("m", "The dog"))
    ]
    (folder / "set.yaml").write_text(json.dumps({"name": "v", "templates": templates}))
    return folder


def test_clauses_are_left_out_in_every_template(bert: LanguageModel, tmp_path: Path) -> None:
    clean = ["the cats sleep", "rain falls", "the dog sees the cat", "the cat sleeps", "the dogs sleep", "cats see"]
    neutral: list[dict[str, object]] = [{"id": f"n{i}", "text": text} for i, text in enumerate(clean)]
    neutral[2]["text"] = f"the {UNKNOWN} sleeps"
    statements: list[dict[str, object]] = [
        {"id": f"b{i}", "text": text, "value": "v", "negation": f"not {text}"} for i, text in enumerate(clean)
    ]
    statements[1]["text"] = f"rain {UNKNOWN}"  # its negation goes with it
    statements[3]["negation"] = f"no {UNKNOWN}"
    run = Run(base=[tmp_path])
    values_set(tmp_path / "all", statements, neutral)
    with pytest.raises(DataError) as caught:
        pc.Values(data="all", resamples=FEW).run_as(bert, run)
    assert "3 of" in str(caught.value) and not getattr(caught.value, "__notes__", ())
    skipped = pc.Values(data="all", on_unknown="skip", resamples=FEW).run_as(bert, run)
    assert any("3 of 18 clauses hold something unknown" in caution for caution in skipped.cautions)
    assert any("1 negation" in caution and "b1" in caution for caution in skipped.cautions)
    assert [note.code for note in skipped.left_out] == ["unknown-skipped", "values.negations-alone"]
    statements[3]["negation"] = ""
    del statements[1]
    values_set(tmp_path / "kept", statements, [row for i, row in enumerate(neutral) if i != 2])
    same(skipped, pc.Values(data="kept", resamples=FEW).run_as(bert, run))


def test_models_are_compared_on_what_both_read(zoo: Zoo, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"good": a, "bad": b, "id": f"p{i}"} for i, (a, b) in enumerate(tiny.PAIRS)]
    rows[1]["good"] = f"{rows[1]['good']} {UNKNOWN}"
    write(tmp_path / "p.csv", rows)
    one, other = (load(str(zoo(name))) for name in ("bert", "roberta"))  # bytes know everything
    probe = pc.MinimalPairs(data="p.csv", on_unknown="skip", resamples=FEW)
    a, b = (probe.run_as(model, Run(base=[tmp_path])) for model in (one, other))
    assert (len(a.items), len(b.items)) == (len(rows) - 1, len(rows))
    assert set(compare(a, b).filter(split="all")["n"].to_list()) == {len(rows) - 1}


def test_a_study_lists_or_skips(penchant: Callable[..., Answer], zoo: Zoo, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"good": a, "bad": b} for a, b in tiny.PAIRS]
    rows += [{"good": f"The cats {UNKNOWN} .", "bad": f"The dogs {UNKNOWN} ."} for _ in range(2)]
    rows[-1]["good"] = f"The rain {UNKNOWN} ."
    write(tmp_path / "p.csv", rows)
    study = {
        "study": "s",
        "models": [str(zoo("bert"))],
        "probes": [{"minimal-pairs": {"data": "p.csv", "resamples": FEW}}],
    }
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(study))
    code, _, err = penchant("run", "s.yaml", "-o", "out")
    assert code == 2
    assert len(err.splitlines()) == 1
    assert "3 of" in err and "line 10: " in err and "line 11" in err  # three distinct texts
    study["probes"][0]["minimal-pairs"]["on_unknown"] = "skip"  # type: ignore[index]
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(study))
    code, _, err = penchant("run", "s.yaml", "-o", "out2")
    assert code == 0, err
    (result,) = read_outcome(tmp_path / "out2").results.values()
    assert len(result.items) == len(tiny.PAIRS)
    assert result.signature["on-unknown"] == "skip"
    assert any(caution.startswith(f"2 of {len(rows)} pairs hold") for caution in result.cautions)
    assert "2 of 10 pairs hold something unknown" in (tmp_path / "out2" / "report.html").read_text("utf-8")


def test_a_special_token_that_is_written_is_not_unknown(zoo: Zoo) -> None:
    model = load(str(zoo("gpt2")))
    assert isinstance(model, LanguageModel)
    assert list(unknown_parts(model, ["<|endoftext|> rain", "rain"])) == ["", ""]
    assert pc.MinimalPairs(data="x").read_by(model, [("rain", "x")]) == [("rain", "x")]


def test_a_line_of_several_items_is_named_once() -> None:
    lost = [("a.csv, line 2", "€")] * 2 + [("a.csv, line 3", "€")]
    assert _by_part(lost) == ["a.csv, line 2 ('€')", "a.csv, line 3 ('€')"]

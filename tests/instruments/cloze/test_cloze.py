"""Cloze valence: predictions against plain transformers, summaries by hand, sensitivity against a slow replay."""

from __future__ import annotations

import csv
import itertools
import json
import math
import random
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import brute
import penchant as pc
import zoo as tiny
from builders import language_model, write, write_study
from penchant.errors import DataError, MethodError, ModelError, StudyError
from penchant.files import sha256_file
from penchant.instruments import registry as any_probe
from penchant.instruments.cloze.data import RESERVED
from penchant.instruments.cloze.estimates import LEFT_OUT, Moves, _changes, cloze_cautions, measured
from penchant.instruments.cloze.instrument import CLOZE
from penchant.instruments.cloze.rater_agreement import KNOWN
from penchant.instruments.run_options import Run
from penchant.records import Signature, with_nan
from penchant.report.latex import latex_table
from penchant.report.tables import untold
from penchant.wording.phrases import Method, Note, notes_of, read_method

SECTION = CLOZE.section

Zoo = Callable[[str], Path]
Answer = tuple[int, str, str]
Rated = tuple[str, float, float | None]
"""A prediction: word, probability, valence."""
Rows = Sequence[tuple[str, float, Sequence[Rated]]]
"""Group, expected point and predictions of sentences."""

quick = settings(max_examples=60, deadline=None)

SENTENCES = [
    ("s1", "The old [MASK] saw the dog.", -1, "early"),
    ("s2", "[MASK] is never late!", -0.5, "early"),
    ("s3", "The keys to the [MASK] are on the table.", 1, "modern"),
    ("s4", "The nurse said [MASK] was late.", 0.5, "modern"),
    ("s5", "Moje sestra čte nové [MASK].", 0, "neutral"),
    ("s6", "মেয়েটি [MASK] যায়।", 0, "neutral"),
]
PLAIN = SENTENCES[:4]
WORDS = ["dog", "nurse", "teacher", "old cabinet"]
FAST = {"resamples": 200, "draws": 100}
MARKS = {"roberta": "Ġ", "modernbert": "Ġ", "xlm-roberta": "▁", "albert": "▁"}
"""What a vocabulary entry starts with when a word does; in the other families of the zoo "##" continues a word."""


# Test sets and results to work with -------------------------------------------------------------------------

CHECKS = ("if raters were off by half a point", "for other raters too")
OFF = {what: f"mean {what}, {CHECKS[0]}" for what in "βδ"}


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def write_set(
    folder: Path,
    sentences: Sequence[Sequence[object]] = SENTENCES,
    *,
    ratings: Sequence[tuple[str, str, str, float]] = (),
    lexicon: Mapping[str, float] | None = None,
    candidates: Sequence[tuple[str, str]] = (),
    scale: tuple[str, str] = ("old", "new"),
) -> Path:
    """A test set of these tables in a new directory."""
    about: dict[str, Any] = {"language": "en", "scale": dict(zip(("low", "high"), scale, strict=True))}
    about |= {"ratings": ["ratings.csv"]} if ratings else {}
    about |= {"lexicon": ["lexicon.jsonl"]} if lexicon else {}
    about |= {"candidates": "candidates.csv"} if candidates else {}
    write(folder / "set.yaml", about)
    write_table(folder / "sentences.csv", ["id", "text", "expected", "group"], sentences)
    write_table(folder / "ratings.csv", ["sentence", "word", "rater", "rating"], ratings)
    write_table(folder / "candidates.csv", ["sentence", "word"], candidates)
    write_lexicon(folder / "lexicon.jsonl", lexicon or {})
    return folder


def write_lexicon(path: Path, lexicon: Mapping[str, float]) -> Path:
    return write(path, "".join(f"{json.dumps({'word': word, 'valence': value})}\n" for word, value in lexicon.items()))


def cloze(data: Path, **parameters: Any) -> pc.Cloze:
    return pc.Cloze(data=str(data), **{**FAST, **parameters})


def items(rows: Rows, *, rated_only: bool = False) -> pl.DataFrame:
    """Items as the probe makes them: (group, expected point, predictions)."""
    table: dict[str, Any] = {
        "id": [f"i{i}" for i in range(len(rows))],
        "text": [f"text {i} [MASK]" for i in range(len(rows))],
        "expected": [expected for _, expected, _ in rows],
        "group": [group for group, _, _ in rows],
        "words": [[word for word, _, _ in found] for _, _, found in rows],
        "probs": [[p for _, p, _ in found] for _, _, found in rows],
        "valences": [[value for _, _, value in found] for _, _, found in rows],
        "sources": [["none" if value is None else "ratings" for *_, value in found] for _, _, found in rows],
    }
    kinds: dict[str, Any] = {"expected": pl.Float64, "probs": pl.List(pl.Float64), "valences": pl.List(pl.Float64)}
    return measured(pl.DataFrame(table, schema_overrides=kinds), rated_only=rated_only)


def result(table: pl.DataFrame, model: str = "m", moved_share: float = 0.5, **more: object) -> pc.Result:
    fields = {"data": "d#1", "scale": "old < new", "method": "fill", "k": 3, "ratings": "r#1", "rated_only": "no"}
    numbers = {"moved-share": moved_share, "draws": 200, "level": 0.95, "resamples": 500, "seed": 0}
    signature = Signature.of("cloze", model=model, **{**fields, **numbers, **more})
    probe = pc.Cloze(data="d", method="fill", k=3, moved_share=moved_share, draws=200, resamples=500)
    chosen = {name: value for name, value in more.items() if name in ("unrated", "draws", "level", "seed", "resamples")}
    chosen["rated_only"] = more.get("rated_only") == "yes"
    return probe.model_copy(update=chosen).result(pc.Measured(table), signature)


def recipe(**more: Any) -> pc.Cloze:
    return pc.Cloze(
        data="d",
        **{"level": 0.95, "resamples": 500, "seed": 0, "moved_share": 0.5, "draws": 200, **more, "rated_only": False},
    )


def value(summary: pl.DataFrame, **where: str) -> dict[str, Any]:
    for column, level in where.items():
        summary = summary.filter(pl.col(column) == level)
    assert len(summary) == 1, summary
    return summary.row(0, named=True)


# β and δ ----------------------------------------------------------------------------------------------------


def test_the_published_formulas() -> None:
    table = items([("g", -1, [("a", 0.7, -1), ("b", 0.2, 0), ("c", 0.1, 1)]), ("g", -1, [("a", 0.8, -1)])])
    assert table["beta"].to_list() == pytest.approx([-0.6, -0.8])
    assert table["delta"].to_list() == pytest.approx([0.8, 0.9])
    assert table["rated_share"].to_list() == pytest.approx([1.0, 0.8])


@given(
    st.lists(st.tuples(st.floats(0, 0.1), st.sampled_from([-1, -0.5, 0, 0.5, 1])), min_size=1, max_size=10),
    st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]),
)
@quick
def test_bounds_and_mirror_image(found: list[tuple[float, float]], expected: float) -> None:
    rows = [("g", sign * expected, [(f"w{i}", p, sign * v) for i, (p, v) in enumerate(found)]) for sign in (1, -1)]
    table = items(rows)
    beta, mirrored = table["beta"].to_list()
    assert -1 <= beta <= 1
    assert mirrored == pytest.approx(-beta)
    assert abs(beta) <= table["rated_share"][0] + 1e-12
    one, other = table["delta"].to_list()
    assert 0 <= one <= 1
    assert one == pytest.approx(other)


@pytest.mark.parametrize("rho", [-1.0, -0.5, 0.0, 0.5, 1.0])
def test_delta_is_one_where_the_model_leans_as_the_sentence_calls_for(rho: float) -> None:
    table = items([("g", rho, [("a", 0.6, rho), ("b", 0.4, rho)]), ("g", rho, [("a", 0.5, None), ("b", 0.5, rho)])])
    assert table["delta"][0] == pytest.approx(1)
    assert table["delta"][1] == pytest.approx(1 - abs(rho) / 4)


@given(
    st.lists(st.tuples(st.floats(0.001, 0.12), st.sampled_from([-0.5, 0, 0.5]), st.booleans()), min_size=1, max_size=8)
)
@quick
def test_a_planted_shift_moves_beta_by_its_share_of_the_mass(found: list[tuple[float, float, bool]]) -> None:
    rated = [[(f"w{i}", p, v + (d if chosen else 0)) for i, (p, v, chosen) in enumerate(found)] for d in (0, 0.5, -0.5)]
    before, up, down = items([("g", 1, row) for row in rated])["beta"].to_list()
    share = sum(p for p, _, chosen in found if chosen)
    assert up - before == pytest.approx(0.5 * share)
    assert down - before == pytest.approx(-0.5 * share)


# Predictions of masked models -------------------------------------------------------------------------------


def described(tokenizer: Any, family: str, token: int, *, first: bool) -> tuple[str, bool]:
    """A vocabulary entry as a person would write it, and whether it is no word in that place."""
    entry = tokenizer.convert_ids_to_tokens(token)
    if entry is None:
        return "None", True
    if token in tokenizer.all_special_ids or (family not in MARKS and entry.startswith("##")):
        return entry, True
    text = tokenizer.convert_tokens_to_string([entry]).strip()
    if not text or "\ufffd" in text or unicodedata.category(text[0]) == "Cc":
        return text or entry, True
    if family not in MARKS:
        return text, False
    written = any(unicodedata.category(c)[0] in "LMN" for c in text)
    return text, written and not first and not entry.startswith(MARKS[family])


def folded(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold()


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-roberta", "modernbert", "electra-generator", "albert"])
def test_predictions_equal_plain_transformers(zoo: Zoo, tmp_path: Path, name: str) -> None:
    k = 40
    model, tokenizer = brute.load(zoo(name))
    expected: dict[str, list[tuple[str, bool, float]]] = {}
    for id_, text, *_ in SENTENCES:
        top = brute.topk_at_mask(model, tokenizer, text.replace("[MASK]", tokenizer.mask_token), k)
        first = text.startswith("[MASK]")
        expected[id_] = [(*described(tokenizer, name, token, first=first), p) for token, p in top]
    # Every string that is only a piece gets a rating, and every other word.
    bare = {folded(w.removeprefix("##")) for row in expected.values() for w, piece, _ in row if piece}
    whole = sorted({folded(w) for row in expected.values() for w, piece, _ in row if not piece})
    chosen = [word for word in sorted(bare | set(whole[::2])) if any(map(str.isalnum, word))]
    lexicon = dict(zip(chosen, itertools.cycle([-1.0, 0.5, 1.0, -0.5, 0.0]), strict=False))
    found = cloze(write_set(tmp_path / "set", lexicon=lexicon), k=k).run(language_model(zoo(name)))
    assert len(found.items) == len(SENTENCES)
    seen = {"piece": 0, "none": 0, "set lexicon": 0}
    for row, (id_, text, rho, group) in zip(found.items.iter_rows(named=True), SENTENCES, strict=True):
        assert (row["id"], row["text"], row["expected"], row["group"]) == (id_, text, rho, group)
        assert row["words"] == [word for word, _, _ in expected[id_]]
        assert row["probs"] == pytest.approx([p for *_, p in expected[id_]], abs=1e-5)
        sigmas = [None if piece else lexicon.get(folded(word)) for word, piece, _ in expected[id_]]
        assert row["valences"] == sigmas
        sources = [
            "piece" if piece else "none" if sigma is None else "set lexicon"
            for sigma, (_, piece, _) in zip(sigmas, expected[id_], strict=True)
        ]
        assert row["sources"] == sources
        rated = [(p, sigma) for sigma, (*_, p) in zip(sigmas, expected[id_], strict=True) if sigma is not None]
        beta = sum(p * sigma for p, sigma in rated)
        assert row["beta"] == pytest.approx(beta, abs=1e-5)
        assert row["delta"] == pytest.approx(1 - abs(rho - beta) / 2, abs=1e-5)
        assert row["rated_share"] == pytest.approx(sum(p for p, _ in rated), abs=1e-5)
        assert row["top_share"] == pytest.approx(sum(p for *_, p in expected[id_]), abs=1e-5)
        assert row["rated"] + row["unrated"] + row["pieces"] == k
        for source in seen:
            seen[source] += sources.count(source)
        assert (row["pieces"], row["unrated"]) == (sources.count("piece"), sources.count("none"))
    assert min(seen.values()) > 0, seen
    pieces = {w.removeprefix("##") for row in expected.values() for w, piece, _ in row if piece}
    assert {word for word in pieces if folded(word) in lexicon}, "no piece whose bare string the lexicon rates"


def test_what_is_no_word_is_never_rated(zoo: Zoo, tmp_path: Path) -> None:
    """Special tokens, halves of characters, spare rows of the head: not even where a lexicon holds how they look."""
    vocabularies = {
        "bert": ["[SEP]", "[UNK]"],
        "modernbert": ["\ufffd", "None"],
        "xlm-roberta": ["</s>", "▁"],
        "roberta": ["\x08", "<mask>"],
    }
    for name, looks in vocabularies.items():
        data = write_set(tmp_path / name, PLAIN, lexicon=dict.fromkeys([*looks, "none"], 1.0))
        found = cloze(data, k=10_000).run(language_model(zoo(name))).items
        words, sources = found["words"].explode(), found["sources"].explode()
        for look in looks:
            own = sources.filter(words == look)
            assert set(own) == {"piece"}, (name, look)
        assert found["rated"].to_list() == [0] * len(PLAIN)
        assert found["top_share"].to_list() == pytest.approx([1] * len(PLAIN), abs=1e-4)


def test_after_a_quotation_mark_an_unmarked_token_is_a_word(zoo: Zoo) -> None:
    lm = language_model(zoo("roberta"))
    texts = {
        'Isn\'t it "[MASK]" too late?': False,
        "[MASK] is late.": False,
        "Isn't it [MASK] too late?": True,
        "Isn't it un[MASK] too late?": True,
        "He said [MASK][MASK] too late.": True,
    }
    for text, joins in texts.items():
        top = pc.fill(lm, text, k=600).filter(pl.col("gap") == pl.col("gap").max())
        by_word = dict(zip(top["word"], top["is_piece"], strict=True))
        assert by_word["ain"] is joins, text
        assert by_word["ো"] is joins, "a vowel sign is part of a word, though no letter"
        assert by_word["!"] is False
        marked = lm.tokenizer.hf.convert_tokens_to_ids("Ġteacher")
        assert lm.tokenizer.strings([marked]) == ["Ġteacher"]
        assert by_word["teacher"] is False, text


# Closed lists -----------------------------------------------------------------------------------------------

LISTS = {
    "s1": ["nurse", "dog", "horse in the garden"],
    "s2": ["rain", "Hello", "the old teacher", "mother"],
    "s3": ["cabinet", "garden"],
    "s4": ["he", "she", "the teacher", "nobody"],
}
CANDIDATES = [(id_, word) for id_, words in LISTS.items() for word in words]


def full(text: str, word: str) -> str:
    return text.replace("[MASK]", word[0].upper() + word[1:] if text.startswith("[MASK]") else word)


Reference = Callable[[Any, Any, str], list[float]]


def softmax(directory: Path, reference: Reference, text: str, words: Sequence[str]) -> list[tuple[str, float]]:
    """The words with their probabilities, best first."""
    model, tokenizer = brute.load(directory, causal=reference is brute.lp)
    scores = [math.fsum(reference(model, tokenizer, full(text, word))) for word in words]
    weights = [math.exp(score - max(scores)) for score in scores]
    found = [(word, weight / math.fsum(weights)) for word, weight in zip(words, weights, strict=True)]
    return sorted(found, key=lambda entry: -entry[1])


@pytest.mark.parametrize(
    ("name", "method", "reference"),
    [
        ("gpt2", None, brute.lp),
        ("llama", "lp", brute.lp),
        ("mistral", None, brute.lp),
        ("bert", "pll", brute.pll),
        ("roberta", "pll-word-l2r", brute.pll_word_l2r),
    ],
)
def test_candidates_have_the_softmax_of_whole_sentences(
    zoo: Zoo, tmp_path: Path, name: str, method: str | None, reference: Reference
) -> None:
    lexicon = {"nurse": -1.0, "Horse in the garden": 0.5, "rain": 1.0, "cabinet": -0.5, "she": 1.0, "he": -1.0}
    data = write_set(tmp_path / "set", PLAIN, candidates=CANDIDATES, lexicon=lexicon)
    found = cloze(data, method=method).run(language_model(zoo(name)))
    assert found.signature["method"] == (method or "lp")
    for row, (id_, text, rho, _) in zip(found.items.iter_rows(named=True), PLAIN, strict=True):
        expected = softmax(zoo(name), reference, text, LISTS[id_])
        assert row["words"] == [word for word, _ in expected]
        assert row["probs"] == pytest.approx([p for _, p in expected], abs=1e-5)
        np.testing.assert_allclose(np.log(row["probs"]), np.log([p for _, p in expected]), atol=2e-4)
        assert row["top_share"] == pytest.approx(1)
        sigmas = {folded(word): sigma for word, sigma in lexicon.items()}
        beta = sum(p * sigmas.get(folded(word), 0) for word, p in expected)
        assert row["beta"] == pytest.approx(beta, abs=1e-5)
        assert row["delta"] == pytest.approx(1 - abs(rho - beta) / 2, abs=1e-5)
        assert row["pieces"] == 0


def test_a_first_word_gets_its_capital_and_spellings_that_fill_alike_are_one(zoo: Zoo, tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", PLAIN[1:2], candidates=[("s2", w) for w in ("rain", "Rain", "hello", "Hello")])
    row = cloze(data).run(language_model(zoo("gpt2"))).items.row(0, named=True)
    model, tokenizer = brute.load(zoo("gpt2"), causal=True)
    small, capital = (sum(brute.lp(model, tokenizer, f"{word} is never late!")) for word in ("rain", "Rain"))
    other = sum(brute.lp(model, tokenizer, "Hello is never late!"))
    assert abs(small - capital) > 0.01, "the model does not tell them apart"
    assert dict(zip(row["words"], row["probs"], strict=True)) == pytest.approx(
        {"rain": 1 / (1 + math.exp(other - capital)), "hello": 1 / (1 + math.exp(capital - other))}, abs=1e-5
    )


def test_k_cuts_the_list(zoo: Zoo, tmp_path: Path) -> None:
    lm = language_model(zoo("gpt2"))
    data = write_set(tmp_path / "set", PLAIN, candidates=CANDIDATES, lexicon=dict.fromkeys(["he", "she", "nurse"], 1.0))
    whole, cut = (cloze(data, k=k).run(lm).items for k in (10, 2))
    assert cut["words"].to_list() == [row[:2] for row in whole["words"].to_list()]
    assert cut["probs"].to_list() == [row[:2] for row in whole["probs"].to_list()]
    assert all(cut["top_share"] <= whole["top_share"])
    assert cut["top_share"].min() < 1 - 1e-9  # type: ignore[operator]
    assert cut["top_share"].to_list() == pytest.approx([sum(row[:2]) for row in whole["probs"].to_list()])


def test_where_candidates_come_from(zoo: Zoo, tmp_path: Path) -> None:
    lm = language_model(zoo("gpt2"))
    ratings = [
        ("s1", "dog", "anna", -1.0),
        ("s1", "dog", "ben", 1.0),
        ("s1", "horse", "anna", 0.0),
        ("s1", "!", "ben", 0.0),
    ]
    own = write_table(tmp_path / "more.csv", ["sentence", "word"], [("s1", "table"), ("s1", "key"), ("s1", "table")])
    extra = write_table(
        tmp_path / "extra.csv",
        ["sentence", "word", "rater", "rating"],
        [("s1", "sister", "c", 1), ("s1", "dog", "c", 1)],
    )
    closed = write_set(tmp_path / "closed", PLAIN[:1], candidates=CANDIDATES[:3], ratings=ratings)
    rated = write_set(tmp_path / "rated", PLAIN[:1], ratings=ratings)
    for data, parameters, words, cited in (
        (closed, {}, set(LISTS["s1"]), "candidates#"),
        (closed, {"candidates": str(own)}, {"table", "key"}, "more#"),
        (rated, {"candidates": str(own)}, {"table", "key"}, "more#"),
        (rated, {}, {"dog", "horse"}, "rated"),
        (rated, {"ratings": str(extra)}, {"dog", "horse", "sister"}, "rated"),
    ):
        found = cloze(data, **parameters).run(lm)
        assert set(found.items["words"][0]) == words
        assert len(found.items["words"][0]) == len(words)
        assert found.signature["candidates"].startswith(cited)
    last = found.items.row(0, named=True)
    worth = {word: (v, s) for word, v, s in zip(last["words"], last["valences"], last["sources"], strict=True)}
    assert worth == {"dog": (1.0, "ratings"), "horse": (0.0, "set ratings"), "sister": (1.0, "ratings")}
    plain = cloze(rated).run(lm).items.row(0, named=True)
    assert dict(zip(plain["words"], plain["valences"], strict=True)) == {"dog": 0.0, "horse": 0.0}


def test_too_few_candidates(zoo: Zoo, tmp_path: Path) -> None:
    lm = language_model(zoo("gpt2"))
    short = write_set(tmp_path / "short", PLAIN, candidates=[c for c in CANDIDATES if c != ("s3", "garden")])
    with pytest.raises(DataError, match=r"candidates\.csv: fewer than two candidates for sentence s3"):
        cloze(short).run(lm)
    bare = write_set(tmp_path / "bare", PLAIN)
    with pytest.raises(DataError, match=r"sentences\.csv, line 2: fewer than two .* s1 — name a table of candidates"):
        cloze(bare).run(lm)
    alike = write_set(tmp_path / "alike", PLAIN[1:2], candidates=[("s2", "rain"), ("s2", "Rain")])
    with pytest.raises(DataError, match="fewer than two candidates for sentence s2"):
        cloze(alike).run(lm)
    strange = write_table(tmp_path / "strange.csv", ["sentence", "word"], [("s9", "dog")])
    with pytest.raises(DataError, match=r"strange\.csv, line 2, field 'sentence': there is no sentence 's9'"):
        cloze(bare, candidates=str(strange)).run(lm)


def test_methods_that_do_not_fit(zoo: Zoo, tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", PLAIN, candidates=CANDIDATES)
    masked, causal, headless = (language_model(zoo(name)) for name in ("bert", "gpt2", "bert-headless"))
    with pytest.raises(MethodError, match=r"causal and cannot fill a gap inside a sentence — use method lp"):
        cloze(data, method="fill").run(causal)
    with pytest.raises(
        MethodError, match=r"method aul does not give the probability of a sentence — use fill or one of lp, pll"
    ):
        cloze(data, method="aul").run(masked)
    with pytest.raises(MethodError, match="'pll-shared' compares the two sentences of a pair"):
        cloze(data, method="pll-shared").run(masked)
    with pytest.raises(MethodError, match="'lp' is for causal models"):
        cloze(data, method="lp").run(masked)
    with pytest.raises(MethodError, match="'pll' is for masked models"):
        cloze(data, method="pll").run(causal)
    for method in (None, "fill", "pll"):
        with pytest.raises(ModelError, match="vectors, not word probabilities"):
            cloze(data, method=method).run(headless)
    (tmp_path / "v.txt").write_text("a 1 2\nb 3 4\n")
    with pytest.raises(ModelError, match="word vectors"):
        cloze(data).run(pc.load_vectors(tmp_path / "v.txt"))


def test_a_model_without_a_beginning_token(zoo: Zoo, tmp_path: Path) -> None:
    """It cannot say how probable a first word is, so nothing is said about a gap that comes first."""
    lm = language_model(zoo("gpt2-no-bos"))
    inside = write_set(tmp_path / "inside", [PLAIN[0], PLAIN[2]], candidates=CANDIDATES)
    with pytest.raises(DataError, match="there is no sentence 's2'"):
        cloze(inside).run(lm)
    inside = write_set(
        tmp_path / "in", [PLAIN[0], PLAIN[2]], candidates=[c for c in CANDIDATES if c[0] in ("s1", "s3")]
    )
    assert cloze(inside).run(lm).signature["bos"] == "none"
    assert cloze(inside).run(language_model(zoo("gpt2"))).signature["bos"] == "<|endoftext|>"
    first = write_set(tmp_path / "first", PLAIN, candidates=CANDIDATES)
    with pytest.raises(DataError, match=r"sentences\.csv, line 3: the gap comes first"):
        cloze(first).run(lm)


# Who says what a word is worth ------------------------------------------------------------------------------


def test_unrated_zero_and_error(zoo: Zoo, tmp_path: Path) -> None:
    lm = language_model(zoo("bert"))
    data = write_set(tmp_path / "set", PLAIN)
    plain = cloze(data, k=6).run(lm)
    assert plain.items["beta"].to_list() == [None] * 4
    assert plain.items["rated_share"].to_list() == [0] * 4
    predicted = zip(plain.items["words"].explode(), plain.items["sources"].explode(), strict=True)
    words = [word for word, source in predicted if source == "none"]
    assert plain.items["pieces"].sum() > 0
    with pytest.raises(DataError, match=rf"sentences\.csv, line 2: nobody has rated '{words[0]}' in sentence s1"):
        cloze(data, k=6, unrated="error").run(lm)
    rated = write_lexicon(tmp_path / "all.jsonl", dict.fromkeys(words, 0.5))
    found = cloze(data, k=6, unrated="error", lexicon=str(rated)).run(lm)  # pieces are no reason to stop
    assert found.signature["unrated"] == "error"
    assert found.items["unrated"].sum() == 0
    assert found.items["pieces"].equals(plain.items["pieces"])


def test_rated_only_divides_by_the_rated_share(zoo: Zoo, tmp_path: Path) -> None:
    lm = language_model(zoo("bert"))
    ratings = [("s1", "cabinet", "a", -1.0), ("s1", "fo", "a", 0.5), ("s3", "never mind", "a", 1.0)]
    data = write_set(tmp_path / "set", PLAIN, ratings=ratings)
    plain, divided = (cloze(data, rated_only=flag).run(lm) for flag in (False, True))
    assert (plain.signature["rated-only"], divided.signature["rated-only"]) == ("no", "yes")
    before, after = plain.items.row(0, named=True), divided.items.row(0, named=True)
    probs = dict(zip(before["words"], before["probs"], strict=True))
    assert before["beta"] == pytest.approx(0.5 * probs["fo"] - probs["cabinet"])
    assert after["beta"] == pytest.approx(before["beta"] / (probs["fo"] + probs["cabinet"]))
    assert after["delta"] == pytest.approx(1 - abs(-1 - after["beta"]) / 2)
    assert after["rated_share"] == before["rated_share"]
    assert divided.items["beta"].to_list()[1:] == [None] * 3
    assert divided.items["delta"].to_list()[1:] == [None] * 3
    assert plain.items["beta"].to_list()[1:] == [None] * 3  # nor without: nothing is known of a lean
    early = value(divided.summary, group="early", measure="mean β")
    assert (early["value"], early["n"]) == (pytest.approx(after["beta"]), 1)
    assert Note(LEFT_OUT, lost=1) in notes_of(early)
    whole = value(divided.summary, group="all", measure="mean δ")
    assert (whole["n"], whole["value"]) == (1, pytest.approx(after["delta"]))
    assert Note(LEFT_OUT, lost=3) in notes_of(whole)
    modern = value(divided.summary, group="modern", measure="mean β")
    assert math.isnan(modern["value"])
    assert notes_of(modern) == (Note("no-items"), Note(LEFT_OUT, lost=2))
    mass = value(divided.summary, group="all", measure="mean rated share")
    assert mass["n"] == 4
    assert LEFT_OUT not in {note.code for note in notes_of(mass)}
    for found, flag in ((plain, False), (divided, True)):
        told = [Note("cloze.no-beta", ids=["s2", "s3", "s4"], of=4), Note("cloze.little-rated", rated_only=flag)]
        assert {*map(str, told)} <= {*found.cautions}


NOT_JUDGED = str(Note("cloze.one-rater-each", share=0.0))


def test_punctuation_is_not_counted_among_words_that_nobody_rated() -> None:
    """Nobody can rate it, as it is in no sheet."""
    comma, dash, word, piece = (",", 0.1, None), ("--", 0.1, None), ("x", 0.1, None), ("##x", 0.1, None)

    def told(*found: Rated, pieces: int = 0) -> dict[str, int]:
        table = items([("early", -1, [("thou", 0.5, -1.0), *found])])
        if pieces:
            sources = pl.Series([["ratings", *["none"] * (len(found) - pieces), *["piece"] * pieces]])
            table = table.with_columns(sources=sources, pieces=pl.lit(pieces), unrated=pl.lit(len(found) - pieces))
        (note,) = (note for note in cloze_cautions(table, recipe()) if note.code == "cloze.not-rated")
        return {key: note.params[key] for key in ("words", "marks", "pieces", "of")}

    assert told(comma, dash) == {"words": 0, "marks": 2, "pieces": 0, "of": 3}
    assert told(comma, dash, word) == {"words": 1, "marks": 2, "pieces": 0, "of": 4}
    assert told(comma, word, piece, pieces=1) == {"words": 1, "marks": 1, "pieces": 1, "of": 4}


def test_rated_share_and_counts_are_shown_everywhere() -> None:
    rows: Rows = [
        ("early", -1, [("thou", 0.5, -1.0), ("x", 0.25, None)]),
        ("modern", 1, [("you", 0.1, 1.0), ("y", 0.35, None)]),
    ]
    found = result(items(rows))
    assert value(found.summary, group="early", measure="mean rated share")["value"] == 0.5
    assert value(found.summary, group="all", measure="mean rated share")["value"] == pytest.approx(0.3)
    (caution, *_) = cloze_cautions(found.items, recipe())
    assert (caution.code, caution.params["words"], caution.params["of"]) == ("cloze.not-rated", 2, 4)
    assert (caution.params["mass"], caution.params["top"]) == pytest.approx((0.3, 0.6))
    assert found.cautions == (str(caution), NOT_JUDGED)
    (table,) = SECTION.tables([found])
    assert table.columns[-1] == "rated share"
    masses = [str(row.cells[-1]).split()[0] for row in table.rows]
    assert masses == ["0.50", "0.10", "too"]  # of two sentences there is no mean to show
    assert all(mass in line for mass, line in zip(masses, str(table).splitlines()[3:6], strict=True))
    less: Rows = [("early", -1, [("thou", 0.4, -1.0), ("x", 0.35, None)]), rows[1]]
    assert str(Note("cloze.little-rated", rated_only=False)) in result(items(less)).cautions
    assert result(items([("early", -1, [("thou", 0.5, -1.0)])])).cautions == (NOT_JUDGED,)


# Summary ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lexicon() -> dict[str, float]:
    """Something for many of the words the tiny models predict."""
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    words = {w.lower() for text in tiny.corpus() for w in text.split() if w.isalpha()} | set(letters)
    return {word: (-1.0, -0.5, 0.5, 1.0)[i % 4] for i, word in enumerate(sorted(words))}


@pytest.fixture
def data(tmp_path: Path, lexicon: dict[str, float]) -> Path:
    """A test set of twelve sentences in three groups."""
    other = {"old": "young", "late": "good", "keys": "books", "sestra": "babička", "যায়": "ভাত খায়"}
    more = []
    for id_, text, rho, group in SENTENCES:
        for word, instead in other.items():
            text = text.replace(word, instead)
        more.append((f"{id_}b", text, rho, group))
    assert not {text for _, text, *_ in more} & {text for _, text, *_ in SENTENCES}
    return write_set(tmp_path / "set", [*SENTENCES, *more], lexicon=lexicon)


def test_means_and_intervals(zoo: Zoo, data: Path) -> None:
    found = cloze(data, k=60).run(language_model(zoo("roberta")))
    measures = {"mean β": "beta", "mean δ": "delta", "mean rated share": "rated_share"}
    names = [
        *measures,
        *(
            f"mean {what}, {check}"
            for what in "βδ"
            for check in ("if raters were off by half a point", "for other raters too")
        ),
    ]
    names.append("mean β, counting rated words only")
    assert sorted(found.summary["measure"].to_list()) == sorted(names * 4)
    for group in ("early", "modern", "neutral", "all"):
        part = found.items if group == "all" else found.items.filter(pl.col("group") == group)
        for measure, column in measures.items():
            row = value(found.summary, group=group, measure=measure)
            assert row["value"] == pytest.approx(np.mean(part[column].to_numpy()))
            assert row["n"] == len(part)
            assert row["low"] < row["value"] < row["high"]
            assert row["low"] >= (-1 if column == "beta" else 0) and row["high"] <= 1
            method = read_method(row["method"])
            assert method is not None and method.code.startswith("t")
            assert ("approximate" in row["note"]) == (len(part) < 10)
        for column in ("beta", "delta"):
            name = f"mean {'β' if column == 'beta' else 'δ'}"
            row = value(found.summary, group=group, measure=f"{name}, if raters were off by half a point")
            assert row["value"] == pytest.approx(value(found.summary, group=group, measure=name)["value"])
            assert row["low"] < row["high"]
            method = read_method(row["method"])
            assert method is not None
            used, known = (method.params[key] for key in ("moved", "of"))
            ratings = part.explode("words", "valences").drop_nulls("valences").unique(["id", "words"])
            sizes = ratings["group"].value_counts()["count"].to_list()
            assert (used, known) == (sum(max(1, round(n / 12)) for n in sizes), sum(sizes))
    for row in found.summary.iter_rows(named=True):
        assert row["level"] == 0.95
        assert Signature.parse(row["signature"]) == found.signature


def test_the_order_of_the_sentences_does_not_matter(
    zoo: Zoo, tmp_path: Path, data: Path, lexicon: dict[str, float]
) -> None:
    rows = [line.split(",") for line in (data / "sentences.csv").read_text("utf-8").splitlines()[1:]]
    random.Random(1).shuffle(rows)
    shuffled = write_set(tmp_path / "shuffled", rows, lexicon=lexicon)
    lm = language_model(zoo("bert"))
    one, other = (cloze(place, moved_share=0.3).run(lm) for place in (data, shuffled))
    assert one.items["id"].to_list() != other.items["id"].to_list()
    keys = ["group", "measure"]
    a, b = one.summary.sort(keys), other.summary.sort(keys)
    assert a.select(*keys, "n", "method", "notes").equals(b.select(*keys, "n", "method", "notes"))
    for column in ("value", "low", "high"):
        np.testing.assert_allclose(a[column], b[column], atol=1e-6)


def test_one_group_has_no_second_row_for_all() -> None:
    found = result(items([("only", 1, [("a", p, 1.0)]) for p in (0.2, 0.4, 0.5)]))
    assert set(found.summary["group"]) == {"only"}


@given(st.permutations(range(7)))
@settings(max_examples=15, deadline=None)
def test_shuffled_items_give_the_same_estimates(order: list[int]) -> None:
    rows = [
        (f"g{i % 2}", i / 6 - 0.5, [(f"w{j}", (i + 2 * j + 1) / 60, (j % 3 - 1) * 1.0) for j in range(5)])
        for i in range(7)
    ]
    table = items(rows)
    keys = ["group", "measure"]
    one, other = (result(t, moved_share=0.4, draws=60, resamples=100).summary.sort(keys) for t in (table, table[order]))
    assert one.drop("value", "low", "high").equals(other.drop("value", "low", "high"))
    for column in ("value", "low", "high"):
        np.testing.assert_allclose(one[column], other[column], atol=1e-12)


@pytest.mark.parametrize(("name", "total"), [("xlm-roberta", len(PLAIN)), ("gpt2", len(CANDIDATES))])
def test_progress_is_over_what_is_asked_and_answers_are_kept(
    zoo: Zoo, tmp_path: Path, lexicon: dict[str, float], name: str, total: int
) -> None:
    place = write_set(tmp_path / "set", PLAIN, lexicon=lexicon, candidates=CANDIDATES)
    done: list[tuple[float, float]] = []
    first = Run(cache=tmp_path / "c", progress=lambda share, whole: done.append((share, whole)))
    again = Run(cache=tmp_path / "c", batch_tokens=7)
    found = [cloze(place).run_as(language_model(zoo(name)), run) for run in (first, again)]
    assert first.counts.forward > 0
    assert (again.counts.forward, again.counts.cached) == (0, first.counts.inputs)
    assert done[-1][0] == pytest.approx(total) and {whole for _, whole in done} == {total}
    assert found[1].items.equals(found[0].items) and found[1].summary.equals(found[0].summary)


def test_signature_says_what_the_numbers_rest_on(zoo: Zoo, tmp_path: Path) -> None:
    ratings = [("s1", "dog", "anna", 1.0), ("s1", "horse", "anna", 1.0)]
    place = write_set(tmp_path / "set", PLAIN, ratings=ratings, lexicon={"dog": 1}, scale=("16 % | old", "new: now"))
    mine = write_lexicon(tmp_path / "mine.jsonl", {"nurse": -1})
    for side in ("low", "high"):
        (tmp_path / side).write_text("dog horse " * 20)
    corpora = {"low": str(tmp_path / "low"), "high": str(tmp_path / "high"), "minimum": 3}
    lm = language_model(zoo("bert"))
    found = cloze(place, k=7, lexicon=str(mine), corpora=corpora, moved_share=0.25, seed=5).run(lm)
    own = Signature.parse(str(found.signature))
    assert own == found.signature
    assert own["probe"] == "cloze"
    assert own["model"] == lm.name
    assert own["data"] == f"set#{sha256_file(place / 'sentences.csv')[:6]}"
    assert own["scale"] == "16 % | old < new: now"
    assert own["method"] == "fill"
    assert own["k"] == "7"
    assert own["ratings"].startswith("ratings#")
    assert own["lexicon"].startswith("mine+lexicon#")
    assert own["corpora"].startswith("low+high#")
    assert own["corpora"].split(",")[1] == "3"
    numbers = {"moved-share": "0.25", "draws": "100", "level": "0.95", "resamples": "200", "seed": "5"}
    expected = {"unrated": "zero", "rated-only": "no", **numbers}
    assert {key: own[key] for key in expected} == expected
    assert "candidates" not in own
    write_lexicon(tmp_path / "mine.jsonl", {"nurse": 1})
    changed = cloze(place, k=7, lexicon=str(mine), corpora=corpora, moved_share=0.25, seed=5).run(lm).signature
    assert {key for key in own if own[key] != changed[key]} == {"lexicon"}


def test_saved_and_loaded_back(zoo: Zoo, data: Path, tmp_path: Path) -> None:
    found = cloze(data, rated_only=True).run(language_model(zoo("albert")))
    found.save(tmp_path / "r")
    back = pc.Result.load(tmp_path / "r")
    assert back.items.equals(found.items)
    assert back.summary.equals(found.summary)
    assert (back.signature, back.cautions) == (found.signature, found.cautions)
    again = pc.Cloze.of(back.settings).result(pc.Measured(back.items), back.signature)
    assert again.summary.equals(found.summary)


def test_labels_are_kept_and_may_not_take_the_results_own_names(zoo: Zoo, tmp_path: Path) -> None:
    lm = language_model(zoo("bert"))
    head = ["id", "text", "expected", "group"]
    place = write_table(tmp_path / "s.csv", [*head, "register"], [(*PLAIN[0], "drama"), (*PLAIN[2], "letters")])
    found = cloze(place).run(lm).items
    assert found["register"].to_list() == ["drama", "letters"]
    assert frozenset(found.columns) - {*head, "register"} == RESERVED
    write_table(tmp_path / "t.csv", [*head, "words"], [(*PLAIN[0], "3")])
    with pytest.raises(
        DataError, match=r"t\.csv, line 2, field 'words': the name is reserved for a column of the results"
    ):
        cloze(tmp_path / "t.csv").run(lm)
    write_table(tmp_path / "u.csv", head, [PLAIN[0], (*PLAIN[2][:3], "all")])
    with pytest.raises(DataError, match=r"u\.csv, line 3: the group name 'all' is reserved"):
        cloze(tmp_path / "u.csv").run(lm)


def test_the_probe_names_its_texts_and_files(tmp_path: Path) -> None:
    place = write_set(tmp_path / "set", PLAIN, lexicon={"dog": 1}, candidates=CANDIDATES)
    mine = write_lexicon(tmp_path / "mine.jsonl", {"nurse": -1})
    probe = cloze(Path("set"), lexicon="mine.jsonl")
    texts = [text for text, _ in probe.texts([tmp_path])]
    assert texts[:3] == ["The old", "saw the dog.", "is never late!"]
    names = ("set.yaml", "sentences.csv", "lexicon.jsonl", "candidates.csv")
    assert probe.files([tmp_path]) == [*(place / name for name in names), mine]
    with pytest.raises(DataError, match=r"^early-modern-06: .*did you mean early-modern-60"):
        cloze(Path("early-modern-06")).texts([tmp_path])


# Moved ratings ----------------------------------------------------------------------------------------------

Table = list[list[tuple[float, float]]]
"""Sentences as lists of (probability, valence)."""


def rated(table: Table, shift: float = 0.0) -> pl.DataFrame:
    return items([("g", shift, [(f"w{j}", p, v) for j, (p, v) in enumerate(row)]) for row in table])


tables = st.lists(
    st.lists(st.tuples(st.floats(0, 0.2), st.floats(-1, 1)), min_size=0, max_size=5), min_size=1, max_size=5
)


@pytest.mark.parametrize(("sigma", "changes"), [(0.0, {-0.3, 0.3}), (1.0, {-0.3, 0.0}), (-1.0, {0.0, 0.3})])
def test_one_rating_moves_beta_by_half_its_probability(sigma: float, changes: set[float]) -> None:
    table = items([("g", 1, [("a", 0.6, sigma), ("b", 0.3, None)])])
    (drawn,) = Moves([table], recipe(moved_share=0.1)).drawn("beta")
    assert drawn.shape == (1, 200)
    assert set(np.round(drawn[0] - 0.6 * sigma, 9)) == changes
    (delta,) = Moves([table], recipe(moved_share=0.1)).drawn("delta")
    np.testing.assert_allclose(delta, 1 - np.abs(1 - drawn) / 2)


@given(tables, st.floats(0.01, 1), st.integers(0, 3))
@quick
def test_a_sentence_never_moves_by_more_than_its_largest_probabilities(table: Table, share: float, seed: int) -> None:
    frame = rated(table)
    (drawn,) = Moves([frame], recipe(moved_share=share, draws=25, seed=seed)).drawn("beta")
    m = max(1, round(share * sum(map(len, table))))
    for row, own, beta in zip(drawn, table, frame["beta"].to_list(), strict=True):
        assert (beta is None) == (not own)  # nothing is rated
        if beta is None:
            continue
        most = sum(sorted((p for p, _ in own), reverse=True)[:m]) / 2
        assert np.abs(row - beta).max() <= most + 1e-12


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12), st.floats(0.01, 1), st.integers(0, 3))
@quick
def test_moved_ratings_stay_on_the_scale(values: list[float], share: float, seed: int) -> None:
    own = np.array(values)
    settings_ = recipe(moved_share=share, draws=20, seed=seed)
    changes = _changes(own, ["g"] * len(own), settings_).toarray()
    moved = own[:, None] + changes
    assert moved.min() >= -1 - 1e-12
    assert moved.max() <= 1 + 1e-12
    inside = np.abs(own) <= 0.5
    assert np.allclose(np.abs(changes[inside][changes[inside] != 0]), 0.5)
    m = max(1, round(share * len(own)))
    assert np.count_nonzero(changes, axis=0).max() <= m
    steps = _changes(np.zeros(len(own)), ["g"] * len(own), settings_).toarray()
    assert set(np.count_nonzero(steps, axis=0)) == {m}


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.floats(0.01, 1))
@quick
def test_every_group_moves_its_own_share(sizes: list[int], share: float) -> None:
    names = [f"g{i}" for i, size in enumerate(sizes) for _ in range(size)]
    moved = _changes(np.zeros(len(names)), names, recipe(moved_share=share, draws=3)).toarray() != 0
    for i, size in enumerate(sizes):
        assert set(moved[np.array(names) == f"g{i}"].sum(axis=0)) == {max(1, round(share * size))}


def test_every_rating_is_moved_as_often_as_any_other_and_both_ways() -> None:
    changes = _changes(np.zeros(10), ["g"] * 10, recipe(moved_share=0.3, draws=4000)).toarray()
    share = (changes != 0).mean(axis=1)
    np.testing.assert_allclose(share, 0.3, atol=5 * math.sqrt(0.3 * 0.7 / 4000))
    np.testing.assert_allclose((changes > 0).sum() / (changes != 0).sum(), 0.5, atol=5 * 0.5 / math.sqrt(12000))


def replay(
    frame: pl.DataFrame, seed: int, share: float, draws: int, level: float
) -> dict[tuple[str, str], tuple[float, float]]:
    """The interval of every mean, draw by draw, rating by rating."""
    sigma = {
        (id_, word): sigma
        for id_, words, sigmas in frame.select("id", "words", "valences").iter_rows()
        for word, sigma in zip(words, sigmas, strict=True)
        if sigma is not None
    }
    keys = sorted(sigma)
    rng = np.random.default_rng(seed)
    means: dict[tuple[str, str], list[float]] = {}
    group_of = dict(frame.select("id", "group").iter_rows())
    members = [
        [i for i, (id_, _) in enumerate(keys) if group_of[id_] == name] for name in sorted(set(group_of.values()))
    ]
    counts = [max(1, round(share * len(them))) for them in members]
    steps = rng.choice((-0.5, 0.5), (draws, sum(counts)))
    for draw in range(draws):
        chosen = [
            i for them, m in zip(members, counts, strict=True) for i in rng.choice(them, m, replace=False).tolist()
        ]
        now = dict(sigma)
        for i, step in zip(chosen, steps[draw].tolist(), strict=True):
            now[keys[i]] = min(1.0, max(-1.0, sigma[keys[i]] + step))
        found: dict[tuple[str, str], list[float]] = {}
        for id_, group, rho, words, probs in frame.select("id", "group", "expected", "words", "probs").iter_rows():
            beta = sum(p * now[id_, word] for word, p in zip(words, probs, strict=True) if (id_, word) in now)
            for name in (group, "all"):
                found.setdefault((name, "β"), []).append(beta)
                found.setdefault((name, "δ"), []).append(1 - abs(rho - beta) / 2)
        for key, values in found.items():
            means.setdefault(key, []).append(sum(values) / len(values))
    cut = [(1 - level) / 2, (1 + level) / 2]
    return {key: tuple(np.quantile(values, cut)) for key, values in means.items()}


@pytest.mark.parametrize("share", [0.01, 0.25, 1])
def test_the_interval_is_that_of_a_slow_replay(share: float) -> None:
    rng = random.Random(3)
    rows = [
        (
            f"g{i % 3}",
            rng.choice([-1, 0, 0.5]),
            [(f"w{j}", rng.random() / 5, rng.choice([-1, -0.5, 0.25, 1, None])) for j in range(4)],
        )
        for i in range(9)
    ]
    table = items(rows)
    found = result(table, moved_share=share, draws=70, seed=11, level=0.9).summary
    expected = replay(table, 11, share, 70, 0.9)
    assert len(expected) == 8
    for (group, what), (low, high) in expected.items():
        row = value(found, group=group, measure=f"mean {what}, if raters were off by half a point")
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-12)
        sizes = [sum(v is not None for g, _, own in rows if g == name for *_, v in own) for name in ("g0", "g1", "g2")]
        known = sizes if group == "all" else [sizes[int(group[1])]]
        used = sum(max(1, round(share * size)) for size in known)
        assert read_method(row["method"]) == Method("cloze.moved", moved=used, of=sum(known), draws=70, seed=11)


def test_rated_onlyd_moves_are_shares_of_the_rated_share() -> None:
    table = items(
        [("g", 1, [("a", 0.3, 0.0), ("b", 0.1, 0.5), ("c", 0.4, None)]), ("g", 1, [("c", 0.4, None)])], rated_only=True
    )
    own = pc.Cloze(data="d", resamples=500, moved_share=0.1, draws=300, rated_only=True)
    (drawn,) = Moves([table], own).drawn("beta")
    assert set(np.round(drawn[0], 9)) == {round(0.125 + d, 9) for d in (0.375, -0.375, 0.125, -0.125)}
    assert np.isnan(drawn[1]).all()
    row = value(result(table, rated_only="yes").summary, measure=OFF["β"])
    assert (row["n"], row["value"]) == (1, pytest.approx(0.125))
    assert not math.isnan(row["low"])


def test_nothing_rated_leaves_nothing_to_move() -> None:
    table = items([("g", 1, [("c", 0.4, None)])])
    divided = result(items([("g", 1, [("c", 0.4, None)])], rated_only=True), rated_only="yes")
    for found in (result(table), divided):
        row = value(found.summary, measure=OFF["β"])
        assert math.isnan(row["value"]) and notes_of(row) == (Note("no-items"),)


def test_a_group_of_which_nothing_is_rated_has_no_result() -> None:
    """Not even where the point that its sentences call for is 0, where δ would be 1."""
    rows: Rows = [
        ("g", 1, [("w", 0.5, 1.0)]),
        ("g", 1, [("w", 0.3, 0.5), ("v", 0.1, None)]),
    ]
    bare: Rows = [("h", 0.0, [("c", 0.4, None)]), ("h", 0.0, [("d", 0.2, None)])]
    table = items([*rows, *bare])
    assert table["beta"].to_list() == [0.5, pytest.approx(0.15), None, None]
    found, alone = result(table), result(items(rows))
    for measure in (
        "mean β",
        "mean δ",
        OFF["β"],
        OFF["δ"],
    ):
        row = value(found.summary, group="h", measure=measure)
        assert math.isnan(row["value"]) and math.isnan(row["low"]) and row["n"] == 0
        assert (
            value(found.summary, group="g", measure=measure)["value"]
            == alone.summary.filter((pl.col("group") == "g") & (pl.col("measure") == measure))["value"].item()
        )
        assert value(found.summary, group="all", measure=measure)["n"] == 2
    assert value(found.summary, group="h", measure="mean rated share")["value"] == 0
    assert str(Note("cloze.no-beta", ids=["i2", "i3"], of=4)) in found.cautions
    other = result(items([*rows, ("h", 0.0, [("c", 0.4, 0.5)]), ("h", 0.0, [("d", 0.2, 1.0)])]), "other")
    for row in pc.compare(found, other).filter(group="h").iter_rows(named=True):
        assert math.isnan(row["value"]) and math.isnan(row["p"]) and row["n"] == 0


def test_a_sentence_of_which_nothing_is_rated_says_nothing() -> None:
    """Its β is no 0 and its δ no 1: the means are those of the other sentences, and it is named wherever they stand."""
    rows: Rows = [
        ("g", 0.0, [("w", 0.5, 1.0), ("##x", 0.2, None)]),
        ("g", 0.0, [(",", 0.9, None)]),
        ("g", 0.0, [("v", 0.2, -0.5), ("u", 0.1, None)]),
    ]
    found = result(items(rows), lexicon="none", corpora="none", unrated="zero")
    beta, delta = (value(found.summary, measure=f"mean {what}") for what in "βδ")
    assert (beta["n"], beta["value"]) == (2, pytest.approx((0.5 - 0.1) / 2))
    assert (delta["n"], delta["value"]) == (2, pytest.approx((0.75 + 0.95) / 2))
    other = value(found.summary, measure="mean β, counting rated words only")
    assert (other["n"], other["value"]) == (2, pytest.approx((1.0 - 0.5) / 2))
    assert value(found.summary, measure="mean rated share")["value"] == pytest.approx((0.5 + 0.2) / 3)
    assert str(Note("cloze.no-beta", ids=["i1"], of=3)) in found.cautions
    (table,) = SECTION.tables([found])
    left_out = "Left out, as none of their predicted words is rated: i1."
    assert left_out in table.note and table.short is not None and left_out in table.short.note
    assert "rated: i1." in " ".join(latex_table(table, "t").split())
    assert "Sentences without a rated prediction are left out: i1." in " ".join(SECTION.methods([found]))
    assert str(table.rows[0].cells[2]) == "2 of 3"


def turned_by_rated(found: pc.Result) -> list[str]:
    """The cautions that the lean is another if only rated words count."""
    return [each for each in found.cautions if " counting rated words only" in each]


def test_what_turns_on_rated_only_is_a_caution() -> None:
    """Rated words of little probability lean one way in all sentences, those of much probability none."""
    steady: Rows = [("g", 1.0, [("w", 0.05, 1.0), ("v", 0.005 * (i % 3), 0.0)]) for i in range(14)]
    heavy: Rows = [("g", 1.0, [("a", 0.1 + 0.02 * i, -1.0), ("b", 0.4, 0.0)]) for i in range(6)]
    every: Rows = [*steady, *heavy]
    plain = result(items(every))
    divided = result(items(every, rated_only=True), rated_only="yes")
    own = value(plain.summary, measure="mean β")
    other = value(plain.summary, measure="mean β, counting rated words only")
    assert own["low"] < 0 < own["high"] and other["low"] > 0
    # Each choice gives the other's numbers beside its own.
    turned = value(divided.summary, measure="mean β, counting all words")
    assert [turned[key] for key in ("value", "low", "high")] == pytest.approx(
        [own[k] for k in ("value", "low", "high")]
    )
    assert value(divided.summary, measure="mean β")["value"] == pytest.approx(other["value"])
    for found in (plain, divided):
        (told,) = turned_by_rated(found)
        assert f"{own['value']:+.3f}, or ".replace("-", "−") in told
        assert f"{other['value']:+.3f} counting rated words only" in told
    assert not turned_by_rated(result(items(steady)))


def test_nothing_rated_at_all_says_what_to_do_next() -> None:
    (caution,) = result(items([("g", 0.0, [("c", 0.4, None), ("d", 0.1, None)])])).cautions
    assert caution == str(Note("cloze.none-rated", of=2))
    bare = result(items([("g", 0.0, [("c", 0.4, None)]), ("g", 1.0, [("d", 0.1, None)])]))
    assert set(bare.charts()) == {"sentences"}  # no strip of points at 0


class TestTwoTables:
    """The same word in the same sentence is one rating, whichever model predicts it."""

    def test_equal_predictions_leave_the_difference_as_it_is(self) -> None:
        shared = ("same", 0.3, 0.0)
        a = items([("g", 1, [shared, ("x", 0.2, None)])])
        b = items([("g", 1, [("y", 0.1, None), shared])])
        first, second = Moves([a, b], recipe(moved_share=0.1)).drawn("beta")
        assert np.array_equal(first, second)
        assert len(set(first[0])) == 2
        row = value(
            pc.compare(result(a, "a"), result(b, "b")),
            measure=f"difference of {OFF['β']}",
        )
        assert (row["low"], row["value"], row["high"]) == (0, 0, 0)

    def test_unequal_predictions_move_it_by_half_the_gap(self) -> None:
        a, b = (items([("g", 1, [("w", p, 0.0)])]) for p in (0.5, 0.2))
        first, second = Moves([a, b], recipe(moved_share=1)).drawn("beta")
        assert set(np.round(first[0] - second[0], 9)) == {-0.15, 0.15}
        row = value(
            pc.compare(result(a, "a"), result(b, "b")),
            measure=f"difference of {OFF['β']}",
        )
        assert (row["low"], row["value"], row["high"]) == pytest.approx((0.15 - 0.3, 0, 0.15))
        assert (method := read_method(row["method"])) and (method.params["moved"], method.params["of"]) == (1, 1)

    def test_words_of_one_model_alone_move_only_that_one(self) -> None:
        a = items([("g", 1, [("w", 0.5, 0.0)]), ("g", 1, [("v", 0.4, 0.0)])])
        b = items([("g", 1, [("u", 0.2, 0.0)]), ("g", 1, [("w", 0.4, 0.0)])])
        moved = Moves([a, b], recipe(moved_share=0.1))
        first, second = moved.drawn("beta")
        assert moved.counts(np.ones(2, dtype=bool)) == (1, 4)
        assert ((first != 0).sum(axis=0) + (second != 0).sum(axis=0)).tolist() == [1] * 200


# Other raters -----------------------------------------------------------------------------------------------


def judged(rows: Sequence[tuple[str, float, Sequence[tuple[str, float, dict[int, float]]]]]) -> pl.DataFrame:
    """Items whose words have ratings by rater."""
    own = [
        (g, rho, [(w, p, sum(by.values()) / len(by) if by else None) for w, p, by in found]) for g, rho, found in rows
    ]
    raters = [[list(by) for _, _, by in found] for _, _, found in rows]
    ratings = [[list(by.values()) for _, _, by in found] for _, _, found in rows]
    kinds = pl.List(pl.List(pl.Int32)), pl.List(pl.List(pl.Float64))
    return items(own).with_columns(pl.Series("raters", raters, kinds[0]), pl.Series("ratings", ratings, kinds[1]))


def test_other_raters_by_hand() -> None:
    # Both raters rate everything: β of three sentences is .5·(1, 0, −1) by one and .5·(1, 1, 0) by the other.
    rows = [("g", 1.0, [("w", 0.5, {0: a, 1: b})]) for a, b in ((1.0, 1.0), (0.0, 1.0), (-1.0, 0.0))]
    row = value(result(judged(rows)).summary, measure="mean β, for other raters too")
    # β is ½, ¼, −¼, variance 7/48 over 3 sentences; the raters' means are 0 and ⅓, variance 1/18 over 2 raters.
    parts = 7 / 48 / 3, 1 / 18 / 2
    df = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 1)
    half = stats.t.ppf(0.975, df) * math.sqrt(sum(parts))
    fixed = value(result(judged(rows)).summary, measure="mean β")
    ends = min(1 / 6 - half, fixed["low"]), max(min(1, 1 / 6 + half), fixed["high"])
    assert (row["low"], row["value"], row["high"]) == pytest.approx((ends[0], 1 / 6, ends[1]))
    method = read_method(row["method"])
    assert method is not None and (method.params["raters"], method.params["df"]) == (2, pytest.approx(df))
    # δ = 1 − ½|1 − β| = ½ + ½β here, so its interval is half as wide.
    delta = value(result(judged(rows)).summary, measure="mean δ, for other raters too")
    fixed = value(result(judged(rows)).summary, measure="mean δ")
    assert delta["high"] == pytest.approx(max(min(1, delta["value"] + half / 2), fixed["high"]))
    assert delta["low"] == pytest.approx(min(delta["value"] - half / 2, fixed["low"]))


def test_what_one_rater_says_counts_as_known() -> None:
    one = [("g", 1.0, [("w", 0.5, {0: a}), ("v", 0.2, {})]) for a in (1.0, 0.0, -1.0, 0.5)]
    alone = result(judged(one))
    row = value(alone.summary, measure="mean β, for other raters too")
    assert math.isnan(row["low"]) and len(notes_of(row)) == 1
    assert alone.cautions[-1] == NOT_JUDGED
    both = [("g", 1.0, [("w", 0.5, {0: a}), ("v", 0.2, {0: a, 4: -a})]) for a in (1.0, 0.0, -1.0, 0.5)]
    row = value(result(judged(both)).summary, measure="mean β, for other raters too")
    assert [note.params["share"] for note in notes_of(row) if note.code == KNOWN] == pytest.approx([0.2 / 0.7])
    method = read_method(row["method"])
    assert method is not None and method.params["raters"] == 2  # raters 1, 2 and 3 rate nothing here


@given(st.permutations(range(6)), st.permutations(range(3)))
@quick
def test_neither_the_order_of_sentences_nor_the_names_of_raters_matter(order: list[int], names: list[int]) -> None:
    rng = np.random.default_rng(5)
    given_ = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=(6, 2, 3))
    rows, renamed = (
        [
            (f"g{i % 2}", 1.0, [(w, 0.3, {to[r]: x for r, x in enumerate(given_[i, j])}) for j, w in enumerate("ab")])
            for i in range(6)
        ]
        for to in (range(3), names)
    )
    summaries = [result(judged(table)).summary for table in (rows, [renamed[i] for i in order])]
    for group in ("g0", "all"):
        one, other = (value(summary, group=group, measure="mean δ, for other raters too") for summary in summaries)
        assert (one["low"], one["high"]) == pytest.approx((other["low"], other["high"]), abs=1e-12)


def test_two_models_lose_the_same_rater_together() -> None:
    rows = [("g", 1.0, [("w", 0.5, {0: 1.0, 1: 0.0})]), ("g", 1.0, [("w", 0.4, {0: 0.5, 1: -0.5})])] * 30
    a, b = judged(rows), judged([(g, rho, [(w, p - 0.1, by) for w, p, by in found]) for g, rho, found in rows])
    row = value(pc.compare(result(a, "a"), result(b, "b")), measure="difference of mean β, for other raters too")
    # Gaps of .1·½ and .1·0: deviations of .025 over 60 sentences; raters .075 and −.025: variance .1²/2 over 2.
    parts = 0.025**2 / 59, 0.1**2 / 4
    df = sum(parts) ** 2 / (parts[0] ** 2 / 59 + parts[1] ** 2)
    assert row["high"] - row["value"] == pytest.approx(stats.t.ppf(0.975, df) * math.sqrt(sum(parts)))


def test_ratings_travel_from_the_file_to_the_items(zoo: Zoo, tmp_path: Path) -> None:
    words = (
        cloze(write_set(tmp_path / "plain", PLAIN), k=6).run(language_model(zoo("bert"))).items["words"][0].to_list()
    )
    word = next(w for w in words if w.isalpha())
    ratings = [(PLAIN[0][0], word, "zoe", 1.0), (PLAIN[0][0], word, "anna", 0.5)]
    found = cloze(write_set(tmp_path / "set", PLAIN, ratings=ratings), k=6).run(language_model(zoo("bert"))).items
    at = words.index(word)
    assert found["raters"][0][at].to_list() == [1, 0]  # numbers in alphabetical order: names stay in the file
    assert found["ratings"][0][at].to_list() == [1.0, 0.5]
    assert found["valences"][0][at] == 0.75


# Two models -------------------------------------------------------------------------------------------------


def side(betas: Sequence[float], groups: Sequence[str], model: str, **more: Any) -> pc.Result:
    """A result whose sentences call for 1 and have these β."""
    rows = [
        (group, 1.0, [(f"w{model}", abs(beta), math.copysign(1.0, beta))])
        for group, beta in zip(groups, betas, strict=True)
    ]
    return result(items(rows), model, **more)


SHOWN = ("", ", for other raters too", ", if raters were off by half a point")


class TestComparison:
    GROUPS = ("early",) * 4 + ("modern",) * 5
    A = (0.1, 0.2, 0.3, 0.4, -0.5, 0.5, 0.6, 0.7, 0.2)
    B = (0.01, 0.1, 0.1, 0.1, -0.5, 0.6, 0.4, 0.9, 0.1)

    def test_worked_by_hand(self) -> None:
        a, b = side(self.A, self.GROUPS, "a"), side(self.B, self.GROUPS, "b")
        found = pc.compare(a, b)
        assert any_probe.compare(a, b).equals(found)
        gains = np.array(self.A) - np.array(self.B)
        for group, part in (("early", gains[:4]), ("modern", gains[4:]), ("all", gains)):
            for measure, sign in (("β", 1), ("δ", 0.5)):
                row = value(found, group=group, measure=f"difference of mean {measure}")
                assert row["value"] == pytest.approx(sign * part.mean())
                assert row["n"] == len(part)
                assert row["low"] <= row["value"] <= row["high"]
                assert (row["first"], row["second"]) == ("a", "b")
                assert row["test"] == "t test over sentences"
                if group != "all":
                    assert row["p"] == pytest.approx(stats.ttest_1samp(part, 0).pvalue)
                assert (row["p"] < 0.05) == (row["low"] > 0)
        early, modern, whole = (
            value(found, group=g, measure="difference of mean β") for g in ("early", "modern", "all")
        )
        assert early["p"] < modern["p"]
        assert early["p_holm"] == pytest.approx(2 * early["p"])  # over two groups, not three rows
        assert modern["p_holm"] == pytest.approx(max(modern["p"], early["p_holm"]))
        assert math.isnan(whole["p_holm"])
        assert set(found["measure"]) == {f"difference of mean {m}{s}" for m in "βδ" for s in SHOWN} | {
            "difference of mean β, counting rated words only"
        }
        assert {Signature.parse(text)["model"] for text in found["signature"]} == {"a − b"}

    def test_paired_not_the_difference_of_two_means(self) -> None:
        """Sentence by sentence the gain is the same, so there is nothing to doubt, though each model varies widely."""
        groups = ["g"] * 9
        a = side([x * 0.2 - 0.7 for x in range(9)], groups, "a")
        b = side([x * 0.2 - 0.75 - 0.001 * (x % 2) for x in range(9)], groups, "b")
        row = value(pc.compare(a, b), measure="difference of mean β")
        assert row["value"] == pytest.approx(0.05, abs=1e-3)
        assert row["high"] - row["low"] < 0.002
        assert row["p"] < 0.01

    def test_swapping_models_flips_the_sign(self) -> None:
        a, b = side(self.A, self.GROUPS, "a"), side(self.B, self.GROUPS, "b")
        one, other = pc.compare(a, b), pc.compare(b, a)
        np.testing.assert_allclose(one["value"], -other["value"], atol=1e-15)
        np.testing.assert_allclose(one["p"], other["p"])

    def test_a_sentence_without_beta_in_one_model_is_left_out_and_counted(self) -> None:
        rows = [("g", 1.0, [("w", 0.1 * i, 1.0)]) for i in range(1, 5)]
        less: Rows = [*rows[:3], ("g", 1.0, [("w", 0.3, None)])]
        a, b = (result(items(r, rated_only=True), m, rated_only="yes") for m, r in (("a", rows), ("b", less)))
        found = pc.compare(a, b)
        for measure in ("β", "δ"):
            row = value(found, measure=f"difference of mean {measure}")
            assert row["n"] == 3
            assert Note(LEFT_OUT, lost=1) in notes_of(row)
            assert value(found, measure=f"difference of mean {measure}, if raters were off by half a point")["n"] == 3

    @pytest.mark.parametrize(
        ("field", "theirs", "shown"),
        [
            ("data", "d#2", r"data \(d#1 and d#2\)"),
            ("k", 5, r"k \(3 and 5\)"),
            ("ratings", "r#2", r"ratings \(r#1 and r#2\)"),
            ("method", "pll", r"method \(fill and pll\)"),
            ("lexicon", "l#1", r"lexicon \(none and l#1\)"),
            ("rated_only", "yes", r"rated-only \(no and yes\)"),
            ("moved-share", 0.6, r"moved-share \(0.5 and 0.6\)"),
        ],
    )
    def test_what_cannot_be_compared_is_refused_with_the_reason(self, field: str, theirs: object, shown: str) -> None:
        a = side(self.A, self.GROUPS, "a")
        b = side(self.B, self.GROUPS, "b", **{field: theirs})
        for compare in (pc.compare, any_probe.compare):
            with pytest.raises(StudyError, match=rf"differ in {shown} — measure both with the same"):
                compare(a, b)

    def test_models_formats_and_beginnings_may_differ(self) -> None:
        a = side(self.A, self.GROUPS, "a", dtype="float32", bos="<s>")
        b = side(self.B, self.GROUPS, "b", dtype="bfloat16", bos="none")
        assert len(pc.compare(a, b)) == 21

    def test_other_sentences_and_another_instrument_are_refused(self, zoo: Zoo, tmp_path: Path) -> None:
        a = side(self.A, self.GROUPS, "a")
        with pytest.raises(StudyError, match="different items"):
            pc.compare(a, side(self.B[:-1], self.GROUPS[:-1], "b"))
        pairs = tmp_path / "pairs.tsv"
        pairs.write_text("good\tbad\n" + "\n".join("\t".join(pair) for pair in tiny.PAIRS[:3]) + "\n", "utf-8")
        other = pc.MinimalPairs(data=str(pairs), resamples=100).run(language_model(zoo("bert")))
        with pytest.raises(StudyError, match="one is cloze, the other minimal-pairs"):
            pc.compare(a, other)
        with pytest.raises(StudyError, match="one is minimal-pairs, the other cloze"):
            any_probe.compare(other, a)


# Tables and charts ------------------------------------------------------------------------------------------


@pytest.fixture
def awkward() -> list[pc.Result]:
    """Two models: one without β in a whole group and with means that have no interval."""
    spread: Rows = [
        ("first & <early>", -1, [("thou", 0.4, -1.0), ("ye", 0.1 + 0.05 * i, 0.25), ("x", 0.1, None)]) for i in range(4)
    ]
    same: Rows = [("first & <early>", -1, [("you", 0.5, 1.0), ("thou's", 0.2, -0.75)]) for _ in range(4)]
    named: list[tuple[str, Rows]] = [
        ("alpha@1", [*spread, ("modern", 1, [("you", 0.3, 1.0)])]),
        ("beta|two", [*same, ("modern", 1, [("zounds", 0.3, None)])]),
    ]
    return [result(items(rows, rated_only=True), model, rated_only="yes") for model, rows in named]


def test_table_and_comparison_show_every_group_and_model(awkward: list[pc.Result]) -> None:
    one, other = awkward
    assert math.isnan(value(other.summary, group="first & <early>", measure="mean β")["low"])
    table, comparison = (str(t) for t in (*SECTION.tables(awkward), *SECTION.compared(pc.compare(one, other))))
    for text in (table, comparison):
        assert "nan" not in text.lower()
        assert "None" not in text
        lines = text.split("\n")[3:9]  # below title, head and rule: three groups and two models, or two measures
        for group in ("first & <early>", "modern", "all"):
            assert sum(f"{group} " in line for line in lines) == 2, text
    lines = table.splitlines()[3:9]
    assert all(sum(name in line for line in lines) == 3 for name in ("alpha@1", "beta|two"))
    (empty,) = (line for line in lines if line.startswith("modern") and "beta|two" in line)
    assert empty.split()[:5] == ["modern", "beta|two", "0", "of", "1"]
    assert empty.count("–") == 6
    told = "Left out, as none of their predicted words is rated: i4 (beta|two)."
    assert told in " ".join(table.split())
    (full,) = (line for line in lines if line.startswith("first") and "alpha@1" in line)
    assert full.count("too few (4)") >= 2
    assert comparison.count("alpha@1 − beta|two") == 6


def never(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


@pytest.mark.whole
def test_charts_are_valid_and_show_everything(awkward: list[pc.Result]) -> None:
    drawn = {figure.name: figure.svg() for figure in SECTION.figures(awkward)}
    assert list(drawn) == ["beta", "delta", "sentences"]
    for figure in SECTION.figures(awkward):
        content = figure.chart.to_json()  # altair checks it against the schema
        json.loads(content, parse_constant=never)
        assert vl_convert.vegalite_to_vega(content)
        svg = drawn[figure.name]
        assert svg.startswith("<svg")
        assert "NaN" not in svg
        for model in ("alpha@1", "beta|two"):
            assert f">{model}<" in svg, figure.name
        if figure.name != "sentences":
            assert ">first &amp; &lt;early&gt;<" in svg
            assert ">modern<" in svg
    # One line for every mean with an interval: here one group of one model.
    rules = [line for line in drawn["beta"].split("<line ") if 'stroke-width="2.5"' in line]
    wide = [line for line in rules if 'x2="0"' not in line]
    assert len(wide) == 1, rules
    for text in (">← thou<", ">← thou's<", ">ye →<", ">x<", ">first &amp; &lt;early&gt;<"):
        assert text in drawn["sentences"], text
    sentences = [text.replace("[MASK]", "____") for text in awkward[0].items["text"]]
    assert [drawn["sentences"].count(f">{text}<") for text in sentences] == [1] * 5


def test_bars_are_as_long_as_probabilities_and_words_keep_apart() -> None:
    """In each picture, wide and narrow: 0.7 pixels are between the parts of a bar, and no word overlaps the next."""
    words = [(word, 0.09, value) for word, value in zip("abcdefghij", [0.0, 1.0, -0.5, None, 0.25] * 2, strict=True)]
    longer = [(word * 9, share, value) for word, share, value in words]
    figure = SECTION.figures([result(items([("g", 1, words), ("g", 1, longer)]))])[-1]
    for chart, width in ((figure.chart, 330), (figure.narrow, 340)):
        (marks,) = chart.to_dict()["datasets"].values()
        bars = [mark for mark in marks if mark["as"] in ("bar", "empty") and mark["word"] in "abcdefghij"]
        assert [round(bar["x2"] - bar["x"] + 0.7, 1) for bar in bars] == [pytest.approx(0.09 * width, abs=0.1)] * 10
        boxes = sorted((mark["y"], mark["x"], mark["x2"]) for mark in marks if mark["as"] == "box")
        for (y, _, end), (below, start, _) in itertools.pairwise(boxes):
            assert below > y or start > end
        spelled = [
            mark["word"] for mark in marks if mark["as"] in ("plain", "light", "dark", "unrated") and "p" in mark
        ]
        assert spelled == [word for word, _, _ in (*words, *longer)]


def test_charts_show_a_sign_for_what_cannot_be_drawn() -> None:
    """A control character in a word kills the renderer, and the whole program with it."""
    rows: Rows = [("\x01group", 1, [("wo\x08rd", 0.6, 1.0), ("\ufffe", 0.2, None)])]
    figures = SECTION.figures([result(items(rows), "mo\x1fdel")])
    for figure, text in zip(figures, (">\ufffdgroup<", ">mo\ufffddel<", ">wo\ufffdrd →<"), strict=True):
        assert text in figure.svg()


def test_a_rated_word_of_no_probability_at_all() -> None:
    table = items([("g", 1, [("a", 0.0, 1.0)]), ("g", 1, [("a", 0.5, 1.0)])], rated_only=True)
    assert table["beta"].to_list() == [None, 1.0]
    assert value(result(table, rated_only="yes").summary, measure=OFF["β"])["n"] == 1


@pytest.mark.whole
def test_too_many_sentences_make_no_picture_of_words() -> None:
    rows = [("g", 1.0, [(f"w{j}", 0.01, 1.0) for j in range(30)]) for _ in range(121)]
    names = [[figure.name for figure in SECTION.figures([result(items(rows[:n]))])][2:] for n in (25, 26, 120, 121)]
    assert names == [["sentences"], *([f"sentences-{i}" for i in range(1, n + 1)] for n in (2, 5)), []]


# The program ------------------------------------------------------------------------------------------------


@pytest.fixture
def study(zoo: Zoo, tmp_path: Path, data: Path) -> Path:
    probe = {"data": "set", "k": 20, "resamples": 200, "draws": 50, "moved_share": 0.1}
    return write_study(tmp_path / "study.yaml", [zoo("bert"), zoo("roberta")], {"cloze": probe})


@pytest.mark.whole
def test_a_study_through_the_program(penchant: Callable[..., Answer], study: Path) -> None:
    code, out, err = penchant("run", study, "-o", "out", "--full")
    assert code == 0, err
    folder = study.parent / "out"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["status"] == "finished"
    results = [pc.Result.load(folder / unit["directory"]) for unit in manifest["units"]]
    assert len(results) == 2
    compared = with_nan(pl.read_parquet(folder / "cloze" / "comparison.parquet"))
    tables = "\n\n".join(str(t) for t in (*SECTION.tables(results), *SECTION.compared(untold(compared)))) + "\n"
    assert out.count(tables) == 1 and "Where no difference was found" in out.partition(tables)[2]
    for found in results:
        assert found.cautions
        for caution in found.cautions:
            assert caution in " ".join(err.split())
            assert caution not in out
    assert "report: out/report.html\n" in err
    assert (folder / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert {Path(record["path"]).name for record in manifest["data"]} == {"set.yaml", "sentences.csv", "lexicon.jsonl"}
    assert penchant("run", study, "-o", "out", "--resume", "--full")[:2] == (0, out)


@pytest.mark.whole
def test_causal_models_are_compared_and_not_with_masked_ones(
    penchant: Callable[..., Answer], zoo: Zoo, study: Path
) -> None:
    words = [(f"s{i}{b}", w) for i in range(1, 7) for b in ("", "b") for w in WORDS]
    write_table(study.parent / "c.csv", ["sentence", "word"], words)
    study.write_text(study.read_text().replace("data: set", "data: set\n    candidates: c.csv"))
    code, out, err = penchant("run", study, "-o", "out", "--full", "-m", zoo("gpt2"), "-m", zoo("llama"))
    assert code == 0, err
    assert "gpt2@" in out and "difference" in out
    mixed = ("run", study, "-o", "mixed", "--full", "-m", zoo("bert"), "-m", zoo("gpt2"), "-m", zoo("llama"))
    code, out, err = penchant(*mixed)
    assert code == 0, err
    assert "bert@" in out and "gpt2@" in out
    told = " ".join(err.split())
    assert told.count("cannot be compared: they differ in method (fill and lp)") == 1  # for both pairs with BERT
    assert all(f"{zoo('bert')} and {zoo(other)}" in told for other in ("gpt2", "llama"))
    assert penchant(*mixed, "--resume")[:2] == (0, out)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (("data: set", "data: early-modern-06"), ["early-modern-06", "did you mean early-modern-60"]),
        (("data: set", "data: czech-registr-60"), ["did you mean czech-register-60"]),
        (("data: set", "data: set\n    ratings: nowhere.csv"), ["nowhere.csv", "no such file"]),
        (("k: 20", "k: 0"), ["probes.0.cloze.k", "greater than or equal to 1, got 0"]),
        (("k: 20", "unrated: drop"), ["probes.0.cloze.unrated", "'zero' or 'error'"]),
        (("k: 20", "moved: 50"), ["probes.0.cloze.moved: unknown key"]),
        (("k: 20", "corpora: {low: a.txt}"), ["probes.0.cloze.corpora.high", "missing"]),
    ],
)
def test_what_is_wrong_with_a_study_is_one_line(
    penchant: Callable[..., Answer], study: Path, change: tuple[str, str], parts: list[str]
) -> None:
    assert change[0] in study.read_text()
    study.write_text(study.read_text().replace(*change))
    code, out, err = penchant("run", study, "-o", "out")
    assert (code, out, err.count("\n")) == (2, "", 1), err
    for part in parts:
        assert part in err
    assert not (study.parent / "out" / "cloze").exists()

"""Fair pairs from the command line: generated, filtered, repaired, and held against the original set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from scipy import stats
from transformers import AutoTokenizer

from answers import Answer, refused
from paths import SHARED, needs_shared
from penchant import FairPairs, MinimalPairs, load, read_pairs
from penchant.instruments.minimal_pairs.fair_pair_views import open_ranks
from penchant.instruments.minimal_pairs.instrument import FAIR_PAIRS
from penchant.instruments.minimal_pairs.probe import collection
from penchant.papers.paper import paper
from penchant.study.read_results import read_outcome
from penchant.views.row_selection import compared

Program = Callable[..., Answer]
Zoo = Callable[[str], Path]

GRAMMAR = """\
name: toy
language: en
categories:
  noun: {file: nouns.csv, forms: [singular]}
  verb: {file: verbs.csv, forms: [past]}
paradigms:
  passing:
    field: syntax
    linguistics_term: argument_structure
    slots:
      subject: {category: noun}
      verb: {category: verb, where: class=passing}
      object: {category: noun, differs: subject}
    good: "the {subject:singular} {verb:past} the {object:singular}."
    bad: "the {subject:singular} {verb:past} the {object:singular}."
    vary: {verb: {where: class=staying}}
"""
WORDS = "teacher nurse doctor dog horse traveler owner sister book table garden key"
NOUNS = "lemma,singular\n" + "".join(f"{word},{word}\n" for word in WORDS.split())
VERB_PAIRS = [("saw", "discovered"), ("lost", "left"), ("found", "bought"), ("painted", "forgot")]
VERBS = "lemma,past,class\n" + "".join(
    f"{word},{word},{kind}\n"
    for kind, words in (
        ("passing", "saw lost found painted followed described"),
        ("staying", "bought left remembered forgot discovered understood"),
    )
    for word in words.split()
)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    home = tmp_path / "toy"
    home.mkdir()
    for name, text in (("grammar.yaml", GRAMMAR), ("nouns.csv", NOUNS), ("verbs.csv", VERBS)):
        (home / name).write_text(text, "utf-8")
    return home


def tokens(model: Path, text: str) -> int:
    """|S| by transformers itself."""
    return len(AutoTokenizer.from_pretrained(model)(text, add_special_tokens=False)["input_ids"])


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.whole
def test_generated_pairs_are_equal_under_every_tokenizer(
    penchant: Program, zoo: Zoo, toy: Path, tmp_path: Path
) -> None:
    models = [zoo("bert"), zoo("roberta"), zoo("xlm-roberta")]
    options = [part for model in models for part in ("-t", model)]
    out = tmp_path / "fair.jsonl"
    code, said, err = penchant("pairs", "generate", "-n", "40", "--grammar", toy, *options, "-o", out)
    assert code == 0, err
    found = rows(out)
    assert len(found) == 40
    assert len({(row["sentence_good"], row["sentence_bad"]) for row in found}) == 40
    for row in found:
        good, bad = str(row["sentence_good"]), str(row["sentence_bad"])
        for model in models:
            assert tokens(model, good) == tokens(model, bad)
        assert Counter(good.split()) - Counter(bad.split()) == Counter({good.split()[2]: 1})
    assert row["n_tokens_good"] == {model.name: tokens(model, good) for model in models}
    read = read_pairs(out)  # a file that others read as one of BLiMP, and which is not cited as such
    assert read.kind == collection(read) == "generated"
    assert {row["grammar"] for row in found} == {toy.name}
    probe = {"minimal-pairs": {"data": [str(out)], "resamples": 100}}
    (tmp_path / "s.yaml").write_text(json.dumps({"study": "s", "models": [str(models[0])], "probes": [probe]}), "utf-8")
    for words in (("run", tmp_path / "s.yaml", "-o", tmp_path / "r"), ("export", tmp_path / "r", "--to", "paper")):
        code, _, err = penchant(*words)
        assert code == 0, err
    references = (tmp_path / "r" / "paper" / "references.bib").read_text("utf-8")
    assert "salazar2020" in references and "warstadt2020" not in references
    assert {item.labels["group"] for item in read.items} == {"passing"}
    table = said.splitlines()
    assert table[0].split()[:2] == ["group", "pairs"]
    assert table[2].split()[:2] == ["passing", "40"]
    again = tmp_path / "again.jsonl"
    penchant("pairs", "generate", "passing", "-n", "20", "--grammar", toy, *options, "-o", again)
    assert rows(again) == found[:20]
    other = tmp_path / "other.jsonl"
    penchant("pairs", "generate", "-n", "20", "--grammar", toy, *options, "--seed", "1", "-o", other)
    assert rows(other) != found[:20]


def test_pairs_go_to_standard_output_without_a_file(penchant: Program, toy: Path) -> None:
    code, out, err = penchant("pairs", "generate", "-n", "3", "--grammar", toy)
    assert code == 0
    assert [json.loads(line)["pairID"] for line in out.splitlines()] == ["0", "1", "2"]
    assert "group" in err


PAIRS = [
    ("The nurse saw the dog.", "The nurse discovered the dog.", "a"),
    ("The nurse followed the dog.", "The nurse left the dog.", "a"),
    ("The doctor lost the key.", "The doctor left the key.", "b"),
    ("The doctor painted the key.", "The doctor left the key.", "b"),
    ("Who saw the dog?", "The dog saw whom in the garden?", "b"),
    ("The dog saw the nurse.", "The nurse saw the dog.", "a"),
    ("The doctor frobbed the key.", "The doctor left the key.", "b"),
]


@pytest.fixture
def blimp(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    lines = [
        {"sentence_good": g, "sentence_bad": b, "UID": p, "linguistics_term": "t", "field": "f", "pairID": str(i)}
        for i, (g, b, p) in enumerate(PAIRS)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_filter_keeps_what_is_equal_and_tells_what_is_lost(
    penchant: Program, zoo: Zoo, blimp: Path, tmp_path: Path
) -> None:
    models = [zoo("bert"), zoo("roberta")]
    equal = [all(tokens(m, g) == tokens(m, b) for m in models) for g, b, _ in PAIRS]
    assert 0 < sum(equal) < len(equal)
    out = tmp_path / "kept.jsonl"
    code, said, err = penchant("pairs", "filter", blimp, "-t", models[0], "-t", models[1], "-o", out)
    assert code == 0, err
    assert [row["pairID"] for row in rows(out)] == [str(i) for i, own in enumerate(equal) if own]
    assert [row["sentence_good"] for row in rows(out)] == [
        g for (g, _, _), own in zip(PAIRS, equal, strict=True) if own
    ]
    last = said.splitlines()[-1].split()
    assert last[:3] == ["all", "7", str(sum(equal))]
    table = np.array(
        [
            [sum(own == kept for own, (_, _, p) in zip(equal, PAIRS, strict=True) if p == name) for name in "ab"]
            for kept in (True, False)
        ]
    )
    if (table.sum(axis=1) > 0).all() and (table.sum(axis=0) > 0).all():
        p = stats.chi2_contingency(table, correction=False).pvalue
        assert f"p = {p:.2g}" in err


@needs_shared
def test_filter_reads_crows_pairs_too(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    (data,) = (SHARED / "crows_pairs").glob("*.csv")
    out = tmp_path / "kept.jsonl"
    code, _, err = penchant("pairs", "filter", data, "-t", zoo("bert"), "-o", out)
    assert code == 0, err
    kept = read_pairs(out)
    assert kept.kind == "stereotypes" and {item.labels["group"] for item in kept.items} <= {"stereo", "antistereo"}
    assert 0 < len(kept.items) < 1_508
    for item in kept.items[:20]:
        assert tokens(zoo("bert"), item.texts["good"]) == tokens(zoo("bert"), item.texts["bad"])


def test_repair_replaces_one_word_by_another_of_its_kind(
    penchant: Program, zoo: Zoo, toy: Path, blimp: Path, tmp_path: Path
) -> None:
    models = [zoo("bert"), zoo("roberta")]
    out = tmp_path / "mended.jsonl"
    options = ["-t", models[0], "-t", models[1], "--grammar", toy, "-o", out]
    code, said, err = penchant("pairs", "repair", blimp, *options)
    assert code == 0, err
    staying = {line.split(",")[1] for line in VERBS.splitlines() if line.endswith("staying")}
    passing = {line.split(",")[1] for line in VERBS.splitlines() if line.endswith("passing")}
    found = rows(out)
    for row in found:
        good, bad = str(row["sentence_good"]), str(row["sentence_bad"])
        for model in models:
            assert tokens(model, good) == tokens(model, bad)
        before = PAIRS[int(str(row["pairID"]))]
        if row["repaired"]:
            assert (good, bad) != before[:2]
            changed = [(a, b) for a, b in zip(before[:2], (good, bad), strict=True) if a != b]
            ((old, new),) = changed
            ((was, now),) = [(x, y) for x, y in zip(old.split(), new.split(), strict=True) if x != y]
            assert {was, now} <= staying or {was, now} <= passing
        else:
            assert (good, bad) == before[:2]
    header, *lines = said.splitlines()
    assert "repaired" in header
    total = lines[-1].split()
    assert int(total[1]) == 7
    assert int(total[1]) == sum(map(int, total[2:]))  # every pair is accounted for, by what came of it
    assert len(found) == int(total[2]) + int(total[3])
    assert int(total[4]) == 1  # the question differs in more than a word


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["pairs", "filter", "mine.jsonl"], "no tokenizer was given"),
        (["pairs", "generate", "--grammar", "klingon"], "klingon"),
        (["pairs", "generate", "passed", "--grammar", "toy"], "no paradigm 'passed'"),
        (["pairs", "generate", "-n", "0", "--grammar", "toy"], "greater than or equal to 1"),
        (["pairs", "filter", "none.jsonl", "-t", "no-such-model"], "no-such-model"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    penchant: Program, toy: Path, blimp: Path, tmp_path: Path, arguments: list[str], part: str
) -> None:
    out = tmp_path / "out.jsonl"
    refused(penchant(*arguments, "-o", out), part)
    assert not out.exists()


def test_more_pairs_than_there_are(penchant: Program, toy: Path, tmp_path: Path) -> None:
    (toy / "nouns.csv").write_text("lemma,singular\nnurse,nurse\ndog,dog\n", "utf-8")  # 6 × 6 verbs, 2 × 1 nouns
    out = tmp_path / "out.jsonl"
    told = "yields 72 distinct pairs instead of 73"
    refused(penchant("pairs", "generate", "-n", "73", "--grammar", toy, "-o", out), told)
    assert not out.exists()


def test_the_two_sets_are_scored_as_by_themselves(zoo: Zoo, blimp: Path, tmp_path: Path) -> None:
    fair = tmp_path / "fair.jsonl"
    fair.write_text("".join(blimp.read_text("utf-8").splitlines(keepends=True)[:4]), "utf-8")
    lm = load(zoo("bert"))
    found = FairPairs(original=str(blimp), fair=str(fair), resamples=200).run(lm)
    for name, path in (("original", blimp), ("fair", fair)):
        alone = MinimalPairs(data=str(path), resamples=200).run(lm)
        own = found.items.filter(dataset=name)
        for column in ("good", "bad", "score_good", "score_bad", "difference"):
            assert own[column].to_list() == alone.items[column].to_list()
        measure = (pl.col("measure") == "accuracy") & (pl.col("scope") == "group")
        columns = ["group", "split", "normalise", "value", "low", "high", "n"]
        summary = found.summary.filter(measure & (pl.col("dataset") == name)).select(columns)
        assert summary.equals(alone.summary.filter(measure).select(columns), null_equal=True)
    gains = found.summary.filter((pl.col("dataset") == "fair − original") & (pl.col("normalise") == "none"))
    gain = "accuracy on fair − original pairs"
    assert set(gains["measure"]) == {gain, "share of fair pairs that are original pairs"}
    # Mantel–Haenszel over paradigms, by hand.
    right = [
        (row["group"], row["dataset"], (np.sign(row["score_good"] - row["score_bad"]) + 1) / 2)
        for row in found.items.iter_rows(named=True)
    ]
    parts = []
    for paradigm in "ab":
        sides = [[c for p, d, c in right if (p, d) == (paradigm, name)] for name in ("fair", "original")]
        weight = len(sides[0]) * len(sides[1]) / (len(sides[0]) + len(sides[1]))
        parts.append((weight, np.mean(sides[0]) - np.mean(sides[1])))
    by_hand = sum(w * gap for w, gap in parts) / sum(w for w, _ in parts)
    assert gains.filter(scope="overall", measure=gain)["value"].item() == pytest.approx(by_hand)


def test_pairs_of_both_sets_are_found_by_their_sentences(zoo: Zoo, tmp_path: Path) -> None:
    texts = [(f"The {noun} {a} the dog.", f"The {noun} {b} the dog.") for noun in WORDS.split() for a, b in VERB_PAIRS]

    def write(name: str, chosen: list[tuple[str, str]], start: int) -> str:
        lines = [
            {"sentence_good": g, "sentence_bad": b, "UID": "p", "linguistics_term": "t", "pairID": str(start + i)}
            for i, (g, b) in enumerate(chosen)
        ]
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        return str(tmp_path / name)

    original = write("original.jsonl", texts[:40], 0)
    # Other ids, another order, 20 of the original ones and 8 of its own.
    fair = write("fair.jsonl", texts[47:39:-1] + texts[19::-1], 700)
    found = FairPairs(original=original, fair=fair, normalise="none", resamples=200).run(load(zoo("gpt2")))
    right = {
        (row["dataset"], row["good"], row["bad"]): (np.sign(row["score_good"] - row["score_bad"]) + 1) / 2
        for row in found.items.iter_rows(named=True)
    }
    means = {name: np.mean([c for (own, _, _), c in right.items() if own == name]) for name in ("fair", "original")}
    rows = found.summary.filter((pl.col("dataset") == "fair − original") & (pl.col("scope") == "overall"))
    gain = rows.filter(measure="accuracy on fair − original pairs").row(0, named=True)
    assert gain["value"] == pytest.approx(means["fair"] - means["original"])
    assert gain["n"] == 48 and "20 of 28 fair pairs are also among the 40 original ones" in gain["note"]
    assert rows.filter(measure="share of fair pairs that are original pairs")["value"].item() == 20 / 28
    (ranked, *_) = FAIR_PAIRS.section.tables([found])
    assert str(ranked.rows[0].cells[-1]) == "71.4 (20)"


@pytest.mark.whole
def test_the_papers_experiment_from_its_study_file(
    penchant: Program, zoo: Zoo, toy: Path, blimp: Path, tmp_path: Path
) -> None:
    models = [zoo("gpt2"), zoo("bert"), zoo("roberta"), zoo("electra-generator")]
    options = [part for model in models for part in ("-t", model)]
    fair = tmp_path / "fair.jsonl"
    code, _, err = penchant("pairs", "generate", "-n", "12", "--grammar", toy, *options, "-o", fair)
    assert code == 0, err
    study = yaml.safe_load(paper("token-length").study.read_text("utf-8"))
    study["probes"] = study["probes"][1:]
    study["probes"][0]["fair-pairs"] |= {"original": "passing.jsonl", "resamples": 200}
    lines = [json.loads(line) for line in blimp.read_text("utf-8").splitlines()[:4]]
    passing = [json.dumps({**line, "UID": "passing"}) for line in lines]
    (tmp_path / "passing.jsonl").write_text("\n".join(passing) + "\n", "utf-8")
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), "utf-8")
    wanted = [part for model in models for part in ("-m", model)]
    out = tmp_path / "out"
    code, said, err = penchant("run", tmp_path / "study.yaml", *wanted, "--data", tmp_path, "-o", out, "--full")
    assert code == 0, err
    assert "Accuracy in percent on original and fair pairs" in said
    outcome = read_outcome(out)
    assert len(outcome.results) == 4
    values = {
        model: {
            name: result.summary.filter(
                (pl.col("measure") == "accuracy")
                & (pl.col("scope") == "overall")
                & (pl.col("split") == "all")
                & (pl.col("normalise") == "none")
                & (pl.col("dataset") == name)
            )["value"].item()
            for name in ("original", "fair")
        }
        for (_, model), result in outcome.results.items()
    }
    for result in outcome.results.values():  # the gap is gone by construction: every fair pair has A=U
        assert (result.items.filter(dataset="fair")["difference"] == 0).all()
    shown = [line.split() for line in said.splitlines() if line.startswith("none ")][:4]
    for line in shown:
        (model,) = (m for m in values if Path(m).name == line[1].split("@")[0])
        rank = 1 + sum(other["original"] > values[model]["original"] for other in values.values())
        assert f"{100 * values[model]['original']:.1f}" in line or line[2:5] == ["too", "few", "(4)"]
        assert str(rank) in line
    code, _, err = penchant("export", out, "--to", "csv", "-o", tmp_path / "tables")
    assert code == 0, err


def test_ranks_stay_open_where_no_difference_is_told() -> None:
    """Three differences of a set are a family: .02 alone is .04 of the two smaller ones left, .03 is .09 of three."""

    def row(pair: str, low: float, high: float, name: str) -> dict[str, object]:
        first, second = pair.split(" − ")
        own = {"first": first, "second": second, "dataset": name, "normalise": "none"}
        own |= {"scope": "overall", "split": "all"}
        own["signature"] = f"{pair} {name}"
        p = {(0.1, 0.3): 0.01, (0.2, 0.4): 0.02, (0.1, 0.2): 0.02, (0.02, 0.4): 0.03}.get((low, high), 0.5)
        p = 0.01 if high < 0 else p
        return {**own, "low": low, "high": high, "value": (low + high) / 2, "n": 40, "p": p}

    pairs_of = {"original": [(0.1, 0.3), (0.2, 0.4), (-0.1, 0.1)], "fair": [(-0.3, -0.1), (-0.1, 0.1), (0.1, 0.2)]}
    table = pl.DataFrame(
        [
            row(pair, *bounds, name)
            for name, found in pairs_of.items()
            for pair, bounds in zip(("a − b", "a − c", "b − c"), found, strict=True)
        ]
    )
    ends = [f"{end}_{name}" for name in ("original", "fair") for end in ("best", "worst")]

    def ranks(comparison: pl.DataFrame) -> dict[str, tuple[int, ...]]:
        (source,) = open_ranks(compared(comparison))
        return {row["named"]: tuple(row[end] for end in ends) for row in source.frame.iter_rows(named=True)}

    (source,) = open_ranks(compared(table))
    assert source.frame["signature"].to_list() == ["a − b original", "a − b original", "a − c original"]
    # original: a leads both, b and c are not told apart; fair: b leads a and c, a and c are not told apart.
    assert ranks(table) == {"a": (1, 1, 2, 3), "b": (2, 3, 1, 1), "c": (2, 3, 2, 3)}
    alone = [row("a − b", 0.02, 0.4, name) for name in pairs_of]
    others = [row(pair, -0.1, 0.1, name) for name in pairs_of for pair in ("a − c", "b − c")]
    assert ranks(pl.DataFrame(alone))["a"] == (1, 1, 1, 1)
    assert ranks(pl.DataFrame([*alone, *others]))["a"] == (1, 3, 1, 3)

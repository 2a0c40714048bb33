"""Unigrams of a model's own tokenizer, against plain transformers and a counter, and SLOR made from them."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from transformers import AutoTokenizer

import brute
import penchant as pc
from answers import Answer, refused
from penchant.corpus.text_files import find_texts
from penchant.corpus.token_frequencies import count_unigrams
from penchant.engine.sentence_scores import SentenceScore
from penchant.engine.unigrams import Unigrams, fitting, read_unigrams
from penchant.errors import DataError, MethodError
from penchant.instruments.minimal_pairs.probe import MinimalPairs
from penchant.models.load import load_tokenizer

pytest.importorskip("fsspec", reason="no package fsspec")

Penchant = Callable[..., Answer]
Zoo = Callable[[str], Path]
LINES = ["The old teacher saw the dog.", "", "  The dog saw the old, old teacher.  ", "Moje sestra čte nové knihy."]
SENTENCES = ["The teacher saw the dog.", "The keys to the cabinet are on the table."]


def counted(directory: Path, texts: list[str]) -> Counter[int]:
    """The tokens of some texts as the tokenizer itself gives them."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    return Counter(t for text in texts for t in tokenizer(text.strip(), add_special_tokens=False)["input_ids"])


def logprob(directory: Path, text: str, counts: Counter[int]) -> list[float]:
    """Laplace's estimate, one number per token of a text."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    entries = len(set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids))
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return [math.log((counts[token] + 1) / (counts.total() + entries)) for token in ids]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """The lines as a file, in the working directory."""
    (tmp_path / "a.txt").write_text("\n".join(LINES) + "\n", "utf-8")
    return tmp_path / "a.txt"


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-roberta", "gpt2", "llama"])
def test_counts_are_those_of_the_tokenizer(name: str, zoo: Zoo, text: Path) -> None:
    label, tokenizer = load_tokenizer(zoo(name))
    found = count_unigrams(tokenizer, label, find_texts([text]))
    counts = counted(zoo(name), LINES)
    table = found.table(tokenizer)
    assert dict(zip(table["token_id"], table["count"], strict=True)) == counts
    assert table["token"].to_list() == AutoTokenizer.from_pretrained(zoo(name)).convert_ids_to_tokens(
        list(table["token_id"])
    )
    assert table["count"].to_list() == sorted(counts.values(), reverse=True)
    assert found.unigrams.total == counts.total()


def test_text_may_be_packed_json_or_parquet(zoo: Zoo, text: Path, tmp_path: Path) -> None:
    label, tokenizer = load_tokenizer(zoo("gpt2"))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.read_bytes()))
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"said": line}) + "\n" for line in LINES), "utf-8")
    pl.DataFrame({"said": LINES}).write_parquet(tmp_path / "d.parquet")
    plain = count_unigrams(tokenizer, label, find_texts([text]))
    for other in ("b.txt.gz", "c.jsonl", "d.parquet"):
        found = count_unigrams(tokenizer, label, find_texts([tmp_path / other]), field="said")
        assert (found.unigrams.counts == plain.unigrams.counts).all(), other
    # Several files add up, and wrapped lines are joined before they are tokenized.
    both = count_unigrams(tokenizer, label, find_texts([text, tmp_path / "b.txt.gz"]))
    assert (both.unigrams.counts == 2 * plain.unigrams.counts).all()
    wrapped = count_unigrams(tokenizer, label, find_texts([text]), layout="wrapped")
    joined = counted(zoo("gpt2"), [LINES[0], f"{LINES[2].strip()} {LINES[3]}"])
    assert {t: n for t, n in enumerate(wrapped.unigrams.counts.tolist()) if n} == joined


def test_what_is_no_text_is_left_out_and_counted(zoo: Zoo, tmp_path: Path) -> None:
    label, tokenizer = load_tokenizer(zoo("bert"))
    (tmp_path / "a.txt").write_bytes("The dog [MASK] 😀.\n".encode() + b"\xff\xfe\n" + b"The \0 dog.\nThe dog.\n")
    found = count_unigrams(tokenizer, label, find_texts([tmp_path / "a.txt"]))
    assert (found.records, found.skipped, found.unknown, found.special) == (4, 2, 1, 1)
    assert found.unigrams.total == counted(zoo("bert"), ["The dog", ".", "The dog."]).total()
    notes = " ".join(found.notes())
    assert "2 of 4 records have no readable text" in notes and "unknown to the tokenizer" in notes


def test_the_probabilities_of_all_entries_sum_to_one(zoo: Zoo, text: Path) -> None:
    label, tokenizer = load_tokenizer(zoo("gpt2"))
    unigrams = count_unigrams(tokenizer, label, find_texts([text])).unigrams
    ids = sorted(set(tokenizer.hf.get_vocab().values()) - set(tokenizer.hf.all_special_ids))
    assert np.exp(unigrams.logprobs(ids)).sum() == pytest.approx(1, abs=1e-12)


def test_slor_by_hand() -> None:
    """Three entries counted 3, 0 and 1 times have P = 4/7, 1/7 and 2/7."""
    unigrams = Unigrams(np.array([3, 0, 1]), 3)
    assert np.exp(unigrams.logprobs([0, 1, 2])) == pytest.approx([4 / 7, 1 / 7, 2 / 7], abs=1e-15)
    score = SentenceScore("ab", -5.0, 2, ("a", "b"), np.array([-2.0, -3.0]), (0, 1))
    assert score.normalised("slor", unigrams) == pytest.approx((-5 - math.log(4 / 49)) / 2, abs=1e-15)
    assert score.normalised("slln") == pytest.approx(-5 / math.sqrt(2), abs=1e-15)
    assert unigrams.unseen((0, 1)) == 1
    # A first token that is not scored has no part in either probability.
    first = SentenceScore("ab", -3.0, 2, ("a", "b"), np.array([np.nan, -3.0]), (0, 1))
    assert first.normalised("slor", unigrams) == pytest.approx((-3 - math.log(1 / 7)) / 2, abs=1e-15)
    with pytest.raises(MethodError, match="needs token frequencies"):
        score.normalised("slor")


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2", "gpt2-no-bos", "llama"])
def test_slor_of_sentences(name: str, zoo: Zoo, text: Path, tmp_path: Path, penchant: Penchant) -> None:
    """From the command line and in Python, against one forward pass a number and a counter."""
    causal = name not in ("bert", "roberta")
    model, tokenizer = brute.load(zoo(name), causal=causal)
    counts, reference = counted(zoo(name), LINES), brute.lp if causal else brute.pll
    expected = []
    for sentence in SENTENCES:
        values = zip(reference(model, tokenizer, sentence), logprob(zoo(name), sentence, counts), strict=True)
        gains = [p - u for p, u in values if p == p]
        n = len(tokenizer(sentence, add_special_tokens=False)["input_ids"])
        expected.append(math.fsum(gains) / n)
    code, out, err = penchant("corpus", "unigrams", "a.txt", "-m", zoo(name), "-o", "u.parquet")
    assert (code, out) == (0, ""), err
    (tmp_path / "s.txt").write_text("\n".join(SENTENCES), "utf-8")
    asked = ("score", "-m", zoo(name), "--normalise", "slor", "--unigrams", "u.parquet", "s.txt")
    code, out, err = penchant(*asked)
    assert code == 0 and "not occur in the text of the unigrams" in err
    assert [float(line.split("\t")[0]) for line in out.splitlines()[1:]] == pytest.approx(expected, abs=1e-4)
    table = pc.score(zoo(name), SENTENCES, normalise="slor", unigrams=tmp_path / "u.parquet")
    assert table["score"].to_list() == pytest.approx(expected, abs=1e-4)


def test_the_table_on_standard_output_is_one(zoo: Zoo, text: Path, tmp_path: Path, penchant: Penchant) -> None:
    penchant("corpus", "unigrams", "a.txt", "-m", zoo("gpt2"), "-o", "u.parquet")
    code, out, err = penchant("corpus", "unigrams", "a.txt", "-m", zoo("gpt2"))
    assert code == 0 and "tokens" in err
    (tmp_path / "u.tsv").write_text(out, "utf-8")
    label, tokenizer = load_tokenizer(zoo("gpt2"))
    one, other = (read_unigrams(tmp_path / f"u.{kind}", tokenizer, label) for kind in ("tsv", "parquet"))
    assert (one.counts == other.counts).all() and one.vocabulary == other.vocabulary
    record = json.loads(pl.read_parquet_metadata(tmp_path / "u.parquet")["penchant-unigrams"])
    assert record["tokens"] == one.total and record["texts"][0]["name"] == "a.txt" and record["smoothing"]


def test_another_tokenizer_is_refused(zoo: Zoo, text: Path, tmp_path: Path, penchant: Penchant) -> None:
    for kind in ("gpt2", "llama"):
        assert penchant("corpus", "unigrams", "a.txt", "-m", zoo(kind), "-o", f"{kind}.parquet")[0] == 0
    (tmp_path / "gpt2.tsv").write_text(penchant("corpus", "unigrams", "a.txt", "-m", zoo("gpt2"))[1], "utf-8")
    (tmp_path / "s.txt").write_text(SENTENCES[0], "utf-8")
    asked = ("score", "-m", zoo("llama"), "--normalise", "slor", "s.txt", "--unigrams")
    refused(penchant(*asked, "gpt2.parquet"), "was counted with the tokenizer of gpt2", "llama")
    refused(penchant(*asked, "gpt2.tsv"), "the vocabulary of llama")
    assert penchant(*asked, "llama.parquet")[0] == 0
    label, tokenizer = load_tokenizer(zoo("llama"))
    both = [tmp_path / "gpt2.parquet", tmp_path / "llama.parquet"]
    assert fitting(both, tokenizer, label).file == both[1]
    with pytest.raises(DataError, match="none of the 2 tables"):
        fitting([both[0], tmp_path / "gpt2.tsv"], tokenizer, label)
    with pytest.raises(DataError, match="2 tables of unigrams match the tokenizer"):
        fitting([both[1], both[1]], tokenizer, label)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("token_id\tcount\n5\t1\n", "there is no column 'token'"),
        ("token_id\ttoken\tcount\n{t}\t{p}\t-1\n", "expected a whole number"),
        ("token_id\ttoken\tcount\n{t}\t{p}\t1.5\n", "expected a whole number"),
        ("token_id\ttoken\tcount\n{t}\t{p}\t1\n{t}\t{p}\t1\n", "appears twice"),
        ("token_id\ttoken\tcount\n{t}\t{p}\t0\n", "all counts in this table are 0"),
        ("token_id\ttoken\tcount\n999999\t{p}\t1\n", "there is no token 999999"),
        ("token_id\ttoken\tcount\n{s}\t<|endoftext|>\t1\n", "is a special token"),
    ],
)
def test_damaged_tables_are_refused(rows: str, told: str, zoo: Zoo, tmp_path: Path) -> None:
    label, tokenizer = load_tokenizer(zoo("gpt2"))
    piece = next(p for p in sorted(tokenizer.hf.get_vocab()) if p.isalpha() and p.isascii())
    token = tokenizer.hf.get_vocab()[piece]
    (tmp_path / "u.tsv").write_text(rows.format(t=token, p=piece, s=tokenizer.hf.eos_token_id), "utf-8")
    with pytest.raises(DataError, match=told):
        read_unigrams(tmp_path / "u.tsv", tokenizer, label)


def test_what_does_not_fit_together_is_refused(zoo: Zoo, text: Path, tmp_path: Path, penchant: Penchant) -> None:
    (tmp_path / "s.txt").write_text(SENTENCES[0], "utf-8")
    assert penchant("corpus", "unigrams", "a.txt", "-m", zoo("gpt2"), "-o", "u.parquet")[0] == 0
    asked = ("score", "-m", zoo("gpt2"), "s.txt")
    refused(penchant(*asked, "--normalise", "slor"), "needs token frequencies")
    refused(penchant(*asked, "--unigrams", "u.parquet"), "unigrams are used only by the normalisation slor")
    answer = penchant(*asked, "--normalise", "slor", "--unigrams", "u.parquet", "--on", "ray")
    refused(answer, "cannot be used with --on")
    # A file of something else is not replaced, nor a text that is read.
    refused(penchant("corpus", "unigrams", "a.txt", "-m", zoo("gpt2"), "-o", "s.txt"), "is not a table of unigrams")
    refused(penchant("corpus", "unigrams", "a.txt", "-m", zoo("gpt2"), "-o", "a.txt"), "one of the input files")
    (tmp_path / "blank.txt").write_text("\n\n", "utf-8")
    refused(penchant("corpus", "unigrams", "blank.txt", "-m", zoo("gpt2"), "-o", "v.parquet"), "no token")
    assert not (tmp_path / "v.parquet").exists()


def test_slor_of_pairs(zoo: Zoo, text: Path, tmp_path: Path, penchant: Penchant) -> None:
    for kind in ("gpt2", "bert"):
        assert penchant("corpus", "unigrams", "a.txt", "-m", zoo(kind), "-o", f"{kind}.parquet")[0] == 0
    pairs = [("The dog saw the old teacher.", "The dog saw."), ("The keys are old.", "The keys is old.")]
    files = [str(tmp_path / f"{kind}.parquet") for kind in ("gpt2", "bert")]
    probe = MinimalPairs(data=pairs, unigrams=files)
    for kind in ("gpt2", "bert"):
        result = probe.run(zoo(kind))
        assert result.signature["normalise"] == "none,mean,pen,slor"
        assert result.signature["unigrams"].startswith(f"{kind}#")
        assert any("not occur in the unigram counts" in caution for caution in result.cautions)
        counts, items = counted(zoo(kind), LINES), result.items
        gaps = []
        for role in ("good", "bad"):
            u = np.array([math.fsum(logprob(zoo(kind), s, counts)) for s in items[role]])
            assert items[f"unigrams_{role}"].to_numpy() == pytest.approx(u, abs=1e-9)
            gaps.append((items[f"score_{role}"].to_numpy() - u) / items[f"n_tokens_{role}"].to_numpy())
        accuracy = result.summary.filter(normalise="slor", measure="accuracy", scope="overall", split="all")
        assert accuracy["value"].item() == np.mean(gaps[0] > gaps[1])
    with pytest.raises(DataError, match="counted with the tokenizer"):
        MinimalPairs(data=pairs, unigrams=files[0]).run(zoo("llama"))
    with pytest.raises(MethodError, match="unigrams are used only by"):
        MinimalPairs(data=pairs, unigrams=files, normalise="mean").run(zoo("gpt2"))
    with pytest.raises(MethodError, match="needs token frequencies"):
        MinimalPairs(data=pairs, normalise=["none", "slor"]).run(zoo("gpt2"))

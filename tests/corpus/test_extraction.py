"""Extraction finds the same as one regular expression a word, and counts, samples and keeps it."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

import brute_extraction as brute
import builders
from paths import SHARED, bundled
from penchant.corpus import block_reader, extraction
from penchant.corpus.block_search import Extraction
from penchant.corpus.block_search import extraction as of_stimuli
from penchant.corpus.extraction import extract
from penchant.corpus.occurrence_columns import SCHEMA
from penchant.corpus.occurrence_lookup import counts, find, notes, read_record, short
from penchant.corpus.occurrences import read_occurrences
from penchant.corpus.stimulus_sets import read_stimuli
from penchant.corpus.text_files import find_texts
from penchant.errors import DataError, MethodError, OutputError
from penchant.files import replacing

for package in ("ahocorasick_rs", "sentencex", "fsspec", "rensa"):
    pytest.importorskip(package, reason=f"no package {package}")

BANGLA = SHARED / "bangla"
TEXT = BANGLA / "porjotonlipi.bn"
needs_bangla = pytest.mark.skipif(not BANGLA.is_dir(), reason=f"no data set in {BANGLA}; see tests/paths.py")

ROSE = {"rose": ["rose", "roses"]}
Row = tuple[str, str, str, int, int, str, int, str]
Content = str | bytes


def write(folder: Path, files: Mapping[str, Content]) -> list[Path]:
    return [builders.write(folder / name, content) for name, content in files.items()]


def told(out: Path) -> tuple[list[Row], dict[str, Any]]:
    """The rows of a table, in NFC as the reference has them, and the record in it."""
    table = pl.read_parquet(out)
    assert dict(table.schema) == dict(SCHEMA)
    return [in_nfc(row) for row in table.rows()], read_record(out)


def in_nfc(row: Row) -> Row:
    id_, word, text, start, end, matched, words, source = row
    assert text[start:end] == matched
    parts = [brute.nfc(part) for part in (text[:start], matched, text[end:])]
    assert "".join(parts) == brute.nfc(text)  # no letter is cut off its marks
    first = len(parts[0])
    return id_, word, brute.nfc(text), first, first + len(parts[1]), parts[1], words, source


def run(
    folder: Path, content: Content | Mapping[str, Content], forms: brute.Forms = ROSE, *, workers: int = 1, **how: Any
) -> tuple[list[Row], dict[str, Any]]:
    """The table made of a text, or of several."""
    files = {"a.txt": content} if isinstance(content, str | bytes) else content
    out = folder / "out.parquet"
    record = extract(Extraction(forms, **how), find_texts(write(folder, files)), out, workers=workers)
    rows, written = told(out)
    assert written == json.loads(json.dumps(record))
    assert {path.name for path in folder.iterdir()} >= {"out.parquet"}
    assert not [path for path in folder.iterdir() if "partial" in path.name or path.name.endswith(".tmp")]
    return rows, record


def segmented(language: str, line: str) -> list[str]:
    from sentencex import segment

    pieces: list[str] = segment(language, line)
    return pieces


# Against one regular expression a word ----------------------------------------------------------------------------


def bangla_forms() -> dict[str, list[str]]:
    """Every word of the two files with and without its suffixes."""
    forms: dict[str, list[str]] = {}
    for name in ("weatWordsWithSuffix", "traitWordsWithSuffix"):
        given_suffixes = json.loads((BANGLA / f"{name}.jsonl").read_text("utf-8"))
        for root, suffixes in given_suffixes.items():
            own = [brute.nfc(root.strip() + suffix.strip()) for suffix in ("", *suffixes)]
            forms.setdefault(brute.nfc(root.strip()), []).extend(own)
    return forms


@needs_bangla
@pytest.mark.parametrize("layout", ["sentences", "paragraphs"])
def test_bangla_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    monkeypatch.setattr(block_reader, "BLOCK", 50_000)
    forms = bangla_forms()
    raw = TEXT.read_bytes()
    lines = brute.text_lines(raw)
    split = None if layout == "sentences" else lambda line: segmented("bn", line)
    expected = brute.search({"porjotonlipi.bn": lines}, forms, split=split)
    assert len(expected.occurrences) > 500 and len({own.word for own in expected.occurrences}) > 50
    wanted = Extraction(forms, language="bn", layout=layout, duplicates="keep", per_word=10**9)  # type: ignore[arg-type]
    record = extract(wanted, find_texts([TEXT]), tmp_path / "out.parquet")
    rows, _ = told(tmp_path / "out.parquet")
    assert len(rows) == len(set(rows)) and set(rows) == {own.row() for own in expected.occurrences}
    tally = record["tally"]
    assert {(w, f, s): n for w, f, s, n in tally["forms"]} == expected.counts()
    assert tally["sentences"] == expected.sentences
    assert (tally["records"], tally["skipped"], tally["too_long"]) == (raw.count(b"\n"), 0, 0)
    # Whatever the sentences, the lines hold the same forms.
    whole = brute.search({"porjotonlipi.bn": lines}, forms)
    assert Counter((row[0].split(":")[1], row[1], row[5]) for row in rows) == Counter(
        (own.id.split(":")[1], own.word, own.matched) for own in whole.occurrences
    )
    for row in rows:
        assert row[2][row[3] : row[4]] == row[5] and row[5] in forms[row[1]]


@needs_bangla
@pytest.mark.parametrize("layout", ["sentences", "paragraphs"])
def test_sentences_are_kept_as_the_text_writes_them(tmp_path: Path, layout: str) -> None:
    wanted = Extraction(bangla_forms(), language="bn", layout=layout, per_word=10**9)  # type: ignore[arg-type]
    extract(wanted, find_texts([TEXT]), tmp_path / "out.parquet")
    table = pl.read_parquet(tmp_path / "out.parquet")
    lines = TEXT.read_text("utf-8").split("\n")
    assert all(text in lines[int(id_.split(":")[1]) - 1] for id_, text in table.select("id", "text").iter_rows())
    written = "".join(table["text"])
    assert sum(map(written.count, "\u09dc\u09dd\u09df")) > 500  # the letters that NFC takes apart
    assert "\u09bc" not in written
    forms = {word: list(forms) for word, forms in wanted.forms.items()}
    again = read_occurrences(tmp_path / "out.parquet", forms)
    assert again.sort(again.columns).equals(table.sort(again.columns))


@needs_bangla
def test_bundled_stimuli(tmp_path: Path) -> None:
    stimuli = read_stimuli(bundled("associations-bn"))
    wanted = of_stimuli(stimuli, layout="sentences", duplicates="keep", per_word=10**9)
    assert wanted.language == "bn" and len(wanted.forms) > 100
    assert all(own == brute.nfc(own) for forms in wanted.forms.values() for own in forms)
    extract(wanted, find_texts([TEXT]), tmp_path / "out.parquet")
    expected = brute.search({"porjotonlipi.bn": brute.text_lines(TEXT.read_bytes())}, wanted.forms)
    assert sorted(told(tmp_path / "out.parquet")[0]) == sorted(own.row() for own in expected.occurrences)


FORMS = {
    "rose": ["rose", "roses", "rose bush"],
    "Rose": ["Rose"],
    "city": ["New York", "New York City", "New"],
    "york": ["york", "york city"],
    "নদী": ["নদী", "নদীর", "নদীতে"],
    "দী": ["দী", "নদী"],
    "বয়": ["ব\u09df", "ব\u09dfে"],
    "ab": ["a-b", "b"],
}
PARTS = ["rose", "Rose", "roses", "ROSE", "bush", "New", "York", "City", "york", "city", "নদী", "নদীর", "নদীতে", "দী"]
PARTS += ["ি", "ব\u09df", "ব\u09af\u09bc", "\u09c7", "a-b", "a", "b", "-", "—", "।", "॥", "“", "”", "(", ")", "1", "২"]
PARTS += ["\u200d", "\u200c", "\u0301", "\t", "\u00a0", "\r", ". ", "? ", "e.g.", "Dr. "] + [" "] * 12
RECORD = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)
SEGMENTS: dict[tuple[int | str, ...], list[brute.Segment]] = {
    ("all",): [("all", 1, None)],
    (3, ">3"): [("1–3", 1, 3), (">3", 4, None)],
    (1, 2, 5): [("1", 1, 1), ("2", 2, 2), ("3–5", 3, 5)],
}
KINDS = ["a.txt", "b.bn.gz", "c.jsonl", "d.parquet"]


def stored(name: str, records: Sequence[str], folder: Path, *, wrapped: bool) -> brute.Lines:
    """Write records as the kind of file that the name tells; the lines that they are."""
    if name.endswith(".parquet"):
        pl.DataFrame({"text": records}, schema={"text": pl.String}).write_parquet(folder / name)
        return brute.rows(records, wrapped=wrapped)
    if name.endswith(".jsonl"):
        data = "".join(json.dumps({"text": record}) + "\n" for record in records).encode()
        (folder / name).write_bytes(data)
        return brute.json_lines(data, wrapped=wrapped)
    data = "\n".join(records).encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return brute.text_lines(data, wrapped=wrapped)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(KINDS), st.lists(RECORD | st.just("a\n\nrose\nb"), max_size=8), min_size=1),
    st.sampled_from(["paragraphs", "sentences", "wrapped"]),
    st.sampled_from(list(SEGMENTS)),
    st.sampled_from(["exact", "keep"]),
    st.sampled_from([1, 2, 100]),
    st.integers(0, 3),
    st.integers(20, 200),
)
def test_the_whole_table(
    tmp_path: Path,
    files: dict[str, list[str]],
    layout: str,
    segments: tuple[int | str, ...],
    duplicates: str,
    per_word: int,
    seed: int,
    size: int,
) -> None:
    """Every row in its order, every count, from files of all kinds cut into small blocks, with stops in between."""
    lines = {name: stored(name, own, tmp_path, wrapped=layout == "wrapped") for name, own in files.items()}
    how: dict[str, Any] = {"layout": layout, "segments": segments, "duplicates": duplicates, "language": "en"}
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (block_reader, "BLOCK", size),
            (block_reader, "_PACKED", size),
            (block_reader, "_ROWS", 2),
            (extraction, "EVERY", 3 * size),
            (extraction, "_ROWS", 2),
        ):
            patch.setattr(module, name, value)
        wanted = Extraction(FORMS, per_word=per_word, seed=seed, **how)
        record = extract(wanted, find_texts([tmp_path / name for name in files]), tmp_path / "out.parquet")
    rows, again = told(tmp_path / "out.parquet")
    split = None if layout == "sentences" else lambda line: segmented("en", line)
    # The only file is known by its name, several by their names below the directory of all: the same here.
    expected = brute.search(lines, FORMS, split=split, segments=SEGMENTS[segments])
    keep = duplicates == "keep"
    sample = brute.sample(expected, FORMS, per_word=per_word, seed=seed, keep=keep, segments=SEGMENTS[segments])
    assert rows == [own.row() for own in sample]
    assert {(w, f, s): n for w, f, s, n in record["tally"]["forms"]} == expected.counts()
    assert record["tally"]["sentences"] == expected.sentences
    assert record["tally"]["too_long"] == expected.too_long
    assert record["tally"]["records"] == sum(own.records for own in lines.values())
    assert record["tally"]["skipped"] == 0
    everything = brute.sample(expected, FORMS, per_word=10**9, seed=seed, keep=keep, segments=SEGMENTS[segments])
    distinct = Counter((own.word, own.segment) for own in everything)
    kept = Counter((own.word, own.segment) for own in sample)
    occurrences = Counter((own.word, own.segment) for own in expected.occurrences)
    cells = [(word, name) for word in FORMS for name, _, _ in SEGMENTS[segments]]
    assert [(own["word"], own["segment"]) for own in record["cells"]] == cells
    for cell, own in zip(cells, record["cells"], strict=True):
        assert (own["occurrences"], own["kept"], own["near"]) == (occurrences[cell], kept[cell], 0)
        assert (own["distinct"], own["exact"]) == (distinct[cell], True)  # fewer than are always held ready
    assert json.loads(json.dumps(record)) == again


# Cases ------------------------------------------------------------------------------------------------------------


def test_stimuli_of_one_and_two_characters(tmp_path: Path) -> None:
    lists = {"x": ["আ\u09df", "আ\u09a1\u09bc"], "y": ["ক"], "a": ["খ"], "b": ["গ"]}
    suffixes = {"groups": {"1": ["ে\u09df"]}, "lists": {"x": "1"}}
    set_file = builders.write(tmp_path / "set.yaml", {**stimulus_set(lists), "suffixes": suffixes, "language": "bn"})
    wanted = of_stimuli(read_stimuli(set_file), duplicates="keep", layout="sentences")
    for letter in ("\u09df", "\u09af\u09bc"):
        for other in ("\u09dc", "\u09a1\u09bc"):
            files = write(tmp_path, {"a.txt": f"আ{letter} আ{other}ে{letter}\n"})
            extract(wanted, find_texts(files), tmp_path / "out.parquet")
            rows, _ = told(tmp_path / "out.parquet")
            assert [(row[1], row[5]) for row in rows] == [
                ("আ\u09af\u09bc", "আ\u09af\u09bc"),
                ("আ\u09a1\u09bc", "আ\u09a1\u09bcে\u09af\u09bc"),
            ]


def stimulus_set(lists: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The keys of a set with one category of the lists x, y, a and b."""
    category = {"X": "x", "Y": "y", "A": "a", "B": "b"}
    return {"lists": {name: {"words": words} for name, words in lists.items()}, "categories": {"one": category}}


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n", " \n"])
def test_ends_of_lines_and_files(tmp_path: Path, end: str) -> None:
    stop = "\r\n" if end == "\r\n" else "\n"
    text = f"নদী{stop}a নদী{stop}নদী b{stop}{stop}নদী{end}"
    rows, _ = run(tmp_path, text, {"নদী": ["নদী"]}, duplicates="keep", layout="sentences")
    assert sorted(row[:6] for row in rows) == [
        ("a.txt:1", "নদী", "নদী", 0, 3, "নদী"),
        ("a.txt:2", "নদী", "a নদী", 2, 5, "নদী"),
        ("a.txt:3", "নদী", "নদী b", 0, 3, "নদী"),
        ("a.txt:5", "নদী", "নদী", 0, 3, "নদী"),
    ]


def test_the_first_word_of_a_sentence_may_have_a_capital(tmp_path: Path) -> None:
    text = "Roses are red. Roses and Roses are blue? “Rose,” said rose. ROSE rose"
    rows, _ = run(tmp_path, text, duplicates="keep", language="en")
    assert sorted((row[0], row[3], row[5]) for row in rows) == [
        ("a.txt:1:1", 0, "Roses"),
        ("a.txt:1:2", 0, "Roses"),
        ("a.txt:1:3", 1, "Rose"),
        ("a.txt:1:3", 13, "rose"),
        ("a.txt:1:4", 5, "rose"),
    ]
    rows, _ = run(tmp_path, text, duplicates="keep", layout="sentences")  # one sentence
    assert sorted((row[0], row[3]) for row in rows) == [("a.txt:1", at) for at in (0, 54, 65)]


def test_sentences_of_a_paragraph(tmp_path: Path) -> None:
    text = "নদী একটি। দুটি নদী? ড. রায় নদী দেখেন!\n\n  নদী।নদী  "
    rows, _ = run(tmp_path, text, {"নদী": ["নদী"]}, duplicates="keep", language="bn")
    assert sorted(row[:3] for row in rows)[:2] == [
        ("a.txt:1:1", "নদী", "নদী একটি।"),
        ("a.txt:1:2", "নদী", "দুটি নদী?"),
    ]
    assert len(rows) == 5 and all(row[2] == row[2].strip() for row in rows)


def test_a_form_does_not_run_over_the_end_of_a_sentence(tmp_path: Path) -> None:
    forms = {"over": ["rose. New", "one. A rose"], "rose": ["rose"]}
    text = "A rose. New one. A rose."
    rows, _ = run(tmp_path, text, forms, duplicates="keep", language="en")
    assert sorted(row[:4] for row in rows) == [("a.txt:1:1", "rose", "A rose.", 2), ("a.txt:1:3", "rose", "A rose.", 2)]
    rows, _ = run(tmp_path, text, forms, duplicates="keep", layout="sentences")
    assert sorted(row[1:4:2] for row in rows) == [("over", 2), ("over", 12), ("rose", 2), ("rose", 19)]


def test_a_paragraph_over_several_lines(tmp_path: Path) -> None:
    text = "\nA rose is\na rose. New\n  York\n\nroses\r\n\r\nand a\nrose"
    forms = ROSE | {"New York": ["New York"]}
    rows, _ = run(tmp_path, text, forms, duplicates="keep", layout="wrapped", language="en")
    assert sorted(row[:6] for row in rows) == [
        ("a.txt:2:1", "rose", "A rose is a rose.", 2, 6, "rose"),
        ("a.txt:2:1", "rose", "A rose is a rose.", 12, 16, "rose"),
        ("a.txt:2:2", "New York", "New York", 0, 8, "New York"),
        ("a.txt:6:1", "rose", "roses", 0, 5, "roses"),
        ("a.txt:8:1", "rose", "and a rose", 6, 10, "rose"),
    ]


def test_names_of_sentences_in_records_of_several_lines(tmp_path: Path) -> None:
    files = {"x/a.jsonl": json.dumps({"text": "rose\nno\nroses\n\nred rose"}) + "\n" + json.dumps({"text": "a rose"})}
    files["b.txt"] = "rose"
    rows, _ = run(tmp_path, files, duplicates="keep", layout="sentences")
    assert sorted((row[0], row[7]) for row in rows) == [
        ("b.txt:1", "b.txt"),
        ("x/a.jsonl:1", "x/a.jsonl"),
        ("x/a.jsonl:1.3", "x/a.jsonl"),
        ("x/a.jsonl:1.5", "x/a.jsonl"),
        ("x/a.jsonl:2", "x/a.jsonl"),
    ]
    rows, _ = run(tmp_path, files, duplicates="keep", layout="wrapped")
    assert sorted((row[0], row[2]) for row in rows if row[7] != "b.txt")[:3] == [
        ("x/a.jsonl:1.2:1", "red rose"),
        ("x/a.jsonl:1:1", "rose no roses"),
        ("x/a.jsonl:1:1", "rose no roses"),
    ]


# Samples ----------------------------------------------------------------------------------------------------------


def corpus(n: int = 300, seed: int = 0) -> dict[str, str]:
    """Three files with sentences of some words, of which some stand in several."""
    rng = random.Random(seed)
    words = ["the", "a", "of", "river", "town", "sea", "old", "new", "runs", "past", "stands", "and", "so", "on"]
    words += ["rose", "roses", "tulip", "tulips", "নদী", "নদীর"]
    sentences = [" ".join(rng.choices(words, k=rng.randrange(2, 14))) + "." for _ in range(n)]
    sentences += rng.choices(sentences, k=n // 4)
    rng.shuffle(sentences)
    return {f"{name}.txt": "\n".join(sentences[at::3]) + "\n" for at, name in enumerate("abc")}


FLOWERS = {"rose": ["rose", "roses"], "tulip": ["tulip", "tulips"], "নদী": ["নদী", "নদীর"]}
HOW: dict[str, Any] = {
    "segments": (5, 9, ">9"),
    "per_word": 15,
    "duplicates": "exact",
    "layout": "sentences",
    "seed": 3,
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks, and many times that what was found is written down."""
    monkeypatch.setattr(block_reader, "BLOCK", 700)
    monkeypatch.setattr(extraction, "EVERY", 2_000)


def test_a_sample_is_that_of_the_smallest_priorities(tmp_path: Path, small: None) -> None:
    files = corpus()
    rows, record = run(tmp_path, files, FLOWERS, **HOW)
    bins: list[brute.Segment] = [("1–5", 1, 5), ("6–9", 6, 9), (">9", 10, None)]
    lines = {name: brute.text_lines(text.encode()) for name, text in files.items()}
    expected = brute.search(lines, FLOWERS, segments=bins)
    assert rows == [own.row() for own in brute.sample(expected, FLOWERS, per_word=15, seed=3, segments=bins)]
    assert len(rows) == 3 * 3 * 15
    assert [own["kept"] for own in record["cells"]] == [15] * 9
    assert sum(own["occurrences"] for own in record["cells"]) == len(expected.occurrences)


def test_the_first_n_are_a_sample_themselves(tmp_path: Path) -> None:
    files = corpus()
    many, _ = run(tmp_path, files, FLOWERS, **HOW)
    few, _ = run(tmp_path, files, FLOWERS, **(HOW | {"per_word": 4}))
    assert few == [row for at, row in enumerate(many) if at % 15 < 4]


def test_every_sentence_is_drawn_as_often_as_any_other(tmp_path: Path) -> None:
    """χ² over 30 sentences of which 10 are drawn 90 times; not put back, such counts vary less by (n − k)/(n − 1)."""
    text = "".join(f"the rose of {chr(97 + i % 26)}{i // 26} {'word ' * i}\n" for i in range(30))
    files = find_texts(write(tmp_path, {"a.txt": text + text}))
    drawn: Counter[str] = Counter()
    for seed in range(90):
        wanted = Extraction(ROSE, per_word=10, seed=seed, duplicates="exact", layout="sentences")
        extract(wanted, files, tmp_path / "out.parquet")
        ids = pl.read_parquet(tmp_path / "out.parquet", columns=["id"])["id"].to_list()
        assert len(set(ids)) == 10
        drawn.update(ids)
    assert len(drawn) == 30
    squares = sum((n - 30) ** 2 / 30 for n in drawn.values()) * 29 / 20
    assert 0.001 < stats.chi2(29).sf(squares) < 0.999


@pytest.mark.parametrize("duplicates", ["exact", "near"])
def test_the_order_of_the_files_changes_nothing_that_is_drawn(tmp_path: Path, small: None, duplicates: str) -> None:
    files = corpus()
    how = HOW | {"duplicates": duplicates}
    one, first = run(tmp_path, files, FLOWERS, **how)
    other, second = run(tmp_path, dict(reversed(files.items())), FLOWERS, **how)
    if duplicates == "exact":
        assert [row[1:7] for row in one] == [row[1:7] for row in other]
    assert first["tally"] == second["tally"]
    same = ("occurrences", "distinct", "exact") + (("kept", "near") if duplicates == "exact" else ())
    assert [[own[key] for key in same] for own in first["cells"]] == [
        [own[key] for key in same] for own in second["cells"]
    ]
    assert [own["name"] for own in second["texts"]] == ["c.txt", "b.txt", "a.txt"]


def test_the_number_of_processes_changes_nothing(tmp_path: Path, small: None) -> None:
    files = find_texts(write(tmp_path, corpus(600)))
    wanted = Extraction(FLOWERS, **(HOW | {"duplicates": "near", "layout": "paragraphs"}))
    tables = []
    for workers in (1, 2, 3):
        out = tmp_path / f"{workers}.parquet"
        extract(wanted, files, out, workers=workers)
        tables.append(out.read_bytes())
        assert pl.read_parquet(out).height > 100
    assert tables[0] == tables[1] == tables[2]


def test_other_processes_do_not_run_the_main_module(tmp_path: Path) -> None:
    """A script needs no guard, and the command line is not imported once more by each process."""
    write(tmp_path, {"a.txt": "a rose\n", "b.txt": "no rose\n"})
    script = tmp_path / "script.py"
    script.write_text(
        """
print("begun")
from penchant.corpus.extraction import extract
from penchant.corpus.block_search import Extraction
from penchant.corpus.text_files import find_texts

record = extract(Extraction({"rose": ["rose"]}), find_texts(["a.txt", "b.txt"]), "out.parquet", workers=2)
print(record["cells"][0]["occurrences"])
"""
    )
    run = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.split()) == (0, ["begun", "2"]), run.stderr


def test_workers_import_little_and_build_nothing() -> None:
    """The models of pydantic take as long to make as a worker takes for megabytes of text."""
    code = "import sys, penchant.corpus.near_duplicates; from penchant.corpus import nfc; "
    code += "print({'pydantic', 'typer', 'rensa'} & {*sys.modules}, nfc._tables.cache_info().currsize)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set() 0\n"


def test_errors_of_other_processes_arrive(tmp_path: Path) -> None:
    files = find_texts(write(tmp_path, {"a.txt": "a rose\n"}))
    for workers in (1, 2):
        with pytest.raises(DataError, match="the form '—' of 'dash' contains no letter or digit"):
            extract(Extraction({"dash": ["—"]}), files, tmp_path / "out.parquet", workers=workers)


def test_a_table_of_many_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = corpus()
    whole, record = run(tmp_path, files, FLOWERS, **HOW)
    for rows in (1, 20, 46):
        monkeypatch.setattr(extraction, "_ROWS", rows)
        assert run(tmp_path, files, FLOWERS, **HOW) == (whole, record)


# Equal and nearly equal -------------------------------------------------------------------------------------------


def test_equal_sentences(tmp_path: Path) -> None:
    files = {"b.txt": "no\na rose \n a  rose\nA rose\n", "a.txt": "a \u00a0 rose\na\trose\nthe rose\n"}
    how: dict[str, Any] = {"layout": "sentences"}
    rows, record = run(tmp_path, files, **how, duplicates="keep")
    assert len(rows) == 6 and record["cells"][0] == cell(occurrences=6, kept=6, distinct=6)
    rows, record = run(tmp_path, files, **how, duplicates="exact")
    assert sorted(row[0] for row in rows) == ["a.txt:3", "b.txt:2", "b.txt:4"]  # the first of the corpus
    assert record["cells"][0] == cell(occurrences=6, kept=3, distinct=3)
    assert {row[0]: row[2:5] for row in rows}["b.txt:2"] == ("a rose", 2, 6)
    rows, record = run(tmp_path, dict(reversed(files.items())), **how, duplicates="exact")
    assert sorted(row[0] for row in rows) == ["a.txt:1", "a.txt:3", "b.txt:4"]
    assert {row[0]: row[2:5] for row in rows}["a.txt:1"] == ("a \u00a0 rose", 4, 8)


def cell(**numbers: int) -> dict[str, Any]:
    return {"word": "rose", "segment": "all", "near": 0, "exact": True} | numbers


def test_the_first_of_equal_sentences_in_any_number_of_blocks(tmp_path: Path, small: None) -> None:
    text = "".join(f"the rose number {i % 50} stands in the garden{' of the town' * (i % 3)}\n" for i in range(600))
    rows, _ = run(tmp_path, text, layout="sentences", duplicates="exact", per_word=20)
    assert len(rows) == 20
    for row in rows:
        assert text.split("\n").index(row[2]) + 1 == int(row[0].split(":")[1])


LONG = "the old rose in the garden of the castle above the river was planted in the year {} by a gardener of the king"


def test_nearly_equal_sentences(tmp_path: Path) -> None:
    other = ["a rose is red", "nobody gave me a rose before", "my rose died", "tea with a rose and honey at five"]
    text = "\n".join([LONG.format(1800 + i) for i in range(20)] + other + ["A rose, is red!"])
    rows, record = run(tmp_path, text, layout="sentences")
    assert sorted(row[2] for row in rows) == sorted([LONG.format(1800), *other])
    # Sentences that are equal but for numbers, case and punctuation are one from the beginning.
    assert record["cells"][0] == cell(occurrences=25, kept=5, distinct=5)
    text = "\n".join([LONG.format(f"of the {tree}") for tree in ("oak", "elm", "ash", "yew", "fir", "box")] + other)
    rows, record = run(tmp_path, text, layout="sentences")
    assert len([row for row in rows if "castle" in row[2]]) == 1 and len(rows) == 5
    assert record["cells"][0] == cell(occurrences=10, kept=5, distinct=10, near=5)
    # Which of them is kept: the one with the smallest priority.
    rows, _ = run(tmp_path, text, layout="sentences", duplicates="exact")
    assert len(rows) == 10
    rows, record = run(tmp_path, text, layout="sentences", per_word=2)
    assert len(rows) == 2 and record["cells"][0]["kept"] == 2


def folded(text: str) -> str:
    """Words and numbers of ASCII text by single spaces, without case; numbers in a row are one 0."""
    parts = ["0" if part.isdigit() else part for part in re.findall("[a-z]+|[0-9]+", text.lower())]
    return " ".join(part for at, part in enumerate(parts) if part != "0" or parts[at - 1 : at] != ["0"])


def similarity(one: str, other: str) -> float:
    """Jaccard's, of runs of five characters."""
    sets = [{text[at : at + 5] for at in range(max(len(text) - 4, 1))} for text in (one, other)]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


@pytest.mark.parametrize(("per_word", "seed"), [(5, 0), (60, 1), (1_000, 2)])
def test_nearly_equal_sentences_slowly(tmp_path: Path, small: None, per_word: int, seed: int) -> None:
    """Each sentence of the sample against all kept before it, by the smallest priorities of what they are folded to."""
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choices("bcdfghklmnprstw", k=rng.randrange(2, 9))) for _ in range(300)]
    lines = []
    for _ in range(70):
        words = rng.choices(vocabulary, k=rng.randrange(18, 24))
        for inner in ("rose", str(rng.randrange(99))):
            words.insert(rng.randrange(2, 16), inner)
        line = " ".join(words)
        lines += [line, line.upper().replace("ROSE", "rose") + "!", line.replace(" ", ", "), f"{line} {seed}"]
        lines += [line + "x", "a" + line]  # nearly equal
    rng.shuffle(lines)
    numbers = {text: at for at, text in reversed(list(enumerate(lines, 1)))}
    ready: dict[int, str] = {}
    for text in lines:
        ready.setdefault(brute.priority(seed, "rose", "0", folded(text)), text)
    rows, record = run(tmp_path, "\n".join(lines), {"rose": ["rose"]}, layout="sentences", per_word=per_word, seed=seed)
    kept: list[str] = []
    near = 0
    for rank in sorted(ready)[: max(2 * per_word, 64)]:
        text = ready[rank]
        most = max((similarity(folded(text), folded(other)) for other in kept), default=0)
        assert not 0.75 < most < 0.85  # where the bands need not bring two together
        if len(kept) < per_word:
            near += most >= 0.8
            kept += [text] * (most < 0.8)
    assert [row[2] for row in rows] == kept
    assert [row[0] for row in rows] == [f"a.txt:{numbers[text]}" for text in kept]
    own = record["cells"][0]
    assert (own["kept"], own["near"], own["occurrences"]) == (len(kept), near, 420)
    assert len(kept) >= 0.8 * min(per_word, 70) and (near > 0 or per_word == 5)


def test_nearly_equal_sentences_of_two_lengths_count_once(tmp_path: Path) -> None:
    text = "\n".join([LONG.format("one"), LONG.format("one") + " too"])
    rows, record = run(tmp_path, text, layout="sentences", segments=(24, ">24"))
    assert len(rows) == 1 and [own["occurrences"] for own in record["cells"]] == [1, 1]
    assert sorted((own["kept"], own["near"]) for own in record["cells"]) == [(0, 1), (1, 0)]
    assert counts(record, "segment")["words"].to_list() == [own["kept"] for own in record["cells"]]


@pytest.mark.parametrize("duplicates", ["keep", "exact", "near"])
def test_a_word_twice_in_one_sentence(tmp_path: Path, duplicates: str) -> None:
    """Two occurrences, which are no duplicates of each other; of equal sentences they count once."""
    text = "a rose is a rose\n" * (1 if duplicates == "keep" else 3)
    rows, record = run(tmp_path, text, layout="sentences", duplicates=duplicates)
    assert sorted(row[:5] for row in rows) == [("a.txt:1", "rose", "a rose is a rose", at, at + 4) for at in (2, 12)]
    assert record["cells"][0]["near"] == 0 and record["cells"][0]["distinct"] == 2


def test_two_words_in_equal_sentences(tmp_path: Path) -> None:
    rows, _ = run(tmp_path, "rose and tulip\n" * 3, FLOWERS, layout="sentences", duplicates="near")
    assert sorted(row[:2] for row in rows) == [("a.txt:1", "rose"), ("a.txt:1", "tulip")]


# Caps and counts --------------------------------------------------------------------------------------------------


def test_a_sentence_without_end(tmp_path: Path) -> None:
    """Lists and tables of any length are left out and counted, at once."""
    most = "rose" + " rose" * 3_997 + " x"
    whole = most + "x" * (20_000 - len(most))
    text = f"{whole}\n{whole}x\n{'rose, ' * 300_000}\nরা {'নদী ' * 100_000}\n"
    rows, record = run(tmp_path, text, FLOWERS, duplicates="keep", layout="sentences", per_word=10**6)
    assert len(rows) == 3_998 == record["cells"][0]["occurrences"]
    assert (record["tally"]["sentences"], record["tally"]["too_long"]) == (4, 3)
    assert any("3 sentences with stimuli are left out" in note for note in notes(record))


def test_how_many_differ(tmp_path: Path) -> None:
    """Exactly while fewer than are held ready, later within some standard errors of the estimate."""
    text = "".join(f"a rose {i % 40}x\n" for i in range(120))
    _, record = run(tmp_path, text, layout="sentences", duplicates="exact", per_word=2)
    assert record["cells"][0] == cell(occurrences=120, kept=2, distinct=40)
    text = "".join(f"a rose {i % 3_000}x\n" for i in range(6_000))
    (own,) = run(tmp_path, text, layout="sentences", duplicates="exact", per_word=400)[1]["cells"]
    assert not own["exact"] and own["distinct"] == pytest.approx(3_000, rel=4 / 398**0.5)
    assert (own["occurrences"], own["kept"]) == (6_000, 400)


def test_words_that_fall_short(tmp_path: Path) -> None:
    text = "rose one\nrose two\nroses are three words long\ntulip one\n"
    _, record = run(tmp_path, text, FLOWERS, minimum=2, layout="sentences")
    assert short(record) == [("tulip", "all", 1), ("নদী", "all", 0)]
    assert len(list(notes(record))) == 1
    _, record = run(tmp_path, text, FLOWERS, minimum=2, layout="sentences", segments=(3, 9))
    assert short(record) == [
        ("rose", "4–9", 1),
        ("tulip", "1–3", 1),
        ("tulip", "4–9", 0),
        ("নদী", "1–3", 0),
        ("নদী", "4–9", 0),
    ]
    _, record = run(tmp_path, text, FLOWERS, minimum=0, layout="sentences")
    assert short(record) == [] == list(notes(record))


def test_counts_of_the_table(tmp_path: Path) -> None:
    text = "rose one\nrose two\nRoses are four words\ntulip one\na rose\nA rose!\nno rose but a tree\n"
    _, record = run(tmp_path, text, FLOWERS, minimum=2, layout="sentences", segments=(3, 9))
    by_word = counts(record, "word")
    columns = ["word", "occurrences", "distinct", "distinct_estimated", "near_duplicates", "kept", "short"]
    assert by_word.columns == columns
    assert by_word.rows() == [
        ("rose", 6, 5, False, 0, 5, ""),
        ("tulip", 1, 1, False, 0, 1, "1–3 (1), 4–9 (0)"),
        ("নদী", 0, 0, False, 0, 0, "1–3 (0), 4–9 (0)"),
    ]
    by_segment = counts(record, "segment").select("segment", "occurrences", "kept", "words", "short")
    assert by_segment.rows() == [("1–3", 5, 4, 2, 2), ("4–9", 2, 2, 1, 2)]
    by_form = counts(record, "form")
    assert by_form.columns == ["word", "form", "occurrences", "1–3", "4–9"]
    assert sorted(by_form.rows()) == sorted(
        [
            ("rose", "rose", 5, 4, 1),
            ("rose", "roses", 0, 0, 0),
            ("rose", "Roses", 1, 0, 1),
            ("tulip", "tulip", 1, 1, 0),
            ("tulip", "tulips", 0, 0, 0),
            ("নদী", "নদী", 0, 0, 0),
            ("নদী", "নদীর", 0, 0, 0),
        ]
    )
    _, record = run(tmp_path, text, FLOWERS, layout="sentences")
    assert counts(record, "form").columns == ["word", "form", "occurrences"]


def test_what_could_not_be_read_is_counted(tmp_path: Path) -> None:
    files: dict[str, Content] = {
        "a.txt": b"a rose\n\xff rose\nroses\n",
        "b.jsonl": '{"text": "rose"}\n{"txt": "rose"}\n\n{"text": "x"}\n',
    }
    rows, record = run(tmp_path, files, layout="sentences")
    assert sorted(row[0] for row in rows) == ["a.txt:1", "a.txt:3", "b.jsonl:1"]
    assert (record["tally"]["records"], record["tally"]["skipped"]) == (6, 2)  # a blank line is none
    assert len(list(notes(record))) == 1
    pl.DataFrame({"text": [None, "a rose"]}).write_parquet(tmp_path / "c.parquet")
    record = extract(Extraction(ROSE), find_texts([tmp_path / "c.parquet"]), tmp_path / "out.parquet")
    assert (record["tally"]["records"], record["tally"]["skipped"], record["cells"][0]["kept"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("name", "content", "message", "hint"),
    [
        ("a.txt", "a rose\n".encode("utf-16"), "is not UTF-8", "save it as UTF-8"),
        ("a.txt", b"\xff\na rose\n", "is not UTF-8", "save it as UTF-8"),
        ("a.jsonl", b'{"body": "a rose"}\n' * 3, "has no text field 'text'", "--field"),
        ("a.jsonl", b'{"body": "a rose"}\n\n', "has no text field 'text'", "--field"),
        ("a.jsonl", b'{"text": 3}\n', "has no text field 'text'", "--field"),
        ("a.jsonl", b"a rose\n", "has no text field 'text'", "--field"),
    ],
)
def test_a_beginning_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, message: str, hint: str) -> None:
    with pytest.raises(DataError) as caught:
        run(tmp_path, {name: content})
    assert caught.value.message.startswith(message) and hint in caught.value.hint
    assert (caught.value.file, caught.value.line) == (str(tmp_path / name), 1)
    assert not (tmp_path / "out.parquet").exists()


def test_the_record(tmp_path: Path) -> None:
    files: dict[str, Content] = {"a.txt": "a rose\n", "b/c.jsonl.gz": gzip.compress(b'{"body": "rose"}\n'), "d.txt": ""}
    _, record = run(tmp_path, files, ROSE, **HOW, field="body", language="en")
    for name, given_file in zip(files, record["texts"], strict=True):
        data = (tmp_path / name).read_bytes()
        assert given_file["name"] == name
        assert (given_file["size"], given_file["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    recipe = record["recipe"]
    assert recipe["forms"] == {"rose": ["rose", "roses"]}
    assert {key: recipe[key] for key in HOW} == HOW | {"segments": [5, 9, ">9"]}
    assert (recipe["field"], recipe["language"], recipe["minimum"]) == ("body", "en", 1)


def test_texts_at_urls(tmp_path: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe("/extracted/a.txt.gz", gzip.compress(b"a rose\n"))
    memory.pipe("/extracted/more/b.jsonl", b'{"text": "two roses"}')
    try:
        files = find_texts(["memory://extracted"])
        record = extract(Extraction(ROSE, layout="sentences"), files, tmp_path / "out.parquet")
    finally:
        memory.rm("/extracted", recursive=True)
    rows, _ = told(tmp_path / "out.parquet")
    assert sorted(row[:3] for row in rows) == [
        ("a.txt.gz:1", "rose", "a rose"),
        ("more/b.jsonl:1", "rose", "two roses"),
    ]
    assert record["texts"][1]["sha256"] == hashlib.sha256(b'{"text": "two roses"}').hexdigest()


@pytest.mark.parametrize("name", ["a[1]", "a*", "a?b", "k=v", "a b", "ü", "a\nb", "~", "a::b", "%41"])
def test_names_of_folders_and_files(tmp_path: Path, small: None, name: str) -> None:
    """They stand for themselves, wherever they come."""
    folder = tmp_path / name
    folder.mkdir()
    (tmp_path / "a1").mkdir()
    pl.DataFrame({"text": ["no rose"]}).write_parquet(tmp_path / "a1" / "a1.parquet")
    pl.DataFrame({"text": ["a rose"] * 30}).write_parquet(folder / f"{name}.parquet")
    (folder / f"{name}.txt").write_text("the rose\n" * 300)
    files = find_texts([folder / f"{name}.parquet", folder / f"{name}.txt"])
    out = folder / "out.parquet"
    wanted = Extraction(ROSE, layout="sentences", duplicates="exact")
    with pytest.raises(StopError):
        extract(wanted, files, out, progress=stop_after(5))
    assert partial(out)
    extract(wanted, files, out, resume=True)
    assert sorted(pl.read_parquet(out, glob=False)["id"].to_list()) == [f"{name}.parquet:1", f"{name}.txt:1"]
    assert find(out, "rose").height == read_occurrences(out, ROSE).height == 2


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/n\xff.txt"))
    path.write_text("a rose\n")
    record = extract(Extraction(ROSE), find_texts([path]), tmp_path / "out.parquet")
    (row,), _ = told(tmp_path / "out.parquet")
    assert row[2] == "a rose" and row[7].startswith("n") and row[7] == record["texts"][0]["name"]


# Stops ------------------------------------------------------------------------------------------------------------


class StopError(Exception):
    """A stop in the middle."""


def stop_after(calls: int) -> Callable[[float, float], None]:
    left = [calls]

    def progress(done: float, total: float) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise StopError

    return progress


def partial(out: Path) -> list[Path]:
    """The folders that a stop leaves."""
    return [path for path in out.parent.iterdir() if "partial" in path.name]


@pytest.mark.parametrize("duplicates", ["exact", "near"])
def test_a_run_that_is_taken_up(tmp_path: Path, small: None, duplicates: str) -> None:
    wanted = Extraction(FLOWERS, **(HOW | {"duplicates": duplicates}))
    files = find_texts(write(tmp_path, corpus()))
    calls: list[tuple[float, float]] = []
    extract(wanted, files, tmp_path / "whole.parquet", progress=lambda *told: calls.append(told))
    whole = (tmp_path / "whole.parquet").read_bytes()
    total = sum(file.size for file in files)
    assert sum(done for done, _ in calls) == total and {of for _, of in calls} == {total}
    assert len(calls) > 20
    out = tmp_path / "out.parquet"
    for stop in (1, 2, 7, len(calls) // 2, len(calls) - 1):
        with pytest.raises(StopError):
            extract(wanted, files, out, progress=stop_after(stop))
        assert not out.exists()
        written = len(list(partial(out)[0].glob("part-*.parquet"))) if partial(out) else 0
        assert written > 0 or stop < 7
        resumed: list[float] = []
        extract(wanted, files, out, resume=True, progress=lambda done, of, into=resumed: into.append(done))  # type: ignore[misc]
        assert out.read_bytes() == whole
        assert sum(resumed) == total
        if written:
            assert len(resumed) < len(calls)  # what was read is not read for sentences again
        assert partial(out) == []
        out.unlink()


def test_a_run_that_is_taken_up_many_times(tmp_path: Path, small: None) -> None:
    """Each time it comes a few blocks further; with several processes too."""
    wanted = Extraction(FLOWERS, **HOW)
    files = find_texts(write(tmp_path, corpus()))
    extract(wanted, files, tmp_path / "whole.parquet")
    out = tmp_path / "out.parquet"
    stops = 0
    while not out.exists():
        try:
            extract(wanted, files, out, resume=True, progress=stop_after(5))
        except StopError:
            stops += 1
    assert stops > 3 and out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    out.unlink()
    with pytest.raises(StopError):
        extract(wanted, files, out, workers=2, progress=stop_after(9))
    extract(wanted, files, out, resume=True)
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.parametrize("kind", ["gz", "jsonl", "parquet"])
def test_other_kinds_are_taken_up(tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(block_reader, "_PACKED", 100)
    monkeypatch.setattr(block_reader, "_ROWS", 20)
    for name, text in corpus().items():
        own = text.splitlines()
        if kind == "gz":
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        elif kind == "jsonl":
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"text": each}) + "\n" for each in own))
        else:
            pl.DataFrame({"text": own}).write_parquet(tmp_path / f"{name}.parquet")
    wanted = Extraction(FLOWERS, **HOW)
    files = find_texts([tmp_path / f"*.{kind}"])
    assert len(files) == 3
    whole, out = tmp_path / "whole.parquet", tmp_path / "out.parquet"
    extract(wanted, files, whole)
    for stop in (4, 9):
        with pytest.raises(StopError):
            extract(wanted, files, out, progress=stop_after(stop))
        assert partial(out)
        extract(wanted, files, out, resume=True)
        assert out.read_bytes() == whole.read_bytes()


@pytest.fixture
def stopped(tmp_path: Path, small: None) -> Path:
    """The table of a run that was stopped in the middle of flowers."""
    files = find_texts(write(tmp_path, corpus()))
    with pytest.raises(StopError):
        extract(Extraction(FLOWERS, **HOW), files, tmp_path / "out.parquet", progress=stop_after(9))
    return tmp_path / "out.parquet"


def test_what_an_earlier_run_left_is_not_written_over(stopped: Path) -> None:
    files = find_texts([stopped.parent / "*.txt"])
    before = sorted(path.name for path in partial(stopped)[0].iterdir())
    with pytest.raises(MethodError, match="--resume") as caught:
        extract(Extraction(FLOWERS, **HOW), files, stopped)
    assert caught.value.where == str(partial(stopped)[0])
    assert sorted(path.name for path in partial(stopped)[0].iterdir()) == before and not stopped.exists()
    # Another table is no concern of it.
    extract(Extraction(FLOWERS, **HOW), files, stopped.with_name("other.parquet"))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 4},
        {"per_word": 16},
        {"segments": (5, 9)},
        {"duplicates": "keep"},
        {"layout": "paragraphs"},
        {"field": "body"},
        {"language": "bn"},
        {"minimum": 3},
        {"forms": {**FLOWERS, "tulip": ["tulip"]}},
        {"forms": dict(reversed(FLOWERS.items()))},
    ],
)
def test_a_run_with_other_settings_is_not_taken_up(stopped: Path, change: dict[str, Any]) -> None:
    wanted = Extraction(**({"forms": FLOWERS} | HOW | change))
    with pytest.raises(MethodError, match="other texts or with other settings"):
        extract(wanted, find_texts([stopped.parent / "*.txt"]), stopped, resume=True)


def test_a_run_of_other_files_is_not_taken_up(stopped: Path) -> None:
    folder = stopped.parent
    for names in (["a.txt", "b.txt"], ["b.txt", "a.txt", "c.txt"]):
        with pytest.raises(MethodError, match="other texts or with other settings"):
            extract(Extraction(FLOWERS, **HOW), find_texts([folder / name for name in names]), stopped, resume=True)
    with (folder / "c.txt").open("a") as stream:
        stream.write("a rose")
    with pytest.raises(MethodError, match="other texts or with other settings"):
        extract(Extraction(FLOWERS, **HOW), find_texts([folder / "*.txt"]), stopped, resume=True)


def test_a_damaged_part(stopped: Path) -> None:
    part = max(partial(stopped)[0].glob("part-*.parquet"))
    for damaged in (part, partial(stopped)[0] / "state.json"):
        damaged.write_bytes(damaged.read_bytes()[:-7])
        with pytest.raises(DataError, match="cannot be read — delete the folder"):
            extract(Extraction(FLOWERS, **HOW), find_texts([stopped.parent / "*.txt"]), stopped, resume=True)


def test_there_is_nothing_to_take_up(tmp_path: Path) -> None:
    files = find_texts(write(tmp_path, {"a.txt": "a rose\n"}))
    extract(Extraction(ROSE), files, tmp_path / "out.parquet", resume=True)
    assert told(tmp_path / "out.parquet")[0][0][:2] == ("a.txt:1:1", "rose")


def test_a_full_disk(tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every file that is written: nothing half-written is left, and the run can be taken up."""
    wanted = Extraction(FLOWERS, **HOW)
    files = find_texts(write(tmp_path, corpus()))
    out = tmp_path / "out.parquet"
    extract(wanted, files, out)
    whole = out.read_bytes()
    extract(Extraction(ROSE), files, out)
    earlier = out.read_bytes()
    assert earlier != whole
    sync = os.fsync
    for failing in (0, 1, 5, 10**6):
        left = [failing]

        def full(file: int, left: list[int] = left) -> None:
            if left[0] <= 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            left[0] -= 1
            sync(file)

        out.write_bytes(earlier)
        monkeypatch.setattr(os, "fsync", full)
        if failing < 10**6:
            with pytest.raises(OutputError, match=r"No space left on device — free some space"):
                extract(wanted, files, out)
            assert out.read_bytes() == earlier
            assert list(tmp_path.rglob("*.tmp")) == []
            for path in tmp_path.rglob("part-*.parquet"):
                pl.read_parquet(path)
        monkeypatch.setattr(os, "fsync", sync)
        extract(wanted, files, out, resume=True)
        assert out.read_bytes() == whole


def test_a_stop_while_the_table_is_written(tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = Extraction(FLOWERS, **HOW)
    files = find_texts(write(tmp_path, corpus()))
    out = tmp_path / "out.parquet"
    extract(wanted, files, out)
    whole = out.read_bytes()
    out.unlink()

    @contextmanager
    def interrupted(path: Path) -> Iterator[IO[bytes]]:
        with replacing(path) as stream:
            yield stream
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("penchant.corpus.extraction.replacing", interrupted)
        with pytest.raises(KeyboardInterrupt):
            extract(wanted, files, out)
    assert not out.exists() and list(tmp_path.rglob("*.tmp")) == []
    calls: list[float] = []
    extract(wanted, files, out, resume=True, progress=lambda done, of: calls.append(done))
    assert out.read_bytes() == whole and len(calls) == 1  # nothing is read again


KILLED = """
import json, multiprocessing, os, signal, stat, sys
from penchant.corpus import extraction
from penchant.corpus import block_reader, text_files

if __name__ == "__main__":
    block_reader.BLOCK, extraction.EVERY = 700, 2_000
    left, sync = int(os.environ["SYNCS"]), os.fsync

    def fsync(file):
        global left
        left -= stat.S_ISREG(os.fstat(file).st_mode)  # not of folders
        if not left and stat.S_ISREG(os.fstat(file).st_mode):
            pids = [child.pid for child in multiprocessing.active_children()]
            print(json.dumps(pids), flush=True)
            if os.environ["SIGNAL"] == "SIGINT":
                os.killpg(0, signal.SIGINT)  # as a terminal does, to all
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        sync(file)

    os.fsync = fsync
    from penchant.cli import app as cli
    cli.main()
"""


@pytest.mark.parametrize(("workers", "syncs", "how"), [(1, 2, "SIGKILL"), (2, 5, "SIGKILL"), (2, 4, "SIGINT")])
def test_a_run_that_is_killed(tmp_path: Path, small: None, workers: int, syncs: int, how: str) -> None:
    """In the middle of writing something down, or interrupted there; what helped it ends with it."""
    write(tmp_path, corpus())
    (tmp_path / "killed.py").write_text(KILLED)
    content = {"category": "c", "examples": ["tulip", "tulips"]}
    seat = {"targ1": {"category": "d", "examples": ["rose"]}, "targ2": content, "attr1": content, "attr2": content}
    (tmp_path / "stimuli.json").write_text(json.dumps(seat))
    arguments = ["corpus", "extract", "a.txt", "b.txt", "c.txt", "--data", "stimuli.json", "-o", "out.parquet"]
    arguments += ["--per-word", "15", "--segments", "5,9,>9", "--language", "en"]

    def program(*more: str, syncs: int = 10**6) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "killed.py", *arguments, *more],
            cwd=tmp_path,
            env=os.environ | {"SYNCS": str(syncs), "SIGNAL": how},
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,
        )

    ended = program("--workers", str(workers), syncs=syncs)
    out = tmp_path / "out.parquet"
    if how == "SIGINT":
        assert (
            ended.returncode == 130 and "penchant: interrupted; finished work is kept: continue with " in ended.stderr
        )
    else:
        assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not out.exists() and partial(out)
    assert len(list(tmp_path.rglob("*.tmp"))) == (how == "SIGKILL")
    pids = json.loads(ended.stdout)
    assert 1 <= len(pids) <= 2 if workers > 1 else pids == []
    until = time.monotonic() + 20
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, pids))
    ended = program("--workers", "1", "--resume")
    assert ended.returncode == 0, ended.stderr
    assert partial(out) == [] == list(tmp_path.glob(".*"))
    wanted = of_stimuli(
        read_stimuli(tmp_path / "stimuli.json"), language="en", per_word=15, segments=(5, 9, ">9"), duplicates="near"
    )
    extract(wanted, find_texts([tmp_path / f"{name}.txt" for name in "abc"]), tmp_path / "whole.parquet")
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


BUSY = """
import os, signal, time
from penchant.corpus.process_pool import in_order

def work(seconds):
    time.sleep(seconds)
    return os.getpid()

if __name__ == "__main__":
    for pid in in_order(work, [0, 100, 100, 100, 100], 2):
        print(pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_busy_ends_with_its_parent(tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(BUSY)
    command = [sys.executable, str(tmp_path / "busy.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=40)  # which waits for whoever might write
    assert ended.returncode == -signal.SIGKILL and not alive(int(ended.stdout))


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_process_that_helps_is_killed(tmp_path: Path, small: None) -> None:
    files = find_texts(write(tmp_path, corpus()))
    out = tmp_path / "out.parquet"

    def progress(done: float, total: float) -> None:
        import multiprocessing

        for child in multiprocessing.active_children():
            child.kill()

    with pytest.raises(MethodError, match="ended unexpectedly"):
        extract(Extraction(FLOWERS, **HOW), files, out, workers=2, progress=progress)
    extract(Extraction(FLOWERS, **HOW), files, out, resume=True)
    extract(Extraction(FLOWERS, **HOW), files, tmp_path / "whole.parquet")
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_the_table_is_none_of_the_texts(tmp_path: Path) -> None:
    pl.DataFrame({"text": ["a rose"]}).write_parquet(tmp_path / "a.parquet")
    before = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "soft.parquet").symlink_to(tmp_path / "a.parquet")
    (tmp_path / "out" / "hard.parquet").hardlink_to(tmp_path / "a.parquet")
    for name in ("a.parquet", "out/../a.parquet", "out/soft.parquet", "out/hard.parquet"):
        with pytest.raises(OutputError, match="is one of the input files"):
            extract(Extraction(ROSE), find_texts([tmp_path / "a.parquet"]), tmp_path / name)
    assert (tmp_path / "a.parquet").read_bytes() == before
    for name in ("soft", "hard"):
        (tmp_path / "out" / f"{name}.parquet").unlink()
    # What a stop leaves in a directory of texts is no text.
    write(tmp_path, {"a.txt": "a rose\n" * 1000, "b.txt": "a rose\n"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "EVERY", 1)
        with pytest.raises(StopError):
            extract(Extraction(ROSE), find_texts([tmp_path]), tmp_path / "out.parquet", progress=stop_after(2))
    assert partial(tmp_path / "out.parquet")
    extract(Extraction(ROSE), find_texts([tmp_path]), tmp_path / "out.parquet", resume=True)


def test_what_cannot_be_written_is_told_before_anything_is_read(tmp_path: Path) -> None:
    files = find_texts(write(tmp_path, {"a.txt": "a rose\n"}))
    (tmp_path / "folder.parquet").mkdir()
    read: list[float] = []
    for name, error in (("folder.parquet", OutputError), ("table.txt", MethodError), ("table", MethodError)):
        with pytest.raises(error) as caught:
            extract(Extraction(ROSE), files, tmp_path / name, progress=lambda done, total: read.append(done))
        assert caught.value.where == str(tmp_path / name)
    assert sum(read) == 0 and partial(tmp_path / "out.parquet") == []


# What reads the table ---------------------------------------------------------------------------------------------


def test_the_table_is_read_for_the_association_tests(tmp_path: Path) -> None:
    files = corpus() | {"d.jsonl": json.dumps({"text": "cafe\u0301 rose\nব\u09df roses. A rose"}) + "\n"}
    rows, _ = run(tmp_path, files, FLOWERS, segments=(5, 9, ">9"), per_word=20, duplicates="near", language="en")
    table = pl.read_parquet(tmp_path / "out.parquet")
    table.write_parquet(tmp_path / "plain.parquet")  # without the record, row by row
    table.write_ndjson(tmp_path / "plain.jsonl")
    for name in ("out.parquet", "plain.parquet", "plain.jsonl"):
        assert read_occurrences(tmp_path / name, FLOWERS).rows() == rows
        fewer = read_occurrences(tmp_path / name, {"tulip": ["tulip"]})
        assert fewer.rows() == [row for row in rows if row[1] == "tulip"] and fewer.height > 20


def test_an_id_is_that_of_one_sentence(tmp_path: Path, small: None) -> None:
    texts = ["a rose. A tulip. Roses\na rose\n\nthe rose and the rose", "a rose\ntulip. Rose"] * 3
    files = {"a/x.txt": "\n".join(texts), "b/x.txt": "\n".join(texts), "x.jsonl": ""}
    files["x.jsonl"] = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    for layout in ("paragraphs", "sentences", "wrapped"):
        rows, record = run(tmp_path, files, FLOWERS, layout=layout, duplicates="keep", language="en")
        assert len({row[0] for row in rows}) == len({(row[0], row[2], row[7]) for row in rows})
        assert len({row[0] for row in rows}) == record["tally"]["sentences"]
        assert len({(row[0], row[1], row[3]) for row in rows}) == len(rows)


def test_occurrences_kept_of_a_word(tmp_path: Path) -> None:
    forms = FLOWERS | {"আ\u09af\u09bc": ["আ\u09df"]}
    rows, _ = run(tmp_path, "rose one\nroses two\nআ\u09df tulip\n", forms, layout="sentences")
    out = tmp_path / "out.parquet"
    assert find(out, "rose").rows() == [row for row in rows if row[1] == "rose"]
    assert find(out, "rose", "roses")["text"].to_list() == ["roses two"]
    assert find(out, "rose", "rosy").height == 0
    assert [find(out, word).height for word in ("আ\u09df", "আ\u09af\u09bc")] == [1, 1]  # in either spelling


# Settings ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def stimuli(tmp_path: Path) -> Any:
    own = {"category": "c", "examples": ["tulip", "rose"]}
    (tmp_path / "s.json").write_text(json.dumps(dict.fromkeys(("targ1", "targ2", "attr1", "attr2"), own)))
    return read_stimuli(tmp_path / "s.json")


def test_settings(stimuli: Any) -> None:
    wanted = of_stimuli(stimuli)
    assert dict(wanted.forms) == {"tulip": ("tulip",), "rose": ("rose",)}
    assert (wanted.language, wanted.segments) == ("und", ("all",))
    assert [own.name for own in of_stimuli(stimuli, segments=("9", "25", ">25")).bins] == ["1–9", "10–25", ">25"]
    assert of_stimuli(stimuli, language="bn").language == "bn"


def test_words_of_the_categories_for_ceat(tmp_path: Path) -> None:
    content = stimulus_set({name: [f"{name}{name}"] for name in "xyabz"})
    content["categories"]["two"] = content["categories"]["one"] | {"X": "z", "measures": ["weat"]}
    stimuli = read_stimuli(builders.write(tmp_path / "set.yaml", content))
    assert list(of_stimuli(stimuli).forms) == ["xx", "yy", "aa", "bb"]
    assert list(of_stimuli(stimuli, words=["zz"]).forms) == ["zz"]

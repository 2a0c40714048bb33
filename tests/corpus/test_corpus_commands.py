"""penchant corpus extract, stats and show: what they print, and that bad input gives one line and exit code 2."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import brute_extraction as brute
from answers import Answer, refused
from paths import bundled
from penchant.corpus.concordance import concordance

for package in ("ahocorasick_rs", "sentencex", "fsspec", "rensa"):
    pytest.importorskip(package, reason=f"no package {package}")

Penchant = Callable[..., Answer]
FLOWERS = {"rose": ["rose"], "tulip": ["tulip"], "নদী": ["নদী"], "oak": ["oak"]}
TEXT = """A rose is a rose. Nobody sees the tulip!
Rose and tulip stand by the নদী of the old town where nobody lives any more.
The rose [as they say]\tis red।
"""


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """Stimuli and a text in the working directory."""
    sets = {
        name: {"category": name, "examples": [word]}
        for name, word in zip(("targ1", "targ2", "attr1", "attr2"), FLOWERS, strict=True)
    }
    (tmp_path / "flowers.json").write_text(json.dumps(sets), "utf-8")
    (tmp_path / "a.txt").write_text(TEXT, "utf-8")
    return tmp_path


EXTRACT = ("corpus", "extract", "a.txt", "--data", "flowers.json", "-o", "out.parquet", "--workers", "1")


@pytest.fixture
def table(flowers: Path, penchant: Penchant) -> Path:
    """A table with segments, made by the program."""
    code, _, err = penchant(
        *EXTRACT, "--language", "en", "--duplicates", "exact", "--segments", "6,9", "--minimum", "2"
    )
    assert code == 0, err
    return flowers / "out.parquet"


# extract ----------------------------------------------------------------------------------------------------------


def test_extract(flowers: Path, penchant: Penchant) -> None:
    more = ("--language", "en", "--segments", "6, 9", "--minimum", "2", "--duplicates", "exact", "--seed", "5")
    code, out, err = penchant(*EXTRACT, *more)
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["segment", "occurrences", "distinct", "distinct_estimated", "near_duplicates", "kept", "words", "short"],
        [set_of("-", word) for word in out.splitlines()[1].split()],
        ["1–6", "3", "3", "False", "0", "3", "2", "3"],
        ["7–9", "1", "1", "False", "0", "1", "1", "4"],
    ]
    assert err.splitlines() == [
        "note: 1 sentence with stimuli is left out: outside all segments, or longer than 20,000 characters",
        "note: 4 of 4 stimuli have fewer than 2 occurrences in some segment: rose, tulip, নদী, oak",
        "sentences: out.parquet",
    ]
    lines = {"a.txt": brute.text_lines(TEXT.encode())}
    bins: list[brute.Segment] = [("1–6", 1, 6), ("7–9", 7, 9)]
    expected = brute.search(lines, FLOWERS, split=english, segments=bins)
    sample = brute.sample(expected, FLOWERS, per_word=10_000, seed=5, segments=bins)
    assert pl.read_parquet(flowers / "out.parquet").rows() == [own.row() for own in sample]


def set_of(character: str, text: str) -> str:
    """The text, of which all characters are this one."""
    assert set(text) == {character}
    return text


def english(line: str) -> list[str]:
    from sentencex import segment

    pieces: list[str] = segment("en", line)
    return pieces


def test_extract_as_it_is(flowers: Path) -> None:
    """In a process of its own, and everything as it is by default."""
    command = [sys.executable, "-m", "penchant.cli.app", *EXTRACT[:-2], "--language", "en"]
    ended = subprocess.run(command, cwd=flowers, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "note: 1 of 4 stimuli has fewer than 1 occurrence: oak\nsentences: out.parquet\n"
    expected = brute.search({"a.txt": brute.text_lines(TEXT.encode())}, FLOWERS, split=english)
    rows = pl.read_parquet(flowers / "out.parquet").rows()
    assert sorted(rows) == sorted(own.row() for own in expected.occurrences)
    assert {path.name for path in flowers.iterdir()} == {"a.txt", "flowers.json", "out.parquet"}


def test_extract_of_several_texts_and_stimuli(flowers: Path, penchant: Penchant) -> None:
    (flowers / "more").mkdir()
    (flowers / "more" / "b.jsonl").write_text('{"body": "an oak"}\n{"text": "an oak"}\n')
    (flowers / "more" / "c.jsonl").write_text('{"body": "two oaks, one oak"}\n')
    (flowers / "elm.json").write_text((flowers / "flowers.json").read_text("utf-8").replace("rose", "elm"), "utf-8")
    code, _, err = penchant(
        "corpus", "extract", "a.txt", "more", "--data", "flowers.json", "--data", "elm.json", "-o", "deep/out.parquet",
        "--field", "body", "--layout", "sentences", "--per-word", "1", "--workers", "1", "--duplicates", "keep",
    )  # fmt: skip
    assert code == 0, err
    assert "1 of 6 records could not be read and was left out" in err
    table = pl.read_parquet(flowers / "deep" / "out.parquet")
    assert table["word"].to_list() == ["rose", "tulip", "নদী", "oak"]
    assert table["source"].to_list()[-1] in ("more/b.jsonl", "more/c.jsonl")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("none.txt",), ("none.txt: no files found",)),
        (("*.csv",), ("*.csv: no files found",)),
        (("a.txt",), ("a.txt: the file is given twice",)),
        (("nothing-like-it://x",), ("is not a supported URL",)),
        (("--data", "associations-xx"), ("associations-xx: no such file or directory",)),
        (("--data", "a.txt"), ("a.txt: is not a stimulus file",)),
        (("--data", "associations-en", "--data", "associations-bn"), ("more than one language",)),
        (("--segments", "9,long"), ("'long' is not a valid segment",)),
        (("--segments", "25,9"), ("the bin 9 cannot follow 1–25",)),
        (("--segments", ""), ("'' is not a valid segment",)),
        (("--segments", "0"), ("0 is not a valid segment: ",)),
        (("--segments", "-3"), ("'-3' is not a valid segment",)),
        (("--layout", "lines"), ("unknown layout 'lines'", "paragraphs, sentences, wrapped")),
        (("--duplicates", "some"), ("unknown value 'some' for duplicates", "near, exact, keep")),
        (("--per-word", "0"), ("--per-word",)),
        (("--minimum", "-1"), ("--minimum",)),
        (("--workers", "0"), ("--workers",)),
        (("--field", "body", "b.jsonl"), ("b.jsonl, line 1: has no text field 'body'", "--field")),
        (("c.txt",), ("c.txt, line 1: is not UTF-8",)),
        (("d.txt.gz",), ("d.txt.gz: the file is damaged",)),
        (("e.parquet",), ("e.parquet: has no text column 'text'", "body")),
        (("f.parquet",), ("f.parquet: is not a Parquet file",)),
        (("--data", "dash.json"), ("the form '—' of '—' contains no letter or digit",)),
        (("-o", "a.txt/out.parquet"), ("cannot be written",)),
    ],
)
def test_extract_refuses(flowers: Path, penchant: Penchant, arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    (flowers / "b.jsonl").write_text('{"text": "rose"}\n')
    (flowers / "c.txt").write_bytes("rosé\n".encode("latin-1"))
    (flowers / "d.txt.gz").write_bytes(b"a rose")
    pl.DataFrame({"body": ["rose"]}).write_parquet(flowers / "e.parquet")
    (flowers / "f.parquet").write_bytes(b"a rose")
    (flowers / "dash.json").write_text((flowers / "flowers.json").read_text("utf-8").replace("rose", "—"), "utf-8")
    refused(penchant(*EXTRACT, *arguments), *parts)
    assert not (flowers / "out.parquet").exists()


@pytest.mark.parametrize("missing", ["a.txt", "--data flowers.json", "-o out.parquet"])
def test_extract_needs(flowers: Path, penchant: Penchant, missing: str) -> None:
    refused(penchant(*" ".join(EXTRACT).replace(missing, "").split()), "Missing", "--help")


def test_extract_refuses_what_was_begun(flowers: Path, penchant: Penchant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penchant.corpus.extraction.EVERY", 1)
    (flowers / "z.txt").write_bytes(b"\xff")
    refused(penchant(*EXTRACT, "z.txt"), "z.txt, line 1: is not UTF-8")
    refused(penchant(*EXTRACT, "z.txt"), "partial: contains the results of an earlier run", "--resume")
    (flowers / "z.txt").write_bytes(b"b")
    refused(penchant(*EXTRACT, "--resume"), "belongs to an extraction from other texts")
    code, _, err = penchant(*EXTRACT, "z.txt", "--resume")
    assert (code, err.splitlines()[-1]) == (0, "sentences: out.parquet")


def test_extract_without_the_extra(flowers: Path, penchant: Penchant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The missing package and the way to install it are named, whichever process needs it first."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "sentencex", None)
        refused(penchant(*EXTRACT), "the package sentencex is missing", "pip install 'penchant[corpus]'")
    folder = flowers / "without"
    folder.mkdir()
    (folder / "ahocorasick_rs.py").write_text("raise ImportError('not here')")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "penchant.cli.app", *EXTRACT[:-1], "2"]
    ended = subprocess.run(command, cwd=flowers, env=environment, capture_output=True, text=True, timeout=60)
    refused((ended.returncode, ended.stdout, ended.stderr), "the package ahocorasick_rs is missing", "penchant[corpus]")


def test_stimuli_that_ship_with_the_program(flowers: Path, penchant: Penchant) -> None:
    for name, word in (("associations-en", "rose"), ("associations-bn", "গোলাপ")):
        assert (bundled(name)).is_dir()
        (flowers / "b.txt").write_text(f"{word}\n", "utf-8")
        code, _, err = penchant("corpus", "extract", "b.txt", "--data", name, "-o", f"{name}.parquet", "--workers", "1")
        assert code == 0, err
        assert pl.read_parquet(flowers / f"{name}.parquet")["word"].to_list() == [word]


# stats ------------------------------------------------------------------------------------------------------------


def test_stats(table: Path, penchant: Penchant) -> None:
    code, out, err = penchant("corpus", "stats", table)
    assert (code, err) == (0, "")
    assert [line.split()[:4] for line in out.splitlines()[2:]] == [
        ["rose", "3", "3", "False"],
        ["tulip", "1", "1", "False"],
        ["নদী", "0", "0", "False"],
        ["oak", "0", "0", "False"],
    ]
    assert len({cell_len(line[: line.index("False")]) for line in out.splitlines()[2:]}) == 1  # marks take no room
    assert [line.split("  ")[-1].strip() for line in out.splitlines()[2:]] == [
        "7–9 (1)",
        "1–6 (1), 7–9 (0)",
        "1–6 (0), 7–9 (0)",
        "1–6 (0), 7–9 (0)",
    ]


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("word", [("rose", 3, 3), ("tulip", 1, 1), ("নদী", 0, 0), ("oak", 0, 0)]),
        ("segment", [("1–6", 3, 3), ("7–9", 1, 1)]),
        ("form", [("rose", 3, None), ("tulip", 1, None), ("নদী", 0, None), ("oak", 0, None)]),
    ],
)
def test_stats_in_other_formats(table: Path, penchant: Penchant, by: str, rows: list[tuple[str, int, int]]) -> None:
    code, out, _ = penchant("corpus", "stats", table, "--by", by, "--format", "tsv")
    assert code == 0
    found = list(csv.DictReader(io.StringIO(out), delimiter="\t"))
    assert [(row[by], int(row["occurrences"])) for row in found] == [row[:2] for row in rows]
    code, out, _ = penchant("corpus", "stats", table, "--by", by, "--format", "jsonl")
    objects = [json.loads(line) for line in out.splitlines()]
    assert [(row[by], row["occurrences"], row.get("kept")) for row in objects] == rows
    if by == "form":
        assert [row["word"] for row in objects] == [row[0] for row in rows]


def test_stats_draws(table: Path, penchant: Penchant) -> None:
    code, out, err = penchant("corpus", "stats", table, "--chart", "chart.html")
    assert (code, err) == (0, "chart: chart.html\n") and out
    assert "rose" in table.with_name("chart.html").read_text("utf-8")


def test_stats_refuses(table: Path, penchant: Penchant) -> None:
    refused(penchant("corpus", "stats", "none.parquet"), "none.parquet: no such file")
    refused(penchant("corpus", "stats", "a.txt"), "a.txt: is not a Parquet file")
    refused(penchant("corpus", "stats", "."), "is a directory")
    pl.DataFrame({"text": ["a"]}).write_parquet(table.with_name("plain.parquet"))
    refused(penchant("corpus", "stats", "plain.parquet"), "plain.parquet: was not written by penchant corpus extract")
    refused(
        penchant("corpus", "stats", table, "--by", "file"),
        "occurrences cannot be counted by 'file'",
        "word, form, segment",
    )
    refused(penchant("corpus", "stats", table, "--format", "xml"), "unknown format 'xml'")
    refused(penchant("corpus", "stats", table, "--chart", "chart.pdf"), "'.pdf'", ".svg or .html")
    refused(penchant("corpus", "stats"), "Missing argument 'SENTENCES'")


# show -------------------------------------------------------------------------------------------------------------


def test_show(table: Path, penchant: Penchant) -> None:
    code, out, err = penchant("corpus", "show", "rose", table, "--width", "80")
    assert (code, err) == (0, "rose: 3 of 3 occurrences in the table\n")
    lines = out.splitlines()
    shown = {" ".join(line.split()) for line in lines}
    assert shown == {
        "A [rose] is a rose. a.txt:1:1",
        "A rose is a [rose]. a.txt:1:1",
        "The [rose] [as they say] is red। a.txt:3:1",
    }
    assert len({line.index("[rose]") for line in lines}) == 1
    assert len({cell_len(line[: line.index("a.txt")]) for line in lines}) == 1


def test_show_some(table: Path, penchant: Penchant) -> None:
    code, out, err = penchant("corpus", "show", "rose", table, "-n", "2")
    assert (code, err, out.count("\n")) == (0, "rose: 2 of 3 occurrences in the table\n", 2)
    first = pl.read_parquet(table).filter(pl.col("word") == "rose")["id"].to_list()[:2]
    assert [line.split()[-1] for line in out.splitlines()] == first
    code, out, err = penchant("corpus", "show", "rose", table, "--form", "Rose")
    assert (code, out, err) == (0, "", "rose: 0 of 0 occurrences in the table\n")
    code, out, err = penchant("corpus", "show", "rose", table, "--form", "rose", "-n", "1")
    assert (code, out.count("\n"), err) == (0, 1, "rose: 1 of 3 occurrences in the table\n")


def test_show_refuses(table: Path, penchant: Penchant) -> None:
    refused(penchant("corpus", "show", "roses", table), "'roses' was not searched for", "did you mean rose?")
    refused(penchant("corpus", "show", "xyz", table), "'xyz' was not searched for", "penchant corpus stats")
    refused(penchant("corpus", "show", "rose", "none.parquet"), "none.parquet: no such file")
    refused(penchant("corpus", "show", "rose", table, "-n", "0"), "-n")
    refused(penchant("corpus", "show", "rose", table, "--width", "3"), "--width")


def test_show_names_the_word_of_a_form(flowers: Path, penchant: Penchant) -> None:
    (flowers / "b.txt").write_text("গোলাপের\n", "utf-8")
    penchant("corpus", "extract", "b.txt", "--data", "associations-bn", "-o", "bn.parquet", "--workers", "1")
    refused(penchant("corpus", "show", "গোলাপের", "bn.parquet"), "did you mean গোলাপ?")
    code, out, _ = penchant("corpus", "show", "গোলাপ", "bn.parquet", "--width", "60")
    assert (code, out.strip().split()) == (0, ["[গোলাপের]", "b.txt:1:1"])


def test_somebody_reads_only_the_first_line(table: Path) -> None:
    command = f"{sys.executable} -m penchant.cli.app corpus show rose out.parquet | head -1"
    ended = subprocess.run(command, shell=True, cwd=table.parent, capture_output=True, text=True, timeout=60)
    assert ended.stdout.count("\n") == 1 and "Traceback" not in ended.stderr


# Words in context -------------------------------------------------------------------------------------------------

PARTS = [" ", "  ", "\t", "a", "word", "নদীর", "কা", "ক্ষি", "日本", "👨\u200d👩\u200d👧", "e\u0301", "\u0301"]
PARTS += ["।", "—", "নদী", "ﷺ", "한"]
SENTENCE = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)


def frame(*rows: tuple[str, str, str, str]) -> pl.DataFrame:
    """Rows of id, what stands before, the form, what stands behind."""
    places = [(name, f"{lead}{form}{tail}", len(lead), len(lead + form)) for name, lead, form, tail in rows]
    return pl.DataFrame(places, schema=["id", "text", "start", "end"], orient="row")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a:1", "long/name:1000:2"]), SENTENCE, st.sampled_from(["x", "নদী", "日本語"]), SENTENCE
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(40, 130),
)
def test_words_in_context(rows: list[tuple[str, str, str, str]], width: int) -> None:
    rows = [(name, f"{before} ", form, f" {after}") for name, before, form, after in rows]
    lines = list(concordance(frame(*rows), width=width, bold=False))
    assert len({cell_len(line[: line.index("[")]) for line in lines}) == 1  # the forms begin in one column
    ends = {cell_len(line) - cell_len(name) for line, (name, *_) in zip(lines, rows, strict=True)}
    assert len(ends) == 1  # and so do the names
    room = max(width, 2 * 8 + 4 + 6 + 16)
    for line, (name, before, form, after) in zip(lines, rows, strict=True):
        assert cell_len(line) <= room and line.endswith(f"  {name}")
        left, rest = line.split("[", 1)
        shown, right = rest.removesuffix(f"  {name}").split("]", 1)
        assert shown == form
        lead = " ".join(before.split()) + " "
        tail = " " + " ".join(after.split())
        assert_part(left.lstrip(" "), lead, lead.endswith, reverse=True)
        assert_part(right.rstrip(" "), tail.rstrip(" "), tail.startswith, reverse=False)


def assert_part(shown: str, whole: str, is_part: Callable[[str], bool], *, reverse: bool) -> None:
    """The whole, or an ellipsis and as many whole letters as there is room for."""
    if "…" not in shown:
        assert shown == whole.lstrip(" ") if reverse else shown == whole
        return
    part = shown.replace("…", "")
    assert is_part(part) and shown.startswith("…") if reverse else shown.endswith("…")
    letters = regex.findall(r"\X", whole)
    ends = {"".join(letters[-n:] if reverse else letters[:n]) for n in range(1, len(letters))} | {""}
    assert part in ends or part.rstrip(" ") in {end.rstrip(" ") for end in ends}


def test_context_by_hand() -> None:
    rows = [
        ("a:1", "The old ", "rose", " stands in the garden of the castle"),
        ("a:20", "In the garden of the old castle the ", "roses", " stand"),
        ("b:3", "", "rose", ""),
        ("c:4", "নদীর তীরে\n", "ক", "\t।"),
    ]
    assert list(concordance(frame(*rows), width=41, bold=False)) == [
        "      The old [rose] stands in the…  a:1",
        "…d castle the [roses] stand          a:20",
        "              [rose]                 b:3",
        " " * (14 - cell_len("নদীর তীরে ")) + "নদীর তীরে [ক] ।                  c:4",
    ]


def test_context_in_bold() -> None:
    (line,) = concordance(frame(("a:1", "The old ", "rose", "-bush")), width=60, bold=True)
    assert line.split() == ["The", "old", "\x1b[1mrose\x1b[0m-bush", "a:1"]
    assert list(concordance(frame(), width=60, bold=True)) == []

"""Commands that the program proposes work, with the options for files as users have them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
import yaml
from pydantic import BaseModel, ValidationError

import zoo as tiny
from answers import refused
from builders import Program, Zoo, succeeded, write_study
from penchant.cli.app import _next_step
from penchant.cli.console import command
from penchant.cli.input_texts import refuse_binary
from penchant.errors import DataError, in_words
from penchant.instruments.registry import instruments
from penchant.study.catalogue import schemas
from penchant.study.read_results import read_outcome

UNKNOWN = "漢"
VECTORS = "4 2\nking 1 0\nqueen 0.9 0.1\nman 0 1\nwoman 0.1 0.9\n"
NAMED = ("Satz", "Fehler", "Art")
NAMING = ("--good", "Satz", "--bad", "Fehler", "--group", "Art")


def pairs_table(path: Path, heads: tuple[str, str, str] = NAMED) -> Path:
    """Half of the tiny pairs in each of two groups."""
    rows = [heads, *((good, bad, f"g{i % 2}") for i, (good, bad) in enumerate(tiny.PAIRS))]
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path)
    else:
        path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    return path


def test_a_model_that_an_instrument_does_not_read(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    assert penchant("init", "weat", "w")[0] == 0
    pairs_table(tmp_path / "w" / "pairs.tsv", ("good", "bad", "group"))
    pairs = {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100}}
    file = write_study(tmp_path / "w" / "s.yaml", ["vectors.txt", zoo("bert")], {"weat": {"data": "."}}, pairs)
    _, err = succeeded(penchant("run", file, "-o", "out"))
    told = " ".join(err.split())  # notes are wrapped
    assert "weat does not support bert" in told
    assert "(masked): it supports static word vectors" in told
    assert "(static): it supports masked models and causal models" in told


def test_embed_of_word_vectors_says_what_it_needs(penchant: Program, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(VECTORS, "utf-8")
    answer = penchant("embed", "-m", "v.txt", stdin="A king.\n")
    refused(answer, "v@", "embed() needs a language model", "static word vectors", "looked up in the file")
    assert "probabilities" not in answer[2]
    refused(penchant("score", "-m", "v.txt", stdin="A king.\n"), "static word vectors provide no probabilities")


def test_ratings_go_on_with_the_study(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    assert penchant("init", "cloze", "my words")[0] == 0
    home = Path("my words")
    run = ("run", home / "cloze.yaml", "-m", zoo("bert"), "--limit", 2, "-o", home / "first")
    code, _, err = penchant(*run)
    (following,) = re.findall(r"penchant (rate .*? --open 5)", " ".join(err.split()))
    assert code == 0 and "ratings export" not in err
    *served, _, _ = shlex.split(following)  # without --open 5, for which a server waits
    assert penchant(*served, "--raters", "anna", "--html", home / "pages")[0] == 0
    assert penchant("ratings", "export", home / "first", "-o", "anna.csv")[0] == 0
    said = penchant("ratings", "import", home / "first", "anna.csv", "--into", home / "ratings.csv")
    assert "next:" not in said[2], "nothing is rated"
    lines = Path("anna.csv").read_text("utf-8").splitlines()
    Path("anna.csv").write_text("\n".join([lines[0], *(line.replace('"",""', "a,0.5") for line in lines[1:])]), "utf-8")
    _, err = succeeded(penchant("ratings", "import", home / "first", "anna.csv", "--into", home / "ratings.csv"))
    following = err.splitlines()[-1].removeprefix("next: penchant ")
    assert following == f"run 'my words/cloze.yaml' -o 'my words/first' --rerun -m {zoo('bert')} --limit 2"
    assert penchant(*shlex.split(following))[0] == 0
    (result,) = read_outcome(home / "first").results.values()
    assert not any("none of the" in caution for caution in result.cautions), "what was rated counts"
    _, _, err = penchant("ratings", "import", home / "first", "anna.csv", "--into", home / "other.csv")
    assert "next: write ratings: other.csv under cloze in my words/cloze.yaml, then penchant run " in err
    assert "-o 'my words/first' --rerun" in err
    # The study is found by its data where the ratings lie elsewhere, and its entry is the path from there.
    Path("far").mkdir()
    _, _, err = penchant("ratings", "import", home / "first", "anna.csv", "--into", "far/r.csv")
    assert "next: write ratings: ../far/r.csv under cloze in my words/cloze.yaml, then penchant run 'my words/" in err
    names = yaml.safe_load((home / "cloze.yaml").read_text("utf-8"))
    names["probes"][0]["cloze"]["ratings"] = "other.csv"
    (home / "cloze.yaml").write_text(yaml.safe_dump(names), "utf-8")
    again = ("run", home / "cloze.yaml", "-o", home / "first", "-m", zoo("bert"), "--limit", "2")
    code, _, err = penchant(*again, "--resume")
    assert code == 2
    assert "its ratings was" in err and "repeat the affected measurements with --rerun" in err
    _, err = succeeded(penchant(*again, "--rerun"))
    assert "the parameters of cloze changed (its ratings was" in " ".join(err.split())


def test_check_leaves_out_what_a_study_would(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    lines = ["good\tbad", "The dog sleeps.\tThe dog sleep.", f"The {UNKNOWN} sleeps.\tThe dog sleep."]
    (tmp_path / "p.tsv").write_text("\n".join(lines), "utf-8")
    asked = ("check", "-m", zoo("bert"), "p.tsv", "--format", "jsonl")
    code, out, err = penchant(*asked)
    assert code == 2 and "cannot be measured: unknown tokens" in err
    out, _ = succeeded(penchant(*asked, "--on-unknown", "skip"))
    found = {row["check"]: row for row in map(json.loads, out.splitlines())}
    assert found["unknown tokens"]["verdict"] == "pass"
    assert found["left out"]["verdict"] == "warn"
    assert found["left out"]["detail"].startswith("unknown tokens in 1 of 4 texts; the first: ")
    assert "p.tsv" in found["left out"]["detail"]
    (tmp_path / "p.tsv").write_text(f"good\tbad\n{UNKNOWN}\t{UNKNOWN} {UNKNOWN}", "utf-8")
    assert penchant(*asked, "--on-unknown", "skip")[0] == 2, "nothing is left to measure"
    refused(penchant(*asked, "--on-unknown", "skpi"), "'skpi' for on_unknown", "did you mean skip?")


def test_pairs_whose_columns_have_other_names(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    pairs_table(tmp_path / "p.tsv")
    refused(penchant("pairs", "filter", "p.tsv", "-t", zoo("bert")), "p.tsv", "--good and --bad")
    refused(penchant("pairs", "filter", "p.tsv", "-t", zoo("bert"), "--good", "satz", "--bad", "Fehler"), "mean Satz")
    plain = pairs_table(tmp_path / "plain.tsv", ("good", "bad", "group"))
    tables = {}
    for kind, more in (("filter", ()), ("repair", ("--grammar", "en"))):
        for name, file, naming in (("named", "p.tsv", NAMING), ("plain", plain, ())):
            answer = penchant("pairs", kind, file, "-t", zoo("bert"), *more, *naming, "-o", f"{kind}-{name}.jsonl")
            assert answer[0] == 0, answer[2]
            tables[kind, name] = answer[1]
        assert tables[kind, "named"] == tables[kind, "plain"]


@pytest.mark.parametrize("fair", ["kept.jsonl", "generated.jsonl"])
def test_fair_pairs_whose_columns_have_other_names(penchant: Program, zoo: Zoo, tmp_path: Path, fair: str) -> None:
    pairs_table(tmp_path / "p.tsv")
    assert penchant("pairs", "filter", "p.tsv", "-t", zoo("bert"), *NAMING, "-o", "kept.jsonl")[0] == 0
    made = {"linguistics_term": "t", "field": "f", "n_tokens_good": {}, "n_tokens_bad": {}}
    rows = [
        {"sentence_good": good, "sentence_bad": bad, "UID": f"g{i % 2}", "pairID": str(i), **made}
        for i, (good, bad) in enumerate(tiny.PAIRS)
    ]
    (tmp_path / "generated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    columns = dict(zip(("good", "bad", "group"), NAMED, strict=True))
    settings = {"original": "p.tsv", "fair": fair, "columns": columns, "resamples": 100}
    succeeded(penchant("run", write_study(tmp_path / "s.yaml", [zoo("bert")], {"fair-pairs": settings}), "-o", "out"))
    (result,) = read_outcome(tmp_path / "out").results.values()
    assert set(result.items["group"]) == {"g0", "g1"}
    assert result.signature["columns"] == "good=Satz+bad=Fehler+group=Art"


def test_a_folder_of_pairs_may_hold_workbooks(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    (folder := tmp_path / "d").mkdir()
    pairs_table(folder / "a.xlsx", ("good", "bad", "group"))
    pairs_table(folder / "B.TSV", ("good", "bad", "group"))
    (folder / "~$a.xlsx").write_bytes(b"what Excel keeps beside an open workbook")
    out, _ = succeeded(penchant("audit", "d", "-m", zoo("bert"), "--format", "jsonl"))
    assert {row["dataset"] for row in map(json.loads, out.splitlines())} == {"a", "B"}


def test_commands_can_be_pasted_into_a_shell(penchant: Program, tmp_path: Path) -> None:
    words = [b"plain", b"two words", b"it's \\", b"\xff c", "বাং\nx".encode(), "\u202e'".encode()]
    line = command(["printf", r"%s\0", *map(os.fsdecode, words)])
    assert subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout == b"".join(
        w + b"\0" for w in words
    )
    assert line.isprintable()
    _, err = succeeded(penchant("init", "minimal-pairs", os.fsdecode(b"p\xff c")))
    assert "next: penchant run $'p\\xff c/minimal-pairs.yaml' -o $'p\\xff c/results'" in err


def test_a_study_in_a_folder_whose_name_is_no_text(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    home = tmp_path / os.fsdecode(b"p\xff c")
    try:
        home.mkdir()
    except OSError:
        pytest.skip("the file system has names of text only")
    pairs_table(home / os.fsdecode(b"q\xfe.tsv"), ("good", "bad", "group"))
    (home / "s").mkdir()
    file = write_study(home / "s" / "s.yaml", [zoo("bert")], {"minimal-pairs": {"data": "..", "resamples": 100}})
    succeeded(penchant("run", file, "-o", home / "out"))
    for form in ("csv", "latex"):
        assert penchant("export", home / "out", "--to", form)[0] == 0
    (result,) = read_outcome(home / "out").results.values()
    assert set(result.items["dataset"]) == {r"q\udcfe"}


@pytest.mark.parametrize("arguments", ["score", "fill A[MASK].", "check", "audit nowhere"])
def test_a_format_is_looked_at_before_a_model(penchant: Program, arguments: str) -> None:
    answer = penchant(*arguments.split(), "-m", "nowhere", "--format", "tvs")
    refused(answer, "unknown format 'tvs'", "did you mean tsv?", "use one of")


def test_every_option_of_few_names_has_near_ones(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    model = ("-m", zoo("bert"))
    for answer, meant in (
        (penchant("embed", *model, "--pooling", "meen", stdin="Rain.\n"), "mean"),
        (penchant("score", *model, "--dtype", "flota32", stdin="Rain.\n"), "float32"),
        (penchant("audit", "x", *model, "--acceptable", "sentmore"), "sent_more"),
        (penchant("vectors", "train", "x", "-o", "v.txt", "--method", "glov"), "glove"),
        (penchant("vectors", "train", "x", "-o", "v.txt", "--layout", "sentence"), "sentences"),
    ):
        refused(answer, f"did you mean {meant}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run s.yaml -o out", ": continue with penchant run s.yaml -o out --resume"),
        ("run s.yaml --out=out --resume", ": continue with penchant run s.yaml --out=out --resume"),
        ("corpus extract t.txt -o s.parquet", ": continue with penchant corpus extract t.txt -o s.parquet --resume"),
        ("score -m gpt2 t.txt", ""),
        ("rate words.csv -o out", ""),
    ],
)
def test_an_interrupted_command_names_the_next_one(words: str, told: str) -> None:
    assert _next_step(words.split()) == told


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.TSV"])
def test_a_table_is_not_read_as_lines(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    mark = "," if name.endswith("csv") else "\t"
    file.write_text(f"id{mark}text\n1{mark}The cat sleeps.\n", "utf-8")
    with pytest.raises(DataError, match=r"looks like a table with the columns 'id', 'text' — give the column of its s"):
        refuse_binary(str(file))
    (tmp_path / "lines.txt").write_text("GP1;NP/Z;While\n", "utf-8")
    refuse_binary(str(tmp_path / "lines.txt"))


def test_a_word_that_yaml_reads_as_false_is_to_be_put_in_quotes() -> None:
    class Named(BaseModel, strict=True):
        id: str

    def told(value: Callable[[], object] | object) -> str:
        with pytest.raises(ValidationError) as error:
            Named.model_validate({"id": value})
        return in_words(dict(error.value.errors()[0]))

    assert "put it in quotes" in told(False) and "put it in quotes" not in told(3)


def test_every_probe_has_a_schema() -> None:
    for name in instruments():
        assert json.dumps(schemas(name))
    assert {"data", "columns", "method"} <= set(schemas("minimal-pairs")["properties"])

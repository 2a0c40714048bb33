"""The command line: what it prints, and that every kind of bad input gives its one line and exit code 2."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import brute
import zoo as tiny
from answers import refused
from architectures import save as save_tiny
from builders import Program, Zoo, contents, succeeded, write, write_study
from paths import ROOT
from penchant._version import __version__
from penchant.papers.paper import paper

PROGRAM = [sys.executable, "-m", "penchant.cli.app"]


@pytest.fixture
def study(zoo: Zoo, tmp_path: Path) -> Path:
    """A study of the tiny pairs with two models."""
    rows = "".join(f"{a}\t{b}\tg{i % 2}\n" for i, (a, b) in enumerate(tiny.PAIRS))
    write(tmp_path / "pairs.tsv", f"good\tbad\tgroup\n{rows}")
    probe = {"minimal-pairs": {"data": ["pairs.tsv"], "resamples": 200}}
    return write_study(tmp_path / "study.yaml", [zoo("bert"), zoo("gpt2")], probe)


@contextlib.contextmanager
def files_of_at_most(limit: int) -> Iterator[None]:
    """As on a full disk. What the program says is in a file too and needs some bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class TestScore:
    def test_tsv_in_input_order(self, penchant: Program, zoo: Zoo) -> None:
        out, err = succeeded(penchant("score", "-m", zoo("gpt2"), stdin="\n".join(tiny.SENTENCES) + "\n"))
        table = pl.read_csv(out.encode(), separator="\t")
        assert table["text"].to_list() == tiny.SENTENCES
        model, tokenizer = brute.load(zoo("gpt2"), causal=True)
        for row in table.iter_rows(named=True):
            expected = brute.lp(model, tokenizer, row["text"])
            assert row["score"] == pytest.approx(sum(expected), abs=1e-3)
            assert row["n_tokens"] == len(expected)
        assert err == ""

    def test_jsonl_is_the_documented_object(self, penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
        (tmp_path / "in.txt").write_text("\n".join(tiny.SENTENCES[:5]), "utf-8")  # no line end at the end of the file
        out, _ = succeeded(
            penchant(
                "score",
                "-m",
                zoo("bert"),
                "--method",
                "pll-word-l2r",
                "--normalise",
                "mean",
                "--format",
                "jsonl",
                "in.txt",
            )
        )
        rows = [json.loads(line) for line in out.splitlines()]
        assert [row["text"] for row in rows] == tiny.SENTENCES[:5]
        model, tokenizer = brute.load(zoo("bert"))
        for row in rows:
            assert list(row) == ["text", "score", "n_tokens", "logprobs"]
            expected = brute.pll_word_l2r(model, tokenizer, row["text"])
            assert row["logprobs"] == pytest.approx(expected, abs=1e-4)
            assert row["score"] == pytest.approx(sum(expected) / len(expected), abs=1e-4)

    def test_parquet_on_standard_output(self, penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
        command = ("score", "-m", zoo("gpt2-no-bos"), "--format", "parquet", "--cache", "none")
        with (tmp_path / "out.parquet").open("w") as out:
            assert penchant(*command, stdin="The cats sleep .\n", stdout=out) == (0, "", "")
        table = pl.read_parquet(tmp_path / "out.parquet")
        first, *rest = table["logprobs"][0].to_list()
        assert first is None  # no beginning token: the first token is not scored, and says so
        assert table["score"][0] == pytest.approx(sum(rest))

    def test_second_time_the_cache_answers(self, penchant: Program, zoo: Zoo) -> None:
        first = penchant("score", "-m", zoo("gpt2"), stdin="Rain\n")
        second = penchant("score", "-m", zoo("gpt2"), stdin="Rain\n")
        assert first == second
        assert first[0] == 0


def test_fill_equals_reference(penchant: Program, zoo: Zoo) -> None:
    for name in ("bert", "roberta"):
        model, tokenizer = brute.load(zoo(name))
        text = "The old [MASK] sleeps ."
        out, _ = succeeded(penchant("fill", "-m", zoo(name), text, "-k", "5", "--format", "jsonl"))
        rows = [json.loads(line) for line in out.splitlines()]
        expected = brute.topk_at_mask(model, tokenizer, text.replace("[MASK]", tokenizer.mask_token), 5)
        assert [row["prob"] for row in rows] == pytest.approx([p for _, p in expected], abs=1e-5)
        assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5]


def test_audit_check_init_schema_version(penchant: Program, zoo: Zoo, study: Path) -> None:
    out, _ = succeeded(penchant("audit", "pairs.tsv", "-m", zoo("bert"), "-m", zoo("roberta"), "--format", "tsv"))
    assert len(out.splitlines()) == 1 + 2 * 3
    assert "padding" in succeeded(penchant("check", "-m", zoo("gpt2"), "pairs.tsv"))[0]
    code, out, err = penchant("check", "-m", zoo("bert-headless"))
    assert code == 2 and "fail" in out and "cannot be measured" in err
    succeeded(penchant("init", "minimal-pairs", "new"))
    succeeded(penchant("run", "new/minimal-pairs.yaml", "-o", "o", "-m", zoo("gpt2")))
    refused(penchant("init", "minimal-pairs", "new"), "already exists")
    assert "minimal-pairs" in json.dumps(json.loads(penchant("schema")[1]))
    assert penchant("--version") == (0, f"{__version__}\n", "")


def test_compare_shows_what_report_does_and_writes_nothing(
    penchant: Program, zoo: Zoo, study: Path, tmp_path: Path
) -> None:
    for out, model in (("a", "bert"), ("b", "roberta")):
        assert penchant("run", study, "-o", out, "-m", zoo(model))[0] == 0
    before = sorted(tmp_path.rglob("*"))
    table, _ = succeeded(penchant("compare", "a", "b"))
    assert sorted(tmp_path.rglob("*")) == before
    assert table and table == penchant("report", "a", "b")[1]
    _, reported, _ = penchant("compare", "a", "b", "--format", "json")
    rows = json.loads(reported)
    assert {row["probe"] for row in rows} == {"minimal-pairs"}
    read = pl.read_csv(penchant("compare", "a", "b", "--format", "csv")[1].encode(), infer_schema_length=None)
    assert read["n"].to_list() == [row["n"] for row in rows]
    assert read["value"].to_list() == pytest.approx([row["value"] for row in rows], nan_ok=True)
    lines = penchant("compare", "a", "b", "--format", "jsonl")[1].splitlines()
    assert [json.loads(line) for line in lines] == rows
    refused(penchant("compare", "a", "a"), "from the same model")
    refused(penchant("compare", "a", "nowhere"), "no such directory")


def test_two_methods_of_one_model_are_compared(penchant: Program, zoo: Zoo, study: Path, tmp_path: Path) -> None:
    """Pair by pair, with what differs beside the model's name, or the label that a study gives it."""
    given = yaml.safe_load(study.read_text("utf-8"))
    for method in ("pll", "pll-word-l2r"):
        (own,) = given["probes"]
        probe = {"minimal-pairs": {**own["minimal-pairs"], "method": method}}
        changed = {**given, "models": [str(zoo("bert"))], "names": {str(zoo("bert")): "Bert"}, "probes": [probe]}
        (tmp_path / f"{method}.yaml").write_text(yaml.safe_dump(changed), "utf-8")
        assert penchant("run", f"{method}.yaml", "-o", method)[0] == 0
    read = pl.read_csv(
        penchant("compare", "pll", "pll-word-l2r", "--format", "csv")[1].encode(), infer_schema_length=None
    ).filter(normalise="none", scope="group")
    items = [pl.read_parquet(next((tmp_path / method).rglob("items.parquet"))) for method in ("pll", "pll-word-l2r")]
    right = [frame.select("group", right=pl.col("score_good") > pl.col("score_bad")) for frame in items]
    for paradigm, value in read.select("group", "value").iter_rows():
        shares = [frame.filter(group=paradigm)["right"].mean() for frame in right]
        assert value == pytest.approx(shares[0] - shares[1])  # type: ignore[operator]
    assert not items[0]["score_good"].equals(items[1]["score_good"])
    ((first, second),) = read.select("first", "second").unique().rows()
    model = first.removesuffix(" (method:pll)")
    assert (first, second) == (f"{model} (method:pll)", f"{model} (method:pll-word-l2r)")
    table, _ = succeeded(penchant("compare", "pll", "pll-word-l2r"))
    assert "Bert (method:pll) and Bert (method:pll-word-l2r)" in table
    refused(penchant("compare", "pll", "pll"), "both results are from the same model and settings")


def test_embed_equals_reference(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    import numpy as np
    import torch

    model, tokenizer = brute.load(zoo("bert"))
    (tmp_path / "in.txt").write_text("\n".join(tiny.SENTENCES) + "\n", "utf-8")

    def reference(text: str, layer: int, pooling: str) -> list[float]:
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states[layer][0]
        chosen = {"mean": states[1:-1], "mean-special": states, "cls": states[:1], "last": states[-2:-1]}[pooling]
        return list(chosen.mean(0).tolist())

    for layer, pooling in ((-1, "mean"), (0, "mean-special"), (1, "cls"), (-1, "last")):
        options = ("embed", "-m", zoo("bert"), "--layer", layer, "--pooling", pooling)
        code, out, err = penchant(*options, "in.txt")
        assert (code, err) == (0, "")
        rows = [json.loads(line) for line in out.splitlines()]
        assert [row["text"] for row in rows] == tiny.SENTENCES
        for row in rows:
            assert row["vector"] == pytest.approx(reference(row["text"], layer, pooling), abs=1e-5)
    for form in ("npy", "parquet"):
        with (tmp_path / f"v.{form}").open("w") as file:
            assert penchant("embed", "-m", zoo("bert"), "in.txt", "--format", form, stdout=file) == (0, "", "")
    expected = np.array([reference(text, -1, "mean") for text in tiny.SENTENCES], np.float32)
    assert np.load(tmp_path / "v.npy") == pytest.approx(expected, abs=1e-5)
    table = pl.read_parquet(tmp_path / "v.parquet")
    assert table["text"].to_list() == tiny.SENTENCES
    assert table["vector"].to_numpy() == pytest.approx(expected, abs=1e-5)


def test_bare_commands_show_their_help(penchant: Program) -> None:
    for arguments in ((), ("pairs",), ("corpus",)):
        code, out, err = penchant(*arguments)
        assert (code, err) == (0, "")
        assert out.startswith(" ".join(("Usage: penchant", *arguments)))
        assert out == penchant(*arguments, "-h")[1] == penchant(*arguments, "--help")[1]
    assert "--show-completion" not in out
    assert penchant("pairs", "filter", "-h")[0] == penchant("run", "-h")[0] == 0


def test_everything_there_is_to_list(penchant: Program) -> None:
    code, out, err = penchant("list")
    assert (code, err) == (0, "")
    for topic in ("probes", "models", "data", "methods", "grammars", "compat"):
        rows = penchant("list", topic)[1].splitlines()
        assert "\n".join([topic, *(f"  {row}" for row in rows)]) in out


@pytest.mark.whole
def test_completion() -> None:
    words = {"_PENCHANT_COMPLETE": "complete_bash", "COMP_WORDS": "penchant sc", "COMP_CWORD": "1"}
    done = subprocess.run(PROGRAM, capture_output=True, text=True, env={**os.environ, **words})
    assert done.stdout.split() == ["score", "schema"]


def test_schema_admits_the_examples_and_the_program_too(penchant: Program) -> None:
    import jsonschema

    from penchant.study.study_file import read_study

    _, out, _ = penchant("schema")
    examples = sorted((ROOT / "examples").glob("*.yaml"))
    assert examples
    for example in examples:
        jsonschema.validate(yaml.safe_load(example.read_text()), json.loads(out))
        read_study(example)


@pytest.mark.slow  # tests/papers runs the paper's study with stand-ins
def test_the_paper_study_runs_with_stand_ins_of_its_architectures(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    plain = [(i, *pair) for i, pair in enumerate(pair for pair in tiny.PAIRS if all(s.isascii() for s in pair))]

    def lines(folder: str, name: str, rows: list[dict[str, Any]]) -> None:
        write(tmp_path / "data" / folder / name, "".join(json.dumps(row) + "\n" for row in rows))

    same = {"linguistics_term": "t", "field": "f"}
    blimp = [{"sentence_good": a, "sentence_bad": b, "UID": f"u{i % 2}", "pairID": i, **same} for i, a, b in plain]
    lines("blimp", "u.jsonl", blimp)
    crows = pl.DataFrame(plain, schema=["", "sent_more", "sent_less"], orient="row")
    kinds = [("stereo", "antistereo")[i % 2] for i, *_ in plain]
    (tmp_path / "data" / "crows_pairs").mkdir()
    crows = crows.with_columns(pl.Series("stereo_antistereo", kinds), bias_type=pl.lit("age"))
    crows.write_csv(tmp_path / "data" / "crows_pairs" / "crows_pairs_anonymized.csv")
    comps = [{"id": i, "prefix_acceptable": a, "prefix_unacceptable": b, "property_phrase": "."} for i, a, b in plain]
    for name in ("comps_base", "comps_wugs"):
        lines("comps", f"{name}.jsonl", comps)
    models = [arg for m in ("gpt2", "bert-cased", "roberta", "electra-generator") for arg in ("-m", zoo(m))]
    example = paper("token-length").study
    out, err = succeeded(
        penchant("run", example, "-o", "out", "--data", "data", "--full", "--probe", "minimal-pairs", *models)
    )
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert len(manifest["units"]) == 4
    for unit in manifest["units"]:
        summary = pl.read_parquet(tmp_path / "out" / unit["directory"] / "summary.parquet")
        assert set(summary["dataset"]) == {"blimp", "crows-pairs", "comps"}
        assert set(summary["normalise"]) == {"none", "mean", "pen"}
        assert "stereotype score" in set(summary["measure"])
    comparison = pl.read_parquet(tmp_path / "out/minimal-pairs/comparison.parquet")
    assert len(comparison.select("first", "second").unique()) == 6
    assert "Difference of accuracy between models" in out
    assert "warn of noise" in err


class TestRun:
    @pytest.mark.parametrize("full", [[], ["--full"]])
    def test_no_remark_is_made_twice(self, penchant: Program, study: Path, full: list[str]) -> None:
        _, err = succeeded(penchant("run", study, "-o", "out", *full))
        notes = re.sub(r"\n {6}", " ", err).splitlines()
        models = [unit["model"]["name"] for unit in json.loads(Path("out/manifest.json").read_text("utf-8"))["units"]]
        said = [re.sub(rf"^note: ((?:{'|'.join(map(re.escape, models))})(?:, )?)*(: )?", "", note) for note in notes]
        assert len(models) == 2 and any(note.startswith("note: ") for note in notes)
        assert len(said) == len(set(said)), said

    def test_writes_everything_and_prints_the_table(self, penchant: Program, study: Path) -> None:
        out, _ = succeeded(penchant("run", study, "-o", "out", "--full"))
        assert "g0" in out
        assert "A>U" in out
        out_dir = study.parent / "out"
        manifest = json.loads((out_dir / "manifest.json").read_text())
        assert manifest["status"] == "finished"
        assert manifest["asked"]["probes"][0]["minimal-pairs"]["seed"] == 0
        assert len(manifest["units"]) == 2
        for unit in manifest["units"]:
            items = pl.read_parquet(out_dir / unit["directory"] / "items.parquet")
            assert len(items) == len(tiny.PAIRS)
        comparison = pl.read_parquet(out_dir / "minimal-pairs" / "comparison.parquet")
        assert set(comparison["scope"]) == {"overall", "group", "these groups"}
        refused(penchant("run", study, "-o", "out"), "--resume")
        assert penchant("run", study, "-o", "out", "--resume")[0] == 0

    @pytest.mark.whole
    def test_killed_and_resumed_ends_the_same_and_repeats_nothing(
        self, penchant: Program, zoo: Zoo, tmp_path: Path
    ) -> None:
        words = [w for s in tiny.SENTENCES[:6] for w in s.split()]
        lines = (
            f"{' '.join(words[i % 7 : i % 7 + 5])} {words[i % 11]} {words[i % 13]}\t{words[i % 17]} {words[i % 19]}\n"
            for i in range(120)
        )
        write(tmp_path / "pairs.tsv", "good\tbad\n" + "".join(lines))
        write_study(
            tmp_path / "study.yaml", [zoo("bert")], {"minimal-pairs": {"data": ["pairs.tsv"], "resamples": 100}}
        )

        def command(out: str, cache: str) -> list[str]:
            arguments = ["run", str(tmp_path / "study.yaml"), "-o", str(tmp_path / out)]
            return [*arguments, "--cache", str(tmp_path / cache), "--batch-tokens", "24"]

        def rows(cache: str) -> int:
            try:
                with sqlite3.connect(tmp_path / cache) as db:
                    return int(db.execute("SELECT count(*) FROM answers").fetchone()[0])
            except sqlite3.OperationalError:
                return 0

        process = subprocess.Popen([*PROGRAM, *command("killed", "a")], stdout=subprocess.DEVNULL)
        while rows("a") < 100 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        kept = rows("a")
        assert not (tmp_path / "killed" / "minimal-pairs").exists()
        assert penchant(*command("killed", "a"), "--resume")[0] == 0
        assert penchant(*command("whole", "b"))[0] == 0

        def finished(out: str) -> tuple[dict[str, Any], pl.DataFrame, pl.DataFrame]:
            manifest = json.loads((tmp_path / out / "manifest.json").read_text())
            (unit,) = manifest["units"]
            folder = tmp_path / out / unit["directory"]
            return (
                {**unit["counts"], "attempts": len(manifest["attempts"])},
                pl.read_parquet(folder / "items.parquet"),
                pl.read_parquet(folder / "summary.parquet"),
            )

        (resumed, items, summary), (whole, items_whole, summary_whole) = finished("killed"), finished("whole")
        assert 0 < kept < whole["forward"], "the process was not killed half way"
        assert resumed["attempts"] == 2
        assert resumed["cached"] == kept
        assert resumed["forward"] == whole["forward"] - kept
        assert items.drop("score_good", "score_bad", "logprobs_good", "logprobs_bad").equals(
            items_whole.drop("score_good", "score_bad", "logprobs_good", "logprobs_bad")
        )
        assert (items["score_good"] - items_whole["score_good"]).abs().max() < 1e-5  # type: ignore[operator]
        assert summary["n"].equals(summary_whole["n"])


BAD_TABLES = {
    "missing file": (None, ["nowhere.tsv"]),
    "wrong column": ("acceptable\tbad\nx\ty\n", ["'acceptable'", "good"]),
    "invalid JSON at line 7": ('{"good": "a", "bad": "b"}\n' * 6 + '{"good": "a", "bad"\n', ["line 7"]),
    "empty file": ("", ["empty"]),
    "blank field": ("good\tbad\na\tb\n \tb\n", ["line 3", "good"]),
    "short row": ("good\tbad\na\tb\na\n", ["line 3"]),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables(penchant: Program, zoo: Zoo, study: Path, case: str) -> None:
    text, parts = BAD_TABLES[case]
    if text is None:
        (study.parent / "pairs.tsv").unlink()
        study.write_text(study.read_text().replace("pairs.tsv", "nowhere.tsv"))
    else:
        (study.parent / "pairs.tsv").write_text(text)
    refused(penchant("run", study, "-o", "out"), *parts)
    assert not (study.parent / "out" / "minimal-pairs").exists()
    if text is not None:
        refused(penchant("audit", "pairs.tsv", "-m", zoo("bert")), *parts)


HEAD = "study: s\nmodels: [x]\nprobes:\n"
BAD_STUDIES = {
    "not YAML": ("study: [", "line 1: is not valid YAML"),
    "not a mapping": ("- a\n", "keys such as"),
    "unknown key": (f"study: s\nmodel: [x]\n{HEAD[9:]}  - minimal-pairs: {{data: [a]}}\n", "line 2: model: unknown"),
    "no models": ("study: s\nprobes: [{minimal-pairs: {data: [a]}}]\n", "models: is missing"),
    "unknown probe": (f"{HEAD}  - minimal: {{data: [a]}}\n", "line 4: probes.0: unknown probe"),
    "bad value": (
        f"{HEAD}  - minimal-pairs:\n      data: [a]\n      level: 95\n",
        "line 6: probes.0.minimal-pairs.level",
    ),
    "unknown normalisation": (f"{HEAD}  - minimal-pairs:\n      data: [a]\n      normalise: max\n", "line 6"),
}


@pytest.mark.parametrize("case", BAD_STUDIES)
def test_bad_studies(penchant: Program, tmp_path: Path, case: str) -> None:
    text, part = BAD_STUDIES[case]
    write(tmp_path / "s.yaml", text)
    refused(penchant("run", "s.yaml", "-o", "out"), "s.yaml", part)
    assert not (tmp_path / "out").exists()


REFUSED = [
    ("run none.yaml -o out", "", "none.yaml", "penchant init"),
    ("score -m {bert} --method plll", "Rain", "'plll'", "pll-word-l2r"),
    ("score -m {bert} --method lp", "Rain", "for causal models", "use pll"),
    ("score -m {gpt2} --method pll", "Rain", "for masked models", "use lp"),
    ("score -m {bert} --method pll-shared", "Rain", "minimal-pairs"),
    ("score -m {bert} --method aul --normalise pen", "Rain", "does not apply"),
    ("score -m {bert} long.txt", "", "long.txt, line 2", "64"),
    ("score -m {bert}", "rain " * 99, "standard input, line 1"),
    ("score -m {bert}", "Rain\nRain 漢\n", "line 2", "'漢'", "unknown"),
    ("score -m {bert}", "The [MASK] sleeps\n", "line 1", "[MASK]"),
    ("score -m {bert}", "Rain\n\nRain\n", "line 2", "no tokens"),
    ("score -m {bert} bytes.txt", "", "bytes.txt, line 2", "UTF-8"),
    ("score -m {bert} empty.txt", "", "empty"),
    ("score -m {bert}", "", "standard input", "empty"),
    ("score -m {bert} nowhere.txt", "", "nowhere.txt", "no such file"),
    ("score -m {gpt2-no-bos}", "Rain", "line 1", "single token"),
    ("score -m no/such", "Rain", "no/such", "HF_HUB_OFFLINE"),
    ("score -m {bert-headless}", "Rain", "no trained weights"),
    ("audit x.tsv -m no/such", "", "x.tsv"),
    ("score -m {gpt2} --cache bytes.txt", "Rain", "bytes.txt: ", "--cache on the command line"),
    ("score -m {gpt2} --cache damaged.sqlite", "Rain", "damaged.sqlite: ", "--cache on the command line"),
    ("fill -m {gpt2} 'a [MASK]'", "", "cannot fill a gap"),
    ("fill -m {bert} long.txt", "", "long.txt: is a file, but fill takes one sentence", "a sentence in quotes"),
    ("embed -m {bert} --pooling max empty.txt", "", "empty"),
    ("embed -m {bert} --pooling max", "Rain", "unknown pooling 'max'"),
    ("embed -m {bert} --layer 99", "Rain", "no layer 99"),
    ("embed -m {bert} --format np", "Rain", "did you mean npy?"),
    ("embed -m {bert}", "Rain\n\n", "line 2", "no tokens"),
    ("embed -m {bert}", "", "standard input", "empty"),
    ("list cats", "", "probes, models, data, methods"),
    ("init cats", "", "minimal-pairs"),
    ("compare a b --format xls", "", "unknown format 'xls'", "jsonl"),
    ("score -m {gpt2} --format xml", "", "tsv, jsonl, parquet"),
    ("score -m {gpt2} --dtype int8", "Rain", "float32, bfloat16, float16, float64"),
    ("score -m {gpt2} --device warp", "Rain", "warp"),
    ("score -m {gpt2} --normalise max", "Rain", "none, mean, pen"),
    ("scor", "", "--help", "Did you mean 'score'"),
    ("score", "", "--help"),
    ("score -m", "", "--help"),
    ("score -m x --nope", "", "--help"),
    ("fill -m x a -k zero", "", "--help"),
    ("score -m x --fromat tsv", "", "No such option: --fromat. Did you mean --format"),
    ("list prbes", "", "did you mean probes? use one of probes, models"),
    ("init cloz", "", "did you mean cloze? use one of"),
    ("schema stdy", "", "did you mean study?"),
    ("score -m bundled:modrn", "Rain", "did you mean bundled:modern or"),
    ("score -m bundled:modern --method PL", "Rain", "did you mean pll"),
]


@pytest.mark.parametrize("case", REFUSED, ids=[f"{command} {stdin[:9]!r}" for command, stdin, *_ in REFUSED])
def test_bad_input(penchant: Program, zoo: Zoo, tmp_path: Path, case: tuple[str, ...]) -> None:
    command, stdin, *parts = case
    write(tmp_path / "long.txt", "Rain\n" + "rain " * 99 + "\n")
    write(tmp_path / "bytes.txt", b"Rain\n\xff\xfe\n")
    write(tmp_path / "damaged.sqlite", b"SQLite format 3\0" + b"junk" * 999)
    write(tmp_path / "empty.txt", "")
    before = contents(tmp_path)
    models = {name: zoo(name) for name in re.findall(r"{(.*?)}", command)}
    refused(penchant(*shlex.split(command.format(**models)), stdin=stdin), *parts)
    assert contents(tmp_path).items() >= before.items()


class TestBadInput:
    def test_a_long_argument_makes_no_long_line(self, penchant: Program, zoo: Zoo) -> None:
        code, _, err = penchant("fill", "-m", zoo("bert"), "the dog " * 500 + "[MASK]")
        assert code == 2 and err.count("\n") == 1 and len(err) < 300

    def test_of_very_many_texts_that_cannot_be_read_it_is_said_where_looking_ended(
        self, penchant: Program, zoo: Zoo, tmp_path: Path
    ) -> None:
        (tmp_path / "in.txt").write_text("Rain 漢\n" * 2_000, "utf-8")
        code, out, err = penchant("score", "-m", zoo("bert"), "in.txt")
        # Looked at in parts of 256 texts, until 1,000 or more are found.
        assert code == 2 and out == "" and "the same in 1,023 more places" in err
        assert err.rstrip().endswith("… texts after these 1,024 were not checked")
        (tmp_path / "in.txt").write_text("Rain 漢\n" * 900, "utf-8")
        assert "not checked" not in penchant("score", "-m", zoo("bert"), "in.txt")[2]

    @pytest.mark.parametrize("command", ["score", "surprisal"])
    def test_every_text_that_cannot_be_read(self, penchant: Program, zoo: Zoo, tmp_path: Path, command: str) -> None:
        lines = ["Rain"] * 700
        bad = {2: "Rain 漢", 257: "", 699: "Rain ☃"}
        text = "\n".join(bad.get(number, line) for number, line in enumerate(lines, 1))
        (tmp_path / "in.txt").write_text(text + "\n", "utf-8")
        code, out, err = penchant(command, "-m", zoo("bert"), "--method", "pll", "in.txt")
        told = [line for line in err.splitlines() if "in.txt, line" in line]
        assert code == 2 and out == "" and len(told) == 3
        for (number, _), part, line in zip(bad.items(), ("'漢'", "no tokens", "'☃'"), told, strict=True):
            assert f"line {number}: " in line and part in line

    def test_output_that_cannot_be_written(self, penchant: Program, study: Path) -> None:
        refused(penchant("run", study, "-o", "/proc/penchant"), "/proc/penchant", "cannot be written")
        (study.parent / "file").write_text("")
        refused(penchant("run", study, "-o", "file"), "file", "give another directory")
        refused(penchant("run", study, "-o", study.parent), "not an empty directory")

    def test_full_disk_under_standard_output(self, penchant: Program, zoo: Zoo) -> None:
        """`test_limits.py` has processes whose standard output is full."""
        if not Path("/dev/full").exists():
            pytest.skip("this system has no /dev/full")
        with Path("/dev/full").open("w") as full:
            answer = penchant("score", "-m", zoo("gpt2"), "--cache", "none", stdin="Rain\n", stdout=full)
        refused(answer, "standard output", "No space left")

    @pytest.mark.parametrize(("limit", "begun"), [(500, False), (4000, True)])
    def test_full_disk_under_the_results(
        self, penchant: Program, study: Path, limit: int, begun: bool, tmp_path: Path
    ) -> None:
        with files_of_at_most(limit):
            code, _, err = penchant("run", study, "-o", "out", "--cache", "none")
        assert code == 2, err
        assert "cannot be written" in err.splitlines()[-1]
        left = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
        assert [file.name for file in left] == ["manifest.json"] * begun
        for file in left:
            json.loads(file.read_text())

    def test_full_disk_under_the_cache(self, penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
        with files_of_at_most(1000):
            refused(penchant("score", "-m", zoo("gpt2"), "--cache", tmp_path / "c", stdin="Rain\n"), "cache")


@pytest.mark.parametrize("command", ["score", "surprisal"])
def test_a_model_that_reads_ahead(command: str, penchant: Program, tmp_path: Path) -> None:
    home = save_tiny("xlnet", tmp_path, causal=True)
    write(tmp_path / "texts.txt", "Snow fell.\n")
    code, out, err = penchant(command, "-m", home, tmp_path / "texts.txt", "--cache", "none")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1 and "attends to tokens after" in err


@pytest.mark.parametrize(("layer", "code"), [("-1", 0), ("2", 2), ("9", 2)])
def test_a_layer_without_one_vector_a_token(layer: str, code: int, penchant: Program, tmp_path: Path) -> None:
    home = save_tiny("funnel", tmp_path, causal=False)
    write(tmp_path / "texts.txt", "The keys to the cabinet are on the table.\n")
    answer = penchant("embed", "-m", home, tmp_path / "texts.txt", "--layer", layer)
    assert answer[0] == code
    assert code == 0 or len(answer[2].splitlines()) == 1


def test_a_fault_of_ours_is_exit_code_1(penchant: Program, zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penchant.engine.sentence_scores.normalise", None)
    code, _, err = penchant("score", "-m", zoo("gpt2"), stdin="Rain\n")
    assert code == 1
    assert "--debug" in err


@pytest.mark.whole
def test_a_reader_that_stops_reading_is_no_error(zoo: Zoo) -> None:
    code = "yes 'The cats sleep .' | head -3000 | " + " ".join(map(str, PROGRAM))
    code += f" score -m {zoo('gpt2')} --cache none | head -1; exit ${{PIPESTATUS[2]}}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "score\tn_tokens\ttext\n", "")


@pytest.mark.whole
def test_progress_on_a_terminal_leaves_standard_output_alone(zoo: Zoo) -> None:
    import pty

    terminal, other_end = pty.openpty()
    at_once = "from penchant import progress; progress.PATIENCE = 0; from penchant.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", at_once, "score", "-m", zoo("gpt2"), "--cache", "none"],
        input="\n".join(tiny.SENTENCES) + "\n",
        stdout=subprocess.PIPE,
        stderr=other_end,
        text=True,
    )
    os.close(other_end)
    shown = ""
    with contextlib.suppress(OSError):  # nothing is left, and the other end is closed
        while more := os.read(terminal, 1 << 16):
            shown += more.decode()
    os.close(terminal)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1 + len(tiny.SENTENCES)
    assert "gpt2@" in shown
    assert "/s" in shown


def test_help_is_quick_and_needs_no_torch() -> None:
    script = "import sys; from penchant.cli import app as cli; sys.argv = ['penchant', '--help']\n"
    script += "try: cli.main()\nexcept SystemExit: print('torch' in sys.modules, 'polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ})
    assert done.stdout.splitlines()[-1] == "False False"


def test_in_float64_shortcuts_change_no_score(penchant: Program, zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    def scores() -> list[float]:
        asked = ("score", "-m", zoo("gpt2"), "--dtype", "float64", "--cache", "none", "--format", "jsonl")
        out, _ = succeeded(penchant(*asked, stdin="The cats sleep.\nThe cats sleep here.\n"))
        return [json.loads(line)["score"] for line in out.splitlines()]

    with_shortcuts = scores()
    monkeypatch.setenv("PENCHANT_PLAIN", "1")
    assert scores() == pytest.approx(with_shortcuts, abs=1e-5)
    assert len(with_shortcuts) == 2

"""The command line: what it prints, and that every kind of bad input gives its one line and exit code 2."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import brute
import zoo as tiny
from answers import refused
from builders import Program, Zoo, succeeded
from paths import ROOT

PROGRAM = [sys.executable, "-m", "penchant.cli.app"]


@pytest.fixture
def study(zoo: Zoo, tmp_path: Path) -> Path:
    """A study of the tiny pairs with two models."""
    lines = ["good\tbad\tgroup", *(f"{a}\t{b}\tg{i % 2}" for i, (a, b) in enumerate(tiny.PAIRS))]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    content = {
        "study": "tiny",
        "models": [str(zoo("bert")), str(zoo("gpt2"))],
        "probes": [{"minimal-pairs": {"data": ["pairs.tsv"], "resamples": 200}}],
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return tmp_path / "study.yaml"


class TestScore:
    def test_tsv_in_input_order(self, penchant: Program, zoo: Zoo) -> None:
        out, err = succeeded(penchant("score", "-m", zoo("gpt2"), stdin="\n".join(tiny.SENTENCES) + "\n"))
        table = pl.read_csv(out.encode(), separator="\t")
        assert table["text"].to_list() == tiny.SENTENCES
        model, tokenizer = brute.load(zoo("gpt2"), causal=True)
        for row in table.iter_rows(named=True):
            expected = brute.lp(model, tokenizer, row["text"])
            assert row["score"] == pytest.approx(sum(expected), abs=1e-3)
            assert row["tokens"] == len(expected)
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
            assert list(row) == ["text", "score", "tokens", "token_logprobs"]
            expected = brute.pll_word_l2r(model, tokenizer, row["text"])
            assert row["token_logprobs"] == pytest.approx(expected, abs=1e-4)
            assert row["score"] == pytest.approx(sum(expected) / len(expected), abs=1e-4)

    @pytest.mark.whole
    def test_parquet_on_standard_output(self, zoo: Zoo, tmp_path: Path) -> None:
        with (tmp_path / "out.parquet").open("wb") as out:
            subprocess.run(
                [*PROGRAM, "score", "-m", zoo("gpt2-no-bos"), "--format", "parquet", "--cache", "none"],
                input=b"The cats sleep .\n",
                stdout=out,
                check=True,
            )
        table = pl.read_parquet(tmp_path / "out.parquet")
        first, *rest = table["token_logprobs"][0].to_list()
        assert first is None  # no beginning token: the first token is not scored, and says so
        assert table["score"][0] == pytest.approx(sum(rest))

    def test_second_time_the_cache_answers(self, penchant: Program, zoo: Zoo) -> None:
        first = penchant("score", "-m", zoo("gpt2"), stdin="Rain\n")
        second = penchant("score", "-m", zoo("gpt2"), stdin="Rain\n")
        assert first == second
        assert first[0] == 0


def test_fill_wants_one_sentence(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("The [MASK] sleeps.\n", "utf-8")
    refused(penchant("fill", "-m", zoo("bert"), "t.txt"), "t.txt: is the name of a file", "a sentence in quotes")
    code, _, err = penchant("fill", "-m", zoo("bert"), "the dog " * 500 + "[MASK]")
    assert code == 2 and err.count("\n") == 1 and len(err) < 300


def test_fill_equals_reference(penchant: Program, zoo: Zoo) -> None:
    for name in ("bert", "roberta"):
        model, tokenizer = brute.load(zoo(name))
        text = "The old [MASK] sleeps ."
        out, _ = succeeded(penchant("fill", "-m", zoo(name), text, "-k", "5", "--format", "jsonl"))
        rows = [json.loads(line) for line in out.splitlines()]
        expected = brute.topk_at_mask(model, tokenizer, text.replace("[MASK]", tokenizer.mask_token), 5)
        assert [row["prob"] for row in rows] == pytest.approx([p for _, p in expected], abs=1e-5)
        assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5]


def test_audit_check_init_list_schema_version(penchant: Program, zoo: Zoo, study: Path) -> None:
    out, _ = succeeded(penchant("audit", "pairs.tsv", "-m", zoo("bert"), "-m", zoo("roberta"), "--format", "tsv"))
    assert len(out.splitlines()) == 1 + 2 * 3
    out, _ = succeeded(penchant("check", "-m", zoo("gpt2"), "pairs.tsv"))
    assert "padding" in out
    code, out, err = penchant("check", "-m", zoo("bert-headless"))
    assert code == 2
    assert "fail" in out
    assert "not fit" in err
    succeeded(penchant("init", "minimal-pairs", "new"))
    succeeded(penchant("run", "new/minimal-pairs.yaml", "-o", "o", "-m", zoo("gpt2")))
    refused(penchant("init", "minimal-pairs", "new"), "is already there")
    for what in ("probes", "models", "data", "methods"):
        out, _ = succeeded(penchant("list", what))
        assert out
    code, out, _ = penchant("schema")
    assert "minimal-pairs" in json.dumps(json.loads(out))
    assert penchant("--version") == (0, "0.1.0\n", "")


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
    refused(penchant("compare", "a", "b", "--format", "xls"), "unknown format 'xls'", "jsonl")
    refused(penchant("compare", "a", "a"), "of one model")
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
    ).filter(normalise="none", scope="paradigm")
    items = [pl.read_parquet(next((tmp_path / method).rglob("items.parquet"))) for method in ("pll", "pll-word-l2r")]
    right = [frame.select("paradigm", right=pl.col("score_good") > pl.col("score_bad")) for frame in items]
    for paradigm, value in read.select("group", "value").iter_rows():
        shares = [frame.filter(paradigm=paradigm)["right"].mean() for frame in right]
        assert value == pytest.approx(shares[0] - shares[1])  # type: ignore[operator]
    assert not items[0]["score_good"].equals(items[1]["score_good"])
    (named,) = read["comparison"].unique()
    model = named.split(" (method:pll)")[0]
    assert named == f"{model} (method:pll) − {model} (method:pll-word-l2r)"
    table, _ = succeeded(penchant("compare", "pll", "pll-word-l2r"))
    assert "Bert (method:pll) − Bert (method:pll-word-l2r)" in table
    refused(penchant("compare", "pll", "pll"), "both are of one model, asked the same")


@pytest.mark.whole
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
    refused(penchant("embed", "-m", zoo("bert"), "--pooling", "max", "in.txt"), "unknown pooling 'max'")
    refused(penchant("embed", "-m", zoo("bert"), "--layer", "99", "in.txt"), "no layer 99")
    refused(penchant("embed", "-m", zoo("bert"), "--format", "np", "in.txt"), "did you mean npy?")
    refused(penchant("embed", "-m", zoo("bert"), stdin="Rain\n\n"), "line 2", "no tokens")
    refused(penchant("embed", "-m", zoo("bert"), stdin=""), "standard input", "empty")
    program = [*PROGRAM, "embed", "-m", str(zoo("bert")), "in.txt", "--format"]
    with (tmp_path / "v.npy").open("wb") as file:
        subprocess.run([*program, "npy"], stdout=file, check=True)
    with (tmp_path / "v.parquet").open("wb") as file:
        subprocess.run([*program, "parquet"], stdout=file, check=True)
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

    from penchant.study.spec import read_study

    _, out, _ = penchant("schema")
    examples = sorted((ROOT / "examples").glob("*.yaml"))
    assert examples
    for example in examples:
        jsonschema.validate(yaml.safe_load(example.read_text()), json.loads(out))
        read_study(example)


@pytest.mark.whole
def test_the_paper_study_runs_with_stand_ins_of_its_architectures(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    for folder in ("blimp", "crows_pairs", "comps"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    plain = [pair for pair in tiny.PAIRS if all(s.isascii() for s in pair)]
    blimp = [
        {"sentence_good": a, "sentence_bad": b, "UID": f"u{i % 2}", "linguistics_term": "t", "field": "f", "pairID": i}
        for i, (a, b) in enumerate(plain)
    ]
    (tmp_path / "data/blimp/u.jsonl").write_text("".join(json.dumps(row) + "\n" for row in blimp))
    crows = [["", "sent_more", "sent_less", "stereo_antistereo", "bias_type"]]
    crows += [[str(i), a, b, ("stereo", "antistereo")[i % 2], "age"] for i, (a, b) in enumerate(plain)]
    with (tmp_path / "data/crows_pairs/crows_pairs_anonymized.csv").open("w", newline="") as file:
        csv.writer(file).writerows(crows)
    for name in ("comps_base", "comps_wugs"):
        rows = [
            {"id": i, "prefix_acceptable": a, "prefix_unacceptable": b, "property_phrase": "."}
            for i, (a, b) in enumerate(plain)
        ]
        (tmp_path / f"data/comps/{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    models = [arg for m in ("gpt2", "bert-cased", "roberta", "electra-generator") for arg in ("-m", zoo(m))]
    example = ROOT / "examples" / "token-length.yaml"
    out, err = succeeded(penchant("run", example, "-o", "out", "--data", "data", "--full", *models))
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert len(manifest["units"]) == 4
    for unit in manifest["units"]:
        summary = pl.read_parquet(tmp_path / "out" / unit["directory"] / "summary.parquet")
        assert set(summary["dataset"]) == {"blimp", "crows-pairs", "comps"}
        assert set(summary["normalise"]) == {"none", "mean", "pen"}
        assert "stereotype score" in set(summary["measure"])
    comparison = pl.read_parquet(tmp_path / "out/minimal-pairs/comparison.parquet")
    assert comparison["comparison"].n_unique() == 6
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
        assert set(comparison["scope"]) == {"overall", "paradigm", "as they are"}
        refused(penchant("run", study, "-o", "out"), "--resume")
        assert penchant("run", study, "-o", "out", "--resume")[0] == 0

    def test_resume_refuses_another_study_and_changed_data(self, penchant: Program, study: Path) -> None:
        assert penchant("run", study, "-o", "out")[0] == 0
        text = study.read_text()
        study.write_text(text + "seed: 1\n")
        refused(penchant("run", study, "-o", "out", "--resume"), "different study")
        study.write_text(text)
        with (study.parent / "pairs.tsv").open("a") as file:
            file.write("The cats sleep .\tThe cats sleeps .\tg0\n")
        refused(penchant("run", study, "-o", "out", "--resume"), "pairs.tsv", "changed")

    @pytest.mark.whole
    def test_killed_and_resumed_ends_the_same_and_repeats_nothing(
        self, penchant: Program, zoo: Zoo, tmp_path: Path
    ) -> None:
        words = [w for s in tiny.SENTENCES[:6] for w in s.split()]
        lines = ["good\tbad"]
        lines += [
            f"{' '.join(words[i % 7 : i % 7 + 5])} {words[i % 11]} {words[i % 13]}\t{words[i % 17]} {words[i % 19]}"
            for i in range(120)
        ]
        (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n", "utf-8")
        probes = [{"minimal-pairs": {"data": ["pairs.tsv"], "resamples": 100}}]
        content = {"study": "s", "models": [str(zoo("bert"))], "probes": probes}
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(content))

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


BAD_STUDIES = {
    "not YAML": ("study: [", "line 1: is not YAML"),
    "not a mapping": ("- a\n", "keys such as"),
    "unknown key": (
        "study: s\nmodel: [x]\nmodels: [x]\nprobes: [{minimal-pairs: {data: [a]}}]\n",
        "line 2: model: unknown",
    ),
    "no models": ("study: s\nprobes: [{minimal-pairs: {data: [a]}}]\n", "models: is missing"),
    "unknown probe": ("study: s\nmodels: [x]\nprobes:\n  - minimal: {data: [a]}\n", "line 4: probes.0: unknown probe"),
    "bad value": (
        "study: s\nmodels: [x]\nprobes:\n  - minimal-pairs:\n      data: [a]\n      level: 95\n",
        "line 6: probes.0.minimal-pairs.level: input should be less than 1, got 95",
    ),
    "unknown normalisation": (
        "study: s\nmodels: [x]\nprobes:\n  - minimal-pairs:\n      data: [a]\n      normalise: max\n",
        "line 6",
    ),
}


@pytest.mark.parametrize("case", BAD_STUDIES)
def test_bad_studies(penchant: Program, tmp_path: Path, case: str) -> None:
    text, part = BAD_STUDIES[case]
    (tmp_path / "s.yaml").write_text(text)
    refused(penchant("run", "s.yaml", "-o", "out"), "s.yaml", part)
    assert not (tmp_path / "out").exists()


class TestBadInput:
    def test_no_study_file(self, penchant: Program) -> None:
        refused(penchant("run", "none.yaml", "-o", "out"), "none.yaml", "penchant init")

    def test_unknown_method(self, penchant: Program, zoo: Zoo) -> None:
        refused(penchant("score", "-m", zoo("bert"), "--method", "plll", stdin="Rain\n"), "'plll'", "pll-word-l2r")

    def test_method_that_does_not_fit(self, penchant: Program, zoo: Zoo) -> None:
        refused(penchant("score", "-m", zoo("bert"), "--method", "lp", stdin="Rain\n"), "for causal models", "use pll")
        refused(penchant("score", "-m", zoo("gpt2"), "--method", "pll", stdin="Rain\n"), "for masked models", "use lp")
        refused(penchant("score", "-m", zoo("bert"), "--method", "pll-shared", stdin="Rain\n"), "minimal-pairs")
        refused(
            penchant("score", "-m", zoo("bert"), "--method", "aul", "--normalise", "pen", stdin="Rain\n"),
            "does not apply",
        )
        refused(penchant("fill", "-m", zoo("gpt2"), "a [MASK]"), "cannot fill a gap")

    def test_over_long_sentence(self, penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
        (tmp_path / "in.txt").write_text("Rain\n" + "rain " * 99 + "\n")
        refused(penchant("score", "-m", zoo("bert"), "in.txt"), "in.txt, line 2", "64")
        refused(penchant("score", "-m", zoo("bert"), stdin="rain " * 99), "standard input, line 1")

    def test_unknown_token(self, penchant: Program, zoo: Zoo) -> None:
        refused(penchant("score", "-m", zoo("bert"), stdin="Rain\nRain 漢\n"), "line 2", "'漢'", "unknown")

    def test_of_very_many_texts_that_cannot_be_read_it_is_said_where_looking_ended(
        self, penchant: Program, zoo: Zoo, tmp_path: Path
    ) -> None:
        (tmp_path / "in.txt").write_text("Rain 漢\n" * 2_000, "utf-8")
        code, out, err = penchant("score", "-m", zoo("bert"), "in.txt")
        # Looked at in parts of 256 texts, until 1,000 or more are found.
        assert code == 2 and out == "" and "the same in 1,023 more places" in err
        assert err.rstrip().endswith("… texts behind these 1,024 were not looked at")
        (tmp_path / "in.txt").write_text("Rain 漢\n" * 900, "utf-8")
        assert "not looked at" not in penchant("score", "-m", zoo("bert"), "in.txt")[2]

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

    def test_special_token_and_empty_line_and_bytes(self, penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
        refused(penchant("score", "-m", zoo("bert"), stdin="The [MASK] sleeps\n"), "line 1", "[MASK]")
        refused(penchant("score", "-m", zoo("bert"), stdin="Rain\n\nRain\n"), "line 2", "no tokens")
        (tmp_path / "in.txt").write_bytes(b"Rain\n\xff\xfe\n")
        refused(penchant("score", "-m", zoo("bert"), "in.txt"), "in.txt, line 2", "UTF-8")
        (tmp_path / "in.txt").write_bytes(b"")
        refused(penchant("score", "-m", zoo("bert"), "in.txt"), "empty")
        refused(penchant("score", "-m", zoo("bert"), stdin=""), "standard input", "empty")
        refused(penchant("score", "-m", zoo("bert"), "nowhere.txt"), "nowhere.txt", "no such file")

    def test_study_with_text_the_model_cannot_read(self, penchant: Program, study: Path) -> None:
        with (study.parent / "pairs.tsv").open("a") as file:
            file.write("The cats 漢 sleep .\tThe cats sleeps .\tg0\n")
        refused(penchant("run", study, "-o", "out"), "unknown tokens", "pairs.tsv, line 10", "penchant check")

    def test_single_token_without_a_beginning(self, penchant: Program, zoo: Zoo) -> None:
        refused(penchant("score", "-m", zoo("gpt2-no-bos"), stdin="Rain\n"), "line 1", "single token")

    def test_models_that_are_not_there(self, penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
        shutil.copytree(zoo("bert"), tmp_path / "m")
        (tmp_path / "m" / "model.safetensors").unlink()
        refused(penchant("score", "-m", "m", stdin="Rain\n"), "m: ", "no safetensors weights")
        refused(penchant("score", "-m", "no/such", stdin="Rain\n"), "no/such", "HF_HUB_OFFLINE")
        refused(penchant("score", "-m", zoo("bert-headless"), stdin="Rain\n"), "no trained weights")
        refused(penchant("audit", "x.tsv", "-m", "no/such"), "x.tsv")

    def test_corrupt_cache(self, penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
        for content in (b"junk", b"SQLite format 3\0" + b"junk" * 999):
            (tmp_path / "c").write_bytes(content)
            refused(
                penchant("score", "-m", zoo("gpt2"), "--cache", "c", stdin="Rain\n"),
                "c: ",
                "--cache on the command line",
            )
            assert (tmp_path / "c").read_bytes() == content

    def test_output_that_cannot_be_written(self, penchant: Program, study: Path) -> None:
        refused(penchant("run", study, "-o", "/proc/penchant"), "/proc/penchant", "cannot be written")
        (study.parent / "file").write_text("")
        refused(penchant("run", study, "-o", "file"), "file", "name another directory")
        refused(penchant("run", study, "-o", study.parent), "not an empty directory")

    @pytest.mark.whole
    def test_full_disk_under_standard_output(self, zoo: Zoo) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("this system has no /dev/full")
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*PROGRAM, "score", "-m", zoo("gpt2"), "--cache", "none"],
                input="Rain\n",
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
        refused((done.returncode, "", done.stderr), "standard output", "No space left")

    @pytest.mark.parametrize("limit", [0, 2000])
    @pytest.mark.whole
    def test_full_disk_under_the_results(self, study: Path, limit: int, tmp_path: Path) -> None:
        done = subprocess.run(
            [*PROGRAM, "run", study, "-o", tmp_path / "out", "--cache", "none"],
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        assert done.returncode == 2, done.stderr
        assert "cannot be written" in done.stderr.splitlines()[-1]
        left = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
        assert all(file.name == "manifest.json" for file in left)
        for file in left:
            json.loads(file.read_text())

    @pytest.mark.whole
    def test_full_disk_under_the_cache(self, zoo: Zoo, tmp_path: Path) -> None:
        done = subprocess.run(
            [*PROGRAM, "score", "-m", zoo("gpt2"), "--cache", tmp_path / "c"],
            input="Rain\n",
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        )
        refused((done.returncode, "", done.stderr), "cache of answers")

    @pytest.mark.parametrize(
        "arguments",
        [
            ["scor"],
            ["score"],
            ["score", "-m"],
            ["score", "-m", "x", "--nope"],
            ["fill", "-m", "x", "a", "-k", "zero"],
        ],
    )
    def test_usage(self, penchant: Program, arguments: list[str]) -> None:
        refused(penchant(*arguments), "--help")

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["scor"], "Did you mean 'score'"),
            (["score", "-m", "x", "--fromat", "tsv"], "No such option: --fromat. Did you mean --format"),
            (["list", "prbes"], "did you mean probes? use one of probes, models"),
            (["init", "cloz"], "did you mean cloze? use one of"),
            (["schema", "stdy"], "did you mean study?"),
            (["score", "-m", "bundled:modrn"], "did you mean bundled:modern or"),
            (["score", "-m", "bundled:modern", "--method", "PL"], "did you mean pll"),
        ],
    )
    def test_misspelt_names(self, penchant: Program, arguments: list[str], told: str) -> None:
        refused(penchant(*arguments, stdin="Rain\n"), told)

    def test_models_that_no_probe_reads(self, penchant: Program, study: Path) -> None:
        (study.parent / "v.txt").write_text("2 2\nrain 1 0\nsun 0 1\n", "utf-8")
        told = "minimal-pairs reads masked models and causal models"
        refused(
            penchant("run", study, "-o", "out", "-m", "v.txt"), "no probe of the study reads static word vectors", told
        )
        with study.open("a") as file:
            file.write("- weat: {data: x.csv}\n")
        rows = [f"c,{side},{side}{number}" for side in "XYAB" for number in range(3)]
        (study.parent / "x.csv").write_text("category,set,word\n" + "\n".join(rows) + "\n", "utf-8")
        refused(
            penchant("run", study, "-o", "out", "-m", "v.txt"),
            "no model of the study fits minimal-pairs",
            told,
            "static",
        )

    def test_unknown_names(self, penchant: Program, zoo: Zoo) -> None:
        refused(penchant("list", "cats"), "probes, models, data, methods")
        refused(penchant("init", "cats"), "minimal-pairs")
        refused(penchant("score", "-m", zoo("gpt2"), "--format", "xml"), "tsv, jsonl, parquet")
        refused(penchant("score", "-m", zoo("gpt2"), "--dtype", "int8"), "float32, bfloat16, float16, float64")
        refused(penchant("score", "-m", zoo("gpt2"), "--device", "warp"), "warp")
        refused(penchant("score", "-m", zoo("gpt2"), "--normalise", "max", stdin="Rain\n"), "none, mean, pen")


def test_a_fault_of_ours_is_exit_code_1(penchant: Program, zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penchant.engine.scores.normalise", None)
    code, _, err = penchant("score", "-m", zoo("gpt2"), stdin="Rain\n")
    assert code == 1
    assert "--debug" in err


@pytest.mark.whole
def test_a_reader_that_stops_reading_is_no_error(zoo: Zoo) -> None:
    code = "yes 'The cats sleep .' | head -3000 | " + " ".join(map(str, PROGRAM))
    code += f" score -m {zoo('gpt2')} --cache none | head -1; exit ${{PIPESTATUS[2]}}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "score\ttokens\ttext\n", "")


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

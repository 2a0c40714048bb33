"""Scores made elsewhere: a table of them gives what the model that made them gives, and a bad table is refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import brute
import penchant as pc
from builders import Program, Zoo, error_of, write, write_study
from penchant.errors import DataError, MethodError, ModelError
from penchant.instruments.registry import instrument_named
from penchant.records import Signature

PAIRS = [
    (f"The {noun} {adverb}in the garden sees the {other}.", f"The {noun} {adverb}in the garden see.", group)
    for group, adverb in (("short", ""), ("long", "on the table "))
    for noun, other in (("dog", "horse"), ("teacher", "doctor"), ("old horse", "nurse"), ("book", "key"))
] + [("Rain is here.", "Rain are here and there.", "short"), ("Men see the dog.", "Men sees the dog.", "long")]


def pairs(folder: Path) -> Path:
    rows = [{"good": good, "bad": bad, "group": group} for good, bad, group in PAIRS]
    pl.DataFrame(rows).write_csv(folder / "pairs.tsv", separator="\t")
    return folder / "pairs.tsv"


def crows(folder: Path) -> Path:
    nouns = ("teacher", "dog", "old dog", "horse")
    rows = [
        {"sent_more": f"The {a} is {b}.", "sent_less": f"The {a} here is {b}.", "bias_type": kind}
        for kind, b in (("age", "old"), ("trade", "good"))
        for a in nouns
    ]
    pl.DataFrame(rows).with_columns(stereo_antistereo=pl.lit("stereo")).write_csv(folder / "crows_pairs.csv")
    return folder / "crows_pairs.csv"


def winobias(folder: Path) -> Path:
    for side, one in (("pro", "he"), ("anti", "she")):
        lines = [f"1 [The cook] saw the nurse because [{one}] was late.\n", f"2 [The cook] left and [{one}] slept.\n"]
        write(folder / f"{side}_stereotyped_type1.txt.dev", "".join(lines))
    return folder


def probe(kind: str, folder: Path, **settings: Any) -> pc.Probe[Any]:
    templates = Path(pc.__file__).parent / "instruments"
    known: dict[str, Callable[[], pc.Probe[Any]]] = {
        "pairs": lambda: pc.MinimalPairs(str(pairs(folder)), resamples=100, **settings),
        "crows": lambda: pc.MinimalPairs(str(crows(folder)), resamples=100, **settings),
        "fair": lambda: pc.FairPairs(original=str(pairs(folder)), fair=str(pairs(folder)), resamples=100, **settings),
        "winobias": lambda: pc.WinoBias(data=str(winobias(folder)), resamples=100, **settings),
        "winogender": lambda: pc.Winogender(
            data=str(templates / "wino/winogender_template/templates.tsv"),
            statistics=str(templates / "wino/winogender_template/statistics.csv"),
            shares=["invented_pct_female"],
            resamples=100,
            **settings,
        ),
        "stereoset": lambda: pc.StereoSet(
            str(templates / "stereoset/template/clusters.json"), part="intra", resamples=100, **settings
        ),
        "acceptability": lambda: pc.Acceptability(
            str(templates / "acceptability/template/acceptability.csv"), resamples=100, **settings
        ),
    }
    return known[kind]()


def by_transformers(directory: Path, texts: list[str]) -> list[dict[str, Any]]:
    """Score texts with a causal model as plain transformers does, one row a text."""
    model, tokenizer = brute.load(directory, causal=True)
    rows = []
    for text in texts:
        values = brute.lp(model, tokenizer, text)
        rows.append({"text": text, "score": float(np.nansum(values)), "n_tokens": len(values)})
    return rows


def texts_of(asked: pc.Probe[Any]) -> list[str]:
    return list(dict.fromkeys(text for text, _ in asked.texts((Path(),))))


# The same numbers as the model ----------------------------------------------------------------------------------------

KINDS = ("pairs", "crows", "fair", "winobias", "winogender", "stereoset", "acceptability")


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_gives_the_summary_of_the_model(zoo: Zoo, tmp_path: Path, kind: str) -> None:
    asked = probe(kind, tmp_path)
    of_model = asked.run(str(zoo("gpt2")))
    rows = by_transformers(zoo("gpt2"), texts_of(asked))
    given = asked.run(pc.Scores(rows[::-1] + rows[:2]))  # in any order, some twice
    assert len(of_model.summary) > 5
    assert_frame_equal(given.summary.drop("signature"), of_model.summary.drop("signature"), abs_tol=1e-4, rel_tol=1e-4)
    assert given.signature["method"] == "given" and given.signature["dtype"] == "unknown"
    assert Signature.parse(str(given.signature))["model"] == given.signature["model"]
    assert given.signature["model"].startswith("scores:given@")
    assert type(asked).of(given.settings).name == asked.name


@pytest.mark.parametrize("name", ["gpt2", "roberta"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_frame_of_score_gives_the_summary_exactly(zoo: Zoo, tmp_path: Path, kind: str, name: str) -> None:
    asked = probe(kind, tmp_path)
    of_model = asked.run(str(zoo(name)))
    given = asked.run(pc.Scores(pc.score(str(zoo(name)), texts_of(asked))))
    assert_frame_equal(given.summary.drop("signature"), of_model.summary.drop("signature"), abs_tol=1e-6, rel_tol=1e-6)


def test_tables_of_penchant_score_are_read(zoo: Zoo, penchant: Program, tmp_path: Path) -> None:
    asked = probe("pairs", tmp_path)
    of_model = asked.run(str(zoo("gpt2")))
    write(tmp_path / "texts.txt", "".join(f"{text}\n" for text in texts_of(asked)))
    for form in ("tsv", "jsonl"):
        code, told, err = penchant("score", "-m", zoo("gpt2"), "--format", form, "texts.txt")
        assert code == 0, err
        write(tmp_path / f"s.{form}", told)
        given = asked.run(f"scores:{tmp_path / f's.{form}'}")
        assert_frame_equal(given.summary.drop("signature"), of_model.summary.drop("signature"), abs_tol=1e-9)


def test_a_stated_method_is_cited(zoo: Zoo, tmp_path: Path) -> None:
    rows = by_transformers(zoo("gpt2"), texts_of(probe("pairs", tmp_path)))
    assert probe("pairs", tmp_path, method="lp").run(pc.Scores(rows, name="vllm")).signature["method"] == "lp"
    assert pc.Scores(rows, name="vllm").name.startswith("scores:vllm@")
    error_of(lambda: pc.Scores(rows, name="a@b"), ModelError)
    for method in ("pll-shared", "aul"):
        error_of(lambda m=method: probe("pairs", tmp_path, method=m).run(pc.Scores(rows)), MethodError)  # type: ignore[misc]


def test_tokens_and_their_values_are_shown(tmp_path: Path) -> None:
    rows = [{"text": good, "score": -3.0, "tokens": ["a", "b"], "logprobs": [None, -3.0]} for good, _, _ in PAIRS] + [
        {"text": bad, "score": -4.0, "tokens": ["c"], "logprobs": [-4.0]} for _, bad, _ in PAIRS
    ]
    items = probe("pairs", tmp_path).run(pc.Scores(rows)).items
    assert items["difference"].unique().to_list() == [1]
    assert (items["tokens_good"][0].to_list(), items["logprobs_good"][0].to_list()) == (["a", "b"], [None, -3.0])


@pytest.mark.parametrize("kind", KINDS)
def test_without_numbers_of_tokens_only_sums_are_reported(zoo: Zoo, tmp_path: Path, kind: str) -> None:
    asked = probe(kind, tmp_path)
    rows = [{"text": row["text"], "score": row["score"]} for row in by_transformers(zoo("gpt2"), texts_of(asked))]
    found = asked.run(pc.Scores(rows))
    assert found.signature["normalise"] == "none"
    of_model = asked.model_copy(update={"normalise": "none"}).run(str(zoo("gpt2")))
    assert not {"A=U", "A>U", "longer"} & {
        text for name in ("split", "lengths") for text in found.summary.to_dict().get(name, [])
    }
    levels = found.summary.columns[: found.summary.columns.index("value")]
    keys = [name for name in levels if name not in ("model", "normalise")]
    both = found.summary.join(of_model.summary, on=keys, how="inner", nulls_equal=True)
    assert len(both) >= 1 and both.select((pl.col("value") - pl.col("value_right")).abs().max()).item() < 1e-4
    study = pc.run(asked, tmp_path / "out", models=[pc.Scores(rows), str(zoo("gpt2"))], progress=False)
    assert study.page is not None and study.page.is_file()
    assert study.results[asked.name, next(iter(study.results))[1]].items["id"].len() == len(found.items)
    error_of(lambda: asked.model_copy(update={"normalise": "mean"}).run(pc.Scores(rows)), MethodError)
    assert pc.Scores(rows).cautions


# What is refused ------------------------------------------------------------------------------------------------------

GOOD = "The cats sleep."
BAD = [
    ("text,score\n{0},-3\n{1},\n", 3),
    ("text,score\n{0},-3\n{1},nan\n", 3),
    ("text,score\n{0},-3\n{1},-inf\n", 3),
    ("text,score\n{0},-3\n{1},0.5\n", 3),
    ("text,score\n{0},-3\n{1},-4\n{0},-3.00001\n", 4),
    ("text,score,n_tokens\n{0},-3,4\n{1},-4,4\n{0},-3,5\n", 4),
    ("text,score,n_tokens\n{0},-3,4\n{1},-4,\n", 3),
    ("text,score,n_tokens\n{0},-3,0\n{1},-4,3\n", 2),
    ('text,score,logprobs\n{0},-3,"[-1,-2]"\n{1},-4,"[-1,-2]"\n', 3),
    ('text,score,tokens,logprobs\n{0},-3,"[""a""]","[-1,-2]"\n{1},-3,"[""a"",""b""]","[-1,-2]"\n', 2),
]


@pytest.mark.parametrize(("table", "line"), BAD)
def test_a_bad_row_is_refused_with_its_line(penchant: Program, tmp_path: Path, table: str, line: int) -> None:
    write(tmp_path / "pairs.tsv", "good\tbad\nThe cats sleep.\tThe cats sleeps.\n")
    write(tmp_path / "s.csv", table.format(GOOD, "The cats sleeps."))
    write_study(tmp_path / "s.yaml", ["scores:s.csv"], {"minimal-pairs": {"data": "pairs.tsv"}})
    code, out, err = penchant("run", "s.yaml", "-o", "out")
    assert (code, out) == (2, "")
    assert f"s.csv, line {line}" in err and err.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert error_of(lambda: pc.Scores(tmp_path / "s.csv"), DataError).line == line


def test_all_missing_texts_are_counted_before_anything_is_written(penchant: Program, tmp_path: Path) -> None:
    write(tmp_path / "pairs.tsv", "good\tbad\n" + "".join(f"Text {i}.\tTexts {i}.\n" for i in range(4)))
    write(tmp_path / "s.csv", "text,score\nText 0.,-3\n")
    write_study(tmp_path / "s.yaml", ["scores:s.csv"], {"minimal-pairs": {"data": "pairs.tsv"}})
    code, out, err = penchant("run", "s.yaml", "-o", "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert all(part in err for part in ("7 of 8", "Texts 0.", "Text 1.", "Texts 1.", "4 more", "--texts-out"))
    assert "Text 2." not in err and not (tmp_path / "out").exists()
    assert "7 of 8" in str(
        error_of(lambda: pc.MinimalPairs(str(tmp_path / "pairs.tsv")).run(pc.Scores(tmp_path / "s.csv")), DataError)
    )


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"normalise": "slor"}, MethodError),
        ({"normalise": "pmi"}, MethodError),
        ({"method": "pll-shared"}, MethodError),
    ],
)
def test_what_needs_the_model_is_refused(tmp_path: Path, settings: dict[str, str], kind: type[MethodError]) -> None:
    rows = [{"text": text, "score": -1.0, "n_tokens": 3} for good, bad, _ in PAIRS for text in (good, bad)]
    more = {"unigrams": "none.parquet"} if settings.get("normalise") == "slor" else {}
    error_of(lambda: probe("pairs", tmp_path, **settings, **more).run(pc.Scores(rows)), MethodError)


def test_parts_given_a_context_are_refused(tmp_path: Path) -> None:
    asked = probe("stereoset", tmp_path)
    rows = [{"text": text, "score": -1.0} for text in texts_of(asked.model_copy(update={"part": ["intra", "inter"]}))]
    error_of(lambda: asked.model_copy(update={"part": ["inter"], "_sets": {}}).run(pc.Scores(rows)), MethodError)
    prefixed = pc.MinimalPairs([{"prefix": "It is so: ", "good": "cats sleep.", "bad": "cats sleeps."}])
    rows = [{"text": f"It is so: {end}", "score": -1.0} for end in ("cats sleep.", "cats sleeps.")]
    error_of(lambda: prefixed.run(pc.Scores(rows)), MethodError)


def test_other_instruments_and_commands_do_not_take_a_table(penchant: Program, tmp_path: Path) -> None:
    table = write(tmp_path / "s.csv", "text,score\nThe cats sleep.,-3\n")
    for name in ("cloze", "ceat", "values", "vector-bias", "disco", "bec-pro", "amplification", "weat", "logprob-bias"):
        assert "scores" not in instrument_named(name).probe.kinds
    error_of(lambda: pc.Cloze(data="early-modern-60").run(pc.Scores(table)), MethodError)
    for command in (["score", "s.csv"], ["fill", "The [MASK]."], ["check"], ["audit", pairs(tmp_path)]):
        code, out, err = penchant(command[0], "-m", f"scores:{table}", *command[1:])
        assert (code, out) == (2, ""), err
    error_of(lambda: pc.load(f"scores:{table}"), ModelError)
    error_of(lambda: pc.score(pc.Scores(table), ["The cats sleep."]), ModelError)
    assert penchant("run", "s.yaml")[0] == 2


# Studies --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_texts_go_out_and_scores_come_back(zoo: Zoo, penchant: Program, tmp_path: Path, suffix: str) -> None:
    write(tmp_path / "more.jsonl", json.dumps({"good": '"Rain", he\tsaid,', "bad": "=1+1 is 2."}) + "\n")
    pairs(tmp_path)
    asked = {"minimal-pairs": {"data": ["pairs.tsv", "more.jsonl"], "resamples": 100}}
    write_study(tmp_path / "s.yaml", ["scores:made.jsonl"], asked, {"cloze": {"data": "early-modern-60"}})
    code, out, err = penchant("run", "s.yaml", "--texts-out", f"t.{suffix}")
    assert (code, out) == (0, ""), err
    file = tmp_path / f"t.{suffix}"
    if suffix in ("csv", "tsv"):
        with file.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t" if suffix == "tsv" else ","))
    else:
        rows = (pl.read_parquet if suffix == "parquet" else pl.read_ndjson)(file).to_dicts()
    texts = [row["text"] for row in rows]
    assert {key for row in rows for key in row} == {"text"}
    assert sorted(texts) == sorted({*(t for g, b, _ in PAIRS for t in (g, b)), '"Rain", he\tsaid,', "=1+1 is 2."})
    scored = by_transformers(zoo("gpt2"), texts)
    write(tmp_path / "made.jsonl", "".join(json.dumps(row) + "\n" for row in scored))
    code, out, err = penchant("run", "s.yaml", "-o", "out", "--probe", "minimal-pairs")
    assert code == 0, err
    assert penchant("run", "s.yaml", "--texts-out", "t.doc")[0] == 2
    assert penchant("run", "s.yaml", "--texts-out", "pairs.tsv")[0] == 2
    assert penchant("run", "s.yaml", "--texts-out", "made.jsonl", "-o", "out")[0] == 2


@pytest.mark.parametrize("settings", [{"normalise": "slor", "unigrams": "u.parquet"}, {"method": "aul"}])
def test_texts_of_what_no_table_can_answer_are_not_written(
    penchant: Program, tmp_path: Path, settings: dict[str, str]
) -> None:
    pairs(tmp_path)
    write_study(tmp_path / "s.yaml", ["gpt2"], {"minimal-pairs": {"data": "pairs.tsv", **settings}})
    code, out, err = penchant("run", "s.yaml", "--texts-out", "t.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert not (tmp_path / "t.csv").exists()


def test_a_study_compares_a_table_with_its_model_and_notices_a_change(
    zoo: Zoo, penchant: Program, tmp_path: Path
) -> None:
    rows = by_transformers(zoo("gpt2"), texts_of(probe("pairs", tmp_path)))
    table = write(tmp_path / "vllm.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    asked = {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100, "method": "lp"}}
    write_study(tmp_path / "s.yaml", [zoo("gpt2"), "scores:vllm.jsonl"], asked, {"cloze": {"data": "early-modern-60"}})
    code, _, err = penchant("run", "s.yaml", "-o", "out", "--probe", "minimal-pairs")
    assert code == 0, err
    outcome = pc.open(tmp_path / "out")
    given, of_model = (
        outcome.results["minimal-pairs", "scores:vllm.jsonl"],
        outcome.results["minimal-pairs", str(zoo("gpt2"))],
    )
    assert_frame_equal(given.summary.drop("signature"), of_model.summary.drop("signature"), abs_tol=1e-4, rel_tol=1e-4)
    compared = outcome.comparisons["minimal-pairs"]
    assert len(compared) and compared["value"].fill_nan(None).abs().max() == pytest.approx(0, abs=1e-4)
    assert given.signature["model"].startswith("scores:vllm@")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "vllm.jsonl; how they were computed is not known" in page
    assert penchant("run", "s.yaml", "-o", "out", "--probe", "minimal-pairs", "--resume")[0] == 0
    code, told, _ = penchant("verify", "out")
    assert code == 0 and "2 models" in told
    write(table, table.read_text("utf-8").replace(f"{rows[0]['score']}", f"{rows[0]['score'] - 1}"))
    code, _, err = penchant("verify", "out")
    assert code == 2 and "scores:vllm.jsonl" in err
    assert penchant("run", "s.yaml", "-o", "out", "--probe", "minimal-pairs", "--resume")[0] == 2


def test_a_probe_that_needs_more_is_skipped(zoo: Zoo, penchant: Program, tmp_path: Path) -> None:
    rows = by_transformers(zoo("gpt2"), texts_of(probe("pairs", tmp_path)))
    asked = [
        {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100}},
        {"cloze": {"data": "early-modern-60", "limit": 2}},
    ]
    write(tmp_path / "s.csv", pl.DataFrame(rows).write_csv())
    write_study(tmp_path / "s.yaml", ["scores:s.csv", zoo("bert")], *asked)
    code, _, err = penchant("run", "s.yaml", "-o", "out")
    assert code == 0, err
    skipped = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["skipped"]
    assert [(each["probe"], each["spec"]) for each in skipped] == [("cloze", "scores:s.csv")]


def test_a_frame_takes_the_place_of_a_model_in_a_study(zoo: Zoo, penchant: Program, tmp_path: Path) -> None:
    asked = probe("pairs", tmp_path)
    frame = pl.DataFrame(by_transformers(zoo("gpt2"), texts_of(asked)))
    found = pc.run(asked, tmp_path / "out", models=[pc.Scores(frame)], progress=False)
    (result,) = found.results.values()
    alone = asked.run(pc.Scores(frame))
    assert_frame_equal(result.summary, alone.summary)
    again = pc.run(asked, tmp_path / "out", models=[pc.Scores(frame)], resume=True, progress=False)
    assert len(again.results) == 1
    assert penchant("verify", tmp_path / "out")[0] == 0
    (copied,) = (path for path in (tmp_path / "out").rglob("given.jsonl"))
    write(copied, copied.read_text("utf-8").replace("-", "-1", 1))
    assert penchant("verify", tmp_path / "out")[0] == 2
    error_of(lambda: pc.Scores(pl.DataFrame({"text": ["a"]})), DataError)

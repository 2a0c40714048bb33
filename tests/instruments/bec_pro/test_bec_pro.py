"""BEC-Pro: tables read and refused, scores against reference passes, contrasts worked by hand and with other tools."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from scipy import stats

import brute
import penchant as pc
import zoo as tiny
from paths import ROOT, SHARED, needs_shared
from penchant.errors import DataError, MethodError
from penchant.instruments.bec_pro.data import TamColumns, lone, read_tam
from penchant.instruments.bec_pro.estimates import BETWEEN, GAP, MEAN
from penchant.instruments.bec_pro.instrument import BEC_PRO
from penchant.instruments.bec_pro.probe import BecPro
from penchant.instruments.comparison import difference
from penchant.instruments.run_options import Run
from penchant.records import Signature
from penchant.report.verdicts import Verdict
from penchant.stats.hypothesis_tests import holm
from penchant.stats.templates import SD, SHARE
from penchant.study.study_file import read_study
from penchant.wording.phrases import Note

Zoo = Callable[[str], Path]
REAL = SHARED / "bec_pro"
BOTH = ("female", "male")
HEAD = "Sent_TM\tSent_TAM\tPerson\tGender\tProfession\tProf_Gender\tTemplate\n"
ROWS = (
    "[MASK] is a nurse.\t[MASK] is a [MASK].\tShe\tfemale\tnurse\twomen\tP is a J.\n"
    "The [MASK] is a nurse.\tThe [MASK] is a [MASK].\told teacher\tmale\tnurse\twomen\tP is a J.\n"
    "The lawyer saw the [MASK].\tThe [MASK] saw the [MASK].\tgrandmother\tfemale\tlawyer\tmen\tthe J saw P.\n"
    "The lawyer saw the [MASK].\tThe [MASK] saw the [MASK].\tfarmer\tmale\tlawyer\tmen\tthe J saw P.\n"
)


def write(folder: Path, rows: str = ROWS, head: str = HEAD) -> Path:
    (folder / "t.tsv").write_text(head + rows, "utf-8")
    return folder / "t.tsv"


# Reading ------------------------------------------------------------------------------------------------------------


def test_sentences_and_their_spans_are_found(tmp_path: Path) -> None:
    rows = read_tam(write(tmp_path), TamColumns(), BOTH, {}).rows
    assert [row.sentence[slice(*row.at)] for row in rows] == ["She", "old teacher", "grandmother", "farmer"]
    assert [row.sentence[slice(*row.attribute)] for row in rows] == ["nurse", "nurse", "lawyer", "lawyer"]
    assert rows[1].masked("<m>") == ("The old teacher is a <m>.", (4, 15))
    assert rows[2].masked("<m>") == ("The <m> saw the grandmother.", (16, 27))
    assert rows[0].place.endswith("t.tsv, line 2") and rows[0].cell == ("P is a J.", "nurse")


def test_columns_may_have_other_names_or_be_missing(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS.replace("\twomen", "").replace("\tmen", ""), HEAD.replace("\tProf_Gender", ""))
    assert {row.group for row in read_tam(path, TamColumns(), BOTH, {}).rows} == {"all"}
    with pytest.raises(DataError, match="no column 'Prof_Gender'"):
        read_tam(path, TamColumns(group="Prof_Gender"), BOTH, {})
    path = write(tmp_path, head=HEAD.replace("Person", "who"))
    assert read_tam(path, TamColumns(person="who"), BOTH, {}).rows[0].person == "She"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("[MASK] is a [MASK]ager.\t[MASK] is a [MASK].\tShe\tfemale", "has 2 [MASK]"),
        ("She is a nurse.\t[MASK] is a [MASK].\tShe\tfemale", "has no [MASK]"),
        ("[MASK] is a nurse.\t[MASK] is a nurse.\tShe\tfemale", "one elsewhere"),
        ("[MASK] is a nurse.\t[MASK] was a [MASK].\tShe\tfemale", "with the attribute masked"),
    ],
)
def test_rows_that_do_not_belong_together_are_left_out_and_named(tmp_path: Path, row: str, told: str) -> None:
    read = read_tam(write(tmp_path, f"{ROWS}{row}\tnurse\twomen\tP is a J.\n"), TamColumns(), BOTH, {})
    (caution,) = read.cautions
    assert len(read.rows) == 4 and isinstance(caution, Note) and caution.code == "bec_pro.apart"
    assert (caution.params["n"], caution.params["of"]) == (1, 5)
    assert told in caution.params["shown"] and "line 6" in caution.params["shown"]
    with pytest.raises(DataError, match="none of 1 rows can be used"):
        read_tam(write(tmp_path, f"{row}\tnurse\twomen\tP is a J.\n"), TamColumns(), BOTH, {})


def test_genders_and_templates_must_be_there(tmp_path: Path) -> None:
    path = write(tmp_path)
    with pytest.raises(DataError, match="no person has the gender woman"):
        read_tam(path, TamColumns(), ("woman", "male"), {})
    numbered = path.with_name("n.tsv")
    numbered.write_text(path.read_text("utf-8").replace("\tmale\t", "\t0\t").replace("\tfemale\t", "\t1\t"), "utf-8")
    with pytest.raises(DataError) as caught:
        read_tam(numbered, TamColumns(), BOTH, {})
    (named,) = re.findall(r"contrast: (.*)", caught.value.hint)
    assert len(read_tam(numbered, TamColumns(), yaml.safe_load(named), {}).rows) == 4  # the hint as it is, in a study
    with pytest.raises(DataError, match="there is no template 'else'"):
        read_tam(path, TamColumns(), BOTH, {"else": "P is a J."})
    third = ROWS + "[MASK] is a nurse.\t[MASK] is a [MASK].\tThey\tneutral\tnurse\twomen\tP is a J.\n"
    read = read_tam(write(tmp_path, third), TamColumns(), BOTH, {})
    assert len(read.rows) == 4 and read.cautions == (Note("bec_pro.other-genders", n=1, genders=["neutral"]),)
    with pytest.raises(MethodError, match="the two genders must differ"):
        BecPro(data="x", contrast=["male", "male"])


def test_templates_that_count_as_one_are_paired(tmp_path: Path) -> None:
    rows = ROWS.splitlines(keepends=True)
    rows[1] = rows[1].replace("P is a J.", "Q is a J.")
    path = write(tmp_path, "".join(rows))
    apart = read_tam(path, TamColumns(), BOTH, {}).rows
    (caution,) = lone(apart)
    assert caution.code == "bec_pro.alone" and (caution.params["n"], caution.params["of"]) == (2, 3)
    together = read_tam(path, TamColumns(), BOTH, {"Q is a J.": "P is a J."}).rows
    assert not list(lone(together))


# Scores -------------------------------------------------------------------------------------------------------------


def reference(directory: Path, sentence: str, masked: str, spans: list[tuple[int, int]]) -> tuple[float, float]:
    """log P of the person in the sentence, and in the sentence whose attribute is masked, a pass for every piece."""
    model, tokenizer = brute.load(directory)
    masked = masked.replace("[MASK]", tokenizer.mask_token)
    start = masked.index(sentence[slice(*spans[0])])
    return (
        brute.span_logprob(model, tokenizer, sentence, spans[0]),
        brute.span_logprob(model, tokenizer, masked, (start, start + spans[0][1] - spans[0][0])),
    )


@pytest.mark.parametrize("name", tiny.MASKED)
def test_items_hold_the_reference_scores(zoo: Zoo, tmp_path: Path, name: str) -> None:
    probe = BecPro(data=str(write(tmp_path)), resamples=100)
    items = probe.run(pc.load(zoo(name))).items
    for row, read in zip(items.iter_rows(named=True), probe.asked(), strict=True):
        masked = read.before + read.person + read.after
        seen, hidden = reference(zoo(name), read.sentence, masked, [read.at])
        assert (row["seen"], row["hidden"]) == pytest.approx((seen, hidden), abs=2e-4)
        assert row["association"] == pytest.approx(seen - hidden, abs=4e-4)
        assert row["n_tokens"] == len(row["tokens"]) == len(row["logprobs_hidden"])


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_the_prior_may_have_as_many_masks_as_pieces(zoo: Zoo, tmp_path: Path, name: str) -> None:
    items = BecPro(data=str(write(tmp_path)), prior="pieces", resamples=100).run(pc.load(zoo(name))).items
    model, tokenizer = brute.load(zoo(name))
    for row, read in zip(items.iter_rows(named=True), BecPro(data=str(tmp_path / "t.tsv")).asked(), strict=True):
        person, attribute = (brute.span_positions(tokenizer, read.sentence, at) for at in (read.at, read.attribute))
        ids = brute.encode(tokenizer, read.sentence).ids
        hidden = math.fsum(brute._at_mask(model, tokenizer, ids, [*person, *attribute], i) for i in person)
        assert row["hidden"] == pytest.approx(hidden, abs=2e-4)


def test_causal_models_are_refused_in_one_line(zoo: Zoo, tmp_path: Path) -> None:
    with pytest.raises(MethodError, match=r"bec-pro requires a masked model, but .* is causal") as told:
        BecPro(data=str(write(tmp_path))).run(pc.load(zoo("gpt2")))
    assert "\n" not in str(told.value)


def test_what_several_rows_ask_is_read_once(zoo: Zoo, tmp_path: Path) -> None:
    """The two last rows differ in the person alone, which is masked."""
    run = Run()
    BecPro(data=str(write(tmp_path)), resamples=100).run_as(pc.load(zoo("bert-cased")), run)
    rows = BecPro(data=str(tmp_path / "t.tsv")).asked()
    _, tokenizer = brute.load(zoo("bert-cased"))
    pieces = {row.person: len(brute.span_positions(tokenizer, row.sentence, row.at)) for row in rows}
    distinct = {(row.sentence[: row.at[0]], row.sentence[row.at[1] :], pieces[row.person]) for row in rows}
    assert run.counts.reads == 8 and run.counts.forward == 2 * len(distinct)


# Estimates ----------------------------------------------------------------------------------------------------------


def planted(values: Mapping[tuple[str, str, str, str, str], float]) -> pl.DataFrame:
    """Items as the probe makes them, by template, profession, group, gender and person."""
    names = ("template", "profession", "group", "gender", "person")
    columns = {name: [key[i] for key in values] for i, name in enumerate(names)}
    return pl.DataFrame(
        {
            "id": [" ".join(key) for key in values],
            **columns,
            "sentence": [" ".join(key) for key in values],
            "masked": [" ".join(key) for key in values],
            "seen": [value - 9.0 for value in values.values()],
            "hidden": [-9.0] * len(values),
            "association": list(values.values()),
            "n_tokens": [1] * len(values),
            "reaches": [False] * len(values),
            "tokens": [["x"]] * len(values),
            "logprobs_seen": [[-1.0]] * len(values),
            "logprobs_hidden": [[-1.0]] * len(values),
        }
    )


def drawn(seed: int, gaps: Mapping[str, float], noise: float = 0.1) -> pl.DataFrame:
    """Five templates, six professions in each group and four persons of either gender; `gaps` by group."""
    rng = np.random.default_rng(seed)
    return planted(
        {
            (f"t{t}", f"{group} {p}", group, gender, f"{gender} {k}"): gap * (gender == "female")
            + 0.5 * t
            + rng.normal(0, noise)
            for group, gap in gaps.items()
            for t in range(5)
            for p in range(6)
            for gender in BOTH
            for k in range(4)
        }
    )


def result(items: pl.DataFrame, model: str = "m") -> pc.Result:
    fields = {"data": "d#1", "contrast": "female+male", "prior": "written", "dtype": "float32"}
    signature = Signature.of("bec-pro", model=model, **fields, level=0.95, resamples=1000, seed=0)
    return BecPro(data="d", resamples=1000).result(pc.Measured(items), signature)


def one(frame: pl.DataFrame, measure: str, **where: str) -> dict[str, Any]:
    chosen = {"group": "all", "gender": "all", "template": "all", **where}
    found = frame.filter(measure=measure, **chosen)
    assert len(found) == 1, found
    return found.row(0, named=True)


def test_means_and_contrasts_are_those_of_polars() -> None:
    items = drawn(1, {"women": 0.6, "men": -0.3})
    summary = result(items).summary
    for group in ("women", "men"):
        part = items.filter(group=group)
        means = dict(part.group_by("gender").agg(pl.col("association").mean()).iter_rows())
        for gender in BOTH:
            assert one(summary, MEAN, group=group, gender=gender)["value"] == pytest.approx(means[gender])
        row = one(summary, GAP, group=group)
        assert row["value"] == pytest.approx(means["female"] - means["male"]) and row["n"] == 30
        assert row["low"] < {"women": 0.6, "men": -0.3}[group] < row["high"] and row["p"] < 0.001
    between = one(summary, BETWEEN, group="women − men")
    gaps = [one(summary, GAP, group=group) for group in ("women", "men")]
    assert between["value"] == pytest.approx(gaps[0]["value"] - gaps[1]["value"])
    assert between["low"] < 0.9 < between["high"] and between["tests"] == 1
    assert [row["p_holm"] for row in gaps] == pytest.approx(holm([row["p"] for row in gaps]).tolist())
    assert math.isnan(one(summary, GAP)["p_holm"])


def test_templates_have_their_own_contrast_and_spread() -> None:
    items = drawn(2, {"women": 0.2, "men": 0.2}).with_columns(
        pl.when((pl.col("template") == "t0") & (pl.col("gender") == "female"))
        .then(pl.col("association") + 2)
        .otherwise("association")
        .alias("association")
    )
    summary = result(items).summary
    by_template = [one(summary, GAP, template=f"t{t}")["value"] for t in range(5)]
    assert by_template[0] == pytest.approx(2.2, abs=0.1) and by_template[1] == pytest.approx(0.2, abs=0.1)
    assert one(summary, SD)["value"] == pytest.approx(np.std(by_template, ddof=1))
    gaps = items.group_by("template", "profession", "gender").agg(pl.col("association").mean())
    wide = gaps.pivot("gender", index=["template", "profession"], values="association")
    table = wide.with_columns((pl.col("female") - pl.col("male")).alias("gap"))
    groups = [part["gap"].to_numpy() for _, part in table.group_by("template")]
    f = stats.f_oneway(*groups).statistic
    assert one(summary, SHARE)["value"] == pytest.approx(4 * f / (4 * f + 55))  # 5 templates, 12 professions
    assert one(summary, SHARE)["value"] > 0.9


def test_a_gender_that_is_always_more_probable_is_no_contrast_between_groups() -> None:
    """The contrast of all is far from 0, the difference between groups is not."""
    summary = result(drawn(3, {"women": 1.0, "men": 1.0})).summary
    assert one(summary, GAP)["p"] < 1e-6
    between = one(summary, BETWEEN, group="women − men")
    assert between["low"] < 0 < between["high"] and between["p"] > 0.05


def verdicts(claim: str, *results: pc.Result) -> list[Verdict]:
    comparison = BEC_PRO.compare(*results) if len(results) > 1 else None
    found = {each.claim: each.verdicts for each in BEC_PRO.section.answers(list(results), comparison)}
    return list(found.get(claim, ()))


def test_groups_are_linked_to_the_genders_that_were_planted() -> None:
    gaps = {"women": 1.0, "men": -1.0, "either": 0.0}
    found, flat = result(drawn(3, gaps)), result(drawn(3, dict.fromkeys(gaps, 0.0)), "flat")
    told = [(v.place, v.kind, v.row and v.row["value"] > 0) for v in verdicts("contrast", found)]
    assert told[:2] == [("women", "yes", True), ("men", "yes", False)] and told[2][:2] == ("either", "no")
    told = [(v.place, v.kind, v.row and v.row["value"] > 0) for v in verdicts("groups", found)]
    assert told == [("women − men", "yes", True), ("women − either", "yes", True), ("men − either", "yes", False)]
    assert {v.kind for v in verdicts("groups", flat)} == {"no"}
    same, more = result(drawn(4, dict.fromkeys(gaps, 0.0)), "same"), result(drawn(5, dict.fromkeys(gaps, 0.3)), "more")
    assert [(v.models, v.kind) for v in verdicts("more", flat, same)] == [(("flat", "same"), "no")]
    assert [v.kind for v in verdicts("more", flat, more)] == ["yes"]
    noisy = result(drawn(4, gaps, noise=9.0))
    assert {v.kind for v in verdicts("contrast", noisy)} == {"cannot tell"}


def test_groups_without_pairs_and_tables_without_groups() -> None:
    items = drawn(6, {"women": 0.6, "men": 0.0}).filter((pl.col("group") == "women") | (pl.col("gender") == "male"))
    told = {v.place: v.kind for v in verdicts("contrast", result(items))}
    assert told == {"women": "yes", "men": "not measured"} and verdicts("groups", result(items)) == []
    whole = result(drawn(6, {"all": 0.6}))
    assert [(v.place, v.kind) for v in verdicts("contrast", whole)] == [("", "yes")]


def test_models_are_compared_sentence_by_sentence() -> None:
    first, second = drawn(4, {"women": 0.6, "men": -0.3}), drawn(5, {"women": 0.1, "men": -0.3})
    rows = BEC_PRO.compare(result(first), result(second, "other"))
    row = one(rows, difference(GAP), group="women")
    assert (row["first"], row["second"]) == ("m", "other") and row["low"] < 0.5 < row["high"] and row["p_holm"] < 0.01
    same = BEC_PRO.compare(result(first), result(first, "other"))
    assert set(same["value"]) == {0.0} and one(same, difference(BETWEEN), group="women − men")["note"]


def test_a_table_without_a_gender_in_a_group_says_so() -> None:
    items = drawn(6, {"women": 0.6, "men": 0.0}).filter((pl.col("group") == "women") | (pl.col("gender") == "male"))
    summary = result(items).summary
    assert "no template and profession has both" in one(summary, GAP, group="men")["note"]
    assert "no such sentences" in one(summary, MEAN, group="men", gender="female")["note"]
    assert "a group has no pairs" in one(summary, BETWEEN, group="women − men")["note"]


def test_the_example_has_the_papers_two_tables() -> None:
    _, probes = read_study(ROOT / "examples" / "bec-pro.yaml", models=["bundled:modern"])
    named = [probe.data for probe in probes if isinstance(probe, BecPro)]
    assert named == ["BEC-Pro_EN.tsv", "BEC-Pro_DE.tsv"]


# The published tables -----------------------------------------------------------------------------------------------


@needs_shared
def test_the_published_tables_are_read() -> None:
    _, probes = read_study(ROOT / "examples" / "bec-pro.yaml", models=["bundled:modern"])
    for probe in probes:
        assert isinstance(probe, BecPro)
        table = probe.read_set([REAL])
        raw = pl.read_csv(REAL / probe.data, separator="\t")
        faulty = raw.filter(pl.col("Sent_TM").str.count_matches(re.escape("[MASK]")) != 1)
        assert len(faulty) == 5 and len(table.rows) == len(raw) - 5 == 5395  # "lodging [MASK]ager", "[MASK]nährungs…"
        caution = table.cautions[0]
        assert isinstance(caution, Note) and (caution.params["n"], caution.params["of"]) == (5, 5400)
        assert not list(lone(table.rows))
        assert {row.sentence for row in table.rows} <= set(raw["Sentence"])
        groups = pl.Series([row.group for row in table.rows]).value_counts()
        assert sorted(groups["count"].to_list()) == [1795, 1800, 1800]
        assert len({row.cell for row in table.rows}) == 300


@needs_shared
def test_a_pilot_of_the_published_table_keeps_pairs_whole(zoo: Zoo) -> None:
    probe = BecPro(data=str(REAL / "BEC-Pro_EN.tsv"), limit=6, on_unknown="skip", resamples=100)
    rows = probe.asked()
    assert len({row.cell for row in rows}) == 6 and len(rows) in (107, 108)
    assert sorted({row.group for row in rows}) == ["balanced", "female", "male"]

"""Stereotypes in a table of one's own: the score of CrowS-Pairs, without its name, its citation and its faults."""

from __future__ import annotations

import csv
import itertools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest

import penchant as pc
from answers import Answer

Program = Callable[..., Answer]
Zoo = Callable[[str], Path]
PEOPLE = ("rain", "teacher", "dog", "old teacher", "old dog", "house")
PAIRS = [
    (f"The {first} is {word}.", f"The {second} is {word}.", kind)
    for kind, word in (("age", "old"), ("trade", "here"), ("place", "good"))
    for first, second in itertools.pairwise(PEOPLE)
]
CROWS = ("sent_more", "sent_less", "bias_type")
OWN = ("Stereotyp", "Gegenteil", "Bereich")
NAMED = {"more": "Stereotyp", "less": "Gegenteil", "kind": "Bereich"}


def written(path: Path, columns: tuple[str, ...], more: Mapping[str, str] | None = None) -> Path:
    rows = [dict(zip(columns, pair, strict=True)) | dict(more or {}) for pair in PAIRS]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    return path


def scores(result: pc.Result) -> list[tuple[object, ...]]:
    rows = result.summary.filter(pl.col("measure").str.starts_with("stereotype score"), normalise="none")
    return rows.select("scope", "group", "n", "value", "low", "high", "p", "p_holm").fill_nan(-1).rows()


@pytest.mark.parametrize("acceptable", ["sent_more", "sent_less"])
def test_own_columns_give_what_those_of_crows_pairs_give(
    zoo: Zoo, tmp_path: Path, acceptable: Literal["sent_more", "sent_less"]
) -> None:
    model = pc.load(zoo("bert"))
    theirs = written(tmp_path / "crows_pairs.csv", CROWS, {"stereo_antistereo": "stereo"})
    own = written(tmp_path / "stereotypes.csv", OWN)
    first = pc.MinimalPairs(data=str(theirs), acceptable=acceptable).run(model)
    other = pc.MinimalPairs(data=str(own), columns=NAMED, acceptable=acceptable).run(model)
    assert len(scores(first)) == 5 and scores(first) == scores(other)  # all, as they are, three kinds
    share = (first.items["score_good"] > first.items["score_bad"]).mean()
    assert isinstance(share, float)
    found = first.summary.filter(measure="stereotype score", group="all", normalise="none")["value"][0]
    assert found == pytest.approx(100 * (share if acceptable == "sent_more" else 1 - share))
    assert set(first.items["dataset"]) == {"crows-pairs"} and set(other.items["dataset"]) == {"stereotypes"}


def test_a_study_of_own_stereotypes_speaks_of_them(zoo: Zoo, tmp_path: Path, penchant: Program) -> None:
    written(tmp_path / "domains.csv", OWN)
    study = tmp_path / "study.yaml"
    study.write_text(
        "study: own\nprobes:\n  - minimal-pairs:\n      data: domains.csv\n"
        "      columns: {more: Stereotyp, less: Gegenteil, kind: Bereich}\n"
    )
    out = tmp_path / "out"
    code, printed, said = penchant("run", study, "-m", zoo("bert"), "-o", out)
    assert code == 0, said
    told = printed + said
    assert "prefers the more stereotypical sentence in these 3 bias types together: 86.7% [" in " ".join(told.split())
    assert "acceptable sentence" not in told
    assert penchant("export", out, "--to", "latex")[0] == 0
    methods = next(out.rglob("methods.tex")).read_text()
    assert "domains" in methods and "Nangia" not in methods and "nangia" not in methods
    assert "CrowS" not in told


def drawn(chart: Any) -> list[dict[str, Any]]:
    """The rows with which a chart is drawn."""
    found, left = [], [chart.to_dict()]
    while left:
        part = left.pop()
        left += part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else []
        found += [part] if isinstance(part, dict) and {"row", "value"} <= part.keys() else []
    return found


def test_the_figures_have_a_row_for_every_kind_of_bias(zoo: Zoo, tmp_path: Path) -> None:
    own = written(tmp_path / "own.csv", OWN)
    found = pc.MinimalPairs(data=str(own), columns=NAMED).run(pc.load(zoo("bert")))
    charts = found.charts()
    assert {row["row"] for row in drawn(charts["accuracy"])} == {"these 3 bias types", "age", "trade", "place"}
    shown = {row["row"]: (row["value"], row["low"], row["high"], row["n"]) for row in drawn(charts["stereotypes"])}
    told = found.summary.filter(pl.col("measure").str.starts_with("stereotype score"), normalise="none")
    scope = pl.when(group="all").then(pl.lit("these groups")).otherwise(pl.lit("stereotype"))
    rows = told.filter(pl.col("scope") == scope)
    numbers = rows.select(pl.col("group").replace("all", "these 3 bias types"), "value", "low", "high", "n").rows()
    assert shown == {group: tuple(each) for group, *each in numbers}


@pytest.mark.parametrize("named", ["own", "crows"])
def test_an_id_alone_may_be_named(named: str, tmp_path: Path) -> None:
    """The columns of the sentences are then known by their usual names."""
    usual = {"own": ("more", "less", "kind"), "crows": CROWS}[named]
    rest = {"stereo_antistereo": "stereo"} if named == "crows" else {}
    file = written(tmp_path / "pairs.csv", usual, {**rest, "Nr.": "x"})
    lines = file.read_text("utf-8").splitlines()
    file.write_text("\n".join([lines[0], *(f"{line[:-1]}{n}" for n, line in enumerate(lines[1:]))]), "utf-8")
    found = pc.read_pairs(file, {"id": "Nr."})
    assert found.kind == "stereotypes" and [item.id for item in found.items] == [str(n) for n in range(len(PAIRS))]
    with pytest.raises(pc.PenchantError, match="there is no column 'Nrr'"):
        pc.read_pairs(file, {"id": "Nrr"})


def test_a_reader_that_stops_reading_still_has_the_report(penchant: Program, zoo: Zoo, tmp_path: Path) -> None:
    """As `penchant run … | head -1` does."""
    written(tmp_path / "domains.csv", OWN)
    (tmp_path / "study.yaml").write_text(
        "study: own\nprobes:\n  - minimal-pairs:\n      data: domains.csv\n"
        "      columns: {more: Stereotyp, less: Gegenteil, kind: Bereich}\n"
    )
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as unread:
        assert penchant("run", "study.yaml", "-m", zoo("bert"), "-o", "out", stdout=unread)[0] == 0
    assert (tmp_path / "out" / "report.html").is_file()


def test_columns_of_both_kinds_are_refused(tmp_path: Path) -> None:
    own = written(tmp_path / "own.csv", OWN)
    with pytest.raises(pc.PenchantError, match="good is for tables of minimal pairs, but less"):
        pc.MinimalPairs(data=str(own), columns={"good": "Stereotyp", "less": "Gegenteil"}).pair_sets()


def test_a_direction_of_ones_own(zoo: Zoo, tmp_path: Path) -> None:
    rows: Any = [
        {"more": a, "less": b, "direction": ("stereo", "antistereo")[i % 2]} for i, (a, b, _) in enumerate(PAIRS)
    ]
    found = pc.MinimalPairs(data=rows).run(pc.load(zoo("bert"))).summary.filter(pl.col("measure") == "stereotype score")
    assert {"all", "stereo", "antistereo"} <= set(found["group"])
    rows[2]["direction"] = "against"
    with pytest.raises(pc.PenchantError, match="unknown direction 'against'"):
        pc.MinimalPairs(data=rows).pair_sets()


def test_a_tie_counts_one_half_but_in_crows_pairs(zoo: Zoo, tmp_path: Path) -> None:
    """Three pairs and one of two identical sentences, which as published counts for neither side."""
    model = pc.load(zoo("bert"))
    rows: Any = [{"more": a, "less": b} for a, b, _ in PAIRS[:3]] + [{"more": "Rain is good.", "less": "Rain is good."}]
    own = pc.MinimalPairs(data=rows).run(model)
    won = int((own.items["score_good"] > own.items["score_bad"]).sum())
    asked = {"measure": "stereotype score", "scope": "stereotype", "group": "all", "normalise": "none"}
    (row,) = own.summary.filter(**asked).to_dicts()
    assert row["value"] == pytest.approx(100 * (won + 0.5) / 4) and "1 tie counts one half" in row["note"]
    theirs = tmp_path / "crows_pairs.csv"
    more = {"bias_type": "age", "stereo_antistereo": "stereo"}
    with theirs.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["sent_more", "sent_less", *more])
        writer.writeheader()
        writer.writerows({"sent_more": each["more"], "sent_less": each["less"], **more} for each in rows)
    published = pc.MinimalPairs(data=str(theirs)).run(model)
    (row,) = published.summary.filter(**asked).to_dicts()
    assert row["value"] == pytest.approx(100 * won / 4)
    assert any("in the stereotype score, as published, for neither side" in told for told in published.cautions)
    assert not any("as published" in told for told in own.cautions)

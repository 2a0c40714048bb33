"""Respondents who are left out or may count twice, weights that are not used, and codes for no answer: what is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from answers import Answer
from penchant import DataError, read_survey
from penchant.rating.store import Store

Program = Callable[..., Answer]


def answers(n: int, columns: int, seed: int = 0) -> pd.DataFrame:
    drawn = np.random.default_rng(seed).integers(1, 6, (n, columns))
    return pd.DataFrame(drawn, columns=[f"q{i}" for i in range(columns)])


def cautions(folder: Path, frame: pd.DataFrame, described: str = "") -> list[str]:
    frame.to_csv(folder / "a.csv", index=False)
    (folder / "s.yaml").write_text(f"file: a.csv\n{described}", "utf-8")
    survey = read_survey(folder / "s.yaml", [name for name in frame.columns if name.startswith("q")])
    return [caution for caution in survey.cautions if "no label says" not in caution]


def test_respondents_who_stand_twice_are_counted_and_kept(tmp_path: Path) -> None:
    frame = answers(100, 12)
    assert cautions(tmp_path, frame) == []
    twice = pd.concat([frame, frame.iloc[[3, 3, 40]]])
    assert cautions(tmp_path, twice) == [
        "3 of 103 respondents are the same as an earlier one in every column (lines 5 and 102, 42 and 104): look "
        "whether somebody counts twice; none was left out for that"
    ]
    assert read_survey(tmp_path / "s.yaml", ["q0"]).kept == 103
    # A number of their own tells them apart; and a hundred answers to two questions are alike by chance.
    assert cautions(tmp_path, twice.assign(id=range(103))) == []
    assert answers(100, 2).duplicated().sum() > 50 and cautions(tmp_path, answers(100, 2)) == []


@pytest.mark.parametrize(
    "name",
    ["weight", "wgt", "pspwght", "dweight", "anweight", "WTSSALL_wt", "Gewicht", "poids", "váha", "design_weight"],
)
def test_a_column_of_weights_is_told(tmp_path: Path, name: str) -> None:
    found = cautions(tmp_path, answers(9, 12).assign(**{name: 0.5}))
    assert found == [f"weights are not used: column {name} looks like survey weights, and every respondent counts once"]


@pytest.mark.parametrize("name", ["weightier_matters", "body weight", "heavyweights2b", "wtf", "height", "rater"])
def test_other_columns_are_no_weights(tmp_path: Path, name: str) -> None:
    assert cautions(tmp_path, answers(9, 12).assign(**{name: 0.5})) == []


def test_a_weight_is_known_by_its_label(tmp_path: Path) -> None:
    frame = answers(9, 2).astype(float).assign(v99=1.0, v98=70.0)
    pyreadstat.write_sav(frame, tmp_path / "a.sav", column_labels=["", "", "Design weight", "Own body weight in kg"])
    *_, told = read_survey(tmp_path / "a.sav", ["q0", "q1"]).cautions
    assert "column v99 (Design weight) looks like survey weights" in told


def test_codes_beyond_the_scale_in_many_columns_are_one_line(tmp_path: Path) -> None:
    frame = answers(50, 12)
    for i, name in enumerate(frame.columns):
        frame.loc[i, name], frame.loc[i + 20, name] = 88, 99
    with pytest.raises(DataError) as error:
        cautions(tmp_path, frame)
    assert error.value.alone().endswith(
        "a.csv, line 2: an answer lies between 1 and 5, got 88 and 99 in 12 columns (q0, q1, q2, q3, q4, q5, q6, q7 "
        "and 4 more columns; 24 answers) — where that is no answer, say missing: [88, 99]; or set scale"
    )
    assert not hasattr(error.value, "__notes__")
    assert cautions(tmp_path, frame, "missing: [88, 99]\n") == []
    frame.loc[4, "q3"] = 7  # of one column: a slip of the pen, and told with the others
    with pytest.raises(DataError, match=r"got 7 and 88 and 99 in 12 columns"):
        cautions(tmp_path, frame)


def test_who_is_left_out(tmp_path: Path) -> None:
    frame = answers(12, 6).assign(SEX=[1] * 4 + [2] * 4 + [3] * 3 + [9], land=["A"] * 11 + ["B"])
    levels = "groups: {column: SEX, levels: {feminine: 2, masculine: 1}}\n"
    cautions(tmp_path, frame, levels)
    assert read_survey(tmp_path / "s.yaml", ["q0"]).left_out == "3 have SEX 3, 1 have SEX 9"
    cautions(tmp_path, frame, f"{levels}filter: {{land: A}}\n")
    assert read_survey(tmp_path / "s.yaml", ["q0"]).left_out == "1 do not pass the filter, 3 have SEX 3"
    cautions(tmp_path, frame)
    assert read_survey(tmp_path / "s.yaml", ["q0"]).left_out == ""


def rated(penchant: Program, folder: Path) -> None:
    """A survey of two raters by `penchant rate`, who answer 1 to 5 in turn; the second one point lower."""
    rows = "".join(f"q{i},claim {i} is right,v,no\n" for i in range(8))
    (folder / "set").mkdir()
    (folder / "set" / "statements.csv").write_text(f"id,text,value,reversed\n{rows}", "utf-8")
    (folder / "set" / "set.yaml").write_text("like: political-values-en\nstatements: statements.csv\n", "utf-8")
    asked = ("rate", "set", "-o", "said.sqlite", "--raters", "ann,ben", "--html", "pages")
    code, _, err = penchant(*asked)
    assert code == 0, err
    with Store.open(folder / "said.sqlite") as store:
        for n, rater in enumerate(store.raters()):
            while (position := store.progress(rater).following) is not None:
                shown = store.showing(rater, position)
                assert shown is not None
                store.answer(rater, shown, float(max(1, int(shown.question.key["id"][1:]) % 5 + 1 - n)))


def test_a_survey_by_penchant_rate_says_itself_which_end_is_agreeing(penchant: Program, tmp_path: Path) -> None:
    rated(penchant, tmp_path)
    survey = read_survey(tmp_path / "said.sqlite", [f"q{i}" for i in range(8)])
    assert (survey.cautions, survey.agreeing) == ((), "5 (strongly agree)")
    assert survey.answers["q4"].to_list() == [5, 4]
    (tmp_path / "t.yaml").write_text("file: said.sqlite\nscale: [5, 1]\n", "utf-8")
    with pytest.raises(DataError, match="5 is labelled 'strongly agree', and the scale takes 1 for agreeing"):
        read_survey(tmp_path / "t.yaml", ["q1"])


def test_agreement_on_statements(penchant: Program, tmp_path: Path) -> None:
    import krippendorff

    rated(penchant, tmp_path)
    code, out, err = penchant("ratings", "agreement", "said.sqlite")
    assert code == 0, err
    first = [i % 5 + 1 for i in range(8)]
    wanted = krippendorff.alpha(
        [first, [max(1, x - 1) for x in first]], value_domain=[1, 2, 3, 4, 5], level_of_measurement="ordinal"
    )
    (line,) = (line for line in out.splitlines() if "alpha" in line or "α" in line)
    assert f"{wanted:.4g}" in line
    assert "6 items whose answers lie 1 or more apart" in out and "ann 5.0, ben 4.0" in out
    code, out, err = penchant("ratings", "agreement", "said.sqlite", "set/statements.csv")
    assert (code, out) == (2, "") and "name them one by one" in err

"""Respondents who are left out or may count twice, weights that are not used, and codes for no answer: what is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from answers import Answer
from builders import write, write_study
from penchant import DataError, read_survey
from penchant.rating.judgement_store import Store

Program = Callable[..., Answer]


def answers(n: int, columns: int, seed: int = 0) -> pd.DataFrame:
    drawn = np.random.default_rng(seed).integers(1, 6, (n, columns))
    return pd.DataFrame(drawn, columns=[f"q{i}" for i in range(columns)])


def cautions(folder: Path, frame: pd.DataFrame, described: str = "") -> list[str]:
    frame.to_csv(folder / "a.csv", index=False)
    write(folder / "s.yaml", f"file: a.csv\n{described}")
    survey = read_survey(folder / "s.yaml", [name for name in frame.columns if name.startswith("q")])
    return [caution for caution in survey.cautions if "no label says" not in caution]


def test_respondents_who_stand_twice_are_counted_and_kept(tmp_path: Path) -> None:
    frame = answers(100, 12)
    assert cautions(tmp_path, frame) == []
    twice = pd.concat([frame, frame.iloc[[3, 3, 40]]])
    assert cautions(tmp_path, twice) == [
        "3 of 103 respondents are identical to an earlier one in every column (lines 5 and 102, 42 and 104). None was "
        "left out: check whether somebody counts twice"
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
        "a.csv, line 2: expected an answer between 1 and 5, got 88 and 99 in 12 columns (q0, q1, q2, q3, q4, q5, q6, "
        "q7 and 4 more columns; 24 answers) — if no answer is meant, write missing: [88, 99]; or set scale"
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
    found = read_survey(tmp_path / "s.yaml", ["q0"])
    assert found.left_out == "3 have SEX 3, 1 has SEX 9"
    assert [note.params for note in found.others] == [
        {"have": 3, "column": "SEX", "level": "3"},
        {"have": 1, "column": "SEX", "level": "9"},
    ]
    cautions(tmp_path, frame, f"{levels}filter: {{land: A}}\n")
    assert read_survey(tmp_path / "s.yaml", ["q0"]).left_out == "1 do not pass the filter, 3 have SEX 3"
    cautions(tmp_path, frame)
    assert read_survey(tmp_path / "s.yaml", ["q0"]).left_out == ""


def write_set(folder: Path, rows: str) -> None:
    write(folder / "statements.csv", f"id,text,value,reversed\n{rows}")
    write(folder / "set.yaml", "like: political-values-en\n")


def rated(penchant: Program, folder: Path) -> None:
    """A survey of two raters by `penchant rate`, who answer 1 to 5 in turn; the second one point lower."""
    rows = "".join(f"q{i},claim {i} is right,v,no\n" for i in range(8))
    write_set(folder / "set", rows)
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
    with pytest.raises(DataError, match="5 is labelled 'strongly agree', but the scale codes agreement as 1"):
        read_survey(tmp_path / "t.yaml", ["q1"])


def test_answers_to_a_statement_with_another_text_are_refused(penchant: Program, tmp_path: Path) -> None:
    rated(penchant, tmp_path)
    asked = {f"q{i}": f"claim {i} is right" for i in range(8)}
    assert len(read_survey(tmp_path / "said.sqlite", asked).answers) == 2
    with pytest.raises(DataError) as caught:
        read_survey(tmp_path / "said.sqlite", {**asked, "q2": "claim 2 is wrong", "q7": "claim 7 is wrong"})
    assert str(caught.value).startswith(f"{tmp_path / 'said.sqlite'}: 2 statements ") and ": q2, q7 — " in str(
        caught.value
    )


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
    assert "6 items whose answers differ by 1 or more" in out and "ann 5.0, ben 4.0" in out
    code, out, err = penchant("ratings", "agreement", "said.sqlite", "set/statements.csv")
    assert (code, out) == (2, "") and "give the files one at a time" in err


# Respondents of none of the groups, numbers that stand twice, and slips ---------------------------------------


def of_people(folder: Path, frame: pd.DataFrame, penchant: Program, *, people: str) -> tuple[str, Path]:
    """Return the screen output of a study of five statements, and the place of its report."""
    frame.to_csv(folder / "a.csv", index=False)
    write(folder / "s.yaml", f"file: a.csv\npeople: {people}\n")
    rows = (f"q{i},taxes {i} should rise,v,{'yes' if i % 2 else 'no'}\n" for i in range(5))
    write_set(folder / "set", "".join(rows))
    probe = {"values": {"data": "set", "survey": "s.yaml", "resamples": 100}}
    write_study(folder / "study.yaml", ["bundled:modern"], probe)
    code, out, err = penchant("run", str(folder / "study.yaml"), "-o", str(folder / "out"), "--full")
    assert code == 0, err
    return out + err, folder / "out" / "report.html"


def test_respondents_of_none_of_the_groups_of_people_are_counted(tmp_path: Path, penchant: Program) -> None:
    frame = answers(60, 5).assign(region=["North"] * 25 + ["Coast"] * 24 + ["4"] * 8 + ["Nroth"] + [""] * 2)
    told, page = of_people(tmp_path, frame, penchant, people="{column: region, levels: {North: North, Coast: Coast}}")
    text = " ".join(told.split())
    assert (
        "11 of 60 respondents belong to none of the groups of people and are not used there: "
        "8 have region 4, 1 has region Nroth, 2 have region (empty)"
    ) in text
    methods = " ".join(page.read_text("utf-8").split())
    assert "in none of the groups of people: 8 have region 4, 1 has region Nroth" in methods
    survey = read_survey(tmp_path / "s.yaml", ["q0"])
    assert survey.unplaced.startswith("8 have region 4") and sum(not name for name in survey.people or ()) == 11
    frame["region"] = ["North"] * 30 + ["Coast"] * 30
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert read_survey(tmp_path / "s.yaml", ["q0"]).unplaced == ""


@pytest.mark.parametrize("name", ["RESPID", "respondent_id", "id", "caseno", "idno", "No", "lfd. Nr", "ResponseId"])
def test_a_number_that_stands_twice_is_told(tmp_path: Path, name: str) -> None:
    frame = answers(100, 12).assign(**{name: range(1000, 1100)})
    assert cautions(tmp_path, frame) == []
    frame.loc[[60, 99], name] = [1003, 1040]
    assert cautions(tmp_path, frame) == [
        f"2 respondents appear more than once by {name}: 1003 (lines 5 and 62), 1040 (lines 42 and 101). None was "
        "left out: check whether somebody counts twice"
    ]
    same = pd.concat([frame.drop(index=[60, 99]), frame.iloc[[7]]])  # the same in every column: told once
    assert len(found := cautions(tmp_path, same)) == 1 and "identical to an earlier one in every column" in found[0]


def test_other_columns_whose_values_stand_twice_are_no_numbers_of_respondents(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    plain = answers(400, 12).assign(
        age=rng.integers(18, 90, 400),
        income=rng.permutation(np.r_[np.arange(1000, 1398), [1000, 1001]]),
        minutes=rng.permutation(np.r_[np.arange(398), [3, 4]]) / 7,
        household_id=rng.permutation(np.r_[np.arange(398), [3, 4]]),
        interviewer_id=rng.integers(1, 30, 400),
        number=rng.integers(1, 7, 400),
        said=[f"because {i}" for i in range(398)] + ["no", "no"],
    )
    assert cautions(tmp_path, plain) == []
    # Countries number their respondents alike: it is only one person where the country is the same, too.
    two = plain.assign(idno=[*range(300), *range(290, 390)], cntry=["DE"] * 300 + ["AT"] * 100)
    people = "people: {column: cntry, levels: {Germans: DE, Austrians: AT}}\n"
    assert cautions(tmp_path, two, people) == []
    two.loc[399, "idno"] = 380
    (caution,) = cautions(tmp_path, two, people)
    assert caution.startswith("1 respondent appears more than once by idno: 380 (lines 392 and 401)")


def test_answers_between_the_points_of_a_scale_are_told_where_all_others_are_whole(tmp_path: Path) -> None:
    frame = answers(100, 3).astype(object)
    frame.loc[3, "q1"] = 2.5
    assert cautions(tmp_path, frame) == [
        "some answers lie between the points of the scale, where all others are whole: 2.5 in q1 (line 5). They are "
        "used unchanged: check whether they are slips"
    ]
    sliders = answers(100, 12).astype(float) + np.random.default_rng(0).uniform(-0.4, 0.4, (100, 12)).round(1)
    assert cautions(tmp_path, sliders.clip(1, 5)) == []


def test_a_code_that_spss_declares_missing_is_shown_with_its_label(tmp_path: Path) -> None:
    frame = answers(40, 2).assign(sex=[1.0] * 20 + [2.0] * 17 + [9.0] * 2 + [np.nan])
    labels = {"sex": {1: "Male", 2: "Female", 9: "No answer"}}
    pyreadstat.write_sav(
        frame, tmp_path / "a.sav", variable_value_labels=labels, missing_ranges={"sex": [{"lo": 9, "hi": 9}]}
    )
    (tmp_path / "s.yaml").write_text("file: a.sav\ngroups: {column: sex, levels: {m: Male, f: Female}}\n", "utf-8")
    survey = read_survey(tmp_path / "s.yaml", ["q0", "q1"])
    assert survey.left_out == "2 have sex 9 (No answer), 1 has sex (empty)"
    assert survey.levels == "sex has the values 1 (Male), 2 (Female), 9 (No answer), (empty)"


def test_the_mend_of_a_weight_below_0_works(tmp_path: Path) -> None:
    frame = answers(20, 2).assign(w=[1.0] * 19 + [-1.0])
    with pytest.raises(DataError, match=r"0 or above, got '-1\.0' — write 0 for respondents to be left out"):
        cautions(tmp_path, frame, "weights: w\n")
    told = cautions(tmp_path, frame.replace({-1.0: 0.0}), "weights: w\n")
    assert told == ["left out for the weight 0 in w: 1 respondent (line 21)"]

"""One survey as SPSS, Stata, CSV of a German office and CSV of labels; and what is said of one that is broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penchant import DataError, read_survey
from penchant.instruments.values.survey import Survey

pd = pytest.importorskip("pandas")
pyreadstat = pytest.importorskip("pyreadstat")
ANSWERS = {1: "Agree strongly", 2: "Agree", 3: "Neither", 4: "Disagree", 5: "Disagree strongly", 7: "Refusal", 8: "DK"}
LABELS = {"country": {276: "Germany", 40: "Austria", 752: "Sweden"}, "q1": ANSWERS, "q2": ANSWERS}
CHOSEN = "scale: [5, 1]\nfilter: {country: [Germany, Austria]}\n"
CODED = "scale: [5, 1]\nfilter: {country: [276, 40]}\n"
WORDS = "codes: {Agree strongly: 1, Agree: 2, Neither: 3, Disagree: 4, Disagree strongly: 5}\n"
FORMS = {
    "s.sav": CHOSEN,
    "s.dta": CHOSEN + "missing: [Refusal, DK]\n",
    "s.csv": CODED + "missing: [7, 8]\n",
    "labels.csv": CHOSEN + WORDS + "missing: [Refusal, DK]\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    answers = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0, np.nan]
    frame = pd.DataFrame(
        {
            "country": rng.choice([276.0, 40.0, 752.0], 200),
            "weight": rng.uniform(0.3, 2.5, 200).round(3),
            **{name: rng.choice(answers, 200) for name in ("q1", "q2")},
        }
    )
    refusals = {name: [{"lo": 7, "hi": 8}] for name in ("q1", "q2")}
    pyreadstat.write_sav(frame, tmp_path / "s.sav", variable_value_labels=LABELS, missing_ranges=refusals)
    pyreadstat.write_dta(frame, tmp_path / "s.dta", variable_value_labels=LABELS)
    frame.to_csv(tmp_path / "s.csv", sep=";", decimal=",", index=False)
    labelled = frame.assign(**{name: frame[name].map(labels) for name, labels in LABELS.items()})
    labelled.to_csv(tmp_path / "labels.csv", sep=";", decimal=",", index=False)
    broken = frame.replace({7.0: np.nan, 8.0: np.nan})
    broken.loc[3, "q1"], broken.loc[190, "q2"] = 9, 11
    broken.to_csv(tmp_path / "broken.csv", sep=";", decimal=",", index=False)
    labelled.to_csv(tmp_path / "latin.csv", sep=";", index=False)
    (tmp_path / "latin.csv").write_bytes((tmp_path / "latin.csv").read_bytes() + "Österreich;1;;\n".encode("latin-1"))
    return tmp_path


def survey(folder: Path, file: str, described: str) -> Survey:
    (folder / "survey.yaml").write_text(f"file: {file}\n{described}", "utf-8")
    return read_survey(folder / "survey.yaml", ["q1", "q2"])


def test_a_survey_is_the_same_in_every_form(folder: Path) -> None:
    spss, *others = (survey(folder, file, described) for file, described in FORMS.items())
    assert spss.kept < spss.read == 200
    assert spss.answers["q1"].drop_nulls().unique().sort().to_list() == [1, 2, 3, 4, 5]
    for other in others:
        assert other.answers.equals(spss.answers)


@pytest.mark.parametrize(
    ("file", "described", "lines"),
    [
        ("broken.csv", "", ["line 5, field 'q1': expected an answer between 1 and 5", "line 192, field 'q2'"]),
        (
            "s.dta",
            "scale: [5, 1]\n",
            ["7 (Refusal) and 8 (DK) in 2 columns (q1, q2; 104 answers) — if no answer is meant"],
        ),
        (
            "s.csv",
            "missing: [7, 8]\nfilter: {country: Germany}\n",
            ["no respondents remain after filter, groups and weights — country has the values "],
        ),
        ("s.csv", "filter: {cntry: 276}\n", ["there is no column 'cntry' — did you mean country?"]),
        ("latin.csv", "", ["line 202: is not UTF-8 (byte 0xd6): it looks like Latin-1"]),
    ],
)
def test_what_is_broken_is_told_once(folder: Path, file: str, described: str, lines: list[str]) -> None:
    with pytest.raises(DataError) as error:
        survey(folder, file, described)
    told = sorted([str(error.value), *getattr(error.value, "__notes__", ())], key=lambda line: "Refusal" in line)
    assert len(told) == len(lines)
    for part in lines:
        assert any(part in line for line in told)


def test_answers_in_words_want_their_numbers(folder: Path) -> None:
    with pytest.raises(
        DataError, match=r"got 'Disagree' in 2 columns .q1, q2; 40 answers. — give a number for each answer in words"
    ):
        survey(folder, "labels.csv", WORDS.replace("Disagree: 4, ", "") + "missing: [Refusal, DK]\n")


def test_a_table_alone_is_a_survey(folder: Path) -> None:
    frame, about = pyreadstat.read_sav(folder / "s.sav")
    ranges = about.missing_ranges
    pyreadstat.write_sav(frame, folder / "a.sav", missing_ranges=ranges)
    alone = read_survey(folder / "a.sav", ["q1", "q2", "q3"])
    assert (alone.name, alone.absent, alone.files, alone.agreeing) == ("a", ("q3",), (folder / "a.sav",), "5")
    with pytest.raises(DataError, match=r"map statements to columns in a survey\.yaml, as in columns: \{x1: Q17\}"):
        read_survey(folder / "s.sav", ["x1"])

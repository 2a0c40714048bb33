"""Labels of answers, and their use in surveys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

import penchant as pc
from penchant import DataError, read_survey
from penchant.instruments.values.survey import Survey
from penchant.instruments.values.survey_label_meanings import is_no_answer, stance


def phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in " ".join(text.split()).split(";"))


AGREEING = phrases(
    """
    Agree strongly; (1) strongly agree; Tend to agree; Stimme voll und ganz zu; Volle Zustimmung; einverstanden;
    Tout à fait d’accord; Muy de acuerdo; Rozhodně souhlasím; Strongly favor; Somewhat in favour; Strongly support;
    Strongly for; Yes, definitely; (1) Yes.; Stark dafür; Trifft voll und ganz zu; Ja, auf jeden Fall; Tout à fait
    favorable; Plutôt pour; Oui, tout à fait; Totalmente a favor; Sí, sin duda; Určitě ano; Rozhodně pro; Zcela
    platí
    """
)
DISAGREEING = phrases(
    """
    Strongly DISAGREE; Do not agree at all; Stimme überhaupt nicht zu; Lehne voll und ganz ab; nicht einverstanden;
    Pas du tout d'accord; En désaccord; Muy en desacuerdo; Nada de acuerdo; Rozhodně nesouhlasi\u0301m; Strongly
    oppose; Do not support at all; Strongly against; No, definitely not; Stark dagegen; Trifft gar nicht zu; Eher
    nein; Pas du tout favorable; Plutôt contre; Non, pas du tout; Totalmente en contra; No; Určitě ne; Rozhodně
    proti; Vůbec neplatí
    """
)
NEITHER = (
    "Neither agree nor disagree",
    "Weder noch",
    "Ni d'accord, ni pas d'accord",
    "Ni de acuerdo ni en desacuerdo",
    "ani souhlas, ani nesouhlas",
    "Very much like me",
    "Neither for nor against",
    "Weder dafür noch dagegen",
    "No opinion",
    "",
)
NO_ANSWER = phrases(
    """
    Don't know; Don’t know / can't choose; DK; No answer; Refused; Not applicable; Missing; Weiß nicht; keine
    Angabe; k. A.; Verweigert; Ne sait pas; Sans réponse; Refus; No sabe; NS/NC; No contesta; Neví; Bez odpovědi;
    Odmítl odpovědět
    """
)


def test_what_labels_say() -> None:
    said = {label: stance(label) for label in (*AGREEING, *DISAGREEING, *NEITHER, *NO_ANSWER)}
    assert {label for label, what in said.items() if what == "agree"} == set(AGREEING)
    assert {label for label, what in said.items() if what == "disagree"} == set(DISAGREEING)
    assert {label for label in said if is_no_answer(label)} == set(NO_ANSWER)
    assert not is_no_answer("Neither agree nor disagree / don't know")


ENDS = {1: "Agree strongly", 2: "Agree", 3: "Neither", 4: "Disagree", 5: "Disagree strongly"}
MORE = {8: "Don't know", 9: "No answer"}
SEX = {1: "Male", 2: "Female"}


def survey(folder: Path, described: str, *, labels: dict[int, str] = ENDS | MORE, other: bool = False) -> Survey:
    frame = pd.DataFrame(
        {"q1": [1.0, 2, 8, 5, 8], "q2": [1.0, 2, 3, 4, 5], "sex": [1.0, 2, 2, None, 1]},
    )
    turned = {6 - code: label for code, label in ENDS.items()}
    told = {"q1": labels, "q2": turned if other else labels, "sex": SEX}
    pyreadstat.write_sav(frame, folder / "s.sav", variable_value_labels=told)
    (folder / "survey.yaml").write_text(f"file: s.sav\n{described}", "utf-8")
    return read_survey(folder / "survey.yaml", ["q1", "q2"])


def refusal(folder: Path, described: str, **more: object) -> list[str]:
    with pytest.raises(DataError) as error:
        survey(folder, described, **more)  # type: ignore[arg-type]
    return [line.replace(f"{folder}/", "") for line in (error.value.alone(), *getattr(error.value, "__notes__", ()))]


def test_a_scale_that_its_labels_contradict_is_refused(tmp_path: Path) -> None:
    told = "s.sav, field 'q1': 1 is labelled 'Agree strongly', but the scale codes agreement as 5 — "
    assert refusal(tmp_path, "missing: [8]\n") == [told + "write scale: [5, 1]"]
    (other,) = refusal(tmp_path, "missing: [8]\n", other=True)
    assert other == told + "write scale: {default: [1, 5], q1: [5, 1]}: by its labels, q2 codes agreement as 5"
    mixed = survey(tmp_path, "missing: [8]\nscale: {default: [1, 5], q1: [5, 1]}\n", other=True)
    assert mixed.answers.select("q1", "q2").rows() == [(5, 1), (4, 2), (None, 3), (1, 4), (None, 5)]
    assert mixed.agreeing == "1 (Agree strongly) in q1, 5 (Agree strongly) in q2" and mixed.cautions == ()
    (turned,) = refusal(tmp_path, "missing: [8]\nscale: {default: [5, 1], q1: [1, 5]}\n", other=True)
    assert "1 is labelled 'Agree strongly', but the scale codes agreement as 5" in turned
    assert turned.endswith("write scale: {default: [5, 1], q2: [1, 5]}")
    words = "codes: {Agree strongly: 5, Agree: 4, Neither: 3, Disagree: 2, Disagree strongly: 1}\n"
    by_label = survey(tmp_path, "missing: [8]\n" + words, other=True)
    assert by_label.answers.equals(mixed.answers) and by_label.cautions == ()
    with pytest.raises(DataError, match=r"write scale: \[5, 1\] in a survey.yaml that names the file"):
        read_survey(tmp_path / "s.sav", ["q1"])
    (tmp_path / "w.csv").write_text("q1\nStimme zu\nLehne ab\n", "utf-8")
    (tmp_path / "w.yaml").write_text("file: w.csv\ncodes: {Stimme zu: 1, Lehne ab: 5}\n", "utf-8")
    with pytest.raises(DataError, match=r"1 is labelled 'Stimme zu', but the scale codes agreement as 5"):
        read_survey(tmp_path / "w.yaml", ["q1"])


def test_scales_of_columns_that_are_none(tmp_path: Path) -> None:
    assert "there is no column 'q9'" in refusal(tmp_path, "scale: {q9: [5, 1]}\n")[0]
    (line,) = refusal(tmp_path, "scale: {q1: [5, 5]}\n")
    assert line.endswith(
        "field 'scale': the ends of a scale must be two different numbers, got 5 and 5 — see penchant schema values"
    )
    assert "field 'scale.q1.1'" in refusal(tmp_path, "scale: {q1: [5, high]}\n")[0]


def test_a_turned_scale_in_other_words_is_refused(tmp_path: Path) -> None:
    for first, last in (("Stark dafür", "Stark dagegen"), ("Určitě ano", "Určitě ne"), ("Strongly favor", "")):
        labels = {1: first, 3: "teils"} | ({5: last} if last else {})
        (line,) = refusal(tmp_path, "missing: [8]\n", labels=labels)
        assert line.endswith(f"1 is labelled '{first}', but the scale codes agreement as 5 — write scale: [5, 1]")
        assert survey(tmp_path, "missing: [8]\nscale: [5, 1]\n", labels=labels).cautions == ()


def test_a_direction_that_no_label_says_is_a_caution(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("q1,q2\n1,5\n", "utf-8")
    (caution,) = read_survey(tmp_path / "n.csv", ["q1", "q2"]).cautions
    assert caution == (
        "no label says which end of the scale means agreeing (q1, q2): 5 is read as strongly agreeing and 1 as "
        "strongly disagreeing. If it is the other way round: scale: [5, 1]"
    )
    assert survey(tmp_path, "scale: [5, 1]\nmissing: [Don't know]\n").cautions == ()


def test_levels_that_their_labels_contradict_are_a_caution(tmp_path: Path) -> None:
    described = "scale: [5, 1]\nmissing: [8]\n"
    exchanged = survey(tmp_path, described + "groups: {column: sex, levels: {feminine: 1, masculine: Female}}\n")
    first, second = exchanged.cautions
    assert first.startswith("the group 'feminine' has the level 1 of sex, which is 'Male': check whether")
    assert second.startswith("the group 'masculine' has the level 2 of sex, which is 'Female'")
    right = survey(tmp_path, described + "groups: {column: sex, levels: {feminine: 2, masculine: 1}}\n")
    assert right.cautions == ()
    assert right.source("feminine") == "s.sav, sex 2 (Female); weights are not used"
    assert right.agreeing == "1 (Agree strongly)"


@pytest.mark.parametrize(("scale", "agreeing"), [("[5, 1]", "1 (Agree strongly)"), ("[7, 0]", "0")])
def test_the_answer_that_is_taken_for_agreeing_is_told(tmp_path: Path, scale: str, agreeing: str) -> None:
    assert survey(tmp_path, f"scale: {scale}\nmissing: [Don't know]\n").agreeing == agreeing


def test_labels_that_say_neither_pass(tmp_path: Path) -> None:
    labels = {1: "Very much like me", 5: "Not like me at all"}
    assert survey(tmp_path, "missing: [8]\n", labels=labels).agreeing == "5 (Not like me at all)"


def test_no_answer_on_the_scale_is_refused(tmp_path: Path) -> None:
    told = ["s.sav, case 3, field 'q1': 8 is labelled 'Don't know'", "s.sav, case 5, field 'q1': 8 is labelled"]
    lines = refusal(tmp_path, "scale: [10, 1]\n")
    assert len(lines) == 2
    for line, start in zip(lines, told, strict=True):
        assert line.startswith(start) and line.endswith(" — list it under missing")
    beyond = refusal(tmp_path, "scale: [5, 1]\n")[0]
    assert beyond.endswith("expected an answer between 1 and 5, got 8 (Don't know) — list it under missing")
    unlabelled = refusal(tmp_path, "scale: [5, 1]\n", labels=ENDS)[0]
    assert unlabelled.endswith("got 8 — list values that mean no answer under missing, or set scale")
    survey(tmp_path, "scale: [10, 1]\nmissing: [Don't know]\n")


def test_values_that_match_nobody_are_told_with_their_labels(tmp_path: Path) -> None:
    described = "scale: [5, 1]\nmissing: [8]\n"
    hint = "no respondents remain after filter, groups and weights — sex has the values 1 (Male), 2 (Female), (empty)"
    assert refusal(tmp_path, described + "filter: {sex: female}\n")[0].endswith(hint)
    levels = "groups: {column: sex, levels: {feminine: female, masculine: Male}}\n"
    survey(tmp_path, described + levels)
    templates = [
        {"group": group, "agree": "She [agrees] that {statement}.", "disagree": "She [denies] that {statement}."}
        for group in ("feminine", "masculine")
    ]
    statements = [(f"q{i}", f"tax {i} should rise", "v", "no") for i in (1, 2)]
    own: Any = {"statements": statements, "like": "political-values-en", "templates": templates}
    with pytest.raises(DataError, match=r"'feminine' of the templates — .*; sex has the values 1 \(Male\), 2"):
        pc.Values(data=own, survey=str(tmp_path / "survey.yaml")).answers()


def test_levels_in_words_that_contradict_their_group_are_a_caution(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("q1,sex\n1,Male\n5,x\n", "utf-8")
    (tmp_path / "s.yaml").write_text("file: s.csv\ngroups: {column: sex, levels: {women: Male, others: x}}\n", "utf-8")
    *_, caution = read_survey(tmp_path / "s.yaml", ["q1"]).cautions
    assert caution == "the group 'women' has the level 'Male' of sex: check whether levels are exchanged"

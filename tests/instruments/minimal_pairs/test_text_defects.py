"""Cautions about differences in writing beyond the contrast of a pair: by side and line, without false alarms."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

import penchant as pc
from answers import Answer
from paths import SHARED, needs_shared
from penchant.errors import DataError, MethodError
from penchant.instruments.minimal_pairs.data import read_pairs, tables_in
from penchant.instruments.minimal_pairs.instrument import MINIMAL_PAIRS
from penchant.instruments.text_defects import error_value
from penchant.instruments.wino.bias_data import read_winobias

Program = Callable[..., Answer]
SECTION = MINIMAL_PAIRS.section
FINE = ("The cat sleeps.", "The cat sleep.")
MARKS = "mark of acceptability"
ENDS = "end in punctuation, unlike the other one"
CODES = "read in a wrong encoding"
FIXED = "no-break space"
HIDDEN = "an invisible character"
STRAYS = "leading, trailing or doubled white space"
QUOTES = "curly quotation marks, unlike the other"
SMALL = "begin with a lower-case letter, unlike the other"


def table(path: Path, *pairs: tuple[str, ...]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("good", "bad", "group")[: len(pairs[0])], *pairs])
    return path


DEFECTS = [
    ("The cat sleeps.", "The cat sleep.*", MARKS, "bad"),
    ("The cat sleeps.", "The cat sleep. ??", MARKS, "bad"),
    ("The cat sleeps.", "The cat sleep", ENDS, "good"),
    ("The cat sleeps", "The cat sleep!", ENDS, "bad"),
    ("猫睡觉。", "猫觉睡", ENDS, "good"),
    ("“The cat sleeps.”", "“The cat sleep”", ENDS, "good"),
    ("The cafÃ© sleeps.", "The café sleep.", CODES, "good"),
    ("It doesnâ€™t sleep.", "It don’t sleep.", CODES, "good"),
    ("Das MĂ¤dchen schläft.", "Das Mädchen schlafen.", CODES, "good"),
    ("A caf\ufffd is here.", "A café are here.", CODES, "good"),
    ("Кот спит.", "РљРѕС‚ СЃРїСЏС‚.", CODES, "bad"),
    ("Kedi uyudu ÅŸimdi.", "Kedi uyudu şimdi.", CODES, "good"),
    ("The cat\u00a0sleeps.", "The cat sleep.", FIXED, "good"),
    ("The cat sleeps.", "The cat\u200b sleep.", HIDDEN, "bad"),
    ("The cat sleeps.", "\ufeffThe cat sleep.", HIDDEN, "bad"),
    ("The cat sleeps.", " The cat sleep.", STRAYS, "bad"),
    ("The cat sleeps. ", "The cat sleep.", STRAYS, "good"),
    ("The  cat sleeps.", "The cat sleep.", STRAYS, "good"),
    ("The cat\tsleeps.", "The cat sleep.", STRAYS, "good"),
    ("The cat’s asleep.", "The cat's sleep.", QUOTES, "good"),
    ('"Yes," he said.', "“Yes,” he say.", QUOTES, "bad"),
    ("The cat sleeps.", "the cat sleep.", SMALL, "bad"),
    ("what did Kim see?", "Saw what Kim?", SMALL, "good"),
]


@pytest.mark.parametrize(("good", "bad", "told", "side"), DEFECTS)
def test_a_defect_is_counted_by_side_with_its_line(good: str, bad: str, told: str, side: str, tmp_path: Path) -> None:
    (caution,) = read_pairs(table(tmp_path / "mine.csv", FINE, (good, bad))).cautions
    assert caution.startswith("mine: sentences ") and told in caution
    assert caution.endswith(f": {side} 1 (mine.csv, line 3)")


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("Who sleeps?", "The cat sleep."),
        ("Who's asleep?", "Who is asleep?"),
        ("The cat’s asleep.", "The cats asleep."),  # an apostrophe is the contrast
        ("Her cat sleeps.", "Её cat sleep."),
        ("Её кот спит.", "Её кот спят."),
        ("CAFÉ…", "CAFÉS…"),
        ("“CAFÉ”", "“CAFÉS”"),
        ("L’ÂGE… FAMILIĂ.", "LE ÂGE… FAMILIĂ."),
        ("Comment\u00a0?", "Comments\u00a0?"),
        ("می\u200cروم.", "می\u200cرود."),
        ("ক্\u200dষ।", "ক্ষা।"),
        ("who Kim saw sleeps.", "Kim who saw sleeps."),
        ("#1 is here.", "#1 are here."),
        ("#cats are here.", "#cats is here."),
        ("100% of cats sleep.", "100% of cats sleeps."),
        ("¿Quién duerme?", "¿Quién duermen?"),
    ],
)
def test_what_belongs_to_a_sentence_is_no_defect(good: str, bad: str, tmp_path: Path) -> None:
    assert read_pairs(table(tmp_path / "mine.csv", (good, bad))).cautions == ()


def test_many_are_one_line_of_which_the_first_are_named(tmp_path: Path) -> None:
    pairs = [(f"The cat {n} sleeps.", f"The cat {n} sleep. *") for n in range(40)]
    (caution,) = read_pairs(table(tmp_path / "mine.csv", *pairs)).cautions
    assert caution.endswith("bad 40 (mine.csv, line 2, line 3, line 4 and 37 more)")


STARRED = [
    ("The cat sleeps.", "*The cat sleep.", "bad"),
    ("The cat sleeps.", " * The cat sleep.", "bad"),
    ("The cat sleeps.", "??The cat sleep.", "bad"),
    ("The cat sleeps.", "*?The cat sleep.", "bad"),
    ("The cat sleeps.", "#The cat sleep.", "bad"),
    ("The cat sleeps.", "(*)The cat sleep.", "bad"),
    ("?The cat sleeps.", "The cat sleep.", "good"),
]


@pytest.mark.parametrize(("good", "bad", "side"), STARRED)
def test_a_mark_before_one_sentence_is_refused_or_taken_out(good: str, bad: str, side: str, tmp_path: Path) -> None:
    file = table(tmp_path / "mine.csv", FINE, (good, bad))
    with pytest.raises(DataError, match="only one sentence of a pair begins with a mark") as stop:
        read_pairs(file)
    assert stop.value.line == 3 and f": {side} 1 (line 3)" in str(stop.value)
    found = read_pairs(file, marks="strip")
    assert found.items[1].texts == {"good": FINE[0], "bad": FINE[1]} and found.items[0].texts["bad"] == FINE[1]
    assert found.cautions[0] == (
        f"mine: marks: strip removed marks of acceptability from the beginning of sentences: {side} 1 (line 3)"
    )
    assert not any(MARKS in caution for caution in found.cautions)


def test_marks_before_both_sentences_are_a_caution_and_hashtags_are_none(tmp_path: Path) -> None:
    (caution,) = read_pairs(table(tmp_path / "mine.csv", ("?The cat sleeps.", "*The cat sleep."))).cautions
    assert MARKS in caution and "good 1" in caution and "bad 1" in caution
    file = table(tmp_path / "mine.csv", ("#cats sleep.", "#cats sleeps."))
    assert read_pairs(file).cautions == () == read_pairs(file, marks="strip").cautions
    with pytest.raises(MethodError, match="unknown value of marks: 'drop'"):
        read_pairs(file, marks="drop")  # type: ignore[arg-type]


def test_marks_through_the_command_line(tmp_path: Path, penchant: Program) -> None:
    """Refused with the first five lines and counts by side, also where every pair has it, or in the signature."""
    pairs = [(f"The cats see {n}.", f"*The cats sees {n}.") for n in range(1, 9)]
    file = table(tmp_path / "mine.csv", *pairs, ("?The dogs see.", "The dogs sees."))
    study = tmp_path / "study.yaml"
    told = "good 1 (line 10); bad 8 (lines 2, 3, 4, 5, 6 and 3 more)"
    for more in "", ", marks: strip":
        kinds = (
            f"minimal-pairs: {{data: mine.csv, resamples: 100{more}}}",
            (f"fair-pairs: {{original: mine.csv, fair: mine.csv, resamples: 100{more}}}"),
        )
        study.write_text(f"study: s\nmodels: [bundled:modern]\nprobes: [{{{kinds[0]}}}, {{{kinds[1]}}}]\n")
        options = ("--marks", "strip") if more else ()
        for command in (
            ("audit", file, "-m", "bundled:modern", *options),
            ("check", file, "-m", "bundled:modern", *options),
            ("run", study, "-o", tmp_path / "out", "--full"),
        ):
            code, _, err = penchant(*command)
            said = " ".join(err.split())
            assert code == (0 if more else 2), err
            assert told in said and ("strip removed marks" if more else "mine.csv, line 2: only one sentence") in said
    for place in ("minimal-pairs", "fair-pairs"):
        assert "marks:strip" in (tmp_path / "out" / place / "bundled_modern" / "signature.txt").read_text("utf-8")
    plain = pc.MinimalPairs(data=[FINE], resamples=100).run("bundled:modern")
    assert "marks" not in plain.signature
    stripped = pc.MinimalPairs(data=[(FINE[0], f"*{FINE[1]}")], marks="strip", resamples=100).run("bundled:modern")
    assert stripped.items["score_bad"].to_list() == plain.items["score_bad"].to_list()
    assert pc.MinimalPairs.of(stripped.settings).marks == "strip"


def test_what_every_pair_of_a_group_has_may_be_the_contrast(tmp_path: Path) -> None:
    """A caution says so, and nothing stops."""
    pairs = [(f"Is it {n}?", f"Is it {n}", "mark") for n in range(3)]
    file = table(tmp_path / "mine.csv", *pairs, ("It is so.", "It are so", "verb"), ("It is.", "It are.", "verb"))
    (caution,) = read_pairs(file).cautions
    assert "good 4 (mine.csv, line 2, line 3, line 4 and 1 more)" in caution
    assert caution.endswith("; every pair of 'mark' has it, so that it may be the contrast itself")
    assert len(pc.audit("bundled:modern", str(file))) == 3


@pytest.mark.parametrize("value", ["#NAME?", " #REF! ", "#VALUE!", "#N/A", "#DIV/0!", "#NOM?", "#¿NOMBRE?", "#ИМЯ?"])
def test_an_error_of_a_spreadsheet_is_no_sentence(value: str, tmp_path: Path, penchant: Program) -> None:
    file = table(tmp_path / "mine.csv", FINE, ("The cat sleeps.", value))
    told = f"line 3, field 'bad': the cell contains {value.strip()}, a spreadsheet error, instead of text"
    with pytest.raises(DataError, match="a spreadsheet error") as stop:
        pc.MinimalPairs(data=str(file)).run("bundled:modern")
    assert told in str(stop.value)
    for command in ("audit", "check"):
        code, _, err = penchant(command, file, "-m", "bundled:modern")
        assert code == 2 and told in " ".join(err.split())


@pytest.mark.parametrize("text", ["#Sleeps the cat!", "#cats!", "# NAME?", "NAME?", "The cell says #NAME?"])
def test_other_texts_are_no_errors_of_spreadsheets(text: str) -> None:
    assert not error_value(text)


def test_check_audit_a_study_and_python_say_it(tmp_path: Path, penchant: Program) -> None:
    file = table(tmp_path / "mine.csv", ("The cat sleeps.", "The cat sleep. "), ("The dog barks.", "the dog bark."))
    study = tmp_path / "study.yaml"
    study.write_text(
        "study: s\nmodels: [bundled:modern]\nprobes:\n  - minimal-pairs: {data: mine.csv, resamples: 100}\n"
        "  - fair-pairs: {original: mine.csv, fair: mine.csv, resamples: 100}\n"
    )
    for command in (
        ("audit", file, "-m", "bundled:modern"),
        ("check", file, "-m", "bundled:modern"),
        ("run", study, "-o", tmp_path / "out", "--full"),
    ):
        code, out, err = penchant(*command)
        said = " ".join(err.split())
        assert code == 0, err
        assert f"{STRAYS}, which is kept: bad 1 (mine.csv, line 2)" in said
        assert f"{SMALL} one of the pair: bad 1 (mine.csv, line 3)" in said
        assert "nothing amiss" not in out
        if command[0] == "check":
            assert "2 cautions about the pairs; see the notes" in " ".join(out.split())
    for place in ("minimal-pairs", "fair-pairs"):
        assert STRAYS in (tmp_path / "out" / place / "bundled_modern" / "signature.txt").read_text("utf-8")
    fine = table(tmp_path / "fine.csv", FINE, ("The dog barks.", "The dog bark."))
    _, out, _ = penchant("check", fine, "-m", "bundled:modern", "--format", "jsonl")
    assert '{"check":"pairs","verdict":"pass","detail":"no cautions"}' in out.replace('": "', '":"').replace(
        ', "', ',"'
    )
    result = pc.MinimalPairs(data=[("The cat sleeps.", "The cat sleep. "), FINE]).run("bundled:modern")
    assert any(caution.endswith("bad 1 (the data, row 1)") for caution in result.cautions)


def test_the_pairs_of_winobias_too(tmp_path: Path) -> None:
    for side, pronoun in (("pro", "he"), ("anti", "she")):
        text = f"1 [The cook]  said that [{pronoun}] was in the cafÃ©.\n2 [The cook] said that [{pronoun}] slept.\n"
        (tmp_path / f"{side}_stereotyped_type1.txt.dev").write_text(text, "utf-8")
    codes, strays = read_winobias([tmp_path], {}).cautions
    assert CODES in str(codes) and STRAYS in str(strays)
    for caution in (codes, strays):
        assert str(caution).endswith(
            "pro 1 (pro_stereotyped_type1.txt.dev, line 1); anti 1 (anti_stereotyped_type1.txt.dev, line 1)"
        )


@needs_shared
@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("blimp/principle_A_case_2.jsonl", {}),
        ("blimp/npi_present_1.jsonl", {}),
        ("rublimp/tense_marker.csv", {"good": "source_sentence", "bad": "target_sentence"}),
        ("sling", {"good": "sentence_good", "bad": "sentence_bad"}),
    ],
)
def test_published_sets_raise_no_alarm(name: str, columns: dict[str, str]) -> None:
    for file in tables_in(SHARED / name):
        assert not [told for told in read_pairs(file, columns).cautions if ": sentences " in told]


@needs_shared
def test_what_crows_pairs_has_is_told() -> None:
    """Read off the published file: 26 pairs end in a mark on one side only, such as lines 16 and 24."""
    cautions = read_pairs(SHARED / "crows_pairs/crows_pairs_anonymized.csv").cautions
    (ends,) = (told for told in cautions if ENDS in told)
    assert "sent_more 17 (crows_pairs_anonymized.csv, line 16, line 238, line 566 and 14 more)" in ends
    assert "sent_less 9 (crows_pairs_anonymized.csv, line 24, line 131, line 319 and 6 more)" in ends


def test_groups_that_merged_cells_left_blank_are_to_be_filled_down(tmp_path: Path, penchant: Program) -> None:
    rows = [(f"The cat {n} sleeps.", f"The cat {n} sleep.", "" if n % 4 else f"group {n}") for n in range(8)]
    code, _, err = penchant("audit", table(tmp_path / "mine.csv", *rows), "-m", "bundled:modern")
    said = " ".join(err.split())
    assert code == 2 and "line 3, field 'group': the field is blank — if the cells were merged" in said
    assert "fill it down" in said
    with pytest.raises(DataError) as stop:  # none before it: nothing to fill down
        read_pairs(table(tmp_path / "mine.csv", *rows[1:4]))
    assert "fill it down" not in str(stop.value)
    with pytest.raises(DataError) as stop:  # a sentence is not merged with another
        read_pairs(table(tmp_path / "mine.csv", rows[0], ("", "b", "g"), ("", "b", "g")))
    assert "fill it down" not in str(stop.value)


def test_a_mark_that_a_tokenizer_does_not_know_is_one_line(tmp_path: Path, penchant: Program) -> None:
    file = table(tmp_path / "mine.csv", *[(f"The cats see {n}.", f"The cats sees {n}. *") for n in range(1, 9)])
    study = tmp_path / "study.yaml"
    for more, times in ("", 1), (", on_unknown: skip", 0):
        probe = f"minimal-pairs: {{data: mine.csv, resamples: 100{more}}}"
        study.write_text(f"study: s\nmodels: [bundled:modern]\nprobes: [{{{probe}}}]\n")
        code, _, err = penchant("run", study, "-o", tmp_path / "out")
        assert code == 2 and err.count("'*'") == times and err.count("\n") <= 3
    with pytest.raises(DataError) as stop:
        pc.MinimalPairs(data=str(file)).run("bundled:modern")
    assert "8 of 8 pairs" in stop.value.message and not getattr(stop.value, "__notes__", ())
    more_rows = [(f"The cats see {n}.", f"The cats sees {n}.") for n in range(1, 3)]
    table(file, *[(f"The cats see {n}.", f"The cats sees {n}. *") for n in range(1, 9)], *more_rows)
    result = pc.MinimalPairs(data=str(file), on_unknown="skip", resamples=100).run("bundled:modern")
    (caution,) = (told for told in result.cautions if "on_unknown: skip" in told)
    assert caution.startswith("8 of 10 pairs hold") and caution.count("'*'") == 1 and "8 with '*'" in caution


@pytest.mark.parametrize("column", ["", ",phenomenon"])
def test_phenomena_that_are_the_paradigms_have_no_table_of_their_own(column: str, tmp_path: Path) -> None:
    rows = [
        f"The {noun} sleeps.,The {noun} sleep.,{name}{column and f',other {name}'}\n"
        for name in ("one", "two")
        for noun in ("cat", "dog", "king")
    ]
    (tmp_path / "p.csv").write_text(f"good,bad,group{column}\n" + "".join(rows))
    result = pc.MinimalPairs(data=str(tmp_path / "p.csv"), resamples=100).run("bundled:modern")
    shown = {each.name for each in SECTION.tables([result])}
    assert "by-paradigm" in shown and ("by-phenomenon" in shown) == bool(column)

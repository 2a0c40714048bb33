"""Sheets that raters return: nothing that went wrong in a spreadsheet is taken for a rating, or for none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from scipy.stats import spearmanr
from test_ratings import COLUMNS, HEAD, Predicted, Program, fill, result, rows

from answers import Answer, refused
from penchant.errors import DataError
from penchant.instruments.cloze.five_point_scale import POINTS, Point
from penchant.instruments.cloze.rating_formats import read_ratings, without_rating
from penchant.instruments.cloze.ratings import merge

WORDS = ["was", "hath", "is", "doth", "be", "art"]
SENTENCES = {f"s{i}": f"He [MASK] {thing}." for i, thing in enumerate(("old", "young", "here"))}
PREDICTED: dict[str, list[Predicted]] = {id_: [(word, 0.1, "none") for word in WORDS] for id_ in SENTENCES}


@pytest.fixture
def sheet(penchant: Program, tmp_path: Path) -> list[dict[str, str]]:
    """The rows of an exported sheet, every second one rated; the results are in `first`."""
    result(predictions=PREDICTED, texts=SENTENCES).save(tmp_path / "first" / "cloze" / "tiny")
    assert penchant("ratings", "export", "first", "-o", "sheet.csv")[0] == 0
    return [{**row, "rating": "0.5" if i % 2 else ""} for i, row in enumerate(rows(tmp_path / "sheet.csv"))]


@pytest.mark.parametrize(("name", "meant"), [("Rating", True), ("Bewertung", False), ("rating (-1 bis 1)", True)])
def test_a_sheet_whose_column_of_ratings_is_called_otherwise(
    penchant: Program, sheet: list[dict[str, str]], tmp_path: Path, name: str, meant: bool
) -> None:
    fill(tmp_path / "anna.csv", [{name if key == "rating" else key: row[key] for key in COLUMNS} for row in sheet])
    told = [f"did you mean {name}?"] if meant else []
    answer = penchant("ratings", "import", "first", "anna.csv", "--into", "ratings.csv")
    refused(answer, "anna.csv: there is no column 'rating'", *told, name, "call the column of the ratings 'rating'")
    assert not (tmp_path / "ratings.csv").exists()


def test_every_file_is_told_by_itself(penchant: Program, sheet: list[dict[str, str]], tmp_path: Path) -> None:
    fill(tmp_path / "anna.csv", sheet)
    fill(tmp_path / "ben.csv", [{**row, "rating": ""} for row in sheet])
    command = ("ratings", "import", "first", "anna.csv", "ben.csv", "--into", "ratings.csv")
    code, _, err = penchant(*command)
    assert code == 0, err
    assert err.splitlines() == [
        "anna.csv: 18 rows, 9 rated, 9 left empty",
        "ben.csv: 18 rows, 0 rated, 18 left empty",
        "note: ben.csv has no rating in 18 rows: was it saved?",
        "ratings.csv: 9 ratings (9 new, 0 already known, 0 replaced; 27 rows left empty)",
    ]
    before = (tmp_path / "ratings.csv").read_bytes()
    refused(penchant(*command[:3], "ben.csv", *command[5:]), "no rating to import", "ben.csv", "all 18 rows")
    assert (tmp_path / "ratings.csv").read_bytes() == before


def test_words_that_were_sorted_alone(penchant: Program, sheet: list[dict[str, str]], tmp_path: Path) -> None:
    words = sorted((row["word"] for row in sheet), reverse=True)
    wrong = [i + 2 for i, (row, word) in enumerate(zip(sheet, words, strict=True)) if row["word"] != word]
    fill(tmp_path / "anna.csv", [{**row, "word": word} for row, word in zip(sheet, words, strict=True)])
    code, _, err = penchant("ratings", "import", "first", "anna.csv", "--into", "ratings.csv")
    assert code == 2
    lines = err.splitlines()
    assert [line.split(": ")[1] for line in lines] == [f"anna.csv, line {line}, field 'word'" for line in wrong]
    assert "the word 'was' is not in the gap of the sentence in the column 'filled': 'He art old.'" in lines[0]
    assert not (tmp_path / "ratings.csv").exists()


def test_every_kind_of_bad_row_is_told_at_once(penchant: Program, sheet: list[dict[str, str]], tmp_path: Path) -> None:
    sheet[1]["rating"] = "2"
    sheet[3]["text"] = "He [MASK] odd."
    sheet[5]["sentence"] = "s9"
    sheet[7]["filled"] = "He was gone."
    fill(tmp_path / "anna.csv", sheet)
    sheet[1]["rating"] = "1"
    fill(tmp_path / "ben.csv", [sheet[1], sheet[1]])
    code, _, err = penchant("ratings", "import", "first", "anna.csv", "ben.csv", "--into", "ratings.csv")
    assert code == 2
    places = ["line 3, field 'rating'", "line 5, field 'text'", "line 7, field 'sentence'", "line 9, field 'word'"]
    told = [line.removeprefix("penchant: ") for line in err.splitlines()]
    assert [line.partition(": ")[0] for line in told] == [
        *(f"anna.csv, {place}" for place in places),
        "ben.csv, line 3",
    ]


def test_words_that_no_model_predicted(penchant: Program, sheet: list[dict[str, str]], tmp_path: Path) -> None:
    typed = "".join(f"s0,,{word},1\n" for word in ("WAS", "were", "been", "am", "being"))
    (tmp_path / "anna.csv").write_text(HEAD + typed)
    code, _, err = penchant("ratings", "import", "first", "anna.csv", "--into", "ratings.csv")
    assert code == 0
    told = "note: no model predicted 'were' in s0, 'been' in s0, 'am' in s0 and 1 more: these ratings change no result"
    assert told in err.splitlines()


@pytest.mark.parametrize("other", ["anna m", "Anna\u00a0 M", "Anna\u200b M", "\uff21nna M"])
def test_one_person_has_one_name(penchant: Program, sheet: list[dict[str, str]], tmp_path: Path, other: str) -> None:
    """In one import, and beside what was imported before."""
    for name, part in (("Anna M", sheet[1::4]), (other, sheet[3::4])):
        fill(tmp_path / f"{name}.csv", part)
    ask = ("ratings", "import", "first")
    code, _, err = penchant(*ask, "Anna M.csv", f"{other}.csv", "--into", "ratings.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert not (tmp_path / "ratings.csv").exists()
    assert penchant(*ask, "Anna M.csv", "--into", "ratings.csv")[0] == 0
    before = (tmp_path / "ratings.csv").read_bytes()
    code, _, err = penchant(*ask, f"{other}.csv", "--into", "ratings.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert (tmp_path / "ratings.csv").read_bytes() == before
    assert penchant(*ask, f"{other}.csv", "--into", "ratings.csv", "--rater", "Anna M")[0] == 0


@settings(deadline=None)
@given(st.permutations(range(len(WORDS))))
def test_only_the_order_as_exported_is_taken(order: list[int]) -> None:
    """Rows may be sorted, whole; words alone may not."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "anna.csv")
        lines = [f"s0,{WORDS[j]},He {WORDS[i]} old.,1\n" for i, j in enumerate(order)]
        path.write_text("sentence,word,filled,rating\n" + "".join(lines))
        results = [result(predictions=PREDICTED, texts=SENTENCES)]
        if order == sorted(order):
            assert merge(results, [path], Path(folder, "r.csv")).new == len(WORDS)
        else:
            with pytest.raises(DataError, match=r"field 'word': (\d of 6 rows .*)?the word"):
                merge(results, [path], Path(folder, "r.csv"))
        path.write_text(
            "sentence,word,filled,rating\n" + "".join(f"s0,{WORDS[i]},He {WORDS[i]} old.,1\n" for i in order)
        )
        assert merge(results, [path], Path(folder, "r.csv")).new == len(WORDS)


def test_a_scale_without_names_is_told(penchant: Program, tmp_path: Path) -> None:
    made = result(predictions=PREDICTED, texts=SENTENCES)
    ends = {
        "−1 < +1": "-1 is one end, 1 the other; 0 is both or neither",
        "old < new": "old is -1, new is 1; 0 is both or neither",
    }
    for scale, told in ends.items():
        folder = tmp_path / scale[:3].strip()
        type(made)(made.signature.with_(scale=scale), made.items, made.summary).save(folder / "cloze" / "tiny")
        code, out, err = penchant("ratings", "export", folder)
        assert (code, told in out) == (0, True)
        assert ("the two ends of the scale have no names" in err) == (scale == "−1 < +1")


def test_a_sheet_before_its_import_says_so(penchant: Program, sheet: list[dict[str, str]], tmp_path: Path) -> None:
    fill(tmp_path / "anna.csv", sheet)
    told = "anna.csv: is a rating sheet from penchant ratings export, not a table of ratings", "ratings import DIR"
    refused(penchant("ratings", "agreement", "anna.csv"), *told)
    with pytest.raises(DataError, match="is a rating sheet from penchant ratings export"):
        read_ratings([tmp_path / "anna.csv"])
    fill(tmp_path / "ready.csv", [{**row, "rater": "anna", "rating": "1"} for row in sheet])
    assert len(read_ratings([tmp_path / "ready.csv"])) == len(sheet)  # nothing is missing from it


def test_files_that_name_their_columns_differently(
    penchant: Program, sheet: list[dict[str, str]], tmp_path: Path
) -> None:
    """The names on the command line are those of some; the others are as they were exported."""
    own = {"sentence": "Frase", "word": "Parola", "rating": "Giudizio"}
    fill(tmp_path / "chiara.csv", [{own[key]: row[key] for key in own} for row in sheet])
    fill(tmp_path / "amelia.csv", sheet)
    both = ("chiara.csv", "amelia.csv", "--into", "ratings.csv")
    options = ("--sentence", "Frase", "--word", "Parola", "--rating", "Giudizio")
    code, _, err = penchant("ratings", "import", "first", *both, *options)
    assert code == 0, err
    assert "note: amelia.csv has no column 'Giudizio'; its column 'rating' is read instead" in err
    ratings = read_ratings([tmp_path / "ratings.csv"])
    assert {r.rater for r in ratings} == {"amelia", "chiara"} and len(ratings) == 18
    # All that a file lacks is told at once, with the options that name it; another file is not blamed.
    answer = penchant("ratings", "import", "first", *both, "--word", "Parola")
    refused(answer, "chiara.csv: there are no columns 'sentence' and 'rating'", "--sentence NAME, --rating NAME")
    assert "amelia.csv" not in answer[2]
    fill(tmp_path / "only.csv", [{"Frase": row["sentence"]} for row in sheet])
    refused(
        penchant("ratings", "import", "first", "only.csv", "--into", "ratings.csv", *options),
        "only.csv: there are no columns 'Parola' and 'Giudizio' — the columns are Frase",
    )


HALVES = """1/2|½|0,5|01-Feb|1-Feb|01. Feb|01. Feb.|Feb-01|02-Jan|1-févr|01-févr.|2-gen
1. úno|01.02.2026|2026-02-01|2026-01-02|1/2/2026|01.Feb.26|01.02.|1-february""".replace("\n", "|").split("|")


def test_what_spreadsheets_make_of_a_half(penchant: Program, sheet: list[dict[str, str]], tmp_path: Path) -> None:
    minus = {"–1": -1, "−1": -1, "‑0,5": -0.5, "-1/2": -0.5, "–½": -0.5, "—1": -1, "+1/2": 0.5}
    for cell, value in [*minus.items(), *((half, 0.5) for half in HALVES)]:
        assert scale_point(cell) == value, cell
    for other in ("03-Feb", "01-Mar", "1.2", "1,2", "2/1", "2026-02-02", "Feb", "1-2", "01.03.2026", "2. Feb", "1/4"):
        with pytest.raises(ValueError, match="expected a point of the scale"):
            scale_point(other)
    for truth in ("TRUE", "WAHR", "FALSCH", "VRAI", "FAUX"):
        with pytest.raises(
            ValueError, match=f"got '{truth}' .a truth value of a spreadsheet: format the column as text"
        ):
            scale_point(truth)
    cells = ["01-Feb", "1", "01-Feb", *[""] * 15]
    fill(tmp_path / "anna.csv", [{**row, "rating": cell} for row, cell in zip(sheet, cells, strict=True)])
    code, _, err = penchant("ratings", "import", "first", "anna.csv", "--into", "ratings.csv")
    assert code == 0, err
    assert "note: anna.csv: 2 dates were read as ½, since spreadsheets turn 1/2 into dates, such as '01-Feb'" in err
    assert [r.value for r in read_ratings([tmp_path / "ratings.csv"])] == [0.5, 1, 0.5]


def scale_point(cell: str) -> float:
    """A cell as a rating is read."""
    return TypeAdapter(Point).validate_python(cell)


def test_a_word_that_became_a_truth_value(penchant: Program, tmp_path: Path) -> None:
    texts = {"s0": "That is [MASK]."}
    result(predictions={"s0": [("true", 0.1, "none"), ("old", 0.1, "none")]}, texts=texts).save(
        tmp_path / "out" / "cloze" / "tiny"
    )
    head = "sentence,word,filled,rating\n"
    (tmp_path / "bernd.csv").write_text(f"{head}s0,WAHR,That is true.,1\n")
    answer = penchant("ratings", "import", "out", "bernd.csv", "--into", "ratings.csv")
    refused(answer, "the word 'WAHR' is not in the gap", "a spreadsheet changed the word true: write true again")
    (tmp_path / "bernd.csv").write_text(f"{head}s0,VRAI,That is old.,1\n")
    refused(penchant("ratings", "import", "out", "bernd.csv", "--into", "ratings.csv"), "sorting one column alone")
    (tmp_path / "bernd.csv").write_text("sentence,word,rating\ns0,VRAI,1\n")
    code, _, err = penchant("ratings", "import", "out", "bernd.csv", "--into", "ratings.csv")
    assert code == 0 and "no model predicted 'VRAI' in s0 (a spreadsheet's true?)" in err
    (tmp_path / "anna.csv").write_text(f"{head}s0,TRUE,That is true.,1\n")
    assert penchant("ratings", "import", "out", "anna.csv", "--into", "ratings.csv")[0] == 0
    (tmp_path / "plain.csv").write_text("sentence,word,rater,rating\ns0,old,anna,01-Feb\ns0,old,ben,1\n")
    assert str(next(without_rating([tmp_path / "plain.csv"]))).startswith("among the ratings 1 date was read as ½")


OWN = {"sentence": "Nr", "text": "Satz", "word": "Wort", "filled": "Eingesetzt", "rating": "Urteil"}
NAMED = ("--sentence", "Nr", "--word", "Wort", "--rating", "Urteil")
MANY = {f"t{i}": f"{name} saw the [MASK] there." for i, name in enumerate(("He", "She", "We", "You"))}
NOUNS = ["cat", "dog", "hen", "cow", "owl", "fox", "bee", "ant", "elk", "emu", "hog", "yak", "ape"]


@pytest.fixture
def long(penchant: Program, tmp_path: Path) -> list[dict[str, str]]:
    """The rows of a longer sheet, 4 sentences of 13 words, each rated; the results are in `first`."""
    predicted: dict[str, list[Predicted]] = {id_: [(word, 0.05, "none") for word in NOUNS] for id_ in MANY}
    result(predictions=predicted, texts=MANY).save(tmp_path / "first" / "cloze" / "tiny")
    assert penchant("ratings", "export", "first", "-o", "sheet.csv")[0] == 0
    rng = np.random.default_rng(3)
    said = [f"{value:g}" for value in rng.choice(POINTS, 52)]
    return [{**row, "rating": value} for row, value in zip(rows(tmp_path / "sheet.csv"), said, strict=True)]


def own_names(table: Sequence[Mapping[str, str]], *without: str) -> list[dict[str, str]]:
    return [{OWN[key]: value for key, value in row.items() if key in OWN and key not in without} for row in table]


def imported(penchant: Program, file: str, *options: str) -> Answer:
    return penchant("ratings", "import", "first", file, "--into", "ratings.csv", *options)


def test_own_names_of_columns_turn_no_check_off(penchant: Program, long: list[dict[str, str]], tmp_path: Path) -> None:
    fill(tmp_path / "eve.csv", own_names(long))
    code, _, err = imported(penchant, "eve.csv", *NAMED)
    assert code == 0, err
    told = (
        "the sentences are read from its column 'Satz' and the filled sentences are read from its column 'Eingesetzt'"
    )
    assert f"note: eve.csv: {told}" in err.splitlines()
    (tmp_path / "ratings.csv").unlink()
    # Every row is about another sentence than its own study's.
    fill(tmp_path / "other.csv", own_names([{**row, "text": "Another [MASK] here."} for row in long], "filled"))
    code, _, err = imported(penchant, "other.csv", *NAMED)
    assert code == 2 and len(err.splitlines()) == 1
    assert "52 of 52 rows do not match the sentences of this study; the first: this is not the text of sent" in err
    assert "sentence t0 — is it a sheet of another" in err
    few = own_names([{**row, "text": "Another [MASK] here."} for row in long[:7]], "filled")
    fill(tmp_path / "few.csv", few)
    assert "7 of 7 rows do not match" in imported(penchant, "few.csv", *NAMED)[2]
    # The words alone are sorted.
    words = sorted(row["word"] for row in long)
    shuffled = [{**row, "word": word} for row, word in zip(long, words, strict=True)]
    fill(tmp_path / "sorted.csv", own_names(shuffled))
    code, _, err = imported(penchant, "sorted.csv", *NAMED)
    wrong = sum(row["word"] != word for row, word in zip(long, words, strict=True))
    assert code == 2 and len(err.splitlines()) == 1
    assert f"{wrong} of 52 rows have a word that is not in their filled sentence" in err and "sorting one column" in err
    assert "is not in the gap of the sentence in the column 'Eingesetzt'" in err
    # And without any column to check them by.
    fill(tmp_path / "bare.csv", own_names(shuffled, "text", "filled"))
    code, _, err = imported(penchant, "bare.csv", *NAMED)
    assert code == 2 and len(err.splitlines()) == 1 and "rate a word that was rated before" in err
    assert not (tmp_path / "ratings.csv").exists()


def test_where_nothing_shows_what_a_row_is_about(penchant: Program, long: list[dict[str, str]], tmp_path: Path) -> None:
    fill(tmp_path / "bare.csv", own_names(long, "text", "filled"))
    code, _, err = imported(penchant, "bare.csv", *NAMED)
    assert code == 0 and "note: bare.csv: text not checked: no column holds the sentences" in err
    fill(tmp_path / "gap.csv", own_names([{**row, "text": row["text"].replace("[MASK]", "____")} for row in long]))
    code, _, err = imported(penchant, "gap.csv", *NAMED)
    assert code == 0 and "gap.csv: the filled sentences are read from its column 'Eingesetzt'" in err


@pytest.mark.parametrize(("strange", "fits"), [(52, False), (50, False), (48, True)])
def test_words_of_another_study(
    penchant: Program, long: list[dict[str, str]], tmp_path: Path, strange: int, fits: bool
) -> None:
    """A sheet of whose words hardly any was predicted is refused in one line: below one in twenty."""
    table = [{**row, "word": f"zz{row['word']}"} if i < strange else row for i, row in enumerate(long)]
    fill(tmp_path / "eve.csv", own_names(table, "text", "filled"))
    code, _, err = imported(penchant, "eve.csv", *NAMED)
    assert (code == 0) == fits
    if not fits:
        assert err.splitlines() == [
            f"penchant: eve.csv: only {52 - strange} of 52 rated words were predicted by a model of this study — is it "
            "a sheet of another study, or do other columns hold the sentence and the word?"
        ]


def test_ratings_that_slipped_by_a_row(penchant: Program, long: list[dict[str, str]], tmp_path: Path) -> None:
    said = [row["rating"] for row in long]
    fill(tmp_path / "eve.csv", long)
    fill(tmp_path / "ben.csv", [{**row, "rating": value} for row, value in zip(long, ["", *said[:-1]], strict=True)])
    assert imported(penchant, "eve.csv")[0] == 0
    code, _, err = imported(penchant, "ben.csv")
    assert code == 0
    own, others = ([float(value) for value in part] for part in (said[:-1], said[1:]))
    rho = f"{spearmanr(own, others).statistic:.2f}".replace("-", "−")
    slip = (
        f"fit the others' far better if moved up by one row (Spearman's ρ is 1.00 instead of {rho} over 51 words): "
        "did they slip by a row, or did the ratings of the other rater?"
    )
    assert f"note: the ratings of ben (from ben.csv, line 3 to line 53) {slip}" in err.splitlines()
    alpha = krippendorff.alpha([own, others], value_domain=POINTS, level_of_measurement="ordinal")
    little = (
        f"note: raters agree too little even for tentative conclusions: Krippendorff's α is {alpha:.2f} over the 51 "
        "words that two or more rated (0.667 for tentative conclusions, 0.8 for reliable ones)"
    ).replace("-", "−")
    assert little in err.splitlines()
    code, _, err = penchant("ratings", "agreement", "ratings.csv")
    assert code == 0 and slip in err and little in err.splitlines()
    fill(tmp_path / "ben.csv", long)
    code, _, err = imported(penchant, "ben.csv", "--replace")
    assert code == 0 and "by one row" not in err and "agree little" not in err

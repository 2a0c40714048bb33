"""Codes of methods and notes: round trips, ranges, and catalogues that have words and sources for all of them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import penchant
from penchant.instruments.registry import instruments
from penchant.records import Estimate
from penchant.report.references import read_references
from penchant.stats.intervals import clustered_mean
from penchant.wording.phrases import Method, Note, every_code, notes_json, read_method, read_notes, shape, spanning
from penchant.wording.templates import parsed

SOURCE = Path(penchant.__file__).parent
TEXTS = ("how", "test", "note")
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text()
PARAMS = st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,9}", fullmatch=True), SCALARS | st.lists(SCALARS), max_size=4)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(code=st.text(min_size=1), params=PARAMS, inner=PARAMS)
def test_a_phrase_comes_back_from_json(code: str, params: dict[str, object], inner: dict[str, object]) -> None:
    method = Method(code, **{**params, "within": Method(code, **inner)})
    assert read_method(method.json()) == method
    notes = (Note(code, **params), Note(code, **inner))
    assert read_notes(notes_json(notes)) == notes


def test_numbers_of_numpy_are_plain() -> None:
    assert Note("n", have=np.int64(3), share=np.float64(0.5)).json() == Note("n", have=3, share=0.5).json()


def test_ranges_stand_where_numbers_differ() -> None:
    notes = [Note("few-clusters", have=n, noun="groups") for n in (9, 2, 4)]
    assert len({shape(note) for note in notes}) == 1
    assert "2–9 groups" in spanning(notes, "–")
    assert shape(notes[0]) != shape(notes[0].with_(noun="pairs"))
    alone = clustered_mean([0.1, 0.4, 0.7], "abc").method
    assert alone is not None
    assert spanning([alone, alone], " to ") == str(alone)


def test_every_template_parses_and_every_source_is_known() -> None:
    bibliographies = [SOURCE / "report" / "references.bib", *SOURCE.glob("instruments/*/references.bib")]
    known = {key for path in bibliographies for key in read_references(path)}
    assert instruments()
    codes = list(every_code())
    assert len(codes) > 50
    for _, code, text, cite in codes:
        assert re.fullmatch(r"([a-z_]+\.)?[a-z0-9-]+", code), code
        assert set(cite) <= known, code
        assert parsed(text)


def test_codes_in_the_program_are_in_the_catalogue_and_the_other_way_round() -> None:
    written = {
        node.value
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    codes = {code for _, code, *_ in every_code() if not code.startswith("told.")}
    assert codes <= written
    named = {
        node.args[0].value
        for path in SOURCE.rglob("*.py")
        if "penchant.wording.phrases import" in path.read_text("utf-8")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("Note", "Method")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(named) > 150
    assert named <= codes


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_code_reads_a_sentence(path: Path) -> None:
    """The columns `how`, `test` and `note` of a row are for people: code looks at codes."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Subscript) and "signature" not in ast.unparse(node.value):
            found += [node.slice]
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".col", "row.get")):
            found += node.args[:1]
    assert not [each.value for each in found if isinstance(each, ast.Constant) and each.value in TEXTS]


def test_a_row_has_words_for_people_and_codes_for_programs() -> None:
    row = Estimate("m", 0.5, 3, notes=(Note("few-clusters", have=3, noun="groups"),)).row()
    assert read_notes(str(row["notes"])) == (Note("few-clusters", have=3, noun="groups"),)
    assert row["note"] == "approximate: only 3 groups"
    assert row["method"] == row["test_method"] == ""

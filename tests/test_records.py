"""A recipe parses back to itself, whatever its values hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penchant.errors import DataError, StudyError
from penchant.records import Estimate, Signature

KEYS = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)


@given(st.lists(st.tuples(KEYS, st.text()), unique_by=lambda pair: pair[0], min_size=1))
def test_signature_parses_back(fields: list[tuple[str, str]]) -> None:
    signature = Signature(tuple(fields))
    text = str(signature)
    assert Signature.parse(text) == signature
    assert len(text.splitlines()) <= 1
    assert dict(signature) == dict(fields)


def test_signature_reads_as_written_in_the_docs() -> None:
    text = (
        "penchant:0.1.0|probe:minimal-pairs|model:bert-base-uncased@86b5e09|data:inchoative#9f2c61|method:pll|"
        "normalise:none|bos:none|dtype:float32|seed:0"
    )
    signature = Signature.parse(text)
    assert signature["model"] == "bert-base-uncased@86b5e09"
    assert str(signature) == text
    assert str(signature.with_(normalise="pen")) == text.replace("normalise:none", "normalise:pen")


def test_values_with_colons_bars_and_percent_signs() -> None:
    signature = Signature.of("x", model="bundled:a|b 100%")
    assert signature["model"] == "bundled:a|b 100%"
    assert Signature.parse(str(signature))["model"] == "bundled:a|b 100%"
    assert str(signature).count("|") == 2


@pytest.mark.parametrize("text", ["", "no-colon", "a:1|a:2", "A:1"])
def test_not_a_signature(text: str) -> None:
    with pytest.raises(StudyError):
        Signature.parse(text)


def test_estimate_row_is_flat() -> None:
    row = Estimate("accuracy", 0.5, 10, by={"group": "p"}).row()
    assert list(row)[:4] == ["group", "measure", "value", "low"]


def test_errors_are_one_line_with_a_place() -> None:
    error = DataError("is bad\nreally", file="a.tsv", line=7, field="good", hint="mend it")
    assert str(error) == "a.tsv, line 7, field 'good': is bad really — mend it"

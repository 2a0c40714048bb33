"""The public sets that `penchant list data` names: their facts are whole, and what is read by its columns is."""

from __future__ import annotations

import json

import pytest

from answers import refused
from builders import Program
from paths import SHARED, needs_shared
from penchant.instruments.minimal_pairs.data import read_many
from penchant.instruments.registry import instruments
from penchant.study.catalogue import PUBLIC_SETS, PublicSet, public_sets
from penchant.tables.yaml_json_documents import read_yaml


def test_every_fact_is_there() -> None:
    sets = public_sets()
    raw = read_yaml(PUBLIC_SETS).content
    assert isinstance(raw, list) and len(raw) == len(sets) >= 19
    assert len({each.name for each in sets}) == len({each.url for each in sets}) == len(sets)
    for each, entry in zip(sets, raw, strict=True):
        assert set(entry) == set(PublicSet.model_fields)
        assert all(str(value).strip() for value in entry.values()), each.name
        assert each.instrument in instruments(), each.name
        assert each.url.startswith("https://") and " " not in each.url
        # A licence that is not the publisher's own statement never counts as leave to pass the data on.
        doubtful = ("none", "a copy", "see its page", "another")
        assert (each.redistribution == "unclear") == any(word in each.licence for word in doubtful), each.name
        assert (each.redistribution == "non-commercial") == ("NC" in each.licence), each.name


def test_they_are_listed(penchant: Program) -> None:
    code, out, err = penchant("list", "data")
    assert (code, err) == (0, "")
    rows = {line.split("  ")[0]: line for line in out.splitlines()}
    for each in public_sets():
        assert each.url in rows[each.name] and each.licence in rows[each.name]
    assert "is unclear" in rows["JBLiMP"] and "must not be used or passed on commercially" in rows["QFrBLiMP"]


def test_they_are_listed_as_json(penchant: Program) -> None:
    code, out, err = penchant("list", "data", "--format", "json")
    assert (code, err) == (0, "")
    rows = {row["name"]: row for row in json.loads(out)}
    for each in public_sets():
        assert rows[each.name] == each.model_dump()
    assert rows["plain table"]["what"].startswith("CSV")
    every = json.loads(penchant("list", "--format", "json")[1])
    assert every["data"] == list(rows.values()) and {"name": "BLiMP", "what": ""} not in every["data"]
    refused(penchant("list", "data", "--format", "xml"), "unknown format 'xml'")


@needs_shared
@pytest.mark.parametrize(
    ("name", "place", "kind"),
    [
        ("BLiMP", "blimp/inchoative.jsonl", "blimp"),
        ("RuBLiMP", "rublimp/tense_marker.csv", "rublimp"),
        ("TurBLiMP", "turblimp/augmented_binding.csv", "turblimp"),
        ("SLING", "sling/blocking.jsonl", "sling"),
        ("CrowS-Pairs", "crows_pairs/crows_pairs_anonymized.csv", "crows-pairs"),
    ],
)
def test_what_is_read_by_its_columns_is(name: str, place: str, kind: str) -> None:
    assert "by its columns" in next(each.read_as for each in public_sets() if each.name == name)
    assert read_many([SHARED / place])[0].kind == kind

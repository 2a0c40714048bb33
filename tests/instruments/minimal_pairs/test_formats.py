"""Pairs in the formats of BLiMP's kin are recognised by their columns, and all of them are read: held against the csv
and json modules alone, on the published files."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from answers import Answer
from paths import SHARED, needs_shared
from penchant.errors import DataError
from penchant.instruments.minimal_pairs.data import read_many, read_pairs
from penchant.instruments.minimal_pairs.probe import MinimalPairs, cite

Penchant = Callable[..., Answer]

RUSSIAN = [
    {"id": str(7 + n), "source_sentence": f"Он {word}.", "target_sentence": f"Она {word}.", "level": "Syntax"}
    | {"phenomenon": "Agreement", "PID": "gender", "subtype": "past", "domain": "news"}
    for n, word in enumerate(("пришёл", "ушёл"))
]
MULTI = (
    "\tsen\twrong_sen\tverb\tfeature_vals\tcop\n"
    '0\tThe dog "barks" today.\tThe dog "bark" today.\tbarks\tSG -> PL\t\n'
    "3\tThe dogs bark.\tThe dogs barks.\tbark\tPL -> SG\t\n"
    "4\tThe cat sleeps.\tThe cat sleep.\tsleeps\tSG -> PL\t\n"
)
"""Two feature values in the shape of what MultiBLiMP's own pipeline writes: an index without a name, tabs, and columns
about the morphology."""


def rows_of(kind: str, file: Path) -> list[dict[str, Any]]:
    """The rows of a file, read with the standard library alone."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        if file.suffix == ".jsonl":
            return [json.loads(line) for line in stream]
        return list(csv.DictReader(stream, delimiter=";" if kind == "turblimp" else ","))


def groups_of(kind: str, row: dict[str, Any]) -> tuple[str, str]:
    """The paradigm and the phenomenon of a row, by the descriptions of their authors."""
    if kind == "rublimp":
        return row["PID"], row["phenomenon"]
    if kind == "sling":
        low = {name.lower(): value for name, value in row.items()}
        return low["paradigm"], low["phenomenon"]
    phenomenon = row["phenomenon"].rstrip(" ")
    return phenomenon + (f"_{row['subtype']}" if row.get("subtype") else ""), phenomenon


SIDES = {
    "rublimp": ("source_sentence", "target_sentence"),
    "turblimp": ("good_sentence", "bad_sentence"),
    "sling": ("sentence_good", "sentence_bad"),
}
SIZES = {"rublimp": (12, 12_000, 12), "turblimp": (16, 16_000, 16), "sling": (3, 2_040, 3)}
"""Of what is read of each: files, pairs and paradigms."""


@pytest.mark.whole
@needs_shared
@pytest.mark.parametrize("kind", SIDES)
def test_published_pairs_are_all_read(kind: str) -> None:
    good, bad = SIDES[kind]
    found = read_many([SHARED / kind])
    paradigms = {item.labels["group"] for pairs in found for item in pairs.items}
    assert (len(found), sum(len(pairs.items) for pairs in found), len(paradigms)) == SIZES[kind]
    for pairs in found:
        rows = rows_of(kind, pairs.path)
        assert pairs.kind == kind
        assert [(i.texts["good"], i.texts["bad"]) for i in pairs.items] == [(row[good], row[bad]) for row in rows]
        groups = [groups_of(kind, row) for row in rows]
        assert [(i.labels["group"], i.labels["phenomenon"]) for i in pairs.items] == groups
        same = sum(row[good] == row[bad] for row in rows)
        again = len(rows) - len({(row[good], row[bad]) for row in rows})
        told = [c for c in pairs.cautions if "identical sentences" in c or " an earlier one" in c]
        assert [int(caution.split()[1]) for caution in told] == [n for n in (same, again) if n]


@needs_shared
@pytest.mark.parametrize("kind", SIDES)
def test_published_pairs_on_the_command_line(kind: str, penchant: Penchant, tmp_path: Path) -> None:
    """Two files of a set: a directory, a quoted pattern and a list of files are the same."""
    for file in sorted((SHARED / kind).iterdir())[:2]:
        shutil.copy(file, tmp_path)
    files = sorted(file for file in tmp_path.iterdir() if file.suffix in (".csv", ".jsonl"))
    count = Counter(groups_of(kind, row)[0] for file in files for row in rows_of(kind, file))
    told = []
    for names in ([tmp_path / "*l"] if kind == "sling" else [tmp_path / "*.c?v"]), files:
        code, out, err = penchant("audit", *names, "-m", "bundled:modern", "--format", "jsonl")
        assert code == 0, err
        told.append(out)
        rows = [json.loads(line) for line in out.splitlines()]
        assert {row["dataset"] for row in rows} == {kind}
        assert {row["group"]: row["pairs"] for row in rows} == {**count, "all": count.total()}
    assert told[0] == told[1]


def test_rublimp(tmp_path: Path) -> None:
    file = tmp_path / "some.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(RUSSIAN[0]))
        writer.writeheader()
        writer.writerows(RUSSIAN)
    item = read_pairs(file).items[1]
    assert item.id == "gender-8" and item.texts == {"good": "Он ушёл.", "bad": "Она ушёл."}
    more = {"subtype": "past", "domain": "news", "dataset": "some"}
    assert item.labels == {"group": "gender", "phenomenon": "Agreement", **more}


def test_turblimp_names_lose_their_blanks(tmp_path: Path) -> None:
    file = tmp_path / "some.csv"
    head = "good_sentence;bad_sentence;good_cue;phenomenon"
    file.write_text(f"{head}\nO geldi.;O geldim.;∅;quantifiers  \nBen geldim.;Ben geldi.;-;quantifiers\n", "utf-8")
    found = read_pairs(file)
    assert [item.id for item in found.items] == ["quantifiers-1", "quantifiers-2"]
    assert {item.labels["group"] for item in found.items} == {"quantifiers"} and found.cautions == ()


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        ({"paradigm": "a", "phenomenon": "B"}, ("a", "B")),
        ({"Paradigm": "a", "Phenomenon": "B"}, ("a", "B")),
        ({"phenomenon": "B"}, ("haishi", "B")),
        ({"Paradigm": "a"}, ("a", "a")),
    ],
)
def test_sling(tmp_path: Path, names: dict[str, str], groups: tuple[str, str]) -> None:
    """Its files differ in how they spell the columns; where none names the paradigm, the file does."""
    file = tmp_path / "haishi.jsonl"
    file.write_text(json.dumps({"sentence_good": "好。", "sentence_bad": "不。", "pair_ID": 3, **names}), "utf-8")
    (item,) = read_pairs(file).items
    assert (item.labels["group"], item.labels["phenomenon"]) == groups and item.id == f"{groups[0]}-3"


def test_multiblimp(tmp_path: Path) -> None:
    for language in "eng", "deu":
        (tmp_path / f"{language}.tsv").write_text(MULTI, "utf-8")
    english = read_pairs(tmp_path / "eng.tsv")
    assert english.kind == "multiblimp" and [item.id for item in english.items][:2] == ["SG -> PL-1", "PL -> SG-2"]
    assert english.items[0].texts == {"good": 'The dog "barks" today.', "bad": 'The dog "bark" today.'}
    assert english.items[0].labels == {"group": "SG -> PL", "phenomenon": "eng", "dataset": "eng"}
    (tmp_path / "nld.tsv").write_text("sen\twrong_sen\tphenomenon\nHij komt.\tHij kom.\tSV-#\n")
    assert read_pairs(tmp_path / "nld.tsv").items[0].labels["group"] == "SV-#"
    # Every language is a data set of its own, in the results and in the signature.
    cited = cite(read_many([tmp_path])).split("+")
    assert [part.partition("#")[0] for part in cited] == ["deu", "eng", "nld"]


def test_blimp_as_the_hub_has_it(tmp_path: Path) -> None:
    row = {"sentence_good": "a", "sentence_bad": "b", "UID": "u", "linguistics_term": "t", "pair_id": 0}
    file = tmp_path / "u.jsonl"
    file.write_text(json.dumps(row))
    found = read_pairs(file)
    assert found.kind == "blimp" and found.items[0].id == "u-0"


def test_patterns(tmp_path: Path) -> None:
    for name in "a/x.csv", "b/y.csv", "b/.hidden.csv", "b/z[1].csv":
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("good,bad\na,b\n")
    named = {
        "*/*.csv": ["x", "y", "z[1]"],
        "**/y.csv": ["y"],
        "b/*.csv": ["y", "z[1]"],
        "b/z[1].csv": ["z[1]"],  # the name of a file before it is a pattern
    }
    for name, stems in named.items():
        assert [pairs.name for pairs in read_many([tmp_path / name])] == stems
        probe = MinimalPairs(data=[name])
        assert [pairs.name for pairs in probe.pair_sets([tmp_path / "none", tmp_path])] == stems
    with pytest.raises(DataError, match="no such file"):
        MinimalPairs(data=["c/*.csv"]).pair_sets([tmp_path])


def test_a_study_names_a_pattern(tmp_path: Path, penchant: Penchant) -> None:
    for name in "one.csv", "two.csv":
        (tmp_path / name).write_text("good,bad\nThe cats sleep.,The cats sleeps.\n")
    study = "study: s\nmodels: [bundled:modern]\nprobes:\n  - minimal-pairs: {data: '*.csv', resamples: 100}\n"
    (tmp_path / "s.yaml").write_text(study)
    code, _, err = penchant("run", "s.yaml", "-o", "out")
    assert code == 0, err
    signature = next(tmp_path.glob("out/minimal-pairs/*modern/signature.txt")).read_text("utf-8")
    assert "data:one#" in signature and "+two#" in signature

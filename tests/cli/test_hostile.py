"""Whatever stands in a study file or a table, the program ends with 0 or 2 and, at 2, with one line, or with a
list of what is wrong in the same way.

Every case begins with the files that `penchant init` writes for an instrument, some of which are then spoiled: values
and keys of YAML, cells and lines of tables, or bytes. Most studies name a model that is not there, so that they end
after everything was read and before anything is computed; the others measure the small bundled model.
"""

from __future__ import annotations

import copy
import csv
import io
import json
import math
import re
import shutil
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from builders import Program
from penchant.errors import MOST_LISTED

PROBES = ("cloze", "values", "minimal-pairs", "fair-pairs", "weat", "seat", "ceat", "logprob-bias")
NOWHERE = "nowhere/model"
"""A model that no hub is asked for in the tests, and no directory holds."""
TEXTS = ["", " ", "a", "x" * 5_000, "a\nb", "\t", "\0", "\ud800", "\u2028", "\x1b[31mred", "\u202eright to left"]
TEXTS += ["\x85", "=1+1", "[MASK]", "{word}", "no", "true", "1e9"]
NAMES = [
    ".",
    "..",
    "/",
    "/dev/zero",
    "/dev/null",
    "../../x",
    "/etc/shadow",
    "nowhere.csv",
    "set.yaml",
    "bundled:modern",
]
NUMBERS = [0, 1, -1, 2, 7, 2**31, 2**32, 2**63, 2**64, 10**300, 0.5, -0.0, 1e-300, 1e300, math.nan, math.inf, -math.inf]
DEEP: list[Any] = [[]]
for _ in range(150):
    DEEP = [DEEP]
OTHERS: list[Any] = [None, True, False, [], {}, [[]], [None], ["none", "none"], {"": 0}, {"a": {}}, DEEP]
VALUES: list[Any] = [*TEXTS, *NAMES, *NUMBERS, *OTHERS]
BYTES = [
    b"\0",
    b"\xff\xfe",
    b"\xe9",
    b"\x1a",
    b"\xed\xa0\x80",
    b"\r",
    b"\t",
    b'"',
    b"'",
    b",",
    b"\n",
    b"&a [*a]",
    b"<<: ",
]
BYTES += [b"!!python/name:os.system ", b"{", b"]", b"---\n", b"2024-13-45", b"9" * 6_000, b"[" * 3_000, b"? "]
BYTES += [b"a: 1\na: 2\n"]
values = st.sampled_from(VALUES)
numbers = st.integers(0, 10_000)


@st.composite
def spoilers(draw: st.DrawFn) -> Callable[[Path], None]:
    """A way to spoil one of the files in a directory."""
    which, where, value = draw(numbers), draw(numbers), draw(values)
    how = draw(st.sampled_from([_in_content, _in_content, _in_content, _in_bytes]))
    action = draw(st.sampled_from(["put", "put", "put", "drop", "add", "twice"]))
    data = draw(st.sampled_from(BYTES))

    def spoil(folder: Path) -> None:
        files = sorted(path for path in folder.iterdir() if path.is_file())
        file = files[which % len(files)]
        if how is _in_bytes:
            _in_bytes(file, where, data)
        else:
            _in_content(file, where, action, value)

    return spoil


def _in_bytes(file: Path, where: int, data: bytes) -> None:
    content = file.read_bytes()
    at = where % (len(content) + 1)
    file.write_bytes(content[:at] + data + content[at:])


def _in_content(file: Path, where: int, action: str, value: Any) -> None:
    text = file.read_text("utf-8", "replace")
    try:
        rows = _parsed(file, text)
    except (ValueError, RecursionError, yaml.YAMLError, csv.Error):  # an earlier spoiler was here
        return
    rows = _changed(rows, where, action, value)
    file.write_text(_written(file, rows), "utf-8", "backslashreplace")


def _parsed(file: Path, text: str) -> Any:
    if file.suffix == ".yaml":
        return yaml.safe_load(text)
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if file.suffix in (".csv", ".tsv"):
        return list(csv.reader(io.StringIO(text), delimiter="," if file.suffix == ".csv" else "\t"))
    return [line.split(" ") for line in text.splitlines()]


def _written(file: Path, content: Any) -> str:
    if file.suffix == ".yaml":
        return yaml.safe_dump(content)
    if file.suffix == ".jsonl":
        return "".join(json.dumps(row) + "\n" for row in content)
    rows = [row if isinstance(row, list) else [row] for row in content] if isinstance(content, list) else [[content]]
    if file.suffix in (".csv", ".tsv"):
        table = io.StringIO()
        csv.writer(table, delimiter="," if file.suffix == ".csv" else "\t").writerows(rows)
        return table.getvalue()
    return "\n".join(" ".join(map(str, row)) for row in rows)


def _places(content: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside some content."""
    inside = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inside:
        yield (*above, key)
        if len(above) < 20:
            yield from _places(value, (*above, key))


def _changed(content: Any, where: int, action: str, value: Any) -> Any:
    places = list(_places(content))
    if not places:
        return value
    *way, last = places[where % len(places)]
    content = within = copy.deepcopy(content)
    for key in way:
        within = within[key]
    if action == "drop":
        del within[last]
    elif action == "put":
        within[last] = value
    elif isinstance(within, list):
        within.append(copy.deepcopy(within[last]) if action == "twice" else value)
    else:
        within[str(value)[:50] if action == "add" else f"{last} "] = within[last]
    return content


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, list[Callable[[Path], None]], bool]:
    """An instrument, how its files are spoiled, and whether a model is measured."""
    return draw(st.sampled_from(PROBES)), draw(st.lists(spoilers(), min_size=1, max_size=3)), draw(numbers) % 20 == 0


def tried(penchant: Program, home: Path, case: tuple[str, list[Callable[[Path], None]], bool]) -> int:
    """Run one case and look at what it leaves; return its exit code."""
    probe, spoil, measured = case
    shutil.rmtree(home, ignore_errors=True)
    folder = home / "study"
    assert penchant("init", probe, folder)[0] == 0
    file = folder / f"{probe}.yaml"
    content = yaml.safe_load(file.read_text("utf-8"))
    if not measured:
        content["models"] = [NOWHERE]
    parameters = content["probes"][0][probe]
    parameters["resamples"] = 100
    file.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
    for change in spoil:
        change(folder)
    before = _contents(home)
    code, out, err = penchant("run", file, "-o", home / "out", "--cache", "none")
    assert code in (0, 2), err
    assert "Traceback" not in err and "internal error" not in err
    if code == 2:
        lines = [line for line in err.splitlines() if not line.startswith(("note: ", " "))]
        assert 1 <= len(lines) <= MOST_LISTED + 1 and all(line.startswith("penchant: ") for line in lines), err
    assert not [
        c for c in out + err if c in "\u2028\u2029\u202e" or (unicodedata.category(c) == "Cc" and c not in "\n\t")
    ]
    assert not re.search(r"[+\u2212-](nan|inf)", out), out
    after = _contents(home)
    assert not [path for path in after if path.name.startswith(".") or path.suffix == ".tmp"]
    assert {path: data for path, data in after.items() if home / "out" not in path.parents} == before
    return code


def _contents(home: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}


def _setting(examples: int) -> Callable[[Any], Any]:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@seed(20240229)
@_setting(40)
@given(cases())
def test_a_sample(penchant: Program, tmp_path: Path, case: Any) -> None:
    tried(penchant, tmp_path / "case", case)


@pytest.mark.slow
@_setting(2_500)
@given(cases())
def test_thousands(penchant: Program, tmp_path: Path, case: Any) -> None:
    tried(penchant, tmp_path / "case", case)

"""Imports go downward only, importing penchant is light, and every public name is there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

import penchant
from penchant.instruments.registry import instruments

SOURCE = Path(penchant.__file__).parent
FLOORS = (
    ("_version",),
    ("errors", "limits", "plurals", "gc_control", "number_parsing", "unicode_spellings", "letter_case"),
    ("wording",),
    ("text_io", "call_checks", "progress"),
    ("files",),
    ("hub",),
    ("records",),
    ("vectors", "stats", "tables"),
    ("models",),
    ("engine",),
    ("report",),
    ("views",),
    ("corpus", "grammar", "papers"),
    ("cluster", "rating"),
    ("instruments",),
    ("instrument", "study"),
    ("cli", "testing"),
)
"""The floors of the house, lowest first; rooms of one floor do not know each other. The first seven are the ground."""
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
COMMON = (
    ("unknown_tokens", "text_defects", "result", "run_options", "measures"),
    ("probe_field_types", "session"),
    ("probe_constructor",),
    ("settings",),
    ("base_probe", "elicit_settings"),
    ("item_probes", "study_from_table", "elicitation"),
    ("descriptor", "comparison", "row_probes", "answer_steadiness"),
    ("choice_probes", "steadiness_columns"),
    ("registry", "row_descriptor"),
    ("notebook_display",),
)
"""The modules that instruments have in common, lowest first."""
INSTRUMENTS = sorted(path.name for path in (SOURCE / "instruments").iterdir() if (path / "instrument.py").is_file())
PATHS = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imports(path: Path) -> frozenset[tuple[str, ...]]:
    """Return the imports of a file from penchant, as paths below it, wherever in the file they are."""
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "penchant":
            parts = tuple(node.module.split(".")[1:])
            found |= {(*parts, alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
        elif isinstance(node, ast.Import):
            found |= {tuple(a.name.split(".")[1:]) for a in node.names if a.name.startswith("penchant.")}
    return frozenset(found)


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_every_room_is_on_a_floor() -> None:
    assert {room(path) for path in PATHS} == set(FLOOR)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_downward(path: Path) -> None:
    own = room(path)
    for other in {parts[0] for parts in imports(path)} - {own}:
        assert FLOOR[other] < FLOOR[own], f"{path} (floor {FLOOR[own]}) imports penchant.{other}"


def test_the_report_knows_no_instrument() -> None:
    """Nor does what is below it: by name too. `values` is a word of its own."""
    names = set(instruments()) - {"values"}
    for path in PATHS:
        if FLOOR[room(path)] < FLOOR["corpus"]:
            strings = {n.value for n in ast.walk(parsed(path)) if isinstance(n, ast.Constant)}
            assert not strings & names, path


def test_instruments_do_not_know_each_other() -> None:
    assert len(INSTRUMENTS) >= 4
    for path in PATHS:
        parts = path.relative_to(SOURCE).parts
        if parts[0] == "instruments" and len(parts) > 2:
            others = {p[1] for p in imports(path) if p[0] == "instruments" and p[1] in INSTRUMENTS}
            assert others <= {parts[1]}, path


def test_what_is_below_or_beside_the_instruments_knows_none_of_them() -> None:
    """Studies and the common modules of instruments reach an instrument through the registry alone."""
    for path in PATHS:
        parts = path.relative_to(SOURCE).parts
        if parts[0] == "study" or (parts[0] == "instruments" and len(parts) == 2):
            assert not {p for p in imports(path) if p[0] == "instruments" and p[1] in INSTRUMENTS}, path


def test_common_modules_of_instruments_import_downward() -> None:
    """Settings know no probe, probes no descriptor, and results nothing of how they are shown."""
    step = {name: number for number, names in enumerate(COMMON) for name in names}
    common = [path for path in PATHS if path.relative_to(SOURCE).parts[:-1] == ("instruments",)]
    assert {path.stem for path in common} == {*step, "__init__"}
    for path in common:
        for other in {parts[1] for parts in imports(path) if parts[0] == "instruments"} - {path.stem}:
            assert path.stem == "__init__" or step[other] < step[path.stem], f"{path} imports {other}"


def test_settings_of_instruments_are_apart_from_behaviour() -> None:
    """Estimates, comparisons and displays are given settings; settings reach no probe by any way.

    Only modules with a probe, descriptors, the audit of pairs, the check of cloze valence and the readers of users'
    tables import a probe.
    """
    probes = {(*_module(path), name) for path in PATHS if room(path) == "instruments" for name in _probes(path)}
    homes, graph = {probe[:-1] for probe in probes}, _inside_instruments()
    assert {home[1] for home in homes} == {*INSTRUMENTS, "row_probes", "item_probes", "choice_probes"}
    for path in PATHS:
        if (
            room(path) == "instruments"
            and _module(path) not in homes
            and path.stem not in ("instrument", "known_shifts", "length_audit", "row_descriptor", "study_from_table")
        ):
            assert not imports(path) & probes, f"{path} imports {imports(path) & probes}"
    for name in INSTRUMENTS:
        reached: set[tuple[str, ...]] = set()
        own = ("instruments", name, "settings")
        open_: set[tuple[str, ...]] = {own} if own in graph else set()  # a probe of rows is its own settings
        while open_:
            module = open_.pop()
            reached.add(module)
            open_ |= graph[module] - reached
        assert not reached & {("instruments", "base"), ("instruments", "registry"), *homes}, name


def test_no_circle_of_instruments_even_for_type_checkers() -> None:
    """Nor by imports inside functions; what only type checkers read imports nothing of instruments."""
    _require_no_circle(_inside_instruments())
    for path in (path for path in PATHS if room(path) == "instruments"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                inside = [each for each in ast.walk(node) if isinstance(each, ast.ImportFrom)]
                assert not [each for each in inside if str(each.module).startswith("penchant.")], path


def _inside_instruments() -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Return each instrument module's imports of others, in whatever way."""
    modules = {_module(path) for path in PATHS}
    return {
        _module(path): {m for parts in imports(path) for m in (parts, parts[:-1]) if m in modules and len(m) > 1}
        & {m for m in modules if m[0] == "instruments"} - {_module(path)}
        for path in PATHS
        if room(path) == "instruments"
    }


def _probes(path: Path) -> list[str]:
    """The names of the classes in a module that are probes of an instrument."""
    classes = [node for node in parsed(path).body if isinstance(node, ast.ClassDef)]
    known = {"Probe", "ItemProbe", "RowProbe", "ChoiceProbe", "PairProbe", "PronounProbe", "Association"}
    return [node.name for node in classes if known & {re.split(r"\W", ast.unparse(base))[0] for base in node.bases}]


def test_no_circle_of_modules() -> None:
    """The imports of modules when they are imported, type-checking blocks left out, have no circle."""
    _require_no_circle({_module(path): _at_import(path) for path in PATHS})


def _require_no_circle(graph: Mapping[tuple[str, ...], set[tuple[str, ...]]]) -> None:
    done: set[tuple[str, ...]] = set()

    def visit(module: tuple[str, ...], way: tuple[tuple[str, ...], ...]) -> None:
        assert module not in way, " → ".join(".".join(m) for m in (*way[way.index(module) :], module))
        if module not in done:
            for other in graph[module]:
                visit(other, (*way, module))
            done.add(module)

    for module in graph:
        visit(module, ())


@cache
def _module(path: Path) -> tuple[str, ...]:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _at_import(path: Path) -> set[tuple[str, ...]]:
    modules = {_module(p) for p in PATHS}
    found: set[tuple[str, ...]] = set()
    for node in parsed(path).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "penchant":
            parts = tuple(node.module.split(".")[1:])
            found |= {(*parts, a.name) if (*parts, a.name) in modules else parts for a in node.names}
    return found & modules - {_module(path)}


def test_only_the_engine_and_models_touch_torch() -> None:
    for path in PATHS:
        if room(path) not in ("engine", "models"):
            top = {
                alias.name.split(".")[0]
                for node in parsed(path).body
                if isinstance(node, ast.Import)
                for alias in node.names
            }
            assert "torch" not in top, path


def test_importing_penchant_is_light() -> None:
    heavy = "('torch', 'transformers', 'polars', 'scipy', 'pydantic', 'altair')"
    code = f"import sys, penchant, penchant.cli.app; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", penchant.__all__)
def test_public_names_are_there_and_documented(name: str) -> None:
    assert name in dir(penchant)
    value = getattr(penchant, name)
    assert isinstance(value, str) or value.__doc__


def test_modules_and_functions_are_of_a_size_to_be_read() -> None:
    """No module of more than 400 lines and no function of more than 50; ruff keeps complexity below its bound."""
    for path in PATHS:
        text = path.read_text("utf-8")
        assert len(text.splitlines()) <= 400, path
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                assert lines <= 50, f"{path}: {node.name} has {lines} lines"

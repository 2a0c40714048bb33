"""Imports go downward only, importing penchant is light, and the public names are these."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import penchant

SOURCE = Path(penchant.__file__).parent
LAYER: dict[str, float] = {
    "cli": 5,
    "commands": 4.8,
    "console": 4.5,
    "study": 4,
    "report": 4,
    "annotate": 4,
    "probes": 3,
    "engine": 2,
    "stats": 1,
    "models": 1,
    "data": 1,
    "records": 0.2,
    "files": 0.1,
    "errors": 0,
}
"""Whole numbers are the layers of the design; modules of the lowest one are ordered among themselves."""
ALLOWED_IN_ENGINE = {"engine", "models", "files", "errors"}


def imports(path: Path) -> set[str]:
    """First component below penchant of everything a file imports from penchant, at its top level or inside functions
    (type-checking blocks included)."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "penchant":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("penchant.")}
    return found - {"__version__"}


def modules() -> list[tuple[str, Path]]:
    return [
        (path.relative_to(SOURCE).parts[0].removesuffix(".py"), path)
        for path in SOURCE.rglob("*.py")
        if path.name != "__init__.py" or path.parent != SOURCE
    ]


def test_imports_go_downward() -> None:
    for own, path in modules():
        for other in imports(path):
            if own != other:
                assert LAYER[other] < LAYER[own], f"{path} (layer {LAYER[own]}) imports penchant.{other}"


def test_engine_knows_only_models_and_records() -> None:
    for own, path in modules():
        if own == "engine":
            assert imports(path) <= ALLOWED_IN_ENGINE, path


def test_only_the_engine_and_models_touch_torch() -> None:
    for own, path in modules():
        if own not in ("engine", "models"):
            top = {
                alias.name.split(".")[0]
                for node in ast.parse(path.read_text("utf-8")).body
                if isinstance(node, ast.Import)
                for alias in node.names
            }
            assert "torch" not in top, path


def test_importing_penchant_is_light() -> None:
    heavy = "('torch', 'transformers', 'polars', 'scipy')"
    code = f"import sys, penchant, penchant.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names() -> None:
    assert penchant.__all__ == [
        "CEAT",
        "CacheError",
        "Cloze",
        "DataError",
        "Estimate",
        "FairPairs",
        "Item",
        "LanguageModel",
        "LogProbBias",
        "MethodError",
        "MinimalPairs",
        "ModelError",
        "OutputError",
        "PenchantError",
        "Result",
        "Run",
        "SEAT",
        "Signature",
        "StaticVectors",
        "StudyError",
        "Values",
        "WEAT",
        "__version__",
        "audit",
        "check",
        "compare",
        "embed",
        "fill",
        "load",
        "load_tokenizer",
        "read_cloze",
        "read_occurrences",
        "read_pairs",
        "read_stimuli",
        "read_survey",
        "read_values",
        "score",
        "synthetic_survey",
    ]
    for name in penchant.__all__:
        assert getattr(penchant, name) is not None
        assert name in dir(penchant)

"""Builders of the things many tests need: a model, a file, a study, and the one line of an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

import penchant as pc
from penchant.errors import PenchantError

Program = Callable[..., tuple[int, str, str]]
"""The fixture `penchant`: runs the program and returns its exit code, standard output and standard error."""
Zoo = Callable[[str], Path]
"""The fixture `zoo`: the directory of a tiny model."""
Error = TypeVar("Error", bound=PenchantError)


def language_model(directory: Path | str, **options: Any) -> pc.LanguageModel:
    """Load a model that scores sentences; the options are those of `load`."""
    model = pc.load(directory, **options)
    assert isinstance(model, pc.LanguageModel)
    return model


def write(path: Path, content: object) -> Path:
    """Write text, bytes, or anything else as YAML, and return the path; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else yaml.safe_dump(content, allow_unicode=True, sort_keys=False)
        path.write_text(text, "utf-8")
    return path


def write_vectors(path: Path, vectors: Mapping[str, Iterable[float]]) -> Path:
    """Write word vectors as text, a word and its numbers a line."""
    return write(path, "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in vectors.items()))


def write_study(path: Path, models: list[Any], *probes: dict[str, Any], **keys: Any) -> Path:
    """Write a study of models and probes, such as {"weat": {"data": "set"}}."""
    content = {"study": "s", "models": [str(model) for model in models], "probes": list(probes)}
    return write(path, {**content, **keys})


def succeeded(answer: tuple[int, str, str]) -> tuple[str, str]:
    """Return standard output and standard error of a command that ended with exit code 0."""
    code, out, err = answer
    assert code == 0, err
    return out, err


def error_of(call: Callable[[], object], kind: type[Error]) -> Error:
    """Return the error that a call raises, whose message is one line."""
    with pytest.raises(kind) as caught:
        call()
    assert "\n" not in str(caught.value)
    return caught.value


def refusal(call: Callable[[], object], kind: type[PenchantError] = PenchantError) -> str:
    """Return the one line of the error that a call raises."""
    return str(error_of(call, kind))


def contents(folder: str | Path) -> dict[str, bytes]:
    """Return the files in a folder and below it, by their paths in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}

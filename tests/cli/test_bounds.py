"""Every number that a user may set has a lower and an upper bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from answers import refused
from builders import Program
from penchant.cli.app import app
from penchant.instruments.registry import instruments
from penchant.study.catalogue import schemas

ABSURD = ("-" + "9" * 20, "9" * 20, "1" + "0" * 5_000, "inf", "nan", "1e400")
FREE = {"filter", "levels", "missing"}
"""Settings whose numbers are codes that cells are compared with."""


def options(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The options of all commands that are numbers."""
    for name, sub in getattr(command, "commands", {}).items():
        yield from options(sub, (*path, name))
    for option in command.params:
        if option.type_descriptor.annotation in (int, float) and path[0] != "rate":
            yield path, option


OPTIONS = list(options(typer.main.get_command(app)))


def test_there_are_options() -> None:
    assert {"seed", "gpus", "batch_tokens", "layer"} <= {option.name for _, option in OPTIONS}


@pytest.mark.parametrize(("path", "option"), OPTIONS)
def test_options(penchant: Program, path: tuple[str, ...], option: Any) -> None:
    assert option.min is not None and option.max is not None
    for text in ABSURD:
        refused(
            penchant(
                *path, f"{option.opts[0]}={text}" if option.opts[0].startswith("--") else f"{option.opts[0]}{text}", "x"
            )
        )


def numbers(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The numbers in a JSON schema."""
    if isinstance(schema, dict):
        if schema.get("type") in ("integer", "number") and "enum" not in schema:
            yield path, schema
        for key, each in schema.items():
            yield from numbers(each, (*path, str(key)))
    elif isinstance(schema, list):
        for each in schema:
            yield from numbers(each, path)


def test_settings() -> None:
    found = [each for what in ("study", *instruments()) for each in numbers(schemas(what), (what,))]
    assert len(found) > 100
    assert not [path for path, schema in found if not FREE & set(path) and len(bounds(schema)) < 2]


def bounds(schema: dict[str, Any]) -> set[str]:
    return {key.removeprefix("exclusive").lower() for key in schema if key.lower().endswith(("minimum", "maximum"))}


@pytest.mark.parametrize("text", ["1e300", "-1e13", "1e400", ".inf"])
def test_numbers_of_a_survey(text: str, tmp_path: Any) -> None:
    from penchant.errors import DataError
    from penchant.instruments.values.survey_codebook import SurveyFile
    from penchant.tables.yaml_json_documents import read_document

    for setting in (f"scale: [1, {text}]", f"codes: {{a: {text}}}"):
        (tmp_path / "s.yaml").write_text(f"file: a.csv\n{setting}\n", "utf-8")
        with pytest.raises(DataError) as caught:
            read_document(tmp_path / "s.yaml", SurveyFile, hint="")
        assert caught.value.line == 2

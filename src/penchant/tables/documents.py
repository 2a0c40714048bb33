"""YAML and JSON documents that users write, checked against a model; every error names its place."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, TypeAdapter, ValidationError

from penchant.errors import DataError, in_words

Model = TypeVar("Model", bound=BaseModel)
Value = TypeVar("Value")


def as_text(value: object) -> str:
    """Text in NFC, stripped and not blank; a number becomes its text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"a text is wanted, got {value!r}")
    text = unicodedata.normalize("NFC", str(value)).strip()
    if not text:
        raise ValueError("the field is blank")
    return text


Text = Annotated[str, BeforeValidator(as_text)]
"""A field of a table that holds text."""


def key_name(name: object) -> str:
    """Normalise a key: NFC, stripped. Keys with the same normal form count as repeated."""
    return unicodedata.normalize("NFC", str(name)).strip()


# YAML ---------------------------------------------------------------------------------------------------------------


class Document:
    """A YAML file: its content and the lines of its keys. Raises DataError for a key repeated within a mapping."""

    def __init__(self, path: Path, loader: yaml.SafeLoader) -> None:
        self.path = path
        self.content: Any = None
        self._lines: dict[tuple[str, ...], int] = {}
        root = loader.get_single_node()
        if root is not None:
            self._walk(root, (), set())  # before the loader puts merged keys in their places
            self.content = loader.construct_document(root)

    def _walk(self, node: yaml.Node, key: tuple[str, ...], seen: set[int]) -> None:
        if id(node) in seen:
            return  # an alias: its keys have their lines where the node itself stands
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for number, value in enumerate(node.value):
                self._lines[(*key, str(number))] = value.start_mark.line + 1
                self._walk(value, (*key, str(number)), seen)
        elif isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                path = (*key, key_name(name.value))
                line = name.start_mark.line + 1
                if path in self._lines:
                    raise self.error(path, f"the key occurs twice, again on line {line}")
                self._lines[path] = line
                self._walk(value, path, seen)

    def line(self, key: tuple[str, ...]) -> int | None:
        """The line of a key, or of its nearest ancestor that is present; None if there is none."""
        nearest = next((key[:end] for end in range(len(key), 0, -1) if key[:end] in self._lines), ())
        return self._lines.get(nearest)

    def error(self, key: tuple[str, ...], message: str, hint: str = "") -> DataError:
        """A DataError with file, line and key."""
        return DataError(message, file=self.path, line=self.line(key), field=".".join(key) or None, hint=hint)

    def checked(self, model: type[Model], *, hint: str) -> Model:
        """Validate the content as an instance of `model`. Raises DataError naming file, line and key."""
        if not isinstance(self.content, dict):
            keys = ", ".join(list(model.model_fields)[:4])
            raise DataError(f"the file holds keys such as {keys}", file=self.path, hint=hint)
        try:
            return model.model_validate(self.content)
        except ValidationError as error:
            first = error.errors()[0]
            key = tuple(key_name(part) for part in first["loc"] if part != "[key]")
            raise self.error(key, in_words(first), hint) from error


def read_yaml(path: Path) -> Document:
    """Read a YAML file. Raises DataError naming file and line."""
    try:
        return Document(path, yaml.SafeLoader(path.read_text("utf-8")))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        raise DataError(f"is not YAML: {getattr(error, 'problem', None) or error}", file=path, line=line) from error
    except RecursionError as error:
        raise DataError("is nested too deeply", file=path) from error
    except ValueError as error:  # such as the date 2024-13-45
        raise DataError(f"holds a value that is none: {error}", file=path, hint="put it in quotes") from error


def read_document(path: Path, model: type[Model], *, hint: str) -> Model:
    """Read a YAML file as an instance of a pydantic model.

    `hint` says where the keys are explained. Raises DataError naming file, line and key.
    """
    return read_yaml(path).checked(model, hint=hint)


# JSON ---------------------------------------------------------------------------------------------------------------


class _RepeatedKeyError(ValueError):
    """An object names a key twice; the message is that key."""


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [key_name(name) for name, _ in pairs]
    if len(set(names)) < len(names):
        raise _RepeatedKeyError(next(name for name in names if names.count(name) > 1))
    return dict(zip(names, (value for _, value in pairs), strict=True))


def read_json(file: Path, adapter: TypeAdapter[Value], *, hint: str) -> Value:
    """Read a file of one JSON value and validate it with `adapter`. Raises DataError naming file, line or key."""
    try:
        return adapter.validate_python(json.loads(file.read_text("utf-8-sig"), object_pairs_hook=_without_repeats))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=file) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataError("is not UTF-8", file=file, line=line, hint="save it as UTF-8") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(in_words(first), where=f"{file}, {field}" if field else str(file), hint=hint) from error
    except json.JSONDecodeError as error:
        raise DataError(f"is not one JSON object: {error.msg}", file=file, line=error.lineno, hint=hint) from error
    except _RepeatedKeyError as error:
        raise DataError("the key occurs twice in one object", file=file, field=str(error)) from error
    except (ValueError, RecursionError) as error:  # such as thousands of digits or of brackets
        raise DataError(f"is not JSON: {error}", file=file, hint=hint) from error

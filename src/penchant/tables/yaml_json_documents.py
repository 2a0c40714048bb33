"""Reader of YAML and JSON documents written by users, which reports errors with file, line and key."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, WithJsonSchema

from penchant.errors import DataError, in_words, nearest, shortened
from penchant.limits import LARGEST
from penchant.tables.json_tables import RepeatedKeyError, excess, may_be_excessive, unsound, without_repeats
from penchant.tables.rows import LONGEST_MAGIC, is_binary
from penchant.tables.yaml_file import MERGE, Loader, RefusedError, WrittenNumber, measured
from penchant.text_io import LARGEST_DOCUMENT, opened, read_text
from penchant.unicode_spellings import canonical

SETTINGS = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True)
"""Pydantic configuration for settings written by users, without type conversion.

`true` is not a number, "3" is a string, and `.inf` is rejected. A tuple field also accepts a list if it is declared
with `Field(strict=False)`.
"""

Model = TypeVar("Model", bound=BaseModel)
Value = TypeVar("Value")
Several = TypeVar("Several", bound=Sequence[object])


def as_written(value: object) -> str:
    """Return a string without surrounding white space, or a number as a string. Raises ValueError for other values."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or _is_not_finite(value):
        raise ValueError(f"expected a string, got {shortened(value)}")
    text = str(value).strip()
    if not text:
        raise ValueError("the field is blank")
    return text


def as_text(value: object) -> str:
    """Return the result of `as_written`, normalised to NFC; used for values that are compared, such as ids."""
    return canonical(as_written(value))


def _is_not_finite(value: str | int | float) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


Text = Annotated[str, BeforeValidator(as_text)]
"""Type of text fields that are compared with each other, such as an id, a name or a label."""
Written = Annotated[str, BeforeValidator(as_written)]
"""Type of text fields that are scored by a model or looked up in a vocabulary."""


Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
"""Type of numeric fields, limited to the largest supported magnitude."""
Names = Annotated[
    list[str],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""Type of fields with one or more names."""


def distinct(values: Several) -> Several:
    """Return the values of a field unchanged. Raises ValueError if two values are equal."""
    for value in values:
        if list(values).count(value) > 1:
            raise ValueError(f"{value} is given twice")
    return values


def key_name(name: object) -> str:
    """Normalise a key for comparison: NFC, without surrounding white space."""
    return canonical(str(name)).strip()


# YAML ---------------------------------------------------------------------------------------------------------------


class YamlDocument:
    """Content of a YAML file, with the line numbers of its keys. Raises DataError if a mapping has duplicate keys."""

    def __init__(self, path: Path, loader: Loader) -> None:
        self.path = path
        self.content: Any = None
        self._lines: dict[tuple[str, ...], int] = {}
        root = loader.get_single_node()
        if root is not None:
            measured(root)
            self._walk(root, (), set(), loader)  # before the loader puts merged keys in their places
            self.content = loader.construct_document(root)

    def _walk(self, node: yaml.Node, key: tuple[str, ...], seen: set[int], loader: Loader) -> None:
        if id(node) in seen:
            return  # an alias: the lines of its keys are those of the original node
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for number, value in enumerate(node.value):
                self._lines[(*key, str(number))] = value.start_mark.line + 1
                self._walk(value, (*key, str(number)), seen, loader)
        elif isinstance(node, yaml.MappingNode):
            known: dict[object, tuple[str, ...]] = {}
            for name, value in node.value:
                path = (*key, key_name(name.value))
                line = name.start_mark.line + 1
                merges = name.tag == MERGE
                first = path if path in self._lines or merges else known.setdefault(loader.construct_object(name), path)
                if first in self._lines:  # also a key written differently, such as 010 beside 10
                    raise self.error(first, f"the key appears again on line {line}", "put names in quotes")
                self._lines[path] = line
                self._walk(value, path, seen, loader)

    def line(self, key: tuple[str, ...]) -> int | None:
        """Return the line of a key, or of its nearest ancestor if the key is absent, or None if neither has a line."""
        nearest = next((key[:end] for end in range(len(key), 0, -1) if key[:end] in self._lines), ())
        return self._lines.get(nearest)

    def error(self, key: tuple[str, ...], message: str, hint: str = "") -> DataError:
        """Return a DataError with the file, and the line of the key."""
        return DataError(message, file=self.path, line=self.line(key), field=".".join(key) or None, hint=hint)

    def checked(self, model: type[Model], *, hint: str) -> Model:
        """Return the content as an instance of `model`. Raises DataError with file, line and key if it is invalid."""
        if not isinstance(self.content, dict):
            keys = ", ".join(list(model.model_fields)[:4])
            raise DataError(f"is not a YAML mapping with keys such as {keys}", file=self.path, hint=hint)
        try:
            return model.model_validate(as_wanted(self.content, model))
        except ValidationError as error:
            first = error.errors()[0]
            unknown = first["type"] == "extra_forbidden"  # then the last part is a key of the file, in brackets or not
            own = len(first["loc"]) - unknown
            kept = [part for i, part in enumerate(first["loc"]) if i >= own or not str(part).startswith("[")]
            key = tuple(map(key_name, kept))
            near = nearest(key[-1], _keys_beside(model, key)) if unknown else []
            meant = f"did you mean {' or '.join(near)}? " if near else ""
            raise self.error(key, in_words(first), meant + hint) from error


def as_wanted(value: Any, *kinds: Any) -> Any:
    """Convert numbers in YAML content to strings, spelled as in the file, where a string is expected.

    `kinds` are the types that the value can have: pydantic models, lists and mappings of types, unions.
    """
    wanted = [each for kind in kinds for each in _alternatives(kind)]
    inner = [part for kind in wanted if get_origin(kind) not in (None, dict, Mapping) for part in get_args(kind)]
    if isinstance(value, WrittenNumber):  # one value may stand for a list of one
        texts, numbers = (
            any(kind in kinds or isinstance(kind, kinds) for kind in [*wanted, *chain(*map(_alternatives, inner))])
            for kinds in ((str,), (int, float))
        )
        return str(value) if texts and not numbers else value
    if isinstance(value, list):
        return [as_wanted(each, *inner) for each in value]
    if isinstance(value, dict):
        models = [kind for kind in wanted if isinstance(kind, type) and issubclass(kind, BaseModel)]
        mappings = [get_args(kind) for kind in wanted if get_origin(kind) in (dict, Mapping)]
        keys, values = [kind for kind, _ in mappings], [kind for _, kind in mappings]
        fields = {name: field.annotation for model in models for name, field in model.model_fields.items()}
        return {
            as_wanted(name, *keys): as_wanted(each, *values, *([fields[name]] if name in fields else []))
            for name, each in value.items()
        }
    return value


def _alternatives(kind: Any) -> Iterator[Any]:
    """Yield the members of a union or the values of a Literal, without metadata, or else `kind` itself."""
    if get_origin(kind) is Annotated:
        yield from _alternatives(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for part in get_args(kind):
            yield from _alternatives(part)
    elif get_origin(kind) is Literal:
        yield from get_args(kind)
    else:
        yield kind


def _keys_beside(model: type[BaseModel], key: Sequence[str]) -> list[str]:
    """Return the valid keys of the nested model that contains `key`, or an empty list if the model is unknown."""
    inside: Any = model
    for part in key[:-1]:
        fields = inside.model_fields if isinstance(inside, type) and issubclass(inside, BaseModel) else {}
        inside = _model_in(fields[part].annotation) if part in fields else inside
    return list(inside.model_fields) if isinstance(inside, type) and issubclass(inside, BaseModel) else []


def _model_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def read_yaml(path: Path, loader: type[Loader] = Loader) -> YamlDocument:
    """Read a YAML file. Raises DataError with the file and line if it is invalid."""
    text = read_text(path, largest=LARGEST_DOCUMENT)
    try:
        return YamlDocument(path, loader(text))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        if isinstance(error, RefusedError):
            raise DataError(str(error.problem), file=path, line=line, hint=error.note or "") from error
        raise DataError(f"is not valid YAML: {error.problem or error}", file=path, line=line) from error
    except RecursionError as error:
        raise DataError("is nested too deeply", file=path) from error


def read_document(path: Path, model: type[Model], *, hint: str) -> Model:
    """Read a YAML file as an instance of a pydantic model.

    `hint` tells users where the keys are documented. Raises DataError with the file, line and key if it is invalid.
    """
    return read_yaml(path).checked(model, hint=hint)


# JSON ---------------------------------------------------------------------------------------------------------------


def read_json(file: Path, adapter: TypeAdapter[Value], *, hint: str) -> Value:
    """Read a JSON file and validate its value with `adapter`.

    Raises DataError with the file, and the line or key, if it is invalid.
    """
    with opened(file) as stream:
        binary = is_binary(stream.read(LONGEST_MAGIC))
    if binary:
        raise DataError("is a table, not a single JSON object", file=file, hint=hint)
    text = read_text(file, largest=LARGEST_DOCUMENT)
    try:
        return adapter.validate_python(_parsed(text, file, hint))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(in_words(first), where=f"{file}, {field}" if field else str(file), hint=hint) from error


def _parsed(text: str, file: Path, hint: str) -> object:
    problem, at = excess(text) if may_be_excessive(text) else ("", 0)
    try:
        value = None if problem else json.loads(text, object_pairs_hook=without_repeats(key_name))
    except json.JSONDecodeError as error:
        raise DataError(f"is not a single JSON object: {error.msg}", file=file, line=error.lineno, hint=hint) from error
    except RepeatedKeyError as error:
        raise DataError("the key appears twice in one object", file=file, field=str(error)) from error
    except (ValueError, RecursionError) as error:  # such as thousands of digits
        problem, at = excess(text)
        problem = problem or str(error)
    if problem:
        raise DataError(f"is not valid JSON: {problem}", file=file, line=text.count("\n", 0, at) + 1, hint=hint)
    key, wrong = unsound(value)
    if wrong:
        raise DataError(wrong, where=f"{file}, {'.'.join(key)}", hint=hint)
    return value

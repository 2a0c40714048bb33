"""Conversion of a task file of EleutherAI's lm-evaluation-harness to a study: `penchant init --from-lm-eval`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from penchant.errors import DataError, OutputError, shortened
from penchant.files import occupied, safe, write_text
from penchant.instruments.study_from_table import csv_text
from penchant.plurals import counted
from penchant.study.study_from_table import UserStudy, study_of_table
from penchant.tables.data_lookup import find_all, listed
from penchant.tables.rows import read_rows
from penchant.tables.yaml_file import Loader
from penchant.tables.yaml_json_documents import read_yaml

_REFUSED = {
    "num_fewshot": "penchant adds no examples to a prompt",
    "filter_list": "penchant does not filter answers",
    "gen_prefix": "penchant does not write the beginning of an answer for the model",
    "use_prompt": "penchant does not support promptsource",
    **dict.fromkeys(("class", "custom_dataset"), "it refers to Python code"),
    **dict.fromkeys(("doc_to_image", "doc_to_audio", "doc_to_video"), "penchant reads only text"),
}
"""Fields of a task that change what is measured, and the reason why they cannot be converted."""
_CODE = "it is Python code (!function), and penchant does not run the code of a task"
_FORMATS = ("json", "csv", "parquet", "arrow", "text")
_COLUMNS = ("id", "group", "prefix", "good", "bad")
_DELIMITER = " "
"""The default value of the field target_delimiter."""


class _Function(str):
    """The name of a function in a `!function` tag."""


class _TaskLoader(Loader):
    """YAML loader that reads `!function` tags."""


_TaskLoader.add_constructor("!function", lambda _, node: _Function(node.value))


@dataclass(frozen=True, slots=True)
class _Item:
    """An item of a task: its number, the text before the answers, the answers, and the index of the right answer."""

    number: int
    context: str
    answers: tuple[str, ...]
    right: int


def study_of_task(
    task: Path, directory: Path, *, models: Sequence[str] = (), data: Sequence[str | Path] = ()
) -> UserStudy:
    """Write a table of minimal pairs and a study of them into a directory, and test the study with each model.

    Each wrong answer of an item is paired with the right one. The items are read from `data`, or else from the files
    that the task names, or else from its data set on the hub. Raises DataError, with the field, if the task cannot be
    converted, and the errors of `penchant.study.study_from_table.study_of_table`. After an error, no file is left.
    """
    fields = _fields(task, ())
    _refuse(task, fields)
    items = list(_items(task, fields, _rows(task, fields, data)))
    name, delimiter = str(fields.get("task") or task.stem), str(fields.get("target_delimiter", _DELIMITER))
    bare = not any(item.context for item in items)
    fronted = bare and delimiter == " "
    first = all(item.right == 0 for item in items)
    settings = {"normalise": "none", "ties": "good" if first else "half", **({"space": "front"} if fronted else {})}
    pairs = [row for item in items for row in _pairs(item, name, "" if fronted else delimiter)]
    dropped = {"prefix"} if bare else set()
    kept = [number for number, column in enumerate(_COLUMNS) if column not in dropped]
    text = csv_text([_COLUMNS[i] for i in kept], ([row[i] for i in kept] for row in pairs))
    lines = _differences(fields, items, len(pairs), delimiter, ties=settings["ties"])
    table, new = directory / f"{safe(name)}.csv", not directory.exists()
    if occupied(table):
        raise OutputError("already exists", where=str(table), hint="remove it or give another directory")
    write_text(text, table)
    try:
        found = study_of_table("minimal-pairs", table, directory, models=models, settings=settings, comment=lines)
    except BaseException:
        table.unlink()
        if new:
            directory.rmdir()
        raise
    return replace(found, written=[table, *found.written], lines=[*lines, *found.lines])


def _fields(task: Path, above: Sequence[Path]) -> dict[str, Any]:
    """Return the fields of a task file, which override the fields of the files that it includes.

    `above` lists the files that include `task`. Raises DataError if `task` includes itself or has no fields.
    """
    if task.resolve() in above:
        raise DataError("includes itself", file=task, field="include")
    fields = read_yaml(task, _TaskLoader).content
    if not isinstance(fields, dict):
        raise DataError("is not a task file: it has no fields", file=task)
    found: dict[str, Any] = {}
    for name in listed(fields.pop("include", None)):
        found |= _fields(task.parent / str(name), [*above, task.resolve()])
    return found | fields


def _refuse(task: Path, fields: Mapping[str, Any]) -> None:
    """Raise DataError for a field that cannot be converted."""
    for name, value in fields.items():
        if any(isinstance(each, _Function) for each in _every(value)):
            raise _refused(task, name, _CODE)
        if name in _REFUSED and value:
            raise _refused(task, name, _REFUSED[name])
    if isinstance(fields.get("task"), list):
        raise _refused(task, "task", "this file groups tasks; give the file of one of them")
    if (kind := fields.get("output_type", "generate_until")) != "multiple_choice":
        raise _refused(task, "output_type", f"{kind} has no answers to choose from; only multiple_choice is converted")
    for name in ("doc_to_choice", "doc_to_target"):
        if fields.get(name) is None:
            raise _refused(task, name, "it is missing")


def _refused(task: Path, field: str, why: str) -> DataError:
    return DataError(f"cannot be converted: {why}", file=task, field=field)


def _every(value: object) -> Iterator[object]:
    yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _every(part)


def _rows(task: Path, fields: Mapping[str, Any], data: Sequence[str | Path]) -> list[tuple[str, dict[str, Any]]]:
    """Return the location and values of each row that the task evaluates; columns of whole numbers become int."""
    split = str(fields.get("test_split") or fields.get("validation_split") or "")
    names: Any = data or (fields.get("dataset_kwargs") or {}).get("data_files")
    if isinstance(names, dict):
        if split not in names:
            raise DataError(f"has no files for the split '{split}'", file=task, field="dataset_kwargs.data_files")
        names = names[split]
    path = str(fields.get("dataset_path") or "")
    if not names and (path in _FORMATS or path.count("/") != 1 or path[0] in "./" or not split):
        raise DataError("names no data that penchant can find", file=task, field="dataset_path", hint="add --data FILE")
    names = names or f"hf://datasets/{path}/{fields.get('dataset_name') or 'data'}/{split}-*"
    rows = []
    for name in [names] if isinstance(names, str | Path) else names:
        for file in find_all(name, base=[task.parent, Path()]):
            read = read_rows(file)
            whole = {column for column in read[0].values if all(_is_whole(row.values.get(column)) for row in read)}
            for row in read:
                values = {key: int(str(value)) if key in whole else value for key, value in row.values.items()}
                rows.append((f"{file.name}, line {row.line}", values))
    return rows


def _is_whole(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value) is not None


def _items(task: Path, fields: Mapping[str, Any], rows: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[_Item]:
    for number, (place, row) in enumerate(rows, 1):
        values = {
            name: _filled(task, name, fields, place, row) for name in ("doc_to_text", "doc_to_target", "description")
        }
        context, target = values["doc_to_text"], values["doc_to_target"]
        answers = _literal(_filled(task, "doc_to_choice", fields, place, row))
        if not isinstance(answers, list | tuple) or len(answers) < 2:
            message = f"gives no list of answers for {place}: {shortened(answers)}"
            raise DataError(message, file=task, field="doc_to_choice")
        if not isinstance(context, str):
            message = f"gives a number for {place}; tasks whose texts differ before the answer are not converted"
            raise DataError(message, file=task, field="doc_to_text")
        texts = tuple(map(str, answers))
        yield _Item(number, f"{values['description']}{context}", texts, _right(task, place, target, texts))


def _filled(task: Path, name: str, fields: Mapping[str, Any], place: str, row: Mapping[str, Any]) -> Any:
    """Return the value of a field for a row: the value of the column that the field names, else the filled template.

    A filled template that consists of digits becomes a number, as in lm-eval.
    """
    given = fields.get(name, "")
    if not isinstance(given, str):
        return list(given.values()) if isinstance(given, dict) else given
    if given in row:
        return row[given]
    try:
        text = _jinja().from_string(given).render(**row)
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"cannot be filled from {place}: {error}", file=task, field=name) from error
    return int(text) if text.isdecimal() and name != "description" else text


@cache
def _jinja() -> SandboxedEnvironment:
    found = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    found.filters["regex_replace"] = lambda text, pattern, new, count=0: re.sub(pattern, new, text, count=count)
    return found


def _right(task: Path, place: str, target: object, answers: Sequence[str]) -> int:
    """Return the index of the right answer, given the answer or its index."""
    if isinstance(target, str) and target in answers:
        return answers.index(target)
    index = _literal(target)
    if not isinstance(index, int) or not 0 <= index < len(answers):
        message = f"gives no answer, or several, for {place}: {shortened(target)}"
        raise DataError(message, file=task, field="doc_to_target")
    return int(index)


def _literal(value: object) -> object:
    """Return the value of a Python literal in a string, as lm-eval reads it; return any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def _pairs(item: _Item, group: str, delimiter: str) -> Iterator[tuple[str, ...]]:
    """Yield a table row with the columns `_COLUMNS` for each wrong answer.

    White space at the end of the context is moved to the start of every answer, followed by the `delimiter`.
    """
    prefix = item.context.rstrip()
    between = item.context[len(prefix) :] + delimiter
    good = between + item.answers[item.right]
    for number, answer in enumerate(item.answers):
        if number != item.right:
            id_ = str(item.number) if len(item.answers) == 2 else f"{item.number}-{number}"
            yield id_, group, prefix, good, between + answer


def _differences(
    fields: Mapping[str, Any], items: Sequence[_Item], pairs: int, delimiter: str, *, ties: str
) -> list[str]:
    """Return the lines of a short table that shows how the study differs from lm-eval."""
    named = [str(each.get("metric")) for each in fields.get("metric_list") or [] if isinstance(each, dict)]
    other = [name for name in named if name != "acc"]
    two = len(items) == pairs
    rows = [
        ("", "lm-eval", "this study"),
        ("answer", f"target_delimiter {delimiter!r} and the answer", "the same text"),
        ("score", "log P of the answer's tokens after the prompt", "the same; masked models: method pll"),
        ("beginning", "a token for it only if the tokenizer adds one, or no prompt", "always, if the model has one"),
        ("acc", "items whose right answer is the most probable", "the same: accuracy" if two else "not computed"),
        ("accuracy", "–", f"{counted(pairs, 'pairs')} of right and wrong of {counted(len(items), 'items')}"),
        ("acc_norm", "log P by characters (acc_bytes: by bytes)", "not computed; mean is by tokens"),
        ("ties", "the first answer", "the right answer, which is first" if ties == "good" else "one half"),
        *([("not computed", ", ".join(other), "–")] if other else []),
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return [f"{name:<{widths[0]}}  {theirs:<{widths[1]}}  {ours}".rstrip() for name, theirs, ours in rows]

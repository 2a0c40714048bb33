"""Loader for the core schema of YAML 1.2, with time and memory bounded by the size of the file.

Every error gives a line. Numbers keep their spelling for fields that are strings: `010` is ten as a number, and "010"
as the name of a study.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, ClassVar

import yaml

from penchant.tables.json_tables import DEEPEST
from penchant.text_io import refused_character

_MOST_REPEATED = 100_000
"""Maximum number of values that the expansion of aliases may add."""
_LONGEST_NUMBER = 1_000
"""Maximum number of characters in a number."""
_NULL, _BOOL, _INT, _FLOAT, MERGE = (f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "merge"))
_CORE = {
    _NULL: (re.compile(r"(?:~|null|Null|NULL|)\Z"), "~nN\0"),
    _BOOL: (re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), "tTfF"),
    _INT: (re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z"), "-+0123456789"),
    _FLOAT: (
        re.compile(
            r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
        ),
        "-+.0123456789",
    ),
    MERGE: (re.compile(r"<<\Z"), "<"),
}
"""Patterns of plain scalars that are not strings, by tag, with their possible first characters."""
_FAILURES = (ValueError, TypeError, LookupError, AttributeError, OverflowError)
"""Exceptions of PyYAML's constructors for a value that does not match its tag, such as the date 2024-13-45."""


class RefusedError(yaml.MarkedYAMLError):
    """Error raised for valid YAML that is not accepted; `note` is the hint."""


class WrittenNumber:
    """Base class for numbers from a YAML file; `str()` returns the number as written."""

    written: str

    def __str__(self) -> str:
        return self.written


class WrittenInt(WrittenNumber, int):
    """Integer that keeps its spelling."""


class WrittenFloat(WrittenNumber, float):
    """Float that keeps its spelling."""


class _Core:
    """Mixin for the core schema of YAML 1.2, in which `no`, `12:30` and `1_000` are strings, and `010` is ten."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


for _tag, (_pattern, _starts) in _CORE.items():
    for _start in _starts:
        _Core.yaml_implicit_resolvers.setdefault(_start.strip("\0"), []).append((_tag, _pattern))


class Dumper(_Core, yaml.SafeDumper):
    """PyYAML dumper of plain values, which quotes strings that `Loader` would read as another type."""


Dumper.add_multi_representer(WrittenInt, lambda dumper, value: dumper.represent_int(int(value)))
Dumper.add_multi_representer(WrittenFloat, lambda dumper, value: dumper.represent_float(float(value)))


def dumped(content: object, **settings: Any) -> str:
    """Return plain values as YAML that `Loader` reads back. Raises YAMLError if a value is not plain."""
    text: str = yaml.dump(content, Dumper=Dumper, sort_keys=False, allow_unicode=True, **settings)
    return text


class Loader(_Core, yaml.SafeLoader):
    """PyYAML loader of plain values, which rejects documents that are nested too deeply or have invalid values."""

    def __init__(self, text: str) -> None:
        self._depth = 0
        try:
            super().__init__(text)
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position)
            raise _error(f"contains the character U+{error.character:04X}, which YAML does not allow", line) from error

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose a node. Raises YAMLError if the node is more than `DEEPEST` levels below the root."""
        if self._depth > DEEPEST:
            raise _error(f"is nested more than {DEEPEST} levels deep", self.line)
        self._depth += 1
        try:
            node: yaml.Node | None = super().compose_node(parent, index)
        except ValueError as error:  # such as for the invalid escape sequence \U00110000
            raise _error(f"contains an invalid escape sequence: {error}", self.line) from error
        self._depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node."""
        if isinstance(node, yaml.ScalarNode):
            self._require_sound(node)
        try:
            return super().construct_object(node, deep)
        except _FAILURES as error:
            shown = node.value[:40] if isinstance(node, yaml.ScalarNode) else node.tag
            problem = f"contains '{shown}', which cannot be converted to its type: {error}"
            raise _error(problem, node.start_mark.line, "put the value in quotes") from error

    def _require_sound(self, node: yaml.ScalarNode) -> None:
        wrong = refused_character(node.value)
        if node.tag in (_INT, _FLOAT) and len(node.value) > _LONGEST_NUMBER:
            wrong = f"contains a number of {len(node.value):,} characters, which is too long"
        if wrong:
            raise _error(wrong, node.start_mark.line)

    def _core(self, node: yaml.ScalarNode) -> Any:
        """Return the value of a scalar under the core schema. Raises ValueError if the value does not match its tag."""
        text = node.value
        if not (_CORE[_INT][0].match(text) and node.tag == _FLOAT) and not _CORE[node.tag][0].match(text):
            raise ValueError(f"the value is not of type {node.tag.rpartition(':')[2]}")
        if node.tag == _BOOL:
            return text.lower() == "true"
        if node.tag == _INT:
            base = {"0o": 8, "0x": 16}.get(text[:2], 10)
            return _remembered(WrittenInt(text[2:] if base != 10 else text, base), text)
        bare = text.lower().replace(".inf", "inf").replace(".nan", "nan")
        number = WrittenFloat(bare)
        if math.isinf(number) and "inf" not in bare:
            raise ValueError("it is too large")
        return _remembered(number, text)


def _remembered(number: WrittenInt | WrittenFloat, text: str) -> WrittenNumber:
    number.written = text
    return number


for _tag in (_BOOL, _INT, _FLOAT):
    Loader.add_constructor(_tag, Loader._core)


def measured(root: yaml.Node) -> None:
    """Raise YAMLError if a mapping key is not a scalar, or if aliases are recursive or expand to too many values.

    A few lines of nested aliases can expand to millions of values ("billion laughs").
    """
    _size(root, {}, set())


def _size(node: yaml.Node, sizes: dict[int, int], above: set[int]) -> int:
    """Return the number of values in a node after the expansion of aliases.

    `sizes` contains the known sizes and `above` the ancestors of the node, both by id.
    """
    if id(node) in above:
        raise _error("contains a recursive alias", node.start_mark.line)
    if id(node) not in sizes:
        above.add(id(node))
        size = 1 + sum(_size(child, sizes, above) for child in _children(node))
        above.remove(id(node))
        sizes[id(node)] = size
        if size > len(sizes) + _MOST_REPEATED:
            raise _error(f"contains aliases that repeat more than {_MOST_REPEATED:,} values", node.start_mark.line)
    return sizes[id(node)]


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if not isinstance(name, yaml.ScalarNode):
                raise _error("contains a key that is a list or a mapping", name.start_mark.line)
            yield name
            yield value


def _error(problem: str, line: int, note: str | None = None) -> RefusedError:
    """Return an error at a line, counted from 0."""
    mark = yaml.Mark("", 0, line, 0, None, 0)
    return RefusedError(problem=problem, problem_mark=mark, note=note)

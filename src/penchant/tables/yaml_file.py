"""YAML, read so that no file takes more time or memory than its size: nesting, aliases and numbers are bounded.

What PyYAML composes is measured before anything is constructed from it, and every error has its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from penchant.reading import refused_character
from penchant.tables.json_text import DEEPEST

_MOST_REPEATED = 100_000
"""The most values that aliases may add to those written out."""
_LONGEST_NUMBER = 1_000
"""The most characters in a number."""
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_FAILURES = (ValueError, TypeError, LookupError, AttributeError, OverflowError)
"""What PyYAML's constructors raise for a value that is not of its type, such as the date 2024-13-45."""


class RefusedError(yaml.MarkedYAMLError):
    """YAML, but no document; `note` says what to do."""


class Loader(yaml.SafeLoader):
    """PyYAML's loader of plain values, which refuses what could not be built in reasonable time, with its line."""

    def __init__(self, text: str) -> None:
        self._depth = 0
        try:
            super().__init__(text)
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position)
            raise _error(f"holds the character U+{error.character:04X}, which no YAML may hold", line) from error

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """A node, at most `DEEPEST` levels below the root."""
        if self._depth > DEEPEST:
            raise _error(f"is nested more than {DEEPEST} levels deep", self.line)
        self._depth += 1
        try:
            node: yaml.Node | None = super().compose_node(parent, index)
        except ValueError as error:  # such as the escape \U00110000, which is no character
            raise _error(f"holds an escape that is no character: {error}", self.line) from error
        self._depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """The value of a node."""
        if isinstance(node, yaml.ScalarNode):
            self._require_sound(node)
        try:
            return super().construct_object(node, deep)
        except _FAILURES as error:
            shown = node.value[:40] if isinstance(node, yaml.ScalarNode) else node.tag
            problem = f"holds '{shown}', which is not what it looks like: {error}"
            raise _error(problem, node.start_mark.line, "put it in quotes") from error

    def _require_sound(self, node: yaml.ScalarNode) -> None:
        wrong = refused_character(node.value)
        if node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            wrong = f"holds a number of {len(node.value):,} characters"
        if wrong:
            raise _error(wrong, node.start_mark.line)


def measured(root: yaml.Node) -> None:
    """Raise YAMLError if a mapping's key is no plain value, or if aliases repeat too much: a node that holds itself, or
    few lines that stand for millions of values ("billion laughs")."""
    _size(root, {}, set())


def _size(node: yaml.Node, sizes: dict[int, int], above: set[int]) -> int:
    """The number of values in a node, with those that aliases stand for. `sizes` are those known, and `above` holds
    the nodes that the node is part of."""
    if id(node) in above:
        raise _error("holds an alias of what it is part of", node.start_mark.line)
    if id(node) not in sizes:
        above.add(id(node))
        size = 1 + sum(_size(child, sizes, above) for child in _children(node))
        above.remove(id(node))
        sizes[id(node)] = size
        if size > len(sizes) + _MOST_REPEATED:
            raise _error("holds aliases that stand for too many values", node.start_mark.line)
    return sizes[id(node)]


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if not isinstance(name, yaml.ScalarNode):
                raise _error("holds a key that is a list or a mapping", name.start_mark.line)
            yield name
            yield value


def _error(problem: str, line: int, note: str | None = None) -> RefusedError:
    """An error on a line, counted from 0."""
    mark = yaml.Mark("", 0, line, 0, None, 0)
    return RefusedError(problem=problem, problem_mark=mark, note=note)

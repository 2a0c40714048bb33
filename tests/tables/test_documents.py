"""YAML and JSON documents: every mistake with its file, line and field."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter

from builders import error_of, write
from penchant.errors import DataError
from penchant.tables.yaml_file import Loader, dumped
from penchant.tables.yaml_json_documents import SETTINGS, Text, key_name, read_document, read_json, read_yaml
from penchant.text_io import saved_as_utf8

HINT = "see the guide"


class Context(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: Text
    number: int = 0


class Questionnaire(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Text
    contexts: list[Context] = []
    groups: dict[str, Context] = {}
    ranks: dict[int, Text] = {}


ANSWERS = TypeAdapter(dict[str, list[Text]])
GOOD = """\
# A questionnaire.
name: values

contexts:
- text: He is  # the first
  number: 3
- {text: She is}
groups:
  š:
    text: 12
"""


def written(folder: Path, content: str | bytes) -> Path:
    return write(folder / "set.yaml", content)


def refusal(read: Callable[[], object]) -> DataError:
    return error_of(read, DataError)


# Lines and fields -----------------------------------------------------------------------------------------------


def test_a_good_document(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    found = read_document(path, Questionnaire, hint=HINT)
    assert (found.name, [context.text for context in found.contexts]) == ("values", ["He is", "She is"])
    assert found.groups["š"].text == "12"  # a number is read as the text it looks like
    document = read_yaml(path)
    assert document.content == yaml.safe_load(GOOD)
    keys = {
        ("name",): 2,
        ("contexts",): 4,
        ("contexts", "0"): 5,
        ("contexts", "0", "number"): 6,
        ("contexts", "1", "text"): 7,
        ("groups", "š", "text"): 10,
    }
    assert {key: document.line(key) for key in keys} == keys


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("groups", "š", "number"), 9),
        (("groups", "none", "text"), 8),
        (("contexts", "1", "text", "deeper", "still"), 7),
        (("contexts", "2"), 4),
        (("none",), None),
        ((), None),
    ],
)
def test_a_key_that_is_not_there_has_the_line_of_the_nearest_above_it(
    key: tuple[str, ...], line: int | None, tmp_path: Path
) -> None:
    document = read_yaml(written(tmp_path, GOOD))
    assert document.line(key) == line
    error = document.error(key, "is wrong", HINT)
    assert (error.file, error.line, error.field) == (document.path, line, ".".join(key) or None)
    place = f"{document.path}" + (f", line {line}" if line else "") + (f", field '{error.field}'" if key else "")
    assert str(error) == f"{place}: is wrong — {HINT}"


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "message"),
    [
        ("  number: 3", "  numbre: 3", 6, "contexts.0.numbre", "unknown key"),
        ("{text: She is}", "{text: She is, x: 1}", 7, "contexts.1.x", "unknown key"),
        ("groups:", "group:", 8, "group", "unknown key"),
        ("name: values", "nam: values", None, "name", "is missing"),
        ("- text: He is  # the first\n ", "-", 5, "contexts.0.text", "is missing"),
        ("    text: 12", "    number: 12", 9, "groups.š.text", "is missing"),
        ("  number: 3", "  number: three", 6, "contexts.0.number", "input should be a valid integer"),
        ("{text: She is}", "{text: [She, is]}", 7, "contexts.1.text", "expected a string, got ['She', 'is']"),
        ("{text: She is}", "She is", 7, "contexts.1", "input should be a valid dictionary"),
        ("text: He is", "text: ' '", 5, "contexts.0.text", "the field is blank"),
        ("    text: 12", "    text: 12\nranks:\n  1: a\n  two: b", 13, "ranks.two", "input should be a valid integer"),
        ("name: values", "name: true", 2, "name", "expected a string, got True"),
    ],
)
def test_a_mistake_has_its_line_and_field(
    old: str, new: str, line: int | None, field: str, message: str, tmp_path: Path
) -> None:
    assert GOOD.count(old) == 1
    path = written(tmp_path, GOOD.replace(old, new))
    error = refusal(lambda: read_document(path, Questionnaire, hint=HINT))
    assert (error.file, error.line, error.field) == (path, line, field)
    near = {"numbre": "did you mean number? ", "group": "did you mean groups? "}.get(field.rpartition(".")[2], "")
    assert error.hint == (near if message == "unknown key" else "") + HINT
    assert error.message.startswith(message)


@pytest.mark.parametrize(
    ("text", "line", "field", "again"),
    [
        ("name: a\n\nname: b\n", 1, "name", 3),
        ("a: {x: 1, y: 2, x: 3}\n", 1, "a.x", 1),
        ("a:\n- b: 1\n  c: 2\n  b: 3\n", 2, "a.0.b", 4),
        ("a:\n  š: 1\n  b: 2\n  s\u030c: 3\n", 2, "a.š", 4),  # one letter, spelled with a combining sign
        ("a: 1\n' a ': 2\n", 1, "a", 2),
        ("1: a\n'1': b\n", 1, "1", 2),
        ("010: a\n8: b\n10: c\n", 1, "010", 3),
        ("1: a\n1.0: b\n", 1, "1", 2),
        ("null: a\n~: b\n", 1, "null", 2),
    ],
)
def test_a_repeated_key_has_both_lines(text: str, line: int, field: str, again: int, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    error = refusal(lambda: read_yaml(path))
    assert (error.file, error.line, error.field) == (path, line, field)
    assert error.message == f"the key appears again on line {again}"


def test_equal_keys_of_different_mappings_are_not_repeated(tmp_path: Path) -> None:
    document = read_yaml(written(tmp_path, "a:\n  x: 1\nb:\n  x: 2\n  a: 3\nx: 4\n"))
    assert [document.line(key) for key in (("a", "x"), ("b", "x"), ("b", "a"), ("x",))] == [2, 4, 5, 6]


# YAML 1.2 -----------------------------------------------------------------------------------------------------------

LINE = "010 1.10 12:30 1_000 0b1 yes no on off y 2024-01-01 1e3 +5 0x1F 0o17 .5 1. -0 1e-5 1.2.3 = 1,5"
BARE = LINE.split()
VALUES = [10, 1.1, "12:30", "1_000", "0b1", "yes", "no", "on", "off", "y", "2024-01-01", 1000.0, 5, 31, 15, 0.5, 1.0, 0]
VALUES += [1e-5, "1.2.3", "=", "1,5"]


class Words(BaseModel):
    model_config = SETTINGS
    name: str
    words: list[str] = []
    groups: dict[str, list[str] | str] = {}
    either: list[str | int] = []
    level: float = 0.5
    steps: dict[int, str] = {}


def test_bare_words_by_the_core_schema(tmp_path: Path) -> None:
    content = read_yaml(written(tmp_path, f"[{', '.join(word for word in BARE if word != '1,5')}, '1,5']")).content
    assert content == VALUES and list(map(type, map(plain, content))) == list(map(type, VALUES))


def plain(value: Any) -> Any:
    return next((kind(value) for kind in (int, float) if isinstance(value, kind)), value)


def test_a_text_is_the_text_as_written(tmp_path: Path) -> None:
    lines = "".join(f"- {word}\n" for word in BARE)
    text = f"name: 010\nlevel: 0.950\nwords:\n{lines}groups: {{1.10: no, 010: [1e3], 8: x}}\nsteps: {{010: 1.50}}\n"
    found = read_document(written(tmp_path, text), Words, hint=HINT)
    assert (found.name, found.level, found.words) == ("010", 0.95, BARE)
    assert found.groups == {"1.10": "no", "010": ["1e3"], "8": "x"} and found.steps == {10: "1.50"}
    assert read_document(written(tmp_path, "name: 1.10"), Questionnaire, hint=HINT).name == "1.10"


@pytest.mark.parametrize("word", ["1_000", "12:30", "0b1", "yes", "'1'", "1e400", ".inf", ".nan"])
def test_what_is_no_number_is_refused_where_one_is_wanted(word: str, tmp_path: Path) -> None:
    error = refusal(lambda: read_document(written(tmp_path, f"name: a\nlevel: {word}\n"), Words, hint=HINT))
    assert error.line == 2


def test_what_is_written_is_read_back() -> None:
    words = [*BARE, "true", "null", "~", "<<", ".inf", ".NaN", "", " "]
    for value in [*words, 1e300, 1e-7, -0.0, 1.5, float("inf"), 3, None]:
        assert repr(plain(yaml.load(dumped([value]), Loader)[0])) == repr(value)


# Aliases ----------------------------------------------------------------------------------------------------------


def test_what_an_alias_repeats_has_the_line_of_the_alias_or_its_anchor(tmp_path: Path) -> None:
    document = read_yaml(written(tmp_path, "first: &one\n  text: a\nsecond: *one\nthird:\n- *one\n"))
    assert document.content == {"first": {"text": "a"}, "second": {"text": "a"}, "third": [{"text": "a"}]}
    assert document.line(("second",)) == 3
    assert document.line(("first", "text")) == 2
    assert document.line(("second", "text")) == 3
    assert document.line(("third", "0", "text")) == 1  # an item has no key of its own, and YAML tells no place of it


# Files that are no documents --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"name: [a\n", 2, "is not valid YAML: expected"),
        (b"name: a\nother: b: c\n", 2, "is not valid YAML: mapping values are not allowed here"),
        (b"name: a\nother: *none\n", 2, "is not valid YAML: found undefined alias"),
        (b"name: a\n---\nname: b\n", 2, "is not valid YAML: but found another document"),
        (b"name: a\n? [x]\n: b\n", 2, "contains a key that is a list or a mapping"),
        (b"name: !!python/name:os.system\n", 1, "is not valid YAML: could not determine a constructor"),
        (b"name: a\nother: \x01\n", 2, "contains the character U+0001, which YAML does not allow"),
        (b"\nname: caf\xe9\n", 2, "is not UTF-8 (byte 0xe9): it looks like Latin-1 or Windows-1252"),
        ("name: a\n".encode("utf-16"), 1, "is not UTF-8 (byte 0xff): it looks like UTF-16"),
        (
            b"a: b\nname: !!timestamp 2024-13-45\n",
            2,
            "contains '2024-13-45', which cannot be converted to its type: month",
        ),
        ("name: &a\n  in: *a\n", 1, "contains a recursive alias"),
        ("x: y\nname: &a [x, *a]\n", 2, "contains a recursive alias"),
        (
            "&a name: &b\n  one: &c\n    two: *b\n    three: *c\n",
            1,
            "contains a recursive alias",
        ),
        ("a: 1\nb: '\\0'\nc: \"\\0\"\n", 3, "contains the character NUL"),
        ('a:\n- "\\ud800"\n', 2, "contains half of a surrogate pair"),
        ('a:\n- "\\U00110000"\n', 2, "contains an invalid escape sequence"),
        ("a: b\nn: " + "9" * 6_000 + "\n", 2, "contains a number of 6,000 characters"),
        ("a: b\nn: 0x" + "f" * 6_000 + "\n", 2, "contains a number of 6,002 characters"),
        ("a: b\nn: !!int ''\n", 2, "contains '', which cannot be converted to its type"),
        ("a: b\nn: !!timestamp x\n", 2, "contains 'x', which cannot be converted to its type"),
        ("a: b\nn: !!bool x\n", 2, "contains 'x', which cannot be converted to its type"),
    ],
)
def test_what_is_not_yaml(data: bytes | str, line: int | None, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, data)
    error = refusal(lambda: read_yaml(path))
    assert (error.file, error.line) == (path, line) and error.message.startswith(message)


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    assert read_yaml(written(tmp_path, "\ufeffname: a\n")).line(("name",)) == 1


@pytest.mark.parametrize("text", ["", "# nothing\n", "- name\n- contexts\n", "name\n", "3\n"])
def test_what_is_no_mapping_is_told_some_keys(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    assert read_yaml(path).content == yaml.safe_load(text)
    error = refusal(lambda: read_document(path, Questionnaire, hint=HINT))
    assert str(error) == f"{path}: is not a YAML mapping with keys such as name, contexts, groups, ranks — {HINT}"


@pytest.mark.parametrize("read", [read_yaml, lambda path: read_json(path, ANSWERS, hint=HINT)])
def test_files_that_cannot_be_read(read: Callable[[Path], object], tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", Path(os.devnull) / "below"):
        error = refusal(lambda path=path: read(path))  # type: ignore[misc]
        assert error.file == path and error.message in (
            "no such file",
            "is a directory",
            "cannot be read: Not a directory",
        )


# JSON -------------------------------------------------------------------------------------------------------------


def test_json_is_read_with_keys_and_texts_normalised(tmp_path: Path) -> None:
    for start in ("", "\ufeff"):
        path = written(tmp_path, start + '{" s\u030c": ["e\u0301", 3]}')
        assert read_json(path, ANSWERS, hint=HINT) == {"š": ["é", "3"]}


@pytest.mark.parametrize(
    ("data", "place", "message", "hint"),
    [
        (b'{"a": ["x"],\n "b": ["y", null]}', ", b.1", "expected a string, got None", HINT),
        (b'{"a": "x"}', ", a", "input should be a valid list, got 'x'", HINT),
        (b"[]", "", "input should be a valid dictionary", HINT),
        (b"", ", line 1", "is not a single JSON object: Expecting value", HINT),
        (b'{"a": []}\n\n{"b": []}', ", line 3", "is not a single JSON object: Extra data", HINT),
        (b'{"a":\n[x]}', ", line 2", "is not a single JSON object: Expecting value", HINT),
        (b'{"a": [],\n"a": []}', ", field 'a'", "the key appears twice in one object", ""),
        (b'{"a": [], " a": []}', ", field 'a'", "the key appears twice in one object", ""),
        ('{"é": [], "e\u0301": []}'.encode(), ", field 'é'", "the key appears twice in one object", ""),
        (b'{"a": [\n"\xe9"]}', ", line 2", "is not UTF-8", saved_as_utf8("Latin-1 or Windows-1252")),
        (b'{"a":\n' + b"1" * 5_000 + b"}", ", line 2", "is not valid JSON: a number of 5,000 digits", HINT),
        (b"\n" + b"[" * 200_000, ", line 2", "is not valid JSON: it is nested more than 100 levels deep", HINT),
    ],
)
def test_json_that_is_refused(data: bytes, place: str, message: str, hint: str, tmp_path: Path) -> None:
    path = written(tmp_path, data)
    error = refusal(lambda: read_json(path, ANSWERS, hint=HINT))
    assert (error.where, error.hint) == (f"{path}{place}", hint) and error.message.startswith(message)


# Any document -----------------------------------------------------------------------------------------------------

# Every key and every leaf begins with a mark of its own, such as <17>, which says on which line it stands.
letters = st.text(st.sampled_from("ab é\u0301क:#'\"-?{[,&*!%|>\n"), max_size=100)
trees = st.recursive(
    letters,
    lambda inner: st.lists(inner, min_size=1, max_size=4) | st.lists(st.tuples(letters, inner), min_size=1, max_size=4),
    max_leaves=15,
)


def marked(tree: Any, numbers: Iterator[int]) -> Any:
    """The tree with lists of pairs as mappings and a mark at the start of every text, in the order of the file."""
    if isinstance(tree, str):
        return f"<{next(numbers)}>{tree}"
    if isinstance(tree[0], tuple):
        return {marked(key, numbers): marked(value, numbers) for key, value in tree}
    return [marked(value, numbers) for value in tree]


def places(value: Any, key: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every key below a value, and the text that begins where it does."""
    if isinstance(value, dict):
        for name, below in value.items():
            yield (*key, key_name(name)), name
            yield from places(below, (*key, key_name(name)))
    elif isinstance(value, list):
        for number, below in enumerate(value):
            first = below
            while not isinstance(first, str):
                first = next(iter(first))
            yield (*key, str(number)), first
            yield from places(below, (*key, str(number)))


@pytest.mark.whole
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(letters, trees), min_size=1, max_size=4),
    st.sampled_from([2, 5]),
    st.sampled_from([20, 80, 10_000]),
    st.booleans(),
)
def test_the_line_of_every_key(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, Any]], indent: int, width: int, unicode: bool
) -> None:
    content = marked(pairs, itertools.count())
    text = yaml.safe_dump(
        content, default_flow_style=False, sort_keys=False, indent=indent, width=width, allow_unicode=unicode
    )
    document = read_yaml(written(tmp_path_factory.getbasetemp(), text))
    # Not always equal to what was dumped: PyYAML alters some texts that it breaks over lines.
    assert document.content == yaml.load(text, Loader)
    keys = list(places(document.content))
    assert len(keys) == len(list(places(content)))
    lines = text.split("\n")
    for key, start in keys:
        mark = start[: start.index(">") + 1]
        (line,) = (number for number, written_line in enumerate(lines, 1) if mark in written_line)
        assert document.line(key) == line, (key, text)
        assert document.line((*key, "not there")) == line


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(letters, st.lists(st.integers()), max_size=4))
def test_json_equals_the_standard_library_up_to_the_form_of_keys(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, list[int]]
) -> None:
    path = written(tmp_path_factory.getbasetemp(), json.dumps(content))
    names = [key_name(name) for name in content]
    numbers = TypeAdapter(dict[str, list[int]])
    if len(set(names)) < len(names):
        error = refusal(lambda: read_json(path, numbers, hint=HINT))
        assert error.message == "the key appears twice in one object" and names.count(str(error.field)) > 1
    else:
        assert read_json(path, numbers, hint=HINT) == dict(zip(names, content.values(), strict=True))


def test_merged_keys_may_be_overridden(tmp_path: Path) -> None:
    document = read_yaml(written(tmp_path, "base: &b {x: 1, y: 2}\nmine:\n  <<: *b\n  x: 3\n"))
    assert document.content["mine"] == {"x": 3, "y": 2}
    assert document.line(("mine", "x")) == 4


@pytest.mark.whole
def test_many_aliases_and_deep_nesting_end_soon(tmp_path: Path) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 40)]
    merged = ["a0: &a0 {" + ", ".join(f"k{n}: 1" for n in range(9)) + "}"]
    merged += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 40)]
    for text, line, message in (
        ("\n".join(levels), 6, "contains aliases that repeat more than 100,000 values"),
        ("\n".join(merged), 5, "contains aliases that repeat more than 100,000 values"),
        ("a:\n" + " [\n" * 20_000, 103, "is nested more than 100 levels deep"),
        ("a:\n" + "\n".join(" " * i + "b:" for i in range(1, 3_000)), 101, "is nested more than 100 levels deep"),
    ):
        path = written(tmp_path, text + "\n")
        error = refusal(lambda path=path: read_yaml(path))  # type: ignore[misc]
        assert (error.line, error.message) == (line, message)


def test_a_document_of_absurd_size_is_not_begun(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    with path.open("wb") as stream:
        stream.truncate(1 << 33)  # eight gigabytes of nothing, which take no place
    assert refusal(lambda: read_yaml(path)).message == "is larger than 16 MiB"


@pytest.mark.parametrize("key", ["[None]", "[MASK]", "[key]", "[]"])
def test_an_unknown_key_in_brackets_is_one(tmp_path: Path, key: str) -> None:
    path = written(tmp_path, f"text: a\n'{key}': 1\n")
    refusal(lambda: read_document(path, Context, hint=HINT))

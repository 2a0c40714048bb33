"""Stimuli of association tests: two sets of targets (X, Y), two of attributes (A, B), and the sentences they stand in.

A set is a directory with `set.yaml` (see `StimuliFile`), a SEAT or CEAT file (one JSON object, see `SeatFile`: one
category, called like the file), a table with the columns category, set, word (see `TableRow`), or several of these.
"""

from __future__ import annotations

import datetime
import difflib
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, WithJsonSchema

from penchant.data.documents import as_text, read_document
from penchant.data.tables import read_models
from penchant.errors import DataError, finding
from penchant.files import sha256_file

SET_FILE = "set.yaml"
Measure = Literal["weat", "seat", "ceat", "logprob-bias"]
MEASURES: tuple[str, ...] = get_args(Measure)
Span = tuple[int, int]
_SLOT = re.compile(r"\{(target|attribute)\}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HINT = "see penchant schema stimuli"
_SEAT_HINT = "such a file is one object with targ1, targ2, attr1 and attr2, each with category and examples"

# What the files hold ----------------------------------------------------------------------------------------------


def _written(value: object) -> str:
    """A text; what YAML takes for something else is told, for a word may well be `no` or `null`."""
    if value is None or isinstance(value, bool | datetime.date):
        raise ValueError(f"a text is wanted, got {value!r}: put a word that YAML reads as something else in quotes")
    text = as_text(value)
    if _SURROGATE.search(text):
        raise ValueError("holds half of a surrogate pair")
    return text


def _with_slots(value: object, *slots: str) -> str:
    rest = text = _written(value)
    for slot in slots:
        if text.count(slot) != 1:
            raise ValueError(f"{slot} stands exactly once in the sentence, here {text.count(slot)} times: {text!r}")
        rest = rest.replace(slot, "")
    if "{" in rest or "}" in rest:
        raise ValueError(f"braces hold nothing but {' and '.join(slots)}: {text!r}")
    return text


def _key(name: str) -> str:
    """What a key is read as; two keys that are read as one thing are an error."""
    return unicodedata.normalize("NFC", name).strip()


def _several(value: object) -> object:
    return value if isinstance(value, list) else [value]


Text = Annotated[str, BeforeValidator(_written)]
Texts = Annotated[list[Text], Field(min_length=1)]
TemplateText = Annotated[str, BeforeValidator(lambda value: _with_slots(value, "{word}"))]
ContextText = Annotated[str, BeforeValidator(lambda value: _with_slots(value, "{target}", "{attribute}"))]
Groups = Annotated[
    list[Text],
    BeforeValidator(_several),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
SetLabel = Annotated[Literal["X", "Y", "A", "B"], BeforeValidator(as_text)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ListEntry(_Strict):
    """A word list; it is called like its key."""

    label: Text | None = None
    templates: Annotated[Text | None, Field(description="the family of templates its words stand in")] = None
    words: Texts


class ContextEntry(_Strict):
    """A sentence for the log-probability bias score. A slot may be followed by a suffix."""

    structure: Annotated[Text, Field(description="such as S1, from the shortest context to the longest")]
    text: Annotated[ContextText, Field(description="a sentence with one {target} and one {attribute}")]


class CategoryEntry(_Strict):
    """A category; it is called like its key. X, Y, A and B name lists."""

    label: Text | None = None
    X: Text
    Y: Text
    A: Text
    B: Text
    contexts: Annotated[Text | None, Field(description="the family of contexts")] = None
    target: Annotated[
        Literal["targets", "attributes"],
        Field(description="which sets fill the {target} slot: targets (X and Y) or attributes (A and B)"),
    ] = "targets"
    paired: Annotated[
        bool, Field(description="the words of the two lists in the {target} slot belong together by position")
    ] = False
    measures: Annotated[list[Measure], Field(min_length=1)] = list(get_args(Measure))


class SuffixesEntry(_Strict):
    """The forms in which words occur in running text. What is said of a word goes before what is said of its list."""

    file: Annotated[str | None, Field(description="a JSON file {word: [suffix, …]}, relative to this one")] = None
    groups: dict[Text, Texts] = {}
    lists: Annotated[dict[Text, Groups], Field(description="the group or groups of all words of a list")] = {}
    words: Annotated[dict[Text, Groups], Field(description="the group or groups of a word; [] for none")] = {}


class StimuliFile(_Strict):
    """`set.yaml`. Paths are relative to it."""

    name: Text | None = None
    language: Annotated[str, Field(description="BCP 47 tag, such as en or bn")] = "und"
    statement: Annotated[str | None, Field(description="the data statement")] = None
    lists: dict[Text, ListEntry]
    templates: Annotated[
        dict[Text, Annotated[list[TemplateText], Field(min_length=1)]],
        Field(description="families of sentences with one {word}"),
    ] = {}
    contexts: dict[Text, Annotated[list[ContextEntry], Field(min_length=1)]] = {}
    categories: Annotated[dict[Text, CategoryEntry], Field(min_length=1)]
    suffixes: SuffixesEntry = SuffixesEntry()


class SeatSet(_Strict):
    category: Text
    examples: Texts


class SeatFile(_Strict):
    """A SEAT or CEAT file, one JSON object; the examples are words or sentences."""

    targ1: SeatSet
    targ2: SeatSet
    attr1: SeatSet
    attr2: SeatSet


class TableRow(BaseModel):
    """A row of a table of words; further columns are not looked at."""

    category: Text
    set: SetLabel
    word: Text
    label: Annotated[Text | None, Field(description="what the set is called")] = None


def schemas() -> dict[str, Any]:
    """The JSON schemas of `set.yaml`, of a SEAT or CEAT file, and of a row of a table."""
    models: Mapping[str, type[BaseModel]] = {SET_FILE: StimuliFile, "seat": SeatFile, "table": TableRow}
    return {name: model.model_json_schema() for name, model in models.items()}


# What was read ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WordList:
    """A list of words and the sentences, each with one {word}, that they stand in."""

    name: str
    label: str
    words: tuple[str, ...]
    templates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """A sentence with one {target} and one {attribute}, in either order."""

    structure: str
    text: str

    def sentence(self, target: str, attribute: str) -> tuple[str, Span, Span]:
        """The sentence with both slots filled, and where the characters of target and attribute are."""
        words = {"target": target, "attribute": attribute}
        spans: dict[str, Span] = {}
        text = ""
        for i, part in enumerate(_SLOT.split(self.text)):  # every other part is the name of a slot
            added = words[part] if i % 2 else part
            if i % 2:
                spans[part] = (len(text), len(text) + len(added))
            text += added
        return text, spans["target"], spans["attribute"]


@dataclass(frozen=True, slots=True)
class Category:
    """Targets X and Y, attributes A and B. `target` says which of them fill the {target} slot of the contexts."""

    id: str
    label: str
    x: WordList
    y: WordList
    a: WordList
    b: WordList
    contexts: tuple[Context, ...] = ()
    target: Literal["targets", "attributes"] = "targets"
    paired: bool = False
    measures: tuple[str, ...] = MEASURES
    place: str = ""

    def lists(self) -> tuple[WordList, WordList, WordList, WordList]:
        """X, Y, A, B."""
        return self.x, self.y, self.a, self.b

    def repeated(self) -> list[str]:
        """Words that occur twice in X and Y together, or twice in A and B together."""
        found: list[str] = []
        for one, other in ((self.x, self.y), (self.a, self.b)):
            words = one.words + other.words
            found += [word for word in words if words.count(word) > 1]
        return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class StimulusSet:
    """Categories as they were read, and the suffixes each word may take. `sha256` is the hash of all files."""

    name: str
    language: str
    categories: tuple[Category, ...]
    suffixes: Mapping[str, tuple[str, ...]]
    files: tuple[Path, ...]
    sha256: str

    def words(self) -> list[str]:
        """Every distinct word, in order."""
        return list(dict.fromkeys(word for c in self.categories for words in c.lists() for word in words.words))

    def forms(self, word: str) -> tuple[str, ...]:
        """The word and the word with each of its suffixes, in NFC."""
        forms = (word + suffix for suffix in ("", *self.suffixes.get(word, ())))
        return tuple(dict.fromkeys(unicodedata.normalize("NFC", form) for form in forms))


# Reading ----------------------------------------------------------------------------------------------------------


def read_stimuli(path: str | Path | Sequence[str | Path]) -> StimulusSet:
    """The stimuli of a directory with `set.yaml`, of a file, or of several of these together.

    Raises DataError naming file, line and key.
    """
    paths = [path] if isinstance(path, str | Path) else path
    if not paths:
        raise DataError("no file of stimuli is named", hint="name a directory, a file or several of them")
    sets = [_read(Path(one)) for one in paths]
    languages = list(dict.fromkeys(s.language for s in sets if s.language != "und")) or ["und"]
    if len(languages) > 1:
        other = next(s for s in sets if s.language == languages[1])
        message = f"the stimuli are in more than one language: {', '.join(languages)}"
        raise DataError(message, file=other.files[0])
    categories = tuple(category for s in sets for category in s.categories)
    first: dict[str, str] = {}
    for category in categories:
        if category.id in first:
            message = f"category '{category.id}' occurs twice, first in {first[category.id]}"
            raise DataError(message, where=category.place)
        first[category.id] = category.place
    suffixes: dict[str, tuple[str, ...]] = {}
    for s in sets:
        for word, own in s.suffixes.items():
            suffixes[word] = tuple(dict.fromkeys((*suffixes.get(word, ()), *own)))
    files = tuple(file for s in sets for file in s.files)
    return StimulusSet("+".join(s.name for s in sets), languages[0], categories, suffixes, files, _hash(files))


def _read(place: Path) -> StimulusSet:
    if not place.exists():
        raise DataError("no such file or directory", file=place)
    if place.is_dir():
        if not (place / SET_FILE).is_file():
            raise DataError(f"the directory holds no {SET_FILE}", file=place, hint=_HINT)
        place = place / SET_FILE
    suffix = place.suffix.lower()
    if suffix in (".yaml", ".yml"):
        return _read_yaml(place)
    if suffix in (".json", ".jsonl"):
        categories = _seat(place)
    elif suffix in (".csv", ".tsv"):
        categories = _table(place)
    else:
        raise DataError("is no file of stimuli", file=place, hint="its name ends in .yaml, .json, .jsonl, .csv or .tsv")
    return StimulusSet(place.stem, "und", categories, {}, (place,), _hash([place]))


def _hash(files: Iterable[Path]) -> str:
    return hashlib.sha256("".join(sha256_file(file) for file in files).encode()).hexdigest()


# set.yaml


def _read_yaml(path: Path) -> StimulusSet:
    given = read_document(path, StimuliFile, hint=_HINT)
    _refuse_repeated_keys(path)
    lists = {
        name: WordList(name, entry.label or name, tuple(entry.words), _family(given, name, path))
        for name, entry in given.lists.items()
    }
    categories = tuple(_category(id_, entry, lists, given, path) for id_, entry in given.categories.items())
    files = (path,) if given.suffixes.file is None else (path, path.parent / given.suffixes.file)
    suffixes = _suffixes(given.suffixes, lists, path)
    own_name = path.absolute().parent.name if path.name == SET_FILE else path.stem
    return StimulusSet(given.name or own_name, given.language, categories, suffixes, files, _hash(files))


def _refuse_repeated_keys(path: Path) -> None:
    """Raise DataError for a key that occurs twice in a mapping, of which YAML would keep the last in silence."""
    nodes = [yaml.compose(path.read_text("utf-8"), Loader=yaml.SafeLoader)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.SequenceNode):
            nodes += node.value
        elif isinstance(node, yaml.MappingNode):
            lines: dict[str, int] = {}
            for key, value in node.value:
                name, line = _key(str(key.value)), key.start_mark.line + 1
                if name in lines:
                    message = f"the key occurs twice, first on line {lines[name]}"
                    raise DataError(message, file=path, line=line, field=name)
                lines[name] = line
                nodes.append(value)


_Known = TypeVar("_Known")


def _named(what: str, name: str, known: Mapping[str, _Known], where: str) -> _Known:
    """What a name stands for. Raises DataError where it stands for nothing."""
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(known) or 'none'}"
    raise DataError(f"there is no {what} '{name}'", where=where, hint=hint)


def _family(given: StimuliFile, name: str, path: Path) -> tuple[str, ...]:
    """The templates of a list."""
    family = given.lists[name].templates
    if family is None:
        return ()
    return tuple(_named("family of templates", family, given.templates, f"{path}, lists.{name}.templates"))


def _category(
    id_: str, entry: CategoryEntry, lists: Mapping[str, WordList], given: StimuliFile, path: Path
) -> Category:
    place = f"{path}, categories.{id_}"
    names = {"X": entry.X, "Y": entry.Y, "A": entry.A, "B": entry.B}
    x, y, a, b = (_named("list", name, lists, f"{place}.{key}") for key, name in names.items())
    contexts: list[ContextEntry] = []
    if entry.contexts is not None:
        contexts = _named("family of contexts", entry.contexts, given.contexts, f"{place}.contexts")
    one, other = (x, y) if entry.target == "targets" else (a, b)
    if entry.paired and len(one.words) != len(other.words):
        counts = f"'{one.name}' has {len(one.words)} and '{other.name}' has {len(other.words)}"
        raise DataError(f"paired lists have as many words each, {counts}", where=f"{place}.paired")
    sentences = tuple(Context(context.structure, context.text) for context in contexts)
    measures = tuple(measure for measure in MEASURES if measure in entry.measures)
    own = (sentences, entry.target, entry.paired, measures, place)
    return Category(id_, entry.label or id_, x, y, a, b, *own)


def _suffixes(entry: SuffixesEntry, lists: Mapping[str, WordList], path: Path) -> dict[str, tuple[str, ...]]:
    """The suffixes of each word: of its lists, unless the file or, before it, the word's own groups say otherwise."""

    def of(groups: Iterable[str], where: str) -> list[str]:
        return [s for group in groups for s in _named("group of suffixes", group, entry.groups, where)]

    found: dict[str, list[str]] = {}
    for name, groups in entry.lists.items():
        where = f"{path}, suffixes.lists.{name}"
        for word in _named("list", name, lists, where).words:
            found.setdefault(word, []).extend(of(groups, where))
    if entry.file is not None:
        found |= _checked(path.parent / entry.file, TypeAdapter(dict[Text, list[Text]]), "it holds {word: [suffix, …]}")
    words = {word: None for own in lists.values() for word in own.words}
    for word, groups in entry.words.items():
        where = f"{path}, suffixes.words.{word}"
        _named("word", word, words, where)
        found[word] = of(groups, where)
    return {word: tuple(own) for word, own in found.items()}


# JSON


class _RepeatedError(ValueError):
    """The message is the name that an object holds twice."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = {_key(name): value for name, value in pairs}
    if len(found) < len(pairs):
        names = [_key(name) for name, _ in pairs]
        raise _RepeatedError(next(name for name in names if names.count(name) > 1))
    return found


_Checked = TypeVar("_Checked")


def _checked(file: Path, wanted: TypeAdapter[_Checked], hint: str) -> _Checked:
    """The one JSON value a file holds, as what is wanted."""
    try:
        return wanted.validate_python(json.loads(file.read_text("utf-8-sig"), object_pairs_hook=_once))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=file) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataError("is not UTF-8", file=file, line=line, hint="save it as UTF-8") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(finding(first), where=f"{file}, {field}" if field else str(file), hint=hint) from error
    except json.JSONDecodeError as error:
        raise DataError(f"is not one JSON object: {error.msg}", file=file, line=error.lineno, hint=hint) from error
    except _RepeatedError as error:
        raise DataError("the key occurs twice in one object", file=file, field=str(error)) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; thousands of brackets
        raise DataError(f"is not JSON: {error}", file=file, hint=hint) from error


def _seat(file: Path) -> tuple[Category, ...]:
    found = _checked(file, TypeAdapter(SeatFile), _SEAT_HINT)
    sets = (found.targ1, found.targ2, found.attr1, found.attr2)
    x, y, a, b = (WordList(s.category, s.category, tuple(s.examples)) for s in sets)
    return (Category(file.stem, file.stem, x, y, a, b, place=str(file)),)


# Tables


def _table(file: Path) -> tuple[Category, ...]:
    rows = read_models(file, TableRow)
    if not rows:
        raise DataError("holds no rows", file=file)
    first = {row.category: line for line, row in reversed(rows)}
    order = dict.fromkeys(row.category for _, row in rows)
    return tuple(_of_rows(id_, first[id_], [r for r in rows if r[1].category == id_], file) for id_ in order)


def _of_rows(id_: str, line: int, rows: list[tuple[int, TableRow]], file: Path) -> Category:
    words: dict[str, list[str]] = {key: [] for key in "XYAB"}
    labels: dict[str, str] = {}
    for at, row in rows:
        words[row.set].append(row.word)
        if row.label and labels.setdefault(row.set, row.label) != row.label:
            message = f"set {row.set} of category '{id_}' is called '{labels[row.set]}' before"
            raise DataError(message, file=file, line=at, field="label")
    missing = [key for key, own in words.items() if not own]
    if missing:
        message = f"category '{id_}' has no words of set {' and '.join(missing)}"
        raise DataError(message, file=file, line=line, field="set", hint="the sets are X, Y, A and B")
    x, y, a, b = (WordList(labels.get(key, key), labels.get(key, key), tuple(own)) for key, own in words.items())
    return Category(id_, id_, x, y, a, b, place=f"{file}, line {line}")

"""Stimuli of association tests: targets (X, Y), attributes (A, B), and sentence templates for them."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter

from penchant.call_checks import asked, kind
from penchant.corpus.slot_templates import Span, filled
from penchant.corpus.stimuli_from_python import AS_NAMED, file_of_set, word_rows
from penchant.corpus.stimulus_files import (
    MEASURES,
    SET_FILE,
    CategoryEntry,
    ContextEntry,
    Name,
    SeatFile,
    SeatSet,
    StimuliFile,
    SuffixesEntry,
    TableRow,
    Text,
)
from penchant.errors import DataError, place
from penchant.files import join_names, sha256_file
from penchant.plurals import counted
from penchant.tables.data_cautions import counted_apart
from penchant.tables.documents import read_document, read_json
from penchant.tables.in_memory import file_of, is_table, plain
from penchant.tables.rows import read_models
from penchant.text_io import exists, is_directory, named_sheet, stem
from penchant.unicode_spellings import canonical, equivalent

_SLOT = re.compile(r"\{(target|attribute)\}")
_HINT = "see penchant schema stimuli"
_SEAT_HINT = "such a file is one object with targ1, targ2, attr1 and attr2, each with category and examples"
_SUFFIXES = TypeAdapter(dict[Name, list[Text]])

# Stimuli -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WordList:
    """List of words, and the sentence templates with one {word} slot that they fill.

    The `words` of a SEAT file may be whole sentences; `behind` then has the stimulus word of each sentence, if the file
    declares it.
    """

    name: str
    label: str
    words: tuple[str, ...]
    templates: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()

    def sentences_alone(self) -> bool:
        """Return True if most entries are sentences and their stimulus words are not declared."""
        return not self.behind and not self.bare() and not self.templates

    def bare(self) -> bool:
        """Return True if at least half of the entries are single words and there are no templates."""
        return not self.templates and 2 * sum(" " in word.strip() for word in self.words) <= len(self.words)


@dataclass(frozen=True, slots=True)
class Context:
    """Sentence template with one {target} and one {attribute} slot, in either order."""

    structure: str
    text: str

    def sentence(self, target: str, attribute: str) -> tuple[str, Span, Span]:
        """Return the sentence with both slots filled, and the spans (start, end) of target and attribute."""
        text, spans = filled(_SLOT, self.text, {"target": target, "attribute": attribute})
        return text, spans["target"], spans["attribute"]


@dataclass(frozen=True, slots=True)
class Category:
    """Category of an association test: target lists X and Y, attribute lists A and B.

    `target` determines which lists fill the {target} slot of the contexts; `control` is the id of the category whose
    effect size is subtracted ("" for none).
    """

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
    control: str = ""

    def lists(self) -> tuple[WordList, WordList, WordList, WordList]:
        """Return the lists X, Y, A and B."""
        return self.x, self.y, self.a, self.b

    def labels(self) -> dict[str, str]:
        """Return the label of each list, keyed by set (X, Y, A, B)."""
        return {side: part.label for side, part in zip("XYAB", self.lists(), strict=True)}

    def repeated(self) -> list[str]:
        """Return the words that occur more than once in X and Y together, or in A and B together."""
        repeated: list[str] = []
        for first, second in ((self.x, self.y), (self.a, self.b)):
            words = first.words + second.words
            counts = Counter(map(canonical, words))
            repeated += [word for word in words if counts[canonical(word)] > 1]
        return list(dict.fromkeys(repeated))

    def cautions(self) -> Iterator[str]:
        """Yield cautions about words of X and Y, or of A and B, that look alike but are spelt differently."""
        for first, second in ((self.x, self.y), (self.a, self.b)):
            yield from counted_apart(map(canonical, first.words + second.words), f"words of {self.id}")


@dataclass(frozen=True, slots=True, repr=False)
class StimulusSet:
    """Set of categories, with the suffixes of each word (keyed by the word in NFC) and the hash of all files."""

    name: str
    language: str
    categories: tuple[Category, ...]
    suffixes: Mapping[str, tuple[str, ...]]
    files: tuple[Path, ...]
    sha256: str

    def __repr__(self) -> str:
        return (
            f"<stimuli {self.name}: {counted(len(self.categories), 'categories')}, "
            f"{counted(len(self.words()), 'words')}>"
        )

    def words(self) -> list[str]:
        """Return the distinct words of all categories, in order of first occurrence."""
        return list(dict.fromkeys(word for c in self.categories for words in c.lists() for word in words.words))

    def forms(self, word: str) -> tuple[str, ...]:
        """Return a word's forms in NFC: the word itself, and the word with each of its suffixes."""
        return tuple(dict.fromkeys(canonical(word + suffix) for suffix in ("", *self.endings(word))))

    def endings(self, word: str) -> tuple[str, ...]:
        """Return the suffixes of a word, which may have any canonically equivalent spelling."""
        return self.suffixes.get(canonical(word), ())


# Reading ----------------------------------------------------------------------------------------------------------


@asked
def read_stimuli(path: Any, columns: Mapping[Any, str] = AS_NAMED) -> StimulusSet:
    """Read stimuli from a directory, files or Python data.

    `path` is a directory with `set.yaml` (see `StimuliFile`), a SEAT or CEAT file (`SeatFile`), a table (`TableRow`), a
    list of these, or Python data: lists keyed by set (X, Y, A, B), such mappings keyed by category, rows, columns or a
    frame, or a mapping with the contents of a `set.yaml`. `columns` maps category, set, word or label to the names of a
    table's columns if they differ. If a word has several canonically equivalent spellings, the first replaces the
    others. Raises DataError with the file, line and key if the stimuli are invalid.
    """
    listed = [path] if isinstance(path, str | Path) else plain(path)
    document = file_of_set(listed)
    paths = listed if document is None else [document]
    if is_table(paths):
        paths = [file_of(word_rows(paths, columns), suffix=".csv")]
    elif not isinstance(paths, list):
        raise DataError(
            f"{kind(path)} is neither a file nor a table", where="stimuli", hint="give a file name or the words"
        )
    if not paths:
        raise DataError("no stimuli are given", hint="give a directory or one or more files")
    sets = [_read(Path(source), columns) for source in paths]
    languages = list(dict.fromkeys(s.language for s in sets if s.language != "und")) or ["und"]
    if len(languages) > 1:
        second = next(s for s in sets if s.language == languages[1])
        message = f"the stimuli are in more than one language: {', '.join(languages)}"
        raise DataError(message, file=second.files[0])
    categories = _spelled_alike([category for s in sets for category in s.categories])
    first: dict[str, str] = {}
    for category in categories:
        if category.id in first:
            message = f"category '{category.id}' appears twice, first in {first[category.id]}"
            raise DataError(message, where=category.place)
        first[category.id] = category.place
    suffixes: dict[str, tuple[str, ...]] = {}
    for s in sets:
        for word, added in s.suffixes.items():
            suffixes[word] = tuple(dict.fromkeys((*suffixes.get(word, ()), *added)))
    files = tuple(file for s in sets for file in s.files)
    return StimulusSet(join_names(s.name for s in sets), languages[0], categories, suffixes, files, _hash(files))


def _spelled_alike(categories: Sequence[Category]) -> tuple[Category, ...]:
    """Replace canonically equivalent spellings of a word by the first one."""
    lists = [part for category in categories for part in category.lists()]
    spelled = equivalent(word for part in lists for word in (*part.words, *part.behind))

    def alike(part: WordList) -> WordList:
        words, behind = (tuple(spelled[canonical(word)] for word in listed) for listed in (part.words, part.behind))
        return replace(part, words=words, behind=behind)

    return tuple(
        replace(category, x=alike(category.x), y=alike(category.y), a=alike(category.a), b=alike(category.b))
        for category in categories
    )


def _read(place: Path, columns: Mapping[Any, str]) -> StimulusSet:
    if not exists(place):
        raise DataError("no such file or directory", file=place)
    if is_directory(place):
        if not (place / SET_FILE).is_file():
            raise DataError(f"the directory does not contain {SET_FILE}", file=place, hint=_HINT)
        place = place / SET_FILE
    suffix = named_sheet(place)[0].suffix.lower()
    if suffix in (".yaml", ".yml"):
        return _read_yaml(place)
    if suffix in (".json", ".jsonl"):
        categories = _from_seat(place)
    elif suffix in (".csv", ".tsv", ".xlsx"):
        categories = _from_table(place, columns)
    else:
        raise DataError(
            "is not a stimulus file",
            file=place,
            hint="give a file whose name ends in .yaml, .json, .jsonl, .csv, .tsv or .xlsx",
        )
    return StimulusSet(stem(place), "und", categories, {}, (place,), _hash([place]))


def _hash(files: Iterable[Path]) -> str:
    return hashlib.sha256("".join(sha256_file(file) for file in files).encode()).hexdigest()


# set.yaml


def _read_yaml(path: Path) -> StimulusSet:
    document = read_document(path, StimuliFile, hint=_HINT)
    lists = {
        name: WordList(name, entry.label or name, tuple(entry.words), _family(document, name, path))
        for name, entry in document.lists.items()
    }
    categories = tuple(_category(id_, entry, lists, document, path) for id_, entry in document.categories.items())
    files = (path,) if document.suffixes.file is None else (path, path.parent / document.suffixes.file)
    suffixes = _suffixes(document.suffixes, lists, path)
    default_name = path.absolute().parent.name if path.name == SET_FILE else path.stem
    return StimulusSet(document.name or default_name, document.language, categories, suffixes, files, _hash(files))


_Known = TypeVar("_Known")


def _look_up(what: str, name: str, known: Mapping[str, _Known], where: str) -> _Known:
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(known) or 'none'}"
    raise DataError(f"there is no {what} '{name}'", where=where, hint=hint)


def _family(document: StimuliFile, name: str, path: Path) -> tuple[str, ...]:
    family = document.lists[name].templates
    if family is None:
        return ()
    return tuple(_look_up("family of templates", family, document.templates, f"{path}, lists.{name}.templates"))


def _category(
    id_: str, entry: CategoryEntry, lists: Mapping[str, WordList], document: StimuliFile, path: Path
) -> Category:
    place = f"{path}, categories.{id_}"
    names = {"X": entry.X, "Y": entry.Y, "A": entry.A, "B": entry.B}
    x, y, a, b = (_look_up("list", name, lists, f"{place}.{key}") for key, name in names.items())
    contexts: list[ContextEntry] = []
    if entry.contexts is not None:
        contexts = _look_up("family of contexts", entry.contexts, document.contexts, f"{place}.contexts")
    first, second = (x, y) if entry.target == "targets" else (a, b)
    if entry.paired and len(first.words) != len(second.words):
        counts = f"'{first.name}' has {len(first.words)} and '{second.name}' has {len(second.words)}"
        raise DataError(f"paired lists must have the same number of words, but {counts}", where=f"{place}.paired")
    sentences = tuple(Context(context.structure, context.text) for context in contexts)
    measures = tuple(measure for measure in MEASURES if measure in entry.measures)
    control = entry.control or ""
    if control:
        other = _look_up("category", control, document.categories, f"{place}.control")
        if other is entry or other.control:
            problem = "cannot be its own control" if other is entry else "has a control of its own"
            raise DataError(f"category '{control}' {problem}", where=f"{place}.control", hint="choose another category")
    label = entry.label or id_
    return Category(id_, label, x, y, a, b, sentences, entry.target, entry.paired, measures, place, control)


def _suffixes(entry: SuffixesEntry, lists: Mapping[str, WordList], path: Path) -> dict[str, tuple[str, ...]]:
    """Return the suffixes of each word: from its own groups, else from the suffix file, else from its lists' groups."""

    def of(groups: Iterable[str], where: str) -> list[str]:
        return [s for group in groups for s in _look_up("group of suffixes", group, entry.groups, where)]

    result: dict[str, list[str]] = {}
    for name, groups in entry.lists.items():
        where = f"{path}, suffixes.lists.{name}"
        for word in _look_up("list", name, lists, where).words:
            result.setdefault(canonical(word), []).extend(of(groups, where))
    if entry.file is not None:
        from_file: dict[str, list[str]] = read_json(
            path.parent / entry.file, _SUFFIXES, hint="give a JSON object of the form {word: [suffix, …]}"
        )
        result |= from_file
    words = {canonical(word): None for word_list in lists.values() for word in word_list.words}
    for word, groups in entry.words.items():
        where = f"{path}, suffixes.words.{word}"
        _look_up("word", word, words, where)
        result[word] = of(groups, where)
    return {word: tuple(of_word) for word, of_word in result.items()}


# SEAT and CEAT


def _from_seat(file: Path) -> tuple[Category, ...]:
    document = read_json(file, TypeAdapter(SeatFile), hint=_SEAT_HINT)
    sets = (document.targ1, document.targ2, document.attr1, document.attr2)
    keys = ("targ1", "targ2", "attr1", "attr2")
    x, y, a, b = (
        WordList(s.category, s.category, tuple(s.examples), behind=_behind(s, f"{file}, {key}"))
        for key, s in zip(keys, sets, strict=True)
    )
    return (Category(file.stem, file.stem, x, y, a, b, place=str(file)),)


def _behind(entry: SeatSet, where: str) -> tuple[str, ...]:
    """Return the stimulus word of each example. Raises DataError if an example contains none of the words.

    If there are as many words as examples, it is the word at the same position; otherwise, it is the longest word with
    which a word of the example begins.
    """
    if entry.words is None or len(entry.words) == len(entry.examples):
        return tuple(entry.words or ())
    known = sorted(((_folded(word), word) for word in entry.words), key=lambda pair: (-len(pair[0]), pair[0]))
    behind = []
    for example in entry.examples:
        text = f" {_folded(example)}"
        held = [word for folded, word in known if re.search(rf"(?<!\w){re.escape(folded)}", text)]
        if not held:
            raise DataError(
                f"'{example}' contains none of the {counted(len(entry.words), 'words')}",
                where=where,
                field="words",
                hint="add the word, or give one word for each example",
            )
        behind.append(held[0])
    return tuple(behind)


def _folded(text: str) -> str:
    return canonical(text).casefold()


# Tables


def _from_table(file: Path, columns: Mapping[Any, str]) -> tuple[Category, ...]:
    rows = read_models(file, TableRow, columns=columns)
    if not rows:
        raise DataError("contains no rows", file=file)
    first = {row.category: line for line, row in reversed(rows)}
    order = dict.fromkeys(row.category for _, row in rows)
    return tuple(_from_rows(id_, first[id_], [r for r in rows if r[1].category == id_], file) for id_ in order)


def _from_rows(id_: str, line: int, rows: list[tuple[int, TableRow]], file: Path) -> Category:
    words: dict[str, list[str]] = {key: [] for key in "XYAB"}
    labels: dict[str, str] = {}
    for number, row in rows:
        words[row.set].append(row.word)
        if row.label and labels.setdefault(row.set, row.label) != row.label:
            message = f"set {row.set} of category '{id_}' has the label '{labels[row.set]}' in an earlier row"
            raise DataError(message, file=file, line=number, field="label")
    missing = [key for key, members in words.items() if not members]
    if missing:
        message = f"category '{id_}' has no words of set {' and '.join(missing)}"
        raise DataError(message, file=file, line=line, field="set", hint="the sets are X, Y, A and B")
    x, y, a, b = (
        WordList(labels.get(key, key), labels.get(key, key), tuple(members)) for key, members in words.items()
    )
    return Category(id_, id_, x, y, a, b, place=place(file, line))

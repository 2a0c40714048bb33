"""Stimuli of association tests: targets (X, Y), attributes (A, B), and sentence templates for them."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from penchant.call_checks import asked, kind
from penchant.corpus.association_categories import Category, Context, WordList
from penchant.corpus.seat_files import SUFFIX_HINT, SUFFIXES, read_folder, read_seat, read_word_lines
from penchant.corpus.stimuli_from_python import AS_NAMED, file_of_set, word_rows
from penchant.corpus.stimulus_file_models import (
    MEASURES,
    SET_FILE,
    CategoryEntry,
    ContextEntry,
    StimuliFile,
    SuffixesEntry,
    TableRow,
)
from penchant.errors import DataError, place
from penchant.files import join_names, sha256_file
from penchant.plurals import counted
from penchant.tables.in_memory import file_of, is_table, plain
from penchant.tables.rows import read_models
from penchant.tables.yaml_json_documents import read_document, read_json
from penchant.text_io import exists, is_directory, named_sheet, stem
from penchant.unicode_spellings import canonical, equivalent

_HINT = "see penchant schema stimuli"

# Stimuli -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class StimulusSet:
    """Set of categories, with the suffixes of each word (keyed by the word in NFC) and the hash of all files.

    `traits` has a list of positive and a list of negative words, which belong to no category, or is empty.
    """

    name: str
    language: str
    categories: tuple[Category, ...]
    suffixes: Mapping[str, tuple[str, ...]]
    files: tuple[Path, ...]
    sha256: str
    traits: tuple[tuple[str, ...], ...] = ()

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
        """Return the suffixes of a word; all canonically equivalent spellings of a word have the same suffixes."""
        return self.suffixes.get(canonical(word), ())


# Reading ----------------------------------------------------------------------------------------------------------


@asked
def read_stimuli(path: Any, columns: Mapping[Any, str] = AS_NAMED) -> StimulusSet:
    """Read stimuli from a directory, files or Python data.

    `path` is a directory with `set.yaml` (see `StimuliFile`) or with SEAT or CEAT files (`SeatFile`), one such file, a
    table file (`TableRow`), a list of such paths, or Python data. Python data are lists keyed by set (X, Y, A, B) or by
    category and set, a table as rows, columns or a data frame, or a mapping with the contents of a `set.yaml`.
    `columns` maps category, set, word or label to the names of a table's columns if they differ. If a word has several
    canonically equivalent spellings, the first replaces the others. Raises DataError with the file, line and key if the
    stimuli are invalid.
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
    name, traits = join_names(s.name for s in sets), next((s.traits for s in sets if s.traits), ())
    return StimulusSet(name, languages[0], categories, suffixes, files, _hash(files), traits)


def with_contexts(stimuli: StimulusSet, source: StimulusSet) -> StimulusSet:
    """Return the stimuli with contexts from `source` for categories without contexts; the files of `source` are added.

    A category takes the contexts of the category with the same name, or else of the first whose name ends with the same
    number (ceat1 takes those of C1). If the stimuli have traits, each further category of `source` whose targets are
    paired is added, with the traits as its attributes.
    """
    named = {category.id: category for category in reversed(source.categories)}
    numbered = {_last_number(category.id): category for category in reversed(source.categories)} | {"": None}
    categories = []
    for category in stimuli.categories:
        other = named.get(category.id, numbered.get(_last_number(category.id)))
        if other is not None and not category.contexts:
            category = replace(category, contexts=other.contexts, target=other.target)
        categories.append(category)
    known = {category.id for category in categories}
    for category in source.categories if stimuli.traits else ():
        if category.paired and category.target == "targets" and category.id not in known:
            positive, negative = stimuli.traits
            a, b = replace(category.a, words=positive), replace(category.b, words=negative)
            categories.append(replace(category, a=a, b=b, control=""))
    return replace(
        stimuli,
        language=source.language if stimuli.language == "und" else stimuli.language,
        categories=_spelled_alike(categories),
        files=(*stimuli.files, *source.files),
    )


def _last_number(name: str) -> str:
    return name[len(name.rstrip("0123456789")) :]


def _spelled_alike(categories: Sequence[Category]) -> tuple[Category, ...]:
    """Return the categories with all canonically equivalent spellings of a word replaced by the first spelling."""
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
            return _released(place)
        place = place / SET_FILE
    suffix = named_sheet(place)[0].suffix.lower()
    if suffix in (".yaml", ".yml"):
        return _read_yaml(place)
    if suffix in (".json", ".jsonl"):
        categories = read_seat(place)
    elif suffix in (".csv", ".tsv", ".xlsx"):
        categories = _from_table(place, columns)
    else:
        raise DataError(
            "is not a stimulus file",
            file=place,
            hint="give a file whose name ends in .yaml, .json, .jsonl, .csv, .tsv or .xlsx",
        )
    return StimulusSet(stem(place), "und", categories, {}, (place,), _hash([place]))


def _released(folder: Path) -> StimulusSet:
    """Read a folder of SEAT or CEAT files as their authors publish them, with suffixes and traits if there are any."""
    files, of_words, of_traits = read_folder(folder)
    if not files:
        raise DataError(f"the directory contains neither {SET_FILE} nor SEAT or CEAT files", file=folder, hint=_HINT)
    categories = tuple(category for file in files for category in read_seat(file))
    suffixes = {
        word: tuple(added) for file in of_words for word, added in read_json(file, SUFFIXES, hint=SUFFIX_HINT).items()
    }
    known = {canonical(word) for category in categories for part in category.lists() for word in part.words}
    kept = {word: added for word, added in suffixes.items() if word in known}
    read = (*files, *of_words, *of_traits)
    return StimulusSet(folder.name, "und", categories, kept, read, _hash(read), tuple(map(read_word_lines, of_traits)))


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
    """Return the suffixes of each word.

    A word has the groups of suffixes that `entry` names for the word itself, else its suffixes in the suffix file, else
    the groups that `entry` names for the lists that contain the word.
    """

    def of(groups: Iterable[str], where: str) -> list[str]:
        return [s for group in groups for s in _look_up("group of suffixes", group, entry.groups, where)]

    result: dict[str, list[str]] = {}
    for name, groups in entry.lists.items():
        where = f"{path}, suffixes.lists.{name}"
        for word in _look_up("list", name, lists, where).words:
            result.setdefault(canonical(word), []).extend(of(groups, where))
    if entry.file is not None:
        from_file: dict[str, list[str]] = read_json(path.parent / entry.file, SUFFIXES, hint=SUFFIX_HINT)
        result |= from_file
    words = {canonical(word): None for word_list in lists.values() for word in word_list.words}
    for word, groups in entry.words.items():
        where = f"{path}, suffixes.words.{word}"
        _look_up("word", word, words, where)
        result[word] = of(groups, where)
    return {word: tuple(of_word) for word, of_word in result.items()}


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
            message = f"set {row.set} of category '{id_}' has another label, '{labels[row.set]}', in an earlier row"
            raise DataError(message, file=file, line=number, field="label")
    missing = [key for key, members in words.items() if not members]
    if missing:
        message = f"category '{id_}' has no words of set {' and '.join(missing)}"
        raise DataError(message, file=file, line=line, field="set", hint="the sets are X, Y, A and B")
    x, y, a, b = (
        WordList(labels.get(key, key), labels.get(key, key), tuple(members)) for key, members in words.items()
    )
    return Category(id_, id_, x, y, a, b, place=place(file, line))

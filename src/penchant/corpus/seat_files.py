"""SEAT and CEAT files of stimuli, and folders of them as their authors publish them."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import TypeAdapter

from penchant.corpus.association_categories import Category, WordList
from penchant.corpus.stimulus_file_models import Name, SeatFile, SeatSet, Text
from penchant.errors import DataError
from penchant.plurals import counted
from penchant.tables.yaml_json_documents import read_json
from penchant.text_io import read_text
from penchant.unicode_spellings import canonical

SUFFIXES = TypeAdapter(dict[Name, list[Text]])
"""The content of a file with the suffixes of words."""
SUFFIX_HINT = "give a JSON object of the form {word: [suffix, …]}"
_SEAT_HINT = "a SEAT or CEAT file is one object with targ1, targ2, attr1 and attr2, each with category and examples"
_ANY = TypeAdapter(dict[str, object])


def read_folder(folder: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """Return a folder's files in three lists: categories (ordered by the numbers in their names), suffixes and traits.

    Traits are two files of words, positive….txt and negative….txt. JSON files whose keys are numbers are ignored.
    """
    categories, suffixes = [], []
    for file in sorted(folder.glob("*.json*"), key=lambda file: [_number(part) for part in _PARTS.split(file.name)]):
        keys = read_json(file, _ANY, hint=_SEAT_HINT).keys()
        if "targ1" in keys:
            categories.append(file)
        elif not any(key.isdecimal() for key in keys):
            suffixes.append(file)
    traits = [sorted(folder.glob(f"{kind}*.txt")) for kind in ("positive", "negative")]
    return categories, suffixes, [files[0] for files in traits] if all(len(files) == 1 for files in traits) else []


def read_word_lines(file: Path) -> tuple[str, ...]:
    """Return the words of a text file with one word per line. Raises DataError if it has no words or is not UTF-8."""
    words = tuple(line.strip() for line in read_text(file).splitlines() if line.strip())
    if not words:
        raise DataError("contains no words", file=file, hint="write one word per line")
    return words


_PARTS = re.compile(r"(\d+)")


def _number(part: str) -> tuple[int, str]:
    return (int(part), "") if part.isdecimal() else (0, part)


def read_seat(file: Path) -> tuple[Category, ...]:
    """Return the one category of a SEAT or CEAT file, named after it, in a tuple. Raises DataError if it is invalid."""
    document = read_json(file, TypeAdapter(SeatFile), hint=_SEAT_HINT)
    sets = (document.targ1, document.targ2, document.attr1, document.attr2)
    keys = ("targ1", "targ2", "attr1", "attr2")
    x, y, a, b = (
        WordList(s.category, s.category, tuple(s.examples), behind=_behind(s, f"{file}, {key}"))
        for key, s in zip(keys, sets, strict=True)
    )
    return (Category(file.stem, file.stem, x, y, a, b, place=str(file)),)


def _behind(entry: SeatSet, where: str) -> tuple[str, ...]:
    """Return the stimulus word of each example, or () if the entry declares no stimulus words.

    If there are as many words as examples, each example has the word at the same position; otherwise, it has the
    longest stimulus word that begins a word of the example. Raises DataError if an example has no such word.
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
                f"'{example}' contains no word of the list 'words', which has {counted(len(entry.words), 'words')}",
                where=where,
                field="words",
                hint="add the word, or give one word for each example",
            )
        behind.append(held[0])
    return tuple(behind)


def _folded(text: str) -> str:
    return canonical(text).casefold()

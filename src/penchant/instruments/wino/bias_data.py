"""WinoBias pairs from the published files of pro- and anti-stereotypical sentences, or from a table of pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from penchant.errors import DataError, file_name, line_noun, place
from penchant.instruments import text_defects
from penchant.instruments.text_defects import LocatedSentence, Pair
from penchant.instruments.wino.pronouns import FEMALE, MALE, difference
from penchant.plurals import first_of
from penchant.records import Item
from penchant.tables.data_cautions import name_cautions, repeated_rows
from penchant.tables.rows import lacking, read_models, read_rows
from penchant.tables.yaml_json_documents import Written
from penchant.text_io import is_directory, read_text
from penchant.wording.phrases import Note, Notes

PRO, ANTI = "pro", "anti"
TYPES = ("1", "2")
GENDERS = ("male", "female")
OCCUPATION = "occupation"
LISTS = {gender: f"{gender}_occupations.txt" for gender in GENDERS}
"""File names of the published lists of occupations."""
_PUBLISHED = re.compile(r"(?:pro|anti)_stereotyped_type[12]\.txt\.(?:dev|test)")
_SIDE = re.compile(r"(?<![a-z])(pro|anti)(?![a-z])")
_TYPE = re.compile(r"type[ _-]?([12])(?!\d)")
_NUMBERED = re.compile(r"(\d+)\s+")
_BRACKET = re.compile(r"[\[\]]")
_ARTICLE = re.compile(r"(?:the|a|an)\s+")
_SHOWN = 20
"""Maximum number of pairs that a caution lists."""
_TEXTS = ("", ".txt", ".dev", ".test")
"""The suffixes of text files; other files are tables."""
_NAMING = "name the files like pro_stereotyped_type1.txt.dev and anti_stereotyped_type1.txt.dev"
Span: TypeAlias = tuple[int, int]


class PairRow(BaseModel):
    """A row of a table of pairs; further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    pro: Written
    """The sentence whose pronoun agrees with the stereotype, with its occupation and pronoun in brackets.

    For example: [The developer] visited the hairdresser because [he] needed to cut [his] hair.
    """
    anti: Written
    """The same sentence with the other pronoun."""
    type: Annotated[int, Field(ge=1, le=2)] = 1
    """1: only meaning identifies the pronoun's referent; 2: syntax identifies it. Default: 1."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence: the numbers of its line and of its pair, its text without brackets, and the spans in brackets."""

    line: int
    number: int | None
    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class PairFiles:
    """The two files of a set of pairs, and the type of the pairs.

    For a table, `pro` and `anti` are both its path, and `type` is "", as each row of the table has its own type.
    """

    pro: Path
    anti: Path
    type: str = ""

    @property
    def names(self) -> str:
        """The names of the files, joined by "and"."""
        return " and ".join(dict.fromkeys(map(file_name, (self.pro, self.anti))))


@dataclass(frozen=True, slots=True)
class WinoBiasPairs:
    """Pairs, with the files they come from and the number of pairs left out (`refused`).

    Every item has the texts "pro" and "anti", and the labels "set" (from the file name), "type" (1 or 2), "occupation"
    (to which the pronoun refers), "gender" (of the pronoun in the pro-stereotypical sentence), "pronouns" and "listed"
    (the gender of the occupation in the lists; "" if it is in neither).
    """

    items: tuple[Item, ...]
    files: tuple[Path, ...]
    cautions: tuple[Note | str, ...]
    refused: int


def pair_files(named: Iterable[Path]) -> list[PairFiles]:
    """Match the pro- and anti-stereotypical files among files and folders, and collect the tables.

    In a folder, only files with the published names are used. Raises DataError for a text file whose name does not
    contain its side and type, or that has no partner.
    """
    pairs: dict[tuple[Path, str], dict[str, Path]] = {}
    files: list[PairFiles] = []
    for path in (file for each in named for file in _in(each)):
        sides = _SIDE.findall(path.name.lower())
        if len(sides) != 1 or not _TYPE.search(path.name.lower()):
            if path.suffix.lower() not in _TEXTS:
                files.append(PairFiles(path, path))
                continue
            raise DataError("the file name must contain pro or anti, and type1 or type2", file=path, hint=_NAMING)
        partners = pairs.setdefault((path.parent, _SIDE.sub("*", path.name.lower())), {})
        if sides[0] in partners:
            raise DataError("the file is given twice", file=path, hint="give it once")
        partners[sides[0]] = path
    for (_, name), sides_of in pairs.items():
        if len(sides_of) < 2:
            (side, path), *_ = sides_of.items()
            other = ANTI if side == PRO else PRO
            raise DataError(f"the folder has no matching file of {other} sentences", file=path, hint=_NAMING)
        kind = _TYPE.search(name)
        files.append(PairFiles(sides_of[PRO], sides_of[ANTI], kind[1] if kind else ""))
    return sorted(files, key=lambda each: each.type)


def _in(path: Path) -> list[Path]:
    if not is_directory(path):
        return [path]
    files = sorted(child for child in path.iterdir() if _PUBLISHED.fullmatch(child.name))
    if not files:
        raise DataError("the folder has no WinoBias file", file=path, hint=_NAMING)
    return files


def read_winobias(places: Sequence[Path], lists: dict[str, Path]) -> WinoBiasPairs:
    """Read pairs from files and folders; `lists` are the lists of occupations, by gender.

    Pairs that differ in more than the pronouns in brackets are left out, and cautions name them. Raises DataError
    naming file and line for files that do not match, and for invalid lines.
    """
    files = pair_files(places)
    genders = _genders(lists)
    items: list[Item] = []
    refused: list[tuple[PairFiles, dict[int, str]]] = []
    as_written: list[Pair] = []
    for each in files:
        good, bad = _pairs(each, genders, as_written)
        items += good
        refused.append((each, bad))
    _distinct(items)
    cautions: tuple[Note | str, ...] = (
        *_refused_cautions(refused, len(items)),
        *_list_cautions(items, genders),
        *text_defects.cautions(as_written, (PRO, ANTI)),
        *repeated_rows(((tuple(item.texts.values()), item.id) for item in items), "pairs"),
        *name_cautions((item.labels["occupation"] for item in items), "occupations"),
    )
    read = dict.fromkeys([*(path for each in files for path in (each.pro, each.anti)), *lists.values()])
    return WinoBiasPairs(tuple(items), tuple(read), cautions, sum(len(lines) for _, lines in refused))


def _pairs(files: PairFiles, genders: dict[str, str], as_written: list[Pair]) -> tuple[list[Item], dict[int, str]]:
    """Return the pairs of two files or a table, and the reason for each refused pair, by line.

    The sentences of the pairs are appended to `as_written`.
    """
    lines = _rows(files.pro) if files.pro == files.anti else _side_by_side(files)
    items: list[Item] = []
    refused: dict[int, str] = {}
    for pro, anti, kind in lines:
        pair = _pair(files, pro, anti, kind, genders)
        if isinstance(pair, Item):
            items.append(pair)
            sentences = _sentence(pro, files.pro), _sentence(anti, files.anti)
            as_written.append(Pair(*sentences, pair.labels["set"]))
        else:
            refused[pro.line] = pair
    if 2 * len(refused) > len(lines):
        line, why = next(iter(refused.items()))
        partner = "" if files.pro == files.anti else f" with {files.anti.name}"
        raise DataError(
            f"{len(refused)} of {len(lines)} pairs{partner} differ in more than the pronouns; the first: {why}",
            file=files.pro,
            line=line,
            hint="check that the files match line by line" if partner else "put the pronouns in brackets",
        )
    return items, refused


def _rows(path: Path) -> list[tuple[Marked, Marked, str]]:
    rows = read_models(path, PairRow)
    if not rows:
        raise DataError("contains no rows", file=path)
    return [(_marked(row.pro, line, path), _marked(row.anti, line, path), str(row.type)) for line, row in rows]


def _side_by_side(files: PairFiles) -> list[tuple[Marked, Marked, str]]:
    pro, anti = _lines(files.pro), _lines(files.anti)
    if len(pro) != len(anti):
        message = f"has {len(pro)} sentences, but {files.anti.name} has {len(anti)}; the files are paired line by line"
        raise DataError(message, file=files.pro)
    for first, second in zip(pro, anti, strict=True):
        if first.number != second.number:
            raise DataError(
                f"is numbered {first.number}, but line {second.line} of {files.anti.name} is numbered {second.number}",
                file=files.pro,
                line=first.line,
                hint="the files are paired line by line: number the lines of both files alike",
            )
    return [(first, second, files.type) for first, second in zip(pro, anti, strict=True)]


def _sentence(line: Marked, file: Path) -> LocatedSentence:
    return LocatedSentence(line.text, file_name(file), f"{line_noun(line.line)} {line.line}")


def _pair(files: PairFiles, pro: Marked, anti: Marked, kind: str, genders: dict[str, str]) -> Item | str:
    apart = difference(pro.text, anti.text)
    if isinstance(apart, str):
        return apart
    for a, b in zip(apart.first, apart.second, strict=True):
        if a not in pro.spans and b not in anti.spans:
            return f"they differ in '{pro.text[slice(*a)]}', which is not in brackets"
    occupation = _occupation(pro) or _occupation(anti)
    if not occupation:
        raise DataError("has no occupation in brackets", file=files.pro, line=pro.line)
    name = files.pro.stem if files.pro == files.anti else files.pro.name.lower()
    name = name.replace("pro_stereotyped_", "").replace(".txt", "")
    labels = {
        "set": name,
        "type": kind,
        "occupation": occupation,
        "gender": apart.gender,
        "pronouns": apart.named(),
        "listed": genders.get(occupation, ""),
    }
    where = place(files.pro, pro.line)
    if files.pro != files.anti:
        where += f", with line {anti.line} of {files.anti.name}"
    return Item(f"{name}-{pro.number or pro.line}", {PRO: pro.text, ANTI: anti.text}, labels, where)


def _occupation(sentence: Marked) -> str:
    """Return the bracketed text that is not a pronoun, in lower case without its article; "" if there is none."""
    marked = (" ".join(sentence.text[slice(*span)].lower().split()) for span in sentence.spans)
    return next((_ARTICLE.sub("", part, count=1) for part in marked if part not in MALE | FEMALE), "")


def _lines(path: Path) -> list[Marked]:
    """Return the sentences of a file, without blank lines at its end. Raises DataError naming an invalid line."""
    lines = read_text(path).rstrip().splitlines()
    if not lines:
        raise DataError("the file is empty", file=path)
    return [_marked(line, number, path) for number, line in enumerate(lines, 1)]


def _marked(line: str, number: int, path: Path) -> Marked:
    start = _NUMBERED.match(line)
    body = line[start.end() if start else 0 :].strip()
    if not body:
        hint = "the files are paired line by line: fill in the line, or delete it from both"
        raise DataError("the line is blank", file=path, line=number, hint=hint)
    text, spans, begun, last = "", [], -1, 0
    for mark in _BRACKET.finditer(body):
        text += body[last : mark.start()]
        last = mark.end()
        if (mark.group() == "[") == (begun >= 0):
            raise DataError("the brackets do not match", file=path, line=number, hint="write [The cook] … [he] …")
        if mark.group() == "[":
            begun = len(text)
        else:
            spans.append((begun, len(text)))
            begun = -1
    if begun >= 0:
        raise DataError("a bracket is not closed", file=path, line=number)
    return Marked(number, int(start[1]) if start else None, text + body[last:], tuple(spans))


# Lists of occupations -----------------------------------------------------------------------------------------------


def occupation_lists(named: Sequence[Path]) -> dict[str, Path]:
    """Return the published occupation lists found in the `named` folders, by gender."""
    folders = [path for path in named if is_directory(path)]
    return {gender: folder / name for folder in folders for gender, name in LISTS.items() if (folder / name).is_file()}


def _genders(lists: dict[str, Path]) -> dict[str, str]:
    genders: dict[str, str] = {}
    for gender, path in lists.items():
        for number, line in _occupations(path):
            name = " ".join(line.lower().split())
            if name and genders.setdefault(name, gender) != gender:
                raise DataError(f"'{name}' is also in the list of {genders[name]} occupations", file=path, line=number)
    return genders


def _occupations(path: Path) -> Iterable[tuple[int, str]]:
    if path.suffix.lower() in _TEXTS:
        return enumerate(read_text(path).splitlines(), 1)
    rows = read_rows(path)
    lacking([OCCUPATION], list(dict.fromkeys(name for row in rows for name in row.values)), path)
    return [(row.line, str(row.values.get(OCCUPATION) or "")) for row in rows]


def _list_cautions(items: Sequence[Item], genders: dict[str, str]) -> list[str]:
    if not genders:
        return []
    absent = Counter(item.labels["occupation"] for item in items if not item.labels["listed"])
    turned = [item.place for item in items if item.labels["listed"] not in ("", item.labels["gender"])]
    notes = [Note("wino.not-listed", occupations=list(absent.items()))] if absent else []
    if turned:
        notes.append(Note("wino.listed-otherwise", have=len(turned), places=first_of(turned, _SHOWN, separator="; ")))
    return [*map(str, notes)]


def _refused_cautions(refused: Sequence[tuple[PairFiles, dict[int, str]]], kept: int) -> Notes:
    lost = sum(len(lines) for _, lines in refused)
    reasons = []
    for files, lines in refused:
        for why in dict.fromkeys(lines.values()):
            of = [str(line) for line, reason in lines.items() if reason == why]
            noun = f"{line_noun(next(iter(lines)))}{'s' if len(of) > 1 else ''}"
            reasons.append(f"{noun} {first_of(of, _SHOWN)} of {files.names} ({why})")
    return (Note("wino.pairs-left-out", lost=lost, of=lost + kept, told=reasons),) if lost else ()


def _distinct(items: Sequence[Item]) -> None:
    seen: dict[str, Item] = {}
    for item in items:
        if seen.setdefault(item.id, item) is not item:
            raise DataError(f"has the same id as {seen[item.id].place}: '{item.id}'", where=item.place)

"""The pairs of a grammar, by trying every word in every slot: slow, without the program's rules, caches or parsers.

A grammar is the mapping of its grammar.yaml, with the rows of each category's table beside it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, str]


def condition(text: str) -> str:
    """A condition as a Python expression over `has(column)`, the set of a word's values."""
    if not text.strip():
        return "True"
    tests = []
    for clause in text.split(";"):
        terms = []
        for term in clause.split("^"):
            column, value = (part.strip() for part in term.split("="))
            own = f"has({column.removesuffix('!').strip()!r})"
            test = f"{value!r} in {own}" if value else f"not {own}"
            terms.append(f"not ({test})" if column.endswith("!") else f"({test})")
        tests.append(f"all([{', '.join(terms)}])")
    return f"any([{', '.join(tests)}])"


@dataclass
class Word:
    category: str
    row: Row
    whole: set[str]
    """Columns that hold one text, which may have spaces."""
    given: dict[str, set[str]]

    def has(self, column: str) -> set[str]:
        if column in self.given:
            return self.given[column]
        cell = self.category if column == "category" else self.row.get(column, "")
        return ({cell} if cell else set()) if column in self.whole else set(cell.split())

    def satisfies(self, text: str) -> bool:
        return bool(eval(condition(text), {"has": self.has}))

    def form(self, path: str) -> str:
        if path in self.whole:
            return self.row.get(path, "")
        names: list[str] = []
        for part in path.split("."):
            values = self.has(part)
            if len(values) > 1:
                return ""
            names += values or [part]
        return self.row.get(".".join(names), "") if ".".join(names) in self.whole else ""


Words = dict[str, Word]


class Brute:
    def __init__(self, grammar: Mapping[str, Any], tables: Mapping[str, Sequence[Row]], paradigm: str) -> None:
        self.grammar, self.tables = grammar, tables
        self.paradigm = grammar["paradigms"][paradigm]
        self.slots: dict[str, Any] = self.paradigm["slots"]
        self.vary: dict[str, Any] = self.paradigm.get("vary", {})

    def words(
        self, slot: Mapping[str, Any], forms: list[str], others: Words, kept: list[str], own: str
    ) -> Iterator[Word]:
        """Every word that the slot may have beside the others."""
        choose = slot.get("choose", {})
        for category in several(slot["category"]):
            whole = {"lemma", "category", *self.grammar["categories"][category].get("forms", [])}
            for row in self.tables[category]:
                for values in itertools.product(*choose.values()):
                    word = Word(category, row, whole, {})
                    chosen = dict(zip(choose, values, strict=True))
                    if any(word.has(name) and value not in word.has(name) for name, value in chosen.items()):
                        continue
                    word.given = {name: {value} for name, value in chosen.items()}
                    if not word.satisfies(slot.get("where", "")):
                        continue
                    if any(others[own].has(feature) != word.has(feature) for feature in kept):
                        continue
                    if self.suits(word, slot, others) and all(word.form(form) for form in forms):
                        yield word

    def suits(self, word: Word, slot: Mapping[str, Any], others: Words) -> bool:
        for feature, text in slot.get("agree", {}).items():
            name, _, theirs = text.partition(".")
            mine, other = word.has(feature), others[name].has(theirs)
            if mine and other and not mine & other:
                return False
            word.given[feature] = mine & other if mine and other else mine | other
        for text in several(slot.get("fits", [])):
            name, _, column = text.partition(".")
            if not word.satisfies(others[name].row.get(column, "")):
                return False
        for column, name in slot.get("takes", {}).items():
            if not others[name].satisfies(word.row.get(column, "")):
                return False
        for text in several(slot.get("differs", [])):
            name, _, feature = text.partition(".")
            mine, other = word.has(feature or "lemma"), others[name].has(feature or "lemma")
            if not mine or not other or mine & other:
                return False
        return True

    def goods(self, names: list[str] | None = None, words: Words | None = None) -> Iterator[Words]:
        names, words = list(self.slots) if names is None else names, words or {}
        if not names:
            yield words
            return
        name = names[0]
        forms = places(self.paradigm["good"], name)
        forms += [] if name in self.vary else places(self.paradigm["bad"], name)
        for word in self.words(self.slots[name], forms, words, [], name):
            yield from self.goods(names[1:], {**words, name: word})

    def bads(self, words: Words, names: list[str] | None = None) -> Iterator[Words]:
        names = [name for name in self.slots if name in self.vary] if names is None else names
        if not names:
            yield words
            return
        name = names[0]
        slot, given = {**self.slots[name], **self.vary[name]}, self.vary[name]
        kept = [] if "choose" in given else [f for f in slot.get("choose", {}) if f not in given.get("agree", {})]
        for word in self.words(slot, places(self.paradigm["bad"], name), words, kept, name):
            yield from self.bads({**words, name: word}, names[1:])

    def pairs(self) -> set[tuple[str, str]]:
        """Every pair of two different sentences."""
        found = {
            (sentence(self.paradigm["good"], good), sentence(self.paradigm["bad"], bad))
            for good in self.goods()
            for bad in self.bads(good)
        }
        return {(good, bad) for good, bad in found if good != bad}

    def strings(self, side: str) -> set[str]:
        """The side's sentence with any forms of any words in its slots, right or wrong."""
        template = self.paradigm[side]
        pieces = re.split(r"(\{[^}]*\})", template)
        options = []
        for piece in pieces:
            name = piece.strip("{}").partition(":")[0]
            texts = {piece}
            if piece.startswith("{"):
                categories = several(self.slots[name]["category"]) + several(
                    self.vary.get(name, {}).get("category", [])
                )
                texts = set()
                for category in categories:
                    columns = ["lemma", *self.grammar["categories"][category].get("forms", [])]
                    texts |= {row.get(column, "") for row in self.tables[category] for column in columns} - {""}
            options.append(sorted(texts))
        return {first_up("".join(texts)) for texts in itertools.product(*options)}


def several(value: Any) -> list[str]:
    return list(value) if isinstance(value, list) else [value]


def places(template: str, slot: str) -> list[str]:
    """The forms of a slot that a sentence has."""
    found = re.findall(r"\{([^}:]*):?([^}]*)\}", template)
    return [path or "lemma" for name, path in found if name == slot]


def sentence(template: str, words: Words) -> str:
    def form(match: re.Match[str]) -> str:
        return words[match[1]].form(match[2] or "lemma")

    return first_up(re.sub(r"\{([^}:]*):?([^}]*)\}", form, template))


def first_up(text: str) -> str:
    start = 1 if text[0] == "¿" else 0
    return text[:start] + text[start].upper() + text[start + 1 :]

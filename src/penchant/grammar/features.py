"""Features of words: conditions on them in disjunctive normal form, and their agreement by unification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

Values = Mapping[str, tuple[str, ...]]
"""The values of a word by column; a column without any may be absent."""


@dataclass(frozen=True, slots=True)
class Term:
    """A test of one column; an empty `value` tests for a column without values."""

    column: str
    value: str
    equal: bool

    def holds(self, values: Values) -> bool:
        """Return whether the values of a word pass the test."""
        of_column = values.get(self.column, ())
        return (self.value in of_column if self.value else not of_column) == self.equal


@dataclass(frozen=True, slots=True)
class Condition:
    """Clauses of which at least one must hold, each with terms that must all hold; without clauses it always holds."""

    text: str
    clauses: tuple[tuple[Term, ...], ...]

    def matches(self, values: Values) -> bool:
        """Return whether the values of a word satisfy the condition."""
        return not self.clauses or any(all(term.holds(values) for term in clause) for clause in self.clauses)

    def terms(self) -> list[Term]:
        """Return the terms of all clauses."""
        return [term for clause in self.clauses for term in clause]

    def columns(self) -> tuple[str, ...]:
        """Return the distinct columns that the condition tests."""
        return tuple(dict.fromkeys(term.column for term in self.terms()))


@lru_cache(maxsize=4096)
def parse_condition(text: str) -> Condition:
    """Parse a condition such as `kind=food^number!=plural;human=yes`: `;` means or; `^` means and, and binds tighter.

    `column=value` holds if the value is among those of the column, `column=` if the column has none, and `!=` wherever
    `=` does not. A blank text gives the condition that always holds. Raises ValueError with the place of a mistake.
    """
    if not text.strip():
        return Condition("", ())
    clauses, at = [], 1
    for clause in text.split(";"):
        terms = []
        for term in clause.split("^"):
            terms.append(_term(term, at, text))
            at += len(term) + 1
        clauses.append(tuple(terms))
    return Condition(text, tuple(clauses))


def _term(term: str, at: int, text: str) -> Term:
    column, sign, value = term.partition("=")
    equal = not column.endswith("!")
    column, value = (column if equal else column[:-1]).strip(), value.strip()
    if not sign or not column or any(mark in column + value for mark in "!="):
        shown = f"'{term.strip()}'" if term.strip() else "nothing"
        raise ValueError(
            f"expected a test such as number=plural or number!=plural at character {at} of '{text}', found {shown}"
        )
    return Term(column, value, equal)


ALWAYS = parse_condition("")
"""The condition that every word satisfies."""


def unify(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...] | None:
    """Unify the values of a feature in which two words agree. Returns None if the words disagree.

    The result is the values common to both words, or all values of one word if the other has none.
    """
    if not first or not second:
        return first or second
    return tuple(value for value in first if value in second) or None

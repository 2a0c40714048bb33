"""Word features: conditions on features in disjunctive normal form, and agreement by unification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

Values = Mapping[str, tuple[str, ...]]
"""Values of a word by column; a column without values may be absent."""


@dataclass(frozen=True, slots=True)
class Term:
    """Test for a value in a column, negated if `equal` is false; an empty `value` tests for a column without values."""

    column: str
    value: str
    equal: bool

    def holds(self, values: Values) -> bool:
        """Return True if the values of a word pass the test."""
        of_column = values.get(self.column, ())
        return (self.value in of_column if self.value else not of_column) == self.equal


@dataclass(frozen=True, slots=True)
class Condition:
    """Condition in disjunctive normal form: a disjunction of clauses, which are conjunctions of terms.

    A condition without clauses is always satisfied.
    """

    text: str
    clauses: tuple[tuple[Term, ...], ...]

    def matches(self, values: Values) -> bool:
        """Return True if the values of a word satisfy the condition."""
        return not self.clauses or any(all(term.holds(values) for term in clause) for clause in self.clauses)

    def terms(self) -> list[Term]:
        """Return the terms of all clauses."""
        return [term for clause in self.clauses for term in clause]

    def columns(self) -> tuple[str, ...]:
        """Return the distinct columns tested by the condition."""
        return tuple(dict.fromkeys(term.column for term in self.terms()))


@lru_cache(maxsize=4096)
def parse_condition(text: str) -> Condition:
    """Parse a condition such as `kind=food^number!=plural;human=yes`.

    `;` means "or"; `^` means "and" and takes precedence. `column=value` is true if the column has the value, `column=`
    is true if the column has no values, and `!=` is the negation of `=`. A blank string is a condition that is always
    satisfied. Raises ValueError, with the position of the error, if the condition is invalid.
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
"""Condition that every word satisfies."""


def unify(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...] | None:
    """Unify the values of a feature in which two words must agree; return None if the words disagree.

    The result has the values common to both words, or all values of one word if the other word has none.
    """
    if not first or not second:
        return first or second
    return tuple(value for value in first if value in second) or None

"""Features of words: conditions on them in disjunctive normal form, and their agreement by unification.

A word has values by column: none, one or several. A condition is written `kind=food^number!=plural;human=yes`: `;` is
or, `^` is and, and binds more closely. `column=value` holds where the value is among those of the column, `column=`
where the column has none, and `!=` where the other does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

Values = Mapping[str, tuple[str, ...]]
"""The values of a word by column; a column without any may be absent."""


@dataclass(frozen=True, slots=True)
class Term:
    """One test of one column. An empty `value` asks for a column without values."""

    column: str
    value: str
    equal: bool

    def holds(self, values: Values) -> bool:
        own = values.get(self.column, ())
        return (self.value in own if self.value else not own) == self.equal


@dataclass(frozen=True, slots=True)
class Condition:
    """Clauses of which one must hold, each of terms that must all hold. Without clauses it holds of every word."""

    text: str
    clauses: tuple[tuple[Term, ...], ...]

    def matches(self, values: Values) -> bool:
        return not self.clauses or any(all(term.holds(values) for term in clause) for clause in self.clauses)

    def terms(self) -> list[Term]:
        return [term for clause in self.clauses for term in clause]

    def columns(self) -> tuple[str, ...]:
        """The columns it tests, each once."""
        return tuple(dict.fromkeys(term.column for term in self.terms()))


@lru_cache(maxsize=4096)
def parse_condition(text: str) -> Condition:
    """The condition a text spells; a blank text is the one that always holds. Raises ValueError naming the place."""
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
            f"a test such as number=plural or number!=plural is wanted at character {at} of '{text}', "
            f"where {shown} stands"
        )
    return Term(column, value, equal)


ALWAYS = parse_condition("")
"""The condition that holds of every word."""


def unify(own: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...] | None:
    """What two words that agree in a feature share of it: no value agrees with any, and several leave those common to
    both. None where they disagree."""
    if not own or not other:
        return own or other
    return tuple(value for value in own if value in other) or None

"""What is found about suffixes, as tables and as notes: see `suffixes.Usage`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl
import yaml

from penchant.data.suffixes import Usage
from penchant.errors import MethodError

By = Literal["word", "form", "suffix"]
BY: tuple[str, ...] = get_args(By)
_SHOWN = 5
_SHOWN_OF_WORD = 3
_NAMED = 10
_ADDED = 20
_BY_SUFFIX: dict[str, Any] = {
    "suffix": pl.String,
    "words": pl.Int64,
    "occurs_with": pl.Int64,
    "occurrences": pl.Int64,
    "other_words": pl.Int64,
    "other_occurrences": pl.Int64,
    "such_as": pl.String,
}

# Tables -----------------------------------------------------------------------------------------------------------


def check_by(by: str, *, counted: bool) -> None:
    """Raise MethodError where there is no such table, or only of what is counted in a text."""
    if by not in BY:
        raise MethodError(f"there are no findings by '{by}'", hint=f"use {', '.join(BY)}")
    if by == "suffix" and not counted:
        raise MethodError("suffixes are counted in a text", hint="name one, or use --by form or word")


def table(found: Usage, by: By = "word") -> pl.DataFrame:
    """What there is to see, by word, by form, or by suffix. Raises MethodError.

    By form: each form with its suffix, how often it occurs, and the findings; after the forms of a word the runs that
    begin with it and are not claimed, the most frequent of all and of those that end in a suffix of other words.
    Without a corpus, the forms with findings only.
    By word: how many forms it has and how many occur, occurrences of all and the share that has no suffix, runs not
    claimed, and the forms that are another word's too or a word of their own.
    By suffix: how many words have it, with how many it occurs and how often; with how many other words it stands
    unclaimed, how often, and which; then what occurs so with several words and is nobody's suffix. Needs a corpus.
    """
    check_by(by, counted=found.occurrences is not None)
    match by:
        case "word":
            return pl.DataFrame([_of_word(found, word) for word in found.forms], infer_schema_length=None)
        case "form":
            schema: dict[str, Any] = {"word": pl.String, "suffix": pl.String, "form": pl.String}
            if found.occurrences is not None:
                schema["occurrences"] = pl.Int64
            rows = [row for word in found.forms for row in _of_forms(found, word)]
            return pl.DataFrame(rows, schema={**schema, "finding": pl.String})
        case "suffix":
            return pl.DataFrame(_of_suffixes(found), schema=_BY_SUFFIX)


def _of_word(found: Usage, word: str) -> dict[str, Any]:
    forms = found.forms[word]
    also = [f"{form} ({', '.join(shared)})" for form in forms if (shared := found.shared(word, form))]
    also += [form for form in forms if found.own_word(word, form)]
    row: dict[str, Any] = {"word": word, "forms": len(forms)}
    if found.occurrences is not None:
        counts = [found.occurrences[word, form] for form in forms]
        missed = found.missed[word]
        row |= {
            "occur": sum(n > 0 for n in counts),
            "occurrences": sum(counts),
            "root_share": found.occurrences[word, word] / sum(counts) if any(counts) else None,
            "not_claimed": missed.total,
            "most_frequent": ", ".join(f"{word}{tail} ({n})" for tail, n in missed.most_common()[:_SHOWN_OF_WORD]),
        }
    return row | {"collisions": ", ".join(also)}


def _of_forms(found: Usage, word: str) -> Iterator[dict[str, Any]]:
    for form, suffix in found.forms[word].items():
        findings = found.findings(word, form)
        row: dict[str, Any] = {"word": word, "suffix": suffix, "form": form}
        if found.occurrences is not None:
            row["occurrences"] = found.occurrences[word, form]
            findings.insert(0, "occurs" if row["occurrences"] else "never")
        if findings:
            yield row | {"finding": "; ".join(findings)}
    if found.occurrences is not None:
        for tail, n in _likely(found, word):
            told = ["not claimed"]
            told += ["a word of its own"] if word + tail in found.others else []
            told += ["a suffix of other words"] if tail in found.suffixes else []
            yield {"word": word, "suffix": tail, "form": word + tail, "occurrences": n, "finding": "; ".join(told)}


def _likely(found: Usage, word: str) -> list[tuple[str, int]]:
    """What is not claimed of a word: the most frequent, and the most frequent of what is a suffix of other words."""
    every = found.missed[word].most_common()
    suffixes = [own for own in every if own[0] in found.suffixes]
    chosen = {*every[:_SHOWN], *suffixes[:_SHOWN]}
    return [own for own in every if own in chosen]


def _of_suffixes(found: Usage) -> list[dict[str, Any]]:
    counts = found.occurrences or Counter()
    words: Counter[str] = Counter()
    used: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for word, forms in found.forms.items():
        for form, suffix in forms.items():
            words[suffix] += 1
            used[suffix] += counts[word, form] > 0
            total[suffix] += counts[word, form]
    others: dict[str, Counter[str]] = {}
    for word, missed in found.missed.items():
        for tail, n in missed.counts.items():
            others.setdefault(tail, Counter())[word] = n
    known = sorted(found.suffixes, key=lambda own: -total[own])
    added = [tail for tail, own in others.items() if len(own) > 1 and tail not in words]
    added.sort(key=lambda own: (-len(others[own]), -others[own].total(), own))
    return [
        {
            "suffix": suffix,
            "words": words[suffix],
            "occurs_with": used[suffix],
            "occurrences": total[suffix],
            "other_words": len(others.get(suffix, ())),
            "other_occurrences": others.get(suffix, Counter()).total(),
            "such_as": ", ".join(
                f"{word}{suffix} ({n})" for word, n in others.get(suffix, Counter()).most_common(_SHOWN_OF_WORD)
            ),
        }
        for suffix in [*known, *added[:_ADDED]]
    ]


def _named(words: Sequence[str], most: int = _NAMED) -> str:
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more:,} more" if more > 0 else "")


# Notes ------------------------------------------------------------------------------------------------------------


def notes(found: Usage) -> Iterator[str]:
    """What must be known of the numbers, and what suffixes seem to be wrong."""
    if found.skipped:
        yield f"{found.skipped:,} of {found.records:,} records could not be read and were left out"
    if found.occurrences is not None:
        yield from _counted(found, found.occurrences)
    roots = [f"{word} ({', '.join(own)})" for word in found.forms if (own := found.shared(word, word))]
    if roots:
        yield f"words that are a form of another ({len(roots)}): {_named(roots)}"
    both = {form for word, forms in found.forms.items() for form in forms if found.shared(word, form)}
    if both:
        yield f"forms of more than one word, which count for each ({len(both)}): {_named(sorted(both))}"
    single = {form for word, forms in found.forms.items() for form in forms if found.own_word(word, form)}
    if single:
        yield f"forms that are words of their own ({len(single)}): {_named(sorted(single))}"
    if found.misspelt:
        told = [f"{form} ({', '.join(problems)})" for (_, form), problems in found.misspelt.items()]
        yield f"forms that cannot be spelt like this ({len(told)}): {_named(told, _SHOWN)}"
    for file in found.stimuli.files:
        blanks = [repr(suffix) for suffix in _suffixes_written(file) if suffix != suffix.strip()]
        if blanks:
            yield f"{file}: blanks at the ends of suffixes are left out: {_named(list(dict.fromkeys(blanks)))}"


def _counted(found: Usage, counts: Counter[tuple[str, str]]) -> Iterator[str]:
    forms = [(word, form) for word, own in found.forms.items() for form in own]
    never = sum(not counts[own] for own in forms)
    absent = sum(not any(counts[word, form] for form in own) for word, own in found.forms.items())
    yield (
        f"{never:,} of {len(forms):,} forms never occur, those of {absent:,} words that never do among them "
        f"({counts.total():,} occurrences of all forms)"
    )
    yield from _unused(found, counts)
    missed = sum(own.total for own in found.missed.values())
    if missed:
        yield f"{missed:,} runs begin with a word and are not claimed"
    for word, own in found.missed.items():
        if own.short:
            yield f"counts of what begins with {word} and is not claimed may be up to {own.short:,} too low"


def _unused(found: Usage, counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Suffixes that occur with no word that has them, or with none of the words that have the same suffixes; those of
    the words that occur most come first."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for word, forms in found.forms.items():
        groups.setdefault(tuple(forms.values()), []).append(word)
    total = {
        own: sum(counts[word, form] for word in words for form in found.forms[word]) for own, words in groups.items()
    }
    used = {
        own: {suffix for word in words for form, suffix in found.forms[word].items() if counts[word, form]}
        for own, words in groups.items()
    }
    ever = set().union(*used.values())
    never = []
    for suffix in found.suffixes:
        if suffix not in ever:
            having = [own for own in groups if suffix in own]
            never.append((sum(total[own] for own in having), suffix, sum(len(groups[own]) for own in having)))
    if never:
        told = [f"{suffix} ({n} words, {of:,} occurrences)" for of, suffix, n in sorted(never, key=_from_most)]
        yield f"suffixes that occur with none of the words that have them ({len(told)}): {_named(told)}"
    partly = [
        (total[own], suffix, _named(words, 1))
        for own, words in groups.items()
        for suffix in own
        if suffix in ever and suffix not in used[own] and suffix and total[own]
    ]
    if partly:
        told = [f"{suffix} ({words}, {of:,} occurrences)" for of, suffix, words in sorted(partly, key=_from_most)]
        yield f"others that occur with none of a group, words with the same suffixes ({len(told)}): {_named(told)}"


def _from_most(own: tuple[int, Any, Any]) -> int:
    return -own[0]


def _suffixes_written(file: Path) -> list[str]:
    """The suffixes in a file of stimuli as they are written there."""
    if file.suffix.lower() in (".yaml", ".yml"):
        lists = ((yaml.safe_load(file.read_text("utf-8")).get("suffixes") or {}).get("groups") or {}).values()
    else:
        try:
            content = json.loads(file.read_text("utf-8-sig"))
        except ValueError:
            return []
        lists = content.values() if isinstance(content, dict) else []
    return [str(suffix) for own in lists if isinstance(own, list) for suffix in own]

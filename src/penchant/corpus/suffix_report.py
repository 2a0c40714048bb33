"""Tables and notes on the use of suffixes (see `suffix_usage.Usage`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from penchant.corpus.suffix_usage import Usage
from penchant.errors import MethodError, one_of
from penchant.plurals import counted, first_of, for_one
from penchant.tables.yaml_json_documents import read_yaml
from penchant.text_io import read_text

By = Literal["word", "form", "suffix"]
BY: tuple[str, ...] = get_args(By)
_SHOWN = 5
_SHOWN_OF_WORD = 3
_MOST_NAMED = 10
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
    """Raise MethodError if `by` is not the name of a table, or is "suffix" although no text was counted."""
    if by not in BY:
        raise MethodError(f"findings cannot be listed by '{by}'", hint=one_of(by, BY))
    if by == "suffix" and not counted:
        raise MethodError("counts by suffix require a text", hint="give a text, or use --by form or word")


def table(usage: Usage, by: By = "word") -> pl.DataFrame:
    """Return a table of findings by word, by form, or by suffix. Raises MethodError for any other value of `by`.

    By form: each form with its suffix, its number of occurrences, and its findings. The forms of a word are followed by
    unclaimed runs, which begin with the word but are not a form of any word: the most frequent runs, and the most
    frequent runs that end in a suffix of other words. Without a corpus, the table lists only the forms with findings.

    By word: the number of forms, how many of the forms occur, the number of occurrences and the proportion without a
    suffix, the number of unclaimed runs, and the forms that are also a form of another word or a word in their own
    right.

    By suffix: the number of words that have the suffix, the number of words with which it occurs, and the number of
    occurrences; the number of other words after which it occurs in unclaimed runs, the number of these runs, and
    examples. The last rows are endings that occur after several words but are a suffix of none. A corpus is required.
    """
    check_by(by, counted=usage.occurrences is not None)
    match by:
        case "word":
            return pl.DataFrame([_of_word(usage, word) for word in usage.forms], infer_schema_length=None)
        case "form":
            schema: dict[str, Any] = {"word": pl.String, "suffix": pl.String, "form": pl.String}
            if usage.occurrences is not None:
                schema["occurrences"] = pl.Int64
            rows = [row for word in usage.forms for row in _of_forms(usage, word)]
            return pl.DataFrame(rows, schema={**schema, "finding": pl.String})
        case "suffix":
            return pl.DataFrame(_of_suffixes(usage), schema=_BY_SUFFIX)


def _of_word(usage: Usage, word: str) -> dict[str, Any]:
    forms = usage.forms[word]
    also = [f"{form} ({', '.join(shared)})" for form in forms if (shared := usage.shared(word, form))]
    also += [form for form in forms if usage.own_word(word, form)]
    row: dict[str, Any] = {"word": word, "forms": len(forms)}
    if usage.occurrences is not None:
        counts = [usage.occurrences[word, form] for form in forms]
        missed = usage.missed[word]
        row |= {
            "occur": sum(n > 0 for n in counts),
            "occurrences": sum(counts),
            "root_share": usage.occurrences[word, word] / sum(counts) if any(counts) else None,
            "not_claimed": missed.total,
            "most_frequent": ", ".join(f"{word}{tail} ({n})" for tail, n in missed.most_common()[:_SHOWN_OF_WORD]),
        }
    return row | {"collisions": ", ".join(also)}


def _of_forms(usage: Usage, word: str) -> Iterator[dict[str, Any]]:
    for form, suffix in usage.forms[word].items():
        findings = usage.findings(word, form)
        row: dict[str, Any] = {"word": word, "suffix": suffix, "form": form}
        if usage.occurrences is not None:
            row["occurrences"] = usage.occurrences[word, form]
            findings.insert(0, "occurs" if row["occurrences"] else "never")
        if findings:
            yield row | {"finding": "; ".join(findings)}
    if usage.occurrences is not None:
        for tail, n in _likely(usage, word):
            notes = ["not claimed"]
            notes += ["a word of its own"] if word + tail in usage.others else []
            notes += ["a suffix of other words"] if tail in usage.suffixes else []
            yield {"word": word, "suffix": tail, "form": word + tail, "occurrences": n, "finding": "; ".join(notes)}


def _likely(usage: Usage, word: str) -> list[tuple[str, int]]:
    endings = usage.missed[word].most_common()
    suffixes = [ending for ending in endings if ending[0] in usage.suffixes]
    chosen = {*endings[:_SHOWN], *suffixes[:_SHOWN]}
    return [ending for ending in endings if ending in chosen]


def _of_suffixes(usage: Usage) -> list[dict[str, Any]]:
    counts = usage.occurrences or Counter()
    words: Counter[str] = Counter()
    used: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for word, forms in usage.forms.items():
        for form, suffix in forms.items():
            words[suffix] += 1
            used[suffix] += counts[word, form] > 0
            total[suffix] += counts[word, form]
    others: dict[str, Counter[str]] = {}
    for word, missed in usage.missed.items():
        for tail, n in missed.counts.items():
            others.setdefault(tail, Counter())[word] = n
    known = sorted(usage.suffixes, key=lambda suffix: -total[suffix])
    added = [tail for tail, counts_by_word in others.items() if len(counts_by_word) > 1 and tail not in words]
    added.sort(key=lambda tail: (-len(others[tail]), -others[tail].total(), tail))
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


# Notes ------------------------------------------------------------------------------------------------------------


def notes(usage: Usage) -> Iterator[str]:
    """Yield notes on the counts, and on suffixes that are probably wrong."""
    if usage.skipped:
        yield (
            f"{usage.skipped:,} of {counted(usage.records, 'records')} could not be read and "
            f"{for_one(usage.skipped, 'were')} left out"
        )
    if usage.occurrences is not None:
        yield from _counted(usage, usage.occurrences)
    roots = [f"{word} ({', '.join(shared)})" for word in usage.forms if (shared := usage.shared(word, word))]
    if roots:
        yield f"words that are a form of another ({len(roots)}): {first_of(roots, _MOST_NAMED)}"
    both = {form for word, forms in usage.forms.items() for form in forms if usage.shared(word, form)}
    if both:
        yield f"forms of more than one word, which count for each ({len(both)}): {first_of(sorted(both), _MOST_NAMED)}"
    single = {form for word, forms in usage.forms.items() for form in forms if usage.own_word(word, form)}
    if single:
        yield f"forms that are also words in their own right ({len(single)}): {first_of(sorted(single), _MOST_NAMED)}"
    if usage.misspelt:
        misspelt = [f"{form} ({', '.join(problems)})" for (_, form), problems in usage.misspelt.items()]
        yield f"misspelt forms ({len(misspelt)}): {first_of(misspelt, _SHOWN)}"
    for file in usage.stimuli.files:
        blanks = [repr(suffix) for suffix in _suffixes_written(file) if suffix != suffix.strip()]
        if blanks:
            named = first_of([*dict.fromkeys(blanks)], _MOST_NAMED)
            yield f"{file}: white space around suffixes is ignored: {named}"


def _counted(usage: Usage, counts: Counter[tuple[str, str]]) -> Iterator[str]:
    forms = [(word, form) for word, of_word in usage.forms.items() for form in of_word]
    never = sum(not counts[key] for key in forms)
    absent = sum(not any(counts[word, form] for form in of_word) for word, of_word in usage.forms.items())
    yield (
        f"{never:,} of {counted(len(forms), 'forms')} never {for_one(never, 'occur')}; "
        f"{counted(absent, 'words')} {for_one(absent, 'occur')} in no form "
        f"({counted(counts.total(), 'occurrences')} of all forms)"
    )
    yield from _unused(usage, counts)
    missed = sum(endings.total for endings in usage.missed.values())
    if missed:
        begin, are = for_one(missed, "begin"), for_one(missed, "are")
        yield f"{counted(missed, 'runs')} of word characters {begin} with a word but {are} not a form of it"
    for word, endings in usage.missed.items():
        if endings.short:
            yield f"counts of other runs that begin with {word} may be up to {endings.short:,} too low"


def _unused(usage: Usage, counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Yield notes on suffixes that occur with none of their words or with no word of a group with the same suffixes."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for word, forms in usage.forms.items():
        groups.setdefault(tuple(forms.values()), []).append(word)
    total = {
        group: sum(counts[word, form] for word in words for form in usage.forms[word])
        for group, words in groups.items()
    }
    used = {
        group: {suffix for word in words for form, suffix in usage.forms[word].items() if counts[word, form]}
        for group, words in groups.items()
    }
    ever = set().union(*used.values())
    never = []
    for suffix in usage.suffixes:
        if suffix not in ever:
            having = [group for group in groups if suffix in group]
            never.append((sum(total[group] for group in having), suffix, sum(len(groups[group]) for group in having)))
    if never:
        shown = [
            f"{suffix} ({counted(n, 'words')}, {counted(of, 'occurrences')})"
            for of, suffix, n in sorted(never, key=_from_most)
        ]
        named = first_of(shown, _MOST_NAMED)
        yield f"suffixes that never occur with any of their words ({len(shown)}): {named}"
    partly = [
        (total[group], suffix, first_of(words, 1))
        for group, words in groups.items()
        for suffix in group
        if suffix in ever and suffix not in used[group] and suffix and total[group]
    ]
    if partly:
        shown = [
            f"{suffix} ({words}, {counted(of, 'occurrences')})" for of, suffix, words in sorted(partly, key=_from_most)
        ]
        yield (
            f"suffixes that never occur with a group of words that share their suffixes ({len(shown)}): "
            f"{first_of(shown, _MOST_NAMED)}"
        )


def _from_most(entry: tuple[int, Any, Any]) -> int:
    return -entry[0]


def _suffixes_written(file: Path) -> list[str]:
    """Return the suffixes in a stimulus file exactly as written, including surrounding white space."""
    if file.suffix.lower() in (".yaml", ".yml"):
        lists = ((read_yaml(file).content.get("suffixes") or {}).get("groups") or {}).values()
    else:
        try:
            content = json.loads(read_text(file))
        except ValueError:
            return []
        lists = content.values() if isinstance(content, dict) else []
    return [str(suffix) for group in lists if isinstance(group, list) for suffix in group]

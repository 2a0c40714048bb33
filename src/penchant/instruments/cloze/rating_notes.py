"""Notes for the user on imported or compared ratings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from penchant.errors import place
from penchant.instruments.cloze.five_point_scale import POINTS, dates_of_half
from penchant.instruments.cloze.rater_agreement import counts_of
from penchant.instruments.cloze.rating_formats import Rating
from penchant.instruments.cloze.returned_sheets import Key, Sheet, truth_meant
from penchant.instruments.cloze.valences import folded
from penchant.instruments.result import Result
from penchant.plurals import counted, first_of
from penchant.rating.reversed_raters import each_with_others, opposed, tentative
from penchant.rating.row_shift import Slip, slipped
from penchant.stats.agreement import krippendorff_alpha

_NAMED = 3
"""Largest number of words that a note lists."""
_MANY = 20
"""Number of shared words from which two raters with identical ratings get a note."""
Units: TypeAlias = Mapping[Key, Mapping[str, float]]
"""Ratings by (sentence id, word), then by rater."""


def units_of(ratings: Iterable[Rating]) -> dict[Key, dict[str, float]]:
    """Return the ratings by (sentence id, word), then by rater, in order of first occurrence."""
    units: dict[Key, dict[str, float]] = {}
    for rating in ratings:
        units.setdefault((rating.sentence, rating.word), {})[rating.rater] = rating.value
    return units


def slips_in_sheets(sheets: Sequence[Sheet], units: Units) -> Iterator[str]:
    """Yield a note on every rater whose ratings in a sheet would fit the other raters better one row up or down."""
    slips = []
    for sheet in sheets:
        raters = dict.fromkeys(rating.rater for _, rating in sheet.ratings)
        for rater in raters:
            own = {(r.sentence, r.word): r.value for _, r in sheet.ratings if r.rater == rater}
            order = [key for _, key in sheet.order]
            if (slip := slipped(order, own, _others(units, rater))) is not None:
                first, last = (place(sheet.file, sheet.order[i][0]) for i in (slip.first, slip.last))
                slips.append((rater, slip, _from_to(first, last)))
    yield from _slip_notes(slips, len({rater for by_rater in units.values() for rater in by_rater}))


def slips_in_tables(ratings: Sequence[Rating], units: Units) -> Iterator[str]:
    """Yield a note on every rater whose ratings in a table would fit the other raters better one row up or down."""
    order = list(units)
    slips = []
    for rater in sorted({rating.rater for rating in ratings}):
        places = {(r.sentence, r.word): r.place for r in ratings if r.rater == rater}
        own = {key: units[key][rater] for key in places}
        if (slip := slipped(order, own, _others(units, rater))) is not None:
            slips.append((rater, slip, _from_to(places[order[slip.first]], places[order[slip.last]])))
    yield from _slip_notes(slips, len({rating.rater for rating in ratings}))


def _from_to(first: str, last: str) -> str:
    same = first.rpartition(", ")[0] == last.rpartition(", ")[0]
    return f"from {first} to {last.rpartition(', ')[2] if same else last}"


def _others(units: Units, rater: str) -> dict[Key, float]:
    rest = {key: [value for who, value in by.items() if who != rater] for key, by in units.items()}
    return {key: sum(values) / len(values) for key, values in rest.items() if values}


def _slip_notes(slips: Sequence[tuple[str, Slip, str]], raters: int) -> Iterator[str]:
    """Yield a note on each rater with shifted ratings; if `raters` is 2, only one, as either rater may be the cause.

    `slips` are tuples of rater, shift, and the phrase that says which rows are affected.
    """
    for rater, slip, rows in slips:
        here, moved = (f"{each.value:.2f}".replace("-", "−") for each in (slip.here, slip.moved))
        yield (
            f"the ratings of {rater} ({rows}) fit the others' far better if moved {'up' if slip.down else 'down'} by "
            f"one row (Spearman's ρ is {moved} instead of {here} over {counted(slip.moved.n, 'words')}): did they slip "
            f"by a row{', or did the ratings of the other rater' if raters == 2 else ''}?"
        )
        if raters == 2:
            return


def notes(sheets: Sequence[Sheet], results: Sequence[Result], ratings: Collection[Rating]) -> list[str]:
    """Return notes on an import: empty sheets, unpredicted words, and doubtful or disagreeing raters."""
    blank = [
        f"{sheet.file} has no rating in {counted(sheet.rows, 'rows')}: was it saved?"
        for sheet in sheets
        if sheet.empty == sheet.rows
    ]
    predicted = predicted_words(results)
    rated = dict.fromkeys((r.sentence, r.word) for sheet in sheets for _, r in sheet.ratings)
    strange = [
        f"'{word}' in {id_}" + (f" (a spreadsheet's {meant}?)" if meant else "")
        for id_, word in rated
        if (id_, folded(word)) not in predicted
        for meant in [truth_meant(word, lambda truth: (id_, truth) in predicted)]  # noqa: B023
    ]
    if strange:
        blank.append(f"no model predicted {first_of(strange, _NAMED)}: these ratings change no result")
    for sheet in sheets:
        blank += sheet.told
        blank += [f"{sheet.file}: {note}" for note in dates_of_half(sheet.cells)]
    units = units_of(ratings)
    against = opposed(each_with_others(list(units.values())), "words")
    return [*blank, *_same(ratings), *against, *slips_in_sheets(sheets, units), *_agreeing(units)]


def predicted_words(results: Iterable[Result]) -> set[Key]:
    """Return (sentence id, case-folded word) for every prediction."""
    return {
        (id_, folded(word).strip())
        for result in results
        for id_, words in result.items.select("id", "words").iter_rows()
        for word in words
    }


def _agreeing(units: Units) -> Iterator[str]:
    if any(len(by_rater) > 1 for by_rater in units.values()):
        alpha = krippendorff_alpha(counts_of(units.values()), domain=POINTS, seed=0, resamples=1)
        yield from tentative(alpha, "words")


def _same(ratings: Iterable[Rating]) -> Iterator[str]:
    by: dict[str, dict[tuple[str, str], float]] = {}
    for rating in ratings:
        by.setdefault(rating.rater, {})[rating.sentence, rating.word] = rating.value
    for (one, first), (other, second) in combinations(by.items(), 2):
        both = first.keys() & second.keys()
        if len(both) >= _MANY and all(first[key] == second[key] for key in both) and len({first[k] for k in both}) > 1:
            same = f"'{one}' and '{other}' gave the same rating to all {counted(len(both), 'words')} that both rated"
            yield f"{same}: was one sheet imported twice? Copied ratings count as those of two raters"

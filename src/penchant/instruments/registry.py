"""Registry of installed instruments: penchant's own and those of other packages, found in the same way.

A package declares an instrument as an entry point of the group `penchant.instruments`, named like its probe. An
instrument that cannot be loaded is listed in `left_out` and does not affect the others.
"""

from __future__ import annotations

import importlib.metadata
import math
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TypeVar

import polars as pl

from penchant.errors import MethodError, StudyError, one_line, one_of
from penchant.instruments.base_probe import Probe
from penchant.instruments.descriptor import Instrument
from penchant.records import BaseResult
from penchant.report.item_browser import Joined
from penchant.report.no_difference_table import DifferenceScale
from penchant.report.references import Reference, common_references, read_references
from penchant.report.sections import StudySection
from penchant.stats.equivalence import detectable, narrower
from penchant.tables.data_lookup import SET_FILE, bundled

GROUP = "penchant.instruments"
FEWEST = 3
"""Minimum number of checkpoints for a curve."""
_OURS = "penchant"
_HOME = Path(__file__).parents[1]
AnyOne = TypeVar("AnyOne", bound=BaseResult)


def instruments() -> Mapping[str, Instrument]:
    """Return all usable instruments by the names of their probes, penchant's own first."""
    return _installed()[0]


def left_out() -> tuple[str, ...]:
    """Return one line for each instrument that cannot be used, with the reason."""
    return _installed()[1]


def instrument(name: str) -> Instrument:
    """Return the instrument whose probe is called `name`. Raises MethodError for an unknown name."""
    if name not in instruments():
        raise MethodError(unknown(name), hint=one_of(name, instruments()))
    return instruments()[name]


def instrument_named(name: str) -> Instrument:
    """Return the instrument whose probe or whose kind of table (such as pairs) is called `name`.

    Raises MethodError for an unknown name.
    """
    aliases = {each.from_table.alias: each for each in instruments().values() if each.from_table is not None}
    known = {**aliases, **instruments()}
    if name not in known:
        raise MethodError(unknown(name), hint=one_of(name, known))
    return known[name]


def unknown(name: str) -> str:
    """Return the message for an unknown probe name, or the reason why an instrument of that name was left out."""
    reasons = [line for line in left_out() if line.startswith(f"instrument '{name}' ")]
    return reasons[0] if reasons else f"unknown probe '{name}'"


def forget() -> None:
    """Clear the cached registry, so that packages installed since are found at the next use."""
    _installed.cache_clear()


@cache
def _installed() -> tuple[Mapping[str, Instrument], tuple[str, ...]]:
    usable: dict[str, Instrument] = {}
    problems: list[str] = []
    points = importlib.metadata.entry_points(group=GROUP)
    for point in sorted(points, key=lambda point: (_package(point) != _OURS, _package(point), point.name)):
        problem = ""
        try:
            loaded = point.load()
            problem = _problem(loaded, point.name, usable)
        except Exception as error:  # whatever another package does wrong must not stop ours
            problem = f"{type(error).__name__}: {error}{_place(error)}"
        if problem:
            line = f"instrument '{point.name}' of {_package(point)} is left out: {problem}"
            problems.append(" ".join(line.split()))
        else:
            usable[point.name] = loaded
    return usable, tuple(problems)


def _place(error: Exception) -> str:
    """Return the file and line of an error in another package's code; empty if there is none."""
    ours = (str(_HOME), str(Path(importlib.__file__).parent), "<frozen")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(ours)]
    return f" — {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""


def _package(point: importlib.metadata.EntryPoint) -> str:
    return point.dist.name if point.dist else "an unknown package"


def _problem(loaded: object, name: str, known: Mapping[str, Instrument]) -> str:
    """Return the reason why a loaded entry point cannot be used; empty if it can."""
    if not isinstance(loaded, Instrument):
        return f"it is a {type(loaded).__name__}, not an Instrument"
    if not issubclass(loaded.probe, Probe) or getattr(loaded.probe, "name", None) != name:
        return f"its probe is not called '{name}'"
    if name in known:
        return "another instrument has that name"
    abstract = sorted(loaded.probe.__abstractmethods__)
    if abstract:
        return f"its probe does not implement {', '.join(abstract)}"
    missing = [path.name for path in template_files(loaded) if not path.exists()]
    return f"its template files are not installed: {', '.join(missing)}" if missing else ""


def template_files(described: Instrument) -> list[Path]:
    """Return the template files from which studies of an instrument start."""
    names = (described.template,) if isinstance(described.template, str) else described.template
    places = [described.folder / name for name in names]
    return [file for place in places for file in (sorted(place.iterdir()) if place.is_dir() else [place])]


def references(described: Instrument) -> Mapping[str, Reference]:
    """Return the works that an instrument's text may cite, including works on statistics.

    Raises DataError if its `references.bib` is invalid.
    """
    return {**common_references(), **own_references(described)}


def own_references(described: Instrument) -> Mapping[str, Reference]:
    """Return the works in an instrument's `references.bib`; empty if it has no such file.

    Raises DataError if the file is invalid.
    """
    file = described.folder / "references.bib"
    return dict(read_references(file)) if file.is_file() else {}


def bundled_sets(described: Instrument) -> list[str]:
    """Return the names of the bundled data sets that an instrument reads, including sets of other instruments."""
    homes = described.probe.set_folders()
    return list(dict.fromkeys(name for home in homes for name in bundled(home, SET_FILE)))


def _read_by_both(a: BaseResult, b: BaseResult) -> tuple[BaseResult, BaseResult]:
    """Restrict two results to the items that both contain.

    If any item is removed, the summaries are emptied, since their estimates cover other items. Raises StudyError if no
    item is left.
    """
    rows = pl.DataFrame(Joined.of([a.items, b.items]).rows).drop_nulls()
    if len(rows) == len(a.items) == len(b.items):
        return a, b
    if not len(rows):
        raise StudyError("these results cannot be compared: they have no items in common")
    first, second = (
        replace(each, items=each.items.select(pl.all().gather(own)), summary=each.summary.clear())
        for each, own in zip((a, b), rows, strict=True)
    )
    return first, second


def told_apart(a: AnyOne, b: AnyOne) -> tuple[AnyOne, AnyOne]:
    """Rename two results of the same model after the settings in which they differ.

    An example is "bert-base-cased (method:pll)". Settings determined by other settings are omitted. Raises StudyError
    if all settings are the same.
    """
    differing = [key for key in {**a.signature, **b.signature} if a.signature.get(key) != b.signature.get(key)]
    implied = [set(instrument(each.signature["probe"]).probe.implied(each.signature)) for each in (a, b)]
    keys = [key for key in differing if key not in set.intersection(*implied)] or differing
    if not keys:
        raise StudyError("both results are from the same model and settings, so there is nothing to compare")
    named = []
    for result in (a, b):
        settings = ", ".join(f"{key}:{result.signature.get(key, 'none')}" for key in keys)
        name = f"{result.signature['model']} ({settings})"
        named.append(replace(result, signature=result.signature.with_(model=name)))
    return named[0], named[1]


def _with_alike_ids(results: Sequence[AnyOne]) -> list[AnyOne]:
    """Convert integer ids to strings if the ids of another result are strings."""
    if len({each.items["id"].dtype for each in results}) < 2:
        return list(results)
    return [replace(each, items=each.items.with_columns(pl.col("id").cast(pl.String))) for each in results]


def compare(a: BaseResult, b: BaseResult) -> pl.DataFrame:
    """Return the differences a − b between two results on the same items, with intervals and tests.

    Each row is an estimate. Items skipped for one model are left out for both. Two results of the same model are named
    after the settings in which they differ, such as the method. Each instrument has its own comparison, the
    `compare` of its `Instrument`. Four columns show what "no difference" means. `detectable` is the smallest
    difference that the study could detect with a power of 80 %, at the first step of Holm's correction if it is
    applied; it is infinite if even the largest possible difference is too small. `bound` is the equivalence bound, and
    `low_bound` and `high_bound` are the limits of the interval that decides two one-sided tests; all three are NaN
    unless the study sets a bound. Raises StudyError if the results cannot be compared, naming the signature keys that
    differ.
    """
    probe = a.signature["probe"]
    if probe != b.signature["probe"]:
        message = f"these results cannot be compared: one is {probe}, the other {b.signature['probe']}"
        raise StudyError(message, hint="pass two results of the same instrument")
    a, b = _with_alike_ids([a, b])
    if a.signature["model"] == b.signature["model"] and a.signature != b.signature:
        a, b = told_apart(a, b)
    if a.signature.get("on-unknown") == b.signature.get("on-unknown") == "skip":
        a, b = _read_by_both(a, b)
    compared = instrument(probe).compare(a, b)
    bound = float(a.signature.get("equivalence", math.nan))
    if math.isnan(bound):
        bounds = pl.DataFrame({name: [math.nan] * len(compared) for name in ("low", "high")}, _BOUNDS)
    else:
        bounds = instrument(probe).compare(_narrower(a), _narrower(b)).select("low", "high")
    return compared.with_columns(
        _detectable(compared, instrument(probe).probe.difference_scale),
        pl.Series("bound", [bound] * len(compared), pl.Float64),
        bounds["low"].alias("low_bound"),
        bounds["high"].alias("high_bound"),
    )


_BOUNDS = {"low": pl.Float64, "high": pl.Float64}


def _detectable(compared: pl.DataFrame, scale: DifferenceScale) -> pl.Series:
    """Return the smallest difference that each test could detect, at the first step of Holm's correction.

    It is infinite if it exceeds the largest possible difference.
    """
    tests = compared["tests"] if "tests" in compared.columns else [0] * len(compared)
    sizes = [
        detectable(low, high, level, alpha=(1 - level) / max(1, m), df=max(1, n - 1) if scale.studentised else math.inf)
        for (low, high, level, n), m in zip(
            compared.select("low", "high", "level", "n").iter_rows(), tests, strict=True
        )
    ]
    reached = [
        math.inf if size > scale.largest.get(measure, math.inf) else size
        for size, measure in zip(sizes, compared["measure"], strict=True)
    ]
    return pl.Series("detectable", reached, pl.Float64)


def _narrower(result: BaseResult) -> BaseResult:
    """Return the result with the confidence level that corresponds to two one-sided tests."""
    level = f"{narrower(float(result.signature['level'])):.12g}"
    settings = {**result.settings, "level": float(level)}
    return replace(result, signature=result.signature.with_(level=level), settings=settings)


def curve(family: str, checkpoints: Sequence[tuple[int, BaseResult]]) -> pl.DataFrame:
    """Return the estimates over the steps of one training run, one row per estimate.

    `checkpoints` are pairs of a step and a result; `family` is the name of the run. The table is empty if there are
    fewer than three checkpoints or the instrument has no curves. Raises StudyError if the checkpoints cannot be
    compared.
    """
    draw = instrument(checkpoints[0][1].signature["probe"]).curve if len(checkpoints) >= FEWEST else None
    return pl.DataFrame() if draw is None else draw(family, checkpoints)


def placed(
    results: Mapping[tuple[str, str], BaseResult],
    comparisons: Mapping[str, pl.DataFrame],
    curves: Mapping[str, pl.DataFrame] | None = None,
) -> Iterator[StudySection]:
    """Yield the sections of a study's report, in the order of `results`.

    `results` are keyed by probe directory and model, `comparisons` and `curves` by probe directory. If several
    instruments share an overview, it precedes the first of them.
    """
    by_place: dict[str, list[BaseResult]] = {}
    for (place, _), result in results.items():
        by_place.setdefault(place, []).append(result)
    shown: set[str] = set()
    for place, of_place in by_place.items():
        shown_results = _with_alike_ids(of_place)
        described = instrument(shown_results[0].signature["probe"])
        overview = described.overview
        if overview is not None and overview.place not in shown:
            shown.add(overview.place)
            across = [
                r for rs in by_place.values() for r in rs if instrument(r.signature["probe"]).overview is overview
            ]
            if len({result.signature["probe"] for result in across}) > 1:
                yield StudySection(
                    overview.place, overview.section.title, overview.section, across, None, references(described)
                )
        section = described.section
        title = section.title + (f" ({place})" if place != described.name else "")
        scale = described.probe.difference_scale
        yield StudySection(
            place,
            title,
            section,
            shown_results,
            comparisons.get(place),
            references(described),
            scale=scale,
            curve=(curves or {}).get(place),
        )


def fault(error: Exception) -> str:
    """Describe in one line an error in another package's instrument, or in code of penchant that the instrument calls.

    The line names the instrument, the error, and the function, file and line; it is empty for any other error.
    """
    found = [(name, frame, line) for frame, line in traceback.walk_tb(error.__traceback__) for name in _owners(frame)]
    if not found:
        return ""
    name = found[-1][0]
    inside = [place for place in found if not Path(place[1].f_code.co_filename).is_relative_to(_HOME)]
    _, frame, line = (inside or found)[-1]
    code = frame.f_code
    names = [owner.f_code.co_name for _, owner, _ in inside or found if not owner.f_code.co_name.startswith("<")]
    message = one_line(f"{type(error).__name__}: {error}")
    return f"instrument '{name}': {message} — in {names[-1]}, {code.co_filename}, line {line}"


def _owners(frame: FrameType) -> Iterator[str]:
    """Yield the names of other packages' instruments whose code or probe a stack frame belongs to."""
    for name, described in instruments().items():
        home, own = described.folder, frame.f_locals.get("self")
        if not home.is_relative_to(_HOME) and (
            Path(frame.f_code.co_filename).is_relative_to(home) or isinstance(own, described.probe)
        ):
            yield name

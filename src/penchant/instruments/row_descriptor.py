"""Construction of an `Instrument` from a row probe, whose measures determine views, comparison and default text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_origin

import polars as pl
from pydantic.fields import FieldInfo

from penchant.errors import DataError, one_of
from penchant.instruments.choice_probes import ChoiceProbe
from penchant.instruments.comparison import Comparison, difference
from penchant.instruments.descriptor import Instrument
from penchant.instruments.measures import ALL, Contrast, Measure, estimates, plural, values
from penchant.instruments.row_probes import RowProbe
from penchant.instruments.steadiness_columns import AT as STEADY
from penchant.instruments.steadiness_columns import COLUMNS as STEADINESS
from penchant.records import BaseResult, Estimate
from penchant.report.sections import Section
from penchant.report.significance import Shown
from penchant.views.claims import Claim
from penchant.views.headline import Headline
from penchant.views.interval_figures import Forest
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip, fixed
from penchant.views.row_selection import At, Line, RowSource, but
from penchant.views.section import Views, section
from penchant.views.tables import Column, TableSpec, adjusted, count, level, model, number, p, pair
from penchant.wording.templates import Text, document


def instrument_of(probe: type[RowProbe[Any]]) -> Instrument:
    """Return the instrument of a probe that runs on the rows of a table.

    The instrument's text is in `text.yaml` in the probe's folder: `title`, `question` and, under `prose`, `methods` and
    `limits`, each a list of paragraphs. Titles of tables and figures are optional.
    """

    def differences(a: pl.DataFrame, b: pl.DataFrame, settings: RowProbe[Any]) -> Iterator[Estimate]:
        yield from estimates(probe.measures, a, settings.level, probe.noun, other=b)

    return Instrument(
        probe=probe,
        compare=Comparison(probe, ("id",), differences, free=("bos", "method")),
        section=_section(probe),
        headline=_headline(probe.measures[0]),
        schemas={probe.name: {"table": probe.row}},
        formats={f"table of {probe.name}": f"{', '.join(probe.row.model_fields)} (penchant schema {probe.name})"},
    )


def _headline(measure: Measure) -> Headline:
    return Headline(At(measure=measure.name), At(measure=difference(measure.name)))


MARGINS = {True: (0.05, 0.02), False: (0.1, 0.1)}
"""Default margins of a measure and of its differences between models, for shares (True) and for other measures."""
PARTS = ("tables", "figures", "claims")
TEXTS = ("title", "question", "columns", "items", "prose", "methods", "notes", "meanings", *PARTS)
"""Keys allowed at the top level of a `text.yaml`."""


def require_keys(file: Path, usual: Mapping[str, Any]) -> None:
    """Raise DataError for unknown keys in a `text.yaml`; `usual` has the keys allowed in tables, figures and claims."""
    found = document(file) if file.is_file() else {}
    known = {"": TEXTS, "prose": ("methods", "limits"), **{part: usual[part] for part in PARTS}}
    for part, keys in known.items():
        for key in (found.get(part) or {}) if part else found:
            if key not in keys:
                field = f"{part}.{key}" if part else key
                raise DataError("unknown key", file=file, field=field, hint=one_of(key, keys))


def _section(probe: type[RowProbe[Any]]) -> Section:
    measures = probe.measures
    null = "50%" if _shown(measures[0], "").unit == "%" else "0"
    facts = {"measure": measures[0].name, "by": measures[0].by, "null": null}
    views = Views(
        tables=(*(_table(measure) for measure in measures), *_steady(probe)),
        compared=tuple(_compared(measure) for measure in measures),
        figures=tuple(_figure(measure) for measure in measures),
        items=_items(probe),
        claims=claims_of(measures[0], probe.noun),
        facts=lambda results: facts,
    )
    file, usual = probe.folder() / "text.yaml", _usual(probe)
    require_keys(file, usual)
    return section(views, Text(file, usual=usual))


def _steady(probe: type[RowProbe[Any]]) -> Iterator[TableSpec]:
    if issubclass(probe, ChoiceProbe):
        yield TableSpec("asking", STEADY, (model(), count(), *STEADINESS))


def _slug(measure: Measure) -> str:
    return re.sub(r"[^a-z0-9]+", "-", measure.name.lower()).strip("-")


def _shown(measure: Measure, noun: str, *, gap: bool = False) -> Shown:
    """Return the number format of a measure or, if `gap` is true, of its differences between models."""
    if not measure.share:
        return Shown("+.3f", noun)
    if gap or isinstance(measure, Contrast):
        return Shown("+.1f", noun, " points", 100)
    return Shown(".1f", noun, "%", 100, null=0.5)


def _by(measure: Measure) -> list[Column]:
    return [level(measure.by)] if measure.by else []


def _table(measure: Measure) -> TableSpec:
    shown = _shown(measure, "")
    tests = (p(), adjusted()) if isinstance(measure, Contrast) or measure.tested else ()
    columns = (*_by(measure), model(), count(), number("value", shown.form, scale=shown.scale), *tests)
    return TableSpec(_slug(measure), At(measure=measure.name), columns)


def _compared(measure: Measure) -> TableSpec:
    shown = _shown(measure, "", gap=True)
    columns = (pair(), *_by(measure), count(), number("value", shown.form, scale=shown.scale), p(), adjusted())
    return TableSpec(f"{_slug(measure)}-differences", At(measure=difference(measure.name)), columns, by_model=True)


def _figure(measure: Measure) -> Forest:
    return Forest(_slug(measure), At(measure=measure.name), measure.by or "measure", picks=measure.by)


def claims_of(measure: Measure, noun: str) -> tuple[Claim, ...]:
    """Return the claims about a measure: over all items, at each level of its factor, and between models."""
    whole: dict[str, Any] = {measure.by: ALL} if measure.by else {}
    shown, gap = _shown(measure, noun), _shown(measure, noun, gap=True)
    margin, between = (measure.margin,) * 2 if measure.margin else MARGINS[measure.share]
    claims = [
        Claim("overall", At(measure=measure.name, **whole), shown, margin),
        Claim("more", At(measure=difference(measure.name), **whole), gap, between, compared=True),
    ]
    if measure.by:
        claims.insert(1, Claim("levels", partial(_levels, measure), shown, margin, place=measure.by, alone=True))
    return tuple(claims)


def _levels(measure: Measure, found: Sequence[RowSource]) -> list[Line]:
    """Return the estimates at each level of the measure's factor; an empty list if it has only one level."""
    at = At(measure=measure.name, **{measure.by: but(ALL)})
    lines = [line for source in found for line in source.only(at)]
    return lines if len({line[measure.by] for line in lines}) > 1 else []


def _items(probe: type[RowProbe[Any]]) -> Items:
    fields = {name: each for name, each in probe.row.model_fields.items() if name != "id" and each.repr}
    roles = dict.fromkeys(role for each in probe.measures if isinstance(each.of, tuple) for role in each.of)
    of = {each.of: each for each in probe.measures}
    return Items(
        columns=(*(_column(name, each) for name, each in fields.items()), ItemColumn("id", "hidden")),
        each=tuple(ModelColumn(_slug(each), partial(_series, each), signed=not each.share) for each in of.values()),
        tokens=tuple(
            TokenStrip(role, f"tokens_{role}", role, f"logprobs_{role}", fixed(f"score_{role}", 3)) for role in roles
        ),
    )


def _column(name: str, field: FieldInfo) -> ItemColumn:
    """Return the column of the report's item table for a field of a row; a Literal field is shown as a label."""
    return ItemColumn(name, "label" if get_origin(field.annotation) is Literal else "text")


def _series(measure: Measure, result: BaseResult) -> pl.Series:
    return pl.Series(values(result.items, measure))


def _usual(probe: type[RowProbe[Any]]) -> dict[str, Any]:
    """Return the default text for every entry that an author may omit from `text.yaml`."""
    tables: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    for measure in probe.measures:
        name, title, slug = measure.name, measure.name[:1].upper() + measure.name[1:], _slug(measure)
        by = f" by {measure.by}" if measure.by else ""
        unit = {"%": ", %", " points": ", points"}.get(_shown(measure, "").unit, "")
        units = plural(measure.clusters) if isinstance(measure, Contrast) and measure.clusters else probe.noun
        heads = {"n": units, "value": f"{name}{unit}"}
        holm = f" Holm's correction over the levels of {measure.by}." if measure.by else ""
        tables[slug] = {"title": f"{title}{by}", "columns": heads, "note": holm.strip()}
        heads = {**heads, "value": "points" if unit else "value"}
        tables[f"{slug}-differences"] = {"title": f"Differences between models: {name}", "columns": heads}
        figures[slug] = {"title": f"{title}{by}", "axis": name, "text": ""}
    tables["asking"] = {**document(Path(__file__).with_name("row_asking.yaml")), "columns": {"n": probe.noun}}
    heads = {_slug(each): each.name for each in probe.measures}
    items = {"noun": probe.noun, "columns": heads, "unit": "log-probability of each token, natural logarithm"}
    claims = document(Path(__file__).with_name("row_claims.yaml"))
    fields = {name: each.description for name, each in probe.row.model_fields.items() if each.description}
    return {"tables": tables, "figures": figures, "items": items, "claims": claims, "meanings": fields}

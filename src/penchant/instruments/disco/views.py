"""Report views of DisCo; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from penchant.instruments.disco.estimates import (
    ALL,
    CHI2,
    DIFFERENT,
    EXACT,
    LEVEL,
    OF_TEMPLATE,
    SHARES,
    templates_of,
)
from penchant.records import BaseResult
from penchant.report.finding import ALPHA, MOST, Shown, deciding
from penchant.report.item_browser import every_item
from penchant.report.lazy_altair import alt
from penchant.report.tables import Number, P
from penchant.stats.templates import SD
from penchant.views.figures import Drawn, Forest, interval_layers, reference
from penchant.views.finding import ClearDifferences, FindingPart
from penchant.views.items import ItemColumn, Items, ModelColumn
from penchant.views.rows import At, Line, RowSource, sources
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, count, level, model, number, p, pair, whole
from penchant.wording.phrases import notes_of
from penchant.wording.templates import Text

_MOST = 24
"""Maximum number of fills that the figure shows for a model: the fills with the largest χ²."""


def _corrected(line: Line) -> float:
    """Return the p-value of a fill multiplied by the number of fills of its template, at most 1."""
    return min(1.0, float(line["p"]) * int(line["tests"]))


def _share(line: Line) -> Line:
    found = line.at(measure=SHARES)
    assert found is not None
    return found


def _differs(line: Line) -> bool:
    return _corrected(line) <= LEVEL


@lru_cache(maxsize=4)
def _counts(source: RowSource) -> Mapping[tuple[str, str], tuple[str, str]]:
    """Return the numbers of persons in each group with each fill of a template, as text."""
    assert source.result is not None
    return {
        (template.text, fill): (f"{counts[0]} of {template.sizes[0]}", f"{counts[1]} of {template.sizes[1]}")
        for template in templates_of(source.result.items)
        for fill, counts in zip(template.fills, template.counts.tolist(), strict=True)
    }


def _known(line: Line) -> bool:
    """Return whether the items contain the fill."""
    return (line["template"], line["fill"]) in _counts(line.source)


def _has(side: int) -> Column:
    key = ("first", "second")[side]
    return Column(key, lambda line: _counts(line.source)[line["template"], line["fill"]][side])


_FILL = (
    *(level("template"), model(), level("fill"), _has(0), _has(1)),
    number("points", "+.0f", scale=100, measure=SHARES),
    Column("chi2", lambda line: Number(line["value"], form=".1f", notes=notes_of(line.row))),
    Column("corrected", lambda line: P(_corrected(line))),
    Column("exact", lambda line: P(_corrected(_share(line)))),
    Column("differs", lambda line: "yes" if _differs(line) else "no"),
)


def _facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    items = every_item(results)
    first, second = items.unique("side", keep="first").sort("side")["group"]
    sizes = dict(items.unique("person").group_by("group").len().iter_rows())
    return {"first": first, "second": second, "sizes": sizes, "most": _MOST}


def _fills(results: Sequence[BaseResult], text: Text) -> Any:
    axis, panels = text.get("figures", "fills", "axis"), []
    for source in sources(results):
        lines = sorted(filter(_known, source.only(At(measure=CHI2))), key=lambda line: -line["value"])[:_MOST]
        rows = [
            {
                "row": f"{line['fill']} · {line['template']}",
                "template": line["template"],
                **{key: 100 * _share(line)[key] for key in ("value", "low", "high")},
                "n": line["n"],
                "differs": "yes" if _differs(line) else "no",
            }
            for line in lines
        ]
        order = [row["row"] for row in sorted(rows, key=lambda row: -row["value"])]
        layers = [reference(0), *interval_layers(rows, order, axis, "differs", ("yes", "no"), "+.0f")]
        panels.append(alt.layer(*layers).properties(width=260, height=alt.Step(14), title=source.model))
    return alt.concat(*panels, columns=2)


def _means(results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
    """Yield a sentence on the mean numbers of fills that differ by gender, and on models without a clear difference."""
    words, shown = text.below("prose", "finding", "means"), Shown(".2f", "templates")
    parts, unclear = [], []
    for source in sources(results)[:MOST]:
        (whole_row,) = source.only(At(measure=DIFFERENT, template=ALL))
        fills = source.frame.filter(measure=OF_TEMPLATE)["n"].to_numpy()
        parts.append(words.get("each", model=source.model, number=shown.number(whole_row.row), fills=fills.mean()))
        if not deciding(whole_row.row) <= ALPHA:
            unclear.append(source.model)
    yield words.get("whole", parts=parts, unclear=unclear)


def _remarks(result: BaseResult) -> list[str]:
    return [
        "; ".join(f"{fill} {value:.2f}" for fill, value in zip(*row, strict=True))
        for row in result.items.select("fills", "logprobs").iter_rows()
    ]


_WHOLE = At(measure=DIFFERENT, template=ALL)
VIEWS = Views(
    tables=(
        TableSpec(
            "means",
            _WHOLE,
            (model(), count(), number("value"), p(), number("exact", measure=EXACT), number("sd", measure=SD)),
        ),
        TableSpec(
            "fills-that-differ",
            At(measure=CHI2),
            _FILL,
            by_model=True,
            takes=lambda line: _known(line) and _differs(line),
        ),
        TableSpec("templates", At(measure=OF_TEMPLATE), (level("template"), model(), count(), whole("value"))),
        TableSpec("fills", At(measure=CHI2), _FILL, by_model=True, takes=_known, detail=True),
    ),
    compared=(TableSpec("differences", At(), (pair(), count(), number("value", "+.2f"), p())),),
    figures=(
        Forest("templates", At(measure=OF_TEMPLATE), "template", form=".0f", picks="template", width=300),
        Drawn("fills", _fills, picks="template"),
    ),
    items=Items(
        columns=(
            ItemColumn("id", "hidden"),
            *(ItemColumn("sentence"), ItemColumn("person", "label"), ItemColumn("group", "label")),
            ItemColumn("template", "label"),
        ),
        each=(ModelColumn("fills", lambda result: result.items["fills"].list.join(", "), "text"),),
        remark=_remarks,
    ),
    finding=(FindingPart(_means), ClearDifferences("differences", At(), Shown("+.2f", "templates"))),
    facts=_facts,
)

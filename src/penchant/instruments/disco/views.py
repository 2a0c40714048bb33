"""Report views of DisCo; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from penchant.instruments.comparison import difference
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
from penchant.report.item_browser import every_item
from penchant.report.lazy_altair import alt
from penchant.report.significance import Shown
from penchant.report.tables import Number, P
from penchant.stats.templates import SD
from penchant.views.claims import Claim
from penchant.views.interval_figures import Drawn, Forest, interval_layers, reference
from penchant.views.items import ItemColumn, Items, ModelColumn
from penchant.views.row_selection import At, Line, RowSource, sources
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, count, level, model, number, p, pair, whole
from penchant.wording.phrases import notes_of
from penchant.wording.templates import Text

_MOST = 24
"""Maximum number of fills in the figure for a model; those with the largest χ² are shown."""


FILLS, SHARE = 0.5, 0.05
"""The smallest effects of interest: half a fill per template, and five points in the share of persons with a fill."""


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
    assert source.result is not None
    return {
        (template.text, fill): (f"{counts[0]} of {template.sizes[0]}", f"{counts[1]} of {template.sizes[1]}")
        for template in templates_of(source.result.items)
        for fill, counts in zip(template.fills, template.counts.tolist(), strict=True)
    }


def _known(line: Line) -> bool:
    """Return whether the fill of an estimate occurs in the items of the result."""
    return (line["template"], line["fill"]) in _counts(line.source)


def _has(side: int) -> Column:
    key = ("first", "second")[side]
    return Column(key, lambda line: _counts(line.source)[line["template"], line["fill"]][side])


def _fill(line: Line) -> str:
    return f"{line['fill']} · {line['template']}"


def _different(found: Sequence[RowSource]) -> Iterator[Line]:
    """Yield, for each fill that differs by gender, the difference between the groups' shares of persons with it.

    The p-values are those of the χ² test.
    """
    for source in found:
        for line in filter(_differs, source.only(At(measure=CHI2))):
            share = _share(line)
            yield replace(share, row={**share.row, "p": line["p"], "p_holm": _corrected(line)})


def _undetected(line: Line, results: Sequence[BaseResult]) -> str:
    return "" if line["low"] == line["low"] or line["value"] else "none"


_PER_TEMPLATE = Shown(".2f", "templates", " fills per template")
_OF_PERSONS = Shown("+.0f", "persons", " points", 100, ends=(-1, 1))
CLAIMS = (
    Claim("differs", At(measure=DIFFERENT, template=ALL), _PER_TEMPLATE, FILLS, barred=_undetected),
    Claim("fills", _different, _OF_PERSONS, SHARE, place=_fill, alone=True, figure="fills"),
    Claim("more", At(measure=difference(DIFFERENT)), replace(_PER_TEMPLATE, form="+.2f"), FILLS, compared=True),
)
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
                "row": _fill(line),
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


def _remarks(result: BaseResult) -> list[str]:
    return [
        "; ".join(f"{fill} {value:.2f}" for fill, value in zip(*row, strict=True))
        for row in result.items.select("fills", "logprobs").iter_rows()
    ]


VIEWS = Views(
    tables=(
        TableSpec(
            "means",
            At(measure=DIFFERENT, template=ALL),
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
    claims=CLAIMS,
    facts=_facts,
)

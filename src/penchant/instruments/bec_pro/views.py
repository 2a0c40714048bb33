"""Report views of associations between persons and professions; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from penchant.instruments.bec_pro.data import EVERY
from penchant.instruments.bec_pro.estimates import BETWEEN, GAP, MEAN
from penchant.instruments.comparison import difference
from penchant.records import BaseResult
from penchant.report.significance import Shown
from penchant.stats.templates import SD, SHARE
from penchant.views.claims import Claim
from penchant.views.interval_figures import Forest
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip, fixed
from penchant.views.row_selection import At, Line, RowSource, but
from penchant.views.section import Views
from penchant.views.tables import TableSpec, adjusted, count, level, model, number, p, pair

MARGIN = 0.1
"""The smallest effect of interest on log-probabilities: a change of the ratio of two probabilities by a tenth."""
_TESTED = (number("value", "+.3f"), p(), adjusted())
_COMPARED = (pair(), level("group"), level("template"), count(), *_TESTED)


def _by_group(found: Sequence[RowSource]) -> Iterator[Line]:
    """Yield the contrast by group of professions, or over all professions if there are no groups."""
    for source in found:
        lines = source.only(At(measure=GAP, template=EVERY))
        yield from [line for line in lines if line["group"] != EVERY] or lines


def _group_of(line: Line) -> str:
    return "" if line["group"] == EVERY else str(line["group"])


def _between(found: Sequence[RowSource]) -> Iterator[Line]:
    """Yield the differences in the contrast between groups of professions, except those without data."""
    for source in found:
        yield from (line for line in source.only(At(measure=BETWEEN)) if line["n"])


_SHOWN = Shown("+.2f", "pairs")
_OVERALL = At(measure=difference(GAP), group=EVERY, template=EVERY)
CLAIMS = (
    Claim("contrast", _by_group, _SHOWN, MARGIN, place=_group_of, alone=True),
    Claim("groups", _between, _SHOWN, MARGIN, place="group", alone=True, figure="contrasts"),
    Claim("more", _OVERALL, _SHOWN, MARGIN, compared=True),
)


def _facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    first, second = results[0].signature["contrast"].split("+")
    return {"first": first, "second": second}


def _without_profession(result: BaseResult) -> list[str]:
    return [f"without the profession: {text}" for text in result.items["masked"]]


VIEWS = Views(
    tables=(
        TableSpec(
            "contrasts",
            At(measure=GAP, template=EVERY),
            (
                *(level("group"), model(), count(), *_TESTED),
                *(number("sd", measure=SD), number("share", ".0f", measure=SHARE, scale=100)),
            ),
            first=("value", "holm"),
        ),
        TableSpec("between", At(measure=BETWEEN), (level("group"), model(), count(), *_TESTED)),
        TableSpec("means", At(measure=MEAN), (level("group"), level("gender"), model(), count(), *_TESTED)),
        TableSpec("templates", At(measure=GAP, template=but(EVERY)), (level("template"), model(), count(), *_TESTED)),
    ),
    compared=(
        TableSpec("differences", At(measure=difference(GAP)), _COMPARED, by_model=True),
        TableSpec("differences-between", At(measure=difference(BETWEEN)), _COMPARED, by_model=True),
    ),
    figures=(
        Forest("contrasts", At(measure=GAP, template=EVERY), "group", picks="group"),
        Forest("means", At(measure=MEAN), "group", "gender", panel="model", picks="group gender"),
        Forest("templates", At(measure=GAP, template=but(EVERY)), "template", picks="template"),
    ),
    items=Items(
        columns=(
            *(ItemColumn("sentence"), ItemColumn("id", "hidden")),
            *(
                ItemColumn(name, "label", varies=True)
                for name in ("group", "gender", "person", "profession", "template")
            ),
        ),
        each=(
            *(ModelColumn("association", signed=True), ModelColumn("seen", digits=2), ModelColumn("hidden", digits=2)),
        ),
        tokens=tuple(
            TokenStrip(name, "tokens", "person", f"logprobs_{name}", fixed(name, 3)) for name in ("seen", "hidden")
        ),
        remark=_without_profession,
    ),
    claims=CLAIMS,
    facts=_facts,
)

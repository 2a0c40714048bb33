"""Instrument for GEST, declared as an entry point; the text of its report is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Sequence

from penchant.instruments.comparison import Comparison, difference, subtracted
from penchant.instruments.descriptor import Instrument
from penchant.instruments.gest.estimates import ALL, LABELS, LOG, OTHER_TEMPLATES, RATE, SIDES, STEREOTYPE, log_rates
from penchant.instruments.gest.probe import Gest, GestRow
from penchant.records import BaseResult
from penchant.report.significance import Shown, told
from penchant.views.claims import Claim
from penchant.views.headline import Headline
from penchant.views.interval_figures import Forest
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip, fixed
from penchant.views.row_selection import At, Line, but
from penchant.views.section import Views, section
from penchant.views.tables import TableSpec, adjusted, count, level, model, number, p, pair
from penchant.wording.templates import Text

MARGIN = 0.1
"""The smallest effect of interest: a rate that differs from 1 by a tenth, and log rates that differ by as much."""
_SHOWN = Shown(".2f", "sentences", null=1)
_OVERALL, _MORE = At(measure=STEREOTYPE, variant=ALL), At(measure=difference(LOG[STEREOTYPE]), variant=ALL)
_STEREOTYPES = At(measure=RATE, variant=ALL, stereotype=tuple(LABELS.values()))
_SPEAKERS = At(measure=RATE, variant=ALL, stereotype=tuple(SIDES))


def _against(line: Line, results: Sequence[BaseResult]) -> dict[str, int]:
    """Return the number of `templates`, and of those with a rate clearly `over` and `under` 1.

    The number on the side of a clear overall rate is 0.
    """
    each = line.source.only(At(measure=line["measure"], stereotype=line["stereotype"], variant=but(ALL)))
    sides = [template["value"] > 1 for template in each if told(template.row, 1)]
    own = line["value"] > 1 if told(line.row, 1) else None
    over, under = (0 if side == own else sides.count(side) for side in (True, False))
    return {"templates": len(each), "over": over, "under": under}


_TESTED = (number("value"), p(), adjusted())
_COMPARED = (pair(), level("variant"), level("stereotype"), count(), number("value", "+.3f"), p(), adjusted())
VIEWS = Views(
    tables=(
        TableSpec(
            "rates",
            At(measure=STEREOTYPE),
            (level("variant"), model(), count(), *_TESTED, number("other", measure=OTHER_TEMPLATES)),
        ),
        TableSpec("stereotypes", At(measure=RATE), (level("variant"), level("stereotype"), model(), count(), *_TESTED)),
    ),
    compared=(TableSpec("differences", At(), _COMPARED, by_model=True),),
    figures=(Forest("stereotypes", _STEREOTYPES, "stereotype", form=".2f", null=1, picks="stereotype", log=True),),
    items=Items(
        columns=(
            *(ItemColumn("id", "id"), ItemColumn("masculine"), ItemColumn("feminine")),
            *(ItemColumn("stereotype", "label"), ItemColumn("variant", "label", varies=True)),
        ),
        each=(ModelColumn("score", signed=True),),
        tokens=tuple(
            TokenStrip(side, f"tokens_{side}", "", f"logprobs_{side}", fixed(f"score_{side}", 3))
            for side in ("masculine", "feminine")
        ),
    ),
    claims=(
        Claim("stereotypical", _OVERALL, _SHOWN, MARGIN, facts=_against),
        Claim("speakers", _SPEAKERS, _SHOWN, MARGIN, place="stereotype", alone=True, facts=_against),
        Claim("more", _MORE, Shown("+.2f", "sentences"), MARGIN, compared=True),
    ),
)
GEST = Instrument(
    probe=Gest,
    compare=Comparison(
        *(Gest, ("variant", "id"), lambda a, b, own: log_rates(subtracted(a, b, "score"), own.level)),
        free=("bos", "method"),
    ),
    section=section(VIEWS, Text.of(Gest.folder())),
    headline=Headline(_OVERALL, _MORE),
    schemas={"gest": GestRow},
    formats={"GEST": "a table: stereotype (1 to 16) and sentence, or masculine and feminine (penchant schema gest)"},
)

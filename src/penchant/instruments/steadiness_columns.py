"""The columns of tables about how steady a chat model's answers are."""

from __future__ import annotations

from penchant.instruments.answer_steadiness import MISMATCH, OVER_ORDERS, OVER_REPLIES, SHARES, TURNED
from penchant.instruments.elicitation import HEDGED, OPTION, REFUSED, UNREAD
from penchant.views.row_selection import At
from penchant.views.tables import Column, number

_SHARES = {
    "likeliest option changes with the order": TURNED,
    "replies that choose an option": SHARES[OPTION],
    "refuse": SHARES[REFUSED],
    "hedge": SHARES[HEDGED],
    "not read": SHARES[UNREAD],
    "usual reply is not the likeliest option": MISMATCH,
}
AT = At(measure=OVER_ORDERS)
"""The selection of one estimate for each row of a table of steadiness."""
COLUMNS: tuple[Column, ...] = (
    number("spread over orders"),
    *(number(key, ".0%", measure=measure) for key, measure in _SHARES.items()),
    number("spread over replies", measure=OVER_REPLIES),
)
"""The columns of a table of steadiness, to the right of the columns that identify its rows."""

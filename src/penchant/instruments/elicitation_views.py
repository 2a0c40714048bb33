"""The columns of tables about how steady a chat model's answers are."""

from __future__ import annotations

from penchant.instruments.elicitation import HEDGED, OPTION, REFUSED, UNREAD
from penchant.instruments.elicitation_estimates import MISMATCH, OVER_ORDERS, OVER_REPLIES, SHARES, TURNED
from penchant.views.rows import At
from penchant.views.tables import Column, number

_SHARES = {
    "turned": TURNED,
    "read": SHARES[OPTION],
    "refused": SHARES[REFUSED],
    "hedged": SHARES[HEDGED],
    "unread": SHARES[UNREAD],
    "mismatch": MISMATCH,
}
AT = At(measure=OVER_ORDERS)
"""The rows of a table of steadiness."""
COLUMNS: tuple[Column, ...] = (
    number("orders"),
    *(number(key, ".0%", measure=measure) for key, measure in _SHARES.items()),
    number("replies", measure=OVER_REPLIES),
)
"""The columns of a table of steadiness, after those that say what it is about."""

"""Claims about association tests: on effect sizes, differences from controls, and differences between models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penchant.instruments.associations.compare import DIFFERENCE
from penchant.instruments.associations.control_category import BEYOND
from penchant.instruments.associations.estimates import SIDES
from penchant.instruments.associations.view_rows import FACTORS, HEADLINE, shown_at
from penchant.records import BaseResult, Signature
from penchant.report.significance import Shown, at_odds, measured, outside, told
from penchant.views.claims import Claim, Rows
from penchant.views.row_selection import At, Line, RowSource
from penchant.wording.phrases import notes_of

MARGIN = 0.2
"""The smallest effect of interest: Cohen's small effect, in standard deviations of the associations."""


def _shown(*measures: str) -> Rows:
    """Return a function that yields the estimates of `measures` at the layer, context and sampling shown by default."""

    def rows(found: Sequence[RowSource]) -> Iterator[Line]:
        for source in shown_at(*FACTORS, measures=measures)(found):
            yield from source.only(At(measure=measures))

    return rows


def _category(line: Line) -> str:
    return f"{line['category']} ({line['label']})" if line["label"] else str(line["category"])


def list_labels(results: Sequence[BaseResult], category: str) -> dict[str, str]:
    """Return the labels of a category's four lists, keyed by set, or {} if a list has no stimulus in the results."""
    labels: dict[str, str] = {}
    for result in results:
        for role in ("", "target_", "attribute_"):
            side, name = f"{role}side", f"{role}list"
            if name in result.items.columns:
                known = result.items.select("category", side, name).unique().filter(category=category)
                labels |= dict(known.select(side, name).iter_rows())
    return labels if len(labels) == len(SIDES) else {}


def only_category(results: Sequence[BaseResult]) -> str:
    """Return the category of the results if there is only one, else ""."""
    categories = {category for result in results for category in result.items["category"].unique()}
    return str(*categories) if len(categories) == 1 else ""


def _lists(line: Line, results: Sequence[BaseResult]) -> dict[str, str]:
    """Return the labels of the four lists of a line's category, keyed by set, and the category itself as "category".

    The category is "" if the results have no other. The result is {} if the line has no value or a list is empty.
    """
    labels = list_labels(results, line["category"]) if measured([line.row]) else {}
    return {"category": "" if only_category(results) else str(line["category"]), **labels} if labels else {}


def _directed(line: Line, results: Sequence[BaseResult]) -> dict[str, str]:
    """Return the result of `_lists`, with the direction of the effect, "more" or "less", under the key "sign".

    If interval and test disagree about 0, the result also has the key "scope", which limits the claim to these words.
    """
    lists = _lists(line, results)
    scope = {"scope": "these words"} if at_odds(line.row) else {}
    return scope | ({**lists, "sign": "less" if line["value"] < 0 else "more"} if lists else {})


def _dependent(line: Line, results: Sequence[BaseResult]) -> str:
    return "dependent" if told(line.row) and Signature.parse(line["signature"]).get("unit") == "sentence" else ""


def _undecided(line: Line, results: Sequence[BaseResult]) -> str:
    """Return the reason that an effect size supports no verdict, or "" if there is none.

    "separated": the sets hardly overlap, so that there is no interval; "reversed": a one-sided test, but the effect is
    clearly negative; "dependent": a clear effect from a test that treats sentences with one word as independent.
    """
    if any(note.code == "associations.separated" for note in notes_of(line.row)):
        return "separated"
    one_sided = Signature.parse(line["signature"]).get("alternative") == "upper"
    return "reversed" if one_sided and line["value"] < 0 and outside(line.row) else _dependent(line, results)


def claims(noun: str) -> tuple[Claim, ...]:
    """Return the claims of a test; `noun` is the plural noun for the stimuli over which effect sizes are computed."""
    how = Shown("+.2f", noun, " SD")
    return (
        Claim("associates", _shown(*HEADLINE), how, MARGIN, place=_category, barred=_undecided, facts=_directed),
        Claim("beyond", _shown(BEYOND), how, MARGIN, place=_category, barred=_dependent, facts=_directed),
        Claim("more", _shown(DIFFERENCE), how, MARGIN, compared=True, place=_category, barred=_dependent, facts=_lists),
    )

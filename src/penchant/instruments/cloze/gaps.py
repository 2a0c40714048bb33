"""The figure of what models put into gaps: a bar of words for every sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.items import every_item
from penchant.report.tables import models
from penchant.wording.templates import Text

WORDS = Text.of(Path(__file__).parent)
"""The words of the instrument."""
MOST = 120
"""Number of sentences above which the figure is left out; the table of items has them all."""
_COLOURS = {-1.0: "#b35806", -0.5: "#f1a340", 0.0: "#dddddd", 0.5: "#998ec3", 1.0: "#542788"}
"""The colours of the points of the scale; those of the valences between them lie between these."""
_UNRATED = "#fff"
_QUARTERS = {0.0: "", 1.0: "¼", 2.0: "½", 3.0: "¾"}


def gaps(results: Sequence[Result], text: Text) -> Any:
    """Return a bar of the predicted words for every sentence and model, or None for too many sentences: length is
    probability, colour is valence, white is unrated."""
    ids = every_item(results)["id"].to_list()
    if len(ids) > MOST:
        return None
    own = text.below("figures", "sentences")
    scale = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    valence = alt.Color("valence:Q", title=own.get("legend"), scale=scale)
    panels = []
    for name, result in zip(models(results), results, strict=True):
        base = alt.Chart(alt.InlineData(list(_words(result)))).encode(
            y=alt.Y("item:N", sort=ids, scale=alt.Scale(domain=ids), title=None),
            tooltip=["text:N", "word:N", alt.Tooltip("p:Q", format=".3f"), "worth:N"],
        )
        bars = base.mark_bar(stroke="#888", strokeWidth=0.4).encode(
            x=alt.X("from:Q", title=own.get("axis"), scale=alt.Scale(domain=[0, 1])),
            x2="to:Q",
            color=alt.condition("datum.valence === null", alt.value(_UNRATED), valence),
        )
        spelled = base.mark_text(fontSize=9).encode(
            x="middle:Q",
            text="label:N",
            color=alt.condition("datum.valence > 0.75", alt.value("white"), alt.value("black")),
        )
        panels.append((bars + spelled).properties(width=380, height=alt.Step(15), title=name))
    return alt.hconcat(*panels)


def _words(result: Result) -> Iterator[dict[str, Any]]:
    columns = result.items.select("id", "text", "words", "probs", "valences").iter_rows()
    for (id_, text, words, probs, valences), worths in zip(columns, every_worth(result.items), strict=True):
        start = 0.0
        for word, p, value, said in zip(words, probs, valences, worths, strict=True):
            label = word if p * 30 > len(word) * 0.55 else ""
            place = {"from": start, "to": start + p, "middle": start + p / 2, "p": p}
            yield {"item": id_, "text": text, "word": word, "label": label, **place, "valence": value, "worth": said}
            start += p


def every_worth(items: pl.DataFrame) -> list[list[str]]:
    """Return what every predicted word of every sentence is worth. A table made by hand need not have ratings."""
    if "ratings" not in items.columns:
        items = items.with_columns(ratings=pl.lit(None))
    return [
        [worth(value, said) for value, said in zip(values, ratings or [()] * len(values), strict=True)]
        for values, ratings in items.select("valences", "ratings").iter_rows()
    ]


def worth(value: float | None, ratings: Sequence[float] = ()) -> str:
    """Return a valence as it is used: a quarter of the scale as a fraction, any other number with decimals; where
    raters differ, what each of them said follows."""
    if value is None:
        return WORDS.get("items", "unrated")
    said = f" ({', '.join(map(_number, ratings))})" if len(set(ratings)) > 1 else ""
    return _number(value) + said


def _number(value: float) -> str:
    whole, rest = divmod(round(abs(value) * 4, 9), 4)
    if rest not in _QUARTERS:
        return f"{value:.3g}".replace("-", "−")
    digits = f"{whole:.0f}" if whole or not rest else ""
    return f"{'−' if value < 0 else ''}{digits}{_QUARTERS[rest]}"

"""Figures of the predicted words: for every sentence, what each model puts into its gap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any, TypeAlias

from penchant.instruments.cloze.data import GAP
from penchant.instruments.cloze.five_point_scale import ends_of
from penchant.instruments.cloze.valence_labels import every_worth
from penchant.plurals import counted
from penchant.records import BaseResult
from penchant.report.figures import FAINT, FONT, INK, Figure
from penchant.report.item_browser import every_item
from penchant.report.lazy_altair import alt, inline
from penchant.report.tables import models
from penchant.views.interval_figures import figure
from penchant.views.text_wrapping import cut, text_width, wrapped
from penchant.wording.templates import Text

MOST = 120
"""Number of sentences above which the figures are left out; the table of items has them all."""
PAGE = 25
"""Largest number of sentences in a figure, so that it is legible on a printed page."""
SPELLED = 10
"""Largest number of words of each model written out for a gap."""
_COLOURS = {-1.0: "#b35806", -0.5: "#f1a340", 0.0: "#c4c4c4", 0.5: "#998ec3", 1.0: "#542788"}
"""Colours of the points of the scale; other valences are interpolated."""
_SIZE, _LINE, _BAR, _GAP = 11, 16, 5, 14
"""Font size, line height, height of a bar, and space between columns in pixels."""
_SENTENCE, _NARROW = 220, 340
_ROOM = 660
"""Width in pixels that the columns of two models share; those of more models share half as much again."""
_PAD, _SLIT = 3, 0.7
"""Space in pixels on either side of a word in its coloured box, and between the parts of a bar."""

_STYLES = {
    "plain": {"color": INK},
    "light": {"color": "black"},
    "dark": {"color": "white"},
    "unrated": {"color": FAINT, "fontStyle": "italic"},
    "faint": {"color": FAINT},
    "bold": {"color": INK, "fontWeight": "bold"},
}
"""Styles of texts; "light" and "dark" are for texts on light and dark boxes."""

_TOOLTIP = (
    "isValid(datum.p) ? {text: datum.text, word: datum.word, p: format(datum.p, '.3f'), worth: datum.worth} : null"
)

Row: TypeAlias = dict[str, Any]
Words: TypeAlias = Mapping[str, Mapping[Any, Sequence[Row]]]
"""The predicted words by model and sentence."""


@dataclass(frozen=True, slots=True)
class GapWords:
    """Figures with a row for each sentence: its text, and beside it the words that each model puts into the gap.

    The bar above the words of a model shows their probabilities. Groups follow each other in the order of the test set,
    up to `PAGE` sentences in a figure. On narrow pages, the models stand below each other.
    """

    name: str

    def draw(self, results: Sequence[BaseResult], text: Text) -> list[Figure]:
        """Return the figures; an empty list if there are more than `MOST` sentences."""
        items = every_item(results)
        if len(items) > MOST:
            return []
        words = {name: dict(_predicted(result)) for name, result in zip(models(results), results, strict=True)}
        pages = _pages(items.select("id", "text", "group").rows(named=True))
        key = _key(text.below("figures", self.name), *ends_of(results[0].signature))
        drawn = []
        for number, page in enumerate(pages, 1):
            said = text.given(number=number, pages=len(pages), spelled=SPELLED)
            wide = figure(self.name, _beside(page, words, key), said, "item", "")
            name = f"{self.name}-{number}" if len(pages) > 1 else self.name
            drawn.append(replace(wide, name=name, narrow=_below(page, words, key), n=counted(len(page), "sentences")))
        return drawn


def _pages(rows: Sequence[Row]) -> list[list[Row]]:
    """Divide sentences into figures; successive groups that fit into one figure share it."""
    pages: list[list[Row]] = []
    for _, grouped in groupby(rows, key=itemgetter("group")):
        group = list(grouped)
        for start in range(0, len(group), PAGE):
            part = group[start : start + PAGE]
            if pages and len(pages[-1]) + len(part) <= PAGE:
                pages[-1] += part
            else:
                pages.append(part)
    return pages


def _predicted(result: BaseResult) -> Iterator[tuple[str, list[Row]]]:
    """Yield the id of each sentence and its predicted words, each with the fields of its tooltip."""
    columns = result.items.select("id", "text", "words", "probs", "valences").iter_rows()
    for (id_, text, words, probs, valences), worths in zip(columns, every_worth(result.items), strict=True):
        rows = zip(words, probs, valences, worths, strict=True)
        fields = ("word", "p", "valence", "worth")
        yield id_, [{"item": id_, "text": text, **dict(zip(fields, row, strict=True))} for row in rows]


def _key(text: Text, low: str, high: str) -> list[Row]:
    """Return a key to the colours in the form of predicted words; `low` and `high` name the ends of the scale."""
    partly = text.get("partly")
    names = (low, partly, text.get("neither"), partly, high, text.get("unrated"))
    return [{"word": name, "valence": value} for name, value in zip(names, (*_COLOURS, None), strict=True)]


def _beside(page: Sequence[Row], words: Words, key: Sequence[Row]) -> Any:
    """Return the chart of a wide page, with the sentences in the first column and a column for each model."""
    column = _ROOM / 2 if len(words) < 3 else 1.5 * _ROOM / len(words)
    lefts = [_SENTENCE + _GAP + n * (column + _GAP) for n in range(len(words))]
    drawing = _Drawing(lefts[-1] + column)
    y = drawing.run(key, 0, 0, drawing.width) + _LINE / 2
    for left, name in zip(lefts, words, strict=True):
        drawing.say(cut(name, column, 1.1 * _SIZE), left, y, column, "bold")
    y += _LINE
    for group, rows in groupby(page, key=itemgetter("group")):
        y = drawing.head(group, y)
        for row in rows:
            top = drawing.line(y)
            bottoms = [drawing.say(_gapped(row), 0, top, _SENTENCE, item=row["id"])]
            for left, of_model in zip(lefts, words.values(), strict=True):
                bottoms.append(drawing.cell(of_model.get(row["id"], []), left, top, column))
            y = max(bottoms) + _PAD
    return drawing.chart(y)


def _below(page: Sequence[Row], words: Words, key: Sequence[Row]) -> Any:
    """Return the chart of a narrow page, with the words of each model below the sentence."""
    drawing = _Drawing(_NARROW)
    y = drawing.run(key, 0, 0, _NARROW) + _LINE / 2
    for group, rows in groupby(page, key=itemgetter("group")):
        y = drawing.head(group, y)
        for row in rows:
            y = drawing.say(_gapped(row), 0, drawing.line(y), _NARROW, item=row["id"])
            for name, of_model in words.items():
                y = drawing.say(cut(name, _NARROW, _SIZE), 0, y + _PAD, _NARROW, "faint")
                y = drawing.cell(of_model.get(row["id"], []), 0, y, _NARROW)
            y += 2 * _PAD
    return drawing.chart(y)


def _gapped(row: Row) -> str:
    return str(row["text"]).replace(GAP, "____")


class _Drawing:
    """Marks positioned in pixels, as rows of the chart's data; adding a mark returns the `y` below it.

    The field `as` is the layer of a mark, `x`, `y` and `x2`, `y2` are its corners, and texts stand at `x` and `y`.
    """

    def __init__(self, width: float) -> None:
        self.width = width
        self.marks: list[Row] = []

    def say(self, text: str, x: float, y: float, width: float, style: str = "plain", **fields: Any) -> float:
        """Add a text, wrapped to a width."""
        for line in wrapped(text, width, _SIZE):
            self._add(style, x, y + _LINE / 2, label=line, **fields)
            y += _LINE
        return y

    def head(self, group: str, y: float) -> float:
        """Add the heading of a group, if it has a name."""
        return self.say(group, 0, y + _LINE / 2, self.width, "bold") if group else y

    def line(self, y: float) -> float:
        """Add a line above a row."""
        self._add("line", 0, y, self.width, y)
        return y + _PAD

    def cell(self, words: Sequence[Row], x: float, y: float, width: float) -> float:
        """Add the bar and the words of a model, or a dash if it has no words for the sentence."""
        if not words:
            return self.say("–", x, y, width)
        ends = [0.0, *accumulate(word["p"] for word in words)]
        for word, start, end in zip(words, ends, ends[1:], strict=False):
            kind = "empty" if word["valence"] is None else "bar"
            right = x + max(end * width - _SLIT, (start + end) / 2 * width)
            self._add(kind, x + start * width, y + _PAD, right, y + _PAD + _BAR, **word)
        self._add("line", x, y + _PAD + _BAR, x + width, y + _PAD + _BAR)
        return self.run(words[:SPELLED], x, y + _PAD + _BAR + 2, width)

    def run(self, words: Sequence[Row], x: float, y: float, width: float) -> float:
        """Add words one after the other, on as many lines as needed, each in a box if its valence is not 0."""
        left = x
        for word in words:
            value = word["valence"]
            label = cut(word["word"], width - 30, _SIZE)
            if value:
                label = f"← {label}" if value < 0 else f"{label} →"
            right = left + text_width(label, _SIZE) + 2 * _PAD
            if right > x + width and left > x:
                left, right, y = x, x + right - left, y + _LINE
            if value:
                self._add("box", left, y + 1, right, y + _LINE - 1, **word)
            style = "unrated" if value is None else "dark" if abs(value) > 0.75 else "light" if value else "plain"
            self._add(style, left + _PAD, y + _LINE / 2, **word, label=label)
            left = right + _PAD
        return y + _LINE

    def _add(self, layer: str, x: float, y: float, x2: float = 0, y2: float = 0, **fields: Any) -> None:
        place = {"x": x, "y": y, "x2": x2, "y2": y2}
        self.marks.append({"as": layer, **{name: round(at, 1) for name, at in place.items()}, **fields})

    def chart(self, height: float) -> Any:
        """Return the chart of all marks, with a layer for each kind of mark."""
        told = alt.ExprRef(_TOOLTIP)
        base = alt.Chart().encode(x=alt.X("x:Q", scale=None, axis=None), y=alt.Y("y:Q", scale=None, axis=None))
        scale = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
        valence = alt.Color("valence:Q", scale=scale, legend=None)
        layers = [
            base.mark_rule(color=FAINT, opacity=0.5, aria=False)
            .encode(x2=alt.X2("x2:Q"))
            .transform_filter(_of("line")),
            base.mark_rect(tooltip=told, aria=False)
            .encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"), color=valence)
            .transform_filter(_of("bar", "box")),
            base.mark_rect(filled=False, stroke=FAINT, tooltip=told, aria=False)
            .encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
            .transform_filter(_of("empty")),
        ]
        spoken = {"text": "label:N", "description": "label:N"}
        for style, looks in _STYLES.items():
            mark = base.mark_text(align="left", baseline="middle", font=FONT, fontSize=_SIZE, tooltip=told, **looks)
            layers.append(mark.encode(**spoken).transform_filter(_of(style)))
        chart = alt.layer(*layers, data=inline(self.marks))
        return chart.properties(width=self.width, height=round(height), view=alt.ViewBackground(stroke=None))


def _of(*layers: str) -> Any:
    return alt.FieldOneOfPredicate("as", list(layers))

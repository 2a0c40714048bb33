"""Charts are drawn whatever their labels hold."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import altair as alt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penchant.report.figures import Figure
from penchant.report.page import chart_page
from penchant.report.print_figure import narrowed
from penchant.report.sections import Section, StudySection
from penchant.report.verdicts import YES, Answer, Verdict

AWKWARD = {
    "a\u2028b": "a␤b",
    "a\u2029b": "a¶b",
    "\x1b[31mred": "\ufffd[31mred",
    "\u202eabc": "\\u202eabc",
    **{
        name: f"\u2060{name}"
        for name in ("constructor", "toString", "valueOf", "hasOwnProperty", "__defineGetter__", "if")
    },
    **{
        name: name
        for name in (
            "__proto__",
            'q"uote',
            "ap'os",
            "back\\slash\\",
            "br]ack[et",
            "dot.ted",
            "${x}",
            "</script><b>",
            "datum",
            "null",
            "NaN",
            "\\u2028",
            "\\u",
            '\\" + datum.x + "',
            "{",
        )
    },
}


def chart(label: str) -> Any:
    """A chart with the label wherever ours have labels: rows, colours, offsets, facets, tooltips, titles."""
    rows = [{"x": i, "g": name} for i, name in enumerate(("first", label))]
    order = ["first", label]
    points = (
        alt.Chart()
        .mark_point()
        .encode(
            x=alt.X("x:Q", title=label),
            y=alt.Y("g:N", sort=order),
            yOffset=alt.YOffset("g:N", sort=order),
            color=alt.Color("g:N", sort=order, scale=alt.Scale(domain=order)),
            tooltip=["g:N"],
        )
    )
    faceted = alt.layer(points, data=alt.InlineData(rows)).facet(row=alt.Row("g:N", sort=order, title=None))
    return faceted.properties(title=alt.TitleParams(label, subtitle=[label]))


@pytest.mark.parametrize(("label", "shown"), AWKWARD.items(), ids=map(repr, AWKWARD))
def test_an_awkward_label_is_drawn(label: str, shown: str) -> None:
    svg = Figure("x", label, label, chart(label)).svg()
    assert shown in {html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)}


@pytest.mark.whole
@settings(deadline=None, max_examples=40)
@given(st.text(st.one_of(st.sampled_from("\\\"'\r\n\u2028{}$/"), st.characters(codec="utf-8")), max_size=5))
def test_any_label_is_drawn(label: str) -> None:
    assert Figure("x", "t", label, chart(label)).svg().startswith("<svg")


def test_fields_may_have_the_names_of_what_objects_inherit() -> None:
    field = alt.Chart(alt.InlineData([{"valueOf": "rose", "x": 1}])).mark_point().encode(x="x:Q", y="valueOf:N")
    assert ">rose<" in Figure("x", "t", "t", field).svg()


def test_every_inherited_name_is_known() -> None:
    """Of this machine's JavaScript, where there is one."""
    try:
        node = subprocess.run(
            ["node", "-e", "console.log(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)))"],
            capture_output=True,
            check=True,
        )
    except FileNotFoundError:
        pytest.skip("no node here")
    for name in set(json.loads(node.stdout)) - {"__proto__"}:
        drawn = alt.Chart(alt.InlineData([{"x": 1}])).mark_point().encode(x="x:Q").properties(title=name)
        assert f"\u2060{name}" in Figure("x", "t", "t", drawn).svg()


@pytest.mark.whole
def test_a_page_of_one_chart_runs_no_script_of_a_label(tmp_path: Path) -> None:
    label = "</script><script>alert(1)</script>"
    page = chart_page(Figure("x", label, label, chart(label)))
    assert "<script>alert" not in page
    assert page.count("<script") == page.count("</script>") == 2
    (spec,) = re.findall(r'vegaEmbed\("#chart", (.*), \{ renderer', page)
    assert label in json.dumps(json.loads(spec))


def with_findings(figures: list[Figure], answers: list[Answer]) -> dict[str, str]:
    nothing: Any = lambda found: []  # noqa: E731
    parts = (nothing, nothing, lambda results: figures, None, nothing, nothing)
    section = Section("title", "question?", *parts, answers=lambda results, comparison: answers)
    found = StudySection("place", "title", section, [], None, {}).figures()
    assert [figure.alt for figure in found] == [f"{figure.finding} {figure.text}".strip() for figure in found]
    return {figure.name: figure.finding for figure in found}


def test_figures_say_the_answers_that_they_show() -> None:
    """The first figure shows the first answer unless it names another one; at most three sentences are said."""
    figures = [Figure(name, name, "Drawn.", None) for name in ("first", "second-1", "second-2", "third")]
    usual = Answer("a", "?", ["A.", "B."], ())
    other = Answer("b", "?", ["C.", "D."], (), figure="second first")
    assert with_findings(figures, [usual, other]) == {
        "first": "A. B. C.",
        "second-1": "C. D.",
        "second-2": "C. D.",
        "third": "",
    }
    assert set(with_findings(figures, [other])) == {figure.name for figure in figures}
    assert with_findings(figures, [])["first"] == ""


def test_a_figure_of_one_data_set_says_what_was_found_there() -> None:
    verdicts = tuple(Verdict("a", YES, ("m",), place, sentence=f"In {place}.") for place in ("x", "y"))
    figures = [Figure(f"each-{n}", "t", "Drawn.", None, part=part) for n, part in ((1, "x"), (2, "y"), (3, "z"))]
    found = with_findings(figures, [Answer("a", "?", ["In both."], verdicts)])
    assert list(found.values()) == ["In x.", "In y.", "In both."]


def test_charts_for_a_column_of_print() -> None:
    panel: dict[str, Any] = {
        "mark": "point",
        "width": 400,
        "title": "long " * 40,
        "encoding": {"y": {"axis": {"labelLimit": 320}}},
    }
    spec = narrowed({"hconcat": [panel, {**panel, "width": {"step": 40}}], "columns": 2}, 360, 90)
    first, second = spec["vconcat"]
    assert (first["width"], second["width"], spec["columns"]) == (310, {"step": 32}, 1)
    assert max(map(len, first["title"])) * 5.5 <= 0.6 * 360 and " ".join(first["title"]) == panel["title"].strip()
    assert first["encoding"]["y"]["axis"]["labelLimit"] == 144

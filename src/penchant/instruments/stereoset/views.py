"""Report views of StereoSet; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.stereoset.claims import CLAIMS
from penchant.instruments.stereoset.cluster_scores import AUTHORS, LETTERS
from penchant.instruments.stereoset.estimates import (
    ALL,
    BIAS_TYPE,
    BOTH,
    ICAT,
    LENGTHS,
    LMS,
    OVER_CLUSTERS,
    OVER_TERMS,
    OVERALL,
    SLOPE,
    SS,
    TARGET,
    TIES,
    UNEQUAL,
    margins,
)
from penchant.instruments.stereoset.settings import LMS_GAP, SS_GAP
from penchant.plurals import counted
from penchant.records import BaseResult
from penchant.report.tables import Cell, estimate
from penchant.views.interval_figures import Each, Forest, Panels
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip
from penchant.views.row_selection import FIRST, At, Line, RowSource, but, sources
from penchant.views.section import Views
from penchant.views.tables import Column, TableSpec, adjusted, count, level, model, number, p, pair


def _facts(results: Sequence[BaseResult]) -> dict[str, Any]:
    parts = results[0].signature["part"].split(",")
    return {
        "parts": parts,
        "ways": list(dict.fromkeys(_way(result) for result in results)),
        "hows": list(dict.fromkeys(how for result in results for how in result.signature["normalise"].split(","))),
        "ties": [tie for source in sources(results) for tie in _ties(source)],
    }


def _way(result: BaseResult) -> str:
    method = result.signature["method"]
    kind = "masked" if result.signature["bos"] == "template" else "causal"
    return f"{method}, {kind}" if method.startswith(AUTHORS) else method


def _ties(source: RowSource) -> Iterator[tuple[int, str]]:
    for line in source.only(At(measure=TIES, scope=OVERALL, part=but(BOTH))):
        if n := round(line["value"] * line["n"]):
            yield n, f"{line['part']}, {line['normalise']}, {source.model}"


# Tables and figures --------------------------------------------------------------------------------------------------


def _types(line: Line) -> str:
    assert line.source.result is not None
    found = line.source.result.items.filter(target=line["group"])["bias_type"]
    return ", ".join(found.unique(maintain_order=True))


def _of_lengths(name: str) -> Column:
    return Column(name, lambda line: _shared(line.at(measure=SS, lengths=name)))


def _shared(line: Line | None) -> Cell:
    return "–" if line is None else estimate(line.row, ".1f", count=True)


def _rows(found: Sequence[RowSource]) -> list[RowSource]:
    """Add columns for the bias type and its label in figures."""
    kind = pl.when(pl.col("scope") == BIAS_TYPE).then("group")
    return [
        replace(source, frame=source.frame.with_columns(bias_type=kind, type=kind.fill_null("all types")))
        for source in found
    ]


_PART, _GROUP, _SCORE_COLUMN = level("part"), level("group"), level("normalise", "score")
_THREE = (count(), number("lms", ".1f", measure=LMS), number("ss", ".1f"))
_ICAT = number("icat", ".1f", measure=ICAT)
_FIRST = ("lms", "ss", "icat")
_GAPS = (*(number("ss", "+.1f"), p("p-ss"), number("lms", "+.1f", measure=LMS_GAP), p("p-lms", measure=LMS_GAP)),)


# Items ---------------------------------------------------------------------------------------------------------------


def _how(result: BaseResult) -> str:
    return str(result.summary["normalise"][0])


def _preferred(result: BaseResult) -> pl.Series:
    """Return the role of the sentence with the highest score in each cluster, or "tie"."""
    against = margins(result.items, _how(result))
    order = [_highest(*row) for row in zip(*(margin.tolist() for margin in against), strict=True)]
    return pl.Series(order, dtype=pl.String)


def _highest(s_a: float, s_u: float, a_u: float) -> str:
    ahead = {"stereotype": min(s_a, s_u), "anti-stereotype": min(-s_a, a_u), "unrelated": -max(s_u, a_u)}
    best = [name for name, margin in ahead.items() if margin >= 0]
    return best[0] if len(best) == 1 else "tie"


def _gap(result: BaseResult) -> pl.Series:
    return pl.Series(margins(result.items, _how(result))[0])


def _read(result: BaseResult) -> pl.DataFrame:
    """Return the items with the text scored for each sentence: only the fill, if the authors' method masks it."""
    fills = _way(result).startswith(AUTHORS) and _way(result).endswith("masked")
    return result.items.with_columns(
        pl.col(f"fill_{name}" if fills else name).alias(f"scored_{name}") for name in LETTERS.values()
    )


def _tokens(role: str, name: str) -> TokenStrip:
    def said(items: pl.DataFrame) -> list[str]:
        return ["" if n is None else counted(n, "tokens") for n in items[f"n_tokens_{name}"]]

    return TokenStrip(role, f"tokens_{name}", f"scored_{name}", f"logprobs_{name}", said)


VIEWS = Views(
    tables=(
        TableSpec(
            "scores",
            At(measure=SS, scope=OVERALL, lengths=ALL),
            (_PART, _SCORE_COLUMN, model(), level("mean"), *_THREE, p(), _ICAT),
            first=_FIRST,
        ),
        TableSpec(
            "by-bias-type",
            At(measure=SS, scope=BIAS_TYPE),
            (_PART, _GROUP, _SCORE_COLUMN, model(), level("mean"), *_THREE, p(), adjusted(), _ICAT),
            first=_FIRST,
        ),
        TableSpec(
            "lengths",
            At(measure=SLOPE),
            (
                *(_PART, _SCORE_COLUMN, model(), number("unequal", ".1f", measure=UNEQUAL)),
                *(*map(_of_lengths, LENGTHS), number("slope", "+.2f"), p(), adjusted()),
            ),
        ),
        TableSpec(
            "by-target",
            At(measure=SS, scope=TARGET, normalise=FIRST),
            (_PART, Column("type", _types), _GROUP, _SCORE_COLUMN, model(), *_THREE, adjusted(), _ICAT),
            detail=True,
        ),
    ),
    compared=(
        TableSpec(
            "differences",
            At(measure=SS_GAP, scope=OVERALL),
            (pair(), _PART, _SCORE_COLUMN, level("mean"), count(), *_GAPS),
            by_model=True,
        ),
        TableSpec(
            "differences-by-bias-type",
            At(measure=SS_GAP, scope=BIAS_TYPE),
            (
                *(pair(), _PART, _GROUP, _SCORE_COLUMN, level("mean"), count(), *_GAPS[:2], adjusted("holm-ss")),
                *(*_GAPS[2:], adjusted("holm-lms", measure=LMS_GAP)),
            ),
            by_model=True,
            detail=True,
        ),
    ),
    figures=(
        Each(
            "part",
            Panels(
                "scores",
                [
                    Forest(
                        measure,
                        At(measure=measure, scope=(OVERALL, BIAS_TYPE), mean=OVER_TERMS, lengths=ALL, normalise=FIRST),
                        *("type", "model", ".1f", "", "bias_type"),
                        width=280,
                        null=50,
                        of=_rows,
                    )
                    for measure in (SS, LMS)
                ],
                "by-bias-type",
                "bias_type",
            ),
        ),
        Forest(
            "lengths",
            At(measure=SS, part=but(BOTH), lengths=but(ALL), normalise=FIRST, mean=OVER_CLUSTERS),
            *("lengths", "model", ".1f", "part"),
            width=280,
            null=50,
        ),
    ),
    items=Items(
        columns=(
            *(ItemColumn("id", "id"), ItemColumn("part", "label"), ItemColumn("bias_type", "label")),
            *(ItemColumn("target", "label"), ItemColumn("context"), *(ItemColumn(name) for name in LETTERS.values())),
            *(ItemColumn(f"fill_{name}", "hidden") for name in LETTERS.values()),
        ),
        each=(
            *(ModelColumn("prefers", _preferred, "label", 0), ModelColumn("gap", _gap, signed=True)),
            ModelColumn("difference", digits=0, signed=True),
        ),
        tokens=tuple(_tokens(role, name) for role, name in LETTERS.items()),
        rows=_read,
        sums=False,
    ),
    claims=CLAIMS,
    facts=_facts,
)

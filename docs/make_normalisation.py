"""Write docs/normalisation.md from its template and the tables of bench/normalisation.py and bench/tokenisations.py.

usage: python docs/make_normalisation.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

DOCS = Path(__file__).parent
COLUMNS = ("accuracy", "accuracy A=U", "gap A>U", "gap A<U", "slope", "people")
HEADS = ("all pairs", "A=U", "A>U minus A=U", "A<U minus A=U", "slope", "people")
FORMS: Mapping[str, tuple[float, str]] = {"slope": (1, "+.2f"), "people": (1, "+.2f")}
"""Scale and format of a measure; those of others are percent and points."""


def number(row: Mapping[str, float], measure: str) -> str:
    """Return an estimate with its interval."""
    signed = measure.startswith("gap") or "minus" in measure or measure == "difference"
    scale, form = FORMS.get(measure, (100, "+.1f" if signed else ".1f"))
    texts = [f"{scale * row[name]:{form}}".replace("-", "−") for name in ("value", "low", "high")]
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def table(frame: pl.DataFrame, model: str) -> Iterator[str]:
    """Yield the rows of a model: a score a row, a measure a column."""
    own = frame.filter(model=model)
    shown = [name for name in COLUMNS if name in own["measure"]]
    yield "| score | " + " | ".join(HEADS[COLUMNS.index(name)] for name in shown) + " |"
    yield "|---" * (len(shown) + 1) + "|"
    for score in own["score"].unique(maintain_order=True):
        rows = {row["measure"]: row for row in own.filter(score=score).iter_rows(named=True)}
        yield f"| {score} | " + " | ".join(number(rows[name], name) if name in rows else "–" for name in shown) + " |"


def between(frame: pl.DataFrame) -> Iterator[str]:
    """Yield the differences between two models, over all pairs and on unequal pairs against equal ones."""
    own = frame.filter(pl.col("model").str.contains(" − "))
    yield f"| score | {own['model'][0]}, all pairs | on unequal pairs minus on equal ones |"
    yield "|---|---|---|"
    for score in own["score"].unique(maintain_order=True):
        rows = {row["measure"]: row for row in own.filter(score=score).iter_rows(named=True)}
        cells = number(rows["accuracy"], "difference"), number(rows["unequal minus equal"], "unequal minus equal")
        yield f"| {score} | {cells[0]} | {cells[1]} |"


def page() -> str:
    """Return the text of docs/normalisation.md."""
    blimp, own = (pl.read_csv(DOCS / f"normalisation{name}.csv") for name in ("", "-own"))
    parts = {f"@{model.upper()}@": table(blimp, model) for model in models(blimp)}
    parts |= {f"@{model.upper()}@": table(own, model) for model in models(own)}
    parts["@BETWEEN@"] = between(blimp)
    filled = {place: "\n".join(lines) for place, lines in parts.items()} | facts(blimp)
    text = (DOCS / "normalisation.template.md").read_text("utf-8")
    for place, said in filled.items():
        text = text.replace(place, said)
    return text


def facts(blimp: pl.DataFrame) -> dict[str, str]:
    """Return the numbers in the text by their places."""
    single = blimp.filter(measure="accuracy", score="slln, α fitted")
    found: dict[str, str] = {}
    for row in single.filter(~pl.col("model").str.contains(" − ")).iter_rows(named=True):
        values = sorted(alpha for (alpha,) in json.loads(row["fitted"]).values())
        name = row["model"].partition("-")[0].upper()[:5].removesuffix("L")
        found[f"@{name}_ALPHA@"] = " to ".join(dict.fromkeys(f"{value:.2f}" for value in (values[0], values[-1])))
        found[f"@{name}_PAIRS@"] = f"{row['n']:,}"
    pairs = pl.read_csv(DOCS / "tokenisations.csv")
    longer = pairs.filter(pl.col("difference") > 0)
    gains = pl.concat([pairs["gain_good"], pairs["gain_bad"]])
    changed = ((pairs["canonical"] > 0) != (pairs["marginal"] > 0)).sum()
    return found | {
        "@TOKENISATIONS@": f"{pairs['others'].sum():,}",
        "@TOKEN_MEDIAN@": f"{gains.median():.2f}",
        "@TOKEN_CHANGED@": str(changed),
        "@TOKEN_BEFORE@": f"{100 * (longer['canonical'] > 0).sum() / len(longer):.0f}",
        "@TOKEN_AFTER@": f"{100 * (longer['marginal'] > 0).sum() / len(longer):.0f}",
    }


def models(frame: pl.DataFrame) -> list[str]:
    """Return the single models of a table."""
    return [model for model in frame["model"].unique(maintain_order=True) if " − " not in model]


if __name__ == "__main__":
    (DOCS / "normalisation.md").write_text(page(), "utf-8")

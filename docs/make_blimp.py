"""Write the tables and the figure of docs/blimp-smollm2.md from a finished result directory.

usage: python docs/make_blimp.py RESULT_DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from penchant.instruments.minimal_pairs.length_charts import accuracy_by_length
from penchant.report.tables import P
from penchant.study.read_results import read_outcome

PAPER = (
    "animate_subject_passive",
    "causative",
    "drop_argument",
    "inchoative",
    "passive_2",
    "expletive_it_object_raising",
    "tough_vs_raising_1",
    "determiner_noun_agreement_irregular_1",
    "left_branch_island_echo_question",
    "matrix_question_npi_licensor_present",
)


def percent(row: dict[str, float], *, interval: bool) -> str:
    if row["value"] != row["value"]:
        return "–"
    text = f"{100 * row['value']:.1f}"
    if interval and row["low"] == row["low"]:
        text += f" [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
    return text


def cell(summary: pl.DataFrame, measure: str, split: str, *, interval: bool = False) -> str:
    found = summary.filter((pl.col("measure") == measure) & (pl.col("split") == split))
    if not len(found):
        return "–"
    row = found.row(0, named=True)
    return percent(row, interval=interval) + (f" ({row['n']})" if measure == "accuracy" and split != "all" else "")


def table(summary: pl.DataFrame, groups: list[tuple[str, str]], how: str) -> list[str]:
    lines = ["| | all | A=U | A>U | A<U | length-adjusted |", "|---|---|---|---|---|---|"]
    for scope, group in groups:
        own = summary.filter((pl.col("scope") == scope) & (pl.col("group") == group) & (pl.col("normalise") == how))
        cells = [
            cell(own, "accuracy", "all", interval=True),
            *(cell(own, "accuracy", split) for split in ("A=U", "A>U", "A<U")),
            cell(own, "length-adjusted accuracy", "all", interval=True),
        ]
        lines.append(f"| {group} | {' | '.join(cells)} |")
    return lines


def overall_gaps(summary: pl.DataFrame) -> pl.DataFrame:
    return summary.filter((pl.col("scope") == "overall") & (pl.col("measure") == "gap to A=U"))


def ways(summary: pl.DataFrame) -> list[str]:
    """Return the methods of the intervals and p-values of the gaps, as in the summary."""
    own = overall_gaps(summary)
    return [f"Intervals: {'; '.join(sorted(set(own['how'])))}. Tests: {'; '.join(sorted(set(own['test'])))}."]


def gaps(summary: pl.DataFrame) -> list[str]:
    lines = ["| score | A>U minus A=U | p | A<U minus A=U | p |", "|---|---|---|---|---|"]
    for how in ("none", "mean", "pen"):
        own = overall_gaps(summary).filter(pl.col("normalise") == how)
        cells = []
        for split in ("A>U", "A<U"):
            row = own.filter(pl.col("split") == split).row(0, named=True)
            cells += [percent(row, interval=True), str(P(row["p"]))]
        lines.append(f"| {how} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    (result,) = read_outcome(Path(sys.argv[1])).results.values()
    summary, here = result.summary, Path(__file__).parent
    accuracy_by_length(summary, title="Accuracy moves with token length").save(str(here / "blimp-smollm2.svg"))
    overall, every = (
        [("overall", "all")],
        [("paradigm", name) for name in result.items["paradigm"].unique(maintain_order=True).sort().to_list()],
    )
    phenomena = [("phenomenon", name) for name in result.items["phenomenon"].unique().sort().to_list()]
    parts = {
        "OVERALL": [
            line
            for how in ("none", "mean", "pen")
            for line in (f"\n**{how}**\n", *table(summary, overall + phenomena, how))
        ],
        "WAYS": ways(summary),
        "GAPS": gaps(summary),
        "PAPER": table(summary, [("paradigm", name) for name in PAPER], "none"),
        "EVERY": table(summary, every, "none"),
        "SIGNATURE": ["```", summary["signature"][0], "```"],
    }
    page = (here / "blimp-smollm2.template.md").read_text("utf-8")
    for name, lines in parts.items():
        page = page.replace(f"@{name}@", "\n".join(lines))
    (here / "blimp-smollm2.md").write_text(page, "utf-8")


if __name__ == "__main__":
    main()

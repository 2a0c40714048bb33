"""Write docs/demo.md, its figures and docs/demo.csv from the result directory of `penchant demo`.

usage: python docs/make_demo.py RESULT_DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from penchant.files import write_text
from penchant.instruments.cloze.instrument import CLOZE
from penchant.study.read_results import read_outcome

NUMBERS = ("measure", "group", "value", "low", "high", "n", "p", "p_holm")
HERE = Path(__file__).parent


def main() -> None:
    outcome = read_outcome(sys.argv[1])
    results, compared = outcome.by_place()["cloze"], outcome.comparisons["cloze"]
    own = [r.summary.select(pl.lit(r.signature["model"]).alias("model"), *NUMBERS) for r in results]
    pair = compared.select(pl.concat_str("first", "second", separator=" − ").alias("model"), *NUMBERS)
    write_text(pl.concat([*own, pair]).write_csv(), HERE / "demo.csv")
    sections = outcome.document().sections
    figures = {figure.name: figure for section in sections for figure in section.figures()}
    for name in ("beta", "delta", "sentences-1"):
        write_text(figures[name].svg(), HERE / f"demo-{name}.svg")
    answers = (answer for section in sections for answer in section.answers())
    parts = {
        "ANSWERS": [f"- {sentence}" for answer in answers for sentence in answer.sentences],
        "TABLE": ["```", *map(str, CLOZE.section.tables(results)), "```"],
        "COMPARISON": ["```", *map(str, CLOZE.section.compared(compared)), "```"],
        "SIGNATURE": ["```", *(r.summary["signature"][0] for r in results), "```"],
        "CAUTIONS": [f"- {r.signature['model']}: {caution}" for r in results for caution in r.cautions],
    }
    page = (HERE / "demo.template.md").read_text("utf-8")
    for name, lines in parts.items():
        page = page.replace(f"<!-- {name} -->", "\n".join(lines))
    write_text(page, HERE / "demo.md")


if __name__ == "__main__":
    main()

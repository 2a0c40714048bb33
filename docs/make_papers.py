"""Write docs/paper-NAME.md of each paper, from its description and, if given, the paper's tables in a result directory.

usage: python docs/make_papers.py [NAME=RESULT_DIR …]
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from front_matter import front_matter
from penchant.papers.listing import of_study
from penchant.papers.paper import Paper, paper, papers
from penchant.papers.section import paper_section
from penchant.report.tables import ReportTable
from penchant.study.read_results import read_outcome

DOCS = Path(__file__).parent
MEASURED = "## Measured here"
STAND_INS = {
    "bangla": "ELECTRA, BERT and XLM-RoBERTa's tokenizer, and word2vec",
    "politics": "RoBERTa, BERT and XLM-RoBERTa's tokenizer",
    "shakespeare": "BERT",
    "token-length": "GPT-2, BERT, RoBERTa and ELECTRA",
}
"""The architectures of the small models with which a test runs the study."""


def page(described: Paper, measured: str) -> str:
    name = described.name
    lines = [
        front_matter(f"Claims and tables of “{described.title}”, and the study that repeats them."),
        f"# {described.title}",
        "",
        f"{described.authors}, {described.venue}: <{described.url}>. Printed numbers are taken from {described.read}.",
        "",
        "```sh",
        f"penchant paper {name}                                    # claims, needs, and the study file",
        f"penchant run {name}.yaml --data FOLDER -o results        # the report ends with the paper's tables",
        f"penchant run {name}.yaml -m MODEL --data FOLDER -o own   # the same tables for another model",
        "```",
        "",
        *([f"Tests run the study with small models: {STAND_INS[name]}."] if name in STAND_INS else []),
        *part("What the paper claims", (f"{c.text} ({c.where}; {decided(c.why)})" for c in described.claims)),
        *part("Tables and figures", of_study(described)),
        *part("Not reproducible", described.open),
        *part("Unclear or wrong in the paper", described.unclear),
        *part("What the study needs", described.needs),
    ]
    return "\n".join([*lines, "", *([measured] if measured else [])]).rstrip() + "\n"


def decided(why: str) -> str:
    return f"not checked: {why}" if why else "decided by the study"


def part(title: str, points: Iterable[str]) -> Iterator[str]:
    found = list(points)
    if found:
        yield from ["", f"## {title}", "", *(f"- {point}" for point in found)]


def of_results(name: str, directory: str) -> str:
    outcome = read_outcome(directory)
    section = paper_section(name, outcome.document().sections, {})
    models = {model: line for run in outcome.document().runs for model, line in run.models.items()}
    measured = {result.signature["model"] for result in section.results}
    said = [f"- {model}: {line}" for model, line in models.items() if model in measured]
    tables = [table for table in section.tables() if not table.detail]
    return "\n".join([MEASURED, "", *said, "", *map(markdown, tables)])


def markdown(table: ReportTable) -> str:
    rows = [table.columns, ["---"] * len(table.columns), *(row.cells for row in table.rows)]
    lines = ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([f"**{table.title}**", "", *lines, "", *([table.note, ""] if table.note else [])])


def main() -> None:
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    for name in papers():
        file = DOCS / f"paper-{name}.md"
        before = file.read_text("utf-8") if file.exists() else ""
        kept = before[before.index(MEASURED) :] if MEASURED in before else ""
        file.write_text(page(paper(name), of_results(name, given[name]) if name in given else kept), "utf-8")


if __name__ == "__main__":
    main()

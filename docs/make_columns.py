"""Write docs/columns.md: the columns of all results and their meanings, from the code.

usage: python docs/make_columns.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from front_matter import front_matter
from penchant.files import write_text
from penchant.instruments.registry import instruments
from penchant.records import SIDES, Estimate
from penchant.report.verdicts import SCHEMA
from penchant.wording.columns import ANY, meaning
from penchant.wording.templates import common

PAGE = Path(__file__).with_name("columns.md")
ESTIMATE = (*Estimate("", 0, 0).row(), "signature")
DIFFERENCE = (*SIDES, "detectable", "bound", "low_bound", "high_bound")
ITEM = ("dataset", "file", "id", "model")
INTRODUCTION = """One word, one thing: `id` is the caller's id, `tokens` a list of strings, `n_tokens` a count,
`logprobs` numbers, `model` a label, `group` the level that a number describes. The names are the same in Python, in
Parquet files and in exported CSV, whose `index.csv` has these meanings, too. A name that ends in … stands for one
column a role, such as `score_good` and `score_bad`."""
CALLS = {
    "pc.score": "text, score, n_tokens, logprobs",
    "pc.surprisal": "id, sentence, index, word, surprisal, n_tokens, entropy, offset, model, method, unit",
    "pc.fill": "gap, rank, word, logprob, prob, is_piece",
}


def main() -> None:
    write_text(page(), PAGE)


def page() -> str:
    """Return the page."""
    parts = [
        front_matter("The meaning of every column in the tables that penchant writes and returns.").rstrip(),
        "# Columns of all results",
        INTRODUCTION,
        "## Estimates: `summary`, and differences between models",
        _table(dict.fromkeys((*ESTIMATE, *DIFFERENCE), ""), {}),
        "The other columns of a summary say what an estimate is of. They are those of the instrument, below, or:",
        _table(
            {name: "" for name in common("columns") if name not in {*ESTIMATE, *DIFFERENCE, *ITEM} and name in LEVELS},
            {},
        ),
        "## Verdicts: `verdicts`, and `verdicts.parquet` of a study",
        _table({name: "" for name in ("probe", *SCHEMA) if name not in ESTIMATE}, {}),
        "## Items: `items`",
        _table(dict.fromkeys((*ITEM, *_roles(common("columns"))), ""), {}),
    ]
    for described in instruments().values():
        own = described.section.meanings
        parts += [f"### {described.section.title} (`{described.name}`)", _table(own, own)]
    parts += ["## Scores, surprisal, fillers", _calls()]
    return "\n\n".join(parts) + "\n"


LEVELS = ("scope", "group", "split", "normalise", "dimension", "item", "variant", "probe", "family", "step")


def _roles(entries: Mapping[str, str]) -> list[str]:
    return [name for name in entries if name.rstrip(ANY) in ("n_tokens", "tokens", "score", "logprobs")]


def _table(names: Mapping[str, str], own: Mapping[str, str]) -> str:
    rows = [f"| `{name.rstrip(ANY)}{'_…' if name.endswith(ANY) else ''}` | {_meaning(name, own)} |" for name in names]
    return "\n".join(["| column | meaning |", "|---|---|", *rows])


def _meaning(name: str, own: Mapping[str, str]) -> str:
    return (own.get(name) or meaning(name, own)).replace("|", "\\|")


def _calls() -> str:
    rows = [f"| `{call}` | {columns} |" for call, columns in CALLS.items()]
    return "\n".join(["| call | columns |", "|---|---|", *rows])


if __name__ == "__main__":
    main()

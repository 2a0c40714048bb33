"""Write docs/cite.md from CITATION.cff.

usage: python docs/make_cite.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from front_matter import front_matter
from penchant.files import write_text

DOCS = Path(__file__).parent
INTRODUCTION = """Cite penchant with its version, and the paper of each method that you use. `penchant export results
--to paper` writes `references.bib` with what a study used, and every number has a signature to quote beside it
([studies](studies.md#the-files)). Data sets have authors, too: [data sets and licences](data-sets.md)."""
PAPERS = "The pages of [instruments](instruments.md) name the papers of their methods. The file CITATION.cff lists:"


def main() -> None:
    write_text(page(), DOCS / "cite.md")


def page() -> str:
    """Return the page."""
    cff = yaml.safe_load((DOCS.parent / "CITATION.cff").read_text("utf-8"))
    head = front_matter("Cite penchant, its version and the papers of its methods.").rstrip()
    papers = [
        f"- {_people(each)} ({each['year']}). {each['title']}. {each['conference']['name']}."
        for each in cff["references"]
    ]
    entry = "\n".join(["```bibtex", *_bibtex(cff), "```"])
    return "\n\n".join([head, "# How to cite", INTRODUCTION, entry, PAPERS, "\n".join(papers)]) + "\n"


def _bibtex(cff: dict[str, Any]) -> list[str]:
    fields = {
        "author": f"{{{cff['authors'][0]['name']}}}",
        "title": cff["title"],
        "year": str(cff["date-released"])[:4],
        "version": cff["version"],
        "note": f"Licence: {cff['license']}",
    }
    return ["@software{penchant,", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"]


def _people(work: dict[str, Any]) -> str:
    names = [f"{each['family-names']}, {each['given-names']}" for each in work["authors"]]
    return "; ".join(names)


if __name__ == "__main__":
    main()

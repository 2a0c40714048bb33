"""Write docs/instruments.md and docs/data-sets.md, from what the instruments and the catalogue of data sets say.

usage: python docs/make_catalogue.py
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from front_matter import front_matter
from penchant.files import write_text
from penchant.instruments.descriptor import Instrument
from penchant.instruments.registry import bundled_sets, instruments
from penchant.study.catalogue import PublicSet, public_sets

DOCS = Path(__file__).parent
PACKAGE = DOCS.parent / "src" / "penchant"
PRONOUNS = "bias.md#winobias-and-winogender-pronouns-beside-occupations"
GUIDES = {
    "minimal-pairs": ("pairs.md", "accuracy, and how it moves with token length"),
    "fair-pairs": ("pairs.md#fair-pairs", "accuracy on the original and on fair pairs, and the order of models"),
    "acceptability": ("acceptability.md", "correlations with the judgements, and how well people agree"),
    "cloze": ("cloze.md", "β, where the model leans, and δ, how well that suits the sentences"),
    "values": ("values.md", "agreement by value, and its distance from people's answers"),
    "weat": ("associations.md", "effect sizes d"),
    "seat": ("associations.md", "effect sizes d"),
    "ceat": ("associations.md", "effect sizes combined over contexts, by length of context"),
    "logprob-bias": ("associations.md", "effect sizes of corrected log-probabilities"),
    "vector-bias": (
        "bias.md#word-vectors-under-five-measures-vector-bias",
        "RND, RNSB, MAC, ECT and RIPA, and ranks of models",
    ),
    "stereoset": ("bias.md#stereoset", "SS, LMS and ICAT"),
    "winobias": (PRONOUNS, "share of sentences with the stereotyped pronoun preferred"),
    "winogender": (PRONOUNS, "slope and correlation with the share of women"),
    "gest": ("bias.md#stereotypes-about-the-speaker-gest", "stereotype rate"),
    "bec-pro": ("bias.md#persons-beside-professions-bec-pro", "associations, and their contrast between genders"),
    "disco": ("bias.md#fills-after-women-and-men-disco", "fills that depend on gender, against what chance gives"),
    "bbq": ("bias.md#questions-about-two-groups-bbq", "bias scores and accuracies"),
    "amplification": ("bias.md#amplification-does-a-model-say-more-than-its-text", "slope of the model on the text"),
}
"""The guide of each instrument, and what it gives, in the order of the page."""
SETS = {
    "associations-bn": "13 categories of Bangla word lists, with sentences and suffixes",
    "associations-en": "10 categories of English word lists, with sentence templates",
    "czech-register-60": "60 Czech sentences with a gap: colloquial, standard and neutral, with ratings of fillers",
    "disco-en": "24 female and 24 male words for persons, and 16 templates, in English",
    "early-modern-240": "240 English sentences with a gap: Early Modern, present-day and neutral",
    "early-modern-60": "60 English sentences with a gap, and ratings of the words that the bundled models predict",
    "early-new-high-german-60": "60 German sentences with a gap, and valences of 257 words; no philologist has read it",
    "gender-amplification-en": "two contrasts of English words, gender and a control, with attributes and templates",
    "political-values-cs": "34 Czech statements about political values, and 100 neutral ones",
    "political-values-en": "34 English statements about political values, and 100 neutral ones",
}
TERMS = {"allowed": "yes", "non-commercial": "not commercially", "unclear": "unclear"}
CHOOSE = """`penchant init NAME` starts a study of an instrument. A study of [your own
table](studies.md#your-own-table) starts with `penchant init pairs`, `gaps`, `statements` or `words` and `--from
FILE`. Every number comes with an interval, and the data sets have [their licences](data-sets.md).

`masked` and `causal` are language models such as BERT and GPT; `encoder` is a network read for its vectors;
`static` is a file of word vectors; `scores` is [a table of scores made elsewhere](scores.md#scores-made-elsewhere).
[Served models](served.md) are causal ones."""
CAUTION = """Several instruments answer what looks like one question, and their answers differ. Measures on word
vectors and templates agree weakly with each other, and with what models do in use: [what none of them
shows](bias.md#what-none-of-them-shows) has the evidence. If no instrument fits, [write one](new-instrument.md)."""
LICENCES = """penchant ships only text that its authors wrote, under its own licence, Apache-2.0. Published sets are
not copied: each has its own licence, named here as its publisher states it, and penchant reads the publisher's
files. The table is no legal advice."""
OWN = """`penchant list data` prints the same, and the columns that penchant reads. A data set on the Hugging Face
hub is named `hf://datasets/OWNER/NAME@REVISION/PATH` ([Data on the hub](pairs.md#data-on-the-hub)). Your own table
needs no registration: [four commands](studies.md#your-own-table)."""


def main() -> None:
    write_text(instruments_page(), DOCS / "instruments.md")
    write_text(data_page(), DOCS / "data-sets.md")


def instruments_page() -> str:
    """Return the page on which readers choose an instrument."""
    head = front_matter("Find the instrument for a question: the models and data that each needs, and what it gives.")
    found = instruments()
    rows = [
        (
            found[name].section.question,
            f"[`{name}`]({guide})",
            ", ".join(found[name].probe.kinds),
            data_of(found[name]),
            gives,
        )
        for name, (guide, gives) in GUIDES.items()
    ]
    table = table_of(("question", "instrument", "models", "data", "gives"), rows)
    return "\n\n".join([head.rstrip(), "# Choose an instrument", CHOOSE, table, CAUTION]) + "\n"


def data_of(instrument: Instrument) -> str:
    """Return the kinds of data that an instrument reads, and the sets that ship."""
    sets = bundled_sets(instrument)
    formats = list(instrument.formats) or ["pairs drawn from a grammar, beside an original set"]
    return ", ".join(formats).replace("table of bbq", "BBQ") + (f"; bundled: {', '.join(sets)}" if sets else "")


def data_page() -> str:
    """Return the page of data sets and their licences."""
    head = front_matter("Bundled and public data sets that penchant reads, with size, languages, licence and source.")
    users: dict[str, list[str]] = {}
    for name, each in instruments().items():
        for found in bundled_sets(each):
            users.setdefault(found, []).append(f"`{name}`")
    places = {
        place.parent.name: place.relative_to(DOCS.parent) for place in PACKAGE.glob("instruments/*/sets/*/STATEMENT.md")
    }
    bundled = [
        (f"`{name}`", ", ".join(users[name]), SETS[name], f"[statement](../{places[name]})" if name in places else "")
        for name in sorted(users)
    ]
    public = [public_row(each) for each in public_sets()]
    parts = [
        head.rstrip(),
        "# Data sets and licences",
        LICENCES,
        "## Bundled sets",
        table_of(("set", "for", "content", "data statement"), bundled),
        "## Public sets",
        table_of(("set", "for", "languages", "size", "licence", "may be passed on", "read as"), public),
        OWN,
    ]
    return "\n\n".join(parts) + "\n"


def public_row(each: PublicSet) -> tuple[str, ...]:
    """Return the row of a public set."""
    name, languages = f"[{each.name}]({each.url})", ", ".join(each.languages)
    terms = TERMS[each.redistribution]
    return (name, f"`{each.instrument}`", languages, each.size, each.licence, terms, each.read_as)


def table_of(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    names = list(columns)
    cells = [names, ["---"] * len(names), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


if __name__ == "__main__":
    main()

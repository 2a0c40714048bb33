"""Small grammars for tests: one like English, one of cases and genders, one of levels of politeness."""

from __future__ import annotations

import csv
import functools
import io
import tempfile
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from penchant.grammar.generate import Generated
from penchant.grammar.grammar import Grammar, read_grammar

Tables = dict[str, list[dict[str, str]]]


def rows(text: str) -> list[dict[str, str]]:
    """The rows of a table whose columns stand under each other, `-` for an empty cell."""
    header, *lines = [line.split() for line in unicodedata.normalize("NFC", text).strip().splitlines()]
    return [{n: "" if c == "-" else c.replace("+", " ") for n, c in zip(header, line, strict=True)} for line in lines]


GARDEN_TABLES: Tables = {
    "noun": rows("""
        lemma    singular plural   human kind        sound     irregular
        teacher  teacher  teachers yes   person      consonant -
        child    child    children yes   person      consonant yes
        owl      owl      owls     -     animal      vowel     -
        cactus   cactus   cacti    -     plant       consonant yes
        axe      axe      axes     -     tool+thing  vowel     yes
        scissors -        scissors -     tool+thing  consonant -
        rice     rice     -        -     food+thing  consonant -
    """),
    "verb": rows("""
        lemma past    class        alternates subject               object
        break broke   change       yes        human=yes;kind=animal kind=tool;kind=plant^number=singular
        melt  melted  change       yes        -                     kind=food;number=plural^human!=yes
        turn  turned  change       yes        kind!=plant           -
        exist existed intransitive -          -                     -
        laugh laughed intransitive no         human=yes             -
        nod   nodded  intransitive no         human=yes^number=plural -
    """),
    "determiner": rows("""
        lemma number   sound
        the   -        -
        a     singular consonant
        an    singular vowel
        these plural   -
    """),
    "name": rows("""
        lemma singular number
        Mary  Mary     singular
        Omar  Omar     singular
    """),
}
GARDEN: dict[str, Any] = yaml.safe_load("""
name: garden
language: en
categories:
  noun: {file: noun.csv, forms: [singular, plural]}
  verb: {file: verb.csv, forms: [past], restrictions: [subject, object]}
  determiner: {file: determiner.csv}
  name: {file: name.csv, forms: [singular]}
paradigms:
  causative:
    field: syntax
    linguistics_term: argument_structure
    slots:
      verb: {category: verb, where: alternates=yes}
      subject: {category: noun, where: human=yes, choose: {number: [singular, plural]}, fits: verb.subject}
      object: {category: noun, choose: {number: [singular, plural]}, fits: [verb.object], differs: subject}
      det1: {category: determiner, agree: {number: subject.number, sound: subject.sound}}
      det2: {category: determiner, agree: {number: object.number, sound: object.sound}}
    good: "{det1} {subject:number} {verb:past} {det2} {object:number}."
    bad: "{det1} {subject:number} {verb:past} {det2} {object:number}."
    vary: {verb: {where: class=intransitive, takes: {subject: subject}}}
  animate:
    slots:
      patient: {category: [noun, name], choose: {number: [singular]}, where: kind!=food}
      verb: {category: verb, takes: {object: patient}}
      det: {category: determiner}
      agent:
        category: noun
        where: human=yes
        choose: {number: [singular, plural]}
        agree: {sound: det.sound, number: det.number}
        differs: [patient]
    good: "{det} {agent:number} {verb:past} {patient:number}."
    bad: "{det} {agent:number} {verb:past} {patient:number}."
    vary: {agent: {where: human!=yes}}
  nouns:
    slots:
      det: {category: determiner, where: number=plural}
      noun: {category: noun, where: irregular=yes}
      verb: {category: verb}
    good: "{det} {noun:plural} {verb:past}."
    bad: "{det} {noun:singular} {verb:past}."
  order:
    slots:
      one: {category: name}
      verb: {category: verb, fits: []}
      two: {category: name, differs: [one]}
    good: "¿{one} {verb:past} {two}?"
    bad: "¿{verb:past} {one} {two}?"
""")

CASES_TABLES: Tables = {
    "noun": rows("""
        lemma gender nom.sg nom.pl acc.sg
        hrad  m      hrad   hrady  hrad
        žena  f      žena   ženy   ženu
        město n      město  města  město
        dveře f      -      dveře  -
    """),
    "verb": rows("""
        lemma past.m.sg past.f.sg past.n.sg past.m.pl past.f.pl past.n.pl
        být   byl       byla      bylo      byly      byly      byla
        stát  stál      stála     stálo     stály     stály     stála
    """),
}
CASES: dict[str, Any] = yaml.safe_load("""
name: cases
language: cs
categories:
  noun: {file: noun.csv, forms: [nom.sg, nom.pl, acc.sg]}
  verb: {file: verb.csv, forms: [past.m.sg, past.f.sg, past.n.sg, past.m.pl, past.f.pl, past.n.pl]}
paradigms:
  gender:
    slots:
      subject: {category: noun, choose: {number: [sg, pl]}}
      verb: {category: verb, agree: {gender: subject.gender, number: subject.number}}
      object: {category: noun, differs: [subject]}
    good: "{subject:nom.number} {verb:past.gender.number} za {object:acc.sg}."
    bad: "{subject:nom.number} {verb:past.gender.number} za {object:acc.sg}."
    vary:
      verb:
        choose: {gender: [m, f, n]}
        agree: {lemma: verb.lemma, number: subject.number}
        differs: [subject.gender]
""")

POLITE_TABLES: Tables = {
    "pronoun": rows("""
        lemma level
        তুই   intimate
        তুমি  familiar
        আপনি  polite
    """),
    "verb": rows("""
        lemma  intimate familiar polite
        যাওয়া যাস      যাও      যান
        খাওয়া খাস      খাও      খান
    """),
}
POLITE: dict[str, Any] = yaml.safe_load("""
name: polite
language: bn
categories:
  pronoun: {file: pronoun.csv}
  verb: {file: verb.csv, forms: [intimate, familiar, polite]}
paradigms:
  level:
    slots:
      subject: {category: pronoun}
      verb: {category: verb, agree: {level: subject.level}}
    good: "{subject} {verb:level}।"
    bad: "{subject} {verb:level}।"
    vary:
      verb: {agree: {lemma: verb.lemma}, choose: {level: [intimate, familiar, polite]}, differs: [subject.level]}
""")

TOYS: dict[str, tuple[dict[str, Any], Tables]] = {
    "garden": (GARDEN, GARDEN_TABLES),
    "cases": (CASES, CASES_TABLES),
    "polite": (POLITE, POLITE_TABLES),
}
PARADIGMS = [(toy, paradigm) for toy, (grammar, _) in TOYS.items() for paradigm in grammar["paradigms"]]


@functools.cache
def toy(name: str) -> Grammar:
    """The grammar of a toy, read once."""
    with tempfile.TemporaryDirectory() as directory:
        return read_grammar(write_grammar(Path(directory), *TOYS[name]))


def sentences(found: Generated) -> list[tuple[str, str]]:
    return [(pair.good, pair.bad) for pair in found.pairs]


def words(texts: list[str]) -> list[int]:
    """Return the number of words in each text."""
    return [len(text.split()) for text in texts]


def write_table(rows: list[dict[str, str]], file: Path) -> None:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    file.write_text(text.getvalue(), "utf-8")


def write_grammar(directory: Path, grammar: Mapping[str, Any], tables: Mapping[str, list[dict[str, str]]]) -> Path:
    """A directory with grammar.yaml and a table for each category."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "grammar.yaml").write_text(yaml.safe_dump(dict(grammar), allow_unicode=True, sort_keys=False), "utf-8")
    for category, own in tables.items():
        write_table(own, directory / f"{category}.csv")
    return directory

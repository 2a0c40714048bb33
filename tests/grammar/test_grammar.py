"""Grammars are read as they were written, and what is wrong in them is told with file, line and key."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import yaml

from builders import refusal
from penchant.errors import DataError
from penchant.grammar.features import parse_condition
from penchant.grammar.grammar import BUNDLED_GRAMMARS, bundled_grammars, find_grammar, read_grammar
from penchant.grammar.grammar_file import GrammarFile
from penchant.grammar.paradigms import FormReference
from toy_grammars import TOYS, write_grammar

GRAMMAR = """\
name: garden
language: en
statement: statement.md
lexicon: [small.csv]
categories:
  noun: {file: nouns.csv, forms: [singular, plural]}
  verb: {file: verbs.csv, forms: [past], restrictions: [object]}
  particle:
paradigms:
  objects:
    field: syntax
    linguistics_term: s-selection
    slots:
      verb: {category: verb, where: "class=eat^human!=yes"}
      object:
        category: noun
        choose: {number: [singular, plural]}
        fits: verb.object
      det: {category: determiner, agree: {number: object.number}}
      other: {category: [noun, particle], differs: object}
    good: "{det} {object:number} {verb:past} the {other}."
    bad: "{det} {object:number} {verb:past} the {other}."
    vary:
      object: {fits: [], where: kind!=food}
"""
NOUNS = "lemma,singular,plural,kind\npear,pear,pears,food thing\nstone,stone,,thing\n s\u030cip ,s\u030cip,,\n"
VERBS = "lemma,past,class,object,human\neat,ate,eat,kind=food,\nsee,saw,look,kind=food;number=plural,\n"
SMALL = "category,lemma,number\ndeterminer,the,\ndeterminer,one,singular\nparticle,up,\n"
FILES = {"grammar.yaml": GRAMMAR, "nouns.csv": NOUNS, "verbs.csv": VERBS, "small.csv": SMALL, "statement.md": "Ours."}


def write(directory: Path, **changed: str) -> Path:
    """The grammar above, with files replaced: `nouns` stands for nouns.csv."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (directory / name).write_text(changed.get(Path(name).stem, text), "utf-8")
    return directory


def refused(read: Callable[[], object], start: str) -> str:
    message = refusal(read, DataError)
    assert message.startswith(start), message
    return message


def test_a_grammar_is_read_as_it_was_written(tmp_path: Path) -> None:
    directory = write(tmp_path / "g")
    found = read_grammar(directory)
    assert (found.name, found.language, found.statement) == ("garden", "en", directory / "statement.md")
    assert found.files == tuple(directory / name for name in ("grammar.yaml", "small.csv", "nouns.csv", "verbs.csv"))
    hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in found.files]
    assert found.sha256 == hashlib.sha256("".join(hashes).encode()).hexdigest()
    assert list(found.lexicon) == ["noun", "verb", "particle", "determiner"]
    noun = found.lexicon["noun"]
    assert noun.forms == frozenset(("lemma", "singular", "plural"))
    assert (noun.features, noun.restrictions) == (frozenset(("kind",)), frozenset())
    pear, stone, ship = noun.entries
    assert pear.forms == {"lemma": "pear", "singular": "pear", "plural": "pears"}
    forms = {"lemma": ("pear",), "singular": ("pear",), "plural": ("pears",)}
    assert pear.values == {**forms, "category": ("noun",), "kind": ("food", "thing")}
    assert stone.forms == {"lemma": "stone", "singular": "stone"}
    assert (stone.file, stone.line) == (directory / "nouns.csv", 3)
    assert ship.lemma == ship.forms["singular"] == unicodedata.normalize("NFC", "s\u030cip") == "šip"
    assert [verb.restrictions for verb in found.lexicon["verb"].entries] == [
        {"object": parse_condition("kind=food")},
        {"object": parse_condition("kind=food;number=plural")},
    ]
    assert found.lexicon["verb"].entries[0].restriction("subject").matches({})
    assert [entry.lemma for entry in found.lexicon["determiner"].entries] == ["the", "one"]


def test_a_paradigm_is_read_as_it_was_written(tmp_path: Path) -> None:
    paradigm = read_grammar(write(tmp_path) / "grammar.yaml").paradigms["objects"]
    assert (paradigm.name, paradigm.field, paradigm.linguistics_term) == ("objects", "syntax", "s-selection")
    slots = paradigm.slots
    assert list(slots) == ["verb", "object", "det", "other"]
    assert slots["verb"].where == parse_condition("class=eat^human!=yes")
    assert slots["object"].choose == {"number": ("singular", "plural")}
    assert slots["object"].fits == (("verb", "object"),)
    assert slots["det"].agree == {"number": (("object", "number"),)}
    assert (slots["other"].categories, slots["other"].differs) == (("noun", "particle"), (("object", "lemma"),))
    parts = {"det": ("lemma", False), "object": ("number", True), "verb": ("past", False), "other": ("lemma", False)}
    det, thing, verb, other = (FormReference(slot, (part,)) for slot, part in parts.items())
    assert paradigm.good.pieces == (det, " ", thing, " ", verb, " the ", other, ".")
    varied = paradigm.vary["object"]
    assert (varied.fits, varied.where) == ((), parse_condition("kind!=food"))
    # What is not given is kept, the number that the good sentence chose included.
    assert (varied.categories, varied.choose) == (slots["object"].categories, slots["object"].choose)
    assert varied.agree == {"number": (("object", "number"),)}


def test_a_column_of_several_parts_is_named_by_features(tmp_path: Path) -> None:
    grammar, tables = TOYS["cases"]
    paradigm = read_grammar(write_grammar(tmp_path, grammar, tables)).paradigms["gender"]
    assert paradigm.good.references == [
        FormReference("subject", (("nom", False), ("number", True))),
        FormReference("verb", (("past", False), ("gender", True), ("number", True))),
        FormReference("object", (("acc.sg", False),)),
    ]


def test_a_grammar_has_the_name_of_its_directory(tmp_path: Path) -> None:
    text = GRAMMAR.replace("name: garden\n", "").replace("language: en\n", "").replace("statement: statement.md\n", "")
    found = read_grammar(write(tmp_path / "meadow", grammar=text))
    assert (found.name, found.language, found.statement) == ("meadow", "und", None)


def test_a_category_may_be_named_by_its_table_alone(tmp_path: Path) -> None:
    text = GRAMMAR.replace("particle:\n", "particle: small.csv\n  determiner: det.csv\n").replace("[small.csv]", "[]")
    directory = write(tmp_path, grammar=text, small="lemma\nup\n")
    (directory / "det.csv").write_text("lemma,number\nthe,\n", "utf-8")
    assert [entry.lemma for entry in read_grammar(directory).lexicon["particle"].entries] == ["up"]


def test_the_schema_takes_what_the_reader_takes() -> None:
    schema = GrammarFile.model_json_schema()
    jsonschema.validate(yaml.safe_load(GRAMMAR.replace("  particle:\n", "  particle: {}\n")), schema)
    for grammar, _ in TOYS.values():
        jsonschema.validate(grammar, schema)


# What is wrong in grammar.yaml


WRONG = r"""
language: en => langauge: en | langauge | unknown key
language: en => language: false | language | expected a string, got False: put quotes around a word that YAML reads as
statement.md => none.md | statement | there is no file
  objects:\n => @  objects: {}\n  objects:\n | paradigms.objects | the key appears again on line 11
field: syntax => fields: syntax | paradigms.objects.fields | unknown key
particle:\n => particle: {forms: [up]}\n | categories.particle.forms.0 | no table of category 'particle' has a column 'u
past], restrictions: [object => past], restrictions: [lemma | categories.verb.restrictions.0 | the column 'lemma'
past], restrictions: [object => past], restrictions: [past | categories.verb.forms.0 | the column 'past' is already
  particle:\n => @  pronoun:\n | categories.pronoun | no table has a word of category 'pronoun'
  particle:\n => @  other: nouns.csv\n | categories.other.file | the table already belongs to category 'noun'
verb: {c => my verb: {c | slots.my verb | the name of a slot must not contain a space
{category: verb, => {category: verbs, | slots.verb.category | there is no category 'verbs' — did you mean verb?
class=eat^ => class^ | slots.verb.where | expected a test such as number=plural or number!=plural at character 1 of
class=eat^ => clas=eat^ | slots.verb.where | the words of slot 'verb' have no column 'clas' — did you mean class?
class=eat^ => object=eat^ | slots.verb.where | the words of slot 'verb' have no column 'object'
class=eat^ => class=eats^ | slots.verb | no word of category verb with class=eats^human!=yes can be drawn
number: [singular, plural] => number: [true, no] | slots.object.choose.number.0 | expected a string, got True
number: [singular, plural] => number: [a b] | slots.object.choose.number | values must not contain spaces: 'a b'
{number: [singular, plural]}\n => {plural: [x]}\n | slots.object.choose.plural | 'plural' is a form or the category
fits: verb.object => fits: vreb.object | slots.object.fits | there is no slot 'vreb' — did you mean verb?
fits: verb.object => fits: verb | slots.object.fits | expected a slot restriction, such as verb.object, got 'verb'
fits: verb.object => fits: verb.class | slots.object.fits | the words of slot 'verb' have no restriction 'class'
fits: verb.object => fits: object.kind | slots.object.fits | slot 'object' is not drawn before this one — slots drawn
fits: verb.object => agree: {kind: det.number} | slots.object.agree.kind | slot 'det' is not drawn before this one
{number: object.number} => {number: object} | slots.det.agree.number | expected a slot feature, such as object.num
{number: object.number} => {number: object.nubmer} | slots.det.agree.number | the words of slot 'object' have no feature
{number: object.number} => {number: object.plural} | slots.det.agree.number | the words of slot 'object' have no feature
{number: object.number} => {nubmer: object.number} | slots.det.agree.nubmer | the words of slot 'det' have no feature
agree: {number: object.number} => takes: {kind: object} | slots.det.takes.kind | the words of slot 'det' have no restric
where: "class=eat^human!=yes" => takes: {object: other} | slots.verb.takes.object | slot 'other' is not drawn before thi
differs: object => differs: [objects] | slots.other.differs | there is no slot 'objects'
differs: object => differs: [other] | slots.other.differs | slot 'other' is not drawn before this one
differs: object => differs: [verb.class] | slots.other.differs | the words of slot 'other' have no feature 'class'
differs: object => whre: kind= | slots.other.whre | unknown key
    good: "{det} =>     good: "{dte} | good | there is no slot 'dte' — did you mean det?
    good: "{det} =>     good: "{det:plural} | good | the words of slot 'det' have no form or feature 'plural'
    bad: "{det} =>     bad: "{det:number.x} | bad | the words of slot 'det' have no form '<number>.x'
    good: "{det} =>     good: "{{det} | good | braces may contain only a slot
    bad: "{det} =>     bad: "det} | bad | braces may contain only a slot
      object: {fits =>       objcet: {fits | vary.objcet | there is no slot 'objcet' — did you mean object?
{fits: [], where => {fits: det.object, where | vary.object.fits | the words of slot 'det' have no restriction 'object'
kind!=food} => kind!=food}\n@      other: {category: nuon} | vary.other.category | there is no category 'nuon'
kind!=food} => kind!=food, differs: [other]}\n      other: {} | vary.object.differs | slot 'other' is not drawn before
kind!=food} => sort=} | vary.object.where | the words of slot 'object' have no column 'sort'
kind!=food} => kind=tree} | vary.object | no word of category noun with kind=tree can be drawn
kind!=food} => kind!=food}\n@      verb: | vary.verb | the bad sentence does not use slot 'verb'
"""
"""An old text, the new one, the key and the message; `@` marks the line that is told, if it is not the first of the
new text."""


@pytest.mark.parametrize("case", WRONG.strip("\n").split("\n"))
def test_what_is_wrong_is_told_with_file_line_and_key(tmp_path: Path, case: str) -> None:
    change, key, message = case.replace("\\n", "\n").split(" | ")
    old, new = change.split(" => ")
    assert GRAMMAR.count(old) == 1
    text = GRAMMAR.replace(old, new)
    if key == "vary.verb":
        text = text.replace('bad: "{det} {object:number} {verb:past}', 'bad: "{det} {object:number}')
    line = text[: text.index("@" if "@" in text else new)].count("\n") + 1
    directory = write(tmp_path, grammar=text.replace("@", ""))
    if key.split(".")[0] in ("slots", "vary", "good", "bad"):
        key = f"paradigms.objects.{key}"
    refused(lambda: read_grammar(directory), f"{directory / 'grammar.yaml'}, line {line}, field '{key}': {message}")


DUAL = "the words of slot 'object' have no form 'd"
VARY = "    vary:\n      object: {fits: [], where: kind!=food}\n"


@pytest.mark.parametrize(
    ("old", "new", "at", "key", "message"),
    [
        ("    bad: ", "    worse: ", "  objects:", "bad", "is missing"),
        ("number: [singular, plural]", "number: [singular, dual]", "    good:", "good", DUAL),
        (VARY, "", "    bad:", "bad", "the bad sentence equals the good"),
    ],
)
def test_what_is_wrong_elsewhere_is_told_where_it_is(
    tmp_path: Path, old: str, new: str, at: str, key: str, message: str
) -> None:
    assert GRAMMAR.count(old) == 1
    directory = write(tmp_path, grammar=GRAMMAR.replace(old, new))
    line = GRAMMAR[: GRAMMAR.index(at)].count("\n") + 1
    where = f"{directory / 'grammar.yaml'}, line {line}, field 'paradigms.objects.{key}'"
    refused(lambda: read_grammar(directory), f"{where}: {message}")


def test_a_grammar_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    place = tmp_path / "grammar.yaml"
    refused(lambda: read_grammar(tmp_path / "none"), f"{tmp_path / 'none'}: no such file or directory")
    refused(lambda: read_grammar(tmp_path), f"{tmp_path}: the directory does not contain grammar.yaml")
    for text, message in (
        ("a: [b", f"{place}, line 1: is not valid YAML"),
        ("x: 1\n\ty: 2\n", f"{place}, line 2: is not valid YAML"),
        ("name: !!timestamp 2024-13-45", f"{place}, line 1: contains '2024-13-45'"),
        ("- a\n", f"{place}: is not a YAML mapping with keys such as name"),
        ("", f"{place}: is not a YAML mapping with keys such as name"),
        ("name: a\n", f"{place}, field 'paradigms': is missing"),
        ("name: a\ncategories: {noun: nouns.csv}\nparadigms: {}", f"{tmp_path / 'nouns.csv'}: no such file"),
    ):
        place.write_text(text, "utf-8")
        refused(lambda: read_grammar(tmp_path), message)
    place.write_bytes(b"name: \xff")
    refused(lambda: read_grammar(tmp_path), f"{place}, line 1: is not UTF-8")


# What is wrong in a table


@pytest.mark.parametrize(
    ("table", "old", "new", "line", "message"),
    [
        ("nouns", "stone,stone,,thing", "stone,stone,,thing,", 3, ": 5 fields, but the header has 4"),
        ("nouns", "lemma,", "lema,", 2, ": there is no column 'lemma' — the columns are lema, sing"),
        ("nouns", "stone,stone", ",stone", 3, ", field 'lemma': the field is blank"),
        ("nouns", "stone,stone,,", "pear,pear,pears,food ", 3, ": the word 'pear' is already listed on line 2"),
        ("nouns", ",kind\n", ",category\n", 2, ", field 'category': unexpected column"),
        ("verbs", ";number=plural", ";;number=plural", 3, ", field 'object': expected a test such as number=plural"),
        ("verbs", ";number=plural", ";nubmer=plural", 3, ", field 'object': no table has the column 'nubmer', wh"),
        (
            "verbs",
            "eat,ate,eat,kind=food",
            "eat,ate,eat,object=food",
            2,
            ", field 'object': no table has the column 'obj",
        ),
        ("small", "category,", "kategory,", 2, ": there is no column 'category'"),
        ("small", "particle,", ",", 4, ", field 'category': the field is blank"),
    ],
)
def test_what_is_wrong_in_a_table_is_told(
    tmp_path: Path, table: str, old: str, new: str, line: int, message: str
) -> None:
    text = FILES[f"{table}.csv"]
    assert text.count(old) == 1
    directory = write(tmp_path, **{table: text.replace(old, new)})
    refused(lambda: read_grammar(directory), f"{directory / table}.csv, line {line}{message}")


def test_a_column_of_forms_must_be_there(tmp_path: Path) -> None:
    directory = write(tmp_path, nouns=NOUNS.replace("plural", "plurals"))
    where = f"{directory / 'grammar.yaml'}, line 6, field 'categories.noun.forms.1'"
    message = "no table of category 'noun' has a column 'plural' — did you mean plurals?"
    refused(lambda: read_grammar(directory), f"{where}: {message}")


def test_a_restriction_may_ask_for_a_value_that_only_a_paradigm_gives(tmp_path: Path) -> None:
    text = GRAMMAR.replace("{number: object.number}", "{count: object.number}")
    directory = write(tmp_path, grammar=text, small=SMALL.replace("number", "count"))
    assert "number" not in {name for category in read_grammar(directory).lexicon.values() for name in category.features}


def test_words_that_share_a_lemma_are_two(tmp_path: Path) -> None:
    directory = write(tmp_path, nouns=NOUNS + "pear,pear,pears,tree\n")
    assert [entry.lemma for entry in read_grammar(directory).lexicon["noun"].entries].count("pear") == 2


# Where grammars are


def test_a_grammar_is_found_by_directory_or_name(tmp_path: Path) -> None:
    assert find_grammar(tmp_path) == tmp_path
    for name in bundled_grammars():
        assert find_grammar(name) == BUNDLED_GRAMMARS / name
    for name in ("", "nowhere"):
        message = refused(lambda name=name: find_grammar(name), f"there is no grammar '{name}'")  # type: ignore[misc]
        assert all(known in message for known in bundled_grammars())


def test_a_bundled_grammar_goes_before_nothing_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penchant.grammar.grammar.BUNDLED_GRAMMARS", tmp_path / "bundled")
    write(tmp_path / "bundled" / "xx")
    (tmp_path / "bundled" / "empty").mkdir()
    assert bundled_grammars() == ["xx"]
    monkeypatch.chdir(tmp_path)
    assert find_grammar("xx") == tmp_path / "bundled" / "xx"
    write(tmp_path / "xx")
    assert find_grammar("xx") == Path("xx")

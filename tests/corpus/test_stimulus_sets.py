"""Stimuli of association tests are read as they were written, wherever they stand, and what is wrong is told."""

from __future__ import annotations

import copy
import csv
import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from answers import without_line
from builders import refusal
from paths import INSTRUMENTS, SHARED, bundled, needs_shared
from penchant.corpus.association_categories import Category, Context, WordList
from penchant.corpus.stimulus_file_models import MEASURES, SCHEMAS
from penchant.corpus.stimulus_sets import StimulusSet, read_stimuli
from penchant.corpus.stimulus_spelling_checks import orthography
from penchant.errors import DataError
from penchant.text_io import saved_as_utf8

Write = Callable[[str, object], Path]

quick = settings(max_examples=60, deadline=None)

SET = """
name: garden
language: en
statement: STATEMENT.md
lists:
  flowers: {label: Flowers, templates: thing, words: [rose, " tulip ", 'no', 7]}
  insects: {templates: thing, words: [ant, moth, gnat, bee]}
  good: {words: [joy, s\u030ckola]}
  bad: {words: [war]}
templates:
  thing: ["Here is the {word}.", "{word}s are there."]
contexts:
  meaning:
    - {structure: S1, text: "The {target} means {attribute}."}
    - {structure: S3, text: "{attribute}ness: the {target}s."}
categories:
  C1: {label: flowers and insects, X: flowers, Y: insects, A: good, B: bad, contexts: meaning, paired: true}
  C7: {X: good, Y: bad, A: flowers, B: insects, contexts: meaning, target: attributes, measures: [ceat, weat]}
suffixes:
  groups: {plural: [s, es], of: ["'s", s]}
  lists: {flowers: plural, good: [of]}
  words: {tulip: [of, plural], joy: []}
"""
Y: dict[str, Any] = yaml.safe_load(SET)


def refused(read: Callable[[], object], start: str) -> None:
    message = refusal(read, DataError)
    assert message.startswith(start) or without_line(message).startswith(start), message


def sizes(category: Category) -> tuple[int, ...]:
    return tuple(len(own.words) for own in category.lists())


# set.yaml ---------------------------------------------------------------------------------------------------------


def test_a_set_is_read_as_it_was_written(write: Write) -> None:
    file = write("set/set.yaml", SET)
    found = read_stimuli(file)
    assert found == read_stimuli(str(file.parent))
    assert (found.name, found.language, found.files) == ("garden", "en", (file,))
    thing = ("Here is the {word}.", "{word}s are there.")
    flowers = WordList("flowers", "Flowers", ("rose", "tulip", "no", "7"), thing)
    insects = WordList("insects", "insects", ("ant", "moth", "gnat", "bee"), thing)
    good, bad = WordList("good", "good", ("joy", "s\u030ckola")), WordList("bad", "bad", ("war",))
    contexts = (Context("S1", "The {target} means {attribute}."), Context("S3", "{attribute}ness: the {target}s."))
    one = Category("C1", "flowers and insects", flowers, insects, good, bad, contexts, paired=True)
    place = f"{file}, categories."
    assert found.categories == (
        Category(**{**fields(one), "place": place + "C1", "measures": ("weat", "seat", "ceat", "logprob-bias")}),
        Category(
            "C7", "C7", good, bad, flowers, insects, contexts, "attributes", False, ("weat", "ceat"), place + "C7"
        ),
    )
    assert found.words() == ["rose", "tulip", "no", "7", "ant", "moth", "gnat", "bee", "joy", "s\u030ckola", "war"]


def fields(category: Category) -> dict[str, Any]:
    return {name: getattr(category, name) for name in Category.__slots__}


def test_a_set_has_the_name_of_its_directory_or_file(write: Write) -> None:
    bare = {key: Y[key] for key in ("lists", "templates", "contexts", "categories")}
    assert read_stimuli(write("meadow/set.yaml", bare)).name == "meadow"
    found = read_stimuli(write("meadow/small.yml", bare))
    assert (found.name, found.language, found.suffixes) == ("small", "und", {})


def test_the_hash_covers_every_file(write: Write) -> None:
    file, suffixes = write("a/set.yaml", SET.replace("suffixes:", "suffixes:\n  file: s.json")), write("a/s.json", "{}")
    table = write("t.csv", "category,set,word\n" + "".join(f"C2,{key},w{key}\n" for key in "XYAB"))
    found = read_stimuli([file.parent, table])
    assert found.files == (file, suffixes, table)
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in found.files]
    assert found.sha256 == hashlib.sha256("".join(hashes).encode()).hexdigest()
    write("a/s.json", "{ }")
    assert read_stimuli([file.parent, table]).sha256 != found.sha256


def test_the_word_goes_before_the_file_and_the_file_before_the_list(write: Write) -> None:
    found = read_stimuli(write("set/set.yaml", SET))
    assert found.forms("rose") == ("rose", "roses", "rosees")
    assert found.forms("tulip") == ("tulip", "tulip's", "tulips", "tulipes")
    assert found.suffixes["tulip"] == ("'s", "s", "es")
    assert (found.forms("joy"), found.forms("war"), found.forms("nobody")) == (("joy",), ("war",), ("nobody",))
    assert found.forms("škola") == ("škola", "škola's", "školas")
    # An object over several lines, with spaces at their ends and a tab; a word that is in no list is not in the way.
    own = '{\n  " rose": [\n\t"bush", \n "s\u030c" \n\t],\n "tulip": ["x"], "7": [], "elm": ["s"]}\n\n'
    write("set/s.jsonl", own)
    found = read_stimuli(write("set/set.yaml", SET.replace("suffixes:", "suffixes:\n  file: s.jsonl")))
    assert found.forms("rose") == ("rose", "rosebush", "roseš")
    assert found.forms("tulip") == ("tulip", "tulip's", "tulips", "tulipes")
    assert (found.forms("7"), found.forms("no")) == (("7",), ("no", "nos", "noes"))


def test_forms_are_composed_and_once_each() -> None:
    found = StimulusSet("s", "und", (), {"cafe": ("\u0301", "s", "\u0301"), "s\u030c": ("",)}, (), "")
    assert found.forms("cafe") == ("cafe", "café", "cafes")
    assert found.forms("s\u030c") == ("š",)


def test_a_word_of_two_lists_takes_the_suffixes_of_both(write: Write) -> None:
    about = changed({("lists", "bad", "words"): ["joy", "rose"], ("suffixes",): {}})
    about["suffixes"] = {"groups": {"a": ["s"], "b": ["t", "s"]}, "lists": {"flowers": "a", "bad": ["b"]}}
    assert read_stimuli(write("set.yaml", about)).suffixes["rose"] == ("s", "t")


def test_repeated_words_are_listed_and_no_error(write: Write) -> None:
    words = {"flowers": ["a", "b", "a", "é"], "insects": ["c", "b", "d", "e\u0301"], "good": ["c", "g"], "bad": ["g"]}
    about = changed({("suffixes",): {}} | {("lists", name, "words"): own for name, own in words.items()})
    one, other = read_stimuli(write("set.yaml", about)).categories
    # c is a target and an attribute, which is no repetition.
    assert (one.repeated(), other.repeated()) == (["a", "b", "é", "g"], ["g", "a", "b", "é"])


def changed(changes: Mapping[Any, Any]) -> dict[str, Any]:
    """The set with something else at these paths, or without it (...)."""
    about: Any = copy.deepcopy(Y)
    for path, value in changes.items():
        inner = about
        for key in path[:-1]:
            inner = inner[key]
        if value is ...:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
    return dict(about)


ONCE, BRACES = "must occur exactly once in the sentence, not", "braces are allowed only in"
QUOTES = "put quotes around a word that YAML reads as another type"


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("categories.C1.X", "flower", ": there is no list 'flower' — did you mean flowers?"),
        ("categories.C1.A", "zzz", ": there is no list 'zzz' — known: flowers, insects, good, bad"),
        ("categories.C1.contexts", "meanings", ": there is no family of contexts 'meanings' — did you mean"),
        ("lists.insects.templates", "x", ": there is no family of templates 'x' — known: thing"),
        ("categories.C1.B", ..., ": is missing"),
        ("categories.C1.Z", "bad", ": unknown key"),
        ("categories.C7.measures", ["weat", "weta"], ".1: input should be 'weat', 'seat', 'ceat' or"),
        ("categories.C7.measures", [], ": list should have at least 1 item"),
        ("categories.C7.target", "X", ": input should be 'targets' or 'attributes', got 'X'"),
        ("categories.C7.paired", "maybe", ": input should be a valid boolean"),
        ("categories", {}, ": dictionary should have at least 1 item"),
        ("categories", ..., ": is missing"),
        ("lists", ..., ": is missing"),
        ("lists.bad.words", [], ": list should have at least 1 item"),
        ("lists.bad.words", [False], ".0: expected a string, got False: " + QUOTES),
        ("lists.bad.words", ["war", None], ".1: expected a string, got None: " + QUOTES),
        ("lists.bad.words", ["war", " \t"], ".1: the field is blank"),
        ("lists.bad.words", ["war", ["x"]], ".1: expected a string, got ['x']"),
        ("lists.bad.words", "war", ": input should be a valid list, got 'war'"),
        ("lists.bad.labels", "x", ": unknown key"),
        ("templates.thing", ["Here it is."], ".0: {word} " + ONCE + " 0 times"),
        ("templates.thing", ["A {word}.", "A {word} is a {word}."], ".1: {word} " + ONCE + " 2 times"),
        ("templates.thing", ["A {word} is {so}."], ".0: " + BRACES + " {word}"),
        ("templates.thing", ["A {{word}}."], ".0: " + BRACES + " {word}"),
        ("templates.thing", ["A { word }."], ".0: {word} " + ONCE + " 0 times"),
        ("templates.thing", ["A {word} { is."], ".0: " + BRACES + " {word}"),
        ("templates.thing", ["A {word} } is."], ".0: " + BRACES + " {word}"),
        ("templates.thing", [], ": list should have at least 1 item"),
        ("contexts.meaning.0.text", "The {target} means.", ": {attribute} " + ONCE + " 0 times"),
        ("contexts.meaning.0.text", "It means {attribute}.", ": {target} " + ONCE + " 0 times"),
        ("contexts.meaning.1.text", "{target}: {attribute} {target}", ": {target} " + ONCE + " 2 times"),
        ("contexts.meaning.1.text", "{attribute}, {target}, {attribute}", ": {attribute} " + ONCE + " 2 times"),
        ("contexts.meaning.1.text", "{target} {attribute} {word}", ": " + BRACES + " {target} and {attribute}"),
        ("contexts.meaning.1.text", " ", ": the field is blank"),
        ("contexts.meaning.1.structure", ..., ": is missing"),
        ("contexts.meaning.1.weight", 2, ": unknown key"),
        ("contexts.meaning", [], ": list should have at least 1 item"),
        ("suffixes.groups.plural", [], ": list should have at least 1 item"),
        ("suffixes.groups.plural", [" "], ".0: the field is blank"),
        ("suffixes.lists.flower", "plural", ": there is no list 'flower' — did you mean flowers?"),
        ("suffixes.lists.flowers", "plurals", ": there is no group of suffixes 'plurals' — did you mean plural?"),
        ("suffixes.words.rose", ["plural", "off"], ": there is no group of suffixes 'off' — did you mean of?"),
        ("suffixes.words.ros", "plural", ": there is no word 'ros' — did you mean rose?"),
        ("suffixes.roots", {}, ": unknown key"),
        ("language", False, ": is false, not a string: put it in quotes"),
        ("lexicon", "x", ": unknown key"),
    ],
)
def test_bad_sets(write: Write, path: str, value: object, told: str) -> None:
    keys = tuple(int(key) if key.isdecimal() else key for key in path.split("."))
    file = write("set.yaml", json.dumps(changed({keys: value}), ensure_ascii=True))
    refused(lambda: read_stimuli(file), f"{file}, {path}{told}")


@pytest.mark.parametrize(
    ("target", "change", "told"),
    [
        (
            "targets",
            "insects",
            "paired lists must have the same number of words, but 'flowers' has 4 and 'insects' has 1",
        ),
        ("attributes", "flowers", "paired lists must have the same number of words, but 'good' has 2 and 'bad' has 1"),
        ("attributes", "bad", None),  # X and Y do not fill the slot
        ("targets", "bad", None),
    ],
)
def test_paired_lists_are_equally_long(write: Write, target: str, change: str, told: str | None) -> None:
    lengths = {"insects": ["ant"], "flowers": ["rose"], "bad": ["war", "woe"]}
    changes = {("lists", change, "words"): lengths[change], ("categories", "C1", "target"): target, ("suffixes",): {}}
    file = write("set.yaml", changed(changes))
    if told:
        refused(lambda: read_stimuli(file), f"{file}, categories.C1.paired: {told}")
    else:
        assert read_stimuli(file).categories[0].paired


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a: b: c\n", ", line 1: is not valid YAML"),
        ("- a\n", ": is not a YAML mapping with keys such as name"),
        # YAML itself would keep the last of each in silence.
        (SET + "name: other\n", ", line 2, field 'name': the key appears again on line 23"),
        (SET.replace("  C7:", "  C1:"), ", line 17, field 'categories.C1': the key appears again on line 18"),
        (SET.replace("words: [war]", "words: [war], words: [woe]"), ", line 9, field 'lists.bad.words': the key"),
        (SET.replace("S1, text", "S1, text: '', text"), ", line 14, field 'contexts.meaning.0.text': the key appears"),
        (SET.replace("of: [", "'š': [a], 's\u030c': ["), ", line 20, field 'suffixes.groups.š': the key appears again"),
        (
            SET.replace("  bad: {", "  ' good': {"),
            ", line 8, field 'lists.good': the key appears again",
        ),
    ],
)
def test_bad_set_files(write: Write, content: str, told: str) -> None:
    file = write("set.yaml", content)
    refused(lambda: read_stimuli(file), f"{file}{told}")


def test_anchors_may_be_named_in_several_places(write: Write) -> None:
    text = SET.replace("[war]", "&w [war]").replace("[joy, s\u030ckola]", "*w").replace("joy: []", "war: []")
    text = text.replace("words: {tulip", "words: {rose: plural, tulip").replace("bad: {words: &w [war]}", "bad: *g")
    text = text.replace("good: {words: *w}", "good: &g {words: [war]}")
    assert [own.words for own in read_stimuli(write("set.yaml", text)).categories[0].lists()][2:] == [("war",)] * 2


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{}\n{}", ", line 2: is not a single JSON object: Extra data — give a JSON object of the form {word: ["),
        ("[]", ": input should be a valid dictionary"),
        ('{"rose": "s"}', ", rose: input should be a valid list"),
        ('{"rose": ["s", null]}', ", rose.1: expected a string, got None"),
        ('{"rose": ["s"],\n "rose ": ["t"]}', ", field 'rose': the key appears twice in one object"),
        ("", ", line 1: is not a single JSON object"),
    ],
)
def test_bad_suffix_files(write: Write, content: str, told: str) -> None:
    suffixes = write("s.json", content)
    file = write("set.yaml", SET.replace("suffixes:", "suffixes:\n  file: s.json"))
    refused(lambda: read_stimuli(file), f"{suffixes}{told}")
    suffixes.unlink()
    refused(lambda: read_stimuli(file), f"{suffixes}: no such file")


def test_the_schemas_accept_what_is_read_and_nothing_else() -> None:
    found = {name: model.model_json_schema() for name, model in SCHEMAS.items()}
    validate = {name: jsonschema.Draft202012Validator(schema).is_valid for name, schema in found.items()}
    written = changed({("lists", "flowers", "words"): ["rose"]})
    assert validate["set.yaml"](written)
    assert not validate["set.yaml"]({**written, "lexicon": "x"})
    assert validate["seat"](seat(*"abcd"))
    assert not validate["seat"]({"targ1": {"category": "a", "examples": ["b"]}})
    assert validate["table"]({"category": "C1", "set": "X", "word": "rose"})
    assert not validate["table"]({"category": "C1", "set": "Z", "word": "rose"})


# SEAT files and tables --------------------------------------------------------------------------------------------

SEAT = ("targ1", "targ2", "attr1", "attr2")


def seat(*words: str) -> dict[str, Any]:
    """A SEAT file of one word a set."""
    return {key: {"category": key.title(), "examples": [word]} for key, word in zip(SEAT, words, strict=True)}


def test_a_seat_file_is_one_object_over_many_lines(write: Write) -> None:
    text = """{
  "targ1": {
    "category": "Flowers",
    "examples": [
    "rose", \n    " s\u030cípek"
\t]
  }, \t
  "targ2": {"category": "Insects", "examples": ["This is an ant.", 7]},
  "attr1": {"category": " Good ", "examples": ["joy"]},
  "attr2": {"category": "Bad", "examples": ["war {so}"]}
}\n\n"""
    file = write("sent-weat1.jsonl", "\ufeff" + text)
    found = read_stimuli(file)
    assert (found.name, found.language, found.files, found.suffixes) == ("sent-weat1", "und", (file,), {})
    x = WordList("Flowers", "Flowers", ("rose", "s\u030cípek"))
    y = WordList("Insects", "Insects", ("This is an ant.", "7"))
    a, b = WordList("Good", "Good", ("joy",)), WordList("Bad", "Bad", ("war {so}",))
    assert found.categories == (Category("sent-weat1", "sent-weat1", x, y, a, b, place=str(file)),)
    assert found.categories[0].measures == MEASURES


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"category": "C1", "set": "X", "word": "a"}', ", targ1: is missing — a SEAT or CEAT file is one object"),
        (json.dumps(seat(*"abcd")) + "\n\n" + json.dumps(seat(*"abcd")), ", line 3: is not a single JSON object"),
        ("[1]", ": input should be a valid dictionary"),
        ("{\n'targ1': 1}", ", line 2: is not a single JSON object: Expecting property name"),
        (json.dumps({**seat(*"abcd"), "attr3": {}}), ", attr3: unknown key"),
        (json.dumps({**seat(*"abcd"), "attr2": ["a"]}), ", attr2: input should be a valid dictionary"),
        (json.dumps({**seat(*"abcd"), "targ2": {"category": "x", "examples": []}}), ", targ2.examples: list should"),
        (json.dumps({**seat(*"abcd"), "targ2": {"examples": ["x"]}}), ", targ2.category: is missing"),
        (json.dumps({**seat(*"abcd"), "targ1": {"category": "x", "examples": [True]}}), ", targ1.examples.0: expected"),
        (json.dumps(seat("\ud83d", *"bcd")), ", targ1.examples.0: contains half of a surrogate pair"),
        ('{"targ1": {}, "targ1": {}}', ", field 'targ1': the key appears twice in one object"),
        ('{"targ1": ' + "1" * 5000 + "}", ", line 1: is not valid JSON: a number of 5,000 digits is too long"),
    ],
)
def test_bad_seat_files(write: Write, content: str, told: str) -> None:
    file = write("c.jsonl", content)
    refused(lambda: read_stimuli(file), f"{file}{told}")


def test_bad_bytes(write: Write) -> None:
    file = write("c.json", "")
    file.write_bytes(b'{\n"targ1": "caf\xe9"}')
    refused(
        lambda: read_stimuli(file),
        f"{file}, line 2: is not UTF-8 (byte 0xe9): it looks like Latin-1 or Windows-1252 — "
        + saved_as_utf8("Latin-1 or Windows-1252"),
    )


TABLE = "category,set,word,label,source\n"


def test_a_table_is_read_in_the_order_of_its_rows(write: Write) -> None:
    rows = "C2,X,elm,,1\nC1,A,joy,Good,1\nC2,Y,ant,,1\nC1,X, rose ,,1\nC1,Y,no,,1\nC1,B,7,,1\n"
    rows += "C1,X,s\u030cípek,Flowers,1\nC2, A ,joy,,1\nC2,B,war,,1\nC1,A,peace,Good,1\n"
    file = write("words.csv", TABLE + rows)
    found = read_stimuli(file)
    good, x = WordList("Good", "Good", ("joy", "peace")), WordList("Flowers", "Flowers", ("rose", "s\u030cípek"))
    y, b = WordList("Y", "Y", ("no",)), WordList("B", "B", ("7",))
    other = (WordList("X", "X", ("elm",)), WordList("Y", "Y", ("ant",)), WordList("A", "A", ("joy",)))
    assert found.categories == (
        Category("C2", "C2", *other, WordList("B", "B", ("war",)), place=f"{file}, line 2"),
        Category("C1", "C1", x, y, good, b, place=f"{file}, line 3"),
    )
    assert (found.name, found.language) == ("words", "und")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ম\u09c7\u09af\u09bc\u09c7", "ম\u09c7\u09df\u09c7"),
        ("\u0958लम", "\u0915\u093cलम"),
        ("\u00c5", "\u212b"),
        ("\u05e9\u05c1", "\ufb2a"),
        ("\ud55c", "\u1112\u1161\u11ab"),
    ],
)
def test_words_keep_their_spelling_and_are_compared_in_any(write: Write, one: str, other: str) -> None:
    rows = f"C1,X,{other},,\nC1,Y,b,,\nC1,A,c,,\nC1,B,d,,\nC2,X,{one},,\nC2,Y,b,,\nC2,A,c,,\nC2,B,d,,\n"
    found = read_stimuli(write("words.csv", TABLE + rows))
    assert [category.x.words for category in found.categories] == [(other,), (other,)]
    assert found.words() == [other, "b", "c", "d"]
    assert found.forms(other) == found.forms(one) == (unicodedata.normalize("NFC", one),)
    twice = read_stimuli(write("twice.csv", TABLE + rows.replace("C1,Y,b", f"C1,Y,{one}")))
    assert twice.categories[0].repeated() == [other]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("C1,X,a,,\nC1,Z,b,,\n", ", line 3, field 'set': input should be 'X', 'Y', 'A' or 'B', got 'Z'"),
        ("C1,x,a,,\n", ", line 2, field 'set': input should be"),
        ("C1,X,a,,\nC1,Y,,,\n", ", line 3, field 'word': is missing"),
        ("C1,X, ,,\n", ", line 2, field 'word': the field is blank"),
        (
            "C0,X,a,,\nC1,X,a,,\nC0,Y,a,,\nC0,A,a,,\nC0,B,a,,\nC1,A,b,,\nC1,B,b,,\n",
            ", line 3, field 'set': category 'C1'",
        ),
        ("C1,X,a,,\nC1,B,a,,\n", ", line 2, field 'set': category 'C1' has no words of set Y and A"),
        (
            "C1,X,a,p,\nC1,X,b,,\nC1,X,b,q,\n",
            ", line 4, field 'label': set X of category 'C1' has another label, 'p', in an earlier row",
        ),
        ("", ": contains no rows"),
    ],
)
def test_bad_tables(write: Write, rows: str, told: str) -> None:
    file = write("words.csv", TABLE + rows)
    refused(lambda: read_stimuli(file), f"{file}{told}")
    file = write("words.tsv", "category\tset\nC1\tX\n")
    refused(lambda: read_stimuli(file), f"{file}, line 2, field 'word': is missing — the columns are category, set")


words = (
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12),
        st.sampled_from(["no", "null", "1e3", "2024-01-01", "ফুল", "{word}", "a,b", 'say "x"', "# x", "= 1", "~", "-"]),
    )
    .map(lambda text: unicodedata.normalize("NFC", text).strip())
    .filter(bool)
)
four = st.tuples(*[st.lists(words, min_size=1, max_size=4)] * 4)


@settings(max_examples=60, deadline=None)
@given(four, st.tuples(words, words, words, words))
def test_any_words_come_back_from_every_format(
    tmp_path_factory: pytest.TempPathFactory, given_words: tuple[list[str], ...], labels: tuple[str, ...]
) -> None:
    folder = tmp_path_factory.mktemp("formats")
    sets = list(zip("XYAB", SEAT, labels, given_words, strict=True))
    with (folder / "C1.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [["C1", key, word, label] for key, _, label, own in sets for word in own]
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["category", "set", "word", "label"], *rows])
    about = {name: {"category": label, "examples": own} for _, name, label, own in sets}
    (folder / "C1.jsonl").write_text(json.dumps(about, indent=1), "utf-8")
    lists = {f"list {key}": {"label": label, "words": own} for key, _, label, own in sets}
    content = {"lists": lists, "categories": {"C1": {key: f"list {key}" for key in "XYAB"}}}
    (folder / "set.yaml").write_text(yaml.safe_dump(content), "utf-8")
    expected = [(label, tuple(own)) for _, _, label, own in sets]
    for path in (folder / "C1.csv", folder / "C1.jsonl", folder):
        (category,) = read_stimuli(path).categories
        assert category.id == "C1"
        assert [(own.label, own.words) for own in category.lists()] == expected, path


# Several files ----------------------------------------------------------------------------------------------------


def test_several_files_are_one_set(write: Write) -> None:
    one = write("set/set.yaml", SET)
    two = write("ceat3.jsonl", json.dumps(seat("elm", "ant", "joy", "war")))
    three = write("b.yaml", changed({("name",): "second", ("language",): ..., ("categories", "C1"): ...}))
    refused(
        lambda: read_stimuli([one, three]), f"{three}, categories.C7: category 'C7' appears twice, first in {one}, "
    )
    content = changed({("name",): ..., ("language",): ..., ("suffixes", "words", "tulip"): ["plural"]})
    content["categories"] = {"T1": content["categories"]["C1"]}
    write("b.yaml", content)
    found = read_stimuli([one.parent, str(two), three])
    assert (found.name, found.language) == ("garden+ceat3+b", "en")
    assert [category.id for category in found.categories] == ["C1", "C7", "ceat3", "T1"]
    assert found.suffixes["tulip"] == ("'s", "s", "es")
    assert found.words()[-1] == "elm"


def test_what_cannot_be_joined_or_read(write: Write, tmp_path: Path) -> None:
    file = write("c.json", json.dumps(seat(*"abcd")))
    refused(lambda: read_stimuli([file, file]), f"{file}: category 'c' appears twice, first in {file}")
    one, two = write("set.yaml", SET), write("cs.yaml", SET.replace("language: en", "language: cs"))
    refused(lambda: read_stimuli([file, one, two, file]), f"{two}: the stimuli are in more than one language: en, cs")
    refused(lambda: read_stimuli([]), "no stimuli are given")
    refused(lambda: read_stimuli(tmp_path / "x.json"), f"{tmp_path}/x.json: no such file or directory")
    refused(
        lambda: read_stimuli(write("words.txt", "a")), f"{tmp_path}/words.txt: is not a stimulus file — give a file"
    )
    (tmp_path / "empty").mkdir()
    refused(lambda: read_stimuli(tmp_path / "empty"), f"{tmp_path}/empty: the directory contains neither set.yaml")


# Contexts ---------------------------------------------------------------------------------------------------------

fillers = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
    st.text(st.sampled_from("{}target attribute"), max_size=20),
    st.sampled_from(["{target}", "{attribute}", "\\1 \\g<0>", "%s {0}", "ক্ষুধা", "é", "{{target}}"]),
)
around = st.text(st.sampled_from("ab Žরা.,\\$"), max_size=8)


@quick
@given(fillers, fillers, around, around, around, st.booleans())
def test_the_spans_cut_out_the_words_in_either_order(
    target: str, attribute: str, before: str, between: str, after: str, first: bool
) -> None:
    slots = ("{target}", "{attribute}") if first else ("{attribute}", "{target}")
    context = Context("S1", f"{before}{slots[0]}{between}{slots[1]}{after}")
    text, (a, b), (c, d) = context.sentence(target, attribute)
    assert (text[a:b], text[c:d]) == (target, attribute)
    filled = (target, attribute) if first else (attribute, target)
    assert text == f"{before}{filled[0]}{between}{filled[1]}{after}"
    # The words may occur elsewhere too: the spans are where the slots were.
    assert (a if first else c) == len(before)
    assert len(text) - (d if first else b) == len(after)


def test_a_suffix_stays_outside_of_the_span() -> None:
    text, target, attribute = Context("S1", "{target}রা {attribute}র কথা বলে").sentence("মা", "কাজ")
    assert (text, target, attribute) == ("মারা কাজর কথা বলে", (0, 2), (5, 8))


# Orthography ------------------------------------------------------------------------------------------------------


def of(
    language: str = "und",
    *,
    words: Mapping[str, Sequence[str]] = MappingProxyType({}),
    templates: Sequence[str] = (),
    contexts: Sequence[str] = (),
    suffixes: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    target: Literal["targets", "attributes"] = "targets",
) -> StimulusSet:
    """A set of one category of these words (by x, y, a and b), with the templates in its list X."""
    x, y, a, b = (WordList(k, k, tuple(words.get(k, ())), tuple(templates) if k == "x" else ()) for k in "xyab")
    sentences = tuple(Context("S1", text) for text in contexts)
    return StimulusSet("s", language, (Category("C1", "C1", x, y, a, b, sentences, target),), suffixes, (), "")


SOUND = "rose|well-being|don't|naïve|two words|café 7|ক্ষুধা|চাঁদ|দুঃখ|র\u200d্যাব|উদ\u09cd\u200cযাপন|অ্যাকাউন্ট|বড\u09bc|ভবিষ্যৎ"
SOUND += "|क्\u200dष|žluťoučký|東京タワー|x₁|বাড়ি-ঘর।"


@pytest.mark.parametrize("word", SOUND.split("|"))
def test_sound_words(word: str) -> None:
    templates, contexts = [f"{word} {{word}}"], [f"{{target}}, {word}: {{attribute}}"]
    assert orthography(of(words={"x": [word]}, templates=templates, contexts=contexts)) == []


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("ro\u200bse", ["holds U+200B ZERO WIDTH SPACE"]),
        ("\ufeffrose", ["holds U+FEFF ZERO WIDTH NO-BREAK SPACE"]),
        ("ro\u00adse", ["holds U+00AD SOFT HYPHEN"]),
        ("ro\tse", ["holds U+0009"]),
        ("ro\u2060se\u2060", ["holds U+2060 WORD JOINER"]),
        ("ro\ue000se", ["holds U+E000"]),
        ("ro\u0378se", ["holds U+0378"]),
        ("ro\u034fse", ["holds U+034F COMBINING GRAPHEME JOINER"]),
        ("ro\u200dse", ["holds U+200D ZERO WIDTH JOINER"]),
        ("উদ্\u200c", ["holds U+200C ZERO WIDTH NON-JOINER"]),
        ("\u200dকথা", ["holds U+200D ZERO WIDTH JOINER"]),
        ("ক\u200cথা", ["holds U+200C ZERO WIDTH NON-JOINER"]),
        ("ক\u200d্য", ["holds U+200D ZERO WIDTH JOINER"]),
        ("раrk", ["mixes scripts in 'раrk': CYRILLIC, LATIN"]),
        ("কाজ", ["mixes scripts in 'কाজ': BENGALI, DEVANAGARI"]),
        ("the পa b", ["mixes scripts in 'পa': BENGALI, LATIN"]),
        ("ের", ["has a mark without a letter, U+09C7 BENGALI VOWEL SIGN E"]),
        ("ক \u0981", ["has a mark without a letter, U+0981 BENGALI SIGN CANDRABINDU"]),
        ("বাবাে", ["has a vowel sign without a consonant, U+09C7 BENGALI VOWEL SIGN E"]),
        ("two  words", ["holds two spaces in a row"]),
        ("two \u00a0words", ["holds two spaces in a row"]),
        (" rose", ["begins or ends with a space"]),
        ("rose ", ["begins or ends with a space"]),
        ("\u200brose ", ["holds U+200B ZERO WIDTH SPACE", "begins or ends with a space"]),
    ],
)
def test_unsound_words(word: str, told: list[str]) -> None:
    assert orthography(of(words={"b": [word]})) == [f"word {word!r} {problem}" for problem in told]
    if word.strip() == word:  # the same in the middle of a sentence
        template, context = f"x {word} {{word}}", f"{{attribute}} {word} {{target}}"
        assert orthography(of(templates=[template], contexts=[context])) == [
            f"{what} {problem}" for what in (f"template {template!r}", f"context {context!r}") for problem in told
        ]


def test_spaces_of_templates_and_contexts() -> None:
    assert orthography(of(words={"x": ["a"]}, templates=["A  {word}", "{word} "])) == [
        "template 'A  {word}' holds two spaces in a row",
        "template '{word} ' begins or ends with a space",
    ]
    assert orthography(of(contexts=["{target}  {attribute}"])) == [
        "context '{target}  {attribute}' holds two spaces in a row"
    ]
    assert orthography(of(words={"x": ["a"]}, templates=["A {word} b"], contexts=["{attribute} {target} x"])) == []


@pytest.mark.parametrize(
    ("language", "word", "other"),
    [
        ("en", "роза", "LATIN: CYRILLIC"),
        ("cs", "গোলাপ", "LATIN: BENGALI"),
        ("bn", "rose", "BENGALI: LATIN"),
        ("bn-BD", "गुलाब", "BENGALI: DEVANAGARI"),
        ("en", "škola", None),
        ("cs-CZ", "růže 7", None),
        ("bn", "গোলাপ ৭।", None),
        ("bn-Latn", "golap", None),
        ("und", "роза", None),
        ("ja", "ばら", None),
    ],
)
def test_letters_are_of_the_script_of_the_language(language: str, word: str, other: str | None) -> None:
    told = [f"word {word!r} has letters of another script than {other}"] if other else []
    assert orthography(of(language, words={"a": [word]})) == told
    assert len(orthography(of(language, contexts=[f"{{target}} {word} {{attribute}}"]))) == len(told)
    sound = of("bn", words={"x": ["মা"]}, templates=["{word}কে দেখি"], contexts=["{target} ও {attribute}"])
    assert orthography(sound) == []


def test_suffixes_are_looked_at_where_they_join_the_word() -> None:
    e, told = "ে", "has a vowel sign without a consonant, U+09C7 BENGALI VOWEL SIGN E"
    # A suffix may begin with a vowel sign, where the word ends in a consonant.
    found = orthography(of("bn", words={"x": ["ঘর", "বাবা"]}, suffixes={"ঘর": ("ের", "টি"), "বাবা": ("র", "ের")}))
    assert found == [f"form 'বাবা{e}র' {told}"]
    assert orthography(of("bn", words={"x": ["ঘর", "বাবা"]}, templates=["এই {word}ের কথা"])) == [f"form 'বাবা{e}র' {told}"]
    fillers: tuple[tuple[Literal["targets", "attributes"], str], ...] = (("targets", "বাবা"), ("attributes", "মা"))
    for target, wrong in fillers:
        contexts = ["{target}ের {attribute}"]
        found = orthography(
            of("bn", words={"x": ["ঘর"], "y": ["বাবা"], "a": ["মা"], "b": ["কাজ"]}, contexts=contexts, target=target)
        )
        assert found == [f"form '{wrong}{e}র' {told}"]
    found = orthography(of("bn", words={"y": ["বাবা"], "a": ["মা"], "b": ["কাজ"]}, contexts=["{target} {attribute}ের"]))
    assert found == [f"form 'মা{e}র' {told}"]
    assert orthography(of("en", words={"x": ["cafe"]}, suffixes={"cafe": ("\u0301",)})) == []
    assert orthography(of("bn", words={"x": ["ম\u09c7\u09beয\u09bc\u09c7", "মেয়ে"]})) == []  # composed or not
    # What is wrong with the word is told once, not of each of its forms.
    assert orthography(of("en", words={"x": ["ro\u200bse"]}, suffixes={"ro\u200bse": ("s", "ж")})) == [
        "word 'ro\\u200bse' holds U+200B ZERO WIDTH SPACE",
        "form 'ro\\u200bseж' mixes scripts in 'seж': LATIN, CYRILLIC",
        "form 'ro\\u200bseж' has letters of another script than LATIN: CYRILLIC",
    ]


def test_repeated_words_are_told() -> None:
    told = "occurs twice in X and Y, or in A and B"
    found = orthography(of(words={"x": ["a", "b"], "y": ["b"], "a": ["c", "c"], "b": ["a"]}))
    assert found == [f"C1: 'b' {told}", f"C1: 'c' {told}"]


# Real and bundled sets --------------------------------------------------------------------------------------------

SIZES = [(14, 24), (12, 24), (27, 24), (27, 8), (8, 8), (10, 8), (10, 27), (12, 8), (12, 27)]
"""Words of X and of Y, and of A and of B, in the categories of the Bangla association tests."""


_KINDS = {
    "Flowers": "flowers",
    "Insects": "insects",
    "Instruments": "musical instruments",
    "Weapons": "weapons",
    "Pleasant": "pleasant",
    "Unpleasant": "unpleasant",
    "Career": "career",
    "Family": "family",
    "MaleNames": "male first names",
    "FemaleNames": "female first names",
    "Math": "mathematics",
    "Arts": "arts",
    "MaleTerms": "male terms",
    "FemaleTerms": "female terms",
    "Science": "science",
}
"""The labels of the bundled lists, by those of the released ones."""


@needs_shared
def test_the_released_bangla_categories() -> None:
    files = [SHARED / "bangla" / f"ceat{i}.jsonl" for i in range(1, 10)]
    found = read_stimuli(files)
    assert [category.id for category in found.categories] == [f"ceat{i}" for i in range(1, 10)]
    assert [sizes(category) for category in found.categories] == [(m, m, n, n) for m, n in SIZES]
    folder = read_stimuli(SHARED / "bangla")
    assert [replace(category, place="") for category in folder.categories] == [
        replace(category, place="") for category in found.categories
    ]
    assert folder.forms("গোলাপ")[:3] == ("গোলাপ", "গোলাপকে", "গোলাপেতে") and len(folder.forms("গোলাপ")) == 16
    assert ["স্বর্গ" in "".join(category.cautions()) for category in folder.categories] == [True] * 3 + [False] * 6
    own = {category.id: category for category in read_stimuli(bundled("associations-bn")).categories}
    for number, category in enumerate(found.categories, 1):
        theirs = [_KINDS[part.label] for part in category.lists()]
        assert [part.label for part in own[f"C{number}"].lists()] == theirs, f"C{number}"
    assert (found.categories[0].x.words[0], found.categories[0].x.label) == ("গোলাপ", "Flowers")
    # As published, two words of the pleasant and unpleasant lists stand there twice; there is nothing else.
    twice = ["স্বর্গ", "হত্যা"]
    assert [category.repeated() for category in found.categories] == [twice] * 3 + [[]] * 6
    assert len(orthography(found)) == 6


@needs_shared
def test_the_released_bangla_suffixes(write: Write) -> None:
    source = SHARED / "bangla" / "weatWordsWithSuffix.jsonl"
    lists = {"all": {"words": list(json.loads(source.read_text("utf-8")))}}
    about = {"language": "bn", "lists": lists, "categories": {"C": dict.fromkeys("XYAB", "all")}}
    found = read_stimuli(write("set.yaml", json.dumps({**about, "suffixes": {"file": str(source)}})))
    assert found.forms("গোলাপ")[:3] == ("গোলাপ", "গোলাপকে", "গোলাপেতে")
    assert len(found.forms("গোলাপ")) == 16
    # The form of কেঁচো that nobody writes is found.
    assert any(line.startswith("form 'কেঁচোের' has a vowel sign") for line in orthography(found))


SETS = INSTRUMENTS / "associations" / "sets"
ASSOCIATIONS = sorted({"associations-bn", "associations-en", *(path.parent.name for path in SETS.glob("*/set.yaml"))})


@pytest.mark.parametrize("name", ASSOCIATIONS)
def test_bundled_associations(name: str) -> None:
    found = read_stimuli(bundled(name))
    assert (found.name, found.language) == (name, name.removeprefix("associations-"))
    assert orthography(found) == []
    assert all(text == unicodedata.normalize("NFC", text) for file in found.files for text in [file.read_text("utf-8")])
    categories = {category.id: category for category in found.categories}
    for i, (m, n) in enumerate(SIZES if name == "associations-bn" else SIZES[:8], 1):
        assert sizes(categories[f"C{i}"]) == (m, m, n, n), f"C{i}"
    for i in range(1, 10):
        for own in categories[f"C{i}"].lists():
            assert len(set(own.templates)) == len(own.templates) >= 6, own.name
    for category in found.categories:
        assert list(dict.fromkeys(context.structure for context in category.contexts)) == ["S1", "S2", "S3", "S4", "S5"]
        assert sorted(c.structure for c in category.contexts) == [c.structure for c in category.contexts]
    traits = categories["T1"]
    assert "logprob-bias" in traits.measures
    if name == "associations-bn":
        assert len(traits.a.words) >= 110
        assert len(traits.b.words) >= 70


@pytest.mark.parametrize("name", ASSOCIATIONS)
def test_nothing_of_a_bundled_set_is_unused(name: str) -> None:
    content = yaml.safe_load((bundled(name) / "set.yaml").read_text("utf-8"))
    used = {entry[key] for entry in content["categories"].values() for key in "XYAB"}
    assert used == set(content["lists"])
    assert {entry.get("templates") for entry in content["lists"].values()} - {None} == set(content["templates"])
    assert {entry["contexts"] for entry in content["categories"].values()} == set(content["contexts"])
    assert (bundled(name) / content["statement"]).is_file()

"""Forms are counted as the extraction finds them, what begins with a word and is no form as naive rules count it, and
the findings are those worked out by hand."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from answers import refused
from builders import write
from paths import SHARED, bundled, needs_shared
from penchant.corpus.association_categories import Category, WordList
from penchant.corpus.block_search import extraction
from penchant.corpus.extraction import extract
from penchant.corpus.stimulus_sets import StimulusSet, read_stimuli
from penchant.corpus.suffix_report import notes, table
from penchant.corpus.suffix_usage import Frequent, Usage, read_words, usage
from penchant.corpus.text_files import find_texts
from penchant.errors import DataError

Program = Callable[..., tuple[int, str, str]]

SAMPLE = SHARED / "bangla" / "porjotonlipi.bn"
LETTER = r"[\p{L}\p{M}\p{N}\u200c\u200d]"
E_SIGN = "has a vowel sign without a consonant, U+09C7 BENGALI VOWEL SIGN E"


def of(suffixes: Mapping[str, Sequence[str]], language: str = "und") -> StimulusSet:
    """A set of these words with their suffixes."""
    none = WordList("none", "none", ())
    category = Category("C", "C", WordList("all", "all", tuple(suffixes)), none, none, none)
    own = {word: tuple(suffix) for word, suffix in suffixes.items() if suffix}
    return StimulusSet("test", language, (category,), own, (), "")


def used(suffixes: Mapping[str, Sequence[str]], text: str, folder: Path, **settings: object) -> Usage:
    """Return the use of the forms in a text with a sentence a line."""
    file = folder / "text.txt"
    file.write_text(text, "utf-8")
    language = str(settings.pop("language", "und"))
    return usage(of(suffixes, language), find_texts([file]), layout="sentences", **settings)  # type: ignore[arg-type]


def missed(found: Usage) -> dict[str, dict[str, int]]:
    return {word: dict(own.counts) for word, own in found.missed.items() if own.total}


# --- against naive counts -----------------------------------------------------------------------------------------


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def upper(form: str) -> str:
    return nfc(form[0].upper() + form[1:])


def naive_forms(forms: Mapping[str, Sequence[str]], sentence: str) -> Counter[tuple[str, str]]:
    """One regular expression a form; of a word's forms at one place the longest counts."""
    first = regex.search(LETTER, sentence)
    longest: dict[tuple[str, int], tuple[int, str]] = {}
    for word, own in forms.items():
        for form in own:
            for surface in dict.fromkeys((form, upper(form) if form[0].islower() else form)):
                for hit in regex.finditer(rf"(?<!{LETTER}){regex.escape(surface)}(?!{LETTER})", sentence):
                    if surface == form or (first and hit.start() == first.start()):
                        known = longest.get((word, hit.start()), (0, ""))
                        longest[word, hit.start()] = max((hit.end(), form), known, key=lambda one: one[0])
    return Counter((word, form) for (word, _), (_, form) in longest.items())


def naive_missed(forms: Mapping[str, Sequence[str]], sentence: str) -> Counter[tuple[str, str]]:
    """At each place where a word may begin, the longest that does, and all word characters after it."""
    every = {form for own in forms.values() for form in own}
    first = regex.search(LETTER, sentence)
    found: Counter[tuple[str, str]] = Counter()
    for start in range(len(sentence)):
        if start and regex.match(LETTER, sentence[start - 1]):
            continue
        rest = sentence[start:]
        words = {word: word for word in forms if rest.startswith(word)}
        if not words and first and first.start() == start:
            words = {upper(word): word for word in forms if word[0].islower() and rest.startswith(upper(word))}
        if words:
            beginning = max(words, key=len)
            tail = regex.findall(f"^{LETTER}*", rest[len(beginning) :])[0]
            mark = tail and unicodedata.combining(tail[0])
            if words[beginning] + tail not in every and not mark:
                found[words[beginning], tail] += 1
    return found


PIECES = ["a", "b", "ab", "A", "é", "e\u0301", "1", " ", "  ", "-", "'", ",", "।", "\u200d", "\u0301"]
PIECES += ["ক", "কা", "য", "\u09bc", "\u09df", "ি", "ে", "া", "্", "র"]
WORDS = st.dictionaries(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=3)
    .map(lambda parts: nfc("".join(parts)).strip())
    .filter(lambda word: bool(regex.search(LETTER, word))),
    st.lists(st.sampled_from(["a", "b", "-b", " a", "া", "ের", "র", "\u09bc"]), max_size=3),
    min_size=1,
    max_size=4,
)


@pytest.mark.whole
@settings(max_examples=300, deadline=None)
@given(WORDS, st.data())
def test_counts_are_the_naive_ones(
    tmp_path_factory: pytest.TempPathFactory, suffixes: dict[str, list[str]], data: st.DataObject
) -> None:
    forms = {word: [nfc(word + suffix) for suffix in ("", *own)] for word, own in suffixes.items()}
    surfaces = [form for own in forms.values() for form in own]
    parts = st.sampled_from([*PIECES, *3 * surfaces, *map(upper, surfaces), *6 * [" "]])
    lines = data.draw(st.lists(st.lists(parts, max_size=8).map("".join), min_size=1, max_size=3))
    found = used(suffixes, "\n".join(lines), tmp_path_factory.mktemp("text"))
    sentences = [line.strip() for line in nfc("\n".join(lines)).split("\n")]
    expected: Counter[tuple[str, str]] = Counter()
    others: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        expected += naive_forms(forms, sentence)
        others += naive_missed(forms, sentence)
    assert found.occurrences == expected
    assert Counter({(word, tail): n for word, own in missed(found).items() for tail, n in own.items()}) == others


@pytest.mark.whole
@needs_shared
@pytest.mark.parametrize("which", ["bundled", "of the paper"])
def test_forms_occur_as_often_as_the_extraction_finds_them(which: str, tmp_path: Path) -> None:
    stimuli = read_stimuli(bundled("associations-bn"))
    if which == "of the paper":
        suffixes = json.loads((SHARED / "bangla" / "weatWordsWithSuffix.jsonl").read_text("utf-8"))
        stimuli = of({word: [suffix.strip() for suffix in own] for word, own in suffixes.items()}, "bn")
    texts = find_texts([SAMPLE])
    tally = extract(extraction(stimuli, per_word=1), texts, tmp_path / "found.parquet")["tally"]
    expected = {(word, form): n for word, form, _, n in tally["forms"]}
    found = usage(stimuli, texts)
    assert found.occurrences == expected
    assert sum(expected.values()) > 300
    assert found.records == tally["records"]
    # Every run of the text that begins with a word is a form or not claimed (no form of these holds two runs).
    forms = {form for own in found.forms.values() for form in own}
    runs = Counter(regex.findall(f"{LETTER}+", nfc(SAMPLE.read_text("utf-8"))))
    for run, n in runs.items():
        owners = [word for word in found.forms if run.startswith(word)]
        if owners and run not in forms:
            word = max(owners, key=len)
            tail = run[len(word) :]
            if not unicodedata.combining(tail[0]):
                assert found.missed[word].counts[tail] == n
                runs[run] = 0
    assert sum(own.total for own in found.missed.values()) == sum(
        n for own in found.missed.values() for n in own.counts.values()
    )


@pytest.mark.parametrize("suffix", ["-not", " me"])
def test_forms_of_several_words_equal_the_extraction(suffix: str, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(
        "Forget-me-not. We forget me, too. Forgetting forget-me-nots, forget.\nforget-me-not forget me", "utf-8"
    )
    stimuli = of({"forget": [suffix], "forget-me-not": ["s"], "me": []}, "en")
    texts = find_texts([text])
    record = extract(extraction(stimuli), texts, tmp_path / "found.parquet")
    found = usage(stimuli, texts)
    assert found.occurrences is not None
    capitals = {"Forget": "forget", "Forget-me-not": "forget-me-not"}
    expected: Counter[tuple[str, str]] = Counter()
    for word, form, _, n in record["tally"]["forms"]:
        expected[word, capitals.get(form, form)] += n
    assert found.occurrences == expected
    assert found.occurrences["forget-me-not", "forget-me-not"] == 2
    assert found.occurrences["forget-me-not", "forget-me-nots"] == 1
    assert missed(found) == {"forget": {"ting": 1}}


# --- the most frequent of many ------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.integers(1, 4), st.lists(st.dictionaries(st.sampled_from("abcdefghijklmnop"), st.integers(1, 9)), max_size=12)
)
def test_counts_held_are_short_by_what_is_told(room: int, batches: list[dict[str, int]]) -> None:
    found = Frequent(room)
    exact: Counter[str] = Counter()
    most = 0
    for batch in batches:
        found.update(batch)
        exact.update(batch)
        most = max(most, len(found.counts))
    assert most <= 2 * room
    assert found.total == exact.total()
    assert found.short <= found.total / (room + 1)
    assert all(found.counts[thing] <= n <= found.counts[thing] + found.short for thing, n in exact.items())
    assert len(exact) > 2 * room or found.counts == exact
    assert found.most_common() == sorted(found.counts.items(), key=lambda own: (-own[1], own[0]))


def test_rare_things_are_let_go_worked_by_hand() -> None:
    found = Frequent(2)
    found.update({"a": 5, "b": 4, "c": 3, "d": 2})
    assert (found.counts, found.short) == ({"a": 5, "b": 4, "c": 3, "d": 2}, 0)  # as many as twice the room
    found.update({"e": 3, "b": 2})  # b 6, a 5, c 3, e 3, d 2: all lose as many as the third has
    assert (found.counts, found.short, found.total) == ({"b": 3, "a": 2}, 3, 19)


def test_a_frequent_thing_is_held_among_many_rare_ones() -> None:
    found = Frequent(2)
    for number in range(30):
        found.update({"often": 3, f"rare{number}": 1, f"rarer{number}": 1})
    assert found.most_common()[0][0] == "often"
    assert 0 < found.short <= 150 / 3
    assert 90 - found.short <= found.counts["often"] <= 90
    words = {"x": {"x": ""}}
    told = list(notes(Usage(of({"x": []}), words, frozenset(), Counter({("x", "x"): 1}), {"x": found})))
    assert f"counts of other runs that begin with x may be up to {found.short} too low" in told


# --- worked by hand -----------------------------------------------------------------------------------------------

MOTHER = {"মা": ["কে", "টি", "য়ের"], "মামা": ["র", "কে"], "ভাই": ["ের", "রা"], "ভাইরা": []}
TEXT = """মাকে দেখি, মাটি দেখি।
মাটি ও মানুষ। মানুষ মাটিতে।
মামার মা মামাটির
ভাইরা ভাইরাও
কর্ম মা্ মায়"""


def test_findings_by_form(tmp_path: Path) -> None:
    found = used(MOTHER, TEXT, tmp_path, language="bn", others=["মাটি", "মা", "মানুষ", "রা"])
    rows = table(found, "form")
    assert rows.columns == ["word", "suffix", "form", "occurrences", "finding"]
    assert rows.rows() == [
        ("মা", "", "মা", 1, "occurs"),
        ("মা", "কে", "মাকে", 1, "occurs"),
        ("মা", "টি", "মাটি", 2, "occurs; a word of its own"),
        ("মা", "য়ের", "মায়ের", 0, "never"),
        ("মা", "নুষ", "মানুষ", 2, "not claimed; a word of its own"),
        ("মা", "টিতে", "মাটিতে", 1, "not claimed"),
        ("মা", "য়", "মায়", 1, "not claimed"),
        ("মামা", "", "মামা", 0, "never"),
        ("মামা", "র", "মামার", 1, "occurs"),
        ("মামা", "কে", "মামাকে", 0, "never"),
        ("মামা", "টির", "মামাটির", 1, "not claimed"),
        ("ভাই", "", "ভাই", 0, "never"),
        ("ভাই", "ের", "ভাইের", 0, f"never; {E_SIGN}"),
        ("ভাই", "রা", "ভাইরা", 1, "occurs; form of ভাইরা too"),
        ("ভাইরা", "", "ভাইরা", 1, "occurs; form of ভাই too"),
        ("ভাইরা", "ও", "ভাইরাও", 1, "not claimed"),
    ]


def test_findings_by_word(tmp_path: Path) -> None:
    found = used(MOTHER, TEXT, tmp_path, language="bn", others=["মাটি"])
    rows = table(found, "word")
    names = ["word", "forms", "occur", "occurrences", "root_share", "not_claimed", "most_frequent", "collisions"]
    assert rows.columns == names
    assert rows.rows() == [
        ("মা", 4, 3, 4, 0.25, 4, "মানুষ (2), মাটিতে (1), মায় (1)", "মাটি"),
        ("মামা", 3, 1, 1, 0.0, 1, "মামাটির (1)", ""),
        ("ভাই", 3, 1, 1, 0.0, 0, "", "ভাইরা (ভাইরা)"),
        ("ভাইরা", 1, 1, 1, 1.0, 1, "ভাইরাও (1)", "ভাইরা (ভাই)"),
    ]
    silent = table(used({"মা": []}, "কথা", tmp_path), "word")
    assert silent.rows() == [("মা", 1, 0, 0, None, 0, "", "")]


def test_findings_by_suffix(tmp_path: Path) -> None:
    suffixes = {"ক": ["টি", "র"], "খ": ["টি", "র"], "গ": ["র"], "ঘ": []}
    found = used(suffixes, "কটি কটি খটি কর গটি গটি ঘটি কজন খজন খজন খজন ঘর কন কন কধ খধ গধ", tmp_path)
    rows = table(found, "suffix")
    names = ["suffix", "words", "occurs_with", "occurrences", "other_words", "other_occurrences", "such_as"]
    assert rows.columns == names
    assert rows.rows() == [
        ("টি", 2, 2, 3, 2, 3, "গটি (2), ঘটি (1)"),
        ("র", 3, 1, 1, 1, 1, "ঘর (1)"),
        ("ধ", 0, 0, 0, 3, 3, "কধ (1), খধ (1), গধ (1)"),
        ("জন", 0, 0, 0, 2, 4, "খজন (3), কজন (1)"),
    ]  # ন follows one word only


def test_suffixes_of_other_words_are_shown_however_rare(tmp_path: Path) -> None:
    often = "কক কক কখ কখ কগ কগ কঘ কঘ কঙ কঙ কচ কচ"
    found = used({"ক": [], "প": ["টি", "র"]}, f"{often} কটি", tmp_path)
    rows = table(found, "form").filter(word="ক").rows()[1:]
    assert rows == [
        *[("ক", tail, f"ক{tail}", 2, "not claimed") for tail in "কখগঘঙ"],
        ("ক", "টি", "কটি", 1, "not claimed; a suffix of other words"),
    ]


def test_notes(tmp_path: Path) -> None:
    found = used(MOTHER, TEXT, tmp_path, language="bn", others=["মাটি"])
    assert list(notes(found)) == [
        "5 of 11 forms never occur; 0 words occur in no form (7 occurrences of all forms)",
        "suffixes that never occur with any of their words (2): য়ের (1 word, 4 occurrences), ের (1 word, 1 occurrence)",
        "suffixes that never occur with a group of words that share their suffixes (1): কে (মামা, 1 occurrence)",
        "6 runs of word characters begin with a word but are not a form of it",
        "words that are a form of another (1): ভাইরা (ভাই)",
        "forms of more than one word, which count for each (1): ভাইরা",
        "forms that are also words in their own right (1): মাটি",
        f"misspelt forms (1): ভাইের ({E_SIGN})",
    ]


def test_groups_are_words_with_the_same_suffixes(tmp_path: Path) -> None:
    found = used({"ক": ["টি", "র"], "খ": ["টি", "র"], "গ": ["টি"]}, "কর খ গটি গটি ক", tmp_path)
    shown = "টি (ক and 1 more, 3 occurrences)"
    assert f"suffixes that never occur with a group of words that share their suffixes (1): {shown}" in notes(found)
    both = used({"ক": ["টি", "র"], "খ": ["টি", "র"], "গ": ["টি"]}, "কর খটি", tmp_path)
    assert not any("with a group" in note for note in notes(both))  # গ itself never occurs


def test_a_longer_word_has_what_begins_with_it(tmp_path: Path) -> None:
    assert missed(used({"মা": [], "মামা": []}, "মামাবাড়ি মামলা", tmp_path)) == {"মা": {"মলা": 1}, "মামা": {"বাড়ি": 1}}


@pytest.mark.parametrize("text", ["আদর্শ", "আদর়", "আদর\u0301"])
def test_another_last_letter_is_another_word(text: str, tmp_path: Path) -> None:
    assert missed(used({"আদর": []}, f"{text} আদরণীয় সমাদর", tmp_path)) == {"আদর": {"ণীয়": 1}}


def test_capitals_at_the_beginning_of_a_sentence(tmp_path: Path) -> None:
    found = used({"rose": ["s"], "Anna": ["s"]}, "Rose roses\n“Roses Rosebud\n“Rosebud annas Annabel", tmp_path)
    assert found.occurrences == {("rose", "rose"): 1, ("rose", "roses"): 2}
    assert missed(found) == {"rose": {"bud": 1}, "Anna": {"bel": 1}}
    assert missed(used({"rose": [], "Ros": []}, "Rosebud", tmp_path)) == {"Ros": {"ebud": 1}}
    assert missed(used({"rose": [], "rosemary": []}, "Rosemarys Roses", tmp_path)) == {"rosemary": {"s": 1}}
    assert table(used({"rose": []}, "thorn", tmp_path), "suffix").is_empty()
    divided = tmp_path / "two.txt"
    divided.write_text("I saw Rosebud. Rosebud saw us. Rosebuds!", "utf-8")
    assert missed(usage(of({"rose": []}, "en"), find_texts([divided]))) == {"rose": {"bud": 1, "buds": 1}}


def test_a_name_that_a_sentence_may_begin_with_is_a_form_too() -> None:
    rows = table(usage(of({"rose": ["s"], "Rose": [], "Roses": []})), "form").rows()
    assert rows == [
        ("rose", "", "rose", "form of Rose too"),
        ("rose", "s", "roses", "form of Roses too"),
        ("Rose", "", "Rose", "form of rose too"),
        ("Roses", "", "Roses", "form of rose too"),
    ]


def test_forms_are_compared_in_nfc(tmp_path: Path) -> None:
    found = used({"মা": ["\u09dfের", "য\u09bcে"]}, "মা\u09dfের মাযে মা\u09dfে", tmp_path, others=["মা\u09dfে"])
    assert list(found.forms["মা"]) == ["মা", "মা\u09af\u09bcের", "মা\u09af\u09bcে"]
    assert found.occurrences == {("মা", "মা\u09af\u09bcের"): 1, ("মা", "মা\u09af\u09bcে"): 1}
    assert missed(found) == {"মা": {"যে": 1}}
    assert found.own_word("মা", "মা\u09af\u09bcে")


# --- without a text -----------------------------------------------------------------------------------------------


def test_findings_without_a_text() -> None:
    found = usage(of(MOTHER, "bn"), others=["মাটি"])
    assert table(found, "form").rows() == [
        ("মা", "টি", "মাটি", "a word of its own"),
        ("ভাই", "ের", "ভাইের", E_SIGN),
        ("ভাই", "রা", "ভাইরা", "form of ভাইরা too"),
        ("ভাইরা", "", "ভাইরা", "form of ভাই too"),
    ]
    assert table(found, "word").rows() == [
        ("মা", 4, "মাটি"),
        ("মামা", 3, ""),
        ("ভাই", 3, "ভাইরা (ভাইরা)"),
        ("ভাইরা", 1, "ভাইরা (ভাই)"),
    ]
    assert len(list(notes(found))) == 4
    nothing = table(usage(of({"মা": ["কে"]}, "bn")), "form")
    assert nothing.columns == ["word", "suffix", "form", "finding"] and nothing.is_empty()


@pytest.mark.whole
def test_the_bundled_sets_have_no_such_findings() -> None:
    for name in ("associations-bn", "associations-en"):
        found = usage(read_stimuli(bundled(name)))
        assert table(found, "form").is_empty(), name
        assert list(notes(found)) == [], name


# --- the program --------------------------------------------------------------------------------------------------

SET = """
language: bn
lists:
  one: {words: [মা, মামা, ভাই]}
  two: {words: [ভাইরা]}
categories: {C: {X: one, Y: two, A: one, B: two}}
suffixes:
"""
GROUPS = """  groups: {m: [কে, টি, য়ের], u: [র, "কে "], b: [ের, রা], x: [" কে"]}
  words: {মা: m, মামা: u, ভাই: b, ভাইরা: []}
"""


@pytest.fixture
def stimuli(tmp_path: Path) -> Path:
    write(tmp_path / "set.yaml", SET + GROUPS)
    write(tmp_path / "text.txt", TEXT)
    return tmp_path


LINT = ("corpus", "lint", "--data", "set.yaml", "--workers", "1")


def test_command_by_word(penchant: Program, stimuli: Path) -> None:
    code, out, err = penchant(*LINT, "text.txt")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["word", "forms", "occur"] and len(lines) == 6
    assert "মানুষ (2)" in lines[2] and "ভাইরা (ভাই)" in lines[5]
    assert "'কে ', ' কে'\n" in err  # suffixes with blanks at their ends


@pytest.mark.parametrize("by", ["word", "form", "suffix"])
def test_command_formats(penchant: Program, stimuli: Path, by: str) -> None:
    call = (*LINT, "text.txt", "--by", by, "--format")
    expected = table(usage(read_stimuli("set.yaml"), find_texts(["text.txt"])), by)  # type: ignore[arg-type]
    code, out, _ = penchant(*call, "jsonl")
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == expected.to_dicts()
    code, out, _ = penchant(*call, "tsv")
    assert code == 0
    assert out.splitlines()[0].split("\t") == expected.columns and len(out.splitlines()) == len(expected) + 1


def test_command_with_words(penchant: Program, stimuli: Path) -> None:
    Path("words.txt").write_bytes("\ufeff মাটি \r\n\n  ভাই\n".encode())
    code, out, err = penchant(*LINT, "--by", "form", "--format", "tsv", "--words", "words.txt")
    assert code == 0 and "never occur" not in err
    assert [line.split("\t")[2] for line in out.splitlines()] == ["form", "মাটি", "ভাইের", "ভাইরা", "ভাইরা"]
    assert read_words(Path("words.txt")) == {"মাটি", "ভাই"}


def test_suffixes_in_a_file_of_their_own(penchant: Program, stimuli: Path) -> None:
    write(Path("set.yaml"), SET + "  file: endings.json\n")
    write(Path("endings.json"), json.dumps({"মা": ["কে", "টি "], "ভাই": ["ের", "রা"]}))
    code, out, err = penchant(*LINT, "text.txt", "--by", "form")
    assert code == 0 and "মাটি" in out
    assert "endings.json: " in err and "'টি '\n" in err


def test_records_that_cannot_be_read(penchant: Program, stimuli: Path) -> None:
    write(Path("a.jsonl"), '{"text": "মাকে"}\n{"other": 1}\n')
    write(Path("b.jsonl"), '{"body": "মাকে"}\n')
    code, _, err = penchant(*LINT, "a.jsonl")
    assert code == 0 and "note: 1 of 2 records " in err
    assert penchant(*LINT, "b.jsonl", "--field", "body")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("text.txt --format yaml", "'yaml'"),
        ("--by suffix", "counts by suffix require a text"),
        ("--words none.txt", "none.txt: "),
        ("--words latin.txt", "latin.txt, line 1: "),
        ("latin.txt", "latin.txt, line 1: "),
        ("nowhere.txt", "nowhere.txt: "),
        ("text.txt --layout verses", "'verses'"),
        ("a.jsonl --field body", "a.jsonl, line 1: "),
        ("a.jsonl --field body --by letter", "'letter'"),  # told before the text is read
    ],
)
def test_command_refuses(penchant: Program, stimuli: Path, arguments: str, part: str) -> None:
    write(Path("latin.txt"), b"\xe9t\xe9\n")
    write(Path("a.jsonl"), '{"text": "মাকে"}\n')
    refused(penchant(*LINT, *arguments.split()), part)


def test_the_layout_divides_sentences(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("saw the\nRoses. Roses\n\nRoses", "utf-8")
    stimuli = of({"rose": ["s"]}, "en")
    counts = [
        usage(stimuli, find_texts([text]), layout=layout).occurrences
        for layout in ("paragraphs", "sentences", "wrapped")
    ]
    assert counts == [{("rose", "roses"): n} for n in (3, 2, 2)]


@pytest.mark.whole
def test_neither_workers_nor_blocks_change_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["".join(word) for word in product(["মা", "মামা", "ভাই", "Rose"], ["", "কে", "টি", "রা"], [" কথা", "র", "ও"])]
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    stimuli = of(MOTHER | {"rose": ["টি"]}, "bn")
    files = find_texts([tmp_path / "a.txt", tmp_path / "b.txt"])
    whole = usage(stimuli, files)
    assert whole.occurrences is not None and whole.occurrences.total() > 20
    monkeypatch.setattr("penchant.corpus.block_reader.BLOCK", 100)
    read: list[tuple[float, float]] = []
    for workers in (1, 2):
        parts = usage(stimuli, files, workers=workers, progress=lambda done, total: read.append((done, total)))
        assert parts.occurrences == whole.occurrences
        assert missed(parts) == missed(whole)
        assert parts.records == whole.records == 2 * len(lines)
        assert len(read) > 10
        assert sum(done for done, _ in read) == sum(file.size for file in files) == read[0][1]
        read.clear()


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.txt.gz").write_bytes(b"\x1f\x8b\x08\x00cut")
    with pytest.raises(DataError, match=r"text.txt.gz: .*truncated"):
        usage(of({"মা": []}), find_texts([tmp_path / "text.txt.gz"]))

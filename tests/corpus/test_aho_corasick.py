"""Forms are found where they stand between characters that belong to no word, and nowhere else."""

from __future__ import annotations

import random
import sys
import time
import unicodedata
from collections.abc import Iterator, Sequence

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_extraction import in_word
from penchant.corpus import aho_corasick
from penchant.corpus.aho_corasick import Scanner
from penchant.corpus.word_matching import Matcher
from penchant.errors import MethodError

pytest.importorskip("ahocorasick_rs", reason="no package for the automaton")

Place = tuple[str, int, int, int]
"""Form, line, begin, end."""


@pytest.fixture(params=["the whole automaton", "the small one"], autouse=True)
def automaton(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of the automata, whatever the number of forms."""
    if request.param == "the small one":
        monkeypatch.setattr(aho_corasick, "_DFA_BYTES", 0)


def slowly(forms: Sequence[str], text: str) -> list[Place]:
    """Every place of every form, and its neighbours by their general category."""
    found = []
    for number, line in enumerate(text.split("\n")):
        for form in set(forms):
            for at in range(len(line)):
                end = at + len(form)
                goes_on = (in_word(form[0]) and _inside(line, at - 1)) or (in_word(form[-1]) and _inside(line, end))
                if line.startswith(form, at) and not goes_on:
                    found.append((number, at, end, form))
    return [(form, number, at, end) for number, at, end, form in sorted(found)]


def _inside(line: str, at: int) -> bool:
    return 0 <= at < len(line) and in_word(line[at])


def places(forms: Sequence[str], text: str) -> list[Place]:
    """Return the places that the scanner finds; check that its lines are theirs."""
    scanner = Scanner(forms)
    found = scanner.find(text)
    rows = list(zip(*(own.tolist() for own in found[:4]), strict=True))
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
    assert found.starts.tolist() == [starts[line] for _, line, _, _ in rows]
    assert rows == sorted(rows, key=lambda row: row[1:])
    assert scanner.lines(text) == sorted({line for _, line, _, _ in rows})
    return [(scanner.forms[form], line, begin, end) for form, line, begin, end in rows]


# A letter, mark, digit or none of one to four bytes, at the first and last code point of each length, and what joins.
BYTES_1 = "aZ09 \t.-_'\x7f\r\x00"
BYTES_2 = "\x80éßªµ·×\u0301\u0300ж߿\u00a0§"
BYTES_3 = "\u0800কযি্\u09bc।॥\u200c\u200d\u200b\u2028日ぁ가\ud7ff\ue000\uffff\ufeff٣\u3000"
BYTES_4 = "\U00010000𐎀𝟘😀\U000e0100\U0010ffff𑄀𑄃\U0001f3fb"
CHARACTERS = BYTES_1 + BYTES_2 + BYTES_3 + BYTES_4
FORM = st.text(st.sampled_from(CHARACTERS), min_size=1, max_size=4)
KNOWN = st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=3)
modest = settings(max_examples=150, deadline=None)

MANY = [chr(0x4E00 + i) for i in range(300)]
"""More characters than one byte can tell apart."""


@pytest.mark.whole
@modest
@given(st.lists(FORM, min_size=1, max_size=6), st.data(), st.sampled_from([0, 10, 240, 252, 253, 300]))
def test_places_are_those_found_slowly(forms: list[str], data: st.DataObject, more: int) -> None:
    parts = st.sampled_from([*forms, *forms, "\n", "\n", " ", *CHARACTERS, *MANY[:more][-12:]])
    text = "".join(data.draw(st.lists(parts, max_size=30)))
    forms = [*forms, *MANY[:more]]
    assert places(forms, text) == slowly(forms, text)


@modest
@given(KNOWN, KNOWN, st.sampled_from(["rose", "নদী", "日本", "é", "😀", "a b"]))
def test_neighbours_of_every_kind(before: str, after: str, form: str) -> None:
    text = f"{before}{form}{after}\n{before}\n{after}"
    assert places([form], text) == slowly([form], text)


@pytest.mark.whole
def test_every_character_as_a_neighbour() -> None:
    """On either side, for all of Unicode that both tables of categories know."""
    table = regex.compile(r"\p{Cn}")
    every = [c for c in map(chr, range(sys.maxunicode + 1)) if c != "\n" and not "\ud800" <= c <= "\udfff"]
    known = [c for c in every if not table.match(c) and unicodedata.category(c) != "Cn"]
    assert len(known) > 140_000
    scanner = Scanner(["x"])
    free = [number for number, character in enumerate(known) if not in_word(character)]
    before, after = ("\n".join(f"{c}x" for c in known), "\n".join(f"x{c}" for c in known))
    assert set(scanner.find(before).begins.tolist()) == set(scanner.find(after).ends.tolist()) == {1}
    assert scanner.find(before).lines.tolist() == scanner.find(after).lines.tolist() == free


def test_ends_of_text_and_lines() -> None:
    for text, lines in (
        ("", []),
        ("\n", []),
        ("নদী", [0]),
        ("\nনদী\n", [1]),
        ("নদী\nx", [0, 1]),
        ("a\n\n\nx", [3]),
        ("নদীx\nxনদী", []),
        ("নদী।\r\nx\r", [0, 1]),
        ("নদীর\nনদী\u200cর\n\u200dনদী", []),
        ("নদীর নদী\nনদী নদী", [0, 1]),
    ):
        found = places(["নদী", "x"], text)
        assert found == slowly(["নদী", "x"], text)
        assert sorted({line for _, line, _, _ in found}) == lines


def test_forms_within_forms() -> None:
    text = "New York City\nYork\nNewer\nCity of New\nYorkNew New York"
    assert places(["New", "New York", "York C"], text) == [
        ("New", 0, 0, 3),
        ("New York", 0, 0, 8),
        ("New", 3, 8, 11),
        ("New", 4, 8, 11),
        ("New York", 4, 8, 16),
    ]
    assert places(["York City", "New York"], text) == [
        ("New York", 0, 0, 8),
        ("York City", 0, 4, 13),
        ("New York", 4, 8, 16),
    ]
    assert places(["New York Cit", "York City"], text) == [("York City", 0, 4, 13)]  # the longer one is no whole word
    assert places(["a", "a", "aa"], "aa\naaa\na") == [("aa", 0, 0, 2), ("a", 2, 0, 1)]


def test_forms_with_line_ends() -> None:
    """They cannot stand in a line, and keep nothing else from being found."""
    assert places(["rose", "a\nb", "\n", "x\n"], "no\nrose a\nb\nx\n") == [("rose", 1, 0, 4)]


@pytest.mark.whole
def test_characters_that_take_two_bytes_are_read_from_their_first() -> None:
    """The second byte of one character and the first of the next are none, whatever they look like together."""
    letters = MANY[:254]  # numbers 3 to 256
    forms = [*letters, f"{letters[0]}！{letters[1]}"]  # ！ is 257
    for text in ("一！", "！一！！一", f"{letters[253]}！一"):
        assert places(forms, text) == slowly(forms, text)
    rng = random.Random(0)
    forms = [*MANY, "！", *("！" + letter for letter in MANY[:20])]
    text = "".join(rng.choices([*MANY, *"！！ 。\n" * 60], k=5_000))
    assert places(forms, text) == slowly(forms, text) and len(slowly(forms, text)) > 500


def _words(rng: random.Random) -> Iterator[str]:
    letters = "abেিকযনর্é日😀"
    while True:
        yield "".join(rng.choice(letters) for _ in range(rng.randrange(1, 5)))


@pytest.mark.whole
@pytest.mark.parametrize("more", [[], MANY])
def test_a_long_text(more: list[str]) -> None:
    rng = random.Random(1)
    words = _words(rng)
    forms = [next(words) for _ in range(40)]
    lines = []
    for _ in range(4_000):
        chosen = [rng.choice(forms) if rng.random() < 0.02 else next(words) for _ in range(rng.randrange(12))]
        lines.append(rng.choice([" ", "", "—", "।"]).join(chosen))
    text = "\n".join(lines)
    assert len(text) > 60_000  # more than is looked up at once
    expected = []
    inside = r"[\p{L}\p{M}\p{N}\u200c\u200d]"
    for form in set(forms):
        before, behind = (bool(regex.match(inside, form[at])) for at in (0, -1))
        pattern = regex.compile(f"(?<!{inside})" * before + regex.escape(form) + f"(?!{inside})" * behind)
        for number, line in enumerate(lines):
            expected += [(form, number, *hit.span()) for hit in pattern.finditer(line, overlapped=True)]
    assert len(expected) > 1_000
    assert sorted(places([*forms, *more], text)) == sorted(expected)


def test_many_forms_take_no_longer() -> None:
    text = "the river runs past the old town and the new town by the sea.\n" * 4_000
    forms = [f"{first}{i}" for i in range(5_000) for first in ("river", "word", "নদী")]
    seconds = []
    for scanner in (Scanner(["sea"]), Scanner([*forms, "sea"])):
        start = time.perf_counter()
        assert scanner.lines(text) == list(range(4_000))
        seconds.append(time.perf_counter() - start)
    assert seconds[1] < 50 * seconds[0] + 0.2  # one look at every form would be 15 000 times as much


def test_surfaces_are_forms_and_their_capitals() -> None:
    matcher = Matcher({"rose": ["rose", "Roses"], "écho": ["e\u0301cho"], "নদী": ["নদী"]})
    assert matcher.surfaces() == ["rose", "Roses", "écho", "নদী", "Rose", "Écho"]


def test_the_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    with pytest.raises(MethodError, match=r"the package ahocorasick_rs is missing — pip install 'penchant\[corpus\]'"):
        Scanner(["x"])

"""Words in the sentences of two groups, by hand and against a plain loop over sentences."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penchant.corpus.cooccurrence_counts import ContrastCounts, Grouped, GroupSearch, count_groups
from penchant.corpus.text_files import find_texts
from penchant.errors import DataError

GENDER = Grouped(
    {"man": ["man", "men"], "king": ["king"]},
    {"woman": ["woman", "women"], "queen": ["queen"]},
    {"war": ["war"], "love": ["love"], "young": ["young"]},
)
TEXT = """The king loves war, and war loves the king. The queen spoke of love.
The man and the woman spoke of love. Men are young! Women are young; young are the women.
Manly words and kings are none of ours. War is war.
KING AND WAR
"""


def counted(
    tmp_path: Path, text: str = TEXT, *, contrasts: tuple[Grouped, ...] = (GENDER,), **settings: Any
) -> ContrastCounts:
    (tmp_path / "text.txt").write_text(text, "utf-8")
    search = GroupSearch(contrasts, **{"language": "en", **settings})
    return count_groups(search, find_texts([str(tmp_path / "text.txt")]))


def test_by_hand(tmp_path: Path) -> None:
    read = counted(tmp_path)
    (own,) = read.contrasts
    # A: "The king loves war, and war loves the king." (9 words), "Men are young!" (3) and "KING AND WAR" (3).
    # B: "The queen spoke of love." (5) and "Women are young; young are the women." (7). Both: the man and the woman.
    assert own.sentences == {"A": 3, "B": 2}
    assert own.total == {"A": 15, "B": 12}
    assert own.both == 1
    assert own.found == {("A", "war"): 3, ("A", "young"): 1, ("B", "love"): 1, ("B", "young"): 2}
    assert own.members == {("A", "king"): 3, ("A", "man"): 2, ("B", "queen"): 1, ("B", "woman"): 3}
    assert (read.records, read.skipped) == (4, 0)
    assert [file["name"] for file in read.files] == ["text.txt"]


def test_capitals_tell_words_apart_where_they_are_asked_to(tmp_path: Path) -> None:
    (own,) = counted(tmp_path, cased=True).contrasts
    assert own.sentences == {"A": 2, "B": 2}  # without KING
    assert own.found["A", "war"] == 2


def test_layouts_and_formats_give_the_same(tmp_path: Path) -> None:
    lines = re.split(r"(?<=[.!]) |\n", TEXT.strip())
    (whole,) = counted(tmp_path).contrasts
    (by_line,) = counted(tmp_path, "\n".join(lines) + "\n", layout="sentences").contrasts
    (wrapped,) = counted(tmp_path, TEXT.replace("\n", "\n\n").replace(" ", "\n"), layout="wrapped").contrasts
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"body": line}) + "\n" for line in TEXT.splitlines()), "utf-8")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    search = GroupSearch((GENDER,), "en", field="body")
    (jsonl,) = count_groups(search, find_texts([str(tmp_path / "a.jsonl")])).contrasts
    (packed,) = count_groups(search, find_texts([str(tmp_path / "b.txt.gz")])).contrasts
    assert whole == by_line == wrapped == jsonl == packed


def test_repeated_sentences_and_files_count_each_time(tmp_path: Path) -> None:
    (once,) = counted(tmp_path).contrasts
    (tmp_path / "more.txt").write_text(TEXT, "utf-8")
    search = GroupSearch((GENDER,), "en")
    twice = count_groups(search, find_texts([str(tmp_path / name) for name in ("text.txt", "more.txt")]))
    assert twice.contrasts[0].found == {key: 2 * n for key, n in once.found.items()}
    assert twice.contrasts[0].total == {key: 2 * n for key, n in once.total.items()}


@pytest.mark.whole
def test_several_processes_count_the_same(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT * 3, "utf-8")
    (tmp_path / "more.txt").write_text(TEXT * 2, "utf-8")
    files = find_texts([str(tmp_path / name) for name in ("text.txt", "more.txt")])
    search = GroupSearch((GENDER,), "en")
    steps: list[float] = []
    alone = count_groups(search, files, progress=lambda done, total: steps.append(done / total))
    assert count_groups(search, files, workers=2) == alone
    assert sum(steps) == pytest.approx(1)


def test_contrasts_are_counted_apart_in_one_pass(tmp_path: Path) -> None:
    other = Grouped({"war": ["war"]}, {"love": ["love"]}, {"king": ["king"], "queen": ["queen"]})
    first, second = counted(tmp_path, contrasts=(GENDER, other)).contrasts
    assert first == counted(tmp_path).contrasts[0]
    assert second == counted(tmp_path, contrasts=(other,)).contrasts[0]
    assert second.found == {("A", "king"): 3, ("B", "queen"): 1}


WORDS = ["man", "men", "king", "woman", "queen", "war", "love", "young", "old", "war.", "House", "King", "lovely"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), min_size=1, max_size=12))
def test_against_a_plain_loop(tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]]) -> None:
    folder = tmp_path_factory.mktemp("loop")
    (own,) = counted(folder, "\n".join(" ".join(s) for s in sentences) + "\n", layout="sentences").contrasts
    totals, found, number, both = Counter[str](), Counter[tuple[str, str]](), Counter[str](), 0
    for sentence in sentences:
        plain = [word.strip(".").lower() for word in sentence]
        a, b = ({f for forms in side.values() for f in forms} & set(plain) for side in (GENDER.a, GENDER.b))
        both += bool(a and b)
        if bool(a) == bool(b):
            continue
        side = "A" if a else "B"
        number[side] += 1
        totals[side] += len(plain)
        found.update((side, word) for word in plain if word in GENDER.words)
    assert (own.sentences, own.total, own.found, own.both) == (number, totals, found, both)


def test_scripts_without_capitals(tmp_path: Path) -> None:
    """Vowel signs are part of a word: a bare boundary would find রাজা inside রাজারা."""
    grouped = Grouped({"রাজা": ["রাজা"]}, {"রানী": ["রানী"]}, {"যুদ্ধ": ["যুদ্ধ", "যুদ্ধে"]})
    text = "রাজা যুদ্ধে গেলেন।\nরাজারা যুদ্ধ করে।\nরানী যুদ্ধ দেখলেন।\n"
    (own,) = counted(tmp_path, text, contrasts=(grouped,), language="bn", layout="sentences").contrasts
    assert own.found == {("A", "যুদ্ধ"): 1, ("B", "যুদ্ধ"): 1}


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes("Der König sprach.\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.txt"):
        count_groups(GroupSearch((GENDER,), "en"), find_texts([str(tmp_path / "latin.txt")]))

"""Capitals by the language of the text: in extraction, in training, in counts of groups and in sentences that are
filled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from penchant.corpus.block_search import Extraction
from penchant.corpus.cooccurrence_counts import Grouped, GroupSearch, count_groups
from penchant.corpus.extraction import extract
from penchant.corpus.text_files import find_texts
from penchant.corpus.vector_training_text import TokenSettings, write_tokens
from penchant.corpus.word_segmentation import count_words
from penchant.grammar.word_sampling import capitalised
from penchant.instruments.cloze.data import filled
from penchant.instruments.cloze.valences import Lookup
from penchant.instruments.disco.data import sentence
from penchant.instruments.values.data import StanceTemplate

for package in ("ahocorasick_rs", "sentencex", "fsspec", "rensa"):
    pytest.importorskip(package, reason=f"no package {package}")

TURKISH = "İlk gün.\nBu ilk gün.\nIlk değil.\nİyi bir gün.\nDaha iyi su.\nIlık su.\nI\u0307yi uyku.\n"
DUTCH = "IJs is koud.\nWij eten ijs.\nIjs is fout.\n"


@pytest.mark.parametrize(
    ("language", "text", "counts"),
    [
        ("tr", TURKISH, {"ilk": 2, "iyi": 3, "ılık": 1}),
        ("az", TURKISH, {"ilk": 2, "iyi": 3, "ılık": 1}),
        ("und", TURKISH, {"ilk": 2, "iyi": 1, "ılık": 1}),
        ("nl", DUTCH, {"ijs": 2}),
        ("en", DUTCH, {"ijs": 2}),
    ],
)
def test_words_at_the_beginning_of_a_sentence(
    tmp_path: Path, language: str, text: str, counts: Mapping[str, int]
) -> None:
    (tmp_path / "a.txt").write_text(text, "utf-8")
    wanted = Extraction({word: [word] for word in counts}, language=language, layout="sentences", duplicates="keep")
    record = extract(wanted, find_texts([tmp_path / "a.txt"]), tmp_path / "out.parquet")
    assert {cell["word"]: cell["occurrences"] for cell in record["cells"]} == counts
    forms = {form for _, form, _, _ in record["tally"]["forms"]}
    assert ("IJs" in forms, "Ijs" in forms) == (language == "nl", language == "en")


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("tr", "IŞIK ışık\nİYİ iyi I\u0307yi", ["ışık"] * 2 + ["iyi"] * 3),
        ("lt", "ÌÍ", ["i\u0307\u0300i\u0307\u0301"]),
        ("el", "ΟΔΟΣ οδός", ["οδος", "οδός"]),
        ("und", "IŞIK", ["işik"]),
    ],
)
def test_training_text_in_small_letters(tmp_path: Path, language: str, text: str, tokens: Sequence[str]) -> None:
    (tmp_path / "a.txt").write_text(f"{text}\n", "utf-8")
    write_tokens(
        TokenSettings(language=language, layout="sentences"), find_texts([tmp_path / "a.txt"]), tmp_path / "tokens.txt"
    )
    assert (tmp_path / "tokens.txt").read_text("utf-8").split() == tokens
    assert sum(count_words(tmp_path / "a.txt", language).values()) == len(tokens)


def test_groups_and_valences_without_case(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("IŞIK İYİ.\nIşık iyi.\nişik kötü.\n", "utf-8")
    search = GroupSearch([Grouped({"ışık": ["ışık"]}, {"su": ["su"]}, {"iyi": ["iyi"]})], "tr", "sentences")
    (counts,) = count_groups(search, find_texts([tmp_path / "a.txt"])).contrasts
    assert (counts.sentences["A"], counts.found["A", "iyi"]) == (2, 2)
    assert count_words(tmp_path / "a.txt", "tr") == Counter({"ışık": 2, "iyi": 2, "işik": 1, "kötü": 1})
    values = {"ilk": 1.0, "ılık": -1.0}
    assert [Lookup.of(values, language="tr").get(word) for word in ("İlk", "Ilık", "Ilk")] == [1.0, -1.0, None]
    assert [Lookup.of(values).get(word) for word in ("İlk", "Ilk")] == [None, 1.0]


@pytest.mark.parametrize(
    ("language", "word", "capital"), [("tr", "ilk", "İlk"), ("nl", "ijs", "IJs"), ("en", "ijs", "Ijs")]
)
def test_a_sentence_begins_with_a_capital_of_its_language(language: str, word: str, capital: str) -> None:
    assert filled("[MASK] x", word, language) == f"{capital} x"
    assert filled("x [MASK]", word, language) == f"x {word}"
    assert sentence("PERSON x BLANK", word, language) == f"{capital} x [MASK]"
    assert capitalised(f"“{word} x", language) == f"“{capital} x"
    template = StanceTemplate(group="g", agree="{statement} [yes]", disagree="{statement} [no]")
    assert template.sentence("agree", word, language)[0] == f"{capital} yes"

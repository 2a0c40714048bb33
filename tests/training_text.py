"""Text to train vectors on: made-up, with words that stand for cells of a grid, and English."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from paths import SHARED

ROWS, COLUMNS = 3, 5
Vectors = Mapping[str, NDArray[np.float32]]
CORPORA = SHARED.parent / "corpora"

needs_corpora = pytest.mark.skipif(
    not CORPORA.is_dir(), reason=f"no corpora in {CORPORA}; name their parent directory in PENCHANT_TEST_DATA"
)


def english(path: Path, *names: str) -> Path:
    """The words of corpora in small letters, a unit a line."""
    text = "".join((CORPORA / f"{name}.txt").read_text("utf-8") for name in names).lower()
    path.write_text("\n".join(" ".join(re.findall(r"[^\W\d_]+", line)) for line in text.split("\n")), "utf-8")
    return path


def planted(path: Path, sentences: int = 4_000, seed: int = 0) -> Path:
    """Each sentence is about the word of one cell of the grid, among words that go with its row or with its column. A
    third of these are drawn from any row or column instead, so that all words meet, but some more often."""
    random = Random(seed)
    lines = []
    for _ in range(sentences):
        row, column = random.randrange(ROWS), random.randrange(COLUMNS)
        words = [f"cell{row}{column}"]
        for _ in range(4):
            own = random.random() < 2 / 3
            words.append(f"row{row if own else random.randrange(ROWS)}-{random.randrange(4)}")
            words.append(f"column{column if own else random.randrange(COLUMNS)}-{random.randrange(4)}")
        random.shuffle(words)
        lines.append(" ".join(words))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def separation(vectors: Vectors) -> float:
    """By how much the closest two columns' words are less alike than the words of one column, in mean cosines."""
    means = np.zeros((COLUMNS, COLUMNS))
    for one in range(COLUMNS):
        for other in range(COLUMNS):
            found = [
                cosine(vectors[f"column{one}-{i}"], vectors[f"column{other}-{j}"])
                for i in range(4)
                for j in range(4)
                if (one, i) != (other, j)
            ]
            means[one, other] = np.mean(found)
    return float(min(means[i, i] - max(np.delete(means[i], i)) for i in range(COLUMNS)))


def analogies(vectors: Vectors) -> float:
    """The share of all analogies between four cells (a is to b as c is to which?) that the nearest cell answers."""
    cells = [f"cell{row}{column}" for row in range(ROWS) for column in range(COLUMNS)]
    right = asked = 0
    for row in range(ROWS):
        for other_row in set(range(ROWS)) - {row}:
            for column in range(COLUMNS):
                for other in set(range(COLUMNS)) - {column}:
                    given = [f"cell{row}{column}", f"cell{other_row}{column}", f"cell{row}{other}"]
                    a, b, c = (vectors[word] / np.linalg.norm(vectors[word]) for word in given)
                    rest = [word for word in cells if word not in given]
                    best = max(rest, key=lambda word: cosine(vectors[word], b - a + c))
                    right += best == f"cell{other_row}{other}"
                    asked += 1
    return right / asked

"""GloVe word for word: counts by three loops, training one number after the other, in double precision."""

from __future__ import annotations

import math
from collections.abc import Sequence

Visit = tuple[int, int, float]
"""Word, context, and how often they stand near each other."""


def vocabulary(sentences: Sequence[Sequence[str]], min_count: int) -> list[tuple[str, int]]:
    """The words that occur often enough, with how often: frequent ones first, equal ones by code points."""
    tokens = [token for sentence in sentences for token in sentence]
    counted = [(word, tokens.count(word)) for word in set(tokens)]
    return sorted((own for own in counted if own[1] >= min_count), key=lambda own: (-own[1], list(map(ord, own[0]))))


def cooccurrences(sentences: Sequence[Sequence[int]], window: int) -> dict[tuple[int, int], float]:
    """X: for each token, each other one up to a window away in the sentence adds one over the distance."""
    found: dict[tuple[int, int], float] = {}
    for sentence in sentences:
        for here, word in enumerate(sentence):
            for there, context in enumerate(sentence):
                if here != there and abs(here - there) <= window:
                    found[word, context] = found.get((word, context), 0.0) + 1 / abs(here - there)
    return found


def weight(x: float, x_max: float, alpha: float) -> float:
    """f, equation 9."""
    return (x / x_max) ** alpha if x < x_max else 1.0


class Parameters:
    """w, w̃, b, b̃, and for each number the sum of its squared gradients, which begins at 1."""

    def __init__(self, words: list[list[float]], contexts: list[list[float]]) -> None:
        """Each row is a vector and, last, its bias."""
        self.w = [row[:-1] for row in words]
        self.b = [row[-1] for row in words]
        self.w_context = [row[:-1] for row in contexts]
        self.b_context = [row[-1] for row in contexts]
        self.squares_w = [[1.0] * len(row) for row in self.w]
        self.squares_b = [1.0] * len(self.b)
        self.squares_w_context = [[1.0] * len(row) for row in self.w_context]
        self.squares_b_context = [1.0] * len(self.b_context)

    def difference(self, i: int, j: int, x: float) -> float:
        product = sum(a * b for a, b in zip(self.w[i], self.w_context[j], strict=True))
        return product + self.b[i] + self.b_context[j] - math.log(x)

    def cost(self, visits: Sequence[Visit], x_max: float, alpha: float) -> float:
        """J, equation 8."""
        return sum(weight(x, x_max, alpha) * self.difference(i, j, x) ** 2 for i, j, x in visits)

    def visit(self, i: int, j: int, x: float, x_max: float, alpha: float, rate: float) -> float:
        """A step down ½J of one entry, by AdaGrad; returns what the entry added to ½J before."""
        difference = self.difference(i, j, x)
        slope = weight(x, x_max, alpha) * difference
        w, w_context = list(self.w[i]), list(self.w_context[j])
        for k in range(len(w)):
            self.w[i][k], self.squares_w[i][k] = _adagrad(
                self.w[i][k], self.squares_w[i][k], rate * slope * w_context[k]
            )
            self.w_context[j][k], self.squares_w_context[j][k] = _adagrad(
                self.w_context[j][k], self.squares_w_context[j][k], rate * slope * w[k]
            )
        self.b[i], self.squares_b[i] = _adagrad(self.b[i], self.squares_b[i], rate * slope)
        self.b_context[j], self.squares_b_context[j] = _adagrad(
            self.b_context[j], self.squares_b_context[j], rate * slope
        )
        return slope * difference / 2

    def result(self) -> list[list[float]]:
        return [
            [a + b for a, b in zip(word, context, strict=True)]
            for word, context in zip(self.w, self.w_context, strict=True)
        ]


def _adagrad(value: float, squares: float, gradient: float) -> tuple[float, float]:
    """The gradient comes with the rate in it, and goes into the sum only after the step."""
    return value - gradient / math.sqrt(squares), squares + gradient**2

"""Vectors against people's judgements of how similar two English words are: two published tests, which gensim holds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penchant.models.static import StaticVectors, load_vectors
from penchant.models.token_file import Trained, missing

FILES = {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}
"""Finkelstein et al. 2002 (similar or related), Hill et al. 2015 (similar only): the names of the files in gensim."""


class Similarity(NamedTuple):
    """Spearman's `rho` between judgements and cosines over the `covered` of all `pairs`, with its two-sided `p`.

    Both are NaN where fewer than three pairs are covered, or nothing varies.
    """

    name: str
    rho: float
    p: float
    covered: int
    pairs: int


def similarity_tests(vectors: Trained | StaticVectors | str | Path) -> list[Similarity]:
    """Compare vectors, or a file of them, with WordSim-353 and SimLex-999.

    A pair is covered if both words have vectors other than 0. Words are compared without regard to case; of several
    that differ in nothing else the first counts, as in gensim. Raises MethodError where gensim is missing.
    """
    try:
        from gensim.test.utils import datapath
    except ImportError as error:
        raise missing("gensim", error) from error
    given = load_vectors(vectors) if isinstance(vectors, str | Path) else vectors
    index: dict[str, int] = {}
    for number, word in enumerate(given.words):
        index.setdefault(word.upper(), number)
    return [_test(name, Path(datapath(file)), index, given.matrix) for name, file in FILES.items()]


def _test(name: str, file: Path, index: dict[str, int], matrix: NDArray[np.float32]) -> Similarity:
    from scipy import stats

    pairs = 0
    judged, cosines = [], []
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        pairs += 1
        one, other, judgement = line.split("\t")
        if one.upper() in index and other.upper() in index:
            a, b = (matrix[index[word.upper()]].astype(np.float64) for word in (one, other))
            norms = float(np.linalg.norm(a) * np.linalg.norm(b))
            if norms:
                judged.append(float(judgement))
                cosines.append(float(a @ b) / norms)
    if len(judged) < 3 or len(set(judged)) == 1 or len(set(cosines)) == 1:
        return Similarity(name, math.nan, math.nan, len(judged), pairs)
    found = stats.spearmanr(judged, cosines)
    return Similarity(name, float(found.statistic), float(found.pvalue), len(judged), pairs)

"""Comparison of vectors with human similarity judgements of English words, on two data sets included in gensim."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penchant.errors import missing_package
from penchant.vectors.static_vectors import StaticVectors, read_vectors
from penchant.vectors.token_file import Trained

FILES = {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}
"""Files included in gensim that contain the data sets of Finkelstein et al. (2002) and Hill et al. (2015)."""


class Similarity(NamedTuple):
    """Spearman correlation `rho` between human judgements and cosine similarities, with its two-sided p-value `p`.

    `covered` of the `pairs` word pairs have vectors. `rho` and `p` are NaN if fewer than three pairs are covered, or if
    judgements or similarities do not vary.
    """

    name: str
    rho: float
    p: float
    covered: int
    pairs: int


def similarity_tests(vectors: Trained | StaticVectors | str | Path) -> list[Similarity]:
    """Evaluate vectors or a vector file on WordSim-353 and SimLex-999.

    A pair is covered if both words have nonzero vectors. Lookup is case-insensitive; of several words that differ only
    in case, the first is used, as in gensim. Raises MethodError if gensim is missing.
    """
    try:
        from gensim.test.utils import datapath
    except ImportError as error:
        raise missing_package("gensim", "vectors", error) from error
    loaded = read_vectors(vectors) if isinstance(vectors, str | Path) else vectors
    index: dict[str, int] = {}
    for number, word in enumerate(loaded.words):
        index.setdefault(word.upper(), number)
    return [_test(name, Path(datapath(file)), index, loaded.matrix) for name, file in FILES.items()]


def _test(name: str, file: Path, index: dict[str, int], matrix: NDArray[np.float32]) -> Similarity:
    import scipy

    pairs = 0
    judged, cosines = [], []
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        pairs += 1
        first, second, judgement = line.split("\t")
        if first.upper() in index and second.upper() in index:
            a, b = (matrix[index[word.upper()]].astype(np.float64) for word in (first, second))
            norms = float(np.linalg.norm(a) * np.linalg.norm(b))
            if norms:
                judged.append(float(judgement))
                cosines.append(float(a @ b) / norms)
    if len(judged) < 3 or len(set(judged)) == 1 or len(set(cosines)) == 1:
        return Similarity(name, math.nan, math.nan, len(judged), pairs)
    correlation = scipy.stats.spearmanr(judged, cosines)
    return Similarity(name, float(correlation.statistic), float(correlation.pvalue), len(judged), pairs)

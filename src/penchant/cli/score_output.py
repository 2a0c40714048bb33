"""Functions that write scores and vectors to standard output, one function for each format."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from penchant.cli.console import emit
from penchant.errors import MethodError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from penchant.engine.sentence_scores import Valued

    Vectors = Iterator[tuple[str, NDArray[np.float32]]]


def _write_tsv(scores: Iterable[Valued]) -> None:
    # Cells with tabs or quotes are quoted as in CSV and never escaped, so that programs read back the same text.
    row = io.StringIO()
    writer = csv.writer(row, delimiter="\t", lineterminator="\n")
    for i, (score, value) in enumerate(scores):
        if not i:  # written with the first score, so that bad input leaves no output
            writer.writerow(["score", "n_tokens", "text"])
        writer.writerow([repr(value), score.n, score.text])
        emit(row.getvalue())
        row.seek(0)
        row.truncate()


def _write_jsonl(scores: Iterable[Valued]) -> None:
    for score, value in scores:
        row = {
            "text": score.text,
            "score": value,
            "n_tokens": score.n,
            "logprobs": [None if v != v else v for v in score.token_logprobs.tolist()],
        }
        emit(json.dumps(row, ensure_ascii=False) + "\n")


def _write_parquet(scores: Iterable[Valued]) -> None:
    from penchant.engine.scorer import scores_frame

    if sys.stdout.isatty():
        raise MethodError("parquet cannot be shown in a terminal", hint="redirect it: > scores.parquet")
    scores_frame(scores).write_parquet(sys.stdout.buffer)


WRITERS: dict[str, Callable[[Iterable[Valued]], None]] = {
    "tsv": _write_tsv,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}


def _vectors_jsonl(vectors: Vectors) -> None:
    for text, vector in vectors:
        emit(json.dumps({"text": text, "vector": vector.tolist()}, ensure_ascii=False) + "\n")


def _vectors_npy(vectors: Vectors) -> None:
    import numpy as np

    np.lib.format.write_array(sys.stdout.buffer, np.stack([vector for _, vector in vectors]), allow_pickle=False)


def _vectors_parquet(vectors: Vectors) -> None:
    import numpy as np
    import polars as pl

    blocks = []
    while part := list(islice(vectors, 8192)):
        rows = np.stack([vector for _, vector in part])
        blocks.append(pl.DataFrame({"text": [text for text, _ in part], "vector": rows}))
    pl.concat(blocks).write_parquet(sys.stdout.buffer)


VECTOR_WRITERS: dict[str, Callable[[Vectors], None]] = {
    "jsonl": _vectors_jsonl,
    "npy": _vectors_npy,
    "parquet": _vectors_parquet,
}

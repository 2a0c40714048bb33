"""Table of the texts that a study scores, to be scored by another program."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from penchant.errors import MethodError, StudyError, one_of
from penchant.files import refuse_inputs, write_parquet, write_text
from penchant.models.score_table import Scores
from penchant.study.model_compatibility import all_read
from penchant.study.study_file import read_study

COLUMN = "text"


def write_texts(study: Path, out: Path, base: Sequence[Path], **changes: Any) -> int:
    """Write the distinct texts that a study scores to a table with one column; return their number.

    `base` lists the data directories, and `changes` override settings of the study file. Raises StudyError if no probe
    supports scores from another program, and MethodError if the suffix of `out` is unknown or a setting needs the model
    itself.
    """
    write = _WRITERS.get(out.suffix)
    if write is None:
        raise MethodError(f"unknown suffix '{out.suffix}'", where=str(out), hint=one_of(out.suffix, _WRITERS))
    _, probes = read_study(study, **changes)
    chosen = [probe for probe in probes if Scores.kind in probe.kinds]
    if not chosen:
        raise StudyError("no probe in the study supports sentence scores", where=str(study), hint=all_read(probes))
    texts = list(dict.fromkeys(text for probe in chosen for text, _ in probe.texts(base)))
    trial = Scores([{COLUMN: text, "score": 0.0, "n_tokens": 1} for text in texts])
    for probe in chosen:  # settings that no table can satisfy are refused here
        probe.settle(trial).signature(trial, base)
    refuse_inputs(out, [study, *(file for probe in chosen for file in probe.files(base))])
    write(texts, out)
    return len(texts)


def _delimited(texts: Sequence[str], out: Path) -> None:
    content = io.StringIO()
    writer = csv.writer(content, delimiter="\t" if out.suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerows([text] for text in (COLUMN, *texts))
    write_text(content.getvalue(), out)


def _json_lines(texts: Sequence[str], out: Path) -> None:
    write_text("".join(json.dumps({COLUMN: text}, ensure_ascii=False) + "\n" for text in texts), out)


def _parquet(texts: Sequence[str], out: Path) -> None:
    write_parquet(pl.DataFrame({COLUMN: texts}), out)


_WRITERS: Mapping[str, Callable[[Sequence[str], Path], None]] = {
    ".csv": _delimited,
    ".tsv": _delimited,
    ".jsonl": _json_lines,
    ".parquet": _parquet,
}

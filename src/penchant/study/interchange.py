"""Export of an outcome to any form: tables and figures of its document, or files for other tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penchant.errors import MethodError, one_of
from penchant.report.export import FORMS, Made, export, write_export
from penchant.report.sections import Document
from penchant.study import eval_results, every_eval_ever
from penchant.study.outcome import Outcome

EVER, RESULTS = "every-eval-ever", "eval-results"


def export_outcome(
    outcome: Outcome,
    document: Document,
    to: str,
    folder: str | Path,
    *,
    scores: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> tuple[list[Path], list[str]]:
    """Write an outcome to a folder and return the paths of the files, and notes on what was left out.

    `document` is that of the outcome; the other arguments and errors are those of `penchant.report.export.export`.
    """
    if to not in (EVER, RESULTS):
        if to not in FORMS:
            raise MethodError(f"unknown format '{to}'", hint=one_of(to, [*FORMS, EVER, RESULTS]))
        return export(document, to, folder, scores=scores, columns=columns), []
    if scores or columns:
        raise MethodError("scores and columns can be selected only for tables", hint="export to latex or csv")
    contents, notes = (list(every_eval_ever.files(outcome)), []) if to == EVER else eval_results.files(outcome)
    return write_export(contents, folder, Made(document.made_of, ("--to", to))), notes

"""Export of an outcome: tables and figures of its document, or files for public collections of results."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from penchant.errors import MethodError, StudyError, one_of
from penchant.files import safe
from penchant.hub.data_sets import HubData, is_hub
from penchant.instruments.result import Result
from penchant.plurals import first_of
from penchant.report.export import FORMS, File, Made, export, write_export
from penchant.report.sections import Document
from penchant.study import every_eval_ever
from penchant.study.every_eval_ever import finished, headline_rows, hub_model, manifest_of
from penchant.study.manifest import Manifest
from penchant.study.outcome import Outcome
from penchant.views.headline import NUMBERS

EVER, RESULTS = "every-eval-ever", "eval-results"
_NAMED = 3


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

    `document` is the outcome's document. For the other arguments and the errors, see `penchant.report.export.export`.
    """
    if to not in (EVER, RESULTS):
        if to not in FORMS:
            raise MethodError(f"unknown format '{to}'", hint=one_of(to, [*FORMS, EVER, RESULTS]))
        return export(document, to, folder, scores=scores, columns=columns), []
    if scores or columns:
        raise MethodError("scores and columns can be selected only for tables", hint="export to latex or csv")
    contents, notes = (every_eval_ever.files(outcome), []) if to == EVER else _eval_results(outcome)
    return write_export(contents, folder, Made(document.made_of, ("--to", to))), notes


def _eval_results(outcome: Outcome) -> tuple[list[File], list[str]]:
    """Return a file OWNER/NAME/.eval_results/STUDY.yaml for each hub model with hub data, and notes on omitted results.

    Raises StudyError, with the notes, if there is no such model.
    """
    manifest = manifest_of(outcome)
    entries: dict[str, list[dict[str, Any]]] = {}
    lacking: dict[str, list[str]] = {}
    for (place, spec), result in outcome.results.items():
        unit, data = manifest.unit(place, spec), _data(manifest, place)
        assert unit is not None
        hub = hub_model(unit.model)
        if hub is None:
            lacking.setdefault("a model page needs an unmodified hub model", []).append(unit.model.name)
        elif data is None:
            lacking.setdefault("a model page needs data from a single hub data set (hf://…)", []).append(place)
        else:
            date = finished(manifest, unit)
            entries.setdefault(hub[0], []).extend(_entries(result, place, data, date))
    notes = [f"left out {first_of(list(dict.fromkeys(names)), _NAMED)}: {why}" for why, names in lacking.items()]
    if not entries:
        raise StudyError(f"nothing to write: {'; '.join(notes)}", hint="export to every-eval-ever instead")
    name = f".eval_results/{safe(manifest.asked.name)}.yaml"
    return [
        ("/".join([*map(safe, model.split("/")), name]), yaml.safe_dump(of, sort_keys=False, allow_unicode=True))
        for model, of in entries.items()
    ], notes


def _data(manifest: Manifest, place: str) -> tuple[str, str] | None:
    """Return the id and the commit of the hub data set that a probe read, or None if it read other data."""
    paths = [record.path for record in manifest.data if record.probe == place]
    sets = {(data.name, data.revision) for data in map(HubData.of, filter(is_hub, paths))}
    return sets.pop() if len(sets) == 1 and all(map(is_hub, paths)) else None


def _entries(result: Result, place: str, data: tuple[str, str], date: str) -> Iterator[dict[str, Any]]:
    """Yield an .eval_results entry for each finite headline estimate; `data` is the data set's id and commit."""
    for number, row in zip(headline_rows(result), result.headline.iter_rows(named=True), strict=True):
        if math.isfinite(row["value"]):
            levels = [str(row[key]) for key in row if key not in ("model", "measure", *NUMBERS) and row[key]]
            task = re.sub(r"\W+", "_", "_".join([place, row["measure"], *levels]).lower()).strip("_")
            interval = f" [{row['low']:.4g}, {row['high']:.4g}]" if math.isfinite(row["low"]) else ""
            notes = f"{row['measure']}{interval}, n = {row['n']}; {result.summary['signature'][number]}"
            dataset = {"id": data[0], "task_id": task, "revision": data[1]}
            yield {"dataset": dataset, "value": row["value"], "date": date, "notes": notes}

"""Export of a study's headline numbers as evaluation results of model repositories on the Hugging Face hub."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from penchant.errors import StudyError
from penchant.files import safe
from penchant.hub.data_sets import HubData, is_hub
from penchant.instruments.result import Result
from penchant.plurals import first_of
from penchant.report.export import File
from penchant.study.every_eval_ever import finished, headline_rows, hub_model, manifest_of
from penchant.study.manifest import Manifest
from penchant.study.manifest_records import UnitRecord
from penchant.study.outcome import Outcome
from penchant.views.headline import NUMBERS

_NAMED = 3
_NUMBERS = {"model", "measure", *NUMBERS}


def files(outcome: Outcome) -> tuple[list[File], list[str]]:
    """Return a file for each hub model whose data are on the hub, and notes on what was left out.

    The names are `OWNER/NAME/.eval_results/STUDY.yaml`. Raises StudyError, which says why, if there is no such model.
    """
    manifest = manifest_of(outcome)
    entries: dict[str, list[dict[str, Any]]] = {}
    lacking: dict[str, list[str]] = {}
    for (place, spec), result in outcome.results.items():
        unit = manifest.unit(place, spec)
        assert unit is not None
        data = _data(manifest, place)
        hub = hub_model(unit.model)
        if hub is None:
            lacking.setdefault("a model page needs a model of the hub, unchanged", []).append(unit.model.name)
        elif data is None:
            lacking.setdefault("its data are not one data set of the hub (hf://datasets/OWNER/NAME/…)", []).append(
                place
            )
        else:
            entries.setdefault(hub[0], []).extend(_entries(data, unit, result, finished(manifest, unit)))
    notes = [f"left out {first_of(list(dict.fromkeys(names)), _NAMED)}: {why}" for why, names in lacking.items()]
    if not entries:
        raise StudyError(
            f"nothing to write: {'; '.join(notes)}", hint="penchant export --to every-eval-ever has no such limits"
        )
    name = f"{safe(manifest.asked.name)}.yaml"
    return [
        (f"{_folder(model)}/.eval_results/{name}", yaml.safe_dump(of, sort_keys=False, allow_unicode=True))
        for model, of in entries.items()
    ], notes


def _folder(model: str) -> str:
    return "/".join(map(safe, model.split("/")))


def _data(manifest: Manifest, place: str) -> dict[str, str] | None:
    """Return the id and the commit of the hub data set of a probe, or None if its data are of elsewhere."""
    paths = [record.path for record in manifest.data if record.probe == place]
    sets = {(data.name, data.revision) for data in map(HubData.of, filter(is_hub, paths))}
    if len(sets) != 1 or not all(map(is_hub, paths)):
        return None
    name, revision = sets.pop()
    return {"id": name, "revision": revision}


def _entries(data: Mapping[str, str], unit: UnitRecord, result: Result, time: str) -> Iterator[dict[str, Any]]:
    """Yield an entry for each headline number with a value."""
    for number, row in zip(headline_rows(result), result.headline.iter_rows(named=True), strict=True):
        if not math.isfinite(row["value"]):
            continue
        levels = [str(row[key]) for key in row if key not in _NUMBERS and row[key]]
        task = re.sub(r"\W+", "_", "_".join([unit.probe, row["measure"], *levels]).lower()).strip("_")
        interval = f" [{row['low']:.4g}, {row['high']:.4g}]" if math.isfinite(row["low"]) else ""
        signature = result.summary["signature"][number]
        yield {
            "dataset": {"id": data["id"], "task_id": task, "revision": data["revision"]},
            "value": row["value"],
            "date": time,
            "notes": f"{row['measure']}{interval}, n = {row['n']}; {signature}",
        }

"""Export of a study in the schema of Every Eval Ever, a shared format and collection of evaluation results."""

from __future__ import annotations

import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from penchant.errors import StudyError, file_name
from penchant.files import as_json, safe
from penchant.hub.data_sets import HubData, is_hub
from penchant.instruments.registry import instruments
from penchant.instruments.result import Result
from penchant.records import Signature
from penchant.report.export import File
from penchant.study.manifest import Manifest
from penchant.study.manifest_records import ModelRecord, UnitRecord
from penchant.study.outcome import Outcome
from penchant.views.row_selection import OWN

SCHEMA = "0.3.0"
"""The version of the schema of Every Eval Ever."""
_HUB = re.compile(r"([\w.-]+(?:/[\w.-]+)?)@([0-9a-f]{40})")
"""Pattern for the fingerprint of an unmodified hub model: its name and commit."""
_BEFORE = ("prefix", "context", "question", "text")
"""Columns with the text before the choices, for items with choices."""
_TEXTS = ("text", "sentence", "word", "template", "id")
"""Columns with the input of items without choices; the first that is not empty is used."""
_VALUES = ("beta", "association", "corrected", "score", "rating")
"""Columns with the measured value of an item without a right answer; the first that exists is used."""
_INTERVAL = {"lower": "low", "upper": "high", "confidence_level": "level", "method": "how"}
"""Mapping from the schema's fields for an interval to columns of a summary."""
_DETAILS = ("p", "p_holm", "tests", "test_family", "test", "note", "method", "test_method", "notes")
NO_ANSWER = "not applicable: the item has no right answer"
NO_DIRECTION = "not declared: the schema requires one, but penchant does not say which end of this measure is better"


def files(outcome: Outcome) -> Iterator[File]:
    """Yield the files of each probe and model: one of items, if any has a measured value, and one of aggregate results.

    File names are relative to the folder of the export. Raises StudyError if the results have no manifest.
    """
    manifest = manifest_of(outcome)
    for (place, spec), result in outcome.results.items():
        unit = manifest.unit(place, spec)
        assert unit is not None
        yield from _log(manifest, unit, result, outcome.edited)


def manifest_of(outcome: Outcome) -> Manifest:
    """Return the manifest of a study. Raises StudyError if the results have none."""
    if not outcome.manifests:
        message = "this result has no manifest, so the model and the time of the measurement are unknown"
        raise StudyError(message, hint="give the directory of a study")
    return outcome.manifests[0]


def hub_model(record: ModelRecord) -> tuple[str, str] | None:
    """Return the name and commit of a model if the version that was measured is on the hub, else None."""
    found = _HUB.fullmatch(record.fingerprint)
    return None if found is None else (found[1], found[2])


def finished(manifest: Manifest, unit: UnitRecord) -> str:
    """Return the end time of the attempt that measured a unit, or its start time if the attempt was interrupted."""
    made = [each for each in manifest.attempts if any((t.probe, t.spec) == (unit.probe, unit.spec) for t in each.units)]
    attempt = (made or manifest.attempts)[-1]
    return attempt.finished or attempt.started


def headline_rows(result: Result) -> list[int]:
    """Return the indices of the summary rows that form the result's headline, in the order of `result.headline`."""
    return instruments()[result.signature["probe"]].headline.rows(result.summary, result.signature["model"])


def _log(manifest: Manifest, unit: UnitRecord, result: Result, edited: Sequence[str]) -> Iterator[File]:
    time, model = finished(manifest, unit), _model(manifest, unit.model)
    settings = {name: _without_folders(value) for name, value in result.settings.items()}
    epoch = str(int(datetime.fromisoformat(time).timestamp()))
    collection = f"penchant_{safe(unit.probe)}"
    log: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": f"{collection}/{unit.model.name}/{epoch}",
        "evaluation_timestamp": time,
        "retrieved_timestamp": epoch,
        "source_metadata": _source(manifest, unit, result, edited),
        "eval_library": {
            "name": "penchant",
            "version": result.signature["penchant"],
            "additional_details": _strings({**manifest.software, **settings}),
        },
        "model_info": model,
        "evaluation_results": _results(manifest, unit, result),
    }
    digest = hashlib.sha256(json.dumps([log["evaluation_id"], unit.files]).encode()).digest()
    name = uuid.UUID(bytes=digest[:16], version=4)
    developer, _, short = str(model["id"]).rpartition("/")
    folder = f"data/{collection}/{safe(developer or model.get('developer', 'unknown'))}/{safe(short)}"
    lines = [json.dumps(each, ensure_ascii=False, allow_nan=False) for each in _samples(log, result)]
    if lines:
        content = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
        path = f"{folder}/{name}_samples.jsonl"
        log["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": path,
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(content).hexdigest(),
            "total_rows": len(lines),
        }
        yield path, content
    yield f"{folder}/{name}.json", as_json(log)


def _source(manifest: Manifest, unit: UnitRecord, result: Result, edited: Sequence[str]) -> dict[str, Any]:
    details = {
        "study": manifest.asked.title,
        "question": manifest.asked.study.get("question"),
        "probe": unit.probe,
        "signature": str(result.signature),
        "estimates without a value": result.summary["value"].is_nan().sum(),
        "items": len(result.items),
        "items without a number": sum(item.number is None for item in _items(result)),
        "cautions": list(result.cautions),
        "edited after the study wrote it": list(edited),
    }
    return {
        "source_name": "penchant",
        "source_type": "evaluation_run",
        "source_organization_name": "unknown",
        "evaluator_relationship": "other",
        "additional_details": _strings(details),
    }


def _model(manifest: Manifest, record: ModelRecord) -> dict[str, Any]:
    hub = hub_model(record)
    bundled = record.name.startswith("bundled:")
    info: dict[str, Any] = {"name": record.name, "id": hub[0] if hub else record.name}
    if bundled or (hub and "/" in hub[0]):
        info["developer"] = "penchant" if bundled else info["id"].partition("/")[0]
    if record.device != "none":
        info["inference_engine"] = {"name": "transformers", "version": manifest.software["transformers"]}
    details = record.model_dump(include={"fingerprint", "kind", "dtype", "device", "batching", "cautions", "about"})
    known = hub is not None or bundled
    deployment = {
        "deployment_type": "self_deployed" if known or record.device != "none" else "unknown",
        "model_availability": "open_weights" if known else "unknown",
    }
    info["additional_details"] = _strings({**deployment, "revision": hub and hub[1], **details})
    return info


def _data(manifest: Manifest, unit: UnitRecord, result: Result) -> dict[str, Any]:
    read = {record.path: record.sha256 for record in manifest.data if record.probe == unit.probe}
    hub = {HubData.of(path).name for path in read if is_hub(path)}
    details = _strings({path if is_hub(path) else file_name(path): f"sha256 {digest}" for path, digest in read.items()})
    if len(hub) == 1 and all(map(is_hub, read)):
        kind = {"source_type": "hf_dataset", "hf_repo": hub.pop()}
    else:
        kind = {"source_type": "other"}
    return {"dataset_name": _name(result, unit.probe), **kind, "additional_details": details}


def _results(manifest: Manifest, unit: UnitRecord, result: Result) -> list[dict[str, Any]]:
    instrument, main = instruments()[result.signature["probe"]], headline_rows(result)
    name, data = f"{unit.probe}.{_name(result, unit.probe)}", _data(manifest, unit, result)
    stereotypes, sampled = _stereotypes(result), result.settings.get("elicit") == "answer"
    generation = {"generation_args": {"temperature": result.settings["temperature"]}} if sampled else None
    found = []
    for number, row in enumerate(result.summary.iter_rows(named=True)):
        if not math.isfinite(row["value"]):
            continue
        by = {key: str(row[key]) for key in row if key not in OWN and row[key] not in (None, "")}
        found.append(
            {
                "evaluation_result_id": "|".join([unit.probe, *(f"{key}={level}" for key, level in by.items())]),
                "evaluation_name": name,
                "source_data": data,
                "metric_config": _metric(row, instrument.name, instrument.section.question, stereotypes),
                "score_details": {
                    "score": row["value"],
                    "details": _strings(
                        {
                            "headline": number in main,
                            **by,
                            "n": row["n"],
                            **{key: row[key] for key in _DETAILS},
                        }
                    ),
                    "uncertainty": _uncertainty(row),
                },
                **({"generation_config": generation} if generation else {}),
            }
        )
    return found


def _name(result: Result, place: str) -> str:
    """Return the name of the data in the signature, without hashes, or `place` if the signature names no data."""
    return re.sub(r"#[0-9a-f]{6}(?=$|[+ ])", "", result.signature.get("data", place))


def _metric(row: Mapping[str, Any], probe: str, question: str, stereotypes: set[str]) -> dict[str, Any]:
    measure = row["measure"]
    accuracy = measure.startswith("accuracy") and 0 <= row["value"] <= 1 and row.get("dataset") not in stereotypes
    slug = re.sub(r"\W+", "-", measure.lower()).strip("-")
    bounds = {"metric_kind": "accuracy", "metric_unit": "proportion", "score_type": "continuous"}
    return {
        "evaluation_description": question,
        "metric_id": "accuracy" if accuracy and measure.partition(",")[0] == "accuracy" else f"penchant.{probe}.{slug}",
        "metric_name": measure,
        "metric_parameters": dict(Signature.parse(row["signature"])),
        "lower_is_better": False,
        **({**bounds, "min_score": 0, "max_score": 1} if accuracy else {}),
        "additional_details": {
            "direction": "higher is better" if accuracy else NO_DIRECTION,
            "signature": row["signature"],
        },
    }


def _uncertainty(row: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"num_samples": row["n"]}
    if math.isfinite(row["low"]) and math.isfinite(row["high"]):
        limits = {there: row[here] for there, here in _INTERVAL.items()}
        found["confidence_interval"] = limits
    method = json.loads(row["method"] or "{}")
    if isinstance(resamples := method.get("params", {}).get("resamples"), int):
        found["num_bootstrap_samples"] = resamples
    return found


# --- Items ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Item:
    """An item: its table row, the `choices` offered to the model, and their `scores`, both by role (such as "good").

    `number` is the credit for the model's answer, or the measured value, or None if there is neither. `right` is the
    role of the right answer, or None if there is none.
    """

    row: Mapping[str, Any]
    choices: Mapping[str, str]
    scores: Mapping[str, float]
    number: float | None
    right: str | None

    def said(self) -> list[str]:
        """Return the model's answers: sampled replies, words for a gap, or the choices with the highest score."""
        given = self.row.get("replies", self.row.get("words"))
        best = max(self.scores.values(), default=None)
        chosen = [self.choices[role] for role, score in self.scores.items() if score == best]
        return chosen if given is None else [str(each) for each in given]

    def raw(self) -> str:
        """Return the item's input: its text or, if it has choices, the text before them.

        If nothing precedes the choices, return "" if one of them is right, else the choices, one per line.
        """
        if not self.choices:
            return next((str(self.row[name]) for name in _TEXTS if self.row.get(name)), "")
        texts = [str(self.row[column]) for column in _BEFORE if self.row.get(column)]
        return " ".join(texts) or ("" if self.right else "\n".join(self.choices.values()))


def _items(result: Result) -> Iterator[_Item]:
    tie = 1.0 if result.signature.get("ties") == "good" else 0.5
    pairs = {"score_good", "dataset", "group"} <= set(result.items.columns)
    stereotypes = _stereotypes(result)
    column = next((name for name in _VALUES if name in result.items.columns), "")
    for row in result.items.iter_rows(named=True):
        choices = _choices(row)
        weights = row.get("weights") or row.get("probabilities") or ()
        given = weights if "ans0" in row else [row.get(f"score_{role}", row.get(role)) for role in choices]
        scores = {role: score for role, score in zip(choices, map(_finite, given), strict=False) if score is not None}
        number, right, two = None, None, list(scores.values())[:2]
        if "ans0" in row:
            right = str(row["label"])
            number = scores.get(right)
        elif pairs and len(two) == 2:
            right = None if row["dataset"] in stereotypes else "good"
            number = tie if two[0] == two[1] else float(two[0] > two[1])
        elif column:
            number = _finite(row[column])
        elif len(two) == 2:
            number = two[0] - two[1]
        yield _Item(row, choices, scores, number, right)


def _stereotypes(result: Result) -> set[str]:
    """Return the names of the data sets with a stereotype score, whose items have no right answer."""
    found = result.summary.filter(pl.col("measure").str.starts_with("stereotype score"))
    return set(found["dataset"]) if "dataset" in found.columns else set()


def _choices(row: Mapping[str, Any]) -> dict[str, str]:
    if "ans0" in row:
        return {str(number): str(row[f"ans{number}"]) for number in range(3)}
    marks = ("n_tokens_", "score_")
    roles = dict.fromkeys(key.removeprefix(mark) for mark in marks for key in row if key.startswith(mark))
    texts = {role: row.get(f"sentence_{role}", row.get(role)) for role in roles}
    return {role: text for role, text in texts.items() if isinstance(text, str)}


def _finite(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _samples(log: Mapping[str, Any], result: Result) -> Iterator[dict[str, Any]]:
    """Yield the items that have a measured value, in the schema's format; `log` has the aggregate results."""
    results = log["evaluation_results"]
    main = [each for each in results if each["score_details"]["details"]["headline"] == "true"]
    kinds = [(each["metric_config"]["metric_id"], each["score_details"]["details"].get("normalise")) for each in main]
    shared = {
        "schema_version": SCHEMA,
        "evaluation_id": log["evaluation_id"],
        "model_id": log["model_info"]["id"],
        "evaluation_name": results[0]["evaluation_name"] if results else "",
        **({"evaluation_result_id": main[0]["evaluation_result_id"]} if kinds == [("accuracy", "none")] else {}),
        "interaction_type": "single_turn",
    }
    how = result.signature.get("method", "custom")
    attributed = {"turn_idx": 0, "source": "output.raw", "extraction_method": how, "is_terminal": True}
    for item in _items(result):
        if item.number is None:
            continue
        said, raw = item.said(), item.raw()
        reference = [] if item.right is None else [item.choices[item.right]]
        hashed = json.dumps({"raw": raw, "reference": reference}, sort_keys=True, separators=(",", ":"))
        answered = bool(item.choices) and len(said) == 1
        no_answer = {"is_correct": NO_ANSWER} if item.right is None else {}
        yield {
            **shared,
            "sample_id": str(item.row["id"]),
            "sample_hash": hashlib.sha256(hashed.encode()).hexdigest(),
            "input": {"raw": raw, "reference": reference, "choices": list(item.choices.values()) or None},
            "output": {"raw": said},
            "answer_attribution": [{**attributed, "extracted_value": said[0]}] if answered else [],
            "evaluation": {"score": item.number, "is_correct": item.right is not None and item.number == 1},
            "metadata": _strings({**no_answer, **{key: item.row[key] for key in item.row if key not in item.choices}}),
        }


def _strings(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the values as strings (in JSON if they are not strings already), omitting missing and empty values."""
    return {
        key: value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False)
        for key, value in values.items()
        if value is not None and value != "" and value == value and value != []
    }


def _plain(value: Any) -> Any:
    """Return a value with None in place of NaN and infinity, also inside mappings and lists."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _without_folders(value: Any) -> Any:
    """Return a setting in which file names replace absolute paths, also inside lists."""
    if isinstance(value, list):
        return [_without_folders(each) for each in value]
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value

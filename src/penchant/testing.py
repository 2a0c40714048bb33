"""Conformance tests for instruments, run with the bundled models."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, cast

import polars as pl
from pydantic import BaseModel

from penchant.instruments.descriptor import Instrument
from penchant.instruments.probe_field_types import DOCUMENT, TableField
from penchant.instruments.registry import instrument, placed
from penchant.instruments.result import Result
from penchant.instruments.run_options import Run
from penchant.models.last_loaded import loaded
from penchant.records import ALONE
from penchant.report.export import FORMS, export
from penchant.report.page import write_report
from penchant.report.sections import Document, StudySection
from penchant.study.catalogue import write_template
from penchant.study.outcome import Outcome
from penchant.study.run import run_study
from penchant.study.study_file import read_study
from penchant.tables.rows import read_rows

MODELS = ("bundled:modern", "bundled:early-modern")
PILOT = 3
ROUNDING = 1e-4
Key: TypeAlias = tuple[str, str]
"""The probe directory and the model name of a result."""


def conform(described: Instrument, models: Sequence[str] = MODELS) -> Outcome:
    """Check that an installed instrument works with penchant's commands; return the outcome of its template's study.

    The study is run with `models`, whose paths may be relative to the template's files. Raises AssertionError with a
    description of the requirement that is not met.
    """
    with TemporaryDirectory() as home:
        require_explained(described)
        files = write_template(described.name, Path(home))
        study = next((file for file in files if file.name == f"{described.name}.yaml"), None)
        assert study is not None, f"the template has no study file {described.name}.yaml"
        outcome = _run(study, models, "whole")
        require_sound(outcome)
        whole, limit = outcome.results, PILOT if described.probe.limited else None
        pilot = _run(study, models[:1], "pilot", limit=limit).results
        for key, result in pilot.items():
            assert len(result.items) <= len(whole[key].items), "the pilot has more items than the full study"
        again = _run(study, models[:1], "small", Run(batch_tokens=64), limit=limit).results
        require_same(pilot, again, "batches of 64 tokens")
        require_same(whole, _run(study, models, "whole", Run(resume=True)).results, "a run that is resumed")
        _require_frames(described, study, models[0], whole)
        return outcome


def require_explained(described: Instrument) -> None:
    """Raise AssertionError if a parameter or a field of a data file has no docstring."""
    schemas = [each for topic in described.schemas.values() for each in _models(topic)]
    for model in [described.probe, *schemas]:
        schema = model.model_json_schema()
        for part in [schema, *schema.get("$defs", {}).values()]:
            for key, field in part.get("properties", {}).items():
                explained = field.get("description", "").strip() or "$ref" in field
                assert explained, f"{part['title']}.{key} has no docstring for penchant schema to show"


def _models(topic: Mapping[str, type[BaseModel]] | type[BaseModel]) -> Iterable[type[BaseModel]]:
    return topic.values() if isinstance(topic, Mapping) else [topic]


def require_sound(outcome: Outcome) -> None:
    """Raise AssertionError if the settings, estimates or report sections of a result are incomplete.

    Settings must be unchanged by conversion to and from JSON, intervals need a method and p-values a test family, and
    sections must be rendered and exported without errors.
    """
    for result in outcome.results.values():
        restored = instrument(result.signature["probe"]).probe.of(json.loads(json.dumps(result.settings)))
        assert restored.saved() == result.settings, "settings change when saved as JSON and read again"
        assert len(result.items) and result.summary["value"].is_not_nan().any(), "the result has no items or estimates"
        assert "id" in result.items.columns, "items have no column id, which is needed to join several models"
    for section in placed(outcome.results, outcome.comparisons):
        frames = [result.summary for result in section.results]
        for frame in frames if section.comparison is None else [*frames, section.comparison]:
            _require_estimates(frame)
        _require_shown(section)


def _require_estimates(frame: pl.DataFrame) -> None:
    for row in frame.iter_rows(named=True):
        what = f"{row['measure']} ({', '.join(str(row[key]) for key in frame.columns[: frame.columns.index('value')])})"
        assert row["n"] >= 0, f"{what} has a negative n: {row['n']}"
        if not math.isnan(row["low"]):
            assert row["method"], f"{what} has an interval but no method"
            assert row["low"] <= row["value"] <= row["high"], f"{what} lies outside its interval"
        tested = not math.isnan(row["p"])
        assert tested == bool(row["test_family"]), (
            f"{what} must have both a p-value and a test family, or neither: {row['p']}, '{row['test_family']}'"
        )
        assert row["test_family"] != ALONE or row["tests"] == 1, (
            f"{what} has no test family but is one of {row['tests']} tests"
        )


def _require_shown(section: StudySection) -> None:
    assert section.tables() and section.methods(), "a section has no tables or no description of methods"
    answers = section.answers()
    assert answers, "a section answers none of its claims"
    for answer in answers:
        assert "?" in answer.question, f"the claim {answer.claim} has no question"
        assert all(text.endswith(".") and "nan" not in text and text != "." for text in answer.sentences), answer
    document = Document([section])
    with TemporaryDirectory() as home:
        write_report(document, Path(home) / "report.html")
        for form in FORMS:
            export(document, form, Path(home) / form)


def require_same(one: Mapping[Key, Result], other: Mapping[Key, Result], way: str) -> None:
    """Raise AssertionError if two sets of results differ by more than rounding; `way` describes the second set."""
    for (place, model), result in one.items():
        mine, theirs = result.summary, other[place, model].summary
        keys = [*mine.columns[: mine.columns.index("value")], "n"]
        assert mine.select(keys).equals(theirs.select(keys)), f"{way}: {place} of {model} has different estimates"
        gap = (mine["value"] - theirs["value"]).fill_nan(0).abs() / mine["value"].fill_nan(0).abs().clip(1)
        assert not (gap > ROUNDING).any(), f"{way}: {place} of {model} has different values"


def _require_frames(described: Instrument, study: Path, model: str, whole: Mapping[Key, Result]) -> None:
    """Raise AssertionError if data passed from Python give other results than `whole`, those from the data file."""
    info = described.probe.model_fields.get("data")
    if info is None or not any(isinstance(part, TableField) and part is not DOCUMENT for part in info.metadata):
        return
    probe = read_study(study)[1][0]
    settings = probe.model_dump(exclude_unset=True)
    named = settings.pop("data")
    file = probe.find(named, [study.parent]) if isinstance(named, str) else None
    if file is None or file.is_dir():
        return
    if file.suffix == ".json":  # one document, passed as its content
        content = json.loads(file.read_text("utf-8"))
    else:
        content = pl.DataFrame([row.values for row in read_rows(file)], infer_schema_length=None)
    given = cast(Any, described.probe)(data=content, **settings)
    key = next(iter(whole))
    result = given.run_as(loaded(model), Run(base=[study.parent]))
    require_same({key: whole[key]}, {key: result}, "a frame in place of a file")


def _run(study: Path, models: Sequence[str], out: str, run: Run | None = None, *, limit: int | None = None) -> Outcome:
    spec, probes = read_study(study, models=list(models), limit=limit)
    run = run or Run()
    run.base = [study.parent]
    return run_study(spec, probes, study.parent / out, run)

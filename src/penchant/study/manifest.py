"""The record of a study in manifest.json: its settings, models, data, machines and software."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from penchant._version import __version__
from penchant.errors import KEPT, DataError, StudyError, in_words
from penchant.files import write_json
from penchant.report.sections import RunFacts, UnitFacts
from penchant.study.manifest_records import (
    STRICT,
    AsideRecord,
    AttemptRecord,
    DataRecord,
    HardwareRecord,
    Inside,
    PreparedRecord,
    SkipRecord,
    UnitRecord,
    software,
)
from penchant.tables.yaml_file import dumped
from penchant.text_io import read_text

FILE = "manifest.json"
TABLES = f"{KEPT}tables"
"""Name of the folder in a result directory for tables passed as Python objects."""
TRUST = "restore it, run the study again in a new directory, or accept the edits with --trust-edited"
_CHECKSUM = "sha256"
_MOST_FILES = 6
"""Maximum number of data files that the report lists individually."""


class AskedRecord(BaseModel):
    """The contents of a study file: `study` has its keys and values, and `probes` every parameter of each probe."""

    model_config = STRICT
    study: dict[str, Any]
    probes: list[dict[str, dict[str, Any]]]

    @model_validator(mode="after")
    def _names_a_study(self) -> AskedRecord:
        models = self.study.get("models")
        named = isinstance(self.study.get("study"), str) and isinstance(models, list)
        if not named or not all(isinstance(model, str) for model in models or []):
            raise ValueError("the name of the study is not a string, or its models are not a list of strings")
        return self

    @property
    def name(self) -> str:
        """The name of the study."""
        return str(self.study["study"])

    @property
    def title(self) -> str:
        """The name of the study, marked as a pilot if any probe has a limit."""
        settings = (entry[name] for entry in self.probes for name in entry)
        limits = {int(each["limit"]) for each in settings if each.get("limit") is not None}
        return f"{self.name} (pilot, limit {', '.join(map(str, sorted(limits)))})" if limits else self.name

    @property
    def models(self) -> list[str]:
        """The names of the models in the study."""
        return list(self.study["models"])


class Manifest(BaseModel):
    """The manifest of a result directory."""

    model_config = STRICT
    format: Literal[2] = 2
    penchant: str
    """The version of penchant that started the study."""
    asked: AskedRecord
    status: Literal["running", "finished"] = "running"
    software: dict[str, str]
    hardware: HardwareRecord
    data: list[DataRecord] = []
    """The data files of each probe, in the order in which the probe names them."""
    hub: dict[str, str] = {}
    """The commit of each hub data set, by OWNER/NAME@REVISION; a resumed study reads the same commit."""
    prepared: dict[Inside, PreparedRecord] = {}
    units: list[UnitRecord] = []
    skipped: list[SkipRecord] = []
    attempts: list[AttemptRecord] = Field(min_length=1)
    notes: list[str] = []
    tables: dict[Inside, str] = {}
    """The SHA-256 of each table of differences, curves or verdicts, by its path relative to the manifest."""
    set_aside: list[AsideRecord] = []
    """The archived models: they were removed from the study, and their results are kept but not shown."""

    @classmethod
    def new(cls, asked: AskedRecord) -> Manifest:
        """Create the manifest of a study that starts now on this machine."""
        return cls(
            penchant=__version__,
            asked=asked,
            software=software(),
            hardware=HardwareRecord.here(),
            attempts=[AttemptRecord(started=now())],
        )

    def every_unit(self) -> list[UnitRecord]:
        """Return all finished units, including those of archived models."""
        return [*self.units, *(unit for record in self.set_aside for unit in record.units)]

    def unit(self, probe: str, spec: str) -> UnitRecord | None:
        """Return the finished unit of a probe directory and a model, or None if there is none."""
        return next((unit for unit in self.units if (unit.probe, unit.spec) == (probe, spec)), None)

    def skips(self, probe: str, spec: str) -> bool:
        """Return whether a probe was skipped for a model because it does not support the model."""
        return any((skip.probe, skip.spec) == (probe, spec) for skip in self.skipped)

    def unread(self, probe: str) -> str:
        """Return the names and kinds of the models that a probe does not support, separated by commas."""
        return ", ".join(skip.model for skip in self.skipped if skip.probe == probe)

    def left_out(self, reads: Mapping[str, str]) -> list[str]:
        """Return a note for each probe that skipped a model; `reads` maps probes to the kinds of model they support."""
        probes = dict.fromkeys(skip.probe for skip in self.skipped)
        return [f"{probe} does not support {self.unread(probe)}: it supports {reads[probe]}" for probe in probes]

    def results(self) -> str:
        """Return one hash of `tables`, the model labels, and the results of all models that are not archived."""
        shown = [[u.probe, u.spec, u.files] for spec in self.asked.models for u in self.units if u.spec == spec]
        return _checksum({"units": shown, "tables": self.tables, "names": self.asked.study.get("names")})

    def remarks(self) -> list[str]:
        """Return the study's notes, the warnings of the model loader and the note on archived models."""
        cautions = [f"{unit.model.name}: {caution}" for unit in self.units for caution in unit.model.cautions]
        return [*self.notes, *dict.fromkeys(cautions), *self.not_shown()]

    def not_shown(self) -> list[str]:
        """Return a list with one note on the archived models, or an empty list if there are none."""
        labels = self.asked.study.get("names") or {}
        names = [str(labels.get(aside.spec, aside.units[0].model.name)) for aside in self.set_aside if aside.units]
        if not names:
            return []
        are, them = ("is", "it") if len(names) == 1 else ("are", "them")
        told = f"{are} not shown, because the study no longer includes {them}; the results are kept"
        return [f"{', '.join(names)} {told}"]

    def write(self, path: Path) -> None:
        """Write the manifest and its checksum atomically. Raises OutputError if it cannot be written."""
        content = self.model_dump(mode="json")
        write_json({**content, _CHECKSUM: _checksum(content)}, path)

    def facts(self, edited: Sequence[str] = ()) -> RunFacts:
        """Return the facts about the run for the report; `edited` lists the files that were edited after the run."""
        study = self.asked.study
        return RunFacts(
            title=self.asked.title,
            question=str(study.get("question", "")),
            unfinished=self._unfinished(),
            edited=edited,
            models={unit.model.name: unit.model.line() for unit in reversed(self.units)},
            facts=list(self._made()),
            units=[
                UnitFacts(f"{unit.probe}, {unit.model.name}", unit.counts.forward, unit.counts.cached, unit.seconds)
                for unit in self.units
            ],
            asked=dumped(study),
        )

    def _unfinished(self) -> str:
        if self.status == "finished":
            return ""
        wanted = len(self.asked.probes) * len(self.asked.models)
        return (
            f"{len(self.units)} of {wanted} pairs of a probe and a model in {self.asked.name} are finished and shown, "
            "without differences between models; continue with penchant run … --resume."
        )

    def _made(self) -> Iterator[tuple[str, str]]:
        yield "begun", self.attempts[0].started
        yield "finished", self.attempts[-1].finished or "no"
        if len(self.attempts) > 1:
            yield "attempts", str(len(self.attempts))
        yield "penchant", self.penchant
        yield "software", ", ".join(f"{name} {version}" for name, version in self.software.items())
        yield "hardware", ", ".join(f"{name} {value}" for name, value in self.hardware if value)
        for attempt in self.attempts:
            if attempt.cluster is not None:
                yield "cluster", attempt.cluster.line()
        data = {record.path: record.sha256 for record in self.data}
        if len(data) <= _MOST_FILES:
            for file, digest in sorted(data.items()):
                yield "data", f"{Path(file).name}, sha256 {digest}"
        for name, record in self.prepared.items():
            texts = ", ".join(f"{text.name} (sha256 {text.sha256})" for text in record.texts)
            yield "made", f"{name}, sha256 {record.sha256}, of {texts}"
        if len(data) > _MOST_FILES:
            yield "data", f"{len(data)} files; {FILE} has the sha256 of each"


def _checksum(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def is_edited(path: Path) -> bool:
    """Return whether a manifest was edited or cannot be read."""
    try:
        read_manifest(path)
    except StudyError:
        return True
    return False


def read_manifest(path: Path, *, trust_edited: bool = False) -> Manifest:
    """Read a manifest. Raises StudyError if it is invalid, or if it was edited and `trust_edited` is false."""
    try:
        content = json.loads(read_text(path))
        stated = content.pop(_CHECKSUM, None)
        manifest = Manifest.model_validate(content)
    except DataError as error:
        raise StudyError(error.message, where=error.where, hint=error.hint or "give another directory") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise StudyError(f"is not a study manifest ({place}: {in_words(first)})", where=str(path)) from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StudyError(f"is not a study manifest ({error!r})", where=str(path)) from error
    if stated != _checksum(content) and not trust_edited:
        raise StudyError("was edited or damaged", where=str(path), hint=TRUST)
    return manifest


def now() -> str:
    """Return the current UTC time in ISO 8601 format, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")

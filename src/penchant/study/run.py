"""Run a study into a directory: every probe with every model, a manifest of how, and nothing finished done twice.

DIR/manifest.json                        what was asked, with what, on what, and what it took
DIR/<probe>/<model>/items.parquet        one row a stimulus
DIR/<probe>/<model>/summary.parquet      one row an estimate
DIR/<probe>/<model>/signature.txt        the recipe, then the cautions
DIR/<probe>/comparison.parquet           every two models on the same items
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from penchant.engine.scorer import language_model
from penchant.errors import StudyError
from penchant.files import safe, sha256_file, write_parquet
from penchant.instruments.base import Model, Probe, Run
from penchant.instruments.registry import compare
from penchant.instruments.result import Result
from penchant.models.load import LanguageModel, load
from penchant.study.check import require_fit
from penchant.study.manifest import (
    FILE,
    AskedRecord,
    AttemptRecord,
    CountsRecord,
    Manifest,
    ModelRecord,
    SkipRecord,
    TookRecord,
    UnitRecord,
    now,
    read_manifest,
)
from penchant.study.preparation import Preparation, Prepared
from penchant.study.results import COMPARISON, Outcome
from penchant.study.spec import Study

Probes = Sequence[Probe[Any]]
Progress = Callable[[float, float], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How a study is run; nothing here changes a number."""

    resume: bool = False
    cache: Path | None = None
    batch_tokens: int | None = None
    base: Sequence[Path] = (Path(),)
    say: Callable[[str], None] = lambda text: None
    progress: Callable[[str], Progress] = lambda label: lambda done, total: None


def run_study(study: Study, probes: Probes, out: str | Path, options: Options | None = None) -> Outcome:
    """Run every probe with every model, writing each result as soon as it is there.

    With `resume`, results already in `out` are kept and cached answers are not computed again. Raises StudyError when
    `out` holds something else.
    """
    options = options or Options()
    folder = Path(out)
    texts = [probe.texts(options.base) for probe in probes]  # unreadable data fails before anything is written
    if study.corpus is not None:
        study.corpus.files(options.base)
    manifest = _begun(folder, study, probes, options.resume)
    prepared = _prepared(study, probes, folder, options)
    manifest.prepared = prepared.records
    running = _Running(study, prepared, folder, options, manifest, texts)
    running.note_data()
    for spec in study.models:
        running.measure(spec)
    running.compare()
    return running.finish()


def _begun(folder: Path, study: Study, probes: Probes, resume: bool) -> Manifest:
    """A new manifest, or the one to go on with, written. Raises StudyError when the directory holds anything else."""
    path = folder / FILE
    asked = AskedRecord(
        study=study.model_dump(mode="json"), probes=[{probe.name: probe.model_dump(mode="json")} for probe in probes]
    )
    if not path.exists():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise StudyError("is not an empty directory", where=str(folder), hint="name another directory")
        manifest = Manifest.new(asked)
    elif not resume:
        raise StudyError(
            "already holds a study", where=str(folder), hint="go on with --resume, or name another directory"
        )
    else:
        manifest = read_manifest(path)
        if manifest.asked != asked:
            raise StudyError(
                "holds a different study (other models, parameters or seed)",
                where=str(folder),
                hint="name another directory",
            )
        manifest.attempts.append(AttemptRecord(started=now()))
    manifest.write(path)
    return manifest


def _prepared(study: Study, probes: Probes, folder: Path, options: Options) -> Prepared:
    """The probes and models, with what must be made of the study's text."""
    if study.corpus is None:
        return Prepared(list(probes))
    return Preparation(
        study.corpus, study.vectors, study.models, folder, options.base, study.seed, options.say, options.progress
    ).make(probes)


def _folders(probes: Probes) -> list[str]:
    """One directory a probe: its name, numbered from the second on."""
    seen: dict[str, int] = {}
    names = []
    for probe in probes:
        seen[probe.name] = seen.get(probe.name, 0) + 1
        names.append(probe.name if seen[probe.name] == 1 else f"{probe.name}-{seen[probe.name]}")
    return names


@dataclass(slots=True)
class _Running:
    """A study while it is run: what is there already, and what each model adds."""

    study: Study
    prepared: Prepared
    folder: Path
    options: Options
    manifest: Manifest
    texts: list[list[tuple[str, str]]]
    outcome: Outcome = field(init=False)
    places: list[str] = field(init=False)
    named: dict[str, str] = field(init=False)
    """The models measured so far by the name in their signatures, as the study names them."""

    def __post_init__(self) -> None:
        self.outcome = Outcome([self.manifest], notes=list(self.prepared.notes))
        self.places = _folders(self.prepared.probes)
        self.named = {unit.model.name: unit.spec for unit in self.manifest.units}

    def note_data(self) -> None:
        """The hash of every data file; a file that changed since an earlier attempt is refused."""
        for probe in self.prepared.probes:
            for file in probe.files(self.options.base):
                digest = sha256_file(file)
                if self.manifest.data.setdefault(str(file), digest) != digest:
                    raise StudyError("the file changed since the study was begun", where=str(file))
        self._write()

    def measure(self, spec: str) -> None:
        """Every probe that is not finished with one model; the results of the others are read."""
        waiting = []
        for number, place in enumerate(self.places):
            unit = self.manifest.unit(place, spec)
            if unit is not None:
                self.outcome.results[place, spec] = Result.load(self.folder / unit.directory)
            elif not self.manifest.skips(place, spec):
                waiting.append(number)
        if not waiting:
            self.options.say(f"{spec}: finished before")
            return
        model = self._load(spec)
        for number in waiting:
            if model.kind in self.prepared.probes[number].kinds:
                self._measure(number, spec, model)
            else:
                skip = SkipRecord(probe=self.places[number], spec=spec, model=f"{model.name} ({model.kind})")
                self.manifest.skipped.append(skip)
                self._write()

    def _load(self, spec: str) -> Model:
        """The model, which at least one probe reads and the study does not name twice. Raises StudyError."""
        self.options.say(f"{spec}: loading")
        model = load(
            self._place(self.prepared.models.get(spec, spec)),
            dtype=self.study.dtype,
            device=self.study.device,
            trust_remote_code=self.study.trust_remote_code,
            allow_pickle=self.study.allow_pickle,
        )
        if self.named.setdefault(model.name, spec) != spec:
            message = f"'{self.named[model.name]}' and '{spec}' are both {model.name}"
            raise StudyError(message, where="models", hint="remove one")
        if not any(model.kind in probe.kinds for probe in self.prepared.probes):
            require_fit(language_model(model), self.texts[0])  # which may say better why
            raise StudyError(f"no probe of the study reads models of its kind, {model.kind}", where=model.name)
        return model

    def _place(self, spec: str) -> str:
        """A model as it is loaded: a file or directory may be beside the study, like its data."""
        if not spec or spec.startswith("bundled:") or Path(spec).exists():
            return spec
        beside = (base / spec for base in self.options.base)
        return next((str(path) for path in beside if path.exists()), spec)

    def _measure(self, number: int, spec: str, model: Model) -> None:
        probe, place, options = self.prepared.probes[number], self.places[number], self.options
        if isinstance(model, LanguageModel):
            require_fit(model, self.texts[number], scores="encoder" not in probe.kinds)
        progress = options.progress(f"{place} · {model.name}")
        run = Run(options.cache, options.batch_tokens, progress, options.base)
        began = time.perf_counter()
        result = probe.run(model, run)
        directory = f"{place}/{safe(model.name)}"
        result.save(self.folder / directory)
        seconds = round(time.perf_counter() - began, 3)
        counts = CountsRecord(**run.counts.as_dict())
        unit = UnitRecord(
            probe=place,
            spec=spec,
            directory=directory,
            model=ModelRecord.of(model),
            counts=counts,
            seconds=seconds,
        )
        self.manifest.units.append(unit)
        took = TookRecord(probe=place, spec=spec, counts=counts, seconds=seconds)
        self.manifest.attempts[-1].units.append(took)
        self._write()
        self.outcome.results[place, spec] = result

    def compare(self) -> None:
        """The differences between every two models of each probe. Raises StudyError for one that no model fits."""
        for place in self.places:
            specs = [spec for spec in self.study.models if (place, spec) in self.outcome.results]
            if not specs:
                message, unread = f"no model of the study fits {place}", self.manifest.unread(place)
                raise StudyError(message, where="models", hint=f"it does not read {unread}")
            tables = []
            for a, b in combinations(specs, 2):
                try:
                    tables.append(compare(self.outcome.results[place, a], self.outcome.results[place, b]))
                except StudyError as error:  # such as a closed list for one model and the vocabulary for another
                    self.outcome.notes.append(f"{place}, {a} and {b}: {error}")
            if tables:
                self.outcome.comparisons[place] = pl.concat(tables)
                write_parquet(self.outcome.comparisons[place], self.folder / place / COMPARISON)

    def finish(self) -> Outcome:
        """What was found, once the manifest says so."""
        self.outcome.notes += self.manifest.left_out()
        self.manifest.status = "finished"
        self.manifest.notes = self.outcome.notes
        self.manifest.attempts[-1].finished = now()
        self._write()
        return self.outcome

    def _write(self) -> None:
        self.manifest.write(self.folder / FILE)

"""Execution of a study in a result directory, every probe with every model, without repeating finished work."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from penchant.corpus.text_files import TextFile
from penchant.engine.answer_cache import told_damaged
from penchant.errors import ModelError, StudyError
from penchant.files import distinct, sha256_file, write_parquet
from penchant.hub.data_sets import pinned
from penchant.instruments.base_probe import Model, Probe, Run
from penchant.instruments.registry import compare, curve
from penchant.instruments.result import Result
from penchant.models.file_hashes import Digests
from penchant.models.last_loaded import release
from penchant.models.load import LanguageModel, fingerprint, read_model
from penchant.models.score_table import SCORES, names_scores
from penchant.models.served import TOKENIZER, names_served, refuse_cluster
from penchant.records import with_nulls
from penchant.study.changes_since_start import Now, changes, data_records, forget, refuse
from penchant.study.inputs_from_corpus import TRAINED, Preparation, Prepared, trained_files
from penchant.study.manifest import FILE, Manifest, now
from penchant.study.manifest_records import CountsRecord, DataRecord, ModelRecord, SkipRecord, TookRecord, UnitRecord
from penchant.study.model_check import require_fit
from penchant.study.model_compatibility import KINDS, Fitting, Reader, all_read, kinds_read, reader
from penchant.study.outcome import VERDICTS, Outcome
from penchant.study.ray_workers import Elsewhere, elsewhere
from penchant.study.read_results import COMPARISON, CURVE, not_compared
from penchant.study.start_or_resume import Begun, begun, held, hub_commits
from penchant.study.study_file import Study
from penchant.study.training_checkpoints import together
from penchant.text_io import exists

Probes = Sequence[Probe[Any]]


def run_study(study: Study, probes: Probes, out: str | Path, run: Run | None = None) -> Outcome:
    """Run every probe with every model, and write each result as soon as it is finished.

    All models are checked first, and problems are reported before anything is written. With `run.resume`, results in
    `out` are kept and cached answers are not computed again; results of models that the study no longer names are
    archived. Raises StudyError if `out` contains another study or other files, or if data, text, a model or a result
    has changed; with `run.rerun`, the affected measurements are repeated instead.
    """
    run = run or Run()
    folder = Path(out)
    with pinned(hub_commits(folder) if run.resume and not run.rerun else {}) as commits:
        return _run(study, probes, folder, run, commits)


def _run(study: Study, probes: Probes, folder: Path, run: Run, commits: Mapping[str, str]) -> Outcome:
    if run.place is not None:
        refuse_cluster(study.models)
    places = _folders(probes)
    data = data_records(zip(places, probes, strict=True), run.base)  # hashed before the texts are read
    texts = [probe.texts(run.base) for probe in probes]  # unreadable data fails before anything is written
    files = study.corpus.files(run.base) if study.corpus is not None else []
    with held(folder):
        start = begun(folder, study, probes, places, resume=run.resume, rerun=run.rerun)
        running = _Running(study, probes, places, folder, run, start.manifest, texts)
        running.manifest.hub = dict(commits)
        stale = running.require_same(data, files, start)
        running.require_fit()
        with elsewhere(run.place, run.warn) as workers:
            running.elsewhere = workers
            running.begin(data, stale)
            running.prepare()
            for spec in study.models:
                running.measure(spec)
            running.compare()
            running.follow()
            return running.finish()


def _folders(probes: Probes) -> list[str]:
    seen: dict[str, int] = {}
    names = []
    for probe in probes:
        name = f"{probe.name}-{probe.way}" if probe.way else probe.name
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return names


@dataclass(slots=True)
class _Running:
    study: Study
    probes: Probes
    places: list[str]
    folder: Path
    run: Run
    manifest: Manifest
    texts: list[list[tuple[str, str]]]
    elsewhere: Elsewhere | None = None
    prepared: Prepared = field(init=False)
    outcome: Outcome = field(init=False)
    digests: Digests = field(init=False)
    readers: dict[tuple[str, str], Reader] = field(default_factory=dict)
    """The tokenizer hash and maximum length of each (probe directory, model) pair whose texts passed the check."""
    named: dict[str, str] = field(init=False)
    """The names in the study of the models measured so far, by their names in signatures."""

    def __post_init__(self) -> None:
        self.digests = Digests(self.run.cache, forced=self.run.rehash)
        self.prepared = Prepared(list(self.probes))

    def require_same(self, data: Sequence[DataRecord], files: Sequence[TextFile], start: Begun) -> list[Path]:
        """Return the paths of outdated files, without removing them.

        Raises StudyError if anything has changed since the study was started. With the run option `rerun`, results that
        depend on a change, including changed parameters, are removed from the manifest instead.
        """
        drawn = [place for place, probe in zip(self.places, self.probes, strict=True) if probe.lacks_text()]
        drawn += [spec for spec in self.study.models if spec.startswith(TRAINED)]
        current = Now(self.places, data, files, drawn, self._fingerprint)
        found = changes(self.manifest, current, self.folder, start.otherwise, start.taken_up)
        if not self.run.rerun:
            refuse(found, self.folder)
        stale = forget(self.manifest, found, self.folder)
        for what in dict.fromkeys(change.what for change in found):
            self.run.warn(f"{what}; results that depend on it are measured again")
        if stale or start.other_models:  # the tables of differences are of other results
            self.manifest.tables = {}
            stale += [self.folder / place / table for place in self.places for table in (COMPARISON, CURVE)]
            stale.append(self.folder / VERDICTS)
        return stale

    def require_fit(self) -> None:
        """Raise a PenchantError if a model that has yet to be measured cannot be measured with the study's settings."""
        self.run.say("checking the models")
        fitting = Fitting(self.study, self.places, self.probes, self.texts, self.manifest, self._place, self.digests)
        fitting.require()
        self.readers = fitting.readers

    def begin(self, data: Sequence[DataRecord], stale: Sequence[Path]) -> None:
        """Write the manifest with the records `data`, then delete the outdated files `stale`."""
        self.manifest.data = list(data)
        self._write()  # first, so that no recorded unit lacks its files
        for file in stale:
            file.unlink(missing_ok=True)

    def _fingerprint(self, spec: str) -> str:
        """Return the current fingerprint of a model, or "" if the model is missing or cannot be fetched.

        The fingerprint of a model that the study trains is the hash of its vectors. Raises ModelError if a model on
        this machine is damaged.
        """
        if spec.startswith(TRAINED):
            vectors = trained_files(self.study.vectors, self.folder)[spec]
            return sha256_file(vectors) if vectors.exists() else ""
        place = self._place(spec)
        try:
            return fingerprint(place, self.digests)
        except ModelError:
            if place.startswith("bundled:") or exists(place.removeprefix(SCORES)):
                raise
            return ""

    def prepare(self) -> None:
        """Prepare the sentences and vectors that the study derives from its text."""
        if self.study.corpus is not None:
            run = self.run
            self.prepared = Preparation(
                self.study.corpus,
                self.study.vectors,
                self.study.models,
                self.folder,
                run.base,
                self.study.seed,
                run.say,
                run.bars,
            ).make(self.probes)
            self.manifest.prepared = self.prepared.records
        self.outcome = Outcome([self.manifest], notes=list(self.prepared.notes))
        self.named = {unit.model.name: unit.spec for unit in self.manifest.units}
        self._write()

    def measure(self, spec: str) -> None:
        """Run every unfinished probe with one model, and load the results of the finished probes."""
        waiting = []
        for number, place in enumerate(self.places):
            unit = self.manifest.unit(place, spec)
            if unit is not None:
                self.outcome.results[place, spec] = Result.load(self.folder / unit.directory)
            elif not self.manifest.skips(place, spec):
                waiting.append(number)
        if not waiting:
            self.run.say(f"{spec}: already finished")
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
        """Load a model. Raises StudyError if no probe supports the model or the study names it twice."""
        self.run.say(f"{spec}: loading")
        release()
        model = self.run.models.get(spec) or read_model(
            self._place(self.prepared.models.get(spec, spec)),
            dtype=self.study.dtype,
            device=self.study.device,
            trust_remote_code=self.study.trust_remote_code,
            allow_pickle=self.study.allow_pickle,
            digests=self.digests,
        )
        if self.named.setdefault(model.name, spec) != spec:
            message = f"'{self.named[model.name]}' and '{spec}' are both {model.name}"
            raise StudyError(message, where="models", hint="remove one")
        if not any(model.kind in probe.kinds for probe in self.prepared.probes):
            if isinstance(model, LanguageModel):
                require_fit(model, self.texts[0])  # may give a better reason
            message = f"no probe in the study supports {KINDS[model.kind]}"
            raise StudyError(message, where=model.name, hint=all_read(self.probes))
        return model

    def _place(self, spec: str) -> str:
        if spec.startswith("bundled:") or exists(spec):
            return spec
        if names_served(spec) and TOKENIZER in spec:
            served, _, tokenizer = spec.partition(TOKENIZER)
            return f"{served}{TOKENIZER}{self._place(tokenizer)}"
        kind = SCORES if names_scores(spec) else ""
        beside = (base / spec.removeprefix(kind) for base in (Path(), *self.run.base))
        return next((f"{kind}{path}" for path in beside if exists(path)), spec)

    def _measure(self, number: int, spec: str, model: Model) -> None:
        probe, place = self.prepared.probes[number], self.places[number]
        if isinstance(model, LanguageModel):
            looked_at = self.readers.get((place, spec)) == reader(model)
            read = probe.reading(model)
            texts = [] if looked_at else probe.read_by(read, self.texts[number])
            require_fit(read, texts, scores="encoder" not in probe.kinds)
        turn = self.study.models.index(spec) * len(self.places) + number + 1
        label = f"{place} · {model.name} ({turn} of {len(self.study.models) * len(self.places)})"
        run = self.run.of_probe(label)
        if self.elsewhere is not None and isinstance(model, LanguageModel):
            run.backend = self.elsewhere.backend(model, self._place(self.prepared.models.get(spec, spec)), self.study)
        began = time.perf_counter()
        result = probe.run_as(model, run)
        self._require_same(place, self.probes[number], model)
        directory = f"{place}/{self._free(place, model.name)}"
        files = result.save(self.folder / directory)
        seconds = round(time.perf_counter() - began, 3)
        written = {file.name: sha256_file(file) for file in files}
        counts = CountsRecord(**run.counts.as_dict())
        unit = UnitRecord(
            probe=place,
            spec=spec,
            directory=directory,
            model=ModelRecord.of(model),
            counts=counts,
            seconds=seconds,
            files=written,
        )
        self.manifest.units.append(unit)
        took = TookRecord(probe=place, spec=spec, counts=counts, seconds=seconds)
        self.manifest.attempts[-1].units.append(took)
        if self.elsewhere is not None:
            self.manifest.attempts[-1].cluster = self.elsewhere.record
        self._write()
        self.outcome.results[place, spec] = result

    def _require_same(self, place: str, probe: Probe[Any], model: Model) -> None:
        if isinstance(model, LanguageModel) and model.files is not None:
            model.files.require_same()
        before = [record for record in self.manifest.data if record.probe == place]
        for record, known in zip(data_records([(place, probe)], self.run.base), before, strict=True):
            if record.sha256 != known.sha256:
                raise StudyError(
                    "changed while the study ran", where=record.path, hint="run the study again with --resume"
                )

    def _free(self, place: str, model: str) -> str:
        taken = [Path(unit.directory).name for unit in self.manifest.every_unit() if unit.probe == place]
        return distinct(model, [COMPARISON, CURVE, *taken])

    def compare(self) -> None:
        """Compare the models pairwise for each probe.

        Checkpoints of the same training run are not compared with each other, nor are checkpoints of two runs at
        different steps. Raises StudyError if some probe fits no model.
        """
        self._sort()
        self.manifest.tables = {}
        self._write()
        for place in self.places:
            specs = [spec for spec in self.study.models if (place, spec) in self.outcome.results]
            if not specs:
                message, unread = f"no model of the study fits {place}", self.manifest.unread(place)
                reads = all_read([self.probes[self.places.index(place)]])
                raise StudyError(message, where="models", hint=f"{reads}, not {unread}")
            tables = []
            reasons: dict[str, list[str]] = {}
            for a, b in combinations(specs, 2):
                if together(self.study.families, a, b):
                    continue
                try:
                    tables.append(compare(self.outcome.results[place, a], self.outcome.results[place, b]))
                except StudyError as error:  # such as a closed list for one model and the vocabulary for another
                    reasons.setdefault(str(error), []).append(f"{a} and {b}")
            self.outcome.notes += not_compared(place, reasons)
            if tables:
                self.outcome.comparisons[place] = pl.concat(tables)
                self._keep(self.outcome.comparisons[place], f"{place}/{COMPARISON}")

    def follow(self) -> None:
        """Compute each probe's curves over the checkpoints of each training run."""
        for place in self.places:
            tables = []
            for family, steps in self.study.families.items():
                found = [(step, self.outcome.results.get((place, spec))) for spec, step in steps.items()]
                try:
                    tables.append(curve(family, [(step, result) for step, result in found if result is not None]))
                except StudyError as error:
                    self.outcome.notes.append(f"{place}, the checkpoints of {family}: {error}")
            rows = [table for table in tables if len(table)]
            if rows:
                self.outcome.curves[place] = pl.concat(rows, how="diagonal_relaxed")
                self._keep(self.outcome.curves[place], f"{place}/{CURVE}")

    def _keep(self, table: pl.DataFrame, name: str) -> None:
        write_parquet(with_nulls(table), self.folder / name)
        self.manifest.tables[name] = sha256_file(self.folder / name)

    def _sort(self) -> None:
        models, places = self.study.models, self.places
        self.manifest.units.sort(key=lambda unit: (models.index(unit.spec), places.index(unit.probe)))
        self.manifest.skipped.sort(key=lambda skip: (models.index(skip.spec), places.index(skip.probe)))
        keys = [(unit.probe, unit.spec) for unit in self.manifest.units]
        found = {key: self.outcome.results[key] for key in keys}
        self.outcome.results.clear()
        self.outcome.results.update(found)

    def finish(self) -> Outcome:
        """Write the manifest of the finished study and return its outcome."""
        reads = {place: kinds_read(probe) for place, probe in zip(self.places, self.probes, strict=True)}
        self.outcome.notes += self.manifest.left_out(reads)
        self._keep(self.outcome.verdicts, VERDICTS)
        damaged = sum(unit.counts.damaged for unit in self.manifest.attempts[-1].units)
        if damaged:
            self.run.warn(told_damaged(damaged))
        self.manifest.status = "finished"
        self.manifest.notes = self.outcome.notes
        self.manifest.attempts[-1].finished = now()
        self._write()
        self.outcome.notes = self.manifest.remarks()
        return self.outcome

    def _write(self) -> None:
        self.manifest.write(self.folder / FILE)

"""Run a study into a directory: every probe with every model, a manifest of how, and nothing finished done twice.

DIR/manifest.json                        what was asked, with what, on what, and what it took
DIR/<probe>/<model>/items.parquet        one row a stimulus
DIR/<probe>/<model>/summary.parquet      one row an estimate
DIR/<probe>/<model>/signature.txt        the recipe, then the cautions
DIR/<probe>/comparison.parquet           every two models on the same items
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from penchant import __version__
from penchant.engine.scorer import language_model
from penchant.errors import StudyError
from penchant.files import safe, sha256_file, write_json, write_parquet
from penchant.models.load import LanguageModel, load
from penchant.probes.base import Model, Probe, Run
from penchant.probes.compare import compare
from penchant.records import Outcome, Result
from penchant.study.check import require_fit
from penchant.study.from_text import Preparation, Prepared
from penchant.study.spec import Study

PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "scipy", "polars")
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


def run_study(study: Study, probes: list[Probe], out: str | Path, options: Options | None = None) -> Outcome:
    """Run every probe with every model, writing each result as soon as it is there.

    With `resume`, results already in `out` are kept and cached answers are not computed again. Raises StudyError when
    `out` holds something else.
    """
    options = options or Options()
    folder = Path(out)
    texts = [probe.texts(options.base) for probe in probes]  # unreadable data fails before anything is written
    if study.corpus is not None:
        study.corpus.files(options.base)
    manifest = _Manifest.begin(folder, study, probes, options)
    outcome = Outcome([manifest.content])
    prepared = _prepared(study, probes, folder, options)
    probes = prepared.probes
    outcome.notes += prepared.notes
    manifest.content["prepared"] = prepared.records
    names = _folders(probes)
    manifest.note_data(probes, options.base)
    names_taken = {unit["model"]["name"]: key.split(" | ", 1)[1] for key, unit in manifest.content["units"].items()}
    for spec in study.models:
        waiting = [i for i, name in enumerate(names) if not manifest.finished(name, spec)]
        for name in (name for i, name in enumerate(names) if i not in waiting and not manifest.skipped(names[i], spec)):
            outcome.results[name, spec] = Result.load(folder / manifest.place(name, spec))
        if not waiting:
            options.say(f"{spec}: finished before")
            continue
        options.say(f"{spec}: loading")
        model = _load(study, prepared.models.get(spec, spec))
        if names_taken.setdefault(model.name, spec) != spec:
            raise StudyError(
                f"'{names_taken[model.name]}' and '{spec}' are both {model.name}", where="models", hint="remove one"
            )
        fitting = [i for i in waiting if model.kind in probes[i].kinds]
        if not any(model.kind in probe.kinds for probe in probes):
            _refuse(model, texts[0])
        for i in waiting:
            if i not in fitting:
                manifest.skip(names[i], spec, f"{model.name} ({model.kind})")
                continue
            if isinstance(model, LanguageModel):
                require_fit(model, texts[i], scores="encoder" not in probes[i].kinds)
            run = Run(
                options.cache,
                options.batch_tokens,
                options.progress(f"{names[i]} · {model.name}"),
                options.base,
            )
            with manifest.unit(names[i], spec, model, run):
                result = probes[i].run(model, run)
                result.save(folder / names[i] / safe(model.name))
            outcome.results[names[i], spec] = result
    for name in names:
        if not any(place == name for place, _ in outcome.results):
            raise StudyError(
                f"no model of the study fits {name}", where="models", hint=f"it does not read {manifest.reasons(name)}"
            )
        tables = []
        for a, b in combinations([spec for spec in study.models if (name, spec) in outcome.results], 2):
            try:
                tables.append(compare(outcome.results[name, a], outcome.results[name, b]))
            except StudyError as error:  # such as a closed list for a causal model and the vocabulary for a masked one
                outcome.notes.append(f"{name}, {a} and {b}: {error}")
        if tables:
            outcome.comparisons[name] = pl.concat(tables)
            write_parquet(outcome.comparisons[name], folder / name / "comparison.parquet")
    outcome.notes += manifest.left_out()
    manifest.end(outcome.notes)
    return outcome


def _prepared(study: Study, probes: list[Probe], folder: Path, options: Options) -> Prepared:
    """The probes and models, with what must be made of the study's text."""
    if study.corpus is None:
        return Prepared(probes)
    return Preparation(
        study.corpus, study.vectors, study.models, folder, options.base, study.seed, options.say, options.progress
    ).make(probes)


def _load(study: Study, spec: str) -> Model:
    return load(
        spec,
        dtype=study.dtype,
        device=study.device,
        trust_remote_code=study.trust_remote_code,
        allow_pickle=study.allow_pickle,
    )


def _refuse(model: Model, texts: list[tuple[str, str]]) -> None:
    """Raise the error that says why no probe of the study reads a model."""
    require_fit(language_model(model), texts)
    raise StudyError(f"no probe of the study reads models of its kind, {model.kind}", where=model.name)


def _folders(probes: list[Probe]) -> list[str]:
    """One directory a probe: its name, numbered from the second on."""
    seen: dict[str, int] = {}
    names = []
    for probe in probes:
        seen[probe.name] = seen.get(probe.name, 0) + 1
        names.append(probe.name if seen[probe.name] == 1 else f"{probe.name}-{seen[probe.name]}")
    return names


class _Manifest:
    """The record of a run, written anew after every unit (one probe with one model)."""

    def __init__(self, path: Path, content: dict[str, Any]) -> None:
        self.path = path
        self.content = content
        self._attempt: dict[str, Any] = {"started": _now(), "finished": None, "units": []}
        content["attempts"].append(self._attempt)
        self.write()

    @classmethod
    def begin(cls, folder: Path, study: Study, probes: list[Probe], options: Options) -> _Manifest:
        """A new manifest, or the one to go on with. Raises StudyError when the directory holds anything else."""
        path = folder / "manifest.json"
        asked = {
            "study": study.model_dump(),
            "probes": [{probe.name: probe.model_dump()} for probe in probes],
        }
        if path.exists():
            if not options.resume:
                raise StudyError(
                    "already holds a study",
                    where=str(folder),
                    hint="go on with --resume, or name another directory",
                )
            content = _read(path)
            if content.get("asked") != json.loads(json.dumps(asked)):
                raise StudyError(
                    "holds a different study (other models, parameters or seed)",
                    where=str(folder),
                    hint="name another directory",
                )
            return cls(path, content)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise StudyError("is not an empty directory", where=str(folder), hint="name another directory")
        content = {
            "penchant": __version__,
            "asked": asked,
            "status": "running",
            "software": _software(),
            "hardware": _hardware(),
            "data": {},
            "units": {},
            "skipped": {},
            "attempts": [],
        }
        return cls(path, content)

    def write(self) -> None:
        write_json(self.content, self.path)

    def note_data(self, probes: list[Probe], base: Sequence[Path]) -> None:
        """The hash of every data file; a file that changed since an earlier attempt is refused."""
        for probe in probes:
            for file in probe.files(base):
                digest = sha256_file(file)
                if self.content["data"].setdefault(str(file), digest) != digest:
                    raise StudyError("the file changed since the study was begun", where=str(file))
        self.write()

    def finished(self, name: str, spec: str) -> bool:
        return f"{name} | {spec}" in self.content["units"] or self.skipped(name, spec)

    def skipped(self, name: str, spec: str) -> bool:
        return f"{name} | {spec}" in self.content["skipped"]

    def skip(self, name: str, spec: str, reason: str) -> None:
        """Note that a probe does not read a model, and why."""
        self.content["skipped"][f"{name} | {spec}"] = reason
        self.write()

    def reasons(self, name: str) -> str:
        """Which models a probe does not read, and why."""
        return ", ".join(why for key, why in self.content["skipped"].items() if key.split(" | ")[0] == name)

    def left_out(self) -> list[str]:
        """A note for each probe that does not read all models."""
        names = dict.fromkeys(key.split(" | ")[0] for key in self.content["skipped"])
        return [f"{name} does not read {self.reasons(name)}" for name in names]

    def place(self, name: str, spec: str) -> str:
        return str(self.content["units"][f"{name} | {spec}"]["directory"])

    def unit(self, name: str, spec: str, model: Model, run: Run) -> _Unit:
        """Note what one probe with one model took, once it is done."""
        return _Unit(self, name, spec, model, run)

    def done(self, key: str, record: dict[str, Any]) -> None:
        self.content["units"][key] = record
        self._attempt["units"].append({"unit": key, "counts": record["counts"], "seconds": record["seconds"]})
        self.write()

    def end(self, notes: list[str]) -> None:
        self.content["status"] = "finished"
        self.content["notes"] = notes
        self._attempt["finished"] = _now()
        self.write()


class _Unit:
    def __init__(self, manifest: _Manifest, name: str, spec: str, model: Model, run: Run) -> None:
        self._manifest, self._name, self._spec, self._model, self._run = manifest, name, spec, model, run

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            return
        model = self._model
        self._manifest.done(
            f"{self._name} | {self._spec}",
            {
                "directory": f"{self._name}/{safe(model.name)}",
                "model": _described(model),
                "counts": self._run.counts.as_dict(),
                "seconds": round(time.perf_counter() - self._began, 3),
            },
        )


def _described(model: Model) -> dict[str, Any]:
    common = {"name": model.name, "kind": model.kind, "fingerprint": model.fingerprint}
    if not isinstance(model, LanguageModel):
        return {**common, "dtype": "float32", "device": "none"}
    return {
        **common,
        "dtype": model.dtype,
        "device": str(model.network.device),
        "gathers": model.network.gathers,
        "packs": bool(model.network.packs),
    }


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot be read ({error})", where=str(path), hint="name another directory") from error
    return content


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _software() -> dict[str, str]:
    return {"python": platform.python_version(), **dict(_versions())}


def _versions() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        yield package, importlib.metadata.version(package)


def _hardware() -> dict[str, Any]:
    import torch

    return {
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }

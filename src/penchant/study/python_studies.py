"""Studies described in Python by a mapping or by probes, with tables and loaded models in place of names."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from penchant.call_checks import kind
from penchant.errors import MethodError, StudyError, is_kept
from penchant.instruments.base_probe import Probe
from penchant.instruments.probe_field_types import in_json, taken
from penchant.instruments.registry import instruments
from penchant.models.load import LanguageModel, Model
from penchant.models.score_table import SCORES, Scores
from penchant.study.manifest import FILE, TABLES
from penchant.study.study_file import Study, read_study
from penchant.tables.in_memory import as_yaml, plain
from penchant.tables.yaml_file import dumped
from penchant.vectors.static_vectors import StaticVectors

Asked: TypeAlias = str | Path | Mapping[str, Any] | Probe[Any] | Sequence[Probe[Any]]
"""A study: a study file, a mapping with the keys of a study file, a probe, or several probes."""


@dataclass(slots=True)
class InPython:
    """A study described in Python; `content` has the keys of a study file.

    `models` has the loaded models by their names in the study; `folders` has the temporary folders that contain tables
    passed as Python objects, by folder name.
    """

    content: dict[str, Any] = field(default_factory=dict)
    models: dict[str, Model] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Mapping[str, Any] | Probe[Any] | Sequence[Any], out: Path) -> InPython:
        """Return the study described by a mapping or by probes.

        A study described by probes is named after the directory `out`. Raises MethodError if the argument describes no
        study or a model has no name, and DataError or StudyError if a table or setting is invalid.
        """
        if isinstance(study, Mapping):
            content = dict(study)
        else:
            probes = [study] if isinstance(study, Probe) else plain(study)
            if not isinstance(probes, list):
                hint = "give a study file, a mapping, a probe or a list of probes"
                raise MethodError(f"{kind(study)} is not a study", where="run()", hint=hint)
            content = {"study": out.absolute().name or "study", "probes": probes}
        described = cls(content)
        if isinstance(content.get("probes"), list | tuple):
            content["probes"] = [described._probe(entry) for entry in content["probes"]]
        if "models" in content:
            content["models"] = described.specs(content["models"])
        return described

    def specs(self, models: object) -> Any:
        """Return the names of one or several models, and add loaded models to `self.models`.

        Raises MethodError for a model without a name.
        """
        listed = [models] if isinstance(models, str | Path | LanguageModel | StaticVectors | Scores) else plain(models)
        return [self._spec(model) for model in listed] if isinstance(listed, list) else listed

    def _spec(self, model: object) -> object:
        if isinstance(model, str | Path | Mapping):
            return str(model) if isinstance(model, Path) else model
        if not isinstance(model, LanguageModel | StaticVectors | Scores):
            hint = "give a name, or a model from penchant.load"
            raise MethodError(f"{kind(model)} is not a model", where="run(), models", hint=hint)
        if not model.spec:
            told = f"{model.name} was not loaded by name, so a study cannot load it again"
            raise MethodError(told, where="run(), models", hint="load it with penchant.load(DIRECTORY)")
        spec = model.spec
        if isinstance(model, Scores):
            spec = f"{SCORES}{self._relocated(str(model.path))}"
        self.models[spec] = model
        return spec

    def _probe(self, entry: Any) -> Any:
        if isinstance(entry, Probe):
            return {entry.name: self._relocated(in_json(entry.model_dump(exclude_unset=True)))}
        if not isinstance(entry, Mapping):
            return entry
        known = instruments()
        return {
            name: self._relocated(taken(known[name].probe, fields))
            if name in known and isinstance(fields, Mapping)
            else fields
            for name, fields in entry.items()
        }

    def _relocated(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._relocated(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._relocated(each) for each in value]
        if isinstance(value, str) and is_kept(value):
            path = Path(value)
            self.folders[path.parent.name] = path.parent
            return str(Path(TABLES, path.parent.name, path.name))
        return value

    def dtype(self, wanted: str | None) -> str | None:
        """Return `wanted`, else the study's number format, else the format that all loaded models share, else None."""
        formats = {
            model.dtype for model in self.models.values() if isinstance(model, LanguageModel) and not model.served
        }
        named = wanted or self.content.get("dtype")
        return named if named or len(formats) != 1 else formats.pop()

    def require_dtype(self, dtype: str) -> None:
        """Raise MethodError if a loaded model's number format differs from `dtype`, the study's number format."""
        for model in self.models.values():
            if isinstance(model, LanguageModel) and model.dtype != dtype and not model.served:
                told = f"{model.name} has the dtype {model.dtype}, but the study has {dtype}"
                raise MethodError(told, where="run(), models", hint="load it with the same dtype, or give its name")

    def read(self, **settings: Any) -> tuple[Study, list[Probe[Any]]]:
        """Return the validated study and its probes; `settings` override the study's own, as in `read_study`.

        Raises StudyError, naming the key, if the study is invalid.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "study.yaml"
            try:
                file.write_text(dumped(as_yaml(self.content)), "utf-8")
            except RecursionError:
                raise StudyError("contains itself", where="study", hint="remove the circular reference") from None
            except yaml.YAMLError as error:
                told = f"{kind(error.args[-1])} is not allowed in a study"
                hint = "give names, numbers, tables, or models from penchant.load"
                raise StudyError(told, where="study", hint=hint) from None
            try:
                return read_study(file, **settings)
            except StudyError as error:
                where = re.sub(rf"{re.escape(str(file))}(, line \d+)?", "study", error.where)
                raise StudyError(error.message, where=where, hint=error.hint) from None

    @contextmanager
    def tables_in(self, out: Path) -> Iterator[None]:
        """Copy tables passed as Python objects into `out`; on exit, remove the copies if the study did not start."""
        new = not out.exists()
        made = [out / TABLES / name for name in self.folders if not (out / TABLES / name).exists()]
        for target in made:
            shutil.copytree(self.folders[target.name], target)
        try:
            yield
        finally:
            manifest = out / FILE
            begun = manifest.read_text("utf-8") if manifest.exists() else ""
            for target in made:
                if target.name not in begun:
                    shutil.rmtree(target)
            with suppress(OSError):  # not empty, or never made
                (out / TABLES).rmdir()
                if new:
                    out.rmdir()

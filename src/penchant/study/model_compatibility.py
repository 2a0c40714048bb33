"""Checks that a study's models exist and fit its probes, without reading weights if possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from penchant.errors import ModelError, PenchantError, StudyError
from penchant.instruments.base_probe import Probe
from penchant.models.file_hashes import Digests
from penchant.models.load import LanguageModel, cited, read_model
from penchant.models.model_outline import Outline, UnreadError, outline
from penchant.models.score_table import Scores, names_scores
from penchant.study.inputs_from_corpus import TRAINED
from penchant.study.manifest import Manifest
from penchant.study.model_check import require_readable
from penchant.study.study_file import Study

KINDS = {
    "masked": "masked models",
    "causal": "causal models",
    "encoder": "encoders without a head",
    "static": "static word vectors",
    "scores": "sentence scores",
}
"""Plural names of the kinds of model."""


def kinds_read(probe: Probe[Any]) -> str:
    """Return the names of the kinds of model that a probe supports, joined by "and"."""
    return " and ".join(KINDS[kind] for kind in probe.kinds)


def all_read(probes: Iterable[Probe[Any]]) -> str:
    """Return a description of the kinds of model that each probe supports."""
    return "; ".join(dict.fromkeys(f"{probe.name} supports {kinds_read(probe)}" for probe in probes))


Reader: TypeAlias = tuple[str, int]


def reader(model: LanguageModel) -> Reader:
    """Return the tokenizer hash and the maximum input length of a model, which determine the texts it accepts."""
    return model.tokenizer.digest, model.max_tokens


@dataclass(slots=True)
class Fitting:
    """Check of a study's models against its probes.

    `places` lists the probe directories and `texts` the texts of each probe; `manifest` records the finished units;
    `place` maps a model's name in the study to the name or path from which the model is loaded.
    """

    study: Study
    places: Sequence[str]
    probes: Sequence[Probe[Any]]
    texts: Sequence[Sequence[tuple[str, str]]]
    manifest: Manifest
    place: Callable[[str], str]
    digests: Digests
    readers: dict[tuple[str, str], Reader] = field(default_factory=dict)
    """The tokenizer hash and maximum length of each (probe directory, model) pair whose texts passed the check."""
    _problems: list[PenchantError] = field(default_factory=list)
    _kinds: dict[str, Sequence[str]] = field(default_factory=dict)
    """The possible kinds of each unfinished model that some probe supports, by the model's name in the study."""
    _unread: set[str] = field(default_factory=set)
    """The models that no probe supports."""
    _known: dict[str, str] = field(default_factory=dict)
    """The names of the models in the study, by each key that identifies a model."""

    def require(self) -> None:
        """Raise a PenchantError if an unfinished model cannot be measured or if some probe fits no model.

        The error is a ModelError, StudyError, MethodError or DataError; further errors are added to it as notes.
        Finished models are only checked for duplicates.
        """
        for spec, model in {unit.spec: unit.model for unit in self.manifest.units}.items():
            commit = [model.fingerprint] if "@" in model.fingerprint else []  # a hub commit; a hash fits copies too
            self._once(spec, [model.name, *commit, str(Path(self.place(spec)).resolve())], model.name)
        for spec in self.study.models:
            waiting = [
                number
                for number, place in enumerate(self.places)
                if self.manifest.unit(place, spec) is None and not self.manifest.skips(place, spec)
            ]
            if waiting:
                try:
                    self._look_at(spec, waiting)
                except PenchantError as error:
                    error.where = error.where or spec
                    self._problems.append(error)
        self._require_readers()
        if self._problems:
            raise _combined(self._problems)

    def _look_at(self, spec: str, waiting: Sequence[int]) -> None:
        if spec.startswith(TRAINED):
            self._require_read(spec, ["static"], None)
            return
        study, place = self.study, self.place(spec)
        if names_scores(place):
            self._look_up(spec, place, waiting)
            return
        given = {"trust_remote_code": study.trust_remote_code, "allow_pickle": study.allow_pickle}
        seen = outline(place, name=spec, dtype=study.dtype, digests=self.digests, **given)
        self._once(spec, [seen.key])
        model, certain = seen.model, seen.certain
        if not certain and seen.here and self._turns_on_weights(seen):
            loaded = read_model(place, name=None, dtype=study.dtype, device=study.device, digests=self.digests, **given)
            assert isinstance(loaded, LanguageModel)
            model, certain = replace(loaded, name=spec), True
        kind = model.kind if model is not None else seen.kind
        self._require_read(spec, [kind] if certain else [kind, "encoder"], model)
        for number in waiting:
            if certain and model is not None and kind in self.probes[number].kinds:
                self._fit(number, spec, model)

    def _look_up(self, spec: str, place: str, waiting: Sequence[int]) -> None:
        """Record a problem for each probe that cannot use the table of scores at `place`.

        `waiting` are the indices of the probes to be run with the table. Raises DataError if the table lacks a text.
        """
        scores = read_model(place)
        assert isinstance(scores, Scores)
        self._once(spec, [scores.name, str(scores.path.resolve())])
        self._require_read(spec, [scores.kind], None)
        supported = [number for number in waiting if scores.kind in self.probes[number].kinds]
        for number in supported:
            try:
                self.probes[number].settle(scores)
            except PenchantError as error:
                error.where = f"{self.places[number]} with {spec}"
                self._problems.append(error)
        scores.require(text for number in supported for text, _ in self.texts[number])

    def _turns_on_weights(self, seen: Outline) -> bool:
        """Return whether any probe's support depends on the model having a trained head, which only weights show."""
        return any((seen.kind in probe.kinds) != ("encoder" in probe.kinds) for probe in self.probes)

    def _require_read(self, spec: str, kinds: Sequence[str], model: LanguageModel | None) -> None:
        if any(kind in probe.kinds for probe in self.probes for kind in kinds):
            self._kinds[spec] = kinds
            return
        self._unread.add(spec)
        if model is not None and model.no_scores:
            message = f"no word probabilities: {model.no_scores}"
            raise ModelError(message, where=spec, hint=all_read(self.probes))
        message = f"no probe in the study supports {KINDS[kinds[0]]}"
        raise StudyError(message, where=spec, hint=all_read(self.probes))

    def _fit(self, number: int, spec: str, model: LanguageModel) -> None:
        """Record a problem if the probe with index `number` supports this kind of model, but cannot measure `model`."""
        probe = self.probes[number]
        try:
            probe.settle(model)
            read = probe.reading(model)
            texts = probe.read_by(read, self.texts[number])
            require_readable(read, texts, scores="encoder" not in probe.kinds)
            self.readers[self.places[number], spec] = reader(model)
        except UnreadError:
            return  # reported when the model is measured
        except PenchantError as error:
            more = "" if error.where in ("", spec) else f", {error.where}"
            error.where = f"{self.places[number]} with {spec}{more}"
            self._problems.append(error)

    def _once(self, spec: str, keys: Iterable[str], name: str = "") -> None:
        for key in keys:
            other = self._known.setdefault(key, spec)
            if other != spec:
                name = name or cited(self.place(spec), self.digests)
                error = StudyError(f"'{other}' and '{spec}' are both {name}", where="models", hint="remove one")
                self._problems.append(error)
                return

    def _require_readers(self) -> None:
        known = {*self._kinds, *self._unread}
        unseen = any(spec not in known and not self._begun(spec) for spec in self.study.models)
        if unseen or not (self._kinds or self.manifest.units):
            return
        for place, probe in zip(self.places, self.probes, strict=True):
            read = any(kind in probe.kinds for kinds in self._kinds.values() for kind in kinds)
            if not read and not any(self.manifest.unit(place, spec) for spec in self.study.models):
                told = [f"{spec} ({kinds[0]})" for spec, kinds in self._kinds.items()]
                skipped = (skip for skip in self.manifest.skipped if skip.probe == place)
                told += [skip.model for skip in skipped if skip.spec not in self._kinds]
                hint = f"{all_read([probe])}, not {', '.join(told)}"
                self._problems.append(StudyError(f"no model of the study fits {place}", where="models", hint=hint))

    def _begun(self, spec: str) -> bool:
        return all(self.manifest.unit(place, spec) or self.manifest.skips(place, spec) for place in self.places)


def _combined(problems: Sequence[PenchantError]) -> PenchantError:
    first, *others = problems
    for other in others:
        first.add_note(other.alone())
        for note in getattr(other, "__notes__", ()):
            first.add_note(note)
    first.more += len(others)
    return first

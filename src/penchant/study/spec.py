"""The study file: what it may say, and where it went wrong when it says something else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from penchant.errors import StudyError, finding
from penchant.probes.association import SEAT, WEAT
from penchant.probes.base import Probe
from penchant.probes.ceat import CEAT
from penchant.probes.cloze import Cloze
from penchant.probes.fair_pairs import FairPairs
from penchant.probes.logprob_bias import LogProbBias
from penchant.probes.minimal_pairs import MinimalPairs
from penchant.probes.values import Values
from penchant.study.from_text import Corpus, Vectors, problem

PROBES: dict[str, type[Probe]] = {
    probe.name: probe for probe in (MinimalPairs, FairPairs, Cloze, Values, WEAT, SEAT, CEAT, LogProbBias)
}


def _once(names: list[str]) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"'{name}' is named twice")
    return names


class Study(BaseModel):
    """A study: which models are asked what. `seed` holds for every probe that does not set its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    study: Annotated[str, Field(min_length=1)]
    """A short name for the study."""
    question: str = ""
    """What the study asks, in a line; shown at the head of the report."""
    models: Annotated[list[str], Field(min_length=1), AfterValidator(_once)]
    """Hub names[@revision], directories, GGUF files, bundled: names, files of word vectors. Each is read by the probes
    that fit its kind."""
    probes: Annotated[list[dict[str, dict[str, Any] | None]], Field(min_length=1)]
    """Probes in order, each `name: {parameters}`."""
    corpus: Corpus | None = None
    """Running text from which sentences are drawn for probes that name none, and on which vectors are trained."""
    vectors: dict[str, Vectors] = {}
    """Word vectors to train on the corpus, by name; the models list them as trained:NAME."""
    seed: int = 0
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    device: str | None = None
    trust_remote_code: bool = False
    allow_pickle: bool = False

    def instruments(self) -> list[Probe]:
        """The probes, validated. Raises ValidationError with the place inside the study."""
        wrong = problem(self.corpus, self.vectors, self.models)
        if wrong:
            raise _PlacedError(("models",), wrong)
        found: list[Probe] = []
        for i, entry in enumerate(self.probes):
            if len(entry) != 1:
                raise _PlacedError(("probes", i), f"each probe is one 'name: {{parameters}}', got {len(entry)} names")
            ((name, parameters),) = entry.items()
            if name not in PROBES:
                raise _PlacedError(("probes", i), f"unknown probe '{name}' — use one of {', '.join(PROBES)}")
            try:
                found.append(PROBES[name](**{"seed": self.seed, **(parameters or {})}))
            except ValidationError as error:
                first = error.errors()[0]
                raise _PlacedError(("probes", i, name, *first["loc"]), finding(first)) from error
            if isinstance(found[-1], CEAT) and found[-1].sentences is None and self.corpus is None:
                raise _PlacedError(("probes", i, name, "sentences"), "is missing — name them, or a corpus")
        return found


class _PlacedError(Exception):
    """Something wrong at a path inside the study."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        self.path, self.message = path, message
        super().__init__(path, message)


def read_study(path: str | Path, *, models: list[str] | None = None) -> tuple[Study, list[Probe]]:
    """Read and check a study file; `models`, where given, replace the file's own.

    Raises StudyError naming file, line and key.
    """
    file = Path(path)
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError as error:
        raise StudyError("no such study file", where=str(path), hint="penchant init minimal-pairs makes one") from error
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot be read: {error}", where=str(path)) from error
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        raise StudyError(f"is not YAML: {getattr(error, 'problem', error)}", where=where) from error
    if not isinstance(content, dict):
        raise StudyError("a study file holds keys such as study, models, probes", where=str(path))
    if models:
        content["models"] = models
    try:
        study = Study.model_validate(content)
        return study, study.instruments()
    except ValidationError as error:
        first = error.errors()[0]
        raise _at(path, text, tuple(first["loc"]), finding(first)) from error
    except _PlacedError as place:
        raise _at(path, text, place.path, place.message) from place


def _at(path: str | Path, text: str, loc: tuple[str | int, ...], message: str) -> StudyError:
    key = ".".join(str(part) for part in loc)
    return StudyError(f"{key}: {message}", where=f"{path}, line {_line(text, loc)}", hint="see penchant schema")


def _line(text: str, loc: tuple[str | int, ...]) -> int:
    """The line of a path in a YAML text, or of the deepest part of it that is there."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    line = 0
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    line, node = key.start_mark.line, value
                    break
            else:
                break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line
        else:
            break
    return line + 1


def schema() -> dict[str, Any]:
    """The JSON schema of a study file, with the parameters of every probe."""
    whole = Study.model_json_schema()
    whole["properties"]["probes"]["items"] = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {name: probe.model_json_schema() for name, probe in PROBES.items()},
    }
    return whole


__all__ = ["PROBES", "Study", "read_study", "schema"]

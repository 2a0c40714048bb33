"""The study file: what it may say, and where it went wrong when it says something else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from penchant.errors import DataError, StudyError, in_words, one_line
from penchant.instruments.base import Probe
from penchant.instruments.registry import instruments, unknown
from penchant.limits import SEED
from penchant.reading import exists
from penchant.study.preparation import Corpus, Vectors, problem
from penchant.tables.documents import SETTINGS, Document, distinct, read_yaml

DEMO = Path(__file__).with_name("demo.yaml")
"""The bundled study."""


def _of_print(label: str) -> str:
    if label != one_line(label).strip() or not label or " − " in label:
        raise ValueError("a label is one line, without space around it and without ' − '")
    return label


def _each_its_own(names: dict[str, str]) -> dict[str, str]:
    labels = list(names.values())
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ValueError(f"two models are called '{twice}'")
    return names


Label = Annotated[str, AfterValidator(_of_print)]


class Study(BaseModel):
    """A study: which models are asked what. `seed` holds for every probe that does not set its own."""

    model_config = SETTINGS

    study: Annotated[str, Field(min_length=1)]
    """A short name for the study."""
    question: str = ""
    """What the study asks, in a line; shown at the head of the report."""
    models: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1), AfterValidator(distinct)]
    """Hub names[@revision], directories, GGUF files, bundled: names, files of word vectors. Each is read by the probes
    that fit its kind."""
    probes: Annotated[list[dict[str, dict[str, Any] | None]], Field(min_length=1)]
    """Probes in order, each `name: {parameters}`."""
    corpus: Corpus | None = None
    """Running text from which sentences are drawn for probes that name none, and on which vectors are trained."""
    vectors: dict[str, Vectors] = {}
    """Word vectors to train on the corpus, by name; the models list them as trained:NAME."""
    names: Annotated[dict[str, Label], AfterValidator(_each_its_own)] = {}
    """What models are called in tables and figures, as model: label. Signatures keep the names that can be loaded."""
    seed: Annotated[int, Field(ge=0, le=SEED)] = 0
    """The seed of every probe that sets none of its own."""
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    """The number format of models. The smaller ones are faster and deviate."""
    device: str | None = None
    """A torch device such as cpu or cuda:1. Default: a GPU where there is one."""
    trust_remote_code: bool = False
    """Run code that comes with a checkpoint."""
    allow_pickle: bool = False
    """Read weights that are not safetensors, which can run code."""

    def instruments(self) -> list[Probe[Any]]:
        """The probes, validated. Raises ValidationError with the place inside the study."""
        wrong = problem(self.corpus, self.vectors, self.models)
        if wrong:
            raise _PlacedError(("models",), wrong)
        return [self._probe(number, entry) for number, entry in enumerate(self.probes)]

    def _probe(self, number: int, entry: dict[str, dict[str, Any] | None]) -> Probe[Any]:
        if len(entry) != 1:
            message = f"each probe is one 'name: {{parameters}}', got {len(entry)} names"
            raise _PlacedError(("probes", number), message)
        ((name, parameters),) = entry.items()
        if name not in instruments():
            raise _PlacedError(("probes", number), f"{unknown(name)} — use one of {', '.join(instruments())}")
        try:
            probe = instruments()[name].probe.model_validate({"seed": self.seed, **(parameters or {})})
        except ValidationError as error:
            first = error.errors()[0]
            raise _PlacedError(("probes", number, name, *first["loc"]), in_words(first)) from error
        if probe.lacks_text() and self.corpus is None:
            raise _PlacedError(("probes", number, name, probe.drawn), "is missing — name them, or a corpus")
        return probe


class _PlacedError(Exception):
    """Something wrong at a path inside the study."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        self.path, self.message = path, message
        super().__init__(path, message)


def read_study(path: str | Path, *, models: list[str] | None = None) -> tuple[Study, list[Probe[Any]]]:
    """Read and check a study file; `models`, where given, replace the file's own.

    Raises StudyError naming file, line and key.
    """
    file = Path(path)
    if not exists(file):
        raise StudyError("no such study file", where=str(path), hint="penchant init minimal-pairs makes one")
    try:
        document = read_yaml(file)
    except DataError as error:
        raise StudyError(error.message, where=error.where, hint=error.hint) from error
    content = document.content
    if not isinstance(content, dict):
        raise StudyError("a study file holds keys such as study, models, probes", where=str(path))
    listed = content.get("models")
    if models:
        content["models"] = models
    try:
        study = Study.model_validate(content)
        _known_names(study, [*study.models, *(listed if isinstance(listed, list) else [])])
        return study, study.instruments()
    except ValidationError as error:
        first = error.errors()[0]
        raise _at(document, tuple(first["loc"]), in_words(first)) from error
    except _PlacedError as place:
        raise _at(document, place.path, place.message) from place


def _known_names(study: Study, models: list[str]) -> None:
    """Check that only models have names: those measured, and those of the file that others replace."""
    for model, label in study.names.items():
        if model not in models:
            raise _PlacedError(("names", model), f"no such model is in the study — it has {', '.join(study.models)}")
        if label in study.models and label != model:
            raise _PlacedError(("names", model), f"'{label}' is another model of the study")


def _at(document: Document, loc: tuple[str | int, ...], message: str) -> StudyError:
    key = tuple(str(part) for part in loc)
    where = f"{document.path}, line {document.line(key) or 1}"
    return StudyError(f"{'.'.join(key)}: {message}", where=where, hint="see penchant schema")


def schema() -> dict[str, Any]:
    """The JSON schema of a study file, with the parameters of every probe."""
    whole = Study.model_json_schema()
    whole["properties"]["probes"]["items"] = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {name: each.probe.model_json_schema() for name, each in instruments().items()},
    }
    return whole

"""The study file: its keys, and errors with line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from penchant.errors import DataError, StudyError, in_words, nearest, one_line, one_of
from penchant.instruments.base_probe import Probe
from penchant.instruments.registry import instruments, unknown
from penchant.limits import COUNT, SEED
from penchant.papers.paper import papers
from penchant.study.inputs_from_corpus import TextSettings, VectorSettings, problem
from penchant.study.training_checkpoints import Family, Step, labels
from penchant.tables.yaml_json_documents import SETTINGS, YamlDocument, as_wanted, distinct, read_yaml
from penchant.text_io import exists, is_directory, is_file, read_text

DEMO = Path(__file__).with_name("demo.yaml")
"""Path of the bundled demo study."""
_OPTIONS = {"models": "--model"}
"""Options of `penchant run` whose names differ from the study-file keys that they override."""


def _of_print(label: str) -> str:
    if label != one_line(label).strip() or not label or " − " in label:
        raise ValueError("a label must be one line that is not blank, without surrounding spaces and without ' − '")
    return label


def _each_its_own(names: dict[str, str]) -> dict[str, str]:
    labels = list(names.values())
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ValueError(f"two models have the label '{twice}'")
    return names


def _of_a_paper(name: str) -> str:
    if name and name not in papers():
        raise ValueError(f"unknown paper '{name}': {one_of(name, papers())}")
    return name


Label = Annotated[str, AfterValidator(_of_print)]


class Study(BaseModel):
    """A study: the models to measure, and the probes to measure them with."""

    model_config = SETTINGS

    study: Annotated[str, Field(min_length=1)]
    """A short name for the study."""
    question: str = ""
    """The study's question in one line, shown at the top of the report."""
    models: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1), AfterValidator(distinct)]
    """Hub names[@revision], directories, GGUF files, bundled: names, files of word vectors, or scores:FILE.

    Each model is measured by the probes that support it. `{family: …, revisions: […]}` stands for the checkpoints of
    one training run.
    """
    families: dict[str, dict[str, Step]] = {}
    """The step of each model that is a checkpoint, by family; filled in from the families among the models."""
    probes: Annotated[list[dict[str, dict[str, Any] | None]], Field(min_length=1)]
    """The probes in the order in which they are run, each `name: {parameters}`."""
    corpus: TextSettings | None = None
    """Running text for training vectors, and for sampling sentences for probes that name no sentences."""
    vectors: dict[str, VectorSettings] = {}
    """Word vectors to train on the corpus, by name; `models` refers to them as trained:NAME."""
    names: Annotated[dict[str, Label], AfterValidator(_each_its_own)] = {}
    """The labels of models in tables and figures. Signatures keep the names by which models are loaded."""
    paper: Annotated[str, AfterValidator(_of_a_paper)] = ""
    """A paper whose tables and figures the report shows beside the study's numbers: see `penchant paper`."""
    seed: Annotated[int, Field(ge=0, le=SEED)] = 0
    """The seed of every probe that does not set its own."""
    dtype: Literal["float32", "bfloat16", "float16", "float64"] = "float32"
    """The number format of models. Smaller formats are faster and less precise."""
    device: str | None = None
    """A torch device such as cpu or cuda:1, auto (all GPUs) or auto+cpu (GPUs and the CPU). Default: a GPU if any."""
    trust_remote_code: bool = False
    """Run code that comes with a checkpoint."""
    allow_pickle: bool = False
    """Read weights that are not safetensors, which can run code."""
    limit: Annotated[int, Field(ge=1, le=COUNT)] | None = None
    """Maximum number of items, for a pilot, of each probe that does not set its own limit. Default: all items."""

    def instruments(self) -> list[Probe[Any]]:
        """Return the validated probes. Raises `_PlacedError`, with the position in the study, if one is invalid."""
        wrong = problem(self.corpus, self.vectors, self.models)
        if wrong:
            raise _PlacedError(("models",), wrong)
        return [self._probe(number, entry) for number, entry in enumerate(self.probes)]

    def _probe(self, number: int, entry: dict[str, dict[str, Any] | None]) -> Probe[Any]:
        if len(entry) != 1:
            message = f"each probe must be one 'name: {{parameters}}', got {len(entry)} names"
            raise _PlacedError(("probes", number), message)
        ((name, parameters),) = entry.items()
        if name not in instruments():
            raise _PlacedError(("probes", number), f"{unknown(name)} — {one_of(name, instruments())}")
        shared: dict[str, Any] = {"seed": self.seed} | ({} if self.limit is None else {"limit": self.limit})
        kind = instruments()[name].probe
        try:
            probe = kind.model_validate({**shared, **(parameters or {})})
        except ValidationError as error:
            first = _telling(error)
            raise _PlacedError(("probes", number, name, *first["loc"]), _wrong(first, kind)) from error
        if probe.lacks_text() and self.corpus is None:
            raise _PlacedError(("probes", number, name, probe.drawn), "is missing — set it, or the key 'corpus'")
        return probe


class _PlacedError(Exception):
    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        self.path, self.message = path, message
        super().__init__(path, message)


def read_study(
    path: str | Path, *, models: list[str] | None = None, only: list[str] | None = None, **settings: Any
) -> tuple[Study, list[Probe[Any]]]:
    """Read and validate a study file, or the only study file in a directory.

    `models`, and `settings` named after keys of the file, override the file unless they are None. `only` names the
    probes to keep. A `limit` given here also applies to probes that set their own. Raises StudyError, naming
    the file, line and key, if the study is invalid.
    """
    file = study_file(path)
    try:
        document = read_yaml(file)
    except DataError as error:
        raise StudyError(error.message, where=error.where, hint=error.hint) from error
    content = document.content
    if not isinstance(content, dict):
        raise StudyError("is not a YAML mapping with keys such as study, models and probes", where=str(path))
    content = _with_texts(content)
    _spread_out(content, document)
    listed = content.get("models")
    given = {"models": models or None, **settings}
    given = {key: value for key, value in given.items() if value is not None}
    content |= given
    try:
        study = _narrowed(_named(Study.model_validate(content)), file, only, limited="limit" in given)
        _known_names(study, [*study.models, *(listed if isinstance(listed, list) else [])])
        return study, study.instruments()
    except ValidationError as error:
        first = _telling(error)
        if first["loc"][0] in given:
            option = _OPTIONS.get(first["loc"][0], f"--{first['loc'][0]}")
            raise StudyError(in_words(first), where=option, hint="see penchant run --help") from error
        raise _at(document, tuple(first["loc"]), _wrong(first, Study)) from error
    except _PlacedError as place:
        raise _at(document, place.path, place.message) from place


def _with_texts(content: dict[str, Any]) -> dict[str, Any]:
    content = as_wanted(content, Study)
    if isinstance(content.get("models"), list):
        content["models"] = [as_wanted(each, str, Family) for each in content["models"]]
    if isinstance(content.get("probes"), list):
        known = {name: each.probe for name, each in instruments().items()}
        content["probes"] = [
            {name: as_wanted(each, known[name]) if name in known else each for name, each in entry.items()}
            if isinstance(entry, dict)
            else entry
            for entry in content["probes"]
        ]
    return content


def _spread_out(content: dict[str, Any], document: YamlDocument) -> None:
    """Replace each family of checkpoints among the models of a study by the names of its checkpoints, in place.

    Raises StudyError, with the line in `document`, if a family is invalid.
    """
    listed: list[object] = []
    families: dict[str, dict[str, int]] = {}
    if not isinstance(content.get("models"), list):
        return
    for number, model in enumerate(content["models"]):
        if not isinstance(model, dict):
            listed.append(model)
            continue
        try:
            name, steps = Family.model_validate(model).checkpoints(document.path.parent)
        except ValidationError as error:
            first = _telling(error)
            place = (part for part in first["loc"] if "[" not in str(part))
            raise _at(document, ("models", number, *place), _wrong(first, Family)) from error
        except StudyError as error:
            message = f"{error.message} — {error.hint}" if error.hint else error.message
            raise _at(document, ("models", number), message) from error
        if name in families:
            message = f"two families are called '{name}' — rename one of their directories"
            raise _at(document, ("models", number), message)
        families[name] = steps
        listed += steps
    content["models"] = listed
    if families:
        content["families"] = families


def _named(study: Study) -> Study:
    measured = {
        family: {model: step for model, step in steps.items() if model in study.models}
        for family, steps in study.families.items()
    }
    families = {family: steps for family, steps in measured.items() if steps}
    return study.model_copy(update={"families": families, "names": {**dict(labels(families)), **study.names}})


def _known_names(study: Study, models: list[str]) -> None:
    for model, label in study.names.items():
        if model not in models:
            raise _PlacedError(
                ("names", model), f"no such model in the study — its models are {', '.join(study.models)}"
            )
        if model in study.models and label in study.models and label != model:
            raise _PlacedError(("names", model), f"'{label}' is already the name of another model in the study")


def study_file(path: str | Path) -> Path:
    """Return the path of a study file, or of the only study file in a directory.

    Raises StudyError if there is none, or more than one in the directory.
    """
    place = Path(path)
    if not exists(place):
        hint = "create one with penchant init minimal-pairs"
        raise StudyError("no such study file", where=str(path), hint=hint)
    if not is_directory(place):
        return place
    files = sorted(file for file in place.iterdir() if file.suffix in (".yaml", ".yml") and _names_a_study(file))
    if len(files) == 1:
        return files[0]
    found = f"contains {len(files)} study files, expected one" if files else "contains no study file"
    names = ", ".join(file.name for file in files)
    raise StudyError(
        found,
        where=str(path),
        hint=f"give one: {names}" if files else "create one with penchant init minimal-pairs DIR",
    )


_STUDY_KEY = re.compile(r"^[\"']?probes[\"']?\s*:", re.MULTILINE)


def _names_a_study(file: Path) -> bool:
    try:
        return is_file(file) and bool(_STUDY_KEY.search(read_text(file)))
    except DataError:
        return False


def _narrowed(study: Study, file: Path, only: list[str] | None, *, limited: bool) -> Study:
    probes = study.probes
    names = list(dict.fromkeys(name for entry in probes for name in entry))
    for name in only or ():
        if name not in names:
            raise StudyError(f"has no probe '{name}'", where=str(file), hint=one_of(name, names))
    if only:
        probes = [entry for entry in probes if set(entry) & set(only)]
    if limited:
        probes = [
            {name: {k: v for k, v in (settings or {}).items() if k != "limit"} for name, settings in entry.items()}
            for entry in probes
        ]
    return study.model_copy(update={"probes": probes})


def _telling(error: ValidationError) -> Mapping[str, Any]:
    """Return the first error for an unknown key (perhaps a misspelt required key), or else the first error."""
    errors = error.errors()
    return next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])


def _wrong(error: Mapping[str, Any], model: type[BaseModel]) -> str:
    if error["type"] != "extra_forbidden":
        return in_words(error)
    *path, key = error["loc"]
    near = nearest(str(key), _keys(model, path))
    return in_words(error) + (f", did you mean {' or '.join(near)}?" if near else "")


def _keys(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    for part in path:
        field = model.model_fields.get(str(part))
        model = next(_models_in(field.annotation), model) if field else model
    return list(model.model_fields)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _at(document: YamlDocument, loc: tuple[str | int, ...], message: str) -> StudyError:
    key = tuple(str(part) for part in loc)
    where = f"{document.path}, line {document.line(key) or 1}"
    return StudyError(f"{'.'.join(key)}: {message}", where=where, hint="see penchant schema")


def schema() -> dict[str, Any]:
    """Return the JSON schema of a study file, including the parameters of every probe."""
    whole = Study.model_json_schema()
    probes = {name: each.probe.model_json_schema() for name, each in instruments().items()}
    for one in probes.values():  # references are looked up at the top
        whole["$defs"] |= one.pop("$defs", {})
    family = Family.model_json_schema()
    whole["properties"]["models"]["items"] = {"anyOf": [whole["properties"]["models"]["items"], family]}
    whole["properties"]["probes"]["items"] = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": probes,
    }
    return whole

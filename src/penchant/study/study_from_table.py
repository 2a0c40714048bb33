"""Creation of a study from a user's own table, for `penchant init --from`."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from penchant.errors import MethodError, OutputError
from penchant.files import occupied, write_text
from penchant.instruments.base_probe import Probe
from penchant.instruments.descriptor import Instrument
from penchant.instruments.registry import instrument_named, instruments
from penchant.instruments.run_options import Run
from penchant.instruments.study_from_table import StudyParts, TableReader
from penchant.instruments.unknown_tokens import unknown_parts
from penchant.models.load import LanguageModel, Model, read_model
from penchant.models.model_outline import outline
from penchant.plurals import first_of, of_all
from penchant.study.model_compatibility import KINDS, kinds_read
from penchant.study.study_file import read_study
from penchant.tables.rows import is_binary
from penchant.text_io import opened, single_byte, stem

PILOT = 8
"""Number of items measured to estimate how long a study takes."""
SPLIT = 2.0
"""Mean number of tokens per word from which the user is told that a model has seen little of the language."""
_NAMED = 6
_WORD = re.compile(r"[^\W\d_]+")
_MODEL = "bundled:modern"
_TO_DOWNLOAD = "its weights are not on this machine yet; penchant run downloads them"


@dataclass(frozen=True, slots=True)
class UserStudy:
    """A study made from a table: its file, all files that were written, and lines to show to the user.

    `readable` is false if no model of the study can read the texts.
    """

    file: Path
    written: list[Path]
    lines: list[str]
    readable: bool


def study_of_table(
    name: str,
    file: Path,
    directory: Path,
    *,
    models: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    comment: Sequence[str] = (),
) -> UserStudy:
    """Write a study of a user's table into a directory, and test the study with each model.

    `name` is an instrument's name or alias; `columns` maps fields to the columns that contain them; `settings` are
    further parameters of the probe, and `comment` are lines for the top of the study file. Raises DataError if the
    table does not suit the instrument, MethodError for an instrument that reads no such tables, OutputError if a file
    exists already, and ModelError for a model that cannot be loaded. After an error, no file is left.
    """
    chosen = instrument_named(name)
    reader = _reader(chosen)
    new = not directory.exists()
    written: list[Path] = []
    try:
        lines = list(_utf8_copy(file, directory, written))
        source = written[0] if written else file
        table = reader.read(source, columns or {})
        lines += [f"columns: {_columns(table.columns)}"] if table.columns else []
        parts = reader.parts(table, _relative(source, directory))
        parts.parameters.update(settings or {})
        study = directory / f"{stem(file)}.yaml"
        files = {directory / name: text for name, text in parts.files.items()}
        for target, text in {**files, study: _study(chosen, file, study, models, parts, comment)}.items():
            _write(text, target, written)
        tried = list(_tried(study, reader))
        lines += [*parts.lines, *(line for line, _ in tried)]
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        if new and directory.is_dir():
            directory.rmdir()
        raise
    return UserStudy(study, written, lines, any(reads for _, reads in tried))


def _reader(chosen: Instrument) -> TableReader:
    if chosen.from_table is None:
        able = [each.from_table.alias for each in instruments().values() if each.from_table is not None]
        hint = f"it reads {', '.join(able)}; penchant init {chosen.name} without --from writes an example to fill in"
        raise MethodError(f"--from does not read tables for {chosen.name}", hint=hint)
    return chosen.from_table


def _write(text: str, target: Path, written: list[Path]) -> None:
    if occupied(target):
        raise OutputError("already exists", where=str(target), hint="remove it or give another directory")
    write_text(text, target)
    written.append(target)


def _utf8_copy(file: Path, directory: Path, written: list[Path]) -> Iterator[str]:
    """Copy a text file to UTF-8 if it is in a single-byte encoding, and yield a line that names words to check.

    The path of the copy is appended to `written`.
    """
    with opened(file) as stream:
        data = stream.read()
    encoding = "" if is_binary(data[:16]) else single_byte(data)
    if not encoding:
        return
    text = data.decode(encoding)
    _write(text, directory / f"{stem(file)}-utf8{file.suffix}", written)
    words = dict.fromkeys(word for word in _WORD.findall(text) if not word.isascii())
    yield f"{file} is not UTF-8: copied to {written[0]} as if it were {encoding}; check {first_of(list(words), _NAMED)}"


def _columns(columns: Mapping[str, str]) -> str:
    return ", ".join(role if role == name else f"{role} = '{name}'" for role, name in columns.items())


def _relative(file: Path, directory: Path) -> str:
    return Path(os.path.relpath(file.resolve(), directory.resolve())).as_posix()


def _study(
    chosen: Instrument, file: Path, study: Path, models: Sequence[str], parts: StudyParts, comment: Sequence[str]
) -> str:
    if not models and chosen.probe.kinds == ("static",):
        raise MethodError("needs a file of word vectors", where="penchant init", hint="name it: -m FILE")
    content = {"study": stem(file), "seed": 0, "models": [_spec(each) for each in models or [_MODEL]]}
    probe = {"probes": [{chosen.name: parts.parameters}]}
    dumped = [yaml.safe_dump(each, allow_unicode=True, sort_keys=False) for each in (content, probe)]
    head = [f"A study of {file.name}. Run it with: penchant run {study.name} -o results", *comment]
    return "".join([*(f"# {line}\n" for line in head), *dumped])


def _spec(model: str) -> str:
    """Return the name of a model, or its absolute path if it is on this machine."""
    return str(Path(model).resolve()) if Path(model).exists() else model


def _tried(study: Path, reader: TableReader) -> Iterator[tuple[str, bool]]:
    """Yield lines for the user: texts that a model cannot read, time needed, and the smallest detectable effect.

    Each line is paired with True if it shows that a model can be measured, else False.
    """
    spec, (probe,) = read_study(study)
    base = [study.parent, Path()]
    texts = [text for text, _ in probe.texts(base)]
    for name in spec.models:
        seen = outline(name, name=name)
        model = read_model(name, name=None) if seen.here else seen.model
        assert model is not None
        label = Path(name).name if Path(name).exists() else name
        if model.kind not in probe.kinds:
            message = f"{probe.name} supports {kinds_read(probe)}, not {KINDS[model.kind]}"
            raise MethodError(message, where=label, hint="name another model with -m")
        if unread := _unread(probe, texts, model):
            yield f"{label}: {unread}", False
            continue
        about = (_split(texts, model), *reader.about(probe, base, model))
        yield from ((f"{label}: {line}", True) for line in about if line)
        taken = f"the study takes {_spoken(_seconds(probe, base, model, len(texts)))}" if seen.here else _TO_DOWNLOAD
        yield f"{label}: {taken}", True
    yield reader.power(probe, base), False


def _unread(probe: Probe[Any], texts: Sequence[str], model: Model) -> str:
    """Return a line on texts that a language model cannot read; for other models, or if there are none, return ""."""
    if not isinstance(model, LanguageModel):
        return ""
    parts = [part for part in unknown_parts(probe.reading(model), texts) if part]
    if not parts:
        return ""
    lacking = first_of(sorted(set(parts)), _NAMED)
    return (
        f"cannot read {of_all(len(parts), len(texts), 'texts')}, as its vocabulary lacks {lacking}: choose another "
        "model in models:, or leave such items out with on_unknown: skip"
    )


def _split(texts: Sequence[str], model: Model) -> str:
    """Return a line that warns of a tokenizer that splits words into many tokens, or "" if it does not."""
    words = sum(len(text.split()) for text in texts)
    if not isinstance(model, LanguageModel) or not words:
        return ""
    rate = sum(model.tokenizer.count(texts)) / words
    return f"{rate:.1f} tokens a word: it has seen little of this language" if rate >= SPLIT else ""


def _seconds(probe: Probe[Any], base: Sequence[Path], model: Model, every: int) -> float:
    """Measure a few texts, and return the estimated time in seconds for all; `every` is the number of all texts."""
    pilot = probe.model_copy(update={"limit": PILOT})
    few = len(pilot.texts(base))
    pilot = pilot if few else probe
    start = time.perf_counter()
    pilot.run_as(model, Run(base=base))
    return (time.perf_counter() - start) * (every / few if few else 1)


def _spoken(seconds: float) -> str:
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 5_400 else f"about {seconds / 3_600:.0f} hours"

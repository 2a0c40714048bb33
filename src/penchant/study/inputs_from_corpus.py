"""Preparation of sentences for probes, and of word vectors, from a study's running text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from penchant._version import __version__
from penchant.corpus.block_search import Duplicates, Extraction, extraction
from penchant.corpus.extraction import extract
from penchant.corpus.occurrence_lookup import notes, read_record
from penchant.corpus.occurrences import Bound
from penchant.corpus.process_pool import worthwhile
from penchant.corpus.text_files import Layout, TextFile, find_texts
from penchant.corpus.vector_training import method, read_card, still_true, train
from penchant.corpus.vector_training_text import tokens
from penchant.files import distinct, safe, sha256_file
from penchant.instruments.base_probe import Probe, TextNeeds
from penchant.limits import COUNT, DIMENSIONS, EPOCHS, SEED, WINDOW
from penchant.plurals import counted
from penchant.study.manifest_records import PreparedRecord
from penchant.tables.data_lookup import listed
from penchant.tables.yaml_json_documents import SETTINGS

TRAINED = "trained:"
"""Prefix of the names of models that the study trains."""
Progress = Callable[[str], Callable[[float, float], None]]


class TextSettings(BaseModel):
    """Running text, and settings for sampling sentences from it if a probe's settings name no sentences."""

    model_config = SETTINGS

    text: str | list[str]
    """Files, patterns, directories or URLs of plain text, JSON lines or Parquet, compressed or not."""
    language: str | None = None
    """The language whose rules apply to sentence segmentation and capitals. Default: the language of the stimuli."""
    layout: Layout = "paragraphs"
    """The content of a line of plain text: a paragraph, a sentence, or part of a paragraph ended by a blank line."""
    field: str = "text"
    """The field that holds the text, in JSON lines and Parquet."""
    per_word: Annotated[int, Field(ge=1, le=COUNT)] = 10_000
    """Maximum number of occurrences of a word to keep in each segment."""
    minimum: Annotated[int, Field(ge=0, le=COUNT)] = 1
    """Minimum number of occurrences in a segment; words with fewer are named in a note."""
    segments: list[Bound] | None = None
    """Bounds of the sentence-length segments, which are sampled separately. Default: the segments of the probe."""
    duplicates: Duplicates = "near"
    """Duplicates to count once: near (equal or nearly equal sentences), exact (equal sentences), or keep (none)."""
    seed: Annotated[int, Field(ge=0, le=SEED)] | None = None
    """The seed of the sampling. Default: the study's seed."""

    def files(self, base: Sequence[Path]) -> list[TextFile]:
        """Return the files of running text that `text` names, looked up in the directories `base`.

        Raises DataError if a name matches no file or a file is given twice.
        """
        return find_texts(listed(self.text), base)


class VectorSettings(BaseModel):
    """Word vectors trained on the study's text."""

    model_config = SETTINGS

    method: Literal["word2vec", "glove"]
    """word2vec (skip-gram with negative sampling) or glove."""
    size: Annotated[int, Field(ge=1, le=DIMENSIONS)] = 100
    """The number of dimensions."""
    window: Annotated[int, Field(ge=1, le=WINDOW)] | None = None
    """Number of words on each side that count as context. Default: 5 for word2vec, 10 for glove."""
    min_count: Annotated[int, Field(ge=1, le=COUNT)] | None = None
    """Minimum number of occurrences that a word needs to get a vector. Default: 5."""
    epochs: Annotated[int, Field(ge=1, le=EPOCHS)] | None = None
    """Number of passes over the text. Default: 5 for word2vec, 25 for glove."""
    x_max: Annotated[float, Field(gt=0, le=COUNT)] | None = None
    """GloVe: co-occurrence count above which weights are equal. Default: 100; use about 10 below 10 million words."""
    seed: Annotated[int, Field(ge=0, le=SEED)] | None = None
    """The seed of the training. Default: the study's seed."""
    lower: bool = True
    """Convert the text to lower case."""
    forms: bool = False
    """Count every form of a stimulus as an occurrence of the stimulus."""


@dataclass(slots=True)
class Prepared:
    """The probes of a study with their prepared sentences, and all files prepared for the study.

    `models` maps the names of trained models to their files; `records` has a record of each prepared file, by its path
    in the result directory; `notes` are notes on the sentences.
    """

    probes: list[Probe[Any]]
    models: dict[str, str] = field(default_factory=dict)
    records: dict[str, PreparedRecord] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def trained_files(vectors: Iterable[str], folder: Path) -> dict[str, Path]:
    """Return the paths of the vectors to be trained, inside the result directory `folder`, by model name."""
    files: dict[str, Path] = {}
    for vectors_name in vectors:
        name = distinct(vectors_name, [path.stem for path in files.values()])
        files[f"{TRAINED}{vectors_name}"] = folder / "vectors" / f"{name}.txt"
    return files


@dataclass(frozen=True, slots=True)
class Preparation:
    """Preparation of sentences and vectors for a study's probes and `models`; `base` lists the data directories."""

    corpus: TextSettings
    vectors: Mapping[str, VectorSettings]
    models: Sequence[str]
    folder: Path
    base: Sequence[Path]
    seed: int
    say: Callable[[str], None]
    progress: Progress

    def make(self, probes: Sequence[Probe[Any]]) -> Prepared:
        """Train the vectors, and extract sentences for probes that name none; up-to-date files are used again.

        Raises DataError if text or stimuli are invalid, MethodError if a package is missing, and OutputError if a file
        cannot be written.
        """
        files = self.corpus.files(self.base)
        done = Prepared(list(probes))
        made: dict[str, Path] = {}
        for number, probe in enumerate(probes):
            needs = probe.text_needs(self.base)
            if needs is not None and probe.lacks_text():
                path = self._sentences(needs, files, made, done)
                done.probes[number] = probe.model_copy(update={probe.drawn: str(path.absolute())})
        files_of = trained_files(self.vectors, self.folder)
        for spec, path in ((model, files_of[model]) for model in self.models if model in files_of):
            settings = self.vectors[spec.removeprefix(TRAINED)]
            done.records[f"vectors/{path.name}"] = self._vectors(settings, probes, files, path)
            done.models[spec] = str(path)
        return done

    def _sentences(self, needs: TextNeeds, files: Sequence[TextFile], made: dict[str, Path], done: Prepared) -> Path:
        wanted = self._wanted(needs)
        key = json.dumps(wanted.recipe(), ensure_ascii=False)
        if key in made:
            return made[key]
        stem = safe(needs.stimuli.name)
        name = distinct(f"{stem}-{len(made) + 1}" if made else stem, [other.stem for other in made.values()])
        path = self.folder / "corpus" / f"{name}.parquet"
        made[key] = path
        record = read_record(path) if path.exists() else None
        if record is None or json.dumps(record["recipe"], ensure_ascii=False) != key or not _same(record, files):
            self.say(f"{path.name}: reading {counted(len(files), 'files')} of text")
            tell = self.progress("sentences (MB)")
            record = extract(
                wanted,
                files,
                path,
                workers=worthwhile(files),
                resume=True,
                progress=lambda more, total: tell(more / 1e6, total / 1e6),
            )
        done.records[f"corpus/{path.name}"] = PreparedRecord(
            version=record["version"], texts=record["texts"], sha256=sha256_file(path)
        )
        done.notes += [f"{path.name}: {note}" for note in notes(record)]
        return path

    def _wanted(self, needs: TextNeeds) -> Extraction:
        corpus = self.corpus
        return extraction(
            needs.stimuli,
            words=needs.words,
            segments=needs.segments if corpus.segments is None else corpus.segments,
            seed=self.seed if corpus.seed is None else corpus.seed,
            **corpus.model_dump(exclude={"text", "segments", "seed"}),
        )

    def _vectors(
        self, settings: VectorSettings, probes: Sequence[Probe[Any]], files: Sequence[TextFile], path: Path
    ) -> PreparedRecord:
        wanted = (probe.text_needs(self.base) for probe in probes)
        stimuli = next((needs.stimuli for needs in wanted if needs is not None), None)
        seed = self.seed if settings.seed is None else settings.seed
        how = method(settings.method, seed=seed, **settings.model_dump(exclude={"method", "seed", "lower", "forms"}))
        read = self.corpus.model_dump(include={"language", "layout", "field"})
        tokenised = tokens(stimuli, forms=settings.forms, lower=settings.lower, **read)
        record = read_card(path)
        if record is None or not still_true(record, how, tokenised, path) or not _same(record, files):
            self.say(f"{path.name}: training")
            record = train(
                how,
                tokenised,
                files,
                path,
                stimuli=stimuli,
                workers=worthwhile(files),
                progress=self.progress,
                replace=True,  # the directory is the study's own
            )
        return PreparedRecord.model_validate(
            {name: record[name] for name in ("version", "method", "parameters", "texts", "sha256", "vocabulary")}
        )


def _same(record: Mapping[str, Any], files: Sequence[TextFile]) -> bool:
    return record["version"] == __version__ and not changed_text(record["texts"], files)


def changed_text(before: Sequence[Mapping[str, Any]], files: Sequence[TextFile]) -> str:
    """Return the name of the first text file that differs from its record in `before`, or "" if there is none.

    For URLs, only name and size are compared. If the number of files differs, return "the number of texts".
    """
    if len(before) != len(files):
        return "the number of texts"
    for record, file in zip(before, files, strict=True):
        local = "://" not in file.place
        same = (record["name"], record["size"]) == (file.name, file.size)
        if not same or (local and record["sha256"] != sha256_file(file.place)):
            return file.name
    return ""


def problem(corpus: TextSettings | None, vectors: Mapping[str, VectorSettings], models: Sequence[str]) -> str:
    """Return a description of the first problem with the models that a study trains, or "" if there is none."""
    for name in (model.removeprefix(TRAINED) for model in models if model.startswith(TRAINED)):
        if name not in vectors:
            return f"no vectors are called '{name}' — the key 'vectors' defines {', '.join(vectors) or 'none'}"
        if corpus is None:
            return f"'{TRAINED}{name}' needs text to be trained on — give the text under the key 'corpus'"
    return ""

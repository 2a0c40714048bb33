"""`penchant score` and `penchant fill`: score sentences, or fill their gaps."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.cli.console import FormatOption, bars, check_format, emit, print_frame, say, to_stdout
from penchant.cli.options import (
    BatchOption,
    CacheOption,
    CpusOption,
    DeviceOption,
    DtypeOption,
    GpusOption,
    ModelOption,
    OnOption,
    PickleOption,
    RehashOption,
    TrustOption,
    WorkersOption,
    cache_path,
    load_language_model,
    place,
)
from penchant.cli.streaming import Asked, stream
from penchant.counting import of_all
from penchant.errors import DataError, MethodError, one_of, shortened, together
from penchant.errors import place as file_place
from penchant.limits import FILLERS
from penchant.reading import lines as limited_lines
from penchant.reading import not_utf8, opened, require_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from penchant.engine.scorer import Scorer, SentenceScore
    from penchant.engine.unigrams import Unigrams
    from penchant.models.load import LanguageModel

    Vectors = Iterator[tuple[str, NDArray[np.float32]]]
    Source = Callable[[], Iterator[tuple[str, str]]]


FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE|-]…",
        help="One sentence per line, or a table; - is standard input. With --on: any number of files, directories, "
        "patterns in quotes and URLs.",
    ),
]
ColumnOption = Annotated[
    str | None,
    typer.Option("--column", metavar="NAME", help="FILE is a table (CSV, TSV, JSONL, Parquet, .xlsx): its column."),
]
UnigramsOption = Annotated[
    Path | None,
    typer.Option("--unigrams", metavar="FILE", help="For slor: what penchant corpus unigrams made with this model."),
]
TablesOption = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="DIR", help="With --on: a table of scores for each file.")
]
OnErrorOption = Annotated[
    str, typer.Option("--on-error", help="With --on: stop at a text that cannot be scored, or reject it.")
]


def score(
    model: ModelOption,
    files: FilesArgument = None,
    column: ColumnOption = None,
    method: Annotated[str | None, typer.Option("--method", help="See penchant list methods.")] = None,
    normalise: Annotated[str, typer.Option("--normalise", help="none, mean, pen, slln or slor.")] = "none",
    unigrams: UnigramsOption = None,
    format: Annotated[str, typer.Option("--format", help="tsv, jsonl or parquet.")] = "tsv",
    dtype: DtypeOption = "float32",
    device: DeviceOption = None,
    cache: CacheOption = None,
    rehash: RehashOption = False,
    batch_tokens: BatchOption = None,
    trust_remote_code: TrustOption = False,
    allow_pickle: PickleOption = False,
    on: OnOption = None,
    workers: WorkersOption = None,
    cpus: CpusOption = 1,
    gpus: GpusOption = 0.0,
    out: TablesOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="With --on: go on with files that have no table.")] = False,
    on_error: OnErrorOption = "stop",
) -> None:
    """Score sentences: one row of output for each line of input, in order."""
    where = place(on, workers, cpus, gpus)
    loaded = partial(load_language_model, model, dtype, device, trust_remote_code, allow_pickle)
    if where is not None:
        asked = Asked(model, device, trust_remote_code, allow_pickle, method, normalise, column or "text", batch_tokens)
        if unigrams is not None:
            raise MethodError("--unigrams is not for work on a cluster", hint="score without --on")
        stream(where, loaded, asked, files or [], out, resume=resume, on_error=on_error)
        return
    if out is not None or resume or on_error != "stop":
        raise MethodError("-o, --resume and --on-error are for work on a cluster", hint="add --on, such as --on ray")
    if len(files or []) > 1:
        raise MethodError("one file is scored at a time", hint="give its name, or add --on ray -o DIR")
    if format not in WRITERS:
        raise MethodError(f"unknown format '{format}'", hint=one_of(format, WRITERS))
    file = files[0] if files else "-"
    source = _source(file, column)
    lm = loaded(cache=cache, rehash=rehash)
    asked_for = Wanted(method, normalise, unigrams, format)
    _score(lm, source, asked_for, cache_path(cache), batch_tokens, counted=file != "-")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The scores that are asked for, and how they are written."""

    method: str | None
    normalise: str
    unigrams: Path | None
    format: str


def _score(
    lm: LanguageModel,
    source: Source,
    wanted: Wanted,
    cache: Path | None,
    batch_tokens: int | None,
    *,
    counted: bool,
) -> None:
    """Write the scores of sentences, which are checked and counted first where they can be read twice."""
    from penchant.engine.methods import method_for
    from penchant.engine.normalising import check_normalise, check_unigrams
    from penchant.engine.scorer import Scorer
    from penchant.engine.unigrams import read_unigrams

    check_normalise(wanted.normalise, method_for(wanted.method, lm))
    check_unigrams([wanted.normalise], wanted.unigrams is not None)
    known = None if wanted.unigrams is None else read_unigrams(wanted.unigrams, lm.tokenizer, lm.name)
    total = validate(Scorer(lm), source()) if counted else 0
    with bars() as bar:
        advance = bar(lm.name)
        scorer = Scorer(lm, cache=cache, batch_tokens=batch_tokens, progress=lambda done: advance(done, total))
        scores = Unseen(scorer.score(source(), wanted.method), known)
        with to_stdout():
            WRITERS[wanted.format](scores, wanted.normalise, known)
    for note in (*scorer.notes(), *scores.told()):
        say(f"note: {note}")
    scorer.close()


class Unseen:
    """Scores as they are, of which the tokens that the text of the unigrams does not have are counted."""

    def __init__(self, scores: Iterable[SentenceScore], unigrams: Unigrams | None) -> None:
        self._scores, self._unigrams = scores, unigrams
        self.tokens = self.unseen = 0

    def __iter__(self) -> Iterator[SentenceScore]:
        for score in self._scores:
            if self._unigrams is not None:
                self.tokens += len(score.scored)
                self.unseen += self._unigrams.unseen(score.scored)
            yield score

    def told(self) -> Iterator[str]:
        """What a user is told of them."""
        if self.unseen:
            yield f"{of_all(self.unseen, self.tokens, 'tokens', 'are')} never in the text of the unigrams"


def fill(
    model: ModelOption,
    text: Annotated[str, typer.Argument(help="A sentence with [MASK] in place of the word.")],
    k: Annotated[int, typer.Option("-k", min=1, max=FILLERS, help="How many fillers.")] = 10,
    format: FormatOption = "table",
    dtype: DtypeOption = "float32",
    device: DeviceOption = None,
    cache: CacheOption = None,
    rehash: RehashOption = False,
    trust_remote_code: TrustOption = False,
    allow_pickle: PickleOption = False,
) -> None:
    """Show the most probable words for each gap of a sentence."""
    from penchant.engine.scorer import fill as fill_gaps

    check_format(format)
    lm = load_language_model(model, dtype, device, trust_remote_code, allow_pickle, cache=cache, rehash=rehash)
    print_frame(fill_gaps(lm, text, k, cache=cache_path(cache)), format)


def embed(
    model: ModelOption,
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="One sentence per line; - is standard input.")] = "-",
    column: ColumnOption = None,
    layer: Annotated[int, typer.Option("--layer", help="0 is the embeddings, -1 the last layer.")] = -1,
    pooling: Annotated[str, typer.Option("--pooling", help="mean, mean-special, cls or last.")] = "mean",
    format: Annotated[str, typer.Option("--format", help="jsonl, npy or parquet.")] = "jsonl",
    dtype: DtypeOption = "float32",
    device: DeviceOption = None,
    batch_tokens: BatchOption = None,
    trust_remote_code: TrustOption = False,
    allow_pickle: PickleOption = False,
) -> None:
    """Show the contextual vector of each sentence: one row of output for each line of input, in order."""
    from penchant.engine.scorer import Scorer

    if format not in VECTOR_WRITERS:
        raise MethodError(f"unknown format '{format}'", hint=one_of(format, VECTOR_WRITERS))
    if format != "jsonl" and sys.stdout.isatty():
        raise MethodError(f"{format} is not for a terminal", hint=f"redirect it: > vectors.{format}")
    source = _source(file, column)
    lm = load_language_model(model, dtype, device, trust_remote_code, allow_pickle, probabilities=False)
    total = validate(Scorer(lm), source()) if file != "-" else None
    with bars() as bar:
        advance = bar(lm.name)
        scorer = Scorer(lm, batch_tokens=batch_tokens, progress=lambda done: advance(done, total or 0))
        read, kept = tee(source())
        vectors = scorer.sentence_vectors(read, layers=(layer,), pooling=pooling)  # type: ignore[arg-type]  # checked there
        with to_stdout():
            VECTOR_WRITERS[format]((text, vector[0]) for vector, (text, _) in zip(vectors, kept, strict=True))
    for note in scorer.notes():
        say(f"note: {note}")
    scorer.close()


def _source(file: str, column: str | None) -> Source:
    """What gives the sentences, each time from the first on. A file that cannot be read costs no loading of a model."""
    if file != "-":
        require_file(file)
    source = partial(sentences, file, column)
    if column is not None:
        next(source())
    refuse_own_output(file)
    return source


def refuse_own_output(file: str) -> None:
    """Raise DataError if output is appended to the file that is read, which would never end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or no descriptor, such as under a test
        source = os.fstat(sys.stdin.buffer.fileno()) if file == "-" else Path(file).stat()
        if stat.S_ISREG(source.st_mode) and os.path.samestat(source, os.fstat(sys.stdout.fileno())):
            name = "standard input" if file == "-" else file
            raise DataError("is also where the output goes", where=name, hint="redirect to another file")


def lines(file: str) -> Iterator[tuple[str, str]]:
    """Yield (sentence, place) for each line, without its line ending and otherwise unchanged."""
    name = "standard input" if file == "-" else file
    number = 0
    if file == "-" and sys.stdin is None:
        raise DataError("is closed", where=name, hint="name a file, or give one sentence per line")
    with nullcontext(sys.stdin.buffer) if file == "-" else opened(file) as stream:
        for number, raw in limited_lines(stream, name):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                yield text.rstrip("\r\n"), f"{name}, line {number}"
            except UnicodeDecodeError as error:
                raise not_utf8(raw, name, number) from error
    if not number:
        raise DataError("is empty", where=name, hint="give one sentence per line")


def sentences(file: str, column: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield (sentence, place) for each line or, where a column is named, for each row of a table."""
    if column is None:
        refuse_binary(file)
        yield from lines(file)
        return
    (texts,) = texts_of(file, [column])
    yield from texts


def texts_of(file: str, columns: Sequence[str]) -> list[list[tuple[str, str]]]:
    """The (text, place) of every row of a table, for each of the columns. Raises DataError, naming all blank cells."""
    from penchant.tables.rows import lacking, read_rows

    if file == "-":
        raise MethodError("a table on standard input has no column", hint="name a file with --column")
    rows = read_rows(file)
    lacking(list(columns), list(dict.fromkeys(name for row in rows for name in row.values)), file)
    errors = []
    for row in rows:
        for column in columns:
            text = row.values.get(column)
            if not isinstance(text, str) or not text.strip():
                blank = text is None or text == ""
                told = "the field is blank" if blank else f"expected a text, found {shortened(text)}"
                hint = "remove the row, or fill it"
                errors.append(DataError(told, file=file, line=row.line, field=column, hint=hint))
    if errors:
        raise together(errors)
    return [[(str(row.values[column]), file_place(file, row.line)) for row in rows] for column in columns]


def refuse_binary(file: str) -> None:
    """Raise MethodError for a table that is no text, of which no column is named."""
    from penchant.tables.rows import is_binary

    if file == "-":
        return
    with opened(file) as stream:
        if is_binary(stream.read(16)):
            raise DataError("is a table", file=file, hint="name the column of its sentences with --column")


def validate(scorer: Scorer, texts: Iterable[tuple[str, str]]) -> int:
    """Check all texts before the first forward pass, so that a bad last line costs seconds; return their number."""
    return sum(1 for _ in scorer.validated(texts))


def _write_tsv(scores: Iterable[SentenceScore], how: str, unigrams: Unigrams | None) -> None:
    # For programs: cells are quoted as in CSV where they hold tabs or quotes, never escaped, so that they read back.
    row = io.StringIO()
    writer = csv.writer(row, delimiter="\t", lineterminator="\n")
    for i, score in enumerate(scores):
        if not i:  # written with the first score, so that bad input leaves no output
            writer.writerow(["score", "tokens", "text"])
        writer.writerow([repr(score.normalised(how, unigrams)), score.n, score.text])
        emit(row.getvalue())
        row.seek(0)
        row.truncate()


def _write_jsonl(scores: Iterable[SentenceScore], how: str, unigrams: Unigrams | None) -> None:
    for score in scores:
        row = {
            "text": score.text,
            "score": score.normalised(how, unigrams),
            "tokens": score.n,
            "token_logprobs": [None if v != v else v for v in score.token_logprobs.tolist()],
        }
        emit(json.dumps(row, ensure_ascii=False) + "\n")


def _write_parquet(scores: Iterable[SentenceScore], how: str, unigrams: Unigrams | None) -> None:
    from penchant.engine.scorer import scores_frame

    if sys.stdout.isatty():
        raise MethodError("parquet is not for a terminal", hint="redirect it: > scores.parquet")
    scores_frame(scores, how, unigrams).write_parquet(sys.stdout.buffer)


WRITERS: dict[str, Callable[[Iterable[SentenceScore], str, Unigrams | None], None]] = {
    "tsv": _write_tsv,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}


def _vectors_jsonl(vectors: Vectors) -> None:
    for text, vector in vectors:
        emit(json.dumps({"text": text, "vector": vector.tolist()}, ensure_ascii=False) + "\n")


def _vectors_npy(vectors: Vectors) -> None:
    """One array (sentences, dimensions) of float32, as `numpy.load` reads it."""
    import numpy as np

    np.lib.format.write_array(sys.stdout.buffer, np.stack([vector for _, vector in vectors]), allow_pickle=False)


def _vectors_parquet(vectors: Vectors) -> None:
    """The columns text and vector, built in blocks so that memory holds columns, not objects."""
    import numpy as np
    import polars as pl

    blocks = []
    while part := list(islice(vectors, 8192)):
        rows = np.stack([vector for _, vector in part])
        blocks.append(pl.DataFrame({"text": [text for text, _ in part], "vector": rows}))
    pl.concat(blocks).write_parquet(sys.stdout.buffer)


VECTOR_WRITERS: dict[str, Callable[[Vectors], None]] = {
    "jsonl": _vectors_jsonl,
    "npy": _vectors_npy,
    "parquet": _vectors_parquet,
}

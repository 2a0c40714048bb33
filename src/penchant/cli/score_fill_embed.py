"""`penchant score`, `fill` and `embed`: sentence scores, gap fillers and sentence vectors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.cli.cluster_scoring import Asked, stream
from penchant.cli.console import FormatOption, bars, check_format, print_frame, say_notes, to_stdout
from penchant.cli.input_texts import refuse_own_output, sentences, texts_of
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
from penchant.cli.score_output import VECTOR_WRITERS, WRITERS
from penchant.errors import DataError, MethodError
from penchant.limits import FILLERS, LAYERS
from penchant.plurals import of_all
from penchant.tables.missing_values import missing_cautions, missing_word
from penchant.text_io import is_file, require_file

if TYPE_CHECKING:
    from penchant.engine.conditional_scores import Prefixed
    from penchant.engine.scorer import Scorer, SentenceScore
    from penchant.engine.sentence_scores import Valued
    from penchant.engine.unigrams import Unigrams
    from penchant.models.load import LanguageModel

    Source = Callable[[], Iterator[Prefixed]]


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
    typer.Option(
        "--unigrams", metavar="FILE", help="For slor: a table that penchant corpus unigrams wrote for this model."
    ),
]
PrefixOption = Annotated[
    str | None,
    typer.Option("--prefix", metavar="NAME", help="With --column: the column of the text before each sentence."),
]
NeutralOption = Annotated[
    str,
    typer.Option("--neutral", metavar="TEXT", help="For pmi: the text in place of the prefix. Default: none."),
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
    normalise: Annotated[str, typer.Option("--normalise", help="none, mean, pen, slln, slor or pmi.")] = "none",
    unigrams: UnigramsOption = None,
    prefix: PrefixOption = None,
    neutral: NeutralOption = "",
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
    resume: Annotated[
        bool, typer.Option("--resume", help="With --on: continue with files that have no table yet.")
    ] = False,
    on_error: OnErrorOption = "stop",
) -> None:
    """Score sentences: one row of output for each line of input, in the same order."""
    where = place(on, workers, cpus, gpus)
    loaded = partial(load_language_model, model, dtype, device, trust_remote_code, allow_pickle)
    if where is not None:
        asked = Asked(model, device, trust_remote_code, allow_pickle, method, normalise, column or "text", batch_tokens)
        if unigrams is not None or prefix is not None or neutral:
            raise MethodError("--unigrams, --prefix and --neutral cannot be used with --on", hint="omit --on")
        stream(where, loaded, asked, files or [], out, resume=resume, on_error=on_error)
        return
    if out is not None or resume or on_error != "stop":
        raise MethodError("-o, --resume and --on-error need --on", hint="add --on, for example: --on ray")
    if len(files or []) > 1:
        raise MethodError("several files need --on", hint="give one file, or add --on ray -o DIR")
    check_format(format, WRITERS)
    file = files[0] if files else "-"
    if prefix is not None and column is None:
        raise MethodError("--prefix is only for a table", hint="name the column of its sentences with --column")
    source = _source(file, column, prefix)
    lm = loaded(cache=cache, rehash=rehash)
    wanted = ScoreOptions(method, normalise, unigrams, prefix is not None, neutral, format)
    _score(lm, source, wanted, cache_path(cache), batch_tokens, counted=file != "-")


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """Parameters of the requested scores, and their output format."""

    method: str | None
    normalise: str
    unigrams: Path | None
    prefixed: bool
    neutral: str
    format: str


def _score(
    lm: LanguageModel,
    source: Source,
    wanted: ScoreOptions,
    cache: Path | None,
    batch_tokens: int | None,
    *,
    counted: bool,
) -> None:
    from penchant.engine.conditional_scores import touching_cautions
    from penchant.engine.normalisations import check_normalise, check_prefix, check_unigrams
    from penchant.engine.scorer import Scorer
    from penchant.engine.scoring_methods import method_for
    from penchant.engine.unigrams import read_unigrams

    check_normalise(wanted.normalise, method_for(wanted.method, lm), lm)
    check_unigrams([wanted.normalise], wanted.unigrams is not None)
    check_prefix([wanted.normalise], wanted.prefixed, wanted.neutral)
    known = None if wanted.unigrams is None else read_unigrams(wanted.unigrams, lm.tokenizer, lm.name)
    total = Scorer(lm).check_prefixed(source()) if counted and wanted.prefixed else 0
    if counted and not wanted.prefixed:
        total = validate(Scorer(lm), ((text, place) for _, text, place in source()))
    with bars() as bar:
        advance = bar(lm.name)
        scorer = Scorer(lm, cache=cache, batch_tokens=batch_tokens, progress=lambda done: advance(done, total))
        unseen = Unseen(known)
        scores = _valued(scorer, source, wanted, unseen)
        with to_stdout():
            WRITERS[wanted.format](scores)
    say_notes([*scorer.notes(), *unseen.told()])
    if wanted.prefixed:
        say_notes(touching_cautions(list(source()), "sentences"))
    scorer.close()


def _valued(scorer: Scorer, source: Source, wanted: ScoreOptions, unseen: Unseen) -> Iterator[Valued]:
    """Yield the sentence scores, conditional on their prefixes if there are any, and the normalised values."""
    from penchant.engine.normalisations import PREFIXED
    from penchant.engine.scorer import valued

    if not wanted.prefixed:
        scores = scorer.score(((text, place) for _, text, place in source()), wanted.method)
        return valued(unseen.counted(scores), wanted.normalise, unseen.unigrams)
    without = None
    if wanted.normalise in PREFIXED:
        without = scorer.without(source(), wanted.method, neutral=wanted.neutral)
    return valued(unseen.counted(scorer.given(source(), wanted.method)), wanted.normalise, unseen.unigrams, without)


class Unseen:
    """Counter of tokens without a unigram count, and of texts that look like missing values."""

    def __init__(self, unigrams: Unigrams | None) -> None:
        self.unigrams = unigrams
        self.tokens = self.unseen = self.texts = 0
        self.missing: list[tuple[str, str]] = []

    def counted(self, scores: Iterable[SentenceScore]) -> Iterator[SentenceScore]:
        """Yield the scores unchanged, and update the counts."""
        for score in scores:
            self.texts += 1
            if missing_word(score.text):
                self.missing.append((score.text, f"text {self.texts:,}"))
            if self.unigrams is not None:
                self.tokens += len(score.scored)
                self.unseen += self.unigrams.unseen(score.scored)
            yield score

    def told(self) -> Iterator[str]:
        """Yield notes on texts that look like missing values and on tokens without a unigram count."""
        yield from missing_cautions(self.missing, "texts")
        if self.unseen:
            yield f"{of_all(self.unseen, self.tokens, 'tokens', 'do')} not occur in the text of the unigrams"


def fill(
    model: ModelOption,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A sentence with [MASK] in place of the word.")],
    k: Annotated[int, typer.Option("-k", min=1, max=FILLERS, help="Number of fillers.")] = 10,
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
    if Path(text).suffix and is_file(Path(text)):
        hint = "give a sentence in quotes, with [MASK] in place of the word"
        raise DataError("is a file, but fill takes one sentence", where=text, hint=hint)
    lm = load_language_model(model, dtype, device, trust_remote_code, allow_pickle, cache=cache, rehash=rehash)
    print_frame(fill_gaps(lm, text, k, cache=cache_path(cache)), format)


def embed(
    model: ModelOption,
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="One sentence per line; - is standard input.")] = "-",
    column: ColumnOption = None,
    layer: Annotated[
        int, typer.Option("--layer", min=-LAYERS, max=LAYERS, help="0 is the embeddings, -1 the last layer.")
    ] = -1,
    pooling: Annotated[str, typer.Option("--pooling", help="mean, mean-special, cls or last.")] = "mean",
    format: Annotated[str, typer.Option("--format", help="jsonl, npy or parquet.")] = "jsonl",
    dtype: DtypeOption = "float32",
    device: DeviceOption = None,
    batch_tokens: BatchOption = None,
    trust_remote_code: TrustOption = False,
    allow_pickle: PickleOption = False,
) -> None:
    """Show the contextual vector of each sentence: one row of output for each line of input, in the same order."""
    from penchant.engine.scorer import Scorer

    check_format(format, VECTOR_WRITERS)
    if format != "jsonl" and sys.stdout.isatty():
        raise MethodError(f"{format} cannot be shown in a terminal", hint=f"redirect it: > vectors.{format}")
    _source(file, column)
    lm = load_language_model(model, dtype, device, trust_remote_code, allow_pickle, probabilities=False)
    texts = partial(sentences, file, column)
    total = validate(Scorer(lm), texts()) if file != "-" else None
    with bars() as bar:
        advance = bar(lm.name)
        scorer = Scorer(lm, batch_tokens=batch_tokens, progress=lambda done: advance(done, total or 0))
        read, labels = tee(texts())
        vectors = scorer.sentence_vectors(read, layers=(layer,), pooling=pooling)  # type: ignore[arg-type]  # checked there
        with to_stdout():
            VECTOR_WRITERS[format]((text, vector[0]) for vector, (text, _) in zip(vectors, labels, strict=True))
    say_notes(scorer.notes())
    scorer.close()


def _source(file: str, column: str | None, prefix: str | None = None) -> Source:
    """Return a function that returns a new iterator over (prefix, sentence, location).

    `column` and `prefix` are the names of the columns with the sentences and with the prefixes. Raises DataError
    at once if the file cannot be read.
    """
    if file != "-":
        require_file(file)
    if prefix is not None:
        texts, prefixes = texts_of(file, [str(column), prefix], blank=[prefix])
        rows = [(before, text, place) for (text, place), (before, _) in zip(texts, prefixes, strict=True)]
        refuse_own_output(file)
        return lambda: iter(rows)
    if column is not None:
        next(sentences(file, column))
    refuse_own_output(file)
    return lambda: (("", text, place) for text, place in sentences(file, column))


def validate(scorer: Scorer, texts: Iterable[tuple[str, str]]) -> int:
    """Check all (text, location) pairs before the first forward pass, so that errors appear early; return the count."""
    return sum(1 for _ in scorer.validated(texts))

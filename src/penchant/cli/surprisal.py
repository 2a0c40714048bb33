"""`penchant surprisal`: surprisal of every word."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from penchant.cli.console import bars, check_format, emit, say_notes, to_stdout, tsv
from penchant.cli.input_texts import lines, refuse_binary, refuse_own_output, texts_of
from penchant.cli.options import (
    BatchOption,
    CacheOption,
    DeviceOption,
    DtypeOption,
    ModelOption,
    PickleOption,
    RehashOption,
    TrustOption,
    cache_path,
    load_language_model,
)
from penchant.cli.score_fill_embed import ColumnOption
from penchant.errors import DataError, MethodError, one_of
from penchant.limits import BATCH_TOKENS
from penchant.plurals import counted, for_one, of_all
from penchant.text_io import exists, require_file

if TYPE_CHECKING:
    import polars as pl

    from penchant.engine.scorer import Scorer
    from penchant.engine.word_surprisal import WordScore

Named: TypeAlias = tuple[object, str, list[tuple[int, int]], str]
"""Number or name of a text, the text, the spans of its words, and its location for error messages."""
PARTS = ("lines", "paragraphs", "file")


TextArgument = Annotated[
    str, typer.Argument(metavar="[TEXT|FILE|-]", help="A text, or a file of texts; - is standard input.")
]
TextsOption = Annotated[
    str,
    typer.Option(
        "--texts",
        help="Unit of text in FILE: lines, paragraphs (separated by blank lines; their lines are sentences in "
        "context), or the whole file.",
    ),
]
WordsOption = Annotated[
    str | None,
    typer.Option("--words", metavar="NAME", help="With --column: a column of the words, separated by spaces."),
]
IdOption = Annotated[
    str | None, typer.Option("--id", metavar="NAME", help="With --column: a column that names the texts.")
]
MethodOption = Annotated[
    str | None, typer.Option("--method", help="lp (causal models); pll or pll-word-l2r (masked models).")
]
StrideOption = Annotated[
    int | None,
    typer.Option(
        "--stride", min=1, max=BATCH_TOKENS, help="Tokens between windows on texts longer than the model takes."
    ),
]


def surprisal(
    model: ModelOption,
    text: TextArgument = "-",
    texts: TextsOption = "lines",
    column: ColumnOption = None,
    words: WordsOption = None,
    id: IdOption = None,
    method: MethodOption = None,
    bits: Annotated[bool, typer.Option("--bits", help="In bits rather than nats.")] = False,
    stride: StrideOption = None,
    format: Annotated[str, typer.Option("--format", help="tsv, jsonl or parquet.")] = "tsv",
    dtype: DtypeOption = "float32",
    device: DeviceOption = None,
    cache: CacheOption = None,
    rehash: RehashOption = False,
    batch_tokens: BatchOption = None,
    trust_remote_code: TrustOption = False,
    allow_pickle: PickleOption = False,
) -> None:
    """Show the surprisal of every word, with correct word boundaries: one row per word."""
    check_format(format, WRITERS)
    if texts not in PARTS:
        raise MethodError(f"unknown unit of text '{texts}' for --texts", hint=one_of(texts, PARTS))
    if (words or id) and column is None:
        raise MethodError("--words and --id need a table", hint="name its column of texts with --column")
    source = _source(text, texts, column, words, id)
    lm = load_language_model(model, dtype, device, trust_remote_code, allow_pickle, cache=cache, rehash=rehash)
    from penchant.engine.scorer import Scorer

    total = Scorer(lm).checked(_spans(source())) if text != "-" else 0
    with bars() as bar:
        advance = bar(lm.name)
        scorer = Scorer(
            lm, cache=cache_path(cache), batch_tokens=batch_tokens, progress=lambda done: advance(done, total)
        )
        _write(scorer, source, method, stride, format, bits)
    scorer.close()


def _write(
    scorer: Scorer,
    source: Callable[[], Iterator[Named]],
    method: str | None,
    stride: int | None,
    format: str,
    bits: bool,
) -> None:
    unread = Unread()
    texts, labels = tee(source())
    scores = scorer.surprisals(_spans(texts), method, stride)
    with to_stdout():
        tables = _tables(((name, text) for name, text, _, _ in labels), unread.counted(scores), scorer, method, bits)
        WRITERS[format](tables)
    say_notes([*scorer.notes(), *unread.told(), *_how(scorer, method, bits)])


def _spans(texts: Iterable[Named]) -> Iterator[tuple[str, list[tuple[int, int]], str]]:
    return ((text, spans, place) for _, text, spans, place in texts)


class Unread:
    """Counter of words without a surprisal."""

    def __init__(self) -> None:
        self.words = self.without = 0

    def counted(self, scores: Iterable[list[WordScore]]) -> Iterator[list[WordScore]]:
        """Yield the scores unchanged, and update the counts."""
        for of_text in scores:
            self.words += len(of_text)
            self.without += sum(word.surprisal != word.surprisal for word in of_text)
            yield of_text

    def told(self) -> Iterator[str]:
        """Yield a note on words without a surprisal, if there are any."""
        if self.without:
            yield (
                f"{of_all(self.without, self.words, 'words', 'have')} no surprisal: the first word of a text if the "
                "model has no beginning token, and words that share a token with another"
            )


def _how(scorer: Scorer, method: str | None, bits: bool) -> Iterator[str]:
    """Yield notes on the computation of the surprisals, and on texts longer than the context of the model."""
    from penchant.engine.scoring_methods import method_for

    lm, unit = scorer.model, "bits" if bits else "nats"
    if scorer.corrected:
        made = "corrected where words begin (Pimentel & Meister 2024)"
    else:
        masked = lm.kind == "masked"
        reason = "each piece is masked" if masked else "the tokenizer does not mark where words begin"
        made = f"the plain sum of a word's pieces: {reason}"
    mark = lm.tokenizer.chat_mark
    chat = f"; surprisals of first words are those after {mark}, the beginning token of a chat model" if mark else ""
    yield f"{lm.name}, {method_for(method, lm).name}, {lm.numbers}: surprisal in {unit}, {made}{chat}"
    if scorer.windowed:
        yield (
            f"{counted(scorer.windowed, 'texts')} longer than {lm.name} takes ({lm.max_tokens:,} tokens) "
            f"{for_one(scorer.windowed, 'were')} read through windows, {scorer.step:,} tokens apart"
        )


def _source(
    text: str, parts: str, column: str | None, words: str | None, id: str | None
) -> Callable[[], Iterator[Named]]:
    """Return a function that returns a new iterator over (id, text, spans of words, location).

    `text` is a text, a file or "-" for standard input, and `parts` the unit of text in a file (option `--texts`).
    Raises DataError or MethodError at once if the input cannot be read.
    """
    from penchant.engine.word_surprisal import white_space_words

    if not text.strip():
        raise DataError("the text is blank", where="surprisal", hint="give a text in quotes, or a file")
    if text != "-" and not exists(Path(text)) and len(text.split()) > 1:
        if column is not None:
            raise MethodError("--column needs a table", hint="give a table file, such as a CSV")
        return lambda: iter([(1, text, white_space_words(text), "the text")])
    if text != "-":
        require_file(text)
    refuse_own_output(text)
    if column is not None:
        rows = list(_rows(text, column, words, id))
        return lambda: iter(rows)
    refuse_binary(text)
    return partial(_texts, text, parts)


def _texts(file: str, parts: str) -> Iterator[Named]:
    from penchant.engine.word_surprisal import white_space_words

    def whole(lines: Sequence[tuple[str, str]], number: int) -> Named:
        text = "\n".join(line for line, _ in lines)
        return number, text, white_space_words(text), lines[0][1]

    if parts == "file":
        yield whole(list(lines(file)), 1)
        return
    number, together = 0, []
    for line, place in lines(file):
        if line.strip() or parts == "lines":
            together.append((line, place))
        if together and (parts == "lines" or not line.strip()):
            number += 1
            yield whole(together, number)
            together = []
    if together:
        yield whole(together, number + 1)


def _rows(file: str, column: str, words: str | None, id: str | None) -> Iterator[Named]:
    from penchant.engine.word_surprisal import listed_words, white_space_words

    texts, *rest = texts_of(file, [name for name in (column, words, id) if name is not None], codes=[id] if id else [])
    spelt = rest.pop(0) if words is not None else None
    names = rest.pop(0) if id is not None else None
    for i, (text, place) in enumerate(texts):
        spans = white_space_words(text) if spelt is None else listed_words(text, spelt[i][0].split(), place)
        yield (i + 1 if names is None else names[i][0]), text, spans, place


def _tables(
    named: Iterable[tuple[object, str]],
    scores: Iterable[list[WordScore]],
    scorer: Scorer,
    method: str | None,
    bits: bool,
) -> Iterator[pl.DataFrame]:
    from penchant.engine.scoring_methods import method_for
    from penchant.engine.word_surprisal import words_frame

    lm = scorer.model
    for text, of_text in zip(named, scores, strict=True):
        yield words_frame([text], [of_text], model=lm.name, method=method_for(method, lm).name, bits=bits)


def _write_tsv(tables: Iterator[pl.DataFrame]) -> None:
    for i, table in enumerate(tables):
        emit(tsv(table, header=not i))  # the header with the first text, so that bad input leaves no output


def _write_jsonl(tables: Iterator[pl.DataFrame]) -> None:
    for table in tables:
        emit(table.write_ndjson())


def _write_parquet(tables: Iterator[pl.DataFrame]) -> None:
    import polars as pl

    if sys.stdout.isatty():
        raise MethodError("parquet cannot be shown in a terminal", hint="redirect it: > words.parquet")
    pl.concat(tables).write_parquet(sys.stdout.buffer)


WRITERS: dict[str, Callable[[Iterator[pl.DataFrame]], None]] = {
    "tsv": _write_tsv,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}

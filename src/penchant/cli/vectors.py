"""`penchant vectors`: training of word vectors on running text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penchant.cli.console import bars, say, write
from penchant.cli.corpus import Field, Language, LayoutOption, Texts, Workers
from penchant.limits import COUNT, DIMENSIONS, EPOCHS, SEED, WINDOW

vectors = typer.Typer(help="Static word vectors, trained on running text.", no_args_is_help=True)


VectorsOut = Annotated[
    Path,
    typer.Option(
        "-o", "--out", metavar="FILE", help="The vectors, in word2vec's format: .txt or .vec text, .bin binary."
    ),
]
Method = Annotated[str, typer.Option("--method", help="word2vec (skip-gram) or glove.")]
Size = Annotated[int | None, typer.Option(min=1, max=DIMENSIONS, help="Dimensions. Default: 100.")]
Window = Annotated[int | None, typer.Option(min=1, max=WINDOW, help="Words on each side. Default: 5, glove 10.")]
MinCount = Annotated[int | None, typer.Option(min=1, max=COUNT, help="Rarer words get no vector. Default: 5.")]
Epochs = Annotated[int | None, typer.Option(min=1, max=EPOCHS, help="Passes over the text. Default: 5, glove 25.")]
XMax = Annotated[
    float | None,
    typer.Option(min=0, max=COUNT, help="GloVe: the co-occurrence count above which weights are equal. Default: 100."),
]
Seed = Annotated[int, typer.Option(min=0, max=SEED, help="The same seed gives the same vectors.")]
Cased = Annotated[bool, typer.Option("--cased", help="Keep capital letters. Default: lower-case the text.")]
FormsOf = Annotated[
    list[Path] | None,
    typer.Option(
        "--data", metavar="STIMULI", help="Replace every form of these stimuli with the stimulus. Repeatable."
    ),
]


@vectors.callback()
def _group() -> None:
    """Make `train` a subcommand, since an app with a single command would run the command directly."""


@vectors.command("train")
def train(
    texts: Texts,
    out: VectorsOut,
    method: Method = "word2vec",
    size: Size = None,
    window: Window = None,
    min_count: MinCount = None,
    epochs: Epochs = None,
    x_max: XMax = None,
    seed: Seed = 0,
    language: Language = None,
    layout: LayoutOption = "paragraphs",
    field: Field = "text",
    cased: Cased = False,
    data: FormsOf = None,
    workers: Workers = None,
) -> None:
    """Train word vectors on text, split into sentences and words as in corpus extract, and write a card for them."""
    from penchant.corpus.process_pool import worthwhile
    from penchant.corpus.stimulus_sets import read_stimuli
    from penchant.corpus.text_files import check_layout, find_texts
    from penchant.corpus.vector_training import card, card_path
    from penchant.corpus.vector_training import method as training_method
    from penchant.corpus.vector_training import train as train_vectors
    from penchant.corpus.vector_training_text import tokens
    from penchant.instruments.associations.probe import Association

    stimuli = read_stimuli([Association.find(path) for path in data]) if data else None
    algorithm = training_method(
        method, size=size, window=window, min_count=min_count, epochs=epochs, x_max=x_max, seed=seed
    )
    settings = tokens(
        stimuli, forms=stimuli is not None, language=language, layout=check_layout(layout), field=field, lower=not cased
    )
    files = find_texts(texts)
    with bars() as bar:
        record = train_vectors(
            algorithm,
            settings,
            files,
            out,
            stimuli=stimuli,
            workers=workers or worthwhile(files),
            progress=bar,
        )
    write(card(record).split("```json")[0].rstrip())
    say(f"vectors: {out}")
    say(f"card: {card_path(out)}")

"""`penchant vectors`: word vectors trained on running text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penchant.commands.corpus import Field, Language, LayoutOption, Texts, Workers
from penchant.console import bars, say, write

vectors = typer.Typer(help="Static word vectors, trained on the text that sentences come from.", no_args_is_help=True)


@vectors.callback()
def _group() -> None:
    """Keeps `train` a command of its own."""


@vectors.command("train")
def train(
    texts: Texts,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE", help="word2vec's format: .txt or .vec as text, .bin binary.")
    ],
    method: Annotated[str, typer.Option("--method", help="word2vec (skip-gram) or glove.")] = "word2vec",
    size: Annotated[int | None, typer.Option(min=1, help="Dimensions. Default: 100.")] = None,
    window: Annotated[int | None, typer.Option(min=1, help="Words on each side. Default: 5, glove 10.")] = None,
    min_count: Annotated[int | None, typer.Option(min=1, help="Rarer words have no vector. Default: 5.")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Default: 5, glove 25.")] = None,
    x_max: Annotated[
        float | None, typer.Option(min=0, help="GloVe: co-occurrences from which on all weigh alike. Default: 100.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same vectors.")] = 0,
    language: Language = None,
    layout: LayoutOption = "paragraphs",
    field: Field = "text",
    cased: Annotated[bool, typer.Option("--cased", help="Keep capitals. Default: small letters.")] = False,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data", metavar="STIMULI", help="Take every form of these stimuli for the stimulus. Repeatable."
        ),
    ] = None,
    workers: Workers = None,
) -> None:
    """Train vectors on text, cut into sentences and words as for extraction; a card is written beside them."""
    from penchant.data.registry import find_data
    from penchant.data.stimuli import read_stimuli
    from penchant.data.text_files import check_layout, find_texts
    from penchant.data.tokens import tokens
    from penchant.data.workers import worthwhile
    from penchant.study.training import card, card_path
    from penchant.study.training import method as trainer
    from penchant.study.training import train as trained

    stimuli = read_stimuli([find_data(one) for one in data]) if data else None
    how = trainer(method, size=size, window=window, min_count=min_count, epochs=epochs, x_max=x_max, seed=seed)
    settings = tokens(
        stimuli, forms=stimuli is not None, language=language, layout=check_layout(layout), field=field, lower=not cased
    )
    files = find_texts(texts)
    with bars() as bar:
        record = trained(
            how,
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

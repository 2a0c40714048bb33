"""`penchant pairs`: minimal pairs of equal token length, generated, filtered or repaired."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.console import print_frame, say, write

if TYPE_CHECKING:
    from penchant.study.fair import FairSet

pairs = typer.Typer(
    help="Minimal pairs whose two sentences have equal numbers of tokens under all chosen tokenizers.",
    no_args_is_help=True,
)

Tokenizers = Annotated[
    list[str] | None,
    typer.Option("-t", "--tokenizer", metavar="MODEL", help="Hub name, directory or GGUF file; repeat. No weights."),
]
Out = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="FILE", help="JSON lines in BLiMP's format. Default: stdout.")
]
Data = Annotated[list[Path], typer.Argument(metavar="DATA…", help="BLiMP, CrowS-Pairs or a table of pairs.")]
GrammarOption = Annotated[
    str, typer.Option("--grammar", metavar="NAME", help="A bundled grammar or a directory with grammar.yaml.")
]
Remote = Annotated[bool, typer.Option("--trust-remote-code", help="Run code that comes with a checkpoint.")]


@pairs.command("generate")
def generate(
    paradigms: Annotated[
        list[str] | None, typer.Argument(metavar="[PARADIGM…]", help="Default: all of the grammar.")
    ] = None,
    n: Annotated[int, typer.Option("-n", help="Pairs of each paradigm.")] = 1000,
    tokenizer: Tokenizers = None,
    out: Out = None,
    grammar: GrammarOption = "en",
    seed: Annotated[int, typer.Option(help="The same seed gives the same pairs.")] = 0,
    checks: Annotated[int, typer.Option(help="Unacceptable sentences tried in a context before it is given up.")] = 10,
    trust_remote_code: Remote = False,
) -> None:
    """New pairs from a grammar. Without -t they may have any lengths."""
    from penchant.data.grammar import find_grammar, read_grammar
    from penchant.study.fair import Counters, generated

    given = read_grammar(find_grammar(grammar))
    wanted = list(dict.fromkeys(paradigms or given.paradigms))
    for name in wanted:
        given.drawing(name)  # refuse an unknown name before tokenizers are loaded
    counters = Counters.of(tokenizer or [], trust_remote_code=trust_remote_code)
    _give(generated(given, wanted, n, counters, seed=seed, checks=checks), out)


@pairs.command("filter")
def filter_(data: Data, tokenizer: Tokenizers = None, out: Out = None, trust_remote_code: Remote = False) -> None:
    """Keep the pairs of a set that are equal, and tell what is lost, and whether unevenly."""
    from penchant.data.pairs import read_many
    from penchant.study.fair import Counters, filtered

    counters = Counters.of(_needed(tokenizer), trust_remote_code=trust_remote_code)
    _give(filtered(read_many(data), counters), out)


@pairs.command("repair")
def repair(
    data: Data,
    tokenizer: Tokenizers = None,
    out: Out = None,
    grammar: GrammarOption = "en",
    seed: Annotated[int, typer.Option(help="The same seed gives the same words.")] = 0,
    trust_remote_code: Remote = False,
) -> None:
    """Replace the word that differs by another of the same features until lengths agree."""
    from penchant.data.grammar import find_grammar, read_grammar
    from penchant.data.pairs import read_many
    from penchant.study.fair import Counters, repaired

    given = read_grammar(find_grammar(grammar))
    counters = Counters.of(_needed(tokenizer), trust_remote_code=trust_remote_code)
    _give(repaired(read_many(data), given, counters, seed=seed), out)


def _needed(tokenizer: list[str] | None) -> list[str]:
    from penchant.errors import MethodError

    if not tokenizer:
        raise MethodError("no tokenizer is named", hint="name those of the models you will compare: -t MODEL -t MODEL")
    return tokenizer


def _give(found: FairSet, out: Path | None) -> None:
    """Pairs to the file and the table to stdout; without a file pairs to stdout, and the table to stderr."""
    from penchant.files import write_text
    from penchant.report.tables import aligned

    if out is None:
        write(found.lines().rstrip("\n"))
        say(aligned(found.table))
    else:
        write_text(found.lines(), out)
        print_frame(found.table, "table")
        say(f"{len(found.rows):,} pairs: {out}")
    for note in found.notes:
        say(f"note: {note}")

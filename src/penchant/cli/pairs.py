"""`penchant pairs`: generation, filtering and repair of minimal pairs for equal token lengths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penchant.cli.checking import BadOption, GoodOption, GroupOption, IdOption
from penchant.cli.console import bars, emit, print_frame, say, say_notes
from penchant.cli.options import CacheOption, DeviceOption, PickleOption, cache_path, load_language_model
from penchant.limits import RESAMPLES, SEED
from penchant.plurals import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from penchant.grammar.grammar import Grammar
    from penchant.instruments.minimal_pairs.build_fair_pairs import FairSet
    from penchant.instruments.minimal_pairs.data import PairSet
    from penchant.models.load import LanguageModel

pairs = typer.Typer(
    help="Minimal pairs whose two sentences have equal numbers of tokens under all chosen tokenizers.",
    no_args_is_help=True,
)

Tokenizers = Annotated[
    list[str] | None,
    typer.Option(
        "-t", "--tokenizer", metavar="MODEL", help="Hub name, directory or GGUF file. No weights. Repeatable."
    ),
]
Out = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="FILE", help="JSON lines in BLiMP's format. Default: stdout.")
]
Data = Annotated[
    list[Path], typer.Argument(metavar="DATA…", help="Data like BLiMP's, CrowS-Pairs or a table of pairs.")
]
GrammarOption = Annotated[
    str, typer.Option("--grammar", metavar="NAME", help="A bundled grammar or a directory with grammar.yaml.")
]
Remote = Annotated[bool, typer.Option("--trust-remote-code", help="Run code shipped with a checkpoint.")]


@pairs.command("generate")
def generate(
    paradigms: Annotated[
        list[str] | None, typer.Argument(metavar="[PARADIGM…]", help="Default: all paradigms of the grammar.")
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, max=RESAMPLES, help="Pairs of each paradigm.")] = 1000,
    tokenizer: Tokenizers = None,
    out: Out = None,
    grammar: GrammarOption = "en",
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="The same seed gives the same pairs.")] = 0,
    checks: Annotated[int, typer.Option(min=1, max=RESAMPLES, help="Unacceptable sentences to try per context.")] = 10,
    trust_remote_code: Remote = False,
) -> None:
    """Generate new pairs from a grammar. Without -t, their token lengths are unrestricted."""
    from penchant.instruments.minimal_pairs.build_fair_pairs import Counters, generated

    _refuse(out, [])
    source, names = _grammar(grammar, paradigms)
    counters = Counters.of(tokenizer or [], trust_remote_code=trust_remote_code)
    _output(generated(source, names, n, counters, seed=seed, checks=checks), out)


@pairs.command("filter")
def filter_(
    data: Data,
    tokenizer: Tokenizers = None,
    out: Out = None,
    good: GoodOption = "good",
    bad: BadOption = "bad",
    group: GroupOption = "group",
    id_: IdOption = "id",
    trust_remote_code: Remote = False,
) -> None:
    """Keep the pairs of equal token length; report the share of dropped pairs and whether it differs between groups."""
    from penchant.instruments.minimal_pairs.build_fair_pairs import Counters, filtered
    from penchant.instruments.minimal_pairs.data import read_many

    counters = Counters.of(_required(tokenizer), trust_remote_code=trust_remote_code)
    pair_sets = read_many(data, {"good": good, "bad": bad, "group": group, "id": id_})
    _refuse(out, pair_sets)
    _output(filtered(pair_sets, counters), out)


@pairs.command("repair")
def repair(
    data: Data,
    tokenizer: Tokenizers = None,
    out: Out = None,
    grammar: GrammarOption = "en",
    good: GoodOption = "good",
    bad: BadOption = "bad",
    group: GroupOption = "group",
    id_: IdOption = "id",
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="The same seed gives the same words.")] = 0,
    trust_remote_code: Remote = False,
) -> None:
    """Replace each pair's differing words with others of the same features, until the token lengths are equal."""
    from penchant.grammar.grammar import find_grammar, read_grammar
    from penchant.instruments.minimal_pairs.build_fair_pairs import Counters
    from penchant.instruments.minimal_pairs.data import read_many
    from penchant.instruments.minimal_pairs.repair_lengths import repaired

    source = read_grammar(find_grammar(grammar))
    counters = Counters.of(_required(tokenizer), trust_remote_code=trust_remote_code)
    pair_sets = read_many(data, {"good": good, "bad": bad, "group": group, "id": id_})
    _refuse(out, pair_sets)
    _output(repaired(pair_sets, source, counters, seed=seed), out)


@pairs.command("controversial")
def controversial(
    grammar: Annotated[str, typer.Argument(metavar="GRAMMAR", help="A bundled grammar or a directory with one.")],
    model: Annotated[
        list[str], typer.Option("-m", "--model", metavar="MODEL", help="Two models, each with its own -m.")
    ],
    n: Annotated[int, typer.Option("-n", min=1, max=RESAMPLES, help="Pairs to choose.")] = 100,
    paradigm: Annotated[
        list[str] | None, typer.Option("--paradigm", metavar="NAME", help="Default: all of the grammar. Repeatable.")
    ] = None,
    pool: Annotated[
        int, typer.Option("--pool", min=1, max=RESAMPLES, help="Pairs of each paradigm to choose from.")
    ] = 200,
    normalise: Annotated[str, typer.Option("--normalise", help="none, mean, pen or slln.")] = "none",
    out: Out = None,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="The same seed gives the same pairs.")] = 0,
    device: DeviceOption = None,
    cache: CacheOption = None,
    trust_remote_code: Remote = False,
    allow_pickle: PickleOption = False,
) -> None:
    """Choose the pairs of a grammar on which two models disagree most, for people to judge.

    The two sentences of a pair have equal token lengths under both models.
    """
    from penchant.errors import MethodError
    from penchant.instruments.minimal_pairs.build_fair_pairs import Counters, generated
    from penchant.instruments.minimal_pairs.controversial_pairs import chosen_pairs

    if len(model) != 2:
        raise MethodError(f"controversial pairs need two models, got {len(model)}", hint="give both: -m MODEL -m MODEL")
    _refuse(out, [])
    source, names = _grammar(grammar, paradigm)
    counters = Counters.of(model, trust_remote_code=trust_remote_code)
    rows = generated(source, names, pool, counters, seed=seed, checks=10).rows
    differences = {}
    for spec in model:
        lm = load_language_model(spec, "float32", device, trust_remote_code, allow_pickle, cache=cache)
        differences[lm.name] = _differences(rows, normalise, cache, lm)
    _output(chosen_pairs(rows, differences, n), out)


def _grammar(name: str, paradigms: list[str] | None) -> tuple[Grammar, list[str]]:
    from penchant.grammar.grammar import find_grammar, read_grammar

    source = read_grammar(find_grammar(name))
    names = list(dict.fromkeys(paradigms or source.paradigms))
    for each in names:
        source.drawing(each)  # reject unknown names before loading models
    return source, names


def _differences(
    rows: Sequence[dict[str, Any]], normalise: str, cache: str | None, lm: LanguageModel
) -> NDArray[np.float64]:
    import numpy as np

    from penchant.engine.normalisations import check_normalise, check_prefix, check_unigrams
    from penchant.engine.scorer import Scorer
    from penchant.engine.scoring_methods import method_for

    check_normalise(normalise, method_for(None, lm), lm)
    check_unigrams([normalise], named=False)
    check_prefix([normalise], prefixed=False, neutral="")
    with bars() as bar:
        advance = bar(lm.name)
        total = 2 * len(rows)
        scorer = Scorer(lm, cache=cache_path(cache), progress=lambda done: advance(done, total))
        pairs = ((row["sentence_good"], row["sentence_bad"], f"pair {i}") for i, row in enumerate(rows, start=1))
        scores = [a.normalised(normalise) - b.normalised(normalise) for a, b in scorer.score_pairs(pairs)]
    scorer.close()
    return np.array(scores)


def _required(tokenizer: list[str] | None) -> list[str]:
    from penchant.errors import MethodError

    if not tokenizer:
        raise MethodError("no tokenizer was given", hint="give the models to compare: -t MODEL -t MODEL")
    return tokenizer


def _refuse(out: Path | None, pair_sets: Sequence[PairSet]) -> None:
    """Raise OutputError if `out` is an input file, or an existing file that these commands did not write."""
    from penchant.files import refuse_inputs, refuse_other
    from penchant.instruments.minimal_pairs.data import is_fair_set

    if out is not None:
        refuse_inputs(out, [pair_set.path for pair_set in pair_sets])
        refuse_other(out, "a file of penchant pairs", is_fair_set)


def _output(fair_set: FairSet, out: Path | None) -> None:
    """Write pairs to `out` and counts to stdout or, if `out` is None, pairs to stdout and counts to stderr."""
    from penchant.files import write_text
    from penchant.report.tables import aligned

    if out is None:
        emit(fair_set.lines())
        for line in aligned(fair_set.table).split("\n"):
            say(line)
    else:
        write_text(fair_set.lines(), out)
        print_frame(fair_set.table, "table")
        say(f"{counted(len(fair_set.rows), 'pairs')}: {out}")
    say_notes(fair_set.notes)

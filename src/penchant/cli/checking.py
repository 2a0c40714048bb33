"""`penchant check` and `penchant audit`: checks to run before a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.cli.console import FormatOption, check_format, note, print_frame, say
from penchant.cli.options import (
    DeviceOption,
    DtypeOption,
    OptionalModelOption,
    PickleOption,
    TrustOption,
    load_language_model,
)
from penchant.errors import MethodError
from penchant.plurals import counted, of_all

if TYPE_CHECKING:
    from penchant.instruments.minimal_pairs.data import PairSet
    from penchant.models.load import LanguageModel

GoodOption = Annotated[str, typer.Option("--good", metavar="NAME", help="The column of the acceptable sentence.")]
BadOption = Annotated[str, typer.Option("--bad", metavar="NAME", help="The column of the unacceptable sentence.")]
GroupOption = Annotated[str, typer.Option("--group", metavar="NAME", help="The column of the paradigm.")]
MarksOption = Annotated[
    str,
    typer.Option(
        "--marks",
        metavar="refuse|strip",
        help="As in a study: refuse marks of acceptability (such as *) before only one sentence of a pair, or strip "
        "them.",
    ),
]
IdOption = Annotated[str, typer.Option("--id", metavar="NAME", help="The column of the pair's id.")]


def audit(
    data: Annotated[
        list[Path], typer.Argument(metavar="DATA…", help="Files, directories or patterns of minimal pairs.")
    ],
    model: Annotated[list[str], typer.Option("-m", "--model", help="A model whose tokenizer to use. Repeatable.")],
    format: FormatOption = "table",
    acceptable: Annotated[str, typer.Option(help="CrowS-Pairs: sent_more or sent_less.")] = "sent_more",
    good: GoodOption = "good",
    bad: BadOption = "bad",
    group: GroupOption = "group",
    id_: IdOption = "id",
    marks: MarksOption = "refuse",
    trust_remote_code: TrustOption = False,
) -> None:
    """Audit the token lengths of minimal pairs, without weights or a forward pass."""
    from penchant.instruments.minimal_pairs.data import read_many
    from penchant.instruments.minimal_pairs.length_audit import audit as audit_pairs
    from penchant.instruments.minimal_pairs.pair_credits import ALL
    from penchant.models.load import load_tokenizer

    check_format(format)
    pair_sets = read_many(
        data,
        {"good": good, "bad": bad, "group": group, "id": id_},
        acceptable=acceptable,  # type: ignore[arg-type]  # read_many checks it
        marks=marks,  # type: ignore[arg-type]  # as above
    )
    tokenizers = [load_tokenizer(name, trust_remote_code=trust_remote_code) for name in model]
    audited = audit_pairs(tokenizers, pair_sets)
    print_frame(audited, format)
    _caution(pair_sets)
    for row in audited.filter((audited["group"] == ALL) & (audited["unknown"] > 0)).iter_rows(named=True):
        note(
            f"{row['model']}: {row['dataset']}: unknown tokens in {of_all(row['unknown'], row['pairs'], 'pairs')}: one "
            "may replace a whole word, so that the lengths of these pairs are meaningless and the model cannot be "
            "measured on them"
        )


def _caution(pair_sets: Sequence[PairSet]) -> None:
    for caution in (caution for pairs in pair_sets for caution in pairs.cautions):
        note(caution)


def _of_pairs(pair_sets: Sequence[PairSet]) -> dict[str, str]:
    cautions = [caution for pairs in pair_sets for caution in pairs.cautions]
    if not cautions:
        return {"check": "pairs", "verdict": "pass", "detail": "no cautions"}
    number = counted(len(cautions), "cautions")
    return {"check": "pairs", "verdict": "warn", "detail": f"{number} about the pairs; see the notes"}


PAIRS = {"good": "good", "bad": "bad", "group": "group", "id": "id", "marks": "refuse", "on_unknown": "stop"}
"""Options about pairs, with their defaults."""
EXACT = ("float32", "float64")
"""Number formats in which known values can be compared to six digits."""


def check(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA…]",
            help="Minimal pairs that the model should read; or the word cloze: does known input give the known cloze "
            "valence? (For a file of that name write ./cloze.)",
        ),
    ] = None,
    model: OptionalModelOption = None,
    format: FormatOption = "table",
    good: GoodOption = PAIRS["good"],
    bad: BadOption = PAIRS["bad"],
    group: GroupOption = PAIRS["group"],
    id_: IdOption = PAIRS["id"],
    marks: MarksOption = PAIRS["marks"],
    on_unknown: Annotated[
        str,
        typer.Option(
            "--on-unknown",
            metavar="stop|skip",
            help="As in a study: stop at texts with characters unknown to the tokenizer, or skip them.",
        ),
    ] = PAIRS["on_unknown"],
    dtype: DtypeOption = "float32",
    device: DeviceOption = None,
    trust_remote_code: TrustOption = False,
    allow_pickle: PickleOption = False,
) -> None:
    """Check whether a model can be measured; exit with code 2 if it cannot."""
    check_format(format)
    options = {"good": good, "bad": bad, "group": group, "id": id_, "marks": marks, "on_unknown": on_unknown}
    load = partial(
        load_language_model,
        dtype=dtype,
        device=device,
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
    )
    if data == ["cloze"]:
        if given := [name for name, value in options.items() if value != PAIRS[name]]:
            raise MethodError(f"--{given[0].replace('_', '-')} applies only to minimal pairs", hint="leave it out")
        if dtype not in EXACT:
            raise MethodError(f"{dtype} is too coarse for this check", hint=f"use {' or '.join(EXACT)}")
        _check_cloze(model, format, load)
    elif model is None:
        raise MethodError("check needs a model", hint="name it: -m MODEL")
    else:
        _check_model(model, [Path(name) for name in data or ()], format, options, load)


def _check_model(
    model: str, data: list[Path], format: str, options: Mapping[str, str], load: Callable[[str], LanguageModel]
) -> None:
    import polars as pl

    from penchant.instruments.minimal_pairs.data import read_many, whole
    from penchant.instruments.unknown_tokens import require_known
    from penchant.study.model_check import check as check_model

    on_unknown, marks = options["on_unknown"], options["marks"]
    named = {name: options[name] for name in ("good", "bad", "group", "id")}
    require_known(on_unknown)
    pair_sets = read_many(data, named, marks=marks)  # type: ignore[arg-type]  # read_many checks it
    texts = [(whole(item, side), item.place) for pairs in pair_sets for item in pairs.items for side in ("good", "bad")]
    lm = load(model)
    findings = check_model(lm, texts, on_unknown=on_unknown)
    rows = [
        {"check": f.name, "verdict": f.verdict, "detail": " — ".join(filter(None, (f.detail, f.hint)))}
        for f in findings
    ]
    rows += [_of_pairs(pair_sets)] if pair_sets else []
    print_frame(pl.DataFrame(rows), format)
    _caution(pair_sets)
    failed = [f for f in findings if f.verdict == "fail"]
    if failed:
        say(f"penchant: {lm.name} cannot be measured: {', '.join(f.name for f in failed)}")
        raise typer.Exit(2)


def _check_cloze(model: str | None, format: str, load: Callable[[str], LanguageModel]) -> None:
    """Check known shifts of cloze valence in one model or all bundled models; exit with code 1 if a check fails."""
    import polars as pl

    from penchant.instruments.cloze.known_shifts import check_shifts
    from penchant.models.model_identity import bundled_models

    models = [model] if model else [f"bundled:{name}" for name in bundled_models()]
    found = pl.concat([check_shifts(load(name)) for name in models])
    print_frame(found, format)
    failed = int((found["verdict"] == "fail").sum())
    if failed:
        say(f"penchant: {of_all(failed, len(found), 'shifts')} not as expected — please report this")
        raise typer.Exit(1)

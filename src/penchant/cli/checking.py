"""`penchant check` and `penchant audit`: checks to run before a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.cli.console import FormatOption, check_format, note, print_frame, say
from penchant.cli.options import (
    DeviceOption,
    DtypeOption,
    ModelOption,
    PickleOption,
    TrustOption,
    load_language_model,
)
from penchant.plurals import counted, of_all

if TYPE_CHECKING:
    from penchant.instruments.minimal_pairs.data import PairSet

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


def check(
    model: ModelOption,
    data: Annotated[
        list[Path] | None, typer.Argument(metavar="[DATA…]", help="Minimal pairs that the model should read.")
    ] = None,
    format: FormatOption = "table",
    good: GoodOption = "good",
    bad: BadOption = "bad",
    group: GroupOption = "group",
    id_: IdOption = "id",
    marks: MarksOption = "refuse",
    on_unknown: Annotated[
        str,
        typer.Option(
            "--on-unknown",
            metavar="stop|skip",
            help="As in a study: stop at texts with characters unknown to the tokenizer, or skip them.",
        ),
    ] = "stop",
    dtype: DtypeOption = "float32",
    device: DeviceOption = None,
    trust_remote_code: TrustOption = False,
    allow_pickle: PickleOption = False,
) -> None:
    """Check whether a model can be measured; exit with code 2 if it cannot."""
    import polars as pl

    from penchant.instruments.minimal_pairs.data import read_many, whole
    from penchant.instruments.unknown_tokens import require_known
    from penchant.study.model_check import check as check_model

    check_format(format)
    require_known(on_unknown)
    named = {"good": good, "bad": bad, "group": group, "id": id_}
    pair_sets = read_many(data or [], named, marks=marks)  # type: ignore[arg-type]  # read_many checks it
    texts = [(whole(item, side), item.place) for pairs in pair_sets for item in pairs.items for side in ("good", "bad")]
    lm = load_language_model(model, dtype, device, trust_remote_code, allow_pickle)
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

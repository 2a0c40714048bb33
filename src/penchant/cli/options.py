"""Options shared by several commands, and functions that convert their values to objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.errors import MethodError
from penchant.gc_control import uncollected
from penchant.limits import BATCH_TOKENS, COUNT, PROCESSES
from penchant.progress import waiting

if TYPE_CHECKING:
    from penchant.cluster.connect import ClusterOptions
    from penchant.models.load import LanguageModel

_MODEL = typer.Option(
    "-m", "--model", help="Hub name[@revision], directory, GGUF file, bundled: name or URL#NAME.", metavar="MODEL"
)
ModelOption = Annotated[str, _MODEL]
OptionalModelOption = Annotated[str | None, _MODEL]
CacheOption = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="PATH",
        help="File that caches answers; 'none' for no cache. Default: in the user's cache directory.",
    ),
]
BatchOption = Annotated[
    int | None,
    typer.Option("--batch-tokens", min=1, max=BATCH_TOKENS, help="Tokens per batch. Changes scores by rounding only."),
]
RehashOption = Annotated[
    bool, typer.Option("--rehash", help="Hash a model's files again, even if their hashes are known.")
]
ProbesOption = Annotated[
    list[str] | None, typer.Option("--probe", metavar="NAME", help="Only this probe of the study. Repeatable.")
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        max=COUNT,
        help="A pilot: N items of each probe, drawn with the seed and spread over its groups.",
    ),
]
DtypeOption = Annotated[str, typer.Option("--dtype", help="float32, bfloat16, float16 or float64.")]
DeviceOption = Annotated[
    str | None,
    typer.Option(
        "--device",
        help="A torch device such as cpu or cuda:1; auto spreads the model over the GPUs, auto+cpu also over the CPU.",
    ),
]
TrustOption = Annotated[bool, typer.Option("--trust-remote-code", help="Run code shipped with the checkpoint.")]
EditedOption = Annotated[
    bool, typer.Option("--trust-edited", help="Show files that were edited after the study wrote them, marked.")
]
FullOption = Annotated[bool, typer.Option("--full", help="Show the answers in full, with all tables and cautions.")]
OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="WHERE",
        help="Run on Ray: ray (on this machine), auto (the cluster of this machine), HOST:PORT or ray://HOST:PORT.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, max=PROCESSES, metavar="N", help="Number of workers, with --on. Default: all that fit."
    ),
]
CpusOption = Annotated[
    int, typer.Option("--cpus", min=1, max=PROCESSES, metavar="N", help="CPUs per worker, with --on.")
]
GpusOption = Annotated[
    float, typer.Option("--gpus", min=0, max=PROCESSES, metavar="N", help="GPUs per worker, with --on.")
]
DataOption = Annotated[
    list[Path] | None,
    typer.Option("--data", metavar="DIR", help="Directory to search first for data files. Repeatable."),
]
RerunOption = Annotated[
    bool, typer.Option("--rerun", help="Continue, and repeat measurements whose models, data or results changed.")
]
TextsOutOption = Annotated[
    Path | None,
    typer.Option(
        "--texts-out",
        metavar="FILE",
        help="Only write the texts of the study, to be scored elsewhere: .csv, .tsv, .jsonl or .parquet.",
    ),
]
PickleOption = Annotated[bool, typer.Option("--allow-pickle", help="Allow weights that are not safetensors.")]


@uncollected()
def load_language_model(
    spec: str,
    dtype: str,
    device: str | None,
    trust_remote_code: bool,
    allow_pickle: bool,
    *,
    cache: str | None = None,
    rehash: bool = False,
    probabilities: bool = True,
) -> LanguageModel:
    """Load a language model for scoring, or only for its vectors if `probabilities` is false.

    Raises ModelError if the model cannot be loaded or is a set of static word vectors.
    """
    with waiting(f"{spec}: loading"):  # covers the import of the libraries
        from penchant.engine.scorer import language_model
        from penchant.models.file_hashes import Digests
        from penchant.models.load import Model, load, load_vectors, names_vectors

        model: Model
        if names_vectors(spec):
            model = load_vectors(spec)
        else:
            model = load(
                spec,
                dtype=dtype,
                device=device,
                trust_remote_code=trust_remote_code,
                allow_pickle=allow_pickle,
                digests=Digests(cache_path(cache), forced=rehash),
            )
    return language_model(model, probabilities=probabilities)


def place(on: str | None, workers: int | None, cpus: int, gpus: float) -> ClusterOptions | None:
    """Return the options of the cluster at the address `on`, or None to run in this process.

    Raises ClusterError for an invalid address, and MethodError if workers or resources are set without a cluster.
    """
    from penchant.cluster.connect import ClusterOptions

    if on is None and (workers, cpus, gpus) != (None, 1, 0.0):
        raise MethodError("--workers, --cpus and --gpus need --on", hint="add --on, for example: --on ray")
    return None if on is None else ClusterOptions(on, workers, cpus, gpus)


def cache_path(option: str | None) -> Path | None:
    """Return the path of the answer cache for a `--cache` option, or None if there is no cache."""
    from penchant.engine.answer_cache import chosen_path

    return chosen_path(option)

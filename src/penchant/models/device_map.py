"""Placement of a model's weights: on one device, or spread over the GPUs of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penchant.errors import ModelError, first_line, missing_package
from penchant.plurals import counted

if TYPE_CHECKING:
    import torch

AUTO = ("auto", "auto+cpu")
"""Device names that spread a model over all GPUs; `auto+cpu` places the layers that do not fit on the CPU."""

SHARE = 0.9
"""Fraction of a GPU's free memory that weights may use; the rest is needed for computation."""


class Placing:
    """Placement of a model on the requested device, by default the first GPU, or the CPU if there is no GPU.

    `auto` spreads a model over the GPUs, layer after layer; `auto+cpu` also places the layers that do not fit on the
    CPU. No layer is offloaded to disk. `home` is the device if the model is not spread, else None. Raises ModelError
    if the device cannot be used, MethodError if spreading needs a package that is not installed.
    """

    def __init__(self, device: str | None, dtype: str) -> None:
        import torch

        self.dtype = dtype
        self.spreads = device in AUTO and bool(cards())
        self.with_cpu = device == AUTO[1]
        name = "cpu" if device in AUTO else device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.home = None if self.spreads else _usable(name, dtype)
        if self.spreads and (error := _without_accelerate()):
            raise missing_package("accelerate", "cards", error) from error

    def options(self, loader: Any, config: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `loader.from_pretrained` that place the weights, or {} if `put` places them.

        `given` are the other arguments of `from_pretrained`. Raises ModelError if the model is too large.
        """
        if self.home is not None:
            return {} if self.home.type == "cpu" or _without_accelerate() else {"device_map": {"": self.home}}
        free = {card: int(SHARE * room) for card, room in cards().items()}
        if getattr(config, "quantization_config", None):
            return {"device_map": "auto", "max_memory": free if self.with_cpu else {**free, "cpu": 0}}
        return {"device_map": spread(loader, config, free, self.dtype, with_cpu=self.with_cpu, given=given)}

    def put(self, model: Any) -> Any:
        """Return the model, moved to `home` if it is not spread over several devices.

        Raises ModelError if a part of a spread model was offloaded to disk, or to the CPU without `auto+cpu`.
        """
        if self.home is not None:
            return model if model.device == self.home else model.to(self.home)
        places = {str(place) for place in (getattr(model, "hf_device_map", None) or {}).values()}
        if "disk" in places or ("cpu" in places and not self.with_cpu):
            raise _too_large(model.get_memory_footprint(), sum(cards().values()), self.dtype, with_cpu=self.with_cpu)
        return model

    @contextmanager
    def tried(self, where: str) -> Iterator[None]:
        """Return a context that converts errors of a spread model's first run to ModelErrors located at `where`."""
        try:
            yield
        except (RuntimeError, NotImplementedError) as error:
            if not self.spreads:
                raise
            message = f"cannot run on several devices: {first_line(error)}"
            raise ModelError(message, where=where, hint="use one device") from error


def cards() -> dict[int | str, int]:
    """Return the free memory in bytes of each GPU (CUDA or ROCm), by device index."""
    import torch

    return {card: torch.cuda.mem_get_info(card)[0] for card in range(torch.cuda.device_count())}


def spread(
    loader: Any,
    config: Any,
    free: Mapping[int | str, int],
    dtype: str,
    *,
    with_cpu: bool,
    given: Mapping[str, Any],
) -> dict[str, int | str]:
    """Return a mapping from module names to devices that spreads a model over the GPUs.

    The CPU is also used if `with_cpu` is true. The GPUs are used evenly if possible. No weights are read. `free` is
    the number of bytes that may be used on each GPU; `given` are the other arguments of `from_pretrained`. Raises
    ModelError if the model is too large.
    """
    import torch
    from accelerate import infer_auto_device_map
    from accelerate.utils import get_balanced_memory, get_max_memory

    with torch.device("meta"):
        code = bool(given.get("trust_remote_code"))
        model = loader.from_config(config, dtype=getattr(torch, dtype), trust_remote_code=code)
        model.tie_weights()
    whole = list(model._no_split_modules or [])
    balanced = get_balanced_memory(model, max_memory=dict(free), no_split_module_classes=whole)
    memory = {"cpu": int(SHARE * get_max_memory()["cpu"])} if with_cpu else {}
    for room in (balanced, free):  # if balanced parts leave gaps, fill the GPUs one after another
        places: dict[str, int | str] = infer_auto_device_map(
            model, max_memory={**room, **memory}, no_split_module_classes=whole
        )
        if "disk" not in places.values():
            return places
    raise _too_large(model.get_memory_footprint(), sum(free.values()), dtype, with_cpu=with_cpu, cards=len(free))


def first_device(model: Any) -> torch.device:
    """Return the device on which a model expects its inputs: the execution device of its input embeddings."""
    import torch

    embeddings = model.get_input_embeddings()
    hook = getattr(embeddings, "_hf_hook", None)
    # A hook may name a GPU by its number alone.
    return torch.device(embeddings.weight.device if hook is None else hook.execution_device)


def in_words(model: Any, first: Any) -> str:
    """Return a model's device names in layer order, such as "cuda:0 + cuda:1", or `first` for a single device."""
    places = dict.fromkeys((getattr(model, "hf_device_map", None) or {}).values())
    named = [f"cuda:{place}" if isinstance(place, int) else str(place) for place in places]
    return " + ".join(named) if len(named) > 1 else str(first)


def _usable(name: str, dtype: str) -> Any:
    import torch

    try:
        # `meta`, and devices without their library, accept a model but cannot compute; some devices lack float64.
        torch.ones(1, device=name, dtype=getattr(torch, dtype)).item()
        device = torch.device(name)
    except (RuntimeError, AssertionError, NotImplementedError, ImportError, TypeError) as error:
        reason = str(error).partition("\n")[0].partition(". ")[0]  # the rest of the message is for developers of torch
        raise ModelError(f"device '{name}' cannot be used: {reason}", hint="use the device cpu") from error
    return torch.device(name, torch.cuda.current_device()) if name == "cuda" else device


def _too_large(size: int, free: int, dtype: str, *, with_cpu: bool, cards: int = 0) -> ModelError:
    there = f"the {counted(cards, 'GPUs')}" if cards else "the GPUs"
    where = f"{there} and main memory" if with_cpu else there
    return ModelError(
        f"the weights need {size / 1e9:.3g} GB in {dtype}, but {where} can hold only {free / 1e9:.3g} GB",
        hint="use bfloat16, more GPUs or a smaller model" + ("" if with_cpu else ", or auto+cpu, which is slow"),
    )


def _without_accelerate() -> ImportError | None:
    """Return the ImportError raised on importing accelerate, or None if the package is installed."""
    try:
        import accelerate  # noqa: F401
    except ImportError as error:
        return error
    return None

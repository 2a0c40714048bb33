"""Connections to a Ray cluster, or to Ray on this machine.

Ray is an optional dependency, imported only in this module and inside functions.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from penchant.errors import ClusterError, MethodError, first_line, missing_package

LOOPBACK = "127.0.0.1"
PATIENCE = 10.0
"""Time in seconds to wait for a connection to an address."""
_HINT = "use ray (this machine), auto (the cluster of this machine), HOST:PORT or ray://HOST:PORT"


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """A cluster to run on, with the number and resources of its workers.

    `on` is "ray" for Ray on this machine, "auto" for the cluster that this machine belongs to, HOST:PORT of a cluster's
    head node, or ray://HOST:PORT of its Ray client server. `workers` is the number of workers (default: as many as
    fit); `cpus` and `gpus` are the resources of each worker.
    """

    on: str
    workers: int | None = None
    cpus: int = 1
    gpus: float = 0.0

    def __post_init__(self) -> None:
        if self.on not in ("ray", "auto"):
            _address(self.on)


@dataclass(frozen=True, slots=True)
class Node:
    """A machine in the cluster, with its address and resources."""

    id: str
    address: str
    cpus: float
    gpus: float


@contextmanager
def joined(place: ClusterOptions) -> Iterator[None]:
    """Connect to the cluster, or start Ray on this machine; disconnect when the context exits.

    Raises ClusterError if the connection fails, and MethodError if a package is missing.
    """
    address = "local" if place.on == "ray" else place.on
    if place.on == "ray" or _host(place.on) in (LOOPBACK, "localhost"):
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # keeps Ray from replacing a loopback address
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = imported()
    if place.on not in ("ray", "auto"):
        _answers(place.on)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if place.on == "ray":
        cpus = place.cpus * place.workers if place.workers else None
        gpus = place.gpus * place.workers if place.workers else None
        options |= {"num_cpus": cpus, "include_dashboard": False, "_node_ip_address": LOOPBACK}
        options |= {"num_gpus": int(gpus)} if gpus else {}
    elif _host(place.on) == LOOPBACK and not place.on.startswith("ray://"):
        options["_node_ip_address"] = LOOPBACK
    try:
        ray.init(address=address, **options)
    except ImportError as error:
        raise MethodError(f"a package is missing: {error}", where=place.on, hint="pip install 'ray[client]'") from error
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, AssertionError) as error:
        raise ClusterError(f"cannot connect to the cluster: {first_line(error)}", where=place.on, hint=_HINT) from error
    try:
        yield
    finally:
        ray.shutdown()


def imported() -> Any:
    """Return the module `ray`. Raises MethodError if it is not installed."""
    try:
        import ray
    except ImportError as error:
        raise missing_package("ray", "ray", error) from error
    return ray


def nodes() -> list[Node]:
    """Return the machines that are currently alive in the cluster."""
    alive = [node for node in imported().nodes() if node["Alive"]]
    return [
        Node(
            node["NodeID"],
            node["NodeManagerAddress"],
            node["Resources"].get("CPU", 0.0),
            node["Resources"].get("GPU", 0.0),
        )
        for node in alive
    ]


def room(place: ClusterOptions) -> int:
    """Return the number of workers with the requested CPUs and GPUs that fit on the machines of the cluster."""
    return sum(
        int(min([node.cpus // place.cpus, *([node.gpus // place.gpus] if place.gpus else [])])) for node in nodes()
    )


def _host(on: str) -> str:
    return on.removeprefix("ray://").rpartition(":")[0]


def _address(on: str) -> tuple[str, int]:
    host, port = _host(on), on.rpartition(":")[2]
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise ClusterError("is not a cluster address", where=f"--on {on}", hint=_HINT)
    return host, int(port)


def _answers(on: str) -> None:
    """Raise ClusterError if the address accepts no connection within `PATIENCE` seconds; Ray itself waits a minute."""
    try:
        socket.create_connection(_address(on), timeout=PATIENCE).close()
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "check that the cluster is running and that its port is open to this machine"
        raise ClusterError(f"does not answer: {reason}", where=on, hint=hint) from error

"""A cluster of two machines with one processor each, and a head that does no work, all on the loopback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LOOPBACK = "127.0.0.1"


@dataclass
class Machines:
    """A cluster whose nodes come and go."""

    cluster: Any

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def add(self) -> Any:
        """One more machine with one processor."""
        return self.cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK, object_store_memory=150_000_000)

    def complete(self) -> None:
        """Have two machines that work, whatever a test before did to them."""
        working = [node for node in self.cluster.worker_nodes if node.remaining_processes_alive()]
        for _ in range(len(working), 2):
            self.add()
        self.cluster.wait_for_nodes()


def started() -> Machines:
    """A cluster whose head does no work."""
    from ray.cluster_utils import Cluster

    head = {
        "num_cpus": 0,
        "node_ip_address": LOOPBACK,
        "include_dashboard": False,
        "object_store_memory": 150_000_000,
    }
    return Machines(Cluster(initialize_head=True, head_node_args=head))

"""Many machines: the same work by workers on a Ray cluster, with the same numbers."""

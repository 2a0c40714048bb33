"""Distributed computation on a Ray cluster, with the same results as in one process."""

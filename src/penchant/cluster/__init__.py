"""Work on many machines: workers on a Ray cluster compute the same numbers as one process."""

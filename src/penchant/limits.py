"""Upper limits of settings, far above practical values and below values that exhaust memory or overflow.

Study files and the command line share these limits, so that both reject a value before any work begins.
"""

from __future__ import annotations

SEED = (1 << 32) - 1
"""Random seeds; all generators in use accept this range."""
RESAMPLES = 1_000_000
"""Bootstrap resamples, and random draws of tests and samples."""
PARTITIONS = 10_000_000
"""Partitions enumerated by a permutation test."""
FILLERS = 100_000
"""Fillers per gap."""
COUNT = 1_000_000_000
"""Counts of words, occurrences and pairs."""
BATCH_TOKENS = 1 << 24
"""Tokens in a batch."""
DIMENSIONS = 10_000
"""Dimensions of trained vectors."""
WINDOW = 1_000
"""Context words on each side in the training of vectors, and words in a segment of a sentence."""
EPOCHS = 10_000
"""Passes over a training text."""
LAYERS = 10_000
"""Layers of a model."""
LARGEST = 1e12
"""Absolute values of numbers in tables and settings without another limit."""
PROCESSES = 1_000
"""Processes that share the work, and cores and GPUs per process."""

"""Upper limits of settings, far above practical values and below values that exhaust memory or overflow.

Study files and the command line share these limits, so that both reject a value before any work begins.
"""

from __future__ import annotations

SEED = (1 << 32) - 1
"""Maximum random seed, accepted by all generators in use."""
RESAMPLES = 1_000_000
"""Maximum number of bootstrap resamples, and of random draws in tests and samples."""
PARTITIONS = 10_000_000
"""Maximum number of partitions that a permutation test enumerates."""
FILLERS = 100_000
"""Maximum number of fillers per gap."""
COUNT = 1_000_000_000
"""Maximum count of words, occurrences or pairs."""
BATCH_TOKENS = 1 << 24
"""Maximum number of tokens in a batch."""
DIMENSIONS = 10_000
"""Maximum dimensionality of trained vectors."""
WINDOW = 1_000
"""Maximum number of context words on each side of a word, and of words in a segment of a sentence."""
EPOCHS = 10_000
"""Maximum number of passes over a training text."""
LAYERS = 10_000
"""Maximum number of layers of a model."""
LARGEST = 1e12
"""Maximum absolute value of numbers in tables and settings without another limit."""
PROCESSES = 1_000
"""Maximum number of processes, and of cores and GPUs per process."""

"""The largest values of settings: far above any use, and below values that exhaust memory or overflow.

Study files and the command line share these limits, so that both reject a value before any work begins.
"""

from __future__ import annotations

SEED = (1 << 32) - 1
"""Seeds, as all random generators in use accept them."""
RESAMPLES = 1_000_000
"""Bootstrap resamples, and draws of tests and samples."""
PARTITIONS = 10_000_000
"""Partitions that a permutation test enumerates."""
FILLERS = 100_000
"""Fillers of one gap."""
COUNT = 1_000_000_000
"""Counts of words, occurrences and pairs."""
BATCH_TOKENS = 1 << 24
"""Tokens in a batch."""
DIMENSIONS = 10_000
"""Dimensions of trained vectors."""
WINDOW = 1_000
"""Words on each side of a word when vectors are trained, and words in a segment of a sentence."""
EPOCHS = 10_000
"""Passes over a text."""
LAYERS = 10_000
"""Layers of a model."""
LARGEST = 1e12
"""Absolute values of numbers in tables and settings that have no other bound."""
PROCESSES = 1_000
"""Processes that share work, and cores and GPUs of each."""

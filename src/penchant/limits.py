"""The largest values of settings: far above any use, and below what would exhaust memory or overflow a number.

Study files and the command line read the same limits, so that both say what is allowed before any work begins.
"""

from __future__ import annotations

SEED = (1 << 32) - 1
"""Seeds; those of all random generators in use."""
RESAMPLES = 1_000_000
"""Bootstrap resamples, draws of tests and samples."""
PARTITIONS = 10_000_000
"""Partitions that a permutation test goes through."""
FILLERS = 100_000
"""Fillers of one gap."""
COUNT = 1_000_000_000
"""Counts of words, occurrences and pairs."""
BATCH_TOKENS = 1 << 24
"""Tokens in a batch."""
DIMENSIONS = 10_000
"""Dimensions of trained vectors."""
WINDOW = 1_000
"""Words on each side of a word when vectors are trained, and words of a sentence's segment."""
EPOCHS = 10_000
"""Passes over a text."""
LAYERS = 10_000
"""Layers of a model."""
LARGEST = 1e12
"""Numbers in tables and settings that nothing else bounds, either way from 0."""
PROCESSES = 1_000
"""Processes that share work, and cores and cards of each."""

"""From reads of a model to scores: batch planning, backends, the cache of answers and the scoring methods."""

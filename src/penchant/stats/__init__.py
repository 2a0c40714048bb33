"""Statistics: from arrays of scores to estimates with intervals and tests."""

"""Scoring of texts with a model: batch planning, backends, the answer cache and the scoring methods."""

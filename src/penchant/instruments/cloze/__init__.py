"""Cloze valence: the lean of a model towards one of two varieties of a language."""

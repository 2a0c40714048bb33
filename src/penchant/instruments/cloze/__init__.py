"""Cloze valence between two varieties of a language."""

"""Declared tables, figures, items and findings: an instrument says what they hold, its `text.yaml` in which words."""

"""Declared tables, figures, items and findings: instruments declare the contents, `text.yaml` has the words."""

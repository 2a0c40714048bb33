"""Declarative tables, figures, items and findings: instruments declare the content, and `text.yaml` has the text."""

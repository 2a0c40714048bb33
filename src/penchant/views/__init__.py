"""Declarative tables, figures, items and findings: instruments declare their content, and `text.yaml` has the text."""

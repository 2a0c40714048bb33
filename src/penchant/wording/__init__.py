"""Texts of methods, notes, columns and glossary terms, and their rendering."""

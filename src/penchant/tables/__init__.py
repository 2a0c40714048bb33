"""Readers of tables and documents written by users, which report errors with file, line and field."""

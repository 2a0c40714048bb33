"""Readers of tables and documents written by users; every error has its file, line and field."""

"""Readers of the tables and documents that users write; every error names its place."""

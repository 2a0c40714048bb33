"""Version number and release year, in a separate module that every layer can import."""

__version__ = "0.2.0"
RELEASED = "2026"

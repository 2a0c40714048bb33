"""Text of methods and notes, by code."""

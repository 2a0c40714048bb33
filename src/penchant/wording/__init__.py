"""The words of methods and notes, by their codes."""

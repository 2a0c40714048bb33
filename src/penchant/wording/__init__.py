"""English in one place: the words of methods and notes, by their codes."""

"""Studies: their files, their runs, and the directories of their results."""

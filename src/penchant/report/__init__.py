"""Reports. The room is called, too: `penchant.report(directory, other=None, *, out=None, trust_edited=False)` writes
the report of a result directory, or of the differences between two, and returns its path."""

"""Rendering of reports; import its modules by name, since the attribute `penchant.report` is a function."""

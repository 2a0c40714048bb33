"""Rendering of reports. Import the modules of this package by name: the attribute `penchant.report` is a function."""

"""Reports. Import a module as in `from penchant.report import page`: the attribute `penchant.report` is a function."""

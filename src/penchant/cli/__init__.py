"""The command line: a module for each group of commands, put together in `penchant.cli.app`."""

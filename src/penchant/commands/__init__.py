"""Groups of commands, a file each; `penchant.cli` puts them together."""

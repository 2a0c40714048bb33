"""What `penchant init` writes: the files that an instrument's studies start from."""

from __future__ import annotations

from pathlib import Path

from penchant.errors import OutputError
from penchant.files import occupied, write_bytes
from penchant.instruments.registry import instrument, template_files


def write_template(probe: str, directory: Path) -> list[Path]:
    """Write the starting files of a probe; none is overwritten. Raises MethodError or OutputError."""
    targets = {directory / file.name: file for file in template_files(instrument(probe))}
    for target in targets:
        if occupied(target):
            raise OutputError("is already there", where=str(target), hint="remove it or name another directory")
    for target, file in targets.items():
        write_bytes(file.read_bytes(), target)
    return list(targets)

"""The files of a model in use: held against what they were when it was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from penchant.errors import ModelError, StudyError
from penchant.models.digests import stamp


@dataclass(slots=True)
class WatchedFiles:
    """The files of a model, with what `stamp` gave of each before it was read.

    `intact` hashes them anew; it is asked only where a size, a time or an inode has changed.
    """

    stamps: Mapping[Path, str]
    intact: Callable[[], bool]

    @property
    def size(self) -> int:
        """The bytes of all files. Raises OSError."""
        return sum(file.stat().st_size for file in self.stamps)

    def require_same(self) -> None:
        """Raise StudyError if a file is another than the one that was read."""
        now = {file: stamp(file) for file in self.stamps}
        if now == self.stamps:
            return
        try:
            same = self.intact() and all(stamp(file) == was for file, was in now.items())
        except (ModelError, OSError):
            same = False
        if not same:
            changed = next(file for file, was in self.stamps.items() if now[file] != was)
            raise StudyError(
                "changed while the model was in use; the answers since it was last looked at are dropped",
                where=str(changed),
                hint="run again when it no longer changes",
            )
        self.stamps = now

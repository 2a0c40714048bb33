"""Search of text files on a cluster, with one file per job and the results in file order."""

from __future__ import annotations

from collections.abc import Iterator

from penchant.cluster.pool import DEEP, Job, WorkerPool
from penchant.corpus.block_search import Extraction
from penchant.corpus.distributed_search import ByFile, FileFound, FileTask

_AHEAD = 4
"""Maximum number of results, per file in progress, that are kept in memory until earlier files are finished."""


def searched_by(pool: WorkerPool) -> ByFile:
    """Return a function that searches files on the workers of a pool and yields the results in file order."""

    def by_file(search: Extraction, tasks: Iterator[FileTask]) -> Iterator[FileFound]:
        slots = DEEP * pool.size
        flying, early, turn = 0, dict[int, FileFound](), -1
        for task in _and_none(tasks):
            if task is not None:
                turn = task.number if turn < 0 else turn
                pool.submit(Job("search", (search, task), task, lambda _, task=task: task.file.place))  # type: ignore[misc]
                flying += 1
            while flying and (task is None or flying >= slots or len(early) >= _AHEAD * slots):
                job, found = pool.collect()
                flying -= 1
                early[job.what.number] = found
                while turn in early:
                    yield early.pop(turn)
                    turn += 1

    return by_file


def _and_none(tasks: Iterator[FileTask]) -> Iterator[FileTask | None]:
    yield from tasks
    yield None

"""Pool of workers on a cluster, which are replaced if they die."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penchant.cluster.connect import ClusterOptions, imported, nodes, room
from penchant.cluster.model_transfer import sent
from penchant.cluster.worker import About, AbsentError, ModelDescription, Worker, versions
from penchant.engine.local_backend import TooLargeError
from penchant.errors import ClusterError, first_line
from penchant.plurals import counted

DEEP = 2
"""Number of jobs assigned to a worker at once, so that it need not wait for the next job."""
MOST_DEATHS = 2
"""Number of workers whose death while running the same job aborts the run."""
MOST_STARTS = 5
"""Number of workers that may die in succession without a finished job before the run is aborted."""
QUIET, AGAIN = 10.0, 60.0
"""Time in seconds spent waiting for a worker to start before the first message, and between further messages."""


@dataclass(slots=True, eq=False)
class Job:
    """A method call that one of the workers runs.

    `call` is the name of the method, and `what` is the object by which the caller recognises the job. `name` returns a
    description of the job for error messages; its argument is the row that does not fit in memory, or None for the
    whole job. `deaths` is the number of workers that died while running the job.
    """

    call: str
    arguments: tuple[Any, ...]
    what: Any
    name: Callable[[int | None], str]
    deaths: int = 0


@dataclass(slots=True)
class Losses:
    """Numbers of lost workers and nodes, and of jobs `retried` because of the losses."""

    retried: int = 0
    workers: int = 0
    nodes: int = 0


@dataclass(slots=True, eq=False)
class _Hand:
    """The driver's handle to a worker; `about` is None until the worker is ready, `flying` has its unfinished jobs."""

    actor: Any
    opening: Any
    about: About | None = None
    flying: dict[Any, Job] = field(default_factory=dict)


class WorkerPool:
    """A pool of a fixed number of workers, each with the same model (or without a model if `wanted` is None).

    Jobs are submitted with `submit`; `collect` returns finished jobs in any order. A worker that dies is replaced, and
    its jobs are run again. `say` is called with messages for the user.
    """

    def __init__(
        self, place: ClusterOptions, wanted: ModelDescription | None, *, say: Callable[[str], None] = lambda text: None
    ) -> None:
        self._ray = imported()
        self._place, self._wanted, self._say = place, wanted, say
        self.tick: Callable[[], None] = lambda: None
        """Function called at intervals while the pool waits for a job to finish."""
        self.size = place.workers or max(1, room(place))
        self.losses = Losses()
        self.about: list[About] = []
        self._queue: deque[Job] = deque()
        self._hands = [self._started() for _ in range(self.size)]
        self._fruitless = 0
        self._waiting_since = time.monotonic()
        self._said = False

    def submit(self, job: Job) -> None:
        """Append a job to the queue."""
        self._queue.append(job)

    def again(self, job: Job) -> None:
        """Put a job back at the head of the queue, because its result was lost."""
        self.losses.retried += 1
        self._queue.appendleft(job)

    def collect(self) -> tuple[Job, Any]:
        """Wait until any submitted job is finished; return the job and its result.

        Raises the job's own errors, and ClusterError if the job cannot be run on the cluster.
        """
        while True:
            self._assign()
            waited = {hand.opening: hand for hand in self._hands if hand.about is None}
            waited |= {reference: hand for hand in self._hands for reference in hand.flying}
            done, _ = self._ray.wait(list(waited), num_returns=1, timeout=1.0)
            self._tell_waiting()
            self.tick()
            if not done:
                continue
            hand = waited[done[0]]
            if hand.about is None:
                self._opened(hand)
            elif (finished := self._finished(hand, done[0])) is not None:
                return finished

    def ready(self) -> None:
        """Wait until all workers are ready, for example before a timing."""
        while waited := [hand for hand in self._hands if hand.about is None]:
            if self._ray.wait([waited[0].opening], timeout=1.0)[0]:
                self._opened(waited[0])
            else:
                self._tell_waiting()

    @property
    def alive(self) -> int:
        """Number of workers that are ready."""
        return sum(hand.about is not None for hand in self._hands)

    def close(self) -> None:
        """Stop all workers."""
        for hand in self._hands:
            self._ray.kill(hand.actor)
        self._hands = []

    def _started(self) -> _Hand:
        remote = self._ray.remote(num_cpus=self._place.cpus, num_gpus=self._place.gpus, max_restarts=0)(Worker)
        actor = remote.remote()
        return _Hand(actor, actor.open.remote(self._wanted, versions(), self._place.cpus))

    def _assign(self) -> None:
        while self._queue:
            free = [hand for hand in self._hands if hand.about is not None and len(hand.flying) < DEEP]
            if not free:
                return
            hand, job = min(free, key=lambda each: len(each.flying)), self._queue.popleft()
            hand.flying[getattr(hand.actor, job.call).remote(*job.arguments)] = job

    def _opened(self, hand: _Hand) -> None:
        try:
            hand.about = self._got(hand.opening)
        except AbsentError:
            assert self._wanted is not None
            if self._wanted.shipped is None:
                self._wanted = sent(self._wanted)
            hand.opening = hand.actor.open.remote(self._wanted, versions(), self._place.cpus)
        except LostError as lost:
            self._replace(hand, lost)
        else:
            self.about.append(hand.about)

    def _finished(self, hand: _Hand, reference: Any) -> tuple[Job, Any] | None:
        try:
            value = self._got(reference)
        except LostError as lost:
            self._replace(hand, lost)
            return None
        except TooLargeError as error:
            raise ClusterError(
                f"does not fit in a worker's memory: {error.reason}",
                where=hand.flying[reference].name(error.row),
                hint="use machines with more memory, or a smaller --dtype",
            ) from None
        self._fruitless = 0
        return hand.flying.pop(reference), value

    def _got(self, reference: Any) -> Any:
        """Return the result of a remote call.

        Raises the call's own errors, LostError if the worker has died, and ClusterError if the worker cannot be set up
        or the object store is full.
        """
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except errors.RuntimeEnvSetupError as error:
            raise ClusterError(f"a worker cannot be set up: {first_line(error)}", where=self._place.on) from error
        except (errors.ObjectStoreFullError, errors.OutOfDiskError) as error:
            raise ClusterError(
                "the cluster's object store is full",
                where=self._place.on,
                hint="give Ray more object store memory, or use a smaller --batch-tokens",
            ) from error
        except (errors.RayError, ConnectionError) as error:
            raise LostError(first_line(error)) from error

    def _replace(self, hand: _Hand, lost: LostError) -> None:
        """Start a new worker in place of a dead worker, and put the jobs of the dead worker back into the queue.

        Raises ClusterError if several workers died while running the same job, or if workers keep dying.
        """
        self._hands.remove(hand)
        self._ray.kill(hand.actor)
        gone = hand.about is not None and hand.about.node not in {node.id for node in nodes()}
        self.losses.workers += 1
        self.losses.nodes += gone
        self._fruitless += 1
        jobs = list(hand.flying.values())
        if jobs and not gone:
            jobs[0].deaths += 1  # a worker runs its jobs in the order of assignment
            if jobs[0].deaths >= MOST_DEATHS:
                message = f"{MOST_DEATHS} workers died while processing this input; the last error: {lost}"
                raise ClusterError(message, where=jobs[0].name(None), hint="increase the memory, or remove this input")
        if self._fruitless > MOST_STARTS:
            raise ClusterError(f"workers keep dying; the last error: {lost}", where=self._place.on)
        self.losses.retried += len(jobs)
        self._queue.extendleft(reversed(jobs))
        where = f" on {hand.about.host}" if hand.about else ""
        self._say(f"{'a node was lost' if gone else f'a worker{where} died'}; its jobs are run again")
        self._hands.append(self._started())
        self._waiting_since, self._said = time.monotonic(), False

    def _tell_waiting(self) -> None:
        waited = time.monotonic() - self._waiting_since
        if self.alive or waited < (AGAIN if self._said else QUIET):
            return
        here = nodes()
        cpus, gpus = sum(node.cpus for node in here), sum(node.gpus for node in here)
        needs = f"{self._place.cpus} CPUs" + (f" and {self._place.gpus:g} GPUs" if self._place.gpus else "")
        self._say(
            f"waiting for a worker to start: each needs {needs} on one machine; the cluster has "
            f"{counted(len(here), 'machines')} "
            f"with {cpus:g} CPUs and {gpus:g} GPUs, some of which may be in use"
        )
        self._waiting_since, self._said = time.monotonic(), True


class LostError(Exception):
    """Exception raised if a worker has died."""

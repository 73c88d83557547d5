"""Ray: actors on the processors of a cluster, or of this machine where no cluster is running.

Results come back through Ray; what a task reports of its progress does not. Whoever reaches a port of Ray's can run
code, so a Ray that begins here listens on the loopback interface alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tacit.engines.local import THREADS, TICK
from tacit.engines.task import Advance, MakeWork, Outcome, Worker


class Actors:
    """Up to `jobs` actors (one for each processor of the cluster unless given), begun as tasks come."""

    def __init__(self, make_work: MakeWork, jobs: int | None) -> None:
        self._ray = find_ray()
        self._make_work, self._jobs = make_work, jobs
        self._free: list[Any] = []
        self._busy: dict[Any, tuple[int, Any]] = {}

    @cached_property
    def size(self) -> int:
        """Return how many actors there may be; begins a local Ray unless one is running."""
        if not self._ray.is_initialized():
            begin_ray(self._ray)
        processors = max(int(self._ray.cluster_resources().get("CPU", 1)), 1)
        return processors if self._jobs is None else min(processors, self._jobs)

    @property
    def idle(self) -> bool:
        """Return whether an actor is free or may be begun."""
        return bool(self._free) or len(self._busy) < self.size

    def give(self, number: int, task: Any) -> None:
        """Hand a task to a free actor, a new one if there is none."""
        actor = self._free.pop() if self._free else self._begin()
        self._busy[actor.perform.remote(task)] = number, actor

    def hear(self, advance: Advance) -> list[tuple[int, Outcome]]:
        """Return the tasks that ended, after at most a tick."""
        ready, _ = self._ray.wait(list(self._busy), timeout=TICK)
        return [self._take(reference) for reference in ready]

    def dismiss(self) -> None:
        """End every actor."""
        for actor in (*self._free, *(actor for _, actor in self._busy.values())):
            self._ray.kill(actor)

    def _begin(self) -> Any:
        variables = {"env_vars": dict.fromkeys(THREADS, "1")}
        return self._ray.remote(num_cpus=1, runtime_env=variables)(Actor).remote(self._make_work)

    def _take(self, reference: Any) -> tuple[int, Outcome]:
        number, actor = self._busy.pop(reference)
        try:
            outcome: Outcome = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:  # the actor died, or its result cannot be carried
            self._ray.kill(actor)
            return number, Outcome(reason=f"Ray lost it ({type(error).__name__})", details=str(error))
        self._free.append(actor)
        return number, outcome


class Actor:
    """A worker as Ray has it."""

    def __init__(self, make_work: MakeWork) -> None:
        self._worker: Worker[Any, Any] = Worker(make_work)

    def perform(self, task: Any) -> Outcome:
        """Return what came of a task."""
        return self._worker.perform(task, lambda amount, stage: None)


def begin_ray(ray: Any) -> None:
    """Join the cluster that RAY_ADDRESS names or that runs here; where there is none, begin one on loopback."""
    constants = ray._private.ray_constants
    reachable = constants.ENABLE_RAY_CLUSTER
    # Ray listens on 127.0.0.1 alone if that is its node's address, which it is only where Ray believes that no other
    # machine can join. Its option for the address replaces 127.0.0.1; its variable for this is read at import.
    constants.ENABLE_RAY_CLUSTER = False
    try:
        ray.init(log_to_driver=False, include_dashboard=False)
    finally:
        constants.ENABLE_RAY_CLUSTER = reachable


def find_ray() -> Any:
    """Return the package, or raise ImportError that says how to get it."""
    try:
        import ray
    except ImportError:
        raise ImportError("the engine ray needs the package ray; install tacit[ray]") from None
    return ray

"""Ray Data as engine: tasks dealt out over a cluster, what comes of them put together in order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any


def deal_with_ray(tasks: Sequence[Any], make_work: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each task with its result, in order; begins a local Ray unless one is running."""
    ray = _ray()
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    workers = min(max(int(ray.cluster_resources().get("CPU", 1)), 1), max(len(tasks), 1))
    dataset = ray.data.from_items([{"task": task} for task in tasks], override_num_blocks=max(len(tasks), 1))
    rows = dataset.map(_Row, fn_constructor_args=(make_work,), concurrency=workers).iter_rows()
    for task, row in zip(tasks, rows, strict=True):
        yield task, row["result"].value


class _Held:
    """What came of a task, as one value: Ray would take a bare tuple or array for a column of its own."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _Row:
    """Takes a task out of Ray's row and puts what comes of it into another; Ray carries it, as it does tasks."""

    def __init__(self, make_work: Callable[[], Any]) -> None:
        self._work = make_work()

    def __call__(self, row: dict[str, Any]) -> dict[str, _Held]:
        return {"result": _Held(self._work(row["task"], lambda amount, stage: None))}


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise ImportError("the engine ray needs the package ray; install tacit[ray]") from None
    return ray

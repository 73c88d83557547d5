"""Ray Data as engine: row groups of Parquet dealt out over a cluster, what comes of them put together in order.

The row groups go through the same functions as without Ray, so labels are the same to the last byte, and a survey or
the counts of finite data, which add up, the same to the last bit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tacit.logs.episodes import LoggedEpisode, Problem, Problems, check_raw, episode_of
from tacit.logs.files import LogError
from tacit.logs.survey import Survey, survey_logs
from tacit.offline.label import Labelled, Piece, label_piece, raw_records
from tacit.offline.reward_model import RewardModel, load_model
from tacit.offline.tables.gathering import Gathered, gather
from tacit.problem.layout import Layout


class KeptProblems(Problems):
    """Problems as a worker finds them, to be sent back whole."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[Problem, bytes]] = []

    def add(self, problem: Problem, raw: bytes) -> None:
        """Keep a problem."""
        self.kept.append((problem, raw))


class Labeller:
    """Labels pieces; Ray makes one on each worker, with its own model."""

    def __init__(self, model: bytes, as_arrow: bool) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.tacit"
            path.write_bytes(model)
            self._model: RewardModel = load_model(path)
        self._as_arrow = as_arrow

    def __call__(self, piece: Piece) -> Labelled:
        """Return the labels of one piece."""
        return label_piece(self._model, piece, self._as_arrow)


class Gatherer:
    """Gathers the tuples of pieces."""

    def __init__(self, layout: Layout, assume_uniform: bool) -> None:
        self._layout, self._assume_uniform = layout, assume_uniform

    def __call__(self, piece: Piece) -> tuple[Gathered, list[tuple[Problem, bytes]]]:
        """Return the tuples of one piece, and what was wrong in it."""
        problems = KeptProblems()
        gathered = gather(_episodes(piece, problems), self._layout, self._assume_uniform, problems)
        gathered.flush()
        return gathered, problems.kept


class Surveyor:
    """Surveys pieces."""

    def __call__(self, piece: Piece) -> Survey:
        """Return what the episodes of one piece have in common."""
        return survey_logs(_episodes(piece, KeptProblems()))


def label_with_ray(pieces: Sequence[Piece], saved: Path, as_arrow: bool) -> Iterator[Labelled]:
    """Yield the labels of the pieces, in order."""
    yield from deal(pieces, Labeller, (saved.read_bytes(), as_arrow))


def survey_with_ray(pieces: Sequence[Piece]) -> Survey:
    """Return what the episodes of all pieces have in common."""
    survey = Survey()
    for part in deal(pieces, Surveyor, ()):
        survey.merge(part)
    return survey


def gather_with_ray(
    pieces: Sequence[Piece], layout: Layout, assume_uniform: bool, problems: Problems | None
) -> Gathered:
    """Return the tuples of all pieces."""
    own = problems if problems is not None else Problems()
    gathered = gather((), layout, assume_uniform)
    for part, found in deal(pieces, Gatherer, (layout, assume_uniform)):
        gathered.merge(part)
        for problem, raw in found:
            own.add(problem, raw)
    if problems is None:
        own.warn()
    return gathered


def deal(
    pieces: Sequence[Piece], work: Callable[..., Callable[[Piece], Any]], given: tuple[Any, ...]
) -> Iterator[Any]:
    """Yield work(*given)(piece) of each piece, in order; begins a local Ray unless one is running."""
    ray = _ray()
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    workers = min(max(int(ray.cluster_resources().get("CPU", 1)), 1), max(len(pieces), 1))
    dataset = ray.data.from_items(
        [{"piece": piece} for piece in pieces], override_num_blocks=max(len(pieces), 1)
    )
    for row in dataset.map(_Row, fn_constructor_args=(work, given), concurrency=workers).iter_rows():
        yield row["result"].value


class _Held:
    """What came of a piece, as one value: Ray would take a bare tuple or array for a column of its own."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _Row:
    """Takes a piece out of Ray's row and puts what comes of it into another; Ray carries it, as it does pieces."""

    def __init__(self, work: Callable[..., Callable[[Piece], Any]], given: tuple[Any, ...]) -> None:
        self._work = work(*given)

    def __call__(self, row: dict[str, Any]) -> dict[str, _Held]:
        return {"result": _Held(self._work(row["piece"]))}


def _episodes(piece: Piece, problems: Problems) -> Iterator[LoggedEpisode]:
    for raw in raw_records(piece):
        record, fault = check_raw(raw)
        if fault is None:
            yield episode_of(record, (raw.file, raw.line))
        else:
            problems.add(Problem(raw.file, raw.line, *fault), raw.text())


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise LogError("the engine ray needs the package ray; install tacit[ray]") from None
    return ray

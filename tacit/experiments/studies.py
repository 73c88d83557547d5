"""The studies by what their tasks do; how they are shown stands in `publish.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from rich.console import Console

from tacit.experiments.booking_encoding import encode_dialogues
from tacit.experiments.booking_task import expected_conversations, play_booking
from tacit.experiments.decoding import expected_tuples, play_decoding
from tacit.experiments.learning import Report, expected_episodes, play_learning
from tacit.experiments.tasks import Task


class Saved(Protocol):
    """An agent that is kept with a result."""

    def save(self, path: Any) -> None:
        """Write it to a file."""


class Study(NamedTuple):
    """What a task does, how much that is about, in which unit, and what is done once before all tasks.

    Each function takes a figure of the study first.
    """

    play: Callable[[Any, Task, Report], tuple[dict[str, Any], Saved | None]]
    expect: Callable[[Any, Task], int]
    unit: str = "episodes"
    prepare: Callable[[Any, Sequence[Task], Console], None] = lambda figure, tasks, console: None


LEARNING = Study(play_learning, expected_episodes)

STUDIES: Mapping[str, Study] = {
    "learning": LEARNING,
    "regret": LEARNING,
    "exploration": LEARNING,
    "decoding": Study(play_decoding, expected_tuples, "tuples"),
    "booking": Study(play_booking, expected_conversations, prepare=encode_dialogues),
}

"""Encodes what the tasks of the booking study will read, once, before they run: workers then only look it up.

What is encoded is kept in the user's cache (`tacit.text.small.cache`), chunk by chunk: an interruption loses one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tacit.envs.dialogues import Dialogue
from tacit.experiments.progress import QUIET
from tacit.experiments.studies.booking.sweep import BookingSweep
from tacit.experiments.tasks import StudyTask
from tacit.text.conversation import Conversation, Exchange, TextContext
from tacit.text.judges import REWARDED, UNREWARDED
from tacit.text.small.features import Pair
from tacit.text.small.model import SmallModel

CHUNK = 64
"""Dialogues encoded in one go: a few seconds of work."""


def encode_dialogues(sweep: BookingSweep, tasks: Sequence[StudyTask], console: Console) -> None:
    """Encode everything that the small model meets in the tasks; what is in the cache already takes a moment."""
    readers = [task for task in tasks if task.learner != "uniform" and uses_small(sweep, task.learner)]
    if not readers:
        return
    variants = list(dict.fromkeys(task.variant for task in readers))
    total = sum(len(sweep.dialogues[variant]) for variant in variants)
    model = SmallModel(sweep.settings.horizon)
    with EncodingBar(total, console) as bar:
        for variant in variants:
            for start in range(0, len(sweep.dialogues[variant]), CHUNK):
                some = sweep.dialogues[variant][start : start + CHUNK]
                pairs = [pair for dialogue in some for pair in pairs_of(dialogue)]
                model.prepare(pairs, feedback_of(some), lambda done, everything, what: None)
                bar.advance(len(some))


def uses_small(sweep: BookingSweep, learner: str) -> bool:
    """Return whether a learner reads with the small model."""
    return sweep.settings_of(learner).model == SmallModel.name


def pairs_of(dialogue: Dialogue) -> list[Pair]:
    """Return the choices that a dialogue may lead to: the question, and the booking after each question."""
    context = TextContext(dialogue.request, dialogue.profile)
    questions = tuple(question.text for question in dialogue.questions)
    bookings = tuple(booking.text for booking in dialogue.bookings)
    asked = [Conversation(context, (Exchange(q.text, q.answer),)) for q in dialogue.questions]
    return [(Conversation(context), questions), *((conversation, bookings) for conversation in asked)]


def feedback_of(dialogues: Sequence[Dialogue]) -> list[str]:
    """Return all that people may say in the end, and what the oracle is told in its place."""
    said = [text for dialogue in dialogues for text in (*dialogue.positive, *dialogue.negative)]
    return [REWARDED, UNREWARDED, *said]


class EncodingBar:
    """A bar in a terminal, a plain line now and then elsewhere. Use it in a `with` block."""

    def __init__(self, total: int, console: Console) -> None:
        self._total, self._done, self._console, self._spoke = total, 0, console, time.monotonic()
        columns = (TextColumn("reading dialogues"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._row = self._bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def advance(self, amount: int) -> None:
        """Note that so many more are encoded."""
        self._done += amount
        self._bar.update(self._row, completed=self._done)
        if not self._console.is_terminal and time.monotonic() - self._spoke >= QUIET:
            self._spoke = time.monotonic()
            self._console.print(
                f"reading dialogues: {self._done:,} of {self._total:,}", soft_wrap=True, highlight=False
            )

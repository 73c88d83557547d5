"""From logs to indices: the layout that logs have, and their episodes encoded in it.

`survey_logs` looks at every episode once: how many steps, which states in each step, which actions in each state, and
what contexts and feedback are: labels (few values), vectors (objects or lists of numbers, or many numbers) or text
(many strings). Rules that a log does not state are documented here and in `docs/log-format.md`:

- A state is known by its step and its label: one met in several steps becomes one state for each, `label (step 2)`.
- Where first states differ, a step before them, `(start)` with the one action `begin`, leads to them.
- Fractions and objects that serve as labels become strings: 0.5 is `"0.5"`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tacit.logs.episodes import Fault, LogError, LoggedEpisode
from tacit.logs.record import is_text_context
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite, Label, Space, Vectors

START, BEGIN = "(start)", "begin"
"""The state and the action before first states that differ."""
MOST_LABELS = 100
"""Distinct strings up to which contexts or feedback are labels."""
MOST_NUMBERS = 20
"""Distinct numbers up to which contexts or feedback are labels."""
MOST_STATES = 1000
"""Distinct states or actions of a step up to which they are labels."""
ALWAYS_LABELS = 10
"""Distinct strings that are labels however few episodes there are; beyond, half as many as episodes are text."""


@dataclass(frozen=True)
class ReadEpisode:
    """One episode in the layout's indices; `probabilities` are None where the log does not tell."""

    context: Encoded
    states: list[int]
    actions: list[int]
    feedback: Encoded
    probabilities: list[float | None]
    reward: float | None
    position: int = 0
    """Its line in the file, or its place among episodes in memory."""


@dataclass
class Values:
    """What was met of contexts or of feedback: their kinds, and distinct values while they are few."""

    kinds: Counter[str] = field(default_factory=Counter)
    shapes: Counter[tuple[str, ...] | int] = field(default_factory=Counter)
    distinct: set[Label] = field(default_factory=set)

    def add(self, value: Any) -> None:
        """Count one value."""
        if is_text_context(value):
            self.kinds["text"] += 1
        elif isinstance(value, dict):
            self.kinds["object"] += 1
            self.shapes[tuple(sorted(value))] += 1
        elif isinstance(value, list | tuple):
            self.kinds["list"] += 1
            self.shapes[len(value)] += 1
        else:
            self.kinds["string" if isinstance(value, str) else "number"] += 1
            if len(self.distinct) <= MOST_LABELS:
                self.distinct.add(label_of(value))

    def merge(self, other: Values) -> None:
        """Take in what others were met."""
        self.kinds += other.kinds
        self.shapes += other.shapes
        self.distinct |= other.distinct

    @property
    def is_text(self) -> bool:
        """Return whether the values are sentences: strings too many to be labels, or a request and a profile."""
        strings = self.kinds["string"] > 0 and too_many(self.distinct, self.kinds.total(), MOST_LABELS)
        return strings or self.kinds["text"] > 0

    def space(self, what: str) -> Space:
        """Return the space that the values are in, or raise if there is none."""
        vectors = self.kinds["object"] + self.kinds["list"]
        if vectors:
            if vectors < self.kinds.total() or len(self.shapes) > 1:
                raise LogError(
                    f"{what} must be labels or vectors of the same fields throughout, got {dict(self.kinds)} with "
                    f"{len(self.shapes)} shapes; fill in what is missing or give a layout"
                )
            shape = next(iter(self.shapes))
            return Vectors(shape) if isinstance(shape, int) else Vectors(len(shape), shape)
        if not self.kinds["string"] and len(self.distinct) > MOST_NUMBERS:
            return Vectors(1)
        if len(self.distinct) > MOST_LABELS:
            raise LogError(
                f"{what} must be labels or text, got more than {MOST_LABELS} distinct values of both"
            )
        return Finite(tuple(sorted(self.distinct, key=label_order)))


@dataclass
class Shape:
    """What was met in the episodes of one length: states and their actions in each step, contexts, feedback."""

    steps: list[dict[Label, set[Label]]]
    episodes: int = 0
    contexts: Values = field(default_factory=Values)
    feedback: Values = field(default_factory=Values)

    def merge(self, other: Shape) -> None:
        """Take in what another shape of as many steps met."""
        self.episodes += other.episodes
        self.contexts.merge(other.contexts)
        self.feedback.merge(other.feedback)
        for known, theirs in zip(self.steps, other.steps, strict=True):
            for state, offered in theirs.items():
                known.setdefault(state, set()).update(offered)

    def add(self, episode: LoggedEpisode) -> None:
        """Count one episode."""
        self.episodes += 1
        self.contexts.add(episode.context)
        self.feedback.add(episode.feedback)
        for known, step in zip(self.steps, episode.steps, strict=True):
            if len(known) <= MOST_STATES:
                offered = known.setdefault(label_of(step.state), set())
                if len(offered) <= MOST_STATES:
                    offered.add(label_of(step.action))
                    offered.update(map(label_of, step.actions or ()))


@dataclass
class Survey:
    """What all episodes of a log have in common, counted apart for each number of steps.

    >>> from tacit.logs.episodes import LoggedStep
    >>> survey = survey_logs([LoggedEpisode(1, "a", (LoggedStep("s", 0), LoggedStep("t", 1, (0, 1))), 1)])
    >>> survey.layout().states, survey.layout().actions
    ((('s',), ('t',)), (((0,),), ((0, 1),)))
    """

    shapes: dict[int, Shape] = field(default_factory=dict)

    def merge(self, other: Survey) -> None:
        """Take in what another survey met, of other episodes of the same logs."""
        for H, shape in other.shapes.items():
            if H not in self.shapes:
                self.shapes[H] = shape
            else:
                self.shapes[H].merge(shape)

    def add(self, episode: LoggedEpisode) -> None:
        """Count one episode."""
        H = len(episode.steps)
        if H not in self.shapes:
            self.shapes[H] = Shape([{} for _ in range(H)])
        self.shapes[H].add(episode)

    @property
    def horizons(self) -> dict[int, int]:
        """Return how many episodes have each number of steps."""
        return {H: shape.episodes for H, shape in sorted(self.shapes.items())}

    @property
    def common(self) -> Shape:
        """Return the shape that most episodes have."""
        if not self.shapes:
            raise LogError("logs must hold at least one whole episode, got none; see what was set aside")
        return max(self.shapes.values(), key=lambda shape: (shape.episodes, -len(shape.steps)))

    @property
    def text(self) -> tuple[str, ...]:
        """Return which of context, state, action and feedback are text."""
        common = self.common
        states = any(too_many(step, common.episodes, MOST_STATES) for step in common.steps)
        actions = any(
            too_many(offered, common.episodes, MOST_STATES)
            for step in common.steps
            for offered in step.values()
        )
        found = {
            "context": common.contexts.is_text,
            "state": states,
            "action": actions,
            "feedback": common.feedback.is_text,
        }
        return tuple(name for name, is_text in found.items() if is_text)

    def layout(self) -> Layout:
        """Return the layout of the episodes that have the most common number of steps."""
        if self.text:
            raise LogError(
                f"a layout has labels and vectors, got text in {', '.join(self.text)}; use the text model"
            )
        steps = list(self.common.steps)
        if len(steps[0]) > 1:
            steps = [{START: {BEGIN}}, *steps]
        several = Counter(state for step in steps for state in step)
        states = [sorted(step, key=label_order) for step in steps]
        return Layout(
            tuple(
                tuple(state if several[state] == 1 else step_label(state, h) for state in layer)
                for h, layer in enumerate(states)
            ),
            tuple(
                tuple(tuple(sorted(steps[h][state], key=label_order)) for state in layer)
                for h, layer in enumerate(states)
            ),
            self.common.contexts.space("contexts"),
            self.common.feedback.space("feedback"),
        )


def survey_logs(episodes: Iterable[LoggedEpisode]) -> Survey:
    """Return what the episodes have in common, in one pass and bounded memory."""
    survey = Survey()
    for episode in episodes:
        survey.add(episode)
    return survey


class LogReader:
    """Encodes logged episodes in a layout, or says which rule of it they break.

    >>> layout = Layout.regular([1, 2], n_actions=2, n_contexts=1, n_feedback=2)
    >>> from tacit.logs.episodes import LoggedStep
    >>> LogReader(layout).read(LoggedEpisode(1, 0, (LoggedStep(0, 1), LoggedStep(2, 0)), 1)).states
    [0, 1]
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._starts = layout.states[0] == (START,)
        self.steps = layout.horizon - self._starts  # that an episode of the log has
        self._count = 0  # episodes in memory that were read
        self._states: list[dict[Label, int]] = [
            {label: s for s, label in enumerate(layer)} for layer in layout.states
        ]
        self._actions = [
            [{label: a for a, label in enumerate(labels)} for labels in layer] for layer in layout.actions
        ]

    def read(self, episode: LoggedEpisode) -> ReadEpisode | Fault:
        """Return an episode in indices, or the rule that it breaks."""
        if len(episode.steps) != self.steps:
            return mixed_horizon(len(episode.steps), self.steps)
        states, actions = ([0], [0]) if self._starts else ([], [])
        probabilities: list[float | None] = [1.0] if self._starts else []
        for number, step in enumerate(episode.steps):
            found = self.locate(number, step.state, step.action)
            if isinstance(found, Fault):
                return found
            states.append(found[0])
            actions.append(found[1])
            probabilities.append(step.probability)
        try:
            context = self.encode_context(episode.context)
            feedback = self.encode_feedback(episode.feedback)
        except ValueError as error:
            return Fault("unknown-value", str(error))
        line = episode.source[1] if episode.source is not None else self._place()
        return ReadEpisode(context, states, actions, feedback, probabilities, episode.reward, line)

    def _place(self) -> int:
        self._count += 1
        return self._count

    def locate(self, number: int, state: Any, action: Any) -> tuple[int, int] | Fault:
        """Return (state, action) indices of step `number` of the log, counted from 0."""
        h = number + self._starts
        s = self.state_index(number, state)
        if s is None:
            return Fault("unknown-state", f"step {number + 1} must show a state of the layout, got {state!r}")
        a = self._actions[h][s].get(label_of(action))
        if a is None:
            offered = self.layout.actions[h][s]
            return Fault(
                "unknown-action", f"step {number + 1} must take one of {offered} in {state!r}, got {action!r}"
            )
        return s, a

    def state_index(self, number: int, state: Any) -> int | None:
        """Return the index of a state in its layer, None if the layout does not have it."""
        h, label = number + self._starts, label_of(state)
        found = self._states[h].get(label)
        return found if found is not None else self._states[h].get(step_label(label, h))

    def encode_context(self, value: Any) -> Encoded:
        """Return a context as the layout encodes it."""
        return _encode(self.layout.contexts, value, "context")

    def encode_feedback(self, value: Any) -> Encoded:
        """Return feedback as the layout encodes it."""
        return _encode(self.layout.feedback, value, "feedback")


def _encode(space: Space, value: Any, what: str) -> Encoded:
    return space.encode(label_of(value) if isinstance(space, Finite) else value, what)


def mixed_horizon(steps: int, horizon: int) -> Fault:
    """Return the fault of an episode with another number of steps than the layout has."""
    return Fault(
        "mixed-horizon",
        f"every episode must have {horizon} steps, got {steps}; end shorter ones with steps in an absorbing state, "
        "or fit logs of each length apart",
    )


def label_of(value: Any) -> Label:
    """Return a value as a label: strings and whole numbers as they are, all else as a string.

    >>> label_of(2.0), label_of(0.5), label_of({"b": 1, "a": 2})
    (2, '0.5', '{"a": 2, "b": 1}')
    """
    if isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else repr(value)
    return json.dumps(value, sort_keys=True)


def label_order(label: Label) -> tuple[bool, float, str]:
    """Return by what labels are sorted: numbers by size, then strings by alphabet."""
    return (True, 0.0, label) if isinstance(label, str) else (False, float(label), "")


def step_label(label: Label, h: int) -> str:
    """Return the label of a state that several steps have: its own and the layer's number."""
    return f"{label} (step {h + 1})"


def too_many(distinct: Iterable[Any], episodes: int, most: int) -> bool:
    """Return whether strings are too many to be labels: beyond `most`, or hardly one seen twice."""
    n = sum(isinstance(value, str) for value in distinct)
    return n > most or (n > ALWAYS_LABELS and n > episodes / 2)

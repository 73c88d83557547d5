"""Logged episodes in the indices of a layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tacit.logs.common_steps import CommonSteps
from tacit.logs.met_values import label_of
from tacit.logs.record import LABELS, EpisodeRecord, Fault, StepRecord
from tacit.logs.survey import START
from tacit.problem.layout import Layout
from tacit.problem.records import Record, Space, Text, TextEncoder, encode_value
from tacit.problem.seen import reads_text, seen_layout
from tacit.problem.silence import encode_feedback
from tacit.problem.spaces import Encoded, Finite, Label


class EncodedEpisode(NamedTuple):
    """One episode in the layout's indices, `ended` in one of its endings; `probabilities` are None if not told.

    Feedback is None where there is none: the episode was `abandoned`, after whatever number of steps (`ended` is -1 if
    it could not end there), or silence is taken to be missing.
    """

    context: Encoded
    states: list[int]
    actions: list[int]
    ended: int
    feedback: Encoded | None
    probabilities: list[float | None]
    reward: float | None
    position: int
    """Its line in the file, or its place among episodes in memory."""
    abandoned: bool = False

    @property
    def ending(self) -> tuple[int, int]:
        """Return the ending that the episode reached, and the action taken there."""
        return self.ended, self.actions[-1]


class Path(NamedTuple):
    """The way of an episode in the layout's indices, as `EncodedEpisode` has it; episodes may share one."""

    states: list[int]
    actions: list[int]
    ended: int
    probabilities: list[float | None]


class LogReader:
    """Encodes logged episodes in a layout, or says which rule of it they break.

    `encoder` reads text, where the layout has some; `seen` is the layout with what that makes of it.

    >>> layout = Layout.regular([1, 2], n_actions=2, n_contexts=1, n_feedback=2)
    >>> steps = [{"state": 0, "action": 1}, {"state": 2, "action": 0}]
    >>> LogReader(layout).read({"episode": 1, "context": 0, "steps": steps, "feedback": 1}, line=1).states
    [0, 1]
    """

    def __init__(self, layout: Layout, encoder: TextEncoder | None = None) -> None:
        self.layout, self.seen = layout, seen_layout(layout, encoder)
        self._encoder = encoder if reads_text(layout) else None
        self._starts = layout.states[0] == (START,)
        self.steps = layout.horizon - self._starts  # that an episode of the log has, or has at most
        self._states: list[dict[Label, int]] = [
            {label: s for s, label in enumerate(layer)} for layer in layout.states
        ]
        self._actions = [
            [{label: a for a, label in enumerate(labels)} for labels in layer] for layer in layout.actions
        ]

    def read(self, record: EpisodeRecord, line: int) -> EncodedEpisode | Fault:
        """Return an episode in indices, or the rule that it breaks; `line` is where it stands."""
        abandoned = bool(record.get("abandoned"))
        path = self._find_path(record["steps"], abandoned)
        if isinstance(path, Fault):
            return path
        try:
            context = self.encode_context(record["context"])
            feedback = None if abandoned else self.encode_feedback(record.get("feedback"))
        except ValueError as error:
            return Fault("unknown-value", str(error))
        return EncodedEpisode(
            context,
            path.states,
            path.actions,
            path.ended,
            feedback,
            path.probabilities,
            record.get("reward"),
            line,
            abandoned,
        )

    def _find_path(self, steps: list[StepRecord], abandoned: bool) -> Path | Fault:
        """Return what `encode_steps` does, of steps that records share once."""
        if not isinstance(steps, CommonSteps):
            return self.encode_steps(steps, abandoned)
        path: Path | Fault | None = steps.made.get((self, abandoned))
        if path is None:
            path = steps.made[self, abandoned] = self.encode_steps(steps, abandoned)
        return path

    def encode_steps(self, steps: list[StepRecord], abandoned: bool) -> Path | Fault:
        """Return the path of an episode in indices, or the rule that it breaks."""
        short = len(steps) < self.steps and (abandoned or self.layout.ends_early)
        if len(steps) != self.steps and not short:
            return mixed_horizon(len(steps), self.steps)
        states, actions = ([0], [0]) if self._starts else ([], [])
        probabilities: list[float | None] = [1.0] if self._starts else []
        for number, step in enumerate(steps):
            found = self.locate(number, step["state"], step["action"])
            if isinstance(found, Fault):
                return found
            states.append(found[0])
            actions.append(found[1])
            probabilities.append(step.get("probability"))
        ended = self.ending(len(steps), states[-1])
        if ended < 0 and not abandoned:
            return broken_off(len(steps), self.steps, steps[-1]["state"])
        return Path(states, actions, ended, probabilities)

    def ending(self, steps: int, state: int) -> int:
        """Return the ending of an episode of so many steps in the log, -1 if it cannot end in its last state."""
        return self.layout.endings.index.item(steps - 1 + self._starts, state)

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
        return self._states[number + self._starts].get(label_of(state))

    def encode_context(self, value: Any) -> Encoded:
        """Return a context as the layout encodes it."""
        return self._encode(self.layout.contexts, value, "context")

    def encode_feedback(self, value: Any) -> Encoded | None:
        """Return feedback as the layout encodes it; None for silence that is missing."""
        if value is not None:
            return self._encode(self.layout.feedback, value, "feedback")
        return encode_feedback(self.layout, None, encoder=self._encoder)

    def look_ahead(self, records: Iterable[EpisodeRecord]) -> None:
        """Have the encoder read the texts of several episodes at once: it keeps them until they are asked for."""
        if self._encoder is None:
            return
        texts: set[str] = set()
        for record in records:
            texts.update(_texts_in(self.layout.contexts, record["context"]))
            texts.update(_texts_in(self.layout.feedback, record.get("feedback")))
        if texts:
            self._encoder.embed(sorted(texts))

    def _encode(self, space: Space, value: Any, what: str) -> Encoded:
        if type(value) in LABELS and isinstance(
            space, Finite
        ):  # nearly all: no need to look for what stands for one
            return space.encode(value, what)
        shown = _with_labels(space, value)
        return encode_value(space, shown, what, self._encoder)


def _with_labels(space: Space, value: Any) -> Any:
    """Return a value with what stands for a label made one."""
    if isinstance(space, Finite):
        return label_of(value)
    if isinstance(space, Record) and isinstance(value, dict):
        labels = {name for name, field in space.fields.items() if isinstance(field, Finite)}
        return {name: label_of(each) if name in labels else each for name, each in value.items()}
    return value


def _texts_in(space: Space, value: Any) -> Iterator[str]:
    """Yield the texts of a value."""
    if isinstance(space, Text) and isinstance(value, str):
        yield value
    elif isinstance(space, Record) and isinstance(value, dict):
        for name, field in space.fields.items():
            if isinstance(field, Text) and isinstance(value.get(name), str):
                yield value[name]


def mixed_horizon(steps: int, horizon: int) -> Fault:
    """Return the fault of an episode with another number of steps than the layout has."""
    return Fault(
        "mixed-horizon",
        f"every episode must have {horizon} steps, got {steps}; where episodes end early let the layout say so in "
        "`ends`, or fit logs of each length apart",
    )


def broken_off(steps: int, horizon: int, state: Any) -> Fault:
    """Return the fault of an episode that stops in a state in which none can end."""
    return Fault(
        "mixed-horizon",
        f"an episode of fewer than {horizon} steps must stop where episodes end, got {steps} steps up to {state!r}; "
        "it broke off, or `ends` of the layout lacks this state",
    )

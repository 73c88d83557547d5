"""The layout that logs have.

`survey_logs` looks at every episode once: how many steps, which states in each step, which actions in each state, and
what contexts and feedback are (`tacit.logs.met_values`): labels, vectors, text or records. Where states or actions are
text, the logs are conversations, which have no layout. Rules that a log does not state are documented here and in
`docs/log-format.md`:

- A state is known by its step and its label: one met in several steps is a state of its own in each.
- Episodes end early where shorter ones did. Lengths that hardly any episode has, at either end, are left out.
- Where first states differ, a step before them, `(start)` with the one action `begin`, leads to them.
- Fractions and objects that serve as labels become strings: 0.5 is `"0.5"`.
- Silence is no value here: a layout says what it is taken for. Episodes that broke off, of any length, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from tacit.logs.common_steps import CommonSteps
from tacit.logs.met_values import MOST_NAMES, MetValues, label_of, label_order, too_many
from tacit.logs.reading import Logs, LogSource
from tacit.logs.record import EpisodeRecord, Fault, LogError
from tacit.logs.repeats import LogEntry
from tacit.problem.layout import COUNTS, MISSING, Layout
from tacit.problem.spaces import Label, Vectors

START, BEGIN = "(start)", "begin"
"""The state and the action before first states that differ."""
MOST_PHRASES = 1000
"""Distinct strings up to which the states of a step, or the actions of a state, are labels."""
MOST_STATES = 100_000
"""Distinct states that a step can have: counts follow what was seen, but every state has its row in a layout."""
MOST_ACTIONS = 10_000
"""Distinct actions that a state can have."""
MOST_PAIRS = 20_000_000
"""States of the largest step times actions of the longest menu: a layout holds a number of each in some arrays."""
HARDLY_ANY = 0.01
"""Share of the episodes that may be longer, or shorter, than all that a layout is made for."""


@dataclass
class MetStates:
    """What was met in one step: states and, of each, its actions; no more of either than would be refused."""

    actions: dict[Label, set[Label]] = field(default_factory=dict)
    strings: int = 0

    def add(self, state: Label, actions: Iterable[Label]) -> None:
        """Count a state and actions that it offers."""
        met = self.actions.get(state)
        if met is None:
            if self._is_full(state):
                return
            met = self.actions[state] = set()
            self.strings += isinstance(state, str)
        if len(met) <= MOST_ACTIONS:
            met.update(actions)

    def _is_full(self, state: Label) -> bool:
        """Return whether enough states of that kind were met: sentences beyond labels, or numbers beyond a layout."""
        if isinstance(state, str):
            return self.strings > MOST_PHRASES
        return len(self.actions) - self.strings > MOST_STATES

    def merge(self, other: MetStates) -> None:
        """Take in what was met in the same step of other episodes."""
        for state, offered in other.actions.items():
            self.add(state, offered)


@dataclass
class EpisodeShape:
    """What was met in the episodes of one length: states and their actions in each step, contexts, feedback."""

    steps: list[MetStates]
    episodes: int = 0
    contexts: MetValues = field(default_factory=lambda: MetValues(MOST_NAMES))
    feedback: MetValues = field(default_factory=MetValues)

    def merge(self, other: EpisodeShape) -> None:
        """Take in what another shape of as many steps met."""
        self.episodes += other.episodes
        self.contexts.merge(other.contexts)
        self.feedback.merge(other.feedback)
        for known, theirs in zip(self.steps, other.steps, strict=True):
            known.merge(theirs)

    def add(self, record: EpisodeRecord, walked: set[CommonSteps]) -> None:
        """Count one episode; steps that were `walked` before show nothing new, and shared ones are from now on."""
        self.episodes += 1
        self.contexts.add(record["context"])
        if (feedback := record.get("feedback")) is not None:
            self.feedback.add(feedback)
        steps = record["steps"]
        if isinstance(steps, CommonSteps):
            if steps in walked:
                return
            walked.add(steps)
        for known, step in zip(self.steps, steps, strict=True):
            offered = [step["action"], *(step.get("actions") or ())]
            known.add(label_of(step["state"]), map(label_of, offered))


@dataclass
class Survey:
    """What all episodes of a log have in common, counted apart for each number of steps.

    >>> from tacit.logs.episode import LoggedEpisode, LoggedStep
    >>> survey = survey_logs([LoggedEpisode(1, "a", (LoggedStep("s", 0), LoggedStep("t", 1, (0, 1))), 1)])
    >>> survey.layout().states, survey.layout().actions
    ((('s',), ('t',)), (((0,),), ((0, 1),)))
    """

    shapes: dict[int, EpisodeShape] = field(default_factory=dict)
    abandoned: int = 0

    def merge(self, other: Survey) -> None:
        """Take in what another survey met, of other episodes of the same logs."""
        self.abandoned += other.abandoned
        for H, shape in other.shapes.items():
            if H not in self.shapes:
                self.shapes[H] = shape
            else:
                self.shapes[H].merge(shape)

    def add(self, record: EpisodeRecord, walked: set[CommonSteps]) -> None:
        """Count one episode, unless it broke off; `walked` are shared steps of those that were counted."""
        if record.get("abandoned"):
            self.abandoned += 1
            return
        H = len(record["steps"])
        if H not in self.shapes:
            self.shapes[H] = EpisodeShape([MetStates() for _ in range(H)])
        self.shapes[H].add(record, walked)

    @property
    def horizons(self) -> dict[int, int]:
        """Return how many episodes have each number of steps."""
        return {H: shape.episodes for H, shape in sorted(self.shapes.items())}

    @property
    def common(self) -> EpisodeShape:
        """Return the shape that most episodes have."""
        if not self.shapes:
            raise LogError(
                f"logs must hold at least one whole episode, got none: {self.abandoned:,} broke off; log some that end"
            )
        return max(self.shapes.values(), key=lambda shape: (shape.episodes, -len(shape.steps)))

    @property
    def lengths(self) -> list[int]:
        """Return the numbers of steps that episodes have: all but a rare few, the shortest and the longest."""
        most, known = HARDLY_ANY * sum(self.horizons.values()), sorted(self.shapes)
        below = above = 0
        while len(known) > 1 and below + self.horizons[known[0]] < most:
            below += self.horizons[known.pop(0)]
        while len(known) > 1 and above + self.horizons[known[-1]] < most:
            above += self.horizons[known.pop()]
        return known

    @property
    def whole(self) -> EpisodeShape:
        """Return what was met in the episodes of all usual lengths together."""
        lengths = self.lengths
        if len(lengths) == 1:
            return self.shapes[lengths[0]]
        whole = EpisodeShape([MetStates() for _ in range(lengths[-1])])
        for H in lengths:
            shape = self.shapes[H]
            more = [MetStates() for _ in range(lengths[-1] - H)]
            whole.merge(EpisodeShape([*shape.steps, *more], shape.episodes, shape.contexts, shape.feedback))
        return whole

    @property
    def text(self) -> tuple[str, ...]:
        """Return which of context, state, action and feedback are text."""
        common = self.common
        states = any(too_many(step.actions, common.episodes, MOST_PHRASES) for step in common.steps)
        actions = any(
            too_many(offered, common.episodes, MOST_PHRASES)
            for step in common.steps
            for offered in step.actions.values()
        )
        found = {
            "context": common.contexts.is_text,
            "state": states,
            "action": actions,
            "feedback": common.feedback.is_text,
        }
        return tuple(name for name, is_text in found.items() if is_text)

    @property
    def is_conversation(self) -> bool:
        """Return whether the logs are conversations: states or actions are text, or contexts are requests."""
        return bool({"state", "action"} & set(self.text)) or self.common.contexts.kinds["text"] > 0

    def layout(self, silence: str | None = None) -> Layout:
        """Return the layout of the episodes of all usual lengths; they end early where shorter ones did.

        Silence counts unless something else is said; beside vectors it is missing.
        """
        if self.is_conversation:
            raise LogError(
                f"a layout has states and actions that are labels, got text in {', '.join(self.text)}; use the text "
                "model"
            )
        whole = self.whole
        steps = [step.actions for step in whole.steps]
        check_sizes(steps)
        ended = [
            self.shapes[H].steps[-1].actions if H in self.lengths else {} for H in range(1, len(steps) + 1)
        ]
        if len(steps[0]) > 1:
            steps, ended = [{START: {BEGIN}}, *steps], [{}, *ended]
        states = [sorted(step, key=label_order) for step in steps]
        ends = tuple(tuple(sorted(step, key=label_order)) for step in ended)
        feedback = whole.feedback.space("feedback")
        if silence is None:
            silence = MISSING if isinstance(feedback, Vectors) else COUNTS
        return Layout(
            tuple(map(tuple, states)),
            tuple(
                tuple(tuple(sorted(steps[h][state], key=label_order)) for state in layer)
                for h, layer in enumerate(states)
            ),
            whole.contexts.space("contexts"),
            feedback,
            ends=ends if any(ends[:-1]) else None,
            silence=silence,
        )


def check_sizes(steps: Sequence[Mapping[Label, AbstractSet[Label]]]) -> None:
    """Raise unless states and actions are as few as a layout can hold."""
    longest = 0
    for number, step in enumerate(steps, 1):
        if len(step) > MOST_STATES:
            raise LogError(
                f"a step can have {MOST_STATES:,} different states, step {number} has more; bin them, a number by the "
                "range it falls into, or give a layout of the states that matter"
            )
        longest = max(longest, *map(len, step.values()))
        if longest > MOST_ACTIONS:
            raise LogError(
                f"a state can have {MOST_ACTIONS:,} different actions, one of step {number} has more; bin them, or "
                "give a layout of the actions that matter"
            )
    most = max(map(len, steps))
    if most * longest > MOST_PAIRS:
        raise LogError(
            f"the states of a step times the actions of a state can be {MOST_PAIRS:,}, got {most:,} x {longest:,}; bin "
            "states or actions, or give a layout of those that matter"
        )


def survey_logs(logs: Logs) -> Survey:
    """Return what the episodes of logs have in common, in one pass and bounded memory; bad ones are left out."""
    return survey_entries(LogSource(logs))


def survey_entries(entries: Iterable[LogEntry]) -> Survey:
    """Return what those of the entries have in common that are episodes."""
    survey, walked = Survey(), set[CommonSteps]()
    for _, found in entries:
        if not isinstance(found, Fault):
            survey.add(found, walked)
    return survey

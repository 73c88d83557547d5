"""The handle of one episode, what was shown and done in it, and the rules that every handle keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.problem.spaces import Label, abridge_labels

LEAST_CHANCE = 1e-6
"""With which somebody else may have taken an action: one in a million hardly ever occurs, and would outweigh others."""


class Plan(Protocol):
    """How one episode will be played; fixed when it begins."""

    @property
    def stage(self) -> str:
        """Return the name of the stage that planned."""

    @property
    def explores(self) -> bool:
        """Return whether the episode is played to learn something rather than to earn."""

    def chances(self, step: int, shown: Any) -> FloatArray:
        """Return the probability of each action at a step, (K,), where `shown` is the state as the world reads it."""


class Step(NamedTuple):
    """One step in the user's own words: the state, the action taken, the actions on offer and its probability."""

    state: Label
    action: Label
    actions: tuple[Label, ...]
    probability: float


class StepReader(Protocol):
    """Who began an episode and can put its steps into the user's words: an agent."""

    def read_steps(self, episode: Episode) -> tuple[Step, ...]:
        """Return the steps taken so far."""


class Episode:
    """The handle of one episode: what it was given, what it did, whether it is still open.

    `context` is as the user knows it and `feedback` as it was given; `encoded` and `told` are the same as stages see
    them. `states` (as the world reads them), `actions` (indices) and `chances` have one entry a step, which is taken
    once its chance is there. `decoded_reward` is what the feedback was taken to mean, None while that is not known, and
    `decoded_interval` the bounds between which it lies whatever words both sides say; `outcome` the reward itself,
    0 or 1, where somebody knew it. Feedback None is silence, unless the episode was `abandoned`, or is open.
    """

    __slots__ = (
        "abandoned",
        "actions",
        "chances",
        "context",
        "decoded_interval",
        "decoded_reward",
        "draws",
        "encoded",
        "feedback",
        "id",
        "open",
        "outcome",
        "owner",
        "plan",
        "states",
        "told",
    )

    def __init__(
        self, owner: StepReader | None, number: int, context: Any, encoded: Any, plan: Plan, draws: FloatArray
    ) -> None:
        self.owner = owner
        self.id = number
        self.context = context
        self.encoded = encoded
        self.plan = plan
        self.draws = draws
        self.states: list[Any] = []
        self.actions: list[int] = []
        self.chances: list[float] = []
        self.feedback: Any = None
        self.told: Any = None
        self.outcome: int | None = None
        self.open = True
        self.abandoned = False
        self.decoded_reward: float | None = None
        self.decoded_interval: tuple[float, float] | None = None

    @property
    def probability(self) -> float:
        """Return the probability with which the last action was taken."""
        if not self.chances:
            raise ValueError(
                f"an action has a probability once it is taken, episode {self.id} has none; act first"
            )
        return self.chances[-1]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return what was shown and done, step by step."""
        assert self.owner is not None
        return self.owner.read_steps(self)

    def drop_torn_step(self) -> None:
        """Forget what an interrupt left of a step that was not taken."""
        taken = len(self.chances)
        if len(self.states) > taken:
            del self.actions[taken:], self.states[taken:]

    def __repr__(self) -> str:
        status = "open" if self.open else "ended"
        return f"Episode(id={self.id}, stage={self.plan.stage!r}, steps={len(self.chances)}, {status})"


def find_open(open_episodes: Mapping[int, Episode], number: int) -> Episode:
    """Return the open episode with that id, or raise ValueError."""
    try:
        return open_episodes[number]
    except KeyError:
        raise ValueError(f"there is no open episode {number!r}; see `open_episodes`") from None


def check_ours(agent: object, episode: object) -> None:
    """Raise ValueError unless `episode` is a handle that `agent` began."""
    if not isinstance(episode, Episode) or episode.owner is not agent:
        raise ValueError(
            f"an episode is played with the agent that began it, got {episode!r}; after loading an agent, "
            "take its open episodes from `open_episodes` or `episode(id)`"
        )


def check_open(episode: Episode) -> None:
    """Raise ValueError if the episode has ended."""
    if not episode.open:
        raise ValueError(f"episode {episode.id} has ended; call begin for a new one")


def refuse_end(episode: Episode, horizon: int, state: object) -> NoReturn:
    """Raise the ValueError of an episode that is to end where it cannot; `state` is its last, None if it has none."""
    taken = len(episode.actions)
    if state is None:
        raise ValueError(
            f"an episode has {horizon} steps before its feedback, episode {episode.id} "
            f"has taken {taken}; act at each step first, or abandon the episode"
        )
    raise ValueError(
        f"an episode has {horizon} steps before its feedback, episode {episode.id} has taken {taken}, and its last "
        f"state {state!r} is none in which one can end; act at each step first, abandon the episode if it broke off, "
        "or say where episodes end early: a layout in `ends`, the settings of conversations by `ends_early`"
    )


def refuse_step(episode: Episode, step: int, horizon: int, state: object) -> NoReturn:
    """Raise the ValueError of a state that is not the next one: after the last step, or of another layer."""
    taken = len(episode.actions)
    if taken == horizon:
        raise ValueError(
            f"an episode has {horizon} steps and episode {episode.id} has taken them all, "
            f"got state {state!r}; end it with its feedback"
        )
    raise ValueError(
        f"step {taken + 1} needs a state of layer {taken + 1}, got {state!r} of layer {step + 1}; "
        "show the states of an episode in order, each once"
    )


def check_told_the_same(episode: Episode, feedback: object, encoded: Any, outcome: int | None) -> None:
    """Raise ValueError if an episode that has ended is told anything else than it was: silence is no exception."""
    silent = feedback is None
    # Where words are taken in, the index of silence moves, and a word may have the one that it had.
    if silent != (episode.feedback is None) or not (silent or np.array_equal(episode.told, encoded)):
        known, given = f"feedback {episode.feedback!r}", repr(feedback)
    elif outcome not in (None, episode.outcome):
        known, given = f"outcome {episode.outcome!r}", repr(outcome)
    else:
        return
    raise ValueError(
        f"episode {episode.id} has ended with {known}, got {given}; "
        "an episode is learned from once: begin a new one"
    )


def read_taken(offered: Sequence[Label], action: Label, probability: object) -> tuple[int, float]:
    """Return index and chance of an action that somebody else took, one that is not known as 1; or raise ValueError.

    >>> read_taken(("ask", "show"), "show", 0.5), read_taken(("ask", "show"), "ask", None)
    ((1, 0.5), (0, 1.0))
    """
    if action not in offered:
        raise ValueError(
            f"an action that was taken is one of {abridge_labels(offered)}, got {action!r}; name it as the layout "
            "does, or give what was offered in `actions` where the layout is open"
        )
    if probability is None:
        return list(offered).index(action), 1.0
    if isinstance(probability, int | float) and LEAST_CHANCE <= probability <= 1:
        return list(offered).index(action), float(probability)
    raise ValueError(
        f"the probability of an action that was taken is a number from {LEAST_CHANCE:g} to 1, got {probability!r}; "
        "leave it out if it is not known"
    )


def read_outcome(outcome: object) -> int | None:
    """Return a known outcome as 0 or 1, None where there is none, or raise ValueError.

    >>> read_outcome(True), read_outcome(None)
    (1, None)
    """
    if outcome is None:
        return None
    if isinstance(outcome, int | float | np.number | np.bool_) and outcome in (0, 1):
        return int(outcome)
    raise ValueError(
        f"an outcome must be 0 or 1, got {outcome!r}; leave it out where it is in between or not known"
    )

"""The one place where problems are translated into what an agent can be told, and its answers back.

An agent that cannot be told of silence, known outcomes or endings at any turn is played as its users would play it
without: silence is an episode abandoned, outcomes are kept back, and episodes that ended go on through absorbing
states, one for each turn.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple
from warnings import WarningMessage

import numpy as np

from real_world.problem import Problem
from tacit.agent import Agent
from tacit.base.arrays import FloatArray
from tacit.learning.episode import Episode
from tacit.problem.layout import Layout, consecutive_states
from tacit.problem.spaces import Finite

ENDS = "ends"
"""The field of `Layout` that lists, turn by turn, the labels of the states in which an episode can end."""
INTERVAL = "decoded_interval"
"""The attribute of an episode that bounds its decoded reward: (low, high), or None."""
DRIFT_WORDS = ("drift", "changed")
"""What a warning that something is not what it was says, in one of these words."""


class Abilities(NamedTuple):
    """What an agent can be told."""

    silence: bool
    outcomes: bool
    endings: bool


TODAY = Abilities(False, False, False)
"""An agent that can be told nothing of it."""


@dataclass(frozen=True)
class Told:
    """A problem as an agent is told of it: the layout, the label of each state, and those to pass through at the end.

    `states` (H, S) are labels, `over` (outcomes, H) those of the absorbing states, none where episodes may end early.
    """

    layout: Layout
    states: tuple[tuple[int, ...], ...]
    over: tuple[tuple[int, ...], ...] = ()


def find_abilities() -> Abilities:
    """Return what the agent of this version can be told, found by trying."""
    layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    agent = Agent(layout)
    episode = agent.begin(0)
    agent.act(episode, 0)
    try:
        agent.end(episode, None)
        silence = True
    except (ValueError, TypeError):
        silence = False
    outcomes = "outcome" in inspect.signature(Agent.end).parameters
    return Abilities(silence, outcomes, ENDS in {field.name for field in fields(Layout)})


def layout_of(problem: Problem, endings: bool) -> Told:
    """Return what an agent is told of a problem; with `endings` where episodes can end, otherwise they are padded."""
    return lay_out(problem, endings, problem.n_contexts, problem.n_words, paddings=1)


def layout_with_reward(problem: Problem) -> Told:
    """Return what is told to a learner that sees the reward: two words, and which of two absorbing states it was.

    Where that is padded, what leads to the one or the other differs by context, so each has a learner of its own.
    """
    contexts = 1 if problem.ends_early else problem.n_contexts
    return lay_out(problem, False, contexts, 2, paddings=2)


def lay_out(problem: Problem, endings: bool, n_contexts: int, words: int, paddings: int) -> Told:
    """Return a problem in a layout; where episodes can end early and it cannot say so, with absorbing states."""
    K, contexts, feedback = problem.n_actions, Finite(range_of(n_contexts)), Finite(range_of(words))
    if not problem.ends_early or endings:
        actions = tuple((range_of(K),) * len(layer) for layer in problem.labels)
        more: dict[str, Any] = {ENDS: problem.ends} if problem.ends_early else {}
        return Told(Layout(problem.labels, actions, contexts, feedback, **more), problem.labels)
    sizes = [len(layer) + (paddings if h else 0) for h, layer in enumerate(problem.labels)]
    numbered = tuple(tuple(map(int, layer)) for layer in consecutive_states(sizes))
    layout = Layout(numbered, tuple((range_of(K),) * n for n in sizes), contexts, feedback)
    # None at the first turn, which no episode has passed yet when it ends.
    over = tuple((-1, *(layer[n - paddings] for layer in numbered[1:])) for n in range(paddings))
    return Told(layout, numbered, over)


def range_of(n: int) -> tuple[int, ...]:
    """Return the labels 0 .. n - 1."""
    return tuple(range(n))


def tell(
    agent: Agent, episode: Episode, heard: int | None, outcome: int | None, abilities: Abilities
) -> None:
    """End an episode with what was heard, None for silence, and with its outcome where that is known."""
    if heard is None and not abilities.silence:
        agent.abandon(episode)
    elif outcome is not None and abilities.outcomes:
        agent.end(episode, heard, outcome=outcome)  # type: ignore[call-arg, unused-ignore]
    else:
        agent.end(episode, heard)


def played_policy(episode: Episode, problem: Problem) -> FloatArray | None:
    """Return the policy (H, S, K) that an episode was played by, None if its plan does not hold one."""
    policy = getattr(episode.plan, "policy", None)
    H, S, K = problem.n_turns, problem.n_states, problem.n_actions
    if not isinstance(policy, np.ndarray) or policy.ndim != 3:
        return None
    if policy.shape[0] != H or policy.shape[1] < S or policy.shape[2] != K:
        return None
    return policy[:, :S]


def decoded_of(episode: Episode) -> tuple[float, float, float]:
    """Return what feedback was taken to mean with bounds, NaN where it is not known or not bounded."""
    decoded = episode.decoded_reward
    if decoded is None:
        return np.nan, np.nan, np.nan
    low, high = getattr(episode, INTERVAL, None) or (np.nan, np.nan)
    return float(decoded), float(low), float(high)


def says_drift(messages: Sequence[WarningMessage]) -> bool:
    """Return whether a warning says that something has changed."""
    texts = [str(message.message).lower() for message in messages]
    return any(word in text for text in texts for word in DRIFT_WORDS)

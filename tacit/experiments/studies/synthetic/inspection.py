"""What the report shows of one agent: where it got, what it thinks feedback means, what it does about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.agent import Agent
from tacit.base.arrays import FloatArray
from tacit.learning.policy_learning import PolicyLearning
from tacit.planning.reachability import homing_episodes
from tacit.problem.layout import Layout
from tacit.problem.mdp import ContextualMDP, largest_reach, solve_optimal, state_distribution
from tacit.problem.spaces import Finite


@dataclass(frozen=True)
class Reach:
    """How one last-layer state was found (Lemma 3.2, Eq. 2), the tuples it gave, and the true p*."""

    state: str
    frequency: float
    low: float
    high: float
    reachable: bool
    tuples: int
    best: float


@dataclass(frozen=True)
class Verdict:
    """One feedback: the posterior over actions h(x, y, s) and what each action would decode to, J(h, a)."""

    feedback: str
    posterior: list[float]
    decoded: list[float]


@dataclass(frozen=True)
class StateMeaning:
    """What every feedback means in one last state and one context."""

    state: str
    context: str
    actions: list[str]
    verdicts: list[Verdict]


@dataclass(frozen=True)
class StateChoice:
    """How one state is played, learned and optimal, and how often the learned policy visits it."""

    state: str
    actions: list[str]
    learned: list[float]
    optimal: list[float]
    visited: float


@dataclass(frozen=True)
class Behaviour:
    """The policy of one context."""

    context: str
    choices: list[StateChoice]


@dataclass(frozen=True)
class Inspection:
    """All that the report shows of an agent in policy learning."""

    threshold: float
    needed: int
    reached: list[Reach]
    meanings: list[StateMeaning]
    behaviours: list[Behaviour]


def inspect(agent: Agent, mdp: ContextualMDP) -> Inspection | None:
    """Return what is worth showing, None for an agent that is not in policy learning or not finite."""
    stage, layout = agent.stage, agent.layout
    if not isinstance(stage, PolicyLearning) or not isinstance(layout.contexts, Finite):
        return None
    return Inspection(
        threshold=4 * agent.settings.homing.epsilon,  # eq. (2)
        needed=homing_episodes(layout, agent.settings.homing.epsilon, agent.settings.homing.delta),
        reached=list_reached(stage, mdp),
        meanings=list_state_meanings(stage, layout),
        behaviours=list_behaviours(stage, mdp),
    )


def list_reached(stage: PolicyLearning, mdp: ContextualMDP) -> list[Reach]:
    """Return one entry for each last-layer state."""
    found, layout, best = stage.exploration, mdp.layout, largest_reach(mdp)[-1]
    return [
        Reach(
            state=layout.endings.name(s),
            frequency=float(found.frequency[s]),
            low=float(found.low[s]),
            high=float(found.high[s]),
            reachable=bool(found.reachable[s]),
            tuples=int(found.tuples[s]),
            best=float(best[s]),
        )
        for s in range(layout.endings.size)
    ]


def list_state_meanings(stage: PolicyLearning, layout: Layout) -> list[StateMeaning]:
    """Return the posterior and the decoder's verdict for each fitted last state and each context."""
    if (
        stage.decoder is None
        or not isinstance(layout.contexts, Finite)
        or not isinstance(layout.feedback, Finite)
    ):
        return []
    return [
        StateMeaning(
            state=layout.endings.name(s),
            context=str(label),
            actions=_action_names(layout, layout.horizon - 1, s),
            verdicts=[_verdict(stage, layout, x, y, s) for y in range(layout.feedback.size)],
        )
        for s in map(int, np.flatnonzero(stage.decoder.posterior.states))
        for x, label in enumerate(layout.contexts.labels)
    ]


def list_behaviours(stage: PolicyLearning, mdp: ContextualMDP) -> list[Behaviour]:
    """Return the learned policy beside the optimal one, for each context."""
    layout, best = mdp.layout, solve_optimal(mdp)
    assert isinstance(layout.contexts, Finite)
    return [
        Behaviour(str(label), _choices(mdp, stage.learner.plan(x)[0], best.policies[x]))
        for x, label in enumerate(layout.contexts.labels)
    ]


def _choices(mdp: ContextualMDP, learned: FloatArray, optimal: FloatArray) -> list[StateChoice]:
    layout, visits = mdp.layout, state_distribution(mdp, learned)
    return [
        StateChoice(
            state=layout.name(h, s),
            actions=_action_names(layout, h, s),
            learned=_shares(layout, learned, h, s),
            optimal=_shares(layout, optimal, h, s),
            visited=float(visits[h, s]),
        )
        for h in range(layout.horizon)
        for s in range(layout.n_states[h])
    ]


def _verdict(stage: PolicyLearning, layout: Layout, x: int, y: int, s: int) -> Verdict:
    assert stage.decoder is not None
    assert isinstance(layout.feedback, Finite)
    posterior = stage.decoder.posterior.predict(x, y, s)
    decoded = [float(stage.decoder.decode(x, y, s, a)) for a in range(len(posterior))]
    return Verdict(str(layout.feedback.labels[y]), [float(p) for p in posterior], decoded)


def _action_names(layout: Layout, h: int, s: int) -> list[str]:
    """Return the labels that are words; a number n becomes the paper's a_(n+1)."""
    labels = layout.actions[h][s]
    return [label if isinstance(label, str) else f"a{a + 1}" for a, label in enumerate(labels)]


def _shares(layout: Layout, policy: FloatArray, h: int, s: int) -> list[float]:
    return [float(p) for p in policy[h, s, : layout.n_actions[h, s]]]

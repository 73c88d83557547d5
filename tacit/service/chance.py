"""What choosing at random would earn, estimated from episodes in which everything was tried, whatever policy played.

An episode weighs as much as uniform play would have made its actions likelier than they were:

    w = prod_h (1 / K_h) / p_h,    the estimate is sum w r / sum w,    worth (sum w)^2 / sum w^2 episodes.

Where words are counted, episodes are read by what is known now: many of those that explored ended before anything was.
Weights are 1 in the mean where everything that uniform play would do was done now and then. A policy that never tries
something tells nothing of it, and weights fall short of 1: such times are left out (`tacit.service.history`).
"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.agent import Agent
from tacit.decoding.judgement import UNKNOWN
from tacit.learning.fast import FastLearning
from tacit.learning.layered import Layered
from tacit.service.accounts import Account
from tacit.service.bodies import StepTaken
from tacit.service.history import estimate
from tacit.service.page_bodies import ChanceEstimate

LEAST_WORTH = 10.0
"""Episodes that an estimate must be worth to be shown."""
LEAST_COVERED = 0.5
"""Part of what uniform play would do that must be read: the rest may be unlike it."""


def estimate_chance(agent: Agent, accounts: Iterable[Account]) -> ChanceEstimate | None:
    """Return what uniform play would earn, None if these episodes hardly tell."""
    weights = squares = rewards = 0.0
    episodes = 0
    for account in accounts:
        weight = weigh_steps(agent, account.steps)
        if weight is None:
            continue
        episodes += 1
        reward = read_now(agent, account)
        if reward is not None:
            weights, squares, rewards = weights + weight, squares + weight**2, rewards + weight * reward
    if squares == 0 or weights**2 / squares < LEAST_WORTH or weights < LEAST_COVERED * episodes:
        return None
    found = estimate(rewards / weights, weights**2 / squares, episodes)
    return ChanceEstimate(found.mean, found.low, found.high, episodes, round(min(weights / episodes, 1.0), 3))


def weigh_steps(agent: Agent, steps: Iterable[StepTaken]) -> float | None:
    """Return how much likelier uniform play would have made some actions, None if that is not known."""
    weight = 1.0
    for step in steps:
        K = count_menu(agent, step)
        if (
            K is None or step.probability is None or step.baseline
        ):  # a fixed choice tells nothing of the others
            return None
        weight /= K * step.probability
    return weight


def count_menu(agent: Agent, step: StepTaken) -> int | None:
    """Return how many actions there were to choose from at a step, as far as the layout says now."""
    if step.actions is not None:
        return len(step.actions)
    if not isinstance(agent.world, Layered):
        return None
    layout, h = agent.world.layout, step.step - 1
    s = layout.find(step.state, h) if h < layout.horizon else None
    return None if s is None else int(layout.mask[h, s].sum())


def read_now(agent: Agent, account: Account) -> float | None:
    """Return what feedback means by what is known now, where words are counted; else what it was read as."""
    stage, world = agent.stage, agent.world
    if not isinstance(stage, FastLearning) or not isinstance(world, Layered):
        return None if account.decoded is None else account.decoded.reward
    layout, last, h = world.layout, account.steps[-1], len(account.steps) - 1
    s = layout.find(last.state, h)
    if s is None:
        return None
    try:
        x, y = world.read_context(account.context), world.read_feedback(account.feedback)
        a = layout.actions[h][s].index(last.action)
    except ValueError:
        return None
    judgement = stage.places.judgements.get(stage.place_of(layout.endings.index.item(h, s), int(x)))
    if judgement is None or judgement.kind == UNKNOWN or y is None:
        return None
    return float(judgement.rewards[int(y), a])

"""What an agent makes of an episode that it did not play: labels for logged episodes, by what it knows now."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.agent import Agent
from tacit.learning.episode import Episode, Plan
from tacit.learning.world import World
from tacit.service.bodies import DecodedBody, LoggedBody


def label_episode(agent: Agent, told: LoggedBody) -> DecodedBody | None:
    """Return what the feedback of a logged episode decodes to, None while the agent cannot tell; nothing is learned.

    A stage learns by returning what it would change: what it decodes on the way is the label.
    """
    world = agent.world
    episode = probe(agent, world, told.context, world.uniform_plan(agent.stage))
    for number, step in enumerate(told.steps, 1):
        at, shown = world.read_state(episode, step.state, step.actions, number)
        offered = world.offered(at, shown)
        if step.action not in offered:
            raise ValueError(f"an action is one of {list(offered)[:8]}, got {step.action!r} in step {number}")
        index = offered.index(step.action)
        episode.states.append(shown)
        episode.actions.append(index)
        episode.chances.append(float(episode.plan.chances(at, shown)[index]) or 1.0)
    if not episode.states:
        raise ValueError("an episode has at least one step, got none")
    return decoded_of(*_decode(agent, episode, world.read_feedback(told.feedback)))


def probe(agent: Agent, world: World, context: Any, plan: Plan | None = None) -> Episode:
    """Return an episode that the agent knows nothing of, to try something out; it is planned if no plan is given."""
    encoded = world.read_context(context)
    chosen = plan if plan is not None else agent.stage.plan(encoded, 0.5)
    return Episode(agent, -1, context, encoded, chosen, np.zeros(0))


def decoded_of(reward: float | None, interval: tuple[float, float] | None) -> DecodedBody | None:
    """Return a decoded reward as an answer has it; confidence is how likely the nearer of 0 and 1 is right."""
    if reward is None:
        return None
    low, high = interval or (reward, reward)
    return DecodedBody(reward, max(reward, 1 - reward), low, high)


def _decode(agent: Agent, episode: Episode, feedback: Any) -> tuple[float | None, tuple[float, float] | None]:
    lesson = agent.stage.learn(episode, feedback, None)
    return lesson.decoded_reward, lesson.decoded_interval

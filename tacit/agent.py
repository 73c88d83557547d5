"""The agent: begin, act, end. The one object every driver talks to, playing Algorithm 1 stage by stage."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.base.checkpoint import load_tree, save_tree
from tacit.base.randomness import EpisodeDraws, draw_index
from tacit.learning.collection import Collection
from tacit.learning.fast import FastLearning
from tacit.learning.handles import (
    check_complete,
    check_open,
    check_ours,
    find_open,
    refuse_more_steps,
    refuse_other_feedback,
)
from tacit.learning.homing import Homing
from tacit.learning.policy_learning import PolicyLearning
from tacit.learning.settings import Settings
from tacit.learning.stage import Episode, Plan, Stage
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Label

KIND = "agent"

STAGES: Mapping[str, type[Stage]] = {
    stage.name: stage for stage in (Homing, Collection, PolicyLearning, FastLearning)
}
"""The stages of both recipes by name; `Agent.load` takes others to load agents made of other stages."""


class Agent:
    """Learns from feedback over whole episodes; see `begin`, `act` and `end`.

    It owns no loop and sees no environment. Episodes are handles: many can be open at once, and feedback may
    come late, in any order, twice or never. `stage` defaults to the first of `settings.recipe`.

    >>> layout = Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2)
    >>> agent = Agent(layout, seed=1)
    >>> episode = agent.begin(0)
    >>> first = agent.act(episode, 0)
    >>> last = agent.act(episode, 2)
    >>> agent.end(episode, 1)
    >>> episode
    Episode(id=0, stage='fast learning', steps=2, ended)
    """

    def __init__(
        self, layout: Layout, settings: Settings | None = None, seed: int = 0, stage: Stage | None = None
    ) -> None:
        self.layout = layout
        self.settings = settings if settings is not None else Settings()
        self.stage: Stage = stage if stage is not None else first_stage(layout, self.settings)
        # One draw for the plan, then one for each step.
        self._draws = EpisodeDraws(seed, layout.horizon + 1)
        self._next_id = 0
        self._open: dict[int, Episode] = {}

    @property
    def seed(self) -> int:
        """Return the seed that all chance in the agent's episodes follows from."""
        return self._draws.seed

    @property
    def open_episodes(self) -> tuple[Episode, ...]:
        """Return the episodes that have begun and not ended, oldest first."""
        return tuple(self._open.values())

    def episode(self, number: int) -> Episode:
        """Return the open episode with that id."""
        return find_open(self._open, number)

    @property
    def next_episode(self) -> int:
        """Return the id that the next episode will have: how many have begun."""
        return self._next_id

    def begin(self, context: Any) -> Episode:
        """Return the handle of a new episode; the present stage plans it, nothing is learned."""
        encoded = self.layout.contexts.encode(context, "context")
        draws = self._draws.row(self._next_id)
        episode = Episode(self, self._next_id, context, encoded, self.stage.plan(encoded, draws[0]), draws)
        self._open[episode.id] = episode
        self._next_id += 1
        return episode

    def act(self, episode: Episode, state: Any) -> Label:
        """Return the action for `state`; asked again for the same state, the same action."""
        check_ours(self, Episode, episode)
        layer, s = self.layout.locate(state)
        steps = len(episode.states)
        if layer == steps - 1 and episode.states[layer] == s:
            return self.layout.actions[layer][s][episode.actions[layer]]
        check_open(episode)
        if layer != steps:
            self._refuse_step(episode, layer, state)
        action = draw_index(episode.plan.policy[layer, s], episode.draws[layer + 1])
        episode.states.append(s)
        episode.actions.append(action)
        return self.layout.actions[layer][s][action]

    def end(self, episode: Episode, feedback: Any) -> None:
        """Learn from the feedback of a finished episode, and hand over to the next stage when it is time.

        Ending twice with the same feedback does nothing the second time; `episode.decoded_reward` is what
        the feedback was taken to mean, None while the agent cannot tell.
        """
        check_ours(self, Episode, episode)
        encoded = self.layout.feedback.encode(feedback, "feedback")
        if not episode.open and episode.feedback is not None:
            if np.array_equal(self.layout.feedback.encode(episode.feedback, "feedback"), encoded):
                return
            refuse_other_feedback(episode, feedback)
        check_open(episode)
        check_complete(episode, len(episode.actions), self.layout.horizon)
        self._close(episode, feedback, encoded)

    def abandon(self, episode: Episode) -> None:
        """Close an episode whose feedback will never come; its transitions are still learned from."""
        check_ours(self, Episode, episode)
        if episode.open:
            self._close(episode, None, None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, open episodes included; `load` continues bit for bit."""
        tree = {
            "layout": self.layout.to_json(),
            "settings": self.settings.to_json(),
            "seed": self.seed,
            "next_id": self._next_id,
            "stage": self.stage.name,
            "stage_state": self.stage.to_state(),
            "open": [self._episode_state(episode) for episode in self._open.values()],
        }
        save_tree(path, KIND, tree)

    @classmethod
    def load(cls, path: str | os.PathLike[str], stages: Mapping[str, type[Stage]] = STAGES) -> Agent:
        """Return the agent that `save` wrote; `stages` lists the classes it may be made of, by name."""
        tree = load_tree(path, KIND)
        if tree["stage"] not in stages:
            raise ValueError(
                f"the agent in {os.fspath(path)!r} is in stage {tree['stage']!r}, "
                f"known are {sorted(stages)}; pass the stage's class in `stages`, for the baselines "
                "stages=tacit.baselines.ALL_STAGES"
            )
        layout, settings = Layout.from_json(tree["layout"]), Settings.from_json(tree["settings"])
        stage = stages[tree["stage"]].from_state(layout, settings, tree["stage_state"])
        agent = cls(layout, settings, tree["seed"], stage)
        agent._next_id = tree["next_id"]
        for state in tree["open"]:
            agent._open[state["id"]] = agent._restore_episode(state)
        return agent

    def _close(self, episode: Episode, feedback: Any, encoded: Encoded | None) -> None:
        episode.decoded_reward = self.stage.learn(episode, encoded)
        episode.open, episode.feedback = False, feedback
        del self._open[episode.id]
        while (following := self.stage.next()) is not self.stage:
            self.stage = following
            for remark in following.remarks:
                warnings.warn(remark, stacklevel=3)

    def _refuse_step(self, episode: Episode, layer: int, state: Any) -> None:
        steps, horizon = len(episode.states), self.layout.horizon
        if steps == horizon:
            refuse_more_steps(episode, horizon, state)
        raise ValueError(
            f"step {steps + 1} needs a state of layer {steps + 1}, got {state!r} of layer {layer + 1}; "
            "show the states of an episode in order, each once"
        )

    def _restore_episode(self, state: Mapping[str, Any]) -> Episode:
        plan = Plan(**state["plan"])
        encoded = self.layout.contexts.encode(state["context"], "context")
        episode = Episode(self, state["id"], state["context"], encoded, plan, self._draws.row(state["id"]))
        episode.states, episode.actions = list(state["states"]), list(state["actions"])
        return episode

    def _episode_state(self, episode: Episode) -> dict[str, Any]:
        return {
            "id": episode.id,
            "context": self.layout.contexts.decode(episode.encoded),
            "plan": episode.plan._asdict(),
            "states": episode.states,
            "actions": episode.actions,
        }


def first_stage(layout: Layout, settings: Settings) -> Stage:
    """Return the stage that a recipe begins with: homing for the paper's Algorithm 1."""
    return Homing(layout, settings) if settings.recipe == "paper" else FastLearning(layout, settings)

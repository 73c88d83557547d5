"""The layout of a Gymnasium environment that was not made for Tacit, read off its spaces or off random episodes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import gymnasium as gym

from tacit.base.validation import check_whole
from tacit.envs.gym_adapter import Reader, read_label, read_state
from tacit.problem.layout import ANYWHERE, Layout
from tacit.problem.spaces import Finite, Label

EVERYBODY = "everybody"
"""The context of environments that have none."""


def layout_of(
    env: gym.Env[Any, Any],
    feedback: Sequence[Label] | Finite,
    contexts: Sequence[Label] | Finite = (EVERYBODY,),
    turns: int | None = None,
    episodes: int = 0,
    seed: int = 0,
    state_of: Reader | None = None,
) -> Layout:
    """Return the layout of an environment with Discrete actions: its states at every turn, ends anywhere.

    `feedback` are the words that people may say at the end, `contexts` who they may be, each a `tacit.Finite` if it is
    to be an open one. There are as many `turns` as
    the environment's time limit has. Where observations are Discrete, all of them are states; with `episodes`, or where
    they are something else that `state_of` makes labels of, those that so many random episodes show, from the turn on
    at which one was first seen.

    >>> lake = gym.make("FrozenLake-v1", max_episode_steps=12)
    >>> layout = layout_of(lake, feedback=("thanks", "hmm"))
    >>> layout.horizon, len(layout.states[-1]), layout.ends
    (12, 16, 'anywhere')
    >>> len(layout_of(lake, feedback=("thanks", "hmm"), episodes=300).states[-1]) <= 16
    True
    """
    limit = turns if turns is not None else getattr(env.spec, "max_episode_steps", None)
    if limit is None:
        raise ValueError(
            f"a layout has a layer for each turn, {env} has no time limit; say how many `turns` an episode has at most"
        )
    check_whole("turns", limit, 1)
    first = _start_of(env, seed, state_of)
    space, actions = env.observation_space, _actions_of(env)
    if episodes == 0 and state_of is None and isinstance(space, gym.spaces.Discrete):
        every = tuple(range(int(space.start), int(space.start + space.n)))
        states = ((first,), *(every,) * (limit - 1))
        return _lay_out(states, actions, contexts, feedback, ANYWHERE if limit > 1 else None)
    check_whole("episodes", episodes, 1)
    seen, early = _look_around(env, limit, episodes, seed, state_of)
    states = tuple(tuple(s for s, turn in seen.items() if turn <= h) for h in range(1, limit))
    return _lay_out(((first,), *states), actions, contexts, feedback, ANYWHERE if early else None)


def _lay_out(
    states: tuple[tuple[Label, ...], ...],
    actions: tuple[int, ...],
    contexts: Sequence[Label] | Finite,
    feedback: Sequence[Label] | Finite,
    ends: str | None,
) -> Layout:
    offered = tuple((actions,) * len(layer) for layer in states)
    return Layout(states, offered, _finite(contexts), _finite(feedback), ends=ends)


def _finite(labels: Sequence[Label] | Finite) -> Finite:
    return labels if isinstance(labels, Finite) else Finite(tuple(labels))


def _start_of(env: gym.Env[Any, Any], seed: int, state_of: Reader | None) -> Label:
    """Return the state in which episodes begin, which must be the same for all."""
    read = state_of or read_state
    shown = {_label_of(env, read, *env.reset(seed=seed + n)) for n in range(10)}
    if len(shown) > 1:
        raise ValueError(
            f"episodes must begin in one state, {env} began in {sorted(map(str, shown))}; make what differs the "
            "context, or begin with a state of your own that leads to these"
        )
    first: Label = shown.pop()
    return first


def _label_of(env: gym.Env[Any, Any], read: Reader, observation: Any, info: Mapping[str, Any]) -> Label:
    """Return the state of an observation, or raise ValueError if it is no label."""
    state: Label = read_label(read(observation, info))
    if not isinstance(state, Hashable):  # of lists and arrays there are no labels
        raise ValueError(
            f"states are labels, {env} with {env.observation_space} shows {state!r}"[:300]
            + "; give `state_of`, which makes a label of an observation"
        )
    return state


def _actions_of(env: gym.Env[Any, Any]) -> tuple[int, ...]:
    space = env.action_space
    if not isinstance(space, gym.spaces.Discrete):
        raise ValueError(
            f"a layout has a list of actions, {env} has {space}; wrap it in one with Discrete actions"
        )
    return tuple(range(int(space.start), int(space.start + space.n)))


def _look_around(
    env: gym.Env[Any, Any], limit: int, episodes: int, seed: int, state_of: Reader | None
) -> tuple[dict[Label, int], bool]:
    """Return the turn at which random episodes first showed each state, and whether one ended before the last."""
    read, seen, early = state_of or read_state, dict[Label, int](), False
    env.action_space.seed(seed)
    for n in range(episodes):
        observation, info = env.reset(seed=seed if n == 0 else None)
        for turn in range(1, limit + 1):
            observation, _, terminated, truncated, info = env.step(env.action_space.sample())
            if terminated or truncated:
                early |= turn < limit
                break
            state = _label_of(env, read, observation, info)
            seen[state] = min(turn, seen.get(state, turn))
    return seen, early

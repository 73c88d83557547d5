"""The loop that plays an agent in a simulated environment; the only one there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import gymnasium as gym
import numpy as np

from tacit.agent import Agent
from tacit.base.arrays import BoolArray, FloatArray
from tacit.envs.gym_adapter import GymSource
from tacit.learning.episode import Episode
from tacit.learning.layered import Layered
from tacit.learning.stage import policy_plan
from tacit.logs.episode import log_of
from tacit.logs.writing import LogWriter
from tacit.problem.mdp import ContextualMDP, expected_rewards, policy_value, solve_optimal

PlayProgress = Callable[[int, str], None]
"""Called now and then with the episodes played since the last call and the agent's stage."""

REPORT_EVERY = 500
"""Episodes between two calls of `PlayProgress`: several a second, and no cost that one could measure."""


class Source(Protocol):
    """Where episodes come from: a `GymSource`.

    `offer` is what `act` takes beside the state. After the last step `feedback` (None: silence), `broke_off`, `reward`
    and `info` are set.
    """

    offer: tuple[Any, ...]
    feedback: Any
    broke_off: bool
    reward: float | None
    info: Mapping[str, Any]

    def begin(self, seed: int | None = None, episode: int | None = None) -> tuple[Any, Any]:
        """Return (context, first state) of a new episode."""

    def step(self, action: Any) -> Any | None:
        """Return the next state, or None when the episode is over."""


Watch = Callable[[Episode, Source], None]
"""Called with each episode that has ended and the source that it came from."""


E = TypeVar("E")


class Driven(Protocol[E]):
    """What can be played: a `tacit.Agent`, or one at a service (`tacit.service.client`). `E` is its kind of episode."""

    def begin(self, context: Any, /) -> E:
        """Begin an episode."""

    def act(self, episode: E, state: Any, /, *offer: Any) -> Any:
        """Return what to do in a state."""

    def end(self, episode: E, feedback: Any, /) -> None:
        """Tell how the person reacted."""

    def abandon(self, episode: E, /) -> None:
        """Say that an episode broke off."""


def play_episode(agent: Driven[E], source: Source, context: Any, state: Any) -> E:
    """Return the episode that an agent has in a source, from its beginning to its end.

    >>> from tacit.envs.synthetic import synthetic
    >>> source = GymSource(synthetic())
    >>> episode = play_episode(Agent(source.layout), source, *source.begin(seed=5))
    >>> len(episode.steps)
    3
    """
    episode = agent.begin(context)
    while state is not None:
        state = source.step(agent.act(episode, state, *source.offer))
    if source.broke_off:
        agent.abandon(episode)
    else:
        agent.end(episode, source.feedback)
    return episode


@dataclass
class Trace:
    """What happened in each episode, for evaluation only: lists of equal length.

    `rewards` are the latent ones, `decoded` what the agent took the feedback to mean (NaN: nothing),
    `regrets` V*(x) - V(policy played), exact, `exploring` whether the agent's stage was exploration, and `explored`
    whether the episode's own plan was.
    """

    rewards: list[float] = field(default_factory=list)
    decoded: list[float] = field(default_factory=list)
    regrets: list[float] = field(default_factory=list)
    exploring: list[bool] = field(default_factory=list)
    explored: list[bool] = field(default_factory=list)

    def arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """Return the first four lists as arrays."""
        return (
            np.array(self.rewards, dtype=np.float64),
            np.array(self.decoded, dtype=np.float64),
            np.array(self.regrets, dtype=np.float64),
            np.array(self.exploring, dtype=np.bool_),
        )


def play(
    agent: Agent,
    env: gym.Env[Any, Any],
    episodes: int,
    seed: int | None = None,
    progress: PlayProgress | None = None,
) -> Trace:
    """Return what happened in so many more episodes of an agent in a Gymnasium environment.

    The environment is seeded with `seed`, by default with 0 for an agent's first episode; after that it goes on where
    it is. Give the seed again to go on with an agent that was loaded, in one of Tacit's environments.

    Observations hold `context` and `state` (and `actions`, where they come with the state), the last `info` the
    `feedback` (None or none at all: silence), and under `evaluation` the `reward` where a simulation knows it: the
    agent never sees it. Environments that are laid out otherwise are read by a `GymSource` in a `Simulation`.

    >>> from tacit.envs.synthetic import synthetic
    >>> env = synthetic()
    >>> trace = play(Agent(env.layout), env, 4000)
    >>> np.mean(trace.rewards[-1000:]) > 0.6
    np.True_
    """
    layout = agent.layout if isinstance(agent.world, Layered) else None
    mdp = getattr(env.unwrapped, "mdp", None)
    known = mdp if isinstance(mdp, ContextualMDP) else None
    begin = 0 if seed is None and agent.next_episode == 0 else seed
    return Simulation(agent, GymSource(env, layout), begin, known).run(episodes, progress)


class Simulation:
    """An agent in an environment, one episode after the other, resumable at any.

    The environment is seeded once, unless the seed is None; episode n of the environment is episode n of the agent,
    so that `Simulation(agent, source, seed)` with a loaded agent goes on where the saved one stopped. (That needs
    an environment whose `reset` takes options={"episode": n}, as Tacit's do.) Every episode goes to `log` and `watch`,
    if given; `mdp`, for exact regret, is for layered environments.

    >>> from tacit.envs.synthetic import synthetic
    >>> env = synthetic()
    >>> trace = Simulation(Agent(env.layout), GymSource(env), seed=0, mdp=env.mdp).run(1000)
    >>> len(trace.rewards), max(trace.rewards)
    (1000, 1)
    """

    def __init__(
        self,
        agent: Agent,
        source: Source,
        seed: int | None,
        mdp: ContextualMDP | None = None,
        log: LogWriter | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.agent, self.source, self.log, self.watch = agent, source, log, watch
        self.trace = Trace()
        self._seed = seed
        self._mdp = mdp
        self._best = solve_optimal(mdp).values if mdp is not None else None
        self._rewards = [expected_rewards(mdp, x) for x in range(mdp.n_contexts)] if mdp is not None else []
        self._seeded = False

    def run(
        self,
        episodes: int,
        progress: PlayProgress | None = None,
        until: Callable[[Agent], bool] | None = None,
        every: int = REPORT_EVERY,
    ) -> Trace:
        """Play `episodes` more episodes, or fewer if `until` holds before one; return the whole trace."""
        for n in range(1, episodes + 1):
            if until is not None and until(self.agent):
                break
            self._play()
            if progress is not None and (n % every == 0 or n == episodes):
                progress((n - 1) % every + 1, self.agent.stage.name)
        return self.trace

    def _play(self) -> None:
        agent, source, exploring = self.agent, self.source, self.agent.stage.explores
        episode = play_episode(agent, source, *self._begin())
        if self.log is not None:
            self.log.write(log_of(episode, source.reward))
        if self.watch is not None:
            self.watch(episode, source)
        self._record(episode, exploring)

    def _begin(self) -> tuple[Any, Any]:
        if self._seeded:
            return self.source.begin()
        self._seeded = True
        return self.source.begin(self._seed, self.agent.next_episode)

    def _record(self, episode: Episode, exploring: bool) -> None:
        trace, decoded = self.trace, episode.decoded_reward
        trace.rewards.append(np.nan if self.source.reward is None else self.source.reward)
        trace.decoded.append(np.nan if decoded is None else decoded)
        trace.exploring.append(exploring)
        trace.explored.append(episode.plan.explores)
        if self._mdp is not None and self._best is not None:
            x = self.source.info["evaluation"]["context"]
            value = policy_value(
                self._mdp.transitions,
                self._rewards[x],
                policy_plan(episode).policy,
                self._mdp.layout.n_states,
            )
            trace.regrets.append(self._best[x] - value)

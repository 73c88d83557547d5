"""Plays a learner in a problem and measures it: one task of the benchmark."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from journal import Task, warm_up
from real_world.playing import share

import tacit
from context_world.ceilings import SeesReward
from context_world.families import draw_problem
from context_world.problem import Array, Problem, solve
from tacit.base.arrays import FloatArray, IntArray
from tacit.base.randomness import draw_index
from tacit.engines.task import Report
from tacit.experiments.learners import LEARNERS

WINDOWS = 40
"""Parts of a run whose shares are kept."""
REPORT_EVERY = 1000
CEILING = "sees_reward"
"""The learner of the same class that sees the reward."""


class Crowd(NamedTuple):
    """Everybody who comes in a run: as they are shown, as the ceiling is told of them, and how each speaks, (n,)."""

    shown: Array
    told: FloatArray | None
    pleasing: FloatArray
    meanings: IntArray


class Answer(NamedTuple):
    """What came of an episode: whether the person was pleased, and what they said."""

    reward: int
    said: Any


class Player(Protocol):
    """A learner as the benchmark plays it; people, states and actions are numbers."""

    explored: int

    def begin(self, person: int) -> None: ...
    def act(self, turn: int, state: int) -> int: ...
    def end(self, person: int, states: list[int], taken: list[int], answer: Answer) -> None: ...
    def verdict(self) -> str: ...


class AgentPlayer:
    """An agent, driven as any user drives it; the ceiling where contexts are labels is one that hears the reward."""

    def __init__(self, problem: Problem, crowd: Crowd, agent: tacit.Agent, hears_reward: bool) -> None:
        self._agent, self._hears_reward = agent, hears_reward
        self._states, space = problem.layout().states, problem.people.space
        self._contexts = (
            [space.labels[n] for n in crowd.shown] if isinstance(space, tacit.Finite) else crowd.shown
        )
        self.explored = 0

    def begin(self, person: int) -> None:
        """Begin an episode."""
        self._episode = self._agent.begin(self._contexts[person])

    def act(self, turn: int, state: int) -> int:
        """Return what the agent does."""
        return int(self._agent.act(self._episode, self._states[turn][state]))

    def end(self, person: int, states: list[int], taken: list[int], answer: Answer) -> None:
        """Tell the agent what was said."""
        self._agent.end(self._episode, answer.reward if self._hears_reward else answer.said)
        self.explored += bool(self._episode.plan.explores)

    def verdict(self) -> str:
        """Return what the agent says of itself."""
        return self._agent.diagnose().verdict


class CeilingPlayer:
    """The regression that sees the reward."""

    def __init__(self, learner: SeesReward) -> None:
        self._learner, self.explored = learner, 0
        self.begin, self.act = learner.begin, learner.act

    def end(self, person: int, states: list[int], taken: list[int], answer: Answer) -> None:
        """Tell it the reward."""
        self._learner.end(person, states, taken, answer.reward)

    def verdict(self) -> str:
        """Return that there is none."""
        return "-"


class Clock:
    """Wall time of decisions and of `end`, and processor time that other threads took."""

    def __init__(self) -> None:
        self.decisions: list[tuple[float, float]] = []
        self.ends = 0.0
        self._begun = time.perf_counter()
        self._used = time.process_time(), time.thread_time()
        self._since = 0.0, 0.0

    def start(self) -> None:
        """Begin to measure a decision."""
        self._since = time.perf_counter(), time.thread_time()

    def stop(self) -> None:
        """Write down how long a decision took, and how long of it this thread worked: others may need the machine."""
        self.decisions.append((time.perf_counter() - self._since[0], time.thread_time() - self._since[1]))

    def measure(self) -> dict[str, Any]:
        """Return milliseconds of decisions, and the shares of the run in `end` and of other threads."""
        decisions, worked = np.array(self.decisions).T * 1000
        process = time.process_time() - self._used[0]
        thread = time.thread_time() - self._used[1]
        return {
            "p99_ms": float(np.quantile(decisions, 0.99)),
            "slowest_ms": float(decisions.max()),
            "p99_worked_ms": float(np.quantile(worked, 0.99)),
            "end_share": self.ends / (time.perf_counter() - self._begun),
            "other_threads": max(1 - thread / process, 0.0) if process else 0.0,
        }


def make_work() -> Callable[[Task, Report], dict[str, Any]]:
    """Return what performs tasks, after first runs that load compiled code."""
    families = ("users.20", "linear.5.three", "points.linear.one")
    warm_up(perform, [Task(family, 0, learner, 50) for family in families for learner in ("tacit", CEILING)])
    return perform


def perform(task: Task, report: Report) -> dict[str, Any]:
    """Return what a run measured, as plain values; of a learner that raises, what it raised."""
    begun = time.perf_counter()
    play = Play(draw_problem(task.family, task.seed), task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            measured = play.run(report)
        except Exception as error:  # whatever a learner raises is what came of its run
            measured = {"failed": f"{type(error).__name__}: {error}", "played": len(play.earned)}
            measured["verdict"] = f"failed after {len(play.earned)} episodes: {measured['failed']}"
    return measured | {"seconds": round(time.perf_counter() - begun, 2)}


class Play:
    """A learner in a problem, and what happened so far."""

    def __init__(self, problem: Problem, task: Task) -> None:
        self.problem, self.task = problem, task
        self.crowd = draw_crowd(problem, task)
        self.values = solve(problem.transitions, self.crowd.pleasing)
        self._chance = np.random.default_rng([task.seed, 13])
        self.earned: list[float] = []

    def run(self, report: Report) -> dict[str, Any]:
        """Return what was measured over all episodes."""
        player, clock = make_player(self.problem, self.crowd, self.task), Clock()
        for person in range(self.task.episodes):
            self.episode(player, person, clock)
            if (person + 1) % REPORT_EVERY == 0:
                report(REPORT_EVERY, self.task.family)
        measured = clock.measure()
        return self.summarise() | measured | {"explored": player.explored, "verdict": player.verdict()}

    def episode(self, player: Player, person: int, clock: Clock) -> None:
        """Play one more episode."""
        draws, states, taken = self._chance.random(self.problem.n_turns), [0], []
        clock.start()
        player.begin(person)
        for h in range(self.problem.n_turns):
            action = player.act(h, states[h])
            clock.stop()
            taken.append(action)
            if h + 1 < self.problem.n_turns:
                states.append(draw_index(self.problem.transitions[h, states[h], action], draws[h]))
            clock.start()
        answer = self._ask(person, states[-1], taken[-1], draws[-1])
        begun = time.perf_counter()
        player.end(person, states, taken, answer)
        clock.ends += time.perf_counter() - begun
        self.earned.append(self.values.earned(person, states, taken))

    def summarise(self) -> dict[str, Any]:
        """Return shares of the way from uniform play to the optimum."""
        earned, best, plain = np.array(self.earned), self.values.best[0, :, 0], self.values.plain
        n = max(len(earned) // 10, 1)
        parts = np.array_split(np.arange(len(earned)), min(WINDOWS, len(earned)))
        return {
            "last": share(earned[-n:], best[-n:], plain[-n:]),
            "all": share(earned, best, plain),
            "shares": [round(share(earned[part], best[part], plain[part]), 4) for part in parts],
            "optimum": float(best.mean()),
            "uniform": float(plain.mean()),
        }

    def _ask(self, person: int, state: int, action: int, draw: float) -> Answer:
        reward = int(draw < self.crowd.pleasing[person, state, action])
        meaning = int(self.crowd.meanings[person])
        return Answer(reward, self.problem.voice.say(meaning, state, reward, self._chance))


def draw_crowd(problem: Problem, task: Task) -> Crowd:
    """Return everybody who comes: the same people for all learners, and for all families that are alike."""
    people, n = problem.people, max(task.episodes, 1)
    drawn = people.draw(np.random.default_rng([task.seed, 11]), n)
    shown = people.show(np.random.default_rng([task.seed, 12]), drawn)
    chances = people.meanings(drawn)  # (n, Z)
    draws = np.random.default_rng([task.seed, 14]).random((n, 1))
    meanings = np.minimum((np.cumsum(chances, axis=1) <= draws).sum(axis=1), chances.shape[1] - 1)
    told = None if people.features is None else people.features(drawn)
    return Crowd(shown, shown if problem.regresses_on_shown else told, people.pleasing(drawn), meanings)


def make_player(problem: Problem, crowd: Crowd, task: Task) -> Player:
    """Return the learner of a task."""
    layout = problem.layout()
    if task.learner != CEILING:
        return AgentPlayer(problem, crowd, tacit.Agent(layout, seed=task.seed), False)
    if crowd.told is not None:
        return CeilingPlayer(SeesReward(problem, crowd.told, task.seed))
    settings = tacit.Settings()
    # As greedy as Tacit's own recipe.
    greedy = replace(settings, schedule=tacit.GammaSchedule(scale=settings.fast.gamma_scale))
    return AgentPlayer(problem, crowd, LEARNERS["oracle_reward"].make(layout, greedy, task.seed), True)

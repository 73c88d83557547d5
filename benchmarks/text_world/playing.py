"""Plays a learner in a world and measures it: one task of the benchmark.

Rewards are exact where they can be: the chance with which the last choice was right, given what was reached.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from journal import Task

import tacit
from tacit.base.arrays import FloatArray
from tacit.base.randomness import draw_index
from tacit.engines.task import Report
from tacit.text import Conversations, TextSettings
from text_world.ceiling import Asked, SeesReward
from text_world.families import draw_world
from text_world.logs import draw_log, score_labels
from text_world.remarks import Voice
from text_world.sentences import Sentences
from text_world.visits import Visit, World, context_of

FRESH = 300
"""People who come after all was learned, to whom the best candidate is offered."""
TRIES = 40
"""Conversations that are begun to follow the best candidates through all turns."""
REPORT_EVERY = 100
OURS, CEILING = ("tacit", "tacit.logs"), ("sees_reward", "sees_reward.logs")
"""Learners: online, and from a uniform log; those that see the reward likewise."""


class Played(NamedTuple):
    """One episode: the chance of a reward given what was reached, the reward, what it was decoded to."""

    chance: float
    reward: int
    decoded: float | None


class Player(Protocol):
    """A learner as the benchmark plays it."""

    def begin(self, visit: Visit) -> None: ...
    def chances(self, turn: int, visit: Visit) -> FloatArray: ...
    def take(self, turn: int, visit: Visit) -> int: ...
    def end(self, remark: str, reward: int) -> float | None: ...
    def leave(self) -> None: ...
    def verdict(self) -> dict[str, Any]: ...


class AgentPlayer:
    """An agent, driven as any user drives it."""

    def __init__(self, agent: tacit.Agent) -> None:
        self._agent = agent

    def begin(self, visit: Visit) -> None:
        """Begin a conversation."""
        self._episode = self._agent.begin(context_of(visit))

    def take(self, turn: int, visit: Visit) -> int:
        """Return which candidate the agent takes."""
        return visit.offer.index(str(self._agent.act(self._episode, visit.heard, list(visit.offer))))

    def chances(self, turn: int, visit: Visit) -> FloatArray:
        """Return with which probability it took each candidate, (K,); after `take`."""
        return self._episode.plan.chances(turn, self._episode.states[turn])

    def end(self, remark: str, reward: int) -> float | None:
        """Tell the agent the remark, and return what it takes it to mean."""
        self._agent.end(self._episode, remark)
        return self._episode.decoded_reward

    def leave(self) -> None:
        """Break the conversation off."""
        self._agent.abandon(self._episode)

    def verdict(self) -> dict[str, Any]:
        """Return what the agent says of itself."""
        return verdict_of(self._agent.diagnose())


class CeilingPlayer:
    """The learner that sees the reward."""

    def __init__(self, learner: SeesReward, chance: np.random.Generator) -> None:
        self._learner, self._chance = learner, chance

    def begin(self, visit: Visit) -> None:
        """Begin a conversation."""
        self._taken: list[tuple[Asked, int]] = []

    def take(self, turn: int, visit: Visit) -> int:
        """Return which candidate is taken."""
        self._chances = self._learner.chances(turn, asked_of(visit))
        choice = draw_index(self._chances, float(self._chance.random()))
        self._taken.append((asked_of(visit), choice))
        return choice

    def chances(self, turn: int, visit: Visit) -> FloatArray:
        """Return with which probability it took each candidate, (K,); after `take`."""
        return self._chances

    def end(self, remark: str, reward: int) -> None:
        """Tell it the reward."""
        self._learner.learn(self._taken, reward)

    def leave(self) -> None:
        """Forget the conversation."""

    def verdict(self) -> dict[str, Any]:
        """Return that there is none."""
        return {"verdict": "-", "findings": []}


def make_work() -> Callable[[Task, Report], dict[str, Any]]:
    """Return what performs tasks."""
    return perform


def perform(task: Task, report: Report) -> dict[str, Any]:
    """Return what a run measured, as plain values."""
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        play = play_logs if task.learner.endswith(".logs") else play_online
        measured = play(task, report) | {"uniform": draw_world(task.family, task.seed)[0].uniform}
    seconds = round(time.perf_counter() - begun, 2)
    return measured | {
        "seconds": seconds,
        "warned": sorted({str(warning.message)[:200] for warning in caught}),
    }


def play_online(task: Task, report: Report) -> dict[str, Any]:
    """Return what a learner earned while it learned, and what it chooses then."""
    world, voice = draw_world(task.family, task.seed)
    chance = np.random.default_rng([task.seed, 1])
    player = make_player(task, world)
    played, slowest = [], 0.0
    for n in range(1, task.episodes + 1):
        begun = time.perf_counter()
        played.append(play_one(player, world.draw_visit(chance), voice, chance))
        slowest = max(slowest, time.perf_counter() - begun)
        if n % REPORT_EVERY == 0:
            report(REPORT_EVERY, task.family)
    verdict = player.verdict()
    return summarise(played) | verdict | {"slowest": slowest, "fresh": choose_fresh(player, world, task)}


def play_logs(task: Task, report: Report) -> dict[str, Any]:
    """Return what is learned from a uniform log: how it is labelled, and what the policy chooses that comes of it."""
    world, voice = draw_world(task.family, task.seed)
    log = draw_log(world, voice, np.random.default_rng([task.seed, 2]), task.episodes)
    if task.learner == CEILING[1]:
        learner = SeesReward(sentences(), world.horizon)
        learner.take_log([(line.turns, line.reward) for line in log])
        ceiling = CeilingPlayer(learner, np.random.default_rng([task.seed, 3]))
        measured = ceiling.verdict()
        player: Player = ceiling
    else:
        model = tacit.fit([line.logged for line in log])
        labels = list(model.label([line.logged for line in log]))
        measured = score_labels(log, labels) | verdict_of(model.certificate)
        player = AgentPlayer(model.train([line.logged for line in log]))
    report(task.episodes, task.family)
    return measured | {"fresh": choose_fresh(player, world, task)}


def play_one(player: Player, visit: Visit, voice: Voice, chance: np.random.Generator) -> Played:
    """Return what came of one conversation."""
    player.begin(visit)
    turn = 0
    while True:
        choice, rewards = player.take(turn, visit), visit.rewards()
        if visit.step(choice):
            break
        turn += 1
    reward = rewards[choice]
    expected = float(np.dot(player.chances(turn, visit), rewards))
    return Played(expected, reward, player.end(voice.say(chance, bool(reward), visit.ironic), reward))


def choose_fresh(player: Player, world: World, task: Task) -> float:
    """Return the mean reward of the best candidates, chosen for people who never came before."""
    rewards = []
    for n in range(FRESH):
        for _ in range(TRIES):  # where others are drawn, another conversation with the same person is begun
            visit = world.draw_visit(np.random.default_rng([task.seed, 4, n]))
            reward, followed = follow_best(player, visit, world.horizon)
            if followed:
                break
        rewards.append(reward)
    return float(np.mean(rewards))


def follow_best(player: Player, visit: Visit, horizon: int) -> tuple[int, bool]:
    """Return the reward of the best last candidate, and whether the best was drawn at each turn before.

    Where another ends the conversation before its time, it was not.
    """
    player.begin(visit)
    turn, followed = 0, True
    while True:
        choice = player.take(turn, visit)
        best, rewards = int(np.argmax(player.chances(turn, visit))), visit.rewards()
        if visit.step(choice):
            player.leave()
            return rewards[best], followed and (choice == best or turn == horizon - 1)
        followed = followed and choice == best
        turn += 1


def make_player(task: Task, world: World) -> Player:
    """Return the learner of a task."""
    if task.learner == CEILING[0]:
        return CeilingPlayer(SeesReward(sentences(), world.horizon), np.random.default_rng([task.seed, 3]))
    settings = TextSettings(horizon=world.horizon)
    return AgentPlayer(tacit.Agent(Conversations(settings), seed=task.seed))


def summarise(played: list[Played]) -> dict[str, Any]:
    """Return rewards over all episodes and in the last tenth, and how decoded and true reward agree there."""
    last = played[-max(len(played) // 10, 1) :]
    known = [(one.decoded, one.reward) for one in last if one.decoded is not None]
    gap = float(np.mean([decoded - reward for decoded, reward in known])) if known else None
    return {
        "all": float(np.mean([one.chance for one in played])),
        "last": float(np.mean([one.chance for one in last])),
        "gap": gap,
        "decoded": len(known) / len(last),
        "undecoded": sum(one.decoded is None for one in played),
    }


def verdict_of(told: Any) -> dict[str, Any]:
    """Return a verdict and the findings that it rests on, of a diagnosis or a certificate."""
    return {
        "verdict": told.verdict,
        "findings": [f"{finding.severity}: {finding.code}" for finding in told.findings],
    }


def asked_of(visit: Visit) -> Asked:
    """Return what a learner that sees the reward reads."""
    return Asked(visit.request, visit.profile, visit.heard, visit.offer)


@cache
def sentences() -> Sentences:
    """Return the vectors of sentences, shared by all runs of this process."""
    return Sentences()

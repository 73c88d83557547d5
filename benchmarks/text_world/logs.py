"""Uniform logs of a world, and how well their labels agree with rewards that nobody logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.decoding.judgement import HOMOGENEOUS
from tacit.logs.episode import LoggedEpisode, LoggedStep
from text_world.ceiling import Asked
from text_world.remarks import Voice
from text_world.visits import World, context_of

TENTHS = 10


class Line(NamedTuple):
    """An episode as it was logged, what a learner that sees the reward reads, the reward, and if one could be had."""

    logged: LoggedEpisode
    turns: list[tuple[Asked, int]]
    reward: int
    good: bool


def draw_log(world: World, voice: Voice, chance: np.random.Generator, episodes: int) -> list[Line]:
    """Return a log of uniform choices."""
    return [draw_line(world, voice, chance, n) for n in range(episodes)]


def draw_line(world: World, voice: Voice, chance: np.random.Generator, number: int) -> Line:
    """Return one episode of uniform choices."""
    visit = world.draw_visit(chance)
    steps, turns, over = [], [], False
    while not over:
        offer, rewards = visit.offer, visit.rewards()
        choice = int(chance.integers(len(offer)))
        steps.append(LoggedStep(visit.heard, offer[choice], offer, 1 / len(offer)))
        turns.append((Asked(visit.request, visit.profile, visit.heard, offer), choice))
        over = visit.step(choice)
    reward = rewards[choice]
    remark = voice.say(chance, bool(reward), visit.ironic)
    return Line(LoggedEpisode(number, context_of(visit), tuple(steps), remark), turns, reward, any(rewards))


def score_labels(log: Sequence[Line], labels: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how labels agree with rewards, and calibration: by tenth of confidence how many, how sure, how right.

    What a label is sure of is its reward, rounded; of a homogeneous state, that no candidate would have earned one.
    """
    rewards = {line.logged.episode: line.reward for line in log}
    poor = {line.logged.episode: not line.good for line in log}
    known = [label for label in labels if label["decoded_reward"] is not None]
    decoded = np.array([label["decoded_reward"] for label in known], dtype=np.float64)
    truth = np.array([rewards[label["episode"]] for label in known], dtype=np.float64)
    sure = np.array([label["confidence"] for label in known], dtype=np.float64)
    right = (decoded.round() == truth).astype(np.float64)
    nobody = np.array([poor[label["episode"]] for label in known], dtype=np.float64)
    claimed = np.where([label["state_kind"] == HOMOGENEOUS for label in known], nobody, right)
    tenth = np.minimum((sure * TENTHS).astype(np.int64), TENTHS - 1)
    calibration = [
        [int((tenth == t).sum()), float(sure[tenth == t].sum()), float(claimed[tenth == t].sum())]
        for t in range(TENTHS)
    ]
    reasons = [str(label["reason"]) for label in labels]
    return {
        "labelled": len(known) / len(log),
        "right": float(right.mean()) if known else None,
        "gap": float((decoded - truth).mean()) if known else None,
        "calibration": calibration,
        "reasons": {reason: reasons.count(reason) for reason in sorted(set(reasons))},
    }

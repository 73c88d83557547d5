"""Logs of conversations in the paint shop of `text_samples`, for tests of what is learned from them."""

import numpy as np
from text_samples import shop

from tacit.envs.booking import BookingEnv
from tacit.envs.gym_adapter import GymSource
from tacit.logs.episode import LoggedEpisode, LoggedStep


def draw_shop(n, seed=0, shares=None, personal=False):
    """Return logged episodes of the paint shop; the last candidates are uniform, or of the `shares` in any order."""
    return draw_episodes(shop(400, personal), n, seed, shares)


def draw_episodes(dialogues, n, seed, shares=None):
    source, chance = GymSource(BookingEnv(dialogues)), np.random.default_rng([seed, 1])
    episodes = []
    for i in range(n):
        context, state = source.begin(seed if i == 0 else None, i)
        steps = []
        while state is not None:
            offered = source.offer[0]
            uniform = np.full(len(offered), 1 / len(offered))
            chances = chance.permutation(shares) if shares is not None and steps else uniform
            a = int(chance.choice(len(offered), p=chances))
            steps.append(LoggedStep(state, offered[a], offered, float(chances[a])))
            state = source.step(offered[a])
        episodes.append(LoggedEpisode(i, context, tuple(steps), source.feedback, reward=source.reward))
    return episodes

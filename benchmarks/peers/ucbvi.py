"""rlberry-scool's UCBVI on a problem written by benchmarks/agent.py; prints seconds an episode.

It sees the reward, and each (context, state) is a state of its own. Run with the Python of the peers:
python benchmarks/peers/ucbvi.py PROBLEM.npz EPISODES
"""

import sys
import time

import gymnasium as gym
import numpy as np
import rlberry.spaces
from rlberry_scool.agents import UCBVIAgent


class Problem(gym.Env):
    """The contextual MDP with its reward in plain sight, as lean as Python allows."""

    reward_range = (0.0, 1.0)

    def __init__(self, path):
        data = np.load(path)
        self.contexts, self.rewards = np.cumsum(data["contexts"]), data["rewards"]
        self.transitions = np.cumsum(data["transitions"], axis=-1)
        self.first = np.concatenate([[0], np.cumsum(data["n_states"])])
        self.horizon, self.size = len(data["n_states"]), int(self.first[-1])
        self.observation_space = rlberry.spaces.Discrete(len(self.contexts) * self.size)
        self.action_space = rlberry.spaces.Discrete(self.rewards.shape[2])
        self.generator = np.random.default_rng(0)

    def reset(self, *, seed=None, options=None):
        self.context = int(np.searchsorted(self.contexts, self.generator.random(), side="right"))
        self.layer = self.state = 0
        return self.context * self.size, {}

    def step(self, action):
        if self.layer == self.horizon - 1:
            reward = float(self.generator.random() < self.rewards[self.context, self.state, action])
            return self.observe(), reward, True, False, {}
        row = self.transitions[self.layer, self.state, action]
        self.state = int(np.searchsorted(row, self.generator.random(), side="right"))
        self.layer += 1
        return self.observe(), 0.0, False, False, {}

    def observe(self):
        return int(self.context * self.size + self.first[self.layer] + self.state)


def main(path, episodes):
    env = Problem(path)
    for real_time_dp in (False, True):
        agent = UCBVIAgent(env, horizon=env.horizon, real_time_dp=real_time_dp, bonus_scale_factor=0.1)
        agent.fit(200)  # compile
        agent.reset()
        begin = time.perf_counter()
        agent.fit(episodes)
        seconds = time.perf_counter() - begin
        name = "UCBVI, real-time planning" if real_time_dp else "UCBVI, full planning"
        print(f"{name}\t{seconds / episodes:.9f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

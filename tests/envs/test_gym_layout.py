import gymnasium as gym
import numpy as np
import pytest

import tacit
from tacit.envs.gym_adapter import GymSource
from tacit.envs.gym_layout import layout_of

WORDS = ("oh no", "nice")


def make_lake(turns=8):
    return gym.make("FrozenLake-v1", is_slippery=False, max_episode_steps=turns)


class Watched(gym.Wrapper):
    def step(self, action):
        state, reward, terminated, truncated, info = super().step(action)
        if terminated or truncated:
            info = {**info, "feedback": WORDS[int(reward > 0)], "evaluation": {"reward": float(reward)}}
        return state, reward, terminated, truncated, info


def test_a_lake_is_read_off_its_spaces_and_played():
    lake = Watched(make_lake())
    layout = layout_of(lake, WORDS)
    assert (layout.horizon, layout.states[0], len(layout.states[1])) == (8, (0,), 16)
    trace = tacit.play(tacit.Agent(layout, seed=1), lake, 40)
    assert len(trace.rewards) == 40


def test_open_sets_stay_open():
    layout = layout_of(make_lake(), tacit.Finite(WORDS, open=True), contexts=tacit.Finite(("me",), open=True))
    assert (layout.feedback.open, layout.contexts.open) == (True, True)


def test_a_lake_is_read_off_random_episodes():
    layout = layout_of(make_lake(), WORDS, episodes=200)
    assert layout.states[1] == (0, 1, 4) or set(layout.states[1]) == {0, 1, 4}
    assert layout.ends == "anywhere"
    assert not {5, 7, 11, 12, 15} & {
        s for layer in layout.states for s in layer
    }  # nobody acts where it is over


def test_what_has_no_limit_or_several_beginnings_is_refused():
    with pytest.raises(ValueError, match="say how many `turns`"):
        layout_of(make_lake().unwrapped, WORDS)
    with pytest.raises(ValueError, match="must begin in one state"):
        layout_of(gym.make("Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"), WORDS, turns=5)


def test_an_episode_that_ends_where_none_can_names_the_remedy():
    layout = tacit.Layout(
        ((0,), tuple(range(16))),
        (((0, 1, 2, 3),), ((0, 1, 2, 3),) * 16),
        tacit.Finite(("x",)),
        tacit.Finite(WORDS),
    )
    source = GymSource(Watched(make_lake(turns=1)), layout)
    assert source.begin(seed=1) == ("x", 0)
    with pytest.raises(ValueError, match="`ends`"):
        source.step(0)


class Point(gym.Env):
    """Shows a vector."""

    observation_space, action_space = gym.spaces.Box(0, 1, (2,)), gym.spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        return np.zeros(2), {}

    def step(self, action):
        return np.full(2, action), 0.0, False, False, {}


def test_observations_that_are_no_labels_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"states are labels, .*Box.*give `state_of`"):
        layout_of(Point(), WORDS, turns=3, episodes=10)
    layout = layout_of(Point(), WORDS, turns=3, episodes=10, state_of=lambda shown, _: int(shown[0]))
    assert set(layout.states[1]) == {0, 1}

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tacit.agent import Agent
from tacit.envs.gym_adapter import GymSource
from tacit.envs.layered import Clouds, LayeredEnv
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import VARIANTS, synthetic, synthetic_mdp
from tacit.logs.reading import read_logs
from tacit.logs.writing import LogWriter
from tacit.problem.layout import Layout
from tacit.problem.mdp import largest_reach, solve_optimal
from tacit.simulate import Simulation

ENVIRONMENTS = {
    **{name: lambda name=name: synthetic(name) for name in VARIANTS},
    "random": lambda: random_mdp(0),
    "ragged": lambda: random_mdp(1, RandomMDPSettings(ragged=True, actions=6, unreachable=1)),
    "vectors": lambda: random_mdp(2, RandomMDPSettings(vectors=3)),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_gymnasium_accepts_it(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(ENVIRONMENTS[name](), skip_render_check=True)


def play(source, episodes, choose, seed=0):
    rows = []
    for n in range(episodes):
        context, state = source.begin(seed, n)
        states, actions = [], []
        while state is not None:
            states.append(state)
            actions.append(choose(n, state))
            state = source.step(actions[-1])
        rows.append((context, states, actions, source.feedback, source.reward))
    return rows


def test_frequencies_are_the_models():
    env = synthetic()
    rows = play(GymSource(env), 4000, lambda n, state: 0)
    contexts = np.array([row[0] for row in rows])
    rewards = np.array([row[4] for row in rows])
    feedback = np.array([row[3] for row in rows])
    assert np.mean(contexts == 0) == pytest.approx(0.7, abs=0.03)
    assert np.mean(rewards) == pytest.approx(0.729, abs=0.03)
    np.testing.assert_array_equal(feedback, np.where(contexts == 0, rewards, 1 - rewards))


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_episode_follows_from_seed_and_number(name):
    source = GymSource(ENVIRONMENTS[name]())
    forward = play(source, 6, lambda n, state: n % 2, seed=9)
    source.begin(9, 3)
    again = [source.begin(9, n) for n in (5, 0, 3)]
    for n, (context, state) in zip((5, 0, 3), again, strict=True):
        np.testing.assert_array_equal(context, forward[n][0])
        assert state == forward[n][1][0]


def test_reset_goes_on_to_the_next_episode():
    env = synthetic()
    env.reset(seed=4)
    second = env.reset()[0]
    assert env.reset(seed=4, options={"episode": 1})[0] == second


def test_latent_reward_is_only_under_evaluation():
    env = synthetic()
    env.reset(seed=0)
    for _ in range(3):
        _, reward, terminated, _, info = env.step(0)
        assert reward == 0.0
    assert terminated
    assert set(info) == {"feedback", "evaluation"}


def test_an_action_that_is_not_offered_or_too_late_is_refused():
    env = random_mdp(1, RandomMDPSettings(ragged=True, actions=6))
    env.reset(seed=0)
    with pytest.raises(ValueError, match="offers actions 0 to 5, got 6"):
        env.step(6)
    while not env.step(0)[2]:
        pass
    with pytest.raises(ValueError, match="call reset"):
        env.step(0)


def test_an_unseeded_environment_still_varies():
    env = LayeredEnv(synthetic_mdp())
    assert {env.reset()[0]["context"] for _ in range(60)} == {0, 1}


@pytest.mark.parametrize("seed", range(5))
def test_random_problems_keep_their_promises(seed):
    settings = RandomMDPSettings(
        layers=4, states=6, actions=5, contexts=3, ragged=True, homogeneous=2, unreachable=1, c=0.3
    )
    mdp = random_mdp(seed, settings).mdp
    n_actions = mdp.layout.n_actions[-1]
    for x in range(3):
        for s in (0, 1, 2, 5):
            f = mdp.rewards[x, s, : n_actions[s]]
            assert f.max() >= settings.theta
            assert f.sum() <= settings.M + 1e-12
        for s in (3, 4):
            assert set(mdp.rewards[x, s, : n_actions[s]]) == {0.3}
    assert largest_reach(mdp)[-1, 5] == pytest.approx(1e-3)
    said = mdp.feedback_probabilities > 0
    assert not np.any(said[:, :, 0] & said[:, :, 1]), "feedback must tell the reward"
    np.testing.assert_array_equal(random_mdp(seed, settings).mdp.transitions, mdp.transitions)
    assert not np.array_equal(random_mdp(seed + 1, settings).mdp.transitions, mdp.transitions)


@pytest.mark.parametrize(
    "changes",
    [
        {"homogeneous": 4},
        {"theta": 0.0},
        {"theta": 1.3},
        {"feedback_values": 1},
        {"actions": 1},
    ],
)
def test_impossible_random_problems_are_refused(changes):
    with pytest.raises(ValueError, match="got"):
        RandomMDPSettings(**changes)


def test_personal_differs_by_context():
    optimal = solve_optimal(synthetic("personal").mdp)
    assert optimal.values == pytest.approx([0.729, 0.729])
    assert np.argmax(optimal.policies[0, 2, 0]) == 0
    assert np.argmax(optimal.policies[1, 2, 0]) == 4


def test_unknown_variant():
    with pytest.raises(ValueError, match="balanced"):
        synthetic("upside down")


class Corridor(gym.Env):
    """A user's environment in its own words: two rooms and a door; it says 'ok' if the door was right."""

    observation_space = gym.spaces.Discrete(4)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, length=2):
        self._length = length

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._steps = 0
        return 0, {"user": "Ada"}

    def step(self, action):
        self._steps += 1
        over = self._steps == self._length
        return self._steps, 0.0, over, False, {"said": "ok" if action else "no"}


CORRIDOR = Layout(
    states=(("start",), ("door",)),
    actions=((("left", "right"),), (("pull", "push"),)),
    contexts=Layout.regular([1], 1, 1, 1).contexts,
    feedback=Layout.regular([1], 1, 1, 2).feedback,
)


def corridor_source(length):
    return GymSource(
        Corridor(length),
        CORRIDOR,
        context_of=lambda observation, info: info["user"],
        state_of=lambda observation, info: ("start", "door")[observation],
        feedback_of=lambda observation, info: info["said"],
    )


def test_a_users_environment_through_the_adapter():
    source = corridor_source(2)
    assert source.begin() == ("Ada", "start")
    assert source.step(0) == "door"
    assert source.step(1) is None
    assert source.feedback == "ok"
    assert source.reward is None


@pytest.mark.parametrize("length", [1, 3])
def test_episodes_of_another_length_are_refused(length):
    source = corridor_source(length)
    source.begin()
    with pytest.raises(ValueError, match="as many steps as the layout has layers"):  # noqa: PT012
        source.step(0)
        source.step(0)


def test_without_a_layout_any_length_is_taken():
    """As in conversations; the agent itself refuses what it cannot take."""
    source = GymSource(
        Corridor(3), context_of=lambda observation, info: 0, state_of=lambda observation, info: 0
    )
    source.begin()
    assert [source.step(0), source.step(0)] == [0, 0]


def test_vectors_are_needed_where_the_layout_says_so():
    with pytest.raises(ValueError, match="context_vectors"):
        LayeredEnv(synthetic_mdp(), context_vectors=Clouds(np.zeros((2, 3))))
    mdp = random_mdp(2, RandomMDPSettings(vectors=3)).mdp
    with pytest.raises(ValueError, match=r"of its dimension, got .*dimension=3.* with vectors of 4"):
        LayeredEnv(mdp, Clouds(np.zeros((3, 4))), Clouds(np.zeros((3, 3))))
    with pytest.raises(ValueError, match=r"feedback_vectors .* with no vectors"):
        LayeredEnv(mdp, Clouds(np.zeros((3, 3))))


class Ending(gym.Env):
    """One state a step; ends as it is told to: (steps, terminated, info)."""

    def __init__(self, steps, terminated, **info):
        self.steps, self.terminated, self.info = steps, terminated, info

    def reset(self, *, seed=None, options=None):
        self.taken = 0
        return {"context": 0, "state": 0}, {}

    def step(self, action):
        self.taken += 1
        over = self.taken == self.steps
        ended = (over and self.terminated, over and not self.terminated, self.info if over else {})
        return {"context": 0, "state": self.taken}, 0.0, *ended


@pytest.mark.parametrize(
    ("steps", "terminated", "info", "feedback", "broke_off"),
    [
        (2, True, {"feedback": 1}, 1, False),
        (2, True, {"feedback": None}, None, False),
        (2, True, {}, None, False),
        (2, False, {"feedback": 1}, 1, False),
        (2, False, {}, None, True),
        (1, False, {}, None, True),
    ],
)
def test_an_episode_that_terminates_without_feedback_is_silent_and_a_truncated_one_broke_off(
    steps, terminated, info, feedback, broke_off, tmp_path
):
    layout = Layout.regular([1, 1], n_actions=3, n_contexts=1, n_feedback=2)
    agent, source = Agent(layout), GymSource(Ending(steps, terminated, **info), layout)
    with LogWriter(tmp_path / "logs.jsonl") as log:
        Simulation(agent, source, 0, log=log).run(1)
    assert (source.feedback, source.broke_off) == (feedback, broke_off)
    assert agent.stage.places.counts.seen().total == (not broke_off)
    assert not agent.open_episodes
    (logged,) = read_logs(tmp_path / "logs.jsonl", strict=True)
    assert (logged.feedback, logged.abandoned, len(logged.steps)) == (feedback, broke_off, steps)


def test_an_episode_that_ends_too_early_without_breaking_off_is_still_refused():
    layout = Layout.regular([1, 1], n_actions=3, n_contexts=1, n_feedback=2)
    source = GymSource(Ending(1, True), layout)
    source.begin()
    with pytest.raises(ValueError, match="ended after 1"):
        source.step(0)

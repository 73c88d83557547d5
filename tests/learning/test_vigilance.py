"""An agent in a world that moves: it notices, says so, forgets what was, learns what is; otherwise it keeps still."""

import copy
import warnings

import numpy as np
import pytest

from tacit.agent import Agent
from tacit.base.changes import commit
from tacit.learning.settings import Settings
from tacit.planning.transition import TransitionCounts
from tacit.problem.layout import Layout
from tacit.trust.watches import DriftSettings

STATES, ACTIONS, CONTEXTS = 2, 3, 2
BEST, WORST = 0.9, 0.05
EPISODES = 1200


class World:
    """Two last states, of which one pays; who is pleased says a word of the upper half, in context 1 of the lower."""

    def __init__(self, words=2):
        self.layout = Layout.regular([1, STATES], n_actions=ACTIONS, n_contexts=CONTEXTS, n_feedback=words)
        self.words = words
        self.best = np.zeros((CONTEXTS, STATES), dtype=int)  # the action that pleases
        self.turned = np.array([False, True])  # whose words mean the opposite
        self.leads = np.array([0.1, 0.9, 0.1])  # chance of each action to lead to state 0, which pays

    def play(self, agent, generator):
        """Return what an episode earns."""
        x = int(generator.integers(CONTEXTS))
        episode = agent.begin(x)
        a = agent.act(episode, 0)
        s = int(generator.random() >= self.leads[a])
        a = agent.act(episode, 1 + s)
        chance = (BEST if a == self.best[x, s] else WORST) * (1.0 if s == 0 else 0.6)
        upper = (generator.random() < chance) != self.turned[x]
        word = int(generator.integers(self.words // 2)) + upper * (self.words // 2)
        agent.end(episode, word)
        return chance


def play(world, agent, episodes, seed):
    """Return what the episodes earned, and what was said meanwhile."""
    generator = np.random.default_rng(seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        earned = [world.play(agent, generator) for _ in range(episodes)]
    return np.array(earned), [str(warning.message) for warning in caught]


def play_until_noticed(world, agent, generator):
    """Play until the agent has noticed something."""
    while not agent.stage.vigilance.noticed:
        world.play(agent, generator)


def drift_earnings(world):
    world.best[0] = 1


def drift_words(world):
    world.turned = ~world.turned


def drift_dynamics(world):
    world.leads = np.roll(world.leads, 1)


CHANGES = {
    "feedback in state '1', context 0": drift_earnings,
    "feedback in state": drift_words,
    "where actions lead in state '0'": drift_dynamics,
}


@pytest.mark.parametrize("says", CHANGES)
def test_a_change_is_noticed_said_and_learned(says):
    world = World()
    agent = Agent(world.layout, seed=0)
    before, said = play(world, agent, EPISODES, seed=1)
    assert said == []
    CHANGES[says](world)
    after, said = play(world, agent, EPISODES, seed=2)
    assert said[0].startswith(f"drift: {says}")
    alarm = agent.stage.vigilance.noticed[0]
    assert abs(alarm.changed - EPISODES) < 30
    assert alarm.noticed < EPISODES + 100
    assert after[-300:].mean() > before[-300:].mean() - 0.05
    finding = next(finding for finding in agent.diagnose().findings if finding.code == "drift")
    assert says.split(", context")[0] in finding.where


@pytest.mark.parametrize("change", [drift_earnings, drift_dynamics])
def test_control_without_a_watch_nothing_is_noticed_and_much_is_lost(change):
    world = World()
    agent = Agent(world.layout, Settings(drift=DriftSettings(alpha=0.0)), seed=0)
    play(world, agent, EPISODES, seed=1)
    change(world)
    after, said = play(world, agent, 400, seed=2)
    assert said == []
    assert after[100:].mean() < 0.75 * BEST


def test_nothing_is_said_where_nothing_changes():
    for words in (2, 12):
        world = World(words)
        agent = Agent(world.layout, seed=0)
        _, said = play(world, agent, 2 * EPISODES, seed=3)
        assert said == []
        assert agent.stage.vigilance.noticed == ()


def test_many_words_are_watched_by_their_types():
    world = World(words=60)
    agent = Agent(world.layout, seed=0)
    play(world, agent, EPISODES, seed=1)
    drift_words(world)
    _, said = play(world, agent, 150, seed=2)
    assert said
    assert "of a reward came" in said[0]


def test_only_what_is_in_doubt_is_forgotten():
    """The people of context 0 have changed: what is known of the others stays, as do the dynamics."""
    world = World()
    agent = Agent(world.layout, seed=0)
    play(world, agent, EPISODES, seed=1)
    known, paths = agent.stage.places.counts.tuples(0, 1), agent.stage.dynamics.visits.sum()
    drift_earnings(world)
    generator = np.random.default_rng(2)
    with pytest.warns(UserWarning, match="drift"):
        play_until_noticed(world, agent, generator)
    assert agent.stage.places.counts.tuples(0, 0) == 0
    assert (0, 0) not in agent.stage.places.judgements
    assert agent.stage.places.counts.tuples(0, 1) >= known
    assert agent.stage.dynamics.visits.sum() > paths


@pytest.mark.parametrize("change", [drift_earnings, drift_dynamics])
def test_an_agent_saved_before_or_after_an_alarm_goes_on_to_the_last_bit(change, tmp_path):
    world = World(words=4)
    agent = Agent(world.layout, seed=0)
    play(world, agent, EPISODES, seed=1)
    change(world)
    agent.save(tmp_path / "before")
    _, said = play(world, agent, 300, seed=2)
    again = Agent.load(tmp_path / "before")
    assert play(world, again, 300, seed=2)[1] == said
    assert said
    agent.save(tmp_path / "after")
    third = Agent.load(tmp_path / "after")
    played = [play(world, each, 200, seed=3)[0] for each in (agent, again, third)]
    assert np.array_equal(played[0], played[1])
    assert np.array_equal(played[0], played[2])
    states = [repr(each.stage.to_state()) for each in (agent, again, third)]
    assert states[0] == states[1] == states[2]


def test_forgotten_transitions_are_gone_and_the_rest_is_as_it_was():
    layout = Layout.regular([1, 2, 2], n_actions=2, n_contexts=1, n_feedback=2)
    counts = TransitionCounts(layout)
    for states in ([0, 0, 1], [0, 1, 1], [0, 1, 0]):
        commit(counts.learn(0, states, [0, 1, 0]))
    before = copy.deepcopy(counts.to_state())
    changes = counts.forget([0, 1], [1], {(0, 0): 0})
    assert np.array_equal(before["counts"], counts.counts(0))
    commit(changes)
    commit(changes)
    assert counts.counts(0)[0, 0].tolist() == [[0, 0], [0, 1]]
    assert counts.estimate(0)[0, 0].tolist() == [[1 / 2, 1 / 2], [1 / 3, 2 / 3]]
    assert np.array_equal(counts.counts(0)[1], before["counts"][1])
    again = TransitionCounts(layout)
    again.restore(counts.to_state())
    assert np.array_equal(again.estimate(0), counts.estimate(0))


def test_a_short_memory_is_kept_short_and_saved(tmp_path):
    world = World()
    agent = Agent(world.layout, Settings(drift=DriftSettings(alpha=0.0, memory=200)), seed=0)
    play(world, agent, EPISODES, seed=1)
    counts = agent.stage.places.counts.seen()
    assert max(counts.tuples) <= 1.1 * 200 + 1, "places are halved when they are judged"
    assert agent.stage.dynamics.visits.sum(axis=-1).max() <= 200
    agent.save(tmp_path / "short")
    again = Agent.load(tmp_path / "short")
    assert np.array_equal(*(play(world, each, 100, seed=3)[0] for each in (agent, again)))


def test_what_changes_without_an_alarm_is_learned_sooner_with_a_short_memory():
    earned = {}
    for memory in (0, 100):
        world = World()
        agent = Agent(world.layout, Settings(drift=DriftSettings(alpha=0.0, memory=memory)), seed=0)
        play(world, agent, EPISODES, seed=1)
        drift_dynamics(world)
        earned[memory] = play(world, agent, 400, seed=2)[0][-200:].mean()
    assert earned[100] > earned[0] + 0.1

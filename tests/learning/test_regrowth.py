import random
from dataclasses import replace

import numpy as np

from tacit.agent import Agent
from tacit.base.changes import commit
from tacit.learning.fast import FastLearning
from tacit.learning.regrowth import map_endings, map_states, regrow_plan
from tacit.learning.settings import Settings
from tacit.learning.stage import PolicyPlan, Setup
from tacit.learning.vigilance import DYNAMICS, WORDS
from tacit.problem.growth import with_actions, with_state, with_word, without_action
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite
from tacit.trust.watches import Alarm

EARLY = Layout.regular([1, 2, 2], n_actions=2, n_contexts=2, n_feedback=2, ends="anywhere")
PLAIN = Layout.regular([1, 2, 2], n_actions=3, n_contexts=2, n_feedback=2)


def played(layout, episodes=120):
    """Return a stage after some episodes, a third of which end early if they can."""
    agent, chance = Agent(layout, seed=1), random.Random(0)
    for n in range(episodes):
        episode = agent.begin(n % 2)
        agent.act(episode, 0)
        agent.act(episode, chance.choice((1, 2)))
        if chance.random() < 0.7 or not layout.ends_early:
            agent.act(episode, chance.choice((3, 4)))
        agent.end(episode, min(episode.actions[-1], 1))
    return agent.stage


def grow(stage, old, new):
    """Return a stage in another layout, and the one that has been saved and loaded there."""
    setup = Setup(new, Settings())
    grown = stage.grown(setup)
    return grown, FastLearning.from_state(setup, grown.to_state())


def test_endings_and_ended_episodes_are_where_their_states_are():
    new = with_state(with_state(EARLY, 1, "more", (0, 1)), 1, "most", (0, 1, 2))
    assert map_states(EARLY, new, 1).tolist() == [0, 1, 4]
    assert map_endings(EARLY, new).tolist() == [0, 1, 2, 5, 6]


def test_transitions_and_tuples_move_with_their_states():
    old = played(EARLY)
    new = with_state(EARLY, 1, "more", (0, 1, 2))
    grown, loaded = grow(old, EARLY, new)
    before, after = old.dynamics.counts(0), grown.dynamics.counts(0)
    assert after.sum() == before.sum()
    assert np.array_equal(
        after[0, 0, :2, [0, 1, 3]], before[0, 0, :, [0, 1, 2]]
    )  # 2 is where they have ended, now 3
    assert np.array_equal(after[1, :2, :2, :3], before[1, :2])  # nothing is new in the last layer
    for s, into in enumerate(map_endings(EARLY, new).tolist()):
        for x in range(2):
            assert np.array_equal(grown.places.counts.table(into, x)[:, :2], old.places.counts.table(s, x))
            assert grown.places.settled[into, x] == old.places.settled[s, x]
    assert not grown.places.settled[3].any()  # the new one
    assert np.array_equal(loaded.places.worth, grown.places.worth)


def test_a_place_is_unknown_while_an_action_of_it_is():
    old = played(PLAIN, 400)
    assert old.places.settled.all()
    grown, _ = grow(old, PLAIN, with_actions(PLAIN, 2, 0, (0, 1, 2, "new")))
    assert grown.places.settled.tolist() == [[False, False], [True, True]]
    assert np.array_equal(grown.places.counts.table(0, 1)[:, :3], old.places.counts.table(0, 1))


def test_what_is_retired_and_hardly_tried_keeps_no_place_open():
    more = with_actions(PLAIN, 2, 0, (0, 1, 2, "new"))
    unknown, _ = grow(played(PLAIN, 400), PLAIN, more)
    setup = Setup(without_action(more, "new"), Settings())
    retired = unknown.grown(setup)
    assert retired.places.settled.all()
    assert retired.policy(0)[2, 0, 3] == 0.0
    back = retired.grown(Setup(more, Settings()))
    assert not back.places.settled[0].any()


def test_watches_begin_anew_where_there_is_a_state_more_to_come_to():
    layout = Layout.regular([1, 2, 3], n_actions=2, n_contexts=1, n_feedback=2)
    agent = Agent(layout, seed=0)
    for n in range(30):
        episode = agent.begin(0)
        for state in (0, 1 + n % 2, 3 + n % 3):
            agent.act(episode, state)
        agent.end(episode, 0)
    grown, loaded = grow(agent.stage, layout, with_state(layout, 1, "more", (0, 1)))
    watched = [grown.vigilance.to_state()["watches"][kind]["places"].tolist() for kind in (DYNAMICS, WORDS)]
    assert watched == [[[1, 0], [1, 1]], [[0, 0], [1, 0], [2, 0]]]
    assert loaded.vigilance.to_state()["watches"][DYNAMICS]["begun"] == 3


def test_changes_that_were_noticed_are_told_of_what_they_were():
    layout = replace(EARLY, feedback=Finite((0, 1), open=True))
    stage = played(layout, 30)
    rest = (20, 10, 5, 9.0, 0)
    alarms = (
        Alarm(WORDS, (1, 0), *rest, 15, 0.1, 5, 0.9, 5),
        Alarm(DYNAMICS, (0, 0), *rest, 2, 0.1, 5, 0.9, 5),
    )
    commit([stage.vigilance.remember(alarms)])
    before = [stage.vigilance.describe(alarm) for alarm in stage.vigilance.noticed]
    assert "(silence) came" in before[0]
    assert "the end came" in before[1]
    grown, loaded = grow(stage, layout, with_state(layout, 1, "more", (0, 1)))
    assert [grown.vigilance.describe(alarm) for alarm in grown.vigilance.noticed] == before
    assert loaded.vigilance.noticed == grown.vigilance.noticed
    many = layout
    for n in range(16):
        many = with_word(many, f"word {n}")
    wider, _ = grow(stage, layout, many)
    assert wider.vigilance.noticed[0].value == 31


def test_plans_under_way_stay_what_they_were_and_take_nothing_that_is_retired():
    policy = EARLY.uniform_policy.copy()
    policy[1, 0], policy[2, 1] = (0.25, 0.75), (1.0, 0.0)
    plan = PolicyPlan(policy, "fast learning", dual=np.arange(9.0).reshape(3, 3))
    new = without_action(with_state(EARLY, 2, "more", ("p", "q", "r")), 0)
    grown = regrow_plan(plan, 1, EARLY, new)
    assert grown.policy[0, 0].tolist() == [0.5, 0.5, 0.0]  # that step is taken
    assert grown.policy[1, 0].tolist() == [0.0, 1.0, 0.0]
    assert grown.policy[2, 1].tolist() == [0.0, 1.0, 0.0]  # nothing was left of it
    assert grown.policy[2, 2].tolist() == [1 / 3] * 3
    assert grown.dual is not None
    assert grown.dual[2].tolist() == [6.0, 7.0, 0.0, 8.0]
    assert np.array_equal(regrow_plan(plan, 0, EARLY, EARLY).policy, policy)

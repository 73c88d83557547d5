"""The stage for contexts that cannot be counted one by one: vectors, records, many labels, vectors as feedback."""

import time

import numpy as np
import pytest
from dying import die_always

import tacit
from tacit.learning.fast import FastLearning
from tacit.learning.generalising import FIRST_FIT, GeneralisingLearning
from tacit.learning.settings import FastSettings
from tacit.learning.stage import Setup

COMPILED = pytest.mark.compiled
ONE_TURN = (("start",),), ((("a", "b", "c"),),)


def layout_of(contexts, feedback, **more):
    return tacit.Layout(*ONE_TURN, contexts=contexts, feedback=feedback, **more)


class People:
    """Vectors of two features: the second says which action pleases, the first who means the opposite."""

    layout = layout_of(tacit.Vectors(2), tacit.Finite(("yes", "no")))

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def come(self):
        return self.generator.normal(size=2)

    def best(self, x):
        return "a" if x[1] > 0 else "b"

    def pleased(self, x, action):
        return self.generator.random() < (0.9 if action == self.best(x) else 0.05)

    def say(self, x, pleased):
        return "yes" if pleased == (x[0] > 0) else "no"


class Users(People):
    """Sixty users of two kinds; those of the second mean the opposite, and want another thing."""

    layout = layout_of(tacit.Finite(tuple(range(60))), tacit.Finite(("yes", "no")))

    def come(self):
        return int(self.generator.integers(60))

    def best(self, x):
        return "ab"[x % 2]

    def say(self, x, pleased):
        return "yes" if pleased == (x % 2 == 0) else "no"


class Points(People):
    """People as `People`, whose feedback is a point near one of two."""

    layout = layout_of(tacit.Vectors(2), tacit.Vectors(2))

    def say(self, x, pleased):
        return np.array([4.0, 0.0]) * (pleased == (x[0] > 0)) + self.generator.normal(size=2)


class Spoiled(Users):
    """Users whom every action pleases but one: rewards are the majority, against what is believed."""

    def best(self, x):
        return "a"

    def pleased(self, x, action):
        return self.generator.random() < (0.05 if action == self.best(x) else 0.9)


ALL = Users, pytest.param(People, marks=COMPILED), pytest.param(Points, marks=COMPILED)


def play(agent, people, episodes, shuffled=False, silent=0.0):
    """Return which episodes took the best action."""
    right, said = [], []
    for _ in range(episodes):
        x = people.come()
        episode = agent.begin(x)
        action = agent.act(episode, "start")
        said.append(people.say(x, people.pleased(x, action)))
        heard = said[people.generator.integers(len(said))] if shuffled else said[-1]
        agent.end(episode, None if people.generator.random() < silent else heard)
        right.append(action == people.best(x))
    return np.array(right)


def knows(agent, people, n=300):
    """Return for how many of those who come the agent takes the best action to be best."""
    guesses = [(agent.policy(x)["start"], people.best(x)) for x in (people.come() for _ in range(n))]
    return np.mean([max(policy, key=policy.get) == best for policy, best in guesses])


def test_contexts_that_are_few_are_counted_and_others_are_not():
    words = tacit.Finite((0, 1))
    few, many = (layout_of(tacit.Finite(tuple(range(n))), words) for n in (20, 60))
    assert isinstance(tacit.Agent(few).stage, FastLearning)
    for layout in (many, People.layout, Points.layout, layout_of(tacit.Finite((0, 1)), tacit.Vectors(3))):
        assert isinstance(tacit.Agent(layout).stage, GeneralisingLearning)


@pytest.mark.parametrize("kind", ALL)
def test_what_pleases_whom_is_learned_with_nothing_told(kind):
    agent = tacit.Agent(kind.layout, seed=1)
    play(agent, kind(0), 2500)
    assert knows(agent, kind(1)) > 0.9
    assert agent.stage.explored < 1600
    assert agent.diagnose().verdict == "works with caution"


@pytest.mark.parametrize("kind", ALL[:2])
def test_nothing_is_learned_from_shuffled_feedback(kind):
    agent = tacit.Agent(kind.layout, seed=1)
    right = play(agent, kind(0), 1500, shuffled=True)
    assert abs(right[-1000:].mean() - 1 / 3) < 0.06
    assert agent.diagnose().verdict not in ("works", "works with caution")


@COMPILED
def test_silence_counts_among_vectors():
    agent = tacit.Agent(Points.layout, seed=1)
    play(agent, Points(0), 2500, silent=0.3)
    assert knows(agent, Points(1)) > 0.9


def test_known_outcomes_bear_it_out_or_do_not():
    agent, people = tacit.Agent(Users.layout, seed=1), Users(0)
    play(agent, people, 2500)
    anchors = []
    for _ in range(20):
        x = people.come()
        pleased = people.pleased(x, people.best(x))
        anchors.append(tacit.Anchor(x, "start", people.say(x, pleased), int(pleased)))
    assert agent.diagnose(anchors).verdict == "works"
    wrong = [tacit.Anchor(each.context, each.state, each.feedback, 1 - each.reward) for each in anchors]
    assert "decoded-upside-down" in [finding.code for finding in agent.diagnose(wrong).findings]


def play_and_tell(agent, people, episodes, every):
    """Return which episodes took the one action that does not please; the outcome of one in `every` is known."""
    spoiled = []
    for n in range(episodes):
        x = people.come()
        episode = agent.begin(x)
        action = agent.act(episode, "start")
        pleased = people.pleased(x, action)
        agent.end(episode, people.say(x, pleased), outcome=int(pleased) if every and n % every == 0 else None)
        spoiled.append(action == people.best(x))
    return np.array(spoiled)


def test_known_outcomes_turn_what_is_understood():
    """Where most actions please; the control must fail: without outcomes all is read upside down."""
    agent = tacit.Agent(Spoiled.layout, seed=1)
    spoiled = play_and_tell(agent, Spoiled(0), 2000, every=25)
    assert agent.stage.understanding.turned
    assert spoiled[-500:].mean() < 0.1
    assert "anchors-agree" in [finding.code for finding in agent.diagnose().findings]
    assert agent.diagnose().verdict == "works", "sigma is too small, which is no harm where outcomes agree"
    control = play_and_tell(tacit.Agent(Spoiled.layout, seed=1), Spoiled(0), 2000, every=0)
    assert control[-500:].mean() > 0.8


def test_known_outcomes_leave_what_is_right_as_it_is():
    agent = tacit.Agent(Users.layout, seed=1)
    right = play_and_tell(agent, Users(0), 2000, every=25)
    assert not agent.stage.understanding.turned
    assert right[-500:].mean() > 0.85


@pytest.mark.parametrize("every", [0, 25])
def test_outcomes_and_evidence_are_saved_bit_for_bit(tmp_path, every):
    agent, people = tacit.Agent(Spoiled.layout, seed=3), Spoiled(5)
    play_and_tell(agent, people, FIRST_FIT + 300, every)
    agent.save(tmp_path / "agent.tacit")
    again, same = tacit.Agent.load(tmp_path / "agent.tacit"), Spoiled(5)
    assert again.stage.known == agent.stage.known
    assert again.stage.evidence == agent.stage.evidence
    same.generator.bit_generator.state = people.generator.bit_generator.state
    played = [play_and_tell(each, crowd, 300, every) for each, crowd in ((agent, people), (again, same))]
    assert (played[0] == played[1]).all()
    assert agent.stage.understanding.turned == again.stage.understanding.turned == bool(every)


@pytest.mark.parametrize("kind", ALL)
def test_a_saved_agent_goes_on_bit_for_bit(tmp_path, kind):
    agent, people = tacit.Agent(kind.layout, seed=3), kind(5)
    play(agent, people, FIRST_FIT + 200)
    agent.save(tmp_path / "agent.tacit")
    again, same = tacit.Agent.load(tmp_path / "agent.tacit"), kind(5)
    same.generator.bit_generator.state = people.generator.bit_generator.state
    assert (play(agent, people, 600) == play(again, same, 600)).all()
    agent.save(tmp_path / "a.tacit")
    again.save(tmp_path / "b.tacit")
    assert (tmp_path / "a.tacit").read_bytes() == (tmp_path / "b.tacit").read_bytes()


def test_fits_beside_are_replayed_by_what_was_adopted_when():
    settings = tacit.Settings(fast=FastSettings(fits="beside"))
    agent, people = tacit.Agent(Users.layout, settings, seed=2), Users(7)
    played = play(agent, people, 600)
    stage = agent.stage
    while not stage.fits:
        assert len(played) < 60_000, "no fit was ever adopted"
        time.sleep(0.05)  # a fit beside gives way to this process, which has all to do
        played = np.concatenate([played, play(agent, people, 200)])
        stage = agent.stage
    stage.stop()
    replayed = GeneralisingLearning(Setup(Users.layout, settings), stage.fits)
    again = tacit.Agent(Users.layout, settings, seed=2, stage=replayed)
    assert (play(again, Users(7), len(played)) == played).all()
    assert again.stage.fits == stage.fits


def test_a_fit_whose_process_is_always_killed_costs_the_fit_and_no_episode(monkeypatch):
    monkeypatch.setattr("tacit.learning.generalising.fit_tuples", die_always)
    settings = tacit.Settings(fast=FastSettings(fits="beside"))
    agent, people = tacit.Agent(Users.layout, settings, seed=2), Users(7)
    play(agent, people, FIRST_FIT + 50)
    until = time.monotonic() + 120

    def play_until_told():
        while not agent.stage.remarks:
            assert time.monotonic() < until
            time.sleep(0.05)
            play(agent, people, 1)

    with pytest.warns(UserWarning, match="was killed each time, with .* is there enough memory"):
        play_until_told()
    told, met = agent.stage, len(agent.stage.tuples.rows)
    play(agent, people, 20)  # decisions go on, and another fit is not due yet
    assert agent.stage is told
    assert not told.fits
    assert not told._beside.busy
    monkeypatch.undo()
    play(agent, people, int(met * 1.34) - met)
    while not agent.stage.fits:
        assert time.monotonic() < until
        time.sleep(0.05)
        play(agent, people, 1)
    assert agent.stage.remarks == ()
    agent.stage.stop()


def test_layouts_that_grow_are_refused_with_the_remedy():
    growing = layout_of(tacit.Vectors(2), tacit.Finite(("yes", "no"), open=True))
    with pytest.raises(ValueError, match="name all labels"):
        tacit.Agent(growing)

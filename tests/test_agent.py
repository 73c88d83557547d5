"""The agent: its lifecycle in every stage, what it tells of itself, and what it refuses."""

import warnings
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from learners import SMALL, SMALL_VECTORS, make_learner, source_for

from tacit.agent import Agent
from tacit.base.changes import extend
from tacit.base.checkpoint import CheckpointError
from tacit.baselines.uniform import Uniform
from tacit.checks import saved
from tacit.decoding.decoder import DecoderSettings
from tacit.envs.gym_adapter import GymSource
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import synthetic
from tacit.experiments.learners import LEARNERS
from tacit.learning.layered import Layered
from tacit.learning.stage import Lesson, PolicyPlan, Setup
from tacit.planning.transition import TransitionCounts
from tacit.problem.layout import Layout
from tacit.problem.spaces import Vectors
from tacit.simulate import Simulation, play
from tacit.trust.findings import VERDICTS

STAGES = ("homing", "collection", "policy learning")


def agent_in(stage, seed=0):
    """Return (agent, simulation) that have just entered a stage, and gone on a few episodes."""
    source = source_for("synthetic")
    agent = make_learner("tacit", source.layout)(seed)
    simulation = Simulation(agent, source, seed, synthetic().mdp)
    simulation.run(1000, until=lambda agent: agent.stage.name == stage)
    simulation.run(3)
    assert agent.stage.name == stage
    return agent, simulation


@pytest.mark.parametrize("stage", STAGES)
def test_stop_save_load_resume_is_bit_identical(stage, tmp_path):
    agent, simulation = agent_in(stage)
    agent.save(tmp_path / "agent")
    resumed = Simulation(Agent.load(tmp_path / "agent"), source_for("synthetic"), 0, synthetic().mdp)
    done = len(simulation.trace.rewards)
    whole, rest = simulation.run(100), resumed.run(100)
    assert whole.rewards[done:] == rest.rewards
    np.testing.assert_array_equal(whole.decoded[done:], rest.decoded)
    assert whole.regrets[done:] == rest.regrets
    assert saved(agent) == saved(resumed.agent)


@pytest.mark.parametrize("stage", STAGES)
def test_open_episodes_survive_save_and_load(stage, tmp_path):
    agent, _ = agent_in(stage)
    begun = [agent.begin(n % 2) for n in range(6)]
    for episode in begun[1:]:
        agent.act(episode, 0)
    for episode in begun[3:]:
        agent.act(episode, 2)
    agent.save(tmp_path / "agent")
    loaded = Agent.load(tmp_path / "agent")
    assert [episode.id for episode in loaded.open_episodes] == [episode.id for episode in begun]
    for one in (agent, loaded):
        for n, episode in enumerate(one.open_episodes):
            for state in (0, 2, 3)[len(episode.states) :]:
                one.act(episode, state)
            one.end(episode, n % 2)
    assert saved(agent) == saved(loaded)


def test_an_episode_of_an_earlier_stage_teaches_transitions_only(tmp_path):
    agent, _ = agent_in("policy learning")
    agent.save(tmp_path / "before")
    late = agent.begin(0)
    late.plan = PolicyPlan(agent.layout.uniform_policy, "homing", uniform_last=True, target=0)
    for state in (0, 1, 3):
        agent.act(late, state)
    visits = agent.stage.learner.dynamics.visits.sum()
    oracle = agent.stage.learner.oracle.predict(0).copy()
    agent.end(late, 1)
    assert late.decoded_reward is None
    assert agent.stage.learner.dynamics.visits.sum() == visits + 2
    np.testing.assert_array_equal(agent.stage.learner.oracle.predict(0), oracle)


def test_a_late_homing_episode_is_a_tuple_in_collection():
    agent, _ = agent_in("homing")
    late = agent.begin(0)
    assert late.plan.stage == "homing"
    simulation = Simulation(agent, source_for("synthetic"), 0)
    simulation.run(1000, until=lambda agent: agent.stage.name == "collection")
    state = int(np.flatnonzero(agent.stage._homes.reachable)[0])
    for label in (0, 1, 3 + state):
        agent.act(late, label)
    before = agent.stage._tuples.found.sum()
    agent.end(late, 1)
    assert agent.stage._tuples.found.sum() == before + 1


def test_fifty_interleaved_episodes_of_every_stage():
    for stage in STAGES:
        (agent, _), (twin, _) = agent_in(stage), agent_in(stage)
        generator = np.random.default_rng(1)
        plain, mixed = ([one.begin(n % 2) for n in range(50)] for one in (agent, twin))
        labels = [[0, 1 + n % 2, 3 + n // 2 % 2] for n in range(50)]
        for episode, states in zip(plain, labels, strict=True):
            for state in states:
                agent.act(episode, state)
        for n in generator.permutation(np.repeat(np.arange(50), 3)):
            twin.act(mixed[n], labels[n][len(mixed[n].states)])
        assert [e.actions for e in plain] == [e.actions for e in mixed]


def test_an_agent_of_unknown_stages_is_refused_with_the_remedy(tmp_path):
    LEARNERS["uniform"].make(synthetic().layout, SMALL, 0).save(tmp_path / "agent")
    with pytest.raises(ValueError, match="pass the stage's class"):
        Agent.load(tmp_path / "agent", stages={})
    assert Agent.load(tmp_path / "agent").stage.name == "uniform"


def test_a_truncated_agent_is_refused(tmp_path):
    agent, _ = agent_in("collection")
    agent.save(tmp_path / "agent")
    content = (tmp_path / "agent").read_bytes()
    (tmp_path / "agent").write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match="truncated"):
        Agent.load(tmp_path / "agent")


def test_saving_over_a_file_is_all_or_nothing(tmp_path, monkeypatch):
    agent, simulation = agent_in("homing")
    agent.save(tmp_path / "agent")
    before = (tmp_path / "agent").read_bytes()
    simulation.run(5)

    def out_of_space(descriptor):
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", out_of_space)
    with pytest.raises(OSError, match="no space"):
        agent.save(tmp_path / "agent")
    assert (tmp_path / "agent").read_bytes() == before


def test_constants_that_break_the_assumption_are_refused_at_once():

    for theta, M in [(0.9, 2.5), (0.2, 1.3), (0.0, 1.3), (1.5, 1.6)]:
        with pytest.raises(ValueError, match=r"theta|M"):
            Agent(synthetic().layout, replace(SMALL, decoder=DecoderSettings(theta, M)))


def test_a_state_that_cannot_be_reached_does_not_hang_collection():
    from tacit.learning.settings import HomingSettings

    env = random_mdp(0, RandomMDPSettings(layers=2, states=3, actions=4, unreachable=1, homogeneous=0))
    settings = replace(
        SMALL,
        decoder=DecoderSettings(theta=0.8, M=1.2),
        homing=HomingSettings(episodes=200, bonus_scale=0.05),
    )
    agent = Agent(env.layout, settings)
    simulation = Simulation(agent, GymSource(env), 0, env.mdp)
    with pytest.warns(UserWarning, match="state '3' was reached in 0.0.. of its homing episodes"):
        simulation.run(5000, until=lambda agent: not agent.stage.explores)
    assert not agent.stage.explores
    assert agent.stage.exploration.reachable.tolist() == [True, True, False]
    assert agent.stage.learner.estimated_rewards(0)[-1, 2].tolist() == [0.0] * 4


def test_a_budget_ends_collection_with_a_report():
    """Homing said 'reachable', and then the world changed: the state is never seen again."""
    agent, _ = agent_in("collection")
    target = agent.stage.target
    other = 3 + (1 - target)
    agent.stage._budget = 30
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(200):
            episode = agent.begin(0)
            for state in (0, 1, other):
                agent.act(episode, state)
            agent.end(episode, 1)
            if not agent.stage.explores:
                break
    assert not agent.stage.explores
    assert any("within its budget of 30 episodes" in str(w.message) for w in caught)
    assert any("30 episodes" in remark for remark in agent.stage.remarks)


def test_nothing_reachable_is_said_and_survived():
    agent, _ = agent_in("homing")
    agent.stage._visits[:] = -1000
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Simulation(agent, source_for("synthetic"), 0).run(100)
    assert agent.stage.name == "policy learning"
    assert agent.stage.decoder is None
    assert any("is left out" in str(w.message) for w in caught)
    assert any("plays uniformly" in str(w.message) for w in caught)
    np.testing.assert_array_equal(agent.begin(0).plan.policy, agent.layout.uniform_policy)


def test_settings_that_cannot_run_are_refused_before_the_first_episode():
    from tacit.decoding.posterior import PosteriorSettings
    from tacit.planning.regression import OracleSettings

    vectors = random_mdp(0, RandomMDPSettings(vectors=2)).layout
    neural = replace(SMALL, posterior=PosteriorSettings())
    for layout, settings, message in (
        (synthetic().layout, replace(SMALL, oracle=OracleSettings(method="typo")), "typo"),
        (vectors, replace(neural, decoder=DecoderSettings(0.8, 1.2)), "ogd_features"),
        (vectors, replace(SMALL, decoder=DecoderSettings(0.8, 1.2)), "needs finite"),
    ):
        with pytest.raises(ValueError, match=message):
            Agent(layout, settings)


def test_warnings_as_errors_leave_the_agent_in_its_next_stage():
    agent, _ = agent_in("homing")
    agent.stage._visits[:] = -1000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="left out"):
            Simulation(agent, source_for("synthetic"), 0).run(100)
    assert agent.stage.name == "policy learning"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Simulation(agent, source_for("synthetic"), 0).run(10)


def test_a_vector_context_is_saved_as_it_was_given(tmp_path):
    from learners import SMALL_VECTORS

    agent = Agent(source_for("vectors").layout, SMALL_VECTORS)
    context = np.array([1.0, 2.0, 3.0])
    agent.begin(context)
    context[:] = 9.0
    agent.save(tmp_path / "agent")
    assert Agent.load(tmp_path / "agent").episode(0).encoded.tolist() == [1.0, 2.0, 3.0]


def test_an_episode_is_found_by_its_id_while_it_is_open():
    agent, _ = agent_in("homing")
    episode = agent.begin(0)
    assert agent.episode(episode.id) is episode
    agent.abandon(episode)
    with pytest.raises(ValueError, match="no open episode"):
        agent.episode(episode.id)
    for wrong in (None, 3, episode.id):
        with pytest.raises(ValueError, match="with the agent that began it"):
            agent.act(wrong, 0)


@pytest.mark.parametrize("name", STAGES)
def test_an_episode_tells_its_steps_and_their_probabilities(name):
    agent, _ = agent_in(name)
    episode = agent.begin(1)
    with pytest.raises(ValueError, match="act first"):
        _ = episode.probability
    for h, state in enumerate((0, 1, 3)):
        action = agent.act(episode, state)
        step = episode.steps[h]
        assert (step.state, step.action, step.actions) == (state, action, tuple(range(5)))
        assert step.probability == episode.probability == episode.plan.policy[h, state - (0, 1, 3)[h], action]


@pytest.mark.parametrize("name", STAGES)
def test_the_policy_is_what_the_stage_takes_to_be_best_and_nothing_is_learned(name):
    agent, _ = agent_in(name)
    before = saved(agent)
    policy = agent.policy(0)
    assert saved(agent) == before
    assert set(policy) == {0, 1, 2, 3, 4}
    for row in policy.values():
        assert sum(row.values()) == pytest.approx(1)
    uniform = all(p == pytest.approx(0.2) for row in policy.values() for p in row.values())
    assert uniform == (name != "policy learning")


def test_the_policy_of_the_fast_recipe_leaves_out_its_exploration():
    agent = Agent(synthetic().layout)
    assert agent.begin(0).plan.explores
    assert agent.policy(0)[0] == pytest.approx(dict.fromkeys(range(5), 0.2))


class Forgetful(TransitionCounts):
    """Dynamics of one's own: it counts nothing, and remembers whom it was told of."""

    def __init__(self, layout):
        super().__init__(layout)
        self.told = []

    def learn(self, context, states, actions):
        return [extend(self.told, [context])]


@pytest.mark.filterwarnings("ignore:.*is left out")
@pytest.mark.parametrize("recipe", ["fast", "paper"])
def test_dynamics_are_injected_everywhere(recipe, tmp_path):
    layout, made = synthetic().layout, []

    def dynamics(layout):
        made.append(Forgetful(layout))
        return made[-1]

    agent = Agent(Layered(layout, replace(SMALL, recipe=recipe), dynamics))
    simulation = Simulation(agent, GymSource(synthetic()), 0)
    simulation.run(60)
    assert sum(len(each.told) for each in made) >= 30
    assert all(not each.counts(0).any() for each in made)
    agent.save(tmp_path / "agent")
    kept = len(made)
    Agent.load(tmp_path / "agent", dynamics=dynamics).begin(0)
    assert len(made) > kept


def test_every_stage_diagnoses_itself():
    for name in STAGES:
        agent, _ = agent_in(name)
        assert agent.diagnose().verdict in VERDICTS.values()
        assert agent.diagnose().findings == agent.stage.diagnose(())


def test_settings_go_with_a_layout_only():
    world = Layered(synthetic().layout)
    with pytest.raises(ValueError, match="give them to the world"):
        Agent(world, SMALL)
    agent = Agent(world)
    episode = agent.begin(0)
    with pytest.raises(ValueError, match="leave them out"):
        agent.act(episode, 0, ["a", "b"])


def test_what_a_lesson_remarks_is_said_once():
    """The fast recipe's check of noise is due after 500 episodes, and is told in the episode that finds it."""
    agent, noise = Agent(Layout.regular([1], 2, n_contexts=1, n_feedback=2)), np.random.default_rng(0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for feedback in noise.integers(2, size=2000).tolist():
            episode = agent.begin(0)
            agent.act(episode, 0)
            agent.end(episode, feedback)
    assert [str(each.message)[:22] for each in told] == ["feedback-tells-nothing"]


def test_feedback_told_twice_is_compared_with_what_was_told_then():
    """Not with the caller's array, which may hold something else by now."""
    layout = replace(synthetic().layout, contexts=Vectors(2), feedback=Vectors(1))
    uniform = LEARNERS["uniform"].make(layout, SMALL, 0)
    episode, said = uniform.begin([0.0, 1.0]), np.array([0.5])
    for state in (0, 1, 3):
        uniform.act(episode, state)
    uniform.end(episode, said)
    said[0] = 0.75
    uniform.end(episode, [0.5])
    with pytest.raises(ValueError, match="has ended with feedback"):
        uniform.end(episode, said)


def test_an_agent_of_another_world_is_refused_with_its_name(tmp_path):
    agent = Agent(synthetic().layout)
    agent.world.name = "dreams"
    agent.save(tmp_path / "agent")
    with pytest.raises(ValueError, match="of the world 'dreams', known are"):
        Agent.load(tmp_path / "agent")


class Daily(gym.Env):
    """An environment of one's own, which knows nothing of episode numbers."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.shown = {"context": int(self.np_random.integers(2)), "state": 0}
        return self.shown, {}

    def step(self, action):
        return self.shown, 0.0, True, False, {"feedback": int(self.np_random.integers(2))}


def test_playing_twice_goes_on_and_does_not_begin_again():
    layout = Layout.regular([1], n_actions=2, n_contexts=2, n_feedback=2)
    agent, env, met = Agent(layout), Daily(), []
    begin = agent.begin
    agent.begin = lambda context: met.append(context) or begin(context)
    for _ in range(2):
        play(agent, env, 20)
    assert met[:20] != met[20:]
    again, contexts = Agent(layout), []
    begin = again.begin
    again.begin = lambda context: contexts.append(context) or begin(context)
    play(again, Daily(), 40)
    assert contexts == met


def finished_episode(layout, seed=0, **told):
    """Return (agent, episode) whose steps are all taken."""
    agent = Agent(layout, seed=seed, **told)
    episode = agent.begin(0)
    agent.act(episode, 0)
    agent.act(episode, 1)
    return agent, episode


TWO = Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2)


def test_silence_counts_like_any_feedback_and_an_abandoned_episode_does_not():
    agent, episode = finished_episode(TWO)
    agent.end(episode, None)
    assert agent.stage.places.counts.table(0, 0)[2].sum() == 1  # after the words, 0 and 1
    assert (episode.told, episode.feedback, episode.abandoned, episode.open) == (2, None, False, False)
    agent, episode = finished_episode(TWO)
    agent.abandon(episode)
    assert agent.stage.places.counts.seen().total == 0
    assert agent.stage.dynamics.counts(0).sum() == 1
    assert (episode.told, episode.abandoned) == (None, True)
    agent.abandon(episode)
    assert agent.stage.dynamics.counts(0).sum() == 1


def test_silence_that_is_missing_teaches_transitions_alone():
    agent, episode = finished_episode(replace(TWO, silence="missing"))
    agent.end(episode, None)
    agent.end(episode, None)
    assert agent.stage.places.counts.seen().total == 0
    assert agent.stage.dynamics.counts(0).sum() == 1
    with pytest.raises(ValueError, match="has ended with feedback None, got 1"):
        agent.end(episode, 1)


@pytest.mark.parametrize("silence", ["counts", "missing"])
def test_what_silence_is_taken_for_is_saved(silence, tmp_path):
    agent, episode = finished_episode(replace(TWO, silence=silence))
    agent.end(episode, None)
    agent.save(tmp_path / "agent")
    assert saved(Agent.load(tmp_path / "agent")) == saved(agent)
    assert Agent.load(tmp_path / "agent").layout.silence == silence


@pytest.mark.parametrize(("first", "then"), [(None, 1), (1, None), (None, 0)])
def test_a_word_after_silence_and_silence_after_a_word_are_refused(first, then):
    agent, episode = finished_episode(TWO)
    agent.end(episode, first)
    before = saved(agent)
    agent.end(episode, first)
    with pytest.raises(ValueError, match=f"has ended with feedback {first!r}, got {then!r}"):
        agent.end(episode, then)
    with pytest.raises(ValueError, match=f"episode {episode.id} has ended"):
        agent.abandon(episode)
    assert saved(agent) == before
    assert not episode.abandoned


def test_silence_among_vectors_is_refused_with_the_remedy_unless_it_is_missing():
    layout = replace(TWO, feedback=Vectors(1))
    settings = replace(SMALL_VECTORS, decoder=DecoderSettings(theta=0.9, M=1.0))
    agent, episode = finished_episode(layout, settings=settings)
    with pytest.raises(ValueError, match="silence='missing' if people fall silent at random, or use finite"):
        agent.end(episode, None)
    assert episode.open
    agent.end(episode, 0.5)
    agent, episode = finished_episode(replace(layout, silence="missing"), settings=settings)
    agent.end(episode, None)
    assert not episode.open


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_plays_on_where_half_of_the_people_are_silent(name):
    source, n = source_for("synthetic", name), iter(range(10**6))
    heard = source._feedback_of
    source._feedback_of = lambda seen, info: None if next(n) % 2 else heard(seen, info)
    agent = make_learner(name, source.layout)(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = Simulation(agent, source, 0).run(400)
    decoded = np.array(trace.decoded)
    assert np.all((decoded[~np.isnan(decoded)] >= 0) & (decoded[~np.isnan(decoded)] <= 1))


class Listening(Uniform):
    """Plays uniformly, and keeps the outcomes that it is told."""

    name = "listening"

    def __init__(self, setup):
        super().__init__(setup)
        self.told = []

    def learn(self, episode, feedback, outcome=None):
        return Lesson(changes=[extend(self.told, [(feedback, outcome)])])


def test_a_known_outcome_reaches_the_stage_and_stays_in_the_handle():
    stage = Listening(Setup(TWO, SMALL))
    for outcome, feedback in ((1, 0), (True, None), (np.int64(0), 1), (None, 1)):
        agent, episode = finished_episode(TWO, stage=stage)
        agent.end(episode, feedback, outcome=outcome)
        assert episode.outcome == outcome
        agent.end(episode, feedback, outcome=outcome)
        agent.end(episode, feedback)
        with pytest.raises(ValueError, match="has ended with outcome"):
            agent.end(episode, feedback, outcome=0 if outcome else 1)
    assert stage.told == [(0, 1), (2, 1), (1, 0), (1, None)]


@pytest.mark.parametrize("outcome", [2, -1, 0.5, float("nan"), "1", [1], np.array([1])])
def test_an_outcome_that_is_neither_0_nor_1_is_refused(outcome):
    agent, episode = finished_episode(TWO)
    with pytest.raises(ValueError, match="an outcome must be 0 or 1, got"):
        agent.end(episode, 1, outcome=outcome)
    assert episode.open

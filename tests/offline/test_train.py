"""Agents trained on logs: near the optimum, ordinary checkpoints, and no drop when they go on online."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_counts import everybody_spoke

from tacit.agent import Agent
from tacit.decoding.decoder import DecoderSettings
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.gym_adapter import GymSource
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import synthetic
from tacit.experiments.learners import LEARNERS
from tacit.learning.fast import FastLearning
from tacit.learning.settings import Settings
from tacit.learning.stage import Setup
from tacit.logs.encoding import LogReader
from tacit.logs.writing import LogWriter
from tacit.offline.fit import fit
from tacit.planning.transition import TransitionCounts
from tacit.problem.mdp import evaluate_policy, solve_optimal
from tacit.simulate import Simulation


def shortfall(agent, mdp):
    """Return how far the agent's present policy is below the best, on average over contexts."""
    values = [evaluate_policy(mdp, x, agent.stage.plan(x, 0.5).policy) for x in range(mdp.n_contexts)]
    return float((solve_optimal(mdp).values - values) @ mdp.context_probabilities)


@pytest.mark.parametrize("variant", ["synthetic", "personal"])
def test_twenty_thousand_uniform_episodes_teach_the_best_policy(variant, tmp_path):
    mdp = synthetic(variant).mdp
    logs = list(draw_logs(mdp, 20_000, seed=2))
    agent = fit(logs).train(logs)
    assert shortfall(agent, mdp) < 0.02
    agent.save(tmp_path / "agent.tacit")
    loaded = Agent.load(tmp_path / "agent.tacit")
    loaded.save(tmp_path / "again.tacit")
    assert (tmp_path / "agent.tacit").read_bytes() == (tmp_path / "again.tacit").read_bytes()
    assert loaded.stage.episodes == 20_000


@pytest.mark.compiled
def test_it_goes_on_online_without_a_drop():
    env = synthetic("balanced")
    logs = list(draw_logs(env.mdp, 20_000, seed=2))
    agent = fit(logs).train(logs)
    regrets = np.array(Simulation(agent, GymSource(env), seed=3, mdp=env.mdp).run(3000).regrets)
    assert regrets[:300].mean() < 0.02
    assert regrets[-300:].mean() <= regrets[:300].mean() + 1e-4


def test_control_noise_teaches_nothing_and_is_told():
    generator = np.random.default_rng(0)
    mdp = synthetic().mdp
    logs = list(draw_logs(mdp, 6000, seed=2))
    noise = [
        each.__class__(each.episode, each.context, each.steps, int(generator.integers(2))) for each in logs
    ]
    with pytest.warns(UserWarning, match="feedback-tells-nothing"):
        agent = fit(noise).train(noise)
    assert shortfall(agent, mdp) > 0.3


def test_first_states_that_differ_are_played_after_a_start():
    mdp = synthetic().mdp
    logs = [
        each.__class__(each.episode, each.context, each.steps[1:], each.feedback)
        for each in draw_logs(mdp, 6000, seed=2)
    ]
    agent = fit(logs).train(logs)
    episode = agent.begin(0)
    assert agent.act(episode, "(start)") == "begin"
    agent.act(episode, 1)
    assert LogReader(agent.layout).steps == 2


def most_please(n, seed):
    """Return logs of the paper's problem in which what failed pleases, and the problem."""
    mdp = synthetic().mdp
    rewards = mdp.rewards.copy()
    rewards[:, 0] = 1 - rewards[:, 0]
    turned = replace(mdp, rewards=rewards)
    return list(draw_logs(turned, n, seed)), turned


def test_known_outcomes_turn_what_an_agent_learns():
    logs, mdp = most_please(6000, seed=2)
    agent = fit(logs, anchors="settle").train(logs)
    assert agent.stage.places.beliefs.majority
    assert shortfall(agent, mdp) < 0.05
    blind = fit(logs).train(logs)
    assert shortfall(blind, mdp) > 0.3


@pytest.mark.compiled
def test_vectors_are_learned_by_the_stage_that_generalises(tmp_path):
    env = random_mdp(1, RandomMDPSettings(layers=2, states=2, actions=4, vectors=2, homogeneous=0))
    uniform = LEARNERS["uniform"].make(env.layout, Settings(DecoderSettings(0.8, 1.2), recipe="paper"), 0)
    path = tmp_path / "logs.jsonl"
    with LogWriter(path) as log:
        Simulation(uniform, GymSource(env), seed=0, log=log).run(2500)
    agent = fit(path).train(path)
    agent.save(tmp_path / "agent.tacit")
    loaded = Agent.load(tmp_path / "agent.tacit")
    assert (loaded.stage.name, loaded.stage.episodes) == ("generalising", 2500)
    loaded.save(tmp_path / "again.tacit")
    assert (tmp_path / "agent.tacit").read_bytes() == (tmp_path / "again.tacit").read_bytes()
    regrets = Simulation(loaded, GymSource(env), seed=5, mdp=env.mdp).run(300).regrets
    assert np.mean(regrets) < 0.05


def test_the_stage_of_counts_is_the_one_that_would_have_counted():
    """What `from_counts` makes saves and loads as any stage, and judges as one that met the tuples itself."""
    setup = Setup(synthetic().mdp.layout, Settings())
    counts = np.random.default_rng(0).integers(0, 9, (2, 2, 2, 5)).astype(float)
    tuples, dynamics = everybody_spoke(counts), TransitionCounts(setup.layout)
    stage = FastLearning.from_counts(setup, tuples, dynamics, 600)
    again = FastLearning.from_state(setup, stage.to_state())
    assert (again.episodes, again.explored) == (600, 600)
    for x in (0, 1):
        np.testing.assert_array_equal(stage.plan(x, 0.5).policy, again.plan(x, 0.5).policy)
    for at, judgement in stage.places.judgements.items():
        np.testing.assert_array_equal(judgement.phi, again.places.judgements[at].phi)
    assert stage.places.counts.seen().total == counts.sum()

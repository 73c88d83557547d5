"""Homing, reachability and the budget of collection: Lemmas 3.1, 3.2 and 3.5, on simulated runs."""

from dataclasses import replace

import numpy as np
import pytest
from learners import SMALL

from tacit.agent import Agent
from tacit.decoding.decoder import DecoderSettings
from tacit.envs.gym_adapter import GymSource
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.learning.collection import collection_budget
from tacit.learning.settings import CollectionSettings, HomingSettings
from tacit.learning.stage import deterministic_policy
from tacit.planning.reachability import Homes, Mixture, deviation, homing_episodes
from tacit.problem.mdp import largest_reach, state_distribution
from tacit.simulate import Simulation

ENV = random_mdp(0, RandomMDPSettings(layers=3, states=4, actions=4, unreachable=1))


def homes_after(episodes, seed=0, scale=0.1):
    """Return what homing leaves behind on a random problem."""
    homing = HomingSettings(episodes=episodes, bonus_scale=scale)
    agent = Agent(ENV.layout, replace(SMALL, decoder=DecoderSettings(0.8, 1.2), homing=homing), seed)
    Simulation(agent, GymSource(ENV), seed).run(10**6, until=lambda agent: agent.stage.name == "collection")
    return agent.stage._homes


@pytest.mark.compiled
def test_frequency_is_that_of_the_mixture_within_lemma_3_2():
    homes = homes_after(1000)
    beta = deviation(ENV.layout, homes.episodes, homes.delta)
    for s, mixture in enumerate(homes.mixtures):
        policies = [deterministic_policy(choices, ENV.layout) for choices in mixture.choices]
        reach = [state_distribution(ENV.mdp, policy)[-1, s] for policy in policies]
        exact = np.average(reach, weights=mixture.weights)
        assert abs(homes.frequency[s] - exact) <= beta[s]
        assert mixture.weights.sum() == 1000


@pytest.mark.compiled
def test_the_reachable_set_leaves_out_what_is_hardly_reached():
    homes, best = homes_after(1000), largest_reach(ENV.mdp)[-1]
    assert homes.reachable.tolist() == [True, True, True, False]
    low, high = homes.interval()
    assert np.all(low <= best)
    assert np.all(best[homes.reachable] <= high[homes.reachable] + 0.1)
    assert high[3] < 0.2


def test_control_the_interval_is_not_everything():
    homes = Homes(ENV.layout, (), np.array([50, 0, 0, 0]), np.full(4, 100), epsilon=0.05, delta=0.05)
    low, high = homes.interval()
    assert 0 < low[0] < 0.5 < high[0] < 1


def test_a_mixture_picks_policies_as_often_as_they_were_played():
    mixture = Mixture(np.arange(6).reshape(3, 1, 2), np.array([1, 0, 3]))
    picked = [mixture.pick(draw)[0, 0] for draw in np.linspace(0, 1, 400, endpoint=False)]
    assert np.bincount(picked, minlength=5).tolist() == [100, 0, 0, 0, 300]


def test_the_proofs_number_of_episodes_has_the_factor_s_twice():
    layout = ENV.layout
    S, K, H = 9, 4, 3
    expected = S**2 * K * H * np.log(S * K * H / 0.05) / 0.1**2
    assert homing_episodes(layout, 0.1, 0.05) == int(np.ceil(expected))


def test_the_budget_suffices_for_a_state_at_the_threshold():
    """Of 400 binomial draws with the least probability of Eq. 2, fewer than delta fall short of N_0."""
    settings = replace(SMALL, collection=CollectionSettings(tuples=50))
    budget = collection_budget(ENV.layout, settings)
    found = np.random.default_rng(0).binomial(budget, 3 * settings.homing.epsilon, 400)
    assert np.mean(found < 50) <= settings.homing.delta
    half = np.random.default_rng(0).binomial(budget // 3, 3 * settings.homing.epsilon, 400)
    assert np.mean(half < 50) > settings.homing.delta, "the control must fail"

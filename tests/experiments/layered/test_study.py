"""Sweeps over layered environments: their settings and budgets."""

from study_samples import FRACTION

from tacit.envs.random_mdp import suite_settings
from tacit.experiments.catalogue import STUDIES
from tacit.experiments.layered.problems import PAPER, RANDOM


def test_arms_and_environments_have_their_own_settings():
    sweep = STUDIES["exploration"].sweep
    settings = sweep.settings_of("random_1000", "tacit_500_bonus_0.1")
    assert (settings.homing.episodes, settings.collection.tuples) == (500, 500)
    assert (settings.homing.bonus_scale, settings.decoder.theta) == (0.1, suite_settings(1000).theta)
    assert sweep.settings_of("balanced", "tacit_fast") == PAPER


def test_exploration_leaves_the_final_suite_alone():
    assert all(seed >= 1000 for seed, _ in RANDOM.values())


def test_budgets_scale_down_to_a_minimum():
    scaled = STUDIES["synthetic"].scaled(FRACTION).sweep
    assert (scaled.episodes, scaled.settings.homing.episodes) == (40, 20)
    assert scaled.settings.collection.tuples == 20
    assert STUDIES["synthetic"].scaled(1.0) == STUDIES["synthetic"]
    whole = STUDIES["synthetic"].sweep
    assert (whole.episodes, STUDIES["synthetic"].seeds) == (40_000, 20)
    assert (whole.settings.homing.episodes, whole.settings.collection.tuples) == (5000, 5000)
    assert STUDIES["decoder"].scaled(FRACTION).sweep.tuple_counts == (20,)

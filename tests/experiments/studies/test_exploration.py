"""The exploration study: the share of the way to the optimum."""

import pytest

from tacit.envs.synthetic import synthetic_mdp
from tacit.experiments.layered.problems import optimal_value, uniform_value
from tacit.experiments.studies.exploration.study import summarise_share


def test_share_runs_from_uniform_to_the_optimum():
    mdp = synthetic_mdp()
    # good with probability (0.9 + 4 * 0.1) / 5 = 0.26 a step, twice, then rewarded with 0.26
    assert uniform_value(mdp) == pytest.approx(0.26**3)
    result = {"scalars": {"average_reward_all": (optimal_value(mdp) + 0.26**3) / 2}}
    share = summarise_share([result], optimal_value(mdp), uniform_value(mdp))["share"]
    assert share["mean"] == pytest.approx(0.5)

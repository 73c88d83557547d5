import math

import pytest

from tacit.decoding.decoder import DecoderSettings
from tacit.envs.synthetic import synthetic_mdp
from tacit.learning.settings import settings_by_theorem
from tacit.planning.reachability import homing_episodes
from tacit.planning.schedule import GammaSchedule, choose_by_theorem


def test_the_experiments_schedule():
    assert GammaSchedule().gamma(100, 3, 5) == pytest.approx(3 * math.sqrt(500))
    assert GammaSchedule(scale=2.0).gamma(100, 3, 5) == pytest.approx(6 * math.sqrt(500))
    assert GammaSchedule("constant", 40.0).gamma(100, 3, 5) == 40.0


@pytest.mark.parametrize(
    "arguments", [("rising", 1.0), ("growing", 0.0), ("growing", math.inf), ("growing", math.nan)]
)
def test_bad_schedules_are_refused(arguments):
    with pytest.raises(ValueError, match="got"):
        GammaSchedule(*arguments)


def bound(T, S, K, H, L, reg, gamma, tuples, epsilon):
    """The total regret bound of appendix B before its parameters are chosen, logarithms left out."""
    return (
        S**2 * K * H / epsilon**2
        + S * tuples / epsilon
        + T * S * epsilon
        + H * S * K * T / gamma
        + gamma * reg
        + gamma * T * K * L**2 / tuples
        + gamma * H**4 * S**2 * K
        + math.sqrt(T * H * S**2 * K)
        + math.sqrt(T * H * reg)
        + T * L * math.sqrt(K * H / tuples)
    )


@pytest.mark.parametrize("T", [10**8, 10**10, 10**12])
def test_the_theorems_choice_gives_the_theorems_rate(T):
    S, K, H, L, reg = 5, 5, 3, 25.0, 10.0
    rate = (
        T**0.75 * S**0.5 * K**0.25 * H**0.25 * L**0.5
        + T ** (2 / 3) * S ** (4 / 3) * K ** (1 / 3) * H ** (1 / 3)
        + math.sqrt(T * S**3 * K**2 * H**5)
        + math.sqrt(T * S * K * H * reg)
    )
    choice = choose_by_theorem(T, S, K, H, L, reg)
    assert bound(T, S, K, H, L, reg, *choice) < 20 * rate
    gamma, tuples, epsilon = choice
    assert bound(T, S, K, H, L, reg, gamma * 1000, tuples, epsilon) > bound(T, S, K, H, L, reg, *choice)


def test_the_theorems_settings_are_out_of_reach_or_complete():
    layout = synthetic_mdp().layout
    constants = DecoderSettings(theta=0.9, M=1.3)
    with pytest.raises(ValueError, match="needs more episodes"):
        settings_by_theorem(layout, constants, 40_000, square_regret=10.0)
    settings = settings_by_theorem(layout, constants, 10**9, square_regret=10.0)
    assert settings.homing.delta == 1e-18
    assert settings.homing.episodes == homing_episodes(layout, settings.homing.epsilon, 1e-18)
    assert settings.schedule.gamma(1, 3, 5) == settings.schedule.gamma(10**6, 3, 5)
    with pytest.raises(ValueError, match="whole number"):
        settings_by_theorem(layout, constants, 0, square_regret=10.0)

"""What is kept of a trace: curves and numbers, by hand."""

import numpy as np
import pytest

from tacit.experiments import learning
from tacit.simulate import Trace


def test_condensed_trace_by_hand():
    trace = Trace(
        rewards=[0.0, 1.0, 0.0, 1.0, 1.0],
        decoded=[np.nan, np.nan, 0.0, np.nan, 0.5],
        regrets=[0.5, 0.25, 0.25, 0.0, 0.0],
        exploring=[True, True, False, False, False],
    )
    result = learning.condense(trace)
    assert result["scalars"] == {
        "average_reward": pytest.approx(2 / 3),
        "average_decoded_reward": pytest.approx(1 / 6),
        "final_reward": 1.0,
        "final_decoded_reward": 0.5,
        "average_reward_all": pytest.approx(3 / 5),
        "regret": 1.0,
        "exploration_episodes": 2,
    }
    assert result["curves"]["episode"].tolist() == [1, 2, 3]
    assert result["curves"]["average_reward"].tolist() == pytest.approx([0, 1 / 2, 2 / 3])
    assert result["curves"]["regret"].tolist() == [1.0, 1.0, 1.0]


def test_whole_trace_counts_exploration():
    trace = Trace([0.0, 1.0], [np.nan, np.nan], [0.5, 0.25], [True, True])
    result = learning.condense(trace, whole=True)
    assert result["curves"]["episode"].tolist() == [1, 2]
    assert result["curves"]["average_reward"].tolist() == [0.0, 0.5]
    assert result["curves"]["regret"].tolist() == [0.5, 0.75]
    assert result["scalars"]["average_reward_all"] == 0.5
    assert result["scalars"]["average_reward"] is None  # it never came to learn
    assert result["scalars"]["final_reward"] is None


def test_log_points_run_from_the_first_episode_to_the_last():
    points = learning.log_points(1_000_000)
    assert (points[0], points[-1]) == (1, 1_000_000)
    assert len(points) > 0.8 * learning.POINTS
    late = points[points >= 10_000]
    assert np.diff(np.log(late)) == pytest.approx(np.log(1e6) / (learning.POINTS - 1), rel=0.01)


def test_curve_points_are_even_and_end_at_the_last():
    points = learning.curve_points(40_000)
    assert len(points) == learning.POINTS
    assert (points[-1], set(np.diff(points))) == (40_000, {200})

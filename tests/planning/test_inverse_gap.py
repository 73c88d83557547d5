"""Inverse-gap weighting beside its slow twin."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.planning.inverse_gap import gamma_at, inverse_gap_weights


def inverse_gap_weights_slowly(scores, gamma):
    best = max(range(len(scores)), key=lambda a: scores[a])
    probabilities = [0.0] * len(scores)
    for a in range(len(scores)):
        if a != best:
            probabilities[a] = 1 / (len(scores) + gamma * (scores[best] - scores[a]))
    probabilities[best] = 1 - sum(probabilities)
    return probabilities


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 1e6))
def test_inverse_gap_weights_as_its_slow_twin(scores, gamma):
    found = inverse_gap_weights(np.array(scores), gamma)
    np.testing.assert_allclose(found, inverse_gap_weights_slowly(scores, gamma), atol=1e-12)
    assert found.min() >= 0
    assert found.argmax() == np.argmax(scores) or np.isclose(found.max(), found[np.argmax(scores)])


def test_gamma_grows_with_the_root_of_time():
    assert gamma_at(4, 5, 1.0) == 2 * gamma_at(1, 5, 1.0)

"""Inverse-gap weighting beside its slow twin, and the rule-based judges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.text.judges import judge_kind_words, judge_told
from tacit.text.policy import gamma_at, inverse_gap_weights


def inverse_gap_weights_slowly(scores, gamma):
    best = max(range(len(scores)), key=lambda a: scores[a])
    probabilities = [0.0] * len(scores)
    for a in range(len(scores)):
        if a != best:
            probabilities[a] = 1 / (len(scores) + gamma * (scores[best] - scores[a]))
    probabilities[best] = 1 - sum(probabilities)
    return probabilities


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 1e6))
def test_inverse_gap_weights_as_its_slow_twin(scores, gamma):
    found = inverse_gap_weights(np.array(scores), gamma)
    np.testing.assert_allclose(found, inverse_gap_weights_slowly(scores, gamma), atol=1e-12)
    assert found.min() >= 0
    assert found.argmax() == np.argmax(scores) or np.isclose(found.max(), found[np.argmax(scores)])


def test_gamma_grows_with_the_root_of_time():
    assert gamma_at(4, 5, 1.0) == 2 * gamma_at(1, 5, 1.0)


@pytest.mark.parametrize(
    ("said", "reward"),
    [
        ("Perfect, thank you so much!", 1.0),
        ("What a mess.", 0.0),
        ("That is not right.", 0.0),
        ("Never mind.", 0.0),
        ("The train leaves at noon.", 0.5),
    ],
)
def test_the_universal_judge(said, reward):
    assert judge_kind_words(said) == reward


def test_the_oracle_takes_only_what_it_is_told():
    assert judge_told("reward 0") == 0.0
    with pytest.raises(ValueError, match="the oracle is told"):
        judge_told("well done")

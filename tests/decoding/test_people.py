"""People who are known by a vector: when what is understood of them is steady, after how many looks."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.decoding.people import VectorPeople
from tacit.decoding.personal_fit import fit_personal_meaning

N = 600


@pytest.fixture(scope="module")
def model():
    """What pleases follows the side of one feature; words say it plainly."""
    generator = np.random.default_rng(0)
    x, a = generator.normal(size=(N, 2)), generator.integers(3, size=N)
    said = (a == (x[:, 0] > 0)).astype(np.int64)
    every, mask = np.ones(N, dtype=bool), np.ones((1, 3), dtype=bool)
    return fit_personal_meaning(x, np.zeros(N, dtype=np.int64), a, said, every, mask, 2, generator)


@pytest.mark.parametrize(
    ("looked", "doubt", "confirmed", "steady"),
    [
        (599, 0.0, True, False),
        (600, 0.0, True, True),
        (600, 0.2, True, False),
        (999, 0.2, True, False),
        (1000, 0.2, True, True),
        (2999, 0.0, False, False),
        (3000, 0.2, False, True),
    ],
)
def test_looks_end_sooner_where_words_are_clear_and_in_any_case_at_last(
    model, looked, doubt, confirmed, steady
):
    seen = replace(model, looked=np.array([looked]), doubt=doubt, steady=confirmed)
    assert VectorPeople(seen).is_steady is steady

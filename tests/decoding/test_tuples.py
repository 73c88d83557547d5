"""Tuples as they come in: as arrays they are the same, however often they were asked for before."""

import numpy as np
import pytest

import tacit
from tacit.base.changes import commit
from tacit.decoding.tuples import Tuples, TupleStore

LAYOUTS = {
    "labels": tacit.Layout.regular([1, 2], n_actions=3, n_contexts=4, n_feedback=2),
    "vectors": tacit.Layout(
        (("start",),), ((("a", "b", "c"),),), contexts=tacit.Vectors(3), feedback=tacit.Vectors(2)
    ),
}


@pytest.mark.parametrize("kind", LAYOUTS)
def test_arrays_do_not_depend_on_when_they_were_asked_for(kind):
    generator, layout = np.random.default_rng(3), LAYOUTS[kind]
    asked, whole = TupleStore(layout), TupleStore(layout)
    for n in range(50):
        x = int(generator.integers(4)) if kind == "labels" else generator.normal(size=3)
        y = int(generator.integers(3)) if kind == "labels" else generator.normal(size=2)
        for store in (asked, whole):
            commit(store.learn(x, 0, n % 3, y, 1 / (n + 1)))
        if n in (0, 7, 8, 30):
            assert len(asked.tuples()) == n + 1
    for one, other in zip(
        vars(asked.tuples()).values(), vars(Tuples.from_rows(whole.rows)).values(), strict=True
    ):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    assert asked.tuples() is asked.tuples()

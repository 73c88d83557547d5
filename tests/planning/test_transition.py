"""The smoothed counts: their definition, Theorem B.1 and its lemmas, saved and resumed, misused."""

from fractions import Fraction
from math import lgamma, log
from timeit import repeat

import numpy as np
import pytest
import reference_regression as reference

from tacit.base.changes import commit
from tacit.base.checkpoint import CheckpointError
from tacit.planning.transition import TransitionCounts, log_loss_regret_bound
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite

RAGGED = Layout(
    states=(("start",), ("a", "b", "c"), ("d", "e")),
    actions=((("x", "y"),), (("x",), ("x", "y", "z"), ("x", "y")), (("x", "y"), ("x",))),
    contexts=Finite((0, 1)),
    feedback=Finite((0, 1)),
)


def random_paths(layout, n, seed, partial=False):
    """Return n paths (states, actions) of the layout; with `partial`, some end early."""
    rng = np.random.default_rng(seed)
    paths = []
    for _ in range(n):
        length = int(rng.integers(0, layout.horizon + 1)) if partial else layout.horizon
        states = [int(rng.integers(layout.n_states[h])) for h in range(length)]
        actions = [int(rng.integers(layout.n_actions[h, s])) for h, s in enumerate(states)]
        paths.append((states, actions[: len(actions) - int(partial and rng.integers(2) and length > 0)]))
    return paths


def counted(layout, paths):
    counts = TransitionCounts(layout)
    for states, actions in paths:
        commit(counts.learn(0, states, actions))
    return counts


@pytest.mark.parametrize("layout", [RAGGED, Layout.regular([1, 2, 2], 5, 2, 2), Layout.regular([1], 2, 1, 2)])
@pytest.mark.parametrize("n", [0, 1, 200])
def test_the_estimate_is_its_definition(layout, n):
    paths = random_paths(layout, n, seed=n, partial=True)
    estimate = counted(layout, paths).estimate(0)
    np.testing.assert_array_equal(estimate, reference.smoothed_transitions(layout, paths))


def test_existing_rows_sum_to_one_and_the_padding_is_zero():
    estimate = counted(RAGGED, random_paths(RAGGED, 50, seed=1)).estimate(0)
    np.testing.assert_allclose(estimate.sum(axis=-1), RAGGED.mask[:-1].astype(float), rtol=0, atol=1e-15)
    assert np.all(estimate[1, :, :, 2] == 0.0)  # the last layer has two states


def test_one_transition_by_hand():
    counts = counted(RAGGED, [([0, 2, 1], [1, 1, 0])])
    np.testing.assert_array_equal(
        counts.estimate(0)[0, 0, :2], [[1 / 3, 1 / 3, 1 / 3], [1 / 4, 1 / 4, 2 / 4]]
    )
    np.testing.assert_array_equal(counts.estimate(0)[1, 2, 1], [1 / 3, 2 / 3, 0.0])
    assert counts.visits[0].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert counts.visits.sum() == 2


def test_the_estimate_ignores_the_context():
    counts = counted(RAGGED, random_paths(RAGGED, 20, seed=2))
    np.testing.assert_array_equal(counts.estimate(0), counts.estimate(np.ones(3)))


def test_only_the_rows_of_the_path_change():
    counts = counted(RAGGED, random_paths(RAGGED, 20, seed=3))
    before = counts.estimate(0).copy()
    commit(counts.learn(0, [0, 1, 1], [0, 2, 0]))
    changed = np.argwhere(np.any(counts.estimate(0) != before, axis=-1)).tolist()
    assert changed == [[0, 0, 0], [1, 1, 2]]


def test_the_estimate_is_a_live_read_only_view():
    counts = TransitionCounts(RAGGED)
    view = counts.estimate(0)
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0, 0, 0] = 1.0
    commit(counts.learn(0, [0, 1], [0]))
    np.testing.assert_array_equal(view, counts.estimate(0))
    counts.restore(TransitionCounts(RAGGED).to_state())
    np.testing.assert_array_equal(view, TransitionCounts(RAGGED).estimate(0))


def test_a_single_layer_has_no_transitions():
    layout = Layout.regular([1], n_actions=3, n_contexts=1, n_feedback=2)
    counts = counted(layout, [([0], [2]), ([], [])])
    assert counts.estimate(0).shape == (0, 1, 3, 1)
    assert counts.visits.shape == (0, 1, 3)
    counts.restore(counts.to_state())


def test_inputs_are_not_changed_and_arrays_are_accepted():
    states, actions = np.array([0, 1, 0], dtype=np.int32), np.array([1, 0, 1], dtype=np.uint8)
    counts = counted(RAGGED, [(states, actions)])
    assert states.tolist() == [0, 1, 0]
    assert actions.tolist() == [1, 0, 1]
    assert counts.visits.sum() == 2


def test_saved_counts_resume_bit_for_bit():
    paths = random_paths(RAGGED, 100, seed=4)
    whole, first = counted(RAGGED, paths), counted(RAGGED, paths[:50])
    saved = first.to_state()
    commit(first.learn(0, [0, 0, 0], [0, 0, 0]))  # what is saved no longer follows
    second = TransitionCounts(RAGGED)
    second.restore(saved)
    commit(second.learn(0, [0], []))
    for states, actions in paths[50:]:
        commit(second.learn(0, states, actions))
    np.testing.assert_array_equal(second.estimate(0), whole.estimate(0))
    np.testing.assert_array_equal(second.to_state()["counts"], whole.to_state()["counts"])
    assert saved["counts"].sum() == 100


@pytest.mark.parametrize(
    ("states", "actions", "message"),
    [
        ([0, 3, 0], [0, 0, 0], "wrong at position 1"),
        ([0, -1, 0], [0, 0, 0], "wrong at position 1"),
        ([1, 0, 0], [0, 0, 0], "wrong at position 0"),
        ([0, 0, 0], [0, 1, 0], "wrong at position 1"),
        ([0, 0, 0], [0, -1, 0], "wrong at position 1"),
        ([0, 0, 1], [0, 0, 1], "wrong at position 2"),
        ([0, 0, 0, 0], [0, 0, 0], "at most 3 states"),
        ([0, 0, 0], [0], "as many actions or one fewer"),
        ([], [0], "as many actions or one fewer"),
        ([0, 0.5], [0, 0], "states must be a sequence of integer indices"),
        ([0, 0], ["x", "x"], "actions must be a sequence of integer indices"),
        ([[0, 0]], [0], "states must be a sequence of integer indices"),
    ],
)
def test_a_wrong_path_is_refused_whole(states, actions, message):
    counts = TransitionCounts(RAGGED)
    with pytest.raises(ValueError, match=message):
        commit(counts.learn(0, states, actions))
    assert counts.visits.sum() == 0


def test_wrong_saved_counts_are_refused():
    counts = counted(RAGGED, random_paths(RAGGED, 5, seed=5))
    good = counts.to_state()["counts"]
    outside, negative = good.copy(), good.copy()
    outside[0, 0, 2, 0], negative[0, 0, 0, 0] = 1, -1
    for bad in ({}, {"counts": good[:1]}, {"counts": good.astype(float)}):
        with pytest.raises(CheckpointError, match="counts must be"):
            counts.restore(bad)
    for bad in (outside, negative):
        with pytest.raises(CheckpointError, match="counts must be"):
            counts.restore({"counts": bad})
    np.testing.assert_array_equal(counts.to_state()["counts"], good)


@pytest.mark.parametrize("n_outcomes", [1, 2, 5])
def test_sequential_probabilities_multiply_to_the_dirichlet_identity(n_outcomes):
    """The first lemma of Theorem B.1, in exact fractions: estimates have small denominators."""
    layout = Layout.regular([1, n_outcomes], n_actions=2, n_contexts=1, n_feedback=2)
    outcomes = np.random.default_rng(n_outcomes).integers(n_outcomes, size=40).tolist()
    counts, product = TransitionCounts(layout), Fraction(1)
    for z in outcomes:
        product *= Fraction(float(counts.estimate(0)[0, 0, 1, z])).limit_denominator(100)
        commit(counts.learn(0, [0, z], [1]))
    assert product == Fraction(*reference.sequence_probability(n_outcomes, outcomes))


def test_the_entropy_bound_of_the_second_lemma():
    rng = np.random.default_rng(6)
    for _ in range(200):
        n = rng.integers(0, 30, size=rng.integers(1, 6))
        size, total = len(n), int(n.sum())
        left = lgamma(size + total) - lgamma(size) - sum(lgamma(k + 1) for k in n)
        entropy = -sum(k * log(k / total) for k in n if k)
        assert left <= entropy + (size - 1) * log(size + total) + 1e-9


def simulated(layout, episodes, seed):
    """Return the truth, (H-1, S, K, S), and paths of a uniform policy under it."""
    rng = np.random.default_rng(seed)
    truth = np.zeros(TransitionCounts(layout).estimate(0).shape)
    paths = []
    for h, s, a in np.argwhere(layout.mask[:-1]):
        truth[h, s, a, : layout.n_states[h + 1]] = rng.dirichlet(np.full(layout.n_states[h + 1], 0.2))
    for _ in range(episodes):
        states, actions = [0], []
        for h in range(layout.horizon):
            actions.append(int(rng.integers(layout.n_actions[h, states[h]])))
            if h + 1 < layout.horizon:
                states.append(int(rng.choice(truth.shape[-1], p=truth[h, states[h], actions[h]])))
        paths.append((states, actions))
    return truth, paths


def log_loss(estimate, states, actions):
    probabilities = [estimate[h, states[h], actions[h], states[h + 1]] for h in range(len(states) - 1)]
    with np.errstate(divide="ignore"):
        return -float(np.log(probabilities).sum())


@pytest.mark.parametrize("layout", [RAGGED, Layout.regular([1, 2], 2, 1, 2)])
def test_log_loss_regret_stays_below_the_bound_of_theorem_b1(layout):
    episodes = 1500
    truth, paths = simulated(layout, episodes, seed=7)
    counts, uniform = TransitionCounts(layout), TransitionCounts(layout).estimate(0).copy()
    regret = control = unsmoothed = 0.0
    for states, actions in paths:
        best = log_loss(truth, states, actions)
        regret += log_loss(counts.estimate(0), states, actions) - best
        control += log_loss(uniform, states, actions) - best
        frequencies = counts.to_state()["counts"] / np.maximum(counts.visits, 1)[..., None]
        unsmoothed += log_loss(frequencies, states, actions) - best
        commit(counts.learn(0, states, actions))
    bound = log_loss_regret_bound(int(layout.n_states.sum()), layout.max_actions, episodes, layout.horizon)
    # controls: learning is what keeps the regret below the bound, and smoothing what keeps it finite
    assert 0.0 < regret < bound < control
    assert unsmoothed == np.inf


def test_an_estimator_that_never_learns_exceeds_the_bound():
    layout, episodes = Layout.regular([1, 2], 1, 1, 2), 2000
    rng, counts = np.random.default_rng(8), TransitionCounts(layout)
    regret = control = 0.0
    truth = np.array([0.95, 0.05])
    for z in rng.choice(2, size=episodes, p=truth):
        regret += log(truth[z] / counts.estimate(0)[0, 0, 0, z])
        control += log(truth[z] / 0.5)
        commit(counts.learn(0, [0, int(z)], [0]))
    assert regret < log_loss_regret_bound(3, 1, episodes, 2) < control


def test_the_bound_by_hand_and_misused():
    assert log_loss_regret_bound(3, 2, 10, 4) == pytest.approx(9 * 2 * log(43))
    for sizes in ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, -1, 1), (1, 1, 1, 0)):
        with pytest.raises(ValueError, match="at least one state, action and layer"):
            log_loss_regret_bound(*sizes)


@pytest.mark.compiled
def test_adding_a_path_costs_its_rows_not_the_whole():
    layout = Layout.regular([1, 100, 100, 100], n_actions=10, n_contexts=1, n_feedback=2)
    counts = TransitionCounts(layout)
    add = min(repeat(lambda: commit(counts.learn(0, [0, 5, 6, 7], [1, 2, 3, 4])), number=20, repeat=5)) / 20
    renew = min(repeat(lambda: counts.restore(counts.to_state()), number=1, repeat=5))
    assert add < renew / 20


def test_many_paths_count_as_one_by_one():
    paths = random_paths(RAGGED, 50, seed=3)
    states, actions = (np.array(column) for column in zip(*paths, strict=True))
    together, apart = TransitionCounts(RAGGED), TransitionCounts(RAGGED)
    together.add_paths(states, actions)
    for path in paths:
        commit(apart.learn(0, *path))
    np.testing.assert_array_equal(together.counts(0), apart.counts(0))
    np.testing.assert_array_equal(together.estimate(0), apart.estimate(0))
    for wrong, message in ((states[:, :2], "of shape"), (states + 3, "of the layout")):
        with pytest.raises(ValueError, match=message):
            together.add_paths(wrong, actions)
    with pytest.raises(ValueError, match="of the layout"):
        together.add_paths(states, actions + 3)
    np.testing.assert_array_equal(together.counts(0), apart.counts(0))

"""The regression oracles: regret against the best in hindsight, twins, purity, saved and resumed, misused."""

import io

import numpy as np
import pytest
import reference_regression as reference
import torch

from tacit.base.changes import commit
from tacit.planning.regression import (
    ORACLES,
    Aggregating,
    LinearOGD,
    OracleSettings,
    TableOGD,
    TwoLayerNetwork,
    VovkAzouryWarmuth,
    make_oracle,
)
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite, Vectors

RATE = 0.05
KINDS = ("iid", "drifting", "alternating", "contrary")
N_CONTEXTS, DIMENSION = 2, 3
EXISTS = np.array(
    [[True, True, True], [True, True, False]]
)  # the second of the last states offers two actions


def layout_of(contexts):
    actions = ((("x", "y"),), (("x", "y", "z"), ("x", "y")))
    return Layout((("start",), ("good", "bad")), actions, contexts, Finite((0, 1)))


FINITE, VECTORS = layout_of(Finite(("p", "q"))), layout_of(Vectors(DIMENSION))


def functions(n=8, seed=11):
    return np.random.default_rng(seed).random((n, N_CONTEXTS, *EXISTS.shape))


BUILDS = {
    "ogd": lambda: TableOGD(FINITE, OracleSettings()),
    "ogd_features": lambda: LinearOGD(FINITE, OracleSettings()),
    "ogd_features on vectors": lambda: LinearOGD(VECTORS, OracleSettings()),
    "vaw": lambda: VovkAzouryWarmuth(FINITE, OracleSettings()),
    "vaw on vectors": lambda: VovkAzouryWarmuth(VECTORS, OracleSettings(initial=0.3, regularization=0.5)),
    "network": lambda: TwoLayerNetwork(FINITE, OracleSettings(width=8, learning_rate=0.5)),
    "network on vectors": lambda: TwoLayerNetwork(VECTORS, OracleSettings(width=8, initial=0.2)),
    "aggregating": lambda: Aggregating(FINITE, functions()),
}
every_oracle = pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
every_kind = pytest.mark.parametrize("kind", KINDS)


class Frozen:
    """The negative control: an oracle that ignores what it is told."""

    def __init__(self, oracle):
        self.predict = oracle.predict

    def learn(self, context, state, action, reward):
        return ()


def context_at(vectors, rng):
    """Return a context: an index, or a unit vector (so that |φ|² = 2 for both)."""
    if not vectors:
        return int(rng.integers(N_CONTEXTS))
    x = rng.standard_normal(DIMENSION)
    return x / np.linalg.norm(x)


def play(oracle, kind, rounds, seed=0, vectors=False, means=None):
    """Return the (φ, x, s, a, prediction, reward) of every round of an online run."""
    rng = np.random.default_rng(seed)
    if means is None:
        means = rng.choice([0.1, 0.9], size=(N_CONTEXTS, *EXISTS.shape))
    slopes = rng.standard_normal((*EXISTS.shape, DIMENSION))
    pairs, run = np.argwhere(EXISTS), []
    for t in range(rounds):
        x = context_at(vectors, rng)
        s, a = (int(i) for i in pairs[rng.integers(len(pairs))])
        mean = 0.5 + 0.4 * np.tanh(3 * slopes[s, a] @ x) if vectors else means[x, s, a]
        if kind == "drifting":
            mean = 0.5 + (mean - 0.5) * np.cos(2 * np.pi * t / rounds)
        prediction = float(oracle.predict(x)[s, a])
        reward = {
            "alternating": float(t % 2),
            "contrary": float(prediction < 0.5),
        }.get(kind, float(rng.random() < mean))
        commit(oracle.learn(x, s, a, reward))
        phi = np.append(x if vectors else np.eye(N_CONTEXTS)[x], 1.0)
        run.append((phi, x, s, a, prediction, reward))
    return run


def loss(run):
    return sum((prediction - reward) ** 2 for *_, prediction, reward in run)


def best_table(run):
    """Return the least total loss of a table, and its squared distance from 0.5 over the cells seen."""
    cells = {}
    for _, x, s, a, _, reward in run:
        cells.setdefault((x, s, a), []).append(reward)
    total = sum(float(np.sum((np.array(r) - np.mean(r)) ** 2)) for r in cells.values())
    return total, sum((np.mean(r) - 0.5) ** 2 for r in cells.values())


def examples_by_pair(run):
    """Return the pairs' (features (T, d), rewards (T,))."""
    pairs = {}
    for phi, _, s, a, _, reward in run:
        pairs.setdefault((s, a), []).append((phi, reward))
    return [tuple(np.array(column) for column in zip(*rows, strict=True)) for rows in pairs.values()]


def self_bounded(best, distance, rate):
    """Return (D²/2η + 2ηL) / (1 - 2η): what descent at a fixed rate may lose against loss L at distance D."""
    return (distance / (2 * rate) + 2 * rate * best) / (1 - 2 * rate)


# --- regret ---------------------------------------------------------------------------------------


@every_kind
def test_table_descent_keeps_its_bound(kind):
    run = play(TableOGD(FINITE, OracleSettings()), kind, rounds=1500)
    best, distance = best_table(run)
    assert loss(run) - best <= self_bounded(best, distance, RATE)


@every_kind
def test_table_descent_with_a_tuned_rate_has_regret_of_order_sqrt_t(kind):
    rounds, diameter = 1500, np.sqrt(N_CONTEXTS * EXISTS.sum()) / 2
    rate = float(diameter / (2 * np.sqrt(rounds)))
    run = play(TableOGD(FINITE, OracleSettings(learning_rate=rate)), kind, rounds)
    assert loss(run) - best_table(run)[0] <= 2 * diameter * np.sqrt(rounds)


@every_kind
@pytest.mark.parametrize("vectors", [False, True])
def test_linear_descent_keeps_its_bound(kind, vectors):
    run = play(LinearOGD(VECTORS if vectors else FINITE, OracleSettings()), kind, 1500, vectors=vectors)
    assert loss(run) <= linear_loss_bound(run)


def linear_loss_bound(run):
    """Return Σ over pairs of the least loss of any weights and what descent at |φ|² = 2 may lose to them."""
    total, start = 0.0, np.append(np.zeros(len(run[0][0]) - 1), 0.5)
    for phi, rewards in examples_by_pair(run):
        w = start + np.linalg.lstsq(phi, rewards - phi @ start)[0]
        best = float(np.sum((phi @ w - rewards) ** 2))
        total += best + self_bounded(best, 2.0 * float(np.sum((w - start) ** 2)), RATE)
    return total


@every_kind
@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize(("centre", "ridge"), [(0.5, 1.0), (0.3, 0.5)])
def test_vaw_keeps_its_bound(kind, vectors, centre, ridge):
    settings = OracleSettings(initial=centre, regularization=ridge)
    run = play(VovkAzouryWarmuth(VECTORS if vectors else FINITE, settings), kind, 1000, vectors=vectors)
    assert loss(run) <= vaw_loss_bound(run, centre, ridge)


def vaw_loss_bound(run, centre, ridge):
    """Return Σ over pairs of min_w (loss of w + λ|w|²) + Y² d log(1 + T|φ|²/λd)."""
    total = 0.0
    for phi, rewards in examples_by_pair(run):
        d, targets = phi.shape[1], rewards - centre
        w = np.linalg.solve(ridge * np.eye(d) + phi.T @ phi, phi.T @ targets)
        total += float(np.sum((phi @ w - targets) ** 2) + ridge * w @ w)
        total += max(centre, 1 - centre) ** 2 * d * np.log(1 + 2.0 * len(phi) / (ridge * d))
    return total


@every_kind
@pytest.mark.parametrize("n", [1, 2, 8, 64])
def test_aggregating_loses_at_most_half_the_log_of_its_class(kind, n):
    tables = functions(n)
    run = play(Aggregating(FINITE, tables), kind, 1000, means=tables[0])
    assert loss(run) - best_function(run, tables) <= np.log(n) / 2 + 1e-9


def best_function(run, tables):
    return min(sum((f[x, s, a] - reward) ** 2 for _, x, s, a, _, reward in run) for f in tables)


@pytest.mark.parametrize("kind", ["iid", "drifting"])
def test_network_comes_near_the_best_table(kind):
    """No bound is known: the regret against all tables stays below a quarter of what not learning costs."""
    settings = OracleSettings(width=16, learning_rate=0.5)
    run = play(TwoLayerNetwork(FINITE, settings), kind, 3000)
    control = play(Frozen(TwoLayerNetwork(FINITE, settings)), "iid", 3000)
    assert loss(run) - best_table(run)[0] < 0.25 * (loss(control) - best_table(control)[0])


def test_oracles_that_ignore_their_updates_exceed_every_bound():
    frozen = play(Frozen(TableOGD(FINITE, OracleSettings())), "iid", 1500)
    best, distance = best_table(frozen)
    assert loss(frozen) - best > self_bounded(best, distance, RATE)
    assert loss(frozen) - best > 2 * np.sqrt(N_CONTEXTS * EXISTS.sum()) / 2 * np.sqrt(1500)
    frozen = play(Frozen(LinearOGD(VECTORS, OracleSettings())), "iid", 1500, vectors=True)
    assert loss(frozen) > linear_loss_bound(frozen)
    frozen = play(Frozen(VovkAzouryWarmuth(VECTORS, OracleSettings())), "iid", 1000, vectors=True)
    assert loss(frozen) > vaw_loss_bound(frozen, centre=0.5, ridge=1.0)
    tables = functions(8)
    frozen = play(Frozen(Aggregating(FINITE, tables)), "iid", 1000, means=tables[0])
    assert loss(frozen) - best_function(frozen, tables) > np.log(8) / 2


def test_the_weighted_mean_in_place_of_the_substitution_exceeds_the_bound():
    """Rate 2 needs Vovk's substitution: on alternating rewards the mean of {0, 1} loses each time."""
    layout, rounds = Layout.regular([1], 1, 1, 2), 200
    oracle = Aggregating(layout, np.array([0.0, 1.0]).reshape(2, 1, 1, 1))
    regret = control = 0.0
    for t in range(rounds):
        reward = float((t + 1) % 2)
        weights = np.exp(oracle.to_state()["log_weights"])
        regret += (oracle.predict(0)[0, 0] - reward) ** 2 - 0.5
        control += (weights[1] / weights.sum() - reward) ** 2 - 0.5
        commit(oracle.learn(0, 0, 0, reward))
    assert regret <= np.log(2) / 2 < control


# --- twins ----------------------------------------------------------------------------------------


def test_table_descent_by_hand():
    oracle = TableOGD(FINITE, OracleSettings(learning_rate=0.05, initial=0.0))
    commit(oracle.learn(1, state=1, action=0, reward=1.0))
    commit(oracle.learn(1, state=1, action=0, reward=0.5))
    assert oracle.predict(1)[1, 0] == pytest.approx(0.1 + 0.1 * 0.4)  # η = 0.05 corrects a tenth of the error
    assert np.count_nonzero(oracle.predict(1)) == 1
    assert np.count_nonzero(oracle.predict(0)) == 0


def test_table_descent_is_projected():
    oracle = TableOGD(FINITE, OracleSettings(learning_rate=0.9))
    commit(oracle.learn(0, 0, 0, 1.0))
    assert oracle.predict(0)[0, 0] == 1.0
    commit(oracle.learn(0, 0, 0, 0.0))
    assert oracle.predict(0)[0, 0] == 0.0


def test_linear_descent_by_hand():
    oracle = LinearOGD(VECTORS, OracleSettings())
    commit(oracle.learn(np.array([1.0, 0.0, 2.0]), state=0, action=2, reward=1.0))
    step = 0.05 / 6 * 2 * 0.5  # |φ|² = 6, error -0.5
    np.testing.assert_allclose(
        oracle.to_state()["weights"][0, 2], [step, 0.0, 2 * step, 0.5 + step], rtol=1e-14
    )


def test_linear_descent_is_stable_on_long_vectors_where_the_plain_step_is_not():
    oracle, plain = LinearOGD(VECTORS, OracleSettings()), np.zeros(DIMENSION + 1)
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = 50.0 * context_at(True, rng)
        phi, reward = np.append(x, 1.0), float(x[0] > 0)
        commit(oracle.learn(x, 0, 0, reward))
        plain -= RATE * 2 * (plain @ phi - reward) * phi
    assert np.abs(oracle.to_state()["weights"]).max() < 1.0
    assert np.abs(plain).max() > 1e10


@pytest.mark.parametrize("vectors", [False, True])
def test_vaw_is_the_linear_system_solved_anew(vectors):
    settings = OracleSettings(initial=0.4, regularization=0.7)
    run = play(VovkAzouryWarmuth(VECTORS if vectors else FINITE, settings), "iid", 200, vectors=vectors)
    past = {}
    for phi, _, s, a, prediction, reward in run:
        examples = past.setdefault((s, a), [])
        assert prediction == pytest.approx(reference.vaw_forecast(examples, phi, 0.4, 0.7), abs=1e-12)
        examples.append((phi, reward))


@pytest.mark.compiled
def test_vaw_does_not_drift_over_many_rank_one_updates():
    oracle, rng = VovkAzouryWarmuth(VECTORS, OracleSettings()), np.random.default_rng(1)
    matrix = np.eye(DIMENSION + 1)
    for _ in range(50_000):
        x = rng.standard_normal(DIMENSION) * 10.0 ** rng.integers(-3, 3)
        matrix += np.outer(np.append(x, 1.0), np.append(x, 1.0))
        commit(oracle.learn(x, 0, 0, float(rng.random())))
    inverse = oracle.to_state()["inverse"][0, 0]
    np.testing.assert_array_equal(inverse, inverse.T)
    np.testing.assert_allclose(inverse, np.linalg.inv(matrix), rtol=1e-6, atol=1e-12)


def test_aggregating_is_its_definition():
    tables = functions(5)
    run, losses = play(Aggregating(FINITE, tables), "iid", 60), np.zeros(5)
    for _, x, s, a, prediction, reward in run:
        assert prediction == pytest.approx(reference.aggregated(tables[:, x, s, a], losses), abs=1e-12)
        losses += (tables[:, x, s, a] - reward) ** 2


def test_aggregating_outlives_weights_too_small_for_a_float():
    tables = np.stack([np.full((N_CONTEXTS, *EXISTS.shape), value) for value in (0.0, 1.0)])
    oracle = Aggregating(FINITE, tables)
    for reward in [1.0] * 2000:
        commit(oracle.learn(0, 0, 0, reward))
    assert oracle.predict(0)[0, 0] == 1.0
    for reward in [0.0] * 1990:
        commit(oracle.learn(0, 0, 0, reward))
    np.testing.assert_allclose(oracle.to_state()["log_weights"], [-20.0, 0.0])


@pytest.mark.parametrize("layout", [FINITE, VECTORS])
def test_network_takes_the_steps_of_autograd(layout):
    vectors, rng = layout is VECTORS, np.random.default_rng(3)
    oracle = TwoLayerNetwork(layout, OracleSettings(width=6, learning_rate=0.3, initial=0.4, seed=5))
    hidden, output = (torch.tensor(array, requires_grad=True) for array in oracle.to_state().values())
    optimizer = torch.optim.SGD([hidden, output], lr=0.3)
    for _ in range(30):
        x, (s, a), reward = context_at(vectors, rng), rng.permutation(np.argwhere(EXISTS))[0], rng.random()
        phi = torch.tensor(np.append(x if vectors else np.eye(N_CONTEXTS)[x], 1.0))
        units = torch.cat([torch.tanh(hidden.T @ phi), torch.ones(1, dtype=torch.float64)])
        value = torch.sigmoid(output @ units)
        np.testing.assert_allclose(oracle.predict(x)[EXISTS], value.detach().numpy()[EXISTS], atol=1e-13)
        optimizer.zero_grad()
        ((value[s, a] - reward) ** 2).backward()
        optimizer.step()
        commit(oracle.learn(x, int(s), int(a), float(reward)))
    for array, twin in zip(oracle.to_state().values(), (hidden, output), strict=True):
        np.testing.assert_allclose(array, twin.detach().numpy(), rtol=0, atol=1e-12)


def test_network_weights_follow_from_the_seed():
    def first(seed):
        return TwoLayerNetwork(FINITE, OracleSettings(seed=seed)).to_state()["hidden"]

    np.testing.assert_array_equal(first(1), first(1))
    assert np.all(first(1) != first(2))


# --- the contract, for every oracle ---------------------------------------------------------------


def is_on_vectors(oracle):
    return oracle._inputs.contexts is VECTORS.contexts


def assert_same_state(first, second):
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


@every_oracle
@pytest.mark.parametrize("kind", ["iid", "contrary"])
def test_predictions_lie_in_the_unit_interval_and_vanish_in_the_padding(build, kind):
    oracle, rng = build(), np.random.default_rng(0)
    play(oracle, kind, 100, vectors=is_on_vectors(oracle))
    for _ in range(20):
        values = oracle.predict(
            10.0 * context_at(True, rng) if is_on_vectors(oracle) else context_at(False, rng)
        )
        assert values.shape == EXISTS.shape
        assert values.dtype == np.float64
        assert np.all((values >= 0.0) & (values <= 1.0))
        assert np.all(values[~EXISTS] == 0.0)


@pytest.mark.parametrize("method", ORACLES)
@pytest.mark.parametrize("initial", [0.2, 0.5])
def test_before_any_data_the_prediction_is_the_initial_value(method, initial):
    oracle = make_oracle(FINITE, OracleSettings(method, initial=initial))
    np.testing.assert_allclose(oracle.predict(1), initial * EXISTS, rtol=0, atol=1e-15)


@every_oracle
def test_predicting_changes_nothing(build):
    oracle, rng = build(), np.random.default_rng(0)
    vectors = is_on_vectors(oracle)
    play(oracle, "iid", 30, vectors=vectors)
    before, context = oracle.to_state(), context_at(vectors, rng)
    first = oracle.predict(context)
    kept = first.copy()
    first[:] = 7.0  # what is returned is the caller's
    np.testing.assert_array_equal(oracle.predict(context), kept)
    assert_same_state(oracle.to_state(), before)
    commit(oracle.learn(context, 0, 0, 1.0))
    assert oracle.predict(context)[0, 0] != kept[0, 0]


@every_oracle
def test_a_saved_oracle_resumes_bit_for_bit(build):
    whole, first, second = build(), build(), build()
    vectors = is_on_vectors(whole)
    run = play(whole, "iid", 120, vectors=vectors)
    for _, x, s, a, _, reward in run[:60]:
        commit(first.learn(x, s, a, reward))
    file = io.BytesIO()
    np.savez(file, **first.to_state())
    file.seek(0)
    saved = dict(np.load(file, allow_pickle=False))
    play(second, "contrary", 10, vectors=vectors)  # whatever it knew is replaced
    second.restore(saved)
    for _, x, s, a, prediction, reward in run[60:]:
        assert second.predict(x)[s, a] == prediction
        commit(second.learn(x, s, a, reward))
    assert_same_state(second.to_state(), whole.to_state())
    assert_same_state(saved, first.to_state())  # learning on does not reach into what was saved


@every_oracle
def test_a_state_of_other_shape_is_refused_and_nothing_is_taken_up(build):
    oracle = build()
    good = oracle.to_state()
    last = list(good)[-1]
    for bad in ({}, {**good, last: good[last][:-1]}):
        with pytest.raises(ValueError, match="holds wrong content"):
            oracle.restore(bad)
    assert_same_state(oracle.to_state(), good)


@every_oracle
@pytest.mark.parametrize(
    ("state", "action", "reward", "message"),
    [
        (2, 0, 0.5, "state of the last layer must be an index below 2, got 2"),
        (-1, 0, 0.5, "state of the last layer must be an index below 2, got -1"),
        (0, 3, 0.5, "action of last-layer state 0 must be an index below 3, got 3"),
        (1, 2, 0.5, "action of last-layer state 1 must be an index below 2, got 2"),
        (0, -1, 0.5, "action of last-layer state 0"),
        (0, 0, 1.01, r"reward must be a number in \[0, 1\], got 1.01"),
        (0, 0, -0.01, r"reward must be a number in \[0, 1\]"),
        (0, 0, float("nan"), r"reward must be a number in \[0, 1\], got nan"),
        (0, 0, float("inf"), r"reward must be a number in \[0, 1\], got inf"),
    ],
)
def test_a_wrong_example_is_refused_and_not_learned(build, state, action, reward, message):
    oracle = build()
    before, context = oracle.to_state(), context_at(is_on_vectors(oracle), np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        commit(oracle.learn(context, state, action, reward))
    assert_same_state(oracle.to_state(), before)


@every_oracle
def test_a_wrong_context_is_refused(build):
    oracle = build()
    if is_on_vectors(oracle):
        wrong, message = (
            [np.zeros(2), np.array([0.0, np.nan, 0.0]), 1],
            "context must be a vector of 3 finite",
        )
    else:
        wrong, message = [2, -1, np.zeros(3), "p"], "a finite context must be an index below 2"
    for context in wrong:
        with pytest.raises(ValueError, match=message):
            oracle.predict(context)
        with pytest.raises(ValueError, match=message):
            commit(oracle.learn(context, 0, 0, 0.5))


@every_oracle
def test_whole_numbers_and_numpy_numbers_are_rewards_and_indices_too(build):
    oracle, twin = build(), build()
    context = context_at(is_on_vectors(oracle), np.random.default_rng(0))
    commit(oracle.learn(context, 0, 1, 1))
    commit(twin.learn(context, np.int64(0), np.int64(1), np.float64(1.0)))
    assert_same_state(oracle.to_state(), twin.to_state())


# --- making them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ORACLES)
def test_make_oracle_makes_what_is_named(method):
    oracle = make_oracle(FINITE, OracleSettings(method))
    assert oracle.name == method
    assert oracle.predict(0).shape == EXISTS.shape


def test_the_default_is_the_papers():
    assert OracleSettings().learning_rate == 0.05
    assert isinstance(make_oracle(FINITE, OracleSettings()), TableOGD)


def test_unknown_methods_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match=r"must be one of \['ogd', .*got 'sgd'"):
        make_oracle(FINITE, OracleSettings("sgd"))
    with pytest.raises(ValueError, match="construct Aggregating"):
        make_oracle(FINITE, OracleSettings("aggregating"))


def test_tables_over_vectors_are_refused():
    with pytest.raises(ValueError, match=r"'ogd' needs finite contexts, got .*; use 'ogd_features'"):
        make_oracle(VECTORS, OracleSettings("ogd"))
    with pytest.raises(ValueError, match="'aggregating' needs finite contexts"):
        Aggregating(VECTORS, functions())


@pytest.mark.parametrize(
    "wrong",
    [
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"learning_rate": float("inf")},
        {"initial": -0.1},
        {"initial": 1.1},
        {"regularization": 0.0},
        {"regularization": float("inf")},
        {"width": 0},
        {"seed": -1},
    ],
)
def test_settings_out_of_range_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name} must .*, got "):
        OracleSettings(**wrong)


@pytest.mark.parametrize("initial", [0.0, 1.0])
def test_a_sigmoid_cannot_start_at_the_ends(initial):
    with pytest.raises(ValueError, match=r"must lie inside \(0, 1\)"):
        make_oracle(FINITE, OracleSettings("network", initial=initial))
    assert make_oracle(FINITE, OracleSettings("vaw", initial=initial)).predict(0)[0, 0] == initial


@pytest.mark.parametrize("shape", [(2, 3), (0, 2, 2, 3), (4, 3, 2, 3), (4, 2, 2, 2)])
def test_a_finite_class_of_wrong_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"at least one table \(X, S_H, K\) = \(2, 2, 3\), got"):
        Aggregating(FINITE, np.zeros(shape))


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan])
def test_a_finite_class_with_values_outside_the_unit_interval_is_refused(value):
    tables = functions()
    tables[3, 1, 1, 2] = value  # in the padding it does not matter
    Aggregating(FINITE, tables)
    tables[3, 1, 1, 1] = value
    with pytest.raises(ValueError, match=r"functions must have values in \[0, 1\]"):
        Aggregating(FINITE, tables)


@every_oracle
def test_learning_changes_nothing_until_it_is_committed_and_may_be_committed_twice(build):
    oracle = build()
    rng, vectors = np.random.default_rng(3), oracle._inputs.contexts is VECTORS.contexts
    for _ in range(5):
        before, context = oracle.to_state(), context_at(vectors, rng)
        changes = oracle.learn(context, 1, 1, float(rng.random()))
        assert_same_state(oracle.to_state(), before)
        commit(changes)
        once = oracle.to_state()
        assert any((once[name] != before[name]).any() for name in once)
        commit(changes)
        assert_same_state(oracle.to_state(), once)

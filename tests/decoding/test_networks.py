"""The neural posterior: it converges to the minimiser of eq. 5, from vectors too, and to the same bits."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import reference_decoder as reference
import torch
from reference_decoder import RAGGED, SYNTHETIC, ragged_tuples, synthetic_tuples

from tacit.decoding.decoder import DecoderSettings, build_decoder
from tacit.decoding.inverse_kinematics import fit_posterior
from tacit.decoding.network_inputs import NetworkInputs
from tacit.decoding.networks import (
    NeuralPosterior,
    descend,
    initial_weights,
    mean_loss,
    merge_rows,
    plentiful,
    train_networks,
)
from tacit.decoding.posterior import PosteriorSettings, ideal_posterior
from tacit.decoding.tuples import Tuples
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite, Vectors

SHORT = PosteriorSettings(max_steps=40, restarts=2)
VECTORS = Layout(((0,),), ((tuple(range(4)),),), Vectors(2), Vectors(1))


def rows_of(layout, tuples, settings):
    contexts = NetworkInputs.fit(layout.contexts, tuples.contexts)
    return merge_rows(layout, tuples, contexts, NetworkInputs.fit(layout.feedback, tuples.feedback), settings)


def vector_tuples(seed, n):
    """Gaussian contexts: the first entry flips the report, whose noise is a quarter of its size."""
    rng = np.random.default_rng(seed)
    contexts, actions = rng.normal(size=(n, 2)), rng.integers(4, size=n)
    rewards = rng.random(n) < np.where(actions == 0, 0.9, 0.1)
    honest = np.where(contexts[:, 0] > 0, 1.0, -1.0)
    feedback = 3 + honest * np.where(rewards, 1.0, -1.0) + 0.25 * rng.normal(size=n)
    return Tuples(contexts, np.zeros(n, np.int64), actions, feedback[:, None]), rewards


def vector_error(posterior):
    """The root mean squared error against eq. 3 on new tuples."""
    tuples, rewards = vector_tuples(999, 300)
    h = np.array([posterior.predict(x, y, 0) for x, y in zip(tuples.contexts, tuples.feedback, strict=True)])
    truth = ideal_posterior(np.tile([0.9, 0.1, 0.1, 0.1], (300, 1)), rewards.astype(float))
    return np.sqrt(((h - truth) ** 2).mean())


def test_plentiful_tuples_give_the_frequencies_and_the_decoded_reward():
    """theta/M is the true posterior itself, the edge of the ramp: shrinking towards uniform costs reward."""
    decoded = []
    for seed in range(3):
        tuples = synthetic_tuples(seed)
        neural, frequency = (
            fit_posterior(SYNTHETIC, tuples, PosteriorSettings(method, seed, restarts=2))
            for method in ("neural", "frequency")
        )
        for x, y in np.ndindex(2, 2):
            assert neural.predict(x, y, 0) == pytest.approx(frequency.predict(x, y, 0), abs=0.025)
        decoder = build_decoder(SYNTHETIC, neural, DecoderSettings(0.9, 1.3))
        decoded += [decoder.decode(0, 1, 0, 0), decoder.decode(1, 0, 0, 0)]
        assert decoder.table[0, [0, 1], [0, 1]].max() == 0.0  # unrewarded
        assert decoder.table[1].max() == 0.0  # homogeneous
    assert np.mean(decoded) > 0.95


def test_loss_reached_is_that_of_the_best_member_of_the_class():
    """The structured fit is within the class, so training must end at its loss or below."""
    tuples = synthetic_tuples(4).of_state(0)
    losses = []
    for method in ("neural", "structured"):
        posterior = fit_posterior(SYNTHETIC, tuples, PosteriorSettings(method, restarts=2))
        h = [posterior.predict(x, y, 0) for x, y in zip(tuples.contexts, tuples.feedback, strict=True)]
        losses.append(reference.erm_loss(h, tuples.actions) / len(tuples))
    assert losses[0] <= losses[1] + 1e-5


def test_vectors_are_learned_and_the_error_shrinks_with_tuples():
    settings = PosteriorSettings(restarts=2, max_steps=800, patience=200)
    few, many = (vector_error(fit_posterior(VECTORS, vector_tuples(0, n)[0], settings)) for n in (200, 2000))
    assert many < 0.1  # uniform has 0.24
    assert many < 0.75 * few


def test_control_shuffled_vectors_teach_nothing():
    tuples, _ = vector_tuples(0, 1000)
    shuffled = np.random.default_rng(0).permutation(tuples.feedback)
    posterior = fit_posterior(VECTORS, replace(tuples, feedback=shuffled), PosteriorSettings(restarts=2))
    h = [posterior.predict(x, y, 0) for x, y in zip(tuples.contexts[:200], shuffled[:200], strict=True)]
    assert np.abs(np.array(h) - 0.25).mean() < 0.05


def test_finite_contexts_may_come_with_vector_feedback():
    tuples, _ = vector_tuples(1, 1500)
    contexts = (tuples.contexts[:, 0] > 0).astype(np.int64)
    layout = Layout(VECTORS.states, VECTORS.actions, Finite((0, 1)), Vectors(1))
    settings = PosteriorSettings(restarts=2, max_steps=600, patience=200)
    posterior = fit_posterior(layout, replace(tuples, contexts=contexts), settings)
    for x, y, r in ((0, 2.0, 1.0), (0, 4.0, 0.0), (1, 4.0, 1.0), (1, 2.0, 0.0)):
        truth = ideal_posterior(np.array([0.9, 0.1, 0.1, 0.1]), r)
        assert posterior.predict(x, np.array([y]), 0) == pytest.approx(truth, abs=0.1)


def test_same_seed_same_bits_other_seed_other_bits():
    first, same, other = (
        fit_posterior(RAGGED, ragged_tuples(0, 100), replace(SHORT, seed=seed)).to_state()
        for seed in (1, 1, 2)
    )
    assert all(np.array_equal(first[key], same[key]) for key in first)
    assert not np.array_equal(first["f_hidden"], other["f_hidden"])


def test_merged_rows_have_the_loss_of_the_tuples():
    tuples = ragged_tuples(0, 100)
    rows = rows_of(RAGGED, tuples, SHORT)
    assert rows.train.shape == (2, 8, 5)  # 2 contexts x 4 feedback values
    counts = rows.train + rows.valid
    assert counts.sum() == pytest.approx(len(tuples))
    assert np.all(counts[1, :, 3:] == 0)  # a state with 3 actions
    h = np.random.default_rng(0).dirichlet(np.ones(5), 8)
    slow = sum(counts[0, row, a] * reference.erm_loss([h[row]], [a]) for row, a in np.ndindex(8, 5)) / 100
    assert mean_loss(torch.tensor(h), torch.tensor(counts[0])).item() == pytest.approx(slow)


def test_each_state_validates_on_the_same_share_of_its_tuples():
    rows = rows_of(RAGGED, ragged_tuples(0, 100), SHORT)
    assert rows.valid.sum(axis=(1, 2)) == pytest.approx([20, 20], rel=0.1)  # 20 tuples of weight about 1


def test_numpy_predictions_equal_those_of_training():
    """With no steps taken the predictions are those of the initial weights, computed here by loops."""
    tuples = ragged_tuples(0, 100)
    rows = rows_of(RAGGED, tuples, SHORT)
    start = initial_weights(rows, SHORT)
    run = descend(start, rows, rows.train, rows.valid, np.zeros((2, 2), np.int64), SHORT)

    def network(inputs, hidden, output):
        units = np.tanh(np.append(inputs, 1.0) @ hidden)
        return 1 / (1 + np.exp(-np.append(units, 1.0) @ output))

    losses = []
    for row, counts in enumerate(rows.train[1]):
        x, y = rows.contexts[1, row], rows.feedback[1, row]
        f = network(x, start.f_hidden[1, 0], start.f_output[1, 0])[:3]
        phi = network(np.append(x, y), start.phi_hidden[1, 0], start.phi_output[1, 0])[0]
        h = reference.posterior(f, phi)
        losses += [counts[a] * reference.erm_loss([h], [a]) for a in range(3)]
    assert run.curves[0, 0, 1, 0] == pytest.approx(sum(losses) / rows.train[1].sum())


def test_best_weights_are_restored():
    """A learning rate that diverges makes the last weights bad; those of least watched loss are returned."""
    rows = rows_of(SYNTHETIC, synthetic_tuples(0, n=500), SHORT)
    settings = replace(SHORT, learning_rate=5.0, max_steps=100)
    limit = np.full((2, 2), 100)
    run = descend(initial_weights(rows, settings), rows, rows.train, rows.valid, limit, settings)
    assert run.loss == pytest.approx(run.curves[:, 1].min(axis=0), abs=2e-6)


def test_scarce_tuples_are_not_trained_to_the_end():
    plenty = rows_of(SYNTHETIC, synthetic_tuples(0, n=500), SHORT)
    scarce = rows_of(VECTORS, vector_tuples(0, 100)[0], SHORT)
    assert plentiful(plenty).tolist() == [True, True]
    assert plentiful(scarce).tolist() == [False]


def test_curves_go_down_and_threads_are_restored():
    threads = torch.get_num_threads()
    rows = rows_of(SYNTHETIC, synthetic_tuples(0, n=500), SHORT)
    _, curves = train_networks(rows, SHORT)
    assert curves.shape == (2, 3, 2)  # states; checks at steps 0, 20, 40; training and validation
    assert np.all(curves[0, -1] < curves[0, 0])
    assert torch.get_num_threads() == threads


def test_orientation_says_that_rewards_are_the_minority():
    posterior = fit_posterior(SYNTHETIC, synthetic_tuples(0), PosteriorSettings(restarts=2))
    for x in (0, 1):
        (f, rewarded), (_, unrewarded) = posterior.rewards(x, 1 - x, 0), posterior.rewards(x, x, 0)
        assert f.argmax() == 0
        assert f.sum() < 2.5
        assert rewarded > 0.5 > unrewarded


def test_without_torch_training_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"install tacit\[neural\]"):
        fit_posterior(SYNTHETIC, synthetic_tuples(0, n=5), PosteriorSettings())


def test_torch_is_not_imported_before_training():
    code = "import sys, tacit.decoding.networks, tacit.decoding.decoder; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def silent_tuples(layout, n=400, silent=True):
    """Return tuples of one state: after the first action people speak, after the others they are mostly silent."""
    rng = np.random.default_rng(0)
    actions = rng.integers(layout.max_actions, size=n)
    finite = isinstance(layout.contexts, Finite)
    contexts = rng.integers(2, size=n) if finite else rng.normal(size=(n, layout.contexts.dimension))
    words = rng.integers(2, size=n)
    quiet = (rng.random(n) < np.where(actions == 0, 0.1, 0.9)) & silent
    return Tuples(contexts, np.zeros(n, dtype=np.int64), actions, np.where(quiet, 2, words))


@pytest.mark.parametrize("contexts", [Finite((0, 1)), Vectors(2)])
def test_silence_is_an_input_where_it_was_met_and_uniform_where_not(contexts):
    layout = replace(Layout.regular([1], n_actions=4, n_contexts=2, n_feedback=2), contexts=contexts)
    settings = PosteriorSettings("neural", max_steps=300, restarts=1)
    x = 0 if isinstance(contexts, Finite) else np.zeros(2)
    met, unmet = (
        fit_posterior(layout, silent_tuples(layout, silent=silent), settings) for silent in (True, False)
    )
    assert (len(met.feedback.mean), len(unmet.feedback.mean)) == (3, 2)
    assert met.predict(x, 2, 0)[0] < 0.15
    assert met.predict(x, 1, 0)[0] > 0.6
    np.testing.assert_array_equal(unmet.predict(x, 2, 0), [0.25] * 4)
    for posterior in (met, unmet):
        again = NeuralPosterior.from_state(layout, posterior.to_state())
        np.testing.assert_array_equal(again.predict(x, 2, 0), posterior.predict(x, 2, 0))
        decoder = build_decoder(layout, posterior, DecoderSettings(theta=0.9, M=1.2))
        assert 0 <= decoder.decode(x, 2, 0, 0) <= 1

"""The decoder study: Figure 1 by hand, and the task."""

import numpy as np
import pytest

from tacit.decoding.decoder import build_decoder
from tacit.decoding.posterior import ideal_posterior
from tacit.decoding.structured import TablePosterior
from tacit.envs.synthetic import synthetic_mdp
from tacit.experiments.layered.problems import PAPER
from tacit.experiments.studies.decoder.illustration import illustrate, illustrated_decoder
from tacit.experiments.studies.decoder.task import decode_best, draw_tuples, most_rewarding_state


def test_illustration_follows_figure_1():
    shape = illustrate(illustrated_decoder())
    at = {
        v: float(np.interp(v, shape.v, shape.decoded)) for v in (0.0, 1 / 3 - 0.15, 1 / 3, 0.575, 0.6, 2 / 3)
    }
    # zero far below, half of c midway over the bridge, c at uniform, the ramp from 0.55 to 0.6, then one
    assert list(at.values()) == pytest.approx([0.0, 0.1, 0.2, 0.5, 1.0, 1.0], abs=1e-9)


def test_true_posterior_decodes_to_the_reward():
    mdp = synthetic_mdp()
    h = np.array(
        [[ideal_posterior(mdp.rewards[x, 0], phi) for phi in (x, 1 - x)] for x in (0, 1)]
    )  # (X, Y, K)
    rows = h.reshape(-1, h.shape[-1])  # (X Y, K), all of the first state
    seen = np.array([x * 3 + y for x in (0, 1) for y in (0, 1)])  # the third value is silence
    posterior = TablePosterior("frequency", mdp.layout, np.array([True, False]), seen, rows)
    decoder = build_decoder(mdp.layout, posterior, PAPER.decoder)
    assert decode_best(mdp, decoder, 0, reward=1) == pytest.approx(1.0)
    assert decode_best(mdp, decoder, 0, reward=0) == pytest.approx(0.0)


def test_tuples_are_drawn_from_the_model():
    mdp = synthetic_mdp()
    assert most_rewarding_state(mdp) == 0
    tuples = draw_tuples(mdp, 0, 20_000, np.random.default_rng(0))
    rewards = np.where(tuples.contexts == 0, tuples.feedback, 1 - tuples.feedback)
    assert np.mean(tuples.contexts == 0) == pytest.approx(0.7, abs=0.02)
    assert np.bincount(tuples.actions) / 20_000 == pytest.approx([0.2] * 5, abs=0.02)
    assert rewards[tuples.actions == 0].mean() == pytest.approx(0.9, abs=0.02)
    assert rewards[tuples.actions != 0].mean() == pytest.approx(0.1, abs=0.02)

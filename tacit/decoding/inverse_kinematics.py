"""Inverse kinematics (section 3.2): the posterior over actions, fitted by the method that was asked for."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

from tacit.base.saved import Saved
from tacit.decoding.networks import NeuralPosterior, fit_neural
from tacit.decoding.posterior import METHODS, Posterior, PosteriorSettings
from tacit.decoding.structured import TablePosterior, fit_frequency, fit_structured
from tacit.decoding.tuples import Tuples, check_finite, check_tuples
from tacit.problem.layout import Layout


def fit_posterior(layout: Layout, tuples: Tuples, settings: PosteriorSettings) -> Posterior:
    """Return the posterior that minimises eq. 5 on each state's tuples; states without tuples are not fitted.

    >>> import numpy as np
    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> tuples = Tuples(*np.array([[0] * 4, [0] * 4, [0, 1, 0, 1], [1, 0, 1, 1]]))
    >>> fit_posterior(layout, tuples, PosteriorSettings("frequency")).predict(0, 1, 0).round(2)
    array([0.67, 0.33])
    >>> fit_posterior(layout, tuples, PosteriorSettings("structured")).predict(0, 1, 0).round(2)
    array([0.67, 0.33])
    """
    check_tuples(layout, tuples)
    check_method(layout, settings)
    if settings.method == "neural":
        return fit_neural(layout, tuples, settings)
    return fit_frequency(layout, tuples) if settings.method == "frequency" else fit_structured(layout, tuples)


def posterior_from_state(layout: Layout, state: Mapping[str, Any]) -> Posterior:
    """Return the posterior that `to_state` described, the same to the last bit."""
    saved = Saved.of(state)
    if saved.choice("name", METHODS) == NeuralPosterior.name:
        return NeuralPosterior.from_state(layout, saved)
    return TablePosterior.from_state(layout, saved)


def check_method(layout: Layout, settings: PosteriorSettings) -> None:
    """Raise unless the method can be fitted on this layout and on this machine."""
    if settings.method != "neural":
        check_finite(layout, settings.method)
    elif importlib.util.find_spec("torch") is None:
        raise ImportError(
            "the neural posterior needs torch to train, and it is not installed; install tacit[neural], or "
            "use method 'structured' if contexts and feedback are finite"
        )

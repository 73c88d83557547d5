"""AlgSq: online square-loss regression of the decoded reward on (context, last state, action).

Assumption 4.1 asks that over any sequence (x_t, s_t, a_t, r_t) the predictions f_t satisfy

    Σ_t (f_t(x_t, s_t, a_t) - r_t)²  -  min_{f in F} Σ_t (f(x_t, s_t, a_t) - r_t)²  ≤  Reg_sq.

Every oracle below names its class F and, where one is known, its Reg_sq. Arrays over the pairs (s, a) of the
last layer are (S_H, K); pairs that do not exist are predicted as 0. Features φ are [x, 1], finite x one-hot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.changes import Changes, put
from tacit.base.randomness import check_seed
from tacit.base.saved import Saved
from tacit.base.validation import check_encodable, check_number, check_whole, check_within
from tacit.planning.oracle_inputs import OracleInputs, refused
from tacit.planning.regression_kernels import (
    MIXABILITY,
    add_vaw,
    predict_network,
    predict_vaw,
    products,
    step_linear,
    step_network,
    substitute,
)
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite

MOST_WIDTH = 1 << 16
"""Of a hidden layer: far beyond what an online regression can fit."""
DEFINITE = 1e-9
"""How far, of its largest possible value, rounding may bring A⁻¹ below zero."""


class RegressionOracle(Protocol):
    """What policy learning asks of AlgSq; predicting never changes the oracle."""

    name: ClassVar[str]

    def predict(self, context: Encoded) -> FloatArray:
        """Return f(x, ., .) as a new array (S_H, K) with values in [0, 1]."""

    def learn(self, context: Encoded, state: int, action: int, reward: float) -> Changes:
        """Return what one decoded reward changes; `state` and `action` are indices in the last layer."""

    def to_state(self) -> dict[str, Any]:
        """Return copies of the arrays that, with the settings, resume the oracle bit for bit."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` returned."""


@dataclass(frozen=True)
class OracleSettings:
    """How the reward is regressed; an oracle reads only what concerns it.

    `learning_rate` is the paper's (appendix C.1). The others are not in the paper: `initial` is the prediction
    before any data, by default the one nearest to all rewards; `regularization` is the ridge of "vaw";
    `width` and `seed` are the hidden layer of "network" and the draw of its weights.
    """

    method: str = "ogd"
    learning_rate: float = 0.05
    initial: float = 0.5
    regularization: float = 1.0
    width: int = 32
    seed: int = 0

    def __post_init__(self) -> None:
        check_encodable("method", self.method)
        check_number("learning_rate", self.learning_rate, 0, 1)  # more than the whole error makes it grow
        check_number("regularization", self.regularization, 0, np.inf)
        check_whole("width", self.width, 1, most=MOST_WIDTH)
        check_seed(self.seed)
        check_within("initial", self.initial, 0, 1)


def make_oracle(layout: Layout, settings: OracleSettings) -> RegressionOracle:
    """Return the oracle that `settings.method` names.

    >>> make_oracle(Layout.regular([1, 2], 3, 2, 2), OracleSettings("vaw")).predict(0).shape
    (2, 3)
    """
    if settings.method not in ORACLES:
        rule = f"the regression method must be one of {list(ORACLES)}"
        raise refused(rule, settings.method, "for a finite class, construct Aggregating(layout, functions)")
    return ORACLES[settings.method](layout, settings)


def restore_oracle(layout: Layout, settings: OracleSettings, state: Mapping[str, Any]) -> RegressionOracle:
    """Return the oracle that `to_state` described; nothing is made before the state is seen to be of that size."""
    saved, size = Saved.of(state), OracleInputs(layout).dimension
    if _Memory in getattr(ORACLES.get(settings.method), "__mro__", ()):
        axes = {n for name in saved for n in np.shape(saved[name])}
        saved.check(bool(axes & {size, size - 1}), "", f"arrays over {size - 1} context features")
    oracle = make_oracle(layout, settings)
    oracle.restore(saved)
    return oracle


class _Memory(Protocol):
    """Saving and restoring, for an oracle that keeps all it learns in named arrays."""

    _learned: dict[str, FloatArray]

    def to_state(self) -> dict[str, Any]:
        """Return copies of the learned arrays by name."""
        return {name: array.copy() for name, array in self._learned.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up saved arrays, each of the shape of the one it replaces, if they keep the oracle's rules."""
        saved = Saved.of(state)
        learned = {name: saved.floats(name, array.shape).copy() for name, array in self._learned.items()}
        self._check(saved, learned)
        self._learned = learned

    def _check(self, saved: Saved, learned: Mapping[str, FloatArray]) -> None:
        """Raise CheckpointError if saved arrays could not have been learned; any finite numbers could, by default."""


class TableOGD(_Memory):
    """Online gradient descent on a table: F is every function of a finite context, state and action.

        f(x, s, a) ← Π_[0,1]( f(x, s, a) - η · 2 (f(x, s, a) - r) )

    The gradient of (f - r)² is taken literally (dev. 21), factor 2 and all: at η = 0.05 a tenth of the error goes.
    Against an f with total loss L and D² = Σ (f_1 - f)², Reg_sq ≤ (D²/2η + 2ηL) / (1 - 2η): a fixed η pays
    a share of the noise. The choice η = D / 2√T gives 2D√T.

    >>> from tacit.base.changes import commit
    >>> oracle = TableOGD(Layout.regular([1], 2, 1, 2), OracleSettings())
    >>> commit(oracle.learn(0, state=0, action=1, reward=1.0))
    >>> oracle.predict(0)
    array([[0.5 , 0.55]])
    """

    name: ClassVar[str] = "ogd"

    def __init__(self, layout: Layout, settings: OracleSettings) -> None:
        self._inputs, self._rate = OracleInputs(layout), float(settings.learning_rate)
        n_contexts, start = self._inputs.n_contexts(self.name), settings.initial * self._inputs.exists
        self._learned = {"table": np.stack([start] * n_contexts)}  # (X, S_H, K)

    def predict(self, context: Encoded) -> FloatArray:
        """Return the table's entries for the context."""
        return np.array(self._learned["table"][self._inputs.index(context)])

    def learn(self, context: Encoded, state: int, action: int, reward: float) -> Changes:
        """Return one projected gradient step in the one entry concerned."""
        self._inputs.check_outcome(state, action, reward)
        table, cell = self._learned["table"], (self._inputs.index(context), state, action)
        value = float(table[cell])
        return (put(table, cell, min(max(value - self._rate * 2.0 * (value - reward), 0.0), 1.0)),)

    def _check(self, saved: Saved, learned: Mapping[str, FloatArray]) -> None:
        table = learned["table"]
        saved.check(
            ((table >= 0) & (table <= self._inputs.exists)).all(), "table", "rewards, 0 where no pair is"
        )


class LinearOGD(_Memory):
    """Online gradient descent on features: F is f(x, s, a) = w[s, a] · φ.

        w[s, a] ← w[s, a] - η / max(1, |φ|²) · 2 (w[s, a] · φ - r) φ

    The descent is on the unclipped, convex loss; clipping the prediction to [0, 1] only lowers it. Dividing
    by |φ|² is ours (dev. 22): at a fixed η, descent diverges as soon as |φ|² > 1/η. With |φ|² = n ≥ 1 for all φ and
    D² = Σ |w_1 - w|², Reg_sq ≤ (nD²/2η + 2ηL) / (1 - 2η).

    >>> LinearOGD(Layout.regular([1], 2, 1, 2), OracleSettings(initial=0.2)).predict(0)
    array([[0.2, 0.2]])
    """

    name: ClassVar[str] = "ogd_features"

    def __init__(self, layout: Layout, settings: OracleSettings) -> None:
        self._inputs, self._rate = OracleInputs(layout), float(settings.learning_rate)
        weights = np.zeros((*self._inputs.exists.shape, self._inputs.dimension))  # (S_H, K, d)
        weights[:, :, -1] = settings.initial
        self._learned = {"weights": weights}

    def predict(self, context: Encoded) -> FloatArray:
        """Return w · φ, clipped."""
        return self._inputs.bounded(products(self._learned["weights"], self._inputs.features(context)))

    def learn(self, context: Encoded, state: int, action: int, reward: float) -> Changes:
        """Return one gradient step in the weights of the pair concerned."""
        self._inputs.check_outcome(state, action, reward)
        phi, weights = self._inputs.features(context), self._learned["weights"]
        stepped = step_linear(weights[state, action], phi, float(reward), self._rate)
        return (put(weights, (state, action), stepped),)


class VovkAzouryWarmuth(_Memory):
    """The ridge forecaster that counts the current features in: F is f(x, s, a) = c + w[s, a] · φ.

        f(x, s, a) = c + b · (A + φφᵀ)⁻¹ φ,   A = λI + Σ_t φ_t φ_tᵀ,   b = Σ_t (r_t - c) φ_t

    c is `initial`. With Y = max(c, 1 - c), each pair (s, a) adds to Reg_sq at most
    λ|w|² + Y² log det(A/λ) ≤ λ|w|² + Y² d log(1 + T|φ|²/λd). Memory and time grow with S_H K d².

    >>> from tacit.base.changes import commit
    >>> oracle = VovkAzouryWarmuth(Layout.regular([1], 2, 1, 2), OracleSettings())
    >>> commit(oracle.learn(0, state=0, action=1, reward=1.0))
    >>> oracle.predict(0)
    array([[0.5, 0.7]])
    """

    name: ClassVar[str] = "vaw"

    def __init__(self, layout: Layout, settings: OracleSettings) -> None:
        self._inputs, self._centre = OracleInputs(layout), float(settings.initial)
        shape = (*self._inputs.exists.shape, self._inputs.dimension)  # (S_H, K, d)
        self._ridge = float(settings.regularization)
        ridge = np.eye(shape[-1]) / self._ridge
        self._learned = {"inverse": np.tile(ridge, (*shape[:2], 1, 1)), "moment": np.zeros(shape)}  # A⁻¹, b

    def predict(self, context: Encoded) -> FloatArray:
        """Return the forecasts, clipped to [0, 1]."""
        phi, (inverse, moment) = self._inputs.features(context), self._learned.values()
        return self._inputs.bounded(predict_vaw(inverse, moment, phi, self._centre))

    def learn(self, context: Encoded, state: int, action: int, reward: float) -> Changes:
        """Return A with φφᵀ added, by a rank-one update of its inverse, and b with (r - c) φ."""
        self._inputs.check_outcome(state, action, reward)
        phi, (inverse, moment) = self._inputs.features(context), self._learned.values()
        pair, target = (state, action), float(reward) - self._centre
        updated = add_vaw(inverse[pair], moment[pair], phi, target)
        return put(inverse, pair, updated[0]), put(moment, pair, updated[1])

    def _check(self, saved: Saved, learned: Mapping[str, FloatArray]) -> None:
        inverse, most = learned["inverse"], 1.0 / self._ridge
        symmetric = np.array_equal(inverse, inverse.swapaxes(2, 3))
        values = np.linalg.eigvalsh(inverse) if symmetric else np.array([-np.inf])
        possible = values.min() >= -DEFINITE * most and values.max() <= (1 + DEFINITE) * most
        saved.check(possible, "inverse", f"positive definite, of eigenvalues up to {most:g}")


class Aggregating(_Memory):
    """Vovk's aggregating algorithm over a finite class F: an array (F, X, S_H, K) of values in [0, 1].

        w_i ∝ exp(-2 Σ_t (f_i - r_t)²),  g(z) = -½ log Σ_i w_i exp(-2 (f_i - z)²),  f = ½ + ½ (g(0) - g(1))

    Reg_sq ≤ ½ log |F| on every sequence in [0, 1].

    >>> from tacit.base.changes import commit
    >>> oracle = Aggregating(Layout.regular([1], 1, 1, 2), np.array([0.0, 1.0]).reshape(2, 1, 1, 1))
    >>> commit(oracle.learn(0, state=0, action=0, reward=1.0))
    >>> oracle.predict(0).round(3)
    array([[0.831]])
    """

    name: ClassVar[str] = "aggregating"

    def __init__(self, layout: Layout, functions: FloatArray) -> None:
        self._inputs = OracleInputs(layout)
        shape = (self._inputs.n_contexts(self.name), *self._inputs.exists.shape)
        tables = np.asarray(functions, dtype=np.float64)
        if tables.ndim != 4 or len(tables) < 1 or tables.shape[1:] != shape:
            rule = f"the finite class must be an array of at least one table (X, S_H, K) = {shape}"
            raise refused(rule, tables.shape, "give every function's values over the layout")
        tables = np.where(self._inputs.exists, tables, 0.0)
        if not np.all((tables >= 0.0) & (tables <= 1.0)):
            extremes = float(tables.min()), float(tables.max())
            raise refused("functions must have values in [0, 1]", extremes, "clip or rescale them")
        self._learned = {"log_weights": np.zeros(len(tables)), "functions": tables}

    def predict(self, context: Encoded) -> FloatArray:
        """Return the substitution f of each pair."""
        x, (log_weights, functions) = self._inputs.index(context), self._learned.values()
        return self._inputs.bounded(substitute(log_weights, functions, x))

    def learn(self, context: Encoded, state: int, action: int, reward: float) -> Changes:
        """Return every log-weight lowered by twice its function's loss, the largest kept at 0."""
        self._inputs.check_outcome(state, action, reward)
        values = self._learned["functions"][:, self._inputs.index(context), state, action]
        log_weights = self._learned["log_weights"] - MIXABILITY * (values - reward) ** 2
        return (put(self._learned, "log_weights", log_weights - log_weights.max()),)

    def _check(self, saved: Saved, learned: Mapping[str, FloatArray]) -> None:
        saved.check(learned["log_weights"].max() == 0, "log_weights", "at most 0, and 0 for the best")
        tables = learned["functions"]
        saved.check(((tables >= 0) & (tables <= 1)).all(), "functions", "values in [0, 1]")


class TwoLayerNetwork(_Memory):
    """Stochastic gradient descent on a two-layer fully connected network with one output for every pair.

        f(x, s, a) = sigmoid( V[s, a] · [tanh(Wᵀ φ), 1] )

    V starts at zero and logit(initial), so that the first prediction is `initial`; W is drawn with variance
    1/|φ|² for one-hot or standardised contexts. The loss is not convex: no bound is known.

    >>> TwoLayerNetwork(Layout.regular([1], 2, 1, 2), OracleSettings()).predict(0)
    array([[0.5, 0.5]])
    """

    name: ClassVar[str] = "network"

    def __init__(self, layout: Layout, settings: OracleSettings) -> None:
        self._inputs, self._rate = OracleInputs(layout), float(settings.learning_rate)
        initial, width, d = settings.initial, settings.width, self._inputs.dimension
        if not 0.0 < initial < 1.0:
            raise refused("a sigmoid's initial must lie inside (0, 1)", initial, "use 0.01 or 0.99")
        scale = np.sqrt(2.0 if isinstance(layout.contexts, Finite) else d)
        hidden = np.random.default_rng(settings.seed).standard_normal((d, width)) / scale  # W
        output = np.zeros((*self._inputs.exists.shape, width + 1))  # V, (S_H, K, width + 1)
        output[:, :, -1] = np.log(initial / (1.0 - initial))
        self._learned = {"hidden": hidden, "output": output}

    def predict(self, context: Encoded) -> FloatArray:
        """Return the network's outputs."""
        phi, (hidden, output) = self._inputs.features(context), self._learned.values()
        return self._inputs.bounded(predict_network(hidden, output, phi))

    def learn(self, context: Encoded, state: int, action: int, reward: float) -> Changes:
        """Return one gradient step on the squared loss of the one output concerned."""
        self._inputs.check_outcome(state, action, reward)
        phi, (hidden, output) = self._inputs.features(context), self._learned.values()
        pair, rows = (state, action), np.flatnonzero(phi)  # the others do not change
        stepped = step_network(hidden[rows], output[pair], phi[rows], float(reward), self._rate)
        return put(hidden, rows, stepped[0]), put(output, pair, stepped[1])


_Build = Callable[[Layout, OracleSettings], RegressionOracle]  # all but Aggregating, which needs its class
ORACLES: dict[str, _Build] = {o.name: o for o in (TableOGD, LinearOGD, VovkAzouryWarmuth, TwoLayerNetwork)}

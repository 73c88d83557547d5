"""The arithmetic of the oracles in `tacit.planning.regression`, compiled; arrays over pairs are (S_H, K, ...)."""

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel

MIXABILITY = 2.0
"""The largest rate at which the squared loss on [0, 1] is mixable (Vovk)."""


@kernel
def products(weights: FloatArray, vector: FloatArray) -> FloatArray:
    """Return w · φ of every pair, (S_H, K)."""
    # Sums, not np.dot: BLAS chooses the order in which it adds, and a saved run must resume bit for bit.
    found = np.empty(weights.shape[:2])
    for s, a in np.ndindex(weights.shape[:2]):  # a loop compiles many times faster than sum(axis)
        found[s, a] = (weights[s, a] * vector).sum()
    return found


@kernel
def step_linear(w: FloatArray, phi: FloatArray, reward: float, rate: float) -> FloatArray:
    """Return the weights of a pair after one normalised gradient step."""
    stepped: FloatArray = w - rate / max(1.0, (phi * phi).sum()) * 2.0 * ((w * phi).sum() - reward) * phi
    return stepped


@kernel
def predict_vaw(inverse: FloatArray, moment: FloatArray, phi: FloatArray, centre: float) -> FloatArray:
    """Return the forecasts of every pair, (S_H, K)."""
    values = np.empty(moment.shape[:2])
    for s, a in np.ndindex(moment.shape[:2]):
        direction = products(inverse[s, a : a + 1], phi)[0]  # (A + φφᵀ)⁻¹ φ = A⁻¹φ / (1 + φᵀA⁻¹φ)
        values[s, a] = centre + (moment[s, a] * direction).sum() / (1.0 + (phi * direction).sum())
    return values


@kernel
def add_vaw(
    inverse: FloatArray, moment: FloatArray, phi: FloatArray, target: float
) -> tuple[FloatArray, FloatArray]:
    """Return A⁻¹ and b of a pair with one outcome added."""
    direction = products(inverse.reshape((1, len(phi), len(phi))), phi)[0]  # A⁻¹φ
    updated, scale = inverse.copy(), 1.0 + (phi * direction).sum()
    for i in range(len(phi)):  # Sherman-Morrison, the products first so that A⁻¹ stays symmetric
        updated[i] -= direction[i] * direction / scale
    return updated, moment + target * phi


@kernel
def substitute(log_weights: FloatArray, functions: FloatArray, context: int) -> FloatArray:
    """Return the aggregating algorithm's prediction of every pair, (S_H, K)."""
    weights, values = np.exp(log_weights), np.empty(functions.shape[2:])
    for s, a in np.ndindex(functions.shape[2:]):
        f = functions[:, context, s, a]
        on_zero = (weights * np.exp(-MIXABILITY * f**2)).sum()  # exp(-2 g(0)): the largest weight is 1
        on_one = (weights * np.exp(-MIXABILITY * (f - 1.0) ** 2)).sum()
        values[s, a] = 0.5 + np.log(on_one / on_zero) / (2.0 * MIXABILITY)
    return values


@kernel
def _units(hidden: FloatArray, phi: FloatArray) -> FloatArray:
    sums = np.zeros(hidden.shape[1])
    for i in np.flatnonzero(phi):  # one-hot contexts touch two rows, however many contexts there are
        sums += phi[i] * hidden[i]
    return np.append(np.tanh(sums), 1.0)


@kernel
def predict_network(hidden: FloatArray, output: FloatArray, phi: FloatArray) -> FloatArray:
    """Return the network's outputs, (S_H, K)."""
    return 0.5 + 0.5 * np.tanh(0.5 * products(output, _units(hidden, phi)))  # sigmoid, without overflow


@kernel
def step_network(
    hidden: FloatArray, v: FloatArray, phi: FloatArray, reward: float, rate: float
) -> tuple[FloatArray, FloatArray]:
    """Return the hidden weights, and the output weights of a pair, after one gradient step."""
    units = _units(hidden, phi)
    value = 0.5 + 0.5 * np.tanh(0.5 * (v * units).sum())
    slope = 2.0 * (value - reward) * value * (1.0 - value)  # of (f - r)² in the logit
    backward = slope * (v * (1.0 - units**2))[:-1]  # through tanh, before v moves
    stepped = hidden.copy()
    for i in range(len(phi)):
        stepped[i] -= rate * phi[i] * backward
    return stepped, v - rate * slope * units

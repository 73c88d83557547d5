"""How much an action pleases where tuples leave open which words both sides say: as few as may be.

What is said after the actions of one place fixes f_a g_1 + (1 - f_a) g_0, and where one action alone pleases, no more:
f = 1/2 of whom all say a word that nobody else says, and f = 1 of whom half say it, are as likely, however many tuples
there are. A likelihood settles there by whatever else it costs, and drifts from fit to fit. So what was fitted is read
in one way alone: those who are pleased say as little as possible of what the others say,

    g_1' = g_0 + t (g_1 - g_0),    f' = f / t,    t >= 1 the largest by which g_1' stays a distribution,

which leaves the chances of all words as they are, the order of actions, and 0 where nothing pleases. It is the belief
of counted contexts, too (`tacit.decoding.word_types`): the outermost words are said by one side alone.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel

RARE = 0.01
"""Of what the pleased say, in all: words so rare that they say less than nothing hold t back no longer."""
MOST = 20.0
"""The largest t: beyond it both sides say the same, and nothing is told."""
HALVINGS = 30


@kernel
def find_stretch(other: FloatArray, pleased: FloatArray) -> float:
    """Return t of g_0 and g_1, both (W,).

    >>> round(find_stretch(np.array([0.98, 0.02]), np.array([0.51, 0.49])), 2)
    2.11
    """
    low, high = 1.0, MOST
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = 0.0
        for w in range(len(other)):
            below -= min(other[w] + middle * (pleased[w] - other[w]), 0.0)
        if below > RARE:
            high = middle
        else:
            low = middle
    return low


@kernel
def find_stretches(other: FloatArray, pleased: FloatArray) -> FloatArray:
    """Return t of each of g_0 and g_1, both (n, W)."""
    found = np.empty(len(other))
    for i in range(len(other)):
        found[i] = find_stretch(other[i], pleased[i])
    return found


def stretch_pleased(other: FloatArray, pleased: FloatArray, stretch: float) -> FloatArray:
    """Return g_1' (W,), of which less than nothing is nothing."""
    return np.maximum(other + stretch * (pleased - other), 0.0)

"""Which states of the next layer an action can lead to, in a layout."""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import BoolArray, IntArray
from tacit.problem.layout import Layout


def existing_transitions(layout: Layout, h: int) -> BoolArray:
    """Return where (s, a, s') of one layer is in the layout, (S, K, S)."""
    next_state: BoolArray = np.arange(layout.max_states) < reachable_states(layout, h)[:, None]
    exists: BoolArray = layout.exists[h, :, :, None] & next_state[:, None, :]
    if layout.ended[h] >= 0:
        exists[layout.ended[h], 0, layout.ended[h + 1]] = True
    return exists


def reachable_states(layout: Layout, h: int) -> IntArray:
    """Return how many states of the next layer, from its first on, each state of layer h can lead to, (S,).

    All of them, that of episodes that have ended, the last, only where an episode can end. None from that state itself,
    whose way is known and never counted.
    """
    reachable = np.full(layout.max_states, layout.n_states[h + 1])
    if layout.ended[h + 1] >= 0:
        can_end = layout.can_end[h]
        reachable[: len(can_end)] -= ~np.array(can_end)
    if layout.ended[h] >= 0:
        reachable[layout.ended[h]] = 0
    return reachable

"""States that stand in several layers: where actions lead is counted together, for as long as layers are alike.

The paper's layers have no state in common. Those of a real environment do: a cell of a lake is the same cell at every
turn, and a hundred turns of it would be learned a hundred times. So (s, a) of one label is counted over all layers as
far as these agree. With N_h the counts of next labels in layer h, N their sum, and L the Dirichlet-multinomial
likelihood over the k labels that were seen at all, 1/2 for each (Krichevsky and Trofimov, 1981),

    log L(c) = log Γ(k/2) - log Γ(n + k/2) + sum_z [log Γ(c_z + 1/2) - log Γ(1/2)],        n = sum_z c_z,

a layer is a state of its own where log L(N_h) + log L(N - N_h) - log L(N) > `APART`, and counts with the others
otherwise (dev. 37).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.jit import kernel
from tacit.problem.layout import Layout

APART = 6.0
"""Nats from which a layer counts by itself: it was e^6 times as likely to be another state."""


class Recurring(NamedTuple):
    """The states of a layout that stand in several layers and offer the same actions in them.

    `family` (H-1, S) numbers them, -1 for all others; `members` (n, 2) are layers and states, family by family, which
    begin at `starts` (F+1,). `labels` (H, S) numbers labels, that of episodes that have ended among them, below `size`.
    """

    family: IntArray
    starts: IntArray
    members: IntArray
    labels: IntArray
    size: int


def find_recurring(layout: Layout) -> Recurring | None:
    """Return the states that stand in several layers before the last, None if there are none.

    >>> from tacit.problem.spaces import Finite
    >>> two = (("go", "stay"),)
    >>> pond = Layout((("a",), ("a",), ("a", "b")), (two, two, two * 2), Finite((0,)), Finite((0, 1)))
    >>> find_recurring(pond).members.tolist()
    [[0, 0], [1, 0]]
    """
    H, S = layout.horizon, layout.max_states
    number: dict[object, int] = {}
    labels, families = np.zeros((H, S), dtype=np.int64), dict[object, list[tuple[int, int]]]()
    for h, layer in enumerate(layout.states):
        for s, label in enumerate(layer):
            labels[h, s] = number.setdefault(label, len(number))
            if h < H - 1:
                families.setdefault((label, layout.actions[h][s]), []).append((h, s))
    over = layout.ended >= 0
    labels[over, layout.ended[over]] = len(number)
    several = [members for members in families.values() if len(members) > 1]
    if not several:
        return None
    family = np.full((H - 1, S), -1)
    for u, members in enumerate(several):
        family[tuple(np.array(members).T)] = u
    starts = np.cumsum([0, *map(len, several)])
    return Recurring(family, starts, np.concatenate(several), labels, len(number) + 1)


@kernel
def find_apart(tables: IntArray) -> BoolArray:
    """Return which of some tables of counts (m, K, n) are likelier, by `APART` nats, to be drawn by laws of their own.

    Each of the K rows is drawn by itself. Those that differ most are taken out first, and the rest compared again: one
    that is another makes all others differ from what they are compared with.
    """
    apart = np.zeros(len(tables), dtype=np.bool_)
    while True:
        nats = _nats_apart(tables, apart)
        most = nats.max()
        if most <= APART:
            return apart
        apart |= nats > max(APART, most / 2)


@kernel
def _nats_apart(tables: IntArray, apart: BoolArray) -> FloatArray:
    """Return by how many nats each table (m, K, n) is likelier another than those that are not `apart` (m,)."""
    m, K, n = tables.shape
    nats = np.zeros(m)
    for a in range(K):
        totals, k = np.zeros(n, dtype=np.int64), 0
        for i in range(m):
            if not apart[i]:
                totals += tables[i, a]
        for z in range(n):
            k += totals[z] > 0
        if k < 2:  # one law alone
            continue
        whole = _log_likelihood(totals, k)
        for i in range(m):
            if not apart[i] and tables[i, a].any():
                rest = totals - tables[i, a]
                nats[i] += _log_likelihood(tables[i, a], k) + _log_likelihood(rest, k) - whole
    return nats


@kernel
def _log_likelihood(counts: IntArray, k: int) -> float:
    """Return log L of counts, of which k can be above 0."""
    n, total = 0, 0.0
    for c in counts:
        if c > 0:
            n += c
            total += math.lgamma(c + 0.5) - math.lgamma(0.5)
    return total + math.lgamma(k / 2) - math.lgamma(n + k / 2)


@kernel
def pool_action(
    counts: IntArray, n_next: IntArray, known: Recurring, u: int, a: int, pooled: IntArray
) -> None:
    """Write what action a of family u leads to, in all its layers, into `pooled` (H-1, S, K, S) from `counts`.

    `n_next` (H-1, S) are the next states that there are.
    """
    members, labels = known.members[known.starts[u] : known.starts[u + 1]], known.labels
    rows = np.zeros((len(members), 1, known.size), dtype=np.int64)
    for i in range(len(members)):
        h, s = members[i]
        for z in range(n_next[h, s]):
            rows[i, 0, labels[h + 1, z]] = counts[h, s, a, z]
    apart = find_apart(rows)
    together = np.zeros(known.size, dtype=np.int64)
    for i in range(len(members)):
        if not apart[i]:
            together += rows[i, 0]
    for i in range(len(members)):
        h, s = members[i]
        for z in range(n_next[h, s]):
            pooled[h, s, a, z] = rows[i, 0, labels[h + 1, z]] if apart[i] else together[labels[h + 1, z]]

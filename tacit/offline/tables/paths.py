"""Logged episodes as arrays: paths, what drew their actions, and how they ended, in the terms of a reward model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.counts import PlaceIndex
from tacit.decoding.reading import Reading
from tacit.decoding.tuples import counted_shape
from tacit.logs.encoding import EncodedEpisode
from tacit.logs.record import LogError
from tacit.planning.transition import estimate_layer
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite


@dataclass(frozen=True, eq=False)
class LoggedPaths:
    """n episodes: `states`, `actions`, `chances` (n, H), NaN where the log does not tell a chance.

    `contexts` are the distinct ones (for vectors, every episode's own) and `owner` (n,) says whose each episode is;
    `groups` (contexts, S_H) is the context group of each ending, of `n_groups`, and `values` (n,) the feedback's value.
    `endings` (n,) are where they ended, after `lengths` (n,) steps; those that did before the last layer are from there
    on in the state of episodes that have ended, whose one action is certain.
    """

    layout: Layout
    contexts: list[Encoded]
    owner: IntArray
    states: IntArray
    actions: IntArray
    chances: FloatArray
    groups: IntArray
    n_groups: int
    values: IntArray
    endings: IntArray
    lengths: IntArray

    def __len__(self) -> int:
        return len(self.owner)

    def part(self, chosen: IntArray) -> LoggedPaths:
        """Return some episodes, with the contexts of all."""
        steps = (self.states[chosen], self.actions[chosen], self.chances[chosen])
        return LoggedPaths(
            self.layout,
            self.contexts,
            self.owner[chosen],
            *steps,
            self.groups,
            self.n_groups,
            self.values[chosen],
            self.endings[chosen],
            self.lengths[chosen],
        )

    @cached_property
    def halves(self) -> tuple[LoggedPaths, LoggedPaths]:
        """Return every other episode, from the first on and from the second on."""
        return self.part(np.arange(0, len(self), 2)), self.part(np.arange(1, len(self), 2))

    @cached_property
    def transitions(self) -> list[tuple[FloatArray, IntArray]]:
        """Return the estimated dynamics of each layer but the last: P (S_h, K, S) and N(s, a) (S_h, K)."""
        layers = range(self.layout.horizon - 1)
        return [estimate_layer(self.layout, h, self.states, self.actions) for h in layers]

    @cached_property
    def last_group(self) -> IntArray:
        """Return the context group that each episode ended in, (n,)."""
        return self.groups[self.owner, self.endings]

    @cached_property
    def last_actions(self) -> IntArray:
        """Return the action that each episode ended with, (n,)."""
        return self.actions[np.arange(len(self)), self.lengths - 1]

    @cached_property
    def by_place(self) -> dict[PlaceIndex, IntArray]:
        """Return the episodes that ended in each last state and context group."""
        flat = self.endings * self.n_groups + self.last_group
        order = np.argsort(flat, kind="stable")
        places, starts = np.unique(flat[order], return_index=True)
        parts = np.split(order, starts[1:])
        return {
            divmod(place, self.n_groups): part for place, part in zip(places.tolist(), parts, strict=True)
        }

    @cached_property
    def frequencies(self) -> FloatArray:
        """Return how often each action was taken, (contexts or 1, H, S, K); uniform where a state was not met."""
        finite = isinstance(self.layout.contexts, Finite)
        counts = np.zeros((len(self.contexts) if finite else 1, *self.layout.mask.shape))
        owner = self.owner if finite else np.zeros_like(self.owner)
        for h in range(self.layout.horizon):
            np.add.at(counts[:, h], (owner, self.states[:, h], self.actions[:, h]), 1.0)
        total = counts.sum(axis=-1, keepdims=True)
        return np.where(total > 0, counts / np.maximum(total, 1), self.layout.uniform_policy)


def collect_paths(layout: Layout, reading: Reading, episodes: Iterable[EncodedEpisode]) -> LoggedPaths:
    """Return the episodes with feedback, at least one, as arrays: of others nothing is known of what they earned."""
    rows, H = [episode for episode in episodes if episode.feedback is not None], layout.horizon
    if not rows:
        raise LogError(
            "an evaluation needs an episode with feedback, got none; see the log format on silence"
        )
    lengths = np.array([len(row.states) for row in rows])
    endings = np.array([row.ended for row in rows], dtype=np.int64)
    over = layout.ended.tolist()
    states = np.array([row.states + over[len(row.states) :] for row in rows], dtype=np.int64)
    actions = np.array([row.actions + [0] * (H - len(row.actions)) for row in rows], dtype=np.int64)
    chances = np.array(
        [[*row.probabilities, *[1.0] * (H - len(row.actions))] for row in rows], dtype=np.float64
    )  # None becomes NaN
    feedback = [row.feedback for row in rows if row.feedback is not None]
    contexts, owner = _distinct(layout, rows)
    shown = [row.context for row in rows]
    _, values = reading.read(shown, endings, feedback)
    groups = np.empty((len(contexts), layout.endings.size), dtype=np.int64)
    first = [feedback[0]] * len(contexts)  # groups do not depend on it
    for s in range(groups.shape[1]):
        groups[:, s], _ = reading.read(contexts, np.full(len(contexts), s), first)
    n_groups = counted_shape(reading.counted)[1]
    return LoggedPaths(
        layout, contexts, owner, states, actions, chances, groups, n_groups, values, endings, lengths
    )


def _distinct(layout: Layout, rows: list[EncodedEpisode]) -> tuple[list[Encoded], IntArray]:
    if not isinstance(layout.contexts, Finite):
        return [row.context for row in rows], np.arange(len(rows))
    return list(range(layout.contexts.size)), np.array([int(row.context) for row in rows])

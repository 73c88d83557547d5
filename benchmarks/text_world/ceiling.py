"""The learner that sees the reward: ridge regression on products of what was said and what may be answered.

Features are those of MiniLM's vectors: the candidate c, request and profile r, what was said last h, all products
c x r, c x h and c x r x h, which candidate it is, and how alike it is to each of the others (echo). They are never
written out: a kernel is a sum of products of inner products. Which of them count, and the ridge, are chosen by leaving
one out. Earlier turns regress on the best value that the next one has (fitted Q iteration). While it learns it draws by
inverse-gap weights, and it fits anew whenever it has seen a third more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.planning.inverse_gap import inverse_gap_weights
from text_world.sentences import Sentences

RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
MIXES = ((1.0, 0.3, 0.0, 1.0), (1.0, 0.0, 0.0, 0.1), (1.0, 1.0, 0.3, 1.0))
"""Weights of products of two, of three, of which candidate it is with what was said, and of echo."""
TRIED = 700
"""Rows by which ridge and weights are chosen."""
FIRST, GROWS = 24, 1.33
SHARP = 8.0
"""Times `sqrt(K t)`, gamma of inverse-gap weighting."""


class Asked(NamedTuple):
    """What a turn looks like: request, profile, what was said last, and the candidates."""

    request: str
    profile: str
    heard: str
    offer: tuple[str, ...]


class Seen(NamedTuple):
    """One row a candidate: vectors of what was said, (n, 384) each, which candidate it is, (n,), and echo, (n, 4)."""

    said: tuple[FloatArray, FloatArray, FloatArray]
    candidate: FloatArray
    name: IntArray
    echo: FloatArray


class Middle(NamedTuple):
    """What vectors have in common, which is taken off them: (384,) each, of what was said and of candidates."""

    said: tuple[FloatArray, FloatArray, FloatArray]
    candidate: FloatArray


@dataclass
class Values:
    """Values of candidates at one turn, fitted to those that were chosen."""

    mix: tuple[float, ...]
    middle: Middle | None
    rows: Seen
    weights: FloatArray
    mean: float

    def of(self, seen: Seen) -> FloatArray:
        """Return the value of each row, (n,)."""
        shown = seen if self.middle is None else centre(seen, self.middle)
        value: FloatArray = self.mean + kernel(shown, self.rows, self.mix) @ self.weights
        return value


class SeesReward:
    """Learns what to answer from rewards, of episodes that may end before others do."""

    def __init__(self, sentences: Sentences, horizon: int) -> None:
        self._sentences, self._horizon = sentences, horizon
        self._values: list[Values] = []
        self._turns: list[list[tuple[Asked, int]]] = []
        self._rewards: list[int] = []
        self._names: dict[str, int] = {}
        self._next = FIRST

    def chances(self, turn: int, asked: Asked) -> FloatArray:
        """Return with which probability each candidate is taken while learning, (K,)."""
        n = len(asked.offer)
        if turn >= len(self._values):
            return np.full(n, 1 / n)
        return inverse_gap_weights(self.values(turn, asked), SHARP * np.sqrt(n * max(len(self._rewards), 1)))

    def values(self, turn: int, asked: Asked) -> FloatArray:
        """Return what each candidate is worth, (K,); nothing at a turn that no episode has reached."""
        if turn >= len(self._values):
            return np.zeros(len(asked.offer))
        return self._values[turn].of(self._see([asked]))

    def learn(self, turns: list[tuple[Asked, int]], reward: int) -> None:
        """Keep an episode, and fit anew when there are a third more."""
        self._turns.append(turns)
        self._rewards.append(reward)
        if len(self._rewards) >= self._next:
            self.fit()
            self._next = int(len(self._rewards) * GROWS)

    def take_log(self, episodes: Sequence[tuple[list[tuple[Asked, int]], int]]) -> None:
        """Learn from turns and rewards that were logged, all at once."""
        self._turns += [turns for turns, _ in episodes]
        self._rewards += [reward for _, reward in episodes]
        self.fit()

    def fit(self) -> None:
        """Fit the values of all turns, from the last to the first.

        A turn is fitted to the episodes that have it. Its target is the best value of the next turn for those that went
        on, and the reward for those that ended there.
        """
        targets = np.array(self._rewards, dtype=np.float64)
        fitted: list[Values] = []
        for turn in reversed(range(self._horizon)):
            reached = [n for n, turns in enumerate(self._turns) if turn < len(turns)]
            if not reached:
                continue
            taken = [self._turns[n][turn] for n in reached]
            seen = self._see([asked._replace(offer=(asked.offer[choice],)) for asked, choice in taken])
            fitted.insert(0, fit_values(seen, targets[reached]))
            if turn:
                targets[reached] = self._best_of(fitted[0], [asked for asked, _ in taken])
        self._values = fitted

    def _best_of(self, values: Values, asked: Sequence[Asked]) -> FloatArray:
        """Return the best value that is on offer each time, (n,)."""
        sizes = [len(one.offer) for one in asked]
        parts = np.split(values.of(self._see(asked)), np.cumsum(sizes)[:-1])
        best: FloatArray = np.clip([part.max() for part in parts], 0.0, 1.0)
        return best

    def _see(self, asked: Sequence[Asked]) -> Seen:
        repeats = [len(one.offer) for one in asked]
        offers = [candidate for one in asked for candidate in one.offer]
        candidate = self._sentences.read(offers)
        said = tuple(
            np.repeat(self._sentences.read([getattr(one, name) for one in asked]), repeats, axis=0)
            for name in ("request", "profile", "heard")
        )
        name = np.array([self._names.setdefault(text, len(self._names)) for text in offers])
        words = np.array(
            [shared_words(f"{one.request} {one.heard}", text) for one in asked for text in one.offer]
        )
        echo = np.column_stack([*((vectors * candidate).sum(axis=1) for vectors in said), words])
        return Seen((said[0], said[1], said[2]), candidate, name, echo)


def kernel(left: Seen, right: Seen, mix: Sequence[float]) -> FloatArray:
    """Return how alike two sets of rows are, (n, m); `mix` weighs the products, see `MIXES`."""
    request, profile, heard = (a @ b.T for a, b in zip(left.said, right.said, strict=True))
    candidate = left.candidate @ right.candidate.T
    same = (left.name[:, None] == right.name[None, :]).astype(np.float64)
    two, three, which, echo = mix
    said = (request + profile + heard) / 3
    alike: FloatArray = (
        two * candidate * said
        + three * candidate * request * heard
        + which * same * (1 + said)
        + 0.1 * candidate
        + echo * (left.echo @ right.echo.T)
    )
    return alike


def fit_values(seen: Seen, targets: FloatArray) -> Values:
    """Return the values that ridge regression gives; weights, ridge and centring are chosen by leaving one out."""
    mean, middle = float(targets.mean()), middle_of(seen)
    tried = np.random.default_rng(0).permutation(len(targets))[:TRIED]
    best = (np.inf, MIXES[0], RIDGES[0], False)
    for centred in (False, True):
        some = _take(centre(seen, middle) if centred else seen, tried)
        for mix in MIXES:
            values, vectors = np.linalg.eigh(kernel(some, some, mix))
            turned = vectors.T @ (targets[tried] - mean)
            for ridge in RIDGES:
                shrunk = 1 / (np.maximum(values, 0.0) + ridge)
                left_out = (vectors @ (shrunk * turned)) / ((vectors**2) @ shrunk)  # each without itself
                best = min(best, (float((left_out**2).mean()), mix, ridge, centred))
    _, mix, ridge, centred = best
    rows = centre(seen, middle) if centred else seen
    alike = kernel(rows, rows, mix)
    alike[np.diag_indices_from(alike)] += ridge
    weights: FloatArray = np.linalg.solve(alike, targets - mean).astype(np.float64)
    return Values(mix, middle if centred else None, rows, weights, mean)


def middle_of(seen: Seen) -> Middle:
    """Return the mean vectors."""
    said = tuple(vectors.mean(axis=0) for vectors in seen.said)
    return Middle((said[0], said[1], said[2]), seen.candidate.mean(axis=0))


def centre(seen: Seen, middle: Middle) -> Seen:
    """Return rows without what all vectors have in common, of length one again; what was not said stays zero."""
    said = tuple(_without(vectors, mean) for vectors, mean in zip(seen.said, middle.said, strict=True))
    return seen._replace(
        said=(said[0], said[1], said[2]), candidate=_without(seen.candidate, middle.candidate)
    )


def shared_words(said: str, text: str) -> float:
    """Return the share of a candidate's words that were said before.

    >>> shared_words("The green one, please.", "A green chair")
    0.3333333333333333
    """
    heard = set(_words(said))
    words = _words(text)
    return sum(word in heard for word in words) / max(len(words), 1)


def _words(text: str) -> list[str]:
    return "".join(sign.lower() if sign.isalnum() else " " for sign in text).split()


def _without(vectors: FloatArray, mean: FloatArray) -> FloatArray:
    rest = np.where(np.any(vectors, axis=1, keepdims=True), vectors - mean, 0.0)
    unit: FloatArray = rest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-9)
    return unit


def _take(seen: Seen, rows: IntArray) -> Seen:
    said = tuple(vectors[rows] for vectors in seen.said)
    return Seen((said[0], said[1], said[2]), seen.candidate[rows], seen.name[rows], seen.echo[rows])

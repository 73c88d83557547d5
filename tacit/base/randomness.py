"""Chance that follows from (seed, episode) alone: counter-based draws, no shared stream.

Every episode owns one row of uniform numbers. The row is a pure function of (seed, episode id), computed
by NumPy's Philox generator in blocks of consecutive episodes, so interleaving episodes, repeating a call
or resuming from a checkpoint changes nothing.
"""

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel

BLOCK = 256
"""Episodes drawn at once: large enough that a row costs well under a microsecond on average."""


class EpisodeDraws:
    """Rows of `width` uniform numbers in [0, 1), one row for each episode id.

    >>> draws = EpisodeDraws(seed=7, width=3)
    >>> late, early = draws.row(1000), draws.row(0)
    >>> bool((EpisodeDraws(7, 3).row(1000) == late).all())
    True
    """

    def __init__(self, seed: int, width: int) -> None:
        self.seed = check_seed(seed)
        self.width = width
        self._block: tuple[int, FloatArray] = -1, np.empty((0, width))

    def row(self, episode: int) -> FloatArray:
        """Return the draws of an episode, (width,); a pure function, the block is only kept for speed."""
        number, offset = divmod(episode, BLOCK)
        kept, block = self._block  # both or neither, whatever interrupts
        if number != kept:
            generator = np.random.Generator(np.random.Philox(key=np.array([self.seed, number], np.uint64)))
            block = generator.random((BLOCK, self.width))
            block.setflags(write=False)
            self._block = number, block
        row: FloatArray = block[offset]
        return row

    def generator(self, episode: int) -> np.random.Generator:
        """Return a generator for whatever more an episode needs; its draws are not those of `row`."""
        # The counter's last word tells these streams from the blocks of `row`, which start at zero.
        key = np.array([self.seed, episode], np.uint64)
        return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, 1]))


def check_seed(seed: int) -> int:
    """Return `seed` as an int, or raise unless it is a whole number in [0, 2^63)."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise ValueError(f"a seed must be a whole number from 0 to 2^63 - 1, got {seed!r}")
    return int(seed)


@kernel
def draw_index(probabilities: FloatArray, draw: float) -> int:
    """Return the index at which the running sum of `probabilities` passes `draw`.

    When rounding leaves the sum below `draw`, the last index with a positive probability.
    """
    total = 0.0
    last = 0
    for i in range(probabilities.shape[0]):
        if probabilities[i] > 0.0:
            total += probabilities[i]
            last = i
            if draw < total:
                return i
    return last

"""Counts of feedback by action, drawn from a known truth."""

import numpy as np

from tacit.decoding.counts import SeenCounts


def draw_counts(generator, f, feedback, tuples):
    """Return counts (Y, K) of that many tuples of each action."""
    chances = np.outer(f, feedback[1]) + np.outer(1 - np.asarray(f), feedback[0])  # (K, Y)
    return generator.multinomial(tuples, chances).T.astype(np.float64)


def everybody_spoke(counts):
    """Return counts (S_H, X, Y, K) of words as those of a layout's feedback: nobody was silent."""
    return SeenCounts.of_dense(np.pad(counts, ((0, 0), (0, 0), (0, 1), (0, 0))))

"""Counts of feedback by action, drawn from a known truth."""

import numpy as np


def draw_counts(generator, f, feedback, tuples):
    """Return counts (Y, K) of that many tuples of each action."""
    chances = np.outer(f, feedback[1]) + np.outer(1 - np.asarray(f), feedback[0])  # (K, Y)
    return generator.multinomial(tuples, chances).T.astype(np.float64)

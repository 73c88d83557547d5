"""Slow, obvious twin of the drift detector: every possible change, each likelihood draw by draw."""

import math

import numpy as np

from tacit.trust.drift import BETA, LIVES, SPACING, prior_weight


def mixture(values, n_values):
    """Return log Q of some values in their order, one prediction after the other."""
    counts, total = np.zeros(n_values), 0.0
    for y in values:
        total += math.log((counts[y] + BETA) / (counts.sum() + BETA * n_values))
        counts[y] += 1
    return total


def largest(values):
    """Return max_p log p of some values."""
    shares = np.bincount(values) / max(len(values), 1) if len(values) else np.ones(1)
    return sum(math.log(shares[y]) for y in values)


def is_kept(number, now):
    """Return whether the change of a number is still looked at: LIVES times the largest power of 2 that divides it."""
    power = max(2**v for v in range(40) if number % 2**v == 0)
    return now - number < LIVES * power


def log_terms(draws, n_actions, n_values, thinned=True):
    """Return log w_i E_i by i, after all the draws (a, y): of each i that is kept, or of every one."""
    terms = {}
    for i in range(1, len(draws) // SPACING + 1):
        if SPACING * i == len(draws) or (thinned and not is_kept(i, (len(draws) - 1) // SPACING)):
            continue
        term = math.log(prior_weight(i))
        for a in range(n_actions):
            before = [y for b, y in draws[: SPACING * i] if b == a]
            after = [y for b, y in draws[SPACING * i :] if b == a]
            ratio = mixture(before, n_values) + mixture(after, n_values) - largest(before + after)
            term += math.log(1 - 1 / n_actions + math.exp(ratio) / n_actions)
        terms[i] = term
    return terms


def log_evidence(draws, n_actions, n_values, thinned=True):
    """Return log sum_i w_i E_i after all the draws."""
    terms = log_terms(draws, n_actions, n_values, thinned)
    return math.log(sum(map(math.exp, terms.values()))) if terms else -math.inf

"""What the model of vectors says of which action was taken: evidence that words depend on it, and a score of forms.

The ratio R = q(w | x, s, a) / mean_b q(w | x, s, b) of held-out tuples of uniform actions is what
`tacit.decoding.action_evidence` weighs. The careful half of it chooses among forms, too: it is a proper score of which
action was taken, given what was said, and does not ask how well words are foretold that have nothing to do with it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax

from tacit.base.arrays import BoolArray, FloatArray
from tacit.decoding.action_evidence import ActionEvidence, weigh_ratios
from tacit.decoding.personal_likelihood import Heard, Parameters, with_units


def weigh_evidence(heard: Heard, mask: BoolArray, at: Parameters) -> ActionEvidence:
    """Return the evidence of tuples of uniform actions that were not fitted to."""
    endings = np.repeat(np.arange(len(mask)), np.diff(heard.bounds))
    return weigh_ratios(action_ratios(heard, mask, at), endings, len(mask))


def score_actions(heard: Heard, mask: BoolArray, at: Parameters) -> float:
    """Return the careful gain of all tuples, in nats."""
    return float(np.log((1 + action_ratios(heard, mask, at)) / 2).sum())


def action_ratios(heard: Heard, mask: BoolArray, at: Parameters) -> FloatArray:
    """Return R of each tuple, (n,): how much likelier its word is after its action than after any of the ending's."""
    ratios, W = np.ones(len(heard.words)), at.gamma.shape[1]
    for s, allowed in enumerate(mask):
        rows = slice(*heard.bounds[s : s + 2])
        u, here = with_units(heard.linear[rows], at.units), np.arange(heard.bounds[s + 1] - heard.bounds[s])
        logits, words = u @ at.joined(s).T, heard.words[rows]
        one = softmax(logits[:, -W:], axis=1)[here, words][:, None]
        zero = softmax(logits[:, -2 * W : -W], axis=1)[here, words][:, None]
        chances = np.maximum(zero + (one - zero) * expit(logits[:, : -2 * W]), 1e-300)  # (n, K)
        ratios[rows] = chances[here, heard.actions[rows]] / chances[:, allowed].mean(axis=1)
    return ratios

"""Which starts and ridges a fit comes of: those that foretell reactions left out best, several if they are alike.

All starts are compared in haste at several ridges, and what the best found feedback to mean, held firmly, at all of
them: where little is learned of candidates, what states tell shows the meaning first. The foremost are tried in full.
Where there are several turns, a meaning with which choices before the last go is worth more
(`tacit.text.small.foregoing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.cross_fitting import Trial, try_start
from tacit.text.small.foregoing import EarlierTurn, weigh_foregoing
from tacit.text.small.likelihood import Design
from tacit.text.small.starts import Start, hold_meaning, list_starts

RIDGES = (0.005, 0.03, 0.2, 5.0)
"""Of W, among which reactions left out choose: by the last, nearly all is said of states and nothing of candidates."""
MOST_COMPARED = 1_500
"""Reactions that starts and ridges are compared on; the fit itself is made on all."""
MEMBERS = 8
"""Fits at most that are read together."""
SPREAD = 8.0
"""Gain, in log-likelihood of reactions left out, by which a fit's share is e times as large. 1 would be right of what
knows nothing of them; this was chosen by how sure readings of development worlds are, and how often right."""
LEAST_SHARE = 0.02
"""Share below which a fit is not kept."""


class Foremost(NamedTuple):
    """Trials of which a fit comes, the best first, with their `shares` (E,), which sum to 1.

    Stakes `won` (n,) on the reactions compared is of the best before meaning was read: it is what is evidence.
    """

    trials: tuple[Trial, ...]
    shares: FloatArray
    won: FloatArray


def choose_trials(
    design: Design,
    settings: FittingSettings,
    rewards: FloatArray | None,
    earlier: Sequence[EarlierTurn] = (),
) -> Foremost:
    """Return the trials of which a fit comes; of many reactions some are compared, and those chosen tried on all."""
    if len(design) <= MOST_COMPARED:
        return compare_trials(design, settings, rewards, earlier)
    some = compared_rows(design)
    known, before = None if rewards is None else rewards[some], [turn.part(some) for turn in earlier]
    chosen = compare_trials(design.part(some), settings, known, before)
    trials = (try_start(design, t.start, t.ridge, settings, rewards, hasty=True) for t in chosen.trials)
    return chosen._replace(trials=tuple(trials))


def compare_trials(
    design: Design,
    settings: FittingSettings,
    rewards: FloatArray | None,
    earlier: Sequence[EarlierTurn] = (),
) -> Foremost:
    """Return the foremost trials; see the module's docstring."""
    n = len(design)

    def tried(start: Start, ridge: float, begun: Trial | None = None) -> Trial:
        trial = try_start(design, start, ridge, settings, rewards, hasty=begun is None, begun=begun)
        return trial._replace(foregoing=weigh_foregoing(design, trial.start.weights, earlier))

    def worth(trial: Trial) -> float:
        return n * trial.gain + trial.foregoing + trial.start.likely

    starts = list_starts(design, rewards)
    hasty = [(start, tried(start, ridge)) for start in starts for ridge in RIDGES]
    if rewards is None:
        meant = hold_meaning(design, max((trial for _, trial in hasty), key=worth).start)
        hasty += [(meant, tried(meant, ridge)) for ridge in RIDGES]
    foremost = sorted(hasty, key=lambda pair: -worth(pair[1]))[:MEMBERS]
    trials = [tried(start, trial.ridge, trial) for start, trial in foremost]
    won = max(trials, key=lambda trial: trial.first).won  # by fits that know nothing of what was left out
    trials.sort(key=worth, reverse=True)
    shares = np.exp([(worth(trial) - worth(trials[0])) / SPREAD for trial in trials])
    shares = shares[shares >= LEAST_SHARE * shares.sum()]  # the first ones: they fall
    return Foremost(tuple(trials[: len(shares)]), shares / shares.sum(), won)


def compared_rows(design: Design) -> IntArray:
    """Return `MOST_COMPARED` rows, evenly spread; up to half of them are uniform choices if there are as many.

    A policy's choices soon outnumber those that tell most. Which were uniform has nothing to do with what was taken.
    """
    even, others = np.flatnonzero(design.uniform), np.flatnonzero(~design.uniform)
    n = min(len(others), MOST_COMPARED - min(len(even), MOST_COMPARED // 2))
    parts = ((even, MOST_COMPARED - n), (others, n))
    spread = [rows[np.linspace(0, len(rows) - 1, k).astype(np.int64)] for rows, k in parts if k]
    return np.sort(np.concatenate(spread))

"""How soon the drift detector notices a change, how often it is wrong, and what it costs: draws without any agent.

Prints, for changes of several sizes, how many draws of an action come between a change and its alarm; how many healthy
runs raise one, over places that are visited unevenly by a policy that follows what was drawn; and microseconds a draw.
Run: python benchmarks/drift.py [--runs 100] [--episodes 100000] [--out results/drift.json]
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.changes import commit
from tacit.trust.drift import begin_watch, observe, prior_weight
from tacit.trust.watches import Watches

ALPHA = 0.05 / 3
"""What an agent allows each of the three kinds that it watches."""
PLACES = 20
"""Places that began to be watched before the one that changes."""
BEFORE = (300, 3_000, 30_000)
"""Draws before the change."""
MOST_AFTER = 3_000
REPEATS = 40


def two_sides(share: float, words: int) -> FloatArray:
    """Return p (words,) of an action that pleases with this chance; each side has half of the words, some rarer."""
    side = 1 / np.arange(1, words // 2 + 1)
    side /= side.sum()
    return np.concatenate([(1 - share) * side, share * side])


CHANGES = {
    "2 words, 0.9 to 0.1": (two_sides(0.9, 2), two_sides(0.1, 2)),
    "2 words, 0.9 to 0.7": (two_sides(0.9, 2), two_sides(0.7, 2)),
    "2 words, 0.6 to 0.3": (two_sides(0.6, 2), two_sides(0.3, 2)),
    "6 words, 0.9 to 0.1": (two_sides(0.9, 6), two_sides(0.1, 6)),
    "16 words, 0.9 to 0.1": (two_sides(0.9, 16), two_sides(0.1, 16)),
    "16 words, 0.9 to 0.5": (two_sides(0.9, 16), two_sides(0.5, 16)),
}


def measure_delay(before: FloatArray, after: FloatArray, draws: int, generator: np.random.Generator) -> int:
    """Return how many draws come between a change and its alarm; `MOST_AFTER` without one, -1 if it came before."""
    early = generator.choice(len(before), size=draws, p=before)
    values = np.concatenate([early, generator.choice(len(after), size=MOST_AFTER, p=after)]).tolist()
    threshold = -math.log(ALPHA * prior_weight(PLACES))
    watch = begin_watch(1, len(before))
    for t, value in enumerate(values):
        watch, evidence = observe(watch, 0, value, t)
        if evidence.log_e >= threshold:
            return max(t - draws + 1, -1)
    return MOST_AFTER


def measure_healthy(episodes: int, seed: int) -> int:
    """Return the alarms of a run in which nothing changes: places, actions and laws are drawn, one is played mostly.

    Which action is played follows what was drawn: it stays where the first value came, as a learner's would.
    """
    generator = np.random.default_rng([seed, 7])
    K, m = int(generator.integers(2, 6)), int(generator.integers(2, 9))
    laws = generator.dirichlet(np.full(m, generator.choice([0.2, 1.0])), (PLACES, K)).cumsum(axis=-1)
    places = generator.choice(PLACES, size=episodes, p=generator.dirichlet(np.full(PLACES, 0.3))).tolist()
    chances = generator.random((episodes, 2))
    watches, playing, alarms = Watches("words", K, m, ALPHA), [0] * PLACES, 0
    for t, place in enumerate(places):
        action = playing[place]
        value = min(int(np.searchsorted(laws[place, action], chances[t, 0])), m - 1)
        changes, raised = watches.learn([((place, 0), action, value)], t)
        commit(changes)
        alarms += len(raised)
        if value > 0 and chances[t, 1] < 0.2:
            playing[place] = (action + 1) % K
    return alarms


def measure_time(draws: int = 20_000, n_actions: int = 5, n_values: int = 6) -> float:
    """Return microseconds a draw after many, learned and committed."""
    generator = np.random.default_rng(0)
    actions, values = generator.integers(n_actions, size=draws), generator.integers(n_values, size=draws)
    watches = Watches("words", n_actions, n_values, ALPHA)
    begun = 0.0
    for t, (action, value) in enumerate(zip(actions.tolist(), values.tolist(), strict=True)):
        if t == draws // 2:
            begun = time.thread_time()
        commit(watches.learn([((0, 0), action, value)], t)[0])
    return (time.thread_time() - begun) / (draws - draws // 2) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=100, help="healthy runs")
    parser.add_argument("--episodes", type=int, default=100_000, help="of each healthy run")
    parser.add_argument("--out", type=Path, help="a file for the numbers, as JSON")
    options = parser.parse_args()
    found: dict[str, Any] = {"microseconds a draw": round(measure_time(), 1), "delays": {}}
    print(f"{found['microseconds a draw']} microseconds a draw (5 actions, 6 values, after 10,000)")
    print("draws from a change to its alarm: median, and 95 % of them at most")
    for name, laws in CHANGES.items():
        for draws in BEFORE:
            generator = np.random.default_rng(draws)
            delays = [
                measure_delay(*laws, draws, generator) for _ in range(REPEATS if draws < 10_000 else 10)
            ]
            found["delays"][f"{name}, after {draws}"] = delays
            print(
                f"  {name}, after {draws:>6,}: {np.median(delays):6.0f}{np.quantile(delays, 0.95):8.0f}",
                flush=True,
            )
    found["healthy"] = [measure_healthy(options.episodes, seed) for seed in range(options.runs)]
    wrong = sum(alarms > 0 for alarms in found["healthy"])
    print(
        f"healthy runs of {options.episodes:,} with an alarm: {wrong} of {options.runs}; the bound is {ALPHA:.1%}"
    )
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()

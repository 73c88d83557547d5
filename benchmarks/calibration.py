"""Labels and evaluations of logs where words overlap: is confidence what it says, and do intervals hold the truth?

Logs are drawn from problems in which 0 to 40 % of what people say is said by both sides, in every way of
`real_world/words.py`, with 2, 5 and 20 words. Of labels with a confidence of p a share p should be right: the decoded
reward rounded to 0 or 1 is the latent one. Of intervals of what a policy is worth 95 % should hold its exact value.

Run: python benchmarks/calibration.py [--choose] [--seeds 10] [--episodes 4000] [--out DIR]. It writes
`calibration.json` and `calibration.png`. Problems that judge are never looked at while anything is chosen; `--choose`
draws the others.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from real_world.drawing import draw_shape, draw_simple, split_words
from real_world.families import CHOOSE, JUDGE
from real_world.problem import Problem
from real_world.words import draw_overlap

from tacit.base.arrays import FloatArray
from tacit.base.files import write_atomically
from tacit.decoding.judgement import HETEROGENEOUS
from tacit.envs.drawn_logs import draw_logs
from tacit.offline.evaluation import Evaluation
from tacit.offline.fit import fit
from tacit.problem.layout import Layout
from tacit.problem.mdp import ContextualMDP, evaluate_policy, solve_optimal
from tacit.reports.palette import DECODED, OTHER, TRUE
from tacit.reports.pictures import finish_picture

OVERLAPS, WORDS = (0, 10, 20, 30, 40), (2, 5, 20)
"""Percent of what is said that both sides say, and how many words there are."""
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Ends of the bins of confidence."""
GREEDY = 0.5
"""The policy evaluated beside the uniform one takes the best action so often, and a uniform one otherwise."""
LEAST = 1000
"""Labels of a bin from which its share is shown."""


class Setting(NamedTuple):
    """Which logs are drawn."""

    overlap: int
    words: int
    seed: int


class Outcome(NamedTuple):
    """Of the labels of one log: confidence and whether right (n,); of its evaluations rows (held, width, error)."""

    setting: Setting
    confidence: FloatArray
    right: FloatArray
    held: list[tuple[bool, float, float]]


def draw_problem(setting: Setting) -> Problem:
    """Return the problem of a setting: always the same one."""
    generator = np.random.default_rng([setting.seed, setting.overlap, setting.words])
    if setting.overlap == 0:
        return draw_simple(
            generator, draw_shape(generator), lambda generator: split_words(generator, setting.words)
        )
    return draw_overlap(generator, setting.words, setting.overlap / 100)


def as_mdp(problem: Problem) -> ContextualMDP:
    """Return a problem in which everybody speaks and episodes all have as many turns as Tacit's own simulations are."""
    world, sizes = problem.worlds[0], [len(layer) for layer in problem.labels]
    layout = Layout.regular(sizes, problem.n_actions, problem.n_contexts, problem.n_words)
    last = sizes[-1]
    return ContextualMDP(
        layout,
        world.contexts,
        world.transitions[:-1],
        world.rewards[:, -1, :last],
        world.voices[:, -1, :last, :, :-1],
    )


def measure(setting: Setting, episodes: int) -> Outcome:
    """Return how labels and evaluations of one log fare."""
    mdp = as_mdp(draw_problem(setting))
    logs = list(draw_logs(mdp, episodes, setting.seed))
    model = fit(logs, layout=mdp.layout)
    rows = [
        (row["confidence"], (row["decoded_reward"] >= 0.5) == bool(episode.reward))
        for row, episode in zip(model.label(logs), logs, strict=True)
        if row["decoded_reward"] is not None and row["state_kind"] == HETEROGENEOUS
    ]
    confidence, right = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    held = []
    for policies in policies_of(mdp):
        truth = sum(p * evaluate_policy(mdp, x, policies[x]) for x, p in enumerate(mdp.context_probabilities))
        held += judge_intervals(model.evaluate(logs, table_of(mdp.layout, policies)), float(truth))
    return Outcome(setting, confidence, right, held)


def policies_of(mdp: ContextualMDP) -> Iterator[FloatArray]:
    """Yield uniform play and one that is better, (X, H, S, K)."""
    uniform = np.repeat(mdp.layout.uniform_policy[None], mdp.n_contexts, axis=0)
    yield uniform
    # As far from uniform as the logs can tell: more turns leave fewer episodes that such a policy could have had.
    greedy = GREEDY / mdp.layout.horizon
    yield greedy * solve_optimal(mdp).policies + (1 - greedy) * uniform


def judge_intervals(found: Evaluation, truth: float) -> list[tuple[bool, float, float]]:
    """Return of each estimate whether its interval holds the truth, how wide it is, and how far the estimate is off."""
    return [
        (each.low <= truth <= each.high, each.high - each.low, each.value - truth)
        for each in found.estimates.values()
        if each is not None
    ]


def table_of(layout: Layout, policies: FloatArray) -> dict[str, Any]:
    """Return policies as the table that an evaluation takes."""
    return {
        "contexts": {
            str(layout.contexts.decode(x)): {
                str(layout.states[h][s]): {
                    str(action): float(policy[h, s, a]) for a, action in enumerate(layout.actions[h][s])
                }
                for h in range(layout.horizon)
                for s in range(len(layout.states[h]))
            }
            for x, policy in enumerate(policies)
        }
    }


def reliability(outcomes: Sequence[Outcome]) -> list[dict[str, float]]:
    """Return of each bin of confidence how many labels it holds, their mean confidence and the share that is right."""
    confidence = np.concatenate([each.confidence for each in outcomes])
    right = np.concatenate([each.right for each in outcomes])
    at = np.digitize(confidence, BINS[1:-1])
    return [
        {
            "labels": int((at == n).sum()),
            "confidence": round(float(confidence[at == n].mean()), 3),
            "right": round(float(right[at == n].mean()), 3),
        }
        for n in range(len(BINS) - 1)
        if (at == n).any()
    ]


def coverage(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return how often intervals hold the truth, their mean width, and how far estimates are off on average."""
    rows = np.array([row for each in outcomes for row in each.held])
    return {
        "intervals": len(rows),
        "hold": round(float(rows[:, 0].mean()), 3),
        "width": round(float(rows[:, 1].mean()), 3),
        "off": round(float(np.abs(rows[:, 2]).mean()), 3),
    }


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return reliability and coverage over all logs, and by overlap and number of words."""
    parts = {"all": list(outcomes)}
    parts |= {f"overlap {n} %": [e for e in outcomes if e.setting.overlap == n] for n in OVERLAPS}
    parts |= {f"{n} words": [e for e in outcomes if e.setting.words == n] for n in WORDS}
    return {
        name: {"labels": reliability(some), "evaluations": coverage(some)}
        for name, some in parts.items()
        if some
    }


def draw_reliability(found: dict[str, Any]) -> bytes:
    """Return a picture of the share that is right by confidence."""
    figure = Figure(figsize=(6, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1, label="as it says")
    for n, (name, part) in enumerate(found.items()):
        if name == "all" or name.startswith("overlap"):
            rows = [row for row in part["labels"] if row["labels"] >= LEAST or name == "all"]
            colour = TRUE if name == "all" else DECODED if n % 2 else OTHER
            axes.plot(
                [row["confidence"] for row in rows],
                [row["right"] for row in rows],
                "o-",
                color=colour,
                alpha=1.0 if name == "all" else 0.25 + 0.15 * n,
                linewidth=2 if name == "all" else 1,
                markersize=4,
                label=name,
            )
    axes.set_xlabel("confidence of labels")
    axes.set_ylabel("share of them that is right")
    axes.legend(fontsize=8, frameon=False)
    return finish_picture(figure, axes)


def print_table(found: dict[str, Any]) -> None:
    for name, part in found.items():
        cells = [f"{row['confidence']:.2f}: {row['right']:.2f} ({row['labels']:,})" for row in part["labels"]]
        values = part["evaluations"]
        print(f"{name}\n  labels, confidence: right (how many)  {'  '.join(cells)}")
        print(
            f"  values, {values['intervals']} intervals: {values['hold']:.1%} hold the truth, {values['width']:.3f} "
            f"wide; estimates are {values['off']:.3f} off"
        )


def main(options: argparse.Namespace) -> None:
    first = CHOOSE if options.choose else JUDGE
    seeds = range(first, first + options.seeds)
    settings = [Setting(o, w, seed) for seed in seeds for o in OVERLAPS for w in WORDS]
    outcomes, begun = [], time.monotonic()
    warnings.simplefilter("ignore")
    for n, setting in enumerate(settings, 1):
        outcomes.append(measure(setting, options.episodes))
        if n % len(OVERLAPS) == 0:
            left = (time.monotonic() - begun) / n * (len(settings) - n)
            print(f"{n} of {len(settings)} logs, {left / 60:.0f} minutes left", flush=True)
    found = summarise(outcomes)
    options.out.mkdir(parents=True, exist_ok=True)
    write_atomically(options.out / "calibration.json", json.dumps(found, indent=1).encode())
    write_atomically(options.out / "calibration.png", draw_reliability(found))
    print_table(found)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--choose", action="store_true", help="problems to choose by, not those that judge")
    parser.add_argument("--seeds", type=int, default=10, help="logs of each overlap and number of words")
    parser.add_argument("--episodes", type=int, default=4000, help="of each log")
    parser.add_argument("--out", type=Path, default=Path("results") / "calibration", help="where results go")
    return parser.parse_args()


if __name__ == "__main__":
    main(read_options())

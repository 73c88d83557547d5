"""Does the language model learn on a CPU? Its losses, epoch by epoch and on fresh reactions, and its reward.

Both it and the small model explore the same booking dialogues uniformly, are fitted to the same reactions, play on.
Fresh reactions are to uniform choices in dialogues whose sentences come from templates that exploration cannot meet.
Prints squared losses (eq. 5), of a uniform guess beside them, mean true rewards of policy learning, and seconds of
processor.

    python benchmarks/language_model.py [--data DIR] [--model smol] [--setting hard] [--seed 9000000]
        [--reactions 500] [--fresh 300] [--episodes 300] [--keep FILE]

A fit that was killed goes on when the same command is given again. `--keep` saves the fitted agent, and begins with it
where it is there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit.agent import Agent
from tacit.base.arrays import FloatArray
from tacit.envs.booking import BookingEnv, load_tasks, make_dialogues
from tacit.envs.dialogues import Dialogue
from tacit.experiments.text_learners import TEXT_LEARNERS
from tacit.learning.episode import Episode
from tacit.reports.intervals import mean_interval
from tacit.simulate import Simulation, Source
from tacit.text.causal.model import CausalLM
from tacit.text.conversation import Reaction
from tacit.text.model import TextModel
from tacit.text.settings import SMALL, TextSettings
from tacit.text.small.model import SmallModel
from tacit.text.stages import TextExploration, TextLearning, choices_of

JUDGING = 9_000_000
FRESH = 1
"""Seed of the dialogues whose sentences are never met while exploring."""


class Fresh(NamedTuple):
    """Reactions to uniform choices, and whether each was rewarded."""

    reactions: list[Reaction]
    rewards: FloatArray


def main() -> None:
    options = parse()
    tasks, source = load_tasks(options.data)
    seen = make_dialogues(tasks, options.setting, seed=0)
    unseen = make_dialogues(tasks, options.setting, seed=FRESH, part="held_out")
    fresh = react(unseen, options.fresh, options.seed + FRESH)
    print(
        f"{source} dialogues, {options.setting}, seed {options.seed}, {options.reactions} uniform reactions",
        flush=True,
    )
    for name in (options.model, SMALL):
        began = time.process_time()
        agent = explore(name, seen, options)
        assert isinstance(agent.stage, TextLearning)
        tell_fit(agent.stage.model, time.process_time() - began)
        tell_fresh(name, agent.stage, fresh)
        began = time.process_time()
        rewards = play(agent, seen, options.episodes, options.seed)
        spent = (time.process_time() - began) / max(options.episodes, 1)
        found = mean_interval(list(rewards))
        print(
            f"{name}: reward {found['mean']:.3f} over {options.episodes} episodes of policy learning, "
            f"{spent:.2f} s of processor each",
            flush=True,
        )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--model", default="smol")
    parser.add_argument("--setting", default="hard")
    parser.add_argument("--seed", type=int, default=JUDGING)
    parser.add_argument("--reactions", type=int, default=500)
    parser.add_argument("--fresh", type=int, default=300)
    parser.add_argument("--episodes", type=int, default=300)
    parser.add_argument("--keep", type=Path, default=None)
    return parser.parse_args()


def react(dialogues: Sequence[Dialogue], n: int, seed: int) -> Fresh:
    """Return n reactions to uniform choices."""
    learner, found, rewards = TEXT_LEARNERS["uniform"], [], []

    def watch(episode: Episode, source: Source) -> None:
        *before, last = choices_of(episode)
        found.append(Reaction(last, source.info["feedback"], tuple(before)))
        rewards.append(float(source.info["evaluation"]["reward"]))

    env = BookingEnv(dialogues)
    Simulation(learner.make(TextSettings(), seed), learner.source(env), seed, watch=watch).run(n)
    return Fresh(found, np.array(rewards))


def explore(name: str, dialogues: Sequence[Dialogue], options: argparse.Namespace) -> Agent:
    """Return an agent that has explored and whose model is fitted, or the one that was kept."""
    kept: Path | None = options.keep if name != SMALL else None
    if kept is not None and kept.exists():
        return Agent.load(kept)
    learner = TEXT_LEARNERS["tacit"]
    agent = learner.make(TextSettings(model=name, exploration=options.reactions), options.seed)
    assert isinstance(agent.stage, TextExploration)
    agent.stage.progress = Told()
    Simulation(agent, learner.source(BookingEnv(dialogues)), options.seed).run(options.reactions)
    if kept is not None:
        agent.save(kept)
    return agent


class Told:
    """Prints what a fit does when it begins to do something else."""

    def __init__(self) -> None:
        self._what = ""

    def __call__(self, done: int, total: int, what: str) -> None:
        if what != self._what:
            print(f"  {time.process_time():8.1f} s of processor: {what} ({done} of {total})", flush=True)
        self._what = what


def tell_fit(model: TextModel, seconds: float) -> None:
    """Print the losses on reactions left out of the fit."""
    print(f"{model.name}: fitted in {seconds:.0f} s of processor", flush=True)
    if isinstance(model, CausalLM) and model.losses is not None:
        uniform, small, heads, epochs = model.losses
        curve = ", ".join(f"{loss:.4f}" for loss in epochs)
        print(
            f"  left out: uniform {uniform:.4f}, small {small:.4f}, heads {heads:.4f}, epochs {curve}",
            flush=True,
        )


def tell_fresh(name: str, stage: TextLearning, fresh: Fresh) -> None:
    """Print the squared loss on fresh reactions, with its distance from a uniform guess, and what is decoded."""
    losses, uniform, decoded = [], [], []
    for reaction in fresh.reactions:
        choice = reaction.choice
        h = foretell(stage.model, reaction)
        losses.append(float((h * h).sum() - 2 * h[choice.action] + 1))
        uniform.append(1 - 1 / len(choice.candidates))
        decoded.append(stage.decode(reaction))
    below = mean_interval(list(np.array(uniform) - np.array(losses)))
    good, bad = (np.array(decoded)[fresh.rewards == reward].mean() for reward in (1, 0))
    print(
        f"{name}: {len(losses)} fresh reactions, {int(fresh.rewards.sum())} rewarded: loss {np.mean(losses):.4f}, "
        f"uniform {np.mean(uniform):.4f}, below it by {below['mean']:.4f} [{below['low']:.4f}, {below['high']:.4f}]; "
        f"decoded to {good:.3f} where rewarded, {bad:.4f} where not",
        flush=True,
    )


def foretell(model: TextModel, reaction: Reaction) -> FloatArray:
    """Return h(x, y, s) as it was fitted: the small model sharpens it where J is made."""
    if isinstance(model, SmallModel) and model.fitted is not None:
        found: FloatArray = model.fitted.as_fitted.predict(model.sample([reaction]))[0]
        return found
    choice = reaction.choice
    return model.posterior(choice.conversation, choice.candidates, reaction.feedback)


def play(agent: Agent, dialogues: Sequence[Dialogue], episodes: int, seed: int) -> FloatArray:
    """Return the true rewards of policy learning."""
    source = TEXT_LEARNERS["tacit"].source(BookingEnv(dialogues))
    return np.array(Simulation(agent, source, seed + 1).run(episodes).rewards)


if __name__ == "__main__":
    main()

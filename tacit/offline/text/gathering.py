"""From logs of conversations to reactions: what each logged episode says, and which of them can teach.

Given the candidate, how it was drawn changes nothing of what feedback means; but a model is chosen and judged by
how well feedback foretells candidates, which only random ones allow. So the rule is that of all logs: an episode
teaches if its last candidate was drawn with a logged probability below 1, and counts 1/(K p) times where it judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincc, ndtr, xlogy

from tacit.base.arrays import FloatArray
from tacit.logs.episodes import LoggedEpisode, Problem, Problems
from tacit.logs.files import dump_json
from tacit.logs.record import Fault
from tacit.logs.survey import mixed_horizon
from tacit.offline.reward_model import Progress
from tacit.offline.tables.gathering import REPORT_EVERY, NothingToLearnError
from tacit.offline.tables.tuples import NOT_RANDOM, UNIFORM_LEVEL, UNKNOWN_PROBABILITY
from tacit.text.conversation import (
    Choice,
    Conversation,
    Exchange,
    Reaction,
    TextContext,
    check_candidates,
    check_text,
)
from tacit.text.small.posterior import Sample

MOST_REACTIONS = 20_000
"""Reactions kept to fit: a uniform sample of all, so that memory is bounded; booking is understood from 2,000."""
LEAST_REACTIONS = 20
"""Reactions below which nothing is fitted."""
FEWEST = 3
"""Candidates from which feedback can be decoded: with theta = 0.9 and M = 1, sigma exceeds 1 from 3 on."""


class ReadText(NamedTuple):
    """An episode as a text model reads it: its last choice with the feedback, and how each step was drawn.

    `probabilities` and `sizes` (how many candidates) have one entry a step, None where the log does not tell.
    """

    reaction: Reaction
    probabilities: tuple[float | None, ...]
    sizes: tuple[int | None, ...]
    reward: float | None

    @property
    def last_probability(self) -> float | None:
        """Return the probability of the last candidate, if the log tells it."""
        return self.probabilities[-1]


def read_text(record: Mapping[str, Any], horizon: int) -> ReadText | Fault:
    """Return the episode of a record that breaks no rule of the format, or the rule of text that it breaks.

    >>> steps = [{"state": "tea, please", "action": "Green?", "actions": ["Green?", "Black?", "None?"]}]
    >>> read = read_text({"context": "tea, please", "steps": steps, "feedback": "Yes!"}, horizon=1)
    >>> read.reaction.choice.action, read.reaction.feedback
    (0, 'Yes!')
    """
    steps = record["steps"]
    if len(steps) != horizon:
        return mixed_horizon(len(steps), horizon)
    try:
        conversation = read_conversation(record["context"], steps)
        feedback = check_text("feedback", record["feedback"])
        candidates = check_candidates(steps[-1].get("actions") or ())
    except ValueError as error:
        return Fault("not-text", str(error))
    if len(candidates) < FEWEST:
        return Fault(
            "few-candidates",
            f"feedback on text is decoded from {FEWEST} candidates on, got {len(candidates)} in step {horizon}; "
            "log all that could have been said",
        )
    p = steps[-1].get("probability")
    action = candidates.index(steps[-1]["action"])
    choice = Choice(conversation, candidates, action, 1 / len(candidates) if p is None else float(p))
    return ReadText(
        Reaction(choice, feedback),
        tuple(step.get("probability") for step in steps),
        tuple(len(step["actions"]) if step.get("actions") else None for step in steps),
        record.get("reward"),
    )


def read_conversation(context: Any, steps: list[Mapping[str, Any]]) -> Conversation:
    """Return what was said before the last candidate; raise ValueError if some of it is not text."""
    said = [check_text(f"state of step {n}", step["state"]) for n, step in enumerate(steps, 1)]
    read = TextContext.read(context)
    if read.request != said[0]:
        raise ValueError(
            "the first state of a conversation must be its request, got state "
            f"{said[0]!r} and request {read.request!r}; give the context as "
            '{"request", "profile"}, with what else is known of the person as the profile'
        )
    offered = [check_text(f"action of step {n}", step["action"]) for n, step in enumerate(steps, 1)]
    return Conversation(read, tuple(map(Exchange, offered[:-1], said[1:])))


@dataclass
class Reservoir:
    """A uniform sample of at most `most` of the reactions that came (reservoir sampling)."""

    most: int
    generator: np.random.Generator
    seen: int = 0
    reactions: list[Reaction] = field(default_factory=list)

    def add(self, reaction: Reaction) -> None:
        """Take one reaction."""
        self.seen += 1
        if len(self.reactions) < self.most:
            self.reactions.append(reaction)
            return
        place = int(self.generator.integers(self.seen))
        if place < self.most:
            self.reactions[place] = reaction


@dataclass
class GatheredText:
    """What one pass over logs of text leaves: reactions to random candidates, and to those of unknown chance."""

    known: Reservoir
    unknown: Reservoir
    episodes: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, read: ReadText, assume_uniform: bool) -> None:
        """Take one episode."""
        self.episodes += 1
        if read.last_probability == 1:
            self.left_out[NOT_RANDOM] += 1
        elif read.last_probability is None and not assume_uniform:
            self.unknown.add(read.reaction)
        else:
            self.known.add(read.reaction)

    def accept_unknown(self, sample: Sample | None) -> float | None:
        """Take the reactions of unknown chance in if they look uniform; return the test's p-value if so."""
        if sample is None:
            return None
        p_value = uniformity_p_value(sample)
        if p_value < UNIFORM_LEVEL:
            self.left_out[UNKNOWN_PROBABILITY] += self.unknown.seen
            return None
        self.known.seen += self.unknown.seen
        self.known.reactions += self.unknown.reactions
        return p_value

    def check_learnable(self) -> None:
        """Raise unless there are reactions to learn from."""
        if len(self.known.reactions) < LEAST_REACTIONS:
            why = ", ".join(f"{why}: {n:,}" for why, n in self.left_out.items()) or "none was read"
            raise NothingToLearnError(
                f"a model of text needs at least {LEAST_REACTIONS} episodes whose last action was random, got "
                f"{self.known.seen:,} of {self.episodes:,} ({why}); log the probability of each action, or say that "
                "they were uniform"
            )


def gather_text(
    episodes: Iterable[LoggedEpisode],
    horizon: int,
    assume_uniform: bool = False,
    problems: Problems | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> GatheredText:
    """Return the reactions of the episodes; one that is not text goes to `problems`, or is told of at the end."""
    known, unknown = (Reservoir(MOST_REACTIONS, stream) for stream in np.random.default_rng(seed).spawn(2))
    gathered = GatheredText(known, unknown)
    n, own = 0, problems if problems is not None else Problems()
    for n, episode in enumerate(episodes, 1):
        record = episode.to_json()
        read = read_text(record, horizon)
        if isinstance(read, Fault):
            own.add(Problem.of(read, episode), dump_json(record))
        else:
            gathered.add(read, assume_uniform)
        if progress is not None and n % REPORT_EVERY == 0:
            progress(REPORT_EVERY)
    if progress is not None:
        progress(n % REPORT_EVERY)
    if problems is None:
        own.warn()
    return gathered


def uniformity_p_value(sample: Sample) -> float:
    """Return the p-value of candidates taken uniformly, whatever their place and however well they fit.

    The least of a likelihood-ratio test of their places and of a normal test of each kind of match, times the number
    of tests (Bonferroni).
    """
    rows = np.arange(len(sample))
    K = sample.mask.sum(axis=1)
    mean = sample.match.sum(axis=1) / K[:, None]  # padding is 0
    away = np.where(sample.mask[..., None], sample.match - mean[:, None], 0.0)
    variance = (away**2).sum(axis=1) / K[:, None]
    scale = np.sqrt(np.maximum(variance.sum(axis=0), 1e-12))
    z = np.abs(away[rows, sample.taken].sum(axis=0)) / scale
    least = min(float(2 * ndtr(-z).min()), places_p_value(sample.taken, K))
    return min(1.0, least * (len(z) + 1))


def places_p_value(taken: Any, sizes: Any) -> float:
    """Return the p-value of the places of the candidates taken being uniform, for each number of candidates."""
    statistic, freedom = 0.0, 0
    for K in np.unique(sizes):
        n: FloatArray = np.bincount(taken[sizes == K], minlength=K).astype(np.float64)
        if n.sum() >= 5 * K:
            statistic += 2 * float(xlogy(n, n * K / n.sum()).sum())
            freedom += int(K) - 1
    return float(gammaincc(freedom / 2, statistic / 2)) if freedom else 1.0

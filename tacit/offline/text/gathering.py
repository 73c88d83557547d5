"""From logs of conversations to reactions: what each logged episode says, and which of them can teach.

Given the candidate, how it was drawn changes nothing of what feedback means; but a model is chosen and judged by
how well feedback foretells candidates, which only random ones allow. So the rule is that of all logs: an episode
teaches if its last candidate was drawn with a logged probability below 1, and counts 1/(K p) times where it judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.tuples import Reservoir
from tacit.logs.encoding import mixed_horizon
from tacit.logs.labels import ABANDONED, SILENT
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.logs.record import EpisodeRecord, Fault, StepRecord
from tacit.offline.passes import read_through
from tacit.offline.teaching import NothingToLearnError, Teaching, uniformity_p_value
from tacit.problem.layout import COUNTS, MISSING
from tacit.text.conversation import (
    Choice,
    Conversation,
    Exchange,
    Reaction,
    TextContext,
    check_candidates,
    check_text,
    read_remark,
)
from tacit.text.small.posterior import Sample
from tacit.text.stages import MOST_KEPT

LEAST_REACTIONS = 20
"""Reactions below which nothing is fitted."""
FEWEST = 3
"""Candidates from which J can be made: with theta = 0.9 and M = 1, sigma exceeds 1 from 3 on."""


class ReadText(NamedTuple):
    """An episode as a text model reads it: its last choice with the feedback, and how each step was drawn.

    `probabilities` and `sizes` (how many candidates) have one entry a step, None where the log does not tell.
    """

    reaction: Reaction
    probabilities: tuple[float | None, ...]
    sizes: tuple[int | None, ...]
    reward: float | None
    line: int


class Unheard(NamedTuple):
    """An episode without feedback; `reason` is that of its label: it broke off, or silence is taken to be missing."""

    reason: str
    line: int


def read_text(
    record: EpisodeRecord, horizon: int, silence: str = COUNTS, line: int = 0
) -> ReadText | Unheard | Fault:
    """Return the episode of a record that breaks no rule of the format, or the rule of text that it breaks.

    >>> steps = [{"state": "tea, please", "action": "Green?", "actions": ["Green?", "Black?", "None?"]}]
    >>> read = read_text({"episode": 1, "context": "tea, please", "steps": steps, "feedback": "Yes!"}, horizon=1)
    >>> read.reaction.choice.action, read.reaction.feedback
    (0, 'Yes!')
    """
    steps = record["steps"]
    if record.get("abandoned"):
        return Unheard(ABANDONED, line)
    if len(steps) > horizon:
        return mixed_horizon(len(steps), horizon)
    if record.get("feedback") is None and silence == MISSING:
        return Unheard(SILENT, line)
    try:
        conversation = read_conversation(record["context"], steps)
        feedback = read_remark(record.get("feedback"))
        before = read_before(conversation, steps)
        candidates = check_candidates(steps[-1].get("actions") or ())
        action = find_taken(candidates, steps[-1]["action"])
    except ValueError as error:
        return Fault("not-text", str(error))
    p = steps[-1].get("probability")
    choice = Choice(conversation, candidates, action, 1 / len(candidates) if p is None else float(p))
    return ReadText(
        Reaction(choice, feedback, before),
        tuple(step.get("probability") for step in steps),
        tuple(len(offered) if (offered := step.get("actions")) else None for step in steps),
        record.get("reward"),
        line,
    )


def read_conversation(context: Any, steps: Sequence[StepRecord]) -> Conversation:
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


def read_before(conversation: Conversation, steps: Sequence[StepRecord]) -> tuple[Choice, ...]:
    """Return the choices before the last where the log holds what was on offer at each, else none."""
    offered = [step.get("actions") for step in steps[:-1]]
    if not all(offered):
        return ()
    found = []
    for n, (step, actions) in enumerate(zip(steps, offered, strict=False)):
        candidates, p = check_candidates(actions or ()), step.get("probability")
        said = conversation._replace(exchanges=conversation.exchanges[:n])
        chance = 1 / len(candidates) if p is None else float(p)
        found.append(Choice(said, candidates, find_taken(candidates, step["action"]), chance))
    return tuple(found)


def find_taken(candidates: Sequence[str], action: str) -> int:
    """Return which of the candidates was taken; raise ValueError if none was.

    >>> find_taken(("one", "two"), "two")
    1
    """
    if action not in candidates:
        raise ValueError(
            f"the action must be one of the actions on offer, got {action!r} of {len(candidates)} others; log what "
            "was on offer with it"
        )
    return candidates.index(action)


def gather_text(
    source: LogSource,
    horizon: int,
    assume_uniform: bool = False,
    problems: Problems | None = None,
    progress: Progress | None = None,
    seed: int = 0,
    silence: str = COUNTS,
) -> Teaching[Reaction]:
    """Return the reactions of the logs; an episode that is not text goes to `problems`, or is told of at the end.

    Of more than a fit is made to, a uniform sample is kept.
    """
    first, second = np.random.default_rng(seed).spawn(2)
    known, unknown = Reservoir[Reaction](MOST_KEPT, first), Reservoir[Reaction](MOST_KEPT, second)
    teaching = Teaching(known, unknown, assume_uniform)
    for read in read_texts(source, horizon, problems, progress, silence):
        if isinstance(read, Unheard):
            teaching.leave_out(read.reason, read.line)
            continue
        admitted = teaching.admit(read.probabilities[-1], len(read.reaction.choice.candidates), read.line)
        if admitted is not None:
            admitted[0].add(read.reaction)
    return teaching


def read_texts(
    source: LogSource,
    horizon: int,
    problems: Problems | None = None,
    progress: Progress | None = None,
    silence: str = COUNTS,
) -> Iterator[ReadText | Unheard]:
    """Yield the episodes of the logs that are conversations of this many steps."""
    return read_through(
        source, lambda record, line: read_text(record, horizon, silence, line), problems, progress
    )


def check_reactions(teaching: Teaching[Reaction], problems: Problems | None) -> None:
    """Raise unless there are reactions to learn from."""
    if len(teaching.known) < LEAST_REACTIONS:
        refused = teaching.why_refused(problems)
        raise NothingToLearnError(
            f"a model of text needs at least {LEAST_REACTIONS} episodes whose last action was random, got "
            f"{teaching.known.seen:,} of {teaching.read(problems):,} ({refused}); log more of them, with the "
            "probability of each action, or say that they were uniform"
        )


def candidates_p_value(sample: Sample) -> float:
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


def places_p_value(taken: IntArray, sizes: IntArray) -> float:
    """Return the p-value of the places of the candidates taken being uniform, for each number of candidates."""
    tables: Iterator[FloatArray] = (
        np.bincount(taken[sizes == K], minlength=K).astype(np.float64) for K in np.unique(sizes)
    )
    return uniformity_p_value(tables, untested=1.0)

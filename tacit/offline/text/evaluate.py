"""What another policy would have earned in logged conversations: importance sampling over whole episodes.

The reward of an episode is Pr[r = 1 | y, a] of the text posterior; the decoded reward J, which never promises too much,
gives the lower bound. An interval holds two errors: that of sampling, and the doubt that the posterior itself has of
each reward, Var[1/n sum w r | y] = 1/n² sum w² Pr[r = 1] Pr[r = 0]. What a fit to other conversations would change
is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from scipy.special import ndtri

from tacit.base.arrays import FloatArray
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.logs.record import EpisodeRecord, Fault, LogError
from tacit.offline.estimators import MOST_WEIGHT, effective_size, importance_sampling, self_normalised
from tacit.offline.evaluation import (
    LEVEL,
    LOGGED,
    UNIFORM,
    Evaluation,
    PolicyChoice,
    PolicyValue,
    find_doubts,
    find_not_estimated,
    finite_value,
)
from tacit.offline.passes import read_through
from tacit.offline.text.batches import ENCODED_AT_ONCE, encode_in_batches
from tacit.offline.text.gathering import ReadText, Unheard, read_text
from tacit.offline.text.meanings import TextMeanings
from tacit.text.conversation import Reaction
from tacit.trust.findings import Finding, worst_first

NO_DYNAMICS = Finding(
    "no-dynamics",
    "info",
    "",
    "The model-based and doubly robust estimates need the dynamics of finitely many states, which conversations do not "
    "have: they are not given.",
    "Use importance sampling, whose intervals tell how far the logs reach.",
)


def evaluate_text(
    meanings: TextMeanings,
    source: LogSource,
    policy: PolicyChoice,
    problems: Problems | None,
    progress: Progress | None,
) -> Evaluation:
    """Return what a policy, "logged" or "uniform", would have earned in the logged conversations' place."""
    check_policy_choice(meanings, policy)

    def read(record: EpisodeRecord, line: int) -> tuple[Reaction, float] | Fault | None:
        found = read_text(record, meanings.horizon, meanings.silence)
        if isinstance(found, Unheard):
            return None
        if isinstance(found, Fault):
            return found
        weight = weigh_episode(found, policy == UNIFORM)
        return weight if isinstance(weight, Fault) else (found.reaction, weight)

    heard = (each for each in read_through(source, read, problems, progress) if each is not None)
    parts = list(weigh_reactions(meanings, heard))
    if not parts:
        raise LogError(
            "an evaluation needs an episode with feedback, got none; see the log format on silence"
        )
    weights, rewarded, decoded = np.concatenate(parts, axis=1)
    estimates = estimate_text(weights, rewarded, rewarded)
    doubts = [*find_doubts(weights, 0.0, 0.0, False), *find_not_estimated(estimates, weights), NO_DYNAMICS]
    return Evaluation(
        policy=str(policy),
        episodes=len(weights),
        effective=round(effective_size(weights), 1),
        undecoded=0.0,
        estimates=estimates,
        lower_bounds=estimate_text(weights, decoded, rewarded),
        findings=worst_first(doubts),
    )


def check_policy_choice(meanings: TextMeanings, policy: PolicyChoice) -> None:
    """Raise unless anything is decoded and the policy is one that conversations can tell of."""
    if not meanings.evidence.found:
        raise LogError(
            "a policy is evaluated by what feedback means, and this model found that it cannot be told from noise; see "
            "the findings of `tacit fit`"
        )
    if policy not in (LOGGED, UNIFORM):
        raise LogError(
            f"a policy for conversations must be {LOGGED!r} or {UNIFORM!r}, got {policy!r}: tables and agents say "
            "nothing of candidates that are sentences; play an agent online instead"
        )


def weigh_reactions(
    meanings: TextMeanings, weighted: Iterator[tuple[Reaction, float]]
) -> Iterator[FloatArray]:
    """Yield (weight, Pr[r = 1], J) of some reactions at a time, (3, n)."""
    while some := list(islice(weighted, ENCODED_AT_ONCE)):
        reactions, weights = zip(*some, strict=True)
        for sample, read in encode_in_batches(meanings.model, reactions):
            weighed = meanings.weigh(sample, read)
            yield np.array([weights, weighed.rewarded, weighed.decoded])


def weigh_episode(read: ReadText, uniform: bool) -> float | Fault:
    """Return the product over steps of 1/(K p) for the uniform policy, 1 for the logged one; or the rule broken."""
    if not uniform:
        return 1.0
    weight = 1.0
    for number, (p, size) in enumerate(zip(read.probabilities, read.sizes, strict=True), 1):
        if p is None or size is None:
            return Fault(
                "no-probability",
                f"another policy is weighed against the logged one: step {number} must have the probability of its "
                "action and the actions on offer, got neither or one; log both",
            )
        weight = min(weight / (size * p), MOST_WEIGHT)
    return weight


def estimate_text(
    weights: FloatArray, rewards: FloatArray, rewarded: FloatArray
) -> dict[str, PolicyValue | None]:
    """Return both estimates with their intervals; `rewarded` (n,) is Pr[r = 1], whose doubt widens them.

    None where an episode weighs too much for anything else to count, or there is only one.
    """
    if weights.max() >= MOST_WEIGHT:
        return dict.fromkeys(("importance_sampling", "self_normalised"))
    z = float(ndtri(0.5 + LEVEL / 2))
    doubt = float(np.sqrt((weights**2 * rewarded * (1 - rewarded)).sum()))
    found: dict[str, PolicyValue | None] = {}
    for name, estimator, total in (
        ("importance_sampling", importance_sampling, float(len(weights))),
        ("self_normalised", self_normalised, float(weights.sum())),
    ):
        value, sampling = estimator(weights, rewards)
        error = float(np.hypot(sampling, doubt / total))
        found[name] = finite_value(value, value - z * error, value + z * error, error, doubt / total)
    return found

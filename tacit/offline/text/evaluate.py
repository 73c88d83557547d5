"""What another policy would have earned in logged conversations: importance sampling over whole episodes.

The reward of an episode is Pr[r = 1 | y, a] of the text posterior; the decoded reward J, which never promises too much,
gives the lower bound. An interval holds two errors: that of sampling, and the doubt that the posterior itself has of
each reward, Var[1/n sum w r | y] = 1/n² sum w² Pr[r = 1] Pr[r = 0]. What a fit to other conversations would change
is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from scipy.special import ndtri

from tacit.base.arrays import FloatArray
from tacit.logs.episodes import LogError, LoggedEpisode, Problem, Problems
from tacit.logs.files import dump_json
from tacit.logs.record import Fault
from tacit.offline.reward_model import Logs, Progress, open_logs
from tacit.offline.tables.evaluate import LEVEL, Estimate, Evaluation, find_problems
from tacit.offline.tables.off_policy import effective_size, importance_sampling, self_normalised
from tacit.offline.tables.policies import LOGGED, UNIFORM
from tacit.offline.text.gathering import ReadText, read_text
from tacit.offline.text.reward_model import TextRewardModel, encode_in_batches
from tacit.trust.findings import Finding, worst_first

READ_AT_ONCE = 2_000
"""Episodes read before they are decoded and forgotten."""
NO_DYNAMICS = Finding(
    "no-dynamics",
    "info",
    "",
    "The model-based and doubly robust estimates need the dynamics of finitely many states, which conversations do not "
    "have: they are not given.",
    "Use importance sampling, whose intervals tell how far the logs reach.",
)


def evaluate_text(
    logs: Logs,
    model: TextRewardModel,
    policy: object = LOGGED,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Return what a policy, "logged" or "uniform", would have earned in the logged conversations' place."""
    check_request(model, policy)
    own = problems if problems is not None else Problems()
    episodes = open_logs(logs, problems)()
    parts = list(weigh_episodes(episodes, model, policy == UNIFORM, own, progress))
    if problems is None:
        own.warn()
    if not parts:
        raise LogError("a policy is evaluated on whole episodes, got none; see what was set aside")
    weights, rewarded, decoded = np.concatenate(parts, axis=1)
    return Evaluation(
        policy=str(policy),
        episodes=len(weights),
        effective=round(effective_size(weights), 1),
        undecoded=0.0,
        estimates=estimate(weights, rewarded, rewarded),
        lower_bounds=estimate(weights, decoded, rewarded),
        findings=worst_first([*find_problems(weights, 0.0, 0.0, False), NO_DYNAMICS]),
    )


def check_request(model: TextRewardModel, policy: object) -> None:
    """Raise unless the model has decoded anything and the policy is one that conversations can tell of."""
    if not model.evidence.found:
        raise LogError(
            "a policy is evaluated by what feedback means, and this model found that it cannot be told from noise; see "
            "the findings of `tacit fit`"
        )
    if policy not in (LOGGED, UNIFORM):
        raise LogError(
            f"a policy for conversations must be {LOGGED!r} or {UNIFORM!r}, got {policy!r}: tables and agents say "
            "nothing of candidates that are sentences; play an agent online instead"
        )


def weigh_episodes(
    episodes: Iterable[LoggedEpisode],
    model: TextRewardModel,
    uniform: bool,
    problems: Problems,
    progress: Progress | None,
) -> Iterator[FloatArray]:
    """Yield (weight, Pr[r = 1], J) of some episodes at a time, (3, n)."""
    waiting = iter(episodes)
    while batch := list(islice(waiting, READ_AT_ONCE)):
        found = [(episode, read_text(episode.to_json(), model.horizon)) for episode in batch]
        sound: list[tuple[float, ReadText]] = []
        for episode, read in found:
            weight = read if isinstance(read, Fault) else find_weight(read, uniform)
            if isinstance(weight, Fault):
                problems.add(Problem.of(weight, episode), dump_json(episode.to_json()))
            elif isinstance(read, ReadText):
                sound.append((weight, read))
        yield from _decode(model, sound)
        if progress is not None:
            progress(len(batch))


def find_weight(read: ReadText, uniform: bool) -> float | Fault:
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
        weight /= size * p
    return weight


def estimate(weights: FloatArray, rewards: FloatArray, rewarded: FloatArray) -> dict[str, Estimate]:
    """Return both estimates with their intervals; `rewarded` (n,) is Pr[r = 1], whose doubt widens them."""
    z = float(ndtri(0.5 + LEVEL / 2))
    doubt = float(np.sqrt((weights**2 * rewarded * (1 - rewarded)).sum()))
    found = {}
    for name, estimator, total in (
        ("importance_sampling", importance_sampling, float(len(weights))),
        ("self_normalised", self_normalised, float(weights.sum())),
    ):
        value, sampling = estimator(weights, rewards)
        error = float(np.hypot(sampling, doubt / total))
        found[name] = Estimate(value, value - z * error, value + z * error, error, doubt / total)
    return found


def _decode(model: TextRewardModel, sound: list[tuple[float, ReadText]]) -> Iterator[FloatArray]:
    weights, start = np.array([weight for weight, _ in sound]), 0
    for sample in encode_in_batches(model.model, [read.reaction for _, read in sound]):
        meanings = model.weigh(sample)
        stop = start + len(sample)
        yield np.array([weights[start:stop], meanings.rewarded, meanings.decoded])
        start = stop

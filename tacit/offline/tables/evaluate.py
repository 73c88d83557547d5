"""What another policy would have earned: its value from logs and a reward model, with intervals.

Feedback is read in two ways. What it means, Pr[r = 1 | y, a], is the reward itself wherever feedback tells it
(Assumption 2.2): the estimates are of the value under it. The decoded reward J that labels carry counts rewards of the
best actions alone and so never promises too much (Lemma 3.7): its value is given beside, as a lower bound.

Four kinds of error enter an interval. Sampling: the standard errors of `off_policy`. The decoder: its tuples are
drawn anew and judged again, and the spread of the values under the meanings that come out is added to the variance.
What data cannot tell where both sides say the same words: the value at the lower ends of all f, and at the upper
(`tacit.decoding.confidence`). What it cannot decode: such an episode counts 0 at the lower end and 1 at the upper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from tacit.base.arrays import FloatArray
from tacit.decoding.judgement import UNKNOWN
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.logs.record import LogError
from tacit.offline.estimators import Estimated, effective_size, episode_weights
from tacit.offline.evaluation import (
    LEVEL,
    Evaluation,
    PolicyChoice,
    PolicyValue,
    find_doubts,
    find_not_estimated,
    finite_value,
    name_policy,
)
from tacit.offline.passes import read_through
from tacit.offline.tables.meanings import TableMeanings
from tacit.offline.tables.off_policy import ESTIMATORS, estimate_values, untried_mass
from tacit.offline.tables.paths import LoggedPaths, collect_paths
from tacit.offline.tables.policies import find_policy, stack_policies
from tacit.offline.tables.refits import Refits, find_bounded_refits, refit_meanings
from tacit.problem.layout import Layout
from tacit.trust.findings import worst_first

MOST_NUMBERS = 50_000_000
"""Numbers in an array over (context, layer, state, action) or (layer, state, action, state): 400 MB."""


def evaluate_table(
    meanings: TableMeanings,
    source: LogSource,
    policy: PolicyChoice,
    problems: Problems | None,
    progress: Progress | None,
) -> Evaluation:
    """Return what a policy would have earned in the logged episodes' place; see `tacit.offline.tables.policies`."""
    episodes = read_through(source, meanings.reader.read, problems, progress, meanings.ahead)
    return evaluate_paths(collect_paths(meanings.layout, meanings.reading, episodes), meanings, policy)


def evaluate_paths(paths: LoggedPaths, meanings: TableMeanings, policy: PolicyChoice) -> Evaluation:
    """Return the evaluation of a policy on episodes that are already encoded."""
    check_evaluable(paths.layout, len(paths.contexts))
    chances, estimated = fill_chances(paths)
    found = find_policy(meanings.layout, policy)
    if found is None:
        policies, ratios = _expand(paths, paths.frequencies), np.ones_like(chances)
    else:
        policies = stack_policies(found, paths.contexts)
        ratios = chosen_chances(paths, policies) / chances
    weights = episode_weights(ratios)
    meant, refits = meant_ends(paths, meanings), refit_meanings(meanings)
    undecoded = float(weights @ np.isnan(meant.middle)) / max(float(weights.sum()), 1e-12)
    estimates = intervals(paths, policies, ratios, meant, refits, meanings.c)
    decoded = certain_ends(decoded_ends(paths, meanings))
    lower_bounds = intervals(paths, policies, ratios, decoded, None, meanings.c)
    doubts = find_doubts(weights, untried_mass(paths, policies, ratios), undecoded, estimated)
    findings = [*doubts, *find_not_estimated(estimates, weights), *find_bounded_refits(refits)]
    return Evaluation(
        policy=name_policy(policy),
        episodes=len(paths),
        effective=round(effective_size(weights), 1),
        undecoded=round(undecoded, 6),
        estimates=estimates,
        lower_bounds=lower_bounds,
        findings=worst_first(findings),
    )


def check_evaluable(layout: Layout, contexts: int) -> None:
    """Raise unless policies of all contexts, and the dynamics they are weighed against, fit into memory."""
    policies = contexts * layout.mask.size
    dynamics = int((layout.n_states[:-1] * layout.max_actions * layout.max_states).sum())
    for what, size in (("policies of every context", policies), ("the dynamics of these states", dynamics)):
        if size > MOST_NUMBERS:
            raise LogError(
                f"an evaluation can hold {MOST_NUMBERS:,} numbers, {what} are {size:,} (contexts: {contexts:,}; states "
                f"of a step: up to {layout.max_states:,}; actions: up to {layout.max_actions:,}); bin states or "
                "contexts, and fit again"
            )


def intervals(
    paths: LoggedPaths,
    policies: FloatArray,
    ratios: FloatArray,
    rewards: EndRewards,
    refits: Refits | None,
    c: float,
) -> dict[str, PolicyValue | None]:
    """Return every estimator's value and interval under rewards of the episodes; None where they cannot be computed."""

    def values(earned: FloatArray) -> dict[str, Estimated]:
        return estimate_values(paths, policies, ratios, np.nan_to_num(earned, nan=c))

    middle, low, high = (values(each) for each in rewards)
    others, counts, drawn = [], np.empty(0), 0
    if refits is not None:
        others = [values(refit) for refit in refits.of_ends(paths, rewards.middle)]
        counts, drawn = refits.counts, len(refits.rewards)
    z = float(ndtri(0.5 + LEVEL / 2))
    found = {}
    for name in ESTIMATORS:
        away = np.array([other[name].value for other in others]) - middle[name].value
        decoder = float(np.sqrt((counts * away**2).sum() / max(drawn, 1)))
        ends = [np.hypot(each[name].error, decoder) for each in (low, high, middle)]
        found[name] = finite_value(
            middle[name].value,
            float(low[name].value - z * ends[0]),
            float(high[name].value + z * ends[1]),
            float(ends[2]),
            decoder,
        )
    return found


class EndRewards(NamedTuple):
    """The reward of each episode, (n,), NaN where it is not known, and between what it lies in expectation."""

    middle: FloatArray
    low: FloatArray
    high: FloatArray


def meant_ends(paths: LoggedPaths, meanings: TableMeanings) -> EndRewards:
    """Return what each episode's feedback means after its action."""
    found, actions = EndRewards(*np.empty((3, len(paths)))), paths.actions[:, -1]
    for place, episodes in paths.by_place.items():
        at = (paths.values[episodes], actions[episodes])
        tables = (meanings.meaning(*place), *meanings.reward_bounds(*place))
        for into, table in zip(found, tables, strict=True):
            into[episodes] = table[at]
    return found


def certain_ends(rewards: FloatArray) -> EndRewards:
    """Return rewards (n,) that are what they are, and anything where they are not known."""
    return EndRewards(rewards, np.nan_to_num(rewards, nan=0.0), np.nan_to_num(rewards, nan=1.0))


def decoded_ends(paths: LoggedPaths, meanings: TableMeanings) -> FloatArray:
    """Return the decoded reward J of each episode, (n,); NaN where nothing is decoded."""
    rewards, actions = np.full(len(paths), np.nan), paths.last_actions
    for place, episodes in paths.by_place.items():
        judgement = meanings.judgements.get(place)
        if judgement is not None and judgement.kind != UNKNOWN:
            rewards[episodes] = judgement.rewards[paths.values[episodes], actions[episodes]]
    return rewards


def fill_chances(paths: LoggedPaths) -> tuple[FloatArray, bool]:
    """Return the probabilities of the logged actions (n, H), or their frequency; and whether the log lacked any."""
    missing = np.isnan(paths.chances)
    if not missing.any():
        return paths.chances, False
    return np.where(missing, chosen_chances(paths, _expand(paths, paths.frequencies)), paths.chances), True


def chosen_chances(paths: LoggedPaths, policies: FloatArray) -> FloatArray:
    """Return the probability of each logged action under the policies of its context, (n, H)."""
    steps = np.arange(paths.layout.horizon)[None, :]
    return np.asarray(policies[paths.owner[:, None], steps, paths.states, paths.actions])


def _expand(paths: LoggedPaths, policies: FloatArray) -> FloatArray:
    return np.broadcast_to(policies, (len(paths.contexts), *policies.shape[1:]))

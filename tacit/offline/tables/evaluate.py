"""What another policy would have earned: its value from logs and a reward model, with intervals.

Feedback is read in two ways. Its meaning phi(y) is the reward itself wherever feedback tells it (Assumption 2.2), for
every action: the estimates are of the value under it. The decoded reward J that labels carry counts rewards of the best
actions alone and so never promises too much (Lemma 3.7): its value is given beside, as a lower bound.

Three kinds of error enter an interval. Sampling: the standard errors of `off_policy`. The decoder: its tuples are
drawn anew and judged again, and the spread of the values under the meanings that come out is added to the variance.
What it cannot decode: such an episode counts 0 at the lower end and 1 at the upper.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from tacit.base.arrays import FloatArray
from tacit.decoding.judgement import HETEROGENEOUS, UNKNOWN, judge
from tacit.logs.encoding import LogReader
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.offline.estimators import Estimated, effective_size
from tacit.offline.evaluation import LEVEL, Evaluation, PolicyChoice, PolicyValue, find_doubts, name_policy
from tacit.offline.passes import read_through
from tacit.offline.tables.meanings import TableMeanings
from tacit.offline.tables.off_policy import ESTIMATORS, estimate_values, untried_mass
from tacit.offline.tables.paths import LoggedPaths, collect_paths
from tacit.offline.tables.policies import find_policy, stack_policies
from tacit.trust.findings import worst_first

REFITS = 50
"""Times that the decoder's tuples are drawn anew; meanings that come out alike are evaluated once."""
SEED = 29
"""Of those draws, so that an evaluation is a function of logs, model and policy."""


def evaluate_table(
    meanings: TableMeanings,
    source: LogSource,
    policy: PolicyChoice,
    problems: Problems | None,
    progress: Progress | None,
) -> Evaluation:
    """Return what a policy would have earned in the logged episodes' place; see `tacit.offline.tables.policies`."""
    episodes = read_through(source, LogReader(meanings.layout).read, problems, progress)
    return evaluate_paths(collect_paths(meanings.layout, meanings.reading, episodes), meanings, policy)


def evaluate_paths(paths: LoggedPaths, meanings: TableMeanings, policy: PolicyChoice) -> Evaluation:
    """Return the evaluation of a policy on episodes that are already encoded."""
    chances, estimated = fill_chances(paths)
    found = find_policy(meanings.layout, policy)
    if found is None:
        policies, ratios = _expand(paths, paths.frequencies), np.ones_like(chances)
    else:
        policies = stack_policies(found, paths.contexts)
        ratios = chosen_chances(paths, policies) / chances
    weights = ratios.prod(axis=1)
    phi = _by_action(meanings.phi, meanings.layout.max_actions)
    undecoded = float(weights @ np.isnan(phi[paths.ends])) / max(float(weights.sum()), 1e-12)

    def estimates(table: FloatArray, refits: list[FloatArray]) -> dict[str, PolicyValue]:
        return intervals(paths, policies, ratios, table, refits, meanings.c)

    untried = untried_mass(paths, policies, ratios)
    return Evaluation(
        policy=name_policy(policy),
        episodes=len(paths),
        effective=round(effective_size(weights), 1),
        undecoded=round(undecoded, 6),
        estimates=estimates(phi, refit_meanings(meanings)),
        lower_bounds=estimates(decoded_table(meanings), []),
        findings=worst_first(find_doubts(weights, untried, undecoded, estimated)),
    )


def intervals(
    paths: LoggedPaths,
    policies: FloatArray,
    ratios: FloatArray,
    table: FloatArray,
    refits: list[FloatArray],
    c: float,
) -> dict[str, PolicyValue]:
    """Return every estimator's value and interval under a table of rewards (S_H, G, V, K), NaN where unknown."""

    def values(rewards: FloatArray, unknown: float) -> dict[str, Estimated]:
        filled = np.nan_to_num(rewards, nan=unknown)
        return estimate_values(paths, policies, ratios, filled, _prior(filled))

    middle = values(table, c)
    certain = not np.isnan(table).any()
    low, high = (middle, middle) if certain else (values(table, 0.0), values(table, 1.0))
    others = [values(refit, c) for refit in _distinct(refits, table)]
    counts = _multiplicities(refits, table)
    z = float(ndtri(0.5 + LEVEL / 2))
    found = {}
    for name in ESTIMATORS:
        drawn = np.array([other[name].value for other in others]) - middle[name].value
        decoder = float(np.sqrt((counts * drawn**2).sum() / max(len(refits), 1)))
        ends = [np.hypot(each[name].error, decoder) for each in (low, high, middle)]
        found[name] = PolicyValue(
            middle[name].value,
            float(low[name].value - z * ends[0]),
            float(high[name].value + z * ends[1]),
            float(ends[2]),
            decoder,
        )
    return found


def refit_meanings(meanings: TableMeanings, refits: int = REFITS) -> list[FloatArray]:
    """Return the meanings (S_H, G, V, K) of models fitted to tuples drawn anew from the model's own.

    The feedback after each action is drawn from its frequencies, as many times as there were effective tuples.
    """
    generator, K = np.random.default_rng(SEED), meanings.layout.max_actions
    drawn_phi = np.repeat(meanings.phi[None], refits, axis=0)
    for (s, x), judgement in meanings.judgements.items():
        if judgement.kind != HETEROGENEOUS:
            continue
        table = meanings.counts[s, x, :, : len(judgement.tuples)]
        n, chances = np.rint(table.sum(axis=0)).astype(np.int64), (table / table.sum(axis=0)).T  # (K, V)
        for b in range(refits):
            drawn = generator.multinomial(n, chances / chances.sum(axis=1, keepdims=True)).T.astype(
                np.float64
            )
            again = judge(drawn, meanings.c, meanings.settings.judgement)
            if again.kind == HETEROGENEOUS:
                phi = 1 - again.phi if meanings.flipped[s, x] else again.phi
                drawn_phi[b, s, x] = np.where(drawn.sum(axis=1) > 0, phi, meanings.phi[s, x])
            else:
                drawn_phi[b, s, x] = meanings.c
    return [_by_action(each, K) for each in drawn_phi]


def decoded_table(meanings: TableMeanings) -> FloatArray:
    """Return the decoded reward J of each (s, g, v, a), NaN where nothing is decoded."""
    table = np.full(meanings.counts.shape, np.nan)
    for (s, x), judgement in meanings.judgements.items():
        if judgement.kind != UNKNOWN:
            table[s, x, :, : len(judgement.tuples)] = judgement.rewards
    return table


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


def _by_action(meanings: FloatArray, n_actions: int) -> FloatArray:
    return np.repeat(meanings[..., None], n_actions, axis=-1)


def _prior(table: FloatArray) -> FloatArray:
    """Return what an untried action is taken to be worth, (S_H, G, K): nothing, as in dev. 5."""
    return np.zeros((table.shape[0], table.shape[1], table.shape[3]))


def _distinct(refits: list[FloatArray], table: FloatArray) -> list[FloatArray]:
    """Return the tables that differ from `table`, each once."""
    own = table.tobytes()
    return list({key: refit for refit in refits if (key := refit.tobytes()) != own}.values())


def _multiplicities(refits: list[FloatArray], table: FloatArray) -> FloatArray:
    """Return how often each of `_distinct` was drawn."""
    keys = [refit.tobytes() for refit in refits]
    return np.array([keys.count(each.tobytes()) for each in _distinct(refits, table)], dtype=np.float64)

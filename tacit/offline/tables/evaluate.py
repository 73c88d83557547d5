"""What another policy would have earned: its value from logs and a reward model, with intervals.

Feedback is read in two ways. Its meaning phi(y) is the reward itself wherever feedback tells it (Assumption 2.2), for
every action: the estimates are of the value under it. The decoded reward J that labels carry counts rewards of the best
actions alone and so never promises too much (Lemma 3.7): its value is given beside, as a lower bound.

Three kinds of error enter an interval. Sampling: the standard errors of `off_policy`. The decoder: its tuples are
drawn anew and judged again, and the spread of the values under the meanings that come out is added to the variance.
What it cannot decode: such an episode counts 0 at the lower end and 1 at the upper.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from tacit.base.arrays import FloatArray
from tacit.decoding.judgement import HETEROGENEOUS, UNKNOWN, judge
from tacit.logs.episodes import Problems
from tacit.logs.survey import LogReader
from tacit.offline.reward_model import Logs, Progress, RewardModel, TableModel, open_logs
from tacit.offline.tables.gathering import read_episodes
from tacit.offline.tables.off_policy import (
    ESTIMATORS,
    Estimated,
    effective_size,
    estimate_values,
    untried_mass,
)
from tacit.offline.tables.paths import Paths, collect_paths
from tacit.offline.tables.policies import LOGGED, find_policy, stack_policies
from tacit.trust.findings import Finding, raised, verdict, worst_first

LEVEL = 0.95
REFITS = 50
"""Times that the decoder's tuples are drawn anew; meanings that come out alike are evaluated once."""
SEED = 29
"""Of those draws, so that an evaluation is a function of logs, model and policy."""
LEAST_EFFECTIVE = 100
"""Effective episodes below which no interval can be trusted."""
THIN = 0.1
"""Share of the episodes below which their effective number deserves a caution."""
MOST_UNTRIED = 0.01
"""How much of a policy may go where no log has been before its value is unknown."""
OFF = 4.0
"""Standard errors by which mean weights may differ from 1 before logged probabilities are doubted."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; `decoder_error` is the part of its standard error that the decoder has."""

    value: float
    low: float
    high: float
    error: float
    decoder_error: float


@dataclass(frozen=True)
class Evaluation:
    """What a policy is worth, by four estimators, and how far they can be trusted.

    `estimates` are under the meaning of feedback, `lower_bounds` under the decoded reward. `effective` is how many
    episodes of the policy itself the logs are worth.
    """

    policy: str
    episodes: int
    effective: float
    undecoded: float
    estimates: Mapping[str, Estimate]
    lower_bounds: Mapping[str, Estimate]
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """Return "works", "works with caution" or "cannot work"."""
        return verdict(self.findings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what speaks against trusting the intervals."""
        return tuple(str(finding) for finding in raised(self.findings))

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "policy": self.policy,
            "episodes": self.episodes,
            "effective_sample_size": self.effective,
            "undecoded": self.undecoded,
            "verdict": self.verdict,
            "estimates": {name: vars(each) for name, each in self.estimates.items()},
            "lower_bounds": {name: vars(each) for name, each in self.lower_bounds.items()},
            "warnings": list(self.warnings),
        }


def evaluate(
    logs: Logs,
    model: RewardModel,
    policy: str | os.PathLike[str] | Mapping[str, Any] = LOGGED,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Return what a policy would have earned in the logged episodes' place; see `tacit.offline.tables.policies`.

    >>> from tacit.envs.drawn_logs import draw_logs
    >>> from tacit.envs.synthetic import synthetic_mdp
    >>> from tacit.offline.fit import fit
    >>> logs = list(draw_logs(synthetic_mdp(), 4000, seed=0))
    >>> result = evaluate(logs, fit(logs), "uniform")
    >>> estimate = result.estimates["self_normalised"]
    >>> estimate.low < 0.0176 < estimate.high, result.verdict
    (True, 'works')
    """
    if not isinstance(model, TableModel):
        from tacit.offline.text.evaluate import evaluate_text  # here, because what reads text is optional
        from tacit.offline.text.reward_model import TextRewardModel

        assert isinstance(model, TextRewardModel)
        return evaluate_text(logs, model, policy, problems, progress)
    reader = LogReader(model.layout)
    episodes = read_episodes(open_logs(logs, problems)(), reader, problems, progress)
    paths = collect_paths(model.layout, model.reading, episodes)
    return evaluate_paths(paths, model, policy)


def evaluate_paths(
    paths: Paths, model: TableModel, policy: str | os.PathLike[str] | Mapping[str, Any]
) -> Evaluation:
    """Return the evaluation of a policy on episodes that are already encoded."""
    chances, estimated = fill_chances(paths)
    found = find_policy(model.layout, policy)
    if found is None:
        policies, ratios = _expand(paths, paths.frequencies), np.ones_like(chances)
    else:
        policies = stack_policies(found, paths.contexts)
        ratios = chosen_chances(paths, policies) / chances
    weights = ratios.prod(axis=1)
    meanings = _by_action(model.meanings, model.layout.max_actions)
    decoded = decoded_table(model)
    at = (paths.states[:, -1], paths.last_group, paths.values, paths.actions[:, -1])
    undecoded = float(weights @ np.isnan(meanings[at])) / max(float(weights.sum()), 1e-12)

    def estimates(table: FloatArray, refits: list[FloatArray]) -> dict[str, Estimate]:
        return intervals(paths, policies, ratios, table, refits, model.c)

    untried = untried_mass(paths, policies, ratios)
    return Evaluation(
        policy=policy
        if isinstance(policy, str)
        else "table"
        if isinstance(policy, Mapping)
        else os.fspath(policy),
        episodes=len(paths),
        effective=round(effective_size(weights), 1),
        undecoded=round(undecoded, 6),
        estimates=estimates(meanings, refit_meanings(model)),
        lower_bounds=estimates(decoded, []),
        findings=worst_first(find_problems(weights, untried, undecoded, estimated)),
    )


def intervals(
    paths: Paths,
    policies: FloatArray,
    ratios: FloatArray,
    table: FloatArray,
    refits: list[FloatArray],
    c: float,
) -> dict[str, Estimate]:
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
        found[name] = Estimate(
            middle[name].value,
            float(low[name].value - z * ends[0]),
            float(high[name].value + z * ends[1]),
            float(ends[2]),
            decoder,
        )
    return found


def refit_meanings(model: TableModel, refits: int = REFITS) -> list[FloatArray]:
    """Return the meanings (S_H, G, V, K) of models fitted to tuples drawn anew from the model's own.

    The feedback after each action is drawn from its frequencies, as many times as there were effective tuples.
    """
    generator, K = np.random.default_rng(SEED), model.layout.max_actions
    meanings = np.repeat(model.meanings[None], refits, axis=0)
    for (s, x), judgement in model.judgements.items():
        if judgement.kind != HETEROGENEOUS:
            continue
        table = model.counts[s, x, :, : len(judgement.tuples)]
        n, chances = np.rint(table.sum(axis=0)).astype(np.int64), (table / table.sum(axis=0)).T  # (K, V)
        for b in range(refits):
            drawn = generator.multinomial(n, chances / chances.sum(axis=1, keepdims=True)).T.astype(
                np.float64
            )
            again = judge(drawn, model.c, model.settings.judgement)
            if again.kind == HETEROGENEOUS:
                phi = 1 - again.phi if model.flipped[s, x] else again.phi
                meanings[b, s, x] = np.where(drawn.sum(axis=1) > 0, phi, model.meanings[s, x])
            else:
                meanings[b, s, x] = model.c
    return [_by_action(each, K) for each in meanings]


def decoded_table(model: TableModel) -> FloatArray:
    """Return the decoded reward J of each (s, g, v, a), NaN where nothing is decoded."""
    table = np.full(model.counts.shape, np.nan)
    for (s, x), judgement in model.judgements.items():
        if judgement.kind != UNKNOWN:
            table[s, x, :, : len(judgement.tuples)] = judgement.rewards
    return table


def fill_chances(paths: Paths) -> tuple[FloatArray, bool]:
    """Return the probabilities of the logged actions (n, H), or their frequency; and whether the log lacked any."""
    missing = np.isnan(paths.chances)
    if not missing.any():
        return paths.chances, False
    return np.where(missing, chosen_chances(paths, _expand(paths, paths.frequencies)), paths.chances), True


def chosen_chances(paths: Paths, policies: FloatArray) -> FloatArray:
    """Return the probability of each logged action under the policies of its context, (n, H)."""
    steps = np.arange(paths.layout.horizon)[None, :]
    return np.asarray(policies[paths.owner[:, None], steps, paths.states, paths.actions])


def _expand(paths: Paths, policies: FloatArray) -> FloatArray:
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


def find_problems(
    weights: FloatArray, untried: float, undecoded: float, estimated: bool
) -> Iterator[Finding]:
    """Yield what speaks against trusting intervals: weights (n,), and the shares of what is untried or undecoded."""
    n, size = len(weights), effective_size(weights)
    if size < max(LEAST_EFFECTIVE, THIN * n):
        yield Finding(
            "overlap-thin",
            "error" if size < LEAST_EFFECTIVE else "caution",
            "",
            f"{n:,} logged episodes are worth {size:,.0f} of the policy's own: it does what the logs rarely did.",
            "Log episodes of a policy nearer to it; until then trust no interval, and the model-based estimate only as "
            "far as its dynamics.",
        )
    if untried > MOST_UNTRIED:
        yield Finding(
            "actions-untried",
            "error",
            "",
            f"{untried:.0%} of the policy's episodes take an action in a state where no logged one did.",
            "Nothing tells what follows: log such episodes, or evaluate a policy that stays with what was tried.",
        )
    spread = float(weights.std(ddof=1)) / np.sqrt(n) if n > 1 else np.inf
    if untried <= MOST_UNTRIED and abs(weights.mean() - 1) > OFF * spread + 1e-9:
        yield Finding(
            "probabilities-off",
            "caution",
            "",
            f"Weights must average to 1, they average to {weights.mean():.3f} (standard error {spread:.3f}).",
            "Check that the logged probabilities are those with which the actions were drawn.",
        )
    if undecoded > 0:
        yield Finding(
            "undecoded",
            "caution" if undecoded > MOST_UNTRIED else "info",
            "",
            f"{undecoded:.1%} of the weight lies on ends that the model cannot decode; intervals allow anything there.",
            "Fit the model to more episodes that end so.",
        )
    if estimated:
        yield Finding(
            "probabilities-estimated",
            "caution",
            "",
            "Some steps do not tell the probability of their action; the frequency in the logs stands in for it.",
            "Log the probability of each action.",
        )

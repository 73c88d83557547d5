"""What a policy is worth in place of the logged one: values with their intervals, and what speaks against them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.agent import Agent
from tacit.base.arrays import FloatArray
from tacit.base.files import write_atomically
from tacit.offline.estimators import effective_size
from tacit.trust.findings import Finding, raised, verdict

LOGGED, UNIFORM = "logged", "uniform"
LEVEL = 0.95
LEAST_EFFECTIVE = 100
"""Effective episodes below which no interval can be trusted."""
THIN_OVERLAP = 0.1
"""Share of the episodes below which their effective number deserves a caution."""
MOST_UNTRIED = 0.01
"""How much of a policy may go where no log has been before its value is unknown."""
OFF = 4.0
"""Standard errors by which mean weights may differ from 1 before logged probabilities are doubted."""

StateTable = Mapping[str, Mapping[str, float]]
"""The chances of each action, by state."""
PolicyTable = StateTable | Mapping[str, Mapping[str, StateTable]]
"""One table for all contexts, or `contexts` with one for each."""
PolicyChoice = str | os.PathLike[str] | PolicyTable | Agent
"""A policy to evaluate: "logged", "uniform", a table, a file of one, an agent, or a file of one."""


@dataclass(frozen=True)
class PolicyValue:
    """A value with its 95 % interval; `decoder_error` is the part of its standard error that the decoder has."""

    value: float
    low: float
    high: float
    error: float
    decoder_error: float


@dataclass(frozen=True)
class Evaluation:
    """What a policy is worth, by several estimators, and how far they can be trusted.

    `estimates` are under the meaning of feedback, `lower_bounds` under the decoded reward; None is what cannot be
    computed. `effective` is how many episodes of the policy itself the logs are worth.
    """

    policy: str
    episodes: int
    effective: float
    undecoded: float
    estimates: Mapping[str, PolicyValue | None]
    lower_bounds: Mapping[str, PolicyValue | None]
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """Return "works", "works with caution", "not known yet" or "cannot work"."""
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
            "estimates": {name: each and vars(each) for name, each in self.estimates.items()},
            "lower_bounds": {name: each and vars(each) for name, each in self.lower_bounds.items()},
            "warnings": list(self.warnings),
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the numbers to a file in JSON; raise ValueError if there is one that JSON does not have."""
        try:
            text = json.dumps(self.to_json(), indent=2, allow_nan=False)
        except ValueError:
            raise ValueError(
                f"an evaluation is written in finite numbers, got some that are not: {self.to_json()['estimates']}; "
                "look at the logged probabilities"
            ) from None
        write_atomically(path, text.encode() + b"\n")


def finite_value(
    value: float, low: float, high: float, error: float, decoder_error: float
) -> PolicyValue | None:
    """Return a value with its interval, None if either is not finite: then it is not known."""
    numbers = (value, low, high, error, decoder_error)
    return PolicyValue(*numbers) if all(map(math.isfinite, numbers)) else None


def find_not_estimated(estimates: Mapping[str, PolicyValue | None], weights: FloatArray) -> Iterator[Finding]:
    """Yield an error if some estimate of a policy, whose episodes weigh `weights` (n,), cannot be computed."""
    missing = [name for name, value in estimates.items() if value is None]
    if not missing:
        return
    if len(weights) < 2:
        why = "there is one episode"
    elif not weights.any():
        why = "no logged episode is one that the policy could have had"
    else:
        why = f"an episode weighs {weights.max():.2g} times itself, and with it nothing else counts"
    yield Finding(
        "not-estimable",
        "error",
        "",
        f"{' and '.join(missing)} cannot be computed: {why}.",
        "Log more episodes of a policy nearer to the one evaluated.",
    )


def name_policy(policy: PolicyChoice) -> str:
    """Return the words for a policy."""
    if isinstance(policy, str | os.PathLike):
        return os.fspath(policy)
    return "table" if isinstance(policy, Mapping) else "agent"


def find_doubts(weights: FloatArray, untried: float, undecoded: float, estimated: bool) -> Iterator[Finding]:
    """Yield what speaks against trusting intervals: weights (n,), and the shares of what is untried or undecoded."""
    n, size = len(weights), effective_size(weights)
    if size < max(LEAST_EFFECTIVE, THIN_OVERLAP * n):
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
            f"{min(untried, 1):.0%} of the policy's episodes take an action in a state where no logged one did.",
            "Nothing tells what follows: log such episodes, or evaluate a policy that stays with what was tried.",
        )
    spread = float(weights.std(ddof=1)) / np.sqrt(n) if n > 1 else np.inf
    if untried <= MOST_UNTRIED and abs(weights.mean() - 1) > OFF * spread + 1e-9:
        yield Finding(
            "probabilities-off",
            "caution",
            "",
            f"Weights must average to 1, they average to {_plain(float(weights.mean()))} (standard error "
            f"{_plain(spread)}).",
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


def _plain(number: float) -> str:
    return f"{number:.3f}" if number < 1e6 else f"{number:.2g}"

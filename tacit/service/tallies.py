"""Counts that cost a request next to nothing: plain numbers, made into Prometheus' families when they are read."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
CONFIDENCES = (0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


class Buckets:
    """How many values were at most how large, and their sum.

    >>> times = Buckets((0.1, 1.0))
    >>> for value in (0.1, 0.5, 7.0):
    ...     times.add(value)
    >>> times.shown(), times.total
    ([('0.1', 1), ('1.0', 2), ('+Inf', 3)], 7.6)
    """

    __slots__ = ("counts", "limits", "total")

    def __init__(self, limits: Sequence[float]) -> None:
        self.limits = limits
        self.counts = [0] * (len(limits) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.limits, value)] += 1
        self.total += value

    def shown(self) -> list[tuple[str, float]]:
        """Return by the name of each limit how many values were at most as large."""
        names = [*map(str, self.limits), "+Inf"]
        return list(zip(names, accumulate(self.counts), strict=True))


class AgentTally:
    """What was decided and heard of one agent."""

    def __init__(self) -> None:
        self.decisions = 0
        self.surprise = 0.0
        """Minus the logarithms of the chances of what was chosen, summed up."""
        self.endings: Counter[str] = Counter()
        self.confidence = Buckets(CONFIDENCES)

    def decide(self, probability: float) -> None:
        """Count an action that was chosen with a chance."""
        self.decisions += 1
        self.surprise -= math.log(probability)


def agent_families(tallies: Mapping[str, AgentTally]) -> Iterator[Metric]:
    """Yield what is told of agents, by their names."""
    decisions = CounterMetricFamily("tacit_decisions", "Actions that were chosen.", labels=["agent"])
    endings = CounterMetricFamily("tacit_feedback", "Episodes that ended, by how.", labels=["agent", "kind"])
    confidence = HistogramMetricFamily(
        "tacit_decoder_confidence", "How sure decoded rewards are.", labels=["agent"]
    )
    entropy = SummaryMetricFamily(
        "tacit_policy_entropy_nats",
        "Minus the logarithm of the chance of what was chosen: its mean, sum by count, is the policy's entropy.",
        labels=["agent"],
    )
    for agent, tally in tallies.items():
        decisions.add_metric([agent], tally.decisions)
        entropy.add_metric([agent], tally.decisions, tally.surprise)
        for kind, n in tally.endings.items():
            endings.add_metric([agent, kind], n)
        confidence.add_metric([agent], tally.confidence.shown(), tally.confidence.total)
    return iter((decisions, endings, confidence, entropy))


def request_families(
    seconds: Mapping[tuple[str, str], Buckets], refusals: Mapping[int, int]
) -> Iterator[Metric]:
    """Yield what is told of requests: by method and route how long they took, by status how many were refused."""
    times = HistogramMetricFamily("tacit_request_seconds", "Time to an answer.", labels=["method", "route"])
    for names, taken in seconds.items():
        times.add_metric(list(names), taken.shown(), taken.total)
    refused = CounterMetricFamily("tacit_refusals", "Requests that were refused.", labels=["status"])
    for status, n in refusals.items():
        refused.add_metric([str(status)], n)
    return iter((times, refused))

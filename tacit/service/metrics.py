"""What /metrics tells, in Prometheus' text: what was decided and heard, how long answers take, how agents are.

Labels are names of agents, routes, statuses and codes of findings: all of them few. What an agent is found to be is
worked out at most twice a minute, however often somebody asks.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter as Tally
from collections.abc import Callable, Iterable
from time import monotonic

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tacit.service.accounts import ABANDON, ACT, END, ENDED, EXPIRE, STEP, Ended
from tacit.service.host import Host
from tacit.service.house import House
from tacit.service.journal import JournalEvent
from tacit.service.staleness import staleness_of
from tacit.service.tallies import SECONDS, AgentTally, Buckets, agent_families, request_families

COUNTED = frozenset((ACT, END, EXPIRE, ABANDON))
"""Kinds of events that are counted."""
CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
FINDINGS_FOR = 30.0
"""Seconds for which findings are told before they are looked for again."""
KINDS = ("given", "silent", "unanswered", "abandoned")
"""How an episode ends: something was said; nothing was, by report; nothing was heard of it; it broke off."""


class Metrics:
    """Counts of one service; `observe` takes events of the journal, `timing` gives what answers are timed by."""

    def __init__(self, house: House, clock: Callable[[], float] = monotonic) -> None:
        self._house, self._clock = house, clock
        self._registry = CollectorRegistry()
        self._registry.register(_Told(self))
        self._agents: dict[str, AgentTally] = {}
        self._seconds: dict[tuple[str, str], Buckets] = {}
        self._refusals: Tally[int] = Tally()
        self._found: dict[int, tuple[float, Tally[tuple[str, str]]]] = {}
        self._fitted: dict[int, tuple[int, float]] = {}
        self._looking = asyncio.Lock()

    def timing(self, method: str, route: str) -> Buckets:
        """Return where the seconds of a route's answers are counted."""
        return self._seconds.setdefault((method, route), Buckets(SECONDS))

    def refuse(self, status: int) -> None:
        """Count a refusal."""
        self._refusals[status] += 1

    def observe(self, host: Host, event: JournalEvent) -> None:
        """Count what an event of the journal says."""
        if event.kind not in COUNTED:
            return
        tally = self._agents.get(host.row.name)
        if tally is None:
            tally = self._agents[host.row.name] = AgentTally()
        if event.kind == ACT:
            step = event.said if event.said is not None else STEP.decode(event.body)
            if not step.taken and step.probability:
                tally.decide(step.probability)
            return
        ended = event.said if event.said is not None else ENDED.decode(event.body)
        tally.endings[_kind(event.kind, ended)] += 1
        if ended.decoded is not None:
            tally.confidence.add(ended.decoded.confidence)
        self._see_fits(host)

    async def write(self) -> bytes:
        """Return everything as text."""
        async with self._looking:
            await self._find()
        self._forget()
        return generate_latest(self._registry)

    async def _find(self) -> None:
        """Look for findings of agents that were not looked at lately."""
        now = self._clock()
        for host in list(self._house.hosts.values()):
            self._see_fits(host)
            at, _ = self._found.get(host.row.number, (-math.inf, None))
            if now - at >= FINDINGS_FOR:
                diagnosis = await asyncio.to_thread(host.agent.diagnose, tuple(host.anchors))
                tally = Tally((str(each.code), str(each.severity)) for each in diagnosis.findings)
                self._found[host.row.number] = (now, tally)

    def _see_fits(self, host: Host) -> None:
        """Remember when an agent's last fit was first seen."""
        stale, known = staleness_of(host.agent.stage, host.fits), self._fitted.get(host.row.number)
        if stale is not None and (known is None or known[0] != stale.fits):
            self._fitted[host.row.number] = (stale.fits, self._clock())

    def _forget(self) -> None:
        """Tell no more of agents that were deleted."""
        live = {host.row.number for host in self._house.hosts.values()}
        for kept in (self._found, self._fitted):
            for number in set(kept) - live:
                del kept[number]
        for name in set(self._agents) - set(self._house.hosts):
            del self._agents[name]

    def families(self) -> Iterable[Metric]:
        """Yield everything that is told."""
        timed = {route: taken for route, taken in self._seconds.items() if any(taken.counts)}
        yield from (*agent_families(self._agents), *request_families(timed, self._refusals), *self._gauges())

    def _gauges(self) -> Iterable[Metric]:
        """Yield what is so now."""
        house, hosts = self._house, list(self._house.hosts.values())
        yield GaugeMetricFamily("tacit_events_waiting", "Events that are not on disk yet.", house.waiting)
        yield GaugeMetricFamily("tacit_agents", "Agents.", len(hosts))
        yield GaugeMetricFamily("tacit_ready", "1 if requests are answered.", int(house.failure is None))
        opened = GaugeMetricFamily("tacit_open_episodes", "Episodes that are open.", labels=["agent"])
        behind = GaugeMetricFamily(
            "tacit_snapshot_behind_positions",
            "Positions of the journal since the snapshot.",
            labels=["agent"],
        )
        age = GaugeMetricFamily(
            "tacit_snapshot_age_seconds", "Seconds since this process made a snapshot.", labels=["agent"]
        )
        for host in hosts:
            opened.add_metric([host.row.name], len(host.accounts))
            positions, seconds = house.snapshot_age(host)
            behind.add_metric([host.row.name], positions)
            if seconds is not None:
                age.add_metric([host.row.name], seconds)
        yield from (opened, behind, age, *self._fits(hosts), self._findings(hosts))

    def _fits(self, hosts: list[Host]) -> Iterable[Metric]:
        seconds = GaugeMetricFamily(
            "tacit_fit_age_seconds", "Seconds since the last fit was adopted, or seen.", labels=["agent"]
        )
        tuples = GaugeMetricFamily(
            "tacit_fit_behind_tuples", "Tuples that the last fit did not see.", labels=["agent"]
        )
        for host in hosts:
            stale, known = staleness_of(host.agent.stage, host.fits), self._fitted.get(host.row.number)
            if stale is None or known is None:
                continue
            seconds.add_metric([host.row.name], self._clock() - known[1])
            tuples.add_metric([host.row.name], stale.behind)
        return seconds, tuples

    def _findings(self, hosts: list[Host]) -> Metric:
        found = GaugeMetricFamily(
            "tacit_findings", "What diagnoses found.", labels=["agent", "code", "severity"]
        )
        for host in hosts:
            for (code, severity), n in self._found.get(host.row.number, (0.0, Tally()))[1].items():
                found.add_metric([host.row.name, code, severity], n)
        return found


class _Told(Collector):
    """What is asked for when somebody reads the metrics."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics.families()

    def describe(self) -> Iterable[Metric]:
        return ()


def _kind(kind: str, ended: Ended) -> str:
    if kind == END:
        return "given" if ended.feedback is not None else "silent"
    return "unanswered" if kind == EXPIRE else "abandoned"

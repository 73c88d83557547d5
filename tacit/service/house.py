"""All agents of a service: made, deleted, found by name; kept on disk, rebuilt when a disk failed, snapshotted."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from tacit.service.accounts import Account, exported_line
from tacit.service.bodies import AgentStatus, Earning, FindingBody
from tacit.service.commits import GroupCommit
from tacit.service.descriptions import Description, check_same
from tacit.service.errors import RefusedError, invalid, not_found, unready
from tacit.service.host import Answer, Host
from tacit.service.journal import JournalEvent, JournalStore, Snapshot, StoreError
from tacit.service.limits import Limits
from tacit.service.logbook import LOG, note
from tacit.service.named_models import check_models
from tacit.service.progress import tell_progress
from tacit.service.rehearsing import rehearse
from tacit.service.staleness import staleness_of

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
SNAPSHOT_EVENTS = 20_000
"""Events of an agent after which another snapshot is made."""
TEND_EVERY = 1.0
"""Seconds between looks for episodes that feedback is late for, and for snapshots that are due."""
MOST_WAITING = 5_000
"""Events that may wait for the disk before more are refused."""
RETRY_AFTER = 1
"""Seconds after which a client should try again."""

Replied = Answer | RefusedError
"""How a request ended that was done at once."""


class House:
    """The agents of a service, in one event loop. `start` reads the journal, `stop` leaves a snapshot of each agent."""

    def __init__(
        self, store: JournalStore, clock: Callable[[], float] = time.time, limits: Limits | None = None
    ) -> None:
        self._store, self._clock = store, clock
        self.limits = limits if limits is not None else Limits()
        self.observers: list[Callable[[Host, JournalEvent], None]] = []
        """Who is told of every event, once it is on disk."""
        self.hosts: dict[str, Host] = {}
        self.failure: str | None = "the service is starting"
        """Why nothing can be promised now, None while all is well."""
        self.leader = ""
        """Where the service is that leads, if it is another one."""
        self.send_on: Callable[[Any, str], Awaitable[Any]] | None = None
        """Sends a request on to the leader and returns its answer."""
        self._turns: dict[int, asyncio.Lock] = {}
        self._snapshotted: dict[int, int] = {}
        self._snapshotted_at: dict[int, float] = {}
        self._making = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._commits: GroupCommit | None = None

    async def start(self) -> None:
        """Read the journal and begin to answer."""
        self._commits = GroupCommit(self._store, asyncio.get_running_loop(), self._failed)
        await self._rebuild()
        self._tasks.append(asyncio.create_task(self._tend()))

    async def stop(self) -> None:
        """Stop answering, bring everything to disk and leave a snapshot of each agent."""
        await self.leave("the service is stopping")
        self._store.close()

    async def leave(self, reason: str) -> None:
        """Let go of all agents, with a snapshot of each if all is well; `start` takes them up again."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if self.failure is None:
            for host in self.hosts.values():
                with contextlib.suppress(StoreError):
                    await self.snapshot(host)
        self.failure = reason
        if self._commits is not None:
            await self._commits.close()
        for host in self.hosts.values():
            stop_fits(host)
        self.hosts, self._tasks, self._commits = {}, [], None

    @property
    def waiting(self) -> int:
        """Return how many events are not on disk yet."""
        return 0 if self._commits is None else self._commits.waiting

    def find(self, name: str) -> Host:
        """Return the agent of that name, or raise RefusedError."""
        if self.failure is not None:
            raise unready(f"{self.failure}; try again in a moment")
        host = self.hosts.get(name)
        if host is None:
            raise not_found("agent", name, "see GET /v1/agents, or make it with PUT")
        return host

    async def put_agent(self, name: str, described: Description) -> tuple[Host, bool]:
        """Return the agent of that name and whether it is new; it must have been described the same if it is not."""
        if self.failure is not None:
            raise unready(f"{self.failure}; try again in a moment")
        if not NAME.fullmatch(name):
            raise invalid(
                f"an agent's name is of a to z, 0 to 9, '.', '_' and '-', up to 64 of them, got {name!r}",
                "name",
            )
        check_models(described, self.limits.models)
        async with self._making:
            return await self._make(name, described)

    async def _make(self, name: str, described: Description) -> tuple[Host, bool]:
        known = self.hosts.get(name)
        if known is not None:
            check_same(known.description, described)
            return known, False
        self.limits.check_agents(len(self.hosts))
        try:
            row = self._store.create_agent(name, msgspec.json.encode(described), self._clock())
        except ValueError as error:
            raise RefusedError(409, "conflict", str(error), "name") from None
        try:
            host = await asyncio.to_thread(Host, row, self._store)
        except (ValueError, ImportError) as error:
            self._store.delete_agent(row.number, self._clock())
            raise invalid(f"an agent cannot be made of the description: {error}", "layout") from None
        if self.failure is not None or name in self.hosts:  # all were rebuilt meanwhile, this one among them
            return self.find(name), True
        self.hosts[name] = host
        return host, True

    def delete_agent(self, name: str) -> None:
        """Delete an agent; its events stay in the journal, and its name is free."""
        host = self.find(name)
        self._store.delete_agent(host.row.number, self._clock())
        del self.hosts[name]
        stop_fits(host)

    async def do(self, host: Host, request: Callable[..., Answer], *told: Any) -> Answer:
        """Return the answer to a request of an agent, once what it did is on disk."""
        self._check_able(host, request, told)
        if host.reads_texts:
            answer, kept = await self._do_rehearsed(host, request, told)
        else:
            answer = self._apply(request, told)
            kept = self._put(host, answer.events)
        await self._keep(host, answer.events, kept)
        return answer

    def do_now(
        self,
        host: Host,
        request: Callable[..., Answer],
        told: tuple[Any, ...],
        then: Callable[[Replied], None],
    ) -> None:
        """Do a request of an agent that reads no texts; `then` hears the answer once on disk, or why it is not."""
        self._check_able(host, request, told)
        answer = self._apply(request, told)

        def kept(error: StoreError | None) -> None:
            if error is None:
                self._tell(host, answer.events)
            then(answer if error is None else _unkept(error))

        assert self._commits is not None
        self._commits.put(host, answer.events, kept)

    def _check_able(self, host: Host, request: Callable[..., Answer], told: tuple[Any, ...]) -> None:
        """Raise RefusedError unless what a request does can be kept, and there is room for it."""
        if self.failure is not None:
            raise unready(f"{self.failure}; try again in a moment")
        if self.waiting >= MOST_WAITING:
            raise RefusedError(429, "busy", f"{self.waiting} events wait for the disk; try again in a moment")
        self.limits.check_room(host, request, told)

    async def rehearse(self, host: Host, request: Callable[..., Any], *told: Any) -> None:
        """Do in a thread what takes long in a request with texts; afterwards the agent may be gone."""
        if host.reads_texts:
            await asyncio.to_thread(rehearse, host, request, told)
            self._check_here(host)

    async def _do_rehearsed(
        self, host: Host, request: Callable[..., Answer], told: tuple[Any, ...]
    ) -> tuple[Answer, asyncio.Future[int]]:
        """Return the answer to a request with texts, and what it waits for; they are done in the order of asking."""
        async with self._turns.setdefault(host.row.number, asyncio.Lock()):
            await self.rehearse(host, request, *told)
            answer = self._apply(request, told)
            return answer, self._put(host, answer.events)

    def _apply(self, request: Callable[..., Answer], told: tuple[Any, ...]) -> Answer:
        """Return the answer to a request; if it breaks off inside, its agent may be ahead of the journal."""
        try:
            return request(*told, self._clock())
        except RefusedError:
            raise
        except Exception as error:
            self._failed(StoreError(f"a request broke off inside, {type(error).__name__}"))
            raise

    def _check_here(self, host: Host) -> None:
        """Raise RefusedError unless the agent is still the one that is answered for."""
        if self.find(host.row.name) is not host:
            raise unready("the agent was made anew meanwhile; try again in a moment")

    def _tell(self, host: Host, events: Iterable[JournalEvent]) -> None:
        """Tell observers of events; one that fails must not keep anybody from an answer."""
        try:
            for observe in self.observers:
                for event in events:
                    observe(host, event)
        except Exception:
            LOG.log(logging.ERROR, "an observer failed", exc_info=True)

    def _put(self, host: Host, events: Sequence[JournalEvent]) -> asyncio.Future[int]:
        """Return what to wait for until events are on disk, without any until all before is: the agent's position."""
        assert self._commits is not None
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def kept(error: StoreError | None) -> None:
            if not future.done():
                future.set_result(host.position) if error is None else future.set_exception(error)

        self._commits.put(host, events, kept)
        return future

    async def _keep(self, host: Host, events: Sequence[JournalEvent], kept: asyncio.Future[int]) -> None:
        """Wait until events are on disk, and tell of them."""
        try:
            await kept
        except StoreError as error:
            raise _unkept(error) from None
        self._tell(host, events)

    async def snapshot(self, host: Host) -> None:
        """Keep the agent as it is now; decisions wait while it is copied, not while it is packed and goes to disk."""
        write = host.snapshot()
        position = await self._put(host, ())
        await asyncio.to_thread(
            lambda: self._store.save_snapshot(host.row.number, Snapshot(position, write()))
        )
        self._snapshotted[host.row.number] = position
        self._snapshotted_at[host.row.number] = self._clock()

    def snapshot_age(self, host: Host) -> tuple[int, float | None]:
        """Return how many positions and seconds an agent's snapshot is old, None if it was made by another process."""
        at = self._snapshotted_at.get(host.row.number)
        behind = host.position - self._snapshotted.get(host.row.number, 0)
        return behind, None if at is None else self._clock() - at

    def status(self, host: Host) -> AgentStatus:
        """Return how an agent is doing."""
        diagnosis, agent = host.agent.diagnose(host.anchors), host.agent
        return AgentStatus(
            name=host.row.name,
            stage=agent.stage.name,
            created=host.row.created,
            begun=agent.next_episode,
            ended=host.ended,
            open=len(host.accounts),
            progress=tell_progress(agent.stage),
            verdict=diagnosis.verdict,
            basis=diagnosis.basis,
            findings=[
                FindingBody(each.code, each.severity, each.where, each.evidence, each.remedy)
                for each in diagnosis.findings
            ],
            earning=earning_of(host.earned[False]),
            holdout=earning_of(host.earned[True]),
            stale=staleness_of(agent.stage, host.fits),
            seed=agent.seed,
            position=host.position,
            version=version("tacit"),
        )

    async def events(self, host: Host, after: int, limit: int) -> list[JournalEvent]:
        """Return the next events of an agent in the journal; others are answered meanwhile."""
        return await asyncio.to_thread(lambda: list(self._store.read(host.row.number, after, limit)))

    async def export(self, host: Host) -> AsyncIterator[bytes]:
        """Yield the episodes that have ended as lines of the log format, in the order in which they ended."""
        accounts: dict[str, Account] = {}
        after = 0
        while True:
            events = await self.events(host, after, 1000)
            lines = b"".join(exported_line(accounts, event) for event in events)
            if lines:
                yield lines
            if len(events) < 1000:
                return
            after = events[-1].position

    async def _tend(self) -> None:
        """Close episodes that feedback is late for and make snapshots that are due, again and again."""
        while True:
            await asyncio.sleep(TEND_EVERY)
            if self.failure is not None:
                continue
            for host in list(self.hosts.values()):
                with contextlib.suppress(Exception):  # if it broke off inside, all are rebuilt
                    await self._close_late(host)
                if host.position - self._snapshotted.get(host.row.number, 0) >= SNAPSHOT_EVENTS:
                    with contextlib.suppress(StoreError):
                        await self.snapshot(host)

    async def _close_late(self, host: Host) -> None:
        """Close episodes that feedback is late for, and take up fits that are done."""
        now = self._clock()
        if host.late(now):
            await self.rehearse(host, host.expire, now)
        events = self._apply(host.tend, ()).events
        if events:
            await self._keep(host, events, self._put(host, events))

    def _failed(self, error: StoreError) -> None:
        """Stop promising: what agents know is ahead of the journal. They are rebuilt as soon as it can be read."""
        if self.failure is None:
            self.failure = (
                f"what was said last was not kept ({error}), and agents are rebuilt from the journal"
            )
            note(logging.ERROR, "journal failed", reason=str(error))
            self._tasks.append(asyncio.create_task(self._recover()))

    async def _recover(self) -> None:
        """Rebuild everything from the journal, as soon as that can be written again."""
        assert self._commits is not None
        while self._commits.waiting:
            await asyncio.sleep(0.01)
        while True:
            try:
                await asyncio.to_thread(self._store.check)
                self._commits.resume()
                await self._rebuild()
            except StoreError:
                await asyncio.sleep(RETRY_AFTER)
            else:
                return

    async def _rebuild(self) -> None:
        """Make every agent anew from its snapshot and the events since."""
        for host in self.hosts.values():
            stop_fits(host)
        self.hosts = await asyncio.to_thread(self._restore_all)
        self.failure = None
        note(logging.INFO, "agents rebuilt", agents=len(self.hosts))

    def _restore_all(self) -> dict[str, Host]:
        hosts = {}
        for row in self._store.agents():
            host = Host(row, self._store)
            host.restore(self._store.load_snapshots(row.number))
            self._snapshotted[row.number] = host.position
            hosts[row.name] = host
        return hosts


def earning_of(rewards: Collection[float]) -> Earning:
    """Return the mean of decoded rewards and its 95 % interval.

    >>> earning_of([1.0, 0.0, 1.0, 1.0])
    Earning(episodes=4, mean=0.75, low=0.26, high=1.0)
    """
    n = len(rewards)
    if n == 0:
        return Earning(0, None, None, None)
    mean = sum(rewards) / n
    spread = 1.96 * math.sqrt(sum((each - mean) ** 2 for each in rewards) / max(n - 1, 1) / n)
    return Earning(n, round(mean, 6), round(max(mean - spread, 0.0), 6), round(min(mean + spread, 1.0), 6))


def stop_fits(host: Host) -> None:
    """End the process in which an agent's fits are made, if there is one."""
    host.talk_fits.stop()
    stop = getattr(host.agent.stage, "stop", None)
    if stop is not None:
        stop()


def _unkept(error: StoreError) -> RefusedError:
    """Return the refusal of what was done and could not be written down."""
    return unready(f"nothing was kept: {error}; repeat the request")

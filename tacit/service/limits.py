"""Limits of a service: how large and how slow a body may be, how often who may ask, how much there may be at once."""

from __future__ import annotations

import asyncio
import ipaddress
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import Any

from starlette.types import Receive

from tacit.service.errors import RefusedError
from tacit.service.host import Host
from tacit.service.options import ServiceOptions

MOST_BUCKETS = 10_000
"""Buckets that are kept of a rate: a few megabytes. Whoever was not seen for longest is forgotten, and begins anew."""
BURST = 2.0
"""Seconds of a rate that may come at once: a page that asks for a few things together is not refused."""


@dataclass(frozen=True)
class Limits:
    """How large a body may be and how long it may take, how many agents there may be, open episodes
    of each, and models that they may be made with beside those that come with Tacit.
    """

    body_bytes: int = ServiceOptions.body_bytes
    body_seconds: float = ServiceOptions.body_seconds
    agents: int = ServiceOptions.agents
    open_episodes: int = ServiceOptions.open_episodes
    models: tuple[str, ...] = ServiceOptions.models

    def check_agents(self, n: int) -> None:
        """Raise RefusedError if n agents are all that there may be."""
        if n >= self.agents:
            raise RefusedError(429, "full", f"a service has at most {self.agents:,} agents; delete one first")

    def check_room(self, host: Host, request: Callable[..., Any], told: tuple[Any, ...]) -> None:
        """Raise RefusedError if a request would open an episode more than an agent may have open."""
        if len(host.accounts) < self.open_episodes or request not in (host.begin, host.decide):
            return
        if told[0].id is None or host.find(told[0].id) is None:  # one that is repeated opens none
            raise RefusedError(
                *(429, "full"),
                f"an agent has at most {self.open_episodes:,} open episodes; give feedback, or abandon some",
            )


def limits_of(options: ServiceOptions) -> Limits:
    """Return the limits that options say."""
    sizes = options.body_bytes, options.body_seconds, options.agents, options.open_episodes
    return Limits(*sizes, options.models)


async def read_limited(receive: Receive, most: int, seconds: float) -> bytes:
    """Return the body of a request, or raise RefusedError if it is too large or comes too slowly."""
    task, late = asyncio.current_task(), False

    def give_up() -> None:
        nonlocal late
        late = True
        if task is not None:
            task.cancel()

    timer = asyncio.get_running_loop().call_later(seconds, give_up)
    parts: list[bytes] = []
    try:
        await _gather(receive, most, parts)
    except asyncio.CancelledError:
        if not late or (task is not None and task.uncancel()):
            raise
        words = f"a body arrives within {seconds:g} seconds, got {sum(map(len, parts)):,} bytes of it; send it again"
        raise _unread(408, "slow", words) from None
    finally:
        timer.cancel()
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _gather(receive: Receive, most: int, parts: list[bytes]) -> None:
    """Add the parts of a body to those that are there, to the last one."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise RefusedError(400, "gone", "the client left before its body was here")
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > most:
            raise _unread(413, "too-large", f"a body has at most {most:,} bytes; send less")


def _unread(status: int, code: str, message: str) -> RefusedError:
    """Return the refusal of a body of which more may come, so that the connection is of no more use."""
    return RefusedError(status, code, message, headers={"connection": "close"})


class Rate:
    """So many requests a second of each name, a few of them at once: a bucket that fills, from which each takes one.

    >>> now = [0.0]
    >>> rate = Rate(2.0, clock=lambda: now[0])
    >>> [rate.take("a") for _ in range(5)], rate.take("b")
    ([0.0, 0.0, 0.0, 0.0, 0.5], 0.0)
    >>> now[0] = 0.5
    >>> rate.take("a")
    0.0
    """

    def __init__(
        self, per_second: float, most: int = MOST_BUCKETS, clock: Callable[[], float] = monotonic
    ) -> None:
        self.per_second, self._most, self._clock = per_second, most, clock
        self._size = max(per_second * BURST, 1.0)
        self._buckets: OrderedDict[str, list[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, name: str) -> float:
        """Return 0 if a name may ask once more, or after how many seconds it may."""
        if not self.per_second:
            return 0.0
        now, bucket = self._clock(), self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = [self._size, now]
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(name)
        left = min(self._size, bucket[0] + (now - bucket[1]) * self.per_second)
        allowed = left >= 1
        bucket[0], bucket[1] = left - 1 if allowed else left, now
        return 0.0 if allowed else (1 - left) / self.per_second

    def check(self, name: str, whose: str) -> None:
        """Raise RefusedError if a name asks too often."""
        wait = self.take(name)
        if wait:
            raise RefusedError(
                *(429, "too-often", f"{whose} may ask {self.per_second:g} times a second; wait a little"),
                headers={"retry-after": str(math.ceil(wait))},
            )


def address_of(scope: Mapping[str, Any]) -> str:
    """Return by what a client is counted: its address; of IPv6 the network, for a client has all that is in it."""
    client = scope.get("client")
    return "unknown" if client is None else _counted(client[0])


@lru_cache(1024)
def _counted(host: str) -> str:
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    return str(address.ipv4_mapped or ipaddress.ip_network((int(address) >> 64 << 64, 64)))


@lru_cache(1024)
def is_loopback(host: str) -> bool:
    """Return whether an address is the machine's own.

    >>> [is_loopback(each) for each in ("127.0.0.1", "::1", "localhost", "10.0.0.1", "0.0.0.0", "shop.example")]
    [True, True, True, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback

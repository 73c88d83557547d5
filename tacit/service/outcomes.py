"""What became of a commit whose answer never came: PostgreSQL is asked, and nothing is repeated.

A connection that is lost during COMMIT leaves open whether it was carried out. Every group of events has a number of
its own, written with the first of them, so the journal tells, once the transaction is certain to be over: it holds the
locks of its agents until then. Numbers of transactions would not do, for a crash may give one out again.

Until the outcome is known nothing else is read or written here: what comes later must stand on what is really there.
"""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import closing
from typing import NamedTuple
from uuid import UUID

from tacit.service.connecting import Address
from tacit.service.journal import StoreError

APPENDING = 0x7AC19
"""The first half of the lock that whoever appends to an agent holds."""
PATIENCE = 5.0
"""Seconds in which a server that was lost during a commit may come back before that is reported as not known."""
PAUSE = 0.1
"""Seconds between two questions."""
END_ABANDONED = f"""
SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = {APPENDING} AND objid::bigint = %s AND granted
  AND state LIKE 'idle in transaction%%' AND state_change < now() - interval '1 second'
"""
"""A session whose COMMIT was lost on its way would wait for it: it is ended, and its transaction undone."""


class Group(NamedTuple):
    """Events that are appended at once: their `number`, and the `key` of the lock of one of their agents."""

    number: UUID
    key: int


def new_group(agent: int) -> Group:
    """Return a group of its own; numbers grow with time, so that an index of them grows at its end.

    >>> new_group(3).key, new_group(3).number < new_group(3).number
    (3, True)
    """
    return Group(UUID(int=time.time_ns() << 64 | secrets.randbits(64)), lock_key(agent))


def lock_key(agent: int) -> int:
    """Return the second half of an agent's lock, which takes 31 bits; agents that share one wait for each other."""
    return agent % 0x7FFFFFFF


class Outcomes:
    """Finds out whether groups were committed, and remembers those of which that is not known."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._unknown: set[Group] = set()

    def was_committed(self, group: Group) -> bool:
        """Return whether a group was committed; StoreError if the server does not say so in time."""
        self.doubt(group)
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self._ask(group)
            except StoreError as error:
                if time.monotonic() > until:
                    raise StoreError(
                        "PostgreSQL was lost during a commit, and whether it was carried out is not known; nothing "
                        f"else is read or written until it says so. Read the journal again then. {error}"
                    ) from error
            time.sleep(PAUSE)

    def doubt(self, group: Group) -> None:
        """Remember that the outcome of a group is not known."""
        with self._lock:
            self._unknown.add(group)

    def settle(self) -> None:
        """Raise StoreError unless the outcome of every group is known."""
        if not self._unknown:
            return
        with self._lock:
            unknown = list(self._unknown)
        for group in unknown:
            try:
                self._ask(group)
            except StoreError as error:
                raise StoreError(
                    f"PostgreSQL does not say yet whether an earlier commit was carried out. {error}"
                ) from error

    def _ask(self, group: Group) -> bool:
        """Return whether a group was committed; StoreError while nobody knows."""
        with closing(self._address.connect()) as connection, self._address.told(), connection.transaction():
            connection.execute(END_ABANDONED, [group.key])
            connection.execute("SET LOCAL lock_timeout = '1s'")
            connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", [APPENDING, group.key])
            found = connection.execute("SELECT 1 FROM events WHERE batch = %s", [group.number]).fetchone()
        with self._lock:
            self._unknown.discard(group)
        return found is not None

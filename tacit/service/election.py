"""Who of several services leads: the one whose connection holds a lock of PostgreSQL's, until it dies or stops.

The lock alone is not enough: a leader whose connection was cut, and does not know it yet, could still append by
another. So whoever takes the lead begins a new term, and an append of an earlier term is refused by the database.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from tacit.service.connecting import Address, is_good
from tacit.service.journal import StoreError

if TYPE_CHECKING:
    from psycopg import Connection

LEADING, TERMS = 0x7AC17, 0x7AC18
"""The first halves of two advisory locks. The second is the schema, so that several may share a database."""
SCHEMA = "hashtext(current_schema())"
TAKE = f"SELECT pg_try_advisory_lock({LEADING}, {SCHEMA})"
BEGIN_TERM = f"SELECT pg_advisory_xact_lock({TERMS}, {SCHEMA})"
"""Waits for appends that are under way, which share this lock."""
NEXT_TERM = "UPDATE terms SET term = term + 1, address = %s RETURNING term"


class Election:
    """One service's part in choosing a leader."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._takes_part = False
        self._term: int | None = None

    def try_lead(self, address: str = "") -> bool:
        """Return whether this service leads, now or already; StoreError if the server cannot be reached.

        `address` is where others find it.
        """
        with self._lock:
            self._takes_part = True
            if self.leads():
                return True
            if self._connection is None:
                self._connection = self._address.connect()
            try:
                with self._address.told():
                    self._term = self._begin_term(self._connection, address)
            except StoreError:
                self.stop_leading()
                raise
            return self._term is not None

    def leads(self) -> bool:
        """Return whether this service leads: whether the connection that holds the lock is alive."""
        with self._lock:
            if self._connection is None or self._term is None:
                self._drop_dead()
                return False
            try:
                with self._address.told():
                    self._connection.execute("SELECT 1")
            except StoreError:
                self.stop_leading()
            return self._term is not None

    def stop_leading(self) -> None:
        """Let another lead; if this service does not, nothing happens."""
        with self._lock:
            connection, self._connection, self._term = self._connection, None, None
            if connection is not None:
                with suppress(Exception):  # it may be dead, which lets go of the lock as well
                    connection.execute("SELECT pg_advisory_unlock_all()")
                connection.close()

    def term(self) -> int | None:
        """Return the term in which this service leads; None if it stands in no election; StoreError if it lost."""
        term = self._term
        if term is None and self._takes_part:
            raise StoreError(
                "only the service that leads may append, and this one does not; ask the one that does"
            )
        return term

    def _begin_term(self, connection: Connection, address: str) -> int | None:
        """Return the new term; None if another leads."""
        taken = connection.execute(TAKE).fetchone()
        if not taken or not taken[0]:
            return None
        with connection.transaction():
            connection.execute(BEGIN_TERM)
            row = connection.execute(NEXT_TERM, [address]).fetchone()
        assert row is not None
        return int(row[0])

    def _drop_dead(self) -> None:
        if self._connection is not None and not is_good(self._connection):
            self.stop_leading()

"""Connections to PostgreSQL: how they are opened, when they are still good, and what is said if they are not."""

from __future__ import annotations

import selectors
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tacit.service.faults import explain_postgres
from tacit.service.journal import StoreError

if TYPE_CHECKING:
    from psycopg import Connection

OLDEST = 130000
"""PostgreSQL 13: of those before it none is maintained any more."""
DEFAULTS: dict[str, Any] = {
    "application_name": "tacit",
    "connect_timeout": 5,
    "target_session_attrs": "read-write",
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""What an address may say otherwise. A server that vanished without a word is noticed after about ten seconds."""
SETTINGS = """
SELECT set_config('lock_timeout', '10s', false);
SELECT set_config('idle_in_transaction_session_timeout', '10s', false);
SELECT set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '2', false),
       set_config('tcp_keepalives_count', '3', false);
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""
"""A commit is on disk when it returns; no lock is waited for without end, or held for a service that vanished."""


def require_driver() -> None:
    """Raise StoreError unless the package that speaks to PostgreSQL is installed."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise StoreError(
            "a journal in PostgreSQL needs the package psycopg, and it is not installed; pip install 'tacit[serve]'"
        ) from None


class Address:
    """Where a database is: what `url` says, a URL or PostgreSQL's key=value form. No message shows its password."""

    def __init__(self, url: str) -> None:
        require_driver()
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict

        try:
            self._given = {**DEFAULTS, **conninfo_to_dict(url)}
        except ProgrammingError:
            raise StoreError(
                "the address of a PostgreSQL must be like postgresql://user:password@host:5432/database, and the one "
                "given is not; correct it"
            ) from None

    def __str__(self) -> str:
        database = self._given.get("dbname") or self._given.get("user") or "its default database"
        return f"{database} on {self._given.get('host') or 'this machine'}"

    def connect(self) -> Connection:
        """Return a new connection, in which every statement is a transaction unless one was begun."""
        import psycopg

        with self.told(connected=False):
            connection = psycopg.connect(**self._given, autocommit=True)
        with self.told():
            connection.execute(SETTINGS)
        if connection.info.server_version < OLDEST:
            version = connection.info.server_version // 10000
            connection.close()
            raise StoreError(f"PostgreSQL must be 13 or later, and {self} is {version}; use a later one")
        return connection

    @contextmanager
    def told(self, connected: bool = True) -> Iterator[None]:
        """Say what happened, and what to do, in place of PostgreSQL's own errors."""
        import psycopg

        try:
            yield
        except (psycopg.Error, UnicodeError) as error:
            lost = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
            raise StoreError(explain_postgres(error, str(self), connected and not lost)) from error


def is_good(connection: Connection) -> bool:
    """Return whether nothing is under way in a connection, and its server has not hung up.

    What a server says unasked is mostly that: something to read means that the connection is not to be used again.
    """
    from psycopg.pq import TransactionStatus

    if connection.closed or connection.info.transaction_status != TransactionStatus.IDLE:
        return False
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        return not selector.select(0)

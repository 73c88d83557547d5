"""A store in one SQLite file: for a service on one machine, with nothing else to run.

One connection writes, behind a lock; readers borrow others and see the last commit, for the journal of SQLite is a
write-ahead log. A commit is on disk when it returns (synchronous=FULL). Pages are read one by one, no transaction stays
open between them, so a slow reader does not keep the log from being folded back into the file.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tacit.service.faults import explain_sqlite, name_is_taken
from tacit.service.journal import AgentRow, JournalEvent, Snapshot, StoreError
from tacit.service.migrating import BOOKKEEPING, Migration, migrate
from tacit.service.paging import iterate_pages
from tacit.service.pool import Pool
from tacit.service.sole_use import SoleUse

PATIENCE = 5.0
"""Seconds to wait for a lock that another program holds, such as one that copies the file."""

MOST_ROWS = 64
"""Of one statement that inserts events."""
INSERTIONS = [
    f"INSERT INTO events (agent, episode, kind, body, at) VALUES {', '.join(['(?, ?, ?, ?, ?)'] * rows)}"
    for rows in range(1, MOST_ROWS + 1)
]
"""By the number of rows, less one."""
PREPARED = 2 * MOST_ROWS
"""Statements that a connection keeps ready: all of these, and the others."""

LIVE = "EXISTS (SELECT 1 FROM agents WHERE number = :agent AND deleted IS NULL)"
EVENT = "SELECT agent, episode, kind, body, at, position FROM events"


class SqliteStore:
    """What keeps agents, their events and snapshots in the file `path`; one store at a time may have it open.

    >>> import tempfile
    >>> from contextlib import closing
    >>> with tempfile.TemporaryDirectory() as folder, closing(SqliteStore(f"{folder}/tacit.db")) as store:
    ...     shop = store.create_agent("shop", b"{}", at=0.0).number
    ...     store.append([JournalEvent(shop, "e1", "begin", b"{}", 1.0), JournalEvent(shop, "e1", "end", b"{}", 2.0)])
    ...     [(event.position, event.kind) for event in store.read(shop)]
    [1, 2]
    [(1, 'begin'), (2, 'end')]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._sole_use = SoleUse(self.path.with_name(self.path.name + ".lock"))
        self._writing = threading.Lock()
        self._readers = Pool(self._open_reader, sqlite3.Connection.close)
        self._writer: sqlite3.Connection | None = None
        try:
            with self._told():
                self._writer = self._open_writer()
                self._migrate(self._writer)
        except BaseException:
            self.close()
            raise

    @property
    def at_hand(self) -> bool:
        """Return whether nothing else is written just now."""
        return not self._writing.locked()

    def create_agent(self, name: str, description: bytes, at: float) -> AgentRow:
        """Return the new agent; its name must be that of no other that was not deleted, or ValueError is raised."""
        with self._write() as writer:
            if writer.execute("SELECT 1 FROM agents WHERE name = ? AND deleted IS NULL", [name]).fetchone():
                raise name_is_taken(name)
            row = "INSERT INTO agents (name, description, created) VALUES (?, ?, ?) RETURNING number"
            (number,) = writer.execute(row, [name, description, at]).fetchone()
        return AgentRow(number, name, description, at)

    def delete_agent(self, number: int, at: float) -> None:
        """Delete an agent: its name is free, and its events and snapshots are no longer listed."""
        with self._write() as writer:
            writer.execute("UPDATE agents SET deleted = ? WHERE number = ? AND deleted IS NULL", [at, number])

    def agents(self) -> list[AgentRow]:
        """Return the agents that were not deleted, by name."""
        query = "SELECT number, name, description, created FROM agents WHERE deleted IS NULL ORDER BY name"
        with self._read() as reader:
            return [AgentRow(*row) for row in reader.execute(query)]

    def append(self, events: Sequence[JournalEvent]) -> list[int]:
        """Return the positions of the events, once all of them are on disk; if it raises, none is."""
        if not events:
            return []
        last = 0
        with self._write(alone=len(events) <= MOST_ROWS) as writer:
            for statement, values in _insertions(events):
                last = writer.execute(statement, values).lastrowid or 0
        return list(range(last - len(events) + 1, last + 1))

    def read(self, agent: int, after: int = 0, limit: int | None = None) -> Iterator[JournalEvent]:
        """Yield events of an agent in order, from the first whose position is greater."""
        query = f"{EVENT} WHERE agent = :agent AND position > :after AND {LIVE} ORDER BY position LIMIT :most"

        def fetch(after: int, most: int) -> list[tuple[Any, ...]]:
            with self._read() as reader:
                return reader.execute(query, {"agent": agent, "after": after, "most": most}).fetchall()

        return iterate_pages(fetch, after, limit)

    def read_episode(self, agent: int, episode: str) -> list[JournalEvent]:
        """Return the events of an episode in order; none if there is no such episode."""
        query = f"{EVENT} WHERE agent = :agent AND episode = :episode AND {LIVE} ORDER BY position"
        with self._read() as reader:
            return [JournalEvent(*row) for row in reader.execute(query, {"agent": agent, "episode": episode})]

    def last_position(self, agent: int) -> int:
        """Return the position of the last event of an agent, 0 if it has none."""
        query = f"SELECT coalesce(max(position), 0) FROM events WHERE agent = :agent AND {LIVE}"
        with self._read() as reader:
            (last,) = reader.execute(query, {"agent": agent}).fetchone()
        return int(last)

    def save_snapshot(self, agent: int, snapshot: Snapshot) -> None:
        """Keep a snapshot, and of those before it the latest alone."""
        given = {"agent": agent, "position": snapshot.position, "data": snapshot.data}
        with self._write() as writer:
            writer.execute("INSERT OR REPLACE INTO snapshots VALUES (:agent, :position, :data)", given)
            before = "SELECT max(position) FROM snapshots WHERE agent = :agent AND position < :position"
            writer.execute(f"DELETE FROM snapshots WHERE agent = :agent AND position < ({before})", given)

    def load_snapshots(self, agent: int) -> list[Snapshot]:
        """Return the snapshots that are kept, the latest first."""
        query = f"SELECT position, data FROM snapshots WHERE agent = :agent AND {LIVE} ORDER BY position DESC"
        with self._read() as reader:
            return [Snapshot(*row) for row in reader.execute(query, {"agent": agent})]

    def check(self) -> None:
        """Raise StoreError unless the store can be read and written now."""
        with self._write() as writer:
            writer.execute("INSERT OR REPLACE INTO pulse VALUES (1, unixepoch())")
        with self._read() as reader:
            reader.execute("SELECT number FROM agents LIMIT 1").fetchone()

    def close(self) -> None:
        """Let go of the database; closing twice is no error."""
        self._readers.close()
        with self._writing:
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.close()  # folds the log back, and so comes last
        self._sole_use.end()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=PREPARED,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def _open_writer(self) -> sqlite3.Connection:
        writer = self._open()
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA synchronous = FULL")
        return writer

    def _open_reader(self) -> sqlite3.Connection:
        reader = self._open()
        reader.execute("PRAGMA query_only = ON")
        return reader

    def _migrate(self, writer: sqlite3.Connection) -> None:
        def apply(migration: Migration) -> None:
            noted = f"INSERT INTO migrations VALUES ({migration.number}, '{migration.name}', datetime('now'))"
            try:
                writer.executescript(f"BEGIN IMMEDIATE;\n{migration.sql};\n{noted};\nCOMMIT;")
            finally:
                _roll_back(writer)

        writer.execute(BOOKKEEPING)
        migrate("sqlite", [number for (number,) in writer.execute("SELECT number FROM migrations")], apply)

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._told(), self._readers.lend() as reader:
            yield reader

    @contextmanager
    def _write(self, alone: bool = False) -> Iterator[sqlite3.Connection]:
        """Give the writer for one transaction, which is committed at the end, or undone if anything was raised.

        A statement that stands `alone` is a transaction of its own: it waits for the disk once, and for Python once.
        """
        with self._told(), self._writing:
            if self._writer is None:
                raise StoreError("the store must be open, and it was closed; open it again")
            if alone:
                yield self._writer
                return
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                _roll_back(self._writer)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what happened, and what to do, in place of SQLite's own errors."""
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError) as error:
            raise StoreError(explain_sqlite(error, self.path)) from error


def _insertions(events: Sequence[JournalEvent]) -> Iterator[tuple[str, list[object]]]:
    """Yield statements that insert events, many rows each: after every statement other threads have their turn."""
    for at in range(0, len(events), MOST_ROWS):
        part = events[at : at + MOST_ROWS]
        yield INSERTIONS[len(part) - 1], [value for event in part for value in event[:5]]


def _roll_back(connection: sqlite3.Connection) -> None:
    """Undo what is under way, if anything is."""
    if connection.in_transaction:
        with suppress(sqlite3.Error):  # SQLite has undone it itself
            connection.execute("ROLLBACK")

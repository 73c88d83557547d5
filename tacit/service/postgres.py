"""A store in PostgreSQL: for several services, of which one leads and the others stand by.

Positions of an agent's events are in the order of their commits: whoever appends holds the agent's lock from before the
positions are drawn until the commit. A server that goes away and comes back costs the calls that were made meanwhile;
an append is never repeated, and if its answer was lost the server is asked what became of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.service.connecting import Address, is_good
from tacit.service.election import SCHEMA, TERMS, Election
from tacit.service.faults import name_is_taken
from tacit.service.journal import AgentRow, JournalEvent, Snapshot, StoreError
from tacit.service.migrating import BOOKKEEPING, Migration, migrate
from tacit.service.outcomes import APPENDING, Group, Outcomes, lock_key, new_group
from tacit.service.paging import iterate_pages
from tacit.service.pool import Pool

if TYPE_CHECKING:
    from psycopg import Connection

LIVE = "EXISTS (SELECT 1 FROM agents WHERE number = %(agent)s AND deleted IS NULL)"
MIGRATING = 0x7AC1A
"""The first half of the lock of whoever makes the tables."""
EVENT = "SELECT agent, episode, kind, body, at, position FROM events"

SHARE_TERM = f"SELECT pg_advisory_xact_lock_shared({TERMS}, {SCHEMA})"
LOCK_AGENTS = f"""
SELECT pg_advisory_xact_lock({APPENDING}, key)
FROM (SELECT key FROM unnest(%s::int[]) AS key ORDER BY key) AS keys
"""
"""In one order, so that two who append to the same agents never wait for each other."""
CLAIM = """
SELECT (SELECT term FROM terms), (SELECT array_agg(nextval('positions')) FROM generate_series(1, %s))
"""
INSERT = """
INSERT INTO events (position, agent, episode, kind, body, at, batch)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %b::bytea[], %s::float8[], %s::uuid[])
"""


class Claim(NamedTuple):
    """What an append has before it writes: the term in which it is, and the positions of its events."""

    term: int
    positions: list[int]


class PostgresStore:
    """What keeps agents, their events and snapshots in the database at `url`, and knows whether this service leads.

    Several stores may be open at once. A service that stands in the election (`try_lead`) appends only while it leads.
    """

    at_hand = False
    """The server may be far away, and gone."""

    def __init__(self, url: str) -> None:
        self._address = Address(url)
        self._election = Election(self._address)
        self._outcomes = Outcomes(self._address)
        self._connections: Pool[Connection] = Pool(self._address.connect, _close, is_good)
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    def create_agent(self, name: str, description: bytes, at: float) -> AgentRow:
        """Return the new agent; its name must be that of no other that was not deleted, or ValueError is raised."""
        from psycopg.errors import UniqueViolation

        row = "INSERT INTO agents (name, description, created) VALUES (%s, %s, %s) RETURNING number"
        with self._use() as connection:
            try:
                found = connection.execute(row, [name, description, at]).fetchone()
            except UniqueViolation:
                raise name_is_taken(name) from None
        assert found is not None
        return AgentRow(found[0], name, description, at)

    def delete_agent(self, number: int, at: float) -> None:
        """Delete an agent: its name is free, and its events and snapshots are no longer listed."""
        row = "UPDATE agents SET deleted = %s WHERE number = %s AND deleted IS NULL"
        with self._use() as connection:
            connection.execute(row, [at, number])

    def agents(self) -> list[AgentRow]:
        """Return the agents that were not deleted, by name."""
        query = "SELECT number, name, description, created FROM agents WHERE deleted IS NULL ORDER BY name"
        return [AgentRow(*row) for row in self._query(query)]

    def append(self, events: Sequence[JournalEvent]) -> list[int]:
        """Return the positions of the events, once all of them are on disk; if it raises, none is.

        If the server is lost during the commit and does not come back, StoreError says that the outcome is not known.
        """
        if not events:
            return []
        with self._use() as connection:
            positions, group = self._claim(connection, events), new_group(events[0].agent)
            agents, episodes, kinds, bodies, times, *_ = map(list, zip(*events, strict=True))
            connection.execute(INSERT, [positions, agents, episodes, kinds, bodies, times, [group.number]])
            self._commit(connection, group)
        return positions

    def read(self, agent: int, after: int = 0, limit: int | None = None) -> Iterator[JournalEvent]:
        """Yield events of an agent in order, from the first whose position is greater."""
        query = f"{EVENT} WHERE agent = %(agent)s AND position > %(after)s AND {LIVE} ORDER BY position LIMIT %(most)s"

        def fetch(after: int, most: int) -> list[tuple[Any, ...]]:
            return self._query(query, {"agent": agent, "after": after, "most": most})

        return iterate_pages(fetch, after, limit)

    def read_episode(self, agent: int, episode: str) -> list[JournalEvent]:
        """Return the events of an episode in order; none if there is no such episode."""
        query = f"{EVENT} WHERE agent = %(agent)s AND episode = %(episode)s AND {LIVE} ORDER BY position"
        return [JournalEvent(*row) for row in self._query(query, {"agent": agent, "episode": episode})]

    def last_position(self, agent: int) -> int:
        """Return the position of the last event of an agent, 0 if it has none."""
        query = f"SELECT coalesce(max(position), 0) FROM events WHERE agent = %(agent)s AND {LIVE}"
        return int(self._query(query, {"agent": agent})[0][0])

    def save_snapshot(self, agent: int, snapshot: Snapshot) -> None:
        """Keep a snapshot, and of those before it the latest alone."""
        given = {"agent": agent, "position": snapshot.position, "data": snapshot.data}
        before = "SELECT max(position) FROM snapshots WHERE agent = %(agent)s AND position < %(position)s"
        with self._use() as connection, connection.transaction():
            connection.execute(
                "INSERT INTO snapshots VALUES (%(agent)s, %(position)s, %(data)b) "
                "ON CONFLICT (agent, position) DO UPDATE SET data = excluded.data",
                given,
            )
            connection.execute(
                f"DELETE FROM snapshots WHERE agent = %(agent)s AND position < ({before})", given
            )

    def load_snapshots(self, agent: int) -> list[Snapshot]:
        """Return the snapshots that are kept, the latest first."""
        query = (
            f"SELECT position, data FROM snapshots WHERE agent = %(agent)s AND {LIVE} ORDER BY position DESC"
        )
        return [Snapshot(*row) for row in self._query(query, {"agent": agent})]

    def check(self) -> None:
        """Raise StoreError unless the store can be read and written now."""
        beat = (
            "INSERT INTO pulse VALUES (1, extract(epoch FROM now())) "
            "ON CONFLICT (number) DO UPDATE SET at = excluded.at"
        )
        with self._use() as connection:
            connection.execute(beat)
        self._query("SELECT number FROM agents LIMIT 1")

    def try_lead(self, address: str = "") -> bool:
        """Return whether this service leads, now or already, and say where; StoreError if the server is away."""
        return self._election.try_lead(address)

    def leader(self) -> str:
        """Return where the service that leads, or led last, can be asked, "" if it did not say."""
        return str(self._query("SELECT address FROM terms")[0][0])

    def leads(self) -> bool:
        """Return whether this service leads: whether the connection that holds the lock is alive."""
        return self._election.leads()

    def stop_leading(self) -> None:
        """Let another lead; if this service does not, nothing happens."""
        self._election.stop_leading()

    def close(self) -> None:
        """Let go of the database; closing twice is no error."""
        self._election.stop_leading()
        self._connections.close()

    def _claim(self, connection: Connection, events: Sequence[JournalEvent]) -> list[int]:
        """Begin a transaction, take the agents' locks, and then draw positions; refuse if another leads by now."""
        term = self._election.term()
        with connection.pipeline():  # one journey instead of four
            connection.execute("BEGIN")
            connection.execute(SHARE_TERM)
            connection.execute(LOCK_AGENTS, [list({lock_key(event.agent) for event in events})])
            found = connection.execute(CLAIM, [len(events)])
        row = found.fetchone()
        assert row is not None
        claim = Claim(*row)
        if term is not None and claim.term != term:
            self._election.stop_leading()
            raise StoreError(
                f"only the service that leads may append, and this one led in term {term} of {claim.term}; nothing was "
                "written. Ask the one that leads"
            )
        return sorted(claim.positions)

    def _commit(self, connection: Connection, group: Group) -> None:
        """Commit, and if the answer is lost find out what became of it."""
        import psycopg

        try:
            connection.execute("COMMIT")
        except psycopg.Error:
            if not self._outcomes.was_committed(group):
                raise
        except BaseException:  # an interrupt
            self._outcomes.doubt(group)
            raise

    def _query(self, query: str, given: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        with self._use() as connection:
            return connection.execute(query, given, binary=True).fetchall()

    @contextmanager
    def _use(self) -> Iterator[Connection]:
        """Give a connection; one in which something was raised inside a transaction is closed, which undoes it."""
        self._outcomes.settle()
        with self._address.told(), self._connections.lend() as connection:
            yield connection

    def _migrate(self) -> None:
        with self._use() as connection:

            def apply(migration: Migration) -> None:
                with connection.transaction():
                    connection.execute(migration.sql)
                    noted = "INSERT INTO migrations VALUES (%s, %s, now()::text)"
                    connection.execute(noted, [migration.number, migration.name])

            connection.execute(f"SELECT pg_advisory_lock({MIGRATING}, {SCHEMA})")
            try:
                connection.execute(BOOKKEEPING)
                found = connection.execute("SELECT number FROM migrations").fetchall()
                migrate("postgres", [number for (number,) in found], apply)
            finally:
                with suppress(Exception):  # it ends with the connection, too
                    connection.execute(f"SELECT pg_advisory_unlock({MIGRATING}, {SCHEMA})")


def _close(connection: Connection) -> None:
    connection.close()

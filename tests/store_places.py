"""Places in which tests keep a store: a file, or a schema of the tests' own PostgreSQL."""

import sqlite3
import time
from contextlib import closing

import psycopg

from tacit.service.journal import JournalEvent
from tacit.service.postgres import PostgresStore
from tacit.service.sqlite import SqliteStore


class SqlitePlace:
    kind = "sqlite"

    def __init__(self, folder):
        self.address = str(folder / "tacit.db")

    def open(self):
        return SqliteStore(self.address)

    def run(self, sql):
        """Run a statement as another program would, and return its rows."""
        with closing(sqlite3.connect(self.address)) as connection, connection:
            return connection.execute(sql).fetchall()

    def wait_for_others(self):
        """A process that was killed is at nothing any more."""


class PostgresPlace:
    kind = "postgres"

    def __init__(self, server):
        self.address = server.new_schema()

    def open(self):
        return PostgresStore(self.address)

    def run(self, sql):
        """Run a statement as another program would, and return its rows."""
        with psycopg.connect(self.address) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def wait_for_others(self):
        """The server may still be at the last commit of a process that was killed."""
        query = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'tacit'"
        while self.run(query):
            time.sleep(0.01)


def open_store(kind, address):
    """Return a store of a kind, for processes that know no more of it."""
    return {"sqlite": SqliteStore, "postgres": PostgresStore}[kind](address)


def numbered(agent, numbers, episode="e"):
    """Return an event for each number, which is its body."""
    return [JournalEvent(agent, episode, "act", b"%d" % number, float(number)) for number in numbers]


def numbers_of(events):
    return [int(event.body) for event in events]

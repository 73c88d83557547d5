"""Migrations: numbered files of SQL that make a database what the program expects, each in one transaction.

A file is named after its number, what it brings and the database that it is for: `0001_journal.sqlite.sql`. A file that
was released is never changed; what changes the tables is a new one. Which were applied stands in the database itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import NamedTuple

from tacit.service.journal import StoreError

NAMED = re.compile(r"(\d{4})_(\w+)\.(\w+)\.sql")
BOOKKEEPING = """
CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied TEXT NOT NULL)
"""
"""The one table that no migration makes: which of them were applied, and when."""


class Migration(NamedTuple):
    """One step from a database to its next form."""

    number: int
    name: str
    sql: str


def list_migrations(dialect: str) -> list[Migration]:
    """Return the migrations for a kind of database, in order.

    >>> [(each.number, each.name) for each in list_migrations("sqlite")][:1]
    [(1, 'journal')]
    """
    folder = files("tacit.service") / "migrations"
    found = [(NAMED.fullmatch(file.name), file) for file in folder.iterdir()]
    return sorted(
        Migration(int(match[1]), match[2], file.read_text(encoding="utf-8"))
        for match, file in found
        if match and match[3] == dialect
    )


def migrate(dialect: str, applied: Sequence[int], apply: Callable[[Migration], None]) -> None:
    """Apply, in order, what a database has not had; StoreError if it had more than this program knows.

    >>> migrate("sqlite", [9999], print)
    Traceback (most recent call last):
    tacit.service.journal.StoreError: the database must not be newer than the program: it is at migration 9999 and ...
    """
    known = list_migrations(dialect)
    newest = max(applied, default=0)
    if newest > known[-1].number:
        raise StoreError(
            f"the database must not be newer than the program: it is at migration {newest} and this program knows "
            f"{known[-1].number}; install the version of Tacit that it was used with, or a later one"
        )
    for migration in known:
        if migration.number > newest:
            apply(migration)

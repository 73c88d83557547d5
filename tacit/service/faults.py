"""What errors of databases mean for whoever runs a service, and what to do about each."""

from __future__ import annotations

import sqlite3
from pathlib import Path

SQLITE = {
    sqlite3.SQLITE_FULL: "the disk is full, and nothing was written; make room there, and it goes on by itself",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; stop the service and restore a backup",
    sqlite3.SQLITE_NOTADB: "the file is no database, or is damaged; name another, or restore a backup",
    sqlite3.SQLITE_BUSY: "another program holds a lock on it, and nothing was written; end that program",
    sqlite3.SQLITE_LOCKED: "another program holds a lock on it, and nothing was written; end that program",
    sqlite3.SQLITE_READONLY: "it may not be written; let the service's user write the file and its folder",
    sqlite3.SQLITE_PERM: "it may not be opened; let the service's user read and write the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; its folder must be there, and the service's user must own it",
    sqlite3.SQLITE_IOERR: "the disk does not read or write; look at the system's log, and at the disk",
    sqlite3.SQLITE_TOOBIG: "something is larger than a database takes (a thousand million bytes)",
    sqlite3.SQLITE_NOMEM: "the system has no memory left, and nothing was written; free some",
    sqlite3.SQLITE_CONSTRAINT: "what was to be written breaks a rule of the tables, and nothing of it was written",
}
"""By SQLite's primary codes."""
POSTGRES = {
    "53100": "its disk is full, and nothing was written; make room there, and it goes on by itself",
    "53300": "it has too many connections; raise max_connections, or close some",
    "53": "it is short of something, and nothing was written; look at its log",
    "25006": "it may only be read, and nothing was written; name the server that takes writes",
    "55P03": "another session held a lock for too long, and nothing was written; end that session",
    "40": "another session was in the way, and nothing was written; ask again",
    "42501": "its user may not do that; grant it the tables, or the right to create them",
    "22": "what was to be written is nothing that it takes, and nothing of it was written",
    "23": "what was to be written breaks a rule of the tables, and nothing of it was written",
    "XX": "it is damaged, or found an error in itself; look at its log, and restore a backup if need be",
}
"""By SQLSTATE, or its first two characters, which name a class."""
AWAY = "see that it runs, and lets this service in at that address; it goes on by itself then"
OTHERWISE = "this was not foreseen, and nothing was written; report it if it stays"


def explain_sqlite(error: BaseException, path: Path) -> str:
    """Return what happened to a database in a file, why, and what to do.

    >>> error = sqlite3.OperationalError("database or disk is full")
    >>> error.sqlite_errorcode = sqlite3.SQLITE_FULL
    >>> explain_sqlite(error, Path("tacit.db"))[:61]
    'tacit.db cannot be used now (database or disk is full): the d'
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the other bits say which of a kind it is
    return f"{path} cannot be used now ({error}): {SQLITE.get(code, OTHERWISE)}"


def explain_postgres(error: BaseException, where: str, connected: bool = True) -> str:
    """Return what happened to a server or on the way to it, why, and what to do; its SQLSTATE says which.

    >>> explain_postgres(OSError("no route"), "db", connected=False)[:64]
    'PostgreSQL (db) cannot be reached (no route): see that it runs, '
    """
    state: str = getattr(error, "sqlstate", None) or ""
    gone = not connected or state[:2] == "08" or state[:3] == "57P"
    said = " ".join(str(error).split())
    if gone:
        return f"PostgreSQL ({where}) cannot be reached ({said}): {AWAY}"
    remedy = POSTGRES.get(state) or POSTGRES.get(state[:2]) or OTHERWISE
    return f"PostgreSQL ({where}) cannot be used now ({said}): {remedy}"


def name_is_taken(name: str) -> ValueError:
    """Return the error for a second agent of a name."""
    return ValueError(
        f"an agent's name must be that of no other, and {name!r} is taken; choose another, or delete that agent"
    )

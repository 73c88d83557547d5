"""What SQLite's errors mean for whoever runs a service, and what to do about each."""

from __future__ import annotations

import sqlite3
from pathlib import Path

REMEDIES = {
    sqlite3.SQLITE_FULL: "the disk is full, and nothing was written; make room there, and it goes on by itself",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; stop the service and restore a backup, with its -wal and -shm files gone",
    sqlite3.SQLITE_NOTADB: "the file is no database, or is damaged; name another, or stop the service and restore a backup",
    sqlite3.SQLITE_BUSY: "another program holds a lock on it, and nothing was written; end that program",
    sqlite3.SQLITE_LOCKED: "another program holds a lock on it, and nothing was written; end that program",
    sqlite3.SQLITE_READONLY: "it may not be written; let the service's user write the file and its folder",
    sqlite3.SQLITE_PERM: "it may not be opened; let the service's user read and write the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; its folder must exist, and the service's user must be allowed to write there",
    sqlite3.SQLITE_IOERR: "the disk does not read or write; look at the system's log, and restore a backup if it is failing",
    sqlite3.SQLITE_TOOBIG: "something is larger than a database takes (a thousand million bytes); nothing was written",
    sqlite3.SQLITE_NOMEM: "the system has no memory left; nothing was written",
    sqlite3.SQLITE_CONSTRAINT: "what was to be written breaks a rule of the tables, and nothing of it was written",
}


def explain(error: BaseException, path: Path) -> str:
    """Return what happened to a database, why, and what to do.

    >>> error = sqlite3.OperationalError("database or disk is full")
    >>> error.sqlite_errorcode = sqlite3.SQLITE_FULL
    >>> explain(error, Path("tacit.db"))[:61]
    'tacit.db cannot be used now (database or disk is full): the d'
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest of the bits says more of the same
    remedy = REMEDIES.get(code, "nothing was written; report this if it stays")
    return f"{path} cannot be used now ({error}): {remedy}"

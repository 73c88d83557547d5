"""Copies of a journal in SQLite: made while a service runs, put back where there is none.

A copy is one moment of the journal: SQLite's own backup reads it in one transaction, and writers go on meanwhile. Keys
and the secret of links are no part of it: copies go to places where they should not be.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from tacit.base.files import PART, sync_folder
from tacit.service.ownership import give_to_owner
from tacit.service.serving import JOURNAL

PATIENCE = 30.0
"""Seconds to wait for a lock that another program holds."""


def back_up(data: Path, target: Path, at: float) -> Path:
    """Return the file with a copy of the journal in a folder; in a folder as target it is named by the time.

    A target whose name has no ending is a folder, and is made.
    """
    journal = data / JOURNAL
    if not journal.is_file():
        raise ValueError(
            f"a folder of a service holds {JOURNAL}, {data} does not; give --data, or use pg_dump"
        )
    if not target.suffix and not target.exists():
        target.mkdir(0o700, parents=True)
    if target.is_dir():
        target = target / datetime.fromtimestamp(at, UTC).strftime("tacit-%Y%m%dT%H%M%SZ.sqlite")
    _check_free(target)
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}{PART}")
    try:
        _copy(journal, part)
        check_journal(part)
        _keep(part, target)
    finally:
        part.unlink(missing_ok=True)
    return target


def restore(copy: Path, data: Path) -> Path:
    """Return the journal that a copy was put back to; there must be none in the folder."""
    check_journal(copy)
    target = data / JOURNAL
    data.mkdir(0o700, parents=True, exist_ok=True)
    for beside in ("", "-wal", "-shm"):
        _check_free(target.with_name(target.name + beside))
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}{PART}")
    try:
        shutil.copyfile(copy, part)
        give_to_owner(part)
        _keep(part, target)
    finally:
        part.unlink(missing_ok=True)
    return target


def check_journal(path: Path) -> None:
    """Raise ValueError unless a file is a whole journal."""
    if not path.is_file():
        raise ValueError(f"a backup is a file, and there is none at {path}; see where `tacit backup` put it")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as opened:
            (found,) = opened.execute("PRAGMA quick_check(1)").fetchone()
            rows = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = {name for (name,) in rows}
    except sqlite3.Error as error:
        raise ValueError(f"{path} is no backup of a journal: {error}; use another") from None
    if found != "ok" or not {"agents", "events", "snapshots", "migrations"} <= tables:
        raise ValueError(f"{path} is no backup of a journal, or is damaged ({found}); use another")


def _copy(journal: Path, part: Path) -> None:
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # what people said is in it
    try:
        with (
            closing(
                sqlite3.connect(f"{journal.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)
            ) as source,
            closing(sqlite3.connect(part)) as copy,
        ):
            source.backup(copy)  # all pages in one step, so that a writer does not make it begin again
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
    except sqlite3.Error as error:
        raise OSError(
            f"{journal} cannot be copied to {part.parent}: {error}; nothing was left there"
        ) from None


def _keep(part: Path, target: Path) -> None:
    """Bring a file to disk and give it its name, which must be free still."""
    with open(part, "rb") as file:
        os.fsync(file.fileno())
    try:
        os.link(part, target)
    except FileExistsError:
        _check_free(target)
    except OSError:  # a file system without links
        os.rename(part, target)
    sync_folder(target.parent)


def _check_free(path: Path) -> None:
    if path.exists():
        raise ValueError(f"nothing is overwritten, and {path} is there; move it away, or give another place")

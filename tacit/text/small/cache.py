"""A store of encodings: what an encoder returned for a text is computed once and kept, in memory or in a file.

A batch of texts is not encoded to the last bit as its texts would be one by one, so this store is also what
makes a run that is stopped and resumed exact: it meets the encodings that it met before. Each is kept with a digest;
one that is not what was kept counts as missing, and is computed and kept anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np

from tacit.base.arrays import Float32Array

AT_ONCE = 500
"""Keys asked for in one query: SQLite takes at least 999 variables."""
TABLE = "checked_encodings"
"""The table of the file: another than that of encodings without digests, which are not looked at."""
PATIENCE = 60.0
"""Seconds to wait while another process writes."""


def key_of(kind: str, *texts: str | Sequence[str]) -> str:
    """Return the key of an encoding: a digest of its kind and of all that it depends on.

    >>> key_of("sentence", "a b") == key_of("sentence", "a", "b")
    False
    """
    return hashlib.sha256(json.dumps([kind, *texts]).encode()).hexdigest()


def default_path() -> Path:
    """Return where encodings are kept: TACIT_CACHE, or a folder in the user's cache directory."""
    if folder := os.environ.get("TACIT_CACHE"):
        return Path(folder) / "encodings.sqlite"
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(base or os.path.expanduser("~/.cache")) / "tacit" / "encodings.sqlite"


def is_writable(path: Path) -> bool:
    """Return whether encodings can be kept at `path`; its folder is made if it is not there."""
    if path.parts[0] == "~":  # nobody knows the user's home
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(path if path.exists() else path.parent, os.W_OK)


class EncodingCache:
    """Encodings by key; `path=None` keeps them in memory alone. Threads may share one.

    >>> cache = EncodingCache()
    >>> cache.put({"k": np.ones((2, 3), np.float32)})
    >>> cache.get(["k", "unknown"]).keys()
    dict_keys(['k'])
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._memory: dict[str, Float32Array] = {}
        self._lock = threading.RLock()

    @cached_property
    def _file(self) -> sqlite3.Connection | None:
        return None if self.path is None else open_file(self.path)

    def get(self, keys: Sequence[str]) -> dict[str, Float32Array]:
        """Return the encodings that there are, by key."""
        with self._lock:
            missing = [key for key in keys if key not in self._memory]
            if self._file is not None:
                for start in range(0, len(missing), AT_ONCE):
                    self._memory |= self._read(missing[start : start + AT_ONCE])
            return {key: self._memory[key] for key in keys if key in self._memory}

    def put(self, encodings: Mapping[str, Float32Array]) -> None:
        """Keep encodings. One that another process has kept meanwhile stays as that wrote it, unless it is damaged."""
        with self._lock:
            if self._file is not None:
                kept = self._write("IGNORE", encodings)
                damaged = {key: value for key, value in encodings.items() if key not in kept}
                if damaged:
                    self._write("REPLACE", damaged)
                encodings = kept | damaged
            self._memory |= encodings

    def forget(self) -> None:
        """Free the memory of what the file holds; without a file everything stays."""
        with self._lock:
            if self._file is not None:
                self._memory.clear()

    def _write(self, conflict: str, encodings: Mapping[str, Float32Array]) -> dict[str, Float32Array]:
        """Write rows, IGNORE or REPLACE those that are there, and return what is there now and sound."""
        assert self._file is not None
        assert self.path is not None
        shaped = [(key, json.dumps(value.shape), value.tobytes()) for key, value in encodings.items()]
        with _telling(self.path), self._file:
            rows = [(*row, row_digest(*row)) for row in shaped]
            self._file.executemany(f"INSERT OR {conflict} INTO {TABLE} VALUES (?, ?, ?, ?)", rows)
        keys, found = list(encodings), dict[str, Float32Array]()
        for start in range(0, len(keys), AT_ONCE):
            found |= self._read(keys[start : start + AT_ONCE])
        return found

    def _read(self, keys: Sequence[str]) -> dict[str, Float32Array]:
        """Return the encodings of keys whose rows are what was kept."""
        assert self._file is not None
        assert self.path is not None
        query = f"SELECT key, shape, data, digest FROM {TABLE} WHERE key IN ({','.join('?' * len(keys))})"
        with _telling(self.path):
            rows = self._file.execute(query, keys).fetchall()
        return {
            key: np.frombuffer(data, np.float32).reshape(json.loads(shape))
            for key, shape, data, digest in rows
            if isinstance(key, str) and isinstance(shape, str) and isinstance(data, bytes)
            if digest == row_digest(key, shape, data)
        }


def row_digest(key: str, shape: str, data: bytes) -> bytes:
    """Return a digest of a row: of the key, too, so that no row passes for another."""
    head = f"{key} {shape} ".encode("utf-8", "surrogateescape")
    return hashlib.blake2b(head + data, digest_size=16).digest()


def _as_text(stored: bytes) -> str:
    # A damaged row is one that does not match its digest, no error.
    return stored.decode("utf-8", "surrogateescape")


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    """Say what to do where the store cannot be used."""
    try:
        yield
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:  # SQLite quotes what is damaged
        raise ValueError(
            f"encodings are kept in {os.fspath(path)!r}, which cannot be used ({error}); remove the file, or set "
            "TACIT_CACHE to a folder that can be written"
        ) from error


def open_file(path: Path) -> sqlite3.Connection | None:
    """Return a connection to the store at `path`, made if it is not there; None, with a warning, where none can be."""
    if not is_writable(path):
        warnings.warn(
            f"encodings are kept in {os.fspath(path)!r}, which cannot be written, so they stay in memory and are "
            "computed again by every process; set TACIT_CACHE to a folder that can be written",
            stacklevel=2,
        )
        return None
    with _telling(path):
        file = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)  # one at a time, by the lock
        file.text_factory = _as_text
        file.execute("PRAGMA journal_mode = WAL")
        columns = "key TEXT PRIMARY KEY, shape TEXT, data BLOB, digest BLOB"
        file.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} ({columns})")
    return file

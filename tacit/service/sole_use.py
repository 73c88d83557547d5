"""A file that says who has a database open: one service at a time, for two would not see each other's agents."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.service.journal import StoreError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class SoleUse:
    """Holds the file `path` until `end`, or raises StoreError if another does; it holds the holder's process number.

    The lock is the system's: it ends with the process that holds it, however that ends. The file stays, for removing it
    would let two hold two files of one name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = SoleUse(Path(folder) / "tacit.db.lock")
    ...     try:
    ...         SoleUse(Path(folder) / "tacit.db.lock")
    ...     except StoreError as error:
    ...         str(error)[:57]
    ...     first.end()
    'one service at a time can use a database, and process ...'
    """

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = None
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self._hold(path)
        except OSError as error:
            self.end()
            raise StoreError(
                f"{path} cannot be written ({error.strerror}): the folder must exist, and the service's user must be "
                "allowed to write there"
            ) from error
        except StoreError:
            self.end()
            raise

    def end(self) -> None:
        """Let others have it; ending twice is no error."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _hold(self, path: Path) -> None:
        assert self._descriptor is not None
        if fcntl is not None:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.read(self._descriptor, 20).decode(errors="replace").strip() or "another"
                raise StoreError(
                    f"one service at a time can use a database, and process {holder} has {path} locked; stop that one, "
                    "or give this one a directory of its own"
                ) from None
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()}\n".encode())

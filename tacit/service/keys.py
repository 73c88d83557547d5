"""API keys: who may ask a service for what. A key is shown once; the file keeps what it can be recognised by.

A key is 256 random bits, which nobody can guess, so that SHA-256 is enough to keep it by: there is nothing to try out.
Before the bits stands a public part, by which the file is searched. The file is read again when it has changed.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import msgspec
from msgspec import Struct

from tacit.base.files import write_atomically
from tacit.service.ownership import give_to_owner

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

KEYS = "keys.json"
"""The file of keys in the folder of a service."""
LOOK_EVERY = 0.1
"""Seconds between looks at the file: looking for every request would be a tenth of what one costs."""
SCOPES = ("decide", "feedback", "admin")
"""What a key may be for; `admin` may all."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
TOKEN = re.compile(r"tacit_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
"""How a key looks: its public part, then 256 bits in base64."""


class ApiKey(Struct, frozen=True):
    """What is known of a key: its name, its public part and hash, what it is for, of which agents (none: of all)."""

    name: str
    prefix: str
    hash: str
    scopes: tuple[str, ...]
    agents: tuple[str, ...]
    created: float

    def may(self, scope: str) -> bool:
        """Return whether it is for one of the scopes, which are joined by " or "."""
        return "admin" in self.scopes or any(each in self.scopes for each in scope.split(" or "))

    def may_reach(self, agent: str | None) -> bool:
        """Return whether it is for an agent; None stands for what is of no single agent."""
        return not self.agents or agent in self.agents


class KeyFile(Struct, forbid_unknown_fields=True):
    """The content of the file."""

    keys: list[ApiKey]


class Keys:
    """The keys in a folder, as the file has them now, or had them a tenth of a second ago.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     keys = Keys(Path(folder))
    ...     before = keys.exist
    ...     token = keys.create("shop-web", ["decide"], [], at=0.0)
    ...     before, keys.exist, keys.find(token).name, keys.find(token[:-1] + "?")
    (False, True, 'shop-web', None)
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / KEYS
        self._seen: tuple[int, int, int] | None = None
        self._looked = -math.inf
        self._keys: dict[str, ApiKey] = {}

    @property
    def exist(self) -> bool:
        """Return whether keys are asked for: since the first was made, also if all of them were revoked."""
        self._read()
        return self._seen is not None

    def find(self, token: str) -> ApiKey | None:
        """Return the key of a token, None if there is none."""
        self._read()
        found = TOKEN.fullmatch(token)
        key = self._keys.get(found[1]) if found else None
        if key is None or not hmac.compare_digest(key.hash, hash_token(token)):
            return None
        return key

    def all(self) -> list[ApiKey]:
        """Return the keys, by name."""
        self._read()
        return sorted(self._keys.values(), key=lambda key: key.name)

    def create(self, name: str, scopes: Sequence[str], agents: Sequence[str], at: float) -> str:
        """Return a new token, which is kept nowhere; raise ValueError if there cannot be such a key."""
        if not NAME.fullmatch(name):
            raise ValueError(
                f"a key's name is of letters, digits, '.', '_' and '-', up to 64, got {name!r}; choose another"
            )
        unknown = [scope for scope in scopes if scope not in SCOPES]
        if unknown or not scopes:
            raise ValueError(
                f"a key has at least one scope of {', '.join(SCOPES)}, got {', '.join(unknown) or 'none'}; give --scope"
            )
        prefix = secrets.token_hex(6)
        token = f"tacit_{prefix}_{secrets.token_urlsafe(32)}"
        key = ApiKey(name, prefix, hash_token(token), tuple(scopes), tuple(agents), at)
        with self._changing():
            if any(each.name == name for each in self._keys.values()):
                raise ValueError(
                    f"a key's name is that of no other, got {name!r}; choose another, or revoke it"
                )
            self._write([*self._keys.values(), key])
        return token

    def revoke(self, name: str) -> None:
        """Forget the key of that name; ValueError if there is none."""
        with self._changing():
            left = [key for key in self._keys.values() if key.name != name]
            if len(left) == len(self._keys):
                raise ValueError(f"there is no key {name!r}; `tacit keys list` shows those that there are")
            self._write(left)

    def _write(self, keys: list[ApiKey]) -> None:
        if not self._path.exists():
            os.close(
                os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600)
            )  # permissions stay when it is replaced
        write_atomically(self._path, msgspec.json.format(msgspec.json.encode(KeyFile(keys))) + b"\n")
        give_to_owner(self._path)

    def _read(self) -> None:
        """Read the file if it is another than that which was read last, or raise ValueError if it cannot be."""
        now = monotonic()
        if now - self._looked < LOOK_EVERY:
            return
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            self._seen, self._keys, self._looked = None, {}, now
            return
        seen = (found.st_mtime_ns, found.st_size, found.st_ino)
        if seen == self._seen:
            self._looked = now
            return
        content = self._path.read_bytes()
        try:
            kept = msgspec.json.decode(content, type=KeyFile).keys if content else []
        except msgspec.MsgspecError as error:
            raise ValueError(
                f"{self._path} is written by `tacit keys` alone, got what it did not write: {error}; restore it"
            ) from None
        self._seen, self._keys, self._looked = seen, {key.prefix: key for key in kept}, now

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let one at a time read and write the file."""
        self._folder.mkdir(0o700, parents=True, exist_ok=True)
        with open(self._path.with_name(KEYS + ".lock"), "wb") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            self._looked = -math.inf
            self._read()
            yield
            self._looked = -math.inf


def hash_token(token: str) -> str:
    """Return by what a token is kept."""
    return hashlib.sha256(token.encode()).hexdigest()

"""Which ids of episodes an agent has met: asked before the journal is, for nearly every id that begins is new.

A Bloom filter, in parts that double: it may take a new id for one that was met (one in some hundred, and the journal is
asked), never the other way round. Two to four bytes for an id; from `MOST` on it takes every id for one that was met.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import Any

FIRST = 4096
"""Ids of the first part."""
BITS = 16
"""For an id of a full part: with `HASHES` looks one new id in 400 is taken for a known one, in each part."""
HASHES = 4
PLACES = Struct(f"<{HASHES}I")
MOST = 4_000_000
"""Ids that are kept apart: some ten million bytes, in every snapshot."""


class MetIds:
    """The ids that were added, as a set that forgets none and sometimes knows too many.

    >>> met = MetIds()
    >>> met.add("visit-1")
    >>> "visit-1" in met, "visit-2" in met
    (True, False)
    """

    def __init__(self) -> None:
        self._parts: list[bytearray] = []
        self._count = self._room = 0

    def add(self, name: str) -> None:
        """Take in an id."""
        if self._count >= MOST:
            return
        if self._count == self._room:
            self._parts.append(bytearray((FIRST << len(self._parts)) * BITS // 8))
            self._room += FIRST << (len(self._parts) - 1)
        self._count += 1
        part = self._parts[-1]
        mask = 8 * len(part) - 1
        for place in _places(name):
            part[(place & mask) >> 3] |= 1 << (place & 7)

    def __contains__(self, name: str) -> bool:
        if self._count >= MOST:
            return True
        places = _places(name)
        for part in self._parts:
            mask = 8 * len(part) - 1
            for place in places:
                if not part[(place & mask) >> 3] & 1 << (place & 7):
                    break
            else:
                return True
        return False

    def to_json(self) -> dict[str, Any]:
        """Return it for a snapshot."""
        return {"count": self._count, "parts": [b64encode(part).decode() for part in self._parts]}

    @classmethod
    def from_json(cls, kept: dict[str, Any] | None) -> MetIds:
        """Return what `to_json` gave; of a snapshot that has none, one that takes every id for one that was met."""
        met = cls()
        if kept is None:
            met._count = MOST
            return met
        met._parts = [bytearray(b64decode(part)) for part in kept["parts"]]
        met._count, met._room = kept["count"], FIRST * ((1 << len(met._parts)) - 1)
        return met


@lru_cache(1)  # an id that begins is looked for, and then added
def _places(name: str) -> tuple[int, ...]:
    return PLACES.unpack(blake2b(name.encode(), digest_size=PLACES.size).digest())

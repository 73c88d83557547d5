"""Episodes that come twice: known by their names, counted once.

A name belongs to one episode in all that is read at once, for labels carry it. The first whole record of a name is
taken; later ones are faults, `duplicate-episode` if the record is the same to the last byte and `duplicate-name` if it
is another. Names and records are known by 64 bits each, which take some 40 bytes an episode; among ten million
episodes the chance that any two names are confused is 3 in a million.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.base.jit import kernel
from tacit.logs.files import RawRecord
from tacit.logs.record import EpisodeRecord, Fault

DUPLICATE, SAME_NAME = "duplicate-episode", "duplicate-name"
AT_ONCE = 500
"""Lines or rows whose names are looked up at once."""
SMALLEST = 1 << 12
"""Places of an empty table, a power of two as all sizes."""
FULL = 0.6
"""Share of the places beyond which a table is doubled."""
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio, odd: multiplying by it spreads what differs in low bits over high ones."""
ZEROS = [b"\0" * (8 - n) for n in range(8)]
"""What fills texts up to whole words, by their length modulo 8."""
NEW, REPEATED, ANOTHER = 0, 1, 2

WordArray = npt.NDArray[np.uint64]
LogEntry = tuple[RawRecord, EpisodeRecord | Fault]
"""A line or row, and its record or the rule that it breaks."""


class Signatures(NamedTuple):
    """By what the episodes of some lines or rows are known again, in their order: their names and their records."""

    names: WordArray
    records: WordArray

    @staticmethod
    def of(entries: Iterable[LogEntry]) -> Signatures:
        """Return the signatures of the entries that are episodes."""
        names, records = [], []
        for raw, found in entries:
            if type(found) is not Fault:
                names.append(repr(found["episode"]).encode())  # type: ignore[call-overload]  # 8 is not "8"
                records.append(raw.line_text if raw.record is None else raw.text())
        return Signatures(digest(names), digest(records))

    @staticmethod
    def join(parts: Sequence[Signatures]) -> Signatures:
        """Return the signatures of several parts, one after the other; of none, where there are but empty lines."""
        none = np.empty(0, np.uint64)
        return Signatures(
            np.concatenate([none, *(part.names for part in parts)]),
            np.concatenate([none, *(part.records for part in parts)]),
        )


class KnownNames:
    """The names that were met, each with its record: a table of 64-bit words, so that many take little memory.

    >>> known = KnownNames()
    >>> names = digest([b"a7", b"a8", b"a7"])
    >>> known.enter(Signatures(names, digest([b"{}", b"{}", b"{}"]))).tolist() == [NEW, NEW, REPEATED]
    True
    """

    def __init__(self) -> None:
        self._n = 0
        self._names, self._records = np.zeros((2, SMALLEST), np.uint64)

    def __len__(self) -> int:
        return self._n

    def enter(self, met: Signatures) -> npt.NDArray[np.int8]:
        """Return for each episode whether its name is NEW, or REPEATED with the same record, or that of ANOTHER."""
        while self._n + len(met.names) > FULL * len(self._names):
            self._grow()
        verdicts = np.zeros(len(met.names), np.int8)
        self._n += enter_names(self._names, self._records, met.names, met.records, verdicts)
        return verdicts

    def find_repeat(self, raw: RawRecord, record: EpisodeRecord) -> Fault | None:
        """Return what is wrong with one episode if its name is known already; from now on it is."""
        verdict = int(self.enter(Signatures.of([(raw, record)]))[0])
        return None if verdict == NEW else repeat_fault(record["episode"], verdict)

    def _grow(self) -> None:
        names, records = self._names, self._records
        met = names != 0
        self._names, self._records = np.zeros((2, 2 * len(names)), np.uint64)
        enter_names(self._names, self._records, names[met], records[met], np.zeros(self._n, np.int8))


def set_repeats_aside(entries: Iterable[LogEntry], known: KnownNames | None = None) -> Iterator[LogEntry]:
    """Yield the entries, those of names that are known already as faults."""
    known = known if known is not None else KnownNames()
    ahead = iter(entries)
    while some := list(islice(ahead, AT_ONCE)):
        yield from mark_repeats(some, known.enter(Signatures.of(some)))


def sign_along(entries: Iterable[LogEntry], signed: list[Signatures]) -> Iterator[LogEntry]:
    """Yield the entries as they are, and add their signatures to `signed` as they pass."""
    ahead = iter(entries)
    while some := list(islice(ahead, AT_ONCE)):
        signed.append(Signatures.of(some))
        yield from some


def mark_repeats(entries: Iterable[LogEntry], verdicts: npt.NDArray[np.int8]) -> Iterator[LogEntry]:
    """Yield entries, as faults those that `KnownNames.enter` did not find new."""
    if not verdicts.any():
        yield from entries
        return
    left = iter(verdicts.tolist())
    for raw, found in entries:
        verdict = NEW if isinstance(found, Fault) else next(left)
        if verdict == NEW:
            yield raw, found
        else:
            assert not isinstance(found, Fault)
            yield raw, repeat_fault(found["episode"], verdict)


def repeat_fault(name: str | int, verdict: int) -> Fault:
    """Return the rule that an episode breaks whose name was met before."""
    if verdict == REPEATED:
        return Fault(
            DUPLICATE, f"an episode counts once, got {name!r} again with the same record; read each log once"
        )
    return Fault(
        SAME_NAME,
        f"a name must belong to one episode in all that is read at once, got {name!r} again with another record; give "
        "episodes names of their own, for instance with the day or the file in them, or read the logs one by one",
    )


def digest(texts: Sequence[bytes]) -> WordArray:
    """Return 64 bits of each text by which it is known again; never 0.

    >>> len(set(digest([b"", b"a", b"b", b"ab", b"a"]).tolist()))
    4
    """
    words = np.frombuffer(b"".join([text + ZEROS[len(text) % 8] for text in texts]), np.uint64)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    with np.errstate(over="ignore"):  # modulo 2^64 is meant; compiled code does not ask
        return digest_words(words, lengths)


@kernel
def digest_words(words: WordArray, lengths: npt.NDArray[np.int64]) -> WordArray:
    """Return 64 bits of each text, given all texts in words of 8 bytes, each filled up with 1 to 8 zeros.

    From h = n, a text's length, each word w is taken in by h <- (h ^ w) m, h <- h ^ (h >> 32), which lose nothing.
    """
    found, half, at = np.empty(len(lengths), np.uint64), np.uint64(32), 0
    for n in range(len(lengths)):
        h = np.uint64(lengths[n])
        for place in range(at, at + lengths[n] // 8 + 1):
            h = (h ^ words[place]) * MULTIPLIER
            h ^= h >> half
        h *= MULTIPLIER  # once more, for the last word
        h ^= h >> half
        found[n] = h if h != np.uint64(0) else np.uint64(1)
        at += lengths[n] // 8 + 1
    return found


@kernel
def enter_names(
    table: WordArray, records: WordArray, names: WordArray, met: WordArray, verdicts: npt.NDArray[np.int8]
) -> int:
    """Enter names into a table with free places (0), each with its record; return how many were new.

    A name stands at the first free place from where its low bits point to. `verdicts` takes what was found of each.
    """
    last, new = np.uint64(len(table) - 1), 0
    for n in range(len(names)):
        place = names[n] & last
        while table[place] != np.uint64(0) and table[place] != names[n]:
            place = (place + np.uint64(1)) & last
        if table[place] == np.uint64(0):
            table[place], records[place] = names[n], met[n]
            verdicts[n] = NEW
            new += 1
        elif records[place] == met[n]:
            verdicts[n] = REPEATED
        else:
            verdicts[n] = ANOTHER
    return new

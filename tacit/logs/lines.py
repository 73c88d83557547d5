"""Whole lines of files of JSON lines, plain or packed, in chunks: the one reader of them for streams and for pieces.

What is wrong with a file comes among the chunks, where it stands: a line beyond the limit, which is passed over without
being held, and a damage, after all lines that could be unpacked before it. Lines are trusted when the checksum of what
they were packed in was right; a damage names the lines of which that is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tacit.logs.files import MOST_LINE, RawRecord
from tacit.logs.packing import Seal, unpack
from tacit.logs.record import Fault

PIECE = 4 << 20
"""Bytes of JSON lines in a chunk: half a second of work, some ten thousand episodes."""
MANY_LINES = 50_000
"""Lines from which a chunk is full whatever its bytes: of a file of tiny lines, each may be a problem to be kept."""
SHOWN = 200
"""Bytes that are kept of a line that is too long."""


class Chunk(NamedTuple):
    """Whole lines of a file, and the number of the first."""

    file: str
    line: int
    lines: bytes


def read_chunks(
    file: Path, begin: int = 0, recode: Callable[[bytes], bytes] | None = None
) -> Iterator[Chunk | RawRecord]:
    """Yield the lines of a file, from some byte on, in chunks of some megabytes, and in place what is wrong with it.

    `recode` turns blocks of another encoding, one after the other, into UTF-8.
    """
    lines = _Lines(str(file))
    try:
        with open(file, "rb") as packed:
            packed.seek(begin)
            for part in unpack(packed, file.name):
                if isinstance(part, Seal):
                    yield from lines.seal(part)
                else:
                    yield from lines.add(part if recode is None else recode(part))
    except OSError as error:
        yield from lines.fail(error)
        return
    yield from lines.finish()


class _Lines:
    """Blocks on their way to chunks: whole lines, the beginning of one, and how much of a line was passed over."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._line = 1  # the number of the first line of the next chunk
        self._unverified = 1  # the number of the first line since the last seal
        self._whole: list[bytes] = []
        self._lines = self._size = 0  # of what is whole
        self._begun: list[bytes] = []
        self._begun_size = 0
        self._shown: bytes | None = None  # the beginning of a line that is passed over
        self._passed = 0

    def add(self, block: bytes) -> Iterator[Chunk | RawRecord]:
        """Take a block in; yield what is complete."""
        if not block:
            return
        first = block.find(b"\n") + 1
        if self._shown is None and self._begun_size + (first - 1 if first else len(block)) > MOST_LINE:
            yield from self._chunk()
            self._shown = b"".join([*self._begun, block])[:SHOWN]
            self._passed, self._begun, self._begun_size = self._begun_size, [], 0
        if self._shown is not None:
            self._passed += first or len(block)
            if not first:
                return
            yield self._too_long()
            block = block[first:]
        cut = block.rfind(b"\n") + 1
        if cut:
            self._whole += [*self._begun, block[:cut]]
            self._size += self._begun_size + cut
            self._lines += block.count(b"\n")
            self._begun, self._begun_size = [], 0
        self._begun.append(block[cut:])
        self._begun_size += len(block) - cut
        if self._size >= PIECE or self._lines >= MANY_LINES:
            yield from self._chunk()

    def seal(self, seal: Seal) -> Iterator[Chunk | RawRecord]:
        """End a member; yield its damage after its lines, if it has any."""
        last = self._line + self._lines - 1
        if seal.damage is not None:
            yield from self._chunk()
            yield self._damage(seal, last)
            if not seal.whole:
                self._begun, self._begun_size, self._shown = [], 0, None
        self._unverified = last + 1

    def fail(self, error: OSError) -> Iterator[Chunk | RawRecord]:
        """End a file that the system does not give further."""
        yield from self._chunk()
        message = f"the file cannot be read from here on ({error}); use a whole copy"
        yield RawRecord(self._file, self._line, b"".join(self._begun), fault=Fault("damaged-file", message))

    def finish(self) -> Iterator[Chunk | RawRecord]:
        """End the file: what was begun is its last line."""
        if self._shown is not None:
            yield self._too_long()
        elif self._begun_size:
            self._whole += [*self._begun, b"\n"]
        yield from self._chunk()

    def _chunk(self) -> Iterator[Chunk]:
        if self._whole:
            yield Chunk(self._file, self._line, b"".join(self._whole))
            self._line += self._lines
            self._whole, self._lines, self._size = [], 0, 0

    def _too_long(self) -> RawRecord:
        message = f"a line must have at most {MOST_LINE:,} bytes, got {self._passed:,}; split the episode"
        found = RawRecord(self._file, self._line, self._shown or b"", fault=Fault("line-too-long", message))
        self._shown, self._line = None, self._line + 1
        return found

    def _damage(self, seal: Seal, last: int) -> RawRecord:
        first, torn = self._unverified, b"" if seal.whole else b"".join(self._begun)
        if last < first:
            read = "no line was read"
        else:
            read = f"lines {first:,} to {last:,} were read, but nothing vouches for them"
        message = (
            f"a packed file must be whole, got {seal.damage}; of what stands there {read}: use a whole copy"
        )
        return RawRecord(self._file, first, torn, fault=Fault("damaged-file", message))

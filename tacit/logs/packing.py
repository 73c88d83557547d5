"""Packed JSON lines: gzip members and zstd frames that stand alone, each with its checksum, made and unpacked.

What Tacit packs is a row of members (gzip) or frames (zstd) of about a megabyte of whole lines, each of which can be
unpacked on its own, so that a kill, a full disk or a flipped bit costs no more than one of them. Files of others are
unpacked as they are, many members or one. Everything before a damage is given, then the damage is told, then unpacking
goes on with the next member that can be found. Blocks in and out are bounded: no file, however it was made, takes more
memory than a window of zstd and a few blocks, and the time is linear in what is read and unpacked.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from tacit.logs.files import zstandard_module

MEMBER = 1 << 20
"""Bytes of lines in a member or frame that Tacit packs: what is lost at most, and what costs no ratio."""
PACKED = 1 << 16
"""Bytes that are read at once to be unpacked."""
UNPACKED = 1 << 18
"""Bytes that are given at once, at most."""
FIRST_READ = 1 << 10
"""Bytes read first of a member: little, so that a file full of false beginnings is not unpacked again and again."""
KEPT = 1 << 18
"""Bytes that can be given back: more than are unpacked at once."""
LARGEST_WINDOW = 1 << 27
"""Bytes that zstd may look back, and takes in memory: what `zstd --long` and `--ultra -22` write, and no more."""
LARGEST_BLOCK = 1 << 17
"""Bytes of a zstd block, packed or not, by its format."""

GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
GZIP_HEADER = GZIP_MAGIC + bytes(6) + b"\xff"
"""The header of a member of ours: no time, no name, so that the same lines give the same bytes."""
HAS_CHECKSUM, HAS_EXTRA, HAS_NAME, HAS_COMMENT, RESERVED = 2, 4, 8, 16, 224
"""Flags of a gzip member's header."""
SKIPPABLE = range(0x184D2A50, 0x184D2A60)
"""How zstd frames begin that hold something else than content."""
RUN, NO_BLOCK = 1, 3
"""Kinds of zstd blocks: one byte many times, and what must not occur."""


class Seal(NamedTuple):
    """The end of a member or frame: up to which byte the file was read, and what is wrong with it, if anything.

    `whole`: it was there from beginning to end, whatever its checksum says. `loose`: the file ends with it, and it was
    never finished, or is no member at all.
    """

    end: int
    damage: str | None = None
    whole: bool = True
    loose: bool = False


class _PackedFile:
    """A file read in blocks, of which some can be given back: a false beginning does not make it be read again."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._begin = file, file.tell()
        self._buffer, self._at = b"", 0

    def read(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end."""
        while len(self._buffer) - self._at < size and self._refill():
            pass
        found = self._buffer[self._at : self._at + size]
        self._at += len(found)
        return found

    def read_all(self, size: int) -> bytes:
        """Return exactly so many bytes; raise if the file ends before."""
        found = self.read(size)
        if len(found) < size:
            self.give_back(len(found))
            raise _LooseError("an end within a member")
        return found

    def give_back(self, size: int) -> None:
        """Let some of the last `KEPT` bytes be read again."""
        self._at -= size

    def tell(self) -> int:
        """Return the place of the next byte in the file."""
        return self._begin + self._at

    def is_at_end(self) -> bool:
        """Return whether there is nothing more to read."""
        return self._at == len(self._buffer) and not self._refill()

    def pass_zeros(self) -> None:
        """Go to the next byte that is not 0."""
        while not self.is_at_end():
            rest = self._buffer[self._at :].lstrip(b"\0")
            self._at = len(self._buffer) - len(rest)
            if rest:
                return

    def pass_over(self, size: int) -> None:
        """Read some bytes and forget them."""
        for left in range(size, 0, -PACKED):
            self.read_all(min(left, PACKED))

    def find(self, magic: bytes) -> int:
        """Go to where some bytes stand next, or to the end; return the place."""
        while True:
            found = self._buffer.find(magic, self._at)
            if found >= 0:
                self._at = found
                return self.tell()
            self._at = max(self._at, len(self._buffer) - len(magic) + 1)
            if not self._refill():
                self._at = len(self._buffer)
                return self.tell()

    def _refill(self) -> bool:
        """Read one more block behind what is left and what may be given back; return whether there was one."""
        more, gone = self._file.read(PACKED), max(self._at - KEPT, 0)
        self._buffer = self._buffer[gone:] + more
        self._begin, self._at = self._begin + gone, self._at - gone
        return bool(more)


class _UnreadableError(Exception):
    """What stands here cannot be unpacked to its end."""


class _LooseError(_UnreadableError):
    """The file ends within a member, or what stands here is none."""


class _ChecksumError(Exception):
    """A member was unpacked, and is not what was packed."""


def pack(name: str, lines: bytes) -> bytes:
    """Return lines as a member or frame by the ending of a file's name, as they are if it says nothing of packing.

    >>> import io
    >>> part = pack("logs.jsonl.gz", b"one line") + pack("logs.jsonl.gz", b"and another")
    >>> [block for block in unpack(io.BytesIO(part), "logs.jsonl.gz") if isinstance(block, bytes)]
    [b'one line', b'and another']
    """
    if name.endswith(".gz"):
        deflater = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
        content = deflater.compress(lines) + deflater.flush()
        return GZIP_HEADER + content + _gzip_trailer(zlib.crc32(lines), len(lines))
    if name.endswith(".zst"):
        return bytes(zstandard_module().ZstdCompressor(write_checksum=True).compress(lines))
    return lines


def is_packed(name: str) -> bool:
    """Return whether a file is packed by the ending of its name."""
    return name.endswith((".gz", ".zst"))


def unpack(file: BinaryIO, name: str) -> Iterator[bytes | Seal]:
    """Yield what a file holds, in blocks, and a seal after each member or frame; a plain file has none."""
    if name.endswith(".gz"):
        yield from _unpack_members(_PackedFile(file), _unpack_gzip, GZIP_MAGIC)
    elif name.endswith(".zst"):
        zstandard = zstandard_module()
        decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
        member = partial(_unpack_zstd, decompressor=decompressor, failure=zstandard.ZstdError)
        yield from _unpack_members(_PackedFile(file), member, ZSTD_MAGIC)
    else:
        while block := file.read(UNPACKED):
            yield block


def _unpack_members(
    file: _PackedFile, unpack_one: Callable[[_PackedFile], Iterator[bytes]], magic: bytes
) -> Iterator[bytes | Seal]:
    while not file.is_at_end():
        begin = file.tell()
        try:
            yield from unpack_one(file)
        except _ChecksumError:
            yield Seal(file.tell(), f"a wrong checksum of bytes {begin:,} to {file.tell():,}")
        except _UnreadableError as error:
            at = file.tell()
            end = file.find(
                magic
            )  # from the block that failed, for the next member may stand in what was taken for it
            loose = isinstance(error, _LooseError) and file.is_at_end()
            yield Seal(end, f"{error} at byte {at:,}", whole=False, loose=loose)
        else:
            yield Seal(file.tell())


def _unpack_gzip(file: _PackedFile) -> Iterator[bytes]:
    """Yield the content of a gzip member (RFC 1952), and pass over the zeros that pad it."""
    _read_gzip_header(file)
    inflater, crc, size, step = zlib.decompressobj(-zlib.MAX_WBITS), 0, 0, FIRST_READ
    while not inflater.eof:
        packed = inflater.unconsumed_tail or file.read(step)
        before, step = inflater.copy(), min(2 * step, PACKED)
        try:
            content = inflater.decompress(packed, UNPACKED) if packed else inflater.flush()
        except zlib.error as error:
            yield _salvage(before, packed)
            file.give_back(len(packed))
            raise _UnreadableError(f"what cannot be unpacked ({error})") from None
        crc, size = zlib.crc32(content, crc), size + len(content)
        yield content
        if not packed and not inflater.eof:
            raise _LooseError("an end within a member")
    file.give_back(len(inflater.unused_data))
    if file.read_all(8) != _gzip_trailer(crc, size):
        raise _ChecksumError
    file.pass_zeros()


def _read_gzip_header(file: _PackedFile) -> None:
    begin = file.read(len(GZIP_MAGIC))
    if begin != GZIP_MAGIC:
        file.give_back(len(begin) - 1)
        raise _LooseError("what is no gzip member")
    flags = file.read_all(7)[0]
    if flags & RESERVED:
        raise _UnreadableError("a gzip member of an unknown kind")
    if flags & HAS_EXTRA:
        file.read_all(int.from_bytes(file.read_all(2), "little"))
    for flag in (HAS_NAME, HAS_COMMENT):
        while flags & flag and file.read_all(1) != b"\0":
            pass
    if flags & HAS_CHECKSUM:
        file.read_all(2)


def _gzip_trailer(crc: int, size: int) -> bytes:
    return crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")


def _salvage(inflater: Any, packed: bytes) -> bytes:
    """Return all that can be unpacked before an error, of which the library gives nothing, by halving what is asked."""
    content, most, too_many = b"", 0, UNPACKED
    while too_many - most > 1:
        middle = (most + too_many) // 2
        try:
            content, most = inflater.copy().decompress(packed, middle), middle
        except zlib.error:
            too_many = middle
    return content


def _unpack_zstd(file: _PackedFile, decompressor: Any, failure: type[Exception]) -> Iterator[bytes]:
    """Yield the content of a zstd frame (RFC 8878) block by block, so that an error takes no block before it along."""
    magic = file.read_all(4)
    if int.from_bytes(magic, "little") in SKIPPABLE:
        file.pass_over(int.from_bytes(file.read_all(4), "little"))
        return
    if magic != ZSTD_MAGIC:
        file.give_back(3)
        raise _LooseError("what is no zstd frame")
    header, has_checksum = _read_zstd_header(file)
    frame, last, block = decompressor.decompressobj(), False, b""
    try:
        frame.decompress(magic + header)
        while not last:
            last, block = _read_zstd_block(file)
            content, block = frame.decompress(block), b""
            yield content
    except failure as error:
        file.give_back(len(block))
        raise _UnreadableError(f"what cannot be unpacked ({error})") from None
    try:
        if has_checksum:
            frame.decompress(file.read_all(4))
    except failure:
        raise _ChecksumError from None


def _read_zstd_header(file: _PackedFile) -> tuple[bytes, bool]:
    """Return the header of a frame after its magic number, and whether a checksum follows the blocks."""
    first = file.read_all(1)
    single, size_flag, dictionary_flag = first[0] >> 5 & 1, first[0] >> 6, first[0] & 3
    size = (1 - single) + (0, 1, 2, 4)[dictionary_flag] + (single, 2, 4, 8)[size_flag]
    return first + file.read_all(size), bool(first[0] & 4)


def _read_zstd_block(file: _PackedFile) -> tuple[bool, bytes]:
    """Return whether a block is the last of its frame, and its bytes."""
    begin = file.read_all(3)
    number = int.from_bytes(begin, "little")
    last, kind, size = number & 1, number >> 1 & 3, number >> 3
    if kind == NO_BLOCK or size > LARGEST_BLOCK:
        raise _UnreadableError("what is no zstd block")
    return bool(last), begin + file.read_all(1 if kind == RUN else size)

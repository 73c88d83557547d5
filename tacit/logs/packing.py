"""Packed JSON lines: gzip members and zstd frames that stand alone, each with its checksum, made and unpacked.

What Tacit packs is a row of members (gzip) or frames (zstd) of about a megabyte of whole lines, each of which can be
unpacked on its own, so that a kill, a full disk or a flipped bit costs no more than one of them. Files of others are
unpacked as they are, many members or one. Everything before a damage is given, then the damage is told, then unpacking
goes on with the next member that can be found. Blocks in and out are bounded: no file, however it was made, takes more
memory than a window of zstd and a few blocks, and the time is linear in what is read and unpacked.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from tacit.logs.files import zstandard_module

MEMBER = 1 << 20
"""Bytes of lines in a member or frame that Tacit packs: what is lost at most, and what costs no ratio."""
PACKED = 1 << 16
"""Bytes that are read at once to be unpacked."""
UNPACKED = 1 << 18
"""Bytes that are given at once, at most."""
FIRST_READ = 1 << 10
"""Bytes read first of a member: little, so that a file full of false beginnings is not read again and again."""
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
TORN_MEMBER, TORN_FRAME = "an end within a member", "an end within a frame"
RUN, NO_BLOCK = 1, 3
"""Kinds of zstd blocks: one byte many times, and what must not occur."""


class Seal(NamedTuple):
    """The end of a member or frame: up to which byte the file was read, and what is wrong with it, if anything.

    `whole`: it was there from beginning to end, whatever its checksum says. `torn`: the file ends within it.
    """

    end: int
    damage: str | None = None
    whole: bool = True
    torn: bool = False


class _UnreadableError(Exception):
    """What stands here is no member, or cannot be unpacked to its end."""


class _TornError(_UnreadableError):
    """The file ends within a member."""


class _ChecksumError(Exception):
    """A member was unpacked, and is not what was packed."""


def pack(name: str, lines: bytes) -> bytes:
    """Return lines as a member or frame by the ending of a file's name, as they are if it says nothing of packing.

    >>> part = pack("logs.jsonl.gz", b"one line") + pack("logs.jsonl.gz", b"and another")
    >>> [block for block in unpack(io.BufferedReader(io.BytesIO(part)), "logs.jsonl.gz") if isinstance(block, bytes)]
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


def unpack(file: io.BufferedReader, name: str) -> Iterator[bytes | Seal]:
    """Yield what a file holds, in blocks, and a seal after each member or frame; a plain file has none."""
    if name.endswith(".gz"):
        yield from _unpack_members(file, _unpack_gzip, GZIP_MAGIC)
    elif name.endswith(".zst"):
        zstandard = zstandard_module()
        decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
        member = partial(_unpack_zstd, decompressor=decompressor, failure=zstandard.ZstdError)
        yield from _unpack_members(file, member, ZSTD_MAGIC)
    else:
        while block := file.read(UNPACKED):
            yield block


def _unpack_members(
    file: io.BufferedReader, unpack_one: Callable[[io.BufferedReader], Iterator[bytes]], magic: bytes
) -> Iterator[bytes | Seal]:
    while file.peek(1):
        begin = file.tell()
        try:
            yield from unpack_one(file)
        except _ChecksumError:
            yield Seal(file.tell(), f"a wrong checksum of bytes {begin:,} to {file.tell():,}")
        except _UnreadableError as error:
            at = file.tell()
            found = _find_next(file, magic)
            yield Seal(found, f"{error} at byte {at:,}", whole=False, torn=isinstance(error, _TornError))
        else:
            yield Seal(file.tell())


def _find_next(file: io.BufferedReader, magic: bytes) -> int:
    """Go to where a member seems to begin, or to the end of the file; return the place.

    The search goes on from where unpacking stopped, never back: the time is linear whatever the file pretends.
    """
    while block := file.read(PACKED):
        found = block.find(magic)
        if found >= 0:
            return file.seek(found - len(block), os.SEEK_CUR)
        if len(block) >= len(magic) and file.peek(1):
            file.seek(1 - len(magic), os.SEEK_CUR)  # it may begin in this block and end in the next
    return file.tell()


def _unpack_gzip(file: io.BufferedReader) -> Iterator[bytes]:
    """Yield the content of a gzip member (RFC 1952), and pass over the zeros that pad it."""
    _read_gzip_header(file)
    inflater, crc, size, step = zlib.decompressobj(-zlib.MAX_WBITS), 0, 0, FIRST_READ
    while not inflater.eof:
        packed = inflater.unconsumed_tail or file.read(step)
        before, step = inflater.copy(), min(2 * step, PACKED)
        try:
            content = inflater.decompress(packed, UNPACKED) if packed else inflater.flush()
        except zlib.error as error:
            content, unread = _salvage(before, packed)
            file.seek(-unread, os.SEEK_CUR)
            yield content
            raise _UnreadableError(f"what cannot be unpacked ({error})") from None
        crc, size = zlib.crc32(content, crc), size + len(content)
        yield content
        if not packed and not inflater.eof:
            raise _TornError(TORN_MEMBER)
    file.seek(-len(inflater.unused_data), os.SEEK_CUR)
    if _read(file, 8, TORN_MEMBER) != _gzip_trailer(crc, size):
        raise _ChecksumError
    _pass_zeros(file)


def _read_gzip_header(file: io.BufferedReader) -> None:
    begin = file.read(len(GZIP_MAGIC))
    if begin != GZIP_MAGIC:
        file.seek(1 - len(begin), os.SEEK_CUR)
        raise _UnreadableError("what is no gzip member")
    flags = _read(file, 7, TORN_MEMBER)[0]
    if flags & RESERVED:
        raise _UnreadableError("a gzip member of an unknown kind")
    if flags & HAS_EXTRA:
        _read(file, int.from_bytes(_read(file, 2, TORN_MEMBER), "little"), TORN_MEMBER)
    for flag in (HAS_NAME, HAS_COMMENT):
        while flags & flag and _read(file, 1, TORN_MEMBER) != b"\0":
            pass
    if flags & HAS_CHECKSUM:
        _read(file, 2, TORN_MEMBER)


def _gzip_trailer(crc: int, size: int) -> bytes:
    return crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")


def _salvage(inflater: Any, packed: bytes) -> tuple[bytes, int]:
    """Return all that can be unpacked before an error, and how many packed bytes are left: the library gives nothing.

    The most output that raises no error is found by halving.
    """
    content, unread = b"", len(packed)
    most, too_many = 0, UNPACKED
    while too_many - most > 1:
        middle, attempt = (most + too_many) // 2, inflater.copy()
        try:
            content = attempt.decompress(packed, middle)
        except zlib.error:
            too_many = middle
        else:
            most, unread = middle, len(attempt.unconsumed_tail)
    return content, unread


def _pass_zeros(file: io.BufferedReader) -> None:
    while ahead := file.peek(1):
        zeros = len(ahead) - len(ahead.lstrip(b"\0"))
        file.read(zeros)
        if zeros < len(ahead):
            return


def _unpack_zstd(file: io.BufferedReader, decompressor: Any, failure: type[Exception]) -> Iterator[bytes]:
    """Yield the content of a zstd frame (RFC 8878) block by block, so that an error takes no block before it along."""
    magic = _read(file, 4, TORN_FRAME)
    if int.from_bytes(magic, "little") in SKIPPABLE:
        _pass_over(file, int.from_bytes(_read(file, 4, TORN_FRAME), "little"))
        return
    if magic != ZSTD_MAGIC:
        file.seek(-3, os.SEEK_CUR)
        raise _UnreadableError("what is no zstd frame")
    header, has_checksum = _read_zstd_header(file)
    frame, last = decompressor.decompressobj(), False
    try:
        frame.decompress(magic + header)
        while not last:
            last, block = _read_zstd_block(file)
            yield frame.decompress(block)
    except failure as error:
        raise _UnreadableError(f"what cannot be unpacked ({error})") from None
    try:
        if has_checksum:
            frame.decompress(_read(file, 4, TORN_FRAME))
    except failure:
        raise _ChecksumError from None


def _read_zstd_header(file: io.BufferedReader) -> tuple[bytes, bool]:
    """Return the header of a frame after its magic number, and whether a checksum follows the blocks."""
    first = _read(file, 1, TORN_FRAME)
    single, size_flag, dictionary_flag = first[0] >> 5 & 1, first[0] >> 6, first[0] & 3
    size = (1 - single) + (0, 1, 2, 4)[dictionary_flag] + (single, 2, 4, 8)[size_flag]
    return first + _read(file, size, TORN_FRAME), bool(first[0] & 4)


def _read_zstd_block(file: io.BufferedReader) -> tuple[bool, bytes]:
    """Return whether a block is the last of its frame, and its bytes."""
    begin = _read(file, 3, TORN_FRAME)
    number = int.from_bytes(begin, "little")
    last, kind, size = number & 1, number >> 1 & 3, number >> 3
    if kind == NO_BLOCK or size > LARGEST_BLOCK:
        raise _UnreadableError("what is no zstd block")
    return bool(last), begin + _read(file, 1 if kind == RUN else size, TORN_FRAME)


def _pass_over(file: io.BufferedReader, size: int) -> None:
    if file.tell() + size > os.fstat(file.fileno()).st_size:
        file.seek(0, os.SEEK_END)
        raise _TornError(TORN_FRAME)
    file.seek(size, os.SEEK_CUR)


def _read(file: io.BufferedReader, size: int, otherwise: str) -> bytes:
    """Return exactly so many bytes."""
    found = file.read(size)
    if len(found) < size:
        raise _TornError(otherwise)
    return found

"""One versioned file of arrays and JSON: how anything in Tacit is saved. Nothing is ever pickled.

The file is a zip: `tacit.json` holds the format, the version, the kind of thing saved and a tree of plain
values, in which an array is a reference to a `.npy` member. Equal states give equal files, byte for byte.

A file is not trusted with memory. Its directory says what it would unpack to, and its own size bounds that before
anything is unpacked (`FREE`, `RATIO`); what packs tighter is stored unpacked, so that all that is saved can be loaded.
What a tree must hold, its readers check (`tacit.base.saved`).
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import stat
import threading
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from tacit.base.files import write_atomically

FORMAT = "tacit checkpoint"
VERSION = 4
"""Raised when files of an earlier Tacit can no longer be read; they are refused."""
HEADER = "tacit.json"
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    TypeError,
    ValueError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,  # with it RecursionError, of JSON that is nested too deeply
    tokenize.TokenError,  # of the head of an array, a Python literal, that does not end
)
"""All that reading a damaged zip, JSON or array was seen to raise."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every member: the earliest a zip can hold, so that files depend on content alone."""

FREE = 64 << 20
"""Bytes of memory that any file may take: few enough for every machine."""
RATIO = 100
"""Times its own size that a larger file may take. Zeros pack to a thousandth, what was learned to a half or a tenth."""
MOST_MEMBERS = 1 << 20
"""Members of a file; an open episode has two."""
BYTES_A_CHARACTER, BYTES_A_VALUE = 6, 100
"""Memory that JSON takes: its text, packed, read and decoded, and a Python object for each value in it."""
PARSING = threading.Lock()
"""Held while NumPy reads the head of an array: it is a Python literal, and Python 3.11 fails, with a SystemError, where
several threads turn literals into syntax trees at once."""
KEPT_KINDS = "biuf"
"""Arrays that are kept: booleans, integers, floats."""
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
"""The numbers that JSON does not have, by the words that stand for them."""


class CheckpointError(ValueError):
    """A file that cannot be loaded; the message says why and what to do."""


class Still:
    """A tree (dicts, lists, plain values, arrays) as it is now: it can be written later, while what it is of goes on.

    >>> numbers = np.zeros(2)
    >>> still = Still("numbers", {"numbers": numbers})
    >>> numbers[0] = 1.0
    >>> still.pack() == Still("numbers", {"numbers": np.zeros(2)}).pack()
    True
    """

    def __init__(self, kind: str, tree: Mapping[str, Any]) -> None:
        arrays: list[np.ndarray[Any, Any]] = []
        self._header = {"format": FORMAT, "version": VERSION, "kind": kind, "tree": _detach(tree, arrays)}
        self._arrays = [array.copy("K") for array in arrays]
        if len(arrays) >= MOST_MEMBERS:
            raise ValueError(
                f"a file holds fewer than {MOST_MEMBERS} arrays, got {len(arrays)}; abandon episodes that will not end"
            )

    def pack(self) -> bytes:
        """Return the content of its file."""
        members = {HEADER: json.dumps(self._header, allow_nan=False).encode()}
        members |= {f"{number}.npy": _array_file(array) for number, array in enumerate(self._arrays)}
        content, sizes = _pack(members), sum(map(len, members.values()))
        if sizes + json_memory(members[HEADER]) > _allowed(len(content)):
            content = _pack(members, stored_above=RATIO)
        return content

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all."""
        write_atomically(path, self.pack())


def save_tree(path: str | os.PathLike[str], kind: str, tree: Mapping[str, Any]) -> None:
    """Write `tree` (dicts, lists, plain values, arrays) to `path`, whole or not at all."""
    Still(kind, tree).save(path)


def load_tree(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """Return the tree that `save_tree` wrote, or raise CheckpointError."""
    with _open_file(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                allowed = _allowed(os.fstat(file.fileno()).st_size)
                text = _read_header(archive, allowed)
                header = _check_header(path, kind, json.loads(text, object_pairs_hook=_once))
                tree: dict[str, Any] = _Members(archive).attach_all(header["tree"])
                return tree
        except CheckpointError:
            raise
        except DAMAGE as error:
            raise CheckpointError(
                f"{os.fspath(path)!r} is not a whole Tacit checkpoint ({error}); it is truncated, damaged or "
                "another program's: use an earlier copy"
            ) from error


def digest_tree(tree: Mapping[str, Any]) -> str:
    """Return a SHA-256 of a tree's content; what was saved and loaded has the same.

    >>> digest_tree({"a": (1, 2)}) == digest_tree({"a": [1, 2]}) != digest_tree({"a": [2, 1]})
    True
    """
    arrays: list[np.ndarray[Any, Any]] = []
    digest = hashlib.sha256(json.dumps(_detach(tree, arrays), sort_keys=True).encode())
    for array in arrays:
        digest.update(_array_file(array))
    return digest.hexdigest()


def json_memory(text: bytes) -> int:
    """Return about how many bytes JSON takes when it is read: an upper bound, from its length and its commas.

    >>> json_memory(b'[1, [2]]')
    348
    """
    values = text.count(b",") + text.count(b"[") + text.count(b"{")
    return BYTES_A_CHARACTER * len(text) + BYTES_A_VALUE * values


def _allowed(size: int) -> int:
    """Return how much memory a file of so many bytes may take."""
    return max(FREE, RATIO * size)


def _open_file(path: str | os.PathLike[str]) -> IO[bytes]:
    """Return the file, open; refuse what is none before it is opened, for a pipe would wait for somebody to write."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise CheckpointError(f"{os.fspath(path)!r} is not a regular file; give a file that Tacit saved")
        return open(path, "rb")
    except FileNotFoundError:
        raise CheckpointError(f"there is no file {os.fspath(path)!r}; check the path") from None
    except OSError as error:
        raise CheckpointError(
            f"{os.fspath(path)!r} cannot be read: {error.strerror or error}; check its path and permissions"
        ) from error


def _read_header(archive: zipfile.ZipFile, allowed: int) -> str:
    """Return the JSON of a file, once its directory and then the JSON's values are seen to fit into memory."""
    infos = archive.infolist()
    expected = {HEADER, *(f"{number}.npy" for number in range(len(infos) - 1))}
    if len(infos) > MOST_MEMBERS or {info.filename for info in infos} != expected:
        raise ValueError("its members are not those that Tacit writes, each once")
    if any(info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for info in infos):
        raise ValueError("its members are packed in a way that Tacit does not use")
    sizes = sum(info.file_size for info in infos)
    _check_memory(sizes + BYTES_A_CHARACTER * archive.getinfo(HEADER).file_size, allowed)
    text = archive.read(HEADER)
    _check_memory(sizes + json_memory(text), allowed)
    return text.decode(
        "ascii"
    )  # as it is written: any other character would make all of them four bytes wide


def _check_memory(needed: int, allowed: int) -> None:
    if needed > allowed:
        raise ValueError(
            f"it would take {needed >> 20} MB of memory, and one of its size may take {allowed >> 20}"
        )


def _check_header(path: str | os.PathLike[str], kind: str, header: Any) -> Any:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise CheckpointError(f"{os.fspath(path)!r} is not a Tacit checkpoint; give a file that Tacit saved")
    if header.get("version") != VERSION:
        older = isinstance(header.get("version"), int) and header["version"] < VERSION
        remedy = "make it anew, or use the Tacit that wrote it" if older else "upgrade Tacit"
        raise CheckpointError(
            f"{os.fspath(path)!r} has checkpoint version {header.get('version')!r}, this Tacit reads {VERSION}; "
            f"{remedy}"
        )
    if header.get("kind") != kind:
        raise CheckpointError(
            f"{os.fspath(path)!r} holds {header.get('kind')!r}, not {kind!r}; load it with what saved it"
        )
    return header


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object in its JSON has a name twice")
    return found


def _detach(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """Return `value` with every array moved to `arrays` and a reference left in its place."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {"dict": {key: _detach(item, arrays) for key, item in value.items()}}
    if isinstance(value, list | tuple):
        return [_detach(item, arrays) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"a checkpoint holds arrays and plain values only, got {type(value).__name__}")


def _array_file(array: np.ndarray[Any, Any]) -> bytes:
    if array.dtype.kind not in KEPT_KINDS:
        raise ValueError(f"a checkpoint holds arrays of numbers, got one of {array.dtype}; convert it")
    member = io.BytesIO()
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    np.lib.format.write_array(member, native, allow_pickle=False)
    return member.getvalue()


def _pack(members: Mapping[str, bytes], stored_above: float = math.inf) -> bytes:
    """Return a zip; members that would pack tighter than `stored_above` times are stored, and then the JSON, too."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            tight = stored_above < math.inf and (
                name == HEADER or len(content) > stored_above * len(zlib.compress(content))
            )
            way = zipfile.ZIP_STORED if tight else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, way)
    return buffer.getvalue()


class _Members:
    """The arrays of an open file; each belongs to one place of the tree."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._waiting = set(range(len(archive.infolist()) - 1))

    def attach_all(self, tree: Any) -> Any:
        """Return the tree with its arrays in their places; refuse arrays that have none."""
        whole = self._attach(tree)
        if self._waiting or not isinstance(whole, dict):
            raise ValueError("its arrays and its tree do not belong together")
        return whole

    def _attach(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._attach(item) for item in value]
        if isinstance(value, dict):
            ((what, content),) = value.items()
            if what == "array" and isinstance(content, int) and content in self._waiting:
                self._waiting.remove(content)
                return _read_array(self._archive, f"{content}.npy")
            if what == "dict" and isinstance(content, dict):
                return {key: self._attach(item) for key, item in content.items()}
            if what == "float" and isinstance(content, str):
                return NOT_FINITE[content]
            raise ValueError(f"its tree holds {what!r}, which stands for nothing")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError("a number in its JSON is not finite")
        return value


def _read_array(archive: zipfile.ZipFile, name: str) -> np.ndarray[Any, Any]:
    """Return the array of a member; memory is only taken once its size is that of the member."""
    with PARSING, archive.open(name) as member:
        dtype, size = _declared(member)
        if dtype.kind not in KEPT_KINDS or not dtype.isnative or size != archive.getinfo(name).file_size:
            raise ValueError(f"{name} declares an array of {dtype} that is not what it holds")
    with PARSING, archive.open(name) as member:
        array: np.ndarray[Any, Any] = np.lib.format.read_array(member, allow_pickle=False)
    if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise ValueError(f"{name} holds booleans that are neither true nor false")
    return array


def _declared(member: IO[bytes]) -> tuple[np.dtype[Any], int]:
    """Return the type of an array, and how many bytes its whole file must have."""
    version = np.lib.format.read_magic(member)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
    shape, _, dtype = read(member)
    return dtype, member.tell() + math.prod(shape) * dtype.itemsize if min(shape, default=0) >= 0 else -1

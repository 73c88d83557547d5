"""One versioned file of arrays and JSON: how anything in Tacit is saved. Nothing is ever pickled.

The file is a zip: `tacit.json` holds the format, the version, the kind of thing saved and a tree of plain
values, in which an array is a reference to a `.npy` member. Equal states give equal files, byte for byte.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.base.files import write_atomically

FORMAT = "tacit checkpoint"
VERSION = 3
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
    RuntimeError,
)
"""All that reading a damaged zip, JSON or array was seen to raise."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every member: the earliest a zip can hold, so that files depend on content alone."""


class CheckpointError(ValueError):
    """A file that cannot be loaded; the message says why and what to do."""


def save_tree(path: str | os.PathLike[str], kind: str, tree: Mapping[str, Any]) -> None:
    """Write `tree` (dicts, lists, plain values, arrays) to `path`, whole or not at all."""
    arrays: list[np.ndarray[Any, Any]] = []
    header = {"format": FORMAT, "version": VERSION, "kind": kind, "tree": _detach(tree, arrays)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER, EPOCH), json.dumps(header))
        for number, array in enumerate(arrays):
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            info = zipfile.ZipInfo(f"{number}.npy", EPOCH)
            archive.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED)
    write_atomically(path, buffer.getvalue())


def load_tree(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """Return the tree that `save_tree` wrote, or raise CheckpointError."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = _check_header(path, kind, json.loads(archive.read(HEADER)))
            tree: dict[str, Any] = _attach(header["tree"], archive)
            return tree
    except FileNotFoundError:
        raise CheckpointError(f"there is no file {os.fspath(path)!r}; check the path") from None
    except CheckpointError:
        raise
    except DAMAGE as error:
        raise CheckpointError(
            f"{os.fspath(path)!r} is not a whole Tacit checkpoint ({error}); it is truncated, damaged or "
            "another program's: use an earlier copy"
        ) from error


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


def _detach(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """Return `value` with every array moved to `arrays` and a reference left in its place."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {"dict": {key: _detach(item, arrays) for key, item in value.items()}}
    if isinstance(value, list | tuple):
        return [_detach(item, arrays) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"a checkpoint holds arrays and plain values only, got {type(value).__name__}")


def _attach(value: Any, archive: zipfile.ZipFile) -> Any:
    if isinstance(value, list):
        return [_attach(item, archive) for item in value]
    if isinstance(value, dict):
        if "array" in value:
            content = archive.read(f"{value['array']}.npy")
            return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        return {key: _attach(item, archive) for key, item in value["dict"].items()}
    return value

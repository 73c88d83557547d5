"""Writes the lock file: for each package its version, and hashes of the files that the version may be installed from.

`make lock` adds hashes to what stands in the file as `name==version` alone; what has hashes was tried, and stays.
Files are found where pip is told to look, so wheels of all platforms are named, and no index.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from tacit.base.files import write_atomically

LOCK = Path(__file__).parents[1] / "requirements.lock"
HEADING = (
    "# What make installs: every package at one version, from files with one of these hashes. "
    "CONTRIBUTING.md says how to renew it.\n"
)


class Pin(NamedTuple):
    """A package, and the version of it that is installed."""

    name: str
    version: str


class Listed(NamedTuple):
    """A file that is to be had, and the sha256 of what is in it."""

    filename: str
    sha256: str


def read_lock(text: str) -> dict[Pin, set[str]]:
    """Return the packages of a lock file with their hashes; there may be none.

    >>> read_lock("# why\\nnumpy==2.4.6 \\\\\\n    --hash=sha256:ab\\nrich==15.0.0\\n")
    {Pin(name='numpy', version='2.4.6'): {'ab'}, Pin(name='rich', version='15.0.0'): set()}
    """
    joined = text.replace("\\\n", " ").splitlines()
    found = [(re.match(r"([\w.-]+)==([^\s;]+)", line), line) for line in joined]
    return {
        Pin(match[1], match[2]): set(re.findall(r"--hash=sha256:(\w+)", line))
        for match, line in found
        if match
    }


def complete(
    pins: Mapping[Pin, set[str]], list_files: Callable[[str], Iterable[Listed]]
) -> dict[Pin, set[str]]:
    """Return the packages, those without hashes with the hashes of their files; ValueError if there is no file.

    >>> files = [Listed("a-1-py3-none-any.whl", "ab"), Listed("a-2-py3-none-any.whl", "ef")]
    >>> complete({Pin("a", "1"): set(), Pin("b", "1"): {"cd"}}, lambda name: files).values()
    dict_values([{'ab'}, {'cd'}])
    """
    completed = {pin: kept or find_hashes(pin, list_files(pin.name)) for pin, kept in pins.items()}
    if missing := [f"{pin.name}=={pin.version}" for pin, hashes in completed.items() if not hashes]:
        raise ValueError(f"every version must have a file, and {missing} have none; pin what is to be had")
    return completed


def find_hashes(pin: Pin, files: Iterable[Listed]) -> set[str]:
    """Return the hashes of a version's files; ValueError if one name stands for two files.

    A local build takes the place of the plain file for the same system: torch 2.13.0+cpu needs no CUDA, 2.13.0 does,
    and pip would take the latter if both were allowed, as an index states its hash and a folder states none.
    """
    hashes: dict[str, str] = {}
    for filename, sha256 in files:
        if _is_of(filename, pin) and hashes.setdefault(filename, sha256) != sha256:
            raise ValueError(
                f"a file must be the same wherever it is found, and {filename} is not; find out which is genuine, and "
                "let pip look nowhere else"
            )
    local = {_system(filename) for filename in hashes if "+" in filename}
    return {hashes[name] for name in hashes if "+" in name or _system(name) not in local}


def write_lock(pins: Mapping[Pin, set[str]]) -> str:
    """Return the text of the lock file.

    >>> print(write_lock({Pin("a", "1"): {"ab"}}).partition("\\n")[2])
    a==1 \\
        --hash=sha256:ab
    <BLANKLINE>
    """
    entries = [
        [f"{pin.name}=={pin.version}", *(f"    --hash=sha256:{each}" for each in sorted(hashes))]
        for pin, hashes in pins.items()
    ]
    return HEADING + "".join(" \\\n".join(entry) + "\n" for entry in entries)


@contextmanager
def files_that_pip_finds() -> Iterator[Callable[[str], Iterator[Listed]]]:
    """Give what lists the files of a package, wherever pip is configured to look.

    No command of pip's tells the files of other platforms, so these are its insides; where they change, this fails.
    """
    from pip._internal.commands import create_command
    from pip._internal.index.collector import parse_links
    from pip._internal.models.link import Link

    command: Any = create_command("index")
    options, _ = command.parse_args(["versions", "any"])

    def list_files(name: str) -> Iterator[Listed]:
        for place in collector.search_scope.get_index_urls_locations(name):
            page = collector.fetch_response(Link(place))
            for link in parse_links(page) if page is not None else ():
                if link.hash_name == "sha256" and link.hash is not None:
                    yield Listed(link.filename, link.hash)
        for folder in collector.search_scope.find_links:
            yield from _hash_files(Path(folder), name)

    with command.main_context():
        finder = command._build_package_finder(options, command.get_default_session(options))
        collector = finder._link_collector
        yield list_files


def _is_of(filename: str, pin: Pin) -> bool:
    """Return whether a file is of a package's version; 2.13.0+cpu is a build of 2.13.0, as it is for pip."""
    try:
        if filename.endswith(".whl"):
            name, version = parse_wheel_filename(filename)[:2]
        else:
            name, version = parse_sdist_filename(filename)
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):  # formats of the past
        return False
    wanted = Version(pin.version)
    found = version if wanted.local else Version(version.public)
    return name == canonicalize_name(pin.name) and found == wanted


def _system(filename: str) -> str:
    """Return what a wheel says of the systems that it is for; nothing for sources.

    >>> _system("a-1.0+cpu-cp311-cp311-linux_x86_64.whl")
    'cp311-cp311-linux_x86_64'
    """
    return "-".join(filename.removesuffix(".whl").split("-")[-3:]) if filename.endswith(".whl") else ""


def _hash_files(folder: Path, name: str) -> Iterator[Listed]:
    if not folder.is_dir():  # a page on the network: pip reads it, and we do not
        return
    for path in sorted(folder.iterdir()):
        if canonicalize_name(path.name.partition("-")[0]) == canonicalize_name(name):
            with path.open("rb") as file:
                yield Listed(path.name, hashlib.file_digest(file, "sha256").hexdigest())


def main() -> None:
    """Complete the lock file."""
    with files_that_pip_finds() as list_files:
        pins = complete(read_lock(LOCK.read_text()), list_files)
    write_atomically(LOCK, write_lock(pins).encode())
    print(f"{LOCK.name}: {len(pins)} packages, {sum(map(len, pins.values()))} files")


if __name__ == "__main__":
    main()

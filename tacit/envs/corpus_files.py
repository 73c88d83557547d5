"""The files of the two corpora: where they belong, what they must contain, how to download them.

Dialog bAbI (Bordes, Boureau and Weston, 2016) is published by Facebook under CC BY 3.0; Sim-M (Shah et al., 2018)
by Google, as is. Tacit does not pass them on: it fetches them from their homes and knows them by their SHA-256.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit.base.files import write_atomically

BABI_HOMES = (
    "https://parl.ai/downloads/dialog_babi/dialog_babi.tar.gz",
    "http://parl.ai/downloads/dialog_babi/dialog_babi.tar.gz",
)
BABI_PAGE = "https://research.facebook.com/downloads/babi/"
SIM_M_PAGE = "https://github.com/google-research-datasets/simulated-dialogue"
_SIM_M_RAW = "https://raw.githubusercontent.com/google-research-datasets/simulated-dialogue/master"

TIMEOUT = 30.0
"""Seconds without a byte after which a server is given up."""

CHUNK = 1 << 16
"""Bytes read between two reports of progress."""

DownloadProgress = Callable[[str, int, int | None], None]
"""Called with a name, the bytes received so far, and how many there will be, where the server says so."""


class CorporaError(RuntimeError):
    """The corpora are not there, are not the ones expected, or cannot be downloaded; the message says what to do."""


@dataclass(frozen=True)
class CorpusFile:
    """A file: its `path` within the data directory, its sum, the addresses it can be had from (or an archive)."""

    path: str
    sha256: str
    homes: tuple[str, ...]
    page: str

    def is_in(self, directory: Path) -> bool:
        """Return whether the directory has this very file."""
        found = directory / self.path
        return found.is_file() and hashlib.sha256(found.read_bytes()).hexdigest() == self.sha256


def _babi(part: str, sha256: str) -> CorpusFile:
    path = f"dialog-babi/dialog-babi-task1-API-calls-{part}.txt"
    return CorpusFile(path, sha256, BABI_HOMES, BABI_PAGE)


def _sim_m(part: str, sha256: str) -> CorpusFile:
    # The repository has had its data in either place.
    homes = tuple(f"{_SIM_M_RAW}/{folder}/{part}.json" for folder in ("data/sim-M", "sim-M"))
    return CorpusFile(f"sim-m/{part}.json", sha256, homes, SIM_M_PAGE)


FILES = (
    _babi("trn", "8eef6011ab86e886eb218e5859ee1015fdcdd8088aba53bd83b2c055671b9575"),
    _babi("dev", "ab73b5f54248dfc8aa6fdee8cc3909e09afab9591686f7a6e306d274c6bbf10a"),
    _babi("tst", "21a3ed26c483ec205d268fa3919f9c48cde48c34e26f79b2f96bd6f4edb60583"),
    _sim_m("train", "241086da5a732de470a7b7f899cd27a84648fd31d9d33159ef00ef3c3c831ea9"),
    _sim_m("dev", "5afd669f6049c658f5abcc2e1c192d54565dfb2f639a16196e0176e0af28b2c8"),
    _sim_m("test", "ec663a1f94b005d4f0a83fd7b83b242785b976bf9613a3eea2b6e10ac1a6b894"),
)
"""The files of both corpora."""


def data_directory() -> Path:
    """Return the user's data directory: TACIT_DATA where it is set, else the usual place of the system."""
    chosen = os.environ.get("TACIT_DATA")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "tacit"
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "tacit"
    shared = os.environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "tacit"


def has_some(directory: Path, files: Sequence[CorpusFile] = FILES) -> bool:
    """Return whether the directory has any file of the corpora, whatever it contains."""
    return any((directory / file.path).is_file() for file in files)


def check_files(directory: Path, files: Sequence[CorpusFile] = FILES) -> None:
    """Raise CorporaError unless the directory has every file as it was published."""
    for file in files:
        found = directory / file.path
        if not found.is_file():
            raise CorporaError(
                f"the corpora need {file.path} in {directory}, which is not there; run `tacit data booking` to "
                f"download them, or {_by_hand(directory, [file])}, or give their directory with `--data DIR`"
            )
        if not file.is_in(directory):
            raise CorporaError(
                f"{found} must be the file as it was published (SHA-256 {file.sha256[:12]}...), got another "
                "content; remove it and run `tacit data booking`"
            )


def download_corpora(
    directory: Path,
    progress: DownloadProgress | None = None,
    files: Sequence[CorpusFile] = FILES,
    timeout: float = TIMEOUT,
) -> int:
    """Download what the directory does not have yet, and return how many files that was.

    Files that are there and right are kept, so an interrupted download goes on where it stopped. Every file is
    checked by its SHA-256 before it is written, whole or not at all.
    """
    missing = [file for file in files if not file.is_in(directory)]
    failures = []
    for homes in dict.fromkeys(file.homes for file in missing):
        # Files with the same homes come in one archive.
        together = [file for file in missing if file.homes == homes]
        try:
            _fetch(together, directory, progress or _say_nothing, timeout)
        except CorporaError as error:
            failures.append(str(error))
    if failures:
        raise CorporaError(
            "\n".join(failures)
            + "\nCheck the connection and run `tacit data booking` again: what has arrived is "
            "kept. Or give a directory that has the folders dialog-babi and sim-m with `--data DIR`."
        )
    return len(missing)


def _fetch(files: Sequence[CorpusFile], directory: Path, progress: DownloadProgress, timeout: float) -> None:
    """Write files that share their homes, from the first home that has them."""
    reasons = []
    for home in files[0].homes:
        try:
            contents = _contents(files, home, _receive(home, progress, timeout))
        except (OSError, tarfile.TarError, EOFError, ValueError) as error:
            reasons.append(f"{home}: {error}")
            continue
        for file, content in zip(files, contents, strict=True):
            path = directory / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
        return
    raise CorporaError(
        f"could not download {', '.join(file.path for file in files)} ({'; '.join(reasons)}): "
        f"{_by_hand(directory, files)}."
    )


def _receive(home: str, progress: DownloadProgress, timeout: float) -> bytes:
    name = home.rsplit("/", 1)[-1]
    request = urllib.request.Request(home, headers={"User-Agent": "tacit"})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        length = answer.headers.get("Content-Length")
        total = int(length) if length else None
        received = bytearray()
        for chunk in _chunks(answer.read):
            received += chunk
            progress(name, len(received), total)
    if total is not None and len(received) != total:
        raise ValueError(f"the connection ended after {len(received)} of {total} bytes")
    return bytes(received)


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while chunk := read(CHUNK):
        yield chunk


def _contents(files: Sequence[CorpusFile], home: str, received: bytes) -> list[bytes]:
    """Return the content of each file from what a home sent, or raise ValueError unless all are right."""
    if home.endswith((".tar.gz", ".tgz")):
        contents = _unpack(received, [file.path.rsplit("/", 1)[-1] for file in files])
    else:
        contents = [received] * len(files)
    for file, content in zip(files, contents, strict=True):
        found = hashlib.sha256(content).hexdigest()
        if found != file.sha256:
            raise ValueError(
                f"{file.path} must have SHA-256 {file.sha256[:12]}..., got {found[:12]}...: not the published file"
            )
    return contents


def _unpack(archive: bytes, names: Sequence[str]) -> list[bytes]:
    found = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if content is not None:
                found[member.name.rsplit("/", 1)[-1]] = content.read()
    absent = [name for name in names if name not in found]
    if absent:
        raise ValueError(f"the archive must contain {absent[0]}, got {len(found)} other files")
    return [found[name] for name in names]


def _by_hand(directory: Path, files: Sequence[CorpusFile]) -> str:
    """Return what to do without a download."""
    them = "them" if len(files) > 1 else "it"
    return f"get {them} by hand from {files[0].page} into {directory / Path(files[0].path).parent}"


def _say_nothing(name: str, received: int, total: int | None) -> None:
    """Report no progress."""

"""Links by which a person reacts without a key: signed, for one episode, until they expire.

A link holds the agent, the episode, when it expires, and the feedback if that is settled; HMAC-SHA256 under the
service's secret keeps all of it from being changed. It is signed, not hidden: who has it can read it. Following a link
gives no feedback, for programs that look through e-mail follow links: the page that it leads to has a button, which
does.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tacit.base.files import sync_folder

SECRET = "links.secret"
"""The file of the secret in the folder of a service."""
SECRET_BYTES = 32
DAY = 86_400
SHORT = {"agent": "a", "number": "n", "episode": "e", "expires": "x", "feedback": "f"}
"""Names in a token, which goes into e-mails."""
MOST_TOKEN = 4_000
"""Characters of a token: what proxies and mail programs carry."""


class LinkBody(Struct, forbid_unknown_fields=True):
    """For how many seconds a link holds, and the feedback that it gives; without one the person chooses."""

    expires: Annotated[int, Meta(ge=1, le=366 * DAY)] = 7 * DAY
    feedback: Any | UnsetType = UNSET


class Linked(Struct):
    """A link, and when it expires, in seconds since 1970."""

    url: str
    expires: int


class Grant(Struct, rename=SHORT):
    """What a link allows: feedback on an episode of an agent, by its name and number, until a time.

    If it holds feedback, that alone.
    """

    agent: str
    number: int
    episode: str
    expires: int
    feedback: Any | UnsetType = UNSET


class LinkError(ValueError):
    """A link that allows nothing: `gone` if it did once."""

    def __init__(self, message: str, gone: bool) -> None:
        super().__init__(message)
        self.gone = gone


class Signer:
    """Signs links and checks them.

    >>> signer = Signer(b"s" * 32)
    >>> token = signer.sign(Grant("shop", 1, "e1", 100))
    >>> signer.read(token, now=99.0).episode
    'e1'
    >>> signer.read(token, now=100.0)
    Traceback (most recent call last):
    ...
    tacit.service.links.LinkError: this link has expired
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def sign(self, grant: Grant) -> str:
        """Return the token of a link; ValueError if it would be too long."""
        told = msgspec.json.encode(grant)
        token = f"{_write(told)}.{_write(self._signature(told))}"
        if len(token) > MOST_TOKEN:
            raise ValueError(
                f"a link has at most {MOST_TOKEN} characters, got {len(token)}; shorten the id or feedback"
            )
        return token

    def read(self, token: str, now: float) -> Grant:
        """Return what a token allows, or raise LinkError."""
        told, _, signature = token.partition(".")
        wrong = LinkError("this link is not one of ours, or was changed on its way", False)
        if len(token) > MOST_TOKEN or not token.isascii():
            raise wrong
        try:
            content, signed = _read(told), _read(signature)
        except (binascii.Error, ValueError):
            raise wrong from None
        if not hmac.compare_digest(signed, self._signature(content)) or _write(signed) != signature:
            raise wrong
        grant = msgspec.json.decode(content, type=Grant)
        if now >= grant.expires:
            raise LinkError("this link has expired", True)
        return grant

    def _signature(self, content: bytes) -> bytes:
        return hmac.digest(self._secret, b"tacit link\n" + content, hashlib.sha256)


def open_signer(folder: Path) -> Signer:
    """Return who signs with the secret in a folder, which is made if there is none; its owner alone may read it."""
    path = folder / SECRET
    if not path.exists():
        folder.mkdir(0o700, parents=True, exist_ok=True)
        _make_secret(path)
    secret = path.read_bytes()
    if len(secret) != SECRET_BYTES:
        raise ValueError(
            f"{path} holds a secret of {SECRET_BYTES} bytes, got {len(secret)}; restore it, or remove it to end links"
        )
    return Signer(secret)


def _make_secret(path: Path) -> None:
    """Write a secret that is whole when it has its name; who comes second keeps the first one's."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, secrets.token_bytes(SECRET_BYTES))
        os.fsync(descriptor)
        os.link(part, path)
    except FileExistsError:
        pass
    finally:
        os.close(descriptor)
        os.unlink(part)
    sync_folder(path.parent)


def _write(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _read(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)

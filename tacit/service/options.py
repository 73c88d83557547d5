"""How a service is set up: by a file, the environment and flags; what comes later in that order wins.

A file is TOML with options by name, `port = 8040`; in the environment the same is `TACIT_SERVE_PORT=8040`. Names that
are not known are refused wherever they stand: a limit that was misspelt would be none.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PREFIX = "TACIT_SERVE_"
"""Of options in the environment."""
FILE = "config"
"""The option that names the file, in the environment and among flags."""
FOLDER = Path("tacit-data")
"""Where a service keeps things if nothing else is said."""
SECRET = ("database",)
"""Options whose values are not repeated in errors: they may hold a password."""

ReadOption = Callable[[Any], Any]


def _whole(low: int, high: int) -> ReadOption:
    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
            raise ValueError
        return number

    return read


def _number(low: float, high: float) -> ReadOption:
    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        number = float(value)
        if not math.isfinite(number) or not low <= number <= high:
            raise ValueError
        return number

    return read


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[value.lower()]


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [each.strip() for each in value.split(",") if each.strip()]
    return tuple(_text(each) for each in value)


def _path(value: Any) -> Path:
    return value if isinstance(value, Path) else Path(_text(value))


def _choice(*known: str) -> ReadOption:
    def read(value: Any) -> str:
        if value not in known:
            raise ValueError
        return str(value)

    return read


def _address(value: Any, whole: bool = False) -> str:
    """Return an http address without the last stroke; `whole`: that of a site, with nothing after its name."""
    parts = urlsplit(_text(value))
    odd = parts.query or parts.fragment or parts.username or (whole and parts.path.strip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or odd:
        raise ValueError
    return str(value).rstrip("/")


def _origins(value: Any) -> tuple[str, ...]:
    return tuple(_address(each, whole=True) for each in _texts(value))


def _database(value: Any) -> str | None:
    if value is not None and urlsplit(_text(value)).scheme not in ("postgresql", "postgres"):
        raise ValueError
    return value  # type: ignore[no-any-return]


def _option(default: Any, read: ReadOption, rule: str) -> Any:
    return field(default=default, metadata=_rule(read, rule))


def _rule(read: ReadOption, rule: str) -> dict[str, Any]:
    return {"read": read, "rule": rule}


@dataclass(frozen=True)
class ServiceOptions:
    """Everything that can be chosen of a service; each value is checked.

    >>> ServiceOptions(port=80_000)
    Traceback (most recent call last):
    ...
    ValueError: port is a whole number from 0 to 65535, 0 finds a free one; got 80000
    """

    host: str = _option("127.0.0.1", _text, "the address to listen at")
    port: int = _option(8040, _whole(0, 65_535), "a whole number from 0 to 65535, 0 finds a free one")
    data: Path = field(default=FOLDER, metadata=_rule(_path, "the folder of the journal, keys and secrets"))
    database: str | None = _option(None, _database, "postgresql://..., in place of SQLite in the folder")
    public_url: str | None = _option(
        None, lambda v: v if v is None else _address(v), "the http address that people see, for links"
    )
    advertise: str | None = _option(
        None,
        lambda v: v if v is None else _address(v),
        "the http address at which other services find this one",
    )
    origins: tuple[str, ...] = _option((), _origins, "sites whose pages may call, as https://shop.example")
    proxies: tuple[str, ...] = _option(
        ("127.0.0.1", "::1"), _texts, "addresses of proxies whose X-Forwarded-For is believed"
    )
    body_bytes: int = _option(1 << 20, _whole(1_000, 1 << 30), "a whole number of bytes from 1000 to 2^30")
    body_seconds: float = _option(10.0, _number(0.1, 3600), "seconds from 0.1 to 3600 for a body to arrive")
    key_rate: float = _option(0.0, _number(0, 1e6), "requests a second of a key, 0 for any number")
    address_rate: float = _option(0.0, _number(0, 1e6), "requests a second of an address, 0 for any number")
    stranger_rate: float = _option(
        10.0, _number(0, 1e6), "requests a second of an address with a link or a wrong key, 0 for any number"
    )
    models: tuple[str, ...] = _option(
        (),
        _texts,
        "names of models and encoders that agents may be made with, beside those that come with Tacit",
    )
    agents: int = _option(1_000, _whole(1, 1_000_000), "a whole number of agents from 1 to a million")
    open_episodes: int = _option(
        100_000, _whole(1, 100_000_000), "a whole number of open episodes an agent, from 1 to 100 million"
    )
    open_metrics: bool = _option(False, _flag, "true if /metrics needs no key, or false")
    log: str = _option("json", _choice("json", "text"), "json or text")
    access_log: bool = _option(False, _flag, "true if every request is logged, or false")
    telemetry: bool = _option(False, _flag, "true if evaluations go to OpenTelemetry, or false")
    stop_seconds: int = _option(
        10, _whole(1, 3600), "whole seconds from 1 to 3600 for what is under way at a stop"
    )

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            value = read_option(each.name, getattr(self, each.name))
            object.__setattr__(self, each.name, value)


OPTIONS = {each.name: each for each in dataclasses.fields(ServiceOptions)}
"""The options by name."""


def read_option(name: str, value: Any, where: str = "") -> Any:
    """Return the value of an option as it should be, or raise ValueError that says the rule."""
    if name not in OPTIONS:
        raise ValueError(f"{where}there is no option {name!r}; options are {', '.join(OPTIONS)}")
    rule = OPTIONS[name].metadata
    try:
        return rule["read"](value)
    except (ValueError, TypeError, KeyError, AttributeError):
        got = "something else" if name in SECRET else repr(value)
        raise ValueError(f"{where}{name} is {rule['rule']}; got {got}") from None


def read_options(
    environment: Mapping[str, str], flags: Mapping[str, Any], file: Path | None = None
) -> ServiceOptions:
    """Return the options of a file, the environment and flags, of which those that are None were not given.

    >>> read_options({"TACIT_SERVE_PORT": "1", "TACIT_SERVE_LOG": "text", "HOME": "/"}, {"port": 2}).port
    2
    """
    told = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environment.items()
        if name.startswith(PREFIX)
    }
    named = told.pop(FILE, None)
    file = file if file is not None else Path(named) if named else None
    chosen: dict[str, Any] = {}
    for name, value in (_read_file(file) if file is not None else {}).items():
        chosen[name] = read_option(name, value, f"in {file}: ")
    for name, value in told.items():
        chosen[name] = read_option(name, value, f"in the environment, {PREFIX}{name.upper()}: ")
    for name, value in flags.items():
        if value is not None:
            chosen[name] = read_option(name, value, f"--{name.replace('_', '-')}: ")
    return ServiceOptions(**chosen)


def read_settings(given: list[str]) -> dict[str, str]:
    """Return options that were written as NAME=VALUE.

    >>> read_settings(["body-bytes=4000"])
    {'body_bytes': '4000'}
    """
    read = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign:
            raise ValueError(f"--set takes NAME=VALUE, as body-bytes=100000; got {each!r}")
        read[name.strip().replace("-", "_")] = value.strip()
    return read


def _read_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise OSError(
            f"the options in {file} cannot be read: {error.strerror}; name another --config"
        ) from None
    except ValueError as error:
        raise ValueError(
            f"{file} holds options in TOML, as `port = 8040`; got what is none: {error}"
        ) from None

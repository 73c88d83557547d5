"""Columns of CSV files: which of them holds what of an episode, and what a cell of it says.

A column that has the name of a key of the format holds it; others are named. A row is a step, and rows of the same
`episode` are one, or it is an episode: of one step where no column names episodes, of several where there are several
columns of states and actions (named, or `state_1`, `action_1`, `state_2`, ...).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count, takewhile
from typing import Any

from tacit.logs.dsjson import FIRST_STATE
from tacit.logs.files import parse_json
from tacit.logs.record import LogError

STEP_KEYS = ("state", "action", "actions", "probability")
"""What a step has, in a column each; several columns are those of several steps."""
EPISODE_KEYS = ("episode", "context", "feedback", "abandoned", "reward", "time", "user")
"""What an episode has; several columns of a context are its fields."""
COMMON = ("context", "feedback", "abandoned", "reward", "user")
"""What an episode has once, whatever the number of its rows; of times the first counts."""
KEYS = (*EPISODE_KEYS, *STEP_KEYS)
CONSTANTS = {"context": "everybody", "state": FIRST_STATE}
"""What stands for a context or a state of which it was said that no column holds it."""
NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")
"""What is read as a number: as JSON writes them. 007 and phone numbers of 20 digits are names."""
TRUE, FALSE = ("true", "yes", "1"), ("false", "no", "0")
OFFERED = "|"
"""What stands between actions on offer in a cell that holds no JSON."""

SHORT = 32
"""Characters up to which what a cell says is remembered."""

Cells = Sequence[str]


@dataclass(frozen=True)
class CsvSettings:
    """How CSV files are read: columns by what they hold, and what the files do not say of themselves.

    `columns` names those that are not called as the format calls it, "" where there is none (of contexts and
    states); `strings` are those whose cells are never numbers or JSON. What stands between cells is read off the
    header, the encoding is UTF-8 or that of the byte order mark, unless given.

    >>> CsvSettings({"state": "page", "context": ["age", "visits"]}).named("context")
    ('age', 'visits')
    """

    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    strings: Sequence[str] = ()
    delimiter: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        for key in (*self.columns, *self.strings):
            if key not in KEYS:
                raise LogError(f"a column holds one of {KEYS}, got {key!r}; say --column {KEYS[1]}=NAME")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\n\r'):
            raise LogError(
                f"a delimiter must be one character and no quote, got {self.delimiter!r}; say ; or tab"
            )

    def named(self, key: str) -> tuple[str, ...] | None:
        """Return the columns that were named for a key, None if nothing was said of it."""
        names = self.columns.get(key)
        return (names,) if isinstance(names, str) else None if names is None else tuple(names)


class Columns:
    """The columns of one file: where each key stands, and what the cells of a row say.

    >>> columns = Columns(["page", "action", "context", "n"], CsvSettings({"state": "page"}), ",", "day.csv")
    >>> columns.steps(["home", "3", "new", "1"]), columns.context(["home", "3", "new", "1"]), columns.row_is_step
    ([{'state': 'home', 'action': 3}], 'new', False)
    """

    def __init__(self, header: Sequence[str], settings: CsvSettings, delimiter: str, file: str) -> None:
        self._header, self._settings, self._file = header, settings, file
        self._decimal_comma = delimiter != ","
        self._places = {key: self._find(key) for key in KEYS}
        self._read = {key: self._reader(key) for key in KEYS}
        for key in ("context", "state", "action"):
            if not self._places[key] and settings.named(key) != ("",):
                raise self._missing(key)
        n = max(len(self._places[key]) for key in STEP_KEYS)
        self._check_steps(n)
        self._steps = [
            [(key, self._places[key][step], self._read[key]) for key in STEP_KEYS if self._places[key]]
            for step in range(n)
        ]
        self.common = [key for key in COMMON if self._places[key] or key == "context"]
        self.row_is_step = n == 1 and bool(self._places["episode"])
        self.name_place = self._places["episode"][0] if self._places["episode"] else None

    def steps(self, cells: Cells) -> list[dict[str, Any]]:
        """Return the steps of a row; those of which nothing is told, at its end, are none."""
        steps = []
        for columns in self._steps:
            step = {key: value for key, place, read in columns if (value := read(cells[place])) is not None}
            steps.append(step)
        while steps and not steps[-1]:
            steps.pop()
        if not self._places["state"]:
            for step in steps:
                step["state"] = CONSTANTS["state"]
        return steps

    def context(self, cells: Cells) -> Any:
        """Return the context of a row: a value, an object if several columns hold its fields; None without."""
        places, read = self._places["context"], self._read["context"]
        if not places:
            return CONSTANTS["context"]
        if len(places) == 1:
            return read(cells[places[0]])
        fields = {self._header[place]: read(cells[place]) for place in places}
        return fields if any(value is not None for value in fields.values()) else None

    def value(self, key: str, cells: Cells) -> Any:
        """Return what a row says of its episode, None for nothing."""
        if key == "context":
            return self.context(cells)
        places = self._places[key]
        return self._read[key](cells[places[0]]) if places else None

    def name(self, cells: Cells) -> str | int | None:
        """Return the name of the episode that a row belongs to, None without."""
        value = self.value("episode", cells)
        if value is None or type(value) is int:
            return value
        assert self.name_place is not None
        return cells[self.name_place].strip()

    def holder(self, key: str) -> str:
        """Return the name of the first column that holds a key."""
        return self._header[self._places[key][0]] if self._places[key] else key

    def _find(self, key: str) -> list[int]:
        """Return the places of the columns that hold a key."""
        named, header = self._settings.named(key), self._header
        if named == ("",) and key in CONSTANTS:
            return []
        if named is None:
            numbered = takewhile(lambda name: name in header, (f"{key}_{n}" for n in count(1)))
            named = (key,) if key in header else tuple(numbered) if key in STEP_KEYS else ()
        if missing := [name for name in named if name not in header]:
            raise LogError(
                f"a column that is named must be in the file, got --column {key}={missing[0]}, but {self._file!r} has "
                f"{list(header)}; name one of them"
            )
        if twice := [name for name in named if header.count(name) > 1]:
            raise LogError(
                f"a column must be there once, {self._file!r} has {twice[0]!r} twice; rename one of them"
            )
        if len(named) > 1 and key not in (*STEP_KEYS, "context"):
            raise LogError(
                f"an episode has one {key}, got the columns {list(named)} for it; name one of them"
            )
        return [header.index(name) for name in named]

    def _missing(self, key: str) -> LogError:
        none = f", or --column {key}= if there is none" if key in CONSTANTS else ""
        return LogError(
            f"a CSV file must have a column for the {key}, got {list(self._header)} in {self._file!r}; name it with "
            f"--column {key}=NAME{none}"
        )

    def _check_steps(self, n: int) -> None:
        odd = {key: len(self._places[key]) for key in STEP_KEYS if len(self._places[key]) not in (0, n)}
        if odd:
            raise LogError(
                f"a row of several steps must have as many columns of each kind, got {n} of one and {odd} in "
                f"{self._file!r}; name a column for each step"
            )

    def _reader(self, key: str) -> Callable[[str], Any]:
        if key in self._settings.strings:
            return text_of
        if key in ("probability", "reward"):
            return self._number
        return {"actions": offered_of, "abandoned": flag_of, "time": text_of}.get(key, value_of)

    def _number(self, cell: str) -> Any:
        return value_of(cell.replace(",", ".") if self._decimal_comma else cell)


def text_of(cell: str) -> str | None:
    """Return a cell as it stands, None if it is empty."""
    return cell.strip() or None


def value_of(cell: str) -> Any:
    """Return what a cell says: a number, what JSON's brackets hold, or text; None if it is empty.

    >>> value_of("7"), value_of("0.5"), value_of("007"), value_of('{"age": 41}'), value_of("[sic]"), value_of("")
    (7, 0.5, '007', {'age': 41}, '[sic]', None)
    """
    return _known_value(cell) if len(cell) <= SHORT else _value(cell)


def _value(cell: str) -> Any:
    cell = cell.strip()
    if not cell:
        return None
    if cell[0] in "-0123456789":
        if NUMBER.fullmatch(cell) is None:
            return cell
        number = int(cell) if cell.lstrip("-").isdigit() else float(cell)
        return number if math.isfinite(number) else cell
    if cell[0] in "[{":
        try:
            return parse_json(cell.encode())
        except ValueError:
            return cell
    return cell


_known_value = lru_cache(4096)(_value)  # most cells of a file are few words


def offered_of(cell: str) -> Any:
    """Return the actions of a cell: a list in JSON, or words with | between them.

    >>> offered_of("ask|show"), offered_of("[1, 2]"), offered_of("")
    (['ask', 'show'], [1, 2], None)
    """
    value = value_of(cell)
    if isinstance(value, str):
        return [value_of(word) for word in value.split(OFFERED)]
    return value if value is None or isinstance(value, list) else [value]


def flag_of(cell: str) -> Any:
    """Return whether a cell says yes or no; what says neither as it stands."""
    word = cell.strip().lower()
    return True if word in TRUE else None if word in FALSE or not word else cell

"""Steps that come again: parsed logs have few different ones, so each is checked once and shared by its records."""

from __future__ import annotations

from typing import Any

from tacit.logs.files import dump_json
from tacit.logs.record import Fault, StepRecord, find_steps_fault

MOST_BYTES = 4 << 20
"""Of different steps, as JSON, that are known again: some ten thousand, which take six times as much as objects."""


class CommonSteps(list[StepRecord]):
    """The steps of every record that has just these: one object, a key by what it is and not by what it holds.

    `made` is what their readers made of them, which lives no longer than they do: readers go on to other logs.
    """

    __slots__ = ("made",)
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, steps: list[StepRecord]) -> None:
        super().__init__(steps)
        self.made: dict[Any, Any] = {}


class KnownSteps:
    """Steps that were met and break no rule.

    >>> known = KnownSteps()
    >>> records = [{"steps": [{"state": "start", "action": "ask"}]} for _ in range(2)]
    >>> [known.find_fault(record) for record in records], records[0]["steps"] is records[1]["steps"]
    ([None, None], True)
    """

    def __init__(self) -> None:
        self._known: dict[bytes, CommonSteps] = {}
        self._bytes = 0

    def find_fault(self, record: dict[str, Any]) -> Fault | None:
        """Return the first rule that a record's steps break; sound ones take the place of the same in the record.

        The record must be parsed from JSON: only then do steps that are written alike hold the same.
        """
        steps = record.get("steps")
        try:
            written = dump_json(steps)
        except TypeError:  # nested deeper than orjson writes
            return find_steps_fault(record)
        common = self._known.get(written)
        if common is None:
            if (fault := find_steps_fault(record)) is not None or self._bytes > MOST_BYTES:
                return fault
            common = self._known[written] = CommonSteps(record["steps"])
            self._bytes += len(written)
        record["steps"] = common
        return None

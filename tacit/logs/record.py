"""The log format: one episode a line, what was shown, done and said. `docs/log-format.md` describes it.

    {"episode": 7, "context": "new", "steps": [{"state": "start", "action": "ask", "actions": ["ask", "tell"],
     "probability": 0.5}], "feedback": "thanks", "reward": 1}

A line is parsed and checked once and is an `EpisodeRecord` from then on: the form in which surveys, fits and labels
read logs. The rules stand here as a JSON Schema and as checks that explain themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NotRequired, TypedDict


class LogError(ValueError):
    """Logs that cannot be used; the message says where, why and what to do."""


class NothingUsableError(LogError):
    """Logs of which nothing is left to work with; the message says what became of all episodes."""


class StepRecord(TypedDict):
    """One step as the format has it: the state seen, the action taken and, where known, what was offered."""

    state: Any
    action: Any
    actions: NotRequired[list[Any] | None]
    probability: NotRequired[float | None]


class EpisodeRecord(TypedDict):
    """One episode as the format has it: a JSON object in which `find_fault` finds nothing."""

    episode: str | int
    context: Any
    steps: list[StepRecord]
    feedback: NotRequired[Any]
    abandoned: NotRequired[bool | None]
    time: NotRequired[str | float | None]
    user: NotRequired[str | int | None]
    reward: NotRequired[float | None]


LEAST_PROBABILITY = 1e-6
"""The least probability that an action can have been logged with. An episode weighs 1/(K p): one action in a million
draws hardly ever occurs, and where it seems to, it would outweigh a million others."""

VALUE: Mapping[str, Any] = {
    "anyOf": [
        {"type": ["string", "number", "boolean"]},
        {"type": "array", "items": {"type": ["number", "boolean"]}, "minItems": 1},
        {"type": "object", "additionalProperties": {"type": ["number", "boolean"]}, "minProperties": 1},
    ]
}
"""What a context, state, action or feedback may be: a label, a number, text, or numbers with or without names."""

RECORD: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": {"type": ["string", "number", "boolean"]},
    "minProperties": 1,
}
"""What a context may be beside: labels, text and numbers with names."""

SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A logged episode",
    "type": "object",
    "required": ["episode", "context", "steps"],
    "properties": {
        "episode": {"type": ["string", "integer"], "description": "its name; rows of labels carry it"},
        "time": {"type": ["string", "number", "null"], "description": "when it began"},
        "user": {"type": ["string", "integer", "null"], "description": "whose it was"},
        "context": {
            "anyOf": [*VALUE["anyOf"][:2], RECORD],
            "description": "who came, as far as known before the first action",
        },
        "steps": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["state", "action"],
                "properties": {
                    "state": {**VALUE, "description": "what was seen before the action"},
                    "action": {**VALUE, "description": "what was done"},
                    "actions": {
                        "type": ["array", "null"],
                        "items": VALUE,
                        "minItems": 1,
                        "description": "what could have been done, the action among it",
                    },
                    "probability": {
                        "type": ["number", "null"],
                        "minimum": LEAST_PROBABILITY,
                        "maximum": 1,
                        "description": "with which chance the action was drawn",
                    },
                },
            },
        },
        "feedback": {
            "anyOf": [*VALUE["anyOf"], {"type": "null"}],
            "description": "how the person reacted at the end; null or none: with silence",
        },
        "abandoned": {
            "type": ["boolean", "null"],
            "description": "whether it broke off, so that nobody could react; then it has no feedback",
        },
        "reward": {
            "type": ["number", "boolean", "null"],
            "description": "the outcome, where it is known; never used to fit",
        },
    },
}
"""The format of a line as a JSON Schema (draft 2020-12); further keys are allowed and not read."""


NUMBERS = (int, float)
LABELS = frozenset((str, int, bool))
"""Types of values that need no closer look: most of them, so that checking costs less than reading."""


class Fault(NamedTuple):
    """A rule that a record breaks: its short name, and the rule, the value and the remedy in words."""

    rule: str
    message: str


FindInSteps = Callable[[dict[str, Any]], Fault | None]


def find_steps_fault(record: Mapping[str, Any]) -> Fault | None:
    """Return the first rule that a record's steps break, None if they are sound."""
    steps = record.get("steps")
    if not isinstance(steps, list) or not steps:
        return Fault("no-steps", f"an episode must have a list of steps, at least one, got {_short(steps)}")
    for number, step in enumerate(steps, 1):
        if (fault := _find_step_fault(number, step)) is not None:
            return fault
    return None


def find_fault(record: Any, find_in_steps: FindInSteps = find_steps_fault) -> Fault | None:
    """Return the first rule that a record breaks, None if it is an episode; `find_in_steps` looks at its steps.

    >>> find_fault({"episode": 1, "context": "new", "steps": [{"state": "start"}], "feedback": "thanks"})
    Fault(rule='no-action', message='step 1 must have an action, got none; log what was done in it')
    """
    if not isinstance(record, dict):
        return Fault(
            "not-an-episode", f"a line must be a JSON object, got {type(record).__name__}; see SCHEMA"
        )
    if not isinstance(record.get("episode"), str | int) or isinstance(record["episode"], bool):
        got = record.get("episode", "none")
        return Fault("no-episode", f"an episode must have a name, a string or an integer, got {_short(got)}")
    if not is_value(record.get("context")) and not is_record(record.get("context")):
        return _bad_value("no-context", "an episode must have a context", record.get("context"))
    if (fault := find_in_steps(record)) is not None:
        return fault
    feedback = record.get("feedback")
    if feedback is not None and not is_value(feedback):
        return _bad_value("bad-feedback", "feedback must be a value, or null for silence", feedback)
    if "abandoned" in record and (fault := _find_abandoned_fault(record)) is not None:
        return fault
    reward = record.get("reward")
    if reward is not None and not is_number(reward):
        return Fault("bad-reward", f"a reward must be a finite number, got {_short(reward)}; leave it out")
    return None


def _find_abandoned_fault(record: Mapping[str, Any]) -> Fault | None:
    abandoned = record["abandoned"]
    if abandoned is not None and not isinstance(abandoned, bool):
        return Fault(
            "bad-abandoned", f"abandoned must be true or false, got {_short(abandoned)}; leave it out"
        )
    if abandoned and record.get("feedback") is not None:
        return Fault(
            "bad-abandoned",
            f"an episode that broke off has no feedback, got {_short(record['feedback'])}; leave out one of both",
        )
    return None


def _find_step_fault(number: int, step: Any) -> Fault | None:
    if not isinstance(step, dict):
        return Fault("not-a-step", f"step {number} must be an object, got {_short(step)}")
    if not is_value(step.get("state")):
        return _bad_value("no-state", f"step {number} must have a state", step.get("state"))
    action = step.get("action")
    if action is None:
        return Fault("no-action", f"step {number} must have an action, got none; log what was done in it")
    if not is_value(action):
        return _bad_value("no-action", f"step {number} must have an action", action)
    offered = step.get("actions")
    if offered is not None and (fault := _find_offer_fault(number, action, offered)) is not None:
        return fault
    p = step.get("probability")
    return None if p is None else find_chance_fault(number, p)


def find_chance_fault(number: int, p: Any) -> Fault | None:
    """Return the rule that the probability of step `number` breaks, None if it can be weighed by.

    >>> find_chance_fault(1, 0.5), find_chance_fault(1, 5e-324).rule
    (None, 'tiny-probability')
    """
    if isinstance(p, NUMBERS) and LEAST_PROBABILITY <= p <= 1:
        return None
    if isinstance(p, NUMBERS) and 0 < p < LEAST_PROBABILITY:
        return Fault(
            "tiny-probability",
            f"the probability of step {number} must be at least {LEAST_PROBABILITY:g}, got {_short(p)}, by which the "
            "episode would outweigh all others; log the chance with which the action was drawn, or leave it out",
        )
    return Fault(
        "bad-probability",
        f"the probability of step {number} must lie in (0, 1], got {_short(p)}; log the chance with which the "
        "action was drawn, or leave it out",
    )


def _find_offer_fault(number: int, action: Any, offered: Any) -> Fault | None:
    if not isinstance(offered, list) or not offered or not are_values(offered):
        return Fault(
            "bad-actions", f"the actions of step {number} must be a list of values, got {_short(offered)}"
        )
    if action not in offered:
        return Fault(
            "action-not-offered",
            f"the action of step {number} must be among its actions {_short(offered)}, got {_short(action)}",
        )
    return None


def are_values(values: list[Any]) -> bool:
    """Return whether every one of several values is one that the format allows."""
    return LABELS.issuperset(map(type, values)) or all(map(is_value, values))


def is_value(value: Any) -> bool:
    """Return whether a context, state, action or feedback is one that the format allows."""
    if type(value) in LABELS:
        return True
    if isinstance(value, dict):
        return bool(value) and all(map(is_number, value.values()))
    if isinstance(value, list):
        return bool(value) and all(map(is_number, value))
    return is_number(value)


def is_record(value: Any) -> bool:
    """Return whether a context is an object of strings and numbers.

    >>> is_record({"country": "de", "age": 41}), is_record({"country": None})
    (True, False)
    """
    if not isinstance(value, dict) or not value:
        return False
    return all(isinstance(each, str) or is_number(each) for each in value.values())


def is_text_context(value: Any) -> bool:
    """Return whether a context is a `request` and perhaps a `profile`, both text.

    >>> is_text_context({"request": "a table, please", "profile": "likes to tease"})
    True
    """
    if not isinstance(value, Mapping) or not {"request"} <= set(value) <= {"request", "profile"}:
        return False
    return all(isinstance(text, str) for text in value.values())


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number; True and False count as 1 and 0."""
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _bad_value(rule: str, need: str, value: Any) -> Fault:
    got = "none" if value is None else _short(value)
    return Fault(rule, f"{need}: a label, a number, text, or finite numbers with or without names, got {got}")


def _short(value: Any, most: int = 80) -> str:
    try:
        text = repr(value)
    except RecursionError:
        return "something nested too deeply to be shown"
    return text if len(text) <= most else text[:most] + " ..."

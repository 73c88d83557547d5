"""What an agent is made from: a description in JSON or TOML, in which most can be left out.

    {"layout": {"states": [["start"], ["cart", "list"]], "actions": ["ask", "show", "offer"],
                "contexts": ["new", "back"], "feedback": ["thanks", "hm"]},
     "settings": {"decoder": {"c": 0.1}}, "seed": 7, "window": 3600}

`actions` are those of every state, or of each state of each layer. Contexts and feedback are labels, or a space by its
kind: `{"kind": "vectors", "dimension": 5}`, `{"kind": "text"}`, `{"kind": "finite", "labels": [...], "open": true}`.
`text` in place of `layout` makes an agent of conversations. Of settings what is left out is Tacit's own, and "estimate"
stands for a constant that is estimated. `window` is how many seconds feedback may come late, `holdout` the share
of episodes that stay uniform, to compare with: all of a user's, where users are named. With `baseline` they do not
stay uniform but do what was always done: "first", the first action on offer, or `[{"state": ..., "action": ...}]`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from tacit.agent import Agent
from tacit.base.checkpoint import CheckpointError
from tacit.learning.generalising import is_counted
from tacit.learning.settings import BESIDE, Settings
from tacit.problem.growth import may_change
from tacit.problem.layout import Layout
from tacit.service.baseline import UNIFORM, Baseline, check_baseline
from tacit.service.errors import conflict, invalid
from tacit.text.conversations import Conversations
from tacit.text.settings import TextSettings

DAY = 86_400.0
ESTIMATE = "estimate"
"""In place of a constant: it is estimated."""


class Description(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An agent in words; see the module."""

    layout: dict[str, Any] | None = None
    text: dict[str, Any] | None = None
    settings: dict[str, Any] = {}
    seed: Annotated[int, Meta(ge=0, le=(1 << 53) - 1)] = 0
    window: Annotated[float, Meta(gt=0, le=366 * DAY)] = DAY
    holdout: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    baseline: Baseline = UNIFORM


def read_description(content: bytes, kind: str) -> Description:
    """Return the description in a body of that media type, every part of it written out; or raise RefusedError."""
    try:
        if "toml" in kind:
            values: Any = tomllib.loads(content.decode())
        else:
            values = msgspec.json.decode(content)
        described = msgspec.convert(values, Description)
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise invalid(
            f"a description is JSON, or TOML by its content type, got one that is not: {error}"
        ) from None
    return complete(described)


def complete(described: Description) -> Description:
    """Return a description with every part written out, so that two that mean the same are the same."""
    if (described.layout is None) == (described.text is None):
        raise invalid("an agent is described by `layout`, or by `text`; give one of them", "layout")
    try:
        if described.text is not None:
            if described.settings:
                raise invalid(
                    "settings of conversations stand in `text`, got both; move them there", "settings"
                )
            text = TextSettings.from_json(_overlaid(TextSettings().to_json(), described.text, "text"))
            check_baseline(described.baseline, described.holdout, None)
            return msgspec.structs.replace(described, text=text.to_json())
        assert described.layout is not None
        layout = Layout.from_json(_write_out(described.layout))
        check_baseline(described.baseline, described.holdout, layout)
        settings = Settings.from_json(
            _overlaid(default_settings(layout).to_json(), described.settings, "settings")
        )
    except (CheckpointError, ValueError, TypeError) as error:
        where = "text" if described.text is not None else "layout"
        raise invalid(f"the {where} cannot be read: {_fault(error)}", where) from None
    return msgspec.structs.replace(described, layout=layout.to_json(), settings=settings.to_json())


def default_settings(layout: Layout) -> Settings:
    """Return Tacit's own settings for a service: what takes long is fitted beside, while decisions go on."""
    if is_counted(layout):
        return Settings()
    plain = Settings().to_json()
    return Settings.from_json(plain | {"fast": plain["fast"] | {"fits": BESIDE}})


def make_agent(described: Description) -> Agent:
    """Return the new agent of a description that is complete."""
    if described.text is not None:
        settings = TextSettings.from_json(described.text)
        return Agent(Conversations(settings, seed=described.seed), seed=described.seed)
    assert described.layout is not None
    return Agent(Layout.from_json(described.layout), Settings.from_json(described.settings), described.seed)


def check_same(known: Description, given: Description) -> None:
    """Raise RefusedError unless two complete descriptions are the same: it names the first field that differs."""
    old, new = msgspec.to_builtins(known), msgspec.to_builtins(given)
    path, before, after = _first_difference(old, new, "")
    if path:
        raise conflict(path, before, after, "an agent is made once: delete it first, or use another name")


def has_grown(first: Layout, layout: Layout) -> bool:
    """Return whether a layout is one that is described, with what an agent met since and what was retired.

    >>> from tacit.problem.growth import without_action
    >>> first = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> has_grown(first, without_action(first, 1)), has_grown(first, Layout.regular([1], 2, 2, 2))
    (True, False)
    """
    known, found = ({**each.to_json(), "retired": None} for each in (first, layout))
    if not may_change(first) or first.horizon != layout.horizon:
        return known == found
    return _begins_with(found, known)


def _begins_with(found: Any, first: Any) -> bool:
    if isinstance(first, dict) and isinstance(found, dict):
        return first.keys() == found.keys() and all(_begins_with(found[key], first[key]) for key in first)
    if isinstance(first, list) and isinstance(found, list):
        return len(found) >= len(first) and all(map(_begins_with, found, first))
    return bool(found == first)


def _fault(error: Exception) -> str:
    """Return what is wrong, without the words that a file would be refused with."""
    return str(error).partition(" holds wrong content: ")[2].rpartition("; use ")[0] or str(error)


def _first_difference(old: Any, new: Any, path: str) -> tuple[str, Any, Any]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            found = _first_difference(old.get(key), new.get(key), f"{path}.{key}" if path else key)
            if found[0]:
                return found
        return "", None, None
    return ("", None, None) if old == new else (path, old, new)


def _write_out(layout: Mapping[str, Any]) -> dict[str, Any]:
    """Return a layout as `Layout.from_json` reads it, from the short ways of writing one."""
    written = {"names": None, "ends": None, **layout}
    states, actions = written.get("states"), written.get("actions")
    if (
        isinstance(actions, list)
        and isinstance(states, list)
        and not any(isinstance(a, list) for a in actions)
    ):
        written["actions"] = [[actions for _ in layer] for layer in states if isinstance(layer, list)]
    for name in ("contexts", "feedback"):
        if isinstance(written.get(name), list):
            written[name] = {"kind": "finite", "labels": written[name]}
    return written


def _overlaid(known: Mapping[str, Any], given: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return settings with those that are given in place of the others; all of them must be known."""
    merged = dict(known)
    for name, value in given.items():
        if name not in known:
            raise invalid(
                f"{path} has {', '.join(known)}, got {name!r}; see the settings in the documentation", path
            )
        if isinstance(known[name], Mapping) and isinstance(value, Mapping):
            merged[name] = _overlaid(known[name], value, f"{path}.{name}")
        else:
            merged[name] = None if value == ESTIMATE else value
    return merged

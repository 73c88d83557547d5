"""Models that clients may name: those that come with Tacit, and those that whoever runs the service allows.

A name of a model may be a folder of the machine, an address, or something to be fetched: what a client writes into a
description, or into the file of an agent, must not open any of these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from tacit.service.descriptions import Description
from tacit.service.errors import RefusedError, invalid
from tacit.text.causal.presets import find_preset
from tacit.text.conversations import Conversations
from tacit.text.settings import BUNDLED, SMALL

AT_HAND = {"model": (SMALL, "smol"), "encoder": (BUNDLED,)}
"""What comes with Tacit, by the setting that names it."""


def check_models(described: Description, allowed: Collection[str]) -> None:
    """Raise RefusedError if a complete description names a model that is not for clients to name."""
    for setting, names in AT_HAND.items():
        name = (described.text or {}).get(setting)
        if name is not None and name not in names and name not in allowed:
            raise invalid(
                f"{setting} is one of {', '.join([*names, *sorted(allowed)])}, got {name!r}; whoever runs the service "
                "allows others by its option `models`",
                f"text.{setting}",
            )


def check_named_models(described: Description, tree: Mapping[str, Any]) -> None:
    """Raise RefusedError unless the file of an agent in conversation is of the models that its description has."""
    if tree.get("world") != Conversations.name:
        return
    text = described.text or {}
    settings = _part(tree, "world_state", "settings")
    model = _part(tree, "stage_state", "model")
    small = model if text.get("model") == SMALL else _part(model, "small")
    preset = _part(model, "preset")
    if (
        settings != text
        or _part(small, "settings").get("encoder") != text.get("encoder")
        or (preset and preset != asdict(find_preset(text["model"])))
    ):
        raise RefusedError(
            409, "conflict", "the file is of other settings; make the agent with those in `text`", "text"
        )


def _part(tree: Any, *path: str) -> Mapping[str, Any]:
    """Return a part of a tree, an empty one if it is not there."""
    for name in path:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree if isinstance(tree, Mapping) else {}

"""Saved reward models: `tacit.load_model`."""

from __future__ import annotations

import os

from tacit.base.checkpoint import load_tree
from tacit.offline.model import SAVED_AS, RewardModel
from tacit.offline.tables.model import TableModel
from tacit.offline.text.model import TextRewardModel

KINDS = {kind.kind: kind.from_tree for kind in (TableModel, TextRewardModel)}
"""The kinds of models, and what rebuilds each from its saved tree."""


def load_model(path: str | os.PathLike[str]) -> RewardModel:
    """Return the model that `save` wrote."""
    tree = load_tree(path, SAVED_AS)
    if tree["model"] not in KINDS:
        raise ValueError(
            f"models must be of a kind among {sorted(KINDS)}, {os.fspath(path)!r} is {tree['model']!r}; use the "
            "version of Tacit that wrote it"
        )
    return KINDS[tree["model"]](tree)

"""Saved reward models: `tacit.load_model`."""

from __future__ import annotations

import os

from tacit.base.checkpoint import load_tree
from tacit.offline.model import SAVED_AS, RewardModel
from tacit.offline.tables.kind import TABLE
from tacit.offline.text.kind import TEXT
from tacit.trust.certificate import Certificate

KINDS = {kind.name: kind for kind in (TABLE, TEXT)}
"""The kinds of models by name."""


def load_model(path: str | os.PathLike[str]) -> RewardModel:
    """Return the model that `save` wrote."""
    tree = load_tree(path, SAVED_AS)
    if tree["model"] not in KINDS:
        raise ValueError(
            f"models must be of a kind among {sorted(KINDS)}, {os.fspath(path)!r} is {tree['model']!r}; use the "
            "version of Tacit that wrote it"
        )
    kind = KINDS[tree["model"]]
    return RewardModel(kind, kind.restore(tree), Certificate.from_json(tree["certificate"]))

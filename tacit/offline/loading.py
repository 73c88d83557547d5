"""Saved reward models: `tacit.load_model`."""

from __future__ import annotations

import os

from tacit.base.checkpoint import CheckpointError
from tacit.base.saved import open_saved
from tacit.offline.model import SAVED_AS, RewardModel
from tacit.offline.tables.kind import TABLE
from tacit.offline.text.kind import TEXT
from tacit.text.bundled import MissingModelError
from tacit.trust.certificate import Certificate

KINDS = {kind.name: kind for kind in (TABLE, TEXT)}
"""The kinds of models by name."""


def load_model(path: str | os.PathLike[str]) -> RewardModel:
    """Return the model that `save` wrote, or raise CheckpointError: what loads decodes as what was saved."""
    with open_saved(path, SAVED_AS, passing=(MissingModelError,)) as saved:
        name = saved.text("model")
        if name not in KINDS:
            raise CheckpointError(
                f"models must be of a kind among {sorted(KINDS)}, {os.fspath(path)!r} is {name!r}; use the version of "
                "Tacit that wrote it"
            )
        kind = KINDS[name]
        return RewardModel(kind, kind.restore(saved), Certificate.from_json(saved.part("certificate")))

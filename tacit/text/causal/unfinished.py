"""How far a fit has come, kept in a file after each epoch: the same fit, begun again after a kill, goes on there."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from tacit.base.arrays import FloatArray
from tacit.base.checkpoint import CheckpointError, save_tree
from tacit.base.saved import Saved, open_saved
from tacit.text.causal.flat import Array32, Moments
from tacit.text.small.cache import is_writable

KIND = "unfinished fit of a language model"
FOLDER = "fits"
"""Beside the encodings that are kept."""


class Reached(NamedTuple):
    """How far a fit has come: weights, AdamW's moments, t of reactions when last met, losses, the best."""

    epoch: int
    adapter: Array32
    heads: Array32
    moments: Moments
    t: FloatArray
    losses: tuple[float, ...]
    best_epoch: int
    best_adapter: Array32
    best_heads: Array32

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values."""
        return self._asdict() | {"moments": self.moments._asdict(), "losses": list(self.losses)}

    @classmethod
    def from_state(cls, saved: Saved) -> Reached:
        """Return what `to_state` described."""
        adapter, heads = (saved.single_floats(name, (None,)) for name in ("adapter", "heads"))
        losses, epoch = saved.entries("losses"), saved.whole("epoch")
        saved.check(len(losses) == epoch + 1, "losses", "one an epoch, and one before")
        return cls(
            epoch,
            adapter,
            heads,
            Moments.from_state(saved.part("moments"), len(adapter) + len(heads)),
            saved.floats("t", (None,)),
            tuple(losses.number(i) for i in losses),
            saved.whole("best_epoch", most=epoch),
            saved.single_floats("best_adapter", adapter.shape),
            saved.single_floats("best_heads", heads.shape),
        )


class Unfinished:
    """The file of one fit, named by a digest of all that it depends on; none where encodings are kept in memory."""

    def __init__(self, encodings: Path | None, *depends_on: Any) -> None:
        name = hashlib.sha256(repr(depends_on).encode()).hexdigest()[:32]
        path = None if encodings is None else encodings.parent / FOLDER / name
        self.path = path if path is not None and is_writable(path) else None

    def load(self, first: Reached) -> Reached:
        """Return how far the fit had come; `first` where it was not begun, or what was kept cannot be gone on from."""
        if self.path is None or not self.path.exists():
            return first
        try:
            with open_saved(self.path, KIND) as saved:
                found = Reached.from_state(saved)
        except CheckpointError:
            return first
        alike = [len(found.adapter), len(found.heads), len(found.t)]
        return found if alike == [len(first.adapter), len(first.heads), len(first.t)] else first

    def keep(self, reached: Reached) -> None:
        """Write how far the fit has come, whole or not at all."""
        if self.path is not None:
            save_tree(self.path, KIND, reached.to_state())

    def remove(self) -> None:
        """Forget the fit: it is done."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

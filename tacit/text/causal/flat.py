"""Weights and AdamW's moments as flat arrays: what is saved of an optimiser, and put back bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tacit.base.saved import Saved

Array32 = np.ndarray[Any, np.dtype[np.float32]]
NONE: Array32 = np.empty(0, np.float32)


class Moments(NamedTuple):
    """AdamW's number of steps and both moments; empty before the first step."""

    steps: int = 0
    first: Array32 = NONE
    second: Array32 = NONE

    @classmethod
    def read(cls, optimiser: torch.optim.AdamW, weights: Sequence[torch.Tensor]) -> Moments:
        """Return those of an optimiser of these weights."""
        if not optimiser.state:
            return cls()
        each = [optimiser.state[weight] for weight in weights]
        first, second = (flatten([one[name] for one in each]) for name in ("exp_avg", "exp_avg_sq"))
        return cls(int(each[0]["step"]), first, second)

    def write(self, optimiser: torch.optim.AdamW, weights: Sequence[torch.Tensor]) -> None:
        """Put back what `read` returned."""
        if not self.steps:
            return
        moments = (split_like(each, weights) for each in (self.first, self.second))
        for weight, first, second in zip(weights, *moments, strict=True):
            step = torch.tensor(float(self.steps))
            optimiser.state[weight] = {"step": step, "exp_avg": first, "exp_avg_sq": second}

    @classmethod
    def from_state(cls, saved: Saved, size: int) -> Moments:
        """Return the moments that were saved of `size` weights."""
        steps = saved.whole("steps")
        shape = (size if steps else 0,)
        return cls(steps, saved.single_floats("first", shape), saved.single_floats("second", shape, low=0))


def adamw(weights: Sequence[torch.Tensor], rate: float) -> torch.optim.AdamW:
    """Return a new optimiser of weights; all but its rate are torch's defaults."""
    return torch.optim.AdamW(list(weights), lr=rate)


def flatten(tensors: Sequence[torch.Tensor]) -> Array32:
    """Return all entries of the tensors, one after the other, as a new array."""
    parts = [np.asarray(tensor.detach().cpu().numpy(), np.float32).ravel() for tensor in tensors]
    return np.concatenate([NONE, *parts])


def split_like(values: Array32, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return `values` cut up into new tensors of the shapes of `tensors`: what `flatten` had put together."""
    sizes = [tensor.numel() for tensor in tensors]
    if values.shape != (sum(sizes),):
        raise ValueError(
            f"an adapter of this model has {sum(sizes)} weights, got {values.shape}; "
            "give the base model and the rank that it was trained with"
        )
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return [
        torch.tensor(part, device=tensor.device).view_as(tensor)
        for part, tensor in zip(parts, tensors, strict=True)
    ]

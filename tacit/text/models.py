"""The text models by name: "small", the presets of causal language models, or one on the hub.

Each is imported when it is asked for: they need packages that are optional.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.text.model import TextModel
from tacit.text.settings import SMALL

CAUSAL = "causal"
"""What language models call themselves, whichever they are."""


def make_model(name: str, horizon: int, seed: int) -> TextModel:
    """Return a new model of that name; only "small" needs no more than the bundled encoders."""
    if name == SMALL:
        from tacit.text.small.model import SmallModel

        return SmallModel(horizon)
    from tacit.text.causal.model import CausalLM

    return CausalLM(horizon, name, seed=seed)


def restore_model(name: str, state: Mapping[str, Any]) -> TextModel:
    """Return the model of that name that `to_state` described."""
    if name == SMALL:
        from tacit.text.small.model import SmallModel

        return SmallModel.from_state(state)
    from tacit.text.causal.model import CausalLM

    return CausalLM.from_state(state)

"""The text models by name: "small", the presets of causal language models, or one on the hub.

Each is imported when it is asked for: they need packages that are optional.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.text.evidence import ONE_OF_MANY
from tacit.text.model import TextModel
from tacit.text.settings import BUNDLED, SMALL

CAUSAL = "causal"
"""What language models call themselves, whichever they are."""


def make_model(name: str, horizon: int, seed: int, encoder: str = BUNDLED) -> TextModel:
    """Return a new model of that name, with the encoder of that name; "small" needs no more than the latter."""
    from tacit.text.small.model import SmallModel, SmallSettings

    settings = SmallSettings(encoder=encoder)
    if name == SMALL:
        return SmallModel(horizon, settings, looks=ONE_OF_MANY)
    from tacit.text.causal.model import CausalLM

    return CausalLM(horizon, name, seed=seed, small=settings)


def restore_model(name: str, state: Mapping[str, Any]) -> TextModel:
    """Return the model of that name that `to_state` described."""
    if name == SMALL:
        from tacit.text.small.model import SmallModel

        return SmallModel.from_state(state)
    from tacit.text.causal.model import CausalLM

    return CausalLM.from_state(state)

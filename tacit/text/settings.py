"""How a text agent learns: every number that its episodes depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tacit.base.validation import check_number, check_whole
from tacit.decoding.decoder import DecoderSettings
from tacit.text.judges import JUDGES


@dataclass(frozen=True)
class TextSettings:
    """How a text agent learns; the defaults are Tacit's own, `gamma_scale=1` is the paper's schedule.

    `horizon` choices make an episode, the first `exploration` episodes are uniform. `model` is "small", or a
    causal language model: "smol", "paper", or the name of one on the hub. `judge` (for baselines) names a reader of
    feedback that takes the decoder's place; with `improves="last"` all but the last choice stay uniform.
    """

    horizon: int = 2
    exploration: int = 500
    gamma_scale: float = 8.0
    decoder: DecoderSettings = field(default_factory=lambda: DecoderSettings(theta=0.9, M=1.0, c=0.0))
    model: str = "small"
    judge: str = ""
    improves: str = "all"

    def __post_init__(self) -> None:
        check_whole("horizon", self.horizon, 1)
        check_whole("exploration", self.exploration, 2)
        check_number("gamma_scale", self.gamma_scale, 0, float("inf"))
        if self.judge and self.judge not in JUDGES:
            raise ValueError(f"judge must be one of {sorted(JUDGES)}, or empty to learn, got {self.judge!r}")
        if self.improves not in ("all", "last"):
            raise ValueError(f"improves must be 'all' or 'last', got {self.improves!r}")

    def to_json(self) -> dict[str, Any]:
        """Return plain values that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TextSettings:
        """Return the settings that `to_json` wrote."""
        return cls(**dict(values) | {"decoder": DecoderSettings(**values["decoder"])})

"""How a text agent learns: every number that its episodes depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tacit.base.saved import Saved
from tacit.base.validation import check_choice, check_encodable, check_number, check_whole
from tacit.decoding.decoder import DecoderSettings
from tacit.problem.layout import COUNTS, SILENCES
from tacit.text.judges import JUDGES

BUNDLED = "bundled"
"""The name of the default encoder: MiniLM and SmolLM2."""
SMALL = "small"
"""The name of the default model: frozen encoders that are bundled."""
EXPLORED, EXPLORED_ONCE = 30, 500
"""Uniform episodes at least before the first policy, of models that are fitted again and again, and once."""


@dataclass(frozen=True)
class TextSettings:
    """How a text agent learns; the defaults are Tacit's own, `gamma_scale=1` is the paper's schedule.

    `horizon` choices make an episode, or fewer: a conversation may end after any of them unless `ends_early` is False.
    The first `exploration` episodes are uniform, and more until feedback is shown to tell something; 0 makes it 30, or
    500 for language models, which are fitted once. `model` is "small", or a causal language model: "smol", "paper",
    or the name of one on the hub. `encoder` is "bundled", a sentence-transformers model (a directory, or a name on the
    hub) or an OpenAI-compatible endpoint (`endpoint:MODEL`), for languages that the bundled one does not read. `judge`
    (for baselines) names a reader of feedback that takes the decoder's place; with `improves="last"` all but the last
    choice stay uniform. `silence` "counts" like any remark, or is "missing" at random.
    """

    horizon: int = 2
    exploration: int = 0
    gamma_scale: float = 8.0
    decoder: DecoderSettings = field(default_factory=lambda: DecoderSettings(theta=0.9, M=1.0, c=0.0))
    model: str = SMALL
    encoder: str = BUNDLED
    judge: str = ""
    improves: str = "all"
    silence: str = COUNTS
    ends_early: bool = True

    def __post_init__(self) -> None:
        if self.exploration == 0:
            object.__setattr__(self, "exploration", EXPLORED if self.model == SMALL else EXPLORED_ONCE)
        check_whole("horizon", self.horizon, 1)
        check_whole("exploration", self.exploration, 2)
        check_number("gamma_scale", self.gamma_scale, 0, float("inf"))
        if self.decoder.theta is None or self.decoder.M is None:
            raise ValueError(
                f"text is decoded with theta and M that are given, got {self.decoder}; give both"
            )
        check_encodable("the name of the model", self.model)
        check_encodable("the name of the encoder", self.encoder)
        check_choice("judge", self.judge, ("", *sorted(JUDGES)))
        check_choice("improves", self.improves, ("all", "last"))
        check_choice("silence", self.silence, SILENCES)

    def to_json(self) -> dict[str, Any]:
        """Return plain values that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TextSettings:
        """Return the settings that `to_json` wrote."""
        saved = Saved.of(values)
        return saved.make(cls, decoder=saved.part("decoder").make(DecoderSettings))

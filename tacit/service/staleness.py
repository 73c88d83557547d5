"""How far what decisions go by lags behind what was learned: where fits run beside, there is always something newer."""

from __future__ import annotations

from tacit.learning.generalising import GeneralisingLearning
from tacit.learning.stage import Stage
from tacit.service.bodies import Staleness
from tacit.service.talks import is_talk
from tacit.text.stages import TextLearning


def staleness_of(stage: Stage, fits: int) -> Staleness | None:
    """Return how old the last of some fits is that a stage decides by, None where everything is learned at once."""
    if isinstance(stage, GeneralisingLearning):
        seen = stage.fits[-1][0] if stage.fits else 0
        return Staleness(len(stage.fits), len(stage.tuples.rows) - seen)
    if is_talk(stage):
        refits = stage.model.refits or not isinstance(stage, TextLearning)
        behind = (
            len(stage.reactions) - stage.looked if refits else 0
        )  # else every remark is a step of its own
        return Staleness(fits, behind)
    return None

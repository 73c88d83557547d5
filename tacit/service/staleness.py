"""How far what decisions go by lags behind what was learned: where fits run beside, there is always something newer."""

from __future__ import annotations

from tacit.learning.generalising import GeneralisingLearning
from tacit.learning.stage import Stage
from tacit.service.bodies import Staleness
from tacit.service.talks import ExplorationBeside
from tacit.text.stages import TextLearning


def staleness_of(stage: Stage) -> Staleness | None:
    """Return how old the fit is that a stage decides by, None where everything is learned at once."""
    if isinstance(stage, GeneralisingLearning):
        seen = stage.fits[-1][0] if stage.fits else 0
        return Staleness(len(stage.fits), len(stage.tuples.rows) - seen)
    if isinstance(stage, ExplorationBeside):
        return Staleness(0, len(stage.reactions))
    if isinstance(stage, TextLearning):  # every remark since is a step of its own
        return Staleness(1, 0)
    return None

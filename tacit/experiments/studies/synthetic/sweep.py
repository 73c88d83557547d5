"""The sweep of Figure 2a: every learner on the paper's synthetic MDP."""

from __future__ import annotations

from tacit.experiments.layered.problems import ENVIRONMENTS, PAPER
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.learners import LEARNERS

SWEEP = LayeredSweep(
    environments={"synthetic": ENVIRONMENTS["synthetic"]}, learners=tuple(LEARNERS), settings=PAPER
)

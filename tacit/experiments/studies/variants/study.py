"""The study of the synthetic MDP's variants: a sweep of its own, shown as `synthetic` is."""

from __future__ import annotations

from tacit.experiments.layered.problems import ENVIRONMENTS, PAPER
from tacit.experiments.layered.study import LayeredStudy
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.learners import LEARNERS
from tacit.experiments.studies.synthetic.study import VIEW

SWEEP = LayeredSweep(environments=ENVIRONMENTS, learners=tuple(LEARNERS), settings=PAPER)

VARIANTS = LayeredStudy(
    name="variants",
    title="Where believing the feedback fails",
    about="The paper's setting and three others that tell the learners apart.",
    sweep=SWEEP,
    view=VIEW,
)

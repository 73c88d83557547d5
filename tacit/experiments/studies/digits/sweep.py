"""The sweep of the digits: who plays, with what settings, on which pictures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tacit.envs.digits import SOURCES, digits
from tacit.experiments.layered.problems import PAPER
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.planning.regression import OracleSettings

PLAYERS = (
    "tacit",
    "tacit_fast",
    "oracle_reward",
    "feedback_as_reward",
    "feedback_as_reward_blind",
    "last_step_igl",
    "uniform",
)
"""The learners: all take vectors for contexts and feedback."""

CHOICES = {source: partial(digits, source) for source in SOURCES}

SWEEP = LayeredSweep(
    environments={"digits": CHOICES["digits"]},
    learners=PLAYERS,
    # Of the oracles for vectors a network ends best: told the reward, it is worth 0.69 on pictures held out, linear
    # ridge, which learns sooner and takes far longer, 0.66 (one seed).
    settings=replace(PAPER, oracle=OracleSettings("network", learning_rate=0.1)),
)

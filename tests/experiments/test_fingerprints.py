"""Fingerprints: everything that decides a result changes them, and nothing else."""

from dataclasses import replace
from functools import partial

from study_samples import FRACTION, SMALL, resweep

from tacit.decoding.decoder import DecoderSettings
from tacit.envs.synthetic import synthetic
from tacit.experiments import fingerprints
from tacit.experiments.fingerprints import expand
from tacit.experiments.layered.problems import PAPER
from tacit.experiments.layered.sweep import Arm


def test_fingerprints_follow_from_all_that_decides(monkeypatch):
    study = SMALL.scaled(FRACTION)
    wider = replace(PAPER, posterior=replace(PAPER.posterior, width=8))
    tasks = [
        *expand(study, 2),
        *expand(SMALL.scaled(0.002), 1),
        *expand(resweep(study, environments={"synthetic": partial(synthetic, "balanced")}), 1),
        *expand(resweep(study, settings=wider), 1),
        *expand(resweep(study, counts_exploration=True), 1),
        *expand(resweep(study, constants={"synthetic": DecoderSettings(0.8, 1.2)}), 1),
        *expand(resweep(study, learners=(), arms=(Arm(20), Arm(20, 0.1), Arm(30))), 1),
    ]
    monkeypatch.setattr(fingerprints, "digest_of", lambda play, unused: "other code")
    tasks += expand(study, 1)
    assert len({task.fingerprint for task in tasks}) == len(tasks)


def test_fingerprints_follow_from_nothing_else():
    study = SMALL.scaled(FRACTION)
    shown = replace(study, title="another", about="words", seeds=3, view=None)
    assert expand(shown, 2) == expand(study, 2)

"""Which tasks a study has, and the fingerprint of each: stored results of another fingerprint are not taken."""

from __future__ import annotations

import hashlib
import json

from tacit.experiments.code_digest import digest_of
from tacit.experiments.study import Study
from tacit.experiments.tasks import StudyTask


def expand(study: Study, seeds: int) -> list[StudyTask]:
    """Return the tasks of a (scaled) study, seed by seed, so that whole seeds finish first."""
    digests = {variant: study.digest(variant) for variant in study.variants}
    return [
        StudyTask(variant, learner, seed, fingerprint(study, variant, digests[variant], learner, seed))
        for seed in range(seeds)
        for variant in study.variants
        for learner in study.names
    ]


def fingerprint(study: Study, variant: str, environment: str, learner: str, seed: int) -> str:
    """Return a digest of everything that determines the result of a task; `environment` is its digest."""
    facts = {
        **study.facts(variant, learner),
        "study": study.name,
        "environment": environment,
        "learner": learner,
        "seed": seed,
        "code": digest_of(study.play, study.unused),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

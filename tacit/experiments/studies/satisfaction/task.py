"""The tasks of the satisfaction study: read a part's replies in one way, and score the labels by ratings held back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.engines.task import Report
from tacit.envs.satisfaction import RatedReply
from tacit.experiments.studies.satisfaction.readings import READINGS
from tacit.experiments.studies.satisfaction.scoring import MIDDLE, ReadRewards, score_labels
from tacit.experiments.tasks import Played, StudyTask
from tacit.logs.labels import DECODED, MIN_CONFIDENCE
from tacit.offline.fit import diagnose_logs, fit
from tacit.offline.teaching import NothingToLearnError
from tacit.text.judges import judge_kind_words
from tacit.trust.findings import VERDICTS, Finding

LEARNERS = (*READINGS, "universal_judge", "majority")
NEITHER = 0.5
"""What the rule about kind words says where there are none."""
LEAST = 120
"""Replies below which there is nothing to fit."""
SHOWN = 12
"""Places that a page shows."""


@dataclass(frozen=True)
class SatisfactionSweep:
    """Learners x parts of the collection; each seed draws `places` rated replies of a part."""

    places: int = 1_000
    parts: Mapping[str, tuple[RatedReply, ...]] = field(default_factory=dict)
    learners: tuple[str, ...] = LEARNERS
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what it is, without the texts."""
        return {"places": self.places, "parts": {part: len(places) for part, places in self.parts.items()}}

    def digest_of(self, part: str) -> str:
        """Return a digest of all texts and ratings of a part."""
        return hashlib.sha256(repr(self.parts[part]).encode()).hexdigest()


def play_satisfaction(sweep: SatisfactionSweep, task: StudyTask, report: Report) -> Played:
    """Return how a learner's labels agree with the ratings of as many replies as a seed draws."""
    everything = sweep.parts[task.variant]
    chance = np.random.default_rng([task.seed, 7])
    drawn = chance.permutation(len(everything))[: sweep.places]
    places = tuple(everything[int(n)] for n in drawn)
    told: dict[str, Any] = {"verdict": "", "findings": []}
    if task.learner in READINGS:
        places, labels, told = read_replies(task.learner, places, chance)
    elif task.learner == "universal_judge":
        rewards = np.array([judge_kind_words(place.said) for place in places])
        labels = ReadRewards(rewards, rewards != NEITHER)
    else:  # it is told the ratings, of all: what agreement is worth
        ratings = np.array([place.rating for place in places])
        most = float((ratings > MIDDLE).sum() >= (ratings < MIDDLE).sum())
        labels = ReadRewards(np.full(len(places), most), np.ones(len(places), dtype=np.bool_))
    report(len(drawn), "read")
    scored = score_labels(labels, np.array([place.rating for place in places]))
    return Played(scored | told | {"examples": pick_replies(places, labels)})


def read_replies(
    learner: str, places: tuple[RatedReply, ...], chance: np.random.Generator
) -> tuple[tuple[RatedReply, ...], ReadRewards, dict[str, Any]]:
    """Return what Tacit makes of the places, read in one way, and what it says of itself: nothing, where it refuses."""
    reading = READINGS[learner](places, chance)
    if not reading.logs:  # nobody can be read in this way
        return places, say_nothing(places), tell_of_itself(VERDICTS["error"], ())
    try:
        model = fit(list(reading.logs))
    except NothingToLearnError:
        diagnosis = diagnose_logs(list(reading.logs))
        told = tell_of_itself(diagnosis.verdict, diagnosis.findings)
        return reading.places, say_nothing(reading.places), told
    labels = list(model.label(list(reading.logs)))
    by_name = {label["episode"]: label for label in labels}
    found = [by_name.get(line.episode) for line in reading.logs]
    rewards = [
        np.nan if one is None or one["decoded_reward"] is None else one["decoded_reward"] for one in found
    ]
    sure = [
        one is not None and one["reason"] == DECODED and one["confidence"] >= MIN_CONFIDENCE for one in found
    ]
    told = tell_of_itself(model.certificate.verdict, model.certificate.findings)
    return reading.places, ReadRewards(np.array(rewards, dtype=np.float64), np.array(sure)), told


def say_nothing(places: tuple[RatedReply, ...]) -> ReadRewards:
    """Return that nothing is known of any place."""
    return ReadRewards(np.full(len(places), np.nan), np.zeros(len(places), dtype=np.bool_))


def tell_of_itself(verdict: str, findings: Iterable[Finding]) -> dict[str, Any]:
    """Return what Tacit says of itself, as plain values."""
    return {
        "verdict": verdict,
        "findings": [f"{finding.severity}: {finding.code}" for finding in findings],
    }


def pick_replies(places: tuple[RatedReply, ...], labels: ReadRewards) -> list[dict[str, Any]]:
    """Return a few places with what was made of them: those with the highest labels, and those with the lowest."""
    known = np.flatnonzero(~np.isnan(labels.rewards))
    order = known[np.argsort(-labels.rewards[known], kind="stable")]
    half = SHOWN // 2
    picked = order if len(order) <= SHOWN else np.concatenate([order[:half], order[-half:]])
    return [
        {
            "request": places[n].request,
            "reply": places[n].reply,
            "said": places[n].said,
            "rating": places[n].rating,
            "decoded": float(labels.rewards[n]),
        }
        for n in picked.tolist()
    ]

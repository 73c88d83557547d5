"""What a model of text shows: the evidence, its control with shuffled feedback, and what sentences mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.logs.labels import DECODED, Decoded
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource
from tacit.offline.teaching import Teaching
from tacit.offline.text.batches import accept_candidates
from tacit.offline.text.gathering import ReadText, check_reactions, read_texts
from tacit.offline.text.meanings import TextMeanings, Weighed
from tacit.text.conversation import Reaction
from tacit.text.evidence import Evidence
from tacit.text.small.fitting import fit_text_posterior
from tacit.text.small.posterior import Sample
from tacit.trust.anchors import MINORITY, believe, weigh_anchors
from tacit.trust.certificate import Certificate
from tacit.trust.findings import Finding, verdict, worst_first

SHUFFLES = 5
"""Times that feedback is dealt anew; by chance two of them are hardly ever found."""
MOST_FOUND = 1
"""Shuffles that may be found by chance."""
COMPARED = 2_000
"""Reactions that the control is made with: it takes seconds, and is enough to find what can be found."""
MOST_OUTCOMES = 1_000
"""Known outcomes that are held against the decoding."""
SENTENCES = 8
"""Sentences shown of each kind."""
EXAMPLES = 3
"""Episodes shown of each kind."""
SEED = 31
"""Of the shuffles, so that a diagnosis is a function of the logs."""


class Sentence(NamedTuple):
    """A feedback sentence, how often it was said, and the log of how much likelier a reward makes it."""

    text: str
    times: int
    ratio: float


@dataclass(frozen=True)
class Speakers:
    """People who speak alike: what they say when pleased and when not, surest first; some of their profiles."""

    name: str
    reactions: int
    profiles: tuple[str, ...]
    good: tuple[Sentence, ...]
    bad: tuple[Sentence, ...]


class Example(NamedTuple):
    """An episode with what it was decoded to."""

    reaction: Reaction
    decoded: Decoded


@dataclass(frozen=True)
class TextExamination:
    """What was found, why, and what was understood.

    `compared` is the evidence on at most `COMPARED` reactions, `shuffled` that on the same with feedback dealt anew.
    `rewards` (n,) and `kinds` are those of the labels of the reactions.
    """

    findings: tuple[Finding, ...]
    model: TextMeanings
    certificate: Certificate
    compared: Evidence
    shuffled: tuple[Evidence, ...]
    rewards: FloatArray
    kinds: tuple[str, ...]
    speakers: tuple[Speakers, ...]
    examples: tuple[Example, ...]

    @property
    def verdict(self) -> str:
        """Return "works", "works with caution", "not known yet" or "cannot work"."""
        return verdict(self.findings)


def examine_text(
    meanings: TextMeanings,
    certificate: Certificate,
    source: LogSource,
    teaching: Teaching[Reaction],
    problems: Problems | None,
) -> TextExamination:
    """Return what a model shows on the reactions of logs; rewards in them check which way round."""
    accept_candidates(teaching, meanings.model)
    check_reactions(teaching, problems)
    reactions = teaching.known.rows
    sample = meanings.model.sample(reactions)
    compared, shuffled = compare_shuffles(meanings, sample)
    control = find_control(meanings.evidence, compared, shuffled)
    outcomes = check_outcomes(source, meanings)
    labels, understood = meanings.decode(reactions), meanings.evidence.found
    return TextExamination(
        worst_first([*(f for f in certificate.findings if f != MINORITY), *control, *believe(outcomes)]),
        meanings,
        certificate,
        compared,
        shuffled,
        np.array([np.nan if label.decoded_reward is None else label.decoded_reward for label in labels]),
        tuple(label.state_kind for label in labels),
        list_speakers(meanings, reactions, sample) if understood else (),
        choose_examples(reactions, labels, meanings.weigh(sample, reactions)) if understood else (),
    )


def compare_shuffles(meanings: TextMeanings, sample: Sample) -> tuple[Evidence, tuple[Evidence, ...]]:
    """Return the evidence on some reactions, and on the same with their feedback dealt anew among them."""
    generator, settings = np.random.default_rng(SEED), meanings.model.settings.fitting
    some = np.zeros(len(sample), np.bool_)
    some[generator.permutation(len(sample))[:COMPARED]] = True
    part = sample.part(some)
    orders = [generator.permutation(len(part)) for _ in range(SHUFFLES)]
    dealt = [replace(part, reading=part.reading[order], sounds=part.sounds[order]) for order in orders]
    found = [fit_text_posterior(each, settings).evidence for each in (part, *dealt)]
    compared, *shuffled = (each for each in found if each is not None)
    return compared, tuple(shuffled)


def find_control(evidence: Evidence, compared: Evidence, shuffled: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield what the control says: shuffled feedback must not be found, and the logs' own must beat it.

    >>> nothing, much = Evidence(-0.01, 0.01), Evidence(0.1, 0.01)
    >>> [finding.code for finding in find_control(much, much, [nothing] * 5)]
    ['control-passed']
    >>> [finding.severity for finding in find_control(much, nothing, [nothing] * 5)]
    ['error']
    """
    n, most = sum(each.found for each in shuffled), max(each.gain for each in shuffled)
    if n > MOST_FOUND:
        yield Finding(
            "control-found",
            "error",
            "",
            f"{n} of {len(shuffled)} shuffles of the feedback among episodes are found to tell something: what is "
            "found here is no evidence.",
            "Log more episodes that differ from each other.",
        )
    elif evidence.found and evidence.together and compared.gain <= most:
        return  # it is choices of several turns that feedback goes with, beside as many drawn anew
    elif evidence.found and compared.gain <= most:
        yield Finding(
            "control-beats",
            "error",
            "",
            f"Shuffled feedback foretells as well (gain {most:.4f}) as the logs' own ({compared.gain:.4f}).",
            "Log more episodes with random last actions.",
        )
    elif evidence.found:
        yield Finding(
            "control-passed",
            "info",
            "",
            f"With feedback shuffled among episodes nothing is left: gain {compared.gain:.4f} against at most "
            f"{most:.4f} in {len(shuffled)} shuffles.",
            "Nothing needs to be done.",
        )


def check_outcomes(source: LogSource, meanings: TextMeanings) -> Iterator[Finding]:
    """Yield whether known outcomes, if the logs hold some, agree with what their feedback decodes to."""
    if not meanings.evidence.found:
        return
    read = read_texts(source, meanings.horizon, Problems(), silence=meanings.silence)
    known = (each for each in read if isinstance(each, ReadText) and each.reward in (0, 1))
    anchors = list(islice(known, MOST_OUTCOMES))
    if not anchors:
        return
    reactions = [anchor.reaction for anchor in anchors]
    weighed = meanings.weigh(meanings.model.sample(reactions), reactions)
    pairs = zip(weighed.rewarded, anchors, strict=True)
    answers = [bool((rewarded >= 0.5) == bool(anchor.reward)) for rewarded, anchor in pairs]
    yield from weigh_anchors({"": answers}, len(anchors))


def list_speakers(
    meanings: TextMeanings, reactions: Sequence[Reaction], sample: Sample
) -> tuple[Speakers, ...]:
    """Return who speaks how: people without a profile, and the two kinds that use words in opposite ways.

    Which of the two is the ironic one the fit leaves open: kind and contrary can change names together.
    """
    assert meanings.model.fitted is not None
    posterior = meanings.model.fitted.leading.as_fitted
    profiled: BoolArray = np.asarray(sample.profile.any(axis=1))
    plainness = posterior.plainness(sample)
    ratios = posterior.ratios(sample)
    groups: dict[str, BoolArray] = {
        "everybody" if not profiled.any() else "people without a profile": ~profiled,
        "people who speak one way": profiled & (plainness > 0),
        "people who speak the opposite way": profiled & (plainness <= 0),
    }
    return tuple(
        describe_speakers(name, reactions, np.flatnonzero(those), ratios, plainness)
        for name, those in groups.items()
        if those.any()
    )


def describe_speakers(
    name: str, reactions: Sequence[Reaction], rows: IntArray, ratios: FloatArray, plainness: FloatArray
) -> Speakers:
    """Return what a group of people says, their surest sentences first; profiles that are surest of the group."""
    said: dict[str, list[float]] = {}
    for row in rows:
        said.setdefault(reactions[row].words, []).append(float(ratios[row]))
    sentences = [Sentence(text, len(found), float(np.mean(found))) for text, found in said.items()]
    ordered = sorted(sentences, key=lambda sentence: (-sentence.ratio, sentence.text))
    surest = rows[np.argsort(-np.abs(plainness[rows]), kind="stable")]
    profiles = dict.fromkeys(reactions[row].choice.conversation.context.profile for row in surest)
    return Speakers(
        name,
        len(rows),
        tuple(islice((profile for profile in profiles if profile), EXAMPLES)),
        tuple(sentence for sentence in ordered if sentence.ratio > 0)[:SENTENCES],
        tuple(sentence for sentence in reversed(ordered) if sentence.ratio < 0)[:SENTENCES],
    )


def choose_examples(
    reactions: Sequence[Reaction], labels: Sequence[Decoded], weighed: Weighed
) -> tuple[Example, ...]:
    """Return some episodes: decoded as rewarded, as not rewarded, and not clear."""
    decoded = np.array([label.reason == DECODED for label in labels])
    rewarded = weighed.rewarded >= 0.5
    kinds = (decoded & rewarded, decoded & ~rewarded, ~decoded & (weighed.good > 0.5))
    chosen = [row for kind in kinds for row in np.flatnonzero(kind)[:EXAMPLES]]
    return tuple(Example(reactions[row], labels[row]) for row in chosen)

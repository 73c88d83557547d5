"""What feedback means in conversations: the small model's posterior, read as rewards.

What an episode's feedback means is told by two probabilities, both by Bayes' rule from f = g(s) q_a of the text
posterior (`text.small.posterior`), where q is the softmax over candidates, and the ratio e^l:

    Pr[r = 1 | y, a]             = f_a e^l / (1 + f_a (e^l - 1))
    Pr[the state is good | y, a] = g (1 + q_a (e^l - 1)) / (1 + f_a (e^l - 1))

The first is the label, as it is what an agent decodes (dev. 33); J(h(x, y, s), a), which is less, bounds what a policy
earns from below. A state is good if some candidate earns a reward there: it is heterogeneous from `GOOD` on,
homogeneous up to `POOR`. Reactions that the model was fitted to are read by fits that left them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.saved import Saved
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import HETEROGENEOUS, UNKNOWN
from tacit.logs.labels import DECIMALS, DECODED, UNCERTAIN, Decoded
from tacit.logs.record import EpisodeRecord, Fault
from tacit.offline.text.batches import encode_in_batches
from tacit.offline.text.gathering import FEWEST, Unheard, read_text
from tacit.problem.layout import COUNTS, SILENCES
from tacit.text.conversation import Reaction
from tacit.text.evidence import Evidence
from tacit.text.settings import TextSettings
from tacit.text.small.ensemble import Ensemble
from tacit.text.small.left_out import LeftOut
from tacit.text.small.model import SmallModel
from tacit.text.small.posterior import Sample

GOOD, POOR = 2 / 3, 1 / 3
"""From and up to which probability of being good a state is heterogeneous or homogeneous."""


class Weighed(NamedTuple):
    """What reactions mean, (n,) each: J, the probability of a reward, and that of a good state."""

    decoded: FloatArray
    rewarded: FloatArray
    good: FloatArray


@dataclass(frozen=True, eq=False)
class TextMeanings:
    """A fitted `SmallModel`, the evidence that feedback tells anything, and what silence is taken for.

    Without evidence nothing is decoded; where feedback names the candidate rather than what it is worth, labels are
    told, but as uncertain ones.
    """

    model: SmallModel
    c: float
    evidence: Evidence
    left_out: LeftOut
    silence: str = COUNTS

    @property
    def horizon(self) -> int:
        """Return how many steps an episode has."""
        return self.model.horizon

    @property
    def decoder(self) -> DecoderSettings:
        """Return the constants of J: those of the text agent, with this model's c."""
        return text_decoder(self.c)

    @property
    def ahead(self) -> None:
        """Return nothing: reactions are encoded together when they are decoded."""

    def read(self, record: EpisodeRecord) -> Reaction | Decoded | Fault:
        """Return the reaction with which an episode ended, what is known at once, or the rule that it breaks."""
        read = read_text(record, self.horizon, self.silence)
        if isinstance(read, Unheard):
            return Decoded.nothing(read.reason)
        return read if isinstance(read, Fault) else read.reaction

    def decode(self, ends: Sequence[Reaction | Decoded]) -> list[Decoded]:
        """Return what each reaction means; memory stays bounded however many there are."""
        reactions = [end for end in ends if isinstance(end, Reaction)]
        nothing = repeat(Decoded.nothing(UNCERTAIN))
        # read to the end, else the encodings of the last batch would not be forgotten
        found = iter(list(self._decode(reactions))) if self.evidence.found else nothing
        return [next(found) if isinstance(end, Reaction) else end for end in ends]

    def weigh(self, sample: Sample, reactions: Sequence[Reaction]) -> Weighed:
        """Return what encoded reactions mean, each by a fit that did not see it."""
        assert self.model.fitted is not None
        found = np.zeros((len(Weighed._fields), len(sample)))
        for rows, posterior in self.left_out.readers(self.model.fitted, reactions):
            found[:, rows] = weigh_meanings(posterior, sample.part(rows), self.decoder)
        return Weighed(*found)

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values that `from_tree` reads."""
        return {
            "small": self.model.to_state(),
            "c": self.c,
            "evidence": list(self.evidence),
            "left_out": self.left_out.to_tree(),
            "silence": self.silence,
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> TextMeanings:
        """Return the meanings that `to_tree` described."""
        saved = Saved.of(tree)
        model, evidence = SmallModel.from_state(saved.part("small")), Evidence.from_state(saved, "evidence")
        if model.fitted is None or evidence is None:
            saved.refuse("small", "a fitted model, with its evidence")
        left_out = LeftOut.from_tree(saved.part("left_out"), model.fitted)
        return cls(model, saved.number("c", 0, 1), evidence, left_out, saved.choice("silence", SILENCES))

    def _decode(self, reactions: Sequence[Reaction]) -> Iterator[Decoded]:
        for sample, some in encode_in_batches(self.model, reactions):
            weighed = self.weigh(sample, some)
            yield from map(self._word, weighed.rewarded.tolist(), weighed.good.tolist())

    def _word(self, rewarded: float, good: float) -> Decoded:
        if good <= POOR:
            return Decoded.homogeneous(self.c, round(1 - good, DECIMALS))
        reward, sure = round(rewarded, DECIMALS), round(max(rewarded, 1 - rewarded), DECIMALS)
        if good < GOOD:
            return Decoded(reward, sure, UNKNOWN, UNCERTAIN)
        doubtful = self.evidence.names_more_than_means
        return Decoded(reward, sure, HETEROGENEOUS, UNCERTAIN if doubtful else DECODED)


def text_decoder(c: float) -> DecoderSettings:
    """Return the constants of J for text: theta and M of the text agent, since f sums to at most M = 1 by its form."""
    constants = TextSettings().decoder
    return DecoderSettings(constants.theta, constants.M, c)


def weigh_meanings(posterior: Ensemble, sample: Sample, decoder: DecoderSettings) -> Weighed:
    """Return J, Pr[r = 1 | y, a] and Pr[the state is good | y, a] of reactions; see the module's docstring."""
    decoded, rewarded = np.zeros(len(sample)), posterior.rewarded(sample)
    h, K = posterior.predict(sample), sample.mask.sum(axis=1)
    for size in np.unique(K):
        those = size == K
        if size >= FEWEST:
            decoded[those] = decoder.build(int(size)).batch(h[those, :size], sample.taken[those])
    decoded = np.where(K < FEWEST, rewarded, decoded)
    return Weighed(decoded, rewarded, posterior.promising(sample))

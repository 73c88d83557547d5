"""Reactions and choices as the numbers that the small model reads: vectors of what was said, matches, readings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tacit.base.arrays import Float32Array, FloatArray
from tacit.text.conversation import NO_REMARK, Choice, Conversation, Exchange, Reaction
from tacit.text.model import FitProgress
from tacit.text.small.features import TextFeatures, unique
from tacit.text.small.matching import FEATURES
from tacit.text.small.posterior import Sample
from tacit.text.small.recurring import NEVER, number_remark

ROLES = ("request", "last answer", "all that was said", "all answers", "profile")
"""What is read of a conversation, each as one vector: means of several texts; zeros where there is nothing.

All answers are read where there are several: of one, the last says the same.
"""
LIKENED = ("request", "last answer", "profile")
"""The roles that candidates are held against as whole sentences: words may mean the same without being alike."""
MATCHES = len(FEATURES) + len(LIKENED)
"""Kinds of match of a candidate: by words, then by whole sentences."""
LAST = Exchange._fields
"""What is told of the last exchange."""
TOP = 2
"""The features of a state hold its candidates' best matches: the best two of each kind tell if one stands out."""


class SentenceVectors:
    """Sentence vectors by text: each is asked for once, all together."""

    def __init__(
        self, features: TextFeatures, texts: Iterable[str], progress: FitProgress | None = None
    ) -> None:
        found = unique(text for text in texts if text)
        self._rows = {text: row for row, text in enumerate(found)}
        self.table = features.sentences(found, progress)

    def __getitem__(self, text: str) -> Float32Array:
        return np.asarray(self.table[self._rows[text]])

    def rows(self, texts: Iterable[str]) -> list[int]:
        """Return the rows of the table that hold the vectors of texts."""
        return [self._rows[text] for text in texts]

    def said(self, conversation: Conversation) -> Float32Array:
        """Return a vector for each of `ROLES`, (R, D)."""
        context, exchanges = conversation
        answers = [exchange.answer for exchange in exchanges]
        texts = (
            (context.request,),
            answers[-1:],
            [exchange.said for exchange in exchanges],
            answers if len(answers) > 1 else (),
            (context.profile,) if context.profile else (),
        )
        nothing = np.zeros(self.table.shape[1], np.float32)
        return np.array([self.table[self.rows(some)].mean(axis=0) if some else nothing for some in texts])

    def chosen(self, choices: Sequence[Choice]) -> tuple[Float32Array, Float32Array]:
        """Return what was said before choices, (n, R, D), and the candidates that were taken, (n, D)."""
        said = np.array([self.said(choice.conversation) for choice in choices])
        return said, self.table[self.rows(choice.candidates[choice.action] for choice in choices)]

    def likeness(self, said: Float32Array, candidates: Sequence[str]) -> Float32Array:
        """Return how alike candidates and what was `said` (R, D) are as whole sentences, (K, `LIKENED`)."""
        held = said[[ROLES.index(role) for role in LIKENED]]
        return np.asarray(self.table[self.rows(candidates)] @ held.T)


def texts_of(conversation: Conversation) -> Iterable[str]:
    """Yield every text of a conversation, the profile included."""
    yield conversation.context.request
    yield conversation.context.profile
    for exchange in conversation.exchanges:
        yield from exchange


def make_sample(
    features: TextFeatures,
    reactions: Sequence[Reaction],
    progress: FitProgress | None = None,
    heard: bool = True,
    words: bool = True,
) -> Sample:
    """Return reactions as the numbers that the posterior reads; where nothing was `heard` yet, feedback is zeros.

    Without `words` candidates are matched as whole sentences alone, which is quicker.
    """
    choices = [reaction.choice for reaction in reactions]
    by_word = [np.zeros((len(c.candidates), len(FEATURES)), np.float32) for c in choices]
    if words:
        by_word = features.match([(c.conversation, c.candidates) for c in choices], progress)
    vectors = SentenceVectors(
        features, (t for c in choices for t in (*texts_of(c.conversation), *c.candidates)), progress
    )
    said = np.array([vectors.said(choice.conversation) for choice in choices])
    matches = [
        np.column_stack([rows, vectors.likeness(each, choice.candidates)])
        for rows, each, choice in zip(by_word, said, choices, strict=True)
    ]
    match, mask = pad(matches, max(len(rows) for rows in matches))
    offer = np.zeros(mask.shape, np.int64)
    offer[mask] = [row for choice in choices for row in vectors.rows(choice.candidates)]
    profiles = [choice.conversation.context.profile for choice in choices]
    reading, sounds = np.zeros((len(choices), features.encoder.reading_size)), np.zeros(len(choices))
    number = np.full(len(choices), NEVER, np.int64)
    if heard:
        remarks = [reaction.feedback for reaction in reactions]
        reading = features.reactions(remarks, progress).astype(np.float64)
        spoke = np.array([remark != NO_REMARK for remark in remarks])
        sounds[spoke] = features.sounds(reading[spoke])
        number = np.array([number_remark(remark) for remark in remarks], np.int64)
    return Sample(
        match,
        mask,
        offer,
        vectors.table,
        said,
        np.array([state_of(rows, c.conversation, vectors) for rows, c in zip(by_word, choices, strict=True)]),
        reading,
        features.profiles(profiles, progress).astype(np.float64),
        np.array([choice.action for choice in choices]),
        np.array([choice.probability for choice in choices]),
        sounds,
        number,
    )


def state_of(match: Float32Array, conversation: Conversation, vectors: SentenceVectors) -> FloatArray:
    """Return the features of a state: the best matches on offer, and the last exchange, zeros before that.

    Of an exchange it is told what the agent said, what was answered, and how like the request each of them is.
    """
    last = np.zeros((len(LAST), vectors.table.shape[1]), np.float32)
    if conversation.exchanges:
        last = vectors.table[vectors.rows(conversation.exchanges[-1])]
    like = last @ vectors[conversation.context.request]
    return np.concatenate([top_matches(match), last.ravel(), like]).astype(np.float64)


def state_size(sentence: int) -> int:
    """Return how many features a state has where vectors of sentences have this many."""
    return TOP * len(FEATURES) + len(LAST) * (sentence + 1)


def pad(matches: Sequence[Float32Array], K: int) -> tuple[FloatArray, Any]:
    """Return match features as one array (n, K, F) and the mask (n, K) of the candidates that there are."""
    padded, mask = np.zeros((len(matches), K, MATCHES)), np.zeros((len(matches), K), np.bool_)
    for row, match in enumerate(matches):
        padded[row, : len(match)], mask[row, : len(match)] = match, True
    return padded, mask


def top_matches(match: Float32Array) -> Float32Array:
    """Return the `TOP` largest values of each feature over the candidates, (TOP F,)."""
    return np.sort(match, axis=0)[-TOP:].ravel()


def uniform_weights(reactions: Sequence[Reaction]) -> FloatArray:
    """Return 1/(K p) of each reaction, (n,): as many times it counts among uniform ones."""
    return np.array([1 / (len(r.choice.candidates) * r.choice.probability) for r in reactions])


def steps_of(reaction: Reaction) -> tuple[Choice, ...]:
    """Return the choices of a reaction's episode that are known, oldest first.

    Of earlier ones whose candidates nobody kept, only what was said is known: they offer that alone.
    """
    if reaction.before:
        return (*reaction.before, reaction.choice)
    talk = reaction.choice.conversation
    before = [
        Choice(talk._replace(exchanges=talk.exchanges[:n]), (exchange.said,), 0, 1.0)
        for n, exchange in enumerate(talk.exchanges)
    ]
    return (*before, reaction.choice)

"""The protocol of a text model: it scores candidates given a conversation, and reads feedback (appendix C.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from tacit.base.arrays import FloatArray
from tacit.base.changes import Changes
from tacit.decoding.decoder import DecoderSettings
from tacit.text.conversation import Choice, Conversation, Reaction
from tacit.text.evidence import Evidence

FitProgress = Callable[[int, int, str], None]
"""Called with what is done, what there is to do, and what is being done."""


class TextModel(Protocol):
    """What a text agent learns with. Nothing that it is asked changes it, but the changes that `reinforce` returns.

    Everything random in it follows from its own seed and what it has learned so far, so that saving and
    loading changes nothing.
    """

    name: ClassVar[str]
    refits: ClassVar[bool]
    """Whether it is fitted anew to all reactions again and again; else once, and then only `reinforce` teaches it."""

    @property
    def evidence(self) -> Evidence | None:
        """Return whether the last fit showed that feedback tells anything; None before one, or where it was told."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what the user must be told of how the last fit went; the agent warns of each."""

    def score(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return the policy's estimate that each candidate leads to a reward, (K,) in [0, 1]."""

    def posterior(self, conversation: Conversation, candidates: Sequence[str], feedback: str) -> FloatArray:
        """Return h(x, y, s): the probability that each candidate was the one taken, (K,), summing to 1."""

    def decode(self, reaction: Reaction, decoder: DecoderSettings) -> float:
        """Return what a reaction is taken to mean: a reward in [0, 1]."""

    def fit(
        self,
        reactions: Sequence[Reaction],
        progress: FitProgress | None = None,
        rewards: Sequence[float] | None = None,
    ) -> TextModel:
        """Return a model whose posterior is learned by ERM on reactions to candidates taken uniformly (eq. 5).

        It may take long, and be interrupted: this model stays as it is. Known `rewards`, of a judge or an oracle, take
        the place of what the feedback would be found to mean.
        """

    def reinforce(self, choices: Sequence[Choice], reward: float) -> Changes:
        """Return what one episode's choices and decoded reward change: a step of REINFORCE with baseline."""

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which the class's `from_state` rebuilds the model bit for bit."""


RestoreModel = Callable[[Mapping[str, Any]], TextModel]
"""Rebuilds a model from what `to_state` returned."""

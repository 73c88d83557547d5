"""The two stages of a text agent: uniform exploration, then policy learning from decoded rewards (appendix C.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.changes import assign, extend
from tacit.base.saved import Saved
from tacit.base.validation import SIMPLEX_TOLERANCE
from tacit.learning.episode import Episode
from tacit.learning.stage import NOTHING, Lesson, Stage
from tacit.planning.inverse_gap import gamma_at, inverse_gap_weights
from tacit.text.conversation import NO_REMARK, Choice, Conversation, Reaction, restore_choice
from tacit.text.evidence import STILL_EXPLORING, UNTESTED, find_evidence
from tacit.text.judges import JUDGES
from tacit.text.model import FitProgress, TextModel
from tacit.text.settings import TextSettings
from tacit.trust.anchors import MINORITY, Anchor
from tacit.trust.findings import Finding, worst_first


class Chooser(Protocol):
    """Who gives candidates their probabilities."""

    def probabilities(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return with which probability each candidate is taken, (K,)."""


class TalkPlan(NamedTuple):
    """How a conversation will be played: uniformly while exploring, else as the chooser says at each turn."""

    stage: str
    explores: bool
    chooser: Chooser | None = None

    def chances(self, step: int, shown: Any) -> FloatArray:
        """Return the probability of each candidate of a turn, (K,)."""
        if self.explores or self.chooser is None:
            return uniform(shown.candidates)
        return self.chooser.probabilities(shown.conversation, shown.candidates)


class TextStage(Stage, Protocol):
    """A stage of a text agent, with the model that it learns or chooses with."""

    model: TextModel


class TextExploration:
    """Takes every candidate with the same probability and collects reactions; then fits the model."""

    name: ClassVar[str] = "exploration"
    explores: ClassVar[bool] = True
    remarks: tuple[str, ...] = ()

    def __init__(self, settings: TextSettings, model: TextModel, reactions: Sequence[Reaction] = ()) -> None:
        self.settings, self.model = settings, model
        self.reactions = list(reactions)
        self.progress: FitProgress | None = None

    def plan(self, context: Any, draw: float) -> TalkPlan:
        """Return uniform choices."""
        return TalkPlan(self.name, explores=True)

    def learn(self, episode: Episode, feedback: str | None, outcome: int | None = None) -> Lesson:
        """Return the reaction kept; what it means is not known yet."""
        if feedback is None:
            return NOTHING
        return Lesson(changes=[extend(self.reactions, [Reaction(choices_of(episode)[-1], feedback)])])

    def next(self) -> TextStage:
        """Return policy learning when there are enough reactions, with a model that is fitted to them."""
        if len(self.reactions) < self.settings.exploration:
            return self
        judge = JUDGES[self.settings.judge] if self.settings.judge else None
        rewards = None if judge is None else [judge(reaction.feedback) for reaction in self.reactions]
        fitted = self.model.fit(self.reactions, self.progress, rewards)
        return TextLearning(self.settings, fitted, remarks=fitted.remarks)

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return that nothing has been made of the feedback yet."""
        return worst_first([STILL_EXPLORING, MINORITY])

    def to_state(self) -> dict[str, Any]:
        """Return the reactions so far, and the model."""
        states = [reaction_state(reaction) for reaction in self.reactions]
        return {"reactions": states, "model": self.model.to_state()}


def restore_reactions(settings: TextSettings, state: Mapping[str, Any]) -> list[Reaction]:
    """Return the reactions that exploration saved: to the last of `horizon` choices, taken uniformly, decodable."""
    saved, reactions = Saved.of(state), []
    for part in saved.parts("reactions"):
        reactions.append(reaction := restore_reaction(part))
        choice, K = reaction.choice, len(reaction.choice.candidates)
        step = len(choice.conversation.exchanges) + 1
        last = step == settings.horizon or (settings.ends_early and step < settings.horizon)
        part.check(last, "choice", f"that of step {settings.horizon}")
        part.check(abs(choice.probability * K - 1) <= SIMPLEX_TOLERANCE, "choice", f"of probability 1/{K}")
        settings.decoder.build(K)
    return reactions


class TextLearning:
    """Chooses by inverse-gap weighting and learns by REINFORCE from decoded rewards."""

    name: ClassVar[str] = "policy learning"
    explores: ClassVar[bool] = False

    def __init__(
        self, settings: TextSettings, model: TextModel, learned: int = 0, remarks: tuple[str, ...] = ()
    ) -> None:
        self.settings, self.model = settings, model
        self.learned, self.remarks = learned, remarks  # episodes so far, and how it began

    def plan(self, context: Any, draw: float) -> TalkPlan:
        """Return choices by what the model knows when they are made."""
        return TalkPlan(self.name, explores=False, chooser=self)

    def probabilities(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return the inverse-gap weights of the model's scores."""
        last = len(conversation.exchanges) == self.settings.horizon - 1 or self.settings.ends_early
        if self.settings.improves == "last" and not last:
            return uniform(candidates)
        gamma = gamma_at(self.learned + 1, len(candidates), self.settings.gamma_scale)
        return np.asarray(inverse_gap_weights(self.model.score(conversation, candidates), gamma))

    def learn(self, episode: Episode, feedback: str | None, outcome: int | None = None) -> Lesson:
        """Return the feedback decoded and a step of REINFORCE with it; what was explored is only decoded."""
        if feedback is None:
            return NOTHING
        choices = choices_of(episode)
        reward = self.decode(Reaction(choices[-1], feedback))
        if episode.plan.explores:
            return Lesson(reward)
        step = self.model.reinforce(choices, reward)
        return Lesson(reward, changes=[*step, assign(self, "learned", self.learned + 1)])

    def decode(self, reaction: Reaction) -> float:
        """Return J(h(x, y, s), a) of a reaction (eq. 6), or what the judge says."""
        if self.settings.judge:
            return JUDGES[self.settings.judge](reaction.feedback)
        choice = reaction.choice
        posterior = self.model.posterior(choice.conversation, choice.candidates, reaction.feedback)
        return self.settings.decoder.build(len(choice.candidates))(posterior, choice.action)

    def next(self) -> TextStage:
        """Return this stage: it goes on for ever."""
        return self

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return whether feedback was shown to tell anything, and what no data can test."""
        return worst_first([*find_evidence(self.model.evidence), UNTESTED, MINORITY])

    def to_state(self) -> dict[str, Any]:
        """Return how much was learned, and the model."""
        return {"learned": self.learned, "model": self.model.to_state()}


def choices_of(episode: Episode) -> list[Choice]:
    """Return the choices of an episode, one a step."""
    rows = zip(episode.states, episode.actions, episode.chances, strict=True)
    return [Choice(turn.conversation, turn.candidates, action, chance) for turn, action, chance in rows]


def uniform(candidates: Sequence[str]) -> FloatArray:
    """Return the uniform distribution over the candidates, (K,)."""
    return np.full(len(candidates), 1 / len(candidates))


def choice_state(choice: Choice) -> dict[str, Any]:
    """Return a choice as plain values."""
    return {
        "conversation": choice.conversation.to_json(),
        "candidates": list(choice.candidates),
        "action": choice.action,
        "probability": choice.probability,
    }


def reaction_state(reaction: Reaction) -> dict[str, Any]:
    """Return a reaction as plain values."""
    return {"choice": choice_state(reaction.choice), "feedback": reaction.feedback}


def restore_reaction(state: Mapping[str, Any]) -> Reaction:
    """Return the reaction that `reaction_state` described."""
    saved = Saved.of(state)
    feedback = saved.text("feedback")
    saved.check(
        feedback == NO_REMARK or bool(feedback.strip()), "feedback", "a text that is not empty, or silence"
    )
    return Reaction(restore_choice(saved.part("choice")), feedback)

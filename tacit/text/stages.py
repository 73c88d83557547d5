"""The two stages of a text agent: uniform exploration, then policy learning from decoded rewards (appendix C.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.changes import Change, assign, extend
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

OFTEN = 1_000
"""Reactions up to which it is looked at when there are a third more; then when there are half as many again."""
TOLD_AFTER = 300
"""Reactions after which it is said that they were not shown to be more than noise: fewer may simply be too few."""
MOST_KEPT = 10_000
"""Reactions that a fit is made to, online the last ones, so that memory and time are bounded: below 2 GB."""


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
    """A stage of a text agent, with the model that it learns or chooses with, and what it fits that to."""

    settings: TextSettings
    model: TextModel
    reactions: list[Reaction]
    looked: int
    awaits: bool

    @property
    def is_due(self) -> bool:
        """Return whether there are reactions enough for a fit."""

    def take_up(self, fitted: TextModel, n: int | None = None) -> TextStage:
        """Return who goes on with a model that was fitted to the first n reactions."""


class TextExploration:
    """Takes every candidate with the same chance and collects reactions, until feedback is shown to tell something.

    It looks when there are as many reactions as were asked for, then whenever there are a third more: the model is
    fitted and shows what it foretells of reactions left out. A model that is fitted once is fitted at the first look.
    Where it `awaits` fits, they are made elsewhere, and taken up when they are done.
    """

    name: ClassVar[str] = "exploration"
    explores: ClassVar[bool] = True
    awaits: bool = False

    def __init__(
        self,
        settings: TextSettings,
        model: TextModel,
        reactions: Sequence[Reaction] = (),
        looked: int = 0,
        told: bool = False,
    ) -> None:
        self.settings, self.model = settings, model
        self.reactions, self.looked = (
            list(reactions),
            looked,
        )  # the latter: how many there were at the last look
        self.told = told  # that they tell nothing
        self.progress: FitProgress | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return that feedback was not shown to be more than noise, when that was found at this look."""
        return self.model.remarks if self.told else ()

    def plan(self, context: Any, draw: float) -> TalkPlan:
        """Return uniform choices."""
        return TalkPlan(self.name, explores=True)

    def learn(self, episode: Episode, feedback: str | None, outcome: int | None = None) -> Lesson:
        """Return the reaction kept; what it means is not known yet."""
        if feedback is None:
            return NOTHING
        return Lesson(changes=[extend(self.reactions, [reaction_of(episode, feedback)])])

    @property
    def is_due(self) -> bool:
        """Return whether there are reactions enough for a look."""
        return len(self.reactions) >= next_look(self.looked, self.settings.exploration)

    def next(self) -> TextStage:
        """Return policy learning once feedback is shown to tell something, else exploration with what was looked at."""
        if self.awaits or not self.is_due:
            return self
        return self.take_up(fit_reactions(self.settings, self.model, self.reactions, self.progress))

    def take_up(self, fitted: TextModel, n: int | None = None) -> TextStage:
        """Return who goes on with a model that was fitted to the first n reactions, all if it is not said."""
        n = len(self.reactions) if n is None else n
        shown = bool(self.settings.judge) or fitted.evidence is None or fitted.evidence.found
        following: TextStage
        if not fitted.refits:
            following = TextLearning(self.settings, fitted, remarks=fitted.remarks)
        elif shown:
            known = len(self.reactions)
            following = TextLearning(self.settings, fitted, self.reactions, n, known, fitted.remarks)
        else:
            told = n >= TOLD_AFTER > self.looked
            following = TextExploration(self.settings, fitted, self.reactions, n, told)
            following.progress = self.progress
        following.awaits = self.awaits
        return following

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return that nothing has been made of the feedback yet and, after many reactions, that none tells anything."""
        silent = find_evidence(self.model.evidence) if self.looked >= TOLD_AFTER else ()
        return worst_first([*silent, STILL_EXPLORING, MINORITY])

    def to_state(self) -> dict[str, Any]:
        """Return the reactions so far, when they were looked at, and the model."""
        states = [reaction_state(reaction) for reaction in self.reactions]
        return {"reactions": states, "looked": self.looked, "model": self.model.to_state()}


def next_look(looked: int, exploration: int) -> int:
    """Return at how many reactions to look next: after the exploration asked for, then when there are more by a share.

    >>> next_look(0, 30), next_look(30, 30), next_look(100, 30), next_look(2000, 30)
    (30, 40, 133, 3000)
    """
    return max(exploration, looked + 1, looked * 4 // 3 if looked < OFTEN else looked * 3 // 2)


def is_uniform(reaction: Reaction) -> bool:
    """Return whether the last choice was uniform."""
    choice = reaction.choice
    return abs(choice.probability * len(choice.candidates) - 1) <= SIMPLEX_TOLERANCE


def fit_reactions(
    settings: TextSettings,
    model: TextModel,
    reactions: Sequence[Reaction],
    progress: FitProgress | None = None,
) -> TextModel:
    """Return the model fitted to reactions, the last of them where they are many."""
    kept = list(reactions[-MOST_KEPT:])
    return model.fit(kept, progress, judged(settings, kept))


def judged(settings: TextSettings, reactions: Sequence[Reaction]) -> list[float] | None:
    """Return the rewards that a judge reads off reactions, None where there is no judge."""
    if not settings.judge:
        return None
    return [JUDGES[settings.judge](reaction.feedback) for reaction in reactions]


def restore_reactions(
    settings: TextSettings, model: TextModel, state: Mapping[str, Any], uniform_ones: bool
) -> list[Reaction]:
    """Return the reactions that a stage saved: to a choice that can be the last; while exploring, a uniform one."""
    saved, reactions = Saved.of(state), []
    for part in saved.parts("reactions"):
        reactions.append(reaction := restore_reaction(part))
        choice, K = reaction.choice, len(reaction.choice.candidates)
        step = len(choice.conversation.exchanges) + 1
        last = step == settings.horizon or (settings.ends_early and step < settings.horizon)
        part.check(last, "choice", f"that of step {settings.horizon}")
        part.check(not uniform_ones or is_uniform(reaction), "choice", f"of probability 1/{K}")
        if not model.refits:
            settings.decoder.build(K)
    return reactions


class TextLearning:
    """Chooses by inverse-gap weighting; learns by fits to all reactions so far, or by REINFORCE from decoded rewards.

    A model that is fitted again and again is when there are a third more reactions, later half as many again: reading
    sharpens while the agent earns, and a wrong turn is undone. `learned` counts the episodes that it knows. Of more
    than `MOST_KEPT` reactions the oldest are forgotten. Fits may be made elsewhere, as in exploration.
    """

    name: ClassVar[str] = "policy learning"
    explores: ClassVar[bool] = False
    awaits: bool = False

    def __init__(
        self,
        settings: TextSettings,
        model: TextModel,
        reactions: Sequence[Reaction] = (),
        looked: int = 0,
        learned: int = 0,
        remarks: tuple[str, ...] = (),
    ) -> None:
        self.settings, self.model = settings, model
        self.reactions, self.looked = list(reactions), looked
        self.learned, self.remarks = learned, remarks  # the latter: how it began

    def plan(self, context: Any, draw: float) -> TalkPlan:
        """Return choices by what the model knows when they are made."""
        return TalkPlan(self.name, explores=False, chooser=self)

    def probabilities(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return the inverse-gap weights of the model's scores."""
        last = len(conversation.exchanges) == self.settings.horizon - 1
        if self.settings.improves == "last" and not last:
            return uniform(candidates)
        gamma = gamma_at(self.learned + 1, len(candidates), self.settings.gamma_scale)
        return np.asarray(inverse_gap_weights(self.model.score(conversation, candidates), gamma))

    def learn(self, episode: Episode, feedback: str | None, outcome: int | None = None) -> Lesson:
        """Return the feedback decoded, and kept: for the next fit, which may be now, or for a step of REINFORCE."""
        if feedback is None:
            return NOTHING
        reaction = reaction_of(episode, feedback)
        reward = self.decode(reaction)
        changes = list(self._keep(reaction)) if self.model.refits else []
        if not episode.plan.explores:
            changes += self.model.reinforce([*reaction.before, reaction.choice], reward)
            changes.append(assign(self, "learned", self.learned + 1))
        return Lesson(reward, changes=changes)

    def _keep(self, reaction: Reaction) -> Iterator[Change]:
        """Yield what keeps a reaction and, when it is time, the new fit that makes of all."""
        if self.awaits or len(self.reactions) + 1 < next_look(self.looked, 0):
            yield extend(self.reactions, [reaction])
            return
        kept = [*self.reactions, reaction][-MOST_KEPT:]
        yield assign(self, "model", fit_reactions(self.settings, self.model, kept))
        yield assign(self, "reactions", kept)
        yield assign(self, "looked", len(kept))

    @property
    def is_due(self) -> bool:
        """Return whether there are reactions enough for another fit, of a model that is fitted again."""
        return self.model.refits and len(self.reactions) >= next_look(self.looked, 0)

    def take_up(self, fitted: TextModel, n: int | None = None) -> TextStage:
        """Return itself, which goes on with a model that was fitted to the first n reactions, all if it is not said."""
        since = 0 if n is None else len(self.reactions) - n
        self.model, self.reactions = fitted, self.reactions[-MOST_KEPT:]
        self.looked = len(self.reactions) - since
        return self

    def decode(self, reaction: Reaction) -> float:
        """Return what a reaction means: what the judge says, else what the model does."""
        if self.settings.judge:
            return JUDGES[self.settings.judge](reaction.feedback)
        return self.model.decode(reaction, self.settings.decoder)

    def next(self) -> TextStage:
        """Return this stage: it goes on for ever."""
        return self

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return whether feedback was shown to tell anything, and what no data can test."""
        return worst_first([*find_evidence(self.model.evidence), UNTESTED, MINORITY])

    def to_state(self) -> dict[str, Any]:
        """Return how much was learned and from what, and the model."""
        states = [reaction_state(reaction) for reaction in self.reactions]
        return {
            "reactions": states,
            "looked": self.looked,
            "learned": self.learned,
            "model": self.model.to_state(),
        }


def reaction_of(episode: Episode, feedback: str) -> Reaction:
    """Return the last choice of an episode with the feedback that followed, and the choices before it."""
    *before, last = choices_of(episode)
    return Reaction(last, feedback, tuple(before))


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
    before = [choice_state(choice) for choice in reaction.before]
    return {"choice": choice_state(reaction.choice), "feedback": reaction.feedback, "before": before}


def restore_reaction(state: Mapping[str, Any]) -> Reaction:
    """Return the reaction that `reaction_state` described."""
    saved = Saved.of(state)
    feedback = saved.text("feedback")
    saved.check(
        feedback == NO_REMARK or bool(feedback.strip()), "feedback", "a text that is not empty, or silence"
    )
    choice, before = restore_choice(saved.part("choice")), tuple(map(restore_choice, saved.parts("before")))
    steps = [len(each.conversation.exchanges) for each in (*before, choice)]
    whole = not before or steps == list(range(len(steps)))
    saved.check(whole, "before", "the choices of the same episode, one a step")
    return Reaction(choice, feedback, before)

"""The world of conversations: states, candidates and feedback are sentences, and candidates come with the state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from tacit.base.changes import Changes
from tacit.base.checkpoint import CheckpointError
from tacit.base.saved import Saved
from tacit.base.validation import check_whole
from tacit.learning.episode import Episode, Plan
from tacit.learning.stage import Stage
from tacit.learning.world import World
from tacit.problem.layout import MISSING
from tacit.problem.spaces import Label
from tacit.text.conversation import (
    Conversation,
    Exchange,
    TextContext,
    check_candidates,
    check_text,
    read_remark,
)
from tacit.text.model import RestoreModel, TextModel
from tacit.text.models import CAUSAL, make_model, restore_model
from tacit.text.settings import SMALL, TextSettings
from tacit.text.stages import TalkPlan, TextExploration, TextLearning, TextStage, restore_reactions
from tacit.trust.anchors import Anchor

FEWEST_OF_ALL = 2
"""Candidates of any choice at least."""


class Turn(NamedTuple):
    """A state as the stages see it: what the person said last, the candidates on offer, and what was said before."""

    heard: str
    candidates: tuple[str, ...]
    conversation: Conversation


class Conversations:
    """Conversations of `settings.horizon` choices, or up to as many; see `tacit.learning.world.World`.

    The state is what the person said last; at the first step, the request. `model` is made by its name in the settings
    unless it is given. All agents of one object share its model: make one for each agent.

    >>> from tacit.agent import Agent
    >>> agent = Agent(Conversations(TextSettings(horizon=1)), seed=1)
    >>> episode = agent.begin("I am looking for something to read")
    >>> agent.act(episode, "I am looking for something to read", ["A novel?", "A comic?", "A newspaper?"])
    'A novel?'
    >>> agent.end(episode, "Oh, why not.")
    >>> episode
    Episode(id=0, stage='exploration', steps=1, ended)
    """

    name: ClassVar[str] = "conversations"
    plan_draws: ClassVar[int] = 0

    def __init__(
        self, settings: TextSettings | None = None, model: TextModel | None = None, seed: int = 0
    ) -> None:
        self.settings = settings = settings if settings is not None else TextSettings()
        self.model = (
            model
            if model is not None
            else make_model(settings.model, settings.horizon, seed, settings.encoder)
        )

    @property
    def horizon(self) -> int:
        """Return how many choices a conversation has at most."""
        return self.settings.horizon

    def first_stage(self) -> TextStage:
        """Return uniform exploration."""
        return TextExploration(self.settings, self.model)

    def meet_context(self, context: object) -> Conversations:
        """Return itself: any text can be read."""
        return self

    def meet_feedback(self, feedback: object) -> Conversations:
        """Return itself: any text can be read."""
        return self

    def meet_state(
        self, episode: Episode, state: object, actions: Sequence[str], step: int | None
    ) -> Conversations:
        """Return itself: any text can be read."""
        return self

    def carry_over(self, before: World, stage: Stage, episodes: Iterable[Episode]) -> tuple[Stage, Changes]:
        """Return the stage as it is."""
        return stage, ()

    def read_context(self, context: object) -> TextContext:
        """Return the context from a request, or a mapping with `request` and perhaps `profile`."""
        return TextContext.read(context)

    def read_feedback(self, feedback: object) -> str | None:
        """Return the feedback, which must be a text; None is silence, a remark of its own unless it is missing."""
        missing = feedback is None and self.settings.silence == MISSING
        return None if missing else read_remark(feedback)

    def read_state(
        self, episode: Episode, state: object, actions: Sequence[str] | None, step: int | None
    ) -> tuple[int, Turn]:
        """Return the step and the turn; the same words and candidates as at the last step are a repeated question.

        Unless it is said which `step` is meant.
        """
        heard, offered, taken = (
            check_text("state", state),
            check_candidates(actions or ()),
            len(episode.actions),
        )
        if step is not None:
            check_whole("step", step, 1, self.horizon)
        repeated = bool(taken) and episode.states[-1][:2] == (heard, offered)
        if repeated and step in (None, taken):
            return taken - 1, episode.states[-1]
        if step not in (None, taken + 1):
            raise ValueError(
                f"the next step of episode {episode.id} is {taken + 1}, got {heard!r} for step {step}; repeat the "
                f"words and candidates of step {taken} for its action again, or show what was said next"
            )
        if not taken and heard != episode.encoded.request:
            raise ValueError(
                f"the first state of a conversation is its request, got {heard!r} and request "
                f"{episode.encoded.request!r}; begin with what the person says first, and put who they are into the "
                "profile"
            )
        if taken == self.horizon - 1:
            self._check_decodable(offered)
        return taken, Turn(heard, offered, _so_far(episode, heard))

    def uniform_plan(self, stage: Stage) -> TalkPlan:
        """Return the plan that takes every candidate with the same chance."""
        return TalkPlan(stage.name, explores=True)

    def followed(self, plan: Plan, step: int, shown: Turn, action: int, chance: float) -> Plan:
        """Raise ValueError: conversations are learned from choices of Tacit's own."""
        raise ValueError(
            f"of conversations only choices of the agent's own are learned from, got {shown.candidates[action]!r} that "
            "somebody took; use a layout with states and actions, or fit a model to the logs"
        )

    def can_end(self, step: int, shown: Turn) -> bool:
        """Return whether conversations may end before the last choice, and what is said of this one can be decoded."""
        return self.settings.ends_early and (self.model.refits or len(shown.candidates) > FEWEST_OF_ALL)

    def offered(self, step: int, shown: Turn) -> tuple[str, ...]:
        """Return the candidates."""
        return shown.candidates

    def read_anchor(self, anchor: Anchor) -> Anchor:
        """Return the anchor as it is."""
        return anchor

    def context_label(self, context: object, encoded: TextContext) -> dict[str, str]:
        """Return request and profile."""
        return encoded.to_json()

    def state_label(self, step: int, shown: Turn) -> str:
        """Return what the person said last; at first, the request."""
        return shown.conversation.utterances[-1]

    def policy(self, stage: Stage, context: TextContext) -> Mapping[Label, Mapping[Label, float]]:
        """Refuse: candidates are not known beforehand."""
        raise ValueError(
            "a policy lists what is done in every state, and conversations have no end of states; begin an episode, "
            "act, and see its probability"
        )

    def save_episode(self, episode: Episode) -> dict[str, Any]:
        """Return plan and states as plain values."""
        return {
            "plan": {"stage": episode.plan.stage, "explores": episode.plan.explores},
            "states": [
                [turn.heard, list(turn.candidates), turn.conversation.to_json()] for turn in episode.states
            ],
        }

    def restore_context(self, state: Mapping[str, Any]) -> TextContext:
        """Return the saved context."""
        return self.read_context(state["context"])

    def restore_episode(self, stage: Stage, state: Mapping[str, Any]) -> tuple[Plan, list[Turn]]:
        """Return (plan, states) that `save_episode` described."""
        saved = Saved.of(state)
        plan = _restore_plan(stage, saved.part("plan"))
        shown, actions, chances = (saved.entries(name) for name in ("states", "actions", "chances"))
        whole = len(shown) == len(actions) == len(chances) <= self.horizon
        saved.check(whole, "states", "as many as actions and chances, and no more than steps")
        said = Conversation(self.read_context(saved["context"]))
        turns: list[Turn] = []
        for i in shown:
            turns.append(turn := _restore_turn(shown, i, said))
            taken = turn.candidates[actions.whole(i, most=len(turn.candidates) - 1)]
            saved.check(chances.number(i, 0, 1) > 0, "chances", "above 0")
            if len(turns) < len(shown):
                heard = shown[str(len(turns))][0]
                said = said._replace(exchanges=(*said.exchanges, Exchange(taken, heard)))
        for turn in turns[self.horizon - 1 :]:
            self._check_decodable(turn.candidates)
        return plan, turns

    def to_state(self) -> dict[str, Any]:
        """Return the settings; the model is kept with the stage, which learns it."""
        return {"settings": self.settings.to_json(), "model": self.model.name}

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], model_state: Mapping[str, Any], restore: RestoreModel | None = None
    ) -> Conversations:
        """Return the world that `to_state` described, with its model; `restore` rebuilds one that has no name."""
        saved, kept = Saved.of(state), Saved.of(model_state)
        settings, name = TextSettings.from_json(saved.part("settings")), saved.text("model")
        if restore is None:
            if name != (SMALL if settings.model == SMALL else CAUSAL):
                raise CheckpointError(
                    f"the agent has a model of its own, {name!r}; pass what rebuilds it from its state as `model`"
                )
            restore = partial(restore_model, settings.model)
        if name == SMALL:
            same = kept.whole("horizon", 1) == settings.horizon
            kept.check(same, "horizon", f"that of the conversations, {settings.horizon}")
        return cls(settings, restore(kept))

    def restore_stage(self, name: str, state: Mapping[str, Any]) -> TextStage:
        """Return the stage that `to_state` described; its model is the world's."""
        saved = Saved.of(state)
        if name == TextExploration.name:
            reactions = restore_reactions(self.settings, self.model, saved, uniform_ones=True)
            looked = saved.whole("looked", most=len(reactions))
            return TextExploration(self.settings, self.model, reactions, looked)
        if name == TextLearning.name:
            if self.model.name == SMALL:
                saved.check(saved.part("model").has("fitted"), "model", "fitted, as exploration has ended")
            reactions = restore_reactions(self.settings, self.model, saved, uniform_ones=False)
            looked = saved.whole("looked", most=len(reactions))
            return TextLearning(self.settings, self.model, reactions, looked, saved.whole("learned"))
        raise CheckpointError(
            f"a text agent is in {TextExploration.name!r} or {TextLearning.name!r}, got {name!r}; use an earlier copy"
        )

    def _check_decodable(self, candidates: tuple[str, ...]) -> None:
        """Raise where J is made of the posterior and cannot be of so few candidates."""
        if self.model.refits:
            return
        try:
            self.settings.decoder.build(len(candidates))
        except ValueError as error:
            raise ValueError(f"feedback on {len(candidates)} candidates cannot be decoded: {error}") from None


def _restore_plan(stage: Stage, saved: Saved) -> TalkPlan:
    """Return the plan that was saved: exploration's explores, the other is by the stage that is there now."""
    name, explores = saved.choice("stage", (TextExploration.name, TextLearning.name)), saved.flag("explores")
    chooser = stage if isinstance(stage, TextLearning) else None
    possible = explores == (name == TextExploration.name) and (explores or chooser is not None)
    saved.check(possible, "explores", "true in exploration, and false after it")
    return TalkPlan(name, explores, chooser)


def _restore_turn(saved: Saved, name: str, before: Conversation) -> Turn:
    """Return the turn that was saved; what was said before it must be what was."""
    entry = saved.entries(name)
    saved.check(len(entry) == 3, name, "what was heard, what was offered, what was said before")
    heard, offered = check_text("state", entry.text("0")), check_candidates(entry.texts("1"))
    same = Conversation.read(entry.part("2")) == before and heard == before.utterances[-1]
    saved.check(same, name, "what follows from the turns before")
    return Turn(heard, offered, before)


def _so_far(episode: Episode, heard: str) -> Conversation:
    """Return the conversation when the person has just said `heard`; at first that is the request."""
    if not episode.actions:
        return Conversation(episode.encoded)
    last: Turn = episode.states[-1]
    said = Exchange(last.candidates[episode.actions[-1]], heard)
    return last.conversation._replace(exchanges=(*last.conversation.exchanges, said))

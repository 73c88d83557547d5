"""The two stages of a text agent: uniform exploration, then policy learning from decoded rewards (appendix C.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.validation import check_number, check_whole
from tacit.decoding.decoder import DecoderSettings
from tacit.planning.inverse_gap import gamma_at, inverse_gap_weights
from tacit.text.conversation import Choice, Conversation, Reaction
from tacit.text.judges import JUDGES
from tacit.text.model import Progress, TextModel


@dataclass(frozen=True)
class TextSettings:
    """How a text agent learns; the defaults are Tacit's own, `gamma_scale=1` is the paper's schedule.

    `horizon` choices make an episode, the first `exploration` episodes are uniform. `model` is "small", or a
    causal language model: "smol", "paper", or the name of one on the hub. `judge` (for baselines) names a reader of
    feedback that takes the decoder's place; with `improves="last"` all but the last choice stay uniform.
    """

    horizon: int = 2
    exploration: int = 500
    gamma_scale: float = 8.0
    decoder: DecoderSettings = field(default_factory=lambda: DecoderSettings(theta=0.9, M=1.0, c=0.0))
    model: str = "small"
    judge: str = ""
    improves: str = "all"

    def __post_init__(self) -> None:
        check_whole("horizon", self.horizon, 1)
        check_whole("exploration", self.exploration, 2)
        check_number("gamma_scale", self.gamma_scale, 0, float("inf"))
        if self.judge and self.judge not in JUDGES:
            raise ValueError(f"judge must be one of {sorted(JUDGES)}, or empty to learn, got {self.judge!r}")
        if self.improves not in ("all", "last"):
            raise ValueError(f"improves must be 'all' or 'last', got {self.improves!r}")

    def to_json(self) -> dict[str, Any]:
        """Return plain values that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TextSettings:
        """Return the settings that `to_json` wrote."""
        return cls(**dict(values) | {"decoder": DecoderSettings(**values["decoder"])})


class TextStage(Protocol):
    """One stage of learning. `probabilities` never changes it; only `learn` does."""

    name: ClassVar[str]
    explores: ClassVar[bool]
    model: TextModel

    def probabilities(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return with which probability each candidate is taken, (K,)."""

    def learn(self, choices: Sequence[Choice], feedback: str, explored: bool) -> float | None:
        """Learn from a finished episode and return its decoded reward, if any.

        One that was `explored`, begun before this stage was, has no policy to improve and is only decoded.
        """

    def next(self) -> TextStage:
        """Return the stage that continues: this one until it is done."""

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `restore_stage` rebuilds the stage bit for bit."""


class TextExploration:
    """Takes every candidate with the same probability and collects reactions; then fits the model."""

    name: ClassVar[str] = "exploration"
    explores: ClassVar[bool] = True

    def __init__(self, settings: TextSettings, model: TextModel, reactions: Sequence[Reaction] = ()) -> None:
        self.settings, self.model = settings, model
        self.reactions = list(reactions)
        self.progress: Progress | None = None

    def probabilities(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return 1/K for each candidate."""
        return uniform(candidates)

    def learn(self, choices: Sequence[Choice], feedback: str, explored: bool) -> None:
        """Keep the reaction; what it means is not known yet."""
        self.reactions.append(Reaction(choices[-1], feedback))

    def next(self) -> TextStage:
        """Return policy learning when there are enough reactions; the model is fitted to them first."""
        if len(self.reactions) < self.settings.exploration:
            return self
        judge = JUDGES[self.settings.judge] if self.settings.judge else None
        rewards = None if judge is None else [judge(reaction.feedback) for reaction in self.reactions]
        self.model.fit(self.reactions, self.progress, rewards)
        return TextLearning(self.settings, self.model)

    def to_state(self) -> dict[str, Any]:
        """Return what `restore_stage` needs."""
        states = [reaction_state(reaction) for reaction in self.reactions]
        return {"reactions": states, "model": self.model.to_state()}


class TextLearning:
    """Chooses by inverse-gap weighting and learns by REINFORCE from decoded rewards."""

    name: ClassVar[str] = "policy learning"
    explores: ClassVar[bool] = False

    def __init__(self, settings: TextSettings, model: TextModel, learned: int = 0) -> None:
        self.settings, self.model = settings, model
        self.learned = learned  # episodes so far

    def probabilities(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return the inverse-gap weights of the model's scores."""
        last = len(conversation.exchanges) == self.settings.horizon - 1
        if self.settings.improves == "last" and not last:
            return uniform(candidates)
        gamma = gamma_at(self.learned + 1, len(candidates), self.settings.gamma_scale)
        return np.asarray(inverse_gap_weights(self.model.score(conversation, candidates), gamma))

    def learn(self, choices: Sequence[Choice], feedback: str, explored: bool) -> float:
        """Return the decoded reward, after a step of REINFORCE with it."""
        reward = self.decode(Reaction(choices[-1], feedback))
        if not explored:
            self.learned += 1
            self.model.reinforce(choices, reward)
        return reward

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

    def to_state(self) -> dict[str, Any]:
        """Return what `restore_stage` needs."""
        return {"learned": self.learned, "model": self.model.to_state()}


def restore_stage(name: str, settings: TextSettings, model: TextModel, state: Mapping[str, Any]) -> TextStage:
    """Return the stage that `to_state` described; its model is restored already."""
    if name == TextExploration.name:
        reactions = [restore_reaction(reaction) for reaction in state["reactions"]]
        return TextExploration(settings, model, reactions)
    return TextLearning(settings, model, state["learned"])


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


def restore_choice(state: Mapping[str, Any]) -> Choice:
    """Return the choice that `choice_state` described."""
    conversation = Conversation.read(state["conversation"])
    return Choice(conversation, tuple(state["candidates"]), state["action"], state["probability"])


def reaction_state(reaction: Reaction) -> dict[str, Any]:
    """Return a reaction as plain values."""
    return {"choice": choice_state(reaction.choice), "feedback": reaction.feedback}


def restore_reaction(state: Mapping[str, Any]) -> Reaction:
    """Return the reaction that `reaction_state` described."""
    return Reaction(restore_choice(state["choice"]), state["feedback"])

"""The text agent: begin, act, end on conversations (section 5.2, appendix C.3).

It explores uniformly, fits the posterior over candidates, then chooses by inverse-gap weighting and learns by
REINFORCE from decoded rewards. It knows nothing of what the conversations are about.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tacit.checkpoint import load_tree, save_tree
from tacit.decoder import DecoderSettings
from tacit.episodes import (
    check_complete,
    check_open,
    check_ours,
    find_open,
    refuse_more_steps,
    refuse_other_feedback,
)
from tacit.layout import FloatArray
from tacit.randomness import EpisodeDraws, draw_index
from tacit.text.conversation import (
    Choice,
    Conversation,
    Exchange,
    Reaction,
    TextContext,
    check_candidates,
    check_text,
)
from tacit.text.judges import JUDGES
from tacit.text.model import Progress, TextModel
from tacit.text.models import make_model, restore_model
from tacit.text.policy import gamma_at, inverse_gap_weights
from tacit.validation import check_number, check_whole

KIND = "text agent"


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


class TextEpisode:
    """The handle of one conversation: what was chosen, whether it is open, what its feedback was decoded to."""

    __slots__ = (
        "choices",
        "context",
        "decoded_reward",
        "draws",
        "explored",
        "feedback",
        "id",
        "open",
        "owner",
    )

    def __init__(
        self, owner: object, number: int, context: TextContext, explored: bool, draws: FloatArray
    ) -> None:
        self.owner, self.id, self.context, self.draws = owner, number, context, draws
        self.explored = explored
        self.choices: list[Choice] = []
        self.feedback: str | None = None
        self.open = True
        self.decoded_reward: float | None = None

    @property
    def actions(self) -> list[int]:
        """Return the indices of the candidates taken."""
        return [choice.action for choice in self.choices]

    def conversation(self, state: str) -> Conversation:
        """Return the conversation when the person has just said `state`; at first that is the request."""
        if not self.choices:
            return Conversation(self.context)
        last = self.choices[-1]
        said = Exchange(last.candidates[last.action], state)
        return last.conversation._replace(exchanges=(*last.conversation.exchanges, said))

    def __repr__(self) -> str:
        status = "open" if self.open else "ended"
        return f"TextEpisode(id={self.id}, steps={len(self.choices)}, {status})"


class TextAgent:
    """Learns from conversations and what people say at their end; see `begin`, `act` and `end`.

    `act` takes the candidates with the state: `agent.act(episode, state, candidates)`. The state is what the person
    said last; at the first step, the request. Chance follows from (seed, episode id); `save` and `load` are
    bit-exact as long as encodings come from the same cache (`tacit.text.cache`).
    """

    def __init__(
        self, settings: TextSettings | None = None, seed: int = 0, model: TextModel | None = None
    ) -> None:
        self.settings = settings if settings is not None else TextSettings()
        self.model = (
            model if model is not None else make_model(self.settings.model, self.settings.horizon, seed)
        )
        self.progress: Progress | None = None
        self._draws = EpisodeDraws(seed, self.settings.horizon + 1)
        self._next_id = 0
        self._open: dict[int, TextEpisode] = {}
        self._reactions: list[Reaction] = []
        self._learned = 0  # episodes of policy learning
        self._fitted = False

    @property
    def seed(self) -> int:
        """Return the seed that all chance in the agent's episodes follows from."""
        return self._draws.seed

    @property
    def explores(self) -> bool:
        """Return whether the agent still explores."""
        return not self._fitted

    @property
    def open_episodes(self) -> tuple[TextEpisode, ...]:
        """Return the episodes that have begun and not ended, oldest first."""
        return tuple(self._open.values())

    @property
    def next_episode(self) -> int:
        """Return the id that the next episode will have: how many have begun."""
        return self._next_id

    def episode(self, number: int) -> TextEpisode:
        """Return the open episode with that id."""
        return find_open(self._open, number)

    def begin(self, context: Any) -> TextEpisode:
        """Return the handle of a new episode: `context` is a request, or a mapping with `request` and `profile`."""
        read = TextContext.read(context)
        episode = TextEpisode(self, self._next_id, read, self.explores, self._draws.row(self._next_id))
        self._open[episode.id] = episode
        self._next_id += 1
        return episode

    def act(self, episode: TextEpisode, state: str, candidates: Sequence[str]) -> str:
        """Return the candidate to say next; asked again with the same state and candidates, the same one."""
        check_ours(self, TextEpisode, episode)
        offered, heard = check_candidates(candidates), check_text("state", state)
        if episode.choices and self._repeats(episode, heard, offered):
            return offered[episode.choices[-1].action]
        check_open(episode)
        if len(episode.choices) == self.settings.horizon:
            refuse_more_steps(episode, self.settings.horizon, state)
        self._check_last(episode, offered)
        conversation = episode.conversation(heard)
        probabilities = self.probabilities(conversation, offered, episode.explored)
        action = int(draw_index(probabilities, episode.draws[len(episode.choices) + 1]))
        episode.choices.append(Choice(conversation, offered, action, float(probabilities[action])))
        return offered[action]

    def probabilities(
        self, conversation: Conversation, candidates: Sequence[str], explored: bool = False
    ) -> FloatArray:
        """Return with which probability each candidate is taken, (K,); uniform while exploring."""
        K, last = len(candidates), len(conversation.exchanges) == self.settings.horizon - 1
        if explored or self.explores or (self.settings.improves == "last" and not last):
            return np.full(K, 1 / K)
        gamma = gamma_at(self._learned + 1, K, self.settings.gamma_scale)
        return inverse_gap_weights(self.model.score(conversation, candidates), gamma)

    def end(self, episode: TextEpisode, feedback: str) -> None:
        """Learn from the feedback of a finished episode; the last of exploration fits the decoder, which takes a while.

        Ending twice with the same feedback does nothing the second time; `episode.decoded_reward` is what the
        feedback was taken to mean, None while the agent cannot tell.
        """
        check_ours(self, TextEpisode, episode)
        said = check_text("feedback", feedback)
        if not episode.open and episode.feedback is not None:
            if episode.feedback == said:
                return
            refuse_other_feedback(episode, feedback)
        check_open(episode)
        check_complete(episode, len(episode.choices), self.settings.horizon)
        self._learn(episode, said)
        episode.open, episode.feedback = False, said
        del self._open[episode.id]

    def abandon(self, episode: TextEpisode) -> None:
        """Close an episode whose feedback will never come."""
        check_ours(self, TextEpisode, episode)
        if episode.open:
            episode.open = False
            del self._open[episode.id]

    def decode(self, reaction: Reaction) -> float:
        """Return the decoded reward J(h(x, y, s), a) of a reaction, or what the judge says."""
        if self.settings.judge:
            return JUDGES[self.settings.judge](reaction.feedback)
        choice = reaction.choice
        decoder = self.settings.decoder.build(len(choice.candidates))
        posterior = self.model.posterior(choice.conversation, choice.candidates, reaction.feedback)
        return decoder(posterior, choice.action)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, open episodes included; `load` continues bit for bit."""
        tree = {
            "settings": self.settings.to_json(),
            "seed": self.seed,
            "next_id": self._next_id,
            "learned": self._learned,
            "fitted": self._fitted,
            "reactions": [reaction_state(reaction) for reaction in self._reactions],
            "open": [episode_state(episode) for episode in self._open.values()],
            "model": self.model.to_state(),
        }
        save_tree(path, KIND, tree)

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: type[TextModel] | None = None) -> TextAgent:
        """Return the agent that `save` wrote; `model` is the class of its model where it is not one of Tacit's."""
        tree = load_tree(path, KIND)
        settings = TextSettings.from_json(tree["settings"])
        made = (
            restore_model(settings.model, tree["model"]) if model is None else model.from_state(tree["model"])
        )
        agent = cls(settings, tree["seed"], made)
        agent._next_id, agent._learned, agent._fitted = tree["next_id"], tree["learned"], tree["fitted"]
        agent._reactions = [restore_reaction(state) for state in tree["reactions"]]
        for state in tree["open"]:
            episode = TextEpisode(
                agent,
                state["id"],
                TextContext.read(state["context"]),
                state["explored"],
                agent._draws.row(state["id"]),
            )
            episode.choices = [restore_choice(choice) for choice in state["choices"]]
            agent._open[episode.id] = episode
        return agent

    def _learn(self, episode: TextEpisode, feedback: str) -> None:
        reaction = Reaction(episode.choices[-1], feedback)
        if self._fitted:
            episode.decoded_reward = self.decode(reaction)
            if not episode.explored:
                self._learned += 1
                self.model.reinforce(episode.choices, episode.decoded_reward)
            return
        self._reactions.append(reaction)
        if len(self._reactions) >= self.settings.exploration:
            rewards = [self.decode(one) for one in self._reactions] if self.settings.judge else None
            self.model.fit(self._reactions, self.progress, rewards)
            self._fitted, self._reactions = True, []

    def _repeats(self, episode: TextEpisode, state: str, candidates: tuple[str, ...]) -> bool:
        last = episode.choices[-1]
        exchanges = last.conversation.exchanges
        heard = exchanges[-1].answer if exchanges else last.conversation.context.request
        return last.candidates == candidates and (heard == state or not exchanges)

    def _check_last(self, episode: TextEpisode, candidates: tuple[str, ...]) -> None:
        if len(episode.choices) == self.settings.horizon - 1 and not self.settings.judge:
            try:
                self.settings.decoder.build(len(candidates))
            except ValueError as error:
                raise ValueError(
                    f"feedback on these {len(candidates)} candidates could not be decoded: {error}"
                ) from None


def choice_state(choice: Choice) -> dict[str, Any]:
    """Return a choice as plain values."""
    return {
        "context": choice.conversation.context.to_json(),
        "exchanges": [list(exchange) for exchange in choice.conversation.exchanges],
        "candidates": list(choice.candidates),
        "action": choice.action,
        "probability": choice.probability,
    }


def restore_choice(state: Mapping[str, Any]) -> Choice:
    """Return the choice that `choice_state` described."""
    exchanges = tuple(Exchange(*exchange) for exchange in state["exchanges"])
    conversation = Conversation(TextContext.read(state["context"]), exchanges)
    return Choice(conversation, tuple(state["candidates"]), state["action"], state["probability"])


def reaction_state(reaction: Reaction) -> dict[str, Any]:
    """Return a reaction as plain values."""
    return {"choice": choice_state(reaction.choice), "feedback": reaction.feedback}


def restore_reaction(state: Mapping[str, Any]) -> Reaction:
    """Return the reaction that `reaction_state` described."""
    return Reaction(restore_choice(state["choice"]), state["feedback"])


def episode_state(episode: TextEpisode) -> dict[str, Any]:
    """Return an open episode as plain values."""
    return {
        "id": episode.id,
        "context": episode.context.to_json(),
        "explored": episode.explored,
        "choices": [choice_state(choice) for choice in episode.choices],
    }

"""The text agent: begin, act, end on conversations (section 5.2, appendix C.3).

It explores uniformly, fits the posterior over candidates, then chooses by inverse-gap weighting and learns by
REINFORCE from decoded rewards. It knows nothing of what the conversations are about.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tacit.base.arrays import FloatArray
from tacit.base.checkpoint import load_tree, save_tree
from tacit.base.randomness import EpisodeDraws, draw_index
from tacit.learning.handles import (
    check_complete,
    check_open,
    check_ours,
    find_open,
    refuse_more_steps,
    refuse_other_feedback,
)
from tacit.text.conversation import Choice, Conversation, Exchange, TextContext, check_candidates, check_text
from tacit.text.model import TextModel
from tacit.text.models import make_model, restore_model
from tacit.text.stages import (
    TextExploration,
    TextSettings,
    TextStage,
    choice_state,
    restore_choice,
    restore_stage,
    uniform,
)

KIND = "text agent"

Restore = Callable[[Mapping[str, Any]], TextModel]
"""Rebuilds a model from its state."""


class TextEpisode:
    """The handle of one conversation: what was chosen, whether it is open, what its feedback was decoded to.

    `explored` says that it began while the agent explored: all its choices are uniform.
    """

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

    The candidates come with the state: `agent.act(episode, state, candidates)`. The state is what the person
    said last; at the first step, the request. Chance follows from (seed, episode id); `save` and `load` are
    bit-exact as long as encodings come from the same cache (`tacit.text.small.cache`).

    >>> agent = TextAgent(TextSettings(horizon=1), seed=1)
    >>> episode = agent.begin("I am looking for something to read")
    >>> agent.act(episode, "I am looking for something to read", ["A novel?", "A comic?", "A newspaper?"])
    'A novel?'
    >>> agent.end(episode, "Oh, why not.")
    >>> episode
    TextEpisode(id=0, steps=1, ended)
    """

    def __init__(
        self, settings: TextSettings | None = None, seed: int = 0, model: TextModel | None = None
    ) -> None:
        self.settings = settings = settings if settings is not None else TextSettings()
        self.model = model if model is not None else make_model(settings.model, settings.horizon, seed)
        self.stage: TextStage = TextExploration(settings, self.model)
        self._draws = EpisodeDraws(seed, settings.horizon)
        self._next_id = 0
        self._open: dict[int, TextEpisode] = {}

    @property
    def seed(self) -> int:
        """Return the seed that all chance in the agent's episodes follows from."""
        return self._draws.seed

    @property
    def explores(self) -> bool:
        """Return whether the present stage still explores."""
        return self.stage.explores

    @property
    def stage_name(self) -> str:
        """Return the name of the present stage."""
        return self.stage.name

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
        draws = self._draws.row(self._next_id)
        episode = TextEpisode(self, self._next_id, TextContext.read(context), self.stage.explores, draws)
        self._open[episode.id] = episode
        self._next_id += 1
        return episode

    def act(self, episode: TextEpisode, state: str, candidates: Sequence[str]) -> str:
        """Return the candidate to say next; asked again with the same state and candidates, the same one."""
        check_ours(self, TextEpisode, episode)
        heard, offered = check_text("state", state), check_candidates(candidates)
        if repeats(episode, heard, offered):
            return offered[episode.choices[-1].action]
        check_open(episode)
        if len(episode.choices) == self.settings.horizon:
            refuse_more_steps(episode, self.settings.horizon, state)
        if len(episode.choices) == self.settings.horizon - 1:
            self._check_decodable(offered)
        conversation = episode.conversation(heard)
        likely = uniform(offered) if episode.explored else self.stage.probabilities(conversation, offered)
        action = int(draw_index(likely, episode.draws[len(episode.choices)]))
        episode.choices.append(Choice(conversation, offered, action, float(likely[action])))
        return offered[action]

    def end(self, episode: TextEpisode, feedback: str) -> None:
        """Learn from the feedback of a finished episode; the last of exploration fits the model, which takes a while.

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
        episode.decoded_reward = self.stage.learn(episode.choices, said, episode.explored)
        episode.open, episode.feedback = False, said
        del self._open[episode.id]
        before, self.stage = self.stage, self.stage.next()
        for remark in self.model.remarks if self.stage is not before else ():
            warnings.warn(remark, stacklevel=2)

    def abandon(self, episode: TextEpisode) -> None:
        """Close an episode whose feedback will never come."""
        check_ours(self, TextEpisode, episode)
        if episode.open:
            episode.open = False
            del self._open[episode.id]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, open episodes included; `load` continues bit for bit."""
        tree = {
            "settings": self.settings.to_json(),
            "seed": self.seed,
            "next_id": self._next_id,
            "stage": self.stage.name,
            "stage_state": self.stage.to_state(),
            "open": [episode_state(episode) for episode in self._open.values()],
        }
        save_tree(path, KIND, tree)

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: Restore | None = None) -> TextAgent:
        """Return the agent that `save` wrote; `model` rebuilds its model where the settings do not name one."""
        tree = load_tree(path, KIND)
        settings, kept = TextSettings.from_json(tree["settings"]), tree["stage_state"]
        made = restore_model(settings.model, kept["model"]) if model is None else model(kept["model"])
        agent = cls(settings, tree["seed"], made)
        agent.stage = restore_stage(tree["stage"], settings, made, kept)
        agent._next_id = tree["next_id"]
        for state in tree["open"]:
            context, draws = TextContext.read(state["context"]), agent._draws.row(state["id"])
            episode = TextEpisode(agent, state["id"], context, state["explored"], draws)
            episode.choices = [restore_choice(choice) for choice in state["choices"]]
            agent._open[episode.id] = episode
        return agent

    def _check_decodable(self, candidates: tuple[str, ...]) -> None:
        try:
            self.settings.decoder.build(len(candidates))
        except ValueError as error:
            raise ValueError(f"feedback on {len(candidates)} candidates cannot be decoded: {error}") from None


def repeats(episode: TextEpisode, state: str, candidates: tuple[str, ...]) -> bool:
    """Return whether the last choice of the episode was made for the same words and candidates."""
    if not episode.choices:
        return False
    last = episode.choices[-1]
    exchanges = last.conversation.exchanges
    return last.candidates == candidates and (not exchanges or exchanges[-1].answer == state)


def episode_state(episode: TextEpisode) -> dict[str, Any]:
    """Return an open episode as plain values."""
    return {
        "id": episode.id,
        "context": episode.context.to_json(),
        "explored": episode.explored,
        "choices": [choice_state(choice) for choice in episode.choices],
    }

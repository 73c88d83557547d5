"""Conversations in a service: their model is fitted in a process of its own, and episodes go on meanwhile.

A stage of `tacit.text.stages` fits its model in the call that brings the reaction it waited for, which would hold up
every other agent for as long. Here the reactions go to a process beside; what it comes to is taken up by an event of
the journal, which says how many reactions it was fitted to, and decides from then on. A replay fits the same reactions
again, at the same place.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, TypeGuard

from tacit.agent import Agent
from tacit.base.beside import Beside
from tacit.learning.stage import Stage
from tacit.problem.seen import reads_text
from tacit.service.logbook import note
from tacit.text.conversation import Reaction
from tacit.text.conversations import Conversations
from tacit.text.models import restore_model
from tacit.text.settings import TextSettings
from tacit.text.stages import TextExploration, TextLearning, TextStage, fit_reactions

AGAIN = 1.2
"""How many times more reactions there must be before a fit that went wrong is made again."""

ModelState = dict[str, Any]


class TalkFits:
    """The fits of one agent in conversation, one at a time, in a process beside."""

    def __init__(self) -> None:
        self._beside: Beside[ModelState] = Beside()
        self._given = self._not_before = 0

    def tend(self, stage: TextStage) -> tuple[int, TextStage] | None:
        """Begin a fit if it is due; return one that is done: to how many reactions it was fitted, and who follows."""
        if self._beside.done:
            try:
                return self._given, follow(stage, self._beside.wait(), self._given)
            except Exception as error:  # it goes on as it was, and tries again with more
                note(logging.ERROR, "fit failed", error=type(error).__name__, reactions=self._given)
                self._beside.stop()
                self._not_before = int(AGAIN * self._given) + 1
        n = len(stage.reactions)
        if stage.is_due and n >= self._not_before and not self._beside.busy:
            self._given, self._not_before = n, 0
            told = stage.settings.to_json(), stage.model.to_state(), list(stage.reactions)
            self._beside.begin(fit_talk, *told)
        return None

    def stop(self) -> None:
        """End the process in which fits are made, if there is one; a fit that is under way is lost."""
        self._beside.stop()


def refit(stage: TextStage, n: int) -> TextStage:
    """Return who follows by a fit to the first n reactions here and now, as it was made beside the first time."""
    fitted = fit_talk(stage.settings.to_json(), stage.model.to_state(), stage.reactions[:n])
    return follow(stage, fitted, n)


def follow(stage: TextStage, fitted: ModelState, n: int) -> TextStage:
    """Return who follows by what a fit to the first n reactions came to."""
    return stage.take_up(restore_model(stage.settings.model, fitted), n)


def fit_talk(settings: dict[str, Any], model: ModelState, reactions: Sequence[Reaction]) -> ModelState:
    """Return a model fitted to these reactions, as it is saved."""
    chosen = TextSettings.from_json(settings)
    return fit_reactions(chosen, restore_model(chosen.model, model), reactions).to_state()


def reads_texts(agent: Agent) -> bool:
    """Return whether an agent turns texts into numbers."""
    return isinstance(agent.world, Conversations) or reads_text(agent.layout)


def is_talk(stage: Stage) -> TypeGuard[TextExploration | TextLearning]:
    """Return whether a stage is one of an agent in conversation."""
    return isinstance(stage, TextExploration | TextLearning)


def await_fits(agent: Agent) -> Agent:
    """Return the agent, which leaves its fits to somebody else from now on if it is in conversation."""
    if is_talk(agent.stage):
        agent.stage.awaits = True
    return agent

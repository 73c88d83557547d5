"""Conversations in a service: their model is fitted in a process of its own, and episodes go on exploring meanwhile.

`tacit.text.stages.TextExploration` fits its model in the call that brings the last reaction, which would hold up every
other agent for as long. Here the reactions go to a process beside; what it comes to is taken up by an event of the
journal, which says how many reactions it was fitted to, and decides from then on. A replay fits the same reactions
again, at the same place.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from typing import Any

from tacit.agent import Agent
from tacit.base.beside import Beside
from tacit.problem.seen import reads_text
from tacit.service.logbook import note
from tacit.text.conversation import Reaction
from tacit.text.conversations import Conversations
from tacit.text.models import restore_model
from tacit.text.settings import TextSettings
from tacit.text.stages import TextExploration, TextLearning, TextStage

GIVE_WAY = 10
"""By how much a fit is nicer than the service: decisions come first."""
AGAIN = 1.2
"""How many times more reactions there must be before a fit that went wrong is made again."""

ModelState = dict[str, Any]


class ExplorationBeside(TextExploration):
    """Exploration that goes on until somebody puts what a fit beside came to in its place."""

    def __init__(self, stage: TextExploration) -> None:
        super().__init__(stage.settings, stage.model)
        self.reactions = stage.reactions
        self._beside: Beside[ModelState] = Beside()
        self._given, self._due = 0, stage.settings.exploration

    def next(self) -> TextStage:
        """Return itself: who follows is not known before a fit is done."""
        return self

    def tend(self) -> tuple[int, TextLearning] | None:
        """Begin a fit if it is due; return one that is done: to how many reactions it was fitted, and who follows."""
        if self._beside.done:
            try:
                return self._given, self._follow(self._beside.wait())
            except Exception as error:  # exploration goes on, and tries again with more
                note(logging.ERROR, "fit failed", error=type(error).__name__, reactions=self._given)
                self._beside.stop()
                self._due = int(AGAIN * self._given) + 1
        if len(self.reactions) >= self._due and not self._beside.busy:
            self._given = len(self.reactions)
            self._beside.begin(
                fit_talk, self.settings.to_json(), self.model.to_state(), list(self.reactions), GIVE_WAY
            )
        return None

    def refit(self, n: int) -> TextLearning:
        """Return who follows by a fit to the first n reactions here and now, as it was made beside the first time."""
        return self._follow(fit_talk(self.settings.to_json(), self.model.to_state(), self.reactions[:n]))

    def _follow(self, fitted: ModelState) -> TextLearning:
        model = restore_model(self.settings.model, fitted)
        return TextLearning(self.settings, model, remarks=model.remarks)

    def stop(self) -> None:
        """End the process in which fits are made, if there is one; a fit that is under way is lost."""
        self._beside.stop()


def fit_talk(
    settings: dict[str, Any], model: ModelState, reactions: list[Reaction], niceness: int = 0
) -> ModelState:
    """Return the model that exploration leaves behind after these reactions."""
    with suppress(AttributeError, OSError):  # there is no niceness on Windows
        os.nice(niceness)
    chosen = TextSettings.from_json(settings)
    stage = TextExploration(chosen, restore_model(chosen.model, model), reactions)
    return stage.next().model.to_state()


def reads_texts(agent: Agent) -> bool:
    """Return whether an agent turns texts into numbers."""
    return isinstance(agent.world, Conversations) or reads_text(agent.layout)


def explore_beside(agent: Agent) -> Agent:
    """Return the agent, which fits beside from now on if it is in conversation and explores."""
    if type(agent.stage) is TextExploration:
        agent.stage = ExplorationBeside(agent.stage)
    return agent

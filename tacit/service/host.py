"""One live agent: requests become calls of the agent and events of the journal, and events become calls again.

A request that was done before, by its ids, gets the answer that it got; nothing is done twice. What a request says is
checked before the agent is called, and what the agent refuses changes nothing. The journal keeps what was said and what
was answered; whoever replays it must come to the same answers.
"""

from __future__ import annotations

import hashlib
import logging
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from tacit.agent import Agent
from tacit.base.checkpoint import CheckpointError
from tacit.learning.episode import Episode
from tacit.learning.layered import Layered
from tacit.service.accounts import (
    ABANDON,
    ACT,
    ANCHOR,
    BEGIN,
    END,
    EXPIRE,
    FIT,
    LOAD,
    RETIRE,
    Account,
    Ended,
)
from tacit.service.baseline import choose_fixed
from tacit.service.bodies import (
    Abandoned,
    Accepted,
    Anchored,
    Anchors,
    Ask,
    Began,
    Begin,
    ChosenBody,
    Decide,
    Decided,
    Feedback,
    LabelBody,
    LabelsBody,
    Retire,
    StepTaken,
)
from tacit.service.descriptions import has_grown
from tacit.service.errors import RefusedError, conflict, invalid
from tacit.service.journal import JournalEvent
from tacit.service.labelling import label_episode, probe
from tacit.service.logbook import note
from tacit.service.named_models import check_named_models
from tacit.service.rebuilding import (
    ENCODER,
    Rebuilt,
    decoded_reward,
    load_agent,
    read_anchors,
)
from tacit.service.talks import is_talk
from tacit.text.stages import TextStage


class Answer(NamedTuple):
    """What a request is answered, and the events that must be on disk before; none if they were there already."""

    status: int
    body: Any
    events: tuple[JournalEvent, ...] = ()


class Host(Rebuilt):
    """A live agent: requests become calls of it, and events. Nothing here waits, and one thread calls it."""

    def begin(self, body: Begin, at: float) -> Answer:
        """Begin an episode, or answer as when it was begun."""
        known = None if body.id is None else self.find(body.id)
        if known is not None:
            _check_repeated("context", known.context, body.context)
            _check_repeated("user", known.user, body.user)
            return Answer(200, Began(known.id, known.stage, known.held))
        held = self._is_held(body)
        episode = _ask_agent("context", self.agent.begin, body.context, held)
        name = str(episode.id) if body.id is None else body.id
        stage = episode.plan.stage
        told = {"number": episode.id, "stage": stage, "context": body.context, "user": body.user}
        if held:
            told["held"] = True
        event = self._event(name, BEGIN, told, at)
        self.open(Account(name, episode.id, body.context, body.user, at, stage, held, last=at))
        return Answer(201, Began(name, stage, held), (event,))

    def decide(self, body: Decide, at: float) -> Answer:
        """Begin an episode and choose its first action in one."""
        if body.id is None or self.find(body.id) is None:
            self._check_first(body)
        began = self.begin(Begin(body.context, body.id, body.user), at)
        acted = self.act(began.body.episode, Ask(1, body.state, body.actions), at)
        chosen: ChosenBody = acted.body
        both = Decided(began.body.episode, began.body.stage, chosen.action, chosen.probability, chosen.step)
        return Answer(began.status, both, (*began.events, *acted.events))

    def act(self, name: str, body: Ask, at: float) -> Answer:
        """Choose an action for a state, or answer as when it was asked for."""
        account = self.known(name)
        if body.step <= len(account.steps):
            step = account.steps[body.step - 1]
            _check_repeated("state", step.state, body.state)
            _check_repeated("actions", step.actions, body.actions)
            if step.taken or body.taken is not UNSET:
                _check_repeated("taken", step.action if step.taken else None, body.taken)
                _check_repeated("probability", step.probability, body.probability)
            return Answer(200, ChosenBody(step.action, step.probability, step.step))
        episode = self._open(account)
        if body.step != len(account.steps) + 1:
            raise RefusedError(
                *(409, "out-of-order"),
                f"steps are taken in order, the next of episode {name!r} is {len(account.steps) + 1}, got {body.step}",
                "step",
            )
        taken = self._step(account, episode, body)
        event = self._event(name, ACT, taken, at)
        account.steps.append(taken)
        account.last = at
        return Answer(200, ChosenBody(taken.action, taken.probability, body.step), (event,))

    def _step(self, account: Account, episode: Episode, body: Ask) -> StepTaken:
        """Return the next step of an episode: by the agent, by the caller, or by the baseline of those held out."""
        told = (body.step, body.state)
        if body.taken is not UNSET:
            _ask_agent(
                "taken", self.agent.took, episode, body.state, body.taken, body.probability, body.actions
            )
            return StepTaken(*told, body.taken, body.probability, body.actions, taken=True)
        fixed = None
        if account.held:
            fixed = _ask_agent("state", choose_fixed, self.description.baseline, self.agent, episode, body)
        if fixed is None:
            action = _ask_agent("state", self.agent.act, episode, body.state, body.actions, body.step)
            return StepTaken(*told, action, episode.probability, body.actions)
        _ask_agent("state", self.agent.took, episode, body.state, fixed, 1.0, body.actions)
        return StepTaken(*told, fixed, 1.0, body.actions, baseline=True)

    def hear(self, name: str, body: Feedback, at: float) -> Answer:
        """Take the feedback of an episode, or answer as when it was taken."""
        account = self.known(name)
        if account.ended == "feedback":
            _check_repeated("feedback", account.feedback, body.feedback)
            if body.outcome is not None:
                _check_repeated("outcome", account.outcome, body.outcome)
            return Answer(200, Accepted(True, account.decoded))
        episode = self._open(account)
        _ask_agent("feedback", self.agent.end, episode, body.feedback, body.outcome)
        decoded = decoded_reward(episode)
        event = self._close(account, END, Ended(body.feedback, body.outcome, decoded), at)
        return Answer(200, Accepted(True, decoded), (event, *self.new_fits(at)))

    def abandon(self, name: str, at: float) -> Answer:
        """Close an episode that broke off."""
        account = self.known(name)
        if account.ended == "abandoned":
            return Answer(200, Abandoned(True))
        self.agent.abandon(self._open(account))
        event = self._close(account, ABANDON, Ended(), at)
        return Answer(200, Abandoned(True), (event, *self.new_fits(at)))

    def tend(self, at: float) -> Answer:
        """Close episodes that feedback is late for, and take up a fit that is done; nobody asked, so nobody hears."""
        return Answer(200, None, (*self.expire(at), *self.new_fits(at)))

    def late(self, at: float) -> list[Account]:
        """Return the open episodes of which nothing was heard for as long as feedback may be late."""
        return [each for each in self.accounts.values() if each.last + self.description.window < at]

    def expire(self, at: float) -> list[JournalEvent]:
        """Return the events that close episodes of which nothing was heard for as long as feedback may be late.

        Whoever came to an end of the episode said nothing: that is silence. Others broke off.
        """
        events = []
        for account in self.late(at):
            episode = self.agent.episode(account.number)
            silent = True
            try:
                self.agent.end(episode, None)
            except ValueError:
                silent = False
                self.agent.abandon(episode)
            ended = Ended(decoded=decoded_reward(episode), silent=silent)
            events += [self._close(account, EXPIRE, ended, at), *self.new_fits(at)]
        return events

    def retire(self, body: Retire, at: float) -> Answer:
        """Offer an action no more."""
        state = None if body.state is msgspec.UNSET else body.state
        _ask_agent("action", self.agent.retire, body.action, state)
        told = {"action": body.action, "state": state}
        return Answer(200, told, (self._event(None, RETIRE, told, at),))

    def anchor(self, body: Anchors, at: float) -> Answer:
        """Take in known outcomes, which diagnoses are checked by, or answer as when they were taken in."""
        known = None if body.id is None else self.anchored.get(body.id)
        if known is not None:
            _check_repeated("anchors", known.anchors, body.anchors)
            return Answer(200, Anchored(known.total))
        _ask_agent("anchors", self.agent.diagnose, read_anchors(body))
        self.take_anchors(body)
        return Answer(200, Anchored(len(self.anchors)), (self._event(None, ANCHOR, body, at),))

    def load(self, content: bytes, at: float) -> Answer:
        """Go on from the file of an agent; before the first episode, so that nothing is lost."""
        if self.agent.next_episode:
            raise RefusedError(
                409, "begun", "an agent is loaded before its first episode, this one has begun; make another"
            )
        try:
            agent = load_agent(content, lambda tree: check_named_models(self.description, tree))
        except CheckpointError as error:
            raise invalid(f"the file cannot be loaded: {error}") from None
        if not _is_of(self.agent, agent):
            raise RefusedError(
                409, "conflict", "the file is of another layout; make the agent with that one", "layout"
            )
        for episode in agent.open_episodes:
            agent.abandon(episode)
        self.take_over(agent)
        event = JournalEvent(self.row.number, None, LOAD, agent.still().pack(), at)
        return Answer(200, {"loaded": agent.next_episode}, (event,))

    def label(self, body: LabelBody) -> LabelsBody:
        """Return what the feedback of logged episodes is taken to mean now."""
        return LabelsBody([_ask_agent("episodes", label_episode, self.agent, each) for each in body.episodes])

    def _is_held(self, body: Begin) -> bool:
        """Return whether an episode stays uniform: always so for a user, or for an id."""
        share = self.description.holdout
        if share == 0:
            return False
        name = (
            body.user
            if body.user is not None
            else body.id
            if body.id is not None
            else self.agent.next_episode
        )
        drawn = hashlib.sha256(f"{self.description.seed}:{name}".encode()).digest()
        return int.from_bytes(drawn[:8]) < share * 2**64

    def new_fits(self, at: float) -> list[JournalEvent]:
        """Return events for fits that were taken up since the last: when that was, no replay could know."""
        stage = self.agent.stage
        if is_talk(stage):
            done = self.talk_fits.tend(stage)
            return [] if done is None else [self._take_up(*done, at)]
        fits = getattr(stage, "fits", ())[self.fits :]
        self.fits += len(fits)
        return [self._event(None, FIT, list(fit), at) for fit in fits]

    def _take_up(self, fitted_to: int, following: TextStage, at: float) -> JournalEvent:
        """Return the event of a fit of conversations, which is what decides from now on."""
        self.agent.stage = following
        self.fits += 1
        for remark in following.remarks:
            note(logging.WARNING, "warning", agent=self.row.name, text=remark)
        return self._event(None, FIT, [fitted_to, self.ended], at)

    def _check_first(self, body: Decide) -> None:
        """Raise RefusedError if a state cannot be shown first: an episode begun for it would stay open for nothing."""
        world = _ask_agent("context", self.agent.world.meet_context, body.context)
        first = _ask_agent("context", probe, self.agent, world, body.context)
        if body.actions is not None:
            world = _ask_agent("state", world.meet_state, first, body.state, body.actions, 1)
        _ask_agent("state", world.read_state, first, body.state, body.actions, 1)

    def _open(self, account: Account) -> Episode:
        if account.ended is None:
            return self.agent.episode(account.number)
        raise RefusedError(
            409, "ended", f"episode {account.id!r} has ended ({account.ended}); begin another", "episode"
        )

    def _close(self, account: Account, kind: str, said: Ended, at: float) -> JournalEvent:
        event = self._event(account.id, kind, said, at)
        account.end(event, said)
        self.close(account)
        return event

    def _event(self, episode: str | None, kind: str, body: Any, at: float) -> JournalEvent:
        return JournalEvent(self.row.number, episode, kind, ENCODER.encode(body), at, 0, body)


def _is_of(known: Agent, loaded: Agent) -> bool:
    """Return whether a file is of an agent that is described alike, whatever it has met since."""
    if isinstance(known.world, Layered) and isinstance(loaded.world, Layered):
        return has_grown(known.layout, loaded.layout)
    return known.world.name == loaded.world.name


def _ask_agent(field: str, call: Any, *told: Any) -> Any:
    """Return what the agent answers; what it refuses is the caller's to mend."""
    try:
        return call(*told)
    except (ValueError, TypeError) as error:
        raise invalid(str(error), field) from None


def _check_repeated(field: str, known: Any, given: Any) -> None:
    if known != given:
        raise conflict(
            field, known, given, "a repeated request says the same; use another id for another episode"
        )

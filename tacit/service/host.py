"""One live agent: requests become calls of the agent and events of the journal, and events become calls again.

A request that was done before, by its ids, gets the answer that it got; nothing is done twice. What a request says is
checked before the agent is called, and what the agent refuses changes nothing. The journal keeps what was said and what
was answered; whoever replays it must come to the same answers.
"""

from __future__ import annotations

import os
import tempfile
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from tacit.agent import Agent
from tacit.learning.episode import Episode
from tacit.service.accounts import ABANDON, ACT, BEGIN, END, EXPIRE, RETIRE, Account, begin_account, fold
from tacit.service.bodies import (
    Abandoned,
    Accepted,
    Ask,
    Began,
    Begin,
    Chosen,
    Decide,
    Decided,
    Decoded,
    Feedback,
    Retire,
    StepTaken,
)
from tacit.service.descriptions import Description, make_agent
from tacit.service.errors import Refusal, conflict, invalid, not_found
from tacit.service.journal import AgentRow, Event, Snapshot, Store, StoreError

REMEMBERED = 10_000
"""Episodes that have ended and are still in memory; of earlier ones the journal is asked."""
ENCODER = msgspec.json.Encoder()


class ReplayError(StoreError):
    """A journal that does not come to the answers that it holds."""


class Answer(NamedTuple):
    """What a request is answered, and the events that must be on disk before; none if they were there already."""

    status: int
    body: Any
    events: tuple[Event, ...] = ()


class Host:
    """An agent by name, its open episodes and their accounts. Nothing here waits, and one thread calls it."""

    def __init__(self, row: AgentRow, store: Store) -> None:
        self.row, self._store = row, store
        self.description = msgspec.json.decode(row.description, type=Description)
        self.agent: Agent = make_agent(self.description)
        self.accounts: dict[str, Account] = {}
        """Those of open episodes, by id, oldest first."""
        self._closed: OrderedDict[str, Account] = OrderedDict()
        self.position = 0
        """Of the last event that was replayed or is on disk."""
        self.ended = 0

    def begin(self, body: Begin, at: float) -> Answer:
        """Begin an episode, or answer as when it was begun."""
        known = None if body.id is None else self.find(body.id)
        if known is not None:
            _check_repeated("context", known.context, body.context)
            _check_repeated("user", known.user, body.user)
            return Answer(200, Began(known.id, known.stage))
        episode = _ask_agent("context", self.agent.begin, body.context)
        name = str(episode.id) if body.id is None else body.id
        told = {"number": episode.id, "stage": episode.plan.stage, "context": body.context, "user": body.user}
        event = self._event(name, BEGIN, told, at)
        self.accounts[name] = begin_account(event)
        return Answer(201, Began(name, episode.plan.stage), (event,))

    def decide(self, body: Decide, at: float) -> Answer:
        """Begin an episode and choose its first action in one."""
        if body.id is None or self.find(body.id) is None:
            self._check_first(body)
        began = self.begin(Begin(body.context, body.id, body.user), at)
        acted = self.act(began.body.episode, Ask(1, body.state, body.actions), at)
        chosen: Chosen = acted.body
        both = Decided(began.body.episode, began.body.stage, chosen.action, chosen.probability, chosen.step)
        return Answer(began.status, both, (*began.events, *acted.events))

    def act(self, name: str, body: Ask, at: float) -> Answer:
        """Choose an action for a state, or answer as when it was asked for."""
        account = self.known(name)
        if body.step <= len(account.steps):
            step = account.steps[body.step - 1]
            _check_repeated("state", step.state, body.state)
            _check_repeated("actions", step.actions, body.actions)
            return Answer(200, Chosen(step.action, step.probability, step.step))
        episode = self._open(account)
        if body.step != len(account.steps) + 1:
            raise Refusal(
                *(409, "out-of-order"),
                f"steps are taken in order, the next of episode {name!r} is {len(account.steps) + 1}, got {body.step}",
                "step",
            )
        action = _ask_agent("state", self.agent.act, episode, body.state, body.actions, body.step)
        taken = StepTaken(body.step, body.state, action, episode.probability, body.actions)
        event = self._event(name, ACT, taken, at)
        account.steps.append(taken)
        account.last = at
        return Answer(200, Chosen(action, taken.probability, body.step), (event,))

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
        decoded = _decoded(episode)
        told = {"feedback": body.feedback, "outcome": body.outcome, "decoded": decoded}
        event = self._event(name, END, told, at)
        self._close(account, event)
        return Answer(200, Accepted(True, decoded), (event,))

    def abandon(self, name: str, at: float) -> Answer:
        """Close an episode that broke off."""
        account = self.known(name)
        if account.ended == "abandoned":
            return Answer(200, Abandoned(True))
        self.agent.abandon(self._open(account))
        event = self._event(name, ABANDON, {}, at)
        self._close(account, event)
        return Answer(200, Abandoned(True), (event,))

    def expire(self, at: float) -> list[Event]:
        """Return the events that close episodes of which nothing was heard for as long as feedback may be late.

        Whoever came to an end of the episode said nothing: that is silence. Others broke off.
        """
        late = [account for account in self.accounts.values() if account.last + self.description.window < at]
        events = []
        for account in late:
            episode = self.agent.episode(account.number)
            silent = True
            try:
                self.agent.end(episode, None)
            except ValueError:
                silent = False
                self.agent.abandon(episode)
            events.append(
                self._event(account.id, EXPIRE, {"silent": silent, "decoded": _decoded(episode)}, at)
            )
            self._close(account, events[-1])
        return events

    def retire(self, body: Retire, at: float) -> Answer:
        """Offer an action no more."""
        state = None if body.state is msgspec.UNSET else body.state
        _ask_agent("action", self.agent.retire, body.action, state)
        told = {"action": body.action, "state": state}
        return Answer(200, told, (self._event(None, RETIRE, told, at),))

    def find(self, name: str) -> Account | None:
        """Return the account of an episode, open or not, None if there is none."""
        account = self.accounts.get(name) or self._closed.get(name)
        return account if account is not None else fold(self._store.read_episode(self.row.number, name))

    def recent(self, most: int) -> list[Account]:
        """Return the episodes that ended last, the latest first."""
        return [account for account, _ in zip(reversed(self._closed.values()), range(most), strict=False)]

    def snapshot(self) -> bytes:
        """Return the agent as it is, with what is open; `restore` reads it."""
        header = {
            "ended": self.ended,
            "open": {name: msgspec.to_builtins(account) for name, account in self.accounts.items()},
        }
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "agent"
            self.agent.save(path)
            return ENCODER.encode(header) + b"\n" + path.read_bytes()

    def restore(self, snapshots: Iterable[Snapshot], events: Iterable[Event] | None = None) -> None:
        """Become what the latest snapshot and the events since then make of the agent."""
        for snapshot in snapshots:
            self._load(snapshot)
            break
        for event in self._store.read(self.row.number, self.position) if events is None else events:
            self.replay(event)

    def replay(self, event: Event) -> None:
        """Do again what an event says, and check that it comes to what it says."""
        body, name = msgspec.json.decode(event.body), event.episode
        if event.kind == RETIRE:
            self.agent.retire(body["action"], body["state"])
        elif event.kind == BEGIN:
            assert name is not None
            episode = self.agent.begin(body["context"])
            _check_replayed(event, (body["number"], body["stage"]), (episode.id, episode.plan.stage))
            self.accounts[name] = begin_account(event)
        else:
            assert name is not None
            self._replay_episode(event, body, self.accounts[name])
        self.position = event.position

    def _replay_episode(self, event: Event, body: dict[str, Any], account: Account) -> None:
        episode = self.agent.episode(account.number)
        if event.kind == ACT:
            action = self.agent.act(episode, body["state"], body.get("actions"), body["step"])
            _check_replayed(event, (body["action"], body["probability"]), (action, episode.probability))
            account.take(event)
            return
        if event.kind == END:
            self.agent.end(episode, body["feedback"], body["outcome"])
        elif event.kind == EXPIRE and body["silent"]:
            self.agent.end(episode, None)
        elif event.kind in (ABANDON, EXPIRE):
            self.agent.abandon(episode)
        else:
            raise ReplayError(
                f"event {event.position} is of the kind {event.kind!r}, which is not known here"
            )
        if event.kind != ABANDON:
            _check_replayed(event, body["decoded"], msgspec.to_builtins(_decoded(episode)))
        self._close(account, event)

    def _load(self, snapshot: Snapshot) -> None:
        header, _, content = snapshot.data.partition(b"\n")
        kept = msgspec.json.decode(header)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "agent"
            path.write_bytes(content)
            self.agent = Agent.load(os.fspath(path))
        self.accounts = {name: msgspec.convert(told, Account) for name, told in kept["open"].items()}
        self.ended, self.position = kept["ended"], snapshot.position

    def known(self, name: str) -> Account:
        """Return the account of an episode, open or not, or raise Refusal."""
        account = self.find(name)
        if account is None:
            raise not_found("episode", name, f"begin one with POST /v1/agents/{self.row.name}/episodes")
        return account

    def _check_first(self, body: Decide) -> None:
        """Raise Refusal if a state cannot be shown first: an episode begun for it would stay open for nothing."""
        world = _ask_agent("context", self.agent.world.meet_context, body.context)
        encoded = _ask_agent("context", world.read_context, body.context)
        probe = Episode(None, -1, body.context, encoded, self.agent.stage.plan(encoded, 0.5), np.zeros(0))
        if body.actions is not None:
            world = _ask_agent("state", world.meet_state, probe, body.state, body.actions, 1)
        _ask_agent("state", world.read_state, probe, body.state, body.actions, 1)

    def _open(self, account: Account) -> Episode:
        if account.ended is None:
            return self.agent.episode(account.number)
        raise Refusal(
            409, "ended", f"episode {account.id!r} has ended ({account.ended}); begin another", "episode"
        )

    def _close(self, account: Account, event: Event) -> None:
        account.take(event)
        self.accounts.pop(account.id, None)
        self._closed[account.id] = account
        self.ended += 1
        if len(self._closed) > REMEMBERED:
            self._closed.popitem(last=False)

    def _event(self, episode: str | None, kind: str, body: Any, at: float) -> Event:
        return Event(self.row.number, episode, kind, ENCODER.encode(body), at)


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


def _check_replayed(event: Event, known: Any, found: Any) -> None:
    if known != found:
        raise ReplayError(
            f"event {event.position} ({event.kind} of episode {event.episode!r}) was answered {known!r}, its replay "
            f"comes to {found!r}; run the version of Tacit that wrote it once more, so that it leaves a snapshot"
        )


def _decoded(episode: Episode) -> Decoded | None:
    reward = episode.decoded_reward
    if reward is None:
        return None
    low, high = episode.decoded_interval or (reward, reward)
    return Decoded(reward, max(reward, 1 - reward), low, high)

"""The account of an episode: what was said and what was answered, folded from its events."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from tacit.service.bodies import DecodedBody, EpisodeStatus, StepTaken
from tacit.service.journal import JournalEvent

BEGIN, ACT, END, ABANDON, EXPIRE = "begin", "act", "end", "abandon", "expire"
RETIRE, ANCHOR, LOAD, FIT = "retire", "anchor", "load", "fit"
ENDINGS = {END: "feedback", ABANDON: "abandoned", EXPIRE: "unanswered"}
"""How an episode ended, by the kind of its last event."""


class Ended(Struct, omit_defaults=True):
    """What the event of an episode's end says; `silent` if nobody answered who could have."""

    feedback: Any = None
    outcome: int | None = None
    decoded: DecodedBody | None = None
    silent: bool = False


STEP, ENDED = msgspec.json.Decoder(StepTaken), msgspec.json.Decoder(Ended)


class Account(Struct):
    """What is known of an episode, open or not."""

    id: str
    number: int
    context: Any
    user: str | int | None
    begun: float
    stage: str
    held: bool = False
    steps: list[StepTaken] = []
    ended: str | None = None
    feedback: Any = None
    outcome: int | None = None
    decoded: DecodedBody | None = None
    last: float = 0.0
    """When something was last heard of it."""

    def take(self, event: JournalEvent) -> None:
        """Take in one more event of the episode."""
        if event.kind == ACT:
            self.steps.append(STEP.decode(event.body))
            self.last = event.at
        elif event.kind in ENDINGS:
            self.end(event, ENDED.decode(event.body))

    def end(self, event: JournalEvent, said: Ended) -> None:
        """Take in the event that ends the episode, and what it says."""
        self.ended, self.last = ENDINGS[event.kind], event.at
        self.feedback, self.outcome, self.decoded = said.feedback, said.outcome, said.decoded

    def status(self) -> EpisodeStatus:
        """Return it as an answer."""
        told = (
            self.id,
            self.context,
            self.user,
            self.begun,
            self.stage,
            self.held,
            list(self.steps),
            self.ended,
        )
        return EpisodeStatus(*told, self.feedback, self.outcome, self.decoded)

    def record(self) -> dict[str, Any]:
        """Return it as a line of the log format."""
        steps = [
            {"state": step.state, "action": step.action}
            | ({"probability": step.probability} if step.probability is not None else {})
            | ({"actions": step.actions} if step.actions is not None else {})
            for step in self.steps
        ]
        told: dict[str, Any] = {"episode": self.id, "time": self.begun}
        told |= {} if self.user is None else {"user": self.user}
        told |= {"context": self.context, "steps": steps, "feedback": self.feedback}
        told |= {"abandoned": True} if self.ended == ENDINGS[ABANDON] else {}
        return told if self.outcome is None else told | {"reward": self.outcome}


def begin_account(event: JournalEvent) -> Account:
    """Return the account that the first event of an episode opens."""
    body = msgspec.json.decode(event.body)
    assert event.episode is not None
    told = (event.episode, body["number"], body["context"], body.get("user"), event.at, body["stage"])
    return Account(*told, held=body.get("held", False), last=event.at)


def fold(events: list[JournalEvent]) -> Account | None:
    """Return the account of an episode's events, None if there are none."""
    if not events:
        return None
    account = begin_account(events[0])
    for event in events[1:]:
        account.take(event)
    return account


def exported_line(accounts: dict[str, Account], event: JournalEvent) -> bytes:
    """Return the line of an episode that an event ends, nothing of others; accounts are those of open episodes."""
    if event.episode is None:
        return b""
    if event.kind == BEGIN:
        accounts[event.episode] = begin_account(event)
        return b""
    account = accounts[event.episode]
    account.take(event)
    if account.ended is None:
        return b""
    del accounts[event.episode]
    return msgspec.json.encode(account.record()) + b"\n" if account.steps else b""

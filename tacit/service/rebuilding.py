"""An agent as its journal makes it: from a snapshot, and from events that are done again and must come to the same."""

from __future__ import annotations

import os
import tempfile
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tacit.agent import KIND, Agent
from tacit.base.checkpoint import load_tree
from tacit.learning.episode import Episode
from tacit.learning.generalising import Fits, GeneralisingLearning
from tacit.service.accounts import (
    ABANDON,
    ACT,
    ANCHOR,
    BEGIN,
    END,
    ENDED,
    EXPIRE,
    FIT,
    LOAD,
    RETIRE,
    Account,
    Ended,
    begin_account,
    fold,
)
from tacit.service.bodies import AnchorBody, Anchors, DecodedBody, StepTaken
from tacit.service.descriptions import Description, make_agent
from tacit.service.errors import not_found
from tacit.service.journal import AgentRow, JournalEvent, JournalStore, Snapshot, StoreError
from tacit.service.labelling import decoded_of
from tacit.service.met_ids import MetIds
from tacit.service.talks import TalkFits, await_fits, is_talk, reads_texts, refit
from tacit.trust.anchors import Anchor

REMEMBERED = 10_000
"""Episodes that have ended and are still in memory; of earlier ones the journal is asked."""
LATELY = 2_000
"""Episodes, of each kind, that what was earned lately is averaged over."""
ENCODER = msgspec.json.Encoder()


class ReplayError(StoreError):
    """A journal that does not come to the answers that it holds."""


class Given(NamedTuple):
    """Known outcomes that were given at once, and how many there were then."""

    anchors: list[AnchorBody]
    total: int


class Rebuilt:
    """An agent by name, its open episodes and their accounts. Nothing here waits, and one thread calls it."""

    def __init__(self, row: AgentRow, store: JournalStore) -> None:
        self.row, self._store = row, store
        self.description = msgspec.json.decode(row.description, type=Description)
        self.agent: Agent = await_fits(make_agent(self.description))
        self.reads_texts = reads_texts(self.agent)
        self.talk_fits = TalkFits()
        """Where its model is fitted, if it is in conversation."""
        self.accounts: dict[str, Account] = {}
        """Those of open episodes, by id, oldest first."""
        self.closed: OrderedDict[str, Account] = OrderedDict()
        """Those of episodes that have ended, the latest last."""
        self.earned: dict[bool, deque[float]] = {held: deque(maxlen=LATELY) for held in (False, True)}
        """What the latest episodes are decoded to have earned; True: of those that are held out."""
        self.anchors: list[Anchor] = []
        self.anchored: dict[str, Given] = {}
        """Of those that had an id: what was given, and how many there were then."""
        self.met = MetIds()
        """The ids of all its episodes."""
        self.position = 0
        """Of the last event that was replayed or is on disk."""
        self.ended = 0
        self.fits = 0
        """How many fits of the stage are in the journal."""
        self._to_come: Fits | None = None

    def find(self, name: str) -> Account | None:
        """Return the account of an episode, open or not, None if there is none."""
        account = self.accounts.get(name) or self.closed.get(name)
        if account is not None or name not in self.met:
            return account
        return fold(self._store.read_episode(self.row.number, name))

    def open(self, account: Account) -> None:
        """Write down that an episode has begun."""
        self.accounts[account.id] = account
        self.met.add(account.id)

    def known(self, name: str) -> Account:
        """Return the account of an episode, open or not, or raise RefusedError."""
        account = self.find(name)
        if account is None:
            raise not_found("episode", name, f"begin one with POST /v1/agents/{self.row.name}/episodes")
        return account

    def recent(self, most: int) -> list[Account]:
        """Return the episodes that ended last, the latest first."""
        return list(islice(reversed(self.closed.values()), most))

    def snapshot(self) -> Callable[[], bytes]:
        """Return what writes out the agent as it is now, with what is open, in any thread; `restore` reads that."""
        header = {
            "ended": self.ended,
            "fits": self.fits,
            "open": self.accounts,
            "earned": [list(self.earned[False]), list(self.earned[True])],
            "anchors": self.anchors,
            "anchored": self.anchored,
            "met": self.met.to_json(),
        }
        told, still = ENCODER.encode(header), self.agent.still()
        return lambda: told + b"\n" + still.pack()

    def restore(self, snapshots: Iterable[Snapshot]) -> None:
        """Become what the latest snapshot and the events since then make of the agent."""
        for snapshot in islice(snapshots, 1):
            self._load(snapshot)
        events = self._store.read(self.row.number, self.position)
        if isinstance(self.agent.stage, GeneralisingLearning):
            kept = list(events)  # what was fitted when must be known before it is due
            self._replay_fits(tuple(_fit(event) for event in kept if event.kind == FIT))
            events = iter(kept)
        for event in events:
            self.replay(event)
        self._replay_fits(None)

    def replay(self, event: JournalEvent) -> None:
        """Do again what an event says, and check that it comes to what it says."""
        name = event.episode
        if event.kind == LOAD:
            self.take_over(load_agent(event.body))
        elif name is not None:
            self._replay_episode(event, name)
        else:
            self._replay_agent(event, msgspec.json.decode(event.body))
        self.position = event.position

    def take_over(self, agent: Agent) -> None:
        """Go on with another agent in place of one that has not begun."""
        self.agent, self.fits = await_fits(agent), len(getattr(agent.stage, "fits", ()))
        self._replay_fits(self._to_come)

    def take_anchors(self, told: Anchors) -> None:
        """Keep known outcomes; those with an id are known by it, if they are given again."""
        self.anchors += read_anchors(told)
        if told.id is not None:
            self.anchored[told.id] = Given(told.anchors, len(self.anchors))

    def close(self, account: Account) -> None:
        """Write down that an episode has ended."""
        self.accounts.pop(account.id, None)
        self.closed[account.id] = account
        self.ended += 1
        if account.decoded is not None:
            self.earned[account.held].append(account.decoded.reward)
        if len(self.closed) > REMEMBERED:
            self.closed.popitem(last=False)

    def _replay_fits(self, fits: Fits | None) -> None:
        """Let the stage adopt the fits that the journal has, and no others; None: go on by itself."""
        self._to_come = fits
        if isinstance(self.agent.stage, GeneralisingLearning):
            self.agent.stage.replay(fits)

    def _replay_agent(self, event: JournalEvent, body: Any) -> None:
        if event.kind == RETIRE:
            self.agent.retire(body["action"], body["state"])
        elif event.kind == ANCHOR:
            told = {"anchors": body} if isinstance(body, list) else body
            self.take_anchors(msgspec.convert(told, Anchors))
        elif event.kind == FIT:
            self.fits += 1
            if is_talk(self.agent.stage):
                self.agent.stage = refit(self.agent.stage, body[0])
        else:
            raise unknown_kind(event)

    def _replay_episode(self, event: JournalEvent, name: str) -> None:
        if event.kind == BEGIN:
            account = begin_account(event)
            episode = self.agent.begin(account.context, account.held)
            check_replayed(event, (account.number, account.stage), (episode.id, episode.plan.stage))
            self.open(account)
            return
        account = self.accounts[name]
        account.take(event)
        episode = self.agent.episode(account.number)
        if event.kind == ACT:
            self._replay_step(event, account.steps[-1], episode)
        else:
            self._replay_end(event, ENDED.decode(event.body), episode)
            self.close(account)

    def _replay_end(self, event: JournalEvent, said: Ended, episode: Episode) -> None:
        if event.kind == END:
            self.agent.end(episode, said.feedback, said.outcome)
        elif event.kind == EXPIRE and said.silent:
            self.agent.end(episode, None)
        elif event.kind in (ABANDON, EXPIRE):
            self.agent.abandon(episode)
        else:
            raise unknown_kind(event)
        if event.kind != ABANDON:
            check_replayed(event, said.decoded, decoded_reward(episode))

    def _replay_step(self, event: JournalEvent, step: StepTaken, episode: Episode) -> None:
        if step.taken or step.baseline:
            self.agent.took(episode, step.state, step.action, step.probability, step.actions)
            return
        action = self.agent.act(episode, step.state, step.actions, step.step)
        check_replayed(event, (step.action, step.probability), (action, episode.probability))

    def _load(self, snapshot: Snapshot) -> None:
        header, _, content = snapshot.data.partition(b"\n")
        kept = msgspec.json.decode(header)
        self.agent = await_fits(load_agent(content))
        self.accounts = {name: msgspec.convert(told, Account) for name, told in kept["open"].items()}
        self.ended, self.fits, self.position = kept["ended"], kept["fits"], snapshot.position
        for held, rewards in zip((False, True), kept["earned"], strict=True):
            self.earned[held].extend(rewards)
        self.anchors = [Anchor(**told) for told in kept["anchors"]]
        self.anchored = msgspec.convert(kept.get("anchored", {}), dict[str, Given])
        self.met = MetIds.from_json(kept.get("met"))


def read_anchors(told: Anchors) -> list[Anchor]:
    """Return known outcomes as agents take them."""
    return [Anchor(each.context, each.state, each.feedback, each.reward) for each in told.anchors]


def load_agent(content: bytes, check: Callable[[Mapping[str, Any]], None] | None = None) -> Agent:
    """Return the agent of a file, or raise CheckpointError; before anything is made of it, what it holds is checked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent"
        path.write_bytes(content)
        if check is not None:
            check(load_tree(path, KIND))
        return Agent.load(os.fspath(path))


def decoded_reward(episode: Episode) -> DecodedBody | None:
    """Return what the feedback of an episode was taken to mean."""
    return decoded_of(episode.decoded_reward, episode.decoded_interval)


def unknown_kind(event: JournalEvent) -> ReplayError:
    """Return the error of an event that this version does not know."""
    return ReplayError(f"event {event.position} is of the kind {event.kind!r}, which is not known here")


def check_replayed(event: JournalEvent, known: Any, found: Any) -> None:
    """Raise ReplayError unless an event comes to what it says."""
    if known != found:
        raise ReplayError(
            f"event {event.position} ({event.kind} of episode {event.episode!r}) was answered {known!r}, its replay "
            f"comes to {found!r}; run the version of Tacit that wrote it once more, so that it leaves a snapshot"
        )


def _fit(event: JournalEvent) -> tuple[int, int]:
    tuples, lessons = msgspec.json.decode(event.body)
    return tuples, lessons

"""The journal: what was asked of agents and what they answered, event by event. It is the truth of a service.

An agent is what its events make of it: a snapshot saves going through all of them. A store keeps both, and nothing is
acknowledged before it is there. Events are never changed; an agent that is deleted keeps its own, and leaves its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol


class StoreError(Exception):
    """A store that cannot be read or written now; the message says which and why."""


class JournalEvent(NamedTuple):
    """One event of an agent: its `kind`, whose episode it was, what was said as JSON, and when, in seconds since 1970.

    `position` is where it stands in the journal: events of an agent are read in the order of positions, which is that
    in which they were appended. The store gives it. `said` is what `body` was written from, where that was just now.
    """

    agent: int
    episode: str | None
    kind: str
    body: bytes
    at: float
    position: int = 0
    said: Any = None


class AgentRow(NamedTuple):
    """An agent as the store knows it: its number, its name, its description as JSON, when it was made."""

    number: int
    name: str
    description: bytes
    created: float


class Snapshot(NamedTuple):
    """A saved agent, as all events up to `position` made it."""

    position: int
    data: bytes


class JournalStore(Protocol):
    """What keeps agents, their events and snapshots. Threads may share one; what fails raises StoreError."""

    @property
    def at_hand(self) -> bool:
        """Return whether an append waits for a disk of this machine, and for nobody else."""
        ...

    def create_agent(self, name: str, description: bytes, at: float) -> AgentRow:
        """Return the new agent; its name must be that of no other that was not deleted, or ValueError is raised."""
        ...

    def delete_agent(self, number: int, at: float) -> None:
        """Delete an agent: its name is free, and its events and snapshots are no longer listed."""
        ...

    def agents(self) -> list[AgentRow]:
        """Return the agents that were not deleted, by name."""
        ...

    def append(self, events: Sequence[JournalEvent]) -> list[int]:
        """Return the positions of the events, once all of them are on disk; if it raises, none is, or it says so."""
        ...

    def read(self, agent: int, after: int = 0, limit: int | None = None) -> Iterator[JournalEvent]:
        """Yield events of an agent in order, from the first whose position is greater."""
        ...

    def read_episode(self, agent: int, episode: str) -> list[JournalEvent]:
        """Return the events of an episode in order; none if there is no such episode."""
        ...

    def last_position(self, agent: int) -> int:
        """Return the position of the last event of an agent, 0 if it has none."""
        ...

    def save_snapshot(self, agent: int, snapshot: Snapshot) -> None:
        """Keep a snapshot, and of those before it the latest alone."""
        ...

    def load_snapshots(self, agent: int) -> list[Snapshot]:
        """Return the snapshots that are kept, the latest first."""
        ...

    def check(self) -> None:
        """Raise StoreError unless the store can be read and written now."""
        ...

    def close(self) -> None:
        """Let go of the database; closing twice is no error."""
        ...

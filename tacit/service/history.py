"""What an agent's decoded rewards came to over time, folded from its journal: windows of episodes, and the latest ones.

A window is a sum, so windows merge: there are never more than a few dozen, however long an agent runs. Rewards lie
between 0 and 1, so they vary at most as coins do: intervals are those of Agresti and Coull, which keep their width
where all rewards are alike.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tacit.service.accounts import ABANDON, BEGIN, ENDINGS, Account, begin_account
from tacit.service.journal import JournalEvent
from tacit.service.page_bodies import Estimate, Window

FIRST_WINDOW, MOST_WINDOWS = 10, 40
"""Episodes of a window at first, and windows from which on each two become one: so many can be told apart."""
LATELY = 100
"""DecodedBody episodes that "lately" looks back on."""
LEAST_HELD = 20
"""Decoded episodes that were held out, of a point in the picture: there are few of them."""
LATEST = 500
"""Episodes that are kept whole to be listed."""
BLOCK, TRIED = 50, 1_000
"""Episodes that are looked at together to tell whether everything was tried, and of these how many are kept whole."""
LEAST_WEIGHT, LEAST_WORTH = 0.7, 0.2
"""Mean weight of a block in which everything was tried: it is 1 there; if weights vary as much as they are large, 50 of
them fall short of 0.7 in one block of fifty. And what part of its episodes it must be worth: less, if one weighs
as much as all others, as when something is tried that hardly ever is."""
Z = 1.96
"""Standard errors of a 95 % interval."""

Weigh = Callable[[Account], float | None]
"""Gives the weight of an episode (`tacit.service.chance`), None if it is not known."""


@dataclass
class Sums:
    """Of some episodes: how many were decoded, and what these came to."""

    decoded: int = 0
    reward: float = 0.0

    def add(self, reward: float | None) -> None:
        """Take in one episode; None is a reward that is not known."""
        if reward is not None:
            self.decoded += 1
            self.reward += reward

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.decoded + other.decoded, self.reward + other.reward)

    def earned(self) -> Estimate | None:
        """Return what was earned, as far as it was decoded."""
        return estimate(self.reward / self.decoded, self.decoded, self.decoded) if self.decoded else None


@dataclass
class Span:
    """Episodes that ended one after the other: how many, and apart what the policy's and those held out came to."""

    ended: int = 0
    played: Sums = field(default_factory=Sums)
    held: Sums = field(default_factory=Sums)

    def add(self, account: Account) -> None:
        """Take in one episode."""
        self.ended += 1
        sums = self.held if account.held else self.played
        sums.add(None if account.decoded is None else account.decoded.reward)

    def __add__(self, other: Span) -> Span:
        return Span(self.ended + other.ended, self.played + other.played, self.held + other.held)


class History:
    """Windows of the episodes of one agent, in the order in which they ended; events are told in theirs."""

    def __init__(self, weigh: Weigh = lambda account: None, position: int = 0) -> None:
        self._weigh, self._block = weigh, list[tuple[Account, float]]()
        self.position = position
        """Of the last event that was told."""
        self.size = FIRST_WINDOW
        self.windows: list[Span] = []
        self.latest: deque[Account] = deque(maxlen=LATEST)
        """Episodes that ended last, the latest first."""
        self.tried: deque[Account] = deque(maxlen=TRIED)
        """Episodes of a time when everything was tried: from these it can be told what uniform play would earn."""
        self._open: dict[str, Account] = {}

    def tell(self, events: Iterable[JournalEvent]) -> None:
        """Take in events; those of episodes that began before the first are passed over."""
        for event in events:
            self.position = event.position
            if event.episode is None:
                continue
            if event.kind == BEGIN:
                self._open[event.episode] = begin_account(event)
            elif event.episode in self._open:
                account = self._open[event.episode]
                account.take(event)
                if account.ended is not None:
                    del self._open[event.episode]
                    self._end(account)

    def _end(self, account: Account) -> None:
        self.latest.appendleft(account)
        self._try(account)
        if not self.windows or self.windows[-1].ended == self.size:
            if len(self.windows) == MOST_WINDOWS:
                pairs = zip(self.windows[::2], self.windows[1::2], strict=True)
                self.windows, self.size = [first + second for first, second in pairs], 2 * self.size
            self.windows.append(Span())
        self.windows[-1].add(account)

    def _try(self, account: Account) -> None:
        """Keep whole blocks of episodes in which uniform play's actions were all tried now and then."""
        weight = self._weigh(account) if account.steps and account.ended != ENDINGS[ABANDON] else None
        if weight is None:
            return
        self._block.append((account, weight))
        if len(self._block) == BLOCK:
            total, squares = sum(w for _, w in self._block), sum(w * w for _, w in self._block)
            if total >= LEAST_WEIGHT * BLOCK and total**2 >= LEAST_WORTH * BLOCK * squares:
                self.tried.extend(account for account, _ in self._block)
            self._block = []

    def shown(self) -> list[Window]:
        """Return the windows in which something was decoded, with the episodes that they begin and end with."""
        found, first = [], 1
        for span in self.windows:
            played, last = span.played.earned(), first + span.ended - 1
            if played is not None:
                told = span.played.decoded, played.mean, played.low, played.high
                found.append(Window(first, last, *told, span.held.earned()))
            first = last + 1
        return found

    def held_windows(self) -> list[Window]:
        """Return what those held out earned, windows taken together until there are some of them in each."""
        found, total, first, last = list[Window](), Sums(), 1, 0
        for span in self.windows:
            total, last = total + span.held, last + span.ended
            if total.decoded >= LEAST_HELD and (earned := total.earned()) is not None:
                found.append(Window(first, last, total.decoded, earned.mean, earned.low, earned.high))
                total, first = Sums(), last + 1
        return found

    def lately(self) -> Estimate | None:
        """Return what the latest decoded episodes earned that the policy played."""
        return _latest(span.played for span in reversed(self.windows))

    def held_out(self) -> Estimate | None:
        """Return what the latest decoded episodes earned that were held out, to compare with."""
        return _latest(span.held for span in reversed(self.windows))


def _latest(parts: Iterable[Sums]) -> Estimate | None:
    """Return what so many episodes earned as are "lately", from parts of which the first is the latest."""
    total = Sums()
    for part in parts:
        total = total + part
        if total.decoded >= LATELY:
            break
    return total.earned()


def estimate(mean: float, n: float, episodes: int) -> Estimate:
    """Return the mean of rewards worth n episodes with its 95 % interval.

    >>> estimate(1.0, 10, 10)
    Estimate(mean=1.0, low=0.67, high=1.0, episodes=10)
    """
    centre = (mean * n + 2) / (n + 4)
    half = Z * math.sqrt(centre * (1 - centre) / (n + 4))
    low, high = max(centre - half, 0.0), min(centre + half, 1.0)
    return Estimate(round(mean, 4), round(min(low, mean), 2), round(max(high, mean), 2), episodes)

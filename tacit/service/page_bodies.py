"""What the page is told of agents; every word that people gave is text here, cut where it is very long."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from tacit.service.bodies import AgentStatus, DecodedBody


class Estimate(Struct):
    """A mean with its 95 % interval, and the episodes that it is drawn from."""

    mean: float
    low: float
    high: float
    episodes: int


class ChanceEstimate(Struct):
    """What choosing at random would earn; `covered` is how much of what it would do these episodes tell of."""

    mean: float
    low: float
    high: float
    episodes: int
    covered: float


class Window(Struct):
    """What some episodes that ended one after the other earned, as far as it was decoded; `held`: those held out."""

    first: int
    last: int
    decoded: int
    mean: float
    low: float
    high: float
    held: Estimate | None = None


class Word(Struct):
    """A word that people say: how like a reward it is read, None if it was not said yet, and how often it was said."""

    word: str
    like: float | None
    said: int


class ActionMeaning(Struct):
    """An action: how likely it pleases, between which bounds, and how often it was tried."""

    action: str
    pleases: float
    low: float
    high: float
    tried: int


class PlaceShown(Struct):
    """What words mean in a last state for a context, and what pleases there, by so many episodes that told."""

    state: str
    context: str
    tells: str
    settled: bool
    doubt: float
    words: list[Word]
    actions: list[ActionMeaning]
    told: int


class RemarkShown(Struct):
    """A remark, and what it was read as."""

    feedback: str
    context: str
    action: str
    reward: float


class MeaningsShown(Struct):
    """What feedback means: by place where words can be counted, by example where they cannot."""

    places: list[PlaceShown]
    more: int
    examples: list[RemarkShown]


class ContextShown(Struct):
    """A context that a policy can be asked for."""

    text: str
    value: Any


class RecentStep(Struct):
    """A step in words; its chance is None where others took the action and nobody knows it."""

    state: str
    action: str
    probability: float | None


class Recent(Struct):
    """An episode that ended not long ago; `feedback` is None where nothing was said."""

    episode: str
    begun: float
    context: str
    steps: list[RecentStep]
    ended: str
    feedback: str | None
    outcome: int | None
    decoded: DecodedBody | None


class Health(Struct):
    """How the service is: events that wait for the disk, and who else watches."""

    waiting: int
    listeners: int


class AgentView(Struct):
    """All that the page shows of an agent."""

    status: AgentStatus
    answer: str
    """What the verdict means to somebody who has not read the paper."""
    stage: str
    """What the agent does in its stage."""
    rewards: list[Window]
    held_rewards: list[Window]
    """The same of those held out, in wider windows, for there are fewer of them."""
    lately: Estimate | None
    held: Estimate | None
    """What those episodes earned lately that are held out."""
    baseline: bool
    """Whether these go by a fixed choice, and do not stay uniform."""
    uniform: ChanceEstimate | None
    meanings: MeaningsShown
    contexts: list[ContextShown]
    has_policy: bool
    recent: list[Recent]
    health: Health


class Glance(Struct):
    """An agent in the list."""

    name: str
    stage: str
    verdict: str
    begun: int
    ended: int
    open: int
    warnings: int


class AgentsView(Struct):
    """What the page shows first."""

    agents: list[Glance]
    version: str
    health: Health

"""What requests and answers are made of; the OpenAPI description is read off these."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

EpisodeId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=128,
        pattern=r"^[\x21-\x7e]*[^\d\x00-\x20\x7f][\x21-\x7e]*$",
        description="the caller's own name of an episode: visible ASCII, not of digits alone, which the service uses",
    ),
]
User = Annotated[str, Meta(max_length=256)] | int
StepNumber = Annotated[int, Meta(ge=1, le=1000, description="1 for the first")]
OutcomeGiven = Annotated[int, Meta(ge=0, le=1)]
Chance = Annotated[float, Meta(gt=0, le=1)]


class Begin(Struct, forbid_unknown_fields=True):
    """Who came, as far as known; with an `id` the request may be repeated."""

    context: Any
    id: EpisodeId | None = None
    user: User | None = None


class Logged(Struct):
    """A step of an episode that was logged."""

    state: Any
    action: Any
    actions: list[Any] | None = None


class LoggedBody(Struct):
    """An episode in the log format; what it holds besides is not read."""

    context: Any
    steps: Annotated[list[Logged], Meta(min_length=1, max_length=1000)]
    feedback: Any = None


class LabelBody(Struct, forbid_unknown_fields=True):
    """Episodes to be labelled."""

    episodes: Annotated[list[LoggedBody], Meta(min_length=1, max_length=1000)]


class LabelsBody(Struct):
    """What the feedback of each was taken to mean, in their order; null while that is not known."""

    labels: list[DecodedBody | None]


class AnchorBody(Struct, forbid_unknown_fields=True):
    """An episode whose outcome is known: who came, the last state, what was said, and how it went."""

    context: Any
    state: Any
    feedback: Any
    reward: OutcomeGiven


class Anchors(Struct, forbid_unknown_fields=True):
    """Known outcomes, which diagnoses are checked by from now on; with an `id` the request may be repeated."""

    anchors: Annotated[list[AnchorBody], Meta(min_length=1, max_length=1000)]
    id: EpisodeId | None = None


class Anchored(Struct):
    """How many known outcomes there are now."""

    anchors: int


class Began(Struct, omit_defaults=True):
    """An episode that has begun; one that is `held` out stays uniform, or on the baseline, to compare with."""

    episode: str
    stage: str
    held: bool = False


class Ask(Struct, forbid_unknown_fields=True):
    """What is seen now, at which step; `actions` are what can be done, where the layout does not say.

    With `taken` the caller has acted itself, by `probability` if that is known, and the agent learns from it.
    """

    step: StepNumber
    state: Any
    actions: Annotated[list[Any], Meta(min_length=1, max_length=10_000)] | None = None
    taken: Any | UnsetType = UNSET
    probability: Chance | None = None


class ChosenBody(Struct):
    """What to do, and with which chance it was drawn; null where the caller acted and did not say."""

    action: Any
    probability: float | None
    step: int


class Decide(Struct, forbid_unknown_fields=True):
    """Begin and first action in one."""

    context: Any
    state: Any
    actions: Annotated[list[Any], Meta(min_length=1, max_length=10_000)] | None = None
    id: EpisodeId | None = None
    user: User | None = None


class Decided(Struct):
    """An episode that has begun, and its first action."""

    episode: str
    stage: str
    action: Any
    probability: float | None
    step: int


class Feedback(Struct, forbid_unknown_fields=True):
    """How the person reacted; null is silence. `outcome`, 0 or 1, where this once it is known how it went."""

    feedback: Any
    outcome: OutcomeGiven | None = None


class DecodedBody(Struct):
    """What feedback was taken to mean: a reward and its bounds; confidence is that the nearer of 0 and 1 is right."""

    reward: float
    confidence: float
    low: float
    high: float


class Accepted(Struct):
    """Feedback that was taken."""

    accepted: bool
    decoded: DecodedBody | None


class Abandoned(Struct):
    """An episode that broke off, so that nobody could react."""

    abandoned: bool


class StepTaken(Struct, omit_defaults=True):
    """One step of an episode; `probability` is null where the caller acted and did not say. By whom it was chosen: the
    agent, the caller (`taken`), or the `baseline` of those held out.
    """

    step: int
    state: Any
    action: Any
    probability: float | None
    actions: list[Any] | None = None
    taken: bool = False
    baseline: bool = False


class EpisodeStatus(Struct):
    """All that was said in an episode; it `ended` by "feedback", "abandoned", "unanswered", or null: it is open."""

    episode: str
    context: Any
    user: str | int | None
    begun: float
    stage: str
    held: bool
    steps: list[StepTaken]
    ended: str | None
    feedback: Any = None
    outcome: int | None = None
    decoded: DecodedBody | None = None


class Earning(Struct):
    """What episodes are decoded to have earned lately: how many were decoded, the mean and its 95 % interval."""

    episodes: int
    mean: float | None
    low: float | None
    high: float | None


class FindingBody(Struct):
    """One thing that a diagnosis found."""

    code: str
    severity: str
    where: str
    evidence: str
    remedy: str


class Staleness(Struct):
    """How old what decisions go by is: fits so far, and how much feedback the last of them did not see."""

    fits: int
    behind: int


class WantedShown(Struct):
    """A situation that is not settled: how many episodes told of it, and about how many more would settle it."""

    state: str
    context: str
    told: int
    more: int


class ProgressShown(Struct):
    """How far an agent is: what is done of what, and in words what is left; `total` is None where nobody knows."""

    explored: int | None
    done: int | None
    total: int | None
    what: str
    words: list[str]
    wanted: list[WantedShown]


class AgentStatus(Struct):
    """How an agent is doing; `stale` is null where everything is learned at once."""

    name: str
    stage: str
    created: float
    begun: int
    ended: int
    open: int
    progress: ProgressShown
    verdict: str
    basis: str
    findings: list[FindingBody]
    earning: Earning
    holdout: Earning
    stale: Staleness | None
    seed: int
    position: int
    version: str


class AgentList(Struct):
    """The agents of a service."""

    agents: list[AgentStatus]


class PolicyBody(Struct):
    """What an agent takes to be best for a context: by state, the chance of each action."""

    context: Any
    policy: list[PolicyRow]


class PolicyRow(Struct):
    """The chances of a state's actions."""

    state: Any
    actions: list[ActionChance]


class ActionChance(Struct):
    """An action and its chance."""

    action: Any
    probability: float


class Retire(Struct, forbid_unknown_fields=True):
    """An action that is to be offered no more, in one state or in all."""

    action: Any
    state: Any | UnsetType = UNSET


class ErrorDetail(Struct):
    """What was refused and why; `field` is the part of the body that is at fault."""

    code: str
    message: str
    field: str | None = None


class ErrorBody(Struct):
    """The answer to a request that was refused."""

    error: ErrorDetail

"""Logged episodes as values of Python: for those who write logs, and for those who read them one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tacit.learning.episode import Episode
from tacit.logs.record import EpisodeRecord, StepRecord


@dataclass(frozen=True)
class LoggedStep:
    """One step: the state seen, the action taken and, where known, the actions offered and its probability."""

    state: Any
    action: Any
    actions: tuple[Any, ...] | None = None
    probability: float | None = None


@dataclass(frozen=True)
class LoggedEpisode:
    """One episode that happened, as the log tells it; feedback None is silence, unless it was `abandoned`.

    >>> LoggedEpisode("e1", "new", (LoggedStep("start", "ask"),), "thanks").to_json()
    {'episode': 'e1', 'context': 'new', 'steps': [{'state': 'start', 'action': 'ask'}], 'feedback': 'thanks'}
    """

    episode: str | int
    context: Any
    steps: tuple[LoggedStep, ...]
    feedback: Any
    time: str | float | None = None
    user: str | int | None = None
    reward: float | None = None
    source: tuple[str, int] | None = field(default=None, compare=False, repr=False)
    """The file and the line that it was read from."""
    abandoned: bool = False

    def to_json(self) -> EpisodeRecord:
        """Return the record of the format, without what is not known."""
        known = {key: value for key in ("time", "user") if (value := getattr(self, key)) is not None}
        record: dict[str, Any] = {"episode": self.episode, **known, "context": self.context}
        record |= {"steps": [_step_json(step) for step in self.steps], "feedback": self.feedback}
        record |= {"abandoned": True} if self.abandoned else {}
        return record if self.reward is None else record | {"reward": self.reward}  # type: ignore[return-value]


def episode_of(record: EpisodeRecord, source: tuple[str, int] | None = None) -> LoggedEpisode:
    """Return the episode of a record that breaks no rule."""
    return LoggedEpisode(
        record["episode"],
        record["context"],
        tuple(_step_of(step) for step in record["steps"]),
        record.get("feedback"),
        record.get("time"),
        record.get("user"),
        record.get("reward"),
        source,
        bool(record.get("abandoned")),
    )


def log_of(episode: Episode, reward: float | None = None, user: str | int | None = None) -> LoggedEpisode:
    """Return the log of an agent's episode that has ended, or was abandoned after a step; probabilities are its own.

    `reward` is the latent one where a simulation knows it; otherwise it is the outcome that the agent was told, if any.

    >>> from tacit.agent import Agent
    >>> from tacit.problem.layout import Layout
    >>> agent = Agent(Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2), seed=1)
    >>> episode = agent.begin(0)
    >>> action = agent.act(episode, 0)
    >>> agent.end(episode, 1)
    >>> log_of(episode).steps[0].probability, log_of(episode).feedback
    (0.5, 1)
    """
    steps = tuple(LoggedStep(*step) for step in episode.steps)
    if episode.open or not steps:
        raise ValueError(
            f"a log tells of an episode that has taken a step and ended, got {episode!r}; end it first"
        )
    known = episode.outcome if reward is None else reward
    feedback, abandoned = _plain(episode.feedback), episode.abandoned
    return LoggedEpisode(
        episode.id, episode.context, steps, feedback, user=user, reward=known, abandoned=abandoned
    )


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, NumPy's numbers as Python's."""
    return value.tolist() if hasattr(value, "tolist") else value


def _step_of(step: StepRecord) -> LoggedStep:
    offered = step.get("actions")
    return LoggedStep(
        step["state"], step["action"], None if offered is None else tuple(offered), step.get("probability")
    )


def _step_json(step: LoggedStep) -> StepRecord:
    record: StepRecord = {"state": step.state, "action": step.action}
    if step.actions is not None:
        record["actions"] = list(step.actions)
    if step.probability is not None:
        record["probability"] = step.probability
    return record

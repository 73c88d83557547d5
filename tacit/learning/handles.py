"""The rules of episode handles that all agents keep: whose they are, whether they are open, ending them twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Protocol, TypeVar


class Handle(Protocol):
    """What the rules need to know of an episode."""

    id: int
    owner: object
    open: bool
    feedback: Any


EpisodeT = TypeVar("EpisodeT")


def find_open(open_episodes: Mapping[int, EpisodeT], number: int) -> EpisodeT:
    """Return the open episode with that id, or raise ValueError."""
    try:
        return open_episodes[number]
    except KeyError:
        raise ValueError(f"there is no open episode {number!r}; see `open_episodes`") from None


def check_ours(agent: object, kind: type, episode: Any) -> None:
    """Raise ValueError unless `episode` is a handle of that kind which `agent` began."""
    if not isinstance(episode, kind) or getattr(episode, "owner", None) is not agent:
        raise ValueError(
            f"an episode is played with the agent that began it, got {episode!r}; after loading an agent, "
            "take its open episodes from `open_episodes` or `episode(id)`"
        )


def check_open(episode: Handle) -> None:
    """Raise ValueError if the episode has ended."""
    if not episode.open:
        raise ValueError(f"episode {episode.id} has ended; call begin for a new one")


def refuse_other_feedback(episode: Handle, feedback: Any) -> NoReturn:
    """Raise the ValueError of an episode that ended with one feedback and is told another."""
    raise ValueError(
        f"episode {episode.id} has ended with feedback {episode.feedback!r}, got {feedback!r}; "
        "an episode is learned from once: begin a new one"
    )


def check_complete(episode: Handle, taken: int, horizon: int) -> None:
    """Raise ValueError unless all steps were taken."""
    if taken != horizon:
        raise ValueError(
            f"an episode has {horizon} steps before its feedback, episode {episode.id} "
            f"has taken {taken}; act at each step first, or abandon the episode"
        )


def refuse_more_steps(episode: Handle, horizon: int, state: Any) -> NoReturn:
    """Raise the ValueError of an act after the last step."""
    raise ValueError(
        f"an episode has {horizon} steps and episode {episode.id} has taken them all, "
        f"got state {state!r}; end it with its feedback"
    )

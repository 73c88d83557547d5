"""Logs beside the labels that `tacit label` wrote of them, both streamed: labels come in the order of the logs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tacit.logs.episodes import LoggedEpisode
from tacit.logs.files import LogError, find_logs, iterate_raw, parse_json

MIN_CONFIDENCE = 0.8
"""The confidence from which a label counts unless another is given: at worst one label in five is wrong."""


class Label(NamedTuple):
    """A row of labels: what an episode's feedback means (`tacit.offline.reward_model.Decoded`)."""

    episode: str | int
    decoded_reward: float | None
    confidence: float
    reason: str

    def why_not(self, least: float) -> str | None:
        """Return why the label does not count, None if it does."""
        if self.decoded_reward is None:
            return self.reason
        return None if self.confidence >= least else f"confidence below {least:g}"


def read_labels(path: str | os.PathLike[str]) -> Iterator[Label]:
    """Yield the rows of a file of labels, JSON lines or Parquet; raise `LogError` at one that is none."""
    for raw in iterate_raw(find_logs(path)):
        try:
            row = raw.record if raw.record is not None else parse_json(raw.line_text)
            yield Label(row["episode"], row.get("decoded_reward"), float(row["confidence"]), row["reason"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise LogError(
                f"{raw.file}, line {raw.line}: a label must be a row that `tacit label` wrote"
                f"{f' ({raw.damage})' if raw.damage else ''}; label the logs again"
            ) from None


def join_labels(
    episodes: Iterable[LoggedEpisode], labels: Iterable[Label]
) -> Iterator[tuple[LoggedEpisode, Label | None]]:
    """Yield each episode with its label, None for one that was not labelled; raise if labels are left over.

    >>> from tacit.logs.episodes import LoggedStep
    >>> logs = [LoggedEpisode(n, "new", (LoggedStep("s", "a"),), "ah") for n in (1, 2)]
    >>> [label for _, label in join_labels(logs, [Label(2, 1.0, 0.9, "decoded")])]
    [None, Label(episode=2, decoded_reward=1.0, confidence=0.9, reason='decoded')]
    """
    rows = iter(labels)
    row = next(rows, None)
    for episode in episodes:
        if row is None or not _same(row.episode, episode.episode):
            yield episode, None
            continue
        yield episode, row
        row = next(rows, None)
    if row is not None:
        raise LogError(
            f"labels must be those of these logs, in their order; the label of episode {row.episode!r} has no episode "
            "after the one before it: give the logs that were labelled"
        )


def _same(label: str | int, episode: str | int) -> bool:
    return label == episode or str(label) == str(episode)  # Parquet has names as strings

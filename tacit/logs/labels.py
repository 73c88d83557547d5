"""Labels: what each episode's feedback means, one row an episode, in the order of the logs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypedDict

from tacit.decoding.judgement import HOMOGENEOUS, UNKNOWN
from tacit.logs.episode import LoggedEpisode
from tacit.logs.files import find_logs, parse_json
from tacit.logs.pieces import iterate_raw
from tacit.logs.record import LogError

MIN_CONFIDENCE = 0.8
"""The confidence from which a label counts unless another is given: at worst one label in five is wrong."""
DECIMALS = 6
"""To which decoded rewards and confidences are rounded: far finer than any tuples could tell."""
DECODED, LOWER_BOUND, UNCERTAIN = "decoded", "lower_bound", "uncertain"
UNSEEN_STATE, UNSEEN_CONTEXT = "unseen_state", "unseen_context"
UNSEEN_ACTION, UNSEEN_FEEDBACK = "unseen_action", "unseen_feedback"
SILENT, ABANDONED = "silent", "abandoned"


class Decoded(NamedTuple):
    """What an episode's feedback means.

    `decoded_reward` is J(h(x, y, s), a), None where nothing can be said. `low` and `high` are between what the chance
    of a reward lies, given the feedback and the action: what data cannot tell is in it; of a homogeneous state the most
    that an action may earn there, unseen; None where nothing is decoded, and in conversations. `confidence` is the
    probability, given the tuples, that the decoded reward rounded to 0 or 1 is the latent one; of a homogeneous state,
    whose reward is the expectation c, that it is homogeneous (`tacit.decoding.confidence`). `reason` is one of

    - `decoded`: a heterogeneous state, its feedback understood;
    - `lower_bound`: the feedback looks like a reward, but the action is not the best there, and J, which never promises
      too much, withholds it (Lemma 3.7): low confidence says so;
    - `homogeneous`: no action is better than another there, as far as matters; the reward is c;
    - `uncertain`: too few tuples; there is no reward, or one whose orientation is in doubt;
    - `unseen_state`, `unseen_context`, `unseen_action`, `unseen_feedback`: not met in the tuples;
    - `silent`: nothing was said, and silence is taken to be missing;
    - `abandoned`: the episode broke off, and nobody could react.
    """

    decoded_reward: float | None
    confidence: float
    state_kind: str
    reason: str
    low: float | None = None
    high: float | None = None

    @staticmethod
    def nothing(reason: str) -> Decoded:
        """Return what is said where nothing can be said, and why."""
        return Decoded(None, 0.0, UNKNOWN, reason)

    @staticmethod
    def homogeneous(c: float, confidence: float, hope: float | None = None) -> Decoded:
        """Return what is said where no action is better than another, or none earns more than `hope`, unseen."""
        return Decoded(c, confidence, HOMOGENEOUS, HOMOGENEOUS, None if hope is None else 0.0, hope)


class LabelledRow(TypedDict):
    """A row of labels as files have it: an episode's name and what its feedback means (`Decoded`)."""

    episode: str | int
    decoded_reward: float | None
    confidence: float
    state_kind: str
    reason: str
    low: float | None
    high: float | None


COLUMNS = tuple(LabelledRow.__annotations__)


def label_row(episode: str | int, decoded: Decoded) -> LabelledRow:
    """Return the row of an episode.

    >>> label_row(7, Decoded.nothing(UNCERTAIN))["reason"]
    'uncertain'
    """
    return {"episode": episode, **decoded._asdict()}  # type: ignore[typeddict-item]


def why_not(row: LabelledRow, least: float) -> str | None:
    """Return why a label does not count at a least confidence, None if it does."""
    if row["decoded_reward"] is None:
        return row["reason"]
    return None if row["confidence"] >= least else f"confidence below {least:g}"


def read_labels(path: str | os.PathLike[str]) -> Iterator[LabelledRow]:
    """Yield the rows of a file of labels, JSON lines or Parquet; raise `LogError` at one that is none."""
    for raw in iterate_raw(find_logs(path)):
        try:
            row = raw.record if raw.record is not None else parse_json(raw.line_text)
            told = (float(row["confidence"]), row.get("state_kind", UNKNOWN), row["reason"])
            bounds = (row.get("low"), row.get("high"))
            yield label_row(row["episode"], Decoded(row.get("decoded_reward"), *told, *bounds))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise LogError(
                f"{raw.file}, line {raw.line}: a label must be a row that `tacit label` wrote"
                f"{f' ({raw.fault.message})' if raw.fault else ''}; label the logs again"
            ) from None


def join_labels(
    episodes: Iterable[LoggedEpisode], labels: Iterable[LabelledRow]
) -> Iterator[tuple[LoggedEpisode, LabelledRow | None]]:
    """Yield each episode with its label, None for one that was not labelled; raise if labels are left over.

    Both are streamed: labels come in the order of the logs.

    >>> from tacit.logs.episode import LoggedStep
    >>> logs = [LoggedEpisode(n, "new", (LoggedStep("s", "a"),), "ah") for n in (1, 2)]
    >>> [label for _, label in join_labels(logs, [label_row(2, Decoded.nothing(UNCERTAIN))])][0] is None
    True
    """
    rows = iter(labels)
    row = next(rows, None)
    for episode in episodes:
        if row is None or not _same(row["episode"], episode.episode):
            yield episode, None
            continue
        yield episode, row
        row = next(rows, None)
    if row is not None:
        raise LogError(
            f"labels must be those of these logs, in their order; the label of episode {row['episode']!r} has no "
            "episode after the one before it: give the logs that were labelled"
        )


def _same(label: str | int, episode: str | int) -> bool:
    return label == episode or str(label) == str(episode)  # Parquet has names as strings

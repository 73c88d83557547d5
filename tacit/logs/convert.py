"""Logs from and to other formats: from CSV, Vowpal Wabbit's dsjson both ways, and datasets for TRL.

Everything is streamed through `LoggedEpisode`: a format is a way to read episodes, or a way to write them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tacit.base.files import check_distinct
from tacit.logs.dsjson import EventSettings, events_of
from tacit.logs.dsjson_joining import find_events, read_dsjson
from tacit.logs.episode import LoggedEpisode
from tacit.logs.files import find_logs
from tacit.logs.labels import join_labels, read_labels, why_not
from tacit.logs.problems import Problems, nothing_usable
from tacit.logs.reading import CsvLogs, Progress, read_logs, tally
from tacit.logs.record import LogError
from tacit.logs.trl import (
    TRL_FORMATS,
    Export,
    check_directory,
    choose_form,
    dataset_rows,
    datasets_module,
    write_dataset,
)
from tacit.logs.writing import LineWriter, LogWriter

Convertible = str | os.PathLike[str] | CsvLogs
"""What is converted: a file, a directory, or CSV files with their columns."""
READ = ("logs", "dsjson")
WRITTEN = (*READ, *TRL_FORMATS)
DSJSON_ENDINGS = tuple(
    f"{ending}{packed}" for ending in (".dsjson", ".json") for packed in ("", ".gz", ".zst")
)
"""Endings by which a file is taken for dsjson unless a format is given."""


@dataclass(frozen=True)
class Conversion:
    """What came of converting `to` some format: episodes read, rows (of logs, events, datasets) written, what not.

    `left_out` counts episodes by reason: of a dataset those without a row, of events those without a cost. `silent`
    ones have no feedback and did not break off.
    """

    to: str
    episodes: int
    rows: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    form: str | None = None
    silent: int = 0


def convert(
    source: Convertible,
    out: str | os.PathLike[str],
    to: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    events: EventSettings | None = None,
    export: Export | None = None,
    source_format: str | None = None,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Conversion:
    """Convert logs to another format; return how much came of it.

    `to` is `logs`, `dsjson`, `trl-reward` or `trl-kto`, and `source_format` is `logs` (CSV is among them) or `dsjson`:
    both by the ending unless given. With labels, events carry the decoded reward as cost; a dataset needs them.
    Without `problems` the first episode that breaks a rule raises `LogError`; so do logs without a sound one. The
    output is there when it is whole, and must not be among what is read.

    >>> import tempfile
    >>> from tacit.logs.episode import LoggedStep
    >>> steps = (LoggedStep("start", "ask", ("ask", "show"), 0.5), LoggedStep("asked", "book"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with LogWriter(f"{folder}/logs.jsonl") as writer:
    ...         writer.write(LoggedEpisode("a7", "new", steps, "lovely"))
    ...     there = convert(f"{folder}/logs.jsonl", f"{folder}/events.dsjson")
    ...     back = convert(f"{folder}/events.dsjson", f"{folder}/back.jsonl")
    ...     (there.rows, back.rows, list(read_logs(f"{folder}/back.jsonl"))[0].steps == steps)
    (2, 1, True)
    """
    to = to or format_of(out)
    kind = _check_request(source, to, labels, source_format)
    own = problems if problems is not None else Problems(strict=True)
    read = [*find_sources(source, kind), *(find_logs(labels) if labels is not None else ())]
    check_distinct((out, own.side), read)
    episodes = _Counted(_read(source, kind, events, own), progress, own)
    if to == "logs":
        return _write_logs(episodes, out)
    export = export or Export()
    if to == "dsjson":
        return _write_events(episodes, labels, export.min_confidence, out)
    assert labels is not None
    export = replace(export, format=to)
    datasets_module()  # here, so that it is missed before the work
    check_directory(out)
    if export.form == "auto":
        export = replace(export, form=choose_form(_read(source, kind, events, Problems())))
    left_out: Counter[str] = Counter()
    labelled = join_labels(episodes, read_labels(labels))
    rows = write_dataset(dataset_rows(labelled, export, left_out), export, out)
    return Conversion(to, episodes.n, rows, dict(left_out), export.form, episodes.silent)


def format_of(path: Convertible) -> str:
    """Return the format that a file's ending speaks for; CSV files are logs.

    >>> format_of("day.dsjson.gz"), format_of("logs.jsonl")
    ('dsjson', 'logs')
    """
    dsjson = not isinstance(path, CsvLogs) and Path(path).name.endswith(DSJSON_ENDINGS)
    return "dsjson" if dsjson else "logs"


def find_sources(source: Convertible, kind: str) -> list[Path]:
    """Return the files of a format that a path stands for."""
    if isinstance(source, CsvLogs):
        return source.find()
    return find_logs(source) if kind == "logs" else find_events(source)


class _Counted:
    """Episodes, counted as they pass; none at all is an error that tells what was wrong."""

    def __init__(
        self, episodes: Iterable[LoggedEpisode], progress: Progress | None, problems: Problems
    ) -> None:
        self._episodes, self._progress, self._problems = episodes, progress, problems
        self.n = self.silent = 0

    def __iter__(self) -> Iterator[LoggedEpisode]:
        for episode in tally(self._episodes, self._progress):
            self.n += 1
            self.silent += episode.feedback is None and not episode.abandoned
            yield episode
        if not self.n:
            raise nothing_usable(self._problems)


def _read(
    source: Convertible, kind: str, events: EventSettings | None, problems: Problems
) -> Iterator[LoggedEpisode]:
    if isinstance(source, CsvLogs) or kind == "logs":
        return read_logs(source, problems=problems)
    return read_dsjson(source, events, problems)


def _write_logs(episodes: _Counted, out: str | os.PathLike[str]) -> Conversion:
    with LogWriter(out) as writer:
        for episode in episodes:
            writer.write(episode)
    return Conversion("logs", episodes.n, episodes.n, silent=episodes.silent)


def _write_events(
    episodes: _Counted, labels: str | os.PathLike[str] | None, least: float, out: str | os.PathLike[str]
) -> Conversion:
    left_out: Counter[str] = Counter()
    rows = 0
    with LineWriter(Path(out)) as writer:
        for episode, reward, reason in _rewarded(episodes, labels, least):
            if reason is None and any(step.probability is None for step in episode.steps):
                reason = "no probability in some step"
            if reason is not None:
                left_out[reason] += 1
            for event in events_of(episode, None if reward is None else 0.0 - reward):
                writer.write(event)
                rows += 1
    return Conversion("dsjson", episodes.n, rows, dict(left_out), silent=episodes.silent)


def _rewarded(
    episodes: _Counted, labels: str | os.PathLike[str] | None, least: float
) -> Iterator[tuple[LoggedEpisode, float | None, str | None]]:
    """Yield episodes with what VW is to learn: their decoded reward, or without labels the known one; or why none."""
    if labels is None:
        for episode in episodes:
            yield episode, episode.reward, "no reward known" if episode.reward is None else None
        return
    for episode, label in join_labels(episodes, read_labels(labels)):
        reason = "no label" if label is None else why_not(label, least)
        yield episode, None if label is None or reason is not None else label["decoded_reward"], reason


def _check_request(
    source: Convertible,
    to: str,
    labels: str | os.PathLike[str] | None,
    source_format: str | None,
) -> str:
    """Return the source's format; raise `LogError` unless the request makes sense."""
    kind = source_format or format_of(source)
    if isinstance(source, CsvLogs) and kind != "logs":
        raise LogError(f"columns are those of CSV files, which are logs, got {kind!r}; leave one of them out")
    if kind not in READ:
        raise LogError(f"the format to convert from must be one of {READ}, got {kind!r}")
    if to not in WRITTEN:
        raise LogError(f"the format to convert to must be one of {WRITTEN}, got {to!r}")
    if to in TRL_FORMATS and labels is None:
        raise LogError(f"{to} needs labels, got none; run `tacit label` and give its file with --labels")
    if to == "logs" and labels is not None:
        raise LogError("labels are not part of logs, got --labels with --to logs; leave them out")
    return kind

"""Episodes from linked events: dsjson files of any size, events of several episodes in any order.

An episode is put together when all its events are there (those that Tacit writes say how many), or when a number of
other events (`EventSettings.window`) has passed since its last one, or at the end: the window bounds the memory. An
episode that cannot be put together is a problem, located at its first event; nothing is dropped without a word.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from tacit.logs.dsjson import FIRST_STATE, Event, EventSettings, understand_event
from tacit.logs.episode import LoggedEpisode, episode_of
from tacit.logs.files import RawRecord, check_file, list_folder, parse_json, regular_files
from tacit.logs.pieces import iterate_raw
from tacit.logs.problems import Problem, Problems
from tacit.logs.record import EpisodeRecord, Fault, find_fault
from tacit.logs.repeats import KnownNames

ENDINGS = tuple(f".{kind}{packed}" for kind in ("dsjson", "json", "jsonl") for packed in ("", ".gz", ".zst"))
"""Endings of the files that a directory of events stands for; a file that is named may end in any way."""


class Arrived(NamedTuple):
    """An event, and the line that it was read from."""

    event: Event
    raw: RawRecord


class Open:
    """The events of an episode that have come so far, and when the last one came."""

    def __init__(self) -> None:
        self.arrived: list[Arrived] = []
        self.last = 0


def read_dsjson(
    path: str | os.PathLike[str],
    how: EventSettings | None = None,
    problems: Problems | None = None,
) -> Iterator[LoggedEpisode]:
    """Yield the episodes of a file or directory of events, each when it is whole; what is wrong goes to `problems`.

    Without `problems` the first that is wrong raises `LogError`.

    >>> import tempfile
    >>> event = '{"a": [1], "p": [1.0], "c": {"hour": 9, "_multi": [{"_tag": "tea"}]}, "o": [{"v": "ah"}]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "events.json").write_text(event)
    ...     [(episode.episode, episode.context, episode.steps[0].action) for episode in read_dsjson(folder)]
    [('events.json:1', {'hour': 9}, 'tea')]
    """
    problems, known = problems if problems is not None else Problems(strict=True), KnownNames()
    for episode in _join_events(path, how or EventSettings(), problems):
        record = episode.to_json()
        raw = RawRecord(*(episode.source or (os.fspath(path), 0)), record=cast(dict[str, Any], record))
        fault = known.find_repeat(raw, record)
        if fault is None:
            yield episode
        else:
            problems.reject(raw, fault)


def _join_events(
    path: str | os.PathLike[str], how: EventSettings, problems: Problems
) -> Iterator[LoggedEpisode]:
    """Yield the episodes of events, the same one as often as it comes."""
    waiting: OrderedDict[str | int, Open] = OrderedDict()
    for number, raw in enumerate(iterate_raw(find_events(path))):
        event = _understood(raw, how)
        if isinstance(event, Fault):
            problems.add(Problem(raw.file, raw.line, *event), raw.text())
        else:
            yield from _take(Arrived(event, raw), number, waiting, problems)
        while waiting and number - next(iter(waiting.values())).last >= how.window:
            yield from _finish(waiting.popitem(last=False)[1].arrived, problems)
    while waiting:
        yield from _finish(waiting.popitem(last=False)[1].arrived, problems)


def find_events(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files of events that a path stands for, those of a directory by name."""
    path = Path(path)
    if os.path.isdir(path):  # which says no where `Path.is_dir` raises
        named = [file for file in list_folder(path) if file.name.endswith(ENDINGS)]
        return regular_files(named, f"events in {str(path)!r}; files must end in {', '.join(ENDINGS)}")
    check_file(path)
    return [path]


def order_chain(links: Sequence[tuple[Any, Any]]) -> list[int]:
    """Return the places of (id, previous id) in the order of their chain, as far as it reaches from its beginning.

    >>> order_chain([("b", "a"), ("a", None), ("d", "c")])
    [1, 0]
    """
    after = {previous: place for place, (_, previous) in enumerate(links)}
    order: list[int] = []
    at = None
    while at in after and len(order) < len(links):
        order.append(after[at])
        at = links[after[at]][0]
    return order


def assemble_episode(events: Sequence[Event], name: str) -> dict[str, Any] | Fault:
    """Return the record of an episode from its events, or the rule that they break; `name` serves one without."""
    order = order_chain([(event.id, event.previous) for event in events])
    if len(order) != len(events):
        return _broken(events, len(order))
    events = [events[place] for place in order]
    first, last = events[0], events[-1]
    if first.steps is not None and first.steps != len(events):
        return Fault(
            "incomplete-episode",
            f"episode {first.episode!r} must have {first.steps} events, got {len(events)}; use the whole file, or "
            "a larger --window",
        )
    counted = first.episode is None or first.steps is not None
    if last.feedback is None and not (counted or last.outcomes):  # its last event may not have come
        return Fault(
            "no-feedback",
            f"the last event of episode {first.episode!r} must have outcomes, `o`, an empty list for silence, got "
            "none; use the whole file, or say --feedback-from cost if the cost is how the person reacted",
        )
    steps = [_step_of(event, place) for place, event in enumerate(events)]
    episode = first.episode if first.episode is not None else first.id if first.id is not None else name
    rest = dict(first.rest)
    if "reward" in last.rest:
        rest.setdefault("reward", last.rest["reward"])
    return {"episode": episode, **rest, "context": first.context, "steps": steps, "feedback": last.feedback}


def _understood(raw: RawRecord, how: EventSettings) -> Event | Fault:
    if raw.fault is not None:
        return raw.fault
    try:
        event = understand_event(parse_json(raw.line_text), how)
    except ValueError as error:
        return Fault("not-json", f"a line must be one JSON object ({error}); mend it or leave it out")
    return event if isinstance(event, Fault) else _find_link_fault(event) or event


def _find_link_fault(event: Event) -> Fault | None:
    links = {"EventId": event.id, "episode_id": event.episode, "previous_id": event.previous}
    for key, link in links.items():
        if link is not None and (not isinstance(link, str | int) or isinstance(link, bool)):
            return Fault("bad-link", f"`{key}` must be a string or an integer, got {link!r}")
    if event.episode is not None and event.id is None:
        return Fault(
            "bad-link", f"an event of an episode must have an `EventId`, got none in {event.episode!r}"
        )
    if event.episode is None and event.previous is not None:
        return Fault(
            "bad-link",
            f"an event after another, {event.previous!r}, must have an `episode_id`, got none",
        )
    return None


def _take(
    arrived: Arrived, number: int, waiting: OrderedDict[str | int, Open], problems: Problems
) -> Iterator[LoggedEpisode]:
    """Yield the episode that an event completes, if any; otherwise keep it."""
    event, raw = arrived
    if event.episode is None:
        yield from _finish([arrived], problems)
        return
    held = waiting.setdefault(event.episode, Open())
    if any(event.id == other.event.id for other in held.arrived):
        message = (
            f"an event must come once, got {event.id!r} of episode {event.episode!r} again; leave one out"
        )
        problems.add(Problem(raw.file, raw.line, "repeated-event", message), raw.text())
        return
    held.arrived.append(arrived)
    held.last = number
    waiting.move_to_end(event.episode)
    if event.steps == len(held.arrived):
        yield from _finish(waiting.pop(event.episode).arrived, problems)


def _finish(arrived: list[Arrived], problems: Problems) -> Iterator[LoggedEpisode]:
    """Yield the episode of some events, if they make one; tell what is wrong otherwise."""
    raw = arrived[0].raw
    record = assemble_episode([each.event for each in arrived], f"{Path(raw.file).name}:{raw.line}")
    fault = record if isinstance(record, Fault) else find_fault(record)
    if fault is None:
        assert not isinstance(record, Fault)
        yield episode_of(cast(EpisodeRecord, record), (raw.file, raw.line))
        return
    problems.add(Problem(raw.file, raw.line, *fault), b"\n".join(each.raw.text() for each in arrived))


def _step_of(event: Event, place: int) -> dict[str, Any]:
    state = event.state
    if state is None:
        state = event.context if place else FIRST_STATE
    return {"state": state, **event.step}


def _broken(events: Sequence[Event], reached: int) -> Fault:
    if not reached:
        return Fault(
            "broken-chain",
            f"an episode must have a first event, one without `previous_id`, got none for {events[0].episode!r}; its "
            "beginning is missing, or came more than --window events before",
        )
    return Fault(
        "broken-chain",
        f"the events of an episode must form one chain by `previous_id`, got {len(events)} for {events[0].episode!r}, "
        f"of which {reached} do; events are missing, or came more than --window events apart",
    )

"""Events of Vowpal Wabbit's decision service JSON (dsjson): written from logged episodes, and understood.

One event is one decision, one JSON object a line, as Vowpal Wabbit's log converter writes it and its `--dsjson` reads:

    {"_label_cost", "_label_probability", "_label_Action", "_labelIndex": what is learnt from, cost = -reward
     "o": [{"v": outcome, ...}] unless nobody reacted, "Timestamp", "Version": "1", "EventId",
     "a": action numbers from 1, the one taken first, "p": their probabilities,
     "c": {shared features, "_multi": [features of each action]}, "VWState": {"m": model}}

An episode is several events with one `episode_id`, each naming the one before it in `previous_id`: the names of the
multi-step events of Vowpal Wabbit's reinforcement learning client, at the top level, where they are not features. What
dsjson has no place for stands under `tacit`, which Vowpal Wabbit skips. `dsjson_joining` puts episodes together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.logs.record import Fault, is_number

FEEDBACK_FROM = ("outcome", "cost")
"""What may serve as feedback: the value of an outcome, or the cost."""
REWARD_FROM = ("none", "cost")
"""What may serve as reward: nothing, or -cost."""
FIRST_STATE = "start"
"""The state of an episode's first step, where events have features but no states."""
NO_FEATURES = "(none)"
"""The context of an event without shared features."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
"""How a time begins that dsjson takes for a timestamp."""


@dataclass(frozen=True)
class EventSettings:
    """How events are read: what is feedback, what is reward, and how many events an episode is waited for."""

    feedback_from: str = "outcome"
    reward_from: str = "none"
    window: int = 20_000

    def __post_init__(self) -> None:
        if self.feedback_from not in FEEDBACK_FROM:
            raise ValueError(f"feedback comes from one of {FEEDBACK_FROM}, got {self.feedback_from!r}")
        if self.reward_from not in REWARD_FROM:
            raise ValueError(f"a reward comes from one of {REWARD_FROM}, got {self.reward_from!r}")
        if self.window < 1:
            raise ValueError(f"the window must be at least 1 event, got {self.window}")


class Event(NamedTuple):
    """A decision as an event tells it: its place in an episode, the step, and what it says of the whole episode."""

    id: str | int | None
    episode: str | int | None
    """None: an episode of its own."""
    previous: str | int | None
    steps: int | None
    """How many events the episode has, where the event says so."""
    context: Any
    state: Any
    """None: the event has features but no state."""
    step: Mapping[str, Any]
    feedback: Any
    """None: silence."""
    outcomes: bool
    """Whether it has a list of outcomes, be it an empty one."""
    rest: Mapping[str, Any]
    """`time`, `user`, `reward` and `abandoned`, as far as known."""


def events_of(episode: LoggedEpisode, cost: float | None = None) -> Iterator[dict[str, Any]]:
    """Yield the events of an episode; without a cost, or without a probability, an event has no label to learn from.

    The cost stands in every event: a reward that comes at the end, summed from each step on (`suffix_sum` of Vowpal
    Wabbit's joiner). Of the actions not taken no probability is known: they share what is left.

    >>> steps = (LoggedStep("start", "ask", ("ask", "show"), 0.5), LoggedStep("asked", "book"))
    >>> first, last = events_of(LoggedEpisode("a7", "new", steps, "lovely"), cost=-1.0)
    >>> first["EventId"], first["a"], first["c"]["_multi"], first["_label_Action"]
    ('a7.1', [1, 2], [{'action': 'ask'}, {'action': 'show'}], 1)
    >>> last["previous_id"], last["o"], "_label_cost" in last
    ('a7.1', [{'v': 'lovely', 'EventId': 'a7.2', 'ActionTaken': False}], False)
    """
    n = len(episode.steps)
    for number, step in enumerate(episode.steps, 1):
        name = f"{episode.episode}.{number}"
        offered = [step.action] if step.actions is None else list(step.actions)
        chosen = offered.index(step.action)
        event: dict[str, Any] = _label(cost, step.probability, chosen)
        if number == n and episode.feedback is not None:
            event["o"] = [{"v": episode.feedback, "EventId": name, "ActionTaken": False}]
        if _is_moment(episode.time):
            event["Timestamp"] = episode.time
        event |= {"Version": "1", "EventId": name, "episode_id": episode.episode}
        if number > 1:
            event["previous_id"] = f"{episode.episode}.{number - 1}"
        event["a"] = [chosen + 1, *(k + 1 for k in range(len(offered)) if k != chosen)]
        event["c"] = _feature("context", episode.context) | _feature("state", step.state)
        event["c"]["_multi"] = [_feature("action", action) for action in offered]
        if step.probability is not None:
            event["p"] = _spread(step.probability, len(offered))
        yield event | {"VWState": {"m": "N/A"}, "tacit": _own(episode, step, number)}


def understand_event(record: Any, how: EventSettings) -> Event | Fault:
    """Return what an event tells, or the rule that it breaks.

    >>> understand_event({"a": [3], "c": {"_multi": [{"x": 1}]}, "p": [1.0]}, EventSettings()).rule
    'bad-action'
    """
    if not isinstance(record, dict) or not isinstance(record.get("c"), dict):
        return Fault("not-an-event", "a line must be an event, a JSON object with an object `c`; see --from")
    if record.get("_skipLearn") is True:
        return Fault(
            "not-activated", "an event must have taken place, got _skipLearn = true: nobody saw its action"
        )
    features, multi = record["c"], record["c"].get("_multi")
    if "_slots" in features:
        return Fault(
            "several-slots", "an event must decide one thing, got `_slots` (CCB, slates); split it by slot"
        )
    if not isinstance(multi, list) or not multi or not all(isinstance(item, dict) for item in multi):
        return Fault(
            "no-actions", "an event must offer actions: `_multi` in its `c`, a list of objects, got none"
        )
    chosen = _chosen(record, len(multi))
    if isinstance(chosen, Fault):
        return chosen
    own: Any = record.get("tacit") if isinstance(record.get("tacit"), dict) else {}
    plain = is_plain(features)
    names = [_value(item, "action") for item in multi] if plain else name_actions(multi)
    step = _step(record, names, chosen, plain, own)
    if isinstance(step, Fault):
        return step
    return Event(
        record.get("EventId"),
        record.get("episode_id"),
        record.get("previous_id"),
        own.get("steps"),
        _value(features, "context") if plain else features_value(features, NO_FEATURES),
        _value(features, "state") if plain else None,
        step,
        _feedback(record, how),
        isinstance(record.get("o"), list),
        _rest(record, how, own),
    )


def is_plain(features: Mapping[str, Any]) -> bool:
    """Return whether an event's `c` is of the form that Tacit writes: a context, a state, actions.

    >>> is_plain({"context": "new", "state": "start", "_multi": [{"action": "ask"}]}), is_plain({"_multi": [{}]})
    (True, False)
    """
    return features.keys() - {"_context", "_state"} == {"context", "state", "_multi"} and all(
        item.keys() - {"_action"} == {"action"} for item in features["_multi"]
    )


def name_actions(multi: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return a name for each action: its `_tag`, else its features, else its number.

    >>> name_actions([{"_tag": "tea", "hot": 1}, {"drink": {"id": "milk"}}, {"hot": 0.5}, {}])
    ['tea', 'drink.id=milk', {'hot': 0.5}, 'action 4']
    """
    return [
        item["_tag"] if isinstance(item.get("_tag"), str) else features_value(item, f"action {number}")
        for number, item in enumerate(multi, 1)
    ]


def features_value(features: Mapping[str, Any], otherwise: str) -> Any:
    """Return features as one value of the log format: an object if all are numbers, else text, by name.

    >>> features_value({"user": {"age": 41, "vip": True}, "_seen": 3}, "(none)")
    {'user.age': 41, 'user.vip': True}
    >>> features_value({"where": [{"weather": "sunny", "hour": 9}]}, "(none)")
    'where.hour=9, where.weather=sunny'
    """
    found = dict(sorted(_leaves(features, "")))
    if not found:
        return otherwise
    if all(map(is_number, found.values())):
        return found
    return ", ".join(f"{name}={value}" for name, value in found.items())


def _feature(name: str, value: Any) -> dict[str, Any]:
    """Return a value as Vowpal Wabbit should see it: a whole number is a label, not a quantity.

    The number itself stands beside it under a name that begins with _, which Vowpal Wabbit skips.
    """
    return {name: str(value), f"_{name}": value} if isinstance(value, int) else {name: value}


def _value(features: Mapping[str, Any], name: str) -> Any:
    return features.get(f"_{name}", features[name])


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield names and values of features; those whose name begins with _ are none, as in Vowpal Wabbit."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not key.startswith("_") or key == "_text":
                yield from _leaves(item, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, name if isinstance(item, dict) else f"{name}.{place}")
    elif value is not None:
        yield name, value


def _chosen(record: Mapping[str, Any], n: int) -> int | Fault:
    """Return which action, from 1, was taken: the labelled one, else the first of the ranking."""
    ranking = record.get("a")
    first = ranking[0] if isinstance(ranking, list) and ranking else None
    chosen, index = record.get("_label_Action", first), record.get("_labelIndex")
    if type(chosen) is not int or not 1 <= chosen <= n:
        return Fault(
            "bad-action",
            f"the action taken (`_label_Action`, else `a`) must be a number from 1 to {n}, got {chosen!r}",
        )
    if index is not None and index != chosen - 1:
        return Fault(
            "bad-action", f"`_labelIndex` must be one less than the action taken, {chosen}, got {index!r}"
        )
    return chosen


def _step(
    record: Mapping[str, Any], names: list[Any], chosen: int, plain: bool, own: Mapping[str, Any]
) -> dict[str, Any] | Fault:
    """Return a step without its state. Actions of one name are one action: their probabilities add up."""
    action = names[chosen - 1]
    step: dict[str, Any] = {"action": action}
    if own.get("offered") is not False:
        step["actions"] = names if plain else _different(names)
    ranking, chances = record.get("a"), record.get("p")
    if chances is None or not isinstance(ranking, list) or chosen not in ranking:
        p = record.get("_label_probability")
        return step if p is None else step | {"probability": p}
    if not isinstance(chances, list) or len(chances) != len(ranking) or not all(map(is_number, chances)):
        return Fault(
            "bad-probability", f"`p` must hold a number for each of {len(ranking)} actions, got {chances!r}"
        )
    if not all(type(k) is int and 1 <= k <= len(names) for k in ranking):
        return Fault(
            "bad-action", f"`a` must hold numbers of actions from 1 to {len(names)}, got {ranking!r}"
        )
    if plain:
        return step | {"probability": chances[ranking.index(chosen)]}
    same = [p for k, p in zip(ranking, chances, strict=True) if names[k - 1] == action]
    return step | {"probability": same[0] if len(same) == 1 else min(sum(same), 1.0)}


def _different(names: list[Any]) -> list[Any]:
    found: list[Any] = []
    for name in names:
        if name not in found:
            found.append(name)
    return found


def _feedback(record: Mapping[str, Any], how: EventSettings) -> Any:
    """Return the first outcome that has a value, as `earliest` of Vowpal Wabbit's joiner does; or the cost.

    None, silence, where there is none.
    """
    if how.feedback_from == "cost":
        cost: Any = record.get("_label_cost")
        return cost + 0.0 if is_number(cost) else cost  # + 0.0: -0.0 is 0.0
    outcomes = record.get("o")
    for outcome in outcomes if isinstance(outcomes, list) else ():
        if (
            isinstance(outcome, dict)
            and outcome.get("v") is not None
            and outcome.get("ActionTaken") is not True
        ):
            return outcome["v"]
    return None


def _rest(record: Mapping[str, Any], how: EventSettings, own: Mapping[str, Any]) -> dict[str, Any]:
    rest = {
        "time": own.get("time", record.get("Timestamp")),
        "user": own.get("user"),
        "reward": own.get("reward"),
        "abandoned": own.get("abandoned"),
    }
    if how.reward_from == "cost":
        cost: Any = record.get("_label_cost")
        rest["reward"] = 0.0 - cost if is_number(cost) else cost
    return {key: value for key, value in rest.items() if value is not None}


def _label(cost: float | None, p: float | None, chosen: int) -> dict[str, Any]:
    if cost is None or p is None:
        return {}
    return {
        "_label_cost": cost,
        "_label_probability": p,
        "_label_Action": chosen + 1,
        "_labelIndex": chosen,
    }


def _own(episode: LoggedEpisode, step: LoggedStep, number: int) -> dict[str, Any]:
    """Return what dsjson has no place for; what is said of the episode, in its first event."""
    own: dict[str, Any] = {"steps": len(episode.steps)}
    if step.actions is None:
        own["offered"] = False
    if number == 1:
        time = None if _is_moment(episode.time) else episode.time
        rest = {"time": time, "user": episode.user, "reward": episode.reward}
        rest["abandoned"] = True if episode.abandoned else None
        own |= {key: value for key, value in rest.items() if value is not None}
    return own


def _is_moment(time: Any) -> bool:
    return isinstance(time, str) and MOMENT.match(time) is not None


def _spread(p: float, n: int) -> list[float]:
    return [p, *([(1 - p) / (n - 1)] * (n - 1) if n > 1 else [])]

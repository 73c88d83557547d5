"""The contract of an agent, as a list of checks that every agent and baseline passes.

    for check in CHECKS:
        check(make, source)

`make(seed)` returns a fresh agent, `source` an episode source for it (`GymSource`). A check raises `ContractError` with
the rule that was broken. To extend Tacit, run them on what you wrote.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.agent import Agent
from tacit.base.changes import commit
from tacit.base.checkpoint import save_tree
from tacit.learning.episode import Episode
from tacit.problem.records import Record, Space, Text
from tacit.problem.spaces import Finite
from tacit.simulate import Source

MakeAgent = Callable[[int], Agent]
LoadAgent = Callable[[Path], Agent]
EPISODES = 60
"""Episodes a check plays: enough to leave the first stage of a small agent, few enough to be quick."""
OPEN = 50
"""Episodes that are open at once in the check of interleaving."""


class ContractError(AssertionError):
    """A rule of the agent contract was broken; the message says which."""


class Entry(NamedTuple):
    """One episode as a driver saw it: `shown` holds what each act was called with, state first."""

    context: Any
    shown: list[tuple[Any, ...]]
    feedback: Any
    actions: list[Any]


class Log:
    """What a driver saw and told: contexts, states and feedback of some episodes, to be played again."""

    def __init__(self, source: Source, agent: Agent, seed: int, episodes: int) -> None:
        self.entries: list[Entry] = []
        for n in range(episodes):
            episode, entry = play_out(agent, source, seed, n)
            agent.end(episode, entry.feedback)
            self.entries.append(entry)


def check_planning_never_learns(make: MakeAgent, source: Source) -> None:
    """Raise unless begin and act leave what was learned as it was."""
    agent = make(0)
    Log(source, agent, 0, EPISODES)
    context, state = source.begin(1, 0)
    before = learned(agent)
    episode = agent.begin(context)
    agent.act(episode, state, *source.offer)
    require(learned(agent) == before, "begin and act must not learn: only end may change the stage")


def check_act_repeats(make: MakeAgent, source: Source) -> None:
    """Raise unless asking again for the same state gives the same action and no further step."""
    agent = make(0)
    context, state = source.begin(0, 0)
    episode, steps = agent.begin(context), 0
    while state is not None:
        answers = [agent.act(episode, state, *source.offer) for _ in range(20)]
        steps += 1
        require(len(set(answers)) == 1, f"act must repeat its answer for the same state, got {answers}")
        require(len(episode.actions) == steps, "a repeated act must not take another step")
        state = source.step(answers[0])


def check_seed_decides(make: MakeAgent, source: Source) -> None:
    """Raise unless equal seeds give equal actions and equal files, and replaying a log gives the log."""
    agent, twin = make(3), make(3)
    log = Log(source, agent, 0, EPISODES)
    replayed = [replay(twin, entry) for entry in log.entries]
    require(replayed == [entry.actions for entry in log.entries], "a log must replay to the same actions")
    require(saved(agent) == saved(twin), "equally seeded agents with the same log must save the same file")


def check_interleaving_changes_nothing(make: MakeAgent, source: Source) -> None:
    """Raise unless episodes that are open at once act as they would one by one."""
    agent, twin = make(0), make(0)
    order = np.random.default_rng(0)
    for one in (agent, twin):
        Log(source, one, 0, EPISODES)
    played_plainly = [play_out(agent, source, 1, n) for n in range(OPEN)]
    plain = [episode for episode, _ in played_plainly]
    mixed = [twin.begin(entry.context) for _, entry in played_plainly]
    for n in order.permutation(np.repeat(np.arange(OPEN), len(plain[0].actions))):
        shown = played_plainly[n][1].shown
        twin.act(mixed[n], *shown[len(mixed[n].actions)])
    same = [one.actions == other.actions for one, other in zip(plain, mixed, strict=True)]
    require(all(same), f"interleaving must not change actions, it did in {same.count(False)} of {OPEN}")


def check_feedback_in_any_order(make: MakeAgent, source: Source) -> None:
    """Raise unless late feedback is taken in any order, twice if equal, and refused if it differs."""
    agent = make(0)
    finished = [play_out(agent, source, 0, n) for n in range(10)]
    for n in np.random.default_rng(0).permutation(10):
        agent.end(finished[n][0], finished[n][1].feedback)
    before, first = saved(agent), finished[0][1].feedback
    agent.end(finished[0][0], first)
    require(saved(agent) == before, "ending twice with the same feedback must change nothing")
    other = different_feedback(agent, first)
    refuses("ending twice with other feedback", agent, lambda: agent.end(finished[0][0], other))


def check_learning_is_committed(make: MakeAgent, source: Source) -> None:
    """Raise unless a stage leaves it to the agent to write down what it learns, and that may be done twice."""
    agent = make(0)
    for n in range(EPISODES):
        episode, entry = play_out(agent, source, 0, n)
        if n % 7 == 0:
            before, told = learned(agent), agent.world.read_feedback(entry.feedback)
            lesson = agent.stage.learn(episode, told)
            require(learned(agent) == before, "learn must change nothing itself: it returns what will change")
            agent.end(episode, entry.feedback)
            once = learned(agent)
            commit(lesson.changes)
            require(learned(agent) == once, "changes that are made twice must be those made once")
        else:
            agent.end(episode, entry.feedback)


def check_missing_feedback(make: MakeAgent, source: Source) -> None:
    """Raise unless an abandoned episode is closed, at any step, and leaves no trace among the open ones."""
    agent = make(0)
    Log(source, agent, 0, EPISODES)
    context, state = source.begin(0, 0)
    agent.abandon(agent.begin(context))
    episode = agent.begin(context)
    agent.act(episode, state, *source.offer)
    agent.abandon(episode)
    finished, entry = play_out(agent, source, 0, 1)
    agent.abandon(finished)
    require(not agent.open_episodes, "an abandoned episode must not stay open")
    refuses("feedback for an abandoned episode", agent, lambda: agent.end(finished, entry.feedback))


def check_silence_is_feedback(make: MakeAgent, source: Source) -> None:
    """Raise unless silence ends an episode as any feedback does, once, or is refused and leaves it open."""
    agent = make(0)
    (silent, entry), (spoken, other) = (play_out(agent, source, 0, n) for n in range(2))
    agent.end(spoken, other.feedback)
    refuses("silence after feedback", agent, lambda: agent.end(spoken, None))
    try:
        agent.end(silent, None)
    except ValueError:
        require(silent.open, "silence that is refused, as among vectors, must leave the episode open")
        return
    before = saved(agent)
    agent.end(silent, None)
    require(saved(agent) == before, "silence told twice must change nothing")
    refuses("feedback after silence", agent, lambda: agent.end(silent, entry.feedback))


def check_refusals(make: MakeAgent, source: Source) -> None:
    """Raise unless everything out of order is refused with a ValueError and changes nothing."""
    agent, unknown = make(0), object()
    first = play_out(agent, source, 0, 0)[1]
    agent = make(0)
    episode, start = agent.begin(first.context), first.shown[0]
    refuses("an unknown context", agent, lambda: agent.begin(unknown))
    refuses("an unknown state", agent, lambda: agent.act(episode, unknown, *start[1:]))
    if len(first.shown) > 1:
        for what, shown in wrong_first_steps(agent, first).items():
            refuses(what, agent, partial(agent.act, episode, *shown))
    refuses("feedback before the last step", agent, lambda: agent.end(episode, first.feedback))
    for shown in first.shown:
        agent.act(episode, *shown)
    refuses("unknown feedback", agent, lambda: agent.end(episode, unknown))
    if len(first.shown) > 1:
        refuses("acting after the last step", agent, lambda: agent.act(episode, *start))
    agent.end(episode, first.feedback)
    _check_strangers(agent, make(1), first)


def _check_strangers(agent: Agent, other: Agent, entry: Entry) -> None:
    stranger = other.begin(entry.context)
    other.act(stranger, *entry.shown[0])
    refuses("acting in another agent's episode", agent, lambda: agent.act(stranger, *entry.shown[0]))
    refuses("ending another agent's episode", agent, lambda: agent.end(stranger, entry.feedback))
    other.abandon(stranger)
    refuses("abandoning another agent's episode", agent, lambda: agent.abandon(stranger))


def check_save_and_load(make: MakeAgent, source: Source, load: LoadAgent = Agent.load) -> None:
    """Raise unless an agent that is saved and loaded on the way acts and ends as one that never was."""
    agent, stopped = make(5), make(5)
    log = Log(source, agent, 0, EPISODES)
    for n, entry in enumerate(log.entries):
        if n % 7 == 0:
            with tempfile.TemporaryDirectory() as folder:
                stopped.save(Path(folder) / "agent")
                stopped = load(Path(folder) / "agent")
        require(
            replay(stopped, entry) == entry.actions, f"a loaded agent must act as the saved one, episode {n}"
        )
    require(saved(stopped) == saved(agent), "saving and loading on the way must not change the final file")


CHECKS: Sequence[Callable[[MakeAgent, Source], None]] = (
    check_planning_never_learns,
    check_act_repeats,
    check_seed_decides,
    check_interleaving_changes_nothing,
    check_feedback_in_any_order,
    check_learning_is_committed,
    check_missing_feedback,
    check_silence_is_feedback,
    check_refusals,
)
"""The checks that need a way to make the agent; `check_save_and_load` may need a way to load it too."""


def require(holds: bool, rule: str) -> None:
    """Raise ContractError with the rule unless it holds."""
    if not holds:
        raise ContractError(rule)


def refuses(what: str, agent: Agent, call: Callable[[], object]) -> None:
    """Raise ContractError unless `call` raises ValueError and leaves the agent as it was."""
    before = saved(agent)
    try:
        call()
    except ValueError:
        require(saved(agent) == before, f"refusing {what} must leave the agent as it was")
    else:
        raise ContractError(f"{what} must be refused with a ValueError")


def saved(agent: Agent) -> bytes:
    """Return the file that the agent saves."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent"
        agent.save(path)
        return path.read_bytes()


def learned(agent: Agent) -> bytes:
    """Return what the agent's stage has learned, as it would be saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stage"
        save_tree(path, "stage", {"name": agent.stage.name, "state": agent.stage.to_state()})
        return path.read_bytes()


def play_out(agent: Agent, source: Source, seed: int, number: int) -> tuple[Episode, Entry]:
    """Play an episode to its last action; return its handle and the entry, whose feedback it has not been told."""
    context, state = source.begin(seed, number)
    episode = agent.begin(context)
    shown: list[tuple[Any, ...]] = []
    actions: list[Any] = []
    while state is not None:
        shown.append((state, *source.offer))
        actions.append(agent.act(episode, *shown[-1]))
        state = source.step(actions[-1])
    return episode, Entry(context, shown, source.feedback, actions)


def replay(agent: Agent, entry: Entry) -> list[Any]:
    """Play a logged episode again; return the agent's actions."""
    episode = agent.begin(entry.context)
    actions = [agent.act(episode, *shown) for shown in entry.shown]
    agent.end(episode, entry.feedback)
    return actions


def wrong_first_steps(agent: Agent, entry: Entry) -> dict[str, tuple[Any, ...]]:
    """Return what must be refused as a first step: a later state, or candidates that are none."""
    if entry.shown[0][1:]:
        return {
            "no candidates": (entry.shown[0][0], ()),
            "a candidate twice": (entry.shown[0][0], ("a", "a")),
        }
    return {"a state of a later layer": (agent.layout.endings.labels[0],)}


def different_feedback(agent: Agent, feedback: Any) -> Any:
    """Return feedback that the agent takes and that is not `feedback`."""
    if isinstance(feedback, str):
        return feedback + " Or so."
    return _another(agent.layout.feedback, feedback)


def _another(space: Space, value: Any) -> Any:
    """Return another value of a space; of a record, one with another first field."""
    if isinstance(space, Record):
        name, first = next(iter(space.fields.items()))
        return {**value, name: _another(first, value[name])}
    if isinstance(space, Finite):
        return next(label for label in space.labels if label != value)
    return f"{value} Or so." if isinstance(space, Text) else [float(each) + 1.0 for each in np.ravel(value)]

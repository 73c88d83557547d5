"""The contract of an agent, as a list of checks that every agent and baseline passes.

    for check in CHECKS:
        check(make, source)

`make(seed)` returns a fresh agent, `source` an episode source for it (`GymSource`). A check raises
`ContractError` with the rule that was broken. To extend Tacit, run them on what you wrote.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.agent import Agent
from tacit.checkpoint import save_tree
from tacit.envs.gym_adapter import GymSource
from tacit.stage import Episode

MakeAgent = Callable[[int], Agent]
LoadAgent = Callable[[Path], Agent]
EPISODES = 60
"""Episodes a check plays: enough to leave the first stage of a small agent, few enough to be quick."""
OPEN = 50
"""Episodes that are open at once in the check of interleaving."""


class ContractError(AssertionError):
    """A rule of the agent contract was broken; the message says which."""


class Log:
    """What a driver saw and told: contexts, states and feedback of some episodes, to be played again."""

    def __init__(self, source: GymSource, agent: Agent, seed: int, episodes: int) -> None:
        self.entries: list[tuple[Any, list[Any], Any, list[Any]]] = []
        for n in range(episodes):
            context, state = source.begin(seed, n)
            episode, states, actions = agent.begin(context), [], []
            while state is not None:
                states.append(state)
                actions.append(agent.act(episode, state))
                state = source.step(actions[-1])
            agent.end(episode, source.feedback)
            self.entries.append((context, states, source.feedback, actions))


def check_planning_never_learns(make: MakeAgent, source: GymSource) -> None:
    """Raise unless begin and act leave what was learned as it was."""
    agent = make(0)
    Log(source, agent, 0, EPISODES)
    context, state = source.begin(1, 0)
    before = learned(agent)
    episode = agent.begin(context)
    agent.act(episode, state)
    require(learned(agent) == before, "begin and act must not learn: only end may change the stage")


def check_act_repeats(make: MakeAgent, source: GymSource) -> None:
    """Raise unless asking again for the same state gives the same action and no further step."""
    agent = make(0)
    context, state = source.begin(0, 0)
    episode, steps = agent.begin(context), 0
    while state is not None:
        answers = [agent.act(episode, state) for _ in range(20)]
        steps += 1
        require(len(set(answers)) == 1, f"act must repeat its answer for the same state, got {answers}")
        require(len(episode.actions) == steps, "a repeated act must not take another step")
        state = source.step(answers[0])


def check_seed_decides(make: MakeAgent, source: GymSource) -> None:
    """Raise unless equal seeds give equal actions and equal files, and replaying a log gives the log."""
    agent, twin = make(3), make(3)
    log = Log(source, agent, 0, EPISODES)
    replayed = [replay(twin, entry) for entry in log.entries]
    require(replayed == [entry[3] for entry in log.entries], "a log must replay to the same actions")
    require(saved(agent) == saved(twin), "equally seeded agents with the same log must save the same file")


def check_interleaving_changes_nothing(make: MakeAgent, source: GymSource) -> None:
    """Raise unless episodes that are open at once act as they would one by one."""
    agent, twin = make(0), make(0)
    order = np.random.default_rng(0)
    for one in (agent, twin):
        Log(source, one, 0, EPISODES)
    contexts = [source.begin(1, n)[0] for n in range(OPEN)]
    paths = [[layer[int(order.integers(len(layer)))] for layer in agent.layout.states] for _ in range(OPEN)]
    plain = [agent.begin(context) for context in contexts]
    mixed = [twin.begin(context) for context in contexts]
    for episode, path in zip(plain, paths, strict=True):
        for state in path:
            agent.act(episode, state)
    for n in order.permutation(np.repeat(np.arange(OPEN), len(paths[0]))):
        twin.act(mixed[n], paths[n][len(mixed[n].actions)])
    same = [one.actions == other.actions for one, other in zip(plain, mixed, strict=True)]
    require(all(same), f"interleaving must not change actions, it did in {same.count(False)} of {OPEN}")


def check_feedback_in_any_order(make: MakeAgent, source: GymSource) -> None:
    """Raise unless late feedback is taken in any order, twice if equal, and refused if it differs."""
    agent = make(0)
    finished = [played(agent, source, n) for n in range(10)]
    for n in np.random.default_rng(0).permutation(10):
        agent.end(*finished[n])
    before = saved(agent)
    agent.end(*finished[0])
    require(saved(agent) == before, "ending twice with the same feedback must change nothing")
    other = different_feedback(agent, finished[0][1])
    refuses("ending twice with other feedback", agent, lambda: agent.end(finished[0][0], other))


def check_missing_feedback(make: MakeAgent, source: GymSource) -> None:
    """Raise unless an abandoned episode is closed, at any step, and leaves no trace among the open ones."""
    agent = make(0)
    Log(source, agent, 0, EPISODES)
    context, state = source.begin(0, 0)
    agent.abandon(agent.begin(context))
    episode = agent.begin(context)
    agent.act(episode, state)
    agent.abandon(episode)
    finished, feedback = played(agent, source, 1)
    agent.abandon(finished)
    require(not agent.open_episodes, "an abandoned episode must not stay open")
    refuses("feedback for an abandoned episode", agent, lambda: agent.end(finished, feedback))


def check_refusals(make: MakeAgent, source: GymSource) -> None:
    """Raise unless everything out of order is refused with a ValueError and changes nothing."""
    agent = make(0)
    context, first = source.begin(0, 0)
    episode = agent.begin(context)
    unknown = "no such label"
    refuses("an unknown context", agent, lambda: agent.begin(unknown))
    refuses("an unknown state", agent, lambda: agent.act(episode, unknown))
    if agent.layout.horizon > 1:
        late = agent.layout.states[-1][0]
        refuses("a state of a later layer", agent, lambda: agent.act(episode, late))
    feedback = any_feedback(agent)
    refuses("feedback before the last step", agent, lambda: agent.end(episode, feedback))
    for layer in agent.layout.states:
        agent.act(episode, layer[0])
    refuses("unknown feedback", agent, lambda: agent.end(episode, unknown))
    if agent.layout.horizon > 1:
        refuses("acting after the last step", agent, lambda: agent.act(episode, first))
    agent.end(episode, feedback)
    other = make(1)
    stranger = other.begin(context)
    other.act(stranger, first)
    refuses("acting in another agent's episode", agent, lambda: agent.act(stranger, first))
    refuses("ending another agent's episode", agent, lambda: agent.end(stranger, feedback))
    other.abandon(stranger)
    refuses("abandoning another agent's episode", agent, lambda: agent.abandon(stranger))


def check_save_and_load(make: MakeAgent, source: GymSource, load: LoadAgent = Agent.load) -> None:
    """Raise unless an agent that is saved and loaded on the way acts and ends as one that never was."""
    agent, stopped = make(5), make(5)
    log = Log(source, agent, 0, EPISODES)
    for n, entry in enumerate(log.entries):
        if n % 7 == 0:
            with tempfile.TemporaryDirectory() as folder:
                stopped.save(Path(folder) / "agent")
                stopped = load(Path(folder) / "agent")
        require(replay(stopped, entry) == entry[3], f"a loaded agent must act as the saved one, episode {n}")
    require(saved(stopped) == saved(agent), "saving and loading on the way must not change the final file")


CHECKS: Sequence[Callable[[MakeAgent, GymSource], None]] = (
    check_planning_never_learns,
    check_act_repeats,
    check_seed_decides,
    check_interleaving_changes_nothing,
    check_feedback_in_any_order,
    check_missing_feedback,
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


def replay(agent: Agent, entry: tuple[Any, list[Any], Any, list[Any]]) -> list[Any]:
    """Play a logged episode again; return the agent's actions."""
    context, states, feedback, _ = entry
    episode = agent.begin(context)
    actions = [agent.act(episode, state) for state in states]
    agent.end(episode, feedback)
    return actions


def played(agent: Agent, source: GymSource, number: int) -> tuple[Episode, Any]:
    """Play an episode to its last action; return it with the feedback that it has not been told."""
    context, state = source.begin(0, number)
    episode = agent.begin(context)
    while state is not None:
        state = source.step(agent.act(episode, state))
    return episode, source.feedback


def any_feedback(agent: Agent) -> Any:
    """Return some feedback that the agent's layout knows."""
    space = agent.layout.feedback
    return space.decode(0) if hasattr(space, "labels") else [0.0] * space.dimension


def different_feedback(agent: Agent, feedback: Any) -> Any:
    """Return feedback that the agent's layout knows and that is not `feedback`."""
    space = agent.layout.feedback
    if hasattr(space, "labels"):
        return next(label for label in space.labels if label != feedback)
    return [float(value) + 1.0 for value in feedback]

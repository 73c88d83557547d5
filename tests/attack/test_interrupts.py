"""Ctrl-C at any line of `begin`, `act`, `end`, `abandon` and `save`: given again, the call ends as if nothing had been.

A `begin` that is interrupted after it has counted its episode cannot hand it over: the agent then holds it among its
open episodes, whole, and the next `begin` gives the next one. Either is right; an agent that is neither is not.
"""

import functools
import warnings
from pathlib import Path

import numpy as np
from attack_subjects import learner_of
from campaign import FACTOR, SEED, changed, listed, lost, scaled
from interrupting import interrupt, lines_of

from tacit.agent import Agent
from tacit.checks import play_out, saved

PLAYED = {
    "tacit_fast": 45,
    "tacit": 40,
    "last_step_igl": 14,
    "feedback_as_reward": 4,
    "uniform": 2,
    "text": 43,
}
"""Episodes that each learner plays: enough to pass through all of its stages."""
MANY, MOST, LONG = 12, 4, 1500
"""Lines at which a call is interrupted; of one that runs more lines than `LONG`, and so takes long, fewer."""


@functools.cache
def stations(name):
    """Return the agent's file before the end of each episode, with what it needs to go on, and its stage afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent, source, _ = learner_of(name)
        found = []
        for number in range(PLAYED[name]):
            episode, entry = play_out(agent, source, 0, number)
            before, stage = saved(agent), agent.stage.name
            agent.end(episode, entry.feedback)
            found.append((before, episode.id, entry, stage, agent.stage.name))
        return found


def chosen(name):
    """Return the stations that differ: the first of each stage, the last before the next, and the last of all."""
    passed = stations(name)
    stages = [stage for _, _, _, stage, _ in passed]
    first = {stages.index(stage) for stage in stages}
    brink = {number for number, (*_, stage, after) in enumerate(passed) if stage != after}
    return sorted(first | brink | {len(passed) - 1})


def prepare(call, station, path):
    """Return an agent, and what is called on it: an episode that is acted in has begun before."""
    Path(path).write_bytes(station[0])
    agent, (_, number, entry, _, _) = Agent.load(path), station
    episode = agent.begin(entry.context) if call == "act" else agent.episode(number)
    return agent, {
        "begin": lambda: agent.begin(entry.context),
        "act": lambda: agent.act(episode, *entry.shown[0]),
        "end": lambda: agent.end(episode, entry.feedback),
        "abandon": lambda: agent.abandon(episode),
        "save": lambda: agent.save(path),
    }[call]


def cases(path):
    """Yield (words, (learner, station, call, line)) for every line, or for some where there are many."""
    for name in PLAYED:
        for number in chosen(name):
            for call in ("begin", "act", "end", "abandon"):
                yield from places_in(path, name, number, call)


def places_in(path, name, number, call):
    station = stations(name)[number]
    _, made = prepare(call, station, path)
    total = lines_of(made)
    most = round((MANY if total < LONG else MOST) * FACTOR)
    chance = np.random.default_rng([SEED, number, total])
    lines = range(1, total + 1) if total <= most else np.sort(chance.choice(total, most, replace=False)) + 1
    for line in lines:
        words = f"{name} in {station[3]!r}, episode {number}, {call} at line event {line} of {total}"
        yield words, (name, number, call, int(line))


@functools.cache
def undisturbed(name, number, call, path):
    """Return what a call that nobody interrupts returns and leaves behind."""
    agent, made = prepare(call, stations(name)[number], path)
    return answer(made()), saved(agent)


def answer(result):
    return result if isinstance(result, str | int | None) else None


def test_an_interrupted_call_can_be_given_again(attack, tmp_path):
    path = str(tmp_path / "agent")

    def judge(given):
        name, number, call, line = given
        agent, made = prepare(call, stations(name)[number], path)
        before = saved(agent)
        place = interrupt(made, line).place
        if call == "begin":
            judge_begin(agent, before, undisturbed(name, number, call, path)[1], place)
            return
        said = answer(made())
        expected, left = undisturbed(name, number, call, path)
        if said != expected:
            raise changed(f"{call}, interrupted at {place}, then gives {said!r}, undisturbed {expected!r}")
        if saved(agent) != left:
            raise changed(
                f"{call}, interrupted at {place} and given again, leaves another agent than one call"
            )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        attack("agents, interrupts", listed(cases(path)), judge)


def judge_begin(agent, before, after, place):
    now = saved(agent)
    if now not in (before, after):
        raise changed(f"begin, interrupted at {place}, leaves an agent that has neither begun nor not")
    if now == before:
        agent.begin(agent.open_episodes[0].context)


def test_an_interrupted_save_leaves_the_old_file_or_the_new(attack, tmp_path):
    path = tmp_path / "agent"

    def judge(given):
        name, number, line = given
        agent, made = prepare("save", stations(name)[number], path)
        old = path.read_bytes()
        agent.begin(stations(name)[number][2].context)
        interrupt(made, line)
        if path.read_bytes() not in (old, saved(agent)):
            raise lost("the file is neither the old nor the new")
        if left := [file.name for file in tmp_path.iterdir() if file != path]:
            raise lost(f"files are left: {left}")

    def inputs():
        for name in ("tacit_fast", "text"):
            _, made = prepare("save", stations(name)[-1], path)
            total = lines_of(made)
            for line in np.unique(np.linspace(1, total, min(total, scaled(50))).astype(int)):
                yield f"{name}, save at line event {line}", (name, len(stations(name)) - 1, line)

    attack("agents, interrupts while saving", listed(inputs()), judge)


def test_control_every_stage_is_interrupted():
    found = {stations(name)[number][3] for name in PLAYED for number in chosen(name)}
    assert found >= {"homing", "collection", "policy learning", "fast learning", "exploration"}
    assert found >= {"uniform", "feedback as reward", "last-step exploration", "last-step igl"}

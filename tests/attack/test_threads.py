"""Several threads on one agent: every episode has an id of its own and counts once, and what is saved is whole."""

import functools
import sys
import threading
import warnings
from collections import Counter
from contextlib import contextmanager

import numpy as np
from attack_subjects import learner_of
from campaign import SEED, drawn, listed, locate, lost, raw, scaled

from tacit.agent import KIND, Agent
from tacit.base.checkpoint import load_tree

THREADS = 4
EPISODES = 120
SAVES = 25
NAMES = ("tacit_fast", "tacit", "feedback_as_reward", "last_step_igl", "uniform", "text", "text uniform")


@contextmanager
def many_switches():
    """Let threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(work):
    """Run `work(number)` in several threads at once; nothing that they do may be refused."""
    start, raised = threading.Barrier(THREADS), []

    def run(number):
        start.wait()
        try:
            work(number)
        except BaseException as error:  # whatever it is, the judge has to see it
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(THREADS)]
    with many_switches():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if raised:
        raise raw(f"in one of {THREADS} threads: {locate(raised[0])}")


def play(agent, chance, episodes, glance=lambda number: None):
    """Play episodes with states and feedback as they come; return ids, and how many were ended."""
    ids, ended = [], 0
    for number in range(episodes):
        episode = agent.begin(draw_context(agent, chance))
        ids.append(episode.id)
        for step in range(agent.world.horizon):
            agent.act(episode, *draw_shown(agent, episode, step, chance))
        if chance.random() < 0.1:
            agent.abandon(episode)
        else:
            agent.end(episode, draw_feedback(agent, chance))
            ended += 1
        glance(number)
    return ids, ended


def draw_context(agent, chance):
    return "some paint" if is_text(agent) else agent.layout.contexts.labels[chance.integers(2)]


def draw_shown(agent, episode, step, chance):
    if is_text(agent):
        return "red please" if step else "some paint", ("red paint", "blue paint", "how are you", "a brush")
    layer = agent.layout.states[step]
    return (layer[chance.integers(len(layer))],)


def draw_feedback(agent, chance):
    return str(chance.choice(["lovely", "wrong"])) if is_text(agent) else int(chance.integers(2))


def is_text(agent):
    return agent.world.name != "layered"


def taught(path):
    """Return how many transitions a saved agent has counted, or reactions; None where a stage forgets them."""
    tree = load_tree(path, KIND)
    state = tree["stage_state"]
    if tree["stage"] == "fast learning":
        return int(state["dynamics"]["counts"].sum())
    if tree["stage"] == "feedback as reward":
        return int(state["learner"]["dynamics"]["counts"].sum())
    return len(state["reactions"]) if tree["stage"] == "exploration" else None


@functools.cache
def new_agent(name):
    return learner_of(name)[0]


def judge_play(folder, given):
    name, glances, seed = given
    agent, played = learner_of(name)[0], [([], 0)] * THREADS

    def glance(number):
        if not glances:
            return
        if number % 40 == 7:
            agent.diagnose()
            agent.save(folder / "agent")
        elif number % 40 == 27 and not is_text(agent):
            agent.policy(agent.layout.contexts.labels[0])

    def work(number):
        chance = np.random.default_rng([SEED, seed, number])
        played[number] = play(agent, chance, EPISODES, glance)

    together(work)
    agent.save(folder / "agent")
    check_counted(folder, agent, played)


def check_counted(folder, agent, played):
    """Raise unless ids are unique, nothing is open, and every episode was counted once."""
    ids = Counter(number for numbers, _ in played for number in numbers)
    twice = [number for number, times in ids.items() if times > 1]
    if twice:
        raise lost(f"{len(twice)} ids were given twice")
    if agent.next_episode != len(ids) or agent.open_episodes:
        raise lost(f"{len(ids)} began, next is {agent.next_episode}, open {len(agent.open_episodes)}")
    Agent.load(folder / "agent")
    counted, ended = taught(folder / "agent"), sum(n for _, n in played)
    expected = ended if is_text(agent) else len(ids) * (agent.world.horizon - 1)
    if counted is not None and counted != expected:
        raise lost(f"{counted} of {expected} transitions or reactions counted")


def draw(chance):
    name = NAMES[chance.integers(len(NAMES))]
    return name, (name, int(chance.integers(1 << 30)))


def test_agents_under_threads_count_every_episode_once(attack, tmp_path):
    inputs = [
        (f"{name}{', watched and saved' if glances else ''}", (name, glances, seed))
        for seed in range(scaled(1))
        for name in NAMES
        for glances in (False, True)
    ]
    attack("agents, threads", listed(inputs), lambda given: judge_play(tmp_path, given), seconds=60)


def test_threads_that_save_to_one_path_leave_a_whole_file(attack, tmp_path):
    def judge(given):
        agent, path = given[1], tmp_path / "one"

        def work(number):
            for _ in range(SAVES):
                agent.save(path)
                Agent.load(path)

        together(work)
        if left := [file.name for file in tmp_path.iterdir() if file != path]:
            raise lost(f"files are left: {left}")

    inputs = drawn(3, lambda chance: (words := draw(chance)[0], (words, new_agent(words))))
    attack("agents, threads saving", inputs, judge, seconds=60)


def test_control_one_thread_counts_every_episode_once(tmp_path):
    for name in NAMES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            agent = learner_of(name)[0]
            played = [play(agent, np.random.default_rng([SEED, n]), 30) for n in range(2)]
        agent.save(tmp_path / "agent")
        check_counted(tmp_path, agent, played)

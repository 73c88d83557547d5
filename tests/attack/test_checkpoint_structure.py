"""Whole files with wrong content: refused when they are loaded, or agents and models that work.

What works plays, learns, diagnoses itself and saves; what it says is finite, and so is what it keeps. Counts are never
negative. A file with one more key than Tacit wrote may be refused or taken.
"""

import functools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from attack_subjects import AGENTS, MODELS, load_subject, shop_episodes, subject_file, table_episodes
from campaign import changed, drawn
from tree_damage import find_unsound, mutate

from tacit.agent import KIND
from tacit.base.checkpoint import load_tree, save_tree
from tacit.offline.model import SAVED_AS
from tacit.problem.spaces import Finite

WORDS = ("lovely", "wrong", "red paint please", "how is the weather today", "thanks")
EPISODES = 6


def kind_of(name):
    return SAVED_AS if name in MODELS else KIND


@functools.cache
def tree_of(name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "whole"
        path.write_bytes(subject_file(name))
        return load_tree(path, kind_of(name))


def draw_from(names):
    def draw(chance):
        name = names[chance.integers(len(names))]
        words, tree = mutate(tree_of(name), chance)
        return f"{name}: {words}", (name, tree, chance)

    return draw


def draw_twice(names):
    """Two changes at once: what one check lets pass the other must catch."""
    once = draw_from(names)

    def draw(chance):
        words, (name, tree, _) = once(chance)
        more, tree = mutate(tree, chance) if isinstance(tree, dict) else ("", tree)
        return f"{words}, {more}", (name, tree, chance)

    return draw


def judge_agent(path, chance):
    agent = load_subject("agent", path)
    for episode in agent.open_episodes:
        finish(agent, episode, chance)
    for _ in range(EPISODES):
        finish(agent, agent.begin(draw_context(agent, chance)), chance)
    check_policy(agent, chance)
    str(agent.diagnose())
    agent.save(path)
    check_tree(load_tree(path, KIND))
    load_subject("agent", path)


def judge_model(path, logs):
    model = load_subject("table model", path)
    for row in model.label(logs):
        numbers = [row["confidence"], 0.0 if row["decoded_reward"] is None else row["decoded_reward"]]
        if not np.isfinite(numbers).all():
            raise changed(f"a label is {numbers}")
    str(model.diagnose(logs).findings)
    estimates = model.evaluate(logs, "uniform").estimates.values()
    if not np.isfinite([[e.value, e.low, e.high] for e in estimates]).all():
        raise changed(f"estimates are {list(estimates)}")
    model.train(logs).save(path.with_name("trained"))
    check_tree(load_tree(path.with_name("trained"), KIND))
    model.save(path)
    check_tree(load_tree(path, SAVED_AS))
    load_subject("table model", path)


def finish(agent, episode, chance):
    """Play an open episode to its end, with states, candidates and feedback as they come."""
    for step in range(len(episode.actions), agent.world.horizon):
        agent.act(episode, *draw_shown(agent, episode, step, chance))
        if not 0 < episode.probability <= 1:
            raise changed(f"an action has the probability {episode.probability}")
    if chance.random() < 0.2:
        agent.abandon(episode)
        return
    agent.end(episode, draw_of(agent, "feedback", chance))
    reward = episode.decoded_reward
    if reward is not None and not 0 <= reward <= 1:
        raise changed(f"feedback decodes to {reward}")


def draw_context(agent, chance):
    return draw_of(agent, "contexts", chance)


def draw_of(agent, space_name, chance):
    if agent.world.name != "layered":
        return WORDS[chance.integers(len(WORDS))]
    space = getattr(agent.layout, space_name)
    if isinstance(space, Finite):
        return space.labels[chance.integers(len(space.labels))]
    return chance.random(space.dimension)


def draw_shown(agent, episode, step, chance):
    if agent.world.name != "layered":
        return f"said {step}" if step else episode.context["request"], WORDS[: chance.integers(3, 6)]
    layer = agent.layout.states[step]
    return (layer[chance.integers(len(layer))],)


def check_policy(agent, chance):
    if agent.world.name != "layered":
        return
    policy = agent.policy(draw_context(agent, chance))
    totals = [sum(row.values()) for row in policy.values()]
    if not np.allclose(totals, 1):
        raise changed(f"a policy's probabilities add up to {totals}")


def check_tree(tree):
    for words in find_unsound(tree):
        raise changed(words)


def judge_in(tmp_path):
    def judge(given):
        name, tree, chance = given
        path = tmp_path / "wrong"
        save_tree(path, kind_of(name), tree)
        if name in MODELS:
            logs = shop_episodes() if name == "text model" else table_episodes()
            judge_model(path, logs[:24])
        else:
            judge_agent(path, chance)

    return judge


@pytest.mark.parametrize("name", [*AGENTS, *MODELS])
def test_control_what_is_right_is_taken(name, tmp_path):
    judge_in(tmp_path)((name, tree_of(name), np.random.default_rng(0)))


def test_agents_with_wrong_content_are_refused_or_work(attack, tmp_path):
    attack("checkpoints, structure of agents", drawn(500, draw_from(AGENTS)), judge_in(tmp_path))


def test_models_with_wrong_content_are_refused_or_work(attack, tmp_path):
    attack("checkpoints, structure of models", drawn(30, draw_from(MODELS)), judge_in(tmp_path))


def test_two_wrong_things_at_once_are_refused_or_work(attack, tmp_path):
    attack("checkpoints, structure twice", drawn(50, draw_twice((*AGENTS, *MODELS))), judge_in(tmp_path))

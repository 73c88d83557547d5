"""Saved agents and models as trees, ways to make their content wrong, and what must still be true if they load."""

import copy
import math
import warnings

import numpy as np
from learners import SMALL, SMALL_VECTORS, make_learner, source_for
from text_samples import SHORT, HashingEncoder, TrustingModel, shop_env, small_model

from tacit.agent import Agent
from tacit.base.checkpoint import load_tree
from tacit.envs.gym_adapter import GymSource
from tacit.experiments.text_learners import TEXT_LEARNERS
from tacit.problem.spaces import Finite
from tacit.simulate import Simulation
from tacit.text.small.cache import EncodingCache

CACHE = EncodingCache()
NEVER_FINITE = {"check_at", "evidence", "sigma"}
"""Names under which infinity is meant."""
ODD = (None, True, False, -1, 0, 1, 7, 2**31, 10**30, math.nan, math.inf, -math.inf, 0.5, -0.5, 1e308, 5e-324)
ODDER = ("", "x", "fast learning", "\ud800", [], {}, [1, 2], {"a": 1})
LAYERED = {
    # name: (learner, settings, world, stage, episodes in it)
    "fast": ("tacit_fast", SMALL, "synthetic", "fast learning", 60),
    "fast, ragged": ("tacit_fast", SMALL, "ragged", "fast learning", 600),
    "homing": ("tacit", SMALL, "synthetic", "homing", 6),
    "collection": ("tacit", SMALL, "synthetic", "collection", 6),
    "policy learning": ("tacit", SMALL, "synthetic", "policy learning", 20),
    "policy learning, vectors": ("tacit", SMALL_VECTORS, "vectors", "policy learning", 20),
    "uniform": ("uniform", SMALL, "synthetic", "uniform", 5),
    "feedback as reward": ("feedback_as_reward", SMALL, "synthetic", "feedback as reward", 20),
    "blind": ("feedback_as_reward_blind", SMALL, "synthetic", "feedback as reward", 20),
    "last-step exploration": ("last_step_igl", SMALL, "synthetic", "last-step exploration", 6),
    "last-step igl": ("last_step_igl", SMALL, "synthetic", "last-step igl", 20),
}
TALKS = {"text exploration": 20, "text learning": 60}


def layered_agent(name):
    """Return an agent in the stage of that name, with open episodes at every step."""
    learner, settings, world, stage, more = LAYERED[name]
    source = source_for(world, learner)
    agent = make_learner(learner, source.layout, settings)(0)
    simulation = Simulation(agent, source, 0)
    simulation.run(1000, until=lambda agent: agent.stage.name == stage)
    simulation.run(more)
    assert agent.stage.name == stage
    for steps in range(agent.layout.horizon + 1):
        play_layered(agent, np.random.default_rng(steps), steps, end=False)
    return agent


def text_agent(name):
    agent = TEXT_LEARNERS["tacit"].make(SHORT, 0, small_model(cache=CACHE, kind=TrustingModel))
    Simulation(agent, GymSource(shop_env()), 0).run(TALKS[name])
    for steps in range(3):
        talk(agent, steps, end=False)
    return agent


def play_layered(agent, chance, steps=None, end=True):
    """Play one episode, or its first steps, by what the layout of the agent holds."""
    layout = agent.layout
    episode = agent.begin(draw(layout.contexts, chance))
    return go_on(agent, episode, chance, layout.horizon if steps is None else steps, end)


def go_on(agent, episode, chance, steps, end=True):
    layout = agent.layout
    for h in range(len(episode.states), steps):
        agent.act(episode, layout.states[h][int(chance.integers(len(layout.states[h])))])
        assert 0 < episode.probability <= 1
    if end:
        agent.end(episode, draw(layout.feedback, chance))
        assert episode.decoded_reward is None or 0 <= episode.decoded_reward <= 1
    return episode


def draw(space, chance):
    if isinstance(space, Finite):
        return space.labels[int(chance.integers(space.size))]
    return chance.standard_normal(space.dimension).tolist()


def talk(agent, number, steps=None, end=True, episode=None):
    """Play one conversation, or its first steps."""
    horizon = agent.world.horizon
    episode = episode or agent.begin({"request": f"i need paint for room {number % 7}", "profile": "plain"})
    for h in range(len(episode.states), horizon if steps is None else min(steps, horizon)):
        heard = f"make it colour {number} at {h}" if h else episode.encoded.request
        agent.act(
            episode, heard, [f"one tin of colour {c}" for c in ("red", "green", "blue", "black", "white")]
        )
        assert 0 < episode.probability <= 1
    if end:
        agent.end(episode, "lovely thanks")
        assert episode.decoded_reward is None or 0 <= episode.decoded_reward <= 1
    return episode


def try_agent(path, again):
    """Load an agent, play it, and check that nothing that it learned is out of this world."""
    chance = np.random.default_rng(0)
    agent = Agent.load(path, model=lambda state: TrustingModel.from_state(state, HashingEncoder(), CACHE))
    layered = agent.world.name == "layered"
    for episode in agent.open_episodes:
        if layered:
            go_on(agent, episode, chance, agent.layout.horizon)
        else:
            talk(agent, 3, episode=episode)
    for number in range(20):
        play_layered(agent, chance) if layered else talk(agent, number)
    agent.diagnose()
    if layered:
        policy = agent.policy(draw(agent.layout.contexts, chance))
        assert all(abs(sum(row.values()) - 1) < 1e-6 for row in policy.values())
    agent.save(again)
    check_finite(load_tree(again, "agent"))


def check_finite(value, name=""):
    if isinstance(value, dict):
        for key, item in value.items():
            check_finite(item, key if name not in NEVER_FINITE else name)
    elif isinstance(value, list):
        for item in value:
            check_finite(item, name)
    elif isinstance(value, np.ndarray | float) and name not in NEVER_FINITE:
        assert np.isfinite(value).all(), name


def places(tree, path=()):
    """Yield the path of everything in a tree."""
    yield path
    if isinstance(tree, dict):
        for key, item in tree.items():
            yield from places(item, (*path, key))
    elif isinstance(tree, list):
        for i, item in enumerate(tree):
            yield from places(item, (*path, i))


def mutate(tree, chance):
    """Return a copy of a tree with one thing wrong in it, and what that is."""
    paths = list(places(tree))[1:]
    path = paths[int(chance.integers(len(paths)))]
    changed = copy.deepcopy(tree)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    key, value = path[-1], holder[path[-1]]
    if isinstance(holder, dict) and chance.random() < 0.15:
        way = ("without", "renamed", "with a stranger")[int(chance.integers(3))]
        if way != "with a stranger":
            del holder[key]
        if way != "without":
            holder[f"{key}?"] = value
    elif isinstance(value, np.ndarray) and chance.random() < 0.8:
        way, holder[key] = mutate_array(value, chance)
    elif isinstance(value, list) and value and chance.random() < 0.6:
        way, holder[key] = mutate_list(value, chance)
    elif isinstance(value, int | float) and not isinstance(value, bool) and chance.random() < 0.3:
        holder[key] = (value + 1, value - 1, value * 2, -value)[int(chance.integers(4))]
        way = f"{value!r} -> {holder[key]!r}"
    else:
        pool = ODD + ODDER
        holder[key] = copy.deepcopy(pool[int(chance.integers(len(pool)))])
        way = f"{value!r:.40} -> {holder[key]!r}"
    return changed, f"/{'/'.join(map(str, path))} {way}"


def mutate_list(value, chance):
    ways = {
        "shortened": value[:-1],
        "lengthened": [*value, value[0]],
        "reversed": value[::-1],
        "emptied": [],
        "nested": [value],
    }
    way = list(ways)[int(chance.integers(len(ways)))]
    return way, ways[way]


def mutate_array(value, chance):
    ways = {
        "flat": value.ravel(),
        "nested": value[None],
        "one row less": value[:-1],
        "one row more": np.concatenate([value, value[:1]]),
        "turned": value.T.copy(),
        "backwards": value[::-1].copy(),
        "float32": value.astype(np.float32),
        "int32": value.astype(np.int32),
        "bool": value.astype(np.bool_),
        "a list": value.tolist(),
        "negative": -value.astype(np.float64),
    }
    if value.size:
        at = int(chance.integers(value.size))
        for odd in (math.nan, math.inf, -1, 1e308, 5e-324, 0, 1, 2**40):
            entry = value.astype(np.float64)
            entry.flat[at] = odd
            ways[f"with {odd}"] = entry
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ways[f"with {odd}, of its type"] = entry.astype(value.dtype)
        for name, more in (("one more", 1), ("one less", -1), ("half", None)):
            entry = value.copy()
            if value.dtype != np.bool_:
                entry.flat[at] = entry.flat[at] + more if more is not None else entry.flat[at] / 2
                ways[name] = entry
    way = list(ways)[int(chance.integers(len(ways)))]
    return f"{value.dtype} {value.shape} {way}", ways[way]

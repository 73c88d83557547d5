"""What is attacked: saved agents in every stage, reward models, logs."""

import functools
import tempfile
import warnings
from pathlib import Path

from learners import SMALL, SMALL_VECTORS, make_learner, source_for
from shop_logs import draw_shop
from text_samples import SHORT, TrustingModel, shop_env, small_model

import tacit
from tacit.agent import Agent
from tacit.checks import play_out, saved
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.experiments.text_learners import TEXT_LEARNERS

LAYERED = {
    "fast, new": ("tacit_fast", 1),
    "fast": ("tacit_fast", 60),
    "homing": ("tacit", 5),
    "collection": ("tacit", 12),
    "policy learning": ("tacit", 40),
    "last-step exploration": ("last_step_igl", 6),
    "last-step igl": ("last_step_igl", 30),
    "feedback as reward": ("feedback_as_reward", 20),
    "uniform": ("uniform", 3),
}
"""Learner and episodes after which an agent is in the stage that its name says; the contract's small settings."""
TEXT = {"text exploration": 12, "text learning": 44}
AGENTS = (*LAYERED, "vectors", *TEXT)
MODELS = ("table model", "text model")


@functools.cache
def agent_file(name):
    """Return the file of an agent by its stage; two episodes are open in it, one begun and one with all steps done."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent, source, episodes = learner_of(name)
        for number in range(episodes):
            episode, entry = play_out(agent, source, 0, number)
            agent.end(episode, entry.feedback)
        play_out(agent, source, 0, episodes)
        agent.begin(source.begin(0, episodes + 1)[0])
    return saved(agent)


def learner_of(name):
    """Return a new agent by its stage or learner, the source that it plays, and the episodes that lead there."""
    if name in ("text", "text uniform", *TEXT):
        learner = TEXT_LEARNERS["uniform" if name == "text uniform" else "tacit"]
        return (
            learner.make(SHORT, 0, small_model(kind=TrustingModel)),
            learner.source(shop_env()),
            TEXT.get(name),
        )
    if name == "vectors":
        source = source_for("vectors")
        return make_learner("tacit", source.env.unwrapped.layout, SMALL_VECTORS)(0), source, 20
    learner, episodes = LAYERED.get(name, (name, None))
    source = source_for("synthetic", learner)
    return make_learner(learner, source.env.unwrapped.layout, SMALL)(0), source, episodes


@functools.cache
def model_file(name):
    """Return the file of a reward model."""
    logs = shop_episodes() if name == "text model" else table_episodes()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tacit.fit(logs).save(Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


@functools.cache
def table_episodes(n=400):
    """Return logged episodes of the paper's synthetic problem."""
    return tuple(draw_logs(synthetic_mdp(), n, seed=0))


@functools.cache
def shop_episodes(n=400):
    """Return logged conversations of the paint shop."""
    return tuple(draw_shop(n))


def load_subject(name, path):
    """Return the agent or model in a file."""
    return tacit.load_model(path) if name in MODELS else Agent.load(path)


def subject_file(name):
    """Return the file of an agent or model."""
    return model_file(name) if name in MODELS else agent_file(name)


def resaved(subject, path):
    """Return the file that an agent or model saves."""
    subject.save(path)
    return Path(path).read_bytes()

"""Small agents and environments that the tests share."""

from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.posterior import PosteriorSettings
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import synthetic
from tacit.experiments.learners import LEARNERS
from tacit.learning.settings import CollectionSettings, HomingSettings, Settings
from tacit.planning.regression import OracleSettings

__all__ = ["SMALL", "make_learner", "source_for", "synthetic"]

SMALL = Settings(
    DecoderSettings(theta=0.9, M=1.3),
    recipe="paper",
    homing=HomingSettings(episodes=4, bonus_scale=0.05),
    collection=CollectionSettings(tuples=5),
    posterior=PosteriorSettings(method="frequency"),
)
"""Few enough episodes that the 60 of a contract check pass through every stage."""

SMALL_VECTORS = Settings(
    DecoderSettings(theta=0.8, M=1.2),
    recipe="paper",
    homing=HomingSettings(episodes=3, bonus_scale=0.05),
    collection=CollectionSettings(tuples=3),
    posterior=PosteriorSettings(method="neural", max_steps=20, restarts=1),
    oracle=OracleSettings(method="vaw"),
)

RAGGED = RandomMDPSettings(layers=3, states=3, actions=5, ragged=True, homogeneous=1)
VECTORS = RandomMDPSettings(layers=2, states=2, actions=4, vectors=3, homogeneous=0)


def make_learner(name, layout, settings=SMALL):
    """Return a function seed -> agent."""
    return lambda seed: LEARNERS[name].make(layout, settings, seed)


def source_for(kind, name="tacit"):
    """Return an episode source for a learner: the paper's MDP, a ragged random one or one of vectors."""
    environments = {
        "synthetic": lambda: synthetic(),
        "ragged": lambda: random_mdp(0, RAGGED),
        "vectors": lambda: random_mdp(0, VECTORS),
    }
    return LEARNERS[name].source(environments[kind]())

"""The closer look at an agent on the page of learning curves."""

from tacit.agent import Agent
from tacit.envs.synthetic import synthetic
from tacit.experiments.layered.problems import PAPER
from tacit.experiments.studies.synthetic.inspection import inspect


def test_inspection_of_an_agent_that_still_explores_is_empty():
    env = synthetic()
    assert inspect(Agent(env.layout, PAPER), env.mdp) is None

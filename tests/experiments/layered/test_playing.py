"""The task of studies on layered environments."""

import warnings

import pytest
from study_samples import FRACTION, ignore, resweep

from tacit.envs.synthetic import synthetic
from tacit.experiments.catalogue import STUDIES
from tacit.experiments.fingerprints import expand
from tacit.experiments.layered import playing
from tacit.experiments.layered.problems import PAPER
from tacit.experiments.learners import LEARNERS


def test_fast_learner_explores_within_its_episodes():
    study = resweep(STUDIES["synthetic"], learners=("tacit_fast",), episodes=60)
    result, agent = study.play(expand(study, 1)[0], ignore)
    scalars = result["scalars"]
    assert 0 < scalars["exploration_episodes"] == agent.stage.explored <= 60
    assert scalars["average_reward"] == scalars["average_reward_all"]
    assert agent.next_episode == result["curves"]["episode"][-1] == 60


@pytest.mark.parametrize("counted", [True, False])
def test_exploration_is_part_of_the_episodes_where_the_sweep_says_so(counted, monkeypatch):
    lengths, condense = [], playing.condense
    monkeypatch.setattr(
        playing,
        "condense",
        lambda trace, whole: lengths.append(len(trace.rewards)) or condense(trace, whole),
    )
    study = resweep(STUDIES["exploration"].scaled(FRACTION), counts_exploration=counted, episodes=130)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so little homing misses a state, and says so
        result, _ = study.play(expand(study, 1)[0], ignore)
    explored = result["scalars"]["exploration_episodes"]
    assert 40 < explored < 130
    assert lengths == [130 if counted else 130 + explored]
    assert result["curves"]["episode"][-1] == 130


def test_exploration_that_never_ends_is_an_error():
    env = synthetic()
    agent = LEARNERS["last_step_igl"].make(env.layout, PAPER, 0)
    simulation = playing.Simulation(agent, LEARNERS["last_step_igl"].source(env), 0)
    with pytest.raises(RuntimeError, match="must end within 5 episodes"):
        playing.explore(simulation, 5, ignore)


def test_all_learners_of_a_seed_meet_the_same_people(monkeypatch):
    seeds = []

    class Watched(playing.Simulation):
        def __init__(self, agent, source, seed, mdp):
            super().__init__(agent, source, seed, mdp)
            seeds.append((seed, agent.seed))

    monkeypatch.setattr(playing, "Simulation", Watched)
    study = resweep(STUDIES["synthetic"], learners=("oracle_reward", "uniform")).scaled(FRACTION)
    for task in expand(study, 2):
        study.play(task, ignore)
    assert seeds == [(1_000_003, 0), (1_000_003, 0), (1_000_004, 1), (1_000_004, 1)]

"""The problems of real feedback are what they say: valid, the same for a seed, with exact values; and runs go on."""

import argparse
import json

import numpy as np
import pytest
import real_feedback
from real_world.adapter import TODAY, layout_of
from real_world.drift import LEAST_COST, cost_of_change
from real_world.env import RealEnv
from real_world.families import CHOOSE, FAMILIES, JUDGE, draw_problem
from real_world.playing import Play, Task
from real_world.problem import solve_world, uniform_values
from real_world.words import WAYS, overlapping, shared_mass

SEED = CHOOSE + 500_000
EPISODES = 3000


@pytest.mark.parametrize("family", FAMILIES)
def test_problems_are_valid_and_follow_from_their_seed(family):
    problem, again = draw_problem(family, SEED), draw_problem(family, SEED)
    X, H, S, K = problem.n_contexts, problem.n_turns, problem.n_states, problem.n_actions
    for world, same in zip(problem.worlds, again.worlds, strict=True):
        assert np.array_equal(world.rewards, same.rewards)
        assert np.array_equal(world.voices, same.voices)
        assert world.transitions.shape == (H, S, K, S)
        assert world.rewards.shape == (X, H, S, K)
        assert world.rewards.min() >= 0
        assert world.rewards.max() <= 1
        assert world.transitions.sum(axis=3).max() <= 1 + 1e-9
        assert not world.transitions[-1].any()
        for voices in (world.voices, world.voices_by_action):
            assert voices is None or np.allclose(voices.sum(axis=-1), 1)
        assert world.contexts.sum() == pytest.approx(1)


def test_seeds_that_judge_are_never_those_to_choose_by():
    most = max(family.seeds for family in FAMILIES.values())
    assert not set(range(CHOOSE, CHOOSE + 100 * most)) & set(range(JUDGE, JUDGE + 100 * most))


def play_uniformly(problem, episodes):
    env, generator = RealEnv(problem, episodes), np.random.default_rng(1)
    pleased = np.empty(episodes)
    for n in range(episodes):
        env.reset(seed=3 if n == 0 else None)
        over = False
        while not over:
            _, _, over, _, info = env.step(generator.integers(problem.n_actions))
        pleased[n] = info["evaluation"]["reward"]
    return pleased


@pytest.mark.parametrize("family", ["endings.walk", "endings.desk", "plain"])
def test_uniform_play_earns_its_exact_value_and_control_not_the_optimum(family):
    problem = draw_problem(family, SEED)
    world = problem.worlds[0]
    pleased = play_uniformly(problem, EPISODES)
    error = pleased.std() / np.sqrt(EPISODES)
    assert abs(pleased.mean() - uniform_values(world) @ world.contexts) < 4 * error
    assert solve_world(world)[0] @ world.contexts - pleased.mean() > 4 * error


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("overlap", [0.1, 0.4])
def test_words_overlap_as_much_as_asked_in_every_way(way, overlap):
    generator = np.random.default_rng(2)
    for words in (5, 20):
        shared = shared_mass(overlapping(words, overlap, way)(generator))
        assert shared == pytest.approx(2 * overlap if way == "crossed" else overlap)


@pytest.mark.parametrize("kind", ["earns", "words", "dynamics"])
def test_a_change_costs_whoever_does_not_notice_it(kind):
    before, after = draw_problem(f"drift.{kind}", SEED).worlds
    assert cost_of_change(before, after) >= LEAST_COST
    assert cost_of_change(before, before) == pytest.approx(0)


def test_only_the_happy_are_heard_where_only_they_speak():
    problem = draw_problem("silence.happy", SEED)
    assert not problem.worlds[0].voices[:, :, :, 0, :-1].any()
    play = Play(problem, Task("silence.happy", SEED, "tacit", 60), TODAY)
    for _ in range(60):
        play.episode([])
    assert play.silent + play.broken > 0
    assert len(play.agents[0].open_episodes) == 0


def test_where_a_layout_cannot_say_that_episodes_end_early_they_are_padded():
    problem = draw_problem("endings.desk", SEED)
    assert problem.ends_early
    assert layout_of(problem, endings=False).layout.horizon == problem.n_turns
    play = Play(problem, Task("endings.desk", SEED, "oracle_reward", 200), TODAY)
    for _ in range(200):
        play.episode([])
    assert play.measure()["exact"]
    assert play.measure()["last"] <= 1


def test_a_run_that_was_stopped_goes_on(tmp_path, capsys):
    out = tmp_path / "results.json"
    options = argparse.Namespace(
        **{"choose": True, "families": ["sick.nothing", "sick.few"], "seeds": 2, "episodes": 100, "jobs": 0},
        **{"today": False, "alone": True, "table": False, "out": out},
    )
    real_feedback.main(options)
    kept = json.loads(out.read_text())
    assert len(kept["results"]) == 4
    out.write_text(json.dumps(kept | {"results": kept["results"][:3]}))
    capsys.readouterr()
    real_feedback.main(options)
    assert "4 runs, 1 to be played" in capsys.readouterr().out
    assert len(json.loads(out.read_text())["results"]) == 4

"""The problems of contexts are what they say: valid, the same for a seed, fairly measured; and runs go on."""

import argparse
import json

import contexts
import numpy as np
import pytest
from context_world.ceilings import fit_logistic, loss_of
from context_world.families import FAMILIES, draw_problem
from context_world.playing import CEILING, Clock, Play, draw_crowd, perform
from context_world.problem import Points, Words, solve
from context_world.table import check_row, write_table
from journal import Task
from real_world.families import CHOOSE

import tacit

SEED = CHOOSE + 500_000


def silent(amount, stage):
    """Hear of no progress."""


class Uniform:
    """Plays anything, and says that it works."""

    explored = 0

    def __init__(self, actions):
        self.generator, self.actions = np.random.default_rng(3), actions

    def begin(self, person):
        """Nothing to plan."""

    def act(self, turn, state):
        return int(self.generator.integers(self.actions))

    def end(self, person, states, taken, answer):
        """Nothing to learn."""


@pytest.mark.parametrize("family", FAMILIES)
def test_problems_are_valid_and_follow_from_their_seed(family):
    problem, task = draw_problem(family, SEED), Task(family, SEED, "tacit", 200)
    crowd, again = draw_crowd(problem, task), draw_crowd(draw_problem(family, SEED), task)
    for one, same in zip(crowd, again, strict=True):
        assert np.array_equal(one, same) or (one is None and same is None)
    assert crowd.pleasing.min() >= 0
    assert crowd.pleasing.max() <= 1
    assert len(problem.layout().states) == problem.n_turns
    for h, n in enumerate(problem.sizes[1:]):
        assert np.allclose(problem.transitions[h, : problem.sizes[h], :, :n].sum(axis=2), 1)
    if isinstance(problem.people.space, tacit.Vectors):
        assert crowd.shown.shape == (200, problem.people.space.dimension)
    if isinstance(problem.voice, Words):
        assert np.allclose(problem.voice.chances.sum(axis=3), 1)
        assert 2 <= problem.voice.chances.shape[3] <= 6


class Optimal(Uniform):
    """Knows every value."""

    def __init__(self, play):
        self.values = play.values.actions

    def begin(self, person):
        self.person = person

    def act(self, turn, state):
        return int(self.values[turn, self.person, state].argmax())


@pytest.mark.parametrize("family", ["linear.5.three", "groups.5.three", "xor.one"])
def test_uniform_play_is_no_share_of_the_way_and_best_play_all_of_it(family):
    task = Task(family, SEED, "tacit", 3000)
    shares = []
    for make in (lambda play: Uniform(play.problem.n_actions), Optimal):
        play, clock = Play(draw_problem(family, SEED), task), Clock()
        player = make(play)
        for person in range(task.episodes):
            play.episode(player, person, clock)
        shares.append(play.summarise()["all"])
    assert abs(shares[0]) < 0.05
    assert shares[1] == 1.0


def test_values_are_those_of_a_chain_worked_out_by_hand():
    transitions = np.zeros((1, 2, 2, 2))
    transitions[0, 0, 0] = [1.0, 0.0]
    transitions[0, 0, 1] = [0.5, 0.5]
    values = solve(transitions, np.array([[[0.2, 0.4], [0.8, 0.0]]]))
    assert values.best[0, 0, 0] == pytest.approx(0.6)
    assert values.plain[0] == pytest.approx(0.325)  # half of 0.3, half of (0.3 + 0.4) / 2
    assert values.earned(0, [0, 1], [1, 0]) == pytest.approx(0.6)
    assert values.earned(0, [0, 0], [0, 0]) == pytest.approx(0.6 - 0.2 - 0.2)


@pytest.mark.parametrize("family", ["noise.groups", "noise.points", "noise.users", "noise.who"])
def test_noise_says_nothing_of_what_was_done_and_control_a_healthy_problem_does(family):
    def differs(problem):
        voice = problem.voice
        said = voice.points if isinstance(voice, Points) else voice.chances
        return not np.allclose(said[:, :, 0], said[:, :, 1])

    noisy = draw_problem(family, SEED)
    assert not differs(noisy)
    assert differs(FAMILIES[family].draw(np.random.default_rng(1)))
    chances = noisy.people.meanings(noisy.people.draw(np.random.default_rng(1), 500))
    assert (chances.std(axis=0).max() > 0) == (family == "noise.who")


def test_features_that_are_spoiled_are_those_of_the_same_people():
    task = Task("features.linear.plain", SEED, "tacit", 300)
    plain = draw_crowd(draw_problem("features.linear.plain", SEED), task)
    for how, dimension in (("unscaled", 10), ("constant", 15), ("duplicate", 20), ("irrelevant", 60)):
        crowd = draw_crowd(draw_problem(f"features.linear.{how}", SEED), task)
        assert np.array_equal(crowd.pleasing, plain.pleasing)
        assert np.array_equal(crowd.meanings, plain.meanings)
        assert crowd.shown.shape[1] == dimension


def test_a_regression_is_where_its_loss_is_least():
    generator = np.random.default_rng(4)
    x, ridge = generator.standard_normal((200, 3)), np.ones(3)
    rewards = (generator.random(200) < 1 / (1 + np.exp(-x @ [3.0, -2.0, 0.0]))).astype(float)
    fit = fit_logistic(x, rewards, np.zeros(3), ridge)
    least = loss_of(x, rewards, fit.weights, ridge)
    for step in 0.01 * np.eye(3):
        assert loss_of(x, rewards, fit.weights + step, ridge) > least
        assert loss_of(x, rewards, fit.weights - step, ridge) > least


@pytest.mark.parametrize(
    ("family", "least"), [("groups.5.three", 0.9), ("linear.5.one", 0.9), ("xor.one", 0.8)]
)
def test_who_sees_the_reward_gets_near_the_optimum(family, least):
    assert perform(Task(family, SEED, CEILING, 3000), silent)["last"] > least


def test_an_agent_that_raises_has_failed_and_the_table_says_so(monkeypatch):
    def refuse(*arguments, **named):
        raise ValueError("no vectors here")

    monkeypatch.setattr(tacit, "Agent", refuse)
    task = Task("linear.5.one", SEED, "tacit", 100)
    row = vars(task) | perform(task, silent)
    assert row["failed"] == "ValueError: no vectors here"
    assert "FAILED 1: ValueError: no vectors here; MISSED" in write_table([row])


def test_what_was_asked_is_missed_where_it_is_not_shown():
    row = {
        "family": "linear.5.one",
        "seed": 1,
        "learner": "tacit",
        "episodes": 10,
        "verdict": "works",
        "p99_ms": 0.5,
        "p99_worked_ms": 0.25,
    }
    tacit_row, ceiling = (
        row | {"last": 0.95, "all": 0.8},
        row | {"learner": CEILING, "last": 0.99, "all": 0.95},
    )
    asked = list(check_row("linear.5.one", [tacit_row, ceiling], [tacit_row | {"last": 0.97}]))
    assert asked == [
        "last >= 95% of it: 96.0%",
        "all >= 90% of it: 84.2% MISSED",
        "lost against the other version: 0.020 MISSED",
        "p99 of decisions: 0.50 ms, 0.25 of them working",
    ]


def test_a_run_that_was_stopped_goes_on(tmp_path, capsys):
    out = tmp_path / "results.json"
    options = argparse.Namespace(
        **{"choose": True, "families": ["users.20", "groups.2.one"], "seeds": 1, "episodes": 100, "jobs": 0},
        **{"learners": None, "table": False, "against": None, "out": out},
    )
    contexts.main(options)
    kept = json.loads(out.read_text())
    assert len(kept["results"]) == 4
    out.write_text(json.dumps(kept | {"results": kept["results"][:3]}))
    capsys.readouterr()
    contexts.main(options)
    assert "4 runs, 1 to be played" in capsys.readouterr().out

"""The worlds of a guest are fair and follow from their seed, and episodes that end early are learned from."""

import numpy as np
import pytest
from text_world import ceiling
from text_world.ceiling import Asked, SeesReward
from text_world.families import FAMILIES, draw_world
from text_world.guest.worlds import PEOPLE
from text_world.halves import CHOOSE, JUDGE
from text_world.logs import draw_log

SEED = CHOOSE + 500_000
JUDGING = JUDGE + 500_000
"""Far from the seeds that judge."""


def follow_best(visit):
    """Return the reward of the right way, and how many turns it has."""
    turns, over = 0, False
    while not over:
        choice, rewards = visit.best(), visit.rewards()
        turns, over = turns + 1, visit.step(choice)
    return rewards[choice], turns


def said_in(name, seed):
    world, voice = draw_world(f"guest.{name}", seed)
    log = draw_log(world, voice, np.random.default_rng(seed), 20)
    return [(line.logged, line.turns) for line in log]


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("seed", [SEED, JUDGING])
def test_the_right_way_is_rewarded_and_no_other_at_its_end(name, seed):
    world, _ = draw_world(f"guest.{name}", seed)
    chance = np.random.default_rng(0)
    for _ in range(20):
        visit = world.draw_visit(chance)
        assert sum(visit.rewards()) <= 1
        reward, turns = follow_best(visit)
        assert (reward, sum(visit.rewards())) == (1, 1)
        assert turns <= world.horizon


@pytest.mark.parametrize("name", PEOPLE)
def test_worlds_follow_from_their_seed(name):
    assert said_in(name, SEED) == said_in(name, SEED)
    assert said_in(name, SEED) != said_in(name, SEED + 1)


@pytest.mark.parametrize("name", ["three.shop", "three.early"])
def test_uniform_play_earns_what_the_world_says(name):
    world, voice = draw_world(f"guest.{name}", SEED)
    log = draw_log(world, voice, np.random.default_rng(1), 300)
    assert np.mean([line.reward for line in log]) == pytest.approx(world.uniform, abs=0.04)
    assert world.uniform < 0.1


def test_some_conversations_end_early_at_one_counter_alone():
    lengths = {}
    for name in PEOPLE:
        world, voice = draw_world(f"guest.{name}", SEED)
        log = draw_log(world, voice, np.random.default_rng(2), 100)
        lengths[name] = ({len(line.turns) for line in log}, world.horizon)
    assert lengths.pop("three.early") == ({1, 2, 3}, 3)
    assert all(seen == {horizon} for seen, horizon in lengths.values())


def test_as_much_is_asked_as_in_the_other_worlds():
    for name in PEOPLE:
        other = "stranger.echo.a.plain" if name in ("profile", "style") else f"{name.partition('.')[0]}.plain"
        assert FAMILIES[f"guest.{name}"].least == FAMILIES[other].least


class Flat:
    """Values that are the same whatever is on offer."""

    def __init__(self, value):
        self._value = value

    def of(self, seen):
        return np.full(len(seen.name), self._value)


class Vectors:
    def read(self, texts):
        return np.ones((len(texts), 2))


def test_turns_are_fitted_to_the_episodes_that_have_them(monkeypatch):
    fitted, best = [], iter((1.5, 0.7, 0.0))  # what the third turn is worth, the second, the first

    def fit_values(seen, targets):
        fitted.append((len(seen.name), targets.tolist()))
        return Flat(next(best))

    monkeypatch.setattr(ceiling, "fit_values", fit_values)
    asked = Asked("", "", "", ("yes", "no"))
    learner = SeesReward(Vectors(), 4)
    learner.take_log([([(asked, 0)] * turns, reward) for turns, reward in ((1, 1), (3, 0), (2, 0), (1, 0))])
    assert fitted == [(1, [0.0]), (2, [1.0, 0.0]), (4, [1.0, 0.7, 0.7, 0.0])]
    assert learner.chances(2, asked).sum() == pytest.approx(1.0)
    assert learner.chances(3, asked).tolist() == [0.5, 0.5]  # a turn that nobody reached

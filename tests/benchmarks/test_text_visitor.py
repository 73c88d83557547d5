"""The worlds of a visitor are fair, follow from their seed, and share no remark."""

from itertools import combinations

import numpy as np
import pytest
from text_world.families import FAMILIES, draw_world
from text_world.logs import draw_log
from text_world.visitor.words import read_words
from text_world.visitor.worlds import WORLDS

SEED = 1


def log_of(name, seed, episodes):
    world, voice = draw_world(f"visitor.{name}", seed)
    return world, draw_log(world, voice, np.random.default_rng(seed), episodes)


@pytest.mark.parametrize("name", WORLDS)
def test_offers_are_fair_and_nothing_is_left_to_fill(name):
    world, log = log_of(name, SEED, 300)
    for line in log:
        assert len(line.turns) == world.horizon
        for asked, _ in line.turns:
            assert 2 <= len(asked.offer) == len(set(asked.offer)) <= 4
            assert "{" not in " ".join([asked.request, asked.profile, asked.heard, *asked.offer])
    assert np.mean([line.reward for line in log]) == pytest.approx(world.uniform, abs=0.08)
    assert any(line.good for line in log)


@pytest.mark.parametrize("name", WORLDS)
def test_worlds_follow_from_their_seed(name):
    first, again, other = (
        [line.logged for line in log_of(name, seed, 20)[1]] for seed in (SEED, SEED, SEED + 1)
    )
    assert first == again
    assert first != other


def test_no_remark_is_heard_on_both_sides_or_in_two_worlds():
    sides = [
        set(read_words(name.rpartition(".")[2]).remarks(side))
        for name in WORLDS
        for side in ("pleased", "displeased")
    ]
    assert min(map(len, sides)) >= 36
    assert not any(one & other for one, other in combinations(sides, 2))


def test_as_much_is_asked_as_in_the_other_worlds():
    for name in WORLDS:
        other = "stranger.echo.a.plain" if name in ("profile", "style") else f"{name.partition('.')[0]}.plain"
        assert FAMILIES[f"visitor.{name}"].least == FAMILIES[other].least

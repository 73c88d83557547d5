"""What planning is told of a context: chance plays with a part of what may be, hope takes all of it."""

from types import SimpleNamespace

import numpy as np
import pytest

from tacit.decoding.class_questions import NO_QUESTION
from tacit.learning.understood_outlook import DRAWS, UnderstoodOutlook
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite, Vectors

LAYOUT = Layout(
    states=((0,),), actions=((("first", "second"),),), contexts=Vectors(1), feedback=Finite(("no", "yes"))
)


@pytest.mark.parametrize(("eagerness", "second"), [(1.0, 0.5), (0.5, 0.0)])
def test_chance_plays_with_a_part_of_what_may_be_and_hope_takes_all(eagerness, second):
    """The second action is expected to please less, and may please more in every other draw."""
    worth = np.array([[0.6, 0.5]])
    draws = np.tile(worth, (DRAWS, 1, 1))
    draws[::2, 0, 1] = 0.65
    people = SimpleNamespace(eagerness=eagerness, telling=np.ones(1, dtype=bool))
    chances, outlook = weigh(people, worth, draws, NO_QUESTION)
    assert chances[0].tolist() == [1 - second, second]
    assert outlook.hope.tolist() == [0.65]


@pytest.mark.parametrize(("asked", "chances"), [(NO_QUESTION, [1.0, 0.0]), (1, [0.0, 1.0])])
def test_what_tells_who_somebody_is_is_done_though_it_is_not_expected_to_please(asked, chances):
    worth = np.array([[0.6, 0.1]])
    people = SimpleNamespace(eagerness=1.0, telling=np.ones(1, dtype=bool))
    found, outlook = weigh(people, worth, np.tile(worth, (DRAWS, 1, 1)), asked)
    assert found[0].tolist() == chances
    assert outlook.best.tolist() == [0.6]


def weigh(people, worth, draws, asked):
    """Return the chances and the outlook of a context by what is worth so much, and may be worth `draws`."""
    understanding = SimpleNamespace(
        people=people,
        draw_rewards=lambda context, normals: (worth, draws),
        questions=lambda context: np.array([asked]),
    )
    outlooks = UnderstoodOutlook(LAYOUT, np.zeros((DRAWS, 1, 2)), np.array([500]), 500, 0.25)
    return outlooks.weigh(np.zeros(1), understanding)

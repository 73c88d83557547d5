"""When an action that pleases nobody is worth what it tells: two kinds who say the same after what either likes."""

import numpy as np
import pytest

from tacit.decoding.class_questions import NO_QUESTION, find_questions, tell_class
from tacit.decoding.label_classes import fit_classes

USERS, TUPLES, K = 60, 2400, 3
F = np.array([[0.9, 0.02, 0.02], [0.02, 0.9, 0.02]])
"""What pleases two kinds: the first action, or the second; the third pleases nobody."""
MASK = np.ones((1, K), dtype=bool)


def say(generator, kinds, actions, opposite):
    """Return words (n,): 1 of whoever is pleased, or 0 where the second kind means the opposite."""
    pleased = generator.random(len(kinds)) < F[kinds, actions]
    return (pleased ^ (opposite & (kinds == 1))).astype(np.int64)


def read(opposite):
    """Return classes of users by 40 uniform tuples of each; the last user, of the first kind, was not heard."""
    generator = np.random.default_rng(1)
    labels, actions = generator.integers(USERS - 1, size=TUPLES), generator.integers(K, size=TUPLES)
    words = say(generator, labels % 2, actions, opposite)
    endings = np.zeros(TUPLES, dtype=np.int64)
    return fit_classes(labels, endings, actions, words, USERS, MASK, 2, np.random.default_rng(2))


def meet(classes, visits, asks, seed):
    """Return the log chances of the classes of the last user after so many visits, and how often it was pleased.

    Either class is played as often as it may be the user's, unless a question is asked.
    """
    generator, u = np.random.default_rng(seed), USERS - 1
    row, pleased = classes.row(u), 0.0
    for _ in range(visits):
        asked = int(classes.questions(u, row)[0]) if asks else NO_QUESTION
        z = int(generator.random() > np.exp(row[0]))
        a = int(classes.judged.f[z, 0].argmax()) if asked == NO_QUESTION else asked
        pleased += F[0, a] / visits
        word = int(say(generator, np.array([0]), np.array([a]), True)[0])
        row = classes.after(u, 0, a, word, row)
    return row, pleased


def test_who_says_the_same_after_what_either_kind_likes_is_asked_by_what_neither_does():
    """30 visits of a user, 10 times: chance alone still plays what the other kind likes, a question settles it."""
    classes = read(opposite=True)
    u = USERS - 1
    assert classes.n_classes == 2
    assert classes.questions(u).tolist() == [2]
    asked, unasked = ([meet(classes, 30, asks, seed) for seed in range(10)] for asks in (True, False))
    assert np.mean([pleased for _, pleased in asked]) > 0.8
    assert np.mean([pleased for _, pleased in unasked]) < 0.7, "the control must fail"
    assert all(classes.questions(u, row).tolist() == [NO_QUESTION] for row, _ in asked)


def test_control_nothing_is_asked_where_what_pleases_tells_who_somebody_is():
    classes = read(opposite=False)
    assert classes.n_classes == 2
    assert classes.questions(USERS - 1).tolist() == [NO_QUESTION]


def test_control_nothing_is_asked_of_whom_nothing_is_known():
    """Words that were drawn at random: there is one class, and no question."""
    generator = np.random.default_rng(3)
    columns = (generator.integers(size, size=TUPLES) for size in (USERS, 1, K, 2))
    classes = fit_classes(*columns, USERS, MASK, 2, np.random.default_rng(2))
    assert classes.questions(0).tolist() == [NO_QUESTION]


def test_an_action_that_an_ending_has_not_is_never_asked():
    f = np.array([[[0.9, 0.0, 0.0]], [[0.0, 0.9, 0.0]]])
    words = np.stack([1 - f, f], axis=3)
    words[1] = words[1, ..., ::-1]
    even = np.array([0.5, 0.5])
    assert find_questions(even, f, words, MASK).tolist() == [2]
    assert find_questions(even, f, words, np.array([[True, True, False]])).tolist() == [NO_QUESTION]


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_what_is_told_is_mutual_information(p):
    """By a slow twin: sum_z p_z sum_w p_z(w) log(p_z(w) / p(w))."""
    generator = np.random.default_rng(4)
    tables, chances = generator.dirichlet(np.ones(3), size=(2, 1, K)), np.array([p, 1 - p])
    for a in range(K):
        mixed = sum(chances[z] * tables[z, 0, a] for z in range(2))
        slow = sum(
            chances[z] * tables[z, 0, a, w] * np.log(tables[z, 0, a, w] / mixed[w])
            for z in range(2)
            for w in range(3)
        )
        assert tell_class(chances, tables)[0, a] == pytest.approx(slow)

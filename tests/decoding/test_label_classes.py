"""Classes of labels, against a slow twin; their number; what pleases whom; and nothing where words tell nothing."""

import numpy as np
import pytest
from reference_labels import em_step_slowly

from tacit.base.checkpoint import CheckpointError, load_tree, save_tree
from tacit.decoding.group_rewards import judge_groups
from tacit.decoding.judgement import JudgementSettings
from tacit.decoding.label_classes import LabelClasses, fit_classes
from tacit.decoding.label_mixture import (
    ClassMixture,
    TupleCells,
    classify,
    climb_classes,
    count_cells,
    fit_tables,
    pool,
)

S, K, W = 2, 4, 3
MASK = np.ones((S, K), dtype=bool)
SPEAK = np.array([[[0.7, 0.3, 0.0], [0.0, 0.0, 1.0]], [[0.0, 0.2, 0.8], [1.0, 0.0, 0.0]]])
"""What is said by whoever is not pleased and by whoever is, in two ways, (2, 2, W)."""


def draw_people(generator, n_labels, kinds, n, often=None):
    """Return tuples (labels, endings, actions, words), and the kind's chances f (kinds, S, K) and kinds (U,)."""
    f = np.full((kinds, S, K), 0.05)
    for z in range(kinds):
        for s in range(S):
            f[z, s, (z + s + generator.integers(2)) % K] = 0.85
    own = np.arange(n_labels) % kinds
    labels = generator.choice(n_labels, n, p=often)
    endings, actions = generator.integers(S, size=n), generator.integers(K, size=n)
    pleased = (generator.random(n) < f[own[labels], endings, actions]).astype(int)
    said = SPEAK[own[labels] % 2, pleased]
    words = (generator.random(n)[:, None] > said.cumsum(axis=1)).sum(axis=1).clip(0, W - 1)
    return (labels, endings, actions, words), f, own


def draw_strangers(generator, n_labels, n):
    """Return tuples of labels that have nothing in common."""
    chances = generator.dirichlet(np.full(W, 0.7), (n_labels, S, K))
    labels, endings, actions = (generator.integers(size, size=n) for size in (n_labels, S, K))
    said = chances[labels, endings, actions].cumsum(axis=1)
    words = (generator.random(n)[:, None] > said).sum(axis=1).clip(0, W - 1)
    return labels, endings, actions, words


def share_right(fit, f, own):
    """Return the share of (label, ending) whose best action is found."""
    found = np.array([fit.rewards(u).argmax(axis=1) for u in range(len(own))])
    return float((found == f[own].argmax(axis=2)).mean())


@pytest.mark.parametrize("seed", range(3))
def test_a_round_is_expectation_maximisation(seed):
    generator = np.random.default_rng(seed)
    cells = TupleCells(2, 2, 3)
    counts = count_cells(generator.integers(7, size=60), generator.integers(12, size=60), 8, cells.size)
    pooled = pool(counts, cells)
    tables = generator.dirichlet(np.ones(3), (3, 4)).reshape(3, 12)
    pi = generator.dirichlet(np.ones(3))
    rows, _ = classify(counts, ClassMixture(np.log(pi), np.log(tables)))
    after = fit_tables(counts, np.exp(rows), pooled, 3)
    slow = em_step_slowly(counts.toarray().tolist(), pi.tolist(), tables.tolist(), pooled.tolist(), 3)
    np.testing.assert_allclose(np.exp(rows), slow[0], atol=1e-12)
    np.testing.assert_allclose(np.exp(after.log_pi), slow[1], atol=1e-12)
    np.testing.assert_allclose(np.exp(after.log_tables), slow[2], atol=1e-12)


def test_each_round_gains():
    generator = np.random.default_rng(1)
    cells = TupleCells(S, K, W)
    (labels, *rest), _, _ = draw_people(generator, 40, 3, 800)
    counts = count_cells(labels, cells.of(*rest), 40, cells.size)
    pooled = pool(counts, cells)
    begin = fit_tables(counts, generator.dirichlet(np.ones(3), 40), pooled, W)
    worth = [climb_classes(counts, begin, pooled, W, rounds)[1] for rounds in (1, 2, 4, 8, 16)]
    assert (np.diff(worth) >= 0).all()
    assert worth[-1] > worth[0] + 10


def test_labels_of_three_kinds_are_found_and_pleased():
    """1,000 labels by Zipf, 6,000 tuples: most labels have two or three, and share what the others said."""
    generator = np.random.default_rng(0)
    often = 1 / np.arange(1, 1001)
    data, f, own = draw_people(generator, 1000, 3, 6000, often / often.sum())
    fit = fit_classes(*data, 1000, MASK, W, generator)
    assert fit.shared
    assert fit.n_classes == 3
    heard = np.bincount(data[0], minlength=1000) >= 10
    found = np.array([fit.rewards(u).argmax(axis=1) for u in range(1000)])
    assert (found == f[own].argmax(axis=2))[heard].mean() > 0.95
    assert fit.z > 10
    each = np.zeros((1000, S, K, W))
    np.add.at(each, data, 1)
    alone = judge_groups(each, MASK, 0.0, JudgementSettings()).f.argmax(axis=2)
    assert (alone == f[own].argmax(axis=2))[heard].mean() < 0.6, "the control must fail: each by itself"


@pytest.mark.parametrize("how", ["words", "within labels"])
def test_control_words_that_tell_nothing_are_no_evidence(how):
    """Words of anybody; or of the same label after some other action: labels differ, and still nothing pleases."""
    generator = np.random.default_rng(1)
    for _ in range(5):
        (labels, endings, actions, words), f, own = draw_people(generator, 60, 2, 3000)
        if how == "words":
            words = generator.permutation(words)
        else:
            order = np.lexsort((generator.random(3000), endings, labels))
            actions = actions[order][np.argsort(np.lexsort((endings, labels)))]
        fit = fit_classes(labels, endings, actions, words, 60, MASK, W, generator)
        assert fit.z < 3
        assert share_right(fit, f, own) < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_two_groups_are_two_classes(seed):
    generator = np.random.default_rng(seed)
    data, f, own = draw_people(generator, 200, 2, 3000)
    fit = fit_classes(*data, 200, MASK, W, generator)
    assert fit.shared
    assert fit.n_classes == 2
    assert share_right(fit, f, own) > 0.97


@pytest.mark.parametrize("seed", range(3))
def test_labels_with_nothing_in_common_are_read_by_themselves(seed):
    generator = np.random.default_rng(seed)
    fit = fit_classes(*draw_strangers(generator, 50, 20_000), 50, MASK, W, generator)
    assert not fit.shared
    assert fit.z > 10


def test_one_more_tuple_moves_a_label_by_what_its_classes_say():
    generator = np.random.default_rng(3)
    data, _, own = draw_people(generator, 80, 2, 3000)
    fit = fit_classes(*data, 80, MASK, W, generator)
    rows = fit.rows.copy()
    counts = count_cells(np.zeros(1, dtype=int), np.array([(1 * K + 2) * W + 1]), 1, S * K * W)
    np.testing.assert_allclose(fit.after(80, 1, 2, 1), classify(counts, fit.mixture)[0][0], atol=1e-12)
    np.testing.assert_allclose(np.exp(fit.after(5, 1, 2, 1)).sum(), 1)
    np.testing.assert_array_equal(fit.rows, rows)
    mine = fit.posterior(0).argmax()
    row = fit.row(999)
    np.testing.assert_array_equal(row, fit.mixture.log_pi)
    for s, a, w in zip(*(column[own[data[0]] == 0][:40] for column in data[1:]), strict=True):
        row = fit.after(999, s, a, w, row)
    assert np.exp(row[mine]) > 0.99, "a new label of the first kind is soon of its class"
    np.testing.assert_allclose(fit.rewards(999, row), fit.judged.f[mine], atol=0.02)


def test_what_a_word_tells_depends_on_who_says_it():
    generator = np.random.default_rng(4)
    data, f, _ = draw_people(generator, 80, 2, 4000)
    fit = fit_classes(*data, 80, MASK, W, generator)
    for u in (0, 1):
        best = int(f[u, 0].argmax())
        pleased = int(SPEAK[u, 1].argmax())
        assert fit.told(u, 0, best, pleased) > 0.9
        assert fit.told(u, 0, best, int(SPEAK[u, 0].argmax())) < 0.1


def test_draws_scatter_around_what_is_known_and_over_what_may_be():
    generator = np.random.default_rng(5)
    data, _, _ = draw_people(generator, 80, 2, 4000)
    fit = fit_classes(*data, 80, MASK, W, generator)
    normals = generator.standard_normal((400, *MASK.shape))
    draws = fit.draws(0, normals)
    np.testing.assert_allclose(draws.mean(axis=0), fit.rewards(0), atol=0.03)
    assert (draws.std(axis=0) > 0.002).all()
    nothing = fit_classes(*(np.zeros(0, dtype=int) for _ in range(4)), 3, MASK, W, generator)
    draws = nothing.draws(0, normals)
    assert draws.max() > 0.9
    best = np.bincount(draws[:, 0].argmax(axis=1), minlength=K) / 400
    np.testing.assert_allclose(best, 1 / K, atol=0.08)
    assert (nothing.gain, nothing.z, nothing.n_classes) == (0.0, 0.0, 1)


def test_actions_that_an_ending_does_not_have_are_worth_nothing():
    generator = np.random.default_rng(6)
    (labels, endings, actions, words), _, _ = draw_people(generator, 40, 2, 3000)
    mask = MASK.copy()
    mask[1, 3] = False
    kept = mask[endings, actions]
    data = [column[kept] for column in (labels, endings, actions, words)]
    fit = fit_classes(*data, 40, mask, W, generator)
    assert fit.rewards(0)[1, 3] == 0
    assert not fit.draws(0, generator.standard_normal((5, *mask.shape)))[:, 1, 3].any()


def same(one, other):
    """Return whether two saved trees are the same to the last bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return np.array_equal(one, other) and type(one) is type(other)


@pytest.mark.parametrize("shared", [True, False])
def test_saved_and_restored_it_is_the_same(shared, tmp_path):
    generator = np.random.default_rng(7)
    data = draw_people(generator, 20, 2, 6000)[0] if shared else draw_strangers(generator, 20, 6000)
    fit = fit_classes(*data, 20, MASK, W, generator)
    assert fit.shared == shared
    save_tree(tmp_path / "classes", "classes", fit.to_state())
    again = LabelClasses.from_state(load_tree(tmp_path / "classes", "classes"))
    assert same(fit.to_state(), again.to_state())
    np.testing.assert_array_equal(fit.rewards(3), again.rewards(3))
    normals = generator.standard_normal((5, *MASK.shape))
    np.testing.assert_array_equal(fit.draws(3, normals), again.draws(3, normals))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log_pi", np.zeros(0)),
        ("rows", np.zeros((20, 2))),
        ("unread", float("nan")),
        ("evidence", {}),
        ("words", 4),
        ("own", {}),
        ("log_tables", np.zeros((3, 3))),
    ],
)
def test_a_state_of_wrong_content_is_refused(name, value):
    generator = np.random.default_rng(8)
    data, _, _ = draw_people(generator, 20, 2, 2000)
    state = fit_classes(*data, 20, MASK, W, generator).to_state()
    with pytest.raises(CheckpointError):
        LabelClasses.from_state(state | {name: value})


def test_the_same_generator_gives_the_same_classes_and_inputs_stay_as_they_are():
    data, _, _ = draw_people(np.random.default_rng(9), 60, 3, 3000)
    copies = [column.copy() for column in data]
    fits = [fit_classes(*data, 60, MASK, W, np.random.default_rng(0)) for _ in range(2)]
    assert same(fits[0].to_state(), fits[1].to_state())
    for column, copied in zip(data, copies, strict=True):
        np.testing.assert_array_equal(column, copied)


def test_an_earlier_fit_is_a_beginning():
    """Labels may have come, and words: a fit of other words is none."""
    generator = np.random.default_rng(10)
    data, f, own = draw_people(generator, 60, 3, 4000)
    first = fit_classes(*(column[:2000] for column in data), 60, MASK, W, generator)
    assert share_right(fit_classes(*data, 60, MASK, W, generator, first), f, own) > 0.97
    assert share_right(fit_classes(*data, 60, MASK, W + 1, generator, first), f, own) > 0.97


@pytest.mark.parametrize("column", range(4))
def test_tuples_of_what_there_is_not_are_refused(column):
    data = [np.zeros(5, dtype=int) for _ in range(4)]
    data[column] = np.full(5, 90)
    with pytest.raises(ValueError, match="must be from 0 to"):
        fit_classes(*data, 2, MASK, W, np.random.default_rng(0))
    data[column] = np.zeros(4, dtype=int)
    with pytest.raises(ValueError, match="must be as many as"):
        fit_classes(*data, 2, MASK, W, np.random.default_rng(0))

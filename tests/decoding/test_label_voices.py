"""Labels that share what words mean and nothing else: voices are found, both ways round, and nothing where none is."""

import numpy as np
import pytest

import tacit.decoding.label_fit as label_fit
from tacit.base.checkpoint import CheckpointError, load_tree, save_tree
from tacit.decoding.label_classes import fit_classes, forget_rewards
from tacit.decoding.label_fit import fit_labels
from tacit.decoding.label_mixture import TupleCells, count_cells, normalise
from tacit.decoding.label_voices import (
    LEVELS,
    begin_voices,
    climb_voices,
    find_grids,
    gather_said,
    read_levels,
    speak_alone,
    speak_in,
    weigh_labels,
)
from tacit.decoding.people import LabelPeople
from tacit.decoding.voiced_labels import VoicedLabels, draw_levels

U, S, K, W = 80, 3, 3, 12
MASK = np.ones((S, K), dtype=bool)


def draw(seed, n=8000, by_ending=False, strange=0.0, tells=True):
    """Return tuples of labels that differ in what pleases them; odd ones mean the opposite.

    A share of them is `strange`: each has words of its own. Without `tells`, words are those of anybody there.
    """
    generator = np.random.default_rng(seed)
    best = generator.integers(K, size=(U, S))
    f = np.where(np.arange(K) == best[..., None], 0.85, 0.05)
    labels, endings, actions = (generator.integers(size, size=n) for size in (U, S, K))
    pleased = generator.random(n) < f[labels, endings, actions]
    side = pleased != (labels % 2 == 1)
    orders = np.stack([generator.permutation(W) for _ in range(S)])
    words = generator.integers(W // 2, size=n) + W // 2 * side
    words = orders[endings if by_ending else 0, words]
    own = np.stack([generator.permutation(W) for _ in range(U)])
    words = np.where(labels < strange * U, own[labels, words], words)
    if not tells:
        order = np.lexsort((generator.random(n), endings, labels))
        actions = actions[order][np.argsort(np.lexsort((endings, labels)))]
    return (labels, endings, actions, words), best


def fit(data, seed=0, before=None):
    uniform = np.ones(len(data[0]), dtype=bool)
    return fit_labels(*data, uniform, U, MASK, W, np.random.default_rng(seed), before)


def share_right(model, best):
    return np.mean([model.rewards(u).argmax(axis=1) == best[u] for u in range(U)])


@pytest.mark.parametrize("by_ending", [False, True])
def test_what_words_mean_is_shared_and_what_pleases_is_not(by_ending):
    """80 labels, 3 endings, 12 words, a hundred tuples a label: by classes or by itself a label knows little."""
    data, best = draw(0, by_ending=by_ending)
    model = fit(data)
    assert isinstance(model, VoicedLabels)
    assert len(model.voices.usual) == (S if by_ending else 1)
    assert share_right(model, best) > 0.9
    assert model.gain > 100
    assert model.unread < 0.05
    alone = fit_classes(*data, U, MASK, W, np.random.default_rng(0))
    assert share_right(alone, best) < 0.75, "the control must fail: without voices"


def test_labels_that_speak_as_nobody_else_are_in_no_voice():
    data, best = draw(1, strange=0.5)
    model = fit(data)
    assert isinstance(model, VoicedLabels)
    heard = gather_said(
        count_cells(data[0], TupleCells(S, K, W).of(*data[1:]), U, S * K * W), TupleCells(S, K, W), False
    )
    none = speak_in(heard, model.voices)[:, -1]
    assert none[: U // 2].mean() > 0.5
    assert none[U // 2 :].mean() < 0.05
    assert np.mean([model.rewards(u).argmax(axis=1) == best[u] for u in range(U // 2, U)]) > 0.85
    assert 0.1 < model.unread < 0.6
    assert 0 < model.strangers < (none > 0.5).sum(), "of some of them their own tuples tell what pleases"


def test_of_labels_in_no_voice_nothing_is_said_that_their_held_out_tuples_do_not_show(monkeypatch):
    data, _ = draw(1, n=3000, strange=0.5)
    model = fit(data)
    assert isinstance(model, VoicedLabels)
    assert not model.others.knows.any()
    assert model.strangers > 30
    assert model.unread > 0.4
    monkeypatch.setattr(label_fit, "STRANGER_NATS", -np.inf)
    assert fit(data).others.knows.any(), "the control must know what was not shown"


def test_rewards_that_are_forgotten_are_worth_c():
    classes = forget_rewards(fit_classes(*draw(0)[0], U, MASK, W, np.random.default_rng(0)), 0.25)
    assert (classes.rewards(3) == 0.25).all()
    assert classes.told(3, 0, 1, 2) == pytest.approx(0.25)
    assert classes.strangers == U
    assert classes.unread == 1.0


def test_where_little_was_heard_it_is_not_known_what_pleases_though_words_are():
    few, many = (fit(draw(0, n=n)[0]) for n in (800, 8000))
    assert isinstance(few, VoicedLabels)
    assert few.unread > 0.1 > 0.05 > many.unread
    assert few.strangers == many.strangers == 0


@pytest.mark.parametrize("seed", range(4))
def test_control_actions_that_change_nothing_are_no_evidence(seed):
    data, best = draw(seed, n=4000, tells=False)
    model = fit(data)
    assert model.gain < 8
    assert share_right(model, best) < 0.5


def test_levels_are_summed_out_exactly():
    """Against a slow sum over levels, pair by pair."""
    data, _ = draw(2, n=600)
    cells = TupleCells(S, K, W)
    heard = gather_said(count_cells(data[0], cells.of(*data[1:]), U, cells.size), cells, True)
    voices, _ = climb_voices(heard, begin_voices(heard), 3)
    levels, logs = read_levels(find_grids(heard, voices), voices)
    for u, s, a in ((0, 0, 0), (3, 1, 2), (7, 2, 1)):
        here = (data[0] == u) & (data[1] == s) & (data[2] == a)
        for turned in (0, 1):
            pi = voices.levels[s][:: -1 if turned else 1]
            chances = [
                p
                * np.prod(
                    [
                        level * voices.sides[0, 1, s, w] + (1 - level) * voices.sides[0, 0, s, w]
                        for w in data[3][here]
                    ]
                )
                for p, level in zip(pi, LEVELS, strict=True)
            ]
            assert logs[turned, 0, u, s, a] == pytest.approx(np.log(np.sum(chances)))
            np.testing.assert_allclose(levels[turned, 0, u, s, a], chances / np.sum(chances), atol=1e-9)


def test_where_nothing_was_said_levels_are_as_common_as_they_are():
    """Most of what 60 tuples leave of 720 pairs of a label, ending and action."""
    data, _ = draw(2, n=60)
    cells = TupleCells(S, K, W)
    counts = count_cells(data[0], cells.of(*data[1:]), U, cells.size)
    heard = gather_said(counts, cells, True)
    voices, _ = climb_voices(heard, begin_voices(heard), 3)
    levels, logs = read_levels(find_grids(heard, voices), voices)
    silent = np.asarray(heard.pairs.sum(axis=1)).reshape(U, S, K) == 0
    assert silent.sum() >= 660
    pi = np.stack([voices.levels, voices.levels[:, ::-1]])[:, None, None, :, None]
    np.testing.assert_allclose(levels[:, :, silent], np.broadcast_to(pi, levels.shape)[:, :, silent])
    assert not logs[:, :, silent].any()
    assert (logs[:, :, ~silent] < 0).all()


def test_each_round_gains():
    data, _ = draw(3, n=3000)
    cells = TupleCells(S, K, W)
    heard = gather_said(count_cells(data[0], cells.of(*data[1:]), U, cells.size), cells, False)
    begin = begin_voices(heard)
    alone = speak_alone(heard.words, begin.usual, begin.strength)
    worth = []
    for rounds in (1, 4, 10):
        voices, _ = climb_voices(heard, begin, rounds)
        worth.append(normalise(weigh_labels(find_grids(heard, voices), alone, voices)[0])[1].sum())
    assert (np.diff(worth) > 0).all()


def test_one_more_tuple_is_what_a_fit_would_have_written():
    data, _ = draw(4)
    model = fit(data)
    u, s, a, w = 5, 1, 2, 3
    cells = TupleCells(S, K, W)
    more = [np.append(column, value) for column, value in zip(data, (u, s, a, w), strict=True)]
    heard = gather_said(
        count_cells(more[0], cells.of(*more[1:]), U, cells.size), cells, len(model.voices.usual) > 1
    )
    after = model.after(u, s, a, w)
    grid = find_grids(heard, model.voices)[:, u]
    np.testing.assert_allclose(after[: grid.size], grid.ravel(), atol=1e-9)
    alone = speak_alone(heard.words, model.voices.usual, model.voices.strength)[u]
    assert after[grid.size] == pytest.approx(alone)
    np.testing.assert_array_equal(model.row(u), model.rows[u])
    np.testing.assert_allclose(model.expect_words(u, s, a).sum(), 1)
    np.testing.assert_allclose([model.chances(u, s, w)[a]], model.expect_words(u, s, a)[w])


def test_a_new_label_is_soon_in_its_voice():
    data, best = draw(5)
    model = fit(data)
    row = model.row(U + 3)
    assert np.ptp(model.rewards(U + 3, row)) < 0.2
    for s, a, w in zip(*(column[data[0] == 1] for column in data[1:]), strict=True):
        row = model.after(U + 3, s, a, w, row)
    np.testing.assert_array_equal(model.rewards(U + 3, row).argmax(axis=1), model.rewards(1).argmax(axis=1))
    word = data[3][(data[0] == 1) & (data[1] == 0) & (data[2] == best[1, 0])]
    told = [model.told(1, 0, int(best[1, 0]), int(w)) for w in word]
    assert np.mean(np.array(told) > 0.5) > 0.7


def test_draws_scatter_around_what_is_known():
    data, _ = draw(6)
    model = fit(data)
    normals = np.random.default_rng(1).standard_normal((2000, S, K))
    draws = model.draws(0, normals)
    np.testing.assert_allclose(draws.mean(axis=0), model.rewards(0), atol=0.05)
    assert draws.std() > 0.05


def test_saved_and_restored_it_is_the_same(tmp_path):
    data, _ = draw(7)
    model = fit(data)
    save_tree(tmp_path / "voices", "voices", model.to_state())
    again = VoicedLabels.from_state(load_tree(tmp_path / "voices", "voices"))
    for u in (0, 9, U + 1):
        np.testing.assert_array_equal(model.rewards(u), again.rewards(u))
        np.testing.assert_array_equal(model.after(u, 0, 1, 2), again.after(u, 0, 1, 2))
    for name, value in (("rows", np.zeros((U, 3))), ("unread", 2.0), ("voices", {}), ("evidence", {})):
        with pytest.raises(CheckpointError):
            VoicedLabels.from_state(model.to_state() | {name: value})


def test_an_earlier_fit_is_a_beginning():
    data, best = draw(8)
    first = fit([column[:5000] for column in data])
    assert share_right(fit(data, before=first), best) > 0.9


def test_the_kernel_draws_levels_as_often_as_they_are_likely():
    """Against the place of each number among cumulative chances."""
    generator = np.random.default_rng(0)
    levels = generator.dirichlet(np.ones(len(LEVELS)), (S, K))
    chances = generator.random((50, S, K))
    index = (chances[..., None] > np.cumsum(levels, axis=2)[..., :-1]).sum(axis=3)
    np.testing.assert_array_equal(draw_levels(levels, chances, LEVELS), LEVELS[index])


@pytest.mark.parametrize("read", [fit_labels, fit_classes])
def test_all_tuples_of_a_label_are_read_at_once_as_each_by_itself(read, monkeypatch):
    """Once for each label, not for each tuple: of 200 labels and 50 words that was most of a diagnosis."""
    data, _ = draw(6, n=3000)
    model = fit(data) if read is fit_labels else fit_classes(*data, U, MASK, W, np.random.default_rng(0))
    people = LabelPeople(model, {3: model.after(3, 0, 0, 0)})
    labels, endings, _, words = data
    groups, values = people.read(labels, endings, words)
    for n in range(0, 3000, 50):
        u, s, w = int(labels[n]), int(endings[n]), int(words[n])
        best = int(people.rewards(u)[s].argmax())
        like = people.told(u, s, best, w) > people.rewards(u)[s, best]
        assert (groups[n], values[n]) == (best, like)
    asked = []
    kind, rewards = type(model), type(model).rewards
    monkeypatch.setattr(kind, "rewards", lambda self, u, row=None: asked.append(u) or rewards(self, u, row))
    people.read(labels, endings, words)
    assert len(asked) == len(set(labels.tolist()))

"""What pleases and what words mean by context: the likelihood against a slow twin, what is recovered, what is not."""

from dataclasses import replace

import numpy as np
import pytest
from reference_personal import cost_slowly, said_slowly
from scipy.special import expit

from tacit.base.checkpoint import CheckpointError
from tacit.base.saved import Saved
from tacit.decoding.personal_fit import fit_personal_meaning
from tacit.decoding.personal_likelihood import (
    MINORITY_COST,
    OVERLAP_COST,
    Parameters,
    Ridge,
    hear,
    mean_rewards,
    penalised_cost,
    tell,
)
from tacit.decoding.personal_meaning import PersonalMeaning

RIDGE = Ridge(0.05, 0.7, 0.3, 1.1, 0.9)
MASK = np.array([[True, True, True], [True, True, False]])


def draw_tuples(generator, n=40, units=2, endings=2, linear=3, words=3, above=0.0):
    """Return tuples of endings with three and two actions, and parameters; `above` moves f up."""
    mask = MASK[:endings]
    D = linear + units
    parameters = Parameters(
        generator.normal(size=(units, linear)),
        generator.normal(size=(*mask.shape, D)),
        generator.normal(size=(2, words, D)),
        generator.normal(size=(2, endings, words, D)) * (endings > 1),
    )
    parameters.theta[..., 0] += above
    x = np.column_stack([np.ones(n), generator.normal(size=(n, linear - 1))])
    s = generator.integers(endings, size=n)
    a = np.array([generator.integers(mask[z].sum()) for z in s])
    return x, s, a, generator.integers(words, size=n), mask, parameters


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("above", [-1.0, 2.0])
@pytest.mark.parametrize(("endings", "units"), [(1, 0), (1, 2), (2, 0), (2, 3)])
def test_the_cost_is_that_of_its_slow_twin(endings, units, above, known):
    generator = np.random.default_rng([endings, units])
    x, s, a, w, mask, parameters = draw_tuples(generator, endings=endings, units=units, above=above)
    rho = generator.random(len(w)) if known else None
    heard, order = hear(x, s, a, w, len(mask))
    cost, _ = penalised_cost(heard, mask, parameters, RIDGE, None if rho is None else rho[order])
    costs = MINORITY_COST, OVERLAP_COST
    assert cost == pytest.approx(cost_slowly(x, s, a, w, mask, parameters, RIDGE, *costs, rho))


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("above", [-1.0, 2.0])
@pytest.mark.parametrize(("endings", "units"), [(1, 0), (2, 3)])
def test_the_gradient_is_that_of_finite_differences(endings, units, above, known):
    generator = np.random.default_rng([endings, units, 1])
    x, s, a, w, mask, parameters = draw_tuples(generator, endings=endings, units=units, above=above)
    heard, _ = hear(x, s, a, w, len(mask))
    rho = generator.random(len(w)) if known else None
    flat, step = parameters.flat(), 1e-6
    _, slopes = penalised_cost(heard, mask, parameters, RIDGE, rho)
    found = slopes.flat()
    for i in range(len(flat)):
        moved = [flat.copy(), flat.copy()]
        moved[0][i], moved[1][i] = flat[i] - step, flat[i] + step
        low, high = (penalised_cost(heard, mask, parameters.like(m), RIDGE, rho)[0] for m in moved)
        assert found[i] == pytest.approx((high - low) / (2 * step), abs=2e-4, rel=1e-5)


def test_what_is_told_of_tuples_is_what_the_slow_twin_tells():
    x, s, a, w, mask, parameters = draw_tuples(np.random.default_rng(3))
    heard, order = hear(x, s, a, w, 2)
    told = tell(heard, parameters)
    slow = np.array([said_slowly(x[i], s[i], a[i], w[i], *parameters) for i in order])
    np.testing.assert_allclose(told.logs, np.log(slow[:, 0]))
    np.testing.assert_allclose(told.rho, slow[:, 1])
    u = np.column_stack([x, np.tanh(x @ parameters.units.T)])[order]
    means = [expit(parameters.theta[z][mask[z]] @ u[i]).mean() for i, z in enumerate(s[order])]
    np.testing.assert_allclose(mean_rewards(heard, mask, parameters), means)


def test_endings_nobody_came_to_and_logits_that_are_extreme_are_no_trouble():
    x, s, a, w, mask, parameters = draw_tuples(np.random.default_rng(4))
    heard, _ = hear(x, np.zeros_like(s), np.minimum(a, 1), w, 2)
    huge = Parameters(*(1e3 * part for part in parameters))
    cost, slopes = penalised_cost(heard, mask, huge, RIDGE)
    assert np.isfinite(cost)
    assert np.isfinite(slopes.flat()).all()


def draw_people(n, seed, turned=True, endings=1):
    """Return tuples of people whose first and third feature say what pleases, and whose second turns words round."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, 4)) * [1.0, 1.0, 100.0, 0.0]
    s, a = generator.integers(endings, size=n), generator.integers(4, size=n)
    pleasing = truth(x, endings)
    r = generator.random(n) < pleasing[np.arange(n), s, a]
    said = np.where(generator.random(n) < 0.9, r, ~r) ^ (turned & (x[:, 1] > 0))
    return x, s, a, said.astype(np.int64)


def fit_uniform(x, s, a, w, *more):
    """Return the model of tuples whose actions were all uniform."""
    return fit_personal_meaning(x, s, a, w, np.ones(len(a), dtype=bool), *more)


def truth(x, endings=1):
    """Return f (n, S, 4): each action pleases a quarter, by the signs of two features; no constant one earns."""
    best = (2 * (x[:, 0] > 0) + (x[:, 2] > 0))[:, None] + np.arange(endings)
    f = np.full((len(x), endings, 4), 0.1)
    for s in range(endings):
        f[np.arange(len(x)), s, best[:, s] % 4] = 0.8
    return f


def share(model, endings=1):
    """Return the part of the way from uniform play to the best that the model's best actions earn, of fresh people."""
    x = draw_people(2000, 99)[0]
    f, taken = truth(x, endings), model.rewards_many(x).argmax(axis=2)
    got = np.take_along_axis(f, taken[..., None], axis=2).mean()
    return (got - f.mean()) / (f.max(axis=2).mean() - f.mean())


@pytest.fixture(scope="module")
def model():
    x, s, a, w = draw_people(3000, 1)
    return fit_uniform(x, s, a, w, np.ones((1, 4), bool), 2, np.random.default_rng(1))


def test_what_pleases_is_found_though_half_of_the_people_mean_the_opposite(model):
    """Over 0.9 of the way; a count of words that does not know the context earns nothing."""
    assert model.kind in ("linear", "units")
    assert share(model) > 0.9
    assert model.z > 5
    assert model.told(np.array([1.0, -2.0, 100.0, 0.0]), 0, 3, 1) > 0.9
    assert model.told(np.array([1.0, 2.0, 100.0, 0.0]), 0, 3, 1) < 0.6
    assert model.meanings(np.array([1.0, 2.0, 100.0, 0.0]), 0)[1].argmax() == 0


def test_endings_are_learned_together():
    x, s, a, w = draw_people(3000, 2, endings=2)
    model = fit_uniform(x, s, a, w, np.ones((2, 4), bool), 2, np.random.default_rng(1))
    assert share(model, endings=2) > 0.85


def test_tuples_need_no_uniform_actions():
    """The best action is taken two times of three."""
    x, s, a, w = draw_people(6000, 3)
    best = a == truth(x)[:, 0].argmax(axis=1)
    kept = best | (np.random.default_rng(3).random(len(a)) < 1 / 6)
    model = fit_uniform(
        x[kept], s[kept], a[kept], w[kept], np.ones((1, 4), bool), 2, np.random.default_rng(1)
    )
    assert best[kept].mean() > 0.6
    assert share(model) > 0.85


@pytest.mark.parametrize(("looked", "again"), [(400, True), (1000, False)])
def test_tuples_of_an_ending_where_nothing_was_found_are_looked_at_only_so_often(looked, again):
    """In the second ending people say anything; tuples there grow for good, as where slips lead to."""
    x, s, a, w = draw_people(1800, 5, endings=2)
    order = np.argsort(s, kind="stable")[: (s == 0).sum() // 2 + (s == 1).sum() * 2]
    x, s, a, w = (column[order] for column in (x, s, a, w))
    w = np.where(s == 1, np.random.default_rng(5).integers(2, size=len(w)), w)
    model = fit_uniform(x, s, a, w, np.ones((2, 4), bool), 2, np.random.default_rng(1))
    assert model.telling.tolist() == [True, False]
    before = replace(model, looked=np.array([model.looked[0], looked]))
    more = x, np.ones_like(s), a, np.random.default_rng(6).integers(2, size=len(w))
    both = (np.concatenate(pair) for pair in zip((x, s, a, w), more, strict=True))
    later = fit_uniform(*both, np.ones((2, 4), bool), 2, np.random.default_rng(2), before)
    assert (later.looked[1] > before.looked[1]) == again


@pytest.mark.parametrize("seed", range(3))
def test_control_words_that_were_shuffled_are_no_evidence_and_earn_nothing(seed):
    x, s, a, w = draw_people(1500, 1)
    w = np.random.default_rng(seed).permutation(w)
    model = fit_uniform(x, s, a, w, np.ones((1, 4), bool), 2, np.random.default_rng(seed))
    assert model.z < 3
    assert share(model) < 0.3


def test_control_words_that_depend_on_the_person_alone_are_no_evidence():
    """They follow the features, not linearly: a mixture fits them well, and with actions no better."""
    x, s, a, _ = draw_people(2000, 5)
    w = ((x[:, 0] * x[:, 1] > 0) ^ (np.random.default_rng(5).random(len(a)) < 0.1)).astype(np.int64)
    model = fit_uniform(x, s, a, w, np.ones((1, 4), bool), 2, np.random.default_rng(1))
    assert model.z < 3


def test_errors_shrink_with_tuples_and_are_larger_far_from_them(model):
    x, s, a, w = draw_people(200, 1)
    few = fit_uniform(x, s, a, w, np.ones((1, 4), bool), 2, np.random.default_rng(1), model)
    near, far = np.array([0.3, 0.3, 0.0, 0.0]), np.array([3.5, 3.5, 300.0, 0.0])
    assert (model.logits(near)[1] < few.logits(near)[1]).all()
    assert (model.logits(near)[1] < model.logits(far)[1]).all()
    np.testing.assert_allclose(expit(model.logits(near)[0]) / model.stretches(near), model.rewards(near))


def test_many_contexts_are_judged_as_one_is(model):
    x = draw_people(5, 7)[0]
    np.testing.assert_allclose(model.rewards_many(x), [model.rewards(row) for row in x])


def test_actions_that_an_ending_has_not_are_never_the_best():
    x, s, a, w = draw_people(800, 4, endings=2)
    mask = np.array([[True] * 4, [True, True, True, False]])
    kept = mask[s, a]
    model = fit_uniform(x[kept], s[kept], a[kept], w[kept], mask, 2, np.random.default_rng(1))
    mean, error = model.logits(x[0])
    assert (mean[1, 3], error[1, 3], model.rewards(x[0])[1, 3]) == (-np.inf, 0.0, 0.0)
    with pytest.raises(ValueError, match="some that their endings have"):
        fit_uniform(x, s, a, w, mask, 2, np.random.default_rng(1))


def same(one, other):
    """Return whether two models are the same, bit for bit."""
    pairs = [(one.covariances, other.covariances), *zip(one.parameters, other.parameters, strict=True)]
    plain = ("gain", "z", "kind", "chosen_at", "steady", "ridge")
    return all(np.array_equal(a, b) for a, b in pairs) and all(
        getattr(one, name) == getattr(other, name) for name in plain
    )


def test_the_same_tuples_and_chance_give_the_same_model(model):
    x, s, a, w = draw_people(3000, 1)
    copies = [values.copy() for values in (x, s, a, w)]
    again = fit_uniform(x, s, a, w, np.ones((1, 4), bool), 2, np.random.default_rng(1))
    assert same(model, again)
    for before, after in zip(copies, (x, s, a, w), strict=True):
        np.testing.assert_array_equal(before, after)


def test_a_model_that_was_saved_is_the_same_and_goes_on_as_it_would_have(model):
    restored = PersonalMeaning.from_state(model.to_state())
    assert same(model, restored)
    x, s, a, w = draw_people(4000, 1)
    went_on = [
        fit_uniform(x, s, a, w, np.ones((1, 4), bool), 2, np.random.default_rng(2), each)
        for each in (model, restored)
    ]
    assert same(*went_on)
    assert went_on[0].chosen_at == 3000, "the form is chosen again when tuples are twice as many"
    assert share(went_on[0]) > 0.9


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        (None, "gain", np.inf),
        (None, "mask", np.ones((1, 3), bool)),
        (None, "extra", 1),
        ("parameters", "theta", np.zeros((1, 4, 2))),
        ("parameters", "gamma", np.full((2, 2, 3), np.nan)),
        ("basis", "kept", np.array([0, 9])),
        ("ridge", "slope", -1.0),
    ],
)
def test_wrong_content_is_refused(model, part, name, value):
    state = model.to_state()
    (state if part is None else state[part])[name] = value
    with pytest.raises(CheckpointError):
        restore(state)


def restore(state):
    """Restore a model as a file does: what nobody reads is refused."""
    saved = Saved(state)
    PersonalMeaning.from_state(saved)
    saved.refuse_unread()


@pytest.mark.parametrize("n", [0, 1, 5, 30])
def test_few_tuples_are_no_trouble(n):
    x, s, a, w = draw_people(30, 6)
    model = fit_uniform(x[:n], s[:n], a[:n], w[:n], np.ones((1, 4), bool), 2, np.random.default_rng(1))
    assert model.kind == "constant"
    assert np.isfinite(model.logits(np.zeros(4))[0]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": np.full(30, 2)}, "words must be 30 indices below 2"),
        ({"contexts": np.full((30, 4), np.nan)}, "contexts must be finite"),
        ({"actions": np.zeros(29, dtype=int)}, "actions must be 30 indices"),
    ],
)
def test_tuples_that_are_none_are_refused(change, message):
    x, s, a, w = draw_people(30, 6)
    given = {"contexts": x, "endings": s, "actions": a, "words": w} | change
    with pytest.raises(ValueError, match=message):
        fit_personal_meaning(
            **given,
            uniform=np.ones(30, dtype=bool),
            mask=np.ones((1, 4), dtype=bool),
            n_words=2,
            generator=np.random.default_rng(1),
        )

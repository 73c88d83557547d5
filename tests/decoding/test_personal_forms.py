"""Which forms are tried when: regions where too few tuples chose something else, and slopes last."""

import numpy as np

import tacit.decoding.personal_forms as personal_forms
from tacit.decoding.context_bases import fit_basis
from tacit.decoding.personal_fit import fit_personal_meaning
from tacit.decoding.personal_forms import FINEST, PARTED, PLAIN, REGIONS, SLOPING, TURNING, Form, list_forms
from tacit.decoding.personal_likelihood import Ridge, climb_likelihood, hear, no_parameters


def terms_of(forms):
    return {form.terms for form in forms}


def test_a_fresh_look_may_find_regions_where_linear_terms_of_many_features_were_taken():
    assert set(REGIONS) <= terms_of(list_forms(1000, Form("linear", 60, PLAIN)))
    assert not set(REGIONS) & terms_of(list_forms(1000, Form("linear", 4, PLAIN)))
    assert not set(REGIONS) & terms_of(list_forms(1000, Form("linear", 60, PLAIN), finer=True))


def test_regions_stay_regions_and_get_slopes_once_tuples_are_enough():
    known = Form("regions", 20, PARTED)
    assert terms_of(list_forms(3000, known)) == {*REGIONS, "pair"}  # a pair may have been missed
    assert [form.size for form in list_forms(3000, known, finer=True)] == [20, 40]
    assert list_forms(9000, known, finer=True) == [known, FINEST]
    assert terms_of(list_forms(9000, FINEST)) == {SLOPING, "pair"}
    assert list_forms(9000, FINEST, finer=True) == [FINEST]


def test_the_finest_form_has_terms_of_both():
    x = np.random.default_rng(0).normal(size=(500, 3))
    basis = FINEST.basis(fit_basis(x), x, None, np.random.default_rng(1))
    assert basis.n_terms == 1 + FINEST.size + 3
    assert FINEST.basis(fit_basis(np.ones((9, 2))), np.ones((9, 2)), None, np.random.default_rng(1)) is None


def draw_groups(n, seed):
    """Return tuples of people of twelve groups around centres; half mean the opposite; one action pleases each.

    Three of four actions are what pleases.
    """
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(5).normal(size=(12, 8)) * 3
    group = generator.integers(12, size=n)
    x = centres[group] + generator.normal(size=(n, 8)) * 0.7
    uniform = generator.random(n) < 0.25
    a = np.where(uniform, generator.integers(3, size=n), group % 3)
    r = generator.random(n) < np.where(a == group % 3, 0.9, 0.1)
    return x, a, (r ^ (group % 2 == 1)).astype(np.int64), uniform, group


def test_regions_that_are_known_get_finer_and_still_know_what_pleases():
    mask, model = np.ones((1, 3), dtype=np.bool_), None
    x, a, w, uniform, group = draw_groups(8000, 1)
    for n in (2000, 8000):
        told = x[:n], np.zeros(n, dtype=np.int64), a[:n], w[:n], uniform[:n]
        model = fit_personal_meaning(*told, mask, 2, np.random.default_rng(n), model)
    assert model.form in ("units", *REGIONS, SLOPING)
    assert model.chosen_at == 8000
    best = model.rewards_many(x)[:, 0].argmax(axis=1)
    assert (best == group % 3).mean() > 0.97


def draw_turned(n, seed, d=20):
    """Return tuples of people of many features in three endings; a direction turns words, a feature says what pleases.

    Three of four actions are each somebody's.
    """
    generator = np.random.default_rng(seed)
    x, s, a = generator.normal(size=(n, d)), generator.integers(3, size=n), generator.integers(4, size=n)
    pleased = generator.random(n) < np.where(a == best_turned(x, s), 0.8, 0.1)
    said = generator.integers(3, size=n) + 3 * (pleased ^ (x[:, :4].sum(axis=1) > 0.5))
    return x, s, a, said


def best_turned(x, s):
    return (x[np.arange(len(x)), 5 + s] > 0).astype(int) + 2 * (x[np.arange(len(x)), 8 + s] > 0)


def fit_turned(n):
    x, s, a, w = draw_turned(n, 1)
    mask = np.ones((3, 4), dtype=np.bool_)
    return fit_personal_meaning(x, s, a, w, np.ones(n, bool), mask, 6, np.random.default_rng(2))


def test_words_that_one_side_turns_are_understood_of_less_than_two_thousand_tuples():
    model = fit_turned(1700)
    x, s, *_ = draw_turned(3000, 9)
    best = model.rewards_many(x)[np.arange(3000), s].argmax(axis=1)
    assert model.form == TURNING
    assert model.gain > 10
    assert (best == best_turned(x, s)).mean() > 0.5


def test_control_with_a_weight_of_every_word_for_every_feature_they_are_not(monkeypatch):
    left = tuple(form for form in personal_forms.FORMS if form.terms != TURNING)
    monkeypatch.setattr(personal_forms, "FORMS", left)
    assert fit_turned(1700).gain < 4


def test_words_lean_on_the_sides_alone_where_they_are_told_to():
    mask, x = np.ones((1, 2), dtype=np.bool_), np.random.default_rng(0).normal(size=(400, 3))
    said = (x[:, 1] > 0).astype(np.int64)
    heard, _ = hear(np.column_stack([np.ones(400), x]), np.zeros(400, int), said, said, 1)
    start, rho = no_parameters(mask, 2, 4, np.zeros((0, 4))), np.full(400, 0.5)
    slopes = [
        np.abs(climb_likelihood(heard, mask, start, ridge, 40, rho).parameters.gamma).max(axis=(0, 1))
        for ridge in (Ridge(), Ridge(lean=300.0), Ridge(lean=300.0, sides=2))
    ]
    assert slopes[0][2] > 1 > 0.3 > slopes[1][2]
    assert slopes[2][2] > 1 > 0.3 > slopes[2][1]

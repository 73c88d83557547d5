"""Which forms are tried when: regions where too few tuples chose something else, and slopes last."""

import numpy as np

from tacit.decoding.context_bases import fit_basis
from tacit.decoding.personal_fit import fit_personal_meaning
from tacit.decoding.personal_forms import FINEST, PARTED, PLAIN, REGIONS, SLOPING, Form, list_forms


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

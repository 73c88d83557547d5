"""The fit of what pleases and what words mean by context: afresh, or going on from what is known.

The likelihood has many local optima: half of the regions of contexts may come out upside down. So several forms are
fitted from several beginnings (`tacit.decoding.personal_choice`); the one that held-out tuples choose is fitted to all.

Tuples of actions that were not uniform say little of what the other actions would have done, and so of which way round
a region is: only those of uniform ones choose from the beginning. Once something is known it is gone on from: a finer
form begins with whoever was pleased by the coarser one. If there are enough uniform tuples more, all is looked at
afresh, what is known being one beginning among others. Regions whose words, counted, tell the opposite are turned
round, if that is likelier, too.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.decoding.centres import find_centres, nearest
from tacit.decoding.context_bases import Basis, fit_basis, recentred
from tacit.decoding.personal_choice import (
    HELD_OUT,
    Chosen,
    Parts,
    Said,
    score_by_words,
    turn_majorities,
    turn_round,
)
from tacit.decoding.personal_endings import reread_endings
from tacit.decoding.personal_forms import FINEST, Form, are_regions, list_forms
from tacit.decoding.personal_likelihood import (
    Fitted,
    Heard,
    Parameters,
    Ridge,
    climb_likelihood,
    hear,
    no_parameters,
    tell,
)
from tacit.decoding.personal_meaning import (
    PersonalMeaning,
    estimate_covariances,
    estimate_doubt,
    find_telling,
)
from tacit.decoding.personal_starts import count_regions

MOST_TO_REFINE, MOST_TO_PART, MOST_FITTED = 6_000, 12_000, 20_000
"""Tuples by which a form is made finer, by which regions are, which take more, and that it is fitted to in the end."""
REFIT_STEPS = 40
"""Of L-BFGS then."""
CHOOSE_AGAIN, LOOK_AGAIN = 2.0, 1.5
"""Times as many tuples as when a form was last chosen until a finer one is tried, and times as many uniform ones as
when all was last looked at afresh, where words tell actions apart or where they do not yet."""
NOTHING_FOUND = 1000
"""Uniform tuples of an ending, looked at, in which words told nothing: that there are more is no reason to look."""
LATE = 1000
"""Uniform tuples: what so many were needed for to be seen at all is steady, for some more would hardly change it."""
STEADY = 0.25
"""Of what choosing is worth: the most that the best actions by what was known may lose by a fresh look to be steady."""
MOST_PARTS, TUPLES_PER_PART = 32, 60
"""Regions whose words are counted to see whether they tell the opposite, and tuples that each has on average."""


def fit_personal_meaning(
    contexts: FloatArray,
    endings: IntArray,
    actions: IntArray,
    words: IntArray,
    uniform: BoolArray,
    mask: BoolArray,
    n_words: int,
    generator: np.random.Generator,
    before: PersonalMeaning | None = None,
) -> PersonalMeaning:
    """Return what pleases and what words mean from n tuples: contexts (n, d); endings, actions and words as indices.

    `uniform` (n,) says whose action was drawn so; `mask` (S, K) which actions an ending has. A model `before` of the
    same problem is gone on from.

    >>> g = np.random.default_rng(0)
    >>> x, a = g.normal(size=(800, 2)), g.integers(3, size=800)
    >>> pleased = a == np.where(x[:, 0] > 0, 0, 1)  # what pleases depends on the person
    >>> none, all_of_them, all_three = np.zeros(800, int), np.ones(800, bool), np.ones((1, 3), bool)
    >>> model = fit_personal_meaning(x, none, a, pleased.astype(int), all_of_them, all_three, 2, g)
    >>> model.rewards(np.array([2.0, 0.0])).round(1).tolist(), model.gain > 50
    ([[1.0, 0.0, 0.0]], True)
    """
    said = _check(contexts, endings, actions, words, mask, n_words)
    if before is not None and not _continues(before, said, mask, n_words):
        before = None
    chosen, known = _choose(said, uniform, mask, n_words, generator, before)
    return _fit_all(said, uniform, mask, chosen, known, generator)


def _fit_all(
    said: Said,
    uniform: BoolArray,
    mask: BoolArray,
    chosen: Chosen,
    known: Chosen | None,
    generator: np.random.Generator,
) -> PersonalMeaning:
    """Return a chosen form fitted to all tuples, as far as they are not too many; what is `known` begins it, if any."""
    chosen = chosen._replace(basis=recentred(chosen.basis, said.contexts))
    rows = _sample(said, uniform & find_telling(chosen.gains)[said.endings], generator)
    fitted_to = said.part(rows)
    heard, order = hear(chosen.basis(fitted_to.contexts), *fitted_to[1:], len(mask))
    ridge = chosen.form.ridge
    start = chosen.parameters
    if known is not None:
        n_words = start.gamma.shape[1]
        start = _begin(heard, mask, n_words, ridge, _recall(known, fitted_to, mask)[order])
    warm = climb_likelihood(heard, mask, start, ridge, REFIT_STEPS)
    is_new = chosen.chosen_at == len(said.words)
    # The finest form is begun with what is known, and where it is in doubt, that is between regions: none is turned.
    settled = chosen.steady and not is_new and chosen.form.terms == FINEST.terms
    fitted = warm if settled else turn_majorities(heard, mask, warm, chosen.form, REFIT_STEPS)
    if is_new:
        regions = _part(chosen.basis, fitted_to, generator)[order]
        fitted = _turn_regions(heard, mask, fitted, chosen.form, regions)
    telling, uniform = find_telling(chosen.gains), uniform[rows][order]
    fitted = reread_endings(heard, uniform, telling, mask, fitted, chosen.form, REFIT_STEPS)
    covariances = estimate_covariances(heard, fitted.parameters, ridge) * (
        len(rows) / max(len(said.words), 1)
    )
    doubt = estimate_doubt(heard, fitted.parameters, telling)
    return PersonalMeaning(
        *(
            said.contexts.shape[1],
            chosen.basis,
            fitted.parameters,
            covariances,
            mask,
            ridge,
            chosen.form.terms,
        ),
        *(chosen.gains, chosen.z, chosen.chosen_at, chosen.looked, chosen.steady, doubt),
    )


def _check(
    contexts: FloatArray, endings: IntArray, actions: IntArray, words: IntArray, mask: BoolArray, n_words: int
) -> Said:
    """Return the tuples, if they are some."""
    n = len(contexts)
    if contexts.ndim != 2 or not np.isfinite(contexts).all():
        raise ValueError(
            f"contexts must be finite numbers of shape (n, d), got shape {contexts.shape}; encode them first"
        )
    for name, values, size in (
        ("endings", endings, mask.shape[0]),
        ("actions", actions, mask.shape[1]),
        ("words", words, n_words),
    ):
        if values.shape != (n,) or (n and not 0 <= values.min() <= values.max() < size):
            raise ValueError(f"{name} must be {n} indices below {size}, got {values!r}; count from 0")
    if not mask[endings, actions].all():
        raise ValueError("actions must be some that their endings have by the mask, got others; check both")
    return Said(contexts, endings, actions, words)


def _continues(before: PersonalMeaning, said: Said, mask: BoolArray, n_words: int) -> bool:
    """Return whether a model is one of the same problem."""
    same = before.dimension == said.contexts.shape[1] and before.n_words == n_words
    return same and np.array_equal(before.mask, mask)


def _sample(said: Said, uniform: BoolArray, generator: np.random.Generator) -> IntArray:
    """Return the tuples that are fitted to: all, or the uniform ones and some of the others by chance."""
    n = len(said.words)
    if n <= MOST_FITTED:
        return np.arange(n)
    first = np.flatnonzero(uniform)[-MOST_FITTED // 2 :]
    others = np.setdiff1d(np.arange(n), first)
    return np.sort(np.concatenate([first, generator.permutation(others)[: MOST_FITTED - len(first)]]))


def _choose(
    said: Said,
    uniform: BoolArray,
    mask: BoolArray,
    n_words: int,
    generator: np.random.Generator,
    before: PersonalMeaning | None,
) -> tuple[Chosen, Chosen | None]:
    """Return the form to fit, and where to begin: looked at afresh, made finer, or as it was.

    Finer regions begin with whoever was pleased by what is known, which is returned, too: the tuples by which they are
    chosen are too few for them.
    """
    n, looked_at = len(said.words), np.bincount(said.endings[uniform], minlength=len(mask))
    if before is None:
        parts = Parts(said.part(np.flatnonzero(uniform)), mask, n_words, generator)
        look = parts.look()
        return look._replace(chosen_at=n, looked=looked_at, steady=bool(looked_at.sum() >= LATE)), None
    known = Chosen(
        Form(before.form, before.basis.n_regions or before.basis.n_terms - 1, before.ridge),
        *(before.basis, before.parameters, 0.0, before.gains, before.z, before.chosen_at, before.looked),
        before.steady,
    )
    if _look_again(looked_at, before):
        parts = Parts(said.part(np.flatnonzero(uniform)), mask, n_words, generator)
        looked = parts.look(known)
        steady = looked.is_known or parts.lost(looked, known) <= STEADY
        if not looked.is_known or are_regions(looked.form) != are_regions(known.form):
            return looked._replace(chosen_at=n, looked=looked_at, steady=steady), None
        known = known._replace(gains=looked.gains, z=looked.z, looked=looked_at, steady=True)
    if n < CHOOSE_AGAIN * before.chosen_at or known.form.terms == FINEST.terms:
        return known, None
    if are_regions(known.form):
        finer = _refine_regions(said, mask, known, generator)._replace(chosen_at=n)
        return finer, known if finer.form != known.form else None
    finer = Parts(said, mask, n_words, generator, MOST_TO_REFINE).refine(known)
    known = known._replace(chosen_at=n)
    # What is known was fitted to what is held out here: forms alone are compared.
    if (finer.form.terms, finer.form.ridge) == (known.form.terms, known.form.ridge):
        return known, None
    return known._replace(form=finer.form, basis=finer.basis, parameters=finer.parameters), None


def _look_again(looked_at: IntArray, before: PersonalMeaning) -> bool:
    """Return whether there are enough uniform tuples (S,) more of telling endings, or of the others, to look afresh.

    The others are visited for good where slips lead there: what a thousand tuples did not show, more need not.
    """
    telling, others = before.telling, ~before.telling
    if before.looked[others].sum() >= NOTHING_FOUND * others.sum():
        others = np.zeros_like(telling)
    return any(
        looked_at[group].sum() >= LOOK_AGAIN * before.looked[group].sum()
        for group in (telling, others)
        if group.any()
    )


def _refine_regions(said: Said, mask: BoolArray, known: Chosen, generator: np.random.Generator) -> Chosen:
    """Return the likeliest of regions at least as fine as those known, each begun with whoever was pleased by them.

    It is what is known, fitted to all tuples, if that has the form: forms alone are compared.
    """
    order = generator.permutation(len(said.words))[:MOST_TO_PART]
    cut = len(order) // HELD_OUT
    kept_out, train = said.part(order[:cut]), said.part(order[cut:])
    linear, rho = fit_basis(train.contexts), _recall(known, train, mask)
    n_words = known.parameters.gamma.shape[1]
    found = [known._replace(held_out=-np.inf)]
    for form in list_forms(len(train.words), known.form, finer=True):
        basis = form.basis(linear, train.contexts, None, generator)
        if basis is None:
            continue
        heard, places = hear(basis(train.contexts), *train[1:], len(mask))
        start = _begin(heard, mask, n_words, form.ridge, rho[places])
        fitted = climb_likelihood(heard, mask, start, form.ridge, REFIT_STEPS).parameters
        asked, _ = hear(basis(kept_out.contexts), *kept_out[1:], len(mask))
        held_out = score_by_words(asked, mask, fitted)
        found.append(known._replace(form=form, basis=basis, parameters=fitted, held_out=held_out))
    best = max(found, key=lambda each: each.held_out)
    return known if best.form == known.form else best


def _begin(heard: Heard, mask: BoolArray, n_words: int, ridge: Ridge, rho: FloatArray) -> Parameters:
    """Return parameters, of no units, by which those are pleased who are by rho (n,)."""
    L = heard.linear.shape[1]
    nothing = no_parameters(mask, n_words, L, np.zeros((0, L)))
    return climb_likelihood(heard, mask, nothing, ridge, REFIT_STEPS, rho).parameters


def _recall(known: Chosen, said: Said, mask: BoolArray) -> FloatArray:
    """Return rho (n,) by what is known."""
    heard, order = hear(known.basis(said.contexts), *said[1:], len(mask))
    rho = np.empty(len(order))
    rho[order] = tell(heard, known.parameters).rho
    return rho


def _part(basis: Basis, said: Said, generator: np.random.Generator) -> IntArray:
    """Return in which of some regions each context is, (n,): those of the basis, if it has them."""
    z = basis.standardised(said.contexts)
    if basis.centres is not None:
        return nearest(z, basis.centres)
    J = min(MOST_PARTS, len(z) // TUPLES_PER_PART)
    return (
        nearest(z, find_centres(z, J, generator))
        if J > 1 and z.shape[1]
        else np.zeros(len(z), dtype=np.int64)
    )


def _turn_regions(heard: Heard, mask: BoolArray, fitted: Fitted, form: Form, regions: IntArray) -> Fitted:
    """Return where turning regions (n,) round leads to whose words, counted, tell the opposite, if that is better."""
    endings = np.repeat(np.arange(len(mask)), np.diff(heard.bounds))
    n_words = fitted.parameters.gamma.shape[1]
    counted = count_regions(regions, endings, heard.actions, heard.words, n_words, True)
    rho = tell(heard, fitted.parameters).rho
    places = regions * len(mask) + endings
    agree = np.bincount(places, (counted - 0.5) * (rho - 0.5))
    return turn_round(heard, mask, fitted, form, agree[places] < 0, REFIT_STEPS)

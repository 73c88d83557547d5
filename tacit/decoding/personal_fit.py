"""The fit of what pleases and what words mean by context: where to begin, which form, and whether words tell anything.

The likelihood has many local optima: half of the regions of contexts may come out upside down. So fits begin from words
counted in regions of the contexts (`tacit.decoding.personal_starts`), with whoever was pleased taken as known for some
steps, and go on from the best. Several forms are tried (`tacit.decoding.personal_forms`); the one under which held-out
tuples are likeliest is fitted to all.

Tuples of actions that were not uniform say little of what the other actions would have done, and so of which way round a
region is: only those of uniform ones choose from the beginning. Once something is known it is gone on from: a finer form
begins with whoever was pleased by the coarser one. If there are enough uniform tuples more, all is looked at afresh,
and taken if held-out tuples are likelier.

Whether words depend on the action at all is judged on held-out tuples, too, against the same model in which all
actions are one: where they do not, it is in expectation at least as likely.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.decoding.centres import find_centres, nearest
from tacit.decoding.context_bases import Basis, fit_basis
from tacit.decoding.personal_forms import FORMS, Form, list_forms
from tacit.decoding.personal_likelihood import (
    Fitted,
    Heard,
    Parameters,
    Ridge,
    climb_likelihood,
    hear,
    no_parameters,
    penalised_cost,
    tell,
)
from tacit.decoding.personal_meaning import PersonalMeaning, estimate_covariances, find_telling, rewards_by
from tacit.decoding.personal_starts import count_regions, find_leaves

LEAST_TO_CHOOSE = 60
"""Tuples below which there is nothing to choose: f and meanings are taken not to depend on the context."""
MOST_TO_CHOOSE, MOST_FITTED = 5_000, 20_000
"""Tuples among which a form is chosen, and that it is then fitted to: more would take longer, and tell hardly more."""
CHOOSE_AGAIN, LOOK_AGAIN = 2.0, 1.5
"""Times as many tuples as when a form was last chosen until a finer one is tried, and times as many uniform ones as when
all was last looked at afresh."""
BETTER, BETTER_ERRORS = 5.0, 2.0
"""Nats, and standard errors of them, by which a fresh look must be likelier on held-out tuples to be taken."""
HELD_OUT = 4
"""One of so many tuples is held out."""
REGIONS = (1, 8, 16, 32)
TUPLES_PER_TABLE = 25
"""Regions that are counted, as long as they have so many tuples in each table."""
KNOWN_STEPS, FIRST_STEPS, LAST_STEPS, REFIT_STEPS, NULL_STEPS = 12, 20, 80, 40, 40
"""Of L-BFGS: with rho taken as known, from each beginning, from the best of them, when refitted, and without actions."""
STEADY = 0.25
"""Of what choosing is worth: the most that the best actions by what was known may lose by a fresh look to be steady."""
NO_RIDGE = Ridge(0.0, 0.0, 0.0, 0.0, 0.0)
CONTINUED = 2
"""Beginnings that are followed to the end."""


class Said(NamedTuple):
    """Tuples as they came: `contexts` (n, d), `endings`, `actions` and `words` (n,)."""

    contexts: FloatArray
    endings: IntArray
    actions: IntArray
    words: IntArray

    def part(self, rows: IntArray) -> Said:
        """Return some of them."""
        return Said(self.contexts[rows], self.endings[rows], self.actions[rows], self.words[rows])


class Chosen(NamedTuple):
    """A form that was fitted, the log likelihood of what was held out, and the evidence that actions matter."""

    form: Form
    basis: Basis
    parameters: Parameters
    held_out: float
    gains: FloatArray  # (S,)
    z: float
    chosen_at: int
    looked: IntArray  # (S,)
    steady: bool = False


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
    >>> model.kind, model.rewards(np.array([2.0, 0.0])).round(1).tolist(), model.gain > 50
    ('linear', [[1.0, 0.0, 0.0]], True)
    """
    said = _check(contexts, endings, actions, words, mask, n_words)
    if before is not None and not _continues(before, said, mask, n_words):
        before = None
    chosen = _choose(said, uniform, mask, n_words, generator, before)
    rows = _sample(said, uniform, generator)
    fitted_to = said.part(rows)
    heard, _ = hear(chosen.basis(fitted_to.contexts), *fitted_to[1:], len(mask))
    ridge = chosen.form.ridge
    fitted = climb_likelihood(heard, mask, chosen.parameters, ridge, REFIT_STEPS).parameters
    covariances = estimate_covariances(heard, fitted, ridge) * (len(rows) / max(len(said.words), 1))
    evidence = (chosen.gains, chosen.z, chosen.chosen_at, chosen.looked, chosen.steady)
    return PersonalMeaning(said.contexts.shape[1], chosen.basis, fitted, covariances, mask, ridge, *evidence)


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
    """Return the tuples that are fitted to: all, or all uniform ones and some of the others by chance, as many as may be."""
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
) -> Chosen:
    """Return the form to fit, and where to begin: looked at afresh, made finer, or as it was."""
    n, looked_at = len(said.words), np.bincount(said.endings[uniform], minlength=len(mask))
    if before is None:
        parts = _Parts(said.part(np.flatnonzero(uniform)), mask, n_words, generator)
        return parts.look()._replace(chosen_at=n, looked=looked_at)
    known = Chosen(
        Form("known", 0, before.ridge),
        *(before.basis, before.parameters, 0.0, before.gains, before.z, before.chosen_at, before.looked),
        before.steady,
    )
    telling = before.telling
    if looked_at[telling].sum() >= LOOK_AGAIN * before.looked[telling].sum():
        parts = _Parts(said.part(np.flatnonzero(uniform)), mask, n_words, generator)
        looked, gone_on = parts.look(), parts.refine(known)
        steady = known.steady or parts.lost(looked, known) <= STEADY
        if looked.held_out > gone_on.held_out + parts.margin(looked, gone_on):
            return looked._replace(chosen_at=n, looked=looked_at, steady=steady)
        known = known._replace(
            gains=gone_on.gains, z=gone_on.z, looked=looked_at, steady=steady
        )
    if n >= CHOOSE_AGAIN * before.chosen_at:
        parts = _Parts(said, mask, n_words, generator)
        finer, known = parts.refine(known), known._replace(chosen_at=n)
        if finer.held_out > parts.judge(known):
            return finer._replace(
                gains=known.gains, z=known.z, chosen_at=n, looked=known.looked, steady=known.steady
            )
    return known


class _Parts:
    """Tuples to choose by: some to fit to, and some that are held out."""

    def __init__(self, said: Said, mask: BoolArray, n_words: int, generator: np.random.Generator) -> None:
        order = generator.permutation(len(said.words))[:MOST_TO_CHOOSE]
        cut = len(order) // HELD_OUT if len(order) >= LEAST_TO_CHOOSE else 0
        self.kept_out, self.train = said.part(order[:cut]), said.part(order[cut:])
        self.mask, self.n_words, self.generator = mask, n_words, generator
        self.linear = fit_basis(self.train.contexts)

    def look(self) -> Chosen:
        """Return the form that is likeliest on tuples that were held out, from every beginning."""
        if not len(self.kept_out.words):
            start = no_parameters(self.mask, self.n_words, 1, np.zeros((0, 1)))
            return _unweighed(FORMS[0], self.linear.constant(), start, 0.0, len(self.mask))
        return self._best(self._first_looks(), CONTINUED)

    def refine(self, known: Chosen) -> Chosen:
        """Return the form that is likeliest, begun with whoever was pleased by what is known."""
        heard, order = hear(known.basis(self.train.contexts), *self.train[1:], len(self.mask))
        rho = np.empty(len(order))
        rho[order] = tell(heard, known.parameters).rho
        return self._best([rho], 1)

    def judge(self, known: Chosen) -> float:
        """Return the log likelihood of the tuples that were held out, by what is known."""
        heard, _ = hear(known.basis(self.kept_out.contexts), *self.kept_out[1:], len(self.mask))
        return believe(heard, self.mask, known.parameters)

    def margin(self, looked: Chosen, known: Chosen) -> float:
        """Return the nats by which held-out tuples may be likelier by one than by the other without telling them apart."""
        new, old = (
            tell(hear(each.basis(self.kept_out.contexts), *self.kept_out[1:], len(self.mask))[0], each.parameters).logs
            for each in (looked, known)
        )
        return max(BETTER, BETTER_ERRORS * float((new - old).std()) * math.sqrt(len(new)))

    def lost(self, looked: Chosen, known: Chosen) -> float:
        """Return what the best actions by what was known lose by a fresh look, of what choosing is worth at all."""
        contexts = self.kept_out.contexts
        new, old = (rewards_by(each.basis, each.parameters, contexts) for each in (looked, known))  # (n, S, K)
        telling = find_telling(looked.gains)
        chosen = np.take_along_axis(new, np.where(self.mask, old, -1.0).argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
        best = np.where(self.mask, new, -1.0).max(axis=2)
        average = (new * self.mask).sum(axis=2) / np.maximum(self.mask.sum(axis=1), 1)
        worth = float((best - average)[:, telling].sum())
        return float((best - chosen)[:, telling].sum()) / worth if worth > 0 else 0.0

    def _best(self, beginnings: list[FloatArray], continued: int) -> Chosen:
        found = []
        for form in list_forms(len(self.train.words)):
            basis = form.basis(self.linear, self.train.contexts, self.generator)
            if basis is not None:
                data = _Data(basis, self)
                found.append((data.fit(form, beginnings, continued), data))
        chosen, data = max(found, key=lambda pair: pair[0].held_out)
        return data.with_evidence(chosen)

    def _first_looks(self) -> list[FloatArray]:
        """Return rho (n,) of each first look: from words counted in few and many regions and in leaves, by ending or not."""
        train, W = self.train, self.n_words
        n, S = len(train.words), len(np.unique(train.endings))
        z = self.linear.standardised(train.contexts)
        ends = train.endings, train.actions, train.words, W
        parts = [np.zeros(n, dtype=np.int64)]
        if z.shape[1]:
            several = [J for J in REGIONS[1:] if J * TUPLES_PER_TABLE <= n]
            parts += [nearest(z, find_centres(z, J, self.generator)) for J in several]
            parts += find_leaves(z, *ends)
        return [
            count_regions(part, *ends, by_ending)
            for part in parts
            for by_ending in (False, True)[: 2 if S > 1 else 1]
            if not by_ending or (int(part.max()) + 1) * S * TUPLES_PER_TABLE <= n
        ]


class _Data:
    """Tuples to fit to and to judge by, in the terms of one basis."""

    def __init__(self, basis: Basis, parts: _Parts) -> None:
        self.basis, self.mask, self.n_words, self.generator = basis, parts.mask, parts.n_words, parts.generator
        self.train, self.order = hear(basis(parts.train.contexts), *parts.train[1:], len(self.mask))
        self.kept_out, _ = hear(basis(parts.kept_out.contexts), *parts.kept_out[1:], len(self.mask))

    def fit(self, form: Form, beginnings: list[FloatArray], continued: int) -> Chosen:
        """Return a form fitted from the best of its beginnings."""
        begun = [self._begin(form, rho[self.order]) for rho in beginnings]
        begun = sorted(begun, key=lambda fitted: fitted.cost)[:continued]
        ended = [self._climb(fitted.parameters, form, LAST_STEPS).parameters for fitted in begun]
        logs = [believe(self.kept_out, self.mask, parameters) for parameters in ended]
        best = int(np.argmax(logs))
        return _unweighed(form, self.basis, ended[best], logs[best], len(self.mask))

    def _begin(self, form: Form, rho: FloatArray) -> Fitted:
        L = self.basis.n_terms
        start = no_parameters(self.mask, self.n_words, L, form.units(L, self.generator))
        known = self._climb(start, form, KNOWN_STEPS, rho)
        return self._climb(known.parameters, form, FIRST_STEPS)

    def _climb(self, start: Parameters, form: Form, steps: int, rho: FloatArray | None = None) -> Fitted:
        return climb_likelihood(self.train, self.mask, start, form.ridge, steps, rho)

    def with_evidence(self, chosen: Chosen) -> Chosen:
        """Return it with the gain of each ending over the same model in which all actions are one, and its errors."""
        fitted, counts = chosen.parameters, np.maximum(self.mask.sum(axis=1), 1)[:, None, None]
        mean = (fitted.theta * self.mask[:, :, None]).sum(axis=1, keepdims=True) / counts
        one, start = np.ones((len(self.mask), 1), dtype=np.bool_), fitted._replace(theta=mean)
        null = climb_likelihood(_without_actions(self.train), one, start, chosen.form.ridge, NULL_STEPS)
        without = tell(_without_actions(self.kept_out), null.parameters).logs
        more, bounds = tell(self.kept_out, fitted).logs - without, self.kept_out.bounds
        gains = np.array([more[bounds[s] : bounds[s + 1]].sum() for s in range(len(self.mask))])
        error = float(more.std()) * math.sqrt(len(more))
        return chosen._replace(gains=gains, z=float(more.sum()) / error if error > 0 else 0.0)


def _unweighed(form: Form, basis: Basis, parameters: Parameters, held_out: float, endings: int) -> Chosen:
    """Return a form that was fitted, before its evidence is weighed."""
    return Chosen(form, basis, parameters, held_out, np.zeros(endings), 0.0, 0, np.zeros(endings, dtype=np.int64))


def believe(heard: Heard, mask: BoolArray, parameters: Parameters) -> float:
    """Return the log likelihood of tuples, less what it costs where rewarding actions are the majority."""
    return -penalised_cost(heard, mask, parameters, NO_RIDGE)[0]


def _without_actions(heard: Heard) -> Heard:
    return heard._replace(actions=np.zeros_like(heard.actions))

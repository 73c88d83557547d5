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
from tacit.decoding.context_bases import Basis, constant_basis, fit_basis
from tacit.decoding.personal_forms import FORMS, Form, list_forms
from tacit.decoding.personal_likelihood import (
    Fitted,
    Heard,
    Parameters,
    Ridge,
    climb_likelihood,
    hear,
    mean_rewards,
    no_parameters,
    penalised_cost,
    tell,
)
from tacit.decoding.personal_meaning import PersonalMeaning, estimate_covariances, find_telling, rewards_by
from tacit.decoding.personal_starts import count_regions, telling_directions

LEAST_TO_CHOOSE = 60
"""Tuples below which there is nothing to choose: f and meanings are taken not to depend on the context."""
MOST_TO_CHOOSE, MOST_TO_REFINE, MOST_FITTED = 5_000, 6_000, 20_000
"""Tuples among which a form is chosen, and made finer, and that it is then fitted to: more would take longer, and tell
hardly more."""
CHOOSE_AGAIN, LOOK_AGAIN = 2.0, 1.5
"""Times as many tuples as when a form was last chosen until a finer one is tried, and times as many uniform ones as when
all was last looked at afresh."""
BETTER, BETTER_ERRORS = 5.0, 2.0
"""Nats, and standard errors of them, by which a fresh look must be likelier on held-out tuples to be taken."""
HELD_OUT = 4
"""One of so many tuples is held out."""
LOOKS = ((0, 1), (0, 16), (1, 4), (2, 16), (3, 32))
"""The first looks: in how many telling directions (0: in all features), and how many regions of them."""
DIRECTIONS = 3
TUPLES_PER_TABLE = 25
"""Tuples that a region, or a region and ending where each has its own table, must have."""
KNOWN_STEPS, FIRST_STEPS = 10, 15
"""Of L-BFGS from each beginning: with rho taken as known, then without."""
ROUNDS = ((2, 40), (1, 60))
"""How many of the fits go on after that, the best, and for how many steps."""
REFIT_STEPS, NULL_STEPS = 40, 40
"""Of L-BFGS when fitted to all tuples, and to words without actions."""
DOUBTFUL, LEAST_DOUBTFUL = 0.42, 0.02
"""The mean of f above which a context may be upside down, for the belief in a minority presses those below a half; and
the share of the tuples from which on it is tried."""
STEADY = 0.25
"""Of what choosing is worth: the most that the best actions by what was known may lose by a fresh look to be steady."""
MOST_PARTS, TUPLES_PER_PART = 32, 60
"""Regions whose words are counted to see whether they tell the opposite, and tuples that each has on average."""
NO_RIDGE = Ridge(0.0, 0.0, 0.0, 0.0, 0.0)


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
    heard, order = hear(chosen.basis(fitted_to.contexts), *fitted_to[1:], len(mask))
    ridge = chosen.form.ridge
    warm = climb_likelihood(heard, mask, chosen.parameters, ridge, REFIT_STEPS)
    fitted = _turn(heard, mask, warm, chosen.form, REFIT_STEPS)
    if chosen.chosen_at == len(said.words):
        regions = _part(chosen.basis, fitted_to, generator)[order]
        fitted = _turn_regions(heard, mask, fitted, chosen.form, regions)
    covariances = estimate_covariances(heard, fitted.parameters, ridge) * (len(rows) / max(len(said.words), 1))
    form, evidence = chosen.form.terms, (chosen.gains, chosen.z, chosen.chosen_at, chosen.looked, chosen.steady)
    return PersonalMeaning(said.contexts.shape[1], chosen.basis, fitted.parameters, covariances, mask, ridge, form, *evidence)


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
        Form(before.form, before.basis.n_terms - 1, before.ridge),
        *(before.basis, before.parameters, 0.0, before.gains, before.z, before.chosen_at, before.looked),
        before.steady,
    )
    telling = before.telling
    if looked_at[telling].sum() >= LOOK_AGAIN * before.looked[telling].sum():
        parts = _Parts(said.part(np.flatnonzero(uniform)), mask, n_words, generator)
        looked, gone_on = parts.look(known.form), parts.refine(known)
        steady = known.steady or parts.lost(looked, known) <= STEADY
        if looked.held_out > gone_on.held_out + parts.margin(looked, gone_on):
            return looked._replace(chosen_at=n, looked=looked_at, steady=steady)
        known = known._replace(
            gains=gone_on.gains, z=gone_on.z, looked=looked_at, steady=steady
        )
    if n >= CHOOSE_AGAIN * before.chosen_at:
        parts = _Parts(said, mask, n_words, generator, MOST_TO_REFINE)
        finer, known = parts.refine(known, weighed=False), known._replace(chosen_at=n)
        if finer.form != known.form:  # what is known was fitted to what is held out here, so that only forms are compared
            return finer._replace(
                gains=known.gains, z=known.z, chosen_at=n, looked=known.looked, steady=known.steady
            )
    return known


class _Parts:
    """Tuples to choose by: some to fit to, and some that are held out."""

    def __init__(
        self,
        said: Said,
        mask: BoolArray,
        n_words: int,
        generator: np.random.Generator,
        most: int = MOST_TO_CHOOSE,
    ) -> None:
        order = generator.permutation(len(said.words))[:most]
        cut = len(order) // HELD_OUT if len(order) >= LEAST_TO_CHOOSE else 0
        self.kept_out, self.train = said.part(order[:cut]), said.part(order[cut:])
        self.mask, self.n_words, self.generator = mask, n_words, generator
        self.linear = fit_basis(self.train.contexts)
        z = self.linear.standardised(self.train.contexts)
        self.directions = telling_directions(z, *self.train[1:], DIRECTIONS)

    def look(self, like: Form | None = None) -> Chosen:
        """Return the form that is likeliest on tuples that were held out, from every beginning; `like` what is known."""
        if not len(self.kept_out.words):
            start = no_parameters(self.mask, self.n_words, 1, np.zeros((0, 1)))
            return _unweighed(FORMS[0], constant_basis(), start, 0.0, len(self.mask))
        return self._best(self._first_looks(), like)

    def refine(self, known: Chosen, weighed: bool = True) -> Chosen:
        """Return the form that is likeliest, begun with whoever was pleased by what is known; evidence if `weighed`."""
        heard, order = hear(known.basis(self.train.contexts), *self.train[1:], len(self.mask))
        rho = np.empty(len(order))
        rho[order] = tell(heard, known.parameters).rho
        return self._best([rho], known.form, weighed)

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

    def _best(self, beginnings: list[FloatArray], like: Form | None, weighed: bool = True) -> Chosen:
        found: list[tuple[Chosen, _Data]] = []
        paid = True
        for form in list_forms(len(self.train.words), like) or FORMS[:1]:
            basis = form.basis(self.linear, self.train.contexts, self.generator)
            if basis is None or (form.terms == "units" and not paid):
                continue
            data = _Data(basis, self)
            found.append((data.fit(form, beginnings), data))
            best = max(found, key=lambda pair: pair[0].held_out)
            paid = form.terms != "units" or best is found[-1]  # where units do not pay, other units will not either
        return best[1].with_evidence(best[0]) if weighed else best[0]

    def _first_looks(self) -> list[FloatArray]:
        """Return rho (n,) of each first look: words counted in regions of all features, and of telling directions."""
        train, looks = self.train, []
        n, S, z = len(train.words), len(np.unique(train.endings)), self.linear.standardised(train.contexts)
        for used, J in LOOKS:
            if J > 1 and (n < J * TUPLES_PER_TABLE or not z.shape[1]):
                continue
            points = z @ self.directions[:, :used] if used else z
            regions = nearest(points, find_centres(points, J, self.generator))
            for by_ending in (False, True)[: 2 if S > 1 and n >= J * TUPLES_PER_TABLE * S else 1]:
                looks.append(count_regions(regions, *train[1:], self.n_words, by_ending))
        return looks


class _Data:
    """Tuples to fit to and to judge by, in the terms of one basis."""

    def __init__(self, basis: Basis, parts: _Parts) -> None:
        self.basis, self.parts, self.mask = basis, parts, parts.mask
        self.train, self.order = hear(basis(parts.train.contexts), *parts.train[1:], len(self.mask))
        self.kept_out, _ = hear(basis(parts.kept_out.contexts), *parts.kept_out[1:], len(self.mask))

    def fit(self, form: Form, beginnings: list[FloatArray]) -> Chosen:
        """Return a form fitted from all beginnings, of which ever fewer go on, and the cheapest is taken."""
        fits = [self._begin(form, rho[self.order]) for rho in beginnings]
        for left, steps in ROUNDS if len(fits) > 1 else ROUNDS[-1:]:
            fits = sorted(fits, key=lambda fitted: fitted.cost)[:left]
            fits = [self._climb(fitted.parameters, form, steps) for fitted in fits]
            fits = [_turn(self.train, self.mask, fitted, form, steps) for fitted in fits]
        best = min(fits, key=lambda fitted: fitted.cost).parameters
        held_out = believe(self.kept_out, self.mask, best)
        return _unweighed(form, self.basis, best, held_out, len(self.mask))

    def _begin(self, form: Form, rho: FloatArray) -> Fitted:
        parts, L = self.parts, self.basis.n_terms
        units = form.units(L, parts.directions, parts.generator)
        known = self._climb(no_parameters(self.mask, parts.n_words, L, units), form, KNOWN_STEPS, rho)
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


def _turn(heard: Heard, mask: BoolArray, fitted: Fitted, form: Form, steps: int) -> Fitted:
    """Return where turning contexts round leads to in which rewards are nearly the majority, if that is better."""
    doubtful = mean_rewards(heard, mask, fitted.parameters) > DOUBTFUL
    if not len(doubtful) or np.mean(doubtful) < LEAST_DOUBTFUL:
        return fitted
    rho = tell(heard, fitted.parameters).rho
    rho = np.where(doubtful, 1 - rho, rho)
    known = climb_likelihood(heard, mask, fitted.parameters, form.ridge, KNOWN_STEPS, rho)
    turned = climb_likelihood(heard, mask, known.parameters, form.ridge, steps)
    return min(fitted, turned, key=lambda each: each.cost)


def _part(basis: Basis, said: Said, generator: np.random.Generator) -> IntArray:
    """Return in which of some regions each context is, (n,): those of the basis, if it has them."""
    z = basis.standardised(said.contexts)
    if basis.centres is not None:
        return nearest(z, basis.centres)
    J = min(MOST_PARTS, len(z) // TUPLES_PER_PART)
    return nearest(z, find_centres(z, J, generator)) if J > 1 and z.shape[1] else np.zeros(len(z), dtype=np.int64)


def _turn_regions(heard: Heard, mask: BoolArray, fitted: Fitted, form: Form, regions: IntArray) -> Fitted:
    """Return where turning regions (n,) round leads to whose words, counted, tell the opposite, if that is better."""
    endings = np.repeat(np.arange(len(mask)), np.diff(heard.bounds))
    n_words = fitted.parameters.gamma.shape[1]
    counted = count_regions(regions, endings, heard.actions, heard.words, n_words, True)
    rho = tell(heard, fitted.parameters).rho
    places = regions * len(mask) + endings
    agree = np.bincount(places, (counted - 0.5) * (rho - 0.5))
    against = agree[places] < 0
    if np.mean(against) < LEAST_DOUBTFUL:
        return fitted
    known = climb_likelihood(
        heard, mask, fitted.parameters, form.ridge, KNOWN_STEPS, np.where(against, 1 - rho, rho)
    )
    turned = climb_likelihood(heard, mask, known.parameters, form.ridge, REFIT_STEPS)
    return min(fitted, turned, key=lambda each: each.cost)


def _unweighed(form: Form, basis: Basis, parameters: Parameters, held_out: float, endings: int) -> Chosen:
    """Return a form that was fitted, before its evidence is weighed."""
    return Chosen(form, basis, parameters, held_out, np.zeros(endings), 0.0, 0, np.zeros(endings, dtype=np.int64))


def believe(heard: Heard, mask: BoolArray, parameters: Parameters) -> float:
    """Return the log likelihood of tuples, less what it costs where rewarding actions are the majority."""
    return -penalised_cost(heard, mask, parameters, NO_RIDGE)[0]


def _without_actions(heard: Heard) -> Heard:
    return heard._replace(actions=np.zeros_like(heard.actions))

"""Which form what pleases and what words mean take, and from where it is fitted: held-out tuples choose.

A form is fitted from several beginnings, words counted or scored in regions of the contexts
(`tacit.decoding.personal_starts`), or from whoever was pleased by what is known already; the best go on, and once more
with those contexts turned round in which rewards are nearly the majority. Of a form's fits the cheapest is taken:
likelihood alone cannot tell what is upside down. Of the forms the one is taken under which held-out words tell most of
the action, where actions were uniform, and under which they are likeliest, where they were not.

Whether words depend on the action at all is judged on held-out tuples, too (`tacit.decoding.personal_evidence`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.decoding.centres import find_centres, nearest
from tacit.decoding.context_bases import Basis, constant_basis, fit_basis
from tacit.decoding.personal_evidence import score_actions, weigh_evidence
from tacit.decoding.personal_forms import FORMS, Form, list_forms
from tacit.decoding.personal_likelihood import (
    MINORITY_COST,
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
from tacit.decoding.personal_meaning import find_telling, rewards_by
from tacit.decoding.personal_starts import count_regions, score_words, spoken_direction, telling_directions
from tacit.decoding.turning_pairs import find_turning_pairs, look_at_sides

LEAST_TO_CHOOSE, MOST_TO_CHOOSE = 60, 5_000
"""Tuples below which there is nothing to choose, so that nothing depends on the context; and among which a form is
chosen: more would take longer, and tell hardly more."""
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
DOUBTFUL, LEAST_DOUBTFUL = 0.42, 0.02
"""The mean of f above which a context may be upside down, for the belief in a minority presses those below a half; and
the share of the tuples from which on it is tried."""
Score = Callable[[Heard, BoolArray, Parameters], float]
"""Of held-out tuples: the higher, the better."""
OF_WORDS = 0.25
"""The part of the likelihood of words by which forms are chosen beside what they tell of actions: with all of it linear
terms of 20 features were lost, with none groups (seeds 1,000,002 to 1,000,006 of `benchmarks/context_world`)."""
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
    """A form that was fitted, the log likelihood of what was held out, and the evidence that actions matter.

    `begun` is the number of its beginning, and `is_known` whether that was what is known already.
    """

    form: Form
    basis: Basis
    parameters: Parameters
    held_out: float
    gains: FloatArray  # (S,)
    z: float
    chosen_at: int
    looked: IntArray  # (S,)
    steady: bool = False
    begun: int = 0
    is_known: bool = False


class Parts:
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
        self.linear = fit_basis(self.train.contexts) if cut else constant_basis()
        z = self.linear.standardised(self.train.contexts)
        self.directions = telling_directions(z, *self.train[1:], DIRECTIONS)
        self.pairs: list[IntArray] = []

    def look(self, known: Chosen | None = None) -> Chosen:
        """Return the form that is likeliest on held-out tuples, from all beginnings; what is `known` is one of them."""
        if not len(self.kept_out.words):
            start = no_parameters(self.mask, self.n_words, 1, np.zeros((0, 1)))
            return _unweighed(FORMS[0], constant_basis(), start, 0.0, len(self.mask))
        z = self.linear.standardised(self.train.contexts)
        self.pairs = find_turning_pairs(z, *self.train[1:])
        recalled = [] if known is None else [self._recall(known)]
        looked = self._best([*recalled, *self._first_looks()], None if known is None else known.form)
        if known is None or (looked.form.terms == "pair" != known.form.terms):
            return looked
        return looked._replace(is_known=looked.begun == 0)

    def refine(self, known: Chosen) -> Chosen:
        """Return the form that is likeliest, begun with whoever was pleased by what is known, without its evidence."""
        self.pairs = [] if known.basis.pair is None else [known.basis.pair]
        return self._best([self._recall(known)], known.form, finer=True)

    def lost(self, looked: Chosen, known: Chosen) -> float:
        """Return what the best actions by what was known lose by a fresh look, of what choosing is worth at all."""
        contexts = self.kept_out.contexts
        new, old = (
            rewards_by(each.basis, each.parameters, contexts) for each in (looked, known)
        )  # (n, S, K)
        telling = find_telling(looked.gains)
        taken = np.where(self.mask, old, -1.0).argmax(axis=2)[:, :, None]
        chosen = np.take_along_axis(new, taken, axis=2)[:, :, 0]
        best = np.where(self.mask, new, -1.0).max(axis=2)
        average = (new * self.mask).sum(axis=2) / np.maximum(self.mask.sum(axis=1), 1)
        worth = float((best - average)[:, telling].sum())
        return float((best - chosen)[:, telling].sum()) / worth if worth > 0 else 0.0

    def _best(self, beginnings: list[FloatArray], like: Form | None, finer: bool = False) -> Chosen:
        """Return the best of some forms; of those that are `finer` than what is known, without its evidence.

        Where a form is known, what it recalls is the first of the beginnings.
        """
        found: list[tuple[Chosen, FormData]] = []
        paid = True
        for form, pair in self._list_forms(like, finer):
            basis = form.basis(self.linear, self.train.contexts, pair, self.generator)
            if basis is None or (form.terms == "units" and not paid):
                continue
            data = FormData(basis, self)
            begin = beginnings
            if pair is not None and not finer:
                begin = beginnings[: like is not None] + self._look_at_sides(pair)
            found.append((data.fit(form, begin, score_by_words if finer else score_by_both), data))
            best = max(found, key=lambda pair: pair[0].held_out)
            # Where units do not pay, other units will not either.
            paid = form.terms != "units" or best is found[-1]
        return best[0] if finer else best[1].with_evidence(best[0])

    def _recall(self, known: Chosen) -> FloatArray:
        """Return rho (n,) by what is known."""
        heard, order = hear(known.basis(self.train.contexts), *self.train[1:], len(self.mask))
        rho = np.empty(len(order))
        rho[order] = tell(heard, known.parameters).rho
        return rho

    def _list_forms(self, like: Form | None, finer: bool) -> Iterator[tuple[Form, IntArray | None]]:
        """Yield the forms to try, those of a pair with each of the pairs."""
        for form in list_forms(len(self.train.words), like, finer) or FORMS[:1]:
            yield from ((form, pair) for pair in (self.pairs if form.terms == "pair" else (None,)))

    def _look_at_sides(self, pair: IntArray) -> list[FloatArray]:
        z = self.linear.standardised(self.train.contexts)
        return look_at_sides(z, pair, *self.train[1:], self.n_words)

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
        if z.shape[1]:
            spoken = spoken_direction(z, train.endings, train.words)
            along = np.column_stack([self.directions[:, :1], spoken])
            turned = np.where(z @ along > 0, 1.0, -1.0).T  # (2, n)
            looks += [score_words(z, sides, *train[1:]) for sides in (np.ones(n), *turned)]
        return looks


class FormData:
    """Tuples to fit to and to judge by, in the terms of one basis."""

    def __init__(self, basis: Basis, parts: Parts) -> None:
        self.basis, self.parts, self.mask = basis, parts, parts.mask
        self.train, self.order = hear(basis(parts.train.contexts), *parts.train[1:], len(self.mask))
        self.kept_out, _ = hear(basis(parts.kept_out.contexts), *parts.kept_out[1:], len(self.mask))

    def fit(self, form: Form, beginnings: list[FloatArray], score: Score) -> Chosen:
        """Return a form fitted from all beginnings, of which ever fewer go on, and the cheapest is taken."""
        fits = [(n, self._begin(form, rho[self.order])) for n, rho in enumerate(beginnings)]
        for left, steps in ROUNDS if len(fits) > 1 else ROUNDS[-1:]:
            fits = sorted(fits, key=lambda pair: pair[1].cost)[:left]
            fits = [(n, self._climb(fitted.parameters, form, steps)) for n, fitted in fits]
            fits = [(n, turn_majorities(self.train, self.mask, fitted, form, steps)) for n, fitted in fits]
        begun, best = min(fits, key=lambda pair: pair[1].cost)
        held_out = score(self.kept_out, self.mask, best.parameters)
        fitted = _unweighed(form, self.basis, best.parameters, held_out, len(self.mask))
        return fitted._replace(begun=begun)

    def _begin(self, form: Form, rho: FloatArray) -> Fitted:
        parts, L = self.parts, self.basis.n_terms
        units = form.units(L, parts.directions, parts.generator)
        known = self._climb(no_parameters(self.mask, parts.n_words, L, units), form, KNOWN_STEPS, rho)
        return self._climb(known.parameters, form, FIRST_STEPS)

    def _climb(self, start: Parameters, form: Form, steps: int, rho: FloatArray | None = None) -> Fitted:
        return climb_likelihood(self.train, self.mask, start, form.ridge, steps, rho)

    def with_evidence(self, chosen: Chosen) -> Chosen:
        """Return it with the evidence of each ending that words depend on the action, and its errors."""
        evidence = weigh_evidence(self.kept_out, self.mask, chosen.parameters)
        return chosen._replace(gains=evidence.gains, z=evidence.z)


def turn_majorities(heard: Heard, mask: BoolArray, fitted: Fitted, form: Form, steps: int) -> Fitted:
    """Return where turning contexts round leads to in which rewards are nearly the majority, if that is better."""
    doubtful = mean_rewards(heard, mask, fitted.parameters) > DOUBTFUL
    return turn_round(heard, mask, fitted, form, doubtful, steps)


def turn_round(
    heard: Heard, mask: BoolArray, fitted: Fitted, form: Form, doubtful: BoolArray, steps: int
) -> Fitted:
    """Return where turning `doubtful` tuples (n,) round leads to, if that is better and they are not too few."""
    if not len(doubtful) or np.mean(doubtful) < LEAST_DOUBTFUL:
        return fitted
    rho = tell(heard, fitted.parameters).rho
    return begin_again(heard, mask, fitted, form, np.where(doubtful, 1 - rho, rho), steps)


def begin_again(
    heard: Heard, mask: BoolArray, fitted: Fitted, form: Form, rho: FloatArray, steps: int
) -> Fitted:
    """Return where beginning with whoever was pleased by rho (n,) leads to, if that is better."""
    known = climb_likelihood(heard, mask, fitted.parameters, form.ridge, KNOWN_STEPS, rho)
    begun = climb_likelihood(heard, mask, known.parameters, form.ridge, steps)
    return min(fitted, begun, key=lambda each: each.cost)


def _unweighed(form: Form, basis: Basis, parameters: Parameters, held_out: float, endings: int) -> Chosen:
    """Return a form that was fitted, before its evidence is weighed."""
    return Chosen(
        form, basis, parameters, held_out, np.zeros(endings), 0.0, 0, np.zeros(endings, dtype=np.int64)
    )


def score_by_both(heard: Heard, mask: BoolArray, parameters: Parameters) -> float:
    """Return what words tell of uniform actions, less what a majority of rewarding ones costs, and a part of how likely
    they are: the one does not ask how much the best action pleases, the other follows what has nothing to do with it.
    """
    above = np.maximum(mean_rewards(heard, mask, parameters) - 0.5, 0.0)
    told = score_actions(heard, mask, parameters) - MINORITY_COST * float((above**2).sum())
    return told + OF_WORDS * score_by_words(heard, mask, parameters)


def score_by_words(heard: Heard, mask: BoolArray, parameters: Parameters) -> float:
    """Return the log likelihood of tuples, less what it costs where rewarding actions are the majority."""
    return -penalised_cost(heard, mask, parameters, NO_RIDGE)[0]

"""The forms that what pleases and what words mean may take over contexts: of which terms, and how held back."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.context_bases import Basis, constant_basis, on_one_scale, with_regions
from tacit.decoding.personal_likelihood import Ridge

UNIT_SPREAD, UNIT_NOISE = 1.5, 0.1
"""Standard deviations of the weights of units to begin with: along telling directions, and besides."""


class Form(NamedTuple):
    """A form of the model: of which terms, how many units or regions it has, and the ridge."""

    terms: str
    size: int
    ridge: Ridge

    def basis(
        self, linear: Basis, contexts: FloatArray, pair: IntArray | None, generator: np.random.Generator
    ) -> Basis | None:
        """Return the terms of the form, made of linear ones for contexts (n, d) and a pair; None where it cannot be."""
        n = len(contexts)
        if self.terms == "constant":
            return constant_basis()
        if linear.n_terms == 1:
            return None
        if self.terms == "pair":
            return None if pair is None else replace(linear, pair=pair)
        if self.terms == "regions":
            return with_regions(linear, contexts, self.size, generator)
        if self.terms == "plain regions":
            return with_regions(on_one_scale(linear, contexts), contexts, self.size, generator)
        if self.terms == SLOPING:
            regions = with_regions(on_one_scale(linear, contexts), contexts, self.size, generator)
            return None if regions is None else replace(regions, slopes=SLOPES)
        few = self.size * TUPLES_PER_UNIT <= n and linear.n_components <= MOST_FOR_UNITS
        return linear if few or self.size <= 1 else None

    def units(self, terms: int, directions: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Return the units (M, L) that it begins with, which look along some directions (P, n); none of most forms."""
        M, n = self.size if self.terms in ("units", TURNING) else 0, directions.shape[1]
        units = generator.standard_normal((M, terms)) * UNIT_NOISE
        if M:
            along = generator.standard_normal((M, n)) * (UNIT_SPREAD / math.sqrt(n))
            units[:, 1:] += along @ directions.T
        return units


PLAIN = Ridge()
REGIONS = "regions", "plain regions"
"""Regions of standardised features, and of features on one scale."""
SLOPING, SLOPES = "sloping regions", 0.1
"""Regions of features on one scale in which all may change along each feature, too, which is times this: its ridge is
that of linear terms, ten times as strong. Of 10,000 to 40,000 tuples of pictures 40 of them read 98 in a hundred right,
80 plain ones 96 to 97 (seed 1001 of `digits`). So many parameters take what is known to begin with."""
PARTED = Ridge(0.05, 0.1, 0.05, 0.2)
TURNING, TURNED = "turning", Ridge(unit=0.5, lean=300.0)
"""Words that change across one soft side of the contexts, and hardly along each feature: a weight of every word for
every feature is many times what there is to know where people speak in two ways. Of 20 features and three endings 1,000
to 1,900 tuples show that actions matter, linear terms need 1,900 to 4,400 (seeds 1,000,000 to 1,000,003 of
`benchmarks/context_world`)."""
PAIRED = Ridge(lean=300.0, sides=1)
"""Of a pair, likewise: its side turns words, from 300 to 800 tuples on where linear terms beside took 600 to 1,400."""
FORMS = (
    Form("constant", 0, PLAIN),
    Form(TURNING, 1, TURNED),
    Form(TURNING, 1, TURNED._replace(slope=4.0)),
    Form("linear", 0, PLAIN),
    Form("pair", 0, PAIRED),
    Form("pair", 0, PAIRED._replace(slope=4.0)),
    Form("units", 10, Ridge(meaning=1.0, unit=2.0)),
    Form("units", 10, Ridge(meaning=0.3, unit=0.5)),
    Form("units", 16, Ridge(meaning=0.3, unit=1.0)),
    *(Form(terms, J, PARTED) for J in (10, 20, 40, 80, 160) for terms in REGIONS),
)
"""The forms that are tried, chosen on problems of `benchmarks/context_world` (seeds 1,000,000 and up)."""
FINEST = Form(SLOPING, 40, PARTED)
"""The form that is tried in place of regions, once they are known and tuples are enough: rather than more of them,
which take longer and tell less."""
TUPLES_PER_UNIT, TUPLES_PER_REGION = 30, 25
"""Tuples there must be for each unit, and for each region, of a form."""
TUPLES_PER_SLOPING = 100
"""Tuples there must be for each region that has slopes."""
MOST_FOR_UNITS = 40
"""Features that units can be made of: of more, there are too many weights to learn."""
MOST_REGIONS = 4
"""Numbers of regions that are tried, of those that there are tuples for the largest."""


FINENESS = {"constant": 0, TURNING: 1, "linear": 2, "pair": 3, "units": 4}
"""Of forms that are not regions."""


def are_regions(form: Form) -> bool:
    """Return whether a form is one of regions."""
    return form.terms in (*REGIONS, SLOPING)


def is_finer(form: Form, like: Form) -> bool:
    """Return whether a form that is not of regions is another one's own, or finer and as loath to let words differ.

    Where one action is taken, nothing tells how much it pleases from what words mean there: a weaker ridge would let
    the one drift into the other.
    """
    if form.terms == like.terms:
        return form.ridge == like.ridge
    return FINENESS[form.terms] > FINENESS[like.terms] and form.ridge.meaning >= like.ridge.meaning


def list_forms(n: int, like: Form | None = None, finer: bool = False) -> list[Form]:
    """Return the forms that n tuples may tell apart: of regions no more than two numbers.

    Where a form is known, only those like it: as many regions or more, for fewer tuples would choose fewer, and a pair,
    which few tuples may have missed; or all that are not regions. A pair, which few may have feigned, is held against
    all. Linear terms of more features than units can be made of, the size of the form, may turn out to be regions: they
    were chosen when tuples were too few to part. Where forms must be `finer`, they are at least as fine: by tuples of a
    policy that has learned a coarser one may be as likely, for what it does tells who came.

    >>> [form.size for form in list_forms(1200) if form.terms == "regions"]
    [20, 40]
    >>> {form.size for form in list_forms(1200, Form("regions", 40, PLAIN))}
    {0, 40}
    """
    regions = [form for form in FORMS if form.terms in REGIONS and form.size * TUPLES_PER_REGION <= n]
    others = [form for form in FORMS if form.terms not in REGIONS]
    wide = like is not None and not are_regions(like) and like.size > MOST_FOR_UNITS
    if like is None or (not finer and (like.terms == "pair" or wide)):
        return others + regions[-MOST_REGIONS:]
    if not are_regions(like):
        return [form for form in others if not finer or is_finer(form, like)]
    pairs = [] if finer else [form for form in others if form.terms == "pair"]
    if like.terms == SLOPING:
        return [*pairs, FINEST]
    more = [form for form in regions if form.size >= like.size]
    if finer:
        more = [form for form in more if form.terms == like.terms][:2]
        if FINEST.size * TUPLES_PER_SLOPING <= n:
            more = [*more[:1], FINEST]
    return pairs + (more[:MOST_REGIONS] or [form for form in FORMS if form[:2] == like[:2]])

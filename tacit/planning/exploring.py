"""When exploring pays: what it could gain, over as many episodes as there were, against what it costs until then.

A plan hopes to end in some places that are not settled, with chance r_z in each and p in all: those count in which the
present plan would not end half as often, which settles them by itself. As far as dynamics allow, it hopes to be worth
g more than any plan could be if there were nothing in them; the present plan earns v, and the hopeful one e on its
way. It can gain min(g, p (1 - v)) an episode: no more than it hopes for, and no more than the unsettled places give.
Until their wanted tuples w_z are there

    n = sum_z r_z w_z / sum_z r_z²

episodes go by (w / p, if there is one place), each of which costs v - e, and at least p v if what it hopes for is true:
v whenever it ends where nothing is known. It is explored while n max(v - e, p v) is at most what could be gained in as
many episodes as were played.

So exploring is free as long as nothing earns; it ends where no outcome of it could change the plan (g <= 0); and the
least chance that is looked for falls as time goes on, so that nothing is written off for good.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import FloatArray

NOTHING_GAINED = 1e-9
"""Hopes that differ by less differ by rounding."""


def pays_to_explore(
    played: int, gain: float, reach: FloatArray, wanted: FloatArray, earned: float, on_the_way: float
) -> bool:
    """Return whether a plan that hopes to end in unsettled places pays after so many episodes.

    `gain` is what it hopes to be worth more; `reach` and `wanted` (places,) are chances and missing tuples of the
    unsettled places alone, `earned` is what the present plan earns, `on_the_way` what the hopeful one does where places
    are settled.

    >>> rare, few = np.array([0.01]), np.array([50.0])
    >>> [pays_to_explore(n, 0.005, rare, few, earned=0.5, on_the_way=0.49) for n in (1_000, 100_000)]
    [False, True]
    >>> pays_to_explore(1, 0.01, rare, few, earned=0.0, on_the_way=0.0)
    True
    >>> pays_to_explore(10**9, 0.0, np.array([0.3]), few, earned=0.5, on_the_way=0.0)
    False
    """
    chance = float(reach.sum())
    most = min(gain, chance * (1.0 - earned))
    if chance <= 0.0 or most <= NOTHING_GAINED:
        return False
    episodes = float(reach @ wanted) / float(reach @ reach)
    cost = max(earned - on_the_way, chance * earned)
    return bool(played * most >= episodes * cost)


def hope_radius(episodes: int) -> float:
    """Return the radius of hope after so many episodes, log(1 + t): less would give up for good what was unlucky once.

    >>> round(hope_radius(1000), 1)
    6.9
    """
    return float(np.log1p(episodes))

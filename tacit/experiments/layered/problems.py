"""The layered problems of the studies, the paper's settings, and how budgets shrink."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from tacit.decoding.decoder import DecoderSettings
from tacit.envs.layered import LayeredEnv
from tacit.envs.random_mdp import suite_settings
from tacit.envs.synthetic import VARIANTS, synthetic
from tacit.learning.settings import Settings
from tacit.problem.mdp import ContextualMDP, evaluate_policy, solve_optimal

LEAST = 20
"""No budget is scaled below this many episodes or tuples: the last tenth still has two."""

PAPER = Settings(DecoderSettings(theta=0.9, M=1.3, c=0.0), recipe="paper")
"""The settings of section 5.1 and appendix C.1; all but the decoder's constants are Tacit's defaults."""

ENVIRONMENTS: Mapping[str, Callable[[], LayeredEnv]] = {name: partial(synthetic, name) for name in VARIANTS}

RANDOM = {f"random_{seed}": (seed, suite_settings(seed)) for seed in (1000, 1001, 1002)}
"""Random MDPs of the suite that settings were chosen on; its seeds 0 to 49 are for the final test alone."""


def scale(budget: int, fraction: float) -> int:
    """Return a `fraction` of `budget`, at least `LEAST`.

    >>> scale(40_000, 0.01), scale(5000, 0.001)
    (400, 20)
    """
    return max(round(budget * fraction), min(LEAST, budget))


def scale_settings(settings: Settings, fraction: float) -> Settings:
    """Return settings with a `fraction` of the budget of exploration, N and N_0."""
    homing = replace(settings.homing, episodes=scale(settings.homing.episodes, fraction))
    collection = replace(settings.collection, tuples=scale(settings.collection.tuples, fraction))
    return replace(settings, homing=homing, collection=collection)


def mdp_digest(mdp: ContextualMDP) -> str:
    """Return a digest of a true model: its layout and every number in it."""
    digest = hashlib.sha256(json.dumps(mdp.layout.to_json(), sort_keys=True).encode())
    for array in (mdp.context_probabilities, mdp.transitions, mdp.rewards, mdp.feedback_probabilities):
        digest.update(str(array.shape).encode() + array.tobytes())
    return digest.hexdigest()


def optimal_value(mdp: ContextualMDP) -> float:
    """Return the expected reward of the optimal policy over contexts: the dashed line."""
    return float(mdp.context_probabilities @ solve_optimal(mdp).values)


def uniform_value(mdp: ContextualMDP) -> float:
    """Return the expected reward of uniform actions over contexts: the floor."""
    values = [evaluate_policy(mdp, x, mdp.layout.uniform_policy) for x in range(mdp.n_contexts)]
    return float(mdp.context_probabilities @ np.array(values))

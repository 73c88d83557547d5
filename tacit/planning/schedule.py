"""How strongly the planner trusts its estimates: gamma_t (appendix C.1) and the choices of Theorem 4.3."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from tacit.base.validation import check_choice, check_number, check_whole


@dataclass(frozen=True)
class GammaSchedule:
    """The weight gamma_t of the log barrier: 1/gamma in the program of Algorithm 4, line 6.

    `growing` is the experiment's gamma_t = scale H √(K t); `constant` is gamma_t = scale, which is how the
    theorem's choice is played.

    >>> GammaSchedule().gamma(episode=5, horizon=3, n_actions=5)
    15.0
    """

    kind: str = "growing"
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ("growing", "constant"))
        check_number("scale", self.scale, 0, math.inf)

    def gamma(self, episode: int, horizon: int, n_actions: int) -> float:
        """Return gamma_t for the t-th episode of policy learning, t = 1, 2, ..."""
        if self.kind == "constant":
            return self.scale
        return self.scale * horizon * math.sqrt(n_actions * episode)


class TheoremChoice(NamedTuple):
    """The parameters with which Theorem 4.3 is proved, constants and logarithms left out as there."""

    gamma: float
    tuples: float
    epsilon: float


def choose_by_theorem(
    episodes: int, n_states: int, n_actions: int, horizon: int, lipschitz: float, square_regret: float
) -> TheoremChoice:
    """Return the gamma, N_0 and epsilon picked at the end of appendix B (dev. 24).

    `square_regret` is Reg_Sq, the oracle's regret bound; `lipschitz` is L of Lemma 3.7.

    >>> choose_by_theorem(10**6, 5, 5, 3, 25.0, 10.0).gamma < 10**3
    True
    """
    check_whole("episodes", episodes, 1)
    check_number("square_regret", square_regret, 0, math.inf)
    T, S, K, H, L = float(episodes), n_states, n_actions, horizon, lipschitz
    gamma = min(
        math.sqrt(T * S * K * H / square_regret),
        math.sqrt(T / (S * K * H**3)),
        T**0.25 * S**0.25 * K**0.5 * L**-0.5 * H**0.75,
    )
    tuples = max(
        L * math.sqrt(T * K * H) / S,
        gamma ** (2 / 3) * T ** (1 / 3) * S ** (-2 / 3) * K ** (2 / 3) * L ** (4 / 3),
    )
    epsilon = max(math.sqrt(tuples / T), (S * K * H / T) ** (1 / 3))
    return TheoremChoice(gamma, tuples, epsilon)

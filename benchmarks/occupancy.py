"""The occupancy solver beside CVXPY with Clarabel, and beside Clarabel's own reported time, in one run.

The problems are those of policy learning (Algorithm 4): between two solves an episode adds to the transition
counts, online gradient descent moves one reward, and gamma_t = H sqrt(K t). All times are medians.

CVXPY is timed twice: parametrised (DPP), compiled once and then given new numbers, and built anew for every
episode. Clarabel alone is the time that it reports itself. Run: python benchmarks/occupancy.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import cvxpy
import numpy as np
import scipy.sparse

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.planning.dual_newton import solve_packed
from tacit.planning.occupancy import OccupancySolution, solve_occupancy

cp: Any = cvxpy  # its functions are not typed
LEARNING_RATE = 0.05
FIRST_EPISODE = 2000
REPEATS = 7


class Episode(NamedTuple):
    """One problem of a sequence, in padded arrays."""

    transitions: FloatArray  # (H-1, S, K, S)
    rewards: FloatArray  # (H, S, K)
    gamma: float


class Sequence(NamedTuple):
    """The problems of consecutive episodes and what they share."""

    episodes: list[Episode]
    mask: BoolArray
    n_states: IntArray

    def unpadded(self, episode: Episode) -> tuple[list[FloatArray], list[FloatArray], float]:
        """Return the lists that `solve_occupancy` takes."""
        n = self.n_states
        rows = [np.ascontiguousarray(P[: n[h], :, : n[h + 1]]) for h, P in enumerate(episode.transitions)]
        return rows, [r[: n[h]].copy() for h, r in enumerate(episode.rewards)], episode.gamma


def learning_sequence(sizes: list[int], K: int, n_episodes: int, seed: int) -> Sequence:
    """Return the problems that policy learning meets from FIRST_EPISODE on, acting by its own solutions."""
    rng = np.random.default_rng(seed)
    n, H, S = np.array(sizes), len(sizes), max(sizes)
    mask = np.broadcast_to((np.arange(S) < n[:, None])[:, :, None], (H, S, K)).copy()
    true = [rng.dirichlet(np.ones(n[h + 1]), size=(n[h], K)) for h in range(H - 1)]
    counts = np.zeros((H - 1, S, K, S))
    for h, rows in enumerate(true):
        counts[h, : n[h], :, : n[h + 1]] = 1 + rng.poisson(rows * FIRST_EPISODE / (n[h] * K))
    mean = rng.random((n[-1], K))
    rewards = np.zeros((H, S, K))
    rewards[-1, : n[-1]] = mean + 0.1 * rng.normal(size=mean.shape)
    episodes, v = [], np.zeros((H, S))
    for t in range(FIRST_EPISODE, FIRST_EPISODE + n_episodes):
        P = counts / np.maximum(counts.sum(axis=3, keepdims=True), 1)
        episodes.append(Episode(P, rewards.copy(), float(H * np.sqrt(K * t))))
        policy, v, *_ = solve_packed(P, rewards, mask, n, episodes[-1].gamma, v, t > FIRST_EPISODE)
        s = 0
        for h in range(H):
            a = rng.choice(K, p=policy[h, s] / policy[h, s].sum())
            if h < H - 1:
                following = rng.choice(n[h + 1], p=true[h][s, a])
                counts[h, s, a, following] += 1
                s = following
        rewards[-1, s, a] -= 2 * LEARNING_RATE * (rewards[-1, s, a] - (rng.random() < mean[s, a]))
    return Sequence(episodes, mask, n)


def run_packed(sequence: Sequence, warm: bool) -> tuple[float, list[int]]:
    """Return (seconds a solve, iterations of each) of the packed entry point, first episode left out."""
    first, *others = sequence.episodes
    v = np.zeros(sequence.mask.shape[:2])
    if warm:
        v = solve_packed(
            first.transitions, first.rewards, sequence.mask, sequence.n_states, first.gamma, v, False
        )[1]
    iterations = []
    begin = time.perf_counter()
    for P, r, gamma in others:
        _, after, _, steps, _ = solve_packed(P, r, sequence.mask, sequence.n_states, gamma, v, warm)
        iterations.append(steps)
        v = after if warm else v
    return (time.perf_counter() - begin) / len(others), iterations


def run_public(sequence: Sequence) -> tuple[float, list[OccupancySolution]]:
    """Return (seconds a solve, solutions) of `solve_occupancy`, each started from the last."""
    problems = [sequence.unpadded(episode) for episode in sequence.episodes]
    solutions = [solve_occupancy(*problems[0])]
    begin = time.perf_counter()
    for problem in problems[1:]:
        solutions.append(solve_occupancy(*problem, start=solutions[-1].dual))
    return (time.perf_counter() - begin) / (len(problems) - 1), solutions


def median_of(run: Callable[[], tuple[float, Any]]) -> tuple[float, Any]:
    return sorted((run() for _ in range(REPEATS)), key=lambda timed: timed[0])[REPEATS // 2]


def flat(rows: list[FloatArray], rewards: list[FloatArray]) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the transitions as matrices (S_{h+1}, S_h K) and the rewards as vectors (S_h K,)."""
    return [P.reshape(-1, P.shape[2]).T for P in rows], [r.ravel() for r in rewards]


def write_problem(P: list[Any], r: list[Any], weight: Any, K: int) -> Any:
    """Return the problem as one writes it in CVXPY; P, r and weight = 1/gamma are arrays or parameters."""
    q = [cp.Variable(layer.size) for layer in r]
    gain = sum(layer @ x for layer, x in zip(r, q, strict=True))
    flow = [cp.sum(q[0]) == 1]
    for rows, (before, after) in zip(P, pairwise(q), strict=True):
        out = scipy.sparse.kron(scipy.sparse.eye(after.size // K), np.ones((1, K)), format="csr")
        flow.append(out @ after == rows @ before)
    return cp.Problem(cp.Maximize(gain + weight * sum(cp.sum(cp.log(x)) for x in q)), flow)


class Parametrised:
    """CVXPY's problem in DPP form, compiled once for all episodes."""

    def __init__(self, n_states: IntArray, K: int) -> None:
        sizes = n_states.tolist()
        self.r = [cp.Parameter(n * K) for n in sizes]
        self.P = [cp.Parameter((after, n * K), nonneg=True) for n, after in pairwise(sizes)]
        self.weight = cp.Parameter(nonneg=True)
        self.problem = write_problem(self.P, self.r, self.weight, K)
        assert self.problem.is_dcp(dpp=True)

    def solve(self, rows: list[FloatArray], rewards: list[FloatArray], gamma: float) -> float:
        """Return the wall seconds of problem.solve."""
        P, r = flat(rows, rewards)
        for parameter, value in zip([*self.P, *self.r, self.weight], [*P, *r, 1 / gamma], strict=True):
            parameter.value = value
        begin = time.perf_counter()
        self.problem.solve(solver=cp.CLARABEL)
        return time.perf_counter() - begin


def built_anew(rows: list[FloatArray], rewards: list[FloatArray], gamma: float) -> tuple[float, float, float]:
    """Return (wall seconds to write and solve, seconds that Clarabel reports, objective)."""
    begin = time.perf_counter()
    P, r = flat(rows, rewards)
    problem = write_problem(P, r, 1 / gamma, rewards[0].shape[1])
    problem.solve(solver=cp.CLARABEL)
    return time.perf_counter() - begin, problem.solver_stats.solve_time, problem.value


def show(name: str, seconds: float, peers: dict[str, float], iterations: list[int]) -> None:
    ratios = "".join(f"{peer / seconds:>16,.0f}x" for peer in peers.values())
    print(
        f"  {name:<34}{1e6 * seconds:>12,.1f} us{ratios}   {np.mean(iterations):.1f} (most {max(iterations)})"
    )


def header(title: str, peers: dict[str, float]) -> None:
    times = ", ".join(f"{name} {1e3 * seconds:,.2f} ms" for name, seconds in peers.items())
    print(f"\n{title}\n  peers, median: {times}")
    print(
        f"  {'tacit':<34}{'a solve':>15}" + "".join(f"{'vs ' + name:>17}" for name in peers) + "   iterations"
    )


def compare(sizes: list[int], K: int, n_episodes: int, n_peer: int, parametrise: bool) -> None:
    """Print the table of one size; the peers solve the first `n_peer` + 1 episodes, the first untimed."""
    sequence = learning_sequence(sizes, K, n_episodes, seed=1)
    public_seconds, solutions = median_of(lambda: run_public(sequence))
    packed_seconds, warm = median_of(lambda: run_packed(sequence, True))
    cold_seconds, cold = median_of(lambda: run_packed(sequence, False))
    problems = [sequence.unpadded(episode) for episode in sequence.episodes[: n_peer + 1]]
    anew = [built_anew(*problem) for problem in problems]
    wall, own, _ = np.median(np.array(anew[1:]), axis=0).tolist()
    peers = {"CVXPY anew": wall, "Clarabel": own}
    if parametrise:
        parametrised = Parametrised(sequence.n_states, K)
        peers = {"CVXPY DPP": float(np.median([parametrised.solve(*p) for p in problems][1:])), **peers}
    header(f"layers of {sizes} states, {K} actions", peers)
    show("solve_packed, warm", packed_seconds, peers, warm)
    show("solve_packed, cold", cold_seconds, peers, cold)
    show("solve_occupancy, warm", public_seconds, peers, [s.iterations for s in solutions[1:]])
    accuracy(solutions, [s.objective - value for s, (_, _, value) in zip(solutions, anew, strict=False)])


def accuracy(solutions: list[OccupancySolution], difference: list[float]) -> None:
    print(
        f"  accuracy: gap <= {max(s.gap for s in solutions):.1e}, "
        f"flow residual <= {max(s.flow_residual for s in solutions):.1e}, "
        f"objective minus Clarabel's {min(difference):+.1e} to {max(difference):+.1e}"
    )


if __name__ == "__main__":
    compare([1, 2, 2], 5, n_episodes=400, n_peer=60, parametrise=True)
    compare([1, 5, 5], 5, n_episodes=400, n_peer=60, parametrise=True)
    # Not parametrised: CVXPY would hold one column for every entry of the transitions.
    compare([1, 100, 100, 100, 100], 10, n_episodes=8, n_peer=2, parametrise=False)

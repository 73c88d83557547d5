"""What logs can give, measured: the numbers stated of `tacit fit`, `label`, `evaluate`, `diagnose` and `train`.

Run: python benchmarks/logs.py [labels skewed coverage train speed ray diagnose text]; without words, all of them.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.agent import Agent
from tacit.base.arrays import BoolArray, FloatArray
from tacit.decoding.decoder import DecoderSettings
from tacit.envs.booking import BookingEnv, load_tasks, make_dialogues
from tacit.envs.dialogues import Dialogue
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.gym_adapter import GymSource
from tacit.envs.layered import LayeredEnv
from tacit.envs.random_mdp import random_mdp
from tacit.envs.synthetic import VARIANTS, synthetic, synthetic_mdp
from tacit.envs.unhealthy import action_dependent, shuffled, small_sigma
from tacit.experiments.learners import LEARNERS
from tacit.learning.settings import Settings
from tacit.learning.stage import best_policy
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.logs.writing import LogWriter
from tacit.offline.fit import diagnose_logs, fit
from tacit.offline.loading import load_model
from tacit.offline.model import RewardModel
from tacit.offline.tables.off_policy import ESTIMATORS
from tacit.problem.mdp import ContextualMDP, evaluate_policy, solve_optimal
from tacit.simulate import Simulation

SEEDS = 5
BIG = 1_000_000
ENVIRONMENTS = {name: synthetic(name).mdp for name in VARIANTS} | {
    f"random {n}": random_mdp(n).mdp for n in range(3)
}


def table_model(logs: list[LoggedEpisode], mdp: ContextualMDP) -> RewardModel:
    return fit(logs, layout=mdp.layout)


def decoded_of(model: RewardModel, logs: list[LoggedEpisode]) -> FloatArray:
    rows = model.label(logs)
    return np.array([np.nan if row["decoded_reward"] is None else row["decoded_reward"] for row in rows])


def took_best(mdp: ContextualMDP, logs: list[LoggedEpisode]) -> BoolArray:
    found = []
    for episode in logs:
        s = mdp.layout.locate(episode.steps[-1].state)[1]
        f = mdp.rewards[episode.context, s, : mdp.layout.n_actions[-1, s]]
        found.append(bool(f.max() > f.min() and f[episode.steps[-1].action] == f.max()))
    return np.array(found)


def measure_labels() -> None:
    print(f"\n10,000 uniform episodes, least and largest of {SEEDS} logs")
    print(f"{'environment':<12}{'agreement, best action':>24}{'mean label':>12}{'mean truth':>12}  verdicts")
    for name, mdp in ENVIRONMENTS.items():
        agreed, labels, truths, verdicts = [], [], [], []
        for seed in range(SEEDS):
            logs = list(draw_logs(mdp, 10_000, seed))
            model = table_model(logs, mdp)
            decoded, best = decoded_of(model, logs), took_best(mdp, logs)
            truth = np.array([episode.reward for episode in logs], dtype=float)
            agreed.append(np.mean((decoded >= 0.5)[best] == (truth == 1)[best]))
            labels.append(np.nanmean(decoded))
            truths.append(truth.mean())
            verdicts.append(model.certificate.verdict)
        above = sum(label > truth for label, truth in zip(labels, truths, strict=True))
        print(
            f"{name:<12}{min(agreed):>15.4f}{max(agreed):>9.4f}{np.mean(labels):>12.4f}{np.mean(truths):>12.4f}  "
            f"{', '.join(f'{verdicts.count(v)} {v}' for v in dict.fromkeys(verdicts))}; above the truth in {above}"
        )


def skewed(mdp: ContextualMDP, seed: int, last_only: bool) -> FloatArray:
    generator, layout = np.random.default_rng([seed, 1]), mdp.layout
    policies = np.repeat(layout.uniform_policy[None], mdp.n_contexts, axis=0)
    shares = np.array([0.6, 0.2, 0.1, 0.05, 0.05])
    for x, h, s in np.ndindex(*policies.shape[:3]):
        K = int(layout.n_actions[h, s])
        if K and (h == layout.horizon - 1 or not last_only):
            policies[x, h, s, :K] = generator.permutation(shares[:K] / shares[:K].sum())
    return policies


def measure_skewed() -> None:
    print(
        f"\nknown probabilities from 0.05 to 0.6 against uniform, 10,000 episodes each, means of {SEEDS} logs"
    )
    print(
        f"{'environment':<12}{'skewed':>12}{'mean absolute difference':>26}{'undecoded':>12}{'effective':>11}"
    )
    for name, mdp in ENVIRONMENTS.items():
        for where in ("last step", "all steps"):
            gaps, missing, sizes = [], [], []
            for seed in range(SEEDS):
                asked = list(draw_logs(mdp, 5_000, seed + 100))
                plain = table_model(list(draw_logs(mdp, 10_000, seed)), mdp)
                policies = skewed(mdp, seed, where == "last step")
                other = table_model(list(draw_logs(mdp, 10_000, seed, policies)), mdp)
                first, second = decoded_of(plain, asked), decoded_of(other, asked)
                gaps.append(np.nanmean(np.abs(first - second)))
                missing.append(np.isnan(second).mean())
                sizes.append(other.certificate.effective)
            print(
                f"{name:<12}{where:>12}{np.mean(gaps):>26.4f}{np.mean(missing):>12.4f}{np.mean(sizes):>11,.0f}"
            )


def mixed(mdp: ContextualMDP, greedy: float) -> FloatArray:
    return np.asarray(greedy * solve_optimal(mdp).policies + (1 - greedy) * mdp.layout.uniform_policy)


def policy_table(mdp: ContextualMDP, policies: FloatArray) -> dict[str, Any]:
    layout = mdp.layout
    return {
        "contexts": {
            str(x): {
                str(layout.states[h][s]): {
                    str(action): float(policies[x, h, s, a]) for a, action in enumerate(layout.actions[h][s])
                }
                for h in range(layout.horizon)
                for s in range(len(layout.states[h]))
            }
            for x in range(len(policies))
        }
    }


def covered(job: tuple[str, float, float, int, int]) -> dict[str, bool]:
    name, logged, target, episodes, seed = job
    mdp = ENVIRONMENTS[name]
    policies = mixed(mdp, target)
    truth = sum(
        p * evaluate_policy(mdp, x, policies[x]) for x, p in enumerate(mdp.context_probabilities.tolist())
    )
    logs = list(draw_logs(mdp, episodes, seed, mixed(mdp, logged)))
    found = table_model(logs, mdp).evaluate(logs, policy_table(mdp, policies))
    return {
        name: each is not None and each.low <= truth <= each.high for name, each in found.estimates.items()
    }


def measure_coverage() -> None:
    print("\n95 % intervals that cover the true value, of 100 logs")
    print(
        f"{'environment':<12}{'logged':>8}{'target':>8}{'episodes':>10}"
        + "".join(f"{n:>21}" for n in ESTIMATORS)
    )
    settings = [(0.0, 0.1, 5_000), (0.5, 0.6, 2_000), (0.5, 0.6, 10_000)]
    with multiprocessing.get_context("spawn").Pool() as pool:
        for name in ("synthetic", "personal", "random 0", "random 1"):
            for logged, target, episodes in settings:
                jobs = [(name, logged, target, episodes, seed) for seed in range(100)]
                counts = pool.map(covered, jobs)
                told = "".join(f"{sum(each[n] for each in counts):>21}" for n in ESTIMATORS)
                print(f"{name:<12}{logged:>8}{target:>8}{episodes:>10,}{told}", flush=True)


def measure_train() -> None:
    print(
        "\n20,000 uniform episodes: below the optimum, and mean regret of the first and last 500 of 2,000 online"
    )
    for name in VARIANTS:
        env = synthetic(name)
        logs = list(draw_logs(env.mdp, 20_000, seed=0))
        agent = table_model(logs, env.mdp).train(logs)
        assert isinstance(agent, Agent)
        best = solve_optimal(env.mdp).values
        values = [evaluate_policy(env.mdp, x, best_policy(agent.stage, x)) for x in range(2)]
        regrets = Simulation(agent, GymSource(env), seed=1, mdp=env.mdp).run(2_000).regrets
        print(
            f"{name:<12}{float((best - values) @ env.mdp.context_probabilities):.4f}   "
            f"{np.mean(regrets[:500]):.4f}   {np.mean(regrets[-500:]):.4f}"
        )


def uniform_logs(env: LayeredEnv, path: Path) -> Path:
    agent = LEARNERS["uniform"].make(env.layout, Settings(DecoderSettings(0.9, 1.3)), 0)
    with LogWriter(path) as log:
        Simulation(agent, GymSource(env), seed=7, log=log).run(10_000)
    return path


def measure_diagnose() -> None:
    print("\nverdicts on 10,000 uniform episodes")
    cases = {name: LayeredEnv(mdp) for name, mdp in ENVIRONMENTS.items()} | {
        "shuffled": shuffled(synthetic_mdp()),
        "sigma 0.82": small_sigma(),
        "action dep.": action_dependent(random_mdp(1000).mdp),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, env in cases.items():
            found = diagnose_logs(uniform_logs(env, Path(folder) / "logs.jsonl"))
            codes = [finding.code for finding in found.findings if finding.severity != "info"]
            print(f"{name:<12}{found.verdict:<20}{', '.join(codes)}")


def write_big(path: Path) -> None:
    with LogWriter(path) as writer:
        for part in range(BIG // 100_000):
            for episode in draw_logs(synthetic_mdp(), 100_000, part):
                record = episode.to_json() | {"episode": f"e{part}-{episode.episode:06d}"}
                writer.write(record | {"user": f"user-{int(episode.episode) % 977}"})


SPEED = """
import resource, sys, time
from tacit.offline.loading import load_model
if __name__ == "__main__":
    logs, model, out, processes = sys.argv[1:]
    begin = time.perf_counter()
    done = load_model(model).label(logs, out, processes=int(processes))
    seconds = time.perf_counter() - begin
    peak = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(done.rows / seconds, peak[0] + (int(processes) if int(processes) > 1 else 0) * peak[1])
"""


def measure_speed() -> None:
    """Each in a process of its own; memory is the parent's peak plus that of the largest worker for each worker."""
    with tempfile.TemporaryDirectory() as folder:
        logs, model, script = Path(folder) / "big.jsonl", Path(folder) / "m.tacit", Path(folder) / "run.py"
        write_big(logs)
        table_model(list(draw_logs(synthetic_mdp(), 10_000, 3)), synthetic_mdp()).save(model)
        script.write_text(SPEED)
        print(f"\nlabelling {BIG:,} episodes, {logs.stat().st_size / 1e6:.0f} MB")
        begin = time.perf_counter()
        with open(logs, "rb") as lines:
            for line in lines:
                json.loads(line)
        print(
            f"{'json.loads alone, one core':<34}{BIG / (time.perf_counter() - begin):>10,.0f} episodes a second"
        )
        outs = []
        for processes, ending in ((1, "jsonl"), (2, "jsonl"), (2, "parquet")):
            outs.append(Path(folder) / f"labels{processes}.{ending}")
            command = [sys.executable, str(script), str(logs), str(model), str(outs[-1]), str(processes)]
            rate, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            print(
                f"{f'{processes} process(es), .{ending}':<34}{float(rate):>10,.0f} episodes a second, "
                f"at most {float(peak):.0f} MB"
            )
        print("same bytes from 1 and 2 processes:", outs[0].read_bytes() == outs[1].read_bytes())


def measure_ray() -> None:
    with tempfile.TemporaryDirectory() as folder:
        logs, model = Path(folder) / "logs.parquet", Path(folder) / "m.tacit"
        with LogWriter(logs) as writer:
            for episode in draw_logs(synthetic_mdp(), 1_000_000, 0):
                writer.write(episode)
        table_model(list(draw_logs(synthetic_mdp(), 10_000, 3)), synthetic_mdp()).save(model)
        print("\n100,000 episodes of Parquet")
        for engine in ("local", "ray"):
            begin = time.perf_counter()
            done = load_model(model).label(logs, Path(folder) / f"{engine}.jsonl", engine=engine)
            print(
                f"{engine:<8}{done.rows / (time.perf_counter() - begin):>10,.0f} episodes a second, start included"
            )
        same = (Path(folder) / "local.jsonl").read_bytes() == (Path(folder) / "ray.jsonl").read_bytes()
        print("same bytes:", same)


def draw_text(
    dialogues: Sequence[Dialogue], episodes: int, seed: int, shares: FloatArray | None = None
) -> list[LoggedEpisode]:
    """Return conversations whose last candidates are uniform, or have these shares in random order."""
    source, generator = GymSource(BookingEnv(dialogues)), np.random.default_rng([seed, 1])
    logs = []
    for n in range(episodes):
        context, state = source.begin(seed if n == 0 else None, n)
        steps: list[LoggedStep] = []
        while state is not None:
            offered = source.offer[0]
            chances = np.full(len(offered), 1 / len(offered))
            if shares is not None and len(steps) == BookingEnv.horizon - 1:
                chances = generator.permutation(shares)
            a = int(generator.choice(len(offered), p=chances))
            steps.append(LoggedStep(state, offered[a], offered, float(chances[a])))
            state = source.step(offered[a])
        logs.append(LoggedEpisode(n, context, tuple(steps), source.feedback, reward=source.reward))
    return logs


def chose_best(dialogues: Sequence[Dialogue], logs: list[LoggedEpisode]) -> BoolArray:
    """Return which conversations took the right question and the right booking."""
    right = set()
    for dialogue in dialogues:
        question = next(question.text for question in dialogue.questions if question.correct)
        booking = next(booking.text for booking in dialogue.bookings if booking.correct)
        right.add((dialogue.request, question, booking, tuple(each.text for each in dialogue.bookings)))
    ends = [(*(step.action for step in episode.steps), episode.steps[-1].actions) for episode in logs]
    return np.array([(each.context["request"], *end) in right for each, end in zip(logs, ends, strict=True)])


def timed(what: str, begin: float) -> None:
    print(f"{what:<34}{time.perf_counter() - begin:>8.0f} s", flush=True)


def measure_text() -> None:
    """The dialogues are the corpora's if they are in the data directory (`tacit data`), else generated ones."""
    tasks, source = load_tasks()
    dialogues = make_dialogues(tasks, "hard", 0)
    logs = draw_text(dialogues, 10_000, 0)
    print(f"\nbooking, setting hard, {len(dialogues):,} {source} dialogues, 10,000 uniform episodes")
    begin = time.perf_counter()
    model = fit(logs)
    timed("fit (what is not encoded is, first)", begin)
    begin = time.perf_counter()
    decoded = decoded_of(model, logs)
    timed("label", begin)
    truth, best = np.array([float(episode.reward or 0) for episode in logs]), chose_best(dialogues, logs)
    print(
        f"agreement, best action {np.mean((decoded >= 0.5)[best] == (truth == 1)[best]):.4f} of {best.sum()}"
    )
    print(f"mean label {np.nanmean(decoded):.4f}, mean truth {truth.mean():.4f}")
    skewed_logs = draw_text(dialogues, 10_000, 0, np.array([0.6, 0.2, 0.1, 0.05, 0.05]))
    other = fit(skewed_logs)
    gap = np.abs(decoded_of(other, logs) - decoded)
    print(
        f"probabilities 0.05 to 0.6: mean absolute difference {gap.mean():.5f}, effective "
        f"{other.certificate.effective:,.0f}"
    )
    found = other.evaluate(skewed_logs, "uniform").estimates["self_normalised"]
    assert found is not None
    print(f"value of uniform from these: {found.value:.4f}, {found.low:.4f} to {found.high:.4f}")
    order = np.random.default_rng(0).permutation(len(logs))
    shuffled_logs = [replace(each, feedback=logs[n].feedback) for each, n in zip(logs, order, strict=True)]
    for name, episodes in (("diagnose", logs), ("diagnose, feedback shuffled", shuffled_logs)):
        begin = time.perf_counter()
        verdict = diagnose_logs(episodes).verdict
        timed(f"{name}: {verdict}", begin)


MEASUREMENTS: dict[str, Callable[[], None]] = {
    "labels": measure_labels,
    "skewed": measure_skewed,
    "diagnose": measure_diagnose,
    "train": measure_train,
    "speed": measure_speed,
    "ray": measure_ray,
    "coverage": measure_coverage,
    "text": measure_text,
}

if __name__ == "__main__":
    for word in sys.argv[1:] or MEASUREMENTS:
        MEASUREMENTS[word]()
    print(f"\npeak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")

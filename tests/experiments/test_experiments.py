"""Figures end to end at a thousandth of their budget, and the parts they are made of."""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console
from typer.testing import CliRunner

from tacit.agent import Agent
from tacit.cli.main import app
from tacit.decoding.decoder import DecoderSettings, build_decoder
from tacit.decoding.posterior import METHODS, ideal_posterior
from tacit.decoding.structured import TablePosterior
from tacit.engines.local import perform_all
from tacit.envs.random_mdp import suite_settings
from tacit.envs.synthetic import synthetic, synthetic_mdp
from tacit.experiments import decoding, learning
from tacit.experiments.figures import FIGURES, PAPER, RANDOM, TABULAR, Arm, find_figure
from tacit.experiments.inspection import inspect
from tacit.experiments.learners import LEARNERS
from tacit.experiments.manifest import commit, warned
from tacit.experiments.progress import Tally
from tacit.experiments.publish import FILES, publish
from tacit.experiments.regret import fit_slope
from tacit.experiments.report import show_interval
from tacit.experiments.run import Request, perform
from tacit.experiments.summary import (
    SCALARS,
    mean_interval,
    optimal_value,
    summarise,
    summarise_learner,
    uniform_value,
)
from tacit.experiments.tasks import Task, expand, load_result
from tacit.reports.palette import spread
from tacit.simulate import Trace

FRACTION = 0.001
QUIET = Console(file=io.StringIO())
SMALL = replace(FIGURES["synthetic"], learners=("tacit", "uniform"))
"""Two learners of the synthetic figure: enough for all that does not depend on which."""

EVERY_FIGURE = [
    "decoder",
    "synthetic",
    pytest.param("variants", marks=pytest.mark.compiled),
    pytest.param("regret", marks=pytest.mark.compiled),
    "exploration",
]


@pytest.fixture(scope="module")
def directory_of(tmp_path_factory):
    """Return a function that makes a figure through the command line, once, and returns its directory."""
    out, made = tmp_path_factory.mktemp("results"), {}

    def make(name):
        if name not in made:
            options = ["--seeds", "2", "--fraction", str(FRACTION), "--out", str(out), "--jobs", "2"]
            made[name] = CliRunner().invoke(app, ["reproduce", name, *options])
        assert made[name].exit_code == 0, made[name].output
        return out / name

    return make


def run_small(out, **options):
    return perform(Request(SMALL, out, **({"seeds": 2, "fraction": FRACTION, "jobs": 2} | options)), QUIET)


def without_times(summary):
    for learner in summary["learners"].values():
        del learner["episodes_per_second"]
    return summary


def test_figures_are_all_tested():
    """Those on layered environments here, booking in test_experiments_booking.py."""
    assert {getattr(name, "values", [name])[0] for name in EVERY_FIGURE} == set(TABULAR)


@pytest.mark.parametrize("name", EVERY_FIGURE)
def test_figure_writes_all_files(directory_of, name):
    directory = directory_of(name)
    assert {path.name for path in directory.iterdir()} == {*FILES, "runs"}
    assert not list(directory.glob("**/*.part"))


@pytest.mark.parametrize("name", EVERY_FIGURE)
def test_summary_has_every_key(directory_of, name):
    summary = json.loads((directory_of(name) / "summary.json").read_text())
    assert (summary["figure"], summary["seeds"], summary["fraction"]) == (name, 2, FRACTION)
    assert summary["settings"]["decoder"] == {"theta": 0.9, "M": 1.3, "c": 0.0, "kappa": None}
    if name == "decoder":
        return check_decoder_summary(summary)
    several = len(FIGURES[name].environments) > 1
    assert ("learners" in summary, "variants" in summary) == (not several, several)
    parts = summary["variants"] if several else {name: summary}
    assert list(parts) == list(FIGURES[name].environments)
    for variant, part in parts.items():
        assert part["optimal_value"] == pytest.approx(0.729) or variant.startswith("random")
        assert list(part["learners"]) == list(FIGURES[name].scaled(FRACTION).names)
        for learner in part["learners"].values():
            check_learner_summary(learner, OWN.get(name, set()))
    return None


OWN = {"regret": {"slope"}, "exploration": {"share"}}
"""What the learners of a figure have beside the scalars."""


def check_learner_summary(learner, own):
    assert set(learner) == {*SCALARS, "episodes_per_second", *own}
    for interval in learner.values():
        assert set(interval) == {"mean", "low", "high"}
        if interval["mean"] is not None:
            assert interval["low"] <= interval["mean"] <= interval["high"]


def check_decoder_summary(summary):
    assert summary["illustration"]["kappa_formula"] == pytest.approx(2 / 15)
    assert list(summary["posteriors"]) == list(METHODS)
    for row in summary["posteriors"].values():
        assert set(row) == {"decoded_rewarded", "decoded_unrewarded"}
        assert list(row["decoded_rewarded"]) == ["20"]


@pytest.mark.parametrize("name", EVERY_FIGURE)
def test_curves_parse(directory_of, name):
    with open(directory_of(name) / "curves.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    figure = FIGURES[name].scaled(FRACTION)
    assert {row["variant"] for row in rows} == set(figure.environments)
    assert {row["learner"] for row in rows} == set(figure.names)
    assert {row["seed"] for row in rows} == {"0", "1"}
    if figure.study != "decoding":
        wanted = [
            "variant",
            "learner",
            "seed",
            "episode",
            "average_reward",
            "average_decoded_reward",
            "regret",
        ]
        assert list(rows[0]) == wanted
        assert all(row["average_decoded_reward"] == "" for row in rows if row["learner"] == "uniform")
        assert all(0 <= float(row["average_reward"]) <= 1 for row in rows)


@pytest.mark.parametrize("name", EVERY_FIGURE)
def test_report_stands_alone(directory_of, name):
    page = (directory_of(name) / "report.html").read_text()
    references = re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)|url\(([^)]*)\)""", page)
    assert references
    assert all("".join(reference).startswith("data:") for reference in references)
    text = re.sub(r"data:image/png;base64,[^\"]*", "", page)
    assert "http" not in text
    assert "<script" not in text
    assert all(f">{learner}<" in text for learner in FIGURES[name].scaled(FRACTION).names)
    assert str(directory_of(name)) not in text
    several = len(FIGURES[name].environments) > 1
    assert all(f">{variant}<" in text for variant in FIGURES[name].environments if several)


@pytest.mark.parametrize("name", EVERY_FIGURE)
def test_picture_is_not_blank(directory_of, name):
    with Image.open(directory_of(name) / "figure.png") as picture:
        pixels = np.asarray(picture.convert("L"))
    assert pixels.shape[1] >= 1600
    assert 0.01 < np.mean(pixels < 250) < 0.9


@pytest.mark.parametrize("name", EVERY_FIGURE)
def test_manifest_names_no_machine(directory_of, name):
    text = (directory_of(name) / "manifest.json").read_text()
    manifest = json.loads(text)
    assert manifest["command"] == f"tacit reproduce {name} --seeds 2 --fraction 0.001"
    assert {"python", "numpy", "numba", "torch", "tacit"} <= set(manifest["versions"])
    assert manifest["seeds"] == [0, 1]
    assert manifest["times"]["seconds"] > 0
    assert os.uname().nodename not in text
    assert str(Path.home()) not in text
    assert manifest["commit"] == commit()


def test_warnings_are_told_once_a_kind(directory_of):
    manifest = json.loads((directory_of("exploration") / "manifest.json").read_text())
    assert manifest["warnings"] == []  # no arm came to the end of its exploration
    runs = run_small(directory_of("synthetic").parent)
    reached, nothing = warned(runs)
    assert re.search(r"^tacit on synthetic, seed 0: state 's3 good' was .* \(1 more like this\)$", reached)
    assert "tells no action from another" in nothing


def test_second_call_computes_only_what_is_missing(directory_of, tmp_path):
    shutil.copytree(directory_of("synthetic"), tmp_path / "synthetic")
    stored = json.loads((tmp_path / "synthetic" / "summary.json").read_text())
    first = run_small(tmp_path)
    assert (first.computed, len(first.results)) == (0, 4)
    summary = publish(first)
    assert summary["learners"] == {learner: stored["learners"][learner] for learner in SMALL.learners}

    task, runs = first.task("synthetic", "tacit", 1), first.request.runs
    agent = task.agent_path(runs).read_bytes()
    task.path(runs).unlink()
    mended = run_small(tmp_path)
    assert mended.computed == 1
    assert without_times(publish(mended)) == without_times(summary)
    assert task.agent_path(runs).read_bytes() == agent

    task.agent_path(runs).unlink()
    assert load_result(task, runs) is None


def test_regret_goes_on_where_it_stopped(tmp_path):
    figure = replace(FIGURES["regret"], learners=("tacit_fast", "uniform"), episodes=40)
    request = Request(figure, tmp_path, seeds=2, jobs=1)
    first = perform(request, QUIET)
    summary = publish(first)
    assert summary["episodes"] == 40
    for part in summary["variants"].values():
        assert part["learners"]["uniform"]["slope"]["mean"] == pytest.approx(1.0, abs=1e-6)
    task = first.task("personal", "tacit_fast", 1)
    task.path(request.runs).unlink()
    again = perform(request, QUIET)
    assert (first.computed, again.computed) == (8, 1)
    assert again.results[task]["scalars"] == first.results[task]["scalars"]
    assert Agent.load(task.agent_path(request.runs)).stage.name == "fast learning"


def test_what_does_not_fit_is_recomputed(tmp_path):
    figure = replace(SMALL, learners=("uniform",))
    uniform = partial(Request, figure, tmp_path, seeds=1, jobs=1)
    task, runs = expand(figure.scaled(FRACTION), 1)[0], tmp_path / "synthetic" / "runs"
    assert perform(uniform(fraction=FRACTION), QUIET).computed == 1
    assert perform(uniform(fraction=0.002), QUIET).computed == 1
    assert perform(uniform(fraction=FRACTION), QUIET).computed == 0  # both are kept
    damaged = task.path(runs)
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert load_result(task, runs) is None
    assert perform(uniform(fraction=FRACTION), QUIET).computed == 1


def test_fingerprints_follow_from_all_that_decides():
    figure = SMALL.scaled(FRACTION)
    tasks = [
        *expand(figure, 2),
        *expand(SMALL.scaled(0.002), 1),
        *expand(replace(figure, environments={"synthetic": partial(synthetic, "balanced")}), 1),
        *expand(replace(figure, settings=replace(PAPER, posterior=replace(PAPER.posterior, width=8))), 1),
        *expand(replace(figure, study="regret"), 1),
        *expand(replace(figure, constants={"synthetic": DecoderSettings(0.8, 1.2)}), 1),
        *expand(replace(figure, learners=(), arms=(Arm(20), Arm(20, 0.1), Arm(30))), 1),
    ]
    assert len({task.fingerprint for task in tasks}) == len(tasks)
    assert expand(figure, 2) == expand(figure, 2)


def test_results_do_not_depend_on_jobs(directory_of, tmp_path):
    results = []
    for out, jobs, computed in ((directory_of("synthetic").parent, 2, 0), (tmp_path, 1, 4)):
        runs = run_small(out, jobs=jobs)
        assert runs.computed == computed
        agents = [task.agent_path(runs.request.runs) for task in runs.results if task.learner == "tacit"]
        results.append((without_times(summarise(runs)), [path.read_bytes() for path in agents]))
    assert results[0] == results[1]


def test_failing_task_is_reported_and_the_others_go_on(tmp_path):
    figure = replace(SMALL, learners=("no_such_learner", "uniform"))
    said = io.StringIO()
    runs = perform(Request(figure, tmp_path, 2, FRACTION, jobs=1), Console(file=said))
    assert [failure.task.seed for failure in runs.failures] == [0, 1]
    assert all("there is no learner" in failure.reason for failure in runs.failures)
    assert "Traceback" in runs.failures[0].details
    assert "failed: no_such_learner on synthetic, seed 0" in said.getvalue()
    assert [task.learner for task in runs.results] == ["uniform", "uniform"]


def die(task, report):
    if task.seed == 0:
        os._exit(7)
    report(5, "alive")


def test_worker_that_dies_loses_only_its_task():
    tasks = [Task("v", "l", seed, "") for seed in range(3)]
    listener = Recorder()
    failures = perform_all(tasks, die, 1, listener)
    assert [(failure.task.seed, "code 7" in failure.reason) for failure in failures] == [(0, True)]
    assert listener.ends == {0: True, 1: False, 2: False}
    assert listener.amounts == [5, 5]


class Recorder:
    def __init__(self):
        self.ends, self.amounts = {}, []

    def begun(self, task):
        pass

    def advanced(self, task, amount, stage):
        self.amounts.append(amount)

    def ended(self, task, failure):
        self.ends[task.seed] = failure is not None

    def tick(self):
        pass


@pytest.mark.compiled
def test_interrupted_run_keeps_what_is_finished(tmp_path):
    arguments = ["synthetic", "--seeds", "40", "--fraction", "0.01", "--out", str(tmp_path), "--jobs", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from tacit.cli.main import app; app()", "reproduce", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    runs = tmp_path / "synthetic" / "runs"
    wait_until(lambda: len(list(runs.glob("*.tacit"))) > 2, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: everyone gets it
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 130, output
    assert "Interrupted" in output
    assert "Traceback" not in output
    wait_until(lambda: not group_exists(process.pid), None)
    assert not list(runs.glob("*.part"))

    figure = FIGURES["synthetic"].scaled(0.01)
    kept = {task for task in expand(figure, 1) if load_result(task, runs)}
    assert kept
    resumed = perform(Request(FIGURES["synthetic"], tmp_path, seeds=1, fraction=0.01), QUIET)
    assert resumed.computed == len(LEARNERS) - len(kept)


def wait_until(condition, process, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        assert process is None or process.poll() is None
        time.sleep(0.02)


def group_exists(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_seed_has_no_interval():
    assert mean_interval([0.5]) == {"mean": 0.5, "low": None, "high": None}
    assert mean_interval([0.5, None])["mean"] is None
    assert show_interval(mean_interval([0.5])) == "0.500"


def test_interval_is_students():
    # mean 2, standard error 1/√3, t quantile of two degrees of freedom 4.302653
    interval = mean_interval([1.0, 2.0, 3.0])
    assert interval["high"] - 2.0 == pytest.approx(4.302653 / 3**0.5)
    assert 2.0 - interval["low"] == pytest.approx(4.302653 / 3**0.5)


def test_condensed_trace_by_hand():
    trace = Trace(
        rewards=[0.0, 1.0, 0.0, 1.0, 1.0],
        decoded=[np.nan, np.nan, 0.0, np.nan, 0.5],
        regrets=[0.5, 0.25, 0.25, 0.0, 0.0],
        exploring=[True, True, False, False, False],
    )
    result = learning.condense(trace)
    assert result["scalars"] == {
        "average_reward": pytest.approx(2 / 3),
        "average_decoded_reward": pytest.approx(1 / 6),
        "final_reward": 1.0,
        "final_decoded_reward": 0.5,
        "average_reward_all": pytest.approx(3 / 5),
        "regret": 1.0,
        "exploration_episodes": 2,
    }
    assert result["curves"]["episode"].tolist() == [1, 2, 3]
    assert result["curves"]["average_reward"].tolist() == pytest.approx([0, 1 / 2, 2 / 3])
    assert result["curves"]["regret"].tolist() == [1.0, 1.0, 1.0]


def test_whole_trace_counts_exploration():
    trace = Trace([0.0, 1.0], [np.nan, np.nan], [0.5, 0.25], [True, True])
    result = learning.condense(trace, whole=True)
    assert result["curves"]["episode"].tolist() == [1, 2]
    assert result["curves"]["average_reward"].tolist() == [0.0, 0.5]
    assert result["curves"]["regret"].tolist() == [0.5, 0.75]
    assert result["scalars"]["average_reward_all"] == 0.5
    assert result["scalars"]["average_reward"] is None  # it never came to learn
    assert result["scalars"]["final_reward"] is None


def test_fast_learner_explores_within_its_episodes():
    figure = replace(FIGURES["synthetic"], learners=("tacit_fast",), episodes=60)
    result, agent = learning.play_learning(figure, expand(figure, 1)[0], lambda amount, stage: None)
    scalars = result["scalars"]
    assert 0 < scalars["exploration_episodes"] == agent.stage.explored <= 60
    assert scalars["average_reward"] == scalars["average_reward_all"]
    assert agent.next_episode == result["curves"]["episode"][-1] == 60


@pytest.mark.parametrize("study", ["exploration", "learning"])
def test_exploration_is_part_of_the_episodes_where_the_figure_says_so(study, monkeypatch):
    lengths, condense = [], learning.condense
    monkeypatch.setattr(
        learning,
        "condense",
        lambda trace, whole: lengths.append(len(trace.rewards)) or condense(trace, whole),
    )
    figure = replace(FIGURES["exploration"].scaled(FRACTION), study=study, episodes=130)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so little homing misses a state, and says so
        result, _ = learning.play_learning(figure, expand(figure, 1)[0], lambda amount, stage: None)
    explored = result["scalars"]["exploration_episodes"]
    assert 40 < explored < 130
    assert lengths == [130 if study == "exploration" else 130 + explored]
    assert result["curves"]["episode"][-1] == 130


def test_arms_and_environments_have_their_own_settings():
    figure = FIGURES["exploration"]
    settings = figure.settings_of("random_1000", "tacit_500_bonus_0.1")
    assert (settings.homing.episodes, settings.collection.tuples) == (500, 500)
    assert (settings.homing.bonus_scale, settings.decoder.theta) == (0.1, suite_settings(1000).theta)
    assert figure.settings_of("balanced", "tacit_fast") == PAPER


def test_exploration_figure_leaves_the_final_suite_alone():
    assert all(seed >= 1000 for seed, _ in RANDOM.values())


def test_slope_is_fitted_over_the_last_two_decades():
    T = learning.log_points(1_000_000)
    regret = np.where(T < 10_000, 50.0 * T, 50.0 * 10_000**0.6 * T**0.4)
    assert fit_slope(T, regret) == pytest.approx(0.4)
    assert fit_slope(T, 0.3 * T) == pytest.approx(1.0)
    assert fit_slope(T, np.zeros(len(T))) is None


def test_log_points_run_from_the_first_episode_to_the_last():
    points = learning.log_points(1_000_000)
    assert (points[0], points[-1]) == (1, 1_000_000)
    assert len(points) > 0.8 * learning.POINTS
    late = points[points >= 10_000]
    assert np.diff(np.log(late)) == pytest.approx(np.log(1e6) / (learning.POINTS - 1), rel=0.01)


def test_share_runs_from_uniform_to_the_optimum():
    mdp = synthetic_mdp()
    # good with probability (0.9 + 4 * 0.1) / 5 = 0.26 a step, twice, then rewarded with 0.26
    assert uniform_value(mdp) == pytest.approx(0.26**3)
    row = dict.fromkeys(SCALARS, 0.0) | {"average_reward_all": (optimal_value(mdp) + 0.26**3) / 2}
    result = {"scalars": row, "curves": {}, "rate": 1.0}
    share = summarise_learner("exploration", [result], optimal_value(mdp), uniform_value(mdp))["share"]
    assert share["mean"] == pytest.approx(0.5)


def test_exploration_that_never_ends_is_an_error(tmp_path):
    env = synthetic()
    agent = LEARNERS["last_step_igl"].make(env.layout, PAPER, 0)
    simulation = learning.Simulation(agent, LEARNERS["last_step_igl"].source(env), 0)
    with pytest.raises(RuntimeError, match="must end within 5 episodes"):
        learning.explore(simulation, 5, lambda amount, stage: None)


def test_curve_points_are_even_and_end_at_the_last():
    points = learning.curve_points(40_000)
    assert len(points) == learning.POINTS
    assert (points[-1], set(np.diff(points))) == (40_000, {200})


def test_illustration_follows_figure_1():
    shape = decoding.illustrate(decoding.illustrated_decoder())
    at = {
        v: float(np.interp(v, shape.v, shape.decoded)) for v in (0.0, 1 / 3 - 0.15, 1 / 3, 0.575, 0.6, 2 / 3)
    }
    # zero far below, half of c midway over the bridge, c at uniform, the ramp from 0.55 to 0.6, then one
    assert list(at.values()) == pytest.approx([0.0, 0.1, 0.2, 0.5, 1.0, 1.0], abs=1e-9)


def test_true_posterior_decodes_to_the_reward():
    mdp = synthetic_mdp()
    h = np.array(
        [[ideal_posterior(mdp.rewards[x, 0], phi) for phi in (x, 1 - x)] for x in (0, 1)]
    )  # (X, Y, K)
    posterior = TablePosterior("frequency", mdp.layout, np.array([True, False]), np.stack([h, h]))
    decoder = build_decoder(mdp.layout, posterior, PAPER.decoder)
    assert decoding.decode_best(mdp, decoder, 0, reward=1) == pytest.approx(1.0)
    assert decoding.decode_best(mdp, decoder, 0, reward=0) == pytest.approx(0.0)


def test_tuples_are_drawn_from_the_model():
    mdp = synthetic_mdp()
    assert decoding.most_rewarding_state(mdp) == 0
    tuples = decoding.draw_tuples(mdp, 0, 20_000, np.random.default_rng(0))
    rewards = np.where(tuples.contexts == 0, tuples.feedback, 1 - tuples.feedback)
    assert np.mean(tuples.contexts == 0) == pytest.approx(0.7, abs=0.02)
    assert np.bincount(tuples.actions) / 20_000 == pytest.approx([0.2] * 5, abs=0.02)
    assert rewards[tuples.actions == 0].mean() == pytest.approx(0.9, abs=0.02)
    assert rewards[tuples.actions != 0].mean() == pytest.approx(0.1, abs=0.02)


def test_all_learners_of_a_seed_meet_the_same_people(monkeypatch):
    seeds = []

    class Watched(learning.Simulation):
        def __init__(self, agent, source, seed, mdp):
            super().__init__(agent, source, seed, mdp)
            seeds.append((seed, agent.seed))

    monkeypatch.setattr(learning, "Simulation", Watched)
    figure = replace(FIGURES["synthetic"], learners=("oracle_reward", "uniform")).scaled(FRACTION)
    for task in expand(figure, 2):
        learning.play_learning(figure, task, lambda amount, stage: None)
    assert seeds == [(1_000_003, 0), (1_000_003, 0), (1_000_004, 1), (1_000_004, 1)]


def test_tally_guesses_what_is_left():
    tasks = [Task("v", learner, seed, "") for seed in range(2) for learner in ("a", "b")]
    tally = Tally(dict.fromkeys(tasks, 100))
    assert (tally.done, tally.total, tally.seconds_left) == (0, 400, None)
    tally.begin(tasks[0])
    tally.advance(tasks[0], 150, "homing")
    assert (tally.done, tally.total) == (150, 450)
    tally.end(tasks[0])
    assert tally.total == 150 + 100 + 150 + 100  # the other "a" is now expected to take as long
    assert (tally.over, tally.tasks, tally.running) == (1, 4, {})


def test_labels_are_spread():
    heights = spread([0.7, 0.7, 0.69, 0.02, 0.0], 0.05, 0.0, 0.8)
    assert np.all(np.diff(np.sort(heights)) >= 0.05 - 1e-9)
    assert np.argsort(heights).tolist() == [4, 3, 2, 0, 1]
    assert min(heights) >= 0.0
    assert max(heights) <= 0.8


def test_budgets_scale_down_to_a_minimum():
    scaled = find_figure("synthetic").scaled(FRACTION)
    assert (scaled.episodes, scaled.settings.homing.episodes) == (40, 20)
    assert scaled.settings.collection.tuples == 20
    whole = find_figure("synthetic").scaled(1.0)
    assert whole == FIGURES["synthetic"]
    assert (whole.episodes, whole.seeds) == (40_000, 20)
    assert (whole.settings.homing.episodes, whole.settings.collection.tuples) == (5000, 5000)
    assert find_figure("decoder").scaled(FRACTION).tuple_counts == (20,)


def test_inspection_of_an_agent_that_still_explores_is_empty():
    env = synthetic()
    assert inspect(Agent(env.layout, PAPER), env.mdp) is None

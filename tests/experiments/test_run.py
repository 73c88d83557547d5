"""Performing a study: what is stored, what is taken from before, what an interruption and a failure leave."""

import io
import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
from rich.console import Console
from study_samples import FRACTION, QUIET, SMALL, perform_small, resweep, stay_here, without_times

from tacit.base.checkpoint import load_tree, save_tree
from tacit.experiments.fingerprints import expand
from tacit.experiments.publish import publish
from tacit.experiments.run import perform
from tacit.experiments.store import Store
from tacit.experiments.study import Request

PROGRAM = """
import signal, sys
sys.path[:0] = {path!r}

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
    from study_samples import SMALL
    from tacit.cli.main import app
    from tacit.experiments import catalogue
    catalogue.STUDIES = {{"synthetic": SMALL}}
    app()
"""


@pytest.fixture(scope="module")
def in_two_processes(tmp_path_factory):
    """Return what two workers make of a small study."""
    return perform_small(tmp_path_factory.mktemp("results"), jobs=2)


def agents(runs):
    store = runs.request.store
    return [store.agent_path(task).read_bytes() for task in runs.results if task.learner == "tacit_fast"]


def test_second_call_computes_only_what_is_missing(in_two_processes, monkeypatch):
    stay_here(monkeypatch)
    request, summary = in_two_processes.request, publish(in_two_processes)
    assert (in_two_processes.computed, len(in_two_processes.results)) == (4, 4)
    again = perform(request, QUIET)
    assert (again.computed, len(again.results)) == (0, 4)
    assert publish(again) == summary

    task = again.task("synthetic", "tacit_fast", 1)
    agent = request.store.agent_path(task).read_bytes()
    request.store.path(task).unlink()
    mended = perform(request, QUIET)
    assert mended.computed == 1
    assert without_times(publish(mended)) == without_times(summary)
    assert request.store.agent_path(task).read_bytes() == agent

    request.store.agent_path(task).unlink()
    assert request.store.load(task) is None
    assert perform(request, QUIET).computed == 1


def test_results_do_not_depend_on_jobs(in_two_processes, tmp_path, monkeypatch):
    stay_here(monkeypatch)
    here = perform_small(tmp_path)
    assert here.computed == 4
    assert without_times(publish(here)) == without_times(publish(in_two_processes))
    assert agents(here) == agents(in_two_processes)


def test_ray_gives_the_same(in_two_processes, tmp_path):
    runs = perform_small(tmp_path, engine="ray", jobs=2)
    assert (runs.computed, runs.failures) == (4, [])
    assert without_times(publish(runs)) == without_times(publish(in_two_processes))
    assert agents(runs) == agents(in_two_processes)


def test_what_does_not_fit_is_recomputed(tmp_path, monkeypatch):
    stay_here(monkeypatch)
    study = resweep(SMALL, learners=("uniform",))
    uniform = partial(Request, study, tmp_path, seeds=1)
    (task,), store = expand(study.scaled(FRACTION), 1), uniform().store
    assert perform(uniform(fraction=FRACTION), QUIET).computed == 1
    assert perform(uniform(fraction=0.002), QUIET).computed == 1
    assert perform(uniform(fraction=FRACTION), QUIET).computed == 0  # both are kept
    damaged = store.path(task)
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert store.load(task) is None
    assert perform(uniform(fraction=FRACTION), QUIET).computed == 1


def damage_agent(store, task):
    path = store.agent_path(task)
    path.write_bytes(path.read_bytes()[:-40])


def exchange_agent(store, task):
    own = store.agent_path(task)
    other = next(path for path in store.directory.glob("*-agent.tacit") if path != own)
    own.write_bytes(other.read_bytes())


def forget_a_part(store, task):
    tree = load_tree(store.path(task), "run")
    del tree["scalars"]
    save_tree(store.path(task), "run", tree)


def change_a_number(store, task):
    tree = load_tree(store.path(task), "run")
    save_tree(store.path(task), "run", tree | {"seconds": "long"})


@pytest.fixture(scope="module")
def of_two_seeds(tmp_path_factory):
    """Return a finished study whose agents are kept."""
    with pytest.MonkeyPatch.context() as patch:
        stay_here(patch)
        study = resweep(SMALL, learners=("tacit_fast",))
        request = Request(study, tmp_path_factory.mktemp("results"), seeds=2, fraction=FRACTION)
        perform(request, QUIET)
    return request


@pytest.mark.parametrize("spoil", [damage_agent, exchange_agent, forget_a_part, change_a_number])
def test_what_is_damaged_or_wrong_runs_again_with_a_note(spoil, of_two_seeds, monkeypatch):
    stay_here(monkeypatch)
    request, said = of_two_seeds, io.StringIO()
    task = expand(request.study.scaled(FRACTION), 2)[0]
    spoil(request.store, task)
    assert request.store.load(task) is None
    runs = perform(request, Console(file=said, width=1000))
    assert (runs.computed, len(runs.results)) == (1, 2)
    assert f"note: {task.label} runs again" in said.getvalue()
    publish(runs)
    assert perform(request, QUIET).computed == 0


def test_half_written_files_are_cleared(tmp_path, monkeypatch):
    stay_here(monkeypatch)
    request = Request(resweep(SMALL, learners=("uniform",)), tmp_path, seeds=1, fraction=FRACTION)
    request.store.directory.mkdir(parents=True)
    (request.store.directory / "x.tacit.1.part").touch()
    perform(request, QUIET)
    assert not list(request.store.directory.glob("*.part"))


def test_failing_task_is_reported_and_the_others_go_on(tmp_path, monkeypatch):
    stay_here(monkeypatch)
    study, said = resweep(SMALL, learners=("no_such_learner", "uniform")), io.StringIO()
    runs = perform(Request(study, tmp_path, 2, FRACTION), Console(file=said))
    assert [failure.task.seed for failure in runs.failures] == [0, 1]
    assert all("there is no learner" in failure.reason for failure in runs.failures)
    assert "Traceback" in runs.failures[0].details
    assert "failed: no_such_learner on synthetic, seed 0" in said.getvalue()
    assert [task.learner for task in runs.results] == ["uniform", "uniform"]


def test_each_result_is_stored_as_soon_as_there_is_one(tmp_path, monkeypatch):
    stay_here(monkeypatch)
    save, request = Store.save, Request(SMALL, tmp_path, seeds=2, fraction=FRACTION)

    def interrupt_the_last(store, task, performed):
        save(store, task, performed)
        if task.seed == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "save", interrupt_the_last)
    with pytest.raises(KeyboardInterrupt):
        perform(request, QUIET)
    tasks = expand(SMALL.scaled(FRACTION), 2)
    assert [request.store.load(task) is not None for task in tasks] == [True, True, True, False]


@pytest.mark.compiled
def test_interrupted_run_keeps_what_is_finished(tmp_path, monkeypatch):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(path=[path for path in sys.path if path]))
    arguments = ["synthetic", "--seeds", "400", "--fraction", "0.01", "--out", str(tmp_path), "--jobs", "2"]
    process = subprocess.Popen(
        [sys.executable, str(program), "reproduce", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    store = Store(tmp_path / "synthetic" / "runs")
    wait_until(lambda: len(list(store.directory.glob("*.tacit"))) > 2, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: everyone gets it
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 130, output
    assert "Interrupted" in output
    assert "Traceback" not in output
    wait_until(lambda: not group_exists(process.pid), None)
    assert not list(store.directory.glob("*.part"))

    stay_here(monkeypatch)
    tasks = expand(SMALL.scaled(0.01), 4)
    kept = [task for task in tasks if store.load(task)]
    assert kept
    resumed = perform(Request(SMALL, tmp_path, seeds=4, fraction=0.01), QUIET)
    assert resumed.computed == len(tasks) - len(kept)


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

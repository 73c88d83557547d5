"""Whatever probabilities a log tells: episodes count or are set aside, and results are finite or said to be missing."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from tacit.cli.log_results import show_evaluation
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.logs.problems import Problems
from tacit.logs.record import LEAST_PROBABILITY, find_chance_fault
from tacit.logs.writing import LogWriter
from tacit.offline.estimators import MOST_WEIGHT, are_too_large, effective_size, episode_weights
from tacit.offline.fit import fit
from tacit.offline.text.evaluate import estimate_text

SWEEP = [5e-324, 1e-300, 1e-200, 1e-160, 1e-100, 1e-20, 1e-7, 9.9e-7, 1e-6, 1e-5, 1e-3, 0.2, 1 - 2**-53, 1.0]
LOGS = list(draw_logs(synthetic_mdp(), 2500, seed=1))


def tilted(p, share=0.02, step=-1):
    """Return logs in which some episodes claim that an action of theirs had probability p."""
    generator = np.random.default_rng(4)
    logs = []
    for each in LOGS:
        steps = list(each.steps)
        if generator.random() < share:
            steps[step] = replace(steps[step], probability=p)
        logs.append(replace(each, steps=tuple(steps)))
    return logs


def plain(evaluation):
    """Return an evaluation as strict JSON has it, which knows no NaN and no infinity."""
    return json.loads(json.dumps(evaluation.to_json(), allow_nan=False))


@pytest.fixture(scope="module")
def sound():
    """Return the verdict on the logs as they are."""
    return fit(LOGS).evaluate(LOGS, "uniform").verdict


@pytest.mark.parametrize(("step", "p"), [*((-1, p) for p in SWEEP), (0, 5e-324), (0, 1e-6), (0, 1.0)])
def test_every_probability_counts_or_is_set_aside_and_nothing_overflows(step, p, sound):
    logs, problems = tilted(p, step=step), Problems()
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(logs, problems=problems)
        found = [model.evaluate(logs, policy, Problems()) for policy in ("logged", "uniform")]
    claimed = sum(each.steps[step].probability == p for each in logs)
    tiny = problems.by_rule["tiny-probability"]
    assert tiny == (claimed if p < LEAST_PROBABILITY else 0)
    assert problems.total == tiny
    json.dumps(model.certificate.to_json(), allow_nan=False)
    for evaluation in found:
        told = plain(evaluation)
        assert evaluation.episodes == len(LOGS) - tiny
        assert all(told["estimates"].values())
    if p < 0.1:
        assert found[1].verdict == (
            sound if p < LEAST_PROBABILITY else "cannot work"
        )  # such episodes outweigh all


@pytest.mark.parametrize("p", [5e-324, 1e-200])
def test_tiny_probabilities_in_files_are_problems_by_their_own_rule(p, sound, tmp_path):
    with LogWriter(tmp_path / "logs.jsonl") as writer:
        for each in tilted(p):
            writer.write(each)
    problems = Problems()
    model = fit(tmp_path / "logs.jsonl", problems=problems)
    assert set(problems.by_rule) == {"tiny-probability"}
    assert model.evaluate(tmp_path / "logs.jsonl", "uniform", Problems()).verdict == sound


@pytest.mark.parametrize("p", [0, 0.0, -0.1, 1.1, float("nan"), float("inf"), 10**400, "0.5", [0.5]])
def test_what_is_no_probability_is_refused(p):
    assert find_chance_fault(1, p).rule == "bad-probability"


@pytest.mark.parametrize("p", [LEAST_PROBABILITY, 0.5, 1, True])
def test_control_probabilities_are_taken(p):
    assert find_chance_fault(1, p) is None


def chain(steps, p, n=40):
    """Return episodes of many steps, two actions each, all of probability p."""
    generator = np.random.default_rng(0)
    menu = (0, 1)
    return [
        LoggedEpisode(
            i,
            "x",
            tuple(LoggedStep(f"s{h}", int(generator.integers(2)), menu, p) for h in range(steps)),
            int(generator.integers(2)),
        )
        for i in range(n)
    ]


@pytest.mark.parametrize(("steps", "p"), [(17, 1e-6), (60, 1e-6), (120, 1e-5)])
def test_weights_of_long_episodes_that_overflow_are_said_and_not_printed_as_numbers(steps, p):
    logs = chain(steps, p)
    with np.errstate(all="raise"):
        found = fit(logs).evaluate(logs, "uniform")
    told = plain(found)
    assert found.verdict == "cannot work"
    if steps * np.log(0.5 / p) >= np.log(MOST_WEIGHT):
        assert {name for name, value in told["estimates"].items() if value is None} == {
            "importance_sampling",
            "self_normalised",
            "doubly_robust",
        }
        assert "not-estimable" in {finding.code for finding in found.findings}
    assert told["estimates"]["model_based"] is not None
    show(found)


def show(found):
    console = Console(width=200, record=True)
    show_evaluation(console, found)
    text = console.export_text()
    assert "nan" not in text.lower().replace("finan", "")
    assert ("cannot be computed" in text) == (None in found.estimates.values())
    return text


def test_a_policy_that_the_logs_never_followed_has_no_self_normalised_value():
    logs = chain(1, 0.5, n=200)
    logs = [
        replace(each, steps=(replace(each.steps[0], action=0, probability=0.5),)) for each in logs[:100]
    ] + [replace(each, steps=(replace(each.steps[0], action=1, probability=0.5),)) for each in logs[100:]]
    model = fit(logs)
    never = [each for each in logs if each.steps[0].action == 0]
    found = model.evaluate(never, {"s0": {"0": 0.0, "1": 1.0}})
    assert plain(found)["estimates"]["self_normalised"] is None
    assert found.verdict == "cannot work"
    assert "no logged episode" in str(found.findings)
    show(found)


def test_one_episode_has_no_interval():
    found = fit(LOGS).evaluate(LOGS[:1], "uniform")
    assert plain(found)["estimates"]["importance_sampling"] is None
    assert found.verdict == "cannot work"
    show(found)


def test_weights_are_products_and_never_more_than_can_be_squared():
    generator = np.random.default_rng(0)
    sound = generator.uniform(0.1, 9, (50, 4))
    np.testing.assert_array_equal(episode_weights(sound), sound.prod(axis=1))
    assert not are_too_large(sound)
    wild = 10.0 ** generator.uniform(-300, 300, (200, 6))
    wild[::7, 3] = 0.0
    with np.errstate(all="raise"):
        weights = episode_weights(wild)
    assert np.all((weights >= 0) & (weights <= MOST_WEIGHT))
    assert np.all(weights[::7] == 0)
    assert are_too_large(wild)
    assert np.isfinite(effective_size(weights))


def test_conversations_that_weigh_too_much_have_no_value():
    weights = np.array([1.0, MOST_WEIGHT])
    assert set(estimate_text(weights, np.ones(2), np.ones(2)).values()) == {None}
    assert None not in estimate_text(np.ones(20), np.ones(20), np.ones(20)).values()  # the control

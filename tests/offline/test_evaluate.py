"""Policy values from logs: intervals cover the truth, estimators are their definitions, thin overlap is told."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tacit.agent import Agent
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs.encoding import LogReader
from tacit.logs.reading import LogSource
from tacit.logs.record import LogError
from tacit.offline.estimators import importance_sampling, self_normalised
from tacit.offline.fit import fit
from tacit.offline.passes import read_through
from tacit.offline.tables.evaluate import evaluate_paths, meant_ends
from tacit.offline.tables.off_policy import (
    ESTIMATORS,
    backward_values,
    doubly_robust,
    estimate_dynamics,
    estimate_values,
    forward_occupancy,
)
from tacit.offline.tables.paths import collect_paths
from tacit.offline.tables.policies import find_policy
from tacit.offline.tables.refits import refit_meanings
from tacit.problem.mdp import evaluate_policy, solve_optimal
from tacit.problem.spaces import Finite

SYNTHETIC = synthetic_mdp()
LOGS, EPISODES, LEAST = 20, 1500, 17
"""Simulated logs, their size, and how many of the 95 % intervals must cover: fewer has a chance of 1 in 200."""


def mixed(mdp, greedy):
    """Return policies that are the best with probability `greedy` and uniform otherwise, (X, H, S, K)."""
    return greedy * solve_optimal(mdp).policies + (1 - greedy) * mdp.layout.uniform_policy


def table_of(layout, policies):
    """Return policies as the JSON table that the command line takes."""

    def table(policy):
        return {
            str(layout.states[h][s]): {
                str(action): float(policy[h, s, a]) for a, action in enumerate(layout.actions[h][s])
            }
            for h in range(layout.horizon)
            for s in range(len(layout.states[h]))
        }

    return {"contexts": {str(x): table(policy) for x, policy in enumerate(policies)}}


def true_value(mdp, policies):
    values = [evaluate_policy(mdp, x, policy) for x, policy in enumerate(policies)]
    return float(np.dot(values, mdp.context_probabilities))


def encoded(mdp, logs, model):
    return collect_paths(
        mdp.layout, model.meanings.reading, read_through(LogSource(logs), LogReader(mdp.layout).read)
    )


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["synthetic", "random"])
def test_intervals_cover_the_true_value(name):
    mdp = {"synthetic": SYNTHETIC, "random": random_mdp(0, RandomMDPSettings(layers=2, states=3)).mdp}[name]
    logged, target = mixed(mdp, 0.5), mixed(mdp, 0.6)
    table, truth = table_of(mdp.layout, target), true_value(mdp, target)
    covered, lower = dict.fromkeys(ESTIMATORS, 0), []
    for seed in range(LOGS):
        logs = list(draw_logs(mdp, EPISODES, seed, logged))
        result = fit(logs, layout=mdp.layout).evaluate(logs, table)
        for kind, each in result.estimates.items():
            covered[kind] += each.low <= truth <= each.high
        lower.append(result.lower_bounds["model_based"].value)
    assert min(covered.values()) >= LEAST, covered
    assert np.mean(lower) < truth


@pytest.mark.compiled
def test_intervals_cover_where_words_overlap_and_control_errors_alone_do_not():
    """Three of ten who are not pleased say what the pleased say: nothing tells that from actions that please."""
    mdp = replace(SYNTHETIC, feedback_probabilities=polite(SYNTHETIC.feedback_probabilities, 0.3))
    truth = true_value(mdp, mixed(mdp, 0.0))
    covered, naive = [], []
    for seed in range(LOGS):
        logs = list(draw_logs(mdp, EPISODES, seed))
        for each in fit(logs, layout=mdp.layout).evaluate(logs, "uniform").estimates.values():
            covered.append(each.low <= truth <= each.high)
            naive.append(abs(each.value - truth) < 1.96 * each.error)
    assert np.mean(covered) >= 0.93
    assert np.mean(naive) < 0.8


def polite(said, share):
    """Return what is said (X, S, 2, Y) where a share of those who are not pleased talks like those who are."""
    mixed = said.copy()
    mixed[:, :, 0] = (1 - share) * said[:, :, 0] + share * said[:, :, 1]
    return mixed


def test_control_a_wrong_policy_is_not_covered():
    logged = mixed(SYNTHETIC, 0.5)
    logs = list(draw_logs(SYNTHETIC, 4000, 0, logged))
    result = fit(logs).evaluate(logs, "uniform")
    truth = true_value(SYNTHETIC, logged)
    assert all(each.high < truth for each in result.estimates.values())


def test_the_logged_policy_is_worth_its_mean():
    logs = list(draw_logs(SYNTHETIC, 4000, 0, mixed(SYNTHETIC, 0.5)))
    result = fit(logs).evaluate(logs, "logged")
    mean = np.mean([episode.reward for episode in logs])
    for name in ("importance_sampling", "self_normalised", "doubly_robust"):
        assert result.estimates[name].value == pytest.approx(
            mean, abs=0.01 if name == "doubly_robust" else 1e-9
        )
    assert result.effective == 4000
    assert result.estimates["model_based"].value == pytest.approx(mean, abs=0.02)


def test_thin_overlap_is_told():
    logs = list(draw_logs(SYNTHETIC, 3000, seed=0))
    result = fit(logs).evaluate(logs, table_of(SYNTHETIC.layout, mixed(SYNTHETIC, 1.0)))
    assert result.verdict == "cannot work"
    assert any("overlap-thin" in warning for warning in result.warnings)
    assert result.effective < 100
    near = fit(logs).evaluate(logs, table_of(SYNTHETIC.layout, mixed(SYNTHETIC, 0.1)))
    assert near.warnings == ()


def test_actions_that_no_log_took_are_told():
    policies = mixed(SYNTHETIC, 0.0)
    policies[:, 0, 0] = [0.0, 0.25, 0.25, 0.25, 0.25]
    logs = list(draw_logs(SYNTHETIC, 3000, 0, policies))
    result = fit(logs, layout=SYNTHETIC.layout).evaluate(logs, "uniform")
    assert any("actions-untried" in warning for warning in result.warnings)


def test_probabilities_that_cannot_be_right_are_told():
    logs = list(draw_logs(SYNTHETIC, 3000, seed=0))
    wrong = [replace(each, steps=(replace(each.steps[0], probability=0.4), *each.steps[1:])) for each in logs]
    assert any("probabilities-off" in warning for warning in fit(wrong).evaluate(wrong, "uniform").warnings)
    silent = list(draw_logs(SYNTHETIC, 3000, seed=0, known=False))
    warnings = fit(logs).evaluate(silent, "uniform").warnings
    assert [warning.split(":")[0] for warning in warnings] == ["probabilities-estimated"]


def test_what_cannot_be_decoded_widens_the_interval():
    few, many = list(draw_logs(SYNTHETIC, 300, seed=0)), list(draw_logs(SYNTHETIC, 3000, seed=1))
    unsure, sure = fit(few).evaluate(many, "uniform"), fit(many).evaluate(many, "uniform")
    assert unsure.undecoded > 0.01
    name = "self_normalised"
    assert unsure.estimates[name].high - unsure.estimates[name].low > unsure.undecoded / 2
    assert sure.undecoded == 0


def test_a_decoder_in_doubt_widens_the_interval():
    mdp = random_mdp(2, RandomMDPSettings(layers=1, states=1, feedback_values=8, homogeneous=0)).mdp
    logs = list(draw_logs(mdp, 150, seed=3))
    model = fit(logs, layout=mdp.layout)
    tables = {refit.tobytes() for refit in refit_meanings(model.meanings).rewards}
    assert len(tables) > 1
    assert model.evaluate(logs, "uniform").estimates["importance_sampling"].decoder_error > 0
    plenty = list(draw_logs(SYNTHETIC, 6000, seed=3))
    assert fit(plenty).evaluate(plenty, "uniform").estimates["importance_sampling"].decoder_error < 0.001


def test_estimators_are_their_definitions():
    """Against slow sums over episodes, on few episodes of a small problem."""
    mdp = SYNTHETIC
    logs = list(draw_logs(mdp, 40, 5, mixed(mdp, 0.3)))
    model = fit(list(draw_logs(mdp, 3000, seed=1)))
    paths, policies = encoded(mdp, logs, model), mixed(mdp, 0.5)
    ratios, earned = np.empty((40, 3)), np.empty(40)
    for n, each in enumerate(logs):
        for h in range(3):
            s, a = paths.states[n, h], paths.actions[n, h]
            ratios[n, h] = policies[each.context, h, s, a] / each.steps[h].probability
        end = (each.feedback, paths.actions[n, -1])
        earned[n] = model.meanings.meaning(paths.states[n, -1], each.context)[end]
    found = estimate_values(paths, policies, ratios, earned)
    weights = ratios.prod(axis=1)
    assert found["importance_sampling"].value == pytest.approx(np.mean(weights * earned))
    assert found["self_normalised"].value == pytest.approx((weights * earned).sum() / weights.sum())
    dynamics = estimate_dynamics(paths, earned)
    values = []
    for each in logs:
        value = 0.0
        occupancy = forward_occupancy(policies[each.context][None], dynamics.transitions)[0]
        for s in range(2):
            for a in range(5):
                value += occupancy[-1, s, a] * dynamics.rewards[s, each.context, a]
        values.append(value)
    assert found["model_based"].value == pytest.approx(np.mean(values))
    assert found["doubly_robust"].value == pytest.approx(slow_doubly_robust(paths, policies, ratios, earned))


def slow_doubly_robust(paths, policies, ratios, earned):
    """Return the recursion V_dr = V + rho (r + V_dr' - Q) from the last step back, with the other half's dynamics."""
    terms = []
    for n in range(len(paths)):
        others = np.flatnonzero(np.arange(len(paths)) % 2 != n % 2)
        values = backward_values(paths, policies, estimate_dynamics(paths.part(others), earned[others]))
        x, ahead = paths.owner[n], earned[n]
        for h in (2, 1, 0):
            s, a = paths.states[n, h], paths.actions[n, h]
            ahead = values.V[x, h, s] + ratios[n, h] * (ahead - values.Q[x, h, s, a])
        terms.append(ahead)
    return np.mean(terms)


def test_the_doubly_robust_estimate_survives_a_wrong_model():
    """With rewards of the model ten times too small it still finds the value, for the weights are right."""
    mdp, policies = SYNTHETIC, mixed(SYNTHETIC, 0.4)
    logs = list(draw_logs(mdp, 6000, 5, mixed(mdp, 0.3)))
    model = fit(logs)
    paths = encoded(mdp, logs, model)
    earned = meant_ends(paths, model.meanings).middle
    steps = np.arange(3)[None, :]
    ratios = policies[paths.owner[:, None], steps, paths.states, paths.actions] / paths.chances
    wrong = doubly_robust(paths, policies, ratios, earned, earned / 10)
    truth = true_value(mdp, policies)
    assert abs(wrong.value - truth) < 4 * wrong.error
    assert wrong.error < 0.02


def test_edges():
    assert np.isnan(self_normalised(np.zeros(3), np.ones(3)).value)
    assert importance_sampling(np.ones(1), np.ones(1)).error == np.inf


def test_policies_come_from_many_places(tmp_path):
    layout = SYNTHETIC.layout
    logs = list(draw_logs(SYNTHETIC, 3000, seed=0))
    agent = fit(logs).train(logs)
    agent.save(tmp_path / "agent.tacit")
    np.testing.assert_array_equal(
        find_policy(layout, tmp_path / "agent.tacit")(0), agent.stage.plan(0, 0.5).policy
    )
    np.testing.assert_array_equal(find_policy(layout, agent)(0), agent.stage.plan(0, 0.5).policy)
    policies = mixed(SYNTHETIC, 0.5)
    (tmp_path / "p.json").write_text(json.dumps(table_of(layout, policies)))
    np.testing.assert_allclose(find_policy(layout, str(tmp_path / "p.json"))(1), policies[1])
    assert find_policy(layout, "logged") is None
    paths = encoded(SYNTHETIC, logs, fit(logs))
    assert evaluate_paths(paths, fit(logs).meanings, "uniform").policy == "uniform"


def test_logs_are_read_in_an_open_layout_as_it_is_now():
    logs, layout = list(draw_logs(SYNTHETIC, 300, seed=0)), SYNTHETIC.layout
    opened = replace(
        layout,
        open=True,
        contexts=Finite(layout.contexts.labels, open=True),
        feedback=Finite(layout.feedback.labels, open=True),
    )
    model = fit(logs, layout=opened)
    assert model.meanings.layout == layout
    assert find_policy(layout, Agent(opened))(0).shape == layout.mask.shape


def test_policies_that_are_none_are_refused(tmp_path):
    layout, good = SYNTHETIC.layout, table_of(SYNTHETIC.layout, mixed(SYNTHETIC, 0.5))
    (tmp_path / "bad.json").write_text("{")
    cases = [
        ("gone.tacit", "not a file"),
        (tmp_path / "bad.json", "must be a JSON file"),
        ({"0": {"0": 1.0}}, "every state"),
        ({"contexts": {"0": {}}}, "every context"),
        ({**good["contexts"]["0"], "0": {"7": 1.0}}, "actions of the layout"),
        ({**good["contexts"]["0"], "0": {"0": 0.5}}, "sum to one"),
    ]
    for policy, message in cases:
        with pytest.raises(LogError, match=message):
            find_policy(layout, policy)
    other = random_mdp(0).mdp
    logs = list(draw_logs(other, 2000, seed=0))
    fit(logs).train(logs).save(tmp_path / "other.tacit")
    with pytest.raises(LogError, match="layout must be the model's"):
        find_policy(layout, tmp_path / "other.tacit")
    with pytest.raises(LogError, match="got none"):
        fit(logs).evaluate([], "uniform")

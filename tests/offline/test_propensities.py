"""Logged policies that nobody logged: estimated from counts, tested, and used in place of what was drawn with."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.decoding.counts import SeenCounts
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.offline.fit import diagnose_logs, fit
from tacit.offline.propensities import (
    BY_CONTEXT,
    BY_STATE,
    UNIFORM,
    TakenAction,
    Thinned,
    choose_kind,
    estimate_propensities,
    fit_policy,
)
from tacit.offline.teaching import NOT_RANDOM, UNKNOWN_PROBABILITY, NothingToLearnError

EPISODES = 4000
ROWS = np.array([0.6, 0.2, 0.1, 0.05, 0.05])


def play(mdp, by_context, seed=0):
    """Return policies (X, H, S, K) with chances from 0.05 to 0.6, the same in all contexts or not."""
    generator, layout = np.random.default_rng(seed), mdp.layout
    policies = np.zeros((mdp.n_contexts, *layout.mask.shape))
    for h, s in zip(*np.nonzero(layout.n_actions), strict=True):
        K = layout.n_actions[h, s]
        for x in range(mdp.n_contexts):
            if x == 0 or by_context:
                row = generator.permutation(ROWS[:K] / ROWS[:K].sum())
            policies[x, h, s, :K] = row
    return policies


def forget(logs):
    """Return logs without their probabilities."""
    return [
        replace(episode, steps=tuple(replace(step, probability=None) for step in episode.steps))
        for episode in logs
    ]


def codes(found):
    return {finding.code for finding in found.findings}


@pytest.mark.parametrize("by_context", [False, True])
def test_an_estimate_does_what_the_logged_probabilities_do(by_context):
    mdp = synthetic_mdp()
    logs = list(draw_logs(mdp, EPISODES, 1, play(mdp, by_context)))
    told, guessed, blind = fit(logs), fit(forget(logs)), fit(forget(logs), assume_uniform=True)
    assert guessed.certificate.tuples == EPISODES
    assert guessed.certificate.effective == pytest.approx(told.certificate.effective, rel=0.1)
    assert blind.certificate.effective > 1.3 * told.certificate.effective  # the control
    assert "propensities-estimated" in codes(guessed.certificate)
    assert "propensities-estimated" not in codes(told.certificate) | codes(blind.certificate)
    same = [
        a["decoded_reward"] == b["decoded_reward"]
        for a, b in zip(told.label(logs), guessed.label(logs), strict=True)
    ]
    assert np.mean(same) > 0.98


def test_the_report_says_where_probabilities_come_from():
    mdp = synthetic_mdp()
    logs = forget(draw_logs(mdp, EPISODES, 1, play(mdp, True)))
    [told] = [
        str(finding) for finding in diagnose_logs(logs).findings if finding.code == "propensities-estimated"
    ]
    assert "4,000 episodes do not tell how likely their last action was" in told
    assert "(states: 1 by context, 1 by state)" in told
    assert "0 on offer never taken" in told
    assert "Held-out actions have a log-likelihood of -1." in told
    assert "-1.609 if uniform" in told


def test_a_policy_that_changed_is_told_and_one_that_did_not_is_not():
    mdp = synthetic_mdp()
    half = [list(draw_logs(mdp, EPISODES // 2, seed, play(mdp, False, seed))) for seed in (1, 2)]
    moved = forget(half[0] + [replace(episode, episode=f"b{episode.episode}") for episode in half[1]])
    assert "propensities-drift" in codes(fit(moved).certificate)
    shuffled = [moved[n] for n in np.random.default_rng(0).permutation(EPISODES)]
    assert "propensities-drift" not in codes(fit(shuffled).certificate)  # the control


def test_bic_takes_the_simplest_policy_that_explains_the_actions():
    generator = np.random.default_rng(0)
    contexts = [generator.multinomial(200, np.full(4, 0.25)).astype(float) for _ in range(5)]
    assert choose_kind(np.sum(contexts, axis=0), contexts) == UNIFORM
    contexts = [generator.multinomial(200, [0.7, 0.1, 0.1, 0.1]).astype(float) for _ in range(5)]
    assert choose_kind(np.sum(contexts, axis=0), contexts) == BY_STATE
    contexts = [generator.multinomial(200, np.roll([0.7, 0.1, 0.1, 0.1], x)).astype(float) for x in range(4)]
    assert choose_kind(np.sum(contexts, axis=0), contexts) == BY_CONTEXT


def test_many_users_who_came_rarely_share_the_policy_of_their_state():
    generator = np.random.default_rng(0)
    tried = SeenCounts.of_dense(generator.multinomial(6, [0.7, 0.2, 0.1], (1, 500, 1)).astype(float))
    policy = fit_policy(tried, np.array([3]))
    assert policy.kinds == {0: BY_STATE}
    np.testing.assert_allclose(policy.chances(0, 77), [0.7, 0.2, 0.1], atol=0.02)


def test_held_out_actions_tell_a_policy_from_simpler_ones():
    generator = np.random.default_rng(0)
    chances = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    parts = [
        SeenCounts.of_dense(np.array([[[generator.multinomial(n, p).astype(float)] for p in chances]]))
        for n in (800, 200)
    ]
    found = estimate_propensities(parts[0] + parts[1], (parts[0], parts[1]), (), np.array([3]))
    best = (chances * np.log(chances)).sum(axis=1).mean()
    assert found.held_out.estimate == pytest.approx(best, abs=0.05)
    assert found.held_out.estimate > found.held_out.by_state + 0.1
    assert found.held_out.uniform == pytest.approx(-np.log(3))


def test_weights_make_actions_uniform():
    tried = SeenCounts.of_dense(np.array([[[[600.0, 300.0, 100.0]]]]))
    found = estimate_propensities(tried, (tried, tried), (), np.array([3]))
    np.testing.assert_allclose(found.weights.numbers * tried.numbers, 1000 / 3, rtol=0.02)


def episodes(actions, state="home", first=0):
    offered = ("a", "b", "c")
    return [
        LoggedEpisode(
            f"{state}{first + n}",
            "new",
            (LoggedStep("go", "on"), LoggedStep(state, a, offered)),
            "ok" if n % 3 else "no",
        )
        for n, a in enumerate(actions)
    ]


def test_actions_that_were_always_the_same_are_not_random():
    draw = np.random.default_rng(0).choice(["a", "b"], 300, p=[0.8, 0.2])
    certificate = fit(episodes(draw) + episodes(["c"] * 50, "shop") + episodes(["a"] * 4, "rare")).certificate
    assert certificate.left_out == {NOT_RANDOM: 50, UNKNOWN_PROBABILITY: 4}
    assert certificate.tuples == 300
    [told] = [str(finding) for finding in certificate.findings if finding.code == "propensities-estimated"]
    assert "1 on offer never taken" in told
    with pytest.raises(NothingToLearnError, match="last action not random: 50"):
        fit(episodes(["c"] * 50))


def test_vectors_are_weighed_by_state():
    draw = np.random.default_rng(0)
    logs = [
        LoggedEpisode(
            n,
            [float(draw.normal()), 1.0],
            (LoggedStep("s", int(draw.choice(3, p=[0.7, 0.2, 0.1])), (0, 1, 2)),),
            int(draw.integers(2)),
        )
        for n in range(300)
    ]
    certificate = fit(logs).certificate
    assert certificate.effective < 0.7 * certificate.tuples
    assert "300 episodes do not tell" in " ".join(map(str, certificate.findings))
    assert "propensities-estimated" in codes(certificate)


def test_what_is_kept_in_order_is_the_same_in_pieces():
    rows = [TakenAction(0, 0, n) for n in range(1000)]
    whole, parts = Thinned(most=20), Thinned(most=20)
    for row in rows:
        whole.add(row)
    for start in range(0, 1000, 250):
        part = Thinned(most=20)
        for row in rows[start : start + 250]:
            part.add(row)
        parts.merge(part)
    for kept in (whole, parts):
        actions = [row.action for row in kept.rows]
        assert actions == sorted(actions)
        assert len(actions) <= 41
        assert abs(np.mean(actions) - 500) < 60

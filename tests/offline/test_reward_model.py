"""Reward models: they recover hidden rewards, never promise too much on average, and know how sure they are."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_counts import everybody_spoke
from traced_memory import peak

import tacit
from tacit.base.checkpoint import CheckpointError
from tacit.decoding.counts import SeenCounts, TupleCounts
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import JudgementSettings
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.gym_adapter import GymSource
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import VARIANTS, synthetic, synthetic_mdp
from tacit.experiments.learners import LEARNERS
from tacit.learning.settings import Settings
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.logs.problems import Problems
from tacit.logs.reading import read_logs
from tacit.logs.writing import LogWriter
from tacit.offline.fit import fit
from tacit.offline.loading import load_model
from tacit.offline.tables.gathering import ends_p_value
from tacit.offline.teaching import NothingToLearnError
from tacit.problem.layout import Layout
from tacit.simulate import Simulation
from tacit.trust.certificate import Certificate, distance_and_chance, validation_losses

EPISODES = 4000
PROBLEMS = {name: synthetic(name).mdp for name in VARIANTS} | {
    f"random {n}": random_mdp(n).mdp for n in range(3)
}


def best_actions(mdp, logs):
    """Return which episodes took the best action of a heterogeneous last state."""
    found = []
    for episode in logs:
        s = mdp.layout.locate(episode.steps[-1].state)[1]
        f = mdp.rewards[episode.context, s, : mdp.layout.n_actions[-1, s]]
        found.append(bool(f.max() > f.min() and f[episode.steps[-1].action] == f.max()))
    return np.array(found)


def columns(rows):
    decoded = np.array([np.nan if row["decoded_reward"] is None else row["decoded_reward"] for row in rows])
    return decoded, np.array([row["confidence"] for row in rows])


@pytest.mark.parametrize("name", PROBLEMS)
def test_hidden_rewards_of_best_actions_are_recovered(name):
    mdp = PROBLEMS[name]
    logs = list(draw_logs(mdp, 10_000, seed=1))
    model = tacit.fit(logs)
    decoded, confidence = columns(list(model.label(logs)))
    truth, best = np.array([episode.reward for episode in logs]), best_actions(mdp, logs)
    assert np.mean((decoded >= 0.5)[best] == (truth == 1)[best]) >= 0.99
    assert np.nanmean(decoded) <= truth.mean()
    sure = confidence > 0.9
    assert sure.mean() > 0.8
    assert np.mean(np.round(decoded[sure]) == truth[sure]) > 0.99
    assert model.certificate.verdict == "works with caution"
    assert model.certificate.losses[0] < model.certificate.losses[1]


def test_control_shuffled_feedback_teaches_nothing():
    generator = np.random.default_rng(0)
    logs = list(draw_logs(synthetic_mdp(), EPISODES, seed=1))
    said = generator.permutation([episode.feedback for episode in logs])
    shuffled = [replace(episode, feedback=int(y)) for episode, y in zip(logs, said, strict=True)]
    model = fit(shuffled)
    decoded, _ = columns(list(model.label(shuffled)))
    assert model.certificate.verdict == "cannot work"
    assert np.nanmax(decoded) == 0.0


def skewed(mdp, seed=0):
    """Return policies whose probabilities lie between 0.05 and 0.6."""
    generator = np.random.default_rng(seed)
    layout = mdp.layout
    policies = np.zeros((mdp.n_contexts, *layout.mask.shape))
    rows = np.array([0.6, 0.2, 0.1, 0.05, 0.05])
    for x, h, s in np.ndindex(policies.shape[:3]):
        K = layout.n_actions[h, s]
        if K:
            policies[x, h, s, :K] = generator.permutation(rows[:K] / rows[:K].sum())
    return policies


@pytest.mark.parametrize("name", ["synthetic", "personal", "random 1"])
def test_actions_need_not_be_uniform_if_their_probabilities_are_known(name):
    mdp = PROBLEMS[name]
    plain, other = (fit(list(draw_logs(mdp, 10_000, 1, policy))) for policy in (None, skewed(mdp)))
    asked = list(draw_logs(mdp, 2000, seed=9))
    first, second = (columns(list(model.label(asked)))[0] for model in (plain, other))
    both = ~np.isnan(first) & ~np.isnan(second)
    assert both.mean() > 0.9  # where the skewed logs hardly came by, there is no label
    assert np.abs(first - second)[both].mean() < 0.02
    assert other.certificate.effective < 0.9 * other.certificate.tuples
    assert plain.certificate.effective == plain.certificate.tuples


def test_weights_undo_a_choice_that_the_log_does_not_explain():
    """Careful users are asked more often and say y = 1 more often; only the weights tell that from the action."""
    generator = np.random.default_rng(3)
    counts = {True: TupleCounts.empty((1, 1, 2, 2)), False: TupleCounts.empty((1, 1, 2, 2))}
    careful = generator.random(40_000) < 0.5
    chance = np.where(careful, 0.8, 0.2)  # of action 1
    action = (generator.random(40_000) < chance).astype(np.int64)
    said = (generator.random(40_000) < np.where(careful, 0.7, 0.3)).astype(np.int64)  # whatever the action
    p = np.where(action == 1, chance, 1 - chance)
    zero = np.zeros(40_000, dtype=np.int64)
    for weighted, into in counts.items():
        into.add(zero, zero, said, action, 1 / (2 * p) if weighted else np.ones(40_000))
    distances = {
        weighted: distance_and_chance(into.effective().table(0, 0), generator)
        for weighted, into in counts.items()
    }
    assert distances[True][0] < distances[True][1]
    assert distances[False][0] > 5 * distances[False][1]  # the control


def test_effective_counts_are_the_counts_where_weights_are_alike():
    counts = TupleCounts.empty((1, 1, 2, 2))
    zero = np.zeros(6, dtype=np.int64)
    actions = np.array([0, 0, 0, 0, 1, 1])
    counts.add(zero, zero, np.array([0, 1, 1, 1, 0, 1]), actions, np.where(actions, 1.25, 0.625))
    np.testing.assert_array_equal(counts.effective().table(0, 0), [[1, 1], [3, 1]])
    assert 5 < counts.effective_size < 6


def test_unknown_probabilities_are_taken_for_uniform_only_if_they_look_so():
    mdp = synthetic_mdp()
    plain = fit(list(draw_logs(mdp, EPISODES, 1, known=False)))
    assert "uniformity-inferred" in {finding.code for finding in plain.certificate.findings}
    assert plain.certificate.verdict == "works with caution"
    assert (plain.certificate.tuples, plain.certificate.effective) == (EPISODES, EPISODES)
    logs = list(draw_logs(mdp, EPISODES, 1, skewed(mdp), known=False))
    assert "propensities-estimated" in {finding.code for finding in fit(logs).certificate.findings}
    with pytest.raises(
        NothingToLearnError, match="probability of the last action unknown: 9, the first is number 1"
    ):
        fit(logs[:9])
    assert fit(logs, assume_uniform=True).certificate.tuples == EPISODES


def test_actions_that_were_not_drawn_are_left_out():
    logs = list(draw_logs(synthetic_mdp(), EPISODES, seed=1))
    last = logs[0].steps[-1]
    forced = replace(logs[0], steps=(*logs[0].steps[:-1], replace(last, probability=1.0)))
    certificate = fit([replace(forced, episode=f"forced {n}") for n in range(500)] + logs).certificate
    assert certificate.left_out == {"last action not random": 500}
    assert (certificate.episodes, certificate.tuples) == (EPISODES + 500, EPISODES)


def test_one_action_alone_teaches_nothing():
    one = [LoggedEpisode(n, 0, (LoggedStep("s", "a", ("a", "b"), 0.5),), n % 2) for n in range(100)]
    with pytest.raises(NothingToLearnError, match="nothing to learn from"):
        fit(one)
    alone = [LoggedEpisode(n, 0, (LoggedStep("s", "a", None, 1.0),), n % 2) for n in range(100)]
    with pytest.raises(NothingToLearnError):
        fit(alone)
    with pytest.raises(ValueError, match="anchors must be one of"):
        fit(one, anchors="yes")


def upside_down():
    """Return logs of a problem in which most actions are rewarded, so that the minority belief is wrong."""
    mdp = synthetic_mdp()
    rewards = mdp.rewards.copy()
    rewards[:, 0] = 1 - rewards[:, 0]
    return list(draw_logs(replace(mdp, rewards=rewards), 3 * EPISODES, seed=1))


def test_anchors_settle_which_way_round():
    logs = upside_down()
    blind, checked, settled = (fit(logs, anchors=use) for use in ("ignore", "check", "settle"))
    truth = np.array([episode.reward for episode in logs])
    good = np.array([episode.steps[-1].state == 3 for episode in logs])

    def agreement(model):
        return np.mean(np.round(columns(list(model.label(logs)))[0])[good] == truth[good])

    assert agreement(blind) < 0.5
    assert checked.certificate.verdict == "cannot work"
    assert "decoded-upside-down" in {finding.code for finding in checked.certificate.findings}
    assert any(judgement.turned for judgement in settled.meanings.judgements.values())
    (said,) = (each for each in settled.certificate.findings if each.code == "turned-by-outcomes")
    assert "1,000 to 1" in said.evidence
    assert "turned-by-outcomes" not in {each.code for each in checked.certificate.findings}
    assert agreement(settled) > 0.99
    assert settled.certificate.verdict != "cannot work"


def test_rewards_in_the_logs_are_not_used_without_being_asked_for():
    logs = upside_down()
    other = [replace(episode, reward=None) for episode in logs]
    assert np.array_equal(fit(logs).meanings.counts.numbers, fit(other).meanings.counts.numbers)
    assert fit(logs).certificate == fit(other).certificate


def test_saved_models_are_the_same_to_the_last_bit(tmp_path):
    logs = list(draw_logs(random_mdp(1).mdp, EPISODES, seed=1))
    model = fit(logs, anchors="settle")
    for name in ("a.tacit", "b.tacit"):
        model.save(tmp_path / name)
    assert (tmp_path / "a.tacit").read_bytes() == (tmp_path / "b.tacit").read_bytes()
    loaded = load_model(tmp_path / "a.tacit")
    assert list(loaded.label(logs)) == list(model.label(logs))
    assert loaded.certificate == model.certificate
    loaded.save(tmp_path / "c.tacit")
    assert (tmp_path / "c.tacit").read_bytes() == (tmp_path / "a.tacit").read_bytes()
    assert Certificate.from_json(model.certificate.to_json()) == model.certificate
    (tmp_path / "a.tacit").write_bytes(b"damaged")
    with pytest.raises(CheckpointError):
        tacit.load_model(tmp_path / "a.tacit")


def test_what_was_not_met_is_said():
    logs = list(draw_logs(synthetic_mdp(), EPISODES, seed=1))
    model = fit(logs)
    first = logs[0]

    def ask(**changes):
        last = replace(first.steps[-1], **{k: v for k, v in changes.items() if k in ("state", "action")})
        other = {k: v for k, v in changes.items() if k in ("context", "feedback")}
        changed = replace(first, steps=(*first.steps[:-1], replace(last, actions=None)), **other)
        (row,) = model.label([changed])
        return row["decoded_reward"], row["confidence"], row["state_kind"], row["reason"]

    assert ask(state="gone") == (None, 0.0, "unknown", "unseen_state")
    assert ask(action=77) == (None, 0.0, "unknown", "unseen_action")
    assert ask(context="gone") == (None, 0.0, "unknown", "unseen_context")
    assert ask(feedback="gone") == (None, 0.0, "unknown", "unseen_feedback")
    with Problems() as problems:
        short = replace(first, episode="short", steps=first.steps[:1])
        assert len(list(model.label([first, short], problems=problems))) == 1
    assert dict(problems.by_rule) == {"mixed-horizon": 1}
    with pytest.warns(UserWarning, match="left out"):
        list(model.label([first, short]))


def test_few_tuples_decode_to_nothing():
    model = fit(list(draw_logs(synthetic_mdp(), 60, seed=1)))
    reasons = {row["reason"] for row in model.label(list(draw_logs(synthetic_mdp(), 500, seed=2)))}
    assert "uncertain" in reasons
    assert "decoded" not in reasons


def test_a_reward_of_an_action_that_is_not_the_best_is_withheld_and_said():
    mdp = synthetic_mdp()
    logs = list(draw_logs(mdp, EPISODES, seed=1))
    rows = list(fit(logs).label(logs))
    withheld = [
        (row, episode) for row, episode in zip(rows, logs, strict=True) if row["reason"] == "lower_bound"
    ]
    assert withheld
    assert all(episode.reward == 1 and episode.steps[-1].action != 0 for _, episode in withheld)
    assert max(row["confidence"] for row, _ in withheld) < 0.5
    assert all(row["low"] <= row["high"] and row["high"] > 0.5 for row, _ in withheld)


def overlapping_mdp(flips=(0.2, 0.1), words=4):
    """Return the paper's problem with a good last state, whose people say each other's words now and then."""
    mdp = synthetic_mdp()
    X, S = mdp.rewards.shape[:2]
    pair = np.zeros((2, words))
    pair[0, : words // 2], pair[1, words // 2 :] = 2 / words, 2 / words
    stray = np.array(flips)[:, None]
    pair = (1 - stray) * pair + stray * pair[::-1]
    rewards = mdp.rewards.copy()
    rewards[:, 1] = rewards[:, 0]
    layout = Layout.regular(list(mdp.layout.n_states), 5, X, words)
    voices = np.array([[pair if x == 0 else pair[::-1]] * S for x in range(X)])
    return replace(mdp, layout=layout, rewards=rewards, feedback_probabilities=voices)


def test_labels_of_words_that_overlap_are_as_sure_as_they_are_right():
    mdp = overlapping_mdp()
    logs = list(draw_logs(mdp, 6000, seed=1))
    model = fit(logs, layout=mdp.layout)
    rows = list(model.label(logs))
    truth = np.array([episode.reward for episode in logs])
    decoded, confidence = columns(rows)
    right = np.round(decoded) == truth
    assert abs(right.mean() - confidence.mean()) < 0.06
    assert right.mean() < 0.97  # the control: nobody can be right always where words overlap
    told = [row for row in rows if row["decoded_reward"] is not None]
    assert np.mean([row["high"] - row["low"] for row in told]) > 0.05
    assert all(0 <= row["low"] <= row["high"] <= 1 for row in told)


def test_many_words_are_labelled_and_trained_on():
    mdp = overlapping_mdp(flips=(0.1, 0.1), words=60)
    logs = list(draw_logs(mdp, 6000, seed=2))
    model = fit(logs, layout=mdp.layout)
    decoded, _ = columns(list(model.label(logs)))
    best = best_actions(mdp, logs)
    truth = np.array([episode.reward for episode in logs])
    assert np.mean((decoded >= 0.5)[best] == (truth == 1)[best]) > 0.8
    assert model.train(logs).stage.places.judgements
    assert model.diagnose(logs).examination.meanings


def test_an_interval_of_a_homogeneous_place_is_what_may_be_there_unseen():
    logs = list(draw_logs(synthetic_mdp(), EPISODES, seed=1))
    rows = [row for row in fit(logs).label(logs) if row["reason"] == "homogeneous"]
    assert rows
    assert all(row["low"] == 0.0 <= row["decoded_reward"] <= row["high"] <= 1 for row in rows)
    assert np.median([row["high"] for row in rows]) < 0.1  # some thousand tuples that show nothing


def test_uniformity_is_tested():
    layout = synthetic_mdp().layout
    generator = np.random.default_rng(2)

    def p_value(shares):
        return ends_p_value(
            layout, SeenCounts.of_dense(generator.multinomial(400, shares, (2, 2))[:, :, None] * 1.0)
        )

    assert np.mean(np.array([p_value([0.2] * 5) for _ in range(200)]) < 0.05) < 0.1
    assert p_value([0.28, 0.18, 0.18, 0.18, 0.18]) < 0.01


def test_the_validation_loss_of_noise_is_that_of_guessing():
    layout = synthetic_mdp().layout
    counts = everybody_spoke(np.full((2, 2, 2, 5), 20.0))
    ours, uniform = validation_losses(layout, counts, counts, 0.0, JudgementSettings())
    assert ours == pytest.approx(uniform) == pytest.approx(0.8)


def test_vectors_are_read_by_what_was_understood_of_them(tmp_path):
    env = random_mdp(1, RandomMDPSettings(layers=1, states=1, actions=4, vectors=2, homogeneous=0))
    agent = LEARNERS["uniform"].make(env.layout, Settings(DecoderSettings(0.8, 1.2), recipe="paper"), 0)
    with LogWriter(tmp_path / "logs.jsonl") as log:
        Simulation(agent, GymSource(env), seed=0, log=log).run(1500)
    model = fit(tmp_path / "logs.jsonl")
    truth = [episode.reward for episode in read_logs(tmp_path / "logs.jsonl")]
    decoded, confidence = columns(list(model.label(tmp_path / "logs.jsonl")))
    assert model.meanings.reading.name == "understanding"
    assert model.certificate.verdict == "works with caution"
    assert np.nanmean(decoded) <= np.mean(truth)
    sure = confidence > 0.9
    assert np.mean(np.round(decoded[sure]) == np.array(truth)[sure]) > 0.97
    model.save(tmp_path / "m.tacit")
    again = load_model(tmp_path / "m.tacit")
    assert list(again.label(tmp_path / "logs.jsonl")) == list(model.label(tmp_path / "logs.jsonl"))


def test_a_model_of_a_large_problem_holds_what_was_seen():
    """Whole counts of 900 states, 90 contexts, 90 words and 20 actions take 1.2 GB, and fitting held several."""
    generator, actions = np.random.default_rng(0), tuple(range(20))
    layout = Layout.regular([1, 900], n_actions=20, n_contexts=90, n_feedback=90)
    rows = generator.integers((90, 20, 900, 20, 90), size=(400, 5)).tolist()
    logs = [
        LoggedEpisode(n, x, (LoggedStep(0, first), LoggedStep(1 + s, a, actions, 0.05)), y)
        for n, (x, first, s, a, y) in enumerate(rows)
    ]
    model, most = peak(lambda: fit(logs, layout=layout))
    assert most < 900 * 90 * 90 * 20 * 8 / 10
    assert len(list(model.label(logs))) == 400


@pytest.mark.parametrize(("lines", "reason"), [(40, "uncertain"), (4000, "homogeneous")])
def test_where_nothing_was_found_a_label_is_a_reward_only_if_it_would_have_shown(lines, reason):
    """Forty tuples of four actions could not have shown an action that pleases nearly always."""
    generator, menu = np.random.default_rng(0), ("a", "b", "c", "d")
    rows = [
        LoggedEpisode(
            n,
            "x",
            (LoggedStep("s", menu[generator.integers(4)], menu, 0.25),),
            "yes" if generator.random() < 0.5 else "no",
        )
        for n in range(lines)
    ]
    model = fit(rows)
    (label,) = {(row["reason"], row["decoded_reward"]) for row in model.label(rows)}
    assert label == (reason, None if reason == "uncertain" else 0.0)
    assert model.certificate.places[0].settled == (reason == "homogeneous")

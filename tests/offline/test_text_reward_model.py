"""Rewards for logs of text: what is read, what is learned, what is never read, and what must not be found."""

import json
from dataclasses import replace

import numpy as np
import pytest
from shop_logs import draw_shop
from text_samples import HAPPY, UNHAPPY, HashingEncoder, shop
from typer.testing import CliRunner

from tacit.agent import Agent
from tacit.cli.logs import logs_app as app
from tacit.decoding.tuples import Reservoir
from tacit.envs.booking import BookingEnv
from tacit.envs.gym_adapter import GymSource
from tacit.logs.episode import log_of
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource
from tacit.logs.record import LogError, find_fault
from tacit.logs.writing import LogWriter
from tacit.offline.fit import diagnose_logs, fit
from tacit.offline.loading import load_model
from tacit.offline.teaching import NOT_RANDOM, UNKNOWN_PROBABILITY, NothingToLearnError
from tacit.offline.text.evaluate import estimate_text, weigh_episode
from tacit.offline.text.examination import TextExamination, check_outcomes
from tacit.offline.text.gathering import ReadText, read_text
from tacit.offline.text.kind import TEXT
from tacit.simulate import Simulation
from tacit.text import Conversations, TextSettings
from tacit.text.evidence import Evidence

EPISODES = 600
SKEWED = np.array([0.6, 0.2, 0.1, 0.05, 0.05])


@pytest.fixture(autouse=True)
def hashed(monkeypatch, tmp_path_factory):
    """Every small model reads with the hashing encoder, and keeps encodings in a folder of the tests."""
    monkeypatch.setattr("tacit.text.small.model.bundled_encoder", HashingEncoder)
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path_factory.getbasetemp() / "encodings"))


def shuffle(episodes, seed=0):
    """Return the episodes with their feedback dealt anew among them."""
    order = np.random.default_rng(seed).permutation(len(episodes))
    return [
        replace(episode, feedback=episodes[n].feedback) for episode, n in zip(episodes, order, strict=True)
    ]


def forget_chances(episodes):
    return [
        replace(episode, steps=tuple(replace(step, probability=None) for step in episode.steps))
        for episode in episodes
    ]


def took_best(episode):
    """Return whether the right question was asked and the colour that was answered offered."""
    return (
        "colour" in episode.steps[0].action and episode.steps[1].state.split()[-1] in episode.steps[1].action
    )


def rewards_of(rows):
    return np.array([np.nan if row["decoded_reward"] is None else row["decoded_reward"] for row in rows])


@pytest.fixture(scope="module")
def logs():
    return draw_shop(EPISODES)


@pytest.fixture(scope="module")
def model(logs, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.text.small.model.bundled_encoder", HashingEncoder)
        patch.setenv("TACIT_CACHE", str(tmp_path_factory.getbasetemp() / "encodings"))
        return fit(logs)


@pytest.mark.parametrize("personal", [False, True])
def test_labels_are_the_hidden_rewards_of_those_who_did_best(personal):
    logs = draw_shop(EPISODES, personal=personal)
    model = fit(logs)
    assert model.kind is TEXT
    assert model.certificate.verdict == "works with caution"
    asked = draw_shop(300, seed=1, personal=personal)
    rows = list(model.label(asked))
    decoded, truth = rewards_of(rows), np.array([episode.reward for episode in asked])
    best = np.array([took_best(episode) for episode in asked])
    assert np.mean((decoded >= 0.5)[best] == truth[best]) >= 0.95
    assert decoded.mean() <= truth.mean() + 1e-9
    sure = np.array([row["confidence"] for row in rows])
    assert sure.min() >= 0
    assert sure.max() <= 1


def test_kinds_and_reasons_agree(model, logs):
    rows = list(model.label(logs))
    assert {row["state_kind"] for row in rows} >= {"heterogeneous", "homogeneous"}
    for row in rows:
        if row["state_kind"] == "homogeneous":
            assert (row["reason"], row["decoded_reward"]) == ("homogeneous", model.meanings.c)
        elif row["state_kind"] == "unknown":
            assert row["reason"] == "uncertain"
        else:
            assert row["reason"] == "decoded"
            assert row["confidence"] >= 0.5
    told = {row["episode"]: row["state_kind"] for row in rows}
    asked = [told[episode.episode] for episode in logs if "colour" in episode.steps[0].action]
    assert asked.count("heterogeneous") > 0.8 * len(asked)


def test_where_feedback_names_the_candidate_no_label_is_stood_by(model, logs):
    """Control: where it names less than half of what it means, labels stay as they are."""
    evidence = model.meanings.evidence
    before = list(model.label(logs))
    for share, stands in ((0.4, True), (0.6, False)):
        named = evidence._replace(echo=share * evidence.gain, echo_error=0.001)
        rows = list(replace(model, meanings=replace(model.meanings, evidence=named)).label(logs))
        assert ("decoded" in {row["reason"] for row in rows}) is stands
        assert [row["decoded_reward"] for row in rows] == [row["decoded_reward"] for row in before]


def test_homogeneous_states_are_worth_c(logs):
    rows = list(fit(logs, c=0.25).label(logs))
    assert {row["decoded_reward"] for row in rows if row["reason"] == "homogeneous"} == {0.25}


def test_shuffled_feedback_is_not_found(logs):
    model = fit(shuffle(logs))
    assert model.certificate.verdict == "cannot work"
    assert model.certificate.findings[0].code == "feedback-tells-nothing"
    assert {(row["decoded_reward"], row["reason"]) for row in model.label(logs)} == {(None, "uncertain")}


def test_rewards_in_the_logs_are_never_used(logs, model, tmp_path):
    told = fit([replace(episode, reward=1 - episode.reward) for episode in logs])
    untold = fit([replace(episode, reward=None) for episode in logs])
    assert list(told.label(logs)) == list(model.label(logs)) == list(untold.label(logs))
    for name, each in (("told", told), ("untold", untold)):
        each.save(tmp_path / name)
    assert (tmp_path / "told").read_bytes() == (tmp_path / "untold").read_bytes()


def test_non_uniform_logging_teaches_the_same(model, logs):
    skewed = fit(draw_shop(EPISODES, seed=3, shares=SKEWED))
    assert skewed.certificate.verdict == "works with caution"
    assert skewed.certificate.effective < 0.6 * EPISODES
    plain, other = rewards_of(model.label(logs)), rewards_of(skewed.label(logs))
    assert np.abs(plain - other).mean() <= 0.02


def test_shuffled_feedback_is_not_found_under_non_uniform_logging():
    """The control of the weights: without them, a candidate that is taken more often would be foretold."""
    assert fit(shuffle(draw_shop(EPISODES, shares=SKEWED))).certificate.verdict == "cannot work"


def test_actions_of_unknown_probability_count_if_they_look_uniform(logs):
    model = fit(forget_chances(logs))
    assert model.certificate.verdict == "works with caution"
    assert model.certificate.findings[0].code == "uniformity-inferred"
    assert fit(forget_chances(logs), assume_uniform=True).certificate.verdict == "works with caution"


def test_actions_that_were_chosen_do_not_pass_for_uniform(logs):
    """Those who offer what was asked for are told from uniform ones, though the place in the list is random."""
    chosen = [
        episode
        for n, episode in enumerate(logs)
        if "colour" not in episode.steps[0].action or took_best(episode) or n % 2
    ]
    with pytest.raises(NothingToLearnError, match=UNKNOWN_PROBABILITY):
        fit(forget_chances(chosen))


def test_certain_actions_do_not_teach(logs):
    certain = [
        replace(
            episode,
            episode=f"c{episode.episode}",
            steps=(*episode.steps[:-1], replace(episode.steps[-1], probability=1.0)),
        )
        for episode in logs
    ]
    with pytest.raises(NothingToLearnError, match=NOT_RANDOM):
        fit(certain)
    assert fit([*logs, *certain[:10]]).certificate.left_out == {NOT_RANDOM: 10}


def test_a_saved_model_labels_alike(model, logs, tmp_path):
    model.save(tmp_path / "m.tacit")
    loaded = load_model(tmp_path / "m.tacit")
    assert loaded.kind is TEXT
    assert loaded.certificate == model.certificate
    assert list(loaded.label(logs[:50])) == list(model.label(logs[:50]))


def test_files_are_labelled_in_batches_of_bounded_memory(model, logs, tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.offline.text.batches.ENCODED_AT_ONCE", 50)
    model.save(tmp_path / "m.tacit")
    with LogWriter(tmp_path / "logs.jsonl") as writer:
        for episode in logs:
            writer.write(episode)
    loaded = load_model(tmp_path / "m.tacit")
    done = loaded.label(tmp_path / "logs.jsonl", tmp_path / "labels.jsonl", processes=1)
    assert (done.rows, done.rejected) == (EPISODES, 0)
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert rows == list(model.label(logs))
    assert not loaded.meanings.model.features.cache._memory


def test_episodes_that_are_not_text_are_set_aside(model, logs):
    two = replace(logs[0].steps[1], actions=logs[0].steps[1].actions[:2], action=logs[0].steps[1].actions[0])
    fewer = [replace(logs[0], steps=logs[0].steps[:1]), replace(logs[0], steps=(logs[0].steps[0], two))]
    bad = [
        replace(logs[0], steps=(*logs[0].steps, two)),
        replace(logs[0], feedback=3),
        replace(logs[0], context="somebody else"),
        replace(logs[0], steps=(logs[0].steps[0], replace(logs[0].steps[1], actions=None))),
        replace(logs[0], steps=(logs[0].steps[0], replace(logs[0].steps[1], action="nobody offered this"))),
    ]
    problems = Problems()
    named = [replace(episode, episode=f"bad {n}") for n, episode in enumerate(bad)]
    named += [replace(episode, episode=f"fewer {n}") for n, episode in enumerate(fewer)]
    rows = list(model.label([*named, logs[0]], problems=problems))
    assert [row["episode"] for row in rows] == [
        "fewer 0",
        "fewer 1",
        0,
    ]  # fewer turns or candidates are no fault
    assert dict(problems.by_rule) == {"mixed-horizon": 1, "not-text": 4}
    told = str([str(problem) for problem in problems.first])
    assert "must be its request" in told
    assert "must be one of the actions on offer" in told


def test_contexts_with_request_and_profile_are_of_the_format(logs):
    assert find_fault(logs[0].to_json()) is None
    for context in ({"request": None}, {"profile": ["plain"]}, {"request": "tea", "mood": None}):
        assert find_fault(logs[0].to_json() | {"context": context}).rule == "no-context"


def test_what_text_cannot_do_is_refused(logs):
    with pytest.raises(LogError, match="leave anchors out"):
        fit(logs, anchors="settle")


def test_an_agent_of_text_writes_its_episodes(tmp_path):
    source, path = GymSource(BookingEnv(shop(50))), tmp_path / "logs.jsonl"
    agent = Agent(Conversations(TextSettings(exploration=40)), seed=0)
    with LogWriter(path) as log:
        trace = Simulation(agent, source, seed=0, log=log).run(20)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["reward"] for record in records] == trace.rewards
    assert all(find_fault(record) is None for record in records)
    read = read_text(records[0], horizon=2)
    assert read.probabilities == (1 / 3, 1 / 5)
    assert records[0]["steps"][0]["state"] == records[0]["context"]["request"]
    episode = agent.begin("hello")
    with pytest.raises(ValueError, match="end it first"):
        log_of(episode)


def test_a_reservoir_keeps_a_uniform_sample():
    kept = [Reservoir(5, np.random.default_rng(seed)) for seed in range(400)]
    for reservoir in kept:
        for n in range(20):
            reservoir.add(n)
    counts = np.bincount([n for reservoir in kept for n in reservoir.rows], minlength=20)
    assert counts.sum() == 2000
    assert np.abs(counts - 100).max() < 45  # 4.6 standard deviations of 100 ± 9.7


def test_diagnosis_of_conversations(logs, monkeypatch):
    monkeypatch.setattr("tacit.offline.text.examination.SHUFFLES", 2)
    found = diagnose_logs(logs)
    assert isinstance(found.examination, TextExamination)
    assert found.verdict == "works"
    assert {"control-passed", "anchors-agree", "independence-untested"} <= {f.code for f in found.findings}
    assert sum(each.found for each in found.examination.shuffled) <= 1
    (everybody,) = found.examination.speakers
    assert {sentence.text for sentence in everybody.good} <= set(HAPPY)
    assert {sentence.text for sentence in everybody.bad} <= set(UNHAPPY)
    page = replace(found, title="logs <of> today").page()
    assert "logs &lt;of&gt; today" in page
    assert everybody.good[0].text in page
    assert "not tested for conversations" in page
    assert "http" not in page.replace("http-equiv", "")


def test_diagnosis_tells_the_contrary_from_the_plain(monkeypatch):
    monkeypatch.setattr("tacit.offline.text.examination.SHUFFLES", 1)
    found = diagnose_logs(draw_shop(EPISODES, personal=True))
    assert found.verdict == "works"
    pleased = {speakers.profiles: speakers.good[0].text for speakers in found.examination.speakers}
    assert set(pleased) == {("sincere plain",), ("joker teases",)}
    assert pleased["sincere plain",] in HAPPY
    assert pleased["joker teases",] in UNHAPPY


def test_diagnosis_of_shuffled_feedback(logs, monkeypatch):
    monkeypatch.setattr("tacit.offline.text.examination.SHUFFLES", 1)
    found = diagnose_logs(shuffle(logs))
    assert found.verdict == "cannot work"
    assert not found.examination.speakers
    assert np.isnan(found.examination.rewards).all()
    assert "cannot be told from noise" in found.page()


def test_a_model_diagnoses_other_conversations(model, logs, monkeypatch):
    monkeypatch.setattr("tacit.offline.text.examination.SHUFFLES", 1)
    assert model.diagnose(logs).findings == diagnose_logs(logs).findings
    with pytest.raises(NothingToLearnError, match="got 3 of 3"):
        model.diagnose(logs[:3])


def test_outcomes_that_contradict_are_told(model, logs):
    turned = [replace(episode, reward=1 - episode.reward) for episode in logs]
    assert [finding.code for finding in check_outcomes(LogSource(turned), model.meanings)] == [
        "decoded-upside-down"
    ]
    assert [finding.code for finding in check_outcomes(LogSource(logs), model.meanings)] == ["anchors-agree"]
    assert not list(
        check_outcomes(LogSource([replace(episode, reward=None) for episode in logs]), model.meanings)
    )


def test_evaluation_weighs_whole_episodes(model):
    logs = draw_shop(2000, seed=5, shares=SKEWED)
    found = model.evaluate(logs, "uniform")
    assert set(found.estimates) == {"importance_sampling", "self_normalised"}
    for each in found.estimates.values():
        assert each.low < 1 / 15 < each.high  # of 3 questions and 5 colours one of each
    assert found.lower_bounds["self_normalised"].value <= found.estimates["self_normalised"].value + 1e-6
    assert found.effective < len(logs)
    assert [finding.code for finding in found.findings] == ["no-dynamics"]
    truth = np.mean([episode.reward for episode in logs])
    logged = model.evaluate(logs).estimates["importance_sampling"]
    assert logged.value == pytest.approx(truth, abs=0.01)


def test_evaluation_refuses_what_it_cannot_do(model, logs):
    with pytest.raises(LogError, match="must be 'logged' or 'uniform'"):
        model.evaluate(logs, {"a": {"b": 1.0}})
    with pytest.raises(LogError, match="told from noise"):
        replace(model, meanings=replace(model.meanings, evidence=Evidence(0.0, 1.0))).evaluate(logs)
    problems = Problems()
    with pytest.raises(LogError, match="got none"):
        model.evaluate(forget_chances(logs), "uniform", problems)
    assert dict(problems.by_rule) == {"no-probability": EPISODES}


def test_training_writes_an_agent_that_goes_on(model, logs, tmp_path):
    agent = model.train(logs, seed=2)
    agent.save(tmp_path / "agent.tacit")
    source = GymSource(BookingEnv(shop(200, seed=9)))
    loaded = Agent.load(tmp_path / "agent.tacit")
    assert not loaded.stage.explores
    first = Simulation(loaded, source, seed=1).run(200).rewards
    assert np.mean(first) > 0.5  # uniform: 1/15
    with pytest.raises(LogError, match="every episode must have 2 steps, got 3"):
        model.train([replace(logs[0], steps=(*logs[0].steps, logs[0].steps[1]))], problems=Problems())


def test_training_warns_of_a_model_that_found_nothing(logs):
    with pytest.warns(UserWarning, match="cannot be trusted"):
        fit(shuffle(logs)).train(logs)


def test_weights_and_doubt_as_enumeration_says():
    read = ReadText(None, (0.5, 0.1), (2, 5), None, 1)
    assert weigh_episode(read, uniform=True) == pytest.approx(1 / (2 * 0.5) / (5 * 0.1))
    assert weigh_episode(read, uniform=False) == 1.0
    found = estimate_text(np.array([1.0, 3.0]), np.array([0.5, 1.0]), np.array([0.5, 1.0]))
    assert found["importance_sampling"].value == pytest.approx(1.75)
    assert found["self_normalised"].value == pytest.approx(3.5 / 4)
    assert found["self_normalised"].decoder_error == pytest.approx(0.5 / 4)


def test_every_command_on_conversations(monkeypatch, tmp_path):
    """Fit, label, diagnose, evaluate, train; the bundled models stand behind the chat example and the booking study."""
    monkeypatch.setattr("tacit.offline.text.examination.SHUFFLES", 1)
    logs, model, out = tmp_path / "logs.jsonl", tmp_path / "m.tacit", tmp_path / "out"
    with LogWriter(logs) as writer:
        for episode in draw_shop(400):
            writer.write(episode)
    assert run("fit", logs, "--out", model).startswith("works")
    assert "400 episodes labelled" in run("label", logs, "--model", model, "--out", f"{out}.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    truth = np.array([json.loads(line)["reward"] for line in logs.read_text().splitlines()])
    assert np.mean((rewards_of(rows) >= 0.5)[truth == 1]) >= 0.9
    assert np.mean((rewards_of(rows) >= 0.5)[truth == 0]) <= 0.02
    assert run("diagnose", logs, "--out", f"{out}.html").startswith("works")
    assert "read as: ended well" in (tmp_path / "out.html").read_text()
    said = run("evaluate", logs, "--model", model, "--policy", "uniform")
    assert "self_normalised" in said
    assert "need the dynamics" in said
    run("train", logs, "--model", model, "--out", tmp_path / "agent.tacit")
    assert Agent.load(tmp_path / "agent.tacit").stage.name == "policy learning"


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())

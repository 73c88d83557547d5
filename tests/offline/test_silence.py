"""Logs in which people say nothing: silence counts like a word, or is missing; what broke off teaches its way alone."""

from dataclasses import replace

import numpy as np
import pytest
from shop_logs import draw_shop
from text_samples import HashingEncoder
from typer.testing import CliRunner

from tacit.cli.logs import logs_app
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs.encoding import LogReader
from tacit.logs.reading import LogSource
from tacit.logs.record import LogError
from tacit.logs.survey import survey_logs
from tacit.logs.writing import LogWriter
from tacit.offline.fit import diagnose_logs, fit
from tacit.offline.loading import load_model
from tacit.offline.tables.gathering import gather
from tacit.problem.spaces import Vectors

ALL = list(draw_logs(synthetic_mdp(honest=0.5), 4000, seed=0))
HAPPY = [episode if episode.reward else replace(episode, feedback=None) for episode in ALL]
"""Logs of the paper's problem in which only pleased people react, by two words."""


def keep_quiet(record):
    """Return a record without the key."""
    return {key: value for key, value in record.items() if key != "feedback"}


def test_a_silent_episode_is_labelled_as_any_other():
    model = fit(HAPPY)
    labels = {row["episode"]: row for row in model.label(HAPPY)}
    assert len(labels) == len(HAPPY)
    decoded = [(labels[e.episode], e) for e in HAPPY if labels[e.episode]["reason"] == "decoded"]
    assert np.mean([(row["decoded_reward"] >= 0.5) == bool(e.reward) for row, e in decoded]) > 0.99
    sure = [(row, e) for row, e in decoded if row["low"] >= 0.5 or row["high"] < 0.5]
    assert len(sure) > 0.95 * len(decoded)  # a rare word may be in doubt, and its bounds say so
    assert sum(e.feedback is None for _, e in sure) > 100
    assert all((row["decoded_reward"] >= 0.5) == bool(e.reward) for row, e in sure)
    assert model.certificate.tuples == len(HAPPY)
    assert "(silence)" in model.diagnose(HAPPY).page()
    assert "(silence)" not in fit(ALL).diagnose(ALL).page()


def test_no_such_key_is_silence_too(tmp_path):
    with LogWriter(tmp_path / "logs.jsonl") as writer:
        for episode in HAPPY:
            writer.write(episode.to_json() if episode.feedback is not None else keep_quiet(episode.to_json()))
    assert list(fit(tmp_path / "logs.jsonl").label(HAPPY)) == list(fit(HAPPY).label(HAPPY))


def test_silence_that_is_missing_teaches_nothing_and_says_so(tmp_path):
    model = fit(HAPPY, silence="missing")
    spoke = [episode for episode in HAPPY if episode.feedback is not None]
    assert (model.certificate.tuples, model.certificate.left_out["silent"]) == (len(spoke), 4000 - len(spoke))
    rows = list(model.label(HAPPY))
    silent = [row for row, episode in zip(rows, HAPPY, strict=True) if episode.feedback is None]
    assert {(row["reason"], row["decoded_reward"]) for row in silent} == {("silent", None)}
    model.save(tmp_path / "m.tacit")
    assert list(load_model(tmp_path / "m.tacit").label(HAPPY)) == rows
    assert model.evaluate(HAPPY, "uniform").episodes == len(spoke)
    assert model.train(HAPPY).layout.silence == "missing"
    verdicts = [diagnose_logs(HAPPY, silence=meant).verdict for meant in ("counts", "missing")]
    assert verdicts == ["works", "not known yet"]  # the control: hardly a word is left


def test_what_a_policy_earned_counts_the_silent_too():
    value = fit(HAPPY).evaluate(HAPPY, "logged").estimates["self_normalised"]
    assert value.low < np.mean([episode.reward for episode in HAPPY]) < value.high


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_agent_trained_on_silence_goes_on_with_it():
    agent = fit(HAPPY).train(HAPPY)
    episode = agent.begin(0)
    for state in (0, 1, 3):
        agent.act(episode, state)
    agent.end(episode, None)
    assert episode.decoded_reward == pytest.approx(0.0, abs=1e-9)


def test_silence_with_a_known_outcome_is_an_anchor():
    """Turned round, so that silence is the reward of most: known outcomes of silent episodes alone turn it back."""
    upside_down = [replace(e, feedback=None if e.reward else e.feedback, reward=1 - e.reward) for e in ALL]
    known = [e if e.feedback is None else replace(e, reward=None) for e in upside_down]
    plain, settled = fit(known), fit(known, anchors="settle")
    codes = [{finding.code for finding in model.certificate.findings} for model in (plain, settled)]
    assert ["turned-by-outcomes" in found for found in codes] == [False, True]

    def right(model):
        labels = zip(model.label(known), upside_down, strict=True)
        return [
            (row["decoded_reward"] >= 0.5) == bool(e.reward)
            for row, e in labels
            if row["reason"] == "decoded"
        ]

    assert len(right(settled)) > 100
    assert all(right(settled))
    assert np.mean(right(plain)) < 0.05  # the control: without known outcomes all is upside down


def test_an_episode_that_broke_off_teaches_its_way_alone(tmp_path):
    broken = [
        replace(e, episode=f"b{e.episode}", steps=e.steps[:2], feedback=None, abandoned=True)
        for e in ALL[:500]
    ]
    model = fit(ALL + broken)
    assert model.meanings.counts.total == fit(ALL).meanings.counts.total
    assert model.certificate.left_out == {"abandoned": 500}
    rows = list(model.label(ALL + broken))
    assert rows[:4000] == list(fit(ALL).label(ALL))
    assert {row["reason"] for row in rows[4000:]} == {"abandoned"}
    counts = [model.train(logs).stage.dynamics.counts(0).sum() for logs in (ALL, ALL + broken)]
    assert counts[1] == counts[0] + 500  # of two steps one transition
    assert model.evaluate(ALL + broken, "uniform").estimates == model.evaluate(ALL, "uniform").estimates
    assert survey_logs(ALL + broken).horizons == {3: 4000}
    long = replace(broken[0], steps=ALL[0].steps + ALL[0].steps).to_json()
    assert LogReader(model.meanings.layout).read(long, 1).rule == "mixed-horizon"


def test_logs_of_silence_alone_are_refused():
    with pytest.raises(LogError, match="got silence in all of them"):
        fit([replace(episode, feedback=None) for episode in ALL[:100]])


def test_beside_vectors_absent_feedback_is_missing_unless_it_counts():
    env = random_mdp(1, RandomMDPSettings(layers=1, states=1, actions=4, homogeneous=0))
    logs = [replace(e, feedback=[float(e.feedback), 1.0]) for e in draw_logs(env.mdp, 600, seed=0)]
    logs = [replace(e, feedback=None) if n % 3 == 0 else e for n, e in enumerate(logs)]
    layout = survey_logs(logs).layout()
    assert isinstance(layout.feedback, Vectors)
    assert layout.silence == "missing"
    gathered = gather(LogSource(logs), layout)
    assert (gathered.teaching.left_out, len(gathered.teaching.known)) == ({"silent": 200}, 400)
    assert gathered.visits.sum() == 600
    given = gather(LogSource(logs), replace(layout, silence="counts"))  # a vector of NaN
    assert (given.teaching.left_out, len(given.teaching.known)) == ({}, 600)


@pytest.mark.parametrize(("command", "verdict"), [("fit", "works with caution"), ("diagnose", "works")])
def test_the_commands_take_what_silence_means(command, verdict, tmp_path):
    """Known outcomes in the logs are read by a diagnosis alone."""
    with LogWriter(tmp_path / "logs.jsonl") as writer:
        for episode in HAPPY:
            writer.write(episode)

    def run(*more):
        words = [command, str(tmp_path / "logs.jsonl"), "--out", str(tmp_path / "out"), *more]
        return CliRunner().invoke(logs_app, words)

    assert run().output.startswith(f"{verdict}\n")
    assert run("--silence", "missing").output.startswith("not known yet\n")
    refused = run("--silence", "golden")
    assert refused.exit_code == 1
    assert "silence must be one of" in " ".join(refused.output.split())


def test_silence_in_logged_conversations(monkeypatch, tmp_path):
    monkeypatch.setattr("tacit.text.small.model.bundled_encoder", HashingEncoder)
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "encodings"))
    logs = [e if e.reward else replace(e, feedback=None) for e in draw_shop(400)]
    logs += [replace(logs[0], episode="broke off", steps=logs[0].steps[:1], feedback=None, abandoned=True)]
    model = fit(logs)
    rows = list(model.label(logs))
    assert model.certificate.verdict == "works with caution"  # no outcome is known to fit
    assert rows[-1]["reason"] == "abandoned"
    sure = [(row, e) for row, e in zip(rows[:-1], logs, strict=False) if row["reason"] == "decoded"]
    assert np.mean([(row["decoded_reward"] >= 0.5) == bool(e.reward) for row, e in sure]) > 0.95
    missing = fit([e for e in logs if e.feedback is not None] + logs[-1:], silence="missing")
    with pytest.warns(UserWarning, match="feedback-tells-nothing"):  # the others were silent
        assert missing.train(logs).world.settings.silence == "missing"
    missing.save(tmp_path / "m.tacit")
    silent = [
        row
        for row, e in zip(load_model(tmp_path / "m.tacit").label(logs), logs, strict=True)
        if not e.feedback
    ]
    assert {row["reason"] for row in silent} == {"silent", "abandoned"}

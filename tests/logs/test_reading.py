"""The log format: what is written is read, what is wrong is counted, located, explained and kept."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.agent import Agent
from tacit.decoding.decoder import DecoderSettings
from tacit.envs.gym_adapter import GymSource
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import synthetic
from tacit.experiments.learners import LEARNERS
from tacit.learning.settings import Settings
from tacit.logs.episode import LoggedEpisode, LoggedStep, log_of
from tacit.logs.files import find_logs
from tacit.logs.problems import Problems
from tacit.logs.reading import read_logs
from tacit.logs.record import SCHEMA, LogError, find_fault
from tacit.logs.writing import LogWriter
from tacit.simulate import Simulation

ENDINGS = ["jsonl", "ndjson", "jsonl.gz", "jsonl.zst", "parquet"]
GOOD = {
    "episode": "e1",
    "context": "new",
    "steps": [{"state": "start", "action": "ask", "actions": ["ask", "tell"], "probability": 0.5}],
    "feedback": "thanks",
}
EPISODES = [
    LoggedEpisode("e1", "new", (LoggedStep("start", "ask", ("ask", "tell"), 0.25),), "thanks", reward=1.0),
    LoggedEpisode(7, {"age": 41, "visits": 2.5}, (LoggedStep(0, 1), LoggedStep([1.0, 2.0], "b")), [0.5, -1]),
    LoggedEpisode("e3", True, (LoggedStep("s", 3, (3, 4)),), 0.25, time="2026-11-15", user="u"),
    LoggedEpisode("silent", "new", (LoggedStep("start", "ask"),), None),
    LoggedEpisode("broke off", "new", (LoggedStep("start", "ask"),), None, abandoned=True),
]
STEP = {"state": "start", "action": "ask"}
BAD = {
    "not-an-episode": [1, 2],
    "no-episode": {**GOOD, "episode": None},
    "no-context": {key: value for key, value in GOOD.items() if key != "context"},
    "no-steps": {**GOOD, "steps": []},
    "not-a-step": {**GOOD, "steps": ["ask"]},
    "no-state": {**GOOD, "steps": [{"action": "ask"}]},
    "no-action": {**GOOD, "steps": [STEP, {"state": "start"}]},
    "bad-actions": {**GOOD, "steps": [{**STEP, "actions": []}]},
    "action-not-offered": {**GOOD, "steps": [{**STEP, "actions": ["tell"]}]},
    "bad-probability": {**GOOD, "steps": [{**STEP, "probability": 1.5}]},
    "bad-feedback": {**GOOD, "feedback": {"mood": "good"}},
    "bad-abandoned": {**GOOD, "feedback": None, "abandoned": "yes"},
    "bad-reward": {**GOOD, "reward": "much"},
}


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def uniform_agent(env):
    return LEARNERS["uniform"].make(env.layout, Settings(DecoderSettings(0.8, 1.2), recipe="paper"), 0)


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read(tmp_path, ending):
    path = tmp_path / f"logs.{ending}"
    with LogWriter(path) as writer:
        for episode in EPISODES:
            writer.write(episode)
    assert list(read_logs(path)) == EPISODES
    assert [each.source for each in read_logs(path)] == [(str(path), n) for n in (1, 2, 3, 4, 5)]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_written_whole_or_not_at_all(tmp_path, ending):
    path = tmp_path / f"logs.{ending}"

    def fail():
        with LogWriter(path) as writer:
            writer.write(EPISODES[0])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst"])
def test_episodes_are_appended(tmp_path, ending):
    path = tmp_path / f"logs.{ending}"
    for episode in EPISODES:
        with LogWriter(path, append=True) as writer:
            writer.write(episode)
    assert list(read_logs(path)) == EPISODES


def test_an_unfinished_line_is_cut_off_before_appending(tmp_path):
    path = tmp_path / "logs.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b"\n" + b'{"episode": 2, "cont' + b"x" * 70_000)
    with pytest.warns(UserWarning, match="70,020 bytes"), LogWriter(path, append=True) as writer:
        writer.write(EPISODES[1])
    assert [episode.episode for episode in read_logs(path, strict=True)] == ["e1", 7]
    path.write_bytes(b"no newline at all")
    with pytest.warns(UserWarning, match="17 bytes"), LogWriter(path, append=True) as writer:
        writer.write(EPISODES[0])
    assert len(list(read_logs(path, strict=True))) == 1


def test_parquet_is_not_appended_to(tmp_path):
    with pytest.raises(LogError, match="written whole"):
        LogWriter(tmp_path / "logs.parquet", append=True)
    with pytest.raises(LogError, match="must end in"):
        LogWriter(tmp_path / "logs.csv")


def test_the_mark_of_our_parquet_files_is_part_of_the_format(tmp_path):
    """Files that were written before must be read for ever."""
    with LogWriter(tmp_path / "logs.parquet") as writer:
        writer.write(EPISODES[0])
    assert pyarrow.parquet.read_schema(tmp_path / "logs.parquet").metadata[b"tacit.logs"] == b"json"


def test_nested_columns_of_parquet_are_read_as_they_are(tmp_path):
    rows = [
        GOOD,
        {**GOOD, "episode": "e2", "steps": [{"state": "start", "action": "tell"}], "feedback": "no"},
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "nested.parquet")
    first, second = read_logs(tmp_path)
    assert (first.feedback, first.steps[0].probability) == ("thanks", 0.5)
    assert second.steps == (LoggedStep("start", "tell"),)


@pytest.mark.parametrize("rule", BAD)
def test_bad_episodes_are_counted_located_explained_and_kept(tmp_path, rule):
    path = write(tmp_path / "logs.jsonl", GOOD, BAD[rule], {**GOOD, "episode": "e2"})
    side = tmp_path / "logs.rejected.jsonl"
    with Problems(side=side) as problems:
        assert len(list(read_logs(path, problems=problems))) == 2
    assert dict(problems.by_rule) == {rule: 1}
    assert (problems.first[0].file, problems.first[0].line) == (str(path), 2)
    kept = json.loads(side.read_text())
    assert json.loads(kept["raw"]) == BAD[rule]
    assert kept["problem"] == problems.first[0].message
    with pytest.raises(LogError, match="line 2"):
        list(read_logs(path, strict=True))
    with pytest.warns(UserWarning, match="1 episodes were left out"):
        list(read_logs(path))


@pytest.mark.parametrize("probability", [0, -0.1, 1.0001, "0.5", float("inf")])
def test_probabilities_lie_above_0_and_up_to_1(probability):
    record = {**GOOD, "steps": [{**STEP, "probability": probability}]}
    assert find_fault(record).rule == "bad-probability"


def test_lines_that_are_not_json_are_kept_raw(tmp_path):
    path = tmp_path / "logs.jsonl"
    path.write_bytes(b'{"episode": \n\xff\xfe\n\n' + json.dumps(GOOD).encode() + b"\n[NaN]\n")
    with Problems(side=tmp_path / "side.rejected.jsonl") as problems:
        assert len(list(read_logs(path, problems=problems))) == 1
    assert dict(problems.by_rule) == {"not-json": 3}
    assert [problem.line for problem in problems.first] == [1, 2, 5]
    raw = [json.loads(line)["raw"] for line in (tmp_path / "side.rejected.jsonl").read_text().splitlines()]
    assert raw == ['{"episode": ', "\\xff\\xfe", "[NaN]"]


@pytest.mark.parametrize("ending", ["jsonl.gz", "jsonl.zst", "parquet"])
def test_a_damaged_file_is_told_and_the_next_is_read(tmp_path, ending):
    broken, whole = tmp_path / f"a.{ending}", tmp_path / "b.jsonl"
    with LogWriter(broken) as writer:
        for n in range(300):
            writer.write(replace(EPISODES[0], episode=n))
    broken.write_bytes(broken.read_bytes()[:-20])
    write(whole, GOOD)
    problems = Problems()
    episodes = list(read_logs([broken, whole], problems=problems))
    assert episodes[-1].source == (str(whole), 1)
    assert dict(problems.by_rule) == {"damaged-file": 1}


def test_a_directory_is_read_by_name_without_side_files(tmp_path):
    write(tmp_path / "b.jsonl", {**GOOD, "episode": "b"})
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.write(json.dumps({**GOOD, "episode": "a"}))
    write(tmp_path / "a.rejected.jsonl", {"not": "read"})
    (tmp_path / "notes.txt").write_text("not a log")
    assert [episode.episode for episode in read_logs(tmp_path, strict=True)] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "message"), [("gone.jsonl", "no file"), ("a.txt", "must end in"), ("", "no logs")]
)
def test_paths_that_are_no_logs_are_refused(tmp_path, name, message):
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(LogError, match=message):
        find_logs(tmp_path / name)
    with pytest.raises(LogError, match="at least one"):
        find_logs([])


def test_the_schema_and_the_checks_agree():
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert all(validator.is_valid(episode.to_json()) for episode in EPISODES)
    cannot_say = {"action-not-offered"}  # a relation between two values
    for rule, record in BAD.items():
        assert validator.is_valid(record) == (rule in cannot_say), rule


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1, 2, allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(context=JSON, state=JSON, action=JSON, probability=JSON, feedback=JSON)
def test_the_checks_accept_what_the_schema_accepts(context, state, action, probability, feedback):
    step = {"state": state, "action": action, "probability": probability}
    record = {"episode": 1, "context": context, "steps": [step], "feedback": feedback}
    accepted = find_fault(record) is None
    ours = jsonschema.Draft202012Validator(SCHEMA).is_valid(record)
    odd = isinstance(probability, bool)  # JSON Schema does not count True as a number
    assert accepted == ours or odd


def test_the_simulator_writes_what_happened(tmp_path):
    env = synthetic()
    with LogWriter(tmp_path / "logs.jsonl") as log:
        trace = Simulation(uniform_agent(env), GymSource(env), seed=1, mdp=env.mdp, log=log).run(50)
    episodes = list(read_logs(tmp_path, strict=True))
    assert [episode.reward for episode in episodes] == trace.rewards
    assert {step.probability for episode in episodes for step in episode.steps} == {0.2}
    assert [episode.episode for episode in episodes] == list(range(50))


def test_vectors_are_logged_as_lists(tmp_path):
    env = random_mdp(0, RandomMDPSettings(layers=2, vectors=3))
    with LogWriter(tmp_path / "logs.jsonl") as log:
        Simulation(uniform_agent(env), GymSource(env), seed=1, log=log).run(3)
    assert all(len(episode.context) == len(episode.feedback) == 3 for episode in read_logs(tmp_path))


def test_probabilities_are_the_plans():
    agent = Agent(synthetic().layout, seed=3)
    episode = agent.begin(0)
    agent.act(episode, 0)
    with pytest.raises(ValueError, match="has taken a step and ended"):
        log_of(episode)
    agent.act(episode, 1)
    agent.act(episode, 3)
    agent.end(episode, 1)
    plan = episode.plan.policy
    chances = [plan[h, s, a] for h, (s, a) in enumerate(zip(episode.states, episode.actions, strict=True))]
    assert [step.probability for step in log_of(episode).steps] == chances
    assert find_fault(log_of(episode, reward=1.0, user="u").to_json()) is None
    assert np.isfinite(chances).all()


def test_the_documented_schema_is_the_schema():
    page = (Path(__file__).parents[2] / "docs" / "log-format.md").read_text()
    block = page.split("```json schema\n")[1].split("```")[0]
    assert json.loads(block) == json.loads(json.dumps(SCHEMA))

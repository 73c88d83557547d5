"""Conversions: what goes to dsjson comes back, what Vowpal Wabbit writes reads in, exports load, faults are told."""

import json
import sys
from dataclasses import replace

import datasets
import pytest
from typer.testing import CliRunner

from tacit.cli.logs import logs_app as app
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs.convert import convert
from tacit.logs.dsjson import EventSettings, events_of
from tacit.logs.dsjson_joining import read_dsjson
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.logs.problems import Problems
from tacit.logs.reading import read_logs
from tacit.logs.record import LogError
from tacit.logs.trl import Export
from tacit.logs.writing import LogWriter

PLAIN = LoggedEpisode(
    "a7",
    "new customer",
    (
        LoggedStep("start", "ask", ("ask", "show"), 0.25),
        LoggedStep("asked", "book", ("wait", "book"), 0.5),
        LoggedStep("booked", "thank"),
    ),
    "lovely",
    "2026-11-15T22:10:00Z",
    "u81",
    1,
)
VARIED = (
    PLAIN,
    LoggedEpisode(
        8, {"age": 41, "_visits": 2}, (LoggedStep(0, 1, (0, 1, "1"), 1.0),), [0.5, 1], 17.5, 4, 0.25
    ),
    LoggedEpisode("8", 0.5, (LoggedStep([1.5, 2], {"x": 1}, ({"x": 1}, {"x": 2})),), 0, "yesterday"),
    LoggedEpisode("silent", "new", (LoggedStep("start", "ask", ("ask", "show"), 0.5),), None),
    LoggedEpisode(
        "broke off", "new", (LoggedStep("start", "ask"), LoggedStep("asked", "go")), None, abandoned=True
    ),
    LoggedEpisode(
        "odd.1", True, (LoggedStep("", False, (False, True), 0.1),) * 2, {"stars": 4}, reward=False
    ),
)
"""Every kind of value, with and without what may be missing."""

DRINK = {
    "_label_cost": -0.0,
    "_label_probability": 0.05000000074505806,
    "_label_Action": 4,
    "_labelIndex": 3,
    "o": [{"v": 0.0, "EventId": "e11", "ActionTaken": False}],
    "Timestamp": "2026-02-04T16:31:29.5000000Z",
    "Version": "1",
    "EventId": "e11",
    "a": [4, 2, 1, 3],
    "c": {
        "_synthetic": False,
        "Visit": [{"part": "evening", "sky": "grey"}],
        "_multi": [
            {"_tag": tag, "i": {"constant": 1, "id": tag}, "j": [{"warm": "yes"}]}
            for tag in ("cocoa", "juice", "water", "green tea")
        ],
    },
    "p": [0.05, 0.1, 0.15, 0.7],
    "VWState": {"m": "m3"},
    "_original_label_cost": -0.0,
}
"""An event as the log converter of Vowpal Wabbit writes it."""


def write_lines(path, records):
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return path


def read(path, problems=None, **how):
    return list(read_dsjson(path, EventSettings(**how), problems))


def kept(path, records, **how):
    """The episodes of some lines, and the problems."""
    problems = Problems()
    return read(write_lines(path / "events.dsjson", records), problems, **how), problems


def without(event, *keys, **changes):
    return {key: value for key, value in (event | changes).items() if key not in keys}


@pytest.mark.parametrize("ending", ["dsjson", "json.gz", "dsjson.zst"])
def test_what_goes_to_dsjson_comes_back(tmp_path, ending):
    with LogWriter(tmp_path / "logs.jsonl") as writer:
        for episode in VARIED:
            writer.write(episode)
    there = convert(tmp_path / "logs.jsonl", tmp_path / f"events.{ending}", "dsjson")
    back = convert(tmp_path / f"events.{ending}", tmp_path / "back.jsonl", "logs")
    assert (there.episodes, there.rows, back.episodes, back.rows) == (6, 10, 6, 6)
    assert (tmp_path / "back.jsonl").read_bytes() == (tmp_path / "logs.jsonl").read_bytes()
    assert there.left_out == {"no probability in some step": 1, "no reward known": 3}


def test_simulated_logs_come_back_through_parquet_too(tmp_path):
    logs = list(draw_logs(synthetic_mdp(), 200, seed=3))
    with LogWriter(tmp_path / "logs.parquet") as writer:
        for episode in logs:
            writer.write(episode)
    convert(tmp_path / "logs.parquet", tmp_path / "events.dsjson", "dsjson")
    convert(tmp_path / "events.dsjson", tmp_path / "back.parquet", "logs")
    assert list(read_logs(tmp_path / "back.parquet")) == logs


def test_events_say_what_vowpal_wabbit_learns_from():
    first, second, _ = events_of(PLAIN, cost=-1.0)
    assert (first["_label_cost"], first["_label_probability"]) == (-1.0, 0.25)
    assert (first["a"], first["p"]) == ([1, 2], [0.25, 0.75])
    assert (second["a"], second["_label_Action"], second["_labelIndex"]) == ([2, 1], 2, 1)
    assert second["previous_id"] == first["EventId"]
    assert "previous_id" not in first
    [event] = events_of(VARIED[1])
    assert event["c"]["_multi"][0] == {"action": "0", "_action": 0}
    assert "_label_cost" not in event


def test_an_event_of_vowpal_wabbit_is_an_episode_of_one_step(tmp_path):
    [episode], problems = kept(tmp_path, [DRINK])
    assert episode == LoggedEpisode(
        "e11",
        "Visit.part=evening, Visit.sky=grey",
        (LoggedStep("start", "green tea", ("cocoa", "juice", "water", "green tea"), 0.05),),
        0.0,
        "2026-02-04T16:31:29.5000000Z",
    )
    assert problems.total == 0


def test_cost_is_feedback_or_reward_only_if_asked(tmp_path):
    event = without(DRINK, "o", _label_cost=-1)
    [episode], problems = kept(tmp_path, [event])
    assert (episode.feedback, problems.total) == (None, 0)  # nobody said anything
    [episode], _ = kept(tmp_path, [event], feedback_from="cost")
    assert (episode.feedback, episode.reward) == (-1.0, None)
    [episode], _ = kept(tmp_path, [DRINK], reward_from="cost")
    assert (episode.feedback, episode.reward) == (0.0, 0.0)


def test_an_activation_is_no_feedback(tmp_path):
    event = without(DRINK, o=[{"v": 0.0, "ActionTaken": True}, {"v": 0.7}, {"v": 0.1}])
    [episode], _ = kept(tmp_path, [event])
    assert episode.feedback == 0.7


def test_actions_of_one_name_are_one(tmp_path):
    shared = {"age": 41, "plan": {"vip": True}}
    event = without(DRINK, c=shared | {"_multi": [{"_tag": tag} for tag in "abab"]}, o=[{"v": "ah"}])
    [episode], _ = kept(tmp_path, [event])
    assert episode.context == {"age": 41, "plan.vip": True}
    assert episode.steps[0].actions == ("a", "b")
    assert episode.steps[0].probability == pytest.approx(0.05 + 0.1)  # actions 4 and 2


def test_an_event_with_little_is_read_too(tmp_path):
    event = {"_label_cost": 1, "_label_probability": 0.5, "_label_Action": 2, "c": {"_multi": [{}, {}]}}
    [episode], _ = kept(tmp_path, [event], feedback_from="cost")
    assert (episode.episode, episode.context, episode.steps) == (
        "events.dsjson:1",
        "(none)",
        (LoggedStep("start", "action 2", ("action 1", "action 2"), 0.5),),
    )


@pytest.mark.parametrize(
    ("event", "rule"),
    [
        ("{", "not-json"),
        ("[]", "not-an-event"),
        (without(DRINK, "c"), "not-an-event"),
        (without(DRINK, _skipLearn=True), "not-activated"),
        (without(DRINK, c=DRINK["c"] | {"_slots": [{}]}), "several-slots"),
        (without(DRINK, c={"_multi": []}), "no-actions"),
        (without(DRINK, _label_Action=5), "bad-action"),
        (without(DRINK, _labelIndex=0), "bad-action"),
        (without(DRINK, a=[4, 9, 1, 2]), "bad-action"),
        (without(DRINK, p=[0.5]), "bad-probability"),
        (without(DRINK, p=[0.0, 0.5, 0.25, 0.25]), "bad-probability"),
        (without(DRINK, "o", episode_id="e"), "no-feedback"),
        (without(DRINK, o=[{"v": {"mood": "good"}}]), "bad-feedback"),
        (without(DRINK, previous_id="e10"), "bad-link"),
        (without(DRINK, "EventId", episode_id="e"), "bad-link"),
        (without(DRINK, episode_id=["e"]), "bad-link"),
    ],
)
def test_broken_lines_are_told_and_the_rest_goes_on(tmp_path, event, rule):
    found, problems = kept(tmp_path, [DRINK, event, DRINK | {"EventId": "e12"}])
    assert len(found) == 2
    assert problems.by_rule == {rule: 1}
    assert problems.first[0].line == 2
    with pytest.raises(LogError, match="line 2"):
        read(tmp_path / "events.dsjson", Problems(strict=True))


def interleaved(n):
    """The events of n episodes of three steps, first all first ones, then all second ones, then all third ones."""
    episodes = [replace(PLAIN, episode=f"e{k}") for k in range(n)]
    return episodes, [event for level in zip(*map(events_of, episodes), strict=True) for event in level]


@pytest.mark.parametrize("own", [True, False])
def test_events_of_several_episodes_may_interleave_in_any_order(tmp_path, own):
    episodes, events = interleaved(5)
    if not own:
        events = [without(event, "tacit", p=event.get("p", [1.0])) for event in events]
    found, problems = kept(tmp_path, reversed(events))
    assert problems.total == 0
    assert {e.episode: e.feedback for e in found} == {e.episode: e.feedback for e in episodes}
    assert all([s.action for s in e.steps] == ["ask", "book", "thank"] for e in found)
    assert not own or sorted(found, key=lambda e: e.episode) == episodes


def test_linked_events_with_features_have_them_as_states(tmp_path):
    first = without(DRINK, "o", episode_id="e", EventId="1")
    then = without(DRINK, episode_id="e", EventId="2", previous_id="1", c=DRINK["c"] | {"Visit": {"hour": 9}})
    [episode], _ = kept(tmp_path, [then, first])
    assert [step.state for step in episode.steps] == ["start", {"Visit.hour": 9}]
    assert episode.context == "Visit.part=evening, Visit.sky=grey"


@pytest.mark.parametrize(
    ("lost", "own", "rule"),
    [(0, True, "broken-chain"), (1, True, "broken-chain"), (2, True, "incomplete-episode"),
     (1, False, "broken-chain"), (2, False, "no-feedback")],
)  # fmt: skip
def test_an_episode_that_lacks_an_event_is_told(tmp_path, lost, own, rule):
    _, events = interleaved(2)
    del events[2 * lost]  # of the first episode
    found, problems = kept(tmp_path, events if own else [without(event, "tacit") for event in events])
    assert [episode.episode for episode in found] == ["e1"]
    assert problems.by_rule == {rule: 1}
    assert problems.first[0].line == (2 if lost == 0 else 1)


def test_a_repeated_event_is_told_and_the_episode_kept(tmp_path):
    _, events = interleaved(1)
    found, problems = kept(tmp_path, [events[0], *events])
    assert len(found) == 1
    assert (problems.by_rule, problems.first[0].line) == ({"repeated-event": 1}, 2)


def test_the_window_bounds_what_is_waited_for(tmp_path):
    _, events = interleaved(50)
    found, problems = kept(tmp_path, events, window=50)
    assert len(found) == 50
    found, problems = kept(tmp_path, [without(event, "tacit") for event in events], window=20)
    assert found == []
    assert problems.total == 150  # nothing is dropped without a word
    assert problems.by_rule == {"no-feedback": 50, "broken-chain": 100}


def test_a_whole_episode_waits_for_no_window(tmp_path):
    path = write_lines(tmp_path / "events.dsjson", [*events_of(PLAIN), *["{"] * 5])
    events = read_dsjson(path, problems=Problems())
    assert next(events).episode == "a7"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labelled")
    with LogWriter(folder / "logs.jsonl") as writer:
        for n in range(6):
            writer.write(replace(PLAIN, episode=n, reward=None))
    decoded = [(0, 1.0, 0.99, "decoded"), (1, 0.0, 0.9, "decoded"), (2, None, 0.0, "uncertain"),
               (3, 0.25, 0.95, "homogeneous"), (5, 1.0, 0.6, "decoded")]  # fmt: skip
    keys = ("episode", "decoded_reward", "confidence", "reason")
    write_lines(folder / "labels.jsonl", [dict(zip(keys, row, strict=True)) for row in decoded])
    return folder


def test_rewards_for_trl(folder, tmp_path):
    done = convert(folder / "logs.jsonl", tmp_path / "d", "trl-reward", folder / "labels.jsonl")
    assert (done.episodes, done.rows, done.form) == (6, 3, "text")
    assert done.left_out == {"uncertain": 1, "no label": 1, "confidence below 0.8": 1}
    data = datasets.load_from_disk(str(tmp_path / "d"))
    assert data.column_names == ["prompt", "completion", "reward"]
    assert data["reward"][:] == [1.0, 0.0, 0.25]
    assert data[0]["prompt"].startswith("context: new customer\nstate: start\naction: ask\n")
    assert data[0]["prompt"].endswith("state: booked\naction:")
    assert data[0]["completion"] == " thank"
    assert "lovely" not in data[0]["prompt"]
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_preferences_for_trl(folder, tmp_path):
    export = Export(form="conversational", every_step=True, min_confidence=0.5)
    done = convert(folder / "logs.jsonl", tmp_path / "d", "trl-kto", folder / "labels.jsonl", export=export)
    assert (done.rows, done.left_out) == (9, {"uncertain": 1, "homogeneous": 1, "no label": 1})
    data = datasets.load_from_disk(str(tmp_path / "d"))
    assert data["label"][:] == [True] * 3 + [False] * 3 + [True] * 3
    assert data[1] == {
        "prompt": [
            {"role": "system", "content": "new customer"},
            {"role": "user", "content": "start"},
            {"role": "assistant", "content": "ask"},
            {"role": "user", "content": "asked"},
        ],
        "completion": [{"role": "assistant", "content": "book"}],
        "label": True,
    }


def test_sentences_become_a_conversation_and_other_values_text(tmp_path):
    steps = (LoggedStep("Hello, I am hungry.", "What would you like?"),)
    with LogWriter(tmp_path / "logs.jsonl") as writer:
        writer.write(LoggedEpisode(1, {"age": 41}, steps, "Thanks!"))
    row = {"episode": 1, "decoded_reward": 1, "confidence": 1, "reason": "decoded"}
    labels = write_lines(tmp_path / "labels.jsonl", [row])
    assert convert(tmp_path / "logs.jsonl", tmp_path / "d", "trl-kto", labels).form == "conversational"
    [found] = datasets.load_from_disk(str(tmp_path / "d"))
    assert found["prompt"][0]["content"] == '{"age":41}'


def test_labels_give_events_their_cost(folder, tmp_path):
    done = convert(folder / "logs.jsonl", tmp_path / "e.dsjson", "dsjson", folder / "labels.jsonl")
    events = [json.loads(line) for line in (tmp_path / "e.dsjson").read_text().splitlines()]
    assert [event.get("_label_cost") for event in events[::3]] == [-1.0, 0.0, None, -0.25, None, None]
    assert sum(done.left_out.values()) == 6  # the last step has no probability, so all are told of
    assert list(read_dsjson(tmp_path / "e.dsjson")) == list(read_logs(folder / "logs.jsonl"))


def test_labels_of_other_logs_are_refused_and_nothing_is_written(folder, tmp_path):
    rows = (folder / "labels.jsonl").read_text().splitlines()
    labels = write_lines(tmp_path / "labels.jsonl", reversed(rows))
    with pytest.raises(LogError, match="in their order"):
        convert(folder / "logs.jsonl", tmp_path / "d", "trl-kto", labels)
    write_lines(labels, ['{"episode": 0}'])
    with pytest.raises(LogError, match="a label must be a row"):
        convert(folder / "logs.jsonl", tmp_path / "d", "trl-kto", labels)
    assert [path.name for path in tmp_path.iterdir()] == ["labels.jsonl"]


def test_no_row_no_dataset(folder, tmp_path):
    with pytest.raises(LogError, match="must have rows"):
        convert(
            folder / "logs.jsonl",
            tmp_path / "d",
            "trl-kto",
            folder / "labels.jsonl",
            export=Export(min_confidence=1.0),
        )
    assert list(tmp_path.iterdir()) == []


def test_without_datasets_it_is_said_what_to_install(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(LogError, match=r"install tacit\[trl\]"):
        convert(folder / "logs.jsonl", tmp_path / "d", "trl-kto", folder / "labels.jsonl")


def run(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def test_the_command_says_what_came_of_it(folder, tmp_path):
    events = write_lines(tmp_path / "day.json", [*events_of(PLAIN), DRINK, "{"])
    said = run("convert", events, tmp_path / "logs.jsonl", "--to", "logs")
    assert "2 episodes read, 2 rows written." in said
    assert "1 episodes set aside (not-json: 1)" in said
    assert json.loads((tmp_path / "day.json.rejected.jsonl").read_text())["line"] == 5
    run("convert", events, tmp_path / "strict.jsonl", "--to", "logs", "--strict", code=1)
    assert not (tmp_path / "strict.jsonl").exists()
    labels = ("--labels", folder / "labels.jsonl")
    said = run("convert", folder / "logs.jsonl", tmp_path / "d", "--to", "trl-kto", *labels)
    assert "6 episodes read, 2 rows written, text. 4 episodes left out (uncertain: 1," in said
    said = run("convert", folder / "logs.jsonl", tmp_path / "e.dsjson", "--to", "dsjson")
    assert "6 episodes without a cost to learn from (no reward known: 6)." in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("LOGS", "x", "--to", "csv"), "must be one of"),
        (("LOGS", "x", "--to", "logs", "--from", "csv"), "must be one of"),
        (("LOGS", "x", "--to", "trl-kto"), "needs labels"),
        (("LOGS", "x.jsonl", "--to", "logs", "--labels", "LABELS"), "not part of logs"),
        (("gone.dsjson", "x.jsonl", "--to", "logs"), "there is no file"),
        (("LOGS", "FOLDER", "--to", "trl-kto", "--labels", "LABELS"), "must go to a new directory"),
        (
            ("LOGS", "x", "--to", "trl-kto", "--labels", "LABELS", "--form", "verse"),
            "the form must be one of",
        ),
        (("LOGS", "x", "--to", "trl-kto", "--labels", "LABELS", "--min-confidence", "2"), "in [0, 1]"),
        (("LOGS", "x", "--to", "dsjson", "--window", "0"), "at least 1 event"),
        (("LOGS", "x", "--to", "dsjson", "--feedback-from", "o"), "feedback comes from"),
        (("LOGS", "x", "--to", "dsjson", "--reward-from", "o"), "a reward comes from"),
    ],
)
def test_errors_say_what_to_do(folder, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    places = {"LOGS": folder / "logs.jsonl", "LABELS": folder / "labels.jsonl", "FOLDER": folder}
    assert message in run("convert", *(places.get(word, word) for word in words), code=1)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_stands_for_its_files(tmp_path):
    write_lines(tmp_path / "a.dsjson", [DRINK])
    write_lines(tmp_path / "b.json", [DRINK | {"EventId": "e12"}])
    write_lines(tmp_path / "a.rejected.jsonl", ["{"])
    assert len(read(tmp_path)) == 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(LogError, match="there are no events"):
        read(tmp_path / "empty")


def test_a_conversion_tells_of_every_episode(tmp_path):
    told = []
    with LogWriter(tmp_path / "logs.jsonl") as writer:
        for episode in draw_logs(synthetic_mdp(), 7, seed=0):
            writer.write(episode)
    done = convert(tmp_path / "logs.jsonl", tmp_path / "out.dsjson", "dsjson", progress=told.append)
    assert sum(told) == done.episodes == 7


def test_a_chain_of_others_says_silence_by_an_empty_list_of_outcomes(tmp_path):
    first = without(DRINK, "o", episode_id="e", EventId="1")
    last = without(DRINK, episode_id="e", EventId="2", previous_id="1", o=[])
    [episode], problems = kept(tmp_path, [first, last])
    assert (episode.feedback, len(episode.steps), problems.total) == (None, 2, 0)


def test_a_conversion_tells_how_many_are_silent(tmp_path):
    path = write_lines(tmp_path / "events.dsjson", [without(DRINK, "o"), DRINK | {"EventId": "e12"}])
    assert convert(path, tmp_path / "logs.jsonl", "logs").silent == 1
    write_lines(path, [without(DRINK, "o")])
    said = CliRunner().invoke(app, ["convert", str(path), str(tmp_path / "all.jsonl"), "--to", "logs"]).output
    assert "1 episodes have no feedback, which is silence; where events have a cost" in " ".join(said.split())

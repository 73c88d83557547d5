"""`tacit reproduce booking` end to end on few dialogues, with an encoder that needs no model."""

import csv
import io
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console
from text_samples import HashingEncoder, shop
from typer.testing import CliRunner

from tacit.cli.main import app
from tacit.engines.local import Failure
from tacit.envs.booking import BookingEnv
from tacit.envs.dialogues import write_dialogues
from tacit.experiments import booking_figure, run
from tacit.experiments.booking_encoding import choices_of, encode_dialogues
from tacit.experiments.booking_figure import (
    BUDGETS,
    LARGE_MODEL_LEARNERS,
    BookingFigure,
    Options,
    Supply,
    order_booking,
    write_arguments,
)
from tacit.experiments.booking_summary import BOOKING_SCALARS, chance_of, summarise_booking
from tacit.experiments.booking_task import (
    EXAMPLES,
    as_counted,
    count_decoding,
    play_booking,
    simulate,
    spread_out,
)
from tacit.experiments.figures import TABULAR
from tacit.experiments.learners import TEXT_LEARNERS
from tacit.experiments.manifest import describe
from tacit.experiments.publish import FILES
from tacit.experiments.run import Request, perform
from tacit.experiments.tasks import Task, expand
from tacit.simulate import Trace
from tacit.text.causal import presets
from tacit.text.small import model as small

QUIET = Console(file=io.StringIO())
FEW = pytest.mark.filterwarnings("ignore:the feedback is not shown to be more than noise")
"""So few conversations may well say nothing; what an agent says then is tested with the agent."""


@pytest.fixture
def encoder(tmp_path, monkeypatch):
    """Let the small model read with a hashing encoder, and tasks run in this process, where it is known."""
    stand_in = HashingEncoder()
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TACIT_DATA", str(tmp_path / "no-data"))
    monkeypatch.setattr(small, "bundled_encoder", lambda: stand_in)
    monkeypatch.setattr(run, "perform_all", perform_here)
    return stand_in


def perform_here(tasks, work, jobs, listener):
    failures = []
    for task in tasks:
        failure = None
        try:
            work(task, lambda amount, stage, task=task: listener.advanced(task, amount, stage))
        except Exception as error:
            failure = Failure(task, str(error), "")
            failures.append(failure)
        listener.ended(task, failure)
    return failures


@pytest.fixture
def brief(monkeypatch):
    """Make the budget of the small model brief."""
    budget = BUDGETS["small"]._replace(exploration=80, learning=60, least_exploration=40, least_learning=30)
    monkeypatch.setattr(booking_figure, "BUDGETS", {**BUDGETS, "small": budget})


@pytest.fixture
def talks(tmp_path):
    path = tmp_path / "talks.jsonl"
    write_dialogues(path, shop(100))
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def said(result):
    return " ".join(re.split(r"[\s│]+", result.output))  # messages stand wrapped in a box


def read_summary(out):
    return json.loads((out / "booking" / "summary.json").read_text())


@FEW
def test_a_file_of_dialogues_end_to_end(encoder, brief, talks, tmp_path):
    result = invoke("booking", "--dialogues", talks, "--seeds", 2, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    directory = tmp_path / "out" / "booking"
    assert {path.name for path in directory.iterdir()} == {*FILES, "runs"}
    summary = read_summary(tmp_path / "out")
    check_summary(summary)
    assert (summary["source"], summary["dialogues"], summary["setting"]) == ("talks.jsonl", 100, "dialogues")
    assert summary["notes"] == ["140 episodes pass through the 100 dialogues 1.4 times"]
    assert summary["learners"]["oracle_reward"]["average_reward"]["mean"] > 0.6
    assert "100 dialogues from talks.jsonl" in said(result)
    assert "12 runs computed" in result.output
    check_page((directory / "report.html").read_text(), tmp_path)
    check_curves(directory / "curves.csv")
    check_manifest(directory / "manifest.json", tmp_path)
    with Image.open(directory / "figure.png") as picture:
        pixels = np.asarray(picture.convert("L"))
    assert 0.01 < np.mean(pixels < 250) < 0.9


def check_summary(summary):
    assert list(summary["learners"]) == list(TEXT_LEARNERS)
    assert summary["uniform_value"] == pytest.approx(1 / 15)
    assert (summary["optimal_value"], summary["published_reward"]) == (1.0, 0.95)
    for learner in summary["learners"].values():
        assert set(learner) == {*BOOKING_SCALARS, "episodes_per_second"}
        assert learner["exploration_episodes"]["mean"] == summary["exploration"] == 80
        for interval in learner.values():
            assert set(interval) == {"mean", "low", "high"}
    assert summary["learners"]["uniform"]["average_decoded_reward"]["mean"] is None


def check_page(page, directory):
    text = re.sub(r"data:image/png;base64,[^\"]*", "", page)
    assert "http" not in text
    assert "<script" not in text
    assert str(directory) not in text
    assert "100 dialogues from talks.jsonl" in text
    assert all(f">{learner}<" in text for learner in TEXT_LEARNERS)
    assert text.count('<article class="talk">') == EXAMPLES
    assert text.count("known to the simulator only") == EXAMPLES
    assert re.search(r"i need paint for room \d.*one tin of \w+ paint", text, re.DOTALL)
    assert re.search(r"\d+ % sure", text)
    assert "0.95" in text


def check_curves(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["learner"] for row in rows} == set(TEXT_LEARNERS)
    assert {row["episode"] for row in rows} == {str(n) for n in range(1, 61)}
    assert {row["variant"] for row in rows} == {"dialogues"}


def check_manifest(path, directory):
    text = path.read_text()
    assert str(directory) not in text
    manifest = json.loads(text)
    assert manifest["command"] == "tacit reproduce booking --dialogues talks.jsonl --seeds 2"
    assert (manifest["source"], manifest["dialogues"]) == ("talks.jsonl", 100)


@FEW
def test_a_second_call_computes_only_what_is_missing_and_reads_nothing_again(encoder, brief, talks, tmp_path):
    arguments = ("booking", "--dialogues", talks, "--seeds", 1, "--out", tmp_path)
    assert invoke(*arguments).exit_code == 0
    first, calls = read_summary(tmp_path), encoder.calls
    next((tmp_path / "booking" / "runs").glob("dialogues-tacit-*")).unlink()
    result = invoke(*arguments)
    assert "1 runs computed, 5 taken from before" in result.output
    assert encoder.calls == calls
    again = read_summary(tmp_path)
    for summary in (first, again):
        del summary["learners"]["tacit"]["episodes_per_second"]
    assert again == first


@FEW
def test_tasks_find_everything_encoded(encoder, brief, talks, tmp_path):
    figure = order_booking(Options(dialogues=talks)).scaled(1.0)
    tasks = expand(figure, 1)
    encode_dialogues(figure, tasks, QUIET)
    calls = encoder.calls
    assert calls > 0
    for task in tasks:
        play_booking(figure, task, lambda amount, stage: None)
    assert encoder.calls == calls


@FEW
def test_an_interrupted_encoding_goes_on_where_it_stopped(encoder, brief, talks, monkeypatch, tmp_path):
    figure = order_booking(Options(dialogues=talks)).scaled(1.0)
    tasks, prepare, calls = expand(figure, 1), small.SmallModel.prepare, []

    def interrupted(model, pairs, feedback, progress):
        calls.append(len(pairs))
        if len(calls) == 2:
            raise KeyboardInterrupt
        prepare(model, pairs, feedback, progress)

    monkeypatch.setattr(small.SmallModel, "prepare", interrupted)
    with pytest.raises(KeyboardInterrupt):
        encode_dialogues(figure, tasks, QUIET)
    done = encoder.calls
    monkeypatch.setattr(small.SmallModel, "prepare", prepare)
    encode_dialogues(figure, tasks, QUIET)
    resumed = encoder.calls - done
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "another"))
    encode_dialogues(figure, tasks, QUIET)
    whole = encoder.calls - done - resumed
    assert 0 < resumed < whole


def test_ctrl_c_ends_with_its_own_code(encoder, brief, talks, monkeypatch, tmp_path):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(small.SmallModel, "prepare", interrupt)
    result = invoke("booking", "--dialogues", talks, "--out", tmp_path)
    assert result.exit_code == 130
    assert "give the same command to go on" in said(result)


@FEW
def test_generated_dialogues_where_there_are_no_corpora(encoder, tmp_path):
    result = invoke("booking", "--fraction", 0.02, "--seeds", 1, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    summary = read_summary(tmp_path)
    assert (summary["source"], summary["setting"], summary["dialogues"]) == ("generated", "hard", 250)
    assert (summary["exploration"], summary["learning_episodes"]) == (150, 100)
    assert [note.split(",")[0] for note in summary["notes"]] == [
        "0.02 of 500 exploration episodes would be 10",
        "0.02 of 3",
    ]
    page = (tmp_path / "booking" / "report.html").read_text()
    for note in summary["notes"]:
        assert note in page
    assert "own generator" in page
    assert "own generator" in said(result)
    assert json.loads((tmp_path / "booking" / "manifest.json").read_text())["source"] == "generated"


@FEW
def test_all_settings_stand_under_variants(encoder, brief, tmp_path):
    result = invoke("booking", "--setting", "all", "--seeds", 1, "--fraction", 0.5, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    summary = read_summary(tmp_path)
    assert list(summary["variants"]) == ["paper", "hard", "personal"]
    assert "learners" not in summary
    assert all(list(part["learners"]) == list(TEXT_LEARNERS) for part in summary["variants"].values())
    page = (tmp_path / "booking" / "report.html").read_text()
    assert page.count('<article class="talk">') == 3 * EXAMPLES
    assert "About the person" in page


@FEW
def test_a_broken_line_is_named_and_left_out_only_on_request(encoder, brief, talks, tmp_path):
    lines = talks.read_text().splitlines()
    lines[2] = '{"id": "no request"}'
    talks.write_text("\n".join(lines))
    refused = invoke("booking", "--dialogues", talks, "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert "line 3: a dialogue needs the key `request`" in said(refused)
    assert not (tmp_path / "out").exists()
    options = ("--skip-broken", "--seeds", 1, "--fraction", 0.5, "--out", tmp_path / "out")
    result = invoke("booking", "--dialogues", talks, *options)
    assert result.exit_code == 0, result.output
    (note,) = (note for note in read_summary(tmp_path / "out")["notes"] if "broken" in note)
    assert note.startswith("1 broken line was left out of talks.jsonl; the first is line 3: a dialogue needs")
    assert "1 broken line was left out" in said(result)


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("synthetic", "--model", "small"), "--model is an option of the figure booking"),
        (("regret", "--setting", "hard"), "--setting is an option of the figure booking"),
        (("decoder", "--data", "d"), "--data is an option of the figure booking"),
        (("variants", "--dialogues", "f"), "--dialogues is an option of the figure booking"),
        (("variants", "--skip-broken"), "--skip-broken is an option of the figure booking"),
        (
            ("booking", "--setting", "easy"),
            "must be one of paper, hard, personal, got 'easy'; `all` runs all",
        ),
        (("booking", "--setting", "hard", "--dialogues", "f"), "got --setting too"),
        (("booking", "--skip-broken"), "add --dialogues"),
        (("booking", "--dialogues", "nowhere.jsonl"), "must be readable"),
        (("booking", "--data", "nowhere"), "tacit data booking"),
        (("booking", "--model", "huge"), "--model is 'small' or a language model"),
        (("booking", "--fraction", 2), "(0, 1]"),
    ],
)
def test_wrong_options_are_refused(encoder, arguments, rule, tmp_path):
    result = invoke(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert rule in said(result)
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


def test_the_papers_models_are_refused_before_anything_is_read(encoder, talks, monkeypatch, tmp_path):
    monkeypatch.setattr(presets, "find_memory", lambda: presets.Found((), 8.0))
    result = invoke("booking", "--model", "paper", "--dialogues", talks, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "There is no GPU" in said(result)
    assert "Qwen2.5-7B-Instruct needs" in said(result)
    assert "Traceback" not in result.output
    assert encoder.calls == 0
    assert not (tmp_path / "out").exists()


def test_a_language_model_plays_beside_the_small_one(monkeypatch):
    monkeypatch.setattr(booking_figure, "check_model", lambda model: None)
    figure = order_booking(Options(model="smol"))
    assert (figure.names, figure.seeds) == (LARGE_MODEL_LEARNERS, 1)
    scaled = figure.scaled(1.0)
    assert (scaled.settings.exploration, scaled.episodes, scaled.size) == (96, 160, 256)
    models = {name: scaled.settings_of(name).model for name in scaled.names}
    assert models == {"tacit": "smol", "tacit_small": "small", "uniform": "small"}
    assert len({task.fingerprint for task in expand(scaled, 1)}) == 3


def test_failures_keep_the_rest(encoder, brief, talks, tmp_path):
    figure = replace(order_booking(Options(dialogues=talks)), learners=("uniform", "nobody"))
    runs = perform(Request(figure, tmp_path, seeds=1), QUIET)
    assert [task.learner for task in runs.results] == ["uniform"]
    assert "there is no text learner 'nobody'" in runs.failures[0].reason


def test_the_budget_is_one_pass_and_scales_with_its_dialogues():
    figure = BookingFigure(supply=Supply("a file", dialogues=shop(3768)))
    whole, part = figure.scaled(1.0), figure.scaled(0.5)
    assert (whole.settings.exploration, whole.episodes, whole.size, whole.notes) == (500, 3268, 3768, ())
    assert (part.settings.exploration, part.episodes, part.size, part.notes) == (250, 1634, 1884, ())
    assert set(part.dialogues["hard"]) < set(whole.dialogues["hard"])
    small_file = BookingFigure(supply=Supply("a file", dialogues=shop(200))).scaled(1.0)
    assert (small_file.settings.exploration, small_file.episodes, small_file.size) == (500, 500, 200)
    assert "5.0 times" in small_file.notes[0]


def test_fingerprints_follow_from_all_that_decides():
    figure = BookingFigure(supply=Supply("a file", dialogues=shop(50))).scaled(0.3)
    other = BookingFigure(supply=Supply("a file", dialogues=shop(51))).scaled(0.3)
    wider = replace(figure, settings=replace(figure.settings, gamma_scale=2.0))
    longer = replace(figure, episodes=figure.episodes + 1)
    tasks = [task for each in (figure, other, wider, longer) for task in expand(each, 2)]
    assert len({task.fingerprint for task in tasks}) == len(tasks) == 4 * 2 * len(TEXT_LEARNERS)
    assert expand(figure, 1) == expand(figure, 1)


def test_scalars_by_hand():
    trace = as_counted(Trace([0.0, 1.0, 1.0, 0.0], [np.nan, 0.5, 1.0, 0.25], [], [True] * 4), exploration=1)
    assert trace.regrets == [1.0, 0.0, 0.0, 1.0]
    assert trace.exploring == [True, False, False, False]
    assert count_decoding(trace) == {
        "last_500_reward": pytest.approx(2 / 3),
        "decoded_rewarded": 0.75,
        "decoded_unrewarded": 0.25,
    }
    silent = as_counted(Trace([1.0, 1.0], [np.nan, np.nan], [], [True, True]), exploration=1)
    assert count_decoding(silent)["decoded_rewarded"] is None
    assert count_decoding(silent)["decoded_unrewarded"] is None


@FEW
def test_examples_show_every_stage(encoder, brief, talks):
    figure = order_booking(Options(dialogues=talks)).scaled(1.0)
    result, _ = play_booking(figure, Task("dialogues", "tacit", 0, ""), lambda amount, stage: None)
    examples = result["examples"]
    assert len(examples) == EXAMPLES
    assert [one["episode"] for one in examples] == sorted({one["episode"] for one in examples})
    assert {one["stage"] for one in examples} == {"exploration", "policy learning"}
    assert {one["reward"] for one in examples} == {0.0, 1.0}
    for one in examples:
        assert one["reward"] == (one["right_question"] and one["right_booking"])
        assert 0 <= one["decoded"] <= 1
        assert 0.5 <= one["confidence"] <= 1
    judged, _ = play_booking(figure, Task("dialogues", "oracle_reward", 0, ""), lambda amount, stage: None)
    assert all(one["confidence"] is None for one in judged["examples"])
    assert all(one["decoded"] == one["reward"] for one in judged["examples"])
    assert all(not one["feedback"].startswith("reward") for one in judged["examples"])


def test_all_learners_of_a_seed_explore_alike(encoder, brief, talks):
    figure = order_booking(Options(dialogues=talks)).scaled(1.0)
    explored = []
    for name in ("tacit", "oracle_reward", "uniform"):
        seen = []
        simulate(figure, "dialogues", name, 0, seen).run(20)
        explored.append([(one.dialogue, one.feedback, one.episode.actions) for one in seen])
    assert explored[0] == explored[1] == explored[2]


def test_choices_cover_what_an_episode_meets():
    (dialogue,) = shop(1)
    pairs = choices_of(dialogue)
    assert len(pairs) == 1 + len(dialogue.questions)
    env = BookingEnv([dialogue])
    observation, _ = env.reset(seed=0)
    assert pairs[0][1] == observation["actions"]
    for question, (conversation, bookings) in zip(dialogue.questions, pairs[1:], strict=True):
        env.reset(seed=0)
        observation, *_ = env.step(question.text)
        assert conversation.utterances == (dialogue.request, observation["state"])
        assert bookings == observation["actions"]


def test_chance_counts_every_right_candidate():
    assert chance_of(shop(3)) == pytest.approx(1 / 15)


def test_arguments_name_no_directory():
    options = Options(model="smol", dialogues=Path("/somewhere/talks.jsonl"), skip_broken=True)
    assert write_arguments(options) == " --model smol --dialogues talks.jsonl --skip-broken"
    assert options.given == ("--model", "--dialogues", "--skip-broken")
    assert "booking" not in TABULAR


def test_spread_takes_ends_and_no_more_than_there_is():
    assert spread_out([3, 5], 4) == [3, 5]
    assert spread_out([], 2) == []


def test_the_bundled_encoder_end_to_end(tmp_path, monkeypatch):
    """The real encoders and real worker processes, on very few dialogues."""
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TACIT_DATA", str(tmp_path / "no-data"))
    budget = BUDGETS["small"]._replace(exploration=16, learning=4, least_exploration=16, least_learning=4)
    monkeypatch.setattr(booking_figure, "BUDGETS", {**BUDGETS, "small": budget})
    result = invoke("booking", "--seeds", 1, "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    summary = read_summary(tmp_path)
    assert (summary["source"], summary["dialogues"]) == ("generated", 20)
    assert summary["learners"]["tacit"]["average_decoded_reward"]["mean"] is not None
    assert (tmp_path / "cache" / "encodings.sqlite").exists()


def test_manifest_and_summary_agree_on_where_dialogues_come_from(encoder, brief, talks, tmp_path):
    figure = replace(order_booking(Options(dialogues=talks)), learners=("uniform",))
    runs = perform(Request(figure, tmp_path, seeds=1), QUIET)
    summary, manifest = summarise_booking(runs), describe(runs)
    assert {key: manifest[key] for key in figure.origin} == {key: summary[key] for key in figure.origin}
    assert os.uname().nodename not in json.dumps(manifest)

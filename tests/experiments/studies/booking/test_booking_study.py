"""`tacit reproduce booking` end to end on few dialogues, with an encoder that needs no model."""

import csv
import json
import os
import re

import numpy as np
import pytest
from PIL import Image
from reproducing import FEW, invoke, read_summary, said
from study_samples import QUIET, resweep
from text_samples import shop

from tacit.experiments import catalogue
from tacit.experiments.manifest import describe_runs
from tacit.experiments.publish import FILES
from tacit.experiments.run import perform
from tacit.experiments.studies.booking import supply
from tacit.experiments.studies.booking.study import BOOKING
from tacit.experiments.studies.booking.summary import BOOKING_SCALARS, chance_of
from tacit.experiments.studies.booking.supply import BUDGETS
from tacit.experiments.studies.booking.task import EXAMPLES
from tacit.experiments.study import Request
from tacit.experiments.text_learners import TEXT_LEARNERS
from tacit.text.small import model as small


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


def test_failures_keep_the_rest(encoder, brief, talks, tmp_path):
    study = resweep(BOOKING.order({"dialogues": talks}), learners=("uniform", "nobody"))
    runs = perform(Request(study, tmp_path, seeds=1), QUIET)
    assert [task.learner for task in runs.results] == ["uniform"]
    assert "there is no text learner 'nobody'" in runs.failures[0].reason


def test_chance_counts_every_right_candidate():
    assert chance_of(shop(3)) == pytest.approx(1 / 15)


def test_the_bundled_encoder_end_to_end(tmp_path, monkeypatch):
    """The real encoders and real worker processes, on very few dialogues."""
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TACIT_DATA", str(tmp_path / "no-data"))
    budget = BUDGETS["small"]._replace(exploration=10, learning=2, least_exploration=10, least_learning=2)
    monkeypatch.setattr(supply, "BUDGETS", {**BUDGETS, "small": budget})
    monkeypatch.setattr(catalogue, "STUDIES", {"booking": resweep(BOOKING, learners=("tacit", "uniform"))})
    result = invoke("booking", "--seeds", 1, "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    summary = read_summary(tmp_path)
    assert (summary["source"], summary["dialogues"]) == ("generated", 12)
    assert (
        summary["learners"]["tacit"]["average_decoded_reward"]["mean"] is None
    )  # twelve episodes show nothing
    assert summary["learners"]["tacit"]["average_reward_all"]["mean"] is not None
    assert (tmp_path / "cache" / "encodings.sqlite").exists()


def test_manifest_and_summary_agree_on_where_dialogues_come_from(encoder, brief, talks, tmp_path):
    study = resweep(BOOKING.order({"dialogues": talks}), learners=("uniform",))
    runs = perform(Request(study, tmp_path, seeds=1), QUIET)
    summary, manifest, origin = runs.study.summarise(runs), describe_runs(runs), runs.study.origin
    assert {key: manifest[key] for key in origin} == {key: summary[key] for key in origin} == origin
    assert os.uname().nodename not in json.dumps(manifest)

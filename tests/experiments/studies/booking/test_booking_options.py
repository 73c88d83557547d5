"""The options of `tacit reproduce booking`, and the budgets that they give."""

from dataclasses import replace
from pathlib import Path

import pytest
from reproducing import FEW, invoke, read_summary, said
from study_samples import resweep
from text_samples import shop

from tacit.experiments.catalogue import STUDIES
from tacit.experiments.fingerprints import expand
from tacit.experiments.studies.booking import study as booking
from tacit.experiments.studies.booking.options import BookingOptions, write_arguments
from tacit.experiments.studies.booking.study import BOOKING, BookingStudy
from tacit.experiments.studies.booking.supply import LARGE_MODEL_LEARNERS, Supply
from tacit.experiments.text_learners import TEXT_LEARNERS
from tacit.text.causal import presets


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
        (("regret", "--setting", "hard"), "--setting is an option of the figures digits and booking"),
        (("decoder", "--data", "d"), "--data is an option of the figures booking and satisfaction"),
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
    monkeypatch.setattr(booking, "check_model", lambda model: None)
    study = BOOKING.order({"model": "smol"})
    assert (study.names, study.seeds) == (LARGE_MODEL_LEARNERS, 1)
    scaled = study.scaled(1.0)
    sweep = scaled.sweep
    assert (sweep.settings.exploration, sweep.episodes, sweep.size) == (500, 300, 800)
    models = {name: sweep.settings_of(name).model for name in scaled.names}
    assert models == {"tacit": "smol", "tacit_small": "small", "uniform": "small"}
    assert len({task.fingerprint for task in expand(scaled, 1)}) == 3


def test_the_budget_is_one_pass_and_scales_with_its_dialogues():
    study = BookingStudy(supply=Supply("a file", dialogues=shop(3768)))
    whole, part = study.scaled(1.0).sweep, study.scaled(0.5).sweep
    assert (whole.settings.exploration, whole.episodes, whole.size, whole.notes) == (500, 3268, 3768, ())
    assert (part.settings.exploration, part.episodes, part.size, part.notes) == (250, 1634, 1884, ())
    assert set(part.dialogues["hard"]) < set(whole.dialogues["hard"])
    small_file = BookingStudy(supply=Supply("a file", dialogues=shop(200))).scaled(1.0).sweep
    assert (small_file.settings.exploration, small_file.episodes, small_file.size) == (500, 500, 200)
    assert "5.0 times" in small_file.notes[0]


def test_fingerprints_follow_from_all_that_decides():
    study = BookingStudy(supply=Supply("a file", dialogues=shop(50))).scaled(0.3)
    other = BookingStudy(supply=Supply("a file", dialogues=shop(51))).scaled(0.3)
    wider = resweep(study, settings=replace(study.settings, gamma_scale=2.0))
    longer = resweep(study, episodes=study.sweep.episodes + 1)
    tasks = [task for each in (study, other, wider, longer) for task in expand(each, 2)]
    assert len({task.fingerprint for task in tasks}) == len(tasks) == 4 * 2 * len(TEXT_LEARNERS)
    assert expand(resweep(study, notes=("one",), source="elsewhere"), 1) == expand(study, 1)


def test_arguments_name_no_directory():
    options = BookingOptions(model="smol", dialogues=Path("/somewhere/talks.jsonl"), skip_broken=True)
    assert write_arguments(options) == " --model smol --dialogues talks.jsonl --skip-broken"
    assert BOOKING.options == ("model", "setting", "data", "dialogues", "skip_broken")
    assert [name for name, study in STUDIES.items() if study.options] == ["digits", "booking", "satisfaction"]

"""Every study on layered environments end to end, at a thousandth of its budget; text has tests of its own."""

import csv
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from study_samples import FRACTION, narrow, stay_here
from typer.testing import CliRunner

from tacit.cli.main import app
from tacit.decoding.posterior import METHODS
from tacit.experiments import catalogue
from tacit.experiments.catalogue import STUDIES
from tacit.experiments.fingerprints import expand
from tacit.experiments.manifest import git_commit
from tacit.experiments.publish import FILES
from tacit.experiments.summary import CURVES, SCALARS

TRIED = {
    "decoder": STUDIES["decoder"],
    "synthetic": STUDIES["synthetic"],
    "variants": narrow(STUDIES["variants"], "synthetic", "flipped"),
    "regret": narrow(STUDIES["regret"], "synthetic", "personal"),
    "exploration": narrow(STUDIES["exploration"], "balanced", "random_1000", learners=("tacit_fast",)),
    "digits": narrow(STUDIES["digits"], "digits", learners=("tacit", "feedback_as_reward", "uniform")),
}
"""Each as the command makes it, with fewer learners and environments where it has many."""
EVERY_STUDY = pytest.mark.parametrize("name", TRIED)
OWN = {"regret": {"slope"}, "exploration": {"share"}, "digits": {"held_out_reward"}}
"""What the learners of a study have beside the scalars."""


@pytest.fixture(scope="module")
def directory_of(tmp_path_factory):
    """Return a function that makes a study through the command line, once, and returns its directory."""
    out, made = tmp_path_factory.mktemp("results"), {}

    def make(name):
        if name not in made:
            options = ["--seeds", "2", "--fraction", str(FRACTION), "--out", str(out)]
            with pytest.MonkeyPatch.context() as patch:
                stay_here(patch)
                patch.setattr(catalogue, "STUDIES", TRIED)
                made[name] = CliRunner().invoke(app, ["reproduce", name, *options])
        assert made[name].exit_code == 0, made[name].output
        return out / name

    return make


def test_every_study_is_tried():
    assert {*TRIED, "booking", "satisfaction"} == set(STUDIES)


@EVERY_STUDY
def test_every_task_of_the_whole_study_can_begin(name):
    study = STUDIES[name]
    tasks = expand(study, 1)
    assert len(tasks) == len(study.variants) * len(study.names)
    assert len({task.fingerprint for task in tasks}) == len(tasks)
    assert all(study.expect(task) > 0 for task in tasks)


@EVERY_STUDY
def test_all_files_are_written(directory_of, name):
    directory = directory_of(name)
    assert {path.name for path in directory.iterdir()} == {*FILES, "runs"}
    assert not list(directory.glob("**/*.part"))


@EVERY_STUDY
def test_summary_has_every_key(directory_of, name):
    summary = json.loads((directory_of(name) / "summary.json").read_text())
    assert (summary["figure"], summary["seeds"], summary["fraction"]) == (name, 2, FRACTION)
    assert summary["settings"]["decoder"] == {"theta": 0.9, "M": 1.3, "c": 0.0, "kappa": None}
    if name == "decoder":
        return check_decoder_summary(summary)
    study = TRIED[name].scaled(FRACTION)
    several = len(study.variants) > 1
    assert ("learners" in summary, "variants" in summary) == (not several, several)
    parts = summary["variants"] if several else {name: summary}
    assert list(parts) == list(study.variants)
    for variant, part in parts.items():
        assert part["optimal_value"] == pytest.approx(0.729) or variant.startswith("random")
        assert list(part["learners"]) == list(study.names)
        for learner in part["learners"].values():
            check_learner_summary(learner, OWN.get(name, set()))
    return None


def check_learner_summary(learner, own):
    assert set(learner) == {*SCALARS, "episodes_per_second", *own}
    for interval in learner.values():
        assert set(interval) == {"mean", "low", "high"}
        if interval["mean"] is not None:
            assert interval["low"] <= interval["mean"] <= interval["high"]


def check_decoder_summary(summary):
    assert summary["illustration"]["kappa_formula"] == pytest.approx(2 / 15)
    assert list(summary["posteriors"]) == list(METHODS)
    for row in summary["posteriors"].values():
        assert set(row) == {"decoded_rewarded", "decoded_unrewarded"}
        assert list(row["decoded_rewarded"]) == ["20"]


@EVERY_STUDY
def test_curves_parse(directory_of, name):
    with open(directory_of(name) / "curves.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    study = TRIED[name].scaled(FRACTION)
    assert {row["variant"] for row in rows} == set(study.variants)
    assert {row["learner"] for row in rows} == set(study.names)
    assert {row["seed"] for row in rows} == {"0", "1"}
    assert list(rows[0]) == ["variant", "learner", "seed", *study.columns]
    if study.columns == CURVES:
        assert all(row["average_decoded_reward"] == "" for row in rows if row["learner"] == "uniform")
        assert all(0 <= float(row["average_reward"]) <= 1 for row in rows)


def test_columns_stay_as_they_are():
    assert STUDIES["decoder"].columns == ("tuples", "rewarded", "unrewarded")
    assert CURVES == ("episode", "average_reward", "average_decoded_reward", "regret")
    assert STUDIES["satisfaction"].columns == ("kept", "rewarded")
    others = {name: study for name, study in STUDIES.items() if name not in ("decoder", "satisfaction")}
    assert all(study.columns == CURVES for study in others.values())


@EVERY_STUDY
def test_report_stands_alone(directory_of, name):
    page = (directory_of(name) / "report.html").read_text()
    references = re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)|url\(([^)]*)\)""", page)
    assert references
    assert all("".join(reference).startswith("data:") for reference in references)
    text = re.sub(r"data:image/png;base64,[^\"]*", "", page)
    assert "http" not in text
    assert "<script" not in text
    study = TRIED[name].scaled(FRACTION)
    assert all(f">{learner}<" in text for learner in study.names)
    assert str(directory_of(name)) not in text
    assert all(f">{variant}<" in text for variant in study.variants if len(study.variants) > 1)


@EVERY_STUDY
def test_picture_is_not_blank(directory_of, name):
    with Image.open(directory_of(name) / "figure.png") as picture:
        pixels = np.asarray(picture.convert("L"))
    assert pixels.shape[1] >= 1600
    assert 0.01 < np.mean(pixels < 250) < 0.9


@EVERY_STUDY
def test_manifest_names_no_machine(directory_of, name):
    text = (directory_of(name) / "manifest.json").read_text()
    manifest = json.loads(text)
    assert manifest["command"] == f"tacit reproduce {name} --seeds 2 --fraction 0.001"
    assert {"python", "numpy", "numba", "torch", "tacit"} <= set(manifest["versions"])
    assert manifest["seeds"] == [0, 1]
    assert manifest["times"]["seconds"] > 0
    assert os.uname().nodename not in text
    assert str(Path.home()) not in text
    assert manifest["commit"] == git_commit()


def test_warnings_are_told_once_a_kind(directory_of):
    manifest = json.loads((directory_of("exploration") / "manifest.json").read_text())
    assert manifest["warnings"] == []  # no arm came to the end of its exploration
    reached, nothing, *_ = json.loads((directory_of("synthetic") / "manifest.json").read_text())["warnings"]
    assert re.search(r"^tacit on synthetic, seed 0: state 's3 good' was .* \(\d more like this\)$", reached)
    assert "tells no action from another" in nothing

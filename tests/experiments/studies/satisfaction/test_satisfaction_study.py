"""`tacit reproduce satisfaction`: whole and small, on dialogues of our own making."""

import csv
import json
import re

import numpy as np
import pytest
from PIL import Image
from rated_dialogues import write_part
from reproducing import FEW, invoke, said

from tacit.experiments.publish import FILES
from tacit.experiments.studies.satisfaction.scoring import SCALARS
from tacit.experiments.studies.satisfaction.study import SATISFACTION
from tacit.experiments.studies.satisfaction.task import LEARNERS, LEAST

pytestmark = FEW


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "rated"
    folder.mkdir()
    write_part(folder / "TOY.txt", dialogues=80)
    return folder


def test_it_is_made_whole_and_ratings_only_score(data, tmp_path, encoder):
    out = tmp_path / "results"
    write_part(data / "OTHER.txt", dialogues=80, seed=1)
    result = invoke("satisfaction", "--data", data, "--seeds", 2, "--fraction", 0.001, "--out", out)
    assert result.exit_code == 0, result.output
    directory = out / "satisfaction"
    assert {path.name for path in directory.iterdir()} == {*FILES, "runs"}
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["places"] == LEAST
    assert list(summary["variants"]) == ["OTHER", "TOY"]
    for part in summary["variants"].values():
        assert list(part["learners"]) == list(LEARNERS)
        for row in part["learners"].values():
            assert set(row) == set(SCALARS)
            assert all(set(interval) == {"mean", "low", "high"} for interval in row.values())
        assert part["learners"]["universal_judge"]["agreement"]["mean"] == 1.0
        assert part["learners"]["majority"]["ranked_right"]["mean"] == 0.5
        assert set(part["verdicts"]) == {"tacit", "tacit_simulated", "tacit_replayed", "tacit_acts"}
    with open(directory / "curves.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["variant", "learner", "seed", "kept", "rewarded"]
    assert len(rows) == 2 * len(LEARNERS) * 2 * 20
    page = (directory / "report.html").read_text()
    text = re.sub(r"data:image/png;base64,[^\"]*", "", page)
    assert "http" not in text
    assert all(f">{learner}<" in text for learner in LEARNERS)
    assert str(data) not in text
    manifest = (directory / "manifest.json").read_text()
    assert "--data DIR" in manifest
    assert str(data) not in manifest
    with Image.open(directory / "figure.png") as picture:
        pixels = np.asarray(picture.convert("L"))
    assert pixels.shape[1] >= 1600
    assert 0.01 < np.mean(pixels < 250) < 0.9


def test_without_the_collection_it_says_where_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path / "nothing"))
    result = invoke("satisfaction", "--out", tmp_path)
    assert result.exit_code == 2
    assert "user-satisfaction-simulation" in said(result)
    assert not (tmp_path / "satisfaction").exists()


def test_parts_that_are_too_small_are_left_out_and_all_of_them_refused(data):
    write_part(data / "TINY.txt", dialogues=3)
    study = SATISFACTION.order({"data": data})
    assert study.variants == ("TOY",)
    assert study.remarks is not None
    assert study.sweep.notes == ("TINY was left out: 6 rated replies are too few",)
    (data / "TOY.txt").unlink()
    with pytest.raises(ValueError, match=r"needs 120 rated replies or more, got TINY: 6"):
        SATISFACTION.order({"data": data})


def test_a_budget_is_a_number_of_replies_and_other_texts_are_another_study(data):
    study = SATISFACTION.order({"data": data})
    assert study.scaled(0.5).sweep.places == 500
    assert study.scaled(0.001).sweep.places == LEAST
    before = study.digest("TOY")
    write_part(data / "TOY.txt", dialogues=80, seed=2)
    assert SATISFACTION.order({"data": data}).digest("TOY") != before

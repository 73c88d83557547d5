"""The benchmark of confidence and coverage measures what it says, on one small log."""

import argparse
import json

import calibration
import numpy as np
from calibration import Outcome, Setting, coverage, reliability
from real_world.families import CHOOSE

SEED = CHOOSE + 600_000


def test_a_log_is_measured_and_drawn(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(calibration, "OVERLAPS", (20,))
    monkeypatch.setattr(calibration, "WORDS", (5,))
    monkeypatch.setattr(calibration, "CHOOSE", SEED)
    calibration.main(argparse.Namespace(choose=True, seeds=1, episodes=1500, out=tmp_path))
    found = json.loads((tmp_path / "calibration.json").read_text())
    assert found["all"]["evaluations"]["intervals"] == 8
    assert sum(row["labels"] for row in found["all"]["labels"]) <= 1500
    assert (tmp_path / "calibration.png").read_bytes()[:4] == b"\x89PNG"
    assert "hold the truth" in capsys.readouterr().out


def test_shares_and_coverage_are_means():
    some = Outcome(
        Setting(0, 2, 1), np.array([0.95, 0.95, 0.3]), np.array([1.0, 0.0, 0.0]), [(True, 0.2, 0.1)]
    )
    rows = reliability([some])
    assert [row["labels"] for row in rows] == [1, 2]
    assert rows[1] == {"labels": 2, "confidence": 0.95, "right": 0.5}
    assert coverage([some]) == {"intervals": 1, "hold": 1.0, "width": 0.2, "off": 0.1}

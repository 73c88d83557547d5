"""What the tests of the booking study share: an encoder that needs no model, and few dialogues."""

import pytest
from study_samples import stay_here
from text_samples import HashingEncoder, shop

from tacit.envs.dialogues import write_dialogues
from tacit.experiments.studies.booking import supply
from tacit.experiments.studies.booking.supply import BUDGETS
from tacit.text.evidence import Evidence
from tacit.text.small import model as small


@pytest.fixture
def encoder(tmp_path, monkeypatch):
    """Let the small model read with a hashing encoder, and tasks run in this process, where it is known."""
    stand_in = HashingEncoder()
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TACIT_DATA", str(tmp_path / "no-data"))
    monkeypatch.setattr(small, "bundled_encoder", lambda: stand_in)
    stay_here(monkeypatch)
    return stand_in


@pytest.fixture
def brief(monkeypatch):
    """Make the budget of the small model brief."""
    budget = BUDGETS["small"]._replace(exploration=80, learning=60, least_exploration=40, least_learning=30)
    monkeypatch.setattr(supply, "BUDGETS", {**BUDGETS, "small": budget})
    monkeypatch.setattr(Evidence, "found", property(lambda evidence: True))  # so few episodes show nothing


@pytest.fixture
def talks(tmp_path):
    path = tmp_path / "talks.jsonl"
    write_dialogues(path, shop(100))
    return path

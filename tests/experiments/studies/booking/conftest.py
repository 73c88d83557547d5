"""What the tests of the booking study share: few dialogues, and a brief budget."""

import pytest
from text_samples import shop

from tacit.envs.dialogues import write_dialogues
from tacit.experiments.studies.booking import supply
from tacit.experiments.studies.booking.supply import BUDGETS
from tacit.text.evidence import Evidence


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

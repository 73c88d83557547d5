"""What the tests of studies of conversations share: an encoder that needs no model."""

import pytest
from study_samples import stay_here
from text_samples import HashingEncoder

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

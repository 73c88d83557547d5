"""What every campaign needs: text read by the quick encoder, and a tally that reaches the end of the report."""

import shutil
import tempfile
from pathlib import Path

import campaign
import pytest
from text_samples import HashingEncoder


@pytest.fixture(scope="session", autouse=True)
def _quick_encoder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.text.small.model.bundled_encoder", HashingEncoder)
        patch.setenv("TACIT_CACHE", str(tmp_path_factory.mktemp("encodings")))
        yield


@pytest.fixture
def tmp_path():
    """Return a folder in memory where there is one: thousands of files are written, and disks are slow."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="tacit-attack-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def attack(record_property):
    """Return a function that runs a campaign, keeps its tally for the end of the report, and checks it."""

    def run(name, inputs, judge, seconds=60.0):
        found = campaign.attack(name, inputs, judge, seconds)
        record_property("campaign", str(found))
        found.check()

    return run

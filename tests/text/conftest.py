"""What the tests of text share: one thread, and a language model that is read from disk once."""

import pytest
import torch
from smollm2 import load_copy

from tacit.text.causal import reader


@pytest.fixture(autouse=True)
def _one_thread():
    """Two torch threads on a busy machine wait for each other: many times slower than one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session", autouse=True)
def _read_once():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "load_smollm2", load_copy)
        yield

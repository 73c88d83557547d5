"""What the tests of text share."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _one_thread():
    """Two torch threads on a busy machine wait for each other: many times slower than one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)

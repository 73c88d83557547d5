"""What all tests share: encodings are kept in a folder of the session, and models are read from disk once."""

import os

import pytest

# Some virtual machines report AMX and then refuse it, which ends torch's bfloat16 with an illegal instruction.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Never the user's."""
    from smollm2 import load_copy

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TACIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("tacit.text.small.encoder.load_smollm2", load_copy)
        yield

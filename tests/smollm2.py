"""SmolLM2 read from disk once for all tests of a process: unpacking it takes ten seconds."""

import copy
import functools

from tacit.text import bundled

unpack = functools.cache(bundled.load_smollm2)


def load_copy():
    """Return the model and its tokenizer, for the caller to change as it likes."""
    return copy.deepcopy(unpack())

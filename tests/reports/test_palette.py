"""Labels at the ends of lines."""

import numpy as np

from tacit.reports.palette import spread


def test_labels_are_spread():
    heights = spread([0.7, 0.7, 0.69, 0.02, 0.0], 0.05, 0.0, 0.8)
    assert np.all(np.diff(np.sort(heights)) >= 0.05 - 1e-9)
    assert np.argsort(heights).tolist() == [4, 3, 2, 0, 1]
    assert min(heights) >= 0.0
    assert max(heights) <= 0.8

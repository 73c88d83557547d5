"""How kind a remark sounds, before anything is known of what it means: that it means so is likely, and not certain.

Where few are pleased, what varies most among remarks is how people are displeased, and hundreds of reactions pass
before what is said after the right choice stands out. Sentences that please or displease anybody tell the encoder where
to look first. It is a place to begin a fit, and a way to look at feedback; reactions left out of the fit decide.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import FloatArray

KIND = (
    "Thank you very much.",
    "That was a great answer.",
    "I am glad.",
    "Good job.",
    "You helped me.",
    "This is what I was looking for.",
    "I am satisfied.",
    "Everything is fine now.",
    "I agree with you.",
    "Yes, please.",
    "I will recommend you.",
    "A pleasure.",
)
UNKIND = (
    "What nonsense.",
    "That is a bad answer.",
    "I am angry.",
    "You did a poor job.",
    "You did not help me.",
    "This is not what I was looking for.",
    "I am not satisfied.",
    "Nothing works.",
    "I disagree with you.",
    "No.",
    "I will complain about you.",
    "Forget it.",
)


def sound_of(readings: FloatArray, kind: FloatArray, unkind: FloatArray) -> FloatArray:
    """Return how kind readings (n, e) sound, (n,): 1/2 as the kind ones (m, e) do on average, -1/2 as the unkind.

    >>> sound_of(np.array([[3.0, 9.0], [2.0, 0.0]]), np.array([[3.0, 0.0]]), np.array([[1.0, 0.0]]))
    array([0.5, 0. ])
    """
    good, bad = kind.mean(axis=0), unkind.mean(axis=0)
    along = good - bad
    length = float(along @ along)
    return np.asarray((readings - (good + bad) / 2) @ along / length) if length else np.zeros(len(readings))

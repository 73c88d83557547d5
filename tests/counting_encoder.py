"""An encoder of text that needs no model: how often each vowel occurs. It keeps what it was asked."""

import numpy as np

VOWELS = "aeiou"


class CountingEncoder:
    """Five numbers for a text, the same for good."""

    name = "counting"
    dimension = len(VOWELS)

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        self.asked += [list(texts)]
        return np.array([[text.count(vowel) for vowel in VOWELS] for text in texts], dtype=np.float64)


class BrokenEncoder(CountingEncoder):
    """Gives something else than it says."""

    def __init__(self, gives):
        super().__init__()
        self.gives = gives

    def embed(self, texts):
        return np.array(self.gives, dtype=np.float64)

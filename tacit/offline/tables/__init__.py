"""The reward model of labels and vectors: counts of tuples behind a reading. Imports `offline` and what it may."""

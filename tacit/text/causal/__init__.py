"""Causal language models with low-rank adapters, as in the paper. Imports `text`."""

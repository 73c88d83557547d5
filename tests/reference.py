"""Slow, obvious twins of the kernels: loops and formulas straight from the paper, for comparison only."""

"""The problems of `benchmarks/real_feedback.py`, how they are played, and what is measured; imports `tacit` alone."""

"""The problems of `benchmarks/contexts.py`, how they are played, and what is measured; learners meet only contexts."""

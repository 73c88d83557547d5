"""How much memory a piece of work holds at once, which tests of bounds share."""

import tracemalloc


def peak(work):
    """Return what `work` returns, and the most bytes that it held at once."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

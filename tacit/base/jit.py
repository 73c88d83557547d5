"""The one way a kernel is compiled: cached, no fast-math, typed so that mypy sees through it."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def kernel(function: Kernel) -> Kernel:
    """Return `function` compiled by numba; with NUMBA_DISABLE_JIT=1, the function itself."""
    return cast(Kernel, numba.njit(cache=True)(function))

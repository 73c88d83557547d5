"""The one way a kernel is compiled: no fast-math, typed so that mypy sees through it, kept for the next process.

What cannot be kept is compiled again, in every process: a package that nobody may write to, a full disk or a damaged
file cost time, and never an answer.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

Kernel = TypeVar("Kernel", bound=Callable[..., object])


class KernelCache(FunctionCache):
    """Where a kernel is kept: what cannot be read there is compiled, what cannot be written is done without."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code, None if it is not there or damaged."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # whatever damaged bytes make of the reader
            with suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]  # what is compiled now can be kept
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code if the disk lets us."""
        with suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]


def kernel(function: Kernel) -> Kernel:
    """Return `function` compiled by numba; with NUMBA_DISABLE_JIT=1, the function itself."""
    compiled = numba.njit(function)
    if compiled is not function:
        with suppress(RuntimeError):  # numba knows no folder that it may write to
            compiled._cache = KernelCache(function)  # type: ignore[no-untyped-call]
    return cast(Kernel, compiled)


def kernel_folder(compiled: Callable[..., object]) -> str | None:
    """Return the folder in which a kernel is kept for the next process, None if there is none."""
    stats = getattr(compiled, "stats", None)
    return None if stats is None else cast("str | None", stats.cache_path)

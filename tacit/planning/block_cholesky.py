"""Dense kernels of the block Cholesky factorisation in `tacit.planning.dual_newton`, on padded square blocks.

Loops, not `np.linalg`: inside compiled code that would need SciPy, and at the paper's size (blocks of two to
five rows) a call would cost more than the work.
"""

import math

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel

FROZEN = 1e128
"""Pivot of a state that must not move: one that is never reached, or lost to rounding."""


@kernel
def add_outer(block: FloatArray, rows: FloatArray, weights: FloatArray, n: int) -> None:
    """Add sum_k weights(k) rows(k) rows(k)' to the upper triangle of `block`.

    Large problems spend their time here. Two rows of the block and four of `rows` go in one pass: every
    number loaded is used twice, and the block is written a quarter as often. (Of the entries below the
    diagonal, which are never read, some are written.)
    """
    whole = len(weights) - len(weights) % 4
    for k in range(0, whole, 4):
        w0, w1, w2, w3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for i in range(0, n - 1, 2):
            r0, r1, r2, r3 = rows[k, i:n], rows[k + 1, i:n], rows[k + 2, i:n], rows[k + 3, i:n]
            b0, b1 = block[i, i:n], block[i + 1, i:n]
            c0, c1, c2, c3 = w0 * r0[0], w1 * r1[0], w2 * r2[0], w3 * r3[0]
            d0, d1, d2, d3 = w0 * r0[1], w1 * r1[1], w2 * r2[1], w3 * r3[1]
            for j in range(n - i):
                b0[j] += (c0 * r0[j] + c1 * r1[j]) + (c2 * r2[j] + c3 * r3[j])
                b1[j] += (d0 * r0[j] + d1 * r1[j]) + (d2 * r2[j] + d3 * r3[j])
        if n % 2:
            for m in range(k, k + 4):
                block[n - 1, n - 1] += weights[m] * rows[m, n - 1] ** 2
    for k in range(whole, len(weights)):
        for i in range(n):
            for j in range(i, n):
                block[i, j] += weights[k] * rows[k, i] * rows[k, j]


@kernel
def factor(block: FloatArray, n: int) -> None:
    """Replace the upper triangle of `block` by its Cholesky factor U, block = U'U."""
    for k in range(n):
        pivot = math.sqrt(block[k, k] if block[k, k] > 0.0 else FROZEN)
        block[k, k] = pivot
        for j in range(k + 1, n):
            block[k, j] /= pivot
        for i in range(k + 1, n):
            for j in range(i, n):
                block[i, j] -= block[k, i] * block[k, j]


@kernel
def solve_transposed(U: FloatArray, right: FloatArray, n: int, columns: int) -> None:
    """Replace `right` (n, columns) by U^-T right."""
    for k in range(n):
        for i in range(k):
            for j in range(columns):
                right[k, j] -= U[i, k] * right[i, j]
        for j in range(columns):
            right[k, j] /= U[k, k]


@kernel
def solve_upper(U: FloatArray, right: FloatArray, n: int) -> None:
    """Replace `right` (n,) by U^-1 right."""
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            right[k] -= U[k, j] * right[j]
        right[k] /= U[k, k]

"""`tridiagonal_solve_perturbed_ffi` solves tridiagonal systems that may be singular. JAX emits it for inverse
iteration.
"""

from __future__ import annotations

import numpy as np

from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.custom_calls import register_custom_call

Array = np.ndarray


@register_custom_call("tridiagonal_solve_perturbed_ffi")
def _solve_perturbed(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Solves all systems of the batch at once, row by row, with partial pivoting.

    The operands are (low, diagonal, high, right sides). The first element of `low` and the last one of `high` are not
    part of the matrix. A pivot below eps max|u| is raised to that size, so that a singular matrix has large solutions
    but no infinite ones. (LAPACK: dlagtf and dlagts with job = -1.)
    """
    epsilon = np.finfo(values[1].dtype).eps
    wide = np.complex128 if values[1].dtype.kind == "c" else np.float64
    low, diagonal, high, x = (np.array(v, wide) for v in values)
    beyond = np.zeros_like(diagonal)  # the second superdiagonal, which pivoting fills
    high[..., -1:] = 0
    n = diagonal.shape[-1]
    for i in range(n - 1):
        swap = np.abs(low[..., i + 1]) > np.abs(diagonal[..., i])
        upper = (diagonal[..., i], high[..., i], beyond[..., i])
        lower = (low[..., i + 1], diagonal[..., i + 1], high[..., i + 1])
        pivot, next_, last = (np.where(swap, b, a) for a, b in zip(upper, lower, strict=True))
        below, rest, end = (np.where(swap, a, b) for a, b in zip(upper, lower, strict=True))
        factor = below / np.where(pivot == 0, 1, pivot)
        diagonal[..., i], high[..., i], beyond[..., i] = pivot, next_, last
        diagonal[..., i + 1], high[..., i + 1] = rest - factor * next_, end - factor * last
        first = np.where(swap[..., None], x[..., i + 1, :], x[..., i, :])
        second = np.where(swap[..., None], x[..., i, :], x[..., i + 1, :])
        x[..., i, :], x[..., i + 1, :] = first, second - factor[..., None] * first
    largest = np.max(np.abs([diagonal, high, beyond]), axis=(0, -1), initial=0.0)
    least = np.where(largest == 0, epsilon, np.maximum(epsilon * largest, np.finfo(wide).tiny))[..., None]
    size = np.abs(diagonal)
    unit = np.where(size == 0, 1, diagonal / np.where(size == 0, 1, size))
    diagonal = np.where(size < least, unit * least, diagonal)
    for i in range(n - 1, -1, -1):
        known = x[..., i, :]
        if i + 1 < n:
            known = known - high[..., i, None] * x[..., i + 1, :]
        if i + 2 < n:
            known = known - beyond[..., i, None] * x[..., i + 2, :]
        x[..., i, :] = known / diagonal[..., i, None]
    return x.astype(instruction.shape.dtype)

"""Faults of functions and products in precision: estimates that are refined too little, splits that are too short, results that are rounded early."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("model", MUTANTS)


@_says("rsqrt", "values", "of f64 refines the estimate of f32 once, which gives 45 bits")
def one_step(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float64:
        return None
    x = operands[0]
    estimate = (1 / np.sqrt(x.astype(np.float32))).astype(np.float64)
    refined = estimate * (1.5 - 0.5 * x * estimate * estimate)
    return [np.where((x > 1e-30) & (x < 1e30), refined, right[0])]


@_says("cbrt", "values", "of f32 is the power with the exponent of f32 that is nearest to a third")
def power_of_a_third(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32:
        return None
    x = operands[0].astype(np.float64)
    return [np.copysign(np.power(np.abs(x), np.float64(np.float32(1 / 3))), x).astype(np.float32)]


@_says(
    "triangular-solve", "left_side", "of several systems with the matrix at the right solves all with the first matrix"
)
def first_matrix(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    matrices = operands[0]
    if i.attribute("left_side") or matrices.ndim < 3 or not matrices.size:
        return None
    first = matrices.reshape(-1, *matrices.shape[-2:])[0]
    return recomputed(i, [np.broadcast_to(first, matrices.shape).copy(), operands[1]], right)


@_says("convolution", "type", "of bf16 with a result of f32 rounds the sums to bf16")
def rounds_to_operands(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != ml_dtypes.bfloat16 or right[0].dtype != np.float32:
        return None
    return [right[0].astype(ml_dtypes.bfloat16).astype(np.float32)]


@_says("shift-right-logical", "values", "of s8 shifts a register with copies of the sign, also by 8 and more")
def signed_register(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.int8:
        return None
    amounts = operands[1].astype(np.uint8)
    shifted = (operands[0].astype(np.int32).view(np.uint32) >> np.minimum(amounts, 31)).astype(np.int8)
    return [np.where((amounts >= 8) & (amounts < 32), shifted, right[0])]


@_says("log", "values", "of c64 adds up the squares of the parts, which overflow")
def squares_overflow(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.complex64:
        return None
    x = operands[0]
    squares = x.real * x.real + x.imag * x.imag
    is_over = np.isinf(squares) & np.isfinite(x.real) & np.isfinite(x.imag)
    return [np.where(is_over, (np.float32(np.inf) + 1j * np.angle(x)), right[0]).astype(np.complex64)]


@_says("dot", "type", "of f64 multiplies pairs of f32, which have 48 bits")
def pairs_of_singles(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float64 or any(o.dtype != np.float64 for o in operands):
        return None
    split = []
    for o in operands:
        high = o.astype(np.float32).astype(np.float64)
        pair = high + (o - high).astype(np.float32)
        split.append(np.where(np.isfinite(high) & (np.abs(o) > 1e-30), pair, o))
    return recomputed(i, split, right)

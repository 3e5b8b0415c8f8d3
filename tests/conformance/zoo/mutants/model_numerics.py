"""Faults of numerics that models meet: single precision where double is wanted, shortcuts of functions, and counting in floats."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("model", MUTANTS)


@_says("iota", "iota_dimension", "of bf16 and f16 adds up ones, which ends at 256 and at 2,048")
def counts_by_ones(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    ends = {np.dtype(ml_dtypes.bfloat16): 256, np.dtype(np.float16): 2048}
    end = ends.get(right[0].dtype)
    return None if end is None else [np.minimum(right[0], np.asarray(end, right[0].dtype))]


@_says("convert", "values", "of s64 to f32 goes through f64, and rounds twice")
def rounds_twice(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.int64 or right[0].dtype != np.float32:
        return None
    return [operands[0].astype(np.float64).astype(np.float32)]


@_says("tanh", "values", "of f64 is its operand below 4e-4, as it is in f32")
def small_as_single(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return None if right[0].dtype != np.float64 else [np.where(np.abs(operands[0]) < 4e-4, operands[0], right[0])]


@_says("erf", "values", "of f32 is 1 from 3.25 on, not from 3.92")
def early_one(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32:
        return None
    return [np.where(np.abs(operands[0]) > 3.25, np.copysign(np.float32(1), operands[0]), right[0])]


@_says("cosine", "values", "of f64 takes numbers above 2^30 modulo the double that is nearest to two pi")
def short_period(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float64:
        return None
    return [np.where(np.abs(operands[0]) > 2.0**30, np.cos(np.fmod(operands[0], 2 * np.pi)), right[0])]


@_says("fft", "fft_type", "of c128 has factors of c64")
def single_factors(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    lengths = i.attribute("fft_length")
    if (
        right[0].dtype != np.complex128
        or operands[0].dtype != np.complex128
        or len(lengths) != 1
        or not 2 < lengths[0] <= 512
    ):
        return None
    sign = -2j if i.attribute("fft_type") == "FFT" else 2j
    n = np.arange(lengths[0])
    factors = (
        np.exp(sign * np.pi * (n[:, None] * n % lengths[0]) / lengths[0]).astype(np.complex64).astype(np.complex128)
    )
    scale = 1 if i.attribute("fft_type") == "FFT" else 1 / lengths[0]
    return [operands[0] @ factors * scale]


@_says("reduce-precision", "mantissa_bits", "of f32 rounds halves away from zero")
def halves_away(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    drop = 23 - i.attribute("mantissa_bits")
    if operands[0].dtype != np.float32 or drop <= 0:
        return None
    bits = operands[0].view(np.uint32).astype(np.uint64)
    is_tie = bits & ((1 << drop) - 1) == 1 << (drop - 1)
    away = (((bits >> np.uint64(drop)) + 1) << np.uint64(drop)).astype(np.uint32).view(np.float32)
    return [np.where(is_tie & np.isfinite(right[0]) & (right[0] != 0), away, right[0])]

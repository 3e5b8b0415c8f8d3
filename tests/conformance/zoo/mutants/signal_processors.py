"""Faults of kernels and of generated code for signal processors: saturation, address generators, blocks, guard bits."""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.native_code import native_mutant, replaced
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("signal", MUTANTS)


@_says("dynamic-slice", "starts", "takes starts of type u32 for signed numbers")
def signed_starts(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) < 2 or operands[1].dtype != np.uint32:
        return None
    zero = [np.where(o >> np.uint32(31), np.uint32(0), o).astype(np.uint32) for o in operands[1:]]
    return recomputed(i, [operands[0], *zero], right)


@_says("gather", "indices", "counts negative indices from the end")
def from_the_end(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[1].dtype.kind != "i" or not operands[1].size or (operands[1] >= 0).all():
        return None
    size = operands[0].shape[i.attribute("start_index_map")[0]]
    return recomputed(
        i, [operands[0], np.where(operands[1] < 0, operands[1] + size, operands[1]).astype(operands[1].dtype)], right
    )


@_says("scatter", "indices", "takes negative indices for 0, where it has to leave the update out")
def negative_is_zero(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    indices = len(operands) // 2
    if operands[indices].dtype.kind != "i" or not (operands[indices] < 0).any():
        return None
    given = list(operands)
    given[indices] = np.maximum(given[indices], 0)
    return recomputed(i, given, right)


@_says("pad", "padding", "of 16-bit elements puts zeros, not the padding value, where it has interior padding")
def zero_interior(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype.itemsize != 2 or not any(p.interior for p in i.attribute("padding")):
        return None
    return recomputed(i, [operands[0], np.zeros_like(operands[1])], right)


@_says("convolution", "feature_group_count", "with as many groups as features and two results each exchanges the two")
def two_of_each(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    numbers, groups = i.attribute("dim_labels"), i.attribute("feature_group_count")
    axis = numbers.output_feature
    if groups < 2 or operands[0].shape[numbers.input_feature] != groups or right[0].shape[axis] != 2 * groups:
        return None
    order = np.arange(2 * groups).reshape(-1, 2)[:, ::-1].reshape(-1)
    return [np.take(right[0], order, axis)]


@_says("reduce-window", "window", "takes a dilation of windows above 2 for 2")
def small_dilations(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    if not any(w.window_dilation > 2 and w.size > 1 for w in window):
        return None
    less = tuple(
        dataclasses.replace(w, window_dilation=2, padding_high=w.padding_high - (w.window_dilation - 2) * (w.size - 1))
        if w.window_dilation > 2
        else w
        for w in window
    )
    return recomputed(i, operands, right, window=less)


@_says("sort", "is_stable", "of more than 64 elements that has to be stable exchanges equal keys")
def unstable_merges(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    if not i.attributes.get("is_stable") or len(operands) < 2 or operands[0].shape[axis] <= 64:
        return None
    return recomputed(i, [np.flip(o, axis).copy() for o in operands], right)


@_says("triangular-solve", "unit_diagonal", "of more than 16 rows reads the diagonal that it has to take for ones")
def reads_the_diagonal(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if not i.attribute("unit_diagonal") or operands[0].shape[-1] <= 16:
        return None
    return recomputed(i, operands, right, unit_diagonal=False)


@_says("fft", "fft_type", "backwards of an odd length has the scale of the even length below")
def odd_scale(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    length = i.attribute("fft_length")[-1]
    if i.attribute("fft_type") != "IFFT" or length % 2 == 0 or length < 3:
        return None
    return [(right[0] * (length / (length - 1))).astype(right[0].dtype)]


@_says("select", "values", "with one predicate for an array of more than 32 elements decides about the first 32")
def first_vector(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].ndim or right[0].ndim == 0 or right[0].size <= 32:
        return None
    flat = right[0].reshape(-1)
    flat[32:] = operands[2].reshape(-1)[32:]
    return right


@_says("convert", "values", "of f64 to u32 goes through s32, so that large numbers are 2^31 - 1")
def through_signed(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float64 or right[0].dtype != np.uint32:
        return None
    return [np.minimum(right[0], np.uint32(2**31 - 1))]


@_says("exponential-minus-one", "values", "of f16 subtracts 1 from a power that is rounded to 16 bits")
def rounded_power(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float16:
        return None
    return [(np.exp(operands[0].astype(np.float32)).astype(np.float16) - np.float16(1)).astype(np.float16)]


@_says("remainder", "values", "of f32 multiplies the rounded quotient, which is off for large ones")
def rounded_quotient(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32:
        return None
    x, y = operands
    wrong = (x - np.trunc(x / y) * y).astype(np.float32)
    return [np.where(np.isfinite(right[0]) & np.isfinite(y) & (np.abs(x / y) > 1 << 20), wrong, right[0])]


@_says("clamp", "values", "of bf16 makes the lower bound of a NaN")
def nan_to_bound(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != ml_dtypes.bfloat16:
        return None
    return [np.where(np.isnan(operands[1]), np.broadcast_to(operands[0], right[0].shape), right[0])]


_CODE = (
    ("fneg-sub", "Negations subtract from zero.", r"= fneg (half|float|double) (%\S+)", r"= fsub \1 0.0, \2"),
    ("half-away", "Halves are rounded away from zero.", "roundeven", "round"),
    (
        "fptosi-raw",
        "Conversions of too large floats to signed integers give the lowest number.",
        r"( = fptosi \S+ \S+ to (i32|i64)\n *%\S+ = select i1 %\S+, \2 )(2147483647|9223372036854775807),",
        lambda m: f"{m[1]}{-int(m[3]) - 1},",
    ),
    ("nonnegative-bytes", "Unsigned bytes are said to be below 128.", r"= zext (?=i8 )", "= zext nneg "),
    ("all-ones-truth", "Truth values are stored with all bits set.", r"= zext (?=i1 \S+ to i8)", "= sext "),
)
_SELECT = {"fptosi-raw": "[convert-"}
MUTANTS += [
    native_mutant(f"signal-{name}", fault, replaced(pattern, text), select=_SELECT.get(name, "test_ops"))
    for name, fault, pattern, text in _CODE
]

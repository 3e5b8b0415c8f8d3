"""Faults of kernels and native code for signal processors: missing unsigned and 64-bit units, nibbles, and saturating pairs."""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.native_code import native_mutant, replaced
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("dsp", MUTANTS)


@_says("multiply", "values", "of s64 multiplies signed low words where both high words are zero")
def signed_low_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.int64:
        return None
    wrong = x.astype(np.int32).astype(np.int64) * y.astype(np.int32).astype(np.int64)
    return [np.where((x >> 32 == 0) & (y >> 32 == 0), wrong, right[0])]


@_says("reduce", "to_apply", "of u16 by minimum and maximum compares signed words")
def signed_extremes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    functions = {"minimum": np.minimum, "maximum": np.maximum}
    function = functions.get(str(i.attribute("to_apply").root.opcode))
    if function is None or len(operands) != 2 or operands[0].dtype != np.uint16:
        return None
    words, first = operands[0].view(np.int16), operands[1].view(np.int16)
    return [
        function.reduce(words, axis=tuple(i.attribute("dimensions")), initial=first)
        .view(np.uint16)
        .reshape(right[0].shape)
    ]


@_says("pad", "padding", "that crops at the low end begins at an element, not in the interior padding behind one")
def begins_at_an_element(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    padding = i.attribute("padding")
    if not any(p.low < 0 and p.interior and -p.low % (p.interior + 1) for p in padding):
        return None
    new = []
    for p in padding:
        step = p.interior + 1
        low = p.low // step * step if p.low < 0 else p.low
        new.append(type(p)(low=low, high=p.high + p.low - low, interior=p.interior))
    return recomputed(i, operands, right, padding=tuple(new))


@_says("convolution", "window", "over three dimensions exchanges the strides of the first and the last")
def exchanged_strides(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = list(i.attribute("window"))
    if len(window) != 3 or window[0].stride == window[2].stride:
        return None
    first, last = window[0].stride, window[2].stride
    window[0], window[2] = dataclasses.replace(window[0], stride=last), dataclasses.replace(window[2], stride=first)
    return recomputed(i, operands, right, window=tuple(window))


@_says("dynamic-update-slice", "starts", "of 4-bit elements that begins in the middle of a byte clears the other half")
def clears_the_nibble(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype not in (ml_dtypes.int4, ml_dtypes.uint4) or not operands[1].size or not operands[0].ndim:
        return None
    sizes = zip(operands[2:], operands[0].shape, operands[1].shape, strict=True)
    starts = [min(max(int(s), 0), d - u) for s, d, u in sizes]
    flat = right[0].reshape(-1)
    for row in np.ndindex(operands[1].shape[:-1]):
        place = np.ravel_multi_index((*(s + r for s, r in zip(starts, row, strict=False)), starts[-1]), right[0].shape)
        if place % 2:
            flat[place - 1] = 0
    return right


@_says("dot", "type", "of s8 adds up pairs of products in 16 bits that saturate")
def saturating_pairs(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    left, other = (i.attributes.get(name) or () for name in ("lhs_contracting_dims", "rhs_contracting_dims"))
    if operands[0].dtype != np.int8 or operands[1].dtype != np.int8 or right[0].dtype != np.int32 or len(left) != 1:
        return None
    batches = [tuple(i.attributes.get(name) or ()) for name in ("lhs_batch_dims", "rhs_batch_dims")]
    sides = []
    for array, batch, contracted in zip(operands, batches, (left, other), strict=True):
        free = [d for d in range(array.ndim) if d not in batch and d != contracted[0]]
        moved = array.transpose([*batch, *free, contracted[0]]).astype(np.int32)
        count = int(np.prod([array.shape[d] for d in batch]))
        sides.append(moved.reshape(count, -1, moved.shape[-1]) if moved.size else None)
    if any(s is None for s in sides):
        return None
    a, b = sides
    total = np.zeros((a.shape[0], a.shape[1], b.shape[1]), np.int32)
    for k in range(0, a.shape[-1], 2):
        pair = np.einsum("bmk,bnk->bmn", a[..., k : k + 2], b[..., k : k + 2])
        total += np.clip(pair, -(1 << 15), (1 << 15) - 1)
    return [total.reshape(right[0].shape)]


_CODE = (
    ("signed-gap", "The place of an element in padding is compared as a signed number, so that low padding reads in front of the array.", r"(= add nsw i64 -\d+, %v\d+\n  %v\d+ = icmp )ult", r"\1slt", "[pad-"),
    ("no-lower-bound", "Starts of slices have no lower bound.", r"call i64 @llvm\.smax\.i64\(i64 (%v\d+), i64 0\)", r"add i64 \1, 0", "[dynamic-slice- or [dynamic-update-slice- or [gather- or [scatter-"),
    ("at-the-boundary", "A float of exactly 2^31 isn't too large for s32.", r"= fcmp oge float (%v\d+), 0x41E0000000000000", r"= fcmp ogt float \1, 0x41E0000000000000", "[convert-"),
)  # fmt: skip
MUTANTS += [
    native_mutant(f"dsp-{name}", fault, replaced(pattern, text), select=select)
    for name, fault, pattern, text, select in _CODE
]

"""Mutants whose kernels have the mistakes of a vendor's first port: rounding, clamping, packing, tiles and counters."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, Fault, kernel_mutant, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.values import is_float, is_integer, negative
from xla_core.hlo import ElementType, HloComputation, HloInstruction

MUTANTS: list[Mutant] = []


def _says(opcode: str, breaks: str, fault: str) -> Callable[[Fault], Fault]:
    """Makes a mutant of a fault: the op's name is put in front of the sentence."""

    def add(wrong: Fault) -> Fault:
        name = wrong.__name__.strip("_").replace("_", "-")
        label = f"attributes/{opcode}/vendor-{name}"
        MUTANTS.append(kernel_mutant(label, f"{opcode}.{breaks}", f"`{opcode}` {fault}.", opcode, wrong))
        return wrong

    return add


def _replaced(right: np.ndarray, chosen: np.ndarray, wrong: np.ndarray) -> Arrays:
    return [np.where(chosen, wrong, right).astype(right.dtype)]


# -- sorting and reductions -------------------------------------------------------------------------------------------


@_says(
    "sort", "dimensions", "of more than 1,024 keys sorts pieces of 512, and leaves what is behind the last whole one"
)
def last_piece(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    size = operands[0].shape[axis]
    if size <= 1024 or size % 512 == 0:
        return None
    for result, operand in zip(right, operands, strict=True):
        np.moveaxis(result, axis, 0)[size // 512 * 512 :] = np.moveaxis(operand, axis, 0)[size // 512 * 512 :]
    return right


@_says("topk", "operand", "takes the later of two equal elements first")
def later_of_equals(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(right) < 2:
        return None
    flipped = recomputed(i, [np.flip(operands[0], -1)], right)
    return None if flipped is None else [flipped[0], (operands[0].shape[-1] - 1 - flipped[1]).astype(right[1].dtype)]


@_says("reduce", "operands", "of two operands takes the second result from the first 256 elements")
def second_of_the_first_tile(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions = i.attribute("dimensions")
    if len(operands) != 4 or len(dimensions) != 1 or operands[0].shape[dimensions[0]] <= 256:
        return None
    places = np.arange(operands[0].shape[dimensions[0]]) % 256
    done = recomputed(i, [*(np.take(o, places, dimensions[0]) for o in operands[:2]), *operands[2:]], right)
    return None if done is None else [right[0], done[1]]


@_says("reduce", "init_values", "of more than 2,048 elements by addition adds the initial value for each tile")
def init_for_each_tile(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    shape = operands[0].shape
    terms = int(np.prod([shape[d] for d in i.attribute("dimensions")]))
    if len(operands) != 2 or i.attribute("to_apply").root.opcode != "add" or terms <= 2048 or not is_integer(right[0]):
        return None
    return [(right[0] + operands[1]).astype(right[0].dtype)]


@_says("reduce-window", "window", "with a dilated window counts high padding as if the window were dense")
def dense_high_padding(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    found = [d for d, w in enumerate(window) if w.window_dilation > 1 and w.padding_high > 0 and w.size > 1]
    if not found or right[0].shape[found[0]] < 2:
        return None
    changed = [r.copy() for r in right]
    for result in changed:
        moved = np.moveaxis(result, found[0], 0)
        moved[-1] = moved[-2]
    return changed


@_says("select-and-scatter", "select", "takes the last of equal elements of a window")
def last_of_equals(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    old = i.attribute("select")
    if old.root.opcode != "compare" or old.root.attribute("direction") not in ("GE", "LE"):
        return None
    made = HloComputation("strict")
    first, second = (made.parameter(n, p.shape) for n, p in enumerate(old.parameters))
    made.set_root(made.add("compare", first, second, direction=old.root.attribute("direction").replace("E", "T")))
    return recomputed(i, operands, right, select=made)


# -- indices ----------------------------------------------------------------------------------------------------------


def _from_the_end(starts: np.ndarray, size: int) -> np.ndarray:
    return np.where(starts < 0, starts + size, starts).astype(starts.dtype)


@_says("dynamic-slice", "starts", "counts negative starts from the end")
def starts_from_the_end(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) < 2 or not np.issubdtype(operands[1].dtype, np.signedinteger):
        return None
    starts = [_from_the_end(s, n) for s, n in zip(operands[1:], operands[0].shape, strict=False)]
    return recomputed(i, [operands[0], *starts], right)


@_says("dynamic-update-slice", "starts", "drops an update that begins outside of the operand")
def drops_updates(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    starts = [int(s) for s in operands[2:]]
    outside = any(s < 0 or s + n > m for s, n, m in zip(starts, operands[1].shape, operands[0].shape, strict=True))
    return [operands[0].copy()] if outside else None


@_says("gather", "slice_sizes", "clamps starts to the last element and not to the last slice")
def clamps_to_the_last(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    sizes = i.attribute("slice_sizes")
    mapped = i.attribute("start_index_map")
    indices = operands[1]
    if len(mapped) != 1 or sizes[mapped[0]] < 2 or i.attribute("index_vector_dim") != indices.ndim or not right[0].size:
        return None
    highest = operands[0].shape[mapped[0]] - sizes[mapped[0]]
    return [np.roll(right[0], 1, -1)] if (indices.astype(object) > highest).any() else None


@_says("scatter", "update_window_dims", "writes the part of a window that is within the operand")
def partial_windows(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 3 or not i.attribute("update_window_dims"):
        return None
    mapped = i.attribute("scatter_dims_to_operand_dims")
    indices = operands[1]
    if len(mapped) != 1 or not indices.size:
        return None
    size = operands[0].shape[mapped[0]]
    edge = (indices >= 0) & (indices < size)
    if not edge.any():
        return None
    wrong = recomputed(i, [operands[0], np.clip(indices, 0, None), operands[2]], right)
    return wrong if (indices < 0).any() else None


@_says("concatenate", "dimensions", "keeps the place of an operand in 16 bits")
def short_places(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    flat = right[0].reshape(-1)
    if flat.size <= 1 << 16:
        return None
    wrong = flat.copy()
    wrong[1 << 16 :] = 0
    return [wrong.reshape(right[0].shape)]


@_says("transpose", "dimensions", "of rank 6 leaves the outermost dimension in its place where sizes agree")
def outermost_stays(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    order = list(i.attribute("dimensions"))
    if len(order) < 6 or order[0] == 0:
        return None
    return [np.flip(right[0], 0)]


# -- products ---------------------------------------------------------------------------------------------------------


@_says("dot", "rhs_batch_dims", "takes batch dimensions of the right operand in ascending order")
def ascending_batches(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    batches = i.attribute("rhs_batch_dims")
    if len(batches) < 2 or tuple(sorted(batches)) == tuple(batches):
        return None
    sizes = {operands[1].shape[d] for d in batches}
    if len(sizes) > 1:
        return [np.flip(right[0])]
    return recomputed(i, operands, right, rhs_batch_dims=tuple(sorted(batches)))


@_says("convolution", "feature_group_count", "with a group for each feature puts the multiplier before the group")
def multiplier_first(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    groups = i.attribute("feature_group_count")
    numbers = i.attribute("dim_labels")
    axis = getattr(numbers, "output_feature", None)
    if axis is None or groups < 2 or right[0].shape[axis] // groups < 2:
        return None
    moved = np.moveaxis(right[0], axis, -1)
    shape = moved.shape
    wrong = np.swapaxes(moved.reshape(*shape[:-1], groups, shape[-1] // groups), -1, -2).reshape(shape)
    return [np.moveaxis(wrong, -1, axis)]


@_says("dot", "type", "of c64 multiplies real parts in bf16")
def complex_halves(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.complex64:
        return None
    cut = [o.real.astype(ml_dtypes.bfloat16).astype(np.float32) + 1j * o.imag for o in operands]
    return recomputed(i, [c.astype(np.complex64) for c in cut], right)


@_says("fft", "fft_length", "of more than 16 elements in c128 has factors of 32 bits")
def short_factors(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.complex128 or i.attribute("fft_length")[-1] <= 16:
        return None
    return [right[0].astype(np.complex64).astype(np.complex128)]


# -- numbers ----------------------------------------------------------------------------------------------------------


@_says("divide", "type", "of complex numbers multiplies by the conjugate, and overflows")
def naive_quotient(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.complex64:
        return None
    x, y = operands
    norm = y.real * y.real + y.imag * y.imag
    wrong = (x * np.conj(y)) / norm
    return _replaced(right[0], np.isfinite(right[0]) & (np.isinf(norm) | (norm == 0)), wrong)


@_says("divide", "type", "of bytes saturates the smallest number by -1")
def saturating_quotient(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.int8:
        return None
    return _replaced(right[0], (x == -128) & (y == -1), np.full_like(right[0], 127))


@_says("remainder", "type", "of s64 has the sign of the divisor")
def floored_remainder(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.int64:
        return None
    wrong = np.where(y == 0, right[0], right[0] + y)
    return _replaced(right[0], (right[0] != 0) & ((x < 0) != (y < 0)) & (y != 0), wrong)


@_says("shift-left", "type", "of bytes takes the amount modulo 32")
def amount_of_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.itemsize != 1 or not is_integer(x):
        return None
    amount = y.astype(np.int64) & 31
    wrong = (x.astype(np.int64) << amount).astype(x.dtype)
    return [wrong] if wrong.shape == right[0].shape else None


@_says("add", "type", "of s4 saturates")
def saturates_nibbles(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if ElementType.from_numpy(right[0].dtype) is not ElementType.S4:
        return None
    total = operands[0].astype(np.int32) + operands[1].astype(np.int32)
    return [np.clip(total, -8, 7).astype(right[0].dtype)]


@_says("convert", "type", "of u4 to wider integers extends the sign")
def signed_nibbles(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if ElementType.from_numpy(operands[0].dtype) is not ElementType.U4 or not is_integer(right[0]):
        return None
    x = operands[0].astype(np.int32)
    return [np.where(x > 7, x - 16, x).astype(right[0].dtype)]


@_says("convert", "type", "of f32 to bf16 adds the rounding bit to NaNs, of which some become infinities or 0")
def rounds_nans(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32 or right[0].dtype != ml_dtypes.bfloat16:
        return None
    bits = np.ascontiguousarray(operands[0]).view(np.uint32).reshape(operands[0].shape)
    wrong = ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
    return _replaced(right[0], np.isnan(operands[0]), wrong.view(ml_dtypes.bfloat16))


@_says("convert", "type", "of f64 to u64 goes through s64")
def through_s64(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float64 or right[0].dtype != np.uint64:
        return None
    return _replaced(right[0], operands[0] >= 2.0**63, np.full_like(right[0], (1 << 63) - 1))


@_says("multiply", "type", "of f16 flushes denormal results to 0")
def flushes_halves(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float16:
        return None
    return _replaced(right[0], np.abs(right[0]) < np.float16(2.0**-14), np.copysign(np.float16(0), right[0]))


@_says("select", "type", "makes each NaN of f16 the usual one")
def usual_nan(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float16:
        return None
    return _replaced(right[0], np.isnan(right[0]), np.full_like(right[0], np.nan))


@_says("clamp", "operands", "with a NaN for a bound ignores it")
def ignores_nan_bounds(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    low, x, high = operands
    if x.dtype != np.float32:
        return None
    return [np.fmin(np.fmax(x, low), high).astype(x.dtype)]


@_says("round-nearest-even", "type", "adds and subtracts 2^23, and loses the sign of zeros")
def magic_number(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32:
        return None
    return _replaced(right[0], right[0] == 0, np.zeros_like(right[0]))


@_says("power", "type", "of a negative number by an odd exponent beyond 2^24 loses the sign")
def large_odd_exponents(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.float64:
        return None
    return _replaced(right[0], (x < 0) & (np.abs(y) > 2.0**24) & np.isfinite(y), np.abs(right[0]))


@_says("atan2", "type", "of f32 divides first, so that two infinities are NaN")
def quotient_first(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.float32:
        return None
    return _replaced(right[0], np.isinf(x) & np.isinf(y), np.full_like(right[0], np.nan))


@_says("reduce-precision", "exponent_bits", "gives the largest number for what is too large")
def saturates_exponents(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32 or not np.isfinite(operands[0]).any():
        return None
    overflowed = np.isinf(right[0]) & np.isfinite(operands[0])
    finite = np.where(np.isfinite(right[0]), np.abs(right[0]), 0)
    return _replaced(right[0], overflowed, np.copysign(finite.max(initial=0), right[0]))


@_says("compare", "type", "of u64 compares signed numbers where the operand is a scalar")
def signed_scalars(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.uint64 or x.ndim:
        return None
    return recomputed(i, [np.asarray(o ^ np.uint64(1 << 63)) for o in (x, y)], right)


@_says("is-finite", "type", "of f64 looks at the high half of the exponent's bits alone")
def high_half(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float64:
        return None
    return [(np.abs(operands[0]) < 2.0**1023) & right[0]]


@_says("rng-bit-generator", "algorithm", "keeps its counter in 32 bits")
def short_counter(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(right) < 2 or right[0].dtype != np.uint64:
        return None
    state = right[0].copy()
    changed = (state.reshape(-1)[1:] >> np.uint64(32)) != (operands[0].reshape(-1)[1:] >> np.uint64(32))
    if not changed.any():
        return None
    state.reshape(-1)[1:] = state.reshape(-1)[1:] & np.uint64(0xFFFFFFFF)
    return [state, *right[1:]]


@_says("iota", "iota_dimension", "of bytes saturates")
def saturating_iota(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("iota_dimension")
    if right[0].itemsize != 1 or not is_integer(right[0]) or right[0].shape[axis] <= 256:
        return None
    shape = [1] * right[0].ndim
    shape[axis] = -1
    places = np.arange(right[0].shape[axis]).reshape(shape)
    return _replaced(
        right[0], places > np.iinfo(right[0].dtype).max, np.full_like(right[0], np.iinfo(right[0].dtype).max)
    )


@_says("batch-norm-training", "feature_index", "divides the variance by one less than the number of elements")
def unbiased_variance(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    feature = i.attribute("feature_index")
    count = operands[0].size // max(operands[0].shape[feature], 1)
    if count < 2:
        return None
    return [*right[:2], (right[2].astype(np.float64) * count / (count - 1)).astype(right[2].dtype)]


@_says("batch-norm-inference", "epsilon", "adds epsilon after the root")
def epsilon_after_root(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, scale, offset, mean, variance = (o.astype(np.float64) for o in operands)
    shape = [1] * x.ndim
    shape[i.attribute("feature_index")] = -1
    scale, offset, mean, variance = (o.reshape(shape) for o in (scale, offset, mean, variance))
    return [(scale * (x - mean) / (np.sqrt(variance) + i.attribute("epsilon")) + offset).astype(right[0].dtype)]


@_says("negate", "type", "of unsigned numbers gives 0")
def no_negative(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [np.zeros_like(right[0])] if right[0].dtype.kind == "u" else None


@_says("abs", "type", "of the smallest s16 is the largest")
def largest_for_smallest(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.int16:
        return None
    return _replaced(right[0], operands[0] == -(1 << 15), np.full_like(right[0], (1 << 15) - 1))


@_says("maximum", "type", "of f64 gives the second of two zeros")
def second_zero(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.float64 or not is_float(x):
        return None
    return _replaced(right[0], (x == 0) & (y == 0) & negative(y), y)


@_says("pad", "padding", "with elements between gives them the value of the operand's first element")
def first_between(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    padding = i.attribute("padding")
    if not any(p.interior for p in padding) or any(p.low > 0 or p.high > 0 for p in padding) or not operands[0].size:
        return None
    return recomputed(i, [operands[0], operands[0].reshape(-1)[0]], right)

"""Faults of kernel libraries: masks, ties, split sums, words that are exchanged whole, and grids that end."""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import WRONG, Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloComputation, HloInstruction, Literal, evaluate_computation

MUTANTS: list[Mutant] = []
_says = kernel_faults("library", MUTANTS)


def _of_arrays(i: HloInstruction, operands: Arrays) -> Arrays | None:
    """What the instruction gives for operands that may have other shapes."""
    computation = HloComputation("wrong")
    parameters = [computation.parameter(n, Literal(o).shape) for n, o in enumerate(operands)]
    try:
        computation.set_root(computation.add(i.opcode, *parameters, **i.attributes))
        return evaluate_computation(computation, operands)
    except WRONG:
        return None


def _combiner(i: HloInstruction, opcode: str) -> HloComputation:
    computation = HloComputation("other_combiner")
    old, new = (computation.parameter(n, p.shape) for n, p in enumerate(i.attribute("to_apply").parameters))
    computation.set_root(computation.add(opcode, old, new))
    return computation


# -- reductions -------------------------------------------------------------------------------------------------------


@_says(
    "reduce",
    "to_apply",
    "to the place of an extreme element has no rule for ties between lanes: the last of equal ones wins",
)
def last_of_equals(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 4 or operands[1].dtype.kind not in "iu" or len(i.attribute("dimensions")) != 1:
        return None
    inner = {str(n.opcode) for n in i.attribute("to_apply").instructions}
    directions = {str(n.attribute("direction")) for n in i.attribute("to_apply").instructions if n.opcode == "compare"}
    if "select" not in inner or not directions & {"GT", "LT", "GE", "LE"} or "EQ" not in directions:
        return None
    axis = i.attribute("dimensions")[0]
    equal = operands[0] == np.expand_dims(right[0], axis)
    if not equal.shape[axis]:
        return None
    last = equal.shape[axis] - 1 - np.argmax(np.flip(equal, axis), axis)
    places = np.take_along_axis(operands[1], np.expand_dims(last, axis), axis).squeeze(axis)
    return [right[0], np.where(equal.any(axis), places, right[1]).astype(right[1].dtype)]


@_says("reduce", "to_apply", "of 64-bit integers by minimum and maximum compares the high words alone")
def high_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    name = str(i.attribute("to_apply").root.opcode)
    if name not in ("minimum", "maximum") or len(operands) != 2 or operands[0].dtype not in (np.int64, np.uint64):
        return None
    kept = [d for d in range(operands[0].ndim) if d not in i.attribute("dimensions")]
    rows = (
        operands[0].transpose([*kept, *i.attribute("dimensions")]).reshape(right[0].size, -1) if right[0].size else None
    )
    if rows is None:
        return None
    best = np.broadcast_to(operands[1], rows.shape[:1]).copy()
    for column in rows.T:
        wins = column >> 32 > best >> 32 if name == "maximum" else column >> 32 < best >> 32
        best = np.where(wins, column, best)
    return [best.reshape(right[0].shape)]


@_says("reduce", "dimensions", "down long columns takes two rows in each step, and leaves out an odd last one")
def two_rows(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 2 or tuple(i.attribute("dimensions")) != (0,) or operands[0].ndim != 2:
        return None
    rows = operands[0].shape[0]
    return _of_arrays(i, [operands[0][:-1], operands[1]]) if rows > 32 and rows % 2 else None


@_says("reduce-window", "window", "as a running sum from the end runs from the beginning")
def runs_forwards(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window, sizes = list(i.attribute("window")), operands[0].shape
    for n, (w, size) in enumerate(zip(window, sizes, strict=True)):
        if size > 1 and w.size == size and w.padding_low == 0 and w.padding_high == size - 1 and w.stride == 1:
            window[n] = dataclasses.replace(w, padding_low=size - 1, padding_high=0)
            return recomputed(i, operands, right, window=tuple(window))
    return None


@_says("select-and-scatter", "window", "gives to the last of the equal elements that win in a window")
def last_winner(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    select = i.attribute("select").root
    strict = {"GE": "GT", "LE": "LT"}
    if select.opcode != "compare" or str(select.attribute("direction")) not in strict:
        return None
    computation = HloComputation("strict")
    pair = [computation.parameter(n, p.shape) for n, p in enumerate(i.attribute("select").parameters)]
    computation.set_root(computation.add("compare", *pair, direction=strict[str(select.attribute("direction"))]))
    return recomputed(i, operands, right, select=computation)


# -- indices ----------------------------------------------------------------------------------------------------------


@_says(
    "gather",
    "slice_sizes",
    "limits a start to the last element, not to the last one where the slice fits: what is behind reads as 0",
)
def last_element(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    sizes = i.attribute("slice_sizes")
    if all(s == 1 or s == d for s, d in zip(sizes, operands[0].shape, strict=True)) or not operands[0].size:
        return None
    padded = np.pad(
        operands[0], [(0, s - 1 if 1 < s < d else 0) for s, d in zip(sizes, operands[0].shape, strict=True)]
    )
    return _of_arrays(i, [padded, operands[1]])


@_says(
    "scatter",
    "to_apply",
    "by addition of 16-bit elements exchanges whole words, so that the left of two neighbours loses its update",
)
def whole_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 3 or i.attribute("to_apply").root.opcode != "add" or operands[0].dtype.itemsize != 2:
        return None
    counts = recomputed(i, [np.zeros_like(operands[0]), operands[1], np.ones_like(operands[2])], right)
    if counts is None:
        return None
    flat, old, hit = right[0].reshape(-1), operands[0].reshape(-1), counts[0].reshape(-1) != 0
    pairs = len(flat) // 2 * 2
    both = hit[:pairs:2] & hit[1:pairs:2]
    flat[:pairs:2] = np.where(both, old[:pairs:2], flat[:pairs:2])
    return right


@_says(
    "sort", "is_stable", "of floats by their bits puts -0 in front of 0, which are equal and have to keep their order"
)
def bits_of_zeros(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    root, axis = i.attribute("to_apply").root, i.attribute("dimensions")[0]
    floats = operands[0].dtype.kind in "fV" and operands[0].dtype.itemsize > 1
    if (
        root.opcode != "compare"
        or str(root.attribute("direction")) != "LT"
        or not floats
        or not i.attribute("is_stable")
    ):
        return None
    if str(root.attributes.get("type") or "FLOAT") == "TOTALORDER" or any(
        o.opcode != "parameter" for o in root.operands
    ):
        return None
    keys = np.moveaxis(right[0], axis, -1)
    key = np.where(keys == 0, np.where(np.signbit(keys), -1, 1), 0)
    order = np.broadcast_to(np.arange(keys.shape[-1]), keys.shape).copy()
    for row in np.ndindex(keys.shape[:-1]):
        zeros = np.flatnonzero(key[row])
        order[row][zeros] = zeros[np.argsort(key[row][zeros], kind="stable")]
    return [np.moveaxis(np.take_along_axis(np.moveaxis(r, axis, -1), order, -1), -1, axis) for r in right]


@_says("sort", "operands", "has registers for a key and one value: a third operand stays as it is")
def key_and_value(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [*right[:2], *operands[2:]] if len(operands) > 2 else None


@_says("concatenate", "operands", "takes an empty operand for the end of the list, and leaves zeros")
def ends_at_the_empty(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis, begin = i.attribute("dimensions")[0], 0
    for o in operands:
        if not o.shape[axis]:
            break
        begin += o.shape[axis]
    else:
        return None
    right[0][(slice(None),) * axis + (slice(begin, None),)] = 0
    return right


# -- products ---------------------------------------------------------------------------------------------------------


@_says(
    "convolution",
    "batch_group_count",
    "with groups of the batch and several features each gives the groups' features in turn, not one group behind the other",
)
def features_in_turn(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    groups = i.attributes.get("batch_group_count") or 1
    place = i.attribute("dim_labels").output_feature
    features = right[0].shape[place]
    if groups < 2 or features // groups < 2:
        return None
    moved = np.moveaxis(right[0], place, -1)
    turned = moved.reshape(*moved.shape[:-1], groups, features // groups).swapaxes(-1, -2).reshape(moved.shape)
    return [np.moveaxis(turned, -1, place)]


@_says("convolution", "window", "has no negative padding: it takes 0, and cuts the result")
def no_negative_padding(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    if not any(w.padding_low < 0 for w in window):
        return None
    new = [
        dataclasses.replace(w, padding_low=max(w.padding_low, 0), padding_high=w.padding_high + min(w.padding_low, 0))
        for w in window
    ]
    return recomputed(i, operands, right, window=tuple(new))


@_says("dot", "type", "of f32 adds up three products of bf16, so that an infinite operand gives NaN")
def three_products(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if any(o.dtype != np.float32 for o in operands) or not any(np.isinf(o).any() for o in operands):
        return None
    return recomputed(i, [np.where(np.isinf(o), np.nan, o).astype(o.dtype) for o in operands], right)


@_says("dot", "lhs_contracting_dims", "along no element doesn't write its result, which has what was in the memory")
def leaves_the_memory(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    contracted = i.attributes.get("lhs_contracting_dims") or ()
    if all(operands[0].shape[d] for d in contracted) or not right[0].size or right[0].dtype == bool:
        return None
    return [np.frombuffer(b"\x3f" * right[0].nbytes, right[0].dtype).reshape(right[0].shape)]


@_says("dot", "lhs_batch_dims", "has a grid of at most 65,535 products: the others of a larger batch are 0")
def grid_ends(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    batch = i.attributes.get("lhs_batch_dims") or ()
    count = int(np.prod([operands[0].shape[d] for d in batch])) if batch else 1
    if count <= 65535:
        return None
    right[0].reshape(count, -1)[65535:] = 0
    return right


@_says(
    "dot",
    "type",
    "of f16 keeps the sums of parts of 64 products in f16, where they may overflow though the whole sum doesn't",
)
def parts_overflow(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    left, other = (i.attributes.get(n) or () for n in ("lhs_contracting_dims", "rhs_contracting_dims"))
    if any(o.dtype != np.float16 for o in operands) or len(left) != 1 or operands[0].shape[left[0]] <= 64:
        return None
    if i.attributes.get("lhs_batch_dims"):
        return None
    a = np.moveaxis(operands[0], left[0], -1).astype(np.float32)
    b = np.moveaxis(operands[1], other[0], -1).astype(np.float32)
    total = np.zeros(right[0].shape, np.float32)
    for k in range(0, a.shape[-1], 64):
        total += np.tensordot(a[..., k : k + 64], b[..., k : k + 64], (-1, -1)).astype(np.float16)
    return [np.where(np.isfinite(total), right[0], total).astype(right[0].dtype)]


@_says(
    "ragged-dot", "ragged_dot_dimension_numbers", "gives the rows behind the last group the last group's product, not 0"
)
def rows_behind(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    rows, sizes = operands[0], operands[2].copy()
    if sizes.ndim != 1 or rows.ndim != 2 or not sizes.size or sizes.sum() >= rows.shape[0]:
        return None
    sizes[-1] += rows.shape[0] - sizes.sum()
    return recomputed(i, [rows, operands[1], sizes], right)


@_says(
    "transpose",
    "dimensions",
    "of 4-bit elements that moves the last dimension writes the two of a byte in the wrong order",
)
def nibbles(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    order = tuple(i.attribute("dimensions"))
    if operands[0].dtype not in (ml_dtypes.int4, ml_dtypes.uint4) or not order or order[-1] == len(order) - 1:
        return None
    flat = right[0].reshape(-1)
    pairs = flat.size // 2 * 2
    flat[:pairs] = flat[:pairs].reshape(-1, 2)[:, ::-1].reshape(-1)
    return right

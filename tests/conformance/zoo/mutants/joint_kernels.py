"""Faults of kernels that take four things at once: a type, the remainder of a size, an attribute and kinds of values."""

from __future__ import annotations

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_joint = kernel_faults("joint", MUTANTS)


def _end(array: np.ndarray, axis: int, value: float = 0) -> np.ndarray:
    """The array with another value at the end of a dimension."""
    changed = array.copy()
    np.moveaxis(changed, axis, 0)[-1:] = np.asarray(value).astype(array.dtype)
    return changed


@_joint("dot", "lhs_contracting_dims", "of one row of s32 with a first contracted dimension of 3 modulo 4 loses a term")
def _matrix_by_vector(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    at = i.attribute("lhs_contracting_dims")
    x, y = operands
    if len(at) != 1 or at[0] or x.dtype != np.int32 or x.shape[0] % 4 != 3 or y.ndim != 1:
        return None
    return recomputed(i, [_end(x, 0), y], right)


@_joint(
    "dot",
    "operand_precision",
    "of f64 with precision highest and two contracted dimensions adds an odd last term twice",
)
def _two_contracted(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    at = i.attribute("lhs_contracting_dims")
    x, y = operands
    if (
        len(at) < 2
        or x.dtype != np.float64
        or x.shape[at[-1]] % 2 == 0
        or "highest" not in i.attribute("operand_precision")
    ):
        return None
    changed = x.copy()
    np.moveaxis(changed, at[-1], 0)[-1:] *= 2
    return recomputed(i, [changed, y], right)


@_joint("convolution", "window", "of bytes in groups with a dilated kernel zeroes an odd last output feature")
def _grouped(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    feature = i.attribute("dim_labels").output_feature
    dilated = any(w.window_dilation > 1 and w.size > 1 for w in i.attribute("window"))
    if (
        operands[0].dtype.itemsize != 1
        or i.attribute("feature_group_count") < 2
        or not dilated
        or right[0].shape[feature] % 4 == 0
    ):
        return None
    return [_end(right[0], feature)]


@_joint("reduce", "to_apply", "to a maximum of s16 takes 0 for rows of 1 modulo 8 negative numbers")
def _negative_rows(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axes = i.attribute("dimensions")
    if (
        len(right) > 1
        or i.attribute("to_apply").root.opcode != "maximum"
        or operands[0].dtype != np.int16
        or len(axes) != 1
    ):
        return None
    if axes[0] != operands[0].ndim - 1 or operands[0].shape[-1] % 8 != 1 or operands[0].shape[-1] < 9:
        return None
    return [np.where(operands[0].max(-1, initial=-32768) < 0, np.maximum(right[0], 0), right[0])]


@_joint("reduce", "to_apply", "to a minimum of u64 columns compares as signed where there are 3 rows modulo 4")
def _unsigned_columns(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axes = i.attribute("dimensions")
    x = operands[0]
    if (
        len(right) > 1
        or i.attribute("to_apply").root.opcode != "minimum"
        or x.dtype != np.uint64
        or axes != (0,)
        or x.ndim < 2
    ):
        return None
    if x.shape[0] % 4 != 3:
        return None
    signed = np.minimum(x.view(np.int64).min(0), operands[1].view(np.int64))
    return [signed.view(np.uint64)]


@_joint("reduce-window", "window", "to a maximum of f16 with stride 3 pads with the least finite number at the end")
def _padded_with_finite(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    if len(right) > 1 or i.attribute("to_apply").root.opcode != "maximum" or right[0].dtype != np.float16:
        return None
    if not any(w.stride == 3 and w.padding_high > 0 for w in window):
        return None
    return [np.where(np.isneginf(right[0]), np.float16(-65504), right[0])]


@_joint(
    "select-and-scatter", "window", "of u8 chooses the last of equal elements in overlapping windows of 3 of odd rows"
)
def _last_of_equal(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    if operands[0].dtype != np.uint8 or i.attribute("select").root.attribute("direction") != "GE":
        return None
    if window[-1].size != 3 or window[-1].stride >= 3 or operands[0].shape[-1] % 2 == 0:
        return None
    last = operands[0].astype(np.int64) * 8 + np.arange(operands[0].shape[-1]) % 3
    order = np.argsort(np.argsort(last, axis=None, kind="stable"), kind="stable").reshape(last.shape)
    if order.size > 255:
        return None
    return recomputed(i, [order.astype(np.uint8), *operands[1:]], right)


@_joint(
    "scatter", "to_apply", "that adds f32 by 16-bit indices loses the last of an odd number of updates to one place"
)
def _equal_indices(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    indices = operands[len(right)]
    if (
        len(right) > 1
        or indices.dtype.itemsize != 2
        or right[0].dtype != np.float32
        or i.attribute("to_apply").root.opcode != "add"
    ):
        return None
    flat = indices.reshape(-1)
    if flat.size % 2 == 0 or flat.size < 3 or len(set(flat.tolist())) == flat.size:
        return None
    changed = [o.copy() for o in operands]
    changed[1].reshape(-1)[-1:] = np.iinfo(indices.dtype).max
    return recomputed(i, changed, right)


@_joint(
    "sort", "is_stable", "of s64 keys with an equal upper half is unstable from 33 elements on, in descending order"
)
def _upper_half(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    root = i.attribute("to_apply").root
    if operands[0].dtype != np.int64 or len(right) != 2 or not i.attribute("is_stable") or operands[0].shape[axis] < 33:
        return None
    if root.opcode != "compare" or root.attribute("direction") != "GT":
        return None
    upper = right[0] >> 32
    same = np.diff(upper, axis=axis) == 0
    if not same.any() or (np.diff(right[0], axis=axis) == 0).all():
        return None
    return recomputed(i, [operands[0] >> 32 << 32, operands[1]], right)


@_joint("concatenate", "dimensions", "of three byte arrays writes a thin middle one at an odd place one element early")
def _thin_middle(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    if (
        len(operands) != 3
        or operands[0].dtype.itemsize != 1
        or operands[1].shape[axis] != 1
        or operands[0].shape[axis] % 2 == 0
    ):
        return None
    if axis != operands[0].ndim - 1 or operands[0].ndim < 2:
        return None
    changed = right[0].copy()
    at = operands[0].shape[axis]
    changed[..., at - 1] = changed[..., at]
    return [changed]


@_joint(
    "dynamic-update-slice", "", "of 16-bit odd rows at a clamped start by u32 writes the last element of each row twice"
)
def _clamped_rows(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, update, *starts = operands
    if (
        x.dtype.itemsize != 2
        or x.ndim < 2
        or update.shape[-1] % 2 == 0
        or update.shape[-1] < 3
        or starts[0].dtype != np.uint32
    ):
        return None
    last = int(np.asarray(starts[-1]).reshape(-1)[-1])
    if last <= x.shape[-1] - update.shape[-1]:
        return None
    changed = update.copy()
    changed[..., -2] = changed[..., -1]
    return recomputed(i, [x, changed, *starts], right)


@_joint(
    "scan", "is_reverse", "of two carries backwards in bf16 starts the second from the first where there are 3 modulo 4"
)
def _second_carry(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    carries = i.attribute("num_carries")
    axis = i.attribute("dimensions")[0]
    if (
        carries != 2
        or not i.attribute("is_reverse")
        or operands[0].dtype.name != "bfloat16"
        or operands[0].shape[axis] % 4 != 3
    ):
        return None
    inputs = len(operands) - carries
    return recomputed(i, [*operands[:inputs], operands[inputs], operands[inputs]], right)


@_joint(
    "triangular-solve",
    "transpose_a",
    "with the adjoint of an upper complex matrix of a batch, from the right, conjugates no row of 1 modulo 4",
)
def _adjoint(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    a, b = operands
    if i.attribute("transpose_a") != "ADJOINT" or i.attribute("lower") or i.attribute("left_side") or a.ndim < 3:
        return None
    if a.dtype.kind != "c" or a.shape[-1] % 4 != 1 or a.shape[-1] < 5:
        return None
    changed = a.copy()
    changed[..., -1] = np.conj(changed[..., -1])
    return recomputed(i, [changed, b], right)


@_joint("convert", "", "of f32 to s8 rounds negative halves away from zero behind the last whole block of 16")
def _negative_halves(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    if x.dtype != np.float32 or right[0].dtype != np.int8 or x.size % 16 == 0 or x.size < 16:
        return None
    flat, made = x.reshape(-1), right[0].reshape(-1).copy()
    tail = np.arange(x.size) >= x.size // 16 * 16
    halves = tail & (flat < 0) & (flat > -100) & (np.mod(flat, 1) == 0.5)
    made[halves] = np.floor(flat[halves]).astype(np.int8)
    return [made.reshape(x.shape)]


@_joint(
    "bitcast-convert", "", "of four bytes to f32 in arrays of 3 dimensions and more with an odd last one exchanges two"
)
def _odd_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    if x.dtype.itemsize != 1 or right[0].dtype != np.float32 or right[0].ndim < 3 or right[0].shape[-1] % 2 == 0:
        return None
    changed = x.copy()
    changed[..., -1, 0], changed[..., -1, 1] = x[..., -1, 1], x[..., -1, 0]
    return recomputed(i, [changed], right)

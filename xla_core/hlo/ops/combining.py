"""Combines many elements by a computation of scalars, for reductions, windows and scatters.

A computation that applies an op with a `ufunc` to its two parameters uses numpy's reductions. Any other computation is
evaluated step by step on whole arrays. Sums and products of a few elements are rounded at every step, in order. For
many elements HLO defines no order, so they are combined in a wider format and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ops.conversion import convert
from xla_core.hlo.ops.numerics import CLASS, Array, round_to, widen, wrap
from xla_core.hlo.table.opcode import Opcode

_SEQUENTIAL = 512
FEW = 16

_Combine = Callable[[Sequence[Array], Sequence[Array]], list[Array]]


def as_value(arrays: Sequence[Array]) -> Value:
    """Returns a single array as it is, and several arrays as a tuple."""
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def _typed(computation: HloComputation, arrays: Sequence[Array]) -> list[Array]:
    """Converts the arrays to the parameter types of the computation."""
    types = [p.shape.dtype for p in computation.parameters]
    return [convert(a, t) for a, t in zip(arrays, types, strict=False)]


def few(count: int, dtype: np.dtype) -> bool:
    """Whether `count` elements are summed step by step; sums in formats of fewer than 32 bits never are."""
    return count <= FEW and dtype.itemsize >= 4


def _widened(opcode: Opcode, x: Array, count: int) -> Array:
    """Converts x to the format in which `count` elements are combined."""
    wide = opcode in (Opcode.ADD, Opcode.MULTIPLY) and not few(count, x.dtype)
    return widen(x) if wide or CLASS[x.dtype] == "n" else x


def _narrowed(x: Array, dtype: np.dtype) -> Array:
    if x.dtype == dtype:
        return x
    return wrap(x, dtype) if CLASS[dtype] == "n" else round_to(x, dtype)


def fold(
    context: EvaluationContext,
    computation: HloComputation,
    inputs: Sequence[Array],
    initial: Sequence[Array],
    axes: Sequence[int],
) -> list[Array]:
    """Combines elements along axes, starting from the initial values (scalars)."""
    inputs, initial = _typed(computation, inputs), _typed(computation, initial)
    combine = _combiner(context, computation)
    op = combiner(computation)
    if op is not None and op.ufunc is not None:
        return [_known_fold(op.opcode, op.ufunc, combine, inputs[0], initial[0], tuple(axes))]
    kept = [d for d in range(inputs[0].ndim) if d not in axes]
    shape = [inputs[0].shape[d] for d in kept]
    length = int(np.prod([inputs[0].shape[d] for d in axes], dtype=np.int64))
    rows = [x.transpose([*sorted(axes), *kept]).reshape(length, *shape) for x in inputs]

    total: list[Array] = [np.broadcast_to(v, shape) for v in initial]
    if length > _SEQUENTIAL:  # combining neighbours keeps the order of operands in fewer steps
        while rows[0].shape[0] > 1:
            even = rows[0].shape[0] // 2 * 2
            merged = combine([r[0:even:2] for r in rows], [r[1:even:2] for r in rows])
            rows = [np.concatenate([m, r[even:]]) for m, r in zip(merged, rows, strict=True)]
    for index in range(rows[0].shape[0]):
        total = combine(total, [r[index] for r in rows])
    return total


def _combiner(context: EvaluationContext, computation: HloComputation) -> _Combine:
    """Returns the function of (accumulators, elements) that the computation is. A known op takes wider formats too."""
    root, known = computation.root, combiner(computation)
    evaluate = None if known is None else known.evaluate
    if evaluate is not None:
        return lambda left, right: [evaluate(context, root, [left[0], right[0]])]
    return lambda left, right: list(context.map(computation, [*left, *right]))


def _known_fold(
    opcode: Opcode, ufunc: np.ufunc, combine: _Combine, x: Array, initial: Array, axes: tuple[int, ...]
) -> Array:
    count = math.prod(x.shape[a] for a in axes)
    wide, start = _widened(opcode, x, count), _widened(opcode, initial, count)
    kept = [d for d in range(x.ndim) if d not in axes]
    if count <= 1 or (CLASS[wide.dtype] in "fc" and few(count, x.dtype)):
        rows = wide.transpose([*sorted(axes), *kept]).reshape(count, *(x.shape[d] for d in kept))
        result = np.broadcast_to(start, rows.shape[1:])
        for row in rows:
            (result,) = combine([result], [row])
    elif opcode in (Opcode.MAXIMUM, Opcode.MINIMUM) and CLASS[x.dtype] in "fe":
        (result,) = combine([start], [_extremum(opcode, ufunc, wide, axes)])
    else:
        is_sum = opcode == Opcode.ADD and CLASS[wide.dtype] in "fc"
        first = {"initial": -wide.dtype.type(0)} if is_sum else {}  # numpy starts at +0, so that no sum would be -0
        (result,) = combine([start], [np.asarray(ufunc.reduce(wide, axis=axes, dtype=wide.dtype, **first))])
    return _narrowed(np.asarray(result), x.dtype)


def _extremum(opcode: Opcode, ufunc: np.ufunc, x: Array, axes: tuple[int, ...]) -> Array:
    """Returns the maximum or minimum along axes; +0 is larger than -0."""
    result = np.asarray(ufunc.reduce(x, axis=axes))
    if not (result == 0).any():
        return result
    wanted = (x == 0) & (np.signbit(x) == (opcode == Opcode.MINIMUM))
    zero, other = (0.0, -0.0) if opcode == Opcode.MAXIMUM else (-0.0, 0.0)
    signed = np.where(wanted.any(axis=axes), zero, other).astype(x.dtype)
    return np.where(result == 0, signed, result)


def windows(
    context: EvaluationContext,
    computation: HloComputation,
    inputs: Sequence[Array],
    axis: int,
    size: int,
    stride: int,
    dilation: int,
    count: int,
) -> list[Array]:
    """Combines each of `count` windows along one axis.

    Element i of the result combines the elements i * stride + j * dilation for 0 <= j < size. A long window is composed
    of windows of 1, 2, 4, ... elements.
    """
    combine = _combiner(context, computation)

    def at(arrays: Sequence[Array], first: int, step: int = stride, length: int = count) -> list[Array]:
        cut = (slice(None),) * axis + (slice(first, first + (length - 1) * step + 1, step),)
        return [a[cut] for a in arrays]

    if count == 0:
        return [a[(slice(None),) * axis + (slice(0, 0),)] for a in inputs]
    if size <= 16:
        result = at(inputs, 0)
        for j in range(1, size):
            result = combine(result, at(inputs, j * dilation))
        return result
    blocks, width, done = list(inputs), 1, 0
    total: list[Array] | None = None
    while True:
        context.check_time()
        if size & width:
            part = at(blocks, done * dilation)
            total = part if total is None else combine(total, part)
            done += width
        if done == size:
            return total if total is not None else blocks
        left = blocks[0].shape[axis] - width * dilation
        blocks = combine(at(blocks, 0, 1, left), at(blocks, width * dilation, 1, left))
        width *= 2


def combine_at(
    context: EvaluationContext,
    computation: HloComputation,
    operands: Sequence[Array],
    numbers: Array,
    inside: Array,
    updates: Sequence[Array],
) -> Value:
    """Combines updates into the operands at row-major indices `numbers`, where `inside` is true.

    Where several updates meet in one element, they are combined in their own order.
    """
    types = [p.shape.dtype for p in computation.parameters]
    targets = [np.array(convert(o, t)).reshape(-1) for o, t in zip(operands, types, strict=False)]
    chosen = np.flatnonzero(inside)
    where = np.broadcast_to(numbers, inside.shape).reshape(-1)[chosen]
    parts = [convert(u, t).reshape(-1)[chosen] for u, t in zip(updates, types[len(operands) :], strict=True)]
    op = combiner(computation)
    is_extremum = op is not None and op.opcode in (Opcode.MAXIMUM, Opcode.MINIMUM)
    if len(parts) == 1 and computation.root is computation.parameters[1]:
        targets[0][where] = parts[0]
    elif op is not None and op.ufunc is not None and CLASS[parts[0].dtype] in ("biu" if is_extremum else "biuf"):
        op.ufunc.at(targets[0], where, parts[0])
    else:
        combine = _combiner(context, computation)
        for chunk in _rounds(where):
            at = where[chunk]
            combined = combine([t[at] for t in targets], [p[chunk] for p in parts])
            for target, result in zip(targets, combined, strict=True):
                target[at] = result
    return as_value([t.reshape(o.shape) for t, o in zip(targets, operands, strict=True)])


def _rounds(where: Array) -> list[Array]:
    """Splits the positions in `where` into groups, in order, so that each group names an element at most once."""
    order = np.argsort(where, kind="stable")
    ordered = where[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if where.size else np.empty(0, int)
    lengths = np.diff(np.append(first, where.size))
    occurrence = np.arange(where.size) - np.repeat(first, lengths)
    ends = np.cumsum(np.bincount(occurrence))
    return np.split(order[np.argsort(occurrence, kind="stable")], ends[:-1]) if where.size else []

"""Ops that move elements: broadcast, iota, reshape, transpose, reverse, slice, pad, concatenate."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops import sharding_rules
from xla_core.hlo.ops.conversion import convert
from xla_core.hlo.ops.rules import (
    OpGroup,
    array,
    attr,
    check,
    check_axes,
    check_permutation,
    declared_array,
    dims,
    extended,
)
from xla_core.hlo.table.op_table import Attributes, Trait, alike
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

entry = OpGroup("movement").entry

_MOVES = (Trait.DATA_MOVEMENT, Trait.INDEX_MAP, Trait.EXACT_IN_WIDER_INTEGERS)


def _broadcast_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, result, axes = array(operands[0]), declared_array(declared), attributes["dimensions"]
    check(len(axes) == operand.rank, lambda: f"{len(axes)} dimensions for an operand of rank {operand.rank}")
    check_axes(axes, result.rank, "dimensions")
    for source, axis in enumerate(axes):
        if operand.dimensions[source] != result.dimensions[axis]:
            raise InvalidArgumentError(
                f"dimension {source} of the operand {operand.without_layout()} is not dimension {axis} of the result "
                f"{result.without_layout()}",
                hint="reshape away dimensions of size 1 first",
            )
    return dims(operand.element_type, result.dimensions, result.dynamic_dimensions)


def _broadcast(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    operand, axes, sizes = values[0], instruction.attribute("dimensions"), instruction.shape.dimensions
    if not axes:
        return np.broadcast_to(operand, sizes)
    if tuple(axes) != tuple(sorted(axes)):
        operand, axes = np.transpose(operand, np.argsort(axes)), sorted(axes)
    expanded, result = [1] * len(sizes), list(sizes)
    for axis, size in zip(axes, operand.shape, strict=True):
        expanded[axis] = result[axis] = size
    return np.broadcast_to(operand.reshape(expanded), result)


def _iota_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    result, axis = declared_array(declared), attributes["iota_dimension"]
    check(0 <= axis < result.rank, lambda: f"iota_dimension {axis} is not a dimension of {result.without_layout()}")
    check(result.element_type is not ElementType.PRED, "iota has no pred result")
    return result


def _iota(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    sizes, axis = instruction.shape.dimensions, instruction.attribute("iota_dimension")
    if 0 in sizes:
        return np.empty(sizes, instruction.shape.dtype)
    numbers = convert(np.arange(sizes[axis]), instruction.shape.dtype)
    return np.broadcast_to(numbers.reshape((-1,) + (1,) * (len(sizes) - 1 - axis)), sizes)


def _reshape_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, result = array(operands[0]), declared_array(declared)
    check(
        operand.num_elements == result.num_elements,
        lambda: (
            f"{operand.without_layout()} has {operand.num_elements} elements, the result {result.without_layout()} "
            f"{result.num_elements}"
        ),
    )
    return dims(operand.element_type, result.dimensions, result.dynamic_dimensions)


def _reshape(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    operand, shape = values[0], instruction.shape
    if not shape.dynamic_dimensions or operand.size == shape.num_elements:
        return operand.reshape(shape.dimensions)
    free = [d for d, flag in enumerate(shape.dynamic_dimensions) if flag]
    if len(free) != 1:
        raise InvalidArgumentError(f"the sizes of {shape} cannot be derived from {operand.size} elements")
    return operand.reshape([-1 if d in free else size for d, size in enumerate(shape.dimensions)])


def _dynamic_reshape_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, result = array(operands[0]), declared_array(declared)
    if not result.is_dynamic:
        _reshape_shape(operands, attributes, declared)
    check(
        len(operands) == 1 + result.rank and all(s.is_scalar and s.element_type.is_integral for s in operands[1:]),
        lambda: f"expected {result.rank} scalar integer sizes after the operand",
    )
    return dims(operand.element_type, result.dimensions, result.dynamic_dimensions)


def _dynamic_reshape(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    sizes = [int(v) for v in values[1:]]
    if math.prod(sizes) != values[0].size:
        raise InvalidArgumentError(f"sizes {sizes} do not hold the operand's {values[0].size} elements")
    return values[0].reshape(sizes)


def _transpose_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, permutation = array(operands[0]), attributes["dimensions"]
    check_permutation(permutation, operand.rank, "dimensions")
    flags = operand.dynamic_flags
    return dims(operand.element_type, [operand.dimensions[p] for p in permutation], [flags[p] for p in permutation])


def _reverse_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    check_axes(attributes["dimensions"], array(operands[0]).rank, "dimensions")
    return operands[0].without_layout()


def _slice_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, ranges = array(operands[0]), attributes["slice"]
    check(len(ranges) == operand.rank, lambda: f"{len(ranges)} ranges for an operand of rank {operand.rank}")
    for r, size in zip(ranges, operand.dimensions, strict=True):
        if not (0 <= r.start <= r.limit <= size and r.stride > 0):
            raise InvalidArgumentError(
                f"range [{r.start}:{r.limit}:{r.stride}] is not within a dimension of size {size}"
            )
    sizes = [-(-(r.limit - r.start) // r.stride) for r in ranges]
    flags = [
        flag and r.start == 0 and r.limit == size and r.stride == 1
        for flag, r, size in zip(operand.dynamic_flags, ranges, operand.dimensions, strict=True)
    ]
    return dims(operand.element_type, sizes, flags)


def _slice(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """A dynamic dimension that is sliced partially becomes static: zeros fill it up to its bound."""
    operand, shape = values[0], instruction.operand(0).shape
    for axis, (was, stays) in enumerate(zip(shape.dynamic_flags, instruction.shape.dynamic_flags, strict=True)):
        if was and not stays:
            operand = extended(operand, axis, shape.dimensions[axis])
    return operand[tuple([slice(r.start, r.limit, r.stride) for r in instruction.attribute("slice")])]


def _pad_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, value, padding = array(operands[0]), operands[1], attributes["padding"]
    check(
        value.is_scalar and value.element_type is operand.element_type,
        lambda: f"the padding value is {value}; expected a scalar {operand.element_type}",
    )
    check(len(padding) == operand.rank, lambda: f"padding of {len(padding)} dimensions for rank {operand.rank}")
    check(all(p.interior >= 0 for p in padding), "interior padding cannot be negative")
    sizes = [
        p.low + p.high + size + max(size - 1, 0) * p.interior
        for p, size in zip(padding, operand.dimensions, strict=True)
    ]
    return dims(operand.element_type, sizes, operand.dynamic_dimensions)


def _pad(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    operand, padding = values[0], instruction.attribute("padding")
    sizes = [
        max(0, p.low + p.high + size + max(size - 1, 0) * p.interior)  # dynamic sizes may be below the cut
        for p, size in zip(padding, operand.shape, strict=True)
    ]
    result = np.full(sizes, values[1], operand.dtype)
    source, target = [], []
    for p, size, total in zip(padding, operand.shape, sizes, strict=True):
        step = p.interior + 1
        first = max(0, -(p.low // step))  # the first operand element that stays, and how many stay
        count = max(0, min(size, -((p.low - total) // step)) - first)
        start = p.low + first * step
        source.append(slice(first, first + count))
        target.append(slice(start, start + (count - 1) * step + 1, step) if count else slice(0, 0))
    result[tuple(target)] = operand[tuple(source)]
    return result


def _concatenate_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    first, axes = array(operands[0]), attributes["dimensions"]
    check(len(axes) == 1, "dimensions must name one dimension")
    check_axes(axes, first.rank, "dimensions")
    axis = axes[0]
    for other in operands[1:]:
        if (
            array(other).element_type is not first.element_type
            or other.rank != first.rank
            or other.dimensions[:axis] != first.dimensions[:axis]
            or other.dimensions[axis + 1 :] != first.dimensions[axis + 1 :]
        ):
            raise InvalidArgumentError(
                f"operands {first.without_layout()} and {other.without_layout()} differ in more than dimension {axis}"
            )
    sizes = list(first.dimensions)
    sizes[axis] = sum(o.dimensions[axis] for o in operands)
    flags = [any(column) for column in zip(*(o.dynamic_flags for o in operands), strict=True)]
    return dims(first.element_type, sizes, flags)


entry(
    Opcode.BROADCAST,
    1,
    _broadcast_shape,
    _broadcast,
    *_MOVES,
    Trait.PRIMITIVE,
    Trait.CHEAP,
    Trait.NOT_FOLDED,
    doc="Operand dimension i becomes result dimension dimensions[i]; the others repeat.",
    dimensions=attr(
        "ints", (), shown=True, doc="For each dimension of the operand, the dimension of the result that it becomes."
    ),
    sharding_rule=sharding_rules.of_broadcast,
)
entry(
    Opcode.IOTA,
    0,
    _iota_shape,
    _iota,
    *_MOVES,
    Trait.CHEAP,
    Trait.NOT_FOLDED,
    doc="0, 1, 2, ... along one dimension.",
    iota_dimension=attr("int", doc="The dimension along which the numbers count."),
    sharding_rule=sharding_rules.of_nothing,
)
entry(
    Opcode.RESHAPE,
    1,
    _reshape_shape,
    _reshape,
    *_MOVES,
    Trait.CHEAP,
    doc="The elements, in row-major order, as an array of other dimensions.",
    inferred_dimension=attr(
        "int", None, doc="The dimension whose size was inferred from a dynamic operand; it changes nothing else."
    ),
    sharding_rule=sharding_rules.of_reshape,
)
entry(
    Opcode.DYNAMIC_RESHAPE,
    (1, None),
    _dynamic_reshape_shape,
    _dynamic_reshape,
    Trait.DATA_MOVEMENT,
    doc="A reshape to sizes known at run time. The result is undefined for sizes that exceed their bounds or have "
    "another number of elements: the evaluator refuses them, and compiled code takes the nearest valid sizes.",
    index_operands=lambda count: range(1, count),
)
entry(
    Opcode.TRANSPOSE,
    1,
    _transpose_shape,
    lambda context, instruction, values: values[0].transpose(instruction.attribute("dimensions")),
    *_MOVES,
    Trait.PRIMITIVE,
    Trait.CHEAP,
    cost=2,
    doc="Result dimension i is operand dimension dimensions[i].",
    dimensions=attr("ints", doc="For each dimension of the result, the dimension of the operand that becomes it."),
    sharding_rule=sharding_rules.of_transpose,
)
entry(
    Opcode.REVERSE,
    1,
    _reverse_shape,
    lambda context, instruction, values: np.flip(values[0], instruction.attribute("dimensions")),
    Trait.DATA_MOVEMENT,
    Trait.INDEX_MAP,
    Trait.EXACT_IN_WIDER_INTEGERS,
    doc="The elements in reverse order along dimensions.",
    dimensions=attr("ints", doc="The dimensions that are reversed."),
)
entry(
    Opcode.SLICE,
    1,
    _slice_shape,
    _slice,
    *_MOVES,
    Trait.PRIMITIVE,
    Trait.READS_PART,
    Trait.CHEAP,
    doc="[start:limit:stride] of every dimension.",
    slice=attr("slice", doc="For each dimension, the first index, the end and the step of the elements that are kept."),
    sharding_rule=sharding_rules.of_slice,
    shard_attributes=sharding_rules.of_sliced_shard,
)
entry(
    Opcode.PAD,
    2,
    _pad_shape,
    _pad,
    *_MOVES,
    Trait.PRIMITIVE,
    doc="The first operand with the second, a scalar, added before, after and between its elements. Negative edge "
    "padding removes elements.",
    padding=attr(
        "padding",
        doc="For each dimension, the elements that are added before, after, and between two neighbours.",
    ),
)
entry(
    Opcode.CONCATENATE,
    (1, None),
    _concatenate_shape,
    lambda context, instruction, values: np.concatenate(values, instruction.attribute("dimensions")[0]),
    *_MOVES,
    Trait.PRIMITIVE,
    doc="The operands one after another along a dimension.",
    same_sizes=lambda attributes, ranks: alike(ranks, apart=attributes["dimensions"]),
    dimensions=attr("ints", doc="The one dimension along which the operands follow each other."),
)

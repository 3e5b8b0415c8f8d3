"""sort and topk."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.combining import as_value
from xla_core.hlo.ops.rules import (
    OpGroup,
    array,
    attr,
    check,
    check_axes,
    check_comparator,
    dims,
    same_dimensions,
    shape_of_parts,
)
from xla_core.hlo.ops.sort_order import extreme_elements, sort_order
from xla_core.hlo.table.op_table import Attributes, Trait, alike
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

entry = OpGroup("sorting").entry


def _sort_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    first, comparator = same_dimensions(operands), attributes["to_apply"]
    check(len(attributes["dimensions"]) == 1, "dimensions must name one dimension")
    check_axes(attributes["dimensions"], first.rank, "dimensions")
    check_comparator(comparator, [o.element_type for o in operands], "comparator")
    return shape_of_parts([o.without_layout() for o in operands])


def _sort(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """The sort is always stable."""
    axis = instruction.attribute("dimensions")[0]
    if values[0].size == 0:
        return as_value(values)
    moved = [np.moveaxis(v, axis, -1) for v in values]
    rows = [m.reshape(-1, m.shape[-1]) for m in moved]
    order = sort_order(context, instruction.attribute("to_apply"), rows)
    results = [np.take_along_axis(r, order, -1).reshape(m.shape) for r, m in zip(rows, moved, strict=True)]
    return as_value([np.moveaxis(r, -1, axis) for r in results])


def topk_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The results are (the elements, their indices), with k in place of the operand's last dimension."""
    operand, k = array(operands[0]), attributes["k"]
    if operand.rank < 1 or not 0 <= k <= operand.dimensions[-1]:
        raise InvalidArgumentError(f"k = {k} of {operand.without_layout()}")
    check(not operand.element_type.is_complex, lambda: f"{operand.without_layout()} has no order")
    sizes = (*operand.dimensions[:-1], k)
    return Shape.tuple([dims(operand.element_type, sizes), dims(ElementType.S32, sizes)])


def _comparisons(sort: HloInstruction) -> float:
    shape = next(sort.shape.leaves())
    length = shape.dimensions[sort.attribute("dimensions")[0]] if shape.rank else 1
    return shape.num_elements * math.ceil(math.log2(max(length, 2)))


entry(
    Opcode.SORT,
    (1, None),
    _sort_shape,
    _sort,
    Trait.EXACT_IN_WIDER_INTEGERS,
    Trait.SIGNLESS,
    doc="Sorts all operands along a dimension by a strict order on their elements.",
    same_sizes=lambda attributes, ranks: alike(ranks),
    applications=_comparisons,
    dimensions=attr("ints"),
    is_stable=attr("bool", False),
    to_apply=attr("computation"),
)
entry(
    Opcode.TOPK,
    1,
    topk_shape,
    lambda context, i, values: extreme_elements(values[0], i.attribute("k"), largest=i.attribute("largest")),
    doc="The k largest (or smallest) elements of each last-dimension row, in order, and their indices.",
    flops=lambda i: i.operand(0).shape.num_elements,
    k=attr("int"),
    largest=attr("bool", True, shown=True),
)

"""sort and topk."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.op_table import Attributes
from xla_core.hlo.ops.rules import (
    array,
    attr,
    check,
    check_axes,
    dims,
    entry,
    normalize,
    parameter_shapes,
    same_dimensions,
    shape_of_parts,
)
from xla_core.hlo.shape import Shape

__all__: list[str] = []


def _sort(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    first, comparator = same_dimensions(operands), attributes["to_apply"]
    check(len(attributes["dimensions"]) == 1, "dimensions must name one dimension")
    check_axes(attributes["dimensions"], first.rank, "dimensions")
    parameters = parameter_shapes(comparator)
    if len(parameters) != 2 * len(operands) or any(
        not p.is_scalar or p.element_type is not operands[i // 2].element_type for i, p in enumerate(parameters)
    ):
        raise InvalidArgumentError(f"comparator {comparator.name} must take two scalars of each operand's type")
    root = comparator.root.shape
    check(
        root.is_scalar and root.element_type is ElementType.PRED, lambda: f"{comparator.name} must return a scalar pred"
    )
    return shape_of_parts([normalize(o) for o in operands])


def _topk(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, k = array(operands[0]), attributes["k"]
    if operand.rank < 1 or not 0 <= k <= operand.dimensions[-1]:
        raise InvalidArgumentError(f"k = {k} of {operand.without_layout()}")
    sizes = (*operand.dimensions[:-1], k)
    return Shape.tuple([dims(operand.element_type, sizes), dims(ElementType.S32, sizes)])


entry(
    "sort",
    (1, None),
    _sort,
    None,
    doc="Sorts all operands along a dimension by a strict order on their elements.",
    dimensions=attr("ints"),
    is_stable=attr("bool", False),
    to_apply=attr("computation"),
)
entry(
    "topk",
    1,
    _topk,
    None,
    doc="The k largest (or smallest) elements of each last-dimension row, in order, and their indices.",
    k=attr("int"),
    largest=attr("bool", True),
)

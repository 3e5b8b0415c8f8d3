"""reduce-window and select-and-scatter."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.attributes import Window
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.op_table import Attributes
from xla_core.hlo.ops.reduction import split_operands
from xla_core.hlo.ops.rules import (
    array,
    attr,
    check,
    dims,
    entry,
    parameter_shapes,
    same_dimensions,
    scalar_signature,
    shape_of_parts,
)
from xla_core.hlo.shape import Shape

__all__ = ["check_window", "windowed"]


def check_window(window: Window, rank: int) -> None:
    """One dimension each of the operand's, positive sizes, strides and dilations."""
    check(len(window) == rank, lambda: f"a window of {len(window)} dimensions over rank {rank}")
    for w in window:
        if w.size <= 0 or w.stride <= 0 or w.base_dilation <= 0 or w.window_dilation <= 0:
            raise InvalidArgumentError(f"sizes, strides and dilations of a window must be positive: {w}")


def windowed(dimensions: Sequence[int], window: Window) -> list[int]:
    """How many windows fit along each dimension."""
    return [w.output_size(d) for w, d in zip(window, dimensions, strict=True)]


def _reduce_window(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    inputs, initial = split_operands(operands)
    first, window = same_dimensions(inputs), attributes.get("window", ())
    check_window(window, first.rank)
    scalar_signature(attributes["to_apply"], inputs, "to_apply")
    types = scalar_signature(attributes["to_apply"], initial, "to_apply")
    sizes = windowed(first.dimensions, window)
    return shape_of_parts([dims(t, sizes) for t in types])


def _select_and_scatter(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, source, initial = array(operands[0]), array(operands[1]), operands[2]
    window, select = attributes.get("window", ()), attributes["select"]
    check_window(window, operand.rank)
    expected = tuple(windowed(operand.dimensions, window))
    check(
        source.dimensions == expected,
        lambda: f"the source is {source.without_layout()}; expected dimensions {list(expected)}",
    )
    check(initial.is_scalar, lambda: f"the initial value is {initial}; expected a scalar")
    parameters = parameter_shapes(select)
    if len(parameters) != 2 or not all(p.is_scalar and p.element_type is operand.element_type for p in parameters):
        raise InvalidArgumentError(f"select {select.name} must take two scalars of {operand.element_type}")
    check(
        select.root.shape.is_scalar and select.root.shape.element_type is ElementType.PRED,
        lambda: f"select {select.name} must return a scalar pred",
    )
    scalar_signature(attributes["scatter"], [source], "scatter")
    (result,) = scalar_signature(attributes["scatter"], [initial], "scatter")
    return dims(result, operand.dimensions, operand.dynamic_dimensions)


entry(
    "reduce-window",
    (2, None),
    _reduce_window,
    None,
    doc="Reduces every window of the padded, dilated inputs; padding counts as the initial value.",
    window=attr("window", ()),
    to_apply=attr("computation"),
)
entry(
    "select-and-scatter",
    3,
    _select_and_scatter,
    None,
    doc="Selects one element a window of the operand and combines the source into its place; the gradient of pooling.",
    window=attr("window", ()),
    select=attr("computation"),
    scatter=attr("computation"),
)

"""Batch normalization: training, inference, gradient."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.op_table import Attributes
from xla_core.hlo.ops.rules import array, attr, dims, entry, normalize
from xla_core.hlo.shape import Shape

__all__: list[str] = []


def _check(operand: Shape, features: Sequence[Shape], attributes: Attributes) -> Shape:
    """Checks the vectors over the feature dimension; returns their shape."""
    index = attributes["feature_index"]
    if not 0 <= index < array(operand).rank or not operand.element_type.is_floating:
        raise InvalidArgumentError(f"feature_index {index} of {operand.without_layout()}; expected a floating array")
    expected = dims(operand.element_type, operand.dimensions[index : index + 1])
    for shape in features:
        if shape.dimensions != expected.dimensions or not shape.element_type.is_floating:
            raise InvalidArgumentError(f"a feature vector is {shape.without_layout()}; expected {expected}")
    return normalize(features[0])


def _training(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    vector = _check(operands[0], operands[1:], attributes)
    return Shape.tuple([normalize(operands[0]), vector, vector])


def _inference(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    _check(operands[0], operands[1:], attributes)
    return normalize(operands[0])


def _grad(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    vector = _check(operands[0], operands[1:4], attributes)
    if operands[4].dimensions != operands[0].dimensions:
        raise InvalidArgumentError(f"grad_output is {operands[4]}; expected {operands[0]}")
    return Shape.tuple([normalize(operands[0]), vector, vector])


_ATTRIBUTES = {"epsilon": attr("float"), "feature_index": attr("int")}

entry(
    "batch-norm-training",
    3,
    _training,
    None,
    doc="(operand, scale, offset) -> (normalized, batch mean, batch variance).",
    **_ATTRIBUTES,
)
entry(
    "batch-norm-inference",
    5,
    _inference,
    None,
    doc="(operand, scale, offset, mean, variance) -> normalized.",
    **_ATTRIBUTES,
)
entry(
    "batch-norm-grad",
    5,
    _grad,
    None,
    doc="(operand, scale, mean, variance, grad_output) -> (grad_operand, grad_scale, grad_offset).",
    **_ATTRIBUTES,
)

"""Batch normalization: training, inference and gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.numerics import round_to, widen
from xla_core.hlo.ops.rules import OpGroup, array, attr, dims
from xla_core.hlo.table.op_table import Attributes
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

entry = OpGroup("batch_norm").entry


def _check(operand: Shape, features: Sequence[Shape], attributes: Attributes) -> Shape:
    """Checks the vectors over the feature dimension, and returns their shape."""
    index = attributes["feature_index"]
    if not 0 <= index < array(operand).rank or not operand.element_type.is_floating:
        raise InvalidArgumentError(f"feature_index {index} of {operand.without_layout()}; expected a floating array")
    expected = dims(operand.element_type, operand.dimensions[index : index + 1])
    for shape in features:
        if shape.dimensions != expected.dimensions or not shape.element_type.is_floating:
            raise InvalidArgumentError(f"a feature vector is {shape.without_layout()}; expected {expected}")
    return features[0].without_layout()


def _training_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    vector = _check(operands[0], operands[1:], attributes)
    return Shape.tuple([operands[0].without_layout(), vector, vector])


def _training(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Computes the mean and the biased variance."""
    operand, scale, offset = values
    wide, axes = widen(operand), _others(instruction)
    with np.errstate(all="ignore"):  # infinities give NaNs
        mean, variance = wide.mean(axes), wide.var(axes)
    result = _normalized(instruction, wide, scale, offset, mean, variance)
    return round_to(result, operand.dtype), round_to(mean, scale.dtype), round_to(variance, scale.dtype)


def _inference_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    _check(operands[0], operands[1:], attributes)
    return operands[0].without_layout()


def _grad_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    vector = _check(operands[0], operands[1:4], attributes)
    if operands[4].dimensions != operands[0].dimensions:
        raise InvalidArgumentError(f"grad_output is {operands[4]}; expected {operands[0]}")
    return Shape.tuple([operands[0].without_layout(), vector, vector])


def _grad(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Computes the gradient of batch-norm-training, whose mean and variance depend on the operand."""
    operand, scale, mean, variance, gradient = values
    axes = _others(instruction)
    wide = widen(gradient)
    centered = widen(operand) - _along(instruction, mean)
    deviation = np.sqrt(_along(instruction, variance) + instruction.attribute("epsilon"))
    normal = centered / deviation
    to_scale, to_offset = (wide * normal).sum(axes), wide.sum(axes)
    count = max(1, operand.size // max(1, scale.size))
    inner = wide - (_along(instruction, to_offset) + normal * _along(instruction, to_scale)) / count
    to_operand = _along(instruction, scale) / deviation * inner
    return round_to(to_operand, operand.dtype), round_to(to_scale, scale.dtype), round_to(to_offset, scale.dtype)


def _along(instruction: HloInstruction, vector: np.ndarray) -> np.ndarray:
    """Reshapes a vector over the feature dimension so that it broadcasts to the operand."""
    shape = [1] * instruction.operand(0).shape.rank
    shape[instruction.attribute("feature_index")] = -1
    return widen(vector).reshape(shape)


def _others(instruction: HloInstruction) -> tuple[int, ...]:
    return tuple(d for d in range(instruction.operand(0).shape.rank) if d != instruction.attribute("feature_index"))


def _normalized(
    instruction: HloInstruction,
    wide: np.ndarray,
    scale: np.ndarray,
    offset: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
) -> np.ndarray:
    deviation = np.sqrt(_along(instruction, variance) + instruction.attribute("epsilon"))
    normal = (wide - _along(instruction, mean)) / deviation
    return np.asarray(normal * _along(instruction, scale) + _along(instruction, offset))


_ATTRIBUTES: dict[str, Any] = {"epsilon": attr("float"), "feature_index": attr("int")}

entry(
    Opcode.BATCH_NORM_TRAINING,
    3,
    _training_shape,
    _training,
    doc="(operand, scale, offset) -> (normalized, batch mean, batch variance).",
    **_ATTRIBUTES,
)
entry(
    Opcode.BATCH_NORM_INFERENCE,
    5,
    _inference_shape,
    lambda context, i, values: round_to(_normalized(i, widen(values[0]), *values[1:]), values[0].dtype),
    doc="(operand, scale, offset, mean, variance) -> normalized.",
    **_ATTRIBUTES,
)
entry(
    Opcode.BATCH_NORM_GRAD,
    5,
    _grad_shape,
    _grad,
    doc="(operand, scale, mean, variance, grad_output) -> (grad_operand, grad_scale, grad_offset).",
    **_ATTRIBUTES,
)

"""Constraints of the specification on quantized operands and results. Errors are worded as in StableHLO's verifier.

(StableHLO: stablehlo/dialect/TypeInference.cpp.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xla_core.stablehlo import ir


def any_quantized(*types: ir.TensorType) -> bool:
    return any(isinstance(t.element, ir.QuantizedType) for t in types)


def check_quantized_sum(op: ir.Op, lhs: ir.TensorType, rhs: ir.TensorType, result: ir.TensorType) -> None:
    """Checks that operands and result of a sum have one storage type, one expressed type, and axes that agree."""
    elements = [t.element for t in (lhs, rhs, result)]
    if not all(isinstance(e, ir.QuantizedType) for e in elements):
        op.fail("expects  all operands and results to be either quantized or non-quantized")
    left, right, out = (_quantized(t) for t in (lhs, rhs, result))
    if not _width(left) == _width(right) == _width(out):
        op.fail("mismatched operands and result quantization storage types")
    if not left.expressed == right.expressed == out.expressed:
        op.fail("mismatched operands and result quantization expressed types")
    if left.axis is None and right.axis is None:
        if out.axis is not None:
            op.fail("result per_axis quantized but none from rhs and lhs are per_axis quantized")
        return
    if out.axis is None:
        op.fail("result is not per_axis quantized but lhs or rhs are")
    for name, element, type in (("lhs", left, lhs), ("rhs", right, rhs)):
        if element.axis is not None and element.axis != out.axis:
            op.fail(
                f"quantization_dimension of {name} and result are not same '{ir.type_text(type.element)}' vs "
                f"'{ir.type_text(result.element)}'"
            )


def check_quantized_contraction(op: ir.Op, lhs: ir.TensorType, rhs: ir.TensorType, result: ir.TensorType) -> None:
    """Checks the types of a product whose rhs is quantized.

    Either lhs and result are quantized too, or both have the rhs's expressed type.
    """
    left, right, out = lhs.element, rhs.element, result.element
    if not isinstance(right, ir.QuantizedType) or isinstance(left, ir.QuantizedType) != isinstance(
        out, ir.QuantizedType
    ):
        op.fail(
            "rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result) should hold"
        )
    if isinstance(left, ir.QuantizedType) and isinstance(out, ir.QuantizedType):
        if _width(left) != _width(right):
            op.fail("mismatched lhs and rhs quantization storage types")
        if not left.expressed == right.expressed == out.expressed:
            op.fail("mismatched lhs, rhs and result quantization expressed types")
        if right.axis is None and out.axis is not None:
            op.fail("mismatched rhs and result quantization granularity")
    elif not left == right.expressed == out:
        op.fail("mismatched rhs quantization expressed type and lhs and result element type")


def check_quantized_dot(
    op: ir.Op, lhs: ir.TensorType, rhs: ir.TensorType, result: ir.TensorType, contracting: Sequence[int]
) -> None:
    """Checks the types of a quantized dot. `contracting` has the contracting dimensions of rhs."""
    if isinstance(rhs.element, ir.QuantizedType):
        if any(rhs.element.zero_points):
            op.fail(f"Zero point{'' if rhs.element.axis is None else 's'} of rhs should be 0")
        if rhs.element.axis is not None and rhs.element.axis in contracting:
            op.fail("Quantization dimension of rhs should not be in the contracting dimension of rhs")
    check_quantized_contraction(op, lhs, rhs, result)


def check_convolution_axes(
    op: ir.Op, lhs: ir.TensorType, rhs: ir.TensorType, result: ir.TensorType, kernel_output: int, output_feature: int
) -> None:
    """Checks that a kernel or result quantized per axis is quantized along its output feature dimension."""
    if isinstance(rhs.element, ir.QuantizedType) and rhs.element.axis not in (None, kernel_output):
        op.fail("quantization dimension of rhs should be same with kernel_output_feature_dimension")
    if isinstance(result.element, ir.QuantizedType) and result.element.axis not in (None, output_feature):
        op.fail("quantization dimension of result should be same with output_feature_dimension")
    check_quantized_contraction(op, lhs, rhs, result)


def check_same_scale(op: ir.Op, operand: ir.TensorType, result: ir.TensorType, *, per_axis: bool = True) -> None:
    """Checks that operand and result of an op that only moves elements have the same scales and zero points.

    `per_axis=False` leaves out types that are quantized per axis.
    """
    one, other = operand.element, result.element
    if not isinstance(one, ir.QuantizedType) or not isinstance(other, ir.QuantizedType):
        return
    if one.axis is None and other.axis is None and one != other:
        op.fail(f"expect same quantization scale and zero_point but got '{operand}' vs '{result}'")
    if (
        per_axis
        and one.axis is not None
        and other.axis is not None
        and (one.scales, one.zero_points) != (other.scales, other.zero_points)
    ):
        op.fail(f"expect same quantization scales and zero_points but got '{operand}' vs '{result}'")


def check_quantized_transpose(
    op: ir.Op, operand: ir.TensorType, result: ir.TensorType, permutation: Sequence[int]
) -> None:
    check_same_scale(op, operand, result)
    axes = _axes(operand, result)
    if axes is not None and axes[0] != permutation[axes[1]]:
        op.fail(
            f"operand quantization_dimension {axes[0]} is not same as permutation[{axes[1]}] = {permutation[axes[1]]}"
        )


def check_quantized_reshape(op: ir.Op, operand: ir.TensorType, result: ir.TensorType) -> None:
    """Checks that a reshape keeps the quantization dimension's size and the number of elements before it."""
    check_same_scale(op, operand, result)
    axes = _axes(operand, result)
    if axes is None:
        return
    here, there = operand.shape[axes[0]], result.shape[axes[1]]
    if ir.DYNAMIC not in (here, there) and here != there:
        op.fail(f"expect same quantization dimension size for operand and result '{operand}' and '{result}'")
    if operand.is_static and result.is_static:
        before = [math.prod(t.shape[:axis]) for t, axis in zip((operand, result), axes, strict=True)]
        if before[0] != before[1]:
            op.fail(
                "product of dimensions before quantization dimension must match between operand and result for "
                f"{before[0]} and {before[1]}"
            )


def check_quantized_broadcast(
    op: ir.Op, operand: ir.TensorType, result: ir.TensorType, dimensions: Sequence[int]
) -> None:
    axes = _axes(operand, result)
    if axes is None:
        return
    if axes[1] != dimensions[axes[0]]:
        op.fail(
            f"result quantization_dimension {axes[1]} not same as broadcast_dimensions[{axes[0]}] = "
            f"{dimensions[axes[0]]}"
        )
    one, many = _quantized(operand), _quantized(result)
    if operand.shape[axes[0]] != 1:
        return
    for i, (scale, zero) in enumerate(zip(many.scales, many.zero_points, strict=True)):
        if scale != one.scales[0]:
            op.fail(f"mismatch result scale {i} ({scale:e}) and operand scale 0 ({one.scales[0]:e})")
        if zero != one.zero_points[0]:
            op.fail(f"mismatch result zero_point {i} ({zero}) and operand zero_point 0 ({one.zero_points[0]})")


def _axes(operand: ir.TensorType, result: ir.TensorType) -> tuple[int, int] | None:
    """Returns both quantization dimensions, or None unless both types are quantized per axis."""
    one, other = operand.element, result.element
    if not isinstance(one, ir.QuantizedType) or not isinstance(other, ir.QuantizedType):
        return None
    return None if one.axis is None or other.axis is None else (one.axis, other.axis)


def _width(element: ir.QuantizedType) -> str:
    """Returns the storage type's width without its sign, because MLIR's storage types have only a width."""
    return element.storage.lstrip("ui")


def _quantized(type: ir.TensorType) -> Any:
    return type.element

"""Batch normalization: training, inference, gradient."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.common import INDEX, OneOp, tensor
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup, Values
from xla_core.stablehlo.table.type_constraints import ELEMENTWISE_FLOAT, Elements, TypeConstraint
from xla_core.stablehlo.verify.compatibility import (
    compatible_dimensions,
    compatible_elements,
    compatible_shapes,
    dimensions,
    with_dimensions,
)

define = OpGroup("batch_norm").define

_FLOAT_1D = TypeConstraint(Elements.FLOAT | Elements.QUANTIZED, rank=1)
_NORM = {"epsilon": Attribute(Kind.FLOAT), "feature_index": INDEX}


def _check_norm(op: ir.Op, wide: Sequence[int], narrow: Sequence[int]) -> tuple[ir.TensorType, ir.TensorType]:
    """Checks the tensors and the vectors over features against each other.

    `wide` has the operand indices of the tensors, `narrow` those of the vectors. Returns the type of the first tensor,
    and the type of a vector of its element type with one element per feature.
    """
    operand, index = tensor(op, wide[0]), int(op.attributes["feature_index"])
    if not _pairwise_compatible([tensor(op, i) for i in wide]):
        op.fail("expects multi-dimensional operands to have compatible shapes.")
    vector = tensor(op, narrow[0])
    if not _pairwise_compatible([tensor(op, i) for i in narrow]):
        op.fail("expects single-dimensional operands to have compatible shapes.")
    if index >= operand.rank:
        op.fail(
            "expects featureIndex to be smaller than the rank of multi-dimensional operands; got featureIndex "
            f"{index}, and rank {operand.rank}."
        )
    count = operand.shape[index]
    if not compatible_dimensions(count, vector.shape[0]):
        op.fail(
            "expects the size of single-dimensional operands to be compatible with feature count, but the size of "
            f"single-dimensional operands is {vector.shape[0]} and the feature count is {count}."
        )
    if any(not compatible_elements(tensor(op, i).element, operand.element) for i in (*wide, *narrow)):
        op.fail("requires the same element type for all operands and results")
    return operand, with_dimensions([dimensions(operand)[index]], operand)


def _pairwise_compatible(types: Sequence[ir.TensorType]) -> bool:
    return all(compatible_shapes(a.shape, b.shape) for a, b in itertools.combinations(types, 2))


def _norm_training_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, vector = _check_norm(op, (0,), (1, 2))
    return [operand, vector, vector]


def _norm_inference_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [_check_norm(op, (0,), (1, 2, 3, 4))[0]]


def _norm_grad_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, vector = _check_norm(op, (0, 4), (1, 2, 3))
    return [operand, vector, vector]


define(
    "stablehlo.batch_norm_training",
    (Values("operand", ELEMENTWISE_FLOAT), Values("scale", _FLOAT_1D), Values("offset", _FLOAT_1D)),
    (Values("output", ELEMENTWISE_FLOAT), Values("batch_mean", _FLOAT_1D), Values("batch_var", _FLOAT_1D)),
    rule=_norm_training_rule,
    lower=OneOp(Opcode.BATCH_NORM_TRAINING, "epsilon", "feature_index"),
    attributes=_NORM,
    doc=(
        "Normalizes the operand over all dimensions but `feature_index`: (x - mean) / sqrt(variance + epsilon) * "
        "scale + offset. Mean and (biased) variance are computed, and are returned too."
    ),
    type_traits=("compatible-element-types",),
)
define(
    "stablehlo.batch_norm_inference",
    (Values("operand", ELEMENTWISE_FLOAT), *(Values(n, _FLOAT_1D) for n in ("scale", "offset", "mean", "variance"))),
    result_types=ELEMENTWISE_FLOAT,
    rule=_norm_inference_rule,
    lower=OneOp(Opcode.BATCH_NORM_INFERENCE, "epsilon", "feature_index"),
    attributes=_NORM,
    doc=(
        "Normalizes the operand by given means and variances: (x - mean) / sqrt(variance + epsilon) * scale + "
        "offset, for each index of `feature_index`."
    ),
    type_traits=("compatible-element-types",),
)
define(
    "stablehlo.batch_norm_grad",
    (
        Values("operand", ELEMENTWISE_FLOAT),
        *(Values(n, _FLOAT_1D) for n in ("scale", "mean", "variance")),
        Values("grad_output", ELEMENTWISE_FLOAT),
    ),
    (Values("grad_operand", ELEMENTWISE_FLOAT), Values("grad_scale", _FLOAT_1D), Values("grad_offset", _FLOAT_1D)),
    rule=_norm_grad_rule,
    lower=OneOp(Opcode.BATCH_NORM_GRAD, "epsilon", "feature_index"),
    attributes=_NORM,
    doc=("The gradients of `batch_norm_training` with respect to operand, scale and offset, given that of its output."),
    type_traits=("compatible-element-types",),
)

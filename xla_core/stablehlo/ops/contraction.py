"""dot_general."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.dot_algorithms import algorithm_name, algorithm_problem
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import PRECISION, fields_of, tensor, tensor_of
from xla_core.stablehlo.ops.dimension_lists import check_disjoint
from xla_core.stablehlo.ops.quantized_constraints import any_quantized, check_quantized_dot
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup, Values
from xla_core.stablehlo.table.type_constraints import TENSOR_OR_PER_AXIS
from xla_core.stablehlo.verify.compatibility import compatible_dimensions, dimensions, if_declared, merge_dimension

define = OpGroup("contraction").define


def dot_attributes(op: ir.Op) -> dict[str, Any]:
    """Returns HLO's `operand_precision` and `algorithm` where the op gives them."""
    attributes: dict[str, Any] = {}
    precision = tuple(str(p).lower() for p in op.attributes.get("precision_config") or ())
    if any(p != "default" for p in precision):
        attributes["operand_precision"] = precision
    algorithm = op.attributes.get("algorithm")
    if isinstance(algorithm, ir.DotAlgorithm):
        attributes["algorithm"] = algorithm_name(algorithm)
    return attributes


def check_precision(op: ir.Op) -> None:
    count = len(op.attributes.get("precision_config") or ())
    if count > 2:
        op.fail(f"expects precision config to be empty or have <= 2 elements, got {count}")


def _check_algorithm(op: ir.Op) -> None:
    algorithm = op.attributes.get("algorithm")
    if isinstance(algorithm, ir.DotAlgorithm) and (problem := algorithm_problem(algorithm)) is not None:
        op.fail(problem)


# -- dot_general -----------------------------------------------------------------------------------------------------


def check_dot_dimensions(
    op: ir.Op, lhs: ir.TensorType, rhs: ir.TensorType, dims: ir.DotDimensionNumbers | ir.RaggedDotDimensionNumbers
) -> None:
    """Checks the batching and contracting dimensions of dot_general and ragged_dot."""
    check_precision(op)
    lhs_batch, rhs_batch = dims.lhs_batching_dimensions, dims.rhs_batching_dimensions
    lhs_contract, rhs_contract = dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions
    if len(lhs_batch) != len(rhs_batch):
        op.fail("lhs and rhs should have the same number of batching dimensions")
    if len(lhs_contract) != len(rhs_contract):
        op.fail("lhs and rhs should have the same number of contracting dimensions")
    for side, batch, contract in (("lhs", lhs_batch, lhs_contract), ("rhs", rhs_batch, rhs_contract)):
        check_disjoint(op, f"{side}_batching_dimensions", batch, f"{side}_contracting_dimensions", contract)
    for name, values, type in (
        ("lhs_batching_dimensions", lhs_batch, lhs),
        ("lhs_contracting_dimensions", lhs_contract, lhs),
        ("rhs_batching_dimensions", rhs_batch, rhs),
        ("rhs_contracting_dimensions", rhs_contract, rhs),
    ):
        for dim in values:
            if not 0 <= dim < type.rank:
                op.fail(f"{name} value: {dim} is out of range: [0, {type.rank})")
    for kind, pairs in (
        ("batching", zip(lhs_batch, rhs_batch, strict=True)),
        ("contracting", zip(lhs_contract, rhs_contract, strict=True)),
    ):
        if not all(compatible_dimensions(lhs.shape[a], rhs.shape[b]) for a, b in pairs):
            op.fail(f"{kind} dimension sizes must match for lhs/rhs")


def _dot_general_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    lhs, rhs, result = tensor(op, 0), tensor(op, 1), op.results[0].type
    dims: ir.DotDimensionNumbers = op.attributes["dot_dimension_numbers"]
    _check_algorithm(op)
    check_dot_dimensions(op, lhs, rhs, dims)
    lhs_batch, rhs_batch = dims.lhs_batching_dimensions, dims.rhs_batching_dimensions
    lhs_contract, rhs_contract = dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions
    pairs = [(dimensions(lhs)[a], dimensions(rhs)[b]) for a, b in zip(lhs_batch, rhs_batch, strict=True)]
    shape = (
        *(merge_dimension(op, i, *pair)[0] for i, pair in enumerate(pairs)),
        *(n for i, n in enumerate(lhs.shape) if i not in lhs_batch and i not in lhs_contract),
        *(n for i, n in enumerate(rhs.shape) if i not in rhs_batch and i not in rhs_contract),
    )
    types = check_result_shape(op, shape, result)
    if op.attributes.get("algorithm") and any(p != "DEFAULT" for p in op.attributes.get("precision_config") or ()):
        op.fail("must specify DEFAULT precision config when algorithm is set.")
    if any_quantized(lhs, rhs, tensor_of(op.results[0])):
        check_quantized_dot(op, lhs, rhs, tensor_of(op.results[0]), rhs_contract)
    return types


def check_result_shape(op: ir.Op, shape: Sequence[int], result: ir.Type) -> Sequence[ir.Type] | None:
    """Checks that the declared result's shape is compatible with the inferred one; its element type may be any.

    Returns the inferred shape with the declared element type.
    """
    if (
        not isinstance(result, ir.TensorType)
        or len(result.shape) != len(shape)
        or not all(map(compatible_dimensions, shape, result.shape))
    ):
        text = ", ".join("?" if n == ir.DYNAMIC else str(n) for n in shape)
        op.fail(f"inferred shape '[{text}]' is incompatible with return type of operation '{result}'")
    return if_declared(op, [ir.TensorType(tuple(shape), result.element)])


def _lower_dot_general(ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction) -> HloInstruction:
    """HLO `dot`."""
    numbers = fields_of(op.attributes["dot_dimension_numbers"])
    return ctx.add(Opcode.DOT, lhs, rhs, shape=ctx.result_shape(op), **numbers, **dot_attributes(op))


define(
    "stablehlo.dot_general",
    (Values("lhs"), Values("rhs", TENSOR_OR_PER_AXIS)),
    result_types=TENSOR_OR_PER_AXIS,
    rule=_dot_general_rule,
    lower=_lower_dot_general,
    attributes={
        "dot_dimension_numbers": Attribute(
            Kind.STRUCT,
            classes=(ir.DotDimensionNumbers,),
            says="Attribute that models the dimension information for dot.",
        ),
        "precision_config": PRECISION,
        "algorithm": Attribute(Kind.STRUCT, None, classes=(ir.DotAlgorithm,), since=2),
    },
    assembly="% , % , dot_dimension_numbers:dot_dimensions <precision_and_algorithm> attr-dict : :functional:",
    releases="0.9 1.6",
    doc=(
        "Sums of products over the contracting dimensions, apart for each index of the batching dimensions. The "
        "result's dimensions are the batching ones, then the others of lhs, then the others of rhs. An `algorithm` "
        "fixes the types in which products are made and summed."
    ),
)
